//! Garbage collection: finds the values that a stopped run can still read; the heap keeps them and moves them
//! together.

use crate::fault::Trap;
use crate::heap::Heap;
use crate::liveness::RegisterUse;
use crate::machine::Machine;
use crate::program::ProgramData;
use crate::register_set::registers;
use crate::value::{Value, at};

/// Collects the heap of a run that is under way. `scratch` holds values of an answer that is being built.
///
/// Burns fuel by what is kept and by the size of the mark bits. If there is too little fuel, the heap is
/// unchanged.
pub(crate) fn collect(
    program: &ProgramData,
    machine: &mut Machine,
    scratch: &mut [Value],
) -> Result<(), Trap> {
    machine.heap.begin_marking()?;
    roots(program, machine, scratch, |heap, value, room| heap.reach(program, *value, room));
    machine.heap.finish_marking()?;
    roots(program, machine, scratch, |heap, value, _| *value = heap.moved(*value));
    machine.heap.slide_together();
    Ok(())
}

/// Calls `each` with every value that the run can still read, and with the reserved length of a list that a
/// loop collects.
fn roots(
    program: &ProgramData,
    machine: &mut Machine,
    scratch: &mut [Value],
    mut each: impl FnMut(&mut Heap, &mut Value, usize),
) {
    let Machine { heap, stack, frames, notes, rollbacks, pc, base, .. } = machine;
    let live = &program.lazy().live;
    let windows = frames.iter().map(|frame| (frame.pc(), frame.base())).chain([(*pc, *base)]);
    for (pc, base) in windows {
        let Some(safepoint) = live.safepoint(pc - 1) else { continue };
        let base = at(base);
        for register in registers(safepoint.set) {
            let room = match live.use_of(safepoint, register) {
                RegisterUse::Collected(open) => at(stack[base + usize::from(open.base)].aux),
                _ => 0,
            };
            each(heap, &mut stack[base + usize::from(register)], room);
        }
    }
    let notes = notes.iter_mut().filter(|note| !note.aside).map(|note| &mut note.value);
    notes.chain(rollbacks.arguments_mut()).chain(scratch).for_each(|value| each(heap, value, 0));
}
