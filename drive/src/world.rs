//! The environment of a run: its tools with their policies and schemas, its time, and requests to end it.

use crate::data::Data;
use crate::failure::Failure;
use crate::policy::Policies;
use crate::sent::leave_out;
use crate::validate::{answer_misfit, misfit};
use ilo_asm::catalog::{ToolSignature, Validation};
use std::time::Duration;

/// What a run asks of its environment, apart from answers.
pub trait World: Policies {
    /// Whether the time of the run is over. The time stops while a rollback entry is called.
    fn is_late(&self) -> bool {
        false
    }

    /// The time since the run began, for its events.
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether the run was cancelled from outside. If so, its work is rolled back.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Why it was cancelled, for the message of its outcome.
    fn cancel_reason(&self) -> Option<String> {
        None
    }

    /// Whether the run was interrupted from outside. If so, it stops without an outcome, and nothing is
    /// rolled back.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// The tool with this name in the catalogue, whose schemas say what fits it.
    fn signature(&self, _tool: &str) -> Option<&ToolSignature> {
        None
    }

    /// The arguments that are sent. What a run records, asks and shows of a call are these.
    fn sent(&self, tool: &str, mut arguments: Data) -> Data {
        if let Some(tool) = self.signature(tool) {
            leave_out(tool.input(), &mut arguments);
        }
        arguments
    }

    /// Reports an answer that does not fit and is accepted.
    fn accepted(&self, _tool: &str, _why: &str) {}

    /// Why a call with these arguments is not made: the arguments do not fit.
    fn refuses(&self, tool: &str, arguments: &Data) -> Option<String> {
        let tool = self.signature(tool).filter(|tool| tool.validation != Validation::Off)?;
        misfit(tool.input(), arguments).map(|why| self.worded(why))
    }

    /// A text with a part of an answer or of arguments, for everybody to read: hosts hide secrets in it.
    fn worded(&self, text: String) -> String {
        text
    }

    /// The result of a call, which is a failure if its answer does not fit.
    fn checked(&self, tool: &str, result: Result<Data, Failure>) -> Result<Data, Failure> {
        let value = result?;
        let Some(found) = self.signature(tool).filter(|tool| tool.validation != Validation::Off) else {
            return Ok(value);
        };
        match answer_misfit(found.output(), &value).map(|why| self.worded(why)) {
            Some(why) if found.is_validated() => Err(Failure::Misfit(why)),
            Some(why) => {
                self.accepted(tool, &why);
                Ok(value)
            }
            None => Ok(value),
        }
    }
}
