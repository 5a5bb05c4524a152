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
pub(crate) use reads::both_of;
#[cfg(test)]
pub(crate) use schema::create;
#[cfg(test)]
pub(crate) use writer::transaction;

use crate::backend::{Alive, Backend, Decide, Filter, Found, Outcome, Ownership, Reads, Write, Written};
use crate::cipher::{Cipher, RUN_KEY};
use crate::clock;
use crate::error::{Error, Result};
use crate::queue::Ticket;
use crate::row::{DecisionRow, Live, Run};
#[cfg(not(test))]
use apply::{STATEMENTS, Tables};
use ilo_drive::locked::locked;
use owner::{Owner, Owners};
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::fs::File;
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

    fn reads(&self) -> &dyn Reads {
        self
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

impl Reads for Sqlite {
    fn run(&self, id: i64) -> Result<Run> {
        reads::run_of(&locked(&self.reader), id)
    }

    fn both(&self, id: i64) -> Result<(Run, Option<Live>)> {
        reads::both_of(&locked(&self.reader), id)
    }

    fn named(&self, name: &str) -> Result<Option<i64>> {
        reads::named(&locked(&self.reader), name)
    }

    fn of_key(&self, key: &[u8; RUN_KEY]) -> Result<Option<i64>> {
        reads::of_key(&locked(&self.reader), key)
    }

    fn page(&self, filter: &Filter, after: i64, most: usize) -> Result<Vec<Found>> {
        reads::page(&locked(&self.reader), filter, after, most)
    }

    fn before_newest(&self, filter: &Filter, newest: usize) -> Result<i64> {
        reads::before_newest(&locked(&self.reader), filter, newest)
    }

    fn metadata(&self, run: i64) -> Result<BTreeMap<String, String>> {
        reads::metadata(&locked(&self.reader), run)
    }

    fn count(&self) -> Result<BTreeMap<&'static str, i64>> {
        reads::count(&locked(&self.reader))
    }

    fn unfinished(&self, subject: &str) -> Result<usize> {
        reads::number_of(&locked(&self.reader), reads::UNFINISHED, subject)
    }

    fn bytes_of(&self, subject: &str) -> Result<usize> {
        reads::number_of(&locked(&self.reader), reads::BYTES, subject)
    }

    fn continuable(&self, now: i64, after: i64, most: usize) -> Result<Vec<i64>> {
        reads::continuable(&locked(&self.reader), now, after, most)
    }

    fn damaged(&self, each: &mut dyn FnMut(i64, Error)) -> Result<()> {
        reads::damaged(&locked(&self.reader), each)
    }

    fn next_wake(&self) -> Result<Option<i64>> {
        reads::next_wake(&locked(&self.reader))
    }

    fn decisions(&self, run: i64, call: Option<u64>) -> Result<Vec<DecisionRow>> {
        reads::decisions(&locked(&self.reader), run, call)
    }

    fn program(&self, hash: &[u8; 32]) -> Result<Vec<u8>> {
        reads::program_of(&locked(&self.reader), hash)
    }

    fn setting(&self, name: &str) -> Result<Option<i64>> {
        reads::setting(&locked(&self.reader), name)
    }

    fn settings(&self) -> Result<Vec<(String, Vec<u8>)>> {
        reads::settings(&locked(&self.reader))
    }

    fn check(&self) -> Result<()> {
        schema::check_pages(&locked(&self.reader))?;
        if reads::orphans(&locked(&self.reader))? > 0 {
            return Err(Error::damaged("a run under way has no entry"));
        }
        Ok(())
    }
}

impl Alive for Owners {
    fn lives(&self, id: i64) -> Result<bool> {
        Owners::lives(self, id)
    }

    fn shown(&self, id: i64) -> String {
        Owners::shown(self, id)
    }
}

impl Ownership for Owner {
    fn id(&self) -> i64 {
        self.id
    }

    fn lock(&self) -> Option<Result<File>> {
        Some(Owner::lock(self))
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
