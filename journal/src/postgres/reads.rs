//! What is read, by a thread with a connection of its own.

use super::Postgres;
use super::apply;
use super::link::{Link, Param, Statement, blob, int, text};
use super::rows::{DECIDED, both, get};
use crate::backend::{Filter, Found, Reads, no_run};
use crate::cipher::RUN_KEY;
use crate::error::{Error, Result};
use crate::queue::{Order, Queue, Sender, Worker, ticket};
use crate::row::{
    DecisionRow, Live, RUN, Run, both_of, condition, counted, decided_of, numbers, run_of, signed,
};
use crate::state::State;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;
use tokio_postgres::Row;

/// Statements, each of which may be sent twice, and who waits for their rows.
pub(crate) struct Request {
    statements: Vec<Statement>,
    reply: Sender<Vec<Vec<Row>>>,
}

/// How long a read waits for a server that is away.
const PATIENCE: Duration = Duration::from_mins(2);

/// Starts the thread.
pub(crate) fn start(mut link: Link) -> Result<Worker<Request>> {
    Worker::start(move |queue: &Queue<Request>| {
        while let Some((requests, _)) = queue.take() {
            for request in requests {
                let goes_on = |waited| waited < PATIENCE && !queue.is_closed();
                request.reply.settle(link.send(&request.statements, goes_on));
            }
        }
    })
}

impl Postgres {
    /// Sends statements to the thread that reads.
    pub(crate) fn ask_all(&self, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>> {
        let (reply, ticket) = ticket();
        if let Err((request, error)) = self.reader.push(Order::Any, Request { statements, reply }) {
            request.reply.settle(Err(error));
        }
        ticket.block()
    }

    /// Sends one statement to the thread that reads.
    pub(crate) fn ask(&self, sql: String, params: Vec<Param>) -> Result<Vec<Row>> {
        Ok(self.ask_all(vec![Statement::new(sql, params)])?.pop().unwrap_or_default())
    }

    /// As [`Postgres::ask`], in the order of an index: where the planner takes a table for small, it would
    /// read and sort it whole for each page.
    fn ask_in_order(&self, sql: String, params: Vec<Param>) -> Result<Vec<Row>> {
        let statements = vec![apply::begin_in_order(), Statement::new(sql, params), apply::commit()];
        Ok(self.ask_all(statements)?.into_iter().nth(1).unwrap_or_default())
    }

    fn one<T>(&self, sql: String, params: Vec<Param>, read: impl Fn(&Row) -> Result<T>) -> Result<Option<T>> {
        self.ask(sql, params)?.first().map(read).transpose()
    }

    /// A number about the runs of a subject.
    fn number_of(&self, sql: &str, subject: &str) -> Result<usize> {
        let sql = sql.replace("{s}", &self.schema);
        let number: Option<i64> = self.one(sql, vec![text(subject)], |row| get(row, 0))?;
        Ok(number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0))
    }

    /// Removes runs that ended before a time. Returns how many.
    pub(crate) fn remove(&self, before: i64) -> Result<usize> {
        const TOGETHER: i64 = 1000;
        let mut removed = 0;
        loop {
            let rows = self.ask_all(vec![apply::prune(&self.schema, before, TOGETHER)])?;
            let now: i64 = rows.iter().flatten().next().map_or(Ok(0), |row| get(row, 0))?;
            removed += usize::try_from(now).unwrap_or(0);
            if now < TOGETHER {
                break;
            }
        }
        if removed > 0 {
            self.ask_all(vec![apply::prune_programs(&self.schema)])?;
        }
        Ok(removed)
    }

    /// Stores settings that are numbers.
    pub(crate) fn store_settings(&self, settings: &[(&'static str, i64)]) -> Result<()> {
        let set = |&(name, number): &(&str, i64)| {
            let sql = format!(
                "INSERT INTO {}.setting VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                self.schema
            );
            Statement::new(sql, vec![text(name), blob(&number.to_le_bytes())])
        };
        self.ask_all(settings.iter().map(set).collect()).map(drop)
    }
}

/// The tables, the condition and its values of the runs that a filter leaves. They follow the number `$1`;
/// `$2` belongs to the caller.
fn filtered(schema: &str, filter: &Filter) -> (String, String, Vec<Param>) {
    let (mut condition, is_under_way) = condition(filter.status);
    // `OFFSET 0` lets the planner look up each row of `live`, whatever it knows of its size.
    let tables = if is_under_way {
        format!("{schema}.live l JOIN {schema}.run r ON r.id = l.run AND l.run > $1")
    } else {
        let one = format!("LATERAL (SELECT * FROM {schema}.live WHERE run = r.id OFFSET 0) l ON true");
        format!("{schema}.run r LEFT JOIN {one}")
    };
    let mut params = Vec::new();
    // Writing to a string does not fail.
    if let Some(name) = &filter.name {
        params.push(text(name));
        let _ = write!(condition, " AND r.name LIKE {}", like(2 + params.len()));
    }
    for (name, value) in &filter.metadata {
        params.extend([text(name), text(value)]);
        let _ = write!(
            condition,
            " AND EXISTS (SELECT 1 FROM {schema}.metadata m WHERE m.run = r.id AND m.name = ${} AND m.value = ${})",
            1 + params.len(),
            2 + params.len()
        );
    }
    (tables, condition, params)
}

/// A pattern for texts that begin with a parameter, whose signs mean themselves.
fn like(at: usize) -> String {
    format!("replace(replace(replace(${at}, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%'")
}

impl Reads for Postgres {
    fn run(&self, id: i64) -> Result<Run> {
        let sql = format!("SELECT {RUN} FROM {}.run r WHERE r.id = $1", self.schema);
        self.one(sql, vec![int(id)], |row| run_of(row, 0))?.ok_or_else(|| no_run(id))
    }

    fn both(&self, id: i64) -> Result<(Run, Option<Live>)> {
        let sql = format!(
            "SELECT {1} FROM {0}.run r LEFT JOIN {0}.live l ON l.run = r.id WHERE r.id = $1",
            self.schema,
            both()
        );
        self.one(sql, vec![int(id)], |row| both_of(row, 0))?.ok_or_else(|| no_run(id))
    }

    fn named(&self, name: &str) -> Result<Option<i64>> {
        let sql = format!("SELECT id FROM {}.run WHERE name = $1", self.schema);
        self.one(sql, vec![text(name)], |row| get(row, 0))
    }

    fn of_key(&self, key: &[u8; RUN_KEY]) -> Result<Option<i64>> {
        let sql = format!("SELECT id FROM {}.run WHERE key = $1", self.schema);
        self.one(sql, vec![blob(key)], |row| get(row, 0))
    }

    fn page(&self, filter: &Filter, after: i64, most: usize) -> Result<Vec<Found>> {
        let (tables, condition, more) = filtered(&self.schema, filter);
        let sql =
            format!("SELECT {} FROM {tables} WHERE r.id > $1 AND {condition} ORDER BY r.id LIMIT $2", both());
        let mut params = vec![int(after), int(signed(most as u64))];
        let is_by_status = more.is_empty() && self::condition(filter.status).1;
        params.extend(more);
        let rows = if is_by_status { self.ask_in_order(sql, params)? } else { self.ask(sql, params)? };
        rows.iter().map(|row| Ok((get(row, 0)?, both_of(row, 0)))).collect()
    }

    fn before_newest(&self, filter: &Filter, newest: usize) -> Result<i64> {
        let (tables, condition, more) = filtered(&self.schema, filter);
        let sql = format!(
            "SELECT r.id FROM {tables} WHERE r.id > $1 AND {condition} ORDER BY r.id DESC LIMIT 1 OFFSET $2"
        );
        let mut params = vec![int(0), int(signed(newest as u64))];
        params.extend(more);
        Ok(self.one(sql, params, |row| get(row, 0))?.unwrap_or(0))
    }

    fn count(&self) -> Result<BTreeMap<&'static str, i64>> {
        let sql = format!(
            "SELECT state, count(*) FROM {0}.live GROUP BY state UNION ALL SELECT NULL, count(*) FROM {0}.run",
            self.schema
        );
        let (mut live, mut all) = (BTreeMap::new(), 0);
        for row in self.ask(sql, vec![])? {
            match get(&row, 0)? {
                Some(number) => drop(live.insert(number, get(&row, 1)?)),
                None => all = get(&row, 1)?,
            }
        }
        counted(all, &live)
    }

    fn unfinished(&self, subject: &str) -> Result<usize> {
        let sql = "SELECT count(*) FROM {s}.live l JOIN {s}.run r ON r.id = l.run WHERE r.subject = $1";
        self.number_of(sql, subject)
    }

    fn bytes_of(&self, subject: &str) -> Result<usize> {
        let sql = "SELECT (coalesce(sum(length(r.limits) + coalesce(length(r.outcome), 0) \
             + coalesce(length(l.snapshot), 0) + coalesce(length(l.answer), 0) + coalesce((SELECT \
             sum(length(d.detail)) FROM {s}.decision d WHERE d.run = r.id), 0)), 0) + (SELECT \
             coalesce(sum(length(p.bytes)), 0) FROM {s}.program p WHERE p.hash IN (SELECT program FROM {s}.run \
             WHERE subject = $1)))::bigint FROM {s}.run r LEFT JOIN {s}.live l ON l.run = r.id WHERE r.subject = $1";
        self.number_of(sql, subject)
    }

    fn continuable(&self, now: i64, after: i64, most: usize) -> Result<Vec<i64>> {
        self.heart.shared().settle();
        let sleeping = State::Sleeping.to_number();
        let sql = format!(
            "SELECT run FROM {0}.live WHERE run > $1 AND \
             (state IN ({1}) AND (owner IS NULL OR owner IN (SELECT id FROM {0}.owner WHERE gone) \
             OR owner NOT IN (SELECT id FROM {0}.owner)) \
             OR state = {sleeping} AND (wake IS NULL OR wake <= $2 OR since > $2 OR cancel)) ORDER BY run LIMIT $3",
            self.schema,
            numbers(State::is_for_owners)
        );
        let rows = self.ask(sql, vec![int(after), int(now), int(signed(most as u64))])?;
        rows.iter().map(|row| get(row, 0)).collect()
    }

    fn damaged(&self, each: &mut dyn FnMut(i64, Error)) -> Result<()> {
        let sql = format!(
            "SELECT id, 'record' FROM {0}.run r WHERE ended IS NULL AND NOT EXISTS \
             (SELECT 1 FROM {0}.live l WHERE l.run = r.id) \
             UNION ALL SELECT run, 'entry' FROM {0}.live l WHERE NOT EXISTS (SELECT 1 FROM {0}.run r WHERE r.id = l.run)",
            self.schema
        );
        for row in self.ask(sql, vec![])? {
            let (run, what): (i64, &str) = (get(&row, 0)?, get(&row, 1)?);
            each(run, Error::damaged(format!("the {what} of run {run} is missing")));
        }
        Ok(())
    }

    fn next_wake(&self) -> Result<Option<i64>> {
        let sql = format!("SELECT min(wake) FROM {}.live WHERE wake IS NOT NULL", self.schema);
        Ok(self.one(sql, vec![], |row| get(row, 0))?.flatten())
    }

    fn decisions(&self, run: i64, call: Option<u64>) -> Result<Vec<DecisionRow>> {
        let sql = format!(
            "SELECT {DECIDED} FROM {}.decision d WHERE d.run = $1 AND ($2 < 0 OR d.call = $2) \
             ORDER BY d.call, d.at, d.id",
            self.schema
        );
        let rows = self.ask(sql, vec![int(run), int(call.map_or(-1, signed))])?;
        rows.iter().map(decided_of).collect()
    }

    fn metadata(&self, run: i64) -> Result<BTreeMap<String, String>> {
        let sql = format!("SELECT name, value FROM {}.metadata WHERE run = $1", self.schema);
        self.ask(sql, vec![int(run)])?.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?))).collect()
    }

    fn program(&self, hash: &[u8; 32]) -> Result<Vec<u8>> {
        let sql = format!("SELECT bytes FROM {}.program WHERE hash = $1", self.schema);
        let found = self.one(sql, vec![blob(hash)], |row| get(row, 0))?;
        found.ok_or_else(|| Error::damaged("the program of a run is missing"))
    }

    fn setting(&self, name: &str) -> Result<Option<i64>> {
        let sql = format!("SELECT value FROM {}.setting WHERE name = $1", self.schema);
        let stored: Option<Vec<u8>> = self.one(sql, vec![text(name)], |row| get(row, 0))?;
        let number = |stored: Vec<u8>| {
            let number = <[u8; 8]>::try_from(stored).map(i64::from_le_bytes);
            number.map_err(|_| Error::damaged(format!("the setting `{name}`")))
        };
        stored.map(number).transpose()
    }

    fn settings(&self) -> Result<Vec<(String, Vec<u8>)>> {
        // Those of the journal itself stay; the one that recognizes its key goes along.
        let sql = format!("SELECT name, value FROM {}.setting WHERE name = 'check'", self.schema);
        self.ask(sql, vec![])?.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?))).collect()
    }

    fn shown(&self, owner: i64) -> Result<Option<String>> {
        let sql = format!("SELECT who FROM {}.owner WHERE id = $1", self.schema);
        self.one(sql, vec![int(owner)], |row| get(row, 0))
    }

    fn check(&self) -> Result<()> {
        let mut found = Vec::new();
        self.damaged(&mut |_, error| found.push(error))?;
        found.into_iter().next().map_or(Ok(()), Err)
    }
}
