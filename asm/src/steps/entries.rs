//! The entries of a record by the meaning of their keys.

use crate::dialect::{KEYS, Key};
use crate::document::{Entry, Node};
use crate::span::Span;

/// The entries of a record by the meaning of their keys.
#[derive(Clone, Copy)]
pub(crate) struct Keyed<'d, 'a> {
    /// All entries of the record.
    list: &'d [Entry<'a>],
    /// One past the index of the entry of each key; 0 if it is missing. Small, because readers of nested
    /// steps keep it on their stack.
    places: [u16; KEYS],
    /// The whole record.
    pub(crate) span: Span,
}

impl<'d, 'a> Keyed<'d, 'a> {
    pub(crate) fn none(span: Span) -> Keyed<'d, 'a> {
        Keyed::of(&[], span)
    }

    /// The entries of a record, of which none has a meaning yet.
    pub(crate) fn of(list: &'d [Entry<'a>], span: Span) -> Keyed<'d, 'a> {
        Keyed { list, places: [0; KEYS], span }
    }

    pub(crate) fn entry(&self, key: Key) -> Option<&'d Entry<'a>> {
        let place = usize::from(*self.places.get(key as usize)?);
        self.list.get(place.checked_sub(1)?)
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

    /// Gives the entry at an index a meaning. Returns the existing entry of the key, if any.
    pub(crate) fn put(&mut self, key: Key, index: usize) -> Option<&'d Entry<'a>> {
        let before = self.entry(key);
        if before.is_none()
            && let Some(place) = self.places.get_mut(key as usize)
        {
            *place = u16::try_from(index + 1).unwrap_or(0);
        }
        before
    }
}
