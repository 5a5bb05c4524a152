//! Frames: windows over one stack of registers, which overlap where arguments are passed.
//!
//! A window always spans all registers that a byte can name, so indexing needs no bounds check. Verification
//! computes how far the windows of a program reach; the stack has that length before the program runs.

use crate::budget::Budget;
use crate::fault::Trap;
use crate::value::{Value, at};
use alloc::vec::Vec;
use core::hint::cold_path;
use ilo_spec::limits::REGISTERS;
use ilo_spec::operand::Out;

/// Registers in a window: two more than a byte can name, so that a loop's second and third register need no
/// check.
const WIDTH: usize = REGISTERS + 2;

/// Registers cleared at once.
const PIECE: usize = 64;

/// The registers of a frame, and those after them.
pub(crate) type Window = [Value; WIDTH];

/// Where a caller continues: the instruction after its `invoke`, its window, and the register for the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pc: u32,
    pub(crate) base: u32,
    /// The number of ROLLBACK entries when the function that it waits for began.
    pub(crate) height: u32,
    pub(crate) dst: Out,
}

impl Frame {
    /// A program has fewer than 2^32 instructions, and a run has fewer entries.
    #[inline(always)]
    pub(crate) fn new(pc: usize, base: u32, height: usize, dst: Out) -> Frame {
        Frame { pc: low(pc), base, height: low(height), dst }
    }

    /// The instruction after the `invoke`.
    #[inline(always)]
    pub(crate) const fn pc(&self) -> usize {
        at(self.pc)
    }
}

/// An index below 2^32.
#[inline(always)]
fn low(index: usize) -> u32 {
    debug_assert!(u32::try_from(index).is_ok(), "an index is below 2^32");
    (index as u64 & 0xffff_ffff) as u32
}

const _: () = assert!(size_of::<Frame>() == 16, "a frame is 16 bytes");

/// Charges the registers, a copy of the arguments and the deepest stack of frames, and allocates all of them.
/// Returns where the copy of the arguments begins.
#[inline]
pub(crate) fn prepare(
    stack: &mut Vec<Value>,
    frames: &mut Vec<Frame>,
    budget: &mut Budget,
    (extent, depth, parameters): (usize, usize, usize),
) -> Result<usize, Trap> {
    // The last window reaches past the registers that it uses.
    let copies = extent + WIDTH;
    let need = copies + parameters;
    budget.charge((need * size_of::<Value>() + depth * size_of::<Frame>()) as u64)?;
    if stack.len() < need {
        stack.clear();
        stack.reserve_exact(need);
        // In small blocks: the setup of a larger fill takes longer than all of these.
        while stack.len() < need {
            stack.resize(need.min(stack.len() + PIECE), Value::CLEAR);
        }
    }
    frames.clear();
    frames.reserve_exact(depth);
    Ok(copies)
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
