//! The names, texts and numbers of generated programs, the plain ones first.

use super::choices::Choices;
use crate::data;
use ilo_spec::program::Number;
use std::borrow::Cow;
use std::fmt::Write;

/// Field names, without duplicates.
pub(super) const FIELDS: &[&str] =
    &["id", "name", "total", "email", "ok", "tags", "first name", "", "zoë", "a\"b", "_", "x-1", "__proto__"];

/// The name of a field: one of [`FIELDS`], or beyond these a number, for wide records.
pub(super) fn field(name: usize) -> Cow<'static, str> {
    FIELDS.get(name).map_or_else(|| format!("field-{name}").into(), |&known| known.into())
}

/// Names of tools.
pub(super) const TOOLS: &[&str] =
    &["get", "put", "mcp://orders/list", "release", "send mail", "größe", "check\\it"];

/// Function names; the function that runs is the last.
pub(super) const FUNCTIONS: &[&str] = &["helper", "of-two", "third", "inner"];

/// Texts, the first ones short and plain.
pub(super) const TEXTS: &[&str] = &[
    "a",
    "gold",
    "",
    "b",
    "no such user",
    "\"quoted\\\"",
    "zwei\nZeilen\t\u{1}\u{1f}",
    "é",
    "e\u{301}",
    "😀",
    "日本",
    "\u{ffff}",
    "\u{0}",
    "\u{7f}/\u{2028}",
    "_",
    "1",
    "nil",
    "the quick brown fox jumps over the lazy dog and goes on for a while",
];

/// Texts for the functions that read numbers, times and JSON, right and wrong ones.
const DOCUMENTS: &[&str] = &[
    "12",
    "2.5",
    "2026-01-31T12:00:00Z",
    "{\"id\":1,\"tags\":[\"a\",2.0,null]}",
    "[1,2,[3]]",
    " 42\n",
    "-0",
    "1e3",
    "2026-01-31",
    "2024-02-29 23:59:60.5-01:30",
    "1970-01-01T00:00:00.000000000000000000001Z",
    "\"\\ud83d\\ude00\"",
    "null",
    "",
    "01",
    "NaN",
    "Infinity",
    "0x10",
    "1_000",
    "1e999",
    "9223372036854775807",
    "9223372036854775808",
    "2026-02-30",
    "0000-01-01",
    "10000-01-01",
    "0001-01-01T00:00:00+23:59",
    "2026-01-31T24:00:00Z",
    "[1,",
    "[1 2]",
    "{\"id\":1,\"id\":2}",
    "{\"id\" 1}",
    "{id:1}",
    "\"\\ud800\"",
    "\"a",
    "1 2",
    "\u{a0}7\u{2003}",
];

const NUMBERS: &[Number] = &[
    Number::Int(1),
    Number::Int(0),
    Number::Int(2),
    Number::Int(3),
    Number::Int(7),
    Number::Int(10),
    Number::Int(-1),
    Number::Int(100),
    Number::Double(0.5),
    Number::Double(1.0),
    Number::Double(2.5),
    Number::Double(-3.25),
];

/// Numbers at the edges of arithmetic and rendering.
const EDGES: &[Number] = &[
    Number::Int(i64::MAX),
    Number::Int(i64::MIN),
    Number::Int(9_007_199_254_740_993),
    Number::Int(-9_007_199_254_740_993),
    Number::Int(3_037_000_500),
    Number::Int(2_147_483_648),
    Number::Int(-2_147_483_649),
    Number::Double(-0.0),
    Number::Double(0.0),
    Number::Double(0.1),
    Number::Double(1e15),
    Number::Double(1e16),
    Number::Double(9.999_999_999_999_998e15),
    Number::Double(1e-5),
    Number::Double(9.9e-6),
    Number::Double(1.797_693_134_862_315_7e308),
    Number::Double(5e-324),
    Number::Double(9_007_199_254_740_992.0),
    Number::Double(9_223_372_036_854_775_808.0),
    Number::Double(-9_223_372_036_854_775_808.0),
    Number::Double(1.5e-7),
    Number::Double(123_456_789.125),
];

/// A number, sometimes one at an edge.
pub(super) fn number(choices: &mut Choices<'_>) -> Number {
    match choices.weighted(&[14, 2, 1]) {
        0 => *choices.pick(NUMBERS),
        1 => *choices.pick(EDGES),
        _ => {
            let bits = (0..8)
                .fold(0_u64, |bits, _| (bits << 8) | u64::try_from(choices.below(256)).unwrap_or_default());
            match f64::from_bits(bits) {
                double if double.is_finite() && choices.chance(128) => Number::Double(double),
                _ => Number::Int(bits.cast_signed()),
            }
        }
    }
}

/// A text, sometimes an awkward one.
pub(super) fn text(choices: &mut Choices<'_>) -> &'static str {
    let among = if choices.chance(80) { TEXTS.len() } else { 5 };
    TEXTS[choices.below(among)]
}

/// A text that a function reads.
pub(super) fn document(choices: &mut Choices<'_>) -> &'static str {
    let among = if choices.chance(128) { DOCUMENTS.len() } else { 5 };
    DOCUMENTS[choices.below(among)]
}

/// Formats a number as in a source.
pub(super) fn write_number(number: Number, choices: &mut Choices<'_>, out: &mut String) {
    let text = match number {
        Number::Int(int) => int.to_string(),
        Number::Double(double) if choices.chance(60) => {
            let text = format!("{double:e}");
            if choices.chance(128) { text.to_uppercase() } else { text }
        }
        Number::Double(double) => format!("{double:?}"),
    };
    out.push_str(&text);
}

/// Writes a text as a JSON string; with `escaped`, every character is escaped.
pub(super) fn quote(text: &str, escaped: bool, out: &mut String) {
    if !escaped {
        return data::quote(text, out);
    }
    out.push('"');
    for unit in text.encode_utf16() {
        let _ = write!(out, "\\u{unit:04x}");
    }
    out.push('"');
}
