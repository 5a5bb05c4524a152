//! The outcome of a run, which Python can match.

use crate::limits::DEEPEST;
use crate::values::{data, from_data, from_view};
use ilo_bindings::limits::input_bounds;
use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, read};
use ilo_spec::program::Number;
use ilo_vm::{Outcome, Run, Status};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The levels of an outcome above its values.
const OUTER: usize = 4;

/// The lists of what was rolled back and what was not.
const LISTS: [&str; 3] = ["compensation_failures", "rolled_back", "not_rolled_back"];

/// The common part of all outcomes.
#[derive(Clone, Debug, Default)]
struct Rest {
    fuel: u64,
    /// The instruction of a fault.
    instruction: u32,
    /// The [`LISTS`] that are not empty, in the form of `ilo-vm run`.
    lists: Vec<(String, Data)>,
}

impl Rest {
    /// Takes what a stored outcome says.
    fn of(found: &Data, fuel: u64, instruction: u32) -> Rest {
        let list = |name: &str| Some((name.to_owned(), found.get(name)?.clone()));
        Rest { fuel, instruction, lists: LISTS.into_iter().filter_map(list).collect() }
    }

    /// The entries of a list: the tool, and another member.
    fn entries(&self, py: Python<'_>, list: &str, other: &str) -> PyResult<Vec<(String, Py<PyAny>)>> {
        let found = self.lists.iter().find(|(name, _)| name == list).and_then(|(_, list)| list.as_list());
        let entry = |entry: &Data| Ok((text(entry.get("tool")), member(py, entry, other)?));
        found.unwrap_or_default().iter().map(entry).collect()
    }

    /// The outcome as JSON, in the form of `ilo-vm run`: exact to the digit.
    fn to_json(&self, mut head: Vec<(String, Data)>) -> String {
        head.extend_from_slice(&self.lists);
        Data::Record(head.into()).to_json()
    }
}

/// A value of an outcome.
fn exact(value: &Bound<'_, PyAny>) -> PyResult<Data> {
    data(value, &input_bounds()).map_err(|unfit| unfit.into_error(value.py(), "the outcome"))
}

/// The getters that all outcomes share.
macro_rules! outcome {
    ($name:ident { $($own:item)* }) => {
        #[pymethods]
        impl $name {
            $($own)*

            /// The outcome as JSON, in the form of `ilo-vm run`: exact to the digit.
            fn to_json(&self, py: Python<'_>) -> PyResult<String> {
                Ok(self.rest.to_json(self.head(py)?))
            }

            /// Its JSON, and what that leaves out.
            fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String, u64, u32))> {
                let make = py.import("ilo._ilo")?.getattr("restored")?.unbind();
                Ok((make, (self.to_json(py)?, self.rest.fuel, self.rest.instruction)))
            }

            /// The fuel that the run has used.
            #[getter]
            fn fuel(&self) -> u64 {
                self.rest.fuel
            }

            /// The failed rollbacks: the tool, and its failure.
            #[getter]
            fn compensation_failures(&self, py: Python<'_>) -> PyResult<Vec<(String, Py<PyAny>)>> {
                self.rest.entries(py, "compensation_failures", "error")
            }

            /// The rollbacks: the tool, and the number of its call.
            #[getter]
            fn rolled_back(&self, py: Python<'_>) -> PyResult<Vec<(String, Py<PyAny>)>> {
                self.rest.entries(py, "rolled_back", "number")
            }

            /// The calls that may have changed something and that nothing undid: the tool, and why.
            #[getter]
            fn not_rolled_back(&self, py: Python<'_>) -> PyResult<Vec<(String, Py<PyAny>)>> {
                self.rest.entries(py, "not_rolled_back", "why")
            }
        }
    };
}

impl OkOutcome {
    fn head(&self, py: Python<'_>) -> PyResult<Vec<(String, Data)>> {
        Ok(vec![("status".into(), Data::from("ok")), ("value".into(), exact(self.value.bind(py))?)])
    }
}

impl ErrOutcome {
    fn head(&self, py: Python<'_>) -> PyResult<Vec<(String, Data)>> {
        Ok(vec![("status".into(), Data::from("err")), ("error".into(), exact(self.error.bind(py))?)])
    }
}

impl FaultOutcome {
    #[allow(clippy::unnecessary_wraps, reason = "as those of the other outcomes")]
    fn head(&self, _py: Python<'_>) -> PyResult<Vec<(String, Data)>> {
        let number = |number: u32| Data::Number(Number::Int(number.into()));
        let mut at = vec![("function".into(), Data::from(self.function.as_str()))];
        match self.position {
            Some((line, column)) => {
                at.extend([("line".into(), number(line)), ("column".into(), number(column))]);
            }
            None => at.push(("instruction".into(), number(self.rest.instruction))),
        }
        Ok(vec![
            ("status".into(), Data::from("fault")),
            ("code".into(), Data::from(self.code.as_str())),
            ("message".into(), Data::from(self.message.as_str())),
            ("at".into(), Data::Record(at.into())),
        ])
    }
}

/// The run ended with a value.
#[pyclass(frozen, module = "ilo", name = "Ok")]
#[derive(Debug)]
pub(crate) struct OkOutcome {
    value: Py<PyAny>,
    rest: Rest,
}

outcome! { OkOutcome {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str,) = ("value",);

    #[new]
    fn new(value: Py<PyAny>) -> OkOutcome {
        OkOutcome { value, rest: Rest::default() }
    }

    /// `ilo.Ok[T]` in annotations.
    #[classmethod]
    fn __class_getitem__(class: &Bound<'_, PyType>, of: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Ok(class.py().import("types")?.getattr("GenericAlias")?.call1((class, of))?.unbind())
    }

    /// The same with another value: one that a journal has stored, in the form that the host expects.
    fn _with(&self, value: Py<PyAny>) -> OkOutcome {
        OkOutcome { value, rest: self.rest.clone() }
    }

    /// The value.
    #[getter]
    fn value(&self, py: Python<'_>) -> Py<PyAny> {
        self.value.clone_ref(py)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        other.cast::<OkOutcome>().map_or(Ok(false), |other| self.value.bind(py).eq(&other.get().value))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Ok({})", self.value.bind(py).repr()?))
    }
} }

/// The run ended with a failure, in a function whose output type is a result.
#[pyclass(frozen, module = "ilo", name = "Err")]
#[derive(Debug)]
pub(crate) struct ErrOutcome {
    error: Py<PyAny>,
    rest: Rest,
}

outcome! { ErrOutcome {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str,) = ("error",);

    #[new]
    fn new(error: Py<PyAny>) -> ErrOutcome {
        ErrOutcome { error, rest: Rest::default() }
    }

    /// The failure.
    #[getter]
    fn error(&self, py: Python<'_>) -> Py<PyAny> {
        self.error.clone_ref(py)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        other.cast::<ErrOutcome>().map_or(Ok(false), |other| self.error.bind(py).eq(&other.get().error))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Err({})", self.error.bind(py).repr()?))
    }
} }

/// The run ended with a fault, which no program can handle.
#[pyclass(frozen, module = "ilo", name = "Fault")]
#[derive(Debug)]
pub(crate) struct FaultOutcome {
    code: String,
    message: String,
    function: String,
    position: Option<(u32, u32)>,
    rest: Rest,
}

outcome! { FaultOutcome {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("code", "message");

    #[new]
    fn new(code: String, message: String) -> FaultOutcome {
        FaultOutcome { code, message, function: String::new(), position: None, rest: Rest::default() }
    }

    /// The stable code.
    #[getter]
    fn code(&self) -> &str {
        &self.code
    }

    /// The message.
    #[getter]
    fn message(&self) -> &str {
        &self.message
    }

    /// The function in which it happened.
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

    /// The instruction, counted over the whole program.
    #[getter]
    fn instruction(&self) -> u32 {
        self.rest.instruction
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<FaultOutcome>();
        other.is_ok_and(|other| (&self.code, &self.message) == (&other.get().code, &other.get().message))
    }

    fn __repr__(&self) -> String {
        format!("Fault({:?}, {:?})", self.code, self.message)
    }
} }

/// The outcome of a run that has ended. `typed` is its value in the form that the host expects, if it does.
pub(crate) fn outcome(
    py: Python<'_>,
    run: &Run,
    outcome: Outcome<'_>,
    typed: Option<&Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let left = outcome.compensation_failures().len() + outcome.not_rolled_back().len();
    let (fuel, is_clean) = (run.fuel_used(), left + outcome.rolled_back().len() == 0);
    let instruction = match outcome.status() {
        Status::Ok(value) if is_clean => {
            let value = typed.map_or_else(|| from_view(py, value), |typed| Ok(typed.clone_ref(py)))?;
            let rest = Rest { fuel, ..Rest::default() };
            return Py::new(py, OkOutcome { value, rest }).map(Py::into_any);
        }
        Status::Fault(fault) => fault.pc,
        _ => 0,
    };
    let found = restored(py, &outcome.to_string(), fuel, instruction)?;
    match (typed, found.bind(py).cast::<OkOutcome>()) {
        (Some(typed), Ok(found)) => {
            let (value, rest) = (typed.clone_ref(py), found.get().rest.clone());
            Py::new(py, OkOutcome { value, rest }).map(Py::into_any)
        }
        _ => Ok(found),
    }
}

/// An outcome that a journal has stored as JSON. The fuel is not stored; it is 0.
pub(crate) fn stored(py: Python<'_>, json: &[u8]) -> PyResult<Py<PyAny>> {
    restored(py, std::str::from_utf8(json).unwrap_or_default(), 0, 0)
}

/// An outcome from its JSON, and what that leaves out.
#[pyfunction]
pub(crate) fn restored(py: Python<'_>, json: &str, fuel: u64, instruction: u32) -> PyResult<Py<PyAny>> {
    let bounds = Bounds { depth: DEEPEST + OUTER, ..input_bounds() };
    let found = read(json.as_bytes(), &bounds)
        .map_err(|error| PyValueError::new_err(format!("the outcome in the journal: {error}")))?;
    let rest = Rest::of(&found, fuel, instruction);
    match found.get("status").and_then(Data::as_text) {
        Some("ok") => Py::new(py, OkOutcome { value: member(py, &found, "value")?, rest }).map(Py::into_any),
        Some("err") => {
            Py::new(py, ErrOutcome { error: member(py, &found, "error")?, rest }).map(Py::into_any)
        }
        _ => {
            let at = found.get("at");
            let number = |name| match at.and_then(|at| at.get(name)) {
                Some(Data::Number(Number::Int(number))) => u32::try_from(*number).ok(),
                _ => None,
            };
            let fault = FaultOutcome {
                code: text(found.get("code")),
                message: text(found.get("message")),
                function: text(at.and_then(|at| at.get("function"))),
                position: number("line").zip(number("column")),
                rest: Rest { instruction: number("instruction").unwrap_or(instruction), ..rest },
            };
            Py::new(py, fault).map(Py::into_any)
        }
    }
}

fn text(value: Option<&Data>) -> String {
    value.and_then(Data::as_text).unwrap_or_default().to_owned()
}

/// A member of a record; `None` if there is none.
fn member(py: Python<'_>, record: &Data, name: &str) -> PyResult<Py<PyAny>> {
    record.get(name).map_or_else(|| Ok(py.None()), |value| from_data(py, value))
}
