//! Finds, reads and updates case files.

use crate::vm::load::place;
use ilo_asm::case::Case;
use ilo_host::file;
use ilo_host::problem::Problem;
use ilo_spec::error::Code;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Most bytes of a case: many times a source at its limit, since tools and calls are in it too.
const CASE: usize = 16 << 20;
/// Most cases of a run of `test`; more are a folder that was not meant.
const CASES: usize = 100_000;

/// The files of cases: those that are named, and `*.case` below folders in the order of their paths. A folder
/// that links lead to again is walked once.
pub(super) fn paths(named: &[PathBuf]) -> Result<Vec<PathBuf>, Problem> {
    let mut paths = Vec::new();
    let mut walked = BTreeSet::new();
    for name in named {
        if name.as_os_str() == "-" || !name.is_dir() {
            paths.push(name.clone());
            continue;
        }
        let mut found = below(name, &mut walked)?;
        if found.is_empty() {
            let message = "a folder without cases; their files end in `.case`";
            return Err(Problem::new(Code::BadUsage, place(name), message));
        }
        found.sort();
        paths.append(&mut found);
    }
    Ok(paths)
}

/// The cases below a folder.
fn below(folder: &Path, walked: &mut BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, Problem> {
    let (mut found, mut rest) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = rest.pop() {
        let unreadable = |error: std::io::Error| {
            Problem::new(Code::BadUsage, place(&folder), format!("cannot be read: {error}"))
        };
        if !walked.insert(folder.canonicalize().map_err(unreadable)?) {
            continue;
        }
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.is_dir() {
                rest.push(path);
            } else if path.extension().is_some_and(|ending| ending == "case") {
                // Reading a pipe would wait for somebody who writes; a link to nothing is reported later.
                if path.metadata().map_or(true, |found| found.is_file()) {
                    found.push(path);
                }
            }
        }
        if found.len() > CASES {
            let message = format!("more than {CASES} cases; name a folder below it");
            return Err(Problem::new(Code::BadUsage, place(&folder), message));
        }
    }
    Ok(found)
}

/// A case with its file.
pub(super) struct CaseFile {
    path: PathBuf,
    text: String,
    pub(super) case: Case,
}

impl CaseFile {
    /// Reads a case.
    ///
    /// # Errors
    /// All errors in its form.
    pub(super) fn read(path: &Path) -> Result<CaseFile, Vec<Problem>> {
        let place = place(path);
        let bytes = file::read(path, CASE).map_err(|problem| vec![problem])?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let line = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
            let line = line.filter(|&&byte| byte == b'\n').count() + 1;
            let message = "a byte that is not UTF-8; a case is a text";
            vec![Problem::new(Code::BadCase, format!("{place}:{line}"), message)]
        })?;
        let case = Case::read(&text).map_err(|errors| {
            let problem = |line: usize, message: String| {
                Problem::new(Code::BadCase, format!("{place}:{line}"), message)
            };
            errors.into_iter().map(|error| problem(error.line, error.message)).collect::<Vec<_>>()
        })?;
        Ok(CaseFile { path: path.to_path_buf(), text, case })
    }

    /// The header `about`.
    pub(super) fn about(&self) -> Option<&str> {
        self.case.header("about")
    }

    /// The name of its file in messages.
    pub(super) fn place(&self) -> String {
        place(&self.path)
    }

    /// A problem in a line of it.
    pub(super) fn bad(&self, line: usize, message: impl Into<String>) -> Problem {
        Problem::new(Code::BadCase, format!("{}:{line}", self.place()), message)
    }

    /// A path that the case names, which is relative to its folder.
    pub(super) fn beside(&self, path: &str) -> PathBuf {
        self.folder().join(path)
    }

    /// The folder of the case.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or_else(|| Path::new(""))
    }

    /// Writes the file with other contents of sections.
    pub(super) fn write(&self, contents: &[(String, String)]) -> Result<(), Problem> {
        let text = self.case.with_sections(&self.text, contents);
        let unwritable =
            |error| Problem::new(Code::BadUsage, self.place(), format!("cannot be written: {error}"));
        fs::write(&self.path, text).map_err(unwritable)
    }
}
