//! Lists that repeat what is elsewhere, where the compiler cannot see that a row is missing or wrong.

use crate::root::FOLDERS;
use crate::source::{Token, tokens};
use crate::tree::{below, complain, read};

/// The names that an enum or a struct of a file lists, without what they hold.
fn members(path: &str, head: &str) -> Vec<String> {
    let source = read(path);
    let (_, body) = source.split_once(head).unwrap_or_else(|| panic!("{path} has no `{head}`"));
    let body = body.split_once("\n}").unwrap().0;
    let mut found = Vec::new();
    for line in body.lines() {
        let line = line.strip_prefix("    ").unwrap_or("");
        let line = line.strip_prefix("pub ").unwrap_or(line);
        let name: String = line.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        // What is indented deeper belongs to a member; a comment and an attribute are none.
        if !name.is_empty() && !line.starts_with(' ') {
            found.push(name);
        }
    }
    found
}

/// `resultBytes` for `result_bytes`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or("").to_owned();
    words.fold(first, |camel, word| camel + &word[..1].to_uppercase() + &word[1..])
}

/// Whether a file has a text. In Rust, blanks and comments do not count.
fn has(path: &str, text: &str) -> bool {
    let code = |source: &str| tokens(source).iter().map(Token::symbol).collect::<String>();
    let is_rust = path.rsplit('.').next() == Some("rs");
    if is_rust { code(&read(path)).contains(&code(text)) } else { read(path).contains(text) }
}

/// The packages match an event, which another crate may extend, with `_`: a new one would be dropped in
/// silence.
#[test]
fn every_event_of_a_run_has_its_name_in_both_packages() {
    let events = members("drive/src/event.rs", "pub enum Event {");
    assert!(events.len() > 2, "{events:?}");
    let mut problems = Vec::new();
    for event in events {
        let name = event.to_lowercase();
        for (path, text) in [
            ("bindings/python/src/drive.rs", format!("Event::{event}")),
            ("bindings/js/vm/drive.rs", format!("Event::{event}")),
            ("bindings/python/python/ilo/_events.py", format!("Literal[\"{name}\"]")),
            ("bindings/js/src/types.ts", format!("readonly type: \"{name}\";")),
        ] {
            if !has(path, &text) {
                problems.push(format!("{path} has no {text}"));
            }
        }
    }
    complain(&problems);
}

/// The packages take limits by name.
#[test]
fn every_limit_of_a_run_can_be_set_from_both_packages() {
    let limits = members("vm/src/budget.rs", "pub struct Limits {");
    assert!(limits.len() > 8, "{limits:?}");
    let mut problems = Vec::new();
    for limit in limits {
        let camel = camel(&limit);
        for (path, text) in [
            ("bindings/shared/src/limits.rs", format!("limits.{limit} =")),
            ("bindings/python/python/ilo/_types.py", format!("{limit}:")),
            ("bindings/js/src/types.ts", format!("    {camel}?:")),
        ] {
            if !has(path, &text) {
                problems.push(format!("{path} has no {text}"));
            }
        }
    }
    complain(&problems);
}

/// The paths that a text names in backticks, from the root.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let names = text.split('`').skip(1).step_by(2).flat_map(str::split_whitespace);
    let is_plain =
        |path: &str| path.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-'));
    let is_placeholder =
        |path: &str| path.split(['/', '.']).any(|name| name.len() > 1 && name.to_uppercase() == name);
    let from_root = |path: &str| path.split_once('/').is_some_and(|(first, _)| FOLDERS.contains(&first));
    names.filter(move |path| from_root(path) && is_plain(path) && !is_placeholder(path))
}

#[test]
fn files_that_the_map_of_the_code_names_are_there() {
    let mut problems = Vec::new();
    let mut count = 0;
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        for path in paths(&read(page)) {
            let path = path.trim_end_matches('/');
            let with = |ending: &str| below(&format!("{path}{ending}"), &[""]).next().is_some();
            count += 1;
            if !with("") && !with(".rs") {
                problems.push(format!("{page} names {path}"));
            }
        }
    }
    assert!(count > 50, "{count} paths");
    complain(&problems);
}
