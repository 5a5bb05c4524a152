//! Habits: constructs of other languages and notations that writers use by mistake.
//!
//! [`crate::steps`] reads only the canonical form. Where it does not understand a step, a value or a key, it
//! asks here ([`crate::dialect::reader_habits`]), and reads the canonical form in its place. What has one
//! meaning is read in silence; what is a guess, or has no meaning, is an error. A habit of [`table`] is a row
//! with its name, the positions at which it is tried, the rewrite, and an example that a test runs.

mod apply;
mod context;
mod lints;
mod loose_reference;
mod operations;
mod programs;
mod step_parts;
mod steps;
mod table;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use apply::{is_value, rewrite};
pub(crate) use lints::{Lints, reads_as_more};
pub(crate) use loose_reference::resolve;
pub(crate) use programs::programs;
pub(crate) use steps::may_change;
