//! The command line of the assembler: what there is to ask for.
//!
//! It reads and writes files and nothing else. Results go to standard output, everything else to standard error; it ends
//! with 0 where all is well and with 2 where a source or option is not. `fmt --check` ends with 1 where a file would change.

mod input;
mod report;
mod verbs;

use crate::graph;
use crate::notation::Notation;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
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
    /// Builds bytecode from a source, or from bytecode again
    #[command(after_help = "Example: ilo-asm build examples/notify.ilo -o notify.ilob --strip")]
    Build {
        /// The source; `-` is standard input
        file: PathBuf,
        /// Where the bytecode goes [default: the file's name with `.ilob`; standard output for `-`]
        #[arg(short, value_name = "OUT.ilob")]
        output: Option<PathBuf>,
        /// Leave out names that no tool call or outcome needs, and positions
        #[arg(long)]
        strip: bool,
        #[command(flatten)]
        reading: Reading,
    },
    /// Shows all errors and warnings, and writes nothing
    #[command(
        after_help = "Example: ilo-asm check examples/*.ilo --catalog catalog.json, where `ilo-vm tools --tools examples/tools.json --json > catalog.json` wrote it"
    )]
    Check {
        /// The sources
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The tools that there are, as `ilo-vm tools --json` writes them
        #[arg(long)]
        catalog: Option<PathBuf>,
        /// A line of JSON for each diagnostic, on standard output
        #[arg(long)]
        json: bool,
        /// Take warnings for errors
        #[arg(long)]
        strict: bool,
        #[command(flatten)]
        reading: Reading,
    },
    /// Lays sources out as everybody does: counts, indentation, registries; comments stay
    #[command(after_help = "Example: ilo-asm fmt --check examples/*.ilo")]
    Fmt {
        /// The sources; `-` goes to standard output
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Write nothing; end with 1 where a file would change
        #[arg(long)]
        check: bool,
        #[command(flatten)]
        reading: Reading,
    },
    /// Applies every mend that `check` offers and that is the only one
    #[command(after_help = "Example: ilo-asm fix draft.ilo")]
    Fix {
        /// The sources; `-` goes to standard output
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The tools that there are, as `ilo-vm tools --json` writes them
        #[arg(long)]
        catalog: Option<PathBuf>,
        #[command(flatten)]
        reading: Reading,
    },
    /// Turns any notation, or bytecode that was not stripped, into any notation; slots and ids are numbered anew
    #[command(after_help = "Example: ilo-asm convert notify.ilob --to id")]
    Convert {
        /// The source or bytecode
        file: PathBuf,
        /// The notation to write
        #[arg(long, value_name = "NOTATION")]
        to: Notation,
        #[command(flatten)]
        reading: Reading,
    },
    /// Lists bytecode: place, instruction, registers, constants, source line
    #[command(after_help = "Example: ilo-asm dis notify.ilob")]
    Dis {
        /// Bytecode, or a source that is built first
        file: PathBuf,
        #[command(flatten)]
        reading: Reading,
    },
    /// Draws calls, data flow, branches and rollbacks
    #[command(after_help = "Example: ilo-asm graph examples/checkout.ilo --format svg > checkout.svg")]
    Graph {
        /// The source or bytecode
        file: PathBuf,
        /// The form of the picture: svg, dot or mermaid
        #[arg(long, default_value = "svg")]
        format: graph::Format,
        #[command(flatten)]
        reading: Reading,
    },
    /// Shows what to put before a model that shall write programs: a notation in short, and the tools that there are
    #[command(
        after_help = "Example: ilo-asm prompt --notation workflow --catalog catalog.json, where `ilo-vm tools --tools examples/tools.json --json > catalog.json` wrote it"
    )]
    Prompt {
        /// The notation
        #[arg(long, value_name = "NOTATION")]
        notation: Notation,
        /// The tools that there are, as `ilo-vm tools --json` writes them
        #[arg(long)]
        catalog: Option<PathBuf>,
    },
    /// Tells what an error code means, with a wrong and a right example
    #[command(after_help = "Example: ilo-asm explain unset-slot")]
    Explain {
        /// The code
        code: String,
    },
}

/// How sources are read.
#[derive(Args)]
struct Reading {
    /// The notation of the source [default: found from its content]
    #[arg(long, value_name = "NOTATION")]
    from: Option<Notation>,
    /// Bytes that a source may have
    #[arg(long, value_name = "BYTES", default_value_t = ilo_spec::limits::DEFAULT_SOURCE)]
    max_source: usize,
    /// Bytes that a line of instruction text may have
    #[arg(long, value_name = "BYTES", default_value_t = ilo_spec::limits::DEFAULT_LINE)]
    max_line: usize,
    /// Levels that a source may nest, at most 256
    #[arg(long, value_name = "LEVELS", default_value_t = ilo_spec::limits::DEFAULT_NESTING, value_parser = nesting)]
    max_nesting: usize,
}

/// A nesting that may be asked for.
fn nesting(text: &str) -> Result<usize, String> {
    let most = ilo_spec::limits::NESTING;
    text.parse()
        .ok()
        .filter(|&levels| levels <= most)
        .ok_or_else(|| format!("expected a whole number up to {most}"))
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    match verbs::run(Cli::parse().verb) {
        Ok(code) => code,
        Err(message) => {
            report::complain(&message);
            ExitCode::from(2)
        }
    }
}
