//! A step, as its readers pass it on: the entries of its record by the meaning of their keys, its span, and
//! the purpose of its value.

use crate::ast::{Name, Slot};
use crate::dialect::{Form, KEYS, Key};
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

    /// Whether the record has no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
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

/// The purpose of the value of the last step of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// Nothing.
    Drop,
    /// It is the value of the block.
    Value,
    /// It is the value of a function in JSON, if the step has no `let`.
    Unnamed,
    /// It is yielded by an iteration of a loop.
    Yield,
}

impl Aim {
    pub(crate) fn wanted(self) -> bool {
        self != Aim::Drop
    }
}

/// A slot and its span.
pub(crate) type Bind = (Slot, Span);

/// A step before it is read, and its name in YAML.
#[derive(Clone, Copy)]
pub(crate) struct RawStep<'d, 'a> {
    pub(crate) name: Option<&'d Node<'a>>,
    pub(crate) node: &'d Node<'a>,
}

impl<'d, 'a> RawStep<'d, 'a> {
    pub(crate) fn start(&self) -> u32 {
        self.name.map_or(self.node.span.start, |name| name.span.start)
    }

    /// The items of a list as steps.
    pub(crate) fn listed(nodes: &'d [Node<'a>]) -> Vec<RawStep<'d, 'a>> {
        nodes.iter().map(|node| RawStep { name: None, node }).collect()
    }

    /// The entries of a record as named steps.
    pub(crate) fn named(entries: &'d [Entry<'a>]) -> Vec<RawStep<'d, 'a>> {
        entries.iter().map(|entry| RawStep { name: Some(&entry.key), node: &entry.value }).collect()
    }
}

/// The name that a step binds.
#[derive(Clone, Copy)]
pub(crate) struct BoundName<'a> {
    pub(crate) name: Name<'a>,
    /// Whether it is the name of the step, and not that of a `let`.
    pub(crate) own: bool,
}

/// A step whose keys are read.
#[derive(Clone, Copy)]
pub(crate) struct Step<'d, 'a> {
    pub(crate) form: &'static Form,
    pub(crate) keyed: Keyed<'d, 'a>,
    /// The name that it binds.
    pub(crate) target: Option<BoundName<'a>>,
    pub(crate) start: u32,
    /// Whether errors in its keys have been reported, so that missing keys are not.
    pub(crate) faulty: bool,
}

impl<'d, 'a> Step<'d, 'a> {
    /// The span of the key that identifies its kind.
    pub(crate) fn place(&self) -> Span {
        self.keyed.place(self.form.key)
    }

    /// From its first byte to the key that identifies its kind.
    pub(crate) fn head(&self) -> Span {
        Span::new(self.start, self.place().end)
    }

    pub(crate) fn get(&self, key: Key) -> Option<&'d Node<'a>> {
        self.keyed.get(key)
    }
}
