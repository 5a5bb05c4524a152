//! Completion of the four JSON and YAML notations.

use super::{Completion, CompletionKind, Found, expression};
use crate::arena::Arena;
use crate::dialect::words_at::{Wanted, wanted, words};
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
    let inside = wanted(of.notation, &place.path);
    match place.at {
        At::Key => {
            if inside == Wanted::Arguments {
                arguments(of, &place, &mut found);
            }
            for word in words(of.notation, &place.path, &place.here) {
                found.add(CompletionKind::Word, word, "", describe::of_word(of.notation, word));
            }
            if of.at(found.span).starts_with('$') {
                expression::complete(of, offset, &place.path, &mut found);
            }
        }
        At::Value => match inside {
            Wanted::Tool | Wanted::Tools => tools(of, offset, &mut found),
            Wanted::Type => found.types(false),
            Wanted::Output => found.types(true),
            Wanted::Program | Wanted::Meta | Wanted::Inputs | Wanted::Name => {}
            _ => expression::complete(of, offset, &place.path, &mut found),
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
