//! Warnings about keys of cases that mean something else in other languages: a default (`_`), several values
//! (`a|b`).

use super::Lints;
use crate::diagnostic::Diagnostic;
use crate::document::{Node, rename};
use crate::foreign::{self, Place};
use crate::text::shorten;
use ilo_spec::error::Code;

impl<'a> Lints<'_, '_, 'a> {
    /// Warns about a case that is the default in other languages.
    pub(super) fn default_case(&mut self, key: &Node<'a>, text: &str, has_default: bool) {
        if has_default || !foreign::is(Place::Default, text) {
            return;
        }
        let warning = Diagnostic::new(
            Code::DefaultCase,
            key.span,
            format!("`{text}` is a case like any other: it meets that text alone"),
        )
        .expected("`default` for all other values", format!("`{text}`"))
        .fix(rename(key, "default"));
        self.warn(warning);
    }

    /// Warns about a case that means several in other languages: `"gold|silver"`.
    pub(super) fn several_cases(&mut self, key: &Node<'a>, text: &str) {
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
}
