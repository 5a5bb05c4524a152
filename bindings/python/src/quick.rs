//! Runs whose tools answer at once, without a loop in Python: a call costs little more than the call of the
//! function.
//!
//! Only the common case is done here: tools that need no confirmation, no retries and no look-ahead, and that
//! answer in time with a value that fits. In all other cases the run is passed to the loops in `ilo/_run.py`,
//! with the result of its last call.

use crate::WORDS;
use crate::outcome::outcome;
use crate::program::Core;
use crate::run::{HELD, Run, advance};
use crate::tools::{Callable, Catalogue};
use crate::values::{arguments, datum, owned, unless_it_ends};
use bumpalo::Bump;
use ilo_bindings::limits::bounds;
use ilo_bindings::wiring::{Wired, Wiring};
use ilo_drive::policy::Policies as _;
use ilo_vm::Limits;
use pyo3::IntoPyObjectExt;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use pyo3::types::iterator::PySendResult;
use std::time::{Duration, Instant};

/// The wiring of a program to the tools of one catalogue.
#[derive(Debug)]
pub(crate) struct Calls {
    wiring: Wiring,
    /// Whether the tools are functions without a time limit of their own.
    pub(crate) is_plain: bool,
}

impl Calls {
    /// How a program calls these tools.
    pub(crate) fn new(program: &ilo_vm::Program, tools: &Catalogue) -> Calls {
        let known = &tools.0;
        let waits = |name| {
            let is_async =
                known.own_name(name).and_then(|own| tools.1.get(own)).is_some_and(|own| own.is_async);
            is_async || known.policy(name).is_some_and(|policy| policy.timeout.is_some())
        };
        let is_plain = !program.tools().any(waits);
        Calls { wiring: Wiring::new(program, known, &WORDS), is_plain }
    }

    /// Whether nothing prevents a run.
    pub(crate) fn is_complete(&self) -> bool {
        self.wiring.is_complete
    }

    /// Whether the wiring is to these tools.
    pub(crate) fn is_of(&self, tools: &Catalogue) -> bool {
        self.wiring.is_of(&tools.0)
    }
}

/// The result of a call with which another loop continues.
enum Left<'py> {
    /// It was not made.
    NotMade,
    /// It has this value.
    Value(Bound<'py, PyAny>),
    /// It has raised this exception.
    Raised(PyErr),
    /// It waits: an awaitable that has begun, and the value that it yielded.
    Waits(Bound<'py, PyAny>, Bound<'py, PyAny>),
    /// There was none: a signal has raised this exception while the program computed.
    Stopped(PyErr),
}

/// A run in progress.
struct Quick<'r, 'py> {
    py: Python<'py>,
    run: &'r mut ilo_vm::Run,
    limits: &'r Limits,
    wiring: &'r Wiring,
    tools: &'r Catalogue,
    until: Instant,
    /// Whether it is in an event loop. There, functions run in threads, and calls of read-only tools may
    /// start early; both are for another loop.
    is_async: bool,
    arena: Bump,
}

impl<'py> Quick<'_, 'py> {
    /// Runs as far as possible; nothing if the run has ended.
    fn go(&mut self) -> PyResult<Option<Left<'py>>> {
        loop {
            if !self.is_async {
                if let Err(error) = advance(self.py, self.run) {
                    return Ok(Some(Left::Stopped(error)));
                }
            } else if self.run.step_within(HELD).is_none() {
                // The event loop has other work while the program computes.
                return Ok(Some(Left::NotMade));
            }
            let Some(call) = self.run.waiting() else { return Ok(None) };
            let wired = self.wiring.fitting(&call);
            let own = wired.and_then(|wired| Some((wired, self.tools.1.get(&wired.name)?)));
            let Some((wired, callable)) = own.filter(|(_, own)| own.is_async == self.is_async) else {
                return Ok(Some(Left::NotMade));
            };
            if (wired.read_only && self.is_async) || Instant::now() >= self.until {
                return Ok(Some(Left::NotMade));
            }
            if let Some(left) = self.call(wired, callable)? {
                return Ok(Some(left));
            }
        }
    }

    /// Makes a call and passes its answer to the run; otherwise returns the result of the call.
    fn call(&mut self, wired: &Wired, callable: &Callable) -> PyResult<Option<Left<'py>>> {
        let Some(call) = self.run.waiting() else { return Ok(None) };
        let given = arguments(self.py, &call)?;
        wired.begins(self.run);
        let called = callable.call.bind(self.py).call1((given,));
        let answered =
            if callable.is_async { called.and_then(|found| begin(&found)) } else { called.map(Begun::Value) };
        let value = match answered {
            Ok(Begun::Value(value)) => value,
            Ok(Begun::Waits(call, waits)) => return Ok(Some(Left::Waits(call, waits))),
            // `KeyboardInterrupt` and similar exceptions end the caller, after the rollback.
            Err(error) => return Ok(Some(Left::Raised(error))),
        };
        let bounds = bounds(self.limits);
        self.arena.reset();
        let read = match unless_it_ends(self.py, datum(&value, &bounds, &self.arena)) {
            Ok(read) => read,
            Err(error) => return Ok(Some(Left::Raised(error))),
        };
        let fits = |read| self.wiring.answer_fits(wired, || owned(read));
        match read {
            Ok(read) if Instant::now() < self.until && fits(read) => {
                if let Some(call) = self.run.pending() {
                    // An answer that exceeds a limit has ended the run with that fault.
                    drop(call.answer(read));
                }
                Ok(None)
            }
            _ => Ok(Some(Left::Value(value))),
        }
    }
}

/// An awaitable that has begun.
enum Begun<'py> {
    Value(Bound<'py, PyAny>),
    Waits(Bound<'py, PyAny>, Bound<'py, PyAny>),
}

/// Begins an awaitable. Returns its value if it does not wait.
fn begin<'py>(call: &Bound<'py, PyAny>) -> PyResult<Begun<'py>> {
    let py = call.py();
    if !call.hasattr(intern!(py, "__await__"))? {
        return Ok(Begun::Value(call.clone()));
    }
    let awaited = call.call_method0(intern!(py, "__await__"))?;
    let iterator = awaited.cast::<PyIterator>().map_err(PyErr::from)?;
    Ok(match iterator.send(py.None().bind(py))? {
        PySendResult::Return(value) => Begun::Value(value),
        PySendResult::Next(waits) => Begun::Waits(awaited, waits),
    })
}

/// Drives a run that was started. Returns the outcome; or, for another loop, the run, the result of the call
/// that it waits for (`not made`, `value`, `raised`, `waits`) or that no call waits (`stopped`), and the
/// objects that belong to it.
pub(crate) fn run_quick(
    py: Python<'_>,
    core: &Core,
    (mut run, limits): (ilo_vm::Run, Limits),
    tools: &Catalogue,
    is_async: bool,
    seconds: f64,
) -> PyResult<Py<PyAny>> {
    let calls = core.calls(tools);
    let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let until = Instant::now().checked_add(time).unwrap_or_else(Instant::now);
    let (wiring, arena) = (&calls.wiring, Bump::new());
    let mut quick = Quick { py, run: &mut run, limits: &limits, wiring, tools, until, is_async, arena };
    let left = quick.go()?;
    let Some(left) = left else {
        return run.outcome().map_or_else(|| Ok(py.None()), |found| outcome(py, &run, found, None));
    };
    let run = Run::new(run, limits);
    match left {
        Left::NotMade => (run, "not made").into_py_any(py),
        Left::Value(value) => (run, "value", value).into_py_any(py),
        Left::Raised(error) => (run, "raised", error.into_value(py)).into_py_any(py),
        Left::Stopped(error) => (run, "stopped", error.into_value(py)).into_py_any(py),
        Left::Waits(call, waits) => (run, "waits", call, waits).into_py_any(py),
    }
}
