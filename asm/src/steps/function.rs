//! Reads whole programs: names, inputs, outputs, what may be called, and steps.

use super::context::{Context, Functions};
use super::dispatch::read_steps;
use super::reader::StepReader;
use super::step::{Item, Tail};
use crate::ast::{Block, File, Function, Name, OutputName, Parameter, TypeName};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::document_names::Survey;
use crate::dialect::{Dialect, Key, UNNAMED};
use crate::document::{Kind, Node, entries, first_of, items_of};
use crate::notation::Notation;
use crate::source::Limits;
use crate::span::Span;
use crate::{foreign, habits};
use bumpalo::Bump;
use core::cell::Cell;
use ilo_spec::error::Code;
use ilo_spec::limits;
use ilo_spec::types::Base;

/// Reads the programs of all documents of a source, as far as they can be read if there are errors;
/// `canonical` leaves habits out.
pub(crate) fn read<'a>(
    documents: &[Node<'a>],
    canonical: Option<&Cell<bool>>,
    source: &'a str,
    notation: Notation,
    arena: &'a Bump,
    options: &Limits,
    diagnostics: &mut Diagnostics,
) -> File<'a> {
    let dialect = Dialect::of(notation);
    let listed = items_of(documents);
    let mut programs = match canonical {
        None => habits::programs(&listed, dialect, arena, diagnostics).unwrap_or(listed),
        Some(left_out) => {
            left_out.set(habits::programs(&listed, dialect, arena, &mut Diagnostics::default()).is_some());
            listed
        }
    };
    let too_deep = diagnostics.as_slice().iter().any(|found| found.code == Code::TooDeep);
    let nesting = options.nesting.min(limits::NESTING);
    let mut file = Top { dialect, source, arena, diagnostics, nesting, too_deep, canonical };
    if programs.is_empty() && !file.diagnostics.has_errors() {
        file.empty();
    }
    programs.retain(|program| {
        let is_record = matches!(program.kind, Kind::Record(_));
        if !is_record {
            file.no_program(program);
        }
        is_record
    });
    let names = file.names(&programs);
    let inputs: Vec<Option<&Node<'a>>> =
        programs.iter().map(|program| file.of_head(program, Key::Input)).collect();
    let functions: Vec<Function<'a>> = programs
        .iter()
        .enumerate()
        .map(|(own, program)| file.function(program, Functions { list: &names, inputs: &inputs, own }))
        .collect();
    File { functions: arena.alloc_slice_copy(&functions) }
}

/// The reader of whole programs; `StepReader` reads one function.
struct Top<'r, 'a> {
    dialect: Dialect,
    source: &'a str,
    arena: &'a Bump,
    diagnostics: &'r mut Diagnostics,
    nesting: usize,
    /// Whether too deep nesting of the document has been reported.
    too_deep: bool,
    canonical: Option<&'r Cell<bool>>,
}

impl<'a> Top<'_, 'a> {
    fn empty(&mut self) {
        self.diagnostics.push(
            Diagnostic::new(Code::EmptyFile, Span::at(0), "there is no program in this file")
                .expected(self.dialect.program_form(), "nothing"),
        );
    }

    fn no_program(&mut self, node: &Node<'a>) {
        let found = node.kind_name();
        self.diagnostics.push(
            Diagnostic::new(
                Code::BadShape,
                first_of(node),
                format!("a program is a record, but this is {found}"),
            )
            .expected(self.dialect.program_form(), found),
        );
    }

    /// The value of a key of a program, under the word of this notation, or else under that of another one.
    fn key<'d>(&self, record: &'d Node<'a>, key: Key) -> Option<&'d Node<'a>> {
        let own = |name: &str| self.dialect.key(name, &[key]).is_some();
        let other = |name: &str| {
            let mut keys = foreign::keys(name).iter().filter_map(|word| Key::named(word));
            self.dialect.meaning(name, &[key]).is_some() || keys.any(|meant| meant == key)
        };
        let find = |is: &dyn Fn(&str) -> bool| entries(record).iter().find(|entry| entry.is(is));
        find(&own).or_else(|| find(&other)).map(|entry| &entry.value)
    }

    /// The value of a key of a program, or of its `meta`.
    fn of_head<'d>(&self, program: &'d Node<'a>, key: Key) -> Option<&'d Node<'a>> {
        let own = |name: &str| self.dialect.key(name, &[key]).is_some();
        if let Some(entry) = entries(program).iter().find(|entry| entry.is(own)) {
            return Some(&entry.value);
        }
        let meta = self.key(program, Key::Meta);
        meta.and_then(|meta| self.key(meta, key)).or_else(|| self.key(program, key))
    }

    /// The name of each program, and whether the source has it. The others are `main`, `main-2` and so on.
    fn names(&self, programs: &[Node<'a>]) -> Vec<(&'a str, bool)> {
        let given = |program: &Node<'a>| self.of_head(program, Key::Name)?.text();
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
        let survey = Survey::of(program, self.dialect.is_bare());
        let context = Context {
            dialect: self.dialect,
            source: self.source,
            arena: self.arena,
            nesting: self.nesting,
            functions,
            survey: &survey,
            output: OutputName { ok: implied, err: None, span: first },
            canonical: self.canonical,
            lists: &[],
        };
        let mut reader = StepReader::new(context, read_steps, self.too_deep, self.diagnostics);
        let of_mcp = self.dialect.notation == Notation::Mcp;
        let top = reader.keyed(program, self.dialect.top(), "a program");
        let head = if of_mcp { reader.meta(&top, first) } else { top };
        let name_node = head.get(Key::Name);
        if !(given || (of_mcp && name_node.is_none())) {
            reader.unnamed(name_node, first);
        }
        let parameters = reader.parameters(head.get(Key::Input));
        let output = match head.get(Key::Output) {
            Some(node) => reader.output_type(node),
            None if head.span == Span::default() => context.output,
            None => reader.no_output(program, first),
        };
        let allowed = head.get(Key::Deps).and_then(|node| reader.allowed(node));
        let lists = parameters.iter().filter(|parameter| parameter.ty.ty.lists > 0);
        let lists: Vec<&'a str> = lists.map(|parameter| parameter.name.text).collect();
        reader.context = Context { output, lists: self.arena.alloc_slice_copy(&lists), ..context };
        let body = reader.body(parameters, top.get(Key::Steps), first);
        let name_span = name_node.map_or(first, |node| node.span);
        Function {
            name: Name { text: name, span: name_span },
            parameters,
            output,
            slots: self.arena.alloc_slice_copy(reader.scope.slots()),
            allowed,
            body,
            suspects: self.arena.alloc_slice_copy(&reader.suspects),
            ors: self.arena.alloc_slice_copy(&reader.ors),
            parts: self.arena.alloc_slice_copy(&reader.parts),
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
            // An input that is bound again and never read as an input is an ordinary variable.
            let name = parameter.name.text;
            let bound = self.survey.binding(name).is_some() && self.survey.input_read(name).is_none();
            self.scope.parameter(name, self.dialect.is_bare() || bound);
        }
        let Some(node) = node else {
            self.missing(first, Key::Steps, "a program", "write its steps");
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

/// The span for messages about the header of a function: from its start to the end of its name if that is
/// near, otherwise its first entry.
fn head_span(start: u32, name: Span, first: Span) -> Span {
    const NEAR: u32 = 200;
    let end = if name.start >= start { name.end } else { first.end };
    Span::new(start, if end > start && name.start < start + NEAR { end } else { first.end })
}
