//! Checks the cases of the conformance corpus and `spec/programs` before they run: the diagnostics of each
//! source, the result of its fixes, the notation as which it is detected, and that it survives conversion to
//! every notation. `ilo_asm::case` reads and compares.
//!
//! `cargo test -p ilo-asm --test corpus`; `CASE=part-of-a-path` checks some. The runs are checked in the
//! tests of `ilo-cli`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod case;
mod constructs;
mod convert;
mod recipes;

use ilo_asm::case::{Case, Source};
use ilo_asm::catalog::Catalog;
use ilo_asm::compile::{Options, compile};
use ilo_asm::notation::Notation;
use ilo_spec::node::Word;

/// A case that fails, and the reason.
type Failure = String;

#[test]
fn every_case_has_its_diagnostics_and_fixes() {
    let mut failures = Vec::new();
    let mut held = 0;
    for case in case::selected() {
        for source in case.sources() {
            match check(&case, &source) {
                Ok(()) => held += 1,
                Err(failure) => {
                    let about = case.header("about").unwrap_or_default();
                    let path = case.path.display();
                    failures.push(format!("{path} ({}): {about}\n{failure}\n", source.notation));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{held} held, {} did not\n\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_case_says_what_it_shows() {
    for case in case::selected() {
        let path = case.path.display();
        assert!(case.header("rule").is_some(), "{path} cites no rule");
        assert!(!case.sources().is_empty(), "{path} has no source");
        for source in case.sources() {
            let part = |title| case.section_for(title, source.notation);
            let refused = part("diagnostics").is_some_and(|text| text.contains("error "));
            assert!(part("outcome").is_some() != refused, "{path} has an outcome or an error, not both");
        }
    }
}

/// A document has its own words: no message about it names an instruction of integer-ID text.
#[test]
fn documents_have_messages_in_their_own_words() {
    let mut failures = Vec::new();
    for case in case::selected() {
        let catalog = case.section("catalog").map(|text| Catalog::from_json(text).unwrap());
        for source in case.sources().iter().filter(|source| source.notation != Notation::Id) {
            let from = Some(source.notation);
            let options = Options { from, catalog: catalog.as_ref(), ..Options::default() };
            for diagnostic in compile(source.text, &options).1.as_slice() {
                let texts = [&diagnostic.expected, &diagnostic.found, &diagnostic.help].into_iter().flatten();
                let related = diagnostic.related.iter().map(|(_, what)| what);
                for text in texts.chain(related).chain([&diagnostic.message]) {
                    // Text in backticks belongs to the program.
                    let prose = text.split('`').step_by(2);
                    let mut words =
                        prose.flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_'));
                    // JSON is also the name of the format.
                    if words.any(|word| Word::from_mnemonic(word).is_some_and(|word| word != Word::Json)) {
                        failures.push(format!("{} ({}): {text}", case.path.display(), source.notation));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A strict check is for programs that models have written: of those that do not end in a fault it refuses at
/// most one in a hundred. The cases of `6-checks` and `first-try` are about findings, and so not among them.
#[test]
fn a_strict_check_lets_right_programs_pass() {
    let (mut right, mut refused) = (0_usize, Vec::new());
    for case in case::selected() {
        if case
            .path
            .components()
            .any(|part| part.as_os_str() == "6-checks" || part.as_os_str() == "first-try")
        {
            continue;
        }
        let catalog = case.section("catalog").map(|text| Catalog::from_json(text).unwrap());
        for source in case.sources() {
            let Some(outcome) = case.section_for("outcome", source.notation) else { continue };
            if outcome.contains(r#""status":"fault""#) {
                continue;
            }
            right += 1;
            let from = Some(source.notation);
            let options = Options { from, catalog: catalog.as_ref(), strict: true, ..Options::default() };
            let (program, found) = compile(source.text, &options);
            if program.is_none() {
                let codes: Vec<_> = found.as_slice().iter().map(|found| found.code.as_str()).collect();
                refused.push(format!("{} ({}): {codes:?}", case.path.display(), source.notation));
            }
        }
    }
    println!("{} of {right} refused", refused.len());
    let few = refused.len() * 100 <= right || std::env::var("CASE").is_ok();
    assert!(few, "{} of {right} refused\n{}", refused.len(), refused.join("\n"));
}

fn check(case: &Case, source: &Source<'_>) -> Result<(), Failure> {
    let catalog = case.section("catalog").map(|text| Catalog::from_json(text).unwrap());
    let output = case.section("output").map(|text| text.parse().unwrap());
    let (from, catalog, output) = (Some(source.notation), catalog.as_ref(), output.as_ref());
    let options = Options { from, catalog, output, ..Options::default() };
    let (program, diagnostics) = compile(source.text, &options);
    let findings = case.findings(source, &diagnostics);
    if !findings.is_empty() {
        return Err(format!("  {}", findings.join("\n  ")));
    }
    case.fixes(source, &options)
        .map_err(|(text, left)| format!("  the fixes made\n{text}{}", left.join("\n")))?;
    let detected = Notation::detect(source.text);
    let runs = case.section_for("outcome", source.notation).is_some() && program.is_some();
    let becomes_right = case.section_for("fixed", source.notation).is_some();
    if (runs || becomes_right) && detected != Some(source.notation) {
        return Err(format!("  detected as {detected:?}"));
    }
    Ok(())
}
