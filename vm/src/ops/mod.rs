//! The bodies of the instructions, by family.
//!
//! Each body takes the window and the operands. The common case is short and inlined into the loop;
//! everything else is a cold function. Bodies do not know the program counter: those of branches return
//! whether to jump.

pub(crate) mod arith;
pub(crate) mod compare;
pub(crate) mod list;
pub(crate) mod loops;
pub(crate) mod pure;
pub(crate) mod record;
pub(crate) mod text;

use crate::fault::Trap;
use crate::frame::Window;
use crate::value::{Tag, Value};
use ilo_spec::error::Code;
use ilo_spec::operand::{First, In, Out};

/// A register, by reference: copying a value whole right after it was stored in halves stalls.
#[inline(always)]
pub(crate) fn get(w: &Window, register: In) -> &Value {
    &w[usize::from(register.0)]
}

#[inline(always)]
pub(crate) fn set(w: &mut Window, register: Out, value: Value) {
    w[usize::from(register.0)] = value;
}

/// The registers of a window.
#[inline(always)]
pub(crate) fn span(w: &Window, first: First, count: usize) -> &[Value] {
    let start = usize::from(first.0);
    w.get(start..start + count).unwrap_or_default()
}

/// Whether a condition is true.
#[inline(always)]
pub(crate) fn truth(value: &Value) -> Result<bool, Trap> {
    match value.tag {
        Tag::True => Ok(true),
        Tag::False | Tag::Nil => Ok(false),
        tag => Err(no_condition(tag)),
    }
}

#[cold]
#[inline(never)]
fn no_condition(tag: Tag) -> Trap {
    Trap::new(
        Code::FaultConditionType,
        format_args!("expected a bool or nil as condition, found {}", tag.name()),
    )
}
