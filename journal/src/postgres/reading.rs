//! Reads runs before they are changed, and decides about them.

use super::apply;
use super::jobs::{Job, Tried};
use super::link::{Statement, blobs, ints};
use super::rows::{DECIDED, get};
use crate::backend::{Alive, Outcome, Rows, no_run};
use crate::error::{Error, ErrorCode, Result};
use crate::row::{DecisionRow, LIVE, Live, RUN, Run, agreed, decided_of, live_of, run_of};
use std::collections::{BTreeSet, HashMap};
use tokio_postgres::Row;

/// How often a change is decided again because somebody else was faster.
const ATTEMPTS: u32 = 20;

/// Owners at the time of a read: whether each is gone, whether it has said so itself, and its name.
struct KnownOwners {
    found: HashMap<i64, (bool, bool, String)>,
}

impl Alive for KnownOwners {
    fn lives(&self, id: i64) -> Result<bool> {
        Ok(self.found.get(&id).is_some_and(|(gone, ..)| !gone))
    }

    fn shown(&self, id: i64) -> String {
        self.found.get(&id).map_or_else(|| "another process".to_owned(), |(.., who)| who.clone())
    }

    fn may_speak(&self, id: i64) -> bool {
        self.found.get(&id).is_some_and(|(_, ended, _)| !ended)
    }
}

/// Reads runs as they are at one moment: with the decisions on their calls, and their owners.
pub(crate) fn reading(schema: &str, is_set: bool, runs: &[i64], tokens: Vec<Vec<u8>>) -> [Statement; 7] {
    let of = |sql| Statement::new(sql, vec![ints(runs.iter().copied())]);
    [
        apply::begin_reading(is_set),
        of(format!("SELECT {RUN} FROM {schema}.run r WHERE r.id = ANY($1)")),
        // A join would look for each row by itself.
        of(format!("SELECT l.xmin::text, {LIVE}, l.was FROM {schema}.live l WHERE l.run = ANY($1)")),
        of(format!(
            "SELECT {DECIDED} FROM {schema}.live l, LATERAL (SELECT * FROM {schema}.decision \
             WHERE run = l.run AND call = l.call OFFSET 0) d WHERE l.run = ANY($1) ORDER BY d.run, d.at, d.id"
        )),
        // A function of another role in `public` may fit arrays of this type better.
        of(format!(
            "SELECT id, gone, ended, who FROM {schema}.owner WHERE id IN \
             (SELECT pg_catalog.unnest(ARRAY[owner, was]) FROM {schema}.live WHERE run = ANY($1))"
        )),
        Statement::new(
            format!("SELECT token FROM {schema}.decision WHERE token = ANY($1)"),
            vec![blobs(tokens.into_iter())],
        ),
        apply::commit(),
    ]
}

/// What was read.
pub(crate) struct Read {
    runs: HashMap<i64, Result<(Run, Option<Live>)>>,
    /// Which version of its row each run has.
    seen: HashMap<i64, String>,
    decided: HashMap<i64, Result<Vec<DecisionRow>>>,
    owners: KnownOwners,
    tokens: BTreeSet<Vec<u8>>,
}

impl Read {
    pub(crate) fn of(found: &[Vec<Row>]) -> Result<Read> {
        let [_, runs, rows, decisions, owners, tokens, ..] = found else { return Err(Error::other()) };
        let mut read = Read {
            runs: HashMap::new(),
            seen: HashMap::new(),
            decided: HashMap::new(),
            owners: KnownOwners { found: HashMap::new() },
            tokens: BTreeSet::new(),
        };
        let mut lives = HashMap::new();
        for row in rows {
            let id = get(row, 1)?;
            lives.insert(id, live_of(row, 1));
            read.seen.insert(id, get(row, 0)?);
        }
        for row in runs {
            let id = get(row, 0)?;
            let live = lives.remove(&id).transpose();
            read.runs.insert(id, live.and_then(|live| agreed(run_of(row, 0)?, live)));
        }
        for row in decisions {
            let rows = read.decided.entry(get(row, 0)?).or_insert_with(|| Ok(Vec::new()));
            match (rows, decided_of(row)) {
                (Ok(rows), Ok(row)) => rows.push(row),
                (rows, Err(error)) => *rows = Err(error),
                (Err(_), Ok(_)) => {}
            }
        }
        for row in owners {
            read.owners.found.insert(get(row, 0)?, (get(row, 1)?, get(row, 2)?, get(row, 3)?));
        }
        for row in tokens {
            read.tokens.insert(get(row, 0)?);
        }
        Ok(read)
    }

    /// Decides a change. It comes back if something is to be written.
    pub(crate) fn decide(&mut self, job: Job, now: i64) -> Option<Job> {
        let Job::Change { run: id, decide, token, reply, attempts, tried } = job else { return Some(job) };
        let found = self.runs.remove(&id).unwrap_or_else(|| Err(no_run(id)));
        let (run, live) = match found {
            Ok(found) => found,
            Err(error) => {
                reply.settle(Err(error));
                return None;
            }
        };
        if let Some(tried) = tried {
            let Tried { change, outcome, .. } = *tried;
            // It was written, though the answer did not come.
            let is_claim = matches!(outcome, Outcome::Claimed { .. });
            let is_there = is_claim && live.as_ref() == Some(&change.live);
            if is_there || self.tokens.contains(&token[..]) {
                reply.settle(Ok(outcome));
                return None;
            }
        }
        if attempts >= ATTEMPTS {
            reply.settle(Err(Error::new(ErrorCode::Busy, format!("others write to run {id} all the time"))
                .remedy("try again")));
            return None;
        }
        let decided = self.decided.remove(&id).unwrap_or_else(|| Ok(Vec::new()));
        let last = decided.as_ref().ok().and_then(|rows| rows.last()).map(|row| row.at);
        let seen = self.seen.remove(&id).unwrap_or_default();
        match decide(Rows { run, live, decided, last }, &self.owners, now) {
            Err(error) => reply.settle(Err(error)),
            Ok((None, outcome)) => reply.settle(Ok(outcome)),
            Ok((Some(change), outcome)) => {
                let tried = Some(Box::new(Tried { change, outcome, seen }));
                return Some(Job::Change { run: id, decide, token, reply, attempts: attempts + 1, tried });
            }
        }
        None
    }
}
