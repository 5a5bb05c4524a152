//! One-line descriptions: the syntax of each instruction, and the purpose of each key.

use crate::dialect::words_at::{Level, Wanted, wanted};
use crate::dialect::{ALL, Dialect, about, operator};
use crate::notation::Notation;
use ilo_spec::node::{Row, Shape, Word};

/// The syntax of an instruction.
pub(super) fn form(row: &Row) -> String {
    let operand = |shape: &Shape| match shape {
        Shape::Slot => "slot",
        Shape::Expr | Shape::Bound => "value",
        Shape::Literal => "kind constant",
        Shape::Path => "slot-or-record",
        Shape::Field => "field",
        Shape::FieldOrName => "field-or-name",
        Shape::Tool => "tool",
        Shape::Pairs => "count (field value)…",
        Shape::OpenPairs => "(field value)…",
        Shape::Exprs => "count value…",
        Shape::Cases => "count (constant value)… [ELSE value]",
        Shape::Block => "count statements",
        Shape::Arms => "count (ERR | OK)…",
        Shape::Otherwise => "[ELSE count statements]",
        Shape::Handler => "ERR slot count statements",
        Shape::Call => "CALL …",
    };
    let mut out = row.mnemonic.to_owned();
    for shape in row.operands {
        out.push(' ');
        out.push_str(operand(shape));
    }
    out
}

/// The purpose of a key at a position of a document; `None` if it is a freely chosen name.
pub(super) fn of_key(notation: Notation, path: &[Level<'_>], word: &str) -> Option<&'static str> {
    let dialect = Dialect::of(notation);
    match wanted(notation, path) {
        Wanted::Inputs | Wanted::Arguments | Wanted::Cases | Wanted::Fields | Wanted::Name => None,
        Wanted::Value => operator::find(word).map(meaning_of_operator),
        Wanted::Return => match word {
            "ok" => Some("the value that the function gives"),
            _ => Some("the failure that the function gives"),
        },
        _ => {
            let key = dialect.meaning(word, &ALL).map(|(key, _)| key)?;
            Some(about(key))
        }
    }
}

/// The result of an operator.
pub(super) fn meaning_of_operator(row: &operator::Operator) -> &'static str {
    let word = match row.makes {
        operator::Makes::Unary(unary) => unary.word(),
        operator::Makes::Binary(binary) => binary.word(),
        operator::Makes::Apply(function) => Word::of_pure(function),
    };
    word.row().meaning
}

/// The purpose of a word of a record at a position, for completion.
pub(super) fn of_word(notation: Notation, word: &str) -> &'static str {
    match (Dialect::of(notation).meaning(word, &ALL), operator::find(word)) {
        (Some((key, _)), _) => about(key),
        (None, Some(row)) => meaning_of_operator(row),
        _ => "",
    }
}
