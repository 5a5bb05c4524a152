//! `graph`: draws a program.

use super::input::Reading;
use super::{Done, read_tree};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-asm graph examples/checkout.ilo --format svg > checkout.svg")]
pub(super) struct Args {
    /// The source or bytecode
    file: PathBuf,
    /// The format of the picture: svg, dot or mermaid
    #[arg(long, default_value = "svg")]
    format: ilo_graph::Format,
    #[command(flatten)]
    reading: Reading,
}

pub(super) fn run(args: &Args) -> Done {
    read_tree::show(&args.file, &args.reading, |file, _| ilo_graph::graph(file, args.format))
}
