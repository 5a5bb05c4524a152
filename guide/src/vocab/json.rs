//! Tokens within the texts and names of JSON, for masks of bodies in `constrained`: those that end a text, by
//! the bytes after the end, and those that stay in a name.

use super::{Closer, Vocab};
use crate::automaton::texts::is_text;
use crate::automaton::texts::{Inside, Led, PLACES, run};
use std::collections::HashMap;

/// The tables, made when they are needed.
#[derive(Debug)]
pub(crate) struct JsonTokens {
    /// By position.
    closers: Vec<Vec<Closer>>,
    /// In the order of their bytes.
    tails: Vec<Box<[u8]>>,
    /// Tokens that end a text which may be a reference: those that make it certainly a text, and the others.
    pub(crate) bare: [Vec<Closer>; 2],
    /// Tokens that begin a reference in it, or an escape that could be part of one.
    pub(crate) holes: Vec<u32>,
    /// Tokens that begin with a digit and have more than digits.
    pub(crate) mixed: Vec<u32>,
    /// The mask of the tokens whose bytes may all be in a name, except for its first byte and two hyphens.
    pub(crate) names: Box<[u32]>,
    /// Those of them that no name begins with, and those that begin with a hyphen.
    pub(crate) unfirst: Vec<u32>,
    pub(crate) hyphens: Vec<u32>,
    /// All of them, the longest first.
    pub(crate) long: Vec<u32>,
    /// Tokens that end a name, in the order of their bytes.
    pub(crate) ends: Vec<u32>,
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
            closers: vec![Vec::new(); PLACES.len()],
            tails: Vec::new(),
            bare: [Vec::new(), Vec::new()],
            holes: Vec::new(),
            mixed: Vec::new(),
            names: vec![0; vocab.mask_len()].into(),
            unfirst: Vec::new(),
            hyphens: Vec::new(),
            long: Vec::new(),
            ends: Vec::new(),
            openings: 0,
        };
        let mut numbers: HashMap<Box<[u8]>, u32> = HashMap::new();
        for &token in &vocab.sorted {
            let bytes = vocab.token(token);
            found.openings = found.openings.max(openings(bytes));
            if bytes.first().is_some_and(u8::is_ascii_digit) && !bytes.iter().all(u8::is_ascii_digit) {
                found.mixed.push(token);
            }
            let is_hole = match run(Inside::Plain, bytes) {
                Led::Refused => false,
                Led::Closed(at) => has_hole(bytes.get(..at).unwrap_or_default()),
                Led::On(_) => has_hole(bytes),
            };
            if is_hole {
                found.holes.push(token);
            }
            let Some(quote) = bytes.iter().position(|&byte| byte == b'"') else {
                found.name(token, bytes);
                continue;
            };
            if bytes.get(..quote).is_some_and(is_name) {
                found.ends.push(token);
            }
            for (closers, &inside) in found.closers.iter_mut().zip(&PLACES) {
                let Led::Closed(at) = run(inside, bytes) else { continue };
                let tail = bytes.get(at..).unwrap_or_default();
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                let number = *numbers.entry(tail.into()).or_insert(next);
                if number == next {
                    found.tails.push(tail.into());
                }
                let closer = Closer { tail: number, token };
                closers.push(closer);
                if inside == Inside::Plain && !is_hole {
                    let [sure, unsure] = &mut found.bare;
                    let before = bytes.get(..at.saturating_sub(1)).unwrap_or_default();
                    if is_text(before) { sure.push(closer) } else { unsure.push(closer) }
                }
            }
        }
        found.sort_tails();
        found.long.sort_by_key(|&token| core::cmp::Reverse(vocab.token(token).len()));
        found
    }

    /// Sorts the tails by their bytes.
    fn sort_tails(&mut self) {
        let mut order: Vec<u32> = (0..).take(self.tails.len()).collect();
        order.sort_by_key(|&number| self.tails.get(number as usize));
        let mut places = vec![0; order.len()];
        for (place, &number) in (0..).zip(&order) {
            if let Some(to) = places.get_mut(number as usize) {
                *to = place;
            }
        }
        self.tails.sort();
        for closer in self.closers.iter_mut().chain(&mut self.bare).flatten() {
            closer.tail = places.get(closer.tail as usize).copied().unwrap_or_default();
        }
    }

    fn name(&mut self, token: u32, bytes: &[u8]) {
        if !is_name(bytes) {
            return;
        }
        if let Some(word) = self.names.get_mut(token as usize / 32) {
            *word |= 1 << (token % 32);
        }
        self.long.push(token);
        match bytes.first() {
            Some(b'-') => {
                self.hyphens.push(token);
                self.unfirst.push(token);
            }
            Some(b'0'..=b'9' | b'_') => self.unfirst.push(token),
            _ => {}
        }
    }

    pub(crate) fn closers(&self, inside: Inside) -> &[Closer] {
        self.closers.get(crate::automaton::texts::place(inside)).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn tails(&self) -> &[Box<[u8]>] {
        &self.tails
    }

    pub(super) fn memory(&self) -> usize {
        let closers: usize = self.closers.iter().map(|all| 8 * all.len()).sum();
        let closers = closers
            + 8 * self.bare.iter().map(Vec::len).sum::<usize>()
            + 4 * (self.holes.len() + self.mixed.len());
        let lists = self.unfirst.len() + self.hyphens.len() + self.long.len() + self.ends.len();
        closers + 4 * (lists + self.names.len()) + self.tails.iter().map(|it| it.len() + 16).sum::<usize>()
    }
}
