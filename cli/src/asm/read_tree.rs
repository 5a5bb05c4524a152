//! Reads the syntax tree of a source, or of bytecode that contains its source, for commands that print it.

use super::input::Reading;
use super::{Done, REFUSED, output};
use ilo_asm::arena::Arena;
use ilo_asm::ast::File;
use ilo_asm::compile::read_and_check;
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::lower;
use ilo_asm::notation::Notation;
use ilo_spec::program::Program;
use std::path::Path;
use std::process::ExitCode;

/// Prints what `make` returns for the syntax tree of a source or of bytecode that was not stripped; nothing
/// if `make` reports an error.
pub(super) fn show(
    path: &Path,
    reading: &Reading,
    make: impl FnOnce(&File<'_>, &mut Diagnostics) -> String,
) -> Done {
    let input = reading.read(path)?;
    let bytecode = input.bytecode().transpose()?;
    let source = match &bytecode {
        Some(Program { debug: Some(debug), .. }) => debug.source.as_str(),
        Some(_) => {
            return Err(format!(
                "{}: stripped bytecode has no syntax tree; build it without --strip",
                input.name
            ));
        }
        None => match input.source() {
            Some(source) => source,
            None => return Ok(ExitCode::from(REFUSED)),
        },
    };
    let arena = Arena::new();
    let mut diagnostics = Diagnostics::default();
    let mut options = reading.options(None);
    if bytecode.is_some() {
        options.from = Some(Notation::Id);
    }
    let (file, checked) = read_and_check(source, &arena, &options, &mut diagnostics);
    output::diagnostics(&input.name, source, &diagnostics);
    if diagnostics.has_errors() {
        return Ok(ExitCode::from(REFUSED));
    }
    if let Some(program) = &bytecode {
        // Bytecode contains its tree beside its code; a tree that does not produce that code is rejected.
        let again = lower::lower(&file, &checked, None, &mut diagnostics);
        if again != Some(Program { debug: None, ..program.clone() }) {
            return Err(format!("{}: the syntax tree in this bytecode is not that of its code", input.name));
        }
    }
    let mut diagnostics = Diagnostics::default();
    let made = make(&file, &mut diagnostics);
    output::diagnostics(&input.name, source, &diagnostics);
    if diagnostics.has_errors() {
        return Ok(ExitCode::from(REFUSED));
    }
    output::show(made.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
