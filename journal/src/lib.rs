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
//! | 0 | `error`, `policy`, `clock` | errors; how a tool may be called; the time |
//! | 1 | `state`, `cipher`, `answer`, `limits` | the table of states; encryption; stored answers and limits |
//! | 2 | `recovery`, `row`, `owner`, `schema` | what follows a crash; rows; owners; tables |
//! | 3 | `model`, `file` | what the store takes and gives; the file of a journal |
//! | 4 | `reads` | what is read of the tables |
//! | 5 | `transactions` | what one transaction does |
//! | 6 | `writer`, `portable` | the thread that writes; export and import |
//! | 7 | `store` | one journal, opened |
//! | 8 | `session` | a run under way: what is written when |
//! | 9 | `recorder` | a session as the recorder of `ilo-drive` |

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod answer;
mod cipher;
mod clock;
mod error;
mod file;
mod limits;
mod model;
mod owner;
mod policy;
mod portable;
mod reads;
mod recorder;
mod recovery;
mod row;
mod schema;
mod session;
#[cfg(test)]
mod simulation;
mod state;
mod store;
mod transactions;
mod writer;

pub use answer::Answer;
pub use cipher::{Key, RUN_KEY, arguments_hash, idempotency_key};
pub use error::{Error, ErrorCode, Result};
pub use file::{Access, access};
pub use limits::{RunLimits, UsedUp};
pub use model::{
    At, Claim, Claimed, Decided, Decision, Lease, Listed, NewRun, Record, RunId, Start, Started, Summary, To,
    Waiting,
};
pub use policy::{Effect, Policy};
pub use recorder::Recording;
pub use recovery::{MOST_TRIES, NoAnswer, Recovery, after_claim, without_answer};
pub use session::{Beginning, Due, Left, Made, Permit, Session, Taken};
pub use state::{ACTIONS, Action, Before, STATES, State, Status, To as Leads};
pub use store::{Options, RETENTION_DAYS, Store};
pub use writer::Ticket;
