//! A step as its readers pass it on: where it is written, by which keys, and what its value is for.

use super::entries::Keyed;
use crate::ast::Name;
use crate::dialect::{Form, Key};
use crate::document::{Entry, Node};
use crate::span::Span;

/// What the value of a block's last step is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Nothing.
    Drop,
    /// The block's value.
    Value,
    /// The value of a function in JSON: that of a step without a `let`.
    Unnamed,
    /// What a pass of a loop yields.
    Yield,
}

impl Tail {
    pub(crate) fn wanted(self) -> bool {
        self != Tail::Drop
    }
}

/// A step before it is read, and the name that it is written under in YAML.
#[derive(Clone, Copy)]
pub(crate) struct Item<'d, 'a> {
    pub(crate) name: Option<&'d Node<'a>>,
    pub(crate) node: &'d Node<'a>,
}

impl<'d, 'a> Item<'d, 'a> {
    pub(crate) fn start(&self) -> u32 {
        self.name.map_or(self.node.span.start, |name| name.span.start)
    }

    /// The nodes of a list as steps.
    pub(crate) fn listed(nodes: &'d [Node<'a>]) -> Vec<Item<'d, 'a>> {
        nodes.iter().map(|node| Item { name: None, node }).collect()
    }

    /// The entries of a record as steps under their names.
    pub(crate) fn named(entries: &'d [Entry<'a>]) -> Vec<Item<'d, 'a>> {
        entries.iter().map(|entry| Item { name: Some(&entry.key), node: &entry.value }).collect()
    }
}

/// The name that a step binds.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) name: Name<'a>,
    /// It is the step's own name, and not that of a `let`.
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
    /// Its keys are reported already, so that keys that are missing are not.
    pub(crate) faulty: bool,
}

impl<'d, 'a> Step<'d, 'a> {
    /// Where the key is that makes it what it is.
    pub(crate) fn place(&self) -> Span {
        self.keyed.place(self.form.key)
    }

    /// From its first byte to the key that makes it what it is.
    pub(crate) fn head(&self) -> Span {
        Span::new(self.start, self.place().end)
    }

    pub(crate) fn get(&self, key: Key) -> Option<&'d Node<'a>> {
        self.keyed.get(key)
    }
}

/// The steps that follow a step in its block, for a step that reads them itself.
#[derive(Clone, Copy)]
pub(crate) struct Rest<'i, 'd, 'a> {
    pub(crate) items: &'i [Item<'d, 'a>],
    /// What the value of the block is for.
    pub(crate) tail: Tail,
}

/// Whether the steps that follow a step are still to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// They are.
    Follows,
    /// The step has read them into a branch of its own, or nothing can follow it.
    Taken,
}
