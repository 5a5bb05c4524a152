//! The parts of a row of the comparison: unit, target, and the items whose figures it adds.

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Nanoseconds; less is better.
    Nanoseconds,
    /// Megabytes per second, computed from ns per byte; more is better.
    Speed,
    /// Bytes; less is better.
    Bytes,
}

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "ns",
            Unit::Speed => "MB/s",
            Unit::Bytes => "bytes",
        }
    }

    /// Converts a measurement to this unit.
    pub(crate) fn of(self, measured: f64) -> f64 {
        if self == Unit::Speed { 1_000.0 / measured } else { measured }
    }
}

/// The condition of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// The ratio of our figure to theirs is at most this.
    Most(f64),
    /// The ratio of our figure to theirs is at least this.
    Least(f64),
    /// Our figure is at most this, whatever theirs is.
    Alone(f64),
}

impl Target {
    pub(crate) fn met(self, ours: f64, ratio: Option<f64>) -> Option<bool> {
        match self {
            Target::Most(most) => ratio.map(|ratio| ratio <= most),
            Target::Least(least) => ratio.map(|ratio| ratio >= least),
            Target::Alone(most) => Some(ours <= most),
        }
    }
}

/// A row: our figure and that of another engine.
pub(crate) struct Row {
    /// What is measured, with its unit.
    pub(crate) what: &'static str,
    /// The items, whose figures are added.
    pub(crate) items: &'static [&'static str],
    /// The engine.
    pub(crate) peer: &'static str,
    pub(crate) unit: Unit,
    pub(crate) target: Option<Target>,
}
