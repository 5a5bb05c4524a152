//! `resume`: continues runs of a journal.

use super::super::lock::LockArgs;
use super::super::run::Watch;
use super::super::{Exit, Refused, load, output, tools_of};
use super::drive::Driver;
use super::{Place, SharedArgs, person, shown};
use ilo_host::problem::Problem;
use ilo_host::run::{CallSlots, Options};
use ilo_host::tools::Tools;
use ilo_journal::{At, Decision, Error, ErrorCode, Programs, RunId, State, Store, Summary};
use ilo_spec::error::Code;
use ilo_spec::limits;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest interval between checks for changes by others.
const LOOK: Duration = Duration::from_secs(1);

const HELP: &str = "\
Without RUN, every run is continued that can be. A run that waits for a person is not.
Standard output is the outcome of each run, a line each.

A run whose tools are missing, or have changed so that a call that it has not made yet no longer fits, or against the \
file of --lock, is `blocked`: it calls nothing, and `resume` continues it once they are as they were, or with --update. A run that this release cannot read stays as it is. \
A damaged run is reported, and the others are continued.

With --watch this process stays until a signal, or until the runs that were named have ended: it wakes runs that sleep \
when it is time, and continues runs as people decide on them, one at a time.

Exit codes: those of `run`, 4 where a run waits; the highest of several runs

Example: ilo-vm resume --journal runs.journal --tools tools.json
Example: ilo-vm resume --watch --journal runs.journal --tools tools.json
Example: ilo-vm resume 7 --journal runs.journal --tools tools.json --fuel 50000000";

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// Numbers or names of runs
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shared: SharedArgs,
    /// Stay, and continue runs as soon as they can be
    #[arg(long)]
    watch: bool,
    /// The tools file
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    #[command(flatten)]
    lock: LockArgs,
    /// Time limit of a tool call, in milliseconds, unless its entry sets another one
    #[arg(long, value_name = "MS", default_value_t = limits::DEFAULT_CALL_MS)]
    call_timeout: u64,
    /// Simultaneous calls of read-only tools; with 1, one call at a time
    #[arg(long, value_name = "N", default_value_t = limits::DEFAULT_CALLS_UNDER_WAY)]
    max_calls_at_once: usize,
    #[command(flatten)]
    more: More,
    #[command(flatten)]
    files: load::FileLimits,
}

/// Higher limits, for runs that have used theirs up.
#[derive(clap::Args)]
#[command(next_help_heading = "New limits of a run that has used up its own")]
struct More {
    /// Fuel (roughly, the number of instructions), including what was used before
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    /// Tool calls, including those made before
    #[arg(long, value_name = "N")]
    calls: Option<u64>,
    /// Time limit for the work of a run, in milliseconds, including earlier work
    #[arg(long, value_name = "MS")]
    time: Option<u64>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Refused> {
    let store = args.shared.open(&args.place.journal, &args.place.key, false)?;
    let named = args.runs.iter().map(|run| store.find(run)).collect::<Result<Vec<_>, _>>()?;
    let runs = if named.is_empty() { store.continuable()? } else { named.clone() };
    #[cfg(target_os = "linux")]
    if let Some(lock) = store.owner_lock()? {
        super::super::cleanup_process::hold(lock);
    }
    super::tidy(&store);
    let tools = tools_of(args.tools.as_deref())?;
    let (watch, codes) = (Watch::durable(None), BTreeMap::new());
    let (unreadable, skipped) = (BTreeSet::new(), BTreeSet::new());
    let mut work = Work { args, store, tools, watch, codes, unreadable, skipped };
    if named.is_empty() {
        work.damaged()?;
    }
    let runs: Vec<RunId> = runs.into_iter().filter(|run| !work.unreadable.contains(run)).collect();
    work.pass(&runs)?;
    if args.watch {
        work.stay(&named)?;
    }
    let Work { watch, codes, .. } = work;
    watch.finish();
    Ok(codes.into_values().max().unwrap_or(Exit::Ok))
}

/// Continuing runs, one after another.
struct Work<'a> {
    args: &'a Args,
    store: Arc<Store>,
    tools: Tools,
    watch: Watch,
    /// The last state in which each run was left.
    codes: BTreeMap<RunId, Exit>,
    /// Runs that are damaged, or that this release cannot read: they are reported once.
    unreadable: BTreeSet<RunId>,
    /// Runs of other processes: they are reported once.
    skipped: BTreeSet<RunId>,
}

impl Work<'_> {
    /// Reports the runs that nobody can continue, some of which are in no state that a process looks for.
    fn damaged(&mut self) -> Result<(), Refused> {
        let (codes, unreadable) = (&mut self.codes, &mut self.unreadable);
        self.store.damaged(|run, error| {
            super::complain(run, "continued", &error);
            unreadable.insert(run);
            codes.insert(run, Exit::Invalid);
        })?;
        Ok(())
    }

    /// Continues these runs as far as they go.
    fn pass(&mut self, runs: &[RunId]) -> Result<(), Refused> {
        // Each program once: a million runs may have the same. What cannot be read is reported below.
        let mut programs = HashMap::new();
        for &run in runs {
            if let Ok(Summary { program: hash, .. }) = self.store.show(run)
                && !programs.contains_key(&hash)
                && let Ok(program) = self.store.program(&hash)
            {
                programs.insert(hash, program);
            }
        }
        let all = || programs.values().map(Vec::as_slice);
        load::connect(all(), &self.args.files, &mut self.tools)?;
        if self.args.lock.writes() {
            let names = load::names(all(), &self.args.files);
            self.args.lock.hold(&self.tools, names.iter().map(String::as_str))?;
        }
        for &run in runs {
            let exit = match self.one(run) {
                // If all runs are continued, those of other processes are skipped.
                Err(Refused::Journal(error))
                    if self.args.runs.is_empty()
                        && [ErrorCode::Owned, ErrorCode::Lost].contains(&error.code) =>
                {
                    if self.skipped.insert(run) {
                        output::error(&output::plain_lines(&format!("skipped: {}\n", error.message)));
                    }
                    Exit::Ok
                }
                Err(Refused::Journal(error)) if runs.len() > 1 || self.args.watch => {
                    super::complain(run, "continued", &error);
                    if error.code == ErrorCode::Damaged {
                        self.unreadable.insert(run);
                    }
                    Exit::Invalid
                }
                other => other?,
            };
            self.codes.insert(run, exit);
            if self.watch.signal.cancel.is_set() {
                break;
            }
        }
        Ok(())
    }

    fn one(&mut self, run: RunId) -> Result<Exit, Refused> {
        if let Some(obstacle) = self.obstacle(run)? {
            return self.blocked(run, &obstacle);
        }
        self.args.more.give(&self.store, run)?;
        let options = Options {
            call_timeout: Duration::from_millis(self.args.call_timeout),
            interrupt: self.watch.signal.interrupt.clone(),
            slots: CallSlots::new(self.args.max_calls_at_once),
            ..Options::default()
        };
        let mut driver = Driver {
            store: self.store.clone(),
            journal: &self.args.place.journal,
            tools: &self.tools,
            options,
            watch: &mut self.watch,
        };
        driver.resume(run)
    }

    /// The problems that prevent a run from calling its tools.
    fn obstacle(&self, run: RunId) -> Result<Option<Obstacle>, Refused> {
        let summary = self.store.show(run)?;
        let At::Live(live) = &summary.at else { return Ok(None) };
        if !live.state.is_for_owners() && live.state != State::Sleeping || live.exported {
            return Ok(None);
        }
        let program = self.store.program(&summary.program)?;
        let waiting = match summary.restored(&program, live) {
            Ok(waiting) => waiting,
            Err(why) => return Ok(Some(Obstacle::Release(why))),
        };
        let names = load::names([program.as_slice()], &self.args.files);
        let missing = self.tools.problems(names.iter().map(String::as_str));
        if !missing.is_empty() {
            return Ok(Some(Obstacle::Tools("missing-tool", missing)));
        }
        let changed = self.args.lock.problems(&self.tools, names.iter().map(String::as_str));
        if let Some(other) = changed.iter().find(|problem| problem.code != Code::ChangedTool) {
            return Err(other.clone().into());
        }
        if !changed.is_empty() {
            return Ok(Some(Obstacle::Tools("changed-tool", changed)));
        }
        let Some(stored) = self.store.tools(run)?.filter(|_| !self.args.lock.accepts()) else {
            return Ok(None);
        };
        let misfits = self.tools.misfits(&waiting, &stored, live.state.is_made());
        Ok((!misfits.is_empty()).then_some(Obstacle::Tools("changed-tool", misfits)))
    }

    /// Reports why a run is not continued. None of its calls is made.
    fn blocked(&mut self, run: RunId, obstacle: &Obstacle) -> Result<Exit, Refused> {
        output::error(&format!("run {run} is not continued:\n"));
        let reason = match obstacle {
            Obstacle::Release(why) => {
                output::error(&format!("{}\n", output::plain(&Error::unreadable(run, why).to_string())));
                self.unreadable.insert(run);
                "needs-version"
            }
            Obstacle::Tools(reason, problems) => {
                output::problems(problems);
                let first = problems.first().map(ToString::to_string).unwrap_or_default();
                self.store.block(run, &format!("{reason}: {first}"))?;
                reason
            }
        };
        let summary = self.store.show(run)?;
        let line = shown::line(&self.store, &mut Programs::default(), &summary);
        let line = line.replacen('{', &format!("{{\"status\":\"suspended\",\"reason\":\"{reason}\","), 1);
        output::print(&format!("{line}}}\n"), Exit::Suspended)
    }

    /// Continues runs when possible, until a signal; if runs were named, until they have all ended.
    fn stay(&mut self, named: &[RunId]) -> Result<(), Refused> {
        let mut version = None;
        while !self.watch.signal.cancel.is_set() {
            if !named.is_empty() && self.have_ended(named)? {
                return Ok(());
            }
            // A run that another process holds, or that a tool blocks, is tried again after somebody has
            // written.
            let now = self.store.version()?;
            let is_time = self.store.next_wake()?.is_some_and(|time| time.is_zero());
            if is_time || version != Some(now) {
                let runs: Vec<RunId> = self.store.continuable()?;
                let is_chosen =
                    |run: &RunId| (named.is_empty() || named.contains(run)) && !self.unreadable.contains(run);
                let runs: Vec<RunId> = runs.into_iter().filter(is_chosen).collect();
                self.pass(&runs)?;
                version = Some(now);
            }
            // One that is due and still sleeps cannot continue now.
            let time = self.store.next_wake()?.filter(|time| !time.is_zero()).unwrap_or(LOOK);
            let until = Instant::now() + time.min(LOOK);
            self.watch.signal.cancel.sleep_until(until);
        }
        Ok(())
    }

    fn have_ended(&self, runs: &[RunId]) -> Result<bool, Refused> {
        for &run in runs {
            if matches!(self.store.show(run)?.at, At::Live(_)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What prevents a run from continuing.
enum Obstacle {
    /// This release cannot read it; why.
    Release(String),
    /// Tools, with the word for what they are.
    Tools(&'static str, Vec<Problem>),
}

impl More {
    /// Raises the limits of a run that has used them up.
    fn give(&self, store: &Store, run: RunId) -> Result<(), Refused> {
        if self.fuel.is_none() && self.calls.is_none() && self.time.is_none() {
            return Ok(());
        }
        let summary = store.show(run)?;
        let At::Live(live) = &summary.at else { return Ok(()) };
        if live.state != State::Limited {
            return Ok(());
        }
        let mut limits = summary.limits;
        raise("--fuel", self.fuel, &mut limits.machine.fuel)?;
        raise("--calls", self.calls, &mut limits.machine.tool_calls)?;
        raise("--time", self.time, &mut limits.time_ms)?;
        store.resolve(run, None, &Decision::More(limits), &person())?;
        Ok(())
    }
}

/// Raises a limit. What was used before counts, so a lower limit would leave nothing.
fn raise(option: &str, given: Option<u64>, limit: &mut u64) -> Result<(), Refused> {
    let Some(given) = given else { return Ok(()) };
    if given <= *limit {
        let message = format!("expected more than the run had, which is {limit}; found {given}");
        return Err(Problem::new(Code::BadUsage, option, message).into());
    }
    *limit = given;
    Ok(())
}
