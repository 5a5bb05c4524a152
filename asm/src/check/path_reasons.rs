//! Why a slot is unset at a point, and why a path gives no value: the reasons that messages give.

use crate::span::Span;

/// Which way a path goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// The condition of IF holds.
    Then,
    /// It does not, and ELSE runs.
    Else,
    /// It does not, and there is no ELSE.
    NotTaken,
    /// The call failed.
    Err,
    /// The call succeeded.
    Ok,
    /// A BREAK ended a FOR.
    Broken,
    /// No BREAK ended a FOR.
    Unbroken,
}

/// Why a slot is unset at a point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unset {
    /// Nothing sets it before.
    Never,
    /// A path leaves it unset where the other one sets it.
    Branch(Path, Span),
    /// The loop's body sets it, but only later in the pass.
    FirstPass(Span),
    /// The loop's body sets it, but may not run.
    NoPass(Span),
    /// A MATCH took the result out of it.
    Matched(Span),
}

/// Why a path has no value.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoValue {
    /// A block without statements.
    EmptyBlock(Span),
    /// The last statement has none by its kind.
    Statement(Span),
    /// An IF without ELSE is not taken.
    NotTaken(Span),
    /// A MATCH has no OK arm.
    NoOkArm(Span),
    /// No pass of a FOR yields.
    NeverYields(Span),
    /// The ELSE of a FOR runs to its end.
    LoopElse(Span),
}
