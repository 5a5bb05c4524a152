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

use super::{Around, Clock, Finished, Observer, Recorder, Timed, guarded, observed, problems, run_ended};
use crate::spans::Span;
use crate::telemetry::{RunTrace, Telemetry};
use crate::tool::left;
use crate::tools::Tools;
use calls::TaskCalls;
use ilo_drive::data::to_data;
use ilo_drive::lifecycle::start;
use ilo_drive::locked::locked;
use ilo_drive::problem::{Problem, Problems};
use ilo_drive::{Drive, Next, entry, plan};
use ilo_spec::error::Code;
use ilo_vm::{Program, Run};
use serde_core::Serialize;
use std::sync::{Arc, Mutex};
use tokio::task;

/// A run with its journal: what a step needs.
type Stepping = (Drive<Option<Timed>>, Box<dyn Recorder + Send>);

/// What the run and its calls share.
struct RunShared {
    tools: Arc<Tools>,
    options: super::Options,
    clock: Clock,
    trace: Option<RunTrace>,
}

impl RunShared {
    fn around(&self) -> Around<'_> {
        let RunShared { tools, options, clock, trace } = self;
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
        Ok(drive(run, &name, options).await)
    }
}

/// Drives a started or restored run to its end, or until the recorder stops it, as [`run_async`] does. The
/// caller has checked its [`problems`](super::problems).
pub async fn drive_async(run: Run, options: AsyncOptions) -> Finished {
    drive(run, "run", options).await
}

/// A run that is started, and the name of its function.
fn begin<I: Serialize + ?Sized>(
    program: &Program,
    input: &I,
    options: &AsyncOptions,
) -> Result<(Run, String), Problems> {
    let function = entry::function(program, options.function.as_deref(), "function")
        .map_err(|problem| Problem { place: String::new(), ..problem })?;
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

async fn drive(run: Run, name: &str, options: AsyncOptions) -> Finished {
    let span = Span::run(name);
    let (finished, trace) = span.around(drive_within(run, &span, options)).await;
    run_ended(trace, &span, name, &finished);
    finished
}

/// Drives a run within its span.
async fn drive_within(run: Run, span: &Span, given: AsyncOptions) -> (Finished, Option<RunTrace>) {
    let AsyncOptions { tools, options, ask, mut observer, mut on_event, mut recorder, tool_call_id, .. } =
        given;
    let trace = options.telemetry.as_ref().and_then(Telemetry::begin);
    let mut drive = Drive::new(run, options.slots.clone(), options.timeout);
    drive.expect_output(options.output.clone());
    if on_event.is_some() {
        drive.watch(tool_call_id.as_deref());
    }
    let shared = Arc::new(RunShared { tools, clock: Clock::new(options.timeout), options, trace });
    let mut watched = |watch: &mut dyn FnMut(&mut dyn Observer)| {
        if let Some(observer) = &mut observer {
            guarded(|| watch(observer.as_mut()));
        }
    };
    let mut tell = |drive: &mut Drive<Option<Timed>>| {
        let Some(on_event) = &mut on_event else { return };
        while let Some(event) = drive.event() {
            guarded(|| on_event(event));
        }
    };
    let mut calls = TaskCalls::new(Arc::clone(&shared), ask, span);
    loop {
        let next;
        (drive, recorder, next) = step(drive, recorder, &shared).await;
        tell(&mut drive);
        match next {
            Next::Due => {
                if let Some(turn) = drive.due() {
                    watched(&mut |observer| observer.started(turn.seq, &turn.tool));
                }
            }
            Next::Start(start) => {
                if start.kind == ilo_drive::CallKind::Ahead {
                    watched(&mut |observer| observer.ahead(&start.tool));
                }
                let foreseen = shared.around().foreseen(&start.tool, drive.run(), calls.asks_at_once());
                calls.start(start, foreseen);
            }
            Next::Drop { ticket, tool } => {
                calls.interrupt(ticket);
                watched(&mut |observer| observer.untaken(&tool));
            }
            Next::Made => {
                if let Some(made) = drive.made() {
                    let around = shared.around();
                    let ended = around.timed(made);
                    watched(&mut |observer| observer.ended(&observed(made, ended)));
                    around.stop_clock(made, ended);
                }
            }
            Next::Computing | Next::Value => task::yield_now().await,
            Next::Wait => calls.wait(&mut drive).await,
            Next::Done => break,
        }
        calls.settle(&mut drive);
        tell(&mut drive);
    }
    calls.end().await;
    (drive.finish(), shared.trace.clone())
}

/// Makes one step of a run. One that is recorded is made on a thread for blocking work.
async fn step(
    mut drive: Drive<Option<Timed>>,
    recorder: Option<Box<dyn Recorder + Send>>,
    shared: &Arc<RunShared>,
) -> (Drive<Option<Timed>>, Option<Box<dyn Recorder + Send>>, Next) {
    let Some(recorder) = recorder else {
        let next = drive.next(&shared.around(), &mut ());
        return (drive, None, next);
    };
    // If the runtime is shut down, the step is made here: what the run has must not be lost.
    let slot: Arc<Mutex<Option<Stepping>>> = Arc::new(Mutex::new(Some((drive, recorder))));
    let (given, around) = (Arc::clone(&slot), Arc::clone(shared));
    let made = task::spawn_blocking(move || {
        let mut slot = locked(&given);
        slot.as_mut().map(|(drive, recorder)| drive.next(&around.around(), recorder.as_mut()))
    });
    let made = made.await;
    let stepping = locked(&slot).take();
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
