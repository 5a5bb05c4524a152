//! A run: one execution of a function, which stops at every tool call until the host answers.
//!
//! A run is reused by starting it again; what it has allocated stays with it, and a warm run allocates nothing. Its
//! methods are spread over the files here by the part of its life that they belong to.

mod answer;
mod build_error;
mod build_stack;
mod builder;
mod call;
mod outcome;
mod start;
mod state;
mod step;
mod suspend;

pub use build_error::{BuildError, Misuse};
pub use builder::Builder;
pub use call::Call;
pub use outcome::{Outcome, Status};
pub use state::Run;
pub use step::Step;
pub use suspend::NotWaiting;
