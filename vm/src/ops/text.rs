//! Text: constants and joining.

use crate::fault::Trap;
use crate::frame::Window;
use crate::heap::Heap;
use crate::ops::{set, span};
use crate::program::Inner;
use crate::render;
use ilo_spec::operand::{Count, First, Out};

/// `dst` = the window, rendered and joined.
#[inline(never)]
pub(crate) fn concat(
    heap: &mut Heap,
    program: &Inner,
    w: &mut Window,
    dst: Out,
    (first, count): (First, Count),
) -> Result<(), Trap> {
    let start = heap.text.len();
    let mut sink = render::Arena::new(heap, program, start);
    for &value in span(w, first, count.0.into()) {
        render::plain(&mut sink, value)?;
    }
    let bytes = heap.text.len() - start;
    heap.budget.burn_bulk(0, bytes)?;
    let text = heap.text_since(start);
    set(w, dst, text);
    Ok(())
}
