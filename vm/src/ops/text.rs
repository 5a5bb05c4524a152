//! Text: constants and joining.

use crate::fault::Trap;
use crate::frame::Window;
use crate::heap::Heap;
use crate::ops::{get, set, span};
use crate::program::ProgramData;
use crate::render;
use crate::value::{Tag, Value};
use ilo_spec::operand::{Count, First, In, Out};

/// `dst` = the values of the window, rendered and joined.
#[inline(never)]
pub(crate) fn concat(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    dst: Out,
    (first, count): (First, Count),
) -> Result<(), Trap> {
    let text = render_joined(heap, program, span(w, first, count.0.into()))?;
    set(w, dst, text);
    Ok(())
}

/// `dst` = the items of two lists as one list; any other values rendered and joined.
#[inline(never)]
pub(crate) fn concat_two(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    dst: Out,
    (a, b): (In, In),
) -> Result<(), Trap> {
    let (a, b) = (*get(w, a), *get(w, b));
    let value = match (a.tag, b.tag) {
        (Tag::List, Tag::List) => heap.join_lists(a, b)?,
        _ => render_joined(heap, program, &[a, b])?,
    };
    set(w, dst, value);
    Ok(())
}

/// The values rendered and joined to one text.
#[inline]
pub(super) fn render_joined(heap: &mut Heap, program: &ProgramData, values: &[Value]) -> Result<Value, Trap> {
    let start = heap.text.len();
    let mut sink = render::Arena::new(heap, program, start);
    // Text is copied; a rendered number or container takes far longer per byte.
    let mut written = 0;
    for &value in values {
        let before = sink.len();
        render::plain(&mut sink, value)?;
        if value.tag != Tag::Text {
            written += sink.len() - before;
        }
    }
    let bytes = heap.text.len() - start;
    heap.budget.burn_bulk(written, bytes - written)?;
    Ok(heap.text_since(start))
}
