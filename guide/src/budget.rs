//! Budgets: masks when few tokens are left, so that the program can always be ended within them.
//!
//! An end of the program is known at every position ([`Surface::close`]). Its length is computed again only
//! when the number of tokens left comes near the length that it may have grown to. Where it comes near to
//! that of the end, only tokens remain that leave an end within the budget: see `looks`.

use crate::automaton::blocks;
use crate::looks;
use crate::surface::{Growth, Surface};
use crate::vocab::{Vocab, bits};
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

/// The most parts that a count can have.
const PARTS: usize = crate::automaton::state::ITEMS as usize;
/// The most tokens of a character of which a text has the beginning, with its escapes.
const CHARACTER: usize = 8;

/// A known end, when a budget has needed one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Budget(Option<Plan>);

/// A known end of the program, as tokens.
#[derive(Clone, Debug)]
struct Plan {
    vocab: u64,
    /// The length of the text when the end was found, and its nodes and parts.
    at: usize,
    nodes: usize,
    parts: u32,
    /// The text at that time, with its end.
    whole: Vec<u8>,
    tokens: Vec<u32>,
    growth: Growth,
}

impl Plan {
    /// The tokens of the end that a text still needs, if the text has continued with the others.
    fn rest(&self, vocab: &Vocab, text: &[u8]) -> Option<&[u32]> {
        if self.vocab != vocab.id || !self.whole.starts_with(text) {
            return None;
        }
        let mut at = self.at;
        let mut rest = self.tokens.as_slice();
        while at < text.len()
            && let Some((&token, behind)) = rest.split_first()
        {
            at += vocab.token(token).len();
            rest = behind;
        }
        (at == text.len()).then_some(rest)
    }
}

impl Growth {
    /// The most that some nodes can add.
    fn by(&self, nodes: usize, surface: &impl Surface) -> usize {
        nodes * (self.statement + usize::from(blocks::level(surface.core())) * self.level)
    }

    /// The most that the next token can add.
    fn next(&self, surface: &impl Surface) -> usize {
        // A token can have a count behind the number or word that it ends.
        self.by(self.nodes, surface) + PARTS * self.part + CHARACTER
    }
}

impl Budget {
    /// Keeps only tokens of a mask that leave an end within a budget.
    pub(crate) fn keep<S: Surface>(
        &mut self,
        surface: &mut S,
        vocab: &Vocab,
        left: u32,
        bits: &mut [u32],
    ) -> Result<(), Short> {
        let is_far = left == u32::MAX || self.is_far(surface, vocab, left as usize);
        if is_far { Ok(()) } else { self.tighten(surface, vocab, left as usize, bits) }
    }

    /// Whether the known end cannot have grown to the tokens that are left.
    fn is_far(&self, surface: &impl Surface, vocab: &Vocab, left: usize) -> bool {
        let Some(plan) = self.0.as_ref().filter(|plan| plan.vocab == vocab.id) else { return false };
        let parts = surface.core().state.counted.checked_sub(plan.parts);
        let Some((nodes, parts)) = surface.size().checked_sub(plan.nodes).zip(parts) else { return false };
        let parts = parts as usize * plan.growth.part;
        let grown = plan.growth.by(nodes, surface) + parts + plan.growth.next(surface);
        let begun = plan.whole.get(..plan.at).unwrap_or_default();
        surface.text().starts_with(begun) && left > plan.tokens.len() + grown
    }

    /// Allows only tokens that leave an end within the budget.
    fn tighten<S: Surface>(
        &mut self,
        surface: &mut S,
        vocab: &Vocab,
        left: usize,
        bits: &mut [u32],
    ) -> Result<(), Short> {
        let rest = self.0.as_ref().and_then(|plan| plan.rest(vocab, surface.text()));
        // An end that was cut at an earlier position can have a token more than one from here.
        if rest.is_none_or(|rest| rest.len() >= left) {
            if self.0.is_none() && surface.can_write(vocab).is_err() {
                return Err(Short { needed: None });
            }
            self.make_plan(surface, vocab, left);
        }
        let text = surface.text();
        let plan = self.0.as_ref().and_then(|plan| Some((plan.growth, plan.rest(vocab, text)?)));
        let Some((growth, rest)) = plan else { return Err(Short { needed: None }) };
        let needed = rest.len() + 1;
        let first = rest.first().copied().unwrap_or(vocab.eos());
        if left > needed + growth.next(surface) {
            return Ok(());
        }
        if needed < left {
            looks::keep(surface, vocab, left, bits);
        } else {
            bits.fill(0);
        }
        bits::set(bits, first);
        if needed <= left { Ok(()) } else { Err(Short { needed: Some(needed) }) }
    }

    /// Finds an end and keeps it, if the vocabulary can write one: node by node, or as one text if the budget
    /// may need that and it has fewer tokens.
    fn make_plan(&mut self, surface: &mut impl Surface, vocab: &Vocab, left: usize) {
        let old = self.0.take().filter(|plan| plan.vocab == vocab.id);
        let growth = old.map(|plan| plan.growth).or_else(|| surface.growth(vocab));
        let Some((growth, parts)) = growth.zip(surface.close()) else { return };
        let end = parts.concat();
        let parts: Option<Vec<_>> = parts.iter().map(|part| vocab.part(part, <[u32]>::to_vec)).collect();
        let Some(tokens) = parts.map(|parts| parts.concat()) else { return };
        let is_near = tokens.len() + 1 >= left;
        let whole = is_near.then(|| vocab.cut(&end)).flatten().filter(|whole| whole.len() < tokens.len());
        let (nodes, parts) = (surface.size(), surface.core().state.counted);
        let (at, tokens) = (surface.text().len(), whole.unwrap_or(tokens));
        let whole = [surface.text(), &end].concat();
        self.0 = Some(Plan { vocab: vocab.id, at, nodes, parts, whole, tokens, growth });
    }
}
