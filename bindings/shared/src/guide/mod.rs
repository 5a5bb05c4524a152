//! Guided generation: guides and headers with their steps, and messages for refused text.

mod body;
mod header;
mod held;
mod refusal;

pub use header::Header;
pub use held::{Entry, Held};

/// A refusal, or the reason why a mask has no token.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The place, what was expected, and what was found.
    pub message: String,
    /// The number of bytes that could have come.
    pub at: usize,
}

/// The number of steps that remain after taking some back.
///
/// # Errors
/// More steps than were taken, for people.
fn steps_left(taken: usize, steps: usize) -> Result<usize, String> {
    let wrong = || format!("cannot go back by {steps} steps: only {taken} were taken");
    taken.checked_sub(steps).ok_or_else(wrong)
}
