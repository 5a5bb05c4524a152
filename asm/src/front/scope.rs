//! Names of a function and the slots that they stand for.
//!
//! A name has one slot in the whole function, as in instruction text; a scope only says where it may be read. Loops alone
//! open one. Before a function is read, [`Survey`] goes over its document once and notes what is named and what is
//! referred to, so that a name that comes too late can be told from one that never comes, and a step whose result
//! nothing reads need not be bound.

use super::keys::entries;
use super::reference::is_name;
use super::tree::{Kind, Node};
use crate::ast::{Slot, SlotInfo};
use crate::span::Span;
use hashbrown::{HashMap, HashSet};

/// A name that a slot has.
#[derive(Clone, Copy)]
struct Named {
    slot: Slot,
    visible: bool,
}

/// The names and slots of a function.
#[derive(Default)]
pub(super) struct Scope<'a> {
    names: HashMap<&'a str, Named>,
    parameters: HashMap<&'a str, Slot>,
    slots: Vec<SlotInfo<'a>>,
    /// Names that became visible, with the opened scopes' starts among them.
    opened: Vec<&'a str>,
    starts: Vec<usize>,
    /// Slots without a name, used again past [`FRESH`].
    hidden: Vec<Slot>,
    again: usize,
}

/// Past so many slots those without a name are used again, so that a long function keeps within its registers.
const FRESH: usize = 160;

impl<'a> Scope<'a> {
    pub(super) fn parameter(&mut self, name: &'a str) {
        let slot = self.slot(Some(name));
        self.parameters.entry(name).or_insert(slot);
    }

    fn slot(&mut self, name: Option<&'a str>) -> Slot {
        let slot = Slot(u32::try_from(self.slots.len()).unwrap_or(u32::MAX));
        self.slots.push(SlotInfo { number: None, name });
        slot
    }

    /// A slot that no name stands for; `name` is what messages call it. Past [`FRESH`] slots it is one of those before,
    /// but for those that are `busy`.
    pub(super) fn hidden(&mut self, name: Option<&'a str>, busy: &[Slot]) -> Slot {
        if self.slots.len() >= FRESH {
            let mut pool = (0..self.hidden.len()).map(|step| (self.again + 1 + step) % self.hidden.len());
            let free = pool.find(|&at| self.hidden.get(at).is_some_and(|slot| !busy.contains(slot)));
            if let Some(at) = free {
                self.again = at;
                return self.hidden.get(at).copied().unwrap_or(Slot(0));
            }
        }
        let slot = self.slot(name);
        self.hidden.push(slot);
        slot
    }

    /// A slot without a name that nothing else uses.
    pub(super) fn own(&mut self, name: &'a str) -> Slot {
        self.slot(Some(name))
    }

    /// The slot of a parameter.
    pub(super) fn input(&self, name: &str) -> Option<Slot> {
        self.parameters.get(name).copied()
    }

    /// The slot of a name that may be read here.
    pub(super) fn find(&self, name: &str) -> Option<Slot> {
        let named = self.names.get(name).filter(|named| named.visible);
        named.map(|named| named.slot).or_else(|| self.input(name))
    }

    /// Whether a name was bound in a loop that has ended.
    pub(super) fn has_left(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|named| !named.visible)
    }

    /// Binds a name; a parameter's own slot is taken where `parameters` allows it.
    pub(super) fn bind(&mut self, name: &'a str, parameters: bool) -> Slot {
        let slot = match self.names.get(name) {
            Some(Named { slot, visible: true }) => return *slot,
            Some(named) => named.slot,
            None => match self.input(name).filter(|_| parameters) {
                Some(slot) => slot,
                None => self.slot(Some(name)),
            },
        };
        self.names.insert(name, Named { slot, visible: true });
        self.opened.push(name);
        slot
    }

    pub(super) fn open(&mut self) {
        self.starts.push(self.opened.len());
    }

    /// Ends a scope: what was bound first in it is no longer to be read.
    pub(super) fn close(&mut self) {
        let start = self.starts.pop().unwrap_or(0);
        for name in self.opened.drain(start.min(self.opened.len())..) {
            if let Some(named) = self.names.get_mut(name) {
                named.visible = false;
            }
        }
    }

    /// The names that may be read here, those bound last first.
    pub(super) fn visible(&self) -> impl Iterator<Item = &'a str> {
        self.opened.iter().rev().copied()
    }

    /// The parameters in their order.
    pub(super) fn inputs(&self) -> impl Iterator<Item = (&'a str, Slot)> {
        let named = (0_u32..).zip(&self.slots).filter_map(|(number, info)| Some((info.name?, Slot(number))));
        named.filter(|(name, slot)| self.input(name) == Some(*slot))
    }

    pub(super) fn slots(&self) -> &[SlotInfo<'a>] {
        &self.slots
    }
}

/// What a function's document names and refers to.
#[derive(Default)]
pub(super) struct Survey<'a> {
    /// Where each name is bound last.
    bound: HashMap<&'a str, Span>,
    /// Where each name is referred to last.
    used: HashMap<&'a str, u32>,
    /// Inputs that are referred to as such.
    inputs: HashSet<&'a str>,
}

impl<'a> Survey<'a> {
    /// Goes over a document without recursion.
    pub(super) fn of(document: &Node<'a>) -> Survey<'a> {
        let mut survey = Survey::default();
        let mut rest = vec![*document];
        while let Some(node) = rest.pop() {
            match node.kind {
                Kind::Text(text) => survey.text(text.text, node.span.start),
                Kind::List(items) => rest.extend_from_slice(items),
                Kind::Record(_) => {
                    for entry in entries(&node) {
                        survey.name(entry.name(), &entry.key, &entry.value);
                        rest.push(entry.value);
                    }
                }
                _ => {}
            }
        }
        survey
    }

    fn name(&mut self, key: Option<&'a str>, key_node: &Node<'a>, value: &Node<'a>) {
        let (name, place) = match (key, value.kind) {
            (Some("let" | "for"), Kind::Text(text)) => (text.text, value.span),
            (Some(name), _) => (name, key_node.span),
            _ => return,
        };
        let last = self.bound.entry(name).or_insert(place);
        if place.start > last.start {
            *last = place;
        }
    }

    /// Notes what follows each `$` of a text.
    fn text(&mut self, text: &'a str, place: u32) {
        for part in text.split('$').skip(1) {
            let part = part.strip_prefix('{').unwrap_or(part).trim_start();
            let (input, rest) = match part.strip_prefix('.') {
                Some(rest) => (true, rest),
                None => match part.strip_prefix("input.") {
                    Some(rest) => (true, rest),
                    None => (false, part),
                },
            };
            let quoted = rest.strip_prefix("[\"").and_then(|rest| rest.split('"').next());
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(rest.len());
            let name = quoted.unwrap_or_else(|| rest.get(..end).unwrap_or("").trim_end_matches('-'));
            if input {
                self.inputs.insert(name);
            } else {
                let last = self.used.entry(name).or_insert(place);
                *last = place.max(*last);
            }
        }
    }

    /// Whether a name is bound behind a place.
    pub(super) fn comes_after(&self, name: &str, place: u32) -> Option<Span> {
        self.bound.get(name).copied().filter(|span| span.start > place && is_name(name))
    }

    /// Whether a name is referred to behind a place.
    pub(super) fn used_after(&self, name: &str, place: u32) -> bool {
        self.used.get(name).is_some_and(|&last| last >= place)
    }

    /// Whether an input is referred to by `$.name` or `$input.name`.
    pub(super) fn reads_input(&self, name: &str) -> bool {
        self.inputs.contains(name)
    }
}
