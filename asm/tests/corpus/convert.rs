//! Every program of the corpus, printed in every notation and read back, is the same program.

use crate::case;
use ilo_asm::arena::Arena;
use ilo_asm::case::Source;
use ilo_asm::compile::{Options, compile, read_and_check};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::notation::Notation;
use ilo_asm::print::print;
use ilo_spec::encode::encode;

/// Removes names and positions, which do not count.
fn stripped(source: &str, from: Notation) -> Result<Vec<u8>, String> {
    let (program, diagnostics) =
        compile(source, &Options { from: Some(from), strip: true, ..Options::default() });
    let first = diagnostics.as_slice().iter().find(|diagnostic| diagnostic.is_error());
    program.map(|program| encode(&program)).ok_or_else(|| {
        first.map_or_else(String::new, |diagnostic| format!("{}: {}", diagnostic.code, diagnostic.message))
    })
}

/// Prints one source in a notation and reads it back.
fn survives(source: &Source<'_>, to: Notation) -> Result<(), String> {
    let from = source.notation;
    let arena = Arena::new();
    let mut diagnostics = Diagnostics::default();
    let options = Options { from: Some(from), ..Options::default() };
    let (file, _) = read_and_check(source.text, &arena, &options, &mut diagnostics);
    let mut unsaid = Diagnostics::default();
    let text = print(&file, to, &mut unsaid);
    if let [first, ..] = unsaid.as_slice() {
        return Err(format!("  not expressible: {}", first.message));
    }
    let before = stripped(source.text, from)?;
    let after = stripped(&text, to).map_err(|error| format!("  {error}\n{text}"))?;
    if before == after { Ok(()) } else { Err(format!("  another program:\n{text}")) }
}

#[test]
fn every_program_survives_every_notation() {
    let mut failures = Vec::new();
    for case in case::selected() {
        for source in case.sources() {
            if case.section_for("outcome", source.notation).is_none() {
                continue;
            }
            for (to, name) in Notation::ALL {
                if let Err(failure) = survives(&source, to) {
                    failures.push(format!(
                        "{} ({}) as {name}\n{failure}\n",
                        case.path.display(),
                        source.notation
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} did not survive\n\n{}", failures.len(), failures.join("\n"));
}
