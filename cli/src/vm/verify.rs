//! `verify`: reports whether bytecode is safe to run.

use super::{Exit, Refused, load};
use ilo_host::problem::Problem;
use ilo_spec::error::Code;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-vm verify notify.ilob")]
pub(super) struct Args {
    /// A bytecode file; `-` is standard input
    file: PathBuf,
    #[command(flatten)]
    limits: load::FileLimits,
}

pub(super) fn run(args: &Args) -> Result<Exit, Refused> {
    let bytes = load::read(&args.file, &args.limits)?;
    let place = load::place(&args.file);
    if !load::is_bytecode(&bytes) {
        let message = "no bytecode: expected the magic bytes `ilob`; `check` is for source";
        return Err(Problem::new(Code::Malformed, format!("{place}: at byte 0"), message).into());
    }
    load::load_bytecode(&bytes, &place, &args.limits)?;
    Ok(Exit::Ok)
}
