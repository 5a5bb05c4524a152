//! Suspending a run as a snapshot, and resuming from one.

use crate::budget::Limits;
use crate::program::Program;
use crate::run::state::{Run, State};
use crate::snapshot::{self, EndFault, Header, RestoreError, Tables};
use alloc::vec::Vec;
use core::fmt;

/// Only a run that waits for an answer has a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotWaiting;

impl fmt::Display for NotWaiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a run that waits for the answer to a call")
    }
}

impl core::error::Error for NotWaiting {}

impl Run {
    /// Writes a snapshot of the run, which waits for the answer to a call, to `out`, replacing its content.
    ///
    /// [`Run::restore`] resumes from it in any process, with the same program and the limits given there.
    /// This run is unchanged. Takes time and space in proportion to what the run can still read.
    ///
    /// # Errors
    /// [`NotWaiting`] if no call waits; `out` is empty then.
    pub fn snapshot(&self, out: &mut Vec<u8>) -> Result<(), NotWaiting> {
        out.clear();
        let Some(function) = self.suspended() else { return Err(NotWaiting) };
        let fault = self.fault.as_deref();
        snapshot::write(&self.machine, function, fault, out);
        Ok(())
    }

    /// A run that resumes from a snapshot of this program.
    ///
    /// # Errors
    /// Those of [`Run::restore`].
    pub fn from_snapshot(program: &Program, snapshot: &[u8], limits: Limits) -> Result<Run, RestoreError> {
        let mut run = Run::new(program, limits);
        run.restore(snapshot)?;
        Ok(run)
    }

    /// Discards the current run and resumes from a snapshot: the call at which it was taken is pending.
    ///
    /// Fuel and calls already used stay used; memory is counted afresh. There are no arguments to rewind to.
    ///
    /// # Errors
    /// Bytes that are not a snapshot of this program, or that exceed a limit of this run. No run is then
    /// under way.
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
        let fault = header.read_rest(&mut self.machine, tables)?;
        if self.machine.rollbacks.more().running.is_none() {
            return Ok(self.wait()?);
        }
        if let Some(EndFault { code, message }) = fault {
            self.restore_fault(code, message);
        }
        self.state = State::Rollback;
        Ok(())
    }
}
