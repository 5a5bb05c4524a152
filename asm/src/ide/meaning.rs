//! One-line descriptions: the syntax of each instruction, and the purpose of each key.

use crate::dialect::words_at::{Level, Wanted, wanted};
use crate::dialect::{ALL, Dialect, Key, operator};
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
            Some(of(key))
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
        (Some((key, _)), _) => of(key),
        (None, Some(row)) => meaning_of_operator(row),
        _ => "",
    }
}

/// The purpose of a key.
fn of(key: Key) -> &'static str {
    match key {
        Key::Let => "the name that the value of this step gets",
        Key::Call => "calls a tool, or a function of the file",
        Key::Args => "the arguments of the call, by name",
        Key::Handler => "what runs when the call fails",
        Key::Compensate => "calls that undo what was done, before the function fails",
        Key::Rollback => "a call that is registered, and runs if the run ends without success",
        Key::If => "runs `then` when the condition is true",
        Key::Then => "the steps, or the value, where the condition is true",
        Key::Else => "the steps, or the value, otherwise",
        Key::Return => "ends the function with a value, or with a failure",
        Key::Ok => "ends the function with success",
        Key::Err => "ends the function with a failure; beside a call, what runs when it fails",
        Key::Assert => "fails unless the condition is true",
        Key::Message => "the failure",
        Key::For => "the name of each item of the list under `in`",
        Key::In => "the list of the loop",
        Key::Body => "what runs for each item",
        Key::Yield => "the value that the pass of the loop adds to the list",
        Key::Match => "picks a value by the cases",
        Key::Cases => "the cases, each with its value",
        Key::Default => "the value where no case is equal",
        Key::Switch => "the first arm whose condition is true",
        Key::Obj => "a record of these fields",
        Key::Merge => "a record with the fields of `set` added",
        Key::Set => "the fields that are set",
        Key::Op => "the operator",
        Key::A => "the first operand",
        Key::B => "the second operand",
        Key::Expr => "a value in infix form",
        Key::Value => "a value",
        Key::Skip => "ends this pass of the loop",
        Key::Try => "steps whose failures go to the handler beside it",
        Key::Break => "ends the loop",
        Key::Ignore => "continues as if the call had returned nil",
        Key::Continue => "continues after the step",
        Key::Fail => "ends the function with a failure, whatever its type",
        Key::As => "the name of what a call gave",
        Key::Meta => "the name, the tools and the types of the program",
        Key::Name => "the name of the function",
        Key::Input => "the inputs, each with its type",
        Key::Output => "the type of what the function gives",
        Key::Deps => "the tools that the function may call",
        Key::Steps => "the steps, in order",
        Key::Where => "a condition: elements for which it is false are left out",
        Key::Index => "the name of the position of the element in the list, from 0",
        Key::While => "runs `do` as long as the condition is true, at most `max` times",
        Key::Until => "runs `do` until the condition is true, at most `max` times",
        Key::Max => "the most passes, 100 if it is left out",
        Key::Do => "the steps of a pass",
        Key::Push => "a value that is appended to the list under `let`",
    }
}
