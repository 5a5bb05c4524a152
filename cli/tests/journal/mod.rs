//! `run --journal`, `resume` and `runs`: their output, their exit codes, and the effects in between.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[cfg(feature = "postgres")]
mod postgres;
mod support;
mod waits;

use rustix::process::Signal;
use serde_json::json;
use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use support::{Place, code, ended, error, json_of, kill, signal, spawn, wait_for};

#[test]
fn a_run_without_interruption_prints_its_outcome_and_is_in_the_journal() {
    let place = Place::new("", "");
    let output = place.start(&["--name", "order"]);
    assert_eq!(code(&output), 0, "{}", error(&output));
    assert_eq!(json_of(&output), json!({"status": "ok", "value": 7}));
    assert_eq!(place.tools_called(), ["pay", "ship"]);
    let keys: Vec<String> =
        place.done().iter().map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect();
    assert!(keys[0].ends_with("-1") && keys[1].ends_with("-2") && keys[0][..26] == keys[1][..26], "{keys:?}");
    // The same command again does nothing and prints the same outcome.
    let again = place.start(&["--name", "order"]);
    assert_eq!((code(&again), json_of(&again)), (0, json_of(&output)));
    assert_eq!(place.done().len(), 2);
    let listed = json_of(&place.runs(&["list", "--json"]));
    assert_eq!(listed["state"], "ended");
    assert_eq!(listed["outcome"], json!({"status": "ok", "value": 7}));
}

#[test]
fn the_calls_of_runs_are_listed_where_the_journal_keeps_them() {
    let place = Place::new("", "");
    assert_eq!(code(&place.start(&["--name", "before"])), 0);
    let none = place.runs(&["calls", "before"]);
    assert!(none.stdout.is_empty() && error(&none).contains("`ilo-vm runs calls --keep yes`"), "{none:?}");
    assert_eq!(code(&place.runs(&["calls", "--keep", "yes"])), 0);
    assert_eq!(code(&place.start(&["--name", "order"])), 0);
    let listed = place.runs(&["calls", "order", "--json"]);
    let lines = String::from_utf8_lossy(&listed.stdout).into_owned();
    let calls: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shown: Vec<_> = calls.iter().map(|it| (&it["call"], it["tool"].as_str(), &it["ok"])).collect();
    let answer = json!({"id": 7});
    assert_eq!(shown, [(&json!(1), Some("pay"), &answer), (&json!(2), Some("ship"), &answer)]);
    assert!(calls.iter().all(|it| it["args"].is_object() && it["took_ms"].is_u64()), "{lines}");
    let table = place.runs(&["calls", "order"]);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(table.lines().count() == 3 && table.contains("{\"id\":7}"), "{table}");
    // The calls of a run that was made before are not there, and then no longer those of later runs.
    assert!(place.runs(&["calls", "before"]).stdout.is_empty());
    assert_eq!(code(&place.runs(&["calls", "--keep", "no"])), 0);
    assert_eq!(code(&place.start(&["--name", "after"])), 0);
    assert!(place.runs(&["calls", "after"]).stdout.is_empty());
    for wrong in [&["calls"][..], &["calls", "nobody"], &["calls", "--keep", "maybe"]] {
        assert_eq!(code(&place.runs(wrong)), 2, "{wrong:?}");
    }
}

/// The library's own tests change more bytes; these are the commands, which have to say it.
#[test]
fn a_hostile_journal_is_refused_in_words_by_every_command() {
    let place = Place::new("", ", \"confirm\": true");
    assert_eq!(code(&place.start(&["--name", "order"])), 4);
    let whole = fs::read(place.0.path().join("j")).unwrap();
    // In the order in which a run would go on.
    let commands: [&[&str]; 4] = [
        &["runs", "list", "--journal", "x"],
        &["runs", "show", "order", "--journal", "x"],
        &["runs", "approve", "order", "--call", "2", "--journal", "x"],
        &["resume", "--journal", "x", "--tools", "tools.json"],
    ];
    let tries = |bytes: &[u8], what: &str| {
        fs::remove_dir_all(place.0.path().join("x.owners")).ok();
        for end in ["", "-wal", "-shm"] {
            fs::remove_file(place.0.path().join(format!("x{end}"))).ok();
        }
        fs::write(place.0.path().join("x"), bytes).unwrap();
        fs::set_permissions(place.0.path().join("x"), Permissions::from_mode(0o600)).unwrap();
        for command in commands {
            let output = place.run(command);
            let said = error(&output);
            assert!([0, 2, 4].contains(&code(&output)), "{what}: {command:?}: {said}");
            assert!(code(&output) != 2 || said.starts_with("error["), "{what}: {command:?}: {said}");
        }
    };
    for end in [0, 1, 15, 16, 99, 100, 512, 4095, 4096, whole.len() / 2, whole.len() - 1] {
        tries(&whole[..end], &format!("cut at {end}"));
    }
    let full: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] != 0).collect();
    for &at in full.iter().step_by(full.len() / 40) {
        let mut changed = whole.clone();
        changed[at] ^= 0x80;
        tries(&changed, &format!("byte {at} changed"));
    }
    tries(&[whole.as_slice(), &whole].concat(), "twice");
    // What is no file.
    fs::create_dir(place.0.path().join("d")).unwrap();
    for journal in ["d", "/dev/null", "/dev/zero", "no/such/folder"] {
        let output = place.run(&["runs", "list", "--journal", journal]);
        assert_eq!(code(&output), 2);
        assert!(error(&output).starts_with("error[journal-cannot-open]: "), "{journal}: {}", error(&output));
    }
}

#[test]
fn a_damaged_run_is_reported_and_the_others_are_continued() {
    let place = Place::new("", ", \"confirm\": true");
    place.write("q.ilo", &support::PAYS.replace("fn f(", "fn unusual("));
    assert_eq!(code(&place.start(&[])), 4);
    let base = ["run", "q.ilo", "--tools", "tools.json", "--arg", "n=5", "--journal", "j"];
    assert_eq!(code(&place.run(&base)), 4);
    assert_eq!(code(&place.approve("1", &[])), 0);
    // The name of the function is last in the entry of the run.
    let path = place.0.path().join("j");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(7).rposition(|window| window == b"unusual").unwrap();
    bytes[at] = b'x';
    fs::write(&path, bytes).unwrap();
    let listed = place.runs(&["list", "--json"]);
    assert_eq!((code(&listed), json_of(&listed)["state"].as_str()), (2, Some("ready")));
    let expected = "error[journal-damaged]: run 2 is not listed: the journal is damaged: the entry of run 2; \
                    restore the journal from a back-up\n";
    assert_eq!(error(&listed), expected);
    let output = place.resume(&[]);
    let expected = "error[journal-damaged]: run 2 is not continued: the journal is damaged: the entry of run 2; \
                    restore the journal from a back-up\n";
    assert_eq!((code(&output), error(&output).as_str()), (2, expected));
    assert_eq!(json_of(&output), json!({"status": "ok", "value": 7}), "run 1 has ended");
    let again = place.resume(&[]);
    assert_eq!((code(&again), error(&again).as_str()), (2, expected), "nothing else is left");
    let named = place.resume(&["1"]);
    assert_eq!((code(&named), json_of(&named)), (0, json!({"status": "ok", "value": 7})));
}

#[test]
fn a_run_with_a_long_name_is_listed() {
    let place = Place::new("", ", \"confirm\": true");
    let name = "x".repeat(70_000);
    assert_eq!(code(&place.start(&["--name", &name])), 4);
    for arguments in [&["list"][..], &["show", &name]] {
        let output = place.runs(arguments);
        assert_eq!(code(&output), 0, "{}", error(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains(&name));
    }
}

#[test]
fn an_approval_is_asked_given_from_another_shell_and_the_run_goes_on() {
    let place = Place::new("", ", \"confirm\": true");
    let output = place.start(&["--name", "order"]);
    assert_eq!(code(&output), 4, "{}", error(&output));
    let call = json!({"number": 2, "tool": "ship", "args": {"id": 7}});
    let expected =
        json!({"status": "suspended", "run": 1, "name": "order", "reason": "asking", "call": call});
    assert_eq!(json_of(&output), expected);
    assert!(error(&output).contains("ilo-vm runs approve 1 --call 2 --journal j"), "{}", error(&output));
    let listed = json_of(&place.runs(&["list", "--json"]));
    assert_eq!((&listed["state"], &listed["call"]), (&json!("asking"), &call));
    let table = String::from_utf8(place.runs(&["list"]).stdout).unwrap();
    assert!(table.contains("runs approve 1 --call 2"), "{table}");
    let wrong = place.runs(&["approve", "order", "--call", "1"]);
    assert_eq!(code(&wrong), 2);
    assert!(error(&wrong).starts_with("error[other-call]: "), "{}", error(&wrong));
    assert_eq!(code(&place.resume(&["order"])), 4, "it still waits");
    assert_eq!(code(&place.approve("order", &["--by", "ann"])), 0);
    let output = place.resume(&[]);
    assert_eq!(json_of(&output), json!({"status": "ok", "value": 7}), "{}", error(&output));
    assert_eq!(place.tools_called(), ["pay", "ship"]);
    let shown = json_of(&place.runs(&["show", "1", "--json"]));
    assert_eq!(shown["decisions"][0]["who"], "ann");
}

#[test]
fn a_refused_call_fails_and_what_was_done_is_rolled_back() {
    let place = Place::new("", ", \"confirm\": true");
    place.start(&[]);
    assert_eq!(code(&place.runs(&["deny", "1", "--call", "2", "--message", "no room", "--by", "ann"])), 0);
    let output = place.resume(&["1"]);
    assert_eq!(code(&output), 1, "{}", error(&output));
    assert_eq!(json_of(&output)["error"], "not approved by ann: no room");
    assert_eq!(place.tools_called(), ["pay", "refund"]);
}

#[test]
fn a_run_that_was_killed_during_a_call_is_in_doubt_until_a_person_decides() {
    let place = Place::new("", "");
    place.write("hang-pay", "");
    let base = ["run", "p.ilo", "--tools", "tools.json", "--arg", "n=5", "--journal", "j"];
    let child = spawn(place.command(&base));
    wait_for(|| place.done().len() == 1);
    kill(child);
    // The process that ends the command holds the run for a moment.
    let mut output = place.resume(&["1"]);
    wait_for(|| {
        let ended = place.resume(&["1"]);
        !error(&ended).contains("error[run-owned]")
    });
    if error(&output).contains("error[run-owned]") {
        output = place.resume(&["1"]);
    }
    assert_eq!(code(&output), 4, "{}", error(&output));
    assert_eq!(json_of(&output)["reason"], "in-doubt");
    assert_eq!(place.done().len(), 1, "it was not made again");
    fs::remove_file(place.0.path().join("hang-pay")).unwrap();
    assert_eq!(code(&place.runs(&["approve", "1", "--call", "1"])), 2);
    assert_eq!(code(&place.runs(&["retry", "1", "--call", "1"])), 0);
    let output = place.resume(&["1"]);
    assert_eq!(json_of(&output), json!({"status": "ok", "value": 7}), "{}", error(&output));
    let done = place.done();
    assert_eq!((done.len(), &done[0]), (3, &done[1]), "both attempts have the same key");
}

#[test]
fn a_run_that_has_used_up_its_calls_gets_more_or_is_cancelled() {
    let place = Place::new("", "");
    for verb in ["more", "cancel"] {
        let output = place.start(&["--name", verb, "--max-calls", "1"]);
        assert_eq!(code(&output), 4, "{}", error(&output));
        assert_eq!(
            (&json_of(&output)["reason"], &json_of(&output)["limit"]),
            (&json!("limited"), &json!("calls"))
        );
        assert!(error(&output).contains("ilo-vm resume "), "{}", error(&output));
        assert!(error(&output).contains(" --calls 2 --journal j\n"), "{}", error(&output));
    }
    assert_eq!(place.tools_called(), ["pay", "pay"]);
    let output = place.start(&["--name", "fuel", "--fuel", "11"]);
    assert_eq!(json_of(&output)["limit"], "fuel", "{}", error(&output));
    assert!(error(&output).contains(" --fuel 22 --journal j\n"), "{}", error(&output));
    assert_eq!(json_of(&place.runs(&["list", "--json", "--limit", "1"]))["limit"], "fuel");
    assert_eq!(code(&place.runs(&["cancel", "fuel"])), 0);
    let output = place.resume(&["more", "--calls", "10"]);
    assert_eq!(json_of(&output), json!({"status": "ok", "value": 7}), "{}", error(&output));
    assert_eq!(code(&place.runs(&["cancel", "cancel"])), 0);
    let output = place.resume(&["cancel", "--calls", "10"]);
    assert_eq!(code(&output), 3, "{}", error(&output));
    assert_eq!(json_of(&output)["code"], "cancelled");
}

#[test]
fn a_run_is_cancelled_where_it_waits_and_rolled_back() {
    let place = Place::new("", ", \"confirm\": true");
    place.start(&[]);
    assert_eq!(code(&place.runs(&["cancel", "1"])), 0);
    let output = place.resume(&[]);
    assert_eq!(code(&output), 3, "{}", error(&output));
    let outcome = json_of(&output);
    assert_eq!(
        (&outcome["code"], &outcome["rolled_back"][0]["tool"]),
        (&json!("cancelled"), &json!("refund"))
    );
    assert_eq!(place.tools_called(), ["pay", "refund"]);
}

#[test]
fn the_first_signal_leaves_the_run_to_be_resumed() {
    let place = Place::new("", "");
    place.write("hang-pay", "");
    let base = ["run", "p.ilo", "--tools", "tools.json", "--arg", "n=5", "--journal", "j"];
    let mut child = spawn(place.command(&base));
    wait_for(|| place.done().len() == 1);
    signal(child.as_ref(), Signal::TERM);
    // It has noticed the signal when it says so.
    let mut told = String::new();
    BufReader::new(child.stderr().as_mut().unwrap()).read_line(&mut told).unwrap();
    assert!(told.starts_with("stopping: the call under way is awaited"), "{told}");
    fs::remove_file(place.0.path().join("hang-pay")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 4, "{}", error(&output));
    let call = json!({"number": 2, "tool": "ship", "args": {"id": 7}});
    assert_eq!((&json_of(&output)["reason"], &json_of(&output)["call"]), (&json!("interrupted"), &call));
    assert_eq!(json_of(&place.resume(&[])), json!({"status": "ok", "value": 7}));
    assert_eq!(place.tools_called(), ["pay", "ship"]);
}

#[test]
fn a_run_moves_to_another_journal_with_its_key() {
    let place = Place::new("", ", \"confirm\": true");
    place.start(&["--name", "order"]);
    assert_eq!(code(&place.runs(&["export", "order", "-o", "order.run"])), 0);
    let refused = place.resume(&["order"]);
    assert_eq!(code(&refused), 2);
    assert!(error(&refused).contains("exported"), "{}", error(&refused));
    let there = ["runs", "import", "order.run", "--journal", "k"];
    assert_eq!(code(&place.run(&there)), 0);
    assert_eq!(code(&place.approve_in("k", "order", &[])), 0);
    let output = place.run(&["resume", "--journal", "k", "--tools", "tools.json"]);
    assert_eq!(json_of(&output), json!({"status": "ok", "value": 7}), "{}", error(&output));
    let keys: Vec<String> =
        place.done().iter().map(|line| line.split(' ').nth(1).unwrap()[..26].to_owned()).collect();
    assert_eq!(keys[0], keys[1]);
    assert_eq!(
        json_of(&place.run(&["runs", "prune", "--days", "0", "--journal", "k", "--json"]))["removed"],
        0
    );
}

#[test]
fn a_run_is_imported_from_a_file_or_standard_input_and_from_nothing_else() {
    let place = Place::new("", ", \"confirm\": true");
    assert_eq!(code(&place.start(&[])), 4);
    assert_eq!(code(&place.runs(&["export", "1", "--output", "moved"])), 0);
    let folder = place.0.path();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("pipe"), rustix::fs::Mode::RWXU).unwrap();
    for (path, what) in [("pipe", "a pipe"), (".", "a folder"), ("/dev/zero", "a device")] {
        let output = place.run(&["runs", "import", path, "--journal", "other"]);
        let expected = format!(
            "error[bad-usage]: {path}: an exported run is a file, and this is {what}; `-` reads standard input\n"
        );
        assert_eq!((code(&output), error(&output)), (2, expected));
    }
    let missing = place.run(&["runs", "import", "missing", "--journal", "other"]);
    assert_eq!(code(&missing), 2);
    assert!(!folder.join("other").exists(), "nothing was created");
    let mut command = place.command(&["runs", "import", "-", "--journal", "other"]);
    command.stdin(fs::File::open(folder.join("moved")).unwrap());
    let output = ended(command);
    assert_eq!(code(&output), 0, "{}", error(&output));
}

#[test]
fn a_journal_with_a_key_needs_it() {
    let place = Place::new("", ", \"confirm\": true");
    let key = "0f".repeat(32);
    let mut command =
        place.command(&["run", "p.ilo", "--tools", "tools.json", "--arg", "n=5", "--journal", "j"]);
    command.args(["--journal-key-env", "ILO_KEY"]).env("ILO_KEY", &key);
    let output = ended(command);
    assert_eq!(code(&output), 4, "{}", error(&output));
    let without = place.runs(&["list"]);
    assert_eq!(code(&without), 2);
    assert!(error(&without).starts_with("error[journal-key]: "), "{}", error(&without));
    let mut command = place.command(&["runs", "show", "1", "--json", "--journal", "j"]);
    command.args(["--journal-key-env", "ILO_KEY"]).env("ILO_KEY", &key);
    let output = ended(command);
    assert_eq!(json_of(&output)["call"]["args"], json!({"id": 7}));
}

#[test]
fn what_is_wrong_is_said_before_anything_runs() {
    let place = Place::new("", "");
    place.write("notes", "hello");
    let cases = [
        (place.start(&["--name", "7"]), "error[bad-usage]"),
        (place.run(&["runs", "list", "--journal", "missing"]), "error[journal-cannot-open]"),
        (place.run(&["runs", "list", "--journal", "notes"]), "error[journal-other-file]"),
        (place.start(&["--journal-key-env", "ILO_KEY"]), "error[bad-usage]"),
    ];
    for (output, expected) in cases {
        assert_eq!(code(&output), 2);
        assert!(error(&output).starts_with(expected), "{expected}: {}", error(&output));
    }
    assert!(place.done().is_empty());
    place.start(&["--name", "order"]);
    let other = place.run(&[
        "run",
        "p.ilo",
        "--tools",
        "tools.json",
        "--arg",
        "n=6",
        "--journal",
        "j",
        "--name",
        "order",
    ]);
    assert_eq!(code(&other), 2);
    assert!(error(&other).starts_with("error[name-taken]"), "{}", error(&other));
    let missing = place.runs(&["show", "9"]);
    assert!(error(&missing).starts_with("error[no-such-run]"), "{}", error(&missing));
}
