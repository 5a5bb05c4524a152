//! The stacks of a value that is being built, kept by the run for the next one.

use crate::copy_in::Refusal;
use crate::run::build_error::BuildError;
use crate::value::Value;
use alloc::vec::Vec;

/// A container that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) record: bool,
    /// Where its values and names begin.
    pub(super) values: usize,
    pub(super) names: usize,
    /// The shape that it has if it goes on as the last one here did.
    pub(super) guess: u32,
}

/// The stacks of a builder, kept by the run.
#[derive(Debug, Default)]
pub(crate) struct BuildStack {
    pub(super) values: Vec<Value>,
    pub(super) names: Vec<u32>,
    pub(super) open: Vec<Open>,
    /// Values for which stacks are charged in this run.
    pub(super) granted: usize,
    /// What keeps the value from being taken.
    pub(super) refusal: Option<Refusal>,
    pub(super) stopped: Option<BuildError>,
}

/// Bytes that a value takes on the stacks: itself, a name, and what stands for an open container.
pub(super) const STACKED: usize = size_of::<Value>() + size_of::<u32>() + size_of::<Open>();

impl BuildStack {
    /// A run begins: nothing is charged.
    pub(crate) fn begin(&mut self) {
        self.granted = 0;
        self.values.clear();
    }

    /// Values that are whole and wait for their container.
    pub(crate) fn values(&mut self) -> &mut [Value] {
        &mut self.values
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.names.clear();
        self.open.clear();
        self.refusal = None;
        self.stopped = None;
    }
}
