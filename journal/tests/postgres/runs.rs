//! Runs: as in a file, and in both directions between a file and a database.

use super::server::PASSWORD;
use super::support::{Place, mine, new_run, record, start};
use super::{either, shared};
use ilo_journal::{
    Answer, At, Attached, Claim, Claimed, Decision, ErrorCode, FirstRecord, Key, Listed, Options, RunId,
    RunLimits, State, Status, Store, To,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub fn open(path: &Path) -> Store {
    Store::open(path, &Options::default()).unwrap()
}

#[test]
fn a_run_is_there_when_the_journal_is_opened_again() {
    let Some(server) = shared() else { return };
    let path = server.address("");
    either::a_run_is_there_when_the_journal_is_opened_again(&|| open(&path));
}

#[test]
fn the_same_name_program_and_input_are_the_same_run_and_others_are_refused() {
    let Some(server) = shared() else { return };
    let path = server.address("");
    either::the_same_name_program_and_input_are_the_same_run_and_others_are_refused(&|| open(&path));
}

#[test]
fn a_run_has_one_owner_and_who_has_lost_it_writes_nothing() {
    let Some(server) = shared() else { return };
    let path = server.address("");
    either::a_run_has_one_owner_and_who_has_lost_it_writes_nothing(&|| open(&path));
}

#[test]
fn a_record_that_nobody_waits_for_is_written_before_the_store_closes() {
    let Some(server) = shared() else { return };
    let path = server.address("");
    either::a_record_that_nobody_waits_for_is_written_before_the_store_closes(&|| open(&path));
}

#[test]
fn a_journal_that_is_to_keep_calls_keeps_the_calls_of_runs() {
    let Some(server) = shared() else { return };
    let (path, file) = (server.address(""), Place::new());
    either::a_journal_that_is_to_keep_calls_keeps_the_calls_of_runs(&|| open(&path), &|| file.open());
    let (path, file) = (server.address(""), Place::new());
    either::a_journal_that_is_to_keep_calls_keeps_the_calls_of_runs(&|| file.open(), &|| open(&path));
}

#[test]
fn a_call_that_is_followed_by_a_read_is_kept_where_the_process_ends_then() {
    let Some(server) = shared() else { return };
    let path = server.address("");
    either::a_call_that_is_followed_by_a_read_is_kept_where_the_process_ends_then(&|| open(&path));
}

#[test]
fn many_claim_the_same_runs_and_each_run_has_one_owner() {
    let Some(server) = shared() else { return };
    let path = server.address("");
    let first = open(&path);
    let runs: Vec<RunId> = (0..40).map(|_| start(&first, None, To::Ready).0).collect();
    drop(first);
    let stores: Vec<Store> = (0..3).map(|_| open(&path)).collect();
    let owners: Vec<usize> = std::thread::scope(|scope| {
        let (runs, each) = (&runs, stores.iter());
        let claims = each.map(|store| {
            scope.spawn(move || {
                let tickets: Vec<_> = runs.iter().map(|&run| store.claim(run)).collect();
                let mine = |ticket: ilo_journal::Ticket<Claim>| match ticket.wait() {
                    Ok(Claim::Mine(_)) => true,
                    Err(error) if error.code == ErrorCode::Owned => false,
                    other => panic!("{other:?}"),
                };
                tickets.into_iter().map(mine).collect::<Vec<bool>>()
            })
        });
        let claims: Vec<_> = claims.collect();
        let taken: Vec<Vec<bool>> = claims.into_iter().map(|claim| claim.join().unwrap()).collect();
        (0..runs.len()).map(|run| taken.iter().filter(|taken| taken[run]).count()).collect()
    });
    assert_eq!(owners, vec![1; 40]);
}

#[test]
fn people_decide_as_in_a_file() {
    let Some(server) = shared() else { return };
    let path = server.address("");
    let (store, person) = (open(&path), open(&path));
    let (run, _) = start(&store, None, To::Asking);
    let refused = |call, decision: Decision| person.resolve(run, call, &decision, "ann").unwrap_err().code;
    assert_eq!(refused(Some(2), Decision::Approve), ErrorCode::OtherCall);
    assert_eq!(refused(Some(1), Decision::Retry), ErrorCode::NotNow);
    assert_eq!(person.resolve(run, Some(1), &Decision::Approve, "ann").unwrap(), State::Ready);
    assert_eq!(refused(Some(1), Decision::Approve), ErrorCode::NotNow);
    let claimed = mine(&store, run);
    assert!(claimed.approved);
    let mut lease = claimed.lease;
    store.record(&mut lease, &record(To::Calling, 1)).unwrap().wait().unwrap();
    // Cancelled while an owner works: it learns so with its next record, and loses nothing.
    assert_eq!(person.resolve(run, None, &Decision::Cancel, "bob").unwrap(), State::Calling);
    assert!(store.record(&mut lease, &record(To::Calling, 2)).unwrap().wait().unwrap());
    let expects = ilo_journal::Record { expects: Some("{\"type\":\"number\"}"), ..record(To::Doubt, 2) };
    store.record(&mut lease, &expects).unwrap().wait().unwrap();
    let answer = |json: &str| person.resolve(run, Some(2), &Decision::Answer(json.to_owned()), "ann");
    assert_eq!(answer("\"x\"").unwrap_err().code, ErrorCode::Value);
    assert_eq!(answer("5").unwrap(), State::Answered);
    let claimed = mine(&store, run);
    assert_eq!(claimed.answer, Some(Answer::Ok("5".to_owned())));
    assert!(claimed.cancel && !claimed.unchecked);
    let told: Vec<_> =
        person.decisions(run).unwrap().into_iter().map(|row| (row.call, row.what, row.who)).collect();
    let told: Vec<(u64, &str, &str)> =
        told.iter().map(|(call, what, who)| (*call, &**what, &**who)).collect();
    assert_eq!(told, [(1, "approve", "ann"), (1, "cancel", "bob"), (2, "answer", "ann")]);
}

#[test]
fn one_of_two_people_decides() {
    let Some(server) = shared() else { return };
    let path = server.address("");
    let stores = [open(&path), open(&path)];
    for _ in 0..20 {
        let (run, _) = start(&stores[0], None, To::Asking);
        let decided = std::thread::scope(|scope| {
            let each = stores.each_ref().map(|store| {
                scope.spawn(move || {
                    store.resolve(run, Some(1), &Decision::Approve, "x").map_err(|error| error.code)
                })
            });
            each.map(|one| one.join().unwrap())
        });
        assert_eq!(decided.iter().filter(|one| one.is_ok()).count(), 1, "{decided:?}");
        assert!(decided.contains(&Err(ErrorCode::NotNow)), "{decided:?}");
        assert_eq!(stores[0].decisions(run).unwrap().len(), 1);
    }
}

#[test]
fn runs_are_found_by_status_name_and_metadata_in_both_backends() {
    let place = Place::new();
    let server = shared();
    let paths = server.map(|server| server.address("")).into_iter().chain([place.path()]);
    for path in paths {
        let store = open(&path);
        let limits = RunLimits::default();
        let begin = |name: Option<&str>, metadata: &[(&str, &str)], to: To| {
            let metadata =
                metadata.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let attached = Attached { tools: Some("[]".to_owned()), metadata };
            store
                .start_with(&new_run(name, &limits), &FirstRecord::Call(record(to, 1)), &attached)
                .unwrap()
                .wait()
                .unwrap()
                .run
        };
        let one = begin(Some("a_1"), &[("tenant", "t%1"), ("user", "ann")], To::Asking);
        let two = begin(Some("a%2"), &[("tenant", "t%1")], To::Ready);
        let three = begin(None, &[("tenant", "t%12")], To::Ready);
        let four = begin(Some("ab"), &[], To::Ready);
        let found = |listed: Listed| {
            let mut found = Vec::new();
            store
                .list(&listed, |summary| {
                    found.push(summary.run);
                    true
                })
                .unwrap();
            found
        };
        let of = |metadata: &[(&str, &str)]| Listed {
            metadata: metadata
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..Listed::default()
        };
        let named = |name: &str| Listed { name: Some(name.to_owned()), ..Listed::default() };
        assert_eq!(found(Listed::default()), [one, two, three, four]);
        assert_eq!(found(of(&[("tenant", "t%1")])), [one, two]);
        assert_eq!(found(of(&[("tenant", "t%1"), ("user", "ann")])), [one]);
        assert_eq!(found(of(&[("user", "an")])), []);
        assert_eq!(found(named("a")), [one, two, four]);
        assert_eq!(found(named("a_")), [one], "signs of patterns mean themselves");
        assert_eq!(found(named("a%")), [two]);
        let status = Some(Status::In(State::Ready));
        assert_eq!(found(Listed { status, newest: Some(1), ..of(&[("tenant", "t%1")]) }), [two]);
        assert_eq!(store.metadata(one).unwrap().get("user").map(String::as_str), Some("ann"));
        assert_eq!(store.tools(one).unwrap().as_deref(), Some("[]"));
        assert!(store.decisions(one).unwrap().is_empty());
        let wrong = Attached {
            metadata: BTreeMap::from([("a\u{1}".to_owned(), String::new())]),
            ..Attached::default()
        };
        let refused =
            store.start_with(&new_run(None, &limits), &FirstRecord::Ended(b"{}"), &wrong).unwrap_err();
        assert_eq!(refused.code, ErrorCode::Value);
        assert_eq!(store.wait(one, Duration::from_millis(20)).unwrap(), None, "it has not ended");
    }
}

#[test]
fn who_waits_for_a_run_gets_its_outcome_from_where_it_ends_in_both_backends() {
    let place = Place::new();
    let paths = shared().map(|server| server.address("")).into_iter().chain([place.path()]);
    for path in paths {
        let (one, other) = (open(&path), open(&path));
        let (run, lease) = start(&one, None, To::Calling);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| other.wait(run, Duration::from_mins(1)).unwrap());
            std::thread::sleep(Duration::from_millis(100));
            one.end(lease, b"{\"status\":\"ok\"}").unwrap().wait().unwrap();
            assert_eq!(waits.join().unwrap().as_deref(), Some(&b"{\"status\":\"ok\"}"[..]));
        });
    }
}

#[test]
fn a_run_moves_between_a_file_and_a_database_in_both_directions() {
    let Some(server) = shared() else { return };
    let place = Place::new();
    let options = Options { create: true, key: Some(Key::from_bytes([3; 32])) };
    let file = Store::open(&place.path(), &options).unwrap();
    let database = Store::open(&server.address_of("moves", ""), &options).unwrap();
    let limits = RunLimits::default();
    let attached = Attached {
        tools: Some("tools".to_owned()),
        metadata: BTreeMap::from([("tenant".to_owned(), "t".to_owned())]),
    };
    let first = FirstRecord::Call(record(To::Asking, 1));
    let run = file.start_with(&new_run(Some("n"), &limits), &first, &attached).unwrap().wait().unwrap().run;
    let bytes = file.export(run).unwrap();
    let here = database.import(&bytes).unwrap();
    assert_eq!(database.import(&bytes).unwrap_err().code, ErrorCode::AlreadyHere);
    assert_eq!(database.metadata(here).unwrap(), attached.metadata);
    assert_eq!(database.tools(here).unwrap(), attached.tools);
    database.resolve(here, Some(1), &Decision::Approve, "ann").unwrap();
    let bytes = database.export(here).unwrap();
    let refused = database.resolve(here, None, &Decision::Cancel, "ann").unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotNow);
    assert_eq!(file.import(&bytes).unwrap(), run);
    assert_eq!(file.metadata(run).unwrap(), attached.metadata);
    let bytes = file.export(run).unwrap();
    assert_eq!(database.import(&bytes).unwrap(), here, "it comes back under its number");
    let claimed = mine(&database, here);
    assert!(claimed.approved);
    assert_eq!((claimed.snapshot.as_slice(), &*claimed.program), (&b"snapshot"[..], &b"program"[..]));
    let readable = "SELECT count(*) FROM (SELECT snapshot FROM moves.live UNION ALL SELECT bytes FROM moves.program \
                    UNION ALL SELECT detail FROM moves.decision UNION ALL SELECT outcome FROM moves.run) x(data) \
                    WHERE position('snapshot'::bytea IN data) + position('program'::bytea IN data) \
                    + position('tools'::bytea IN data) + position('status'::bytea IN data) > 0";
    assert_eq!(server.sql(readable), "0", "it is encrypted");
    database.end(claimed.lease, b"{\"status\":\"ok\"}").unwrap().wait().unwrap();
    assert_eq!(server.sql(readable), "0");
    let ended = database.export(here).unwrap();
    let other = Place::new();
    let other = Store::open(&other.path(), &options).unwrap();
    let moved = other.import(&ended).unwrap();
    assert!(matches!(other.show(moved).unwrap().at, At::Ended { .. }));
}

#[test]
fn the_bytes_of_a_subject_are_those_of_its_runs_and_of_each_program_once() {
    let Some(server) = shared() else { return };
    either::the_bytes_of_a_subject_are_those_of_its_runs_and_of_each_program_once(&open(&server.address("")));
}

#[test]
fn old_runs_are_removed_and_the_last_one_stays() {
    let Some(server) = shared() else { return };
    let store = open(&server.address(""));
    let limits = RunLimits::default();
    let end = |program: &[u8]| {
        let new = ilo_journal::NewRun { program, ..new_run(None, &limits) };
        store.start(&new, &FirstRecord::Ended(b"{}")).unwrap().wait().unwrap().run
    };
    let (one, _) = (end(b"p1"), end(b"p2"));
    let last = end(b"p3");
    let program = store.show(one).unwrap().program;
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(store.prune(0).unwrap(), 2);
    assert!(store.program(&program).is_err());
    assert!(store.show(last).is_ok());
    assert_eq!(store.retention().unwrap(), ilo_journal::RETENTION_DAYS);
    store.set_retention(7).unwrap();
    assert_eq!(store.retention().unwrap(), 7);
    assert_eq!(store.count().unwrap(), BTreeMap::from([("ended", 1)]));
}

#[test]
fn statements_may_have_names_for_a_connection() {
    let Some(server) = shared() else { return };
    let place = || server.address("&prepare=1&application_name=named");
    let path = place();
    either::a_run_is_there_when_the_journal_is_opened_again(&|| open(&path));
    let path = place();
    either::the_same_name_program_and_input_are_the_same_run_and_others_are_refused(&|| open(&path));
    let path = place();
    either::a_run_has_one_owner_and_who_has_lost_it_writes_nothing(&|| open(&path));
    let path = place();
    let store = open(&path);
    let (run, mut lease) = start(&store, None, To::Calling);
    for call in 2..8 {
        store.record(&mut lease, &record(To::Calling, call)).unwrap().wait().unwrap();
        // A new connection knows none of the names.
        server.sql(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'named'",
        );
    }
    store.release(&lease).wait().unwrap();
    assert_eq!(mine(&store, run).call, 7);
}

#[test]
fn the_room_of_runs_that_have_ended_is_used_again_by_a_role_that_owns_the_tables() {
    const RUNS: usize = 300;
    let Some(server) = shared() else { return };
    let path = server.address_of("ended", "");
    let limits = RunLimits::default();
    let end_all = |store: &Store| {
        let first = FirstRecord::Call(record(To::Calling, 1));
        let begun: Vec<_> =
            (0..RUNS).map(|_| store.start(&new_run(None, &limits), &first).unwrap()).collect();
        let leases = begun.into_iter().map(|ticket| ticket.wait().unwrap().lease.unwrap());
        let leases: Vec<_> = leases.collect();
        let ended: Vec<_> = leases.into_iter().map(|lease| store.end(lease, b"{}").unwrap()).collect();
        ended.into_iter().for_each(|ticket| ticket.wait().unwrap());
    };
    end_all(&open(&path));
    let vacuums = || -> usize {
        let sql =
            "SELECT vacuum_count FROM pg_stat_user_tables WHERE schemaname = 'ended' AND relname = 'live'";
        server.sql(sql).parse().unwrap()
    };
    let begun = std::time::Instant::now();
    while vacuums() == 0 {
        assert!(begun.elapsed() < Duration::from_mins(1), "nobody looks for the room");
    }
    // Another role would only be warned.
    server.sql(&format!("CREATE ROLE guest LOGIN PASSWORD '{}'", PASSWORD.replace("%40", "@")));
    server.sql("GRANT USAGE ON SCHEMA ended TO guest; GRANT ALL ON ALL TABLES IN SCHEMA ended TO guest");
    let before = vacuums();
    let guest = PathBuf::from(path.to_str().unwrap().replace("ilo:", "guest:"));
    end_all(&open(&guest));
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(vacuums(), before);
    let log = std::fs::read_to_string(server.folder().join("log")).unwrap();
    assert!(!log.contains("vacuum it"), "the server has warned");
}

#[test]
fn a_schema_may_have_the_name_of_a_reserved_word() {
    let Some(server) = shared() else { return };
    let path = server.address_of("user", "");
    either::a_run_is_there_when_the_journal_is_opened_again(&|| open(&path));
}

#[test]
fn functions_of_others_in_the_path_are_not_called() {
    let Some(server) = shared() else { return };
    server.sql(
        "CREATE SCHEMA others; CREATE FUNCTION others.unnest(bigint[]) RETURNS SETOF bigint LANGUAGE plpgsql AS \
         $$ BEGIN RAISE 'called'; END $$",
    );
    let path = server.address("&options=-csearch_path%3Dothers");
    either::a_run_has_one_owner_and_who_has_lost_it_writes_nothing(&|| open(&path));
}

/// What the planner knows of these tables is from before they grew.
#[test]
fn a_write_reads_the_rows_of_its_runs_whatever_else_is_there() {
    const OTHERS: usize = 5000;
    let Some(server) = shared() else { return };
    let path = server.address_of("grown", "&application_name=grown");
    start(&open(&path), None, To::Ready);
    for table in ["run", "live", "decision"] {
        server.sql(&format!("ALTER TABLE grown.{table} SET (autovacuum_enabled = false)"));
    }
    let fill = format!(
        "INSERT INTO grown.live SELECT -n, epoch, owner, was, state, call, tool, policy, digest, tries, active_ms, \
         wake, since, cancel, snapshot, answer FROM grown.live, generate_series(1, {OTHERS}) n"
    );
    server.sql(&fill);
    server.sql("DELETE FROM grown.live WHERE run < 0");
    server.sql("VACUUM (TRUNCATE false, ANALYZE) grown.live");
    server.sql(&fill);
    server.sql(&format!(
        "INSERT INTO grown.run(key, input, program, function, limits, started, ended, outcome, epoch) \
         SELECT sha256(n::text::bytea), input, program, function, limits, started, NULL, '', epoch \
         FROM grown.run, generate_series(1, {OTHERS}) n; \
         ANALYZE grown.run, grown.decision; \
         UPDATE grown.run SET ended = 1 WHERE outcome = ''; \
         INSERT INTO grown.decision(run, call, at, tool, what, who, detail, token) \
         SELECT -n, 1, 1, '', '', '', '', sha256(n::text::bytea) FROM generate_series(1, {OTHERS}) n"
    ));
    let before = rows_read(server);
    let store = open(&path);
    let runs: Vec<RunId> = (0..10).map(|_| start(&store, None, To::Asking).0).collect();
    let asking = Listed { status: Some(Status::In(State::Asking)), ..Listed::default() };
    let mut listed = Vec::new();
    store
        .list(&asking, |summary| {
            listed.push(summary.run);
            true
        })
        .unwrap();
    assert_eq!(listed, runs);
    for run in runs {
        store.resolve(run, Some(1), &Decision::Approve, "ann").unwrap();
        let Claimed { mut lease, .. } = *mine(&store, run);
        store.record(&mut lease, &record(To::Calling, 1)).unwrap().wait().unwrap();
        store.end(lease, b"{}").unwrap().wait().unwrap();
    }
    drop(store);
    let read = rows_read(server) - before;
    assert!(read < OTHERS, "{read} rows");
}

/// The rows that the processes on the journal have read, once they have ended.
fn rows_read(server: &super::server::Server) -> usize {
    while server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'grown'") != "0" {}
    let sql = "SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = 'grown') + \
               (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = 'grown')";
    server.sql(sql).parse().unwrap()
}
