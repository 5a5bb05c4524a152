//! Tests whether a value has a declared type, for arguments and for results.

use crate::fault::Trap;
use crate::heap::Heap;
use crate::value::{Tag, Value, at};
use alloc::vec::Vec;
use ilo_spec::error::Code;
use ilo_spec::operand::TypeId;
use ilo_spec::types::{Base, Type};

/// Whether a value has a type other than a list.
#[inline(always)]
pub(crate) fn is_scalar_of(value: &Value, TypeId(ty): TypeId) -> bool {
    ty < 8
        && ty
            .to_le_bytes()
            .first()
            .and_then(|&base| Base::from_number(base))
            .is_some_and(|base| fits(base, value.tag))
}

/// A fault if the value that a function returns does not have the declared type. The examined items of lists
/// are charged first.
#[cold]
#[inline(never)]
pub(crate) fn check(heap: &mut Heap, value: Value, TypeId(ty): TypeId) -> Result<(), Trap> {
    let Some(ty) = Type::from_packed(ty) else { return Ok(()) };
    match mistyped(heap, value, ty, |heap, items| heap.budget.burn_bulk(items, 0))? {
        // A look-ahead run does not know all values.
        None | Some(Tag::Unknown) => Ok(()),
        Some(found) => Err(refused(ty, value.tag, found)),
    }
}

fn refused(ty: Type, value: Tag, found: Tag) -> Trap {
    let inside = if found == value { "" } else { " in it" };
    let found = found.name();
    Trap::new(Code::FaultTypeMismatch, format_args!("expected a result of type {ty}, found {found}{inside}"))
}

/// Whether a type that is not a list allows values of this kind.
#[inline]
pub(crate) fn fits(base: Base, tag: Tag) -> bool {
    const fn of(tags: &[Tag]) -> u32 {
        let (mut set, mut at) = (0, 0);
        while at < tags.len() {
            set |= 1 << tags[at] as u32;
            at += 1;
        }
        set
    }
    let allowed = match base {
        Base::Any => u32::MAX,
        Base::Number => const { of(&[Tag::Int, Tag::Double]) },
        Base::Text => const { of(&[Tag::Text]) },
        Base::Bool => const { of(&[Tag::True, Tag::False]) },
        Base::Nil => const { of(&[Tag::Nil]) },
    };
    allowed >> tag as u32 & 1 != 0
}

/// The first kind of value that the type does not allow. Lists are searched level by level, unless their
/// items may be anything. `charge` is called for the items of each list before they are examined.
pub(crate) fn mistyped(
    heap: &mut Heap,
    value: Value,
    ty: Type,
    charge: impl Fn(&mut Heap, usize) -> Result<(), Trap>,
) -> Result<Option<Tag>, Trap> {
    // The number of checked items of each open list. The stack is as deep as the type, whose depth is
    // limited.
    let mut open: Vec<(Value, usize)> = Vec::new();
    let mut value = value;
    loop {
        let depth = open.len();
        if depth == usize::from(ty.lists) {
            if !fits(ty.base, value.tag) {
                return Ok(Some(value.tag));
            }
        } else if value.tag != Tag::List {
            return Ok(Some(value.tag));
        } else if depth + 1 < usize::from(ty.lists) || ty.base != Base::Any {
            charge(heap, at(value.aux))?;
            open.push((value, 0));
        }
        loop {
            let Some((list, next)) = open.last_mut() else { return Ok(None) };
            if *next < at(list.aux) {
                value = heap.value(at(list.low()) + *next);
                *next += 1;
                break;
            }
            open.pop();
        }
    }
}
