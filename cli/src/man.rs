//! `man`: prints or writes manual pages.

use clap::Command;
use clap_mangen::Man;
use std::io;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write a page for the program and one for each command into this folder, instead of printing the
    /// program's
    folder: Option<PathBuf>,
}

/// The page of the program, or `None` if all pages were written to a folder.
///
/// # Errors
/// If a page cannot be written; the message names the folder.
pub(crate) fn page(args: &Args, program: Command) -> Result<Vec<u8>, String> {
    let Some(folder) = &args.folder else {
        let mut page = Vec::new();
        Man::new(program).render(&mut page).map_err(|error| error.to_string())?;
        return Ok(page);
    };
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(program, folder));
    written.map_err(|error: io::Error| format!("{}: {error}", folder.display()))?;
    Ok(Vec::new())
}
