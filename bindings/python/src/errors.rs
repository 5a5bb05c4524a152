//! The exceptions of the package, which are defined in Python (`ilo/_errors.py`).

use crate::problem::Problem;
use ilo_drive::problem::Problem as Found;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

/// An exception of the package by its name.
pub(crate) fn raise<'py>(py: Python<'py>, name: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let made = || py.import("ilo._errors")?.getattr(name)?.call1(arguments);
    match made() {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// `ilo.StartError` with the problems that prevent a run.
pub(crate) fn cannot_start(py: Python<'_>, problems: Vec<Found>) -> PyErr {
    let problems: Vec<Problem> = problems.into_iter().map(Problem::from).collect();
    raise(py, "StartError", (problems,))
}

/// `ilo.JournalError`.
pub(crate) fn journal_error(py: Python<'_>, error: &ilo_journal::Error) -> PyErr {
    raise(py, "JournalError", (format!("{}; {}", error.message, error.remedy), error.code.as_str()))
}
