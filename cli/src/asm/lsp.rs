//! `lsp`: a language server for editors.

use super::Done;
use crate::lsp;
use std::io::{self, BufReader};
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(
    after_help = "Example: ilo-asm lsp\nAn editor starts it; editors/README.md has the settings of VS Code, Neovim, \
                        Helix and Emacs.\nThe tools come from the initialization option `catalog`, else from the nearest \
                        `tools.json` above a document."
)]
pub(super) struct Args {}

pub(super) fn run(_: &Args) -> Done {
    let ended = lsp::serve(BufReader::new(io::stdin()), io::stdout().lock());
    let ended = ended.map_err(|error| format!("standard output: {error}"))?;
    // By the protocol, an end without `shutdown` is a failure.
    Ok(if ended { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
