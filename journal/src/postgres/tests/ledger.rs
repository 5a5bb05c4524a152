//! The statements of groups without threads, for the simulation: with groups that the server refuses, and
//! with answers that are lost after the commit.

use crate::backend::{Decide, Outcome, Write, Written};
use crate::cipher::Cipher;
use crate::error::{Error, ErrorCode, Result};
use crate::postgres::jobs::Job;
use crate::postgres::link::{Link, Statement, int};
use crate::postgres::rows::both;
use crate::postgres::schema;
use crate::postgres::target::Target;
use crate::postgres::writer::{Fate, Writing};
use crate::queue::ticket;
use crate::row::{Live, Run, both_of};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

/// A journal whose groups have a fate.
pub(crate) struct Ledger {
    writing: Writing,
    random: Cipher,
    /// The owners that live, as was written last.
    living: BTreeSet<i64>,
}

impl Ledger {
    /// Opens an empty journal; `now` is its clock.
    pub(crate) fn new(address: &str, now: fn() -> i64) -> Ledger {
        let target = Arc::new(Target::read(address).unwrap());
        let mut link = Link::open(&target, &Arc::new(AtomicI64::new(0))).unwrap();
        let random = Cipher::new(None);
        schema::open(&mut link, true, &random, false).unwrap();
        let mut ledger =
            Ledger { writing: Writing::new(link, Box::new(now)), random, living: BTreeSet::new() };
        let schema = &target.schema;
        ledger.sql(&format!(
            "TRUNCATE {schema}.live, {schema}.run, {schema}.decision, {schema}.metadata, {schema}.owner RESTART IDENTITY"
        ));
        ledger
    }

    fn sql(&mut self, sql: &str) {
        self.send(Statement::new(sql, vec![]));
    }

    fn send(&mut self, statement: Statement) -> Vec<tokio_postgres::Row> {
        self.writing.link.send(&[statement], |_| true).unwrap().pop().unwrap_or_default()
    }

    /// The owners that live, as far as others can see.
    pub(crate) fn owners(&mut self, living: &BTreeSet<i64>) {
        if self.living == *living {
            return;
        }
        self.living.clone_from(living);
        let schema = self.writing.schema.clone();
        self.sql(&format!("UPDATE {schema}.owner SET gone = true WHERE NOT gone"));
        for &id in living {
            let sql = format!(
                "INSERT INTO {schema}.owner VALUES ($1, 0, false, false, 'x', now()) ON CONFLICT (id) DO UPDATE SET gone = false"
            );
            self.send(Statement::new(sql, vec![int(id)]));
        }
    }

    pub(crate) fn write(&mut self, write: Write, fate: Fate) -> Result<Written> {
        let (reply, ticket) = ticket();
        let token = self.random.random()?;
        self.work(Job::Write { write, token, reply, sent: false }, fate);
        ticket.block()
    }

    pub(crate) fn change(&mut self, run: i64, decide: Decide, fate: Fate) -> Result<Outcome> {
        let (reply, ticket) = ticket();
        let token = self.random.random()?;
        self.work(Job::Change { run, decide, token, reply, attempts: 0, tried: None }, fate);
        ticket.block()
    }

    fn work(&mut self, job: Job, fate: Fate) {
        self.writing.fate = fate;
        let mut jobs = vec![job];
        while !jobs.is_empty() {
            jobs = self.writing.group(jobs, Vec::new(), &|| false);
        }
        self.writing.fate = Fate::Kept;
    }

    pub(crate) fn both(&mut self, run: i64) -> Result<(Run, Option<Live>)> {
        let schema = &self.writing.schema;
        let sql = format!(
            "SELECT {} FROM {schema}.run r LEFT JOIN {schema}.live l ON l.run = r.id WHERE r.id = $1",
            both()
        );
        let rows = self.send(Statement::new(sql, vec![int(run)]));
        let row = rows.first().ok_or_else(|| Error::new(ErrorCode::NoRun, "no run"))?;
        both_of(row, 0)
    }
}
