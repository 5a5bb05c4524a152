//! Known ends: the nodes that end a program from any state, one by one. An [`Out`] decides what happens to
//! them: they are written, or only their lengths are summed.

use crate::automaton::formats;
use crate::automaton::offers::{self, BOOL, NIL, NUMBER, TEXT, one};
use crate::automaton::state::{Core, LINES, LOOPS, NONE, Phase, SLOTS, Stmt};
use crate::automaton::want::ANY;
use crate::automaton::{blocks, ends, integers, keys, operands};
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
pub(crate) enum LineNode<'c> {
    Word(Word),
    Integer(u32),
    Constant(Literal<'c>),
}

impl LineNode<'_> {
    /// The node as it is written.
    pub(crate) fn text(&self) -> Cow<'static, str> {
        match self {
            LineNode::Word(word) => word.mnemonic().into(),
            LineNode::Integer(number) => number.to_string().into(),
            LineNode::Constant(constant) => constant.written().into(),
        }
    }
}

/// Writes the next node of an end. Returns whether the end was found, when that is known.
pub(crate) fn close_step(core: &mut Core<'_>, out: &mut Out<'_>) -> Option<bool> {
    let goes_on = match core.state.phase {
        Phase::MergeMore => {
            core.end_open();
            true
        }
        Phase::End | Phase::Line => {
            if core.trial(blocks::end) {
                return Some(true);
            }
            let Some((level, word)) = ending_line(core, 0) else { return Some(false) };
            blocks::begin_line(core, level, word);
            out(format!("\n{:1$}{2}", "", usize::from(2 * level), word.mnemonic()).as_bytes())
        }
        _ => match ending_node(core) {
            Some(node) => {
                match node {
                    LineNode::Word(word) => core.take_word(word),
                    LineNode::Integer(number) => core.take_integer(number),
                    LineNode::Constant(constant) => core.take_constant(constant),
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
pub(crate) fn end_key(core: &Core<'_>, values: usize) -> Option<EndKey> {
    let known = |value: u32| {
        if value as usize <= values {
            return Some((value, Inferred::ANY));
        }
        let known = core.arena.value(value);
        // Of the items of a list, only closed records matter: FIND and others name their fields.
        let is_shaped = matches!(known.part, Part::Of { lists, .. } if lists == 0 || core.session.closed);
        (!is_shaped).then_some((u32::MAX, known.ty))
    };
    let block = core.block();
    let frame = core.frame();
    let (first, others) = frame.map_or((block.last.value, NONE), |frame| (frame.first, frame.others));
    let last = block.last;
    let ends = [last.gives.value, last.gives.lack.is_some(), last.sealed, block.rollback, last.binds];
    let loops = core.state.loops.map(|of| {
        let flags = [of.broken != NONE, of.skipped != NONE, of.yields, of.valued, of.until];
        (flags.iter().fold(0, |all, &flag| all << 1 | u8::from(flag)), of.read_first, of.unset_in)
    });
    Some(EndKey {
        next: (core.state.next, core.state.calls),
        calls: [core.now().held(), core.state.plain, core.state.checked],
        loops,
        level: block.level,
        phase: core.state.phase,
        depth: frame.map(|frame| frame.depth),
        first: known(first)?,
        others: known(others)?,
        arm: frame.and_then(|frame| frame.arm),
        ends,
    })
}

/// The line that leads to an end soonest, at this level or deeper.
pub(crate) fn ending_line(core: &mut Core<'_>, first: u8) -> Option<(u8, Word)> {
    let last = blocks::level(core).min(LINES - 1);
    (first..=last).find_map(|level| ending_word(core, level).map(|word| (level, word)))
}

/// The word of a line of a level that leads to an end soonest.
pub(crate) fn ending_word(core: &mut Core<'_>, level: u8) -> Option<Word> {
    if core.trial(|core| blocks::up_to(core, level) && ends::settle(core) && blocks::may_fail(core)) {
        return Some(Word::Fail);
    }
    let words = blocks::line_words(core, level);
    if words == 0 {
        return None;
    }
    let owes = core.trial(|core| blocks::up_to(core, level) && core.owes());
    let order: &[Word] = if owes {
        &[Word::Ok, Word::Match, Word::Else]
    } else {
        &[Word::Ok, Word::List, Word::Obj, Word::Lit, Word::Rollback, Word::Else]
    };
    let found = order.iter().find(|&&word| words & one(word) != 0).copied();
    found.or_else(|| TABLE.iter().find(|row| words & one(row.word) != 0).map(|row| row.word))
}

/// The first word of the constant that may be the next operand.
pub(crate) fn constant_word(core: &Core<'_>) -> Option<Word> {
    let want = match core.state.phase {
        Phase::Bound => ANY,
        Phase::Operand | Phase::FieldOrName => core.state.want,
        _ => return None,
    };
    core.arena.plain(core.session, core.arena.want(want))
}

/// The next node of an end within a line.
pub(crate) fn ending_node<'c>(core: &mut Core<'c>) -> Option<LineNode<'c>> {
    match core.state.phase {
        Phase::LitValue(_) => return ending_constant(core).map(LineNode::Constant),
        Phase::CaseKey => {
            if let Some(key) = ending_constant(core) {
                return Some(LineNode::Constant(key));
            }
        }
        Phase::LitKind => {
            let want = core.frame().map_or(ANY, |frame| frame.want);
            let kind = [NIL, BOOL, NUMBER, TEXT].into_iter().find(|&kind| offers::is_kind(core, kind, want));
            return kind.map(|kind| LineNode::Integer(kind.into()));
        }
        Phase::PairCount => return operands::pair_counts(core).map(|counts| LineNode::Integer(counts.0)),
        Phase::Slot if core.state.stmt == Stmt::Opens(Word::Match) => {
            let owed = |slot: &u8| core.matchable(*slot) && core.now().calls(*slot) & core.state.checked != 0;
            if let Some(slot) = (0..SLOTS).find(owed) {
                return Some(LineNode::Integer(slot.into()));
            }
        }
        _ => {
            if let Some(word) = constant_word(core) {
                return Some(LineNode::Word(word));
            }
        }
    }
    let integers = integers::integers(core);
    if let Some(number) = integers::least(core, integers) {
        return Some(LineNode::Integer(number));
    }
    let words = core.trial(offers::words);
    // AT is behind FIELD.
    TABLE.iter().rev().find(|row| words & one(row.word) != 0).map(|row| LineNode::Word(row.word))
}

fn ending_constant<'c>(core: &Core<'c>) -> Option<Literal<'c>> {
    let words = [Literal::Nil, Literal::Bool(true), Literal::Bool(false)];
    if let Some(word) = words.into_iter().find(|&word| core.takes_constant(word)) {
        return Some(word);
    }
    if core.takes_kind(NUMBER) {
        return number::parse(&keys::first_number(core, b"")?).ok().map(Literal::Number);
    }
    if !core.takes_kind(TEXT) {
        return None;
    }
    let text = match (keys::texts(core), formats::format(core)) {
        (Some(mut texts), _) => texts.next()?,
        (None, Some(format)) => formats::example(format),
        (None, None) => keys().find(|text| keys::fits(core, Literal::Text(text)))?,
    };
    Some(Literal::Text(text))
}
