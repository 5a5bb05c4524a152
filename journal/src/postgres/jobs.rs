//! What the thread that writes does for its callers: the statements of a group, and what became of each job.

use super::apply::{self, Versioned};
use super::link::Statement;
use super::rows::get;
use crate::backend::{Change, Decide, Outcome, Prepared, Write, Written, lost};
use crate::cipher::sha256;
use crate::error::{Error, Result};
use crate::model::{Lease, RunId, Started};
use crate::queue::Sender;
use crate::row::{DecisionRow, Live, Run, run_of};
use std::collections::{BTreeSet, HashMap};
use tokio_postgres::Row;

/// What the thread does for a caller.
pub(crate) enum Job {
    Write {
        write: Write,
        /// Knows its row about a call again.
        token: [u8; 16],
        reply: Sender<Written>,
        /// Whether it was sent before, and may have been written.
        sent: bool,
    },
    Change {
        run: i64,
        decide: Decide,
        token: [u8; 16],
        reply: Sender<Outcome>,
        attempts: u32,
        /// What was sent before, and may have been written.
        tried: Option<Box<Tried>>,
    },
}

/// A change that was decided.
pub(crate) struct Tried {
    pub(crate) change: Change,
    pub(crate) outcome: Outcome,
    /// The version of the row that was read.
    pub(crate) seen: String,
}

impl Job {
    /// Tells who waits that it could not be done.
    pub(crate) fn fail(self, error: &Error) {
        match self {
            Job::Write { reply, .. } => reply.settle(Err(error.clone())),
            Job::Change { reply, .. } => reply.settle(Err(error.clone())),
        }
    }

    pub(crate) fn is_import(&self) -> bool {
        matches!(self, Job::Write { write: Write::Import(_), .. })
    }

    /// How many bytes of data it sends, about.
    pub(crate) fn bytes(&self) -> usize {
        let decided = |row: &DecisionRow| row.detail.len();
        match self {
            Job::Write { write: Write::Start(new), .. } => {
                let live = new.live.as_ref().map_or(0, Live::bytes);
                new.program.len() + live + new.run.outcome.as_ref().map_or(0, Vec::len)
            }
            Job::Write { write: Write::Record(live), .. } => live.bytes(),
            Job::Write { write: Write::End { run, .. }, .. } => run.outcome.as_ref().map_or(0, Vec::len),
            Job::Write { write: Write::Calls { rows, .. }, .. } => rows.iter().map(decided).sum(),
            Job::Write { write: Write::Release { .. } | Write::Import(_), .. } | Job::Change { .. } => 0,
        }
    }

    /// The run to which it writes, if that is there already.
    pub(crate) fn run(&self) -> Option<i64> {
        match self {
            Job::Write { write: Write::Record(live), .. } => Some(live.run),
            Job::Write { write: Write::End { run, .. }, .. } => Some(run.id),
            Job::Write { write: Write::Release { run, .. }, .. } | Job::Change { run, .. } => Some(*run),
            Job::Write { write: Write::Start(_) | Write::Calls { .. } | Write::Import(_), .. } => None,
        }
    }
}

/// The statements of a group, and where the results of each kind are.
pub(crate) struct Group {
    pub(crate) statements: Vec<Statement>,
    pub(crate) places: Places,
}

/// The positions of results among those of a group.
#[derive(Default)]
pub(crate) struct Places {
    start: Option<usize>,
    record: Option<usize>,
    release: Option<usize>,
    calls: Option<usize>,
    change: Option<usize>,
    cancel: Option<usize>,
    end: Option<usize>,
}

impl Group {
    pub(crate) fn new(schema: &str, is_set: bool, jobs: &[Job], later: &[Live]) -> Group {
        if let ([Job::Write { write: Write::Record(live), .. }], []) = (jobs, later)
            && live.expects.is_none()
        {
            let places = Places { record: Some(0), ..Places::default() };
            return Group { statements: vec![apply::record(schema, &[live], true)], places };
        }
        let mut group = Group { statements: vec![apply::begin(is_set)], places: Places::default() };
        let (mut starts, mut records, mut releases, mut ends) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut changes, mut flags, mut expects, mut calls) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for job in jobs {
            match job {
                Job::Write { write: Write::Start(new), .. } => starts.push(&**new),
                Job::Write { write: Write::Record(live), token, .. } => {
                    records.push(&**live);
                    if live.expects.is_some() {
                        expects.push((&**live, *token));
                    }
                }
                Job::Write { write: Write::Calls { epoch, rows, .. }, token, .. } => {
                    calls.extend(
                        rows.iter().zip(0_u64..).map(|(row, at)| (row, *epoch, token_of(token, *epoch, at))),
                    );
                }
                Job::Write { write: Write::Release { run, epoch }, .. } => releases.push((*run, *epoch)),
                Job::Write { write: Write::End { run, epoch }, .. } => ends.push((&**run, *epoch)),
                Job::Change { tried: Some(tried), token, .. } => {
                    let Tried { change, seen, .. } = &**tried;
                    let versioned = Versioned { change, seen, token: *token };
                    // It only asks a run to end that goes on in its state.
                    let is_flag = change.live.epoch == change.if_epoch;
                    if is_flag { flags.push(versioned) } else { changes.push(versioned) }
                }
                Job::Write { write: Write::Import(_), .. } | Job::Change { .. } => {}
            }
        }
        records.extend(later);
        group.starts(schema, &starts);
        group.places.calls = group.add(&calls, |calls| apply::calls(schema, calls));
        group.places.record = group.add(&records, |records| apply::record(schema, records, false));
        group.add(&expects, |expects| apply::expects(schema, expects));
        group.places.release = group.add(&releases, |releases| apply::release(schema, releases));
        group.places.change = group.add(&changes, |changes| apply::change(schema, changes));
        group.places.cancel = group.add(&flags, |flags| apply::cancel(schema, flags));
        group.add(&ends, |ends| apply::end(schema, ends));
        group.places.end = group.add(&ends, |ends| apply::ended(schema, ends));
        let is_news = |one: &Versioned<'_>| one.change.decided.is_some() || one.change.live.owner.is_none();
        if !releases.is_empty() || changes.iter().chain(&flags).any(is_news) {
            group.statements.push(apply::notify(schema));
        }
        group.statements.push(apply::commit());
        group
    }

    fn starts(&mut self, schema: &str, starts: &[&Prepared]) {
        self.add(starts, |starts| apply::start(schema, starts));
        self.add(starts, |starts| {
            apply::programs(
                schema,
                &starts.iter().map(|new| (new.run.program, new.program.clone())).collect(),
            )
        });
        self.places.start = self.add(starts, |starts| apply::started(schema, starts));
    }

    /// Adds the statement for rows, if there are any. Returns where its results will be.
    fn add<T>(&mut self, rows: &[T], statement: impl FnOnce(&[T]) -> Statement) -> Option<usize> {
        if rows.is_empty() {
            return None;
        }
        self.statements.push(statement(rows));
        Some(self.statements.len() - 1)
    }
}

impl Places {
    /// How many runs have ended.
    pub(crate) fn ended(&self, rows: &[Vec<Row>]) -> usize {
        self.end.and_then(|at| rows.get(at)).map_or(0, Vec::len)
    }

    /// Tells callers what became of their jobs. Returns the changes that are to be decided again.
    pub(crate) fn settle(&self, rows: &[Vec<Row>], jobs: Vec<Job>) -> Vec<Job> {
        let at = |place: Option<usize>| place.and_then(|at| rows.get(at)).map_or(&[][..], Vec::as_slice);
        let numbers =
            |place| -> BTreeSet<i64> { at(place).iter().filter_map(|row| get(row, 0).ok()).collect() };
        let (released, ended, kept) = (numbers(self.release), numbers(self.end), numbers(self.calls));
        let mut changed = numbers(self.change);
        changed.extend(numbers(self.cancel));
        let records: HashMap<i64, bool> =
            at(self.record).iter().filter_map(|row| Some((get(row, 0).ok()?, get(row, 1).ok()?))).collect();
        let runs: Vec<Run> = at(self.start).iter().filter_map(|row| run_of(row, 0).ok()).collect();
        let mut again = Vec::new();
        for job in jobs {
            match job {
                Job::Write { write, reply, sent, .. } => reply.settle(match write {
                    Write::Start(new) => started(&new, &runs),
                    Write::Record(live) => match records.get(&live.run) {
                        Some(&cancel) => Ok(Written::Recorded { cancel }),
                        None => Err(lost(live.run)),
                    },
                    Write::End { run, .. } if ended.contains(&run.id) => Ok(Written::Done),
                    Write::End { run, .. } => Err(lost(run.id)),
                    // Sent before, it may have been released, and taken by another.
                    Write::Release { run, .. } if sent || released.contains(&run) => Ok(Written::Done),
                    // What was written before a second attempt may be of a run that has another epoch now.
                    Write::Calls { run, .. } if sent || kept.contains(&run) => Ok(Written::Done),
                    Write::Release { run, .. } | Write::Calls { run, .. } => Err(lost(run)),
                    Write::Import(_) => Err(Error::other()),
                }),
                Job::Change { run, reply, tried: Some(tried), .. } if changed.contains(&run) => {
                    reply.settle(Ok(tried.outcome));
                }
                Job::Change { run, decide, token, reply, attempts, tried } => {
                    // A claim that was sent before and is written only now is recognized by its row.
                    let tried = tried.filter(|tried| matches!(tried.outcome, Outcome::Claimed { .. }));
                    again.push(Job::Change { run, decide, token, reply, attempts, tried });
                }
            }
        }
        again
    }
}

/// A token that knows a row again when it is sent again: what it follows from is random.
pub(crate) fn token_of(random: &[u8], epoch: i64, at: u64) -> [u8; 16] {
    let hash = sha256(&[random, &epoch.to_le_bytes()[..], &at.to_le_bytes()[..]].concat());
    hash.first_chunk().copied().unwrap_or_default()
}

/// What became of a start: the run with its key is its own, whoever sent it.
fn started(new: &Prepared, runs: &[Run]) -> Result<Written> {
    let own = runs.iter().find(|run| run.key == new.run.key);
    let named = || runs.iter().find(|run| run.name.is_some() && run.name == new.run.name);
    let started = match (own, named()) {
        (Some(run), _) => {
            let run = Run { id: run.id, ..new.run.clone() };
            let lease = new.live.as_ref().map(|live| Lease::of(live, new.owner, run.clone()));
            Started { run: RunId(run.id), is_new: true, lease }
        }
        (None, Some(found)) => {
            new.is_same(found)?;
            Started { run: RunId(found.id), is_new: false, lease: None }
        }
        (None, None) => return Err(Error::other()),
    };
    Ok(Written::Started(Box::new(started)))
}
