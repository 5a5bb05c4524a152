//! Writes the signature of a tool for a model: `get-user(user-id: text, role?: "admin"|"guest") -> {email:
//! text}`.
//!
//! A signature shows the parts of the schemas that help to write a call and to read its answer. Its depth and
//! length are limited.

use super::shape::SchemaShape;
use crate::text::{is_hidden, shorten, visible};
use ilo_spec::number;
use ilo_spec::program::Number;
use ilo_spec::pure::Kinds;

/// The depth to which records and lists are shown.
const DEEPEST: usize = 24;
/// The most fields of a nested record that are shown.
const FIELDS: usize = 40;
/// The most constants of a value that are shown.
const CONSTANTS: usize = 12;
/// The longest name or constant that is shown whole, in bytes.
const TEXT: usize = 200;
/// The length in bytes at which a signature is cut.
const LONGEST: usize = 4096;
/// The kinds in the order in which they are written.
const KINDS: [Kinds; 6] = [Kinds::RECORD, Kinds::LIST, Kinds::TEXT, Kinds::NUMBER, Kinds::BOOL, Kinds::NIL];
/// Marks what is left out, and a record that is inside of itself.
const MORE: char = '…';

/// Writes the signature of a tool.
pub(super) fn signature(name: &str, input: SchemaShape<'_>, output: SchemaShape<'_>) -> String {
    let mut out = String::new();
    word(name, &mut out);
    out.push('(');
    out.push_str(&arguments(input));
    out.push_str(") -> ");
    out + &output.written()
}

/// Writes the arguments of a tool.
pub(super) fn arguments(input: SchemaShape<'_>) -> String {
    let mut writer = SignatureText { out: String::new(), open: vec![input] };
    writer.listed(input, usize::MAX);
    if input.is_open() {
        writer.out.push_str(if writer.out.is_empty() { "" } else { ", " });
        writer.out.push(MORE);
    }
    writer.out
}

impl SchemaShape<'_> {
    /// A shape in the form for a model: `{email: text, verified: bool}`.
    pub fn written(self) -> String {
        let mut writer = SignatureText { out: String::new(), open: Vec::new() };
        writer.shape(self);
        writer.out
    }
}

/// A text in quotes, cut if it is long. Invisible characters are escaped.
fn quoted(text: &str, out: &mut String) {
    let whole =
        if text.len() <= TEXT { crate::text::quoted(text) } else { crate::text::quoted(&shorten(text)) };
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

/// Writes a shape in the words of ilo's types.
struct SignatureText<'c> {
    out: String,
    /// The records and lists that are open, from the outermost.
    open: Vec<SchemaShape<'c>>,
}

impl<'c> SignatureText<'c> {
    /// Writes the first fields, separated by commas, and a mark if these are not all.
    fn listed(&mut self, of: SchemaShape<'c>, most: usize) {
        for (at, field) in of.fields().enumerate() {
            self.out.push_str(if at == 0 { "" } else { ", " });
            if at == most || self.out.len() >= LONGEST {
                return self.out.push(MORE);
            }
            word(field.name, &mut self.out);
            self.out.push_str(if field.required { ": " } else { "?: " });
            self.shape(field.shape);
        }
    }

    /// A shape; `any` beyond the limits.
    fn shape(&mut self, shape: SchemaShape<'c>) {
        let kinds = shape.kinds();
        if self.open.len() >= DEEPEST || kinds == Kinds::ANY || self.out.len() >= LONGEST {
            return self.out.push_str("any");
        }
        let mut between = "";
        for kind in KINDS {
            if kinds.meets(kind) {
                self.out.push_str(between);
                between = "|";
                self.of_kind(shape, kind);
            }
        }
    }

    /// The part of a shape that is about one kind.
    fn of_kind(&mut self, of: SchemaShape<'c>, kind: Kinds) {
        let out = &mut self.out;
        match kind {
            Kinds::RECORD if of.fields().len() == 0 => out.push_str("record"),
            Kinds::RECORD if self.open.iter().any(|open| open.same(of)) => out.extend(['{', MORE, '}']),
            Kinds::RECORD => {
                out.push('{');
                self.open.push(of);
                self.listed(of, FIELDS);
                self.open.pop();
                self.out.push('}');
            }
            Kinds::LIST => {
                let item = of.item();
                out.push_str(if is_choice(item) { "list (" } else { "list " });
                self.open.push(of);
                self.shape(item);
                self.open.pop();
                self.out.push_str(if is_choice(item) { ")" } else { "" });
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
}

/// Whether a shape is written as a choice.
fn is_choice(shape: SchemaShape<'_>) -> bool {
    let kinds = shape.kinds();
    let constants = shape.texts().map_or(1, <[_]>::len).max(shape.numbers().map_or(1, <[_]>::len));
    kinds != Kinds::ANY && (constants > 1 || KINDS.into_iter().filter(|&kind| kinds.meets(kind)).count() > 1)
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
