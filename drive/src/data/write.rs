//! Writes values as JSON, or to any other sink.
//!
//! One loop walks the tree and calls a sink; the JSON writer is one of the sinks. Numbers are written by the
//! one writer in `spec`.

use super::Data;
use ilo_spec::number;
use ilo_spec::program::Number;

/// Receives the parts of a value in order.
pub trait Sink<'d> {
    /// nil.
    fn nil(&mut self);
    /// A bool.
    fn bool(&mut self, value: bool);
    /// A number.
    fn number(&mut self, value: Number);
    /// A text.
    fn text(&mut self, value: &'d str);
    /// A list begins, with this number of items.
    fn begin_list(&mut self, length: usize);
    /// A record begins, with this number of fields.
    fn begin_record(&mut self, length: usize);
    /// The name of the field whose value follows.
    fn key(&mut self, name: &'d str);
    /// The innermost open list or record ends.
    fn end(&mut self);
}

enum Written<'d> {
    List(std::slice::Iter<'d, Data>),
    Record(std::slice::Iter<'d, (String, Data)>),
}

impl Data {
    /// Sends the parts of the value to a sink.
    pub fn feed<'d>(&'d self, sink: &mut impl Sink<'d>) {
        let mut inside: Vec<Written<'_>> = Vec::new();
        let mut next = Some(self);
        loop {
            match next {
                Some(Data::List(items)) => {
                    sink.begin_list(items.len());
                    inside.push(Written::List(items.iter()));
                }
                Some(Data::Record(fields)) => {
                    sink.begin_record(fields.len());
                    inside.push(Written::Record(fields.iter()));
                }
                Some(scalar) => feed_scalar(scalar, sink),
                None => {
                    sink.end();
                    inside.pop();
                }
            }
            next = match inside.last_mut() {
                None => return,
                Some(Written::List(items)) => items.next(),
                Some(Written::Record(fields)) => fields.next().map(|(name, value)| {
                    sink.key(name);
                    value
                }),
            };
        }
    }

    /// The value as JSON without whitespace.
    pub fn to_json(&self) -> String {
        let mut json = Json { out: String::new(), indent: None, open: Vec::new(), after_key: false };
        self.feed(&mut json);
        json.out
    }

    /// The value as indented JSON: a line for each item and field.
    pub fn to_json_indented(&self) -> String {
        let mut json = Json { out: String::new(), indent: Some(2), open: Vec::new(), after_key: false };
        self.feed(&mut json);
        json.out
    }
}

fn feed_scalar<'d>(scalar: &'d Data, sink: &mut impl Sink<'d>) {
    match scalar {
        Data::Nil | Data::List(_) | Data::Record(_) => sink.nil(),
        Data::Bool(value) => sink.bool(*value),
        Data::Number(value) => sink.number(*value),
        Data::Text(value) => sink.text(value),
    }
}

/// A text as JSON.
pub use ilo_spec::json::quoted as quote;

/// A container that is being written.
struct OpenJson {
    close: char,
    empty: bool,
}

struct Json {
    out: String,
    indent: Option<usize>,
    open: Vec<OpenJson>,
    after_key: bool,
}

impl Json {
    /// The separator before an item, a key, or the value after a key.
    fn separate(&mut self) {
        if std::mem::take(&mut self.after_key) {
            return;
        }
        let Some(open) = self.open.last_mut() else { return };
        if !std::mem::replace(&mut open.empty, false) {
            self.out.push(',');
        }
        self.line();
    }

    fn line(&mut self) {
        if let Some(width) = self.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', width * self.open.len()));
        }
    }

    fn begin(&mut self, open: char, close: char) {
        self.separate();
        self.out.push(open);
        self.open.push(OpenJson { close, empty: true });
    }
}

impl<'d> Sink<'d> for Json {
    fn nil(&mut self) {
        self.separate();
        self.out.push_str("null");
    }

    fn bool(&mut self, value: bool) {
        self.separate();
        self.out.push_str(if value { "true" } else { "false" });
    }

    fn number(&mut self, value: Number) {
        self.separate();
        // Writing to a string does not fail.
        let _ = number::write(value, &mut self.out);
    }

    fn text(&mut self, value: &'d str) {
        self.separate();
        self.out.push_str(&quote(value));
    }

    fn begin_list(&mut self, _length: usize) {
        self.begin('[', ']');
    }

    fn begin_record(&mut self, _length: usize) {
        self.begin('{', '}');
    }

    fn key(&mut self, name: &'d str) {
        self.separate();
        self.out.push_str(&quote(name));
        self.out.push_str(if self.indent.is_some() { ": " } else { ":" });
        self.after_key = true;
    }

    fn end(&mut self) {
        if let Some(open) = self.open.pop() {
            if !open.empty {
                self.line();
            }
            self.out.push(open.close);
        }
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use crate::data::read::{Bounds, read};

    #[test]
    fn indented_json_has_a_line_an_item() {
        let data = read(br#"{"a":[1,{}],"b":[]}"#, &Bounds::default()).unwrap();
        let expected = "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}";
        assert_eq!(data.to_json_indented(), expected);
    }
}
