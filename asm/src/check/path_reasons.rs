//! The reasons that messages give: why a slot is unset at a point, and why a path has no value.

use crate::span::Span;

/// The branch that a path takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// The condition of IF is true.
    Then,
    /// The condition is false, and ELSE runs.
    Else,
    /// The condition is false, and there is no ELSE.
    NotTaken,
    /// The call failed.
    Err,
    /// The call succeeded.
    Ok,
    /// A BREAK ended a FOR.
    Broken,
    /// No BREAK ended a FOR.
    Unbroken,
    /// A SKIP ended a pass of a FOR.
    Skipped,
    /// A failure in the block of a TRY went to its handler.
    Caught,
}

/// Why a slot is unset at a point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unset {
    /// Nothing sets it before.
    Never,
    /// A path leaves it unset where the other one sets it.
    Branch(Path, Span),
    /// The body of the loop sets it, but only later in the iteration.
    FirstPass(Span),
    /// The body of the loop sets it, but may not run.
    NoPass(Span),
    /// A MATCH has taken the result.
    Matched(Span),
}

/// Why a path has no value.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoValue {
    /// A block without statements.
    EmptyBlock(Span),
    /// The last statement is of a kind without a value.
    Statement(Span),
    /// An IF without ELSE is not taken.
    NotTaken(Span),
    /// A MATCH has no OK arm.
    NoOkArm(Span),
    /// No iteration of a FOR yields a value.
    NeverYields(Span),
    /// The ELSE of a FOR runs to its end.
    LoopElse(Span),
}
