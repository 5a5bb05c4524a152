//! Which server it is. A standby that took over, or a server that was restored, may lack records that were
//! acknowledged, and calls would be made twice without anybody knowing: it is refused until a person says so.

use super::link::{Link, Statement, blob, int, text};
use super::rows::get;
use super::target::Target;
use crate::error::{Error, ErrorCode, Result};
use crate::state::State;
use std::time::Duration;
use tokio_postgres::Row;

/// The setting with the server that the journal knows.
const NAME: &str = "cluster";

/// What a server has that no other one has, and its history of take-overs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cluster {
    system: i64,
    timeline: i64,
}

impl Cluster {
    fn to_bytes(self) -> Vec<u8> {
        [self.system.to_le_bytes(), self.timeline.to_le_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Result<Cluster> {
        let number =
            |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk).map(|part| i64::from_le_bytes(*part));
        match (number(0), number(8)) {
            (Some(system), Some(timeline)) => Ok(Cluster { system, timeline }),
            _ => Err(Error::damaged("the server that the journal knows")),
        }
    }

    /// Stores it as the server of the journal.
    fn keep(self, schema: &str) -> Statement {
        let sql = format!(
            "INSERT INTO {schema}.setting VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        );
        Statement::new(sql, vec![text(NAME), blob(&self.to_bytes())])
    }

    /// Refuses a server that is not this one.
    pub(crate) fn expect(self, found: Cluster, target: &Target) -> Result<()> {
        if found == self || target.is_synchronous && found.system == self.system {
            return Ok(());
        }
        let what = if found.system == self.system {
            "a standby has taken over, or it was restored"
        } else {
            "it is another one"
        };
        let message =
            format!("{}: the server is not the one that the journal was written with: {what}", target.shown);
        Err(Error::new(ErrorCode::FailedOver, message))
    }
}

/// Asks which server it is. A server that is still a standby has no timeline of its own.
pub(crate) fn ask() -> Statement {
    let sql = "SELECT system_identifier, CASE WHEN NOT pg_is_in_recovery() THEN \
               ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int8 END \
               FROM pg_control_system()";
    Statement::new(sql, vec![])
}

/// The answer to [`ask`]; nothing from a standby.
pub(crate) fn of(row: &Row) -> Result<Option<Cluster>> {
    let (system, timeline): (i64, Option<i64>) = (get(row, 0)?, get(row, 1)?);
    Ok(timeline.map(|timeline| Cluster { system, timeline }))
}

/// Compares the server with the one that the journal knows, which is this one from the first time on. Gives a
/// warning where the role may not ask.
pub(crate) fn check(link: &mut Link, schema: &str) -> Result<Option<String>> {
    let once = |_: Duration| false;
    let functions = ["pg_control_system()", "pg_walfile_name(pg_lsn)", "pg_current_wal_insert_lsn()"];
    let may =
        functions.map(|function| format!("has_function_privilege('{function}', 'EXECUTE')")).join(" AND ");
    let stored =
        Statement::new(format!("SELECT value FROM {schema}.setting WHERE name = $1"), vec![text(NAME)]);
    let found = link.send(&[Statement::new(format!("SELECT {may}"), vec![]), stored], once)?;
    let [allowed, known] = found.as_slice() else { return Err(Error::other()) };
    if !allowed.first().map_or(Ok(false), |row| get(row, 0))? {
        let shown = &link.target().shown;
        return Ok(Some(format!(
            "{shown}: the role may not call `pg_control_system()`, so that a standby that takes over is not recognized"
        )));
    }
    let known = known.first().map(|row| Cluster::from_bytes(get(row, 0)?)).transpose()?;
    let found = link.send(&[ask()], once)?;
    let Some(own) = found.iter().flatten().next().map(of).transpose()?.flatten() else {
        return Err(Error::other());
    };
    if let Some(known) = known {
        known.expect(own, link.target())?;
    }
    if known != Some(own) {
        link.send(&[own.keep(schema)], once)?;
    }
    // A connection that is made again compares too.
    let _ = link.target().cluster.set(own);
    Ok(None)
}

/// Takes this server for that of the journal, and puts in doubt the calls that were begun, also those that
/// would be made again: records of what came after may be lost. Returns how many. No process owns a run any
/// more.
pub(crate) fn accept(link: &mut Link, schema: &str, now: i64) -> Result<usize> {
    let found = link.send(&[ask()], |_| false)?;
    let Some(own) = found.iter().flatten().next().map(of).transpose()?.flatten() else {
        return Err(Error::other());
    };
    let sql = format!(
        "UPDATE {schema}.live SET state = {}, owner = NULL, was = NULL, wake = NULL, answer = NULL, epoch = epoch + 1, \
         since = $1 WHERE (state = {} OR state = {} AND owner IS NOT NULL) AND policy & 3 <> 0 RETURNING run",
        State::Doubt.to_number(),
        State::Calling.to_number(),
        State::Ready.to_number(),
    );
    let statements = [
        Statement::new("BEGIN ISOLATION LEVEL READ COMMITTED", vec![]),
        Statement::new(format!("UPDATE {schema}.owner SET gone = true, ended = true"), vec![]),
        Statement::new(sql, vec![int(now)]),
        own.keep(schema),
        Statement::new("COMMIT", vec![]),
    ];
    Ok(link.send(&statements, |_| false)?.get(2).map_or(0, Vec::len))
}
