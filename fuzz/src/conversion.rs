//! Converts any notation to any other: the printed text reads back to the same code, or is reported.

use ilo_asm::arena::Arena;
use ilo_asm::compile::{Options, compile, read_and_check};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::disasm::disassemble;
use ilo_asm::notation::Notation;
use ilo_asm::print;
use ilo_spec::program::Program;

/// The result of printing a source in another notation.
#[derive(Debug)]
pub enum Turned {
    /// The same code, with the printed text.
    Same(String),
    /// The notation cannot express something; says what.
    NotExpressible(String),
    /// The source is not a program.
    NoProgram,
}

fn stripped(source: &str, notation: Notation) -> Result<Program, String> {
    let options = Options { from: Some(notation), strip: true, ..Options::default() };
    let (program, diagnostics) = compile(source, &options);
    program.ok_or_else(|| format!("{:#?}", diagnostics.as_slice()))
}

/// Prints a source in a notation and reads the text back.
///
/// # Errors
/// The difference, with the printed text.
pub fn turn(source: &str, from: Notation, to: Notation) -> Result<Turned, String> {
    let Ok(before) = stripped(source, from) else { return Ok(Turned::NoProgram) };
    let arena = Arena::new();
    let mut diagnostics = Diagnostics::default();
    let options = Options { from: Some(from), ..Options::default() };
    let (file, _) = read_and_check(source, &arena, &options, &mut diagnostics);
    let mut refused = Diagnostics::default();
    let printed = print::print(&file, to, &mut refused);
    if let Some(why) = refused.as_slice().iter().find(|diagnostic| diagnostic.is_error()) {
        return Ok(Turned::NotExpressible(why.message.clone()));
    }
    match stripped(&printed, to) {
        Ok(after) if before == after => Ok(Turned::Same(printed)),
        Ok(after) => Err(format!("{printed}\n{}\n{}", disassemble(&before), disassemble(&after))),
        Err(why) => Err(format!("{printed}\n{why}")),
    }
}

/// Checks the promise of [`turn`] for any bytes. The first byte chooses the notations. The rest is a source,
/// or the bytes that a random program is generated from.
///
/// # Panics
/// If the promise is broken.
pub fn conversion(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    let pick = |choice: u8| Notation::ALL[usize::from(choice) % Notation::ALL.len()].0;
    let (from, to) = (pick(choice), pick(choice / 5));
    let generated;
    let source = if from == Notation::Id && choice >= 125 {
        generated = crate::generate::case(rest).source;
        &generated
    } else {
        let Ok(source) = core::str::from_utf8(rest) else { return };
        source
    };
    if let Err(what) = turn(source, from, to) {
        panic!("{from} to {to}\n{source}\n{what}");
    }
}

/// Printing settles: a source that is printed in a notation, read, and printed again gives the same text from
/// then on. The first byte chooses both notations.
///
/// # Panics
/// If it does not.
pub fn round_trip(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    let Ok(source) = core::str::from_utf8(rest) else { return };
    let pick = |choice: u8| Notation::ALL[usize::from(choice) % Notation::ALL.len()].0;
    let (from, to) = (pick(choice), pick(choice / 5));
    let Some(first) = printed(source, from, to) else { return };
    // Each notation numbers slots in the order in which it reads them, so the first print may still change
    // the numbers.
    let second = printed(&first, to, to);
    assert!(second.is_some(), "text printed in {to} is read\n{first}");
    let third = second.as_ref().and_then(|second| printed(second, to, to));
    assert_eq!(third, second, "text printed in {to} is printed again");
}

/// Prints a checked source in a notation; `None` if it has errors or the notation cannot express it.
fn printed(source: &str, from: Notation, to: Notation) -> Option<String> {
    let arena = Arena::new();
    let mut diagnostics = Diagnostics::default();
    let options = Options { from: Some(from), ..Options::default() };
    let (file, _) = read_and_check(source, &arena, &options, &mut diagnostics);
    let printed = (!diagnostics.has_errors()).then(|| print::print(&file, to, &mut diagnostics))?;
    (!diagnostics.has_errors()).then_some(printed)
}
