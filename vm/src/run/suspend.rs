//! Suspending a run as a snapshot, and going on from one.

use crate::budget::Limits;
use crate::program::Program;
use crate::run::state::Run;
use crate::snapshot::{self, Header, RestoreError, Tables};
use alloc::vec::Vec;
use core::fmt;

/// A run that does not wait for an answer has no snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotWaiting;

impl fmt::Display for NotWaiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a run that waits for the answer to a call")
    }
}

impl core::error::Error for NotWaiting {}

impl Run {
    /// Writes the run, which waits for the answer to a call, in place of what `out` holds.
    ///
    /// [`Run::restore`] goes on from it, in any process, with the same program and whatever limits are given there.
    /// The run itself goes on as before. Takes time and room in proportion to what the run can still read.
    ///
    /// # Errors
    /// [`NotWaiting`] where no call waits; `out` is empty then.
    pub fn snapshot(&self, out: &mut Vec<u8>) -> Result<(), NotWaiting> {
        out.clear();
        let Some(function) = self.suspended() else { return Err(NotWaiting) };
        snapshot::write(&self.machine, function, out);
        Ok(())
    }

    /// A run that goes on from a snapshot of this program.
    ///
    /// # Errors
    /// As [`Run::restore`].
    pub fn from_snapshot(program: &Program, snapshot: &[u8], limits: Limits) -> Result<Run, RestoreError> {
        let mut run = Run::new(program, limits);
        run.restore(snapshot)?;
        Ok(run)
    }

    /// Drops whatever was under way and goes on from a snapshot: the call that it was taken at waits for its answer.
    ///
    /// Fuel and calls that were used stay used; memory is counted anew. There are no arguments to rewind to.
    ///
    /// # Errors
    /// Bytes that are no snapshot of this program, or that pass a limit of this run; then nothing is under way.
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<(), RestoreError> {
        self.clear();
        let mut tables = self.tables.take().unwrap_or_default();
        let restored = self.read(snapshot, &mut tables);
        tables.clear();
        self.tables = Some(tables);
        if restored.is_err() {
            self.clear();
        }
        restored
    }

    fn read(&mut self, snapshot: &[u8], tables: &mut Tables) -> Result<(), RestoreError> {
        let header = Header::read(snapshot, &self.machine.program)?;
        self.prepare(header.function)?;
        header.read_rest(&mut self.machine, tables)?;
        Ok(self.wait()?)
    }
}
