//! Runs every conformance case of `spec/corpus` that runs: its outcome, exit code and trace from stripped
//! bytecode, and calls one at a time compared with parallel calls, for each of its notations. `cases.rs` runs
//! the sources, and the assembler's tests compare diagnostics.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "../../../asm/tests/corpus/case.rs"]
mod case;

use ilo_asm::case::{Case, Source};
use ilo_asm::catalog::Catalog;
use ilo_asm::compile::{Options, OutputSchema, compile};
use ilo_asm::notation::Notation;
use ilo_host::data::read::{Bounds, read};
use ilo_host::run::{self, CallSlots, Ended, Observer};
use ilo_host::tools::Tools;
use ilo_host::trace::line;
use ilo_spec::encode::encode;
use ilo_vm::Program;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

/// A case that fails, and the reason.
type Failure = String;

#[test]
fn every_case_holds() {
    let mut failures = Vec::new();
    let mut held = 0;
    for case in case::selected() {
        for (place, source) in case.sources().iter().enumerate() {
            match check(&case, source, place == 0) {
                Ok(()) => held += 1,
                Err(failure) => {
                    let about = case.header("about").unwrap_or_default();
                    let names: Vec<String> =
                        case::functions(source).into_iter().map(|(_, name)| name).collect();
                    failures.push(format!(
                        "{} ({}, {}): {about}\n{failure}\n",
                        case.path.display(),
                        source.notation,
                        names.join(" ")
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{held} held, {} did not\n\n{}", failures.len(), failures.join("\n"));
}

/// The name of the file that a source is written to.
fn file(source: &Source<'_>) -> String {
    let ending = match source.notation {
        Notation::Id => "ilo",
        Notation::Workflow => "yaml",
        _ => "json",
    };
    format!("case.{ending}")
}

/// A run that is refused as it starts: exit code 2, the code on standard error, no outcome.
fn refused(case: &Case, source: &Source<'_>, code: &str) -> Result<(), Failure> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(file(source)), source.text).unwrap();
    let output = start(case, &file(source), folder.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) && output.stdout.is_empty() && stderr.contains(code) {
        return Ok(());
    }
    Err(format!("  expected {code}, found {:?}\n{stderr}", output.status.code()))
}

/// Runs a source with calls one at a time and in parallel, and the first source of a case as stripped
/// bytecode in a process of its own.
fn check(case: &Case, source: &Source<'_>, is_first: bool) -> Result<(), Failure> {
    let part = |title| case.section_for(title, source.notation);
    let catalog = case.section("catalog").map(|text| Catalog::from_json(text).unwrap());
    let output = output_of(case);
    let (from, catalog, output) = (Some(source.notation), catalog.as_ref(), output.as_ref());
    let options = Options { from, catalog, output, ..Options::default() };
    let (program, _) = compile(source.text, &options);
    if let Some(code) = case.refused_at_the_start(source.notation).filter(|_| program.is_some()) {
        return refused(case, source, code);
    }
    let (Some(outcome), Some(mut program)) = (part("outcome"), program) else { return Ok(()) };
    let outcome: Value =
        serde_json::from_str(outcome).map_err(|e| format!("  its outcome is not JSON: {e}"))?;
    side_by_side(case, &program)?;
    if !is_first {
        return Ok(());
    }
    program.debug = None;
    run(case, source, &encode(&program), &outcome)
}

/// What the host expects of the value.
fn output_of(case: &Case) -> Option<OutputSchema> {
    case.section("output").map(|text| text.parse().unwrap())
}

/// The parts of a trace about each call that differ from run to run.
const TIMES: [&str; 2] = ["start_ms", "duration_ms"];

/// The result of a run: outcome, fuel, calls.
#[derive(Debug, Default, PartialEq)]
struct Came {
    outcome: String,
    fuel: u64,
    calls: Vec<String>,
}

impl Observer for Came {
    fn ended(&mut self, call: &Ended<'_>) {
        self.calls.push(line(call));
    }
}

/// Runs a case with all its tools marked read-only, one call at a time and in parallel. The results do not
/// differ.
fn side_by_side(case: &Case, program: &ilo_spec::program::Program) -> Result<(), Failure> {
    let program = Program::new(program.clone()).map_err(|error| error.to_string())?;
    let given = |option: &str| {
        let options = case.options();
        let at = options.iter().position(|&given| given == option)?;
        options.get(at + 1).copied()
    };
    let number = |option: &str| given(option).map(|number| number.parse::<u64>().unwrap());
    let function = match given("--fn") {
        Some(name) => program.function(name),
        None => program.entry().ok(),
    };
    let input = read(case.section("input").unwrap_or("{}").as_bytes(), &Bounds::default());
    let (Some(function), Ok(input)) = (function, input) else { return Ok(()) };
    let mut came: Vec<Came> = Vec::new();
    for most in [1, 16] {
        let mut tools: Value = serde_json::from_str(case.section("tools").unwrap_or("{}")).unwrap();
        for tool in tools.as_object_mut().unwrap().values_mut() {
            tool["read_only"] = Value::Bool(true);
        }
        let text = format!("{{\"tools\": {tools}}}");
        let tools = Tools::from_text("tools.json", &text, Path::new(".")).map_err(|p| format!("{p:?}"))?;
        let mut options = run::Options { slots: CallSlots::new(most), ..run::Options::default() };
        options.limits.fuel = number("--fuel").unwrap_or(options.limits.fuel);
        options.limits.tool_calls = number("--max-calls").unwrap_or(options.limits.tool_calls);
        options.output = output_of(case).map(Arc::new);
        options.timeout = number("--timeout").map_or(options.timeout, Duration::from_millis);
        let mut this = Came::default();
        let Ok(finished) = run::run(&program, function, &input, &tools, &options, &mut this) else {
            return Ok(());
        };
        this.outcome = finished.outcome().unwrap().to_string();
        this.fuel = finished.run().fuel_used();
        came.push(this);
    }
    if came[0] == came[1] {
        Ok(())
    } else {
        Err(format!("  one at a time and side by side differ\n{came:#?}"))
    }
}

/// Runs a program of a case.
fn start(case: &Case, program: &str, folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ilo-vm"));
    command.current_dir(folder).args(["run", program, "--trace", "trace.jsonl"]);
    if let Some(tools) = case.section("tools") {
        fs::write(folder.join("tools.json"), format!("{{\"tools\": {tools}}}")).unwrap();
        command.args(["--tools", "tools.json"]);
    }
    if let Some(input) = case.section("input") {
        fs::write(folder.join("input.json"), input).unwrap();
        command.args(["--input", "@input.json"]);
    }
    if let Some(output) = case.section("output") {
        fs::write(folder.join("output.json"), output).unwrap();
        command.args(["--output-schema", "output.json"]);
    }
    command.args(case.options().into_iter().filter(|&option| option != "--deny-warnings"));
    command.output().unwrap()
}

/// Runs stripped bytecode of a case and compares its outcome, exit code and trace.
fn run(case: &Case, source: &Source<'_>, bytecode: &[u8], outcome: &Value) -> Result<(), Failure> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("case.ilob"), bytecode).unwrap();
    let output = start(case, "case.ilob", folder.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let found: Value =
        serde_json::from_str(&stdout).map_err(|_| format!("  no outcome: {stdout}{stderr}"))?;
    compare(outcome, &found).map_err(|why| format!("  {why}: found {found}"))?;
    let code = match found["status"].as_str() {
        Some("ok") => 0,
        Some("err") => 1,
        Some("fault") => 3,
        _ => 4,
    };
    if output.status.code() != Some(code) {
        return Err(format!("  expected exit code {code}, found {:?}", output.status.code()));
    }
    let Some(trace) = case.section_for("trace", source.notation) else { return Ok(()) };
    let found = fs::read_to_string(folder.path().join("trace.jsonl")).unwrap();
    let values = |text: &str| -> Vec<Value> {
        text.lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| {
                let mut call: Value = serde_json::from_str(line).unwrap();
                TIMES.iter().for_each(|time| drop(call.as_object_mut().unwrap().remove(*time)));
                call
            })
            .collect()
    };
    let (trace_calls, mut found_calls) = (values(trace), values(&found));
    // The number of a call is compared if the case has it.
    for (given, call) in trace_calls.iter().zip(&mut found_calls) {
        if given.get("number").is_none() {
            drop(call.as_object_mut().unwrap().remove("number"));
        }
    }
    if trace_calls == found_calls {
        Ok(())
    } else {
        Err(format!("  expected the trace\n{trace}  found\n{found}"))
    }
}

/// Whether an outcome is the expected one. A fault's message is compared if the case has one. Its place is
/// not, because stripped bytecode has none.
fn compare(expected: &Value, found: &Value) -> Result<(), Failure> {
    for key in ["status", "value", "error", "code", "compensation_failures", "rolled_back", "not_rolled_back"]
    {
        if expected.get(key) != found.get(key) {
            return Err(format!("expected {key} {:?}", expected.get(key)));
        }
    }
    if expected.get("message").is_some_and(|message| Some(message) != found.get("message")) {
        return Err(format!("expected message {}", expected["message"]));
    }
    Ok(())
}
