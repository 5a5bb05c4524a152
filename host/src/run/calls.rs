//! The calls of one run. Calls that run in parallel have a thread each.

use super::{Around, BothLimits, Observer, Options, Timed, end_of, guarded};
use crate::interrupt::Interrupt;
use crate::spans::Span;
use crate::telemetry::{RunTrace, error_kind};
use crate::tools::{CallLimits, Failure, Tools};
use ilo_drive::data::Data;
use ilo_drive::{CallKind, CallTicket, Drive, Start};
use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// The final report of a thread; `None` if the call panicked.
type Report = (CallTicket, Option<(Result<Data, Failure>, Timed)>);

/// The calls of one run that have not ended.
pub(super) struct Calls<'s, 'e> {
    threads: &'s thread::Scope<'s, 'e>,
    tools: &'e Tools,
    /// The span of the run.
    span: Span,
    limits: BothLimits,
    reports: (Sender<Report>, Receiver<Report>),
    started: HashMap<CallTicket, ThreadCall<'s>>,
}

/// A call on a thread. Dropping it interrupts the call.
struct ThreadCall<'s> {
    interrupt: Interrupt,
    thread: Option<ScopedJoinHandle<'s, ()>>,
}

impl Drop for ThreadCall<'_> {
    fn drop(&mut self) {
        self.interrupt.set();
    }
}

/// Sends the report of a call when it is dropped, so also if the call panics.
struct Reporter {
    ticket: CallTicket,
    report: Option<(Result<Data, Failure>, Timed)>,
    reports: Sender<Report>,
}

impl Drop for Reporter {
    fn drop(&mut self) {
        // Nobody listens once the run has ended.
        drop(self.reports.send((self.ticket, self.report.take())));
    }
}

/// Calls a tool within a span of the run, and waits for it.
fn timed(
    tools: &Tools,
    run: &Span,
    (tool, arguments): (&str, &Data),
    limits: &CallLimits,
    until: Instant,
) -> (Result<Data, Failure>, Timed) {
    let start = Instant::now();
    let span = run.call(tools, tool);
    let result = span.within(|| tools.call(tool, arguments, limits, until));
    span.ended(error_kind(&result));
    (result, Timed { start, end: Instant::now(), span: limits.span })
}

impl<'s, 'e> Calls<'s, 'e> {
    pub(super) fn new(
        threads: &'s thread::Scope<'s, 'e>,
        tools: &'e Tools,
        options: &Options,
        span: &Span,
    ) -> Self {
        let limits = options.both_call_limits();
        let span = span.clone();
        Calls { threads, tools, span, limits, reports: channel(), started: HashMap::new() }
    }

    /// Starts a call. A call without others in parallel is made on this thread.
    pub(super) fn start(
        &mut self,
        start: Start,
        foreseen: Arc<[(String, Data)]>,
        world: &Around<'_>,
        drive: &mut Drive<Option<Timed>>,
        observer: &mut dyn Observer,
    ) {
        let Start { ticket, tool, arguments, kind, alone, key, confirmed, .. } = start;
        let until = if kind == CallKind::Entry { end_of(Duration::MAX) } else { world.clock.until() };
        if kind == CallKind::Ahead {
            // Called before it starts, so that an observer can prepare.
            guarded(|| observer.ahead(&tool));
        }
        let span = world.trace.and_then(RunTrace::call);
        let limits = CallLimits { foreseen, key, span, confirmed, ..self.limits.of(kind) };
        if !alone && self.spawn(ticket, (&tool, &arguments), &limits, until) {
            return;
        }
        if kind == CallKind::Ahead {
            // No thread is available: the run makes the call in its turn.
            guarded(|| observer.untaken(&tool));
            return drive.not_started(ticket, world);
        }
        let (result, times) = timed(self.tools, &self.span, (&tool, &arguments), &limits, until);
        drive.settle(ticket, result, Some(times), world);
    }

    /// Calls a tool on a new thread. Returns whether a thread is available.
    fn spawn(
        &mut self,
        ticket: CallTicket,
        (tool, arguments): (&str, &Data),
        limits: &CallLimits,
        until: Instant,
    ) -> bool {
        let interrupt = limits.interrupt.child();
        let limits = CallLimits { interrupt: interrupt.clone(), ..limits.clone() };
        let (tools, span) = (self.tools, self.span.clone());
        let (tool, arguments) = (tool.to_owned(), arguments.clone());
        let reporter = Reporter { ticket, report: None, reports: self.reports.0.clone() };
        let work = move || {
            let mut reporter = reporter;
            reporter.report = Some(timed(tools, &span, (&tool, &arguments), &limits, until));
        };
        let Ok(thread) = thread::Builder::new().name("call".to_owned()).spawn_scoped(self.threads, work)
        else {
            // The report of the dropped reporter is ignored.
            return false;
        };
        self.started.insert(ticket, ThreadCall { interrupt, thread: Some(thread) });
        true
    }

    /// Ends a call whose answer is not wanted.
    pub(super) fn interrupt(&mut self, ticket: CallTicket) {
        if let Some(started) = self.started.get(&ticket) {
            started.interrupt.set();
        }
    }

    /// Waits until a call has ended.
    pub(super) fn wait(&mut self, drive: &mut Drive<Option<Timed>>, world: &Around<'_>) {
        if let Ok(report) = self.reports.1.recv() {
            self.take(report, drive, world);
        }
    }

    /// Takes the answers that have arrived.
    pub(super) fn settle(&mut self, drive: &mut Drive<Option<Timed>>, world: &Around<'_>) {
        while let Ok(report) = self.reports.1.try_recv() {
            self.take(report, drive, world);
        }
    }

    fn take(&mut self, (ticket, report): Report, drive: &mut Drive<Option<Timed>>, world: &Around<'_>) {
        let Some(mut started) = self.started.remove(&ticket) else { return };
        if let Some(thread) = started.thread.take()
            && let Err(panic) = thread.join()
        {
            // As if the run had made the call itself.
            resume_unwind(panic);
        }
        if let Some((result, times)) = report {
            drive.settle(ticket, result, Some(times), world);
        }
    }
}
