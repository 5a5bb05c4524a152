//! Detects the notation of a source from its content.
//!
//! A brace or bracket begins JSON; the keys of its first record distinguish the three JSON notations. A line
//! that begins with a key of a workflow is YAML. A comment or a mnemonic is instruction text. Detection is
//! one pass and reports no errors: that is left to the reader of the notation.

use super::Dialect;
use crate::notation::Notation;
use crate::source::{begins_id_text, conversation, trimmed};

impl Notation {
    /// The notation of a source; `None` if it looks like none. One pass over the source.
    pub fn detect(source: &str) -> Option<Notation> {
        detect(source)
    }
}

/// The JSON and YAML notations by priority, for sources with equal scores.
const NOTATIONS: [Notation; 4] =
    [Notation::ToolCalling, Notation::Constrained, Notation::Mcp, Notation::Workflow];

/// The top-level keys of a program in a notation.
fn top(notation: Notation) -> impl Iterator<Item = &'static str> {
    let dialect = Dialect::of(notation);
    dialect.top().iter().map(move |&key| dialect.word(key))
}

/// The score of a top-level key for a notation. A key that only this notation has outweighs all others
/// together.
fn weight(word: &str, notation: Notation) -> usize {
    let has = |notation: Notation| top(notation).any(|own| own == word);
    let alone = NOTATIONS.iter().all(|&other| other == notation || !has(other));
    match (has(notation), alone) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => 16,
    }
}

/// How a source of each notation begins, for the message if it is none of them.
pub(crate) const BEGINNINGS: &str = "`; fn name(…) -> type`, `{\"function\": …}`, `{\"fn\":…}`, `{\"meta\": …}`, or \
                                     YAML's `name: …`";

/// The notation of a source; `None` if it begins like none.
pub(crate) fn detect(source: &str) -> Option<Notation> {
    let source = source.get(conversation(source)..).unwrap_or(source);
    let start = trimmed(source);
    if start.is_empty() {
        return Some(Notation::Id);
    }
    if start.starts_with("```") {
        // The content of the fence decides; the reader reports the fence itself.
        return detect(start.split_once('\n').map_or("", |(_, inside)| inside).trim_start_matches('`'));
    }
    if start.starts_with(['{', '[']) {
        return json(start);
    }
    let mut keys = start.lines().filter_map(yaml_key).peekable();
    if start.starts_with(';') || begins_id_text(start) {
        return Some(Notation::Id);
    }
    keys.peek().is_some().then_some(Notation::Workflow)
}

/// The key of a workflow with which a line begins.
fn yaml_key(line: &str) -> Option<&str> {
    let (key, rest) = line.strip_prefix("- ").unwrap_or(line).split_once(':')?;
    let key = key.trim_end().trim_matches(['"', '\'']);
    let blank = rest.is_empty() || rest.starts_with([' ', '\t', '\r']);
    (blank && NOTATIONS.iter().any(|&notation| weight(key, notation) > 0)).then_some(key)
}

/// The JSON notation whose keys the first record has; tool calling if it has no known key.
fn json(start: &str) -> Option<Notation> {
    let mut scores = [0_usize; NOTATIONS.len()];
    let mut any = false;
    let mut keys = Keys::of_first_record(start);
    // A workflow in JSON has a record of steps; a named function with a list of steps is in another notation.
    let mut named_steps = false;
    let mut seen_name = false;
    while let Some(key) = keys.next() {
        any = true;
        let value = keys.rest.trim_start().strip_prefix(':').unwrap_or("").trim_start();
        seen_name |= key == "name";
        named_steps |= key == "steps" && value.starts_with('{');
        for (&notation, score) in NOTATIONS.iter().zip(&mut scores) {
            *score += weight(key, notation);
        }
    }
    if let Some(workflow) = scores.last_mut().filter(|_| !named_steps) {
        *workflow = 0;
    }
    let best = scores.iter().copied().max().unwrap_or_default();
    let found = scores.iter().position(|&score| score == best && best > 0);
    let notation = found.and_then(|at| NOTATIONS.get(at)).copied();
    notation.or((!any || seen_name).then_some(Notation::ToolCalling))
}

/// The keys of the first record of a text that looks like JSON, quoted or not.
struct Keys<'s> {
    rest: &'s str,
    depth: usize,
    /// The depth inside the first record; 0 before it.
    of: usize,
}

impl<'s> Keys<'s> {
    fn of_first_record(start: &'s str) -> Keys<'s> {
        Keys { rest: start, depth: 0, of: 0 }
    }

    /// Takes a quoted text, without its quotes and with its escapes.
    fn quoted(&mut self) -> &'s str {
        let inside = self.rest.get(1..).unwrap_or("");
        let mut escaped = false;
        let end = inside.bytes().position(|byte| {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes
        });
        let (text, rest) = end.and_then(|end| inside.split_at_checked(end)).unwrap_or((inside, ""));
        self.rest = rest.strip_prefix('"').unwrap_or(rest);
        text
    }

    /// Takes a bare word, or a single character.
    fn bare(&mut self) -> &'s str {
        let length = self.rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
        let length =
            length.unwrap_or(self.rest.len()).max(self.rest.chars().next().map_or(0, char::len_utf8));
        let (word, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        word
    }
}

impl<'s> Iterator for Keys<'s> {
    type Item = &'s str;

    fn next(&mut self) -> Option<&'s str> {
        loop {
            let first = self.rest.bytes().next()?;
            let word = if first == b'"' { self.quoted() } else { self.bare() };
            match first {
                b'{' | b'[' => {
                    self.depth += 1;
                    if first == b'{' && self.of == 0 {
                        self.of = self.depth;
                    }
                }
                b'}' | b']' => {
                    if self.depth == self.of && self.of > 0 {
                        return None;
                    }
                    self.depth = self.depth.saturating_sub(1);
                }
                _ if self.depth == self.of && self.rest.trim_start().starts_with(':') => return Some(word),
                _ => {}
            }
        }
    }
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
        ];
        for (source, notation) in cases {
            assert_eq!(detect(source), Some(notation), "{source}");
        }
        for source in ["def f():\n  pass", r#"{"a": 1}"#, "hello", "\u{e9}: x"] {
            assert_eq!(detect(source), None, "{source}");
        }
    }
}
