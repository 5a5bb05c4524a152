//! A run, step by step: each step ends with a call that waits for its answer, or with the outcome.

use crate::errors::raise;
use crate::outcome::outcome;
use crate::values::{Unfit, arguments, datum};
use bumpalo::Bump;
use ilo_bindings::limits::bounds;
use ilo_drive::failure::Failure;
use ilo_drive::lifecycle::CANCELLED;
use ilo_vm::Limits;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};

/// The fuel of a slice with the interpreter's lock: some tens of microseconds.
pub(crate) const HELD: u64 = 10_000;
/// The fuel after which signals are checked: some tens of milliseconds.
const SLICE: u64 = 5_000_000;

/// A waiting call.
#[pyclass(frozen, module = "ilo", name = "Call")]
#[derive(Debug)]
pub(crate) struct Call {
    tool: String,
    arguments: Py<PyDict>,
    number: u64,
    function: String,
    position: Option<(u32, u32)>,
    is_rollback: bool,
}

/// What a call is pickled as: its type, and the arguments of its constructor.
type Pickled<'py> = (Bound<'py, PyType>, (String, Py<PyDict>, u64, String, Option<(u32, u32)>, bool));

#[pymethods]
impl Call {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("tool", "arguments");

    #[new]
    #[pyo3(signature = (tool, arguments, number, function, position, is_rollback))]
    fn new(
        tool: String,
        arguments: Py<PyDict>,
        number: u64,
        function: String,
        position: Option<(u32, u32)>,
        is_rollback: bool,
    ) -> Call {
        Call { tool, arguments, number, function, position, is_rollback }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Pickled<'py> {
        let Call { tool, function, number, position, is_rollback, .. } = self;
        let arguments = self.arguments.clone_ref(py);
        let given = (tool.clone(), arguments, *number, function.clone(), *position, *is_rollback);
        (py.get_type::<Call>(), given)
    }

    /// The tool by the name that the program uses.
    #[getter]
    fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments by name.
    #[getter]
    fn arguments(&self, py: Python<'_>) -> Py<PyDict> {
        self.arguments.clone_ref(py)
    }

    /// The number of the call within the run, from 1, which is the same after a restore.
    #[getter]
    fn number(&self) -> u64 {
        self.number
    }

    /// The function that makes the call.
    #[getter]
    fn function(&self) -> &str {
        &self.function
    }

    /// The line in the source; `None` in a stripped program.
    #[getter]
    fn line(&self) -> Option<u32> {
        self.position.map(|(line, _)| line)
    }

    /// The column in the source; `None` in a stripped program.
    #[getter]
    fn column(&self) -> Option<u32> {
        self.position.map(|(_, column)| column)
    }

    /// Whether a rollback makes the call.
    #[getter]
    fn is_rollback(&self) -> bool {
        self.is_rollback
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<ilo.Call {}({})>", self.tool, self.arguments.bind(py).repr()?))
    }
}

/// The call that a run waits for.
pub(crate) fn waiting(py: Python<'_>, run: &ilo_vm::Run) -> PyResult<Option<Call>> {
    let Some(call) = run.waiting() else { return Ok(None) };
    Ok(Some(Call {
        tool: call.tool().to_owned(),
        arguments: arguments(py, &call)?.unbind(),
        number: call.number(),
        function: call.function().to_owned(),
        position: call.position(),
        is_rollback: call.is_rollback(),
    }))
}

/// A run.
#[pyclass(module = "ilo", name = "Run")]
#[derive(Debug)]
pub(crate) struct Run {
    /// Nothing after `Drive` has taken it.
    inner: Option<ilo_vm::Run>,
    limits: Limits,
    /// The number of the last call that `step` gave.
    given: u64,
}

impl Run {
    pub(crate) fn new(run: ilo_vm::Run, limits: Limits) -> Run {
        Run { inner: Some(run), limits, given: 0 }
    }

    /// Gives the run away.
    pub(crate) fn take(&mut self, py: Python<'_>) -> PyResult<(ilo_vm::Run, Limits)> {
        let run = self.inner.take().ok_or_else(|| given_away(py))?;
        Ok((run, self.limits.clone()))
    }

    fn own(&mut self, py: Python<'_>) -> PyResult<&mut ilo_vm::Run> {
        self.inner.as_mut().ok_or_else(|| given_away(py))
    }

    /// Takes an answer or a failure for the waiting call.
    fn settle(&mut self, py: Python<'_>, value: &Bound<'_, PyAny>, failed: bool) -> PyResult<()> {
        let bounds = bounds(&self.limits);
        let Some(call) = self.own(py)?.pending() else {
            return Err(raise(py, "NotWaiting", ("no call waits for an answer",)));
        };
        let arena = Bump::new();
        // An answer that exceeds a limit has ended the run with that fault, which the next step returns.
        match datum(value, &bounds, &arena) {
            Ok(value) if failed => drop(call.fail_with(value)),
            Ok(value) => drop(call.answer(value)),
            Err(unfit @ Unfit::Limit(_)) => {
                if let Failure::Limit(code, message) = unfit.into_failure() {
                    call.refuse_answer(code, &message);
                }
            }
            Err(unfit) => return Err(unfit.into_error(py, "the answer")),
        }
        Ok(())
    }
}

/// Runs the machine to a call or the end. Long computations run without the interpreter's lock.
pub(crate) fn advance(py: Python<'_>, run: &mut ilo_vm::Run) -> PyResult<()> {
    let mut stopped = run.step_within(HELD).is_some();
    while !stopped {
        py.check_signals()?;
        stopped = py.detach(|| run.step_within(SLICE).is_some());
    }
    Ok(())
}

/// Whether the run waits for a call that it does not make, because it was stopped before `step` returned the
/// call.
fn is_not_made(run: &ilo_vm::Run, given: u64) -> bool {
    run.waiting().is_some_and(|call| call.is_cancelled() && call.number() != given)
}

fn given_away(py: Python<'_>) -> PyErr {
    raise(py, "NotWaiting", ("the run is driven by `program.run`",))
}

#[pymethods]
impl Run {
    /// Continues to the next call or the end. A waiting call is returned again, and so is the outcome. After
    /// `stop`, only calls of rollbacks are returned.
    fn step(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let given = self.given;
        let run = self.own(py)?;
        advance(py, run)?;
        while is_not_made(run, given) {
            // A failure that exceeds a limit has ended the run, which the next step returns.
            if let Some(call) = run.pending() {
                drop(call.fail(CANCELLED));
            }
            advance(py, run)?;
        }
        if let Some(call) = waiting(py, run)? {
            self.given = call.number;
            return Ok(Py::new(py, call)?.into_any());
        }
        match run.outcome() {
            Some(found) => outcome(py, run, found, None),
            None => Ok(py.None()),
        }
    }

    /// Answers the waiting call.
    ///
    /// # Errors `ilo.NotWaiting` where none does; `ilo.BadValue` for what the language has no value for: the
    /// call still waits then.
    fn answer(&mut self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.settle(py, value, false)
    }

    /// Fails the waiting call, with a text or another value that the program gets.
    ///
    /// # Errors
    /// Those of `answer`.
    fn fail(&mut self, py: Python<'_>, failure: &Bound<'_, PyAny>) -> PyResult<()> {
        self.settle(py, failure, true)
    }

    /// Records that the waiting call is made now and may change something. If its answer never comes, the
    /// outcome lists it as not rolled back.
    fn may_change(&mut self, py: Python<'_>) -> PyResult<()> {
        match self.own(py)?.pending() {
            Some(mut call) => {
                call.may_change();
                Ok(())
            }
            None => Err(raise(py, "NotWaiting", ("no call waits for an answer",))),
        }
    }

    /// Cancels the run: the next steps return the calls of its rollbacks, then fault `cancelled`. A waiting
    /// call is still answered.
    fn stop(&mut self, py: Python<'_>) -> PyResult<()> {
        self.own(py)?.cancel();
        Ok(())
    }

    /// The run as bytes, while it waits for the answer to a call. `program.restore` continues from them
    /// anywhere.
    ///
    /// # Errors
    /// `ilo.NotWaiting` where it waits for none.
    fn snapshot<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let run = self.own(py)?;
        let mut bytes = Vec::new();
        run.snapshot(&mut bytes).map_err(|error| raise(py, "NotWaiting", (error.to_string(),)))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// # Errors
    /// `TypeError`: a run needs its program and its limits, which a snapshot leaves out.
    #[allow(clippy::unused_self, reason = "pickle calls it as a method")]
    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a run cannot be pickled: pickle `run.snapshot()`, and continue with `program.restore(snapshot)`",
        ))
    }

    /// The waiting call.
    #[getter]
    fn waiting(&mut self, py: Python<'_>) -> PyResult<Option<Call>> {
        waiting(py, self.own(py)?)
    }

    /// The only function that no other one of the program calls; nothing if there are several.
    #[getter]
    fn function(&mut self, py: Python<'_>) -> PyResult<Option<String>> {
        let program = self.own(py)?.program();
        Ok(program.entry().ok().map(|entry| program.function_name(entry).to_owned()))
    }

    /// The fuel that the run has used.
    #[getter]
    fn fuel(&mut self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.own(py)?.fuel_used())
    }
}
