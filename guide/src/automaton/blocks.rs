//! Lines: which statements may begin at which level, and how blocks open and end.

use crate::automaton::flow::bit;
use crate::automaton::offers::{Words, one};
use crate::automaton::state::{
    Block, Branch, Core, Goes, Kind, LEVELS, LOOPS, Loop, NONE, Phase, Stmt, Tried,
};
use crate::automaton::want::{ANY, Want, WantId, either};
use ilo_asm::check::{Gives, ValueInfo};
use ilo_asm::rules::Demand;
use ilo_asm::types::Inferred;
use ilo_spec::node::Word;

/// Levels that a block may have beyond the offered ones, so that results that must be matched can be.
const SPARE: u8 = 2;

impl Core<'_> {
    /// The level of the innermost block, where the next statement may be.
    pub(crate) fn level(&self) -> u8 {
        self.block().level
    }

    /// Closes blocks up to the block of a level; `false` if a block cannot end here.
    pub(crate) fn up_to(&mut self, level: u8) -> bool {
        while self.block().level > level {
            if !self.settle() || !self.close_block() {
                return false;
            }
        }
        self.block().level == level
    }

    /// Ends the program, if it may end here. Returns whether it does.
    pub(crate) fn end(&mut self) -> bool {
        self.up_to(0) && self.settle() && {
            let body = self.block();
            body.may_close() && !(body.last.gives.completes() && self.owes())
        }
    }

    /// The words that a line of a level may begin with.
    pub(crate) fn line_words(&mut self, level: u8) -> Words {
        self.trial(|this| if this.up_to(level) { this.words_here() } else { 0 })
    }

    fn words_here(&mut self) -> Words {
        let block = self.block();
        let mut words = self.second_words(&block);
        if self.settle() {
            words |= self.statements();
        }
        words
    }

    /// ELSE, or the arm of a MATCH.
    fn second_words(&mut self, block: &Block) -> Words {
        if block.kind == Kind::Match {
            let slot = (0..=self.state.next).any(|slot| self.bindable(slot));
            return match (block.arms, block.first) {
                _ if !slot => 0,
                (2, None) => one(Word::Err),
                (1, Some(_)) => one(Word::Ok),
                (1, None) if block.hard => one(Word::Ok),
                (1, None) => one(Word::Ok) | one(Word::Err),
                _ => 0,
            };
        }
        let done = self.block_at(block.pending);
        match done.kind {
            _ if block.pending == NONE => 0,
            Kind::Try => one(Word::Err),
            Kind::Pass if done.ok == NONE => 0,
            _ => one(Word::Else),
        }
    }

    /// Whether FAIL may be the next statement of the innermost block.
    pub(crate) fn may_fail(&self) -> bool {
        let block = self.block();
        block.takes_statements() && !block.rollback && !block.must_live
    }

    /// Whether FAIL may have a text here.
    pub(crate) fn may_fail_with_text(&self) -> bool {
        let of_function = self.session.err.unwrap_or(Inferred::ANY);
        self.block().in_try || Demand::Is(of_function).accepts(Inferred::TEXT)
    }

    /// The words that begin a statement of the innermost block.
    fn statements(&mut self) -> Words {
        let block = self.block();
        if !block.takes_statements() {
            return 0;
        }
        self.state.frame = NONE;
        if block.rollback {
            return self.marked(Word::Rollback);
        }
        let mut words = self.controls() | self.marked(Word::Rollback) | self.marked(Word::Undo);
        if (0..=self.state.next).any(|slot| self.bindable(slot)) {
            words |= one(Word::Let);
        }
        self.state.stmt = Stmt::Value;
        if self.some_call(ANY) {
            words |= one(Word::Call);
        }
        if !block.must_live {
            words |= one(Word::Fail);
            if self.session.err.is_some() {
                words |= one(Word::RetErr);
            }
            if !self.owes() {
                words |= one(if self.session.err.is_some() { Word::RetOk } else { Word::Ret });
            }
            if block.loops > 0 && !self.owes_in_loop(block.before) {
                words |= one(Word::Break);
                if !self.innermost_loop(&block).is_some_and(|of| of.until) {
                    words |= one(Word::Skip);
                }
            }
        }
        let item = self.item_want().map(|want| self.arena.want(want));
        if item.is_some_and(|want| self.arena.plain(self.session, want).is_some()) {
            words |= one(Word::Yield);
        }
        if let Goes::Kept(want) | Goes::Out(want) = block.goes
            && !self.owes()
        {
            words |= self.expressions(want) & !one(Word::Call);
        }
        words
    }

    /// What a YIELD may add here, if one may be next.
    fn item_want(&self) -> Option<WantId> {
        let block = self.block();
        let of = self.innermost_loop(&block)?;
        let is_free = of.yields || !of.valued;
        of.item.filter(|_| is_free && !self.owes())
    }

    /// UNDO or ROLLBACK, if there is a call for it.
    fn marked(&mut self, word: Word) -> Words {
        self.state.stmt = Stmt::Mark(word);
        if self.some_call(ANY) { one(word) } else { 0 }
    }

    /// IF, FOR and MATCH, if they are allowed.
    pub(crate) fn controls(&self) -> Words {
        let block = self.block();
        let mut words = 0;
        if block.level < LEVELS {
            words |= one(Word::If);
            if !self.owes() {
                words |= one(Word::Try);
            }
            let slot = (0..=self.state.next).any(|slot| self.bindable(slot));
            if block.loops < LOOPS && slot {
                words |= one(Word::For);
            }
        }
        let owed = |slot: &u8| self.now().calls(*slot) & self.state.checked != 0;
        let spare = |slot: &u8| if owed(slot) { SPARE } else { 0 };
        let fits = |slot: &u8| self.matchable(*slot) && block.level + 1 < LEVELS + spare(slot);
        if (0..self.state.next).any(|slot| fits(&slot)) {
            words |= one(Word::Match);
        }
        words
    }

    /// Begins a line at a level, with a word that may begin it.
    pub(crate) fn begin_line(&mut self, level: u8, word: Word) {
        self.up_to(level);
        let block = self.block();
        self.state.frame = NONE;
        self.state.bound = None;
        if word == Word::Else || (block.kind == Kind::Match && matches!(word, Word::Err | Word::Ok)) {
            self.state.stmt = Stmt::Opens(word);
            self.state.phase = if word == Word::Else { Phase::BlockCount } else { Phase::Slot };
            return;
        }
        if word == Word::Err {
            return self.begin_caught();
        }
        self.settle();
        let block = self.block();
        match word {
            Word::Let => {
                self.state.stmt = Stmt::Let;
                self.state.phase = Phase::Slot;
            }
            Word::If | Word::For | Word::Match | Word::Try => self.control(word),
            Word::Ret | Word::RetOk | Word::RetErr | Word::Fail => {
                self.state.stmt = Stmt::Exit(word);
                let ty = match word {
                    Word::Fail if block.in_try => Inferred::ANY,
                    Word::RetErr | Word::Fail => self.session.err.unwrap_or(Inferred::ANY),
                    _ => self.session.output,
                };
                let want = self.arena.add_want(Want::Demand(Demand::Is(ty)));
                self.operand(want, false);
            }
            Word::Break | Word::Skip => self.leave_pass(word),
            Word::Yield => {
                self.state.stmt = Stmt::Yield;
                let want = self.item_want().unwrap_or(ANY);
                self.operand(want, false);
            }
            Word::Undo | Word::Rollback => {
                self.state.stmt = Stmt::Mark(word);
                self.state.want = ANY;
                self.state.behind = false;
                self.state.phase = Phase::CallWord;
            }
            _ => {
                self.state.stmt = Stmt::Value;
                let want = match block.goes {
                    _ if word == Word::Call => ANY,
                    Goes::Kept(want) | Goes::Out(want) => want,
                    Goes::Nowhere => ANY,
                };
                self.operand(want, false);
                self.take_word(word);
            }
        }
    }

    /// Begins IF, FOR, MATCH or TRY.
    pub(crate) fn control(&mut self, word: Word) {
        self.state.stmt = Stmt::Opens(word);
        match word {
            Word::If => {
                let want = self.arena.add_want(Want::Demand(Demand::CONDITION));
                self.operand(want, true);
            }
            Word::Try => {
                // The handler cannot match what was bound before.
                self.leave();
                self.state.phase = Phase::BlockCount;
            }
            _ => self.state.phase = Phase::Slot,
        }
    }

    /// BREAK or SKIP.
    fn leave_pass(&mut self, word: Word) {
        let block = self.block();
        self.state.plain |= self.now().held() & !block.before;
        let of = self.innermost_loop(&block).copied().unwrap_or_default();
        let left = if word == Word::Skip { of.skipped } else { of.broken };
        let joined = self.join(left, self.state.slots);
        self.change_loop(&block, |of| {
            *(if word == Word::Skip { &mut of.skipped } else { &mut of.broken }) = joined;
        });
        self.end_statement(Gives::NEVER, NONE);
    }

    /// Completes a YIELD.
    pub(crate) fn end_yield(&mut self, value: u32) {
        let block = self.block();
        let before = self.innermost_loop(&block).map_or(NONE, |of| of.value);
        let joined = if before == NONE {
            value
        } else {
            let joined = either(self.arena.value(before), self.arena.value(value));
            self.arena.add_value(joined)
        };
        self.change_loop(&block, |of| (of.yields, of.value) = (true, joined));
        self.end_statement(Gives::nothing(()), NONE);
    }

    /// Begins the handler of a TRY.
    fn begin_caught(&mut self) {
        let done = self.block_at(self.block().pending);
        self.catch(done.fork);
        // An enclosing TRY has bound all of it.
        let all: Vec<u64> = self.list(done.tried.bound).collect();
        for one in all.into_iter().rev() {
            self.state.tried.bound = self.push_list(self.state.tried.bound, one);
        }
        self.state.tried.taken |= done.tried.taken;
        self.state.stmt = Stmt::Opens(Word::Err);
        self.state.phase = Phase::Slot;
    }

    /// Completes a statement.
    pub(crate) fn end_statement(&mut self, gives: Gives, value: u32) {
        let block = self.block();
        let binds = self.state.stmt == Stmt::Let && gives.completes();
        let last = Branch { gives, value, binds, ..block.last };
        self.set_block(Block { started: true, last, rollback: false, pending: NONE, ..block });
        self.state.phase = Phase::End;
    }

    /// Completes a value that is a statement.
    pub(crate) fn end_statement_value(&mut self, value: u32) {
        let block = self.block();
        let is_call = self.state.top == Some(Word::Call);
        let fits = match block.goes {
            Goes::Out(want) | Goes::Kept(want) => {
                self.arena.takes(self.session, want, self.arena.value(value))
            }
            Goes::Nowhere => true,
        };
        self.end_statement(if fits { Gives::VALUE } else { Gives::nothing(()) }, value);
        let block = self.block();
        self.set_block(Block { last: Branch { sealed: !is_call, ..block.last }, ..block });
        if is_call {
            self.demand_rollback();
        } else if block.to_pass {
            self.change_loop(&block, |of| of.valued = true);
        }
    }

    /// Takes the count of a header and opens its block.
    pub(crate) fn open_block(&mut self, count: u32) {
        let zero = count == 0;
        let Stmt::Opens(word) = self.state.stmt else { return };
        match word {
            Word::If => {
                let block = self.inside(Kind::Then, zero);
                self.set_block(block);
            }
            Word::For => self.open_pass(zero),
            Word::Else => self.open_behind(zero),
            Word::Try => self.open_try(zero),
            Word::Err if self.block().kind != Kind::Match => self.open_behind(zero),
            Word::Err | Word::Ok => self.open_arm(zero),
            _ => {}
        }
        self.state.phase = Phase::End;
    }

    /// A block inside the innermost one.
    fn inside(&self, kind: Kind, zero: bool) -> Block {
        let around = self.block();
        let bound = self.state.bound;
        let is_bound = bound.is_some();
        Block {
            kind,
            parent: self.state.block,
            level: around.level + 1,
            loops: around.loops,
            goes: if is_bound { Goes::Kept(ANY) } else { around.goes },
            hard: is_bound,
            chain: around.chain || is_bound,
            zero,
            fork: self.state.slots,
            bound,
            held: around.held,
            before: around.before,
            to_pass: around.to_pass && !is_bound,
            in_try: around.in_try,
            ..Block::new(kind)
        }
    }

    fn open_try(&mut self, zero: bool) {
        let block = Block { tried: self.state.tried, in_try: true, ..self.inside(Kind::Try, zero) };
        self.state.tried = Tried::default();
        self.set_block(block);
    }

    fn open_pass(&mut self, zero: bool) {
        let around = self.block();
        let mut block = self.inside(Kind::Pass, zero);
        let is_bound = block.bound.is_some();
        // A FOR always reaches its end, and has a value there if some pass has one.
        block.must_some |= block.hard;
        block.hard = false;
        block.chain = false;
        block.must_live = block.must_some;
        block.loops = around.loops + 1;
        block.before = bit(self.state.calls).wrapping_sub(1);
        if !is_bound {
            block.goes = match around.goes {
                Goes::Out(want) | Goes::Kept(want)
                    if self.arena.takes_type(self.session, want, Inferred::ANY.list()) =>
                {
                    let item = self.arena.item_want(want);
                    Goes::Kept(self.arena.add_want(item))
                }
                _ => Goes::Nowhere,
            };
        }
        let at = usize::from(around.loops);
        let item = if let Goes::Kept(want) = block.goes { Some(want) } else { None };
        block.to_pass = true;
        self.change_loop(&block, |of| *of = Loop { item, ..Loop::default() });
        let (slot, value) = (self.state.slot, self.state.want);
        self.set_block(block);
        self.change(|slots| {
            if let Some(kept) = slots.kept.get_mut(at) {
                *kept = u64::MAX;
            }
        });
        self.bind(slot, value, 0);
    }

    pub(crate) fn open_match(&mut self, both: bool) {
        let mut block = self.inside(Kind::Match, false);
        block.slot = self.state.slot;
        block.arms = if both { 2 } else { 1 };
        block.must_live = self.block().must_live;
        (block.ok, block.err) = self.take(block.slot);
        block.fork = self.state.slots;
        self.set_block(block);
        self.state.phase = Phase::End;
    }

    fn open_arm(&mut self, zero: bool) {
        let around = self.block();
        let is_err = self.state.stmt == Stmt::Opens(Word::Err);
        let kind = if is_err { Kind::Err } else { Kind::Ok };
        self.state.bound = around.bound;
        let mut block = self.inside(kind, zero);
        block.bound = None;
        self.state.slots = around.fork;
        if is_err && around.arms == 1 {
            block.held |= self.slots_at(around.fork).held();
            if around.chain {
                block.goes = Goes::Nowhere;
            }
        }
        match around.first {
            Some(first) => self.second(&mut block, &first, around.must_live),
            None => block.must_live = around.must_live && !is_err,
        }
        let has_some = around.first.is_some_and(|first| first.gives.value);
        block.must_some = around.must_some && !is_err && !has_some;
        block.must_live |= block.must_some;
        let value = if is_err { around.err } else { around.ok };
        let slot = self.state.slot;
        self.set_block(block);
        self.bind(slot, value, 0);
    }

    /// The requirements on the second of two branches.
    fn second(&self, block: &mut Block, first: &Branch, must_live: bool) {
        if first.slots != NONE {
            block.held |= self.slots_at(first.slots).held();
        }
        block.must_live = must_live && first.slots == NONE;
        if block.chain && first.sealed {
            block.hard = true;
        } else if block.chain && first.gives.lack.is_some() {
            block.goes = Goes::Nowhere;
        }
    }

    /// Opens the block behind another one: ELSE, or the handler of a TRY.
    fn open_behind(&mut self, zero: bool) {
        let (block, slot) = (self.block(), self.state.slot);
        let done = self.block_at(block.pending);
        self.state.bound = done.bound;
        self.set_block(Block { pending: NONE, ..block });
        let around = self.block();
        if done.kind == Kind::Pass {
            return self.open_loop_else(zero, &around, &done);
        }
        let is_caught = done.kind == Kind::Try;
        let mut block = self.inside(if is_caught { Kind::Caught } else { Kind::Else }, zero);
        block.first = done.first;
        if let Some(first) = done.first {
            self.second(&mut block, &first, around.must_live);
            block.must_some = done.must_some && !first.gives.value;
            block.must_live |= block.must_some;
        }
        self.set_block(block);
        if is_caught {
            let failure = self.arena.add_value(ValueInfo::ANY);
            self.bind(slot, failure, 0);
        } else {
            self.state.slots = done.fork;
        }
    }

    fn open_loop_else(&mut self, zero: bool, around: &Block, done: &Block) {
        if done.first.is_some_and(|first| first.gives.value) && around.to_pass {
            // A YIELD in the ELSE would make the list of the loop one that nothing collects.
            self.change_loop(around, |of| of.valued = true);
        }
        let mut block = self.inside(Kind::LoopElse, zero);
        let broken = done.ok;
        block.ok = broken;
        block.goes = Goes::Nowhere;
        block.first = done.first;
        let sealed = done.first.is_some_and(|first| first.sealed);
        block.hard |= block.chain && sealed;
        block.must_live = around.must_live && broken == NONE;
        block.must_some = false;
        if broken != NONE {
            block.held |= self.slots_at(broken).held();
        }
        self.state.slots = done.first.map_or(self.state.slots, |first| first.slots);
        self.set_block(block);
    }
}
