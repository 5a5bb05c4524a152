//! `test`: runs case files and compares what they expect with what is found.
//!
//! `ilo_asm::case` reads the format, which `spec/corpus/README.md` describes.

mod compare;
mod files;
mod report;
mod subject;

use super::signal::Signal;
use super::{Exit, Refused, output};
use files::CaseFile;
use ilo_host::problem::Problem;
use ilo_spec::error::Code;
use report::{Report, Status};
use std::path::PathBuf;
use std::time::Instant;
use subject::{Failure, subjects};

const HELP: &str = "\
A case file has headers and sections: a program, its tools, its input, and the outcome and calls that \
it must have.

    about: a gold member gets 20 % off
    program: discount.ilo
    === tools
    {\"get-user\": {\"mock\": [{\"returns\": {\"level\": \"gold\"}}]}}
    === input
    {\"user-id\": \"u1\"}
    === outcome
    {\"status\": \"ok\", \"value\": 20}
    === trace
    {\"tool\": \"get-user\", \"args\": {\"user-id\": \"u1\"}, \"ok\": {\"level\": \"gold\"}}

In place of `program: FILE` there may be a section `=== source NOTATION`, and in place of the section \
`tools` a header `tools: FILE`. Paths are relative to the case file. A new case needs no outcome: \
--update writes it from the run.

Exit codes: 0 all cases hold, 1 a case does not hold, 2 not a valid case or option, 130 interrupted

Example: ilo-vm test examples/cases
Example: ilo-vm test spec/programs --filter invoice
Example: ilo-vm test new.case --update";

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Case files, or folders with files `*.case`; `-` is standard input
    #[arg(required = true)]
    cases: Vec<PathBuf>,
    /// Only cases whose path or `about` contains this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Write the outcome and the calls of the run into cases that do not hold
    #[arg(long)]
    update: bool,
    /// Print a line of JSON for each case
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Refused> {
    let begun = Instant::now();
    let paths = files::paths(&args.cases)?;
    if args.update && paths.iter().any(|path| path.as_os_str() == "-") {
        let message = "standard input cannot be updated; name a file";
        return Err(Problem::new(Code::BadUsage, "--update", message).into());
    }
    let (signal, all) = (Signal::listen(false), paths.len());
    let mut report = Report::new(args.json);
    for path in paths {
        let file = CaseFile::read(&path);
        if !wanted(&path.to_string_lossy(), file.as_ref().ok(), args.filter.as_deref()) {
            continue;
        }
        let status = match file {
            Ok(file) => match one(&file, args.update, &signal)? {
                Some(status) => (status, file.about().map(str::to_owned)),
                None => return Ok(signal.tell()),
            },
            Err(problems) => (Status::Invalid(problems), None),
        };
        report.case(&path, status.1.as_deref(), &status.0)?;
    }
    if report.is_empty() {
        let filter = args.filter.as_deref().unwrap_or_default();
        let message = format!("none of the {all} cases has `{filter}` in its path or its `about`");
        return Err(Problem::new(Code::BadUsage, "--filter", message).into());
    }
    report.finish(begun.elapsed())
}

/// Whether a case is one that was asked for.
fn wanted(path: &str, file: Option<&CaseFile>, filter: Option<&str>) -> bool {
    let about = file.and_then(CaseFile::about).unwrap_or_default();
    filter.is_none_or(|filter| path.contains(filter) || about.contains(filter))
}

/// Runs the programs of a case, and updates its file where that is asked for; nothing if it was interrupted.
fn one(file: &CaseFile, update: bool, signal: &Signal) -> Result<Option<Status>, Refused> {
    let subjects = match subjects(file, update) {
        Ok(subjects) => subjects,
        Err(problems) => return Ok(Some(Status::Invalid(problems))),
    };
    let mut failures: Vec<Failure> = Vec::new();
    let mut contents: Vec<(String, String)> = Vec::new();
    for subject in &subjects {
        let verdict = match subject.hold(signal) {
            Ok(Some(verdict)) => verdict,
            Ok(None) => return Ok(None),
            Err(problems) => return Ok(Some(Status::Invalid(problems))),
        };
        for mut failure in verdict {
            let Some((title, content)) = failure.update.take().filter(|_| update) else {
                failures.push(failure);
                continue;
            };
            match contents.iter().find(|(known, _)| *known == title) {
                // Another source of the case has given something else.
                Some((_, known)) if *known != content => failures.push(failure),
                Some(_) => {}
                None => contents.push((title, content)),
            }
        }
    }
    if !contents.is_empty() {
        file.write(&contents)?;
    }
    let updated = contents.into_iter().map(|(title, _)| title).collect();
    Ok(Some(if failures.is_empty() { Status::held(updated) } else { Status::Failed(failures, updated) }))
}

/// The beginning of a text that may be long, on one line and safe for a terminal.
fn shortened(text: &str, most: usize) -> String {
    ilo_asm::text::shortened(&output::plain(text), most)
}
