//! Implements the `Recorder` of `ilo-drive` with a [`Session`].

use crate::error::Error;
use crate::session::Session;
use ilo_drive::data::Data;
use ilo_drive::failure::Failure;
use ilo_drive::recorder::{Due, NotRecorded, Permit, Recorder, Taken};
use ilo_vm::Run;
use std::fmt;

/// Records a run that `ilo-drive` drives.
pub struct Recording<'h> {
    session: Session,
    stops: Box<dyn Fn() -> bool + Send + Sync + 'h>,
    cancels: Box<dyn Fn() + Send + Sync + 'h>,
    error: Option<Error>,
}

impl fmt::Debug for Recording<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording").field("session", &self.session).finish_non_exhaustive()
    }
}

impl<'h> Recording<'h> {
    /// Records in this session. The run stops at its next call when `stops` returns true; `cancels` is called
    /// when somebody has cancelled the run and it may be cancelled.
    pub fn new(
        session: Session,
        stops: impl Fn() -> bool + Send + Sync + 'h,
        cancels: impl Fn() + Send + Sync + 'h,
    ) -> Recording<'h> {
        if session.is_cancelled() {
            cancels();
        }
        Recording { session, stops: Box::new(stops), cancels: Box::new(cancels), error: None }
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The error, if the run could not be recorded.
    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// The answer of the call that was permitted last comes later, from outside: the run stops.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn defer(&mut self, due: &Due<'_>) -> Result<Taken, NotRecorded> {
        let taken = self.session.defer(due);
        self.done(taken)
    }

    /// Releases the run in its last recorded state, unless the session has left it already.
    pub fn release(&mut self) {
        self.session.release();
    }

    /// Keeps an error, and looks whether the run was cancelled.
    fn done<T>(&mut self, result: Result<T, Error>) -> Result<T, NotRecorded> {
        if self.session.is_cancelled() {
            (self.cancels)();
        }
        result.map_err(|error| {
            let message = error.to_string();
            self.error = Some(error);
            NotRecorded(message)
        })
    }
}

impl Recorder for Recording<'_> {
    fn before(&mut self, due: &Due<'_>) -> Result<Permit, NotRecorded> {
        if (self.stops)() {
            self.session.stop();
        }
        let permit = self.session.before(due);
        self.done(permit)
    }

    fn after(&mut self, due: &Due<'_>, result: &Result<Data, Failure>) -> Result<Taken, NotRecorded> {
        let taken = self.session.after(due, result);
        self.done(taken)
    }

    fn end(&mut self, run: &Run) -> Result<(), NotRecorded> {
        let ended = self.session.end(run);
        self.done(ended)
    }
}
