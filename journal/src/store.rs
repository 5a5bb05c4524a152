//! The store: one journal, opened by this process.

use crate::cipher::{Cipher, Column, Key, idempotency_key, of_idempotency_key, sha256};
use crate::clock;
use crate::error::{Error, ErrorCode, Result};
use crate::file;
use crate::limits::RunLimits;
use crate::model::{
    At, Claim, Decided, Decision, Lease, Listed, NewRun, Record, RunId, Start, Started, Summary, Waiting,
    number_of,
};
use crate::owner::{Owner, Owners};
use crate::portable;
use crate::reads;
use crate::row::{EXPECTS, Live, Run, TOOLS};
use crate::schema;
use crate::state::State;
use crate::transactions::{self, Prepared, STATEMENTS, Tables};
use crate::writer::{Ticket, Writer};
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How a journal is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether it is created if it does not exist.
    pub create: bool,
    /// The key with which the data of runs is encrypted.
    pub key: Option<Key>,
}

impl Default for Options {
    fn default() -> Options {
        Options { create: true, key: None }
    }
}

/// A journal. It may be shared between threads.
#[derive(Debug)]
pub struct Store {
    writer: Writer,
    /// Reads while the writer writes.
    reader: Mutex<Connection>,
    cipher: Arc<Cipher>,
    owners: Owners,
    owner: Owner,
    path: PathBuf,
}

/// The most pages that SQLite allows.
const MOST_PAGES: u32 = 4_294_967_294;
/// A day in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1000;
/// Days for which runs that have ended are kept.
pub const RETENTION_DAYS: u32 = 30;
/// The setting with another number of days.
const RETENTION: &str = "retention";
/// The setting that says when old runs were removed last.
const PRUNED: &str = "pruned";
/// The number of runs that are read or removed together.
const PAGE: usize = 1000;

impl Store {
    /// Opens the journal at a path, or creates it. Other processes may have it open.
    ///
    /// # Errors
    /// If the file is not a journal, has a newer version, is damaged, or cannot be used at its location.
    pub fn open(path: &Path, options: &Options) -> Result<Store> {
        let path = file::prepare(path, options.create)?;
        let cipher = Arc::new(Cipher::new(options.key.as_ref()));
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        if count_tables(&connection)? == 0 {
            schema::create(&connection, &cipher)?;
        }
        schema::migrate(&connection)?;
        schema::check(&connection, &cipher)?;
        schema::make_durable(&connection)?;
        let owners = Owners::of(&path)?;
        let owner = owners.join(&cipher)?;
        let reader = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        reader.pragma_update(None, "query_only", true)?;
        let writer = Writer::start(Tables::new(connection, STATEMENTS, clock::now))?;
        Ok(Store { writer, reader: Mutex::new(reader), cipher, owners, owner, path })
    }

    /// The real path of the journal.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The lock that marks this process as an owner, for a process that ends this one's commands if it is
    /// killed: until both have ended, nobody takes over the runs of this process.
    ///
    /// # Errors
    /// If the system cannot copy the lock.
    pub fn owner_lock(&self) -> Result<File> {
        self.owner.lock()
    }

    fn reader(&self) -> MutexGuard<'_, Connection> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a run with its first record, or finds the run that has its name.
    ///
    /// # Errors
    /// [`ErrorCode::NameTaken`] if the run of that name has another program, function or input.
    pub fn start(&self, new: &NewRun<'_>, first: &Start<'_>) -> Result<Ticket<Started>> {
        self.start_with(new, first, None)
    }

    /// As [`Store::start`], with the signatures of the run's tools, as a text of the host.
    ///
    /// # Errors
    /// Those of [`Store::start`].
    pub fn start_with(
        &self,
        new: &NewRun<'_>,
        first: &Start<'_>,
        tools: Option<&str>,
    ) -> Result<Ticket<Started>> {
        let prepared = Prepared::new(&self.cipher, new, first, self.owner.id, clock::now())?;
        let prepared = Prepared { tools: tools.map(str::to_owned), ..prepared };
        let cipher = self.cipher.clone();
        Ok(self.writer.submit(move |tables| tables.start(&cipher, &prepared)))
    }

    /// Records a call. Wait for the ticket before the call is made; it says whether somebody has cancelled
    /// the run.
    ///
    /// # Errors
    /// If the state of the run does not allow the action. The ticket gives [`ErrorCode::Lost`] if another
    /// process has taken the run over.
    pub fn record(&self, lease: &mut Lease, record: &Record<'_>) -> Result<Ticket<bool>> {
        let live = lease.next(&self.cipher, record, self.owner.id, clock::now())?;
        (lease.state, lease.call) = (live.state, live.call);
        Ok(self.writer.submit_of(Some(live.run), move |tables| tables.record(&live)))
    }

    /// Records that the run is at a call that changes nothing. The record is written soon without being
    /// awaited, and a later record replaces it.
    ///
    /// # Errors
    /// If the state of the run does not allow the action.
    pub fn record_later(&self, lease: &mut Lease, record: &Record<'_>) -> Result<()> {
        let live = lease.next(&self.cipher, record, self.owner.id, clock::now())?;
        (lease.state, lease.call) = (live.state, live.call);
        self.writer.later(live);
        Ok(())
    }

    /// Ends a run with its outcome as JSON. Do not show the outcome before the ticket has been awaited.
    ///
    /// # Errors
    /// If the run cannot end in its state. The ticket gives [`ErrorCode::Lost`] if another process has taken
    /// the run over.
    pub fn end(&self, lease: Lease, outcome: &[u8]) -> Result<Ticket<()>> {
        let Lease { mut run, epoch, state, call } = lease;
        if state.after(crate::state::Action::End).is_none() {
            return Err(state.refuse(crate::state::Action::End, &run.shown(), call));
        }
        run.ended = Some(clock::now());
        run.outcome = Some(self.cipher.seal(&run.key, 0, Column::Outcome, outcome)?);
        Ok(self.writer.submit_of(Some(run.id), move |tables| tables.end(&run, epoch)))
    }

    /// Releases a run that this process does not continue.
    pub fn release(&self, lease: &Lease) -> Ticket<()> {
        let (run, epoch) = (lease.run.id, lease.epoch);
        // What was recorded last is written before, in the same transaction.
        self.writer.submit(move |tables| tables.release(run, epoch))
    }

    /// Takes a run over, if nobody works on it and nobody else must act first. To take over many runs,
    /// request all before waiting: they are written together.
    ///
    /// The ticket gives [`ErrorCode::NoRun`], [`ErrorCode::Owned`] or [`ErrorCode::Damaged`] if the run
    /// cannot be taken over.
    pub fn claim(&self, run: RunId) -> Ticket<Claim> {
        let (cipher, owners, own) = (self.cipher.clone(), self.owners.clone(), self.owner.id);
        self.writer.submit(move |tables| tables.claim(&cipher, &owners, own, run.0))
    }

    /// Writes the decision of a person, `who`, on the call with this number. Returns the new state.
    ///
    /// # Errors
    /// [`ErrorCode::OtherCall`] if the run is at another call, [`ErrorCode::NotNow`] if its state does not
    /// allow the decision, [`ErrorCode::Value`] if an answer does not fit the tool: the run waits as before.
    pub fn resolve(&self, run: RunId, call: Option<u64>, decision: &Decision, who: &str) -> Result<State> {
        // Rejected before it is queued, if it is not JSON.
        decision.answer(who)?;
        let (cipher, decision, who) = (self.cipher.clone(), decision.clone(), who.to_owned());
        self.writer.submit(move |tables| tables.resolve(&cipher, run.0, call, &decision, &who)).wait()
    }

    /// The run with this number or name.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is none.
    pub fn find(&self, text: &str) -> Result<RunId> {
        let reader = self.reader();
        // A name may look like a number.
        if let Some(run) = reads::named(&reader, text)? {
            return Ok(RunId(run));
        }
        match number_of(text)? {
            Some(number) => reads::run_of(&reader, number).map(|run| RunId(run.id)),
            None => Err(Error::new(ErrorCode::NoRun, format!("the journal has no run named `{text}`"))),
        }
    }

    /// Calls a function with each of these runs, in the order of starting, until it returns false. Only
    /// some of the runs are in memory at a time.
    ///
    /// # Errors
    /// [`ErrorCode::Damaged`] at the first damaged run.
    pub fn list(&self, listed: &Listed, mut each: impl FnMut(Summary) -> bool) -> Result<()> {
        let mut damage = None;
        self.list_all(listed, |_, found| match found {
            Ok(summary) => each(summary),
            Err(error) => {
                damage = Some(error);
                false
            }
        })?;
        damage.map_or(Ok(()), Err)
    }

    /// Like [`Store::list`], but a damaged run does not end the list: the function gets the error in place of
    /// the run.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn list_all(
        &self,
        listed: &Listed,
        mut each: impl FnMut(RunId, Result<Summary>) -> bool,
    ) -> Result<()> {
        let &Listed { status, newest } = listed;
        let mut after = match newest {
            Some(newest) => reads::before_newest(&self.reader(), status, newest)?,
            None => 0,
        };
        loop {
            let page = reads::page(&self.reader(), status, after, PAGE)?;
            let Some(&(last, _)) = page.last() else { return Ok(()) };
            after = last;
            for (run, found) in page {
                if !each(RunId(run), found.and_then(|(run, live)| self.summary(run, live))) {
                    return Ok(());
                }
            }
        }
    }

    /// How many runs there are, by the name of their status.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn count(&self) -> Result<BTreeMap<&'static str, i64>> {
        reads::count(&self.reader())
    }

    /// The subject of a run.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn subject(&self, run: RunId) -> Result<Option<String>> {
        Ok(reads::run_of(&self.reader(), run.0)?.subject)
    }

    /// How many runs of a subject have not ended.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn unfinished(&self, subject: &str) -> Result<usize> {
        reads::unfinished(&self.reader(), subject)
    }

    /// The runs that a process may continue now, in the order of starting: they wait for no person and no
    /// later time. Another process may be at work on some of them.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn continuable(&self) -> Result<Vec<RunId>> {
        let (mut found, mut after) = (Vec::new(), 0);
        loop {
            let page = reads::continuable(&self.reader(), clock::now(), after, PAGE)?;
            let Some(&last) = page.last() else { return Ok(found) };
            after = last;
            found.extend(page.into_iter().map(RunId));
        }
    }

    /// Calls a function with each damaged run that has not ended, and with the damage. [`Store::continuable`]
    /// also returns those of them whose state can be read and lets them continue. The function must not use
    /// the store.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn damaged(&self, mut each: impl FnMut(RunId, Error)) -> Result<()> {
        reads::damaged(&self.reader(), &mut |run, error| each(RunId(run), error))
    }

    /// The time until the next sleeping run wakes, if there is one.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn next_wake(&self) -> Result<Option<Duration>> {
        let wake = reads::next_wake(&self.reader())?;
        let left = |wake: i64| u64::try_from(wake.saturating_sub(clock::now())).unwrap_or(0);
        Ok(wake.map(|wake| Duration::from_millis(left(wake))))
    }

    /// One run.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn show(&self, run: RunId) -> Result<Summary> {
        let (run, live) = reads::both_of(&self.reader(), run.0)?;
        self.summary(run, live)
    }

    /// What people have decided on a run, in order.
    ///
    /// # Errors
    /// If the journal is damaged.
    pub fn decisions(&self, run: RunId) -> Result<Vec<Decided>> {
        let mut found = reads::decisions(&self.reader(), run.0, None)?;
        found.retain(|row| row.what != EXPECTS && row.what != TOOLS);
        let shown = |row: crate::row::Decided| Decided {
            call: row.call,
            at: row.at,
            tool: row.tool,
            what: row.what,
            who: row.who,
        };
        Ok(found.into_iter().map(shown).collect())
    }

    /// The signatures of a run's tools, as they were when it was started; nothing if they were not stored.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn tools(&self, run: RunId) -> Result<Option<String>> {
        let reader = self.reader();
        let key = reads::run_of(&reader, run.0)?.key;
        let rows = reads::decisions(&reader, run.0, Some(0))?;
        let Some(row) = rows.into_iter().find(|row| row.what == TOOLS) else { return Ok(None) };
        let text = self.cipher.open(&key, 0, Column::Detail, row.detail)?;
        String::from_utf8(text).map(Some).map_err(|_| Error::damaged("the signatures of a run's tools"))
    }

    /// The idempotency keys of a run's calls, by their number.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn key(&self, run: RunId) -> Result<impl Fn(u64) -> String + use<>> {
        let key = reads::run_of(&self.reader(), run.0)?.key;
        Ok(move |call| idempotency_key(&key, call))
    }

    /// A program by its hash.
    ///
    /// # Errors
    /// If the journal is damaged.
    pub fn program(&self, hash: &[u8; 32]) -> Result<Vec<u8>> {
        reads::program_of(&self.reader(), &self.cipher, hash)
    }

    /// The run and the number of the call with this idempotency key, which its tool was given.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn find_key(&self, text: &str) -> Result<Option<(RunId, u64)>> {
        let Some((key, call)) = of_idempotency_key(text) else { return Ok(None) };
        Ok(reads::of_key(&self.reader(), &key)?.map(|run| (RunId(run), call)))
    }

    /// A text for a run and `part` that nobody can guess.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn handle(&self, run: RunId, part: &str) -> Result<String> {
        let key = reads::run_of(&self.reader(), run.0)?.key;
        let hash = sha256(&[&b"handle"[..], &key, part.as_bytes()].concat());
        let mut text = String::new();
        for byte in hash.iter().take(16) {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        Ok(text)
    }

    /// Records that a run cannot continue with this build or these tools, and why. A later owner finds its
    /// state unchanged. A run on which a process works, or that waits for something else, is not changed.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn block(&self, run: RunId, why: &str) -> Result<()> {
        let (cipher, owners, why) = (self.cipher.clone(), self.owners.clone(), why.to_owned());
        self.writer.submit(move |tables| tables.block(&cipher, &owners, run.0, &why)).wait()
    }

    fn summary(&self, run: Run, live: Option<Live>) -> Result<Summary> {
        let at = match live {
            None => At::Ended {
                ended: run.ended.unwrap_or_default(),
                outcome: transactions::outcome_of(&self.cipher, &run)?,
            },
            Some(live) => At::Live(Box::new(Waiting {
                blocked: match live.state {
                    State::Blocked(_) => reads::blocked(&self.reader(), &self.cipher, &run, &live)?,
                    _ => None,
                },
                state: live.state,
                exported: live.exported,
                since: live.since,
                call: live.call,
                tool: live.tool,
                policy: live.policy,
                wake: live.wake,
                cancel: live.cancel,
                tries: live.tries,
                active_ms: live.active_ms,
                snapshot: self.cipher.open(&run.key, live.call, Column::Snapshot, live.snapshot)?,
                key: idempotency_key(&run.key, live.call),
            })),
        };
        Ok(Summary {
            run: RunId(run.id),
            name: run.name,
            started: run.started,
            program: run.program,
            function: run.function,
            limits: RunLimits::from_bytes(&run.limits)?,
            subject: run.subject,
            at,
        })
    }

    /// A number that changes when another connection has written: a decision of a person, or a record of
    /// another owner.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn version(&self) -> Result<i64> {
        let ticket = self.writer.submit(|tables| {
            Ok(tables.connection.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0))?)
        });
        ticket.wait()
    }

    /// Exports a run as bytes for another journal. A run that has not ended continues only there: here it
    /// stays as `exported`.
    ///
    /// # Errors
    /// [`ErrorCode::Owned`] if a process works on it.
    pub fn export(&self, run: RunId) -> Result<Vec<u8>> {
        let owners = self.owners.clone();
        self.writer.submit(move |tables| portable::export(tables, &owners, run.0)).wait()
    }

    /// Adds a run that was exported, from this journal or another one. Both have the same key, or none.
    ///
    /// # Errors
    /// If the bytes are not an exported run, the run is here already, or another run has its name.
    pub fn import(&self, bytes: &[u8]) -> Result<RunId> {
        let imported = portable::read(bytes, &self.cipher)?;
        self.writer.submit(move |tables| portable::import(tables, &imported)).wait()
    }

    /// Removes runs that ended more than this number of days ago. Returns how many. Runs that have not ended
    /// stay.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn prune(&self, days: u32) -> Result<usize> {
        let before = clock::now().saturating_sub(DAY.saturating_mul(days.into()));
        let mut removed = 0;
        loop {
            let now = self.writer.submit(move |tables| tables.prune(before, PAGE)).wait()?;
            removed += now;
            if now < PAGE {
                break;
            }
        }
        if removed == 0 {
            return Ok(0);
        }
        // What was removed is not left in the log, unless somebody reads just now.
        drop(self.reader().pragma_query(None, "wal_checkpoint(truncate)", |_| Ok(())));
        Ok(removed)
    }

    /// Days for which runs that have ended stay.
    ///
    /// # Errors
    /// If the journal is damaged.
    pub fn retention(&self) -> Result<u32> {
        let days = reads::setting(&self.reader(), RETENTION)?;
        Ok(days.and_then(|days| u32::try_from(days).ok()).unwrap_or(RETENTION_DAYS))
    }

    /// Sets for how many days ended runs are kept.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn set_retention(&self, days: u32) -> Result<()> {
        let ticket = self.writer.submit(move |tables| {
            // The next process looks at once.
            tables.set(PRUNED, 0)?;
            tables.set(RETENTION, days.into())
        });
        ticket.wait()
    }

    /// Removes runs that are older than the retention time, once a day. Returns how many were removed.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn prune_daily(&self) -> Result<usize> {
        let (last, now) = (reads::setting(&self.reader(), PRUNED)?, clock::now());
        // A clock that was set back does not put it off.
        if last.is_some_and(|last| (last..last.saturating_add(DAY)).contains(&now)) {
            return Ok(0);
        }
        self.writer.submit(move |tables| tables.set(PRUNED, now)).wait()?;
        self.prune(self.retention()?)
    }

    /// Limits the size of the file in pages of 4 KiB; without a number it is not limited. A write that would
    /// pass the limit is an error.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn limit_pages(&self, most: Option<u32>) -> Result<()> {
        let most = most.unwrap_or(MOST_PAGES);
        let ticket = self.writer.submit(move |tables| {
            tables.connection.pragma_update_and_check(None, "max_page_count", most, |_| Ok(()))?;
            Ok(())
        });
        ticket.wait()
    }

    /// Checks all pages and all rows.
    ///
    /// # Errors
    /// The first damage found.
    pub fn check(&self) -> Result<()> {
        schema::check_pages(&self.reader())?;
        if reads::orphans(&self.reader())? > 0 {
            return Err(Error::damaged("a run under way has no entry"));
        }
        let mut problem = None;
        self.list(&Listed::default(), |summary| {
            let program = self.program(&summary.program);
            let decisions = self.decisions(summary.run);
            problem = program.err().or(decisions.err());
            problem.is_none()
        })?;
        problem.map_or(Ok(()), Err)
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
