//! Completion of the four JSON and YAML notations.

use super::{Completion, CompletionKind, Found, expression};
use crate::arena::Arena;
use crate::dialect::Dialect;
use crate::dialect::words_at::{Wanted, wanted, words};
use crate::expr::reference::INPUT;
use crate::ide::place::{self, At, Place};
use crate::ide::{Analysis, describe};
use crate::notation::Notation;
use crate::span::Span;

/// The completions at an offset.
pub(super) fn complete(of: &Analysis<'_>, offset: u32) -> Vec<Completion> {
    let arena = Arena::new();
    let Some(place) = place::find(of.source, of.notation, offset, &arena) else { return Vec::new() };
    let mut found =
        Found { span: Span::new(place.word.start, offset.max(place.word.start)), all: Vec::new() };
    let dialect = Dialect::of(of.notation);
    let inside = wanted(of.notation, &place.path);
    match place.at {
        At::Key => {
            if inside == Wanted::Arguments {
                arguments(of, &place, &mut found);
            }
            for word in words(of.notation, &place.path, &place.here) {
                found.add(CompletionKind::Word, word, "", describe::of_word(of.notation, word));
            }
            let pending = of.at(Span::new(found.span.start, found.span.end));
            if pending.starts_with('$') {
                references(of, offset, dialect, &mut found);
            }
        }
        At::Value => match inside {
            Wanted::Tool | Wanted::Tools => tools(of, offset, &mut found),
            Wanted::Type => found.types(false),
            Wanted::Output => found.types(true),
            Wanted::Program | Wanted::Meta | Wanted::Inputs | Wanted::Name => {}
            _ => {
                let typed = of.at(Span::new(found.span.start, offset));
                match expression::inside(typed, expression::is_whole(of.notation, &place.path)) {
                    Some(true) => expression::complete(of, offset, &place.path, &mut found),
                    Some(false) => {}
                    None => references(of, offset, dialect, &mut found),
                }
            }
        },
    }
    quote(of, &place, &mut found);
    found.all
}

/// Adds the missing quotes to completions in JSON.
fn quote(of: &Analysis<'_>, place: &Place<'_>, found: &mut Found) {
    if of.notation == Notation::Workflow || place.quoted {
        return;
    }
    for one in &mut found.all {
        one.text = crate::text::quoted(&one.text);
    }
}

/// The tools, and the other functions of the file.
fn tools(of: &Analysis<'_>, offset: u32, found: &mut Found) {
    for (name, signature, about) in of.callables(of.function_at(offset).unwrap_or(0)) {
        found.add(CompletionKind::Tool, name, signature, about);
    }
}

/// The arguments of the call, without those that it has already.
fn arguments(of: &Analysis<'_>, place: &Place<'_>, found: &mut Found) {
    let call = place.path.last().and_then(|level| level.value("call"));
    let written = |name: &str| place.here.entries.iter().any(|entry| entry.name() == Some(name));
    for (name, ty, may_be_absent) in of.inputs_of(call.unwrap_or("")).unwrap_or_default() {
        if !written(name) {
            let about = if may_be_absent { "may be left out" } else { "" };
            found.add(CompletionKind::Argument, name, ty, about);
        }
    }
}

/// The slots to which a text may refer, or the fields of one.
fn references(of: &Analysis<'_>, offset: u32, dialect: Dialect, found: &mut Found) {
    let typed = of.at(Span::new(found.span.start, offset));
    let root = if dialect.is_bare() { 0 } else { typed.rfind('$').unwrap_or(typed.len()) };
    if !dialect.is_bare() && root == typed.len() && !typed.is_empty() {
        // Plain text so far.
        return;
    }
    let reference = typed.get(root..).unwrap_or("");
    let inner = reference.trim_start_matches(['$', '{']);
    let start = found.span.start + u32::try_from(root).unwrap_or(0);
    let whole = Span::new(start, offset);
    let function = of.function_at(offset).unwrap_or(0);
    let slots = describe::slots(of);
    let known = slots.of(function);
    if let Some((path, _)) = inner.rsplit_once('.').filter(|(path, _)| !path.is_empty() && *path != INPUT) {
        let at = start + u32::try_from(reference.rfind('.').map_or(0, |at| at + 1)).unwrap_or(0);
        found.span = Span::new(at, offset);
        fields(of, function, path, &known, found);
        return;
    }
    found.span = whole;
    expression::inputs(of, function, &known, expression::input_prefix(of.notation), found);
    let around = match dialect.notation {
        Notation::Constrained => ("", ""),
        Notation::ToolCalling => ("$", ""),
        _ => ("${", "}"),
    };
    expression::variables(of, (function, offset), &known, around, found);
}

/// The fields of the value at a path: a slot, and fields in it.
pub(super) fn fields<'t>(
    of: &'t Analysis<'_>,
    function: usize,
    path: &str,
    known: &[crate::check::KnownSlot<'t>],
    found: &mut Found,
) {
    let mut names = path.trim_start_matches('.').split('.').filter(|name| *name != INPUT);
    let Some((info, root)) = of.file.functions.get(function).zip(names.next()) else { return };
    let slot = info.slots.iter().position(|slot| slot.name == Some(root));
    let value = slot.and_then(|slot| known.get(slot)).and_then(|known| known.plain.or(known.ok));
    let mut shape = value.and_then(|value| value.part.shape());
    for name in names {
        let index = name.bytes().all(|byte| byte.is_ascii_digit());
        shape = shape.and_then(|shape| if index { Some(shape.item()) } else { Some(shape.field(name)?.0) });
    }
    for field in shape.into_iter().flat_map(crate::catalog::SchemaShape::fields) {
        found.add(CompletionKind::Field, field.name, field.shape.written(), "");
    }
}
