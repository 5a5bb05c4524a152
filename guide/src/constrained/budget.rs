//! Budgets of bodies in `constrained`: masks when few tokens are left, so that the program can always be
//! ended within them.
//!
//! An end of the program is known at every place ([`ConstrainedGuide::close`]). Where the tokens left come
//! near to its length, only tokens remain that leave an end within the budget: see `fits`.

use super::ConstrainedGuide;
use super::machine::Machine;
use super::mask::set;
use crate::automaton::session::Session;
use crate::guide::budget::Short;
use crate::tokens::End;
use crate::vocab::Vocab;

/// The most tokens that the end of an unfinished step may need, apart from its call, and the most that each
/// enclosing level may need.
const STEP: &str =
    r#"{"match":"letters","err":{"as":"letters","then":[{"raise":[]}]},"then":[{"raise":[]}]}"#;
const BRANCH: &str = r#"],"err":{"as":"letters","then":[{"raise":[]}]}}"#;

/// A known end of the program.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    end: End,
    growth: Growth,
    /// For a body of this length: tokens that may come next, each with an end after it.
    at: usize,
    others: Vec<Vec<u8>>,
}

/// The most that one token can add to the end, in tokens.
#[derive(Clone, Copy, Debug)]
struct Growth {
    step: usize,
    level: usize,
}

impl Growth {
    fn new(session: &Session<'_>, vocab: &Vocab) -> Option<Growth> {
        let length = |text: &str| vocab.cut(text.as_bytes()).map(|tokens| tokens.len());
        // Another call may have fewer bytes and more tokens.
        let call = 2 * length(session.longest_json_call())?;
        // An unfinished path needs its field, a `${` a name.
        let fields = session.fields.iter().chain(session.parameters.iter().map(|it| &it.0));
        let longest = fields.max_by_key(|name| name.len()).map_or("", String::as_str);
        Some(Growth { step: length(STEP)? + call + longest.len(), level: length(BRANCH)? })
    }

    fn next(&self, machine: &Machine<'_, '_>, vocab: &Vocab) -> usize {
        let level = usize::from(machine.core.level());
        (vocab.json().openings + 1) * (self.step + level * self.level)
    }
}

impl ConstrainedGuide<'_, '_> {
    /// Sets the bits of the tokens that may come next, and clears all others, so that the program can still
    /// be ended with `left` tokens: this one, those after it, and the one that ends the text. `u32::MAX`
    /// means no budget. `bits` has [`Vocab::mask_len`] words. A program that has ended allows the token that
    /// ends a text.
    ///
    /// # Errors
    /// Where the budget was too small from the start. The mask then has the next token of the shortest end
    /// known.
    pub fn fill_mask(&mut self, vocab: &Vocab, left: u32, bits: &mut [u32]) -> Result<(), Short> {
        if self.may_end() {
            bits.fill(0);
            set(bits, vocab.eos());
            return if left == 0 { Err(Short { needed: Some(1) }) } else { Ok(()) };
        }
        self.prepare();
        self.machine.fill(vocab, bits);
        if left == u32::MAX { Ok(()) } else { self.tighten(vocab, left as usize, bits) }
    }

    /// Allows only tokens that leave an end within the budget.
    fn tighten(&mut self, vocab: &Vocab, left: usize, bits: &mut [u32]) -> Result<(), Short> {
        if self.plan.as_ref().and_then(|plan| plan.end.rest(vocab, &self.machine.text)).is_none() {
            if self.plan.is_none() && self.can_write(vocab).is_err() {
                return Err(Short { needed: None });
            }
            self.make_plan(vocab);
        }
        let Some((plan, rest)) = self
            .plan
            .as_mut()
            .and_then(|plan| Some((plan.growth, plan.end.rest(vocab, &self.machine.text)?)))
        else {
            return Err(Short { needed: None });
        };
        let needed = rest.len() + 1;
        if left > needed + plan.next(&self.machine, vocab) {
            return Ok(());
        }
        let first = rest.first().copied().unwrap_or(vocab.eos());
        if needed >= left {
            bits.fill(0);
            set(bits, first);
            return if needed == left { Ok(()) } else { Err(Short { needed: Some(needed) }) };
        }
        let end = rest.iter().flat_map(|&token| vocab.token(token)).copied().collect();
        let ends = self.machine.tighten(vocab, left, (left - needed, end), bits);
        if let Some(plan) = &mut self.plan {
            (plan.at, plan.others) = (self.machine.text.len(), ends);
        }
        set(bits, first);
        Ok(())
    }

    /// Finds an end and keeps it, if the vocabulary can write one: one that was known when the last token was
    /// allowed, if that is shorter.
    fn make_plan(&mut self, vocab: &Vocab) {
        let old = self.plan.take().filter(|plan| plan.end.is_of(vocab));
        let text = &self.machine.text;
        let known = old.iter().flat_map(|plan| {
            let since = plan.end.beginning(plan.at).and_then(|before| text.strip_prefix(before));
            plan.others.iter().filter_map(move |other| other.strip_prefix(since?)).map(<[u8]>::to_vec)
        });
        let mut ends: Vec<Vec<u8>> = known.collect();
        ends.extend(self.machine.close());
        let growth = old.map(|plan| plan.growth).or_else(|| Growth::new(self.session(), vocab));
        let cut = |end: Vec<u8>| Some((vocab.cut(&end)?, end));
        let end = ends.into_iter().filter_map(cut).min_by_key(|end| end.0.len());
        let Some((growth, (tokens, end))) = growth.zip(end) else { return };
        let text = &self.machine.text;
        let end = End::new(vocab, text, &end, tokens);
        self.plan = Some(Plan { end, growth, at: text.len(), others: Vec::new() });
    }
}
