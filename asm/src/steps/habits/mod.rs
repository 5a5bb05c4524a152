//! Habits: constructs of other languages and notations that writers use by mistake.
//!
//! The readers beside this read only the canonical form. Where they do not understand a step, a value or a
//! key, they ask here ([`rewrite`]), and read the canonical form in its place. What has one meaning is read
//! in silence; what is a guess, or has no meaning, is an error. A habit of [`table`] is a row with its name,
//! the positions at which it is tried, the rewrite, and an example that a test runs.
//!
//! A text is always read as a text and a record as a record. If something else was most likely meant, a lint
//! warns, and the expression becomes a *suspect*: an error that follows from it is that warning.

mod apply;
mod context;
mod lints;
mod loose_reference;
mod operations;
pub(crate) mod parts;
mod programs;
mod steps;
mod table;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use apply::{is_value, rewrite, shaped, step, value};
pub(crate) use context::Spot;
pub(crate) use lints::Lints;
pub(crate) use loose_reference::resolve;
pub(crate) use operations::unknown_operator;
pub(crate) use programs::programs;
pub(crate) use steps::may_change;
pub(crate) use words::words;
