//! Questions about a whole source: whether a JSON or YAML file is an ilo program (an editor shows nothing
//! about others), all fixes, and the canonical layout.

use crate::arena::Arena;
use crate::compile::Options;
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, fix};
use crate::dialect::{Dialect, Key, META};
use crate::document::{Entry, Node, entries, items_of, json, yaml};
use crate::format::Formatted;
use crate::notation::Notation;
use crate::source::SourceLimits;
use crate::span::Span;
use crate::{compile, format};
use std::slice;

/// The notation of a JSON or YAML source that has the steps of a program and, beside them, a key that no
/// other format has; otherwise `None`.
pub fn program_notation(source: &str) -> Option<Notation> {
    let notation = Notation::detect(source).filter(|&notation| notation != Notation::Id)?;
    let arena = Arena::new();
    let read = if notation == Notation::Workflow { yaml::read } else { json::read };
    let documents = read(source, &arena, &SourceLimits::default(), &mut Diagnostics::default());
    items_of(documents).iter().any(|document| is_program(document, notation)).then_some(notation)
}

fn is_program(document: &Node<'_>, notation: Notation) -> bool {
    let dialect = Dialect::of(notation);
    let is =
        |entry: &Entry<'_>, keys: &[Key]| keys.iter().any(|&key| entry.is(|name| name == dialect.word(key)));
    let has =
        |key: Key| dialect.top().contains(&key) && entries(document).iter().any(|entry| is(entry, &[key]));
    let of_meta = |entry: &Entry<'_>| {
        is(entry, &[Key::Meta]) && entries(&entry.value).iter().any(|inner| is(inner, &META))
    };
    let named = notation != Notation::Workflow && notation != Notation::Mcp && has(Key::Name);
    has(Key::Steps) && (has(Key::Output) || named || entries(document).iter().any(of_meta))
}

/// The most rounds of checking: one fix can uncover the next.
const ROUNDS: usize = 8;

/// The most fixes of warnings that are tried by themselves, in one of the rounds.
const TRIED: usize = 64;

/// Applies all unambiguous fixes, repeatedly until none is left: those of errors, then those of warnings, but
/// none of a warning that would lead to an error. Returns the new source and the number of applied fixes.
pub fn fix_all(source: &str, options: &Options<'_>) -> (String, usize) {
    let check = |text: &str| compile::compile(text, options).1;
    let errors = |found: &Diagnostics| found.as_slice().iter().filter(|one| one.is_error()).count();
    let (mut text, mut fixed, mut tries, mut found) = (source.to_owned(), 0, TRIED, check(source));
    for _ in 0..ROUNDS {
        let of = |is_error: bool| -> Vec<Diagnostic> {
            let all = found.as_slice().iter().filter(|one| one.is_error() == is_error);
            all.filter(|one| one.fix.is_some()).cloned().collect()
        };
        let (mut next, mut count) = fix::apply(&text, &of(true));
        let most = if count == 0 { errors(&found) } else { usize::MAX };
        if count == 0 {
            (next, count) = fix::apply(&text, &of(false));
        }
        if count == 0 {
            break;
        }
        let mut left = check(&next);
        if errors(&left) > most {
            let fits = |one: &Diagnostic| errors(&check(&fix::apply(&text, slice::from_ref(one)).0)) <= most;
            let tried = of(false).into_iter().take(std::mem::take(&mut tries));
            let kept: Vec<Diagnostic> = tried.filter(fits).collect();
            (next, count) = fix::apply(&text, &kept);
            left = check(&next);
            if count == 0 || errors(&left) > most {
                break;
            }
        }
        (text, found, fixed) = (next, left, fixed + count);
    }
    (text, fixed)
}

/// The source in the canonical layout of its notation; `None` if it has errors, or if the layout would change
/// its meaning.
pub fn format(source: &str, options: &Options<'_>) -> Option<String> {
    let mut unused = Diagnostics::default();
    match options.from.or_else(|| Notation::detect(source))? {
        Notation::Id => format::id_text(source, &options.reading, &mut unused),
        notation => match format::format(source, notation, &options.reading, &mut unused) {
            Formatted::Text(text) => Some(text),
            Formatted::Refused | Formatted::LeftAlone => None,
        },
    }
}

/// The edit that turns one text into another: it replaces everything between their common prefix and suffix.
/// `None` if they are equal.
pub fn change(old: &str, new: &str) -> Option<Edit> {
    if old == new {
        return None;
    }
    let before = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let start = old.floor_char_boundary(before).min(new.floor_char_boundary(before));
    // No position is inside of the line end CR LF.
    let splits = |at: usize| {
        old.get(..at).is_some_and(|text| text.ends_with('\r'))
            && old.get(at..).is_some_and(|text| text.starts_with('\n'))
    };
    let start = if splits(start) { start - 1 } else { start };
    let (old_rest, new_rest) = (old.get(start..)?, new.get(start..)?);
    let same = old_rest.bytes().rev().zip(new_rest.bytes().rev()).take_while(|(a, b)| a == b).count();
    let behind = |text: &str| (0..=same).rev().find(|&n| text.is_char_boundary(text.len() - n)).unwrap_or(0);
    let same = behind(old_rest).min(behind(new_rest));
    let same = if splits(old.len() - same) { same - 1 } else { same };
    let text = new_rest.get(..new_rest.len() - same)?.to_owned();
    let offset = |at: usize| u32::try_from(at).ok();
    Some(Edit { span: Span::new(offset(start)?, offset(old.len() - same)?), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_formats_are_not_taken_for_programs() {
        for (source, expected) in [
            (
                "name: f\ninput:\n  a: text\noutput: text\nsteps:\n  a:\n    return: 1\n",
                Some(Notation::Workflow),
            ),
            (r#"{"fn":"f","in":{},"out":"text","body":[]}"#, Some(Notation::Constrained)),
            (r#"{"function": "f", "steps": []}"#, Some(Notation::ToolCalling)),
            (r#"{"meta": {"name": "f"}, "steps": []}"#, Some(Notation::Mcp)),
            // Jobs and pipelines of other tools, packages, server settings.
            ("name: build\non: push\njobs:\n  a:\n    steps:\n      - run: make\n", None),
            ("name: build\ntrigger: main\nsteps:\n  - script: make\n", None),
            (r#"{"name": "package", "version": "1.0.0", "dependencies": {}}"#, None),
            (r#"{"mcpServers": {"a": {"command": "b"}}}"#, None),
            (r#"{"$schema": "x", "steps": [{"name": "a"}]}"#, None),
            ("; fn f() -> nil\n", None),
            ("", None),
            ("{}", None),
        ] {
            assert_eq!(program_notation(source), expected, "{source}");
        }
    }

    #[test]
    fn a_change_is_as_short_as_it_can_be() {
        let check = |old: &str, new: &str, expected: Option<(u32, u32, &str)>| {
            let found = change(old, new);
            let shown = found.as_ref().map(|edit| (edit.span.start, edit.span.end, edit.text.as_str()));
            assert_eq!(shown, expected, "{old} {new}");
        };
        check("abc", "abc", None);
        check("abc", "aXc", Some((1, 2, "X")));
        check("abab", "ab", Some((2, 4, "")));
        check("", "x", Some((0, 0, "x")));
        // CR LF stays together.
        check("a\r\n", "a\n", Some((1, 3, "\n")));
        check("a\r\nb", "a\rb", Some((1, 3, "\r")));
        check("a\r\nb\r\n", "a\r\nc\r\n", Some((3, 4, "c")));
        check("a\r", "a\n", Some((1, 2, "\n")));
        // A common prefix.
        check("\u{e9}", "\u{e8}", Some((0, 2, "\u{e8}")));
        // A common suffix.
        check("\u{e9}", "\u{129}", Some((0, 2, "\u{129}")));
    }
}
