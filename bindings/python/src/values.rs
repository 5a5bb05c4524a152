//! Values between Python and the language: JSON's kinds, and tuples as lists.
//!
//! Values that have no form in the language are refused with their path: integers past 64 bits, numbers that
//! are not finite, bytes, objects of classes, keys that are not text, circular values. Recursion is as deep
//! as the limit on the depth of values.

use bumpalo::Bump;
use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, ReadErrorKind};
use ilo_drive::failure::Failure;
use ilo_drive::problem::shortened;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use ilo_vm::{Datum, Kind, View, Waiting};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Characters of a path that are shown in a message.
const SHOWN: usize = 80;

/// The reason why a value of Python has no form in the language.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// It has no form in the language.
    Kind {
        /// The steps of its path, the last one first.
        path: Vec<String>,
        /// The kind of the value.
        found: String,
    },
    /// It exceeds a bound.
    Limit(ReadErrorKind),
    /// Python raised an exception while it was read.
    Raised(PyErr),
}

impl From<PyErr> for Unfit {
    fn from(error: PyErr) -> Unfit {
        Unfit::Raised(error)
    }
}

fn kind(found: impl Into<String>) -> Unfit {
    Unfit::Kind { path: Vec::new(), found: found.into() }
}

impl Unfit {
    /// The message with the path; `what` names the whole value.
    pub(crate) fn message(&self, what: &str) -> String {
        match self {
            Unfit::Kind { path, found } if path.is_empty() => format!("{what} is {found}"),
            Unfit::Kind { path, found } => {
                let path: String = path.iter().rev().map(String::as_str).collect();
                let path = shortened(path.trim_start_matches('.'), SHOWN);
                format!("{what} has {found} at `{path}`")
            }
            Unfit::Limit(kind @ ReadErrorKind::Depth(_)) => format!("{what} is {kind}"),
            Unfit::Limit(kind) => format!("{what} has {kind}"),
            Unfit::Raised(error) => format!("{what} could not be read: {error}"),
        }
    }

    /// The failure of a call: the limit that the answer exceeds, or a text for the program.
    pub(crate) fn into_failure(self) -> Failure {
        let message = self.message("the tool's answer");
        match self {
            Unfit::Limit(ReadErrorKind::Depth(_)) => Failure::Limit(Code::FaultDepth, message),
            Unfit::Limit(_) => Failure::Limit(Code::FaultTooLarge, message),
            Unfit::Kind { .. } | Unfit::Raised(_) => Failure::text(message),
        }
    }

    /// The exception `ilo.BadValue`.
    pub(crate) fn into_error(self, py: Python<'_>, what: &str) -> PyErr {
        match self {
            Unfit::Raised(error) => error,
            other => crate::errors::raise(py, "BadValue", (other.message(what),)),
        }
    }
}

/// What Python has raised while a value was read, if it ends the caller, as `KeyboardInterrupt` does. Other
/// exceptions are faults of the value.
///
/// # Errors
/// That exception.
pub(crate) fn unless_it_ends<T>(py: Python<'_>, read: Result<T, Unfit>) -> PyResult<Result<T, Unfit>> {
    match read {
        Err(Unfit::Raised(error)) if !error.is_instance_of::<PyException>(py) => Err(error),
        read => Ok(read),
    }
}

struct Reader<'b, 'a> {
    bounds: &'b Bounds,
    arena: &'a Bump,
    values: usize,
    bytes: usize,
    /// The addresses of the containers around a value, to tell a circular value from a deep one.
    around: Vec<usize>,
}

/// Reads a value of Python for the machine. Its parts are in the arena.
///
/// # Errors
/// A value that has no form in the language, and one that exceeds a bound.
pub(crate) fn datum<'a>(
    value: &Bound<'_, PyAny>,
    bounds: &Bounds,
    arena: &'a Bump,
) -> Result<Datum<'a>, Unfit> {
    Reader { bounds, arena, values: 0, bytes: 0, around: Vec::new() }.read(value)
}

/// Reads a value of Python.
///
/// # Errors
/// Those of [`datum`].
pub(crate) fn data(value: &Bound<'_, PyAny>, bounds: &Bounds) -> Result<Data, Unfit> {
    let arena = Bump::new();
    Ok(owned(datum(value, bounds, &arena)?))
}

/// A copy of a value that was read, so its depth is bounded.
pub(crate) fn owned(value: Datum<'_>) -> Data {
    match value {
        Datum::Bool(value) => Data::Bool(value),
        Datum::Int(value) => Data::Number(Number::Int(value)),
        Datum::Double(value) => Data::Number(Number::Double(value)),
        Datum::Text(text) => Data::Text(text.to_owned()),
        Datum::List(items) => Data::List(items.iter().map(|&item| owned(item)).collect()),
        Datum::Record(fields) => {
            Data::Record(fields.iter().map(|&(name, value)| (name.to_owned(), owned(value))).collect())
        }
        // The reader does not make shaped records.
        Datum::Nil | Datum::Shaped(_) => Data::Nil,
    }
}

impl<'a> Reader<'_, 'a> {
    fn read(&mut self, value: &Bound<'_, PyAny>) -> Result<Datum<'a>, Unfit> {
        self.values += 1;
        if self.values > self.bounds.values {
            return Err(Unfit::Limit(ReadErrorKind::Values(self.bounds.values)));
        }
        if value.is_none() {
            return Ok(Datum::Nil);
        }
        if let Ok(text) = value.cast::<PyString>() {
            return self.text(text).map(Datum::Text);
        }
        if let Ok(value) = value.cast::<PyBool>() {
            return Ok(Datum::Bool(value.is_true()));
        }
        if let Ok(int) = value.cast::<PyInt>() {
            return int.extract::<i64>().map(Datum::Int).map_err(|_| kind("an integer past 64 bits"));
        }
        if let Ok(float) = value.cast::<PyFloat>() {
            let double = float.value();
            return if double.is_finite() {
                Ok(Datum::Double(double))
            } else {
                Err(kind("a number that is not finite"))
            };
        }
        self.container(value)
    }

    fn text(&mut self, text: &Bound<'_, PyString>) -> Result<&'a str, Unfit> {
        let text = text.to_str().map_err(|_| kind("a text with half of a surrogate pair"))?;
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > self.bounds.bytes {
            return Err(Unfit::Limit(ReadErrorKind::Bytes(self.bounds.bytes)));
        }
        Ok(self.arena.alloc_str(text))
    }

    fn container(&mut self, value: &Bound<'_, PyAny>) -> Result<Datum<'a>, Unfit> {
        let inner = if value.cast::<PyDict>().is_ok() {
            Reader::record
        } else if value.cast::<PyList>().is_ok() {
            Reader::list
        } else if value.cast::<PyTuple>().is_ok() {
            Reader::tuple
        } else {
            return self.converted(value);
        };
        let address = value.as_ptr().addr();
        if self.around.len() >= self.bounds.depth {
            return Err(if self.is_circular(address) {
                kind("a value that contains itself")
            } else {
                Unfit::Limit(ReadErrorKind::Depth(self.bounds.depth))
            });
        }
        self.around.push(address);
        let read = inner(self, value);
        self.around.pop();
        read
    }

    /// Reads the JSON form of a model, a dataclass, a time or the like.
    fn converted(&mut self, value: &Bound<'_, PyAny>) -> Result<Datum<'a>, Unfit> {
        let plain = value.py().import("ilo._values")?.getattr("plain")?.call1((value,))?;
        let is_plain = plain.cast::<PyString>().is_ok()
            || plain.cast::<PyDict>().is_ok()
            || plain.cast::<PyList>().is_ok()
            || plain.cast::<PyInt>().is_ok()
            || plain.cast::<PyFloat>().is_ok();
        if !is_plain {
            return Err(kind(no_value(value)));
        }
        self.values -= 1;
        self.read(&plain)
    }

    /// Whether a container occurs twice among those around the value.
    fn is_circular(&self, address: usize) -> bool {
        let mut all: Vec<usize> = self.around.iter().copied().chain([address]).collect();
        all.sort_unstable();
        all.windows(2).any(|pair| pair[0] == pair[1])
    }

    fn list(&mut self, value: &Bound<'_, PyAny>) -> Result<Datum<'a>, Unfit> {
        let list = value.cast::<PyList>().map_err(PyErr::from)?;
        self.items(list.iter(), list.len())
    }

    fn tuple(&mut self, value: &Bound<'_, PyAny>) -> Result<Datum<'a>, Unfit> {
        let tuple = value.cast::<PyTuple>().map_err(PyErr::from)?;
        self.items(tuple.iter(), tuple.len())
    }

    fn items<'py>(
        &mut self,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
        length: usize,
    ) -> Result<Datum<'a>, Unfit> {
        let mut list = Vec::with_capacity(length.min(self.bounds.values));
        for (place, item) in items.enumerate() {
            list.push(self.read(&item).map_err(|unfit| below(unfit, || format!("[{place}]")))?);
        }
        Ok(Datum::List(self.arena.alloc_slice_copy(&list)))
    }

    fn record(&mut self, value: &Bound<'_, PyAny>) -> Result<Datum<'a>, Unfit> {
        let dict = value.cast::<PyDict>().map_err(PyErr::from)?;
        let mut fields = Vec::with_capacity(dict.len().min(self.bounds.values));
        // A value that is converted by Python, or another thread meanwhile, may change the record.
        let pairs: Vec<_> = dict.iter().collect();
        for (key, value) in pairs {
            let Ok(name) = key.cast::<PyString>() else {
                let shown = key.repr().map_or_else(|_| String::new(), |shown| shown.to_string());
                let shown = shortened(&shown, SHOWN);
                return Err(kind(format!("a record with the key {shown}, which is not a text")));
            };
            let name = self.text(name)?;
            let read = self.read(&value).map_err(|unfit| below(unfit, || format!(".{name}")))?;
            fields.push((name, read));
        }
        Ok(Datum::Record(self.arena.alloc_slice_copy(&fields)))
    }
}

/// Adds a step to the path of an error.
fn below(unfit: Unfit, step: impl FnOnce() -> String) -> Unfit {
    match unfit {
        Unfit::Kind { mut path, found } => {
            path.push(step());
            Unfit::Kind { path, found }
        }
        other => other,
    }
}

/// The kind of a value that has no form in the language.
fn no_value(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    format!("a value of the class `{}`, which has no form in JSON", shortened(&name, SHOWN))
}

/// Converts a number to Python.
fn number(py: Python<'_>, number: Number) -> PyResult<Py<PyAny>> {
    match number {
        Number::Int(int) => int.into_py_any(py),
        Number::Double(double) => double.into_py_any(py),
    }
}

/// Converts a value outside the machine to Python. Its depth is that which its reader allowed.
pub(crate) fn from_data(py: Python<'_>, data: &Data) -> PyResult<Py<PyAny>> {
    Ok(match data {
        Data::Nil => py.None(),
        Data::Bool(value) => value.into_py_any(py)?,
        Data::Number(value) => number(py, *value)?,
        Data::Text(text) => text.as_str().into_py_any(py)?,
        Data::List(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(from_data(py, item)?)?;
            }
            list.into_any().unbind()
        }
        Data::Record(fields) => {
            let dict = PyDict::new(py);
            for (name, value) in fields {
                dict.set_item(name.as_str(), from_data(py, value)?)?;
            }
            dict.into_any().unbind()
        }
    })
}

/// Converts a value of a run to Python. Its depth is bounded by the run's limit.
pub(crate) fn from_view(py: Python<'_>, view: View<'_>) -> PyResult<Py<PyAny>> {
    Ok(match view.kind() {
        Kind::Nil => py.None(),
        Kind::Bool => view.as_bool().into_py_any(py)?,
        Kind::Int | Kind::Double => match view.as_number() {
            Some(found) => number(py, found)?,
            None => py.None(),
        },
        Kind::Text => view.as_text().into_py_any(py)?,
        Kind::List => {
            let list = PyList::empty(py);
            for item in view.items() {
                list.append(from_view(py, item)?)?;
            }
            list.into_any().unbind()
        }
        Kind::Record => {
            let dict = PyDict::new(py);
            for (name, value) in view.fields() {
                dict.set_item(name, from_view(py, value)?)?;
            }
            dict.into_any().unbind()
        }
    })
}

/// The arguments of a call by name.
pub(crate) fn arguments<'py>(py: Python<'py>, call: &Waiting<'_>) -> PyResult<Bound<'py, PyDict>> {
    let arguments = PyDict::new(py);
    for (name, value) in call.arguments() {
        arguments.set_item(name, from_view(py, value)?)?;
    }
    Ok(arguments)
}
