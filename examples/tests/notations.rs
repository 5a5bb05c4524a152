//! Each example does the same in every notation.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// The file extensions of a program. The others are compared with the first.
const ENDINGS: [&str; 5] = ["ilo", "tool-calling.json", "constrained.json", "workflow.yaml", "mcp.json"];

/// Programs with an input.
const RUNS: [(&str, &str); 14] = [
    ("total", r#"{"price":10,"quantity":20.5,"rate":0.3}"#),
    ("sum", r#"{"numbers":[1,5,7.5,-3]}"#),
    (
        "summaries",
        r#"{"customers":[{"name":"Ada","spent":1000},{"name":"Bob","spent":999.5},{"name":"Cy","spent":1}]}"#,
    ),
    ("notify", r#"{"user-id":"u1","message":"Hello"}"#),
    ("notify", r#"{"user-id":"u2","message":"Hello"}"#),
    ("notify", r#"{"user-id":"u3","message":"Hello"}"#),
    ("checkout", r#"{"item":"lamp","payment-id":"good","amount":12.5}"#),
    ("checkout", r#"{"item":"lamp","payment-id":"bad","amount":12.5}"#),
    ("purchase", r#"{"item":"lamp","payment-id":"good","amount":12.5}"#),
    ("purchase", r#"{"item":"lamp","payment-id":"bad","amount":12.5}"#),
    ("orders", r#"{"order":{"user-id":"u1","country":"DE","lines":[{"price":10,"quantity":3}]}}"#),
    ("orders", r#"{"order":{"user-id":"u1","country":"FR","lines":[]}}"#),
    ("stock", r#"{"items":["lamp","desk","chair"]}"#),
    ("orders", r#"{"order":{"user-id":"u9","country":"FR","lines":[{"price":1.5,"quantity":2}]}}"#),
];

/// The outcome and trace of a run, without servers in the names of tools.
fn run(file: &Path, input: &str, folder: &Path) -> (String, String) {
    let binary = Path::new(env!("CARGO_BIN_EXE_example-users")).with_file_name("ilo-vm");
    assert!(binary.exists(), "ilo-vm is built by `cargo test --workspace`");
    let trace = folder.join("trace.jsonl");
    let output = Command::new(binary)
        .arg("run")
        .arg(file)
        .args(["--input", input, "--tools"])
        .arg(file.with_file_name("mocks.json"))
        .arg("--trace")
        .arg(&trace)
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    let trace = fs::read_to_string(trace).unwrap();
    // The durations of calls differ in each run.
    let call = |line: &str| line.split_once(r#","start_ms""#).unwrap().0.to_owned();
    let mut trace = trace.lines().map(call).collect::<Vec<_>>().join("\n");
    let mut outcome = String::from_utf8(output.stdout).unwrap();
    for server in ["users", "mail", "shop"] {
        let prefix = format!("mcp://{server}/");
        (trace, outcome) = (trace.replace(&prefix, ""), outcome.replace(&prefix, ""));
    }
    (outcome, trace)
}

#[test]
fn each_example_does_the_same_in_every_notation() {
    let folder = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, input) in RUNS {
        let file = |ending| examples.join(format!("{name}.{ending}"));
        let expected = run(&file(ENDINGS[0]), input, folder.path());
        for ending in &ENDINGS[1..] {
            assert_eq!(run(&file(ending), input, folder.path()), expected, "{name}.{ending} on {input}");
        }
    }
}

#[test]
fn every_example_is_run() {
    let examples = fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    for path in examples.map(|entry| entry.unwrap().path()) {
        if path.extension().is_some_and(|ending| ending == "ilo") {
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(RUNS.iter().any(|(run, _)| *run == name), "{name}");
        }
    }
}
