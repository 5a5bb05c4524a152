//! What a source may be, and what is around the program in it: a byte order mark, words of a conversation, a Markdown fence.
//!
//! The envelope is found here as data. The readers leave it out and report it.

use crate::span::Span;
use ilo_spec::limits;
use ilo_spec::node::Word;

/// What a source may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes in a source, at most [`limits::SOURCE`].
    pub source: usize,
    /// Bytes in a line of instruction text; in JSON and YAML a line may be as long as the source.
    pub line: usize,
    /// Nesting of expressions and blocks together, at most [`limits::NESTING`].
    pub nesting: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            source: limits::DEFAULT_SOURCE,
            line: limits::DEFAULT_LINE,
            nesting: limits::DEFAULT_NESTING,
        }
    }
}

impl Limits {
    /// The limit on a source's bytes that the source exceeds; `None` where it is within it.
    pub(crate) fn exceeded_by(&self, source: &str) -> Option<usize> {
        let most = self.source.min(limits::SOURCE);
        (source.len() > most).then_some(most)
    }
}

const FENCE: &str = "```";
/// Lines of conversation that are searched for the program.
const CONVERSATION: usize = 64;

/// What is around the program in a source. A byte order mark alone is no envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// The first line of the conversation before the program, where there is one; otherwise a fence begins the source.
    pub(crate) conversation: Option<Span>,
    /// All before the program, with the first line of the fence.
    pub(crate) before: Span,
    /// All behind the program, where the fence is closed.
    pub(crate) after: Option<Span>,
}

/// A source without the byte order mark and blanks that it begins with.
pub(crate) fn trimmed(source: &str) -> &str {
    source.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n'])
}

/// Finds what is around the program in a source.
pub(crate) fn envelope(source: &str) -> Option<Envelope> {
    let words = conversation(source);
    let program = trimmed(source.get(words..)?);
    let fenced = program.starts_with(FENCE);
    if !fenced && words == 0 {
        return None;
    }
    let offset = |bytes: usize| u32::try_from(bytes).ok();
    let begin = source.len() - program.len();
    let start = if words > 0 { source.len() - source.trim_start_matches('\u{feff}').len() } else { begin };
    let first_line = if fenced { program.split_inclusive('\n').next()? } else { "" };
    let open = begin + first_line.len();
    let close = source.rfind(FENCE).filter(|&at| fenced && at >= open);
    let after = match close {
        Some(at) => Some(Span::new(offset(at)?, offset(source.len())?)),
        None => None,
    };
    let conversation = match words {
        0 => None,
        _ => {
            let line = source.get(start..)?.trim_start().split('\n').next()?.trim_end();
            let at = source.find(line)?;
            Some(Span::new(offset(at)?, offset(at + line.len())?))
        }
    };
    Some(Envelope { conversation, before: Span::new(offset(start)?, offset(open)?), after })
}

/// The bytes of conversation before the program of a source: `Here is the program:`.
pub(crate) fn conversation(source: &str) -> usize {
    let start = trimmed(source);
    let converses = start.starts_with(char::is_alphabetic)
        && !begins_id_text(start)
        && start.lines().next().is_some_and(|line| {
            let is_key = |key: &str| !key.contains(' ') && key.starts_with(char::is_lowercase);
            let keyed = line.split_once(':').is_some_and(|(key, _)| is_key(key.trim_end()));
            line.contains(' ') && !keyed
        });
    if !converses {
        return 0;
    }
    let mut at = source.len() - start.len();
    for line in start.split_inclusive('\n').take(CONVERSATION) {
        let json =
            line.starts_with(['{', '[']) && line.trim_end().len() > 1 || matches!(line.trim_end(), "{" | "[");
        if json || line.starts_with(FENCE) || line.starts_with("; fn ") || line.starts_with("name:") {
            return at;
        }
        at += line.len();
    }
    0
}

/// Whether the first word is an instruction of ID text, or a header comment is anywhere in it.
pub(crate) fn begins_id_text(start: &str) -> bool {
    const LONGEST: usize = 16;
    let word = start.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or("");
    let is_word = word.len() <= LONGEST && Word::from_mnemonic(&word.to_ascii_uppercase()).is_some();
    start.starts_with("fn ") || is_word || start.lines().any(|line| line.trim_start().starts_with("; fn "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_are_conversation_and_fences() {
        let parts = |source: &str| {
            envelope(source).map(|found| {
                let end = found.after.map_or(source.len(), |after| after.start as usize);
                let conversation = found.conversation.map(|span| source[span.range()].to_owned());
                (conversation, source[found.before.end as usize..end].to_owned())
            })
        };
        let fenced = |inside: &str| Some((None, inside.to_owned()));
        assert_eq!(parts("\u{feff}; fn f() -> nil\n"), None);
        assert_eq!(parts("```ilo\n; fn f() -> nil\n```\n"), fenced("; fn f() -> nil\n"));
        assert_eq!(parts("\n```\nLET 0"), fenced("LET 0"));
        assert_eq!(
            parts("Here it is:\n\n```json\n{\"fn\":\"f\"}\n```\nDone."),
            Some((Some("Here it is:".to_owned()), "{\"fn\":\"f\"}\n".to_owned()))
        );
        assert_eq!(
            parts("Sure, this:\nname: f\nsteps: {}"),
            Some((Some("Sure, this:".to_owned()), "name: f\nsteps: {}".to_owned()))
        );
        assert_eq!(parts("```"), fenced(""));
        assert_eq!(parts(""), None);
    }
}
