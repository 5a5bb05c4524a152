//! Exports and imports runs: an exported run is a database with the same tables and only this run.

use super::apply::{STATEMENTS, Tables};
use super::schema;
use crate::answer::Answer;
use crate::backend::{Exported, Filter, Reads as _};
use crate::cipher::{Cipher, Column};
use crate::clock;
use crate::decide::hold;
use crate::error::{Error, ErrorCode, Result};
use crate::row::METADATA;
use rusqlite::{Connection, params};

/// The largest file that is imported.
const LARGEST: usize = 1 << 30;

/// Writes a run as the bytes of a database with only this run.
pub(crate) fn write(exported: &Exported) -> Result<Vec<u8>> {
    let Exported { run, live, decisions, program, metadata, settings } = exported;
    let target = Connection::open_in_memory()?;
    schema::prepare(&target)?;
    schema::create(&target, &Cipher::new(None))?;
    for (name, value) in settings {
        target.execute("INSERT INTO setting VALUES (?, ?)", params![name, value])?;
    }
    target.execute("INSERT INTO program VALUES (?, ?)", params![&run.program[..], program])?;
    let mut copied = Tables { connection: target, statements: STATEMENTS, now: clock::now };
    copied.insert_run(run)?;
    if let Some(live) = live {
        copied.insert_live(live)?;
    }
    for decided in decisions {
        copied.insert_decision(decided)?;
    }
    copied.insert_metadata(run, metadata)?;
    Ok(copied.connection.serialize("main")?.to_vec())
}

/// Reads the bytes of an exported run. All of them are validated.
pub(crate) fn read(bytes: &[u8], cipher: &Cipher) -> Result<Exported> {
    let refused = |message: &str| {
        Error::new(ErrorCode::NotAJournal, message).remedy("give a file that `runs export` has written")
    };
    if bytes.len() > LARGEST || !bytes.starts_with(b"SQLite format 3\0") {
        return Err(refused("the file is not an exported run"));
    }
    // The header of a file with a write-ahead log, which an exported run never has.
    if bytes.get(18..20).is_some_and(|formats| formats.contains(&2)) {
        return Err(refused("the file is a journal, and not an exported run"));
    }
    let mut source = Connection::open_in_memory()?;
    schema::prepare(&source)?;
    source.deserialize_read_exact("main", bytes, bytes.len(), false)?;
    schema::migrate(&source)?;
    schema::check(&source, cipher)?;
    schema::check_pages(&source)?;
    let page = source.page(&Filter::default(), 0, 2)?;
    let Ok([(_, found)]) = <[_; 1]>::try_from(page) else {
        return Err(refused("the file holds no run, or several; export each by itself"));
    };
    let (run, live) = found?;
    let program = source.program(&run.program)?;
    cipher.program(&run.program, program.clone())?;
    let metadata = source.metadata(run.id)?;
    let mut decisions = source.decisions(run.id, None)?;
    decisions.retain(|row| row.what != METADATA);
    if let Some(live) = &live {
        if let Some(answer) = live.answer.clone() {
            let answer = cipher.open(&run.key, live.call, Column::Answer, answer)?;
            hold(cipher, (&run, live), &decisions, &Answer::from_bytes(&answer)?)?;
        }
        cipher.open(&run.key, live.call, Column::Snapshot, live.snapshot.clone())?;
    }
    Ok(Exported { run, live, decisions, program, metadata, settings: Vec::new() })
}
