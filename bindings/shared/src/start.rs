//! Finds the function that a run starts with, and the problems that prevent the run.

use crate::Words;
use crate::known::Known;
use ilo_drive::data::Data;
use ilo_drive::problem::{Problem, meant_or_all};
use ilo_drive::{input, plan};
use ilo_spec::error::Code;
use ilo_vm::{FunctionId, Program};

/// The most functions that are listed in a message.
const NAMED: usize = 20;

/// The function with that name, or by default the only one that no other function calls.
///
/// # Errors
/// That there is no such function, or several.
pub fn function(program: &Program, name: Option<&str>, words: &Words) -> Result<FunctionId, Problem> {
    if let Some(name) = name {
        let all = program.spec().functions.iter().filter_map(|f| program.spec().strings.get(f.name));
        return program.function(name).ok_or_else(|| {
            let message = format!("the program has no function `{name}`{}", meant_or_all(name, all));
            Problem::new(Code::UnknownFunction, "", message)
        });
    }
    program.entry().map_err(|entries| {
        let names = entries.iter().take(NAMED).map(|&entry| program.function_name(entry));
        let names: Vec<&str> = names.collect();
        let message = match names.as_slice() {
            [] => "the program has no functions".to_owned(),
            names => format!(
                "no function calls {}; choose the one to run with `{}`",
                names.join(", "),
                words.function
            ),
        };
        Problem::new(Code::NoSingleEntry, "", message)
    })
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
