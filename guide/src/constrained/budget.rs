//! Budgets of bodies in `constrained`: masks when few tokens are left, so that the program can always be
//! ended within them.
//!
//! An end of the program is known at every place ([`ConstrainedGuide::close`]). Where the tokens left come
//! near to its length, the end behind each token that is allowed is found, and must fit. Tokens that begin
//! such an end need no other, and many tokens have the same one: those after which a text, a number or a
//! choice has ended alike. In texts and names one token is nearly as good as another.

use super::ConstrainedGuide;
use super::machine::{Lex, Look, Machine, Next};
use super::mask::{clear, has, set};
use super::views::Sorted;
use crate::automaton::keys::Numbers;
use crate::automaton::session::Session;
use crate::automaton::state::Phase;
use crate::automaton::texts::{Inside, Led, run};
use crate::guide::budget::Short;
use crate::tokens::End;
use crate::vocab::Vocab;
use hashbrown::HashMap;

/// The most tokens that the end of an unfinished step may need, apart from its call, and the most that each
/// enclosing level may need.
const STEP: &str =
    r#"{"match":"letters","err":{"as":"letters","then":[{"raise":[]}]},"then":[{"raise":[]}]}"#;
const BRANCH: &str = r#","else":[{"raise":[]}]}]}"#;
/// The tokens by which the end of a number can grow, and that of a name in addition to its own bytes.
const NUMBER: usize = 24;
const NAME: usize = 8;
/// The most bytes of a name.
const LONGEST: usize = super::names::NAME;
/// The most tokens that are tried for one mask. The others are left out; the known end never is.
const TRIED: usize = 96;

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

/// Whether a token continues a number, whatever its digits are.
fn is_digits(token: &[u8]) -> bool {
    token.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'))
}

impl Machine<'_, '_> {
    /// Allows only tokens that leave an end. `spare` is the number of tokens left in addition to those of the
    /// known end. Returns tokens with ends after them.
    fn tighten(
        &mut self,
        vocab: &Vocab,
        left: usize,
        (spare, end): (usize, Vec<u8>),
        bits: &mut [u32],
    ) -> Vec<Vec<u8>> {
        let json = vocab.json();
        let stays: &[u32] = match self.place.lex {
            // After a plain token the end has the same length, except for a key that must differ from others.
            Lex::Text { inside, key, .. } => {
                let fits = inside == Inside::Plain && spare > if key { NAME } else { 1 };
                if fits { vocab.texts.plain() } else { &[] }
            }
            // A text that is nearly a reference needs one more byte. A `${` needs more.
            Lex::Bare { inside: Inside::Plain, dollar: false } if spare > NAME => vocab.texts.plain(),
            // The end may have the name twice, and four letters more.
            Lex::Name { .. } if spare > 2 * LONGEST + NAME => &json.names,
            _ => &[],
        };
        let is_bare = matches!(self.place.lex, Lex::Bare { .. });
        let is_text = is_bare || matches!(self.place.lex, Lex::Text { .. } | Lex::Name { .. });
        let mut kept = vec![0; bits.len()];
        kept.iter_mut().zip(bits.iter().zip(stays)).for_each(|(to, (bit, stays))| *to = bit & stays);
        if is_bare {
            json.within.holes.iter().for_each(|&token| clear(&mut kept, token));
        }
        self.keep_openings(vocab, left, bits, &mut kept);
        let mut tried = TRIED;
        let mut ends = Ends { wholes: vec![end], ..Ends::default() };
        for (word, &all) in (0..).zip(bits.iter()) {
            let at = word as usize;
            let known =
                stays.get(at).copied().unwrap_or_default() | kept.get(at).copied().unwrap_or_default();
            let mut rest = all & !known;
            while rest != 0 {
                let token = word * 32 + rest.trailing_zeros();
                rest &= rest - 1;
                let bytes = vocab.token(token);
                let in_text = is_text && !bytes.contains(&b'"');
                if in_text || tried == 0 {
                    continue;
                }
                if self.fits(vocab, bytes, left, &mut ends, &mut tried) {
                    set(&mut kept, token);
                }
            }
        }
        bits.copy_from_slice(&kept);
        ends.wholes
    }

    /// Keeps the tokens that begin a text, if one that certainly is a text leaves room for its end, and for
    /// one more byte.
    fn keep_openings(&mut self, vocab: &Vocab, left: usize, bits: &[u32], kept: &mut [u32]) {
        if !matches!(self.place.lex, Lex::Choice { depth: 0, .. }) || self.opens_in_at().is_some() {
            return;
        }
        if !self.choices().begins().text {
            return;
        }
        let end = self.attempt(|this| {
            let begins = b"\" ".iter().all(|&byte| this.byte(byte));
            begins.then(|| this.close()).flatten()
        });
        let needed = end.and_then(|end| vocab.cut(&end)).map_or(usize::MAX, |tokens| tokens.len() + 1);
        if needed.saturating_add(NAME) >= left {
            return;
        }
        for &token in &vocab.json().opens {
            let text = vocab.token(token).get(1..).unwrap_or_default();
            if has(bits, token) && run(Inside::Plain, text) == Led::On(Inside::Plain) {
                set(kept, token);
            }
        }
    }

    /// The bytes of the end after a choice of this position, which is taken from this byte on.
    fn end_after(&mut self, choice: usize, depth: usize) -> Option<Vec<u8>> {
        let (bytes, _) = self.choices().at(choice)?;
        let rest = bytes.as_bytes().get(depth..)?.to_vec();
        self.attempt(|this| rest.iter().all(|&byte| this.byte(byte)).then(|| this.close()).flatten())
    }

    /// Whether digits belong to a number here.
    fn at_number(&self) -> bool {
        match self.place.lex {
            Lex::Number { .. } => true,
            Lex::Choice { depth, .. } => {
                depth == 0 && matches!(self.place.next, Next::Value | Next::Item | Next::CaseKey)
            }
            Lex::Text { .. } | Lex::Bare { .. } | Lex::Name { .. } => false,
        }
    }

    /// Whether a number is complete after these digits, and is no key, so that its end is that of all others.
    fn ends_number(&self, digits: &[u8]) -> bool {
        let Lex::Number { start } = self.place.lex else { return false };
        let is_key = self.core.state.phase == Phase::CaseKey;
        !is_key
            && digits.iter().all(u8::is_ascii_digit)
            && match self.core.numbers() {
                Numbers::All => true,
                Numbers::Integers(low, high) => {
                    let written = core::str::from_utf8(self.text.get(start..).unwrap_or_default());
                    let number = written.ok().and_then(|text| text.parse().ok());
                    number.is_some_and(|number: i64| low <= number && number <= high)
                }
                Numbers::Listed(_) => false,
            }
    }

    /// The bytes of a token after the end of the text that is unfinished, or that the token begins, if what
    /// follows them does not depend on the content of the text: unlike for keys, names in AT, and texts that
    /// may be references.
    fn free_tail<'t>(&self, token: &'t [u8]) -> Option<&'t [u8]> {
        let opens = matches!(self.place.lex, Lex::Choice { depth: 0, .. });
        let text = if opens { token.strip_prefix(b"\"")? } else { token };
        let Led::Closed(end) = run(Inside::Plain, text) else { return None };
        let content = text.get(..end.checked_sub(1)?)?;
        if opens && !self.place.choices.is_some_and(|choices| self.view(choices).begins().text) {
            return None;
        }
        let is_free = match self.place.lex {
            Lex::Text { inside: Inside::Plain, key: false, .. } => self.in_at().is_none(),
            Lex::Choice { depth: 0, .. } | Lex::Bare { inside: Inside::Plain, dollar: false } => {
                let written = if opens { &[] } else { self.written_text() };
                !content.contains(&b'$')
                    && self.opens_in_at().is_none()
                    && self.is_sure_text(&[written, content].concat())
            }
            _ => false,
        };
        text.get(end..).filter(|_| is_free)
    }

    /// The bytes of a token, which was taken, up to those in the text that is unfinished now whose content
    /// has no effect on what follows: behind its quote, or behind the last reference in it.
    fn before_text<'t>(&self, token: &'t [u8]) -> Option<&'t [u8]> {
        if !matches!(self.place.lex, Lex::Bare { inside: Inside::Plain, dollar: false }) {
            return None;
        }
        let whole = self.written_text();
        let content = match whole.iter().rposition(|&byte| byte == b'}') {
            Some(at) if self.place.quote.references > 0 => whole.get(at + 1..)?,
            _ => whole,
        };
        let before = token.len().checked_sub(content.len()).filter(|&before| before > 0)?;
        let is_free = !content.contains(&b'$') && self.opens_in_at().is_none() && self.is_sure_text(whole);
        token.get(..before).filter(|_| is_free)
    }

    /// Whether an end after a token fits, with the token that ends the text.
    fn fits(&mut self, vocab: &Vocab, bytes: &[u8], left: usize, ends: &mut Ends, tried: &mut usize) -> bool {
        let length = |end: &[u8]| vocab.cut(end).map_or(usize::MAX, |tokens| tokens.len() + 1);
        let digits = self.at_number() && is_digits(bytes);
        if digits && ends.digits {
            return true;
        }
        let tail = self.free_tail(bytes);
        if let Some(&needed) = tail.and_then(|tail| ends.tails.get(tail)) {
            return needed < left;
        }
        if let Some(end) = ends.wholes.iter().find_map(|whole| whole.strip_prefix(bytes)) {
            return length(end) < left;
        }
        let point = self.point();
        let mut within = true;
        let taken = bytes.iter().all(|&byte| {
            within = within && matches!(self.look(byte), Look::On(_));
            self.byte(byte)
        });
        let ends_number = digits && self.ends_number(bytes);
        if let Some(needed) = ends.number.filter(|_| ends_number) {
            self.back(&point);
            return needed < left;
        }
        let text = self.before_text(bytes);
        if let Some(&needed) = text.and_then(|text| ends.texts.get(text)) {
            self.back(&point);
            return needed < left;
        }
        let key = match self.place.lex {
            Lex::Choice { low, high, depth } if within => Some((low, high, depth)),
            _ => None,
        };
        let end = match key.and_then(|key| self.best(key.0, key.1).map(|best| (best, key.2))) {
            Some((best, depth)) => {
                let end = ends.choices.entry(best).or_insert_with(|| {
                    *tried -= 1;
                    self.end_after(best, depth)
                });
                let begun = self.choices().at(best).and_then(|it| it.0.as_bytes().get(depth..));
                begun.zip(end.as_deref()).map(|(begun, end)| [begun, end].concat())
            }
            None => {
                *tried -= 1;
                taken.then(|| self.close()).flatten()
            }
        };
        self.back(&point);
        let needed = end.as_deref().map_or(usize::MAX, length);
        if let Some(end) = end {
            ends.wholes.push([bytes, &end].concat());
        }
        if let Some(tail) = tail {
            ends.tails.insert(tail.into(), needed);
        }
        if ends_number {
            ends.number = Some(needed);
        }
        if let Some(text) = text {
            ends.texts.insert(text.into(), needed);
        }
        // Another number can have a longer end.
        ends.digits |= digits && needed.saturating_add(NUMBER) < left;
        needed < left
    }
}

/// What is known of ends after tokens.
#[derive(Debug, Default)]
struct Ends {
    /// Whether an end fits after every token that is part of a number.
    digits: bool,
    /// The length after a complete number.
    number: Option<usize>,
    /// By choice: the bytes of the end after it.
    choices: HashMap<usize, Option<Vec<u8>>>,
    /// The length in a text, by the bytes of the token up to its quote.
    texts: HashMap<Box<[u8]>, usize>,
    /// By the bytes of a token after the end of the unfinished text: the length.
    tails: HashMap<Box<[u8]>, usize>,
    /// Tokens with ends after them.
    wholes: Vec<Vec<u8>>,
}
