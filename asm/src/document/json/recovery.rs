//! Recovery from errors in the structure of JSON: missing or extra commas, colons, brackets, keys and values.

use super::scalar::word_byte;
use super::{Awaited, Reader, offset};
use crate::diagnostic::{Edit, Fix};
use crate::document::{Node, NodeKind};
use crate::span::Span;
use crate::text::{self, shorten};
use ilo_spec::error::Code;

/// The most opening brackets to which a message points.
const POINTED: usize = 3;
/// The most brackets that a fix closes.
const CLOSED: usize = 8;
/// How often the rest of a source is searched for brackets; a limit keeps reading linear.
pub(crate) const LOOKS: u8 = 8;

/// A bracket in the form for messages.
const fn closer(record: bool) -> &'static str {
    if record { "}" } else { "]" }
}

const fn opener(record: bool) -> &'static str {
    if record { "{" } else { "[" }
}

fn insert(title: &str, at: u32, text: &str) -> Fix {
    Fix { title: title.to_owned(), edits: vec![Edit::insert(at, text)] }
}

impl<'a> Reader<'a, '_> {
    /// The next token, for a message.
    fn found(&self) -> String {
        let rest = self.source.get(self.at..self.end).unwrap_or("");
        let word = rest.bytes().take_while(|&byte| word_byte(byte)).count();
        let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
        match rest.get(..length) {
            None | Some("") => "the end".to_owned(),
            Some("\"") => "a text".to_owned(),
            Some(text) => format!("`{}`", shorten(text)),
        }
    }

    /// The span of the current character.
    fn here(&self) -> Span {
        Span::new(offset(self.at), offset(self.at + 1))
    }

    /// A text with those that `+` joins to it, which JSON does not have.
    pub(crate) fn joined(&mut self, first: Node<'a>) -> Node<'a> {
        let mut node = first;
        while let Some(next) = self.joined_text() {
            self.at = next;
            let after = self.string();
            let texts = [node.text().unwrap_or(""), after.text().unwrap_or("")].concat();
            node = Node::of_text(self.arena.alloc_str(&texts), node.span.to(after.span));
        }
        node
    }

    /// The start of a text in double quotes that a sign here joins to the one before.
    fn joined_text(&self) -> Option<usize> {
        let is_text = self.source.as_bytes().get(self.at.checked_sub(1)?) == Some(&b'"');
        let next = self.source.get(self.at..self.end)?.trim_start().strip_prefix('+')?.trim_start();
        (is_text && next.starts_with('"')).then_some(self.end - next.len())
    }

    /// A comma is missing. Only two texts in a list may be one.
    pub(crate) fn missing_comma(&mut self) {
        let at = self.last;
        let before = self.source.as_bytes().get(at.saturating_sub(1) as usize);
        if !self.in_record() && before == Some(&b'"') && self.found() == "a text" {
            self.bad(Code::BadJson, Span::at(at), "a comma is missing", |wrong| {
                wrong.expected("`,`", "a text").fix(insert("write `,`", at, ","))
            });
        }
    }

    pub(crate) fn missing_key(&mut self) {
        let (place, found) = (self.here(), self.found());
        self.bad(Code::BadJson, place, "a record holds keys with values", |wrong| {
            wrong
                .expected("`\"key\": value`", found)
                .help("write a key in double quotes and `:` before the value, or `[` and `]` around a list")
        });
    }

    /// A key without its value: the value is null, so that the key is kept.
    pub(crate) fn missing_value(&mut self, place: Span) {
        let found = format!("`{}`", self.source.get(place.range()).unwrap_or(""));
        self.bad(Code::BadJson, place, "a value is missing here", |wrong| {
            wrong.expected("a value", found).help("write the value; `null` if there is none")
        });
        self.value(Node { kind: NodeKind::Null, span: Span::at(place.start) });
    }

    pub(crate) fn extra_comma(&mut self, span: Span) {
        // A list of programs without its brackets.
        if self.at_top() {
            return;
        }
        self.bad(Code::BadJson, span, "a comma too many", |wrong| {
            wrong.expected("a value", "`,`").replace(span, "")
        });
    }

    /// Reports a token that is not allowed before a closing bracket.
    pub(crate) fn before_close(&mut self) {
        if matches!(self.want, Awaited::Colon | Awaited::Value) && self.in_record() {
            self.missing_value(self.here());
        }
    }

    /// A closing bracket with nothing open.
    pub(crate) fn stray_close(&mut self) {
        let place = self.here();
        if !self.lost {
            let found = self.found();
            self.bad(Code::BadJson, place, "this closes nothing", |wrong| {
                wrong.expected("the end, or another document", found).replace(place, "")
            });
        }
        self.last = place.end;
    }

    /// The number of unmatched closing brackets after the current one: in all the rest of the source, and up
    /// to the first line that begins with a record.
    fn closes_later(&mut self) -> [Option<usize>; 2] {
        let Some(left) = self.looks.checked_sub(1) else { return [None; 2] };
        self.looks = left;
        let rest = self.source.as_bytes().get(self.at + 1..self.end).unwrap_or_default();
        let (mut closed, mut depth, mut inside, mut escaped) = (0_usize, 0_usize, false, false);
        let (mut line, mut before) = (None, 0);
        for &byte in rest {
            if byte == b'{' && before == b'\n' && depth == 0 && !inside {
                line = line.or(Some(closed));
            }
            before = byte;
            match byte {
                _ if escaped => escaped = false,
                b'\\' if inside => escaped = true,
                b'"' => inside = !inside,
                _ if inside => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth > 0 => depth -= 1,
                b'}' | b']' => closed += 1,
                _ => {}
            }
        }
        [(depth == 0).then_some(closed), line]
    }

    /// A closing bracket of another kind than the innermost open one.
    pub(crate) fn wrong_close(&mut self, record: bool) {
        let place = self.here();
        let Some(inner) = self.built.frames().last().copied() else { return };
        let right = closer(inner.record);
        let outer = self.built.frames().iter().rev().nth(1).copied();
        let next = self.significant(self.at + 1);
        let open = Span::new(inner.open, inner.open + 1);
        let lost = std::mem::replace(&mut self.lost, true);
        // What follows shows which bracket is wrong: one too many, one missing, or this one of the wrong
        // kind.
        let fits_both = match self.built.frames().len() {
            2 => matches!(next, None | Some(b'{' | b'[')),
            _ => matches!(next, None | Some(b',' | b'}' | b']')),
        };
        let fits = outer.is_some_and(|outer| outer.record == record);
        // The brackets of the rest are the best evidence, if nothing else is wrong in it.
        let frames = self.built.frames().len();
        let told =
            |closed: &usize| *closed == frames || closed + 1 == frames || (fits && closed + 2 == frames);
        let (stray, missing) = match self.closes_later().into_iter().flatten().find(told) {
            Some(closed) => (closed == frames, closed + 2 == frames),
            None => {
                let stray = next == right.as_bytes().first().copied();
                (stray, !stray && fits && fits_both)
            }
        };
        // There is one place for it.
        let sure = missing && self.built.has_one_entry();
        if !lost && !sure {
            let last = self.last;
            let message = format!("`{}` does not close this `{}`", closer(record), opener(inner.record));
            self.bad(Code::BadJson, place, &message, |wrong| {
                let wrong = wrong
                    .expected(format!("`{right}`"), format!("`{}`", closer(record)))
                    .related(open, "it is open since here");
                if stray {
                    wrong.replace(place, "")
                } else if missing {
                    wrong.fix(insert(&format!("write `{right}`"), last, right))
                } else {
                    wrong.replace(place, right)
                }
            });
        }
        self.lost = lost;
        if stray {
            self.at += 1;
            return;
        }
        self.before_close();
        if missing {
            self.pop(self.last);
        } else {
            self.at += 1;
            self.pop(place.end);
        }
    }

    /// The next byte that is not a blank.
    fn significant(&self, from: usize) -> Option<u8> {
        let rest = self.source.as_bytes().get(from..self.end).unwrap_or_default();
        rest.iter().copied().find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
    }

    /// Whether the brace here begins the next document although this one is still open: both are at the start
    /// of a line.
    pub(crate) fn begins_document(&self) -> bool {
        let starts_line = |at: usize| {
            at.checked_sub(1).is_none_or(|before| self.source.as_bytes().get(before) == Some(&b'\n'))
        };
        let open = self.built.frames().first().filter(|frame| frame.record).map(|frame| frame.open as usize);
        open.is_some_and(starts_line) && starts_line(self.at)
    }

    /// The end of a document with open brackets.
    pub(crate) fn cut_off(&mut self, end: usize) {
        if std::mem::replace(&mut self.lost, true) {
            return;
        }
        let open: Vec<_> = self.built.frames().iter().rev().copied().collect();
        let whole = matches!(self.want, Awaited::Next | Awaited::FirstKey | Awaited::FirstValue);
        let at = self.last;
        let count = open.len();
        let brackets = if count == 1 { "a bracket is" } else { "brackets are" };
        let message = format!("the document ends while {brackets} open");
        self.bad(Code::BadJson, Span::at(offset(end)), &message, |wrong| {
            let closers: String = open.iter().map(|frame| closer(frame.record)).collect();
            let mut wrong = wrong.expected(format!("`{}`", shorten(&closers)), "the end");
            for frame in open.iter().take(POINTED) {
                wrong = wrong.related(Span::new(frame.open, frame.open + 1), "this is not closed");
            }
            if whole && count <= CLOSED {
                wrong.fix(insert(&format!("write `{closers}`"), at, &closers))
            } else {
                wrong.help("the text is cut off: write the rest of it")
            }
        });
    }

    pub(crate) fn stray_colon(&mut self) {
        let (place, top) = (self.here(), self.at_top());
        self.bad(Code::BadJson, place, "a `:` is only allowed between a key and its value", |wrong| {
            let expected = if top { "`{` before the key" } else { "`,`" };
            wrong.expected(expected, "`:`").help("write `{` and `}` around the keys and values")
        });
        self.at += 1;
        if top {
            self.built.take_document();
            self.skip_prose();
        } else if self.in_record() || self.want == Awaited::Next {
            self.want = Awaited::Value;
        }
    }

    /// Text outside the documents: reported once, up to the next line that begins with a bracket.
    pub(crate) fn prose(&mut self) {
        let start = self.at;
        self.skip_prose();
        let text = self.source.get(start..self.at).unwrap_or("");
        let kept = text.trim_end();
        let span = Span::new(offset(start), offset(start + kept.len()));
        if self.lost {
            return;
        }
        let is_fence = |line: &str| line.trim().is_empty() || line.trim_start().starts_with("```");
        if kept.lines().all(is_fence) {
            return;
        }
        let shown = shorten(kept.lines().next().unwrap_or(""));
        let message = "there is text that is not JSON beside the documents";
        self.bad(Code::UnexpectedText, span, message, |wrong| {
            wrong.expected("JSON documents and nothing else", format!("`{shown}`")).replace(span, "")
        });
    }

    fn skip_prose(&mut self) {
        let rest = self.source.get(self.at..self.end).unwrap_or("");
        let begins = |line: &str| line.trim_start_matches([' ', '\t']).starts_with(['{', '[']);
        if !self.lines_end {
            let mut at = self.at;
            for (index, line) in rest.split_inclusive('\n').enumerate() {
                if index > 0 && begins(line) {
                    self.at = at;
                    return;
                }
                at += line.len();
            }
            self.lines_end = true;
        }
        self.at += rest.find('{').filter(|&at| at > 0).unwrap_or(rest.len());
    }

    /// Reports a wrong escape, or a control character without one.
    pub(crate) fn bad_text(&mut self, span: Span, what: &'static str) {
        let text = self.source.get(span.range()).unwrap_or("");
        let what =
            if matches!(text, "\n" | "\r") { "a text ends in the line in which it begins" } else { what };
        self.bad(Code::BadString, span, what, |wrong| {
            if !text.starts_with('\\') {
                let escape = text::quoted(text).trim_matches('"').to_owned();
                return wrong.expected(format!("`{escape}`"), "the character itself").replace(span, escape);
            }
            let wrong = wrong.expected("an escape of JSON", format!("`{}`", shorten(text)));
            match text {
                "\\'" | "\\`" => wrong.replace(span, text.trim_start_matches('\\')),
                _ => wrong.help("write `\\\\` for a backslash"),
            }
        });
    }
}
