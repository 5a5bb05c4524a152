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

/// The common part of all outcomes.
#[derive(Debug, Default)]
struct Rest {
    fuel: u64,
    compensation_failures: Vec<(String, Py<PyAny>)>,
    rolled_back: Vec<(String, u64)>,
    not_rolled_back: Vec<(String, String)>,
}

impl Rest {
    fn of(py: Python<'_>, run: &Run, outcome: Outcome<'_>) -> PyResult<Rest> {
        let failed = outcome.compensation_failures();
        let failed = failed.map(|(tool, failure)| Ok((tool.to_owned(), from_view(py, failure)?)));
        let left = outcome.not_rolled_back();
        Ok(Rest {
            fuel: run.fuel_used(),
            compensation_failures: failed.collect::<PyResult<_>>()?,
            rolled_back: outcome.rolled_back().map(|(tool, number)| (tool.to_owned(), number)).collect(),
            not_rolled_back: left.map(|(tool, why)| (tool.to_owned(), why.to_owned())).collect(),
        })
    }
}

impl Rest {
    fn copied(&self, py: Python<'_>) -> Rest {
        let failures = self.compensation_failures.iter();
        Rest {
            fuel: self.fuel,
            compensation_failures: failures.map(|(tool, why)| (tool.clone(), why.clone_ref(py))).collect(),
            rolled_back: self.rolled_back.clone(),
            not_rolled_back: self.not_rolled_back.clone(),
        }
    }
}

impl Rest {
    /// Reads an outcome from JSON.
    fn stored(py: Python<'_>, found: &Data) -> PyResult<Rest> {
        let mut rest = Rest::default();
        for entry in items(found.get("compensation_failures")) {
            let error = entry.get("error").map_or_else(|| Ok(py.None()), |error| from_data(py, error))?;
            rest.compensation_failures.push((text(entry.get("tool")), error));
        }
        for entry in items(found.get("rolled_back")) {
            if let Some(Data::Number(Number::Int(number))) = entry.get("number") {
                let number = u64::try_from(*number).unwrap_or(0);
                rest.rolled_back.push((text(entry.get("tool")), number));
            }
        }
        for entry in items(found.get("not_rolled_back")) {
            rest.not_rolled_back.push((text(entry.get("tool")), text(entry.get("why"))));
        }
        Ok(rest)
    }
}

impl Rest {
    /// The outcome as JSON, in the form of `ilo-vm run`: exact to the digit.
    fn to_json(&self, py: Python<'_>, mut head: Vec<(String, Data)>) -> PyResult<String> {
        let named = |name: &str, value: Data| (name.to_owned(), value);
        let failed = self.compensation_failures.iter().map(|(tool, error)| {
            let error = exact(error.bind(py))?;
            Ok(Data::Record(vec![named("tool", Data::from(tool.as_str())), named("error", error)].into()))
        });
        let failed = failed.collect::<PyResult<Vec<_>>>()?;
        let number = |number: &u64| Data::Number(Number::Int(i64::try_from(*number).unwrap_or(i64::MAX)));
        let back = self.rolled_back.iter().map(|(tool, call)| {
            Data::Record(vec![named("tool", Data::from(tool.as_str())), named("number", number(call))].into())
        });
        let left = self.not_rolled_back.iter().map(|(tool, why)| {
            Data::Record(
                vec![named("tool", Data::from(tool.as_str())), named("why", Data::from(why.as_str()))].into(),
            )
        });
        let lists = [
            ("compensation_failures", failed),
            ("rolled_back", back.collect()),
            ("not_rolled_back", left.collect()),
        ];
        let lists = lists.into_iter().filter(|(_, items)| !items.is_empty());
        head.extend(lists.map(|(name, items)| named(name, Data::List(items.into()))));
        Ok(Data::Record(head.into()).to_json())
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
                self.rest.to_json(py, self.head(py)?)
            }

            /// Its JSON, and what that leaves out.
            fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String, u64, u32))> {
                let make = py.import("ilo._ilo")?.getattr("restored")?.unbind();
                Ok((make, (self.to_json(py)?, self.rest.fuel, self.counted())))
            }

            /// The fuel that the run has used.
            #[getter]
            fn fuel(&self) -> u64 {
                self.rest.fuel
            }

            /// The failed rollbacks: the tool, and its failure.
            #[getter]
            fn compensation_failures(&self, py: Python<'_>) -> Vec<(String, Py<PyAny>)> {
                let all = self.rest.compensation_failures.iter();
                all.map(|(tool, failure)| (tool.clone(), failure.clone_ref(py))).collect()
            }

            /// The rollbacks: the tool, and the number of its call.
            #[getter]
            fn rolled_back(&self) -> Vec<(String, u64)> {
                self.rest.rolled_back.clone()
            }

            /// The calls that may have changed something and that nothing undid: the tool, and why.
            #[getter]
            fn not_rolled_back(&self) -> Vec<(String, String)> {
                self.rest.not_rolled_back.clone()
            }
        }
    };
}

impl OkOutcome {
    #[allow(clippy::unused_self, reason = "as that of a fault")]
    fn counted(&self) -> u32 {
        0
    }

    fn head(&self, py: Python<'_>) -> PyResult<Vec<(String, Data)>> {
        Ok(vec![("status".into(), Data::from("ok")), ("value".into(), exact(self.value.bind(py))?)])
    }
}

impl ErrOutcome {
    #[allow(clippy::unused_self, reason = "as that of a fault")]
    fn counted(&self) -> u32 {
        0
    }

    fn head(&self, py: Python<'_>) -> PyResult<Vec<(String, Data)>> {
        Ok(vec![("status".into(), Data::from("err")), ("error".into(), exact(self.error.bind(py))?)])
    }
}

impl FaultOutcome {
    fn counted(&self) -> u32 {
        self.instruction
    }

    #[allow(clippy::unnecessary_wraps, reason = "as those of the other outcomes")]
    fn head(&self, _py: Python<'_>) -> PyResult<Vec<(String, Data)>> {
        let number = |number: u32| Data::Number(Number::Int(number.into()));
        let mut at = vec![("function".into(), Data::from(self.function.as_str()))];
        match self.position {
            Some((line, column)) => {
                at.extend([("line".into(), number(line)), ("column".into(), number(column))]);
            }
            None => at.push(("instruction".into(), number(self.instruction))),
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
    fn _with(&self, py: Python<'_>, value: Py<PyAny>) -> OkOutcome {
        OkOutcome { value, rest: self.rest.copied(py) }
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
    instruction: u32,
    rest: Rest,
}

outcome! { FaultOutcome {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("code", "message");

    #[new]
    fn new(code: String, message: String) -> FaultOutcome {
        let (function, rest) = (String::new(), Rest::default());
        FaultOutcome { code, message, function, position: None, instruction: 0, rest }
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
        self.instruction
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
    let rest = Rest::of(py, run, outcome)?;
    Ok(match outcome.status() {
        Status::Ok(value) => {
            let value = typed.map_or_else(|| from_view(py, value), |typed| Ok(typed.clone_ref(py)))?;
            Py::new(py, OkOutcome { value, rest })?.into_any()
        }
        Status::Err(error) => Py::new(py, ErrOutcome { error: from_view(py, error)?, rest })?.into_any(),
        Status::Fault(fault) => {
            let fault = FaultOutcome {
                code: fault.code.to_string(),
                message: fault.message.clone(),
                function: fault.function.clone(),
                position: fault.position,
                instruction: fault.pc,
                rest,
            };
            Py::new(py, fault)?.into_any()
        }
    })
}

/// An outcome that was pickled.
#[pyfunction]
pub(crate) fn restored(py: Python<'_>, json: &str, fuel: u64, instruction: u32) -> PyResult<Py<PyAny>> {
    stored_with(py, json.as_bytes(), fuel, instruction)
}

/// An outcome that a journal has stored as JSON. The fuel is not stored; it is 0.
pub(crate) fn stored(py: Python<'_>, json: &[u8]) -> PyResult<Py<PyAny>> {
    stored_with(py, json, 0, 0)
}

fn stored_with(py: Python<'_>, json: &[u8], fuel: u64, instruction: u32) -> PyResult<Py<PyAny>> {
    let bounds = Bounds { depth: DEEPEST + OUTER, ..input_bounds() };
    let found = read(json, &bounds)
        .map_err(|error| PyValueError::new_err(format!("the outcome in the journal: {error}")))?;
    let rest = Rest { fuel, ..Rest::stored(py, &found)? };
    let value = |name: &str| found.get(name).map_or_else(|| Ok(py.None()), |value| from_data(py, value));
    match found.get("status") {
        Some(Data::Text(status)) if status == "ok" => {
            Py::new(py, OkOutcome { value: value("value")?, rest }).map(Py::into_any)
        }
        Some(Data::Text(status)) if status == "err" => {
            Py::new(py, ErrOutcome { error: value("error")?, rest }).map(Py::into_any)
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
                instruction: number("instruction").unwrap_or(instruction),
                rest,
            };
            Py::new(py, fault).map(Py::into_any)
        }
    }
}

fn text(value: Option<&Data>) -> String {
    match value {
        Some(Data::Text(text)) => text.clone(),
        _ => String::new(),
    }
}

fn items(value: Option<&Data>) -> &[Data] {
    match value {
        Some(Data::List(items)) => items,
        _ => &[],
    }
}
