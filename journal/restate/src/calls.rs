//! Calls of tools, each with an entry in the server's journal.
//!
//! The server repeats work that has no entry. For a tool that may change something and is not idempotent,
//! this must not happen without a person's decision. So each entry says which attempt wrote it, and such a
//! tool is called only if the previous entry is of this attempt: then no other attempt can have begun the
//! call. Otherwise the run is in doubt, and waits for a durable promise.

use crate::decision::{Decision, Reason, Verdict, Waiting};
use crate::entry::{Attempt, Entry, Stored, data};
use crate::workflow::WAITING;
use ilo_drive::data::Data;
use ilo_drive::failure::Failure;
use ilo_drive::policy::{OnDoubt, Policies, Policy};
use ilo_drive::validate::expected::Expects;
use ilo_drive::{CallKind, Start};
use ilo_host::Tools;
use ilo_host::interrupt::Interrupt;
use ilo_host::tools::{CallLimits, Source};
use ilo_spec::program::Number;
use restate_sdk::prelude::*;
use serde_json::value::RawValue;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The code with which the SDK reports that the run was cancelled.
const CANCELLED: u16 = 409;
/// The deadline of every call, apart from its own limit.
const END: Duration = Duration::from_hours(24 * 365);

type Called = Result<Data, Failure>;

/// The calls of one attempt at a run.
pub(crate) struct Calls<'c> {
    ctx: &'c WorkflowContext<'c>,
    tools: Arc<Tools>,
    timeout: Duration,
    attempt: Attempt,
    /// The attempt that wrote the previous entry; nothing if there is none. It depends on the journal alone.
    last: Option<Attempt>,
    cancelled: bool,
}

/// A call with its policy, key and time limit.
struct Call<'s> {
    start: &'s Start,
    number: u64,
    policy: Policy,
    key: String,
}

impl Call<'_> {
    /// Whether a cancel ends the wait for it, before it is made.
    fn yields(&self) -> bool {
        matches!(self.start.kind, CallKind::Ahead | CallKind::Read | CallKind::Change)
    }
}

/// The progress of a closure, for callers that do not get its result.
enum Progress {
    NotBegun,
    Begun,
    Ended(Entry),
}

/// A value that a person decides on.
fn value(json: &RawValue) -> Data {
    data(json).unwrap_or(Data::Nil)
}

fn lock(progress: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Interrupts a call when the server no longer wants its result.
struct Dropped(Interrupt);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.set();
    }
}

impl<'c> Calls<'c> {
    pub(crate) fn new(
        ctx: &'c WorkflowContext<'_>,
        tools: Arc<Tools>,
        timeout: Duration,
    ) -> Result<Calls<'c>, HandlerError> {
        let attempt = Attempt::new()?;
        Ok(Calls { ctx, tools, timeout, attempt, last: None, cancelled: false })
    }

    /// Whether somebody has cancelled the run.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    /// Makes the call with this number, or returns its stored result.
    pub(crate) async fn make(&mut self, start: &Start, number: u64) -> Result<Called, HandlerError> {
        if let Some(time) = self.wait(start) {
            return self.sleep(time, start).await;
        }
        let policy = self.tools.policy(&start.tool).cloned().unwrap_or_default();
        let key = format!("{}-{number}", self.ctx.invocation_id());
        let call = Call { start, number, policy, key };
        if call.policy.confirm
            && let Some(refused) = self.approve(&call).await?
        {
            return Ok(Err(refused));
        }
        if call.policy.read_only || call.policy.idempotent {
            self.safe(&call).await
        } else {
            self.changing(&call).await
        }
    }

    /// The time of the built-in tool `wait`.
    fn wait(&self, start: &Start) -> Option<Duration> {
        if self.tools.get(&start.tool)?.source != Source::Builtin("wait") {
            return None;
        }
        let seconds = match start.arguments.get("seconds")? {
            Data::Number(Number::Int(seconds)) => {
                return u64::try_from(*seconds).ok().map(Duration::from_secs);
            }
            Data::Number(Number::Double(seconds)) => *seconds,
            _ => return None,
        };
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// Sleeps without this process: the server wakes the run.
    async fn sleep(&mut self, time: Duration, start: &Start) -> Result<Called, HandlerError> {
        self.last = None;
        match self.ctx.sleep(time.min(END)).await {
            Ok(()) => Ok(Ok(Data::Nil)),
            Err(error) => {
                self.cancel(error)?;
                let undoes = matches!(start.kind, CallKind::Undo | CallKind::Entry);
                Ok(if undoes { Ok(Data::Nil) } else { Err(Failure::Interrupted) })
            }
        }
    }

    /// Records a cancel. Any other error ends the run.
    fn cancel(&mut self, error: TerminalError) -> Result<(), TerminalError> {
        if error.code() != CANCELLED {
            return Err(error);
        }
        self.cancelled = true;
        Ok(())
    }

    /// Waits for a person's approval. Returns why there is none.
    async fn approve(&mut self, call: &Call<'_>) -> Result<Option<Failure>, HandlerError> {
        let message = "the tool asks before it is called (`confirm`)".to_owned();
        let promise = format!("call-{}", call.number);
        match self.person(call, Reason::Asking, promise, message).await? {
            None => Ok(Some(Failure::Interrupted)),
            Some(Verdict::Deny(why)) => Ok(Some(Verdict::denial(&call.start.tool, &why))),
            Some(_) => Ok(None),
        }
    }

    /// Calls a tool that only reads or is idempotent. Without a result, it is called again.
    async fn safe(&mut self, call: &Call<'_>) -> Result<Called, HandlerError> {
        let mut doubts = 0;
        loop {
            let entry = self.call(call, true).await?;
            match entry.result {
                Stored::InDoubt(why) if asks(call) => {
                    doubts += 1;
                    if let Some(result) = self.doubt(call, doubts, why).await? {
                        return Ok(result);
                    }
                }
                result => match result.result() {
                    Some(result) => return self.made(call, result).await,
                    None if call.start.kind == CallKind::Read => return Ok(Err(Failure::Interrupted)),
                    // A cancel came before its result.
                    None => {}
                },
            }
        }
    }

    /// Calls a tool that may change something, only if no other attempt can have called it.
    async fn changing(&mut self, call: &Call<'_>) -> Result<Called, HandlerError> {
        let mut doubts = 0;
        loop {
            if self.last.is_none() {
                self.mark(call.number).await?;
                if self.cancelled && self.last.is_none() {
                    if call.yields() {
                        return Ok(Err(Failure::Interrupted));
                    }
                    continue;
                }
            }
            let why = match self.call(call, false).await?.result {
                Stored::Unsure => "the process or the server ended while the call was under way".to_owned(),
                Stored::InDoubt(why) if asks(call) => why,
                Stored::NotMade | Stored::Mark if call.yields() => return Ok(Err(Failure::Interrupted)),
                result => match result.result() {
                    Some(result) => return self.made(call, result).await,
                    None => continue,
                },
            };
            doubts += 1;
            if let Some(result) = self.doubt(call, doubts, why).await? {
                return Ok(result);
            }
        }
    }

    /// The result of a call that was made. A deferred call has only begun; its answer comes from outside.
    async fn made(&mut self, call: &Call<'_>, result: Called) -> Result<Called, HandlerError> {
        if !call.policy.deferred || result.is_err() {
            return Ok(result);
        }
        let message = "the answer comes from outside (`deferred`)";
        let promise = format!("answer-{}", call.number);
        loop {
            // This includes a cancelled run whose call was made.
            match self.person(call, Reason::Deferred, promise.clone(), message.to_owned()).await? {
                Some(Verdict::Answer(json)) => return Ok(Ok(value(&json))),
                Some(Verdict::Fail(json)) => return Ok(Err(Failure::Failed(value(&json)))),
                Some(Verdict::Retry | Verdict::Approve | Verdict::Deny(_)) | None => {}
            }
        }
    }

    /// Writes an entry that only states which attempt this is.
    async fn mark(&mut self, number: u64) -> Result<(), HandlerError> {
        let by = self.attempt;
        let marked = self
            .ctx
            .run(|| async move { Ok(Json(Entry { by, result: Stored::Mark })) })
            .name(format!("mark {number}"))
            .await;
        match marked {
            Ok(Json(entry)) => self.last = Some(entry.by),
            Err(error) => self.cancel(error)?,
        }
        Ok(())
    }

    /// Calls the tool in an entry. If the run is cancelled meanwhile, the SDK drops the result. The result is
    /// kept then, and goes into an entry of its own.
    async fn call(&mut self, call: &Call<'_>, safe: bool) -> Result<Entry, HandlerError> {
        let (by, own) = (self.attempt, self.last == Some(self.attempt));
        let progress = Arc::new(Mutex::new(Progress::NotBegun));
        let work = self.work(call, progress.clone());
        let closure = || async move {
            if safe || own { work.await } else { Ok(Json(Entry { by, result: Stored::Unsure })) }
        };
        let name = format!("call {} {}", call.number, call.start.tool);
        let entry = match self.ctx.run(closure).name(name).await {
            Ok(Json(entry)) => entry,
            Err(error) => {
                self.cancel(error)?;
                self.kept(call.number, &progress, own).await?
            }
        };
        self.last = Some(entry.by);
        Ok(entry)
    }

    /// The result of a call that the SDK has dropped.
    async fn kept(
        &mut self,
        number: u64,
        progress: &Arc<Mutex<Progress>>,
        own: bool,
    ) -> Result<Entry, HandlerError> {
        loop {
            let (by, progress) = (self.attempt, progress.clone());
            let closure = || async move {
                let result = match &*lock(&progress) {
                    Progress::Ended(entry) => entry.result.clone(),
                    Progress::NotBegun if own => Stored::NotMade,
                    Progress::NotBegun | Progress::Begun => Stored::Unsure,
                };
                Ok(Json(Entry { by, result }))
            };
            match self.ctx.run(closure).name(format!("kept {number}")).await {
                Ok(Json(entry)) => return Ok(entry),
                Err(error) => self.cancel(error)?,
            }
        }
    }

    /// Calls the tool on a thread.
    fn work(
        &self,
        call: &Call<'_>,
        progress: Arc<Mutex<Progress>>,
    ) -> impl Future<Output = Result<Json<Entry>, HandlerError>> + Send + use<> {
        let (by, tools) = (self.attempt, self.tools.clone());
        let (tool, arguments) = (call.start.tool.clone(), call.start.arguments.clone());
        let interrupt = Interrupt::default();
        let limits = CallLimits {
            timeout: self.timeout,
            interrupt: interrupt.clone(),
            key: Some(call.key.clone()),
            confirmed: true,
            ..CallLimits::default()
        };
        async move {
            *lock(&progress) = Progress::Begun;
            let dropped = Dropped(interrupt);
            let call = move || tools.call(&tool, &arguments, &limits, Instant::now() + END);
            let result = tokio::task::spawn_blocking(call).await?;
            drop(dropped);
            let entry = Entry { by, result: result.into() };
            *lock(&progress) = Progress::Ended(entry.clone());
            Ok(Json(entry))
        }
    }

    /// Lets a person decide the result of a call; nothing if it may be made again.
    async fn doubt(
        &mut self,
        call: &Call<'_>,
        doubts: u32,
        why: String,
    ) -> Result<Option<Called>, HandlerError> {
        let promise = format!("doubt-{}-{doubts}", call.number);
        loop {
            let verdict = self.person(call, Reason::InDoubt, promise.clone(), why.clone()).await?;
            match verdict {
                Some(Verdict::Answer(json)) => return Ok(Some(Ok(value(&json)))),
                Some(Verdict::Fail(json)) => return Ok(Some(Err(Failure::Failed(value(&json))))),
                Some(Verdict::Retry) => return Ok(None),
                // A person decides first, also if the run was cancelled.
                Some(Verdict::Approve | Verdict::Deny(_)) | None => {}
            }
        }
    }

    /// Waits for a person's decision; nothing if the run was cancelled meanwhile.
    async fn person(
        &mut self,
        call: &Call<'_>,
        reason: Reason,
        promise: String,
        message: String,
    ) -> Result<Option<Verdict>, HandlerError> {
        let waiting = Waiting {
            reason,
            call: call.number,
            tool: call.start.tool.clone(),
            arguments: RawValue::from_string(call.start.arguments.to_json())?,
            key: call.key.clone(),
            promise,
            message,
            expects: self.tools.signature(&call.start.tool).and_then(Expects::of).map(Expects::to_json),
        };
        self.last = None;
        let ctx: &WorkflowContext<'_> = self.ctx;
        ctx.set(WAITING, Json(waiting.clone()));
        loop {
            match ctx.promise::<Json<Decision>>(&waiting.promise).await {
                Ok(Json(decided)) => {
                    ctx.clear(WAITING);
                    return Ok(Some(decided.decision));
                }
                Err(error) => {
                    self.cancel(error)?;
                    if reason == Reason::Asking && call.yields() {
                        ctx.clear(WAITING);
                        return Ok(None);
                    }
                }
            }
        }
    }
}

/// Whether a person decides if there is no answer.
fn asks(call: &Call<'_>) -> bool {
    !call.policy.read_only && call.policy.on_doubt == OnDoubt::Ask
}
