//! Calls in parallel: which calls a scout finds, how many are under way at once, and that only times differ.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use ilo_host::data::Data;
use ilo_host::data::read::{Bounds, read};
use ilo_host::run::{CallSlots, Ended, Observer, Options};
use ilo_host::tools::{Failure, Provider, Request, Tool, Tools};
use ilo_spec::limits;
use ilo_vm::{Datum, Limits, Program, Run, Scout, Step};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long a test waits, before it fails, for something that never comes.
const HANGS: Duration = Duration::from_mins(1);

fn program(body: &str) -> Program {
    let source = format!(
        "; fn main(xs: list number) -> thing\n; Tools: 0=get 1=put\n; Fields: 0=id 1=name 2=other\n{body}\n"
    );
    let (built, diagnostics) = ilo_asm::compile::compile(&source, &ilo_asm::compile::Options::default());
    Program::new(built.unwrap_or_else(|| panic!("{source}\n{:?}", diagnostics.as_slice()))).unwrap()
}

/// Starts with the list 1, 2, 3, to the first call.
fn waiting(program: &Program) -> Run {
    let mut run = Run::new(program, Limits::default());
    let items: Vec<Datum<'_>> = (1..=3).map(Datum::Int).collect();
    run.start(program.entry().unwrap(), &[Datum::List(&items)]).unwrap();
    assert!(matches!(run.step(), Step::Call(_)));
    run
}

/// The calls that a scout finds at the first call of a program.
fn found(body: &str) -> Vec<String> {
    let program = program(body);
    let run = waiting(&program);
    let mut scout = Scout::new(&program);
    assert!(scout.follow(&run));
    let mut calls = Vec::new();
    while let Some(ahead) = scout.ahead() {
        let mut call = format!("{} ", ahead.tool());
        if ahead.write_json(&mut call).is_err() {
            assert!(!ahead.is_known() && ahead.arguments().next().is_none());
            call.push('?');
        }
        calls.push(call);
    }
    assert!(scout.ahead().is_none(), "its end is its end");
    calls
}

#[test]
fn a_scout_finds_calls_in_a_row_and_over_the_passes_of_a_loop() {
    let row =
        "LET 1 CALL 0 1 0 LIT 1 1\nLET 2 CALL 0 1 0 LIT 1 2\nLET 3 CALL 1 1 0 LIT 1 3\nLIST 2 REF 1 REF 2";
    assert_eq!(found(row), [r#"get {"id":2}"#, r#"put {"id":3}"#]);
    let over = "FOR 1 REF 0 2\n  LET 2 CALL 0 1 0 REF 1\n  OBJ 2 0 REF 1 1 FIELD 2 1";
    assert_eq!(found(over), [r#"get {"id":2}"#, r#"get {"id":3}"#]);
    let two = "FOR 1 REF 0 2\n  LET 2 CALL 0 1 0 REF 1\n  LET 3 CALL 0 1 0 FIELD 2 0\n  REF 3";
    assert_eq!(found(two), ["get ?", r#"get {"id":2}"#, "get ?", r#"get {"id":3}"#, "get ?"]);
    let handled =
        "LET 1 CALL 0 1 0 LIT 1 1\nMATCH 1 1\n  ERR 2 1\n    RET LIT 2 nil\nLET 3 CALL 0 1 0 LIT 1 2\nREF 3";
    assert_eq!(found(handled), [r#"get {"id":2}"#], "it takes every call to succeed");
}

#[test]
fn what_only_computes_passes_on_that_a_value_is_not_known() {
    let expressions = [
        "REF 1",
        "FIELD 1 1",
        "ADD REF 1 LIT 1 1",
        "SUB LIT 1 1 REF 1",
        "MUL REF 1 REF 1",
        "DIV REF 1 LIT 1 2",
        "MOD LIT 1 7 REF 1",
        "EQ REF 1 LIT 1 1",
        "EQ REF 1 LIT 2 nil",
        "NEQ LIT 0 \"a\" REF 1",
        "EQ LIST 1 REF 1 LIST 1 LIT 1 1",
        "EQ OBJ 2 0 LIT 1 1 1 REF 1 OBJ 2 1 LIT 1 1 0 LIT 1 1",
        "LT REF 1 LIT 1 1",
        "GTE LIT 0 \"a\" REF 1",
        "NOT REF 1",
        "CONCAT LIT 0 \"a\" REF 1",
        "CONCAT LIT 0 \"a\" LIST 2 LIT 1 1 LIST 1 REF 1",
        "LEN REF 1",
        "HAS REF 1 1",
        "HAS OBJ 1 0 LIT 1 1 REF 1",
        "AT REF 0 REF 1",
        "AT REF 1 LIT 1 0",
        "APPEND REF 1 LIT 1 1",
        "APPEND REF 0 REF 1",
        "LIST 2 LIT 1 1 REF 1",
        "OBJ 1 0 LIST 1 LIST 1 REF 1",
        "MATCH_MAP REF 1 2 \"a\" LIT 1 1 ELSE LIT 1 2",
        "MERGE REF 1 0 LIT 1 1",
        "MERGE OBJ 1 0 LIT 1 1 1 REF 1",
    ];
    for expression in expressions {
        let body = format!(
            "LET 1 CALL 0 1 0 LIT 1 1\nLET 2 {expression}\nLET 3 CALL 0 1 0 LIT 1 2\nLET 4 CALL 0 1 0 REF 2\nREF 4"
        );
        assert_eq!(found(&body), [r#"get {"id":2}"#, "get ?"], "{expression}");
    }
    // A value that does not depend on the answer is known.
    for (expression, value) in [
        ("EQ LIST 1 REF 1 LIST 2 LIT 1 1 LIT 1 2", "false"),
        ("EQ LIST 2 LIT 1 1 REF 1 LIST 2 LIT 1 2 REF 1", "false"),
        ("LEN LIST 2 REF 1 REF 1", "2"),
        ("AT LIST 2 REF 1 LIT 1 7 LIT 1 1", "7"),
        ("HAS OBJ 1 0 REF 1 0", "true"),
    ] {
        let body = format!("LET 1 CALL 0 1 0 LIT 1 1\nLET 2 {expression}\nLET 4 CALL 0 1 0 REF 2\nREF 4");
        assert_eq!(found(&body), [format!(r#"get {{"id":{value}}}"#)], "{expression}");
    }
}

#[test]
fn a_way_that_depends_on_what_is_not_known_ends_the_scout() {
    let many = (0..40).map(|n| format!(" {n} LIT 0 \"{n}\"")).collect::<Vec<_>>().concat();
    let ways = [
        "IF REF 1 1\n  CALL 1 1 0 LIT 1 9".to_owned(),
        "IF EQ REF 1 LIT 1 1 1\n  CALL 1 1 0 LIT 1 9".to_owned(),
        "IF LT REF 1 LIT 1 1 1\n  CALL 1 1 0 LIT 1 9".to_owned(),
        "IF FIELD 1 1 1\n  CALL 1 1 0 LIT 1 9".to_owned(),
        "IF EQ LIST 1 REF 1 LIST 1 LIT 1 1 1\n  CALL 1 1 0 LIT 1 9".to_owned(),
        "LET 2 AND REF 1 LIT 3 true".to_owned(),
        "LET 2 MATCH_MAP REF 1 2 \"a\" LIT 0 \"b\" ELSE LIT 1 2".to_owned(),
        format!("LET 2 MATCH_MAP REF 1 40{many}"),
        format!("LET 2 MATCH_MAP REF 1 41{many} ELSE LIT 1 1"),
        "FOR 2 REF 1 1\n  CALL 1 1 0 REF 2".to_owned(),
        // The run will fault at a value of this kind.
        "LET 2 DIV LIT 1 1 LIT 1 0".to_owned(),
        "LET 2 AT REF 0 LIT 1 9".to_owned(),
    ];
    for way in ways {
        let body = format!("LET 1 CALL 0 1 0 LIT 1 1\n{way}\nLET 4 CALL 0 1 0 LIT 1 2\nREF 4");
        assert_eq!(found(&body), [""; 0], "{way}");
    }
}

#[test]
fn a_run_with_much_memory_is_not_followed() {
    let program = program("LET 1 CALL 0 1 0 LIT 1 1\nLET 2 CALL 0 1 0 LEN REF 0\nLIST 2 REF 1 REF 2");
    let follows = |items: usize| {
        let mut run = Run::new(&program, Limits::default());
        let items = vec![Datum::Int(1); items];
        run.start(program.entry().unwrap(), &[Datum::List(&items)]).unwrap();
        assert!(matches!(run.step(), Step::Call(_)));
        let mut scout = Scout::new(&program);
        assert_eq!(scout.follow(&run), scout.ahead().is_some());
        run.memory_used() <= limits::SCOUTED_MEMORY
    };
    // An item takes 16 bytes.
    assert!(follows(100_000));
    assert!(!follows(300_000));
}

#[test]
fn a_scout_burns_no_more_fuel_than_its_own() {
    let program = program(
        "LET 1 CALL 0 1 0 LIT 1 1\nLET 2 LIT 1 0\nFOR 3 REF 0 1\n  LET 2 ADD REF 2 REF 3\n\
         LET 4 CALL 0 1 0 REF 2\nLIST 2 REF 1 REF 4",
    );
    // The fuel of a run with this number of items from its first call to its second, and whether a scout gets
    // as far.
    let burnt = |items: usize| {
        let mut run = Run::new(&program, Limits::default());
        let items = vec![Datum::Int(1); items];
        run.start(program.entry().unwrap(), &[Datum::List(&items)]).unwrap();
        assert!(matches!(run.step(), Step::Call(_)));
        let mut scout = Scout::new(&program);
        assert!(scout.follow(&run));
        let (found, before) = (scout.ahead().is_some(), run.fuel_used());
        run.pending().unwrap().answer(1).unwrap();
        assert!(matches!(run.step(), Step::Call(_)));
        (run.fuel_used() - before, found)
    };
    let pass = burnt(1_001).0 - burnt(1_000).0;
    let most = usize::try_from(limits::SCOUT_FUEL / pass).unwrap();
    let mut both = [false; 2];
    for items in most - 8..most + 8 {
        let (fuel, found) = burnt(items);
        assert_eq!(found, fuel <= limits::SCOUT_FUEL, "{fuel}");
        both[usize::from(found)] = true;
    }
    assert_eq!(both, [true; 2], "the limit was among them");
}

/// Tools that are functions of the test; `get` is read-only.
struct Own<F>(F);

impl<F: Fn(&Request<'_>) -> Result<Data, Failure> + Send + Sync> Provider for Own<F> {
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure> {
        (self.0)(request)
    }
}

fn tools(
    get: impl Fn(&Request<'_>) -> Result<Data, Failure> + Send + Sync + 'static,
    put: impl Fn(&Request<'_>) -> Result<Data, Failure> + Send + Sync + 'static,
) -> Tools {
    let mut tools = Tools::new();
    let mut read_only = Tool::new("get", Box::new(Own(get)));
    read_only.policy.read_only = true;
    tools.add(read_only);
    tools.add(Tool::new("put", Box::new(Own(put))));
    tools
}

/// The number of a call, from its argument `id`.
fn id(request: &Request<'_>) -> usize {
    request.arguments.get("id").unwrap().to_json().parse().unwrap()
}

fn list(items: std::ops::Range<usize>) -> Data {
    let items: Vec<String> = items.map(|item| item.to_string()).collect();
    let json = format!(r#"{{"xs":[{}]}}"#, items.join(","));
    read(json.as_bytes(), &Bounds::default()).unwrap()
}

/// The record of a run: its calls in order, then those that were started without need.
#[derive(Default)]
struct Told {
    calls: Vec<String>,
    ahead: usize,
    untaken: Vec<String>,
}

impl Observer for Told {
    fn ended(&mut self, call: &Ended<'_>) {
        assert_eq!(call.seq, self.calls.len() as u64);
        self.calls.push(ilo_host::trace::line(call));
    }

    fn ahead(&mut self, _tool: &str) {
        self.ahead += 1;
    }

    fn untaken(&mut self, tool: &str) {
        self.untaken.push(tool.to_owned());
    }
}

fn run(body: &str, input: &Data, tools: &Tools, options: &Options) -> (String, u64, Told) {
    let program = program(body);
    let function = program.entry().unwrap();
    let mut told = Told::default();
    let finished = ilo_host::run(&program, function, input, tools, options, &mut told).unwrap();
    let outcome = finished.outcome().unwrap().to_string();
    (outcome, finished.run().fuel_used(), told)
}

fn at_once(most: usize) -> Options {
    if most == limits::DEFAULT_CALLS_UNDER_WAY {
        return Options::default();
    }
    Options { slots: CallSlots::new(most), ..Options::default() }
}

/// Calls that wait for each other: each ends when this number of later calls have begun, or the last one has.
#[derive(Default)]
struct Gate {
    /// Which have begun, how many are under way, and the most that ever were.
    state: Mutex<(usize, usize, usize)>,
    changed: Condvar,
}

impl Gate {
    fn pass(&self, until: usize) -> Result<Data, Failure> {
        let mut state = self.state.lock().unwrap();
        state.0 += 1;
        state.1 += 1;
        state.2 = state.2.max(state.1);
        self.changed.notify_all();
        let (mut state, waited) =
            self.changed.wait_timeout_while(state, HANGS, |state| state.0 < until).unwrap();
        state.1 -= 1;
        if waited.timed_out() { Err(Failure::text("nobody came")) } else { Ok(Data::Bool(true)) }
    }
}

/// The most calls under way at once, if a call ends only when as many as allowed are.
fn most_at_once(body: &str, calls: usize, most: usize) -> usize {
    let gate = Arc::new(Gate::default());
    let inner = Arc::clone(&gate);
    let get = move |request: &Request<'_>| inner.pass((id(request) + most).min(calls));
    let tools = tools(get, |_| Err(Failure::text("nothing calls it")));
    let (outcome, _, told) = run(body, &list(0..calls), &tools, &at_once(most));
    assert!(outcome.starts_with(r#"{"status":"ok""#), "{outcome}");
    assert_eq!(told.calls.len(), calls);
    assert_eq!(told.ahead, if most == 1 { 0 } else { calls - 1 });
    assert_eq!(told.untaken, [""; 0]);
    for (seq, call) in told.calls.iter().enumerate() {
        assert_eq!(*call, format!(r#"{{"seq":{seq},"tool":"get","args":{{"id":{seq}}},"ok":true}}"#));
    }
    gate.state.lock().unwrap().2
}

#[test]
fn as_many_reads_as_may_be_are_under_way_in_a_row_and_all_along_a_loop() {
    let row = (0..20).map(|n| format!("LET {} CALL 0 1 0 LIT 1 {n}\n", n + 1)).collect::<Vec<_>>().concat();
    let over = "FOR 1 REF 0 2\n  LET 2 CALL 0 1 0 REF 1\n  LIST 1 REF 2";
    for most in [1, 2, 7, limits::DEFAULT_CALLS_UNDER_WAY] {
        assert_eq!(most_at_once(&format!("{row}LIST 2 REF 1 REF 20"), 20, most), most);
        assert_eq!(most_at_once(over, 1_000, most), most);
    }
}

#[test]
fn what_follows_from_an_answer_is_started_once_that_is_there() {
    // Three reads for each item, each with the answer of the previous one. The last ones wait for each other,
    // and so would hang if they came one at a time.
    const ITEMS: usize = 6;
    let gate = Arc::new(Gate::default());
    let inner = Arc::clone(&gate);
    let get = move |request: &Request<'_>| match id(request) {
        at @ 200.. => inner.pass(ITEMS).map(|_| Data::from(at.to_string())),
        at => Ok(read(format!(r#"{{"id":{}}}"#, at + 100).as_bytes(), &Bounds::default()).unwrap()),
    };
    let tools = tools(get, |_| Err(Failure::text("nothing calls it")));
    let body = "FOR 1 REF 0 4\n  LET 2 CALL 0 1 0 REF 1\n  LET 3 CALL 0 1 0 FIELD 2 0\n  \
                LET 4 CALL 0 1 0 FIELD 3 0\n  REF 4";
    let (outcome, fuel, told) = run(body, &list(0..ITEMS), &tools, &at_once(16));
    assert_eq!(outcome, r#"{"status":"ok","value":["200","201","202","203","204","205"]}"#);
    let asked: Vec<usize> = (0..ITEMS).flat_map(|item| [item, item + 100, item + 200]).collect();
    for (seq, (call, id)) in told.calls.iter().zip(&asked).enumerate() {
        assert!(call.starts_with(&format!(r#"{{"seq":{seq},"tool":"get","args":{{"id":{id}}},"#)), "{call}");
    }
    assert_eq!((told.calls.len(), told.untaken.len()), (3 * ITEMS, 0));
    // One at a time, if each is let through, the result is the same.
    *gate.state.lock().unwrap() = (ITEMS, 0, 0);
    let (same, burnt, _) = run(body, &list(0..ITEMS), &tools, &at_once(1));
    assert_eq!((same, burnt), (outcome, fuel));
}

#[test]
fn what_follows_from_a_failure_is_known_from_it() {
    // The second read fails, and its answer arrives before the first one: the read of its handler is started,
    // and ends the wait.
    let gate = Arc::new(Gate::default());
    let inner = Arc::clone(&gate);
    let get = move |request: &Request<'_>| match id(request) {
        2 => Err(Failure::text("not there")),
        _ => inner.pass(2),
    };
    let tools = tools(get, |_| Err(Failure::text("nothing calls it")));
    let body = "LET 1 CALL 0 1 0 LIT 1 1\nLET 2 CALL 0 1 0 LIT 1 2\nMATCH 2 2\n  ERR 3 1\n    LET 4 CALL 0 1 0 LEN REF 3\n  \
                OK 5 1\n    LET 4 CALL 0 1 0 REF 5\nLIST 2 REF 1 REF 4";
    let (outcome, _, told) = run(body, &list(0..0), &tools, &at_once(16));
    assert_eq!(outcome, r#"{"status":"ok","value":[true,true]}"#);
    assert_eq!((told.calls.len(), told.untaken.len()), (3, 0));
}

#[test]
fn runs_share_the_number_of_calls_that_may_be_under_way() {
    let gate = Arc::new(Gate::default());
    let inner = Arc::clone(&gate);
    let tools = tools(move |_| inner.pass(0), |_| Err(Failure::text("nothing calls it")));
    let options = at_once(4);
    let over = "FOR 1 REF 0 2\n  LET 2 CALL 0 1 0 REF 1\n  LIST 1 REF 2";
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| run(over, &list(0..200), &tools, &options));
        }
    });
    let most = gate.state.lock().unwrap().2;
    assert!(most <= 8 + 3, "a call for each run, and three ahead of all: {most}");
}

#[test]
fn nothing_passes_a_call_that_may_change_something() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let (of_get, of_put) = (Arc::clone(&log), Arc::clone(&log));
    let get = move |request: &Request<'_>| {
        of_get.lock().unwrap().push(format!("get {}", id(request)));
        Ok(Data::Nil)
    };
    let put = move |request: &Request<'_>| {
        of_put.lock().unwrap().push(format!("put {}", id(request)));
        Ok(Data::Nil)
    };
    let tools = tools(get, put);
    let body = "FOR 1 REF 0 3\n  LET 2 CALL 0 1 0 REF 1\n  LET 3 CALL 1 1 0 REF 1\n  LIST 2 REF 2 REF 3";
    let (_, _, told) = run(body, &list(0..3), &tools, &at_once(16));
    assert_eq!(*log.lock().unwrap(), ["get 0", "put 0", "get 1", "put 1", "get 2", "put 2"]);
    assert_eq!((told.calls.len(), told.ahead), (6, 0));
}

#[test]
fn what_was_read_before_a_change_is_read_again_after_it() {
    // The first read fails, and its handler changes something. The second, which was under way, is made
    // again.
    let changes = Arc::new(Mutex::new(0));
    let (of_get, of_put) = (Arc::clone(&changes), Arc::clone(&changes));
    let second = Arc::new(Gate::default());
    let begun = Arc::clone(&second);
    let get = move |request: &Request<'_>| {
        if id(request) == 0 {
            // Not before the second has begun.
            begun.pass(2)?;
            return Err(Failure::text("no"));
        }
        let changes = *of_get.lock().unwrap();
        begun.pass(2)?;
        Ok(Data::from(if changes == 0 { "before" } else { "after" }))
    };
    let put = move |_: &Request<'_>| {
        *of_put.lock().unwrap() += 1;
        Ok(Data::Nil)
    };
    let tools = tools(get, put);
    let body = "LET 1 CALL 0 1 0 LIT 1 0\nMATCH 1 2\n  ERR 2 2\n    LET 3 CALL 1 1 0 LIT 1 0\n    LET 4 REF 3\n  \
                OK 2 1\n    LET 4 REF 2\nLET 5 CALL 0 1 0 LIT 1 1\nLIST 2 REF 4 REF 5";
    let (outcome, _, told) = run(body, &list(0..0), &tools, &at_once(16));
    assert_eq!(outcome, r#"{"status":"ok","value":[null,"after"]}"#);
    assert_eq!(told.calls.len(), 3);
    assert_eq!((told.ahead, told.untaken.as_slice()), (1, &["get".to_owned()][..]));
}

#[test]
fn a_call_that_is_not_needed_is_told_so_and_the_run_ends_with_it() {
    let gate = Arc::new(Gate::default());
    let begun = Arc::clone(&gate);
    let get = move |request: &Request<'_>| {
        if id(request) == 0 {
            begun.pass(3)?;
            return Err(Failure::text("no"));
        }
        begun.pass(3)?;
        let hangs = Instant::now() + HANGS;
        while !request.interrupt.is_set() {
            assert!(Instant::now() < hangs, "nobody told it");
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(Failure::Interrupted)
    };
    let tools = tools(get, |_| Ok(Data::Nil));
    let body = "FOR 1 REF 0 2\n  LET 2 CALL 0 1 0 REF 1\n  LIST 1 REF 2";
    let (outcome, _, told) = run(body, &list(0..3), &tools, &at_once(16));
    assert!(outcome.starts_with(r#"{"status":"fault","code":"tool-failed","message":"no""#), "{outcome}");
    assert_eq!((told.calls.len(), told.untaken.len()), (1, 2));
}

#[test]
fn the_number_of_calls_of_a_run_is_that_of_the_calls_that_it_made() {
    let body = "FOR 1 REF 0 2\n  LET 2 CALL 0 1 0 REF 1\n  LIST 1 REF 2";
    let tools = tools(|_| Ok(Data::Nil), |_| Ok(Data::Nil));
    for most in [1, 16] {
        let mut options = at_once(most);
        options.limits.tool_calls = 20;
        let (outcome, _, told) = run(body, &list(0..20), &tools, &options);
        assert!(outcome.starts_with(r#"{"status":"ok""#), "{outcome}");
        assert_eq!(told.calls.len(), 20);
        let (outcome, _, told) = run(body, &list(0..21), &tools, &options);
        assert!(outcome.starts_with(r#"{"status":"fault","code":"too-many-calls""#), "{outcome}");
        assert_eq!((told.calls.len(), told.untaken.len()), (20, 0), "none beyond the limit was begun");
    }
}

#[test]
fn a_mock_that_counts_its_answers_is_called_in_order() {
    let text = r#"{"tools":{"get":{"read_only":true,"mock":[{"returns":1,"times":1},{"returns":2}]}}}"#;
    let tools = Tools::from_text("tools.json", text, ".".as_ref()).unwrap();
    let body = "LET 1 CALL 0 1 0 LIT 1 1\nLET 2 CALL 0 1 0 LIT 1 2\nLIST 2 REF 1 REF 2";
    let (outcome, _, told) = run(body, &list(0..0), &tools, &at_once(16));
    assert_eq!((outcome.as_str(), told.ahead), (r#"{"status":"ok","value":[1,2]}"#, 0));
    let text = r#"{"tools":{"get":{"read_only":true,"mock":[{"when":{"id":1},"returns":1},{"returns":2}]}}}"#;
    let tools = Tools::from_text("tools.json", text, ".".as_ref()).unwrap();
    let (outcome, _, told) = run(body, &list(0..0), &tools, &at_once(16));
    assert_eq!((outcome.as_str(), told.ahead), (r#"{"status":"ok","value":[1,2]}"#, 1));
}
