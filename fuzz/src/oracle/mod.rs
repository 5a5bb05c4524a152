//! The oracle: a second evaluator, deliberately plain, that walks the syntax tree as it was read.
//!
//! Written from the specification alone, with values, arithmetic, rendering and failure rules of its own; it
//! shares with the real way through no more than the reader and the tree. It is slow, it recurses, and it
//! knows limits only as a reason to give up.

mod eval;
mod facts;
mod number;
mod render;
mod report;
mod value;

use crate::data::Data;
use crate::world::World;
use ilo_asm::ast::File;

pub use report::{Ending, Report};

/// Runs a function of a file that passed the check.
pub fn run(
    file: &File<'_>,
    source: &str,
    entry: &str,
    input: &[(String, Data)],
    world: &mut World<'_>,
) -> Report {
    eval::run(file, source, entry, input, world)
}
