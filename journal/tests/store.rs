//! The store: acknowledged records are there after it was closed; who may write, and what people decide.

#[path = "support/either.rs"]
mod either;
mod support;

use ilo_journal::{
    Answer, Claim, Decision, ErrorCode, FirstRecord, Key, Listed, Options, RecordedPolicy, RunLimits, State,
    Status, Store, Summary, To,
};
use std::fs;
use support::{CHANGES, Place, mine, new_run, record, start};

#[test]
fn a_run_is_there_when_the_journal_is_opened_again() {
    let place = Place::new();
    either::a_run_is_there_when_the_journal_is_opened_again(&|| place.open());
}

#[test]
fn the_same_name_program_and_input_are_the_same_run_and_others_are_refused() {
    let place = Place::new();
    either::the_same_name_program_and_input_are_the_same_run_and_others_are_refused(&|| place.open());
}

#[test]
fn a_run_has_one_owner_and_who_has_lost_it_writes_nothing() {
    let place = Place::new();
    either::a_run_has_one_owner_and_who_has_lost_it_writes_nothing(&|| place.open());
}

#[test]
fn a_record_that_nobody_waits_for_is_written_before_the_store_closes() {
    let place = Place::new();
    either::a_record_that_nobody_waits_for_is_written_before_the_store_closes(&|| place.open());
}

#[test]
fn a_journal_that_is_to_keep_calls_keeps_the_calls_of_runs() {
    let (place, other) = (Place::new(), Place::new());
    either::a_journal_that_is_to_keep_calls_keeps_the_calls_of_runs(&|| place.open(), &|| other.open());
}

#[test]
fn a_call_that_is_followed_by_a_read_is_kept_where_the_process_ends_then() {
    let place = Place::new();
    either::a_call_that_is_followed_by_a_read_is_kept_where_the_process_ends_then(&|| place.open());
}

#[test]
fn an_approval_lets_the_call_be_made_and_holds_for_that_call_and_policy_only() {
    let place = Place::new();
    let store = place.open();
    let (run, lease) = start(&store, None, To::Asking);
    drop(lease);
    let Claim::Waits { state: State::Asking, call: 1, wake: None } = store.claim(run).wait().unwrap() else {
        panic!("it waits for a person")
    };
    let refused = |call, decision: Decision| store.resolve(run, call, &decision, "ann").unwrap_err().code;
    assert_eq!(refused(Some(2), Decision::Approve), ErrorCode::OtherCall);
    assert_eq!(refused(None, Decision::Approve), ErrorCode::OtherCall);
    assert_eq!(refused(Some(1), Decision::Retry), ErrorCode::NotNow);
    assert_eq!(refused(Some(1), Decision::Answer("1".into())), ErrorCode::NotNow);
    assert_eq!(store.resolve(run, Some(1), &Decision::Approve, "ann").unwrap(), State::Ready);
    assert_eq!(refused(Some(1), Decision::Approve), ErrorCode::NotNow);
    let claimed = mine(&store, run);
    assert!(claimed.approved);
    let mut lease = claimed.lease;
    let stricter = RecordedPolicy { confirm: true, ..CHANGES };
    let asked = ilo_journal::Record { policy: stricter, ..record(To::Asking, 1) };
    store.record(&mut lease, &asked).unwrap().wait().unwrap();
    store.resolve(run, Some(1), &Decision::Approve, "bob").unwrap();
    let claimed = mine(&store, run);
    assert!(claimed.approved);
    let mut lease = claimed.lease;
    store.record(&mut lease, &record(To::Asking, 2)).unwrap().wait().unwrap();
    store.resolve(run, Some(2), &Decision::Deny("too much".into()), "bob").unwrap();
    let claimed = mine(&store, run);
    assert!(!claimed.approved);
    assert_eq!(claimed.answer, Some(Answer::failed("not approved by bob: too much")));
    let who: Vec<_> = store
        .decisions(run)
        .unwrap()
        .into_iter()
        .map(|decided| (decided.call, decided.what, decided.who))
        .collect();
    let row = |call, what: &str, who: &str| (call, what.to_owned(), who.to_owned());
    assert_eq!(who, [row(1, "approve", "ann"), row(1, "approve", "bob"), row(2, "deny", "bob")]);
}

#[test]
fn a_call_in_doubt_is_answered_failed_or_retried() {
    let place = Place::new();
    let store = place.open();
    let decisions = [
        (Decision::Answer("{\"id\":7}".into()), State::Answered, Some(Answer::Ok("{\"id\":7}".into()))),
        (Decision::Fail("no money".into()), State::Answered, Some(Answer::failed("no money"))),
        (Decision::Retry, State::Ready, None),
    ];
    for (decision, state, answer) in decisions {
        let (run, mut lease) = start(&store, None, To::Calling);
        store.record(&mut lease, &record(To::Doubt, 1)).unwrap().wait().unwrap();
        let wrong = store.resolve(run, Some(1), &Decision::Answer("{".into()), "ann").unwrap_err();
        assert_eq!(wrong.code, ErrorCode::Value);
        assert_eq!(store.resolve(run, Some(1), &decision, "ann").unwrap(), state);
        let claimed = mine(&store, run);
        assert_eq!((claimed.state, claimed.answer, claimed.tries), (state, answer, 0));
    }
}

#[test]
fn an_answer_that_would_end_its_run_is_refused_and_the_run_waits_as_before() {
    let place = Place::new();
    let store = place.open();
    let mut limits = RunLimits::default();
    (limits.machine.result_bytes, limits.machine.result_nodes, limits.machine.value_depth) = (40, 8, 4);
    let new = new_run(None, &limits);
    let started = store.start(&new, &FirstRecord::Call(record(To::Deferred, 1))).unwrap().wait().unwrap();
    let resolve = |decision: &Decision| store.resolve(started.run, Some(1), decision, "ann");
    let long = "x".repeat(40);
    for (json, why) in [
        (format!("\"{long}\""), "more than 40 bytes"),
        ("[1,2,3,4,5,6,7,8]".to_owned(), "more than 8 values"),
        ("[[[[[1]]]]]".to_owned(), "nested deeper than 4"),
        (r#"{"a":1,"a":2}"#.to_owned(), "a record with the key `a` twice"),
        ("99999999999999999999".to_owned(), "64 bits"),
    ] {
        let refused = resolve(&Decision::Answer(json.clone())).unwrap_err();
        assert_eq!(refused.code, ErrorCode::Value, "{json}");
        assert!(refused.to_string().contains(why), "{json}: {refused}");
    }
    assert_eq!(resolve(&Decision::Fail(long)).unwrap_err().code, ErrorCode::Value);
    let deferred =
        |summary: Summary| matches!(summary.at, ilo_journal::At::Live(live) if live.state == State::Deferred);
    assert!(deferred(store.show(started.run).unwrap()));
    assert_eq!(resolve(&Decision::Answer("[1,2]".into())).unwrap(), State::Answered);
}

#[test]
fn a_cancel_reaches_the_owner_at_its_next_record_and_frees_who_waits() {
    let place = Place::new();
    let store = place.open();
    let (run, mut lease) = start(&store, None, To::Calling);
    assert_eq!(store.resolve(run, None, &Decision::Cancel, "ann").unwrap(), State::Calling);
    assert!(store.record(&mut lease, &record(To::Calling, 2)).unwrap().wait().unwrap());
    store.release(&lease).wait().unwrap();
    assert!(mine(&store, run).cancel);
    let (run, _) = start(&store, None, To::Asking);
    assert_eq!(store.resolve(run, None, &Decision::Cancel, "ann").unwrap(), State::Ready);
    let claimed = mine(&store, run);
    assert!(claimed.cancel && !claimed.approved);
}

#[test]
fn a_limit_keeps_the_answer_and_higher_limits_bring_it_back() {
    let place = Place::new();
    let store = place.open();
    let (run, mut lease) = start(&store, None, To::Calling);
    let answer = Answer::Ok("5".into());
    let limited = ilo_journal::Record { answer: Some(&answer), ..record(To::Limited, 1) };
    store.record(&mut lease, &limited).unwrap().wait().unwrap();
    let mut limits = RunLimits::default();
    limits.machine.fuel = 123_456_789;
    let more = Decision::More(limits.clone());
    assert_eq!(store.resolve(run, None, &more, "ann").unwrap(), State::Answered);
    let claimed = mine(&store, run);
    assert_eq!((claimed.answer, claimed.limits), (Some(answer), limits.clone()));
    let (run, _) = start(&store, None, To::Limited);
    assert_eq!(store.resolve(run, None, &more, "ann").unwrap(), State::Ready);
    assert_eq!(mine(&store, run).state, State::Ready);
}

#[test]
fn a_run_sleeps_until_its_time() {
    let place = Place::new();
    let store = place.open();
    let (run, _) = start(&store, None, To::Sleeping { until: i64::MAX });
    assert!(matches!(
        store.claim(run).wait().unwrap(),
        Claim::Waits { state: State::Sleeping, wake: Some(_), .. }
    ));
    let (run, _) = start(&store, None, To::Sleeping { until: 1 });
    let claimed = mine(&store, run);
    assert_eq!((claimed.state, claimed.answer), (State::Answered, Some(Answer::Ok("null".into()))));
}

#[test]
fn an_exported_run_goes_on_in_one_journal_only_and_may_come_back() {
    let (here, there) = (Place::new(), Place::new());
    let (one, other) = (here.open(), there.open());
    start(&other, None, To::Ready);
    let (run, mut lease) = start(&one, Some("order"), To::Calling);
    assert_eq!(one.export(run).unwrap_err().code, ErrorCode::Owned);
    store_doubt(&one, &mut lease);
    let key = lease.key(1);
    let bytes = one.export(run).unwrap();
    // Nothing was written to a file yet: a second export gives the run again.
    let bytes_again = one.export(run).unwrap();
    assert_eq!(one.claim(run).wait().unwrap_err().code, ErrorCode::NotNow);
    assert_eq!(one.resolve(run, Some(1), &Decision::Retry, "ann").unwrap_err().code, ErrorCode::NotNow);
    let moved = other.import(&bytes_again).unwrap();
    assert_eq!(other.import(&bytes).unwrap_err().code, ErrorCode::AlreadyHere);
    other.resolve(moved, Some(1), &Decision::Retry, "ann").unwrap();
    assert_eq!(other.find("order").unwrap(), moved);
    let back = other.export(moved).unwrap();
    assert_eq!(one.import(&back).unwrap(), run);
    let claimed = mine(&one, run);
    assert_eq!((claimed.state, claimed.lease.key(1)), (State::Ready, key));
    assert_eq!(one.decisions(run).unwrap().len(), 1);
    for store in [one, other] {
        store.check().unwrap();
    }
}

#[allow(clippy::unwrap_used, reason = "a test's own helper")]
fn store_doubt(store: &Store, lease: &mut ilo_journal::Lease) {
    store.record(lease, &record(To::Doubt, 1)).unwrap().wait().unwrap();
}

#[test]
fn an_import_believes_nothing() {
    let (here, mut there) = (Place::new(), Place::new());
    let (one, mut other) = (here.open(), there.open());
    let (run, _) = start(&one, Some("order"), To::Asking);
    let bytes = one.export(run).unwrap();
    for wrong in [&b""[..], b"SQLite format 3\0", &bytes[..bytes.len() / 2], b"{\"run\":1}"] {
        assert!(other.import(wrong).is_err());
    }
    for at in (0..bytes.len()).step_by(307) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x41;
        if let Ok(imported) = other.import(&flipped) {
            // The byte was not read.
            assert!(matches!(
                other.claim(imported).wait().unwrap(),
                Claim::Waits { state: State::Asking, call: 1, .. }
            ));
            drop(other);
            drop(std::mem::replace(&mut there, Place::new()));
            other = there.open();
        }
    }
    let journal = fs::read(here.path()).unwrap();
    let error = other.import(&journal).unwrap_err();
    assert_eq!(error.code, ErrorCode::NotAJournal);
    assert!(error.message.contains("a journal, and not an exported run"), "{error}");
    assert!(other.import(&bytes).is_ok());
}

#[test]
fn secrets_are_in_no_file_when_there_is_a_key() {
    const CANARY: &str = "canary-5f3a9c";
    let place = Place::new();
    let options = Options { key: Some(Key::from_bytes([9; 32])), ..Options::default() };
    let store = place.try_open(&options).unwrap();
    let limits = RunLimits::default();
    let program = format!("program {CANARY}");
    let new = ilo_journal::NewRun {
        input: CANARY.as_bytes(),
        program: program.as_bytes(),
        ..new_run(None, &limits)
    };
    let secret = ilo_journal::Record {
        arguments: CANARY.as_bytes(),
        snapshot: CANARY.as_bytes(),
        ..record(To::Calling, 1)
    };
    let started = store.start(&new, &FirstRecord::Call(secret.clone())).unwrap().wait().unwrap();
    let mut lease = started.lease.unwrap();
    let answer = Answer::Ok(format!("\"{CANARY}\""));
    let limited = ilo_journal::Record { to: To::Limited, answer: Some(&answer), ..secret };
    store.record(&mut lease, &limited).unwrap().wait().unwrap();
    store.resolve(started.run, None, &Decision::Cancel, "ann").unwrap();
    let claimed = mine(&store, started.run);
    assert_eq!(claimed.answer, Some(answer));
    assert_eq!(claimed.snapshot, CANARY.as_bytes());
    let lease = claimed.lease;
    store.end(lease, format!("{{\"value\":\"{CANARY}\"}}").as_bytes()).unwrap().wait().unwrap();
    let (run, mut lease) = start(&store, None, To::Calling);
    store.record(&mut lease, &record(To::Doubt, 1)).unwrap().wait().unwrap();
    store.resolve(run, Some(1), &Decision::Fail(CANARY.into()), "ann").unwrap();
    let (moved, _) = start(&store, None, To::Asking);
    fs::write(place.folder.path().join("exported"), store.export(moved).unwrap()).unwrap();
    let mut files = 0;
    for entry in fs::read_dir(place.folder.path()).unwrap().flatten() {
        let Ok(bytes) = fs::read(entry.path()) else { continue };
        files += 1;
        assert!(!bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()), "{entry:?}");
    }
    assert!(files >= 3, "the journal, its log and the exported run");
    assert!(
        matches!(store.claim(started.run).wait().unwrap(), Claim::Ended { outcome } if outcome.ends_with(b"\"}"))
    );
    drop(store);
    for key in [None, Some(Key::from_bytes([8; 32]))] {
        let error = place.try_open(&Options { key, ..Options::default() }).unwrap_err();
        assert_eq!(error.code, ErrorCode::Key);
    }
    place.try_open(&options).unwrap().check().unwrap();
}

#[test]
fn a_key_for_a_journal_that_is_not_encrypted_is_refused() {
    let place = Place::new();
    drop(place.open());
    let options = Options { key: Some(Key::from_bytes([9; 32])), ..Options::default() };
    assert_eq!(place.try_open(&options).unwrap_err().code, ErrorCode::Key);
}

#[cfg(unix)]
#[test]
fn files_are_readable_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    for is_there in [false, true] {
        let place = Place::new();
        if is_there {
            fs::write(place.path(), "").unwrap();
            fs::set_permissions(place.path(), fs::Permissions::from_mode(0o644)).unwrap();
        }
        let store = place.open();
        start(&store, None, To::Calling);
        let mut found = Vec::new();
        for entry in fs::read_dir(place.folder.path()).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            found.push((name, entry.metadata().unwrap().permissions().mode() & 0o777));
        }
        found.sort();
        let expected = [("j", 0o600), ("j-shm", 0o600), ("j-wal", 0o600), ("j.owners", 0o700)];
        assert_eq!(found, expected.map(|(name, mode)| (name.to_owned(), mode)), "{is_there}");
    }
}

#[test]
fn runs_that_ended_long_ago_are_removed_and_others_stay() {
    let place = Place::new();
    let store = place.open();
    for _ in 0..3 {
        let (_, lease) = start(&store, None, To::Calling);
        store.end(lease, b"{}").unwrap().wait().unwrap();
    }
    let (waits, _) = start(&store, None, To::Asking);
    let (last, lease) = start(&store, None, To::Calling);
    store.end(lease, b"{}").unwrap().wait().unwrap();
    assert_eq!(store.prune(30).unwrap(), 0);
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert_eq!(store.prune(0).unwrap(), 3);
    let mut left = Vec::new();
    store
        .list(&Listed::default(), |summary| {
            left.push(summary.run);
            true
        })
        .unwrap();
    // The last one stays, so that its number is not given again.
    assert_eq!(left, [waits, last]);
    assert_eq!(start(&store, None, To::Ready).0.0, last.0 + 1);
    store.check().unwrap();
}

#[test]
fn an_owner_notices_what_people_write() {
    let place = Place::new();
    let (owner, person) = (place.open(), place.open());
    let (run, _) = start(&owner, None, To::Asking);
    let before = owner.version().unwrap();
    assert_eq!(owner.version().unwrap(), before);
    start(&owner, None, To::Ready);
    assert_eq!(owner.version().unwrap(), before, "its own writes do not count");
    person.resolve(run, Some(1), &Decision::Approve, "ann").unwrap();
    assert_ne!(owner.version().unwrap(), before);
}

#[test]
fn what_the_state_does_not_allow_is_refused_before_it_is_queued() {
    let place = Place::new();
    let store = place.open();
    let (_, mut lease) = start(&store, None, To::Calling);
    let refused =
        |lease: &mut ilo_journal::Lease, to, call| store.record(lease, &record(to, call)).unwrap_err().code;
    assert_eq!(refused(&mut lease, To::Asking, 1), ErrorCode::NotNow);
    assert_eq!(refused(&mut lease, To::Calling, 0), ErrorCode::NotNow);
    store.record(&mut lease, &record(To::Doubt, 1)).unwrap().wait().unwrap();
    assert_eq!(refused(&mut lease, To::Calling, 2), ErrorCode::NotNow);
    let limits = RunLimits::default();
    let begun = store.start(&new_run(None, &limits), &FirstRecord::Call(record(To::Doubt, 1)));
    assert_eq!(begun.unwrap_err().code, ErrorCode::Value);
    assert_eq!(store.end(lease, b"{}").unwrap_err().code, ErrorCode::NotNow);
}

#[test]
fn runs_are_listed_by_where_they_are_and_the_last_of_them_alone() {
    let place = Place::new();
    let store = place.open();
    let listed = |status: Option<&str>, newest| {
        let status = status.map(|name| Status::named(name).unwrap());
        let mut found = Vec::new();
        let each = |summary: Summary| {
            found.push(summary.run.0);
            true
        };
        store.list(&Listed { status, newest, ..Listed::default() }, each).unwrap();
        found
    };
    // Runs 1, 4, 7, … ask; 2, 5, 8, … are in doubt; 3, 6, 9, … have ended.
    for _ in 0..340 {
        start(&store, None, To::Asking);
        let (_, mut lease) = start(&store, None, To::Calling);
        store.record(&mut lease, &record(To::Doubt, 1)).unwrap().wait().unwrap();
        let (_, lease) = start(&store, None, To::Calling);
        store.end(lease, b"{}").unwrap().wait().unwrap();
    }
    store.export(ilo_journal::RunId(1)).unwrap();
    store.block(start(&store, None, To::Ready).0, "a tool is missing").unwrap();
    let every = |first: i64| (first..=1020).step_by(3).collect::<Vec<_>>();
    assert_eq!(listed(None, None), (1..=1021).collect::<Vec<_>>());
    assert_eq!(listed(Some("asking"), None), every(4));
    assert_eq!(listed(Some("doubt"), None), every(2));
    assert_eq!(listed(Some("ended"), None), every(3));
    assert_eq!(listed(Some("exported"), None), [1]);
    assert_eq!(listed(Some("sleeping"), None), [0; 0]);
    assert_eq!(listed(None, Some(3)), [1019, 1020, 1021]);
    assert_eq!(listed(Some("doubt"), Some(2)), [1016, 1019]);
    assert_eq!(listed(Some("ended"), Some(2)), [1017, 1020]);
    assert_eq!(listed(Some("doubt"), Some(1_000)), every(2));
    assert_eq!(listed(None, Some(0)), [0; 0]);
    let expected = [("asking", 339), ("doubt", 340), ("ended", 340), ("exported", 1), ("ready", 1)];
    assert_eq!(store.count().unwrap(), expected.into());
}

/// The text of the table in version 1, as that release wrote it.
const RUN_1: &str = "CREATE TABLE run(id INTEGER PRIMARY KEY, key BLOB NOT NULL, name TEXT UNIQUE, input INTEGER NOT NULL, \
                     program BLOB NOT NULL, function TEXT NOT NULL, limits BLOB NOT NULL, started INTEGER NOT NULL, \
                     ended INTEGER, outcome BLOB, sum INTEGER NOT NULL)";

#[test]
fn a_journal_of_version_1_is_read_and_its_runs_belong_to_nobody() {
    let place = Place::new();
    let store = place.open();
    let (run, lease) = start(&store, Some("old"), To::Calling);
    let exported = {
        let (other, lease) = start(&store, None, To::Asking);
        store.release(&lease).wait().unwrap();
        store.export(other).unwrap()
    };
    store.release(&lease).wait().unwrap();
    drop(store);
    let older = "ALTER TABLE run DROP COLUMN subject; PRAGMA user_version = 1";
    let other = rusqlite::Connection::open(place.path()).unwrap();
    other.execute_batch(older).unwrap();
    let text = "SELECT sql FROM sqlite_schema WHERE name = 'run'";
    let table: String = other.query_row(text, [], |row| row.get(0)).unwrap();
    assert_eq!(table, RUN_1);
    drop(other);
    let store = place.open();
    assert_eq!(store.show(run).unwrap().subject, None);
    assert_eq!(mine(&store, run).call, 1);
    let limits = RunLimits::default();
    let new = ilo_journal::NewRun { subject: Some("ada"), ..new_run(None, &limits) };
    let started = store.start(&new, &FirstRecord::Call(record(To::Asking, 1))).unwrap().wait().unwrap();
    assert_eq!(store.show(started.run).unwrap().subject.as_deref(), Some("ada"));
    // An exported run of version 1 too.
    let file = place.folder.path().join("exported");
    std::fs::write(&file, exported).unwrap();
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch(older).unwrap();
    drop(other);
    let elsewhere = Place::new();
    let moved = elsewhere.open().import(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(elsewhere.open().show(moved).unwrap().subject, None);
}

#[test]
fn a_changed_subject_is_damage() {
    let place = Place::new();
    let store = place.open();
    let limits = RunLimits::default();
    let new = ilo_journal::NewRun { subject: Some("ada"), ..new_run(None, &limits) };
    let started = store.start(&new, &FirstRecord::Call(record(To::Asking, 1))).unwrap().wait().unwrap();
    drop(store);
    for statement in ["UPDATE run SET subject = 'eve'", "UPDATE run SET subject = NULL"] {
        let other = rusqlite::Connection::open(place.path()).unwrap();
        other.execute_batch(statement).unwrap();
        assert_eq!(place.open().show(started.run).unwrap_err().code, ErrorCode::Damaged, "{statement}");
    }
}

#[test]
fn the_bytes_of_a_subject_are_those_of_its_runs_and_of_each_program_once() {
    let place = Place::new();
    either::the_bytes_of_a_subject_are_those_of_its_runs_and_of_each_program_once(&place.open());
}
