//! Owners in a database: each beats, and who has not beaten for a whole lease is marked as gone, for good. No
//! clock that could jump decides that: a watcher compares two looks by its own monotonic clock.

use super::apply;
use super::link::{Link, Statement, Trouble, int, ints, text};
use super::rows::get;
use super::target::Target;
use crate::backend::{Ownership, lost};
use crate::cipher::Cipher;
use crate::error::{Error, ErrorCode, Result};
use ilo_drive::locked::locked;
use std::collections::HashMap;
use std::fs::File;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Beats in a lease.
const BEATS: u32 = 4;
/// How long a process that ends tries to say so.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long a call waits until this process is sure to be an owner.
const UNSURE: Duration = Duration::from_mins(5);
/// Beats after which rows of old owners are removed, and after which listeners look without being told.
const SWEEP: u64 = 100;

/// This process as an owner.
#[derive(Debug)]
pub(crate) struct Heart {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<Heartbeats>,
    changed: Condvar,
    stop: Notify,
    /// Counts what others may have changed.
    pub(crate) news: Arc<AtomicI64>,
    lease: Duration,
}

#[derive(Debug)]
struct Heartbeats {
    id: i64,
    /// The ids that it had before, each of which was taken for dead.
    before: Vec<i64>,
    /// When the last beat was sent that was acknowledged.
    beat: Instant,
    /// The time of the database, and when it was that.
    clock: (i64, Instant),
    /// Whether every owner that was there at the beginning has beaten, has left, or is gone.
    settled: bool,
    stopped: bool,
}

/// What a watcher knows of others.
#[derive(Default)]
struct Watch {
    /// The beat of each owner, and since when it is that.
    seen: HashMap<i64, (i64, Instant)>,
    /// Owners of which it is not known yet whether they live.
    unsettled: Option<Vec<i64>>,
    last: Option<Instant>,
    beats: u64,
}

fn now() -> &'static str {
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8"
}

impl Heart {
    /// Joins as an owner, and begins to beat.
    pub(crate) fn start(target: &Arc<Target>, cipher: &Cipher) -> Result<Heart> {
        let news = Arc::new(AtomicI64::new(0));
        let mut link = Link::open(target, &news)?;
        let (sent, id) = (Instant::now(), new_id(cipher)?);
        let time = join(&mut link, id)?;
        let state = Heartbeats {
            id,
            before: Vec::new(),
            beat: sent,
            clock: (time, Instant::now()),
            settled: false,
            stopped: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            stop: Notify::new(),
            news,
            lease: target.lease,
        });
        let own = shared.clone();
        let next = Cipher::new(None);
        let thread = thread::Builder::new()
            .name("ilo-journal-owner".to_owned())
            .spawn(move || own.beat(link, &next))
            .map_err(|error| Error::new(ErrorCode::Io, format!("no thread can be started: {error}")))?;
        Ok(Heart { shared, thread: Some(thread) })
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        locked(&self.shared.state).stopped = true;
        self.shared.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Positive, so that it reads the same everywhere.
fn new_id(cipher: &Cipher) -> Result<i64> {
    Ok(i64::from_le_bytes(cipher.random()?) & i64::MAX)
}

/// Writes the row of an owner, and listens. Returns the time of the database.
fn join(link: &mut Link, id: i64) -> Result<i64> {
    let schema = link.target().schema.clone();
    let statements = [
        Statement::new(format!("LISTEN {schema}"), vec![]),
        Statement::new(
            format!(
                "INSERT INTO {schema}.owner(id, beat, gone, ended, who, seen) VALUES ($1, 0, false, false, $2, now()) \
                 ON CONFLICT DO NOTHING"
            ),
            vec![int(id), text(&who())],
        ),
        Statement::new(now(), vec![]),
    ];
    let found = link.send(&statements, |_| false)?;
    time_of(&found, 2)
}

fn time_of(found: &[Vec<tokio_postgres::Row>], at: usize) -> Result<i64> {
    let row = found.get(at).and_then(|rows| rows.first()).ok_or_else(|| Error::damaged("the time"))?;
    get(row, 0)
}

/// This process for people.
fn who() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = host.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
    match host.trim() {
        "" => format!("process {}", std::process::id()),
        host => format!("process {} on {host}", std::process::id()),
    }
}

impl Shared {
    /// The time of the database, as far as it is known.
    pub(crate) fn now(&self) -> i64 {
        let (time, at) = locked(&self.state).clock;
        time.saturating_add(i64::try_from(at.elapsed().as_millis()).unwrap_or(i64::MAX))
    }

    /// Waits until it is known which owners live: at most about a lease.
    pub(crate) fn settle(&self) {
        let until = Instant::now() + self.lease * 2;
        let mut state = locked(&self.state);
        while !state.settled && !state.stopped && Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now());
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Beats until it has to stop, and then says that this process has ended.
    fn beat(&self, mut link: Link, random: &Cipher) {
        let mut watch = Watch::default();
        let mut next = Instant::now();
        while !locked(&self.state).stopped {
            let wait = next.saturating_duration_since(Instant::now());
            if link.wait(self.stop.notified(), wait).is_some() {
                break;
            }
            next = Instant::now() + self.lease / BEATS;
            if let Err(Trouble::Again(_) | Trouble::Refused(_)) = self.once(&mut link, &mut watch, random) {
                // What was seen before an outage says nothing: the others could not beat either.
                watch = Watch { unsettled: watch.unsettled, beats: watch.beats, ..Watch::default() };
                next = Instant::now() + (self.lease / BEATS / 5);
            }
        }
        locked(&self.state).stopped = true;
        self.changed.notify_all();
        self.leave(&mut link);
    }

    /// Beats once, and looks at the others.
    fn once(&self, link: &mut Link, watch: &mut Watch, random: &Cipher) -> std::result::Result<(), Trouble> {
        let schema = link.target().schema.clone();
        let (id, sent) = (locked(&self.state).id, Instant::now());
        let statements = [
            Statement::new(
                format!(
                    "UPDATE {schema}.owner SET beat = beat + 1, seen = now() WHERE id = $1 AND NOT gone RETURNING beat"
                ),
                vec![int(id)],
            ),
            Statement::new(
                format!("SELECT id, beat FROM {schema}.owner WHERE NOT gone AND id <> $1"),
                vec![int(id)],
            ),
            Statement::new(now(), vec![]),
            // A connection that was made again listens again.
            Statement::new(format!("LISTEN {schema}"), vec![]),
        ];
        let found = link.try_send(&statements)?;
        let [beaten, others, ..] = found.as_slice() else { return Ok(()) };
        let time = time_of(&found, 2).map_err(Trouble::Refused)?;
        if beaten.is_empty() {
            // Another has taken this owner for dead. It drops its runs and joins as a new one.
            let next = new_id(random).map_err(Trouble::Refused)?;
            let joined = Instant::now();
            join(link, next).map_err(Trouble::Again)?;
            let mut state = locked(&self.state);
            state.before.push(id);
            (state.id, state.beat) = (next, joined);
        } else {
            let mut state = locked(&self.state);
            state.beat = sent;
        }
        locked(&self.state).clock = (time, Instant::now());
        let mut beats = Vec::new();
        for row in others {
            let read = || Ok((get(row, 0)?, get(row, 1)?));
            beats.push(read().map_err(Trouble::Refused)?);
        }
        let gone = watch.look(&beats, Instant::now(), self.lease);
        self.mark(link, &gone)?;
        locked(&self.state).settled = watch.unsettled.as_ref().is_some_and(Vec::is_empty);
        self.changed.notify_all();
        watch.beats += 1;
        if watch.beats.is_multiple_of(BEATS.into()) {
            // Notifications do not pass through every pooler.
            self.news.fetch_add(1, Ordering::Relaxed);
        }
        if watch.beats % SWEEP == 1 {
            // Beats wait for it, so these are a few: for each it looks at all open runs.
            link.try_send(&[Statement::new(
                format!(
                    "DELETE FROM {schema}.owner o WHERE o.id IN (SELECT id FROM {schema}.owner WHERE gone AND \
                     seen < now() - interval '1 day' ORDER BY random() LIMIT 16) AND NOT EXISTS \
                     (SELECT 1 FROM {schema}.live l WHERE l.owner = o.id OR l.was = o.id)"
                ),
                vec![],
            )])?;
        }
        Ok(())
    }

    /// Marks owners as gone that have the beat that was seen.
    fn mark(&self, link: &mut Link, gone: &[(i64, i64)]) -> std::result::Result<(), Trouble> {
        if gone.is_empty() {
            return Ok(());
        }
        let schema = link.target().schema.clone();
        let mut statements: Vec<Statement> = gone
            .iter()
            .map(|&(id, beat)| {
                let sql =
                    format!("UPDATE {schema}.owner SET gone = true WHERE id = $1 AND beat = $2 AND NOT gone");
                Statement::new(sql, vec![int(id), int(beat)])
            })
            .collect();
        statements.push(apply::notify(&schema));
        link.try_send(&statements)?;
        self.news.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Says that this process has ended, so that nobody waits for it.
    fn leave(&self, link: &mut Link) {
        let schema = link.target().schema.clone();
        let ids = {
            let state = locked(&self.state);
            state.before.iter().copied().chain([state.id]).collect::<Vec<_>>()
        };
        let statements = [
            Statement::new(
                format!("UPDATE {schema}.owner SET gone = true, ended = true WHERE id = ANY($1)"),
                vec![ints(ids.into_iter())],
            ),
            apply::notify(&schema),
        ];
        drop(link.send(&statements, |waited| waited < FAREWELL));
    }
}

impl Watch {
    /// Takes the beats of the others. Returns those who have not beaten for a lease.
    fn look(&mut self, beats: &[(i64, i64)], at: Instant, lease: Duration) -> Vec<(i64, i64)> {
        // A watcher that was away itself counts anew.
        if self.last.is_some_and(|last| at.duration_since(last) > lease / 2) {
            self.seen.clear();
        }
        self.last = Some(at);
        self.seen.retain(|id, _| beats.iter().any(|(other, _)| other == id));
        let mut gone = Vec::new();
        let is_first = self.unsettled.is_none();
        let unsettled = self.unsettled.get_or_insert_with(|| beats.iter().map(|(id, _)| *id).collect());
        for &(id, beat) in beats {
            match self.seen.get(&id) {
                Some(&(known, since)) if known == beat => {
                    if at.duration_since(since) >= lease {
                        gone.push((id, beat));
                    }
                }
                known => {
                    if known.is_some() && !is_first {
                        unsettled.retain(|other| *other != id);
                    }
                    self.seen.insert(id, (beat, at));
                }
            }
        }
        unsettled.retain(|id| {
            beats.iter().any(|(other, _)| other == id) && !gone.iter().any(|(other, _)| other == id)
        });
        for (id, _) in &gone {
            self.seen.remove(id);
        }
        gone
    }
}

impl Ownership for Shared {
    fn id(&self) -> i64 {
        locked(&self.state).id
    }

    fn lock(&self) -> Option<Result<File>> {
        None
    }

    fn may_call(&self, owner: i64, run: i64) -> Result<()> {
        let until = Instant::now() + UNSURE;
        let mut state = locked(&self.state);
        loop {
            if state.id != owner {
                return Err(lost(run));
            }
            if state.beat.elapsed() < self.lease * 2 / 3 {
                return Ok(());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || state.stopped {
                let message = "the database does not say whether this process still owns its runs";
                return Err(
                    Error::new(ErrorCode::Busy, message).remedy("check that the server can be reached")
                );
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Watch;
    use std::time::{Duration, Instant};

    const LEASE: Duration = Duration::from_secs(8);

    #[test]
    fn who_shows_the_same_beat_for_a_lease_is_gone_and_nobody_else() {
        let (mut watch, begun) = (Watch::default(), Instant::now());
        let mut look = |seconds: u64, beats: &[(i64, i64)]| {
            watch.look(beats, begun + Duration::from_secs(seconds), LEASE)
        };
        assert!(look(0, &[(1, 5), (2, 5)]).is_empty());
        assert!(look(2, &[(1, 5), (2, 6)]).is_empty());
        assert!(look(4, &[(1, 5), (2, 7)]).is_empty());
        assert!(look(6, &[(1, 5), (2, 8)]).is_empty());
        assert_eq!(look(8, &[(1, 5), (2, 9)]), [(1, 5)]);
        assert!(look(10, &[(2, 10)]).is_empty());
    }

    #[test]
    fn a_watcher_that_was_away_counts_anew() {
        let (mut watch, begun) = (Watch::default(), Instant::now());
        let mut look = |seconds: u64| watch.look(&[(1, 5)], begun + Duration::from_secs(seconds), LEASE);
        assert!(look(0).is_empty() && look(2).is_empty());
        assert!(look(60).is_empty(), "a server that was away for a minute costs nobody a run");
        assert!(look(64).is_empty() && look(66).is_empty());
        assert_eq!(look(68), [(1, 5)]);
    }

    #[test]
    fn it_is_settled_once_each_has_beaten_left_or_gone() {
        let (mut watch, begun) = (Watch::default(), Instant::now());
        let mut look = |seconds: u64, beats: &[(i64, i64)]| {
            watch.look(beats, begun + Duration::from_secs(seconds), LEASE);
            watch.unsettled.clone().unwrap()
        };
        assert_eq!(look(0, &[(1, 5), (2, 5), (3, 1)]), [1, 2, 3]);
        assert_eq!(look(2, &[(1, 6), (2, 5)]), [2], "one has beaten, and one has left");
        assert_eq!(look(4, &[(1, 7), (2, 5)]), [2]);
        assert_eq!(look(8, &[(1, 9), (2, 5)]), [0; 0]);
    }
}
