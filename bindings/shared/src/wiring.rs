//! The wiring of a program to the tools of one catalogue, computed once, for loops that make only the common
//! calls: those of tools that need no confirmation and no retries.
//!
//! Such a loop leaves everything else to `ilo_drive::Drive`: rollback entries, arguments or answers that do
//! not fit, tools that fail or do not answer at once.

use crate::Words;
use crate::known::Known;
use crate::start::missing;
use ilo_asm::catalog::Validation;
use ilo_drive::data::Data;
use ilo_drive::data::read::data_of;
use ilo_drive::policy::Policies as _;
use ilo_drive::sent::leave_out;
use ilo_drive::validate::{answer_misfit, misfit};
use ilo_vm::{Program, Run, Waiting};
use std::sync::Arc;

/// The wiring of a program to the tools of one catalogue.
#[derive(Debug)]
pub struct Wiring {
    known: Arc<Known>,
    /// For each tool of the program; nothing for tools whose calls are for `Drive`.
    calls: Vec<Option<Wired>>,
    /// Whether every tool is there, and nothing else prevents a run.
    pub is_complete: bool,
}

/// A tool whose calls may be made at once.
#[derive(Debug)]
pub struct Wired {
    /// Its own name.
    pub name: String,
    /// Whether it changes nothing.
    pub read_only: bool,
    /// Whether arguments and answers are compared with schemas.
    checks_arguments: bool,
    checks_answer: bool,
}

impl Wired {
    /// Notes that the call that the run waits for is made now.
    pub fn begins(&self, run: &mut Run) {
        if let Some(mut call) = run.pending().filter(|_| !self.read_only) {
            call.may_change();
        }
    }
}

impl Wiring {
    /// Computes the wiring of a program to these tools.
    pub fn new(program: &Program, known: &Arc<Known>, words: &Words) -> Wiring {
        let wired = |name: &str| {
            let (tool, policy) = (known.tool(name)?, known.policy(name)?);
            let plain = !policy.confirm && policy.retries == 0;
            plain.then(|| Wired {
                name: tool.name.clone(),
                read_only: policy.read_only,
                checks_arguments: !tool.input().is_any(),
                checks_answer: tool.validation != Validation::Off && !tool.output().is_any(),
            })
        };
        let calls = program.tools().map(wired).collect();
        let is_complete = missing(program, known, words).is_empty();
        Wiring { known: Arc::clone(known), calls, is_complete }
    }

    /// Whether the wiring is to these tools.
    pub fn is_of(&self, known: &Arc<Known>) -> bool {
        Arc::ptr_eq(&self.known, known)
    }

    /// The tool of the call that a run waits for, if the call may be made at once.
    pub fn wired(&self, call: &Waiting<'_>) -> Option<&Wired> {
        let wired = self.calls.get(call.tool_index())?.as_ref()?;
        (!call.is_rollback()).then_some(wired)
    }

    /// The same, if its arguments fit the tool as they are.
    pub fn fitting(&self, call: &Waiting<'_>) -> Option<&Wired> {
        let wired = self.wired(call)?;
        let tool = if wired.checks_arguments { self.known.tool(&wired.name) } else { None };
        let Some(tool) = tool else { return Some(wired) };
        let mut json = String::new();
        // Writing to a string does not fail.
        let _ = call.write_json(&mut json);
        let mut arguments = data_of(&json).ok()?;
        let fits = !leave_out(tool.input(), &mut arguments) && misfit(tool.input(), &arguments).is_none();
        fits.then_some(wired)
    }

    /// Whether an answer fits its tool. The answer is read only if that matters.
    pub fn answer_fits(&self, wired: &Wired, answer: impl FnOnce() -> Data) -> bool {
        let tool = if wired.checks_answer { self.known.tool(&wired.name) } else { None };
        tool.is_none_or(|tool| answer_misfit(tool.output(), &answer()).is_none())
    }
}
