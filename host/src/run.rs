//! Runs a program over a table of tools, within its limits of time and size.
//!
//! The loop is [`Drive`]; this module adds the threads that make calls in parallel (`calls`), the clock, and
//! observers. Time limits are checked between calls and, in long computations, every millisecond; a call is
//! bounded by its deadline.

#[cfg(feature = "tokio")]
mod asynchronous;
mod calls;

#[cfg(feature = "tokio")]
pub use asynchronous::{Asked, AsyncOptions, drive_async, run_async};
pub use ilo_drive::call_slots::CallSlots;
pub use ilo_drive::event::{Call, Event};
pub use ilo_drive::input::filled;
pub use ilo_drive::lifecycle::{Finished, start};
pub use ilo_drive::observer::{Ended, Observer};
pub use ilo_drive::recorder::{Due, NotRecorded, Permit, Recorder, Taken};

use crate::blocking;
use crate::interrupt::Interrupt;
use crate::spans::Span;
use crate::telemetry::{Context, RunTrace, Telemetry};
use crate::tools::consent::Ask;
use crate::tools::{CallLimits, Policies, Policy, Tools, without_secrets};
use calls::Calls;
use ilo_asm::catalog;
use ilo_asm::compile::OutputSchema;
use ilo_drive::data::Data;
use ilo_drive::data::read::Bounds;
use ilo_drive::locked::locked;
use ilo_drive::problem::{Problem, Problems};
use ilo_drive::{CallKind, Drive, Made, Next, World, foresight, input, plan};
use ilo_spec::limits;
use ilo_vm::{FunctionId, Limits, Program, Run, Status};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The most calls about which a person is asked together with the next one.
const FORESEEN: usize = 31;

/// The limits of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The limits of the machine.
    pub limits: Limits,
    /// The time limit of the run; after it the outcome is fault `timed-out`.
    pub timeout: Duration,
    /// The default time limit of a call; after it the call fails.
    pub call_timeout: Duration,
    /// Ends the run at once, at its next call or during one: nothing is rolled back, and there is no outcome.
    pub interrupt: Interrupt,
    /// Cancels the run: a call in progress that may change something is awaited, what the run has done is
    /// rolled back, and the outcome is fault `cancelled`.
    pub cancel: Interrupt,
    /// Limits the simultaneous calls of read-only tools, in all runs that share this.
    pub slots: CallSlots,
    /// Asks a person before calls of tools that require confirmation; without it these calls fail.
    pub ask: Option<Arc<dyn Ask>>,
    /// Receives the spans of the run and its calls.
    pub telemetry: Option<Telemetry>,
    /// What the value of the run must be. Another value is fault `output-mismatch`, after the rollback.
    pub output: Option<Arc<OutputSchema>>,
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
            telemetry: None,
            output: None,
        }
    }
}

/// All problems that prevent a run: an input that does not fit, and missing tools.
pub fn problems(program: &Program, function: FunctionId, input: &Data, tools: &Tools) -> Vec<Problem> {
    let parameters: Vec<_> = program.inputs(function).collect();
    let mut problems = input::problems(&parameters, input);
    problems.extend(tools.problems(program.tools()));
    problems.extend(plan::without_rollback(program, tools));
    problems
}

/// Runs a function to its end, and blocks the thread until then. Asynchronous code awaits `run_async`
/// instead, a function of the feature `tokio`.
///
/// # Errors
/// The [`problems`], or an input that exceeds the limits; that the thread must not be blocked. Then nothing
/// has run.
pub fn run(
    program: &Program,
    function: FunctionId,
    input: &Data,
    tools: &Tools,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Finished, Problems> {
    blocking::refuse("run", "`run_async` of the feature `tokio`")?;
    let mut problems = problems(program, function, input, tools);
    problems.extend(plan::without_journal(program, tools));
    if !problems.is_empty() {
        return Err(problems.into());
    }
    let mut run = Run::new(program, options.limits.clone());
    start(&mut run, function, input)?;
    Ok(drive_named(run, program.function_name(function), tools, options, observer, &mut ()))
}

/// Drives a started or restored run to its end, or until the recorder stops it, and blocks the thread until
/// then. The caller has checked its [`problems`]. Asynchronous code awaits `drive_async` instead.
pub fn drive(
    run: Run,
    tools: &Tools,
    options: &Options,
    observer: &mut dyn Observer,
    recorder: &mut dyn Recorder,
) -> Finished {
    drive_named(run, "run", tools, options, observer, recorder)
}

fn drive_named(
    run: Run,
    name: &str,
    tools: &Tools,
    options: &Options,
    observer: &mut dyn Observer,
    recorder: &mut dyn Recorder,
) -> Finished {
    let trace = options.telemetry.as_ref().and_then(Telemetry::begin);
    let clock = Clock::new(options.timeout);
    let world = Around { tools, options, clock: &clock, trace: trace.as_ref() };
    let mut drive: Drive<Option<Timed>> = Drive::new(run, options.slots.clone(), options.timeout);
    drive.expect_output(options.output.clone());
    let span = Span::run(name);
    // All calls end with the run: remaining threads are interrupted and awaited.
    thread::scope(|threads| {
        let mut calls = Calls::new(threads, tools, options, &span);
        loop {
            match drive.next(&world, recorder) {
                Next::Due => {
                    if let Some(turn) = drive.due() {
                        guarded(|| observer.started(turn.seq, &turn.tool));
                    }
                }
                Next::Start(start) => {
                    let asks_at_once = options.ask.as_ref().is_some_and(|ask| ask.asks_at_once());
                    let foreseen = world.foreseen(&start.tool, drive.run(), asks_at_once);
                    calls.start(start, foreseen, &world, &mut drive, observer);
                }
                Next::Drop { ticket, tool } => {
                    calls.interrupt(ticket);
                    guarded(|| observer.untaken(&tool));
                }
                Next::Made => {
                    if let Some(made) = drive.made() {
                        let timed = world.timed(made);
                        guarded(|| observer.ended(&observed(made, timed)));
                        world.stop_clock(made, timed);
                    }
                }
                Next::Computing | Next::Value => {}
                Next::Wait => calls.wait(&mut drive, &world),
                Next::Done => break,
            }
            calls.settle(&mut drive, &world);
        }
    });
    let finished = drive.finish();
    run_ended(trace, &span, name, &finished);
    finished
}

/// Ends the trace and the span of a run.
fn run_ended(trace: Option<RunTrace>, span: &Span, name: &str, finished: &Finished) {
    let error = match finished.outcome().map(|outcome| outcome.status()) {
        Some(Status::Ok(_)) => None,
        Some(Status::Err(_)) => Some("err"),
        Some(Status::Fault(fault)) => Some(fault.code.as_str()),
        None => Some("interrupted"),
    };
    span.ended(error);
    if let Some(trace) = trace {
        trace.ended(name, error);
    }
}

/// Calls what watches a run. A panic in it changes nothing of the run; the hook of the process has shown it.
fn guarded(call: impl FnOnce()) {
    drop(catch_unwind(AssertUnwindSafe(call)));
}

/// The time after a duration; if the clock does not reach that far, a year from now.
fn end_of(timeout: Duration) -> Instant {
    const YEAR: Duration = Duration::from_hours(24 * 365);
    Instant::now() + timeout.min(YEAR)
}

/// The clock of a run.
#[derive(Debug)]
struct Clock {
    begun: Instant,
    until: Mutex<Instant>,
}

impl Clock {
    /// A clock that starts now.
    fn new(timeout: Duration) -> Clock {
        Clock { begun: Instant::now(), until: Mutex::new(end_of(timeout)) }
    }

    /// When the time of the run is over.
    fn until(&self) -> Instant {
        *locked(&self.until)
    }

    /// Gives the run more time.
    fn extend(&self, by: Duration) {
        let mut until = locked(&self.until);
        *until = until.checked_add(by).unwrap_or(*until);
    }
}

/// When a call began and ended.
#[derive(Clone, Copy, Debug)]
struct Timed {
    start: Instant,
    end: Instant,
    /// Its trace context.
    span: Option<Context>,
}

/// The environment of a run: its tools, the clock, and its interrupts.
struct Around<'d> {
    tools: &'d Tools,
    options: &'d Options,
    clock: &'d Clock,
    trace: Option<&'d RunTrace>,
}

impl Policies for Around<'_> {
    fn policy(&self, tool: &str) -> Option<&Policy> {
        self.tools.policy(tool)
    }

    fn may_run_ahead(&self, tool: &str) -> bool {
        self.tools.may_run_ahead(tool)
    }
}

impl World for Around<'_> {
    fn signature(&self, tool: &str) -> Option<&catalog::ToolSignature> {
        self.tools.signature(tool)
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.clock.until()
    }

    fn elapsed(&self) -> Duration {
        self.clock.begun.elapsed()
    }

    fn accepted(&self, tool: &str, why: &str) {
        self.tools.note_accepted(tool, why);
    }

    fn worded(&self, text: String) -> String {
        without_secrets(&text)
    }

    fn is_cancelled(&self) -> bool {
        self.options.cancel.is_set()
    }

    fn cancel_reason(&self) -> Option<String> {
        self.options.cancel.reason()
    }

    fn is_interrupted(&self) -> bool {
        self.options.interrupt.is_set()
    }
}

impl Around<'_> {
    /// The calls about which a person is asked together with this one.
    fn foreseen(&self, tool: &str, run: &Run, asks_at_once: bool) -> Arc<[(String, Data)]> {
        if !asks_at_once || !self.policy(tool).is_some_and(|policy| policy.confirm) {
            return Arc::default();
        }
        let calls = foresight::to_confirm(run, self, FORESEEN).into_iter();
        calls
            .filter_map(|(name, arguments)| {
                let arguments = self.sent(&name, arguments);
                Some(self.tools.get(&name)?.asked(&arguments))
            })
            .collect()
    }

    /// The times of a call that has ended, whose span is sent.
    fn timed(&self, made: &Made<Option<Timed>>) -> (Duration, Duration) {
        let now = Instant::now();
        let Timed { start, end, span } = made.note.unwrap_or(Timed { start: now, end: now, span: None });
        if let (Some(trace), Some(span)) = (self.trace, span) {
            let tool = made.turn.tool.as_str();
            let source = self.tools.get(tool).map(|tool| &tool.source);
            trace.called(span, (tool, source), (start, end), &made.result);
        }
        (start.saturating_duration_since(self.clock.begun), end.saturating_duration_since(start))
    }

    /// The clock of the run is stopped during the call of a ROLLBACK entry.
    fn stop_clock(&self, made: &Made<Option<Timed>>, (_, duration): (Duration, Duration)) {
        if made.turn.rollback {
            self.clock.extend(duration);
        }
    }
}

/// A call that has ended, for who watches.
fn observed(made: &Made<Option<Timed>>, (start, duration): (Duration, Duration)) -> Ended<'_> {
    let turn = &made.turn;
    Ended {
        seq: turn.seq,
        number: turn.number,
        rollback: turn.rollback,
        tool: &turn.tool,
        arguments: &turn.arguments,
        result: &made.result,
        start,
        duration,
        ahead: turn.ahead,
        sent: turn.sent,
        doubt: made.doubt,
        cancelled: made.cancelled,
    }
}

impl Options {
    /// The limits of the calls of one run.
    fn both_call_limits(&self) -> BothLimits {
        let patient = self.call_limits();
        let prompt = CallLimits { interrupt: patient.interrupt.or(&self.cancel), ..patient.clone() };
        BothLimits { prompt, patient: CallLimits { cancel: self.cancel.clone(), ..patient } }
    }

    /// The limits of each call of one run.
    fn call_limits(&self) -> CallLimits {
        let Options { limits, call_timeout, interrupt, ask, .. } = self;
        let bounds = Bounds::from(limits);
        let (timeout, interrupt, ask) = (*call_timeout, interrupt.clone(), ask.clone());
        CallLimits { timeout, bounds, interrupt, ask, ..CallLimits::default() }
    }
}

struct BothLimits {
    /// Of read-only calls, which a cancel ends.
    prompt: CallLimits,
    /// Of calls that are awaited even then; the question before such a call is not awaited.
    patient: CallLimits,
}

impl BothLimits {
    fn of(&self, kind: CallKind) -> CallLimits {
        match kind {
            CallKind::Ahead | CallKind::Read => self.prompt.clone(),
            CallKind::Change => self.patient.clone(),
            CallKind::Undo | CallKind::Entry => {
                CallLimits { cancel: Interrupt::default(), ..self.patient.clone() }
            }
        }
    }
}
