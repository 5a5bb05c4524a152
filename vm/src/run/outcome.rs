//! How a run ended.

use crate::fault::Fault;
use crate::host_view::View;
use crate::machine::Machine;
use crate::rollbacks::Note;
use crate::run::state::{Run, State};
use core::fmt;
use ilo_spec::json::quote;

#[inline]
pub(crate) fn status(run: &Run) -> Status<'_> {
    let value =
        View { heap: &run.machine.heap, program: run.machine.program.inner(), value: &run.machine.result };
    if let State::Ok = run.state {
        return Status::Ok(value);
    }
    match (run.state, &run.fault) {
        (State::Err, _) => Status::Err(value),
        (State::Fault, Some(fault)) => Status::Fault(fault),
        // Only called when the run has ended.
        _ => Status::Ok(value),
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub enum Status<'r> {
    /// With a value.
    Ok(View<'r>),
    /// With a failure, in a function whose output type is a result.
    Err(View<'r>),
    /// With a fault.
    Fault(&'r Fault),
}

/// The end of a run (specification: outcomes).
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'r> {
    pub(crate) run: &'r Run,
}

impl<'r> Outcome<'r> {
    /// How it ended.
    #[inline]
    pub fn status(&self) -> Status<'r> {
        status(self.run)
    }

    /// The value, if it ended with one.
    #[inline]
    pub fn ok(&self) -> Option<View<'r>> {
        match self.status() {
            Status::Ok(value) => Some(value),
            Status::Err(_) | Status::Fault(_) => None,
        }
    }

    /// The failed compensations, in order: the tool and its failure.
    #[inline]
    pub fn compensation_failures(&self) -> impl ExactSizeIterator<Item = (&'r str, View<'r>)> + use<'r> {
        let Machine { program, heap, notes, rollbacks, .. } = &self.run.machine;
        let program = program.inner();
        let messages = rollbacks.more().messages.as_deref().unwrap_or(heap);
        notes.iter().map(move |Note { tool, value, aside }| {
            let heap = if *aside { messages } else { heap };
            (program.string(tool.0), View { heap, program, value })
        })
    }

    /// The ROLLBACK entries whose calls succeeded, in order: the tool, and the number of the call.
    pub fn rolled_back(&self) -> impl ExactSizeIterator<Item = (&'r str, u64)> + use<'r> {
        let Machine { program, rollbacks, .. } = &self.run.machine;
        let program = program.inner();
        rollbacks.more().done.iter().map(move |done| (program.string(done.tool.0), done.number))
    }

    /// The calls that may have changed something and that no entry undoes, in order: the tool, and why.
    pub fn not_rolled_back(&self) -> impl ExactSizeIterator<Item = (&'r str, &'r str)> + use<'r> {
        let Machine { program, rollbacks, .. } = &self.run.machine;
        let program = program.inner();
        rollbacks.more().left.iter().map(move |left| (program.string(left.tool.0), left.why.as_str()))
    }

    /// Writes the outcome as one JSON object.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn write_json(&self, out: &mut impl fmt::Write) -> fmt::Result {
        match self.status() {
            Status::Ok(value) => {
                out.write_str(r#"{"status":"ok","value":"#)?;
                value.write_json(out)?;
            }
            Status::Err(failure) => {
                out.write_str(r#"{"status":"err","error":"#)?;
                failure.write_json(out)?;
            }
            Status::Fault(fault) => write_fault(fault, out)?,
        }
        for (place, (tool, failure)) in self.compensation_failures().enumerate() {
            out.write_str(if place == 0 { r#","compensation_failures":[{"tool":"# } else { r#",{"tool":"# })?;
            quote(tool, |text| out.write_str(text))?;
            out.write_str(r#","error":"#)?;
            failure.write_json(out)?;
            out.write_char('}')?;
        }
        if !self.run.machine.notes.is_empty() {
            out.write_char(']')?;
        }
        self.write_rollback(out)?;
        out.write_char('}')
    }

    /// What was rolled back and what was not, if there is anything.
    fn write_rollback(&self, out: &mut impl fmt::Write) -> fmt::Result {
        for (place, (tool, number)) in self.rolled_back().enumerate() {
            out.write_str(if place == 0 { r#","rolled_back":[{"tool":"# } else { r#",{"tool":"# })?;
            quote(tool, |text| out.write_str(text))?;
            write!(out, r#","number":{number}}}"#)?;
        }
        if self.rolled_back().len() > 0 {
            out.write_char(']')?;
        }
        for (place, (tool, why)) in self.not_rolled_back().enumerate() {
            out.write_str(if place == 0 { r#","not_rolled_back":[{"tool":"# } else { r#",{"tool":"# })?;
            quote(tool, |text| out.write_str(text))?;
            out.write_str(r#","why":"#)?;
            quote(why, |text| out.write_str(text))?;
            out.write_char('}')?;
        }
        if self.not_rolled_back().len() > 0 {
            out.write_char(']')?;
        }
        Ok(())
    }
}

/// Writes the outcome as one JSON object.
impl fmt::Display for Outcome<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_json(f)
    }
}

fn write_fault(fault: &Fault, out: &mut impl fmt::Write) -> fmt::Result {
    write!(out, r#"{{"status":"fault","code":"{}","message":"#, fault.code)?;
    quote(&fault.message, |text| out.write_str(text))?;
    out.write_str(r#","at":{"function":"#)?;
    quote(&fault.function, |text| out.write_str(text))?;
    match fault.position {
        Some((line, column)) => write!(out, r#","line":{line},"column":{column}}}"#),
        None => write!(out, r#","instruction":{}}}"#, fault.pc),
    }
}
