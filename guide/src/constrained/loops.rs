//! Loops with a condition, `push`, and `then` beside a call. The automaton sees a loop as the FOR over RANGE
//! that it is written out as: with a BREAK where its condition ends it, and an ELSE that fails.

use super::machine::{Around, Binds, Kind, Machine, Next};
use crate::automaton::offers::one;
use crate::automaton::state::{Block, Goes, Phase};
use ilo_asm::ast::Literal;
use ilo_spec::node::Word;
use ilo_spec::program::Number;

impl Machine<'_> {
    /// Begins the passes of `while` or `until`. Their values are not used.
    fn begin_loop(&mut self, until: bool) {
        let level = self.core.level();
        let Some(slot) = self.new_slot(Binds::Item) else { return };
        self.core.begin_line(level, Word::For);
        self.core.take_integer(slot.into());
        self.core.take_word(Word::Range);
        self.given(Literal::Number(Number::Int(1)));
        self.begin_block();
        let block = self.core.block();
        // Without an end of a pass, the condition of `until` would have no place.
        let must_live = block.must_live || until;
        self.core.set_block(Block { goes: Goes::Nowhere, to_pass: false, must_live, ..block });
        self.core.change_loop(&block, |of| (of.item, of.until) = (None, until));
    }

    /// Takes a constant as a value that is not written.
    pub(super) fn given(&mut self, constant: Literal<'_>) {
        self.core.take_word(Word::Lit);
        self.core.take_integer(constant.kind().into());
        self.core.take_constant(constant);
    }

    pub(super) fn begin_while(&mut self) {
        let names = self.place.names.len();
        self.begin_loop(false);
        self.statement(Word::If);
        self.opens(Around::While(names), Next::Value);
    }

    /// Begins the steps of `while`, after its condition.
    pub(super) fn open_while(&mut self) -> bool {
        let Some(Around::While(names)) = self.pop() else { return false };
        self.opens(Around::Block { kind: Kind::While, names }, Next::First);
        self.break_if()
    }

    pub(super) fn begin_until(&mut self) {
        let names = self.place.names.len();
        self.begin_loop(true);
        self.opens(Around::Block { kind: Kind::Until, names }, Next::First);
    }

    /// Begins the condition of `until`, which may read names of the pass.
    pub(super) fn begin_condition(&mut self) {
        self.pop();
        self.statement(Word::If);
        self.opens(Around::Until, Next::Value);
    }

    /// Ends `until`. The names of its last pass may be read behind it.
    pub(super) fn end_until(&mut self) -> bool {
        self.pop();
        let ended = self.break_if() && self.end_passes();
        self.behind();
        ended
    }

    /// Completes IF with a BREAK.
    fn break_if(&mut self) -> bool {
        let level = self.core.level();
        self.begin_block();
        self.core.begin_line(level + 1, Word::Break);
        self.core.state.phase = Phase::Line;
        self.core.up_to(level) && self.core.settle()
    }

    /// Ends the passes of a loop with a condition: if they are over, it may fail.
    pub(super) fn end_passes(&mut self) -> bool {
        let level = self.core.level().saturating_sub(1);
        let ended = self.core.up_to(level) && self.core.line_words(level) & one(Word::Else) != 0;
        if !ended {
            return false;
        }
        let done = self.core.block_at(self.core.block().pending);
        let is_until = self.core.innermost_loop(&done).is_some_and(|of| of.until);
        self.core.begin_line(level, Word::Else);
        self.begin_block();
        let mut above = level + 1;
        if !is_until {
            self.core.begin_line(above, Word::If);
            self.given(Literal::Bool(true));
            self.begin_block();
            above += 1;
        }
        self.core.begin_line(above, Word::Fail);
        self.given(Literal::Nil);
        self.core.state.phase = Phase::Line;
        self.core.up_to(level) && self.core.settle()
    }

    /// Whether the unfinished `until` may end its passes here, with a condition that is always there.
    pub(super) fn may_end_until(&mut self) -> bool {
        let level = self.core.level();
        self.core.line_words(level) & one(Word::If) != 0 && {
            self.core.begin_line(level, Word::If);
            self.given(Literal::Bool(true));
            self.break_if() && self.end_passes()
        }
    }

    /// Whether an expression with this word may change the value of a slot.
    pub(super) fn may_change(&mut self, word: Word, slot: u8) -> bool {
        let begins = [word, Word::Ref].into_iter().all(|word| {
            let fits = self.core.words() & one(word) != 0;
            if fits {
                self.core.take_word(word);
            }
            fits
        });
        begins && self.core.takes_integer(slot.into())
    }

    pub(super) fn begin_push(&mut self) {
        let slot = self.core.state.slot.into();
        self.core.take_word(Word::Append);
        self.core.take_word(Word::Ref);
        self.core.take_integer(slot);
        self.opens(Around::Ends("}"), Next::Value);
    }

    /// Completes a call that has no arguments.
    pub(super) fn without_arguments(&mut self) {
        if self.core.state.phase == Phase::PairCount {
            self.core.take_integer(0);
        }
    }

    /// Begins the steps of `then` beside a call, which are steps of the block that has the call.
    pub(super) fn begin_then(&mut self) {
        self.without_arguments();
        self.core.state.phase = Phase::Line;
        self.pop();
        self.pop();
        self.opens(Around::Block { kind: Kind::Behind, names: self.place.names.len() }, Next::First);
    }
}
