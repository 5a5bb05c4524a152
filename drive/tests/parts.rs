//! The parts of a drive one by one: policies, plans, looking ahead, how a run starts and ends, replays.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use ilo_drive::call_slots::CallSlots;
use ilo_drive::data::Data;
use ilo_drive::failure::Failure;
use ilo_drive::foresight::to_confirm;
use ilo_drive::lifecycle::start;
use ilo_drive::plan::plan;
use ilo_drive::policy::{OnDoubt, Policies, Policy, RETRIES};
use ilo_drive::replay::{Reading, Recording};
use ilo_drive::{CallKind, End, Finished, give};
use ilo_spec::error::Code;
use ilo_vm::{Limits, Run, Step};
use std::time::Duration;
use support::{Around, SLOTS, Seen, data, driven, program, run};

const HEAD: &str = "; fn main(xs: list number) -> any\n; Tools: 0=get 1=put 2=undo\n; Fields: 0=id 1=name\n";
const INPUT: &str = r#"{"xs":[1,2,3]}"#;

fn built(body: &str) -> ilo_vm::Program {
    program(&format!("{HEAD}{body}\n"))
}

/// Every answer is the arguments; a call with the id 4 fails.
fn around() -> Around {
    Around::new(|_, arguments| match arguments.get("id") {
        Some(id) if id.same(&4.into()) => Err(Failure::text("no 4")),
        _ => Ok(arguments.clone()),
    })
}

/// A run whose calls end in the order in which they began.
fn seen(body: &str) -> Seen {
    let (program, around) = (built(body), around());
    driven(run(&program, INPUT), &around, &CallSlots::new(SLOTS), &mut (), |_| 0)
}

#[test]
fn a_pause_before_a_retry_doubles_up_to_five_seconds() {
    let pauses = [0, 1, 5, 6, RETRIES, u32::MAX].map(Policy::pause);
    let whole = [100, 200, 3_200, 5_000, 5_000, 5_000].map(Duration::from_millis);
    assert_eq!(pauses, whole.map(|whole| (whole / 2, whole)));
}

#[test]
fn only_a_failed_call_of_an_idempotent_tool_is_made_again() {
    let once = Policy { retries: 2, ..Policy::default() };
    let again = Policy { idempotent: true, ..once.clone() };
    let failed = Failure::text("no");
    assert!(!once.retries(&failed, 0));
    assert_eq!([0, 1, 2].map(|retry| again.retries(&failed, retry)), [true, true, false]);
    assert!(again.retries(&Failure::InDoubt("lost".to_owned()), 0));
    for other in [Failure::TimedOut, Failure::Interrupted, Failure::Misfit("no text".to_owned())] {
        assert!(!again.retries(&other, 0), "{other:?}");
    }
    let all = [Policy::reads(), again, once];
    assert_eq!(all.map(|policy| policy.after_crash()), ["again", "again", "doubt"]);
}

#[test]
fn a_policy_is_said_in_a_few_words() {
    let policy = Policy {
        confirm: true,
        idempotent: true,
        retries: 1,
        timeout: Some(Duration::from_secs(5)),
        on_doubt: OnDoubt::Stop,
        ..Policy::default()
    };
    let words = "may change something, asks first, idempotent, 1 retry, 5000 ms, ends the run when in doubt";
    assert_eq!(policy.to_string(), words);
    assert_eq!(Policy::reads().to_string(), "reads only");
}

#[test]
fn a_tool_that_asks_or_changes_is_not_called_ahead() {
    let mut around = around();
    assert!(around.may_run_ahead("get") && !around.may_run_ahead("put") && !around.may_run_ahead("other"));
    around.policies.insert("get", Policy { confirm: true, ..Policy::reads() });
    assert!(!around.may_run_ahead("get"));
}

#[test]
fn a_plan_counts_the_most_expensive_path() {
    let most = |body: &str| {
        let program = built(body);
        let plan = plan(&program, program.entry().unwrap(), &around()).unwrap();
        plan.calls.into_iter().map(|call| format!("{} {}", call.tool, call.most)).collect::<Vec<_>>()
    };
    assert_eq!(most("RET CALL 0 1 0 LIT 1 1"), ["get 1"]);
    // Branches exclude each other: the longer one counts, and it may be the other.
    let branches = "IF HAS REF 0 LIT 1 1 1\n  CALL 1 0\nELSE 2\n  CALL 1 0\n  CALL 1 0\nRET LIT 2 nil";
    assert_eq!(most(branches), ["put \u{2264} 2"]);
    // A loop counts the length of its list.
    let each = "FOR 1 REF 0 2\n  CALL 1 0\n  CALL 1 0\nRET LIT 2 nil";
    assert_eq!(most(each), ["put \u{2264} 2 \u{d7} len(xs)"]);
}

#[test]
fn a_plan_names_the_calls_that_nothing_rolls_back() {
    let program = built("CALL 1 0\nROLLBACK CALL 2 0\nCALL 1 0\nRET LIT 2 nil");
    let plan = plan(&program, program.entry().unwrap(), &around()).unwrap();
    let [put, undo] = &plan.calls[..] else { panic!("{plan:?}") };
    assert_eq!(
        (put.tool.as_str(), put.most.as_str(), &put.entries[..]),
        ("put", "\u{2264} 2", &["undo".to_owned()][..])
    );
    assert_eq!(put.by_hand.len(), 1, "the second one");
    assert_eq!((put.is_rollback, undo.is_rollback), (false, true));
}

#[test]
fn calls_that_need_a_confirmation_are_found_together() {
    let body =
        "LET 1 CALL 0 1 0 LIT 1 1\nCALL 1 1 0 LIT 1 2\nCALL 1 1 0 REF 1\nCALL 1 1 0 LIT 1 3\nRET LIT 2 nil";
    let (program, mut around) = (built(body), around());
    around.policies.insert("put", Policy { confirm: true, ..Policy::default() });
    let mut run = run(&program, INPUT);
    assert!(matches!(run.step(), Step::Call(_)));
    let asked = |most| to_confirm(&run, &around, most);
    // The one with the answer that is not there yet is left out.
    let both = [2, 3].map(|id| ("put".to_owned(), Data::record([("id", id)])));
    assert_eq!(asked(9), both);
    assert_eq!(asked(1), both[..1]);
}

#[test]
fn reads_are_started_together_and_a_change_waits_for_them() {
    let reads =
        seen("LET 1 CALL 0 1 0 LIT 1 1\nLET 2 CALL 0 1 0 LIT 1 2\nRET ADD FIELD REF 1 0 FIELD REF 2 0");
    let mut together = reads.started.clone();
    together.sort_by(|a, b| a.1.cmp(&b.1));
    let [first, second] = &together[..] else { panic!("{together:?}") };
    assert_eq!((first.0, second.0), (CallKind::Read, CallKind::Ahead));
    let change = seen("LET 1 CALL 0 1 0 LIT 1 1\nCALL 1 1 0 LIT 1 2\nLET 2 CALL 0 1 0 LIT 1 3\nRET REF 2");
    let started: Vec<_> = change.started.iter().map(|call| (call.0, call.1.as_str())).collect();
    let expected = [
        (CallKind::Read, r#"get {"id":1}"#),
        (CallKind::Change, r#"put {"id":2}"#),
        (CallKind::Read, r#"get {"id":3}"#),
    ];
    assert_eq!(started, expected);
}

#[test]
fn a_run_that_stopped_has_no_outcome() {
    let program = built("RET LIT 1 1");
    let ended = || {
        let mut run = run(&program, INPUT);
        assert!(matches!(run.step(), Step::Done(_)));
        run
    };
    assert!(Finished::new(ended(), End::Outcome).outcome().is_some());
    assert!(Finished::new(ended(), End::Interrupted).outcome().is_none());
    assert!(Finished::new(ended(), End::Suspended).outcome().is_none());
}

#[test]
fn an_input_past_a_limit_of_the_run_is_refused() {
    let program = built("RET REF 0");
    let mut run = Run::new(&program, Limits { items: 2, ..Limits::default() });
    let problem = start(&mut run, program.entry().unwrap(), &data(INPUT)).unwrap_err();
    assert_eq!((problem.code, problem.place.as_str()), (Code::FaultTooLarge, "input"));
}

#[test]
fn a_failure_is_what_the_program_handles() {
    let program = built("LET 1 CALL 0 0\nMATCH 1 1\n  ERR 2 1\n    RET REF 2\nRET REF 1");
    let given = |result: Result<Data, Failure>| {
        let mut run = run(&program, INPUT);
        assert!(matches!(run.step(), Step::Call(_)));
        give(run.pending().unwrap(), &result);
        assert!(matches!(run.step(), Step::Done(_)));
        run.outcome().unwrap().to_string()
    };
    let of_text = given(Ok("a".into()));
    assert_eq!(given(Err(Failure::text("a"))), of_text, "its text, as if it were the answer");
    assert_ne!(given(Err(Failure::TimedOut)), of_text);
    assert!(given(Err(Failure::TimedOut)).contains("no answer came in time"));
    let limit = Failure::Limit(Code::FaultTooLarge, "big".to_owned());
    assert!(given(Err(limit)).contains("too-large"), "it ends the run");
}

/// The calls of a run as a recording.
fn recorded(lines: &[String]) -> Recording {
    let mut reading = Reading::new("trace");
    for (number, line) in (1..).zip(lines) {
        reading.line(number, line.as_bytes(), true).unwrap();
    }
    reading.end().unwrap()
}

#[test]
fn a_replay_needs_the_same_calls_in_the_same_order() {
    let body =
        "LET 1 CALL 0 1 0 LIT 1 1\nLET 2 CALL 1 1 0 LIT 1 4\nMATCH 2 1\n  ERR 3 1\n    RET REF 3\nRET REF 1";
    let first = seen(body);
    assert_eq!(first.calls.len(), 2);
    let replayed = |calls: &[String], body: &str| {
        let program = built(body);
        let found =
            recorded(calls).replay(&program, program.entry().unwrap(), &data(INPUT), &Limits::default());
        found.map(|finished| finished.outcome().unwrap().to_string())
    };
    assert_eq!(replayed(&first.calls, body).unwrap(), first.outcome.unwrap());
    assert!(replayed(&first.calls, &body.replace("LIT 1 4", "LIT 1 5")).is_err(), "another argument");
    assert!(replayed(&first.calls[..1], body).is_err(), "a call is missing");
    assert!(replayed(&first.calls, "RET LIT 1 1").is_err(), "a call is left");
}
