//! The tables of version 1, in a PostgreSQL schema of their own, and opening them.

use super::cluster;
use super::link::{Link, Statement, blob, int, text};
use super::rows::get;
use crate::cipher::{Cipher, Column};
use crate::error::{Error, ErrorCode, Result};
use std::time::Duration;
use tokio_postgres::Row;

/// The first version of the tables, which [`TABLES`] has.
const FIRST: i64 = 1;
/// The statements that bring the tables to the next version, from the first on. None has been needed yet.
const MIGRATIONS: &[&[&str]] = &[];
/// The oldest server, as servers number their releases.
const OLDEST: i64 = 140_000;
/// What is encrypted to recognize a key.
const CHECK: &[u8] = b"ilo journal";
/// The setting with it.
const CHECK_NAME: &str = "check";
/// The number of the lock under which tables are made and changed: `iloj`.
const LOCK: i64 = 0x696c_6f6a;

/// The tables. No index has a column that a step changes, and pages of `live` are half empty: so a step
/// leaves nothing behind that only a vacuum removes.
const TABLES: &[&str] = &[
    "CREATE TABLE {s}.meta(version bigint NOT NULL, installation bytea NOT NULL)",
    "CREATE TABLE {s}.setting(name text PRIMARY KEY, value bytea NOT NULL)",
    "CREATE TABLE {s}.owner(id bigint PRIMARY KEY, beat bigint NOT NULL, gone boolean NOT NULL, \
     ended boolean NOT NULL, who text NOT NULL, seen timestamptz NOT NULL)",
    "CREATE TABLE {s}.program(hash bytea PRIMARY KEY, bytes bytea NOT NULL)",
    "CREATE TABLE {s}.run(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key bytea NOT NULL UNIQUE, \
     name text UNIQUE, input bigint NOT NULL, program bytea NOT NULL, function text NOT NULL, \
     limits bytea NOT NULL, started bigint NOT NULL, ended bigint, outcome bytea, subject text, \
     epoch bigint NOT NULL)",
    "CREATE INDEX run_subject ON {s}.run(subject) WHERE subject IS NOT NULL",
    "CREATE INDEX run_ended ON {s}.run(ended) WHERE ended IS NOT NULL",
    "CREATE TABLE {s}.live(run bigint PRIMARY KEY, epoch bigint NOT NULL, owner bigint, was bigint, \
     state bigint NOT NULL, call bigint NOT NULL, tool text NOT NULL, policy bigint NOT NULL, \
     digest bigint NOT NULL, tries bigint NOT NULL, active_ms bigint NOT NULL, wake bigint, \
     since bigint NOT NULL, cancel boolean NOT NULL, snapshot bytea NOT NULL, answer bytea) \
     WITH (fillfactor = 50)",
    // Where the planner takes the table for empty, it can read the other index whole, and this one never.
    "CREATE INDEX live_run ON {s}.live USING hash (run)",
    "CREATE INDEX live_owner ON {s}.live(owner)",
    "CREATE INDEX live_wake ON {s}.live(wake) WHERE wake IS NOT NULL",
    "CREATE TABLE {s}.decision(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run bigint NOT NULL, \
     call bigint NOT NULL, at bigint NOT NULL, tool text NOT NULL, what text NOT NULL, who text NOT NULL, \
     detail bytea NOT NULL, token bytea NOT NULL UNIQUE)",
    "CREATE INDEX decision_run ON {s}.decision(run, call)",
    "CREATE TABLE {s}.metadata(run bigint NOT NULL, name text NOT NULL, value text NOT NULL, \
     PRIMARY KEY (run, name))",
    "CREATE INDEX metadata_value ON {s}.metadata(name, value)",
];

/// Opens the tables, or makes them. Returns what people should know. Another server than before is refused
/// unless the caller accepts it.
pub(crate) fn open(link: &mut Link, create: bool, cipher: &Cipher, accepts: bool) -> Result<Vec<String>> {
    let mut warnings = look(link)?;
    let schema = link.target().schema.clone();
    let once = |_: Duration| false;
    let is_there = format!("SELECT to_regclass('{schema}.meta') IS NOT NULL");
    let found = link.send(&[Statement::new(is_there, vec![])], once)?;
    if !get::<bool>(first(&found, 0)?, 0)? {
        if !create {
            let message = format!("{}: there is no journal in the schema {schema}", link.target().shown);
            return Err(Error::new(ErrorCode::CannotOpen, message)
                .remedy("check the name of the database and its `schema`"));
        }
        make(link, &schema, cipher)?;
    }
    let version = migrate(link, &schema, MIGRATIONS)?;
    check(link, &schema, version, cipher)?;
    if !accepts {
        warnings.extend(cluster::check(link, &schema)?);
    }
    Ok(warnings)
}

fn first(found: &[Vec<Row>], at: usize) -> Result<&Row> {
    let row = found.get(at).and_then(|rows| rows.first());
    row.ok_or_else(|| Error::damaged("a row is missing"))
}

/// Whether the server keeps what it acknowledges.
fn look(link: &mut Link) -> Result<Vec<String>> {
    let shown = link.target().shown.clone();
    let settings = "SELECT current_setting('server_version_num')::int8, pg_is_in_recovery(), \
                    current_setting('fsync') = 'on', current_setting('data_checksums') = 'on', \
                    current_setting('default_transaction_read_only') = 'on', \
                    current_setting('full_page_writes') = 'on'";
    let found = link.send(&[Statement::new(settings, vec![])], |_| false)?;
    let row = first(&found, 0)?;
    let version: i64 = get(row, 0)?;
    if version < OLDEST {
        let message =
            format!("{shown}: the server has version {}; expected 14 or a later one", version / 10_000);
        return Err(Error::new(ErrorCode::CannotOpen, message).remedy("use a newer server"));
    }
    if get(row, 1)? || get(row, 4)? {
        let message = format!("{shown}: the server is a replica, or takes no writes");
        return Err(Error::new(ErrorCode::ReadOnly, message).remedy("name the server that takes writes"));
    }
    if !get::<bool>(row, 2)? || !get::<bool>(row, 5)? {
        let message = format!("{shown}: the server runs with `fsync` or `full_page_writes` off");
        return Err(Error::new(ErrorCode::CannotOpen, message)
            .remedy("turn it on: a loss of power would lose calls that were made"));
    }
    let mut warnings = Vec::new();
    if !get::<bool>(row, 3)? {
        warnings.push(format!(
            "{shown}: the server runs without `data_checksums`: damage of its disk is not seen"
        ));
    }
    Ok(warnings)
}

/// Begins a transaction beside which no other one makes or changes tables.
fn alone() -> Vec<Statement> {
    let locked = Statement::new("SELECT pg_advisory_xact_lock($1)", vec![int(LOCK)]);
    vec![Statement::plain("BEGIN ISOLATION LEVEL READ COMMITTED"), locked]
}

/// Brings the tables to the last version, each step in a transaction of its own. Returns their version, which
/// is another one if this release cannot read them.
fn migrate(link: &mut Link, schema: &str, migrations: &[&[&str]]) -> Result<i64> {
    loop {
        let found = version(link, schema)?;
        let step = found.checked_sub(FIRST).and_then(|at| migrations.get(usize::try_from(at).ok()?));
        let Some(step) = step else { return Ok(found) };
        let mut statements = alone();
        // Where another process was faster, the division ends the transaction.
        statements.push(Statement::new(
            format!("UPDATE {schema}.meta SET version = version + 1 / (version = $1)::int"),
            vec![int(found)],
        ));
        statements.extend(step.iter().map(|sql| Statement::new(sql.replace("{s}", schema), vec![])));
        statements.push(Statement::plain("COMMIT"));
        if let Err(error) = link.send(&statements, |_| false)
            && version(link, schema)? == found
        {
            return Err(error);
        }
    }
}

/// The version of the tables.
fn version(link: &mut Link, schema: &str) -> Result<i64> {
    let found =
        link.send(&[Statement::new(format!("SELECT version FROM {schema}.meta"), vec![])], |_| false)?;
    get(first(&found, 0)?, 0)
}

/// Makes the tables where there are none.
fn make(link: &mut Link, schema: &str, cipher: &Cipher) -> Result<()> {
    let installation: [u8; 16] = cipher.random()?;
    let mut statements = alone();
    statements.push(Statement::new(format!("CREATE SCHEMA IF NOT EXISTS {schema}"), vec![]));
    statements.extend(TABLES.iter().map(|table| Statement::new(table.replace("{s}", schema), vec![])));
    let meta = format!("INSERT INTO {schema}.meta VALUES ($1, $2)");
    statements.push(Statement::new(meta, vec![int(FIRST), blob(&installation)]));
    if cipher.has_key() {
        let check = cipher.seal(b"", 0, Column::Check, CHECK)?;
        let insert = format!("INSERT INTO {schema}.setting VALUES ($1, $2)");
        statements.push(Statement::new(insert, vec![text(CHECK_NAME), blob(&check)]));
    }
    statements.push(Statement::new("COMMIT", vec![]));
    match link.send(&statements, |_| false) {
        Ok(_) => Ok(()),
        Err(error) => {
            // Another process may have been faster.
            let is_there = format!("SELECT to_regclass('{schema}.meta') IS NOT NULL");
            let found = link.send(&[Statement::new(is_there, vec![])], |_| false)?;
            if get::<bool>(first(&found, 0)?, 0)? { Ok(()) } else { Err(error) }
        }
    }
}

/// Checks that this release reads tables of a version, and that they have this key.
fn check(link: &mut Link, schema: &str, version: i64, cipher: &Cipher) -> Result<()> {
    let expected = MIGRATIONS.iter().fold(FIRST, |version, _| version + 1);
    let statements = [
        Statement::new(format!("SELECT value FROM {schema}.setting WHERE name = $1"), vec![text(CHECK_NAME)]),
        // A role that may read but not write learns it now.
        Statement::new(
            "SELECT has_table_privilege($1, 'INSERT') AND has_table_privilege($1, 'UPDATE') AND \
             has_table_privilege($1, 'DELETE')",
            vec![text(&format!("{schema}.live"))],
        ),
    ];
    let found = link.send(&statements, |_| false)?;
    let shown = &link.target().shown;
    if version != expected {
        let message =
            format!("{shown}: the tables have version {version}; this release reads version {expected}");
        let code = if version > expected { ErrorCode::NewerVersion } else { ErrorCode::Damaged };
        return Err(Error::new(code, message));
    }
    if !get::<bool>(first(&found, 1)?, 0)? {
        let message = format!("{shown}: the role may not write to the tables of the schema {schema}");
        return Err(Error::new(ErrorCode::ReadOnly, message)
            .remedy("let the role read and write all tables of the schema"));
    }
    let stored = found.first().and_then(|rows| rows.first()).map(|row| get::<Vec<u8>>(row, 0)).transpose()?;
    let is_own = |check: Vec<u8>| cipher.open(b"", 0, Column::Check, check).is_ok_and(|found| found == CHECK);
    let message = match (stored, cipher.has_key()) {
        (None, false) => return Ok(()),
        (Some(check), true) if is_own(check.clone()) => return Ok(()),
        (None, true) => {
            return Err(Error::new(ErrorCode::Key, "the journal is not encrypted, and a key was given")
                .remedy("leave the key out, or name another schema"));
        }
        (Some(_), false) => "the journal is encrypted, and no key was given",
        (Some(_), true) => "the journal was encrypted with another key",
    };
    Err(Error::new(ErrorCode::Key, message))
}

#[cfg(test)]
mod tests {
    use super::{check, migrate, open, version};
    use crate::cipher::Cipher;
    use crate::error::ErrorCode;
    use crate::postgres::link::Link;
    use crate::postgres::target::Target;
    use crate::tests::simulation::server::Server;
    use std::sync::Arc;

    #[test]
    fn each_step_to_a_newer_version_is_made_once_and_whole_or_not_at_all() {
        let Some(server) = Server::start() else { return };
        let target = Arc::new(Target::read(server.address_of("steps", "").to_str().unwrap()).unwrap());
        let connect = || Link::open(&target, &Arc::default()).unwrap();
        let (mut link, cipher) = (connect(), Cipher::new(None));
        open(&mut link, true, &cipher, false).unwrap();
        let steps: &[&[&str]] = &[
            &["CREATE TABLE {s}.made(at bigint)", "INSERT INTO {s}.made VALUES (1)"],
            &["INSERT INTO {s}.made VALUES (2)"],
        ];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(migrate(&mut connect(), "steps", steps), Ok(3)));
            }
        });
        assert_eq!(server.sql("SELECT string_agg(at::text, ' ') FROM steps.made"), "1 2");
        // A step that fails leaves nothing.
        let more = [steps, &[&["INSERT INTO {s}.made VALUES (3)", "SELECT 1 / 0"][..]]].concat();
        assert!(migrate(&mut link, "steps", &more).is_err());
        assert_eq!(version(&mut link, "steps"), Ok(3));
        assert_eq!(server.sql("SELECT count(*) FROM steps.made"), "2");
        // An older release says so, and changes nothing.
        assert_eq!(migrate(&mut link, "steps", &steps[..1]), Ok(3));
        assert_eq!(check(&mut link, "steps", 3, &cipher).unwrap_err().code, ErrorCode::NewerVersion);
    }
}
