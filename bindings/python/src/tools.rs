//! The tools of a run: their signatures and policies. The functions themselves stay in Python.

use crate::values::data;
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_bindings::known::{self, Known};
use ilo_bindings::limits::bounds;
use ilo_drive::policy::{OnDoubt, Policy};
use ilo_drive::validate::expected::Expects;
use ilo_vm::Limits;
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// The policy of a tool from Python: name, `read_only`, `idempotent`, `retries`, `confirm`, seconds, what
/// follows a call without an answer, whether each call needs a ROLLBACK.
type Given = (String, bool, bool, u32, bool, Option<f64>, String, bool);

/// The callable of a tool, which takes the arguments as a dict.
#[derive(Debug)]
pub(crate) struct Callable {
    pub(crate) call: Py<PyAny>,
    pub(crate) is_async: bool,
}

/// Signatures and policies of tools, and their callables.
#[pyclass(frozen, module = "ilo._ilo")]
#[derive(Debug)]
pub(crate) struct Catalogue(pub(crate) Arc<Known>, pub(crate) HashMap<String, Callable>);

#[pymethods]
impl Catalogue {
    /// Reads a catalogue in MCP's form, and for each tool its policy, its callable, and whether that is
    /// async.
    #[new]
    fn new(json: &str, policies: Vec<Given>, calls: Vec<(String, Py<PyAny>, bool)>) -> PyResult<Catalogue> {
        let catalog =
            Catalog::from_json(json).map_err(|error| PyValueError::new_err(format!("tools: {error}")))?;
        let policies = policies.into_iter().map(policy).collect::<PyResult<_>>()?;
        let calls = calls.into_iter().map(|(name, call, is_async)| (name, Callable { call, is_async }));
        Ok(Catalogue(Arc::new(Known { catalog, policies }), calls.collect()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.1.values().try_for_each(|found| visit.call(&found.call))
    }

    /// The own name of the tool that a program calls by this name.
    fn own_name(&self, name: &str) -> Option<&str> {
        self.0.own_name(name)
    }

    /// Why an answer from outside does not fit the tool that a program calls by this name.
    fn misfit(&self, py: Python<'_>, tool: &str, answer: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let answer = data(answer, &bounds(&Limits::default()));
        let answer = answer.map_err(|unfit| unfit.into_error(py, "the answer"))?;
        let expects = self.0.tool(tool).and_then(Expects::of);
        Ok(expects.and_then(|expects| expects.misfit(&answer)))
    }

    /// The signatures of the tools, for a model.
    fn signatures(&self) -> Vec<String> {
        self.0.catalog.tools().iter().map(ToolSignature::signature).collect()
    }
}

fn policy(given: Given) -> PyResult<(String, Policy)> {
    let (name, read_only, idempotent, retries, confirm, seconds, on_doubt, requires_rollback) = given;
    let on_doubt = match on_doubt.as_str() {
        "ask" => OnDoubt::Ask,
        "stop" => OnDoubt::Stop,
        _ => OnDoubt::Fail,
    };
    let given =
        Policy { read_only, idempotent, retries, confirm, on_doubt, requires_rollback, ..Policy::default() };
    let policy = known::policy(&name, given, seconds).map_err(PyValueError::new_err)?;
    Ok((name, policy))
}
