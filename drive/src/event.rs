//! The events of a run: what happens to its calls, at the moment at which it happens.
//!
//! They differ from [`crate::observer`] in their order: an observer sees each call when the run takes its
//! answer, in the order of the program; events also tell of calls that are under way, of those that were
//! started ahead, and of those whose answers were never used. [`Drive::watch`](crate::Drive::watch) turns
//! them on, and the host takes them with [`Drive::event`](crate::Drive::event) after each step. Nothing of a
//! run depends on them.

use crate::data::Data;
use crate::failure::Failure;
use ilo_asm::sorting::sort_by;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// The most events that wait until they are taken; of more the oldest are dropped, and counted.
pub const MOST_EVENTS: usize = 1024;

/// A call, as its events describe it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// The same in the start and the end of a call, and of no other call of this run: that of its
    /// [`CallTicket`](crate::CallTicket).
    pub id: u64,
    /// Its number within the run, from 1. A call that was started ahead has none until the run comes to it.
    pub number: Option<u64>,
    /// The tool by the name that the program uses.
    pub tool: String,
    /// The arguments: a record.
    pub arguments: Data,
    /// The line of the call in the source; none in a stripped program.
    pub line: Option<u32>,
    /// Whether a ROLLBACK entry makes it.
    pub rollback: bool,
    /// When it began, counted from the start of the run: [`World::elapsed`](crate::World::elapsed).
    pub start: Duration,
    /// The identity that a framework has given to the call of the whole run.
    pub tool_call_id: Option<Arc<str>>,
}

/// Something that happened to a call of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A call begins. If its tool needs a confirmation, nobody has been asked yet.
    Start(Call),
    /// A call has ended, after all its attempts. The run may take its answer later, or never.
    End {
        /// The call.
        call: Call,
        /// How long it took.
        duration: Duration,
        /// Its answer as the program gets it, or its failure.
        result: Result<Data, Failure>,
    },
    /// That many events before the next one were dropped, since nobody took them.
    Dropped(u64),
}

/// The events of one run that were not taken yet.
#[derive(Debug)]
pub(crate) struct Watch {
    tool_call_id: Option<Arc<str>>,
    /// The calls under way.
    open: HashMap<u64, Call>,
    events: VecDeque<Event>,
    dropped: u64,
}

impl Watch {
    pub(crate) fn new(tool_call_id: Option<&str>) -> Watch {
        let tool_call_id = tool_call_id.map(Arc::from);
        Watch { tool_call_id, open: HashMap::new(), events: VecDeque::new(), dropped: 0 }
    }

    /// The oldest event.
    pub(crate) fn take(&mut self) -> Option<Event> {
        if self.dropped > 0 {
            return Some(Event::Dropped(std::mem::take(&mut self.dropped)));
        }
        self.events.pop_front()
    }

    fn add(&mut self, event: Event) {
        if self.events.len() >= MOST_EVENTS {
            self.events.pop_front();
            self.dropped += 1;
        }
        self.events.push_back(event);
    }

    pub(crate) fn started(&mut self, call: Call) {
        let call = Call { tool_call_id: self.tool_call_id.clone(), ..call };
        self.open.insert(call.id, call.clone());
        self.add(Event::Start(call));
    }

    /// The run has come to a call that was started ahead.
    pub(crate) fn reached(&mut self, id: u64, number: u64) {
        if let Some(call) = self.open.get_mut(&id) {
            call.number = Some(number);
        }
    }

    /// A call has ended; one that is not under way has told its end already.
    pub(crate) fn ended(&mut self, id: u64, result: Result<Data, Failure>, now: Duration) {
        if let Some(call) = self.open.remove(&id) {
            let duration = now.saturating_sub(call.start);
            self.add(Event::End { call, duration, result });
        }
    }

    /// The run is over: what is still under way is interrupted.
    pub(crate) fn close(&mut self, now: Duration) {
        let mut left: Vec<u64> = self.open.keys().copied().collect();
        sort_by(&mut left, u64::cmp);
        for id in left {
            self.ended(id, Err(Failure::Interrupted), now);
        }
    }
}
