//! The known end of a body in ID text: what an unfinished token becomes.

use super::lex::{Lex, Machine};
use crate::automaton::close::Node;
use crate::automaton::formats;
use crate::automaton::offers::{Words, one};
use crate::automaton::state::Core;
use crate::automaton::steps::Constant;
use crate::surface::Surface;
use ilo_spec::node::{TABLE, Word};

/// The node that the unfinished token will become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Becomes {
    /// The token is complete.
    Whole,
    Line(u8, Word),
    Word(Word),
    Integer(u32),
    Nil,
    Bool(bool),
    /// A number or a text, as its bytes show.
    Constant,
}

impl Machine<'_, '_> {
    /// Whether the program may end here.
    pub(super) fn may_end(&mut self) -> bool {
        match self.lex {
            Lex::Line(0) => self.core.trial(Core::end),
            Lex::Line(_) | Lex::Start | Lex::Text(..) => false,
            _ => self.tried(|this| this.end_line() && this.core.end()),
        }
    }

    /// The bytes that complete the unfinished token, and the node that it becomes. Between tokens, the next
    /// one.
    pub(super) fn completion(&mut self) -> Option<(Vec<u8>, Becomes)> {
        match self.lex {
            Lex::Line(0) if self.core.trial(Core::end) => Some((Vec::new(), Becomes::Whole)),
            Lex::Line(blanks) => {
                let (level, word) = self.core.ending_line(blanks.div_ceil(2))?;
                let mut bytes = vec![b' '; usize::from(2 * level).saturating_sub(blanks.into())];
                bytes.extend(word.mnemonic().bytes());
                Some((bytes, Becomes::Line(level, word)))
            }
            Lex::Start => self.core.trial(|core| {
                let node = core.ending_node()?;
                let becomes = match node {
                    Node::Word(word) => Becomes::Word(word),
                    Node::Integer(number) => Becomes::Integer(number),
                    Node::Nil => Becomes::Nil,
                    Node::Bool(truth) => Becomes::Bool(truth),
                    Node::Number(_) | Node::Text(_) => Becomes::Constant,
                };
                Some((node.text().into(), becomes))
            }),
            Lex::Word(length, level, left) => self.rest_of_word(length.into(), level, left),
            Lex::Integer(value) => self.rest_of_integer(value),
            Lex::Number(length) => {
                let written = self.tail(length.into());
                let whole = self.core.first_number(written)?;
                let rest = whole.as_bytes().get(written.len()..)?.to_vec();
                Some((rest, Becomes::Constant))
            }
            Lex::Text(start, _) => Some((Machine::rest_of_text(self, start)?, Becomes::Constant)),
            Lex::Behind => Some((Vec::new(), Becomes::Whole)),
        }
    }

    /// Takes the node that a token has become, and the bytes that complete it.
    pub(super) fn take(&mut self, becomes: Becomes, rest: &[u8]) -> bool {
        match becomes {
            Becomes::Whole => {}
            Becomes::Line(level, word) => self.core.begin_line(level, word),
            Becomes::Word(word) => self.core.take_word(word),
            Becomes::Integer(number) => self.core.take_integer(number),
            Becomes::Nil => self.core.take_constant(Constant::Nil),
            Becomes::Bool(truth) => self.core.take_constant(Constant::Bool(truth)),
            Becomes::Constant => {
                let whole = rest.iter().all(|&byte| self.byte(byte));
                let Lex::Number(length) = self.lex else { return whole && self.lex == Lex::Behind };
                let written = self.tail(length.into()).to_vec();
                return whole && self.core.complete_number(&written);
            }
        }
        true
    }

    fn rest_of_word(&mut self, length: usize, level: Option<u8>, left: Words) -> Option<(Vec<u8>, Becomes)> {
        let word = match level {
            Some(level) => {
                let first = self.core.trial(|core| core.ending_word(level));
                first.filter(|&word| left & one(word) != 0)
            }
            None if left == 0 => {
                let written = self.tail(length);
                let name = self.names().find(|name| name.starts_with(written))?;
                let becomes = if name == b"nil" { Becomes::Nil } else { Becomes::Bool(name == b"true") };
                return Some((name.get(length..)?.to_vec(), becomes));
            }
            None => self.core.constant_word().filter(|&word| left & one(word) != 0),
        };
        // The word that ends soonest, or else the first.
        let soon = [Word::Fail, Word::Lit, Word::List, Word::Let, Word::Ref];
        let word = word.or_else(|| soon.into_iter().find(|&word| left & one(word) != 0));
        let word = word.or_else(|| TABLE.iter().map(|row| row.word).find(|&it| left & one(it) != 0))?;
        let rest = word.mnemonic().as_bytes().get(length..)?.to_vec();
        Some((rest, level.map_or(Becomes::Word(word), |level| Becomes::Line(level, word))))
    }

    fn rest_of_integer(&mut self, begun: u32) -> Option<(Vec<u8>, Becomes)> {
        let integers = self.integers();
        let (mut value, mut rest) = (begun, Vec::new());
        while !self.core.has(integers, value) {
            let longer = |digit: u8| value.checked_mul(10)?.checked_add(digit.into());
            let fits = |digit: &u8| longer(*digit).is_some_and(|it| self.core.begins(integers, it));
            let digit = (0..10).filter(|_| value != 0).find(fits)?;
            value = longer(digit)?;
            rest.push(b'0' + digit);
        }
        Some((rest, Becomes::Integer(value)))
    }

    fn rest_of_text(&mut self, start: usize) -> Option<Vec<u8>> {
        if let Some(texts) = self.core.texts() {
            let written = self.text.get(start..).unwrap_or_default();
            let quoted = texts.iter().map(|text| serde_json::Value::from(&**text).to_string());
            let mut rest =
                quoted.filter_map(|text| text.as_bytes().strip_prefix(written).map(<[u8]>::to_vec));
            return rest.next();
        }
        if let Some(format) = self.core.format() {
            let written = self.text.get(start + 1..).unwrap_or_default();
            return formats::rest(format, written).map(|rest| [rest.as_bytes(), b"\""].concat());
        }
        Surface::rest_of_text(self, b"\"abcdefghijklmnopqrstuvwxyz0123456789-_")
    }
}
