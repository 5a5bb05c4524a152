//! A run: one execution of a function, which stops at every tool call until the host answers.
//!
//! A run can be started again and keeps its memory, so a warm run allocates nothing. Its methods are in
//! `state`, `start` and `step`; `answer`, `rollback`, `abort` and `suspend` are functions for a phase each.

mod abort;
mod answer;
mod build_error;
mod build_json;
mod build_stack;
mod call;
mod outcome;
mod rollback;
mod start;
mod state;
mod step;
mod suspend;
mod value_builder;

pub use build_error::{BuildError, Misuse};
pub use build_json::JsonRefused;
pub use call::{Call, Waiting};
pub use outcome::{Outcome, Status};
pub use state::Run;
pub use step::Step;
pub use suspend::NotWaiting;
pub use value_builder::Builder;
