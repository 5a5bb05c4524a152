//! Ends processes that tools leave running in other sessions, outside of their process groups.
//!
//! On Linux this program is a subreaper: such a process becomes its child when the parent has ended, and is
//! ended with it. On other systems it survives. A long-running server is not a subreaper, because waiting for
//! all children would take the status of processes for which others wait. There, processes are found by their
//! mark (`ilo_host::tools::process_mark`), which a process can remove.

#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};
    use std::collections::BTreeSet;
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};
    use std::{fs, thread};

    /// How long killed processes may take to end.
    const REAP: Duration = Duration::from_secs(2);

    /// The children that this program had at its start: those of a shell that it replaced by `exec`.
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
            // Children of such processes are found in the next round.
            let left: Vec<Pid> = children().difference(before).copied().filter_map(Pid::from_raw).collect();
            if left.is_empty() {
                return;
            }
            for process in left {
                // A process that has just ended is not an error. Waiting reaps it.
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

/// Makes this program a subreaper.
pub(super) fn adopt() {
    #[cfg(target_os = "linux")]
    linux::adopt();
}

/// Ends every process that tools have started and left.
pub(super) fn end() {
    #[cfg(target_os = "linux")]
    linux::end();
}
