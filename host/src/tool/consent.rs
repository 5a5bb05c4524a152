//! Confirmation: the question to a person before a call, and the answer. The host decides how to ask.

use crate::interrupt::Interrupt;
use ilo_asm::text::visible;
use ilo_drive::data::Data;
use ilo_drive::failure::Failure;
use ilo_drive::problem::shortened;
use regex::Regex;
use std::fmt::{Debug, Write as _};
use std::sync::LazyLock;
use std::time::Instant;

/// Why there is no confirmation: the host asks nobody.
pub(crate) const NOBODY: &str = "there is nobody to ask";
/// Why there is none: asking did not work, and the hook of the process has shown why.
pub(crate) const NOT_ASKED: &str = "nobody could be asked";

/// Why there is none: an answer that is none, before its time.
const NO_ANSWER: &str = "nobody answered";

/// Whether a call may be made after a question. `until` was the deadline; `ended` says whether the run was
/// interrupted.
///
/// # Errors
/// Why it must not be made.
pub(crate) fn consented(consent: Consent, tool: &str, until: Instant, ended: bool) -> Result<(), Failure> {
    match consent {
        Consent::Given => Ok(()),
        Consent::Refused(why) => Err(refused(tool, &why)),
        Consent::TimedOut if Instant::now() >= until => Err(Failure::TimedOut),
        Consent::Interrupted if ended => Err(Failure::Interrupted),
        Consent::TimedOut | Consent::Interrupted => Err(refused(tool, NO_ANSWER)),
    }
}

/// The failure of a call that was not confirmed.
pub(crate) fn refused(tool: &str, why: &str) -> Failure {
    let tool = shortened(tool, 200);
    Failure::text(format!("tool `{tool}` was not called: it needs a confirmation (`confirm`), and {why}"))
}

/// Asks a person whether a call may be made.
pub trait Ask: Send + Sync + Debug {
    /// Asks about one call and waits for the answer.
    fn ask(&self, question: &Question<'_>) -> Consent;

    /// Whether it can ask about later calls at the same time.
    fn asks_at_once(&self) -> bool {
        false
    }
}

/// A call that needs confirmation.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The tool by the name of its entry, with its origin if that is informative; never another text of the
    /// program.
    pub tool: &'q str,
    /// Its arguments.
    pub arguments: &'q Data,
    /// Later calls that will probably need confirmation, each with its tool and arguments.
    pub foreseen: &'q [(String, Data)],
    /// The deadline for the answer.
    pub deadline: Instant,
    /// The interrupt, which is checked while waiting.
    pub interrupt: &'q Interrupt,
}

/// The result of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Consent {
    /// The call may be made.
    Given,
    /// The call may not be made, and why.
    Refused(String),
    /// Nobody answered before the deadline.
    TimedOut,
    /// The run was interrupted from outside.
    Interrupted,
}

impl Question<'_> {
    /// The name of the tool, for display.
    pub fn tool_shown(&self) -> String {
        tool_shown(self.tool)
    }

    /// The arguments for display: all of them, one per line, with control and invisible characters escaped.
    pub fn arguments_shown(&self) -> String {
        arguments_shown(self.arguments)
    }
}

/// The name of a tool, for display: one line.
pub fn tool_shown(tool: &str) -> String {
    plain(tool).replace('\n', "\\u000a")
}

/// Arguments for display: all of them as JSON, one per line, with control and invisible characters and
/// combining marks escaped.
pub fn arguments_shown(arguments: &Data) -> String {
    plain(&arguments.to_json_indented())
}

/// The most marks on one letter that stay: letters of some scripts have three.
const MARKS: usize = 3;

/// A text as [`visible`] writes it, in which a mark that could strike out or cover other characters is
/// written as an escape too, and so is the blank that is no space.
fn plain(text: &str) -> String {
    let text = visible(text);
    if text.is_ascii() {
        return text;
    }
    let (mut shown, mut marks) = (String::with_capacity(text.len()), 0);
    for c in text.chars() {
        marks = if !c.is_ascii() && is_mark(c) { marks + 1 } else { 0 };
        if covers(c) || marks > MARKS {
            // Writing to a string does not fail.
            let _ = write!(shown, "\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether a character looks like nothing, or is a mark that may lie on any letter: of these blocks the marks
/// can strike letters out or stand on other lines.
fn covers(c: char) -> bool {
    matches!(c, '\u{2800}' | '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}')
        || matches!(c, '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Whether a character is a mark of a script on the letter before it.
fn is_mark(c: char) -> bool {
    static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{M}$").ok());
    MARK.as_ref().is_none_or(|mark| mark.is_match(c.encode_utf8(&mut [0; 4])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_screen_would_obey_is_written_out() {
        let bad = "a\u{1b}[2Jb\u{202e}c\u{7f}d\u{9b}e\u{200b}f\u{e0041}g\rh\té😀";
        let question = Question {
            tool: "t\u{1b}\n",
            arguments: &Data::Record(vec![(bad.to_owned(), Data::from("x\ny"))].into()),
            foreseen: &[],
            deadline: Instant::now(),
            interrupt: &Interrupt::default(),
        };
        assert_eq!(question.tool_shown(), "t\\u001b\\u000a");
        let shown = question.arguments_shown();
        let key = r#""a\u001b[2Jb\u202ec\u007fd\u009be\u200bf\udb40\udc41g\rh\té😀": "x\ny""#;
        assert_eq!(shown, format!("{{\n  {key}\n}}"));
    }

    #[test]
    fn marks_that_cover_other_text_are_written_out_and_letters_of_scripts_stay() {
        for (text, expected) in [
            ("no\u{336}", r"no\u0336"),
            ("e\u{301}", r"e\u0301"),
            ("a\u{20e3}\u{2800}b", r"a\u20e3\u2800b"),
            ("\u{e01}\u{e49}\u{e49}\u{e49}\u{e49}", "\u{e01}\u{e49}\u{e49}\u{e49}\\u0e49"),
            ("नमस्ते", "नमस्ते"),
            ("é 😀", "é 😀"),
        ] {
            assert_eq!(tool_shown(text), expected);
            let shown = arguments_shown(&Data::from(text));
            assert_eq!(shown, format!("\"{expected}\""));
        }
    }
}
