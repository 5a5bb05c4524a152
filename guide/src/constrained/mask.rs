//! Masks of bodies in `constrained`: tokens in the order of their bytes, from each that fits to the next; in
//! texts and names by the tables of the vocabulary.

use super::acts::Act;
use super::machine::{Lex, Look, Machine, Next, Point};
use super::names::FREE;
use crate::automaton::offers::NUMBER;
use crate::automaton::steps::Constant;
use crate::automaton::texts::{Inside, is_text, place};
use crate::vocab::{Closer, Vocab};
use ilo_spec::node::Word;

pub(super) fn clear(bits: &mut [u32], token: u32) {
    if let Some(word) = bits.get_mut(token as usize / 32) {
        *word &= !(1 << (token % 32));
    }
}

pub(super) fn set(bits: &mut [u32], token: u32) {
    if let Some(word) = bits.get_mut(token as usize / 32) {
        *word |= 1 << (token % 32);
    }
}

/// A text with more bytes than this is checked token by token, since it may have no room.
const ROOM: usize = 8 << 10;

/// The first index, from one on, at which a condition is false; all earlier ones are true. Mostly these are
/// few.
fn leading(from: usize, count: usize, is_so: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (from, 1);
    while low + step <= count && is_so(low + step - 1) {
        low += step;
        step *= 2;
    }
    let mut high = count.min(low + step - 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        if is_so(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// How a walk goes back.
enum Back {
    /// Only the position in a choice or a number has changed.
    Lex(Lex),
    All(Box<Point>),
}

impl Machine<'_, '_> {
    /// Sets the tokens that may come next.
    pub(super) fn fill(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        match self.place.lex {
            Lex::Text { start, inside, key } if self.text.len() - start + vocab.longest < ROOM => {
                self.fill_text(vocab, inside, key, bits);
            }
            Lex::Bare { inside, dollar } if self.written_text().len() + vocab.longest < ROOM => {
                self.fill_bare(vocab, inside, dollar, bits);
            }
            Lex::Name { start, .. } => self.fill_name(vocab, start, bits),
            Lex::Number { start } => {
                let written = self.text.get(start..).unwrap_or_default();
                self.core.number_digits(vocab, written, bits);
                self.walk_behind_digits(vocab, bits);
            }
            Lex::Choice { depth: 0, .. } => {
                if self.digits(vocab, bits) {
                    self.walk_behind_digits(vocab, bits);
                } else {
                    self.walk(vocab, &vocab.sorted, bits);
                }
            }
            _ => self.walk(vocab, &vocab.sorted, bits),
        }
    }

    /// Sets the tokens that are digits alone, if a number may begin.
    fn digits(&mut self, vocab: &Vocab, bits: &mut [u32]) -> bool {
        let choices = self.choices();
        let has = |act: Act| choices.iter().any(|choice| choice.act == act);
        if has(Act::Number) {
            self.attempt(|this| {
                this.literal(NUMBER);
                this.core.number_digits(vocab, b"", bits);
            });
        } else if has(Act::NumberKey) {
            self.core.number_digits(vocab, b"", bits);
        } else {
            return false;
        }
        true
    }

    /// Sets those tokens among those that are more than digits that may come next.
    fn walk_behind_digits(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        let (from, to) = (vocab.beginning(b"0").0, vocab.beginning(b"9").1);
        self.walk(vocab, vocab.sorted.get(..from).unwrap_or_default(), bits);
        self.walk(vocab, &vocab.json().mixed, bits);
        self.walk(vocab, vocab.sorted.get(to..).unwrap_or_default(), bits);
    }

    /// Sets the tokens that stay in a text, from the tables, and those that end it.
    fn fill_text(&mut self, vocab: &Vocab, inside: Inside, key: bool, bits: &mut [u32]) {
        vocab.texts.fill(place(inside), bits);
        let json = vocab.json();
        let closers = json.closers(inside);
        // What follows a literal does not depend on its content, except for a name in AT.
        if !key && self.in_at() {
            let tokens: Vec<u32> = closers.iter().map(|it| it.token).collect();
            return self.walk(vocab, &tokens, bits);
        }
        let fits = self.attempt(|this| {
            this.core.take_constant(Constant::Text(""));
            if key {
                this.goes_on(Next::Colon);
            } else {
                this.after();
            }
            this.tails(json.tails())
        });
        let fit = closers.iter().filter(|it| fits.get(it.tail as usize).copied().unwrap_or_default());
        if key {
            // It must differ from other keys.
            let tokens: Vec<u32> = fit.map(|it| it.token).collect();
            return self.walk(vocab, &tokens, bits);
        }
        fit.for_each(|it| set(bits, it.token));
    }

    /// Finds which of these may come next.
    fn tails(&mut self, tails: &[Box<[u8]>]) -> Vec<bool> {
        let mut fits = vec![false; tails.len()];
        self.walk_all(
            tails.len(),
            |at| tails.get(at).map_or(&[], |tail| tail),
            |at| {
                if let Some(fit) = fits.get_mut(at) {
                    *fit = true;
                }
            },
        );
        fits
    }

    /// Sets the tokens that stay in a text that may be a reference, from the tables, and those that end it:
    /// by the bytes after its end if it is certainly a text.
    fn fill_bare(&mut self, vocab: &Vocab, inside: Inside, dollar: bool, bits: &mut [u32]) {
        vocab.texts.fill(place(inside), bits);
        let json = vocab.json();
        let again = |this: &mut Self, tokens: &[u32], bits: &mut [u32]| {
            tokens.iter().for_each(|&token| clear(bits, token));
            this.walk(vocab, tokens, bits);
        };
        if !json.holes.is_empty() {
            self.hole_choices();
        }
        again(self, &json.holes, bits);
        if inside != Inside::Plain {
            self.clear_escaped_marks(vocab, inside, bits);
            let closers: Vec<u32> = json.closers(inside).iter().map(|it| it.token).collect();
            return self.walk(vocab, &closers, bits);
        }
        let [sure, unsure] = &json.bare;
        let is_text = is_text(self.written_text()) && !self.opens_in_at();
        let fits = self.attempt(|this| {
            // One blank makes it a text.
            let ends = (is_text || this.byte(b' ')) && this.byte(b'"');
            if ends { this.tails(json.tails()) } else { Vec::new() }
        });
        let known = |it: &&Closer| fits.get(it.tail as usize).copied().unwrap_or_default();
        if self.opens_in_at() {
            let tokens: Vec<u32> = json.closers(inside).iter().map(|it| it.token).collect();
            self.walk(vocab, &tokens, bits);
        } else {
            sure.iter().filter(known).for_each(|it| set(bits, it.token));
            if is_text {
                unsure.iter().filter(known).for_each(|it| set(bits, it.token));
            } else {
                let tokens: Vec<u32> = unsure.iter().map(|it| it.token).collect();
                self.walk(vocab, &tokens, bits);
            }
        }
        if dollar {
            let (from, to) = vocab.beginning(b"{");
            again(self, vocab.sorted.get(from..to).unwrap_or_default(), bits);
        }
    }

    /// Whether the unfinished literal is an operand of AT.
    pub(super) fn in_at(&self) -> bool {
        let parent = self.core.frame().and_then(|frame| self.core.frames.get(frame.parent as usize));
        parent.is_some_and(|parent| parent.word == Word::At)
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

    /// Whether the value that is next is an operand of AT.
    pub(super) fn opens_in_at(&self) -> bool {
        self.core.frame().is_some_and(|frame| frame.word == Word::At)
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
            if !self.attempt(|this| bytes.iter().all(|&byte| this.byte(byte))) {
                clear(bits, token);
            }
        }
        self.walk(vocab, &json.ends, bits);
    }

    /// Sets those of the tokens, in the order of their bytes, that fit.
    fn walk(&mut self, vocab: &Vocab, tokens: &[u32], bits: &mut [u32]) {
        let token = |at: usize| tokens.get(at).copied().unwrap_or_default();
        self.walk_all(tokens.len(), |at| vocab.token(token(at)), |at| set(bits, token(at)));
    }

    /// Finds which of these texts, in the order of their bytes, may come next.
    fn walk_all<'t>(&mut self, count: usize, text: impl Fn(usize) -> &'t [u8], mut fits: impl FnMut(usize)) {
        let mut path: Vec<(u8, Back)> = Vec::new();
        let length = self.text.len();
        let mut at = 0;
        while at < count {
            let bytes = text(at);
            let common = path.iter().zip(bytes).take_while(|(known, byte)| known.0 == **byte).count();
            self.undo(&mut path, common, length);
            let mut refused = None;
            for (place, &byte) in bytes.iter().enumerate().skip(common) {
                let back = match self.look(byte) {
                    Look::Refused => {
                        refused = Some(place);
                        break;
                    }
                    Look::On(next) => {
                        self.text.push(byte);
                        Back::Lex(core::mem::replace(&mut self.place.lex, next))
                    }
                    Look::Unknown => {
                        let point = self.point();
                        if !self.byte(byte) {
                            self.back(&point);
                            refused = Some(place);
                            break;
                        }
                        Back::All(Box::new(point))
                    }
                };
                path.push((byte, back));
            }
            let Some(place) = refused else {
                fits(at);
                at += 1;
                continue;
            };
            // All that begin like this one are refused too, up to the next byte that may come.
            let prefix = bytes.get(..place).unwrap_or_default();
            let next = bytes.get(place).and_then(|&byte| self.next_byte(byte));
            at = leading(at, count, |at| {
                let other = text(at);
                other.starts_with(prefix) && next.is_none_or(|next| other.get(place) < Some(&next))
            });
        }
        self.undo(&mut path, 0, length);
    }

    /// Goes back to before the byte at a place of the path, which began with a text of this length.
    fn undo(&mut self, path: &mut Vec<(u8, Back)>, place: usize, length: usize) {
        let Some(undone) = path.get(place..) else { return };
        // The first change of more than a position undoes all that follow it.
        if let Some(Back::All(point)) = undone.iter().map(|it| &it.1).find(|it| matches!(it, Back::All(_))) {
            self.back(point);
        }
        if let Some((_, Back::Lex(lex))) = undone.first() {
            self.place.lex = *lex;
        }
        self.text.truncate(length + place);
        path.truncate(place);
    }
}
