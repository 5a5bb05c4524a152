//! Assigns registers to slots.
//!
//! Parameters fill the first registers. Every other slot that is read or matched gets one in the order of
//! first binding; a slot that nothing reads gets none. If only one call binds a slot, and only its MATCH
//! binds another one, both slots share a register, so that handling a result moves nothing. This is correct
//! because each slot has one binding that writes a register, and the check has shown that each read is set.
//! If a call and its MATCH are apart, the slot has a second register, which records whether the call failed.

use super::emit::Reg;
use crate::ast::{Arm, Block, Bound, Control, Expr, ExprKind, Function, Slot, StmtKind};
use crate::check::{CallFacts, Facts};
use crate::matched::{Matched, matched_call};
use smallvec::SmallVec;

/// How a slot is used.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// Some expression reads it.
    read: bool,
    /// Some MATCH handles it.
    matched: bool,
    /// How often it is bound. A call whose result nothing reads does not count.
    bindings: u32,
    /// How often it is bound to a result that a MATCH handles, which needs a register even if nothing reads
    /// it.
    taken: u32,
    /// The slot of the MATCH that bound it last.
    from: Option<Slot>,
    /// Whether the MATCH of a call that is bound to it does not follow directly.
    apart: bool,
    /// How many matched calls are bound to it, and the position of the last one.
    calls: (u32, u32),
}

/// The registers of the slots of a function. The object is reused for the next function, so that its lists
/// are allocated once.
#[derive(Debug, Default)]
pub(super) struct Registers {
    of: Vec<Option<u16>>,
    failed: Vec<Option<u16>>,
    /// The number of registers for slots.
    pub(super) count: u16,
    uses: Vec<Use>,
    /// Slots in the order of their bindings, with repetitions, and whether it is bound to the result of a
    /// call: a slot that is matched but never read gets its register there.
    order: Vec<(Slot, bool)>,
}

impl Registers {
    /// Assigns registers to the slots of a function.
    pub(super) fn assign(&mut self, function: &Function<'_>, facts: &Facts) {
        let (slots, parameters) = (function.slots.len(), function.parameters.len());
        for list in [&mut self.of, &mut self.failed] {
            list.clear();
            list.resize(slots, None);
        }
        self.count = 0;
        self.uses.clear();
        self.uses.resize(slots, Use::default());
        self.order.clear();
        UseCount {
            facts,
            aliases: SmallVec::new(),
            deferred: SmallVec::new(),
            tries: 0,
            uses: &mut self.uses,
            order: &mut self.order,
        }
        .function(&function.body);
        for slot in 0..parameters {
            self.give(slot);
            // A binding of an input that nothing reads is dropped.
            let used = self.uses[slot];
            if !(used.read || used.matched) {
                self.of[slot] = None;
            }
        }
        for at in 0..self.order.len() {
            let (slot, called) = self.order[at];
            let index = slot.0 as usize;
            let Some(&used) = self.uses.get(index) else { continue };
            let needed = used.read || (used.matched && called);
            if self.of[index].is_some() || !needed || index < parameters {
                continue;
            }
            let shared = used.from.filter(|from| {
                let call = self.uses[from.0 as usize];
                let written = if call.read { call.bindings } else { call.taken };
                used.bindings == 1 && !used.matched && written == 1 && from.0 as usize >= parameters
            });
            match shared.and_then(|from| self.of[from.0 as usize]) {
                Some(register) => self.of[index] = Some(register),
                None => self.give(index),
            }
        }
        for (slot, _) in &self.order {
            let index = slot.0 as usize;
            if self.uses[index].apart && self.failed[index].is_none() {
                self.failed[index] = Some(self.count);
                self.count = self.count.saturating_add(1);
            }
        }
    }

    fn give(&mut self, slot: usize) {
        if let Some(place) = self.of.get_mut(slot) {
            *place = Some(self.count);
            self.count = self.count.saturating_add(1);
        }
    }

    /// The register of a slot; `None` if nothing reads or matches it.
    pub(super) fn get(&self, slot: Slot) -> Option<Reg> {
        self.of.get(slot.0 as usize).copied().flatten().map(Reg)
    }

    /// The register to which a binding of a slot writes; `None` if nothing reads it.
    pub(super) fn bound(&self, slot: Slot) -> Option<Reg> {
        self.get(slot).filter(|_| self.uses.get(slot.0 as usize).is_some_and(|used| used.read))
    }

    /// The register that records whether the call bound to a slot failed, for a call matched elsewhere.
    pub(super) fn failed(&self, slot: Slot) -> Reg {
        Reg(self.failed.get(slot.0 as usize).copied().flatten().unwrap_or_default())
    }

    /// The position of the call whose result a slot holds; `None` if there may be several.
    pub(super) fn call(&self, slot: Slot) -> Option<u32> {
        self.uses.get(slot.0 as usize).filter(|used| used.calls.0 == 1).map(|used| used.calls.1)
    }
}

/// The walk that counts uses.
struct UseCount<'c, 'a> {
    facts: &'c Facts,
    /// Slots of the enclosing ERR arms that are aliases of a failure.
    aliases: SmallVec<[Slot; 2]>,
    /// The deferred arms: their code is placed after the function.
    deferred: SmallVec<[DeferredArm<'c, 'a>; 4]>,
    /// The number of TRYs whose blocks enclose the current position.
    tries: u32,
    uses: &'c mut Vec<Use>,
    order: &'c mut Vec<(Slot, bool)>,
}

/// A deferred ERR arm, which never falls through.
struct DeferredArm<'c, 'a> {
    arm: &'c Arm<'a>,
    /// The slot of the call; none if the arm has no alias.
    from: Option<Slot>,
    aliases: SmallVec<[Slot; 2]>,
    tries: u32,
}

impl<'c, 'a> UseCount<'c, 'a> {
    /// Walks a function in the order in which its code is emitted, so that it makes no difference whether the
    /// rest of a block is in an OK arm or after it.
    fn function(&mut self, body: &'c Block<'a>) {
        self.block(body);
        let mut next = 0;
        while let Some(deferred) = self.deferred.get_mut(next) {
            let (arm, from) = (deferred.arm, deferred.from);
            self.aliases = core::mem::take(&mut deferred.aliases);
            self.tries = deferred.tries;
            match from {
                Some(from) => self.bind(arm.bind, Some(from)),
                None => self.aliases.push(arm.bind),
            }
            self.block(&arm.body);
            next += 1;
        }
    }

    fn block(&mut self, block: &'c Block<'a>) {
        let mut rest = block.statements;
        while let Some((statement, after)) = rest.split_first() {
            rest = after;
            if let Some(matched) = matched_call(statement, after.first(), self.tries > 0) {
                self.matched(&matched);
                rest = after.get(1..).unwrap_or_default();
                continue;
            }
            statement.each_value(|value| self.expr(value));
            match &statement.kind {
                StmtKind::Let { slot, value: Bound::Expr(value), .. } => {
                    let facts =
                        value.attempt().map_or(CallFacts::default(), |id| self.facts.calls[id.0 as usize]);
                    if !facts.unread {
                        self.bind(*slot, None);
                    }
                    if facts.checked {
                        let used = &mut self.uses[slot.0 as usize];
                        used.taken += 1;
                        used.calls = (used.calls.0 + 1, value.span.start);
                        used.apart = true;
                        self.order.push((*slot, true));
                    }
                }
                StmtKind::Let { slot, value: Bound::Control(control), .. } => {
                    self.control(control);
                    self.bind(*slot, None);
                }
                StmtKind::Control(control) => self.control(control),
                _ => {}
            }
        }
    }

    fn matched(&mut self, matched: &Matched<'c, 'a>) {
        let (into, node) = (matched.into, matched.node);
        let calls = &mut self.uses[node.slot.0 as usize].calls;
        *calls = (calls.0 + 1, matched.call.span.start);
        self.expr(&matched.call);
        self.bind(into, None);
        self.order.push((into, true));
        self.uses[into.0 as usize].taken += 1;
        self.uses[into.0 as usize].matched |= node.err.is_some();
        if let Some(arm) = node.err.as_ref().filter(|arm| !arm.body.completes()) {
            let from = (!matched.alias).then_some(into);
            self.deferred.push(DeferredArm { arm, from, aliases: self.aliases.clone(), tries: self.tries });
        }
        // In the order in which code is emitted, so that an omitted arm changes no number.
        if let Some(ok) = &node.ok {
            if ok.bind != into {
                self.bind(ok.bind, Some(into));
            }
            if !matched.only_binds {
                self.block(&ok.body);
            }
        }
        if let Some(arm) = node.err.as_ref().filter(|arm| arm.body.completes()) {
            self.bind(arm.bind, Some(into));
            self.block(&arm.body);
        }
        if let Some(slot) = matched.bound {
            self.bind(slot, None);
        }
    }

    fn control(&mut self, control: &Control<'a>) {
        match control {
            Control::If(_) | Control::For(_) => {
                for (bound, block) in control.blocks() {
                    bound.into_iter().for_each(|slot| self.bind(slot, None));
                    self.block(block);
                }
            }
            Control::Match(node) => {
                self.uses[node.slot.0 as usize].matched = true;
                for arm in [&node.ok, &node.err].into_iter().flatten() {
                    // A value that an arm uses in place is not bound.
                    if arm.bind != node.slot {
                        self.bind(arm.bind, Some(node.slot));
                    }
                    self.block(&arm.body);
                }
            }
            Control::Try(node) => {
                self.tries += 1;
                self.block(&node.body);
                self.tries -= 1;
                self.bind(node.handler.bind, None);
                self.block(&node.handler.body);
            }
        }
    }

    fn bind(&mut self, slot: Slot, from: Option<Slot>) {
        let used = &mut self.uses[slot.0 as usize];
        used.bindings += 1;
        used.from = from;
        self.order.push((slot, false));
    }

    fn expr(&mut self, expr: &Expr<'_>) {
        // The register of a failure is assigned at the MATCH.
        if let ExprKind::Ref(slot) = expr.kind
            && !self.aliases.contains(&slot)
        {
            self.uses[slot.0 as usize].read = true;
        }
        expr.children(|child| self.expr(child));
    }
}
