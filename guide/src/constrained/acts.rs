//! The effects of choices: the nodes that each makes, and what follows it.

use super::choice::Act;
use super::machine::{Around, Binds, JsonMachine, Lex, Next, Owner, Quote};
use super::paths::Path;
use super::texts::PLAIN;
use super::{handlers, loops, names, parts};
use crate::automaton::offers::{self, NUMBER, TEXT, Words};
use crate::automaton::state::{Block, ITEMS, Phase};
use crate::automaton::texts::Inside;
use crate::automaton::{blocks, ends, keys, operands};
use ilo_asm::ast::Literal;
use ilo_spec::node::Word;
use std::sync::Arc;

impl JsonMachine<'_> {
    /// Applies a choice; `false` is a defect, and refuses the choice.
    pub(super) fn take(&mut self, act: Act) -> bool {
        match act {
            // Steps.
            Act::Step(word, end) => self.begin_step(word, end),
            Act::Let => {
                self.statement(Word::Let);
                self.push(Around::Step);
                self.begin_name(Binds::Let);
            }
            Act::Expr => {
                self.place.opens_step = true;
                self.push(Around::Step);
                self.opens(Around::Computed, Next::Value);
            }
            Act::Call => {
                self.statement(Word::Call);
                self.push(Around::Step);
                self.opens(Around::Ends("}"), Next::Tool);
            }
            Act::If => {
                self.control(Word::If);
                self.opens(Around::If, Next::Value);
            }
            Act::For => {
                self.control(Word::For);
                self.begin_name(Binds::Item);
            }
            Act::Try => {
                self.control(Word::Try);
                self.open_block(Owner::Try, self.place.names.len());
            }
            Act::While => loops::begin_while(self),
            Act::Until => loops::begin_until(self),
            Act::Exit(word) => {
                self.statement(word);
                self.behind();
            }
            Act::Match(slot) => {
                self.statement(Word::Match);
                self.core.take_integer(slot.into());
                self.goes_on(Next::Match);
            }
            Act::Goes(next) => self.goes_on(next),
            Act::EndStep => {
                let settled = ends::settle(&mut self.core);
                self.behind();
                return settled;
            }
            Act::EndBody => {
                self.goes_on(Next::End);
                return blocks::end(&mut self.core);
            }
            // Parts of steps.
            Act::BoundExpr => self.opens(Around::Computed, Next::Value),
            Act::BoundCall => {
                self.push(Around::Call(self.core.state.slot));
                self.core.take_word(Word::Call);
                self.goes_on(Next::Tool);
            }
            Act::Push => loops::begin_push(self),
            Act::PushPart => parts::begin_push_part(self),
            Act::Index => {
                self.begin_block();
                self.statement(Word::Let);
                self.begin_name(Binds::Index);
            }
            Act::Where => return self.begin_where(),
            Act::Passes => return self.open_passes(),
            Act::Then => loops::begin_then(self),
            Act::Leave(word, end) => self.leave_by(word, end),
            Act::UntilWhat => loops::begin_condition(self),
            Act::EndUntil => return loops::end_until(self),
            Act::Failure => {
                self.core.take_integer(2);
                self.begin_name(Binds::Failure);
            }
            Act::Caught => self.begin_name(Binds::Failure),
            // Blocks.
            Act::Open(Owner::While) => return loops::open_while(self),
            Act::Open(kind) => self.open_kind(kind),
            Act::Else => {
                self.statement(Word::Else);
                self.open_block(Owner::Else, self.place.names.len());
            }
            Act::OnlySuccess => {
                self.core.take_integer(1);
                self.open_success();
            }
            Act::Success => self.open_success(),
            Act::NoSuccess => {
                let fits = self.leave_out_success();
                self.behind();
                return fits;
            }
            Act::EndBlock => return self.end_block(),
            // Handlers.
            Act::Handler => {
                handlers::begin_handler(self);
                self.begin_name(Binds::Failure);
            }
            Act::Way(word, end) => {
                handlers::begin_way(self, word);
                if let Some(Around::Handler { slot, names, .. }) = self.around() {
                    self.replace(Around::Handler { slot, names, end });
                }
                self.goes_on(Next::Value);
            }
            Act::Unnamed(word, end) => {
                handlers::begin_unnamed(self, word, end);
                if end.is_empty() {
                    // The value of `ignore`.
                    if word == Word::Let {
                        loops::given(self, Literal::Nil);
                    }
                    return self.end_handler();
                }
                self.goes_on(Next::Value);
            }
            Act::Message => {
                handlers::begin_unnamed(self, Word::RetErr, "}");
                let words = self.core.trial(offers::words);
                self.quote(words);
            }
            Act::OpenHandler => {
                self.open_block(Owner::Handler, self.place.names.len());
                // None of its steps is a value.
                let block = self.core.block();
                self.core.set_block(Block { goes: None, hard: true, ..block });
            }
            Act::Give => handlers::begin_giving(self),
            Act::EndHandler => return self.end_handler(),
            // Values.
            Act::Nil => self.constant(Literal::Nil),
            Act::Bool(truth) => self.constant(Literal::Bool(truth)),
            Act::Number => {
                self.literal(NUMBER);
                self.begin_number();
            }
            Act::Text => {
                self.literal(TEXT);
                self.push(Around::Ends("}"));
                self.begin_text();
            }
            Act::Listed(number) => {
                self.literal(TEXT);
                let Some(text) = keys::texts(&self.core).and_then(|mut all| all.nth(number)) else {
                    return false;
                };
                self.take_constant(Literal::Text(text));
            }
            Act::Quote => self.quote(self.place.choices.as_ref().map_or(0, |choices| choices.words)),
            // A text has no effect before it ends.
            Act::Ref(_) | Act::LastField(_) if matches!(self.place.next, Next::Hole | Next::HoleField) => {
                // What may follow the text depends on its references.
                self.walk.forget(0);
                self.place.lex = PLAIN;
            }
            Act::Ref(slot) => self.take_path(slot, &[]),
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
            Act::Begin(word) => self.begin(word),
            Act::Wrapped => self.opens(Around::Wrapped, Next::Value),
            Act::Empty(word) => {
                self.open(word);
                self.core.take_integer(0);
                self.after();
            }
            Act::Set => {
                self.replace(Around::Fields("}}"));
                self.goes_on(Next::Key);
            }
            Act::Tool(number) => {
                self.core.take_integer(number);
                self.goes_on(Next::Arguments);
            }
            Act::Arguments => self.open_fields("}"),
            Act::EndCall => {
                self.core.take_integer(0);
                self.end();
            }
            Act::Key(number) => {
                self.core.take_integer(number);
                // Ends behind another key differ, so the construct is another one.
                if let Some(fields) = self.around() {
                    self.replace(fields);
                }
                self.goes_on(Next::Value);
            }
            Act::Cases => {
                self.open_cases(false);
                self.begin_text();
            }
            Act::Pairs => {
                self.open_cases(true);
                self.goes_on(Next::CaseKey);
            }
            Act::NumberKey => self.begin_number(),
            Act::TextKey => self.begin_text(),
            Act::Default => {
                self.core.last_case();
                self.core.take_word(Word::Else);
                self.replace(Around::Ends("}"));
                self.goes_on(Next::Value);
            }
            Act::Comma => {
                if let Some(Around::Operands(left)) = self.around() {
                    self.replace(Around::Operands(left.saturating_sub(1)));
                }
                self.goes_on(Next::Value);
            }
            Act::EndParts => {
                self.core.end_open();
                self.end();
            }
            Act::End => self.end(),
        }
        true
    }

    /// Begins a statement of the innermost block.
    pub(super) fn statement(&mut self, word: Word) {
        let level = blocks::level(&self.core);
        blocks::begin_line(&mut self.core, level, word);
    }

    fn begin_step(&mut self, word: Word, end: &'static str) {
        self.statement(word);
        self.push(Around::Step);
        self.opens(Around::Ends(end), Next::Value);
        if matches!(word, Word::Undo | Word::Rollback) {
            self.core.take_word(Word::Call);
            self.opens(Around::Ends("}"), Next::Tool);
        }
    }

    /// Begins a step that ends with its last block, or the one that `let` binds.
    fn control(&mut self, word: Word) {
        if self.place.next == Next::Let {
            self.core.take_word(word);
            self.pop();
        } else {
            self.statement(word);
        }
    }

    /// Opens a construct, which goes on with this.
    pub(super) fn opens(&mut self, around: Around, next: Next) {
        self.push(around);
        self.goes_on(next);
    }

    /// Ends the innermost construct, which is a value.
    fn end(&mut self) {
        self.pop();
        self.after();
    }

    /// Begins an expression.
    pub(super) fn open(&mut self, word: Word) {
        if core::mem::take(&mut self.place.opens_step) {
            self.statement(word);
        } else {
            self.core.take_word(word);
        }
    }

    /// Begins an expression with parts, and what is around them.
    fn begin(&mut self, word: Word) {
        self.open(word);
        match word {
            Word::List => {
                self.core.take_integer(ITEMS + 1);
                self.opens(Around::List, Next::Item);
            }
            Word::Obj => self.open_fields("}}"),
            Word::Merge => {
                self.core.take_integer(offers::most_changes(&self.core) + 1);
                self.opens(Around::Merge, Next::Value);
            }
            Word::MatchMap => self.opens(Around::Subject, Next::Value),
            Word::Call => self.opens(Around::Ends("}"), Next::Tool),
            _ => {
                let operands = word.row().operands.len().saturating_sub(1);
                self.opens(Around::Operands(operands), Next::Value);
            }
        }
    }

    pub(super) fn literal(&mut self, kind: u8) {
        self.open(Word::Lit);
        self.core.take_integer(kind.into());
    }

    /// Takes the path of a slot and fields.
    pub(super) fn take_path(&mut self, slot: u8, fields: &[u32]) {
        if fields.is_empty() {
            self.open(Word::Ref);
        }
        fields.iter().for_each(|_| self.open(Word::Field));
        self.core.take_integer(slot.into());
        fields.iter().for_each(|&field| self.core.take_integer(field));
        self.after();
    }

    fn constant(&mut self, constant: Literal<'_>) {
        if self.core.state.phase != Phase::CaseKey {
            self.literal(constant.kind());
        }
        self.take_constant(constant);
    }

    /// Begins a text that may be a reference.
    fn quote(&mut self, words: Words) {
        self.place.quote = Quote { start: self.text.len() - 1, words, holes: None };
        self.place.lex = PLAIN;
    }

    fn begin_text(&mut self) {
        self.place.lex = Lex::Text { start: self.text.len() - 1, inside: Inside::Plain };
    }

    fn begin_name(&mut self, of: Binds) {
        self.place.lex = Lex::Name { start: self.text.len(), of };
    }

    fn begin_number(&mut self) {
        self.place.lex = Lex::Number { start: self.text.len() - 1 };
    }

    fn begin_where(&mut self) -> bool {
        let Some(Around::For(names)) = self.around() else { return false };
        if self.place.next != Next::Passes {
            self.begin_block();
        }
        self.statement(Word::If);
        self.replace(Around::Where(names));
        self.goes_on(Next::Value);
        true
    }

    fn open_passes(&mut self) -> bool {
        let names = match self.pop() {
            Some(Around::Where(names)) => {
                self.leave_out();
                names
            }
            Some(Around::For(names)) => names,
            _ => return false,
        };
        self.core.state.phase = Phase::Line;
        self.opens(Around::Block { kind: Owner::Pass, names }, Next::First);
        true
    }

    fn leave_by(&mut self, word: Word, end: &'static str) {
        self.replace(Around::Leaving);
        self.begin_block();
        self.statement(word);
        if matches!(word, Word::Break | Word::Skip) {
            return self.end_leaving();
        }
        if !end.is_empty() {
            self.push(Around::Ends(end));
        }
        self.goes_on(Next::Value);
    }

    fn open_kind(&mut self, kind: Owner) {
        let names = match (kind, self.place.next, self.around()) {
            (Owner::Failure | Owner::Caught, Next::Arm(names), _)
            | (Owner::Pass, _, Some(Around::For(names))) => names,
            _ => self.place.names.len(),
        };
        if matches!(kind, Owner::Pass | Owner::Then) {
            self.pop();
        }
        self.open_block(kind, names);
    }

    fn open_success(&mut self) {
        let slot = self.core.block().slot;
        self.statement(Word::Ok);
        self.core.take_integer(slot.into());
        self.open_block(Owner::Success, self.place.names.len());
    }

    fn end_block(&mut self) -> bool {
        let Some(Around::Block { kind, names }) = self.pop() else { return false };
        match kind {
            Owner::Pass | Owner::While => names::end_loop_names(self, names),
            // Names that the steps bind may be read after them.
            Owner::Failure | Owner::Caught => self.end_name_at(names),
            _ => {}
        }
        let ended = self.close_block(kind);
        self.goes_on(Next::Block(kind));
        ended
    }

    /// Ends the innermost block, apart from its names; `false` if it may not end.
    pub(super) fn close_block(&mut self, kind: Owner) -> bool {
        let up = match kind {
            Owner::While => return loops::end_passes(self),
            Owner::Until => return loops::end_any_until(self),
            Owner::Behind => return ends::settle(&mut self.core),
            Owner::Success | Owner::Handler => 2,
            Owner::Then | Owner::Else | Owner::Pass | Owner::Failure | Owner::Try | Owner::Caught => 1,
        };
        let level = blocks::level(&self.core);
        blocks::up_to(&mut self.core, level.saturating_sub(up))
    }

    fn end_handler(&mut self) -> bool {
        let names = loop {
            match self.pop() {
                Some(Around::Handler { names, .. }) => break names,
                // Its steps, and the value that they give.
                Some(_) => {}
                None => return false,
            }
        };
        self.end_name_at(names);
        let ended = self.close_block(Owner::Handler);
        self.after();
        ended
    }

    fn end_name_at(&mut self, at: usize) {
        if let Some(named) = Arc::make_mut(&mut self.place.names).get_mut(at) {
            named.live = false;
        }
    }

    fn open_block(&mut self, kind: Owner, names: usize) {
        self.begin_block();
        self.opens(Around::Block { kind, names }, Next::First);
    }

    /// Completes MATCH with an arm for success that only binds the name again.
    pub(super) fn leave_out_success(&mut self) -> bool {
        let level = blocks::level(&self.core);
        let slot = self.core.block().slot;
        self.statement(Word::Ok);
        self.core.take_integer(slot.into());
        self.begin_block();
        blocks::up_to(&mut self.core, level.saturating_sub(1)) && ends::settle(&mut self.core)
    }

    /// Begins the block of an unfinished header.
    pub(super) fn begin_block(&mut self) {
        // It may have no steps.
        self.core.take_integer(0);
        self.core.state.phase = Phase::Line;
    }

    /// Ends the passes for which the condition does not hold: IF with SKIP in its ELSE.
    fn leave_out(&mut self) {
        let level = blocks::level(&self.core);
        self.begin_block();
        blocks::up_to(&mut self.core, level);
        blocks::begin_line(&mut self.core, level, Word::Else);
        self.begin_block();
        blocks::begin_line(&mut self.core, level + 1, Word::Skip);
        self.core.state.phase = Phase::Line;
        blocks::up_to(&mut self.core, level);
        ends::settle(&mut self.core);
    }

    fn open_cases(&mut self, pairs: bool) {
        self.core.take_integer(ITEMS + 1);
        self.replace(Around::Cases { pairs });
    }

    fn open_fields(&mut self, end: &'static str) {
        let most = operands::pair_counts(&self.core).map_or(0, |counts| counts.1);
        self.core.take_integer(most + 1);
        self.opens(Around::Fields(end), Next::Key);
    }
}
