//! Finds the function that a run starts with, and the problems that prevent the run.

use crate::Words;
use crate::known::Known;
use ilo_drive::data::Data;
use ilo_drive::problem::Problem;
use ilo_drive::{entry, input, plan};
use ilo_vm::{FunctionId, Program};

/// The function with that name, or by default the only one that no other function calls.
///
/// # Errors
/// That there is no such function, or several.
pub fn function(program: &Program, name: Option<&str>, words: &Words) -> Result<FunctionId, Problem> {
    let found = entry::function(program, name, words.function);
    found.map_err(|problem| Problem { place: String::new(), ..problem })
}

/// The problems that prevent a run.
pub fn problems(
    program: &Program,
    function: FunctionId,
    input: &Data,
    tools: Option<&Known>,
    words: &Words,
) -> Vec<Problem> {
    let parameters: Vec<_> = program.inputs(function).collect();
    let mut problems = input::problems(&parameters, input);
    if let Some(tools) = tools {
        problems.extend(missing(program, tools, words));
    }
    problems
}

/// The tools that the program may call and that are missing, or lack the rollback that they need.
pub fn missing(program: &Program, tools: &Known, words: &Words) -> Vec<Problem> {
    let mut problems = tools.problems(program.tools(), words);
    problems.extend(plan::without_rollback(program, tools));
    problems
}
