//! What the conformance corpus says of programs before they run: the diagnostics of each source, what its
//! fixes make of it, which notation it is detected as, and that it survives conversion to every notation.
//!
//! `cargo test -p ilo-asm --test corpus`; `CASE=part-of-a-path` checks some. The runs are checked in the
//! host's tests.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod case;
mod constructs;
mod convert;

use case::{Case, Source};
use ilo_asm::build::{Options, build};
use ilo_asm::catalog::Catalog;
use ilo_asm::diagnostic::{Diagnostic, Diagnostics, fix};
use ilo_asm::notation::Notation;
use ilo_asm::span::Lines;
use ilo_spec::error::Severity;
use ilo_spec::node::Word;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A case that does not hold, and why.
type Failure = String;

/// How often fixes are applied before the rest is taken as it is.
const FIX_ROUNDS: usize = 4;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/corpus")
}

#[test]
fn every_case_has_its_diagnostics_and_fixes() {
    let only = std::env::var("CASE").unwrap_or_default();
    let cases = case::all(&folder());
    assert!(cases.len() > 500, "the corpus was found");
    let mut failures = Vec::new();
    let mut held = 0;
    for case in cases.iter().filter(|case| case.path.to_string_lossy().contains(&only)) {
        for source in case.sources() {
            match check(case, &source) {
                Ok(()) => held += 1,
                Err(failure) => {
                    let about = case.headers.get("about").map_or("", String::as_str);
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
    for case in case::all(&folder()) {
        let path = case.path.display();
        assert!(case.headers.contains_key("rule"), "{path} cites no rule");
        assert!(!case.sources().is_empty(), "{path} has no source");
        for source in case.sources() {
            let part = |title| case.section_for(title, source.notation);
            let refused = part("diagnostics").is_some_and(|text| text.contains("error "));
            assert!(part("outcome").is_some() != refused, "{path} has an outcome or an error, not both");
        }
        for title in case.sections.keys() {
            assert!(case::TITLES.contains(&title.split(' ').next().unwrap()), "{path}: section {title}");
        }
    }
}

/// What is written in a document has its own words: a message names no instruction of integer-ID text.
#[test]
fn documents_have_messages_in_their_own_words() {
    let mut failures = Vec::new();
    for case in case::all(&folder()) {
        let catalog = case.section("catalog").map(|text| Catalog::from_json(text).unwrap());
        for source in case.sources().iter().filter(|source| source.notation != "id") {
            let from = Some(source.notation.parse().unwrap());
            let options = Options { from, catalog: catalog.as_ref(), ..Options::default() };
            for diagnostic in build(source.text, &options).1.as_slice() {
                let texts = [&diagnostic.expected, &diagnostic.found, &diagnostic.help].into_iter().flatten();
                let related = diagnostic.related.iter().map(|(_, what)| what);
                for text in texts.chain(related).chain([&diagnostic.message]) {
                    // What is in backticks is the program's own.
                    let prose = text.split('`').step_by(2);
                    let mut words =
                        prose.flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_'));
                    // JSON is the format, too.
                    if words.any(|word| Word::from_mnemonic(word).is_some_and(|word| word != Word::Json)) {
                        failures.push(format!("{} ({}): {text}", case.path.display(), source.notation));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A diagnostic that a case expects.
struct Expected<'c> {
    /// `error CODE LINE:COLUMN`, the column or the whole place left open perhaps.
    line: &'c str,
    /// What it says somewhere.
    says: Vec<&'c str>,
}

impl Expected<'_> {
    /// The diagnostics section of a case.
    fn read(section: &str) -> Vec<Expected<'_>> {
        let mut expected: Vec<Expected<'_>> = Vec::new();
        for line in section.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match (line.strip_prefix("says "), expected.last_mut()) {
                (Some(words), Some(last)) => last.says.push(words),
                (Some(_), None) => panic!("`says` before a diagnostic"),
                (None, _) => expected.push(Expected { line, says: Vec::new() }),
            }
        }
        expected
    }

    fn code(&self) -> &str {
        self.line.split(' ').nth(1).unwrap_or_default()
    }

    fn fits(&self, (line, words): &(String, String)) -> bool {
        let rest = line.strip_prefix(self.line);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':']))
            && self.says.iter().all(|says| words.contains(says))
    }
}

/// A diagnostic as a case writes it, and everything that it says.
fn found(source: &str, diagnostic: &Diagnostic, strict: bool) -> (String, String) {
    let place = Lines::new(source).place(diagnostic.span.start);
    let severity = if diagnostic.code.severity() == Severity::Error || strict { "error" } else { "warning" };
    let line = format!("{severity} {} {}:{}", diagnostic.code, place.line, place.column);
    let parts = [
        Some(&diagnostic.message),
        diagnostic.expected.as_ref(),
        diagnostic.found.as_ref(),
        diagnostic.nearest.as_ref(),
        diagnostic.help.as_ref(),
        diagnostic.fix.as_ref().map(|fix| &fix.title),
    ];
    let words: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    (line, words.join(" | "))
}

/// Compares the diagnostics of a source with those that its case lists, in any order of those at one place.
fn compare_diagnostics(
    source: &str,
    strict: bool,
    diagnostics: &Diagnostics,
    mut expected: Vec<Expected<'_>>,
) -> Result<(), Failure> {
    let all = diagnostics.as_slice().iter();
    let mut left: Vec<(String, String)> = all.map(|one| found(source, one, strict)).collect();
    expected.retain(|expected| {
        let at = left.iter().position(|found| expected.fits(found));
        at.map(|at| left.remove(at)).is_none()
    });
    if left.is_empty() && expected.is_empty() {
        return Ok(());
    }
    let mut failure = String::new();
    for Expected { line, says } in &expected {
        writeln!(failure, "  missing    {line}  {says:?}").unwrap();
    }
    for (line, words) in &left {
        writeln!(failure, "  unexpected {line}  {words}").unwrap();
    }
    Err(failure)
}

/// Applies fixes as `ilo-asm fix` does, and compares what comes of it.
fn check_fixed(source: &str, fixed: &str, options: &Options<'_>) -> Result<(), Failure> {
    let mut text = source.to_owned();
    for _ in 0..FIX_ROUNDS {
        let (_, diagnostics) = build(&text, options);
        text = fix::apply(&text, diagnostics.as_slice()).0;
    }
    if text != fixed {
        return Err(format!("  expected the fixes to make\n{fixed}\n  found\n{text}"));
    }
    let (_, diagnostics) = build(&text, options);
    compare_diagnostics(&text, false, &diagnostics, Vec::new())
        .map_err(|failure| format!("{failure}  (after its fixes)"))
}

fn check(case: &Case, source: &Source<'_>) -> Result<(), Failure> {
    let part = |title| case.section_for(title, source.notation);
    let notation: Notation = source.notation.parse()?;
    let catalog = case.section("catalog").map(|text| Catalog::from_json(text).unwrap());
    let options = Options { from: Some(notation), catalog: catalog.as_ref(), ..Options::default() };
    let (program, diagnostics) = build(source.text, &options);
    let mut expected = Expected::read(part("diagnostics").unwrap_or_default());
    let found = |code: &str| diagnostics.as_slice().iter().any(|found| found.code.as_str() == code);
    expected.retain(|expected| !case::AT_THE_START.contains(&expected.code()) || found(expected.code()));
    compare_diagnostics(source.text, case.options().contains(&"--strict"), &diagnostics, expected)?;
    if let Some(fixed) = part("fixed") {
        check_fixed(source.text, fixed, &options)?;
    }
    if part("outcome").is_some() && program.is_some() && Notation::detect(source.text) != Some(notation) {
        return Err(format!("  detected as {:?}", Notation::detect(source.text)));
    }
    Ok(())
}
