//! `fmt`: formats sources.

use super::input::Reading;
use super::{Done, REFUSED, output};
use ilo_asm::compile::Options;
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::format::{self, Formatted};
use ilo_asm::notation::Notation;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-asm fmt --check examples/*.ilo")]
pub(super) struct Args {
    /// The sources; `-` goes to standard output
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Write nothing; exit with 1 if a file would change
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    reading: Reading,
}

/// Formats a source in its notation.
fn formatted(source: &str, options: &Options<'_>, diagnostics: &mut Diagnostics) -> Formatted {
    match options.from.or_else(|| Notation::detect(source)) {
        None | Some(Notation::Id) => {
            format::id_text(source, &options.reading, diagnostics).map_or(Formatted::Refused, Formatted::Text)
        }
        Some(notation) => format::format(source, notation, &options.reading, diagnostics),
    }
}

pub(super) fn run(args: &Args) -> Done {
    let options = args.reading.options(None);
    let (mut refused, mut differs) = (false, false);
    for path in &args.files {
        let input = args.reading.read(path)?;
        let Some(source) = input.source() else {
            refused = true;
            continue;
        };
        let mut diagnostics = Diagnostics::default();
        let text = match formatted(source, &options, &mut diagnostics) {
            Formatted::Text(text) => text,
            Formatted::LeftAlone => {
                output::complain(&format!(
                    "{}: left alone, since another layout would change what it says",
                    input.name
                ));
                source.to_owned()
            }
            Formatted::Refused => {
                output::diagnostics(&input.name, source, &diagnostics);
                refused = true;
                continue;
            }
        };
        if args.check {
            if text != source {
                differs = true;
                output::complain(&format!("{} is laid out differently", input.name));
            }
        } else if input.is_stdin {
            output::show(text.as_bytes())?;
        } else if text != source {
            output::replace(path, text.as_bytes())?;
        }
    }
    Ok(match (refused, differs) {
        (true, _) => ExitCode::from(REFUSED),
        (false, true) => ExitCode::FAILURE,
        (false, false) => ExitCode::SUCCESS,
    })
}
