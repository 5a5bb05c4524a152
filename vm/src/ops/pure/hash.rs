//! Hashes of values, for functions that look for equal values in linear time.
//!
//! Equal values (specification: comparing) have equal hashes: a number by its value, whether it is an
//! integer or a double, and a record whatever the order of its fields. So each leaf is hashed with the path
//! that leads to it, and the hashes of all leaves are added.

use crate::fault::Trap;
use crate::hash_index::HashIndex;
use crate::heap::Heap;
use crate::inline_stack::InlineStack;
use crate::number::integral;
use crate::ops::compare;
use crate::program::ProgramData;
use crate::value::{Tag, Value, at};
use alloc::vec::Vec;

/// Mixes a word into a hash.
fn mix(hash: u64, word: u64) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (hash.rotate_left(29) ^ word ^ ODD).wrapping_mul(ODD);
    mixed ^ (mixed >> 32)
}

/// The hash of a value without its items.
fn leaf(heap: &mut Heap, program: &ProgramData, value: Value, path: u64) -> Result<u64, Trap> {
    let (kind, word) = match value.tag {
        Tag::Int => (1, value.as_int().cast_unsigned()),
        Tag::Double => match integral(value.payload) {
            Some(int) => (1, int.cast_unsigned()),
            None => (2, value.payload.to_bits()),
        },
        Tag::Text => {
            heap.budget.burn_bulk(0, at(value.high()))?;
            (3, HashIndex::default().hash_text(heap.text_of(program, value)))
        }
        Tag::List => (4, value.aux.into()),
        Tag::Record => (5, heap.len(program, value) as u64),
        tag => (6, tag as u64),
    };
    Ok(mix(mix(path, kind), word))
}

/// A container whose items are hashed.
#[derive(Clone, Copy)]
struct Hashing {
    value: Value,
    next: usize,
    path: u64,
}

/// The hash of a value. It costs a unit of fuel for each value in it.
fn hash(heap: &mut Heap, program: &ProgramData, value: Value) -> Result<u64, Trap> {
    let mut sum = leaf(heap, program, value, 0)?;
    let first = Hashing { value, next: 0, path: 0 };
    let mut open = InlineStack::new(first);
    open.push(first);
    while let Some(last) = open.last() {
        let Hashing { value, next, path } = *last;
        if next == heap.len(program, value) {
            open.pop();
            continue;
        }
        last.next += 1;
        heap.budget.burn(1)?;
        let step = match value.tag {
            Tag::Record => heap.shapes.fields(program, value.aux)[next].into(),
            _ => next as u64,
        };
        let (item, path) = (heap.value(at(value.low()) + next), mix(path, step));
        sum = sum.wrapping_add(leaf(heap, program, item, path)?);
        // The stack is bounded: depth was checked when the value was built.
        if item.is_container() {
            open.push(Hashing { value: item, next: 0, path });
        }
    }
    Ok(sum)
}

/// The bytes that sorting `count` values into classes takes, which the caller charges.
pub(super) fn scratch(count: usize) -> u64 {
    let index = (count * 2).next_power_of_two() * size_of::<u64>();
    (index + count * (size_of::<Value>() + size_of::<u64>() + size_of::<u32>())) as u64
}

/// For each value, the number of the first one that equals it.
pub(super) fn firsts(heap: &mut Heap, program: &ProgramData, values: &[Value]) -> Result<Vec<u32>, Trap> {
    let mut hashes = Vec::with_capacity(values.len());
    for &value in values {
        heap.budget.burn(1)?;
        hashes.push(hash(heap, program, value)?);
    }
    let mut index = HashIndex::with_room(values.len());
    let mut firsts = Vec::with_capacity(values.len());
    for (number, value) in (0_u32..).zip(values) {
        let (mut first, mut trap) = (number, None);
        let same = |other: u32| {
            let compared = heap.budget.burn(1).and_then(|()| {
                let other = values.get(at(other)).copied().unwrap_or(Value::NIL);
                compare::equal(heap, program, &other, value)
            });
            match compared {
                Ok(equal) => {
                    first = if equal { other } else { first };
                    equal
                }
                Err(stop) => {
                    trap = Some(stop);
                    true
                }
            }
        };
        let hash_of = |index: &HashIndex, number: u32| {
            let hash = hashes.get(at(number)).copied().unwrap_or(0);
            index.hash_list(&[(hash & 0xffff_ffff) as u32, (hash >> 32) as u32])
        };
        index.insert_new(number, same, hash_of);
        if let Some(trap) = trap {
            return Err(trap);
        }
        firsts.push(first);
    }
    Ok(firsts)
}
