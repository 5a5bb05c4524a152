//! Further parts of steps: handlers of failed calls, and ways out of the function or loop beside `if`.

use super::choice::{Act, Choice, choice};
use super::machine::{Around, Binds, Kind, Machine, Named, Next};
use crate::automaton::offers::{TEXT, one};
use crate::automaton::state::{Block, NONE, Phase};
use crate::surface::Steps;
use ilo_asm::ast::Literal;
use ilo_asm::check::Gives;
use ilo_asm::expr::reference::FAILURES;
use ilo_spec::node::Word;
use std::sync::Arc;

/// The words of a handler: how each begins after the name of the failure and without one, and the bytes that
/// end the handler.
const WAYS: [(Word, &str, &str, &str); 4] = [
    (Word::Ret, ",\"ret\":", ",\"err\":{\"ret\":", "}}"),
    (Word::RetOk, ",\"ret\":{\"ok\":", ",\"err\":{\"ret\":{\"ok\":", "}}}"),
    (Word::RetErr, ",\"ret\":{\"err\":", ",\"err\":{\"ret\":{\"err\":", "}}}"),
    (Word::Let, ",\"value\":", ",\"err\":{\"value\":", "}}"),
];
/// Handlers without steps.
const SHORT: [(Word, &str, Act); 4] = [
    (Word::Let, ",\"err\":{\"ignore\":true}}", Act::Ignore),
    (Word::RetErr, ",\"err\":\"", Act::Message),
    (Word::Break, ",\"err\":{\"break\":true}}", Act::HandlerExit(Word::Break)),
    (Word::Skip, ",\"err\":{\"skip\":true}}", Act::HandlerExit(Word::Skip)),
];
/// The ways out that may be beside `if`, each with the bytes that end its value.
const LEAVES: [(Word, &str, &str); 5] = [
    (Word::Ret, ",\"ret\":", ""),
    (Word::RetOk, ",\"ret\":{\"ok\":", "}"),
    (Word::RetErr, ",\"ret\":{\"err\":", "}"),
    (Word::Break, ",\"break\":true", ""),
    (Word::Skip, ",\"skip\":true", ""),
];

impl Machine<'_> {
    /// The ways out that may be the branch of the enclosing `if`.
    pub(super) fn leaves(&mut self) -> Vec<Choice> {
        let fit = LEAVES.into_iter().filter(|it| self.may_leave_by(it.0));
        fit.map(|(word, bytes, end)| choice(bytes, Act::Leave(word, end))).collect()
    }

    /// Whether the branch of the enclosing `if` may be a way out beside it.
    fn may_leave_by(&mut self, word: Word) -> bool {
        self.tried(|this| {
            this.begin_block();
            let may_be = this.may_be(word, 1, Self::statement);
            may_be && (this.step_may_end(this.place.around) || this.may_have_else())
        })
    }

    /// Whether the innermost block may end with a statement with this word, and this many levels with it, as
    /// if the value of the statement were complete.
    fn may_be(&mut self, word: Word, levels: u8, begin: impl FnOnce(&mut Self, Word)) -> bool {
        let level = self.core.level();
        if self.core.line_words(level) & one(word) == 0 {
            return false;
        }
        begin(self, word);
        match word {
            Word::Let => self.given(Literal::Nil),
            Word::Break | Word::Skip => {}
            _ => {
                if matches!(word, Word::Ret | Word::RetOk) {
                    self.core.leave();
                }
                self.core.end_statement(Gives::NEVER, NONE);
            }
        }
        self.core.up_to(level.saturating_sub(levels))
    }

    /// The parts that the enclosing call may have behind its arguments: `then` and handlers.
    pub(super) fn parts_of_call(&mut self) -> Vec<Choice> {
        let Some(Around::Call(slot)) = self.around() else { return Vec::new() };
        let mut found = vec![choice(",\"then\":[", Act::Then)];
        self.tried(|this| {
            this.without_arguments();
            let level = this.core.level();
            if this.step_words() & one(Word::Match) == 0 || !this.core.matchable(slot) {
                return;
            }
            this.begin_handler();
            let Some(failure) = this.new_slot(Binds::Failure) else { return };
            if this.core.line_words(level + 1) & one(Word::Err) == 0 {
                return;
            }
            this.begin_failure(failure);
            let ways = this.ways();
            if ways.is_empty() {
                return;
            }
            found.push(choice(",\"err\":{\"as\":\"", Act::Handler));
            for (word, _, bytes, end) in WAYS {
                if ways.iter().any(|it| it.act == Act::Way(word, end)) {
                    found.push(choice(bytes, Act::Unnamed(word, end)));
                }
            }
            for (word, bytes, act) in SHORT {
                if this.may_handle_by(word) && (act != Act::Message || this.may_be_message()) {
                    found.push(choice(bytes, act));
                }
            }
        });
        found
    }

    /// Whether the failure that the enclosing handler returns may be a text.
    fn may_be_message(&mut self) -> bool {
        self.tried(|this| {
            this.begin_way(Word::RetErr);
            let want = this.core.state.want;
            this.core.is_kind(TEXT, want)
        })
    }

    /// The words that the handler of a call may begin with.
    pub(super) fn ways(&mut self) -> Vec<Choice> {
        let fit = WAYS.into_iter().filter(|it| self.may_handle_by(it.0));
        let mut found: Vec<Choice> = fit.map(|it| choice(it.1, Act::Way(it.0, it.3))).collect();
        if self.may_handle_by(Word::Fail) {
            found.push(choice(",\"then\":[", Act::OpenHandler));
        }
        found
    }

    /// Whether a handler may consist of a statement that begins with this word.
    fn may_handle_by(&mut self, word: Word) -> bool {
        let Some(Around::Handler { slot, .. }) = self.around() else { return false };
        self.tried(|this| {
            this.core.take_integer(1);
            let bindable = word != Word::Let || this.core.bindable(slot);
            bindable && this.may_be(word, 2, Self::take_way) && this.step_may_end(this.place.around)
        })
    }

    /// The slot of the call whose handler has the innermost block.
    fn handled(&self) -> Option<u8> {
        let all: Vec<Around> = self.constructs().take(2).collect();
        match all[..] {
            [Around::Block { kind: Kind::Handler, .. }, Around::Handler { slot, .. }] => Some(slot),
            _ => None,
        }
    }

    /// Whether the steps of a handler may end with a value, which the name of its call has then.
    pub(super) fn may_give(&mut self) -> bool {
        let block = self.block_from(self.place.around);
        let Some((slot, (_, outer))) = self.handled().zip(block) else { return false };
        let gives = |this: &mut Self| {
            this.may_be(Word::Let, 2, |this, _| this.begin_giving()) && this.step_may_end(outer)
        };
        self.core.bindable(slot) && self.tried(gives)
    }

    pub(super) fn begin_giving(&mut self) {
        let Some(slot) = self.handled() else { return };
        let block = self.core.block();
        self.core.set_block(Block { hard: false, ..block });
        self.core.begin_line(block.level, Word::Let);
        self.core.take_integer(slot.into());
        self.opens(Around::Giving, Next::Value);
    }

    /// Begins the MATCH of the enclosing call.
    pub(super) fn begin_handler(&mut self) {
        self.without_arguments();
        let Some(Around::Call(slot)) = self.pop() else { return };
        self.push(Around::Handler { slot, names: 0, end: "}}" });
        self.statement(Word::Match);
        self.core.take_integer(slot.into());
        self.core.take_integer(1);
    }

    /// Begins a handler with one statement, in which the failure has the name that it has in every handler.
    pub(super) fn begin_unnamed(&mut self, word: Word, end: &'static str) {
        self.begin_handler();
        let Some(slot) = self.new_slot(Binds::Failure) else { return };
        self.begin_failure(slot);
        if let Some(Around::Handler { slot, .. }) = self.around() {
            self.replace(Around::Handler { slot, names: self.place.names.len(), end });
        }
        let [name, _] = FAILURES;
        Arc::make_mut(&mut self.place.names).push(Named { name: name.into(), slot, live: true });
        self.begin_way(word);
    }

    /// Begins the arm of a failure, which has this slot.
    pub(super) fn begin_failure(&mut self, slot: u8) {
        self.statement(Word::Err);
        self.core.take_integer(slot.into());
    }

    /// Begins the only statement of a handler.
    pub(super) fn begin_way(&mut self, word: Word) {
        self.core.take_integer(1);
        self.take_way(word);
    }

    fn take_way(&mut self, word: Word) {
        self.core.state.phase = Phase::Line;
        self.statement(word);
        if let (Word::Let, Some(Around::Handler { slot, .. })) = (word, self.around()) {
            self.core.take_integer(slot.into());
        }
    }
}
