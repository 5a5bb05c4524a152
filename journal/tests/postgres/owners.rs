//! Owners: who is gone, what it may still say, and a server that is away.

use super::either::{begin, next, policy_of};
use super::runs::open;
use super::server::Server;
use super::shared;
use super::support::{mine, record, start};
use ilo_drive::data::Data;
use ilo_drive::failure::Failure;
use ilo_drive::give;
use ilo_drive::policy::Policy;
use ilo_journal::{
    Answer, At, Decision, Due, Error, ErrorCode, Permit, RunId, Session, State, Store, Taken, To,
};
use ilo_vm::{Limits, Program, Run};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Marks all owners of a schema as gone, as others do after a lease without a beat.
fn forget(server: &Server, schema: &str) {
    server.sql(&format!("UPDATE {schema}.owner SET gone = true"));
}

fn was(store: &Store, run: RunId) -> Option<String> {
    let At::Live(live) = store.show(run).unwrap().at else { panic!("it has not ended") };
    live.was
}

#[test]
fn a_call_of_an_owner_that_may_live_is_retried_only_once_that_has_ended() {
    let Some(server) = shared() else { return };
    let path = server.address_of("owners_1", "&lease=60");
    let slow = open(&path);
    let (run, mut lease) = start(&slow, None, To::Calling);
    forget(server, "owners_1");
    let other = open(&path);
    let claimed = mine(&other, run);
    assert_eq!((claimed.state, claimed.tries), (State::Calling, 1));
    let mut taken = claimed.lease;
    assert_eq!(
        slow.record(&mut lease, &record(To::Calling, 2)).unwrap().wait().unwrap_err().code,
        ErrorCode::Lost
    );
    other.record(&mut taken, &record(To::Doubt, 1)).unwrap().wait().unwrap();
    let shown = was(&other, run).unwrap();
    assert!(shown.starts_with(&format!("process {}", std::process::id())), "{shown}");
    let retry = || other.resolve(run, Some(1), &Decision::Retry, "ann");
    let refused = retry().unwrap_err();
    assert_eq!(refused.code, ErrorCode::OwnerMayLive);
    assert!(refused.message.contains(&shown), "{refused}");
    other.owner_ended(run, "ann").unwrap();
    assert_eq!(was(&other, run), None);
    assert_eq!(retry().unwrap(), State::Ready);
    let told: Vec<String> = other.decisions(run).unwrap().into_iter().map(|row| row.what).collect();
    assert_eq!(told, ["owner-ended", "retry"]);
}

#[test]
fn a_run_is_exported_only_once_nobody_can_be_making_its_call() {
    let Some(server) = shared() else { return };
    let path = server.address_of("owners_export", "&lease=60");
    let slow = open(&path);
    let (begun, _lease) = start(&slow, None, To::Calling);
    let (ready, _lease) = start(&slow, None, To::Ready);
    let other = open(&path);
    assert_eq!(other.owner_ended(begun, "ann").unwrap_err().code, ErrorCode::Owned);
    assert_eq!(other.export(begun).unwrap_err().code, ErrorCode::Owned);
    forget(server, "owners_export");
    let other = open(&path);
    other.export(ready).unwrap();
    assert_eq!(other.export(begun).unwrap_err().code, ErrorCode::OwnerMayLive);
    other.owner_ended(begun, "ann").unwrap();
    assert_eq!(other.show(begun).unwrap().status().name(), "doubt");
    other.export(begun).unwrap();
}

#[test]
fn an_owner_that_has_left_holds_nothing_up() {
    let Some(server) = shared() else { return };
    let path = server.address_of("owners_2", "&lease=60");
    let slow = open(&path);
    let (run, lease) = start(&slow, None, To::Calling);
    forget(server, "owners_2");
    let other = open(&path);
    let mut taken = mine(&other, run).lease;
    other.record(&mut taken, &record(To::Doubt, 1)).unwrap().wait().unwrap();
    drop((slow, lease));
    assert_eq!(other.resolve(run, Some(1), &Decision::Retry, "ann").unwrap(), State::Ready);
}

#[test]
fn who_was_taken_for_dead_goes_on_as_another_owner() {
    let Some(server) = shared() else { return };
    let path = server.address_of("owners_3", "&lease=1");
    let store = open(&path);
    let (run, _lease) = start(&store, None, To::Ready);
    assert_eq!(store.claim(run).wait().unwrap_err().code, ErrorCode::Owned);
    forget(server, "owners_3");
    let begun = Instant::now();
    while server.sql("SELECT count(*) FROM owners_3.owner WHERE NOT gone") == "0" {
        assert!(begun.elapsed() < Duration::from_secs(10), "it does not join again");
    }
    assert_eq!(store.continuable().unwrap(), [run]);
    mine(&store, run);
}

#[test]
fn an_owner_that_does_not_beat_is_gone_after_a_lease_and_its_runs_are_found() {
    let Some(server) = shared() else { return };
    let path = server.address_of("owners_4", "&lease=1");
    let store = open(&path);
    let (run, lease) = start(&store, None, To::Calling);
    // An owner of another process that was killed.
    server.sql("INSERT INTO owners_4.owner VALUES (7, 3, false, false, 'process 1 on x', now())");
    server.sql("UPDATE owners_4.live SET owner = 7");
    let begun = Instant::now();
    let other = open(&path);
    assert_eq!(other.continuable().unwrap(), [run], "it has waited until that was sure");
    assert!(begun.elapsed() >= Duration::from_millis(900), "{:?}", begun.elapsed());
    assert_eq!(mine(&other, run).state, State::Calling);
    drop(lease);
}

#[test]
fn clocks_of_processes_do_not_matter() {
    let Some(server) = shared() else { return };
    let store = open(&server.address_of("owners_5", ""));
    let (run, _) = start(&store, None, To::Ready);
    let database: i64 = server.sql("SELECT (extract(epoch FROM now()) * 1000)::int8").parse().unwrap();
    assert!((store.show(run).unwrap().started - database).abs() < 60_000);
}

#[test]
fn writes_wait_for_a_server_that_was_killed_and_nobody_loses_a_run() {
    let Some(server) = Server::start() else { return };
    // Longer than a lease; `ILO_AWAY` is another number of leases.
    let away = std::env::var("ILO_AWAY").map_or(2.5, |leases| leases.parse().unwrap());
    let path = server.address("&lease=1");
    let (store, other) = (open(&path), open(&path));
    let (run, mut lease) = start(&store, None, To::Calling);
    server.kill();
    let ticket = store.record(&mut lease, &record(To::Calling, 2)).unwrap();
    std::thread::sleep(Duration::from_secs_f64(away));
    server.up();
    assert!(!ticket.wait().unwrap());
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(other.claim(run).wait().unwrap_err().code, ErrorCode::Owned, "both were away");
    for call in 3..20 {
        if call % 5 == 0 {
            server.sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'ilo'");
        }
        store.record(&mut lease, &record(To::Calling, call)).unwrap().wait().unwrap();
    }
    server.down("immediate");
    server.up();
    store.end(lease, b"{}").unwrap().wait().unwrap();
    assert!(matches!(other.show(run).unwrap().at, At::Ended { .. }));
}

/// What is due: the call that a run waits for.
fn due<'c>(run: &'c Run, (tool, arguments, number): &'c (String, Data, u64), policy: &'c Policy) -> Due<'c> {
    Due { run, tool, policy: Some(policy), arguments, number: *number, rollback: false, expects: None }
}

/// Asks for the next call of a run. Returns its number and what is permitted; the call has its answer if the
/// caller gives one.
fn ask(
    session: &mut Session,
    run: &mut Run,
    answer: Option<&std::result::Result<Data, Failure>>,
) -> Result<Permit, Error> {
    let call = next(run).unwrap();
    let policy = policy_of(&call.0);
    let due = due(run, &call, &policy);
    let permit = session.before(&due)?;
    if let (Some(answer), Permit::Call | Permit::CallWithKey { .. }) = (answer, &permit) {
        assert!(matches!(session.after(&due, answer).unwrap(), Taken::GoOn));
        give(run.pending().unwrap(), answer);
    }
    Ok(permit)
}

/// A session whose run has made its read and may make its first payment, and the number of the run.
fn about_to_pay(store: &Arc<Store>) -> (Session, Run, RunId) {
    let (mut session, mut run) = begin(store);
    ask(&mut session, &mut run, Some(&Ok(Data::from(1)))).unwrap();
    assert!(matches!(ask(&mut session, &mut run, None).unwrap(), Permit::CallWithKey { .. }));
    let id = session.run().unwrap();
    (session, run, id)
}

/// Takes a run over, and continues it up to its call.
fn taken_over(store: &Arc<Store>, run: RunId) -> Permit {
    let claimed = *mine(store, run);
    let program = Program::load(&claimed.program).unwrap();
    let mut machine = Run::from_snapshot(&program, &claimed.snapshot, Limits::default()).unwrap();
    ask(&mut Session::resumed(store.clone(), claimed), &mut machine, None).unwrap()
}

/// What was decided on a run, and by whom, after what the journal itself keeps.
fn decided(store: &Store, run: RunId) -> Vec<(String, String)> {
    store.decisions(run).unwrap().into_iter().map(|row| (row.what, row.who)).collect()
}

#[test]
fn an_owner_that_was_slow_says_late_what_became_of_its_call_and_the_doubt_is_settled() {
    let Some(server) = shared() else { return };
    let path = server.address_of("owners_6", "&lease=60");
    let made: [(std::result::Result<Data, Failure>, &str, Answer); 2] = [
        (Ok(Data::from("p7")), "answer", Answer::Ok("\"p7\"".to_owned())),
        (Err(Failure::text("no money".to_owned())), "fail", Answer::Failed("\"no money\"".to_owned())),
    ];
    for (made, what, answer) in made {
        let slow = Arc::new(open(&path));
        let (mut session, mut run, id) = about_to_pay(&slow);
        forget(server, "owners_6");
        let other = Arc::new(open(&path));
        assert!(matches!(taken_over(&other, id), Permit::Suspend));
        let who = was(&other, id).unwrap();
        let state = |store: &Store| store.show(id).unwrap().status().name();
        assert_eq!(state(&other), "doubt");
        // The answer comes to the slow owner, which goes on.
        answered(&mut session, &mut run, &made);
        let lost = match next(&mut run) {
            Some(_) => ask(&mut session, &mut run, None).map(drop),
            None => session.end(&run),
        };
        assert_eq!(lost.unwrap_err().code, ErrorCode::Lost);
        assert_eq!((state(&other), was(&other, id)), ("answered", None));
        assert_eq!(decided(&other, id), [(what.to_owned(), who)]);
        assert_eq!(mine(&other, id).answer, Some(answer));
    }
}

/// The answer of the payment comes, and the run goes on.
fn answered(session: &mut Session, run: &mut Run, made: &std::result::Result<Data, Failure>) {
    let call = next(run).unwrap();
    let policy = policy_of(&call.0);
    let due = due(run, &call, &policy);
    session.after(&due, made).unwrap();
    give(run.pending().unwrap(), made);
}

#[test]
fn an_answer_that_comes_before_anybody_has_taken_the_run_over_is_kept() {
    let Some(server) = shared() else { return };
    let path = server.address_of("owners_9", "&lease=60");
    for flushed in [true, false] {
        let slow = Arc::new(open(&path));
        let (mut session, mut run, id) = about_to_pay(&slow);
        forget(server, "owners_9");
        answered(&mut session, &mut run, &Ok(Data::from("p7")));
        if flushed {
            session.flush().unwrap();
        }
        let (other, begun) = (Arc::new(open(&path)), Instant::now());
        // Nobody waits for it otherwise, and it is there soon.
        while other.show(id).unwrap().status().name() != "answered" {
            assert!(begun.elapsed() < Duration::from_secs(10), "it is lost");
        }
        let claimed = mine(&other, id);
        assert_eq!((claimed.state, claimed.answer), (State::Answered, Some(Answer::Ok("\"p7\"".to_owned()))));
        assert_eq!(decided(&other, id), []);
        assert_eq!(ask(&mut session, &mut run, None).map(drop).unwrap_err().code, ErrorCode::Lost);
        assert_eq!(other.show(id).unwrap().status().name(), "answered", "its owner goes on with it");
    }
}

#[test]
fn an_answer_that_comes_before_the_taker_has_recorded_its_doubt_leaves_none() {
    let Some(server) = shared() else { return };
    let path = server.address_of("owners_10", "&lease=60");
    let slow = Arc::new(open(&path));
    let (mut session, mut run, id) = about_to_pay(&slow);
    forget(server, "owners_10");
    let other = Arc::new(open(&path));
    let claimed = mine(&other, id);
    assert_eq!(claimed.state, State::Calling);
    answered(&mut session, &mut run, &Ok(Data::from("p7")));
    assert_eq!(ask(&mut session, &mut run, None).map(drop).unwrap_err().code, ErrorCode::Lost);
    let mut lease = claimed.lease;
    let doubt = other.record(&mut lease, &record(To::Doubt, 2)).unwrap().wait();
    assert_eq!(doubt.unwrap_err().code, ErrorCode::Lost, "there is nothing to doubt");
    assert_eq!(mine(&other, id).answer, Some(Answer::Ok("\"p7\"".to_owned())));
}

/// Waits until a process that was taken for dead has another id.
fn joined_again(server: &Server, schema: &str) {
    let begun = Instant::now();
    while server.sql(&format!("SELECT count(*) FROM {schema}.owner WHERE NOT gone")) == "0" {
        assert!(begun.elapsed() < Duration::from_secs(20), "it does not join again");
    }
}

#[test]
fn a_call_that_was_not_made_is_ready_for_others_where_nobody_had_taken_the_run_over() {
    let Some(server) = shared() else { return };
    let path = server.address_of("owners_11", "&lease=2");
    let slow = Arc::new(open(&path));
    let (mut session, mut run) = begin(&slow);
    let read = Ok(Data::from(1));
    ask(&mut session, &mut run, Some(&read)).unwrap();
    assert!(matches!(ask(&mut session, &mut run, None).unwrap(), Permit::CallWithKey { .. }));
    answered(&mut session, &mut run, &Ok(Data::from("p7")));
    forget(server, "owners_11");
    joined_again(server, "owners_11");
    // Its record is written, and its owner is no more.
    assert_eq!(ask(&mut session, &mut run, None).map(drop).unwrap_err().code, ErrorCode::Lost);
    let id = session.run().unwrap();
    assert_eq!(slow.show(id).unwrap().status().name(), "ready");
    let said = decided(&slow, id);
    assert!(matches!(said.as_slice(), [(what, _)] if what == "retry"), "{said:?}");
    session.release();
    let other = Arc::new(open(&path));
    assert_eq!(other.continuable().unwrap(), [id]);
    assert!(matches!(taken_over(&other, id), Permit::CallWithKey { .. }), "it is in no doubt");
}

#[test]
fn a_late_word_and_a_taker_at_the_same_time_leave_no_doubt() {
    const RUNS: usize = 60;
    let Some(server) = shared() else { return };
    let path = server.address_of("owners_12", "&lease=2");
    let slow = Arc::new(open(&path));
    let mut held: Vec<_> = std::iter::repeat_with(|| about_to_pay(&slow)).take(RUNS).collect();
    let ids: Vec<RunId> = held.iter().map(|(.., id)| *id).collect();
    forget(server, "owners_12");
    joined_again(server, "owners_12");
    let other = Arc::new(open(&path));
    let taken = std::thread::scope(|scope| {
        let taker = scope.spawn(|| ids.iter().filter(|id| taken(&other, **id)).count());
        for (session, run, _) in &mut held {
            answered(session, run, &Ok(Data::from("p7")));
            // The next payment is not made: its owner is no more.
            assert_eq!(ask(session, run, None).map(drop).unwrap_err().code, ErrorCode::Lost);
            session.release();
        }
        taker.join().unwrap()
    });
    for id in &ids {
        let found = other.show(*id).unwrap().status().name();
        assert!(["ready", "answered", "calling"].contains(&found), "{found}");
    }
    // What the taker had is over with it, and each run goes on with the answer that came late, or after it.
    let paid = ids.iter().filter(|id| {
        let claimed = match other.claim(**id).wait() {
            Ok(ilo_journal::Claim::Mine(claimed)) => claimed,
            Ok(_) => panic!("it waits"),
            Err(error) => {
                assert_eq!(error.code, ErrorCode::Owned, "the taker has it");
                return false;
            }
        };
        assert!(claimed.call == 3 || claimed.answer.is_some(), "the first payment has its answer");
        true
    });
    assert_eq!(paid.count() + taken, RUNS);
}

/// Takes a run over as soon as somebody may, and goes on with it up to its next call. Whether it keeps it.
fn taken(store: &Arc<Store>, run: RunId) -> bool {
    let Ok(ilo_journal::Claim::Mine(claimed)) = store.claim(run).wait() else { panic!("it is free") };
    let program = Program::load(&claimed.program).unwrap();
    let mut machine = Run::from_snapshot(&program, &claimed.snapshot, Limits::default()).unwrap();
    let mut session = Session::resumed(store.clone(), *claimed);
    match ask(&mut session, &mut machine, None) {
        Ok(Permit::Suspend) => false,
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.code, ErrorCode::Lost, "{error}");
            false
        }
    }
}

#[test]
fn a_process_that_had_several_ids_says_of_each_that_it_has_ended() {
    let Some(server) = shared() else { return };
    let path = server.address_of("owners_13", "&lease=1");
    let store = open(&path);
    forget(server, "owners_13");
    joined_again(server, "owners_13");
    drop(store);
    assert_eq!(server.sql("SELECT string_agg(DISTINCT ended::text, ' ') FROM owners_13.owner"), "true");
}

/// Beats wait as long as this lasts, and what is given is done at its end.
fn without_beats(server: &Server, schema: &str, then: &str) {
    server.sql(&format!(
        "BEGIN; LOCK TABLE {schema}.owner IN EXCLUSIVE MODE; SELECT pg_sleep(4); {then}; COMMIT"
    ));
}

/// Waits until no beat can come, and then longer than two thirds of a lease of 3 s.
fn until_unsure(server: &Server, schema: &str) {
    let held = format!(
        "SELECT count(*) FROM pg_locks WHERE relation = '{schema}.owner'::regclass AND mode = 'ExclusiveLock' AND granted"
    );
    while server.sql(&held) != "1" {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(2200));
}

#[test]
fn a_call_waits_until_its_owner_is_sure_to_be_one_and_is_not_made_otherwise() {
    let Some(server) = shared() else { return };
    let path = server.address_of("owners_7", "&lease=3");
    let store = Arc::new(open(&path));
    let ready = || {
        let (mut session, mut run) = begin(&store);
        ask(&mut session, &mut run, Some(&Ok(Data::from(1)))).unwrap();
        (session, run)
    };
    let (mut session, mut run) = ready();
    std::thread::scope(|scope| {
        scope.spawn(|| without_beats(server, "owners_7", "SELECT 1"));
        until_unsure(server, "owners_7");
        let begun = Instant::now();
        assert!(matches!(ask(&mut session, &mut run, None).unwrap(), Permit::CallWithKey { .. }));
        assert!(begun.elapsed() > Duration::from_millis(300), "{:?}", begun.elapsed());
    });
    let (mut session, mut run) = ready();
    // A doubt, whose number of a state is that which the other owner writes.
    let (doubt, mut lease) = start(&store, None, To::Calling);
    store.record(&mut lease, &record(To::Doubt, 1)).unwrap().wait().unwrap();
    let then = format!(
        "UPDATE owners_7.owner SET gone = true; UPDATE owners_7.live SET was = owner, owner = NULL, epoch = epoch + 1, \
         state = (SELECT state FROM owners_7.live WHERE run = {0}) WHERE run <> {0}",
        doubt.0
    );
    let id = std::thread::scope(|scope| {
        scope.spawn(|| without_beats(server, "owners_7", &then));
        until_unsure(server, "owners_7");
        let lost = ask(&mut session, &mut run, None).unwrap_err();
        assert_eq!(lost.code, ErrorCode::Lost, "{lost}");
        session.run().unwrap()
    });
    // It has said that it has not made the call: the run is ready for another.
    assert_eq!(store.show(id).unwrap().status().name(), "ready");
    let who = format!("process {}", std::process::id());
    let decided = decided(&store, id);
    assert!(
        matches!(decided.as_slice(), [(what, by)] if what == "retry" && by.starts_with(&who)),
        "{decided:?}"
    );
}

#[test]
fn rows_of_old_owners_are_removed_unless_a_run_names_them() {
    let Some(server) = shared() else { return };
    let path = server.address_of("owners_8", "&lease=1");
    let (run, _lease) = start(&open(&path), None, To::Calling);
    server.sql(
        "INSERT INTO owners_8.owner VALUES (1, 1, true, true, 'old', now() - interval '25 hours'), \
         (2, 1, true, false, 'named', now() - interval '25 hours'), (3, 1, true, true, 'new', now() - interval '23 hours')",
    );
    server.sql(&format!("UPDATE owners_8.live SET was = 2 WHERE run = {}", run.0));
    let _store = open(&path);
    let left = || server.sql("SELECT string_agg(who, ' ' ORDER BY id) FROM owners_8.owner WHERE id < 4");
    let begun = Instant::now();
    while left() != "named new" {
        assert!(begun.elapsed() < Duration::from_secs(20), "{}", left());
    }
}
