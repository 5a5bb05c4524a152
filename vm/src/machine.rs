//! The machine: the state of a running program, and where it stopped.

use crate::fault::Trap;
use crate::frame::Frame;
use crate::heap::Heap;
use crate::program::Program;
use crate::rollbacks::{Note, Rollbacks};
use crate::value::Value;
use alloc::vec::Vec;
use ilo_spec::isa::Op;
use ilo_spec::operand::{CallId, First, Out, StringId};

/// The state of a running program.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) program: Program,
    pub(crate) heap: Heap,
    pub(crate) stack: Vec<Value>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) notes: Vec<Note>,
    pub(crate) rollbacks: Rollbacks,
    pub(crate) rewind_scope: RewindScope,
    /// The next instruction; when the machine has stopped, the one after the instruction that stopped it.
    pub(crate) pc: usize,
    pub(crate) base: u32,
    /// The call at which it stopped last.
    pub(crate) pending_call: PendingCall,
    /// What the started function returned or failed with.
    pub(crate) result: Value,
}

/// What a rewind has to restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RewindScope {
    /// Nothing was started.
    Nothing,
    /// Only counters; everything else is unchanged.
    Counts,
    /// Everything: arguments were moved, an answer was built event by event, the heap was collected, or there
    /// are notes or ROLLBACK entries.
    All,
    /// The start alone needs more fuel than the limit.
    Fault,
}

impl RewindScope {
    /// A rewind must restore more than counters.
    #[inline]
    pub(crate) fn require_all(&mut self) {
        if let RewindScope::Counts = self {
            *self = RewindScope::All;
        }
    }
}

/// A tool call: where its arguments are, and where its result goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingCall {
    pub(crate) call: CallId,
    pub(crate) first: First,
    pub(crate) dst: Out,
    pub(crate) kind: CallKind,
}

/// The kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CallKind {
    /// A `tool`.
    Plain,
    /// A `tool` that the host has declared to be under way, and that may change something.
    PlainChange,
    /// A `tool.rollback`.
    Covered,
    /// A `tool.rollback` that the host has declared to be under way.
    CoveredChange,
    /// A ROLLBACK entry.
    Entry,
}

/// Whether the call before an instruction is a compensation, whose failure is recorded.
pub(crate) fn is_compensation(code: &[Op], after: usize) -> bool {
    let Some(&(Op::Tool { fail, .. } | Op::Invoke { fail, .. })) = code.get(after.wrapping_sub(1)) else {
        return false;
    };
    fail.0 != 0 && matches!(code.get(after + usize::from(fail.0)), Some(Op::Note { .. }))
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
    /// A function that has ROLLBACK entries returned to its caller.
    HandOver,
    /// A pure function failed, and its instruction does not handle that.
    Unhandled,
    /// A function failed, its caller handles the failure, and entries must run first.
    Unwind,
    /// A fault that had waited for the end of a section, which is reached now.
    Waited,
    /// The started function failed.
    Failed,
}

/// Records the failure of a compensation.
#[cold]
#[inline(never)]
pub(crate) fn note(heap: &mut Heap, notes: &mut Vec<Note>, tool: StringId, value: Value) -> Result<(), Trap> {
    // Charge twice the size: the list doubles as it grows.
    heap.budget.charge(2 * size_of::<Note>() as u64)?;
    notes.push(Note { tool, value, aside: false });
    Ok(())
}
