//! When the answer of a call is on disk, and tickets that asynchronous code awaits.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use ilo_asm::compile::{Options as Build, compile};
use ilo_drive::data::Data;
use ilo_drive::policy::Policy;
use ilo_journal::{
    Answer, At, Beginning, Claim, Due, ErrorCode, Permit, RunId, RunLimits, Session, State, Store, Taken, To,
};
use ilo_vm::{Limits, Program, Run, Step};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use support::{Place, record, start};

const SOURCE: &str = "
; fn f(n: number) -> nil
; Tools: 0=pay
; Fields: 0=amount
LET 1 CALL 0 1 0 REF 0
LET 2 CALL 0 1 0 REF 0
RET LIT 2 nil
";

/// A run at its first call.
fn begun() -> Run {
    let (program, found) = compile(SOURCE, &Build::default());
    let program = Program::new(program.unwrap_or_else(|| panic!("{found:?}"))).unwrap();
    let mut run = Run::new(&program, Limits::default());
    run.start_named(program.function("f").unwrap(), &[("n", 1.into())]).unwrap();
    assert!(matches!(run.step(), Step::Call(_)));
    run
}

fn session(store: &Arc<Store>, run: &Run) -> Session {
    let beginning = Beginning {
        name: None,
        input: b"{}".to_vec(),
        program: run.program().to_bytes(),
        function: "f".into(),
        limits: RunLimits::default(),
    };
    Session::new(store.clone(), beginning)
}

/// The first call.
fn due<'c>(run: &'c Run, policy: &'c Policy, arguments: &'c Data) -> Due<'c> {
    let policy = Some(policy);
    Due { run, tool: "pay", policy, arguments, number: 1, rollback: false, expects: None }
}

/// Makes the first call with this policy, and answers it.
fn answered(session: &mut Session, run: &Run, policy: &Policy) -> Option<RunId> {
    let arguments = Data::record([("amount", 1)]);
    let due = due(run, policy, &arguments);
    assert!(matches!(session.before(&due).unwrap(), Permit::CallWithKey { .. } | Permit::Call));
    let taken = session.after(&due, &Ok("paid".into())).unwrap();
    assert_eq!(taken, Taken::GoOn);
    session.run()
}

fn state(store: &Store, run: RunId) -> State {
    match store.show(run).unwrap().at {
        At::Live(waiting) => waiting.state,
        At::Ended { .. } => panic!("it has not ended"),
    }
}

#[test]
fn an_answer_is_on_disk_soon_without_another_record() {
    for idempotent in [false, true] {
        let place = Place::new();
        let store = Arc::new(place.open());
        let run = begun();
        let mut session = session(&store, &run);
        let id = answered(&mut session, &run, &Policy { idempotent, ..Policy::default() }).unwrap();
        let begun = Instant::now();
        while state(&store, id) != State::Answered {
            assert!(begun.elapsed() < Duration::from_secs(10), "it is not written");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn a_flushed_answer_is_there_for_the_process_that_takes_the_run_over() {
    let place = Place::new();
    let store = Arc::new(place.open());
    let run = begun();
    let mut session = session(&store, &run);
    let id = answered(&mut session, &run, &Policy::default()).unwrap();
    session.flush().unwrap();
    assert_eq!(state(&store, id), State::Answered);
    session.flush().unwrap();
    session.release();
    let Claim::Mine(claimed) = store.claim(id).wait().unwrap() else { panic!("nobody else decides") };
    assert_eq!(
        (claimed.state, claimed.answer.as_ref()),
        (State::Answered, Some(&Answer::Ok("\"paid\"".into())))
    );
    // The run goes on with the answer, and the call is not made again.
    let program = Program::load(&claimed.program).unwrap();
    let restored = Run::from_snapshot(&program, &claimed.snapshot, Limits::default()).unwrap();
    let mut session = Session::resumed(store.clone(), *claimed);
    let (policy, arguments) = (Policy::default(), Data::record([("amount", 1)]));
    let permit = session.before(&due(&restored, &policy, &arguments)).unwrap();
    assert_eq!(permit, Permit::Settled(Ok("paid".into())));
}

#[test]
fn an_answer_of_a_call_that_only_reads_is_not_written() {
    let place = Place::new();
    let store = Arc::new(place.open());
    let run = begun();
    let mut session = session(&store, &run).recorded_at_once();
    let id = answered(&mut session, &run, &Policy::reads()).unwrap();
    session.flush().unwrap();
    assert_eq!(state(&store, id), State::Ready);
}

#[test]
fn a_ticket_can_be_awaited() {
    let place = Place::new();
    let store = place.open();
    let (run, mut lease) = start(&store, None, To::Calling);
    let ticket = store.record(&mut lease, &record(To::Calling, 2)).unwrap();
    assert!(!block_on(ticket).unwrap());
    assert_eq!(block_on(store.claim(run)).unwrap_err().code, ErrorCode::Owned);
    block_on(store.end(lease, b"{}").unwrap()).unwrap();
}

struct Woken(Thread);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Woken(thread::current())));
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}
