//! The thread that writes: a group is one transaction with one statement for each kind of write, sent in one
//! round trip, and sent again where the connection was lost before the answer.

use super::apply;
use super::jobs::{Group, Job, token_of};
use super::link::{Link, Statement, Trouble, Waiting, blobs, texts};
use super::owners::Shared;
use super::reading::{Read, reading};
use super::rows::{both, get};
use super::vacuum::Vacuum;
use crate::backend::{Exported, Prepared, Write, Written};
use crate::error::{Error, ErrorCode, Result};
use crate::model::RunId;
use crate::queue::{Queue, Worker};
use crate::row::{DecisionRow, Live, both_of};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Row;

/// How long writes wait for a server that is away, once the journal is closed.
const CLOSING: Duration = Duration::from_secs(10);

/// The most bytes of the writes of a group, beside its first: a server takes messages of at most 1 GiB.
const TOGETHER: usize = 64 << 20;

/// Starts the thread.
pub(crate) fn start(mut link: Link, shared: Arc<Shared>) -> Result<Worker<Job>> {
    link.name_statements();
    Worker::start(move |queue: &Queue<Job>| {
        let mut writer = Writing::new(link, Box::new(move || shared.now()));
        let closed = || queue.is_closed();
        while let Some((jobs, mut later)) = queue.take() {
            let (imports, mut jobs): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(Job::is_import);
            for import in imports {
                writer.group(vec![import], Vec::new(), &closed);
            }
            while let Some(at) = prefix(&later, Live::bytes).filter(|at| *at < later.len()) {
                writer.group(Vec::new(), later.drain(..at).collect(), &closed);
            }
            // In each group a run has one write.
            while !jobs.is_empty() || !later.is_empty() {
                let (mut group, rest) = first_of_each(jobs);
                let at = prefix(&group, Job::bytes).unwrap_or_default();
                jobs = group.split_off(at);
                jobs.extend(rest);
                jobs.extend(writer.group(group, std::mem::take(&mut later), &closed));
            }
        }
    })
}

/// How many of these may be in one group; nothing if there are none.
fn prefix<T>(all: &[T], bytes: impl Fn(&T) -> usize) -> Option<usize> {
    let mut sum = 0;
    let more = all.iter().skip(1).take_while(|one| {
        sum += bytes(one);
        sum < TOGETHER
    });
    all.first().map(|_| 1 + more.count())
}

/// The first job of each run, and the others.
fn first_of_each(jobs: Vec<Job>) -> (Vec<Job>, Vec<Job>) {
    let mut seen = BTreeSet::new();
    jobs.into_iter().partition(|job| job.run().is_none_or(|run| seen.insert(run)))
}

/// The connection that writes.
pub(crate) struct Writing {
    pub(crate) link: Link,
    pub(crate) schema: String,
    vacuum: Vacuum,
    now: Box<dyn Fn() -> i64 + Send>,
    /// What happens to the next group, in a test.
    #[cfg(test)]
    pub(crate) fate: Fate,
}

/// What happens to a group, in a test.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Kept,
    /// The server refuses it.
    Refused,
    /// It is written, and the answer is lost.
    Unheard,
}

impl Writing {
    pub(crate) fn new(link: Link, now: Box<dyn Fn() -> i64 + Send>) -> Writing {
        Writing {
            schema: link.target().schema.clone(),
            vacuum: Vacuum::new(link.target()),
            link,
            now,
            #[cfg(test)]
            fate: Fate::Kept,
        }
    }

    /// Sends a group.
    #[cfg(not(test))]
    fn send(&mut self, group: &Group) -> std::result::Result<Vec<Vec<Row>>, Trouble> {
        self.link.try_send(&group.statements)
    }

    /// Sends a group, to which something may happen.
    #[cfg(test)]
    fn send(&mut self, group: &Group) -> std::result::Result<Vec<Vec<Row>>, Trouble> {
        match std::mem::replace(&mut self.fate, Fate::Kept) {
            Fate::Kept => self.link.try_send(&group.statements),
            Fate::Refused => Err(Trouble::Refused(Error::new(ErrorCode::Full, "no room"))),
            Fate::Unheard => {
                self.link.try_send(&group.statements)?;
                Err(Trouble::Again(Error::new(ErrorCode::Busy, "unheard")))
            }
        }
    }

    /// Writes a group. Returns the changes that are to be decided again.
    pub(crate) fn group(
        &mut self,
        mut jobs: Vec<Job>,
        mut later: Vec<Live>,
        closed: &dyn Fn() -> bool,
    ) -> Vec<Job> {
        let mut waiting = Waiting::new();
        loop {
            let (outcome, left) = self.once(jobs, &later);
            jobs = left;
            match outcome {
                Ok(()) => return jobs,
                Err(Trouble::Refused(error)) if jobs.len() > 1 || !jobs.is_empty() && !later.is_empty() => {
                    drop(error);
                    return self.alone(jobs);
                }
                Err(Trouble::Refused(error)) => {
                    jobs.into_iter().for_each(|job| job.fail(&error));
                    return Vec::new();
                }
                Err(Trouble::Again(error)) => {
                    let goes_on = |waited| !closed() || waited < CLOSING;
                    if !waiting.again(&goes_on) {
                        jobs.into_iter().for_each(|job| job.fail(&error));
                        return Vec::new();
                    }
                    if jobs.is_empty() && closed() {
                        later.clear();
                    }
                }
            }
        }
    }

    /// Writes each job of a group that was refused by itself.
    fn alone(&mut self, jobs: Vec<Job>) -> Vec<Job> {
        let mut again = Vec::new();
        for job in jobs {
            let (outcome, left) = self.once(vec![job], &[]);
            match outcome {
                Ok(()) => again.extend(left),
                Err(Trouble::Refused(error) | Trouble::Again(error)) => {
                    left.into_iter().for_each(|job| job.fail(&error));
                }
            }
        }
        again
    }

    /// Writes a group, once. Jobs that are done have told their callers; the others come back.
    fn once(&mut self, jobs: Vec<Job>, later: &[Live]) -> (std::result::Result<(), Trouble>, Vec<Job>) {
        let (mut jobs, read) = self.decide(jobs);
        if let Err(trouble) = read {
            return (Err(trouble), jobs);
        }
        if let [Job::Write { write: Write::Import(imported), reply, sent, .. }] = jobs.as_mut_slice() {
            return match self.import(imported, *sent) {
                Ok(run) => {
                    reply.settle(run.map(Written::Imported));
                    (Ok(()), Vec::new())
                }
                Err(trouble) => {
                    *sent = true;
                    (Err(trouble), jobs)
                }
            };
        }
        if jobs.is_empty() && later.is_empty() {
            return (Ok(()), jobs);
        }
        let group = Group::new(&self.schema, self.link.is_named(), &jobs, later);
        let sent = self.send(&group);
        let places = group.places;
        match sent {
            Ok(rows) => {
                self.vacuum.ended(places.ended(&rows));
                (Ok(()), places.settle(&rows, jobs))
            }
            Err(trouble) => {
                if let Trouble::Again(_) = &trouble {
                    for job in &mut jobs {
                        if let Job::Write { sent, .. } = job {
                            *sent = true;
                        }
                    }
                }
                (Err(trouble), jobs)
            }
        }
    }

    /// Reads the runs that are to be changed, and decides. Those of which nothing is to be written are done.
    fn decide(&mut self, jobs: Vec<Job>) -> (Vec<Job>, std::result::Result<(), Trouble>) {
        let changed: Vec<i64> = jobs
            .iter()
            .filter_map(|job| if let Job::Change { run, .. } = job { Some(*run) } else { None })
            .collect();
        if changed.is_empty() {
            return (jobs, Ok(()));
        }
        let tokens = jobs.iter().filter_map(|job| match job {
            Job::Change { tried: Some(_), token, .. } => Some(token.to_vec()),
            _ => None,
        });
        let statements = reading(&self.schema, self.link.is_named(), &changed, tokens.collect());
        let found = match self.link.try_send(&statements) {
            Ok(found) => found,
            Err(trouble) => return (jobs, Err(trouble)),
        };
        let mut read = match Read::of(&found) {
            Ok(read) => read,
            Err(error) => return (jobs, Err(Trouble::Refused(error))),
        };
        let now = (self.now)();
        let left = jobs.into_iter().filter_map(|job| read.decide(job, now)).collect();
        (left, Ok(()))
    }

    /// Adds a run that was read from bytes. It is rare, and takes some round trips.
    fn import(&mut self, imported: &Exported, sent: bool) -> std::result::Result<Result<RunId>, Trouble> {
        let schema = self.schema.clone();
        let mut prepared = Prepared {
            run: imported.run.clone(),
            program: imported.program.clone(),
            live: imported.live.clone(),
            owner: 0,
            tools: None,
            metadata: imported.metadata.clone(),
            calls: Vec::new(),
        };
        if let Some(live) = &mut prepared.live {
            (live.owner, live.was, live.exported) = (None, None, false);
            live.epoch = live.epoch.saturating_add(1);
        }
        let columns =
            format!("SELECT {} FROM {schema}.run r LEFT JOIN {schema}.live l ON l.run = r.id", both());
        let name = imported.run.name.clone();
        let found = self.link.try_send(&[Statement::new(
            format!("{columns} WHERE r.key = ANY($1) OR r.name = ANY($2)"),
            vec![blobs(std::iter::once(imported.run.key.to_vec())), texts(name.into_iter())],
        )])?;
        let mut known = None;
        for row in found.iter().flatten() {
            let (run, live) = match both_of(row, 0) {
                Ok(both) => both,
                Err(error) => return Ok(Err(error)),
            };
            if run.key != imported.run.key {
                return Ok(Err(Error::name_here(run.id, run.name.as_deref().unwrap_or_default())));
            }
            known = Some((run, live));
        }
        let mut statements = vec![apply::begin(self.link.is_named())];
        match known {
            Some((run, Some(live))) if live.exported => {
                if let Some(own) = &mut prepared.live {
                    own.epoch = own.epoch.max(live.epoch.saturating_add(1));
                }
                // The row of this run is written anew, under its number.
                statements.extend(apply::replace(&schema, run.id, live.epoch, &prepared));
            }
            // The answer to it was lost.
            Some((run, _)) if sent => return Ok(Ok(RunId(run.id))),
            Some((run, _)) => {
                let message = format!("run {} of this journal is the same run", run.id);
                return Ok(Err(Error::new(ErrorCode::AlreadyHere, message)));
            }
            None => {
                statements.push(apply::start(&schema, &[&prepared]));
                let program = BTreeMap::from([(prepared.run.program, prepared.program.clone())]);
                statements.push(apply::programs(&schema, &program));
            }
        }
        let tokens: Vec<[u8; 16]> = (0_u64..)
            .zip(&imported.decisions)
            .map(|(at, _)| {
                token_of(&prepared.run.key, prepared.live.as_ref().map_or(0, |live| live.epoch), at)
            })
            .collect();
        let rows: Vec<(&DecisionRow, &[u8])> =
            imported.decisions.iter().zip(tokens.iter().map(|token| &token[..])).collect();
        statements.push(apply::decisions_of(&schema, &prepared.run.key, &rows));
        statements.push(apply::started(&schema, &[&prepared]));
        statements.push(apply::commit());
        let found = self.link.try_send(&statements)?;
        let rows = found.len().checked_sub(2).and_then(|at| found.get(at));
        let id = rows.and_then(|rows| rows.first()).map_or_else(|| Err(Error::other()), |row| get(row, 0));
        Ok(id.map(RunId))
    }
}

#[cfg(test)]
mod tests {
    use super::{TOGETHER, prefix};

    #[test]
    fn a_group_is_not_larger_than_a_server_takes_beside_its_first_write() {
        let most = |sizes: &[usize]| prefix(sizes, |size| *size);
        assert_eq!(most(&[]), None);
        assert_eq!(most(&[1; 1000]), Some(1000));
        assert_eq!(most(&[TOGETHER * 4]), Some(1), "it cannot be parted");
        assert_eq!(most(&[TOGETHER * 4, TOGETHER - 1, 1]), Some(2));
        assert_eq!(most(&[0, TOGETHER, 1]), Some(1));
    }
}
