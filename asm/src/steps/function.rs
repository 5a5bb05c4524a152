//! Programs at the top of documents: names, inputs, outputs, what may be called, and steps.

use super::Reading;
use super::keys::Keyed;
use super::reader::{Doubts, Functions, Reader};
use super::refer::inner;
use super::scope::Scope;
use super::steps::{Item, Tail, named};
use crate::ast::{Block, File, Function, Name, OutputName, Parameter, TypeName};
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix};
use crate::dialect::survey::Survey;
use crate::dialect::{Dialect, Key, META, TOP, TOP_OF_MCP, begins_step};
use crate::document::{Kind, Node, Text};
use crate::document::{entries, first_of, shown};
use crate::notation::Notation;
use crate::source::Limits;
use crate::span::Span;
use bumpalo::Bump;
use ilo_spec::error::Code;
use ilo_spec::limits;
use ilo_spec::types::Base;

/// The name of a function without one.
pub(crate) const UNNAMED: &str = "main";

/// Reads the programs of all documents of a source. Of `lost` names there is nothing to say.
pub(crate) fn read<'a>(
    (documents, lost): (&[Node<'a>], &[&'a str]),
    source: &'a str,
    notation: Notation,
    arena: &'a Bump,
    options: &Limits,
    diagnostics: &mut Diagnostics,
) -> Reading<'a> {
    let dialect = Dialect::of(notation);
    // Several programs may stand in one list.
    let mut programs: Vec<Node<'a>> = Vec::new();
    for document in documents {
        match document.kind {
            Kind::List(items) => programs.extend_from_slice(items),
            _ => programs.push(*document),
        }
    }
    let told_deep = diagnostics.as_slice().iter().any(|found| found.code == Code::TooDeep);
    let nesting = options.nesting.min(limits::NESTING);
    let mut file = Top { dialect, source, arena, diagnostics, nesting, told_deep, lost, inexact: false };
    if programs.is_empty() && !file.diagnostics.has_errors() {
        file.empty();
    }
    file.unwrapped(&mut programs);
    programs.retain(|program| !file.of_another_kind(program));
    programs.retain(|program| {
        let is_record = matches!(program.kind, Kind::Record(_));
        if !is_record {
            file.no_program(program);
        }
        is_record
    });
    let names = file.names(&programs);
    let functions: Vec<Function<'a>> = programs
        .iter()
        .enumerate()
        .map(|(own, program)| file.function(program, Functions { list: &names, own }))
        .collect();
    let inexact = file.inexact;
    Reading { file: File { functions: arena.alloc_slice_copy(&functions) }, inexact }
}

/// Reads what stands at the top.
struct Top<'r, 'a> {
    dialect: Dialect,
    source: &'a str,
    arena: &'a Bump,
    diagnostics: &'r mut Diagnostics,
    nesting: usize,
    /// The reader of the document has told that it nests too deep.
    told_deep: bool,
    /// Names of steps that were left out.
    lost: &'r [&'a str],
    inexact: bool,
}

impl<'a> Top<'_, 'a> {
    fn form(&self) -> &'static str {
        match self.dialect.notation {
            Notation::Constrained => "`{\"fn\":…,\"in\":{…},\"out\":…,\"body\":[…]}`",
            Notation::Workflow => "`name:`, `input:`, `output:` and `steps:`",
            Notation::Mcp => "`{\"meta\": {\"tools\": […], \"input\": {…}, \"output\": …}, \"steps\": […]}`",
            Notation::ToolCalling | Notation::Id => {
                "`{\"function\": …, \"input\": {…}, \"output\": …, \"steps\": […]}`"
            }
        }
    }

    fn empty(&mut self) {
        self.diagnostics.push(
            Diagnostic::new(Code::EmptyFile, Span::at(0), "there is no program in this file")
                .expected(self.form(), "nothing"),
        );
    }

    /// Programs that stand in a record of their own are taken out of it; steps without a program around them are one error.
    fn unwrapped(&mut self, programs: &mut Vec<Node<'a>>) {
        let is_program = |node: &Node<'a>| {
            entries(node).iter().any(|entry| {
                entry
                    .name()
                    .is_some_and(|name| self.dialect.meaning(name, &[Key::Steps, Key::Meta]).is_some())
            })
        };
        let is_step = |node: &Node<'a>| {
            !is_program(node) && entries(node).iter().any(|entry| entry.name().is_some_and(begins_step))
        };
        if let [first, ..] = programs[..]
            && programs.iter().all(is_step)
        {
            let wrong = Diagnostic::new(
                Code::BadShape,
                first_of(&first),
                "these are steps without a program around them",
            )
            .expected(self.form(), "steps alone");
            self.diagnostics
                .push(wrong.help("a program has a name, inputs and an output, and its steps in a list"));
            programs.clear();
        }
        if let [whole] = programs[..]
            && let [only] = entries(&whole)
        {
            let inner: Vec<Node<'a>> = match only.value.kind {
                Kind::List(items) => items.to_vec(),
                _ => vec![only.value],
            };
            if inner.is_empty() || !inner.iter().all(is_program) {
                return;
            }
            let found = format!("`{}`", shown(&only.key));
            let wrong =
                Diagnostic::new(Code::BadShape, only.key.span, "a program stands in nothing but a list")
                    .expected(self.form(), format!("it under {found}"));
            let text = self.source.get(only.value.span.range()).filter(|_| !self.dialect.is_yaml());
            self.diagnostics.push(match text {
                Some(text) => {
                    let edits = vec![Edit { span: whole.span, text: text.to_owned() }];
                    wrong.fix(Fix { title: format!("remove {found} around it"), edits })
                }
                None => wrong.help(format!("remove {found}, and move what is below it to the left")),
            });
            *programs = inner;
        }
    }

    /// Reports a state machine or the workflow of a build in the place of a program; whether it is one.
    fn of_another_kind(&mut self, program: &Node<'a>) -> bool {
        const KINDS: [(&str, &str, &str); 3] = [
            ("States", "a state machine", "each state becomes a step, in the order in which they run"),
            ("jobs", "the workflow of a build", "its commands become calls of tools"),
            ("nodes", "a graph of nodes", "each node becomes a step, in the order in which they run"),
        ];
        let own = self.key(program, Key::Steps).is_some() || self.key(program, Key::Meta).is_some();
        let found = entries(program).iter().filter(|_| !own).find_map(|entry| {
            let kind = KINDS.iter().find(|(word, ..)| entry.name() == Some(word))?;
            Some((entry, kind))
        });
        let Some((entry, (_, what, help))) = found else { return false };
        self.diagnostics.push(
            Diagnostic::new(Code::BadShape, entry.key.span, format!("this is {what}, and no program"))
                .expected(self.form(), format!("`{}`", shown(&entry.key)))
                .help(format!("write {} instead: {help}", self.form())),
        );
        true
    }

    fn no_program(&mut self, node: &Node<'a>) {
        let found = node.kind_name();
        self.diagnostics.push(
            Diagnostic::new(
                Code::BadShape,
                first_of(node),
                format!("a program is a record, but this is {found}"),
            )
            .expected(self.form(), found),
        );
    }

    fn key<'d>(&self, record: &'d Node<'a>, key: Key) -> Option<&'d Node<'a>> {
        let keys = [key];
        let found = entries(record)
            .iter()
            .find(|entry| entry.name().is_some_and(|name| self.dialect.meaning(name, &keys).is_some()));
        found.map(|entry| &entry.value)
    }

    /// The name of each program, and whether it has one of its own. The others are `main`, `main-2` and so on.
    fn names(&self, programs: &[Node<'a>]) -> Vec<(&'a str, bool)> {
        let given = |program: &Node<'a>| {
            let inner = self.key(program, Key::Meta);
            inner.and_then(|meta| self.key(meta, Key::Name)).or_else(|| self.key(program, Key::Name))?.text()
        };
        let named: Vec<Option<&'a str>> =
            programs.iter().map(|program| given(program).filter(|name| !name.is_empty())).collect();
        let taken: hashbrown::HashSet<&str> = named.iter().flatten().copied().collect();
        let mut number = 1;
        let mut free = || loop {
            let name = if number == 1 { UNNAMED.to_owned() } else { format!("{UNNAMED}-{number}") };
            number += 1;
            if !taken.contains(name.as_str()) {
                return &*self.arena.alloc_str(&name);
            }
        };
        named.iter().map(|name| name.map_or_else(|| (free(), false), |name| (name, true))).collect()
    }

    fn function(&mut self, program: &Node<'a>, functions: Functions<'_, 'a>) -> Function<'a> {
        let start = program.span.start;
        let of_mcp = self.dialect.notation == Notation::Mcp;
        let own_name = functions.list.get(functions.own).copied();
        let (name, given) = own_name.unwrap_or((UNNAMED, false));
        let first = entries(program).first().map_or(first_of(program), |entry| entry.key.span);
        let implied = TypeName::implied(Base::Any, first);
        let output = OutputName { ok: implied, err: None, span: first };
        let mut reader = Reader {
            dialect: self.dialect,
            source: self.source,
            arena: self.arena,
            diagnostics: self.diagnostics,
            nesting: self.nesting,
            depth: 0,
            too_deep: self.told_deep,
            output,
            scope: Scope::default(),
            survey: Survey::of(program),
            functions,
            calls: 0,
            loops: 0,
            open_loops: Vec::new(),
            blocks: 0,
            failures: Vec::new(),
            failure_is_text: false,
            took_rest: false,
            naming: Vec::new(),
            step_end: 0,
            switched: None,
            statements: Vec::new(),
            doubts: Doubts::default(),
            inexact: false,
        };
        self.lost.iter().for_each(|name| reader.scope.lose(name));
        let keys: &[Key] = if of_mcp { &TOP_OF_MCP } else { &TOP };
        let top = reader.keyed(program, keys, "a program");
        let head = if of_mcp { reader.meta(&top, first) } else { top };
        let name_node = head.get(Key::Name);
        let may_lack = of_mcp && name_node.is_none();
        if !(given || may_lack) {
            reader.unnamed(name_node, first);
        }
        let parameters = reader.parameters(head.get(Key::Input));
        reader.output = match head.get(Key::Output) {
            Some(node) => reader.output_type(node),
            None => {
                if head.span != Span::default() {
                    let help = "say what the function gives, such as `nil`, `text`, or `result nil text`";
                    reader.missing(first, Key::Output, "a program", help);
                }
                output
            }
        };
        let allowed = head.get(Key::Deps).and_then(|node| reader.allowed(node));
        let lists = parameters.iter().filter(|parameter| parameter.ty.ty.lists > 0);
        reader.doubts.lists = lists.map(|parameter| parameter.name.text).collect();
        for parameter in parameters {
            // An input that is bound anew, and never read as an input, is a variable like any other.
            let name = parameter.name.text;
            let bound = reader.survey.binding(name).is_some() && reader.survey.input_read(name).is_none();
            reader.scope.parameter(name, self.dialect.is_bare() || bound);
        }
        let body = match top.get(Key::Steps) {
            Some(node) => reader.body(node),
            None => {
                reader.missing(first, Key::Steps, "a program", "say what it does, step by step");
                Block { statements: &[] }
            }
        };
        self.inexact |= reader.inexact;
        let name_span = name_node.map_or(first, |node| node.span);
        let end = if name_span.start >= start { name_span.end } else { first.end };
        Function {
            name: Name { text: name, span: name_span },
            parameters,
            output: reader.output,
            slots: self.arena.alloc_slice_copy(reader.scope.slots()),
            allowed,
            body,
            doubts: self.arena.alloc_slice_copy(&reader.doubts.places),
            calls: reader.calls,
            loops: reader.loops,
            notation: self.dialect.notation,
            span: Span::new(
                start,
                if end > start && name_span.start < start + 200 { end } else { first.end },
            ),
        }
    }
}

impl<'a> Reader<'_, 'a> {
    /// What stands in `meta`.
    fn meta<'d>(&mut self, top: &Keyed<'d, 'a>, first: Span) -> Keyed<'d, 'a> {
        let Some(meta) = top.get(Key::Meta) else {
            let help = "write `\"meta\": {\"tools\": […], \"input\": {…}, \"output\": …}`";
            self.missing(first, Key::Meta, "a program", help);
            return Keyed::none(Span::default());
        };
        if !matches!(meta.kind, Kind::Record(_)) {
            self.bad_shape(meta, "`meta`", "a record");
            return Keyed::none(Span::default());
        }
        self.keyed(meta, &META, "`meta`")
    }

    fn unnamed(&mut self, name: Option<&Node<'a>>, first: Span) {
        match name {
            Some(node) if node.text() == Some("") => self.report(
                Diagnostic::new(Code::BadShape, node.span, "a function's name is empty")
                    .expected("a name", "an empty text")
                    .help("name it after what it does: calls and `--fn` go by that"),
            ),
            Some(node) => self.bad_shape(node, "a function's name", "a text"),
            None => self.missing(first, Key::Name, "a program", "give the function a name"),
        }
    }

    fn parameters(&mut self, node: Option<&Node<'a>>) -> &'a [Parameter<'a>] {
        let Some(node) = node else { return &[] };
        if matches!(node.kind, Kind::Null) {
            return &[];
        }
        if let Kind::List(items) = node.kind
            && let Some(declared) = self.declared(node, items)
        {
            return declared;
        }
        if !matches!(node.kind, Kind::Record(_)) {
            self.no_inputs(node);
            return &[];
        }
        let schema = self.schema(node);
        let node = schema.unwrap_or(node);
        let mut parameters = Vec::new();
        for entry in entries(node) {
            let text = match entry.key.kind {
                Kind::Text(text) => text.text,
                _ => self.arena.alloc_str(&shown(&entry.key)),
            };
            let told = schema.and_then(|_| schema_type(&entry.value));
            let ty = match told {
                Some(ty) => {
                    let ty = apart(self.arena.alloc_str(&ty), input_type);
                    TypeName { span: entry.value.span, ..ty }
                }
                None => self.type_name(&entry.value),
            };
            parameters.push(Parameter { name: Name { text, span: inner(&entry.key) }, ty });
        }
        self.arena.alloc_slice_copy(&parameters)
    }

    /// The text of a type and its place; what has no place of its own is read apart.
    fn typed<T>(
        &mut self,
        node: &Node<'a>,
        read: impl FnOnce(&'a str, Span, &mut Diagnostics) -> T,
    ) -> Option<T> {
        match node.kind {
            Kind::Text(Text { text, start: Some(start), .. }) => {
                let end = start.saturating_add(u32::try_from(text.len()).unwrap_or(u32::MAX));
                Some(read(self.source, Span::new(start, end), self.diagnostics))
            }
            Kind::Text(Text { text, .. }) => {
                let mut found = Diagnostics::default();
                let whole = Span::new(0, u32::try_from(text.len()).unwrap_or(u32::MAX));
                let ty = read(text, whole, &mut found);
                for diagnostic in found.as_slice() {
                    let placed = Diagnostic { span: node.span, fix: None, ..diagnostic.clone() };
                    self.diagnostics.push(placed);
                }
                Some(ty)
            }
            Kind::Null => Some(read("nil", Span::new(0, 3), self.diagnostics)),
            _ => match schema_type(node) {
                Some(ty) => {
                    self.not_schema(node, "a type is a text", &format!("`{ty}`"), quoted(&ty));
                    Some(apart(self.arena.alloc_str(&ty), read))
                }
                None => {
                    let wrong = Diagnostic::new(Code::BadShape, first_of(node), "a type is a text")
                        .expected("a text, such as `number` or `list text`", node.kind_name());
                    self.report(wrong.help(
                        "the type of a record is any name, such as `user`: which fields it has is not said",
                    ));
                    None
                }
            },
        }
    }

    /// Reports inputs that are no record.
    fn no_inputs(&mut self, node: &Node<'a>) {
        let word = self.dialect.word(Key::Input);
        let message = format!("`{word}` is a record of names and types");
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), message)
            .expected("a record of names and types", node.kind_name());
        let names: Option<Vec<String>> = match node.kind {
            Kind::List(items) => {
                items.iter().map(|item| Some(format!("{}: \"any\"", quoted(item.text()?)))).collect()
            }
            _ => None,
        };
        let form = names.filter(|names| !names.is_empty() && names.len() <= 8);
        self.report(match form {
            Some(names) => {
                wrong.help(format!("write `{{{}}}`, or the type of each in place of `any`", names.join(", ")))
            }
            None => wrong.help("write each input as its name and its type; `{}` where there is none"),
        });
        // What they are called is not known: nothing more is said of that.
        if let Kind::List(items) = node.kind {
            items.iter().filter_map(Node::text).for_each(|name| self.scope.lose(name));
        }
    }

    /// Inputs as a list of records with name and type: says how they are written, and reads them as that.
    fn declared(&mut self, node: &Node<'a>, items: &'a [Node<'a>]) -> Option<&'a [Parameter<'a>]> {
        let pair = |item: &'a Node<'a>| {
            let ty = member(item, "type")?;
            Some((member(item, "name")?.text()?, plain_type(ty).or_else(|| schema_type(item))?, ty.span))
        };
        let pairs: Vec<(&'a str, String, Span)> = items.iter().map(pair).collect::<Option<_>>()?;
        if pairs.is_empty() {
            return None;
        }
        let types: Vec<String> =
            pairs.iter().map(|(name, ty, _)| format!("{}: {}", quoted(name), quoted(ty))).collect();
        let mended = format!("{{{}}}", types.join(", "));
        let what = format!("`{}` is a record of names and types", self.dialect.word(Key::Input));
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), what)
            .expected(format!("`{mended}`"), "a list of records");
        let flow = self.source.get(node.span.range()).is_some_and(|text| text.starts_with('['));
        self.report(if flow {
            wrong.replace(node.span, mended)
        } else {
            wrong.help("write each input as `name: type`")
        });
        let parameters: Vec<Parameter<'a>> = pairs
            .into_iter()
            .map(|(text, ty, span)| {
                let ty = apart(self.arena.alloc_str(&ty), input_type);
                Parameter { name: Name { text, span }, ty: TypeName { span, ..ty } }
            })
            .collect();
        Some(self.arena.alloc_slice_copy(&parameters))
    }

    /// Inputs as a JSON schema has them: says how they are written, and gives back its properties.
    fn schema<'d>(&mut self, node: &'d Node<'a>) -> Option<&'d Node<'a>> {
        member(node, "type")?.text().filter(|&ty| ty == "object")?;
        let properties = member(node, "properties")?;
        let types = entries(properties).iter().map(|entry| {
            let ty = entry.value.text().map(str::to_owned).or_else(|| schema_type(&entry.value));
            Some(format!("{}: {}", quoted(entry.name()?), quoted(&ty?)))
        });
        let types: Vec<String> = types.collect::<Option<_>>()?;
        let mended = format!("{{{}}}", types.join(", "));
        let word = self.dialect.word(Key::Input);
        self.not_schema(
            node,
            &format!("`{word}` is a record of names and types"),
            &format!("`{mended}`"),
            mended.clone(),
        );
        Some(properties)
    }

    /// Reports a JSON schema where names and types stand.
    fn not_schema(&mut self, node: &Node<'a>, what: &str, expected: &str, mended: String) {
        let message = format!("{what}, and no schema");
        let wrong =
            Diagnostic::new(Code::BadShape, first_of(node), message).expected(expected, node.kind_name());
        let is_flow = self.source.get(node.span.range()).is_some_and(|text| text.starts_with(['{', '[']));
        self.report(if is_flow {
            wrong.replace(node.span, mended)
        } else {
            wrong.help(format!("write {expected}"))
        });
    }

    fn type_name(&mut self, node: &Node<'a>) -> TypeName<'a> {
        let read = self.typed(node, input_type);
        read.map_or(TypeName::implied(Base::Any, node.span), |ty| TypeName { span: node.span, ..ty })
    }

    fn output_type(&mut self, node: &Node<'a>) -> OutputName<'a> {
        let read = self.typed(node, crate::syntax::output_of);
        let none = OutputName { ok: TypeName::implied(Base::Any, node.span), err: None, span: node.span };
        read.map_or(none, |output| OutputName {
            ok: TypeName { span: node.span, ..output.ok },
            err: output.err.map(|err| TypeName { span: node.span, ..err }),
            span: node.span,
        })
    }

    /// The list of what may be called.
    fn allowed(&mut self, node: &Node<'a>) -> Option<&'a [Name<'a>]> {
        let Kind::List(items) = &node.kind else {
            if !matches!(node.kind, Kind::Null) {
                let word = self.dialect.word(Key::Deps);
                self.bad_shape(node, &format!("`{word}`"), "a list of names");
            }
            return None;
        };
        let mut names = Vec::new();
        let mut known = true;
        for item in *items {
            match item.text() {
                Some(text) if text.contains('*') => {
                    known = false;
                    self.report(
                        Diagnostic::new(
                            Code::BadShape,
                            item.span,
                            "what may be called is listed name by name",
                        )
                        .expected("the name of each tool", format!("`{}`", shown(item)))
                        .help("write a name for each tool, or leave the list out"),
                    );
                }
                Some(text) => {
                    let name = Name { text, span: inner(item) };
                    names.push(self.meant_function(name, false));
                }
                None => {
                    known = false;
                    self.described_tool(item);
                }
            }
        }
        known.then(|| &*self.arena.alloc_slice_copy(&names))
    }

    /// Reports something that is no text in the list of what may be called.
    fn described_tool(&mut self, item: &Node<'a>) {
        let name = member(item, "name").or(member(item, "tool")).and_then(Node::text);
        let wrong = Diagnostic::new(Code::BadShape, first_of(item), "what may be called is a name, a text")
            .expected("a name", item.kind_name());
        let flow = self.source.get(item.span.range()).is_some_and(|text| text.starts_with('{'));
        self.report(match name {
            Some(name) if flow => wrong.replace(item.span, quoted(name)),
            Some(name) => wrong.help(format!("write `{name}` alone")),
            None => wrong.help("what a tool takes and gives is said by its server, or in the tools file"),
        });
    }

    /// The steps of a function.
    fn body(&mut self, node: &Node<'a>) -> Block<'a> {
        let tail = if self.dialect.is_yaml() { Tail::Value } else { Tail::Unnamed };
        let word = self.dialect.word(Key::Steps);
        let items: Vec<Item<'_, 'a>> = match &node.kind {
            Kind::List(items) => items.iter().map(|node| Item { name: None, node }).collect(),
            Kind::Record(entries) if self.dialect.is_yaml() => named(entries),
            Kind::Null => Vec::new(),
            _ => {
                let expected =
                    if self.dialect.is_yaml() { "a record of named steps" } else { "a list of steps" };
                self.bad_shape(node, &format!("`{word}`"), expected);
                Vec::new()
            }
        };
        self.block(|this| this.steps(&items, tail))
    }
}

fn input_type<'a>(source: &'a str, span: Span, found: &mut Diagnostics) -> TypeName<'a> {
    crate::syntax::type_of(source, span, "an input's type", found)
}

/// Reads the text of a type that stands in no source.
fn apart<'a, T>(text: &'a str, read: impl FnOnce(&'a str, Span, &mut Diagnostics) -> T) -> T {
    let whole = Span::new(0, u32::try_from(text.len()).unwrap_or(u32::MAX));
    read(text, whole, &mut Diagnostics::default())
}

/// The value of a key.
fn member<'d, 'a>(node: &'d Node<'a>, name: &str) -> Option<&'d Node<'a>> {
    entries(node).iter().find(|entry| entry.name() == Some(name)).map(|entry| &entry.value)
}

/// The type that `{"type": "string"}` or `["text"]` means.
fn schema_type(node: &Node<'_>) -> Option<String> {
    if let Kind::List([item]) = node.kind {
        return Some(format!("list {}", schema_type(item).or_else(|| plain_type(item))?));
    }
    let ty = plain_type(member(node, "type")?)?;
    if ty != "array" {
        return Some(ty);
    }
    let items = member(node, "items").and_then(schema_type);
    Some(format!("list {}", items.as_deref().unwrap_or("any")))
}

/// A type's name, that of a JSON schema or one of ours.
fn plain_type(node: &Node<'_>) -> Option<String> {
    let ty = match node.text()? {
        "string" => "text",
        "integer" => "number",
        "boolean" => "bool",
        "null" => "nil",
        other => other,
    };
    crate::text::is_name(ty).then(|| ty.to_owned())
}

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    crate::text::quote(text, &mut quoted);
    quoted
}
