//! Loops that BREAK ends, in runs that are suspended and restored at every call, and under look-ahead.

use ilo_asm::compile::{Options, compile};
use ilo_vm::{Datum, Limits, Program, Run, Scout, Step};

/// Asks `poll` at most five times, and sends what was collected. BREAK depends on the answer.
const POLL: &str = "\
; fn f(id: text) -> result list any, text
; Vars: 0=id 1=seen 2=try 3=answer 4=e 5=last
; Tools: 0=poll 1=send 2=give-up
; Fields: 0=id 1=try
LET 5 LIT 0 \"nothing\"
LET 1 FOR 2 RANGE LIT 1 5 5
  LET 3 CALL 0 2 0 REF 0 1 REF 2
  MATCH 3 1
    ERR 4 1
      BREAK
  LET 5 REF 3
  IF EQ REF 3 LIT 0 \"done\" 1
    BREAK
  REF 3
ELSE 2
  CALL 2 0
  RET_ERR CONCAT LIT 0 \"too many after \" REF 5
CALL 1 1 0 REF 5
RET_OK REF 1
";

/// BREAK depends on a known value, so a scout continues beyond it.
const COUNTED: &str = "\
; fn f(id: text) -> nil
; Tools: 0=poll 1=send
; Fields: 0=id 1=try
FOR 1 RANGE LIT 1 10 2
  CALL 0 2 0 REF 0 1 REF 1
  IF GTE REF 1 LIT 1 2 1
    BREAK
ELSE 1
  RET LIT 2 nil
CALL 1 1 0 REF 0
";

fn program(source: &str) -> Program {
    let (program, diagnostics) = compile(source, &Options::default());
    Program::new(program.unwrap_or_else(|| panic!("{:?}", diagnostics.as_slice()))).unwrap()
}

fn begun(program: &Program) -> Run {
    let mut run = Run::new(program, Limits::default());
    run.start(program.entry().unwrap(), &[Datum::Text("a")]).unwrap();
    run
}

/// The answers of the polls: `more` before the one with this number, which gets this answer.
#[derive(Clone, Copy, Debug)]
struct Answers {
    at: usize,
    last: Result<&'static str, &'static str>,
}

/// The calls of a run, its outcome and its fuel. `between` gets the run at every call, and returns the run
/// that continues.
fn ended(mut run: Run, answers: Answers, between: &dyn Fn(Run) -> Run) -> (Vec<String>, String, u64) {
    let (mut calls, mut polls) = (Vec::new(), 0);
    loop {
        if let Step::Done(outcome) = run.step() {
            let outcome = outcome.to_string();
            return (calls, outcome, run.fuel_used());
        }
        run = between(run);
        let call = run.pending().unwrap();
        let mut text = format!("{} ", call.tool());
        call.write_json(&mut text).unwrap();
        let is_poll = call.tool() == "poll";
        let answered = if !is_poll {
            call.answer(())
        } else if polls < answers.at {
            call.answer(Datum::Text("more"))
        } else {
            match answers.last {
                Ok(text) => call.answer(Datum::Text(text)),
                Err(text) => call.fail(text),
            }
        };
        answered.unwrap();
        polls += usize::from(is_poll);
        calls.push(text);
    }
}

#[test]
fn a_loop_that_break_ends_goes_on_after_a_restore_as_it_would_have() {
    let program = program(POLL);
    let restored = |run: Run| {
        let mut bytes = Vec::new();
        run.snapshot(&mut bytes).unwrap();
        let other = Run::from_snapshot(&program, &bytes, Limits::default()).unwrap();
        let mut again = Vec::new();
        other.snapshot(&mut again).unwrap();
        assert_eq!(bytes, again, "the same run has the same snapshot");
        other
    };
    let restored_in_place = |mut run: Run| {
        let mut bytes = Vec::new();
        run.snapshot(&mut bytes).unwrap();
        run.restore(&bytes).unwrap();
        run
    };
    for at in 0..6 {
        for last in [Ok("done"), Err("down")] {
            let answers = Answers { at, last };
            let plain = ended(begun(&program), answers, &|run| run);
            let polls = plain.0.iter().filter(|call| call.starts_with("poll ")).count();
            assert_eq!(polls, (at + 1).min(5), "{answers:?}: {plain:?}");
            let collected = vec!["\"more\""; at].join(",");
            let expected = if at < 5 {
                format!("{{\"status\":\"ok\",\"value\":[{collected}]}}")
            } else {
                "{\"status\":\"err\",\"error\":\"too many after more\"}".to_owned()
            };
            assert_eq!(plain.1, expected, "{answers:?}");
            let sent = match (at, last) {
                (5.., _) => None,
                (_, Ok(_)) => Some("done"),
                (0, Err(_)) => Some("nothing"),
                (_, Err(_)) => Some("more"),
            };
            let sent =
                sent.map_or_else(|| "give-up {}".to_owned(), |text| format!("send {{\"id\":\"{text}\"}}"));
            assert_eq!(plain.0.last(), Some(&sent), "{answers:?}");
            assert_eq!(ended(begun(&program), answers, &restored), plain, "{answers:?}");
            assert_eq!(ended(begun(&program), answers, &restored_in_place), plain, "{answers:?}");
        }
    }
}

/// The calls that a scout finds at the first call of a run, whose answer is unknown.
fn found(source: &str) -> Vec<String> {
    let program = program(source);
    let mut run = begun(&program);
    assert!(matches!(run.step(), Step::Call(_)));
    let mut scout = Scout::new(&program);
    assert!(scout.follow(&run));
    let mut found = Vec::new();
    while let Some(ahead) = scout.ahead() {
        let mut text = format!("{} ", ahead.tool());
        let known = ahead.write_json(&mut text).is_ok();
        found.push(if known { text } else { format!("{} ?", ahead.tool()) });
    }
    found
}

#[test]
fn a_scout_stops_where_break_depends_on_an_unknown_answer() {
    assert_eq!(found(POLL), [""; 0]);
}

#[test]
fn a_scout_leaves_a_loop_where_the_run_will() {
    let polls = [1, 2].map(|at| format!("poll {{\"id\":\"a\",\"try\":{at}}}"));
    let [first, second] = polls;
    assert_eq!(found(COUNTED), [first, second, "send {\"id\":\"a\"}".to_owned()]);
}
