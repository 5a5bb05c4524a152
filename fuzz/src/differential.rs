//! Compares the machine with the oracle: the same program, inputs and answers must have the same result.

use crate::data::Data;
use crate::generate::Case;
use crate::generated_tools::World;
use crate::oracle::{self, Ending, Report};
use ilo_asm::arena::Arena;
use ilo_asm::compile::{Options, compile, read};
use ilo_asm::diagnostic::Diagnostics;
use ilo_spec::encode::encode;
use ilo_spec::program::Number;
use ilo_vm::{Call, Datum, Limits, Outcome, Program, Run, Status, Step};

/// Fuel and memory of a run here. Longer runs show nothing more.
const LIMITS: (u64, u64) = (2_000_000, 8 << 20);

/// The outcome of a case on which both agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The check refuses the program.
    Refused,
    /// It ended with a value.
    Ok,
    /// It ended with a failure.
    Err,
    /// It ended with a fault of the program.
    Fault,
    /// One of the two reached a limit; everything before it agrees.
    Limit,
}

/// Runs a case both ways.
///
/// # Errors
/// The disagreement.
pub fn compare(case: &Case) -> Result<Verdict, String> {
    let (program, _) = compile(&case.source, &Options::default());
    let Some(program) = program else { return Ok(Verdict::Refused) };
    let program = Program::load(&encode(&program)).map_err(|error| format!("it is not verified\n{error}"))?;
    let real = run(case, &program)?;
    let arena = Arena::new();
    let file = read(&case.source, &arena, &Options::default(), &mut Diagnostics::default());
    let mut world = World::new(&case.tools);
    let expected = oracle::run(&file, &case.source, &case.entry, &case.input, &mut world);
    agree(&real, &expected).map_err(|what| {
        let (a, b) = (kind(&real.ending), kind(&expected.ending));
        format!("{what} ({a}, {b})\nmachine: {real:?}\noracle:  {expected:?}")
    })
}

/// The kind of an ending, which tells disagreements apart.
fn kind(ending: &Ending) -> &str {
    match ending {
        Ending::Ok(_) => "ok",
        Ending::Err(_) => "err",
        Ending::Fault { code, .. } => code,
        Ending::Limit => "limit",
        Ending::Broken(what) => what,
    }
}

fn agree(real: &Report, expected: &Report) -> Result<Verdict, &'static str> {
    if let Ending::Broken(_) = expected.ending {
        return Err("the oracle finds that the check let something through");
    }
    if real.ending == Ending::Limit || expected.ending == Ending::Limit {
        let both = real.trace.iter().zip(&expected.trace);
        let notes = real.notes.iter().zip(&expected.notes);
        let same = both.into_iter().all(|(a, b)| a == b) && notes.into_iter().all(|(a, b)| a == b);
        return if same { Ok(Verdict::Limit) } else { Err("the calls before a limit differ") };
    }
    if real.trace != expected.trace {
        return Err("the calls differ");
    }
    if real.notes != expected.notes {
        return Err("the failures of compensations differ");
    }
    if real.rolled_back != expected.rolled_back || real.not_rolled_back != expected.not_rolled_back {
        return Err("what was rolled back differs");
    }
    match (&real.ending, &expected.ending) {
        (Ending::Ok(a), Ending::Ok(b)) if a == b => Ok(Verdict::Ok),
        (Ending::Err(a), Ending::Err(b)) if a == b => Ok(Verdict::Err),
        (
            Ending::Fault { code: a, function: in_a, at: at_a, message: says_a, .. },
            Ending::Fault { code: b, function: in_b, at: at_b, message: says_b, fused },
        ) => {
            if a != b || in_a != in_b {
                Err("the faults differ")
            } else if at_a != at_b && Some(at_a) != fused.as_ref() {
                Err("the places of the fault differ")
            } else if says_b.is_some() && says_a != says_b {
                Err("the messages of the fault differ")
            } else {
                Ok(Verdict::Fault)
            }
        }
        _ => Err("the outcomes differ"),
    }
}

/// Runs the program on the machine.
fn run(case: &Case, program: &Program) -> Result<Report, String> {
    let arena = Arena::new();
    let function = program.function(&case.entry).ok_or("no such function")?;
    let input: Vec<(&str, Datum<'_>)> =
        case.input.iter().map(|(name, data)| (name.as_str(), datum(data, &arena))).collect();
    let mut run = Run::new(program, Limits { fuel: LIMITS.0, memory: LIMITS.1, ..Limits::default() });
    run.start_named(function, &input).map_err(|error| format!("it does not start: {error}"))?;
    let mut world = World::new(&case.tools);
    let (mut trace, mut entries) = (Vec::new(), 0);
    loop {
        match run.step() {
            Step::Call(call) => {
                // How many of the last calls are of entries.
                entries = if call.is_rollback() { entries + 1 } else { 0 };
                trace.push(answer(call, &mut world, &arena)?);
            }
            Step::Done(outcome) => {
                let mut report = report(outcome, trace);
                if report.ending == Ending::Limit {
                    // The oracle does not reach the same limit, and does not roll back there.
                    report.trace.truncate(report.trace.len() - entries);
                    report.notes.truncate(report.notes.len().saturating_sub(entries));
                }
                return Ok(report);
            }
        }
    }
}

/// Answers a call and returns its line of the trace.
fn answer(call: Call<'_>, world: &mut World<'_>, arena: &Arena) -> Result<String, String> {
    let mut line = format!("{} ", call.tool());
    let _ = call.write_json(&mut line);
    // An answer that exceeds a limit ends the run; the next step reports it.
    let _ = match world.call(call.tool()).ok_or("a call of no tool")? {
        Ok(value) => call.answer(datum(value, arena)),
        Err(failure) => call.fail_with(datum(failure, arena)),
    };
    Ok(line)
}

fn report(outcome: Outcome<'_>, trace: Vec<String>) -> Report {
    let notes = outcome
        .compensation_failures()
        .map(|(tool, failure)| (tool.to_owned(), failure.to_string()))
        .collect();
    let ending = match outcome.status() {
        Status::Ok(value) => Ending::Ok(value.to_string()),
        Status::Err(failure) => Ending::Err(failure.to_string()),
        Status::Fault(fault) if crate::drive::is_limit(fault.code.as_str()) => Ending::Limit,
        Status::Fault(fault) => Ending::Fault {
            code: fault.code.to_string(),
            function: fault.function.clone(),
            at: fault.position.unwrap_or_default(),
            fused: None,
            message: Some(fault.message.clone()),
        },
    };
    let rolled_back = outcome.rolled_back().map(|(tool, number)| (tool.to_owned(), number)).collect();
    let not_rolled_back = outcome.not_rolled_back().map(|(tool, _)| tool.to_owned()).collect();
    Report { ending, trace, notes, rolled_back, not_rolled_back }
}

/// Converts a value for the machine.
pub fn datum<'a>(data: &'a Data, arena: &'a Arena) -> Datum<'a> {
    match data {
        Data::Nil => Datum::Nil,
        Data::Bool(bool) => Datum::Bool(*bool),
        Data::Number(Number::Int(int)) => Datum::Int(*int),
        Data::Number(Number::Double(double)) => Datum::Double(*double),
        Data::Text(text) => Datum::Text(text),
        Data::List(items) => {
            let items: Vec<Datum<'a>> = items.iter().map(|item| datum(item, arena)).collect();
            Datum::List(arena.alloc_slice_copy(&items))
        }
        Data::Record(fields) => {
            let fields: Vec<(&str, Datum<'a>)> =
                fields.iter().map(|(name, value)| (name.as_str(), datum(value, arena))).collect();
            Datum::Record(arena.alloc_slice_copy(&fields))
        }
    }
}
