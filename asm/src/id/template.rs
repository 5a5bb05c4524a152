//! Texts that another language would fill in. Here they stand for themselves, and CONCAT joins texts and values.

use super::mend::Dotted;
use super::parser::Parser;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::node::Word;

/// Pieces that a mend writes at most.
const MOST: usize = 16;
/// What stands around a name in a text of other languages.
const MARKS: [(&str, &str); 4] = [("${", "}"), ("{{", "}}"), ("{", "}"), ("$", "")];

/// Whether another language might find a reference in a text.
pub(crate) fn may_refer(text: &str) -> bool {
    memchr::memchr2(b'{', b'$', text.as_bytes()).is_some()
}

/// The reference that a text begins with: all of it, and what it names.
fn reference(text: &str) -> Option<(&str, &str)> {
    MARKS.into_iter().find_map(|(open, close)| {
        let inside = text.strip_prefix(open)?;
        let name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let begun = inside.trim_start_matches(if close.is_empty() { "" } else { " " });
        let path = begun.get(..begun.find(|c| !name(c)).unwrap_or(begun.len()))?;
        let path = if close.is_empty() { path.trim_end_matches(['.', '-']) } else { path };
        let behind = begun.get(path.len()..)?;
        let behind =
            if close.is_empty() { behind } else { behind.trim_start_matches(' ').strip_prefix(close)? };
        let whole = text.get(..text.len() - behind.len())?;
        path.starts_with(|c: char| c.is_alphabetic() || c == '_').then_some((whole, path))
    })
}

impl Parser<'_, '_> {
    /// Warns of references to slots in the text of the LIT that was just read.
    #[cold]
    pub(crate) fn template(&mut self) {
        let token = |back| self.at.checked_sub(back).and_then(|at| self.tokens.get(at));
        let (Some(&text), Some(&word)) = (token(1), token(3)) else { return };
        // Where the kind is missing, that is the mend.
        let whole = word.word == Some(Word::Lit);
        let written = self.text(&text);
        let mut rest = written.get(1..written.len().saturating_sub(1)).unwrap_or("");
        let mut parts: Vec<String> = Vec::new();
        let (mut plain, mut first, mut sure) = (String::new(), None, whole);
        while let Some(c) = rest.chars().next() {
            let found = if matches!(c, '{' | '$') { reference(rest) } else { None };
            let Some((whole, code)) = found.and_then(|(whole, path)| Some((whole, self.read_path(path)?)))
            else {
                plain.push(c);
                rest = rest.get(c.len_utf8()..).unwrap_or("");
                continue;
            };
            first.get_or_insert(whole);
            if !plain.is_empty() {
                parts.push(format!("LIT 0 \"{plain}\""));
                plain.clear();
            }
            sure &= parts.len() < MOST;
            match code {
                Dotted::By(code) if sure => parts.push(code),
                _ => sure = false,
            }
            rest = rest.get(whole.len()..).unwrap_or("");
        }
        let Some(first) = first else { return };
        if !plain.is_empty() {
            parts.push(format!("LIT 0 \"{plain}\""));
        }
        let message = format!("`{}` is text here, no value", shorten(first));
        let warning = Diagnostic::new(Code::TextReference, text.span(), message)
            .help("a text stands for itself; `CONCAT` joins a text and a value");
        self.report(if sure {
            let code = format!("{}{}", "CONCAT ".repeat(parts.len() - 1), parts.join(" "));
            warning.replace(Span::new(word.start, text.end), code)
        } else {
            warning
        });
    }

    /// How a path from a slot is read, or a slot alone.
    fn read_path(&mut self, path: &str) -> Option<Dotted> {
        match self.slot_of(path) {
            Some(slot) => Some(Dotted::By(format!("REF {slot}"))),
            None => self.dotted(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::reference;

    #[test]
    fn references_are_found_in_the_marks_of_other_languages() {
        for (text, found) in [
            ("{a} b", Some(("{a}", "a"))),
            ("${a.b}", Some(("${a.b}", "a.b"))),
            ("{{ user-id }}!", Some(("{{ user-id }}", "user-id"))),
            ("$a.b. c", Some(("$a.b", "a.b"))),
            ("{a", None),
            ("{ }", None),
            ("$5", None),
            ("{\\\"a\\\": 1}", None),
        ] {
            assert_eq!(reference(text), found, "{text}");
        }
    }
}
