//! Hover texts and completions for a position in a source.

use crate::diagnostic::units;
use crate::source::work;
use ilo_asm::ide::{Analysis, Completion, CompletionKind};
use ilo_bindings::finding::{Edit, Offsets};
use ilo_js_vm::Catalogue;
use ilo_js_vm::thrown::json;
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

/// A text about a part of a source.
#[derive(Serialize)]
struct Hover {
    start: usize,
    end: usize,
    text: String,
}

/// A completion: a text that may replace a part of a source.
#[derive(Serialize)]
struct Choice {
    label: String,
    kind: &'static str,
    text: String,
    start: usize,
    end: usize,
    filter: String,
    detail: String,
    about: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    also: Option<Edit>,
}

/// Converts an index of a JavaScript text to an offset in bytes; an index past the end is the end.
fn byte(source: &str, index: u32) -> u32 {
    let mut left = index as usize;
    let inside = source.char_indices().find(|&(_, character)| {
        let is_there = left < character.len_utf16();
        left = left.saturating_sub(character.len_utf16());
        is_there
    });
    u32::try_from(inside.map_or(source.len(), |(at, _)| at)).unwrap_or(u32::MAX)
}

fn kind(kind: CompletionKind) -> &'static str {
    match kind {
        CompletionKind::Tool => "tool",
        CompletionKind::Argument => "argument",
        CompletionKind::Field => "field",
        CompletionKind::Slot => "slot",
        CompletionKind::Type => "type",
        _ => "word",
    }
}

fn choice(found: Completion, offsets: &mut Offsets<'_>) -> Choice {
    let (start, end) = offsets.of(found.span);
    let also = found.also.map(|also| {
        let (start, end) = offsets.of(also.span);
        Edit { start, end, text: also.text }
    });
    let Completion { label, text, filter, detail, about, .. } = found;
    Choice { label, kind: kind(found.kind), text, start, end, filter, detail, about, also }
}

/// The hover text for the word at an index, or nothing.
#[wasm_bindgen]
pub fn hover(
    source: &str,
    tools: &Catalogue,
    notation: Option<String>,
    index: u32,
) -> Result<Option<String>, String> {
    let arena = ilo_asm::arena::Arena::new();
    let work = work(source, tools, notation)?;
    let found = Analysis::new(source, &arena, &work.options()).hover(byte(source, index));
    Ok(found.map(|found| {
        let (start, end) = Offsets::new(source, units).of(found.span);
        json(&Hover { start, end, text: found.text })
    }))
}

/// The completions at an index, the likeliest first.
#[wasm_bindgen]
pub fn complete(
    source: &str,
    tools: &Catalogue,
    notation: Option<String>,
    index: u32,
) -> Result<String, String> {
    let arena = ilo_asm::arena::Arena::new();
    let work = work(source, tools, notation)?;
    let found = Analysis::new(source, &arena, &work.options()).complete(byte(source, index));
    let mut offsets = Offsets::new(source, units);
    let choices: Vec<Choice> = found.into_iter().map(|one| choice(one, &mut offsets)).collect();
    Ok(json(&choices))
}
