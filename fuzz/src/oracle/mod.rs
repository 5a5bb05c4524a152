//! The oracle: a second, simple evaluator of the syntax tree.
//!
//! It was written from the specification alone, with its own values, arithmetic, rendering and rules of
//! failure. It shares only the reader and the tree with the machine. It is slow and recursive, and at a limit
//! it gives up.

mod decimal;
mod eval;
mod expr;
mod facts;
mod json;
mod number;
mod pure;
mod render;
mod report;
mod search;
mod time;
mod value;

use crate::data::Data;
use crate::generated_tools::World;
use ilo_asm::ast::File;

pub use report::{Ending, Report};

/// Runs a function of a checked file.
pub fn run(
    file: &File<'_>,
    source: &str,
    entry: &str,
    input: &[(String, Data)],
    world: &mut World<'_>,
) -> Report {
    eval::run(file, source, entry, input, world)
}
