//! Arguments and answers against the schemas of a tools file, at run time.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use ilo_host::data::Data;
use ilo_host::data::read::{Bounds, read};
use ilo_host::recording;
use ilo_host::run::{CallSlots, Options};
use ilo_host::tools::Tools;
use ilo_host::trace::Trace;
use ilo_vm::{Limits, Program};
use std::path::Path;

const TOOLS: &str = r#"{"tools": {
    "get": {
        "mock": [{"when": {"id": 1}, "returns": {"n": 7, "more": true}}, {"returns": {"n": "x"}}],
        "read_only": true,
        "input_schema": {"type": "object", "properties": {"id": {"type": "integer", "minimum": 1}}, "required": ["id"]},
        "output_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    },
    "loose": {
        "mock": {"returns": "anything"},
        "validate": false,
        "input_schema": {"type": "object", "properties": {"id": {"type": "integer"}}},
        "output_schema": {"type": "integer"}
    },
    "put": {"mock": {"returns": "x"}, "output_schema": {"type": "integer"}},
    "as-text": {
        "mock": [{"when": {"id": 1}, "returns": "{\"n\": 7}"}, {"when": {"id": 2}, "returns": "no JSON"}, {"returns": "[7]"}],
        "output_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    }
}}"#;

fn tools(text: &str) -> Tools {
    Tools::from_text("tools.json", text, Path::new(".")).unwrap()
}

/// The outcome and the trace of a program that calls these tools with the input as `id`.
fn run(tool: &str, id: &str, slots: usize) -> (String, String) {
    let source = format!(
        "; fn main(xs: list any) -> list any\n; Tools: 0={tool}\n; Fields: 0=id\n\
         FOR 1 REF 0 1\n  CALL 0 1 0 REF 1\n"
    );
    let (built, diagnostics) = ilo_asm::compile::compile(&source, &ilo_asm::compile::Options::default());
    let program = Program::new(built.unwrap_or_else(|| panic!("{:?}", diagnostics.as_slice()))).unwrap();
    let input = read(format!("{{\"xs\":{id}}}").as_bytes(), &Bounds::default()).unwrap();
    let options = Options { slots: CallSlots::new(slots), ..Options::default() };
    let mut lines = Vec::new();
    let (mut trace, tools) = (Trace::new(&mut lines), tools(TOOLS));
    let function = program.entry().unwrap();
    let finished = ilo_host::run(&program, function, &input, &tools, &options, &mut trace).unwrap();
    let outcome = finished.outcome().unwrap().to_string();
    trace.finish().unwrap();
    // A replay has no tools, and gives the same result.
    let recording = recording::read("trace", &lines[..], 1 << 20).unwrap();
    let replayed = recording.replay(&program, function, &input, &Limits::default()).unwrap();
    assert_eq!(replayed.outcome().unwrap().to_string(), outcome);
    (outcome, String::from_utf8(lines).unwrap())
}

#[track_caller]
fn failed(tool: &str, id: &str, message: &str) -> String {
    let (alone, trace) = run(tool, id, 1);
    assert!(alone.starts_with(r#"{"status":"fault","code":"tool-failed""#), "{alone}");
    let message = Data::from(message).to_json();
    assert!(alone.contains(&format!(r#""message":{message}"#)), "{alone}");
    assert_eq!(run(tool, id, 8).0, alone, "calls side by side change nothing");
    trace
}

#[test]
fn a_call_whose_arguments_do_not_fit_is_not_sent() {
    let message = "the arguments do not fit: `id`: expected a number of at least 1, found 0";
    let trace = failed("get", "[1,0]", message);
    assert!(trace.contains(r#""args":{"id":0},"sent":false,"failed":"the arguments"#), "{trace}");
    failed("get", "[true]", "the arguments do not fit: `id`: expected number, found a bool");
}

#[test]
fn an_answer_that_does_not_fit_fails_mocks_too() {
    failed("get", "[1,2]", "the answer does not fit: `n`: expected number, found a text");
    let trace = failed("put", "[1]", "the answer does not fit: expected number, found a text");
    assert!(trace.contains(r#""in_doubt":true"#), "{trace}");
    let (outcome, _) = run("put", "[1]", 1);
    let listed = r#""not_rolled_back":[{"tool":"put","why":"its answer does not fit: expected number, found a text"}]"#;
    assert!(outcome.contains(listed), "{outcome}");
}

#[test]
fn what_the_schema_allows_and_what_is_not_validated_passes() {
    assert_eq!(
        run("get", "[1,1.0]", 8).0,
        r#"{"status":"ok","value":[{"n":7,"more":true},{"n":7,"more":true}]}"#
    );
    assert_eq!(run("loose", r#"["no integer"]"#, 1).0, r#"{"status":"ok","value":["anything"]}"#);
}

#[test]
fn a_text_that_is_json_is_read_where_the_schema_is_that_of_a_record() {
    assert_eq!(run("as-text", "[1]", 1).0, r#"{"status":"ok","value":[{"n":7}]}"#);
    failed("as-text", "[2]", "the answer does not fit: expected record, found a text");
    failed("as-text", "[3]", "the answer does not fit: expected record, found a list");
}
