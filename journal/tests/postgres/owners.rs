//! Owners: who is gone, what it may still say, and a server that is away.

use super::runs::open;
use super::server::Server;
use super::shared;
use super::support::{mine, record, start};
use ilo_journal::{At, Decision, ErrorCode, RunId, State, Store, To};
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
    let path = server.address("&lease=1");
    let (store, other) = (open(&path), open(&path));
    let (run, mut lease) = start(&store, None, To::Calling);
    server.kill();
    let ticket = store.record(&mut lease, &record(To::Calling, 2)).unwrap();
    // Longer than a lease.
    std::thread::sleep(Duration::from_millis(2500));
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
