//! Known ends of ID text: the nodes that end a program from any state, one by one.

use super::lex::{InToken, LineMachine, NAMES, spelled};
use crate::automaton::formats;
use crate::automaton::offers::{self, BOOL, NIL, NUMBER, TEXT, Words, one};
use crate::automaton::state::{Core, LINES, Phase, SLOTS, Stmt};
use crate::automaton::want::ANY;
use crate::automaton::{blocks, ends, integers, keys, operands};
use crate::surface::{Ends, Out, Steps};
use ilo_asm::ast::Literal;
use ilo_spec::json::quoted;
use ilo_spec::node::{TABLE, Word};
use std::borrow::Cow;

/// The node that the unfinished token will become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finished {
    /// The token is complete.
    Whole,
    Line(u8, Word),
    Word(Word),
    Integer(u32),
    /// true, false or nil.
    Name(Option<bool>),
    /// A number or a text, as its bytes show.
    Constant,
}

/// The constant that is written as a word.
pub(super) fn named(name: Option<bool>) -> Literal<'static> {
    name.map_or(Literal::Nil, Literal::Bool)
}

impl Finished {
    /// The same at the start of a line, if there is a level.
    pub(super) fn at(self, level: Option<u8>) -> Finished {
        match (self, level) {
            (Finished::Word(word), Some(level)) => Finished::Line(level, word),
            _ => self,
        }
    }
}

impl Ends for LineMachine<'_> {
    type Becomes = Finished;

    fn completion(&mut self) -> Option<(Vec<u8>, Finished)> {
        match self.lex {
            InToken::Line(0) if self.core.trial(blocks::end) => Some((Vec::new(), Finished::Whole)),
            InToken::Line(blanks) => {
                let (level, word) = ending_line(&mut self.core, blanks.div_ceil(2))?;
                let mut bytes = vec![b' '; usize::from(2 * level).saturating_sub(blanks.into())];
                bytes.extend(word.mnemonic().bytes());
                Some((bytes, Finished::Line(level, word)))
            }
            InToken::Start => {
                let (becomes, text) = self.core.trial(ending_node)?;
                Some((text.into_owned().into_bytes(), becomes))
            }
            InToken::Word(length, level, left) => self.rest_of_word(length.into(), level, left),
            InToken::Integer(value) => self.rest_of_integer(value),
            InToken::Number(start) => Some((self.rest_of_number(start)?, Finished::Constant)),
            InToken::Text(start, _) => Some((self.rest_of_text(start)?, Finished::Constant)),
            InToken::Behind => Some((Vec::new(), Finished::Whole)),
        }
    }

    fn complete(&mut self, becomes: Finished, rest: &[u8]) -> bool {
        if becomes != Finished::Constant {
            return take(&mut self.core, becomes);
        }
        let whole = rest.iter().all(|&byte| self.byte(byte));
        let InToken::Number(start) = self.lex else { return whole && self.lex == InToken::Behind };
        whole && self.end_number(start, self.text.len())
    }

    fn close_step(&mut self, out: &mut Out<'_>) -> Option<bool> {
        let core = &mut self.core;
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
            _ => ending_node(core).is_some_and(|(becomes, text)| {
                let is_taken = match becomes {
                    Finished::Constant => take_written(core, &text),
                    _ => take(core, becomes),
                };
                is_taken && out([" ", &text].concat().as_bytes())
            }),
        };
        (!goes_on).then_some(false)
    }
}

impl LineMachine<'_> {
    fn rest_of_word(&mut self, length: usize, level: Option<u8>, left: Words) -> Option<(Vec<u8>, Finished)> {
        let first = match level {
            Some(level) => self.core.trial(|core| ending_word(core, level)),
            None => constant_word(&self.core),
        };
        // The word that ends soonest, or else the first.
        let soon = [Word::Fail, Word::Lit, Word::List, Word::Let, Word::Ref];
        let soonest = first.into_iter().chain(soon).map(one).find(|&word| left & word != 0);
        let (_, text, becomes) = spelled().find(|it| soonest.unwrap_or(left) & it.0 != 0)?;
        Some((text.as_bytes().get(length..)?.to_vec(), becomes.at(level)))
    }

    fn rest_of_integer(&mut self, begun: u32) -> Option<(Vec<u8>, Finished)> {
        let integers = self.integers();
        let (mut value, mut rest) = (begun, Vec::new());
        while !integers::has(&self.core, integers, value) {
            let longer = |digit: u8| value.checked_mul(10)?.checked_add(digit.into());
            let fits =
                |digit: &u8| longer(*digit).is_some_and(|it| integers::begins(&self.core, integers, it));
            let digit = (0..10).filter(|_| value != 0).find(fits)?;
            value = longer(digit)?;
            rest.push(b'0' + digit);
        }
        Some((rest, Finished::Integer(value)))
    }
}

/// Takes a node, other than a number or a text.
fn take(core: &mut Core<'_>, becomes: Finished) -> bool {
    match becomes {
        Finished::Whole | Finished::Constant => {}
        Finished::Line(level, word) => blocks::begin_line(core, level, word),
        Finished::Word(word) => core.take_word(word),
        Finished::Integer(number) => core.take_integer(number),
        Finished::Name(name) => core.take_constant(named(name)),
    }
    true
}

/// Takes a written number or text.
fn take_written(core: &mut Core<'_>, written: &str) -> bool {
    let text = serde_json::from_str::<String>(written).ok();
    let constant = text.as_deref().map(Literal::Text).or_else(|| core.number(written.as_bytes()));
    constant.map(|constant| core.take_constant(constant)).is_some()
}

/// The texts that are tried as keys: more than a MATCH_MAP has cases.
fn keys() -> impl Iterator<Item = &'static str> {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
    (0..3).flat_map(|length| (0..LETTERS.len()).filter_map(move |at| LETTERS.get(at..at + length)))
}

/// The line that leads to an end soonest, at this level or deeper.
fn ending_line(core: &mut Core<'_>, first: u8) -> Option<(u8, Word)> {
    let last = blocks::level(core).min(LINES - 1);
    (first..=last).find_map(|level| ending_word(core, level).map(|word| (level, word)))
}

/// The word of a line of a level that leads to an end soonest.
fn ending_word(core: &mut Core<'_>, level: u8) -> Option<Word> {
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
fn constant_word(core: &Core<'_>) -> Option<Word> {
    let want = match core.state.phase {
        Phase::Bound => ANY,
        Phase::Operand | Phase::FieldOrName => core.state.want,
        _ => return None,
    };
    core.arena.plain(core.session, core.arena.want(want))
}

/// The next node of an end within a line, and how it is written.
fn ending_node(core: &mut Core<'_>) -> Option<(Finished, Cow<'static, str>)> {
    let word = |word: Word| Some((Finished::Word(word), word.mnemonic().into()));
    let integer = |number: u32| Some((Finished::Integer(number), number.to_string().into()));
    match core.state.phase {
        Phase::LitValue(_) => return ending_constant(core),
        Phase::CaseKey => {
            if let Some(key) = ending_constant(core) {
                return Some(key);
            }
        }
        Phase::LitKind => {
            let want = core.frame().map_or(ANY, |frame| frame.want);
            let kind = [NIL, BOOL, NUMBER, TEXT].into_iter().find(|&kind| offers::is_kind(core, kind, want));
            return integer(kind?.into());
        }
        Phase::PairCount => return integer(operands::pair_counts(core)?.0),
        Phase::Slot if core.state.stmt == Stmt::Opens(Word::Match) => {
            let owed = |slot: &u8| core.matchable(*slot) && core.now().calls(*slot) & core.state.checked != 0;
            if let Some(slot) = (0..SLOTS).find(owed) {
                return integer(slot.into());
            }
        }
        _ => {
            if let Some(first) = constant_word(core) {
                return word(first);
            }
        }
    }
    let integers = integers::integers(core);
    if let Some(number) = integers::least(core, integers) {
        return integer(number);
    }
    let words = core.trial(offers::words);
    // AT is behind FIELD.
    word(TABLE.iter().rev().find(|row| words & one(row.word) != 0)?.word)
}

fn ending_constant(core: &Core<'_>) -> Option<(Finished, Cow<'static, str>)> {
    if let Some((text, name)) = NAMES.into_iter().find(|it| core.takes_constant(named(it.1))) {
        return Some((Finished::Name(name), text.into()));
    }
    if core.takes_kind(NUMBER) {
        return Some((Finished::Constant, keys::first_number(core, b"")?.into()));
    }
    if !core.takes_kind(TEXT) {
        return None;
    }
    let text = match (keys::texts(core), formats::format(core)) {
        (Some(mut texts), _) => texts.next()?,
        (None, Some(format)) => formats::example(format),
        (None, None) => keys().find(|text| keys::fits(core, Literal::Text(text)))?,
    };
    Some((Finished::Constant, quoted(text).into()))
}
