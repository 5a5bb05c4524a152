//! Finds what ID text needs next: parses the tokens before a position by the operand shapes of
//! `ilo_spec::node`.

use crate::check::{KnownSlot, Seen, ValueInfo};
use crate::ide::Analysis;
use crate::ide::mention::slot_of;
use crate::syntax::lexer::{Kind, NO_VALUE, Token};
use ilo_spec::node::{Place, Shape, Word};

/// What is needed next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// A statement, or the start of an arm.
    Statement,
    /// The slot that a word binds.
    Binds,
    /// The slot that a word reads.
    Reads,
    /// An expression.
    Value,
    /// An expression, IF, MATCH or FOR.
    Bound,
    /// A slot or an expression.
    Path,
    /// A tool.
    Tool,
    /// The name of an argument.
    Argument,
    /// A field that is read from a record.
    Field,
    /// A field of a record that is built.
    Key,
    /// A count, then this number of items.
    Count(Repeated),
    /// This number of items.
    Left(u32, Repeated),
    /// Pairs of a field and a value, as long as integers follow.
    OpenPairs,
    /// The kind of a constant.
    Kind,
    /// A constant of a kind.
    Constant(u32),
    /// The key of a case.
    Case,
    /// A CALL.
    Call,
}

/// The items that a count counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeated {
    Arguments,
    Pairs,
    Values,
    Cases,
    Statements,
}

/// What is needed at a position, and its context.
pub(super) struct Needed<'t, 'a> {
    pub(super) need: Need,
    /// The tool of the innermost call.
    pub(super) tool: Option<&'a str>,
    /// The record of a needed field.
    pub(super) record: Seen<'t>,
}

/// Reads the tokens of a statement.
struct Reader<'r, 't, 'a> {
    of: &'r Analysis<'a>,
    function: usize,
    known: &'r [KnownSlot<'t>],
    needs: Vec<Need>,
    tools: Vec<&'a str>,
    /// The last value.
    last: Seen<'t>,
}

/// Reads `tokens`, the beginning of a statement, up to a position.
pub(super) fn needed<'t, 'a>(
    of: &'t Analysis<'a>,
    function: usize,
    known: &[KnownSlot<'t>],
    tokens: &[Token],
) -> Needed<'t, 'a> {
    let mut reader =
        Reader { of, function, known, needs: vec![Need::Statement], tools: Vec::new(), last: None };
    tokens.iter().for_each(|token| reader.token(token));
    let need = loop {
        match reader.needs.pop() {
            Some(Need::Left(0, _)) => {}
            Some(Need::Left(_, Repeated::Arguments)) => break Need::Argument,
            Some(Need::Left(_, Repeated::Values)) => break Need::Value,
            Some(Need::Left(_, Repeated::Cases)) => break Need::Case,
            // Another pair may follow, or the end of the record.
            Some(Need::OpenPairs | Need::Left(_, Repeated::Pairs)) => break Need::Key,
            Some(need) => break need,
            None => break Need::Statement,
        }
    };
    Needed { need, tool: reader.tools.last().copied(), record: reader.last }
}

impl<'t> Reader<'_, 't, '_> {
    fn token(&mut self, token: &Token) {
        let number = Some(token.value).filter(|&value| token.kind == Kind::Integer && value != NO_VALUE);
        let Some(need) = self.needs.pop() else {
            return self.statement(token);
        };
        match need {
            Need::Left(0, _) => self.token(token),
            Need::Left(left, repeated) => {
                self.needs.push(Need::Left(left - 1, repeated));
                match repeated {
                    Repeated::Arguments => self.needs.extend([Need::Value, Need::Argument]),
                    Repeated::Pairs => self.needs.extend([Need::Value, Need::Key]),
                    Repeated::Values => self.needs.push(Need::Value),
                    Repeated::Cases => self.needs.extend([Need::Value, Need::Case]),
                    Repeated::Statements => self.needs.push(Need::Statement),
                }
                self.token(token);
            }
            Need::OpenPairs => {
                if number.is_some() {
                    self.needs.extend([Need::OpenPairs, Need::Value]);
                } else {
                    self.token(token);
                }
            }
            Need::Count(repeated) => {
                // A count that is larger than the number of items shown is wrong.
                let count = number.unwrap_or(0).min(1 << 12);
                self.needs.push(Need::Left(count, repeated));
            }
            Need::Tool => {
                let tools = self.of.text.as_ref().and_then(|text| text.sections.get(self.function));
                let name = number.and_then(|id| tools?.registries.tools.name(id));
                self.tools.push(name.unwrap_or(""));
            }
            Need::Reads | Need::Path if number.is_some() => self.last = number.and_then(|id| self.slot(id)),
            Need::Field => {
                let fields = self.of.text.as_ref().and_then(|text| text.sections.get(self.function));
                let name = number.and_then(|id| fields?.registries.fields.name(id));
                self.last = self.last.and_then(|record| ValueInfo::field_of(record.part.shape()?, name?));
            }
            Need::Kind => self.needs.push(Need::Constant(number.unwrap_or(0))),
            Need::Binds | Need::Argument | Need::Key | Need::Case | Need::Constant(_) | Need::Reads => {
                self.last = None;
            }
            Need::Statement | Need::Value | Need::Bound | Need::Path | Need::Call => self.word(token),
        }
    }

    fn slot(&self, number: u32) -> Seen<'t> {
        let slot = slot_of(self.of.file.functions.get(self.function)?, number)?;
        let known = self.known.get(slot.0 as usize)?;
        known.plain.or(known.ok)
    }

    /// A token after a complete statement begins a new one, if it can.
    fn statement(&mut self, token: &Token) {
        if token.word.is_some() {
            self.word(token);
        }
    }

    /// Pushes the operands of a word.
    fn word(&mut self, token: &Token) {
        let Some(word) = token.word else { return };
        self.last = None;
        let binds = matches!(word, Word::Let | Word::For | Word::Err | Word::Ok);
        for shape in word.row().operands.iter().rev() {
            let need = match shape {
                Shape::Slot if binds => Need::Binds,
                Shape::Slot => Need::Reads,
                Shape::Expr => Need::Value,
                Shape::Bound => Need::Bound,
                Shape::Literal => Need::Kind,
                Shape::Path => Need::Path,
                Shape::Field | Shape::FieldOrName => Need::Field,
                Shape::Tool => Need::Tool,
                Shape::Pairs if word == Word::Call => Need::Count(Repeated::Arguments),
                Shape::Pairs => Need::Count(Repeated::Pairs),
                Shape::OpenPairs => Need::OpenPairs,
                Shape::Exprs => Need::Count(Repeated::Values),
                Shape::Cases => Need::Count(Repeated::Cases),
                Shape::Block | Shape::Arms => Need::Count(Repeated::Statements),
                Shape::Otherwise | Shape::Handler => continue,
                Shape::Call => Need::Call,
            };
            self.needs.push(need);
        }
    }
}

/// Whether a word can satisfy a need.
pub(super) fn takes(need: Need, word: Word) -> bool {
    let place = word.row().place;
    match need {
        Need::Statement => true,
        Need::Value | Need::Path => place == Place::Expression,
        Need::Bound => matches!(place, Place::Expression | Place::Control),
        Need::Call => word == Word::Call,
        Need::Case => word == Word::Else,
        _ => false,
    }
}
