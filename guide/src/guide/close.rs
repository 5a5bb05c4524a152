//! Completes an unfinished token of ID text, so that `close` can end the body.

use super::lex::{Lex, Machine, spelled};
use crate::automaton::close::{Node, Out};
use crate::automaton::offers::{Words, one};
use crate::automaton::state::Core;
use crate::surface::{Ends, Steps};
use ilo_asm::ast::Literal;
use ilo_spec::node::Word;

/// The node that the unfinished token will become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Becomes {
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

impl Becomes {
    /// The same at the start of a line, if there is a level.
    pub(super) fn at(self, level: Option<u8>) -> Becomes {
        match (self, level) {
            (Becomes::Word(word), Some(level)) => Becomes::Line(level, word),
            _ => self,
        }
    }
}

impl Ends for Machine<'_> {
    type Becomes = Becomes;

    fn completion(&mut self) -> Option<(Vec<u8>, Becomes)> {
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
                    Node::Constant(Literal::Nil) => Becomes::Name(None),
                    Node::Constant(Literal::Bool(truth)) => Becomes::Name(Some(truth)),
                    Node::Constant(_) => Becomes::Constant,
                };
                Some((node.text().into_owned().into_bytes(), becomes))
            }),
            Lex::Word(length, level, left) => self.rest_of_word(length.into(), level, left),
            Lex::Integer(value) => self.rest_of_integer(value),
            Lex::Number(start) => Some((self.rest_of_number(start)?, Becomes::Constant)),
            Lex::Text(start, _) => Some((self.rest_of_text(start)?, Becomes::Constant)),
            Lex::Behind => Some((Vec::new(), Becomes::Whole)),
        }
    }

    fn complete(&mut self, becomes: Becomes, rest: &[u8]) -> bool {
        match becomes {
            Becomes::Whole => {}
            Becomes::Line(level, word) => self.core.begin_line(level, word),
            Becomes::Word(word) => self.core.take_word(word),
            Becomes::Integer(number) => self.core.take_integer(number),
            Becomes::Name(name) => self.core.take_constant(named(name)),
            Becomes::Constant => {
                let whole = rest.iter().all(|&byte| self.byte(byte));
                let Lex::Number(start) = self.lex else { return whole && self.lex == Lex::Behind };
                return whole && self.end_number(start, self.text.len());
            }
        }
        true
    }

    fn close_step(&mut self, out: &mut Out<'_>) -> Option<bool> {
        self.core.close_step(out)
    }
}

impl Machine<'_> {
    fn rest_of_word(&mut self, length: usize, level: Option<u8>, left: Words) -> Option<(Vec<u8>, Becomes)> {
        let first = match level {
            Some(level) => self.core.trial(|core| core.ending_word(level)),
            None => self.core.constant_word(),
        };
        // The word that ends soonest, or else the first.
        let soon = [Word::Fail, Word::Lit, Word::List, Word::Let, Word::Ref];
        let soonest = first.into_iter().chain(soon).map(one).find(|&word| left & word != 0);
        let (_, text, becomes) = spelled().find(|it| soonest.unwrap_or(left) & it.0 != 0)?;
        Some((text.as_bytes().get(length..)?.to_vec(), becomes.at(level)))
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
}
