//! The stacks of a value that is being built; the run keeps them for the next one.

use crate::copy_in::Refusal;
use crate::run::build_error::BuildError;
use crate::value::Value;
use alloc::vec::Vec;

/// An open container.
#[derive(Clone, Copy, Debug)]
pub(super) struct Building {
    pub(super) record: bool,
    /// Where its values and names begin.
    pub(super) values: usize,
    pub(super) names: usize,
    /// The shape that it will have if its names are those of the last record here.
    pub(super) guess: u32,
}

/// The stacks of a builder, kept by the run.
#[derive(Debug, Default)]
pub(crate) struct BuildStack {
    pub(super) values: Vec<Value>,
    pub(super) names: Vec<u32>,
    pub(super) open: Vec<Building>,
    /// The number of values for which the stacks are charged in this run.
    pub(super) granted: usize,
    /// Why the value will be refused.
    pub(super) refusal: Option<Refusal>,
    pub(super) stopped: Option<BuildError>,
}

/// Bytes that a value takes on the stacks: itself, a name, and an open container.
pub(super) const STACKED: usize = size_of::<Value>() + size_of::<u32>() + size_of::<Building>();

impl BuildStack {
    /// Begins a run: nothing is charged yet.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.granted = 0;
        self.values.clear();
    }

    /// Finished values whose container is still open.
    pub(crate) fn values(&mut self) -> &mut [Value] {
        &mut self.values
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.names.clear();
        self.open.clear();
        self.refusal = None;
        self.stopped = None;
    }
}
