//! The run loop as a state machine: it says which calls to start and takes their answers; whoever drives it
//! brings the time and makes the calls.
//!
//! The run is strictly in order. Calls of read-only tools may start early (`ahead`); apart from time, this
//! makes no visible difference: the outcome, the order of the calls, the fuel and what is recorded do not
//! depend on the order in which answers arrive.

mod settle;

pub use crate::ahead::Ticket;
use crate::ahead::{Ahead, Order, Settled, Work};
use crate::call_slots::CallSlots;
use crate::data::Data;
use crate::failure::Failure;
use crate::policy::{OnDoubt, Policy};
use crate::recorder::{Due, Permit, Recorder, Taken};
use crate::run::{CANCELLED, End, Finished, data_of};
use crate::world::World;
use ilo_spec::error::Code;
use ilo_vm::{Run, Step};
use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

/// The fuel after which the run gives control back while it only computes: about a millisecond.
const SLICE: u64 = 200_000;

/// What a call is to its run, which decides what may end it. Bindings give these as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A call of a read-only tool before its turn, beside others.
    Ahead = 0,
    /// A call of a read-only tool in its turn: a cancel ends it.
    Read = 1,
    /// A call that may change something: once it is sent, its answer is awaited, even if the run is
    /// cancelled.
    Change = 2,
    /// A call of a run that was cancelled, which is made all the same.
    Undo = 3,
    /// The call of a ROLLBACK entry: it has the time of its tool, whatever is left of the run's.
    Entry = 4,
}

/// A call to be started.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// Names the call in [`Drive::settle`].
    pub ticket: Ticket,
    /// The tool by the name that the program uses.
    pub tool: String,
    /// The arguments: a record.
    pub arguments: Data,
    /// What may end it.
    pub kind: Kind,
    /// Whether nothing can be done until it has ended but awaiting calls that were started before.
    pub alone: bool,
    /// The key that its tool gets with every attempt.
    pub key: Option<String>,
    /// Whether a person has already allowed the call.
    pub confirmed: bool,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// The run makes the call that [`Drive::due`] describes; where it was not started ahead, `Start` follows.
    Due,
    /// Start this call, and give its answer to [`Drive::settle`].
    Start(Start),
    /// The answer of a call that was started ahead is not wanted: it may be ended. [`Drive::settle`] still
    /// gets it, or whatever it ended with.
    Drop {
        /// The call.
        ticket: Ticket,
        /// Its tool.
        tool: String,
    },
    /// The call that [`Drive::made`] describes has ended; the run goes on with its answer at the next step.
    Made,
    /// The run has more to compute: look after whatever else there is, and come again.
    Computing,
    /// Nothing can be done before another call has ended.
    Wait,
    /// The run is over.
    Done,
}

/// A call that the run makes in its turn.
#[allow(clippy::struct_excessive_bools, reason = "each says another thing of the call")]
#[derive(Clone, Debug)]
pub struct Turn {
    /// Its number: calls are counted from 0, in the order in which the run makes them.
    pub seq: u64,
    /// Its number within the run, from 1. It stays the same when the run is suspended and goes on, and calls
    /// that were not made have one too.
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
    /// Whether it is made at all: its arguments may not fit.
    pub sent: bool,
}

/// A call that has ended.
#[derive(Debug)]
pub struct Made<V> {
    /// The call.
    pub turn: Turn,
    /// What came of it.
    pub result: Result<Data, Failure>,
    /// What [`Drive::settle`] got with it.
    pub note: V,
    /// Whether it may have changed something although the run has no answer of it, and if so, what that does.
    pub doubt: Option<OnDoubt>,
    /// Whether the run was cancelled by then.
    pub cancelled: bool,
}

#[derive(Debug)]
enum Phase<V> {
    /// The machine runs.
    Running,
    /// The run waits for a call.
    Calling(Turn, Work<V>),
    /// A call was refused, which nobody knows yet.
    Refused(Made<V>),
    /// A call has ended, and the run does not have its answer yet.
    Ended(Made<V>),
    Over(End),
}

/// A run that is driven. `V` is what the host wants back with an answer, such as the time that it took.
#[derive(Debug)]
pub struct Drive<V> {
    run: Run,
    ahead: Ahead<V>,
    phase: Phase<V>,
    /// What is to be done outside before anything else.
    events: VecDeque<Next>,
    seq: u64,
    /// Whether calls ahead of their turn have ended since the last look.
    news: bool,
    /// Whether the run's time was over.
    late: bool,
    /// The limit on the run's time, for its message.
    time: Duration,
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
            time,
        }
    }

    /// The run, to look at it.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The run, once driving it is over; before that, it counts as interrupted.
    pub fn finish(self) -> Finished {
        let end = match self.phase {
            Phase::Over(end) => end,
            Phase::Running | Phase::Calling(..) | Phase::Refused(_) | Phase::Ended(_) => End::Interrupted,
        };
        Finished::new(self.run, end)
    }

    /// How driving ended, once it has.
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

    /// Takes what came of a call. A ticket that is not under way changes nothing.
    pub fn settle(&mut self, ticket: Ticket, result: Result<Data, Failure>, note: V, world: &dyn World) {
        match &mut self.phase {
            Phase::Calling(turn, work) if work.ticket == ticket => {
                // What an entry answers, nothing reads; where the answer comes later, this is none.
                let read = !turn.rollback && !world.policy(&turn.tool).is_some_and(|policy| policy.deferred);
                let result = if read { world.checked(&turn.tool, result) } else { result };
                work.done.get_or_insert(Settled { result, note });
            }
            _ => self.news |= self.ahead.settle(ticket, Settled { result, note }, world),
        }
    }

    /// A call with [`Kind::Ahead`] could not be started, for example for lack of a thread: it is made in its
    /// turn.
    pub fn not_started(&mut self, ticket: Ticket) {
        self.ahead.not_started(ticket);
    }

    /// What is to be done next.
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
                    return Next::Done;
                }
            }
        }
    }

    /// Lets the machine run to a call or the end, for a while.
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
        } else {
            self.conclude(recorder);
        }
        None
    }

    /// The run has ended.
    fn conclude(&mut self, recorder: &mut dyn Recorder) {
        match recorder.end(&self.run) {
            Ok(()) => self.stop(End::Outcome),
            Err(error) => self.stop(End::NotRecorded(error)),
        }
    }

    /// Driving is over.
    fn stop(&mut self, end: End) {
        self.ahead.forget();
        self.pass_orders();
        self.phase = Phase::Over(end);
    }

    /// The run waits for a call, which has not been made.
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
        let arguments = data_of(&json);
        if let Some(why) = world.refuses(&tool, &arguments) {
            let turn =
                Turn { seq: self.seq, number, rollback, changes, tool, arguments, ahead: false, sent: false };
            self.seq += 1;
            let result = Err(Failure::Unsent(why));
            let cancelled = self.run.is_cancelled();
            self.phase = Phase::Refused(Made { turn, result, note: V::default(), doubt: None, cancelled });
            return;
        }
        let policy = world.policy(&tool);
        let due = Due { run: &self.run, tool: &tool, policy, arguments: &arguments, number, rollback };
        let permit = match recorder.before(&due) {
            Ok(permit) => permit,
            Err(error) => return self.stop(End::NotRecorded(error)),
        };
        if permit == Permit::Suspend {
            return self.stop(End::Suspended);
        }
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
            _ if turn.rollback => Kind::Entry,
            _ if cancelled => Kind::Undo,
            _ if turn.changes => Kind::Change,
            _ => Kind::Read,
        };
        let own = if kind == Kind::Read && world.may_run_ahead(&turn.tool) {
            let own = self.ahead.take(&turn.tool, json);
            self.ahead.look(&self.run, own.as_ref(), world);
            own
        } else {
            self.ahead.forget();
            None
        };
        self.pass_orders();
        let (key, confirmed) = match permit {
            Permit::Settled(result) => {
                let mut work = own.unwrap_or_else(|| Work::own(self.ahead.ticket()));
                // A person may have given it.
                let result = if turn.rollback { result } else { world.checked(&turn.tool, result) };
                work.done = Some(Settled { result, note: V::default() });
                self.phase = Phase::Calling(turn, work);
                return;
            }
            Permit::CallWithKey { key, confirmed } => (Some(key), confirmed),
            Permit::Call | Permit::Suspend => (None, false),
        };
        turn.ahead = own.is_some();
        let work = own.unwrap_or_else(|| {
            let ticket = self.ahead.ticket();
            let (tool, arguments) = (turn.tool.clone(), turn.arguments.clone());
            let alone = !self.ahead.lacks();
            let start = Start { ticket, tool, arguments, kind, alone, key, confirmed };
            self.events.push_back(Next::Start(start));
            Work::own(ticket)
        });
        self.phase = Phase::Calling(turn, work);
    }

    /// Looks whether the call has ended that the run waits for, and meanwhile starts what the answers of
    /// others decide.
    fn look_after(&mut self, turn: Turn, mut work: Work<V>, world: &dyn World) -> Option<Next> {
        if let Some(Settled { result, note }) = work.done.take() {
            let doubt = doubt(world.policy(&turn.tool), &result).filter(|_| turn.changes && !turn.rollback);
            let cancelled = self.run.is_cancelled() || world.is_cancelled();
            self.phase = Phase::Ended(Made { turn, result, note, doubt, cancelled });
            return Some(Next::Made);
        }
        let look = self.ahead.lacks() && mem::take(&mut self.news);
        if look {
            self.ahead.look(&self.run, Some(&work), world);
            self.pass_orders();
        }
        self.phase = Phase::Calling(turn, work);
        (!look).then_some(Next::Wait)
    }

    /// Passes on what is to be done outside.
    fn pass_orders(&mut self) {
        self.events.extend(self.ahead.orders.drain(..).map(|order| match order {
            Order::Drop { ticket, tool } => Next::Drop { ticket, tool },
            Order::Start { ticket, tool, arguments } => {
                let (kind, alone) = (Kind::Ahead, false);
                Next::Start(Start { ticket, tool, arguments, kind, alone, key: None, confirmed: false })
            }
        }));
    }

    /// Records the result of a call, and gives it to the run.
    fn take(&mut self, made: &Made<V>, world: &dyn World, recorder: &mut dyn Recorder) {
        if let (Err(failure @ Failure::Unsent(_)), false) = (&made.result, made.turn.sent) {
            if let (Some(Data::Text(message)), Some(call)) = (failure.value().as_ref(), self.run.pending()) {
                // A message that passes a limit has ended the run with that fault; the next step says so.
                drop(call.fail_unsent(message));
            }
            return;
        }
        let Turn { tool, arguments, number, rollback, .. } = &made.turn;
        let policy = world.policy(tool);
        let (number, rollback) = (*number, *rollback);
        let due = Due { run: &self.run, tool, policy, arguments, number, rollback };
        match recorder.after(&due, &made.result) {
            Ok(Taken::GoOn) => {}
            Ok(Taken::Suspend) => return self.stop(End::Suspended),
            Err(error) => return self.stop(End::NotRecorded(error)),
        }
        let goes_on = if rollback { self.entry_ended(&made.result, world) } else { self.ended(made, world) };
        if !goes_on {
            self.stop(End::Interrupted);
        }
    }

    /// Cancels the run where that was asked for.
    fn take_cancel(&mut self, world: &dyn World) {
        if world.is_cancelled() && !self.run.is_cancelled() {
            self.run.cancel();
        }
    }

    fn fail(&mut self, message: &str) {
        if let Some(call) = self.run.pending() {
            // A message that passes a limit has ended the run with that fault; the next step says so.
            drop(call.fail(message));
        }
    }

    fn time_out(&mut self) {
        self.late = true;
        let message = self.late_message();
        self.run.end_with(Code::FaultTimedOut, &message);
    }

    fn late_message(&self) -> String {
        format!("the run took longer than its limit of {} ms", self.time.as_millis())
    }
}

/// What comes of it that a call which changes something has no answer.
fn doubt(policy: Option<&Policy>, result: &Result<Data, Failure>) -> Option<OnDoubt> {
    match result {
        Err(Failure::InDoubt(_)) => Some(policy.map(|policy| policy.on_doubt).unwrap_or_default()),
        Err(Failure::TimedOut | Failure::Limit(..) | Failure::Misfit(_)) => Some(OnDoubt::Fail),
        Ok(_) | Err(Failure::Failed(_) | Failure::Unsent(_) | Failure::Interrupted) => None,
    }
}
