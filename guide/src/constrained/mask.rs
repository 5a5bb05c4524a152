//! Masks of bodies in `constrained`: tokens byte by byte along their common prefixes; in texts and names by
//! the tables of the vocabulary.

use super::acts::Act;
use super::machine::{Lex, Machine, Next};
use super::names::FREE;
use crate::automaton::offers::NUMBER;
use crate::automaton::state::Frame;
use crate::automaton::steps::Constant;
use crate::automaton::texts::{Inside, is_text, place};
use crate::vocab::{Closer, Prefixes, TextTokens, Vocab};
use core::ops::RangeInclusive;
use ilo_asm::catalog::Shape;
use ilo_asm::text::is_name;
use ilo_spec::node::Word;

pub(super) fn clear(bits: &mut [u32], token: u32) {
    if let Some(word) = bits.get_mut(token as usize / 32) {
        *word &= !(1 << (token % 32));
    }
}

pub(super) fn has(bits: &[u32], token: u32) -> bool {
    bits.get(token as usize / 32).is_some_and(|word| word >> (token % 32) & 1 == 1)
}

pub(super) fn set(bits: &mut [u32], token: u32) {
    if let Some(word) = bits.get_mut(token as usize / 32) {
        *word |= 1 << (token % 32);
    }
}

/// A text with more bytes than this is checked token by token, since it may have no room.
const ROOM: usize = 8 << 10;

/// All first bytes of tokens, and those of tokens that are digits.
pub(super) const ANY: RangeInclusive<u8> = 0..=u8::MAX;
const DIGITS: RangeInclusive<u8> = b'0'..=b'9';

/// Those of some tokens, in the order of their tails, that have one of these.
fn with_tails<'v>(closers: &'v [Closer], tails: &'v [u32]) -> impl Iterator<Item = &'v Closer> {
    tails.iter().flat_map(|&tail| {
        let from = closers.partition_point(|closer| closer.tail < tail);
        closers.iter().skip(from).take_while(move |closer| closer.tail == tail)
    })
}

impl<'c> Machine<'_, 'c> {
    /// Sets the tokens that may come next, and clears all others.
    pub(super) fn fill(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        let lex = self.place.lex;
        if !matches!(lex, Lex::Text { .. } | Lex::Bare { .. }) {
            bits.fill(0);
        }
        match lex {
            Lex::Text { start, inside, key } if self.text.len() - start + vocab.longest < ROOM => {
                self.fill_text(vocab, start, inside, key, bits);
            }
            Lex::Bare { inside, dollar } if self.written_text().len() + vocab.longest < ROOM => {
                self.fill_bare(vocab, inside, dollar, bits);
            }
            Lex::Name { start, .. } => self.fill_name(vocab, start, bits),
            Lex::Number { start } => {
                let written = self.text.get(start..).unwrap_or_default();
                self.core.number_digits(vocab, written, bits);
                self.walk_but(vocab, &[DIGITS], bits);
                self.walk(vocab, &vocab.json().mixed, bits);
            }
            Lex::Choice { depth: 0, .. } => self.fill_first(vocab, bits),
            Lex::Text { .. } | Lex::Bare { .. } => {
                bits.fill(0);
                self.walk(vocab, vocab.all(), bits);
            }
            Lex::Choice { .. } => self.walk_all(vocab, ANY, bits),
        }
    }

    /// Sets the tokens that may come next between choices: those that begin a number or a text mostly from
    /// the tables.
    fn fill_first(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        let choices = self.choices();
        let has = |is: fn(Act) -> bool| choices.listed().iter().any(|choice| is(choice.act));
        let mut known = Vec::new();
        if has(|act| matches!(act, Act::Quote(_))) {
            self.attempt(|this| {
                if this.byte(b'"') {
                    this.fill_opening(vocab, bits);
                }
            });
            known.push(b'"'..=b'"');
        }
        let is_value = has(|act| act == Act::Number);
        if is_value || has(|act| act == Act::NumberKey) {
            self.attempt(|this| {
                if is_value {
                    this.literal(NUMBER);
                }
                this.core.number_digits(vocab, b"", bits);
            });
            self.walk(vocab, &vocab.json().mixed, bits);
            known.push(DIGITS);
        }
        self.walk_but(vocab, &known, bits);
    }

    /// Sets the tokens that begin a text that may be a reference, after their quote.
    fn fill_opening(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        let json = vocab.json();
        json.opens.iter().for_each(|&token| set(bits, token));
        self.fill_holes(vocab, &json.opening, bits);
        self.fill_ends(vocab, &json.opening, bits);
    }

    /// Sets those of all tokens that may come next, except for some first bytes, which are in order.
    fn walk_but(&mut self, vocab: &Vocab, known: &[RangeInclusive<u8>], bits: &mut [u32]) {
        let mut from = Some(0);
        for bytes in known {
            if let Some((from, to)) = from.zip(bytes.start().checked_sub(1)) {
                self.walk_all(vocab, from..=to, bits);
            }
            from = bytes.end().checked_add(1);
        }
        if let Some(from) = from {
            self.walk_all(vocab, from..=u8::MAX, bits);
        }
    }

    /// Sets the tokens that stay in a text, from the tables, and those that end it.
    fn fill_text(&mut self, vocab: &Vocab, start: usize, inside: Inside, key: bool, bits: &mut [u32]) {
        vocab.texts.fill(place(inside), bits);
        let json = vocab.json();
        let closers = json.closers(inside);
        let written = self.text.get(start + 1..).unwrap_or_default().to_vec();
        // What follows a literal does not depend on its content, except for a name in AT.
        if let Some(shape) = self.in_at().filter(|_| !key) {
            return self.fill_names_in_at(vocab, shape, &written, closers, 0, bits);
        }
        let fits = self.attempt(|this| {
            if !key && !this.core.takes_constant(Constant::Text("")) {
                return Vec::new();
            }
            this.core.take_constant(Constant::Text(""));
            if key {
                this.goes_on(Next::Colon);
            } else {
                this.after();
            }
            this.tails(vocab)
        });
        let fit = with_tails(closers, &fits);
        if !key {
            fit.for_each(|it| set(bits, it.token));
            return;
        }
        let as_it_is = self.may_be_key(&written);
        for closer in fit {
            let bytes = vocab.token(closer.token);
            let fits = match bytes.iter().position(|&byte| byte == b'"') {
                Some(0) if inside == Inside::Plain => as_it_is,
                Some(at) => self.may_be_key(&[&written, bytes.get(..at).unwrap_or_default()].concat()),
                None => None,
            };
            if fits.unwrap_or_else(|| self.takes(bytes)) {
                set(bits, closer.token);
            }
        }
    }

    /// Sets those of these tokens that may end a text that names a field of a value. All texts that name no
    /// known field have the same effect.
    fn fill_names_in_at(
        &mut self,
        vocab: &Vocab,
        shape: Shape<'_>,
        written: &[u8],
        closers: &[Closer],
        skipped: usize,
        bits: &mut [u32],
    ) {
        let names: Vec<&[u8]> = shape.names().map(str::as_bytes).collect();
        let mut others: Option<Vec<u32>> = None;
        for closer in closers {
            let bytes = vocab.token(closer.token).get(skipped..).unwrap_or_default();
            let end = bytes.iter().position(|&byte| byte == b'"').unwrap_or_default();
            let whole = [written, bytes.get(..end).unwrap_or_default()].concat();
            let is_known = whole.contains(&b'\\') || names.binary_search(&whole.as_slice()).is_ok();
            let fits = if is_known {
                self.takes(bytes)
            } else {
                let tails = others.get_or_insert_with(|| {
                    self.attempt(|this| {
                        let ends = bytes.iter().take(end + 1).all(|&byte| this.byte(byte));
                        if ends { this.tails(vocab) } else { Vec::new() }
                    })
                });
                tails.binary_search(&closer.tail).is_ok()
            };
            if fits {
                set(bits, closer.token);
            }
        }
    }

    /// Whether a text may be the key of the case; `None` if it has escapes.
    fn may_be_key(&self, text: &[u8]) -> Option<bool> {
        let text = core::str::from_utf8(text).ok().filter(|text| !text.contains('\\'))?;
        Some(self.core.takes_constant(Constant::Text(text)) && !self.meets_more(text))
    }

    /// Sets those of these tokens that may come next, after the first bytes of each.
    fn each<'v>(
        &mut self,
        vocab: &Vocab,
        tokens: impl IntoIterator<Item = &'v Closer>,
        skipped: usize,
        bits: &mut [u32],
    ) {
        for closer in tokens {
            if self.takes(vocab.token(closer.token).get(skipped..).unwrap_or_default()) {
                set(bits, closer.token);
            }
        }
    }

    /// The tails that may come next, in order.
    fn tails(&mut self, vocab: &Vocab) -> Vec<u32> {
        let json = vocab.json();
        let mut fits = Vec::new();
        self.walk_tree(json.tails(), ANY, |tail| json.tail_bytes(tail), |tail| fits.push(tail));
        fits
    }

    /// Sets the tokens that stay in a text that may be a reference, from the tables, and those that end it:
    /// by the bytes after its end if it is certainly a text.
    fn fill_bare(&mut self, vocab: &Vocab, inside: Inside, dollar: bool, bits: &mut [u32]) {
        vocab.texts.fill(place(inside), bits);
        let json = vocab.json();
        self.fill_holes(vocab, &json.within, bits);
        if inside != Inside::Plain {
            self.clear_escaped_marks(vocab, inside, bits);
            return self.each(vocab, json.closers(inside), 0, bits);
        }
        self.fill_ends(vocab, &json.within, bits);
        if dollar {
            let (from, to) = vocab.beginning(b"{");
            let tokens = vocab.sorted.get(from..to).unwrap_or_default();
            tokens.iter().for_each(|&token| clear(bits, token));
            self.walk_all(vocab, b'{'..=b'{', bits);
        }
    }

    /// Sets the tokens that begin a reference in a text, and clears those that may not.
    fn fill_holes(&mut self, vocab: &Vocab, tokens: &TextTokens, bits: &mut [u32]) {
        if !tokens.holes.is_empty() {
            self.hole_choices();
        }
        tokens.holes.iter().for_each(|&token| clear(bits, token));
        self.walk_from(vocab, &tokens.hole_tree, ANY, tokens.skipped, bits);
    }

    /// Sets the tokens that end a text that may be a reference.
    fn fill_ends(&mut self, vocab: &Vocab, tokens: &TextTokens, bits: &mut [u32]) {
        let is_sure = is_text(self.written_text());
        let in_at = self.opens_in_at();
        let fits = self.attempt(|this| {
            // One blank makes it a text.
            let ends = in_at.is_none() && (is_sure || this.byte(b' ')) && this.byte(b'"');
            if ends { this.tails(vocab) } else { Vec::new() }
        });
        let mut give = |closers: &[Closer], fits: &[u32]| {
            with_tails(closers, fits).for_each(|it| set(bits, it.token));
        };
        give(&tokens.sure, &fits);
        for (before, closers) in &tokens.unsure {
            if in_at.is_none() && (is_sure || self.ends_text(before)) {
                give(closers, &fits);
                continue;
            }
            let fits = self.attempt(|this| {
                let ends = before.iter().chain(b"\"").all(|&byte| this.byte(byte));
                if ends { this.tails(vocab) } else { Vec::new() }
            });
            give(closers, &fits);
        }
        if let Some(shape) = in_at {
            let written = self.written_text().to_vec();
            self.fill_names_in_at(vocab, shape, &written, &tokens.sure, tokens.skipped, bits);
        }
    }

    /// Whether the text would not be a reference if it ended after these bytes.
    fn ends_text(&self, behind: &[u8]) -> bool {
        let whole = [self.written_text(), behind].concat();
        if is_text(&whole) {
            return true;
        }
        let whole = core::str::from_utf8(&whole).ok();
        whole.is_some_and(|text| {
            let is_plain = !text.bytes().any(|byte| matches!(byte, b'$' | b'.' | b'\\'));
            is_plain && !(is_name(text) && self.meets_name(text))
        })
    }

    /// The value of which the unfinished literal names a field, if its fields are known.
    pub(super) fn in_at(&self) -> Option<Shape<'c>> {
        let parent = self.core.frame().and_then(|frame| self.core.frames.get(frame.parent as usize));
        parent.and_then(|parent| self.at_shape(parent))
    }

    /// Clears the tokens that would make an escape one of a byte that marks references.
    fn clear_escaped_marks(&self, vocab: &Vocab, inside: Inside, bits: &mut [u32]) {
        let written = match inside {
            Inside::Escape => 0,
            Inside::Unicode(digits, _) => 1 + usize::from(digits),
            _ => return,
        };
        for mark in [b"u0024", b"u007b", b"u007B"] {
            let (before, rest) = mark.split_at(written.min(mark.len()));
            if self.text.ends_with(before) {
                let (from, to) = vocab.beginning(rest);
                let tokens = vocab.sorted.get(from..to).unwrap_or_default();
                tokens.iter().for_each(|&token| clear(bits, token));
            }
        }
    }

    /// The same for the value that is next, if it is a text.
    pub(super) fn opens_in_at(&self) -> Option<Shape<'c>> {
        self.core.frame().and_then(|frame| self.at_shape(&frame))
    }

    fn at_shape(&self, frame: &Frame) -> Option<Shape<'c>> {
        let is_name = frame.word == Word::At && frame.index == 1;
        self.core.arena.value(frame.first).part.shape().filter(|_| is_name)
    }

    /// Sets the tokens that stay in a name, from the tables, and those that end it.
    fn fill_name(&mut self, vocab: &Vocab, start: usize, bits: &mut [u32]) {
        let json = vocab.json();
        bits.iter_mut().zip(&json.names).for_each(|(to, from)| *to |= from);
        let written = self.text.len() - start;
        let refused: &[u32] = match self.text.last().filter(|_| written > 0) {
            None => &json.unfirst,
            Some(b'-') => &json.hyphens,
            Some(_) => &[],
        };
        refused.iter().for_each(|&token| clear(bits, token));
        // Tokens that make the name long are checked: it must still become one that is free.
        for &token in &json.long {
            let bytes = vocab.token(token);
            if written + bytes.len() < FREE {
                break;
            }
            if !self.takes(bytes) {
                clear(bits, token);
            }
        }
        self.walk(vocab, &json.ends, bits);
    }

    /// Sets those of all tokens with these first bytes that may come next. The position is not in a text.
    fn walk_all(&mut self, vocab: &Vocab, first: RangeInclusive<u8>, bits: &mut [u32]) {
        let plain = self.core.session.json().plain;
        self.walk_from(vocab, if plain { &vocab.json().plain } else { vocab.all() }, first, 0, bits);
    }

    /// Sets those of the tokens of a tree that may come next.
    fn walk(&mut self, vocab: &Vocab, tree: &Prefixes, bits: &mut [u32]) {
        self.walk_from(vocab, tree, ANY, 0, bits);
    }

    /// Sets those of the tokens of a tree that may come next, after the first bytes of each.
    fn walk_from(
        &mut self,
        vocab: &Vocab,
        tree: &Prefixes,
        first: RangeInclusive<u8>,
        skipped: usize,
        bits: &mut [u32],
    ) {
        let text = |token| vocab.token(token).get(skipped..).unwrap_or_default();
        self.walk_tree(tree, first, text, |token| set(bits, token));
        for &(token, equal) in tree.equal() {
            if has(bits, token) {
                set(bits, equal);
            }
        }
    }
}
