//! Characters to bytes: the scanner counts characters, a place is in bytes.

use crate::span::Span;
use saphyr_parser::Span as Marks;

/// Characters between two that are noted.
const STEP: usize = 32;

/// Where the characters of a text stand in the source. Making it costs the text once, asking a constant.
pub(super) struct Places<'s> {
    text: &'s str,
    /// Where the text begins in the source.
    base: usize,
    /// The byte of each character whose number is a multiple of [`STEP`]; empty where all are single bytes.
    noted: Vec<u32>,
}

impl<'s> Places<'s> {
    pub(super) fn new(text: &'s str, base: usize) -> Places<'s> {
        let noted = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().step_by(STEP).map(|(at, _)| u32::try_from(at).unwrap_or(u32::MAX)).collect()
        };
        Places { text, base, noted }
    }

    /// The place in the source of a character by its number.
    pub(super) fn offset(&self, character: usize) -> u32 {
        let byte = if self.noted.is_empty() {
            character.min(self.text.len())
        } else {
            let from = self.noted.get(character / STEP).map_or(self.text.len(), |&at| at as usize);
            let rest = self.text.get(from..).unwrap_or("");
            let within = rest.char_indices().nth(character % STEP).map_or(rest.len(), |(at, _)| at);
            from + within
        };
        u32::try_from(self.base + byte).unwrap_or(u32::MAX)
    }

    pub(super) fn span(&self, marks: Marks) -> Span {
        Span::new(self.offset(marks.start.index()), self.offset(marks.end.index()))
    }
}
