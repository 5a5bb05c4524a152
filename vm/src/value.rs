//! A value: 16 bytes, `Copy`, without a destructor.
//!
//! Numbers and bools are stored in the value; texts, lists and records are offsets into the arenas of the run
//! (`heap`). A container knows how deeply it is nested, so the depth is checked only where containers are
//! built.

use core::hint::cold_path;
use ilo_spec::program::Number;

/// The kind of a value. Containers have bit 8. The sum of two tags shows whether both are doubles or both are
/// integers: no other pair has the same sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub(crate) enum Tag {
    Double = 0,
    Nil = 2,
    False = 3,
    True = 4,
    Text = 5,
    /// In a look-ahead run, the answer to a call that it did not wait for.
    Unknown = 6,
    List = 8,
    Record = 9,
    Int = 16,
}

impl Tag {
    /// The name of the type in messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Tag::Nil => "nil",
            Tag::False | Tag::True => "bool",
            Tag::Int | Tag::Double => "number",
            Tag::Text => "text",
            Tag::Unknown => "something unknown",
            Tag::List => "list",
            Tag::Record => "record",
        }
    }
}

/// Which kinds of number a pair of values is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pair {
    Doubles,
    Ints,
    /// One of each, or not two numbers.
    Others,
}

const DOUBLES: u32 = 2 * Tag::Double as u32;
const INTS: u32 = 2 * Tag::Int as u32;

/// Set in the upper half of a list's payload if a header with its capacity precedes the items.
const GROWABLE: u32 = 1 << 31;

/// A value.
///
/// The payload is a double so that doubles never pass through a general register; other kinds use its bits.
/// The tag precedes the auxiliary word, so that both are stored as one small constant if that is 0.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Value {
    pub(crate) payload: f64,
    pub(crate) tag: Tag,
    /// The length of a list, or the shape of a record.
    pub(crate) aux: u32,
}

impl Value {
    pub(crate) const NIL: Value = Value::plain(Tag::Nil);
    pub(crate) const UNKNOWN: Value = Value::plain(Tag::Unknown);

    /// The content of unused places, which is never read. All bits are 0, which is the fastest to write.
    pub(crate) const CLEAR: Value = Value::double(0.0);

    const fn plain(tag: Tag) -> Value {
        Value { tag, aux: 0, payload: 0.0 }
    }

    #[inline(always)]
    pub(crate) const fn bool(value: bool) -> Value {
        Value::plain(if value { Tag::True } else { Tag::False })
    }

    #[inline(always)]
    pub(crate) const fn int(value: i64) -> Value {
        Value { tag: Tag::Int, aux: 0, payload: f64::from_bits(value.cast_unsigned()) }
    }

    #[inline(always)]
    pub(crate) const fn double(value: f64) -> Value {
        Value { tag: Tag::Double, aux: 0, payload: value }
    }

    #[inline]
    pub(crate) const fn number(number: Number) -> Value {
        match number {
            Number::Int(int) => Value::int(int),
            Number::Double(double) => Value::double(double),
        }
    }

    #[inline(always)]
    pub(crate) const fn text(offset: u32, len: u32) -> Value {
        Value { tag: Tag::Text, aux: 0, payload: pack(offset, len) }
    }

    #[inline(always)]
    pub(crate) const fn list(offset: u32, len: u32, depth: u32) -> Value {
        Value { tag: Tag::List, aux: len, payload: pack(offset, depth) }
    }

    #[inline(always)]
    pub(crate) const fn growable(offset: u32, len: u32, depth: u32) -> Value {
        Value { tag: Tag::List, aux: len, payload: pack(offset, depth | GROWABLE) }
    }

    #[inline(always)]
    pub(crate) const fn record(offset: u32, shape: u32, depth: u32) -> Value {
        Value { tag: Tag::Record, aux: shape, payload: pack(offset, depth) }
    }

    /// The state of a loop, in a register that programs cannot read: the fuel of a pass, the index of the
    /// next item, and the first instruction of the body.
    #[inline(always)]
    pub(crate) const fn state(cost: u32, index: u32, body: u32) -> Value {
        Value { tag: Tag::Nil, aux: cost, payload: pack(index, body) }
    }

    /// The payload of a loop's state with the next index. The index cannot overflow into the upper half.
    #[inline(always)]
    pub(crate) const fn advanced(self) -> f64 {
        f64::from_bits(self.payload.to_bits().wrapping_add(1))
    }

    /// The header of a growable list: how many places are used, and how many there are.
    #[inline(always)]
    pub(crate) const fn header(used: u32, places: u32) -> Value {
        Value { tag: Tag::Nil, aux: used, payload: pack(places, 0) }
    }

    /// A copy made in two halves, for a value that may have just been stored in halves.
    #[inline(always)]
    pub(crate) const fn in_halves(&self) -> Value {
        Value { tag: self.tag, aux: self.aux, payload: f64::from_bits(self.payload.to_bits()) }
    }

    #[inline(always)]
    pub(crate) const fn as_int(self) -> i64 {
        self.payload.to_bits().cast_signed()
    }

    /// The offset of a text, list or record, or the index of a loop.
    #[inline(always)]
    pub(crate) const fn low(self) -> u32 {
        (self.payload.to_bits() & 0xffff_ffff) as u32
    }

    /// The length of a text.
    #[inline(always)]
    pub(crate) const fn high(self) -> u32 {
        (self.payload.to_bits() >> 32) as u32
    }

    /// Whether a list has a header.
    #[inline]
    pub(crate) const fn is_growable(self) -> bool {
        self.high() & GROWABLE != 0
    }

    /// Which kinds of number both values are, with one comparison.
    #[inline(always)]
    pub(crate) const fn pair(&self, other: &Value) -> Pair {
        let sum = self.tag as u32 + other.tag as u32;
        if sum == DOUBLES {
            Pair::Doubles
        } else {
            cold_path();
            if sum == INTS { Pair::Ints } else { Pair::Others }
        }
    }

    /// Whether both are doubles.
    #[inline(always)]
    pub(crate) const fn both_double(&self, other: &Value) -> bool {
        matches!(self.pair(other), Pair::Doubles)
    }

    #[inline(always)]
    pub(crate) const fn is_container(self) -> bool {
        self.tag as u32 & 8 != 0
    }

    /// Whether it is the header of a list; no other value in an arena looks like one.
    pub(crate) fn is_header(self) -> bool {
        self.tag == Tag::Nil && self.aux != 0
    }

    /// The same text or container at another offset.
    pub(crate) const fn at_offset(self, offset: u32) -> Value {
        Value { payload: pack(offset, self.high()), ..self }
    }

    /// The same container with another depth.
    pub(crate) const fn at_depth(self, depth: u32) -> Value {
        Value { payload: pack(self.low(), depth | self.high() & GROWABLE), ..self }
    }

    /// The nesting depth: 0 for a scalar, 1 for a container of scalars.
    #[inline]
    pub(crate) const fn depth(self) -> u32 {
        if self.is_container() { self.high() & !GROWABLE } else { 0 }
    }

    /// The number, if it is one.
    #[inline]
    pub(crate) const fn as_number(self) -> Option<Number> {
        match self.tag {
            Tag::Int => Some(Number::Int(self.as_int())),
            Tag::Double => Some(Number::Double(self.payload)),
            _ => None,
        }
    }
}

#[inline(always)]
const fn pack(low: u32, high: u32) -> f64 {
    f64::from_bits((high as u64) << 32 | low as u64)
}

/// A 32-bit index as a `usize`; all supported targets have at least 32 bits.
#[inline(always)]
pub(crate) const fn at(index: u32) -> usize {
    index as usize
}

const _: () = assert!(size_of::<Value>() == 16, "a value is 16 bytes");
