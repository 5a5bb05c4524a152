//! Runs on a runtime of tokio: many at once on few threads, with tools that are asynchronous functions.
//!
//! The loop is [`Drive`], as in the parent module; `calls` makes the calls. Calls of blocking tools, such as
//! commands and those of MCP servers, are made on the runtime's threads for blocking work. Everything that
//! ends a run (its time, a cancel, an interrupt) is waited for beside the calls, so none is noticed late.

mod ask;
mod calls;
mod options;

pub use ask::Asked;
pub use options::AsyncOptions;

use super::{Around, Clock, Finished, Observer, Recorder, Timed, observed, problems, run_ended};
use crate::spans::Span;
use crate::telemetry::{Telemetry, Trace};
use crate::tool::left;
use crate::tools::Tools;
use calls::Calls;
use ilo_drive::data::to_data;
use ilo_drive::event::Event;
use ilo_drive::lifecycle::start;
use ilo_drive::problem::{Problem, Problems};
use ilo_drive::{Drive, Next, plan};
use ilo_spec::error::Code;
use ilo_vm::{FunctionId, Program, Run};
use options::Parts;
use serde_core::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task;

/// A run with its journal: what a step needs.
type Stepping = (Drive<Option<Timed>>, Box<dyn Recorder + Send>);

/// What the run and its calls share.
struct Shared {
    tools: Arc<Tools>,
    options: super::Options,
    clock: Clock,
    trace: Option<Trace>,
}

impl Shared {
    fn around(&self) -> Around<'_> {
        let Shared { tools, options, clock, trace } = self;
        Around { tools, options, clock, trace: trace.as_ref() }
    }
}

/// Runs a program to its end, on the runtime of tokio that awaits this. The input is a record with a field
/// for each parameter: anything that `serde` makes such a record of.
///
/// The future can be spawned: it borrows nothing. Dropping it stops the run where it is, and nothing is
/// rolled back; [`Options::cancel`](super::Options::cancel) ends a run in an orderly way. It does not block:
/// a recorder that waits for a disk does so on the runtime's threads for that.
///
/// # Errors
/// All problems that prevent the run: an input that does not fit, missing tools, too many calls of these
/// tools that went on after their deadline. Then nothing has run.
pub fn run_async<I: Serialize + ?Sized>(
    program: &Program,
    input: &I,
    options: AsyncOptions,
) -> impl Future<Output = Result<Finished, Problems>> + Send + use<I> {
    let begun = begin(program, input, &options);
    async move {
        let (run, name) = begun?;
        Ok(drive(run, &name, options.parts()).await)
    }
}

/// Drives a started or restored run to its end, or until the recorder stops it, as [`run_async`] does. The
/// caller has checked its [`problems`](super::problems).
pub async fn drive_async(run: Run, options: AsyncOptions) -> Finished {
    drive(run, "run", options.parts()).await
}

/// A run that is started, and the name of its function.
fn begin<I: Serialize + ?Sized>(
    program: &Program,
    input: &I,
    options: &AsyncOptions,
) -> Result<(Run, String), Problems> {
    let function = function(program, options.function.as_deref())?;
    let input = to_data(input).map_err(|error| Problem::new(Code::BadInput, "input", error.to_string()))?;
    let mut found = problems(program, function, &input, &options.tools);
    if options.recorder.is_none() {
        found.extend(plan::without_journal(program, &*options.tools));
    }
    if options.tools.left.count() >= left::MOST {
        let count = left::MOST;
        let message = format!("{count} calls of these tools went on after their deadline and have not ended");
        found.push(Problem::new(Code::BadUsage, "", message));
    }
    if !found.is_empty() {
        return Err(found.into());
    }
    let mut run = Run::new(program, options.options.limits.clone());
    start(&mut run, function, &input)?;
    Ok((run, program.function_name(function).to_owned()))
}

/// The function to run: the one of this name, or the only one that no other calls.
fn function(program: &Program, name: Option<&str>) -> Result<FunctionId, Problem> {
    let names = |ids: &[FunctionId]| {
        let names: Vec<_> = ids.iter().map(|&id| format!("`{}`", program.function_name(id))).collect();
        names.join(", ")
    };
    match name {
        Some(name) => program
            .function(name)
            .ok_or_else(|| Problem::new(Code::BadUsage, "", format!("the program has no function `{name}`"))),
        None => program.entry().map_err(|several| {
            let message =
                format!("several functions could run: {}; name one with `function`", names(&several));
            Problem::new(Code::BadUsage, "", message)
        }),
    }
}

/// What watches a run, kept from changing it: a panic ends nothing, and the hook of the process has shown it.
struct Watching {
    observer: Option<Box<dyn Observer + Send>>,
    on_event: Option<Box<dyn FnMut(Event) + Send>>,
}

impl Watching {
    fn observer(&mut self, call: impl FnOnce(&mut dyn Observer)) {
        if let Some(observer) = &mut self.observer {
            drop(catch_unwind(AssertUnwindSafe(|| call(observer.as_mut()))));
        }
    }

    fn tell(&mut self, drive: &mut Drive<Option<Timed>>) {
        let Some(on_event) = &mut self.on_event else { return };
        while let Some(event) = drive.event() {
            drop(catch_unwind(AssertUnwindSafe(|| on_event(event))));
        }
    }
}

async fn drive(run: Run, name: &str, parts: Parts) -> Finished {
    let span = Span::run(name);
    let (finished, trace) = span.around(drive_within(run, &span, parts)).await;
    run_ended(trace, &span, name, &finished);
    finished
}

/// Drives a run within its span.
async fn drive_within(run: Run, span: &Span, parts: Parts) -> (Finished, Option<Trace>) {
    let Parts { tools, options, ask, observer, on_event, recorder, tool_call_id } = parts;
    let trace = options.telemetry.as_ref().and_then(Telemetry::begin);
    let mut drive = Drive::new(run, options.slots.clone(), options.timeout);
    drive.expect_output(options.output.clone());
    if on_event.is_some() {
        drive.watch(tool_call_id.as_deref());
    }
    let shared = Arc::new(Shared { tools, clock: Clock::new(options.timeout), options, trace });
    let mut watching = Watching { observer, on_event };
    let mut recorder = recorder;
    let mut calls = Calls::new(Arc::clone(&shared), ask, span);
    loop {
        let next;
        (drive, recorder, next) = step(drive, recorder, &shared).await;
        watching.tell(&mut drive);
        match next {
            Next::Due => {
                if let Some(turn) = drive.due() {
                    watching.observer(|observer| observer.started(turn.seq, &turn.tool));
                }
            }
            Next::Start(start) => {
                if start.kind == ilo_drive::CallKind::Ahead {
                    watching.observer(|observer| observer.ahead(&start.tool));
                }
                let foreseen = shared.around().foreseen(&start.tool, drive.run(), calls.asks_at_once());
                calls.start(start, foreseen);
            }
            Next::Drop { ticket, tool } => {
                calls.interrupt(ticket);
                watching.observer(|observer| observer.untaken(&tool));
            }
            Next::Made => {
                if let Some(made) = drive.made() {
                    let around = shared.around();
                    let ended = around.timed(made);
                    watching.observer(|observer| observer.ended(&observed(made, ended)));
                    around.stop_clock(made, ended);
                }
            }
            Next::Computing | Next::Value => task::yield_now().await,
            Next::Wait => calls.wait(&mut drive).await,
            Next::Done => break,
        }
        calls.settle(&mut drive);
        watching.tell(&mut drive);
    }
    calls.end().await;
    (drive.finish(), shared.trace.clone())
}

/// Makes one step of a run. One that is recorded is made on a thread for blocking work.
async fn step(
    mut drive: Drive<Option<Timed>>,
    recorder: Option<Box<dyn Recorder + Send>>,
    shared: &Arc<Shared>,
) -> (Drive<Option<Timed>>, Option<Box<dyn Recorder + Send>>, Next) {
    let Some(recorder) = recorder else {
        let next = drive.next(&shared.around(), &mut ());
        return (drive, None, next);
    };
    // If the runtime is shut down, the step is made here: what the run has must not be lost.
    let slot: Arc<Mutex<Option<Stepping>>> = Arc::new(Mutex::new(Some((drive, recorder))));
    let (given, around) = (Arc::clone(&slot), Arc::clone(shared));
    let made = task::spawn_blocking(move || {
        let mut slot = given.lock().unwrap_or_else(PoisonError::into_inner);
        slot.as_mut().map(|(drive, recorder)| drive.next(&around.around(), recorder.as_mut()))
    });
    let made = made.await;
    let stepping = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (made, stepping) {
        (Ok(Some(next)), Some((drive, recorder))) => (drive, Some(recorder), next),
        (Err(error), _) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        (_, Some((mut drive, mut recorder))) => {
            let next = drive.next(&shared.around(), recorder.as_mut());
            (drive, Some(recorder), next)
        }
        // Only this function takes it.
        (_, None) => std::future::pending().await,
    }
}
