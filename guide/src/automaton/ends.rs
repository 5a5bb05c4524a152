//! Ends of blocks: branches join, and statements with blocks are completed.

use crate::automaton::state::{Block, Branch, Core, Goes, Kind, NONE, SLOTS, Stmt, add};
use crate::automaton::want::either;
use ilo_asm::check::{Gives, ValueInfo};

impl<'c> Core<'c> {
    /// Ends the innermost block, whose inner blocks have ended.
    pub(crate) fn close_block(&mut self) -> bool {
        let block = self.block();
        if block.parent == NONE {
            return false;
        }
        if block.kind == Kind::Match {
            return block.arms == 0 && block.first.is_some_and(|whole| self.complete(&block, whole));
        }
        if !block.may_close() {
            return false;
        }
        let lives = block.last.gives.completes();
        let here = if lives { self.state.slots } else { NONE };
        let branch = Branch { slots: here, ..block.last };
        match block.kind {
            Kind::Then => self.pend(&block, branch),
            Kind::Try => {
                // Its handler does not have them, so none can be matched behind it.
                let owes = lives && self.owes();
                self.leave();
                !owes && self.pend(&block, branch)
            }
            Kind::Else | Kind::Caught => {
                let Some(first) = block.first else { return false };
                self.joinable(first.slots, here) && {
                    let whole = self.merge(first, branch);
                    self.complete(&block, whole)
                }
            }
            Kind::Err | Kind::Ok => self.close_arm(&block, branch),
            Kind::Pass => self.close_pass(&block, branch),
            Kind::LoopElse => self.end_loop(&block, here, lives),
            Kind::Body | Kind::Match => false,
        }
    }

    /// Leaves a block to which an ELSE may belong.
    fn pend(&mut self, block: &Block, branch: Branch) -> bool {
        let done = add(&mut self.blocks, Block { first: Some(branch), ..*block });
        let around = self.block_at(block.parent);
        self.state.block = block.parent;
        self.set_block(Block { pending: done, started: true, ..around });
        true
    }

    /// Completes the last statement, without ELSE.
    pub(crate) fn settle(&mut self) -> bool {
        let around = self.block();
        if around.pending == NONE {
            return true;
        }
        let done = self.block_at(around.pending);
        let Some(first) = done.first else { return false };
        if done.kind == Kind::Try {
            return false;
        }
        if done.kind == Kind::Then {
            let lost = done.hard || (done.chain && first.sealed) || (done.must_some && !first.gives.value);
            if lost || !self.joinable(first.slots, done.fork) {
                return false;
            }
            let whole = self.merge(first, Branch::lacking(done.fork));
            return self.complete(&Block { parent: self.state.block, ..done }, whole);
        }
        self.end_loop(&Block { parent: self.state.block, ..done }, first.slots, false)
    }

    fn close_arm(&mut self, block: &Block, branch: Branch) -> bool {
        let around = self.block_at(block.parent);
        let held = Block { arms: around.arms - 1, started: true, ..around };
        let lone = around.arms == 1 && around.first.is_none();
        let next = match around.first {
            // This is the second of two.
            Some(first) => {
                if !self.joinable(first.slots, branch.slots) {
                    return false;
                }
                let both = self.merge(first, branch);
                Block { first: Some(both), ..held }
            }
            None if lone && block.kind == Kind::Err => {
                let slots = self.state.slots;
                self.state.slots = around.fork;
                self.bind(around.slot, around.ok, 0);
                let other = Branch::lacking(self.state.slots);
                self.state.slots = slots;
                if !self.joinable(other.slots, branch.slots) || (branch.sealed && around.chain) {
                    return false;
                }
                let both = self.merge(branch, other);
                Block { first: Some(both), ..held }
            }
            None => Block { first: Some(branch), ..held },
        };
        self.state.block = block.parent;
        self.set_block(next);
        true
    }

    fn merge(&mut self, a: Branch, b: Branch) -> Branch {
        let value = match (a.gives.value, b.gives.value) {
            (true, true) => {
                let joined = either(self.arena.value(a.value), self.arena.value(b.value));
                self.arena.add_value(joined)
            }
            (true, false) => a.value,
            _ => b.value,
        };
        let slots = self.join(a.slots, b.slots);
        let (sealed, binds) = (a.sealed || b.sealed, a.binds || b.binds);
        Branch { slots, gives: a.gives.or(b.gives), value, sealed, binds }
    }

    /// A control statement is complete.
    fn complete(&mut self, block: &Block, whole: Branch) -> bool {
        self.state.block = block.parent;
        let lives = whole.slots != NONE;
        if lives {
            self.state.slots = whole.slots;
        }
        let Some(bound) = block.bound else {
            self.end_statement(whole.gives, whole.value);
            let around = self.block();
            if whole.sealed && around.to_pass {
                self.change_loop(&around, |of| of.valued = true);
            }
            self.set_block(Block { last: whole, ..around });
            // A value that nothing can follow must fit on every path.
            return !(self.block().chain && whole.gives.lack.is_some() && whole.sealed);
        };
        if whole.gives.lack.is_some() || (lives && !self.bindable(bound)) {
            return false;
        }
        if lives {
            self.bind(bound, whole.value, 0);
        } else {
            self.state.next = self.state.next.max(bound.saturating_add(1).min(SLOTS));
        }
        self.state.stmt = Stmt::Let;
        self.end_statement(if lives { Gives::nothing(()) } else { Gives::NEVER }, NONE);
        true
    }

    fn close_pass(&mut self, block: &Block, branch: Branch) -> bool {
        if branch.slots != NONE {
            if self.owes_in_loop(block.before) {
                return false;
            }
            self.state.plain |= self.now().held() & !block.before;
        }
        let of = self.innermost_loop(block).copied().unwrap_or_default();
        let end = self.join(branch.slots, of.skipped);
        let slots = self.join(block.fork, end);
        if self.names && of.yields && branch.binds && branch.slots != NONE {
            return false;
        }
        let mut branch = Branch { slots, binds: false, ..branch };
        if of.yields {
            branch = Branch { gives: Gives::VALUE, value: of.value, sealed: true, ..branch };
        }
        self.pend(&Block { ok: of.broken, ..*block }, branch)
    }

    /// Completes a loop, whose block has its passes and the slots at its BREAKs. Without one it ends with
    /// other slots, and may lack a value there.
    fn end_loop(&mut self, block: &Block, exit: u32, lacks: bool) -> bool {
        let (Some(pass), broken) = (block.first, block.ok) else { return false };
        if !self.joinable(exit, broken) {
            return false;
        }
        let slots = self.join(exit, broken);
        let around = self.block_at(block.parent);
        let mut value = NONE;
        let mut gives = if pass.gives.value { Gives::VALUE } else { Gives::nothing(()) };
        if pass.gives.value {
            let item = self.arena.value(pass.value);
            let list: ValueInfo<'c> = item.listed();
            if let (Goes::Out(want) | Goes::Kept(want), None) = (around.goes, block.bound)
                && !self.arena.takes(self.session, want, list)
            {
                gives = Gives::nothing(());
            }
            value = self.arena.add_value(list);
        }
        if slots == NONE {
            gives = Gives::NEVER;
        } else if lacks {
            gives.lack = Some(());
        }
        let slots = self.forget_loop(slots, around.loops);
        self.complete(block, Branch { slots, gives, value, sealed: pass.sealed, binds: false })
    }

    /// Leaves a loop after its passes.
    fn forget_loop(&mut self, slots: u32, at: u8) -> u32 {
        if slots == NONE {
            return slots;
        }
        let mut left = self.slots_at(slots).clone();
        if let Some(kept) = left.kept.get_mut(usize::from(at)) {
            *kept = 0;
        }
        add(&mut self.slots, left)
    }
}

impl Block {
    /// Whether a block fulfils the requirements of its kind at its end.
    pub(crate) fn may_close(&self) -> bool {
        (self.started || self.zero)
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
