//! The cleanup process: a second small process that ends the processes which this one leaves running if it is
//! killed.
//!
//! A process that gets SIGKILL cannot do anything. So a second process of this program reads from a pipe that
//! only the first one holds open. When the pipe closes, the first process has ended. Then the second one
//! finds the processes with the mark of the first: it ends commands at once, and servers after the time in
//! which they should end by themselves.

use super::Exit;
use ilo_host::tools::process_mark;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long servers may take to end by themselves.
const LEAVE: Duration = Duration::from_secs(3);
/// The pause between two looks at whether they have.
const LOOK: Duration = Duration::from_millis(50);

#[derive(clap::Args)]
pub(super) struct Args {
    /// The mark of the process to wait for
    mark: String,
}

/// The lock of a journal's owner, for the process.
static LOCK: Mutex<Option<File>> = Mutex::new(None);

/// Lets the process hold this lock too, from its start on: until it has ended what this one has left running,
/// nobody takes over the runs of this one.
#[cfg(feature = "journal")]
pub(super) fn hold(lock: File) {
    *LOCK.lock().unwrap_or_else(PoisonError::into_inner) = Some(lock);
}

/// Starts it; `None` if it cannot be started.
pub(super) fn start() {
    static KEEPER: OnceLock<Option<Child>> = OnceLock::new();
    KEEPER.get_or_init(|| {
        let mut command = Command::new("/proc/self/exe");
        // In its own group it gets no signals of the terminal; without an inherited environment it has no
        // mark.
        command
            .arg0("ilo-vm")
            .args(["keep", process_mark::of_process()])
            .env_clear()
            .current_dir("/")
            .process_group(0);
        let lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner).take();
        // It writes nothing there.
        let output = lock.map_or_else(Stdio::null, Stdio::from);
        command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::null()).spawn().ok()
    });
}

/// Waits until the pipe is closed.
pub(super) fn run(args: &Args) -> Exit {
    let mut rest = [0];
    while matches!(io::stdin().read(&mut rest), Ok(1..)) {}
    process_mark::end_commands(&args.mark);
    let until = Instant::now() + LEAVE;
    while process_mark::any(&args.mark) && Instant::now() < until {
        thread::sleep(LOOK);
    }
    process_mark::end_all(&args.mark);
    Exit::Ok
}
