//! Completes an unfinished token of ID text, so that `close` can end the body.

use super::lex::{InToken, LineMachine, spelled};
use crate::automaton::close::{self, LineNode, Out};
use crate::automaton::offers::{Words, one};
use crate::automaton::{blocks, integers};
use crate::surface::{Ends, Steps};
use ilo_asm::ast::Literal;
use ilo_spec::node::Word;

/// The node that the unfinished token will become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finished {
    /// The token is complete.
    Whole,
    Line(u8, Word),
    Word(Word),
    Integer(u32),
    /// true, false or nil.
    Name(Option<bool>),
    /// A number or a text, as its bytes show.
    Constant,
}

/// The constant that is written as a word.
pub(super) fn named(name: Option<bool>) -> Literal<'static> {
    name.map_or(Literal::Nil, Literal::Bool)
}

impl Finished {
    /// The same at the start of a line, if there is a level.
    pub(super) fn at(self, level: Option<u8>) -> Finished {
        match (self, level) {
            (Finished::Word(word), Some(level)) => Finished::Line(level, word),
            _ => self,
        }
    }
}

impl Ends for LineMachine<'_> {
    type Becomes = Finished;

    fn completion(&mut self) -> Option<(Vec<u8>, Finished)> {
        match self.lex {
            InToken::Line(0) if self.core.trial(blocks::end) => Some((Vec::new(), Finished::Whole)),
            InToken::Line(blanks) => {
                let (level, word) = close::ending_line(&mut self.core, blanks.div_ceil(2))?;
                let mut bytes = vec![b' '; usize::from(2 * level).saturating_sub(blanks.into())];
                bytes.extend(word.mnemonic().bytes());
                Some((bytes, Finished::Line(level, word)))
            }
            InToken::Start => self.core.trial(|core| {
                let node = close::ending_node(core)?;
                let becomes = match node {
                    LineNode::Word(word) => Finished::Word(word),
                    LineNode::Integer(number) => Finished::Integer(number),
                    LineNode::Constant(Literal::Nil) => Finished::Name(None),
                    LineNode::Constant(Literal::Bool(truth)) => Finished::Name(Some(truth)),
                    LineNode::Constant(_) => Finished::Constant,
                };
                Some((node.text().into_owned().into_bytes(), becomes))
            }),
            InToken::Word(length, level, left) => self.rest_of_word(length.into(), level, left),
            InToken::Integer(value) => self.rest_of_integer(value),
            InToken::Number(start) => Some((self.rest_of_number(start)?, Finished::Constant)),
            InToken::Text(start, _) => Some((self.rest_of_text(start)?, Finished::Constant)),
            InToken::Behind => Some((Vec::new(), Finished::Whole)),
        }
    }

    fn complete(&mut self, becomes: Finished, rest: &[u8]) -> bool {
        match becomes {
            Finished::Whole => {}
            Finished::Line(level, word) => blocks::begin_line(&mut self.core, level, word),
            Finished::Word(word) => self.core.take_word(word),
            Finished::Integer(number) => self.core.take_integer(number),
            Finished::Name(name) => self.core.take_constant(named(name)),
            Finished::Constant => {
                let whole = rest.iter().all(|&byte| self.byte(byte));
                let InToken::Number(start) = self.lex else { return whole && self.lex == InToken::Behind };
                return whole && self.end_number(start, self.text.len());
            }
        }
        true
    }

    fn close_step(&mut self, out: &mut Out<'_>) -> Option<bool> {
        close::close_step(&mut self.core, out)
    }
}

impl LineMachine<'_> {
    fn rest_of_word(&mut self, length: usize, level: Option<u8>, left: Words) -> Option<(Vec<u8>, Finished)> {
        let first = match level {
            Some(level) => self.core.trial(|core| close::ending_word(core, level)),
            None => close::constant_word(&self.core),
        };
        // The word that ends soonest, or else the first.
        let soon = [Word::Fail, Word::Lit, Word::List, Word::Let, Word::Ref];
        let soonest = first.into_iter().chain(soon).map(one).find(|&word| left & word != 0);
        let (_, text, becomes) = spelled().find(|it| soonest.unwrap_or(left) & it.0 != 0)?;
        Some((text.as_bytes().get(length..)?.to_vec(), becomes.at(level)))
    }

    fn rest_of_integer(&mut self, begun: u32) -> Option<(Vec<u8>, Finished)> {
        let integers = self.integers();
        let (mut value, mut rest) = (begun, Vec::new());
        while !integers::has(&self.core, integers, value) {
            let longer = |digit: u8| value.checked_mul(10)?.checked_add(digit.into());
            let fits =
                |digit: &u8| longer(*digit).is_some_and(|it| integers::begins(&self.core, integers, it));
            let digit = (0..10).filter(|_| value != 0).find(fits)?;
            value = longer(digit)?;
            rest.push(b'0' + digit);
        }
        Some((rest, Finished::Integer(value)))
    }
}
