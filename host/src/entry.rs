//! The function of a program that runs: the one asked for, else the only one that no other calls.

use ilo_drive::problem::{Problem, meant_or_all};
use ilo_spec::error::Code;
use ilo_vm::{FunctionId, Program};

/// How many functions a message names.
const NAMED: usize = 20;

/// The function of that name, else the only one that no other calls; `place` is where it can be asked for.
///
/// # Errors
/// A name that the program does not have, or several functions to choose from.
pub fn function(program: &Program, name: Option<&str>, place: &str) -> Result<FunctionId, Problem> {
    if let Some(name) = name {
        let names = || program.spec().functions.iter().filter_map(|f| program.spec().strings.get(f.name));
        return program.function(name).ok_or_else(|| {
            let there = meant_or_all(name, names());
            Problem::new(Code::UnknownFunction, place, format!("the program has no function `{name}`{there}"))
        });
    }
    program.entry().map_err(|entries| {
        let message = if entries.is_empty() {
            "the program has no functions".to_owned()
        } else {
            let names: Vec<&str> =
                entries.iter().take(NAMED).map(|&entry| program.function_name(entry)).collect();
            format!("several functions that no other calls; choose with `{place}` from {}", names.join(", "))
        };
        Problem::new(Code::NoSingleEntry, "", message)
    })
}
