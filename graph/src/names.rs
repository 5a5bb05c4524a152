//! What has to be known about a function before it is drawn: the names of its slots, and the slots that each
//! loop binds.

use super::text::{LINE, Names, clean};
use hashbrown::HashSet;
use ilo_asm::ast::{Arm, Block, Bound, Control, Expr, ExprKind, For, Function, LoopId, Slot, StmtKind};
use ilo_asm::sorting::sort_by_key;
use std::ops::Range;

/// The name of a value that comes from nothing with a name.
const VALUE: &str = "value";

/// The name of a tool without its server.
pub(super) fn tool_name(tool: &str) -> String {
    clean(tool.rsplit('/').next().unwrap_or(tool), LINE / 2)
}

/// A pass over a function before the walk.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    pub(super) names: Names,
    /// The names that slots have.
    taken: HashSet<String>,
    /// Slots in the order in which they are bound.
    bound: Vec<Slot>,
    /// The part of `bound` that each loop binds, by [`LoopId`].
    loops: Vec<Range<usize>>,
}

impl Ahead {
    pub(super) fn of(function: &Function<'_>) -> Ahead {
        let name = |name: Option<&str>| name.map(|name| clean(name, LINE / 2)).unwrap_or_default();
        let mut slots: Vec<String> = function.slots.iter().map(|slot| name(slot.name)).collect();
        for (slot, parameter) in slots.iter_mut().zip(function.parameters) {
            *slot = name(Some(parameter.name.text));
        }
        let mut ahead = Ahead { names: Names { slots }, ..Ahead::default() };
        ahead.taken = ahead.names.slots.iter().filter(|name| !name.is_empty()).cloned().collect();
        ahead.block(&function.body);
        let unbound = ahead.names.slots.iter_mut().filter(|name| name.is_empty());
        unbound.for_each(|name| VALUE.clone_into(name));
        ahead
    }

    /// The slots that a loop binds, each once.
    pub(super) fn bound_in(&self, id: LoopId) -> Vec<usize> {
        let range = self.loops.get(id.0 as usize).cloned().unwrap_or_default();
        let mut slots: Vec<usize> =
            self.bound.get(range).unwrap_or_default().iter().map(|slot| slot.0 as usize).collect();
        sort_by_key(&mut slots, |slot| *slot);
        slots.dedup();
        slots
    }

    fn block(&mut self, block: &Block<'_>) {
        for statement in block.statements {
            match statement.kind {
                StmtKind::Let { slot, value, .. } => {
                    match value {
                        Bound::Control(control) => self.control(&control),
                        Bound::Expr(value) => self.name(slot, self.source(&value)),
                    }
                    self.name(slot, VALUE.to_owned());
                    self.bound.push(slot);
                }
                StmtKind::Control(control) => self.control(&control),
                _ => {}
            }
        }
    }

    fn control(&mut self, control: &Control<'_>) {
        match control {
            Control::If(node) => {
                self.block(&node.then);
                node.otherwise.iter().for_each(|block| self.block(block));
            }
            Control::Match(node) => {
                let value = self.names.slots.get(node.slot.0 as usize).cloned().unwrap_or_default();
                node.err.iter().for_each(|arm| self.arm(arm, "error"));
                node.ok.iter().for_each(|arm| self.arm(arm, &value));
                if node.ok.is_none() {
                    self.bound.push(node.slot);
                }
            }
            Control::For(node) => self.each(node),
            Control::Try(node) => {
                self.block(&node.body);
                self.arm(&node.handler, "error");
            }
        }
    }

    fn each(&mut self, node: &For<'_>) {
        let start = self.bound.len();
        self.name(node.item, "item".to_owned());
        self.bound.push(node.item);
        self.block(&node.body);
        node.otherwise.iter().for_each(|block| self.block(block));
        let id = node.id.0 as usize;
        // A number beyond the function's loops would be an error of the reader. At worst, a line is missing.
        if self.loops.len() <= id && id <= self.bound.len() {
            self.loops.resize(id + 1, 0..0);
        }
        if let Some(place) = self.loops.get_mut(id) {
            *place = start..self.bound.len();
        }
    }

    /// Names a slot without a name; a second one of this name gets a number too.
    fn name(&mut self, slot: Slot, name: String) {
        let Some(place) = self.names.slots.get_mut(slot.0 as usize).filter(|place| place.is_empty()) else {
            return;
        };
        *place = if self.taken.contains(&name) { format!("{name} {}", slot.0) } else { name };
        self.taken.insert(place.clone());
    }

    /// Where a value comes from: its tool, its field, its slot.
    fn source(&self, value: &Expr<'_>) -> String {
        match value.kind {
            ExprKind::Call(call) => tool_name(call.tool.text),
            ExprKind::Field(_, name) => clean(name.text, LINE / 2),
            ExprKind::Ref(slot) => self.names.slot(slot).to_owned(),
            _ => VALUE.to_owned(),
        }
    }

    /// Names a slot without a name after the value that it takes.
    fn arm(&mut self, arm: &Arm<'_>, fallback: &str) {
        if let Some(slot) = self.names.slots.get_mut(arm.bind.0 as usize)
            && slot.is_empty()
        {
            fallback.clone_into(slot);
        }
        self.bound.push(arm.bind);
        self.block(&arm.body);
    }
}
