//! Tokens within the texts and names of JSON, for masks of bodies in `constrained`: those that end a text, by
//! the bytes after the end, and those that stay in a name.

use super::texts::mask;
use super::{Closer, Prefixes, Vocab, bits};
use crate::automaton::numbers::{WHOLE, room};
use crate::automaton::texts::{Inside, Led, is_text, run};
use ilo_asm::sorting::{sort_by_key, sort_numbers};

/// Tokens that end a text or a name, by their bytes before the end.
type ByBeginning = Vec<(Box<[u8]>, Vec<Closer>)>;

fn memory(groups: &ByBeginning) -> usize {
    groups.iter().map(|it| 40 + it.0.len() + 8 * it.1.len()).sum()
}

/// Tokens in a text that may be a reference.
#[derive(Debug, Default)]
pub(crate) struct TextTokens {
    /// The number of their first bytes that are before the text.
    pub(crate) skipped: usize,
    /// Those that end it and make it certainly a text, and the others by their bytes before the end.
    pub(crate) sure: Vec<Closer>,
    pub(crate) unsure: ByBeginning,
    /// Those that begin a reference in it, or an escape that could be part of one.
    pub(crate) holes: Vec<u32>,
    pub(crate) hole_tree: Prefixes,
}

impl TextTokens {
    fn closer(&mut self, closer: Closer, before: &[u8]) {
        match before {
            _ if is_text(before) => self.sure.push(closer),
            _ => add(&mut self.unsure, before, closer),
        }
    }

    fn memory(&self) -> usize {
        8 * self.sure.len() + memory(&self.unsure) + 4 * self.holes.len() + self.hole_tree.memory()
    }
}

/// The tables, made when they are needed.
#[derive(Debug, Default)]
pub(crate) struct JsonTokens {
    /// Tokens at a plain position of a text.
    pub(crate) within: TextTokens,
    /// Tokens that begin with the quote of a text, and those of them that stay in it.
    pub(crate) opening: TextTokens,
    pub(crate) opens: Vec<u32>,
    /// The tokens that [`is_plain`] describes.
    pub(crate) plain: Prefixes,
    /// Tokens that begin with a digit and have more than digits.
    pub(crate) mixed: Prefixes,
    /// The mask of the tokens whose bytes may all be in a name, except for its first byte and two hyphens.
    pub(crate) names: Box<[u32]>,
    /// All of them, the longest first.
    pub(crate) long: Vec<u32>,
    /// Tokens with a dot behind the bytes of a name.
    pub(crate) dotted: Vec<u32>,
    /// Tokens that end a name, by their bytes before the end.
    pub(crate) name_ends: ByBeginning,
    /// The mask of the tokens that begin a text and stay in it, or are the beginning of some number.
    pub(crate) values: Box<[u32]>,
    /// The masks of the tokens that stay in a text and begin no reference in it, and of those that begin such
    /// a text.
    pub(crate) stays: Box<[u32]>,
    pub(crate) begins: Box<[u32]>,
    /// The most values and steps that a token can begin.
    pub(crate) openings: usize,
}

/// The number of values and steps that a token can begin, at positions that JSON allows.
fn openings(bytes: &[u8]) -> usize {
    let has = |wanted: &[u8]| bytes.windows(wanted.len()).any(|it| it == wanted);
    if has(b"{{") || has(b"\"\"\"") {
        return 0;
    }
    let opening = bytes.iter().filter(|byte| matches!(byte, b'{' | b'[' | b'"')).count();
    opening.min(1 + bytes.len() / 2)
}

/// Whether bytes consist of printable ASCII without blanks up to the first one that may begin a text or
/// continue one.
fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().take_while(|byte| !matches!(byte, b'"' | b'}')).all(u8::is_ascii_graphic)
}

/// Adds a token to those with these bytes before the end of a text; tokens come in the order of their bytes.
fn add(groups: &mut ByBeginning, before: &[u8], closer: Closer) {
    match groups.last_mut() {
        Some((last, closers)) if **last == *before => closers.push(closer),
        _ => groups.push((before.into(), vec![closer])),
    }
}

/// Whether a reference begins in a text, or an escape that could be part of one.
fn has_hole(text: &[u8]) -> bool {
    text.windows(2).any(|pair| pair == b"${" || pair == b"\\u")
}

fn is_name(bytes: &[u8]) -> bool {
    let fits = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    bytes.iter().all(fits) && !bytes.windows(2).any(|pair| pair == b"--")
}

impl JsonTokens {
    pub(super) fn new(vocab: &Vocab) -> JsonTokens {
        let mut found = JsonTokens {
            opening: TextTokens { skipped: 1, ..TextTokens::default() },
            names: mask([], vocab),
            stays: vocab.texts.plain.clone(),
            ..JsonTokens::default()
        };
        let (mut plain, mut mixed) = (Vec::new(), Vec::new());
        let closer = |token, behind| vocab.tails.closer(vocab, token, behind);
        for &token in &vocab.sorted {
            let bytes = vocab.token(token);
            found.openings = found.openings.max(openings(bytes));
            if bytes.first().is_some_and(u8::is_ascii_digit) && !bytes.iter().all(u8::is_ascii_digit) {
                mixed.push(token);
            }
            if is_plain(bytes) {
                plain.push(token);
            }
            let dot = bytes.iter().position(|&byte| byte == b'.');
            if dot.and_then(|dot| bytes.get(..dot)).is_some_and(is_name) {
                found.dotted.push(token);
            }
            // Also behind a quote: that may be escaped.
            let is_hole = has_hole(bytes);
            if is_hole {
                found.within.holes.push(token);
            }
            let Some(quote) = bytes.iter().position(|&byte| byte == b'"') else {
                if is_name(bytes) {
                    bits::set(&mut found.names, token);
                    found.long.push(token);
                }
                continue;
            };
            if let Some(before) = bytes.get(..quote).filter(|before| is_name(before)) {
                add(&mut found.name_ends, before, closer(token, quote + 1));
            }
            if let (Led::Closed(at), false) = (run(Inside::Plain, bytes), is_hole) {
                let before = bytes.get(..at.saturating_sub(1)).unwrap_or_default();
                found.within.closer(closer(token, at), before);
            }
            let Some(text) = bytes.strip_prefix(b"\"") else { continue };
            if has_hole(text) {
                found.opening.holes.push(token);
                continue;
            }
            match run(Inside::Plain, text) {
                Led::Refused => {}
                Led::On(_) => found.opens.push(token),
                Led::Closed(at) => {
                    let before = text.get(..at.saturating_sub(1)).unwrap_or_default();
                    found.opening.closer(closer(token, 1 + at), before);
                }
            }
        }
        // Tokens with the same bytes before the end are in that order.
        sort_by_key(&mut found.within.sure, |closer| closer.tail);
        sort_by_key(&mut found.opening.sure, |closer| closer.tail);
        let tree = |tokens: &[u32]| Prefixes::new(tokens, |token| vocab.token(token));
        (found.plain, found.mixed) = (tree(&plain), tree(&mixed));
        let behind_quote = |token| vocab.token(token).get(1..).unwrap_or_default();
        let fits = |token: &&u32| room(vocab.token(**token)).is_some();
        let numbers = vocab.digits.up_to(WHOLE, true).iter().filter(fits);
        found.values = mask(found.opens.iter().chain(numbers).copied(), vocab);
        found.within.holes.iter().for_each(|&hole| bits::clear(&mut found.stays, hole));
        let is_plain = |token: &u32| run(Inside::Plain, behind_quote(*token)) == Led::On(Inside::Plain);
        found.begins = mask(found.opens.iter().copied().filter(is_plain), vocab);
        found.within.hole_tree = tree(&found.within.holes);
        found.opening.hole_tree = Prefixes::new(&found.opening.holes, behind_quote);
        sort_numbers(&mut found.long, &|a, b| vocab.token(b).len().cmp(&vocab.token(a).len()));
        found
    }

    pub(super) fn memory(&self) -> usize {
        let texts = self.within.memory() + self.opening.memory();
        let lists = self.opens.len() + self.long.len() + self.dotted.len();
        let trees = self.plain.memory() + self.mixed.memory();
        memory(&self.name_ends) + texts + 4 * (lists + 3 * self.names.len() + self.values.len()) + trees
    }
}
