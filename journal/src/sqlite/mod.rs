//! A journal in a file: SQLite, with owners that hold locks of files.

mod apply;
mod file;
mod owner;
pub(crate) mod portable;
mod reads;
mod row;
mod schema;
mod writer;

#[cfg(test)]
pub(crate) use apply::{STATEMENTS, Statements, Tables};
pub use file::{Access, access};
#[cfg(test)]
pub(crate) use schema::create;
#[cfg(test)]
pub(crate) use writer::transaction;

use crate::backend::{Backend, Decide, Outcome, Ownership, ReadAccess, Write, Written};
use crate::cipher::Cipher;
use crate::clock;
use crate::error::Result;
use crate::queue::Ticket;
use crate::row::Live;
#[cfg(not(test))]
use apply::{STATEMENTS, Tables};
use ilo_drive::locked::locked;
use owner::{Owner, Owners};
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use writer::Writer;

/// The most pages that SQLite allows.
const MOST_PAGES: u32 = 4_294_967_294;
/// The number of runs that are removed together.
const REMOVED: usize = 1000;

/// A journal in a file.
#[derive(Debug)]
pub(crate) struct Sqlite {
    writer: Writer,
    /// Reads while the writer writes.
    reader: Mutex<Connection>,
    owners: Owners,
    owner: Owner,
    path: PathBuf,
}

impl Sqlite {
    /// Opens the journal at a path, or creates it.
    pub(crate) fn open(path: &Path, create: bool, cipher: &Arc<Cipher>) -> Result<Sqlite> {
        let path = file::prepare(path, create)?;
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        if count_tables(&connection)? == 0 {
            schema::create(&connection, cipher)?;
        }
        schema::migrate(&connection)?;
        schema::check(&connection, cipher)?;
        schema::make_durable(&connection)?;
        let owners = Owners::of(&path)?;
        let owner = owners.join(cipher)?;
        let reader = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        reader.pragma_update(None, "query_only", true)?;
        let writer = Writer::start(Tables { connection, statements: STATEMENTS, now: clock::now })?;
        Ok(Sqlite { writer, reader: Mutex::new(reader), owners, owner, path })
    }
}

impl Backend for Sqlite {
    fn submit(&self, write: Write) -> Ticket<Written> {
        let order = write.order();
        self.writer.submit_of(order, move |tables| tables.write(&write))
    }

    fn later(&self, live: Live) {
        self.writer.later(live);
    }

    fn change(&self, run: i64, decide: Decide) -> Ticket<Outcome> {
        let owners = self.owners.clone();
        self.writer.submit(move |tables| tables.change(&owners, run, &decide))
    }

    fn reads(&self) -> ReadAccess<'_> {
        ReadAccess::File(locked(&self.reader))
    }

    fn owner(&self) -> &dyn Ownership {
        &self.owner
    }

    fn now(&self) -> i64 {
        clock::now()
    }

    fn version(&self) -> Result<i64> {
        let ticket = self.writer.submit(|tables| {
            Ok(tables.connection.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0))?)
        });
        ticket.block()
    }

    fn set(&self, settings: &[(&'static str, i64)]) -> Result<()> {
        let settings = settings.to_vec();
        let ticket = self
            .writer
            .submit(move |tables| settings.iter().try_for_each(|&(name, number)| tables.set(name, number)));
        ticket.block()
    }

    fn prune(&self, before: i64) -> Result<usize> {
        let mut removed = 0;
        loop {
            let now = self.writer.submit(move |tables| tables.prune(before, REMOVED)).block()?;
            removed += now;
            if now < REMOVED {
                break;
            }
        }
        if removed > 0 {
            // What was removed is not left in the log, unless somebody reads just now.
            drop(locked(&self.reader).pragma_query(None, "wal_checkpoint(truncate)", |_| Ok(())));
        }
        Ok(removed)
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn limit_pages(&self, most: Option<u32>) -> Result<()> {
        let most = most.unwrap_or(MOST_PAGES);
        let ticket = self.writer.submit(move |tables| {
            tables.connection.pragma_update_and_check(None, "max_page_count", most, |_| Ok(()))?;
            Ok(())
        });
        ticket.block()
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    schema::prepare(&connection)?;
    Ok(connection)
}

fn count_tables(connection: &Connection) -> Result<i64> {
    Ok(connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?)
}
