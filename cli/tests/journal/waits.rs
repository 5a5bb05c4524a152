//! Runs that sleep, or wait for an answer or for tools: they hold no thread and outlive the process.

use super::support::{Place, code, ended, error, json_of, kill, signal, spawn, wait_for};
use ilo_journal::{Effect, FirstRecord, NewRun, Options, Record, RecordedPolicy, RunLimits, Store, To};
use rustix::process::Signal;
use serde_json::json;
use std::fs;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const WAITS: &str = "
; fn f(s: number) -> result number, text
; Vars: 0=s 1=first 2=none 3=second
; Tools: 0=pay 1=refund 2=wait 3=ship
; Fields: 0=amount 1=id 2=seconds
LET 1 CALL 0 1 0 LIT 1 5
ROLLBACK CALL 1 1 1 FIELD 1 1
LET 2 CALL 2 1 2 REF 0
LET 3 CALL 3 1 1 FIELD 1 1
RET_OK FIELD 1 1
";

/// A folder whose program waits `s` seconds between paying and shipping.
fn waiting() -> Place {
    let place = Place::new("", "");
    place.write("w.ilo", WAITS);
    let tools = fs::read_to_string(place.0.path().join("tools.json")).unwrap();
    let tools = tools.replacen("\"tools\": {", "\"tools\": {\"wait\": {\"builtin\": \"wait\"}, ", 1);
    place.write("tools.json", &tools);
    place
}

fn start<'a>(seconds: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let base = ["run", "w.ilo", "--tools", "tools.json", "--journal", "j", "--arg", seconds];
    [&base[..], more].concat()
}

#[test]
fn a_long_wait_suspends_the_run_and_resume_continues_it_when_it_is_time() {
    let place = waiting();
    let begun = Instant::now();
    let output = place.run(&start("s=8", &["--timeout", "3000"]));
    assert_eq!(code(&output), 4, "{}", error(&output));
    assert!(begun.elapsed() < Duration::from_secs(6), "no process waits");
    let line = json_of(&output);
    assert_eq!((&line["reason"], &line["call"]["number"]), (&json!("sleeping"), &json!(2)));
    assert!(line["wake"].as_str().is_some_and(|wake| wake.ends_with('Z')), "{line}");
    assert_eq!(place.tools_called(), ["pay"]);
    assert_eq!(json_of(&place.runs(&["list", "--json"]))["state"], "sleeping");
    // It is left alone until then.
    assert_eq!(place.resume(&[]).stdout, b"");
    // The time asleep does not count: the run has 3 seconds.
    let output = place.resume(&["1", "--watch"]);
    assert_eq!(code(&output), 0, "that of its end: {}", error(&output));
    let last = String::from_utf8(output.stdout).unwrap();
    let last: serde_json::Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    assert_eq!(last, json!({"status": "ok", "value": 7}));
    assert!(begun.elapsed() >= Duration::from_secs(8));
    assert_eq!(place.tools_called(), ["pay", "ship"]);
}

#[test]
fn a_short_wait_is_slept_through_and_a_signal_leaves_it() {
    let place = waiting();
    let output = place.run(&start("s=0.3", &[]));
    assert_eq!((code(&output), json_of(&output)), (0, json!({"status": "ok", "value": 7})));
    // Killed while it sleeps: nothing is in doubt, and nothing is made again.
    let child = spawn(place.command(&start("s=2", &[])));
    wait_for(|| {
        let listed =
            String::from_utf8(place.runs(&["list", "--json", "--state", "sleeping"]).stdout).unwrap();
        listed.contains("\"run\":2")
    });
    kill(child);
    let output = place.resume(&["2", "--watch"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with("{\"status\":\"ok\",\"value\":7}\n"), "{text}");
    assert_eq!(place.tools_called(), ["pay", "ship", "pay", "ship"]);
    let child = spawn(place.command(&start("s=4", &[])));
    wait_for(|| place.tools_called().len() == 5);
    signal(child.as_ref(), Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 4, "{}", error(&output));
}

#[test]
fn a_run_that_is_cancelled_asleep_is_rolled_back_at_once() {
    let place = waiting();
    assert_eq!(code(&place.run(&start("s=100000", &[]))), 4);
    assert_eq!(code(&place.runs(&["cancel", "1"])), 0);
    let output = place.resume(&[]);
    assert_eq!(code(&output), 3, "{}", error(&output));
    assert_eq!(json_of(&output)["code"], "cancelled");
    assert_eq!(place.tools_called(), ["pay", "refund"]);
}

#[test]
fn a_watching_process_continues_runs_as_people_decide() {
    let place = Place::new("", ", \"confirm\": true");
    assert_eq!(code(&place.start(&[])), 4);
    let arguments = ["resume", "--watch", "--journal", "j", "--tools", "tools.json"];
    let watching = spawn(place.command(&arguments));
    assert_eq!(code(&place.approve("1", &[])), 0);
    wait_for(|| place.tools_called().len() == 2);
    wait_for(|| json_of(&place.runs(&["list", "--json"]))["state"] == "ended");
    signal(watching.as_ref(), Signal::TERM);
    let output = watching.wait_with_output().unwrap();
    assert_eq!(json_of(&output), json!({"status": "ok", "value": 7}), "{}", error(&output));
}

#[test]
fn a_deferred_call_waits_for_its_answer_from_outside() {
    let place = Place::new("", ", \"deferred\": true");
    let without = ["run", "p.ilo", "--tools", "tools.json", "--arg", "n=5"];
    let refused = place.run(&without);
    assert_eq!(code(&refused), 2);
    assert!(error(&refused).contains("the answer of `ship` comes later"), "{}", error(&refused));
    assert!(place.done().is_empty());
    let output = place.start(&["--name", "order"]);
    assert_eq!(code(&output), 4, "{}", error(&output));
    assert_eq!(json_of(&output)["reason"], "deferred");
    assert_eq!(place.tools_called(), ["pay", "ship"], "the work was begun, once");
    assert_eq!(code(&place.resume(&["order"])), 4);
    let other = place.runs(&["answer", "order", "--call", "1", "--value", "{}"]);
    assert!(error(&other).starts_with("error[other-call]"), "{}", error(&other));
    // The worker has the key of the call, and needs nothing more.
    let key = place.done()[1].split(' ').nth(1).unwrap().to_owned();
    let answered = place.runs(&["answer", &key, "--value", "{\"id\": 9}"]);
    assert_eq!(code(&answered), 0, "{}", error(&answered));
    let late = place.runs(&["answer", &key, "--value", "{\"id\": 10}"]);
    assert!(error(&late).starts_with("error[not-in-this-state]"), "{}", error(&late));
    assert_eq!(json_of(&place.resume(&[])), json!({"status": "ok", "value": 7}));
    assert_eq!(place.tools_called(), ["pay", "ship"]);
}

#[test]
fn a_deferred_call_that_fails_rolls_the_run_back() {
    let place = Place::new("", ", \"deferred\": true");
    assert_eq!(code(&place.start(&[])), 4);
    assert_eq!(code(&place.runs(&["fail", "1", "--call", "2", "--message", "lost at sea"])), 0);
    let output = place.resume(&[]);
    assert_eq!((code(&output), &json_of(&output)["error"]), (1, &json!("lost at sea")));
    assert_eq!(place.tools_called(), ["pay", "ship", "refund"]);
}

/// A folder whose tool `ship` only begins the work, with this output schema.
fn shipping(schema: &str) -> Place {
    let place = Place::new("", &format!(", \"deferred\": true{schema}"));
    // The answer of the tool itself, which only says that work has begun, is not compared with the schema.
    place.write(
        "tool.sh",
        "cat > /dev/null; echo \"$1 $ILO_IDEMPOTENCY_KEY\" >> done\n\
        if [ \"$1\" = ship ]; then echo '\"begun\"'; else echo '{\"id\": 7}'; fi\n",
    );
    place
}

const SCHEMA: &str = ", \"output_schema\": {\"type\": \"object\", \"required\": [\"id\"], \
                      \"properties\": {\"id\": {\"type\": \"integer\"}}}";

#[test]
fn an_answer_from_outside_that_does_not_fit_is_refused_and_the_run_waits_as_before() {
    let place = shipping(SCHEMA);
    assert_eq!(json_of(&place.start(&[]))["reason"], "deferred");
    let before = place.runs(&["show", "1"]).stdout;
    // What the tool is now does not matter: the schema is stored with the call.
    let tools = fs::read_to_string(place.0.path().join("tools.json")).unwrap();
    place.write("tools.json", &tools.replace(SCHEMA, ""));
    let answer = |value: &str| place.runs(&["answer", "1", "--call", "2", "--value", value]);
    for (value, why) in [
        ("\"text\"", "expected record, found a text"),
        ("{}", "the field `id` is missing"),
        ("{\"id\": \"no\"}", "`id`: expected number, found a text"),
        ("null", "expected record, found nil"),
    ] {
        let refused = answer(value);
        assert_eq!(code(&refused), 2, "{}", error(&refused));
        let message = format!("error[bad-value]: the answer does not fit tool `ship`: {why}");
        assert!(error(&refused).starts_with(&message), "{}", error(&refused));
    }
    assert_eq!(place.runs(&["show", "1"]).stdout, before, "nothing was written");
    assert_eq!(code(&answer("{\"id\": 9}")), 0);
    assert_eq!(json_of(&place.resume(&[])), json!({"status": "ok", "value": 7}));
}

#[test]
fn an_answer_that_was_compared_with_nothing_is_compared_with_the_tool_at_resume() {
    let place = shipping("");
    assert_eq!(json_of(&place.start(&[]))["reason"], "deferred");
    let answer = |value: &str| code(&place.runs(&["answer", "1", "--call", "2", "--value", value]));
    assert_eq!(answer("\"text\""), 0);
    let tools = fs::read_to_string(place.0.path().join("tools.json")).unwrap();
    place.write("tools.json", &tools.replace("\"deferred\": true", &format!("\"deferred\": true{SCHEMA}")));
    let output = place.resume(&[]);
    assert_eq!((code(&output), &json_of(&output)["reason"]), (4, &json!("deferred")), "{}", error(&output));
    assert_eq!(answer("\"text\""), 2);
    assert_eq!(answer("{\"id\": 9}"), 0);
    assert_eq!(json_of(&place.resume(&[])), json!({"status": "ok", "value": 7}));
    assert_eq!(place.tools_called(), ["pay", "ship"]);
}

#[test]
fn a_tool_whose_schema_changed_blocks_a_run_only_if_its_call_no_longer_fits() {
    let schema = |more: &str| format!("\"input_schema\": {{\"type\": \"object\", {more}}}");
    let old = schema("\"properties\": {\"id\": {\"type\": \"integer\"}}");
    for (new, fits) in [
        (schema("\"required\": [\"id\", \"weight\"]"), false),
        (schema("\"properties\": {\"id\": {\"type\": \"string\"}}"), false),
        (schema("\"properties\": {\"id\": {\"type\": [\"integer\", \"string\"]}}"), true),
    ] {
        let place = Place::new("", &format!(", \"confirm\": true, {old}"));
        assert_eq!(code(&place.start(&[])), 4);
        assert_eq!(code(&place.approve("1", &[])), 0);
        let tools = fs::read_to_string(place.0.path().join("tools.json")).unwrap();
        place.write("tools.json", &tools.replace(&old, &new));
        let output = place.resume(&[]);
        if fits {
            assert_eq!(json_of(&output), json!({"status": "ok", "value": 7}), "{}", error(&output));
            continue;
        }
        assert_eq!((code(&output), &json_of(&output)["reason"]), (4, &json!("changed-tool")));
        assert!(error(&output).contains("tool `ship`: its arguments no longer fit: "), "{}", error(&output));
        assert_eq!(place.tools_called(), ["pay"]);
        // The call is not sent, and the run rolls back.
        let output = place.resume(&["--update"]);
        assert_eq!(code(&output), 1, "{}", error(&output));
        assert_eq!(place.tools_called(), ["pay", "refund"]);
    }
}

#[test]
fn a_changed_or_missing_tool_blocks_its_runs_and_no_others() {
    let place = Place::new("", ", \"confirm\": true");
    let locked = ["--lock", "tools.lock"];
    assert_eq!(code(&place.start(&locked)), 4);
    assert_eq!(code(&place.approve("1", &[])), 0);
    let tools = fs::read_to_string(place.0.path().join("tools.json")).unwrap();
    let changed = tools.replacen("\"confirm\": true", "\"confirm\": true, \"description\": \"ships it\"", 1);
    place.write("tools.json", &changed);
    let output = place.resume(&locked);
    assert_eq!(code(&output), 4, "{}", error(&output));
    assert!(error(&output).contains("error[changed-tool]"), "{}", error(&output));
    assert_eq!(json_of(&output)["reason"], "changed-tool");
    let listed = json_of(&place.runs(&["list", "--json"]));
    assert_eq!(listed["state"], "blocked");
    assert!(listed["blocked"].as_str().unwrap().starts_with("changed-tool: "), "{listed}");
    assert_eq!(place.tools_called(), ["pay"]);
    place.write("tools.json", &tools.replace("\"ship\"", "\"post\""));
    let output = place.resume(&[]);
    assert_eq!((code(&output), &json_of(&output)["reason"]), (4, &json!("missing-tool")));
    // The approval is still there, since the call has not changed.
    place.write("tools.json", &tools);
    assert_eq!(json_of(&place.resume(&locked)), json!({"status": "ok", "value": 7}));
    assert_eq!(place.tools_called(), ["pay", "ship"]);
}

#[test]
fn a_run_does_not_need_its_source_again() {
    let place = Place::new("", ", \"confirm\": true");
    assert_eq!(code(&place.start(&["--name", "order"])), 4);
    place.write("p.ilo", "; fn f( -> ?\nNO SUCH THING");
    let again = place.start(&["--name", "order"]);
    assert_eq!(code(&again), 2, "the source is wrong");
    assert_eq!(json_of(&place.runs(&["list", "--json"]))["state"], "asking");
    assert_eq!(code(&place.approve("1", &[])), 0);
    assert_eq!(json_of(&place.resume(&[])), json!({"status": "ok", "value": 7}));
}

#[test]
fn runs_that_have_ended_stay_as_long_as_the_journal_says() {
    let place = Place::new("", "");
    for _ in 0..3 {
        assert_eq!(code(&place.start(&[])), 0);
    }
    let count = || String::from_utf8(place.runs(&["list", "--json"]).stdout).unwrap().lines().count();
    assert_eq!(count(), 3);
    assert_eq!(json_of(&place.runs(&["prune", "--json"]))["removed"], 0);
    assert_eq!(json_of(&place.runs(&["prune", "--keep", "0", "--days", "30", "--json"]))["removed"], 0);
    assert_eq!(code(&place.start(&[])), 0);
    assert_eq!(
        count(),
        2,
        "the next process has removed those before, but for the last, whose number stays taken"
    );
    assert_eq!(json_of(&place.runs(&["prune", "--json"]))["removed"], 1);
}

#[test]
fn two_processes_do_not_work_on_one_run() {
    let place = Place::new("", "");
    place.write("hang-pay", "");
    let base = ["run", "p.ilo", "--tools", "tools.json", "--arg", "n=5", "--journal", "j", "--name", "order"];
    let first = spawn(place.command(&base));
    wait_for(|| place.done().len() == 1);
    for other in [place.resume(&["order"]), place.run(&base)] {
        assert_eq!(code(&other), 2);
        assert!(error(&other).starts_with("error[run-owned]"), "{}", error(&other));
    }
    let all = place.resume(&[]);
    assert_eq!(code(&all), 0, "of all runs, those of others are left to them");
    assert_eq!(error(&all), format!("skipped: process {} works on run `order`\n", first.id()));
    fs::remove_file(place.0.path().join("hang-pay")).unwrap();
    assert_eq!(json_of(&first.wait_with_output().unwrap()), json!({"status": "ok", "value": 7}));
    assert_eq!(place.tools_called(), ["pay", "ship"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_that_takes_no_files_is_refused_before_anything_runs() {
    let place = Place::new("", "");
    for journal in ["/proc/runs.journal", "/sys/runs.journal", "/dev/full", "missing/j", "."] {
        let arguments = ["run", "p.ilo", "--tools", "tools.json", "--arg", "n=5", "--journal", journal];
        let output = place.run(&arguments);
        assert_eq!(code(&output), 2, "{journal}: {}", error(&output));
        let told = error(&output);
        let codes = ["journal-cannot-open", "journal-read-only", "journal-io"];
        assert!(codes.iter().any(|code| told.starts_with(&format!("error[{code}]: `"))), "{journal}: {told}");
    }
    assert!(place.done().is_empty());
}

#[test]
fn the_list_has_the_command_to_type_next_beside_each_run_that_waits() {
    let place = Place::new("", ", \"confirm\": true");
    assert_eq!(code(&place.start(&["--name", "order"])), 4);
    let text = String::from_utf8(place.runs(&["list"]).stdout).unwrap();
    let row = text.lines().nth(1).unwrap();
    assert!(row.starts_with("1    order  asking  20"), "{text}");
    assert!(row.ends_with("Z  2 ship {\"id\":7}  ilo-vm runs approve 1 --call 2 --journal j"), "{text}");
    let command: Vec<&str> = row.split("ilo-vm ").nth(1).unwrap().split(' ').collect();
    let hash = json_of(&place.runs(&["show", "1", "--json"]))["arguments_hash"].as_str().unwrap().to_owned();
    assert_eq!(code(&place.run(&[&command[..], &["--arguments-hash", &hash]].concat())), 0);
    let text = String::from_utf8(place.runs(&["list"]).stdout).unwrap();
    assert!(text.ends_with("2 ship  ilo-vm resume 1 --journal j\n"), "{text}");
}

#[test]
fn a_long_list_shows_the_last_runs_and_says_how_many_more_there_are() {
    let place = Place::new("", "");
    let store = Store::open(&place.0.path().join("j"), &Options::default()).unwrap();
    for _ in 0..130 {
        drop(store.start(&unreadable(), &FirstRecord::Call(ready())).unwrap().wait().unwrap());
    }
    drop(store);
    let lines = |output: &Output| String::from_utf8_lossy(&output.stdout).lines().count();
    let listed = place.runs(&["list"]);
    assert_eq!(lines(&listed), 101, "the head and the runs");
    assert!(String::from_utf8_lossy(&listed.stdout).contains("\n31 "), "{listed:?}");
    assert!(
        error(&listed).starts_with("30 more runs that were started earlier, 130 ready in all\n"),
        "{listed:?}"
    );
    assert!(error(&listed).contains("--limit N"), "{listed:?}");
    let all = place.runs(&["list", "--limit", "130"]);
    assert_eq!((lines(&all), error(&all).as_str()), (131, ""));
    assert_eq!(lines(&place.runs(&["list", "--json"])), 130);
    assert_eq!(lines(&place.runs(&["list", "--json", "--limit", "7"])), 7);
    assert_eq!(error(&place.runs(&["list", "--state", "doubt"])), "no runs\n");
    let wrong = place.runs(&["list", "--state", "doubtful"]);
    assert_eq!(code(&wrong), 2);
    assert!(error(&wrong).contains("doubt"), "{wrong:?}");
}

fn unreadable() -> NewRun<'static> {
    static LIMITS: LazyLock<RunLimits> = LazyLock::new(RunLimits::default);
    static PROGRAM: LazyLock<Vec<u8>> = LazyLock::new(|| [&ilo_spec::encode::MAGIC[..], &[0xff; 8]].concat());
    NewRun { name: None, input: b"", program: &PROGRAM, function: "f", limits: &LIMITS, subject: None }
}

fn ready() -> Record<'static> {
    Record {
        to: To::Ready,
        call: 1,
        tool: "pay",
        policy: RecordedPolicy::of(Effect::Changes),
        arguments: b"{}",
        active_ms: 0,
        snapshot: b"of a later release",
        answer: None,
        expects: None,
    }
}

#[test]
fn a_run_that_this_release_cannot_read_is_reported_and_stays_as_it_is() {
    let place = Place::new("", "");
    let store = Store::open(&place.0.path().join("j"), &Options::default()).unwrap();
    drop(store.start(&unreadable(), &FirstRecord::Call(ready())).unwrap().wait().unwrap());
    drop(store);
    let before = json_of(&place.runs(&["show", "1", "--json"]));
    for _ in 0..2 {
        let output = place.resume(&[]);
        assert_eq!(code(&output), 4, "{}", error(&output));
        assert_eq!(json_of(&output)["reason"], "needs-version");
        assert!(error(&output).contains("error[journal-newer-version]: "), "{}", error(&output));
    }
    assert_eq!(json_of(&place.runs(&["show", "1", "--json"])), before);
    assert!(place.done().is_empty());
}

#[test]
fn a_damaged_run_does_not_keep_the_others_from_going_on() {
    let place = Place::new("", ", \"confirm\": true");
    for run in ["1", "2"] {
        assert_eq!(code(&place.start(&[])), 4);
        assert_eq!(code(&place.approve(run, &[])), 0);
    }
    let path = place.0.path().join("j");
    let whole = fs::read(&path).unwrap();
    // One of the places with the name of the tool belongs to run 1 alone.
    let at = whole.windows(4).enumerate().filter(|(_, found)| found == b"ship").map(|(at, _)| at);
    let damaged = at.into_iter().find(|&at| {
        let mut bytes = whole.clone();
        bytes[at] = b'S';
        fs::write(&path, bytes).unwrap();
        let shown = |run| error(&place.runs(&["show", run]));
        shown("1").starts_with("error[journal-damaged]") && shown("2").is_empty()
    });
    assert!(damaged.is_some(), "the row is found");
    let output = place.resume(&[]);
    assert_eq!((code(&output), json_of(&output)), (2, json!({"status": "ok", "value": 7})));
    let told = error(&output);
    assert!(told.starts_with("error[journal-damaged]") && told.contains(" run 1"), "{told}");
}

/// A run of 300 calls, in a journal that may not grow beyond some of their records.
#[test]
fn a_journal_that_is_full_in_the_middle_leaves_the_run_to_be_resumed_and_says_what_was_made() {
    let place = Place::new("", "");
    place.write(
        "p.ilo",
        "; fn f(n: list number) -> nil\n; Tools: 0=pay\n; Fields: 0=amount\n\
         FOR 1 REF 0 1\n  CALL 0 1 0 REF 1\nRET LIT 2 nil\n",
    );
    place.write("tools.json", r#"{"tools": {"pay": {"mock": {"returns": {"id": 7}}}}}"#);
    let script =
        "trap '' XFSZ; ulimit -f 128; exec \"$0\" run p.ilo --tools tools.json --arg \"$1\" --journal j";
    let mut command = Command::new("sh");
    let list = format!("n=[{}]", vec!["1"; 300].join(","));
    command.args(["-c", script, env!("CARGO_BIN_EXE_ilo-vm"), &list]).current_dir(place.0.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = ended(command);
    assert_eq!(code(&output), 4, "{output:?}");
    let (told, line) = (error(&output), json_of(&output));
    let call = line["call"]["number"].as_u64().unwrap();
    assert_eq!(
        (&line["status"], &line["reason"], &line["run"]),
        (&json!("suspended"), &json!("interrupted"), &json!(1))
    );
    assert!(call > 1, "{told}");
    let made =
        format!("call {call} of `pay` was made, and its answer is not in the journal:\n  {{\"id\":7}}\n");
    assert!(told.contains(&made) && told.contains("  ilo-vm resume 1 --journal j\n"), "{told}");
    assert_eq!(json_of(&place.resume(&[]))["reason"], "in-doubt");
    let call = call.to_string();
    assert_eq!(code(&place.runs(&["answer", "1", "--call", &call, "--value", "{\"id\":7}"])), 0);
    assert_eq!(json_of(&place.resume(&[])), json!({"status": "ok", "value": null}));
}

#[test]
fn a_file_that_may_not_grow_stops_the_run_before_its_call_and_nothing_is_lost() {
    let place = Place::new("", ", \"confirm\": true");
    assert_eq!(code(&place.start(&["--name", "order"])), 4);
    // A quota, or a full disk: nothing more can be written to the log. The signal that goes with it is
    // ignored, as services do.
    let full = |verb: &str| {
        let script = format!("trap '' XFSZ; ulimit -f 8; exec \"$0\" {verb} --journal j");
        let mut command = Command::new("sh");
        command
            .args(["-c", &script, env!("CARGO_BIN_EXE_ilo-vm")])
            .current_dir(place.0.path())
            .stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        ended(command)
    };
    for verb in ["runs approve order --call 2", "run p.ilo --tools tools.json --arg n=6 --name other"] {
        let output = full(verb);
        assert_eq!(code(&output), 2, "{output:?}");
        let told = error(&output);
        assert!(
            ["error[journal-io]", "error[journal-full]"].iter().any(|code| told.starts_with(code)),
            "{told}"
        );
    }
    assert_eq!(place.tools_called(), ["pay"], "nothing was called without a record");
    let listed = json_of(&place.runs(&["list", "--json"]));
    assert_eq!((&listed["name"], &listed["state"]), (&json!("order"), &json!("asking")));
    assert_eq!(code(&place.approve("order", &[])), 0);
    assert_eq!(json_of(&place.resume(&[])), json!({"status": "ok", "value": 7}));
}

#[test]
fn an_approval_without_a_terminal_names_the_call_that_was_looked_at() {
    let place = Place::new("", ", \"confirm\": true");
    assert_eq!(code(&place.start(&[])), 4);
    let shown = json_of(&place.runs(&["show", "1", "--json"]));
    let hash = shown["arguments_hash"].as_str().unwrap().to_owned();
    assert_eq!(hash.len(), 32);
    let people = String::from_utf8(place.runs(&["show", "1"]).stdout).unwrap();
    assert!(people.contains(&hash), "{people}");
    let other = "0".repeat(32);
    for (more, why) in [
        (
            &["--call", "2"][..],
            "there is no terminal to show the call on; give `--call 2 --arguments-hash HASH`",
        ),
        (&[], "there is no terminal to show the call on"),
        (&["--call", "2", "--arguments-hash", &other], "call 2 of `ship` has other arguments"),
        (&["--call", "2", "--arguments-hash", ""], "call 2 of `ship` has other arguments"),
        (&["--call", "1", "--arguments-hash", &hash], "error[other-call]"),
        (&["--arguments-hash", &hash], "--call"),
    ] {
        let refused = place.runs(&[&["approve", "1"][..], more].concat());
        assert_eq!(code(&refused), 2, "{more:?}");
        assert!(error(&refused).contains(why), "{more:?}: {}", error(&refused));
        assert_eq!(json_of(&place.runs(&["show", "1", "--json"]))["state"], "asking");
    }
    assert_eq!(code(&place.approve("1", &[])), 0);
    assert_eq!(json_of(&place.resume(&[])), json!({"status": "ok", "value": 7}));
}

#[cfg(unix)]
#[test]
fn a_journal_that_everybody_can_write_is_not_continued() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new("", ", \"confirm\": true");
    assert_eq!(code(&place.start(&[])), 4);
    let set = |mode| fs::set_permissions(place.0.path().join("j"), fs::Permissions::from_mode(mode)).unwrap();
    for (mode, refused) in [(0o600, false), (0o660, false), (0o644, false), (0o602, true), (0o666, true)] {
        set(mode);
        let output = place.resume(&[]);
        let told = error(&output);
        assert_eq!(code(&output), if refused { 2 } else { 0 }, "{mode:o}: {told}");
        assert_eq!(told.contains("chmod 600 j"), mode != 0o600, "{mode:o}: {told}");
        assert_eq!(told.contains("--shared-journal"), refused, "{mode:o}: {told}");
        let served = place.run(&["serve", "--tools", "tools.json", "--journal", "j"]);
        assert_eq!(error(&served).contains("--shared-journal"), refused, "{mode:o}: {}", error(&served));
    }
    assert_eq!(code(&place.resume(&["--shared-journal"])), 0);
}
