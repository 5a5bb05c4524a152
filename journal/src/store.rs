//! The store: one journal, opened by this process.

use crate::answer::Answer;
use crate::backend::{Alive, Backend, Exported, Filter, Outcome, Prepared, Write, Written};
use crate::calls::Called;
use crate::cipher::{Cipher, Column, Key, RUN_KEY, idempotency_key, of_idempotency_key, sha256};
use crate::decide;
use crate::error::{Error, ErrorCode, Result};
use crate::limits::RunLimits;
use crate::model::{
    self, At, Attached, Claim, Claimed, Decision, FirstRecord, Held, Lease, Listed, NewRun, Record, RunId,
    Started, Summary, WaitingRun, number_of,
};
use crate::place::is_address;
#[cfg(feature = "postgres")]
use crate::postgres::Postgres;
use crate::queue::Ticket;
use crate::row::{CALLED, DecisionRow, EXPECTS, Live, METADATA, Run, TOOLS};
use crate::sqlite::{Sqlite, portable};
use crate::state::State;
use ilo_drive::data::write::hex;
use ilo_drive::locked::locked;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

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
    backend: Arc<dyn Backend>,
    cipher: Arc<Cipher>,
    program: Arc<LastProgram>,
    /// Whether the calls of runs are kept.
    keeps_calls: AtomicBool,
}

/// The program that was read last, with its hash: many runs have the same.
type LastProgram = Mutex<([u8; 32], Arc<[u8]>)>;

/// A day in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1000;
/// Days for which runs that have ended are kept.
pub const RETENTION_DAYS: u32 = 30;
/// The setting with another number of days.
const RETENTION: &str = "retention";
/// The setting that says when old runs were removed last.
const PRUNED: &str = "pruned";
/// The setting that says whether the calls of runs are kept.
const CALLS: &str = "calls";
/// The number of runs that are read together.
const PAGE: usize = 1000;
/// The first and the longest pause of who waits for an outcome.
const WAIT: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(250));

impl Store {
    /// Opens the journal at a path, or creates it. Other processes may have it open. A path that begins with
    /// `postgres://` or `postgresql://` is the address of a database, which processes on other machines may
    /// use too; that needs the feature `postgres`.
    ///
    /// # Errors
    /// If the file is not a journal, has a newer version, is damaged, or cannot be used at its location; if
    /// the database cannot be reached, is a replica, or does not let this role write.
    /// Errors have no passwords.
    pub fn open(path: &Path, options: &Options) -> Result<Store> {
        let cipher = Arc::new(Cipher::new(options.key.as_ref()));
        let backend: Arc<dyn Backend> = match path.to_str().filter(|text| is_address(text)) {
            Some(address) => connect(address, options.create, &cipher)?,
            None => Arc::new(Sqlite::open(path, options.create, &cipher)?),
        };
        let keeps_calls = AtomicBool::new(backend.reads().setting(CALLS)? == Some(1));
        Ok(Store { backend, cipher, program: Arc::default(), keeps_calls })
    }

    /// Accepts the server of a journal in PostgreSQL after a standby has taken over, or after it was restored
    /// from a back-up, once no process uses it. Calls that were begun are in doubt then. Returns how many.
    ///
    /// # Errors
    /// Those of [`Store::open`]; [`ErrorCode::Value`] if the journal is a file.
    pub fn after_failover(path: &Path, options: &Options) -> Result<usize> {
        match path.to_str().filter(|text| is_address(text)) {
            Some(address) => accept(address, &Cipher::new(options.key.as_ref())),
            None => Err(Error::new(
                ErrorCode::Value,
                "only a journal in a database has a server that can fail over",
            )),
        }
    }

    /// What people should know about the database of the journal.
    pub fn warnings(&self) -> &[String] {
        self.backend.warnings()
    }

    /// Calls a function with a text for people when the server of the journal has been away for a second, and
    /// when it answers again. A journal in a file has no server, and a second function is not called.
    pub fn tell(&self, tell: impl Fn(&str) + Send + Sync + 'static) {
        self.backend.tell(Box::new(tell));
    }

    /// The time, in milliseconds since 1970: that of the machine, or of the database.
    pub(crate) fn now(&self) -> i64 {
        self.backend.now()
    }

    /// Waits until it is sure that a run is still of this lease, before a call is made.
    pub(crate) fn may_call(&self, lease: &Lease) -> Result<()> {
        self.backend.owner().may_call(lease.owner, lease.run.id)
    }

    /// The real path of the journal, if it is a file.
    pub fn path(&self) -> Option<&Path> {
        self.backend.path()
    }

    /// The lock that marks this process as an owner, for a process that ends this one's commands if it is
    /// killed: until both have ended, nobody takes over the runs of this process. There is one only where the
    /// journal is a file.
    ///
    /// # Errors
    /// If the system cannot copy the lock.
    pub fn owner_lock(&self) -> Result<Option<File>> {
        self.backend.owner().lock().transpose()
    }

    /// Starts a run with its first record, or finds the run that has its name.
    ///
    /// # Errors
    /// [`ErrorCode::NameTaken`] if the run of that name has another program, function or input.
    pub fn start(&self, new: &NewRun<'_>, first: &FirstRecord<'_>) -> Result<Ticket<Started>> {
        self.start_with(new, first, &Attached::default())
    }

    /// As [`Store::start`], with more that is stored with the run.
    ///
    /// # Errors
    /// Those of [`Store::start`]; [`ErrorCode::Value`] if the metadata cannot be stored.
    pub fn start_with(
        &self,
        new: &NewRun<'_>,
        first: &FirstRecord<'_>,
        attached: &Attached,
    ) -> Result<Ticket<Started>> {
        self.start_after(new, first, attached, &[])
    }

    /// As [`Store::start_with`], after calls that are kept.
    pub(crate) fn start_after(
        &self,
        new: &NewRun<'_>,
        first: &FirstRecord<'_>,
        attached: &Attached,
        calls: &[Called],
    ) -> Result<Ticket<Started>> {
        attached.check()?;
        let (own, now) = (self.backend.owner().id(), self.backend.now());
        let mut prepared = Prepared::new(&self.cipher, new, first, own, now)?;
        let seal = |tools: &str| self.cipher.seal(&prepared.run.key, 0, Column::Detail, tools.as_bytes());
        prepared.tools = attached.tools.as_deref().map(seal).transpose()?;
        prepared.metadata = attached.metadata.clone();
        prepared.calls = self.called(0, &prepared.run.key, calls)?;
        let ticket = self.backend.submit(Write::Start(Box::new(prepared)));
        Ok(ticket.then(|written| match written {
            Written::Started(started) => Ok(*started),
            _ => Err(Error::other()),
        }))
    }

    /// Records a call. Wait for the ticket before the call is made; it says whether somebody has cancelled
    /// the run.
    ///
    /// # Errors
    /// If the state of the run does not allow the action. The ticket gives [`ErrorCode::Lost`] if another
    /// process has taken the run over.
    pub fn record(&self, lease: &mut Lease, record: &Record<'_>) -> Result<Ticket<bool>> {
        let live = self.next(lease, record)?;
        let ticket = self.backend.submit(Write::Record(Box::new(live)));
        Ok(ticket.then(|written| match written {
            Written::Recorded { cancel } => Ok(cancel),
            _ => Err(Error::other()),
        }))
    }

    fn next(&self, lease: &mut Lease, record: &Record<'_>) -> Result<Live> {
        let live = lease.next(&self.cipher, record, self.backend.now())?;
        (lease.state, lease.call) = (live.state, live.call);
        Ok(live)
    }

    /// Keeps calls as they were made. They are written with the next record at the latest, for which the
    /// caller waits.
    pub(crate) fn keep(&self, lease: &Lease, calls: &[Called]) -> Result<()> {
        let (run, epoch) = (lease.run.id, lease.epoch);
        let rows = self.called(run, &lease.run.key, calls)?;
        drop(self.backend.submit(Write::Calls { run, epoch, rows }));
        Ok(())
    }

    fn called(&self, run: i64, key: &[u8; RUN_KEY], calls: &[Called]) -> Result<Vec<DecisionRow>> {
        calls.iter().map(|called| called.row(&self.cipher, run, key)).collect()
    }

    /// Records that the run is at a call that changes nothing, or that its call has its answer
    /// ([`To::Answered`](crate::To::Answered)). Nobody waits for the record, and a later one replaces it. It
    /// is written with a transaction that begins at least 1 ms later, at the latest after 5 ms if it has an
    /// answer, else after 100 ms.
    ///
    /// # Errors
    /// If the state of the run does not allow the action.
    pub fn record_later(&self, lease: &mut Lease, record: &Record<'_>) -> Result<()> {
        let live = self.next(lease, record)?;
        self.backend.later(live);
        Ok(())
    }

    /// Ends a run with its outcome as JSON. Do not show the outcome before the ticket has been awaited.
    ///
    /// # Errors
    /// If the run cannot end in its state. The ticket gives [`ErrorCode::Lost`] if another process has taken
    /// the run over.
    pub fn end(&self, lease: Lease, outcome: &[u8]) -> Result<Ticket<()>> {
        let Lease { mut run, epoch, state, call, .. } = lease;
        if state.after(crate::state::Action::End).is_none() {
            return Err(state.refuse(crate::state::Action::End, &run.shown(), call));
        }
        run.ended = Some(self.backend.now());
        run.outcome = Some(self.cipher.seal(&run.key, 0, Column::Outcome, outcome)?);
        Ok(self.backend.submit(Write::End { run: Box::new(run), epoch }).then(|_| Ok(())))
    }

    /// Releases a run that this process does not continue.
    pub fn release(&self, lease: &Lease) -> Ticket<()> {
        self.backend.submit(Write::Release { run: lease.run.id, epoch: lease.epoch }).then(|_| Ok(()))
    }

    /// Takes a run over, if nobody works on it and nobody else must act first. To take over many runs,
    /// request all before waiting: they are written together.
    ///
    /// The ticket gives [`ErrorCode::NoRun`], [`ErrorCode::Owned`] or [`ErrorCode::Damaged`] if the run
    /// cannot be taken over.
    pub fn claim(&self, run: RunId) -> Ticket<Claim> {
        let (cipher, own) = (self.cipher.clone(), self.backend.owner().id());
        let decide = move |rows, alive: &dyn Alive, now| decide::claim(&cipher, own, rows, alive, now);
        let ticket = self.backend.change(run.0, Box::new(decide));
        let (backend, cipher, last) = (self.backend.clone(), self.cipher.clone(), self.program.clone());
        ticket.then(move |outcome| claim(&*backend, &cipher, &last, outcome))
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
        let decide = move |rows, alive: &dyn Alive, now| {
            decide::resolve(&cipher, (call, &decision, &who), rows, alive, now)
        };
        match self.backend.change(run.0, Box::new(decide)).block()? {
            Outcome::Decided(state) => Ok(state),
            _ => Err(Error::other()),
        }
    }

    /// Records that a person, `who`, knows that the process has ended which may have been making the call of
    /// a run. The run is in doubt, and neither [`Decision::Retry`] nor [`Store::export`] is refused for that
    /// process.
    ///
    /// # Errors
    /// [`ErrorCode::Owned`] if a process works on it, [`ErrorCode::NoRun`] if there is no such run,
    /// [`ErrorCode::Damaged`] if it is damaged.
    pub fn owner_ended(&self, run: RunId, who: &str) -> Result<()> {
        let (cipher, who) = (self.cipher.clone(), who.to_owned());
        let decide = move |rows, alive: &dyn Alive, now| decide::owner_ended(&cipher, &who, rows, alive, now);
        self.backend.change(run.0, Box::new(decide)).block().map(drop)
    }

    /// Says late what became of a call that this owner had begun before it was taken for dead or lost the
    /// run: its answer, or that it was not made.
    pub(crate) fn late(&self, held: Held, call: u64, answer: Option<&Answer>) {
        let (cipher, answer) = (self.cipher.clone(), answer.cloned());
        let decide = move |rows, alive: &dyn Alive, now| {
            let who = alive.shown(held.owner);
            decide::late(&cipher, (held, call, &who), answer.as_ref(), rows, now)
        };
        // Where it cannot be written, the call is in doubt.
        drop(self.backend.change(held.run, Box::new(decide)).block());
    }

    /// Waits until a run has ended, wherever it runs, and gives its outcome as JSON; nothing if it has not
    /// ended after this time.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn wait(&self, run: RunId, most: Duration) -> Result<Option<Vec<u8>>> {
        let (begun, mut pause) = (Instant::now(), WAIT.0);
        loop {
            let entry = self.backend.reads().run(run.0)?;
            if entry.ended.is_some() {
                return decide::outcome_of(&self.cipher, &entry).map(Some);
            }
            let left = most.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(WAIT.1);
        }
    }

    /// The run with this number or name.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is none.
    pub fn find(&self, text: &str) -> Result<RunId> {
        let reads = self.backend.reads();
        // A name may look like a number.
        if let Some(run) = reads.named(text)? {
            return Ok(RunId(run));
        }
        match number_of(text)? {
            Some(number) => reads.run(number).map(|run| RunId(run.id)),
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
        let filter =
            Filter { status: listed.status, name: listed.name.clone(), metadata: listed.metadata.clone() };
        let mut after = match listed.newest {
            Some(newest) => self.backend.reads().before_newest(&filter, newest)?,
            None => 0,
        };
        loop {
            let page = self.backend.reads().page(&filter, after, PAGE)?;
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
        self.backend.reads().count()
    }

    /// The subject of a run.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn subject(&self, run: RunId) -> Result<Option<String>> {
        Ok(self.backend.reads().run(run.0)?.subject)
    }

    /// How many runs of a subject have not ended.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn unfinished(&self, subject: &str) -> Result<usize> {
        self.backend.reads().unfinished(subject)
    }

    /// How many bytes the runs of a subject take: what they hold, and each of their programs once.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn bytes_of(&self, subject: &str) -> Result<usize> {
        self.backend.reads().bytes_of(subject)
    }

    /// The runs that a process may continue now, in the order of starting: they wait for no person and no
    /// later time. Another process may be at work on some of them.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn continuable(&self) -> Result<Vec<RunId>> {
        let (mut found, mut after) = (Vec::new(), 0);
        loop {
            let page = self.backend.reads().continuable(self.backend.now(), after, PAGE)?;
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
        self.backend.reads().damaged(&mut |run, error| each(RunId(run), error))
    }

    /// The time until the next sleeping run wakes, if there is one.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn next_wake(&self) -> Result<Option<Duration>> {
        let (wake, now) = (self.backend.reads().next_wake()?, self.backend.now());
        let left = |wake: i64| u64::try_from(wake.saturating_sub(now)).unwrap_or(0);
        Ok(wake.map(|wake| Duration::from_millis(left(wake))))
    }

    /// One run.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn show(&self, run: RunId) -> Result<Summary> {
        let (run, live) = self.backend.reads().both(run.0)?;
        self.summary(run, live)
    }

    /// What people have decided on a run, in order.
    ///
    /// # Errors
    /// If the journal is damaged.
    pub fn decisions(&self, run: RunId) -> Result<Vec<model::Decided>> {
        let mut found = self.backend.reads().decisions(run.0, None)?;
        found.retain(|row| ![EXPECTS, TOOLS, METADATA, CALLED].contains(&row.what.as_str()));
        let shown = |row: DecisionRow| model::Decided {
            call: row.call,
            at: row.at,
            tool: row.tool,
            what: row.what,
            who: row.who,
        };
        Ok(found.into_iter().map(shown).collect())
    }

    /// The calls that a run has made, in the order of their numbers, where the journal keeps them. A call of
    /// which a crash left no record is not among them, and one that was made again is there twice.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn calls(&self, run: RunId) -> Result<Vec<Called>> {
        let reads = self.backend.reads();
        let key = reads.run(run.0)?.key;
        let mut rows = reads.decisions(run.0, None)?;
        rows.retain(|row| row.what == CALLED);
        rows.into_iter().map(|row| Called::of(&self.cipher, &key, row)).collect()
    }

    /// Whether this process keeps the calls of runs.
    pub fn keeps_calls(&self) -> bool {
        self.keeps_calls.load(Ordering::Relaxed)
    }

    /// Sets whether the calls of runs are kept, with their arguments and answers, from now on. Other
    /// processes that have the journal open go on as before.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn keep_calls(&self, keeps: bool) -> Result<()> {
        self.backend.set(&[(CALLS, keeps.into())])?;
        self.keeps_calls.store(keeps, Ordering::Relaxed);
        Ok(())
    }

    /// The signatures of a run's tools, as they were when it was started; nothing if they were not stored.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn tools(&self, run: RunId) -> Result<Option<String>> {
        let reads = self.backend.reads();
        let key = reads.run(run.0)?.key;
        let rows = reads.decisions(run.0, Some(0))?;
        let Some(row) = rows.into_iter().find(|row| row.what == TOOLS) else { return Ok(None) };
        let text = self.cipher.open(&key, 0, Column::Detail, row.detail)?;
        String::from_utf8(text).map(Some).map_err(|_| Error::damaged("the signatures of a run's tools"))
    }

    /// The metadata with which a run was started.
    ///
    /// # Errors
    /// If the journal is damaged, or cannot be used.
    pub fn metadata(&self, run: RunId) -> Result<BTreeMap<String, String>> {
        self.backend.reads().metadata(run.0)
    }

    /// The idempotency keys of a run's calls, by their number.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn key(&self, run: RunId) -> Result<impl Fn(u64) -> String + use<>> {
        let key = self.backend.reads().run(run.0)?.key;
        Ok(move |call| idempotency_key(&key, call))
    }

    /// A program by its hash.
    ///
    /// # Errors
    /// If the journal is damaged.
    pub fn program(&self, hash: &[u8; 32]) -> Result<Vec<u8>> {
        self.cipher.program(hash, self.backend.reads().program(hash)?)
    }

    /// The run and the number of the call with this idempotency key, which its tool was given.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn find_key(&self, text: &str) -> Result<Option<(RunId, u64)>> {
        let Some((key, call)) = of_idempotency_key(text) else { return Ok(None) };
        Ok(self.backend.reads().of_key(&key)?.map(|run| (RunId(run), call)))
    }

    /// A text for a run and `part` that nobody can guess.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn handle(&self, run: RunId, part: &str) -> Result<String> {
        let key = self.backend.reads().run(run.0)?.key;
        let hash = sha256(&[&b"handle"[..], &key, part.as_bytes()].concat());
        Ok(hex(hash.get(..16).unwrap_or_default()))
    }

    /// Records that a run cannot continue with this build or these tools, and why. A later owner finds its
    /// state unchanged. A run on which a process works, or that waits for something else, is not changed.
    ///
    /// # Errors
    /// [`ErrorCode::NoRun`] if there is no such run, [`ErrorCode::Damaged`] if it is damaged.
    pub fn block(&self, run: RunId, why: &str) -> Result<()> {
        let (cipher, why) = (self.cipher.clone(), why.to_owned());
        let decide = move |rows, alive: &dyn Alive, now| decide::block(&cipher, &why, rows, alive, now);
        self.backend.change(run.0, Box::new(decide)).block().map(drop)
    }

    fn summary(&self, run: Run, live: Option<Live>) -> Result<Summary> {
        let at = match live {
            None => At::Ended {
                ended: run.ended.unwrap_or_default(),
                outcome: decide::outcome_of(&self.cipher, &run)?,
            },
            Some(live) => At::Live(Box::new(WaitingRun {
                blocked: match live.state {
                    State::Blocked(_) => {
                        let decided = self.backend.reads().decisions(run.id, Some(live.call))?;
                        decide::blocked(&self.cipher, (&run, &live), &decided)?
                    }
                    _ => None,
                },
                was: match (live.was, live.state) {
                    (Some(was), State::Doubt) => self.backend.reads().shown(was)?,
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
        self.backend.version()
    }

    /// Exports a run as bytes for another journal. A run that has not ended continues only there: here it
    /// stays as `exported`.
    ///
    /// # Errors
    /// [`ErrorCode::Owned`] if a process works on it, [`ErrorCode::OwnerMayLive`] if one that was taken for
    /// dead may still be making its call.
    pub fn export(&self, run: RunId) -> Result<Vec<u8>> {
        let decide = move |rows, alive: &dyn Alive, _| decide::export(rows, alive);
        let Outcome::Exported { run, live } = self.backend.change(run.0, Box::new(decide)).block()? else {
            return Err(Error::other());
        };
        // Nothing of it changes any more.
        let reads = self.backend.reads();
        let (mut decisions, program) = (reads.decisions(run.id, None)?, reads.program(&run.program)?);
        decisions.retain(|row| row.what != METADATA);
        let (metadata, settings) = (reads.metadata(run.id)?, reads.settings()?);
        drop(reads);
        portable::write(&Exported { run, live, decisions, program, metadata, settings })
    }

    /// Adds a run that was exported, from this journal or another one. Both have the same key, or none.
    ///
    /// # Errors
    /// If the bytes are not an exported run, the run is here already, or another run has its name.
    pub fn import(&self, bytes: &[u8]) -> Result<RunId> {
        let imported = portable::read(bytes, &self.cipher)?;
        match self.backend.submit(Write::Import(Box::new(imported))).block()? {
            Written::Imported(run) => Ok(run),
            _ => Err(Error::other()),
        }
    }

    /// Removes runs that ended more than this number of days ago. Returns how many. Runs that have not ended
    /// stay.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn prune(&self, days: u32) -> Result<usize> {
        self.backend.prune(self.backend.now().saturating_sub(DAY.saturating_mul(days.into())))
    }

    /// Days for which runs that have ended stay.
    ///
    /// # Errors
    /// If the journal is damaged.
    pub fn retention(&self) -> Result<u32> {
        let days = self.backend.reads().setting(RETENTION)?;
        Ok(days.and_then(|days| u32::try_from(days).ok()).unwrap_or(RETENTION_DAYS))
    }

    /// Sets for how many days ended runs are kept.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn set_retention(&self, days: u32) -> Result<()> {
        // The next process looks at once.
        self.backend.set(&[(PRUNED, 0), (RETENTION, days.into())])
    }

    /// Removes runs that are older than the retention time, once a day. Returns how many were removed.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn prune_daily(&self) -> Result<usize> {
        let (last, now) = (self.backend.reads().setting(PRUNED)?, self.backend.now());
        // A clock that was set back does not put it off.
        if last.is_some_and(|last| (last..last.saturating_add(DAY)).contains(&now)) {
            return Ok(0);
        }
        self.backend.set(&[(PRUNED, now)])?;
        self.prune(self.retention()?)
    }

    /// Limits the size of the file in pages of 4 KiB; without a number it is not limited. A write that would
    /// pass the limit is an error.
    ///
    /// # Errors
    /// If the file of the journal cannot be used.
    pub fn limit_pages(&self, most: Option<u32>) -> Result<()> {
        self.backend.limit_pages(most)
    }

    /// Checks all pages and all rows.
    ///
    /// # Errors
    /// The first damage found.
    pub fn check(&self) -> Result<()> {
        self.backend.reads().check()?;
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

#[cfg(feature = "postgres")]
fn connect(address: &str, create: bool, cipher: &Cipher) -> Result<Arc<dyn Backend>> {
    Ok(Arc::new(Postgres::open(address, create, cipher)?))
}

#[cfg(feature = "postgres")]
fn accept(address: &str, cipher: &Cipher) -> Result<usize> {
    Postgres::after_failover(address, cipher, crate::clock::now())
}

#[cfg(not(feature = "postgres"))]
fn connect(_address: &str, _create: bool, _cipher: &Cipher) -> Result<Arc<dyn Backend>> {
    Err(absent())
}

#[cfg(not(feature = "postgres"))]
fn accept(_address: &str, _cipher: &Cipher) -> Result<usize> {
    Err(absent())
}

#[cfg(not(feature = "postgres"))]
fn absent() -> Error {
    Error::new(ErrorCode::CannotOpen, "this build has no journals in PostgreSQL")
        .remedy("build it with the feature `postgres`")
}

/// What the caller of a claim gets.
fn claim(backend: &dyn Backend, cipher: &Cipher, last: &LastProgram, outcome: Outcome) -> Result<Claim> {
    match outcome {
        Outcome::Claimed { run, live, decided } => {
            let mut last = locked(last);
            if last.1.is_empty() || last.0 != run.program {
                let stored = backend.reads().program(&run.program)?;
                *last = (run.program, cipher.program(&run.program, stored)?.into());
            }
            let program = last.1.clone();
            drop(last);
            let claimed: Claimed = decide::claimed(cipher, (run, live, &decided), program)?;
            Ok(Claim::Mine(Box::new(claimed)))
        }
        Outcome::Waits { state, call, wake } => Ok(Claim::Waits { state, call, wake }),
        Outcome::Ended(run) => Ok(Claim::Ended { outcome: decide::outcome_of(cipher, &run)? }),
        Outcome::Decided(_) | Outcome::Exported { .. } | Outcome::Done => Err(Error::other()),
    }
}
