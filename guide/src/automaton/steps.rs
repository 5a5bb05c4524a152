//! Steps of the automaton within a statement. Each takes one token that may come next.

use crate::automaton::flow::bit;
use crate::automaton::keys::{self, key_of};
use crate::automaton::offers::{self, BOOL, NIL, is_field_or_name, type_of};
use crate::automaton::session::Callee;
use crate::automaton::state::{Block, Core, Frame, NONE, Phase, SLOTS, Stmt, entry};
use crate::automaton::want::{ANY, Want, empty_list, field, no_case};
use crate::automaton::{arms, blocks, operands};
use ilo_asm::ast::Literal;
use ilo_asm::check::{Gives, Part, ValueInfo};
use ilo_asm::rules;
use ilo_asm::types::Inferred;
use ilo_spec::node::Word;
use ilo_spec::number;
use ilo_spec::pure::Pure;

impl<'c> Core<'c> {
    /// Makes an operand the next token.
    pub(crate) fn operand(&mut self, want: u32, behind: bool) {
        self.state.phase = Phase::Operand;
        self.state.want = want;
        self.state.behind = behind;
    }

    /// Takes a word that does not begin a line.
    pub(crate) fn take_word(&mut self, word: Word) {
        match self.state.phase {
            Phase::MergeMore => {
                self.end_open();
                return self.take_word(word);
            }
            Phase::Bound if matches!(word, Word::If | Word::For | Word::Match | Word::Try) => {
                self.state.bound = Some(self.state.slot);
                return blocks::control(self, word);
            }
            Phase::CaseKey => return self.case_value(),
            _ => {}
        }
        self.open(word);
    }

    /// Begins an expression.
    fn open(&mut self, word: Word) {
        let frame = Frame {
            word,
            parent: self.state.frame,
            want: self.state.want,
            depth: offers::depth(self),
            behind: self.state.behind,
            index: 0,
            left: 0,
            counted: false,
            first: NONE,
            others: NONE,
            number: NONE,
            given: NONE,
            arm: None,
        };
        self.set_frame(frame);
        match word {
            Word::Ref => self.state.phase = Phase::RefSlot,
            Word::Lit => self.state.phase = Phase::LitKind,
            Word::Call => self.state.phase = Phase::Tool,
            Word::Obj => self.state.phase = Phase::PairCount,
            Word::List => self.state.phase = Phase::ItemCount,
            Word::Merge => {
                let record = Want::Demand(rules::operand(Word::Merge, 0, None));
                self.state.want = self.arena.add_want(record);
                self.state.behind = true;
                self.state.phase = Phase::MergeStart;
            }
            Word::MatchMap => self.operand(ANY, true),
            Word::Field => {
                self.state.phase = Phase::Path;
                self.state.want = self.arena.add_want(Want::FieldOf(frame.want));
                self.state.behind = true;
            }
            _ => {
                let want = offers::first_want(self, word, frame.want);
                let behind = Self::behind(&frame);
                self.operand(want, behind);
            }
        }
    }

    /// Whether an integer may follow the next operand of a word.
    fn behind(frame: &Frame) -> bool {
        let next = usize::from(frame.index) + 1;
        if next >= frame.word.row().operands.len() {
            frame.behind
        } else {
            is_field_or_name(frame.word, next)
        }
    }

    /// Takes an integer.
    pub(crate) fn take_integer(&mut self, number: u32) {
        let slot = u8::try_from(number).unwrap_or(u8::MAX);
        if offers::is_count(self) {
            self.state.counted = self.state.counted.saturating_add(number);
        }
        match self.state.phase {
            Phase::Slot => self.take_slot(slot),
            Phase::MatchCount => blocks::open_match(self, number == 2),
            Phase::BlockCount => blocks::open_block(self, number),
            Phase::LitKind => self.state.phase = Phase::LitValue(u8::try_from(number).unwrap_or(NIL)),
            _ => self.take_operand_integer(number, slot),
        }
    }

    /// Takes the slot of the statement.
    fn take_slot(&mut self, slot: u8) {
        self.state.slot = slot;
        match self.state.stmt {
            Stmt::Opens(Word::For) => {
                let list = self.arena.add_want(Want::Demand(rules::operand(Word::For, 0, None)));
                self.operand(list, true);
            }
            Stmt::Opens(Word::Match) => self.state.phase = Phase::MatchCount,
            Stmt::Opens(_) => self.state.phase = Phase::BlockCount,
            _ => {
                // New slots in its value have other numbers.
                self.state.next = self.state.next.max(slot.saturating_add(1).min(SLOTS));
                self.operand(ANY, false);
                self.state.phase = Phase::Bound;
            }
        }
    }

    fn take_operand_integer(&mut self, number: u32, slot: u8) {
        let Some(frame) = self.frame() else { return };
        if self.state.phase.is_field() {
            self.state.fields = self.push_list(self.state.fields, number.into());
        }
        match self.state.phase {
            Phase::RefSlot => {
                self.read(slot);
                let known = self.arena.value(self.now().value(slot));
                self.close_frame(known);
            }
            Phase::Path => {
                self.read(slot);
                let first = self.now().value(slot);
                self.set_frame(Frame { first, ..frame });
                self.state.phase = Phase::PathField;
            }
            Phase::PathField => {
                let name = self.session.field(number).unwrap_or_default();
                self.close_frame(field(self.arena.value(frame.first), name));
            }
            Phase::FieldOrName => {
                if let Some(whole) = self.given(frame, ValueInfo::held(Inferred::TEXT)) {
                    self.close_frame(whole);
                }
            }
            Phase::Tool => {
                self.state.tools = self.push_list(self.state.tools, number.into());
                if frame.parent == NONE {
                    self.state.callee = number;
                    if self.state.stmt == Stmt::Mark(Word::Rollback) {
                        self.state.registered = self.push_list(self.state.registered, number.into());
                    }
                }
                self.set_frame(Frame { number, ..frame });
                self.state.phase = Phase::PairCount;
            }
            Phase::PairField | Phase::MergeMore => {
                let want = operands::pair_want(self, &frame, number).unwrap_or(Want::Any);
                let want = self.arena.add_want(want);
                let given = self.push_list(frame.given, number.into());
                let left = frame.left.saturating_sub(1);
                self.set_frame(Frame { left, given, ..frame });
                self.operand(want, if frame.counted && left == 0 { frame.behind } else { true });
            }
            phase => {
                let frame = Frame { left: number, counted: true, ..frame };
                if phase == Phase::MergeStart {
                    self.set_frame(frame);
                    self.state.phase = Phase::Operand;
                } else if let Some(whole) = self.next_part(frame) {
                    self.close_frame(whole);
                }
            }
        }
    }

    /// Takes a constant.
    pub(crate) fn take_constant(&mut self, constant: Literal<'_>) {
        let Some(frame) = self.frame() else { return };
        if self.state.phase == Phase::CaseKey {
            let given = self.push_list(frame.given, key_of(constant));
            self.set_frame(Frame { given, ..frame });
            return self.case_value();
        }
        arms::select(self, constant);
        let parent = entry(&self.frames, frame.parent);
        let known = match (constant, parent.filter(|it| it.word == Word::At && it.index == 1)) {
            // AT with a literal text reads like FIELD.
            (Literal::Text(text), Some(at)) => {
                let known = field(self.arena.value(at.first), text);
                self.state.frame = frame.parent;
                known
            }
            _ => type_of(constant.kind()),
        };
        self.close_frame(known);
    }

    /// A written number, if it may come next.
    pub(crate) fn number(&self, written: &[u8]) -> Option<Literal<'static>> {
        let number = core::str::from_utf8(written).ok().and_then(|text| number::parse(text).ok());
        number.map(Literal::Number).filter(|&number| self.takes_constant(number))
    }

    /// Completes the innermost expression. Expressions that this completes in turn are handled in a loop.
    fn close_frame(&mut self, mut known: ValueInfo<'c>) {
        while let Some(frame) = self.frame() {
            self.state.frame = frame.parent;
            let Some(around) = self.frame() else {
                self.state.top = Some(frame.word);
                return self.end_value(known);
            };
            let Some(whole) = self.given(around, known) else { return };
            known = whole;
        }
    }

    /// Takes an operand. Returns the value of the whole expression if it is the last one.
    fn given(&mut self, frame: Frame, known: ValueInfo<'c>) -> Option<ValueInfo<'c>> {
        let value = self.arena.add_value(known);
        match frame.word {
            Word::MatchMap if frame.index == 0 => {
                self.set_frame(Frame { index: 1, first: value, ..frame });
                self.state.phase = Phase::CaseCount;
                None
            }
            Word::List | Word::MatchMap => {
                let others = self.arena.either(frame.others, value);
                self.next_part(Frame { left: frame.left.saturating_sub(1), others, ..frame })
            }
            Word::Obj | Word::Call | Word::Merge => self.next_part(frame),
            Word::Field => {
                self.set_frame(Frame { first: value, ..frame });
                self.state.phase = Phase::PathField;
                None
            }
            _ => self.next_operand(frame, value),
        }
    }

    /// Takes an operand of a word with a fixed number of them.
    fn next_operand(&mut self, frame: Frame, value: u32) -> Option<ValueInfo<'c>> {
        let mut frame = frame;
        if frame.index == 0 {
            frame.first = value;
        } else if frame.index == 1 {
            frame.others = value;
        }
        frame.index += 1;
        self.set_frame(frame);
        let operands = frame.word.row().operands.len();
        if usize::from(frame.index) >= operands {
            return Some(self.applied(&frame));
        }
        let want = offers::next_want(self, &frame);
        let behind = Self::behind(&frame);
        self.operand(want, behind);
        if is_field_or_name(frame.word, frame.index.into()) {
            self.state.phase = Phase::FieldOrName;
        }
        None
    }

    /// The type of a word's value, from its operands.
    fn applied(&self, frame: &Frame) -> ValueInfo<'c> {
        let first = self.arena.value(frame.first);
        let second = (frame.others != NONE).then(|| self.arena.value(frame.others));
        let word = frame.word;
        if let Some(function) = word.row().pure {
            let keeps = rules::keeps_list(function) && first.ty.lists > 0;
            let ty = rules::gives(word, Some(first.ty), None).unwrap_or(Inferred::ANY);
            return match function {
                _ if keeps => ValueInfo { ty, ..first },
                Pure::Find => ValueInfo::held(ty).with_part(first.part.item()),
                _ => ValueInfo::held(ty),
            };
        }
        if word == Word::At {
            return first.item();
        }
        let ty = rules::gives(word, Some(first.ty), second.map(|it| it.ty)).unwrap_or(Inferred::ANY);
        ValueInfo::held(ty).with_part(match (word, second) {
            (Word::Append, Some(second)) => first.part.join(second.part.list()),
            (Word::Add | Word::Concat, Some(second)) if ty.lists > 0 => first.part.join(second.part),
            _ => Part::Unknown,
        })
    }

    /// The value of a list, a record, cases or a call that has all its parts.
    fn whole(&self, frame: &Frame) -> ValueInfo<'c> {
        match frame.word {
            Word::List if frame.others == NONE => empty_list(),
            Word::List => self.arena.value(frame.others).listed(),
            Word::MatchMap if frame.others == NONE => no_case(),
            Word::MatchMap => self.arena.value(frame.others),
            Word::Call => {
                let tool = self.session.tools.get(frame.number as usize);
                tool.map_or(ValueInfo::ANY, |tool| tool.output)
            }
            _ => ValueInfo::held(Inferred::RECORD),
        }
    }

    /// Goes on to the next pair, item or case. After the last one it returns the value of the whole.
    fn next_part(&mut self, frame: Frame) -> Option<ValueInfo<'c>> {
        self.set_frame(frame);
        match frame.word {
            _ if frame.counted && frame.left == 0 => return Some(self.whole(&frame)),
            Word::List => {
                let want = self.arena.item_want(frame.want);
                let want = self.arena.add_want(want);
                self.operand(want, frame.left == 1 && frame.behind);
            }
            Word::MatchMap => self.state.phase = Phase::CaseKey,
            _ => self.state.phase = if frame.counted { Phase::PairField } else { Phase::MergeMore },
        }
        None
    }

    fn case_value(&mut self) {
        let Some(frame) = self.frame() else { return };
        // A key that is a number may follow.
        self.operand(frame.want, frame.left > 1 || frame.behind);
    }

    /// Ends a list, a record, cases or the arguments of a call, also with an open count, which is larger than
    /// the number of parts.
    pub(crate) fn end_open(&mut self) {
        if let Some(frame) = self.frame() {
            self.close_frame(self.whole(&frame));
        }
    }

    /// Makes the next case of an open count the last one.
    pub(crate) fn last_case(&mut self) {
        if let Some(frame) = self.frame() {
            self.set_frame(Frame { left: 1, ..frame });
        }
    }

    /// Completes the value of a statement.
    fn end_value(&mut self, known: ValueInfo<'c>) {
        let value = self.arena.add_value(known);
        match self.state.stmt {
            Stmt::Let => self.end_let(value),
            Stmt::Value => blocks::end_statement_value(self, value),
            Stmt::Exit(word) => {
                if matches!(word, Word::Ret | Word::RetOk) {
                    self.leave();
                }
                blocks::end_statement(self, Gives::NEVER, NONE);
            }
            Stmt::Opens(word) => {
                if word == Word::For {
                    self.state.want = self.arena.add_value(known.item());
                }
                self.state.phase = Phase::BlockCount;
            }
            Stmt::Yield => blocks::end_yield(self, value),
            Stmt::Mark(_) => blocks::end_statement(self, Gives::nothing(()), NONE),
        }
    }

    /// Whether the statement's value is an attempt whose failure a MATCH can take; its failure.
    fn attempt(&self) -> Option<ValueInfo<'c>> {
        if self.state.top == Some(Word::Call) {
            let callee = self.session.tools.get(self.state.callee as usize).and_then(|it| it.callee.as_ref());
            return Some(match callee {
                Some(Callee::Function { err: Some(err), .. }) => ValueInfo::declared(*err),
                _ => ValueInfo::ANY,
            });
        }
        let fails =
            self.state.top.and_then(|top| top.row().pure).is_some_and(|function| function.row().fails);
        fails.then_some(ValueInfo::held(Inferred::TEXT))
    }

    fn end_let(&mut self, value: u32) {
        let calls = match self.attempt() {
            Some(failure) => {
                let call = bit(self.state.calls);
                self.state.calls += 1;
                self.failures.push(failure);
                call
            }
            None => 0,
        };
        self.bind(self.state.slot, value, calls);
        blocks::end_statement(self, Gives::nothing(()), NONE);
        self.demand_rollback();
    }

    /// Records a call of a tool that must have a ROLLBACK directly after it.
    pub(crate) fn demand_rollback(&mut self) {
        let tool = self.session.tools.get(self.state.callee as usize);
        if self.state.top == Some(Word::Call) && tool.is_some_and(|tool| tool.rollback) {
            let block = self.block();
            self.set_block(Block { rollback: true, ..block });
        }
    }

    /// The kinds of constants that may come next, as bits.
    pub(crate) fn constants(&self) -> u8 {
        match self.state.phase {
            Phase::LitValue(kind) => 1 << kind.min(BOOL),
            Phase::CaseKey => keys::key_kinds(self),
            _ => 0,
        }
    }

    /// Whether a constant may come next.
    pub(crate) fn takes_constant(&self, constant: Literal<'_>) -> bool {
        self.takes_kind(constant.kind()) && keys::fits(self, constant)
    }

    /// Whether some constants of a kind may come next.
    pub(crate) fn takes_kind(&self, kind: u8) -> bool {
        self.constants() >> kind & 1 == 1
    }
}
