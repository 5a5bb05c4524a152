//! What is around a run: its tools with their policies and schemas, its time, and who ends it.

use crate::data::Data;
use crate::failure::Failure;
use crate::policy::Policies;
use crate::validate::misfit;
use ilo_asm::catalog::Tool;

/// What a run asks of the world around it, beside answers.
pub trait World: Policies {
    /// Whether the time of the run is over. While a rollback entry is called, it stops.
    fn is_late(&self) -> bool {
        false
    }

    /// Whether the run was cancelled from outside: what it has done is rolled back.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Whether the run was interrupted from outside: it stops without an outcome, and nothing is rolled back.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// The tool that answers for a name, as the catalogue has it; its schemas say what fits it.
    fn signature(&self, _tool: &str) -> Option<&Tool> {
        None
    }

    /// Why a call with these arguments is not made: they do not fit.
    fn refuses(&self, tool: &str, arguments: &Data) -> Option<String> {
        let tool = self.signature(tool).filter(|tool| tool.is_validated())?;
        misfit(tool.input(), arguments)
    }

    /// What a call comes to: a failure where its answer does not fit.
    fn checked(&self, tool: &str, result: Result<Data, Failure>) -> Result<Data, Failure> {
        let value = result?;
        let tool = self.signature(tool).filter(|tool| tool.is_validated());
        match tool.and_then(|tool| misfit(tool.output(), &value)) {
            Some(why) => Err(Failure::Misfit(why)),
            None => Ok(value),
        }
    }
}
