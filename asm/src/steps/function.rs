//! Programs at the top of documents: names, inputs, outputs, what may be called, and steps.

use super::context::{Context, Functions};
use super::reader::StepReader;
use super::step::{Item, Tail};
use super::steps::read_steps;
use crate::ast::{Block, File, Function, Name, OutputName, Parameter, TypeName};
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix};
use crate::dialect::lint::Lint;
use crate::dialect::survey::Survey;
use crate::dialect::{Dialect, Key, TOP, TOP_OF_MCP, UNNAMED, begins_step};
use crate::document::{Kind, Node};
use crate::document::{entries, first_of, shown};
use crate::notation::Notation;
use crate::source::Limits;
use crate::span::Span;
use bumpalo::Bump;
use ilo_spec::error::Code;
use ilo_spec::limits;
use ilo_spec::types::Base;

/// What reading documents gives.
pub(crate) struct Reading<'a> {
    /// What could be read, also where there are errors.
    pub(crate) file: File<'a>,
    /// Something was read that may be another form of something else: a record as data where a step or an operation may
    /// be, a word of another notation.
    pub(crate) inexact: bool,
}

/// Reads the programs of all documents of a source. Nothing is reported of names that are `lost`.
pub(crate) fn read<'a>(
    (documents, lost): (&[Node<'a>], &[&'a str]),
    lint: Lint,
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
    let too_deep = diagnostics.as_slice().iter().any(|found| found.code == Code::TooDeep);
    let nesting = options.nesting.min(limits::NESTING);
    let mut file = Top { dialect, source, arena, diagnostics, nesting, too_deep, lost, lint, inexact: false };
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
    too_deep: bool,
    lint: Lint,
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
        let (name, given) = functions.list.get(functions.own).copied().unwrap_or((UNNAMED, false));
        let first = entries(program).first().map_or(first_of(program), |entry| entry.key.span);
        let implied = TypeName::implied(Base::Any, first);
        let survey = Survey::of(program);
        let context = Context {
            dialect: self.dialect,
            source: self.source,
            arena: self.arena,
            nesting: self.nesting,
            functions,
            survey: &survey,
            output: OutputName { ok: implied, err: None, span: first },
            lint: self.lint,
            lists: &[],
        };
        let mut reader = StepReader::new(context, read_steps, self.too_deep, self.diagnostics);
        self.lost.iter().for_each(|name| reader.scope.lose(name));
        let of_mcp = self.dialect.notation == Notation::Mcp;
        let top = reader.keyed(program, if of_mcp { &TOP_OF_MCP } else { &TOP }, "a program");
        let head = if of_mcp { reader.meta(&top, first) } else { top };
        let name_node = head.get(Key::Name);
        if !(given || (of_mcp && name_node.is_none())) {
            reader.unnamed(name_node, first);
        }
        let parameters = reader.parameters(head.get(Key::Input));
        let output = match head.get(Key::Output) {
            Some(node) => reader.output_type(node),
            None => {
                if head.span != Span::default() {
                    let help = "say what the function gives, such as `nil`, `text`, or `result nil text`";
                    reader.missing(first, Key::Output, "a program", help);
                }
                context.output
            }
        };
        let allowed = head.get(Key::Deps).and_then(|node| reader.allowed(node));
        let lists = parameters.iter().filter(|parameter| parameter.ty.ty.lists > 0);
        let lists: Vec<&'a str> = lists.map(|parameter| parameter.name.text).collect();
        reader.context = Context { output, lists: self.arena.alloc_slice_copy(&lists), ..context };
        let body = reader.body(parameters, top.get(Key::Steps), first);
        self.inexact |= reader.inexact;
        let name_span = name_node.map_or(first, |node| node.span);
        Function {
            name: Name { text: name, span: name_span },
            parameters,
            output,
            slots: self.arena.alloc_slice_copy(reader.scope.slots()),
            allowed,
            body,
            suspects: self.arena.alloc_slice_copy(&reader.suspects),
            calls: reader.call_count,
            loops: reader.loop_count,
            notation: self.dialect.notation,
            span: head_span(program.span.start, name_span, first),
        }
    }
}

impl<'a> StepReader<'_, 'a> {
    /// The steps of a function with these inputs.
    fn body(&mut self, parameters: &[Parameter<'a>], node: Option<&Node<'a>>, first: Span) -> Block<'a> {
        for parameter in parameters {
            // An input that is bound anew, and never read as an input, is a variable like any other.
            let name = parameter.name.text;
            let bound = self.survey.binding(name).is_some() && self.survey.input_read(name).is_none();
            self.scope.parameter(name, self.dialect.is_bare() || bound);
        }
        let Some(node) = node else {
            self.missing(first, Key::Steps, "a program", "say what it does, step by step");
            return Block { statements: &[] };
        };
        let yaml = self.dialect.is_yaml();
        let items = match &node.kind {
            Kind::List(items) => Item::listed(items),
            Kind::Record(entries) if yaml => Item::named(entries),
            Kind::Null => Vec::new(),
            _ => {
                let expected = if yaml { "a record of named steps" } else { "a list of steps" };
                self.bad_shape(node, &format!("`{}`", self.dialect.word(Key::Steps)), expected);
                Vec::new()
            }
        };
        self.block(|this| this.steps(&items, if yaml { Tail::Value } else { Tail::Unnamed }))
    }
}

/// The span of a function's header: from the program to its name, where that is near.
fn head_span(start: u32, name: Span, first: Span) -> Span {
    const NEAR: u32 = 200;
    let end = if name.start >= start { name.end } else { first.end };
    Span::new(start, if end > start && name.start < start + NEAR { end } else { first.end })
}
