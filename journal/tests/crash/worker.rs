//! A process that starts and resumes runs until all have ended or it is killed.

use crate::programs::{Log, Random, answer, result};
use crate::world::{beginning, policy};
use ilo_drive::data::Data;
use ilo_drive::failure::Failure;
use ilo_drive::give;
use ilo_journal::{Claim, Due, ErrorCode, Left, Options, Permit, RunId, Session, Store, Taken};
use ilo_vm::{Program, Run, Step};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The environment variable with the address of a journal in a database.
pub const JOURNAL: &str = "ILO_CRASH_JOURNAL";
/// That with the days by which the clock of a worker is wrong.
pub const DAYS: &str = "ILO_CRASH_DAYS";
/// Seconds of a day.
const DAY: f64 = 86_400.0;

pub fn run(folder: &Path, runs: u64, seed: u64) {
    let mut random = Random(seed);
    check_clock(folder);
    let store = Arc::new(opened(&place(folder)));
    let log_path = folder.join("effects");
    let mut order: Vec<u64> = (0..runs).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, usize::try_from(random.below(at as u64 + 1)).unwrap());
    }
    for &number in &order {
        let name = format!("r{number}");
        if store.find(&name).is_ok() {
            continue;
        }
        let (run, beginning) = beginning(&name, number);
        let session = Session::new(store.clone(), beginning);
        if let Some(Left::Ended | Left::Waits { .. }) = drive(session, run, &Log(&log_path), &mut random) {
            Log(&folder.join("acknowledged")).write(&name, "-", "-");
        }
    }
    for _ in 0..3 {
        for &number in &order {
            if let Ok(found) = store.find(&format!("r{number}")) {
                resume(&store, found, &Log(&log_path), &mut random);
            }
        }
    }
}

/// The clock of this process is wrong by as many days as it should be, compared with that of the file system.
fn check_clock(folder: &Path) {
    let Ok(days) = std::env::var(DAYS) else { return };
    let path = folder.join(format!("clock{}", std::process::id()));
    std::fs::write(&path, "").unwrap();
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    let ahead = match SystemTime::now().duration_since(written) {
        Ok(ahead) => ahead.as_secs_f64(),
        Err(behind) => -behind.duration().as_secs_f64(),
    };
    let wrong = ahead / DAY - days.parse::<f64>().unwrap();
    assert!(wrong.abs() < 0.1, "the clock is wrong by {wrong} days more than it should be");
    std::fs::remove_file(&path).unwrap();
}

/// The journal of a folder: the file in it, unless a database is named.
pub fn place(folder: &Path) -> PathBuf {
    std::env::var_os(JOURNAL).map_or_else(|| folder.join("j"), PathBuf::from)
}

/// Opens a journal, which may be in a database that is away just now.
pub fn opened(place: &Path) -> Store {
    for _ in 0..600 {
        match Store::open(place, &Options::default()) {
            Ok(store) => return store,
            Err(error) => assert!([ErrorCode::CannotOpen, ErrorCode::Busy].contains(&error.code), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("the journal cannot be opened");
}

fn resume(store: &Arc<Store>, run: RunId, log: &Log<'_>, random: &mut Random) {
    let claimed = match store.claim(run).wait() {
        Ok(Claim::Mine(claimed)) => *claimed,
        Ok(Claim::Waits { .. } | Claim::Ended { .. }) => return,
        Err(error) => {
            assert!([ErrorCode::Owned, ErrorCode::Lost, ErrorCode::Busy].contains(&error.code), "{error}");
            return;
        }
    };
    let program = Program::load(&claimed.program).unwrap();
    let run = Run::from_snapshot(&program, &claimed.snapshot, claimed.limits.machine.clone()).unwrap();
    drive(Session::resumed(store.clone(), claimed), run, log, random);
}

/// Drives a run until it ends or waits; nothing if another process has it.
fn drive(mut session: Session, mut run: Run, log: &Log<'_>, random: &mut Random) -> Option<Left> {
    loop {
        let (tool, arguments, number, rollback) = match run.step() {
            Step::Done(_) => {
                if let Err(error) = session.end(&run) {
                    assert_eq!(error.code, ErrorCode::Lost, "{error}");
                }
                return session.left().cloned();
            }
            Step::Call(call) => {
                let mut arguments = String::new();
                call.write_json(&mut arguments).unwrap();
                (call.tool().to_owned(), arguments, call.number(), call.is_rollback())
            }
        };
        let (policy, data): (_, Data) = (policy(&tool), arguments.parse().unwrap());
        let due = Due {
            run: &run,
            tool: &tool,
            policy: Some(&policy),
            arguments: &data,
            number,
            rollback,
            expects: None,
        };
        let permit = match session.before(&due) {
            Ok(permit) => permit,
            Err(error) => {
                assert!([ErrorCode::Lost, ErrorCode::Busy].contains(&error.code), "{error}");
                return None;
            }
        };
        let given = match permit {
            Permit::Suspend => return session.left().cloned(),
            Permit::Settled(given) => given,
            Permit::CallWithKey { key, .. } => make(log, random, (&tool, &arguments), &key),
            Permit::Call => make(log, random, (&tool, &arguments), ""),
        };
        match session.after(&due, &given) {
            Ok(Taken::GoOn) => {}
            Ok(Taken::Suspend) => return session.left().cloned(),
            Err(error) => {
                assert_eq!(error.code, ErrorCode::Lost, "{error}");
                return None;
            }
        }
        give(run.pending().unwrap(), &given);
    }
}

/// Makes a call, with time before and after its effect for a kill.
fn make(
    log: &Log<'_>,
    random: &mut Random,
    (tool, arguments): (&str, &str),
    key: &str,
) -> Result<Data, Failure> {
    let (answer, changes) = answer(tool, arguments);
    let mut pause = || std::thread::sleep(Duration::from_micros(random.below(1500)));
    pause();
    if changes {
        log.write(key, tool, arguments);
    }
    pause();
    result(answer)
}
