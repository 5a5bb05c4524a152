//! `build`: builds bytecode from a source or from bytecode.

use super::input::{self, Reading};
use super::{Done, REFUSED, output};
use ilo_asm::compile::Options;
use ilo_spec::encode::encode;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-asm build examples/notify.ilo -o notify.ilob --strip")]
pub(super) struct Args {
    /// The source; `-` is standard input
    file: PathBuf,
    /// The file to write [default: the file's name with `.ilob`; standard output for `-`]
    #[arg(short, value_name = "OUT.ilob")]
    output: Option<PathBuf>,
    /// Leave out source positions, and names that no tool call or outcome needs
    #[arg(long)]
    strip: bool,
    #[command(flatten)]
    reading: Reading,
}

pub(super) fn run(args: &Args) -> Done {
    let input = args.reading.read(&args.file)?;
    let options = Options { strip: args.strip, ..args.reading.options(None) };
    let Some(mut program) = input::program(&input, &options)? else { return Ok(ExitCode::from(REFUSED)) };
    if args.strip {
        program.debug = None;
    }
    let bytes = encode(&program);
    let beside = || (!input.is_stdin).then(|| args.file.with_extension("ilob"));
    match args.output.clone().or_else(beside) {
        Some(path) if path.as_os_str() != "-" => output::write(&path, &bytes)?,
        _ => output::show(&bytes)?,
    }
    Ok(ExitCode::SUCCESS)
}
