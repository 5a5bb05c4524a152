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
use ilo_asm::diagnostic::{Diagnostic, Diagnostics, Edit, Fix, fix};
use ilo_asm::ide;
use ilo_asm::notation::Notation;
use ilo_spec::error::Code;
use ilo_spec::node::Word;
use std::fmt::Display;
use std::ops::Range;

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

/// What a fix writes is no broken text, and all fixes together make no program wrong that was right. The
/// sources are those of the cases, and those with a letter of a word left out.
#[test]
fn no_fix_writes_what_is_refused() {
    let (mut failures, mut applied) = (Vec::new(), 0_usize);
    for case in case::selected() {
        let catalog = case.section("catalog").map(|text| Catalog::from_json(text).unwrap());
        let output = case.section("output").map(|text| text.parse().unwrap());
        for source in case.sources() {
            let (from, catalog, output) = (Some(source.notation), catalog.as_ref(), output.as_ref());
            let options = Options { from, catalog, output, ..Options::default() };
            let mut fails = |why: &dyn Display, made: &str| {
                failures.push(format!("{} ({}): {why}\n{made}", case.path.display(), source.notation));
            };
            for text in std::iter::once(source.text.to_owned()).chain(misspelt(source.text)) {
                let found = compile(&text, &options).1;
                for one in found.as_slice().iter().filter(|one| one.fix.is_some()) {
                    applied += 1;
                    let made = fix::apply(&text, std::slice::from_ref(one)).0;
                    let left = compile(&made, &options).1;
                    for error in broken_in(&written(one.fix.as_ref().unwrap()), &found, &left) {
                        fails(&format!("{one} leads to {error}"), &made);
                    }
                }
                let (made, count) = ide::fix_all(&text, &options);
                let left = if count > 0 { compile(&made, &options).1 } else { Diagnostics::default() };
                if left.has_errors() && !found.has_errors() {
                    fails(&"all fixes together", &made);
                }
            }
        }
    }
    assert!(applied > 5_000 || std::env::var("CASE").is_ok(), "{applied}");
    assert!(failures.is_empty(), "{} of {applied}\n{}", failures.len(), failures.join("\n"));
}

/// A source with a letter of a word left out: of at most eight words, here and there.
fn misspelt(source: &str) -> Vec<String> {
    let starts: Vec<usize> = source
        .match_indices(char::is_alphabetic)
        .map(|(at, _)| at)
        .filter(|at| {
            let before = source[..*at].chars().next_back();
            before.is_none_or(|before| !before.is_alphanumeric())
                && source[*at..].chars().take(4).all(char::is_alphabetic)
        })
        .collect();
    let step = starts.len().div_ceil(8).max(1);
    let without = |at: &usize| {
        let end = at + source[*at..].chars().take(2).map(char::len_utf8).sum::<usize>();
        let start = at + source[*at..].chars().next().map_or(0, char::len_utf8);
        format!("{}{}", &source[..start], &source[end..])
    };
    starts.iter().step_by(step).map(without).collect()
}

/// The texts without an end and the like in what a fix has written, of which there were fewer before.
fn broken_in<'d>(
    written: &[Range<usize>],
    before: &Diagnostics,
    after: &'d Diagnostics,
) -> Vec<&'d Diagnostic> {
    let count = |all: &Diagnostics, code: Code| {
        all.as_slice().iter().filter(|one| one.code == code && one.is_error()).count()
    };
    let inside = |error: &Diagnostic| {
        let at = error.span.range();
        written.iter().any(|range| at.start < range.end && range.start < at.end)
    };
    let is_new = |error: &&Diagnostic| {
        matches!(error.code, Code::BadJson | Code::BadYaml | Code::BadString)
            && inside(error)
            && count(after, error.code) > count(before, error.code)
    };
    after.as_slice().iter().filter(is_new).collect()
}

/// Where the texts of a fix are in the source that it makes.
fn written(fix: &Fix) -> Vec<Range<usize>> {
    let mut edits: Vec<&Edit> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let (mut added, mut removed) = (0, 0);
    let place = |edit: &Edit| {
        let start = edit.span.start as usize + added - removed;
        added += edit.text.len();
        removed += edit.span.range().len();
        start..start + edit.text.len()
    };
    edits.into_iter().map(place).collect()
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

/// The function in which a finding is, by the line of `error CODE LINE:COLUMN`.
fn function_of(functions: &[(u32, String)], finding: &str) -> String {
    let line: u32 = finding.split([' ', ':']).find_map(|word| word.parse().ok()).unwrap_or(0);
    let before = functions.iter().take_while(|(first, _)| *first <= line);
    before.last().or(functions.first()).map_or(String::new(), |(_, name)| format!(" (in `{name}`)"))
}

fn check(case: &Case, source: &Source<'_>) -> Result<(), Failure> {
    let catalog = case.section("catalog").map(|text| Catalog::from_json(text).unwrap());
    let output = case.section("output").map(|text| text.parse().unwrap());
    let (from, catalog, output) = (Some(source.notation), catalog.as_ref(), output.as_ref());
    let options = Options { from, catalog, output, ..Options::default() };
    let (program, diagnostics) = compile(source.text, &options);
    let findings = case.findings(source, &diagnostics);
    if !findings.is_empty() {
        let functions = case::functions(source);
        let all = findings.iter().map(|finding| format!("  {finding}{}\n", function_of(&functions, finding)));
        return Err(all.collect());
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
