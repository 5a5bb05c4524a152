//! Calls of read-only tools side by side: those that a run will come to are started while it waits for another.
//!
//! A scout (`ilo_vm::Scout`) goes ahead of the run and tells the calls that will follow. The run itself stays strictly in
//! order: it makes each call when it comes to it, and takes the answer of one that was started where tool and arguments
//! are the same. Any other call, one that may change something first of all, drops what was started and not yet taken, so
//! that nothing read before a change is taken after it.

use super::slots::Slot;
use super::{CallSlots, Observer, data_of};
use crate::data::Data;
use crate::interrupt::Interrupt;
use crate::tools::{CallLimits, Failure, Tools};
use ilo_vm::{Run, Scout};
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};
use std::time::Instant;

/// Calls looked ahead for each that may be under way: some of those found have arguments that are not known yet.
const LOOKED: usize = 4;
/// The most calls that pass without a look ahead after looks that found nothing.
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
    limits: CallLimits,
    until: Instant,
    slots: CallSlots,
    scout: Option<Scout>,
    /// Whether the scout stands behind the last of the calls that are expected and can go on.
    going: bool,
    expected: VecDeque<Expected<'s>>,
    /// Looks in a row that found nothing, and calls to pass before the next one.
    vain: u32,
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

/// A call that was started. Dropped, it is told that nobody wants its answer.
struct Work<'s> {
    interrupt: Interrupt,
    /// Taken until the run waits for it, or until it is dropped and has ended.
    slot: Arc<Slot>,
    thread: Option<ScopedJoinHandle<'s, Timed>>,
}

impl Work<'_> {
    fn wait(mut self) -> Option<Timed> {
        match self.thread.take()?.join() {
            Ok(timed) => Some(timed),
            // As if the run had called it itself.
            Err(panic) => resume_unwind(panic),
        }
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
        limits: CallLimits,
        until: Instant,
        slots: CallSlots,
    ) -> Ahead<'s, 'e> {
        let expected = VecDeque::new();
        Ahead { threads, tools, limits, until, slots, scout: None, going: false, expected, vain: 0, pass: 0 }
    }

    /// Makes the call at which the run waits: takes its answer where it was started, else calls.
    pub(super) fn call(
        &mut self,
        run: &Run,
        (tool, json, arguments): (&str, &str, &Data),
        observer: &mut dyn Observer,
    ) -> Timed {
        let started = if self.tools.may_run_ahead(tool) {
            let found = self.take(tool, json, observer);
            self.look(run, observer);
            found
        } else {
            self.forget(observer);
            None
        };
        started
            .and_then(Work::wait)
            .unwrap_or_else(|| Timed::call(self.tools, tool, arguments, &self.limits, self.until))
    }

    /// What was started of a call. Those expected before it will not come; where it was not expected, none will.
    fn take(&mut self, tool: &str, arguments: &str, observer: &mut dyn Observer) -> Option<Work<'s>> {
        let Some(place) = self.expected.iter().position(|call| call.is(tool, arguments)) else {
            self.forget(observer);
            return None;
        };
        tell(self.expected.drain(..place), observer);
        let work = self.expected.pop_front().and_then(|call| call.work)?;
        work.slot.free();
        Some(work)
    }

    /// Nothing that was started is wanted any more.
    pub(super) fn forget(&mut self, observer: &mut dyn Observer) {
        self.going = false;
        tell(self.expected.drain(..), observer);
    }

    /// Looks for calls that follow the one at which the run waits, and starts them.
    fn look(&mut self, run: &Run, observer: &mut dyn Observer) {
        let mut place = self.expected.len();
        if !self.going {
            if self.pass > 0 {
                self.pass -= 1;
                return;
            }
            let scout = self.scout.get_or_insert_with(|| Scout::new(run.program()));
            self.going = scout.follow(run);
            place = 0;
        }
        let mut found = false;
        while self.going && (place < self.expected.len() || self.has_room()) {
            match self.next() {
                Some(next) => found |= self.expect(place, next, observer),
                None => self.going = false,
            }
            place += 1;
        }
        self.vain = if found || self.going { 0 } else { self.vain.saturating_add(1) };
        self.pass = (1_u32 << self.vain.min(31)).min(PASSED + 1) - 1;
    }

    fn has_room(&self) -> bool {
        let started = self.expected.iter().filter(|call| call.work.is_some()).count();
        let most = self.slots.most();
        started + 1 < most && self.expected.len() < LOOKED * most && self.slots.has_room()
    }

    /// The next call that the scout finds, where it is of a tool that may be called before its turn.
    fn next(&mut self) -> Option<Expected<'s>> {
        let ahead = self.scout.as_mut()?.ahead()?;
        if !self.tools.may_run_ahead(ahead.tool()) {
            return None;
        }
        let mut json = String::new();
        let arguments = ahead.write_json(&mut json).is_ok().then_some(json);
        Some(Expected { tool: ahead.tool().to_owned(), arguments, work: None })
    }

    /// Takes a call in at its place among those that are expected, and starts it unless it was; whether it did.
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
        let (arguments, slot) = (data_of(call.arguments.as_ref()?), Arc::new(self.slots.take()?));
        let held = Arc::clone(&slot);
        let interrupt = self.limits.interrupt.child();
        let limits = CallLimits { interrupt: interrupt.clone(), ..self.limits.clone() };
        let (tools, tool, until) = (self.tools, call.tool.clone(), self.until);
        let work = move || {
            let timed = Timed::call(tools, &tool, &arguments, &limits, until);
            drop(held);
            timed
        };
        // Before it starts, so that whoever is told can make ready for it.
        observer.ahead(&call.tool);
        let thread = thread::Builder::new().name("call".to_owned()).spawn_scoped(self.threads, work);
        match thread {
            Ok(thread) => Some(Work { interrupt, slot, thread: Some(thread) }),
            // No thread is to be had: the run calls it in its turn.
            Err(_) => {
                observer.untaken(&call.tool);
                None
            }
        }
    }
}

/// Drops calls, and tells of those that were started.
fn tell<'s>(calls: impl Iterator<Item = Expected<'s>>, observer: &mut dyn Observer) {
    for call in calls.filter(|call| call.work.is_some()) {
        observer.untaken(&call.tool);
    }
}
