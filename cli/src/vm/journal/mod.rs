//! Durable runs: what `run --journal`, `resume` and `runs` share.

mod approve;
mod calls;
pub(super) mod drive;
pub(super) mod resume;
pub(super) mod runs;
#[cfg(feature = "serve")]
mod served;
mod shown;

use super::{Exit, Refused, output};
use ilo_host::problem::Problem;
use ilo_journal::{
    Access, At, Error, Key, Left, Options, RunId, State, Store, Summary, UsedUp, access, shown_place,
};
use ilo_spec::error::Code;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The journal of a run, if it has one.
#[derive(clap::Args)]
#[command(next_help_heading = "Journal")]
pub(super) struct RunJournal {
    /// Record the run in this journal, a file or `postgres://…`, so that it outlives this process
    #[arg(long, value_name = "PLACE")]
    pub(super) journal: Option<PathBuf>,
    /// The run's name: a second start with the same name, program and input continues the first run
    #[arg(long, value_name = "NAME", requires = "journal")]
    pub(super) name: Option<String>,
    /// Metadata by which people find the run, such as `tenant=acme`; it may be repeated
    #[arg(long, value_name = "NAME=VALUE", requires = "journal", value_parser = pair)]
    pub(super) metadata: Vec<(String, String)>,
    #[command(flatten)]
    pub(super) key: KeyArgs,
}

/// The journal of a server's runs, if there is one.
#[cfg(feature = "serve")]
#[derive(clap::Args)]
#[command(next_help_heading = "Journal")]
pub(super) struct ServeJournal {
    /// Record the runs in this journal, a file or `postgres://…`, so that they outlive the server
    #[arg(long, value_name = "PLACE")]
    journal: Option<PathBuf>,
    #[command(flatten)]
    shared: SharedArgs,
    #[command(flatten)]
    key: KeyArgs,
}

/// Whether others may write to the journal.
#[derive(clap::Args)]
pub(super) struct SharedArgs {
    /// Continue runs of a journal to which every user of this machine can write, and so forge runs
    #[arg(long, requires = "journal")]
    shared_journal: bool,
}

impl SharedArgs {
    /// Opens a journal whose runs are to be continued. One to which every user can write is refused: a forged
    /// run makes any call. One that others can read, or that a group can change, is warned of.
    pub(super) fn open(&self, path: &Path, key: &KeyArgs, create: bool) -> Result<Arc<Store>, Refused> {
        let (shown, access) = (path.display(), access(path));
        if let Access::Written(mode) = access
            && !self.shared_journal
        {
            let message = format!(
                "{shown} has the mode {mode:03o}, so that every user can write to it and make up runs and answers; do \
                 `chmod 600 {shown}`, or give `--shared-journal`"
            );
            return Err(Problem::new(Code::BadUsage, "--journal", message).into());
        }
        let store = open(path, key, create)?;
        if let Access::Seen(mode) = access {
            output::error(&format!(
                "warning: {shown} has the mode {mode:03o}, so that others have access to it; `chmod 600 {shown}` ends that\n"
            ));
        }
        Ok(store)
    }
}

#[cfg(feature = "serve")]
impl ServeJournal {
    /// Opens the journal, if there is one.
    pub(super) fn serve(&self) -> Result<Option<served::Served>, Refused> {
        let Some(path) = &self.journal else { return Ok(None) };
        let store = self.shared.open(path, &self.key, true)?;
        #[cfg(target_os = "linux")]
        if let Some(lock) = store.owner_lock()? {
            super::cleanup_process::hold(lock);
        }
        tidy(&store);
        store.damaged(|run, error| complain(run, "continued", &error))?;
        Ok(Some(served::Served::new(store)))
    }
}

/// The journal of a command.
#[derive(clap::Args)]
pub(super) struct Place {
    /// The journal: a file, or a database as `postgres://…`
    #[arg(long, value_name = "PLACE")]
    pub(super) journal: PathBuf,
    #[command(flatten)]
    pub(super) key: KeyArgs,
}

/// The key of an encrypted journal.
#[derive(clap::Args)]
pub(super) struct KeyArgs {
    /// The environment variable that holds the journal's key: 64 hexadecimal digits
    #[arg(long, value_name = "VARIABLE", requires = "journal")]
    journal_key_env: Option<String>,
}

impl RunJournal {
    /// Opens the journal, if there is one, before anything else is started.
    pub(super) fn open(&self) -> Result<Option<Arc<Store>>, Refused> {
        let Some(path) = &self.journal else { return Ok(None) };
        if self.name.as_ref().is_some_and(|name| name.is_empty() || name.parse::<i64>().is_ok()) {
            let message = "expected a name that is not a number: runs have numbers of their own";
            return Err(Problem::new(Code::BadUsage, "--name", message).into());
        }
        let store = open(path, &self.key, true)?;
        #[cfg(target_os = "linux")]
        if let Some(lock) = store.owner_lock()? {
            super::cleanup_process::hold(lock);
        }
        tidy(&store);
        Ok(Some(store))
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        Refused::Journal(Box::new(error))
    }
}

/// A name and a value, with `=` between them.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// How a journal is opened.
fn options(key: &KeyArgs, create: bool) -> Result<Options, Refused> {
    let key = match &key.journal_key_env {
        None => None,
        Some(name) => {
            let Ok(text) = std::env::var(name) else {
                let message = format!("the environment has no variable `{name}` with text");
                return Err(Problem::new(Code::BadUsage, "--journal-key-env", message).into());
            };
            Some(Key::from_hex(&text)?)
        }
    };
    Ok(Options { create, key })
}

/// Opens a journal.
pub(super) fn open(path: &Path, key: &KeyArgs, create: bool) -> Result<Arc<Store>, Refused> {
    let store = Store::open(path, &options(key, create)?)?;
    store.tell(|text| output::error(&format!("warning: {}\n", output::plain(text))));
    Ok(Arc::new(store))
}

/// The place of a journal as a word of a command, without a password.
pub(super) fn word_of(journal: &Path) -> String {
    let place = shown_place(journal);
    let is_plain = |character: char| character.is_alphanumeric() || "/._-:@%+=,~".contains(character);
    if place.chars().all(is_plain) { place } else { format!("'{}'", place.replace('\'', "'\\''")) }
}

/// Says what people should know about the journal, and removes runs that ended long ago, once a day. An error
/// of this does not affect the current runs.
pub(super) fn tidy(store: &Store) {
    for warning in store.warnings() {
        output::error(&format!("warning: {}\n", output::plain(warning)));
    }
    if let Err(error) = store.prune_daily() {
        output::error(&format!(
            "warning: old runs were not removed: {}\n",
            output::plain(&error.to_string())
        ));
    }
}

/// Reports an error for which a run is not `done`, while other runs are.
fn complain(run: RunId, done: &str, error: &Error) {
    let Error { code, message, remedy, .. } = error;
    let line = format!("error[{code}]: run {run} is not {done}: {message}; {remedy}");
    output::error(&format!("{}\n", output::plain(&line)));
}

/// The default name of the person who decides.
fn person() -> String {
    std::env::var("USER").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "somebody".to_owned())
}

/// The reason why a run waits, for other programs.
fn reason(state: State) -> &'static str {
    match state {
        State::Doubt => "in-doubt",
        State::Ready | State::Calling | State::Answered => "interrupted",
        other => other.name(),
    }
}

/// The commands that a person may type next.
fn next_commands(summary: &Summary) -> Vec<String> {
    let At::Live(live) = &summary.at else { return Vec::new() };
    let run = summary.run;
    let of = |verb: &str, rest: &str| format!("runs {verb} {run} --call {}{rest}", live.call);
    match live.state {
        _ if live.exported => Vec::new(),
        State::Doubt => vec![of("answer", " --value JSON"), of("fail", " --message TEXT"), of("retry", "")],
        State::Asking => vec![of("approve", ""), of("deny", "")],
        State::Deferred => vec![of("answer", " --value JSON"), of("fail", " --message TEXT")],
        State::Limited => {
            let more = more(summary);
            vec![format!("resume {run}{more}"), format!("runs cancel {run}")]
        }
        State::Ready | State::Calling | State::Answered | State::Sleeping | State::Blocked(_) => {
            vec![format!("resume {run}")]
        }
    }
}

/// The option that doubles the limit that a run has used up.
fn more(summary: &Summary) -> String {
    let limits = &summary.limits;
    let (name, limit) = match summary.used_up() {
        Some(used @ UsedUp::Fuel) => (used.name(), limits.machine.fuel),
        Some(used @ UsedUp::Calls) => (used.name(), limits.machine.tool_calls),
        Some(used @ UsedUp::Time) => (used.name(), limits.time_ms),
        _ => return String::new(),
    };
    format!(" --{name} {}", limit.saturating_mul(2).max(1))
}

/// Prints that a run waits, as one line of JSON, and for people what to type next.
fn suspended(store: &Store, left: &Left, name: Option<&str>, journal: &Path) -> Result<Exit, Refused> {
    let Left::Waits { run, state, call, tool, arguments, wake } = left else { return Ok(Exit::Suspended) };
    let name = name.map_or(String::new(), |name| format!(",\"name\":{}", shown::quoted(name)));
    let reason = reason(*state);
    let tool = shown::quoted(tool);
    let wake = wake.map(shown::time);
    let when = wake.as_ref().map_or_else(String::new, |wake| format!(",\"wake\":\"{wake}\""));
    let summary = store.show(*run)?;
    let limit = summary.used_up().map_or_else(String::new, |used| format!(",\"limit\":\"{}\"", used.name()));
    let line = format!(
        "{{\"status\":\"suspended\",\"run\":{run}{name},\"reason\":\"{reason}\"{limit}{when},\
         \"call\":{{\"number\":{call},\"tool\":{tool},\"args\":{arguments}}}}}\n"
    );
    let next = next_commands(&summary);
    let advice = match wake {
        Some(wake) => format!("it sleeps until {wake}; `resume --watch` wakes it then"),
        None => state.advice().to_owned(),
    };
    let mut text = format!("run {run} waits: {advice}\n");
    for command in next {
        text.extend([format!("  ilo-vm {command} --journal {}\n", word_of(journal))]);
    }
    output::error(&output::plain_lines(&text));
    output::print(&line, Exit::Suspended)
}
