//! The program `ilo-vm`: its output, its streams, and its exit codes. Programs are written by hand.
#[cfg(unix)]
mod signals;
#[path = "../../host/tests/support/mod.rs"]
mod support;
mod trace_files;

use ilo_spec::encode::encode;
use ilo_spec::isa::Op;
use ilo_spec::limits;
use ilo_spec::operand::{Count, First, FunctionId, Imm, In, OnFail, Out, To};
use ilo_spec::program::Program;
use ilo_spec::types::{Output, Type};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use support::Draft;

const ANY: Output = Output::plain(Type::ANY);

/// Looks a user up and sends an e-mail; three ways to fail.
fn notify() -> Program {
    let mut d = Draft::new(&["user-id", "message", "email", "verified", "subject", "body"]);
    let (get_user, _) = d.call("get-user", &["user-id"]);
    let (send, _) = d.call("send-email", &["email", "subject", "body"]);
    let (email, verified) = (d.field("email"), d.field("verified"));
    let [subject, unverified, lookup, sending] =
        ["Notification", "Email not verified", "User lookup failed: ", "Send failed: "]
            .map(|text| d.text(text));
    let concat = Op::Concat { dst: Out(7), first: First(7), count: Count(2) };
    d.function(
        "notify",
        &[("user-id", Type::TEXT), ("message", Type::TEXT)],
        Output { ok: Type::NIL, err: Some(Type::TEXT) },
        &[
            Op::Tool { dst: Out(2), first: First(0), call: get_user, fail: OnFail(8) },
            Op::UnlessField { src: In(2), field: verified, to: To(5) },
            Op::Field { dst: Out(3), src: In(2), field: email },
            Op::Text { dst: Out(4), text: subject },
            Op::Move { dst: Out(5), src: In(1) },
            Op::Tool { dst: Out(6), first: First(3), call: send, fail: OnFail(7) },
            Op::ReturnNil {},
            Op::Text { dst: Out(7), text: unverified },
            Op::Fail { src: In(7) },
            Op::Text { dst: Out(7), text: lookup },
            Op::Move { dst: Out(8), src: In(2) },
            concat,
            Op::Fail { src: In(7) },
            Op::Text { dst: Out(7), text: sending },
            Op::Move { dst: Out(8), src: In(6) },
            concat,
            Op::Fail { src: In(7) },
        ],
    );
    d.0
}

/// Returns its inputs as a record.
fn echo() -> Program {
    let mut d = Draft::new(&["amount", "name", "extra"]);
    let shape = d.shape(&["amount", "name", "extra"]);
    d.function(
        "echo",
        &[("amount", Type::NUMBER), ("name", Type::TEXT), ("extra", Type::ANY)],
        ANY,
        &[Op::Record { dst: Out(3), first: First(0), shape }, Op::Return { src: In(3) }],
    );
    d.0
}

/// Calls tool `t` with `id` twice, unchecked, and returns its second answer.
fn twice() -> Program {
    let mut d = Draft::new(&["id"]);
    let (call, _) = d.call("t", &["id"]);
    let tool = Op::Tool { dst: Out(1), first: First(0), call, fail: OnFail(0) };
    d.function("twice", &[("id", Type::ANY)], ANY, &[tool, tool, Op::Return { src: In(1) }]);
    d.0
}

struct Case {
    folder: tempfile::TempDir,
}

struct Ended {
    out: String,
    err: String,
    code: Option<i32>,
}

impl Case {
    fn new(program: &Program) -> Case {
        let case = Case { folder: tempfile::tempdir().unwrap() };
        case.file("p.ilob", encode(program));
        case
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn run_with(&self, arguments: &[&str], input: &str) -> Ended {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ilo-vm"))
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        Ended {
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code(),
        }
    }

    /// Starts `p.ilob` with `tools.json` and a trace, without waiting.
    fn interruptible(&self, arguments: &[&str]) -> std::process::Child {
        Command::new(env!("CARGO_BIN_EXE_ilo-vm"))
            .args(["run", "p.ilob", "--tools", "tools.json", "--arg", "id=1", "--trace", "trace"])
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        self.run_with(arguments, "")
    }
}

impl Ended {
    #[track_caller]
    fn is(&self, code: i32, out: &str, err: &str) {
        assert_eq!((self.code, self.out.as_str(), self.err.as_str()), (Some(code), out, err));
    }
}

const TOOLS: &str = r#"{"tools":{
    "get-user":{"mock":[{"when":{"user-id":"u1"},"returns":{"email":"a@b.c","verified":true}},
                        {"when":{"user-id":"u2"},"returns":{"email":"d@e.f","verified":false}},
                        {"fails":"no such user"}],"read_only":true,"description":"finds a user",
                "input_schema":{"type":"object","properties":{"user-id":{"type":"string"},"x":{}},"required":["user-id"]}},
    "send-email":{"mock":{"returns":null}}}}"#;

const NOTIFY: [&str; 6] = ["run", "p.ilob", "--tools", "tools.json", "--arg", "message=hi \"you\""];

/// A trace without its times, which must be numbers.
fn timeless(trace: &str) -> String {
    let line = |line: &str| {
        let (call, times) = line.split_once(r#","start_ms":"#).unwrap();
        let (times, number) = times.strip_suffix('}').unwrap().split_once(r#","number":"#).unwrap();
        assert!(number.parse::<u64>().unwrap() > 0);
        let (start, duration) = times.split_once(r#","duration_ms":"#).unwrap();
        assert!(start.parse::<f64>().unwrap() >= 0.0 && duration.parse::<f64>().unwrap() >= 0.0);
        format!("{call}}}\n")
    };
    trace.lines().map(line).collect()
}

#[test]
fn the_outcome_is_alone_on_standard_output_and_the_trace_has_every_call() {
    let case = Case::new(&notify());
    case.file("tools.json", TOOLS);
    let run = |user: &str| {
        let mut arguments = NOTIFY.to_vec();
        arguments.extend(["--arg", user, "--trace", "trace.jsonl"]);
        case.run(&arguments)
    };
    run("user-id=u1").is(0, "{\"status\":\"ok\",\"value\":null}\n", "");
    let found =
        r#"{"seq":0,"tool":"get-user","args":{"user-id":"u1"},"ok":{"email":"a@b.c","verified":true}}"#;
    let sent = r#"{"seq":1,"tool":"send-email","args":{"email":"a@b.c","subject":"Notification","body":"hi \"you\""},"ok":null}"#;
    assert_eq!(timeless(&case.read("trace.jsonl")), format!("{found}\n{sent}\n"));
    run("user-id=u2").is(1, "{\"status\":\"err\",\"error\":\"Email not verified\"}\n", "");
    run("user-id=u3").is(1, "{\"status\":\"err\",\"error\":\"User lookup failed: no such user\"}\n", "");
    let failed = r#"{"seq":0,"tool":"get-user","args":{"user-id":"u3"},"failed":"no such user"}"#;
    assert_eq!(timeless(&case.read("trace.jsonl")), format!("{failed}\n"));
}

#[test]
fn an_unchecked_failure_is_a_fault_with_a_place() {
    let case = Case::new(&twice());
    case.file("tools.json", r#"{"tools":{"t":{"mock":[{"returns":7,"times":1},{"fails":{"why":[1]}}]}}}"#);
    let arguments = ["run", "p.ilob", "--tools", "tools.json", "--arg", "id=1"];
    let fault = r#"{"status":"fault","code":"tool-failed","message":"{\"why\":[1]}","at":{"function":"twice","line":2,"column":1}}"#;
    case.run(&arguments).is(3, &format!("{fault}\n"), "");
}

#[test]
fn values_pass_unchanged() {
    let case = Case::new(&echo());
    let input = r#"{"extra":[-0.0,9007199254740993,1e16,{"b":null,"a":"é\n"}],"name":"x","amount":12.5}"#;
    let value = r#"{"amount":12.5,"name":"x","extra":[-0.0,9007199254740993,1e16,{"b":null,"a":"é\n"}]}"#;
    let outcome = format!("{{\"status\":\"ok\",\"value\":{value}}}\n");
    case.run(&["run", "p.ilob", "--input", input]).is(0, &outcome, "");
    case.run_with(&["run", "p.ilob", "--input", "-"], input).is(0, &outcome, "");
    case.file("input.json", input);
    case.run(&["run", "p.ilob", "--input", "@input.json"]).is(0, &outcome, "");
}

#[test]
fn an_argument_is_text_where_its_parameter_is_and_json_elsewhere() {
    let case = Case::new(&echo());
    let arguments = ["--arg", "amount=12.5", "--arg", "name=[1]=2", "--arg", "extra=[1]"];
    let outcome = r#"{"status":"ok","value":{"amount":12.5,"name":"[1]=2","extra":[1]}}"#;
    case.run(&[&["run", "p.ilob"], &arguments[..]].concat()).is(0, &format!("{outcome}\n"), "");
    let mixed = ["run", "p.ilob", "--input", r#"{"amount":12.5,"name":"[1]=2"}"#, "--arg", "extra=[1]"];
    case.run(&mixed).is(0, &format!("{outcome}\n"), "");
}

#[test]
fn inputs_that_do_not_fit_are_refused_by_name() {
    let case = Case::new(&echo());
    case.file("deep.json", "{}");
    let cases: [(&[&str], &str); 15] = [
        (
            &["--arg", "other=1", "--arg", "other=1"],
            "error[unknown-input]: --arg: the function has no parameter `other`; there are `amount`, `name`, `extra`\n",
        ),
        (
            &["--fn", "nope"],
            "error[unknown-function]: --fn: the program has no function `nope`; there is only `echo`\n",
        ),
        (
            &["--input", "deep.json"],
            "error[bad-input]: --input: line 1, column 1: expected a value; to read the file, write `@deep.json`\n",
        ),
        (
            &["--input", "@deep.json", "--memory", "1"],
            "error[bad-usage]: deep.json: larger than its limit of 1 bytes (`--memory`)\n",
        ),
        (
            &["--input", "{}", "--memory", "1"],
            "error[bad-input]: --input: line 1, column 2: more than 1 bytes (`--memory`)\n",
        ),
        (
            // Registers do not depend on the input: 258 and one for each parameter, and those of the
            // function.
            &["--input", r#"{"amount":1,"name":"y","extra":1}"#, "--memory", "4000"],
            "error[memory]: no room for the run's registers: 4432 more bytes would exceed the limit of the run: 4000 bytes, of which \
             4000 are left (`--memory`)\n",
        ),
        (
            &["--input", "[[]]", "--max-depth", "1"],
            "error[bad-input]: --input: line 1, column 2: nested deeper than 1 (`--max-depth`)\n",
        ),
        (
            &["--input", r#"{"amount":"x","nam":"y","extra":1}"#],
            "error[input-type]: input `amount`: expected number, found a text\n\
             error[missing-input]: input `name`: no value, expected text; is it `nam`?\n\
             error[unknown-input]: input `nam`: the function has no such parameter; did you mean `name`?\n",
        ),
        (
            &["--input", "[]"],
            "error[bad-input]: input: expected a record with a field for each parameter, found a list\n",
        ),
        (
            &["--input", "{\"amount\":18446744073709551616}"],
            "error[bad-input]: --input: line 1, column 11: the integer 18446744073709551616 does not fit 64 bits; \
             write it as text, or with a point\n",
        ),
        (
            &["--arg", "amuont=1"],
            "error[unknown-input]: --arg: the function has no parameter `amuont`; did you mean `amount`?\n",
        ),
        (&["--arg", "amount"], "error[bad-usage]: --arg: expected NAME=VALUE, found `amount`\n"),
        (&["--arg", "amount=1", "--arg", "amount=2"], "error[bad-input]: --arg: `amount` is given twice\n"),
        (&["--input", "@missing.json"], "error[bad-usage]: missing.json: cannot be read: "),
        (&["--arg", "extra=hello"], "error[input-type]: --arg: `extra`: expected any as JSON: "),
    ];
    for (arguments, expected) in cases {
        let ended = case.run(&[&["run", "p.ilob"], arguments].concat());
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ended.err.starts_with(expected), "{arguments:?}: {}", ended.err);
    }
}

#[test]
fn limits_end_the_run_with_a_fault() {
    let case = Case::new(&twice());
    let within = r#"{"command":["sh","-c","echo '[[],1]'"]}"#;
    case.file("tools.json", format!(r#"{{"tools":{{"t":{within}}}}}"#));
    let arguments = ["run", "p.ilob", "--tools", "tools.json", "--arg", "id=1"];
    let at = ["--max-depth", "2", "--max-result-values", "3", "--max-result", "7", "--max-calls", "2"];
    case.run(&[&arguments[..], &at].concat()).is(0, "{\"status\":\"ok\",\"value\":[[],1]}\n", "");
    let cases: [(&str, &[&str], &str); 8] = [
        (within, &["--max-result-values", "2"], "too-large"),
        (within, &["--max-result", "6"], "too-large"),
        (r#"{"mock":{"returns":1,"delay_ms":60000}}"#, &["--timeout", "50"], "timed-out"),
        (r#"{"mock":{"returns":1,"delay_ms":60000}}"#, &["--call-timeout", "50"], "tool-failed"),
        (r#"{"mock":{"returns":1}}"#, &["--max-calls", "1"], "too-many-calls"),
        (r#"{"command":["sh","-c","yes 1"]}"#, &[], "too-large"),
        (r#"{"command":["sh","-c","echo '[[[]]]'"]}"#, &["--max-depth", "2"], "depth"),
        (r#"{"mock":{"returns":1}}"#, &["--fuel", "1"], "fuel"),
    ];
    for (tool, limit, code) in cases {
        case.file("tools.json", format!(r#"{{"tools":{{"t":{tool}}}}}"#));
        let ended = case.run(&[&arguments, limit].concat());
        let expected = format!(r#"{{"status":"fault","code":"{code}","#);
        assert!(ended.out.starts_with(&expected), "{limit:?}: {}{}", ended.out, ended.err);
        assert_eq!((ended.code, ended.err.as_str()), (Some(3), ""));
    }
}

/// A program that calls nothing is one step of the machine.
#[test]
fn the_time_limit_holds_within_a_long_step() {
    let case = Case::new(&echo());
    let sum = "; fn f() -> number\nLET 0 LIT 1 0\nFOR 1 RANGE LIT 1 100000 2\n  FOR 2 RANGE LIT 1 100000 1\n    \
        LET 0 ADD REF 0 REF 2\n  LET 0 ADD REF 0 REF 1\nRET REF 0\n";
    case.file("long.ilo", sum);
    let begun = std::time::Instant::now();
    let ended = case.run(&["run", "long.ilo", "--fuel", "9000000000000", "--timeout", "200"]);
    assert!(ended.out.starts_with(r#"{"status":"fault","code":"timed-out""#), "{}{}", ended.out, ended.err);
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn an_answer_that_is_too_large_is_so_in_values_or_in_bytes() {
    let case = Case::new(&twice());
    case.file("tools.json", r#"{"tools":{"t":{"mock":{"returns":["abc",1]}}}}"#);
    let arguments = ["run", "p.ilob", "--tools", "tools.json", "--arg", "id=1"];
    for (option, limit) in [("--max-result-values", "2 values"), ("--max-result", "2 bytes")] {
        let ended = case.run(&[&arguments[..], &[option, "2"]].concat());
        let message = format!(r#""message":"a tool result passes the limit of {limit}""#);
        assert!(ended.code == Some(3) && ended.out.contains(&message), "{}", ended.out);
    }
}

#[test]
fn what_is_missing_is_said_before_anything_runs() {
    let case = Case::new(&notify());
    case.file(
        "tools.json",
        r#"{"mcpServers":{"mail":{"command":"no-such-program"}},"tools":{"send-email":{"mcp":"mcp://mail/send"}}}"#,
    );
    let ended = case.run(&["run", "p.ilob", "--tools", "tools.json"]);
    assert_eq!(ended.code, Some(2));
    let expected = "error[bad-usage]: server `mail`: cannot start `no-such-program`: ";
    assert!(ended.err.starts_with(expected), "{}", ended.err);
    case.file(
        "tools.json",
        r#"{"tools":{"get-usr":{"mock":{"returns":1}},"send-email":{"mock":{"returns":1}}}}"#,
    );
    let ended = case.run(&["run", "p.ilob", "--tools", "tools.json", "--arg", "user-id=u1", "--trace", "t"]);
    ended.is(
        2,
        "",
        "error[missing-input]: input `message`: no value, expected text; one of type `text?` may be left out\n\
         error[unknown-tool]: tool `get-user`: the tools file has no such tool; did you mean `get-usr`?\n",
    );
    assert!(!case.folder.path().join("t").exists(), "no trace of what did not run");
    let ended = case.run(&["run", "p.ilob", "--input", r#"{"user-id":"a","message":"b"}"#]);
    assert!(ended.err.contains("no tools are given; name a tools file with `--tools`"), "{}", ended.err);
    case.run(&["run", "p.ilob", "--fn", "notfy"]).is(
        2,
        "",
        "error[unknown-function]: --fn: the program has no function `notfy`; did you mean `notify`?\n",
    );
}

#[test]
fn a_program_with_several_entries_wants_a_choice() {
    let mut d = Draft::new(&[]);
    for name in ["a", "b"] {
        d.function(name, &[], ANY, &[Op::Int { dst: Out(0), value: Imm(1) }, Op::Return { src: In(0) }]);
    }
    let invoke = Op::Invoke { dst: Out(0), first: First(0), function: FunctionId(0), fail: OnFail(0) };
    d.function("c", &[], ANY, &[invoke, Op::Return { src: In(0) }]);
    let case = Case::new(&d.0);
    case.run(&["run", "p.ilob"]).is(
        2,
        "",
        "error[no-single-entry]: no function calls b, c; choose the one to run with `--fn`\n",
    );
    case.run(&["run", "p.ilob", "--fn", "a"]).is(0, "{\"status\":\"ok\",\"value\":1}\n", "");
}

#[test]
fn verify_says_where_bytecode_is_wrong() {
    let good = encode(&echo());
    let case = Case::new(&echo());
    case.run(&["verify", "p.ilob"]).is(0, "", "");
    case.file("cut.ilob", &good[..good.len() / 2]);
    let ended = case.run(&["verify", "cut.ilob"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""));
    assert!(ended.err.starts_with("error[malformed]: cut.ilob: at byte "), "{}", ended.err);
    let mut program = echo();
    program.code[1] = Op::Return { src: In(9) };
    let bytes = encode(&program);
    // `return` of register 9 is the only place with these two bytes: its number and the register.
    let offset = bytes.windows(2).position(|pair| pair == [0x78, 9]).unwrap();
    case.file("unset.ilob", &bytes);
    let ended = case.run(&["verify", "unset.ilob"]);
    let expected = format!("error[unverified]: unset.ilob: at byte {offset}: at instruction 1: ");
    assert!(ended.code == Some(2) && ended.err.starts_with(&expected), "{}", ended.err);
    let ended = case.run_with(&["verify", "-"], "; fn f() -> nil\nRET LIT 2 nil\n");
    assert!(ended.code == Some(2) && ended.err.starts_with("error[malformed]: standard input: at byte 0: "));
}

#[test]
fn check_finds_tools_that_are_not_there() {
    let case = Case::new(&notify());
    case.file("tools.json", r#"{"tools":{"get-user":{"mock":{"returns":1}}}}"#);
    case.run(&["check", "p.ilob"]).is(0, "", "");
    let message = "the tools file has no such tool";
    case.run(&["check", "p.ilob", "--tools", "tools.json"]).is(
        2,
        "",
        &format!("error[unknown-tool]: p.ilob: tool `send-email`: {message}\n"),
    );
    case.run(&["check", "p.ilob", "--tools", "tools.json", "--json"]).is(
        2,
        &format!(
            "{{\"file\":\"p.ilob: tool `send-email`\",\"code\":\"unknown-tool\",\"severity\":\"error\",\"message\":\"{message}\"}}\n"
        ),
        "",
    );
}

#[test]
fn plan_prints_what_would_happen() {
    let case = Case::new(&notify());
    case.file("tools.json", TOOLS);
    let expected = "tool        calls  changes something  asks first  retries  rollback after it  after a crash  from\n\
                    get-user    1      no                 no          none     needs none         again          mock\n\
                    send-email  1      yes                no          none     none               in doubt       mock\n";
    case.run(&["plan", "p.ilob", "--tools", "tools.json"]).is(0, expected, "");
}

#[test]
fn tools_prints_the_catalogue() {
    let case = Case::new(&notify());
    case.file("tools.json", TOOLS);
    let expected = "tool        arguments               policy                from\n\
                    get-user    user-id: text, x?: any  reads only            mock\n\
                    send-email  any                     may change something  mock\n";
    case.run(&["tools", "--tools", "tools.json"]).is(0, expected, "");
    let schema =
        r#"{"type":"object","properties":{"user-id":{"type":"string"},"x":{}},"required":["user-id"]}"#;
    let expected = format!(
        "{{\"tools\":[{{\"name\":\"get-user\",\"description\":\"finds a user\",\"inputSchema\":{schema},\
         \"annotations\":{{\"readOnlyHint\":true}},\"policy\":{{\"read_only\":true}},\"source\":\"mock\"}},\
         {{\"name\":\"send-email\",\"inputSchema\":{{\"type\":\"object\"}},\"source\":\"mock\"}}]}}\n"
    );
    case.run(&["tools", "--tools", "tools.json", "--json"]).is(0, &expected, "");
}

#[test]
fn tools_names_the_keywords_that_no_value_is_held_to() {
    let case = Case::new(&notify());
    let schema = r#"{"type":"object","properties":{"to":{"type":"string","format":"email","pattern":"@"}}}"#;
    let tools = format!(
        r#"{{"tools":{{"a":{{"mock":{{"returns":1}},"input_schema":{schema}}},"b":{{"mock":{{"returns":1}},"validate":false,"input_schema":{schema}}},"c":{{"mock":{{"returns":1}}}}}}}}"#
    );
    case.file("tools.json", &tools);
    let shown = case.run(&["tools", "--tools", "tools.json"]);
    let expected = "\ntool  keywords of its schemas that no value is held to\na     format, pattern\n";
    assert!(shown.out.ends_with(expected), "{}", shown.out);
    let json = case.run(&["tools", "--tools", "tools.json", "--json"]);
    assert_eq!(json.out.matches(r#""passedOver":["format","pattern"]"#).count(), 1, "{}", json.out);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let case = Case::new(&echo());
    let input = format!(r#"{{"amount":1,"name":"{}","extra":1}}"#, "x".repeat(1 << 20));
    case.file("input.json", input);
    let mut child = Command::new(env!("CARGO_BIN_EXE_ilo-vm"))
        .args(["run", "p.ilob", "--input", "@input.json"])
        .current_dir(case.folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn a_list_that_is_given_without_brackets_is_shown_with_them() {
    let case = Case::new(&echo());
    for (ty, given, why, form) in [
        ("list text", "Rome", ": expected a value", r#"["Rome"]"#),
        ("list text", "Rome, Oslo", ": expected a value", r#"["Rome","Oslo"]"#),
        ("list text", "\"Rome\"", ", found a text", r#"["Rome"]"#),
        ("list text", "7", ", found a number", r#"["7"]"#),
        ("list number", "1", ", found a number", "[1]"),
        ("list number", "1,2.5", ": expected one value, found more text after it", "[1,2.5]"),
        ("list number", "one", ": expected a value", "[…]"),
        ("list list number", "1", ", found a number", "[…]"),
        ("list any", "{\"a\":1}", ", found a record", "[…]"),
        ("list text", "[Rome]", ": expected a value", "[…]"),
        ("list text", "it's", ": expected a value", "[…]"),
    ] {
        case.file("list.ilo", format!("; fn f(v: {ty}) -> any\nRET REF 0\n"));
        let ended = case.run(&["run", "list.ilo", "--arg", &format!("v={given}")]);
        let expected =
            format!("error[input-type]: --arg: `v`: expected {ty} as JSON{why}; write `--arg 'v={form}'`\n");
        ended.is(2, "", &expected);
    }
}

#[test]
fn run_shows_its_exit_codes() {
    let case = Case::new(&echo());
    let words: Vec<String> = case.run(&["run", "--help"]).out.split_whitespace().map(str::to_owned).collect();
    let codes = "Exit codes: 0 ok, 1 err, 2 not a valid program, input or option, 3 fault, 4 waits in the journal, \
                 74 standard output cannot be written, 130 interrupted";
    assert!(words.join(" ").contains(codes));
}

#[test]
#[cfg(unix)]
fn a_file_without_end_is_not_read_to_its_end() {
    let case = Case::new(&echo());
    for arguments in [
        &["run", "/dev/zero"][..],
        &["verify", "/dev/zero"],
        &["tools", "--tools", "/dev/zero"],
        &["run", "p.ilob", "--input", "@/dev/zero"],
    ] {
        let ended = case.run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}");
        assert!(ended.err.contains("/dev/zero: larger than its limit of "), "{arguments:?}: {}", ended.err);
    }
}

#[test]
fn wrong_usage_ends_with_2() {
    let case = Case::new(&echo());
    for arguments in
        [&["serve"][..], &["run"], &["run", "p.ilob", "--fuel", "x"], &["run", "-", "--input", "-"], &[]]
    {
        let ended = case.run(arguments);
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(!ended.err.is_empty());
    }
}

#[test]
fn names_cannot_command_the_terminal() {
    let mut d = Draft::new(&["id"]);
    let (call, _) = d.call("a\u{1b}[2Jb", &["id"]);
    let tool = Op::Tool { dst: Out(1), first: First(0), call, fail: OnFail(0) };
    d.function("f", &[("id", Type::ANY)], ANY, &[tool, Op::Return { src: In(1) }]);
    let case = Case::new(&d.0);
    for verb in ["run", "plan"] {
        let ended = case.run(&[verb, "p.ilob", "--fn", "f"]);
        assert!(!ended.err.contains('\u{1b}') && !ended.out.contains('\u{1b}'));
        assert!(ended.err.contains("a\u{fffd}[2Jb") || ended.out.contains("a\u{fffd}[2Jb"), "{}", ended.err);
    }
}

#[test]
fn bytecode_is_bounded_by_default() {
    let case = Case::new(&echo());
    let verified = |size: usize| {
        let mut bytes = ilo_spec::encode::MAGIC.to_vec();
        bytes.resize(size, 0);
        case.file("large.ilob", bytes);
        let ended = case.run(&["verify", "large.ilob"]);
        assert_eq!(ended.code, Some(2), "{}", ended.err);
        ended.err.contains("larger than its limit")
    };
    assert!(!verified(limits::DEFAULT_BYTECODE), "it is refused for its content");
    assert!(verified(limits::DEFAULT_BYTECODE + 1));
}

#[test]
fn shells_complete_it_and_each_verb_has_a_page() {
    let case = Case::new(&notify());
    let script = case.run(&["completions", "zsh"]);
    assert!(script.code == Some(0) && script.out.contains("ilo-vm") && script.out.contains("tools"));
    let page = case.run(&["man"]);
    assert!(page.code == Some(0) && page.out.contains(".TH ilo-vm 1"), "{}", page.out);
    assert_eq!(case.run(&["man", "pages"]).code, Some(0));
    let pages = case.folder.path().join("pages");
    assert!(pages.join("ilo-vm-run.1").exists() && !pages.join("ilo-vm-keep.1").exists());
}
