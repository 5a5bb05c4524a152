//! Executes calls of the tools of the server, and formats their answers.

use super::arguments::{Given, ProgramSource};
use super::message::values;
use super::progress::Watch;
use super::{Service, Shared, Stand, search};
use crate::interrupt::Interrupt;
use crate::run;
use crate::telemetry::Context;
use crate::tools::consent::Ask;
use axum::body::Bytes;
use ilo_asm::catalog::Catalog;
use ilo_asm::compile::{Options as Building, OutputSchema, compile_bytes};
use ilo_asm::diagnostic::{Diagnostics, json};
use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, read};
use ilo_drive::entry;
use ilo_drive::problem::Problem;
use ilo_spec::error::Code;
use ilo_vm::{FunctionId, Limits, Outcome, Program, Run, Status};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use std::sync::Arc;

/// The default number of tools that a search returns.
const FOUND: usize = 10;
/// The maximum size of a value in an answer.
const VALUE: usize = 4 << 20;
/// The fuel for trying a function immediately (less than half a millisecond), and the maximum size of its
/// arguments.
const QUICK: u64 = 2_000;
const QUICK_BYTES: usize = 4 << 10;

/// The arguments about a source.
const SOURCE: [&str; 5] = ["source", "notation", "signature", "output_schema", "strict"];
const ARGUMENTS: [&str; 7] =
    ["source", "notation", "signature", "output_schema", "strict", "function", "inputs"];

/// A parsed call.
pub(super) enum Work {
    /// It calls no tool.
    Short(Short),
    /// It is a run.
    Long(Long),
}

/// Short work that calls no tool.
pub(super) enum Short {
    /// Check a program.
    Check(ProgramSource),
    /// Look for tools.
    Find(String, usize),
}

/// A run.
pub(super) enum Long {
    /// Check a program, then run a function of it.
    Run(ProgramSource, Option<String>, Bytes),
    /// Run a function that is offered.
    Function(usize, Bytes),
}

impl Work {
    /// Parses a call; `None` if no such tool is offered.
    pub(super) fn of(service: &Service, name: &str, mut given: Given) -> Result<Option<Work>, String> {
        let work = match name {
            "check_program" => {
                given = given.of_tool(&SOURCE);
                Work::Short(Short::Check(given.source()?))
            }
            "find_tools" => {
                given = given.of_tool(&["query", "limit"]);
                let query = given.text("query")?.unwrap_or_default();
                Work::Short(Short::Find(query, given.count("limit")?.unwrap_or(FOUND)))
            }
            "run_program" => {
                given = given.of_tool(&ARGUMENTS);
                let (source, function) = (given.source()?, given.text("function")?);
                Work::Long(Long::Run(source, function, given.inputs()?))
            }
            name => match service.functions.iter().position(|offered| offered.name == name) {
                Some(at) => return Ok(Some(Work::Long(Long::Function(at, given.whole())))),
                None => return Ok(None),
            },
        };
        given.nothing_left()?;
        Ok(Some(work))
    }
}

impl Work {
    /// Waits for the servers that it needs and that have not arrived; a search waits only for a moment.
    pub(super) async fn arrived(&self, shared: &Shared) {
        match self {
            Work::Short(Short::Check(source)) | Work::Long(Long::Run(source, ..)) => {
                let service = &shared.now().service;
                shared.until_callable(source.text.as_bytes(), &building(service, source, None)).await;
            }
            Work::Short(Short::Find(..)) => shared.soon(|stand| stand.starting.is_empty()).await,
            // A function is offered when its servers have arrived, and may still wait for the lock.
            Work::Long(Long::Function(..)) => shared.until_callable(b"", &Building::default()).await,
        }
    }

    /// The answer of a small function that calls no tool, if it ends quickly: such a run takes less time than
    /// a switch to another thread and back. `None` leaves the call to that thread; then nothing has happened.
    pub(super) fn quick(&self, service: &Service) -> Option<CallToolResult> {
        let Work::Long(Long::Function(at, inputs)) = self else { return None };
        let offered = service.functions.get(*at)?;
        let observed = service.options.telemetry.is_some() || service.durable.is_some();
        if observed || inputs.len() > QUICK_BYTES || offered.program.tools().next().is_some() {
            return None;
        }
        let limits = &service.options.limits;
        let input = read(inputs, &bounds(limits)).ok()?;
        if !run::problems(&offered.program, offered.function, &input, &service.tools).is_empty() {
            return None;
        }
        let mut run = Run::new(&offered.program, Limits { fuel: limits.fuel.min(QUICK), ..limits.clone() });
        run::start(&mut run, offered.function, &input).ok()?;
        run.step();
        let outcome = run.outcome()?;
        match outcome.status() {
            Status::Ok(_) => quick_result(&outcome),
            Status::Fault(fault) if fault.code == Code::FaultFuel => None,
            _ => Some(plain(shown(&outcome, &[], &[], limits))),
        }
    }
}

impl Short {
    /// Executes it.
    pub(super) fn done(self, stand: &Stand) -> CallToolResult {
        let service = &stand.service;
        match self {
            Short::Find(query, limit) => {
                let mut found = json!({"tools": search::find(service.tools.catalog(), &query, limit)});
                if !stand.starting.is_empty() {
                    found["starting"] = json!(stand.starting);
                }
                CallToolResult::structured(found)
            }
            Short::Check(source) => {
                let (program, diagnostics) = build(service, &source);
                let found = found(&source, &diagnostics);
                CallToolResult::structured(json!({"ok": program.is_some(), "diagnostics": found}))
            }
        }
    }
}

/// The tool that requested a run. The format of the answer depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunTool {
    /// `run_program`.
    Program,
    /// A function that is a tool.
    Function,
}

impl RunTool {
    /// Its word in the name of a task.
    pub(super) fn word(self) -> &'static str {
        match self {
            RunTool::Program => "p",
            RunTool::Function => "f",
        }
    }

    /// The kind with a word.
    pub(super) fn of(word: &str) -> Option<RunTool> {
        [RunTool::Program, RunTool::Function].into_iter().find(|kind| kind.word() == word)
    }
}

/// A run that is ready to begin.
pub(super) struct Prepared {
    pub(super) program: Program,
    pub(super) function: FunctionId,
    pub(super) input: Data,
    /// The warnings of the check.
    pub(super) warnings: Vec<Value>,
    /// What its value must be.
    pub(super) output: Option<Arc<OutputSchema>>,
}

impl Long {
    pub(super) fn kind(&self) -> RunTool {
        match self {
            Long::Run(..) => RunTool::Program,
            Long::Function(..) => RunTool::Function,
        }
    }

    /// Checks what is to be run. The error is the answer if it cannot be run.
    pub(super) fn prepare(self, service: &Service) -> Result<Prepared, Box<CallToolResult>> {
        let (program, function, inputs, warnings, output) = match self {
            Long::Run(source, function, inputs) => {
                let (program, diagnostics) = build(service, &source);
                let found = found(&source, &diagnostics);
                let Some(program) = program else {
                    return Err(Box::new(refused(json!({"diagnostics": found}))));
                };
                let problem = |problem: Problem| {
                    Box::new(refused(json!({"problems": [problem.to_string()], "diagnostics": found})))
                };
                let program = Program::new(program)
                    .map_err(|error| refused(json!({"problems": [error.to_string()]})))?;
                let function = entry::function(&program, function.as_deref(), "function").map_err(problem)?;
                (program, function, inputs, found, source.output)
            }
            Long::Function(at, inputs) => {
                let offered = service.functions.get(at).ok_or_else(|| failed("no such function"))?;
                (offered.program.clone(), offered.function, inputs, Vec::new(), None)
            }
        };
        let input = read(&inputs, &bounds(&service.options.limits))
            .map_err(|error| refused(json!({"problems": [format!("inputs: {error}")]})))?;
        Ok(Prepared { program, function, input, warnings, output })
    }

    /// Executes it.
    pub(super) fn done(
        self,
        service: &Service,
        cancel: Interrupt,
        ask: Arc<dyn Ask>,
        parent: Option<Context>,
        watch: Watch,
    ) -> CallToolResult {
        let kind = self.kind();
        let telemetry = service.options.telemetry.as_ref().map(|telemetry| telemetry.part_of(parent));
        let options = run::Options { cancel, ask: Some(ask), telemetry, ..service.options.clone() };
        let result = match self.prepare(service) {
            Ok(prepared) => outcome(service, prepared, options, watch),
            Err(refused) => *refused,
        };
        if kind == RunTool::Function { plain(result) } else { result }
    }
}

/// The answer if a run cannot be recorded.
pub(super) fn refusal(kind: RunTool, why: &str) -> CallToolResult {
    let result = refused(json!({"problems": [why]}));
    if kind == RunTool::Function { plain(result) } else { result }
}

/// The answer of a run that a journal recorded, from its outcome; `None` if it was cancelled.
pub(super) fn told(kind: RunTool, run: u64, outcome: &str) -> Option<CallToolResult> {
    if outcome.len() > VALUE {
        let size = outcome.len();
        let problem = format!(
            "the run has ended, but its outcome is too large for an answer ({size} bytes); `ilo-vm runs show {run}` \
             shows it"
        );
        return Some(refusal(kind, &problem));
    }
    let outcome: Value = serde_json::from_str(outcome).unwrap_or_default();
    let is = |name: &str, word: &str| outcome.get(name).and_then(Value::as_str) == Some(word);
    if is("status", "fault") && is("code", "cancelled") {
        return None;
    }
    let ok = is("status", "ok");
    let result = json!({"outcome": outcome, "run": run});
    let result = if ok { CallToolResult::structured(result) } else { refused(result) };
    Some(if kind == RunTool::Function { plain(result) } else { result })
}

/// Builds a source, checked against the tools.
fn build(service: &Service, source: &ProgramSource) -> (Option<ilo_spec::program::Program>, Diagnostics) {
    let options = building(service, source, Some(service.tools.catalog()));
    compile_bytes(source.text.as_bytes(), &options)
}

/// How a source is read.
fn building<'c>(service: &Service, source: &'c ProgramSource, catalog: Option<&'c Catalog>) -> Building<'c> {
    let reading =
        ilo_asm::source::SourceLimits { source: service.source, ..ilo_asm::source::SourceLimits::default() };
    let (from, notation_setting) = (source.notation, Some("notation"));
    let (signature, strict, output) = (source.signature.as_ref(), source.strict, source.output.as_deref());
    Building { from, notation_setting, reading, catalog, signature, strict, output, ..Building::default() }
}

/// The findings in a source, as data.
fn found(source: &ProgramSource, diagnostics: &Diagnostics) -> Vec<Value> {
    let lines = json::lines("source", &source.text, diagnostics);
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Like [`plain`], without intermediate values.
fn quick_result(outcome: &Outcome<'_>) -> Option<CallToolResult> {
    let mut text = String::new();
    outcome.ok()?.write_json(&mut text).ok()?;
    if text.len() > QUICK_BYTES {
        return None;
    }
    let value: Value = serde_json::from_str(&text).ok()?;
    let text = if let Value::String(text) = &value { text.clone() } else { text };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(json!({ "result": value }));
    Some(result)
}

/// The limits on the inputs of a run.
fn bounds(limits: &Limits) -> Bounds {
    let bytes = usize::try_from(limits.memory).unwrap_or(usize::MAX);
    Bounds { bytes, depth: limits.value_depth, values: limits.result_nodes }
}

/// Runs a function. Answers with its outcome and the calls that it made.
fn outcome(service: &Service, prepared: Prepared, options: run::Options, mut watch: Watch) -> CallToolResult {
    let Prepared { program, function, input, warnings, output } = prepared;
    let options = run::Options { output, ..options };
    let ended = run::run(&program, function, &input, &service.tools, &options, &mut watch);
    drop(input);
    let finished = match ended {
        Ok(finished) => finished,
        Err(problems) => {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return refused(json!({"problems": problems}));
        }
    };
    match finished.outcome() {
        Some(outcome) => shown(&outcome, &watch.calls(), &warnings, &service.options.limits),
        None => refused(json!({"problems": ["cancelled"]})),
    }
}

/// An outcome as an answer, with the calls that were made and the warnings of the check.
fn shown(outcome: &Outcome<'_>, calls: &[Value], warnings: &[Value], limits: &Limits) -> CallToolResult {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = outcome.write_json(&mut text);
    let ok = matches!(outcome.status(), Status::Ok(_));
    if text.len() > VALUE || values(text.as_bytes()) > limits.result_nodes {
        let size = text.len();
        let problem = format!(
            "the run has ended, but its outcome is too large for an answer ({size} bytes): an answer has at most {VALUE} \
             bytes and {} values; return less",
            limits.result_nodes
        );
        return refused(json!({"problems": [problem], "calls": calls}));
    }
    let outcome: Value = serde_json::from_str(&text).unwrap_or_default();
    let mut result = json!({"outcome": outcome, "calls": calls});
    if !warnings.is_empty() {
        result["diagnostics"] = json!(warnings);
    }
    if ok { CallToolResult::structured(result) } else { refused(result) }
}

/// The answer of a function that is a tool: only its value. An error is a text without structured content,
/// which would not fit the output schema.
fn plain(result: CallToolResult) -> CallToolResult {
    let Some(content) = &result.structured_content else { return result };
    let outcome = content.get("outcome");
    if result.is_error == Some(true) {
        if let Some(problems) = content.get("problems").and_then(Value::as_array) {
            let problems: Vec<&str> = problems.iter().filter_map(Value::as_str).collect();
            return failed(&problems.join("\n"));
        }
        let why = outcome.and_then(|outcome| outcome.get("error").or_else(|| outcome.get("message")));
        let why = why.or(outcome).unwrap_or(content);
        return failed(&why.as_str().map_or_else(|| why.to_string(), str::to_owned));
    }
    let value = outcome.and_then(|outcome| outcome.get("value")).cloned().unwrap_or_default();
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut result = CallToolResult::structured(json!({ "result": value }));
    result.content = vec![ContentBlock::text(text)];
    result
}

pub(super) fn failed(why: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

fn refused(problems: Value) -> CallToolResult {
    CallToolResult::structured_error(problems)
}
