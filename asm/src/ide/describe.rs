//! One-line descriptions: the purpose of each key, and slots, values and headers of functions in the syntax
//! of ilo's types.

use super::{Analysis, Target};
use crate::ast::{Expr, ExprKind, Function};
use crate::check::{KnownSlot, KnownSlots, Seen, ValueInfo};
use crate::dialect::words_at::{Level, Wanted, wanted};
use crate::dialect::{ALL, Dialect, about, operator};
use crate::notation::Notation;
use crate::syntax::header::write_header;

/// The purpose of a key at a position of a document; `None` if it is a freely chosen name.
pub(super) fn of_key(notation: Notation, path: &[Level<'_>], word: &str) -> Option<&'static str> {
    let dialect = Dialect::of(notation);
    match wanted(notation, path) {
        Wanted::Inputs | Wanted::Arguments | Wanted::Cases | Wanted::Fields | Wanted::Name => None,
        Wanted::Value => operator::find(word).map(|row| row.makes.word().row().meaning),
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

/// The purpose of a word of a record at a position, for completion.
pub(super) fn of_word(notation: Notation, word: &str) -> &'static str {
    match (Dialect::of(notation).meaning(word, &ALL), operator::find(word)) {
        (Some((key, _)), _) => about(key),
        (None, Some(row)) => row.makes.word().row().meaning,
        _ => "",
    }
}

/// What is inferred about the slots of the functions.
pub(super) fn slots<'t, 'a>(analysis: &'t Analysis<'a>) -> KnownSlots<'t, 'a> {
    KnownSlots::new(&analysis.file, analysis.catalog)
}

/// What is known about the value of an expression: a slot, a field, an answer.
pub(super) fn value<'t>(analysis: &'t Analysis<'_>, of: &Expr<'_>, known: &[KnownSlot<'t>]) -> Seen<'t> {
    match of.kind {
        ExprKind::Ref(slot) => {
            let known = known.get(slot.0 as usize)?;
            known.plain.or(known.ok)
        }
        ExprKind::Field(record, name) => {
            ValueInfo::field_of(value(analysis, record, known)?.part.shape()?, name.text)
        }
        ExprKind::Call(call) => match analysis.target(call.tool.text) {
            Target::Tool(tool) => Some(ValueInfo::answer(tool)),
            _ => None,
        },
        _ => None,
    }
}

/// The header of a function, without the comment marker.
pub(super) fn header(function: &Function<'_>) -> String {
    let mut out = String::new();
    write_header(&function.name, function.parameters, &function.output, &mut out);
    out.trim_start_matches("; ").to_owned()
}

/// The type of a value in ilo's syntax, with its fields if they are known.
fn described(value: ValueInfo<'_>) -> String {
    value.part.shape().map_or_else(|| value.ty.to_string(), crate::catalog::SchemaShape::written)
}

/// What is known about a slot: its values, or the results that it holds before a MATCH handles them.
pub(super) fn slot(known: &KnownSlot<'_>) -> String {
    match (known.plain, known.ok) {
        (Some(plain), _) => described(plain),
        (None, Some(ok)) => match known.err.map(described).filter(|err| err != "any") {
            Some(err) => format!("result {}, {err}", described(ok)),
            None => format!("result {}", described(ok)),
        },
        (None, None) => known.err.map_or_else(|| "any".to_owned(), described),
    }
}
