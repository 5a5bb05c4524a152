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
