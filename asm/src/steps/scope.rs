//! The names of a function and their slots.
//!
//! As in instruction text, a name has one slot in the whole function; a scope only determines where it may be
//! read. Only loops open a scope. The exception is a step with the name of a step of an outer block: it has a
//! separate slot up to the end of its block.

use crate::ast::{Slot, SlotInfo};
use crate::span::Span;
use hashbrown::{HashMap, HashSet};

/// A name of a slot.
#[derive(Clone, Copy)]
struct Named {
    slot: Slot,
    visible: bool,
    /// Whether it is an input that nothing has bound again.
    input: bool,
    /// The step, if the name of a step bound the slot.
    step: Option<Home>,
}

/// The step that binds a name.
#[derive(Clone, Copy)]
struct Home {
    span: Span,
    /// The index of its block.
    block: u32,
}

/// The names and slots of a function.
#[derive(Default)]
pub(crate) struct Scope<'a> {
    names: HashMap<&'a str, Named>,
    parameters: HashMap<&'a str, Slot>,
    /// Names of steps to which nothing refers.
    unbound: Vec<&'a str>,
    is_unbound: HashSet<&'a str>,
    /// Names of steps that could not be read: references to them are not errors.
    lost: HashSet<&'a str>,
    /// Names of steps whose value has another name, each with that name.
    renamed: HashMap<&'a str, &'a str>,
    /// Names of the last steps of blocks, which are their values, and whether the block is that of a loop.
    passed: HashMap<&'a str, bool>,
    slots: Vec<SlotInfo<'a>>,
    /// Names in the order in which they became visible, with marks at the start of each scope.
    opened: Vec<&'a str>,
    starts: Vec<usize>,
    /// The indices of the enclosing blocks, the innermost last, each with the number of names that were
    /// shadowed before.
    blocks: Vec<(u32, usize)>,
    block_count: u32,
    /// Names that a block shadows, with their outer meaning.
    shadowed: Vec<(&'a str, Option<Named>)>,
    /// Unnamed slots, which are reused beyond [`FRESH`] slots.
    hidden: Vec<Slot>,
    again: usize,
}

/// The number of slots from which on unnamed slots are reused, so that a long function does not run out of
/// registers.
const FRESH: usize = 160;

impl<'a> Scope<'a> {
    /// Adds a parameter. If it is `named`, its bare name refers to it.
    pub(crate) fn parameter(&mut self, name: &'a str, named: bool) {
        let slot = self.slot(Some(name));
        self.parameters.entry(name).or_insert(slot);
        if named {
            self.names.entry(name).or_insert(Named { slot, visible: true, input: true, step: None });
        }
    }

    /// Records the name of a step to which nothing refers.
    pub(crate) fn unbound(&mut self, name: &'a str) {
        self.unbound.push(name);
        self.is_unbound.insert(name);
    }

    /// Records the name of a step that could not be read.
    pub(crate) fn lose(&mut self, name: &'a str) {
        self.lost.insert(name);
    }

    /// Records that the value of a named step has another name.
    pub(crate) fn rename(&mut self, over: &'a str, own: &'a str) {
        self.renamed.insert(over, own);
    }

    /// The name of the value of a step under this name.
    pub(crate) fn renamed(&self, over: &str) -> Option<&'a str> {
        self.renamed.get(over).copied()
    }

    pub(crate) fn is_lost(&self, name: &str) -> bool {
        self.lost.contains(name)
    }

    /// Whether a name is bound, or is that of a step to which nothing refers.
    pub(crate) fn has_step(&self, name: &str) -> bool {
        self.find(name).is_some() || self.is_unbound.contains(name)
    }

    fn slot(&mut self, name: Option<&'a str>) -> Slot {
        let slot = Slot(u32::try_from(self.slots.len()).unwrap_or(u32::MAX));
        self.slots.push(SlotInfo { number: None, name });
        slot
    }

    /// An unnamed slot; messages call it `name`. Beyond [`FRESH`] slots an earlier one is reused, except
    /// those that are `busy`.
    pub(crate) fn hidden(&mut self, name: Option<&'a str>, busy: impl Fn(Slot) -> bool) -> Slot {
        if self.slots.len() >= FRESH {
            let mut pool = (0..self.hidden.len()).map(|step| (self.again + 1 + step) % self.hidden.len());
            let free = pool.find(|&at| self.hidden.get(at).is_some_and(|&slot| !busy(slot)));
            if let Some(at) = free {
                self.again = at;
                return self.hidden.get(at).copied().unwrap_or(Slot(0));
            }
        }
        let slot = self.slot(name);
        self.hidden.push(slot);
        slot
    }

    /// An unnamed slot that nothing else uses.
    pub(crate) fn own(&mut self, name: &'a str) -> Slot {
        self.slot(Some(name))
    }

    /// The slot of a parameter.
    pub(crate) fn input(&self, name: &str) -> Option<Slot> {
        self.parameters.get(name).copied()
    }

    /// The slot of a name in scope.
    pub(crate) fn find(&self, name: &str) -> Option<Slot> {
        self.names.get(name).filter(|named| named.visible).map(|named| named.slot)
    }

    /// Whether a name was bound in an ended loop (true), or names the value of a block.
    pub(crate) fn has_left(&self, name: &str) -> Option<bool> {
        let hidden = self.names.get(name).is_some_and(|named| !named.visible);
        if hidden { Some(true) } else { self.passed.get(name).copied() }
    }

    /// Records a name at the end of a block, after which nothing there can read it.
    pub(crate) fn pass(&mut self, name: &'a str, in_loop: bool) {
        self.passed.insert(name, in_loop);
    }

    /// Binds a name. If it is `whole`, it shares the slot of the parameter of that name.
    pub(crate) fn bind(&mut self, name: &'a str, whole: bool) -> Slot {
        let slot = match self.names.get(name) {
            // An input that is read as such stays what it is.
            Some(Named { visible: true, input: true, .. }) if !whole => self.slot(Some(name)),
            Some(Named { slot, visible: true, .. }) => return *slot,
            Some(named) => named.slot,
            None => match self.input(name).filter(|_| whole) {
                Some(slot) => slot,
                None => self.slot(Some(name)),
            },
        };
        self.names.insert(name, Named { slot, visible: true, input: false, step: None });
        self.opened.push(name);
        slot
    }

    /// Binds the item of a loop that is an expression to a slot of its own, up to the end of the block.
    pub(crate) fn bind_item(&mut self, name: &'a str) -> Slot {
        let slot = self.slot(Some(name));
        let named = Named { slot, visible: true, input: false, step: None };
        self.shadowed.push((name, self.names.insert(name, named)));
        slot
    }

    /// Binds the name of a step at `span`. It shadows a step of an outer block up to the end of its block.
    pub(crate) fn bind_step(&mut self, name: &'a str, span: Span, whole: bool) -> Slot {
        let home = Home { span, block: self.block() };
        if let Some(named) = self.names.get(name).copied().filter(|named| self.is_outer(named)) {
            let slot = self.slot(Some(name));
            self.shadowed.push((name, Some(named)));
            self.names.insert(name, Named { slot, visible: true, input: false, step: Some(home) });
            return slot;
        }
        let free = self.find(name).is_none();
        let slot = self.bind(name, whole);
        if let Some(named) = self.names.get_mut(name).filter(|_| free) {
            named.step = Some(home);
        }
        slot
    }

    /// The step of an outer block that has this name.
    pub(crate) fn outer_step(&self, name: &str) -> Option<Span> {
        let named = self.names.get(name).filter(|named| self.is_outer(named))?;
        named.step.map(|home| home.span)
    }

    /// Whether a name is that of a step of an enclosing block.
    fn is_outer(&self, named: &Named) -> bool {
        let around = |home: Home| {
            let open = home.block == 0 || self.blocks.iter().any(|&(block, _)| block == home.block);
            open && home.block != self.block()
        };
        named.visible && named.step.is_some_and(around)
    }

    /// The index of the innermost block; 0 is that of the function.
    fn block(&self) -> u32 {
        self.blocks.last().map_or(0, |&(block, _)| block)
    }

    /// Begins a block of steps.
    pub(crate) fn open_block(&mut self) {
        self.block_count += 1;
        self.blocks.push((self.block_count, self.shadowed.len()));
    }

    /// Ends a block of steps: names that it shadowed have their outer meaning again.
    pub(crate) fn close_block(&mut self) {
        let start = self.blocks.pop().map_or(0, |(_, start)| start);
        while self.shadowed.len() > start
            && let Some((name, named)) = self.shadowed.pop()
        {
            match named {
                Some(named) => self.names.insert(name, named),
                None => self.names.remove(name),
            };
        }
    }

    pub(crate) fn open(&mut self) {
        self.starts.push(self.opened.len());
    }

    /// Ends a scope whose names stay visible after it.
    pub(crate) fn keep(&mut self) {
        self.starts.pop();
    }

    /// Ends a scope: names that were first bound in it are no longer visible.
    pub(crate) fn close(&mut self) {
        let start = self.starts.pop().unwrap_or(0);
        for name in self.opened.drain(start.min(self.opened.len())..) {
            if let Some(named) = self.names.get_mut(name) {
                named.visible = false;
            }
        }
    }

    /// The names in scope, the last bound first.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &'a str> {
        self.opened.iter().rev().chain(self.unbound.iter().rev()).copied()
    }

    /// The parameters in their order.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&'a str, Slot)> {
        let named = (0_u32..).zip(&self.slots).filter_map(|(number, info)| Some((info.name?, Slot(number))));
        named.filter(|(name, slot)| self.input(name) == Some(*slot))
    }

    pub(crate) fn slots(&self) -> &[SlotInfo<'a>] {
        &self.slots
    }
}
