//! The machine: what a run consists of while it runs, and where it stopped.

use crate::fault::Trap;
use crate::frame::Frame;
use crate::heap::Heap;
use crate::program::Program;
use crate::value::Value;
use alloc::vec::Vec;
use ilo_spec::operand::{CallId, First, Out, StringId};

/// What a run consists of while it runs.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) program: Program,
    pub(crate) heap: Heap,
    pub(crate) stack: Vec<Value>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) notes: Vec<(StringId, Value)>,
    /// The instruction that is next; where the machine stopped, the one after that at which it did.
    pub(crate) pc: usize,
    pub(crate) base: u32,
    /// The call at which it stopped last.
    pub(crate) pending_call: PendingCall,
    /// What the function that was started returned or failed with.
    pub(crate) result: Value,
}

/// A tool call: where its arguments are, and where its value goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingCall {
    pub(crate) call: CallId,
    pub(crate) first: First,
    pub(crate) dst: Out,
}

/// Why the machine stopped, where it was no fault.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    /// At a tool call with arguments that may leave as they are.
    Call,
    /// At a tool call with lists or records, which are measured before they leave.
    LargeCall,
    /// The function that was started returned.
    Returned,
    /// The function that was started failed.
    Failed,
}

/// Records the failure of a compensation.
#[cold]
#[inline(never)]
pub(crate) fn note(
    heap: &mut Heap,
    notes: &mut Vec<(StringId, Value)>,
    tool: StringId,
    value: Value,
) -> Result<(), Trap> {
    // Twice its size: the list of notes doubles as it grows.
    heap.budget.charge(2 * size_of::<(StringId, Value)>() as u64)?;
    notes.push((tool, value));
    Ok(())
}
