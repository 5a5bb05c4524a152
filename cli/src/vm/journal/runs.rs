//! `runs`: shows the runs of a journal, and records decisions.

use super::super::{Exit, Refused, output};
use super::approve::ApproveArgs;
use super::calls::CallsArgs;
use super::shown::{self, quoted, time};
use super::{Place, next_commands, open, options, pair, person, word_of};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use ilo_host::file;
use ilo_host::problem::{Problem, shortened};
use ilo_journal::{
    At, Decision, Listed, Programs, State, Status, Store, Summary, WaitingRun, arguments_hash,
};
use ilo_spec::error::Code;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The default number of rows of a table.
const ROWS: usize = 100;
/// The number of rows that are in memory and laid out together; each block of a longer table has its own
/// header.
const BLOCK: usize = 1000;
/// The maximum length of the arguments in a row.
const ARGUMENTS: usize = 48;

const HELP: &str = "\
RUN is the number or the name of a run. A decision names its call by number, so that it cannot decide on a later call \
by mistake. `answer` and `fail` also take the idempotency key of a call in place of RUN: a \
`deferred` tool gets that key with the call.

Example: ilo-vm runs list --journal runs.journal
Example: ilo-vm runs approve 3 --journal runs.journal --by ann
Example: ilo-vm runs answer 3 --call 2 --value '{\"id\":7}' --journal runs.journal
Example: ilo-vm runs answer \"$ILO_IDEMPOTENCY_KEY\" --value '{\"id\":7}' --journal runs.journal
Example: ilo-vm runs prune --keep 90 --journal runs.journal";

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: RunsVerb,
}

#[derive(clap::Subcommand)]
enum RunsVerb {
    /// List the runs, and the command to type next for each that waits.
    #[command(after_help = "\
Example: ilo-vm runs list --journal runs.journal
Example: ilo-vm runs list --state doubt --json --journal runs.journal")]
    List(ListArgs),
    /// Show one run: its state, its call and the decisions on it.
    #[command(after_help = "Example: ilo-vm runs show 3 --journal runs.journal")]
    Show(RunArgs),
    /// Approve a call that needs approval, after it was shown; without a terminal by the hash that `show`
    /// prints.
    #[command(after_help = "\
Example: ilo-vm runs approve 3 --by ann --journal runs.journal
Example: ilo-vm runs approve 3 --call 2 --arguments-hash 0c2f0a6ec1b0f1f2c2a4f6b1d5a7c9e0 --journal runs.journal")]
    Approve(ApproveArgs),
    /// Refuse a call that needs approval, so that it fails.
    #[command(
        after_help = "Example: ilo-vm runs deny 3 --call 2 --message 'too much' --journal runs.journal"
    )]
    Deny(DenyArgs),
    /// Give a call that is in doubt or deferred its answer.
    #[command(after_help = "\
Example: ilo-vm runs answer 3 --call 2 --value '{\"id\":7}' --journal runs.journal
Example: ilo-vm runs answer \"$ILO_IDEMPOTENCY_KEY\" --value '{\"id\":7}' --journal runs.journal")]
    Answer(AnswerArgs),
    /// Let a call that is in doubt or deferred fail.
    #[command(
        after_help = "Example: ilo-vm runs fail 3 --call 2 --message 'no such card' --journal runs.journal"
    )]
    Fail(FailArgs),
    /// Repeat a call that is in doubt, because it was not made or making it twice does no harm.
    #[command(after_help = "Example: ilo-vm runs retry 3 --call 2 --journal runs.journal")]
    Retry(RetryArgs),
    /// Show the calls that a run has made, with their arguments and answers, where the journal keeps them.
    #[command(after_help = "\
Example: ilo-vm runs calls --keep yes --journal runs.journal
Example: ilo-vm runs calls 3 --json --journal runs.journal")]
    Calls(CallsArgs),
    /// Wait until a run has ended, wherever it runs, and print its outcome.
    #[command(after_help = "Example: ilo-vm runs wait 3 --time 60000 --journal runs.journal")]
    Wait(WaitArgs),
    /// Cancel a run; its work is rolled back when it is resumed.
    #[command(after_help = "Example: ilo-vm runs cancel 3 --journal runs.journal")]
    Cancel(OneArgs),
    /// Write a run to a file, to be continued with another journal.
    #[command(after_help = "Example: ilo-vm runs export 3 --output run-3 --journal runs.journal")]
    Export(ExportArgs),
    /// Read a run from a file that `runs export` has written.
    #[command(after_help = "Example: ilo-vm runs import run-3 --journal other.journal")]
    Import(ImportArgs),
    /// Accept another server of a journal in PostgreSQL, after a standby has taken over or a back-up was
    /// restored.
    #[command(after_help = "\
Stop all processes of the journal before. Calls that were begun are in doubt then, since their records may be lost: find \
out whether they were made.

Example: ilo-vm runs after-failover --journal 'postgres://app@db.internal/app'")]
    AfterFailover(Place),
    /// Remove runs that ended some time ago; `run`, `resume` and `serve` do so once a day.
    #[command(after_help = "\
Example: ilo-vm runs prune --journal runs.journal
Example: ilo-vm runs prune --keep 90 --journal runs.journal")]
    Prune(PruneArgs),
}

#[derive(clap::Args)]
struct ListArgs {
    #[command(flatten)]
    place: Place,
    /// Only runs in this state
    #[arg(long, value_name = "STATE", value_parser = status())]
    state: Option<Status>,
    /// Only runs whose name begins with this
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Only runs with this metadata; it may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    metadata: Vec<(String, String)>,
    /// The number of runs, of those that were started last [default: 100; with --json all]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// A line of JSON for each run
    #[arg(long)]
    json: bool,
}

/// A run to look at.
#[derive(clap::Args)]
pub(super) struct RunArgs {
    /// The number or name of the run
    pub(super) run: String,
    #[command(flatten)]
    pub(super) place: Place,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// A run to decide on.
#[derive(clap::Args)]
pub(super) struct OneArgs {
    #[command(flatten)]
    pub(super) run: RunArgs,
    /// Who decides [default: the user]
    #[arg(long, value_name = "NAME")]
    pub(super) by: Option<String>,
}

#[derive(clap::Args)]
struct CallArgs {
    #[command(flatten)]
    one: OneArgs,
    /// The number of the call
    #[arg(long, value_name = "N")]
    call: u64,
}

#[derive(clap::Args)]
struct RetryArgs {
    #[command(flatten)]
    call: CallArgs,
    /// The process that began the call has ended: you have looked
    #[arg(long)]
    owner_ended: bool,
}

#[derive(clap::Args)]
struct WaitArgs {
    /// The number or name of the run
    run: String,
    #[command(flatten)]
    place: Place,
    /// How long to wait, in milliseconds [default: until it has ended]
    #[arg(long, value_name = "MS")]
    time: Option<u64>,
}

#[derive(clap::Args)]
struct DenyArgs {
    #[command(flatten)]
    call: CallArgs,
    /// Why, for the program
    #[arg(long, value_name = "TEXT", default_value = "")]
    message: String,
}

#[derive(clap::Args)]
struct AnswerArgs {
    #[command(flatten)]
    one: OneArgs,
    /// The number of the call; not needed with an idempotency key in place of RUN
    #[arg(long, value_name = "N")]
    call: Option<u64>,
    /// The value that the call returned
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    value: String,
}

#[derive(clap::Args)]
struct FailArgs {
    #[command(flatten)]
    one: OneArgs,
    /// The number of the call; not needed with an idempotency key in place of RUN
    #[arg(long, value_name = "N")]
    call: Option<u64>,
    /// The message of the failure
    #[arg(long, value_name = "TEXT")]
    message: String,
}

#[derive(clap::Args)]
struct ExportArgs {
    #[command(flatten)]
    one: RunArgs,
    /// The file to write; it must not exist
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The process that began the call has ended: you have looked
    #[arg(long)]
    owner_ended: bool,
}

#[derive(clap::Args)]
struct ImportArgs {
    /// A file that `runs export` has written; `-` is standard input
    file: PathBuf,
    #[command(flatten)]
    place: Place,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct PruneArgs {
    #[command(flatten)]
    place: Place,
    /// How many days ago they must have ended [default: those of --keep, else 30]
    #[arg(long, value_name = "N")]
    days: Option<u32>,
    /// From now on keep ended runs for this number of days in this journal
    #[arg(long, value_name = "N")]
    keep: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Refused> {
    match &args.verb {
        RunsVerb::List(args) => list(args),
        RunsVerb::Show(args) => show(args),
        RunsVerb::Approve(args) => super::approve::run(args),
        RunsVerb::Deny(args) => {
            decide(&args.call.one, Some(args.call.call), &Decision::Deny(args.message.clone()))
        }
        RunsVerb::Answer(args) => decide(&args.one, args.call, &Decision::Answer(args.value.clone())),
        RunsVerb::Fail(args) => decide(&args.one, args.call, &Decision::Fail(args.message.clone())),
        RunsVerb::Retry(args) => retry(args),
        RunsVerb::Calls(args) => super::calls::run(args),
        RunsVerb::Wait(args) => wait(args),
        RunsVerb::Cancel(args) => decide(args, None, &Decision::Cancel),
        RunsVerb::Export(args) => export(args),
        RunsVerb::Import(args) => import(args),
        RunsVerb::AfterFailover(place) => {
            let doubts = Store::after_failover(&place.journal, &options(&place.key, false)?)?;
            output::print(&format!("{doubts} calls are in doubt\n"), Exit::Ok)
        }
        RunsVerb::Prune(args) => prune(args),
    }
}

/// Lets a call be made again, though the process that began it is not known to have ended, where a person has
/// found out that it has.
fn retry(args: &RetryArgs) -> Result<Exit, Refused> {
    let CallArgs { one, call } = &args.call;
    if args.owner_ended {
        let place = &one.run.place;
        let store = open(&place.journal, &place.key, false)?;
        store.owner_ended(store.find(&one.run.run)?, &one.by.clone().unwrap_or_else(person))?;
    }
    decide(one, Some(*call), &Decision::Retry)
}

/// Prints the outcome of a run once it has ended; otherwise how it waits.
fn wait(args: &WaitArgs) -> Result<Exit, Refused> {
    let store = open(&args.place.journal, &args.place.key, false)?;
    let run = store.find(&args.run)?;
    match store.wait(run, args.time.map_or(Duration::MAX, Duration::from_millis))? {
        Some(outcome) => output::print(&format!("{}\n", String::from_utf8_lossy(&outcome)), Exit::Ok),
        None => {
            output::error(&format!("run {run} has not ended: it is {}\n", store.show(run)?.status().name()));
            Ok(Exit::Suspended)
        }
    }
}

fn status() -> impl TypedValueParser<Value = Status> {
    let names = Status::all().map(Status::name);
    PossibleValuesParser::new(names).try_map(|name| Status::named(&name).ok_or("no state has this name"))
}

fn list(args: &ListArgs) -> Result<Exit, Refused> {
    let store = open(&args.place.journal, &args.place.key, false)?;
    let newest = args.limit.or(if args.json { None } else { Some(ROWS) });
    let listed = Listed {
        status: args.state,
        newest,
        name: args.name.clone(),
        metadata: args.metadata.iter().cloned().collect(),
    };
    let mut view = View {
        store: &store,
        journal: &args.place.journal,
        programs: Programs::default(),
        person: io::stdout().is_terminal(),
        states: BTreeSet::new(),
        rows: Vec::new(),
    };
    let (mut text, mut shown, mut printed, mut ended) = (String::new(), 0, Ok(Exit::Ok), Exit::Ok);
    store.list_all(&listed, |run, found| {
        shown += 1;
        let summary = match found {
            Ok(summary) => summary,
            Err(error) => {
                super::complain(run, "listed", &error);
                ended = Exit::Invalid;
                return true;
            }
        };
        if args.json {
            text.push_str(&shown::line(&store, &mut view.programs, &summary));
            text.push_str("}\n");
        } else {
            view.add(&summary);
        }
        // A million runs are not kept until the end.
        if text.len() > 1 << 16 {
            printed = output::print(&std::mem::take(&mut text), Exit::Ok);
        } else if view.rows.len() >= BLOCK {
            printed = output::print(&view.table(), Exit::Ok);
        }
        printed.is_ok()
    })?;
    printed?;
    if !args.json {
        text = view.table();
        if view.person {
            // What else can be done than the command of the row.
            text.extend(view.states.iter().map(|state| format!("{state}: {}\n", state.advice())));
        }
    }
    let exit = output::print(&text, ended)?;
    if shown == 0 && !args.json {
        output::error("no runs\n");
    } else if newest.is_some() && args.name.is_none() && args.metadata.is_empty() {
        more(&store, args, shown)?;
    }
    Ok(exit)
}

/// Says how many runs are not shown, and how they are.
fn more(store: &Store, args: &ListArgs, shown: i64) -> Result<(), Refused> {
    let counts = store.count()?;
    let is_listed = |name: &str| args.state.is_none_or(|state| state.name() == name);
    let of: Vec<(&str, i64)> = counts.into_iter().filter(|(name, _)| is_listed(name)).collect();
    let hidden = of.iter().map(|(_, count)| count).sum::<i64>() - shown;
    if hidden > 0 {
        let of: Vec<String> = of.iter().map(|(name, count)| format!("{count} {name}")).collect();
        output::error(&format!(
            "{hidden} more runs that were started earlier, {} in all\n  --limit N shows N runs, --state STATE those in \
             one state\n",
            of.join(", ")
        ));
    }
    Ok(())
}

/// Runs as rows of a table.
struct View<'v> {
    store: &'v Store,
    journal: &'v Path,
    programs: Programs,
    /// Whether standard output is a terminal.
    person: bool,
    /// The states of all rows.
    states: BTreeSet<State>,
    rows: Vec<Vec<String>>,
}

impl View<'_> {
    fn add(&mut self, summary: &Summary) {
        if let At::Live(live) = &summary.at {
            self.states.insert(live.state);
        }
        let row = self.row(summary);
        self.rows.push(row);
    }

    /// Prints the rows so far, with a header; nothing if there are none.
    fn table(&mut self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        self.rows.insert(0, ["RUN", "NAME", "STATE", "SINCE", "CALL", "NEXT"].map(str::to_owned).to_vec());
        output::table(&std::mem::take(&mut self.rows))
    }

    fn row(&mut self, summary: &Summary) -> Vec<String> {
        let name = summary.name.clone().unwrap_or_default();
        let (since, call, next) = match &summary.at {
            At::Ended { ended, .. } => (*ended, String::new(), String::new()),
            At::Live(live) => (live.since, self.call(summary, live), self.next(summary)),
        };
        let since = if self.person { shown::age(since) } else { time(since) };
        vec![summary.run.to_string(), name, summary.status().name().to_owned(), since, call, next]
    }

    /// The call at which a run waits; where a person decides, with its arguments.
    fn call(&mut self, summary: &Summary, live: &WaitingRun) -> String {
        let decides = matches!(live.state, State::Asking | State::Doubt | State::Deferred);
        let arguments = if decides { self.programs.arguments(self.store, summary, live) } else { None };
        let arguments =
            arguments.map_or_else(String::new, |json| format!(" {}", shortened(&json, ARGUMENTS)));
        format!("{} {}{arguments}", live.call, live.tool)
    }

    /// The whole command to type next.
    fn next(&self, summary: &Summary) -> String {
        let next = next_commands(summary).into_iter().next();
        next.map_or_else(String::new, |next| format!("ilo-vm {next} --journal {}", word_of(self.journal)))
    }
}

fn show(args: &RunArgs) -> Result<Exit, Refused> {
    let store = open(&args.place.journal, &args.place.key, false)?;
    let summary = store.show(store.find(&args.run)?)?;
    let (decided, metadata) = (store.decisions(summary.run)?, store.metadata(summary.run)?);
    let mut programs = Programs::default();
    if args.json {
        let mut line = shown::line(&store, &mut programs, &summary);
        let rows: Vec<String> = decided
            .iter()
            .map(|row| {
                let (what, who) = (quoted(&row.what), quoted(&row.who));
                let (call, at) = (row.call, time(row.at));
                format!("{{\"call\":{call},\"at\":\"{at}\",\"what\":{what},\"who\":{who}}}")
            })
            .collect();
        if let At::Live(live) = &summary.at {
            line.extend([format!(",\"key\":{},\"active_ms\":{}", quoted(&live.key), live.active_ms)]);
            if let Some(arguments) = programs.arguments(&store, &summary, live) {
                line.extend([format!(",\"arguments_hash\":\"{}\"", arguments_hash(&live.tool, &arguments))]);
            }
        }
        if let At::Live(live) = &summary.at
            && let Some(was) = &live.was
        {
            line.extend([format!(",\"may_be_calling\":{}", quoted(was))]);
        }
        if !metadata.is_empty() {
            let pair = |(name, value): (&String, &String)| format!("{}:{}", quoted(name), quoted(value));
            let pairs: Vec<String> = metadata.iter().map(pair).collect();
            line.extend([format!(",\"metadata\":{{{}}}", pairs.join(","))]);
        }
        if let Some(subject) = &summary.subject {
            line.extend([format!(",\"subject\":{}", quoted(subject))]);
        }
        line.extend([format!(",\"decisions\":[{}]}}\n", rows.join(","))]);
        return output::print(&line, Exit::Ok);
    }
    let mut rows = vec![
        vec!["run".to_owned(), summary.run.to_string()],
        vec!["name".to_owned(), summary.name.clone().unwrap_or_default()],
        vec!["function".to_owned(), summary.function.clone()],
        vec!["started".to_owned(), time(summary.started)],
        vec!["state".to_owned(), summary.status().name().to_owned()],
    ];
    rows.extend(summary.subject.iter().map(|subject| vec!["subject".to_owned(), subject.clone()]));
    rows.extend(metadata.iter().map(|(name, value)| vec![format!("metadata {name}"), value.clone()]));
    let mut row = |name: &str, value: String| rows.push(vec![name.to_owned(), value]);
    match &summary.at {
        At::Ended { ended, outcome } => {
            row("ended", time(*ended));
            row("outcome", String::from_utf8_lossy(outcome).into_owned());
        }
        At::Live(live) => {
            row("since", time(live.since));
            row("call", format!("{} of `{}`", live.call, live.tool));
            live.was.iter().for_each(|was| row("may be calling", was.clone()));
            let arguments = programs.arguments(&store, &summary, live);
            let hash = arguments.as_ref().map(|arguments| arguments_hash(&live.tool, arguments));
            row("arguments", arguments.unwrap_or_else(|| "this release cannot read them".to_owned()));
            hash.into_iter().for_each(|hash| row("arguments hash", hash));
            row("key", live.key.clone());
            row("worked", format!("{} ms of {}", live.active_ms, summary.limits.time_ms));
            if let Some(used) = summary.used_up() {
                row("used up", used.name().to_owned());
            }
            if let Some(why) = &live.blocked {
                row("blocked", why.clone());
            }
            if let Some(wake) = live.wake {
                row("wakes", time(wake));
            }
            if live.cancel {
                row("cancelled", "yes; `resume` rolls back what the run has done".to_owned());
            }
            for next in next_commands(&summary) {
                row("next", format!("ilo-vm {next} --journal {}", word_of(&args.place.journal)));
            }
        }
    }
    for decided in decided {
        let (at, call, what, who) = (time(decided.at), decided.call, decided.what, decided.who);
        row("decision", format!("{at} call {call}: {what} by {who}"));
    }
    output::print(&output::table(&rows), Exit::Ok)
}

fn decide(args: &OneArgs, call: Option<u64>, decision: &Decision) -> Result<Exit, Refused> {
    let RunArgs { run, place, json } = &args.run;
    let store = open(&place.journal, &place.key, false)?;
    let (run, call) = match (call, store.find_key(run)?) {
        (None, Some((run, call))) if !matches!(decision, Decision::Cancel) => (run, Some(call)),
        _ => (store.find(run)?, call),
    };
    let who = args.by.clone().unwrap_or_else(person);
    let state = store.resolve(run, call, decision, &who)?;
    told(&store, *json, run, &format!("run {run} is {state}: {}", state.advice()))
}

/// Prints the state of a run.
pub(super) fn told(store: &Store, json: bool, run: ilo_journal::RunId, text: &str) -> Result<Exit, Refused> {
    if json {
        let line = shown::line(store, &mut Programs::default(), &store.show(run)?);
        return output::print(&format!("{line}}}\n"), Exit::Ok);
    }
    output::print(&format!("{}\n", output::plain(text)), Exit::Ok)
}

fn export(args: &ExportArgs) -> Result<Exit, Refused> {
    let store = open(&args.one.place.journal, &args.one.place.key, false)?;
    let run = store.find(&args.one.run)?;
    let shown = args.output.display();
    let fails = |error: io::Error| {
        Problem::new(Code::BadUsage, "--output", format!("`{shown}` cannot be written: {error}"))
    };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&args.output).map_err(fails)?;
    if args.owner_ended {
        store.owner_ended(run, &person())?;
    }
    let written = store.export(run).map_err(Refused::from).and_then(|bytes| {
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(fails)?;
        Ok(())
    });
    if let Err(refused) = written {
        // A failed export can be repeated.
        drop(fs::remove_file(&args.output));
        return Err(refused);
    }
    told(&store, args.one.json, run, &format!("run {run} is in `{shown}`; continue it with `runs import`"))
}

fn import(args: &ImportArgs) -> Result<Exit, Refused> {
    const MOST: usize = 1 << 30;
    if let Ok(found) = fs::metadata(&args.file)
        && !found.is_file()
    {
        let message = format!(
            "an exported run is a file, and this is {}; `-` reads standard input",
            file::kind(found.file_type())
        );
        return Err(Problem::new(Code::BadUsage, args.file.display().to_string(), message).into());
    }
    let bytes = file::read(&args.file, MOST)?;
    let store = open(&args.place.journal, &args.place.key, true)?;
    let run = store.import(&bytes)?;
    told(&store, args.json, run, &format!("imported as run {run}"))
}

fn prune(args: &PruneArgs) -> Result<Exit, Refused> {
    let store = open(&args.place.journal, &args.place.key, false)?;
    if let Some(days) = args.keep {
        store.set_retention(days)?;
    }
    let days = args.days.map_or_else(|| store.retention(), Ok)?;
    let removed = store.prune(days)?;
    if args.json {
        return output::print(&format!("{{\"removed\":{removed}}}\n"), Exit::Ok);
    }
    output::print(&format!("removed {removed} runs that ended {days} days ago or before\n"), Exit::Ok)
}
