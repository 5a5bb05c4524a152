//! The bytes of a body in ID text: which may come next within and between tokens, and the tokens that they
//! form.

use super::close::{Finished, named};
use crate::automaton::integers::{self, Integers};
use crate::automaton::offers::{self, NUMBER, TEXT, Words, one};
use crate::automaton::state::{Core, CorePoint, LINES, Phase};
use crate::automaton::texts::{self, Inside, Step};
use crate::automaton::{blocks, formats, keys};
use crate::surface::walk::{Look, Walk};
use crate::surface::{Bytes, Ends, Steps};
use core::ptr::from_ref;
use ilo_asm::ast::Literal;
use ilo_spec::json::quoted;
use ilo_spec::node::TABLE;
use std::sync::OnceLock;

/// The most bytes of a line in which a text continues.
pub(super) const LINE: usize = 32 << 10;
/// The most bytes of a word.
const LONGEST_WORD: usize = 16;

/// The position in a token at which the text ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InToken {
    /// At the start of a line, after this number of blanks.
    Line(u8),
    /// At the start of a token.
    Start,
    /// In a word of which this number of bytes was taken; at the start of a line with its level; the words
    /// that it may be.
    Word(u8, Option<u8>, Words),
    /// In an integer.
    Integer(u32),
    /// In a number that began at this byte.
    Number(usize),
    /// In a text that began at this byte.
    Text(usize, Inside),
    /// After a token that its last byte ends.
    Behind,
}

/// A body in ID text.
#[derive(Clone)]
pub struct LineMachine<'s> {
    pub(crate) core: Core<'s>,
    pub(super) text: Vec<u8>,
    pub(super) lex: InToken,
    /// The words of the next token; at the start of a line, by level.
    pub(super) words: Offered,
    /// Where the line begins.
    pub(super) line: usize,
    pub(super) walk: Walk<InToken, LinePoint>,
}

/// A position to return to.
#[derive(Clone, Copy, Debug)]
pub struct LinePoint {
    core: CorePoint,
    pub(super) text: usize,
    pub(super) lex: InToken,
    pub(super) words: Offered,
    pub(super) line: usize,
}

/// The possible next tokens, computed when needed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Offered {
    Unasked,
    /// Words, and integers.
    Token(Words, Integers),
    /// The words of a line by level.
    Line([Words; LINES as usize]),
}

/// No level of a line was asked for.
const NO_LEVEL: Offered = Offered::Line([UNASKED; LINES as usize]);
const UNASKED: Words = Words::MAX;

/// The constants that are written as words. Their bits are behind those of all words.
pub(super) const NAMES: [(&str, Option<bool>); 3] =
    [("nil", None), ("true", Some(true)), ("false", Some(false))];
const NIL_NAME: Words = 1 << TABLE.len();

/// Whatever is written as a word: its bit, its bytes, and what it becomes within a line.
pub(super) fn spelled() -> impl Iterator<Item = (Words, &'static str, Finished)> {
    let words = TABLE.iter().map(|row| (one(row.word), row.mnemonic, Finished::Word(row.word)));
    words.chain((0..).zip(NAMES).map(|(at, (text, name))| (NIL_NAME << at, text, Finished::Name(name))))
}

/// The words that have this byte at a position.
fn words_with() -> &'static [[Words; 128]] {
    static WORDS: OnceLock<Vec<[Words; 128]>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let mut words = vec![[0; 128]; LONGEST_WORD];
        for (bit, text, _) in spelled() {
            for (place, byte) in words.iter_mut().zip(text.bytes()) {
                if let Some(cell) = place.get_mut(usize::from(byte)) {
                    *cell |= bit;
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

impl<'s> LineMachine<'s> {
    pub(super) fn new(core: Core<'s>) -> Self {
        LineMachine {
            core,
            text: Vec::new(),
            lex: InToken::Line(0),
            words: NO_LEVEL,
            line: 0,
            walk: Walk::default(),
        }
    }

    /// Computes the words and integers of the next token, if that was not done.
    fn ask(&mut self) {
        if matches!(self.words, Offered::Unasked) {
            let words = self.core.trial(offers::words) | self.names();
            let integers = integers::integers(&mut self.core);
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
        let Offered::Line(mut words) = self.words else { return 0 };
        let Some(place) = words.get_mut(usize::from(level)) else { return 0 };
        if *place != UNASKED {
            return *place;
        }
        let found =
            if level <= blocks::level(&self.core) { blocks::line_words(&mut self.core, level) } else { 0 };
        *place = found;
        self.words = Offered::Line(words);
        found
    }

    fn at_line(&mut self, blanks: u8, byte: u8) -> bool {
        if byte == b' ' {
            let next = blanks + 1;
            self.lex = InToken::Line(next);
            return (next.div_ceil(2)..=blocks::level(&self.core))
                .rev()
                .any(|level| self.words_at(Some(level)) != 0);
        }
        if !blanks.is_multiple_of(2) || !byte.is_ascii_uppercase() {
            return false;
        }
        let level = blanks / 2;
        let left = narrow(self.words_at(Some(level)), 0, byte);
        self.lex = InToken::Word(1, Some(level), left);
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
                (self.lex, self.words) = (InToken::Start, Offered::Unasked);
                if !merges {
                    return true;
                }
                let integers = self.integers();
                self.words_at(None) != 0 || integers::least(&self.core, integers).is_some()
            }
            b'\n' => {
                if self.core.state.phase == Phase::MergeMore {
                    self.core.end_open();
                }
                let ends = self.core.state.phase == Phase::End;
                if ends {
                    self.core.state.phase = Phase::Line;
                    (self.lex, self.words, self.line) = (InToken::Line(0), NO_LEVEL, self.text.len());
                }
                ends
            }
            _ => false,
        }
    }

    fn at_start(&mut self, byte: u8) -> bool {
        match byte {
            b'"' if self.core.takes_kind(TEXT) => {
                self.lex = InToken::Text(self.text.len() - 1, Inside::Plain);
                true
            }
            b'-' | b'0'..=b'9' if self.core.takes_kind(NUMBER) => {
                self.lex = InToken::Number(self.text.len() - 1);
                keys::number_goes_on(&self.core, &[byte])
            }
            b'0'..=b'9' => {
                let value = u32::from(byte - b'0');
                self.lex = InToken::Integer(value);
                let integers = self.integers();
                integers::begins(&self.core, integers, value)
            }
            _ => {
                let left = narrow(self.words_at(None), 0, byte);
                self.lex = InToken::Word(1, None, left);
                left != 0
            }
        }
    }

    /// The constants that may come next and are written as words.
    fn names(&self) -> Words {
        let fitting = (0..).zip(NAMES).filter(|it| self.core.takes_constant(named(it.1.1)));
        fitting.fold(0, |names, (at, _)| names | NIL_NAME << at)
    }

    fn in_word(&mut self, length: u8, level: Option<u8>, left: Words, byte: u8) -> bool {
        if byte == b' ' || byte == b'\n' {
            let word = spelled().find(|it| left & it.0 != 0 && it.1.len() == usize::from(length));
            return word.is_some_and(|it| self.complete(it.2.at(level), b"")) && self.between(byte);
        }
        let next = narrow(left, length.into(), byte);
        self.lex = InToken::Word(length.saturating_add(1), level, next);
        next != 0
    }

    fn in_integer(&mut self, value: u32, byte: u8) -> bool {
        let integers = self.integers();
        if byte.is_ascii_digit() {
            let next = value.saturating_mul(10).saturating_add(u32::from(byte - b'0'));
            self.lex = InToken::Integer(next);
            return value != 0 && integers::begins(&self.core, integers, next);
        }
        if !matches!(byte, b' ' | b'\n') || !integers::has(&self.core, integers, value) {
            return false;
        }
        self.core.take_integer(value);
        self.between(byte)
    }

    fn in_number(&mut self, start: usize, byte: u8) -> bool {
        let written = self.text.get(start..).unwrap_or_default();
        match written.split_last() {
            Some((b' ' | b'\n', _)) => self.end_number(start, self.text.len() - 1) && self.between(byte),
            _ => keys::number_goes_on(&self.core, written),
        }
    }

    /// Takes the number between two bytes.
    pub(super) fn end_number(&mut self, start: usize, end: usize) -> bool {
        let number = self.core.number(self.text.get(start..end).unwrap_or_default());
        number.map(|number| self.core.take_constant(number)).is_some()
    }

    fn in_text(&mut self, start: usize, inside: Inside, byte: u8) -> bool {
        let next = match texts::step(inside, byte) {
            Step::Closes => return self.complete_text(start),
            Step::Refused => return false,
            Step::On(next) => next,
        };
        // A listed text must always be possible.
        let is_full = inside == Inside::Plain && self.text.len() - self.line > LINE;
        self.lex = InToken::Text(start, next);
        !(is_full && keys::texts(&self.core).is_none()) && self.may_be_text(start)
    }

    /// The number of bytes of a text for which the line has room.
    pub(super) fn room(&self) -> usize {
        LINE.saturating_sub(self.text.len() - self.line)
    }

    /// Whether any text may be written here, without effect on what follows.
    pub(super) fn text_is_free(&self) -> bool {
        let core = &self.core;
        let is_any = keys::texts(core).is_none() && formats::format(core).is_none();
        core.frame().is_some() && core.state.phase != Phase::CaseKey && is_any
    }

    /// Whether an unfinished text is the beginning of one that is allowed.
    fn may_be_text(&self, start: usize) -> bool {
        let written = self.text.get(start..).unwrap_or_default();
        match keys::texts(&self.core) {
            Some(mut texts) => texts.any(|text| quoted(text).as_bytes().starts_with(written)),
            None => formats::begins_text(&self.core, written.get(1..).unwrap_or_default()),
        }
    }

    fn complete_text(&mut self, start: usize) -> bool {
        let written = self.text.get(start..).unwrap_or_default();
        let Ok(text) = serde_json::from_slice::<String>(written) else { return false };
        if !self.core.takes_constant(Literal::Text(&text)) {
            return false;
        }
        self.core.take_constant(Literal::Text(&text));
        self.lex = InToken::Behind;
        true
    }

    /// Completes the last token and the line; `false` if that is not possible.
    pub(super) fn end_line(&mut self) -> bool {
        matches!(self.lex, InToken::Line(0)) || self.byte(b'\n')
    }
}

impl Steps for LineMachine<'_> {
    type Point = LinePoint;

    fn text(&self) -> &[u8] {
        &self.text
    }

    fn point(&self) -> LinePoint {
        LinePoint {
            core: self.core.point(),
            text: self.text.len(),
            lex: self.lex,
            words: self.words,
            line: self.line,
        }
    }

    fn mark(&self) -> LinePoint {
        // The integers that may come next are computed again from there.
        let words = if matches!(self.words, Offered::Token(..)) { Offered::Unasked } else { self.words };
        LinePoint { words, ..self.point() }
    }

    fn back(&mut self, point: &LinePoint) {
        self.core.back(&point.core);
        self.text.truncate(point.text);
        self.walk.forget(point.text);
        (self.lex, self.words, self.line) = (point.lex, point.words, point.line);
    }

    fn byte(&mut self, byte: u8) -> bool {
        self.text.push(byte);
        match self.lex {
            InToken::Line(blanks) => self.at_line(blanks, byte),
            InToken::Start => self.at_start(byte),
            InToken::Word(length, level, left) => self.in_word(length, level, left, byte),
            InToken::Integer(value) => self.in_integer(value, byte),
            InToken::Number(start) => self.in_number(start, byte),
            InToken::Text(start, inside) => self.in_text(start, inside, byte),
            InToken::Behind => self.between(byte),
        }
    }

    fn prepare(&mut self) {
        match self.lex {
            InToken::Start => self.ask(),
            InToken::Line(_) => (0..=blocks::level(&self.core)).for_each(|level| {
                self.words_at(Some(level));
            }),
            _ => {}
        }
    }

    fn may_end(&mut self) -> bool {
        match self.lex {
            InToken::Line(0) => self.core.trial(blocks::end),
            InToken::Line(_) | InToken::Start | InToken::Text(..) => false,
            _ => self.tried(|this| this.end_line() && blocks::end(&mut this.core)),
        }
    }

    fn session(&self) -> usize {
        from_ref(self.core.session).addr()
    }
}

impl Bytes for LineMachine<'_> {
    type Lex = InToken;

    fn core(&self) -> &Core<'_> {
        &self.core
    }

    #[inline]
    fn lex(&self) -> InToken {
        self.lex
    }

    #[inline]
    fn relex(&mut self, lex: InToken, length: usize) {
        self.lex = lex;
        self.text.truncate(length);
    }

    #[inline]
    fn look(&mut self, byte: u8) -> Look {
        let (lex, length) = (self.lex, self.text.len());
        let is_end = matches!(byte, b' ' | b'\n');
        match lex {
            InToken::Behind | InToken::Word(..) | InToken::Integer(_) | InToken::Number(_) if is_end => {
                return Look::Unknown;
            }
            InToken::Text(..) if byte == b'"' => return Look::Unknown,
            InToken::Behind => return Look::Refused,
            InToken::Integer(_) if !byte.is_ascii_digit() => return Look::Refused,
            InToken::Line(_) if byte != b' ' && !byte.is_ascii_uppercase() => return Look::Refused,
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
            InToken::Behind if byte >= b' ' => None,
            InToken::Integer(_) if byte >= b'9' => None,
            // Upper-case letters are above most others.
            InToken::Word(..) | InToken::Line(_) if (b' '..b'@').contains(&byte) => Some(b'A'),
            _ => byte.checked_add(1),
        }
    }

    #[inline]
    fn walk(&mut self) -> &mut Walk<InToken, LinePoint> {
        &mut self.walk
    }

    fn inside(&self) -> Option<Inside> {
        if let InToken::Text(_, inside) = self.lex { Some(inside) } else { None }
    }

    fn end_any_text(&mut self) {
        self.core.take_constant(Literal::Text(""));
        self.text.push(b'"');
        self.lex = InToken::Behind;
    }
}
