//! The texts, containers, shapes and names that a snapshot reader has read, by number.

use crate::value::Value;
use alloc::vec::Vec;

/// What was read so far; the run keeps the memory for the next time.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(super) texts: Vec<Value>,
    pub(super) objects: Vec<Object>,
    pub(super) open: Vec<Open>,
    pub(super) shapes: Vec<u32>,
    pub(super) names: Vec<u32>,
    pub(super) list: Vec<u32>,
}

/// A list or record that has a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    /// The value, with the depth of the items read so far.
    pub(super) value: Value,
    /// The number of items read.
    pub(super) filled: u32,
    pub(super) whole: bool,
    /// Whether a container holds it.
    pub(super) held: bool,
}

/// A container whose items are being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) object: u32,
    pub(super) next: u32,
    pub(super) count: u32,
    pub(super) depth: u32,
}

/// The capacity that each table keeps.
const KEPT: usize = 1_024;
/// Bytes charged for a table entry, since capacity may be twice the length.
pub(super) const ENTRY: u64 = 2 * size_of::<Object>() as u64;

impl Tables {
    pub(crate) fn clear(&mut self) {
        fn clear<T>(list: &mut Vec<T>) {
            list.clear();
            list.shrink_to(KEPT);
        }
        clear(&mut self.texts);
        clear(&mut self.objects);
        clear(&mut self.open);
        clear(&mut self.shapes);
        clear(&mut self.names);
        clear(&mut self.list);
    }
}
