//! `trace`: shows the calls of a run over time, as text or as a picture.

use super::{Exit, Refused, load, output};
use crate::timeline::Timeline;
use ilo_host::problem::Problem;
use ilo_spec::error::Code;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-vm trace trace.jsonl --svg >trace.svg")]
pub(super) struct Args {
    /// The file that `run --trace` wrote; `-` is standard input
    file: PathBuf,
    /// Draw an SVG instead of text
    #[arg(long)]
    svg: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Refused> {
    let name = load::place(&args.file);
    let timeline = if args.file.as_os_str() == "-" {
        Timeline::read(&name, io::stdin().lock())?
    } else {
        let unreadable =
            |error| Problem::new(Code::BadUsage, name.as_str(), format!("cannot be read: {error}"));
        Timeline::read(&name, BufReader::new(File::open(&args.file).map_err(unreadable)?))?
    };
    output::print(&if args.svg { timeline.svg() } else { timeline.text() }, Exit::Ok)
}
