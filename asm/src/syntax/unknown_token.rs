//! The interface between the parser of ID text and the habits: a token that the parser does not understand,
//! and the answer of a habit.
//!
//! The parser calls this trait, and the table of habits implements it; neither imports the other. Without
//! habits ([`Canonical`]) the parser accepts the same programs but explains errors less well.

use super::lexer::Kind;
use crate::ast::Literal;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::node::Word;

/// What the parser expects in place of a token that it does not understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    /// An instruction that begins a statement.
    Statement,
    /// The first token of an operand of this instruction.
    Operand(Word),
    /// The number of a slot, for this instruction.
    Slot(Word),
    /// The number of a field, for this instruction.
    Field(Word),
    /// The value that this instruction binds to a slot or a field.
    Value(Word),
    /// The count of this instruction.
    Count(Word),
    /// The end of a statement.
    End,
}

impl Spot {
    /// The instruction that expects it.
    pub(crate) fn of(self) -> Option<Word> {
        match self {
            Spot::Operand(of) | Spot::Slot(of) | Spot::Field(of) | Spot::Value(of) | Spot::Count(of) => {
                Some(of)
            }
            Spot::Statement | Spot::End => None,
        }
    }
}

/// A token that the parser does not understand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'s> {
    pub(crate) place: Spot,
    pub(crate) kind: Kind,
    pub(crate) text: &'s str,
    /// The value before the token, at the end of a statement.
    pub(crate) before: &'s str,
}

/// The names in scope. Each query is a search; their number is limited for a file.
pub(crate) trait Lookup {
    /// The number of the slot with a name.
    fn slot(&mut self, name: &str) -> Option<u32>;
    /// Whether a slot with this number was bound or is a parameter.
    fn has_slot(&self, number: u32) -> bool;
    /// The number of the field with a name.
    fn field(&mut self, name: &str) -> Option<u32>;
}

/// How the parser continues after a habit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum TokenReading {
    /// As if this slot were written.
    Slot(u32),
    /// As if these fields of a slot were read, one of the other.
    Path(u32, Vec<u32>),
    /// As if the token were absent.
    Absent,
    /// The statement is wrong.
    #[default]
    Stop,
}

/// The answer of a habit for a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundToken {
    pub(crate) reading: TokenReading,
    /// The message; `None` if that of the parser is used.
    pub(crate) message: Option<String>,
    pub(crate) help: Option<String>,
    /// The replacement of the token, if only one thing can be meant.
    pub(crate) fix: Option<String>,
}

impl FoundToken {
    /// The diagnostic of the token, in place of that of the parser.
    pub(crate) fn diagnostic(self, code: Code, span: Span, expected: &str, text: &str) -> Diagnostic {
        let meant = match (&self.reading, &self.fix) {
            (TokenReading::Slot(_) | TokenReading::Path(..), Some(fix)) => format!("`{fix}`"),
            _ => expected.to_owned(),
        };
        let mut wrong = Diagnostic::new(code, span, self.message.unwrap_or_default())
            .expected(meant, format!("`{}`", shorten(text)));
        wrong.help = self.help;
        match self.fix {
            Some(fix) => wrong.replace(span, fix),
            None => wrong,
        }
    }
}

/// A text that is a template in other languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct References {
    pub(crate) message: String,
    pub(crate) help: &'static str,
    /// The expression that joins its parts, if all references are understood.
    pub(crate) fix: Option<String>,
}

/// Answers to what writers bring from other languages.
pub(crate) trait ForeignTokens: Sync {
    /// The instruction that a word of another language means.
    fn word(&self, _text: &str) -> Option<Word> {
        None
    }

    /// The constant that a word of another language means, with the kind of its LIT.
    fn literal(&self, _text: &str) -> Option<Constant> {
        None
    }

    /// The meaning of a token that the parser does not understand.
    fn find(&self, _site: &Site<'_>, _names: &mut dyn Lookup) -> Option<FoundToken> {
        None
    }

    /// The references in the text of a constant.
    fn references(&self, _text: &str, _names: &mut dyn Lookup) -> Option<References> {
        None
    }
}

/// A constant that is a word: its kind for LIT, its spelling, and its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constant {
    pub(crate) kind: u8,
    pub(crate) word: &'static str,
    pub(crate) value: Literal<'static>,
}

impl Constant {
    /// All constants that are words.
    pub(crate) const ALL: [Constant; 3] = [
        Constant { kind: 2, word: "nil", value: Literal::Nil },
        Constant { kind: 3, word: "true", value: Literal::Bool(true) },
        Constant { kind: 3, word: "false", value: Literal::Bool(false) },
    ];

    /// The constant that a word is.
    #[inline]
    pub(crate) fn of(text: &str) -> Option<Constant> {
        Constant::ALL.into_iter().find(|constant| constant.word == text)
    }
}

/// No habits at all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Canonical;

impl ForeignTokens for Canonical {}
