//! `check`: shows all errors and warnings of sources.

use super::input::{self, Reading};
use super::{Done, exit, output};
use crate::output_schema;
use ilo_asm::compile::{Options, OutputSchema, Signature, compile};
use ilo_asm::diagnostic::json;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(
    after_help = "Example: ilo-asm check examples/*.ilo --catalog catalog.json, where `ilo-vm tools --tools examples/tools.json --json > catalog.json` wrote it"
)]
pub(super) struct Args {
    /// The sources
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    tools: input::ToolsOption,
    /// Print each diagnostic as a line of JSON to standard output
    #[arg(long)]
    json: bool,
    /// Refuse what warnings foretell: a fault in the run, or another result than the program says
    #[arg(long)]
    strict: bool,
    /// Treat every warning as an error
    #[arg(long)]
    deny_warnings: bool,
    /// The signature that the function must have, such as 'email(id: text) -> result answer, text'
    #[arg(long)]
    signature: Option<Signature>,
    /// A file with the JSON Schema of the value that the program must return
    #[arg(long, value_name = "FILE", value_parser = output_schema::read)]
    output_schema: Option<OutputSchema>,
    #[command(flatten)]
    reading: Reading,
}

pub(super) fn run(args: &Args) -> Done {
    let catalog = args.tools.catalog()?;
    let (signature, strict) = (args.signature.as_ref(), args.strict);
    let wanted = args.output_schema.as_ref();
    let options = Options { signature, strict, output: wanted, ..args.reading.options(catalog.as_ref()) };
    let mut refused = false;
    for path in &args.files {
        let input = match args.reading.read(path) {
            Ok(input) => input,
            Err(message) => {
                output::complain(&message);
                refused = true;
                continue;
            }
        };
        let Some(source) = input.source() else {
            refused = true;
            continue;
        };
        let (_, diagnostics) = compile(source, &options);
        refused |= diagnostics.has_errors() || (args.deny_warnings && !diagnostics.as_slice().is_empty());
        if args.json {
            output::show(json::lines(&input.name, source, &diagnostics).as_bytes())?;
        } else {
            output::diagnostics(&input.name, source, &diagnostics);
        }
    }
    Ok(exit(refused))
}
