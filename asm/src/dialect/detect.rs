//! Detects the notation of a source from its content.
//!
//! A brace or bracket begins JSON; the keys of its first record distinguish the three JSON notations. A line
//! that begins with a key of a workflow is YAML. A comment or a mnemonic is instruction text. Nothing is
//! reported here: that is left to the reader of the notation.

use super::{Dialect, begins_step, words};
use crate::arena::Arena;
use crate::diagnostic::Diagnostics;
use crate::document::{Entry, Node, NodeKind, entries, json};
use crate::foreign;
use crate::notation::Notation;
use crate::source::{SourceLimits, begins_id_text, enclosed, trimmed};
use crate::text::is_name;

impl Notation {
    /// The notation of a source; `None` if it looks like none. JSON is read for it.
    pub fn detect(source: &str) -> Option<Notation> {
        match beginning(source)? {
            Beginning::Of(notation) => Some(notation),
            Beginning::Json => {
                let (arena, mut unseen) = (Arena::new(), Diagnostics::default());
                of_documents(json::read(source, &arena, &SourceLimits::default(), &mut unseen))
            }
        }
    }
}

/// The JSON and YAML notations by priority, for sources with equal scores.
const NOTATIONS: [Notation; 4] =
    [Notation::ToolCalling, Notation::Constrained, Notation::Mcp, Notation::Workflow];

/// A score for each notation, in their order.
type Scores = [usize; NOTATIONS.len()];

/// The top-level keys of a program in a notation.
fn top(notation: Notation) -> impl Iterator<Item = &'static str> {
    let dialect = Dialect::of(notation);
    dialect.top().iter().map(move |&key| dialect.word(key))
}

/// The scores of a top-level key for each notation. A key that only one notation has outweighs all others
/// together.
fn weights(word: &str) -> Scores {
    let has = NOTATIONS.map(|notation| top(notation).any(|own| own == word));
    let weight = if has.iter().filter(|&&has| has).count() == 1 { 16 } else { 1 };
    has.map(|has| if has { weight } else { 0 })
}

/// Records, one in another, that are searched for the keys of a program.
const ENCLOSED: usize = 3;

/// Keys of a record that are searched for those of a program.
const KEYS: usize = 64;

/// How a source of each notation begins, for the message if it is none of them.
pub(crate) const BEGINNINGS: &str = "`; fn name(…) -> type`, `{\"function\": …}`, `{\"fn\":…}`, `{\"meta\": …}`, or \
                                     YAML's `name: …`";

/// What a source begins like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// One of the notations in JSON.
    Json,
    /// This notation.
    Of(Notation),
}

/// What a source begins like; `None` if it begins like no notation. What is around the program is left out,
/// as by the readers.
pub(crate) fn beginning(source: &str) -> Option<Beginning> {
    let inside = enclosed(source).unwrap_or(0..source.len());
    let start = without_comments(trimmed(source.get(inside)?));
    if start.is_empty() {
        return Some(Beginning::Of(Notation::Id));
    }
    if start.starts_with(['{', '[']) {
        return Some(Beginning::Json);
    }
    if ["\"{", "\"["].iter().any(|begin| start.starts_with(begin)) {
        // A program that was written as a text in JSON.
        return Some(Beginning::Of(Notation::ToolCalling));
    }
    let mut keys = start.lines().filter_map(yaml_key);
    if start.starts_with(';') || begins_id_text(start) {
        return Some(Beginning::Of(Notation::Id));
    }
    let begins = keys.next().is_some() || encloses_workflow(start) || lists_steps(start);
    begins.then_some(Beginning::Of(Notation::Workflow))
}

/// Whether a key of another language makes a record a call.
pub(crate) fn calls(key: &str) -> bool {
    foreign::keys(key) == ["call"] && weights(key) == Scores::default()
}

/// Whether a document in YAML is a list whose first item is a step, perhaps under its name, or named steps.
fn lists_steps(start: &str) -> bool {
    let opens = |inside: &str| inside.starts_with(['\n', '\r']) || inside.starts_with(" {");
    let named = start.split_once(':').filter(|(key, inside)| is_name(key) && opens(inside));
    let begun = start.strip_prefix("- ").or(named.map(|(_, inside)| inside));
    let first = begun.map(|rest| rest.split("\n- ").next().unwrap_or(rest));
    let mut words = first.unwrap_or("").split([' ', '\n', '{', ',', '"', '\'']).take(KEYS);
    words.any(|word| word.strip_suffix(':').is_some_and(|key| begins_step(key) || calls(key)))
}

/// Whether the only key of a document in YAML encloses a workflow.
fn encloses_workflow(start: &str) -> bool {
    let mut lines = start.lines();
    let key = lines.next().and_then(|line| line.trim_end().strip_suffix(':')).unwrap_or(" ");
    let is_key = |line: &str| line.starts_with(' ') && yaml_key(line.trim_start()).is_some();
    !key.contains(' ') && lines.next().is_some_and(is_key)
}

/// A source without the comments of JavaScript before its first bracket, as some write them in JSON.
fn without_comments(start: &str) -> &str {
    let mut rest = start;
    loop {
        let after = match rest.get(..2) {
            Some("//") => rest.split_once('\n'),
            Some("/*") => rest.split_once("*/"),
            _ => return if rest.starts_with(['{', '[']) { rest } else { start },
        };
        let Some((_, behind)) = after else { return start };
        rest = behind.trim_start();
    }
}

/// The key of a workflow with which a line begins.
fn yaml_key(line: &str) -> Option<&str> {
    let (key, rest) = line.strip_prefix("- ").unwrap_or(line).split_once(':')?;
    let key = key.trim_end().trim_matches(['"', '\'']);
    let blank = rest.is_empty() || rest.starts_with([' ', '\t', '\r']);
    (blank && weights(key) != [0; NOTATIONS.len()]).then_some(key)
}

/// The JSON notation whose keys the first record of some documents has, or the record that its first key
/// encloses; tool calling if there is no record.
pub(crate) fn of_documents(mut documents: &[Node<'_>]) -> Option<Notation> {
    for _ in 0..ENCLOSED {
        while let [Node { kind: NodeKind::List(items), .. }, ..] = documents {
            documents = items;
        }
        let list = documents.first().map_or(&[][..], entries);
        let inside = list.first().map(|entry| &entry.value);
        let inside = inside.filter(|value| matches!(value.kind, NodeKind::Record(_) | NodeKind::List(_)));
        match (of_record(list, documents), inside) {
            (None, Some(inside)) => documents = core::slice::from_ref(inside),
            (notation, _) => return notation,
        }
    }
    None
}

/// The notation of a program, or of a step, which has others beside it.
fn of_record(list: &[Entry<'_>], beside: &[Node<'_>]) -> Option<Notation> {
    let best = |scores: Scores| {
        let best = scores.into_iter().max().filter(|&best| best > 0)?;
        NOTATIONS.get(scores.iter().position(|&score| score == best)?).copied()
    };
    let names = || list.iter().filter_map(Entry::name).take(KEYS);
    let mut program = Scores::default();
    for name in names() {
        program.iter_mut().zip(weights(name)).for_each(|(score, weight)| *score += weight);
    }
    // A workflow in JSON has a record of steps; a named function with a list of steps is in another notation.
    let is_named =
        |entry: &Entry<'_>| entry.name() == Some("steps") && matches!(entry.value.kind, NodeKind::Record(_));
    let [.., workflow] = &mut program;
    *workflow *= usize::from(list.iter().any(is_named));
    let keys = || beside.iter().flat_map(|node| entries(node)).filter_map(Entry::name).take(KEYS);
    // In a workflow steps are never in a list.
    let own = |notation| match notation {
        Notation::Workflow => 0,
        _ => keys().filter(|key| words(notation).any(|word| word == *key)).count(),
    };
    let is_step = keys().any(|key| begins_step(key) || calls(key));
    let step = || best(NOTATIONS.map(own)).filter(|_| is_step);
    let other = list.is_empty() || is_step || names().any(|name| name == "name");
    best(program).or_else(step).or(other.then_some(Notation::ToolCalling))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_notation_is_known_by_what_it_begins_like() {
        let cases = [
            ("; fn f() -> nil\n", Notation::Id),
            ("LET 0 LIT 1 1", Notation::Id),
            ("\u{feff}\n; a comment", Notation::Id),
            ("", Notation::Id),
            (r#"{"function": "f", "steps": []}"#, Notation::ToolCalling),
            (
                r#"[{"input": {"fn": "text"}, "steps": [{"meta": 1}], "output": "nil"}]"#,
                Notation::ToolCalling,
            ),
            (r#"{"fn":"f","in":{},"out":"nil","body":[]}"#, Notation::Constrained),
            (r#"{"steps": [{"function": "no"}], "meta": {}}"#, Notation::Mcp),
            (r#"{"steps": [{"call": "mcp"#, Notation::ToolCalling),
            ("{function: f}", Notation::ToolCalling),
            ("{", Notation::ToolCalling),
            ("name: f\nsteps: {}", Notation::Workflow),
            ("# a note\n---\n\"name\" : f\n", Notation::Workflow),
            (r#"{"name": "f", "steps": {}}"#, Notation::Workflow),
            ("```json\n{\"fn\":\"f\"}\n```", Notation::Constrained),
            (r#"{"name": "f", "parameters": {}, "steps": []}"#, Notation::ToolCalling),
            ("Here is the program:\n\n```json\n{\"fn\":\"f\"}\n```\n", Notation::Constrained),
            ("Sure! This does it.\nname: f\nsteps: {}", Notation::Workflow),
            ("The program is this:\n; fn f() -> nil\n", Notation::Id),
            ("Let me think.\n; fn f() -> nil\n", Notation::Id),
            ("let 0 lit 1 1\n", Notation::Id),
            ("If so:\n{\"fn\":\"f\"}\n", Notation::Constrained),
            ("{'fn': 'f', 'in': {}}", Notation::Constrained),
            ("{\u{201c}fn\u{201d}: \u{201c}f\u{201d}}", Notation::Constrained),
            ("/* a\nb */ // c\n{\"fn\":\"f\"}", Notation::Constrained),
            (r#"{"program": {"fn": "f"}}"#, Notation::Constrained),
            (r#"{"programs": [{"meta": {}}]}"#, Notation::Mcp),
            (r#"[{"let": "a", "call": "t", "with": {}}]"#, Notation::Mcp),
            (r#"[{"ret": 1}]"#, Notation::Constrained),
            (r#"[{"call": "t", "args": {"with": 1}}, {"ret": 1}]"#, Notation::Constrained),
            (r#"[{"tool": "t", "arguments": {}}]"#, Notation::ToolCalling),
            ("- let: r\n  call: t\n", Notation::Workflow),
            ("- r: {call: t}\n- return: ${r}\n", Notation::Workflow),
            (r#""{\"fn\":\"f\"}""#, Notation::ToolCalling),
            ("workflow:\n  name: f\n", Notation::Workflow),
            ("# Program\n~~~\nname: f\n~~~\n", Notation::Workflow),
            ("# a comment\nname: f\nsteps: {}\n```\nand this", Notation::Workflow),
        ];
        for (source, notation) in cases {
            assert_eq!(Notation::detect(source), Some(notation), "{source}");
        }
        let none = [
            "def f():\n  pass",
            r#"{"a": 1}"#,
            "hello",
            "\u{e9}: x",
            "For each item, mail it.",
            "- milk: two\n- return: the bottles\n",
            "try:\n  name",
        ];
        for source in none {
            assert_eq!(Notation::detect(source), None, "{source}");
        }
    }
}
