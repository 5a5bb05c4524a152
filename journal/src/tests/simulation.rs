//! A deterministic simulation on the real statements and tables: processes that die, lose their runs while
//! they live, get no answers or find the disk full, and people who decide, in an order that depends on a
//! seed.
//!
//! `ILO_SEEDS` and `ILO_SEED` choose how many seeds there are and where they begin. The mutants at the end
//! are wrong implementations, each of which the simulation must notice.

use crate::answer::Answer;
use crate::backend::{Alive, Decide, Outcome, Prepared, Reads as _, Write, Written};
use crate::cipher::Cipher;
use crate::decide;
use crate::error::{Error, ErrorCode, Result};
use crate::limits::RunLimits;
use crate::model::{Decision, FirstRecord, Lease, NewRun, Record, To};
use crate::policy::{Effect, RecordedPolicy};
#[cfg(feature = "postgres")]
use crate::postgres::{Fate, tests::ledger::Ledger};
use crate::recovery::{NoAnswer, Recovery, after_claim, without_answer};
use crate::row::{Live, Run};
use crate::sqlite::{self, STATEMENTS, Statements, Tables};
use crate::state::State;
use rusqlite::Connection;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What an implementation may do wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mutant {
    #[default]
    None,
    /// The call is made before its record is on disk.
    NoWait,
    /// The call is recorded only once it was made.
    RecordAfter,
    /// A record brings back the row of a run that has ended.
    Upsert,
    /// A record does not look at the epoch.
    NoEpoch,
    /// A call that may have been made is made again after a crash.
    AlwaysAgain,
    /// A failed write is ignored.
    IgnoreErrors,
    /// A process that has lost its run says of a call with an answer that it was not made. In a file nobody
    /// hears it: no process there loses a run while it lives.
    LateLie,
    /// A process says of a call that it was not made, and makes it.
    LateCall,
}

impl Mutant {
    fn statements(self) -> Statements {
        match self {
            Mutant::NoEpoch => Statements {
                record: "UPDATE live SET owner=?3, state=?4, call=?5, tool=?6, policy=?7, digest=?8, tries=?9, \
                         active_ms=?10, wake=?11, since=?12, snapshot=?14, answer=?15, epoch=?2, sum=?16 \
                         WHERE run=?1 RETURNING cancel",
                ..STATEMENTS
            },
            Mutant::Upsert => Statements {
                record: "INSERT INTO live(run, epoch, owner, state, call, tool, policy, digest, tries, active_ms, \
                         wake, since, cancel, snapshot, answer, sum) \
                         VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16) \
                         ON CONFLICT(run) DO UPDATE SET owner=?3, state=?4, call=?5, tool=?6, policy=?7, \
                         digest=?8, tries=?9, active_ms=?10, wake=?11, since=?12, snapshot=?14, answer=?15, \
                         sum=?16 WHERE epoch=?2 RETURNING cancel",
                ..STATEMENTS
            },
            _ => STATEMENTS,
        }
    }
}

thread_local! {
    static TIME: Cell<i64> = const { Cell::new(0) };
}

fn time() -> i64 {
    TIME.get()
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }
}

/// Processes that live, as far as others can see.
#[derive(Default)]
struct Living {
    ids: RefCell<BTreeSet<i64>>,
    /// Locks are worth nothing now, so that runs are stolen from processes that live.
    blind: Cell<bool>,
}

impl Alive for Living {
    fn lives(&self, id: i64) -> Result<bool> {
        Ok(!self.blind.get() && self.ids.borrow().contains(&id))
    }
}

/// What a process does with its run.
enum Phase {
    /// The pending call is to be recorded, or asked for.
    Come { approved: bool },
    /// The record is on its way; afterwards the call is made, unless the run waits then.
    Writing { row: Box<Live>, made: bool, waits: bool },
    /// The record is on disk; whether this process is the first that may make the call.
    Recorded { first: bool },
    /// The outcome is on its way.
    Ending(Box<Run>),
}

struct Work {
    lease: Lease,
    call: u64,
    phase: Phase,
    /// The last call of which it has the answer.
    answered: Option<u64>,
}

struct Process {
    id: i64,
    work: Option<Work>,
}

/// Where the runs are.
enum Place {
    File(Tables),
    #[cfg(feature = "postgres")]
    Database(RefCell<Box<Ledger>>),
}

struct Simulation {
    mutant: Mutant,
    random: Random,
    place: Place,
    cipher: Arc<Cipher>,
    living: Living,
    processes: Vec<Process>,
    /// The policies of each run's calls.
    plans: Vec<Vec<RecordedPolicy>>,
    /// How often each call of each run took effect.
    effects: BTreeMap<(i64, u64), u64>,
    /// How often a person had each call made again.
    retries: BTreeMap<(i64, u64), u64>,
    ended: BTreeSet<i64>,
    counts: [u64; 5],
    #[cfg(feature = "postgres")]
    asked: Cell<u64>,
}

const RUNS: usize = 3;
const PROCESSES: i64 = 3;
/// Events with faults; after them the runs end undisturbed.
const DISTURBED: usize = 120;
const EVENTS: usize = 4000;

impl Simulation {
    fn file(mutant: Mutant) -> Place {
        let connection = Connection::open_in_memory().unwrap();
        sqlite::create(&connection, &Cipher::new(None)).unwrap();
        connection.set_prepared_statement_cache_capacity(64);
        Place::File(Tables { connection, statements: mutant.statements(), now: time })
    }

    fn new(seed: u64, mutant: Mutant, place: Place) -> Simulation {
        let mut random = Random(seed);
        let kinds = [
            RecordedPolicy::of(Effect::Changes),
            RecordedPolicy::of(Effect::Changes),
            RecordedPolicy::of(Effect::Idempotent),
            RecordedPolicy { confirm: true, ..RecordedPolicy::of(Effect::Changes) },
        ];
        let plans = (0..RUNS)
            .map(|_| (0..=random.below(4)).map(|_| kinds[random.index(kinds.len())]).collect())
            .collect();
        let processes = (1..=PROCESSES).map(|id| Process { id, work: None }).collect();
        let living = Living::default();
        living.ids.borrow_mut().extend(1..=PROCESSES);
        let (effects, retries, ended) = Default::default();
        Simulation {
            mutant,
            random,
            place,
            cipher: Arc::new(Cipher::new(None)),
            living,
            processes,
            plans,
            effects,
            retries,
            ended,
            counts: [0; 5],
            #[cfg(feature = "postgres")]
            asked: Cell::new(seed),
        }
    }

    /// Writes; the disk may be full.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(clippy::needless_pass_by_value, reason = "a database keeps it")
    )]
    fn write(&self, full: bool, write: Write) -> Result<Written> {
        match &self.place {
            Place::File(tables) => transaction(tables, full, |tables| tables.write(&write)),
            #[cfg(feature = "postgres")]
            Place::Database(ledger) => {
                // A start that is sent twice leaves a gap in the numbers, which are expected from 1 here.
                let fate = match &write {
                    _ if full => Fate::Refused,
                    Write::Start(_) => Fate::Kept,
                    _ => self.fate(),
                };
                ledger.borrow_mut().write(write, fate)
            }
        }
    }

    /// Decides about a run.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(clippy::needless_pass_by_value, reason = "a database keeps it")
    )]
    fn change(&self, run: i64, decide: Decide) -> Result<Outcome> {
        match &self.place {
            Place::File(tables) => {
                transaction(tables, false, |tables| tables.change(&self.living, run, &decide))
            }
            #[cfg(feature = "postgres")]
            Place::Database(ledger) => {
                let mut ledger = ledger.borrow_mut();
                let (nobody, living) = (BTreeSet::new(), self.living.ids.borrow());
                ledger.owners(if self.living.blind.get() { &nobody } else { &living });
                ledger.change(run, decide, self.fate())
            }
        }
    }

    /// One answer in four is lost after the commit.
    #[cfg(feature = "postgres")]
    fn fate(&self) -> Fate {
        self.asked.set(self.asked.get() + 1);
        if self.asked.get() % 4 == 3 { Fate::Unheard } else { Fate::Kept }
    }

    fn both(&self, run: i64) -> Result<(Run, Option<Live>)> {
        match &self.place {
            Place::File(tables) => tables.connection.both(run),
            #[cfg(feature = "postgres")]
            Place::Database(ledger) => ledger.borrow_mut().both(run),
        }
    }

    fn policy(&self, run: i64, call: u64) -> Option<RecordedPolicy> {
        let plan = &self.plans[usize::try_from(run - 1).unwrap()];
        plan.get(usize::try_from(call - 1).unwrap()).copied()
    }

    fn record(to: To, call: u64, policy: RecordedPolicy) -> Record<'static> {
        Record {
            to,
            call,
            tool: "t",
            policy,
            arguments: b"{}",
            active_ms: 0,
            snapshot: b"s",
            answer: None,
            expects: None,
        }
    }

    /// Starts the runs; each is ready at its first call.
    fn begin(&mut self) {
        for run in 0..RUNS {
            let limits = RunLimits::default();
            let name = format!("r{run}");
            let new = NewRun {
                name: Some(&name),
                input: b"{}",
                program: b"p",
                function: "f",
                limits: &limits,
                subject: None,
            };
            let first = Simulation::record(To::Ready, 1, self.plans[run][0]);
            let prepared = Prepared::new(&self.cipher, &new, &FirstRecord::Call(first), 99, 0).unwrap();
            self.write(false, Write::Start(Box::new(prepared))).unwrap();
        }
    }

    fn run(&mut self) -> std::result::Result<(), String> {
        TIME.set(0);
        self.begin();
        for event in 0..EVENTS {
            let disturbed = event < DISTURBED;
            // The clock may be set back.
            TIME.set(TIME.get() + 1 - if disturbed && self.random.one_in(9) { 50 } else { 0 });
            let at = self.random.index(self.processes.len());
            if disturbed && self.random.one_in(12) {
                self.crash(at);
            } else if self.random.one_in(4) {
                self.decide();
            } else {
                self.step(at, disturbed);
            }
            if self.ended.len() == RUNS && !disturbed {
                break;
            }
        }
        self.judge()
    }

    /// The process dies; another one takes its place.
    fn crash(&mut self, at: usize) {
        let id = self.processes.iter().map(|process| process.id).max().unwrap_or(0) + 1;
        self.living.ids.borrow_mut().remove(&self.processes[at].id);
        self.living.ids.borrow_mut().insert(id);
        self.processes[at] = Process { id, work: None };
        self.counts[0] += 1;
    }

    fn step(&mut self, at: usize, disturbed: bool) {
        match self.processes[at].work.take() {
            None => self.claim(at, disturbed),
            Some(work) => {
                let work = self.go_on(work, disturbed);
                self.processes[at].work = work;
            }
        }
    }

    fn claim(&mut self, at: usize, disturbed: bool) {
        let run = i64::try_from(self.random.index(RUNS)).unwrap() + 1;
        let id = self.processes[at].id;
        self.living.blind.set(disturbed && self.random.one_in(3));
        let cipher = self.cipher.clone();
        let decide = move |rows, alive: &dyn Alive, now| decide::claim(&cipher, id, rows, alive, now);
        let claim = self.change(run, Box::new(decide));
        self.living.blind.set(false);
        let Ok(Outcome::Claimed { run: row, live, decided }) = claim else { return };
        let claimed = decide::claimed(&self.cipher, (row, live, &decided), b"p"[..].into()).unwrap();
        let then = claimed.policy;
        let now = Some(self.policy(run, claimed.call).unwrap());
        let mut recovery = after_claim(claimed.state, then, now, claimed.tries);
        if self.mutant == Mutant::AlwaysAgain && recovery == Recovery::Doubt {
            recovery = Recovery::Again;
        }
        let (lease, call, answered) = (claimed.lease, claimed.call, None);
        let work = match recovery {
            Recovery::Make => {
                Work { lease, call, phase: Phase::Come { approved: claimed.approved }, answered }
            }
            Recovery::Again => Work { lease, call, phase: Phase::Recorded { first: false }, answered },
            Recovery::Doubt => self.suspend((lease, call, answered), To::Doubt),
            Recovery::Apply => self.next(lease, call),
            Recovery::Wait | Recovery::Block => unreachable!("it was claimed, and its tools are there"),
        };
        self.processes[at].work = Some(work);
    }

    fn suspend(&mut self, (mut lease, call, answered): (Lease, u64, Option<u64>), to: To) -> Work {
        let record = Simulation::record(to, call, self.policy(lease.run.id, call).unwrap());
        let row = lease.next(&self.cipher, &record, time()).unwrap();
        (lease.state, lease.call) = (row.state, row.call);
        let phase = Phase::Writing { row: Box::new(row), made: false, waits: true };
        Work { lease, call, phase, answered }
    }

    /// The run has the answer of a call, and comes to the next one or its end.
    fn next(&mut self, lease: Lease, call: u64) -> Work {
        if self.policy(lease.run.id, call + 1).is_some() {
            let phase = Phase::Come { approved: false };
            return Work { lease, call: call + 1, phase, answered: Some(call) };
        }
        let mut run = lease.run.clone();
        (run.ended, run.outcome) = (Some(time()), Some(b"{}".to_vec()));
        Work { lease, call, phase: Phase::Ending(Box::new(run)), answered: Some(call) }
    }

    /// Says late what became of a call.
    fn late(&mut self, lease: &Lease, call: u64, made: bool) {
        let (cipher, held) = (self.cipher.clone(), lease.held());
        let lies = self.mutant == Mutant::LateLie;
        let answer = (made && !lies).then(|| Answer::Ok("1".to_owned()));
        let decide = move |rows, _: &dyn Alive, now| {
            decide::late(&cipher, (held, call, "p"), answer.as_ref(), rows, now)
        };
        self.change(lease.run.id, Box::new(decide)).unwrap();
        self.counts[4] += 1;
    }

    fn go_on(&mut self, work: Work, disturbed: bool) -> Option<Work> {
        let Work { mut lease, call, phase, answered } = work;
        let run = lease.run.id;
        let policy = self.policy(run, call).unwrap();
        match phase {
            Phase::Come { approved } if policy.confirm && !approved => {
                Some(self.suspend((lease, call, answered), To::Asking))
            }
            Phase::Come { .. } => {
                let record = Simulation::record(To::Calling, call, policy);
                let row = lease.next(&self.cipher, &record, time()).unwrap();
                (lease.state, lease.call) = (row.state, row.call);
                let early = matches!(self.mutant, Mutant::NoWait | Mutant::RecordAfter);
                if early {
                    *self.effects.entry((run, call)).or_default() += 1;
                }
                let phase = Phase::Writing { row: Box::new(row), made: early, waits: false };
                Some(Work { lease, call, phase, answered })
            }
            Phase::Writing { row, made, waits } => {
                let full = disturbed && self.random.one_in(10);
                let written = self.write(full, Write::Record(row));
                if let (Some(answered), Err(ErrorCode::Lost)) =
                    (answered, written.as_ref().map_err(|e| e.code))
                {
                    self.late(&lease, answered, true);
                }
                if written.is_err() && self.mutant != Mutant::IgnoreErrors {
                    // No call is made after a failed write, and the run is left to others.
                    self.release(&lease);
                    return None;
                }
                match (waits, made) {
                    (true, _) => None,
                    (false, true) => Some(self.next(lease, call)),
                    (false, false) => {
                        Some(Work { lease, call, phase: Phase::Recorded { first: true }, answered })
                    }
                }
            }
            // It is not sure to be an owner any more, and does not make the call.
            Phase::Recorded { first } if disturbed && self.random.one_in(6) => {
                if first {
                    self.late(&lease, call, false);
                }
                if self.mutant == Mutant::LateCall {
                    *self.effects.entry((run, call)).or_default() += 1;
                }
                self.release(&lease);
                None
            }
            Phase::Recorded { .. } => Some(self.make((lease, call, policy), disturbed)),
            Phase::Ending(row) => {
                let full = disturbed && self.random.one_in(10);
                match self.write(full, Write::End { run: row, epoch: lease.epoch }) {
                    Ok(_) => assert!(self.ended.insert(run), "run {run} has ended twice"),
                    Err(error) => {
                        if error.code == ErrorCode::Lost {
                            self.late(&lease, call, true);
                        }
                        self.release(&lease);
                    }
                }
                None
            }
        }
    }

    fn release(&mut self, lease: &Lease) {
        drop(self.write(false, Write::Release { run: lease.run.id, epoch: lease.epoch }));
    }

    /// Makes a call: it takes effect and is answered, or no answer comes.
    fn make(&mut self, (lease, call, policy): (Lease, u64, RecordedPolicy), disturbed: bool) -> Work {
        let run = lease.run.id;
        let answered = !(disturbed && self.random.one_in(8));
        if answered || self.random.one_in(2) {
            *self.effects.entry((run, call)).or_default() += 1;
        }
        if answered {
            return self.next(lease, call);
        }
        self.counts[1] += 1;
        match without_answer(policy, 1) {
            NoAnswer::Retry => Work { lease, call, phase: Phase::Recorded { first: false }, answered: None },
            _ => self.suspend((lease, call, None), To::Doubt),
        }
    }

    /// A person looks at a run that waits, finds out what has happened, and decides.
    fn decide(&mut self) {
        let run = i64::try_from(self.random.index(RUNS)).unwrap() + 1;
        let Ok((_, Some(live))) = self.both(run) else { return };
        let made = self.effects.get(&(run, live.call)).copied().unwrap_or(0);
        let decision = match live.state {
            State::Asking => Decision::Approve,
            State::Doubt if made > 0 => Decision::Answer("1".into()),
            State::Doubt => Decision::Retry,
            _ => return,
        };
        if decision == Decision::Retry {
            *self.retries.entry((run, live.call)).or_default() += 1;
        }
        self.counts[2] += 1;
        let resolve = || {
            let (cipher, call, decision) = (self.cipher.clone(), live.call, decision.clone());
            let decide = move |rows, alive: &dyn Alive, now| {
                decide::resolve(&cipher, (Some(call), &decision, "p"), rows, alive, now)
            };
            self.change(run, Box::new(decide))
        };
        let mut resolved = resolve();
        if resolved.as_ref().is_err_and(|error| error.code == ErrorCode::OwnerMayLive) {
            // A person who does not wait for the process that began the call.
            let cipher = self.cipher.clone();
            let decide =
                move |rows, alive: &dyn Alive, now| decide::owner_ended(&cipher, "p", rows, alive, now);
            self.change(run, Box::new(decide)).unwrap();
            resolved = resolve();
        }
        assert!(resolved.is_ok(), "{resolved:?}");
    }

    /// Every run has ended, each call took effect, and none twice unless a person had it made again.
    fn judge(&mut self) -> std::result::Result<(), String> {
        for (at, plan) in self.plans.iter().enumerate() {
            let run = i64::try_from(at).unwrap() + 1;
            let found = self.both(run).map_err(|error| error.to_string())?;
            if found.1.is_some() || !self.ended.contains(&run) {
                return Err(format!("run {run} has not ended"));
            }
            for (call, policy) in (1..).zip(plan) {
                let made = self.effects.get(&(run, call)).copied().unwrap_or(0);
                let most = match policy.effect {
                    Effect::Changes => 1 + self.retries.get(&(run, call)).copied().unwrap_or(0),
                    Effect::Idempotent | Effect::Reads => u64::MAX,
                };
                if made == 0 {
                    return Err(format!("run {run}: call {call} was lost"));
                }
                if made > most {
                    return Err(format!("run {run}: call {call} was made {made} times in silence"));
                }
                self.counts[3] += made - 1;
            }
        }
        Ok(())
    }
}

/// Runs a function in a transaction of a file; the disk may be full.
fn transaction<T>(tables: &Tables, full: bool, work: impl FnOnce(&Tables) -> Result<T>) -> Result<T> {
    let mut result = None;
    sqlite::transaction(tables, |tables| {
        let done = work(tables);
        if let Err(error) = &done
            && error.aborts
        {
            return Err(error.clone());
        }
        result = Some(done);
        if full { Err(Error::new(ErrorCode::Full, "no room")) } else { Ok(()) }
    })?;
    result.unwrap()
}

fn simulate(seed: u64, mutant: Mutant) -> std::result::Result<[u64; 5], String> {
    simulate_in(Simulation::file(mutant), seed, mutant)
}

fn simulate_in(place: Place, seed: u64, mutant: Mutant) -> std::result::Result<[u64; 5], String> {
    let mut simulation = Simulation::new(seed, mutant, place);
    simulation.run()?;
    Ok(simulation.counts)
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn runs_end_as_if_nothing_had_happened_whatever_happens() {
    let (seeds, first) = (number("ILO_SEEDS", 300), number("ILO_SEED", 0));
    let mut total = [0; 5];
    for seed in first..first + seeds {
        let counts = simulate(seed, Mutant::None).unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
        total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
    }
    let [crashes, silences, decisions, again, words] = total;
    println!(
        "{seeds} seeds from {first}: {crashes} crashes, {silences} calls without an answer, {decisions} decisions, \
         {words} late words, {again} calls made again; 0 violations"
    );
    assert!(crashes > seeds && decisions > seeds / 2 && again > 0 && words > seeds / 2, "{total:?}");
}

#[test]
fn every_mutant_is_caught() {
    let mutants = [
        Mutant::NoWait,
        Mutant::RecordAfter,
        Mutant::Upsert,
        Mutant::NoEpoch,
        Mutant::AlwaysAgain,
        Mutant::IgnoreErrors,
        Mutant::LateCall,
    ];
    for mutant in mutants {
        let caught = (0..400).find(|&seed| {
            std::panic::catch_unwind(|| simulate(seed, mutant)).map_or(true, |judged| judged.is_err())
        });
        assert!(caught.is_some(), "{mutant:?} was not caught");
        println!("{mutant:?}: caught by seed {}", caught.unwrap_or_default());
    }
}

#[cfg(feature = "postgres")]
#[path = "../../tests/support/server.rs"]
#[allow(unreachable_pub, reason = "the tests outside use it too")]
pub(crate) mod server;

/// The same with a real server, where a quarter of the answers is lost after the commit.
#[cfg(feature = "postgres")]
#[test]
fn runs_end_in_a_database_as_in_a_file() {
    let Some(server) = server::Server::start() else { return };
    let address = server.address("");
    let ledger = || Place::Database(RefCell::new(Box::new(Ledger::new(address.to_str().unwrap(), time))));
    let (seeds, first) = (number("ILO_DATABASE_SEEDS", 2), number("ILO_SEED", 0));
    let mut total = [0; 5];
    for seed in first..first + seeds {
        let counts = simulate_in(ledger(), seed, Mutant::None);
        let counts = counts.unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
        total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
    }
    let [crashes, silences, decisions, again, words] = total;
    println!(
        "PostgreSQL: {seeds} seeds from {first}: {crashes} crashes, {silences} calls without an answer, \
         {decisions} decisions, {words} late words, {again} calls made again; 0 violations"
    );
    for mutant in [
        Mutant::NoWait,
        Mutant::RecordAfter,
        Mutant::AlwaysAgain,
        Mutant::IgnoreErrors,
        Mutant::LateLie,
        Mutant::LateCall,
    ] {
        let caught = (0..40).find(|&seed| {
            std::panic::catch_unwind(|| simulate_in(ledger(), seed, mutant))
                .map_or(true, |judged| judged.is_err())
        });
        assert!(caught.is_some(), "{mutant:?} was not caught");
        println!("PostgreSQL: {mutant:?}: caught by seed {}", caught.unwrap_or_default());
    }
}
