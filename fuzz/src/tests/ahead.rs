//! Calls in parallel, in random programs: a run makes the calls that a scout predicts, and nothing but time
//! shows how the calls ran.
#![cfg(feature = "host")]

use crate::differential::datum;
use crate::generate::{self, Case, bytes, case};
use ilo_asm::compile::{Options as Building, compile};
use ilo_host::data::Data;
use ilo_host::data::read::{Bounds, read};
use ilo_host::run::{CallSlots, Ended, Observer, Options, run};
use ilo_host::tools::{Failure, Provider, Request, Tool, Tools};
use ilo_vm::{Datum, Limits, Program, Run, Scout, Step};
use std::sync::{Arc, Mutex};

/// The programs of each test, unless `SEEDS` is set.
const SEEDS: u64 = 1200;
/// The calls of a run that are checked.
const CALLS: u64 = 200;
/// The number of calls that a scout looks ahead.
const FAR: usize = 8;

fn programs() -> impl Iterator<Item = (u64, Case, Program)> {
    let seeds = std::env::var("SEEDS").map_or(SEEDS, |seeds| seeds.parse().unwrap());
    (0..seeds).filter_map(|seed| {
        let case = case(&bytes(seed));
        let program = compile(&case.source, &Building::default()).0?;
        Some((seed, case, Program::new(program).unwrap()))
    })
}

fn data(value: &crate::data::Data) -> Data {
    read(value.to_json().as_bytes(), &Bounds::default()).unwrap()
}

fn limits() -> Limits {
    Limits { fuel: 1_000_000, memory: 8 << 20, tool_calls: CALLS, ..Limits::default() }
}

/// The answer to a call, which depends only on the tool and its arguments.
fn answer<'c>(tool: &'c generate::Tool, arguments: &str) -> &'c Result<crate::data::Data, crate::data::Data> {
    let sum = arguments.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    &tool.answers[sum % tool.answers.len()]
}

#[test]
fn where_no_call_fails_the_run_comes_to_what_the_scout_finds() {
    let (mut found, mut unknown, mut learnt) = (0, 0, 0);
    for (seed, case, program) in programs() {
        let mut run = Run::new(&program, limits());
        let arena = ilo_asm::arena::Arena::new();
        let input: Vec<(&str, Datum<'_>)> =
            case.input.iter().map(|(name, value)| (name.as_str(), datum(value, &arena))).collect();
        run.start_named(program.function(&case.entry).unwrap(), &input).unwrap();
        let mut scout = Scout::new(&program);
        // The calls that scouts have predicted; the run makes them or ends.
        let mut expected: Vec<(usize, String, Option<String>)> = Vec::new();
        let mut at = 0;
        while let Step::Call(call) = run.step() {
            let (tool, mut arguments) = (call.tool().to_owned(), String::new());
            call.write_json(&mut arguments).unwrap();
            // A scout makes no calls of entries, so it counts none.
            if call.is_rollback() {
                drop(call.answer(()));
                continue;
            }
            for predicted in expected.iter().filter(|predicted| predicted.0 == at) {
                let same = predicted.1 == tool && predicted.2.as_ref().is_none_or(|json| *json == arguments);
                assert!(
                    same,
                    "seed {seed}: call {at} is {tool} {arguments}, not {predicted:?}\n{}",
                    case.source
                );
            }
            expected.retain(|predicted| predicted.0 > at);
            let tool = case.tools.iter().find(|known| known.name == tool).unwrap();
            let value = match answer(tool, &arguments) {
                Ok(value) => datum(value, &arena),
                // After a failure the run takes another path.
                Err(failure) => {
                    expected.clear();
                    at += 1;
                    drop(run.pending().unwrap().fail_with(datum(failure, &arena)));
                    continue;
                }
            };
            if scout.follow(&run) {
                for place in at + 1..=at + FAR {
                    let Some(ahead) = scout.ahead() else { break };
                    let mut json = String::new();
                    let known = ahead.write_json(&mut json).is_ok();
                    let tool = ahead.tool().to_owned();
                    // Some calls get their answer before the run makes them.
                    if known && (seed + place as u64).is_multiple_of(3) {
                        let tool = case.tools.iter().find(|known| known.name == tool).unwrap();
                        match answer(tool, &json) {
                            Ok(value) => scout.answer(Ok(datum(value, &arena))),
                            Err(failure) => scout.answer(Err(datum(failure, &arena))),
                        }
                        learnt += 1;
                    }
                    expected.push((place, tool, known.then_some(json)));
                    found += 1;
                    unknown += usize::from(!known);
                }
            }
            at += 1;
            drop(run.pending().unwrap().answer(value));
        }
    }
    assert!(found > 300 && unknown > 50 && unknown < found, "{found} calls found, {unknown} not known whole");
    assert!(learnt > 50, "{learnt} answers there before");
}

/// A tool whose answer depends only on its arguments. If it is not read-only, it is called only when the run
/// makes the call.
struct Own {
    tool: generate::Tool,
    /// The call that the run is making, for a tool that is not read-only.
    made: Option<Arc<Mutex<Option<String>>>>,
}

impl Provider for Own {
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure> {
        if let Some(made) = &self.made {
            assert_eq!(made.lock().unwrap().as_deref(), Some(request.tool), "it was started before its turn");
        }
        match answer(&self.tool, &request.arguments.to_json()) {
            Ok(value) => Ok(data(value)),
            Err(failure) => Err(Failure::Failed(data(failure))),
        }
    }
}

/// The result of a run.
#[derive(Debug, Default)]
struct Came {
    outcome: String,
    fuel: u64,
    calls: Vec<String>,
    ahead: usize,
    made: Arc<Mutex<Option<String>>>,
}

impl Observer for Came {
    fn started(&mut self, _seq: u64, tool: &str) {
        *self.made.lock().unwrap() = Some(tool.to_owned());
    }

    fn ended(&mut self, call: &Ended<'_>) {
        *self.made.lock().unwrap() = None;
        self.calls.push(ilo_host::trace::line(call));
    }

    fn ahead(&mut self, _tool: &str) {
        self.ahead += 1;
    }
}

/// Runs a case with at most this number of calls at once; the first `read_only` tools are read-only.
fn came(case: &Case, program: &Program, most: usize, read_only: usize) -> Came {
    let mut came = Came::default();
    let mut tools = Tools::new();
    for (place, tool) in case.tools.iter().enumerate() {
        let made = (place >= read_only).then(|| Arc::clone(&came.made));
        let own = Own { tool: tool.clone(), made };
        let mut tool = Tool::new(tool.name.clone(), Box::new(own));
        tool.policy.read_only = place < read_only;
        tools.add(tool);
    }
    let input = Data::Record(case.input.iter().map(|(name, value)| (name.clone(), data(value))).collect());
    let options = Options { limits: limits(), slots: CallSlots::new(most), ..Options::default() };
    let function = program.function(&case.entry).unwrap();
    let finished = run(program, function, &input, &tools, &options, &mut came).unwrap();
    came.outcome = finished.outcome().unwrap().to_string();
    came.fuel = finished.run().fuel_used();
    came
}

#[test]
fn outcome_calls_and_fuel_are_those_of_one_call_at_a_time() {
    let (mut calls, mut ahead) = (0, 0);
    for (seed, case, program) in programs() {
        let alone = came(&case, &program, 1, case.tools.len());
        assert_eq!(alone.ahead, 0);
        for read_only in [case.tools.len(), case.tools.len() / 2] {
            let beside = came(&case, &program, 16, read_only);
            assert_eq!(beside.outcome, alone.outcome, "seed {seed}\n{}", case.source);
            assert_eq!(beside.calls, alone.calls, "seed {seed}\n{}", case.source);
            assert_eq!(beside.fuel, alone.fuel, "seed {seed}\n{}", case.source);
            calls += beside.calls.len();
            ahead += beside.ahead;
        }
    }
    assert!(ahead * 10 > calls, "{ahead} calls started ahead beside {calls} made");
}
