//! A step, as its readers pass it on: its span, its keys, and the purpose of its value.

use super::entries::Keyed;
use crate::ast::{Name, Slot};
use crate::dialect::{Form, Key};
use crate::document::{Entry, Node};
use crate::span::Span;

/// The purpose of the value of the last step of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Nothing.
    Drop,
    /// It is the value of the block.
    Value,
    /// It is the value of a function in JSON, if the step has no `let`.
    Unnamed,
    /// It is yielded by an iteration of a loop.
    Yield,
}

impl Tail {
    pub(crate) fn wanted(self) -> bool {
        self != Tail::Drop
    }
}

/// A slot and its span.
pub(crate) type Bind = (Slot, Span);

/// A step before it is read, and its name in YAML.
#[derive(Clone, Copy)]
pub(crate) struct Item<'d, 'a> {
    pub(crate) name: Option<&'d Node<'a>>,
    pub(crate) node: &'d Node<'a>,
}

impl<'d, 'a> Item<'d, 'a> {
    pub(crate) fn start(&self) -> u32 {
        self.name.map_or(self.node.span.start, |name| name.span.start)
    }

    /// The items of a list as steps.
    pub(crate) fn listed(nodes: &'d [Node<'a>]) -> Vec<Item<'d, 'a>> {
        nodes.iter().map(|node| Item { name: None, node }).collect()
    }

    /// The entries of a record as named steps.
    pub(crate) fn named(entries: &'d [Entry<'a>]) -> Vec<Item<'d, 'a>> {
        entries.iter().map(|entry| Item { name: Some(&entry.key), node: &entry.value }).collect()
    }
}

/// The name that a step binds.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
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
    pub(crate) target: Option<Target<'a>>,
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
