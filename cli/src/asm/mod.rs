//! The command line of `ilo-asm`: one file for each command, and what the commands share.
//!
//! The commands only read and write files. Results go to standard output, everything else to standard error.
//! The exit code is 0 on success and 2 for an invalid source or option. `fmt --check` exits with 1 if a file
//! would change.

mod build;
mod check;
mod convert;
mod dis;
mod explain;
mod fix;
mod fmt;
mod grammar;
mod graph;
mod input;
#[cfg(feature = "lsp")]
mod lsp;
mod next;
mod output;
mod prompt;
mod read_tree;
mod schema;

use crate::{completions, man};
use clap::{CommandFactory as _, Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "ilo-asm",
    version,
    about = "The ilo assembler: text in, checked bytecode out",
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Build bytecode from a source, or from bytecode again
    Build(build::Args),
    /// Show all errors and warnings
    Check(check::Args),
    /// Format sources: counts, indentation, registries; comments are kept
    Fmt(fmt::Args),
    /// Apply the fix of each error and warning that has exactly one
    Fix(fix::Args),
    /// Convert any notation, or bytecode that was not stripped, to any notation; slots and ids are
    /// renumbered
    Convert(convert::Args),
    /// List bytecode: offset, instruction, registers, constants, source line
    Dis(dis::Args),
    /// Draw calls, data flow, branches and rollbacks
    Graph(graph::Args),
    /// Print a prompt for a model that writes programs: a short guide to a notation, and the tools
    Prompt(prompt::Args),
    /// Run a language server for editors on standard streams
    #[cfg(feature = "lsp")]
    Lsp(lsp::Args),
    /// List what may follow the beginning of a program in ID text or constrained
    Next(next::Args),
    /// Print a grammar of programs for an engine of constrained decoding
    Grammar(grammar::Args),
    /// Print a JSON Schema of programs in the notation constrained
    Schema(schema::Args),
    /// Explain an error code, with a wrong and a right example
    Explain(explain::Args),
    /// Print a script that lets a shell complete this program's options
    #[command(
        after_help = "Example: ilo-asm completions bash > ~/.local/share/bash-completion/completions/ilo-asm"
    )]
    Completions(completions::Args),
    /// Print this program's manual page in roff, or write those of all commands
    #[command(after_help = "Example: ilo-asm man > ilo-asm.1\nExample: ilo-asm man ~/.local/share/man/man1")]
    Man(man::Args),
}

/// The exit code of a command, or why it failed completely.
type Done = Result<ExitCode, String>;

/// The exit code for an invalid source, program or option.
const REFUSED: u8 = 2;

/// The exit code of a command, given whether all its sources are valid.
fn exit(refused: bool) -> ExitCode {
    if refused { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS }
}

/// Prints a result.
fn print(bytes: &[u8]) -> Done {
    output::show(bytes)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    run(std::env::args_os())
}

/// Runs a command line, whose first element is the name of the program.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let done = match Cli::parse_from(arguments).verb {
        Verb::Build(args) => build::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::Fmt(args) => fmt::run(&args),
        Verb::Fix(args) => fix::run(&args),
        Verb::Convert(args) => convert::run(&args),
        Verb::Dis(args) => dis::run(&args),
        Verb::Graph(args) => graph::run(&args),
        Verb::Prompt(args) => prompt::run(&args),
        #[cfg(feature = "lsp")]
        Verb::Lsp(args) => lsp::run(&args),
        Verb::Next(args) => next::run(&args),
        Verb::Grammar(args) => grammar::run(&args),
        Verb::Schema(args) => schema::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Completions(args) => print(&completions::script(&args, Cli::command())),
        Verb::Man(args) => man::page(&args, Cli::command()).and_then(|page| print(&page)),
    };
    done.unwrap_or_else(|message| {
        output::complain(&message);
        ExitCode::from(REFUSED)
    })
}
