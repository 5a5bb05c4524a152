//! Where a function reads and binds slots. Positions are byte offsets in the source.
//!
//! An ERR arm is an *alias* if its slot is only another name of the failure of a call.

use crate::ast::{Arm, Block, Control, Expr, ExprKind, Function, Slot, Stmt, StmtKind};
use crate::matched::matched_call;
use crate::span::Span;
use hashbrown::{HashMap, HashSet};

/// The uses of the slots of a function.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// How often each slot is read.
    reads: HashMap<Slot, u32>,
    /// The end of the last read of each slot, or of the last MATCH on it.
    named: HashMap<Slot, u32>,
    /// For each statement that binds a block: the end of the last read in the block.
    ends: HashMap<Span, u32>,
    /// The end of the last read so far.
    furthest: u32,
    /// How often each slot is bound in the body; being a parameter does not count.
    binds: HashMap<Slot, u32>,
    /// The slots that some MATCH handles.
    pub(super) matched: HashSet<Slot>,
    /// For each ERR arm: how often its slot is read inside the arm, and the end of the last read up to the
    /// end of the arm.
    inside: HashMap<Span, (u32, u32)>,
    /// The ERR arms that are aliases.
    aliases: HashSet<Span>,
    /// The slots of the aliases, without those that are also the slot of the call.
    aliased: HashSet<Slot>,
    /// The slots of the aliases that enclose the current position.
    failures: Vec<Slot>,
    /// The number of TRYs whose blocks enclose the current position.
    tries: u32,
}

impl Usage {
    pub(super) fn of(function: &Function<'_>) -> Usage {
        let mut uses = Usage::default();
        uses.block(&function.body);
        uses
    }

    /// How often a slot is bound.
    pub(super) fn bindings(&self, slot: Slot) -> u32 {
        self.binds.get(&slot).copied().unwrap_or_default()
    }

    /// How often a slot is read.
    pub(super) fn count(&self, slot: Slot) -> u32 {
        self.reads.get(&slot).copied().unwrap_or_default()
    }

    /// The end of the last read of a slot, or of the last MATCH on it.
    pub(super) fn named_last(&self, slot: Slot) -> Option<u32> {
        self.named.get(&slot).copied()
    }

    /// Whether an ERR arm is an alias.
    pub(super) fn is_alias(&self, arm: &Arm<'_>) -> bool {
        self.aliases.contains(&arm.bind_span)
    }

    /// Whether the slot of an ERR arm is read only in that arm.
    pub(super) fn is_read_inside(&self, arm: &Arm<'_>) -> bool {
        self.inside.get(&arm.bind_span).is_some_and(|&(reads, _)| reads == self.count(arm.bind))
    }

    /// The end of the last read up to the end of an ERR arm.
    pub(super) fn end(&self, arm: &Arm<'_>) -> u32 {
        self.inside.get(&arm.bind_span).map_or(0, |&(_, end)| end)
    }

    /// Whether the slot of a call and the slot that its OK arm binds have no other use and are not
    /// parameters.
    pub(super) fn is_one(&self, call: Slot, bind: Slot, parameters: usize) -> bool {
        call == bind
            || (self.bindings(bind) == 1
                && !self.matched.contains(&bind)
                && ![call, bind].iter().any(|slot| self.aliased.contains(slot))
                && self.bindings(call) == 1
                && [call, bind].iter().all(|slot| slot.0 as usize >= parameters))
    }

    /// The span of a statement up to its last read: its span in the tree may cover only its first words.
    pub(super) fn whole(&self, statement: Span) -> Span {
        let end = self.ends.get(&statement).copied().unwrap_or_default();
        Span::new(statement.start, end.max(statement.end))
    }

    fn bind(&mut self, slot: Slot) {
        *self.binds.entry(slot).or_default() += 1;
    }

    fn block(&mut self, block: &Block<'_>) {
        let mut before = None;
        for statement in block.statements {
            let matched = before.and_then(|before| matched_call(before, Some(statement), self.tries > 0));
            let alias = matched.filter(|matched| matched.alias).and_then(|matched| matched.node.err.as_ref());
            if let (Some(arm), Some(matched)) = (alias, matched) {
                self.aliases.insert(arm.bind_span);
                self.aliased.extend((arm.bind != matched.node.slot).then_some(arm.bind));
            }
            self.statement(statement);
            before = Some(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt<'_>) {
        if let StmtKind::Let { slot, .. } = statement.kind {
            self.bind(slot);
        }
        statement.each_value(|value| self.expr(value));
        if let Some(control) = statement.control() {
            self.control(control);
            if matches!(statement.kind, StmtKind::Let { .. }) {
                self.ends.insert(statement.span, self.furthest);
            }
        }
    }

    fn control(&mut self, control: &Control<'_>) {
        match control {
            Control::If(_) | Control::For(_) => {
                for (bound, block) in control.blocks() {
                    bound.into_iter().for_each(|slot| self.bind(slot));
                    self.block(block);
                }
            }
            Control::Match(node) => {
                self.matched.insert(node.slot);
                self.name(node.slot, node.slot_span.start);
                if let Some(arm) = &node.err {
                    let alias = self.is_alias(arm);
                    if alias {
                        self.failures.push(arm.bind);
                    } else {
                        self.bind(arm.bind);
                    }
                    let before = self.count(arm.bind);
                    self.block(&arm.body);
                    let inside = (self.count(arm.bind) - before, self.furthest);
                    self.inside.insert(arm.bind_span, inside);
                    if alias {
                        self.failures.pop();
                    }
                }
                if let Some(arm) = &node.ok {
                    self.bind(arm.bind);
                    self.block(&arm.body);
                }
            }
            Control::Try(node) => {
                self.tries += 1;
                self.block(&node.body);
                self.tries -= 1;
                let handler = &node.handler;
                self.bind(handler.bind);
                let before = self.count(handler.bind);
                self.block(&handler.body);
                let inside = (self.count(handler.bind) - before, self.furthest);
                self.inside.insert(handler.bind_span, inside);
            }
        }
    }

    fn expr(&mut self, expr: &Expr<'_>) {
        match expr.kind {
            ExprKind::Ref(slot) if self.failures.contains(&slot) => {}
            ExprKind::Ref(slot) => {
                *self.reads.entry(slot).or_default() += 1;
                self.name(slot, expr.span.start);
            }
            _ => expr.children(|child| self.expr(child)),
        }
    }

    fn name(&mut self, slot: Slot, place: u32) {
        let last = self.named.entry(slot).or_default();
        *last = place.max(*last);
        self.furthest = self.furthest.max(last.saturating_add(1));
    }
}
