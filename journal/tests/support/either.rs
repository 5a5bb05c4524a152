//! What holds of a journal wherever it is: each test gets a function that opens the same one again.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, missing_docs, unreachable_pub, reason = "tests")]

use super::support::{CHANGES, mine, new_run, record, start};
use ilo_asm::compile::{Options as Build, compile};
use ilo_drive::data::Data;
use ilo_drive::failure::Failure;
use ilo_drive::give;
use ilo_drive::policy::Policy;
use ilo_journal::{
    Answer, At, Beginning, Called, Claim, Decision, Due, ErrorCode, FirstRecord, NewRun, Permit, Record,
    RunLimits, Session, State, Store, Taken, To,
};
use ilo_vm::{Limits, Program, Run, Step};
use std::sync::Arc;
use std::time::Duration;

pub fn a_run_is_there_when_the_journal_is_opened_again(open: &dyn Fn() -> Store) {
    let store = open();
    let (run, mut lease) = start(&store, Some("order"), To::Calling);
    let key = lease.key(1);
    assert!(!store.record(&mut lease, &record(To::Calling, 2)).unwrap().wait().unwrap());
    drop(store);
    let store = open();
    let claimed = mine(&store, run);
    assert_eq!((claimed.state, claimed.call, claimed.tool.as_str()), (State::Calling, 2, "pay"));
    assert_eq!((claimed.policy, claimed.tries, claimed.active_ms), (CHANGES, 1, 7));
    assert_eq!((claimed.snapshot.as_slice(), &*claimed.program), (&b"snapshot"[..], &b"program"[..]));
    assert_eq!((claimed.function.as_str(), claimed.answer.as_ref()), ("f", None));
    assert_eq!(claimed.limits, RunLimits::default());
    assert_eq!(claimed.lease.key(1), key);
    store.end(claimed.lease, b"{\"status\":\"ok\"}").unwrap().wait().unwrap();
    drop(store);
    let store = open();
    let Claim::Ended { outcome } = store.claim(run).wait().unwrap() else { panic!("it has ended") };
    assert_eq!(outcome, b"{\"status\":\"ok\"}");
    assert_eq!(store.find("order").unwrap(), run);
    assert_eq!(store.find(&run.to_string()).unwrap(), run);
    assert_eq!(store.wait(run, Duration::ZERO).unwrap().as_deref(), Some(&b"{\"status\":\"ok\"}"[..]));
    assert_eq!(store.find_key(&key).unwrap(), Some((run, 1)));
    store.check().unwrap();
}

pub fn the_same_name_program_and_input_are_the_same_run_and_others_are_refused(open: &dyn Fn() -> Store) {
    let store = open();
    let (run, _lease) = start(&store, Some("order"), To::Ready);
    let limits = RunLimits::default();
    let ask = |new: &NewRun<'_>| store.start(new, &FirstRecord::Call(record(To::Ready, 1))).unwrap();
    let base = new_run(Some("order"), &limits);
    let same = ask(&base).wait().unwrap();
    assert_eq!((same.run, same.is_new, same.lease.is_none()), (run, false, true));
    for other in [
        NewRun { input: b"{\"x\":2}", ..base.clone() },
        NewRun { program: b"other", ..base.clone() },
        NewRun { function: "g", ..base.clone() },
    ] {
        assert_eq!(ask(&other).wait().unwrap_err().code, ErrorCode::NameTaken);
    }
    assert_ne!(ask(&new_run(None, &limits)).wait().unwrap().run, run);
    // Two of a name in one group: one is new.
    let twice = [(); 2].map(|()| ask(&new_run(Some("two"), &limits))).map(|ticket| ticket.wait().unwrap());
    assert_eq!(twice[0].run, twice[1].run);
    assert_eq!(twice.iter().filter(|started| started.is_new).count(), 1);
    let ended =
        store.start(&new_run(Some("short"), &limits), &FirstRecord::Ended(b"{}")).unwrap().wait().unwrap();
    assert!(ended.lease.is_none());
    assert!(matches!(store.show(ended.run).unwrap().at, At::Ended { .. }));
}

pub fn a_run_has_one_owner_and_who_has_lost_it_writes_nothing(open: &dyn Fn() -> Store) {
    let (one, other) = (open(), open());
    let (run, mut lease) = start(&one, None, To::Calling);
    assert_eq!(other.claim(run).wait().unwrap_err().code, ErrorCode::Owned);
    assert_eq!(one.claim(run).wait().unwrap_err().code, ErrorCode::Owned);
    // The returned run belongs to the other process, and the lease of the first one is void.
    one.release(&lease).wait().unwrap();
    let claimed = mine(&other, run);
    let late = one.record(&mut lease, &record(To::Calling, 2)).unwrap().wait();
    assert_eq!(late.unwrap_err().code, ErrorCode::Lost);
    one.record_later(&mut lease, &record(To::Ready, 3)).unwrap();
    assert_eq!(one.end(lease, b"{}").unwrap().wait().unwrap_err().code, ErrorCode::Lost);
    assert_eq!((claimed.state, claimed.call), (State::Calling, 1));
    other.end(claimed.lease, b"{\"status\":\"ok\"}").unwrap().wait().unwrap();
    drop(one);
    let Claim::Ended { outcome } = other.claim(run).wait().unwrap() else { panic!("it has ended") };
    assert_eq!(outcome, b"{\"status\":\"ok\"}");
}

pub fn a_record_that_nobody_waits_for_is_written_before_the_store_closes(open: &dyn Fn() -> Store) {
    let store = open();
    let (run, mut lease) = start(&store, None, To::Ready);
    for call in 2..50 {
        store.record_later(&mut lease, &record(To::Ready, call)).unwrap();
    }
    drop(store);
    assert_eq!(mine(&open(), run).call, 49);
}

const SOURCE: &str = "
; fn f() -> nil
; Tools: 0=get 1=pay
; Fields: 0=amount
LET 1 CALL 0 1 0 LIT 1 7
LET 2 CALL 1 1 0 LIT 1 5
LET 3 CALL 1 1 0 LIT 1 6
RET LIT 2 nil
";

pub fn policy_of(tool: &str) -> Policy {
    if tool == "get" { Policy::reads() } else { Policy::default() }
}

/// The next call of a run: tool, arguments, number.
pub fn next(run: &mut Run) -> Option<(String, Data, u64)> {
    let Step::Call(call) = run.step() else { return None };
    let mut arguments = String::new();
    call.write_json(&mut arguments).unwrap();
    Some((call.tool().to_owned(), arguments.parse().unwrap(), call.number()))
}

/// Drives a run until it ends or waits. Its call `doubtful` has no answer.
fn drive(session: &mut Session, run: &mut Run, doubtful: u64) {
    loop {
        let Some((tool, arguments, number)) = next(run) else { return session.end(run).unwrap() };
        let policy = policy_of(&tool);
        let policy = Some(&policy);
        let due =
            Due { run, tool: &tool, policy, arguments: &arguments, number, rollback: false, expects: None };
        let result = match session.before(&due).unwrap() {
            Permit::Suspend => return,
            Permit::Settled(result) => result,
            _ if number == doubtful => Err(Failure::InDoubt("no answer".to_owned())),
            _ => Ok(Data::from(i64::try_from(number).unwrap())),
        };
        match session.after(&due, &result).unwrap() {
            Taken::Suspend => return,
            Taken::GoOn => give(run.pending().unwrap(), &result),
        }
    }
}

pub fn begin(store: &Arc<Store>) -> (Session, Run) {
    begin_with(store, SOURCE)
}

fn begin_with(store: &Arc<Store>, source: &str) -> (Session, Run) {
    let (program, found) = compile(source, &Build::default());
    let program = Program::new(program.unwrap_or_else(|| panic!("{found:?}"))).unwrap();
    let mut run = Run::new(&program, Limits::default());
    run.start(program.function("f").unwrap(), &[]).unwrap();
    let beginning = Beginning {
        name: None,
        input: b"{}".to_vec(),
        program: program.to_bytes(),
        function: "f".into(),
        limits: RunLimits::default(),
    };
    (Session::new(store.clone(), beginning), run)
}

/// Of a call what is kept: number, tool, arguments, answer, and whether a process made it itself.
type Told = (u64, String, String, Option<Answer>, bool);

fn told(calls: Vec<Called>) -> Vec<Told> {
    let each = |called: Called| {
        (called.call, called.tool, called.arguments, called.answer, called.took_ms.is_some())
    };
    calls.into_iter().map(each).collect()
}

fn paid(call: u64, amount: u64, answer: Option<&str>, made: bool) -> Told {
    let tool = if call == 1 { "get" } else { "pay" };
    let answer = answer.map(|json| Answer::Ok(json.to_owned()));
    (call, tool.to_owned(), format!("{{\"amount\":{amount}}}"), answer, made)
}

pub fn a_journal_that_is_to_keep_calls_keeps_the_calls_of_runs(
    open: &dyn Fn() -> Store,
    other: &dyn Fn() -> Store,
) {
    let store = Arc::new(open());
    let (mut session, mut run) = begin(&store);
    drive(&mut session, &mut run, 0);
    let unkept = session.run().unwrap();
    assert_eq!((store.calls(unkept).unwrap(), store.keeps_calls()), (vec![], false));
    store.keep_calls(true).unwrap();
    let (mut session, mut run) = begin(&store);
    drive(&mut session, &mut run, 2);
    let run = session.run().unwrap();
    let first = [paid(1, 7, Some("1"), true), paid(2, 5, None, true)];
    assert_eq!(told(store.calls(run).unwrap()), first, "the second is in doubt");
    assert_eq!(store.decisions(run).unwrap(), []);
    store.resolve(run, Some(2), &Decision::Answer("\"p\"".into()), "ann").unwrap();
    drop((session, store));
    // Another process, which reads the setting.
    let store = Arc::new(open());
    assert!(store.keeps_calls());
    let claimed = mine(&store, run);
    let program = Program::load(&claimed.program).unwrap();
    let mut machine = Run::from_snapshot(&program, &claimed.snapshot, Limits::default()).unwrap();
    drive(&mut Session::resumed(store.clone(), *claimed), &mut machine, 0);
    let later = [paid(2, 5, Some("\"p\""), false), paid(3, 6, Some("3"), true)];
    assert_eq!(told(store.calls(run).unwrap()), [first, later].concat());
    assert_eq!(store.decisions(run).unwrap().len(), 1, "those of people alone");
    // They go along where the run goes.
    let other = other();
    let moved = other.import(&store.export(run).unwrap()).unwrap();
    assert_eq!(other.calls(moved).unwrap(), store.calls(run).unwrap());
    store.keep_calls(false).unwrap();
    assert!(!open().keeps_calls());
}

pub fn a_call_that_is_followed_by_a_read_is_kept_where_the_process_ends_then(open: &dyn Fn() -> Store) {
    let source = "
; fn f() -> nil
; Tools: 0=get 1=pay
; Fields: 0=amount
LET 1 CALL 1 1 0 LIT 1 5
LET 2 CALL 0 1 0 LIT 1 7
RET LIT 2 nil
";
    let store = Arc::new(open());
    store.keep_calls(true).unwrap();
    let (mut session, mut run) = begin_with(&store, source);
    for answer in [Some(Ok(Data::from(1))), None] {
        let (tool, arguments, number) = next(&mut run).unwrap();
        let policy = policy_of(&tool);
        let policy = Some(&policy);
        let due = Due {
            run: &run,
            tool: &tool,
            policy,
            arguments: &arguments,
            number,
            rollback: false,
            expects: None,
        };
        assert!(matches!(session.before(&due).unwrap(), Permit::CallWithKey { .. }));
        let Some(answer) = answer else { break };
        session.after(&due, &answer).unwrap();
        give(run.pending().unwrap(), &answer);
    }
    // The run is at its read, and the session is gone.
    let id = session.run().unwrap();
    drop((session, store));
    let store = open();
    let At::Live(live) = store.show(id).unwrap().at else { panic!("it has not ended") };
    assert_eq!((live.state, live.call), (State::Ready, 2));
    assert_eq!(store.calls(id).unwrap().iter().map(|called| called.call).collect::<Vec<_>>(), [1]);
}

pub fn the_bytes_of_a_subject_are_those_of_its_runs_and_of_each_program_once(store: &Store) {
    let limits = RunLimits::default();
    let program = vec![7; 50_000];
    let start = |subject, first: FirstRecord<'_>| {
        let new = NewRun { subject: Some(subject), program: &program, ..new_run(None, &limits) };
        store.start(&new, &first).unwrap().wait().unwrap();
        store.bytes_of(subject).unwrap()
    };
    let long = vec![b'"'; 100_000];
    let ended = start("ada", FirstRecord::Ended(&long));
    assert!((150_000..151_000).contains(&ended), "{ended}");
    let asking = start("ada", FirstRecord::Call(Record { snapshot: &long, ..record(To::Asking, 1) }));
    assert!((250_000..252_000).contains(&asking), "{asking}");
    let other = start("eve", FirstRecord::Ended(b"null"));
    assert!((50_000..51_000).contains(&other), "{other}");
    assert_eq!(store.bytes_of("nobody").unwrap(), 0);
}
