//! What a source may be, and what is around the program in it: a byte order mark, words of a conversation, a
//! Markdown fence.
//!
//! What is around the program is left out by the readers, without a finding.

use core::ops::Range;
use ilo_spec::limits;
use ilo_spec::node::Word;

/// What a source may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLimits {
    /// Bytes in a source, at most [`limits::SOURCE`].
    pub source: usize,
    /// Bytes in a line of instruction text; in JSON and YAML a line may be as long as the source.
    pub line: usize,
    /// Nesting of expressions and blocks together, at most [`limits::NESTING`].
    pub nesting: usize,
}

/// The name of [`SourceLimits`] in earlier versions.
#[doc(hidden)]
#[deprecated(since = "0.1.0", note = "it is `SourceLimits`: `ilo-vm` has `Limits` too")]
pub type Limits = SourceLimits;

impl Default for SourceLimits {
    fn default() -> SourceLimits {
        SourceLimits {
            source: limits::DEFAULT_SOURCE,
            line: limits::DEFAULT_LINE,
            nesting: limits::DEFAULT_NESTING,
        }
    }
}

impl SourceLimits {
    /// The limit on a source's bytes that the source exceeds; `None` where it is within it.
    pub(crate) fn exceeded_by(&self, source: &str) -> Option<usize> {
        let most = self.source.min(limits::SOURCE);
        (source.len() > most).then_some(most)
    }
}

/// How a Markdown fence begins.
const FENCES: [&str; 2] = ["```", "~~~"];
/// Lines of conversation that are searched for the program.
const CONVERSATION: usize = 64;

/// A source without the byte order mark and blanks that it begins with.
pub(crate) fn trimmed(source: &str) -> &str {
    source.trim_start_matches(['\u{feff}', '\u{200b}', '\u{a0}', ' ', '\t', '\r', '\n'])
}

/// The part of a source that is its program, if a conversation or a fence is around it. A byte order mark
/// alone is not.
pub(crate) fn enclosed(source: &str) -> Option<Range<usize>> {
    let words = conversation(source);
    let program = trimmed(source.get(words..)?);
    let fence = fence(program);
    if fence.is_none() && words == 0 {
        return None;
    }
    let first_line = if fence.is_some() { program.split_inclusive('\n').next()? } else { "" };
    let begin = source.len() - program.len() + first_line.len();
    let close = fence.and_then(|fence| source.rfind(fence)).filter(|&at| at >= begin);
    Some(begin..close.unwrap_or(source.len()))
}

/// The bytes of conversation before the program of a source: `Here is the program:`.
pub(crate) fn conversation(source: &str) -> usize {
    let start = trimmed(source);
    // A program in JSON may be one long line, which is not searched for its end.
    if begins_json(start) {
        return 0;
    }
    let first = start.lines().next().unwrap_or("").trim_end();
    if first.is_empty() || begins_program(first) {
        return 0;
    }
    // Such a line may as well begin a program in YAML.
    let may_be_yaml = |line: &str| line.starts_with('#') || is_keyed(line);
    let yaml = may_be_yaml(first);
    let mut at = source.len() - start.len();
    for (index, line) in start.split_inclusive('\n').take(CONVERSATION).enumerate() {
        let next = at + line.len();
        let rest = source.get(next..).unwrap_or("");
        if yaml && index > 0 && may_be_yaml(line) {
            return 0;
        }
        if begins_json(line) || line.starts_with("; fn ") || line.starts_with("name:") && !yaml {
            return at;
        }
        if fence(line).is_some() && !rest.trim().is_empty() {
            return at;
        }
        at = next;
    }
    0
}

/// Whether the first line of a source belongs to a program, whatever follows it.
fn begins_program(first: &str) -> bool {
    let instruction = first.trim_end_matches(':').contains(' ') && begins_instruction(first);
    let begins = [";", "fn ", "---", "%YAML", "- name:"];
    fence(first).is_some()
        || begins.iter().any(|begin| first.starts_with(begin))
        || first.starts_with(['"', '\'']) && !is_quoted_sentence(first)
        || instruction
}

/// Whether a line is words in quotes, and no program that was written as a text.
fn is_quoted_sentence(line: &str) -> bool {
    let quote = line.chars().next().unwrap_or('"');
    let inside =
        line.strip_prefix(quote).and_then(|rest| rest.trim_end_matches([':', '.']).strip_suffix(quote));
    inside.is_some_and(|inside| {
        inside.contains(' ') && !inside.starts_with(['{', '[']) && !inside.contains(quote)
    })
}

/// Whether a line begins a document in JSON.
fn begins_json(line: &str) -> bool {
    line.starts_with(['{', '['])
}

/// Whether a line is a key in the form of a program's keys, with or without a value.
fn is_keyed(line: &str) -> bool {
    let key = line.split_once(':').map_or("", |(key, _)| key.trim_end());
    key.starts_with(char::is_lowercase) && !key.contains(' ')
}

/// The sign of the Markdown fence with which a text begins.
fn fence(text: &str) -> Option<&'static str> {
    FENCES.into_iter().find(|fence| text.starts_with(fence))
}

/// Whether a source is ID text: its first word is an instruction, or a header comment is anywhere in it.
pub(crate) fn begins_id_text(start: &str) -> bool {
    start.starts_with("fn ")
        || begins_instruction(start)
        || start.lines().any(|line| line.trim_start().starts_with("; fn "))
}

/// Whether the first word is an instruction. A word with one capital, such as `Let` or `For`, begins a
/// sentence, and one before a colon is a key or begins a block of another language.
fn begins_instruction(text: &str) -> bool {
    const LONGEST: usize = 16;
    let word = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or("");
    let upper = if word.len() <= LONGEST { word.to_ascii_uppercase() } else { String::new() };
    let alone = !text.get(word.len()..).is_some_and(|rest| rest.starts_with(':'));
    alone && (word == upper || word == upper.to_ascii_lowercase()) && Word::from_mnemonic(&upper).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversation_and_fences_are_around_a_program() {
        let program = |source| enclosed(source).and_then(|range| source.get(range));
        assert_eq!(program("\u{feff}; fn f() -> nil\n"), None);
        assert_eq!(program("```ilo\n; fn f() -> nil\n```\n"), Some("; fn f() -> nil\n"));
        assert_eq!(program("\n```\nLET 0"), Some("LET 0"));
        let whole = "Here it is:\n\n```json\n{\"fn\":\"f\"}\n```\nDone.";
        assert_eq!(program(whole), Some("{\"fn\":\"f\"}\n"));
        assert_eq!(program("Sure, this:\nname: f\nsteps: {}"), Some("name: f\nsteps: {}"));
        assert_eq!(program("```"), Some(""));
        assert_eq!(program(""), None);
    }
}
