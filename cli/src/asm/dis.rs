//! `dis`: lists bytecode.

use super::input::{self, Reading};
use super::{Done, REFUSED, output};
use ilo_asm::disasm;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-asm dis notify.ilob")]
pub(super) struct Args {
    /// Bytecode, or a source that is built first
    file: PathBuf,
    #[command(flatten)]
    reading: Reading,
}

pub(super) fn run(args: &Args) -> Done {
    let input = args.reading.read(&args.file)?;
    let program = input::program(&input, &args.reading.options(None))?;
    let Some(program) = program else { return Ok(ExitCode::from(REFUSED)) };
    output::show(disasm::disassemble(&program).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
