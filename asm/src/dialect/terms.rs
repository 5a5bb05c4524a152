//! The terms of each notation for messages.
//!
//! A writer of JSON or YAML does not know the words of integer-ID text, and vice versa, so the constructors
//! of diagnostics take [`Terms`]. The words of JSON and YAML come from the tables of [`super`] and
//! [`super::operator`], those of integer-ID text from [`ilo_spec::node`].

use super::{Dialect, Key, operator};
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
    /// The plural of that.
    pub(crate) slots: &'static str,
    /// What handles the failure of a call, as a noun.
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

    /// One of two phrasings: for integer-ID text, or for JSON and YAML.
    pub(crate) fn choose<T>(self, id: T, document: T) -> T {
        if self.is_id() { id } else { document }
    }

    /// An instruction as a message writes it, in backticks: `IF` in integer-ID text, otherwise the key or
    /// operator `if`.
    pub(crate) fn word(self, word: Word) -> Cow<'static, str> {
        if self.is_id() {
            return Cow::Borrowed(word.mnemonic());
        }
        Cow::Owned(format!("`{}`", document_word(word, Dialect::of(self.notation))))
    }
}

/// The key or operator for an instruction.
fn document_word(word: Word, dialect: Dialect) -> &'static str {
    let key = match word {
        Word::If => Key::If,
        Word::Else => Key::Else,
        Word::For => Key::For,
        Word::Break => Key::Break,
        Word::Skip => Key::Skip,
        Word::Yield => Key::Yield,
        Word::Try => Key::Try,
        Word::Let => Key::Let,
        Word::Call => Key::Call,
        Word::Ret => Key::Return,
        Word::Merge => Key::Merge,
        Word::Undo => Key::Compensate,
        Word::Rollback => Key::Rollback,
        Word::MatchMap => Key::Match,
        Word::Match | Word::Err => Key::Handler,
        _ => {
            let row = operator::TABLE.iter().find(|row| row.makes.word() == word);
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
