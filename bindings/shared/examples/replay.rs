//! Runs programs with given answers in Rust, for comparison with other languages.
//!
//! Each line of the standard input is a JSON object with `program` (packed, as hexadecimal), `input`,
//! `function`, `limits` and `answers`: a list of whether it is an answer, its JSON, and whether the call may
//! change something. With a `snapshot` (as hexadecimal) the run continues from there. For each line it prints
//! a line with `snapshots` (one for each call, as hexadecimal), `fuel` and `outcome`, which is null if a call
//! waits that has no answer.

use ilo_bindings::Words;
use ilo_bindings::limits::{bounds, input_bounds, set};
use ilo_bindings::start::function;
use ilo_drive::data::Data;
use ilo_drive::data::read::read;
use ilo_drive::failure::Failure;
use ilo_drive::lifecycle;
use ilo_spec::program::Number;
use ilo_vm::{Limits, Program, Run};
use std::fmt::Write as _;
use std::io::{BufRead as _, stdin};

const WORDS: Words = Words { function: "function", tools: "tools", notation: "notation", camel: true };

type Result<T> = std::result::Result<T, String>;

fn main() -> Result<()> {
    for line in stdin().lock().lines() {
        let given = read(line.map_err(|error| error.to_string())?.as_bytes(), &input_bounds());
        println!("{}", replay(&given.map_err(|error| error.to_string())?)?);
    }
    Ok(())
}

fn field<'d>(data: &'d Data, name: &str) -> Result<&'d Data> {
    data.get(name).ok_or_else(|| format!("`{name}` is missing"))
}

fn replay(given: &Data) -> Result<String> {
    let Data::Text(packed) = field(given, "program")? else {
        return Err("`program` is not a text".to_owned());
    };
    let program = Program::load(&bytes(packed)?).map_err(|error| error.to_string())?;
    let limits = limits(field(given, "limits")?)?;
    let mut run = begun(&program, given, &limits)?;
    let Data::List(answers) = field(given, "answers")? else { return Err("no answers".to_owned()) };
    let mut snapshots = Vec::new();
    for answer in answers {
        run.step();
        if run.waiting().is_none() {
            return Err("more answers than calls".to_owned());
        }
        snapshots.push(snapshot(&run)?);
        settle(&mut run, answer, &limits)?;
    }
    run.step();
    let mut outcome = String::new();
    match run.outcome() {
        // Writing to a string does not fail.
        Some(found) => drop(found.write_json(&mut outcome)),
        None => {
            snapshots.push(snapshot(&run)?);
            outcome.push_str("null");
        }
    }
    let (fuel, snapshots) = (run.fuel_used(), snapshots.join(","));
    Ok(format!(r#"{{"fuel":{fuel},"snapshots":[{snapshots}],"outcome":{outcome}}}"#))
}

/// The run at its beginning, or at the call of its snapshot.
fn begun(program: &Program, given: &Data, limits: &Limits) -> Result<Run> {
    if let Some(Data::Text(snapshot)) = given.get("snapshot") {
        let found = Run::from_snapshot(program, &bytes(snapshot)?, limits.clone());
        return found.map_err(|error| error.to_string());
    }
    let name = match field(given, "function")? {
        Data::Text(name) => Some(name.as_str()),
        _ => None,
    };
    let function = function(program, name, &WORDS).map_err(|problem| problem.to_string())?;
    let mut run = Run::new(program, limits.clone());
    lifecycle::start(&mut run, function, field(given, "input")?).map_err(|problem| problem.to_string())?;
    Ok(run)
}

/// The snapshot of the run as a text of JSON.
fn snapshot(run: &Run) -> Result<String> {
    let mut snapshot = Vec::new();
    run.snapshot(&mut snapshot).map_err(|error| error.to_string())?;
    Ok(format!("\"{}\"", hexadecimal(&snapshot)))
}

fn settle(run: &mut Run, answer: &Data, limits: &Limits) -> Result<()> {
    let Data::List(parts) = answer else { return Err("an answer is a list".to_owned()) };
    let [Data::Bool(ok), Data::Text(value), Data::Bool(changes)] = parts.as_slice() else {
        return Err("an answer has three parts".to_owned());
    };
    let value = read(value.as_bytes(), &bounds(limits)).map_err(|error| error.to_string())?;
    let Some(mut call) = run.pending() else { return Ok(()) };
    if *changes {
        call.may_change();
    }
    // An answer that exceeds a limit has ended the run, which the next step returns.
    ilo_drive::give(call, &if *ok { Ok(value) } else { Err(Failure::Failed(value)) });
    Ok(())
}

fn limits(given: &Data) -> Result<Limits> {
    let mut limits = Limits::default();
    let Data::Record(fields) = given else { return Err("`limits` is not a record".to_owned()) };
    for (name, value) in fields {
        let Data::Number(Number::Int(value)) = value else { return Err("a limit is a number".to_owned()) };
        set(&mut limits, name, u64::try_from(*value).unwrap_or_default(), &WORDS)?;
    }
    Ok(limits)
}

fn bytes(text: &str) -> Result<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(|pair| byte(pair).ok_or_else(|| "no hexadecimal".to_owned())).collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
