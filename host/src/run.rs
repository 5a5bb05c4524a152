//! Runs a program over a table of tools, within its limits of time and size.
//!
//! The machine takes steps, the tools answer, an observer watches. The run is strictly in order; calls of
//! read-only tools may start early (`ahead`); apart from time, this makes no visible difference. Time is
//! looked at between steps only: the machine's own work is bounded by fuel, and a call by the deadline that
//! it is given.

mod ahead;
mod call_slots;

pub use call_slots::CallSlots;

use crate::data::Data;
use crate::data::read::{Bounds, read};
use crate::input;
use crate::interrupt::Interrupt;
use crate::plan;
use crate::problem::Problem;
use crate::tools::consent::Ask;
use crate::tools::{CallLimits, Failure, OnDoubt, Tools};
use ahead::{Ahead, Timed};
use bumpalo::Bump;
use ilo_spec::error::Code;
use ilo_spec::limits;
use ilo_vm::{Call, Datum, FunctionId, Limits, Outcome, Program, Run, StartError, Step};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The limits of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Those of the machine.
    pub limits: Limits,
    /// The time of the whole run; past it the outcome is fault `timed-out`.
    pub timeout: Duration,
    /// The time of one call, where its tool says nothing else; past it the call fails.
    pub call_timeout: Duration,
    /// What ends the run from outside at once, at its next call or within one: nothing is rolled back, and
    /// there is no outcome.
    pub interrupt: Interrupt,
    /// What cancels the run from outside: a call under way that may change something is awaited, what the
    /// run has done is rolled back, and the outcome is fault `cancelled`.
    pub cancel: Interrupt,
    /// How many calls of read-only tools may be under way at once, in all runs that share this.
    pub slots: CallSlots,
    /// Who asks a person before calls of tools that want it; without one they fail.
    pub ask: Option<Arc<dyn Ask>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            limits: Limits::default(),
            timeout: Duration::from_millis(limits::DEFAULT_RUN_MS),
            call_timeout: Duration::from_millis(limits::DEFAULT_CALL_MS),
            interrupt: Interrupt::default(),
            cancel: Interrupt::default(),
            slots: CallSlots::default(),
            ask: None,
        }
    }
}

/// A call that has ended.
#[derive(Debug)]
pub struct Ended<'c> {
    /// Its number: calls are counted from 0, in the order in which the run makes them.
    pub seq: u64,
    /// Its number within the run, from 1. It stays the same when the run is suspended and goes on, and calls
    /// that were not made have one too.
    pub number: u64,
    /// Whether a ROLLBACK entry makes it.
    pub rollback: bool,
    /// The tool.
    pub tool: &'c str,
    /// The arguments: a record.
    pub arguments: &'c Data,
    /// What came of it.
    pub result: &'c Result<Data, Failure>,
    /// When it was started, from the start of the run on. A call that was started ahead of its turn may have
    /// been so before others with a smaller number.
    pub start: Duration,
    /// How long it took.
    pub duration: Duration,
    /// Whether it was started before the run made it.
    pub ahead: bool,
    /// Whether it may have changed something although the run has no answer of it, and if so, what that did:
    /// the call failed, or the run ended for that reason.
    pub doubt: Option<OnDoubt>,
}

/// Watches the calls of a run.
pub trait Observer {
    /// The run makes a call.
    fn started(&mut self, _seq: u64, _tool: &str) {}
    /// A call has ended, and the run goes on with its answer.
    fn ended(&mut self, _call: &Ended<'_>) {}
    /// A call of a read-only tool is started before the run makes it.
    fn ahead(&mut self, _tool: &str) {}
    /// The run will not make a call that was started ahead, or not now: its answer is dropped.
    fn untaken(&mut self, _tool: &str) {}
}

/// Watches nothing.
impl Observer for () {}

/// A run that has come to its end.
#[derive(Debug)]
pub struct Finished(Run);

impl Finished {
    /// A run that was driven by other means.
    pub(crate) fn of(run: Run) -> Finished {
        Finished(run)
    }

    /// How it ended; nothing where it was interrupted.
    pub fn outcome(&mut self) -> Option<Outcome<'_>> {
        match self.0.step() {
            Step::Done(outcome) => Some(outcome),
            Step::Call(_) => None,
        }
    }

    /// The run, to look at what it used.
    pub fn run(&self) -> &Run {
        &self.0
    }
}

/// Everything that is in the way of a run: an input that does not fit, and tools that are not there.
pub fn problems(program: &Program, function: FunctionId, input: &Data, tools: &Tools) -> Vec<Problem> {
    let parameters: Vec<_> = program.parameters(function).collect();
    let mut problems = input::problems(&parameters, input);
    problems.extend(tools.problems(program.tools()));
    problems.extend(plan::without_rollback(program, tools));
    problems
}

/// Runs a function to its end.
///
/// # Errors
/// What [`problems`] says, or an input that passes the limits; then nothing has run.
pub fn run(
    program: &Program,
    function: FunctionId,
    input: &Data,
    tools: &Tools,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Finished, Vec<Problem>> {
    let problems = problems(program, function, input, tools);
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut run = Run::new(program, options.limits.clone());
    start(&mut run, function, input).map_err(|problem| vec![problem])?;
    let (begun, until) = (Instant::now(), end_of(options.timeout));
    // Whatever was started ends with the run: threads that are left are interrupted and waited for.
    thread::scope(|threads| {
        let (limits, slots) = (options.call_limits(), options.slots.clone());
        let ahead = Ahead::new(threads, tools, limits, &options.cancel, until, slots);
        let mut driver = Driver { options, observer, ahead, begun, until, seq: 0 };
        while driver.step(&mut run) {}
        driver.ahead.forget(driver.observer);
    });
    Ok(Finished(run))
}

/// The moment so far away, or where the clock does not reach that far, a year away.
fn end_of(timeout: Duration) -> Instant {
    const YEAR: Duration = Duration::from_hours(24 * 365);
    Instant::now() + timeout.min(YEAR)
}

pub(crate) fn start(run: &mut Run, function: FunctionId, input: &Data) -> Result<(), Problem> {
    let arena = Bump::new();
    let fields = match input.to_datum(&arena) {
        Datum::Record(fields) => fields,
        _ => &[],
    };
    run.start_named(function, fields).map_err(|error| {
        // They are not the input's fault.
        let place = if matches!(error, StartError::Registers { .. }) { "" } else { "input" };
        Problem::new(error.code(), place, error.to_string())
    })
}

struct Driver<'d, 's> {
    options: &'d Options,
    observer: &'d mut dyn Observer,
    ahead: Ahead<'s, 'd>,
    begun: Instant,
    until: Instant,
    seq: u64,
}

impl Driver<'_, '_> {
    /// Takes a step and answers the call that it ends in; whether there is another.
    fn step(&mut self, run: &mut Run) -> bool {
        self.take_cancel(run);
        let Step::Call(call) = run.step() else { return false };
        if self.options.interrupt.is_set() {
            return false;
        }
        let (tool, json, number) = (call.tool().to_owned(), json_of(&call), call.number());
        let rollback = call.is_rollback();
        self.take_cancel(run);
        let Some(mut call) = run.pending() else { return false };
        let changes = !self.ahead.tools().is_read_only(&tool);
        if !rollback {
            if Instant::now() >= self.until {
                self.time_out(run);
                return true;
            }
            if changes && call.is_cancelled() {
                drop(call.fail(CANCELLED));
                return true;
            }
        }
        if changes {
            call.may_change();
        }
        let arguments = data_of(&json);
        let made = Instant::now();
        self.observer.started(self.seq, &tool);
        let patient = rollback || changes || run.is_cancelled();
        let Timed { result, start, end } = if patient {
            let undoes = rollback || run.is_cancelled();
            self.ahead.call_alone((&tool, &arguments), (rollback, undoes), self.observer)
        } else {
            self.ahead.call(run, (&tool, &json, &arguments), self.observer)
        };
        self.observer.ended(&Ended {
            seq: self.seq,
            number,
            rollback,
            tool: &tool,
            arguments: &arguments,
            result: &result,
            start: start.saturating_duration_since(self.begun),
            duration: end.saturating_duration_since(start),
            ahead: start < made,
            doubt: self.doubt(&tool, &result).filter(|_| changes && !rollback),
        });
        self.seq += 1;
        if rollback {
            // The run's clock stops meanwhile.
            self.until = self.until.checked_add(made.elapsed()).unwrap_or(self.until);
            self.ahead.lasts_until(self.until);
            return self.entry_ended(run, &result);
        }
        self.ended(run, &tool, &result)
    }

    /// Cancels the run where that was asked for.
    fn take_cancel(&self, run: &mut Run) {
        if self.options.cancel.is_set() && !run.is_cancelled() {
            run.cancel();
        }
    }

    /// Answers the call of an entry; whether there is another step.
    fn entry_ended(&self, run: &mut Run, result: &Result<Data, Failure>) -> bool {
        if self.options.interrupt.is_set() || matches!(result, Err(Failure::Interrupted)) {
            return false;
        }
        let Some(call) = run.pending() else { return false };
        let arena = Bump::new();
        drop(match result {
            // An answer that is too large for a value is an answer: nothing reads it.
            Ok(_) | Err(Failure::Limit(..)) => call.answer(()),
            Err(Failure::Failed(value)) => call.fail_with(value.to_datum(&arena)),
            Err(Failure::InDoubt(message)) => call.fail(message),
            Err(Failure::TimedOut | Failure::Interrupted) => call.fail(NO_ANSWER),
        });
        true
    }

    /// Answers a call; whether there is another step.
    fn ended(&self, run: &mut Run, tool: &str, result: &Result<Data, Failure>) -> bool {
        if self.options.interrupt.is_set() {
            return false;
        }
        self.take_cancel(run);
        let over = Instant::now() >= self.until;
        let cancelled = run.is_cancelled();
        let Some(call) = run.pending() else { return false };
        let arena = Bump::new();
        // An answer that passes a limit has ended the run with that fault; the next step says so.
        match result {
            Ok(value) if !over || call.has_rollback() => {
                drop(call.answer(value.to_datum(&arena)));
                if over {
                    self.time_out(run);
                }
            }
            Ok(_) | Err(Failure::Failed(_)) if over => {
                call.end_run(Code::FaultTimedOut, &self.late());
            }
            Ok(_) | Err(Failure::TimedOut) => self.time_out(run),
            Err(Failure::Failed(value)) => drop(call.fail_with(value.to_datum(&arena))),
            Err(Failure::InDoubt(_)) if over => self.time_out(run),
            Err(Failure::InDoubt(message)) => self.in_doubt(run, tool, message),
            // The cancel has ended a call that only reads, or a question before the call.
            Err(Failure::Interrupted) if cancelled => {
                drop(call.fail(CANCELLED));
            }
            Err(Failure::Interrupted) => return false,
            Err(Failure::Limit(code, message)) => call.refuse_answer(*code, message),
        }
        true
    }

    /// What comes of it that a call which changes something has no answer.
    fn doubt(&self, tool: &str, result: &Result<Data, Failure>) -> Option<OnDoubt> {
        match result {
            Err(Failure::InDoubt(_)) => Some(self.on_doubt(tool)),
            Err(Failure::TimedOut | Failure::Limit(..)) => Some(OnDoubt::Fail),
            Ok(_) | Err(Failure::Failed(_) | Failure::Interrupted) => None,
        }
    }

    fn on_doubt(&self, tool: &str) -> OnDoubt {
        self.ahead.tools().get(tool).map(|tool| tool.policy.on_doubt).unwrap_or_default()
    }

    /// A call may have been made: the program sees a failure, or the run ends, as its tool's policy says.
    fn in_doubt(&self, run: &mut Run, tool: &str, message: &str) {
        let tools = self.ahead.tools();
        let Some(call) = run.pending() else { return };
        if tools.is_read_only(tool) {
            drop(call.fail(message));
        } else if self.on_doubt(tool) == OnDoubt::Stop {
            run.end_with(Code::FaultInDoubt, message);
        } else {
            drop(call.fail_in_doubt(message));
        }
    }

    fn time_out(&self, run: &mut Run) {
        run.end_with(Code::FaultTimedOut, &self.late());
    }

    fn late(&self) -> String {
        format!("the run took longer than its limit of {} ms", self.options.timeout.as_millis())
    }
}

/// What the call of an entry fails with whose answer did not come.
pub(crate) const NO_ANSWER: &str = "no answer came in time";
/// What a call that a cancelled run does not make fails with.
const CANCELLED: &str = "cancelled";

impl Options {
    /// The limits of each call of one run.
    fn call_limits(&self) -> CallLimits {
        let Options { limits, call_timeout, interrupt, ask, .. } = self;
        let bounds = Bounds {
            bytes: limits.result_bytes,
            depth: limits.value_depth.min(limits::VALUE_DEPTH),
            values: limits.result_nodes,
        };
        let (timeout, interrupt, ask) = (*call_timeout, interrupt.clone(), ask.clone());
        CallLimits { timeout, bounds, interrupt, ask, ..CallLimits::default() }
    }
}

/// The arguments of a call as JSON.
pub(crate) fn json_of(call: &Call<'_>) -> String {
    let mut json = String::new();
    // Writing to a string does not fail.
    let _ = call.write_json(&mut json);
    json
}

/// Arguments that the machine wrote, which are within the run's limits.
pub(crate) fn data_of(json: &str) -> Data {
    let bounds = Bounds { bytes: usize::MAX, depth: limits::VALUE_DEPTH + 1, values: usize::MAX };
    read(json.as_bytes(), &bounds).unwrap_or(Data::Record(Vec::new()))
}
