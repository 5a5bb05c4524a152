//! Detects the notation of a source from its content.
//!
//! A brace or bracket begins JSON; the keys of its first record distinguish the three JSON notations. A line
//! that begins with a key of a workflow is YAML. A comment or a mnemonic is instruction text. Detection is
//! one pass and reports no errors: that is left to the reader of the notation.

use super::{Dialect, begins_step, words};
use crate::foreign;
use crate::notation::Notation;
use crate::source::{begins_id_text, enclosed, trimmed};
use crate::text::is_name;
use memchr::memchr2;

impl Notation {
    /// The notation of a source; `None` if it looks like none. One pass over the source.
    pub fn detect(source: &str) -> Option<Notation> {
        detect(source)
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

/// The notation of a source; `None` if it begins like none. What is around the program is left out, as by
/// the readers.
pub(crate) fn detect(source: &str) -> Option<Notation> {
    let inside = enclosed(source).unwrap_or(0..source.len());
    let start = without_comments(trimmed(source.get(inside)?));
    if start.is_empty() {
        return Some(Notation::Id);
    }
    if start.starts_with(['{', '[']) {
        return json(start);
    }
    if ["\"{", "\"["].iter().any(|begin| start.starts_with(begin)) {
        // A program that was written as a text in JSON.
        return Some(Notation::ToolCalling);
    }
    let mut keys = start.lines().filter_map(yaml_key);
    if start.starts_with(';') || begins_id_text(start) {
        return Some(Notation::Id);
    }
    (keys.next().is_some() || encloses_workflow(start) || lists_steps(start)).then_some(Notation::Workflow)
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

/// The JSON notation whose keys the first record has, or the record that its first key encloses; tool calling
/// if it begins no record.
fn json(mut start: &str) -> Option<Notation> {
    for _ in 0..ENCLOSED {
        let found = Record::read(start);
        match (found.notation(), found.enclosed) {
            (None, Some(enclosed)) => start = enclosed,
            (notation, _) => return notation,
        }
    }
    None
}

/// What the keys of a record say about its notation.
struct Record<'s> {
    start: &'s str,
    /// The scores of its keys as those of a program.
    program: Scores,
    any: bool,
    named: bool,
    /// Its first value, if that is a record or a list.
    enclosed: Option<&'s str>,
}

impl<'s> Record<'s> {
    fn read(start: &'s str) -> Record<'s> {
        let mut record =
            Record { start, program: Scores::default(), any: false, named: false, enclosed: None };
        let mut keys = Keys::of_first_record(start);
        // A workflow in JSON has a record of steps; a named function with a list of steps is in another
        // notation.
        let mut named_steps = false;
        for _ in 0..KEYS {
            let Some(key) = keys.next() else { break };
            let value = keys.value();
            if !record.any && value.starts_with(['{', '[']) {
                record.enclosed = Some(value);
            }
            record.any = true;
            record.named |= key == "name";
            named_steps |= key == "steps" && value.starts_with('{');
            for (score, weight) in record.program.iter_mut().zip(weights(key)) {
                *score += weight;
            }
        }
        if !named_steps {
            let [.., workflow] = &mut record.program;
            *workflow = 0;
        }
        record
    }

    /// The scores of its keys as those of a step; `None` if it is no step.
    fn step(&self) -> Option<Scores> {
        let keys = || Keys { of_all: true, ..Keys::of_first_record(self.start) }.take(KEYS);
        let own = |notation| keys().filter(|key| words(notation).any(|word| word == *key)).count();
        // In a workflow steps are never in a list.
        let score = |notation| if notation == Notation::Workflow { 0 } else { own(notation) };
        keys().any(|key| begins_step(key) || calls(key)).then(|| NOTATIONS.map(score))
    }

    fn notation(&self) -> Option<Notation> {
        let best = |scores: Scores| {
            let best = scores.into_iter().max().filter(|&best| best > 0)?;
            NOTATIONS.get(scores.iter().position(|&score| score == best)?).copied()
        };
        let other = || (!self.any || self.named || self.step().is_some()).then_some(Notation::ToolCalling);
        best(self.program).or_else(|| self.step().and_then(best)).or_else(other)
    }
}

/// The keys of the first record of a text that looks like JSON, quoted or not.
struct Keys<'s> {
    rest: &'s str,
    depth: usize,
    /// The depth inside the first record; 0 before it.
    of: usize,
    /// Whether the records beside it count too.
    of_all: bool,
}

impl<'s> Keys<'s> {
    fn of_first_record(start: &'s str) -> Keys<'s> {
        Keys { rest: start, depth: 0, of: 0, of_all: false }
    }

    /// Whether a colon follows the word that was taken last.
    fn is_key(&self) -> bool {
        self.rest.trim_start_matches(closes_curled).trim_start().starts_with(':')
    }

    /// The value of the key that was taken last.
    fn value(&self) -> &'s str {
        let rest = self.rest.trim_start_matches(closes_curled).trim_start();
        rest.strip_prefix(':').unwrap_or("").trim_start()
    }

    /// Takes a text in these quotes, without the quotes and with its escapes.
    fn quoted(&mut self, quote: u8) -> &'s str {
        let inside = self.rest.get(1..).unwrap_or("");
        let mut end = memchr2(quote, b'\\', inside.as_bytes());
        while let Some(at) = end.filter(|&at| inside.as_bytes().get(at) == Some(&b'\\')) {
            let behind = inside.as_bytes().get(at + 2..).unwrap_or_default();
            end = memchr2(quote, b'\\', behind).map(|next| at + 2 + next);
        }
        let (text, rest) = end.and_then(|end| inside.split_at_checked(end)).unwrap_or((inside, ""));
        self.rest = rest.get(1..).unwrap_or(rest);
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

/// Whether a character is a curled quote, with which word processors close a text.
fn closes_curled(c: char) -> bool {
    matches!(c, '\u{201d}' | '\u{2019}')
}

impl<'s> Iterator for Keys<'s> {
    type Item = &'s str;

    fn next(&mut self) -> Option<&'s str> {
        loop {
            // What cannot be a key, or decide how deep it is, is passed over at once.
            let (inside, bytes) = (self.depth != self.of, self.rest.as_bytes());
            let matters = |byte: &u8| match byte {
                b'"' | b'\'' | b'{' | b'}' | b'[' | b']' => true,
                b' ' | b'\n' | b'\t' | b'\r' | b',' | b':' => false,
                _ => !inside,
            };
            let passed = bytes.iter().position(matters).unwrap_or(bytes.len());
            self.rest = self.rest.get(passed..).unwrap_or("");
            let first = self.rest.bytes().next()?;
            let word = if matches!(first, b'"' | b'\'') { self.quoted(first) } else { self.bare() };
            #[cfg(test)]
            tests::READ.set(tests::READ.get() + word.len());
            match first {
                b'{' | b'[' => {
                    self.depth += 1;
                    if first == b'{' && self.of == 0 {
                        self.of = self.depth;
                    }
                }
                b'}' | b']' => {
                    if self.depth == self.of && self.of > 0 && !self.of_all {
                        return None;
                    }
                    self.depth = self.depth.saturating_sub(1);
                }
                _ if self.depth == self.of && self.is_key() => return Some(word),
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
            assert_eq!(detect(source), Some(notation), "{source}");
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
            assert_eq!(detect(source), None, "{source}");
        }
    }

    thread_local! {
        /// The bytes of the words that were taken from sources.
        pub(super) static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    /// The keys of three records, one in another, are read for a program and twice for a step.
    #[test]
    fn many_beginnings_are_read_a_few_times() {
        let mut most = 0;
        for part in
            ["```\n", "Sure, the\n```\n", "{\"a\":", "[", "{'", "/**/", "//\n", "# a\n", "a:\n ", "\"{"]
        {
            let source = part.repeat((1 << 20) / part.len());
            READ.set(0);
            detect(&source);
            most = most.max(READ.get());
            assert!(READ.get() <= 9 * source.len(), "{part:?}: {} bytes of {}", READ.get(), source.len());
        }
        assert!(most >= 1 << 20, "at least one is read to its end: {most}");
    }
}
