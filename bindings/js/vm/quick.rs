//! Runs whose tools answer at once: few calls of the module, each with little data.
//!
//! Only the common calls are made here (`ilo_bindings::wiring`), by the loop in `src/quick.ts`. For anything
//! else, the run is passed as a `Run` to the loop in `src/loop.ts`.

use crate::given::{self, datum};
use crate::outcome::outcome;
use crate::program::Core;
use crate::run::{Run, numbers};
use crate::tools::Catalogue;
use bumpalo::Bump;
use ilo_bindings::limits::bounds;
use ilo_bindings::wiring::Wiring;
use ilo_drive::data::Data;
use ilo_vm::{Limits, Status, Waiting};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;
use wasm_bindgen::prelude::wasm_bindgen;

/// The fuel after which a run that computes for long is passed on.
const SLICE: u64 = 200_000;
/// The most memory of a run that is kept for the next one.
const KEPT: u64 = 64 << 10;

// Results of `go` and `answer` that are not the index of a tool.
/// The run has ended with a value: the text is its fuel and the value.
const VALUE: i32 = -1;
/// The run has ended otherwise: the text is the outcome.
const OUTCOME: i32 = -2;
/// The other loop continues.
const HAND_OVER: i32 = -3;
/// The other loop continues with the answer.
const NOT_TAKEN: i32 = -4;

/// A run in progress.
struct Quick {
    run: ilo_vm::Run,
    limits: Limits,
    wiring: Arc<Wiring>,
    text: String,
    arena: Bump,
    /// Where the program keeps a run for the next one, if this one has the default limits.
    idle: Option<Rc<RefCell<Option<ilo_vm::Run>>>>,
}

// Runs are numbers instead of objects: wasm-bindgen registers objects with the garbage collector, which takes
// longer than a call. A run must be ended by the code that began it.
thread_local! {
    static RUNS: RefCell<Vec<Option<Quick>>> = const { RefCell::new(Vec::new()) };
}

/// Applies a function to a run.
fn with<T>(number: u32, work: impl FnOnce(&mut Quick) -> T) -> Option<T> {
    RUNS.with_borrow_mut(|runs| runs.get_mut(number as usize)?.as_mut().map(work))
}

impl Quick {
    /// Continues to the next call that has to be made.
    fn go(&mut self) -> i32 {
        self.text.clear();
        if self.run.step_within(SLICE).is_none() {
            return HAND_OVER;
        }
        if let Some(call) = self.run.waiting() {
            let Some(wired) = self.wiring.fitting(&call) else { return HAND_OVER };
            // Writing to a string does not fail.
            let _ = call.write_json(&mut self.text);
            let place = i32::try_from(call.tool_index()).unwrap_or(HAND_OVER);
            wired.begins(&mut self.run);
            return place;
        }
        let Some(found) = self.run.outcome() else { return HAND_OVER };
        let left = found.compensation_failures().len() + found.not_rolled_back().len();
        match found.status() {
            Status::Ok(value) if left + found.rolled_back().len() == 0 => {
                let _ = write!(self.text, "{} ", self.run.fuel_used());
                let _ = value.write_json(&mut self.text);
                VALUE
            }
            _ => {
                self.text = outcome(&self.run, found);
                OUTCOME
            }
        }
    }

    /// Takes the answer to the waiting call, if it fits.
    fn answer(&mut self, value: &str) -> bool {
        let Quick { run, limits, wiring, arena, .. } = self;
        arena.reset();
        let Some(datum) = datum(value, &bounds(limits), arena) else { return false };
        let fits = |call: Waiting<'_>| {
            let read = || given::answer(value, limits).unwrap_or(Data::Nil);
            wiring.wired(&call).is_some_and(|wired| wiring.answer_fits(wired, read))
        };
        if !run.waiting().is_some_and(fits) {
            return false;
        }
        if let Some(call) = run.pending() {
            // An answer that exceeds a limit has ended the run with that fault, which the next step returns.
            drop(call.answer(datum));
        }
        true
    }
}

#[wasm_bindgen]
impl Core {
    /// Begins a run, and returns its number.
    pub fn begin(
        &self,
        inputs: &str,
        function: Option<String>,
        limits: Option<String>,
        tools: &Catalogue,
    ) -> Result<u32, String> {
        let wiring = self.wiring(tools);
        let idle = limits.is_none().then(|| Rc::clone(&self.idle));
        let (run, limits) =
            self.started(inputs, function.as_deref(), limits.as_deref(), tools, wiring.is_complete)?;
        let quick = Quick { run, limits, wiring, text: String::new(), arena: Bump::new(), idle };
        Ok(RUNS.with_borrow_mut(|runs| {
            let free = runs.iter().position(Option::is_none).unwrap_or_else(|| {
                runs.push(None);
                runs.len() - 1
            });
            if let Some(place) = runs.get_mut(free) {
                *place = Some(quick);
            }
            u32::try_from(free).unwrap_or(u32::MAX)
        }))
    }
}

/// Continues to the first call. Returns its index in the program's tools; the text has the arguments.
#[wasm_bindgen(js_name = quickGo)]
pub fn go(run: u32) -> i32 {
    with(run, Quick::go).unwrap_or(HAND_OVER)
}

/// Answers the call, and continues to the next one.
#[wasm_bindgen(js_name = quickAnswer)]
pub fn answer(run: u32, value: &str) -> i32 {
    with(run, |quick| if quick.answer(value) { quick.go() } else { NOT_TAKEN }).unwrap_or(HAND_OVER)
}

/// The text of the last step.
#[wasm_bindgen(js_name = quickText)]
pub fn text(run: u32) -> String {
    with(run, |quick| std::mem::take(&mut quick.text)).unwrap_or_default()
}

/// The bounds of an answer: depth, values, bytes.
#[wasm_bindgen(js_name = quickBounds)]
pub fn answer_bounds(run: u32) -> Vec<f64> {
    with(run, |quick| numbers(&bounds(&quick.limits))).unwrap_or_default()
}

/// Ends a run that was not passed on.
#[wasm_bindgen(js_name = quickEnd)]
pub fn end(run: u32) {
    if let Some(Quick { run, idle: Some(idle), .. }) = take(run)
        && run.memory_used() <= KEPT
    {
        idle.replace(Some(run));
    }
}

/// Passes a run on.
#[wasm_bindgen(js_name = quickTake)]
pub fn take_over(run: u32) -> Option<Run> {
    take(run).map(|quick| Run::new(quick.run, quick.limits))
}

fn take(run: u32) -> Option<Quick> {
    RUNS.with_borrow_mut(|runs| runs.get_mut(run as usize)?.take())
}
