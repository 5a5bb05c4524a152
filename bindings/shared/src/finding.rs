//! Diagnostics for the packages: with lines, and with offsets as indexes of the language's texts.

use ilo_asm::diagnostic::{Diagnostic, Diagnostics};
use ilo_asm::span::{Lines, Span};
use serde::Serialize;
use std::fmt::Write as _;

/// Counts the units of a text in which the language's indexes count.
pub type Count = fn(&str) -> usize;

/// A diagnostic; offsets are those of the language.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The stable code.
    pub code: &'static str,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The offset of its start.
    pub start: usize,
    /// The offset of its end.
    pub end: usize,
    /// The message.
    pub message: String,
    /// The expected text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The text found instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// The nearest valid name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    /// The correction in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The correction as edits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
    /// Other places that matter.
    pub related: Vec<Related>,
    /// The whole diagnostic for a person or a model, in one text.
    pub text: String,
}

/// A correction.
#[derive(Clone, Debug, Serialize)]
pub struct Fix {
    /// The description of the correction.
    pub title: String,
    /// Its edits.
    pub edits: Vec<Edit>,
}

/// A part of a source and its new text.
#[derive(Clone, Debug, Serialize)]
pub struct Edit {
    /// The offset of its start.
    pub start: usize,
    /// The offset of its end.
    pub end: usize,
    /// The new text.
    pub text: String,
}

/// Another place that matters.
#[derive(Clone, Debug, Serialize)]
pub struct Related {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// Why it matters.
    pub message: String,
}

/// Converts offsets in bytes to those of the language. Ascending offsets cost no more than the source.
#[derive(Debug)]
pub struct Offsets<'s> {
    source: &'s str,
    count: Count,
    plain: bool,
    last: (usize, usize),
}

impl<'s> Offsets<'s> {
    /// The offsets of a source.
    pub fn new(source: &'s str, count: Count) -> Offsets<'s> {
        Offsets { source, count, plain: source.is_ascii(), last: (0, 0) }
    }

    fn at(&mut self, offset: u32) -> usize {
        let offset = (offset as usize).min(self.source.len());
        if self.plain {
            return offset;
        }
        let (from, units) = if offset < self.last.0 { (0, 0) } else { self.last };
        let between = self.source.get(from..offset).unwrap_or("");
        self.last = (offset, units + (self.count)(between));
        self.last.1
    }

    /// The start and the end of a part of it.
    pub fn of(&mut self, span: Span) -> (usize, usize) {
        (self.at(span.start), self.at(span.end))
    }
}

/// All diagnostics of a source, with offsets in units that `count` counts.
pub fn findings(source: &str, diagnostics: &Diagnostics, count: Count) -> Vec<Finding> {
    let lines = Lines::new(source);
    let mut offsets = Offsets::new(source, count);
    diagnostics.as_slice().iter().map(|found| finding(found, &lines, &mut offsets)).collect()
}

fn finding(found: &Diagnostic, lines: &Lines<'_>, offsets: &mut Offsets<'_>) -> Finding {
    let place = lines.place(found.span.start);
    let (start, end) = offsets.of(found.span);
    let fix = found.fix.as_ref().map(|fix| {
        let edits = fix.edits.iter().map(|edit| {
            let (start, end) = offsets.of(edit.span);
            Edit { start, end, text: edit.text.clone() }
        });
        Fix { title: fix.title.clone(), edits: edits.collect() }
    });
    let related = found.related.iter().map(|(span, message)| {
        let place = lines.place(span.start);
        Related { line: place.line, column: place.column, message: message.clone() }
    });
    let related: Vec<Related> = related.collect();
    let mut text = format!("{}:{}: {found}", place.line, place.column);
    for Related { line, column, message } in &related {
        // Writing to a string does not fail.
        let _ = write!(text, "\n  {line}:{column}: {message}");
    }
    Finding {
        code: found.code.as_str(),
        severity: if found.is_error() { "error" } else { "warning" },
        line: place.line,
        column: place.column,
        start,
        end,
        message: found.message.clone(),
        expected: found.expected.as_deref().map(str::to_owned),
        found: found.found.as_deref().map(str::to_owned),
        nearest: found.nearest.as_deref().map(str::to_owned),
        help: found.help.as_deref().map(str::to_owned),
        fix,
        related,
        text,
    }
}
