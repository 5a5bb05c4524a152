//! What a driven run tells of its calls: its events.

use super::{Drive, Turn};
use crate::ahead::{CallTicket, Order};
use crate::data::Data;
use crate::event::{Call, Event, Watch};
use crate::failure::Failure;
use crate::world::World;
use ilo_vm::Run;

/// The line of the call that a run waits for.
fn line(run: &Run) -> Option<u32> {
    run.waiting().and_then(|call| call.position()).map(|(line, _)| line)
}

impl<V: Default> Drive<V> {
    /// Turns events on. They carry `tool_call_id`, the identity that a framework has given to the run.
    pub fn watch(&mut self, tool_call_id: Option<&str>) {
        self.watch = Some(Watch::new(tool_call_id));
        self.ahead.places = true;
    }

    /// The oldest event that was not taken. A host takes all of them after each call of [`Drive::next`],
    /// [`Drive::settle`] and [`Drive::left`].
    pub fn event(&mut self) -> Option<Event> {
        self.watch.as_mut()?.take()
    }

    /// Tells that a call has ended without a result so far, for example because its answer comes from
    /// outside, after the run was suspended.
    pub fn left(&mut self, ticket: CallTicket, world: &dyn World) {
        if let Some(watch) = &mut self.watch {
            watch.ended(ticket.0, Err(Failure::Interrupted), world.elapsed());
        }
    }

    /// Tells that all calls under way have ended: the host leaves the run before its end.
    pub fn leave(&mut self, world: &dyn World) {
        if let Some(watch) = &mut self.watch {
            watch.close(world.elapsed());
        }
    }

    /// Tells that a call in its turn begins, unless it was started ahead.
    pub(super) fn tell_start(&mut self, ticket: CallTicket, turn: &Turn, begins: bool, world: &dyn World) {
        let Some(watch) = &mut self.watch else { return };
        if !begins {
            return watch.reached(ticket.0, turn.number);
        }
        watch.started(Call {
            id: ticket.0,
            number: Some(turn.number),
            tool: turn.tool.clone(),
            arguments: turn.arguments.clone(),
            line: line(&self.run),
            rollback: turn.rollback,
            start: world.elapsed(),
            tool_call_id: None,
        });
    }

    /// Tells which calls begin ahead of their turn.
    pub(super) fn tell_ahead(&mut self, world: &dyn World) {
        let Some(watch) = &mut self.watch else { return };
        for order in &self.ahead.orders {
            let Order::Start { ticket, tool, arguments, line } = order else { continue };
            watch.started(Call {
                id: ticket.0,
                number: None,
                tool: tool.clone(),
                arguments: arguments.clone(),
                line: *line,
                rollback: false,
                start: world.elapsed(),
                tool_call_id: None,
            });
        }
    }

    /// Tells that a call has ended.
    pub(super) fn tell_end(&mut self, ticket: CallTicket, result: &Result<Data, Failure>, world: &dyn World) {
        if let Some(watch) = &mut self.watch {
            watch.ended(ticket.0, result.clone(), world.elapsed());
        }
    }
}
