//! Guided generation: guides and headers with their steps, and messages for what may not come next.

mod body;
mod header;
mod held;
mod refusal;

pub use header::Header;
pub use held::{Entry, Held};

/// What was refused, or why a mask has no token.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Where, what was expected, and what was found.
    pub message: String,
    /// How many of the bytes could have come.
    pub at: usize,
}

/// How many steps are left once so many of those taken are taken back.
///
/// # Errors
/// More steps than were taken, for people.
fn steps_left(taken: usize, steps: usize) -> Result<usize, String> {
    let wrong = || format!("cannot go back by {steps} steps: only {taken} were taken");
    taken.checked_sub(steps).ok_or_else(wrong)
}
