//! The limits of a run, from Python: a dict with a key for each limit that differs from its default.

use crate::WORDS;
use ilo_bindings::limits::set;
use ilo_vm::Limits;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

/// The deepest value that this package reads or makes: conversion recurses, and threads may have small
/// stacks.
pub(crate) use ilo_bindings::limits::DEEPEST;

/// Reads the limits of a run.
///
/// # Errors
/// An unknown key, and a value that is not a natural number.
pub(crate) fn limits(given: Option<&Bound<'_, PyDict>>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    for (key, value) in given.into_iter().flatten() {
        // A key that is no text is not the name of a limit either.
        let key = key.str()?.to_string();
        let number = if value.is_instance_of::<PyBool>() { None } else { value.extract::<u64>().ok() };
        let number = number.ok_or_else(|| {
            PyValueError::new_err(format!("limits: `{key}` expects a number from 0 to 2^64 - 1"))
        })?;
        let deep = key == "value_depth";
        set(&mut limits, &key, number, &WORDS)
            .map_err(|why| if deep { PyValueError::new_err(why) } else { PyTypeError::new_err(why) })?;
    }
    Ok(limits)
}
