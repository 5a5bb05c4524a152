//! ROLLBACK entries: when they run, in which order, and what the outcome says, at every way in which a
//! function or a run can end. Each run is also made with a restore from its snapshot at every call.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use crate::common::*;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::limits;
use ilo_spec::operand::{CallId, Entries, FunctionId, PureId, StringId};
use ilo_spec::pure::Pure;
use ilo_vm::{Datum, Limits, Program, Run, Step};
use std::fmt::Write;

const RESERVE: CallId = CallId(0);
const RELEASE: CallId = CallId(1);
const CHARGE: CallId = CallId(2);
const REFUND: CallId = CallId(3);
const SHIP: CallId = CallId(4);

/// A program whose tools take the argument `id`, from register 0. `code` is that of `f(id)`.
fn asm() -> Asm {
    let mut asm = Asm::new(&["id", "n"]);
    for tool in ["reserve", "release", "charge", "refund", "ship"] {
        asm.call(tool, &["id"]);
    }
    asm
}

fn tool(call: CallId) -> Op {
    Op::Tool { dst: Out(1), first: First(0), call, fail: OnFail(0) }
}

/// A call followed by its ROLLBACK, whose argument is the answer.
fn covered(call: CallId, undo: CallId) -> [Op; 2] {
    let entries = Entries(1);
    [
        Op::ToolRollback { dst: Out(1), first: First(0), call, fail: OnFail(0), entries },
        Op::Rollback { first: First(1), call: undo },
    ]
}

/// The status of an outcome, or the code of its fault.
fn code_of(outcome: &str) -> &str {
    let after = |key: &str| outcome.split_once(key).and_then(|(_, rest)| rest.split('"').next());
    after(r#""code":""#).or(after(r#"{"status":""#)).unwrap()
}

fn invoke(function: u16, fail: u16) -> Op {
    Op::Invoke { dst: Out(4), first: First(4), function: FunctionId(function), fail: OnFail(fail) }
}

const RETURN: Op = Op::Return { src: In(0) };
const ERR: Op = Op::Fail { src: In(0) };

fn code(parts: &[&[Op]]) -> Vec<Op> {
    parts.concat()
}

fn both(end: &[Op]) -> Program {
    program(&code(&[&covered(RESERVE, RELEASE), &covered(CHARGE, REFUND), end]), RESULT)
}

fn program(code: &[Op], output: ilo_spec::types::Output) -> Program {
    let mut asm = asm();
    asm.function("f", &["id"], output, 8, code);
    asm.build()
}

/// What a tool does with the number of a call: an answer, or a failure.
type Tools<'t> = &'t dyn Fn(&str, u64) -> Result<Datum<'static>, &'static str>;

/// Every call succeeds with its own number.
#[allow(clippy::unnecessary_wraps, reason = "as other tools")]
fn fine(_: &str, number: u64) -> Result<Datum<'static>, &'static str> {
    Ok(Datum::Int(i64::try_from(number).unwrap()))
}

/// Runs the last function; returns the calls, as `tool(argument)`, and the outcome.
fn run(program: &Program, limits: &Limits, tools: Tools<'_>, restored: bool) -> (String, String) {
    run_with(program, limits, tools, restored, &mut |_, _| false)
}

/// Like `run`; `first` may do something else with a call than answer it, by its number.
fn run_with(
    program: &Program,
    limits: &Limits,
    tools: Tools<'_>,
    restored: bool,
    first: &mut dyn FnMut(&mut Run, u64) -> bool,
) -> (String, String) {
    let last = FunctionId(u16::try_from(program.spec().functions.len() - 1).unwrap());
    let mut run = Run::new(program, limits.clone());
    run.start(last, &[Datum::Text("x")]).unwrap();
    let mut calls = String::new();
    loop {
        match run.step() {
            Step::Done(outcome) => return (calls, outcome.to_string()),
            Step::Call(_) if restored => {
                let mut bytes = Vec::new();
                run.snapshot(&mut bytes).unwrap();
                run = Run::from_snapshot(program, &bytes, limits.clone()).unwrap();
                let mut again = Vec::new();
                run.snapshot(&mut again).unwrap();
                assert_eq!(again, bytes, "a restored run has the same snapshot");
            }
            Step::Call(_) => {}
        }
        let call = run.pending().unwrap();
        let (tool, number) = (call.tool().to_owned(), call.number());
        if first(&mut run, number) {
            continue;
        }
        let call = run.pending().unwrap();
        let mut line = String::new();
        call.argument("id").unwrap().write_json(&mut line).unwrap();
        let mark = if call.is_rollback() { "!" } else { "" };
        write!(calls, "{tool}{mark}({line}) ").unwrap();
        let _ = match tools(&tool, number) {
            Ok(value) => call.answer(value),
            Err(message) => call.fail(message),
        };
    }
}

/// The calls and the outcome, which are the same when every call is restored.
fn both_ways(program: &Program, limits: &Limits, tools: Tools<'_>) -> (String, String) {
    let whole = run(program, limits, tools, false);
    assert_eq!(run(program, limits, tools, true), whole, "restored at every call");
    whole
}

#[track_caller]
fn check(program: &Program, tools: Tools<'_>, calls: &str, outcome: &str) {
    let found = both_ways(program, &Limits::default(), tools);
    assert_eq!((found.0.trim(), found.1.as_str()), (calls, outcome));
}

const UNDONE: &str = r#","rolled_back":[{"tool":"refund","number":3},{"tool":"release","number":4}]}"#;

#[test]
fn success_at_the_top_drops_the_entries() {
    check(&both(&[RETURN]), &fine, r#"reserve("x") charge("x")"#, r#"{"status":"ok","value":"x"}"#);
}

#[test]
fn a_value_that_its_host_refuses_runs_them_as_a_fault_does() {
    let program = both(&[RETURN]);
    let mut run = Run::new(&program, Limits::default());
    run.refuse_output("too early");
    run.start(FunctionId(0), &[Datum::Text("a")]).unwrap();
    let mut calls = Vec::new();
    let mut refused = false;
    let outcome = loop {
        if let Step::Call(_) = run.step() {
            if refused {
                // In the midst of it the run goes on from its snapshot.
                let mut bytes = Vec::new();
                run.snapshot(&mut bytes).unwrap();
                run = Run::from_snapshot(&program, &bytes, Limits::default()).unwrap();
            }
            let call = run.pending().unwrap();
            calls.push(call.tool().to_owned());
            call.answer(7_i64).unwrap();
            continue;
        }
        let outcome = run.outcome().unwrap();
        if refused {
            break outcome.to_string();
        }
        assert!(outcome.ok().is_some() && run.open_rollbacks().count() == 0);
        run.refuse_output("expected text");
        refused = true;
    };
    assert_eq!(calls, ["reserve", "charge", "refund", "release"]);
    let fault = r#"{"status":"fault","code":"output-mismatch","message":"expected text","#;
    assert!(outcome.starts_with(fault), "{outcome}");
    let back = r#""rolled_back":[{"tool":"refund","number":3},{"tool":"release","number":4}]}"#;
    assert!(outcome.ends_with(back), "{outcome}");
    // A run that has failed already is as it was.
    run.refuse_output("again");
    assert_eq!(run.outcome().unwrap().to_string(), outcome);
}

#[test]
fn a_failure_runs_them_latest_first() {
    let calls = r#"reserve("x") charge("x") refund!(2) release!(1)"#;
    check(&both(&[ERR]), &fine, calls, &format!(r#"{{"status":"err","error":"x"{UNDONE}"#));
}

#[test]
fn an_unhandled_failure_and_a_fault_run_them() {
    let ship = |name: &str, number| if name == "ship" { Err("no") } else { fine(name, number) };
    let calls = r#"reserve("x") charge("x") ship("x") refund!(2) release!(1)"#;
    let undone = UNDONE.replace('4', "5").replace('3', "4");
    check(&both(&[tool(SHIP), RETURN]), &ship, calls, &format!(r#"{{"status":"err","error":"no"{undone}"#));
    let plain = program(&code(&[&covered(RESERVE, RELEASE), &[tool(SHIP), RETURN]]), PLAIN);
    let (calls, outcome) = both_ways(&plain, &Limits::default(), &ship);
    assert_eq!(calls, r#"reserve("x") ship("x") release!(1) "#);
    assert!(outcome.contains(r#""code":"tool-failed","message":"no""#), "{outcome}");
    assert!(outcome.ends_with(r#","rolled_back":[{"tool":"release","number":3}]}"#), "{outcome}");
    let fault = Op::Field { dst: Out(2), src: In(0), field: ilo_spec::operand::FieldId(0) };
    let (calls, outcome) = both_ways(&both(&[fault, RETURN]), &Limits::default(), &fine);
    assert_eq!(calls, r#"reserve("x") charge("x") refund!(2) release!(1) "#);
    assert!(outcome.contains(r#""code":"type-mismatch""#) && outcome.ends_with(UNDONE), "{outcome}");
}

#[test]
fn an_entry_that_fails_is_recorded_and_the_rest_goes_on() {
    let tools = |name: &str, number| if name == "refund" { Err("not now") } else { fine(name, number) };
    let outcome = r#"{"status":"err","error":"x","compensation_failures":[{"tool":"refund","error":"not now"}],"rolled_back":[{"tool":"release","number":4}]}"#;
    check(&both(&[ERR]), &tools, r#"reserve("x") charge("x") refund!(2) release!(1)"#, outcome);
}

#[test]
fn the_message_of_a_failed_entry_is_cut_at_4_kib() {
    let cut = |length: usize| {
        let message: &'static str = Box::leak("é".repeat(length / 2).into_boxed_str());
        let tools = move |name: &str, number| {
            if name == "refund" { Err(message) } else { fine(name, number) }
        };
        let (_, outcome) = both_ways(&both(&[ERR]), &Limits::default(), &tools);
        let from = outcome.find("\"error\":\"é").unwrap() + 9;
        let text = &outcome[from..from + outcome[from..].find('"').unwrap()];
        (text.len(), text.ends_with('…'))
    };
    assert_eq!(cut(4096), (4096, false));
    // 4,093 bytes before the three of the ellipsis are half a character too many.
    assert_eq!(cut(4098), (4095, true));
}

/// A callee that reserves and fails, and one that charges and succeeds.
fn nested(caller: &[Op]) -> Program {
    let mut asm = asm();
    asm.function("fails", &["id"], RESULT, 8, &code(&[&covered(RESERVE, RELEASE), &[ERR]]));
    asm.function("succeeds", &["id"], RESULT, 8, &code(&[&covered(CHARGE, REFUND), &[RETURN]]));
    asm.function("f", &["id"], RESULT, 8, caller);
    asm.build()
}

#[test]
fn a_handled_failure_undoes_the_callee_and_keeps_what_the_caller_did() {
    let id = Op::Move { dst: Out(4), src: In(0) };
    // `fails` is handled by the jump to the next instruction.
    let caller =
        |end| code(&[&covered(CHARGE, REFUND), &[id, invoke(0, 1), Op::Jump { to: To(0) }, tool(SHIP), end]]);
    let calls = r#"charge("x") reserve("x") release!(2) ship("x")"#;
    let outcome = r#"{"status":"ok","value":"x","rolled_back":[{"tool":"release","number":3}]}"#;
    check(&nested(&caller(RETURN)), &fine, calls, outcome);
    let outcome = r#"{"status":"err","error":"x","rolled_back":[{"tool":"release","number":3},{"tool":"refund","number":5}]}"#;
    check(&nested(&caller(ERR)), &fine, &format!("{calls} refund!(1)"), outcome);
}

#[test]
fn the_entries_of_a_callee_that_succeeds_are_its_callers() {
    let id = Op::Move { dst: Out(4), src: In(0) };
    let caller = code(&[&covered(RESERVE, RELEASE), &[id, invoke(1, 0), ERR]]);
    let calls = r#"reserve("x") charge("x") refund!(2) release!(1)"#;
    check(&nested(&caller), &fine, calls, &format!(r#"{{"status":"err","error":"x"{UNDONE}"#));
}

/// The callee of a callee has an entry, the one between has none; a call waits at every height.
#[test]
fn entries_pass_through_functions_that_have_none_of_their_own() {
    let id = Op::Move { dst: Out(4), src: In(0) };
    let mut asm = asm();
    asm.function("charges", &["id"], RESULT, 8, &code(&[&covered(CHARGE, REFUND), &[tool(SHIP), RETURN]]));
    asm.function("passes", &["id"], RESULT, 8, &[id, invoke(0, 0), RETURN]);
    let reserve = covered(RESERVE, RELEASE);
    asm.function("fails", &["id"], RESULT, 8, &code(&[&reserve, &[id, invoke(1, 0), tool(SHIP), ERR]]));
    let handled = [id, invoke(2, 1), Op::Jump { to: To(0) }, tool(SHIP), ERR];
    asm.function("f", &["id"], RESULT, 8, &code(&[&reserve, &handled]));
    let calls = r#"reserve("x") reserve("x") charge("x") ship("x") ship("x") refund!(3) release!(2) ship("x") release!(1)"#;
    let undone = [("refund", 6), ("release", 7), ("release", 9)];
    let undone = undone.map(|(tool, number)| format!(r#"{{"tool":"{tool}","number":{number}}}"#)).join(",");
    check(&asm.build(), &fine, calls, &format!(r#"{{"status":"err","error":"x","rolled_back":[{undone}]}}"#));
}

#[test]
fn a_function_called_as_a_compensation_leaves_no_entries() {
    let id = Op::Move { dst: Out(4), src: In(0) };
    let undo = [id, invoke(1, 1), Op::Jump { to: To(1) }, Op::Note { src: In(4), tool: StringId(0) }];
    let caller = code(&[&covered(RESERVE, RELEASE), &undo, &[ERR]]);
    let outcome = r#"{"status":"err","error":"x","rolled_back":[{"tool":"release","number":3}]}"#;
    check(&nested(&caller), &fine, r#"reserve("x") charge("x") release!(1)"#, outcome);
}

#[test]
fn no_limit_comes_between_a_call_and_its_entry() {
    let program = both(&[tool(SHIP), ERR]);
    let mut codes = std::collections::BTreeSet::new();
    let mut check = |limits: &Limits| {
        let (calls, outcome) = run(&program, limits, &fine, false);
        let count = |tool: &str| calls.matches(tool).count();
        assert_eq!(count("reserve("), count("release!("), "{limits:?} {calls} {outcome}");
        assert_eq!(count("charge("), count("refund!("), "{limits:?} {calls} {outcome}");
        assert!(!outcome.contains("not_rolled_back"), "{outcome}");
        codes.insert(code_of(&outcome).to_owned());
    };
    let fuel = {
        let mut run = Run::new(&program, Limits::default());
        run.start(FunctionId(0), &[Datum::Text("x")]).unwrap();
        drive(&mut run, &|_, _| Ok(NIL));
        run.fuel_used()
    };
    (0..=fuel).for_each(|fuel| check(&Limits { fuel, ..Limits::default() }));
    (0..=3).for_each(|tool_calls| check(&Limits { tool_calls, ..Limits::default() }));
    (0..=2).for_each(|rollbacks| check(&Limits { rollbacks, ..Limits::default() }));
    // Less than this does not hold the argument.
    (4_700..6_500).for_each(|memory| check(&Limits { memory, ..Limits::default() }));
    let expected = ["err", "fuel", "memory", "too-many-calls", "too-many-rollbacks"];
    assert_eq!(codes.into_iter().collect::<Vec<_>>(), expected);
}

/// What the section of a call may use beyond the limit on fuel: at the limit its entry is pushed, one unit
/// beyond it is not.
#[test]
fn a_section_may_exceed_the_fuel_by_its_limit() {
    let (first, count, fail) = (First(2), Count(1), OnFail(0));
    let range = Op::Apply { dst: Out(3), first, count, function: PureId(Pure::Range as u8), fail };
    let [call, rollback] = covered(RESERVE, RELEASE);
    let mut asm = asm();
    let million = Op::Number { dst: Out(2), number: asm.int(1_000_000) };
    let code = [million, call, range, range, range, range, range, rollback, RETURN];
    asm.function("f", &["id"], RESULT, 8, &code);
    let program = asm.build();
    let with_fuel = |fuel| Limits { fuel, memory: 1 << 30, ..Limits::default() };
    let fuel_at = |code: &[Op]| {
        let mut asm = self::asm();
        asm.int(1_000_000);
        asm.function("f", &["id"], RESULT, 8, code);
        let program = asm.build();
        let mut run = Run::new(&program, with_fuel(1 << 40));
        run.start(FunctionId(0), &[Datum::Text("x")]).unwrap();
        drive(&mut run, &|_, _| Ok(NIL));
        run.fuel_used()
    };
    // A straight line of code is charged at once, so this includes the return.
    let used = fuel_at(&code);
    assert!(used > limits::ROLLBACK_FUEL);
    let least = used - limits::ROLLBACK_FUEL;
    let (_, outcome) = run(&program, &with_fuel(least), &fine, false);
    assert_eq!((code_of(&outcome), outcome.contains("not_rolled_back")), ("fuel", false), "{outcome}");
    let (_, outcome) = run(&program, &with_fuel(least - 1), &fine, false);
    assert_eq!((code_of(&outcome), outcome.contains("not_rolled_back")), ("fuel", true), "{outcome}");
}

#[test]
fn a_call_without_room_for_its_entry_is_not_made() {
    let limits = Limits { rollbacks: 1, ..Limits::default() };
    let (calls, outcome) = both_ways(&both(&[RETURN]), &limits, &fine);
    assert_eq!(calls, r#"reserve("x") release!(1) "#);
    assert!(outcome.contains(r#""message":"the run has used all of its 1 ROLLBACK entries""#), "{outcome}");
    let limits = Limits { rollbacks: 2, ..Limits::default() };
    assert_eq!(code_of(&run(&both(&[RETURN]), &limits, &fine, true).1), "ok");
}

#[test]
fn entries_do_not_count_as_calls_and_need_no_fuel() {
    let limits = Limits { tool_calls: 2, ..Limits::default() };
    let (_, outcome) = both_ways(&both(&[tool(SHIP), RETURN]), &limits, &fine);
    assert!(outcome.contains("too-many-calls") && outcome.ends_with(UNDONE), "{outcome}");
}

/// f(id) with a loop over 1,000,000 numbers that pushes an entry in each pass.
fn million() -> Program {
    let mut asm = asm();
    let million = asm.int(1_000_000);
    let base = LoopBase(2);
    let code = [
        Op::Number { dst: Out(1), number: million },
        Op::Apply {
            dst: Out(1),
            first: First(1),
            count: Count(1),
            function: ilo_spec::operand::PureId(ilo_spec::pure::Pure::Range as u8),
            fail: OnFail(0),
        },
        Op::Each { base, list: In(1), to: To(1) },
        Op::Rollback { first: First(5), call: RELEASE },
        Op::Next { base, item: Out(5), back: Back(2) },
        ERR,
    ];
    asm.function("f", &["id"], RESULT, 8, &code);
    asm.build()
}

#[test]
fn a_million_rollbacks_end_at_the_limit_and_then_run() {
    let (calls, outcome) = run(&million(), &Limits::default(), &fine, false);
    assert_eq!(calls.matches("release!(").count(), 1_000);
    assert!(calls.starts_with("release!(999) release!(998) "), "{}", &calls[..80]);
    assert_eq!(code_of(&outcome), "too-many-rollbacks");
    let limits = Limits { rollbacks: 1_000_000, memory: 1 << 30, fuel: 1 << 30, ..Limits::default() };
    let (calls, outcome) = run(&million(), &limits, &fine, false);
    assert_eq!((calls.matches("release!(").count(), code_of(&outcome)), (1_000_000, "err"));
}

#[test]
fn a_cancelled_run_rolls_back_however_it_ends() {
    for end in [RETURN, ERR, Op::Not { dst: Out(2), src: In(0) }] {
        let program = both(&[end, RETURN][..if end == RETURN || end == ERR { 1 } else { 2 }]);
        for at in 1..=4 {
            for restored in [false, true] {
                let mut cancelled = false;
                let found = run_with(&program, &Limits::default(), &fine, restored, &mut |run, number| {
                    if number == at && !cancelled {
                        run.cancel();
                        cancelled = true;
                    }
                    assert_eq!(run.is_cancelled(), cancelled, "also after a restore");
                    false
                });
                let calls = r#"reserve("x") charge("x") "#;
                if at > 2 && end == RETURN {
                    assert_eq!(found.0, calls, "it had ended");
                    continue;
                }
                assert_eq!(found.0, format!("{calls}refund!(2) release!(1) "));
                assert_eq!(code_of(&found.1), "cancelled", "{}", found.1);
                assert!(found.1.ends_with(UNDONE), "{}", found.1);
            }
        }
    }
}

#[test]
fn after_cancelling_only_rollbacks_are_left_to_make() {
    let id = Op::Move { dst: Out(4), src: In(0) };
    let undo = Op::Tool { dst: Out(5), first: First(0), call: REFUND, fail: OnFail(1) };
    let body = [
        Op::Tool { dst: Out(1), first: First(0), call: SHIP, fail: OnFail(1) },
        RETURN,
        undo,
        Op::Jump { to: To(1) },
        Op::Note { src: In(5), tool: StringId(0) },
        Op::Fail { src: In(1) },
    ];
    let program = program(&code(&[&covered(RESERVE, RELEASE), &[id], &body]), RESULT);
    let mut found = Vec::new();
    let (calls, outcome) = run_with(&program, &Limits::default(), &fine, true, &mut |run, number| {
        if number == 1 {
            run.cancel();
            return false;
        }
        let call = run.pending().unwrap();
        found.push((call.tool().to_owned(), call.is_cancelled()));
        let refused = call.is_cancelled();
        if refused {
            call.fail("cancelled").unwrap();
        }
        refused
    });
    let expected = [("ship", true), ("refund", false), ("release", false)];
    assert_eq!(found, expected.map(|(tool, refused)| (tool.to_owned(), refused)));
    assert_eq!(calls, r#"reserve("x") refund("x") release!(1) "#);
    assert_eq!(code_of(&outcome), "cancelled");
}

#[test]
fn the_host_ends_a_run_with_or_without_its_rollback() {
    let program = both(&[tool(SHIP), RETURN]);
    let end = |at: u64, sent: bool, restored: bool| {
        let mut ended = false;
        run_with(&program, &Limits::default(), &fine, restored, &mut |run, number| {
            if number != at || ended {
                return false;
            }
            ended = true;
            if sent {
                run.pending().unwrap().may_change();
            }
            run.end_with(Code::FaultTimedOut, "too long");
            true
        })
    };
    for restored in [false, true] {
        let (calls, outcome) = end(3, false, restored);
        assert_eq!(calls, r#"reserve("x") charge("x") refund!(2) release!(1) "#);
        assert!(!outcome.contains("not_rolled_back"), "{outcome}");
        let (calls, outcome) = end(2, true, restored);
        assert_eq!(calls, r#"reserve("x") release!(1) "#);
        let left = r#","not_rolled_back":[{"tool":"charge","why":"its answer never came: too long"}]}"#;
        assert!(outcome.contains(r#""code":"timed-out""#) && outcome.ends_with(left), "{outcome}");
    }
    let mut run = Run::new(&program, Limits::default());
    run.start(FunctionId(0), &[Datum::Text("x")]).unwrap();
    for _ in 0..2 {
        let Step::Call(call) = run.step() else { panic!("a call") };
        call.answer(NIL).unwrap();
    }
    assert!(matches!(run.step(), Step::Call(_)));
    run.stop(Code::FaultTimedOut);
    let Step::Done(outcome) = run.step() else { panic!("a stopped run makes no call") };
    assert!(!outcome.to_string().contains("rolled_back"), "{outcome}");
}

#[test]
fn a_fault_of_the_host_waits_until_the_entry_is_pushed() {
    let program = both(&[RETURN]);
    let mut run = Run::new(&program, Limits::default());
    run.start(FunctionId(0), &[Datum::Text("x")]).unwrap();
    let Step::Call(call) = run.step() else { panic!("a call") };
    assert!(call.has_rollback() && !call.is_rollback());
    call.answer(Datum::Int(7)).unwrap();
    assert!(run.fuel_used() < 100, "what was lent is not used");
    run.end_with(Code::FaultMemory, "late");
    let Step::Call(call) = run.step() else { panic!("the entry") };
    assert_eq!((call.tool(), call.is_rollback(), call.number()), ("release", true, 2));
    call.answer(NIL).unwrap();
    let Step::Done(outcome) = run.step() else { panic!("the end") };
    assert!(outcome.to_string().contains(r#""code":"memory","message":"late""#), "{outcome}");
}

#[test]
fn calls_that_nothing_undoes_are_listed() {
    // A call in doubt is a failure, which the program may handle.
    let handled = [Op::Tool { dst: Out(1), first: First(0), call: SHIP, fail: OnFail(0) }, RETURN];
    let found = run_with(&both(&handled), &Limits::default(), &fine, false, &mut |run, number| {
        number == 3 && run.pending().unwrap().fail_in_doubt("lost").is_ok()
    });
    assert_eq!(found.0, r#"reserve("x") charge("x") refund!(2) release!(1) "#);
    let list = r#","not_rolled_back":[{"tool":"ship","why":"it may have been made: lost"}]}"#;
    assert!(
        found.1.starts_with(r#"{"status":"err","error":"lost","#) && found.1.ends_with(list),
        "{}",
        found.1
    );
    // An answer that does not fit, of a call with a ROLLBACK and of one that may change something.
    let long: &'static str = Box::leak("x".repeat(99).into_boxed_str());
    let limits = Limits { result_bytes: 98, ..Limits::default() };
    let big = |name: &str, number| if name == "charge" { Ok(Datum::Text(long)) } else { fine(name, number) };
    let (calls, outcome) = both_ways(&both(&[RETURN]), &limits, &big);
    assert_eq!(calls, r#"reserve("x") charge("x") release!(1) "#);
    let list =
        r#"[{"tool":"charge","why":"its answer does not fit: a tool result passes the limit of 98 bytes"}]}"#;
    assert!(outcome.ends_with(list), "{outcome}");
    let twice: &'static [(&str, Datum<'_>)] = &[("a", NIL), ("a", NIL)];
    let twice =
        |name: &str, number| if name == "charge" { Ok(Datum::Record(twice)) } else { fine(name, number) };
    let (_, outcome) = both_ways(&both(&[RETURN]), &Limits::default(), &twice);
    let list = r#"[{"tool":"charge","why":"its answer does not fit: the field a is given twice"}]}"#;
    assert!(outcome.ends_with(list), "{outcome}");
}

#[test]
fn a_rollback_that_cannot_be_worked_out_is_listed() {
    let entries = Entries(1);
    let field = ilo_spec::operand::FieldId(0);
    let section = [
        Op::ToolRollback { dst: Out(1), first: First(0), call: CHARGE, fail: OnFail(0), entries },
        Op::Field { dst: Out(2), src: In(1), field },
        Op::Rollback { first: First(2), call: REFUND },
        RETURN,
    ];
    let program = program(&code(&[&covered(RESERVE, RELEASE), &section]), RESULT);
    let (calls, outcome) = both_ways(&program, &Limits::default(), &fine);
    assert_eq!(calls, r#"reserve("x") charge("x") release!(1) "#);
    let why = "its rollback could not be worked out: type-mismatch: expected a record";
    assert!(outcome.contains(r#""code":"type-mismatch""#) && outcome.contains(why), "{outcome}");
    assert!(
        outcome
            .contains(r#""rolled_back":[{"tool":"release","number":3}],"not_rolled_back":[{"tool":"charge""#)
    );
}

#[test]
fn several_entries_of_one_call_are_pushed_together() {
    let section = [
        Op::ToolRollback {
            dst: Out(1),
            first: First(0),
            call: RESERVE,
            fail: OnFail(0),
            entries: Entries(2),
        },
        Op::Rollback { first: First(1), call: RELEASE },
        Op::Rollback { first: First(1), call: REFUND },
        ERR,
    ];
    let undone = UNDONE.replace('3', "2").replace('4', "3");
    let outcome = format!(r#"{{"status":"err","error":"x"{undone}"#);
    check(&program(&section, RESULT), &fine, r#"reserve("x") refund!(1) release!(1)"#, &outcome);
    let limits = Limits { rollbacks: 1, ..Limits::default() };
    let (calls, outcome) = both_ways(&program(&section, RESULT), &limits, &fine);
    assert_eq!((calls.as_str(), code_of(&outcome)), ("", "too-many-rollbacks"));
}

#[test]
fn a_run_that_starts_again_has_no_entries() {
    let program = both(&[ERR]);
    let mut run = Run::new(&program, Limits::default());
    run.start(FunctionId(0), &[Datum::Text("x")]).unwrap();
    let first = drive(&mut run, &|_, _| Ok(NIL));
    let fuel = run.fuel_used();
    for _ in 0..3 {
        run.rewind();
        assert_eq!((drive(&mut run, &|_, _| Ok(NIL)), run.fuel_used()), (first.clone(), fuel));
    }
    run.rewind();
    assert!(matches!(run.step(), Step::Call(_)));
    run.cancel();
    run.rewind();
    assert!(!run.is_cancelled());
    assert_eq!(drive(&mut run, &|_, _| Ok(NIL)), first);
}

#[test]
fn every_changed_byte_of_a_snapshot_is_refused_or_harmless() {
    let id = Op::Move { dst: Out(4), src: In(0) };
    let caller =
        code(&[&covered(CHARGE, REFUND), &[id, invoke(0, 1), Op::Jump { to: To(0) }, tool(SHIP), ERR]]);
    let program = nested(&caller);
    let fails = |name: &str, number| if name == "release" { Err("no") } else { fine(name, number) };
    let mut snapshots = Vec::new();
    run_with(&program, &Limits::default(), &fails, false, &mut |run, _| {
        let mut bytes = Vec::new();
        run.snapshot(&mut bytes).unwrap();
        snapshots.push(bytes);
        false
    });
    assert_eq!(snapshots.len(), 5);
    for bytes in snapshots {
        for place in 13..bytes.len() - 8 {
            for byte in 0..=u8::MAX {
                let mut changed = bytes.clone();
                changed[place] = byte;
                ilo_vm::seal(&mut changed);
                if let Ok(mut run) = Run::from_snapshot(&program, &changed, Limits::default()) {
                    drive(&mut run, &|_, _| Ok(NIL));
                }
            }
        }
        for length in 0..bytes.len() {
            let mut cut = bytes[..length].to_vec();
            ilo_vm::seal(&mut cut);
            assert!(Run::from_snapshot(&program, &cut, Limits::default()).is_err());
        }
    }
}
