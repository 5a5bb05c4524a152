//! Questions to the person at the client, in both versions of the protocol.

use crate::support::{Lines, Served, at, folder, program};
use ilo_host::data::Data;
use ilo_host::data::read::{Bounds, read};

/// The result of a call of `send`, from the outcome.
fn outcome(heard: &str) -> String {
    let heard = read(heard.as_bytes(), &Bounds::default()).unwrap();
    at(&heard, &["result", "structuredContent", "outcome"])
}

const SENT: &str = r#"{"status":"ok","value":"sent"}"#;

fn refused(why: &str) -> String {
    let message = format!("tool `send` was not called: it needs a confirmation (`confirm`), and {why}");
    format!(r#"{{"status":"fault","code":"tool-failed","message":"{message}""#)
}

#[test]
fn a_person_is_asked_by_elicitation() {
    let folder = folder();
    let mut lines = Lines::unopened(&folder, &[]);
    lines.open(r#"{"elicitation":{}}"#);
    for (id, answer, expected) in [
        (2, r#"{"action":"accept","content":{"call_it":true}}"#, SENT.to_owned()),
        (3, r#"{"action":"accept","content":{"call_it":false}}"#, refused("the answer was no")),
        (4, r#"{"action":"accept"}"#, refused("nobody could be asked: the answer does not fit the form")),
        (5, r#"{"action":"decline"}"#, refused("the answer was no")),
        (6, r#"{"action":"cancel"}"#, refused("the question was put away unanswered")),
    ] {
        lines.run(id, "send");
        let question = lines.hear_with("elicitation/create");
        let question = read(question.as_bytes(), &Bounds::default()).unwrap();
        assert_eq!(at(&question, &["params", "message"]), r#""May `send` be called? Its arguments:\n{}""#);
        assert_eq!(at(&question, &["params", "requestedSchema", "required"]), r#"["call_it"]"#);
        lines.say(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{answer}}}"#, at(&question, &["id"])));
        assert!(outcome(&lines.hear_with(&format!(r#""id":{id},"#))).starts_with(&expected), "{answer}");
    }
}

/// The name by which a program calls a tool could be worded to mislead the person.
#[test]
fn a_question_has_the_name_of_the_entry() {
    let folder = folder();
    let mut lines = Lines::unopened(&folder, &[]);
    lines.open(r#"{"elicitation":{}}"#);
    lines.run(2, "mcp://only-a-formality/send");
    let question = lines.hear_with("elicitation/create");
    let question = read(question.as_bytes(), &Bounds::default()).unwrap();
    assert_eq!(at(&question, &["params", "message"]), r#""May `send` be called? Its arguments:\n{}""#);
}

#[test]
fn a_client_that_cannot_ask_is_told_so() {
    let mut lines = Lines::start(&folder(), &[]);
    lines.run(2, "send");
    let heard = lines.hear_with(r#""id":2,"#);
    assert!(
        outcome(&heard).starts_with(&refused("this client offers no way to ask (no `elicitation`)")),
        "{heard}"
    );
}

/// In the newer protocol a server sends no requests: the call is answered by the question, and made again.
#[test]
fn a_person_is_asked_by_the_answer_to_the_call() {
    let folder = folder();
    let mut lines = Lines::unopened(&folder, &[]);
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},
        "io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#.replace(['\n', ' '], "");
    let source = Data::from("; fn f() -> any\n; Tools: 0=send\nRET CALL 0 0\n").to_json();
    let mut id = 0;
    let mut call = |lines: &mut Lines, more: &str| {
        id += 1;
        lines.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"run_program","arguments":{{"source":{source}}},"_meta":{meta}{more}}}}}"#
        ));
        lines.hear()
    };
    for (answer, expected) in [
        (r#","inputResponses":{"consent":{"action":"accept","content":{"call_it":true}}}"#, SENT.to_owned()),
        (r#","inputResponses":{"consent":{"action":"decline"}}"#, refused("the answer was no")),
        ("", refused("the client gave no answer")),
    ] {
        let question = call(&mut lines, "");
        let data = read(question.as_bytes(), &Bounds::default()).unwrap();
        assert_eq!(at(&data, &["result", "resultType"]), r#""input_required""#, "{question}");
        let form = ["result", "inputRequests", "consent", "params", "message"];
        assert!(at(&data, &form).contains("May `send` be called?"), "{question}");
        let state = at(&data, &["result", "requestState"]);
        let again = format!(r#","requestState":{state}{answer}"#);
        let heard = call(&mut lines, &again);
        assert!(outcome(&heard).starts_with(&expected), "{heard}");
        let late = call(&mut lines, &again);
        assert!(late.contains("no such run waits for an answer"), "{late}");
    }
    let guessed = call(&mut lines, r#","requestState":"0","inputResponses":{}"#);
    assert!(guessed.contains("no such run waits for an answer"), "{guessed}");
}

/// A client that does not answer questions.
fn silent(more: &[&str]) -> Lines {
    let folder = folder();
    let mut lines = Lines::unopened(&folder, more);
    lines.open(r#"{"elicitation":{}}"#);
    lines
}

#[test]
fn questions_that_nobody_answers_stop_nobody() {
    let mut lines = silent(&["--max-runs", "2", "--max-client-runs", "2"]);
    for id in 2..12 {
        lines.run(id, "send");
        lines.hear_with("elicitation/create");
    }
    lines.run(20, "wait");
    assert!(lines.hear_with(r#""id":20,"#).contains(r#""status":"ok""#));
    let arguments = program("wait");
    lines.say(&format!(
        r#"{{"jsonrpc":"2.0","id":21,"method":"tools/call","params":{{"name":"check_program","arguments":{arguments}}}}}"#
    ));
    assert!(lines.hear_with(r#""id":21,"#).contains(r#""ok":true"#));
}

#[test]
fn a_question_is_cancelled_with_its_call() {
    let mut lines = silent(&["--max-runs", "1"]);
    for id in 2..9 {
        lines.run(id, "send");
        let question = read(lines.hear_with("elicitation/create").as_bytes(), &Bounds::default()).unwrap();
        lines.say(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ));
        let taken_back = lines.hear_with("notifications/cancelled");
        assert!(taken_back.contains(&format!(r#""requestId":{},"#, at(&question, &["id"]))), "{taken_back}");
    }
    lines.run(20, "wait");
    assert!(lines.hear_with(r#""id":20,"#).contains(r#""status":"ok""#));
}

#[test]
fn a_question_expires() {
    let mut lines = silent(&["--question-timeout", "100"]);
    lines.run(2, "send");
    lines.hear_with("elicitation/create");
    lines.hear_with("notifications/cancelled");
    let heard = lines.hear_with(r#""id":2,"#);
    assert!(outcome(&heard).starts_with(&refused("nobody answered the question in time")), "{heard}");
}

#[test]
fn a_client_has_only_so_many_questions() {
    let mut lines = silent(&[]);
    for id in 2..18 {
        lines.run(id, "send");
        lines.hear_with("elicitation/create");
    }
    lines.run(18, "send");
    let heard = lines.hear_with(r#""id":18,"#);
    assert!(outcome(&heard).starts_with(&refused("too many questions wait for an answer")), "{heard}");
}

#[test]
fn questions_without_sessions_stop_nobody_and_expire() {
    let served = Served::start(&folder(), &["--max-runs", "2", "--question-timeout", "1000"]);
    let questions: Vec<String> = (0..10).map(|_| served.call("run_program", &program("send"), "")).collect();
    assert!(questions.iter().all(|question| question.contains("input_required")), "{questions:?}");
    assert!(served.call("run_program", &program("wait"), "").contains(r#""status":"ok""#));
    // The run of an expired question was cancelled. A late answer gets that reply.
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    let state = questions[0].split(r#""requestState":""#).nth(1).unwrap().split('"').next().unwrap();
    let more = format!(
        r#","requestState":"{state}","inputResponses":{{"consent":{{"action":"accept","content":{{"call_it":true}}}}}}"#
    );
    let late = served.call("run_program", &program("send"), &more);
    assert!(
        late.contains(r#""code":"cancelled""#) && late.contains("nobody answered the question in time"),
        "{late}"
    );
}

/// Runs a program as a client of the newer protocol that accepts everything. Returns the rounds, the
/// questions of the first, and the answer.
fn agreed(source: &str, inputs: &str) -> (usize, usize, String) {
    let served = Served::start(&folder(), &[]);
    let arguments = format!(r#"{{"source":{},"inputs":{inputs}}}"#, Data::from(source).to_json());
    let (mut more, mut rounds, mut first) = (String::new(), 0, 0);
    loop {
        let answer = served.call("run_program", &arguments, &more);
        let state = answer.split(r#""requestState":""#).nth(1).and_then(|rest| rest.split('"').next());
        let Some(state) = state else { return (rounds, first, answer) };
        let asked = answer.matches("May `send` be called?").count();
        first = if rounds == 0 { asked } else { first };
        rounds += 1;
        let names =
            (1..=asked).map(|at| if at == 1 { "consent".to_owned() } else { format!("consent-{at}") });
        let consents: Vec<String> = names
            .map(|name| format!(r#""{name}":{{"action":"accept","content":{{"call_it":true}}}}"#))
            .collect();
        more = format!(r#","requestState":"{state}","inputResponses":{{{}}}"#, consents.join(","));
    }
}

/// The number of calls of `send` that an answer lists as made.
fn sent(answer: &str) -> usize {
    answer.matches(r#","ok":"sent"}"#).count()
}

#[test]
fn calls_that_can_be_foreseen_are_asked_about_at_once() {
    let source = "; fn f(to: list text) -> any\n; Tools: 0=send\n; Fields: 0=to\nLET 1 LIT 1 0\n\
        FOR 2 REF 0 1\n  LET 1 CALL 0 1 0 REF 2\nRET REF 1\n";
    let to: Vec<String> = (0..20).map(|number| format!(r#""p{number}""#)).collect();
    let (rounds, first, answer) = agreed(source, &format!(r#"{{"to":[{}]}}"#, to.join(",")));
    assert_eq!((rounds, first), (1, 20), "{answer}");
    assert!(answer.contains(r#""status":"ok""#), "{answer}");
    // The answer also has them in its text, with other quotes.
    assert_eq!(sent(&answer), 20, "{answer}");
}

/// Clients of the newer protocol repeat a call at most ten times.
#[test]
fn a_run_asks_in_fewer_rounds_than_clients_take_part_in() {
    // Each call has the answer of the previous one.
    let source = "; fn f(to: list text) -> any\n; Tools: 0=send\n; Fields: 0=to\nLET 1 LIT 1 0\n\
        FOR 2 REF 0 1\n  LET 1 CALL 0 1 0 REF 1\nRET REF 1\n";
    let to: Vec<String> = (0..20).map(|number| format!(r#""p{number}""#)).collect();
    let (rounds, first, answer) = agreed(source, &format!(r#"{{"to":[{}]}}"#, to.join(",")));
    assert_eq!((rounds, first), (9, 1), "{answer}");
    assert!(answer.contains("this run has asked 9 times already"), "{answer}");
    // The calls that were made are in the answer.
    assert_eq!(sent(&answer), 9, "{answer}");
}
