//! How a run starts and how driving it can end, whoever drives it.

use crate::data::Data;
use crate::problem::Problem;
use crate::recorder::NotRecorded;
use bumpalo::Bump;
use ilo_vm::{Datum, FunctionId, Outcome, Run, StartError};

/// The failure of an entry's call whose answer did not come.
pub const NO_ANSWER: &str = "no answer came in time";
/// The failure of a call that a cancelled run does not make.
pub const CANCELLED: &str = "cancelled";

/// How driving a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The run has its outcome.
    Outcome,
    /// It was interrupted from outside.
    Interrupted,
    /// The recorder stopped it: it waits for something outside.
    Suspended,
    /// The recorder could not record it.
    NotRecorded(NotRecorded),
}

/// A run that is no longer driven.
#[derive(Debug)]
pub struct Finished {
    run: Run,
    end: End,
}

impl Finished {
    /// A run that was driven.
    pub fn new(run: Run, end: End) -> Finished {
        Finished { run, end }
    }

    /// The outcome; nothing if the run stopped before its end, or if its outcome could not be recorded.
    pub fn outcome(&self) -> Option<Outcome<'_>> {
        self.run.outcome().filter(|_| self.end == End::Outcome)
    }

    /// How driving it ended.
    pub fn end(&self) -> &End {
        &self.end
    }

    /// The run, for its use of fuel and memory.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

/// Starts a function with an input that fits its parameters.
///
/// # Errors
/// An input that exceeds the limits.
pub fn start(run: &mut Run, function: FunctionId, input: &Data) -> Result<(), Problem> {
    let arena = Bump::new();
    let fields = match input.to_datum(&arena) {
        Datum::Record(fields) => fields,
        _ => &[],
    };
    run.start_named(function, fields).map_err(|error| {
        // These faults are not caused by the input.
        let place = if matches!(error, StartError::Registers { .. }) { "" } else { "input" };
        Problem::new(error.code(), place, error.to_string())
    })
}
