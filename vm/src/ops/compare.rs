//! Equality of any two values, order of two numbers or two texts, logic, and case selection.

use crate::facts::{FEW_CASES, number_rank};
use crate::fault::{Trap, mismatch};
use crate::frame::Window;
use crate::heap::Heap;
use crate::inline_stack::InlineStack;
use crate::number::compare_exactly;
use crate::ops::arith::{self, Mul};
use crate::ops::{get, set, truth};
use crate::program::{Constant, ProgramData};
use crate::value::{Pair, Tag, Value, at};
use core::cmp::Ordering;
use core::hint::cold_path;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::operand::{ChoiceId, In, MapId, NumberId, Out};
use ilo_spec::program::Key;

/// An order relation.
pub(crate) trait Relation {
    fn doubles(a: f64, b: f64) -> bool;
    fn holds(order: Ordering) -> bool;
}

macro_rules! relations {
    ($($name:ident $operator:tt $holds:ident;)*) => {$(
        pub(crate) struct $name;
        impl Relation for $name {
            #[inline(always)]
            fn doubles(a: f64, b: f64) -> bool {
                a $operator b
            }
            #[inline(always)]
            fn holds(order: Ordering) -> bool {
                order.$holds()
            }
        }
    )*};
}

relations! {
    Lt < is_lt;
    Le <= is_le;
    Gt > is_gt;
    Ge >= is_ge;
}

/// Whether the relation holds.
#[inline(always)]
pub(crate) fn related<R: Relation>(
    heap: &mut Heap,
    program: &ProgramData,
    a: &Value,
    b: &Value,
) -> Result<bool, Trap> {
    match a.pair(b) {
        Pair::Doubles => Ok(R::doubles(a.payload, b.payload)),
        Pair::Ints => Ok(R::holds(a.as_int().cmp(&b.as_int()))),
        Pair::Others => {
            cold_path();
            order(heap, program, a, b).map(R::holds)
        }
    }
}

/// Whether the relation with a constant holds.
#[inline(always)]
pub(crate) fn related_constant<R: Relation>(
    heap: &mut Heap,
    program: &ProgramData,
    a: &Value,
    b: &Constant,
) -> Result<bool, Trap> {
    if a.tag == Tag::Double && b.exact {
        return Ok(R::doubles(a.payload, b.double));
    }
    related::<R>(heap, program, a, &b.value)
}

/// `dst` = `a` * constant; returns whether it is at least another constant.
///
/// The slow path takes the instruction itself: otherwise every path would spill operands that only it needs.
#[inline(always)]
pub(crate) fn product_at_least(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    op: &Op,
) -> Result<bool, Trap> {
    if let Op::MulCUnlessGeC { dst, a, by, least, .. } = *op
        && let (by, least) = (program.small_number(by), program.small_number(least))
        && let Some(product) = arith::quick_constant::<Mul>(get(w, a), by)
        && least.exact
    {
        set(w, dst, Value::double(product));
        return Ok(Ge::doubles(product, least.double));
    }
    cold_path();
    product_at_least_slowly(heap, program, w, op)
}

#[cold]
#[inline(never)]
pub(crate) fn product_at_least_slowly(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    op: &Op,
) -> Result<bool, Trap> {
    match *op {
        Op::MulCUnlessGeC { dst, a, by, least, .. } => {
            arith::constant::<Mul>(w, dst, a, program.small_number(by))?;
            related_constant::<Ge>(heap, program, &w[usize::from(dst.0)], program.small_number(least))
        }
        Op::MulUnlessGe { dst, a, by, least, .. } => {
            let product = arith::mixed::<Mul>(get(w, a), &Value::int(by.0.into()))?;
            set(w, dst, product);
            related::<Ge>(heap, program, &product, &Value::int(least.0.into()))
        }
        _ => Ok(true),
    }
}

#[inline(never)]
fn order(heap: &mut Heap, program: &ProgramData, a: &Value, b: &Value) -> Result<Ordering, Trap> {
    match (a.tag, b.tag) {
        (Tag::Int, Tag::Double) => Ok(compare_exactly(a.as_int(), b.payload)),
        (Tag::Double, Tag::Int) => Ok(compare_exactly(b.as_int(), a.payload).reverse()),
        (Tag::Text, Tag::Text) => {
            heap.budget.burn_bulk(0, at(a.high().min(b.high())))?;
            // UTF-8 preserves the order of code points.
            Ok(heap.text_of(program, *a).cmp(heap.text_of(program, *b)))
        }
        (a, b) => Err(Trap::new(
            Code::FaultTypeMismatch,
            format_args!("expected two numbers or two texts, found {} and {}", a.name(), b.name()),
        )),
    }
}

/// `dst` = whether the relation holds.
#[inline(always)]
pub(crate) fn relate<R: Relation>(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    dst: Out,
    (a, b): (In, In),
) -> Result<(), Trap> {
    let holds = related::<R>(heap, program, get(w, a), get(w, b))?;
    set(w, dst, Value::bool(holds));
    Ok(())
}

/// Whether two values are equal.
#[inline(always)]
pub(crate) fn equal(heap: &mut Heap, program: &ProgramData, a: &Value, b: &Value) -> Result<bool, Trap> {
    if a.both_double(b) {
        #[allow(clippy::float_cmp, reason = "equality of numbers is exact")]
        return Ok(a.payload == b.payload);
    }
    equal_any(heap, program, a, b)
}

/// Whether a value equals a constant.
#[inline(always)]
pub(crate) fn equal_constant(
    heap: &mut Heap,
    program: &ProgramData,
    a: &Value,
    b: &Constant,
) -> Result<bool, Trap> {
    if a.tag == Tag::Double && b.exact {
        #[allow(clippy::float_cmp, reason = "equality of numbers is exact")]
        return Ok(a.payload == b.double);
    }
    equal(heap, program, a, &b.value)
}

#[inline(never)]
fn equal_any(heap: &mut Heap, program: &ProgramData, a: &Value, b: &Value) -> Result<bool, Trap> {
    match equal_leaf(heap, program, *a, *b)? {
        Some(equal) => Ok(equal),
        None => equal_deep(heap, program, *a, *b),
    }
}

/// Whether two values are equal, if that can be decided without comparing items; `None` for two containers of
/// equal length.
fn equal_leaf(heap: &mut Heap, program: &ProgramData, a: Value, b: Value) -> Result<Option<bool>, Trap> {
    let equal = match (a.tag, b.tag) {
        (Tag::Int, Tag::Int) => a.as_int() == b.as_int(),
        #[allow(clippy::float_cmp, reason = "equality of numbers is exact")]
        (Tag::Double, Tag::Double) => a.payload == b.payload,
        (Tag::Int, Tag::Double) => compare_exactly(a.as_int(), b.payload).is_eq(),
        (Tag::Double, Tag::Int) => compare_exactly(b.as_int(), a.payload).is_eq(),
        (Tag::Text, Tag::Text) => {
            if a.payload.to_bits() == b.payload.to_bits() {
                return Ok(Some(true));
            }
            if a.high() != b.high() {
                return Ok(Some(false));
            }
            heap.budget.burn_bulk(0, at(a.high()))?;
            heap.text_of(program, a) == heap.text_of(program, b)
        }
        (Tag::List, Tag::List) | (Tag::Record, Tag::Record) => {
            if a.low() == b.low() && a.aux == b.aux {
                return Ok(Some(true));
            }
            if heap.len(program, a) == heap.len(program, b) {
                return Ok(None);
            }
            false
        }
        (Tag::Unknown, _) | (_, Tag::Unknown) => return Err(mismatch("values to compare", Tag::Unknown)),
        (a, b) => a == b,
    };
    Ok(Some(equal))
}

/// Two containers, and how many of their items are compared.
#[derive(Clone, Copy)]
struct Compared {
    a: Value,
    b: Value,
    next: usize,
}

fn equal_deep(heap: &mut Heap, program: &ProgramData, a: Value, b: Value) -> Result<bool, Trap> {
    let mut open = InlineStack::new(Compared { a, b, next: 0 });
    open.push(Compared { a, b, next: 0 });
    while let Some(pair) = open.last() {
        let Compared { a, b, next } = *pair;
        if next == heap.len(program, a) {
            open.pop();
            continue;
        }
        pair.next += 1;
        heap.budget.burn(1)?;
        let x = heap.value(at(a.low()) + next);
        let Some(place) = partner(heap, program, a, b, next)? else { return Ok(false) };
        let y = heap.value(at(b.low()) + place);
        match equal_leaf(heap, program, x, y)? {
            Some(true) => {}
            Some(false) => return Ok(false),
            // The stack is bounded: depth was checked when both values were built.
            None => open.push(Compared { a: x, b: y, next: 0 }),
        }
    }
    Ok(true)
}

/// The place in `b` of the item that is at `place` in `a`.
fn partner(
    heap: &mut Heap,
    program: &ProgramData,
    a: Value,
    b: Value,
    place: usize,
) -> Result<Option<usize>, Trap> {
    if a.tag == Tag::List || a.aux == b.aux {
        return Ok(Some(place));
    }
    let name = heap.shapes.fields(program, a.aux)[place];
    let other = heap.shapes.fields(program, b.aux);
    if other[place] == name {
        return Ok(Some(place));
    }
    let found = other.iter().position(|&field| field == name);
    let looked_at = found.unwrap_or(other.len());
    heap.budget.burn_bulk(looked_at, 0)?;
    Ok(found)
}

/// `dst` = whether two values are equal, or with `negate`, whether they differ.
#[inline(always)]
pub(crate) fn equate(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    dst: Out,
    (a, b): (In, In),
    negate: bool,
) -> Result<(), Trap> {
    let holds = equal(heap, program, get(w, a), get(w, b))? != negate;
    set(w, dst, Value::bool(holds));
    Ok(())
}

/// `dst` = whether the condition is true, or with `negate`, whether it is not.
#[inline(always)]
pub(crate) fn condition(w: &mut Window, dst: Out, src: In, negate: bool) -> Result<(), Trap> {
    let holds = truth(get(w, src))? != negate;
    set(w, dst, Value::bool(holds));
    Ok(())
}

/// `dst` = the number that the map selects.
#[inline(always)]
pub(crate) fn select(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    op: &Op,
    (dst, src, map): (Out, In, ChoiceId),
) -> Result<(), Trap> {
    let subject = get(w, src);
    if subject.tag == Tag::Text {
        for case in program.text_cases(MapId(map.0)) {
            if case.key == subject.payload.to_bits() {
                set(w, dst, case.number);
                return Ok(());
            }
        }
    }
    cold_path();
    select_slowly(heap, program, w, op)
}

#[cold]
#[inline(never)]
fn select_slowly(heap: &mut Heap, program: &ProgramData, w: &mut Window, op: &Op) -> Result<(), Trap> {
    let Op::Select { dst, src, map } = *op else { return Ok(()) };
    let number = case(heap, program, get(w, src), MapId(map.0))?;
    set(w, dst, program.number(NumberId(number)).value);
    Ok(())
}

/// The distance that a switch jumps. A constant text is found by its address.
#[inline(always)]
pub(crate) fn switch(heap: &mut Heap, program: &ProgramData, src: &Value, map: MapId) -> Result<usize, Trap> {
    if src.tag == Tag::Text {
        for case in program.text_cases(map) {
            if case.key == src.payload.to_bits() {
                cold_path();
                return Ok(usize::from(case.to));
            }
        }
    }
    case(heap, program, src, map).map(usize::from)
}

/// The target of a map for a value.
#[inline(never)]
fn case(heap: &mut Heap, program: &ProgramData, src: &Value, map: MapId) -> Result<u16, Trap> {
    let target = match program.map(map.0) {
        Some(cases) if cases.cases.len() <= FEW_CASES => {
            few_cases(heap, program, src, &cases.cases)?.or(cases.default)
        }
        Some(_) if src.tag == Tag::Unknown => return Err(mismatch("a value to look for", src.tag)),
        Some(cases) => many_cases(heap, program, src, map)?.or(cases.default),
        None => None,
    };
    target.ok_or_else(|| no_case(heap, program, src, map))
}

fn few_cases(
    heap: &mut Heap,
    program: &ProgramData,
    src: &Value,
    cases: &[(Key, u16)],
) -> Result<Option<u16>, Trap> {
    // A text of the program equals none of its other strings; only a text made during the run is compared by
    // bytes.
    let known = src.tag == Tag::Text && heap.arena_range(*src).is_none();
    for &(key, to) in cases {
        let key = key_value(program, key);
        if known && key.tag == Tag::Text {
            if key.payload.to_bits() == src.payload.to_bits() {
                return Ok(Some(to));
            }
        } else if equal_any(heap, program, src, &key)? {
            return Ok(Some(to));
        }
    }
    Ok(None)
}

fn key_value(program: &ProgramData, key: Key) -> Value {
    match key {
        Key::Nil => Value::NIL,
        Key::Bool(value) => Value::bool(value),
        Key::Number(id) => program.number(id).value,
        Key::Text(id) => program.texts[at(id.0)],
    }
}

fn many_cases(heap: &mut Heap, program: &ProgramData, src: &Value, map: MapId) -> Result<Option<u16>, Trap> {
    let rank = match src.tag {
        Tag::Nil => Some((0, 0)),
        Tag::False => Some((1, 0)),
        Tag::True => Some((1, 1)),
        Tag::Int | Tag::Double => src.as_number().map(number_rank),
        // A text longer than every string of the program equals none of them.
        Tag::Text if at(src.high()) <= program.longest => {
            heap.budget.burn_bulk(0, at(src.high()))?;
            program.find_string(heap.text_of(program, *src)).map(|id| (4, id.into()))
        }
        Tag::Text | Tag::List | Tag::Record | Tag::Unknown => None,
    };
    let order = program.facts.orders.get(at(map.0));
    Ok(rank.zip(order).and_then(|(rank, order)| {
        let place = order.binary_search_by_key(&rank, |&(rank, _)| rank).ok()?;
        order.get(place).map(|&(_, to)| to)
    }))
}

#[cold]
fn no_case(heap: &Heap, program: &ProgramData, src: &Value, map: MapId) -> Trap {
    let mut message = alloc::string::String::from("no case for ");
    crate::render::excerpt(heap, program, *src, &mut message);
    let cases = program.map(map.0).map_or(&[][..], |map| &map.cases);
    message.push_str(if cases.is_empty() { "; there is none" } else { "; there are " });
    for (place, &(key, _)) in cases.iter().take(FEW_CASES).enumerate() {
        message.push_str(if place == 0 { "" } else { ", " });
        crate::render::excerpt(heap, program, key_value(program, key), &mut message);
    }
    if cases.len() > FEW_CASES {
        message.push_str(", …");
    }
    Trap::new(Code::FaultNoCase, format_args!("{message}"))
}
