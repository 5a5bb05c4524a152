//! Compares the findings and fixes that a case expects with those of a build.

use super::{AT_THE_START, Case, Source};
use crate::compile::{Options, compile};
use crate::diagnostic::{Diagnostic, Diagnostics, fix};
use crate::span::Lines;

/// The most rounds in which fixes are applied.
const FIX_ROUNDS: usize = 4;

/// An expected finding.
struct Expected<'c> {
    /// `error CODE LINE:COLUMN`. The column or the whole position may be missing.
    line: &'c str,
    /// Words that its texts must contain.
    says: Vec<&'c str>,
}

impl Expected<'_> {
    /// Reads a section `diagnostics`.
    fn read(section: &str) -> Vec<Expected<'_>> {
        let mut expected: Vec<Expected<'_>> = Vec::new();
        for line in section.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match (line.strip_prefix("says "), expected.last_mut()) {
                (Some(words), Some(last)) => last.says.push(words),
                _ => expected.push(Expected { line, says: Vec::new() }),
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

/// Errors in the form of the sections `diagnostics`, with their lines.
pub(super) fn form(case: &Case) -> Vec<(usize, String)> {
    let mut errors = Vec::new();
    for section in case.sections().iter().filter(|section| section.title.starts_with("diagnostics")) {
        let mut any = false;
        for (number, line) in (section.line + 1..).zip(section.text.lines().map(str::trim)) {
            let is_finding = line.starts_with("error ") || line.starts_with("warning ");
            if is_finding {
                any = true;
            } else if !(line.is_empty() || any && line.starts_with("says ")) {
                let expected = "expected `error CODE LINE:COLUMN`, `warning CODE LINE:COLUMN`, \
                    or below such a line `says WORDS`";
                errors.push((number, expected.to_owned()));
            }
        }
    }
    errors
}

/// A finding as a case writes it, and all its texts.
fn found(lines: &Lines<'_>, diagnostic: &Diagnostic, strict: bool) -> (String, String) {
    let place = lines.place(diagnostic.span.start);
    let severity = if diagnostic.is_error() || strict { "error" } else { "warning" };
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
    let words = words.join(" | ");
    #[cfg(debug_assertions)]
    let words = format!("{words} | made at {}", diagnostic.made.0);
    (line, words)
}

/// Compares the findings of a text with a section. Findings at one position may be in any order. Each line of
/// the result is a missing or an unexpected finding.
fn compare(text: &str, strict: bool, diagnostics: &Diagnostics, section: &str) -> Vec<String> {
    let lines = Lines::new(text);
    let mut left: Vec<_> =
        diagnostics.as_slice().iter().map(|one| (one.code, found(&lines, one, strict))).collect();
    let mut expected = Expected::read(section);
    // Errors of the start of a run are not findings of the check, unless the check reports them too.
    expected.retain(|expected| {
        let code = expected.code();
        !AT_THE_START.contains(&code) || left.iter().any(|(found, _)| found.as_str() == code)
    });
    expected.retain(|expected| {
        let at = left.iter().position(|(_, found)| expected.fits(found));
        at.map(|at| left.remove(at)).is_none()
    });
    let missing = expected.iter().map(|Expected { line, says }| {
        let says: Vec<String> = says.iter().map(|words| format!(" says `{words}`")).collect();
        format!("missing    {line}{}", says.concat())
    });
    let unexpected = left.iter().map(|(_, (line, words))| format!("unexpected {line}  {words}"));
    missing.chain(unexpected).collect()
}

impl Case {
    /// Compares the findings of the check of a source with the expected ones. The result has a line for each
    /// missing or unexpected finding.
    pub fn findings(&self, source: &Source<'_>, diagnostics: &Diagnostics) -> Vec<String> {
        let expected = self.section_for("diagnostics", source.notation).unwrap_or_default();
        compare(source.text, self.options().contains(&"--deny-warnings"), diagnostics, expected)
    }

    /// Applies fixes to a source as `ilo-asm fix` does, and compares the result with the expected text.
    ///
    /// # Errors
    /// The result is the fixed text, if it differs, and a line for each finding that remains.
    pub fn fixes(&self, source: &Source<'_>, options: &Options<'_>) -> Result<(), (String, Vec<String>)> {
        let Some(expected) = self.section_for("fixed", source.notation) else { return Ok(()) };
        let mut text = source.text.to_owned();
        for _ in 0..FIX_ROUNDS {
            let (_, diagnostics) = compile(&text, options);
            text = fix::apply(&text, diagnostics.as_slice()).0;
        }
        let left = compare(&text, false, &compile(&text, options).1, "");
        if text == expected && left.is_empty() { Ok(()) } else { Err((text, left)) }
    }
}
