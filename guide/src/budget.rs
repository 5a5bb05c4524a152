//! Budgets: masks when few tokens are left, so that the program can always be ended within them.
//!
//! An end of the program is known at every position ([`Surface::close`]). Its length is computed again only
//! when the number of tokens left comes near the length that it may have grown to. Where it comes near to
//! that of the end, only tokens remain that leave an end within the budget: see `looks`.

use crate::looks;
use crate::surface::{Growth, Surface};
use crate::tokens::End;
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

/// A known end of the program.
#[derive(Clone, Debug)]
struct Plan {
    end: End,
    /// The nodes and parts at the position where it was found.
    nodes: usize,
    parts: usize,
    growth: Growth,
}

impl Growth {
    /// The most that some nodes can add.
    fn by(&self, nodes: usize, surface: &impl Surface) -> usize {
        nodes * (self.statement + surface.size().0 * self.level)
    }

    /// The most that the next token can add.
    fn next(&self, surface: &impl Surface) -> usize {
        // A token can have a count behind the number or word that it ends.
        let counts = surface.may_count() || self.nodes > 1;
        self.by(self.nodes, surface) + if counts { PARTS * self.part } else { 0 } + CHARACTER
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
        let Some(plan) = self.0.as_ref().filter(|plan| plan.end.is_of(vocab)) else { return false };
        let (_, nodes, parts) = surface.size();
        let Some((nodes, parts)) = nodes.checked_sub(plan.nodes).zip(parts.checked_sub(plan.parts)) else {
            return false;
        };
        let grown = plan.growth.by(nodes, surface) + parts * plan.growth.part + plan.growth.next(surface);
        plan.end.precedes(surface.text()) && left > plan.end.len() + grown
    }

    /// Allows only tokens that leave an end within the budget.
    fn tighten<S: Surface>(
        &mut self,
        surface: &mut S,
        vocab: &Vocab,
        left: usize,
        bits: &mut [u32],
    ) -> Result<(), Short> {
        let rest = self.0.as_ref().and_then(|plan| plan.end.rest(vocab, surface.text()));
        // An end that was cut at an earlier position can have a token more than one from here.
        if rest.is_none_or(|rest| rest.len() >= left) {
            if self.0.is_none() && surface.can_write(vocab).is_err() {
                return Err(Short { needed: None });
            }
            self.make_plan(surface, vocab);
        }
        let text = surface.text();
        let plan = self.0.as_ref().and_then(|plan| Some((plan.growth, plan.end.rest(vocab, text)?)));
        let Some((growth, rest)) = plan else { return Err(Short { needed: None }) };
        let needed = rest.len() + 1;
        let first = rest.first().copied().unwrap_or(vocab.eos());
        if left > needed + growth.next(surface) {
            return Ok(());
        }
        if needed < left {
            looks::keep(surface, vocab, left, growth.statement, bits);
        } else {
            bits.fill(0);
        }
        bits::set(bits, first);
        if needed <= left { Ok(()) } else { Err(Short { needed: Some(needed) }) }
    }

    /// Finds an end and keeps it, if the vocabulary can write one: node by node, or as one text if that has
    /// fewer tokens.
    fn make_plan(&mut self, surface: &mut impl Surface, vocab: &Vocab) {
        let old = self.0.take().filter(|plan| plan.end.is_of(vocab));
        let growth = old.map(|plan| plan.growth).or_else(|| surface.growth(vocab));
        let Some((growth, parts)) = growth.zip(surface.close()) else { return };
        let end = parts.concat();
        let parts: Option<Vec<_>> = parts.iter().map(|part| vocab.cut(part)).collect();
        let Some(tokens) = parts.map(|parts| parts.concat()) else { return };
        let whole = vocab.cut(&end).filter(|whole| whole.len() < tokens.len());
        let (_, nodes, parts) = surface.size();
        let end = End::new(vocab, surface.text(), &end, whole.unwrap_or(tokens));
        self.0 = Some(Plan { end, nodes, parts, growth });
    }
}
