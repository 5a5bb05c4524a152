//! Selects the entry function of a program: the requested one, otherwise the only one that no other function
//! calls.

use crate::problem::{Problem, meant_or_all};
use ilo_spec::error::Code;
use ilo_vm::{FunctionId, Program};

/// The most functions that a message lists.
const NAMED: usize = 20;

/// The function with this name, otherwise the only one that no other function calls; `place` is the option
/// that selects it.
///
/// # Errors
/// An unknown name, or several candidates.
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
            format!("no function calls {}; choose the one to run with `{place}`", names.join(", "))
        };
        Problem::new(Code::NoSingleEntry, "", message)
    })
}
