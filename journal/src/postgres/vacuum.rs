//! Makes the room of runs that have ended usable again. The server does that by itself, but looks only once
//! a minute, and until then each of these runs keeps half a page.

use super::link::{Link, Statement};
use super::rows::get;
use super::target::Target;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// After how many runs that have ended here.
const EVERY: usize = 256;
/// The part of the time for which there may be a vacuum: one in so many.
const PART: u32 = 50;

/// Counts the runs that have ended, and starts a thread with a connection of its own now and then. Nobody
/// waits for it.
pub(crate) struct Vacuum {
    target: Arc<Target>,
    ended: usize,
    next: Instant,
    state: Arc<Cleaning>,
}

#[derive(Default)]
struct Cleaning {
    works: AtomicBool,
    /// How long the last one took, in milliseconds; negative where the role may not do it.
    took: AtomicI64,
}

impl Vacuum {
    pub(crate) fn new(target: &Arc<Target>) -> Vacuum {
        Vacuum { target: target.clone(), ended: 0, next: Instant::now(), state: Arc::default() }
    }

    /// Takes how many runs have ended.
    pub(crate) fn ended(&mut self, runs: usize) {
        self.ended += runs;
        let took = self.state.took.load(Ordering::Relaxed);
        if self.ended < EVERY || took < 0 || self.state.works.load(Ordering::Relaxed) {
            return;
        }
        let took = Duration::from_millis(took.unsigned_abs());
        if Instant::now() < self.next + took * PART {
            return;
        }
        (self.ended, self.next) = (0, Instant::now());
        self.state.works.store(true, Ordering::Relaxed);
        let (target, state) = (self.target.clone(), self.state.clone());
        let work = move || {
            let took = vacuum(&target);
            state.took.store(took, Ordering::Relaxed);
            state.works.store(false, Ordering::Relaxed);
        };
        // Where no thread can be started, the server does it later.
        drop(thread::Builder::new().name("ilo-journal-vacuum".to_owned()).spawn(work));
    }
}

/// Lets the table use the room of ended runs again, unless a vacuum is at work. Returns how long that took.
fn vacuum(target: &Arc<Target>) -> i64 {
    let begun = Instant::now();
    let table = format!("{}.live", target.schema);
    let may = Statement::new(
        format!("SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = '{table}'::regclass"),
        vec![],
    );
    if let Ok(mut link) = Link::open(target, &Arc::default()) {
        let once = |_: Duration| false;
        let found = link.send(&[may], once).unwrap_or_default();
        // The server would only warn.
        if found.iter().flatten().next().is_some_and(|row| get(row, 0).is_ok_and(|may: bool| !may)) {
            return -1;
        }
        // Without a lock that others wait for: nothing is cut off at the end of the table.
        drop(link.send(&[Statement::plain(format!("VACUUM (SKIP_LOCKED, TRUNCATE false) {table}"))], once));
    }
    i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX)
}
