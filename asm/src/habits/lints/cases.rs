//! Warnings about keys of cases that mean something else in other languages: a default (`_`), several values
//! (`a|b`).

use super::Lints;
use crate::diagnostic::Diagnostic;
use crate::document::{Node, rename};
use crate::foreign::{self, Place};
use crate::text::shorten;
use ilo_spec::error::Code;

impl<'a> Lints<'_, 'a> {
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
}
