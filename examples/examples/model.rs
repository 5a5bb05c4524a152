//! A host for programs that a model writes. It checks a program against the schemas of the tools, applies
//! fixes, returns the remaining errors to the model, runs the program to its first call, saves the run as
//! bytes, and resumes it as another process would.
//!
//! `cargo run -p ilo-examples --example model`

use ilo_asm::catalog::Catalog;
use ilo_asm::compile::{Options, compile};
use ilo_asm::diagnostic::{fix, json};
use ilo_vm::{Call, Datum, Limits, Program, Run, Step};
use std::error::Error;

/// The tools, in the form in which an MCP server lists them.
const TOOLS: &str = r#"{"tools": [
    {"name": "get-user", "inputSchema": {"type": "object", "properties": {"user-id": {"type": "string"}}, "required": ["user-id"]}},
    {"name": "send-email", "inputSchema": {"type": "object", "properties": {"email": {"type": "string"}, "body": {"type": "string"}}, "required": ["email", "body"]}}
]}"#;

/// Two errors: the name of a tool and that of an argument.
const WRITTEN: &str = r#"{"function": "greet", "input": {"id": "text"}, "output": "nil", "steps": [
    {"let": "user", "call": "get_user", "args": {"userId": "$input.id"}},
    {"call": "send-email", "args": {"email": "$user.email", "body": "Hello ${user.name}"}}
]}"#;

/// How often a source is fixed before it is returned to the model: a fix can reveal further errors.
const ROUNDS: usize = 4;

/// Builds a source. On errors, returns the diagnostics for the model, one object in each line.
fn accept(source: &str, catalog: &Catalog) -> Result<Program, String> {
    let options = Options { catalog: Some(catalog), ..Options::default() };
    let mut source = source.to_owned();
    for _ in 0..ROUNDS {
        let (program, diagnostics) = compile(&source, &options);
        if let Some(program) = program {
            return Program::new(program).map_err(|error| error.to_string());
        }
        for diagnostic in diagnostics.as_slice() {
            println!("{diagnostic}");
        }
        let (fixed, count) = fix::apply(&source, diagnostics.as_slice());
        if count == 0 {
            return Err(json::lines("program.json", &source, &diagnostics));
        }
        source = fixed;
    }
    Err("the fixes of this program do not come to an end".to_owned())
}

/// The function of each tool, in the order of [`Program::tools`], so that a call finds it without a name.
type Tool = fn(Call<'_>);

fn tool(name: &str) -> Option<Tool> {
    match name {
        "get-user" => Some(|call| {
            // An answer that exceeds a limit ends the run, which the next step returns.
            let _ = call.answer(Datum::Record(&[("email", "ada@b.c".into()), ("name", "Ada".into())]));
        }),
        "send-email" => Some(|call| {
            println!("call {}: mail to {:?}", call.number(), call.argument("email"));
            let _ = call.answer(Datum::Nil);
        }),
        _ => None,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let program = accept(WRITTEN, &Catalog::from_json(TOOLS)?)?;
    let tools: Vec<Tool> = program.tools().filter_map(tool).collect();
    let entry = program.entry().map_err(|_| "which function is to run?")?;

    let mut run = Run::new(&program, Limits::default());
    run.start_named(entry, &[("id", "u1".into())])?;
    if matches!(run.step(), Step::Done(_)) {
        return Err("it calls no tool".into());
    }
    // A snapshot belongs to its program, so both are kept.
    let (packed, mut kept) = (program.to_bytes(), Vec::new());
    run.snapshot(&mut kept)?;
    println!("waits in {} bytes, for a program of {}", kept.len(), packed.len());

    let program = Program::load(&packed)?;
    let mut run = Run::from_snapshot(&program, &kept, Limits::default())?;
    while let Step::Call(call) = run.step() {
        match tools.get(call.tool_index()) {
            Some(tool) => tool(call),
            None => call.fail("no such tool")?,
        }
    }
    println!("{}", run.outcome().ok_or("it has ended")?);
    Ok(())
}
