//! Prints documents as JSON, either laid out for people or minified.

use super::Doc;
use crate::text::quote;
use std::fmt::Write;

/// The length beyond which a line is broken.
const WIDTH: usize = 100;

/// Writes a document over several lines; a list or record is on one line if it fits.
///
/// The outermost record is always broken, and so are the lists under `broken`, with one item per line.
pub(crate) fn lines(doc: &Doc<'_>, broken: &str, out: &mut String) {
    LineWriter { broken, out }.broken(doc, 0);
}

/// Writes a document without white space.
pub(crate) fn minified(doc: &Doc<'_>, out: &mut String) {
    flat(doc, [",", ":"], out);
}

fn flat(doc: &Doc<'_>, [comma, colon]: [&str; 2], out: &mut String) {
    match doc {
        Doc::List(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                out.push_str(if number > 0 { comma } else { "" });
                flat(item, [comma, colon], out);
            }
            out.push(']');
        }
        Doc::Record(entries) => {
            out.push('{');
            for (number, (key, value)) in entries.iter().enumerate() {
                out.push_str(if number > 0 { comma } else { "" });
                quote(key, out);
                out.push_str(colon);
                flat(value, [comma, colon], out);
            }
            out.push('}');
        }
        scalar => write_scalar(scalar, out),
    }
}

/// Writes a scalar.
pub(crate) fn write_scalar(doc: &Doc<'_>, out: &mut String) {
    match doc {
        Doc::Null | Doc::List(_) | Doc::Record(_) => out.push_str("null"),
        Doc::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Doc::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Doc::Word(text) | Doc::Text(text) => quote(text, out),
    }
}

/// The length of a document on one line; `None` as soon as it exceeds `room`.
fn width(doc: &Doc<'_>, room: usize) -> Option<usize> {
    match doc {
        Doc::List(items) => {
            let mut used = 2;
            for item in items {
                used += width(item, room.checked_sub(used)?)? + 2;
            }
            (used <= room + 2).then_some(used)
        }
        Doc::Record(entries) => {
            let mut used = 2;
            for (key, value) in entries {
                used += key.len() + 6;
                used += width(value, room.checked_sub(used)?)?;
            }
            (used <= room + 2).then_some(used)
        }
        Doc::Word(text) | Doc::Text(text) => Some(text.len() + 2).filter(|&used| used <= room),
        _ => Some(8),
    }
}

struct LineWriter<'o> {
    broken: &'o str,
    out: &'o mut String,
}

impl LineWriter<'_> {
    fn line(&mut self, indent: usize) {
        self.out.push('\n');
        for _ in 0..indent {
            self.out.push_str("  ");
        }
    }

    /// Writes a document after `used` bytes of its line.
    fn value(&mut self, doc: &Doc<'_>, indent: usize, used: usize) {
        match WIDTH.checked_sub(used).and_then(|room| width(doc, room)) {
            Some(_) => flat(doc, [", ", ": "], self.out),
            None => self.broken(doc, indent),
        }
    }

    fn broken(&mut self, doc: &Doc<'_>, indent: usize) {
        let inner = indent + 1;
        match doc {
            Doc::List(items) if !items.is_empty() => {
                for (number, item) in items.iter().enumerate() {
                    self.out.push_str(if number > 0 { "," } else { "[" });
                    self.line(inner);
                    self.value(item, inner, inner * 2);
                }
                self.line(indent);
                self.out.push(']');
            }
            Doc::Record(entries) if !entries.is_empty() => {
                for (number, (key, value)) in entries.iter().enumerate() {
                    self.out.push_str(if number > 0 { "," } else { "{" });
                    self.line(inner);
                    let start = self.out.len();
                    quote(key, self.out);
                    self.out.push_str(": ");
                    let used = inner * 2 + self.out.len() - start;
                    if key == self.broken {
                        self.broken(value, inner);
                    } else {
                        self.value(value, inner, used);
                    }
                }
                self.line(indent);
                self.out.push('}');
            }
            empty => flat(empty, [",", ":"], self.out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doc(items: usize) -> Doc<'static> {
        let item = || Doc::one("key", Doc::Text("twenty letters are it".into()));
        Doc::one("steps", Doc::List((0..items).map(|_| item()).collect()))
    }

    #[test]
    fn what_fits_stands_on_one_line() {
        let mut out = String::new();
        lines(&Doc::one("a", doc(3)), "", &mut out);
        assert_eq!(
            out,
            "{\n  \"a\": {\n    \"steps\": [\n      {\"key\": \"twenty letters are it\"},\n      \
             {\"key\": \"twenty letters are it\"},\n      {\"key\": \"twenty letters are it\"}\n    ]\n  }\n}"
        );
        out.clear();
        lines(&Doc::one("a", doc(1)), "", &mut out);
        assert_eq!(out, "{\n  \"a\": {\"steps\": [{\"key\": \"twenty letters are it\"}]}\n}");
    }

    #[test]
    fn a_list_of_steps_is_always_broken() {
        let mut out = String::new();
        lines(&doc(1), "steps", &mut out);
        assert_eq!(out, "{\n  \"steps\": [\n    {\"key\": \"twenty letters are it\"}\n  ]\n}");
    }

    #[test]
    fn minified_has_no_blank() {
        let mut out = String::new();
        minified(
            &Doc::List(vec![Doc::Null, Doc::one("a b", Doc::Bool(true)), Doc::Record(vec![])]),
            &mut out,
        );
        assert_eq!(out, "[null,{\"a b\":true},{}]");
    }
}
