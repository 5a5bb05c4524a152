//! Calls of read-only tools side by side: those that a run will come to are started while it waits for
//! another.
//!
//! A scout (`ilo_vm::Scout`) runs ahead of the run and predicts the calls that will follow. The run itself
//! stays strictly in order: it makes each call when it comes to it, and takes the answer of one that was
//! started where tool and arguments are the same. If a later call needs the answer of an earlier one (for
//! example, the orders of each customer), the scout runs again as soon as that answer has arrived, also while
//! the run waits. A call that is not such a read, above all one that may change something, drops the answers
//! that the run has not used. So no value that was read before a change is used after it.

use super::call_slots::Slot;
use super::{CallSlots, Observer, data_of};
use crate::data::Data;
use crate::interrupt::Interrupt;
use crate::tools::{CallLimits, Failure, Tools};
use bumpalo::Bump;
use ilo_vm::{Datum, Run, Scout};
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// How many calls the scout looks ahead for each call that may run at once. It is more than 1 because the
/// arguments of some of these calls are not known yet.
const LOOKED: usize = 4;
/// How many answers are kept or awaited for each call that may run at once. It is more than 1 so that calls
/// that depend on these answers can start before the run uses them.
const KEPT: usize = 2;
/// After looks ahead that found nothing, at most this many calls are made without another look.
const PASSED: u32 = 64;

/// A result with the time that it took.
pub(super) struct Timed {
    pub(super) result: Result<Data, Failure>,
    pub(super) start: Instant,
    pub(super) end: Instant,
}

impl Timed {
    /// Calls a tool and waits for it.
    pub(super) fn call(
        tools: &Tools,
        tool: &str,
        arguments: &Data,
        limits: &CallLimits,
        until: Instant,
    ) -> Timed {
        let start = Instant::now();
        let result = tools.call(tool, arguments, limits, until);
        Timed { result, start, end: Instant::now() }
    }
}

/// The calls that one run will come to.
pub(super) struct Ahead<'s, 'e> {
    threads: &'s thread::Scope<'s, 'e>,
    tools: &'e Tools,
    /// Those of calls that only read, which a cancel ends.
    limits: CallLimits,
    /// Those of calls that are awaited even then, although the question before such a call is not.
    patient: CallLimits,
    until: Instant,
    slots: CallSlots,
    scout: Option<Scout>,
    /// Whether the scout is after the last expected call and can continue.
    going: bool,
    expected: VecDeque<Expected<'s>>,
    bell: Arc<Bell>,
    /// How many looks in a row found nothing.
    vain: u32,
    /// How many calls to make before the next look.
    pass: u32,
}

/// A call that the run will come to.
struct Expected<'s> {
    tool: String,
    /// The arguments as JSON, where they are known.
    arguments: Option<String>,
    work: Option<Work<'s>>,
}

impl Expected<'_> {
    fn is(&self, tool: &str, arguments: &str) -> bool {
        self.tool == tool && self.arguments.as_ref().is_none_or(|known| known == arguments)
    }
}

/// Each call rings this bell when it ends, to wake the thread that waits for calls.
#[derive(Default)]
struct Bell {
    rung: Mutex<u64>,
    heard: Condvar,
}

impl Bell {
    fn rung(&self) -> MutexGuard<'_, u64> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        *self.rung() += 1;
        self.heard.notify_all();
    }

    /// Waits until the number of rings differs from `heard`.
    fn wait(&self, heard: u64) {
        let rung = self.heard.wait_while(self.rung(), |rung| *rung == heard);
        drop(rung.unwrap_or_else(PoisonError::into_inner));
    }
}

/// Marks a call as ended when it is dropped, so also if the call panics.
struct Ending {
    over: Arc<AtomicBool>,
    bell: Arc<Bell>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        self.bell.ring();
    }
}

/// A call that was started. Dropping it cancels the call.
struct Work<'s> {
    interrupt: Interrupt,
    /// The place that the call occupies while it runs; `None` for the call that the run waits for.
    slot: Option<Arc<Slot>>,
    thread: Option<ScopedJoinHandle<'s, Timed>>,
    /// Whether the call has ended. Its thread ends soon after.
    over: Arc<AtomicBool>,
    done: Option<Timed>,
}

impl Work<'_> {
    /// Checks whether the call has ended. Returns true if it has ended since the last check.
    fn settle(&mut self) -> bool {
        let Some(thread) = self.thread.take_if(|_| self.over.load(Ordering::Acquire)) else { return false };
        self.free();
        match thread.join() {
            Ok(timed) => self.done = Some(timed),
            // As if the run had called it itself.
            Err(panic) => resume_unwind(panic),
        }
        true
    }

    fn free(&self) {
        self.slot.iter().for_each(|slot| slot.free());
    }

    fn answer(&self) -> Option<&Result<Data, Failure>> {
        self.done.as_ref().map(|timed| &timed.result)
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.interrupt.set();
    }
}

impl<'s, 'e> Ahead<'s, 'e> {
    pub(super) fn new(
        threads: &'s thread::Scope<'s, 'e>,
        tools: &'e Tools,
        patient: CallLimits,
        cancel: &Interrupt,
        until: Instant,
        slots: CallSlots,
    ) -> Ahead<'s, 'e> {
        let (expected, bell) = (VecDeque::new(), Arc::default());
        let limits = CallLimits { interrupt: patient.interrupt.or(cancel), ..patient.clone() };
        let patient = CallLimits { cancel: cancel.clone(), ..patient };
        Ahead {
            threads,
            tools,
            limits,
            patient,
            until,
            slots,
            scout: None,
            going: false,
            expected,
            bell,
            vain: 0,
            pass: 0,
        }
    }

    /// The run may last until then.
    pub(super) fn lasts_until(&mut self, until: Instant) {
        self.until = until;
    }

    pub(super) fn tools(&self) -> &'e Tools {
        self.tools
    }

    /// Answers the call at which the run waits by a call now, which no cancel ends. Calls that were started
    /// early are dropped. The call of an entry has the time of its tool, whatever is left of the run's. A
    /// call that undoes something is made even though the run is cancelled.
    pub(super) fn call_alone(
        &mut self,
        (tool, arguments): (&str, &Data),
        (entry, undoes): (bool, bool),
        observer: &mut dyn Observer,
    ) -> Timed {
        self.forget(observer);
        let until = if entry { super::end_of(Duration::MAX) } else { self.until };
        if !undoes {
            return Timed::call(self.tools, tool, arguments, &self.patient, until);
        }
        let limits = CallLimits { cancel: Interrupt::default(), ..self.patient.clone() };
        Timed::call(self.tools, tool, arguments, &limits, until)
    }

    /// Answers the call at which the run waits: with the call that was started early, if there is one, else
    /// by a call now.
    pub(super) fn call(
        &mut self,
        run: &Run,
        (tool, json, arguments): (&str, &str, &Data),
        observer: &mut dyn Observer,
    ) -> Timed {
        if !self.tools.may_run_ahead(tool) {
            self.forget(observer);
            return Timed::call(self.tools, tool, arguments, &self.limits, self.until);
        }
        let mut own = self.take(tool, json, observer);
        if let Some(own) = &mut own {
            own.settle();
        }
        self.look(run, own.as_ref(), observer);
        // What answers of others decide can be started while this one is under way, by a thread that does not
        // wait for it.
        let own = own.or_else(|| if self.lacks() { self.spawn(tool, arguments.clone(), None) } else { None });
        match own {
            Some(own) => self.wait(own, run, observer),
            None => Timed::call(self.tools, tool, arguments, &self.limits, self.until),
        }
    }

    /// Waits for a call, and meanwhile starts what the answers of others decide.
    fn wait(&mut self, mut own: Work<'s>, run: &Run, observer: &mut dyn Observer) -> Timed {
        loop {
            let heard = *self.bell.rung();
            own.settle();
            if let Some(timed) = own.done.take() {
                return timed;
            }
            if self.lacks() && self.settle() {
                self.look(run, Some(&own), observer);
            }
            self.bell.wait(heard);
        }
    }

    /// Whether arguments of an expected call are not known yet.
    fn lacks(&self) -> bool {
        self.expected.iter().any(|call| call.arguments.is_none())
    }

    /// Checks all started calls. Returns true if one has ended since the last check.
    fn settle(&mut self) -> bool {
        let mut learnt = false;
        for work in self.expected.iter_mut().filter_map(|call| call.work.as_mut()) {
            learnt |= work.settle();
        }
        if learnt {
            self.pass = 0;
        }
        learnt
    }

    /// Takes the started call that matches. Calls that were expected before it are dropped; if it was not
    /// expected, all are dropped.
    fn take(&mut self, tool: &str, arguments: &str, observer: &mut dyn Observer) -> Option<Work<'s>> {
        let Some(place) = self.expected.iter().position(|call| call.is(tool, arguments)) else {
            self.forget(observer);
            return None;
        };
        tell(self.expected.drain(..place), observer);
        let work = self.expected.pop_front().and_then(|call| call.work)?;
        work.free();
        Some(work)
    }

    /// Nothing that was started is wanted any more.
    pub(super) fn forget(&mut self, observer: &mut dyn Observer) {
        self.going = false;
        tell(self.expected.drain(..), observer);
    }

    /// Looks for calls that follow the one at which the run waits, and starts them.
    fn look(&mut self, run: &Run, own: Option<&Work<'s>>, observer: &mut dyn Observer) {
        self.settle();
        let mut place = self.expected.len();
        let anew = !self.going || self.lacks();
        if anew && self.pass > 0 {
            self.pass -= 1;
            if !self.going {
                return;
            }
        } else if anew {
            let scout = self.scout.get_or_insert_with(|| Scout::new(run.program()));
            self.going = scout.follow(run);
            place = 0;
        }
        let mut found = false;
        while self.going && (place < self.expected.len() || self.has_room()) {
            match self.next(place, own) {
                Some(next) => found |= self.expect(place, next, observer),
                None => self.going = false,
            }
            place += 1;
        }
        self.vain = if found || (self.going && !anew) { 0 } else { self.vain.saturating_add(1) };
        self.pass = (1_u32 << self.vain.min(31)).min(PASSED + 1) - 1;
    }

    fn has_room(&self) -> bool {
        let started = self.expected.iter().filter(|call| call.work.is_some()).count();
        let most = self.slots.most();
        started + 1 < KEPT.saturating_mul(most)
            && self.expected.len() < LOOKED.saturating_mul(most)
            && self.slots.has_room()
    }

    /// The next call that the scout finds, if its tool may be called early. The scout first gets the answer
    /// of the call before `place`, if it has arrived.
    fn next(&mut self, place: usize, own: Option<&Work<'s>>) -> Option<Expected<'s>> {
        let before = match place.checked_sub(1) {
            Some(before) => self.expected.get(before).and_then(|call| call.work.as_ref()),
            None => own,
        };
        let scout = self.scout.as_mut()?;
        let arena = Bump::new();
        match before.and_then(Work::answer) {
            None => {}
            Some(Ok(value)) => scout.answer(Ok(value.to_datum(&arena))),
            Some(Err(Failure::Failed(value))) => scout.answer(Err(value.to_datum(&arena))),
            Some(Err(Failure::InDoubt(message))) => scout.answer(Err(Datum::Text(message))),
            // The run ends there.
            Some(Err(_)) => return None,
        }
        let ahead = scout.ahead()?;
        if !self.tools.may_run_ahead(ahead.tool()) {
            return None;
        }
        let mut json = String::new();
        let arguments = ahead.write_json(&mut json).is_ok().then_some(json);
        Some(Expected { tool: ahead.tool().to_owned(), arguments, work: None })
    }

    /// Puts a call at its place among the expected calls and starts it if it is not started. Returns whether
    /// it has started it.
    fn expect(&mut self, place: usize, mut next: Expected<'s>, observer: &mut dyn Observer) -> bool {
        if let Some(known) = self.expected.get_mut(place) {
            let same = known.tool == next.tool && (known.work.is_none() || known.arguments == next.arguments);
            if same && (known.work.is_some() || next.arguments.is_none()) {
                return false;
            }
            if same {
                next.work = self.start(&next, observer);
                let started = next.work.is_some();
                self.expected[place] = next;
                return started;
            }
            // The run has learnt something since: what was expected from here on will not come.
            tell(self.expected.drain(place..), observer);
        }
        next.work = self.start(&next, observer);
        let started = next.work.is_some();
        self.expected.push_back(next);
        started
    }

    /// Starts a call whose arguments are known on a thread of its own, where there is room.
    fn start(&self, call: &Expected<'s>, observer: &mut dyn Observer) -> Option<Work<'s>> {
        let (arguments, slot) = (data_of(call.arguments.as_ref()?), self.slots.take()?);
        // Before it starts, so that an observer can prepare for it.
        observer.ahead(&call.tool);
        let work = self.spawn(&call.tool, arguments, Some(Arc::new(slot)));
        if work.is_none() {
            // No thread is to be had: the run calls it in its turn.
            observer.untaken(&call.tool);
        }
        work
    }

    /// Calls a tool on a thread of its own.
    fn spawn(&self, tool: &str, arguments: Data, slot: Option<Arc<Slot>>) -> Option<Work<'s>> {
        let interrupt = self.limits.interrupt.child();
        let limits = CallLimits { interrupt: interrupt.clone(), ..self.limits.clone() };
        let (tools, name, until) = (self.tools, tool.to_owned(), self.until);
        let (held, over) = (slot.clone(), Arc::new(AtomicBool::new(false)));
        let ending = Ending { over: Arc::clone(&over), bell: Arc::clone(&self.bell) };
        let work = move || {
            let _ending = ending;
            let timed = Timed::call(tools, &name, &arguments, &limits, until);
            drop(held);
            timed
        };
        let thread = thread::Builder::new().name("call".to_owned()).spawn_scoped(self.threads, work);
        thread.ok().map(|thread| Work { interrupt, slot, thread: Some(thread), over, done: None })
    }
}

/// Drops calls, and reports to the observer those that were started.
fn tell<'s>(calls: impl Iterator<Item = Expected<'s>>, observer: &mut dyn Observer) {
    for call in calls.filter(|call| call.work.is_some()) {
        observer.untaken(&call.tool);
    }
}
