//! An active run and its journal: what is written before a call, after it, and at the end.
//!
//! The code that drives the run calls [`Session::before`] for each call and makes the call only if that
//! permits it; passes the result to [`Session::after`] before the run gets it; and passes the outcome to
//! [`Session::end`] before anybody else sees it. Only this module knows the order of the writes.

use crate::answer::{Answer, data};
use crate::calls::{Called, TOGETHER};
use crate::error::{Error, ErrorCode, Result};
use crate::limits::RunLimits;
use crate::model::{Attached, Claimed, FirstRecord, Held, Lease, NewRun, Record, RunId, Started, To};
use crate::policy::{Effect, RecordedPolicy};
use crate::queue::Ticket;
use crate::recovery::{NoAnswer, Recovery, after_claim, without_answer};
use crate::state::State;
use crate::store::Store;
use ilo_drive::data::Data;
use ilo_drive::failure::{ANSWER, ARGUMENTS, Failure};
use ilo_drive::recorder::{Due, Permit, Taken};
use ilo_drive::validate::expected::Expects;
use ilo_spec::error::Code;
use ilo_spec::number;
use ilo_vm::Run;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The result of a call, as it is stored.
enum Made {
    /// It has an answer.
    Answered(Answer),
    /// No answer came, and it may have been made; why.
    Unknown(String),
    /// Its answer comes later, from outside.
    Later,
}

/// The state in which a session has left its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// It has ended, and its outcome is on disk.
    Ended,
    /// A run of this name with this program and input exists already.
    Existing(RunId),
    /// It waits.
    Waits {
        /// The run.
        run: RunId,
        /// Its state.
        state: State,
        /// The number of its call.
        call: u64,
        /// The tool of that call.
        tool: String,
        /// The arguments of that call as JSON.
        arguments: String,
        /// When it wakes, in milliseconds since 1970, if it sleeps.
        wake: Option<i64>,
    },
}

/// The data with which a run is started.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// The caller's name for it.
    pub name: Option<String>,
    /// The input as bytes. Equal inputs must have equal bytes.
    pub input: Vec<u8>,
    /// The program's bytecode.
    pub program: Vec<u8>,
    /// The function that runs.
    pub function: String,
    /// Its limits.
    pub limits: RunLimits,
}

/// An active run with its journal.
#[derive(Debug)]
pub struct Session {
    store: Arc<Store>,
    stage: Stage,
    /// The call at which the run was taken over.
    found: Option<StoredRun>,
    /// The call that was recorded last.
    last: Option<Last>,
    cancel: bool,
    /// Whether the run should stop at its next call.
    stop: bool,
    /// Whether the run is in the journal from its first call on, even if that changes nothing.
    at_once: bool,
    /// To whom a new run belongs.
    subject: Option<String>,
    /// What is stored with a new run.
    attached: Attached,
    worked_ms: u64,
    since: Instant,
    /// When the last call was begun.
    begun: Option<Instant>,
    /// Calls that are to be kept.
    calls: Vec<Called>,
    left: Option<Left>,
    /// The run, once it has ended.
    ended: Option<RunId>,
}

#[derive(Debug)]
enum Stage {
    New(Box<Beginning>),
    Running(Box<Lease>),
    Over,
}

#[derive(Debug)]
struct StoredRun {
    call: u64,
    state: State,
    policy: RecordedPolicy,
    tries: u32,
    approved: bool,
    answer: Option<Answer>,
    unchecked: bool,
}

#[derive(Clone, Debug)]
struct Last {
    call: u64,
    tool: String,
    policy: RecordedPolicy,
    arguments: String,
    snapshot: Vec<u8>,
    rollback: bool,
    answer: Option<Answer>,
    /// What an answer from outside must be.
    expects: Option<String>,
}

impl Session {
    /// A new run. Nothing is written before its first call, or its end.
    pub fn new(store: Arc<Store>, beginning: Beginning) -> Session {
        Session::of(store, Stage::New(Box::new(beginning)), 0)
    }

    /// A run that was taken over, and is restored from its snapshot.
    pub fn resumed(store: Arc<Store>, claimed: Claimed) -> Session {
        let Claimed {
            lease, state, call, policy, tries, approved, answer, cancel, active_ms, unchecked, ..
        } = claimed;
        let mut session = Session::of(store, Stage::Running(Box::new(lease)), active_ms);
        session.cancel = cancel;
        session.found = Some(StoredRun { call, state, policy, tries, approved, answer, unchecked });
        session
    }

    fn of(store: Arc<Store>, stage: Stage, worked_ms: u64) -> Session {
        Session {
            store,
            stage,
            found: None,
            last: None,
            cancel: false,
            stop: false,
            at_once: false,
            subject: None,
            attached: Attached::default(),
            worked_ms,
            since: Instant::now(),
            begun: None,
            calls: Vec::new(),
            left: None,
            ended: None,
        }
    }

    /// Writes a new run into the journal before its first call of any kind. Without this, a run that has only
    /// called read-only tools is not in the journal yet.
    #[must_use]
    pub fn recorded_at_once(self) -> Session {
        Session { at_once: true, ..self }
    }

    /// Stores the signatures of its tools with a new run, as a text of the host.
    #[must_use]
    pub fn with_tools(self, tools: String) -> Session {
        Session { attached: Attached { tools: Some(tools), ..self.attached }, ..self }
    }

    /// Stores metadata with a new run, by which people find it: a tenant, a user, tags. It stays readable.
    #[must_use]
    pub fn with_metadata(self, metadata: BTreeMap<String, String>) -> Session {
        Session { attached: Attached { metadata, ..self.attached }, ..self }
    }

    /// Makes a new run belong to a subject, such as a user of a server.
    #[must_use]
    pub fn owned_by(self, subject: Option<String>) -> Session {
        Session { subject, ..self }
    }

    /// Whether the run was cancelled while it slept at this call. The call fails as cancelled.
    fn is_cancelled_asleep(&self, call: u64) -> bool {
        let slept = |found: &StoredRun| found.call == call && found.state == State::Ready;
        self.cancel && self.found.as_ref().is_some_and(slept)
    }

    /// Makes the run stop at its next call, without beginning the call.
    pub fn stop(&mut self) {
        self.stop = true;
    }

    /// Releases the run in its last recorded state, unless the session has left it already: this process does
    /// not continue it, and a call that was begun may have been made.
    pub fn release(&mut self) {
        drop(self.keep_calls());
        if let Stage::Running(lease) = std::mem::replace(&mut self.stage, Stage::Over) {
            // It is written with what is queued before it; nobody waits.
            drop(self.store.release(&lease));
        }
    }

    /// The run, once it is in the journal.
    pub fn run(&self) -> Option<RunId> {
        match (&self.stage, &self.left) {
            (Stage::Running(lease), _) => Some(lease.run()),
            (_, Some(Left::Existing(run) | Left::Waits { run, .. })) => Some(*run),
            _ => self.ended,
        }
    }

    /// The last call that has its answer: its number, its tool, and the answer. The journal gets the answer
    /// with the next record or soon after; [`Session::flush`] waits for that.
    pub fn answered(&self) -> Option<(u64, &str, &Answer)> {
        let last = self.last.as_ref()?;
        Some((last.call, &last.tool, last.answer.as_ref()?))
    }

    /// The state in which the session has left the run, if it has.
    pub fn left(&self) -> Option<&Left> {
        self.left.as_ref()
    }

    /// Whether somebody has cancelled the run, and it may be cancelled now: a call that may have been made is
    /// settled before.
    pub fn is_cancelled(&self) -> bool {
        let unsettled = |found: &StoredRun| matches!(found.state, State::Calling | State::Answered);
        self.cancel && !self.found.as_ref().is_some_and(unsettled)
    }

    /// Milliseconds for which the run has worked, in all processes.
    pub fn active_ms(&self) -> u64 {
        let now = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.worked_ms.saturating_add(now)
    }

    /// Decides on a call, and writes what must be on disk before it. If the run stops, [`Session::left`] says
    /// why. It blocks the thread.
    ///
    /// # Errors
    /// If it cannot be written: the call must not be made, and the run stops.
    pub fn before(&mut self, due: &Due<'_>) -> Result<Permit> {
        let waits = due.policy.is_some_and(|policy| policy.waits);
        if waits && self.is_cancelled_asleep(due.number) {
            return Ok(Permit::Settled(Err(Failure::Interrupted)));
        }
        if due.rollback && self.reached_limit(due.run) {
            return self.limited();
        }
        let now = due.policy.map(RecordedPolicy::from);
        let found = self.found.take().filter(|found| found.call == due.number);
        let last = Last::of(due, now)?;
        let approved = found.as_ref().is_some_and(|found| found.approved);
        let expecting = |last| Last { expects: due.expects.map(Expects::to_json), ..last };
        if let Some(StoredRun { state, policy: then, tries, answer, unchecked, .. }) = found {
            match (after_claim(state, then, now, tries), answer) {
                (Recovery::Make, _) => {}
                (Recovery::Again, _) => {
                    // An owner before this one may have made it, so nothing is said late of it.
                    self.fence()?;
                    self.last = Some(Last { policy: then, ..last });
                    self.begun = Some(Instant::now());
                    return Ok(self.permit(due.number, true));
                }
                (Recovery::Apply, Some(answer)) if unchecked && !fits(&answer, due)? => {
                    let to = if then.deferred { To::Deferred } else { To::Doubt };
                    return self.suspend(to, &expecting(last));
                }
                (Recovery::Apply, Some(answer)) => {
                    self.called(&last, Some(&answer));
                    let result = answer.result()?;
                    self.last = Some(Last { policy: then, answer: Some(answer), ..last });
                    return Ok(Permit::Settled(result));
                }
                (Recovery::Apply, None) => return Err(Error::damaged("an answer is missing")),
                (Recovery::Doubt, _) => return self.suspend(To::Doubt, &expecting(last)),
                (Recovery::Block, answer) => return self.suspend(To::Blocked, &Last { answer, ..last }),
                (Recovery::Wait, _) => return Err(Error::damaged("a run that waits was taken over")),
            }
        }
        let Some(policy) = now else { return self.suspend(To::Blocked, &last) };
        if self.stop {
            return self.suspend(To::Ready, &last);
        }
        if policy.confirm && !approved {
            return self.suspend(To::Asking, &last);
        }
        // A run that is cancelled is not put off.
        let sleep = if waits { seconds(due.arguments) } else { None };
        if let Some(time) = sleep.filter(|time| !time.is_zero() && !self.cancel) {
            return self.suspend(To::Sleeping { until: self.after_now(time) }, &last);
        }
        if policy.effect == Effect::Reads {
            self.write_later(To::Ready, &last)?;
        } else if !self.write(To::Calling, &last)? {
            return Ok(Permit::Suspend);
        } else {
            self.fence().inspect_err(|_| {
                if let Some(lease) = self.lease() {
                    self.store.late(lease.held(), last.call, None);
                }
            })?;
        }
        self.last = Some(last);
        self.begun = Some(Instant::now());
        Ok(self.permit(due.number, approved))
    }

    /// The call may be made; with a key once the run is in the journal.
    fn permit(&self, call: u64, confirmed: bool) -> Permit {
        match self.lease() {
            Some(lease) => Permit::CallWithKey { key: lease.key(call), confirmed },
            None => Permit::Call,
        }
    }

    /// Takes the result of the last permitted call, before the run gets it. It blocks the thread only if the
    /// run stops.
    ///
    /// # Errors
    /// If it cannot be written: the run must not continue.
    pub fn after(&mut self, due: &Due<'_>, result: &std::result::Result<Data, Failure>) -> Result<Taken> {
        self.take(made(result), due.expects)
    }

    /// The answer of the last permitted call comes later, from outside: the run stops.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn defer(&mut self, due: &Due<'_>) -> Result<Taken> {
        self.take(Some(Made::Later), due.expects)
    }

    fn take(&mut self, made: Option<Made>, expects: Option<Expects<'_>>) -> Result<Taken> {
        // An interrupt leaves the last record unchanged.
        let Some(made) = made else { return Ok(Taken::GoOn) };
        // Otherwise the answer was in the journal.
        let Some(last) = self.last.take_if(|last| last.answer.is_none()) else { return Ok(Taken::GoOn) };
        let (to, answer) = match made {
            Made::Later => (To::Deferred, None),
            Made::Answered(Answer::Ok(_)) if last.policy.deferred => (To::Deferred, None),
            Made::Answered(answer) => (To::Calling, Some(answer)),
            Made::Unknown(message) => match without_answer(last.policy, 0) {
                NoAnswer::Fail | NoAnswer::Retry => (To::Calling, Some(Answer::failed(&message))),
                NoAnswer::FailInDoubt => (To::Calling, Some(Answer::FailedInDoubt(message))),
                NoAnswer::Doubt => (To::Doubt, None),
            },
        };
        if answer.is_some() || to == To::Doubt {
            self.called(&last, answer.as_ref());
        }
        if let Some(answer) = answer {
            let answered = Last { answer: Some(answer), ..last };
            // What only reads is read again after a crash.
            let written = match answered.policy.effect {
                Effect::Reads => Ok(()),
                Effect::Idempotent | Effect::Changes => self.write_later(To::Answered, &answered),
            };
            self.last = Some(answered);
            return written.map(|()| Taken::GoOn);
        }
        // A read has no record of its own that says it began.
        let taken = if to == To::Doubt && last.policy.effect == Effect::Reads {
            Ok(Taken::GoOn)
        } else {
            let waits = Last { expects: expects.map(Expects::to_json), ..last.clone() };
            self.suspend(to, &waits).map(|_| Taken::Suspend)
        };
        self.last = Some(last);
        taken
    }

    /// Blocks the thread until the answer of the last call that may change something is on disk. Without this
    /// it is written with the next record of the run, or after 5 ms.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush(&mut self) -> Result<()> {
        let changes = |last: &&Last| last.answer.is_some() && last.policy.effect != Effect::Reads;
        match self.last.as_ref().filter(changes).cloned() {
            Some(last) if self.lease().is_some() => self.write(To::Answered, &last).map(drop),
            _ => Ok(()),
        }
    }

    /// Writes the outcome, or that the run waits for higher limits.
    ///
    /// # Errors
    /// If it cannot be written: the outcome must not be shown.
    pub fn end(&mut self, run: &Run) -> Result<()> {
        if self.reached_limit(run) {
            self.limited()?;
            return Ok(());
        }
        let Some(outcome) = run.outcome() else { return Ok(()) };
        let mut json = String::new();
        // Writing to a string does not fail.
        let _ = outcome.write_json(&mut json);
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::New(beginning) => {
                let calls = std::mem::take(&mut self.calls);
                let started = self.begin(&beginning, &FirstRecord::Ended(json.as_bytes()), &calls)?;
                self.ended = Some(started.run);
                // With a name, the run may have been there.
                self.left = Some(if started.is_new { Left::Ended } else { Left::Existing(started.run) });
            }
            Stage::Running(lease) => {
                if !self.calls.is_empty() {
                    self.store.keep(&lease, &std::mem::take(&mut self.calls))?;
                }
                self.ended = Some(lease.run());
                let held = lease.held();
                let ended = self.store.end(*lease, json.as_bytes()).and_then(Ticket::block);
                ended.map_err(|error| self.said(held, error))?;
                self.left = Some(Left::Ended);
            }
            Stage::Over => {}
        }
        Ok(())
    }

    fn lease(&self) -> Option<&Lease> {
        match &self.stage {
            Stage::Running(lease) => Some(lease),
            Stage::New(_) | Stage::Over => None,
        }
    }

    /// Whether the run ends only because a limit is used up that can be raised, and its rollback has not
    /// begun.
    fn reached_limit(&self, run: &Run) -> bool {
        let raised =
            matches!(run.ending(), Some(Code::FaultFuel | Code::FaultTooManyCalls | Code::FaultTimedOut));
        let before = self.last.as_ref().is_some_and(|last| !last.rollback || run.outcome().is_some());
        raised && before && !run.is_cancelled() && !self.cancel && self.lease().is_some()
    }

    fn limited(&mut self) -> Result<Permit> {
        let Some(last) = self.last.clone() else { return Ok(Permit::Suspend) };
        self.suspend(To::Limited, &last)
    }

    /// Records that the run waits, and leaves it.
    fn suspend(&mut self, to: To, last: &Last) -> Result<Permit> {
        if !self.write(to, last)? {
            return Ok(Permit::Suspend);
        }
        let Stage::Running(lease) = std::mem::replace(&mut self.stage, Stage::Over) else {
            return Ok(Permit::Suspend);
        };
        if lease.state().is_for_owners() {
            self.store.release(&lease).block()?;
        }
        self.left = Some(Left::Waits {
            run: lease.run(),
            state: lease.state(),
            call: last.call,
            tool: last.tool.clone(),
            arguments: last.arguments.clone(),
            wake: if let To::Sleeping { until } = to { Some(until) } else { None },
        });
        Ok(Permit::Suspend)
    }

    /// Writes a new run, after the calls that it has made.
    fn begin(&self, beginning: &Beginning, first: &FirstRecord<'_>, calls: &[Called]) -> Result<Started> {
        let new = beginning.run(self.subject.as_deref());
        self.store.start_after(&new, first, &self.attached, calls)?.block()
    }

    /// Takes a call that is over, if the journal keeps calls.
    fn called(&mut self, last: &Last, answer: Option<&Answer>) {
        let took =
            self.begun.take().map(|begun| u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX));
        if self.store.keeps_calls() {
            self.calls.push(Called {
                call: last.call,
                at: self.store.now(),
                tool: last.tool.clone(),
                arguments: last.arguments.clone(),
                took_ms: took,
                answer: answer.cloned(),
            });
        }
    }

    /// Hands the calls over that are to be kept, once the run is in the journal.
    fn keep_calls(&mut self) -> Result<()> {
        match &self.stage {
            Stage::Running(lease) if !self.calls.is_empty() => {
                self.store.keep(lease, &std::mem::take(&mut self.calls))
            }
            _ => Ok(()),
        }
    }

    /// Waits until it is sure that the run is still of this session, just before a call that was recorded. If
    /// it is not, the call is not made, and whoever has the run learns that.
    fn fence(&self) -> Result<()> {
        self.lease().map_or(Ok(()), |lease| self.store.may_call(lease))
    }

    /// Says late what became of the last call, if the run was lost meanwhile: who has it may be in doubt.
    fn said(&self, held: Held, error: Error) -> Error {
        if let Some(Last { call, answer: Some(answer), policy, .. }) = &self.last
            && error.code == ErrorCode::Lost
            && policy.effect != Effect::Reads
        {
            self.store.late(held, *call, Some(answer));
        }
        error
    }

    /// A time of the journal's clock after a duration.
    fn after_now(&self, time: Duration) -> i64 {
        self.store.now().saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    /// Writes a record and waits for it; false if the run was there already.
    fn write(&mut self, to: To, last: &Last) -> Result<bool> {
        let held = self.lease().map(Lease::held);
        self.write_once(to, last).map_err(|error| match held {
            Some(held) => self.said(held, error),
            None => error,
        })
    }

    fn write_once(&mut self, to: To, last: &Last) -> Result<bool> {
        let record = last.record(to, self.active_ms());
        self.keep_calls()?;
        match &mut self.stage {
            Stage::Running(lease) => {
                self.cancel |= self.store.record(lease, &record)?.block()?;
                Ok(true)
            }
            Stage::New(_) => {
                let calls = std::mem::take(&mut self.calls);
                let Stage::New(beginning) = &self.stage else { return Ok(false) };
                let first = match to {
                    // A run begins with a call that is ready, and this comes of it.
                    To::Blocked | To::Doubt => Record { to: To::Ready, expects: None, ..record.clone() },
                    _ => record.clone(),
                };
                let started = self.begin(beginning, &FirstRecord::Call(first), &calls)?;
                let Some(mut lease) = started.lease else {
                    self.stage = Stage::Over;
                    self.left = Some(Left::Existing(started.run));
                    return Ok(false);
                };
                if lease.state() != record.to.state() {
                    self.store.record(&mut lease, &record)?.block()?;
                }
                self.stage = Stage::Running(Box::new(lease));
                Ok(true)
            }
            Stage::Over => Err(Error::new(ErrorCode::Closed, "the session has left its run")),
        }
    }

    /// Records a call that changes nothing, or an answer, without waiting, unless the run is not in the
    /// journal yet.
    fn write_later(&mut self, to: To, last: &Last) -> Result<()> {
        // With this record a crash no longer leaves the call before it to be found again.
        let changed = |before: &Last| to == To::Ready && before.policy.effect != Effect::Reads;
        if self.calls.len() >= TOGETHER || self.last.as_ref().is_some_and(changed) {
            self.keep_calls()?;
        }
        let record = last.record(to, self.active_ms());
        match &mut self.stage {
            Stage::Running(lease) => self.store.record_later(lease, &record),
            Stage::New(_) if self.at_once => self.write(To::Ready, last).map(drop),
            // What only reads may be started again from its beginning.
            Stage::New(_) => Ok(()),
            Stage::Over => Err(Error::new(ErrorCode::Closed, "the session has left its run")),
        }
    }
}

/// Whether an answer that was compared with nothing fits the tool of today.
fn fits(answer: &Answer, due: &Due<'_>) -> Result<bool> {
    match (answer, due.expects) {
        (Answer::Ok(json), Some(expects)) => Ok(expects.misfit(&data(json)?).is_none()),
        _ => Ok(true),
    }
}

/// How long a call waits, where its argument says so. What is no such time is the tool's to refuse.
fn seconds(arguments: &Data) -> Option<Duration> {
    let Some(Data::Number(seconds)) = arguments.get("seconds") else { return None };
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = number::write(*seconds, &mut text);
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

/// The result of a call; `None` if the run is interrupted, which leaves its last record unchanged.
fn made(result: &std::result::Result<Data, Failure>) -> Option<Made> {
    Some(match result {
        Ok(value) => Made::Answered(Answer::Ok(value.to_json())),
        Err(Failure::Failed(value)) => Made::Answered(Answer::Failed(value.to_json())),
        Err(Failure::InDoubt(message)) => Made::Unknown(message.clone()),
        Err(Failure::Misfit(why)) => Made::Answered(Answer::FailedInDoubt(format!("{ANSWER}{why}"))),
        Err(Failure::Unsent(why)) => Made::Answered(Answer::failed(&format!("{ARGUMENTS}{why}"))),
        Err(Failure::TimedOut) => Made::Unknown("no answer came before the run's time was over".to_owned()),
        // It was made, and the run ends for that.
        Err(Failure::Limit(_, message)) => Made::Answered(Answer::FailedInDoubt(message.clone())),
        Err(Failure::Interrupted) => return None,
    })
}

impl Beginning {
    fn run<'b>(&'b self, subject: Option<&'b str>) -> NewRun<'b> {
        NewRun {
            name: self.name.as_deref(),
            input: &self.input,
            program: &self.program,
            function: &self.function,
            limits: &self.limits,
            subject,
        }
    }
}

impl Last {
    fn of(due: &Due<'_>, policy: Option<RecordedPolicy>) -> Result<Last> {
        let mut snapshot = Vec::new();
        due.run
            .snapshot(&mut snapshot)
            .map_err(|error| Error::new(ErrorCode::Value, format!("the run has no snapshot: {error}")))?;
        Ok(Last {
            call: due.number,
            tool: due.tool.to_owned(),
            policy: policy.unwrap_or(RecordedPolicy::of(Effect::Changes)),
            arguments: due.arguments.to_json(),
            snapshot,
            rollback: due.rollback,
            answer: None,
            expects: None,
        })
    }

    fn record(&self, to: To, active_ms: u64) -> Record<'_> {
        Record {
            to,
            call: self.call,
            tool: &self.tool,
            policy: self.policy,
            arguments: self.arguments.as_bytes(),
            active_ms,
            snapshot: &self.snapshot,
            answer: self.answer.as_ref().filter(|_| matches!(to, To::Answered | To::Limited | To::Blocked)),
            expects: self.expects.as_deref().filter(|_| matches!(to, To::Doubt | To::Deferred)),
        }
    }
}
