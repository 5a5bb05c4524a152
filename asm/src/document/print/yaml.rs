//! Prints documents as YAML 1.2 in block style.
//!
//! A word is unquoted if every YAML reader, including those of YAML 1.1, reads it as the same text.
//! Everything else is written as in JSON, which is also valid YAML.

use super::{Doc, Pair, json};
use crate::text::quote;
use std::fmt::Write;

/// Writes a record with one entry per line. A record under `spaced` has an empty line before it and between
/// its entries.
pub(crate) fn write(doc: &Doc<'_>, spaced: &str, out: &mut String) {
    let Doc::Record(entries) = doc else { return };
    let mut block = Indented { out };
    for entry in entries {
        match &entry.1 {
            Doc::Record(inside) if entry.0 == spaced && !inside.is_empty() => {
                block.out.push('\n');
                block.key(&entry.0);
                for inner in inside {
                    block.out.push('\n');
                    block.entries(core::slice::from_ref(inner), 1, false);
                }
            }
            _ => block.entries(core::slice::from_ref(entry), 0, false),
        }
    }
}

struct Indented<'o> {
    out: &'o mut String,
}

impl Indented<'_> {
    fn indent(&mut self, indent: usize) {
        for _ in 0..indent {
            self.out.push_str("  ");
        }
    }

    /// The entries of a record. If `begun`, the first is on the line that has already begun.
    fn entries(&mut self, entries: &[Pair<'_>], indent: usize, begun: bool) {
        for (number, (key, value)) in entries.iter().enumerate() {
            if number > 0 || !begun {
                self.indent(indent);
            }
            self.key(key);
            self.value(value, indent, '\n');
        }
    }

    /// Writes a key and its colon.
    fn key(&mut self, key: &str) {
        word(key, self.out);
        self.out.push(':');
    }

    /// Writes a value after the colon of its key or the dash of its item. A list or record begins behind
    /// `first`: a blank or a new line.
    fn value(&mut self, doc: &Doc<'_>, indent: usize, first: char) {
        match doc {
            Doc::Record(entries) if !entries.is_empty() => {
                self.out.push(first);
                self.entries(entries, indent + 1, first == ' ');
            }
            Doc::List(items) if !items.is_empty() => {
                self.out.push(first);
                for (number, item) in items.iter().enumerate() {
                    if number > 0 || first != ' ' {
                        self.indent(indent + 1);
                    }
                    self.out.push('-');
                    self.value(item, indent + 1, ' ');
                }
            }
            _ => {
                self.out.push(' ');
                self.flat(doc);
                self.out.push('\n');
            }
        }
    }

    fn flat(&mut self, doc: &Doc<'_>) {
        match doc {
            Doc::Word(text) => word(text, self.out),
            Doc::List(_) => self.out.push_str("[]"),
            Doc::Record(_) => self.out.push_str("{}"),
            Doc::Text(text) => quoted(text, self.out),
            scalar => json::write_scalar(scalar, self.out),
        }
    }
}

/// Writes a word, quoted if YAML could read it as something else.
fn word(text: &str, out: &mut String) {
    if is_plain(text) { out.push_str(text) } else { quoted(text, out) }
}

/// Writes a text in double quotes. It escapes what JSON escapes, and also characters that are not printable
/// in YAML or that older readers take for a line end.
fn quoted(text: &str, out: &mut String) {
    let start = out.len();
    quote(text, out);
    let special = |c: char| {
        matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    if !out.get(start..).is_some_and(|written| written.contains(special)) {
        return;
    }
    let written = out.split_off(start);
    for c in written.chars() {
        if special(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
}

/// Whether every YAML reader reads this as the same text, in block style and on one line.
fn is_plain(text: &str) -> bool {
    /// Words that YAML 1.1 or 1.2 does not read as texts, in lower case.
    const TAKEN: [&str; 11] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "~", "<<"];
    let first = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$' | '/');
    let inner = |c: char| {
        c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/' | '$' | '{' | '}' | ':' | ',')
    };
    text.starts_with(first)
        && text.chars().all(inner)
        && !text.ends_with([':', ' '])
        && !text.contains(": ")
        && !text.contains("  ")
        && !TAKEN.iter().any(|taken| taken.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_yaml_reads_otherwise_stand_in_quotes() {
        for plain in
            ["get-user", "$.user-id", "${fetch.email}", "mcp://users/get-user", "result nil, text", "a.b"]
        {
            assert!(is_plain(plain), "{plain}");
        }
        for quoted in [
            "",
            "no",
            "Yes",
            "NULL",
            "~",
            "1",
            "-",
            "- a",
            "a: b",
            "a:",
            "a #b",
            "# a",
            "a ",
            " a",
            "*a",
            "&a",
            "!a",
            "[a]",
            "{a}",
            "'a",
            "\"a",
            "%a",
            "@a",
            "`a",
            "? a",
            "| a",
            "> a",
            "a\nb",
            "\u{85}",
            "1.5",
            ".5",
            "0x1",
            "2026-11-22",
            "a\u{2028}",
            "a\tb",
            "12:30:45",
            ".inf",
            ".nan",
            "=",
        ] {
            assert!(!is_plain(quoted), "{quoted:?}");
        }
    }

    #[test]
    fn lists_and_records_nest_in_blocks() {
        let pair = Doc::List(vec![Doc::Number(ilo_spec::program::Number::Int(1)), Doc::Text("a".into())]);
        let record =
            Doc::Record(vec![("call".into(), Doc::word("undo")), ("args".into(), Doc::Record(vec![]))]);
        let doc = Doc::Record(vec![
            ("name".into(), Doc::word("f")),
            (
                "steps".into(),
                Doc::Record(vec![
                    ("no".into(), Doc::List(vec![pair])),
                    ("b".into(), Doc::List(vec![record])),
                ]),
            ),
        ]);
        let mut out = String::new();
        write(&doc, "steps", &mut out);
        let expected = "name: f\n\nsteps:\n  \"no\":\n    - - 1\n      - \"a\"\n\n  b:\n    - call: undo\n      args: {}\n";
        assert_eq!(out, expected);
    }
}
