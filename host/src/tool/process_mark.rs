//! What programs that were started here leave running, found by a mark in their environment.
//!
//! A process group ends with its program, but what leaves the group (a daemon, `setsid`) is out of its reach.
//! What a program starts inherits its environment, so on Linux, where a process's environment can be read, it
//! is found by a variable in it: whatever bears the mark of a run is ended with the run. A process that
//! removes the variable is not found. On other systems no process is found.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// The variable.
pub(crate) const NAME: &str = "ILO_RUN";

/// The mark of what one run starts. Once it and its clones are dropped, what bears it is ended.
#[derive(Clone, Debug, Default)]
pub struct Mark(Arc<Own>);

#[derive(Debug)]
struct Own {
    number: u64,
    /// Whether something was started with it.
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

/// The mark of this process, with which all of its marks begin. No other process has it, also not one of the
/// same number.
pub fn of_process() -> &'static str {
    static OWN: OnceLock<String> = OnceLock::new();
    OWN.get_or_init(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        format!("{}-{}", std::process::id(), since.as_nanos())
    })
}

/// Ends what the runs of the process with this mark have left.
pub fn end_commands(of: &str) {
    end_where(|mark| mark.strip_prefix(of).is_some_and(|rest| rest.starts_with('/')));
}

/// Ends whatever the process with this mark has started and left, its servers too.
pub fn end_all(of: &str) {
    end_where(|mark| mark.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
}

#[cfg(target_os = "linux")]
use linux::end_where;

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

    /// How long ended processes may take to go.
    const LEAVE: Duration = Duration::from_secs(2);
    /// Bytes of an environment that are looked at: those that it began with hardly ever are more.
    const ENVIRONMENT: u64 = 1 << 20;

    /// Ends every process with such a mark, and what it starts meanwhile.
    pub(super) fn end_where(is_meant: impl Fn(&str) -> bool) {
        let until = Instant::now() + LEAVE;
        while end_once(&is_meant) && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether there was one.
    fn end_once(is_meant: impl Fn(&str) -> bool) -> bool {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut found = false;
        for pid in numbers.filter_map(Pid::from_raw) {
            if !mark(pid).is_some_and(|mark| is_meant(&mark)) {
                continue;
            }
            // Another process may have the number by now: the handle is of one process, and that is looked at
            // again.
            let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            if mark(pid).is_some_and(|mark| is_meant(&mark)) {
                found |= pidfd_send_signal(&process, Signal::KILL).is_ok();
            }
        }
        found
    }

    /// The mark of a process, where it has one and may be looked at.
    fn mark(pid: Pid) -> Option<String> {
        let mut environment = Vec::new();
        let file = File::open(format!("/proc/{}/environ", pid.as_raw_nonzero())).ok()?;
        file.take(ENVIRONMENT).read_to_end(&mut environment).ok()?;
        let mut entries = environment.split(|&byte| byte == 0);
        let mark = entries.find_map(|entry| entry.strip_prefix(NAME.as_bytes())?.strip_prefix(b"="))?;
        String::from_utf8(mark.to_vec()).ok()
    }
}
