//! The interface of a journal: it records a run, so that the run can outlive its process.
//!
//! The loop calls a [`Recorder`] in this order, on one thread:
//!
//! 1. The run stops at a call. [`Recorder::before`] gets the run, whose snapshot holds everything up to this
//!    call, including the answers of all calls before it. The call is sent only after `before` has permitted
//!    it, so a recorder that must not lose a call waits in `before` until its record is on disk.
//! 2. The call has ended, and the run does not have the answer yet. [`Recorder::after`] gets the result.
//! 3. The run gets the answer and continues, to 1 or to its end.
//! 4. The run has ended. [`Recorder::end`] gets it before anybody else sees the outcome.
//!
//! Calls of rollback entries are calls like the others. Retries of a call are one call here. Calls of
//! read-only tools that are started ahead of their turn are not recorded: the run makes them in their turn,
//! with `before` and `after`, and takes the answer that is there.

use crate::data::Data;
use crate::failure::Failure;
use crate::locked::locked;
use crate::policy::Policy;
use crate::validate::expected::Expects;
use ilo_vm::Run;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

/// A call that a run waits for.
#[derive(Clone, Copy, Debug)]
pub struct Due<'c> {
    /// The run, which waits for the answer.
    pub run: &'c Run,
    /// The tool, by the name that the program uses.
    pub tool: &'c str,
    /// The policy of the tool; `None` if there is no such tool.
    pub policy: Option<&'c Policy>,
    /// The arguments: a record.
    pub arguments: &'c Data,
    /// Its number within the run, from 1, which is the same after a restore.
    pub number: u64,
    /// Whether a ROLLBACK entry makes it.
    pub rollback: bool,
    /// What its answer must be; nothing if that may be anything.
    pub expects: Option<Expects<'c>>,
}

/// The decision about a call that a run waits for.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Permit {
    /// It is made.
    #[default]
    Call,
    /// It is made with this key. The tool gets the key with every attempt, so that it can tell attempts at
    /// one call from several calls.
    CallWithKey {
        /// The key.
        key: String,
        /// Whether a person has already allowed the call, so that nobody is asked again.
        confirmed: bool,
    },
    /// It is not made; this is its result, which fits its tool.
    Settled(Result<Data, Failure>),
    /// It is not made, and the run stops here without an outcome.
    Suspend,
}

/// The decision about the result of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Taken {
    /// The run gets it.
    #[default]
    GoOn,
    /// The run does not get it, and stops here without an outcome.
    Suspend,
}

/// Why nothing more can be recorded. The run stops without an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRecorded(pub String);

impl std::fmt::Display for NotRecorded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the journal cannot record the run: {}", self.0)
    }
}

impl std::error::Error for NotRecorded {}

/// Records a run. The default of every method does nothing.
pub trait Recorder: Debug {
    /// A call is about to be made.
    ///
    /// # Errors
    /// It cannot be recorded: the call is not made, and the run stops.
    fn before(&mut self, _call: &Due<'_>) -> Result<Permit, NotRecorded> {
        Ok(Permit::Call)
    }

    /// A call has ended; the run still waits for it.
    ///
    /// # Errors
    /// It cannot be recorded: the run stops before it gets the result.
    fn after(&mut self, _call: &Due<'_>, _result: &Result<Data, Failure>) -> Result<Taken, NotRecorded> {
        Ok(Taken::GoOn)
    }

    /// The run has ended, with the outcome that it has.
    ///
    /// # Errors
    /// It cannot be recorded: the caller of the run gets no outcome.
    fn end(&mut self, _run: &Run) -> Result<(), NotRecorded> {
        Ok(())
    }
}

/// Records nothing.
impl Recorder for () {}

/// A recorder that the host keeps, to look at it after the run.
impl<R: Recorder> Recorder for Arc<Mutex<R>> {
    fn before(&mut self, call: &Due<'_>) -> Result<Permit, NotRecorded> {
        locked(self).before(call)
    }

    fn after(&mut self, call: &Due<'_>, result: &Result<Data, Failure>) -> Result<Taken, NotRecorded> {
        locked(self).after(call, result)
    }

    fn end(&mut self, run: &Run) -> Result<(), NotRecorded> {
        locked(self).end(run)
    }
}
