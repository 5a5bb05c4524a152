//! Ends of blocks: branches join, and statements with blocks are completed.

use crate::automaton::blocks;
use crate::automaton::state::{Block, Branch, Core, Kind, NONE, SLOTS, Stmt, add};
use ilo_asm::check::{Gives, ValueInfo};

/// Ends the innermost block, whose inner blocks have ended.
pub(crate) fn close_block(core: &mut Core<'_>) -> bool {
    let block = core.block();
    if block.parent == NONE {
        return false;
    }
    if block.kind == Kind::Match {
        return block.arms == 0 && block.first.is_some_and(|whole| complete(core, &block, whole));
    }
    if !block.may_close() {
        return false;
    }
    let lives = block.last.gives.completes();
    let here = if lives { core.state.slots } else { NONE };
    let branch = Branch { slots: here, ..block.last };
    match block.kind {
        Kind::Then => pend(core, &block, branch),
        Kind::Try => {
            // Its handler does not have them, so none can be matched behind it.
            let owes = lives && core.owes();
            core.leave();
            !owes && pend(core, &block, branch)
        }
        Kind::Else | Kind::Caught => {
            let Some(first) = block.first else { return false };
            core.joinable(first.slots, here) && {
                let whole = merge(core, first, branch);
                complete(core, &block, whole)
            }
        }
        Kind::Err | Kind::Ok => close_arm(core, &block, branch),
        Kind::Pass => close_pass(core, &block, branch),
        Kind::LoopElse => end_loop(core, &block, here, lives),
        Kind::Body | Kind::Match => false,
    }
}

/// Leaves a block to which an ELSE may belong.
fn pend(core: &mut Core<'_>, block: &Block, branch: Branch) -> bool {
    let done = add(&mut core.blocks, Block { first: Some(branch), ..*block });
    let around = core.block_at(block.parent);
    core.state.block = block.parent;
    core.set_block(Block { pending: done, started: true, ..around });
    true
}

/// Completes the last statement, without ELSE.
pub(crate) fn settle(core: &mut Core<'_>) -> bool {
    let around = core.block();
    if around.pending == NONE {
        return true;
    }
    let done = core.block_at(around.pending);
    let Some(first) = done.first else { return false };
    if done.kind == Kind::Try {
        return false;
    }
    if done.kind == Kind::Then {
        let lost = done.hard || (done.chain && first.sealed) || (done.must_some && !first.gives.value);
        if lost || !core.joinable(first.slots, done.fork) {
            return false;
        }
        let whole = merge(core, first, Branch::lacking(done.fork));
        return complete(core, &Block { parent: core.state.block, ..done }, whole);
    }
    end_loop(core, &Block { parent: core.state.block, ..done }, first.slots, false)
}

fn close_arm(core: &mut Core<'_>, block: &Block, branch: Branch) -> bool {
    let around = core.block_at(block.parent);
    let held = Block { arms: around.arms - 1, started: true, ..around };
    let lone = around.arms == 1 && around.first.is_none();
    let next = match around.first {
        // This is the second of two.
        Some(first) => {
            if !core.joinable(first.slots, branch.slots) {
                return false;
            }
            let both = merge(core, first, branch);
            Block { first: Some(both), ..held }
        }
        None if lone && block.kind == Kind::Err => {
            let slots = core.state.slots;
            core.state.slots = around.fork;
            core.bind(around.slot, around.ok, 0);
            let other = Branch::lacking(core.state.slots);
            core.state.slots = slots;
            if !core.joinable(other.slots, branch.slots) || (branch.sealed && around.chain) {
                return false;
            }
            let both = merge(core, branch, other);
            Block { first: Some(both), ..held }
        }
        None => Block { first: Some(branch), ..held },
    };
    core.state.block = block.parent;
    core.set_block(next);
    true
}

fn merge(core: &mut Core<'_>, a: Branch, b: Branch) -> Branch {
    let given = |of: &Branch| if of.gives.value { of.value } else { NONE };
    let value = core.arena.either(given(&a), given(&b));
    let slots = core.join(a.slots, b.slots);
    let (sealed, binds) = (a.sealed || b.sealed, a.binds || b.binds);
    Branch { slots, gives: a.gives.or(b.gives), value, sealed, binds }
}

/// A control statement is complete.
fn complete(core: &mut Core<'_>, block: &Block, whole: Branch) -> bool {
    core.state.block = block.parent;
    let lives = whole.slots != NONE;
    if lives {
        core.state.slots = whole.slots;
    }
    let Some(bound) = block.bound else {
        blocks::end_statement(core, whole.gives, whole.value);
        let around = core.block();
        if whole.sealed && around.to_pass {
            core.change_loop(&around, |of| of.valued = true);
        }
        core.set_block(Block { last: whole, ..around });
        // A value that nothing can follow must fit on every path.
        return !(core.block().chain && whole.gives.lack.is_some() && whole.sealed);
    };
    if whole.gives.lack.is_some() || (lives && !core.bindable(bound)) {
        return false;
    }
    if lives {
        core.bind(bound, whole.value, 0);
    } else {
        core.state.next = core.state.next.max(bound.saturating_add(1).min(SLOTS));
    }
    core.state.stmt = Stmt::Let;
    blocks::end_statement(core, if lives { Gives::nothing(()) } else { Gives::NEVER }, NONE);
    true
}

fn close_pass(core: &mut Core<'_>, block: &Block, branch: Branch) -> bool {
    if branch.slots != NONE {
        if core.owes_in_loop(block.before) {
            return false;
        }
        core.state.plain |= core.now().held() & !block.before;
    }
    let of = core.innermost_loop(block).copied().unwrap_or_default();
    let end = core.join(branch.slots, of.skipped);
    let slots = core.join(block.fork, end);
    if core.arena.names && of.yields && branch.binds && branch.slots != NONE {
        return false;
    }
    let mut branch = Branch { slots, binds: false, ..branch };
    if of.yields {
        branch = Branch { gives: Gives::VALUE, value: of.value, sealed: true, ..branch };
    }
    pend(core, &Block { ok: of.broken, ..*block }, branch)
}

/// Completes a loop, whose block has its passes and the slots at its BREAKs. Without one it ends with
/// other slots, and may lack a value there.
fn end_loop<'c>(core: &mut Core<'c>, block: &Block, exit: u32, lacks: bool) -> bool {
    let (Some(pass), broken) = (block.first, block.ok) else { return false };
    if !core.joinable(exit, broken) {
        return false;
    }
    let mut slots = core.join(exit, broken);
    let around = core.block_at(block.parent);
    let mut value = NONE;
    let mut gives = if pass.gives.value { Gives::VALUE } else { Gives::nothing(()) };
    if pass.gives.value {
        let item = core.arena.value(pass.value);
        let list: ValueInfo<'c> = item.listed();
        if let (Some(want), None) = (around.goes, block.bound)
            && !core.arena.takes(core.session, want, list)
        {
            gives = Gives::nothing(());
        }
        value = core.arena.add_value(list);
    }
    if slots == NONE {
        gives = Gives::NEVER;
    } else if lacks {
        gives.lack = Some(());
    }
    if slots != NONE {
        let mut left = core.slots_at(slots).clone();
        left.keep(around.loops, 0);
        slots = add(&mut core.slots, left);
    }
    complete(core, block, Branch { slots, gives, value, sealed: pass.sealed, binds: false })
}

impl Block {
    /// Whether a block fulfils the requirements of its kind at its end.
    pub(crate) fn may_close(&self) -> bool {
        self.started
            && !self.rollback
            && !(self.hard && self.last.gives.lack.is_some())
            && !(self.chain && self.last.sealed && self.last.gives.lack.is_some())
            && (!self.must_live || self.last.gives.completes())
            // A value that a branch of IF lacks must be in its ELSE.
            && (!self.must_some || self.kind == Kind::Then || self.last.gives.value)
    }

    /// Whether another statement may follow the last one.
    pub(crate) fn takes_statements(&self) -> bool {
        self.kind != Kind::Match && !self.last.sealed && self.last.gives.completes()
    }
}
