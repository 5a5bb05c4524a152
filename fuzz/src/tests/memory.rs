//! The real memory of a run that fills its limit: the process grows by no more than the limit and 8 MiB.
//!
//! Each program runs in a process of its own, the executable of this test, which reads its size from the
//! system.

#![cfg(target_os = "linux")]

use ilo_asm::compile::{Options, compile};
use ilo_spec::limits;
use ilo_spec::operand::FunctionId;
use ilo_vm::{Datum, Limits, Program, Run, Step};
use std::process::Command;

/// The variable that names the program of the process.
const WHICH: &str = "ILO_MEMORY_TEST";
/// Memory beside that of the run.
const BESIDE: u64 = 8 << 20;

const HEADER: &str =
    "; fn f(l: list thing) -> thing\n; Vars: 0=l 1=kept 2=i 3=j\n; Tools: 0=tool\n; Fields: 0=a 1=b\n";

/// Programs that fill the memory, each in its way.
const PROGRAMS: [(&str, &str); 6] = [
    ("numbers", "LET 1 LIST 0\nFOR 2 REF 0 1\n  FOR 3 REF 0 1\n    LET 1 APPEND REF 1 REF 3\nRET REF 1\n"),
    (
        "texts",
        "LET 1 LIST 0\nFOR 2 REF 0 1\n  FOR 3 REF 0 1\n    LET 1 APPEND REF 1 CONCAT REF 2 REF 3\nRET REF 1\n",
    ),
    ("one text", "LET 1 LIT 0 \"0123456789\"\nFOR 2 REF 0 1\n  LET 1 CONCAT REF 1 REF 1\nRET REF 1\n"),
    (
        "records",
        "LET 1 LIST 0\nFOR 2 REF 0 1\n  FOR 3 REF 0 1\n    LET 1 APPEND REF 1 OBJ 2 0 REF 3 1 REF 2\nRET REF 1\n",
    ),
    ("loop results", "LET 1 FOR 2 REF 0 1\n  FOR 3 REF 0 1\n    OBJ 2 0 REF 2 1 LIST 1 REF 3\nRET REF 1\n"),
    ("answers", "LET 1 FOR 2 REF 0 1\n  CALL 0 0\nRET REF 1\n"),
];

/// A figure of this process in bytes, from the system.
fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    let number: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    number << 10
}

/// Runs a program to its end; prints how much the process has grown at most, and how the run ended.
fn child(which: &str) {
    let (_, body) = PROGRAMS.iter().find(|(name, _)| *name == which).unwrap();
    let source = format!("{HEADER}{body}");
    let (program, problems) = compile(&source, &Options::default());
    let program = Program::new(program.unwrap_or_else(|| panic!("{:?}", problems.as_slice()))).unwrap();
    let items = vec![Datum::Int(1); 20_000];
    let text = "x".repeat(1 << 20);
    let names: Vec<String> = (0..1_000).map(|name| format!("field-{name}")).collect();
    let limits =
        Limits { fuel: 1 << 40, tool_calls: 1 << 40, items: 1 << 30, text: 1 << 30, ..Limits::default() };
    let before = status("VmRSS");
    let mut run = Run::new(&program, limits);
    run.start(FunctionId(0), &[Datum::List(&items)]).unwrap();
    let mut calls = 0;
    let ended = loop {
        match run.step() {
            Step::Done(outcome) => {
                let mut json = String::new();
                outcome.write_json(&mut json).unwrap();
                json.truncate(40);
                break json;
            }
            Step::Call(call) => {
                calls += 1;
                // Texts, and records of many shapes.
                let fields: Vec<_> =
                    names.iter().skip(calls % 900).take(100).map(|name| (&**name, Datum::Int(1))).collect();
                let answer = if calls % 2 == 0 { Datum::Record(&fields) } else { Datum::Text(&text) };
                let _ = call.answer(answer);
            }
        }
    };
    println!("grown {} {ended}", status("VmHWM").saturating_sub(before));
}

#[test]
fn a_run_that_fills_its_memory_takes_no_more() {
    if let Ok(which) = std::env::var(WHICH) {
        return child(&which);
    }
    for (name, _) in PROGRAMS {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::memory::a_run_that_fills_its_memory_takes_no_more", "--nocapture"])
            .env(WHICH, name)
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let line =
            printed.lines().find_map(|line| line.split_once("grown ").map(|(_, rest)| rest.to_owned()));
        let line =
            line.unwrap_or_else(|| panic!("{name}: {printed}{}", String::from_utf8_lossy(&output.stderr)));
        let (grown, ended) = line.split_once(' ').unwrap();
        let grown: u64 = grown.parse().unwrap();
        println!("{name}: grows by {} KiB", grown >> 10);
        assert!(ended.contains("\"code\":\"memory\""), "{name}: {ended}");
        assert!(grown <= limits::DEFAULT_MEMORY + BESIDE, "{name} grows by {grown}");
    }
}
