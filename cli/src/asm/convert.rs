//! `convert`: prints a source or bytecode in another notation.

use super::input::Reading;
use super::{Done, read_tree};
use ilo_asm::notation::Notation;
use ilo_asm::print;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-asm convert notify.ilob --to id")]
pub(super) struct Args {
    /// The source or bytecode
    file: PathBuf,
    /// The notation to write
    #[arg(long, value_name = "NOTATION")]
    to: Notation,
    #[command(flatten)]
    reading: Reading,
}

pub(super) fn run(args: &Args) -> Done {
    read_tree::show(&args.file, &args.reading, |file, diagnostics| print::print(file, args.to, diagnostics))
}
