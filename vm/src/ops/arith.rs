//! Arithmetic (specification: values, numbers).
//!
//! Integers stay exact or fault. If one operand is a double, both become the nearest double, and a result
//! that is not finite faults.

use crate::fault::Trap;
use crate::frame::Window;
use crate::heap::Heap;
use crate::number::nearest;
use crate::ops::{get, set};
use crate::program::{Constant, ProgramData};
use crate::value::{Pair, Tag, Value};
use core::hint::cold_path;
use ilo_spec::error::Code;
use ilo_spec::isa::{Op, Small};
use ilo_spec::operand::{In, Out};

/// An operation on two numbers.
pub(crate) trait Arithmetic {
    const NAME: &'static str;
    fn doubles(a: f64, b: f64) -> f64;
    /// `None` if the result does not fit in 64 bits.
    fn ints(a: i64, b: i64) -> Option<i64>;
}

pub(crate) struct Add;
pub(crate) struct Sub;
pub(crate) struct Mul;

impl Arithmetic for Add {
    const NAME: &'static str = "+";
    #[inline(always)]
    fn doubles(a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline(always)]
    fn ints(a: i64, b: i64) -> Option<i64> {
        a.checked_add(b)
    }
}

impl Arithmetic for Sub {
    const NAME: &'static str = "-";
    #[inline(always)]
    fn doubles(a: f64, b: f64) -> f64 {
        a - b
    }
    #[inline(always)]
    fn ints(a: i64, b: i64) -> Option<i64> {
        a.checked_sub(b)
    }
}

impl Arithmetic for Mul {
    const NAME: &'static str = "*";
    #[inline(always)]
    fn doubles(a: f64, b: f64) -> f64 {
        a * b
    }
    #[inline(always)]
    fn ints(a: i64, b: i64) -> Option<i64> {
        a.checked_mul(b)
    }
}

/// `dst` = `a` op constant. Every path stores its own result, so that no value is assembled in memory first.
#[inline(always)]
pub(crate) fn constant<O: Arithmetic>(w: &mut Window, dst: Out, a: In, b: &Constant) -> Result<(), Trap> {
    if let Some(result) = quick_constant::<O>(get(w, a), b) {
        return store(w, dst, Value::double(result));
    }
    match common::<O>(get(w, a), &b.value) {
        Common::Double(result) => store(w, dst, Value::double(result)),
        Common::Int(result) => store(w, dst, Value::int(result)),
        Common::Neither => constant_slowly::<O>(w, dst, a, b),
    }
}

#[cold]
#[inline(never)]
fn constant_slowly<O: Arithmetic>(w: &mut Window, dst: Out, a: In, b: &Constant) -> Result<(), Trap> {
    let result = mixed::<O>(get(w, a), &b.value)?;
    store(w, dst, result)
}

/// The result for a double and a constant, if it is finite.
#[inline(always)]
pub(crate) fn quick_constant<O: Arithmetic>(a: &Value, b: &Constant) -> Option<f64> {
    if a.tag != Tag::Double {
        return None;
    }
    let result = O::doubles(a.payload, b.double);
    finite(result).then_some(result)
}

/// The product of a double and a small integer, finite or not.
#[inline(always)]
pub(crate) fn product(a: &Value, b: Small) -> Option<f64> {
    (a.tag == Tag::Double).then(|| a.payload * small(b))
}

/// Each small integer as a double: loading it is cheaper than converting.
static SMALL: [f64; 256] = {
    let mut doubles = [0.0; 256];
    let (mut place, mut double) = (0, 0.0);
    while place < doubles.len() {
        doubles[place] = double;
        // In the order of the unsigned bytes.
        double = if place == 127 { -128.0 } else { double + 1.0 };
        place += 1;
    }
    doubles
};

/// A small integer as a double.
#[inline(always)]
pub(crate) fn small(int: Small) -> f64 {
    SMALL[usize::from(int.0.cast_unsigned())]
}

/// Like [`constant`], for two registers.
#[inline(always)]
pub(crate) fn registers<O: Arithmetic>(
    w: &mut Window,
    op: &Op,
    (dst, a, b): (Out, In, In),
) -> Result<(), Trap> {
    match common::<O>(get(w, a), get(w, b)) {
        Common::Double(result) => store(w, dst, Value::double(result)),
        Common::Int(result) => store(w, dst, Value::int(result)),
        Common::Neither => registers_slowly::<O>(w, op),
    }
}

/// It takes the whole instruction: otherwise each path would spill operands that only this one needs.
#[cold]
#[inline(never)]
fn registers_slowly<O: Arithmetic>(w: &mut Window, op: &Op) -> Result<(), Trap> {
    let (Op::Sub { dst, a, b } | Op::Mul { dst, a, b }) = *op else {
        return Ok(());
    };
    let result = mixed::<O>(get(w, a), get(w, b))?;
    store(w, dst, result)
}

/// `dst` = the sum of two numbers, or two lists or texts as one.
#[inline(always)]
pub(crate) fn add(
    heap: &mut Heap,
    program: &ProgramData,
    w: &mut Window,
    op: &Op,
    (dst, a, b): (Out, In, In),
) -> Result<(), Trap> {
    match common::<Add>(get(w, a), get(w, b)) {
        Common::Double(result) => store(w, dst, Value::double(result)),
        Common::Int(result) => store(w, dst, Value::int(result)),
        Common::Neither => add_slowly(heap, program, w, op),
    }
}

#[cold]
#[inline(never)]
fn add_slowly(heap: &mut Heap, program: &ProgramData, w: &mut Window, op: &Op) -> Result<(), Trap> {
    let Op::Add { dst, a, b } = *op else { return Ok(()) };
    let result = sum(heap, program, get(w, a), get(w, b))?;
    store(w, dst, result)
}

/// The sum of two numbers, or two lists or texts as one.
#[cold]
#[inline(never)]
pub(crate) fn sum(heap: &mut Heap, program: &ProgramData, a: &Value, b: &Value) -> Result<Value, Trap> {
    match (a.tag, b.tag) {
        (Tag::Text, Tag::Text) => super::text::render_joined(heap, program, &[*a, *b]),
        (Tag::List, Tag::List) => heap.join_lists(*a, *b),
        _ => mixed::<Add>(a, b),
    }
}

#[inline(always)]
#[allow(clippy::unnecessary_wraps, reason = "ends each path of its callers")]
fn store(w: &mut Window, dst: Out, value: Value) -> Result<(), Trap> {
    set(w, dst, value);
    Ok(())
}

/// The result of the two common cases.
enum Common {
    Double(f64),
    Int(i64),
    Neither,
}

#[inline(always)]
fn common<O: Arithmetic>(a: &Value, b: &Value) -> Common {
    match a.pair(b) {
        Pair::Doubles => {
            let result = O::doubles(a.payload, b.payload);
            if finite(result) {
                return Common::Double(result);
            }
        }
        Pair::Ints => {
            if let Some(result) = O::ints(a.as_int(), b.as_int()) {
                return Common::Int(result);
            }
        }
        Pair::Others => {}
    }
    cold_path();
    Common::Neither
}

/// The result for two doubles, if it is finite.
#[inline(always)]
pub(crate) fn quick<O: Arithmetic>(a: &Value, b: &Value) -> Option<f64> {
    if !a.both_double(b) {
        return None;
    }
    let result = O::doubles(a.payload, b.payload);
    finite(result).then_some(result)
}

/// Whether a double is finite: only then its difference with itself is a number. This takes a subtraction and
/// a branch; a test of the bits needs two long constants.
#[inline(always)]
#[allow(clippy::eq_op, reason = "that is the question")]
fn finite(double: f64) -> bool {
    !(double - double).is_nan()
}

/// The result for any two values.
#[cold]
#[inline(never)]
pub(crate) fn mixed<O: Arithmetic>(a: &Value, b: &Value) -> Result<Value, Trap> {
    if a.tag == Tag::Int && b.tag == Tag::Int {
        let (a, b) = (a.as_int(), b.as_int());
        return O::ints(a, b).map(Value::int).ok_or_else(|| overflow(a, O::NAME, b));
    }
    let (x, y) = doubles(a, b)?;
    checked(O::doubles(x, y), x, O::NAME, y)
}

#[cold]
fn overflow(a: i64, name: &str, b: i64) -> Trap {
    Trap::new(Code::FaultOverflow, format_args!("{a} {name} {b} is beyond 64 bits"))
}

fn checked(result: f64, a: f64, name: &str, b: f64) -> Result<Value, Trap> {
    if result.is_finite() {
        return Ok(Value::double(result));
    }
    Err(Trap::new(Code::FaultNotFinite, format_args!("{a:?} {name} {b:?} is not finite")))
}

/// Both numbers as the nearest doubles.
fn doubles(a: &Value, b: &Value) -> Result<(f64, f64), Trap> {
    match (double(a), double(b)) {
        (Some(a), Some(b)) => Ok((a, b)),
        _ => Err(two_numbers(a.tag, b.tag)),
    }
}

#[cold]
fn two_numbers(a: Tag, b: Tag) -> Trap {
    Trap::new(
        Code::FaultTypeMismatch,
        format_args!("expected two numbers, found {} and {}", a.name(), b.name()),
    )
}

fn double(value: &Value) -> Option<f64> {
    match value.tag {
        Tag::Double => Some(value.payload),
        Tag::Int => Some(nearest(value.as_int())),
        _ => None,
    }
}

/// `a` / `b`.
#[inline(never)]
pub(crate) fn quotient(a: &Value, b: &Value) -> Result<Value, Trap> {
    let (x, y) = doubles(a, b)?;
    if y == 0.0 {
        return Err(by_zero(x, "/"));
    }
    if a.tag == Tag::Int && b.tag == Tag::Int {
        let (a, b) = (a.as_int(), b.as_int());
        match a.checked_rem(b) {
            Some(0) => return Ok(Value::int(a / b)),
            Some(_) => {}
            // The least integer divided by -1.
            None => return Err(overflow(a, "/", b)),
        }
    }
    checked(x / y, x, "/", y)
}

#[cold]
fn by_zero(a: f64, name: &str) -> Trap {
    Trap::new(Code::FaultDivisionByZero, format_args!("{a:?} {name} 0"))
}

/// `a` mod `b`, with the sign of `a`.
#[inline(never)]
pub(crate) fn remainder(a: &Value, b: &Value) -> Result<Value, Trap> {
    let (x, y) = doubles(a, b)?;
    if y == 0.0 {
        return Err(by_zero(x, "mod"));
    }
    if a.tag == Tag::Int && b.tag == Tag::Int {
        // Wrapping gives 0 for the least integer mod -1.
        return Ok(Value::int(a.as_int().wrapping_rem(b.as_int())));
    }
    checked(x % y, x, "mod", y)
}
