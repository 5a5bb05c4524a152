//! Budgets: masks when few tokens are left, so that the program can always be ended within them; and forced
//! tokens.
//!
//! An end of the program is known at every position ([`Guide::close`]). Its length is computed again only
//! when the number of tokens left comes near the length that it may have grown to. Then each allowed token is
//! tried: the end after it must fit. Texts have too many tokens for that, but in a text one token is as good
//! as another.

use crate::automaton::constants::Lengths;
use crate::automaton::lex::{Lex, Machine};
use crate::automaton::state::Phase;
use crate::automaton::texts::Inside;
use crate::guide::Guide;
use crate::guide::looks::Known;
use crate::tokens;
use crate::tokens::End;
use crate::vocab::{Closer, Vocab};
use hashbrown::HashMap;
use std::fmt;

/// The budget is too small to end the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// The number of tokens of the shortest known end, including the token that ends the text. `None` if the
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

/// A known end of the program.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    end: End,
    /// The tokens and counts at the position where it was found.
    taken: u32,
    counted: u32,
    /// The most that a token of the program, and each counted part, can add to the end.
    growth: Growth,
}

/// In tokens of a vocabulary.
#[derive(Clone, Copy, Debug)]
struct Growth {
    statement: usize,
    level: usize,
    argument: usize,
}

/// The most that the end of an unfinished statement may need: a MATCH of two arms at the deepest level.
const STATEMENT: &str = "\n                        MATCH 63 2\n                          ERR 63 1\n                            FAIL LIST 0\n                          OK 63 1\n                            FAIL LIST 0";
/// The most that each level may need.
const BRANCH: &str = "\n                        ERR 63 1\n                          FAIL LIST 0";

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

    /// The most that the next token can add.
    fn next(&self, machine: &Machine<'_, '_>, vocab: &Vocab) -> usize {
        // A token can have a count behind the number or word that it ends.
        let has_count = machine.core.is_count() || vocab.crossings > 0;
        let counts = if has_count { self.argument * crate::automaton::state::ITEMS as usize } else { 0 };
        let level = usize::from(machine.core.level());
        counts + (vocab.crossings + 1) * (self.statement + level * self.level)
    }
}

impl Guide<'_, '_> {
    /// Sets the bits of the tokens that may come next, and clears all others, so that the program can still
    /// be ended with `left` tokens: this one, those after it, and the one that ends the text. `u32::MAX`
    /// means no budget. `bits` has [`Vocab::mask_len`] words: bit `t % 32` of word `t / 32` is that of token
    /// `t`.
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
        if let Some(plan) = self.plan.as_ref().filter(|plan| plan.end.is_of(vocab))
            && self.follows(plan)
            && left > self.may_need(plan, vocab)
        {
            return Ok(());
        }
        self.tighten(vocab, left, bits)
    }

    /// Whether the text continues the one for which a plan was made.
    fn follows(&self, plan: &Plan) -> bool {
        let state = &self.machine.core.state;
        plan.taken <= state.taken && self.machine.text.starts_with(plan.end.text())
    }

    /// The most tokens that the program may need after the next one, according to the known end.
    fn may_need(&self, plan: &Plan, vocab: &Vocab) -> usize {
        let state = &self.machine.core.state;
        let taken = (state.taken - plan.taken) as usize;
        let counted = state.counted.saturating_sub(plan.counted) as usize;
        let level = usize::from(self.machine.core.level());
        let each = plan.growth.statement + level * plan.growth.level;
        // A text may end in the middle of a character.
        plan.end.len()
            + taken * each
            + counted * plan.growth.argument
            + plan.growth.next(&self.machine, vocab)
            + 8
    }

    /// Allows only tokens that leave an end within the budget.
    fn tighten(&mut self, vocab: &Vocab, left: usize, bits: &mut [u32]) -> Result<(), Short> {
        if self.plan.as_ref().and_then(|plan| plan.end.rest(vocab, &self.machine.text)).is_none() {
            if self.plan.is_none() && self.can_write(vocab).is_err() {
                return Err(Short { needed: None });
            }
            self.make_plan(vocab);
        }
        let Some((plan, rest)) =
            self.plan.as_ref().and_then(|plan| Some((plan, plan.end.rest(vocab, &self.machine.text)?)))
        else {
            return Err(Short { needed: None });
        };
        let needed = rest.len() + 1;
        let first = rest.first().copied().unwrap_or(vocab.eos());
        let is_far = left > needed + plan.growth.next(&self.machine, vocab) + 8;
        if is_far {
            return Ok(());
        }
        if needed >= left {
            bits.fill(0);
            set(bits, first);
            return if needed == left { Ok(()) } else { Err(Short { needed: Some(needed) }) };
        }
        match self.machine.lex {
            Lex::Text(_, inside)
                if self.machine.core.texts().is_none() && self.machine.core.format().is_none() =>
            {
                let statement = plan.growth.statement;
                self.tighten_text(vocab, inside, left, statement, bits);
            }
            _ => self.tighten_each(vocab, left, bits),
        }
        set(bits, first);
        Ok(())
    }

    /// Finds an end and keeps it, if the vocabulary can write one.
    fn make_plan(&mut self, vocab: &Vocab) {
        let old = self.plan.take().filter(|plan| plan.end.is_of(vocab));
        let growth = old.map(|plan| plan.growth).or_else(|| Growth::new(&self.machine, vocab));
        let Some((growth, end)) = growth.zip(self.machine.close()) else { return };
        let (mut tokens, mut from) = (Vec::new(), 0);
        for &to in &end.ends {
            let Some(piece) = end.text.get(from..to).and_then(|piece| vocab.cut(piece)) else { return };
            tokens.extend(piece);
            from = to;
        }
        let state = &self.machine.core.state;
        self.plan = Some(Plan {
            end: End::new(vocab, &self.machine.text, &end.text, tokens),
            taken: state.taken,
            counted: state.counted,
            growth,
        });
    }

    fn tighten_text(
        &mut self,
        vocab: &Vocab,
        inside: Inside,
        left: usize,
        statement: usize,
        bits: &mut [u32],
    ) {
        let place = crate::automaton::texts::place(inside);
        let closers: Vec<Closer> =
            vocab.texts.closers(place).iter().filter(|it| is_set(bits, it.token)).copied().collect();
        let free = self.machine.text_is_free();
        // After another plain token the end has the same length, except for a text that must differ from
        // those of other cases, or decides what is read.
        let spare = match self.machine.core.state.phase {
            _ if free => 0,
            Phase::CaseKey => crate::automaton::state::ITEMS as usize,
            _ => statement,
        };
        let limit = left.checked_sub(2 + spare).filter(|_| inside == Inside::Plain);
        let mut known = Known::new(&mut self.machine);
        let plain = limit.is_some_and(|limit| {
            self.machine.attempt(|machine| machine.ends_within(vocab, limit, false, &mut known)).is_some()
        });
        let ready = vocab.texts.plain();
        for (at, word) in bits.iter_mut().enumerate() {
            *word &= if plain { ready.get(at).copied().unwrap_or_default() } else { 0 };
        }
        // What follows a free text is the same for all tokens with the same bytes after its end.
        let mut tails: HashMap<u32, bool> = HashMap::new();
        for Closer { tail, token } in closers {
            let fits = match tails.get(&tail).filter(|_| free) {
                Some(&fits) => fits,
                None => self.machine.fits(vocab, token, left, &mut known),
            };
            tails.insert(tail, fits);
            if fits {
                set(bits, token);
            }
        }
    }

    fn tighten_each(&mut self, vocab: &Vocab, left: usize, bits: &mut [u32]) {
        const WIDTH: u32 = 16;
        let mut known = Known::new(&mut self.machine);
        for (chunk, words) in (0..).zip(bits.chunks_mut(WIDTH as usize)) {
            // Most have no token.
            if words.iter().fold(0, |all, word| all | word) == 0 {
                continue;
            }
            for (word, place) in (chunk * WIDTH..).zip(words) {
                let mut rest = *place;
                while rest != 0 {
                    let bit = rest.trailing_zeros();
                    rest &= rest - 1;
                    if !self.machine.fits(vocab, word * 32 + bit, left, &mut known) {
                        *place &= !(1 << bit);
                    }
                }
            }
        }
    }

    /// The tokens that must come next, as the model's tokenizer splits them, without those at the end that a
    /// longer token could cover together with what follows. `encode` is that tokenizer, such as
    /// [`Vocab::cut`].
    pub fn forced_tokens(
        &mut self,
        vocab: &Vocab,
        encode: impl FnOnce(&[u8]) -> Option<Vec<u32>>,
    ) -> Vec<u32> {
        tokens::forced(self, vocab, encode)
    }
}

fn set(bits: &mut [u32], token: u32) {
    if let Some(word) = bits.get_mut(token as usize / 32) {
        *word |= 1 << (token % 32);
    }
}

fn is_set(bits: &[u32], token: u32) -> bool {
    bits.get(token as usize / 32).is_some_and(|word| word >> (token % 32) & 1 == 1)
}
