//! What cannot work is one error when the journal is opened, changes nothing, and shows no password.

use super::runs::open;
use super::server::{PASSWORD, Server};
use super::shared;
use super::support::{record, start};
use ilo_journal::{Decision, Error, ErrorCode, Key, Options, Store, To};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn refused(path: &Path) -> Error {
    let begun = Instant::now();
    let error = Store::open(path, &Options::default()).map(drop).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(20), "{error}");
    let text = format!("{error} {error:?}");
    assert!(!text.contains("ss-word") && !text.contains("wrong-one"), "{text}");
    error
}

fn edited(server: &Server, from: &str, to: &str) -> PathBuf {
    PathBuf::from(server.address("").to_str().unwrap().replace(from, to))
}

#[test]
fn what_is_wrong_with_a_place_is_told_at_once_and_without_the_password() {
    let Some(server) = shared() else { return };
    let wrong = refused(&edited(server, PASSWORD, "wrong-one"));
    assert_eq!(wrong.code, ErrorCode::CannotOpen);
    assert!(wrong.message.contains("password authentication failed"), "{wrong}");
    assert_eq!(refused(&edited(server, "/postgres?", "/nothing?")).code, ErrorCode::CannotOpen);
    let closed = refused(&edited(server, &format!(":{}", server.port), ":1"));
    assert_eq!(closed.code, ErrorCode::CannotOpen);
    let plain = refused(&server.address("&sslmode=require"));
    assert_eq!(plain.code, ErrorCode::CannotOpen);
    assert!(plain.remedy.contains("sslmode=disable"), "{plain}");
    let unknown = Options { create: false, key: None };
    let error = Store::open(&server.address(""), &unknown).unwrap_err();
    assert_eq!(error.code, ErrorCode::CannotOpen);
    assert!(error.message.contains("there is no journal"), "{error}");
}

#[test]
fn a_role_without_rights_is_refused() {
    let Some(server) = shared() else { return };
    server.sql(&format!("CREATE ROLE weak LOGIN PASSWORD '{}'", PASSWORD.replace("%40", "@")));
    assert_eq!(refused(&edited(server, "ilo:", "weak:")).code, ErrorCode::ReadOnly);
    drop(open(&server.address_of("failures_1", "")));
    let path = server.address_of("failures_1", "");
    let path = PathBuf::from(path.to_str().unwrap().replace("ilo:", "weak:"));
    assert_eq!(refused(&path).code, ErrorCode::ReadOnly);
    server.sql(
        "GRANT USAGE ON SCHEMA failures_1 TO weak; GRANT SELECT ON ALL TABLES IN SCHEMA failures_1 TO weak",
    );
    assert_eq!(refused(&path).code, ErrorCode::ReadOnly);
    server.sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA failures_1 TO weak");
    drop(start(&open(&path), None, To::Ready));
    server.sql("ALTER ROLE weak CONNECTION LIMIT 0");
    assert_eq!(refused(&path).code, ErrorCode::Busy, "there are too many connections");
    server.sql("ALTER ROLE weak CONNECTION LIMIT -1");
    server.sql("ALTER ROLE weak SET default_transaction_read_only = on");
    assert_eq!(refused(&path).code, ErrorCode::ReadOnly);
}

#[test]
fn another_version_and_another_key_are_refused() {
    let Some(server) = shared() else { return };
    let path = server.address_of("failures_2", "");
    drop(open(&path));
    let with = |key: Option<u8>, path: &Path| {
        let key = key.map(|byte| Key::from_bytes([byte; 32]));
        Store::open(path, &Options { create: true, key }).map(drop).map_err(|error| error.code)
    };
    assert_eq!(with(Some(1), &path), Err(ErrorCode::Key));
    server.sql("UPDATE failures_2.meta SET version = 2");
    assert_eq!(refused(&path).code, ErrorCode::NewerVersion);
    server.sql("UPDATE failures_2.meta SET version = 0");
    assert_eq!(refused(&path).code, ErrorCode::Damaged);
    let path = server.address_of("failures_3", "");
    assert_eq!(with(Some(1), &path), Ok(()));
    assert_eq!(with(None, &path), Err(ErrorCode::Key));
    assert_eq!(with(Some(2), &path), Err(ErrorCode::Key));
    assert_eq!(with(Some(1), &path), Ok(()));
}

#[test]
fn many_create_the_same_journal_at_once() {
    let Some(server) = shared() else { return };
    let path = &server.address("");
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(move || drop(start(&open(path), None, To::Ready)));
        }
    });
    assert_eq!(open(path).count().unwrap().values().sum::<i64>(), 6);
}

#[test]
fn a_statement_that_takes_too_long_is_sent_again() {
    let Some(server) = shared() else { return };
    // The tables are made without the limit, which a busy machine may exceed.
    drop(open(&server.address_of("failures_4", "")));
    let store = open(&server.address_of("failures_4", "&options=-cstatement_timeout%3D500"));
    let (_, mut lease) = start(&store, None, To::Calling);
    // The lock is held until a statement that waits for it is not the first one.
    let hold = "DO $$ DECLARE first timestamptz; since timestamptz; BEGIN
        LOCK TABLE failures_4.live;
        FOR round IN 1..6000 LOOP
            PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
            SELECT max(query_start) INTO since FROM pg_locks JOIN pg_stat_activity USING (pid)
                WHERE relation = 'failures_4.live'::regclass AND NOT granted;
            first := coalesce(first, since);
            IF since > first THEN RETURN; END IF;
        END LOOP;
        RAISE 'no statement was sent again';
    END $$";
    let held = "SELECT count(*) FROM pg_locks WHERE relation = 'failures_4.live'::regclass
        AND mode = 'AccessExclusiveLock' AND granted";
    std::thread::scope(|scope| {
        scope.spawn(|| server.sql(hold));
        let begun = Instant::now();
        while server.sql(held) == "0" {
            assert!(begun.elapsed() < Duration::from_mins(1), "nothing holds the lock");
        }
        store.record(&mut lease, &record(To::Calling, 2)).unwrap().wait().unwrap();
    });
}

#[test]
fn what_cannot_be_stored_fails_alone() {
    let Some(server) = shared() else { return };
    let store = open(&server.address(""));
    let limits = ilo_journal::RunLimits::default();
    let first = || ilo_journal::FirstRecord::Call(record(To::Ready, 1));
    // What an index takes is some 2,700 bytes, which cannot be fewer where every word is another one.
    let words: Vec<String> = (0..2000_u32).map(|word| word.wrapping_mul(2_654_435_761).to_string()).collect();
    let long = words.concat();
    let names = [Some("good"), Some("a\0b"), Some(&long), Some("fine")];
    let tickets = names.map(|name| store.start(&super::support::new_run(name, &limits), &first()).unwrap());
    let [good, bad, long, fine] = tickets.map(ilo_journal::Ticket::wait);
    for refused in [bad, long] {
        assert_eq!(refused.map(drop).unwrap_err().code, ErrorCode::Value);
    }
    assert!(good.is_ok() && fine.is_ok());
}

/// Gives a server a certificate for `localhost`; `roots.pem` has its authority.
fn certified(server: &Server, folder: &Path) -> bool {
    let settings = "[req]\ndistinguished_name = name\n[name]\n[authority]\nbasicConstraints = critical, CA:TRUE\n\
                    [server]\nbasicConstraints = CA:FALSE\nsubjectAltName = DNS:localhost\n";
    std::fs::write(folder.join("tls.cnf"), settings).unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -config tls.cnf";
    let commands = [
        format!(
            "req -x509 {key} -extensions authority -subj /CN=authority -keyout authority.key -out roots.pem"
        ),
        format!("req -new {key} -subj /CN=localhost -keyout data/server.key -out request.pem"),
        "x509 -req -in request.pem -CA roots.pem -CAkey authority.key -CAcreateserial -extfile tls.cnf \
         -extensions server -out data/server.crt"
            .to_owned(),
    ];
    commands.iter().all(|arguments| {
        let made =
            server.command("/usr/bin/openssl").args(arguments.split(' ')).stderr(Stdio::null()).status();
        made.is_ok_and(|made| made.success())
    })
}

#[test]
fn a_connection_is_encrypted_where_the_certificate_is_trusted() {
    let Some(server) = Server::start() else { return };
    let folder = server.folder();
    if !certified(&server, folder) {
        eprintln!("SKIPPED: no openssl makes a certificate");
        return;
    }
    let roots = folder.join("roots.pem");
    server.append("ssl = on\n");
    server.down("fast");
    server.up();
    let of = |host: &str, more: &str| {
        let path = server.address(&format!("&sslmode=verify-full{more}"));
        PathBuf::from(path.to_str().unwrap().replace("127.0.0.1", host))
    };
    let trusted = format!("&sslrootcert={}", roots.display());
    let store = open(&of("localhost", &trusted));
    drop(start(&store, None, To::Calling));
    let encrypted = "SELECT count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) \
                     WHERE a.application_name = 'ilo' AND NOT s.ssl";
    assert_eq!(server.sql(encrypted), "0");
    for (host, more) in [("localhost", ""), ("127.0.0.1", trusted.as_str())] {
        let error = refused(&of(host, more));
        assert_eq!(error.code, ErrorCode::CannotOpen, "{error}");
        assert!(error.remedy.contains("sslrootcert"), "{error}");
    }
}

#[test]
fn a_standby_that_takes_over_is_refused_until_a_person_accepts_it() {
    let Some(server) = Server::start() else { return };
    let path = server.address_of("failover", "");
    let store = open(&path);
    let (begun, mut lease) = start(&store, None, To::Calling);
    let (waits, _) = start(&store, None, To::Asking);
    let standby = server.standby();
    let seen = format!(
        "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= '{}'",
        server.sql("SELECT pg_current_wal_lsn()")
    );
    let since = Instant::now();
    while server.sql(&seen) != "1" {
        assert!(since.elapsed() < Duration::from_mins(2), "the standby does not follow");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(refused(&standby.address_of("failover", "")).code, ErrorCode::ReadOnly);
    server.down("immediate");
    standby.promote();
    let there = standby.address_of("failover", "");
    assert_eq!(refused(&there).code, ErrorCode::FailedOver);
    // A standby that is a synchronous one has all that was acknowledged, and nothing changes.
    let other = standby.address_of("failover", "&standby=synchronous&lease=60");
    drop(Store::open(&other, &Options::default()).unwrap());
    standby.sql("UPDATE failover.setting SET value = set_byte(value, 8, get_byte(value, 8) # 1) WHERE name = 'cluster'");
    assert_eq!(refused(&there).code, ErrorCode::FailedOver);
    assert_eq!(Store::after_failover(&there, &Options::default()).unwrap(), 1);
    let next = open(&there);
    let state = |run| next.show(run).unwrap().status().name();
    assert_eq!((state(begun), state(waits)), ("doubt", "asking"));
    assert_eq!(next.resolve(begun, Some(1), &Decision::Retry, "ann").unwrap(), ilo_journal::State::Ready);
    drop(next);
    // A process that was under way does not write there either, where its address leads to it.
    standby.sql("UPDATE failover.setting SET value = set_byte(value, 0, get_byte(value, 0) # 1) WHERE name = 'cluster'");
    assert_eq!(refused(&other).code, ErrorCode::FailedOver, "it is another server");
    drop(store.record(&mut lease, &record(To::Calling, 2)));
    server.up();
}

#[test]
fn an_asynchronous_standby_may_lack_records_and_begun_calls_are_in_doubt() {
    let Some(server) = Server::start() else { return };
    let store = open(&server.address_of("behind", ""));
    let (run, mut lease) = start(&store, None, To::Calling);
    let standby = server.standby();
    standby.down("fast");
    // It is acknowledged, and only the server has it.
    store.record(&mut lease, &record(To::Calling, 2)).unwrap().wait().unwrap();
    server.down("immediate");
    standby.up();
    standby.promote();
    let there = standby.address_of("behind", "");
    assert_eq!(refused(&there).code, ErrorCode::FailedOver);
    assert_eq!(Store::after_failover(&there, &Options::default()).unwrap(), 1);
    let ilo_journal::At::Live(live) = open(&there).show(run).unwrap().at else { panic!("it has not ended") };
    assert_eq!((live.state, live.call), (ilo_journal::State::Doubt, 1));
}

#[test]
fn with_a_synchronous_standby_processes_go_on_where_it_has_taken_over() {
    let Some(server) = Server::start() else { return };
    let standby = server.standby();
    server.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
    server.sql("SELECT pg_reload_conf()");
    let begun = Instant::now();
    while server.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != "1" {
        assert!(begun.elapsed() < Duration::from_mins(1), "the standby is not a synchronous one");
    }
    // Both servers are in the address.
    let one = format!("127.0.0.1:{}", server.port);
    let path = server.address("&standby=synchronous&lease=60");
    let both =
        PathBuf::from(path.to_str().unwrap().replace(&one, &format!("{one},127.0.0.1:{}", standby.port)));
    // The order does not matter: a standby takes no writes.
    let (here, there) = (format!(":{}", server.port), format!(":{}", standby.port));
    let swapped = both.to_str().unwrap().replace(&here, ":x").replace(&there, &here).replace(":x", &there);
    drop(open(&PathBuf::from(swapped)));
    let store = open(&both);
    let (run, mut lease) = start(&store, None, To::Calling);
    for call in 2..10 {
        store.record(&mut lease, &record(To::Calling, call)).unwrap().wait().unwrap();
    }
    server.down("immediate");
    let ticket = store.record(&mut lease, &record(To::Calling, 10)).unwrap();
    standby.promote();
    assert!(!ticket.wait().unwrap());
    store.record(&mut lease, &record(To::Calling, 11)).unwrap().wait().unwrap();
    assert_eq!(open(&both).claim(run).wait().unwrap_err().code, ErrorCode::Owned);
    store.end(lease, b"{}").unwrap().wait().unwrap();
}

#[test]
fn a_server_without_checksums_is_warned_of() {
    let Some(server) = Server::start() else { return };
    let path = server.address("");
    assert_eq!(open(&path).warnings(), [""; 0]);
    server.down("fast");
    let mut disable = server.command("pg_checksums");
    disable.arg("--disable").arg("-D").arg(server.folder().join("data")).stdout(Stdio::null());
    assert!(disable.status().unwrap().success());
    server.up();
    let store = open(&path);
    let [warning] = store.warnings() else { panic!("{:?}", store.warnings()) };
    assert!(warning.contains("data_checksums") && !warning.contains("ss-word"), "{warning}");
}

#[test]
fn people_are_told_once_that_a_server_is_away_and_when_it_answers() {
    let Some(server) = Server::start() else { return };
    let store = open(&server.address(""));
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = told.clone();
    store.tell(move |text| heard.lock().unwrap().push(text.to_owned()));
    let (_, mut lease) = start(&store, None, To::Calling);
    server.down("immediate");
    let ticket = store.record(&mut lease, &record(To::Calling, 2)).unwrap();
    let begun = Instant::now();
    while told.lock().unwrap().is_empty() {
        assert!(begun.elapsed() < Duration::from_mins(1), "nobody hears of it");
        std::thread::sleep(Duration::from_millis(20));
    }
    server.up();
    ticket.wait().unwrap();
    let begun = Instant::now();
    while told.lock().unwrap().len() < 2 {
        assert!(begun.elapsed() < Duration::from_mins(1), "nobody hears that it answers");
        std::thread::sleep(Duration::from_millis(20));
    }
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("tried again") && told[1].contains("answers again"), "{told:?}");
    assert!(told.iter().all(|text| !text.contains("ss-word")), "{told:?}");
}

#[test]
fn a_server_that_does_not_flush_and_a_replica_are_refused() {
    let Some(server) = Server::start() else { return };
    server.append("fsync = off\n");
    server.down("fast");
    server.up();
    assert!(refused(&server.address("")).message.contains("fsync"));
    server.append("fsync = on\n");
    server.down("fast");
    std::fs::write(server.folder().join("data/standby.signal"), "").unwrap();
    server.up();
    assert_eq!(refused(&server.address("")).code, ErrorCode::ReadOnly);
}

#[test]
fn what_was_acknowledged_is_on_disk_where_the_server_need_not_flush() {
    let Some(server) = Server::start() else { return };
    server.append("synchronous_commit = off\nwal_writer_delay = 10s\n");
    server.down("fast");
    server.up();
    let store = open(&server.address("&lease=60"));
    let (_, mut lease) = start(&store, None, To::Calling);
    // An unflushed record has some hundred bytes.
    let flushed = "SELECT pg_current_wal_insert_lsn() - pg_current_wal_flush_lsn() < 100";
    let mut on_disk = 0;
    for call in 2..12 {
        store.record(&mut lease, &record(To::Calling, call)).unwrap().wait().unwrap();
        on_disk += usize::from(server.sql(flushed) == "t");
    }
    // The server itself may write something in between.
    assert!(on_disk >= 8, "{on_disk} of 10");
}
