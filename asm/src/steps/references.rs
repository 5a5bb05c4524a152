//! Reads texts: references, templates and plain texts; with the names in scope, and what is reported where
//! one refers to nothing.

use super::habits::Lints;
use super::reader::{StepReader, bad, literal, number, of_slot};
use super::values::ValuePlace;
use crate::ast::{Binary, Expr, ExprKind, Field, Literal, Name, Slot};
use crate::diagnostic::{Diagnostic, Fix};
use crate::dialect::Key;
use crate::dialect::other_operator;
use crate::document::{Node, NodeKind};
use crate::expr::reference::{FAILURES, Reference, Root, Step, bare, is_file};
use crate::expr::template::{Part, Template, template};
use crate::expr::{Tree, TreeKind};
use crate::foreign::Place as ForeignPlace;
use crate::notation::Notation;
use crate::span::Span;
use crate::text::{Near, is_name, near, nearly_meets, same_spelling, shorten, some_of};
use crate::{expr, foreign};
use ilo_spec::error::Code;

/// The expression of a reference without braces, in any notation's form.
pub(crate) fn read_reference<'a>(reader: &mut StepReader<'a>, reference: &Reference<'a>) -> Expr<'a> {
    if reader.dialect.is_bare() {
        other_failure(reader, reference);
    }
    match input_by_place(reader, reference) {
        Some(found) => found,
        None => rooted(reader, reference),
    }
}

/// The path of a reference in an expression.
pub(crate) fn braced<'a>(reader: &mut StepReader<'a>, reference: &Reference<'a>) -> Expr<'a> {
    if let Some(found) = input_by_place(reader, reference) {
        return found;
    }
    if let (Root::Name(name), []) = (reference.root, reference.path)
        && reader.named(name.text).is_none()
        && let Some(constant) = expr::constant(name.text)
    {
        return literal(constant, reference.span);
    }
    rooted(reader, reference)
}

/// The input that a bare name is, decided by its place in the text: if no step has the name, in the
/// arguments and the handler of the step that has it, and before the first such step outside of loops.
fn input_by_place<'a>(reader: &mut StepReader<'a>, reference: &Reference<'a>) -> Option<Expr<'a>> {
    let Root::Name(name) = reference.root else { return None };
    let slot = reader.scope.input(name.text).filter(|_| reader.named(name.text).is_none())?;
    let before = match reader.survey.first_binding(name.text) {
        None => true,
        Some(first) => reader.binds(name.text) || (name.span.start < first && reader.loops.is_empty()),
    };
    let of = of_slot(slot, reference.span);
    before.then(|| with_path(reader, of, reference.path, reference.span))
}

/// A reference by its root.
pub(crate) fn rooted<'a>(reader: &mut StepReader<'a>, reference: &Reference<'a>) -> Expr<'a> {
    let (value, path) = match (reference.root, reference.path) {
        (Root::Input, [Step::Field(name), rest @ ..]) => {
            let Some(slot) = reader.scope.input(name.text) else {
                return nothing_named(reader, *name, reference);
            };
            (of_slot(slot, reference.span), rest)
        }
        (Root::Input, [Step::Index(..), ..]) => {
            let message = "inputs have names, not numbers";
            let wrong = Diagnostic::new(Code::BadReference, reference.span, message);
            reader.report(wrong.expected("the name of an input", "a number"));
            return bad(reference.span);
        }
        (Root::Input, []) => {
            let span = reference.span;
            let field = |(text, slot)| Field { name: Name { text, span }, value: of_slot(slot, span) };
            let fields = reader.arena.collect(reader.scope.inputs().map(field));
            (Expr { kind: ExprKind::Record(fields), span }, reference.path)
        }
        (Root::Name(name), path) => match reader.named(name.text) {
            Some(slot) => {
                let is_text = reader.at.failure.is_some_and(|failure| failure.is_text);
                if is_text && reader.is_failure(name.text) {
                    lint(reader, |lints| lints.field_of_failure(reference));
                }
                (of_slot(slot, reference.span), path)
            }
            None => return unknown(reader, name, reference),
        },
    };
    with_path(reader, value, path, reference.span)
}

/// Whether a name means the failure here, by the word of another notation.
fn is_other_failure(reader: &StepReader<'_>, name: &str) -> bool {
    reader.at.failure.is_some() && name != reader.dialect.failure() && reader.is_failure(name)
}

/// Reports a bare name that is another notation's name of the failure, or a text.
fn other_failure<'a>(reader: &mut StepReader<'a>, reference: &Reference<'a>) {
    let Root::Name(name) = reference.root else { return };
    if is_other_failure(reader, name.text) {
        let own = reader.dialect.failure();
        let wrong = Diagnostic::new(Code::BadReference, reference.span, "the failure has another name here");
        let help = format!("write `\"{own}\"`, or `{{\"text\":\"{}\"}}` for the text", name.text);
        reader.report(wrong.expected(format!("`{own}`"), format!("`{}`", name.text)).help(help));
    }
}

/// The fields and items of a path that are read in a value.
pub(crate) fn with_path<'a>(
    reader: &mut StepReader<'a>,
    mut value: Expr<'a>,
    path: &[Step<'a>],
    span: Span,
) -> Expr<'a> {
    if !reader.fits(path.len(), span) {
        return bad(span);
    }
    for step in path {
        let kind = match step {
            Step::Field(name) => ExprKind::Field(reader.alloc(value), *name),
            Step::Index(index, span) => {
                let Ok(index) = i64::try_from(*index) else { return value };
                let index = number(index, *span);
                ExprKind::Binary(Binary::At, reader.alloc(value), reader.alloc(index))
            }
        };
        value = Expr { kind, span };
    }
    value
}

fn unknown<'a>(reader: &mut StepReader<'a>, name: Name<'a>, reference: &Reference<'a>) -> Expr<'a> {
    if reader.scope.is_lost(name.text) {
        return bad(reference.span);
    }
    let text = name.text;
    let (message, help) = if FAILURES.contains(&text) {
        let word = reader.dialect.word(Key::Handler);
        (
            format!("`{text}` is the failure of a call, and can only be read in its `{word}`"),
            "bind what is needed outside in the handler",
        )
    } else if let Some(in_loop) = reader.scope.has_left(text) {
        let of = if in_loop { "was bound in a loop that has ended" } else { "names what a block gives" };
        (
            format!("`{text}` {of}"),
            "what a loop or a block gives is read under the name of the step that it belongs to",
        )
    } else if let Some(slot) = named_by_let(reader, text) {
        return with_path(reader, of_slot(slot, reference.span), reference.path, reference.span);
    } else if let Some(place) = reader.survey.binding(text) {
        reader.report(not_yet(reader, name, place));
        return bad(reference.span);
    } else {
        return nothing_named(reader, name, reference);
    };
    let wrong = Diagnostic::new(Code::UnknownReference, name.span, message);
    reader.report(wrong.expected(names_in_scope(reader), format!("`{text}`")).help(help));
    bad(reference.span)
}

/// The slot of the value of a step that has another name by its `let`, if only that step binds it.
fn named_by_let(reader: &StepReader<'_>, step: &str) -> Option<Slot> {
    let own = reader.scope.renamed(step).filter(|_| !reader.binds(step))?;
    let once = reader.survey.binding(own).map(|last| last.start) == reader.survey.first_binding(own);
    reader.named(own).filter(|_| once)
}

/// A reference whose root has this name in other languages (`steps.user.output.email`), read as what it
/// means.
fn read_as<'a>(reader: &mut StepReader<'a>, name: Name<'a>, meant: &Reference<'a>) -> Option<Expr<'a>> {
    let exists = match meant.root {
        Root::Input => true,
        Root::Name(meant) => meant.text != name.text && reader.named(meant.text).is_some(),
    };
    (exists && foreign::meaning(ForeignPlace::Root, name.text).is_some()).then(|| rooted(reader, meant))
}

/// The diagnostic of a name that some step binds or has, but that has no value here.
pub(crate) fn not_yet<'a>(reader: &StepReader<'a>, name: Name<'a>, place: Span) -> Diagnostic {
    let text = name.text;
    let (code, own) = if place.start > name.span.start && !reader.binds(text) {
        (Code::LaterReference, None)
    } else {
        (Code::UnknownReference, reader.scope.renamed(text).filter(|_| !reader.binds(text)))
    };
    let (message, help) = match (reader.binds(text), reader.at.failure) {
        _ if own.is_some() => {
            (format!("the value of the step `{text}` has another name by its `let`"), "read it by that name")
        }
        (true, None) => (
            format!("`{text}` is read in the very step that binds it"),
            "bind it in a step before this one, which then binds it again; in a loop, before the loop",
        ),
        (true, Some(_)) => (
            format!("`{text}` has no value where its own call failed"),
            "a call that failed leaves nothing to undo; `rollback` beside a call undoes it if something later fails",
        ),
        _ if code == Code::LaterReference => (
            format!("`{text}` is bound only by a later step"),
            "steps run in the order of the file: put that step before this one",
        ),
        _ => (
            format!("the step `{text}` has no value"),
            "a loop has one where its last step is what a pass yields; steps that end or undo have none",
        ),
    };
    let expected = own.map_or("a name that an earlier step binds".to_owned(), |own| format!("`{own}`"));
    let wrong = Diagnostic::new(code, name.span, message).expected(expected, format!("`{text}`"));
    let fix = own.and_then(|own| rename_part(name, own));
    let as_text = reader.dialect.is_bare() && reader.binds(text) && reader.at.failure.is_none();
    let as_text = as_text.then(|| format!("; if it is meant as text, write `{{\"text\":\"{text}\"}}`"));
    let help = format!("{help}{}", as_text.unwrap_or_default());
    wrong.related(place, "bound here").nearest(own).help(help).fix(fix)
}

/// Reports a name that means nothing, unless it is a root of other languages, which is read as what it means.
fn nothing_named<'a>(reader: &mut StepReader<'a>, name: Name<'a>, reference: &Reference<'a>) -> Expr<'a> {
    let meant = reader.resolve(reference);
    if let Some(read) = meant.and_then(|meant| read_as(reader, name, &meant)) {
        return read;
    }
    let inputs: Vec<&'a str> = match reference.root {
        Root::Input => reader.scope.inputs().map(|(name, _)| name).collect(),
        Root::Name(_) => Vec::new(),
    };
    let (message, known) = match reference.root {
        Root::Input => {
            let known = listed(inputs.iter().copied(), "an input; there are none");
            (format!("no input is named `{}`", name.text), known)
        }
        Root::Name(_) => (format!("nothing is named `{}` here", name.text), names_in_scope(reader)),
    };
    let wrong = Diagnostic::new(Code::UnknownReference, name.span, message)
        .expected(known, format!("`{}`", name.text));
    let wrong = match (meant, reference.root) {
        (Some(meant), _) => means(reader, wrong, reference, &meant),
        (None, Root::Input) => no_input(reader, wrong, name, reference, &inputs),
        (None, Root::Name(_)) => no_name(reader, wrong, name, reference),
    };
    reader.report(wrong);
    bad(reference.span)
}

/// Adds what may be meant in place of an unknown input.
fn no_input<'a>(
    reader: &StepReader<'a>,
    wrong: Diagnostic,
    name: Name<'a>,
    reference: &Reference<'a>,
    inputs: &[&'a str],
) -> Diagnostic {
    let near = near(name.text, inputs.iter().copied());
    let wrong = with_text(reader, wrong, name, reference, near, inputs.iter().copied());
    // `$input.first name`, of which the reference ends at the blank.
    let longer = |own: &&&str| own.strip_prefix(name.text).is_some_and(|rest| rest.starts_with(' '));
    if let Some(text) = inputs.iter().find(longer) {
        let path = &[Step::Field(Name { text, ..name })];
        let written = reader.dialect.written(&Reference { path, ..*reference }, '{');
        return wrong.help(format!("a reference ends at a blank: write `{written}`"));
    }
    let wrong = if wrong.fix.is_none() { with_near(wrong, name, near) } else { wrong };
    let helped = wrong.fix.is_some() || wrong.help.is_some();
    if helped { wrong } else { wrong.help("declare it among the inputs") }
}

/// Adds what may be meant in place of an unknown name.
fn no_name<'a>(
    reader: &StepReader<'a>,
    wrong: Diagnostic,
    name: Name<'a>,
    reference: &Reference<'a>,
) -> Diagnostic {
    let near = near_name(reader, name.text);
    let wrong = with_text(reader, wrong, name, reference, near, readable(reader));
    if wrong.fix.is_some() {
        return wrong;
    }
    let mut inputs = reader.scope.inputs().map(|(input, _)| input);
    if let Some(text) = inputs.find(|input| near.is_none() && same_spelling(input, name.text)) {
        let own = core::iter::once(Step::Field(Name { text, ..name }));
        let path = reader.arena.collect(own.chain(reference.path.iter().copied()));
        return means(reader, wrong, reference, &Reference { root: Root::Input, path, ..*reference });
    }
    let written = reader.source.get(reference.span.range()).unwrap_or("");
    let time = matches!(name.text, "now" | "today");
    if near.is_none() && reference.path.is_empty() && written == name.text && !time {
        // In an expression a text is in quotes.
        let text = format!("'{}'", name.text);
        let wrong = wrong.help(format!("write `{text}` for a text, or bind the name in a step before"));
        return wrong.replace(reference.span, text);
    }
    if near.is_some() {
        return with_near(wrong, name, near);
    }
    let bind = "bind it in a step before; a plain dollar sign is written `$$`";
    wrong.help(foreign::instead(ForeignPlace::Name, name.text).unwrap_or(bind))
}

/// Adds a known name in braces, if in a text it goes on as text: `$date_report`.
fn with_text<'n>(
    reader: &StepReader<'_>,
    wrong: Diagnostic,
    name: Name<'_>,
    reference: &Reference<'_>,
    near: Option<Near<'_>>,
    known: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    let place = Span::new(reference.span.start, name.span.end);
    let written = reader.source.get(place.range()).unwrap_or("");
    let root = written.strip_suffix(name.text).and_then(|root| root.strip_prefix('$'));
    let slips = near.is_some_and(|near| near.sure) && !name.text.ends_with(['-', '_']);
    let goes_on = |own: &str| {
        let rest = name.text.strip_prefix(own).filter(|rest| rest.starts_with(['-', '_']))?;
        // The rest may be subtracted.
        let part = rest.strip_prefix('-').unwrap_or("-");
        (part.parse::<u32>().is_err() && reader.named(part).is_none()).then_some((own.len(), rest))
    };
    match (known.take(MOST_NAMES).filter_map(goes_on).max(), root) {
        (Some((length, rest)), Some(root)) if !slips && !root.starts_with('{') => {
            let own = name.text.get(..length).unwrap_or("");
            wrong.replace(place, format!("${{{root}{own}}}{rest}"))
        }
        _ => wrong,
    }
}

/// Adds the reference that is meant to the diagnostic of an unresolved reference.
fn means<'a>(
    reader: &StepReader<'a>,
    wrong: Diagnostic,
    reference: &Reference<'a>,
    meant: &Reference<'a>,
) -> Diagnostic {
    let written = reader.source.get(reference.span.range()).unwrap_or("");
    // In infix text and inside texts it has the form of a whole-text reference, except for braces that
    // exist already.
    let inside = written.starts_with("${") && reader.dialect.notation == Notation::Mcp;
    let corrected = if reader.dialect.notation == Notation::ToolCalling && written.starts_with("${") {
        reader.dialect.written(meant, '{')
    } else {
        reader.dialect.own_form(meant, inside || reader.dialect.is_bare())
    };
    let found = format!("`{}`", shorten(written));
    let wrong = wrong.expected(format!("`{corrected}`"), found).nearest(Some(&corrected));
    if written.starts_with('$') {
        return wrong.replace(reference.span, corrected.as_str());
    }
    // In an expression.
    let inside = reader.dialect.written(meant, '{');
    wrong.replace(reference.span, inside.trim_start_matches("${").trim_end_matches('}'))
}

pub(crate) fn near_name<'a>(reader: &StepReader<'a>, name: &str) -> Option<Near<'a>> {
    let bare = reader.scope.inputs().filter(|_| reader.dialect.is_bare()).map(|(name, _)| name);
    near(name, readable(reader).take(MOST_NAMES).chain(bare.take(MOST_NAMES)))
}

/// The names that may be read here: not that of the step which is being read.
fn readable<'a>(reader: &StepReader<'a>) -> impl Iterator<Item = &'a str> {
    reader.scope.visible().filter(|name| reader.scope.find(name).is_some() || !reader.binds(name))
}

pub(crate) fn names_in_scope(reader: &StepReader<'_>) -> String {
    let inputs = reader.scope.inputs().filter(|_| reader.dialect.is_bare()).map(|(name, _)| name);
    let all = readable(reader).take(MOST_NAMES).chain(inputs);
    listed(all, "a name that a step before has bound; there are none")
}

/// Runs lints on something that was read. What they warn about becomes a suspect.
pub(crate) fn lint<'a>(reader: &mut StepReader<'a>, examine: impl FnOnce(&mut Lints<'_, 'a>)) {
    if reader.canonical.is_none() {
        examine(&mut Lints { at: reader });
    }
}

/// Whether all names in an expression exist.
pub(crate) fn resolves<'a>(reader: &StepReader<'a>, tree: &Tree<'a>) -> bool {
    let mut all = !matches!(tree.kind, TreeKind::Path(path) if reader.resolve(&path).is_none());
    // `JSON` in `JSON.parse(x)` is a module of another language.
    let module = match tree.kind {
        TreeKind::Method(of, name, _) => of
            .name()
            .filter(|module| other_operator::meant(&format!("{}.{}", module.text, name.text)).is_some()),
        _ => None,
    };
    tree.children(&mut |child| {
        all &= resolves(reader, child)
            || (module.is_some() && child.name().map(|name| name.span) == module.map(|name| name.span));
    });
    all
}

/// An inexact reference in the form of this notation.
pub(crate) fn own_form<'a>(reader: &StepReader<'a>, reference: &Reference<'a>, inside: bool) -> String {
    reader.dialect.own_form(&reader.resolve(reference).unwrap_or(*reference), inside)
}

/// Whether a node was read as a plain text about which no lint has warned.
pub(crate) fn is_plain<'a>(reader: &StepReader<'a>, node: &Node<'a>, value: &Expr<'a>) -> bool {
    let constant = matches!(value.kind, ExprKind::Literal(Literal::Text(_)));
    constant && matches!(node.kind, NodeKind::Text(_)) && reader.suspects.last() != Some(&node.span)
}

/// Reads a text: a reference, a template, or a plain text.
pub(crate) fn text<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, place: ValuePlace) -> Expr<'a> {
    if reader.dialect.is_bare()
        && let Some(reference) = bare(node, reader.arena)
        && let Some(found) = bare_text(reader, node, &reference, place)
    {
        return found;
    }
    let left = reader.levels_left();
    let template = template(node, reader.dialect.sigil(), left, reader.arena, &mut reader.diagnostics);
    text_of(reader, node, &template, place)
}

/// A text that is a bare reference; `None` if it is a plain text.
fn bare_text<'a>(
    reader: &mut StepReader<'a>,
    node: &Node<'a>,
    reference: &Reference<'a>,
    place: ValuePlace,
) -> Option<Expr<'a>> {
    let Root::Name(name) = reference.root else { return None };
    let is_word = |reader: &StepReader<'a>| reference.path.is_empty() && reader.survey.is_quoted(name.text);
    if reader.named(name.text).is_some() {
        let is_text = is_other_failure(reader, name.text) && is_word(reader);
        return (!is_text).then(|| read_reference(reader, reference));
    }
    if reader.scope.is_lost(name.text) {
        return Some(bad(node.span));
    }
    if !reference.path.is_empty()
        && let Some(meant) = reader.resolve(reference)
    {
        return Some(read_reference(reader, &meant));
    }
    let near = {
        let mut names = reader.scope.visible().chain(reader.scope.inputs().map(|(name, _)| name));
        names.find(|known| nearly_meets(name.text, known))
    };
    if near.map_or(reference.path.is_empty(), |_| is_word(reader)) {
        return None;
    }
    // `released` beside the name `release` is rather another word than a slip.
    let inflects = |(word, of): (&str, &str)| {
        matches!(word.strip_prefix(of), Some("s" | "d")) && !of.ends_with(['s', 'd'])
    };
    let is_form = |known: &&str| inflects((name.text, known)) || inflects((known, name.text));
    if let Some(known) = near.filter(is_form).filter(|_| reference.path.is_empty()) {
        let message = format!("`{}` is a text here, though the name `{known}` is near", name.text);
        let wrong = Diagnostic::new(Code::TextReference, name.span, message);
        reader.report(wrong.help(format!("if the value of `{known}` is meant, write `\"{known}\"`")));
        return None;
    }
    let later = |place: &Span| reader.binds(name.text) || place.start > node.span.start;
    if let Some(place) = reader.survey.binding(name.text).filter(later) {
        reader.report(not_yet(reader, name, place));
        return Some(bad(node.span));
    }
    let near = near_name(reader, name.text).or(near.map(|name| Near { name, sure: false }));
    let as_text = format!("{{\"text\":{}}}", reader.source.get(node.span.range()).unwrap_or(""));
    let message = format!("nothing in scope is named `{}`", name.text);
    let wrong = Diagnostic::new(Code::UnknownReference, name.span, message)
        .expected(names_in_scope(reader), format!("`{}`", name.text))
        .help(format!("if it is meant as text, write `{}`", shorten(&as_text)));
    // A label often differs from a name by its capital letter alone.
    let label = name.text.starts_with(char::is_uppercase) && place == ValuePlace::Field;
    let near = near.map(|near| Near { sure: near.sure && !label, ..near });
    let wrong = with_near(wrong, name, near);
    let names_field =
        place == ValuePlace::Field && reference.path.is_empty() && !label && wrong.fix.is_none();
    let is_text = names_field || (near.is_none() && is_file(node.text().unwrap_or("")));
    reader.report(if is_text { wrong.replace(node.span, as_text) } else { wrong });
    Some(bad(node.span))
}

/// The expression of a template: the value of its only reference, or the joined parts.
pub(crate) fn text_of<'a>(
    reader: &mut StepReader<'a>,
    node: &Node<'a>,
    template: &Template<'a>,
    place: ValuePlace,
) -> Expr<'a> {
    lint(reader, |lints| lints.text(node, template, place));
    if let Some(part) = template.whole() {
        return read_part(reader, node, &part);
    }
    if let Some(text) = template.text() {
        return literal(Literal::Text(text), node.span);
    }
    let parts = reader.arena.collect(template.parts.iter().map(|part| read_part(reader, node, part)));
    let levels = parts.len().next_power_of_two().trailing_zeros();
    if !reader.fits(levels as usize, node.span) {
        return bad(node.span);
    }
    Expr { kind: ExprKind::Template(parts), span: node.span }
}

fn read_part<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, part: &Part<'a>) -> Expr<'a> {
    match part {
        Part::Text(text, span) => literal(Literal::Text(text), *span),
        Part::Reference(reference) => read_reference(reader, reference),
        Part::Value(tree) => reader.of_tree(node, tree),
        Part::Bad(span) => bad(*span),
    }
}

/// The help if a name may be meant as a subtraction.
const SUBTRACTION: &str = "a hyphen belongs to a name; to subtract, put blanks around it in an expression";

/// Adds the name that is most likely meant in place of another one, with the fix that writes it.
pub(crate) fn with_near(wrong: Diagnostic, name: Name<'_>, near: Option<Near<'_>>) -> Diagnostic {
    let Some(near) = near else { return wrong };
    let fix = rename_part(name, near.name).filter(|_| near.sure);
    let wrong = wrong.nearest(Some(near.name)).fix(fix);
    if subtracts(name.text, near.name) { wrong.help(SUBTRACTION) } else { wrong }
}

fn rename_part(name: Name<'_>, new: &str) -> Option<Fix> {
    let exact = (name.span.end - name.span.start) as usize == name.text.len();
    let kept = exact && is_name(new) && !subtracts(name.text, new);
    kept.then(|| Fix::write(new, name.span, new))
}

/// Whether a name is another name followed by a hyphen and more: a subtraction may be meant, so the rest must
/// not be dropped.
fn subtracts(name: &str, from: &str) -> bool {
    name.strip_prefix(from).is_some_and(|rest| rest.starts_with('-'))
}

/// The most names that are examined for a message.
const MOST_NAMES: usize = 64;

/// The first few names; `none` if there are none.
pub(crate) fn listed<'n>(names: impl Iterator<Item = &'n str>, none: &str) -> String {
    let shown = some_of(names);
    if shown.is_empty() { none.to_owned() } else { shown }
}
