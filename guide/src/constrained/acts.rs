//! The effects of choices: the nodes that each makes, and what follows it.

use super::choice::Act;
use super::machine::{Around, Binds, Kind, Lex, Machine, Next, Quote};
use super::paths::Path;
use super::texts::PLAIN;
use crate::automaton::offers::{BOOL, NIL, NUMBER, TEXT, Words};
use crate::automaton::state::{Block, Core, Goes, ITEMS, Phase};
use crate::automaton::steps::Constant;
use crate::automaton::texts::Inside;
use ilo_spec::node::Word;
use std::sync::Arc;

impl Machine<'_, '_> {
    /// Begins an expression.
    pub(super) fn open(&mut self, word: Word) {
        if core::mem::take(&mut self.place.opens_step) {
            let level = self.core.level();
            self.core.begin_line(level, word);
        } else {
            self.core.take_word(word);
        }
    }

    pub(super) fn literal(&mut self, kind: u8) {
        self.open(Word::Lit);
        self.core.take_integer(kind.into());
    }

    /// Takes the path of a slot and fields.
    pub(super) fn take_path(&mut self, slot: u8, fields: &[u32]) {
        fields.iter().for_each(|_| self.open(Word::Field));
        self.core.take_integer(slot.into());
        fields.iter().for_each(|&field| self.core.take_integer(field));
        self.after();
    }

    fn constant(&mut self, kind: u8, constant: Constant<'_>) {
        self.literal(kind);
        self.core.take_constant(constant);
        self.after();
    }

    /// Applies a choice; `false` is a defect, and refuses the choice.
    pub(super) fn take(&mut self, act: Act) -> bool {
        match act {
            Act::Step(..)
            | Act::Let
            | Act::Expr
            | Act::Call
            | Act::If
            | Act::For
            | Act::While
            | Act::Until
            | Act::Exit(_)
            | Act::Try
            | Act::Mark(..)
            | Act::Give
            | Act::Match(_) => self.begin_step(act),
            Act::BoundExpr
            | Act::Push
            | Act::PushPart
            | Act::UntilWhat
            | Act::BoundCall
            | Act::BoundIf
            | Act::BoundFor
            | Act::BoundTry
            | Act::Failure
            | Act::Caught
            | Act::Index
            | Act::Where
            | Act::Handler
            | Act::Way(..)
            | Act::Leave(..)
            | Act::In => {
                self.go_on_step(act);
            }
            Act::Open(_)
            | Act::Else
            | Act::Success
            | Act::OnlySuccess
            | Act::NoSuccess
            | Act::OpenHandler
            | Act::Then
            | Act::EndUntil
            | Act::EndSteps
            | Act::EndGiving
            | Act::Passes
            | Act::NextStep
            | Act::EndBlock
            | Act::EndStep
            | Act::EndHandler
            | Act::Unnamed(..)
            | Act::Message
            | Act::Ignore
            | Act::HandlerExit(_)
            | Act::EndBody => return self.take_block(act),
            Act::Nil => self.constant(NIL, Constant::Nil),
            Act::Bool(truth) => self.constant(BOOL, Constant::Bool(truth)),
            Act::Number => {
                self.literal(NUMBER);
                self.place.lex = Lex::Number { start: self.text.len() - 1 };
            }
            Act::Text => {
                self.literal(TEXT);
                self.push(Around::Ends("}"));
                self.begin_text(false);
            }
            Act::Listed(number) => {
                self.literal(TEXT);
                let Some(text) = self.core.texts().and_then(|all| all.get(number)) else { return false };
                self.core.take_constant(Constant::Text(text));
                self.after();
            }
            Act::Quote(words) => {
                self.quote(words);
            }
            // A text has no effect before it ends.
            Act::Ref(_) | Act::LastField(_) if matches!(self.place.next, Next::Hole | Next::HoleField) => {
                self.place.quote.references += 1;
                self.place.lex = PLAIN;
            }
            Act::Ref(slot) => {
                self.open(Word::Ref);
                self.core.take_integer(slot.into());
                self.after();
            }
            Act::Path(slot) => {
                self.place.path = Path::of(slot);
                self.goes_on(if self.place.next == Next::Hole { Next::HoleField } else { Next::Field });
            }
            Act::Field(field) => {
                self.place.path = self.place.path.with(field);
                self.goes_on(self.place.next);
            }
            Act::LastField(field) => {
                let path = core::mem::take(&mut self.place.path).with(field);
                self.take_path(path.slot, path.fields());
            }
            _ => self.take_inside(act),
        }
        true
    }

    /// Begins a text that may be a reference.
    fn quote(&mut self, words: Words) {
        self.place.quote = Quote { start: self.text.len() - 1, words, ..Quote::default() };
        self.place.lex = PLAIN;
    }

    fn begin_text(&mut self, key: bool) {
        self.place.lex = Lex::Text { start: self.text.len() - 1, inside: Inside::Plain, key };
    }

    fn begin_name(&mut self, of: Binds) {
        self.place.lex = Lex::Name { start: self.text.len(), of };
    }

    fn begin_step(&mut self, act: Act) {
        let level = self.core.level();
        match act {
            Act::Step(word, end) => {
                self.core.begin_line(level, word);
                self.push(Around::Step);
                self.push(Around::Ends(end));
                self.goes_on(Next::Value);
            }
            Act::Let => {
                self.core.begin_line(level, Word::Let);
                self.push(Around::Step);
                self.begin_name(Binds::Let);
            }
            Act::Expr => {
                self.place.opens_step = true;
                self.push(Around::Step);
                self.push(Around::Computed);
                self.goes_on(Next::Value);
            }
            Act::Call => {
                self.core.begin_line(level, Word::Call);
                self.push(Around::Step);
                self.push(Around::Ends("}"));
                self.goes_on(Next::Tool);
            }
            Act::If => {
                self.core.begin_line(level, Word::If);
                self.push(Around::If);
                self.goes_on(Next::Value);
            }
            Act::For => {
                self.core.begin_line(level, Word::For);
                self.begin_name(Binds::Item);
            }
            Act::Give => self.begin_giving(),
            Act::While => self.begin_while(),
            Act::Until => self.begin_until(),
            Act::Exit(word) => {
                self.core.begin_line(level, word);
                self.behind();
            }
            Act::Try => {
                self.core.begin_line(level, Word::Try);
                self.open_block(Kind::Try, self.place.names.len());
            }
            Act::Mark(word, end) => {
                self.core.begin_line(level, word);
                self.core.take_word(Word::Call);
                self.push(Around::Step);
                self.push(Around::Ends(end));
                self.push(Around::Ends("}"));
                self.goes_on(Next::Tool);
            }
            Act::Match(slot) => {
                self.core.begin_line(level, Word::Match);
                self.core.take_integer(slot.into());
                self.goes_on(Next::Match);
            }
            _ => {}
        }
    }

    fn go_on_step(&mut self, act: Act) {
        match act {
            Act::BoundExpr => {
                self.push(Around::Computed);
                self.goes_on(Next::Value);
            }
            Act::Push => self.begin_push(),
            Act::PushPart => self.begin_push_part(),
            Act::UntilWhat => self.begin_condition(),
            Act::BoundCall => {
                self.push(Around::Call(self.core.state.slot));
                self.core.take_word(Word::Call);
                self.goes_on(Next::Tool);
            }
            Act::BoundIf => {
                self.core.take_word(Word::If);
                // The last block ends the step.
                self.pop();
                self.push(Around::If);
                self.goes_on(Next::Value);
            }
            Act::BoundFor => {
                self.core.take_word(Word::For);
                self.pop();
                self.begin_name(Binds::Item);
            }
            Act::BoundTry => {
                self.core.take_word(Word::Try);
                self.pop();
                self.open_block(Kind::Try, self.place.names.len());
            }
            Act::Failure => {
                self.core.take_integer(2);
                self.begin_name(Binds::Failure);
            }
            Act::Caught => self.begin_name(Binds::Failure),
            Act::Index => {
                self.begin_passes();
                let level = self.core.level();
                self.core.begin_line(level, Word::Let);
                self.begin_name(Binds::Index);
            }
            Act::Where => {
                let Some(Around::For(names)) = self.around() else { return };
                if self.place.next != Next::Passes {
                    self.begin_passes();
                }
                let level = self.core.level();
                self.core.begin_line(level, Word::If);
                self.replace(Around::Where(names));
                self.goes_on(Next::Value);
            }
            Act::Handler => {
                self.begin_handler();
                self.begin_name(Binds::Failure);
            }
            Act::Way(word, ends) => {
                self.begin_way(word);
                if let Some(Around::Handler { slot, names, .. }) = self.around() {
                    self.replace(Around::Handler { slot, names, end: ends });
                }
                self.goes_on(Next::Value);
            }
            Act::Leave(word, end) => {
                self.pop();
                self.push(Around::Leaving);
                self.begin_leaving(word);
                if matches!(word, Word::Break | Word::Skip) {
                    return self.end_leaving();
                }
                if !end.is_empty() {
                    self.push(Around::Ends(end));
                }
                self.goes_on(Next::Value);
            }
            _ => self.goes_on(Next::Value),
        }
    }

    fn take_block(&mut self, act: Act) -> bool {
        let level = self.core.level();
        match act {
            Act::Open(Kind::While) => return self.open_while(),
            Act::Then => self.begin_then(),
            Act::EndUntil => return self.end_until(),
            Act::Open(kind) => {
                let names = match (kind, self.place.next, self.around()) {
                    (Kind::Failure | Kind::Caught, Next::Arm(names), _)
                    | (Kind::Pass, _, Some(Around::For(names))) => names,
                    _ => self.place.names.len(),
                };
                if matches!(kind, Kind::Pass | Kind::Then) {
                    self.pop();
                }
                self.open_block(kind, names);
            }
            Act::Else => {
                self.core.begin_line(level, Word::Else);
                self.open_block(Kind::Else, self.place.names.len());
            }
            Act::Passes => {
                let names = match self.pop() {
                    Some(Around::Where(names)) => {
                        self.leave_out();
                        names
                    }
                    Some(Around::For(names)) => names,
                    _ => return false,
                };
                self.push(Around::Block { kind: Kind::Pass, names });
                self.core.state.phase = Phase::Line;
                self.goes_on(Next::First);
            }
            Act::OnlySuccess => {
                self.core.take_integer(1);
                return self.take_block(Act::Success);
            }
            Act::NoSuccess => {
                let fits = self.leave_out_success();
                self.behind();
                return fits;
            }
            Act::OpenHandler => {
                self.open_block(Kind::Handler, self.place.names.len());
                // None of its steps is a value.
                let block = self.core.block();
                self.core.set_block(Block { goes: Goes::Nowhere, hard: true, ..block });
            }
            Act::EndSteps => {
                self.pop();
                return self.take_block(Act::EndHandler);
            }
            Act::Success => {
                let slot = self.core.block().slot;
                self.core.begin_line(level, Word::Ok);
                self.core.take_integer(slot.into());
                self.open_block(Kind::Success, self.place.names.len());
            }
            Act::NextStep => self.goes_on(Next::Step),
            Act::EndBlock => {
                let Some(Around::Block { kind, names }) = self.pop() else { return false };
                match kind {
                    Kind::While => {
                        self.end_loop_names(names);
                        let ended = self.end_passes();
                        self.goes_on(Next::Block(kind));
                        return ended;
                    }
                    Kind::Behind(goes) => {
                        self.end_then(goes);
                        return true;
                    }
                    Kind::Pass => self.end_loop_names(names),
                    // Names that the steps bind may be read after them.
                    Kind::Failure | Kind::Caught => self.end_name_at(names),
                    _ => {}
                }
                let up = if kind == Kind::Success { 2 } else { 1 };
                let ended = self.core.up_to(level.saturating_sub(up));
                self.goes_on(Next::Block(kind));
                return ended;
            }
            Act::EndGiving => {
                self.pop();
                return self.take_block(Act::EndSteps);
            }
            Act::EndHandler => {
                let Some(Around::Handler { names, .. }) = self.pop() else { return false };
                self.end_name_at(names);
                let ended = self.core.up_to(level.saturating_sub(2));
                self.after();
                return ended;
            }
            Act::Unnamed(word, end) => {
                self.begin_unnamed(word, end);
                self.goes_on(Next::Value);
            }
            Act::Message => {
                self.begin_unnamed(Word::RetErr, "}");
                let words = self.core.trial(Core::words);
                self.quote(words);
            }
            Act::Ignore => {
                self.begin_unnamed(Word::Let, "");
                self.literal(NIL);
                self.core.take_constant(Constant::Nil);
                return self.take_block(Act::EndHandler);
            }
            Act::HandlerExit(word) => {
                self.begin_unnamed(word, "");
                return self.take_block(Act::EndHandler);
            }
            Act::EndStep => {
                let settled = self.core.settle();
                self.behind();
                return settled;
            }
            _ => {
                self.goes_on(Next::End);
                return self.core.end();
            }
        }
        true
    }

    fn end_name_at(&mut self, at: usize) {
        if let Some(named) = Arc::make_mut(&mut self.place.names).get_mut(at) {
            named.live = false;
        }
    }

    fn open_block(&mut self, kind: Kind, names: usize) {
        // It may have no steps.
        self.core.take_integer(0);
        self.core.state.phase = Phase::Line;
        self.push(Around::Block { kind, names });
        self.goes_on(Next::First);
    }

    /// Completes MATCH with an arm for success that only binds the name again.
    pub(super) fn leave_out_success(&mut self) -> bool {
        let level = self.core.level();
        let slot = self.core.block().slot;
        self.core.begin_line(level, Word::Ok);
        self.core.take_integer(slot.into());
        self.begin_passes();
        self.core.up_to(level.saturating_sub(1)) && self.core.settle()
    }

    /// Begins the passes of a loop, before what is beside their steps.
    pub(super) fn begin_passes(&mut self) {
        // It may have no steps.
        self.core.take_integer(0);
        self.core.state.phase = Phase::Line;
    }

    /// Ends the passes for which the condition does not hold: IF with SKIP in its ELSE.
    fn leave_out(&mut self) {
        let level = self.core.level();
        for arm in [None, Some(Word::Else)] {
            if let Some(arm) = arm {
                self.core.begin_line(level, arm);
            }
            self.begin_passes();
            if arm.is_some() {
                self.core.begin_line(level + 1, Word::Skip);
                self.core.state.phase = Phase::Line;
            }
            self.core.up_to(level);
        }
        self.core.settle();
    }

    /// What is inside a value.
    fn take_inside(&mut self, act: Act) {
        match act {
            Act::Operator(word) => {
                self.open(word);
                self.push(Around::Operands(word.row().operands.len().saturating_sub(1)));
                self.goes_on(Next::Value);
            }
            Act::List => {
                self.open(Word::List);
                self.core.take_integer(ITEMS + 1);
                self.push(Around::List(0));
                self.goes_on(Next::Item);
            }
            Act::EmptyList => {
                self.open(Word::List);
                self.core.take_integer(0);
                self.after();
            }
            Act::EmptyRecord => {
                self.open(Word::Obj);
                self.core.take_integer(0);
                self.after();
            }
            Act::Record => {
                self.open(Word::Obj);
                self.open_fields("}}");
            }
            Act::Merge => {
                self.open(Word::Merge);
                let most = self.most_changes();
                self.core.take_integer(most + 1);
                self.push(Around::Merge);
                self.goes_on(Next::Value);
            }
            Act::Set => {
                self.pop();
                let most = self.most_changes();
                self.push(Around::Fields { count: 0, most, end: "}}" });
                self.goes_on(Next::Key);
            }
            Act::MatchMap => {
                self.open(Word::MatchMap);
                self.push(Around::Subject);
                self.goes_on(Next::Value);
            }
            Act::Wrapped => {
                self.push(Around::Wrapped);
                self.goes_on(Next::Value);
            }
            Act::Nested => {
                self.open(Word::Call);
                self.push(Around::Ends("}"));
                self.goes_on(Next::Tool);
            }
            Act::Tool(number) => {
                self.core.take_integer(number);
                self.goes_on(Next::Arguments);
            }
            Act::Arguments => self.open_fields("}"),
            Act::EndCall => {
                self.core.take_integer(0);
                self.pop();
                self.after();
            }
            _ => self.take_behind(act),
        }
    }

    /// The parts between or after values.
    fn take_behind(&mut self, act: Act) {
        match act {
            Act::Key(number) => {
                self.core.take_integer(number);
                if let Some(Around::Fields { count, most, end }) = self.around() {
                    self.replace(Around::Fields { count: count + 1, most, end });
                }
                self.goes_on(Next::Value);
            }
            Act::EndFields | Act::EndList | Act::EndCases => {
                self.core.end_open();
                self.pop();
                self.after();
            }
            Act::Cases => {
                self.pop();
                self.core.take_integer(ITEMS + 1);
                self.push(Around::Cases { count: 1, pairs: false });
                self.begin_text(true);
            }
            Act::Pairs => {
                self.pop();
                self.core.take_integer(ITEMS + 1);
                self.push(Around::Cases { count: 1, pairs: true });
                self.goes_on(Next::CaseKey);
            }
            Act::NextPair => {
                self.count_case();
                self.goes_on(Next::CaseKey);
            }
            Act::NilKey => self.constant_key(Constant::Nil),
            Act::BoolKey(truth) => self.constant_key(Constant::Bool(truth)),
            Act::NumberKey => self.place.lex = Lex::Number { start: self.text.len() - 1 },
            Act::TextKey => self.begin_text(true),
            Act::NextCase => {
                self.count_case();
                self.begin_text(true);
            }
            Act::Default => {
                self.pop();
                self.core.last_case();
                self.core.take_word(Word::Else);
                self.push(Around::Ends("}"));
                self.goes_on(Next::Value);
            }
            Act::Comma => {
                match self.around() {
                    Some(Around::Operands(left)) => self.replace(Around::Operands(left.saturating_sub(1))),
                    Some(Around::List(count)) => self.replace(Around::List(count + 1)),
                    _ => {}
                }
                self.goes_on(Next::Value);
            }
            Act::Colon => self.goes_on(Next::Value),
            _ => {
                self.pop();
                self.after();
            }
        }
    }

    fn count_case(&mut self) {
        if let Some(Around::Cases { count, pairs }) = self.around() {
            self.replace(Around::Cases { count: count + 1, pairs });
        }
    }

    fn constant_key(&mut self, key: Constant<'_>) {
        self.core.take_constant(key);
        self.goes_on(Next::Colon);
    }

    /// The most fields that the open MERGE may set.
    pub(super) fn most_changes(&self) -> u32 {
        let want = self.core.frame().map_or(crate::automaton::want::ANY, |frame| frame.want);
        self.core.record_counts(want, 0).map_or(0, |counts| counts.1)
    }

    fn open_fields(&mut self, end: &'static str) {
        let most = self.core.pair_counts().map_or(0, |counts| counts.1);
        self.core.take_integer(most + 1);
        self.push(Around::Fields { count: 0, most, end });
        self.goes_on(Next::Key);
    }
}
