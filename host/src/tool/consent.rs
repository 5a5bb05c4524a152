//! The question to a person before a call, and its answer. The host decides who asks, and where.

use crate::interrupt::Interrupt;
use ilo_asm::text::visible;
use ilo_drive::data::Data;
use std::fmt::Debug;
use std::time::Instant;

/// Asks a person whether a call may be made.
pub trait Ask: Send + Sync + Debug {
    /// Asks about one call and waits for the answer.
    fn ask(&self, question: &Question<'_>) -> Consent;

    /// Whether it can ask about calls that follow at the same time.
    fn asks_at_once(&self) -> bool {
        false
    }
}

/// A call that a person is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The tool, with where it comes from where that says more.
    pub tool: &'q str,
    /// What it would be given.
    pub arguments: &'q Data,
    /// Calls that the run will probably ask about later, each by its tool and arguments as above.
    pub foreseen: &'q [(String, Data)],
    /// When the answer is too late.
    pub deadline: Instant,
    /// Asked for while waiting.
    pub interrupt: &'q Interrupt,
}

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// The call may be made.
    Given,
    /// It may not, and why.
    Refused(String),
    /// Nobody answered before the deadline.
    TimedOut,
    /// The run was interrupted from outside.
    Interrupted,
}

impl Question<'_> {
    /// The tool's name, for people.
    pub fn tool_shown(&self) -> String {
        tool_shown(self.tool)
    }

    /// The arguments for people: all of them, a line each, with nothing in them that a screen would obey or
    /// hide.
    pub fn arguments_shown(&self) -> String {
        arguments_shown(self.arguments)
    }
}

/// A tool's name, for people.
pub fn tool_shown(tool: &str) -> String {
    visible(tool).replace('\n', "\\u000a")
}

/// Arguments for people: all of them, a line each, with nothing in them that a screen would obey or hide.
pub fn arguments_shown(arguments: &Data) -> String {
    visible(&arguments.to_json_indented())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_screen_would_obey_is_written_out() {
        let bad = "a\u{1b}[2Jb\u{202e}c\u{7f}d\u{9b}e\u{200b}f\u{e0041}g\rh\té😀";
        let question = Question {
            tool: "t\u{1b}\n",
            arguments: &Data::Record(vec![(bad.to_owned(), Data::from("x\ny"))]),
            foreseen: &[],
            deadline: Instant::now(),
            interrupt: &Interrupt::default(),
        };
        assert_eq!(question.tool_shown(), "t\\u001b\\u000a");
        let shown = question.arguments_shown();
        let key = r#""a\u001b[2Jb\u202ec\u007fd\u009be\u200bf\udb40\udc41g\rh\té😀": "x\ny""#;
        assert_eq!(shown, format!("{{\n  {key}\n}}"));
    }
}
