//! Chooses names of slots for notations without slot numbers: one name for each slot, unique in its function.
//! It depends on where a function reads and binds slots (positions are byte offsets in the source), and on
//! the slots that share a name where the notation writes the handler inside the call: the slot of the call,
//! and the slot that the OK arm of the following MATCH binds.
//!
//! An ERR arm is an *alias* if its slot is only another name of the failure of a call.

use crate::ast::{
    Arm, Block, Bound, Call, Control, Expr, ExprKind, Function, ReturnKind, Slot, Stmt, StmtKind,
};
use crate::matched::{Matched, matched_call};
use crate::span::Span;
use crate::text::is_name;
use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;

/// The uses of the slots of a function.
#[derive(Debug, Default)]
pub(super) struct Usage<'a> {
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
    /// The name that the first binding of a slot suggests.
    hints: HashMap<Slot, &'a str>,
    /// The slot of each MATCH with an OK arm, and the slot that the arm binds.
    taken: Vec<(Slot, Slot)>,
}

impl<'a> Usage<'a> {
    pub(super) fn of(function: &Function<'a>) -> Usage<'a> {
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

    /// The slots that share a name, each mapped to the other: that of a call and that of its OK arm, if they
    /// have no other use and are no parameters.
    fn shared(&self, parameters: usize) -> HashMap<Slot, Slot> {
        let is_free = |slot: &Slot| {
            self.bindings(*slot) == 1 && !self.aliased.contains(slot) && slot.0 as usize >= parameters
        };
        let share = |(call, bind): &(Slot, Slot)| {
            call != bind && is_free(call) && is_free(bind) && !self.matched.contains(bind)
        };
        let pairs = self.taken.iter().copied().filter(share);
        pairs.flat_map(|(call, bind)| [(call, bind), (bind, call)]).collect()
    }

    /// The span of a statement up to its last read: its span in the tree may cover only its first words.
    pub(super) fn whole(&self, statement: Span) -> Span {
        let end = self.ends.get(&statement).copied().unwrap_or_default();
        Span::new(statement.start, end.max(statement.end))
    }

    fn bind(&mut self, slot: Slot, hint: Option<&'a str>) {
        *self.binds.entry(slot).or_default() += 1;
        self.hint(slot, hint);
    }

    fn hint(&mut self, slot: Slot, hint: Option<&'a str>) {
        if let Some(hint) = hint {
            self.hints.entry(slot).or_insert(hint);
        }
    }

    fn block(&mut self, block: &Block<'a>) {
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

    fn statement(&mut self, statement: &Stmt<'a>) {
        if let StmtKind::Let { slot, value, .. } = &statement.kind {
            self.bind(*slot, bound_hint(value));
        }
        statement.each_value(|value| self.expr(value));
        if let Some(control) = statement.control() {
            self.control(control);
            if matches!(statement.kind, StmtKind::Let { .. }) {
                self.ends.insert(statement.span, self.furthest);
            }
        }
    }

    fn control(&mut self, control: &Control<'a>) {
        match control {
            Control::If(_) | Control::For(_) => {
                for (bound, block) in control.blocks() {
                    bound.into_iter().for_each(|slot| self.bind(slot, Some("item")));
                    self.block(block);
                }
            }
            Control::Match(node) => {
                self.matched.insert(node.slot);
                self.name(node.slot, node.slot_span.start);
                self.taken.extend(node.ok.as_ref().map(|arm| (node.slot, arm.bind)));
                if let Some(arm) = &node.err {
                    self.handler(arm, self.is_alias(arm));
                }
                if let Some(arm) = &node.ok {
                    self.bind(arm.bind, Some("result"));
                    self.block(&arm.body);
                }
            }
            Control::Try(node) => {
                self.tries += 1;
                self.block(&node.body);
                self.tries -= 1;
                self.handler(&node.handler, false);
            }
        }
    }

    /// An ERR arm.
    fn handler(&mut self, arm: &Arm<'a>, alias: bool) {
        if alias {
            self.failures.push(arm.bind);
            self.hint(arm.bind, Some("failure"));
        } else {
            self.bind(arm.bind, Some("failure"));
        }
        let before = self.count(arm.bind);
        self.block(&arm.body);
        self.inside.insert(arm.bind_span, (self.count(arm.bind) - before, self.furthest));
        if alias {
            self.failures.pop();
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

/// The calls of statements that are only rollbacks. Bare calls count if the block ends in `RET_ERR`.
pub(super) fn rollbacks<'a>(statements: &[Stmt<'a>], fails: bool) -> Option<Vec<&'a Call<'a>>> {
    let call = |statement: &Stmt<'a>| match statement.kind {
        StmtKind::Undo(call) => Some(call),
        StmtKind::Value(Expr { kind: ExprKind::Call(call), .. }) if fails => Some(call),
        _ => None,
    };
    statements.iter().map(call).collect()
}

/// Whether a call in an ERR arm or a branch of IF would become a rollback if its OK arms were printed as
/// steps of it.
///
/// A call before `RET_ERR` whose value is not read is a rollback there, but not in an OK arm. `parameters` is
/// the number of parameters: a slot of one of them has a value before the call too, to which its reads may
/// belong.
pub(super) fn would_undo(block: &Block<'_>, uses: &Usage<'_>, parameters: usize) -> bool {
    let mut bare = false;
    let may_be_unread =
        |slot: Slot| uses.count(slot) == 0 || uses.bindings(slot) > 1 || (slot.0 as usize) < parameters;
    lifted(block, fails(block), &may_be_unread, &mut bare) && bare
}

/// Whether `RET_ERR` ends a block whose OK arms are printed as steps of it; `bare` is set if a call is not,
/// or may not be, a rollback.
fn lifted(
    block: &Block<'_>,
    rolls_back: bool,
    may_be_unread: &dyn Fn(Slot) -> bool,
    bare: &mut bool,
) -> bool {
    let mut ends = false;
    let mut statements = block.statements.iter().peekable();
    while let Some(statement) = statements.next() {
        ends = matches!(statement.kind, StmtKind::Return(ReturnKind::Err, _));
        if let Some(Matched { node, .. }) = matched_call(statement, statements.peek().copied(), false) {
            statements.next();
            ends = node.ok.as_ref().is_some_and(|arm| lifted(&arm.body, false, may_be_unread, bare));
            continue;
        }
        *bare |= !rolls_back
            && match statement.kind {
                StmtKind::Value(Expr { kind: ExprKind::Call(_), .. }) => true,
                StmtKind::Let { slot, value: Bound::Expr(Expr { kind: ExprKind::Call(_), .. }), .. } => {
                    may_be_unread(slot)
                }
                _ => false,
            };
    }
    ends
}

/// Whether a slot is read in the handler of another call.
pub(super) fn read_in_handler(block: &Block<'_>, slot: Slot) -> bool {
    block.statements.iter().filter_map(Stmt::control).any(|control| match control {
        Control::Match(node) => {
            node.err.as_ref().is_some_and(|arm| arm.body.uses(slot))
                || node.ok.as_ref().is_some_and(|arm| read_in_handler(&arm.body, slot))
        }
        Control::Try(node) => node.handler.body.uses(slot) || read_in_handler(&node.body, slot),
        _ => control.blocks().any(|(_, block)| read_in_handler(block, slot)),
    })
}

/// Whether `RET_ERR` ends a block.
fn fails(block: &Block<'_>) -> bool {
    matches!(block.statements.last(), Some(Stmt { kind: StmtKind::Return(ReturnKind::Err, _), .. }))
}

/// Whether the first binding of a slot is one of these statements itself, and not a call with a handler.
pub(super) fn binds_first(statements: &[Stmt<'_>], slot: Slot) -> bool {
    let first = statements
        .iter()
        .enumerate()
        .find(|(_, statement)| (Block { statements: core::slice::from_ref(*statement) }).binds(slot));
    first.is_some_and(|(at, statement)| {
        let inside = statement.control().is_some_and(|control| {
            control.blocks().any(|(bound, block)| bound == Some(slot) || block.binds(slot))
        });
        statement.binds(slot) && !inside && matched_call(statement, statements.get(at + 1), false).is_none()
    })
}

/// Names that the notations reserve.
pub(super) const RESERVED: [&str; 3] = ["err", "error", "input"];

/// The names of the slots of a function.
#[derive(Debug)]
pub(super) struct Names<'a> {
    of: Vec<Cow<'a, str>>,
    /// The names in scope, and the order in which they were bound.
    visible: HashSet<Cow<'a, str>>,
    bound: Vec<Cow<'a, str>>,
}

impl<'a> Names<'a> {
    /// Chooses a name for each slot; slots that share a name get the same one.
    pub(super) fn new(function: &Function<'a>, uses: &Usage<'a>) -> Names<'a> {
        let shared = uses.shared(function.parameters.len());
        let mut taken: HashSet<Cow<'a, str>> = RESERVED.into_iter().map(Cow::Borrowed).collect();
        let mut of: Vec<Cow<'a, str>> = Vec::with_capacity(function.slots.len());
        for parameter in function.parameters {
            taken.insert(Cow::Borrowed(parameter.name.text));
            of.push(Cow::Borrowed(parameter.name.text));
        }
        let own = |slot: Slot| function.slots.get(slot.0 as usize)?.name.filter(|name| is_name(name));
        let hint = |slot: Slot| uses.hints.get(&slot).copied();
        for slot in (0..).map(Slot).take(function.slots.len()).skip(of.len()) {
            let partner = shared.get(&slot).copied();
            if let Some(name) = partner.and_then(|partner| of.get(partner.0 as usize)).cloned() {
                of.push(name);
                continue;
            }
            let given = own(slot).or_else(|| own(partner?));
            let wanted = given.or_else(|| hint(slot)).or_else(|| hint(partner?)).unwrap_or("value");
            let name = numbered(Cow::Borrowed(wanted), |name| !taken.contains(name));
            taken.insert(name.clone());
            of.push(name);
        }
        Names { of, visible: HashSet::new(), bound: Vec::new() }
    }

    /// The name of a slot.
    pub(super) fn get(&self, slot: Slot) -> &Cow<'a, str> {
        const NONE: &Cow<'static, str> = &Cow::Borrowed("value");
        self.of.get(slot.0 as usize).unwrap_or(NONE)
    }

    /// Whether the name of a slot is in scope: it has been bound, and not only in an ended loop.
    pub(super) fn is_visible(&self, slot: Slot) -> bool {
        self.visible.contains(self.get(slot))
    }

    /// Binds the name of a slot.
    pub(super) fn bind(&mut self, slot: Slot) {
        let name = self.get(slot).clone();
        if self.visible.insert(name.clone()) {
            self.bound.push(name);
        }
    }

    /// Begins a loop over items. Returns the mark that ends it.
    pub(super) fn open(&mut self, item: Slot) -> usize {
        let start = self.bound.len();
        self.bind(item);
        start
    }

    /// Ends a loop: names that were first bound in it go out of scope.
    pub(super) fn close(&mut self, start: usize) {
        for name in self.bound.drain(start..) {
            self.visible.remove(&name);
        }
    }

    /// Every name.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.of.iter().map(AsRef::as_ref)
    }
}

/// The name, with a number appended if it is taken.
pub(super) fn numbered(name: Cow<'_, str>, free: impl Fn(&str) -> bool) -> Cow<'_, str> {
    if free(&name) {
        return name;
    }
    let numbered = (2..u32::MAX).map(|number| format!("{name}_{number}")).find(|name| free(name));
    numbered.map_or(name, Cow::Owned)
}

/// The name that a binding suggests for its slot.
fn bound_hint<'a>(value: &Bound<'a>) -> Option<&'a str> {
    let name = match value {
        Bound::Expr(Expr { kind: ExprKind::Call(call), .. }) => call.tool.text.rsplit('/').next(),
        Bound::Expr(Expr { kind: ExprKind::Field(_, name), .. }) => Some(name.text),
        Bound::Control(Control::For(_)) => Some("items"),
        _ => None,
    };
    name.filter(|name| is_name(name))
}
