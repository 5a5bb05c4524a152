//! The output of `test`: a line for each case, the differences of failed cases, and a summary.

use super::shortened;
use super::subject::Failure;
use crate::vm::{Exit, Refused, load, output};
use ilo_host::data::Data;
use ilo_host::problem::Problem;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

/// Characters of an expected or found text that are shown, and lines of it.
const SHOWN: usize = 2_000;
const LINES: usize = 40;

/// The result of a case.
pub(super) enum Status {
    Passed,
    /// The case failed; these sections were updated, and it passes now.
    Updated(Vec<String>),
    /// The failures, and the sections that were updated.
    Failed(Vec<Failure>, Vec<String>),
    /// Errors in the case itself.
    Invalid(Vec<Problem>),
}

impl Status {
    /// The status of a case that passes, after these sections were updated.
    pub(super) fn held(updated: Vec<String>) -> Status {
        if updated.is_empty() { Status::Passed } else { Status::Updated(updated) }
    }

    fn word(&self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Updated(_) => "updated",
            Status::Failed(..) => "failed",
            Status::Invalid(_) => "invalid",
        }
    }
}

/// Prints the cases and counts them.
pub(super) struct Report {
    json: bool,
    styled: bool,
    passed: u64,
    updated: u64,
    failed: u64,
    invalid: u64,
}

impl Report {
    pub(super) fn new(json: bool) -> Report {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let styled = !json && !no_color && std::io::stdout().is_terminal();
        Report { json, styled, passed: 0, updated: 0, failed: 0, invalid: 0 }
    }

    /// Whether no case has been reported.
    pub(super) fn is_empty(&self) -> bool {
        self.passed + self.updated + self.failed + self.invalid == 0
    }

    /// Prints a case.
    pub(super) fn case(&mut self, path: &Path, about: Option<&str>, status: &Status) -> Result<(), Refused> {
        let place = load::place(path);
        let text = if self.json { json(&place, about, status) } else { self.text(&place, about, status) };
        match status {
            Status::Passed => self.passed += 1,
            Status::Updated(_) => self.updated += 1,
            Status::Failed(..) => self.failed += 1,
            Status::Invalid(_) => self.invalid += 1,
        }
        output::print(&text, Exit::Ok).map(drop)
    }

    /// Prints the summary and gives the exit code.
    pub(super) fn finish(&self, time: Duration) -> Result<Exit, Refused> {
        let exit = match (self.invalid, self.failed) {
            (0, 0) => Exit::Ok,
            (0, _) => Exit::Err,
            _ => Exit::Invalid,
        };
        if self.json {
            return Ok(exit);
        }
        let counts = [
            (self.passed, "passed"),
            (self.updated, "updated"),
            (self.failed, "failed"),
            (self.invalid, "invalid"),
        ];
        let counts: Vec<String> = counts
            .iter()
            .filter(|(count, word)| *count > 0 || *word == "passed")
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let seconds = time.as_secs_f64();
        output::print(&format!("\n{} in {seconds:.2} s\n", counts.join(", ")), exit)
    }

    fn text(&self, place: &str, about: Option<&str>, status: &Status) -> String {
        let (word, colour) = match status {
            Status::Passed => ("ok", "32"),
            Status::Updated(_) => ("updated", "33"),
            Status::Failed(..) => ("FAILED", "31"),
            Status::Invalid(_) => ("INVALID", "31"),
        };
        let word = format!("{word:7}");
        let word = if self.styled { format!("\u{1b}[{colour}m{word}\u{1b}[0m") } else { word };
        let colon = if about.is_some() { ": " } else { "" };
        let about = shortened(about.unwrap_or_default(), 100);
        let mut lines = vec![format!("{word} {}{colon}{about}", output::plain(place))];
        match status {
            Status::Passed => {}
            Status::Updated(titles) => lines.push(format!("    written: {}", titles.join(", "))),
            Status::Failed(failures, titles) => {
                failures.iter().for_each(|failure| describe(failure, &mut lines));
                if !titles.is_empty() {
                    lines.push(format!("    written: {}", titles.join(", ")));
                }
            }
            Status::Invalid(problems) => {
                lines.extend(
                    problems.iter().map(|problem| format!("    {}", output::plain(&problem.to_string()))),
                );
            }
        }
        lines.push(String::new());
        lines.join("\n")
    }
}

/// The lines of a failure.
fn describe(failure: &Failure, lines: &mut Vec<String>) {
    let notation = failure.notation.map_or_else(String::new, |notation| format!(" ({notation})"));
    lines.push(format!("    {}{notation}", failure.part));
    lines.extend(failure.lines.iter().map(|line| format!("      {}", shortened(line, SHOWN))));
    let Some((expected, found)) = &failure.texts else { return };
    let (expected, found): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let before = expected.iter().zip(&found).take_while(|(a, b)| a == b).count();
    let most = expected.len().min(found.len()) - before;
    let behind = expected.iter().rev().zip(found.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let equal = |count: usize, lines: &mut Vec<String>| {
        if count > 0 {
            lines.push(format!("        {count} equal {}", if count == 1 { "line" } else { "lines" }));
        }
    };
    equal(before, lines);
    for (sign, side) in [('-', &expected), ('+', &found)] {
        let rest = side.get(before..side.len() - behind).unwrap_or_default();
        lines.extend(rest.iter().take(LINES).map(|line| format!("      {sign} {}", shortened(line, SHOWN))));
        if rest.len() > LINES {
            lines.push(format!("      {sign} and {} more lines", rest.len() - LINES));
        }
    }
    equal(behind, lines);
}

/// A case as a line of JSON.
fn json(place: &str, about: Option<&str>, status: &Status) -> String {
    let field = |name: &str, value: Data| (name.to_owned(), value);
    let texts = |texts: &[String]| Data::List(texts.iter().map(|text| Data::from(text.as_str())).collect());
    let mut fields = vec![field("case", Data::from(place))];
    fields.extend(about.map(|about| field("about", Data::from(about))));
    fields.push(field("status", Data::from(status.word())));
    match status {
        Status::Passed => {}
        Status::Updated(titles) => fields.push(field("written", texts(titles))),
        Status::Failed(failures, titles) => {
            let failure = |failure: &Failure| {
                let notation =
                    failure.notation.map(|notation| field("notation", Data::from(notation.to_string())));
                let mut members: Vec<_> = notation.into_iter().collect();
                members.push(field("part", Data::from(failure.part)));
                members.push(field("differences", texts(&failure.lines)));
                if let Some((expected, found)) = &failure.texts {
                    members.push(field("expected", Data::from(expected.as_str())));
                    members.push(field("found", Data::from(found.as_str())));
                }
                Data::Record(members.into())
            };
            fields.push(field("failures", Data::List(failures.iter().map(failure).collect())));
            if !titles.is_empty() {
                fields.push(field("written", texts(titles)));
            }
        }
        Status::Invalid(problems) => {
            let problem = |problem: &Problem| {
                Data::Record(
                    vec![
                        field("code", Data::from(problem.code.as_str())),
                        field("place", Data::from(problem.place.as_str())),
                        field("message", Data::from(problem.message.as_str())),
                    ]
                    .into(),
                )
            };
            fields.push(field("problems", Data::List(problems.iter().map(problem).collect())));
        }
    }
    format!("{}\n", Data::Record(fields.into()).to_json())
}
