//! Case files: a program with its tools and input, and the expected findings, outcome and calls.
//! `spec/corpus/README.md` describes the format.
//!
//! This is the only reader of the format. It works on texts; it reads no files and runs nothing.

mod findings;

use crate::notation::Notation;
use crate::text::{nearest, shortened};
use std::fmt;
use std::ops::Range;

/// The known headers.
pub const HEADERS: [&str; 6] = ["rule", "about", "kind", "options", "program", "tools"];

/// The known first words of section titles.
pub const TITLES: [&str; 9] =
    ["source", "tools", "input", "catalog", "output", "outcome", "trace", "diagnostics", "fixed"];

/// Codes of errors that are reported when a run starts. The program itself builds.
pub const AT_THE_START: [&str; 6] =
    ["bad-input", "missing-input", "unknown-input", "input-type", "unknown-function", "no-single-entry"];

/// The marker of a section title.
const MARK: &str = "=== ";
/// The most errors that are reported together.
const MOST: usize = 20;
/// The most characters of a wrong line that a message shows.
const SHOWN: usize = 40;

/// A case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    headers: Vec<KeyLine>,
    sections: Vec<Section>,
}

/// A line `key: value` before the first section.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KeyLine {
    line: usize,
    key: String,
    value: String,
}

/// A section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The line of its title, from 1.
    pub line: usize,
    /// The words after `=== `.
    pub title: String,
    /// Its content, including the last line break.
    pub text: String,
    /// The byte range of its content in the file.
    range: Range<usize>,
}

/// A program of a case.
#[derive(Clone, Copy, Debug)]
pub struct Source<'c> {
    /// Its notation.
    pub notation: Notation,
    /// The program.
    pub text: &'c str,
    /// The line of its section's title, from 1.
    pub line: usize,
}

/// An error in the form of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseError {
    /// Its line, from 1.
    pub line: usize,
    /// The message, with the fix.
    pub message: String,
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// All errors of form, at most twenty, in the order of lines.
    pub fn read(text: &str) -> Result<Case, Vec<CaseError>> {
        let mut reading = CaseReader::default();
        let mark = '\u{feff}'.len_utf8();
        let mut at = if text.starts_with('\u{feff}') { mark } else { 0 };
        for (number, line) in (1..).zip(text.get(at..).unwrap_or_default().split_inclusive('\n')) {
            at += line.len();
            reading.line(number, line, at);
        }
        reading.finish()
    }

    /// The value of a header.
    pub fn header(&self, key: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.key == key).map(|header| header.value.as_str())
    }

    /// The line of a header, from 1; the first line if the case does not have it.
    pub fn header_line(&self, key: &str) -> usize {
        self.headers.iter().find(|header| header.key == key).map_or(1, |header| header.line)
    }

    /// The words of the header `options`.
    pub fn options(&self) -> Vec<&str> {
        self.header("options").unwrap_or_default().split_whitespace().collect()
    }

    /// Its sections, in the order of the file.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The content of the section with a title.
    pub fn section(&self, title: &str) -> Option<&str> {
        self.find(title).map(|section| section.text.as_str())
    }

    /// The section that applies to the source in a notation: `TITLE NOTATION`, otherwise `TITLE`.
    pub fn find_for(&self, title: &str, notation: Notation) -> Option<&Section> {
        self.find(&format!("{title} {notation}")).or_else(|| self.find(title))
    }

    /// The content of the section that applies to the source in a notation.
    pub fn section_for(&self, title: &str, notation: Notation) -> Option<&str> {
        self.find_for(title, notation).map(|section| section.text.as_str())
    }

    fn find(&self, title: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.title == title)
    }

    /// Its sources, each in another notation, in the order of the file.
    pub fn sources(&self) -> Vec<Source<'_>> {
        let sources = self.sections.iter().filter_map(|section| {
            let notation = section.title.strip_prefix("source ")?.parse().ok()?;
            Some(Source { notation, text: &section.text, line: section.line })
        });
        sources.collect()
    }

    /// The code of the expected error that is reported when a run starts.
    pub fn refused_at_the_start(&self, notation: Notation) -> Option<&str> {
        let findings = self.section_for("diagnostics", notation)?;
        let code = findings.lines().find_map(|line| line.strip_prefix("error "))?.split(' ').next()?;
        Some(code).filter(|code| AT_THE_START.contains(code))
    }

    /// Returns `text`, the file of this case, with the contents of some sections replaced. Missing sections
    /// are added at the end. Each content ends with a line break.
    pub fn with_sections(&self, text: &str, contents: &[(String, String)]) -> String {
        let mut changes: Vec<(Range<usize>, &str)> = Vec::new();
        let mut added = String::new();
        for (title, content) in contents {
            match self.find(title) {
                Some(section) => changes.push((section.range.clone(), content)),
                None => added.extend([MARK, title, "\n", content]),
            }
        }
        crate::sorting::sort_by_key(&mut changes, |(range, _)| range.start);
        let (mut new, mut at) = (String::with_capacity(text.len()), 0);
        for (range, content) in changes {
            new.push_str(text.get(at..range.start).unwrap_or_default());
            if !new.ends_with('\n') {
                new.push('\n');
            }
            new.push_str(content);
            at = range.end;
        }
        new.push_str(text.get(at..).unwrap_or_default());
        if !added.is_empty() && !new.ends_with('\n') {
            new.push('\n');
        }
        new + &added
    }
}

/// The reader of a case: what has been read so far.
#[derive(Default)]
struct CaseReader {
    case: Case,
    errors: Vec<CaseError>,
}

impl CaseReader {
    fn error(&mut self, line: usize, message: String) {
        if self.errors.len() < MOST {
            self.errors.push(CaseError { line, message });
        }
    }

    /// Reads a line that ends at the offset `end`.
    fn line(&mut self, number: usize, line: &str, end: usize) {
        if let Some(title) = line.strip_prefix(MARK) {
            self.title(number, title.trim(), end);
        } else if let Some(section) = self.case.sections.last_mut() {
            section.text.push_str(line);
            section.range.end = end;
        } else if !line.trim().is_empty() {
            self.header(number, line.trim());
        }
    }

    fn header(&mut self, line: usize, text: &str) {
        let Some((key, value)) = text.split_once(':').map(|(key, value)| (key.trim(), value.trim())) else {
            let text = shortened(text, SHOWN);
            let expected = "expected a header `key: value`, or a section `=== source NOTATION`";
            return self.error(line, format!("{expected}, found `{text}`"));
        };
        if !HEADERS.contains(&key) {
            let key = shortened(key, SHOWN);
            self.error(line, format!("no header is named `{key}`; {}", meant(&key, &HEADERS)));
        } else if let Some(first) = self.case.headers.iter().find(|header| header.key == key) {
            let first = first.line;
            self.error(line, format!("the header `{key}` is in line {first} already; remove one"));
        } else if value.is_empty() {
            self.error(line, format!("the header `{key}` has no value; write one or remove the line"));
        } else {
            self.case.headers.push(KeyLine { line, key: key.to_owned(), value: value.to_owned() });
        }
    }

    fn title(&mut self, line: usize, title: &str, end: usize) {
        if self.errors.len() >= MOST {
            return;
        }
        let (word, notation) = title.split_once(' ').map_or((title, None), |(a, b)| (a, Some(b.trim())));
        if !TITLES.contains(&word) {
            let word = shortened(word, SHOWN);
            self.error(line, format!("no section is named `{word}`; {}", meant(&word, &TITLES)));
        } else if let Some(name) = notation.filter(|name| name.parse::<Notation>().is_err()) {
            let name = shortened(name, SHOWN);
            self.error(
                line,
                format!("`{name}` is not a notation; {}", meant(&name, &Notation::ALL.map(|(_, name)| name))),
            );
        } else if word == "source" && notation.is_none() {
            let names = Notation::ALL.map(|(_, name)| name).join(", ");
            let message = format!("the notation is missing: `=== source NOTATION`, one of {names}");
            self.error(line, message);
        }
        let title = notation.map_or_else(|| word.to_owned(), |notation| format!("{word} {notation}"));
        if let Some(first) = self.case.find(&title).filter(|_| TITLES.contains(&word)) {
            let first = first.line;
            self.error(line, format!("the section `{title}` is in line {first} already; remove one"));
        }
        self.case.sections.push(Section { line, title, text: String::new(), range: end..end });
    }

    fn finish(mut self) -> Result<Case, Vec<CaseError>> {
        let sections: Vec<(usize, String)> =
            self.case.sections.iter().map(|section| (section.line, section.title.clone())).collect();
        let has_program = self.case.header("program").is_some();
        let has_source = sections.iter().any(|(_, title)| title.starts_with("source"));
        if !self.errors.is_empty() {
        } else if !has_program && !has_source {
            let write = "write `=== source NOTATION` with the program below it, or a header `program: FILE`";
            self.error(1, format!("a case has a program, and this has none; {write}"));
        } else if has_program && has_source {
            let message = "the program is both a header and a section; remove one";
            self.error(self.case.header_line("program"), message.to_owned());
        }
        if self.case.header("tools").is_some() && self.case.section("tools").is_some() {
            let message = "the tools are both a header and a section; remove one";
            self.error(self.case.header_line("tools"), message.to_owned());
        }
        for (line, title) in &sections {
            let notation = title.split_once(' ').map(|(_, notation)| notation);
            let Some(notation) = notation.filter(|name| name.parse::<Notation>().is_ok()) else { continue };
            if !sections.iter().any(|(_, other)| *other == format!("source {notation}")) {
                self.error(*line, format!("`{title}` is of a source that is not here: `source {notation}`"));
            }
        }
        findings::form(&self.case).into_iter().for_each(|(line, message)| self.error(line, message));
        crate::sorting::sort_by_key(&mut self.errors, |error| error.line);
        if self.errors.is_empty() { Ok(self.case) } else { Err(self.errors) }
    }
}

/// The names to suggest: the nearest one, or all.
fn meant(word: &str, names: &[&str]) -> String {
    match nearest(word, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("there are {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests;
