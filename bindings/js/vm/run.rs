//! A run, step by step: each step ends with a call that waits for its answer, or with the outcome.

use crate::given::{answer, datum, past};
use crate::outcome::{outcome, waiting};
use crate::thrown::{bad_value, not_waiting};
use crate::tools::Catalogue;
use bumpalo::Bump;
use ilo_bindings::limits::bounds;
use ilo_drive::data::Data;
use ilo_drive::data::read::Bounds;
use ilo_drive::failure::Failure;
use ilo_drive::lifecycle::CANCELLED;
use ilo_drive::plan::changed;
use ilo_vm::{Call, Datum, Limits};
use wasm_bindgen::prelude::wasm_bindgen;

/// A run.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Run {
    pub(crate) inner: ilo_vm::Run,
    pub(crate) limits: Limits,
    /// The number of the last call that `step` gave.
    given: u64,
}

impl Run {
    pub(crate) fn new(run: ilo_vm::Run, limits: Limits) -> Run {
        Run { inner: run, limits, given: 0 }
    }

    /// Whether the run waits for a call that it does not make, because it was stopped before `step` returned
    /// the call.
    fn is_not_made(&self) -> bool {
        self.inner.waiting().is_some_and(|call| call.is_cancelled() && call.number() != self.given)
    }

    /// Passes a result to the waiting call.
    fn settle(&mut self, value: &str, failed: bool) -> Result<(), String> {
        let Some(call) = self.inner.pending() else { return Err(nothing_waits()) };
        // An answer that exceeds a limit has ended the run with that fault, which the next step returns.
        let give = |call: Call<'_>, value: Datum<'_>| {
            drop(if failed { call.fail_with(value) } else { call.answer(value) });
        };
        let arena = Bump::new();
        if let Some(value) = datum(value, &bounds(&self.limits), &arena) {
            give(call, value);
            return Ok(());
        }
        match answer(value, &self.limits) {
            Ok(value) => value.with_datum(|value| give(call, value)),
            Err(Failure::Limit(code, message)) => call.refuse_answer(code, &message),
            Err(failure) => {
                let value = failure.value();
                let message = match &value {
                    Some(Data::Text(message)) => message.as_str(),
                    _ => "",
                };
                return Err(bad_value(message));
            }
        }
        Ok(())
    }
}

#[wasm_bindgen]
impl Run {
    /// The only function that no other one of the program calls; nothing if there are several.
    pub fn name(&self) -> Option<String> {
        let program = self.inner.program();
        program.entry().ok().map(|entry| program.function_name(entry).to_owned())
    }

    /// Continues within this fuel. Returns the waiting call or the outcome; nothing if there is more to
    /// compute.
    pub fn step(&mut self, fuel: u32) -> Option<String> {
        self.inner.step_within(u64::from(fuel))?;
        while self.is_not_made() {
            // A failure that exceeds a limit has ended the run, which the next step returns.
            if let Some(call) = self.inner.pending() {
                drop(call.fail(CANCELLED));
            }
            self.inner.step_within(u64::from(fuel))?;
        }
        if let Some(call) = self.inner.waiting() {
            self.given = call.number();
            return waiting(&self.inner);
        }
        self.inner.outcome().map(|found| outcome(&self.inner, found))
    }

    /// Answers the waiting call.
    pub fn answer(&mut self, value: &str) -> Result<(), String> {
        self.settle(value, false)
    }

    /// Fails the waiting call.
    pub fn fail(&mut self, failure: &str) -> Result<(), String> {
        self.settle(failure, true)
    }

    /// Ends the run because an answer exceeds a bound: depth 0, values 1, bytes 2.
    pub fn refuse(&mut self, bound: u8) -> Result<(), String> {
        let Some(call) = self.inner.pending() else { return Err(nothing_waits()) };
        if let Failure::Limit(code, message) = past(bound, &self.limits) {
            call.refuse_answer(code, &message);
        }
        Ok(())
    }

    /// Records that the waiting call is made now and may change something.
    #[wasm_bindgen(js_name = mayChange)]
    pub fn may_change(&mut self) -> Result<(), String> {
        let call = self.inner.pending();
        call.map(|mut call| call.may_change()).ok_or_else(nothing_waits)
    }

    /// Cancels the run: the next steps return the calls of its rollbacks, then fault `cancelled`.
    pub fn stop(&mut self) {
        self.inner.cancel();
    }

    /// The run as bytes, while it waits for the answer to a call.
    pub fn snapshot(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        self.inner.snapshot(&mut bytes).map_err(|error| not_waiting(&error.to_string()))?;
        Ok(bytes)
    }

    /// What no longer fits of the calls that the run has not made yet, compared with the signatures with
    /// which it was started. `is_made`: whether the call at which it waits may have been made.
    pub fn misfit(&self, tools: &Catalogue, stored: &str, is_made: bool) -> Option<String> {
        let misfits = changed::misfits(&self.inner, stored, is_made, &|name| tools.known()?.tool(name));
        misfits.first().map(ToString::to_string)
    }

    /// The waiting call.
    pub fn waiting(&self) -> Option<String> {
        waiting(&self.inner)
    }

    /// The fuel that the run has used.
    pub fn fuel(&self) -> f64 {
        whole(self.inner.fuel_used())
    }

    /// The bounds of an answer: depth, values, bytes.
    pub fn bounds(&self) -> Vec<f64> {
        numbers(&bounds(&self.limits))
    }
}

fn nothing_waits() -> String {
    not_waiting("no call waits for an answer")
}

/// The bounds of an answer: depth, values, bytes.
pub(crate) fn numbers(bounds: &Bounds) -> Vec<f64> {
    [bounds.depth, bounds.values, bounds.bytes].iter().map(|&bound| whole(bound as u64)).collect()
}

/// A whole number for JavaScript: exact up to 2^53, which no run reaches.
pub(crate) fn whole(number: u64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a number of JavaScript is a double")]
    let double = number as f64;
    double
}
