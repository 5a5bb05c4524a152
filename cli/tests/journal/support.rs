//! A program, tools that are commands, and the record of their effects.
#![allow(unreachable_pub, missing_docs, clippy::missing_panics_doc, reason = "a test's own helpers")]

use process_wrap::std::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const PAYS: &str = "
; fn f(n: number) -> result number, text
; Vars: 0=n 1=first 2=second
; Tools: 0=pay 1=refund 2=ship
; Fields: 0=amount 1=id
LET 1 CALL 0 1 0 REF 0
ROLLBACK CALL 1 1 1 FIELD 1 1
LET 2 CALL 2 1 1 FIELD 1 1
RET_OK FIELD 1 1
";

/// A program, tools that are commands, and the record of their effects.
pub struct Place(pub TempDir);

impl Place {
    /// `pay` and `ship` with these policy keys.
    pub fn new(pay: &str, ship: &str) -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        place.write("p.ilo", PAYS);
        let tool = |name: &str, keys: &str| {
            format!("\"{name}\": {{\"command\": [\"sh\", \"tool.sh\", \"{name}\"]{keys}}}")
        };
        let tools = [tool("pay", pay), tool("refund", ""), tool("ship", ship)].join(", ");
        place.write("tools.json", &format!("{{\"tools\": {{{tools}}}}}"));
        place.write(
            "tool.sh",
            "cat > /dev/null; echo \"$1 $ILO_IDEMPOTENCY_KEY\" >> done\n\
             while [ -e \"hang-$1\" ]; do sleep 0.05; done\n\
             echo '{\"id\": 7}'\n",
        );
        place
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ilo-vm"));
        command.args(arguments).current_dir(self.0.path()).env_remove("ILO_KEY");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        ended(self.command(arguments))
    }

    pub fn start(&self, more: &[&str]) -> Output {
        let base = ["run", "p.ilo", "--tools", "tools.json", "--arg", "n=5", "--journal", "j"];
        self.run(&[&base[..], more].concat())
    }

    pub fn resume(&self, more: &[&str]) -> Output {
        self.run(&[&["resume", "--journal", "j", "--tools", "tools.json"][..], more].concat())
    }

    pub fn runs(&self, arguments: &[&str]) -> Output {
        self.run(&[&["runs"][..], arguments, &["--journal", "j"]].concat())
    }

    /// Approves the call at which a run waits, by the hash that `runs show` prints.
    pub fn approve(&self, run: &str, more: &[&str]) -> Output {
        self.approve_in("j", run, more)
    }

    pub fn approve_in(&self, journal: &str, run: &str, more: &[&str]) -> Output {
        let shown = json_of(&self.run(&["runs", "show", run, "--json", "--journal", journal]));
        let call = shown["call"]["number"].to_string();
        let hash = shown["arguments_hash"].as_str().unwrap();
        let base = ["runs", "approve", run, "--call", &call, "--arguments-hash", hash, "--journal", journal];
        self.run(&[&base[..], more].concat())
    }

    /// The effects of the tools, one in each line: the tool and the key.
    pub fn done(&self) -> Vec<String> {
        let text = fs::read_to_string(self.0.path().join("done")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn tools_called(&self) -> Vec<String> {
        self.done().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    }
}

/// Starts a command in a session without a terminal, so that it cannot ask anybody.
pub fn spawn(command: Command) -> Box<dyn ChildWrapper> {
    CommandWrap::from(command).wrap(ProcessSession).spawn().unwrap()
}

pub fn ended(command: Command) -> Output {
    spawn(command).wait_with_output().unwrap()
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

pub fn json_of(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.trim()).unwrap_or_else(|_| panic!("{output:?}"))
}

pub fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn wait_for(what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < Duration::from_mins(1), "it does not happen");
        thread::sleep(Duration::from_millis(20));
    }
}

/// SIGKILL to the process alone.
pub fn kill(mut child: Box<dyn ChildWrapper>) {
    signal(child.as_ref(), Signal::KILL);
    child.wait().unwrap();
}

pub fn signal(child: &dyn ChildWrapper, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), signal).unwrap();
}
