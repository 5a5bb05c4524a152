//! Durable ilo runs: a journal on disk for runs that outlive their process.
//!
//! A run that waits at a call is a row: the snapshot of its machine, the number of the call, and whether the
//! call was begun. A call that may change something is made only after the row that records it is on disk.
//! After a crash another process takes the run over, and repeats the call only if its policy allows that;
//! otherwise the call is *in doubt* until a person decides.
//!
//! [`Store`] is one journal. An owner, the process that works on a run, has a [`Lease`] and writes
//! [`Record`]s; it waits for the [`Ticket`] of a record before it makes a call. People write [`Decision`]s,
//! each for a specific call. [`State`] has the allowed transitions.
//!
//! # Layers
//! A part (a file here) imports only from parts in layers below its own.
//!
//! | layer | parts | what they do |
//! |---|---|---|
//! | 0 | `error`, `policy`, `clock`, `place` | errors; how a tool may be called; the time; the place |
//! | 1 | `state`, `cipher`, `answer`, `limits` | the table of states; encryption; stored answers and limits |
//! | 2 | `recovery`, `row` | what follows a crash; rows |
//! | 3 | `model`, `calls`, `queue` | what the store takes and gives; calls as they were; writes that wait |
//! | 4 | `backend` | what a database does for the store |
//! | 5 | `decide` | what follows of the rows of a run: pure functions |
//! | 6 | `sqlite`, `postgres` | a journal in a file; one in a database that machines share |
//! | 7 | `store` | one journal, opened |
//! | 8 | `stored` | stored runs as this build reads them |
//! | 9 | `session` | a run under way: what is written when |
//! | 10 | `recorder` | a session as the recorder of `ilo-drive` |

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod answer;
mod backend;
mod calls;
mod cipher;
mod clock;
mod decide;
mod error;
mod limits;
mod model;
mod place;
mod policy;
#[cfg(feature = "postgres")]
mod postgres;
mod queue;
mod recorder;
mod recovery;
mod row;
mod session;
mod sqlite;
mod state;
mod store;
mod stored;
#[cfg(test)]
mod tests;

pub use answer::Answer;
pub use calls::Called;
pub use cipher::{Key, RUN_KEY, arguments_hash, idempotency_key};
pub use error::{Error, ErrorCode};
pub use limits::{RunLimits, UsedUp};
pub use model::{
    At, Attached, Claim, Claimed, Decided, Decision, FirstRecord, Lease, Listed, METADATA, METADATA_NAME,
    METADATA_VALUE, NewRun, Record, RunId, Started, Summary, To, WaitingRun,
};
pub use place::shown_place;
pub use policy::{Effect, RecordedPolicy};
pub use queue::Ticket;
pub use recorder::Recording;
pub use recovery::{MOST_TRIES, NoAnswer, Recovery, after_claim, without_answer};
pub use session::{Beginning, Left, Session};
// What a session is asked, and what it says.
pub use ilo_drive::recorder::{Due, Permit, Taken};
pub use sqlite::{Access, access};
pub use state::{ACTIONS, Action, Before, Leads, STATES, State, Status};
pub use store::{Options, RETENTION_DAYS, Store};
pub use stored::Programs;
