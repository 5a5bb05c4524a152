//! The entries of a record by the meaning of their keys.

use crate::dialect::{KEYS, Key};
use crate::document::{Entry, Node};
use crate::span::Span;

/// The entries of a record by the meaning of their keys.
#[derive(Clone, Copy)]
pub(crate) struct Keyed<'d, 'a> {
    entries: [Option<&'d Entry<'a>>; KEYS],
    /// The whole record.
    pub(crate) span: Span,
}

impl<'d, 'a> Keyed<'d, 'a> {
    pub(crate) fn none(span: Span) -> Keyed<'d, 'a> {
        Keyed { entries: [None; KEYS], span }
    }

    pub(crate) fn entry(&self, key: Key) -> Option<&'d Entry<'a>> {
        self.entries.get(key as usize).copied().flatten()
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: Key) -> Option<&'d Node<'a>> {
        self.entry(key).map(|entry| &entry.value)
    }

    pub(crate) fn has(&self, key: Key) -> bool {
        self.entry(key).is_some()
    }

    /// The span of a key; the start of the record if it is missing.
    pub(crate) fn place(&self, key: Key) -> Span {
        self.entry(key).map_or(Span::new(self.span.start, self.span.start + 1), |entry| entry.key.span)
    }

    /// Adds an entry. Returns the existing one for the key, if any.
    pub(crate) fn put(&mut self, key: Key, entry: &'d Entry<'a>) -> Option<&'d Entry<'a>> {
        let place = self.entries.get_mut(key as usize)?;
        let before = *place;
        *place = before.or(Some(entry));
        before
    }
}
