//! Resolves the target of each CALL, and whether the function may call it; the tool or function that an
//! unknown name most likely means; which function runs; and an order in which every call goes to an earlier
//! function.
//!
//! Functions of the file come before tools of the same name. The names of arguments are compared in
//! [`super::arguments`], their types in [`super::types`].

use super::arguments;
use super::arguments::Expectation;
use super::facts::Checked;
use super::fixes::{self, wrong};
use super::report::Report;
use super::slot_set::put;
use super::value_info::RecordInputs;
use crate::ast::{Call, ExprKind, Field, File, Function, Name};
use crate::catalog::{
    Catalog, Lookup, ToolSignature, address, is_address, own_function, own_function_address, server_and_tool,
    tool_of_client_name, without_scheme,
};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::terms::Terms;
use crate::notation::Notation;
use crate::span::Span;
use crate::text::{Near, SHOWN, is_name, some_of};
use hashbrown::{HashMap, HashSet};
use ilo_spec::error::Code;
use ilo_spec::node::Word;
use ilo_spec::pure::Kinds;

/// The target of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Target<'c> {
    /// A function of the file.
    Function(u32),
    /// A tool of the catalogue.
    Tool(&'c ToolSignature),
    /// A tool of unknown signature.
    #[default]
    Unknown,
}

/// The index of the first function of each name.
pub(crate) fn by_name<'a>(file: &File<'a>) -> HashMap<&'a str, u32> {
    let mut by_name = HashMap::with_capacity(file.functions.len());
    for (index, function) in (0..).zip(file.functions) {
        by_name.entry(function.name.text).or_insert(index);
    }
    by_name
}

/// The target with exactly this name.
pub(crate) fn target<'c>(
    name: &str,
    functions: &HashMap<&str, u32>,
    catalog: Option<&'c Catalog>,
) -> Target<'c> {
    let own = own_function(name).unwrap_or(name);
    match (functions.get(own), catalog.map(|catalog| catalog.lookup(name))) {
        (Some(&index), _) => Target::Function(index),
        (None, Some(Lookup::Found(tool))) => Target::Tool(tool),
        _ => Target::Unknown,
    }
}

/// The target of a call, and the expected types of its arguments.
#[derive(Clone, Debug, Default)]
pub(super) struct Resolved<'c> {
    pub(super) target: Target<'c>,
    /// By argument; empty if the target is unknown.
    pub(super) wanted: Vec<Option<Expectation<'c>>>,
}

/// The names that the calls of a file may use.
pub(super) struct Names<'f, 'a> {
    file: &'f File<'a>,
    by_name: HashMap<&'a str, u32>,
    catalog: Option<&'f Catalog>,
    pub(super) records: RecordInputs,
}

impl<'f, 'a> Names<'f, 'a> {
    pub(super) fn new(file: &'f File<'a>, catalog: Option<&'f Catalog>) -> Names<'f, 'a> {
        Names { file, by_name: by_name(file), catalog, records: RecordInputs::of(file) }
    }

    /// The notation of the file.
    fn notation(&self) -> Notation {
        self.file.functions.first().map_or(Notation::Id, |function| function.notation)
    }

    /// Reports each function that has the name of an earlier one.
    pub(super) fn repeated(&self, report: &mut Report<'_>) {
        for (index, function) in (0_u32..).zip(self.file.functions) {
            let name = function.name;
            let first = self.by_name.get(name.text).copied().filter(|&first| first != index);
            let Some(before) = first.and_then(|first| self.function(first)) else { continue };
            if name.text.is_empty() || report.is_full() {
                continue;
            }
            let message = format!("two functions are named `{}`", name.text);
            let twice = wrong(Code::DuplicateFunction, name, message, "a name that is free");
            report.push(twice.related(before.name.span, "first here").help("rename one of them"));
        }
    }

    fn function(&self, index: u32) -> Option<&'f Function<'a>> {
        self.file.functions.get(index as usize)
    }

    /// The function of the file that a call names.
    pub(super) fn own(&self, name: &str) -> Option<&'f Function<'a>> {
        self.function(*self.by_name.get(own_function(name).unwrap_or(name))?)
    }

    /// Resolves a call and checks the names of its arguments. Missing arguments are reported only if the tree
    /// of the call is `whole`.
    pub(super) fn resolve(&'f self, call: &Call<'a>, whole: bool, report: &mut Report<'_>) -> Resolved<'f> {
        let found = self.target(call.tool, report);
        // A nearly correct name is reported, and the call is checked as a call of the target that is
        // certainly meant.
        let like = match found {
            Err(ref like) => {
                like.as_deref().map_or(Target::Unknown, |name| target(name, &self.by_name, self.catalog))
            }
            Ok(target) => target,
        };
        let wanted = match like {
            _ if let [only] = call.arguments
                && only.is_unnamed() =>
            {
                let source = self.file.functions.first().map_or("", |function| function.source);
                report.push(unnamed_arguments(source, only, &self.parameters(like)));
                None
            }
            Target::Function(index) => {
                let callee = self.function(index);
                callee.map(|callee| arguments::of_function(call, (callee, &self.records), whole, report))
            }
            Target::Tool(tool) => Some(arguments::of_tool(call, tool, self.notation(), whole, report)),
            Target::Unknown => None,
        };
        Resolved { target: found.unwrap_or(Target::Unknown), wanted: wanted.unwrap_or_default() }
    }

    /// The names of the parameters of a target, and which of them may be left out.
    fn parameters(&self, target: Target<'f>) -> Vec<(&'f str, bool)> {
        match target {
            Target::Function(index) => {
                let parameters = self.function(index).map_or(&[][..], |function| function.parameters);
                parameters.iter().map(|of| (of.name.text, of.may_be_absent())).collect()
            }
            Target::Tool(tool) => tool.input().fields().map(|field| (field.name, !field.required)).collect(),
            Target::Unknown => Vec::new(),
        }
    }

    /// The target of a call. If there is none, this is reported, and the result is the name that is certainly
    /// meant.
    fn target(&self, name: Name<'a>, report: &mut Report<'_>) -> Result<Target<'f>, Option<String>> {
        let own = own_function(name.text);
        if let Some(&index) = self.by_name.get(own.unwrap_or(name.text)) {
            return Ok(Target::Function(index));
        }
        if own.is_some() {
            return Err(self.unknown_function(name, report));
        }
        let Some(catalog) = self.catalog else { return Ok(Target::Unknown) };
        match catalog.lookup(name.text) {
            Lookup::Unlisted => return Ok(Target::Unknown),
            // Arguments have names, so no call of such a tool can succeed.
            Lookup::Found(tool) if !tool.input().kinds().meets(Kinds::RECORD) => {
                let why = "its `inputSchema` is not that of a record, and arguments are one";
                report.push(unusable_tool(name, why));
            }
            Lookup::Found(tool) => {
                let warning = tool.misused().map(|why| {
                    let message = format!("in a schema of `{}`, {why}", name.text);
                    Diagnostic::new(Code::BadSchema, name.span, message).help(
                        "the call is made, and this keyword is passed over; a value that does not fit it is not found",
                    )
                });
                let mut said = report.diagnostics.as_slice().iter();
                if let Some(new) = warning.filter(|new| said.all(|old| old.message != new.message)) {
                    report.push(new);
                }
                return Ok(Target::Tool(tool));
            }
            Lookup::Unknown => return Err(self.unknown_tool(catalog, name, report)),
            Lookup::Withheld(own) => {
                let message = format!("programs may not call the tool `{own}`");
                let help = "its server has it; the `policy` of the server in the tools file leaves it out";
                let withheld = wrong(Code::UnknownTool, name, message, "a tool that the tools file allows");
                report.push(withheld.help(help));
            }
            Lookup::Unusable(why) => report.push(unusable_tool(name, why)),
            Lookup::Ambiguous(tools) => {
                let message = format!("several servers have a tool `{}`", name.text);
                let tools = some_of(tools.iter().map(|tool| tool.name.as_str()));
                let several = wrong(Code::UnknownTool, name, message, tools);
                report.push(several.help("write the name with its server"));
            }
        }
        Ok(Target::Unknown)
    }

    fn functions(&self) -> impl Iterator<Item = &'a str> + use<'f, 'a> {
        self.file.functions.iter().map(|function| function.name.text)
    }

    /// Reports an unknown function. Returns the name that is certainly meant.
    fn unknown_function(&self, name: Name<'a>, report: &mut Report<'_>) -> Option<String> {
        let plain = own_function(name.text).unwrap_or(name.text);
        let near = report.near(plain, self.functions());
        // Integer-ID text writes the plain name in its header.
        let whole = |near: &str| match self.notation() {
            Notation::Id => near.to_owned(),
            _ => own_function_address(near),
        };
        let whole = near.map(|near| (whole(near.name), near.sure));
        let near = whole.as_ref().map(|(name, sure)| Near { name, sure: *sure });
        let found = Diagnostic::new(
            Code::UnknownFunction,
            name.span,
            format!("no function of the file is named `{plain}`"),
        )
        .expected("a function of the file", format!("`{plain}`"));
        report.push(fixes::name(found, name, near, self.notation()));
        whole.filter(|(_, sure)| *sure).map(|(name, _)| name)
    }

    /// Reports an unknown tool or function. Returns the name that is certainly meant.
    fn unknown_tool(&self, catalog: &Catalog, name: Name<'a>, report: &mut Report<'_>) -> Option<String> {
        let looked = is_address(name.text) && report.spend(catalog.server_count()).is_some();
        let servers = if looked { catalog.servers() } else { Vec::new() };
        let plain = plain_address(&servers, name.text);
        let near = plain.as_deref().map(|name| Near { name, sure: true });
        let near =
            near.or_else(|| tool(catalog, name.text, self.functions().map(|name| -> &str { name }), report));
        let few = Some(catalog.tools()).filter(|tools| near.is_none() && (1..=SHOWN).contains(&tools.len()));
        let few = few.map(|tools| some_of(tools.iter().map(|tool| tool.name.as_str())));
        // Where no server of the program's is there, none was asked for its tools.
        let few = few.or_else(|| {
            let (server, _) = server_and_tool(name.text)?;
            (near.is_none() && !servers.is_empty() && !servers.contains(&server))
                .then(|| format!("a tool of {}", some_of(servers.iter().copied())))
        });
        let expected = few.unwrap_or_else(|| "a tool of the catalogue or a function of the file".to_owned());
        let message = format!("no tool or function is named `{}`", name.text);
        let found = wrong(Code::UnknownTool, name, message, expected);
        report.push(fixes::name(found, name, near, self.notation()));
        near.filter(|near| near.sure).map(|near| near.name.to_owned())
    }

    /// Compares the calls of a function with its list of what it may call, if it has one.
    pub(super) fn allowed(
        &self,
        function: &Function<'a>,
        calls: &[Option<&'a Call<'a>>],
        report: &mut Report<'_>,
    ) {
        let Some(list) = function.allowed else { return };
        let same = |name: &'a str| match self.catalog.map(|catalog| catalog.lookup(name)) {
            Some(Lookup::Found(tool)) => tool.name.clone(),
            _ => own_function(name).unwrap_or(name).to_owned(),
        };
        let allowed: HashSet<String> = list.iter().map(|name| same(name.text)).collect();
        for call in calls.iter().flatten() {
            let unknown =
                self.catalog.is_some_and(|catalog| matches!(catalog.lookup(call.tool.text), Lookup::Unknown))
                    && !self.by_name.contains_key(call.tool.text);
            // An unknown name is reported already.
            if unknown || allowed.contains(&same(call.tool.text)) {
                continue;
            }
            let near = report.near(call.tool.text, list.iter().map(|name| name.text));
            let (tool, caller) = (call.tool, function.name.text);
            let message = format!("`{}` is not in the list of what `{caller}` may call", tool.text);
            let found = wrong(Code::ToolNotAllowed, tool, message, "a name of that list")
                .nearest(near.map(|near| near.name));
            report.push(found.help("add it to the list, or leave the call out"));
        }
    }
}

/// A tool that cannot be used.
fn unusable_tool(name: Name<'_>, why: &str) -> Diagnostic {
    let message = format!("the tool `{}` cannot be called: {why}", name.text);
    wrong(Code::UnknownTool, name, message, "a tool that can be called")
}

/// The address that one means in which one of these servers has the name that its owner gave it, with
/// slashes, or with blanks escaped: `mcp://a/b/tool`, `mcp://my%20files/tool`.
fn plain_address(servers: &[&str], name: &str) -> Option<String> {
    let plain = |text: &str| text.replace("%2F", "/").replace("%2f", "/").replace("%20", " ");
    let rest = plain(without_scheme(name));
    let of = |server: &&str| {
        let tool = rest.strip_prefix(plain(server).as_str())?.strip_prefix('/')?;
        (!tool.is_empty()).then(|| address(server, tool))
    };
    let found = servers.iter().filter_map(of).max_by_key(String::len);
    found.filter(|found| found != name)
}

/// The tool or function that a name most likely means.
pub(super) fn tool<'c>(
    catalog: &'c Catalog,
    name: &str,
    functions: impl Iterator<Item = &'c str>,
    report: &mut Report<'_>,
) -> Option<Near<'c>> {
    if is_address(name) {
        return on_server(catalog, name, report);
    }
    let near = report.near(name, functions.chain(catalog.names_like(name)));
    near.or_else(|| by_client_name(catalog, name)).or_else(|| by_part(catalog, name, report))
}

/// The only tool whose name begins or ends with this name as a separate word: `lookup-order` for `lookup`.
fn by_part<'c>(catalog: &'c Catalog, name: &str, report: &mut Report<'_>) -> Option<Near<'c>> {
    let parted = |c: char| matches!(c, '-' | '_' | '/' | '.');
    let meets = |tool: &str| {
        tool.strip_prefix(name).is_some_and(|rest| rest.starts_with(parted))
            || tool.strip_suffix(name).is_some_and(|rest| rest.ends_with(parted))
    };
    let tools = catalog.tools();
    report.spend(tools.len())?;
    let mut found = tools.iter().filter(|tool| meets(&tool.name));
    let only = found.next().filter(|_| !name.is_empty())?;
    found.next().is_none().then_some(Near { name: &only.name, sure: false })
}

/// The tool of a name in the form that other clients use for tools of servers.
fn by_client_name<'c>(catalog: &'c Catalog, name: &str) -> Option<Near<'c>> {
    match catalog.lookup(tool_of_client_name(name)?) {
        Lookup::Found(tool) => Some(Near { name: &tool.name, sure: true }),
        _ => None,
    }
}

/// The tool nearest to an address: a tool of the same server, or a tool of the same name on a server with a
/// similar name. The parts of addresses are compared separately.
fn on_server<'c>(catalog: &'c Catalog, name: &str, report: &mut Report<'_>) -> Option<Near<'c>> {
    let (server, tool) = server_and_tool(name)?;
    let all = || {
        catalog.tools().iter().filter_map(|tool| {
            let (server, own) = server_and_tool(&tool.name)?;
            Some((tool.name.as_str(), server, own))
        })
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

/// The index of the entry function: the requested one, otherwise the only one that no other function calls.
pub fn entry(file: &File<'_>, checked: &Checked, asked: Option<&str>) -> Result<u32, Box<Diagnostic>> {
    match asked {
        Some(name) => named(file, name),
        None => uncalled(file, checked),
    }
}

fn named(file: &File<'_>, name: &str) -> Result<u32, Box<Diagnostic>> {
    let names = || file.functions.iter().map(|function| function.name.text);
    let found = (0..).zip(names()).find(|&(_, own)| own == name);
    found.map(|(index, _)| index).ok_or_else(|| {
        let nearest = Report::new(&mut Diagnostics::default()).near(name, names());
        let unknown =
            Diagnostic::new(Code::UnknownFunction, Span::at(0), format!("no function is named `{name}`"))
                .expected(some_of(names()), format!("`{name}`"));
        Box::new(unknown.nearest(nearest.map(|near| near.name)))
    })
}

fn uncalled(file: &File<'_>, checked: &Checked) -> Result<u32, Box<Diagnostic>> {
    let mut called = vec![false; file.functions.len()];
    for (caller, facts) in (0_u32..).zip(&checked.functions) {
        for callee in facts.calls.iter().filter_map(|call| call.function).filter(|&callee| callee != caller) {
            put(&mut called, callee, true);
        }
    }
    let candidates: Vec<u32> =
        (0..).zip(&called).filter(|&(_, called)| !called).map(|(index, _)| index).collect();
    if let [only] = candidates[..] {
        return Ok(only);
    }
    let functions = || candidates.iter().filter_map(|&index| file.functions.get(index as usize));
    let names = some_of(functions().map(|function| function.name.text));
    let message = match candidates[..] {
        [] => "every function is called by another: none of them is where the program begins".to_owned(),
        _ => format!("several functions are called by no other: {names}"),
    };
    let span = functions().next().map_or(Span::at(0), |function| function.span);
    let several = Diagnostic::new(Code::NoSingleEntry, span, message)
        .expected("one function that no other calls", format!("{} such functions", candidates.len()));
    Err(Box::new(several.help("say which one runs")))
}

/// A call: the caller, the callee, and the span.
pub(super) type Edges = Vec<Vec<(u32, Span)>>;

/// The functions in an order in which every call goes to an earlier one. A cycle is an error; the order is
/// then that of the file.
pub(super) fn order(file: &File<'_>, edges: &Edges, report: &mut Report<'_>) -> Vec<u32> {
    #[derive(Clone, Copy)]
    enum Visit {
        New,
        /// On the path from the function where the search began, at this index.
        Open(usize),
        Done,
    }
    let notation = file.functions.first().map_or(Notation::Id, |function| function.notation);
    let mut marks = vec![Visit::New; file.functions.len()];
    let mut order = Vec::with_capacity(marks.len());
    let mut way: Vec<(u32, usize)> = Vec::new();
    for root in (0..).take(file.functions.len()) {
        if matches!(marks[root as usize], Visit::New) {
            marks[root as usize] = Visit::Open(0);
            way.push((root, 0));
        }
        while let Some((function, next)) = way.last_mut() {
            let function = *function;
            let Some(&(callee, span)) = edges[function as usize].get(*next) else {
                marks[function as usize] = Visit::Done;
                order.push(function);
                way.pop();
                continue;
            };
            *next += 1;
            match marks[callee as usize] {
                Visit::Done => {}
                Visit::New => {
                    marks[callee as usize] = Visit::Open(way.len());
                    way.push((callee, 0));
                }
                Visit::Open(place) => {
                    let name = |&(index, _): &(u32, usize)| file.functions[index as usize].name.text;
                    let names = way[place..].iter().map(name);
                    report.push(circular_call(names, span, notation));
                }
            }
        }
    }
    order
}

/// Functions that call each other: `way` has their names from the first to the one whose call closes the
/// cycle.
fn circular_call<'n>(
    way: impl ExactSizeIterator<Item = &'n str>,
    span: Span,
    notation: Notation,
) -> Diagnostic {
    let length = way.len();
    let mut names: Vec<&str> = way.take(SHOWN).collect();
    let first = names.first().copied().unwrap_or_default();
    if length > SHOWN {
        names.push("…");
    }
    names.push(first);
    let names = names.join(" -> ");
    let message = match length {
        1 => format!("`{first}` calls itself"),
        _ => format!("functions call each other in a circle: {names}"),
    };
    let terms = Terms::of(notation);
    let (word, range) = (terms.word(Word::For), terms.word(Word::Range));
    let hidden = match length {
        1 => "; the function hides a tool of that name: to call the tool, rename the function",
        _ => "",
    };
    let help = format!(
        "repeat with {word} over a list, or over {range} of the most passes, or split the function{hidden}"
    );
    Diagnostic::new(Code::CircularCall, span, message).expected("calls that end", names).help(help)
}

/// The most parameters whose arguments are written.
const MOST: usize = 32;

/// Arguments that are no record of names and values; `parameters` are those of the target, each with whether
/// it may be left out. Of a list the items become arguments in order, of a reference a field for each.
fn unnamed_arguments(source: &str, only: &Field<'_>, parameters: &[(&str, bool)]) -> Diagnostic {
    let span = only.name.span;
    let items = if let ExprKind::List(items) = only.value.kind { Some(items) } else { None };
    let found = if items.is_some() { "a list" } else { "a single value" };
    let wrong = Diagnostic::new(
        Code::BadShape,
        span,
        format!("arguments are a record of names and values, not {found}"),
    )
    .expected("a record of names and values", found);
    let of = source.get(span.range()).unwrap_or("").trim_matches(['"', '\'']);
    let of = of.trim_start_matches(['$', '{']).trim_end_matches('}').trim();
    let is_path = of.split('.').skip_while(|part| part.is_empty()).all(is_name);
    let named = (1..=MOST).contains(&parameters.len()) && parameters.iter().all(|(name, _)| is_name(name));
    let read = |(at, &(name, optional)): (usize, &(&str, bool))| match items {
        Some(items) => Some(format!("\"{name}\": {}", source.get(items.get(at)?.span.range())?)),
        None if optional => Some(format!("\"{name}\": \"${{{of}.{name} ?? null}}\"")),
        None => Some(format!("\"{name}\": \"${{{of}.{name}}}\"")),
    };
    let fields: Vec<String> = parameters.iter().take(MOST).enumerate().map_while(read).collect();
    let record = format!("{{{}}}", fields.join(", "));
    match items {
        Some(_) if named => wrong.help(format!("write `{record}`")),
        None if named && is_path => wrong.replace(span, record),
        _ => wrong.help("write each argument with its name"),
    }
}
