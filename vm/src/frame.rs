//! Frames: windows of one stack of registers that overlap where arguments are passed.
//!
//! A window is always 256 registers long, so that a register, one byte, needs no bounds check. How far a program's
//! windows reach is known from verification; the stack is made that long before it runs.

use crate::budget::Budget;
use crate::fault::Trap;
use crate::value::Value;
use alloc::vec::Vec;
use ilo_spec::limits::REGISTERS;

/// The registers of a frame, and what lies behind them.
pub(crate) type Window = [Value; REGISTERS];

/// Where a caller goes on: past its `invoke`, in its window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) pc: usize,
    pub(crate) base: usize,
}

/// Charges a stack of so many registers and makes it.
pub(crate) fn prepare(stack: &mut Vec<Value>, budget: &mut Budget, extent: usize) -> Result<(), Trap> {
    let need = extent + REGISTERS;
    budget.charge((extent * size_of::<Value>()) as u64)?;
    if stack.len() < need {
        stack.clear();
        stack.reserve_exact(need);
        stack.resize(need, Value::NIL);
    }
    Ok(())
}

/// The window that begins at a register.
#[inline(always)]
pub(crate) fn window(stack: &mut [Value], base: usize) -> Option<&mut Window> {
    stack.get_mut(base..)?.first_chunk_mut()
}
