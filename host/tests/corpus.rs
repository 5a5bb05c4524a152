//! Every conformance case of `spec/corpus`: what is said of the program before it runs, and what its run comes to, from
//! source and from stripped bytecode.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "support/case.rs"]
mod case;

use case::Case;
use ilo_asm::build::{Options, build};
use ilo_asm::catalog::Catalog;
use ilo_asm::span::Lines;
use ilo_spec::encode::encode;
use ilo_spec::error::Severity;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A case that does not hold, and why.
type Failure = String;

#[test]
fn every_case_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/corpus");
    let only = std::env::var("CASE").unwrap_or_default();
    let cases = case::all(&folder);
    assert!(cases.len() > 500, "the corpus was found");
    let mut failures = Vec::new();
    let mut held = 0;
    for case in cases.iter().filter(|case| case.path.to_string_lossy().contains(&only)) {
        match check(case) {
            Ok(()) => held += 1,
            Err(failure) => {
                let about = case.headers.get("about").map_or("", String::as_str);
                failures.push(format!("{}: {about}\n{failure}\n", case.path.display()));
            }
        }
    }
    assert!(failures.is_empty(), "{held} held, {} did not\n\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_case_says_what_it_shows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/corpus");
    for case in case::all(&folder) {
        let path = case.path.display();
        assert!(case.headers.contains_key("rule"), "{path} cites no rule");
        assert!(case.section("source id").is_some(), "{path} has no source");
        let refused = case.section("diagnostics").is_some_and(|text| text.contains("error "));
        assert!(case.section("outcome").is_some() != refused, "{path} has an outcome or an error, not both");
    }
}

fn check(case: &Case) -> Result<(), Failure> {
    let source = case.section("source id").unwrap_or_default();
    let catalog = case.section("catalog").map(|text| Catalog::from_json(text).unwrap());
    let (program, diagnostics) = build(source, &Options { catalog: catalog.as_ref(), ..Options::default() });
    let lines = Lines::new(source);
    let strict = case.options().contains(&"--strict");
    let mut found: Vec<String> = diagnostics
        .as_slice()
        .iter()
        .map(|diagnostic| {
            let place = lines.place(diagnostic.span.start);
            let severity =
                if diagnostic.code.severity() == Severity::Error || strict { "error" } else { "warning" };
            format!("{severity} {} {}:{}", diagnostic.code, place.line, place.column)
        })
        .collect();
    let expected = case.section("diagnostics").unwrap_or_default();
    let mut expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    found.sort_unstable();
    expected.sort_unstable();
    if found != expected {
        let messages: Vec<&str> = diagnostics.as_slice().iter().map(|d| d.message.as_str()).collect();
        return Err(format!("  expected {expected:?}\n  found    {found:?} {messages:?}"));
    }
    let (Some(outcome), Some(mut program)) = (case.section("outcome"), program) else { return Ok(()) };
    let outcome: Value =
        serde_json::from_str(outcome).map_err(|e| format!("  its outcome is no JSON: {e}"))?;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("case.ilo"), source).unwrap();
    run(case, "case.ilo", &outcome, folder.path())?;
    program.debug = None;
    fs::write(folder.path().join("case.ilob"), encode(&program)).unwrap();
    run(case, "case.ilob", &outcome, folder.path())
        .map_err(|failure| format!("{failure}\n  (from stripped bytecode)"))
}

/// Runs a program of a case and compares its outcome, exit code and trace.
fn run(case: &Case, program: &str, outcome: &Value, folder: &Path) -> Result<(), Failure> {
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
    command.args(case.options().into_iter().filter(|&option| option != "--strict"));
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let found: Value =
        serde_json::from_str(&stdout).map_err(|_| format!("  no outcome: {stdout}{stderr}"))?;
    compare(outcome, &found, program.ends_with("ilob")).map_err(|why| format!("  {why}: found {found}"))?;
    let code = match found["status"].as_str() {
        Some("ok") => 0,
        Some("err") => 1,
        Some("fault") => 3,
        _ => 4,
    };
    if output.status.code() != Some(code) {
        return Err(format!("  expected exit code {code}, found {:?}", output.status.code()));
    }
    let Some(trace) = case.section("trace") else { return Ok(()) };
    let found = fs::read_to_string(folder.join("trace.jsonl")).unwrap();
    let values = |text: &str| -> Vec<Value> {
        text.lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    if values(trace) == values(&found) {
        Ok(())
    } else {
        Err(format!("  expected the trace\n{trace}  found\n{found}"))
    }
}

/// Whether an outcome is the expected one. A fault's message is compared where the case gives one, its place where the
/// program still knows it.
fn compare(expected: &Value, found: &Value, stripped: bool) -> Result<(), Failure> {
    for key in ["status", "value", "error", "code", "compensation_failures"] {
        if expected.get(key) != found.get(key) {
            return Err(format!("expected {key} {:?}", expected.get(key)));
        }
    }
    if expected.get("message").is_some_and(|message| Some(message) != found.get("message")) {
        return Err(format!("expected message {}", expected["message"]));
    }
    if !stripped && let Some(Value::Object(at)) = expected.get("at") {
        for (key, value) in at {
            if found["at"].get(key) != Some(value) {
                return Err(format!("expected at {}", expected["at"]));
            }
        }
    }
    Ok(())
}
