//! `run`: check a program, then run it; standard output is the outcome and nothing else.

use super::lock::LockArgs;
use super::progress::Progress;
use super::signal::Signal;
use super::terminal::Terminal;
use super::{Exit, Refused, input, load, output, tools_of};
use ilo_host::data::read::{Bounds, read};
use ilo_host::entry;
use ilo_host::interrupt::Interrupt;
use ilo_host::problem::Problem;
use ilo_host::run::{CallSlots, Ended, Observer, Options};
use ilo_host::trace::Trace;
use ilo_spec::error::Code;
use ilo_spec::limits;
use ilo_spec::types::Type;
use ilo_vm::{Limits, Outcome, Status};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a run ends, and one to try.
const HELP: &str = "\
Standard output is the outcome alone, as JSON; all else goes to standard error.
Ctrl-C cancels the run: what it has done is rolled back. A second one ends it at once.

Exit codes: 0 ok, 1 err, 2 not a valid program, input or option, 3 fault, 130 interrupted

Example: ilo-vm run examples/notify.ilo --tools examples/tools.json --arg user-id=u1 --arg message=Hello";

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Source or bytecode; `-` is standard input
    file: PathBuf,
    /// The function to run; without it, the only one that no other calls
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,
    /// The arguments as one JSON record; `@FILE` reads a file, `-` standard input
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    input: Option<String>,
    /// One argument: text where the parameter is text, else JSON
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    arguments: Vec<String>,
    /// The tools file
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    #[command(flatten)]
    lock: LockArgs,
    /// Write a line of JSON for each tool call as it ends
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    limits: RunLimits,
    #[command(flatten)]
    files: load::FileLimits,
}

/// What a run may use.
#[derive(clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct RunLimits {
    #[command(flatten)]
    machine: MachineLimits,
    /// Milliseconds of the whole run
    #[arg(long, value_name = "MS", default_value_t = limits::DEFAULT_RUN_MS)]
    timeout: u64,
    /// Milliseconds of one tool call, where its entry says nothing else
    #[arg(long, value_name = "MS", default_value_t = limits::DEFAULT_CALL_MS)]
    call_timeout: u64,
    /// Calls of read-only tools under way at once; with 1, one at a time
    #[arg(long, value_name = "N", default_value_t = limits::DEFAULT_CALLS_UNDER_WAY)]
    max_calls_at_once: usize,
}

/// What the machine of a run may use.
#[derive(clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct MachineLimits {
    /// Instructions, roughly
    #[arg(long, value_name = "N", default_value_t = limits::DEFAULT_FUEL)]
    fuel: u64,
    /// Bytes of memory; the input may have as many
    #[arg(long, value_name = "BYTES", default_value_t = limits::DEFAULT_MEMORY)]
    memory: u64,
    /// Tool calls, those of rollbacks among them
    #[arg(long, value_name = "N", default_value_t = limits::DEFAULT_TOOL_CALLS)]
    max_calls: u64,
    /// ROLLBACK entries
    #[arg(long, value_name = "N", default_value_t = limits::DEFAULT_ROLLBACKS)]
    max_rollbacks: usize,
    /// Bytes of one tool's answer
    #[arg(long, value_name = "BYTES", default_value_t = limits::DEFAULT_RESULT)]
    max_result: usize,
    /// Values in one tool's answer
    #[arg(long, value_name = "N", default_value_t = limits::DEFAULT_RESULT_NODES)]
    max_result_values: usize,
    /// Bytes of one text
    #[arg(long, value_name = "BYTES", default_value_t = limits::DEFAULT_TEXT)]
    max_text: usize,
    /// Items of one list
    #[arg(long, value_name = "N", default_value_t = limits::DEFAULT_ITEMS)]
    max_items: usize,
    /// Nesting of one value, at most 1024
    #[arg(long, value_name = "N", default_value_t = limits::DEFAULT_VALUE_DEPTH, value_parser = depth)]
    max_depth: usize,
}

/// A nesting that may be asked for.
fn depth(text: &str) -> Result<usize, String> {
    let depth: usize = text.parse().map_err(|_| "expected a whole number".to_owned())?;
    let most = limits::VALUE_DEPTH;
    if depth <= most { Ok(depth) } else { Err(format!("expected at most {most}")) }
}

impl RunLimits {
    pub(super) fn options(&self, interrupt: Interrupt, cancel: Interrupt) -> Options {
        Options {
            limits: self.machine.limits(),
            timeout: Duration::from_millis(self.timeout),
            call_timeout: Duration::from_millis(self.call_timeout),
            interrupt,
            cancel,
            slots: CallSlots::new(self.max_calls_at_once),
            ask: None,
        }
    }
}

impl MachineLimits {
    pub(super) fn limits(&self) -> Limits {
        Limits {
            fuel: self.fuel,
            memory: self.memory,
            text: self.max_text,
            items: self.max_items,
            value_depth: self.max_depth,
            tool_calls: self.max_calls,
            rollbacks: self.max_rollbacks,
            result_bytes: self.max_result,
            result_nodes: self.max_result_values,
        }
    }

    /// How much input is read: no more than the run could hold, at 16 bytes a value.
    pub(super) fn input(&self) -> Bounds {
        let bytes = usize::try_from(self.memory).unwrap_or(usize::MAX);
        Bounds { bytes, depth: self.max_depth, values: bytes / 16 }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Refused> {
    let is_input = |text: &Option<String>| text.as_deref() == Some("-");
    if args.file.as_os_str() == "-" && is_input(&args.input) {
        let message = "standard input cannot be both the program and its input";
        return Err(Problem::new(Code::BadUsage, "--input", message).into());
    }
    // A trace that is there is emptied first: where nothing runs it would be taken for this run's.
    let old = args.trace.as_deref().filter(|path| path.exists());
    let old = old.map(|path| open_trace(path, args)).transpose()?;
    let mut tools = tools_of(args.tools.as_deref())?;
    let program =
        load::load_file(&args.file, &args.files, args.tools.is_some().then_some(&mut tools), &args.lock)?;
    let function = entry::function(&program, args.function.as_deref(), "--fn")?;
    let parameters: Vec<(&str, Type)> = program.parameters(function).collect();
    let bounds = args.limits.machine.input();
    let input = input::input(args.input.as_deref(), &args.arguments, &parameters, &bounds)?;
    let problems = ilo_host::run::problems(&program, function, &input, &tools);
    if !problems.is_empty() {
        return Err(problems.into());
    }
    args.lock.hold(&tools, program.tools())?;
    let trace = match (old, &args.trace) {
        (None, Some(path)) => Some(open_trace(path, args)?),
        (old, _) => old,
    };
    let (progress, signal, untaken) = (Progress::start(), Signal::listen(true), BTreeMap::new());
    let mut watch = Watch { trace, progress, signal, untaken };
    let mut options = args.limits.options(watch.signal.interrupt.clone(), watch.signal.cancel.clone());
    if program.tools().any(|name| tools.get(name).is_some_and(|tool| tool.policy.confirm)) {
        options.ask = Terminal::open(watch.progress.as_ref().map(Progress::bar));
    }
    let result = ilo_host::run::run(&program, function, &input, &tools, &options, &mut watch);
    let Watch { trace, progress, signal, untaken } = watch;
    drop(progress);
    tell_untaken(&untaken);
    if let (Some(Err(error)), Some(path)) = (trace.map(Trace::finish), &args.trace) {
        let message = format!("the trace is not complete: {error}");
        output::problems(&[Problem::new(Code::BadUsage, path.display().to_string(), message)]);
    }
    let name_option = |mut problem: Problem| {
        if problem.code == Code::FaultMemory {
            problem.message.push_str(input::MEMORY);
        }
        problem
    };
    let result = result.map_err(|problems| problems.into_iter().map(name_option).collect::<Vec<_>>());
    result?.outcome().map_or_else(|| Ok(signal.tell()), |outcome| show(outcome, signal.cancel.is_set()))
}

/// Prints the outcome, indented where a person looks at it.
pub(super) fn show(outcome: Outcome<'_>, cancelled: bool) -> Result<Exit, Refused> {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = outcome.write_json(&mut text);
    if std::io::stdout().is_terminal() {
        let bounds = Bounds { bytes: usize::MAX, depth: usize::MAX, values: usize::MAX };
        text = read(text.as_bytes(), &bounds).map_or(text, |data| data.to_json_indented());
    }
    text.push('\n');
    let exit = match outcome.status() {
        Status::Ok(_) => Exit::Ok,
        Status::Err(_) => Exit::Err,
        Status::Fault(fault) if cancelled && fault.code == Code::FaultCancelled => Exit::Interrupted,
        Status::Fault(_) => Exit::Fault,
    };
    output::print(&text, exit)
}

/// Opens the trace, empty. It is emptied only once it is known to be no file that the run reads, nor another
/// run's trace.
fn open_trace(path: &Path, args: &Args) -> Result<Trace<File>, Problem> {
    let refused = |message: String| Problem::new(Code::BadUsage, "--trace", message);
    let shown = path.display();
    let input = args.input.as_deref().and_then(|input| input.strip_prefix('@')).map(Path::new);
    let read = [
        (Some(args.file.as_path()), "program"),
        (args.tools.as_deref(), "tools file"),
        (input, "input"),
        (args.lock.path(), "lock"),
    ];
    if let Ok(trace) = path.canonicalize() {
        let same = |file: Option<&Path>| {
            file.and_then(|file| file.canonicalize().ok()).is_some_and(|file| file == trace)
        };
        if let Some((_, what)) = read.into_iter().find(|&(file, _)| same(file)) {
            return Err(refused(format!(
                "{shown} is the {what}, which the trace would overwrite; name another file"
            )));
        }
    }
    let fails = |error: io::Error| refused(format!("{shown} cannot be written: {error}"));
    let file = File::options().write(true).create(true).truncate(false).open(path).map_err(fails)?;
    // Of pipes and devices there is nothing to empty, and several may write to them.
    if file.metadata().map_err(fails)?.is_file() {
        // A file system without locks is used without.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(refused(format!("another run is writing its trace to {shown}; name another file")));
        }
        file.set_len(0).map_err(fails)?;
    }
    Ok(Trace::new(file))
}

/// What watches the run: the trace, the line for people, and who listens to signals.
struct Watch {
    trace: Option<Trace<File>>,
    progress: Option<Progress>,
    signal: Signal,
    /// Calls that were started ahead and not needed, by tool.
    untaken: BTreeMap<String, u64>,
}

impl Observer for Watch {
    fn started(&mut self, seq: u64, tool: &str) {
        self.signal.begin(tool);
        if let Some(progress) = &self.progress {
            progress.call(seq, tool);
        }
    }

    fn ended(&mut self, call: &Ended<'_>) {
        if let Some(trace) = &mut self.trace {
            trace.ended(call);
        }
        if let (Some(progress), true) = (&mut self.progress, call.ahead) {
            progress.no_more_ahead();
        }
        self.signal.end();
    }

    fn ahead(&mut self, _tool: &str) {
        self.signal.ahead();
        if let Some(progress) = &mut self.progress {
            progress.started_ahead();
        }
    }

    fn untaken(&mut self, tool: &str) {
        *self.untaken.entry(tool.to_owned()).or_default() += 1;
        if let Some(progress) = &mut self.progress {
            progress.no_more_ahead();
        }
    }
}

/// What is said of calls whose answers nobody needed.
fn tell_untaken(untaken: &BTreeMap<String, u64>) {
    if untaken.is_empty() {
        return;
    }
    let tools: Vec<String> = untaken.iter().map(|(tool, count)| format!("`{tool}` {count}")).collect();
    let message = format!("read-only calls started ahead and not needed: {}", tools.join(", "));
    output::error(&format!("{}\n", output::plain(&message)));
}
