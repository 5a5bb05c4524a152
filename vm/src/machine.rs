//! The machine: the state of a program that runs, and where it stopped.

use crate::fault::Trap;
use crate::frame::Frame;
use crate::heap::Heap;
use crate::program::Program;
use crate::value::Value;
use alloc::vec::Vec;
use ilo_spec::operand::{CallId, First, Out, StringId};

/// The state of a program that runs.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) program: Program,
    pub(crate) heap: Heap,
    pub(crate) stack: Vec<Value>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) notes: Vec<(StringId, Value)>,
    /// The next instruction; when the machine has stopped, the one after the instruction that stopped it.
    pub(crate) pc: usize,
    pub(crate) base: u32,
    /// The call at which it stopped last.
    pub(crate) pending_call: PendingCall,
    /// What the started function returned or failed with.
    pub(crate) result: Value,
}

/// A tool call: where its arguments are, and where its result goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingCall {
    pub(crate) call: CallId,
    pub(crate) first: First,
    pub(crate) dst: Out,
}

/// Why the machine stopped without a fault.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    /// At a tool call whose arguments contain no list or record.
    Call,
    /// At a tool call with lists or records, whose size must be checked before they leave the run.
    LargeCall,
    /// The started function returned.
    Returned,
    /// A pure function failed, and its instruction does not handle that.
    Unhandled,
    /// The started function failed.
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
    // Charge twice the size: the list doubles as it grows.
    heap.budget.charge(2 * size_of::<(StringId, Value)>() as u64)?;
    notes.push((tool, value));
    Ok(())
}
