//! Exports and imports runs: an exported run is a database with the same tables and only this run.

use crate::answer::{Answer, data};
use crate::cipher::{Cipher, Column};
use crate::error::{Error, ErrorCode, Result};
use crate::model::RunId;
use crate::reads;
use crate::row::{Decided, EXPECTS, Live, Run};
use crate::schema;
use crate::transactions::{Alive, Tables, misfit};
use ilo_drive::validate::expected::unexpected;
use rusqlite::types::Value;
use rusqlite::{Connection, params};

/// The largest file that is imported.
const LARGEST: usize = 1 << 30;

/// A run that was read from bytes.
#[derive(Clone, Debug)]
pub(crate) struct Imported {
    run: Run,
    live: Option<Live>,
    decisions: Vec<Decided>,
    /// Its stored form.
    program: Vec<u8>,
}

/// Writes a run as bytes. One that has not ended is marked as exported, and is not continued here.
pub(crate) fn export(tables: &Tables, alive: &dyn Alive, id: i64) -> Result<Vec<u8>> {
    let (run, live) = reads::both_of(&tables.connection, id)?;
    if let Some(owner) = live.as_ref().and_then(|live| live.owner)
        && alive.lives(owner)?
    {
        return Err(alive.owned(owner, &run));
    }
    let mut written = live.clone();
    if let Some(live) = &mut written {
        // A second export, after a crash before the first was written to a file, gives the same.
        live.exported = false;
        live.owner = None;
    }
    let target = Connection::open_in_memory()?;
    schema::prepare(&target)?;
    schema::create(&target, &Cipher::new(None))?;
    copy(
        &tables.connection,
        &target,
        "SELECT name, value FROM setting",
        "INSERT INTO setting VALUES (?, ?)",
        &[],
    )?;
    copy(
        &tables.connection,
        &target,
        "SELECT hash, bytes FROM program WHERE hash = ?",
        "INSERT INTO program VALUES (?, ?)",
        &run.program,
    )?;
    let mut copied = Tables::new(target, tables.statements.clone(), tables.now);
    copied.insert_run(&run)?;
    if let Some(live) = &written {
        copied.insert_live(live)?;
    }
    for decided in reads::decisions(&tables.connection, id, None)? {
        copied.insert_decision(&decided)?;
    }
    let bytes = copied.connection.serialize("main")?.to_vec();
    if let Some(mut live) = live {
        let epoch = live.epoch;
        live.epoch = epoch.checked_add(1).ok_or_else(|| Error::damaged("an epoch"))?;
        (live.exported, live.owner) = (true, None);
        tables.replace(epoch, &live)?;
    }
    Ok(bytes)
}

/// Copies rows of two blobs, or of a text and a blob.
fn copy(from: &Connection, to: &Connection, select: &str, insert: &str, hash: &[u8]) -> Result<()> {
    let mut statement = from.prepare(select)?;
    let mut rows = if hash.is_empty() { statement.query([])? } else { statement.query([hash])? };
    while let Some(row) = rows.next()? {
        to.execute(insert, params![row.get::<_, Value>(0)?, row.get::<_, Value>(1)?])?;
    }
    Ok(())
}

/// Reads the bytes of an exported run. All of them are validated.
pub(crate) fn read(bytes: &[u8], cipher: &Cipher) -> Result<Imported> {
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
    let page = reads::page(&source, None, 0, 2)?;
    let Ok([(_, found)]) = <[_; 1]>::try_from(page) else {
        return Err(refused("the file holds no run, or several; export each by itself"));
    };
    let (run, live) = found?;
    reads::program_of(&source, cipher, &run.program)?;
    let program =
        source.query_row("SELECT bytes FROM program WHERE hash = ?", [&run.program[..]], |row| row.get(0))?;
    let decisions = reads::decisions(&source, run.id, None)?;
    if let Some(live) = &live {
        compared(cipher, &run, live, &decisions)?;
        cipher.open(&run.key, live.call, Column::Snapshot, live.snapshot.clone())?;
    }
    Ok(Imported { run, live, decisions, program })
}

/// Refuses an answer from outside that does not fit what is stored with its call.
fn compared(cipher: &Cipher, run: &Run, live: &Live, decisions: &[Decided]) -> Result<()> {
    let of_call = |decided: &&Decided| decided.call == live.call && decided.what == EXPECTS;
    let (Some(expects), Some(answer)) = (decisions.iter().rfind(of_call), live.answer.clone()) else {
        return Ok(());
    };
    let answer = cipher.open(&run.key, live.call, Column::Answer, answer)?;
    let schema = cipher.open(&run.key, live.call, Column::Detail, expects.detail.clone())?;
    if let Answer::Ok(json) = Answer::from_bytes(&answer)?
        && let Some(why) = unexpected(&String::from_utf8_lossy(&schema), &data(&json)?)
    {
        return Err(misfit(&live.tool, &why));
    }
    Ok(())
}

/// Adds a run that was read.
pub(crate) fn import(tables: &Tables, imported: &Imported) -> Result<RunId> {
    let Imported { mut run, live, decisions, program } = imported.clone();
    let here = of_key(tables, &run)?;
    let known = here.as_ref().map(|(known, _)| known.id);
    if let Some(name) = &run.name
        && let Some(other) = reads::named(&tables.connection, name)?
        && Some(other) != known
    {
        let message = format!("run {other} of this journal is named `{name}` too");
        return Err(Error::new(ErrorCode::NameTaken, message).remedy("import into another journal"));
    }
    let mut epoch = 0;
    match here {
        None => {
            run.id = tables.next_id()?;
            tables
                .connection
                .execute("INSERT OR IGNORE INTO program VALUES (?, ?)", params![&run.program[..], program])?;
            tables.insert_run(&run)?;
        }
        Some((known, Some(exported))) if exported.exported => {
            run.id = known.id;
            epoch = exported.epoch;
            tables.connection.execute("DELETE FROM live WHERE run = ?", [known.id])?;
            tables.connection.execute("DELETE FROM call WHERE run = ?", [known.id])?;
            tables.update_run(&run)?;
        }
        Some((known, _)) => {
            let message = format!("run {} of this journal is the same run", known.id);
            return Err(Error::new(ErrorCode::AlreadyHere, message));
        }
    }
    if let Some(mut live) = live {
        live.epoch = epoch.max(live.epoch).checked_add(1).ok_or_else(|| Error::damaged("an epoch"))?;
        (live.run, live.owner, live.exported) = (run.id, None, false);
        tables.insert_live(&live)?;
    }
    for mut decided in decisions {
        decided.run = run.id;
        tables.insert_decision(&decided)?;
    }
    Ok(RunId(run.id))
}

/// The run of this journal that is the same run: keys are random, and stay.
fn of_key(tables: &Tables, run: &Run) -> Result<Option<(Run, Option<Live>)>> {
    let found = reads::of_key(&tables.connection, &run.key)?;
    found.map(|id| reads::both_of(&tables.connection, id)).transpose()
}
