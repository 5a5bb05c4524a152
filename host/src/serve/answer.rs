//! What a call of one of the server's tools does, and how its answer reads.

use super::{Progress, Service, Watch, search};
use crate::data::inexact_numbers::perhaps_rounded;
use crate::data::read::{Bounds, read};
use crate::interrupt::Interrupt;
use crate::problem::{Problem, meant_or_all};
use crate::run;
use crate::tools::consent::Ask;
use ilo_asm::build::{Options as Building, build_bytes};
use ilo_asm::diagnostic::{Diagnostics, json};
use ilo_asm::notation::Notation;
use ilo_vm::{FunctionId, Program, Status};
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, ErrorData, JsonObject};
use serde_json::{Value, json};
use std::sync::Arc;

/// Tools that one search gives at most, where the client asks for no number.
const FOUND: usize = 10;

/// A call, understood.
pub(super) enum Work {
    /// Check a program.
    Check(Source),
    /// Check a program, then run a function of it.
    Run(Source, Option<String>, Value),
    /// Run a function that is offered.
    Function(usize, Value),
    /// Look for tools.
    Find(String, usize),
}

/// What the client has to say in a run while it goes on.
struct Control {
    cancel: Interrupt,
    ask: Arc<dyn Ask>,
}

/// A program as a client writes it.
pub(super) struct Source {
    text: String,
    notation: Option<Notation>,
}

impl Work {
    /// Reads a call; `None` where no such tool is offered.
    pub(super) fn of(service: &Service, call: CallToolRequestParams) -> Result<Option<Work>, ErrorData> {
        let mut given = Given(call.arguments.unwrap_or_default());
        let work = match call.name.as_ref() {
            "check_program" => Work::Check(given.source()?),
            "run_program" => {
                let (source, function) = (given.source()?, given.text("function")?);
                Work::Run(source, function, given.inputs()?)
            }
            "find_tools" => {
                let query = given.text("query")?.unwrap_or_default();
                Work::Find(query, given.count("limit")?.unwrap_or(FOUND))
            }
            name => match service.functions.iter().position(|offered| offered.name == name) {
                Some(at) => return Ok(Some(Work::Function(at, Value::Object(given.0)))),
                None => return Ok(None),
            },
        };
        given.nothing_left()?;
        Ok(Some(work))
    }

    /// Does it.
    pub(super) fn done(
        self,
        service: &Service,
        cancel: Interrupt,
        ask: Arc<dyn Ask>,
        progress: Option<Progress>,
    ) -> CallToolResult {
        let control = Control { cancel, ask };
        let watch = Watch { calls: Vec::new(), progress };
        match self {
            Work::Find(query, limit) => CallToolResult::structured(
                json!({"tools": search::find(service.tools.catalog(), &query, limit)}),
            ),
            Work::Check(source) => {
                let (program, diagnostics) = build(service, &source);
                let told = told(&source, &diagnostics);
                CallToolResult::structured(json!({"ok": program.is_some(), "diagnostics": told}))
            }
            Work::Run(source, function, inputs) => {
                let (program, diagnostics) = build(service, &source);
                let told = told(&source, &diagnostics);
                let Some(program) = program else {
                    return refused(json!({"diagnostics": told}));
                };
                let problem = |problem: Problem| {
                    refused(json!({"problems": [problem.to_string()], "diagnostics": told}))
                };
                let program = match Program::new(program) {
                    Ok(program) => program,
                    Err(error) => return refused(json!({"problems": [error.to_string()]})),
                };
                match self::function(&program, function.as_deref()) {
                    Ok(function) => outcome(service, &program, function, &inputs, control, watch),
                    Err(found) => problem(found),
                }
            }
            Work::Function(at, inputs) => match service.functions.get(at) {
                Some(offered) => {
                    let result =
                        outcome(service, &offered.program, offered.function, &inputs, control, watch);
                    plain(result)
                }
                None => refused(json!({"problems": ["no such function"]})),
            },
        }
    }
}

/// Builds a source, checked against the tools.
fn build(service: &Service, source: &Source) -> (Option<ilo_spec::program::Program>, Diagnostics) {
    let reading = ilo_asm::source::Limits { source: service.source, ..ilo_asm::source::Limits::default() };
    let options = Building {
        from: source.notation,
        reading,
        catalog: Some(service.tools.catalog()),
        ..Building::default()
    };
    build_bytes(source.text.as_bytes(), &options)
}

/// What was found in a source, as data.
fn told(source: &Source, diagnostics: &Diagnostics) -> Vec<Value> {
    // What is an option of the command line is an argument here.
    let lines = json::lines("source", &source.text, diagnostics).replace("`--from`", "`notation`");
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The function that is asked for, else the only one that no other calls.
fn function(program: &Program, name: Option<&str>) -> Result<FunctionId, Problem> {
    crate::entry::function(program, name, "function")
}

/// Runs a function and says how it ended, with the calls that it made.
fn outcome(
    service: &Service,
    program: &Program,
    function: FunctionId,
    inputs: &Value,
    control: Control,
    mut watch: Watch,
) -> CallToolResult {
    let bounds = Bounds {
        bytes: usize::try_from(service.options.limits.memory).unwrap_or(usize::MAX),
        depth: service.options.limits.value_depth,
        values: usize::MAX,
    };
    if let Some(large) = perhaps_rounded(inputs) {
        let message = format!(
            "inputs: {large:e} may have been an integer that does not fit 64 bits, which a message over MCP does not show; \
             write it as a text"
        );
        return refused(json!({ "problems": [message] }));
    }
    let input = match read(inputs.to_string().as_bytes(), &bounds) {
        Ok(input) => input,
        Err(error) => return refused(json!({"problems": [format!("inputs: {error}")]})),
    };
    let Control { cancel, ask } = control;
    let options = run::Options { cancel, ask: Some(ask), ..service.options.clone() };
    let ended = run::run(program, function, &input, &service.tools, &options, &mut watch);
    let mut finished = match ended {
        Ok(finished) => finished,
        Err(problems) => {
            let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return refused(json!({"problems": told}));
        }
    };
    let mut text = String::new();
    let Some(outcome) = finished.outcome() else { return refused(json!({"problems": ["cancelled"]})) };
    // Writing to a string does not fail.
    let _ = outcome.write_json(&mut text);
    let ok = matches!(outcome.status(), Status::Ok(_));
    let outcome: Value = serde_json::from_str(&text).unwrap_or_default();
    let calls: Vec<Value> = watch.calls.iter().filter_map(|call| serde_json::from_str(call).ok()).collect();
    let result = json!({"outcome": outcome, "calls": calls});
    if ok { CallToolResult::structured(result) } else { refused(result) }
}

/// The answer of a function that is a tool: its value alone, or its failure as text.
fn plain(result: CallToolResult) -> CallToolResult {
    let Some(outcome) = result.structured_content.as_ref().and_then(|content| content.get("outcome")) else {
        return result;
    };
    if result.is_error == Some(true) {
        let why = outcome.get("error").or_else(|| outcome.get("message")).unwrap_or(outcome);
        let text = why.as_str().map_or_else(|| why.to_string(), str::to_owned);
        return CallToolResult::error(vec![ContentBlock::text(text)]);
    }
    let value = outcome.get("value").cloned().unwrap_or_default();
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut result = CallToolResult::structured(json!({ "result": value }));
    result.content = vec![ContentBlock::text(text)];
    result
}

fn refused(told: Value) -> CallToolResult {
    CallToolResult::structured_error(told)
}

/// The arguments of a call; each is taken once.
struct Given(JsonObject);

impl Given {
    fn text(&mut self, name: &str) -> Result<Option<String>, ErrorData> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(ErrorData::invalid_params(format!("`{name}` is a text"), None)),
        }
    }

    fn count(&mut self, name: &str) -> Result<Option<usize>, ErrorData> {
        let bad = || ErrorData::invalid_params(format!("`{name}` is a whole number"), None);
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                value.as_u64().and_then(|number| usize::try_from(number).ok()).map(Some).ok_or_else(bad)
            }
        }
    }

    fn source(&mut self) -> Result<Source, ErrorData> {
        let lacking = || ErrorData::invalid_params("`source` is missing: the text of the program", None);
        let text = match self.0.remove("source") {
            Some(Value::String(text)) => text,
            // A model may write a JSON notation as JSON instead of as text.
            Some(value @ (Value::Object(_) | Value::Array(_))) => value.to_string(),
            _ => return Err(lacking()),
        };
        let notation = self.text("notation")?.map(|name| name.parse()).transpose();
        let notation = notation.map_err(|error: String| ErrorData::invalid_params(error, None))?;
        Ok(Source { text, notation })
    }

    fn inputs(&mut self) -> Result<Value, ErrorData> {
        match self.0.remove("inputs") {
            None | Some(Value::Null) => Ok(json!({})),
            Some(inputs @ Value::Object(_)) => Ok(inputs),
            Some(_) => {
                Err(ErrorData::invalid_params("`inputs` is a record, a field for each parameter", None))
            }
        }
    }

    fn nothing_left(&self) -> Result<(), ErrorData> {
        let known = ["source", "notation", "function", "inputs", "query", "limit"];
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => {
                let there = meant_or_all(key, known);
                Err(ErrorData::invalid_params(format!("unknown argument `{key}`{there}"), None))
            }
        }
    }
}
