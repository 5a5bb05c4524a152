//! The calls of one run: each is a task, and every attempt at it another one, so that a tool that holds its
//! thread keeps neither the run nor the limits of its call waiting.

use super::super::{BothLimits, Timed};
use super::RunShared;
use super::ask::{Asker, ask};
use crate::interrupt::Interrupt;
use crate::spans::Span;
use crate::telemetry::{RunTrace, error_kind};
use crate::tool::asynchronous::AsyncRequest;
use crate::tool::cancelled_message;
use crate::tool::left::Watched;
use crate::tool::outcome::{Times, held, panicked};
use crate::tool::policy::pause_end;
use crate::tools::{CallLimits, Failure, Request, Tool};
use ilo_drive::data::Data;
use ilo_drive::{CallKind, CallTicket, Drive, Start};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::{self, AbortHandle, JoinError, JoinHandle, JoinSet};
use tokio::time::sleep_until;

/// What a blocking tool gets after its deadline or an interrupt to say by itself how its call ended. A run
/// keeps its limits within 20 ms, which leaves as much for the scheduler.
const LAST_WORD: Duration = Duration::from_millis(10);
/// The end of a call without a limit of its run: that of a ROLLBACK entry.
const FAR: Duration = Duration::from_hours(24 * 365);

/// A call that has ended.
type Ended = (CallTicket, Result<Data, Failure>, Timed);

/// The calls of one run that have not ended. Dropping this drops them, and interrupts those that block a
/// thread.
pub(super) struct TaskCalls {
    shared: Arc<RunShared>,
    ask: Option<Asker>,
    /// The span of the run.
    span: Span,
    limits: BothLimits,
    tasks: JoinSet<Ended>,
    /// The interrupts of calls that have not ended.
    interrupts: HashMap<CallTicket, Interrupt>,
}

impl Drop for TaskCalls {
    fn drop(&mut self) {
        self.interrupts.values().for_each(Interrupt::set);
    }
}

/// A task that ends when this is dropped.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// One call.
struct TaskCall {
    shared: Arc<RunShared>,
    tool: String,
    arguments: Data,
    ask: Option<Asker>,
    limits: CallLimits,
    until: Instant,
    span: Span,
}

impl TaskCalls {
    pub(super) fn new(shared: Arc<RunShared>, ask: Option<Asker>, span: &Span) -> TaskCalls {
        let limits = shared.options.both_call_limits();
        let (span, tasks) = (span.clone(), JoinSet::new());
        TaskCalls { shared, ask, span, limits, tasks, interrupts: HashMap::new() }
    }

    /// Whether a person can be asked about several calls together.
    pub(super) fn asks_at_once(&self) -> bool {
        self.ask.is_some() || self.shared.options.ask.as_ref().is_some_and(|ask| ask.asks_at_once())
    }

    /// Starts a call.
    pub(super) fn start(&mut self, start: Start, foreseen: Arc<[(String, Data)]>) {
        let Start { ticket, tool, arguments, kind, key, confirmed, .. } = start;
        let until = if kind == CallKind::Entry { Instant::now() + FAR } else { self.shared.clock.until() };
        let limits = self.limits.of(kind);
        let interrupt = limits.interrupt.child();
        self.interrupts.insert(ticket, interrupt.clone());
        let span = self.shared.trace.as_ref().and_then(RunTrace::call);
        let limits = CallLimits { interrupt, foreseen, key, span, confirmed, ..limits };
        let (shared, ask) = (Arc::clone(&self.shared), self.ask.clone());
        let own = self.span.call(&shared.tools, &tool);
        let call = TaskCall { shared, tool, arguments, ask, limits, until, span: own.clone() };
        self.tasks.spawn(async move {
            let start = Instant::now();
            let result = own.around(call.make()).await;
            own.ended(error_kind(&result));
            (ticket, result, Timed { start, end: Instant::now(), span })
        });
    }

    /// Ends a call whose answer is not wanted.
    pub(super) fn interrupt(&mut self, ticket: CallTicket) {
        if let Some(interrupt) = self.interrupts.get(&ticket) {
            interrupt.set();
        }
    }

    /// Waits until a call has ended. Each ends at its limit, whatever its tool does.
    pub(super) async fn wait(&mut self, drive: &mut Drive<Option<Timed>>) {
        match self.tasks.join_next().await {
            Some(ended) => self.take(ended, drive),
            // There is nothing to wait for: what is under way has been lost with its runtime.
            None => self.lost(drive),
        }
    }

    /// Takes the answers that have arrived.
    pub(super) fn settle(&mut self, drive: &mut Drive<Option<Timed>>) {
        while let Some(ended) = self.tasks.try_join_next() {
            self.take(ended, drive);
        }
    }

    fn take(&mut self, ended: Result<Ended, JoinError>, drive: &mut Drive<Option<Timed>>) {
        match ended {
            Ok((ticket, result, timed)) => {
                self.interrupts.remove(&ticket);
                drive.settle(ticket, result, Some(timed), &self.shared.around());
            }
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => self.lost(drive),
        }
    }

    /// The runtime was shut down, and has dropped the calls.
    fn lost(&mut self, drive: &mut Drive<Option<Timed>>) {
        for (ticket, _) in self.interrupts.drain() {
            let failure =
                Failure::InDoubt("the runtime of the host was shut down during the call".to_owned());
            drive.settle(ticket, Err(failure), None, &self.shared.around());
        }
    }

    /// Ends what is under way.
    pub(super) async fn end(&mut self) {
        self.interrupts.values().for_each(Interrupt::set);
        while self.tasks.join_next().await.is_some() {}
    }
}

impl TaskCall {
    /// Makes the call: after a person has confirmed it, if its policy requires that, and again if it fails
    /// and may be repeated.
    async fn make(self) -> Result<Data, Failure> {
        let name = &self.tool;
        let tools = &self.shared.tools;
        let Some(tool) = tools.callable(name) else { return Err(tools.uncallable(name)) };
        let arguments = tool.arguments(&self.arguments).into_owned();
        if tool.policy.confirm && !self.limits.confirmed {
            ask(tool, (name, &arguments), self.ask.as_ref(), &self.limits, self.until).await?;
        }
        let mut retry = 0;
        loop {
            let result = self.attempt(tool, &arguments).await;
            let pause = match &result {
                Err(failure) if tool.policy.retries(failure, retry) => pause_end(retry, self.until),
                _ => None,
            };
            let Some(end) = pause else { return result };
            tokio::select! {
                () = sleep_until(end.into()) => retry += 1,
                () = self.limits.interrupt.wait() => return result,
                () = self.limits.cancel.wait() => return result,
            }
        }
    }

    /// Makes it once.
    async fn attempt(&self, tool: &Tool, arguments: &Data) -> Result<Data, Failure> {
        let times = tool.times(&self.limits, self.until);
        if let Some(rate) = tool.policy.rate {
            let turn = tool.limiter.reserve(rate, &self.tool, times.deadline)?;
            tokio::select! {
                () = sleep_until(turn.into()) => {}
                () = self.limits.interrupt.wait() => return Err(Failure::Interrupted),
            }
        }
        let begin = tool.provider.as_ref().and_then(|provider| provider.asynchronous());
        let is_async = begin.is_some();
        let own = self.limits.interrupt.child();
        let (watched, working) = self.shared.tools.left.call();
        let attempt = match begin {
            Some(begin) => {
                let (given, request) = (arguments.clone(), self.request(tool, times));
                task::spawn(self.span.around(async move {
                    let _working = working;
                    begin(given, request).await
                }))
            }
            None => {
                let (shared, name) = (Arc::clone(&self.shared), self.tool.clone());
                let given = arguments.clone();
                let limits = CallLimits { interrupt: own.clone(), ..self.limits.clone() };
                let span = self.span.clone();
                task::spawn_blocking(move || {
                    let _working = working;
                    span.within(|| blocking(&shared, &name, &given, &limits, times))
                })
            }
        };
        let _held = AbortOnDrop(attempt.abort_handle());
        let result = self.until_its_end(tool, attempt, watched, times, is_async).await;
        // A call that was left behind is asked to end.
        own.set();
        let ended = self.limits.interrupt.is_set() || self.limits.cancel.is_set();
        tool.taken(held(result, &self.tool, times, ended), &self.limits)
    }

    /// The result of an attempt. One that has not ended at its limit is dropped or left behind.
    async fn until_its_end(
        &self,
        tool: &Tool,
        mut attempt: JoinHandle<Result<Data, Failure>>,
        watched: Watched,
        times: Times,
        is_async: bool,
    ) -> Result<Data, Failure> {
        let name = &self.tool;
        let failure = tokio::select! {
            biased;
            ended = &mut attempt => return self.result(ended),
            () = self.limits.interrupt.wait() => Failure::Interrupted,
            () = sleep_until(times.deadline.into()) => Failure::TimedOut,
            () = self.grace_over(tool) => Failure::InDoubt(cancelled_message(name, tool.policy.cancel_grace)),
        };
        if is_async {
            // It is dropped where it awaits something; one that does not is left behind.
            attempt.abort();
        } else if let Ok(ended) = tokio::time::timeout(LAST_WORD, &mut attempt).await {
            return self.result(ended);
        }
        watched.leave();
        Err(failure)
    }

    /// What a call has returned.
    fn result(&self, ended: Result<Result<Data, Failure>, JoinError>) -> Result<Data, Failure> {
        match ended {
            Ok(result) => result,
            Err(error) if error.is_panic() => Err(panicked(&self.tool, error.into_panic().as_ref())),
            Err(_) => {
                let message = "the runtime of the host was shut down during the call";
                Err(Failure::InDoubt(message.to_owned()))
            }
        }
    }

    /// Ends when a call that changes something has used up its time after a cancel. Without such a time it
    /// never ends.
    async fn grace_over(&self, tool: &Tool) {
        match tool.policy.cancel_grace.filter(|_| !tool.policy.read_only) {
            Some(grace) => {
                self.limits.cancel.wait().await;
                tokio::time::sleep(grace).await;
            }
            None => std::future::pending().await,
        }
    }

    fn request(&self, tool: &Tool, times: Times) -> AsyncRequest {
        AsyncRequest {
            tool: tool.name.as_str().into(),
            deadline: times.deadline,
            key: self.limits.key.as_deref().map(Arc::from),
            cancel: self.limits.cancel.or(&self.limits.interrupt),
        }
    }
}

/// Calls a blocking tool.
fn blocking(
    shared: &RunShared,
    name: &str,
    arguments: &Data,
    limits: &CallLimits,
    times: Times,
) -> Result<Data, Failure> {
    let tools = &shared.tools;
    match tools.callable(name).and_then(|tool| Some((tool, tool.provider.as_ref()?))) {
        Some((tool, provider)) => {
            let request: Request<'_> = tool.request(arguments, limits, times.deadline);
            provider.call(&request)
        }
        None => Err(tools.uncallable(name)),
    }
}
