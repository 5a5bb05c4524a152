//! Tokens within the texts and names of JSON, for masks of bodies in `constrained`: those that end a text, by
//! the bytes after the end, and those that stay in a name.

use super::texts::mask;
use super::{Closer, Prefixes, Vocab, bits};
use crate::automaton::numbers::MOST_WHOLE;
use crate::automaton::texts::is_text;
use crate::automaton::texts::{Inside, Led, PLACES, run};
use ilo_asm::sorting::{sort_by, sort_by_key, sort_numbers};
use std::collections::HashMap;

/// Tokens in a text that may be a reference.
#[derive(Debug, Default)]
pub(crate) struct TextTokens {
    /// The number of their first bytes that are before the text.
    pub(crate) skipped: usize,
    /// Those that end it and make it certainly a text, and the others by their bytes before the end.
    pub(crate) sure: Vec<Closer>,
    pub(crate) unsure: Vec<(Box<[u8]>, Vec<Closer>)>,
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

    fn lists(&mut self) -> impl Iterator<Item = &mut Vec<Closer>> {
        [&mut self.sure].into_iter().chain(self.unsure.iter_mut().map(|it| &mut it.1))
    }

    fn closers(&mut self) -> impl Iterator<Item = &mut Closer> {
        self.lists().flatten()
    }

    fn memory(&self) -> usize {
        let unsure: usize = self.unsure.iter().map(|it| 40 + it.0.len() + 8 * it.1.len()).sum();
        8 * self.sure.len() + unsure + 4 * self.holes.len() + self.hole_tree.memory()
    }
}

/// The tables, made when they are needed.
#[derive(Debug)]
pub(crate) struct JsonTokens {
    /// By position, in the order of their tails.
    closers: Vec<Vec<Closer>>,
    /// In the order of their bytes.
    tails: Vec<Box<[u8]>>,
    /// The tree of them.
    tail_tree: Prefixes,
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
    /// Those of them that no name begins with, and those that begin with a hyphen.
    pub(crate) unfirst: Vec<u32>,
    pub(crate) hyphens: Vec<u32>,
    /// All of them, the longest first.
    pub(crate) long: Vec<u32>,
    /// Tokens with a dot behind the bytes of a name.
    pub(crate) dotted: Vec<u32>,
    /// Tokens that end a name, by their bytes before the end.
    pub(crate) name_ends: Vec<(Box<[u8]>, Vec<Closer>)>,
    /// The mask of the tokens that begin a text and stay in it, or are the beginning of some number.
    pub(crate) values: Box<[u32]>,
    /// The masks of the tokens that stay in a text and begin no reference in it, and of those that begin such
    /// a text.
    pub(crate) stays: Box<[u32]>,
    pub(crate) begins: Box<[u32]>,
    /// The most values and steps that a token can begin.
    pub(crate) openings: usize,
    /// The numbers of the tails, while the tables are made.
    numbers: HashMap<Box<[u8]>, u32>,
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
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().take_while(|byte| !matches!(byte, b'"' | b'}')).all(u8::is_ascii_graphic)
}

/// Whether a token at a plain position of a text begins a reference in it, or such an escape.
fn begins_hole(bytes: &[u8]) -> bool {
    match run(Inside::Plain, bytes) {
        Led::Refused => false,
        Led::Closed(at) => has_hole(bytes.get(..at).unwrap_or_default()),
        Led::On(_) => has_hole(bytes),
    }
}

/// Adds a token to those with these bytes before the end of a text; tokens come in the order of their bytes.
fn add(groups: &mut Vec<(Box<[u8]>, Vec<Closer>)>, before: &[u8], closer: Closer) {
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
            closers: vec![Vec::new(); PLACES.len()],
            tails: Vec::new(),
            tail_tree: Prefixes::default(),
            within: TextTokens::default(),
            opening: TextTokens { skipped: 1, ..TextTokens::default() },
            opens: Vec::new(),
            plain: Prefixes::default(),
            mixed: Prefixes::default(),
            names: mask([], vocab),
            unfirst: Vec::new(),
            hyphens: Vec::new(),
            long: Vec::new(),
            dotted: Vec::new(),
            name_ends: Vec::new(),
            values: Box::default(),
            stays: vocab.texts.plain().into(),
            begins: Box::default(),
            openings: 0,
            numbers: HashMap::new(),
        };
        let (mut plain, mut mixed) = (Vec::new(), Vec::new());
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
            let is_hole = begins_hole(bytes);
            if is_hole {
                found.within.holes.push(token);
            }
            let Some(quote) = bytes.iter().position(|&byte| byte == b'"') else {
                found.name(token, bytes);
                continue;
            };
            if let Some(before) = bytes.get(..quote).filter(|before| is_name(before)) {
                let tail = found.tail(bytes.get(quote + 1..).unwrap_or_default());
                add(&mut found.name_ends, before, Closer { tail, token });
            }
            for (place, &inside) in PLACES.iter().enumerate() {
                let Led::Closed(at) = run(inside, bytes) else { continue };
                let closer = Closer { tail: found.tail(bytes.get(at..).unwrap_or_default()), token };
                if let Some(closers) = found.closers.get_mut(place) {
                    closers.push(closer);
                }
                if inside == Inside::Plain && !is_hole {
                    found.within.closer(closer, bytes.get(..at.saturating_sub(1)).unwrap_or_default());
                }
            }
            let Some(text) = bytes.strip_prefix(b"\"") else { continue };
            if begins_hole(text) {
                found.opening.holes.push(token);
                continue;
            }
            match run(Inside::Plain, text) {
                Led::Refused => {}
                Led::On(_) => found.opens.push(token),
                Led::Closed(at) => {
                    let closer = Closer { tail: found.tail(text.get(at..).unwrap_or_default()), token };
                    found.opening.closer(closer, text.get(..at.saturating_sub(1)).unwrap_or_default());
                }
            }
        }
        found.sort_tails();
        let tails: Vec<u32> = (0..).take(found.tails.len()).collect();
        found.tail_tree = Prefixes::new(&tails, |tail| found.tails.get(tail as usize).map_or(&[], |it| it));
        let tree = |tokens: &[u32]| Prefixes::new(tokens, |token| vocab.token(token));
        (found.plain, found.mixed) = (tree(&plain), tree(&mixed));
        let behind_quote = |token| vocab.token(token).get(1..).unwrap_or_default();
        let numbers = vocab.digits.up_to(MOST_WHOLE, true);
        found.values = mask(found.opens.iter().chain(numbers).copied(), vocab);
        found.within.holes.iter().for_each(|&hole| bits::clear(&mut found.stays, hole));
        let is_plain = |token: &u32| run(Inside::Plain, behind_quote(*token)) == Led::On(Inside::Plain);
        found.begins = mask(found.opens.iter().copied().filter(is_plain), vocab);
        found.within.hole_tree = tree(&found.within.holes);
        found.opening.hole_tree = Prefixes::new(&found.opening.holes, behind_quote);
        sort_numbers(&mut found.long, &|a, b| vocab.token(b).len().cmp(&vocab.token(a).len()));
        found
    }

    /// The number of the bytes after the end of a text.
    fn tail(&mut self, tail: &[u8]) -> u32 {
        let next = u32::try_from(self.tails.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(tail.into()).or_insert(next);
        if number == next {
            self.tails.push(tail.into());
        }
        number
    }

    /// Sorts the tails by their bytes.
    fn sort_tails(&mut self) {
        let mut order: Vec<u32> = (0..).take(self.tails.len()).collect();
        sort_numbers(&mut order, &|a, b| self.tails.get(a as usize).cmp(&self.tails.get(b as usize)));
        let mut places = vec![0; order.len()];
        for (place, &number) in (0..).zip(&order) {
            if let Some(to) = places.get_mut(number as usize) {
                *to = place;
            }
        }
        sort_by(&mut self.tails, Ord::cmp);
        self.numbers = HashMap::new();
        let texts = self.within.closers().chain(self.opening.closers());
        let names = self.name_ends.iter_mut().flat_map(|it| &mut it.1);
        for closer in self.closers.iter_mut().flatten().chain(texts).chain(names) {
            closer.tail = places.get(closer.tail as usize).copied().unwrap_or_default();
        }
        let names = self.name_ends.iter_mut().map(|it| &mut it.1);
        let lists = self.closers.iter_mut().chain(names);
        for closers in lists.chain(self.within.lists()).chain(self.opening.lists()) {
            sort_by_key(closers, |closer| closer.tail);
        }
    }

    fn name(&mut self, token: u32, bytes: &[u8]) {
        if !is_name(bytes) {
            return;
        }
        bits::set(&mut self.names, token);
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

    /// The bytes after the end of a text, by number.
    pub(crate) fn tail_bytes(&self, number: u32) -> &[u8] {
        self.tails.get(number as usize).map_or(&[], |tail| tail)
    }

    pub(crate) fn tails(&self) -> &Prefixes {
        &self.tail_tree
    }

    pub(super) fn memory(&self) -> usize {
        let closers: usize = self.closers.iter().map(|all| 8 * all.len()).sum();
        let texts = self.within.memory() + self.opening.memory();
        let lists =
            self.opens.len() + self.unfirst.len() + self.hyphens.len() + self.long.len() + self.dotted.len();
        let trees = [&self.tail_tree, &self.plain, &self.mixed];
        let trees: usize = trees.into_iter().map(Prefixes::memory).sum();
        let tails: usize = self.tails.iter().map(|it| it.len() + 16).sum();
        let ends: usize = self.name_ends.iter().map(|it| 40 + it.0.len() + 8 * it.1.len()).sum();
        closers + ends + texts + 4 * (lists + 3 * self.names.len() + self.values.len()) + trees + tails
    }
}
