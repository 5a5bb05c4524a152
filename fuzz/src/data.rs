//! Values independent of the machine and the oracle: inputs and answers of generated programs.

use ilo_spec::number;
use ilo_spec::program::Number;
use std::fmt::Write;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// nil.
    Nil,
    /// A bool.
    Bool(bool),
    /// An exact integer or a finite double.
    Number(Number),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Data>),
    /// A record without duplicate names.
    Record(Vec<(String, Data)>),
}

impl From<&str> for Data {
    fn from(text: &str) -> Data {
        Data::Text(text.to_owned())
    }
}

impl Data {
    /// Formats the value as compact JSON, for people and for files of the conformance corpus.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Data::Nil => out.push_str("null"),
            Data::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
            Data::Number(number) => {
                let _ = number::write(*number, out);
            }
            Data::Text(text) => quote(text, out),
            Data::List(items) => {
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    out.push_str(if place == 0 { "" } else { "," });
                    item.write(out);
                }
                out.push(']');
            }
            Data::Record(fields) => {
                out.push('{');
                for (place, (name, value)) in fields.iter().enumerate() {
                    out.push_str(if place == 0 { "" } else { "," });
                    quote(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// Writes a text as a JSON string.
pub(crate) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            _ if character.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}
