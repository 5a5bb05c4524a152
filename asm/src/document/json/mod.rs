//! The JSON reader: one or more documents to values with spans.
//!
//! It is one pass with an explicit stack; time and memory are linear in the source. Whatever is not JSON is
//! reported at its position, with a fix if there is one, and reading continues as if it were fixed, so that
//! all errors are reported together. The reader does not know programs. A line may be as long as the source:
//! a minified function is one line.

mod habits;
mod recovery;
mod scalar;
#[cfg(test)]
mod tests;

use super::builder::NodeStack;
use super::{Node, NodeKind};
use crate::arena::Arena;
use crate::diagnostic::whole_source::program;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::SourceLimits;
use crate::span::Span;
use core::ops::Range;
use ilo_spec::error::Code;

/// Reads all documents of a source. What could be read is returned even if there are errors.
pub(crate) fn read<'a>(
    source: &'a str,
    arena: &'a Arena,
    options: &SourceLimits,
    diagnostics: &mut Diagnostics,
) -> &'a [Node<'a>] {
    read_with_comments(source, arena, options, diagnostics).0
}

/// Like [`read`]; also whether there are comments, which are lost where the documents are printed.
pub(crate) fn read_with_comments<'a>(
    source: &'a str,
    arena: &'a Arena,
    options: &SourceLimits,
    diagnostics: &mut Diagnostics,
) -> (&'a [Node<'a>], bool) {
    let Some(part) = program(source, options, diagnostics) else { return (&[], false) };
    let mut reader = Reader::new(source, part, arena, diagnostics);
    while reader.step() {}
    let comments = reader.comments;
    (reader.built.finish(), comments)
}

/// Reads one value at the start of a part of a source, as an item of a list; with it, its end. Nothing if
/// anything is reported.
pub(crate) fn value<'a>(source: &'a str, part: Range<usize>, arena: &'a Arena) -> Option<(Node<'a>, usize)> {
    let mut found = Diagnostics::default();
    let mut reader = Reader::new(source, part.clone(), arena, &mut found);
    reader.built.open(false, offset(part.start));
    reader.want = Awaited::FirstValue;
    while reader.want != Awaited::Next || reader.built.frames().len() > 1 {
        // What is reported ends the value, so that no part is read for each of many that are none.
        if !reader.step() || reader.at_top() || !reader.diagnostics.as_slice().is_empty() {
            return None;
        }
    }
    let end = reader.at;
    match reader.built.close(offset(end), reader.diagnostics)?.kind {
        NodeKind::List([value]) => Some((*value, end)),
        _ => None,
    }
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    /// A value: a document, an element, or the value of a key.
    Value,
    /// An element or the end of the list.
    FirstValue,
    /// A key.
    Key,
    /// A key or the end of the record.
    FirstKey,
    /// The colon after a key.
    Colon,
    /// A comma or the end of the list or record.
    Next,
}

struct Reader<'a, 'd> {
    source: &'a str,
    end: usize,
    at: usize,
    arena: &'a Arena,
    diagnostics: &'d mut Diagnostics,
    built: NodeStack<'a>,
    want: Awaited,
    /// The end of the last key, value or bracket.
    last: u32,
    /// Whether brackets are already known to be unbalanced: a missing or extra bracket is reported once.
    lost: bool,
    /// The end of a text that was ended in the wrong position: what is missing there is unknown.
    vague: Option<u32>,
    /// Whether no later line begins with a bracket.
    lines_end: bool,
    /// Whether there are comments.
    comments: bool,
    /// How often the rest of the source may still be searched for brackets.
    looks: u8,
}

/// An offset. The limit on the size of sources ensures that it fits.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<'a, 'd> Reader<'a, 'd> {
    fn new(
        source: &'a str,
        part: Range<usize>,
        arena: &'a Arena,
        diagnostics: &'d mut Diagnostics,
    ) -> Reader<'a, 'd> {
        Reader {
            source,
            end: part.end,
            at: part.start,
            arena,
            diagnostics,
            built: NodeStack::new(arena),
            want: Awaited::Value,
            last: 0,
            lost: false,
            looks: recovery::LOOKS,
            vague: None,
            lines_end: false,
            comments: false,
        }
    }
}

impl<'a> Reader<'a, '_> {
    /// Reads a token; false at the end of the source.
    #[allow(clippy::inline_always, reason = "the loop over the tokens of a source")]
    #[inline(always)]
    fn step(&mut self) -> bool {
        let bytes = self.source.as_bytes();
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(self.at) {
            self.at += 1;
        }
        let byte = match bytes.get(self.at) {
            Some(&byte) if self.at < self.end => byte,
            _ => {
                self.finish(self.end);
                return false;
            }
        };
        match byte {
            b'"' => {
                self.ready();
                let node = self.string();
                self.text(node);
            }
            b',' => self.comma(),
            b':' => self.colon(),
            b'{' | b'[' => return self.open(byte == b'{'),
            b'}' | b']' => self.close(byte == b'}'),
            b'-' | b'0'..=b'9' | b'+' | b'.' => self.number(),
            _ => self.word(),
        }
        true
    }

    fn in_record(&self) -> bool {
        self.built.frames().last().is_some_and(|frame| frame.record)
    }

    fn at_top(&self) -> bool {
        self.built.frames().is_empty()
    }

    /// Called before a value or key: reports a missing comma that is not certain; a colon is.
    fn ready(&mut self) {
        match self.want {
            Awaited::Next => {
                if self.vague != Some(self.last) {
                    self.missing_comma();
                }
                self.want = if self.in_record() { Awaited::Key } else { Awaited::Value };
            }
            Awaited::Colon => self.want = Awaited::Value,
            _ => {}
        }
    }

    /// A text: a key or a value.
    fn text(&mut self, node: Node<'a>) {
        self.ready();
        let node = self.joined(node);
        match self.want {
            Awaited::Key | Awaited::FirstKey => self.key(node),
            _ => self.value(node),
        }
    }

    fn key(&mut self, node: Node<'a>) {
        self.last = node.span.end;
        self.want = Awaited::Colon;
        if let Some(frame) = self.built.innermost() {
            frame.key = Some(node);
        }
    }

    /// Adds a complete value.
    fn value(&mut self, node: Node<'a>) {
        self.last = node.span.end;
        self.want = if self.at_top() { Awaited::Value } else { Awaited::Next };
        self.built.value(node);
    }

    /// An opening bracket; false if it nests too deeply.
    fn open(&mut self, record: bool) -> bool {
        let open = offset(self.at);
        if self.want == Awaited::Next && record && self.begins_document() {
            self.finish(self.last as usize);
        }
        self.ready();
        if matches!(self.want, Awaited::Key | Awaited::FirstKey) {
            self.missing_key();
        }
        if !self.built.open(record, open) {
            self.diagnostics.push(crate::document::too_deep(Span::new(open, open + 1)));
            self.lost = true;
            self.finish(self.at);
            return false;
        }
        self.want = if record { Awaited::FirstKey } else { Awaited::FirstValue };
        self.at += 1;
        self.last = open + 1;
        true
    }

    /// A closing bracket.
    fn close(&mut self, record: bool) {
        match self.built.frames().last() {
            None => {
                self.stray_close();
                self.at += 1;
            }
            Some(frame) if frame.record == record => {
                self.before_close();
                self.at += 1;
                self.pop(offset(self.at));
            }
            Some(_) => self.wrong_close(record),
        }
    }

    /// Ends the innermost list or record.
    fn pop(&mut self, end: u32) {
        if let Some(node) = self.built.close(end, self.diagnostics) {
            self.value(node);
        }
    }

    fn comma(&mut self) {
        let span = Span::new(offset(self.at), offset(self.at) + 1);
        self.at += 1;
        match self.want {
            Awaited::Next => {}
            Awaited::Colon | Awaited::Value if self.in_record() => self.missing_value(span),
            _ => return self.extra_comma(span),
        }
        self.want = if self.in_record() { Awaited::Key } else { Awaited::Value };
    }

    fn colon(&mut self) {
        match self.want {
            Awaited::Colon => {
                self.want = Awaited::Value;
                self.at += 1;
                self.last = offset(self.at);
            }
            Awaited::Key | Awaited::FirstKey => {
                self.missing_key();
                self.at += 1;
                self.want = Awaited::Value;
            }
            _ => self.stray_colon(),
        }
    }

    /// The end of the source, or of a truncated document.
    fn finish(&mut self, end: usize) {
        if self.at_top() {
            return;
        }
        self.cut_off(end);
        while !self.at_top() {
            self.pop(offset(end));
        }
        self.lost = false;
    }

    /// Reports an error; the rest of the diagnostic is built only if it is kept.
    fn bad(&mut self, code: Code, place: Span, message: &str, rest: impl FnOnce(Diagnostic) -> Diagnostic) {
        self.diagnostics.push_with(code, || rest(Diagnostic::new(code, place, message)));
    }
}
