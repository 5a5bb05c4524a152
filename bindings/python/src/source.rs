//! Sources: checking, building, fixing, converting, laying out, drawing; cards and explanations.

use crate::WORDS;
use crate::diagnostic::{Diagnostic, all};
use crate::program::Core;
use crate::tools::Catalogue;
use ilo_asm::notation::Notation;
use ilo_bindings::source::{self, Expected, Work};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// Finds a notation by its name.
fn notation(name: Option<&str>) -> PyResult<Option<Notation>> {
    name.map(|name| name.parse().map_err(PyValueError::new_err)).transpose()
}

/// Does work on a source without the interpreter's lock.
fn work<T: Send>(
    py: Python<'_>,
    source: &str,
    tools: Option<&Bound<'_, Catalogue>>,
    from: Option<&str>,
    make: impl Send + FnOnce(&Work<'_>) -> T,
) -> PyResult<T> {
    let (from, tools) = (notation(from)?, tools.map(|tools| Arc::clone(&tools.get().0)));
    Ok(py.detach(|| make(&Work { tools: tools.as_deref(), ..Work::new(source, from, &WORDS) })))
}

/// Reads what a host expects of a program: its signature, and the JSON Schema of its value.
fn expected(signature: Option<&str>, output: Option<&str>, strict: bool) -> PyResult<Expected> {
    Expected::read(signature, output, strict).map_err(PyValueError::new_err)
}

/// Builds a source. Returns the program if there is no error, and the diagnostics.
#[pyfunction]
#[pyo3(signature = (source, tools, notation, strip, signature=None, output=None, strict=false))]
#[allow(clippy::too_many_arguments, reason = "those of Python's function")]
pub(crate) fn build(
    py: Python<'_>,
    source: &str,
    tools: Option<&Bound<'_, Catalogue>>,
    notation: Option<&str>,
    strip: bool,
    signature: Option<&str>,
    output: Option<&str>,
    strict: bool,
) -> PyResult<(Option<Core>, Vec<Diagnostic>)> {
    let expected = expected(signature, output, strict)?;
    let built = work(py, source, tools, notation, |work| {
        let (program, found) = Work { strip, expected: Some(&expected), ..*work }.build()?;
        Ok::<_, String>((program, all(source, &found)))
    })?;
    let (program, found) = built.map_err(PyValueError::new_err)?;
    Ok((program.map(Core::new), found))
}

/// Applies every unambiguous fix. Returns the new source, the number of fixes, and the remaining diagnostics.
#[pyfunction]
#[pyo3(signature = (source, tools, notation, signature=None, output=None, strict=false))]
pub(crate) fn fix(
    py: Python<'_>,
    source: &str,
    tools: Option<&Bound<'_, Catalogue>>,
    notation: Option<&str>,
    signature: Option<&str>,
    output: Option<&str>,
    strict: bool,
) -> PyResult<(String, usize, Vec<Diagnostic>)> {
    let expected = expected(signature, output, strict)?;
    work(py, source, tools, notation, |work| {
        let (text, fixed, left) = Work { expected: Some(&expected), ..*work }.fix();
        let left = all(&text, &left);
        (text, fixed, left)
    })
}

/// A result of work on a source, and the diagnostics. A source with an error has no result.
type Made = (Option<String>, Vec<Diagnostic>);

fn made(
    py: Python<'_>,
    source: &str,
    from: Option<&str>,
    make: impl Send + FnOnce(&Work<'_>) -> source::Made,
) -> PyResult<Made> {
    work(py, source, None, from, |work| {
        let (text, found) = make(work);
        (text, all(source, &found))
    })
}

/// A source in another notation.
#[pyfunction]
#[pyo3(signature = (source, to, notation))]
pub(crate) fn convert(py: Python<'_>, source: &str, to: &str, notation: Option<&str>) -> PyResult<Made> {
    let to: Notation = to.parse().map_err(PyValueError::new_err)?;
    made(py, source, notation, |work| work.convert(to))
}

/// A drawing of a source.
#[pyfunction]
#[pyo3(signature = (source, form, notation))]
pub(crate) fn graph(py: Python<'_>, source: &str, form: &str, notation: Option<&str>) -> PyResult<Made> {
    let form: ilo_graph::Format = form.parse().map_err(PyValueError::new_err)?;
    made(py, source, notation, |work| work.graph(form))
}

/// A source in its canonical layout.
#[pyfunction]
#[pyo3(name = "format", signature = (source, notation))]
pub(crate) fn layout(py: Python<'_>, source: &str, notation: Option<&str>) -> PyResult<Made> {
    #[allow(clippy::redundant_closure_for_method_calls, reason = "the method has one lifetime")]
    made(py, source, notation, |work| work.layout())
}

/// The detected notation of a source.
#[pyfunction]
pub(crate) fn detect(source: &str) -> Option<String> {
    Notation::detect(source).map(|notation| notation.to_string())
}

/// The card that teaches a model a notation, with the signatures of the tools.
#[pyfunction]
#[pyo3(signature = (notation, tools, signature=None, output=None))]
pub(crate) fn card(
    notation: &str,
    tools: Option<&Bound<'_, Catalogue>>,
    signature: Option<&str>,
    output: Option<&str>,
) -> PyResult<String> {
    let notation: Notation = notation.parse().map_err(PyValueError::new_err)?;
    let expected = expected(signature, output, false)?;
    Ok(source::card(notation, tools.map(|tools| &*tools.get().0), &expected))
}

/// The explanation of an error code.
///
/// # Errors
/// `ValueError` for a code that does not exist, with the nearest one.
#[pyfunction]
pub(crate) fn explain(code: &str) -> PyResult<&'static str> {
    source::explain(code).map_err(PyValueError::new_err)
}
