//! Budgets: masks when few tokens are left, so that the program can always be ended within them; and tokens
//! that are forced.
//!
//! An end of the program is known at every place ([`Guide::close`]). Its length is found again only when the
//! number of tokens left comes near to what it may have grown to. Then each token that is allowed is tried:
//! the end behind it must fit. Texts have too many tokens for that, but in a text one token is as good as
//! another.

use crate::automaton::constants::Lengths;
use crate::automaton::lex::{Lex, Machine};
use crate::automaton::offers::NUMBER;
use crate::automaton::texts::{Inside, Led, run};
use crate::guide::Guide;
use crate::vocab::Vocab;
use std::fmt;

/// The budget is too small to end the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// How many tokens the shortest known end takes, with the token that ends the text. `None` where the
    /// vocabulary cannot write it.
    pub needed: Option<usize>,
}

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.needed {
            Some(needed) => write!(f, "the program cannot end within the tokens left: it takes {needed}"),
            None => f.write_str("the vocabulary has no tokens for the end of the program"),
        }
    }
}

impl std::error::Error for Short {}

/// A way to end the program.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    vocab: u64,
    /// The text up to where it was found, and what ends it.
    at: usize,
    whole: Vec<u8>,
    /// The tokens of the end from there, and what had been taken and counted.
    length: usize,
    taken: u32,
    counted: u32,
    /// What a token of the program can add to the end, at most, and what each thing that is counted can.
    growth: Growth,
}

/// In tokens of a vocabulary.
#[derive(Clone, Copy, Debug)]
struct Growth {
    statement: usize,
    level: usize,
    argument: usize,
}

/// The most tokens, or kinds of tokens that are alike, that are tried for one mask; no more are allowed, so
/// that time is bounded.
const MOST_TRIED: usize = 64;

/// What the digits of fields that are alike can add to an end.
const FIELD: usize = 8;

/// What a statement that is begun may need to end: a MATCH of two arms at the deepest level.
const STATEMENT: &str = "\n                        MATCH 63 2\n                          ERR 63 1\n                            FAIL LIST 0\n                          OK 63 1\n                            FAIL LIST 0";
/// What each level may need.
const BRANCH: &str = "\n                        ELSE 1\n                          FAIL LIST 0";

impl Growth {
    fn new(machine: &Machine<'_, '_>, vocab: &Vocab) -> Option<Growth> {
        let length = |text: &str| vocab.cut(text.as_bytes()).map(|tokens| tokens.len());
        let Lengths { constant, call } = machine.core.session.lengths();
        Some(Growth {
            statement: length(STATEMENT)? + length(&call)?,
            level: length(BRANCH)?,
            argument: length(&constant)? + 4,
        })
    }

    /// What the next token can add.
    fn next(&self, machine: &Machine<'_, '_>, vocab: &Vocab) -> usize {
        let counts =
            if machine.core.is_count() { self.argument * crate::automaton::state::ITEMS as usize } else { 0 };
        let level = usize::from(machine.core.level());
        counts + (vocab.crossings + 1) * (self.statement + level * self.level)
    }
}

impl Guide<'_, '_> {
    /// Sets the bits of the tokens that may come next, and clears all others, so that the program can still
    /// be ended with `left` tokens: this one, those behind it, and the one that ends the text. `u32::MAX` is
    /// no budget. `bits` has [`Vocab::mask_len`] words: bit `t % 32` of word `t / 32` is that of token `t`.
    ///
    /// # Errors
    /// Where the budget was too small from the start. The mask then has the next token of the shortest end
    /// known.
    pub fn fill_mask(&mut self, vocab: &Vocab, left: u32, bits: &mut [u32]) -> Result<(), Short> {
        self.fill(vocab, bits);
        if left == u32::MAX {
            return Ok(());
        }
        let left = left as usize;
        if let Some(plan) = self.plan.as_ref().filter(|plan| plan.vocab == vocab.id)
            && self.follows(plan)
            && left > self.may_need(plan, vocab)
        {
            return Ok(());
        }
        self.tighten(vocab, left, bits)
    }

    /// Whether the text goes on from where a plan was made.
    fn follows(&self, plan: &Plan) -> bool {
        let state = &self.machine.core.state;
        let begun = plan.whole.get(..plan.at).unwrap_or_default();
        plan.taken <= state.taken && self.machine.text.starts_with(begun)
    }

    /// The most tokens that the program may need behind the next one, by what was known of its end.
    fn may_need(&self, plan: &Plan, vocab: &Vocab) -> usize {
        let state = &self.machine.core.state;
        let taken = (state.taken - plan.taken) as usize;
        let counted = state.counted.saturating_sub(plan.counted) as usize;
        let level = usize::from(self.machine.core.level());
        let each = plan.growth.statement + level * plan.growth.level;
        // A text may end in the middle of a character.
        plan.length
            + taken * each
            + counted * plan.growth.argument
            + plan.growth.next(&self.machine, vocab)
            + 8
    }

    /// Allows only what leaves an end within the tokens left.
    fn tighten(&mut self, vocab: &Vocab, left: usize, bits: &mut [u32]) -> Result<(), Short> {
        let none = Short { needed: None };
        let planned = self.make_plan(vocab);
        let (Some(tokens), Some(plan)) = (planned, &self.plan) else {
            return Err(none);
        };
        let needed = tokens.len() + 1;
        let next = plan.growth.next(&self.machine, vocab) + 8;
        if left > needed + next {
            return Ok(());
        }
        let first = tokens.first().copied().unwrap_or(vocab.eos());
        if needed >= left {
            bits.fill(0);
            set(bits, first);
            return if needed == left { Ok(()) } else { Err(Short { needed: Some(needed) }) };
        }
        match self.machine.lex {
            Lex::Text(_, inside) if self.machine.core.texts().is_none() => {
                self.tighten_text(vocab, inside, left, needed, bits);
            }
            _ => self.tighten_each(vocab, left, bits),
        }
        set(bits, first);
        Ok(())
    }

    /// The tokens of the shortest end known, which is kept.
    fn make_plan(&mut self, vocab: &Vocab) -> Option<Vec<u32>> {
        let mut end = vocab.cut(&self.close()?)?;
        let text = &self.machine.text;
        let old = self.plan.take().filter(|plan| plan.vocab == vocab.id);
        let rest = old.as_ref().and_then(|plan| plan.whole.strip_prefix(text.as_slice()));
        if let Some(rest) = rest.and_then(|rest| vocab.cut(rest))
            && rest.len() < end.len()
        {
            end = rest;
        }
        let mut whole = text.clone();
        end.iter().for_each(|&token| whole.extend_from_slice(vocab.token(token)));
        let growth = match old {
            Some(old) => old.growth,
            None => Growth::new(&self.machine, vocab)?,
        };
        let state = &self.machine.core.state;
        self.plan = Some(Plan {
            vocab: vocab.id,
            at: text.len(),
            whole,
            length: end.len(),
            taken: state.taken,
            counted: state.counted,
            growth,
        });
        Some(end)
    }

    /// How many tokens the end takes behind this token, with that one and the end of the text.
    fn needed_by(&mut self, vocab: &Vocab, token: u32) -> Option<usize> {
        if token == vocab.eos() {
            return Some(1);
        }
        self.machine.attempt(|machine| {
            if !vocab.token(token).iter().all(|&byte| machine.byte(byte)) {
                return None;
            }
            let start = machine.text.len();
            machine.close()?;
            let end = vocab.cut(machine.text.get(start..)?)?;
            Some(end.len() + 2)
        })
    }

    fn tighten_text(&mut self, vocab: &Vocab, inside: Inside, left: usize, needed: usize, bits: &mut [u32]) {
        let closers: Vec<u32> =
            vocab.texts.closers(crate::automaton::texts::place(inside)).iter().map(|it| it.token).collect();
        let closers: Vec<u32> = closers.into_iter().filter(|&token| is_set(bits, token)).collect();
        // Behind another plain token the end is as long as here, but for texts that must differ from others.
        let spare = if self.machine.text_is_free() { 1 } else { 4 };
        let plain = inside == Inside::Plain && needed + spare <= left;
        let ready = vocab.texts.plain();
        for (at, word) in bits.iter_mut().enumerate() {
            *word &= if plain { ready.get(at).copied().unwrap_or_default() } else { 0 };
        }
        for token in closers {
            if self.needed_by(vocab, token).is_some_and(|needed| needed <= left) {
                set(bits, token);
            }
        }
    }

    fn tighten_each(&mut self, vocab: &Vocab, left: usize, bits: &mut [u32]) {
        let numbers = matches!(self.machine.lex, Lex::Number(_))
            || (self.machine.lex == Lex::Start && self.machine.core.constants() >> NUMBER & 1 == 1);
        let alike = numbers && self.machine.has_free_numbers();
        let fields = self.machine.has_alike_fields();
        let (mut opened, mut digits, mut needs, mut tried) = (None, None, None, 0);
        for word in 0..bits.len() {
            let mut rest = bits.get(word).copied().unwrap_or_default();
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let token = u32::try_from(word).unwrap_or_default() * 32 + bit;
                let bytes = vocab.token(token);
                if fields && bytes.iter().all(u8::is_ascii_digit) {
                    // Behind each of these fields the end is as long, but for digits.
                    let needs = *needs.get_or_insert_with(|| self.needed_by(vocab, token));
                    if needs.is_some_and(|needs| needs + FIELD <= left) {
                        continue;
                    }
                }
                let group = if alike && bytes.iter().all(u8::is_ascii_digit) {
                    Some(&mut digits)
                } else {
                    opening(bytes, &mut opened)
                };
                let mut fits = |this: &mut Self| {
                    tried += 1;
                    tried <= MOST_TRIED && this.needed_by(vocab, token).is_some_and(|it| it <= left)
                };
                let fits = match group {
                    Some(group) => *group.get_or_insert_with(|| fits(self)),
                    None => fits(self),
                };
                if !fits && let Some(place) = bits.get_mut(word) {
                    *place &= !(1 << bit);
                }
            }
        }
    }

    /// The tokens that must come next, as the model's tokenizer cuts them: less those at the end that a
    /// longer token could cover together with what follows. `encode` is that tokenizer, such as
    /// [`Vocab::cut`].
    pub fn forced_tokens(
        &mut self,
        vocab: &Vocab,
        encode: impl FnOnce(&[u8]) -> Option<Vec<u32>>,
    ) -> Vec<u32> {
        let bytes = self.forced();
        let mut tokens = encode(&bytes).unwrap_or_default();
        let mark = self.mark();
        let mut at = 0;
        for place in 0..tokens.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            let own = tokens.get(place).map(|&token| vocab.token(token).to_vec()).unwrap_or_default();
            if own.is_empty() || self.covers(vocab, rest) || self.accept_bytes(&own).is_err() {
                tokens.truncate(place);
                break;
            }
            at += own.len();
        }
        self.rollback(&mark);
        tokens
    }

    /// Whether a token that may come next begins with these bytes and goes on.
    fn covers(&mut self, vocab: &Vocab, rest: &[u8]) -> bool {
        let (from, to) = vocab.beginning(rest);
        let range = vocab.sorted.get(from..to).unwrap_or_default();
        let mut longer = range.iter().map(|&token| vocab.token(token)).filter(|it| it.len() > rest.len());
        longer.any(|token| self.machine.attempt(|machine| token.iter().all(|&byte| machine.byte(byte))))
    }
}

/// Tokens that open a text and stay in it at a plain place are alike, if they begin alike.
fn opening<'g>(bytes: &[u8], group: &'g mut Option<bool>) -> Option<&'g mut Option<bool>> {
    let rest = bytes.strip_prefix(b"\"")?;
    (run(Inside::Plain, rest) == Led::On(Inside::Plain)).then_some(group)
}

fn set(bits: &mut [u32], token: u32) {
    if let Some(word) = bits.get_mut(token as usize / 32) {
        *word |= 1 << (token % 32);
    }
}

fn is_set(bits: &[u32], token: u32) -> bool {
    bits.get(token as usize / 32).is_some_and(|word| word >> (token % 32) & 1 == 1)
}
