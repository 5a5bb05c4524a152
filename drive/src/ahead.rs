//! Starts calls of read-only tools before the run makes them, while the run waits for another call.
//!
//! A scout (`ilo_vm::Scout`) runs ahead of the run and predicts the calls that will follow. The run itself
//! stays strictly in order: it makes each call when it comes to it, and takes the answer of one that was
//! started where tool and arguments are the same. If a later call needs the answer of an earlier one (for
//! example, the orders of each customer), the scout runs again as soon as that answer has arrived, also while
//! the run waits. A call that is not such a read, above all one that may change something, drops the answers
//! that the run has not used. So no value that was read before a change is used after it.

use crate::call_slots::{CallSlots, Slot};
use crate::data::Data;
use crate::data::read::data_of;
use crate::failure::Failure;
use crate::world::World;
use bumpalo::Bump;
use ilo_vm::{Datum, Run, Scout};
use std::collections::VecDeque;

/// Calls that the scout looks ahead for each call that may run at once. It is more than 1 because the
/// arguments of some of these calls are not known yet.
const LOOKED: usize = 4;
/// Answers that are kept or awaited for each call that may run at once. It is more than 1 so that calls that
/// depend on these answers can start before the run uses them.
const KEPT: usize = 2;
/// The most calls that are made without another look, after looks ahead that found no call.
const PASSED: u32 = 64;

/// The number of a started call, unique within the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallTicket(pub u64);

/// The result of a call, with the data that the host passed along with it.
#[derive(Debug)]
pub(crate) struct Settled<V> {
    pub(crate) result: Result<Data, Failure>,
    pub(crate) note: V,
}

/// A call that was started.
#[derive(Debug)]
pub(crate) struct Work<V> {
    pub(crate) ticket: CallTicket,
    /// The slot that the call occupies until it has ended; `None` for the call that the run waits for.
    slot: Option<Slot>,
    pub(crate) done: Option<Settled<V>>,
}

impl<V> Work<V> {
    /// A call that the run waits for.
    pub(crate) fn own(ticket: CallTicket) -> Work<V> {
        Work { ticket, slot: None, done: None }
    }
}

/// A call that the run is expected to make.
#[derive(Debug)]
struct Expected<V> {
    tool: String,
    /// The arguments as JSON, if they are known.
    arguments: Option<String>,
    /// Its line in the source, if somebody watches.
    line: Option<u32>,
    work: Option<Work<V>>,
}

impl<V> Expected<V> {
    fn is(&self, tool: &str, arguments: &str) -> bool {
        self.tool == tool && self.arguments.as_ref().is_none_or(|known| known == arguments)
    }
}

/// An action for the host.
#[derive(Debug, PartialEq)]
pub(crate) enum Order {
    Start { ticket: CallTicket, tool: String, arguments: Data, line: Option<u32> },
    Drop { ticket: CallTicket, tool: String },
}

/// The calls that one run is expected to make.
#[derive(Debug)]
pub(crate) struct Ahead<V> {
    slots: CallSlots,
    scout: Option<Scout>,
    /// Whether the scout is after the last expected call and can continue.
    going: bool,
    expected: VecDeque<Expected<V>>,
    /// Calls that have not ended and whose answers are no longer wanted.
    left: Vec<(CallTicket, Slot)>,
    /// The number of successive looks that found no call.
    vain: u32,
    /// The number of calls until the next look.
    pass: u32,
    /// The number of calls that were started.
    tickets: u64,
    /// Actions for the host, in order.
    pub(crate) orders: Vec<Order>,
    /// Whether the places of calls in the source are wanted.
    pub(crate) places: bool,
}

impl<V> Ahead<V> {
    pub(crate) fn new(slots: CallSlots) -> Ahead<V> {
        Ahead {
            slots,
            scout: None,
            going: false,
            expected: VecDeque::new(),
            left: Vec::new(),
            vain: 0,
            pass: 0,
            tickets: 0,
            orders: Vec::new(),
            places: false,
        }
    }

    /// The next ticket.
    pub(crate) fn ticket(&mut self) -> CallTicket {
        self.tickets += 1;
        CallTicket(self.tickets)
    }

    /// Whether the arguments of an expected call are not known yet, so that answers of others can make it
    /// startable.
    pub(crate) fn lacks(&self) -> bool {
        self.expected.iter().any(|call| call.arguments.is_none())
    }

    /// Records that a started call has ended, and returns its result if that is still wanted.
    pub(crate) fn settle(
        &mut self,
        ticket: CallTicket,
        mut settled: Settled<V>,
        world: &dyn World,
    ) -> Option<&Result<Data, Failure>> {
        self.left.retain(|(left, _)| *left != ticket);
        let is = |call: &&mut Expected<V>| call.work.as_ref().is_some_and(|work| work.ticket == ticket);
        let Some(Expected { tool, work: Some(work), .. }) = self.expected.iter_mut().find(is) else {
            return None;
        };
        settled.result = world.checked(tool, settled.result);
        work.slot = None;
        self.pass = 0;
        Some(&work.done.insert(settled).result)
    }

    /// Records that a call could not be started. The run makes it in its turn.
    pub(crate) fn not_started(&mut self, ticket: CallTicket) {
        self.left.retain(|(left, _)| *left != ticket);
        for call in &mut self.expected {
            call.work.take_if(|work| work.ticket == ticket);
        }
    }

    /// Takes the started call that matches. Calls that were expected before it are dropped; if it was not
    /// expected, all are dropped.
    pub(crate) fn take(&mut self, tool: &str, arguments: &str) -> Option<Work<V>> {
        let Some(place) = self.expected.iter().position(|call| call.is(tool, arguments)) else {
            self.forget();
            return None;
        };
        self.drop_some(0, place);
        let mut work = self.expected.pop_front().and_then(|call| call.work)?;
        work.slot = None;
        Some(work)
    }

    /// Drops every call that was started ahead.
    pub(crate) fn forget(&mut self) {
        self.going = false;
        self.drop_some(0, self.expected.len());
    }

    fn drop_some(&mut self, from: usize, to: usize) {
        for Expected { tool, work, .. } in self.expected.drain(from..to) {
            let Some(Work { ticket, slot, .. }) = work else { continue };
            self.left.extend(slot.map(|slot| (ticket, slot)));
            self.orders.push(Order::Drop { ticket, tool });
        }
    }

    /// Looks for calls that follow the one that the run waits for, and starts them.
    pub(crate) fn look(&mut self, run: &Run, own: Option<&Work<V>>, world: &dyn World) {
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
            match self.next(place, own, world) {
                Some(next) => found |= self.expect(place, next, world),
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

    /// Returns the next call that the scout finds, if its tool may be called early. The scout first gets the
    /// answer of the call before `place`, if it has arrived.
    fn next(&mut self, place: usize, own: Option<&Work<V>>, world: &dyn World) -> Option<Expected<V>> {
        let before = match place.checked_sub(1) {
            Some(before) => self.expected.get(before).and_then(|call| call.work.as_ref()),
            None => own,
        };
        let scout = self.scout.as_mut()?;
        let arena = Bump::new();
        match before.and_then(|work| work.done.as_ref()).map(|settled| &settled.result) {
            None => {}
            Some(Ok(value)) => scout.answer(Ok(value.to_datum(&arena))),
            Some(Err(failure)) => match failure {
                Failure::Failed(value) => scout.answer(Err(value.to_datum(&arena))),
                Failure::InDoubt(message) => scout.answer(Err(Datum::Text(message))),
                Failure::Misfit(_) | Failure::Unsent(_) => {
                    let value = failure.value().unwrap_or(Data::Nil);
                    scout.answer(Err(value.to_datum(&arena)));
                }
                // The scout reached the end of the run.
                Failure::TimedOut | Failure::Interrupted | Failure::Limit(..) => return None,
            },
        }
        let ahead = scout.ahead()?;
        if !world.may_run_ahead(ahead.tool()) {
            return None;
        }
        let mut json = String::new();
        let arguments = ahead.write_json(&mut json).is_ok().then_some(json);
        let line = if self.places { ahead.position().map(|(line, _)| line) } else { None };
        Some(Expected { tool: ahead.tool().to_owned(), arguments, line, work: None })
    }

    /// Puts a call at its place among the expected calls and starts it if it is not started. Returns whether
    /// it has started it.
    fn expect(&mut self, place: usize, mut next: Expected<V>, world: &dyn World) -> bool {
        if let Some(known) = self.expected.get_mut(place) {
            let same = known.tool == next.tool && (known.work.is_none() || known.arguments == next.arguments);
            if same && (known.work.is_some() || next.arguments.is_none()) {
                return false;
            }
            if same {
                next.work = self.start(&next, world);
                let started = next.work.is_some();
                self.expected[place] = next;
                return started;
            }
            // The answers since then led the run elsewhere, so the calls expected from here on will not be
            // made.
            self.drop_some(place, self.expected.len());
        }
        next.work = self.start(&next, world);
        let started = next.work.is_some();
        self.expected.push_back(next);
        started
    }

    /// Starts a call if its arguments are known and a slot is free.
    fn start(&mut self, call: &Expected<V>, world: &dyn World) -> Option<Work<V>> {
        let arguments = world.sent(&call.tool, data_of(call.arguments.as_ref()?).ok()?);
        if world.refuses(&call.tool, &arguments).is_some() {
            // The run will not make this call either.
            return None;
        }
        let slot = self.slots.take()?;
        let ticket = self.ticket();
        self.orders.push(Order::Start { ticket, tool: call.tool.clone(), arguments, line: call.line });
        Some(Work { ticket, slot: Some(slot), done: None })
    }
}
