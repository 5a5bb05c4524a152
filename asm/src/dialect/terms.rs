//! The terms of each notation for messages.
//!
//! The writer of a document does not know the words of integer-ID text, nor the other way round, so
//! constructors of diagnostics take [`Terms`]. The words of documents come from the tables of [`super`] and
//! [`super::operator`], those of integer-ID text from [`ilo_spec::node`].

use super::operator::{self, Makes};
use super::{Dialect, Key};
use crate::notation::Notation;
use ilo_spec::node::Word;
use std::borrow::Cow;

/// The terms of a notation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    notation: Notation,
    /// What a block consists of.
    pub(crate) statement: &'static str,
    /// What holds a value.
    pub(crate) slot: &'static str,
    /// Several of those.
    pub(crate) slots: &'static str,
    /// What handles a call's failure, as a noun.
    pub(crate) handler: &'static str,
}

impl Terms {
    /// The terms of a notation.
    pub(crate) const fn of(notation: Notation) -> Terms {
        match notation {
            Notation::Id => {
                Terms { notation, statement: "statement", slot: "slot", slots: "slots", handler: "MATCH" }
            }
            _ => Terms { notation, statement: "step", slot: "name", slots: "names", handler: "handler" },
        }
    }

    /// Whether the notation is integer-ID text, whose words are instructions.
    pub(crate) fn is_id(self) -> bool {
        self.notation == Notation::Id
    }

    /// One of two phrasings: that for integer-ID text, or that for documents.
    pub(crate) fn choose<T>(self, id: T, document: T) -> T {
        if self.is_id() { id } else { document }
    }

    /// An instruction of integer-ID text, or the same as a key or operator of a document, as a message writes
    /// it: `IF`, or `if` in backticks.
    pub(crate) fn word(self, word: Word) -> Cow<'static, str> {
        if self.is_id() {
            return Cow::Borrowed(word.mnemonic());
        }
        Cow::Owned(format!("`{}`", document_word(word, Dialect::of(self.notation))))
    }
}

/// The key or operator of documents for an instruction.
fn document_word(word: Word, dialect: Dialect) -> &'static str {
    let key = match word {
        Word::If => Key::If,
        Word::Else => Key::Else,
        Word::For => Key::For,
        Word::Break => Key::Break,
        Word::Let => Key::Let,
        Word::Call => Key::Call,
        Word::Ret => Key::Return,
        Word::Merge => Key::Merge,
        Word::Undo => Key::Compensate,
        Word::Rollback => Key::Rollback,
        Word::MatchMap => Key::Match,
        Word::Match | Word::Err => Key::Handler,
        _ => {
            let makes = |makes: Makes| match makes {
                Makes::Unary(operator) => Some(operator.word()),
                Makes::Binary(operator) => Some(operator.word()),
                Makes::Apply(function) => Some(Word::of_pure(function)),
            };
            let row = operator::TABLE.iter().find(|row| makes(row.makes) == Some(word));
            return row.map_or(word.mnemonic(), |row| row.spelling);
        }
    };
    dialect.word(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_notation() {
        let word = |notation, word| Terms::of(notation).word(word).into_owned();
        assert_eq!(word(Notation::Id, Word::If), "IF");
        assert_eq!(word(Notation::Workflow, Word::If), "`if`");
        assert_eq!(word(Notation::Workflow, Word::Match), "`catch`");
        assert_eq!(word(Notation::ToolCalling, Word::Merge), "`$merge`");
        assert_eq!(word(Notation::Constrained, Word::And), "`and`");
        assert_eq!(word(Notation::Mcp, Word::Has), "`has`");
        assert_eq!(word(Notation::Mcp, Word::Gte), "`>=`");
    }
}
