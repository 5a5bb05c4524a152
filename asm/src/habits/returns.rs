//! Habits: returns in the forms of other notations and languages, such as `ok` for `return` and `success` for
//! `ok`.

use super::context::{At, Walk, rebuilt};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::dialect::{Key, Meant};
use crate::document::replacement::is_repeatable;
use crate::document::{Entry, Kind, Node};
use crate::document::{entries, fits_in_braces, rename, shown};
use crate::span::Span;
use ilo_spec::error::Code;

/// Words for success and failure in other languages.
const SUCCESS: [&str; 7] = ["success", "succeed", "Ok", "OK", "right", "Right", "Success"];
const FAILURE: [&str; 9] =
    ["failure", "fail", "failed", "Err", "Error", "left", "Left", "Failure", "exception"];

impl<'a> Walk<'_, 'a> {
    /// Rewrites the return of a step, a handler or an arm to the form of the notation.
    pub(super) fn ways_out(&mut self, node: &Node<'a>, keys: &[Key]) -> Option<Node<'a>> {
        let new = rebuilt(entries(node), |_, entry| {
            let (key, _) = self.at.dialect.meaning(entry.name()?, keys)?;
            let way = match key {
                Key::Ok | Key::Err => self.under_return(entry, key),
                Key::Message if keys.contains(&Key::Return) => self.under_return(entry, key),
                Key::Return => self.without_return(entry),
                _ => None,
            };
            Some(vec![way?])
        })?;
        Some(self.record_at(&new, node))
    }

    /// A bare `ok` or failure in a notation that writes it in `return`.
    pub(super) fn under_return(&mut self, entry: &Entry<'a>, key: Key) -> Option<Entry<'a>> {
        let dialect = self.at.dialect;
        if dialect.has(Key::Ok) {
            return None;
        }
        let (outer, found) = (dialect.word(Key::Return), shown(&entry.key));
        if key == Key::Ok && !self.at.names.is_result() {
            let message = format!("a value is returned with `{outer}` here, and this is read as that");
            self.other_form(entry.key.span, message, outer, &found, rename(&entry.key, outer));
            return Some(Entry { key: self.text_at(outer, &entry.key), value: entry.value });
        }
        let word = dialect.word(if key == Key::Ok { Key::Ok } else { Key::Message });
        let form = dialect.return_form(word);
        let (open, blank) = (dialect.blank(), dialect.blank());
        let open = if dialect.is_yaml() {
            format!("{outer}: {{{word}: ")
        } else {
            format!("\"{outer}\":{open}{{\"{word}\":{blank}")
        };
        let edits = vec![
            Edit::new(Span::new(entry.key.span.start, entry.value.span.start), open),
            Edit::insert(entry.value.span.end, "}"),
        ];
        let fits = !dialect.is_yaml() || fits_in_braces(&entry.value, self.source);
        let fix = fits.then(|| Fix::writes(&form, edits));
        let message = format!("`{found}` belongs in `{outer}` here, and is read as that");
        self.other_form(entry.key.span, message, &form, &found, fix);
        let inner = Entry { key: self.text_at(word, &entry.key), value: entry.value };
        let value = self.record_at(&[inner], &entry.value);
        Some(Entry { key: self.text_at(outer, &entry.key), value })
    }

    /// `return` in a notation that writes bare `ok` and `err`.
    fn without_return(&mut self, entry: &Entry<'a>) -> Option<Entry<'a>> {
        let dialect = self.at.dialect;
        if dialect.has(Key::Return) {
            return None;
        }
        let inner = match entries(&entry.value) {
            [only] => only.name().and_then(|name| Some((only, self.outcome_word(name)?))),
            _ => None,
        };
        let (word, value, edits) = match inner {
            Some((only, word)) => {
                let open = Span::new(entry.key.span.start, only.value.span.start);
                let close = Span::new(only.value.span.end, entry.value.span.end);
                let open = Edit::new(open, format!("\"{word}\":{}", dialect.blank()));
                (word, only.value, vec![open, Edit::new(close, "")])
            }
            None => {
                let word = dialect.word(Key::Ok);
                (word, entry.value, vec![Edit::new(entry.key.span, format!("\"{word}\""))])
            }
        };
        let message = "a value is returned with `ok` here, a failure with `err`".to_owned();
        let fix = Fix { title: format!("write `{word}` alone"), edits };
        self.other_form(entry.key.span, message, word, &shown(&entry.key), Some(fix));
        Some(Entry { key: self.text_at(word, &entry.key), value })
    }

    /// The word of this notation for a success or failure, given that of any notation.
    fn outcome_word(&self, name: &str) -> Option<&'static str> {
        let dialect = self.at.dialect;
        let (key, _) = dialect.meaning(name, &[Key::Ok, Key::Message])?;
        Some(dialect.word(key))
    }

    /// The content of `return`: a success or failure in the words of the notation, or a value.
    pub(super) fn outcome(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let new = match entries(node) {
            [a, b] => self.both(node, a, b),
            [only] => self.other_outcome(only).or_else(|| self.other_word(only)),
            _ => None,
        };
        let new = new.map(|entry| self.record_at(&[entry], node));
        self.value(&new.unwrap_or(*node), At::Value).or(new)
    }

    /// A return of both success and failure, read as the success.
    fn both(&mut self, node: &Node<'a>, a: &Entry<'a>, b: &Entry<'a>) -> Option<Entry<'a>> {
        let fails = |entry: &Entry<'a>| matches!(entry.name(), Some("err" | "error"));
        let (ok, err) = match (a.name(), b.name()) {
            (Some("ok"), _) if fails(b) => (a, b),
            (_, Some("ok")) if fails(a) => (b, a),
            _ => return None,
        };
        let (word, found) = (shown(&ok.key), shown(&err.key));
        let message = format!("a return is `{word}` or `{found}`, not both");
        let wrong = Diagnostic::new(Code::BadStep, err.key.span, message).expected("one of them", "both");
        let written =
            !self.at.dialect.is_yaml() && is_repeatable(node.span) && matches!(err.value.kind, Kind::Null);
        let value = self.source.get(ok.value.span.range()).filter(|_| written);
        self.diagnostics.push(match value {
            Some(value) => {
                wrong.replace(node.span, format!("{{\"{word}\":{}{value}}}", self.at.dialect.blank()))
            }
            None => {
                wrong.help(format!("leave `{found}` out where it succeeds; it fails with `{found}` alone"))
            }
        });
        Some(*ok)
    }

    /// `success` and `failure` for `ok` and the notation's word for a failure.
    fn other_outcome(&mut self, only: &Entry<'a>) -> Option<Entry<'a>> {
        let dialect = self.at.dialect;
        // `success` may be a field of the returned value.
        let is_value = matches!(only.value.kind, Kind::Bool(_));
        if is_value || !self.at.names.is_result() || !dialect.has(Key::Return) {
            return None;
        }
        let name = only.name()?;
        let word = match name {
            _ if SUCCESS.contains(&name) => dialect.word(Key::Ok),
            _ if FAILURE.contains(&name) => dialect.word(Key::Message),
            _ => return None,
        };
        let form = dialect.return_form(word);
        let found = self.source.get(only.key.span.range()).unwrap_or("");
        let wrong = Diagnostic::new(Code::WrongReturn, only.key.span, format!("`{name}` is `{word}` here"))
            .expected(format!("`{form}`"), format!("`{found}`"))
            .related(self.at.names.output_span(), "the type is given here");
        self.diagnostics.push(wrong.fix(rename(&only.key, word)));
        Some(Entry { key: self.text_at(word, &only.key), value: only.value })
    }

    /// Another notation's word for a failure.
    fn other_word(&mut self, only: &Entry<'a>) -> Option<Entry<'a>> {
        let dialect = self.at.dialect;
        let (key, meant) = dialect.meaning(only.name()?, &[Key::Message])?;
        if meant == Meant::Own || !dialect.has(Key::Return) {
            return None;
        }
        self.other_notation(only, key);
        Some(Entry { key: self.text_at(dialect.word(key), &only.key), value: only.value })
    }

    /// Warns about a form of another notation.
    pub(super) fn other_form(
        &mut self,
        span: Span,
        message: String,
        form: &str,
        found: &str,
        fix: Option<Fix>,
    ) {
        let warning = Diagnostic::new(Code::OtherNotation, span, message)
            .expected(format!("`{form}`"), format!("`{found}`"));
        self.diagnostics.push(warning.fix(fix));
    }
}
