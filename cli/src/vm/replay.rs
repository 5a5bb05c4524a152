//! `replay`: runs a program with the answers of a trace in place of tools; standard output is the outcome.

use super::input::InputArgs;
use super::lock::LockArgs;
use super::run::MachineLimits;
use super::{Exit, Refused, load, run};
use ilo_host::entry;
use ilo_host::problem::Problem;
use ilo_host::recording::{self, Recording};
use ilo_spec::error::Code;
use ilo_vm::Input;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// The maximum size of a trace.
const TRACE: u64 = 256 << 20;

const HELP: &str = "\
Give the program the input that the run had: a trace has the calls and their answers, but not the \
input. No tool is called. If the program makes the same calls, its outcome is printed. Otherwise the first \
call that differs is reported.

Exit codes: 0 ok, 1 err, 2 not a valid program, input or trace, or other calls than the trace has, 3 fault

Example: ilo-vm replay trace.jsonl examples/notify.ilo --arg user-id=u1 --arg message=Hello";

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// The file that `run --trace` wrote; `-` is standard input
    trace: PathBuf,
    /// Source or bytecode; `-` is standard input
    file: PathBuf,
    /// The function to run [default: the only one that no other function calls]
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    limits: MachineLimits,
    #[command(flatten)]
    files: load::FileLimits,
}

pub(super) fn run(args: &Args) -> Result<Exit, Refused> {
    let readers = [args.trace.as_os_str() == "-", args.file.as_os_str() == "-", args.input.is_stdin()];
    if readers.iter().filter(|&&reads| reads).count() > 1 {
        let message = "standard input can be only one of the trace, the program and the input";
        return Err(Problem::new(Code::BadUsage, "-", message).into());
    }
    let recording = recording(&args.trace)?;
    let program = load::load_file(&args.file, &args.files, None, &LockArgs::default())?;
    let function = entry::function(&program, args.function.as_deref(), "--fn")?;
    let parameters: Vec<Input<'_>> = program.inputs(function).collect();
    let input = args.input.read(&parameters, &args.limits.input())?;
    let finished = recording.replay(&program, function, &input, &args.limits.limits())?;
    // The replay has come to the end of the run.
    finished.outcome().map_or(Ok(Exit::Invalid), |outcome| run::show(outcome, false))
}

fn recording(path: &Path) -> Result<Recording, Problem> {
    let name = load::place(path);
    if path.as_os_str() == "-" {
        return recording::read(&name, io::stdin().lock(), TRACE);
    }
    let unreadable = |error| Problem::new(Code::BadUsage, name.as_str(), format!("cannot be read: {error}"));
    let file = File::open(path).map_err(unreadable)?;
    recording::read(&name, BufReader::new(file), TRACE)
}
