//! `ilo-vm` with tools that changed, that are missing here, or that have policies: before anything runs.
#![cfg(unix)]
use std::process::{Command, Stdio};
use tempfile::TempDir;

const PROGRAM: &str = "; fn f(id: text) -> any\n; Tools: 0=get\n; Fields: 0=id\nRET CALL 0 1 0 REF 0\n";

/// A tools file with the schema of `get`, and further keys.
fn tools(schema: &str, more: &str) -> String {
    format!(r#"{{"tools": {{"get": {{"mock": {{"returns": 1}}, "input_schema": {schema}}}{more}}}}}"#)
}

const TEXT: &str = r#"{"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}"#;
const MORE: &str = r#"{"type": "object", "properties": {"id": {"type": "string"}, "deep": {"type": "boolean"}}, "required": ["id"]}"#;

struct Case(TempDir);

impl Case {
    fn new(tools: &str) -> Case {
        let case = Case(TempDir::new().unwrap());
        case.file("p.ilo", PROGRAM);
        case.file("tools.json", tools);
        case
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.0.path().join(name)).ok()
    }

    /// Exit code, standard output and standard error.
    fn ilo(&self, line: &str) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ilo-vm"));
        command.args(line.split(' ')).current_dir(self.0.path()).stdin(Stdio::null());
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }
}

const RUN: &str = "run p.ilo --tools tools.json --arg id=x";
const OK: &str = "{\"status\":\"ok\",\"value\":1}\n";

fn ended(code: i32, out: &str, err: &str) -> (Option<i32>, String, String) {
    (Some(code), out.to_owned(), err.to_owned())
}

#[test]
fn a_changed_tool_is_refused_before_anything_runs() {
    let case = Case::new(&tools(TEXT, ""));
    let locked = format!("{RUN} --lock tools.lock");
    assert_eq!(case.ilo(&locked), ended(0, OK, "locked 1 tool in tools.lock\n"));
    let first = case.read("tools.lock").unwrap();
    assert_eq!(case.ilo(&locked), ended(0, OK, ""));
    case.file("tools.json", &tools(MORE, ""));
    let changed = "tool `get`: the argument `deep` (boolean) is new";
    let refused = format!("error[changed-tool]: tools.lock: {changed}; `--update` accepts it as it is now\n");
    assert_eq!(case.ilo(&format!("{locked} --trace t.jsonl")), ended(2, "", &refused));
    assert_eq!(case.read("t.jsonl"), None, "not even the trace was begun");
    let check = "check p.ilo --tools tools.json --lock tools.lock";
    assert_eq!(case.ilo(check), ended(2, "", &refused));
    let (code, out, err) = case.ilo(&format!("{check} --json"));
    assert_eq!((code, err.as_str()), (Some(2), ""));
    assert!(
        out.contains(r#""code":"changed-tool""#) && out.contains("the argument `deep` (boolean) is new"),
        "{out}"
    );
    let serve = "serve --tools tools.json --lock tools.lock";
    assert_eq!(case.ilo(serve), ended(2, "", &refused));
    assert_eq!(case.read("tools.lock").unwrap(), first);
    let accepted = format!("{changed}\nlocked 1 tool in tools.lock\n");
    assert_eq!(case.ilo(&format!("{check} --update")), ended(0, "", &accepted));
    assert_eq!(case.ilo(&locked), ended(0, OK, ""));
}

#[test]
fn no_lock_is_written_for_what_is_not_right() {
    let closed =
        r#"{"type": "object", "properties": {"nr": {"type": "string"}}, "additionalProperties": false}"#;
    let case = Case::new(&tools(closed, ""));
    let (code, _, _) = case.ilo("check p.ilo --tools tools.json --lock tools.lock");
    assert_eq!((code, case.read("tools.lock")), (Some(2), None));
    let (code, _, err) = case.ilo("run p.ilo --arg id=x --lock tools.lock");
    assert!(code == Some(2) && err.contains("--tools"), "{err}");
    case.file("tools.json", &tools(TEXT, ""));
    let (code, _, err) = case.ilo(&format!("{RUN} --lock no/such/folder/tools.lock"));
    assert!(code == Some(2) && err.contains("no/such/folder/tools.lock: cannot be written"), "{err}");
    let (code, _, err) = case.ilo(&format!("{RUN} --lock p.ilo --update"));
    assert!(code == Some(2) && err.contains("p.ilo: no lock: "), "{err}");
    assert_eq!(case.read("p.ilo").unwrap(), PROGRAM, "another file is not written over");
}

/// A diagnostic that a changed tool causes in a program is reported with the change.
#[test]
fn a_type_that_changed_is_told_as_changed_too() {
    let case = Case::new(&tools(TEXT, ""));
    let locked = format!("{RUN} --lock tools.lock");
    assert_eq!(case.ilo(&locked).0, Some(0));
    let first = case.read("tools.lock");
    case.file("tools.json", &tools(&TEXT.replace("string", "number"), ""));
    let changed = "error[changed-tool]: tools.lock: tool `get`: the argument `id` was string, and is number; \
        `--update` accepts it as it is now\n";
    for line in [
        &locked,
        "check p.ilo --tools tools.json --lock tools.lock",
        "plan p.ilo --tools tools.json --lock tools.lock",
        "serve p.ilo --tools tools.json --lock tools.lock",
    ] {
        let (code, out, err) = case.ilo(line);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{line}");
        assert!(err.contains("error[type-mismatch]") && err.ends_with(changed), "{line}: {err}");
        assert!(!case.ilo(&format!("{line} --update")).2.contains("changed-tool"), "{line}");
    }
    let (_, out, _) = case.ilo("check p.ilo --tools tools.json --lock tools.lock --json");
    assert!(out.contains("type-mismatch") && out.contains("changed-tool"), "{out}");
    assert_eq!(case.read("tools.lock"), first);
}

#[test]
fn a_lock_that_several_write_at_once_holds_what_each_wrote() {
    let names: Vec<String> = (0..12).map(|n| format!("tool-{n}")).collect();
    let entries: Vec<String> =
        names.iter().map(|name| format!(r#""{name}": {{"mock": {{"returns": 1}}}}"#)).collect();
    let case = Case::new(&format!(
        r#"{{"tools": {{"get": {{"mock": {{"returns": 1}}}}, {}}}}}"#,
        entries.join(", ")
    ));
    assert_eq!(case.ilo(&format!("{RUN} --lock tools.lock")).0, Some(0));
    let started: Vec<_> = names
        .iter()
        .map(|name| {
            case.file(&format!("{name}.ilo"), &PROGRAM.replace("0=get", &format!("0={name}")));
            let line = format!("check {name}.ilo --tools tools.json --lock tools.lock --update");
            let mut command = Command::new(env!("CARGO_BIN_EXE_ilo-vm"));
            command.args(line.split(' ')).current_dir(case.0.path()).stderr(Stdio::null());
            command.spawn().unwrap()
        })
        .collect();
    for mut process in started {
        assert!(process.wait().unwrap().success());
    }
    let all = names.iter().map(|name| format!("{name}.ilo")).collect::<Vec<_>>().join(" ");
    let check = format!("check p.ilo {all} --tools tools.json --lock tools.lock");
    assert_eq!(case.ilo(&check), ended(0, "", ""));
    let hidden = std::fs::read_dir(case.0.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
    assert_eq!(hidden.count(), 0, "nothing is left beside it");
}

/// Editors and shells of some systems put it before a text.
#[test]
fn a_byte_order_mark_is_no_part_of_a_file() {
    let case = Case::new(&tools(TEXT, ""));
    let locked = format!("{RUN} --lock tools.lock");
    assert_eq!(case.ilo(&locked).0, Some(0));
    let mark = |name: &str| case.file(name, &format!("\u{feff}{}", case.read(name).unwrap()));
    mark("tools.lock");
    assert_eq!(case.ilo(&locked), ended(0, OK, ""));
    mark("tools.json");
    assert_eq!(case.ilo(&locked), ended(0, OK, ""));
    case.file("tools", &case.read("tools.json").unwrap());
    case.file("tools.toml", "\u{feff}[tools.get]\nmock = { returns = 1 }\n");
    for name in ["tools", "tools.toml"] {
        assert_eq!(case.ilo(&format!("run p.ilo --tools {name} --arg id=x")), ended(0, OK, ""), "{name}");
    }
    case.file("input.json", "\u{feff}{\"id\": \"x\"}");
    assert_eq!(case.ilo("run p.ilo --tools tools.json --input @input.json"), ended(0, OK, ""));
    // The second mark is no mark.
    mark("tools.lock");
    let refused = "error[bad-usage]: tools.lock: no lock: line 1, column 1: expected a value\n";
    assert_eq!(case.ilo(&locked), ended(2, "", refused));
}

#[test]
fn a_lock_is_a_file() {
    let case = Case::new(&tools(TEXT, ""));
    assert!(Command::new("mkfifo").arg(case.0.path().join("pipe")).status().unwrap().success());
    let link = |name: &str, to: &str| std::os::unix::fs::symlink(to, case.0.path().join(name)).unwrap();
    link("nowhere", "not/there");
    link("link", "kept/tools.lock");
    std::fs::create_dir(case.0.path().join("kept")).unwrap();
    case.file("kept/tools.lock", "");
    for (lock, what) in [
        ("pipe", "a lock is a file, and this is a pipe"),
        (".", "a lock is a file, and this is a folder"),
        ("/dev/null", "a lock is a file, and this is a device"),
        (
            "nowhere",
            "this is a link to `not/there`, which is not there; take the link away, or name the file itself",
        ),
    ] {
        for update in ["", " --update"] {
            let expected = format!("error[bad-usage]: {lock}: {what}\n");
            assert_eq!(case.ilo(&format!("{RUN} --lock {lock}{update}")), ended(2, "", &expected));
        }
    }
    let (code, _, err) = case.ilo(&format!("{RUN} --lock link --update"));
    assert!(code == Some(2) && err.starts_with("error[bad-usage]: link: no lock: "), "{err}");
    std::fs::remove_file(case.0.path().join("kept/tools.lock")).unwrap();
    assert_eq!(case.ilo(&format!("{RUN} --lock kept/tools.lock")).0, Some(0));
    case.file("tools.json", &tools(MORE, ""));
    assert_eq!(
        case.ilo(&format!("{RUN} --lock link --update")).0,
        Some(0),
        "what a link leads to is written"
    );
    assert!(case.read("kept/tools.lock").unwrap().contains("deep"));
    assert!(std::fs::symlink_metadata(case.0.path().join("link")).unwrap().is_symlink());
}

#[test]
fn what_is_lacking_stops_those_who_need_it() {
    let lacking = r#", "gone": {"command": ["./missing.sh"]}"#;
    let case = Case::new(&tools(TEXT, lacking));
    let told = |kind: &str, column: usize| {
        format!(
            "{kind}[bad-tools-file]: tools.json:1:{column}: tools.gone.command[0]: no program `./missing.sh` that can be run, \
             seen from the folder of the tools file\n"
        )
    };
    let column = case.read("tools.json").unwrap().find("\"./missing.sh\"").unwrap() + 1;
    assert_eq!(case.ilo(RUN), ended(0, OK, ""));
    assert_eq!(case.ilo("check p.ilo --tools tools.json"), ended(0, "", &told("warning", column)));
    let (code, out, err) = case.ilo("tools --tools tools.json");
    assert_eq!((code, err), (Some(0), told("warning", column)));
    assert!(out.contains("gone  any") && out.contains("command: ./missing.sh"), "{out}");
    case.file("p.ilo", &PROGRAM.replace("0=get", "0=gone"));
    assert_eq!(case.ilo(RUN), ended(2, "", &told("error", column)));
}

#[test]
fn a_plan_shows_the_policies() {
    let policies = r#", "set": {"mock": {"returns": 1}, "confirm": true}, "put": {"mock": {"returns": 1}, "idempotent": true,
        "retries": 3, "timeout_ms": 50}"#;
    let case = Case::new(
        &tools(TEXT, policies).replace("\"input_schema\"", "\"read_only\": true, \"input_schema\""),
    );
    case.file("p.ilo", "; fn f(id: text) -> any\n; Tools: 0=get 1=set 2=put\n; Fields: 0=id\nCALL 0 1 0 REF 0\nCALL 1 0\nRET CALL 2 0\n");
    let expected = "\
        tool  calls  changes something  asks first  retries     rollback after it  after a crash  from\n\
        get   1      no                 no          none        needs none         again          mock\n\
        set   1      yes                yes         none        none               in doubt       mock\n\
        put   1      yes                no          ≤ 3 a call  none               again          mock\n";
    assert_eq!(case.ilo("plan p.ilo --tools tools.json"), ended(0, expected, ""));
    let crash = |policy: &str| {
        let safe = policy.contains("read_only") || policy.contains("idempotent");
        if safe { "again" } else { "doubt" }
    };
    let row = |tool: &str, policy: &str, (line, column): (u32, u32)| {
        let calls = format!(r#"[{{"line":{line},"column":{column}}}]"#);
        format!(
            r#"{{"tool":"{tool}","calls":"1","policy":{{{policy}}},"is_rollback":false,"rollbacks_after":[],"some_without":true,"entries":[],"by_hand":{calls},"without":{calls},"after_crash":"{}","source":"mock"}}"#,
            crash(policy)
        )
    };
    let rows = [
        row("get", r#""read_only":true"#, (4, 1)),
        row("set", r#""confirm":true"#, (5, 1)),
        row("put", r#""idempotent":true,"retries":3,"timeout_ms":50"#, (6, 5)),
    ];
    let expected = format!("{{\"function\":\"f\",\"calls\":[{}]}}\n", rows.join(","));
    assert_eq!(case.ilo("plan p.ilo --tools tools.json --json"), ended(0, &expected, ""));
    let locked = ended(0, &expected, "locked 3 tools in tools.lock\n");
    assert_eq!(case.ilo("plan p.ilo --tools tools.json --json --lock tools.lock"), locked);
    let expected = "\
        tool  arguments   policy                                             from\n\
        get   id: text    reads only                                         mock\n\
        put   any         may change something, idempotent, 3 retries, 50 ms  mock\n\
        set   any         may change something, asks first                   mock\n";
    let (code, out, _) = case.ilo("tools --tools tools.json");
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!((code, squeezed(&out)), (Some(0), squeezed(expected)));
    let (_, out, _) = case.ilo("tools --tools tools.json --json");
    assert!(out.contains(r#""policy":{"idempotent":true,"retries":3,"timeout_ms":50}"#), "{out}");
}

/// A process in its own session is not reached through its group; on Linux it ends with the run nevertheless.
#[cfg(target_os = "linux")]
#[test]
fn what_a_command_leaves_in_another_session_ends_with_the_run() {
    let leave = "setsid sleep 1000 > /dev/null 2>&1 < /dev/null & echo $!";
    let case = Case::new(&format!(r#"{{"tools": {{"get": {{"command": ["sh", "-c", "{leave}"]}}}}}}"#));
    let (code, out, err) = case.ilo(RUN);
    assert_eq!(code, Some(0), "{out}{err}");
    let pid = out.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_end_matches("}\n");
    let process = std::path::Path::new("/proc").join(pid);
    assert!(pid.parse::<u32>().is_ok() && std::path::Path::new("/proc/1").exists(), "{out}");
    assert!(!process.exists(), "process {pid} is still there");
}
