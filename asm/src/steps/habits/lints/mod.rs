//! Lints: warnings about valid forms that mean something else in other languages, so that something else was
//! most likely meant.

mod records;
mod texts;

use super::parts::action_as_text;
use crate::diagnostic::Diagnostic;
use crate::document::{Node, rename};
use crate::expr::reference::{Reference, Step};
use crate::foreign::{self, Place};
use crate::span::Span;
use crate::steps::reader::StepReader;
use crate::text::shorten;
use ilo_spec::error::Code;

/// The lints for something that was read.
pub(crate) struct Lints<'r, 'a> {
    pub(crate) at: &'r mut StepReader<'a>,
}

impl<'a> Lints<'_, 'a> {
    /// Warns about an expression, which becomes a suspect.
    fn suspect(&mut self, whole: Span, diagnostic: Diagnostic) {
        self.found(Some(whole), diagnostic);
    }

    fn warn(&mut self, diagnostic: Diagnostic) {
        self.found(None, diagnostic);
    }

    /// Reports a warning, with the span of the expression that becomes a suspect, unless a record around it
    /// is reported.
    fn found(&mut self, suspect: Option<Span>, diagnostic: Diagnostic) {
        if suspect.is_none() || !self.at.at.reported {
            self.at.suspects.extend(suspect);
            self.at.report(diagnostic);
        }
    }

    /// A case with a text as its key, which may be the default in other languages, or several cases.
    pub(crate) fn case(&mut self, key: &Node<'a>, text: &str, has_default: bool) {
        self.several_cases(key, text);
        if has_default || !foreign::is(Place::Default, text) {
            return;
        }
        let message = format!("`{text}` is a case like any other: it meets that text alone");
        let warning = Diagnostic::new(Code::DefaultCase, key.span, message)
            .expected("`default` for all other values", format!("`{text}`"));
        self.warn(warning.fix(rename(key, "default")));
    }

    /// Warns about a case that means several in other languages: `"gold|silver"`.
    fn several_cases(&mut self, key: &Node<'a>, text: &str) {
        let is_word = |c: char| c.is_alphanumeric() || "_- ".contains(c);
        let is_name = |name: &str| !name.trim().is_empty() && name.chars().all(is_word);
        if !text.contains('|') || !text.split('|').all(is_name) {
            return;
        }
        let message = format!("`{}` is one text here, with the sign in it", shorten(text));
        let warning = Diagnostic::new(Code::SeveralCases, key.span, message)
            .expected("a case for each value", format!("`{}`", shorten(text)));
        self.warn(warning.help("write a case for each of them, with the same value"));
    }

    /// Warns about `$error.message`: the failure of a tool is a text.
    pub(crate) fn field_of_failure(&mut self, reference: &Reference<'a>) {
        let [Step::Field(field)] = reference.path else { return };
        let written = self.at.source.get(reference.span.range()).unwrap_or("");
        let text = written.replacen(&format!(".{}", field.text), "", 1);
        let message = format!("what a tool fails with is a text, which has no field `{}`", field.text);
        let warning = Diagnostic::new(Code::FailureField, reference.span, message)
            .expected(format!("`{text}`"), format!("`{}`", shorten(written)));
        let is_message = foreign::keys(field.text).contains(&"error");
        let meant = format!("what it says is tested by `'404' in {}`", text.trim_start_matches('$'));
        self.warn(if is_message { warning.replace(reference.span, text) } else { warning.help(meant) });
    }

    /// Warns about a message that is the word of an action: `"skip"`.
    pub(crate) fn message(&mut self, node: &Node<'a>) {
        if let Some(action) = action_as_text(node, self.at.dialect, self.at.in_loop()) {
            self.warn(action.diagnostic(Code::HandlerText, format!("a message, or `{}`", action.form)));
        }
    }
}
