//! `prompt`: prints a prompt for a model that writes programs.

use super::{Done, input, output};
use ilo_asm::notation::Notation;
use ilo_asm::prompt;
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(
    after_help = "Example: ilo-asm prompt --notation workflow --catalog catalog.json, where `ilo-vm tools --tools examples/tools.json --json > catalog.json` wrote it"
)]
pub(super) struct Args {
    /// The notation
    #[arg(long, value_name = "NOTATION")]
    notation: Notation,
    #[command(flatten)]
    tools: input::Tools,
}

pub(super) fn run(args: &Args) -> Done {
    let catalog = args.tools.catalog()?;
    output::show(prompt::prompt(args.notation, catalog.as_ref()).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
