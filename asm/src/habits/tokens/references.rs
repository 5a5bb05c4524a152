//! References of other languages in ID text: paths such as `user.name`, and templates such as `"Hi {name}"`.
//! Here a text is only a text, and CONCAT joins texts and values.

use crate::syntax::unknown_token::{Lookup, References};
use crate::text::shorten;
use ilo_spec::limits;

/// The most operands that a fix joins.
const MOST: usize = 16;
/// The delimiters of names in templates of other languages.
const MARKS: [(&str, &str); 4] = [("${", "}"), ("{{", "}}"), ("{", "}"), ("$", "")];

/// How a path is written here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// As this code: fields of a slot, by their numbers.
    Read { code: String, slot: u32, fields: Vec<u32> },
    /// It cannot be written: one of its fields has no number.
    Unnumbered,
}

/// A name without the delimiters of a reference.
pub(crate) fn bare(text: &str) -> &str {
    text.trim_start_matches(['$', '{']).trim_end_matches('}')
}

/// How a text that is a path from a slot through fields is written here.
pub(crate) fn path(text: &str, names: &mut dyn Lookup) -> Option<Path> {
    let mut parts = bare(text).split('.');
    let first = parts.next()?;
    let fields: Vec<&str> = parts.collect();
    let numbered = first.parse().ok().filter(|&slot| names.has_slot(slot));
    let slot = numbered.or_else(|| names.slot(first))?;
    let is_name = |field: &&str| field.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if fields.is_empty() || fields.len() > limits::NESTING || !fields.iter().all(is_name) {
        return None;
    }
    let mut code = format!("{}{slot}", "FIELD ".repeat(fields.len()));
    let mut ids = Vec::with_capacity(fields.len());
    for field in fields {
        let Some(id) = names.field(field) else { return Some(Path::Unnumbered) };
        code.push(' ');
        code.push_str(&id.to_string());
        ids.push(id);
    }
    Some(Path::Read { code, slot, fields: ids })
}

/// The references in a text, given without its quotes.
pub(crate) fn find(text: &str, names: &mut dyn Lookup) -> Option<References> {
    let mut rest = text;
    let mut parts: Vec<String> = Vec::new();
    let (mut plain, mut first, mut sure) = (String::new(), None, true);
    let literal = |plain: &str| format!("LIT 0 \"{plain}\"");
    while let Some(c) = rest.chars().next() {
        let found = if matches!(c, '{' | '$') { reference(rest) } else { None };
        let Some((whole, code)) = found.and_then(|(whole, name)| Some((whole, read(name, names)?))) else {
            plain.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or("");
            continue;
        };
        first.get_or_insert(whole);
        if !plain.is_empty() {
            parts.push(literal(&plain));
            plain.clear();
        }
        sure &= parts.len() < MOST;
        match code {
            Path::Read { code, .. } if sure => parts.push(code),
            _ => sure = false,
        }
        rest = rest.get(whole.len()..).unwrap_or("");
    }
    let first = first?;
    if !plain.is_empty() {
        parts.push(literal(&plain));
    }
    Some(References {
        message: format!("`{}` is text here, no value", shorten(first)),
        help: "a text is not filled in; `CONCAT` joins a text and a value",
        fix: sure.then(|| format!("{}{}", "CONCAT ".repeat(parts.len() - 1), parts.join(" "))),
    })
}

/// How a slot, or a path from one, is written here.
fn read(name: &str, names: &mut dyn Lookup) -> Option<Path> {
    match names.slot(name) {
        Some(slot) => Some(Path::Read { code: format!("REF {slot}"), slot, fields: Vec::new() }),
        None => path(name, names),
    }
}

/// The reference with which a text begins: all of it, and the name or path in it.
fn reference(text: &str) -> Option<(&str, &str)> {
    MARKS.into_iter().find_map(|(open, close)| {
        let inside = text.strip_prefix(open)?;
        let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let begun = inside.trim_start_matches(if close.is_empty() { "" } else { " " });
        let path = begun.get(..begun.find(|c| !in_name(c)).unwrap_or(begun.len()))?;
        let path = if close.is_empty() { path.trim_end_matches(['.', '-']) } else { path };
        let behind = begun.get(path.len()..)?;
        let behind =
            if close.is_empty() { behind } else { behind.trim_start_matches(' ').strip_prefix(close)? };
        let whole = text.get(..text.len() - behind.len())?;
        path.starts_with(|c: char| c.is_alphabetic() || c == '_').then_some((whole, path))
    })
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
