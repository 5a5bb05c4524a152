//! `prompt`: prints a prompt for a model that writes programs.

use super::{Done, input, output};
use crate::output_schema;
use ilo_asm::compile::{OutputSchema, Signature};
use ilo_asm::notation::Notation;
use ilo_asm::prompt::prompt_for;
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
    tools: input::ToolsOption,
    /// The signature that the function must have, such as 'email(id: text) -> result answer, text'
    #[arg(long)]
    signature: Option<Signature>,
    /// A file with the JSON Schema of the value that the program must return
    #[arg(long, value_name = "FILE", value_parser = output_schema::read)]
    output_schema: Option<OutputSchema>,
}

pub(super) fn run(args: &Args) -> Done {
    let catalog = args.tools.catalog()?;
    let text =
        prompt_for(args.notation, catalog.as_ref(), args.signature.as_ref(), args.output_schema.as_ref());
    output::show(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
