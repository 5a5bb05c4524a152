//! Locates an offset in JSON or YAML: the keys above it, the keys beside it, and the word that contains it.
//!
//! Sources may be incomplete, as they are while someone types. So a mark is written at the offset, as a word
//! where one may be, and the readers of documents, which go on after errors, find its place.

use crate::arena::Arena;
use crate::diagnostic::Diagnostics;
use crate::dialect::words_at::Level;
use crate::document::{Node, NodeKind, entries, inner, json, yaml};
use crate::notation::Notation;
use crate::source::SourceLimits;
use crate::span::Span;

/// The mark: a character of the private area of Unicode.
const MARK: char = '\u{e11a}';

/// What is expected at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// A key.
    Key,
    /// A value.
    Value,
}

/// A position in a document.
#[derive(Clone, Debug)]
pub(super) struct Place<'d> {
    /// The enclosing levels. For a value the last one is that of its key.
    pub(super) path: Vec<Level<'d>>,
    /// The record that contains the key.
    pub(super) here: Level<'d>,
    pub(super) at: At,
    /// The word or text that contains the offset, without its quotes.
    pub(super) word: Span,
    /// Whether it is quoted.
    pub(super) quoted: bool,
}

/// Locates an offset; `None` if it is outside a document.
pub(super) fn find<'d>(source: &str, notation: Notation, offset: u32, arena: &'d Arena) -> Option<Place<'d>> {
    let (before, after) = source.split_at_checked(offset as usize)?;
    let yaml = notation == Notation::Workflow;
    let (open, close) = if yaml { yaml_mark(before, after) } else { json_mark(before, after) };
    let marked = arena.alloc_str(&format!("{before}{open}{MARK}{close}{after}"));
    let limits = SourceLimits { source: marked.len(), ..SourceLimits::default() };
    let read = if yaml { yaml::read } else { json::read };
    let documents = read(marked, arena, &limits, &mut Diagnostics::default());
    let mut path = Vec::new();
    let (node, at) = documents.iter().find_map(|document| marked_in(document, &mut path))?;
    let here = match at {
        At::Key => path.pop().map(|level| Level { key: None, ..level }),
        At::Value => path.last().copied(),
    };
    let Span { start, end } = inner(&node);
    let word = if open.is_empty() {
        let end = end.saturating_sub(u32::try_from(MARK.len_utf8()).ok()?);
        Span::new(start, end.max(offset))
    } else {
        Span::at(offset)
    };
    let quoted = open.is_empty() && source.get(..start as usize)?.ends_with(['"', '\'']);
    Some(Place { path, here: here.unwrap_or_default(), at, word, quoted })
}

/// What to write around the mark in JSON: nothing in a word, and only a missing end of a text.
fn json_mark(before: &str, after: &str) -> (&'static str, &'static str) {
    let (mut inside, mut escaped) = (false, false);
    for byte in before.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b'\n' => inside = false,
            _ => {}
        }
    }
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-');
    if inside {
        let closed = after.split('\n').next().is_some_and(|rest| rest.contains('"'));
        return ("", if closed { "" } else { "\"," });
    }
    if before.ends_with(is_word) || after.starts_with(is_word) { ("", "") } else { ("\"", "\",") }
}

/// What to write around the mark in YAML: a colon behind a key.
fn yaml_mark(before: &str, after: &str) -> (&'static str, &'static str) {
    let line = before.rsplit('\n').next().unwrap_or("").trim_start_matches([' ', '-']);
    let rest = after.split('\n').next().unwrap_or("");
    let is_value = line.contains(": ") || line.starts_with(['$', '"', '\'', '{', '[']);
    if is_value || rest.contains(':') { ("", "") } else { ("", ":") }
}

/// The key or text with the mark, and the levels above it.
fn marked_in<'d>(node: &Node<'d>, path: &mut Vec<Level<'d>>) -> Option<(Node<'d>, At)> {
    let is_marked = |node: &Node<'d>| node.text().is_some_and(|text| text.contains(MARK));
    if is_marked(node) {
        return Some((*node, At::Value));
    }
    let depth = path.len();
    if let NodeKind::List(items) = node.kind {
        path.push(Level::default());
        if let Some(found) = items.iter().find_map(|item| marked_in(item, path)) {
            return Some(found);
        }
    }
    for entry in entries(node) {
        path.push(Level { key: entry.name().or(Some("")), entries: entries(node) });
        if is_marked(&entry.key) {
            return Some((entry.key, At::Key));
        }
        if let Some(found) = marked_in(&entry.value, path) {
            return Some(found);
        }
        path.truncate(depth);
    }
    path.truncate(depth);
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Entry;

    /// The keys above the place that `|` marks, those beside it, and the word there.
    #[track_caller]
    fn check(notation: Notation, marked: &str, path: &[Option<&str>], here: &[&str], at: At, word: &str) {
        let offset = marked.find('|').unwrap();
        let source = marked.replacen('|', "", 1);
        let arena = Arena::new();
        let found = find(&source, notation, u32::try_from(offset).unwrap(), &arena).unwrap();
        let keys: Vec<Option<&str>> = found.path.iter().map(|level| level.key).collect();
        assert_eq!(keys, path, "{marked}");
        let beside: Vec<&str> =
            found.here.entries.iter().filter_map(Entry::name).filter(|name| !name.contains(MARK)).collect();
        assert_eq!((beside, found.at), (here.to_vec(), at), "{marked}");
        assert_eq!(&source[found.word.range()], word, "{marked}");
    }

    #[test]
    fn places_in_json() {
        let json = |marked: &str, path: &[Option<&str>], here: &[&str], at, word: &str| {
            check(Notation::ToolCalling, marked, path, here, at, word);
        };
        json(r#"{"function": "f", |}"#, &[], &["function"], At::Key, "");
        json(r#"{"st|}"#, &[], &[], At::Key, "st");
        json(
            r#"{"steps": [{"call": "a", "ar|gs": {}}]}"#,
            &[Some("steps"), None],
            &["call"],
            At::Key,
            "args",
        );
        json(
            r#"{"steps": [{"call": "ge|", "let": "x"}]}"#,
            &[Some("steps"), None, Some("call")],
            &["call", "let"],
            At::Value,
            "ge",
        );
        json(
            r#"{"steps": [{"call": "t", "args": {"a": 1, |}}]}"#,
            &[Some("steps"), None, Some("args")],
            &["a"],
            At::Key,
            "",
        );
        json(r#"{"input": {"a": |"#, &[Some("input"), Some("a")], &["a"], At::Value, "");
        json(r#"{"steps": [|"#, &[Some("steps"), None], &[], At::Value, "");
    }

    #[test]
    fn places_in_yaml() {
        let yaml = |marked: &str, path: &[Option<&str>], here: &[&str], at, word: &str| {
            check(Notation::Workflow, marked, path, here, at, word);
        };
        yaml("name: f\n|", &[], &["name"], At::Key, "");
        yaml("name: f\nst|\ninput:\n  a: text\n", &[], &["name", "input"], At::Key, "st");
        yaml(
            "steps:\n  user:\n    call: ge|\n",
            &[Some("steps"), Some("user"), Some("call")],
            &["call"],
            At::Value,
            "ge",
        );
        yaml("steps:\n  user:\n    call: t\n    |\n", &[Some("steps"), Some("user")], &["call"], At::Key, "");
        yaml(
            "steps:\n  user:\n    call: t\n    args:\n      us|\n    catch:\n      return: 1\n",
            &[Some("steps"), Some("user"), Some("args")],
            &[],
            At::Key,
            "us",
        );
        yaml(
            "steps:\n  a:\n    return: {err|: x}\n",
            &[Some("steps"), Some("a"), Some("return")],
            &[],
            At::Key,
            "err",
        );
        yaml("steps:\n  - call: t\n    |\n", &[Some("steps"), None], &["call"], At::Key, "");
        yaml("a: ${us|er.email}\n", &[Some("a")], &["a"], At::Value, "${user.email}");
    }
}
