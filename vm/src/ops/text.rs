//! Text: constants and joining.

use crate::fault::Trap;
use crate::frame::Window;
use crate::heap::Heap;
use crate::ops::{set, span};
use crate::program::ProgramData;
use crate::render;
use crate::value::Tag;
use ilo_spec::operand::{Count, First, Out};

/// `dst` = the values of the window, rendered and joined.
#[inline(never)]
pub(crate) fn concat(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    dst: Out,
    (first, count): (First, Count),
) -> Result<(), Trap> {
    let start = heap.text.len();
    let mut sink = render::Arena::new(heap, program, start);
    // Text is copied; a rendered number or container takes far longer per byte.
    let mut written = 0;
    for &value in span(w, first, count.0.into()) {
        let before = sink.len();
        render::plain(&mut sink, value)?;
        if value.tag != Tag::Text {
            written += sink.len() - before;
        }
    }
    let bytes = heap.text.len() - start;
    heap.budget.burn_bulk(written, bytes - written)?;
    let text = heap.text_since(start);
    set(w, dst, text);
    Ok(())
}
