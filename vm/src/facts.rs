//! The results of verification that running needs: costs, sizes and the order of map keys.

use crate::hash_index::HashIndex;
use crate::number;
use alloc::vec::Vec;
use ilo_spec::program::{Key, Number, Program};

/// The number of fields that the field matrix covers; a field with a higher number is searched for.
pub(crate) const COLUMNS: usize = 128;
/// Switches with at most this many cases are searched linearly.
pub(crate) const FEW_CASES: usize = 8;

/// A sort key for the keys of a switch: equal keys have equal ranks.
pub(crate) type Rank = (u8, u64);

/// The results of verification.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Finds the number of a string.
    pub(crate) strings: HashIndex,
    /// One past the highest field that is read; at most [`COLUMNS`].
    pub(crate) stride: usize,
    /// The fuel of one iteration of each loop, indexed by the instruction that begins it.
    pub(crate) loops: Vec<u32>,
    /// What a call of each function needs.
    pub(crate) entries: Vec<Callee>,
    /// Whether each function leaves its parameter registers unchanged.
    pub(crate) keeps: Vec<bool>,
    /// Whether another function calls it.
    pub(crate) called: Vec<bool>,
    /// Each `tool.rollback` in code order, with the arguments of all entries of its section.
    pub(crate) sections: Vec<(u32, u32)>,
    /// The sorted keys and targets of each map with many cases.
    pub(crate) orders: Vec<Vec<(Rank, u16)>>,
}

/// What a call needs to know about a function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Callee {
    /// Its first instruction.
    pub(crate) start: u32,
    /// The fuel of one pass through it, without its loops.
    pub(crate) cost: u32,
    /// Registers used by it and everything it calls.
    pub(crate) extent: u32,
    /// The greatest number of nested calls below it.
    pub(crate) depth: u32,
}

/// The rank of a key.
#[inline]
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

/// The rank of a number. Equal numbers have equal ranks: an integral double has the rank of its integer.
#[inline]
pub(crate) fn number_rank(number: Number) -> Rank {
    match number {
        Number::Int(int) => (2, int.cast_unsigned()),
        Number::Double(double) => match number::integral(double) {
            Some(int) => (2, int.cast_unsigned()),
            None => (3, double.to_bits()),
        },
    }
}
