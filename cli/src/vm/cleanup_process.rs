//! A second small process. If this one is killed, it ends the processes that this one has left running.
//!
//! Nothing can be done in a process that gets SIGKILL. So another one, this program again, waits at a pipe
//! that only this process holds: at its end, however it comes, commands that bear this process's mark are
//! ended at once, and servers after the time that they have when all goes well. It needs to be told nothing,
//! since the mark finds them.

use super::Exit;
use ilo_host::tools::process_mark;
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

/// How long servers may take to end by themselves.
const LEAVE: Duration = Duration::from_secs(3);

#[derive(clap::Args)]
pub(super) struct Args {
    /// The mark of the process that is waited for
    mark: String,
}

/// Starts it; where it cannot be started, there is none.
pub(super) fn start() {
    static KEEPER: OnceLock<Option<Child>> = OnceLock::new();
    KEEPER.get_or_init(|| {
        let mut command = Command::new("/proc/self/exe");
        // In a group of its own no key of the terminal reaches it; without our environment it bears nobody's
        // mark.
        command
            .arg0("ilo-vm")
            .args(["keep", process_mark::of_process()])
            .env_clear()
            .current_dir("/")
            .process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
    });
}

/// Waits until the pipe is closed.
pub(super) fn run(args: &Args) -> Exit {
    let mut rest = [0];
    while matches!(io::stdin().read(&mut rest), Ok(1..)) {}
    process_mark::end_commands(&args.mark);
    thread::sleep(LEAVE);
    process_mark::end_all(&args.mark);
    Exit::Ok
}
