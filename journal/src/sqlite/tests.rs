//! Transactions on a database in memory, with a clock of their own.

use super::{STATEMENTS, Tables};
use crate::answer::Answer;
use crate::backend::{Alive, Exported, Filter, Outcome, Prepared, Reads as _};
use crate::cipher::Cipher;
use crate::decide;
use crate::error::{ErrorCode, Result};
use crate::limits::RunLimits;
use crate::model::{Decision, FirstRecord, NewRun, Record, To};
use crate::policy::{Effect, RecordedPolicy};
use crate::row::{DecisionRow, EXPECTS, Live};
use crate::sqlite::portable;
use crate::sqlite::schema;
use crate::state::State;
use rusqlite::Connection;
use std::cell::Cell;
use std::collections::BTreeMap;

thread_local! {
    static NOW: Cell<i64> = const { Cell::new(0) };
}

struct Nobody;

impl Alive for Nobody {
    fn lives(&self, _id: i64) -> Result<bool> {
        Ok(false)
    }
}

/// A journal with a run that was put to sleep at 10,000 until 15,000.
fn asleep() -> (Tables, Cipher, i64) {
    let (connection, cipher) = (Connection::open_in_memory().unwrap(), Cipher::new(None));
    schema::create(&connection, &cipher).unwrap();
    let tables = Tables { connection, statements: STATEMENTS, now: || NOW.get() };
    NOW.set(10_000);
    let limits = RunLimits::default();
    let new = NewRun { name: None, input: b"", program: b"p", function: "f", limits: &limits, subject: None };
    let first = Record {
        to: To::Sleeping { until: 15_000 },
        call: 1,
        tool: "wait",
        policy: RecordedPolicy::of(Effect::Reads),
        arguments: b"{}",
        active_ms: 0,
        snapshot: b"s",
        answer: None,
        expects: None,
    };
    let prepared = Prepared::new(&cipher, &new, &FirstRecord::Call(first), 1, NOW.get()).unwrap();
    let run = tables.start(&prepared).unwrap().run.0;
    (tables, cipher, run)
}

#[allow(clippy::option_option, reason = "whether it is taken, and what answer it has")]
fn claim(tables: &Tables, cipher: &Cipher, run: i64) -> Option<Option<Answer>> {
    let decide = |rows, alive: &dyn Alive, now| decide::claim(cipher, 2, rows, alive, now);
    match tables.change(&Nobody, run, decide).unwrap() {
        Outcome::Claimed { live, .. } => Some(live.answer.map(|answer| Answer::from_bytes(&answer).unwrap())),
        Outcome::Waits { state, .. } => {
            assert_eq!(state, State::Sleeping);
            None
        }
        other => panic!("{other:?}"),
    }
}

fn block(tables: &Tables, cipher: &Cipher, run: i64, why: &str) {
    let decide = |rows, alive: &dyn Alive, now| decide::block(cipher, why, rows, alive, now);
    tables.change(&Nobody, run, decide).unwrap();
}

#[test]
fn a_run_sleeps_until_its_time_by_a_clock_that_goes_on() {
    let (tables, cipher, run) = asleep();
    NOW.set(14_999);
    assert!(tables.connection.continuable(NOW.get(), 0, 9).unwrap().is_empty());
    assert_eq!(claim(&tables, &cipher, run), None);
    NOW.set(15_000);
    assert_eq!(tables.connection.continuable(NOW.get(), 0, 9).unwrap(), [run]);
    assert_eq!(claim(&tables, &cipher, run), Some(Some(Answer::Ok("null".to_owned()))));
}

#[test]
fn a_clock_that_was_set_back_lets_a_run_sleep_its_time_once_more_at_most() {
    let (tables, cipher, run) = asleep();
    NOW.set(2_000);
    assert_eq!(tables.connection.continuable(NOW.get(), 0, 9).unwrap(), [run], "it is looked at");
    assert_eq!(claim(&tables, &cipher, run), None);
    assert!(tables.connection.continuable(NOW.get(), 0, 9).unwrap().is_empty());
    NOW.set(6_999);
    assert_eq!(claim(&tables, &cipher, run), None);
    NOW.set(7_000);
    assert!(claim(&tables, &cipher, run).is_some(), "not only at 15,000");
}

#[test]
fn a_run_that_is_cancelled_asleep_goes_on_at_once() {
    let (tables, cipher, run) = asleep();
    let decide = |rows, alive: &dyn Alive, now| {
        decide::resolve(&cipher, (None, &Decision::Cancel, "ann"), rows, alive, now)
    };
    tables.change(&Nobody, run, decide).unwrap();
    assert_eq!(claim(&tables, &cipher, run), Some(None), "its call has no answer: it fails as cancelled");
}

#[test]
fn a_setting_that_was_damaged_is_no_setting() {
    let (tables, ..) = asleep();
    assert_eq!(tables.connection.setting("retention").unwrap(), None);
    tables.set("retention", 90).unwrap();
    assert_eq!(tables.connection.setting("retention").unwrap(), Some(90));
    tables.connection.execute("UPDATE setting SET value = x'00000000'", []).unwrap();
    assert!(tables.connection.setting("retention").is_err());
}

#[test]
fn a_run_whose_tools_are_missing_when_it_wakes_is_blocked_and_has_slept() {
    let (tables, cipher, run) = asleep();
    block(&tables, &cipher, run, "missing-tool: x");
    assert_eq!(claim(&tables, &cipher, run), None, "it is not time");
    NOW.set(15_000);
    block(&tables, &cipher, run, "missing-tool: x");
    block(&tables, &cipher, run, "missing-tool: x");
    let (row, live) = tables.connection.both(run).unwrap();
    let live = live.unwrap();
    assert_eq!((live.state, live.wake), (State::Blocked(crate::state::Before::Answered), None));
    let decided = tables.connection.decisions(run, Some(live.call)).unwrap();
    let why = decide::blocked(&cipher, (&row, &live), &decided).unwrap();
    assert_eq!(why.as_deref(), Some("missing-tool: x"));
    assert_eq!(tables.connection.decisions(run, None).unwrap().len(), 1, "the same is recorded once");
    assert_eq!(claim(&tables, &cipher, run), Some(Some(Answer::Ok("null".to_owned()))));
}

#[test]
fn an_answer_of_an_exported_run_is_compared_with_its_schema() {
    let (tables, cipher, id) = asleep();
    let page = tables.connection.page(&Filter::default(), 0, 1).unwrap();
    let (run, live) = page.into_iter().next().unwrap().1.unwrap();
    let schema = br#"{"type":"object","properties":{"paid":{"type":"boolean"}},"required":["paid"]}"#;
    let expects = DecisionRow {
        run: id,
        call: 1,
        at: 10_000,
        tool: "wait".to_owned(),
        what: EXPECTS.to_owned(),
        who: String::new(),
        detail: schema.to_vec(),
    };
    for (answer, fits) in [
        (r#"{"paid":true}"#, true),
        (r#"{"paid":"no"}"#, false),
        ("{}", false),
        (r#""yes""#, false),
        ("null", false),
    ] {
        let answer = Answer::Ok(answer.to_owned()).to_bytes();
        let live = Live { state: State::Answered, wake: None, answer: Some(answer), ..live.clone().unwrap() };
        let exported = Exported {
            run: run.clone(),
            live: Some(live),
            decisions: vec![expects.clone()],
            program: tables.connection.program(&run.program).unwrap(),
            metadata: BTreeMap::new(),
            settings: Vec::new(),
        };
        let read = portable::read(&portable::write(&exported).unwrap(), &cipher);
        assert_eq!(read.is_ok(), fits, "{read:?}");
        assert!(fits || read.unwrap_err().code == ErrorCode::Value);
    }
}
