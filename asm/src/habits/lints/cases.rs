//! Warnings about keys of cases that mean something else in other languages: a default (`_`), several values
//! (`a|b`).

use super::{Lints, is_repeatable};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::document::{Node, rename};
use crate::foreign::{self, Place};
use crate::span::Span;
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
    pub(super) fn several_cases(&mut self, key: &Node<'a>, value: &Node<'a>, text: &str) {
        let names: Vec<&str> = text.split('|').map(str::trim).collect();
        let words =
            |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_- ".contains(c));
        if names.len() < 2 || !names.iter().all(words) {
            return;
        }
        let warning = Diagnostic::new(
            Code::SeveralCases,
            key.span,
            format!("`{}` is one text here, with the sign in it", shorten(text)),
        )
        .expected("a case for each value", format!("`{}`", shorten(text)));
        let inside = self.at.source.get(value.span.range()).filter(|_| is_repeatable(value.span));
        // A case may also be a list of two.
        let between = self.at.source.get(key.span.end as usize..value.span.start as usize).unwrap_or("");
        let written =
            between.contains(':') && self.at.source.get(key.span.range()).unwrap_or("").starts_with('"');
        self.warn(match inside.filter(|_| written && !self.at.dialect.is_yaml()) {
            Some(inside) => {
                let blank = self.at.dialect.blank();
                let cases: Vec<String> =
                    names.iter().map(|name| format!("\"{name}\":{blank}{inside}")).collect();
                let span = Span::new(key.span.start, value.span.end);
                let edits = vec![Edit::new(span, cases.join(&format!(",{blank}")))];
                warning.fix(Fix { title: "write a case for each".to_owned(), edits })
            }
            None => warning.help("write a case for each of them, with the same value"),
        });
    }
}
