//! Finds processes that started programs leave running, by a mark in their environment.
//!
//! A process group is ended with its program, but not processes that have left the group (a daemon,
//! `setsid`). Child processes inherit the environment, so on Linux, where the environment of a process can be
//! read, they are found by a variable in it: all processes with the mark of a run are ended with the run. A
//! process that removes the variable is not found. On other systems no process is found.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// The variable.
pub(crate) const NAME: &str = "ILO_RUN";

/// The mark of the processes of one run. When it and its clones are dropped, processes with the mark are
/// ended.
#[derive(Clone, Debug, Default)]
pub struct Mark(Arc<Own>);

#[derive(Debug)]
struct Own {
    number: u64,
    /// Whether a process was started with it.
    given: AtomicBool,
}

impl Default for Own {
    fn default() -> Own {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Own { number: NEXT.fetch_add(1, Ordering::Relaxed), given: AtomicBool::new(false) }
    }
}

impl Own {
    fn value(&self) -> String {
        format!("{}/{}", of_process(), self.number)
    }
}

impl Mark {
    /// The value of the variable, for a program that is started.
    pub(crate) fn value(&self) -> String {
        self.0.given.store(true, Ordering::Relaxed);
        self.0.value()
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if self.given.load(Ordering::Relaxed) {
            let own = self.value();
            end_where(|mark| mark == own);
        }
    }
}

/// The mark of this process, which is the prefix of all its marks. It is unique even if process IDs are
/// reused.
pub fn of_process() -> &'static str {
    static OWN: OnceLock<String> = OnceLock::new();
    OWN.get_or_init(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        format!("{}-{}", std::process::id(), since.as_nanos())
    })
}

/// Ends processes that runs of the process with this mark have left.
pub fn end_commands(of: &str) {
    end_where(|mark| mark.strip_prefix(of).is_some_and(|rest| rest.starts_with('/')));
}

/// Ends all processes that the process with this mark has left, including servers.
pub fn end_all(of: &str) {
    end_where(|mark| is_of(mark, of));
}

/// Whether processes run that the process with this mark has left, including servers.
pub fn any(of: &str) -> bool {
    any_where(|mark| is_of(mark, of))
}

fn is_of(mark: &str, of: &str) -> bool {
    mark.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(target_os = "linux")]
use linux::{any_where, end_where};

#[cfg(not(target_os = "linux"))]
fn any_where(_is_meant: impl Fn(&str) -> bool) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn end_where(_is_meant: impl Fn(&str) -> bool) {}

#[cfg(target_os = "linux")]
mod linux {
    use super::NAME;
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    use std::fs::{self, File};
    use std::io::Read as _;
    use std::thread;
    use std::time::{Duration, Instant};

    /// How long killed processes may take to end.
    const LEAVE: Duration = Duration::from_secs(2);
    /// The number of bytes of an environment that are read, which is enough for nearly all.
    const ENVIRONMENT: u64 = 1 << 20;

    /// Ends all processes with a mark, including those that they start in the meantime.
    pub(super) fn end_where(is_meant: impl Fn(&str) -> bool) {
        let until = Instant::now() + LEAVE;
        while end_once(&is_meant) && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether there is a process with a mark.
    pub(super) fn any_where(is_meant: impl Fn(&str) -> bool) -> bool {
        processes().any(|pid| mark(pid).is_some_and(|mark| is_meant(&mark)))
    }

    fn processes() -> impl Iterator<Item = Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(Pid::from_raw)
    }

    /// Whether there was one.
    fn end_once(is_meant: impl Fn(&str) -> bool) -> bool {
        let mut found = false;
        for pid in processes() {
            if !mark(pid).is_some_and(|mark| is_meant(&mark)) {
                continue;
            }
            // Another process may have the ID by now: the handle refers to one process, whose mark is checked
            // again.
            let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            if mark(pid).is_some_and(|mark| is_meant(&mark)) {
                found |= pidfd_send_signal(&process, Signal::KILL).is_ok();
            }
        }
        found
    }

    /// The mark of a process, if it has one that can be read.
    fn mark(pid: Pid) -> Option<String> {
        let mut environment = Vec::new();
        let file = File::open(format!("/proc/{}/environ", pid.as_raw_nonzero())).ok()?;
        file.take(ENVIRONMENT).read_to_end(&mut environment).ok()?;
        let mut entries = environment.split(|&byte| byte == 0);
        let mark = entries.find_map(|entry| entry.strip_prefix(NAME.as_bytes())?.strip_prefix(b"="))?;
        String::from_utf8(mark.to_vec()).ok()
    }
}
