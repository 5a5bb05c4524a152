//! Reads the tables: plain functions on a connection.

use super::row::{self, DECIDED, LIVE, RUN, RUN_COLUMNS};
use crate::backend::{Filter, Found, no_run};
use crate::cipher::RUN_KEY;
use crate::error::{Error, Result};
use crate::row::{DecisionRow, EXPORTED, Live, METADATA, Run, signed};
use crate::state::{STATES, State, Status};
use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, ToSql, params};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use xxhash_rust::xxh3::xxh3_64;

/// Reads the entry of a run.
pub(crate) fn run_of(connection: &Connection, id: i64) -> Result<Run> {
    let mut statement = connection.prepare_cached(&format!("SELECT {RUN} FROM run WHERE id = ?"))?;
    one(&mut statement, id, |row| row::run(row, 0))?.ok_or_else(|| no_run(id))
}

/// Reads the row of a run that has not ended.
pub(crate) fn live_of(connection: &Connection, id: i64) -> Result<Option<Live>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {LIVE} FROM live WHERE run = ?"))?;
    one(&mut statement, id, |row| row::live(row, 0))
}

/// Reads both, in one statement, because another process may end the run between two.
pub(crate) fn both_of(connection: &Connection, id: i64) -> Result<(Run, Option<Live>)> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {RUN}, {} FROM run LEFT JOIN live ON live.run = run.id WHERE run.id = ?",
        live_columns()
    ))?;
    one(&mut statement, id, |row| both(row, 0))?.ok_or_else(|| no_run(id))
}

/// The columns of `live` beside those of `run`.
fn live_columns() -> String {
    LIVE.split(", ").map(|column| format!("live.{}", column.trim())).collect::<Vec<_>>().join(", ")
}

/// Reads a row of both, the first column at `at`; they must agree on whether the run has ended.
fn both(row: &rusqlite::Row<'_>, at: usize) -> Result<(Run, Option<Live>)> {
    let run = row::run(row, at)?;
    let at = at + RUN_COLUMNS;
    let is_live = row.get::<_, Option<i64>>(at)?.is_some();
    let live = if is_live { Some(row::live(row, at)?) } else { None };
    if run.ended.is_some() == live.is_some() {
        return Err(Error::damaged(format!("run {} is neither under way nor has it ended", run.id)));
    }
    Ok((run, live))
}

fn one<T>(
    statement: &mut CachedStatement<'_>,
    id: i64,
    read: impl FnOnce(&rusqlite::Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut rows = statement.query([id])?;
    rows.next()?.map(read).transpose()
}

/// The number of the run with this name.
pub(crate) fn named(connection: &Connection, name: &str) -> Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM run WHERE name = ?")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

/// The number of the run with this key.
pub(crate) fn of_key(connection: &Connection, key: &[u8; RUN_KEY]) -> Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM run WHERE key = ?")?;
    Ok(statement.query_row([&key[..]], |row| row.get(0)).optional()?)
}

/// How many runs of a subject have not ended.
pub(crate) const UNFINISHED: &str =
    "SELECT count(*) FROM live CROSS JOIN run ON run.id = live.run WHERE run.subject = ?1";
/// How many bytes they take.
pub(crate) const BYTES: &str = "SELECT ifnull(sum(length(run.limits) + ifnull(length(run.outcome), 0) \
     + ifnull(length(live.snapshot), 0) + ifnull(length(live.answer), 0) \
     + ifnull((SELECT sum(length(detail)) FROM call WHERE call.run = run.id), 0)), 0) + (SELECT \
     ifnull(sum(length(bytes)), 0) FROM program WHERE hash IN (SELECT program FROM run WHERE subject = ?1)) \
     FROM run LEFT JOIN live ON live.run = run.id WHERE run.subject = ?1";

/// A number about the runs of a subject.
pub(crate) fn number_of(connection: &Connection, sql: &str, subject: &str) -> Result<usize> {
    let number: i64 = connection.prepare_cached(sql)?.query_row([subject], |row| row.get(0))?;
    Ok(usize::try_from(number).unwrap_or(0))
}

/// A setting of the journal that is a number; damage is never taken for one.
pub(crate) fn setting(connection: &Connection, name: &str) -> Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT value FROM setting WHERE name = ?")?;
    let stored: Option<Vec<u8>> = statement.query_row([name], |row| row.get(0)).optional()?;
    let Some(stored) = stored else { return Ok(None) };
    let number = stored.first_chunk().map(|number| i64::from_le_bytes(*number));
    number
        .filter(|number| sealed_setting(name, *number) == stored)
        .map(Some)
        .ok_or_else(|| Error::damaged(format!("the setting `{name}`")))
}

/// The stored form of a program.
pub(crate) fn program_of(connection: &Connection, hash: &[u8; 32]) -> Result<Vec<u8>> {
    let mut statement = connection.prepare_cached("SELECT bytes FROM program WHERE hash = ?")?;
    let stored: Option<Vec<u8>> = statement.query_row([&hash[..]], |row| row.get(0)).optional()?;
    stored.ok_or_else(|| Error::damaged("the program of a run is missing"))
}

/// The decisions on a run, or on one of its calls, in order.
pub(crate) fn decisions(connection: &Connection, run: i64, call: Option<u64>) -> Result<Vec<DecisionRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {DECIDED} FROM call WHERE run = ?1 AND (?2 IS NULL OR call = ?2) ORDER BY call, at"
    ))?;
    let mut rows = statement.query(params![run, call.map(signed)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(row::decided(row)?);
    }
    Ok(found)
}

/// The decisions on a call, or what is wrong with them, and the time of the last.
#[allow(clippy::type_complexity, reason = "two results, one of which may be of no interest")]
pub(crate) fn decided_of(
    connection: &Connection,
    run: i64,
    call: u64,
) -> Result<(Result<Vec<DecisionRow>>, Option<i64>)> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT {DECIDED} FROM call WHERE run = ? AND call = ? ORDER BY at"))?;
    let mut rows = statement.query(params![run, signed(call)])?;
    let (mut found, mut last) = (Ok(Vec::new()), None);
    while let Some(row) = rows.next()? {
        last = Some(row.get(2)?);
        found = found.and_then(|mut found: Vec<DecisionRow>| {
            found.push(row::decided(row)?);
            Ok(found)
        });
    }
    Ok((found, last))
}

/// All settings, in their stored form.
pub(crate) fn settings(connection: &Connection) -> Result<Vec<(String, Vec<u8>)>> {
    let mut statement = connection.prepare_cached("SELECT name, value FROM setting")?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Reads pages of runs with their rows, in the order of their numbers.
pub(crate) fn page(connection: &Connection, filter: &Filter, after: i64, most: usize) -> Result<Vec<Found>> {
    let (tables, condition, more) = filtered(filter);
    let most = signed(most as u64);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {RUN}, {} FROM {tables} WHERE run.id > ?1 AND {condition} ORDER BY run.id LIMIT ?2",
        live_columns()
    ))?;
    let mut values: Vec<&dyn ToSql> = vec![&after, &most];
    values.extend(more.iter().map(|value| value as &dyn ToSql));
    let mut rows = statement.query(&values[..])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((row.get(0)?, both(row, 0)));
    }
    Ok(found)
}

/// The tables, and the condition on their rows, of runs with this status.
fn chosen(status: Option<Status>) -> (&'static str, String) {
    let all = "run LEFT JOIN live ON live.run = run.id";
    // Fewer runs are under way than have ended.
    let under_way = "live CROSS JOIN run ON run.id = live.run";
    match status {
        None => (all, "true".to_owned()),
        Some(Status::Ended) => (all, "run.ended IS NOT NULL".to_owned()),
        Some(Status::Exported) => (under_way, format!("live.state >= {EXPORTED}")),
        Some(Status::In(state)) => {
            let same = STATES.into_iter().filter(|other| other.name() == state.name());
            let numbers: Vec<String> = same.map(|state| state.to_number().to_string()).collect();
            (under_way, format!("live.state IN ({})", numbers.join(", ")))
        }
    }
}

/// The tables, the condition and its values of the runs that a filter leaves. `?1` and `?2` belong to the
/// caller.
fn filtered(filter: &Filter) -> (&'static str, String, Vec<Value>) {
    let (tables, mut condition) = chosen(filter.status);
    let mut values = Vec::new();
    if let Some(name) = &filter.name {
        values.push(Value::Text(name.clone()));
        condition.push_str(" AND substr(run.name, 1, length(?3)) = ?3");
    }
    for (name, value) in &filter.metadata {
        values.push(Value::Blob(packed(&BTreeMap::from([(name.clone(), value.clone())]))));
        // Writing to a string does not fail.
        let _ = write!(
            condition,
            " AND EXISTS (SELECT 1 FROM call WHERE call.run = run.id AND call.call = 0 \
             AND call.what = '{METADATA}' AND instr(call.detail, ?{}) > 0)",
            2 + values.len()
        );
    }
    (tables, condition, values)
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

/// The metadata of a run.
pub(crate) fn metadata(connection: &Connection, run: i64) -> Result<BTreeMap<String, String>> {
    let rows = decisions(connection, run, Some(0))?;
    let row = rows.into_iter().find(|row| row.what == METADATA);
    row.map_or_else(|| Ok(BTreeMap::new()), |row| unpacked(&row.detail))
}

/// A number below those of the `newest` latest runs with this status.
pub(crate) fn before_newest(connection: &Connection, filter: &Filter, newest: usize) -> Result<i64> {
    let (tables, condition, more) = filtered(filter);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT run.id FROM {tables} WHERE run.id > ?2 AND {condition} ORDER BY run.id DESC LIMIT 1 OFFSET ?1"
    ))?;
    let newest = signed(newest as u64);
    let mut values: Vec<&dyn ToSql> = vec![&newest, &0_i64];
    values.extend(more.iter().map(|value| value as &dyn ToSql));
    let found: Option<i64> = statement.query_row(&values[..], |row| row.get(0)).optional()?;
    Ok(found.unwrap_or(0))
}

/// The number of runs of each status.
pub(crate) fn count(connection: &Connection) -> Result<BTreeMap<&'static str, i64>> {
    // Counted here: SQLite would sort them first.
    let mut numbers: BTreeMap<i64, i64> = BTreeMap::new();
    let mut statement = connection.prepare_cached("SELECT state FROM live")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        *numbers.entry(row.get(0)?).or_insert(0) += 1;
    }
    let (mut found, mut live) = (BTreeMap::new(), 0);
    for (number, count) in numbers {
        let state = State::from_number(number & !EXPORTED).ok_or_else(|| Error::damaged("a state"))?;
        let status = if number & EXPORTED == 0 { Status::In(state) } else { Status::Exported };
        *found.entry(status.name()).or_insert(0) += count;
        live += count;
    }
    let all: i64 = connection.query_row("SELECT count(*) FROM run", [], |row| row.get(0))?;
    found.insert(Status::Ended.name(), all - live);
    found.retain(|_, count| *count > 0);
    Ok(found)
}

/// The runs after this one that a process may take: those that wait for no person and no later time.
pub(crate) fn continuable(connection: &Connection, now: i64, after: i64, most: usize) -> Result<Vec<i64>> {
    let owners: Vec<String> = STATES
        .into_iter()
        .filter(|state| state.is_for_owners())
        .map(|state| state.to_number().to_string())
        .collect();
    let mut statement = connection.prepare_cached(&format!(
        "SELECT run FROM live WHERE run > ?1 AND (state IN ({}) OR state = ?2 AND \
         (wake IS NULL OR wake <= ?3 OR since > ?3 OR cancel <> 0)) ORDER BY run LIMIT ?4",
        owners.join(", ")
    ))?;
    let sleeping = State::Sleeping.to_number();
    let found = statement.query_map(params![after, sleeping, now, signed(most as u64)], |row| row.get(0))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Calls a function once with each run that has not ended and of which something cannot be read.
pub(crate) fn damaged(connection: &Connection, each: &mut dyn FnMut(i64, Error)) -> Result<()> {
    let mut told = BTreeSet::new();
    let mut tell = |run: i64, error: Error| {
        if told.insert(run) {
            each(run, error);
        }
    };
    // All of it as it was at one time.
    let reading = connection.unchecked_transaction()?;
    let rows =
        format!("SELECT live.run, {RUN}, {} FROM live CROSS JOIN run ON run.id = live.run", live_columns());
    let mut statement = reading.prepare(&rows)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Err(error) = both(row, 1) {
            tell(row.get(0)?, error);
        }
    }
    let alone = "SELECT id, ended IS NULL FROM run WHERE ended IS NULL AND id NOT IN (SELECT run FROM live) \
                 UNION ALL SELECT run, 2 FROM live WHERE run NOT IN (SELECT id FROM run)";
    let mut statement = reading.prepare(alone)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let run = row.get(0)?;
        let what = if row.get::<_, i64>(1)? == 1 { "record" } else { "entry" };
        tell(run, Error::damaged(format!("the {what} of run {run} is missing")));
    }
    let mut statement =
        reading.prepare(&format!("SELECT {DECIDED} FROM call WHERE run IN (SELECT run FROM live)"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Err(error) = row::decided(row) {
            tell(row.get(0)?, error);
        }
    }
    Ok(())
}

/// When the next run wakes, if one sleeps.
pub(crate) fn next_wake(connection: &Connection) -> Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT min(wake) FROM live WHERE state = ?")?;
    Ok(statement.query_row([State::Sleeping.to_number()], |row| row.get(0))?)
}

/// The number of rows of `live` without a run.
pub(crate) fn orphans(connection: &Connection) -> Result<i64> {
    Ok(connection.query_row(
        "SELECT count(*) FROM live WHERE run NOT IN (SELECT id FROM run)",
        [],
        |row| row.get(0),
    )?)
}

/// A number as a setting is stored: with a checksum.
pub(crate) fn sealed_setting(name: &str, number: i64) -> Vec<u8> {
    let number = number.to_le_bytes();
    let sum = xxh3_64(&[name.as_bytes(), &number[..]].concat());
    [number, sum.to_le_bytes()].concat()
}
