//! A tool call that the host must answer, and a read-only view of it.

use crate::host_value::Datum;
use crate::host_view::View;
use crate::machine::{CallKind, Machine, PendingCall};
use crate::run::answer::answer;
use crate::run::build_error::BuildError;
use crate::run::build_json::JsonRefused;
use crate::run::rollback::{call_number, call_pc, compensates, fail_in_doubt, fail_misfit, refuse_pending};
use crate::run::state::Run;
use crate::run::value_builder::{Builder, answer_with};
use crate::value::at;
use core::fmt;
use ilo_spec::error::Code;
use ilo_spec::json::quote;

/// A tool call that waits for its answer. If it is dropped unanswered, it keeps waiting.
#[derive(Debug)]
pub struct Call<'r> {
    pub(crate) run: &'r mut Run,
}

/// A read-only view of the tool call for which a run waits ([`Run::waiting`]).
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'r> {
    pub(super) run: &'r Run,
}

/// Writes arguments as one JSON object.
pub(super) fn write_record<'r>(
    arguments: impl Iterator<Item = (&'r str, View<'r>)>,
    out: &mut impl fmt::Write,
) -> fmt::Result {
    out.write_char('{')?;
    for (place, (name, value)) in arguments.enumerate() {
        if place > 0 {
            out.write_char(',')?;
        }
        quote(name, |text| out.write_str(text))?;
        out.write_char(':')?;
        value.write_json(out)?;
    }
    out.write_char('}')
}

impl<'r> Waiting<'r> {
    /// The name of the tool.
    #[inline]
    pub fn tool(&self) -> &'r str {
        self.run.machine.program.inner().tool_name(self.run.machine.pending_call.call)
    }

    /// The index of the tool in [`Program::tools`](crate::Program::tools), for hosts that look their tools up
    /// once.
    #[inline]
    pub fn tool_index(&self) -> usize {
        at(self.run.machine.program.inner().call(self.run.machine.pending_call.call).tool)
    }

    /// The number of the call within the run, from 1. It is the same after a restore, so it can serve as an
    /// idempotency key.
    #[inline]
    pub fn number(&self) -> u64 {
        call_number(self.run)
    }

    /// Whether it is the call of a ROLLBACK entry. Its answer is not a value of the run, only its failure is
    /// recorded; nothing retries it.
    #[inline]
    pub fn is_rollback(&self) -> bool {
        self.run.machine.pending_call.kind == CallKind::Entry
    }

    /// Whether a ROLLBACK follows it directly. Then give its answer to the run even if the time of the run is
    /// over, so that the entry is pushed before the run ends.
    #[inline]
    pub fn has_rollback(&self) -> bool {
        matches!(self.run.machine.pending_call.kind, CallKind::Covered | CallKind::CoveredChange)
    }

    /// Whether the run is cancelled and this call is not part of its rollback. The host fails it with the
    /// message `cancelled`, unless its tool only reads.
    pub fn is_cancelled(&self) -> bool {
        self.run.is_cancelled() && !self.is_rollback() && !compensates(self.run)
    }

    /// Names and values of the arguments, in the order of the program.
    #[inline]
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = (&'r str, View<'r>)> + use<'r> {
        let program = self.run.machine.program.inner();
        let PendingCall { call, first, .. } = self.run.machine.pending_call;
        let call = program.spec.calls[usize::from(call.0)];
        let Machine { heap, rollbacks, .. } = &self.run.machine;
        let names = &program.spec.shapes[usize::from(call.shape.0)];
        let run = self.run;
        let values =
            if self.is_rollback() { rollbacks.running_arguments() } else { run.window(first, names.len()) };
        names
            .iter()
            .zip(values)
            .map(move |(name, value)| (program.string(name.0.into()), View { heap, program, value }))
    }

    /// The argument with that name.
    #[inline]
    pub fn argument(&self, name: &str) -> Option<View<'r>> {
        self.arguments().find(|&(known, _)| known == name).map(|(_, value)| value)
    }

    /// Writes the arguments as one JSON object.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn write_json(&self, out: &mut impl fmt::Write) -> fmt::Result {
        write_record(self.arguments(), out)
    }

    /// Line and column of the call in the source, if the program was not stripped.
    pub fn position(&self) -> Option<(u32, u32)> {
        self.run.position(call_pc(self.run))
    }

    /// The name of the function that makes the call.
    pub fn function(&self) -> &'r str {
        let program = self.run.machine.program.inner();
        program.function_at(call_pc(self.run)).map_or("", |function| program.string(function.name.0))
    }
}

impl<'r> Call<'r> {
    /// A read-only view of the call.
    #[inline]
    fn look(&self) -> Waiting<'_> {
        Waiting { run: self.run }
    }

    /// The name of the tool.
    #[inline]
    pub fn tool(&self) -> &str {
        self.look().tool()
    }

    /// The index of the tool in [`Program::tools`](crate::Program::tools), for hosts that look their tools up
    /// once.
    #[inline]
    pub fn tool_index(&self) -> usize {
        self.look().tool_index()
    }

    /// The number of the call within the run, from 1. It is the same after a restore, so it can serve as an
    /// idempotency key.
    #[inline]
    pub fn number(&self) -> u64 {
        self.look().number()
    }

    /// Whether it is the call of a ROLLBACK entry: [`Waiting::is_rollback`].
    #[inline]
    pub fn is_rollback(&self) -> bool {
        self.look().is_rollback()
    }

    /// Whether a ROLLBACK follows it directly: [`Waiting::has_rollback`].
    #[inline]
    pub fn has_rollback(&self) -> bool {
        self.look().has_rollback()
    }

    /// Whether the run is cancelled and this call is not part of its rollback: [`Waiting::is_cancelled`].
    pub fn is_cancelled(&self) -> bool {
        self.look().is_cancelled()
    }

    /// Fails a call that the host does not make. It does not count towards the limit of calls.
    ///
    /// # Errors
    /// Those of [`Call::fail`].
    pub fn fail_unsent(self, message: &str) -> Result<(), BuildError> {
        if !self.is_rollback() {
            self.run.machine.heap.budget.give_call_back();
        }
        self.fail(message)
    }

    /// Fails a call that was made because of its answer: the program sees the message as the failure, and the
    /// outcome lists a call that may have changed something as not rolled back, with `why`.
    ///
    /// # Errors
    /// Those of [`Call::fail`].
    pub fn fail_misfit(self, message: &str, why: &str) -> Result<(), BuildError> {
        fail_misfit(self.run, message, why)
    }

    /// Names and values of the arguments, in the order of the program.
    #[inline]
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = (&str, View<'_>)> {
        self.look().arguments()
    }

    /// The argument with that name.
    #[inline]
    pub fn argument(&self, name: &str) -> Option<View<'_>> {
        self.look().argument(name)
    }

    /// Writes the arguments as one JSON object.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn write_json(&self, out: &mut impl fmt::Write) -> fmt::Result {
        self.look().write_json(out)
    }

    /// Line and column of the call in the source, if the program was not stripped.
    pub fn position(&self) -> Option<(u32, u32)> {
        self.look().position()
    }

    /// The name of the function that makes the call.
    pub fn function(&self) -> &str {
        self.look().function()
    }

    /// Declares that the host makes the call now and that its tool may change something. If its answer never
    /// comes or does not fit, the outcome lists the call as not rolled back.
    pub fn may_change(&mut self) {
        let kind = &mut self.run.machine.pending_call.kind;
        *kind = match *kind {
            CallKind::Plain | CallKind::PlainChange => CallKind::PlainChange,
            CallKind::Covered | CallKind::CoveredChange => CallKind::CoveredChange,
            CallKind::Entry => CallKind::Entry,
        };
    }

    /// Ends the run at this call after its rollback, although the call was answered: the answer is dropped.
    pub fn end_run(self, code: Code, message: &str) {
        self.run.machine.pending_call.kind = CallKind::Plain;
        self.run.end_with(code, message);
    }

    /// Ends the run at this call after its rollback: the answer exceeds a limit of the host.
    pub fn refuse_answer(self, code: Code, message: &str) {
        refuse_pending(self.run, code, message);
    }

    /// Fails a call that may have been made: the program sees the message as the failure, and the outcome
    /// lists the call as not rolled back.
    ///
    /// # Errors
    /// Those of [`Call::fail`].
    pub fn fail_in_doubt(self, message: &str) -> Result<(), BuildError> {
        fail_in_doubt(self.run, message)
    }

    /// Answers with a value.
    ///
    /// A duplicate field or a number that is not finite makes the call fail with that message.
    ///
    /// # Errors
    /// [`BuildError::Limit`] if the answer exceeds a limit: the run has ended with that fault.
    #[inline]
    pub fn answer<'d>(self, value: impl Into<Datum<'d>>) -> Result<(), BuildError> {
        answer(self.run, value.into(), false)
    }

    /// Answers with a value that is built event by event.
    #[inline]
    pub fn answer_with(self) -> Builder<'r> {
        answer_with(self.run)
    }

    /// Answers with the value of a JSON text, which is built in the run without another copy. Integers are
    /// exact.
    ///
    /// A duplicate field or a number that is not finite makes the call fail with that message.
    ///
    /// # Errors
    /// [`JsonRefused::Json`] if the text is not one JSON value, or has an integer beyond 64 bits: the call
    /// still waits. [`BuildError::Limit`] if the answer exceeds a limit: the run has ended with that fault.
    pub fn answer_json(self, json: &str) -> Result<(), JsonRefused> {
        let mut builder = answer_with(self.run);
        builder.json(json)?;
        Ok(builder.finish()?)
    }

    /// Fails the call; the program sees the message as the failure.
    ///
    /// # Errors
    /// [`BuildError::Limit`] if the message exceeds a limit: the run has ended with that fault.
    #[inline]
    pub fn fail(self, message: &str) -> Result<(), BuildError> {
        answer(self.run, Datum::Text(message), true)
    }

    /// Fails the call with a value.
    ///
    /// # Errors
    /// Those of [`Call::fail`].
    #[inline]
    pub fn fail_with<'d>(self, failure: impl Into<Datum<'d>>) -> Result<(), BuildError> {
        answer(self.run, failure.into(), true)
    }
}
