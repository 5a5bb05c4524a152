//! What a reader of snapshots has met so far, by number; kept by the run for the next snapshot.

use crate::value::Value;
use alloc::vec::Vec;

/// What was read before, kept by the run for the next time.
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
    /// The value, as deep as what is there of it.
    pub(super) value: Value,
    /// Items that are there.
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

/// Entries of a table that are kept.
const KEPT: usize = 1_024;
/// Bytes of an entry of a table, which may have twice the room.
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
