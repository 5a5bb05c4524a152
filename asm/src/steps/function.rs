//! Reads whole programs: names, inputs, outputs, what may be called, and steps.

use super::reader::{Functions, Placement, StepReader, wrong_shape};
use super::scope::Scope;
use super::step::{Aim, Keyed, RawStep};
use super::{blocks, calls, habits};
use crate::arena::Arena;
use crate::ast::{Block, File, Function, Name, Need, OutputName, Parameter, TypeName};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::document_names::{Survey, within};
use crate::dialect::{Dialect, InputForm, Key, META, UNNAMED, is_for, is_outcome};
use crate::document::{Node, NodeKind, Text, entries, first_of, inner, items_of, shown};
use crate::notation::Notation;
use crate::sorting::sort_by_key;
use crate::source::SourceLimits;
use crate::span::Span;
use crate::syntax::input_of;
use crate::syntax::types::{constant, default_fits};
use core::cell::Cell;
use ilo_spec::error::Code;
use ilo_spec::limits;
use ilo_spec::types::Base;

/// Reads the programs of all documents of a source, as far as they can be read if there are errors;
/// `canonical` leaves habits out.
pub(crate) fn read<'a>(
    documents: &[Node<'a>],
    canonical: Option<&'a Cell<bool>>,
    source: &'a str,
    notation: Notation,
    arena: &'a Arena,
    options: &SourceLimits,
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
    if programs.is_empty() && !diagnostics.has_errors() {
        let wrong = Diagnostic::new(Code::EmptyFile, Span::at(0), "there is no program in this file");
        diagnostics.push(wrong.expected(dialect.program_form(), "nothing"));
    }
    programs.retain(|program| {
        let is_record = matches!(program.kind, NodeKind::Record(_));
        if !is_record {
            let wrong = wrong_shape(program, "a program", "a record");
            diagnostics.push(wrong.expected(dialect.program_form(), program.kind_name()));
        }
        is_record
    });
    let list = names(&programs, dialect, arena);
    let inputs = programs.iter().map(|program| of_head(program, Key::Input, dialect).copied());
    let inputs = arena.collect(inputs);
    let function = |(own, program): (usize, &Node<'a>)| {
        let first = entries(program).first().map_or(first_of(program), |entry| entry.key.span);
        let mut reader = StepReader {
            dialect,
            source,
            arena,
            nesting,
            functions: Functions { list, inputs, own },
            survey: Survey::of(program, dialect.is_bare()),
            output: OutputName { ok: TypeName::implied(Base::Any, first), err: None, span: first },
            canonical,
            lists: &[],
            diagnostics: core::mem::take(diagnostics),
            scope: Scope::default(),
            at: Placement::default(),
            loops: Vec::new(),
            statements: Vec::new(),
            suspects: Vec::new(),
            ors: Vec::new(),
            parts: Vec::new(),
            call_count: 0,
            loop_count: 0,
            too_deep,
        };
        let function = whole(&mut reader, program, first);
        *diagnostics = reader.diagnostics;
        function
    };
    File { functions: arena.collect(programs.iter().enumerate().map(function)) }
}

/// The value of a key of a program: under the word of its notation, in its `meta`, or under the word of
/// another notation.
fn of_head<'d, 'a>(program: &'d Node<'a>, key: Key, dialect: Dialect) -> Option<&'d Node<'a>> {
    let own = |record: &'d Node<'a>, key: Key| {
        entries(record).iter().find(|entry| dialect.names(entry, &[key])).map(|entry| &entry.value)
    };
    let any = |record: &'d Node<'a>, key: Key| {
        let other = || entries(record).iter().find(|entry| entry.is(|name| is_for(name, key)));
        own(record, key).or_else(|| other().map(|entry| &entry.value))
    };
    let meta = || any(program, Key::Meta).and_then(|meta| any(meta, key));
    own(program, key).or_else(meta).or_else(|| any(program, key))
}

/// The name of each program, and whether the source has it. The others are `main`, `main-2` and so on.
fn names<'a>(programs: &[Node<'a>], dialect: Dialect, arena: &'a Arena) -> &'a [(&'a str, bool)] {
    let given = |program: &Node<'a>| of_head(program, Key::Name, dialect)?.text();
    let named: Vec<Option<&'a str>> =
        programs.iter().map(|program| given(program).filter(|name| !name.is_empty())).collect();
    let taken: hashbrown::HashSet<&str> = named.iter().flatten().copied().collect();
    let numbered = (2..).map(|number| format!("{UNNAMED}-{number}"));
    let mut free = core::iter::once(UNNAMED.to_owned()).chain(numbered);
    let mut free = || free.find(|name| !taken.contains(name.as_str())).unwrap_or_default();
    let name =
        |name: Option<&'a str>| name.map_or_else(|| (arena.alloc_str(&free()), false), |name| (name, true));
    arena.collect(named.iter().copied().map(name))
}

fn whole<'a>(reader: &mut StepReader<'a>, program: &Node<'a>, first: Span) -> Function<'a> {
    let (name, given) = reader.functions.list.get(reader.functions.own).copied().unwrap_or((UNNAMED, false));
    let of_mcp = reader.dialect.notation == Notation::Mcp;
    let top = reader.keyed(program, reader.dialect.top(), "a program");
    let head = if of_mcp { meta(reader, &top, first) } else { top };
    let name_node = head.get(Key::Name);
    if !(given || (of_mcp && name_node.is_none())) {
        match name_node {
            Some(node) => reader.bad_shape(node, "a function's name", "a text that is not empty"),
            None => reader.missing(first, Key::Name, "a program", "give the function a name"),
        }
    }
    let parameters = parameters(reader, head.get(Key::Input));
    reader.output = match head.get(Key::Output) {
        Some(node) => output_type(reader, node),
        None if head.span == Span::default() => reader.output,
        None => no_output(reader, program, first),
    };
    let allowed = head.get(Key::Deps).and_then(|node| allowed(reader, node));
    let lists = parameters.iter().filter(|parameter| parameter.ty.ty.lists > 0);
    reader.lists = reader.arena.collect(lists.map(|parameter| parameter.name.text));
    let body = body(reader, parameters, top.get(Key::Steps), first);
    sort_by_key(&mut reader.suspects, |&suspect| suspect);
    let name_span = name_node.map_or(first, |node| node.span);
    Function {
        name: Name { text: name, span: name_span },
        parameters,
        output: reader.output,
        slots: reader.arena.alloc_slice_copy(reader.scope.slots()),
        allowed,
        body,
        suspects: reader.arena.alloc_slice_copy(&reader.suspects),
        ors: reader.arena.alloc_slice_copy(&reader.ors),
        parts: reader.arena.alloc_slice_copy(&reader.parts),
        calls: reader.call_count,
        loops: reader.loop_count,
        notation: reader.dialect.notation,
        source: reader.source,
        span: head_span(program.span.start, name_span, first),
    }
}

/// The steps of a function with these inputs.
fn body<'a>(
    reader: &mut StepReader<'a>,
    parameters: &[Parameter<'a>],
    node: Option<&Node<'a>>,
    first: Span,
) -> Block<'a> {
    for parameter in parameters {
        // An input that is bound again and never read as an input is an ordinary variable.
        let name = parameter.name.text;
        let bound = reader.survey.binding(name).is_some() && reader.survey.input_read(name).is_none();
        reader.scope.parameter(name, reader.dialect.is_bare() || bound);
    }
    let Some(node) = node else {
        reader.missing(first, Key::Steps, "a program", "write its steps");
        return Block { statements: &[] };
    };
    let yaml = reader.dialect.is_yaml();
    let items = match &node.kind {
        NodeKind::List(items) => RawStep::listed(items),
        NodeKind::Record(entries) if yaml => RawStep::named(entries),
        NodeKind::Null => Vec::new(),
        _ => {
            let expected = if yaml { "a record of named steps" } else { "a list of steps" };
            reader.bad_shape(node, &format!("`{}`", reader.dialect.word(Key::Steps)), expected);
            Vec::new()
        }
    };
    reader.block(|reader| blocks::steps(reader, &items, if yaml { Aim::Value } else { Aim::Unnamed }))
}

/// The keys of `meta`.
pub(crate) fn meta<'d, 'a>(reader: &mut StepReader<'a>, top: &Keyed<'d, 'a>, first: Span) -> Keyed<'d, 'a> {
    let Some(meta) = top.get(Key::Meta) else {
        let help = "write `\"meta\": {\"tools\": […], \"input\": {…}, \"output\": …}`";
        reader.missing(first, Key::Meta, "a program", help);
        return Keyed::none(Span::default());
    };
    if !matches!(meta.kind, NodeKind::Record(_)) {
        reader.bad_shape(meta, "`meta`", "a record");
        return Keyed::none(Span::default());
    }
    reader.keyed(meta, &META, "`meta`")
}

pub(crate) fn parameters<'a>(reader: &mut StepReader<'a>, node: Option<&Node<'a>>) -> &'a [Parameter<'a>] {
    let Some(node) = node else { return &[] };
    if matches!(node.kind, NodeKind::Null) {
        return &[];
    }
    let node = habits::shaped(reader, node, habits::parts::inputs);
    if !matches!(node.kind, NodeKind::Record(_)) {
        let what = format!("`{}`", reader.dialect.word(Key::Input));
        reader.bad_shape(node, &what, "a record of names and types");
        return &[];
    }
    let mut parameters = Vec::new();
    for entry in entries(node) {
        let text = match entry.key.kind {
            NodeKind::Text(text) => text.text,
            _ => reader.arena.alloc_str(&shown(&entry.key)),
        };
        let (ty, mut need) = input(reader, &entry.value);
        let mut name = Name { text, span: inner(&entry.key) };
        if let Some(text) = text.strip_suffix('?').filter(|name| !name.is_empty()) {
            let span = Span::new(name.span.start, name.span.end.saturating_sub(1));
            name = Name { text, span };
            need = if matches!(need, Need::Default(_)) { need } else { Need::Optional };
        }
        if parameters.iter().any(|other: &Parameter<'a>| other.name.text == name.text) {
            let message = format!("two inputs have the name `{}`", name.text);
            let wrong = Diagnostic::new(Code::DuplicateParameter, name.span, message);
            reader.report(wrong.help("rename one of them"));
        }
        parameters.push(Parameter { name, ty, need });
    }
    reader.arena.alloc_slice_copy(&parameters)
}

/// Reads the text of a type. If the text has no position of its own in the source (it contains escapes,
/// for example), its errors get the position of the whole value.
fn typed<'a, T>(
    reader: &mut StepReader<'a>,
    node: &Node<'a>,
    read: impl FnOnce(&'a str, Span, &mut Diagnostics) -> T,
) -> Option<T> {
    match node.kind {
        NodeKind::Text(Text { text, start: Some(start), .. }) => {
            let end = start.saturating_add(u32::try_from(text.len()).unwrap_or(u32::MAX));
            Some(read(reader.source, Span::new(start, end), &mut reader.diagnostics))
        }
        NodeKind::Text(Text { text, .. }) => {
            let mut found = Diagnostics::default();
            let whole = Span::new(0, u32::try_from(text.len()).unwrap_or(u32::MAX));
            let ty = read(text, whole, &mut found);
            for diagnostic in found.as_slice() {
                let placed = Diagnostic { span: node.span, fix: None, ..diagnostic.clone() };
                reader.diagnostics.push(placed);
            }
            Some(ty)
        }
        NodeKind::Null => Some(read("nil", Span::new(0, 3), &mut reader.diagnostics)),
        _ => {
            let wrong = wrong_shape(node, "a type", "a text, such as `number` or `list text`");
            let help =
                "the type of a record is any name, such as `user`, or lists its fields: `{id: number}`";
            reader.report(wrong.help(help));
            None
        }
    }
}

/// The type of an input, and what it takes besides.
fn input<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> (TypeName<'a>, Need<'a>) {
    let arena = reader.arena;
    let form = crate::dialect::input_form(node);
    let of = form.as_ref().map_or(*node, |form| *form.ty);
    let of = if crate::dialect::lists_fields(&of) {
        let mut text = String::new();
        type_of(&of, &mut text);
        Node::of_text(arena.alloc_str(&text), of.span)
    } else {
        of
    };
    let read = typed(reader, &of, |source, span, found| input_of(source, span, arena, found));
    let (ty, need) = read.unwrap_or((TypeName::implied(Base::Any, node.span), Need::Required));
    let ty = TypeName { span: node.span, ..ty };
    let need = match form {
        None => need,
        Some(InputForm { default: Some(default), .. }) if !matches!(default.kind, NodeKind::Null) => {
            let constant = constant(default, arena);
            default_fits(&ty, &constant, &mut reader.diagnostics);
            Need::Default(arena.alloc(constant))
        }
        Some(InputForm { optional, .. }) => match need {
            Need::Required if optional => Need::Optional,
            Need::Required => Need::Nullable,
            other => other,
        },
    };
    (ty, need)
}

pub(crate) fn output_type<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> OutputName<'a> {
    let node = habits::shaped(reader, node, habits::parts::type_text);
    let read = typed(reader, node, crate::syntax::output_of);
    let none = OutputName { ok: TypeName::implied(Base::Any, node.span), err: None, span: node.span };
    read.map_or(none, |output| OutputName {
        ok: TypeName { span: node.span, ..output.ok },
        err: output.err.map(|err| TypeName { span: node.span, ..err }),
        span: node.span,
    })
}

/// The output type of a program without one: anything, as a result if a step returns an outcome.
pub(crate) fn no_output<'a>(reader: &mut StepReader<'a>, program: &Node<'a>, first: Span) -> OutputName<'a> {
    let ok = TypeName::implied(Base::Any, first);
    let err = returns_outcome(reader, program).then_some(ok);
    let form = if err.is_some() { "`result any any`" } else { "`any`" };
    let message = format!("`{}` is missing in a program: read as {form}", reader.dialect.word(Key::Output));
    let help = "write the type that the function returns, such as `nil`, `text`, or `result nil text`";
    reader.report(Diagnostic::new(Code::OtherNotation, first, message).help(help));
    OutputName { ok, err, span: first }
}

/// Whether a step of a program returns a success or a failure as such.
fn returns_outcome<'a>(reader: &StepReader<'a>, program: &Node<'a>) -> bool {
    let only = |node: &Node<'a>, is: fn(&str) -> bool| matches!(entries(node), [one] if one.is(is));
    let of_mcp = reader.dialect.notation == Notation::Mcp;
    within(program).flat_map(|node| entries(&node)).any(|entry| {
        entry.is(|key| matches!(key, "return" | "ret")) && only(&entry.value, is_outcome)
            || of_mcp && entry.is(|key| key == "err")
    })
}

/// The list of what may be called.
pub(crate) fn allowed<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> Option<&'a [Name<'a>]> {
    let NodeKind::List(items) = &node.kind else {
        if !matches!(node.kind, NodeKind::Null) {
            let word = reader.dialect.word(Key::Deps);
            reader.bad_shape(node, &format!("`{word}`"), "a list of names");
        }
        return None;
    };
    let mut names = Vec::new();
    for item in *items {
        let item = habits::shaped(reader, item, habits::parts::tool);
        match item.text().filter(|text| !text.contains('*')) {
            Some(text) => {
                let name = Name { text, span: inner(item) };
                names.push(calls::unnamed_function(reader, name).map_or(name, |(_, function)| function));
            }
            None => {
                let wrong = wrong_shape(item, "what may be called", "the name of a tool, a text");
                reader.report(wrong.help("write a name for each tool, or leave the list out"));
            }
        }
    }
    (names.len() == items.len()).then(|| reader.arena.alloc_slice_copy(&names))
}

/// The span for messages about the header of a function: from its start to the end of its name if that is
/// near, otherwise its first entry.
fn head_span(start: u32, name: Span, first: Span) -> Span {
    const NEAR: u32 = 200;
    let end = if name.start >= start { name.end } else { first.end };
    Span::new(start, if end > start && name.start < start + NEAR { end } else { first.end })
}

/// Writes the type of a record that lists its fields, as a text.
fn type_of(node: &Node<'_>, out: &mut String) {
    match &node.kind {
        NodeKind::Record(fields) => {
            out.push('{');
            for (at, field) in fields.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                let key = shown(&field.key);
                let (name, mark) = key.strip_suffix('?').map_or((&*key, ""), |name| (name, "?"));
                crate::syntax::header::write_parameter(name, out);
                out.push_str(mark);
                out.push_str(": ");
                type_of(&field.value, out);
            }
            out.push('}');
        }
        NodeKind::List([item]) => {
            out.push_str("list ");
            type_of(item, out);
        }
        NodeKind::Null => out.push_str("nil"),
        _ => out.push_str(node.text().unwrap_or("")),
    }
}
