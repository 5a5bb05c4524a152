//! Builds documents for the readers of JSON and YAML: keeps the open containers and their complete elements.
//!
//! It has an explicit stack, so the readers do not recurse. It does not depend on either syntax.

use super::{Entry, NESTING, Node, NodeKind, keep_first};
use crate::arena::Arena;
use crate::diagnostic::Diagnostics;
use crate::span::Span;

/// An open list or record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Container<'a> {
    /// Whether it is a record.
    pub(super) record: bool,
    /// Its start.
    pub(super) open: u32,
    /// The key whose value comes next.
    pub(super) key: Option<Node<'a>>,
    /// The index of its first element among those of all open containers.
    base: usize,
}

/// The documents of a source; the last one may be incomplete.
pub(super) struct NodeStack<'a> {
    arena: &'a Arena,
    frames: Vec<Container<'a>>,
    nodes: Vec<Node<'a>>,
    entries: Vec<Entry<'a>>,
    documents: Vec<Node<'a>>,
}

impl<'a> NodeStack<'a> {
    pub(super) fn new(arena: &'a Arena) -> NodeStack<'a> {
        let (frames, nodes, entries, documents) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        NodeStack { arena, frames, nodes, entries, documents }
    }

    /// The open containers, the innermost last.
    pub(super) fn frames(&self) -> &[Container<'a>] {
        &self.frames
    }

    /// Whether the innermost record, and each record that ends its value, has one entry.
    pub(super) fn has_one_entry(&self) -> bool {
        let Some(frame) = self.frames.last().filter(|frame| frame.record && frame.key.is_none()) else {
            return false;
        };
        let Some([only]) = self.entries.get(frame.base..) else { return false };
        let mut value = only.value;
        while let NodeKind::Record(list) = value.kind {
            let [only] = list else { return false };
            value = only.value;
        }
        true
    }

    /// The innermost open list or record.
    pub(super) fn innermost(&mut self) -> Option<&mut Container<'a>> {
        self.frames.last_mut()
    }

    /// Opens a list or record at `open`; false if it would be nested too deeply.
    pub(super) fn open(&mut self, record: bool, open: u32) -> bool {
        let fits = self.frames.len() < NESTING;
        if fits {
            let base = if record { self.entries.len() } else { self.nodes.len() };
            self.frames.push(Container { record, open, base, key: None });
        }
        fits
    }

    /// Adds a complete value: a document, an element, or the value of the current key. In a record without a
    /// current key the value is dropped.
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

    /// Closes the innermost list or record and returns it. Duplicate keys are reported.
    pub(super) fn close(&mut self, end: u32, diagnostics: &mut Diagnostics) -> Option<Node<'a>> {
        let frame = self.frames.pop()?;
        let kind = if frame.record {
            let entries = self.entries.get_mut(frame.base..).unwrap_or_default();
            let kept = keep_first(entries, diagnostics);
            let entries = self.arena.alloc_slice_copy(entries.get(..kept).unwrap_or_default());
            self.entries.truncate(frame.base);
            NodeKind::Record(entries)
        } else {
            let nodes = self.arena.alloc_slice_copy(self.nodes.get(frame.base..).unwrap_or_default());
            self.nodes.truncate(frame.base);
            NodeKind::List(nodes)
        };
        Some(Node { kind, span: Span::new(frame.open, end) })
    }

    /// Removes the last document.
    pub(super) fn take_document(&mut self) -> Option<Node<'a>> {
        self.documents.pop()
    }

    /// All documents.
    pub(super) fn finish(self) -> &'a [Node<'a>] {
        self.arena.alloc_slice_copy(&self.documents)
    }
}
