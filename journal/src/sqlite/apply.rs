//! What one transaction writes: plain functions on a connection and rows, without threads.

use super::reads::{decided, packed, sealed_setting};
use crate::backend::{Alive, Change, Exported, Outcome, Prepared, Reads as _, Rows, Write, Written, lost};
use crate::decide::{next_time, of_live};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{Lease, RunId, Started};
use crate::row::{CANCELLED, DecisionRow, EXPECTS, Live, METADATA, Run, TOOLS, signed};
use rusqlite::{CachedStatement, Connection, params};
use std::collections::BTreeMap;

/// The statements that decide who may write. Tests replace them by wrong ones, which must be noticed.
#[derive(Clone, Debug)]
pub(crate) struct Statements {
    pub(crate) record: &'static str,
    pub(crate) claim: &'static str,
    pub(crate) end: &'static str,
}

/// A write of an owner or of a person has the epoch that was read in its condition. There is no upsert: it
/// would bring back runs that have ended. The parameters are the columns of the
/// table in its order.
pub(crate) const STATEMENTS: Statements = Statements {
    record: "UPDATE live SET owner=?3, state=?4, call=?5, tool=?6, policy=?7, digest=?8, tries=?9, \
             active_ms=?10, wake=?11, since=?12, snapshot=?14, answer=?15, sum=?16 \
             WHERE run=?1 AND epoch=?2 RETURNING cancel",
    claim: "UPDATE live SET epoch=?2, owner=?3, state=?4, call=?5, tool=?6, policy=?7, digest=?8, tries=?9, \
            active_ms=?10, wake=?11, since=?12, cancel=?13, snapshot=?14, answer=?15, sum=?16 \
            WHERE run=?1 AND epoch=?17",
    end: "DELETE FROM live WHERE run=?1 AND epoch=?2",
};

/// The connection that writes, and what its transactions need.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) connection: Connection,
    pub(crate) statements: Statements,
    /// The clock; tests have their own.
    pub(crate) now: fn() -> i64,
}

/// Binds a row to a statement whose parameters are the columns of the table in its order.
fn bind(statement: &mut CachedStatement<'_>, live: &Live) -> Result<()> {
    let values = params![
        live.run,
        live.epoch,
        live.owner,
        live.state_number(),
        signed(live.call),
        live.tool,
        live.policy.to_bits(),
        live.digest,
        live.tries,
        signed(live.active_ms),
        live.wake,
        live.since,
        if live.cancel { CANCELLED } else { 0 },
        live.snapshot,
        live.answer,
        live.sum()
    ];
    for (at, value) in values.iter().enumerate() {
        statement.raw_bind_parameter(at + 1, value)?;
    }
    Ok(())
}

impl Tables {
    /// Writes what is given.
    pub(crate) fn write(&self, write: &Write) -> Result<Written> {
        Ok(match write {
            Write::Start(new) => Written::Started(Box::new(self.start(new)?)),
            Write::Record(live) => Written::Recorded { cancel: self.record(live)? },
            Write::End { run, epoch } => {
                self.end(run, *epoch)?;
                Written::Done
            }
            Write::Release { run, epoch } => {
                self.release(*run, *epoch)?;
                Written::Done
            }
            Write::Calls { run, epoch, rows } => {
                self.keep(*run, *epoch, rows)?;
                Written::Done
            }
            Write::Import(imported) => Written::Imported(self.import(imported)?),
        })
    }

    /// Reads a run, decides, and writes what was decided.
    pub(crate) fn change(
        &self,
        alive: &dyn Alive,
        id: i64,
        decide: impl Fn(Rows, &dyn Alive, i64) -> Result<(Option<Change>, Outcome)>,
    ) -> Result<Outcome> {
        let (run, live) = self.connection.both(id)?;
        let (decided, last) = match &live {
            Some(live) => decided(&self.connection, id, live.call)?,
            None => (Ok(Vec::new()), None),
        };
        let (change, outcome) = decide(Rows { run, live, decided, last }, alive, (self.now)())?;
        let Some(Change { if_epoch, live, entry, decided }) = change else { return Ok(outcome) };
        if let Some(decided) = &decided {
            self.insert_decision(decided)?;
        }
        if let Some(run) = &entry {
            self.update_run(run)?;
        }
        self.replace(if_epoch, &live)?;
        Ok(outcome)
    }

    /// Writes a new run, or finds the one that has its name.
    fn start(&self, new: &Prepared) -> Result<Started> {
        if let Some(name) = &new.run.name
            && let Some(id) = self.connection.named(name)?
        {
            new.is_same(&self.connection.run(id)?)?;
            return Ok(Started { run: RunId(id), is_new: false, lease: None });
        }
        self.insert_program(&new.run, &new.program)?;
        let mut run = new.run.clone();
        run.id = self.next_id()?;
        let lease = match &new.live {
            None => None,
            Some(live) => {
                let live = Live { run: run.id, ..live.clone() };
                self.insert_live(&live)?;
                self.insert_expects(&live)?;
                Some(Lease::of(&live, new.owner, run.clone()))
            }
        };
        self.insert_run(&run)?;
        if let Some(tools) = &new.tools {
            self.insert_decision(&DecisionRow::noted(run.id, (0, ""), run.started, TOOLS, tools.clone()))?;
        }
        self.insert_metadata(&run, &new.metadata)?;
        self.insert_calls(run.id, &new.calls)?;
        Ok(Started { run: RunId(run.id), is_new: true, lease })
    }

    /// Stores the metadata of a run, if it has some.
    pub(crate) fn insert_metadata(&self, run: &Run, metadata: &BTreeMap<String, String>) -> Result<()> {
        if metadata.is_empty() {
            return Ok(());
        }
        // The signatures of tools have the time of the start.
        let at = run.started.saturating_add(1);
        self.insert_decision(&DecisionRow::noted(run.id, (0, ""), at, METADATA, packed(metadata)))
    }

    fn insert_program(&self, run: &Run, program: &[u8]) -> Result<()> {
        let mut insert = self.connection.prepare_cached("INSERT OR IGNORE INTO program VALUES (?, ?)")?;
        insert.execute(params![&run.program[..], program])?;
        Ok(())
    }

    /// Numbers are in the order of starting, and none is given twice: the run with the highest is never
    /// removed.
    fn next_id(&self) -> Result<i64> {
        let mut statement = self.connection.prepare_cached("SELECT max(id) FROM run")?;
        let last: Option<i64> = statement.query_row([], |row| row.get(0))?;
        last.unwrap_or(0).checked_add(1).ok_or_else(|| Error::damaged("no number is left for a run"))
    }

    pub(crate) fn insert_run(&self, run: &Run) -> Result<()> {
        let mut insert =
            self.connection.prepare_cached("INSERT INTO run VALUES (?,?,?,?,?,?,?,?,?,?,?,?)")?;
        insert.execute(params![
            run.id,
            &run.key[..],
            run.name,
            run.input,
            &run.program[..],
            run.function,
            run.limits,
            run.started,
            run.ended,
            run.outcome,
            run.sum(),
            run.subject
        ])?;
        Ok(())
    }

    pub(crate) fn insert_live(&self, live: &Live) -> Result<()> {
        let mut insert =
            self.connection.prepare_cached("INSERT INTO live VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")?;
        bind(&mut insert, live)?;
        insert.raw_execute()?;
        Ok(())
    }

    pub(crate) fn insert_decision(&self, decided: &DecisionRow) -> Result<()> {
        let mut insert = self.connection.prepare_cached("INSERT INTO call VALUES (?,?,?,?,?,?,?,?)")?;
        insert.execute(params![
            decided.run,
            signed(decided.call),
            decided.at,
            decided.tool,
            decided.what,
            decided.who,
            decided.detail,
            decided.sum()
        ])?;
        Ok(())
    }

    /// Writes the record of an owner. Returns whether somebody has cancelled the run.
    pub(crate) fn record(&self, live: &Live) -> Result<bool> {
        let mut update = self.connection.prepare_cached(self.statements.record)?;
        bind(&mut update, live)?;
        let mut rows = update.raw_query();
        let cancel: Option<i64> = rows.next()?.map(|row| row.get(0)).transpose()?;
        // The statement has done its work only once it was run to its end.
        while rows.next()?.is_some() {}
        let cancel = cancel.ok_or_else(|| lost(live.run))?;
        self.insert_expects(live)?;
        Ok(cancel == CANCELLED)
    }

    /// Adds calls as they were made, if the run still has this epoch.
    fn keep(&self, run: i64, epoch: i64, rows: &[DecisionRow]) -> Result<()> {
        let mut held = self.connection.prepare_cached("SELECT 1 FROM live WHERE run = ? AND epoch = ?")?;
        if held.exists([run, epoch])? { self.insert_calls(run, rows) } else { Err(lost(run)) }
    }

    fn insert_calls(&self, run: i64, rows: &[DecisionRow]) -> Result<()> {
        for row in rows {
            let at = next_time(self.last_time(run, row.call)?, row.at);
            self.insert_decision(&DecisionRow { run, at, ..row.clone() })?;
        }
        Ok(())
    }

    /// The time of the last row about a call.
    fn last_time(&self, run: i64, call: u64) -> Result<Option<i64>> {
        let mut last =
            self.connection.prepare_cached("SELECT max(at) FROM call WHERE run = ? AND call = ?")?;
        Ok(last.query_row(params![run, signed(call)], |row| row.get(0))?)
    }

    /// Stores what an answer from outside must be.
    fn insert_expects(&self, live: &Live) -> Result<()> {
        let Some(schema) = &live.expects else { return Ok(()) };
        let last = self.last_time(live.run, live.call)?;
        self.insert_decision(&of_live(live, EXPECTS, "", schema.clone(), next_time(last, (self.now)())))
    }

    /// Replaces a row that was read with epoch `epoch`.
    fn replace(&self, epoch: i64, live: &Live) -> Result<()> {
        let mut update = self.connection.prepare_cached(self.statements.claim)?;
        bind(&mut update, live)?;
        update.raw_bind_parameter(17, epoch)?;
        if update.raw_execute()? == 1 { Ok(()) } else { Err(lost(live.run)) }
    }

    /// Ends a run with its outcome, which is encrypted already.
    fn end(&self, run: &Run, epoch: i64) -> Result<()> {
        let mut delete = self.connection.prepare_cached(self.statements.end)?;
        if delete.execute([run.id, epoch])? != 1 {
            return Err(lost(run.id));
        }
        self.update_run(run)
    }

    fn update_run(&self, run: &Run) -> Result<()> {
        let mut update = self
            .connection
            .prepare_cached("UPDATE run SET limits=?2, ended=?3, outcome=?4, sum=?5 WHERE id=?1")?;
        update.execute(params![run.id, run.limits, run.ended, run.outcome, run.sum()])?;
        Ok(())
    }

    fn release(&self, id: i64, epoch: i64) -> Result<()> {
        let live = self.connection.both(id)?.1.filter(|live| live.epoch == epoch);
        let Some(mut live) = live else { return Err(lost(id)) };
        live.owner = None;
        self.replace(epoch, &live)
    }

    /// Adds a run that was read from bytes.
    fn import(&self, imported: &Exported) -> Result<RunId> {
        let Exported { mut run, live, decisions, program, metadata, .. } = imported.clone();
        // Keys are random, and stay.
        let here = self.connection.of_key(&run.key)?;
        let here = here.map(|id| self.connection.both(id)).transpose()?;
        let known = here.as_ref().map(|(known, _)| known.id);
        if let Some(name) = &run.name
            && let Some(other) = self.connection.named(name)?
            && Some(other) != known
        {
            return Err(Error::name_here(other, name));
        }
        let mut epoch = 0;
        match here {
            None => {
                run.id = self.next_id()?;
                self.insert_program(&run, &program)?;
                self.insert_run(&run)?;
            }
            Some((known, Some(exported))) if exported.exported => {
                run.id = known.id;
                epoch = exported.epoch;
                self.connection.execute("DELETE FROM live WHERE run = ?", [known.id])?;
                self.connection.execute("DELETE FROM call WHERE run = ?", [known.id])?;
                self.update_run(&run)?;
            }
            Some((known, _)) => {
                let message = format!("run {} of this journal is the same run", known.id);
                return Err(Error::new(ErrorCode::AlreadyHere, message));
            }
        }
        if let Some(mut live) = live {
            live.epoch = epoch.max(live.epoch).checked_add(1).ok_or_else(|| Error::damaged("an epoch"))?;
            (live.run, live.owner, live.exported) = (run.id, None, false);
            self.insert_live(&live)?;
        }
        for mut decided in decisions {
            decided.run = run.id;
            self.insert_decision(&decided)?;
        }
        self.insert_metadata(&run, &metadata)?;
        Ok(RunId(run.id))
    }

    /// Stores a setting.
    pub(crate) fn set(&self, name: &str, number: i64) -> Result<()> {
        let mut insert = self.connection.prepare_cached("INSERT OR REPLACE INTO setting VALUES (?, ?)")?;
        insert.execute(params![name, sealed_setting(name, number)])?;
        Ok(())
    }

    /// Removes at most `most` runs that ended before a time. Returns how many.
    pub(crate) fn prune(&self, before: i64, most: usize) -> Result<usize> {
        let chosen =
            "SELECT id FROM run WHERE ended < ?1 AND id < (SELECT max(id) FROM run) ORDER BY id LIMIT ?2";
        let mut calls =
            self.connection.prepare_cached(&format!("DELETE FROM call WHERE run IN ({chosen})"))?;
        let values = params![before, signed(most as u64)];
        calls.execute(values)?;
        let mut runs = self.connection.prepare_cached(&format!("DELETE FROM run WHERE id IN ({chosen})"))?;
        let removed = runs.execute(values)?;
        if removed < most {
            self.connection.execute("DELETE FROM program WHERE hash NOT IN (SELECT program FROM run)", [])?;
        }
        Ok(removed)
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
