//! Known ends: the nodes that end a program from any state, one by one. An [`Out`] decides what happens to
//! them: they are written, or only their lengths are summed.

use crate::automaton::formats;
use crate::automaton::offers::{BOOL, NIL, NUMBER, TEXT, one};
use crate::automaton::state::{Core, LINES, LOOPS, NONE, Phase, SLOTS, Stmt};
use crate::automaton::want::ANY;
use ilo_asm::ast::Literal;
use ilo_asm::check::Part;
use ilo_asm::types::Inferred;
use ilo_spec::node::{TABLE, Word};
use ilo_spec::number;
use std::borrow::Cow;

/// Receives the parts of an end, each with what separates it from the one before. Returns whether there is
/// room for more.
pub(crate) type Out<'o> = dyn FnMut(&[u8]) -> bool + 'o;

/// The texts that are tried as keys: more than a MATCH_MAP has cases.
fn keys() -> impl Iterator<Item = &'static str> {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
    (0..3).flat_map(|length| (0..LETTERS.len()).filter_map(move |at| LETTERS.get(at..at + length)))
}

/// The parts of the state that an end depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EndKey {
    level: u8,
    phase: Phase,
    depth: Option<u8>,
    /// Values: earlier ones by number, of others only the type counts.
    first: (u32, Inferred),
    others: (u32, Inferred),
    arm: Option<u32>,
    ends: [bool; 5],
    /// The slots and calls, and what the open loops hold.
    next: (u8, u8),
    calls: [u64; 3],
    loops: [(u8, u64, u64); LOOPS as usize],
}

/// A node within a line.
pub(crate) enum Node<'c> {
    Word(Word),
    Integer(u32),
    Constant(Literal<'c>),
}

impl Node<'_> {
    /// The node as it is written.
    pub(crate) fn text(&self) -> Cow<'static, str> {
        match self {
            Node::Word(word) => word.mnemonic().into(),
            Node::Integer(number) => number.to_string().into(),
            Node::Constant(constant) => constant.written().into(),
        }
    }
}

impl<'c> Core<'c> {
    /// Writes the next node of an end. Returns whether the end was found, when that is known.
    pub(crate) fn close_step(&mut self, out: &mut Out<'_>) -> Option<bool> {
        let goes_on = match self.state.phase {
            Phase::MergeMore => {
                self.end_open();
                true
            }
            Phase::End | Phase::Line => {
                if self.trial(Core::end) {
                    return Some(true);
                }
                let Some((level, word)) = self.ending_line(0) else { return Some(false) };
                self.begin_line(level, word);
                out(format!("\n{:1$}{2}", "", usize::from(2 * level), word.mnemonic()).as_bytes())
            }
            _ => match self.ending_node() {
                Some(node) => {
                    match node {
                        Node::Word(word) => self.take_word(word),
                        Node::Integer(number) => self.take_integer(number),
                        Node::Constant(constant) => self.take_constant(constant),
                    }
                    out([" ", &node.text()].concat().as_bytes())
                }
                None => false,
            },
        };
        (!goes_on).then_some(false)
    }

    /// The parts of the state that an end depends on, if everything that existed when `values` were known
    /// stays the same: the frames and blocks except the innermost, and the slots. `None` if it depends on
    /// schemas.
    pub(crate) fn end_key(&self, values: usize) -> Option<EndKey> {
        let known = |value: u32| {
            if value as usize <= values {
                return Some((value, Inferred::ANY));
            }
            let known = self.arena.value(value);
            // Of the items of a list, only closed records matter: FIND and others name their fields.
            let is_shaped = matches!(known.part, Part::Of { lists, .. } if lists == 0 || self.session.closed);
            (!is_shaped).then_some((u32::MAX, known.ty))
        };
        let block = self.block();
        let frame = self.frame();
        let (first, others) = frame.map_or((block.last.value, NONE), |frame| (frame.first, frame.others));
        let last = block.last;
        let ends = [last.gives.value, last.gives.lack.is_some(), last.sealed, block.rollback, last.binds];
        let loops = self.state.loops.map(|of| {
            let flags = [of.broken != NONE, of.skipped != NONE, of.yields, of.valued, of.until];
            (flags.iter().fold(0, |all, &flag| all << 1 | u8::from(flag)), of.read_first, of.unset_in)
        });
        Some(EndKey {
            next: (self.state.next, self.state.calls),
            calls: [self.now().held(), self.state.plain, self.state.checked],
            loops,
            level: block.level,
            phase: self.state.phase,
            depth: frame.map(|frame| frame.depth),
            first: known(first)?,
            others: known(others)?,
            arm: frame.and_then(|frame| frame.arm),
            ends,
        })
    }

    /// The line that leads to an end soonest, at this level or deeper.
    pub(crate) fn ending_line(&mut self, first: u8) -> Option<(u8, Word)> {
        let last = self.level().min(LINES - 1);
        (first..=last).find_map(|level| self.ending_word(level).map(|word| (level, word)))
    }

    /// The word of a line of a level that leads to an end soonest.
    pub(crate) fn ending_word(&mut self, level: u8) -> Option<Word> {
        if self.trial(|core| core.up_to(level) && core.settle() && core.may_fail()) {
            return Some(Word::Fail);
        }
        let words = self.line_words(level);
        if words == 0 {
            return None;
        }
        let owes = self.trial(|core| core.up_to(level) && core.owes());
        let order: &[Word] = if owes {
            &[Word::Ok, Word::Match, Word::Else]
        } else {
            &[Word::Ok, Word::List, Word::Obj, Word::Lit, Word::Rollback, Word::Else]
        };
        let found = order.iter().find(|&&word| words & one(word) != 0).copied();
        found.or_else(|| TABLE.iter().find(|row| words & one(row.word) != 0).map(|row| row.word))
    }

    /// The first word of the constant that may be the next operand.
    pub(crate) fn constant_word(&self) -> Option<Word> {
        let want = match self.state.phase {
            Phase::Bound => ANY,
            Phase::Operand | Phase::FieldOrName => self.state.want,
            _ => return None,
        };
        self.arena.plain(self.session, self.arena.want(want))
    }

    /// The next node of an end within a line.
    pub(crate) fn ending_node(&mut self) -> Option<Node<'c>> {
        match self.state.phase {
            Phase::LitValue(_) => return self.ending_constant().map(Node::Constant),
            Phase::CaseKey => {
                if let Some(key) = self.ending_constant() {
                    return Some(Node::Constant(key));
                }
            }
            Phase::LitKind => {
                let want = self.frame().map_or(ANY, |frame| frame.want);
                let kind = [NIL, BOOL, NUMBER, TEXT].into_iter().find(|&kind| self.is_kind(kind, want));
                return kind.map(|kind| Node::Integer(kind.into()));
            }
            Phase::PairCount => return self.pair_counts().map(|counts| Node::Integer(counts.0)),
            Phase::Slot if self.state.stmt == Stmt::Opens(Word::Match) => {
                let owed =
                    |slot: &u8| self.matchable(*slot) && self.now().calls(*slot) & self.state.checked != 0;
                if let Some(slot) = (0..SLOTS).find(owed) {
                    return Some(Node::Integer(slot.into()));
                }
            }
            _ => {
                if let Some(word) = self.constant_word() {
                    return Some(Node::Word(word));
                }
            }
        }
        let integers = self.integers();
        if let Some(number) = self.least(integers) {
            return Some(Node::Integer(number));
        }
        let words = self.trial(Core::words);
        // AT is behind FIELD.
        TABLE.iter().rev().find(|row| words & one(row.word) != 0).map(|row| Node::Word(row.word))
    }

    fn ending_constant(&self) -> Option<Literal<'c>> {
        let words = [Literal::Nil, Literal::Bool(true), Literal::Bool(false)];
        if let Some(word) = words.into_iter().find(|&word| self.takes_constant(word)) {
            return Some(word);
        }
        if self.takes_kind(NUMBER) {
            return number::parse(&self.first_number(b"")?).ok().map(Literal::Number);
        }
        if !self.takes_kind(TEXT) {
            return None;
        }
        let text = match (self.texts(), self.format()) {
            (Some(mut texts), _) => texts.next()?,
            (None, Some(format)) => formats::example(format),
            (None, None) => keys().find(|text| self.fits(Literal::Text(text)))?,
        };
        Some(Literal::Text(text))
    }
}
