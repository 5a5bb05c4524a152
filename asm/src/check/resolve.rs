//! What every CALL calls, whether its arguments fit, and in which order functions come.
//!
//! Names of the file's own functions come before tools. The types of arguments are left to [`super::types`], which gets
//! what each is wanted to be from here.

use super::Report;
use super::mend;
use crate::ast::{Call, Field, File, Function, Name};
use crate::catalog::{Catalog, Lookup, SCHEME, SELF, Tool};
use crate::diagnostic::Diagnostic;
use crate::notation::Notation;
use crate::span::Span;
use crate::text::Near;
use crate::types::Inferred;
use hashbrown::{HashMap, HashSet};
use ilo_spec::error::Code;

/// What a call goes to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Target<'c> {
    /// A function of the file.
    Function(u32),
    /// A tool of the catalogue.
    Tool(&'c Tool),
    /// A tool that nothing is known of.
    #[default]
    Unknown,
}

/// What an argument is wanted to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) known: Inferred,
    /// Where that is declared, in the source.
    pub(super) declared: Option<Span>,
}

/// What is known of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Resolved<'c> {
    pub(super) target: Target<'c>,
    /// By argument; empty where nothing is known.
    pub(super) wanted: Vec<Option<Wanted>>,
}

/// The names that calls of a file may use.
pub(super) struct Names<'f, 'a> {
    file: &'f File<'a>,
    by_name: HashMap<&'a str, u32>,
    catalog: Option<&'f Catalog>,
}

impl<'f, 'a> Names<'f, 'a> {
    pub(super) fn new(file: &'f File<'a>, catalog: Option<&'f Catalog>) -> Names<'f, 'a> {
        let mut by_name = HashMap::with_capacity(file.functions.len());
        for (index, function) in (0..).zip(file.functions) {
            by_name.entry(function.name.text).or_insert(index);
        }
        Names { file, by_name, catalog }
    }

    /// The notation of the file: of all its functions.
    fn notation(&self) -> Notation {
        self.file.functions.first().map_or(Notation::Id, |function| function.notation)
    }

    /// Whether no two functions have one name.
    pub(super) fn all_different(&self) -> bool {
        self.by_name.len() == self.file.functions.len()
    }

    /// Reports every function that has the name of one before it.
    pub(super) fn repeated(&self, report: &mut Report<'_>) {
        for (index, function) in (0_u32..).zip(self.file.functions) {
            let name = function.name;
            let first = self.by_name.get(name.text).copied().filter(|&first| first != index);
            let Some(before) = first.and_then(|first| self.function(first)) else { continue };
            if name.text.is_empty() || report.is_full() {
                continue;
            }
            report.push(
                Diagnostic::new(
                    Code::DuplicateFunction,
                    name.span,
                    format!("two functions are called `{}`", name.text),
                )
                .expected("a name that is free", name.text)
                .related(before.name.span, "first here")
                .help("rename one of them"),
            );
        }
    }

    fn function(&self, index: u32) -> Option<&'f Function<'a>> {
        self.file.functions.get(index as usize)
    }

    /// Finds what a call goes to and checks its arguments' names; that none is missing only where `whole` says that all
    /// are there that were written.
    pub(super) fn resolve(&self, call: &Call<'a>, whole: bool, report: &mut Report<'_>) -> Resolved<'f> {
        let target = self.target(call.tool, report);
        // A name that is nearly right is told, and the rest of the call is read as what it will be.
        let like = match target {
            Err(ref like) => like.as_deref().map_or(Target::Unknown, |name| self.named(name)),
            Ok(target) => target,
        };
        let wanted = match like {
            Target::Function(index) => {
                self.function(index).map(|callee| parameters(call, callee, whole, report))
            }
            Target::Tool(tool) => Some(arguments(call, tool, self.notation(), whole, report)),
            Target::Unknown => None,
        };
        Resolved { target: target.unwrap_or(Target::Unknown), wanted: wanted.unwrap_or_default() }
    }

    /// What has exactly that name.
    fn named(&self, name: &str) -> Target<'f> {
        let own = name.strip_prefix(SELF).unwrap_or(name);
        match (self.by_name.get(own), self.catalog.map(|catalog| catalog.lookup(name))) {
            (Some(&index), _) => Target::Function(index),
            (None, Some(Lookup::Found(tool))) => Target::Tool(tool),
            _ => Target::Unknown,
        }
    }

    /// What a call goes to; where its name is told to be none, the name that it is sure to mean.
    fn target(&self, name: Name<'a>, report: &mut Report<'_>) -> Result<Target<'f>, Option<String>> {
        let own = name.text.strip_prefix(SELF);
        if let Some(&index) = self.by_name.get(own.unwrap_or(name.text)) {
            return Ok(Target::Function(index));
        }
        if own.is_some() {
            return Err(self.unknown(Code::UnknownFunction, name, report));
        }
        match self.catalog.map(|catalog| catalog.lookup(name.text)) {
            None | Some(Lookup::Unlisted) => Ok(Target::Unknown),
            Some(Lookup::Found(tool)) => Ok(Target::Tool(tool)),
            Some(Lookup::Unknown) => Err(self.unknown(Code::UnknownTool, name, report)),
            Some(Lookup::Withheld(own)) => {
                let message = format!("programs may not call the tool `{own}`");
                let diagnostic = Diagnostic::new(Code::UnknownTool, name.span, message)
                    .expected("a tool that the tools file allows", format!("`{}`", name.text))
                    .help("its server has it; the `policy` of the server in the tools file leaves it out");
                report.push(diagnostic);
                Ok(Target::Unknown)
            }
            Some(Lookup::Ambiguous(tools)) => {
                let names = tools.iter().map(|tool| tool.name.as_str());
                let message = format!("several servers have a tool `{}`", name.text);
                let diagnostic = Diagnostic::new(Code::UnknownTool, name.span, message)
                    .expected(some_of(names), format!("`{}`", name.text))
                    .help("write the name with its server");
                report.push(diagnostic);
                Ok(Target::Unknown)
            }
        }
    }

    /// Tells that nothing has the name; gives what it is sure to mean.
    fn unknown(&self, code: Code, name: Name<'a>, report: &mut Report<'_>) -> Option<String> {
        let functions = self.file.functions.iter().map(|function| function.name.text);
        let plain = name.text.strip_prefix(SELF).unwrap_or(name.text);
        let prefixed = plain.len() < name.text.len() && self.notation() != Notation::Id;
        let prefix = if prefixed { SELF } else { "" };
        let catalog = self.catalog.filter(|_| code == Code::UnknownTool);
        let near = match (catalog, plain.strip_prefix(SCHEME)) {
            (Some(catalog), Some(path)) => near_on_server(catalog, path, report),
            (Some(catalog), None) => {
                let tools = catalog.names_like(plain);
                let near = report.near(plain, functions.chain(tools));
                near.or_else(|| by_tail(catalog, plain)).or_else(|| by_part(catalog, plain, report))
            }
            (None, _) => report.near(plain, functions),
        };
        let (message, mut expected) = match code {
            Code::UnknownTool => (
                "no tool or function is named",
                "a tool of the catalogue or a function of the file".to_owned(),
            ),
            _ => ("no function of the file is named", "a function of the file".to_owned()),
        };
        if let (None, Some(few)) =
            (near, catalog.filter(|catalog| (1..=SHOWN).contains(&catalog.tools().len())))
        {
            expected = some_of(few.tools().iter().map(|tool| tool.name.as_str()));
        }
        let diagnostic = Diagnostic::new(code, name.span, format!("{message} `{plain}`"))
            .expected(expected, format!("`{plain}`"));
        let whole = near.map(|near| (format!("{prefix}{}", near.name), near.sure));
        let near = whole.as_ref().map(|(name, sure)| Near { name, sure: *sure });
        report.push(mend::name(diagnostic, name, near, self.notation()));
        whole.filter(|(_, sure)| *sure).map(|(name, _)| name)
    }

    /// Holds the calls of a function against the list that it gives.
    pub(super) fn allowed(
        &self,
        function: &Function<'a>,
        calls: &[Option<&'a Call<'a>>],
        report: &mut Report<'_>,
    ) {
        let Some(list) = function.allowed else { return };
        let same = |name: &'a str| match self.catalog.map(|catalog| catalog.lookup(name)) {
            Some(Lookup::Found(tool)) => tool.name.clone(),
            _ => name.strip_prefix(SELF).unwrap_or(name).to_owned(),
        };
        let allowed: HashSet<String> = list.iter().map(|name| same(name.text)).collect();
        for call in calls.iter().flatten() {
            let unknown =
                self.catalog.is_some_and(|catalog| matches!(catalog.lookup(call.tool.text), Lookup::Unknown))
                    && !self.by_name.contains_key(call.tool.text);
            // What nothing is named was told already.
            if unknown || allowed.contains(&same(call.tool.text)) {
                continue;
            }
            let near = report.near(call.tool.text, list.iter().map(|name| name.text));
            let message =
                format!("`{}` is not in the list of what `{}` may call", call.tool.text, function.name.text);
            let diagnostic = Diagnostic::new(Code::ToolNotAllowed, call.tool.span, message)
                .expected("a name of that list", format!("`{}`", call.tool.text))
                .nearest(near.map(|near| near.name))
                .help("add it to the list, or leave the call out");
            report.push(diagnostic);
        }
    }
}

/// The one tool whose name begins or ends with another as a word of its own: `lookup` for `lookup-order`.
fn by_part<'c>(catalog: &'c Catalog, name: &str, report: &mut Report<'_>) -> Option<Near<'c>> {
    let parted = |c: char| matches!(c, '-' | '_' | '/' | '.');
    let meets = |tool: &str| {
        tool.strip_prefix(name).is_some_and(|rest| rest.starts_with(parted))
            || tool.strip_suffix(name).is_some_and(|rest| rest.ends_with(parted))
    };
    let tools = catalog.tools();
    report.comparisons = report.comparisons.checked_sub(tools.len())?;
    let mut found = tools.iter().filter(|tool| meets(&tool.name));
    let only = found.next().filter(|_| !name.is_empty())?;
    found.next().is_none().then_some(Near { name: &only.name, sure: false })
}

/// The tool of a name in the form that other clients give to tools of servers: `users/get-user`, `mcp__users__get-user`.
fn by_tail<'c>(catalog: &'c Catalog, name: &str) -> Option<Near<'c>> {
    let tail = name.rsplit(['/', '.', ':']).next()?.rsplit("__").next()?;
    match catalog.lookup(tail) {
        Lookup::Found(tool) if tail.len() < name.len() => Some(Near { name: &tool.name, sure: true }),
        _ => None,
    }
}

/// The tool nearest to `server/tool`: one of that server, or that tool of a server with nearly this name. What two
/// addresses share makes their tools no more alike.
fn near_on_server<'c>(catalog: &'c Catalog, path: &str, report: &mut Report<'_>) -> Option<Near<'c>> {
    let (server, tool) = path.rsplit_once('/')?;
    let all = || {
        let split =
            |full: &'c str| full.strip_prefix(SCHEME)?.rsplit_once('/').map(|(of, own)| (full, of, own));
        catalog.names_like(SCHEME).filter_map(split)
    };
    let own = report.near(tool, all().filter(|&(_, of, _)| of == server).map(|(.., own)| own));
    if let Some(own) = own {
        let found = all().find(|&(_, of, name)| of == server && name == own.name);
        return found.map(|(name, ..)| Near { name, sure: own.sure });
    }
    let of = report.near(server, all().filter(|&(.., own)| own == tool).map(|(_, of, _)| of))?;
    let found = all().find(|&(_, name, own)| name == of.name && own == tool);
    found.map(|(name, ..)| Near { name, sure: of.sure })
}

/// How many names a message lists.
const SHOWN: usize = 8;

/// The first few of some names.
pub(super) fn some_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut shown: Vec<String> = names.take(SHOWN + 1).map(|name| format!("`{name}`")).collect();
    if shown.len() > SHOWN {
        shown.truncate(SHOWN);
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

/// The arguments of a call by name.
struct Given<'c, 'a> {
    arguments: &'c [Field<'a>],
    /// Empty where they are few enough to be looked through.
    by_name: HashMap<&'a str, usize>,
}

impl<'c, 'a> Given<'c, 'a> {
    fn new(call: &'c Call<'a>) -> Given<'c, 'a> {
        const FEW: usize = 16;
        let arguments = call.arguments;
        let many = arguments.iter().enumerate().filter(|_| arguments.len() > FEW);
        Given { arguments, by_name: many.map(|(index, argument)| (argument.name.text, index)).collect() }
    }

    fn find(&self, name: &str) -> Option<usize> {
        if self.by_name.is_empty() {
            self.arguments.iter().position(|argument| argument.name.text == name)
        } else {
            self.by_name.get(name).copied()
        }
    }
}

/// What the arguments of a call lack, of what is needed.
#[derive(Default)]
struct Lacking<'n> {
    /// Each with what it takes, and the place where it is declared.
    names: Vec<(&'n str, Inferred, Option<Span>)>,
    /// There are more.
    more: bool,
}

impl<'n> Lacking<'n> {
    fn note(&mut self, name: &'n str, takes: Inferred, declared: Option<Span>, report: &mut Report<'_>) {
        report.comparisons = report.comparisons.saturating_sub(1);
        self.more |= report.is_full() || report.comparisons == 0;
        self.names.push((name, takes, declared));
    }

    /// Reports them, but for those that another argument was `meant` to be.
    fn tell(&self, call: &Call<'_>, meant: &[&str], report: &mut Report<'_>) {
        for &(name, takes, declared) in self.names.iter().filter(|(name, ..)| !meant.contains(name)) {
            if report.is_full() {
                return;
            }
            let wrong = missing(call, name, takes);
            report.push(match declared {
                Some(declared) => wrong.related(declared, "the parameter is declared here"),
                None => wrong,
            });
        }
    }
}

fn parameters(
    call: &Call<'_>,
    callee: &Function<'_>,
    whole: bool,
    report: &mut Report<'_>,
) -> Vec<Option<Wanted>> {
    let given = Given::new(call);
    let mut wanted: Vec<Option<Wanted>> = vec![None; call.arguments.len()];
    let mut lacking = Lacking::default();
    for parameter in callee.parameters {
        if let Some(wanted) = given.find(parameter.name.text).and_then(|index| wanted.get_mut(index)) {
            let known = Inferred::from(parameter.ty.ty);
            *wanted = Some(Wanted { known, declared: Some(parameter.ty.span) });
            continue;
        }
        let takes = Inferred::from(parameter.ty.ty);
        lacking.note(parameter.name.text, takes, Some(parameter.name.span), report);
        if lacking.more {
            break;
        }
    }
    let names = callee.parameters.iter().map(|parameter| parameter.name.text);
    let meant = if wanted.contains(&None) && !lacking.more {
        unknown(call, &given, &wanted, &names, callee.notation, report)
    } else {
        Vec::new()
    };
    if whole {
        lacking.tell(call, &meant, report);
    }
    wanted
}

fn arguments(
    call: &Call<'_>,
    tool: &Tool,
    notation: Notation,
    whole: bool,
    report: &mut Report<'_>,
) -> Vec<Option<Wanted>> {
    let given = Given::new(call);
    let mut lacking = Lacking::default();
    for argument in tool.arguments.iter().filter(|argument| argument.required && whole) {
        if given.find(&argument.name).is_none() {
            lacking.note(&argument.name, argument.known, None, report);
        }
        if lacking.more {
            break;
        }
    }
    let wanted: Vec<Option<Wanted>> = call
        .arguments
        .iter()
        .map(|argument| tool.argument(argument.name.text))
        .map(|known| known.map(|argument| Wanted { known: argument.known, declared: None }))
        .collect();
    let names = tool.arguments.iter().map(|argument| argument.name.as_str());
    let meant = if tool.open { Vec::new() } else { unknown(call, &given, &wanted, &names, notation, report) };
    lacking.tell(call, &meant, report);
    wanted
}

fn missing(call: &Call<'_>, name: &str, takes: Inferred) -> Diagnostic {
    let tool = call.tool.text;
    Diagnostic::new(
        Code::MissingArgument,
        call.span,
        format!("the call of `{tool}` lacks the argument `{name}`"),
    )
    .expected(format!("the argument `{name}`"), "a call without it")
    .help(format!("`{name}` takes {takes}"))
}

/// Reports every argument that nothing wants; gives what they were meant to be.
fn unknown<'n>(
    call: &Call<'_>,
    given: &Given<'_, '_>,
    wanted: &[Option<Wanted>],
    names: &(impl Iterator<Item = &'n str> + Clone),
    notation: Notation,
    report: &mut Report<'_>,
) -> Vec<&'n str> {
    let mut meant = Vec::new();
    for (argument, _) in call.arguments.iter().zip(wanted).filter(|(_, wanted)| wanted.is_none()) {
        let name = argument.name.text;
        let free = names.clone().filter(|name| given.find(name).is_none());
        let near = report.near(name, free);
        meant.extend(near.map(|near| near.name));
        let takes = some_of(names.clone());
        let expected = if takes.is_empty() { "no argument".to_owned() } else { takes };
        let message = format!("`{}` does not take an argument `{name}`", call.tool.text);
        let diagnostic = Diagnostic::new(Code::UnknownArgument, argument.name.span, message)
            .expected(expected, format!("`{name}`"));
        report.push(mend::name(diagnostic, argument.name, near, notation));
    }
    meant
}

/// Which function calls which, and where.
pub(super) type Edges = Vec<Vec<(u32, Span)>>;

/// The functions in an order in which every call goes to an earlier one, else that of the file; circles are errors.
pub(super) fn order(file: &File<'_>, edges: &Edges, report: &mut Report<'_>) -> Vec<u32> {
    #[derive(Clone, Copy)]
    enum Mark {
        New,
        /// On the way from the function where the search began, at this place.
        Open(usize),
        Done,
    }
    let mut marks = vec![Mark::New; file.functions.len()];
    let mut order = Vec::with_capacity(marks.len());
    let mut way: Vec<(u32, usize)> = Vec::new();
    for root in (0..).take(file.functions.len()) {
        if matches!(marks[root as usize], Mark::New) {
            marks[root as usize] = Mark::Open(0);
            way.push((root, 0));
        }
        while let Some((function, next)) = way.last_mut() {
            let function = *function;
            let Some(&(callee, span)) = edges[function as usize].get(*next) else {
                marks[function as usize] = Mark::Done;
                order.push(function);
                way.pop();
                continue;
            };
            *next += 1;
            match marks[callee as usize] {
                Mark::Done => {}
                Mark::New => {
                    marks[callee as usize] = Mark::Open(way.len());
                    way.push((callee, 0));
                }
                Mark::Open(place) => report.push(circle(file, &way[place..], span)),
            }
        }
    }
    order
}

/// The functions on the way call each other in a circle; the last one's call closes it.
fn circle(file: &File<'_>, way: &[(u32, usize)], span: Span) -> Diagnostic {
    const SHOWN: usize = 8;
    let name = |&(index, _): &(u32, usize)| file.functions[index as usize].name.text;
    let first = name(&way[0]);
    let mut names: Vec<&str> = way.iter().take(SHOWN).map(name).collect();
    if way.len() > SHOWN {
        names.push("…");
    }
    names.push(first);
    let message = match way.len() {
        1 => format!("`{first}` calls itself"),
        _ => format!("functions call each other in a circle: {}", names.join(" -> ")),
    };
    Diagnostic::new(Code::CircularCall, span, message)
        .expected("calls that end", names.join(" -> "))
        .help("repeat with FOR over a list, or split the function")
}
