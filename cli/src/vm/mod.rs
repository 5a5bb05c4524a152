//! The command line of `ilo-vm`: one file for each command, and what the commands share.

mod check;
#[cfg(target_os = "linux")]
mod cleanup_process;
mod input;
mod inputs;
#[cfg(feature = "journal")]
mod journal;
mod load;
mod lock;
#[cfg(feature = "serve")]
mod log;
#[cfg(feature = "login")]
mod login;
mod orphans;
mod output;
mod plan;
mod progress;
mod replay;
mod run;
#[cfg(feature = "serve")]
mod serve;
mod signal;
mod terminal;
mod test;
mod tools;
mod trace;
mod verify;

use crate::{asm, completions, man};
use clap::{CommandFactory as _, Parser, Subcommand};
use ilo_host::problem::{Problem, Problems};
use ilo_host::tools::{Source, Tools};
use ilo_spec::error::Code;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Check and run ilo programs.
#[derive(Parser)]
#[command(name = "ilo-vm", version, max_term_width = 100, disable_help_subcommand = true)]
struct Invocation {
    #[command(subcommand)]
    verb: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check a program, then run it; standard output is its outcome.
    Run(run::Args),
    /// Continue runs of a journal.
    #[cfg(feature = "journal")]
    Resume(journal::resume::Args),
    /// See the runs of a journal, and decide on those that wait.
    #[cfg(feature = "journal")]
    Runs(journal::runs::Args),
    /// Check programs against their tools.
    Check(check::Args),
    /// Check that bytecode is safe to run.
    Verify(verify::Args),
    /// Show what a program would do, without running it.
    Plan(plan::Args),
    /// List the tools of a tools file.
    Tools(tools::Args),
    /// Show the calls of a run over time.
    Trace(trace::Args),
    /// Run case files: programs with the outcome and calls that they must have.
    Test(test::Args),
    /// Run a program with the answers of a trace in place of tools.
    Replay(replay::Args),
    /// Sign in to an MCP server by OAuth.
    #[cfg(feature = "login")]
    Login(login::Login),
    /// Revoke and delete the tokens of an MCP server.
    #[cfg(feature = "login")]
    Logout(login::Logout),
    /// Offer programs to agents, as an MCP server.
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    /// Run a command of the assembler, as `ilo-asm` does.
    ///
    /// Under the name `ilo-asm`, for example by a link, this program is the assembler.
    #[command(disable_help_flag = true, after_help = "Example: ilo-vm asm check notify.ilo")]
    Asm(AsmArgs),
    /// Print a script that lets a shell complete this program's options.
    #[command(
        after_help = "Example: ilo-vm completions bash > ~/.local/share/bash-completion/completions/ilo-vm"
    )]
    Completions(completions::Args),
    /// Print this program's manual page in roff, or write those of all commands.
    #[command(after_help = "Example: ilo-vm man > ilo-vm.1\nExample: ilo-vm man ~/.local/share/man/man1")]
    Man(man::Args),
    /// End the processes that another process has left running, once it has ended.
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    Keep(cleanup_process::Args),
}

#[derive(clap::Args)]
struct AsmArgs {
    /// A command of `ilo-asm`, with its options.
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Task {
    /// Whether it is a long-running server.
    fn is_server(&self) -> bool {
        #[cfg(feature = "serve")]
        if matches!(self, Task::Serve(_)) {
            return true;
        }
        false
    }
}

/// The exit codes. If several apply, the last one here is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Exit {
    Ok = 0,
    Err = 1,
    Invalid = 2,
    Fault = 3,
    #[cfg(feature = "journal")]
    Suspended = 4,
    /// Standard output cannot be written: `EX_IOERR` of sysexits.h.
    Unwritten = 74,
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command failed.
enum Refused {
    /// The problems to report.
    Problems(Vec<Problem>),
    /// A source with errors, which have been shown already.
    Shown,
    /// What a journal refuses.
    #[cfg(feature = "journal")]
    Journal(Box<ilo_journal::Error>),
    /// Standard output cannot be written, which has been shown already.
    Unwritten,
}

impl From<Problems> for Refused {
    fn from(problems: Problems) -> Refused {
        Refused::Problems(problems.into())
    }
}

impl From<Vec<Problem>> for Refused {
    fn from(problems: Vec<Problem>) -> Refused {
        Refused::Problems(problems)
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Refused {
        Refused::Problems(vec![problem])
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    if std::env::args_os().next().is_some_and(|name| is_assembler(&name)) {
        return asm::main();
    }
    let verb = Invocation::parse().verb;
    output::hide_in_panics();
    if !verb.is_server() {
        orphans::adopt();
    }
    let result = match verb {
        Task::Run(args) => run::run(&args),
        #[cfg(feature = "login")]
        Task::Login(args) => login::login(&args),
        #[cfg(feature = "login")]
        Task::Logout(args) => login::logout(&args),
        #[cfg(feature = "journal")]
        Task::Resume(args) => journal::resume::run(&args),
        #[cfg(feature = "journal")]
        Task::Runs(args) => journal::runs::run(&args),
        Task::Check(args) => check::run(&args),
        Task::Verify(args) => verify::run(&args),
        Task::Plan(args) => plan::run(&args),
        Task::Tools(args) => tools::run(&args),
        Task::Trace(args) => trace::run(&args),
        Task::Test(args) => test::run(&args),
        Task::Replay(args) => replay::run(&args),
        #[cfg(feature = "serve")]
        Task::Serve(args) => serve::run(&args),
        Task::Asm(args) => {
            return asm::run(std::iter::once("ilo-vm asm".into()).chain(args.arguments));
        }
        Task::Completions(args) => {
            output::bytes(&completions::script(&args, Invocation::command()), Exit::Ok)
        }
        Task::Man(args) => man::page(&args, Invocation::command())
            .map_err(|message| Problem::new(Code::BadUsage, "", message).into())
            .and_then(|page| output::bytes(&page, Exit::Ok)),
        #[cfg(target_os = "linux")]
        Task::Keep(args) => Ok(cleanup_process::run(&args)),
    };
    orphans::end();
    match result {
        Ok(exit) => exit.into(),
        Err(Refused::Shown) => Exit::Invalid.into(),
        #[cfg(feature = "journal")]
        Err(Refused::Journal(error)) => {
            output::error(&format!("{}\n", output::plain(&error.to_string())));
            Exit::Invalid.into()
        }
        Err(Refused::Unwritten) => Exit::Unwritten.into(),
        Err(Refused::Problems(problems)) => {
            output::problems(&problems);
            Exit::Invalid.into()
        }
    }
}

/// Whether this program was called by the name of the assembler: packages ship one program under both names.
fn is_assembler(name: &OsString) -> bool {
    Path::new(name).file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("ilo-asm"))
}

/// The tools of a file, or none. A server that needs a value from a person asks at the terminal.
fn tools_of(path: Option<&Path>) -> Result<Tools, Refused> {
    let mut tools = tools_without_questions(path)?;
    if tools.asks()
        && let Some(prompt) = inputs::Inputs::open()
    {
        tools.set_prompt(prompt);
    }
    Ok(tools)
}

/// The tools of a file, or none, where nobody is at a terminal.
fn tools_without_questions(path: Option<&Path>) -> Result<Tools, Refused> {
    let Some(path) = path else { return Ok(Tools::new()) };
    let tools = Tools::from_file(path)?;
    prepare_cleanup(&tools);
    Ok(tools)
}

/// Starts the process that ends what these tools leave running if this process is killed.
fn prepare_cleanup(tools: &Tools) {
    let starts = tools.servers().next().is_some()
        || tools.iter().any(|tool| matches!(tool.source, Source::Command(_)));
    #[cfg(target_os = "linux")]
    if starts {
        cleanup_process::start();
    }
    #[cfg(not(target_os = "linux"))]
    let _ = starts;
}
