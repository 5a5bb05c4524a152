//! What verification finds out for running: costs, sizes, the order of map keys.

use crate::hash_index::HashIndex;
use crate::number;
use alloc::vec::Vec;
use ilo_spec::program::{Key, Number, Program};

/// Fields whose place in a shape the matrix can keep; a field of a higher number is searched.
pub(crate) const COLUMNS: usize = 128;
/// Switches of at most this many cases are searched from the front.
pub(crate) const FEW_CASES: usize = 8;

/// A key of a switch in an order in which equal keys are neighbours.
pub(crate) type Rank = (u8, u64);

/// What verifying finds out for running.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The number of a string.
    pub(crate) strings: HashIndex,
    /// One past the highest field that is read, at most [`COLUMNS`].
    pub(crate) stride: usize,
    /// Fuel of one pass through a loop, at the instruction that begins it.
    pub(crate) loops: Vec<u32>,
    /// What a call of each function needs.
    pub(crate) entries: Vec<Entry>,
    /// Whether each function leaves its parameters as they were.
    pub(crate) keeps: Vec<bool>,
    /// Whether another function calls it.
    pub(crate) called: Vec<bool>,
    /// For each map of many cases, its keys in order with their targets.
    pub(crate) orders: Vec<Vec<(Rank, u16)>>,
}

/// What a call of a function needs to know of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    /// Its first instruction.
    pub(crate) start: u32,
    /// Fuel of one pass through it without its loops.
    pub(crate) cost: u32,
    /// Registers that it and all that it calls take.
    pub(crate) extent: u32,
    /// Calls that are under way at once below it.
    pub(crate) depth: u32,
}

/// The order of a key.
pub(crate) fn rank(program: &Program, key: Key) -> Rank {
    match key {
        Key::Nil => (0, 0),
        Key::Bool(value) => (1, value.into()),
        Key::Number(id) => match program.numbers.get(usize::from(id.0)) {
            Some(&number) => number_rank(number),
            None => (0, 0),
        },
        Key::Text(id) => (4, id.0.into()),
    }
}

/// The order of a number, the same for equal ones: an integral double goes with its integer.
pub(crate) fn number_rank(number: Number) -> Rank {
    match number {
        Number::Int(int) => (2, int.cast_unsigned()),
        Number::Double(double) => match number::integral(double) {
            Some(int) => (2, int.cast_unsigned()),
            None => (3, double.to_bits()),
        },
    }
}
