//! Confirmation: the question to a person before a call, and the answer. The host decides how to ask.

use crate::interrupt::Interrupt;
use ilo_asm::text::visible;
use ilo_drive::data::Data;
use std::fmt::Debug;
use std::time::Instant;

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
    /// The tool, with its origin if that is informative.
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

/// The name of a tool, for display.
pub fn tool_shown(tool: &str) -> String {
    visible(tool).replace('\n', "\\u000a")
}

/// Arguments for display: all of them, one per line, with control and invisible characters escaped.
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
