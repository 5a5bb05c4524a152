//! Suspending a run as a snapshot, and resuming from one.

use crate::run::state::{Run, State};
use crate::snapshot::{EndFault, Header, RestoreError, Tables};
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

pub(crate) fn read(run: &mut Run, snapshot: &[u8], tables: &mut Tables) -> Result<(), RestoreError> {
    let header = Header::read(snapshot, &run.machine.program)?;
    run.prepare(header.function)?;
    let fault = header.read_rest(&mut run.machine, tables)?;
    if run.machine.rollbacks.more().running.is_none() {
        return Ok(run.wait()?);
    }
    if let Some(EndFault { code, message }) = fault {
        run.restore_fault(code, message);
    }
    run.state = State::Rollback;
    Ok(())
}
