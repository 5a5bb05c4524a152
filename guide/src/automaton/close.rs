//! A known end: the text that ends a program from any state.

use crate::automaton::keys::Numbers;
use crate::automaton::lex::{LEVELS, Lex, Machine};
use crate::automaton::offers::{NIL, NUMBER, TEXT, Words, one};
use crate::automaton::state::{Phase, SLOTS};
use crate::automaton::texts::Inside;
use crate::automaton::want::ANY;
use ilo_spec::node::{TABLE, Word};

/// The most steps to an end.
const STEPS: usize = 20_000;

impl Machine<'_, '_> {
    /// Whether the program may end here.
    pub(crate) fn may_end(&mut self) -> bool {
        self.attempt(|this| this.end_line() && this.core.end())
    }

    /// Writes an end; `None` where none was found, which would be a defect.
    pub(crate) fn close(&mut self) -> Option<()> {
        for _ in 0..STEPS {
            let between = matches!(self.lex, Lex::Start | Lex::Text(..));
            if !between && self.may_end() {
                return Some(());
            }
            let bytes = self.next_bytes()?;
            for byte in bytes {
                if !self.byte(byte) {
                    return None;
                }
            }
        }
        None
    }

    fn next_bytes(&mut self) -> Option<Vec<u8>> {
        match self.lex {
            Lex::Line(blanks) => self.begin_statement(blanks),
            Lex::Start => self.begin_token(),
            Lex::Word(length, level, _) => self.rest_of_word(length, level),
            Lex::Integer(_) | Lex::Number(_) => self.rest_of_number(),
            Lex::Text(start, inside) => self.rest_of_text(start, inside),
            Lex::Behind => self.separator(),
        }
    }

    fn one_of(&mut self, bytes: impl IntoIterator<Item = u8>) -> Option<Vec<u8>> {
        bytes.into_iter().find(|&byte| self.attempt(|this| this.byte(byte))).map(|byte| vec![byte])
    }

    fn separator(&mut self) -> Option<Vec<u8>> {
        self.one_of(*b"\n ")
    }

    fn rest_of_number(&mut self) -> Option<Vec<u8>> {
        self.one_of(*b"\n 0123456789")
    }

    fn begin_statement(&mut self, blanks: u8) -> Option<Vec<u8>> {
        let first = blanks.div_ceil(2);
        let level = (first..LEVELS).find(|&level| self.words_at(Some(level)) != 0)?;
        let words = self.words_at(Some(level));
        let word = self.ending_word(words, level);
        let mut bytes = vec![b' '; usize::from(2 * level - blanks)];
        bytes.extend(word.mnemonic().bytes());
        Some(bytes)
    }

    /// The word of a line that leads to an end soonest.
    fn ending_word(&mut self, words: Words, level: u8) -> Word {
        let owes = self.core.trial(|core| core.up_to(level) && core.owes());
        let order: &[Word] = if owes {
            &[Word::Fail, Word::Ok, Word::Match, Word::Else]
        } else {
            &[Word::Fail, Word::Ok, Word::List, Word::Obj, Word::Lit, Word::Rollback, Word::Else]
        };
        let found = order.iter().find(|&&word| words & one(word) != 0).copied();
        found
            .or_else(|| TABLE.iter().find(|row| words & one(row.word) != 0).map(|row| row.word))
            .unwrap_or(Word::Fail)
    }

    fn begin_token(&mut self) -> Option<Vec<u8>> {
        let constants = self.core.constants();
        if constants >> NIL & 1 == 1 {
            return Some(b"nil".to_vec());
        }
        if let Some(name) = self.names().next() {
            return Some(name.to_vec());
        }
        if constants >> NUMBER & 1 == 1 {
            return match self.core.numbers() {
                Numbers::Listed(all) => all.first().map(|number| number.to_string().into_bytes()),
                _ => self.one_of(*b"0123456789-"),
            };
        }
        if constants >> TEXT & 1 == 1 {
            return Some(b"\"".to_vec());
        }
        let phase = self.core.state.phase;
        let words = self.words_at(None);
        if matches!(phase, Phase::Operand | Phase::Bound | Phase::FieldOrName) && words != 0 {
            let want = if phase == Phase::Bound { ANY } else { self.core.state.want };
            let want = self.core.arena.want(want);
            if let Some(constant) = self.core.arena.constant(self.core.session, want) {
                return Some(constant.into_bytes());
            }
        }
        if phase == Phase::MatchSlot {
            let owed = |slot: &u8| {
                let core = &self.core;
                core.matchable(*slot) && core.now().calls(*slot) & core.state.checked != 0
            };
            if let Some(slot) = (0..SLOTS).find(owed) {
                return Some(slot.to_string().into_bytes());
            }
        }
        let integers = self.integers();
        if let Some(number) = self.core.least(integers) {
            return Some(number.to_string().into_bytes());
        }
        let word = TABLE.iter().find(|row| words & one(row.word) != 0)?;
        Some(word.mnemonic.as_bytes().to_vec())
    }

    fn rest_of_word(&mut self, length: u8, level: Option<u8>) -> Option<Vec<u8>> {
        let from = self.text.len().saturating_sub(length.into());
        let prefix = self.text.get(from..).unwrap_or_default().to_vec();
        if let Some(name) = self.names().find(|name| level.is_none() && name.starts_with(&prefix)) {
            let rest = name.get(prefix.len()..).unwrap_or_default().to_vec();
            return if rest.is_empty() { self.separator() } else { Some(rest) };
        }
        let words = self.words_at(level);
        let fits = |word: Word| words & one(word) != 0 && word.mnemonic().as_bytes().starts_with(&prefix);
        let first =
            [Word::Fail, Word::Lit, Word::List, Word::Let, Word::Ref].into_iter().find(|&it| fits(it));
        let word = first.or_else(|| TABLE.iter().map(|row| row.word).find(|&word| fits(word)))?;
        let rest = word.mnemonic().as_bytes().get(prefix.len()..).unwrap_or_default().to_vec();
        if rest.is_empty() { self.separator() } else { Some(rest) }
    }

    fn rest_of_text(&mut self, start: usize, inside: Inside) -> Option<Vec<u8>> {
        match inside {
            Inside::Escape => return self.one_of(*b"nu\"\\/bfrt"),
            Inside::Unicode(..) => return self.one_of(*b"0123456789abcdef"),
            Inside::Character(_, low, high) => return self.one_of(low..=high),
            Inside::Plain => {}
        }
        if let Some(texts) = self.core.texts() {
            let written = self.text.get(start..).unwrap_or_default();
            let quoted = texts.iter().map(|text| serde_json::Value::from(&**text).to_string());
            let mut rest =
                quoted.filter_map(|text| text.as_bytes().strip_prefix(written).map(<[u8]>::to_vec));
            return rest.next();
        }
        self.one_of(*b"\"abcdefghijklmnopqrstuvwxyz0123456789-_")
    }
}
