//! A problem with an input, a tool or a snapshot, as data.

use ilo_drive::problem::Problem as Found;
use pyo3::prelude::*;

/// One problem that prevents a run.
#[pyclass(frozen, get_all, module = "ilo", name = "Problem")]
#[derive(Debug)]
pub(crate) struct Problem {
    /// The stable code.
    code: String,
    /// The input or the tool; empty for other problems.
    place: String,
    /// The message: expected, found, and the fix.
    message: String,
    text: String,
}

impl From<Found> for Problem {
    fn from(found: Found) -> Problem {
        let text = found.to_string();
        Problem { code: found.code.as_str().to_owned(), place: found.place, message: found.message, text }
    }
}

#[pymethods]
impl Problem {
    /// One that was pickled.
    #[new]
    fn new(code: String, place: String, message: String, text: String) -> Problem {
        Problem { code, place, message, text }
    }

    fn __reduce__(&self, py: Python<'_>) -> (Py<PyAny>, (String, String, String, String)) {
        let make = py.get_type::<Problem>().into_any().unbind();
        (make, (self.code.clone(), self.place.clone(), self.message.clone(), self.text.clone()))
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<ilo.Problem {}>", self.text)
    }
}
