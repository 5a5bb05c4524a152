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
    /// With [`OWNER`] if the function that it waits for has ROLLBACK entries.
    base: u32,
    pub(crate) dst: Out,
}

/// Beyond the windows of any program, so a return notices entries when it finds no window, and needs no
/// separate test.
const OWNER: u32 = 1 << 31;

const _: () = assert!(REGISTERS << u16::BITS < OWNER as usize, "functions that call each other have windows");

impl Frame {
    /// A program has fewer than 2^32 instructions.
    #[inline(always)]
    pub(crate) fn new(pc: usize, base: u32, dst: Out) -> Frame {
        debug_assert!(u32::try_from(pc).is_ok() && base < OWNER, "indexes are small");
        Frame { pc: (pc as u64 & 0xffff_ffff) as u32, base, dst }
    }

    /// The instruction after the `invoke`.
    #[inline(always)]
    pub(crate) const fn pc(&self) -> usize {
        at(self.pc)
    }

    /// Where the window begins.
    pub(crate) const fn base(&self) -> u32 {
        self.base & !OWNER
    }

    /// Where the window begins, or [`OWNER`] and more, where there is no window.
    #[inline(always)]
    pub(crate) const fn base_unless_owner(&self) -> u32 {
        self.base
    }

    /// Whether the function that it waits for has ROLLBACK entries.
    pub(crate) const fn is_owner(&self) -> bool {
        self.base & OWNER != 0
    }

    pub(crate) const fn make_owner(&mut self) {
        self.base |= OWNER;
    }
}

const _: () = assert!(size_of::<Frame>() == 12, "a frame is 12 bytes");

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
