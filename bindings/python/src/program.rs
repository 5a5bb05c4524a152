//! A verified program: its functions and tools, its plan, and starting and restoring runs of it.

use crate::WORDS;
use crate::errors::{cannot_start, raise};
use crate::limits::limits;
use crate::quick::{Calls, run_quick};
use crate::run::Run;
use crate::tools::Catalogue;
use crate::values::{data, datum};
use bumpalo::Bump;
use ilo_asm::disasm::disassemble;
use ilo_bindings::known::Known;
use ilo_bindings::limits::input_bounds;
use ilo_bindings::start::{function as function_of, missing, problems};
use ilo_drive::data::{Data, Fields};
use ilo_drive::input::filled;
use ilo_drive::lifecycle;
use ilo_drive::plan::{self, Planned};
use ilo_vm::{Datum, FunctionId, Limits, Program};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Arc, Mutex, PoisonError};

/// A verified program.
#[pyclass(frozen, module = "ilo._ilo", name = "Core")]
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) program: Program,
    /// The wiring for the tools of the last run.
    calls: Mutex<Option<Arc<Calls>>>,
}

impl Core {
    pub(crate) fn new(program: Program) -> Core {
        Core { program, calls: Mutex::new(None) }
    }

    /// The wiring of the program to these tools.
    pub(crate) fn calls(&self, tools: &Catalogue) -> Arc<Calls> {
        let mut kept = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(calls) = kept.as_ref().filter(|calls| calls.is_of(tools)) {
            return Arc::clone(calls);
        }
        let calls = Arc::new(Calls::new(&self.program, tools));
        Arc::clone(kept.insert(calls))
    }
}

/// Reads a packed program.
///
/// # Errors
/// `ValueError` for bytes that are no valid program.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, packed: &[u8]) -> PyResult<Core> {
    let program = py.detach(|| Program::load(packed));
    program.map(Core::new).map_err(|error| PyValueError::new_err(format!("{}: {error}", error.code())))
}

impl Core {
    /// A run before its first step, its function, and its input.
    pub(crate) fn begin(
        &self,
        py: Python<'_>,
        inputs: Option<&Bound<'_, PyAny>>,
        function: Option<&str>,
        limits: &Limits,
        tools: Option<&Bound<'_, Catalogue>>,
    ) -> PyResult<(ilo_vm::Run, FunctionId, Data)> {
        let input = match inputs {
            Some(inputs) => {
                data(inputs, &input_bounds()).map_err(|unfit| unfit.into_error(py, "the input"))?
            }
            None => Data::Record(Fields::new()),
        };
        let refused = |problems| cannot_start(py, problems);
        let function =
            function_of(&self.program, function, &WORDS).map_err(|problem| refused(vec![problem]))?;
        let known = tools.map(|tools| &*tools.get().0);
        let problems = problems(&self.program, function, &input, known, &WORDS);
        if !problems.is_empty() {
            return Err(refused(problems));
        }
        let input = filled(&self.program.inputs(function).collect::<Vec<_>>(), input);
        let mut run = ilo_vm::Run::new(&self.program, limits.clone());
        lifecycle::start(&mut run, function, &input).map_err(|problem| refused(vec![problem]))?;
        Ok((run, function, input))
    }
}

impl Core {
    /// As `begin`, if nothing prevents the run.
    fn begin_quick(
        &self,
        inputs: Option<&Bound<'_, PyAny>>,
        function: Option<&str>,
        limits: &Limits,
        tools: &Bound<'_, Catalogue>,
    ) -> Option<ilo_vm::Run> {
        if !self.calls(tools.get()).is_complete() {
            return None;
        }
        let function = function_of(&self.program, function, &WORDS).ok()?;
        let (arena, none) = (Bump::new(), Datum::Record(&[]));
        let input = inputs.map_or(Some(none), |inputs| datum(inputs, &input_bounds(), &arena).ok())?;
        let Datum::Record(fields) = input else { return None };
        let mut run = ilo_vm::Run::new(&self.program, limits.clone());
        run.start_named(function, fields).ok()?;
        Some(run)
    }
}

#[pymethods]
impl Core {
    /// The program, packed.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.program.to_bytes())
    }

    /// The tools that the program may call.
    #[getter]
    fn tools(&self) -> Vec<String> {
        self.program.tools().map(str::to_owned).collect()
    }

    /// The functions: the name, and the name and type of each parameter.
    #[getter]
    fn functions(&self) -> Vec<(String, Vec<(String, String)>)> {
        let parameters =
            |id| self.program.inputs(id).map(|it| (it.name.to_owned(), it.written().to_string()));
        let all =
            self.program.spec().functions.iter().filter_map(|f| self.program.spec().strings.get(f.name));
        let ids = all.filter_map(|name| Some((name.to_owned(), self.program.function(name)?)));
        ids.map(|(name, id)| (name, parameters(id).collect())).collect()
    }

    /// A listing of the bytecode.
    fn disassemble(&self) -> String {
        disassemble(self.program.spec())
    }

    /// The plan of a run: for each tool its name, the most calls, and the calls that nothing rolls back.
    #[pyo3(signature = (tools, function))]
    fn plan(
        &self,
        py: Python<'_>,
        tools: Option<&Bound<'_, Catalogue>>,
        function: Option<&str>,
    ) -> PyResult<(String, Vec<PlannedCalls>)> {
        let none = Known::default();
        let tools = tools.map_or(&none, |tools| &tools.get().0);
        let made =
            py.detach(|| plan::plan(&self.program, function_of(&self.program, function, &WORDS)?, tools));
        let plan = made.map_err(|problem| cannot_start(py, vec![problem]))?;
        Ok((plan.function, plan.calls.into_iter().map(PlannedCalls::from).collect()))
    }

    /// Starts a run, which waits for its first step.
    ///
    /// # Errors
    /// `ilo.StartError` with everything that is in its way.
    #[pyo3(signature = (inputs, function, limits, tools))]
    fn start(
        &self,
        py: Python<'_>,
        inputs: Option<&Bound<'_, PyAny>>,
        function: Option<&str>,
        limits: Option<&Bound<'_, PyDict>>,
        tools: Option<&Bound<'_, Catalogue>>,
    ) -> PyResult<Run> {
        let limits = self::limits(limits)?;
        let (run, _, _) = self.begin(py, inputs, function, &limits, tools)?;
        Ok(Run::new(run, limits))
    }

    /// Whether the tools that the program calls are functions without a time limit of their own.
    fn is_plain(&self, tools: &Bound<'_, Catalogue>) -> bool {
        self.calls(tools.get()).is_plain
    }

    /// Starts a run and drives it as far as its tools answer at once. Returns the outcome; otherwise the run,
    /// the result of the call that it waits for, and the objects that belong to it.
    #[allow(clippy::too_many_arguments, reason = "those of `Program.run`")]
    #[pyo3(signature = (inputs, function, limits, tools, is_async, seconds))]
    fn run_quick(
        &self,
        py: Python<'_>,
        inputs: Option<&Bound<'_, PyAny>>,
        function: Option<&str>,
        limits: Option<&Bound<'_, PyDict>>,
        tools: &Bound<'_, Catalogue>,
        is_async: bool,
        seconds: f64,
    ) -> PyResult<Py<PyAny>> {
        let limits = self::limits(limits)?;
        let run = match self.begin_quick(inputs, function, &limits, tools) {
            Some(run) => run,
            // The problem is reported there.
            None => self.begin(py, inputs, function, &limits, Some(tools))?.0,
        };
        run_quick(py, self, (run, limits), tools.get(), is_async, seconds)
    }

    /// The exception for missing tools that the program may call.
    fn missing_tools(&self, py: Python<'_>, tools: &Bound<'_, Catalogue>) -> Option<Py<PyAny>> {
        let known = &*tools.get().0;
        let problems = missing(&self.program, known, &WORDS);
        (!problems.is_empty()).then(|| cannot_start(py, problems).into_value(py).into_any())
    }

    /// Restores a run from a snapshot. The call at which the snapshot was taken waits for its answer.
    ///
    /// # Errors
    /// `ilo.SnapshotError` for bytes that are no snapshot of this program.
    #[pyo3(signature = (snapshot, limits))]
    fn restore(&self, py: Python<'_>, snapshot: &[u8], limits: Option<&Bound<'_, PyDict>>) -> PyResult<Run> {
        let limits = self::limits(limits)?;
        let restored = py.detach(|| ilo_vm::Run::from_snapshot(&self.program, snapshot, limits.clone()));
        let run = restored.map_err(|error| {
            raise(py, "SnapshotError", (format!("{}: {error}", error.code()), error.code().as_str()))
        })?;
        Ok(Run::new(run, limits))
    }
}

/// The plan for one tool.
#[pyclass(frozen, get_all, module = "ilo", name = "PlannedCalls")]
#[derive(Debug)]
pub(crate) struct PlannedCalls {
    /// The name by which the program calls it.
    tool: String,
    /// The most calls: `1`, or `≤ 2 × len(customers)`.
    most: String,
    /// Whether it changes nothing.
    read_only: bool,
    /// Whether a person is asked before each call.
    confirm: bool,
    /// What follows a crash during a call of a durable run: it is made `again`, or is in `doubt`.
    after_crash: &'static str,
    /// Whether every call of it is a rollback.
    is_rollback: bool,
    /// The tools that undo calls of it.
    entries: Vec<String>,
    /// The lines and columns of calls of it that nothing rolls back.
    without_rollback: Vec<(u32, u32)>,
}

impl From<Planned> for PlannedCalls {
    fn from(found: Planned) -> PlannedCalls {
        PlannedCalls {
            tool: found.tool,
            most: found.most,
            read_only: found.policy.read_only,
            confirm: found.policy.confirm,
            after_crash: found.policy.after_crash(),
            is_rollback: found.is_rollback,
            entries: found.entries,
            without_rollback: found.without.into_iter().filter_map(|place| place.source).collect(),
        }
    }
}

#[pymethods]
impl PlannedCalls {
    fn __repr__(&self) -> String {
        format!("<ilo.PlannedCalls {}: {}>", self.tool, self.most)
    }
}
