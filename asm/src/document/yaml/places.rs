//! Converts positions of the scanner to positions in the source.
//!
//! The scanner counts characters of the source with fixes applied; spans are in bytes of the original source.

use crate::diagnostic::Edit;
use crate::span::Span;
use core::ops::Range;
use saphyr_parser::Span as Marks;
use std::borrow::Cow;
use std::cell::RefCell;

/// The distance in characters between two noted positions.
const STEP: usize = 32;

/// The part of a source that the scanner sees.
pub(crate) struct ScannedPart<'s> {
    /// The part of the source, with fixes applied.
    pub(crate) text: Cow<'s, str>,
    /// Its start in the source.
    base: usize,
    /// Whether it is ASCII.
    ascii: bool,
    /// The byte offset of each character whose number is a multiple of [`STEP`], as far as they were needed.
    noted: RefCell<Vec<u32>>,
    /// The range of each fix in `text`, and the range that it replaces in the source.
    fixes: Vec<AppliedFix>,
}

#[derive(Clone, Copy)]
struct AppliedFix {
    seen: (usize, usize),
    source: (usize, usize),
}

impl<'s> ScannedPart<'s> {
    /// The part of a source in a range, with the edits that lie in it; edits are sorted and do not overlap.
    /// The part is copied only if there are edits.
    pub(crate) fn new(source: &'s str, part: Range<usize>, edits: &[Edit], ascii: bool) -> ScannedPart<'s> {
        let mut fixes = Vec::new();
        let mut text = Cow::Borrowed(source.get(part.clone()).unwrap_or(""));
        let edits = edits.iter().filter(|edit| part.start <= edit.span.range().start);
        let edits: Vec<_> = edits.filter(|edit| edit.span.range().end <= part.end).collect();
        if !edits.is_empty() {
            let mut out = String::with_capacity(part.len());
            let mut at = part.start;
            for edit in edits {
                let range = edit.span.range();
                out.push_str(source.get(at..range.start).unwrap_or(""));
                let start = out.len();
                out.push_str(&edit.text);
                fixes.push(AppliedFix { seen: (start, out.len()), source: (range.start, range.end) });
                at = range.end;
            }
            out.push_str(source.get(at..part.end).unwrap_or(""));
            text = Cow::Owned(out);
        }
        ScannedPart { text, base: part.start, ascii, noted: RefCell::new(vec![0]), fixes }
    }

    /// The byte offset in the source of a character by its number. The cost is at most the distance from the
    /// furthest earlier query, plus the logarithm of the number of fixes.
    pub(crate) fn offset(&self, character: usize) -> u32 {
        let byte = self.byte(character);
        let next = self.fixes.partition_point(|fixed| fixed.seen.0 <= byte);
        let at = match next.checked_sub(1).and_then(|last| self.fixes.get(last)) {
            None => self.base + byte,
            // Inside a fix, only its ends have positions.
            Some(fixed) if byte < fixed.seen.1 => fixed.source.0,
            Some(fixed) => fixed.source.1 + (byte - fixed.seen.1),
        };
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    fn byte(&self, character: usize) -> usize {
        if self.ascii {
            return character.min(self.text.len());
        }
        let after = |from: usize, count: usize| {
            let rest = self.text.get(from..).unwrap_or("");
            from + rest.char_indices().nth(count).map_or(rest.len(), |(at, _)| at)
        };
        let mut noted = self.noted.borrow_mut();
        let mut last = noted.last().map_or(0, |&at| at as usize);
        while noted.len() <= character / STEP && last < self.text.len() {
            last = after(last, STEP);
            noted.push(u32::try_from(last).unwrap_or(u32::MAX));
        }
        noted.get(character / STEP).map_or(self.text.len(), |&from| after(from as usize, character % STEP))
    }

    pub(crate) fn span(&self, marks: Marks) -> Span {
        Span::new(self.offset(marks.start.index()), self.offset(marks.end.index()))
    }
}
