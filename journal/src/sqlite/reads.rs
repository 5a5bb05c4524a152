//! Reads the tables.

use super::row::{DECIDED, both};
use super::schema::check_pages;
use crate::backend::{Filter, Found, Reads, no_run};
use crate::cipher::RUN_KEY;
use crate::error::{Error, Result};
use crate::row::{
    DecisionRow, Live, METADATA, RUN, Run, both_of, condition, counted, decided_of, numbers, run_of, signed,
};
use crate::state::State;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use xxhash_rust::xxh3::xxh3_64;

/// The first row of a statement.
fn first<T>(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    rows.next()?.map(read).transpose()
}

/// All rows of a statement.
fn all<T>(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// A column of the first row, if there is one.
fn value<T: rusqlite::types::FromSql>(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<Option<T>> {
    Ok(connection.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?)
}

/// A number about the runs of a subject.
fn number_of(connection: &Connection, sql: &str, subject: &str) -> Result<usize> {
    let number: Option<i64> = value(connection, sql, [subject])?;
    Ok(number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0))
}

/// The decisions on a call, or what is wrong with them, and the time of the last.
#[allow(clippy::type_complexity, reason = "two results, one of which may be of no interest")]
pub(crate) fn decided(
    connection: &Connection,
    run: i64,
    call: u64,
) -> Result<(Result<Vec<DecisionRow>>, Option<i64>)> {
    let sql = format!("SELECT {DECIDED} FROM call WHERE run = ? AND call = ? ORDER BY at");
    let rows = all(connection, &sql, params![run, signed(call)], |row| Ok((row.get(2)?, decided_of(row))))?;
    let last = rows.last().map(|(at, _)| *at);
    Ok((rows.into_iter().map(|(_, row)| row).collect(), last))
}

/// The tables, the condition and its values of the runs that a filter leaves. `?1` and `?2` belong to the
/// caller.
fn filtered(filter: &Filter) -> (&'static str, String, Vec<Value>) {
    let (mut condition, is_under_way) = condition(filter.status);
    // Fewer runs are under way than have ended.
    let tables = if is_under_way {
        "live l CROSS JOIN run r ON r.id = l.run"
    } else {
        "run r LEFT JOIN live l ON l.run = r.id"
    };
    let mut values = Vec::new();
    if let Some(name) = &filter.name {
        values.push(Value::Text(name.clone()));
        condition.push_str(" AND substr(r.name, 1, length(?3)) = ?3");
    }
    for (name, value) in &filter.metadata {
        values.push(Value::Blob(packed(&BTreeMap::from([(name.clone(), value.clone())]))));
        // Writing to a string does not fail.
        let _ = write!(
            condition,
            " AND EXISTS (SELECT 1 FROM call WHERE call.run = r.id AND call.call = 0 \
             AND call.what = '{METADATA}' AND instr(call.detail, ?{}) > 0)",
            2 + values.len()
        );
    }
    (tables, condition, values)
}

/// The values of a statement: first those of the caller.
fn with<'v>(own: [&'v dyn ToSql; 2], more: &'v [Value]) -> Vec<&'v dyn ToSql> {
    own.into_iter().chain(more.iter().map(|value| value as &dyn ToSql)).collect()
}

/// Metadata as bytes: before each name and after the last value is a 0, between a name and its value a 1.
pub(crate) fn packed(metadata: &BTreeMap<String, String>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in metadata {
        bytes.push(0);
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(1);
        bytes.extend_from_slice(value.as_bytes());
    }
    bytes.push(0);
    bytes
}

/// Metadata from bytes.
pub(crate) fn unpacked(bytes: &[u8]) -> Result<BTreeMap<String, String>> {
    let refused = || Error::damaged("the metadata of a run");
    let text = std::str::from_utf8(bytes).map_err(|_| refused())?;
    let inner = text.strip_prefix('\0').and_then(|text| text.strip_suffix('\0')).ok_or_else(refused)?;
    let pair = |part: &str| {
        let (name, value) = part.split_once('\u{1}').ok_or_else(refused)?;
        Ok((name.to_owned(), value.to_owned()))
    };
    inner.split('\0').map(pair).collect()
}

impl Reads for Connection {
    fn run(&self, id: i64) -> Result<Run> {
        let sql = format!("SELECT {RUN}, r.sum FROM run r WHERE r.id = ?");
        first(self, &sql, [id], |row| run_of(row, 0))?.ok_or_else(|| no_run(id))
    }

    fn both(&self, id: i64) -> Result<(Run, Option<Live>)> {
        // In one statement, because another process may end the run between two.
        let sql = format!("SELECT {} FROM run r LEFT JOIN live l ON l.run = r.id WHERE r.id = ?", both());
        first(self, &sql, [id], |row| both_of(row, 0))?.ok_or_else(|| no_run(id))
    }

    fn named(&self, name: &str) -> Result<Option<i64>> {
        value(self, "SELECT id FROM run WHERE name = ?", [name])
    }

    fn of_key(&self, key: &[u8; RUN_KEY]) -> Result<Option<i64>> {
        value(self, "SELECT id FROM run WHERE key = ?", [&key[..]])
    }

    fn page(&self, filter: &Filter, after: i64, most: usize) -> Result<Vec<Found>> {
        let (tables, condition, more) = filtered(filter);
        let sql =
            format!("SELECT {} FROM {tables} WHERE r.id > ?1 AND {condition} ORDER BY r.id LIMIT ?2", both());
        let both = |row: &Row<'_>| Ok((row.get(0)?, both_of(row, 0)));
        all(self, &sql, &with([&after, &signed(most as u64)], &more)[..], both)
    }

    fn before_newest(&self, filter: &Filter, newest: usize) -> Result<i64> {
        let (tables, condition, more) = filtered(filter);
        let sql = format!(
            "SELECT r.id FROM {tables} WHERE r.id > ?2 AND {condition} ORDER BY r.id DESC LIMIT 1 OFFSET ?1"
        );
        Ok(value(self, &sql, &with([&signed(newest as u64), &0], &more)[..])?.unwrap_or(0))
    }

    fn count(&self) -> Result<BTreeMap<&'static str, i64>> {
        // Counted here: SQLite would sort them first.
        let mut live: BTreeMap<i64, i64> = BTreeMap::new();
        for number in all(self, "SELECT state FROM live", [], |row| Ok(row.get(0)?))? {
            *live.entry(number).or_insert(0) += 1;
        }
        counted(value(self, "SELECT count(*) FROM run", [])?.unwrap_or(0), &live)
    }

    fn unfinished(&self, subject: &str) -> Result<usize> {
        let sql = "SELECT count(*) FROM live CROSS JOIN run ON run.id = live.run WHERE run.subject = ?1";
        number_of(self, sql, subject)
    }

    fn bytes_of(&self, subject: &str) -> Result<usize> {
        let sql = "SELECT ifnull(sum(length(run.limits) + ifnull(length(run.outcome), 0) \
             + ifnull(length(live.snapshot), 0) + ifnull(length(live.answer), 0) \
             + ifnull((SELECT sum(length(detail)) FROM call WHERE call.run = run.id), 0)), 0) + (SELECT \
             ifnull(sum(length(bytes)), 0) FROM program WHERE hash IN (SELECT program FROM run WHERE subject = ?1)) \
             FROM run LEFT JOIN live ON live.run = run.id WHERE run.subject = ?1";
        number_of(self, sql, subject)
    }

    fn continuable(&self, now: i64, after: i64, most: usize) -> Result<Vec<i64>> {
        let sql = format!(
            "SELECT run FROM live WHERE run > ?1 AND (state IN ({}) OR state = ?2 AND \
             (wake IS NULL OR wake <= ?3 OR since > ?3 OR cancel <> 0)) ORDER BY run LIMIT ?4",
            numbers(State::is_for_owners)
        );
        let values = params![after, State::Sleeping.to_number(), now, signed(most as u64)];
        all(self, &sql, values, |row| Ok(row.get(0)?))
    }

    fn damaged(&self, each: &mut dyn FnMut(i64, Error)) -> Result<()> {
        let mut told = BTreeSet::new();
        let mut tell = |run: i64, error: Error| {
            if told.insert(run) {
                each(run, error);
            }
        };
        // All of it as it was at one time.
        let reading = self.unchecked_transaction()?;
        let rows = format!("SELECT l.run, {} FROM live l CROSS JOIN run r ON r.id = l.run", both());
        all(&reading, &rows, [], |row| {
            if let Err(error) = both_of(row, 1) {
                tell(row.get(0)?, error);
            }
            Ok(())
        })?;
        let alone = "SELECT id, 'record' FROM run WHERE ended IS NULL AND id NOT IN (SELECT run FROM live) \
                     UNION ALL SELECT run, 'entry' FROM live WHERE run NOT IN (SELECT id FROM run)";
        all(&reading, alone, [], |row| {
            let (run, what): (i64, String) = (row.get(0)?, row.get(1)?);
            tell(run, Error::damaged(format!("the {what} of run {run} is missing")));
            Ok(())
        })?;
        let rows = format!("SELECT {DECIDED} FROM call WHERE run IN (SELECT run FROM live)");
        all(&reading, &rows, [], |row| {
            if let Err(error) = decided_of(row) {
                tell(row.get(0)?, error);
            }
            Ok(())
        })?;
        Ok(())
    }

    fn next_wake(&self) -> Result<Option<i64>> {
        let sleeping = [State::Sleeping.to_number()];
        Ok(value(self, "SELECT min(wake) FROM live WHERE state = ?", sleeping)?.flatten())
    }

    fn decisions(&self, run: i64, call: Option<u64>) -> Result<Vec<DecisionRow>> {
        let sql = format!(
            "SELECT {DECIDED} FROM call WHERE run = ?1 AND (?2 IS NULL OR call = ?2) ORDER BY call, at"
        );
        all(self, &sql, params![run, call.map(signed)], |row| decided_of(row))
    }

    fn metadata(&self, run: i64) -> Result<BTreeMap<String, String>> {
        let row = self.decisions(run, Some(0))?.into_iter().find(|row| row.what == METADATA);
        row.map_or_else(|| Ok(BTreeMap::new()), |row| unpacked(&row.detail))
    }

    fn program(&self, hash: &[u8; 32]) -> Result<Vec<u8>> {
        let stored = value(self, "SELECT bytes FROM program WHERE hash = ?", [&hash[..]])?;
        stored.ok_or_else(|| Error::damaged("the program of a run is missing"))
    }

    fn setting(&self, name: &str) -> Result<Option<i64>> {
        let stored: Option<Vec<u8>> = value(self, "SELECT value FROM setting WHERE name = ?", [name])?;
        let Some(stored) = stored else { return Ok(None) };
        let number = stored.first_chunk().map(|number| i64::from_le_bytes(*number));
        // Damage is never taken for a number.
        number
            .filter(|number| sealed_setting(name, *number) == stored)
            .map(Some)
            .ok_or_else(|| Error::damaged(format!("the setting `{name}`")))
    }

    fn settings(&self) -> Result<Vec<(String, Vec<u8>)>> {
        all(self, "SELECT name, value FROM setting", [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn check(&self) -> Result<()> {
        check_pages(self)?;
        let orphans = "SELECT count(*) FROM live WHERE run NOT IN (SELECT id FROM run)";
        match value(self, orphans, [])? {
            Some(0) => Ok(()),
            _ => Err(Error::damaged("a run under way has no entry")),
        }
    }
}

/// A number as a setting is stored: with a checksum.
pub(crate) fn sealed_setting(name: &str, number: i64) -> Vec<u8> {
    let number = number.to_le_bytes();
    let sum = xxh3_64(&[name.as_bytes(), &number[..]].concat());
    [number, sum.to_le_bytes()].concat()
}
