//! What one transaction writes: plain functions on a connection and rows, without threads.

use crate::answer::{Answer, data};
use crate::cipher::{Cipher, Column, RUN_KEY, sha256};
use crate::error::{Error, ErrorCode, Result};
use crate::limits::RunLimits;
use crate::model::{Claim, Claimed, Decision, Lease, NewRun, RunId, Start, Started};
use crate::owner::Owners;
use crate::reads::{
    blocked as why_blocked, both_of, decisions, live_of, named, program_of, run_of, sealed_setting,
};
use crate::row::{CANCELLED, Decided, EXPECTS, Live, Run, TOOLS, signed};
use crate::state::{Action, State, To};
use ilo_drive::validate::expected::unexpected;
use rusqlite::{CachedStatement, Connection, params};
use std::cell::RefCell;
use std::sync::Arc;

/// The statements that decide who may write. Tests replace them by wrong ones, which must be noticed.
#[derive(Clone, Debug)]
pub(crate) struct Statements {
    pub(crate) record: &'static str,
    pub(crate) claim: &'static str,
    pub(crate) end: &'static str,
}

/// A write of an owner or of a person has the epoch that was read in its condition. There is no upsert: it
/// would bring back runs that have ended. The parameters are the columns in the order of
/// [`crate::row::LIVE`].
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
    /// The program that was read last, with its hash: many runs have the same.
    program: RefCell<([u8; 32], Arc<[u8]>)>,
}

/// Whether an owner lives.
pub(crate) trait Alive {
    /// Whether the process with this id lives.
    fn lives(&self, id: i64) -> Result<bool>;

    /// The error if it works on a run.
    fn owned(&self, id: i64, run: &Run) -> Error {
        let shown = self.shown(id);
        Error::new(ErrorCode::Owned, format!("{shown} works on run {}", run.shown()))
    }

    /// The process for people.
    fn shown(&self, _id: i64) -> String {
        "another process".to_owned()
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

/// Binds a row to a statement whose parameters are the columns in the order of [`crate::row::LIVE`].
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

/// What an approval is bound to.
pub(crate) fn approval(live: &Live) -> Vec<u8> {
    [live.digest.to_le_bytes(), live.policy.to_bits().to_le_bytes()].concat()
}

impl Tables {
    pub(crate) fn new(connection: Connection, statements: Statements, now: fn() -> i64) -> Tables {
        Tables { connection, statements, now, program: RefCell::new(([0; 32], Arc::default())) }
    }

    /// Writes a new run, or finds the one that has its name.
    pub(crate) fn start(&self, cipher: &Cipher, new: &Prepared) -> Result<Started> {
        if let Some(name) = &new.run.name
            && let Some(id) = named(&self.connection, name)?
        {
            let found = run_of(&self.connection, id)?;
            let same = (found.input, found.program) == (new.run.input, new.run.program)
                && (&found.function, &found.subject) == (&new.run.function, &new.run.subject);
            if !same {
                let message = format!("run `{name}` has another program, function or input");
                return Err(Error::new(ErrorCode::NameTaken, message));
            }
            return Ok(Started { run: RunId(id), is_new: false, lease: None });
        }
        self.insert_program(cipher, new)?;
        let mut run = new.run.clone();
        run.id = self.next_id()?;
        let lease = match &new.live {
            None => None,
            Some(live) => {
                let live = Live { run: run.id, ..live.clone() };
                self.insert_live(&live)?;
                self.insert_expects(&live)?;
                Some(Lease { state: live.state, call: live.call, epoch: live.epoch, run: run.clone() })
            }
        };
        self.insert_run(&run)?;
        if let Some(tools) = &new.tools {
            self.insert_decision(&Decided {
                run: run.id,
                call: 0,
                at: run.started,
                tool: String::new(),
                what: TOOLS.to_owned(),
                who: String::new(),
                detail: cipher.seal(&run.key, 0, Column::Detail, tools.as_bytes())?,
            })?;
        }
        Ok(Started { run: RunId(run.id), is_new: true, lease })
    }

    fn insert_program(&self, cipher: &Cipher, new: &Prepared) -> Result<()> {
        let mut known = self.connection.prepare_cached("SELECT 1 FROM program WHERE hash = ?")?;
        if known.exists([&new.run.program[..]])? {
            return Ok(());
        }
        let bytes = cipher.seal(&new.run.program, 0, Column::Program, &new.program)?;
        let mut insert = self.connection.prepare_cached("INSERT INTO program VALUES (?, ?)")?;
        insert.execute(params![&new.run.program[..], bytes])?;
        Ok(())
    }

    /// Numbers are in the order of starting, and none is given twice: the run with the highest is never
    /// removed.
    pub(crate) fn next_id(&self) -> Result<i64> {
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

    pub(crate) fn insert_decision(&self, decided: &Decided) -> Result<()> {
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

    /// Stores what an answer from outside must be.
    fn insert_expects(&self, live: &Live) -> Result<()> {
        let Some(schema) = &live.expects else { return Ok(()) };
        self.insert_decision(&Decided {
            run: live.run,
            call: live.call,
            at: self.next_time(live.run, live.call)?,
            tool: live.tool.clone(),
            what: EXPECTS.to_owned(),
            who: String::new(),
            detail: schema.clone(),
        })
    }

    /// Refuses an answer that does not fit what was stored with its call.
    fn hold(&self, cipher: &Cipher, run: &Run, live: &Live, decision: &Decision) -> Result<()> {
        let Decision::Answer(json) = decision else { return Ok(()) };
        let last = decisions(&self.connection, run.id, Some(live.call))?
            .into_iter()
            .rfind(|decided| decided.what == EXPECTS);
        let Some(expects) = last else { return Ok(()) };
        let schema = cipher.open(&run.key, live.call, Column::Detail, expects.detail)?;
        let schema = String::from_utf8(schema).map_err(|_| Error::damaged("the schema of an answer"))?;
        match unexpected(&schema, &data(json)?) {
            Some(why) => Err(misfit(&live.tool, &why)),
            None => Ok(()),
        }
    }

    /// Replaces a row that was read with epoch `epoch`.
    pub(crate) fn replace(&self, epoch: i64, live: &Live) -> Result<()> {
        let mut update = self.connection.prepare_cached(self.statements.claim)?;
        bind(&mut update, live)?;
        update.raw_bind_parameter(17, epoch)?;
        if update.raw_execute()? == 1 { Ok(()) } else { Err(lost(live.run)) }
    }

    /// Ends a run with its outcome, which is encrypted already.
    pub(crate) fn end(&self, run: &Run, epoch: i64) -> Result<()> {
        let mut delete = self.connection.prepare_cached(self.statements.end)?;
        if delete.execute([run.id, epoch])? != 1 {
            return Err(lost(run.id));
        }
        self.update_run(run)
    }

    pub(crate) fn update_run(&self, run: &Run) -> Result<()> {
        let mut update = self
            .connection
            .prepare_cached("UPDATE run SET limits=?2, ended=?3, outcome=?4, sum=?5 WHERE id=?1")?;
        update.execute(params![run.id, run.limits, run.ended, run.outcome, run.sum()])?;
        Ok(())
    }

    /// Takes a run over.
    pub(crate) fn claim(&self, cipher: &Cipher, alive: &dyn Alive, own: i64, id: i64) -> Result<Claim> {
        let (run, live) = both_of(&self.connection, id)?;
        let Some(mut live) = live else {
            return Ok(Claim::Ended { outcome: outcome_of(cipher, &run)? });
        };
        if live.exported {
            return Err(exported(&run));
        }
        if live.state == State::Sleeping {
            self.look_at_sleeper(cipher, &run, &mut live)?;
        }
        if !live.state.is_for_owners() {
            return Ok(Claim::Waits { state: live.state, call: live.call, wake: live.wake });
        }
        if let Some(owner) = live.owner
            && (owner == own || alive.lives(owner)?)
        {
            return Err(alive.owned(owner, &run));
        }
        if let Some(To::State(before)) = live.state.after(Action::Unblock) {
            live.state = before;
        }
        if live.state == State::Calling {
            live.tries = live.tries.saturating_add(1);
        }
        let epoch = live.epoch;
        live.epoch = epoch.checked_add(1).ok_or_else(|| Error::damaged("an epoch"))?;
        live.owner = Some(own);
        live.wake = None;
        self.replace(epoch, &live)?;
        Ok(Claim::Mine(Box::new(self.claimed(cipher, run, live)?)))
    }

    /// Wakes a run that sleeps, if it is time or it was cancelled.
    fn look_at_sleeper(&self, cipher: &Cipher, run: &Run, live: &mut Live) -> Result<()> {
        let now = (self.now)();
        if live.cancel {
            // The call that waited fails as cancelled.
            live.state = State::Ready;
        } else if live.wake.is_none_or(|wake| wake <= now) {
            live.state = State::Answered;
            live.answer = Some(cipher.seal(&run.key, live.call, Column::Answer, &nothing())?);
        } else if live.since > now {
            // The clock was set back. How long the run has slept is unknown; it sleeps its whole time again,
            // and not until the clock has come to where it was.
            let time = live.wake.map(|wake| wake.saturating_sub(live.since));
            (live.since, live.wake) = (now, time.map(|time| now.saturating_add(time)));
            let epoch = live.epoch;
            live.epoch = epoch.checked_add(1).ok_or_else(|| Error::damaged("an epoch"))?;
            self.replace(epoch, live)?;
        }
        Ok(())
    }

    fn program(&self, cipher: &Cipher, hash: &[u8; 32]) -> Result<Arc<[u8]>> {
        let mut last = self.program.borrow_mut();
        if last.1.is_empty() || last.0 != *hash {
            *last = (*hash, program_of(&self.connection, cipher, hash)?.into());
        }
        Ok(last.1.clone())
    }

    fn claimed(&self, cipher: &Cipher, run: Run, live: Live) -> Result<Claimed> {
        let bound = approval(&live);
        let decided = decisions(&self.connection, run.id, Some(live.call))?;
        let of = |what: &str| decided.iter().rfind(|decided| decided.what == what);
        let unchecked = of(Action::Answer.name()).is_some() && of(EXPECTS).is_none();
        let approved = match of(Action::Approve.name()).cloned() {
            Some(decided) => cipher.open(&run.key, live.call, Column::Detail, decided.detail)? == bound,
            None => false,
        };
        let answer =
            live.answer.clone().map(|answer| cipher.open(&run.key, live.call, Column::Answer, answer));
        Ok(Claimed {
            program: self.program(cipher, &run.program)?,
            function: run.function.clone(),
            limits: RunLimits::from_bytes(&run.limits)?,
            state: live.state,
            call: live.call,
            tool: live.tool,
            policy: live.policy,
            digest: live.digest,
            tries: live.tries,
            active_ms: live.active_ms,
            cancel: live.cancel,
            snapshot: cipher.open(&run.key, live.call, Column::Snapshot, live.snapshot)?,
            answer: answer.transpose()?.map(|bytes| Answer::from_bytes(&bytes)).transpose()?,
            approved,
            unchecked,
            lease: Lease { state: live.state, call: live.call, epoch: live.epoch, run },
        })
    }

    /// Writes a person's decision.
    pub(crate) fn resolve(
        &self,
        cipher: &Cipher,
        id: i64,
        call: Option<u64>,
        decision: &Decision,
        who: &str,
    ) -> Result<State> {
        let (mut run, live) = both_of(&self.connection, id)?;
        let Some(mut live) = live else {
            let message = format!("run {} has ended", run.shown());
            return Err(Error::new(ErrorCode::NotNow, message).remedy("see its outcome with `runs show`"));
        };
        if live.exported {
            return Err(exported(&run));
        }
        let epoch = live.epoch;
        let action = decision.action();
        let of_call = !matches!(decision, Decision::Cancel | Decision::More(_));
        if of_call && call != Some(live.call) {
            return Err(other_call(&run, &live, call));
        }
        let to = match live.state.after(action) {
            Some(To::State(to)) => to,
            Some(To::Stored) if live.answer.is_some() => State::Answered,
            Some(To::Stored) => State::Ready,
            Some(To::Ended) | None => return Err(live.state.refuse(action, &run.shown(), live.call)),
        };
        self.hold(cipher, &run, &live, decision)?;
        let detail = match decision {
            Decision::Approve => approval(&live),
            Decision::More(limits) => limits.to_bytes(),
            _ => decision.answer(who)?.map(|answer| answer.to_bytes()).unwrap_or_default(),
        };
        self.insert_decision(&Decided {
            run: id,
            call: live.call,
            at: self.next_time(id, live.call)?,
            tool: live.tool.clone(),
            what: action.name().to_owned(),
            who: who.to_owned(),
            detail: cipher.seal(&run.key, live.call, Column::Detail, &detail)?,
        })?;
        if let Decision::More(limits) = decision {
            run.limits = limits.to_bytes();
            self.update_run(&run)?;
        }
        if let Decision::Cancel = decision {
            live.cancel = true;
        }
        if let Some(answer) = decision.answer(who)? {
            live.answer = Some(cipher.seal(&run.key, live.call, Column::Answer, &answer.to_bytes())?);
        }
        if to != live.state {
            // A process that waited for this takes the run over again.
            live.epoch = epoch.checked_add(1).ok_or_else(|| Error::damaged("an epoch"))?;
            (live.state, live.owner, live.wake, live.tries) = (to, None, None, 0);
            live.since = (self.now)();
        }
        self.replace(epoch, &live)?;
        Ok(to)
    }

    /// Records that a run cannot continue, and why. A later owner finds its state unchanged.
    pub(crate) fn block(&self, cipher: &Cipher, alive: &dyn Alive, id: i64, why: &str) -> Result<()> {
        let (run, live) = both_of(&self.connection, id)?;
        let Some(mut live) = live.filter(|live| !live.exported) else { return Ok(()) };
        if let Some(owner) = live.owner
            && alive.lives(owner)?
        {
            return Ok(());
        }
        if live.state == State::Sleeping {
            self.look_at_sleeper(cipher, &run, &mut live)?;
        }
        let to = match live.state.after(Action::Block) {
            Some(To::State(to)) => to,
            _ if matches!(live.state, State::Blocked(_)) => live.state,
            // It waits for something else.
            _ => return Ok(()),
        };
        if to == live.state && why_blocked(&self.connection, cipher, &run, &live)?.as_deref() == Some(why) {
            return Ok(());
        }
        self.insert_decision(&Decided {
            run: id,
            call: live.call,
            at: self.next_time(id, live.call)?,
            tool: live.tool.clone(),
            what: Action::Block.name().to_owned(),
            who: String::new(),
            detail: cipher.seal(&run.key, live.call, Column::Detail, why.as_bytes())?,
        })?;
        let epoch = live.epoch;
        live.epoch = epoch.checked_add(1).ok_or_else(|| Error::damaged("an epoch"))?;
        (live.state, live.owner, live.wake, live.since) = (to, None, None, (self.now)());
        self.replace(epoch, &live)
    }

    /// Stores a setting.
    pub(crate) fn set(&self, name: &str, number: i64) -> Result<()> {
        let mut insert = self.connection.prepare_cached("INSERT OR REPLACE INTO setting VALUES (?, ?)")?;
        insert.execute(params![name, sealed_setting(name, number)])?;
        Ok(())
    }

    /// A time that comes after those of the call's other decisions, even if the clock was set back.
    fn next_time(&self, run: i64, call: u64) -> Result<i64> {
        let mut statement =
            self.connection.prepare_cached("SELECT max(at) FROM call WHERE run = ? AND call = ?")?;
        let last: Option<i64> = statement.query_row(params![run, signed(call)], |row| row.get(0))?;
        Ok(last.map_or((self.now)(), |last| (self.now)().max(last.saturating_add(1))))
    }

    /// Releases a run that this process does not continue. Nothing is lost.
    pub(crate) fn release(&self, id: i64, epoch: i64) -> Result<()> {
        let live = live_of(&self.connection, id)?.filter(|live| live.epoch == epoch);
        let Some(mut live) = live else { return Err(lost(id)) };
        live.owner = None;
        self.replace(epoch, &live)
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

/// A run and its first record, encrypted, with checksums to be added.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) run: Run,
    pub(crate) program: Vec<u8>,
    pub(crate) live: Option<Live>,
    /// The signatures of its tools.
    pub(crate) tools: Option<String>,
}

impl Prepared {
    /// Makes the rows of a new run.
    pub(crate) fn new(
        cipher: &Cipher,
        new: &NewRun<'_>,
        first: &Start<'_>,
        owner: i64,
        now: i64,
    ) -> Result<Prepared> {
        let key: [u8; RUN_KEY] = cipher.random()?;
        let hash = sha256(new.program);
        let mut run = Run {
            id: 0,
            key,
            name: new.name.map(str::to_owned),
            input: cipher.digest(&[new.input]),
            program: hash,
            function: new.function.to_owned(),
            limits: new.limits.to_bytes(),
            started: now,
            ended: None,
            outcome: None,
            subject: new.subject.map(str::to_owned),
        };
        let live = match first {
            Start::Call(record) => {
                if State::Ready.after(record.to.action()).is_none() && record.to.state() != State::Ready {
                    let message = format!("a run cannot begin as {}", record.to.state());
                    return Err(Error::new(ErrorCode::Value, message));
                }
                Some(record.row(cipher, &key, (0, 1), owner, now)?)
            }
            Start::Ended(outcome) => {
                run.ended = Some(now);
                run.outcome = Some(cipher.seal(&key, 0, Column::Outcome, outcome)?);
                None
            }
        };
        Ok(Prepared { run, program: new.program.to_vec(), live, tools: None })
    }
}

/// The error for an answer that does not fit.
pub(crate) fn misfit(tool: &str, why: &str) -> Error {
    Error::new(ErrorCode::Value, format!("the answer does not fit tool `{tool}`: {why}"))
        .remedy("give an answer that fits; the run waits as before")
}

/// The answer of a call that only waits.
fn nothing() -> Vec<u8> {
    Answer::Ok("null".to_owned()).to_bytes()
}

/// The outcome of a run that has ended.
pub(crate) fn outcome_of(cipher: &Cipher, run: &Run) -> Result<Vec<u8>> {
    cipher.open(&run.key, 0, Column::Outcome, run.outcome.clone().unwrap_or_default())
}

/// Another process has the run.
pub(crate) fn lost(run: i64) -> Error {
    Error::new(ErrorCode::Lost, format!("another process has taken run {run} over, or it was decided on"))
}

fn exported(run: &Run) -> Error {
    let message = format!("run {} was exported and continues elsewhere", run.shown());
    Error::new(ErrorCode::NotNow, message).remedy("continue it there, or bring it back with `runs import`")
}

fn other_call(run: &Run, live: &Live, call: Option<u64>) -> Error {
    let (shown, state, at) = (run.shown(), live.state, live.call);
    let message = match call {
        Some(call) => format!("run {shown} is {state} at call {at} of `{}`, not at call {call}", live.tool),
        None => format!("the number of a call is missing; run {shown} is {state} at call {at}"),
    };
    Error::new(ErrorCode::OtherCall, message)
}

#[cfg(test)]
mod tests;
