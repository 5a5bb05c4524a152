//! The diagnostics of a source as a whole. They are the same in each notation.

use super::{Diagnostic, Diagnostics};
use crate::source::{SourceLimits, enclosed, trimmed};
use crate::span::Span;
use crate::text::shorten;
use core::ops::Range;
use ilo_spec::error::Code;

/// The part of a source that is its program, without a byte order mark and surrounding text. `None` if the
/// source is too large.
pub(crate) fn program(
    source: &str,
    limits: &SourceLimits,
    diagnostics: &mut Diagnostics,
) -> Option<Range<usize>> {
    if let Some(most) = limits.exceeded_by(source) {
        diagnostics.push(too_large(source, most));
        return None;
    }
    let start = if source.starts_with('\u{feff}') { 3 } else { 0 };
    Some(enclosed(source).unwrap_or(start..source.len()))
}

/// A source that begins like none of the notations, which begin like `expected`; `setting` names a notation.
pub(crate) fn unknown_notation(source: &str, expected: &str, setting: &str) -> Diagnostic {
    let start = trimmed(source);
    let at = source.len() - start.len();
    let line = start.lines().next().unwrap_or("").trim_end();
    let end = at + line.chars().next().map_or(0, char::len_utf8);
    let offset = |bytes: usize| u32::try_from(bytes).unwrap_or_default();
    let message = "this looks like none of the five notations";
    Diagnostic::new(Code::UnknownNotation, Span::new(offset(at), offset(end)), message)
        .expected(expected, format!("`{}`", shorten(line).trim_end()))
        .help(format!("write the program and nothing else, or pass its notation with `{setting}`"))
}

/// A source has more bytes than `most`.
pub(crate) fn too_large(source: &str, most: usize) -> Diagnostic {
    let message = format!("the source has {} bytes, more than {most}", source.len());
    Diagnostic::new(Code::SourceTooLarge, Span::at(0), message)
        .expected(format!("at most {most} bytes"), format!("{} bytes", source.len()))
        .help("split the file, or raise the limit")
}
