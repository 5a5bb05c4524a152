//! Documents under construction, as the readers of JSON and YAML make them: what is open, and what is
//! complete in it.
//!
//! It has a stack of its own, so no reader recurses. It knows neither syntax.

use super::{Entry, Kind, NESTING, Node, keep_first};
use crate::diagnostic::Diagnostics;
use crate::span::Span;
use bumpalo::Bump;

/// A list or record that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    /// Whether it is a record.
    pub(super) record: bool,
    /// Where it begins.
    pub(super) open: u32,
    /// The key that waits for its value.
    pub(super) key: Option<Node<'a>>,
    /// Where its elements begin among those of everything that is open.
    base: usize,
}

/// The documents of a source, the last of them perhaps not complete.
pub(super) struct Builder<'a> {
    arena: &'a Bump,
    frames: Vec<Frame<'a>>,
    nodes: Vec<Node<'a>>,
    entries: Vec<Entry<'a>>,
    documents: Vec<Node<'a>>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(arena: &'a Bump) -> Builder<'a> {
        let (frames, nodes, entries, documents) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Builder { arena, frames, nodes, entries, documents }
    }

    /// What is open, the innermost last.
    pub(super) fn frames(&self) -> &[Frame<'a>] {
        &self.frames
    }

    /// The innermost list or record that is open.
    pub(super) fn innermost(&mut self) -> Option<&mut Frame<'a>> {
        self.frames.last_mut()
    }

    /// How many documents are complete.
    pub(super) fn documents(&self) -> usize {
        self.documents.len()
    }

    /// Opens a list or record that begins at `open`; false where it would be nested too deep.
    pub(super) fn open(&mut self, record: bool, open: u32) -> bool {
        let fits = self.frames.len() < NESTING;
        if fits {
            let base = if record { self.entries.len() } else { self.nodes.len() };
            self.frames.push(Frame { record, open, base, key: None });
        }
        fits
    }

    /// Takes a complete value: a document, an element, or the value of the key that waits. Without such a
    /// key, a value in a record is dropped.
    pub(super) fn value(&mut self, node: Node<'a>) {
        match self.frames.last_mut() {
            None => self.documents.push(node),
            Some(frame) if frame.record => {
                if let Some(key) = frame.key.take() {
                    self.entries.push(Entry { key, value: node });
                }
            }
            Some(_) => self.nodes.push(node),
        }
    }

    /// Closes the innermost list or record; the value that it is. A key that is given twice is reported.
    pub(super) fn close(&mut self, end: u32, diagnostics: &mut Diagnostics) -> Option<Node<'a>> {
        let frame = self.frames.pop()?;
        let kind = if frame.record {
            let entries = self.entries.get_mut(frame.base..).unwrap_or_default();
            let kept = keep_first(entries, diagnostics);
            let entries = self.arena.alloc_slice_copy(entries.get(..kept).unwrap_or_default());
            self.entries.truncate(frame.base);
            Kind::Record(entries)
        } else {
            let nodes = self.arena.alloc_slice_copy(self.nodes.get(frame.base..).unwrap_or_default());
            self.nodes.truncate(frame.base);
            Kind::List(nodes)
        };
        Some(Node { kind, span: Span::new(frame.open, end) })
    }

    /// Takes back the last document.
    pub(super) fn take_document(&mut self) -> Option<Node<'a>> {
        self.documents.pop()
    }

    /// Forgets what is open, and the documents past the first `complete`.
    pub(super) fn rewind(&mut self, complete: usize) {
        self.frames.clear();
        self.nodes.clear();
        self.entries.clear();
        self.documents.truncate(complete);
    }

    /// All documents.
    pub(super) fn finish(self) -> &'a [Node<'a>] {
        self.arena.alloc_slice_copy(&self.documents)
    }
}
