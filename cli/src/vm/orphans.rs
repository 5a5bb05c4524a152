//! What tools leave running in sessions of their own, out of reach of their process groups.
//!
//! On Linux such a process falls to this program once its parent has ended, and is ended with it. Elsewhere
//! it stays. A server that runs for long does not do this: what falls to it would have to be waited for, and
//! waiting for everything takes from others what they wait for. There, what a run leaves is found by its mark
//! (`ilo_host::tools::process_mark`), which a process can hide.

#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};
    use std::collections::BTreeSet;
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};
    use std::{fs, thread};

    /// How long ended processes may take to go.
    const REAP: Duration = Duration::from_secs(2);

    /// The children that this program had before it started any: those of a shell whose place it took.
    static BEFORE: OnceLock<BTreeSet<i32>> = OnceLock::new();

    pub(crate) fn adopt() {
        if set_child_subreaper(Some(getpid())).is_ok() {
            BEFORE.get_or_init(children);
        }
    }

    pub(crate) fn end() {
        let Some(before) = BEFORE.get() else { return };
        let until = Instant::now() + REAP;
        while Instant::now() < until {
            // What a process leaves behind in turn is found by another look.
            let left: Vec<Pid> = children().difference(before).copied().filter_map(Pid::from_raw).collect();
            if left.is_empty() {
                return;
            }
            for process in left {
                // One that has just ended is no error. Taking its status leaves nothing in the process table.
                let _ = kill_process(process, Signal::KILL);
                let _ = waitpid(Some(process), WaitOptions::NOHANG);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The children of every thread of this program; none where the system does not list them.
    fn children() -> BTreeSet<i32> {
        let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
        lists
            .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
            .collect()
    }
}

/// From now on, what loses its parent falls to this program.
pub(super) fn adopt() {
    #[cfg(target_os = "linux")]
    linux::adopt();
}

/// Ends every process that tools have started and left.
pub(super) fn end() {
    #[cfg(target_os = "linux")]
    linux::end();
}
