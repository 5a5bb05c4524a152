//! Calls that need a confirmation, at a terminal (which the test plays) and without one.
#![cfg(unix)]
use process_wrap::std::{CommandWrap, ProcessSession};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const ILO: &str = env!("CARGO_BIN_EXE_ilo-vm");

/// Asks about `send` twice, and reports the results.
const PROGRAM: &str = "; fn f(text: text) -> text\n; Vars: 0=text 1=sent\n; Tools: 0=send\n; Fields: 0=text\n\
    LET 1 CALL 0 1 0 REF 0\nMATCH 1 2\n  ERR 2 1\n    RET CONCAT LIT 0 \"failed: \" REF 2\n  OK 3 1\n    RET REF 3\n";

const TOOLS: &str = r#"{"tools": {"send": {"mock": {"returns": "sent"}, "confirm": true}}}"#;

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("tools.json"), TOOLS).unwrap();
    std::fs::write(folder.path().join("p.ilo"), PROGRAM).unwrap();
    folder
}

fn command(folder: &TempDir, text: &str) -> CommandWrap {
    command_of(folder, &["run", "p.ilo", "--tools", "tools.json", "--arg", &format!("text={text}")])
}

fn command_of(folder: &TempDir, arguments: &[&str]) -> CommandWrap {
    let mut command = CommandWrap::with_new(ILO, |command| {
        command.args(arguments);
        command.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    });
    command.wrap(ProcessSession);
    command
}

/// Runs a program at a terminal with a number of rows. Each pair is a prompt to wait for and the input to
/// type then. Returns standard output and the whole text on the terminal.
fn at_terminal(text: &str, rows: u16, typed: &[(&str, &str)]) -> (String, String) {
    let folder = folder();
    typed_at(command(&folder, text), rows, typed)
}

/// The same for a command.
fn typed_at(mut command: CommandWrap, rows: u16, typed: &[(&str, &str)]) -> (String, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = || File::from(rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap());
    tcsetwinsize(&master, Winsize { ws_row: rows, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    command.command_mut().stdin(slave()).stderr(slave());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut screen = File::from(master);
    let mut keys = screen.try_clone().unwrap();
    let (sender, pieces) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = screen.read(&mut buffer) {
            drop(sender.send(buffer[..count].to_vec()));
        }
    });
    let (mut shown, mut from) = (Vec::new(), 0);
    for (awaited, keys_typed) in typed {
        loop {
            let text = String::from_utf8_lossy(&shown[from..]).into_owned();
            if let Some(at) = text.find(awaited) {
                from += at + awaited.len();
                break;
            }
            let piece = pieces.recv_timeout(Duration::from_mins(1));
            shown.extend(piece.unwrap_or_else(|_| panic!("`{awaited}` is not shown: {text}")));
        }
        keys.write_all(keys_typed.as_bytes()).unwrap();
    }
    let mut out = String::new();
    child.stdout().take().unwrap().read_to_string(&mut out).unwrap();
    child.wait().unwrap();
    // The other side is closed with the run, so this ends.
    shown.extend(pieces.iter().flatten());
    (out, String::from_utf8_lossy(&shown).into_owned())
}

const REFUSED: &str = "tool `send` was not called: it needs a confirmation (`confirm`), and";

#[test]
fn the_answer_decides() {
    for (answer, value) in [
        ("y\n", "sent".to_owned()),
        ("YES \n", "sent".to_owned()),
        ("n\n", format!("failed: {REFUSED} the answer at the terminal was no")),
        ("\n", format!("failed: {REFUSED} the answer at the terminal was no")),
        ("yy\n", format!("failed: {REFUSED} the answer at the terminal was no")),
        ("\u{4}", format!("failed: {REFUSED} the terminal was closed")),
    ] {
        let (out, shown) = at_terminal("a\u{1b}[2Jb", 40, &[("call `send`? [y/N] ", answer)]);
        assert_eq!(out, format!("{{\"status\":\"ok\",\"value\":\"{value}\"}}\n"), "{answer:?}");
        assert!(shown.contains(r#""text": "a\u001b[2Jb""#), "{shown}");
    }
}

#[test]
fn long_arguments_are_shown_whole_page_by_page() {
    let long = "0123456789".repeat(100);
    let typed = [("page 1 of", "\n"), ("page 2 of", "y\n"), ("call `send`? [y/N] ", "y\n")];
    let (out, shown) = at_terminal(&long, 10, &typed);
    assert_eq!(out, "{\"status\":\"ok\",\"value\":\"sent\"}\n");
    assert!(shown.matches("0123456789").count() >= 80, "nothing is left out: {shown}");
    let (out, shown) = at_terminal(&long, 10, &[("page 1 of", "n\n")]);
    assert!(out.contains("the answer at the terminal was no"), "{out}");
    assert!(!shown.contains("[y/N]"), "{shown}");
}

#[test]
fn where_nobody_can_answer_the_call_fails() {
    let folder = folder();
    let mut child = command(&folder, "x").spawn().unwrap();
    let mut out = String::new();
    child.stdout().take().unwrap().read_to_string(&mut out).unwrap();
    child.wait().unwrap();
    assert_eq!(
        out,
        format!("{{\"status\":\"ok\",\"value\":\"failed: {REFUSED} there is nobody to ask\"}}\n")
    );
}

#[test]
fn a_run_that_ends_takes_its_question_with_it() {
    let folder = folder();
    let mut command = command(&folder, "x");
    command.command_mut().args(["--timeout", "300"]);
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    command
        .command_mut()
        .stdin(File::from(rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap()));
    let mut child = command.spawn().unwrap();
    let mut out = String::new();
    child.stdout().take().unwrap().read_to_string(&mut out).unwrap();
    child.wait().unwrap();
    assert!(out.contains(r#""code":"timed-out""#), "{out}");
}

#[cfg(feature = "journal")]
#[test]
fn an_approval_at_a_terminal_shows_the_call_first() {
    let folder = folder();
    let mut started = command_of(
        &folder,
        &["run", "p.ilo", "--tools", "tools.json", "--arg", "text=no\u{336}", "--journal", "j"],
    );
    let mut child = started.spawn().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4));
    let approve = ["runs", "approve", "1", "--journal", "j"];
    for (answer, told) in
        [("n\n", "run 1 was not decided on\n"), ("y\n", "run 1 is ready: continue the run with `resume`\n")]
    {
        let typed = [("call `send`? [y/N] ", answer)];
        let (out, shown) = typed_at(command_of(&folder, &approve), 40, &typed);
        assert_eq!(out, told, "{shown}");
        assert!(shown.contains(r#""text": "no\u0336""#), "{shown}");
    }
}
