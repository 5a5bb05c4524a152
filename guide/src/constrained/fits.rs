//! Which tokens leave an end of the program within a budget. The end behind each token that is allowed is
//! found, and must fit. Tokens that begin such an end need no other, and many tokens have the same one: those
//! after which a text, a name, a number or a choice has ended alike. In texts and names one token is nearly
//! as good as another.

use super::cuts::Cuts;
use super::machine::{Lex, Look, Machine, Next};
use super::mask::{clear, has, set};
use super::views::Sorted;
use crate::automaton::keys::Numbers;
use crate::automaton::state::Phase;
use crate::automaton::steps::Constant;
use crate::automaton::texts::{Inside, Led, run};
use crate::vocab::Vocab;
use hashbrown::HashMap;
use ilo_spec::number;

/// The tokens by which the end of a number can grow, and that of a name in addition to its own bytes.
const NUMBER: usize = 24;
const NAME: usize = 8;
/// The most bytes of a name.
const LONGEST: usize = super::names::NAME;
/// The most tokens that are tried for one mask. The others are left out; the known end never is.
const TRIED: usize = 96;

/// Whether a token continues a number, whatever its digits are.
fn is_digits(token: &[u8]) -> bool {
    token.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'))
}

fn only_digits(token: &[u8]) -> bool {
    token.iter().all(u8::is_ascii_digit)
}

impl Machine<'_, '_> {
    /// Allows only tokens that leave an end. `spare` is the number of tokens left in addition to those of the
    /// known end. Returns tokens with ends after them.
    pub(super) fn tighten(
        &mut self,
        vocab: &Vocab,
        left: usize,
        (spare, end): (usize, Vec<u8>),
        bits: &mut [u32],
    ) -> Vec<Vec<u8>> {
        let json = vocab.json();
        // Tokens that stay in the text or name, and whether all of them leave an end.
        let (inner, fit): (&[u32], bool) = match self.place.lex {
            // After a plain token the end has the same length, except for a key that must differ from others.
            Lex::Text { inside, key, .. } => {
                (vocab.texts.plain(), inside == Inside::Plain && spare > if key { NAME } else { 1 })
            }
            // A text that is nearly a reference needs one more byte. A `${` needs more.
            Lex::Bare { inside, dollar } => {
                (vocab.texts.plain(), inside == Inside::Plain && !dollar && spare > NAME)
            }
            // The end may have the name twice, and four letters more.
            Lex::Name { .. } => {
                let is_once = || self.new_name(&end).is_some_and(|(name, end)| !mentions(end, &name));
                (&json.names, spare > 2 * LONGEST + NAME || spare > NAME && is_once())
            }
            _ => (&[], false),
        };
        let is_bare = matches!(self.place.lex, Lex::Bare { .. });
        let is_text = is_bare || matches!(self.place.lex, Lex::Text { .. } | Lex::Name { .. });
        let mut kept = vec![0; bits.len()];
        if fit {
            kept.iter_mut().zip(bits.iter().zip(inner)).for_each(|(to, (bit, inner))| *to = bit & inner);
        }
        if is_bare {
            json.within.holes.iter().for_each(|&token| clear(&mut kept, token));
        }
        self.keep_openings(vocab, left, bits, &mut kept);
        let mut tried = TRIED;
        let mut ends = Ends::default();
        ends.wholes.push((end, left - spare));
        for (word, &all) in (0..).zip(bits.iter()).filter(|it| *it.1 != 0) {
            let at = word as usize;
            let known =
                inner.get(at).copied().unwrap_or_default() | kept.get(at).copied().unwrap_or_default();
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
        ends.wholes.into_iter().map(|it| it.0).collect()
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

    /// Whether a number is complete after digits that were taken, so that its end is that of all others.
    fn ends_number(&self) -> bool {
        let Lex::Number { start } = self.place.lex else { return false };
        let written = || core::str::from_utf8(self.text.get(start..)?).ok();
        if self.core.state.phase == Phase::CaseKey {
            // Not one that is there already.
            let number = written().and_then(|text| number::parse(text).ok());
            return number.is_some_and(|number| self.core.takes_constant(Constant::Number(number)));
        }
        match self.core.numbers() {
            Numbers::All => true,
            Numbers::Integers(low, high) => {
                let number = written().and_then(|text| text.parse::<i64>().ok());
                number.is_some_and(|number| low <= number && number <= high)
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

    /// The name that a token ends, if it is bound for the first time, and the bytes of the token after it.
    fn new_name<'t>(&self, token: &'t [u8]) -> Option<(Vec<u8>, &'t [u8])> {
        let Lex::Name { start, .. } = self.place.lex else { return None };
        let end = token.iter().position(|&byte| byte == b'"')?;
        let name = [self.text.get(start..)?, token.get(..end)?].concat();
        let is_new = self.place.names.iter().all(|it| it.name.as_bytes() != name);
        Some((name, token.get(end..)?)).filter(|_| is_new)
    }

    /// Whether an end after a token fits, if that is known from those after other tokens.
    fn known_fit(&self, vocab: &Vocab, bytes: &[u8], left: usize, ends: &mut Ends) -> Option<bool> {
        if self.at_number() && is_digits(bytes) {
            if ends.digits {
                return Some(true);
            }
            if let Some(needed) = ends.number.filter(|_| ends.any_number && only_digits(bytes)) {
                // A key that is there already needs more digits.
                let is_key = self.core.state.phase == Phase::CaseKey;
                if !is_key || needed.saturating_add(NAME) < left {
                    return Some(needed < left);
                }
            }
        }
        if let Some(&needed) = self.free_tail(bytes).and_then(|tail| ends.tails.get(tail)) {
            return Some(needed < left);
        }
        if let Some(needed) = ends.shortest(vocab, bytes) {
            return Some(needed < left);
        }
        let (_, tail) = self.new_name(bytes)?;
        ends.names.get(tail).map(|needed| needed.saturating_add(NAME) < left).filter(|&fits| fits)
    }

    /// Whether an end after a token fits, with the token that ends the text.
    fn fits(&mut self, vocab: &Vocab, bytes: &[u8], left: usize, ends: &mut Ends, tried: &mut usize) -> bool {
        if let Some(fits) = self.known_fit(vocab, bytes, left, ends) {
            return fits;
        }
        let digits = self.at_number() && is_digits(bytes);
        let (tail, name) = (self.free_tail(bytes), self.new_name(bytes));
        let point = self.point();
        let mut within = true;
        let taken = bytes.iter().all(|&byte| {
            within = within && matches!(self.look(byte), Look::On(_));
            self.byte(byte)
        });
        let ends_number = digits && only_digits(bytes) && self.ends_number();
        let any_number = ends_number && matches!(self.core.numbers(), Numbers::All);
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
        let needed = end.as_deref().map_or(usize::MAX, |end| length(&mut ends.cuts, vocab, end));
        if let Some(end) = end {
            if let Some((_, tail)) = name.filter(|it| !mentions(&end, &it.0)) {
                ends.names.insert(tail.into(), needed);
            }
            ends.add([bytes, &end].concat(), needed);
        }
        if let Some(tail) = tail {
            ends.tails.insert(tail.into(), needed);
        }
        if ends_number {
            (ends.number, ends.any_number) = (Some(needed), any_number);
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
    /// The length after a complete number, and whether all numbers are allowed.
    number: Option<usize>,
    any_number: bool,
    /// By choice: the bytes of the end after it.
    choices: HashMap<usize, Option<Vec<u8>>>,
    /// The length in a text, by the bytes of the token up to its quote.
    texts: HashMap<Box<[u8]>, usize>,
    /// By the bytes of a token after the end of the unfinished text: the length.
    tails: HashMap<Box<[u8]>, usize>,
    /// By the bytes of a token after the end of a new name that the end does not mention: the length.
    names: HashMap<Box<[u8]>, usize>,
    /// Tokens with ends after them, in the order of their bytes, each with its length after the token.
    wholes: Vec<(Vec<u8>, usize)>,
    cuts: Cuts,
}

impl Ends {
    fn add(&mut self, whole: Vec<u8>, needed: usize) {
        let at = self.wholes.partition_point(|it| it.0 < whole);
        self.wholes.insert(at, (whole, needed));
    }

    /// The length after a token in the shortest of the ends that begin with it.
    fn shortest(&mut self, vocab: &Vocab, token: &[u8]) -> Option<usize> {
        let from = self.wholes.partition_point(|it| it.0.as_slice() < token);
        let alike = self.wholes.get(from..)?.iter().take_while(|it| it.0.starts_with(token));
        let end = alike.min_by_key(|it| it.1)?.0.get(token.len()..)?;
        Some(length(&mut self.cuts, vocab, end))
    }
}

/// The number of tokens of an end, and of the one that ends the text.
fn length(cuts: &mut Cuts, vocab: &Vocab, end: &[u8]) -> usize {
    cuts.length(vocab, end).map_or(usize::MAX, |tokens| tokens + 1)
}

/// Whether the end of a program may refer to a name.
fn mentions(end: &[u8], name: &[u8]) -> bool {
    let is_name =
        |text: &[u8]| text.strip_prefix(name).and_then(<[u8]>::first).is_some_and(|it| b"\".}".contains(it));
    (1..end.len()).any(|at| {
        let (before, text) = end.split_at(at);
        matches!(before.last(), Some(b'"' | b'{')) && is_name(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_mention_names_in_texts_paths_and_braces() {
        let mentions = |end: &str| mentions(end.as_bytes(), b"ab");
        for end in [r#"","match":"ab","#, r#"{"ret":"ab.c"}"#, r#"{"ret":"a ${ab}"}"#, r#"{"ret":"${ab.c}"}"#]
        {
            assert!(mentions(end), "{end}");
        }
        for end in ["", r#"ab","expr":null}"#, r#"{"ret":"abc"}"#, r#"{"ret":"cab"}"#, r#"{"ret":["a","b"]}"#]
        {
            assert!(!mentions(end), "{end}");
        }
    }
}
