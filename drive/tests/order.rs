//! The order in which answers arrive changes nothing. Every order is tried.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use ilo_drive::CallKind;
use ilo_drive::call_slots::CallSlots;
use ilo_drive::data::Data;
use ilo_drive::failure::Failure;
use ilo_spec::program::Number;
use support::{Around, SLOTS, Script, Seen, driven, program, run};

const HEAD: &str =
    "; fn main(xs: list number) -> thing\n; Tools: 0=get 1=put\n; Fields: 0=id 1=name 2=other\n";

/// A record that depends on the arguments alone; every fifth id is a failure.
fn answer(tool: &str, arguments: &Data) -> Result<Data, Failure> {
    let id = match arguments.get("id") {
        Some(Data::Number(Number::Int(id))) => *id,
        _ => 0,
    };
    if id % 5 == 4 {
        return Err(Failure::text(format!("no {id} in {tool}")));
    }
    let number = |id: i64| Data::Number(Number::Int(id));
    Ok(Data::Record(vec![("id".into(), number(id + 10)), ("name".into(), Data::from(tool))].into()))
}

/// The visible behaviour of a run must be the same; which calls were started early may differ.
fn same(a: &Seen, b: &Seen) -> bool {
    (&a.outcome, &a.end, a.fuel, a.memory, &a.calls) == (&b.outcome, &b.end, b.fuel, b.memory, &b.calls)
}

/// Drives a program in every order of answers. Returns the number of orders, and the most calls that one of
/// them starts before their turn.
#[track_caller]
fn every_order(body: &str) -> (usize, usize) {
    let program = program(&format!("{HEAD}{body}\n"));
    let around = Around::new(answer);
    let input = r#"{"xs":[1,2,3]}"#;
    let alone = driven(run(&program, input), &around, &CallSlots::new(1), &mut (), |_| 0);
    assert!(alone.started.iter().all(|(kind, _)| *kind != CallKind::Ahead));
    let (mut script, mut orders, mut ahead) = (Script::default(), 0, 0);
    loop {
        let slots = CallSlots::new(SLOTS);
        let seen = driven(run(&program, input), &around, &slots, &mut (), |open| script.choose(open));
        assert!(same(&seen, &alone), "{seen:?}\n{alone:?}");
        let early = seen.started.iter().filter(|(kind, _)| *kind == CallKind::Ahead).count();
        ahead = ahead.max(early);
        orders += 1;
        if !script.advance() {
            return (orders, ahead);
        }
        assert!(orders < 200_000, "few enough orders to try all of them");
    }
}

#[test]
fn reads_of_a_loop_end_in_every_order() {
    let (orders, ahead) = every_order("FOR 1 REF 0 2\n  LET 2 CALL 0 1 0 REF 1\n  OBJ 2 0 REF 1 1 FIELD 2 1");
    assert!(orders >= 6 && ahead == 2, "{orders} {ahead}");
}

#[test]
fn reads_that_need_other_answers_end_in_every_order() {
    let body = "FOR 1 REF 0 3\n  LET 2 CALL 0 1 0 REF 1\n  LET 3 CALL 0 1 0 FIELD 2 0\n  REF 3";
    let (orders, ahead) = every_order(body);
    assert!(orders >= 20 && ahead >= 4, "{orders} {ahead}");
}

#[test]
fn a_change_drops_what_was_read_ahead() {
    // If the first read fails, the expected reads are not made.
    let body = "LET 1 CALL 0 1 0 LIT 1 4\nMATCH 1 1\n  ERR 2 2\n    LET 3 CALL 1 1 0 LIT 1 7\n    RET REF 3\n\
                LET 4 CALL 0 1 0 LIT 1 1\nLET 5 CALL 0 1 0 LIT 1 2\nLIST 2 REF 4 REF 5";
    let (orders, ahead) = every_order(body);
    assert!(orders >= 6 && ahead == 2, "{orders} {ahead}");
}

#[test]
fn failures_that_are_handled_and_not_end_in_every_order() {
    let handled =
        "FOR 1 REF 0 3\n  LET 2 CALL 0 1 0 ADD REF 1 LIT 1 2\n  MATCH 2 1\n    ERR 3 1\n      BREAK\n  REF 2";
    every_order(handled);
    every_order("FOR 1 REF 0 2\n  LET 2 CALL 0 1 0 ADD REF 1 LIT 1 2\n  REF 2");
}
