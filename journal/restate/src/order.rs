//! The input of the workflow: bytecode, a function and its arguments, as JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ilo_drive::data::read::{Bounds, read};
use ilo_drive::lifecycle::start;
use ilo_drive::problem::Problem;
use ilo_host::Tools;
use ilo_host::run::problems;
use ilo_vm::{Limits, Program, Run};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The input of the workflow.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    /// The bytecode in base64, as `ilo-asm build` writes it.
    pub(crate) program: String,
    /// The function that runs; without it, the only one that no other function calls.
    #[serde(default)]
    pub(crate) function: Option<String>,
    /// A field for each parameter.
    pub(crate) input: Box<RawValue>,
    /// The fuel limit: roughly, instructions.
    #[serde(default)]
    pub(crate) fuel: Option<u64>,
    /// The limit on tool calls.
    #[serde(default)]
    pub(crate) calls: Option<u64>,
}

impl Order {
    /// The run at its start.
    ///
    /// # Errors
    /// Everything that is in its way, a line each: the order will never do.
    pub(crate) fn begin(&self, tools: &Tools) -> Result<Run, String> {
        let bytes = STANDARD.decode(&self.program).map_err(|error| {
            format!("`program` is not base64: {error}; encode the bytecode, as `base64 -w0 FILE.ilob` does")
        })?;
        let program = Program::load(&bytes).map_err(|error| format!("`program` is not bytecode: {error}"))?;
        let function = match &self.function {
            Some(name) => {
                program.function(name).ok_or_else(|| format!("the program has no function `{name}`"))?
            }
            None => program.entry().map_err(|several| {
                let names: Vec<&str> = several.iter().map(|&id| program.function_name(id)).collect();
                format!("`function` is missing: one of `{}`", names.join("`, `"))
            })?,
        };
        let input = read(self.input.get().as_bytes(), &Bounds::default())
            .map_err(|error| format!("`input` is not an input: {error}"))?;
        let found = problems(&program, function, &input, tools);
        if !found.is_empty() {
            return Err(found.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"));
        }
        let defaults = Limits::default();
        let limits = Limits {
            fuel: self.fuel.unwrap_or(defaults.fuel),
            tool_calls: self.calls.unwrap_or(defaults.tool_calls),
            ..defaults
        };
        let mut run = Run::new(&program, limits);
        start(&mut run, function, &input).map_err(|problem| problem.to_string())?;
        Ok(run)
    }
}
