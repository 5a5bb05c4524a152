//! What a row of the comparison consists of: unit, target, and the items that it adds up.

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Nanoseconds; less is better.
    Nanoseconds,
    /// Megabytes a second, from ns a byte; more is better.
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

    /// A measurement in this unit.
    pub(crate) fn of(self, measured: f64) -> f64 {
        if self == Unit::Speed { 1_000.0 / measured } else { measured }
    }
}

/// What has to hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// Our figure over theirs is at most that.
    Most(f64),
    /// Our figure over theirs is at least that.
    Least(f64),
    /// Our figure is at most that, whatever theirs is.
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

/// A row: our figure beside an engine's.
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
