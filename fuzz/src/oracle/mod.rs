//! The oracle: a second evaluator, deliberately plain, that walks the syntax tree as it was read.
//!
//! Written from the specification alone, with values, arithmetic, rendering and failure rules of its own; it shares with
//! the real way through no more than the reader and the tree. It is slow, it recurses, and it knows limits only as a
//! reason to give up.

mod eval;
mod facts;
mod number;
mod render;
mod value;

use crate::data::Data;
use crate::world::World;
use ilo_asm::ast::File;

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How it ended.
    pub ending: Ending,
    /// The tool calls in the order in which they started: the name and the arguments as JSON.
    pub trace: Vec<String>,
    /// Failures of compensations, in order: what was called and the failure as JSON.
    pub notes: Vec<(String, String)>,
}

/// How a run ended; values are compact JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// With a value.
    Ok(String),
    /// With a failure, in a result function.
    Err(String),
    /// With a fault that the program brought about.
    Fault {
        /// Its stable code.
        code: String,
        /// The function.
        function: String,
        /// Line and column of the instruction.
        at: (u32, u32),
        /// Line and column of an instruction that may be fused with it.
        fused: Option<(u32, u32)>,
        /// The message, where the rules give it.
        message: Option<String>,
    },
    /// A limit was met, somewhere.
    Limit,
    /// What checking promises does not hold.
    Broken(String),
}

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
