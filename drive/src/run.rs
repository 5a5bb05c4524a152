//! The parts of driving a run that every way of driving it shares: its start, its end, and arguments.

use crate::data::Data;
use crate::data::read::{Bounds, read};
use crate::problem::Problem;
use crate::recorder::NotRecorded;
use bumpalo::Bump;
use ilo_spec::limits;
use ilo_vm::{Datum, FunctionId, Outcome, Run, StartError};

/// What the call of an entry fails with whose answer did not come.
pub const NO_ANSWER: &str = "no answer came in time";
/// What a call that a cancelled run does not make fails with.
pub const CANCELLED: &str = "cancelled";

/// How driving a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The run has its outcome.
    Outcome,
    /// It was interrupted from outside.
    Interrupted,
    /// The recorder has stopped it: it waits for somebody.
    Suspended,
    /// The recorder could not record it.
    NotRecorded(NotRecorded),
}

/// A run that nobody drives any more.
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

    /// How the run ended; nothing where it stopped before, or where its outcome could not be recorded.
    pub fn outcome(&self) -> Option<Outcome<'_>> {
        self.run.outcome().filter(|_| self.end == End::Outcome)
    }

    /// How driving it ended.
    pub fn end(&self) -> &End {
        &self.end
    }

    /// The run, to look at what it used.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

/// Starts a function with an input, which fits its parameters.
///
/// # Errors
/// An input that passes the limits.
pub fn start(run: &mut Run, function: FunctionId, input: &Data) -> Result<(), Problem> {
    let arena = Bump::new();
    let fields = match input.to_datum(&arena) {
        Datum::Record(fields) => fields,
        _ => &[],
    };
    run.start_named(function, fields).map_err(|error| {
        // They are not the input's fault.
        let place = if matches!(error, StartError::Registers { .. }) { "" } else { "input" };
        Problem::new(error.code(), place, error.to_string())
    })
}

/// Arguments that the machine wrote, which are within the run's limits.
pub fn data_of(json: &str) -> Data {
    let bounds = Bounds { bytes: usize::MAX, depth: limits::VALUE_DEPTH + 1, values: usize::MAX };
    read(json.as_bytes(), &bounds).unwrap_or(Data::Record(Vec::new()))
}
