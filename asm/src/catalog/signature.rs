//! Writes the signature of a tool for a model: `get-user(user-id: text, role?: "admin"|"guest") -> {email:
//! text}`.
//!
//! A signature shows the parts of the schemas that help to write a call and to read its answer. Its depth and
//! length are limited.

use super::shape::{Field, Shape};
use crate::text::{is_hidden, quote, shorten, visible};
use ilo_spec::number;
use ilo_spec::program::Number;
use ilo_spec::pure::Kinds;

/// The depth to which records and lists are shown.
const DEEPEST: usize = 4;
/// The most fields of a nested record that are shown.
const FIELDS: usize = 12;
/// The most constants of a value that are shown.
const CONSTANTS: usize = 12;
/// The longest name or constant that is shown whole, in bytes.
const TEXT: usize = 200;
/// The length in bytes at which a signature is cut.
const LONGEST: usize = 4096;
/// Marks what is left out.
const MORE: char = '…';

/// Writes the signature of a tool.
pub(super) fn signature(name: &str, input: Shape<'_>, output: Shape<'_>) -> String {
    let mut out = String::new();
    word(name, &mut out);
    out.push('(');
    out.push_str(&arguments(input));
    out.push_str(") -> ");
    let mut answer = String::new();
    shape(output, 0, &mut answer);
    out + &answer
}

/// Writes the arguments of a tool.
pub(super) fn arguments(input: Shape<'_>) -> String {
    let mut out = String::new();
    if !listed(&mut input.fields(), usize::MAX, 1, &mut out) || input.is_open() {
        out.push_str(if out.is_empty() { "" } else { ", " });
        out.push(MORE);
    }
    out
}

impl Shape<'_> {
    /// A shape in the form for a model: `{email: text, verified: bool}`.
    pub fn written(self) -> String {
        let mut out = String::new();
        shape(self, 0, &mut out);
        out
    }
}

/// Writes the first fields, separated by commas. Returns whether these are all.
fn listed<'c>(
    fields: &mut impl Iterator<Item = Field<'c>>,
    most: usize,
    depth: usize,
    out: &mut String,
) -> bool {
    for (at, field) in fields.enumerate() {
        if at == most || out.len() >= LONGEST {
            return false;
        }
        out.push_str(if at == 0 { "" } else { ", " });
        word(field.name, out);
        out.push_str(if field.required { ": " } else { "?: " });
        shape(field.shape, depth, out);
    }
    true
}

/// A text in quotes, cut if it is long. Invisible characters are escaped.
fn quoted(text: &str, out: &mut String) {
    let mut whole = String::new();
    if text.len() <= TEXT {
        quote(text, &mut whole);
    } else {
        quote(&shorten(text), &mut whole);
    }
    out.push_str(&visible(&whole));
}

/// A name, in quotes if it could be read as more than one.
fn word(name: &str, out: &mut String) {
    let plain = |c: char| (c.is_alphanumeric() && !is_hidden(c)) || matches!(c, '_' | '-' | '/' | ':' | '.');
    if (1..=TEXT).contains(&name.len()) && name.chars().all(plain) {
        out.push_str(name);
    } else {
        quoted(name, out);
    }
}

/// A shape in the words of ilo's types; `any` beyond the depth limit.
fn shape(shape: Shape<'_>, depth: usize, out: &mut String) {
    let kinds = shape.kinds();
    if depth >= DEEPEST || kinds == Kinds::ANY || out.len() >= LONGEST {
        return out.push_str("any");
    }
    let mut between = "";
    for kind in [Kinds::RECORD, Kinds::LIST, Kinds::TEXT, Kinds::NUMBER, Kinds::BOOL, Kinds::NIL] {
        if kinds.meets(kind) {
            out.push_str(between);
            between = "|";
            of_kind(shape, kind, depth, out);
        }
    }
}

/// The part of a shape that is about one kind.
fn of_kind(of: Shape<'_>, kind: Kinds, depth: usize, out: &mut String) {
    match kind {
        Kinds::RECORD => record(of, depth, out),
        Kinds::LIST => {
            out.push_str("list ");
            let items = of.item();
            let start = out.len();
            shape(items, depth + 1, out);
            if out.get(start..).is_some_and(has_choice) {
                out.insert(start, '(');
                out.push(')');
            }
        }
        Kinds::TEXT => match of.texts() {
            Some(texts) => constants(texts, out, |text, out| quoted(text, out)),
            None => out.push_str("text"),
        },
        Kinds::NUMBER => match of.numbers() {
            Some(numbers) => constants(numbers, out, |&number: &Number, out| {
                // Writing to a text cannot fail.
                let _ = number::write(number, out);
            }),
            None => out.push_str("number"),
        },
        Kinds::BOOL => out.push_str(match of.boolean() {
            Some(true) => "true",
            Some(false) => "false",
            None => "bool",
        }),
        _ => out.push_str("nil"),
    }
}

/// Whether there is a choice outside of braces and quotes.
fn has_choice(written: &str) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for c in written.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

fn constants<T>(all: &[T], out: &mut String, write: impl Fn(&T, &mut String)) {
    for (at, one) in all.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "|" });
        if at == CONSTANTS || out.len() >= LONGEST {
            return out.push(MORE);
        }
        write(one, out);
    }
}

fn record(of: Shape<'_>, depth: usize, out: &mut String) {
    let mut fields = of.fields();
    if fields.len() == 0 {
        return out.push_str("record");
    }
    out.push('{');
    if !listed(&mut fields, FIELDS, depth + 1, out) {
        out.push_str(", ");
        out.push(MORE);
    }
    out.push('}');
}
