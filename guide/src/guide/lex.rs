//! The bytes of a body in ID text: which may come next within and between tokens, and the tokens that they
//! form.

use crate::automaton::integers::Integers;
use crate::automaton::offers::{BOOL, NIL, NUMBER, TEXT, Words, one};
use crate::automaton::state::{Core, LINES, Lengths, Phase, State};
use crate::automaton::steps::Constant;
use crate::automaton::texts::{self, Inside, Step};
use crate::surface::Bytes;
use crate::surface::walk::{Look, Walk};
use ilo_spec::node::{TABLE, Word};
use std::sync::OnceLock;

/// The most bytes of a line in which a text continues.
pub(super) const LINE: usize = 32 << 10;
/// The most bytes of a word.
const LONGEST_WORD: usize = 16;

/// The position in a token at which the text ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lex {
    /// At the start of a line, after this number of blanks.
    Line(u8),
    /// At the start of a token.
    Start,
    /// In a word that began this number of bytes before; at the start of a line with its level; the words
    /// that it may be.
    Word(u8, Option<u8>, Words),
    /// In an integer.
    Integer(u32),
    /// In a number with this number of bytes.
    Number(u8),
    /// In a text that began at this byte.
    Text(usize, Inside),
    /// After a token that its last byte ends.
    Behind,
}

/// A body in ID text.
#[derive(Clone)]
pub struct Machine<'s, 'c> {
    pub(crate) core: Core<'s, 'c>,
    pub(super) text: Vec<u8>,
    pub(super) lex: Lex,
    /// The words of the next token; at the start of a line, by level.
    pub(super) words: Offered,
    /// Where the line begins.
    pub(super) line: usize,
    pub(super) walk: Walk<Lex, Point>,
}

/// A position to return to.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub(super) state: State,
    pub(super) lengths: Lengths,
    pub(super) text: usize,
    pub(super) lex: Lex,
    pub(super) words: Offered,
    pub(super) line: usize,
}

/// The possible next tokens, computed when needed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Offered {
    Unasked,
    /// Words, and integers.
    Token(Words, Integers),
    /// The words of a line by level, and the levels that were computed.
    Line([Words; LINES as usize], u16),
}

/// The words that have this byte at a position.
fn words_with() -> &'static [[Words; 128]] {
    static WORDS: OnceLock<Vec<[Words; 128]>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let mut words = vec![[0; 128]; LONGEST_WORD];
        for row in TABLE {
            for (place, byte) in words.iter_mut().zip(row.mnemonic.bytes()) {
                if let Some(cell) = place.get_mut(usize::from(byte)) {
                    *cell |= one(row.word);
                }
            }
        }
        words
    })
}

/// The words among these that have this byte at a position.
fn narrow(words: Words, place: usize, byte: u8) -> Words {
    words & words_with().get(place).and_then(|row| row.get(usize::from(byte))).copied().unwrap_or_default()
}

impl<'s, 'c> Machine<'s, 'c> {
    pub(super) fn new(core: Core<'s, 'c>) -> Self {
        let (lex, words) = (Lex::Line(0), Offered::Unasked);
        let mut machine = Machine { core, text: Vec::new(), lex, words, line: 0, walk: Walk::default() };
        machine.offer_line();
        machine
    }

    fn offer_line(&mut self) {
        self.words = Offered::Line([0; LINES as usize], 0);
        self.lex = Lex::Line(0);
        self.line = self.text.len();
    }

    fn offer(&mut self) {
        self.words = Offered::Unasked;
        self.lex = Lex::Start;
    }

    /// Computes the words and integers of the next token, if that was not done.
    fn ask(&mut self) {
        if matches!(self.words, Offered::Unasked) {
            let words = self.core.trial(Core::words);
            let integers = self.core.integers();
            self.words = Offered::Token(words, integers);
        }
    }

    /// The integers that may come next.
    pub(super) fn integers(&mut self) -> Integers {
        self.ask();
        if let Offered::Token(_, integers) = self.words { integers } else { Integers::Nothing }
    }

    /// The words of the next token, or those of a line at a level.
    pub(super) fn words_at(&mut self, level: Option<u8>) -> Words {
        let Some(level) = level else {
            self.ask();
            return if let Offered::Token(words, _) = self.words { words } else { 0 };
        };
        let Offered::Line(mut words, asked) = self.words else { return 0 };
        let bit = 1_u16.checked_shl(level.into()).unwrap_or_default();
        let Some(place) = words.get_mut(usize::from(level)) else { return 0 };
        if asked & bit == 0 {
            *place = if level <= self.core.level() { self.core.line_words(level) } else { 0 };
            let found = *place;
            self.words = Offered::Line(words, asked | bit);
            return found;
        }
        *place
    }

    pub(super) fn tail(&self, length: usize) -> &[u8] {
        self.text.get(self.text.len().saturating_sub(length)..).unwrap_or_default()
    }

    fn at_line(&mut self, blanks: u8, byte: u8) -> bool {
        if byte == b' ' {
            let next = blanks + 1;
            self.lex = Lex::Line(next);
            return (next.div_ceil(2)..=self.core.level()).rev().any(|level| self.words_at(Some(level)) != 0);
        }
        if !blanks.is_multiple_of(2) || !byte.is_ascii_uppercase() {
            return false;
        }
        let level = blanks / 2;
        let left = narrow(self.words_at(Some(level)), 0, byte);
        self.lex = Lex::Word(1, Some(level), left);
        left != 0
    }

    /// Takes a blank or the end of the line after a token.
    fn between(&mut self, byte: u8) -> bool {
        self.core.state.taken = self.core.state.taken.saturating_add(1);
        match byte {
            b' ' if self.core.state.phase != Phase::End => {
                // Unfinished expressions can continue. Only after a MERGE without a count there may be
                // nothing.
                let merges = self.core.state.phase == Phase::MergeMore;
                self.offer();
                if !merges {
                    return true;
                }
                let integers = self.integers();
                self.words_at(None) != 0 || self.core.least(integers).is_some()
            }
            b'\n' => {
                if self.core.state.phase == Phase::MergeMore {
                    self.core.end_merge();
                }
                let ends = self.core.state.phase == Phase::End;
                if ends {
                    self.core.state.phase = Phase::Line;
                    self.offer_line();
                    self.line = self.text.len() + 1;
                }
                ends
            }
            _ => false,
        }
    }

    fn at_start(&mut self, byte: u8) -> bool {
        let constants = self.core.constants();
        let has = |kind: u8| constants >> kind & 1 == 1;
        match byte {
            b'"' if has(TEXT) => {
                self.lex = Lex::Text(self.text.len(), Inside::Plain);
                true
            }
            b'-' | b'0'..=b'9' if has(NUMBER) => {
                self.lex = Lex::Number(1);
                self.core.number_goes_on(&[byte])
            }
            b'0'..=b'9' => {
                let value = u32::from(byte - b'0');
                self.lex = Lex::Integer(value);
                let integers = self.integers();
                self.core.begins(integers, value)
            }
            b'n' | b't' | b'f' => {
                self.lex = Lex::Word(1, None, 0);
                self.name_fits(&[byte])
            }
            _ => {
                let left = narrow(self.words_at(None), 0, byte);
                self.lex = Lex::Word(1, None, left);
                left != 0
            }
        }
    }

    /// Whether a text begins nil, true or false and that constant may come next.
    fn name_fits(&self, prefix: &[u8]) -> bool {
        self.names().any(|name| name.starts_with(prefix))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'static [u8]> + use<> {
        let constants = self.core.constants();
        let nil = constants >> NIL & 1 == 1;
        let truth = |truth| constants >> BOOL & 1 == 1 && self.core.takes_bool(truth);
        let all: [(bool, &'static [u8]); 3] =
            [(nil, b"nil"), (truth(true), b"true"), (truth(false), b"false")];
        all.into_iter().filter(|it| it.0).map(|it| it.1)
    }

    fn in_word(&mut self, length: u8, level: Option<u8>, left: Words, byte: u8) -> bool {
        if byte == b' ' || byte == b'\n' {
            return self.complete_word(length.into(), level, left) && self.between(byte);
        }
        let next = narrow(left, length.into(), byte);
        self.lex = Lex::Word(length.saturating_add(1), level, next);
        next != 0 || (left == 0 && level.is_none() && self.name_goes_on(length.into(), byte))
    }

    fn name_goes_on(&self, length: usize, byte: u8) -> bool {
        let (start, mut names) = (self.tail(length), self.names());
        names.any(|name| name.starts_with(start) && name.get(length) == Some(&byte))
    }

    fn complete_word(&mut self, length: usize, level: Option<u8>, left: Words) -> bool {
        let word = TABLE.iter().find(|row| left & one(row.word) != 0 && row.mnemonic.len() == length);
        match (word.map(|row| row.word), level) {
            (Some(word), Some(level)) => self.core.begin_line(level, word),
            (Some(word), None) => self.core.take_word(word),
            (None, None) => {
                let text = self.tail(length);
                let Some(name) = self.names().find(|name| *name == text) else { return false };
                self.core.take_constant(match name {
                    b"nil" => Constant::Nil,
                    _ => Constant::Bool(name == b"true"),
                });
            }
            _ => return false,
        }
        true
    }

    fn in_integer(&mut self, value: u32, byte: u8) -> bool {
        let integers = self.integers();
        if byte.is_ascii_digit() {
            let next = value.saturating_mul(10).saturating_add(u32::from(byte - b'0'));
            self.lex = Lex::Integer(next);
            return value != 0 && self.core.begins(integers, next);
        }
        if !matches!(byte, b' ' | b'\n') || !self.core.has(integers, value) {
            return false;
        }
        debug_assert!(self.core.takes_integer(value), "the set has what alone would be refused");
        self.core.take_integer(value);
        self.between(byte)
    }

    fn in_number(&mut self, length: u8, byte: u8) -> bool {
        let mut number = self.tail(length.into()).to_vec();
        if byte == b' ' || byte == b'\n' {
            return self.core.complete_number(&number) && self.between(byte);
        }
        number.push(byte);
        self.lex = Lex::Number(length.saturating_add(1));
        self.core.number_goes_on(&number)
    }

    fn in_text(&mut self, start: usize, inside: Inside, byte: u8) -> bool {
        let next = match texts::step(inside, byte) {
            Step::Closes => return self.complete_text(start),
            Step::Refused => return false,
            Step::On(next) => next,
        };
        // A listed text must always be possible.
        if inside == Inside::Plain && self.room() == 0 && self.core.texts().is_none() {
            return false;
        }
        self.lex = Lex::Text(start, next);
        self.listed_text(start, byte)
    }

    /// The number of bytes of a text for which the line has room.
    pub(super) fn room(&self) -> usize {
        LINE.saturating_sub(self.text.len() - self.line)
    }

    /// Whether any text may be written here, without effect on what follows.
    pub(super) fn text_is_free(&self) -> bool {
        let core = &self.core;
        let Some(frame) = core.frame() else { return false };
        let parent = core.frames.get(frame.parent as usize);
        let is_key = parent.is_some_and(|parent| parent.word == Word::At && parent.index == 1);
        let is_any = core.texts().is_none() && core.format().is_none();
        core.state.phase != Phase::CaseKey && is_any && !is_key
    }

    /// Whether a text, of which only some constants are allowed, is still the beginning of one.
    fn listed_text(&self, start: usize, byte: u8) -> bool {
        let mut written = self.text.get(start..).unwrap_or_default().to_vec();
        written.push(byte);
        let Some(texts) = self.core.texts() else {
            return self.core.begins_text(written.get(1..).unwrap_or_default());
        };
        texts.iter().any(|text| serde_json::Value::from(&**text).to_string().as_bytes().starts_with(&written))
    }

    fn complete_text(&mut self, start: usize) -> bool {
        let mut written = self.text.get(start..).unwrap_or_default().to_vec();
        written.push(b'"');
        let Ok(text) = serde_json::from_slice::<String>(&written) else { return false };
        if !self.core.takes_constant(Constant::Text(&text)) {
            return false;
        }
        self.core.take_constant(Constant::Text(&text));
        self.lex = Lex::Behind;
        true
    }

    /// Completes the last token and the line; `false` if that is not possible.
    pub(super) fn end_line(&mut self) -> bool {
        matches!(self.lex, Lex::Line(0)) || self.byte(b'\n')
    }
}

impl Bytes for Machine<'_, '_> {
    type Point = Point;
    type Lex = Lex;

    fn core(&self) -> &Core<'_, '_> {
        &self.core
    }

    fn text(&self) -> &[u8] {
        &self.text
    }

    fn point(&self) -> Point {
        Point {
            state: self.core.state,
            lengths: self.core.lengths(),
            text: self.text.len(),
            lex: self.lex,
            words: self.words,
            line: self.line,
        }
    }

    fn mark(&self) -> Point {
        // The integers that may come next are computed again from there.
        let words = if matches!(self.words, Offered::Token(..)) { Offered::Unasked } else { self.words };
        Point { words, ..self.point() }
    }

    fn back(&mut self, point: &Point) {
        self.core.state = point.state;
        self.core.cut(point.lengths);
        self.text.truncate(point.text);
        self.walk.forget(point.text);
        (self.lex, self.words, self.line) = (point.lex, point.words, point.line);
    }

    fn byte(&mut self, byte: u8) -> bool {
        let fits = match self.lex {
            Lex::Line(blanks) => self.at_line(blanks, byte),
            Lex::Start => self.at_start(byte),
            Lex::Word(length, level, left) => self.in_word(length, level, left, byte),
            Lex::Integer(value) => self.in_integer(value, byte),
            Lex::Number(length) => self.in_number(length, byte),
            Lex::Text(start, inside) => self.in_text(start, inside, byte),
            Lex::Behind => self.between(byte),
        };
        if fits {
            self.text.push(byte);
            if byte == b'\n' {
                self.line = self.text.len();
            }
        }
        fits
    }

    #[inline]
    fn lex(&self) -> Lex {
        self.lex
    }

    #[inline]
    fn relex(&mut self, lex: Lex, length: usize) {
        self.lex = lex;
        self.text.truncate(length);
    }

    #[inline]
    fn look(&mut self, byte: u8) -> Look {
        let (lex, length) = (self.lex, self.text.len());
        let is_end = matches!(byte, b' ' | b'\n');
        match lex {
            Lex::Behind | Lex::Word(..) | Lex::Integer(_) | Lex::Number(_) if is_end => return Look::Unknown,
            Lex::Text(..) if byte == b'"' => return Look::Unknown,
            Lex::Behind => return Look::Refused,
            Lex::Integer(_) if !byte.is_ascii_digit() => return Look::Refused,
            Lex::Line(_) if byte != b' ' && !byte.is_ascii_uppercase() => return Look::Refused,
            Lex::Word(length, level, left) if left != 0 => {
                let next = narrow(left, length.into(), byte);
                if next == 0 {
                    return Look::Refused;
                }
                self.lex = Lex::Word(length.saturating_add(1), level, next);
                self.text.push(byte);
                return Look::On;
            }
            _ => {}
        }
        if self.byte(byte) {
            return Look::On;
        }
        self.relex(lex, length);
        Look::Refused
    }

    #[inline]
    fn next_byte(&self, byte: u8) -> Option<u8> {
        match self.lex {
            Lex::Behind if byte >= b' ' => None,
            Lex::Integer(_) if byte >= b'9' => None,
            // Upper-case letters are above most others.
            Lex::Word(..) | Lex::Line(_) if (b' '..b'@').contains(&byte) => Some(b'A'),
            _ => byte.checked_add(1),
        }
    }

    #[inline]
    fn walk(&mut self) -> &mut Walk<Lex, Point> {
        &mut self.walk
    }

    fn inside(&self) -> Option<Inside> {
        if let Lex::Text(_, inside) = self.lex { Some(inside) } else { None }
    }

    fn end_any_text(&mut self) {
        self.core.take_constant(Constant::Text(""));
        self.text.push(b'"');
        self.lex = Lex::Behind;
    }

    fn prepare(&mut self) {
        match self.lex {
            Lex::Start => self.ask(),
            Lex::Line(_) => (0..=self.core.level()).for_each(|level| {
                self.words_at(Some(level));
            }),
            _ => {}
        }
    }

    fn may_end(&mut self) -> bool {
        match self.lex {
            Lex::Line(0) => self.core.trial(Core::end),
            Lex::Line(_) | Lex::Start | Lex::Text(..) => false,
            _ => self.tried(|this| this.end_line() && this.core.end()),
        }
    }
}
