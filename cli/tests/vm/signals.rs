//! Signals to a run: the first cancels it, the second ends the program.

use super::*;
use ilo_spec::operand::Entries;
use std::io::Read;

#[test]
fn a_second_signal_ends_what_the_run_started() {
    let kill = |arguments: &[&str]| {
        Command::new("kill").args(arguments).stderr(Stdio::null()).status().unwrap().success()
    };
    for signal in ["-INT", "-TERM"] {
        let case = Case::new(&twice());
        let tool = r#"{"command":["sh","-c","sleep 600 & echo $! > pid.new; mv pid.new pid; wait"]}"#;
        case.file("tools.json", format!(r#"{{"tools":{{"t":{tool}}}}}"#));
        let mut child = case.interruptible(&["--call-timeout", "600000", "--timeout", "600000"]);
        while !case.folder.path().join("pid").exists() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(kill(&[signal, &child.id().to_string()]));
        // The first one cancels the run, which still waits for the call.
        is_cancelling(&mut child);
        assert!(kill(&[signal, &child.id().to_string()]));
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout), (Some(130), Vec::new()), "{errors}");
        assert_eq!(errors, "interrupted during the call of tool `t`; whether it took effect is not known\n");
        let line = concat!(
            r#"{"seq":0,"tool":"t","args":{"id":1},"failed":"interrupted","#,
            r#""cancelled":true,"ended":"interrupted"}"#
        );
        assert_eq!(timeless(&case.read("trace")), format!("{line}\n"));
        let pid = case.read("pid");
        // It would run for ten minutes; the test runner's limit is what fails here.
        while kill(&["-0", pid.trim()]) && !is_zombie(pid.trim()) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

/// The message at the first signal.
const CANCELLING: &str =
    "cancelling: what the run has done is rolled back; a second signal ends the program at once\n";

/// Waits until a run has noticed the first signal.
fn is_cancelling(child: &mut std::process::Child) {
    let mut told = vec![0; CANCELLING.len()];
    child.stderr.as_mut().unwrap().read_exact(&mut told).unwrap();
    assert_eq!(String::from_utf8(told).unwrap(), CANCELLING);
}

#[test]
fn a_signal_cancels_a_run_with_its_rollback() {
    let mut d = Draft::new(&["id"]);
    let ((call, _), (undo, _)) = (d.call("t", &["id"]), d.call("undo", &["id"]));
    let entries = Entries(1);
    let code = [
        Op::ToolRollback { dst: Out(1), first: First(0), call, fail: OnFail(0), entries },
        Op::Rollback { first: First(1), call: undo },
        Op::Tool { dst: Out(1), first: First(0), call, fail: OnFail(0) },
        Op::Return { src: In(1) },
    ];
    d.function("f", &[("id", Type::ANY)], ANY, &code);
    let case = Case::new(&d.0);
    let tool = r#"{"command":["sh","-c","touch begun; while [ ! -e go ]; do sleep 0.01; done; echo 7"]}"#;
    case.file("tools.json", format!(r#"{{"tools":{{"t":{tool},"undo":{{"mock":{{"returns":null}}}}}}}}"#));
    let mut child = case.interruptible(&[]);
    let folder = case.folder.path();
    while !folder.join("begun").exists() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    // The call under way is awaited.
    is_cancelling(&mut child);
    case.file("go", "");
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!((output.status.code(), stderr.as_str()), (Some(130), ""), "{stdout}");
    assert!(stdout.starts_with(r#"{"status":"fault","code":"cancelled""#), "{stdout}");
    assert!(stdout.ends_with("\"rolled_back\":[{\"tool\":\"undo\",\"number\":3}]}\n"), "{stdout}");
    let lines = [
        r#"{"seq":0,"tool":"t","args":{"id":1},"ok":7,"cancelled":true}"#,
        r#"{"seq":1,"tool":"undo","args":{"id":7},"rollback":true,"ok":null,"cancelled":true}"#,
    ];
    assert_eq!(timeless(&case.read("trace")), format!("{}\n", lines.join("\n")));
}

#[test]
fn a_second_signal_in_a_rollback_names_the_rollbacks_that_are_missing() {
    let mut d = Draft::new(&["id"]);
    let ((call, _), (undo, _)) = (d.call("t", &["id"]), d.call("undo", &["id"]));
    let op =
        |dst| Op::ToolRollback { dst: Out(dst), first: First(0), call, fail: OnFail(0), entries: Entries(1) };
    let fail = Op::Fail { src: In(0) };
    let code = [
        op(1),
        Op::Rollback { first: First(1), call: undo },
        op(2),
        Op::Rollback { first: First(2), call: undo },
        op(3),
        Op::Rollback { first: First(3), call: undo },
        fail,
    ];
    d.function("f", &[("id", Type::ANY)], Output { ok: Type::ANY, err: Some(Type::ANY) }, &code);
    let case = Case::new(&d.0);
    let tool = r#"{"command":["sh","-c","echo >> made; wc -l < made"]}"#;
    let undo = r#"{"command":["sh","-c","touch begun; exec sleep 600"]}"#;
    case.file("tools.json", format!(r#"{{"tools":{{"t":{tool},"undo":{undo}}}}}"#));
    let mut child = case.interruptible(&[]);
    while !case.folder.path().join("begun").exists() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let id = child.id().to_string();
    let interrupt = || Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(interrupt().success());
    is_cancelling(&mut child);
    assert!(interrupt().success());
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{told}");
    let lines = [
        "interrupted during the call of tool `undo`; whether it took effect is not known",
        r#"not rolled back: `undo` {"id":2}"#,
        r#"not rolled back: `undo` {"id":1}"#,
    ];
    assert_eq!(told, format!("{}\n", lines.join("\n")));
}

/// Whether a process has ended without being waited for. In a container without an init process it stays so.
fn is_zombie(pid: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", pid]).output();
    output.is_ok_and(|output| output.stdout.starts_with(b"Z"))
}
