//! The schema of the database, and opening it.

use crate::cipher::{Cipher, Column};
use crate::error::{Error, ErrorCode, Result};
use rusqlite::config::DbConfig;
use rusqlite::{
    Connection, ErrorCode as Sqlite, OptionalExtension as _, Transaction, TransactionBehavior, params,
};
use std::thread;
use std::time::{Duration, Instant};

/// `iloj`, at the place where SQLite keeps the number of the application.
pub(crate) const APPLICATION: i32 = 0x696c_6f6a;
/// The version of the tables.
pub(crate) const VERSION: i32 = 2;
/// The oldest version that is read: opening brings it to [`VERSION`].
const OLDEST: i32 = 1;

/// The tables in the order of their names, as SQLite keeps their text.
const TABLES: [(&str, &str); 5] = [
    (
        "call",
        "CREATE TABLE call(run INTEGER NOT NULL, call INTEGER NOT NULL, at INTEGER NOT NULL, tool TEXT NOT NULL, \
         what TEXT NOT NULL, who TEXT NOT NULL, detail BLOB NOT NULL, sum INTEGER NOT NULL, \
         PRIMARY KEY(run, call, at)) WITHOUT ROWID",
    ),
    (
        "live",
        "CREATE TABLE live(run INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, owner INTEGER, state INTEGER NOT NULL, \
         call INTEGER NOT NULL, tool TEXT NOT NULL, policy INTEGER NOT NULL, digest INTEGER NOT NULL, \
         tries INTEGER NOT NULL, active_ms INTEGER NOT NULL, wake INTEGER, since INTEGER NOT NULL, \
         cancel INTEGER NOT NULL, snapshot BLOB NOT NULL, answer BLOB, sum INTEGER NOT NULL)",
    ),
    ("program", "CREATE TABLE program(hash BLOB PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID"),
    (
        "run",
        "CREATE TABLE run(id INTEGER PRIMARY KEY, key BLOB NOT NULL, name TEXT UNIQUE, input INTEGER NOT NULL, \
         program BLOB NOT NULL, function TEXT NOT NULL, limits BLOB NOT NULL, started INTEGER NOT NULL, \
         ended INTEGER, outcome BLOB, sum INTEGER NOT NULL, subject TEXT)",
    ),
    ("setting", "CREATE TABLE setting(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"),
];

/// What version 2 adds: the subject to whom a run belongs. SQLite puts the text of a column that is added at
/// the end of the table's text, so a table that was brought to this version looks like a new one.
const ADDED: (&str, &str, &str) = ("run", "subject TEXT", "ALTER TABLE run ADD COLUMN subject TEXT");

/// How long a statement waits for another process that writes.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pages up to which the whole file is checked whenever it is opened: milliseconds of work.
const CHECKED_PAGES: i64 = 1024;
/// What is encrypted to recognize a key.
const CHECK: &[u8] = b"ilo journal";

/// Settings of every connection.
pub(crate) fn prepare(connection: &Connection) -> Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Statements are not planned again for each new value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    // Nothing of a run goes to temporary files.
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Settings for durable commits and unreadable deleted rows.
pub(crate) fn make_durable(connection: &Connection) -> Result<()> {
    let mode = write_ahead(connection)?;
    if mode != "wal" && mode != "memory" {
        let message =
            format!("the journal's file system does not allow a write-ahead log (`{mode}` instead)");
        return Err(Error::new(ErrorCode::NetworkFileSystem, message));
    }
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    Ok(())
}

/// Turns the write-ahead log on, and gives the mode. SQLite does not wait for other connections here, as it
/// does elsewhere.
fn write_ahead(connection: &Connection) -> Result<String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let mode = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0));
        match mode {
            Err(error)
                if error.sqlite_error_code() == Some(Sqlite::DatabaseBusy) && Instant::now() < until =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            mode => return Ok(mode?),
        }
    }
}

/// Creates the tables where there are none.
pub(crate) fn create(connection: &Connection, cipher: &Cipher) -> Result<()> {
    // It takes the lock for writing at once: a transaction that reads first could not wait for it.
    let made = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let tables: i64 = made.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        for (_, table) in TABLES {
            made.execute_batch(table)?;
        }
        made.pragma_update(None, "application_id", APPLICATION)?;
        made.pragma_update(None, "user_version", VERSION)?;
        if cipher.has_key() {
            let check = cipher.seal(b"", 0, Column::Check, CHECK)?;
            made.execute("INSERT INTO setting VALUES ('check', ?)", params![check])?;
        }
    }
    made.commit()?;
    Ok(())
}

/// Brings the tables of an older version to this one; what is in them stays.
pub(crate) fn migrate(connection: &Connection) -> Result<()> {
    let version = version_of(connection)?;
    if version == VERSION || !(OLDEST..VERSION).contains(&version) {
        return Ok(());
    }
    check_tables(connection, version)?;
    let changed = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    if version_of(&changed)? == version {
        let (_, _, statement) = ADDED;
        changed.execute_batch(statement)?;
        changed.pragma_update(None, "user_version", VERSION)?;
    }
    changed.commit()?;
    Ok(())
}

fn version_of(connection: &Connection) -> Result<i32> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Checks that a database is a journal of this version, unharmed, and of this key.
pub(crate) fn check(connection: &Connection, cipher: &Cipher) -> Result<()> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if application != APPLICATION {
        return Err(Error::new(ErrorCode::NotAJournal, "the database belongs to another application"));
    }
    let version = version_of(connection)?;
    check_version(version)?;
    check_tables(connection, version)?;
    let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    if pages <= CHECKED_PAGES {
        check_pages(connection)?;
    }
    check_key(connection, cipher)
}

/// Refuses a version that this build does not read.
pub(crate) fn check_version(version: i32) -> Result<()> {
    if (OLDEST..=VERSION).contains(&version) {
        return Ok(());
    }
    let message =
        format!("the journal has version {version}; this release reads versions {OLDEST} to {VERSION}");
    if version > VERSION {
        return Err(Error::new(ErrorCode::NewerVersion, message));
    }
    Err(Error::damaged(message))
}

/// Only the expected tables: no trigger or view that would run.
fn check_tables(connection: &Connection, version: i32) -> Result<()> {
    let mut statement = connection.prepare(
        "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_autoindex_%' ORDER BY name",
    )?;
    let found = statement.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?.unwrap_or_default()))
    })?;
    let found: Vec<(String, String)> = found.collect::<rusqlite::Result<_>>()?;
    let (added, column, _) = ADDED;
    let expected = TABLES.map(|(name, table)| {
        let is_older = version < VERSION && name == added;
        let table = if is_older { table.replace(&format!(", {column}"), "") } else { table.to_owned() };
        (name.to_owned(), table)
    });
    if found != expected {
        return Err(Error::damaged("its tables are not those of a journal"));
    }
    Ok(())
}

/// Looks at every page.
pub(crate) fn check_pages(connection: &Connection) -> Result<()> {
    let found: String = connection.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
    if found == "ok" { Ok(()) } else { Err(Error::damaged(found.replace('\n', " "))) }
}

fn check_key(connection: &Connection, cipher: &Cipher) -> Result<()> {
    let stored: Option<Vec<u8>> = connection
        .query_row("SELECT value FROM setting WHERE name = 'check'", [], |row| row.get(0))
        .optional()?;
    let message = match (stored, cipher.has_key()) {
        (None, false) => return Ok(()),
        (None, true) => "the journal is not encrypted, and a key was given",
        (Some(_), false) => "the journal is encrypted, and no key was given",
        (Some(check), true) => match cipher.open(b"", 0, Column::Check, check) {
            Ok(found) if found == CHECK => return Ok(()),
            _ => "the journal was encrypted with another key",
        },
    };
    let error = Error::new(ErrorCode::Key, message);
    Err(if cipher.has_key() && message.contains("not encrypted") {
        error.remedy("leave the key out, or name a new journal")
    } else {
        error
    })
}
