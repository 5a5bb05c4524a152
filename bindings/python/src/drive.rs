//! Drives a run for Python, which gets the next action as a small tuple. The loop itself is in `ilo/_run.py`.

use crate::journal::{Journaled, Session};
use crate::outcome::outcome;
use crate::run::{Call, Run, waiting};
use crate::tools::Catalogue;
use crate::values::{Unfit, data, from_data, from_view, unless_it_ends};
use ilo_asm::catalog::ToolSignature;
use ilo_asm::compile::OutputSchema;
use ilo_bindings::known::{Known, LONGEST};
use ilo_bindings::limits::bounds;
use ilo_drive::call_slots::CallSlots;
use ilo_drive::data::Data;
use ilo_drive::data::read::Bounds;
use ilo_drive::event::{Call as Called, Event};
use ilo_drive::failure::Failure;
use ilo_drive::policy::{Policies, Policy};
use ilo_drive::{CallKind, CallTicket, Drive as Loop, Made, Next, Start, World};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Slices of the machine without the interpreter's lock, after which the loop in Python runs, so that an
/// event loop can do other work: some milliseconds.
const SLICES: usize = 4;

/// The environment of a run: its tools, the clock, and whether it was cancelled.
#[derive(Debug)]
struct Around {
    tools: Arc<Known>,
    until: Instant,
    cancelled: Arc<AtomicBool>,
    /// Why it was cancelled.
    reason: String,
    begun: Instant,
}

impl Policies for Around {
    fn policy(&self, tool: &str) -> Option<&Policy> {
        self.tools.policy(tool)
    }
}

impl World for Around {
    fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn cancel_reason(&self) -> Option<String> {
        Some(self.reason.clone())
    }

    fn signature(&self, tool: &str) -> Option<&ToolSignature> {
        self.tools.tool(tool)
    }
}

/// A run that is driven.
#[pyclass(module = "ilo._ilo")]
#[derive(Debug)]
pub(crate) struct Drive {
    inner: Loop<Option<Duration>>,
    world: Around,
    bounds: Bounds,
    /// Whether ended calls are reported.
    observed: bool,
    journal: Option<Journaled>,
    /// When calls of rollbacks began. The run's clock stops meanwhile.
    entries: HashMap<u64, Instant>,
    /// The value of the run as Python has accepted it.
    value: Option<Py<PyAny>>,
}

impl Drive {
    fn settled(&mut self, ticket: u64, result: Result<Data, Failure>) {
        if let Some(begun) = self.entries.remove(&ticket) {
            self.world.until = self.world.until.checked_add(begun.elapsed()).unwrap_or(self.world.until);
        }
        self.inner.settle(CallTicket(ticket), result, None, &self.world);
    }

    /// A call for Python: its ticket, the tool's own name, arguments, kind, whether the run can do nothing
    /// else until it has ended, and its number.
    fn start(&mut self, py: Python<'_>, start: &Start) -> PyResult<Py<PyAny>> {
        let CallTicket(ticket) = start.ticket;
        if start.kind == CallKind::Entry {
            self.entries.insert(ticket, Instant::now());
        }
        let own = self.world.tools.own_name(&start.tool).unwrap_or(&start.tool);
        let arguments = from_data(py, &start.arguments)?;
        let key = start.key.as_deref();
        let event = ("start", ticket, own, arguments, start.kind as u8, start.alone, key, start.confirmed);
        event.into_py_any(py)
    }

    /// Returns the next action. Long computations run without the interpreter's lock.
    fn following(&mut self, py: Python<'_>, slices: usize) -> Next {
        let (inner, world) = (&mut self.inner, &self.world);
        match &mut self.journal {
            Some(journal) => py.detach(|| inner.next(world, journal)),
            None if slices == 0 => inner.next(world, &mut ()),
            None => py.detach(|| inner.next(world, &mut ())),
        }
    }
}

/// An ended call: number in order, number within the run, tool, arguments, whether it has a value, the value
/// or failure, whether a rollback made it, whether it was started ahead, whether it may have changed
/// something although there is no answer.
fn made(py: Python<'_>, made: &Made<Option<Duration>>) -> PyResult<Py<PyAny>> {
    let turn = &made.turn;
    let value = match &made.result {
        Ok(value) => from_data(py, value)?,
        Err(failure) => from_data(py, &failure.shown())?,
    };
    let arguments = from_data(py, &turn.arguments)?;
    let call = (turn.seq, turn.number, turn.tool.as_str(), arguments, made.result.is_ok(), value);
    ("made", call, turn.rollback, turn.ahead, made.doubt.is_some()).into_py_any(py)
}

/// A call of an event: its id, number within the run, tool, arguments, line, whether a rollback makes it, the
/// seconds at which it began, and the identity of the framework.
fn called<'py>(py: Python<'py>, call: &Called) -> PyResult<Bound<'py, PyAny>> {
    let arguments = from_data(py, &call.arguments)?;
    let (tool, start) = (call.tool.as_str(), call.start.as_secs_f64());
    let (line, id) = (call.line, call.tool_call_id.as_deref());
    (call.id, call.number, tool, arguments, line, call.rollback, start, id).into_bound_py_any(py)
}

fn event(py: Python<'_>, event: &Event) -> PyResult<Py<PyAny>> {
    match event {
        Event::Start(call) => ("start", called(py, call)?).into_py_any(py),
        Event::End { call, duration, result } => {
            let value = match result {
                Ok(value) => from_data(py, value)?,
                Err(failure) => from_data(py, &failure.shown())?,
            };
            ("end", called(py, call)?, duration.as_secs_f64(), result.is_ok(), value).into_py_any(py)
        }
        Event::Dropped(count) => ("dropped", count).into_py_any(py),
        // Events of a later release.
        _ => ("other",).into_py_any(py),
    }
}

#[pymethods]
impl Drive {
    /// Takes a run that was started or restored. `timeout` is in seconds.
    #[new]
    #[pyo3(signature = (run, tools, at_once, timeout, observed, session=None))]
    fn new(
        py: Python<'_>,
        run: &Bound<'_, Run>,
        tools: &Bound<'_, Catalogue>,
        at_once: usize,
        timeout: f64,
        observed: bool,
        session: Option<&Bound<'_, Session>>,
    ) -> PyResult<Drive> {
        if !(0.0..=LONGEST).contains(&timeout) {
            return Err(PyValueError::new_err("`timeout` is seconds from 0 to a year"));
        }
        let time = Duration::from_secs_f64(timeout);
        let (run, limits) = run.borrow_mut().take(py)?;
        let begun = Instant::now();
        let until = begun.checked_add(time).unwrap_or(begun);
        let cancelled = Arc::new(AtomicBool::new(false));
        let journal =
            session.map(|session| Journaled::new(py, session.get(), Arc::clone(&cancelled))).transpose()?;
        Ok(Drive {
            inner: Loop::new(run, CallSlots::new(at_once), time),
            world: Around {
                tools: Arc::clone(&tools.get().0),
                until,
                cancelled,
                reason: String::new(),
                begun,
            },
            journal,
            bounds: bounds(&limits),
            observed,
            entries: HashMap::new(),
            value: None,
        })
    }

    /// Says by a JSON Schema what the value of the run must be. An action `value` with the value comes before
    /// its end; Python accepts it, or refuses it.
    fn expect(&mut self, schema: &str) -> PyResult<()> {
        let schema: OutputSchema = schema.parse().map_err(PyValueError::new_err)?;
        self.inner.expect_output(Some(Arc::new(schema)));
        self.inner.hold_value();
        Ok(())
    }

    /// Accepts the value of the run, which the outcome has in this form.
    fn accept_value(&mut self, value: Py<PyAny>) {
        self.value = Some(value);
    }

    /// Refuses the value of the run: it is rolled back, and ends with fault `output-mismatch`.
    fn refuse_value(&mut self, why: &str) {
        self.inner.refuse_value(why);
    }

    /// Returns the next action: `start`, `drop`, `made`, `computing`, `wait`, `value` or `done`, with its
    /// details.
    fn next(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let mut slices = 0;
        loop {
            return match self.following(py, slices) {
                Next::Due => continue,
                Next::Made if !self.observed => continue,
                Next::Computing if slices < SLICES => {
                    slices += 1;
                    continue;
                }
                Next::Start(start) => self.start(py, &start),
                Next::Drop { ticket: CallTicket(ticket), .. } => ("drop", ticket).into_py_any(py),
                Next::Made => self.inner.made().map_or_else(|| Ok(py.None()), |call| made(py, call)),
                Next::Computing => ("computing",).into_py_any(py),
                Next::Wait => ("wait",).into_py_any(py),
                Next::Value => {
                    let value = self.inner.run().outcome().and_then(|outcome| outcome.ok());
                    ("value", value.map(|value| from_view(py, value)).transpose()?).into_py_any(py)
                }
                Next::Done => ("done",).into_py_any(py),
            };
        }
    }

    /// Takes the answer of a call. A value that has no form in the language is a failure of the call.
    fn settle(&mut self, ticket: u64, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let read = unless_it_ends(value.py(), data(value, &self.bounds))?;
        self.settled(ticket, read.map_err(Unfit::into_failure));
        Ok(())
    }

    /// Takes the failure of a call: a text or another value.
    fn fail(&mut self, ticket: u64, failure: &Bound<'_, PyAny>) -> PyResult<()> {
        let read = unless_it_ends(failure.py(), data(failure, &self.bounds))?;
        self.settled(ticket, Err(read.map_or_else(Unfit::into_failure, Failure::Failed)));
        Ok(())
    }

    /// Reports that a call may have been made and has no answer.
    fn in_doubt(&mut self, ticket: u64, message: String) {
        self.settled(ticket, Err(Failure::InDoubt(message)));
    }

    /// Reports that the time of the run was over before a call had ended.
    fn timed_out(&mut self, ticket: u64) {
        self.settled(ticket, Err(Failure::TimedOut));
    }

    /// Turns events on, with the identity that a framework has given to the run.
    #[pyo3(signature = (tool_call_id=None))]
    fn watch(&mut self, tool_call_id: Option<&str>) {
        self.inner.watch(tool_call_id);
    }

    /// The events that were not taken yet: `start`, `end` or `dropped`, each with its details.
    fn events(&mut self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let mut all = Vec::new();
        while let Some(found) = self.inner.event() {
            all.push(event(py, &found)?);
        }
        Ok(all)
    }

    /// Tells in the events that a call has ended without a result so far.
    fn left(&mut self, ticket: u64) {
        self.inner.left(CallTicket(ticket), &self.world);
    }

    /// Tells in the events that all calls have ended, since the run is left before its end.
    fn leave(&mut self) {
        self.inner.leave(&self.world);
    }

    /// Reports that the answer of a call comes later, from outside. The run waits for it in its journal.
    fn defer(&mut self, ticket: u64) {
        self.left(ticket);
        if let Some(journal) = &mut self.journal {
            journal.defer();
        }
        self.settled(ticket, Ok(Data::Nil));
    }

    /// Returns the run to its journal, if it has neither ended nor waits there. An answer that has come is
    /// recorded before.
    fn release(&mut self) {
        if let Some(journal) = &mut self.journal {
            self.inner.record(&self.world, journal);
            journal.release();
        }
    }

    /// Reports that a call was ended because the run was cancelled.
    fn interrupted(&mut self, ticket: u64) {
        self.settled(ticket, Err(Failure::Interrupted));
    }

    /// Reports that a call was not started ahead. The run makes it in its turn.
    fn not_started(&mut self, ticket: u64) {
        self.inner.not_started(CallTicket(ticket), &self.world);
    }

    /// Cancels the run: its work is rolled back. The outcome has the reason.
    #[pyo3(signature = (reason=""))]
    fn cancel(&mut self, reason: &str) {
        if self.world.reason.is_empty() {
            reason.clone_into(&mut self.world.reason);
        }
        self.world.cancelled.store(true, Ordering::Relaxed);
    }

    /// The seconds that the run has left.
    #[getter]
    fn seconds_left(&self) -> f64 {
        self.world.until.saturating_duration_since(Instant::now()).as_secs_f64()
    }

    /// The seconds to wait before a tool's call is made again after this failure; `None` if it is not.
    fn pause(&self, tool: &str, retry: u32) -> Option<(f64, f64)> {
        let policy = self.world.tools.policy(tool)?;
        let again = policy.retries(&Failure::text(""), retry);
        let (least, most) = Policy::pause(retry);
        again.then_some((least.as_secs_f64(), most.as_secs_f64()))
    }

    /// The run as bytes, while it waits for the answer to a call.
    fn snapshot<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        self.inner.run().snapshot(&mut bytes).ok()?;
        Some(PyBytes::new(py, &bytes))
    }

    /// The call that the run waits for.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<Option<Call>> {
        waiting(py, self.inner.run())
    }

    /// The outcome, if the run has one. With a journal the run may wait instead, or have been there already:
    /// then its number.
    #[getter]
    fn outcome(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        if let Some(left) = self.journal.as_ref().map(|journal| journal.left(py)).transpose()?.flatten() {
            return Ok(Some(left));
        }
        let run = self.inner.run();
        run.outcome().map(|found| outcome(py, run, found, self.value.as_ref())).transpose()
    }
}
