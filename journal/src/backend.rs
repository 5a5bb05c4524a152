//! The interface between the states of runs and a database: a write is data, and a decision is a pure
//! function of the rows of one run.

use crate::cipher::{Cipher, Column, RUN_KEY, sha256};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{FirstRecord, NewRun, RunId, Started};
use crate::queue::{Order, Ticket};
use crate::row::{DecisionRow, Live, Run};
use crate::state::{State, Status};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::File;
use std::ops::Deref;
use std::path::Path;
use std::sync::MutexGuard;

/// A write that needs nothing of what is stored but the epoch of its run.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    /// Writes a new run, or finds the one that has its name.
    Start(Box<Prepared>),
    /// Writes the record of an owner.
    Record(Box<Live>),
    /// Ends a run with its outcome, which is encrypted already.
    End { run: Box<Run>, epoch: i64 },
    /// Leaves a run to others. Nothing is lost.
    Release { run: i64, epoch: i64 },
    /// Adds calls as they were made to a run.
    Calls { run: i64, epoch: i64, rows: Vec<DecisionRow> },
    /// Adds a run that was read from bytes.
    Import(Box<Exported>),
}

impl Write {
    /// Its place among the records that nobody waits for.
    pub(crate) fn order(&self) -> Order {
        match self {
            Write::Record(live) => Order::Replaces(live.run),
            Write::End { run, .. } => Order::Replaces(run.id),
            Write::Release { .. } => Order::AfterAll,
            Write::Calls { .. } => Order::Before,
            Write::Start(_) | Write::Import(_) => Order::Any,
        }
    }
}

/// What a write gives.
#[derive(Debug)]
pub(crate) enum Written {
    /// The run was started or found.
    Started(Box<Started>),
    /// The record was written; whether somebody has cancelled the run.
    Recorded { cancel: bool },
    /// The number of an imported run.
    Imported(RunId),
    /// It was written.
    Done,
}

/// A run and its first record, encrypted.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) run: Run,
    /// Its stored form.
    pub(crate) program: Vec<u8>,
    pub(crate) live: Option<Live>,
    /// The owner that starts it.
    pub(crate) owner: i64,
    /// The signatures of its tools, in their stored form.
    pub(crate) tools: Option<Vec<u8>>,
    pub(crate) metadata: BTreeMap<String, String>,
    /// Calls that it has made before its first record.
    pub(crate) calls: Vec<DecisionRow>,
}

/// A run with all that belongs to it, as it is exported and imported.
#[derive(Clone, Debug)]
pub(crate) struct Exported {
    pub(crate) run: Run,
    pub(crate) live: Option<Live>,
    pub(crate) decisions: Vec<DecisionRow>,
    /// Its stored form.
    pub(crate) program: Vec<u8>,
    pub(crate) metadata: BTreeMap<String, String>,
    /// Settings of the journal; one of them recognizes its key.
    pub(crate) settings: Vec<(String, Vec<u8>)>,
}

/// The rows of one run at one moment.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) run: Run,
    pub(crate) live: Option<Live>,
    /// What was decided on the call at which it is, in order.
    pub(crate) decided: Result<Vec<DecisionRow>>,
    /// The time of the last of these.
    pub(crate) last: Option<i64>,
}

/// Replaces rows that were read with an epoch, whole or not at all.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) if_epoch: i64,
    pub(crate) live: Live,
    /// The entry of the run, where it changes too.
    pub(crate) entry: Option<Run>,
    pub(crate) decided: Option<DecisionRow>,
}

/// What a decision about rows gives.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The run was taken over. The state is that before it was claimed.
    Claimed { run: Run, live: Live, decided: Vec<DecisionRow> },
    /// Others must act first.
    Waits { state: State, call: u64, wake: Option<i64> },
    /// It has ended.
    Ended(Run),
    /// The state after a decision of a person.
    Decided(State),
    /// The run as it is to be exported.
    Exported { run: Run, live: Option<Live> },
    /// Nothing more is to be said.
    Done,
}

/// Decides about rows, by who lives and what time it is. It is pure, and may be called again.
pub(crate) type Decide =
    Box<dyn Fn(Rows, &dyn Alive, i64) -> Result<(Option<Change>, Outcome)> + Send + Sync>;

/// Whether an owner lives.
pub(crate) trait Alive {
    /// Whether the process with this id lives, or may live.
    fn lives(&self, id: i64) -> Result<bool>;

    /// The process for people.
    fn shown(&self, _id: i64) -> String {
        "another process".to_owned()
    }

    /// Whether the process may still make a call that it has begun, though its runs were taken over.
    fn may_speak(&self, _id: i64) -> bool {
        false
    }
}

/// This process as an owner of runs.
pub(crate) trait Ownership {
    /// Its id; another one after it was taken for dead.
    fn id(&self) -> i64;

    /// The lock that others recognize it by, if that is a file.
    fn lock(&self) -> Option<Result<File>>;

    /// Waits until an owner is sure to own this run, and fails where it has lost it.
    fn may_call(&self, _owner: i64, _run: i64) -> Result<()> {
        Ok(())
    }
}

/// A run with its row, or what is wrong with them, by its number.
pub(crate) type Found = (i64, Result<(Run, Option<Live>)>);

/// Which runs are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) status: Option<Status>,
    /// How their names begin.
    pub(crate) name: Option<String>,
    pub(crate) metadata: BTreeMap<String, String>,
}

/// What is read without deciding anything.
pub(crate) trait Reads {
    /// The entry of a run.
    fn run(&self, id: i64) -> Result<Run>;
    /// The entry of a run and its row, as they are at one moment.
    fn both(&self, id: i64) -> Result<(Run, Option<Live>)>;
    /// The number of the run with this name.
    fn named(&self, name: &str) -> Result<Option<i64>>;
    /// The number of the run with this key.
    fn of_key(&self, key: &[u8; RUN_KEY]) -> Result<Option<i64>>;
    /// A page of the runs that a filter leaves, in the order of their numbers, after a number.
    fn page(&self, filter: &Filter, after: i64, most: usize) -> Result<Vec<Found>>;
    /// A number below those of the `newest` latest runs that a filter leaves.
    fn before_newest(&self, filter: &Filter, newest: usize) -> Result<i64>;
    /// How many runs there are of each status.
    fn count(&self) -> Result<BTreeMap<&'static str, i64>>;
    /// How many runs of a subject have not ended.
    fn unfinished(&self, subject: &str) -> Result<usize>;
    /// How many bytes the runs of a subject take: what they hold, and each of their programs once.
    fn bytes_of(&self, subject: &str) -> Result<usize>;
    /// The runs after this one that a process may take now: those that wait for no person and no later time.
    fn continuable(&self, now: i64, after: i64, most: usize) -> Result<Vec<i64>>;
    /// Calls a function once with each run that has not ended and of which something cannot be read.
    fn damaged(&self, each: &mut dyn FnMut(i64, Error)) -> Result<()>;
    /// When the next run wakes, if one sleeps.
    fn next_wake(&self) -> Result<Option<i64>>;
    /// The decisions on a run, or on one of its calls, in order.
    fn decisions(&self, run: i64, call: Option<u64>) -> Result<Vec<DecisionRow>>;
    /// The metadata of a run.
    fn metadata(&self, run: i64) -> Result<BTreeMap<String, String>>;
    /// An owner for people, if it is known and may still be making a call.
    fn shown(&self, _owner: i64) -> Result<Option<String>> {
        Ok(None)
    }
    /// The stored form of a program.
    fn program(&self, hash: &[u8; 32]) -> Result<Vec<u8>>;
    /// A setting that is a number.
    fn setting(&self, name: &str) -> Result<Option<i64>>;
    /// All settings, in their stored form.
    fn settings(&self) -> Result<Vec<(String, Vec<u8>)>>;
    /// Whether the tables themselves are whole.
    fn check(&self) -> Result<()>;
}

/// What reads, while it is held. From a file others read only after it was dropped.
pub(crate) enum ReadAccess<'b> {
    File(MutexGuard<'b, Connection>),
    Server(&'b dyn Reads),
}

impl<'b> Deref for ReadAccess<'b> {
    type Target = dyn Reads + 'b;

    fn deref(&self) -> &Self::Target {
        match self {
            ReadAccess::File(connection) => &**connection,
            ReadAccess::Server(server) => *server,
        }
    }
}

/// Tells people that a server is away, or answers again.
pub(crate) type Tell = Box<dyn Fn(&str) + Send + Sync>;

/// A database with runs.
pub(crate) trait Backend: Debug + Send + Sync {
    /// Writes, with others in one group.
    fn submit(&self, write: Write) -> Ticket<Written>;
    /// Writes the latest record of a run that nobody waits for.
    fn later(&self, live: Live);
    /// Reads the rows of a run, decides, and writes if they still have the epoch that was read.
    fn change(&self, run: i64, decide: Decide) -> Ticket<Outcome>;
    fn reads(&self) -> ReadAccess<'_>;
    fn owner(&self) -> &dyn Ownership;
    /// The time, in milliseconds since 1970.
    fn now(&self) -> i64;
    /// A number that changes when another connection has written.
    fn version(&self) -> Result<i64>;
    /// Stores settings that are numbers.
    fn set(&self, settings: &[(&'static str, i64)]) -> Result<()>;
    /// Removes runs that ended before a time. Returns how many.
    fn prune(&self, before: i64) -> Result<usize>;
    /// The file, if it is one.
    fn path(&self) -> Option<&Path>;
    /// Limits the size of the file in pages, where there is a file.
    fn limit_pages(&self, most: Option<u32>) -> Result<()>;
    /// Calls a function when the server of the database is away, and when it answers again.
    fn tell(&self, _tell: Tell) {}
    /// What people should know about the database.
    fn warnings(&self) -> &[String] {
        &[]
    }
}

impl Prepared {
    /// Makes the rows of a new run.
    pub(crate) fn new(
        cipher: &Cipher,
        new: &NewRun<'_>,
        first: &FirstRecord<'_>,
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
            FirstRecord::Call(record) => {
                if State::Ready.after(record.to.action()).is_none() && record.to.state() != State::Ready {
                    let message = format!("a run cannot begin as {}", record.to.state());
                    return Err(Error::new(ErrorCode::Value, message));
                }
                Some(record.row(cipher, &key, (0, 1), owner, now)?)
            }
            FirstRecord::Ended(outcome) => {
                run.ended = Some(now);
                run.outcome = Some(cipher.seal(&key, 0, Column::Outcome, outcome)?);
                None
            }
        };
        let program = cipher.seal(&hash, 0, Column::Program, new.program)?;
        Ok(Prepared { run, program, live, owner, tools: None, metadata: BTreeMap::new(), calls: Vec::new() })
    }

    /// Whether this run, which has the same name, is the one to be started.
    pub(crate) fn is_same(&self, found: &Run) -> Result<()> {
        let same = (found.input, found.program) == (self.run.input, self.run.program)
            && (&found.function, &found.subject) == (&self.run.function, &self.run.subject);
        if same {
            return Ok(());
        }
        let message = format!("run {} has another program, function or input", found.shown());
        Err(Error::new(ErrorCode::NameTaken, message))
    }
}

/// Another process has the run.
pub(crate) fn lost(run: i64) -> Error {
    Error::new(ErrorCode::Lost, format!("another process has taken run {run} over, or it was decided on"))
}

/// The error where there is no such run.
pub(crate) fn no_run(id: i64) -> Error {
    Error::new(ErrorCode::NoRun, format!("the journal has no run {id}"))
}
