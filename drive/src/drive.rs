//! The run loop as a state machine: it says which calls to start and takes their answers. Its caller supplies
//! the time and makes the calls.
//!
//! The run is strictly in order. Calls of read-only tools may start early (`ahead`); apart from time, this
//! makes no visible difference: the outcome, the order of the calls, the fuel and what is recorded do not
//! depend on the order in which answers arrive.

mod settle;
mod watch;

pub use settle::give;

pub use crate::ahead::CallTicket;
use crate::ahead::{Ahead, Order, Settled, Work};
use crate::call_slots::CallSlots;
use crate::data::read::data_of;
use crate::data::{Data, Fields};
use crate::event::Watch;
use crate::failure::Failure;
use crate::lifecycle::{CANCELLED, End, Finished};
use crate::policy::{OnDoubt, Policy};
use crate::recorder::{Due, Permit, Recorder, Taken};
use crate::validate::expected::Expects;
use crate::validate::output_misfit;
use crate::world::World;
use ilo_asm::compile::OutputSchema;
use ilo_spec::error::Code;
use ilo_vm::{Run, Step};
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

/// The fuel after which a run that only computes returns control: about a millisecond.
const SLICE: u64 = 200_000;

/// Waits without an answer after which a debug build stops a host that does not keep the times. One that
/// looks every millisecond has a fifth of a second to notice.
const FORGOTTEN: u32 = 200;

/// The role of a call in its run, which decides what may end it. Bindings pass these as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// A call of a read-only tool that was started before its turn.
    Ahead = 0,
    /// A call of a read-only tool in its turn. A cancel ends it.
    Read = 1,
    /// A call that may change something. Once it is sent, its answer is awaited, even if the run is
    /// cancelled.
    Change = 2,
    /// A call that is made although its run was cancelled.
    Undo = 3,
    /// The call of a ROLLBACK entry. Its time limit is that of its tool, whatever is left of the run's time.
    Entry = 4,
}

/// A call that the caller has to start.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Start {
    /// Identifies the call in [`Drive::settle`].
    pub ticket: CallTicket,
    /// The tool by the name that the program uses.
    pub tool: String,
    /// The arguments: a record.
    pub arguments: Data,
    /// Decides what may end the call.
    pub kind: CallKind,
    /// Whether the run can only await calls that were started before, until this call has ended.
    pub alone: bool,
    /// The idempotency key, which the tool gets with every attempt.
    pub key: Option<String>,
    /// Whether a person has already allowed the call.
    pub confirmed: bool,
}

/// What the caller has to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// The run makes the call that [`Drive::due`] describes. If it was not started ahead, `Start` follows.
    Due,
    /// Start this call, and pass its result to [`Drive::settle`].
    Start(Start),
    /// The answer of a call that was started ahead is not wanted, so the call may be ended. [`Drive::settle`]
    /// still gets its result.
    Drop {
        /// The call.
        ticket: CallTicket,
        /// Its tool.
        tool: String,
    },
    /// The call that [`Drive::made`] describes has ended. The run continues with its answer at the next step.
    Made,
    /// The run has more to compute: do other work if there is some, and call `next` again.
    Computing,
    /// Another call has to end first.
    Wait,
    /// The run is over.
    Done,
    /// The run is about to end with the value of its outcome, as was asked for ([`Drive::hold_value`]). A
    /// host that does not take it says so with [`Drive::refuse_value`], and calls `next` in any case.
    Value,
}

/// A call that the run makes in its turn.
#[allow(clippy::struct_excessive_bools, reason = "each says another thing of the call")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Turn {
    /// Its number: calls are counted from 0, in the order in which the run makes them.
    pub seq: u64,
    /// Its number within the run, from 1. It stays the same when the run is suspended and restored, and it
    /// counts calls that were not made too.
    pub number: u64,
    /// Whether a ROLLBACK entry makes it.
    pub rollback: bool,
    /// Whether it may change something.
    pub changes: bool,
    /// The tool.
    pub tool: String,
    /// The arguments: a record.
    pub arguments: Data,
    /// Whether it was started before its turn.
    pub ahead: bool,
    /// Whether it is sent. A call whose arguments do not fit is not.
    pub sent: bool,
}

/// A call that has ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Made<V> {
    /// The call.
    pub turn: Turn,
    /// The result of the call.
    pub result: Result<Data, Failure>,
    /// The data that [`Drive::settle`] got with the result.
    pub note: V,
    /// Whether it may have changed something although the run has no answer to it, and what follows from
    /// that.
    pub doubt: Option<OnDoubt>,
    /// Whether the run was cancelled before it ended.
    pub cancelled: bool,
}

#[derive(Debug)]
enum Phase<V> {
    /// The machine computes.
    Running,
    /// The run waits for a call.
    Calling(Turn, Work<V>),
    /// A call was refused, which has not been reported yet.
    Refused(Made<V>),
    /// A call has ended, and the run does not have its answer yet.
    Ended(Made<V>),
    Over(End),
}

/// A run that is driven. `V` is the data that the host wants back with a result, such as its duration.
///
/// # Rules for a host
/// 1. The host calls [`Drive::next`] until it gives [`Next::Done`], and does what it says. After
///    [`Next::Wait`] it waits, and calls `next` again once it has settled something.
/// 2. Each call of [`Next::Start`] is settled once ([`Drive::settle`]), also after [`Next::Drop`]. What is
///    settled again changes nothing, so an answer that comes too late may be passed on.
/// 3. *The host keeps the times.* When the time of the run is over ([`World::is_late`]), it settles each call
///    under way with [`Failure::TimedOut`], whatever the tool does, but for those of [`CallKind::Entry`]: the
///    time of the run stops while these are made. A call that exceeds its own limit is settled with
///    [`Failure::InDoubt`].
/// 4. When the run is cancelled ([`World::is_cancelled`]), the host settles calls of [`CallKind::Ahead`] and
///    [`CallKind::Read`] with [`Failure::Interrupted`], and awaits the others, which may change something.
/// 5. When it is interrupted ([`World::is_interrupted`]), the host settles all calls with
///    [`Failure::Interrupted`].
/// 6. Policies are the host's: it asks a person before a call of a tool with `confirm` unless
///    [`Start::confirmed`], repeats failed calls, and keeps rates. A call that was refused is settled with
///    [`Failure::Failed`].
/// 7. A tool that panics is settled with [`Failure::InDoubt`].
///
/// The page of the crate has a complete host. In debug builds a host that waits on and on past the time of
/// the run, or past a cancel, without settling anything is stopped by an assertion.
#[derive(Debug)]
pub struct Drive<V> {
    run: Run,
    ahead: Ahead<V>,
    phase: Phase<V>,
    /// Actions that precede everything else.
    events: VecDeque<Next>,
    seq: u64,
    /// Whether calls that were started ahead have ended since the last look.
    news: bool,
    /// Whether the run's time is over.
    late: bool,
    /// How often the host was to settle a call that has no time left, and has not.
    forgotten: u32,
    /// The limit on the run's time, for its message.
    time: Duration,
    /// The events, if the host wants them.
    watch: Option<Watch>,
    /// What the value of the run must be.
    output: Option<Arc<OutputSchema>>,
    /// Whether the host looks at the value of the run before that ends.
    holds: bool,
}

impl<V: Default> Drive<V> {
    /// Drives a run that was started or restored. `slots` limits the calls under way at once; `time` is the
    /// limit on the run's time, which [`World::is_late`] keeps.
    pub fn new(run: Run, slots: CallSlots, time: Duration) -> Drive<V> {
        Drive {
            run,
            ahead: Ahead::new(slots),
            phase: Phase::Running,
            events: VecDeque::new(),
            seq: 0,
            news: false,
            late: false,
            forgotten: 0,
            time,
            watch: None,
            output: None,
            holds: false,
        }
    }

    /// Says what the value of the run must be. A run that would end with another value is rolled back and
    /// ends with fault `output-mismatch`.
    pub fn expect_output(&mut self, output: Option<Arc<OutputSchema>>) {
        self.output = output;
    }

    /// Lets the host look at the value of the run before it ends: [`Next::Value`] comes before that.
    pub fn hold_value(&mut self) {
        self.holds = true;
    }

    /// Refuses the value of the run, after [`Next::Value`]. The run is rolled back and ends with fault
    /// `output-mismatch`.
    pub fn refuse_value(&mut self, why: &str) {
        self.run.refuse_output(&format!("the value is not what the host of the run expects: {why}"));
    }

    /// The run, for inspection.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Returns the run when driving is over. Before that, it counts as interrupted.
    pub fn finish(self) -> Finished {
        let end = match self.phase {
            Phase::Over(end) => end,
            Phase::Running | Phase::Calling(..) | Phase::Refused(_) | Phase::Ended(_) => End::Interrupted,
        };
        Finished::new(self.run, end)
    }

    /// How driving ended, if it has.
    pub fn end(&self) -> Option<&End> {
        match &self.phase {
            Phase::Over(end) => Some(end),
            Phase::Running | Phase::Calling(..) | Phase::Refused(_) | Phase::Ended(_) => None,
        }
    }

    /// The call that the run waits for, or whose answer it gets next.
    pub fn due(&self) -> Option<&Turn> {
        match &self.phase {
            Phase::Calling(turn, _) | Phase::Ended(Made { turn, .. }) => Some(turn),
            Phase::Running | Phase::Refused(_) | Phase::Over(_) => None,
        }
    }

    /// The call that has ended, after [`Next::Made`].
    pub fn made(&self) -> Option<&Made<V>> {
        match &self.phase {
            Phase::Ended(made) => Some(made),
            Phase::Running | Phase::Calling(..) | Phase::Refused(_) | Phase::Over(_) => None,
        }
    }

    /// Takes the result of a call. A ticket that is not under way changes nothing.
    pub fn settle(&mut self, ticket: CallTicket, result: Result<Data, Failure>, note: V, world: &dyn World) {
        self.forgotten = 0;
        let watched = self.watch.is_some();
        let seen = match &mut self.phase {
            Phase::Calling(turn, work) if work.ticket == ticket => {
                // The answer of an entry is not read. If it comes later, there is none here.
                let read = !turn.rollback && !world.policy(&turn.tool).is_some_and(|policy| policy.deferred);
                let result = if read { world.checked(&turn.tool, result) } else { result };
                let seen = watched.then(|| result.clone());
                work.done.get_or_insert(Settled { result, note });
                seen
            }
            _ => {
                let given = watched.then(|| result.clone());
                let taken = self.ahead.settle(ticket, Settled { result, note }, world);
                self.news |= taken.is_some();
                given.map(|given| taken.cloned().unwrap_or(given))
            }
        };
        if let Some(result) = seen {
            self.tell_end(ticket, &result, world);
        }
    }

    /// Reports that a call with [`CallKind::Ahead`] could not be started, for example for lack of a
    /// thread. It is made in its turn.
    pub fn not_started(&mut self, ticket: CallTicket, world: &dyn World) {
        self.forgotten = 0;
        self.ahead.not_started(ticket);
        self.left(ticket, world);
    }

    /// Returns what the caller has to do next.
    pub fn next(&mut self, world: &dyn World, recorder: &mut dyn Recorder) -> Next {
        loop {
            if let Some(event) = self.events.pop_front() {
                return event;
            }
            match mem::replace(&mut self.phase, Phase::Running) {
                Phase::Running => {
                    if let Some(next) = self.advance(world, recorder) {
                        return next;
                    }
                }
                Phase::Calling(turn, work) => {
                    if let Some(next) = self.look_after(turn, work, world) {
                        return next;
                    }
                }
                Phase::Refused(made) => {
                    self.phase = Phase::Ended(made);
                    return Next::Made;
                }
                Phase::Ended(made) => self.take(&made, world, recorder),
                Phase::Over(end) => {
                    self.phase = Phase::Over(end);
                    self.leave(world);
                    return Next::Done;
                }
            }
        }
    }

    /// Runs the machine to a call, to the end, or for a limited amount of fuel.
    fn advance(&mut self, world: &dyn World, recorder: &mut dyn Recorder) -> Option<Next> {
        self.take_cancel(world);
        let calls = match self.run.step_within(SLICE) {
            None => {
                if world.is_interrupted() {
                    self.stop(End::Interrupted);
                } else if world.is_late() && !self.late {
                    self.time_out();
                }
                return Some(Next::Computing);
            }
            Some(Step::Call(_)) => true,
            Some(Step::Done(_)) => false,
        };
        if calls {
            self.come_to_call(world, recorder);
        } else if (self.holds || self.output.is_some())
            && self.run.outcome().is_some_and(|it| it.ok().is_some())
        {
            return self.look_at_value(world);
        } else {
            self.conclude(recorder);
        }
        None
    }

    /// Compares the value of the run with what the host expects, and lets the host look at it.
    fn look_at_value(&mut self, world: &dyn World) -> Option<Next> {
        if let Some(why) = self.output.take().and_then(|output| output_misfit(&self.run, &output)) {
            self.refuse_value(&world.worded(why));
            return None;
        }
        mem::take(&mut self.holds).then_some(Next::Value)
    }

    /// Records that the run has ended.
    fn conclude(&mut self, recorder: &mut dyn Recorder) {
        match recorder.end(&self.run) {
            Ok(()) => self.stop(End::Outcome),
            Err(error) => self.stop(End::NotRecorded(error)),
        }
    }

    /// Ends driving.
    fn stop(&mut self, end: End) {
        self.ahead.forget();
        self.pass_orders();
        self.phase = Phase::Over(end);
    }

    /// Describes the call that the run waits for and has not made.
    fn come_to_call(&mut self, world: &dyn World, recorder: &mut dyn Recorder) {
        if world.is_interrupted() {
            return self.stop(End::Interrupted);
        }
        self.take_cancel(world);
        let Some(call) = self.run.waiting() else { return };
        let (tool, number, rollback) = (call.tool().to_owned(), call.number(), call.is_rollback());
        let (cancelled, mut json) = (call.is_cancelled(), String::new());
        // Writing to a string does not fail.
        let _ = call.write_json(&mut json);
        let changes = !world.is_read_only(&tool);
        if !rollback {
            if world.is_late() {
                return self.time_out();
            }
            if changes && cancelled {
                return self.fail(CANCELLED);
            }
        }
        let (arguments, refused) = match data_of(&json) {
            Ok(arguments) => {
                let arguments = world.sent(&tool, arguments);
                let refused = world.refuses(&tool, &arguments);
                (arguments, refused)
            }
            Err(error) => (Data::Record(Fields::new()), Some(error.to_string())),
        };
        if let Some(why) = refused {
            let turn =
                Turn { seq: self.seq, number, rollback, changes, tool, arguments, ahead: false, sent: false };
            self.seq += 1;
            let result = Err(Failure::Unsent(why));
            if self.watch.is_some() {
                let ticket = self.ahead.ticket();
                self.tell_start(ticket, &turn, true, world);
                self.tell_end(ticket, &result, world);
            }
            let cancelled = self.run.is_cancelled();
            self.phase = Phase::Refused(Made { turn, result, note: V::default(), doubt: None, cancelled });
            return;
        }
        let policy = world.policy(&tool);
        let expects = world.signature(&tool).and_then(Expects::of);
        let due =
            Due { run: &self.run, tool: &tool, policy, arguments: &arguments, number, rollback, expects };
        let permit = match recorder.before(&due) {
            Ok(permit) => permit,
            Err(error) => return self.stop(End::NotRecorded(error)),
        };
        if permit == Permit::Suspend {
            return self.stop(End::Suspended);
        }
        let is_answered = matches!(permit, Permit::Settled(_));
        let over = if changes && !rollback && !is_answered { self.over(world) } else { None };
        let permit = over.map_or(permit, |why| Permit::Settled(Err(Failure::text(why))));
        if changes && let Some(mut call) = self.run.pending() {
            call.may_change();
        }
        self.events.push_back(Next::Due);
        let turn =
            Turn { seq: self.seq, number, rollback, changes, tool, arguments, ahead: false, sent: true };
        self.seq += 1;
        self.make(turn, &json, permit, world);
    }

    /// Makes a call, or takes the answer of one that was started ahead.
    fn make(&mut self, mut turn: Turn, json: &str, permit: Permit, world: &dyn World) {
        let cancelled = self.run.is_cancelled();
        let kind = match turn {
            _ if turn.rollback => CallKind::Entry,
            _ if cancelled => CallKind::Undo,
            _ if turn.changes => CallKind::Change,
            _ => CallKind::Read,
        };
        let own = if kind == CallKind::Read && world.may_run_ahead(&turn.tool) {
            let own = self.ahead.take(&turn.tool, json);
            self.ahead.look(&self.run, own.as_ref(), world);
            own
        } else {
            self.ahead.forget();
            None
        };
        self.tell_ahead(world);
        self.pass_orders();
        let (key, confirmed) = match permit {
            Permit::Settled(result) => {
                let mut work = own.unwrap_or_else(|| Work::own(self.ahead.ticket()));
                self.tell_start(work.ticket, &turn, true, world);
                self.tell_end(work.ticket, &result, world);
                work.done = Some(Settled { result, note: V::default() });
                self.phase = Phase::Calling(turn, work);
                return;
            }
            Permit::CallWithKey { key, confirmed } => (Some(key), confirmed),
            Permit::Call | Permit::Suspend => (None, false),
        };
        turn.ahead = own.is_some();
        let begins = own.is_none();
        let work = own.unwrap_or_else(|| {
            let ticket = self.ahead.ticket();
            let (tool, arguments) = (turn.tool.clone(), turn.arguments.clone());
            let alone = !self.ahead.lacks();
            let start = Start { ticket, tool, arguments, kind, alone, key, confirmed };
            self.events.push_back(Next::Start(start));
            Work::own(ticket)
        });
        self.tell_start(work.ticket, &turn, begins, world);
        self.phase = Phase::Calling(turn, work);
    }

    /// Checks whether the call that the run waits for has ended, and starts calls that the answers of others
    /// made known.
    fn look_after(&mut self, turn: Turn, mut work: Work<V>, world: &dyn World) -> Option<Next> {
        if let Some(Settled { result, note }) = work.done.take() {
            let doubt = doubt(world.policy(&turn.tool), &result).filter(|_| turn.changes && !turn.rollback);
            let cancelled = self.run.is_cancelled() || world.is_cancelled();
            self.phase = Phase::Ended(Made { turn, result, note, doubt, cancelled });
            return Some(Next::Made);
        }
        self.remember(&turn, world);
        let look = self.ahead.lacks() && mem::take(&mut self.news);
        if look {
            self.ahead.look(&self.run, Some(&work), world);
            self.tell_ahead(world);
            self.pass_orders();
        }
        self.phase = Phase::Calling(turn, work);
        (!look).then_some(Next::Wait)
    }

    /// Stops a host in debug builds that waits for a call which it had to settle.
    fn remember(&mut self, turn: &Turn, world: &dyn World) {
        if !cfg!(debug_assertions) || turn.rollback {
            return;
        }
        let over = world.is_late() || (!turn.changes && !self.run.is_cancelled() && world.is_cancelled());
        self.forgotten = if over { self.forgotten + 1 } else { 0 };
        debug_assert!(
            self.forgotten < FORGOTTEN,
            "the host waits for `{}` past the time of the run or a cancel: it has to settle the call, with \
             `Failure::TimedOut` or `Failure::Interrupted` (see the rules of `Drive`)",
            turn.tool
        );
    }

    /// Returns the next action for the caller.
    fn pass_orders(&mut self) {
        self.events.extend(self.ahead.orders.drain(..).map(|order| match order {
            Order::Drop { ticket, tool } => Next::Drop { ticket, tool },
            Order::Start { ticket, tool, arguments, .. } => {
                let (kind, alone) = (CallKind::Ahead, false);
                Next::Start(Start { ticket, tool, arguments, kind, alone, key: None, confirmed: false })
            }
        }));
    }

    /// Records the result of a call, and passes it to the run.
    fn take(&mut self, made: &Made<V>, world: &dyn World, recorder: &mut dyn Recorder) {
        if let (Err(failure @ Failure::Unsent(_)), false) = (&made.result, made.turn.sent) {
            if let (Some(Data::Text(message)), Some(call)) = (failure.value().as_ref(), self.run.pending()) {
                // A message that exceeds a limit has ended the run with that fault, which the next step
                // returns.
                drop(call.fail_unsent(message));
            }
            return;
        }
        match recorder.after(&self.described(&made.turn, world), &made.result) {
            Ok(Taken::GoOn) => {}
            Ok(Taken::Suspend) => return self.stop(End::Suspended),
            Err(error) => return self.stop(End::NotRecorded(error)),
        }
        let goes_on =
            if made.turn.rollback { self.entry_ended(&made.result, world) } else { self.ended(made, world) };
        if !goes_on {
            self.stop(End::Interrupted);
        }
    }

    /// Cancels the run if this was requested.
    fn take_cancel(&mut self, world: &dyn World) {
        if world.is_cancelled() && !self.run.is_cancelled() {
            self.run.cancel_for(&world.cancel_reason().unwrap_or_default());
        }
    }

    fn fail(&mut self, message: &str) {
        if let Some(call) = self.run.pending() {
            // A message that exceeds a limit has ended the run with that fault, which the next step returns.
            drop(call.fail(message));
        }
    }

    fn time_out(&mut self) {
        self.late = true;
        let message = self.late_message();
        self.run.end_with(Code::FaultTimedOut, &message);
    }

    /// Why a call that is recorded is not made: its record may have taken long.
    fn over(&self, world: &dyn World) -> Option<String> {
        if world.is_late() {
            return Some(self.late_message());
        }
        (!self.run.is_cancelled() && world.is_cancelled()).then(|| CANCELLED.to_owned())
    }

    fn late_message(&self) -> String {
        format!("the run took longer than its limit of {} ms", self.time.as_millis())
    }
}

/// What follows when a call that may change something has no answer.
fn doubt(policy: Option<&Policy>, result: &Result<Data, Failure>) -> Option<OnDoubt> {
    match result {
        Err(Failure::InDoubt(_)) => Some(policy.map(|policy| policy.on_doubt).unwrap_or_default()),
        Err(Failure::TimedOut | Failure::Limit(..) | Failure::Misfit(_)) => Some(OnDoubt::Fail),
        Ok(_) | Err(Failure::Failed(_) | Failure::Unsent(_) | Failure::Interrupted) => None,
    }
}
