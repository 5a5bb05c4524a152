//! Files that are not journals, are damaged, or cannot be written; clocks and owners. There is never a panic,
//! and never a silently wrong state.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use ilo_journal::{Claim, Decision, ErrorCode, FirstRecord, Listed, Options, RunId, State, Store, To};
use std::fs;
use std::path::Path;
use support::{Place, mine, new_run, record, start};

fn code(place: &Place) -> ErrorCode {
    place.try_open(&Options::default()).unwrap_err().code
}

#[test]
fn a_file_that_is_no_journal_is_refused_and_left_as_it_is() {
    let place = Place::new();
    for content in [&b"hello"[..], &[0; 4096], b"SQLite format 3\0", b"SQLite format 3"] {
        fs::write(place.path(), content).unwrap();
        assert!([ErrorCode::NotAJournal, ErrorCode::Damaged].contains(&code(&place)), "{content:?}");
        assert_eq!(fs::read(place.path()).unwrap(), content);
    }
    fs::remove_file(place.path()).unwrap();
    fs::create_dir(place.path()).unwrap();
    assert_eq!(code(&place), ErrorCode::CannotOpen);
}

#[test]
fn the_database_of_another_application_is_refused() {
    let place = Place::new();
    let other = rusqlite::Connection::open(place.path()).unwrap();
    other.execute_batch("CREATE TABLE notes(text TEXT); INSERT INTO notes VALUES ('mine')").unwrap();
    drop(other);
    let before = fs::read(place.path()).unwrap();
    assert_eq!(code(&place), ErrorCode::NotAJournal);
    assert_eq!(fs::read(place.path()).unwrap(), before);
    assert_eq!(fs::read_dir(place.folder.path()).unwrap().count(), 1, "nothing was created beside it");
}

#[test]
fn a_newer_version_is_refused_and_changed_tables_are_damage() {
    for (statement, expected) in [
        ("PRAGMA user_version=3", ErrorCode::NewerVersion),
        ("PRAGMA user_version=-1", ErrorCode::Damaged),
        ("DROP TABLE call", ErrorCode::Damaged),
        ("CREATE TRIGGER t AFTER UPDATE ON live BEGIN DELETE FROM live; END", ErrorCode::Damaged),
    ] {
        let place = Place::new();
        drop(place.open());
        let other = rusqlite::Connection::open(place.path()).unwrap();
        other.execute_batch(statement).unwrap();
        drop(other);
        assert_eq!(code(&place), expected, "{statement}");
    }
}

#[test]
fn a_missing_journal_is_not_created_where_that_was_not_asked_for() {
    let place = Place::new();
    let options = Options { create: false, ..Options::default() };
    assert_eq!(place.try_open(&options).unwrap_err().code, ErrorCode::CannotOpen);
    let missing = place.folder.path().join("no-such-folder").join("j");
    assert_eq!(Store::open(&missing, &Options::default()).unwrap_err().code, ErrorCode::CannotOpen);
}

/// A journal with runs in several states, closed.
fn filled(place: &Place) -> Vec<u8> {
    let store = place.open();
    for to in [To::Ready, To::Calling, To::Asking, To::Deferred, To::Sleeping { until: 5 }] {
        let name = format!("{:?}", to.clone());
        start(&store, Some(&name), to);
    }
    let (_, lease) = start(&store, Some("ended"), To::Calling);
    store.end(lease, b"{\"status\":\"ok\",\"value\":1}").unwrap().wait().unwrap();
    let (doubt, mut lease) = start(&store, Some("doubt"), To::Calling);
    store.record(&mut lease, &record(To::Doubt, 1)).unwrap().wait().unwrap();
    store.resolve(doubt, Some(1), &Decision::Answer("{\"id\":1}".into()), "ann").unwrap();
    drop(store);
    assert!(!place.folder.path().join("j-wal").exists(), "a store that closes leaves one file");
    fs::read(place.path()).unwrap()
}

/// Everything in the journal, or the first error.
fn told(path: &Path) -> Result<String, ilo_journal::Error> {
    let store = Store::open(path, &Options::default())?;
    let mut told = String::new();
    store.list(&Listed::default(), |summary| {
        told.extend([format!("{summary:?}\n")]);
        true
    })?;
    for run in 1..=7 {
        told.extend([format!("{:?}\n", store.decisions(RunId(run))?)]);
        match store.claim(RunId(run)).wait() {
            Ok(Claim::Mine(claimed)) => {
                told.extend([format!("{:?} {:?}\n", claimed.answer, claimed.snapshot)]);
            }
            Ok(other) => told.extend([format!("{other:?}\n")]),
            Err(error) => return Err(error),
        }
    }
    for name in ["Ready", "ended", "doubt"] {
        told.extend([format!("{}\n", store.find(name)?)]);
    }
    Ok(told)
}

#[test]
fn a_flipped_byte_anywhere_is_an_error_or_changes_nothing() {
    let place = Place::new();
    let bytes = filled(&place);
    let expected = told(&place.path()).unwrap();
    let (mut refused, mut harmless) = (0, 0);
    // Every byte is too much for a debug build: some of those that hold something, and some of each page.
    let full = (0..bytes.len()).filter(|&at| bytes[at] != 0).step_by(17);
    let any = (0..bytes.len()).step_by(1021);
    for (at, flip) in full.chain(any).zip([1_u8, 0x80, 0xff, 0x20].into_iter().cycle()) {
        let other = Place::new();
        let mut flipped = bytes.clone();
        flipped[at] ^= flip;
        fs::write(other.path(), &flipped).unwrap();
        match told(&other.path()) {
            Ok(found) => {
                harmless += 1;
                assert_eq!(found, expected, "byte {at}");
            }
            Err(error) => {
                refused += 1;
                let codes = [
                    ErrorCode::Damaged,
                    ErrorCode::NotAJournal,
                    ErrorCode::NewerVersion,
                    ErrorCode::NetworkFileSystem,
                    ErrorCode::Io,
                ];
                assert!(codes.contains(&error.code), "byte {at}: {error}");
            }
        }
    }
    assert!(refused > 100 && harmless > 10, "{refused} {harmless}");
}

#[test]
fn runs_that_cannot_be_read_are_told_one_by_one_whatever_their_state_says() {
    for (statement, run, word) in [
        ("UPDATE live SET state=77 WHERE run=3", 3, "state"),
        // Of a run that waits for a person now, and of one that any process may continue.
        ("UPDATE live SET state=2 WHERE run=1", 1, "record"),
        ("UPDATE live SET state=1 WHERE run=3", 3, "record"),
        ("UPDATE live SET tool='x' WHERE run=4", 4, "record"),
        ("UPDATE live SET tool=x'05' WHERE run=4", 4, "tool"),
        ("UPDATE run SET function='x' WHERE id=5", 5, "entry"),
        ("UPDATE run SET ended=5 WHERE id=5", 5, "entry"),
        ("UPDATE run SET ended=NULL WHERE id=6", 6, "missing"),
        ("UPDATE call SET what='x' WHERE run=7", 7, "decision"),
        ("DELETE FROM live WHERE run=2", 2, "missing"),
        ("DELETE FROM run WHERE id=2", 2, "missing"),
    ] {
        let place = Place::new();
        filled(&place);
        let other = rusqlite::Connection::open(place.path()).unwrap();
        other.execute_batch(statement).unwrap();
        drop(other);
        let mut found = Vec::new();
        place.open().damaged(|run, error| found.push((run, error))).unwrap();
        let [(found, error)] = &found[..] else { panic!("{statement}: {found:?}") };
        assert_eq!((*found, error.code), (RunId(run), ErrorCode::Damaged), "{statement}");
        assert!(error.message.contains(word), "{statement}: {error}");
    }
    let place = Place::new();
    filled(&place);
    place.open().damaged(|run, error| panic!("{run}: {error}")).unwrap();
}

#[test]
fn a_run_that_another_store_ends_meanwhile_is_not_damaged() {
    let place = Place::new();
    let (store, path) = (place.open(), place.path());
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let other = Store::open(&path, &Options::default()).unwrap();
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                other.damaged(|run, error| panic!("{run}: {error}")).unwrap();
            }
        });
        for _ in 0..300 {
            let (_, lease) = start(&store, None, To::Calling);
            store.end(lease, b"{}").unwrap().wait().unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        reading.join().unwrap();
    });
}

#[test]
fn a_format_that_no_database_has_is_damage() {
    let place = Place::new();
    let mut bytes = filled(&place);
    bytes[47] = 0xff;
    fs::write(place.path(), &bytes).unwrap();
    assert_eq!(code(&place), ErrorCode::Damaged);
}

#[test]
fn a_page_that_was_zeroed_or_taken_from_elsewhere_is_an_error_or_changes_nothing() {
    let place = Place::new();
    let bytes = filled(&place);
    let expected = told(&place.path()).unwrap();
    let pages = bytes.len() / 4096;
    for page in 0..pages {
        for source in [None, Some((page + 1) % pages)] {
            let other = Place::new();
            let mut changed = bytes.clone();
            let from = source.map_or(vec![0; 4096], |source| bytes[source * 4096..][..4096].to_vec());
            changed[page * 4096..][..4096].copy_from_slice(&from);
            fs::write(other.path(), &changed).unwrap();
            if let Ok(found) = told(&other.path()) {
                assert_eq!(found, expected, "page {page} from {source:?}");
            }
        }
    }
}

#[test]
fn a_journal_that_was_cut_off_is_an_error() {
    let place = Place::new();
    let bytes = filled(&place);
    let expected = told(&place.path()).unwrap();
    for end in (1..bytes.len()).step_by(1021) {
        let other = Place::new();
        fs::write(other.path(), &bytes[..end]).unwrap();
        match told(&other.path()) {
            // What is missing of the last page was zero.
            Ok(found) => assert!(found == expected && end > bytes.len() - 4096, "{end}"),
            Err(error) => {
                let codes = [ErrorCode::Damaged, ErrorCode::NotAJournal];
                assert!(codes.contains(&error.code), "{end}: {error}");
            }
        }
    }
}

#[test]
fn a_log_that_was_cut_off_loses_whole_transactions_only() {
    let place = Place::new();
    let store = place.open();
    let (run, mut lease) = start(&store, None, To::Calling);
    for call in 2..12 {
        store.record(&mut lease, &record(To::Calling, call)).unwrap().wait().unwrap();
    }
    let (file, log) = (fs::read(place.path()).unwrap(), fs::read(place.folder.path().join("j-wal")).unwrap());
    let mut last = 12;
    for end in (0..log.len()).rev().step_by(701) {
        let other = Place::new();
        fs::write(other.path(), &file).unwrap();
        fs::write(other.folder.path().join("j-wal"), &log[..end]).unwrap();
        let reached = match other.try_open(&Options::default()).and_then(|store| store.claim(run).wait()) {
            Ok(Claim::Mine(claimed)) => {
                assert_eq!(claimed.state, State::Calling);
                claimed.call
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) => {
                assert_eq!(error.code, ErrorCode::NoRun, "{error}");
                0
            }
        };
        assert!(reached <= last, "a shorter log never reaches farther");
        last = reached;
    }
    assert_eq!(last, 0);
}

#[test]
fn a_full_disk_is_an_error_to_who_writes_and_nothing_is_lost() {
    let place = Place::new();
    let store = place.open();
    let (run, mut lease) = start(&store, None, To::Calling);
    drop(store.record(&mut lease, &record(To::Calling, 2)).unwrap().wait());
    store.limit_pages(Some(14)).unwrap();
    let large = vec![7; 100_000];
    let too_large = ilo_journal::Record { snapshot: &large, ..record(To::Calling, 3) };
    let mut small = start_error(&store);
    let error = store.record(&mut lease, &too_large).unwrap().wait().unwrap_err();
    assert_eq!(error.code, ErrorCode::Full);
    for _ in 0..200 {
        small = small.or_else(|| start_error(&store));
    }
    assert_eq!(small, Some(ErrorCode::Full));
    store.limit_pages(None).unwrap();
    assert!(start_error(&store).is_none(), "there is room again");
    drop((store, lease));
    let store = place.open();
    let claimed = mine(&store, run);
    assert_eq!((claimed.state, claimed.call), (State::Calling, 2));
    store.check().unwrap();
}

fn start_error(store: &Store) -> Option<ErrorCode> {
    let limits = ilo_journal::RunLimits::default();
    let large = vec![7; 3000];
    let first = ilo_journal::Record { snapshot: &large, ..record(To::Calling, 1) };
    let started = store.start(&new_run(None, &limits), &FirstRecord::Call(first)).unwrap().wait();
    started.err().map(|error| error.code)
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    drop(place.open());
    let set = |mode| fs::set_permissions(place.folder.path(), fs::Permissions::from_mode(mode)).unwrap();
    set(0o500);
    let opened = place.try_open(&Options::default()).map(drop);
    set(0o700);
    // The superuser may write everywhere but in a file system of the kernel.
    #[cfg(target_os = "linux")]
    {
        let error = Store::open(Path::new("/proc/journal"), &Options::default()).map(drop).unwrap_err();
        assert!([ErrorCode::ReadOnly, ErrorCode::CannotOpen].contains(&error.code), "{error}");
    }
    if let Err(error) = opened {
        assert!([ErrorCode::ReadOnly, ErrorCode::CannotOpen].contains(&error.code), "{error}");
    }
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o400)).unwrap();
    if let Err(error) = place.try_open(&Options::default()) {
        assert_eq!(error.code, ErrorCode::ReadOnly, "{error}");
    }
}

#[cfg(unix)]
#[test]
fn two_paths_of_one_journal_are_one_journal_or_refused() {
    let place = Place::new();
    let link = place.folder.path().join("link");
    let store = place.open();
    let (run, _lease) = start(&store, None, To::Calling);
    std::os::unix::fs::symlink(place.path(), &link).unwrap();
    let other = Store::open(&link, &Options::default()).unwrap();
    assert_eq!(other.path(), store.path());
    assert_eq!(other.claim(run).wait().unwrap_err().code, ErrorCode::Owned);
    drop((store, other));
    let hard = place.folder.path().join("hard");
    fs::hard_link(place.path(), &hard).unwrap();
    assert_eq!(Store::open(&hard, &Options::default()).unwrap_err().code, ErrorCode::CannotOpen);
}

#[test]
fn a_journal_that_another_process_creates_at_the_same_time_is_one_journal() {
    let place = Place::new();
    let path = place.path();
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let path = path.clone();
            std::thread::spawn(move || {
                let store = Store::open(&path, &Options::default()).unwrap();
                start(&store, Some(&format!("run {thread}")), To::Ready);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let mut runs = 0;
    place
        .open()
        .list(&Listed::default(), |_| {
            runs += 1;
            true
        })
        .unwrap();
    assert_eq!(runs, 8);
}

#[test]
fn the_times_of_decisions_stay_in_order() {
    let place = Place::new();
    let store = place.open();
    let (run, mut lease) = start(&store, None, To::Calling);
    store.record(&mut lease, &record(To::Doubt, 1)).unwrap().wait().unwrap();
    // Many within a millisecond, as after a clock that was set back.
    for _ in 0..20 {
        store.resolve(run, None, &Decision::Cancel, "ann").unwrap();
    }
    let times: Vec<i64> = store.decisions(run).unwrap().into_iter().map(|decided| decided.at).collect();
    assert!(times.is_sorted_by(|one, next| one < next) && times.len() == 20);
}

#[test]
fn a_run_that_was_never_there_is_an_error_everywhere() {
    let place = Place::new();
    let store = place.open();
    for run in [RunId(0), RunId(-1), RunId(1), RunId(i64::MAX)] {
        assert_eq!(store.claim(run).wait().unwrap_err().code, ErrorCode::NoRun);
        assert_eq!(store.show(run).unwrap_err().code, ErrorCode::NoRun);
        assert_eq!(store.export(run).unwrap_err().code, ErrorCode::NoRun);
        assert_eq!(store.resolve(run, Some(1), &Decision::Retry, "ann").unwrap_err().code, ErrorCode::NoRun);
    }
    for text in ["0", "-3", "x", "", "9223372036854775808"] {
        assert_eq!(store.find(text).unwrap_err().code, ErrorCode::NoRun, "{text}");
    }
}
