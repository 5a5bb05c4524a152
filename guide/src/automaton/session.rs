//! The inputs of a guide, fixed before the first byte: the signature, the callable tools and functions, and
//! the registries.

use crate::automaton::arms;
use crate::automaton::constants::{self, DEEPEST_CONSTANT, record_depth};
use crate::automaton::json_names::JsonNames;
use crate::automaton::kept::ByWant;
use crate::automaton::needs;
use crate::automaton::registries;
use hashbrown::{HashMap, HashSet};
use ilo_asm::arena::Arena;
use ilo_asm::ast::{File, Function, TypeName};
use ilo_asm::catalog::{Catalog, Declared, Lookup, SchemaShape, ToolSignature, own_function};
use ilo_asm::check::{Part, ValueInfo, check};
use ilo_asm::compile::{self, read, read_id};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::notation::Notation;
use ilo_asm::print;
use ilo_asm::source::SourceLimits;
use ilo_asm::text::is_name;
use ilo_asm::types::Inferred;
use ilo_spec::pure::Kinds;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The most fields and tools that a session numbers.
const MOST_NAMES: usize = 60_000;
/// The most bytes of the name of a field that has a number, or of a tool that can be called.
const LONGEST_NAME: usize = 512;

/// The options of a session, in addition to the catalogue and the signature.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The only tools that may be called, in the order of their numbers. Without it, all of the catalogue.
    pub tools: Option<Vec<String>>,
    /// The names of fields in the order of their numbers. Without it, those of the tools' schemas.
    pub fields: Option<Vec<String>>,
    /// Names of slots by their numbers, for the registry.
    pub vars: Vec<(u32, String)>,
    /// Whole functions in ID text that the program may call. They precede it in the file.
    pub above: String,
}

/// The reason why a session cannot begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionError(pub String);

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SessionError {}

/// Finds what is wrong with functions.
type Find<'f> = dyn Fn(&File<'_>, &mut Diagnostics) + 'f;

/// The target of a call.
#[derive(Clone, Debug)]
pub(crate) enum Callee<'c> {
    Tool(&'c ToolSignature),
    /// Its inputs, as the fields of a record, and its output.
    Function {
        input: Arc<Declared>,
        output: Inferred,
        err: Option<Inferred>,
    },
}

impl Callee<'_> {
    /// The record of its arguments.
    pub(crate) fn input(&self) -> SchemaShape<'_> {
        match self {
            Callee::Tool(tool) => tool.input(),
            Callee::Function { input, .. } => input.shape(),
        }
    }
}

/// A tool or function that has a number.
#[derive(Clone, Debug)]
pub(crate) struct Numbered<'c> {
    pub(crate) name: String,
    pub(crate) callee: Option<Callee<'c>>,
    /// The type of its answer.
    pub(crate) output: ValueInfo<'c>,
    /// The nesting of its shortest arguments; `None` if it cannot be called.
    pub(crate) depth: Option<u8>,
    /// Whether a ROLLBACK must follow a call of it.
    pub(crate) rollback: bool,
}

/// A signature, a catalogue and registries: what all guides of one program share.
#[derive(Clone, Debug)]
pub struct Session<'c> {
    pub(crate) header: String,
    above: String,
    /// The names of the functions above, and its own.
    pub(crate) functions: Vec<String>,
    /// The names of its inputs, and their types in the function.
    pub(crate) parameters: Vec<(String, Inferred)>,
    input: Arc<Declared>,
    pub(crate) output: Inferred,
    pub(crate) err: Option<Inferred>,
    pub(crate) tools: Vec<Numbered<'c>>,
    pub(crate) fields: Vec<String>,
    pub(crate) field_numbers: HashMap<String, u32>,
    vars: Vec<(u32, String)>,
    /// The numbers of the fields that have names, in ascending order.
    pub(crate) named: Vec<u32>,
    longest: OnceLock<[String; 2]>,
    json: OnceLock<JsonNames>,
    /// What a program in ID text, and one in `constrained`, may need of a vocabulary.
    needs: [OnceLock<BTreeSet<char>>; 2],
    pub(crate) kept: Arc<ByWant>,
}

fn wrong<T>(message: impl Into<String>) -> Result<T, SessionError> {
    Err(SessionError(message.into()))
}

fn inferred(ty: &TypeName<'_>) -> Inferred {
    Inferred::from(ty.ty)
}

fn callee_of(function: &Function<'_>) -> Callee<'static> {
    Callee::Function {
        input: Arc::new(Declared::inputs(function)),
        output: inferred(&function.output.ok),
        err: function.output.err.as_ref().map(inferred),
    }
}

/// The type of a call's answer.
fn output<'c>(callee: &Callee<'c>) -> ValueInfo<'c> {
    match callee {
        Callee::Tool(tool) => ValueInfo::answer(tool),
        Callee::Function { output, .. } => ValueInfo::held(*output),
    }
}

/// Whether the type of an input lists the fields of a record.
pub(crate) fn lists_fields(mut shape: SchemaShape<'_>) -> bool {
    while shape.kinds().meets(Kinds::LIST) && !shape.is_any() {
        shape = shape.item();
    }
    shape.has_fields()
}

/// The first error that was found.
fn refuse_errors(found: &Diagnostics) -> Result<(), SessionError> {
    match found.as_slice().iter().find(|found| found.is_error()) {
        Some(found) => wrong(format!("{}: {}", found.code.as_str(), found.message)),
        None => Ok(()),
    }
}

impl<'c> Session<'c> {
    /// Begins the program of a signature, such as `fn f(id: text) -> result nil, text`.
    ///
    /// # Errors
    /// If the signature cannot be read, the functions above have an error, or a name cannot be called.
    pub fn new(
        catalog: &'c Catalog,
        signature: &str,
        options: &Options,
    ) -> Result<Session<'c>, SessionError> {
        Session::begin(catalog, signature, options, &|file, found| {
            check(file, Some(catalog), found);
        })
    }

    /// The same, where something else finds what is wrong with the functions above.
    pub(crate) fn begin(
        catalog: &'c Catalog,
        signature: &str,
        options: &Options,
        find: &Find<'_>,
    ) -> Result<Session<'c>, SessionError> {
        let signature = signature.trim().trim_start_matches(';').trim_start();
        if signature.contains(['\n', '\r']) {
            return wrong("a signature is one line");
        }
        let signature =
            if signature.starts_with("fn ") { signature.to_owned() } else { format!("fn {signature}") };
        let header = format!("; {signature}\n");
        let arena = Arena::new();
        let mut found = Diagnostics::default();
        let file = read_id(arena.alloc_str(&header), &arena, &SourceLimits::default(), &mut found);
        refuse_errors(&found)?;
        let [own] = file.functions else {
            return wrong("expected one signature, such as `f(id: text) -> text`");
        };
        let (name, output) = (own.name.text.to_owned(), inferred(&own.output.ok));
        let above = functions_above(&options.above, &name, find)?;
        let (mut vars, mut known) = (options.vars.clone(), HashSet::new());
        vars.retain(|(number, name)| !name.is_empty() && known.insert(*number));
        let mut session = Session {
            header,
            above: options.above.clone(),
            functions: above.iter().map(|it| it.0.clone()).chain([name.clone()]).collect(),
            parameters: own.parameters.iter().map(|it| (it.name.text.to_owned(), it.inside())).collect(),
            input: Arc::new(Declared::inputs(own)),
            output,
            err: own.output.err.as_ref().map(inferred),
            tools: Vec::new(),
            fields: Vec::new(),
            field_numbers: HashMap::new(),
            vars,
            named: Vec::new(),
            longest: OnceLock::new(),
            json: OnceLock::new(),
            needs: Default::default(),
            kept: Arc::new(ByWant::new()),
        };
        session.number(catalog, &name, &above, options)?;
        Ok(session)
    }

    /// Continues a file: whole functions, then the header and registries of one more, then the beginning of
    /// its body. Returns the session and the offset of the body.
    ///
    /// # Errors
    /// As those of [`Session::new`].
    pub fn of_file(
        catalog: &'c Catalog,
        signature: Option<&str>,
        text: &str,
    ) -> Result<(Session<'c>, usize), SessionError> {
        let found = registries::split(text);
        let Some(signature) = signature.or(found.header) else {
            return wrong("the text has no header, so a signature must be given");
        };
        Ok((Session::new(catalog, signature, &found.options)?, found.body))
    }

    /// Reads the beginning of a file in `constrained`. Returns the session of its last function, and the
    /// offset of its body. The functions before it become those above it.
    ///
    /// # Errors
    /// As those of [`Session::new`], and where no text up to `"body":[` can be read.
    pub fn of_constrained(catalog: &'c Catalog, text: &str) -> Result<(Session<'c>, usize), SessionError> {
        const BODY: &str = "\"body\":[";
        // A record in the body may have such a key too. Then the text before it is not a function.
        const TRIES: usize = 64;
        let mut read_as = wrong("the text has no `\"body\":[`, after which a body begins");
        for (at, _) in text.rmatch_indices(BODY).take(TRIES) {
            let start = at + BODY.len();
            read_as = instruction_text(&(text.get(..start).unwrap_or_default().to_owned() + "]}"));
            let Ok(written) = &read_as else { continue };
            // Its registries have the names that the functions above use; those of the session have all
            // names.
            let parts = registries::split(written);
            let options = Options { above: parts.options.above, ..Options::default() };
            let Some(signature) = parts.header else { return wrong("the text has no function") };
            return Ok((Session::new(catalog, signature, &options)?, start));
        }
        Err(read_as.err().unwrap_or_else(|| SessionError("the text has no function".to_owned())))
    }

    fn number(
        &mut self,
        catalog: &'c Catalog,
        own: &str,
        above: &[(String, Callee<'c>)],
        options: &Options,
    ) -> Result<(), SessionError> {
        let all =
            || above.iter().map(|it| it.0.clone()).chain(catalog.tools().iter().map(|it| it.name.clone()));
        let names: Vec<String> = options.tools.clone().unwrap_or_else(|| {
            let free = |name: &String| name != own && above.iter().filter(|it| it.0 == *name).count() < 2;
            all().filter(free).collect()
        });
        if names.len() > MOST_NAMES {
            return wrong(format!("{} tools; at most {MOST_NAMES} have numbers", names.len()));
        }
        let target = |name: &str| -> Option<Callee<'c>> {
            let plain = own_function(name).unwrap_or(name);
            if let Some((_, callee)) = above.iter().find(|it| it.0 == plain) {
                return Some(callee.clone());
            }
            match catalog.lookup(name) {
                Lookup::Found(tool) if plain != own => Some(Callee::Tool(tool)),
                _ => None,
            }
        };
        let callees: Vec<Option<Callee<'c>>> = names.iter().map(|name| target(name)).collect();
        if let Some(fields) = &options.fields {
            fields.iter().for_each(|name| self.add_field(name));
        } else {
            for callee in callees.iter().flatten() {
                match callee {
                    Callee::Tool(tool) => self.add_fields_of(&[tool.output(), tool.input()]),
                    Callee::Function { input, .. } => self.add_fields_of(&[input.shape()]),
                }
            }
            let own = Arc::clone(&self.input);
            self.add_fields_of(&own.shape().fields().map(|field| field.shape).collect::<Vec<_>>());
        }
        for (name, callee) in names.into_iter().zip(callees) {
            let numbered = self.numbered(name, callee);
            self.tools.push(numbered);
        }
        Ok(())
    }

    /// What a program in a notation may need of a vocabulary.
    pub(crate) fn needs(&self, notation: Notation) -> &BTreeSet<char> {
        let [id, constrained] = &self.needs;
        let needs = if notation == Notation::Id { id } else { constrained };
        needs.get_or_init(|| needs::of(self, notation))
    }

    fn add_field(&mut self, name: &str) {
        let next = u32::try_from(self.fields.len()).unwrap_or(u32::MAX);
        if self.fields.len() < MOST_NAMES {
            // Each name has one number.
            let is_new =
                !self.field_numbers.contains_key(name) && !name.is_empty() && name.len() <= LONGEST_NAME;
            if is_new {
                self.field_numbers.insert(name.to_owned(), next);
                self.named.push(next);
            }
            self.fields.push(if is_new { name.to_owned() } else { String::new() });
        }
    }

    /// Adds the fields of some shapes and of their parts, those of the last shape first.
    fn add_fields_of(&mut self, shapes: &[SchemaShape<'_>]) {
        let shapes = arms::within(shapes);
        for name in shapes.iter().flat_map(|shape| shape.fields()).map(|field| field.name) {
            if !self.field_numbers.contains_key(name) {
                self.add_field(name);
            }
        }
    }

    fn numbered(&self, name: String, callee: Option<Callee<'c>>) -> Numbered<'c> {
        // Only ID text could call the others, or no line has room for the name.
        let may_be_called = !name.is_empty() && !name.contains("${") && name.len() <= LONGEST_NAME;
        let called = callee.as_ref().filter(|_| may_be_called);
        Numbered {
            name,
            output: callee.as_ref().map_or(ValueInfo::ANY, output),
            depth: called.and_then(|it| record_depth(self, it.input(), DEEPEST_CONSTANT - 1)),
            rollback: matches!(&callee, Some(Callee::Tool(tool)) if tool.requires_rollback),
            callee,
        }
    }

    /// The text before the body: functions above, header and registries. A host writes it into the prompt.
    pub fn prefix(&self) -> String {
        let all = |_| true;
        self.prefix_with(all, all)
    }

    /// The text before the body, with the entries of the registries that are used.
    pub(crate) fn prefix_with(&self, tool: impl Fn(u32) -> bool, field: impl Fn(u32) -> bool) -> String {
        let mut out = self.above.clone();
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&self.header);
        print::registry("Vars", self.vars.iter().map(|it| (it.0, it.1.as_str())), &mut out);
        let tools = (0..).zip(self.tools.iter().map(|tool| tool.name.as_str()));
        print::registry("Tools", tools.filter(|it| tool(it.0) && !it.1.is_empty()), &mut out);
        let fields = (0..).zip(self.fields.iter().map(String::as_str));
        print::registry("Fields", fields.filter(|it| field(it.0) && !it.1.is_empty()), &mut out);
        out
    }

    /// The header of the program in `constrained`: its name, inputs and output.
    pub(crate) fn constrained_header(&self) -> serde_json::Value {
        let header = printed(&self.header, Notation::Constrained).unwrap_or_default();
        serde_json::from_str(&header).unwrap_or_default()
    }

    /// The text before a body in `constrained`: functions above, and the program up to its first step. A host
    /// writes it into the prompt.
    pub fn constrained_prefix(&self) -> String {
        let functions = self.above.clone() + "\n" + &self.header;
        let mut prefix = printed(&functions, Notation::Constrained).unwrap_or_default();
        let body = prefix.rfind('[').map_or(prefix.len(), |at| at + 1);
        prefix.truncate(body);
        prefix
    }

    /// Texts as long as the longest of the shortest calls of its tools, and the longest constant.
    pub(crate) fn longest(&self) -> &[String; 2] {
        self.longest.get_or_init(|| constants::longest(self))
    }

    /// Its names in JSON.
    pub(crate) fn json(&self) -> &JsonNames {
        self.json.get_or_init(|| JsonNames::new(self))
    }

    /// The name of the tool or function with a number.
    pub fn tool(&self, number: u32) -> Option<&str> {
        self.tools.get(number as usize).map(|tool| tool.name.as_str())
    }

    /// The name of the field with a number.
    pub fn field(&self, number: u32) -> Option<&str> {
        self.fields.get(number as usize).map(String::as_str)
    }

    /// The name of the field with a number, if a path in JSON can have it.
    pub(crate) fn path_field(&self, number: u32) -> Option<&str> {
        self.field(number).filter(|name| is_name(name))
    }

    /// What is known about each input in the function.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = ValueInfo<'_>> {
        self.parameters.iter().map(|(name, inside)| {
            let known = ValueInfo::declared(*inside);
            let shape = self.input.shape().field(name).map(|it| it.0).filter(|&it| lists_fields(it));
            shape.map_or(known, |shape| known.with_part(Part::Of { shape, lists: 0 }))
        })
    }

    /// The name of a slot, if the registry or the signature has one.
    pub fn var(&self, number: u32) -> Option<&str> {
        let parameter = self.parameters.get(number as usize).map(|it| it.0.as_str());
        parameter.or_else(|| self.vars.iter().find(|it| it.0 == number).map(|it| it.1.as_str()))
    }
}

/// Functions in `constrained` as ID text.
fn instruction_text(text: &str) -> Result<String, SessionError> {
    let arena = Arena::new();
    let mut found = Diagnostics::default();
    let options = compile::Options { from: Some(Notation::Constrained), ..compile::Options::default() };
    let file = read(text, &arena, &options, &mut found);
    refuse_errors(&found)?;
    Ok(print::id(&file))
}

/// Functions in ID text, printed in a notation.
pub(crate) fn printed(text: &str, notation: Notation) -> Result<String, SessionError> {
    let arena = Arena::new();
    let mut found = Diagnostics::default();
    let file = read_id(text, &arena, &SourceLimits::default(), &mut found);
    refuse_errors(&found)?;
    Ok(print::print(&file, notation, &mut found))
}

/// The names and signatures of the functions above, which have no error themselves.
fn functions_above(
    text: &str,
    own: &str,
    find: &Find<'_>,
) -> Result<Vec<(String, Callee<'static>)>, SessionError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let arena = Arena::new();
    let mut found = Diagnostics::default();
    let file = read_id(text, &arena, &SourceLimits::default(), &mut found);
    find(&file, &mut found);
    found.sort();
    refuse_errors(&found).map_err(|error| SessionError(format!("in the functions above: {error}")))?;
    let mut above = Vec::new();
    for function in file.functions {
        let name = function.name.text;
        if name == own {
            return wrong(format!("a function above is named `{own}` as well"));
        }
        let mut calls_own = false;
        function.body.each_call(&mut |call| {
            calls_own |= own_function(call.tool.text).unwrap_or(call.tool.text) == own;
        });
        if calls_own {
            return wrong(format!("`{name}` above calls `{own}`, which would call itself through it"));
        }
        above.push((name.to_owned(), callee_of(function)));
    }
    Ok(above)
}
