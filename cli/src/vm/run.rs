//! `run`: checks a program and runs it; standard output is only the outcome.

use super::input::{self, InputArgs};
#[cfg(feature = "journal")]
use super::journal::{RunJournal, drive::Driver};
use super::lock::LockArgs;
use super::progress::Progress;
use super::signal::{self, Signal};
use super::terminal::Terminal;
use super::{Exit, Refused, load, output, tools_of};
use crate::output_schema;
use ilo_asm::compile::OutputSchema;
#[cfg(feature = "journal")]
use ilo_host::data::Data;
use ilo_host::data::read::{Bounds, read};
use ilo_host::entry;
use ilo_host::interrupt::Interrupt;
use ilo_host::problem::Problem;
use ilo_host::run::{CallSlots, Ended, Observer, Options, filled};
use ilo_host::telemetry::Telemetry;
#[cfg(feature = "journal")]
use ilo_host::tools::Tools;
use ilo_host::trace::Trace;
#[cfg(feature = "journal")]
use ilo_journal::{Beginning, Session, Store};
use ilo_spec::error::Code;
use ilo_spec::limits;
#[cfg(feature = "journal")]
use ilo_vm::{FunctionId, Program, Run};
use ilo_vm::{Input, Limits, Outcome, Status};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How a run ends, and one to try.
const HELP: &str = "\
Standard output is the outcome alone, as JSON; all else goes to standard error.
Ctrl-C cancels the run: what it has done is rolled back. A second one ends it at once.

With --journal the run outlives this process: Ctrl-C leaves it to be resumed, and where a call needs approval \
or nobody knows whether it was made, the run waits. `ilo-vm runs list` says what to do next.

Exit codes: 0 ok, 1 err, 2 not a valid program, input or option, 3 fault, 4 waits in the journal, \
74 standard output cannot be written, 130 interrupted

Example: ilo-vm run examples/notify.ilo --tools examples/tools.json --arg user-id=u1 --arg message=Hello";

/// How long to wait at the end until the spans of a run are sent.
const FLUSH: Duration = Duration::from_secs(3);

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Source or bytecode; `-` is standard input
    file: PathBuf,
    /// The function to run [default: the only one that no other function calls]
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,
    #[command(flatten)]
    input: InputArgs,
    /// The tools file
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    #[command(flatten)]
    lock: LockArgs,
    /// Write a line of JSON for each tool call as it ends
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[cfg(feature = "journal")]
    #[command(flatten)]
    journal: RunJournal,
    #[command(flatten)]
    limits: RunLimits,
    #[command(flatten)]
    files: load::FileLimits,
    /// A file with the JSON Schema of the value: the check compares what it knows; another value of the run
    /// is rolled back, and is fault output-mismatch
    #[arg(long, value_name = "FILE", value_parser = output_schema::read)]
    output_schema: Option<OutputSchema>,
}

/// The limits of a run.
#[derive(clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct RunLimits {
    #[command(flatten)]
    machine: MachineLimits,
    /// Time limit of the run, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = limits::DEFAULT_RUN_MS)]
    timeout: u64,
    /// Time limit of a tool call, in milliseconds, unless its entry sets another one
    #[arg(long, value_name = "MS", default_value_t = limits::DEFAULT_CALL_MS)]
    call_timeout: u64,
    /// Simultaneous calls of read-only tools; with 1, one call at a time
    #[arg(long, value_name = "N", default_value_t = limits::DEFAULT_CALLS_UNDER_WAY)]
    max_calls_at_once: usize,
}

/// The limits of the machine.
#[derive(clap::Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct MachineLimits {
    /// Fuel: roughly, the number of instructions
    #[arg(long, value_name = "N", default_value_t = limits::DEFAULT_FUEL)]
    fuel: u64,
    /// Bytes of memory; the input may have as many
    #[arg(long, value_name = "BYTES", default_value_t = limits::DEFAULT_MEMORY)]
    memory: u64,
    /// Tool calls, including compensations (UNDO) but not the calls of ROLLBACK entries
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

/// Parses a nesting limit.
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
            telemetry: None,
            output: None,
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
    if args.file.as_os_str() == "-" && args.input.is_stdin() {
        let message = "standard input cannot be both the program and its input";
        return Err(Problem::new(Code::BadUsage, "--input", message).into());
    }
    // A trace that is there is emptied first: where nothing runs it would be taken for this run's.
    let old = args.trace.as_deref().filter(|path| path.exists());
    let old = old.map(|path| open_trace(path, args)).transpose()?;
    #[cfg(feature = "journal")]
    let store = args.journal.open()?;
    let mut tools = tools_of(args.tools.as_deref())?;
    let output = args.output_schema.clone().map(Arc::new);
    let mut files = args.files.clone();
    files.output.clone_from(&output);
    let program =
        load::load_file(&args.file, &files, args.tools.is_some().then_some(&mut tools), &args.lock)?;
    let function = entry::function(&program, args.function.as_deref(), "--fn")?;
    let parameters: Vec<Input<'_>> = program.inputs(function).collect();
    let bounds = args.limits.machine.input();
    let input = args.input.read(&parameters, &bounds)?;
    let problems = ilo_host::run::problems(&program, function, &input, &tools);
    if !problems.is_empty() {
        return Err(problems.into());
    }
    let input = filled(&parameters, input);
    args.lock.hold(&tools, program.tools())?;
    let trace = match (old, &args.trace) {
        (None, Some(path)) => Some(open_trace(path, args)?),
        (old, _) => old,
    };
    #[cfg(feature = "journal")]
    if let Some(store) = store {
        let begun = Begun { args, store, tools: &tools, program: &program, function, input: &input, output };
        return begun.drive(Watch::durable(trace));
    }
    let telemetry = Telemetry::from_environment()?;
    let (progress, signal, untaken) = (Progress::start(), Signal::listen(true), BTreeMap::new());
    let mut watch = Watch { trace, progress, signal, untaken };
    let mut options = args.limits.options(watch.signal.interrupt.clone(), watch.signal.cancel.clone());
    options.telemetry.clone_from(&telemetry);
    options.output = output;
    if program.tools().any(|name| tools.get(name).is_some_and(|tool| tool.policy.confirm)) {
        options.ask = Terminal::open(watch.progress.as_ref().map(Progress::bar));
    }
    let result = ilo_host::run::run(&program, function, &input, &tools, &options, &mut watch);
    let Watch { trace, progress, signal, untaken } = watch;
    drop(progress);
    flush(telemetry.as_ref());
    tell_untaken(&untaken);
    for note in tools.notes() {
        output::error(&format!("warning: {}\n", output::plain(&note)));
    }
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
    let finished = result?;
    match finished.outcome() {
        Some(outcome) => show(outcome, signal.cancel.is_set()),
        None => {
            let exit = signal.tell();
            signal::tell_open_rollbacks(finished.run());
            Ok(exit)
        }
    }
}

/// Waits until the spans of the run are sent, and reports if they were not.
pub(super) fn flush(telemetry: Option<&Telemetry>) {
    let why = telemetry.and_then(|telemetry| telemetry.flush(FLUSH));
    why.iter().for_each(|why| output::error(&format!("warning: {}\n", output::plain(why))));
}

/// Prints the outcome, indented on a terminal.
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
    output::print(&text, exit).inspect_err(|_| {
        output::error(&format!("the run has ended; its outcome is:\n{text}"));
    })
}

/// Opens the trace, empty. It is emptied only once it is known to be no file that the run reads, nor another
/// run's trace.
fn open_trace(path: &Path, args: &Args) -> Result<Trace<File>, Problem> {
    let refused = |message: String| Problem::new(Code::BadUsage, "--trace", message);
    let shown = path.display();
    let read = [
        (Some(args.file.as_path()), "program"),
        (args.tools.as_deref(), "tools file"),
        (args.input.file(), "input"),
        (args.lock.path(), "lock"),
    ];
    if path.exists() {
        let same = |file: Option<&Path>| file.is_some_and(|file| is_same_file(file, path));
        if let Some((_, what)) = read.into_iter().find(|&(file, _)| same(file)) {
            return Err(refused(format!(
                "{shown} is the {what}, which the trace would overwrite; name another file"
            )));
        }
    }
    let fails = |error: io::Error| refused(format!("{shown} cannot be written: {error}"));
    has_reader(path).map_err(fails)?;
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

/// Prints an outcome that was stored.
#[cfg(feature = "journal")]
pub(super) fn show_stored(outcome: &[u8]) -> Result<Exit, Refused> {
    let bounds = Bounds { bytes: usize::MAX, depth: usize::MAX, values: usize::MAX };
    let data = read(outcome, &bounds).ok();
    let status = data.as_ref().and_then(|data| data.get("status"));
    let exit = match status {
        Some(Data::Text(status)) if status == "ok" => Exit::Ok,
        Some(Data::Text(status)) if status == "err" => Exit::Err,
        _ => Exit::Fault,
    };
    let text = match data {
        Some(data) if std::io::stdout().is_terminal() => data.to_json_indented(),
        _ => String::from_utf8_lossy(outcome).into_owned(),
    };
    output::print(&format!("{text}\n"), exit)
}

/// A run that is about to begin, and that a journal records.
#[cfg(feature = "journal")]
struct Begun<'a> {
    args: &'a Args,
    store: Arc<Store>,
    tools: &'a Tools,
    program: &'a Program,
    function: FunctionId,
    input: &'a Data,
    output: Option<Arc<OutputSchema>>,
}

#[cfg(feature = "journal")]
impl Begun<'_> {
    fn drive(self, mut watch: Watch) -> Result<Exit, Refused> {
        let Begun { args, store, tools, program, function, input, output } = self;
        let mut options = args.limits.options(watch.signal.interrupt.clone(), Interrupt::default());
        options.output = output;
        let beginning = Beginning {
            name: args.journal.name.clone(),
            input: input.to_json().into_bytes(),
            program: program.to_bytes(),
            function: program.function_name(function).to_owned(),
            limits: ilo_journal::RunLimits { machine: options.limits.clone(), time_ms: args.limits.timeout },
        };
        let mut run = Run::new(program, options.limits.clone());
        ilo_host::run::start(&mut run, function, input)?;
        let session = Session::new(store.clone(), beginning);
        let metadata = args.journal.metadata.iter().cloned().collect();
        let session = session.with_tools(tools.signatures(program)).with_metadata(metadata);
        let journal = args.journal.journal.as_deref().unwrap_or(Path::new(""));
        let mut driver = Driver { store, journal, tools, options, watch: &mut watch };
        let exit = driver.start(session, run, args.journal.name.as_deref());
        watch.finish();
        exit
    }
}

/// Whether two paths are the same file, also through links.
fn is_same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (a.metadata(), b.metadata()) {
        use std::os::unix::fs::MetadataExt;
        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Rejects a pipe without a reader: opening it would block.
fn has_reader(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
        if path.metadata().is_ok_and(|found| found.file_type().is_fifo()) {
            let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
            let opened = File::options().write(true).custom_flags(flags).open(path);
            return opened.map(drop).map_err(|_| io::Error::other("it is a pipe that nobody reads"));
        }
    }
    let _ = path;
    Ok(())
}

/// The observers of a run: the trace, the progress line, and the signal handler.
pub(super) struct Watch {
    trace: Option<Trace<File>>,
    pub(super) progress: Option<Progress>,
    pub(super) signal: Signal,
    /// Calls that were started ahead and not needed, by tool.
    untaken: BTreeMap<String, u64>,
}

#[cfg(feature = "journal")]
impl Watch {
    /// Watches runs that a journal records.
    pub(super) fn durable(trace: Option<Trace<File>>) -> Watch {
        let (progress, signal) = (Progress::start(), Signal::listen_durably());
        Watch { trace, progress, signal, untaken: BTreeMap::new() }
    }

    /// Ends the observation.
    pub(super) fn finish(self) {
        let Watch { trace, progress, untaken, .. } = self;
        drop(progress);
        tell_untaken(&untaken);
        if let Some(Err(error)) = trace.map(Trace::finish) {
            let message = format!("the trace is not complete: {error}");
            output::problems(&[Problem::new(Code::BadUsage, "--trace", message)]);
        }
    }
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

/// The message about calls whose answers were not needed.
fn tell_untaken(untaken: &BTreeMap<String, u64>) {
    if untaken.is_empty() {
        return;
    }
    let tools: Vec<String> = untaken.iter().map(|(tool, count)| format!("`{tool}` {count}")).collect();
    let message = format!("read-only calls started ahead and not needed: {}", tools.join(", "));
    output::error(&format!("{}\n", output::plain(&message)));
}
