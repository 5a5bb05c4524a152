//! Frames: windows of one stack of registers that overlap where arguments are passed.
//!
//! A window is always as long as registers can be numbered, so that a register, one byte, needs no bounds check. How far
//! a program's windows reach is known from verification; the stack is made that long before it runs.

use crate::budget::Budget;
use crate::fault::Trap;
use crate::value::{Value, at};
use alloc::vec::Vec;
use core::hint::cold_path;
use ilo_spec::limits::REGISTERS;
use ilo_spec::operand::Out;

/// Registers of a window: two behind the last that has a number, so that the second and third of a loop need no check.
const WIDTH: usize = REGISTERS + 2;

/// Registers that are cleared at once.
const PIECE: usize = 64;

/// The registers of a frame, and what lies behind them.
pub(crate) type Window = [Value; WIDTH];

/// Where a caller goes on: past its `invoke`, in its window, of which a register takes what the function returns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) pc: usize,
    pub(crate) base: u32,
    pub(crate) dst: Out,
}

/// Charges the registers, the arguments as they were given and the calls that may be under way at once, and makes room
/// for all; says where the arguments begin.
pub(crate) fn prepare(
    stack: &mut Vec<Value>,
    frames: &mut Vec<Frame>,
    budget: &mut Budget,
    (extent, depth, parameters): (usize, usize, usize),
) -> Result<usize, Trap> {
    // The last window reaches past the registers that it needs.
    let behind = extent + WIDTH;
    let need = behind + parameters;
    budget.charge((need * size_of::<Value>() + depth * size_of::<Frame>()) as u64)?;
    if stack.len() < need {
        stack.clear();
        stack.reserve_exact(need);
        // In pieces: what clears more at once takes longer to begin than these take in all.
        while stack.len() < need {
            stack.resize(need.min(stack.len() + PIECE), Value::CLEAR);
        }
    }
    frames.clear();
    frames.reserve_exact(depth);
    Ok(behind)
}

/// The window that begins at a register.
#[inline(always)]
pub(crate) fn window(stack: &mut [Value], base: u32) -> Option<&mut Window> {
    match stack.get_mut(at(base)..at(base) + WIDTH) {
        Some(window) => window.first_chunk_mut(),
        None => {
            cold_path();
            None
        }
    }
}
