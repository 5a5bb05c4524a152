//! `fix`: applies all unambiguous fixes, in place.

use super::input::{self, Reading};
use super::{Done, exit, output};
use ilo_asm::compile::compile;
use ilo_asm::ide;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-asm fix draft.ilo")]
pub(super) struct Args {
    /// The sources; `-` goes to standard output
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    tools: input::ToolsOption,
    #[command(flatten)]
    reading: Reading,
}

pub(super) fn run(args: &Args) -> Done {
    let catalog = args.tools.catalog()?;
    let options = args.reading.options(catalog.as_ref());
    let mut refused = false;
    for path in &args.files {
        let input = args.reading.read(path)?;
        let Some(source) = input.source() else {
            refused = true;
            continue;
        };
        let (text, fixed) = ide::fix_all(source, &options);
        let (_, diagnostics) = compile(&text, &options);
        output::diagnostics(&input.name, &text, &diagnostics);
        refused |= diagnostics.has_errors();
        if input.is_stdin {
            output::show(text.as_bytes())?;
        } else if fixed > 0 {
            output::replace(path, text.as_bytes())?;
        }
        output::complain(&format!("{}: {fixed} fixed", input.name));
    }
    Ok(exit(refused))
}
