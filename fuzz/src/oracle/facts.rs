//! Static facts of a function: which calls make their slot checked (4.2.2), which are compensations (4.4.1),
//! and which loops can yield (2.7.2).

use ilo_asm::ast::{
    Block, Bound, Call, CallId, Control, Expr, ExprKind, Function, Match, ReturnKind, Slot, Stmt, StmtKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// The facts of one function.
#[derive(Debug)]
pub(super) struct Facts {
    /// For each call, whether it makes its slot checked.
    pub(super) checked: Vec<bool>,
    /// For each call, whether it is a compensation without UNDO.
    pub(super) undoes: Vec<bool>,
    /// For each loop, whether it can yield.
    pub(super) yields: Vec<bool>,
    /// For each slot, the checked calls that are bound to it.
    calls: BTreeMap<Slot, BTreeSet<u32>>,
    /// The places of each MATCH that directly follows its call.
    behind: BTreeSet<u32>,
    /// What follows the end of each enclosing loop, where a BREAK continues.
    ends: Vec<Ahead>,
    /// What follows a pass of each enclosing loop, where a SKIP continues.
    passes: Vec<Ahead>,
    /// What the handler of each enclosing TRY reaches.
    handlers: Vec<Ahead>,
}

/// What is reachable from a point before the slot is bound again.
#[derive(Clone, Debug, Default)]
struct Ahead {
    /// Slots that a MATCH takes.
    matched: BTreeSet<Slot>,
    /// Slots that are read.
    read: BTreeSet<Slot>,
}

impl Ahead {
    fn bind(&mut self, slot: Slot) {
        self.matched.remove(&slot);
        self.read.remove(&slot);
    }

    fn or(mut self, other: Ahead) -> Ahead {
        self.matched.extend(other.matched);
        self.read.extend(other.read);
        self
    }

    fn reads(&mut self, expr: &Expr<'_>) {
        if let ExprKind::Ref(slot) = expr.kind {
            self.read.insert(slot);
        }
        expr.children(|child| self.reads(child));
    }

    fn arguments(&mut self, call: &Call<'_>) {
        call.arguments.iter().for_each(|argument| self.reads(&argument.value));
    }
}

impl Facts {
    pub(super) fn of(function: &Function<'_>) -> Facts {
        let calls = function.calls as usize;
        let mut facts = Facts {
            checked: vec![false; calls],
            undoes: vec![false; calls],
            yields: vec![false; function.loops as usize],
            calls: BTreeMap::new(),
            behind: BTreeSet::new(),
            ends: Vec::new(),
            passes: Vec::new(),
            handlers: Vec::new(),
        };
        facts.block(&function.body, Ahead::default(), false);
        facts
    }

    /// Whether a failure that a MATCH passes on comes from the MATCH and not from the call (4.3.2).
    pub(super) fn hands_on_itself(&self, node: &Match<'_>) -> bool {
        let several = self.calls.get(&node.slot).is_some_and(|calls| calls.len() > 1);
        several && !self.behind.contains(&node.span.start)
    }

    /// Visits a block backwards. `ahead` is what follows it; returns what is ahead of its start.
    ///
    /// `undoing` is set in an ERR arm.
    fn block(&mut self, block: &Block<'_>, ahead: Ahead, undoing: bool) -> Ahead {
        let fails =
            matches!(block.statements.last(), Some(Stmt { kind: StmtKind::Return(ReturnKind::Err, _), .. }));
        let mut ahead = ahead;
        for (place, statement) in block.statements.iter().enumerate().rev() {
            if let Some((number, calls, binds)) = called(statement) {
                let used =
                    binds.is_some_and(|slot| ahead.matched.contains(&slot) || ahead.read.contains(&slot));
                let id = number.0 as usize;
                // A call with a ROLLBACK directly after it is none (4.7.3).
                let kept = block.statements.get(place + 1);
                let kept = kept.is_some_and(|next| matches!(next.kind, StmtKind::Rollback(_)));
                self.undoes[id] = calls && undoing && fails && !used && !kept;
                if let Some(slot) = binds.filter(|slot| ahead.matched.contains(slot)) {
                    self.checked[id] = true;
                    self.calls.entry(slot).or_default().insert(number.0);
                    let next = block.statements.get(place + 1).and_then(matching);
                    self.behind.extend(next.filter(|node| node.slot == slot).map(|node| node.span.start));
                }
            }
            ahead = self.statement(statement, ahead);
        }
        ahead
    }

    fn statement(&mut self, statement: &Stmt<'_>, ahead: Ahead) -> Ahead {
        let ahead = self.of_statement(statement, ahead);
        match self.handlers.last() {
            // A failure in it leads to the handler, before the statement binds anything.
            Some(handler) if may_fail(statement) => ahead.or(handler.clone()),
            _ => ahead,
        }
    }

    fn of_statement(&mut self, statement: &Stmt<'_>, mut ahead: Ahead) -> Ahead {
        match &statement.kind {
            StmtKind::Let { slot, value, .. } => {
                ahead.bind(*slot);
                match value {
                    Bound::Expr(expr) => ahead.reads(expr),
                    Bound::Control(control) => return self.control(control, ahead),
                }
            }
            StmtKind::Value(expr) | StmtKind::Yield(expr) => ahead.reads(expr),
            StmtKind::Return(_, expr) | StmtKind::Fail(expr) => {
                ahead = Ahead::default();
                ahead.reads(expr);
            }
            StmtKind::Undo(call) | StmtKind::Rollback(call) => ahead.arguments(call),
            StmtKind::Break => ahead = self.ends.last().cloned().unwrap_or_default(),
            StmtKind::Skip => ahead = self.passes.last().cloned().unwrap_or_default(),
            StmtKind::Control(control) => return self.control(control, ahead),
        }
        ahead
    }

    fn control(&mut self, control: &Control<'_>, after: Ahead) -> Ahead {
        match control {
            Control::If(node) => {
                let then = self.block(&node.then, after.clone(), false);
                let other = match &node.otherwise {
                    Some(block) => self.block(block, after, false),
                    None => after,
                };
                let mut ahead = then.or(other);
                ahead.reads(&node.condition);
                ahead
            }
            Control::Match(node) => {
                let mut failure = Ahead::default();
                if let Some(arm) = &node.err {
                    failure = self.block(&arm.body, after.clone(), true);
                    failure.bind(arm.bind);
                }
                let mut success = after;
                match &node.ok {
                    Some(arm) => {
                        success = self.block(&arm.body, success, false);
                        success.bind(arm.bind);
                    }
                    None => success.bind(node.slot),
                }
                let mut ahead = failure.or(success);
                ahead.bind(node.slot);
                ahead.matched.insert(node.slot);
                ahead
            }
            Control::Try(node) => {
                let mut handler = self.block(&node.handler.body, after.clone(), false);
                handler.bind(node.handler.bind);
                self.handlers.push(handler);
                let ahead = self.block(&node.body, after, false);
                self.handlers.pop();
                ahead
            }
            Control::For(node) => {
                self.yields[node.id.0 as usize] = can_yield(&node.body);
                // After a pass comes the end of the loop or the next pass, so the body is visited twice.
                let unbroken = match &node.otherwise {
                    Some(block) => self.block(block, after.clone(), false),
                    None => after.clone(),
                };
                let mut next = unbroken.clone();
                self.ends.push(after);
                for _ in 0..2 {
                    self.passes.push(next.clone());
                    let mut start = self.block(&node.body, next, false);
                    self.passes.pop();
                    start.bind(node.item);
                    next = start.or(unbroken.clone());
                }
                self.ends.pop();
                next.reads(&node.list);
                next
            }
        }
    }
}

/// The call, or the pure function that can fail, that a statement consists of; whether it is a call; and the
/// slot that its result is bound to.
fn called(statement: &Stmt<'_>) -> Option<(CallId, bool, Option<Slot>)> {
    let (value, slot) = match statement.kind {
        StmtKind::Value(value) => (value, None),
        StmtKind::Let { slot, value: Bound::Expr(value), .. } => (value, Some(slot)),
        _ => return None,
    };
    Some((value.attempt()?, matches!(value.kind, ExprKind::Call(_)), slot))
}

/// The MATCH that a statement is or binds.
fn matching<'a>(statement: &Stmt<'a>) -> Option<&'a Match<'a>> {
    match statement.kind {
        StmtKind::Control(Control::Match(node))
        | StmtKind::Let { value: Bound::Control(Control::Match(node)), .. } => Some(node),
        _ => None,
    }
}

/// Whether a loop with this body can yield (2.7.2).
fn can_yield(body: &Block<'_>) -> bool {
    if has_yield(body) { reaches(body, &is_yield) } else { gives(body) }
}

fn is_yield(kind: &StmtKind<'_>) -> bool {
    matches!(kind, StmtKind::Yield(_))
}

/// Whether the body of a loop has a YIELD of its own: one that is not in the body of another loop (2.7.12).
pub(super) fn has_yield(block: &Block<'_>) -> bool {
    block.statements.iter().any(|statement| match &statement.kind {
        StmtKind::Control(control) | StmtKind::Let { value: Bound::Control(control), .. } => match control {
            Control::If(node) => has_yield(&node.then) || node.otherwise.as_ref().is_some_and(has_yield),
            Control::Match(node) => {
                [&node.err, &node.ok].into_iter().flatten().any(|arm| has_yield(&arm.body))
            }
            Control::Try(node) => has_yield(&node.body) || has_yield(&node.handler.body),
            Control::For(node) => node.otherwise.as_ref().is_some_and(has_yield),
        },
        kind => is_yield(kind),
    })
}

/// Whether a statement, without the blocks in it, can fail so that a TRY handles it.
fn may_fail(statement: &Stmt<'_>) -> bool {
    fn fails(expr: &Expr<'_>) -> bool {
        let mut found = expr.attempt().is_some();
        expr.children(|child| found |= fails(child));
        found
    }
    match &statement.kind {
        StmtKind::Fail(_) => true,
        StmtKind::Let { value: Bound::Expr(expr), .. }
        | StmtKind::Value(expr)
        | StmtKind::Yield(expr)
        | StmtKind::Return(_, expr) => fails(expr),
        StmtKind::Undo(call) | StmtKind::Rollback(call) => {
            call.arguments.iter().any(|argument| fails(&argument.value))
        }
        StmtKind::Break | StmtKind::Skip => false,
        StmtKind::Control(control) | StmtKind::Let { value: Bound::Control(control), .. } => match control {
            Control::If(node) => fails(&node.condition),
            Control::For(node) => fails(&node.list),
            Control::Match(node) => node.err.is_none(),
            Control::Try(_) => false,
        },
    }
}

/// Whether some path through a block ends with a value.
fn gives(block: &Block<'_>) -> bool {
    let Some((last, before)) = block.statements.split_last() else { return false };
    before.iter().all(goes_on)
        && match &last.kind {
            StmtKind::Value(_) => true,
            StmtKind::Control(Control::If(node)) => {
                gives(&node.then) || node.otherwise.as_ref().is_some_and(gives)
            }
            StmtKind::Control(Control::Match(node)) => {
                [&node.err, &node.ok].into_iter().flatten().any(|arm| gives(&arm.body))
            }
            StmtKind::Control(Control::Try(node)) => gives(&node.body) || gives(&node.handler.body),
            StmtKind::Control(Control::For(node)) => {
                can_yield(&node.body) && (node.otherwise.is_none() || ends_by_break(&node.body))
            }
            _ => false,
        }
}

/// Whether some path through a block reaches its end.
pub(super) fn completes(block: &Block<'_>) -> bool {
    block.statements.iter().all(goes_on)
}

/// Whether some path through a statement reaches its end.
fn goes_on(statement: &Stmt<'_>) -> bool {
    let through = |block: &Block<'_>| block.statements.iter().all(goes_on);
    match &statement.kind {
        StmtKind::Return(..) | StmtKind::Fail(_) | StmtKind::Break | StmtKind::Skip => false,
        StmtKind::Value(_)
        | StmtKind::Yield(_)
        | StmtKind::Undo(_)
        | StmtKind::Rollback(_)
        | StmtKind::Let { value: Bound::Expr(_), .. } => true,
        StmtKind::Control(control) | StmtKind::Let { value: Bound::Control(control), .. } => match control {
            Control::If(node) => through(&node.then) || node.otherwise.as_ref().is_none_or(through),
            Control::Match(node) => {
                node.ok.as_ref().is_none_or(|arm| through(&arm.body))
                    || node.err.as_ref().is_some_and(|arm| through(&arm.body))
            }
            Control::Try(node) => through(&node.body) || through(&node.handler.body),
            Control::For(node) => node.otherwise.as_ref().is_none_or(through) || ends_by_break(&node.body),
        },
    }
}

/// Whether some path through a loop's body leads to a BREAK of the loop.
fn ends_by_break(block: &Block<'_>) -> bool {
    reaches(block, &|kind| matches!(kind, StmtKind::Break))
}

/// Whether some path through a loop's body leads to such a statement that belongs to the loop.
fn reaches(block: &Block<'_>, is: &dyn Fn(&StmtKind<'_>) -> bool) -> bool {
    let reached = block.statements.iter().take_while(|statement| goes_on(statement)).count();
    // The first statement that does not continue is reached too.
    block.statements.iter().take(reached + 1).any(|statement| match &statement.kind {
        kind if is(kind) => true,
        StmtKind::Control(control) | StmtKind::Let { value: Bound::Control(control), .. } => match control {
            Control::If(node) => {
                reaches(&node.then, is) || node.otherwise.as_ref().is_some_and(|block| reaches(block, is))
            }
            Control::Match(node) => {
                [&node.err, &node.ok].into_iter().flatten().any(|arm| reaches(&arm.body, is))
            }
            Control::Try(node) => reaches(&node.body, is) || reaches(&node.handler.body, is),
            Control::For(node) => node.otherwise.as_ref().is_some_and(|block| reaches(block, is)),
        },
        _ => false,
    })
}
