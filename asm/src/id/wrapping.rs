//! Mistakes about the whole text that would be told as many about its parts: a program inside a Markdown fence, and a
//! first line that lacks the `;` of a header.

use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::span::Span;
use ilo_spec::error::Code;

const FENCE: &str = "```";

/// The one thing that is wrong with the whole text, where there is such a thing.
pub(super) fn wrapped(source: &str) -> Option<Diagnostic> {
    let trimmed = source.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let start = u32::try_from(source.len() - trimmed.len()).ok()?;
    if let Some(fence) = fenced(source, "`; fn name(parameter: type) -> type`") {
        return Some(fence);
    }
    let rest = trimmed.strip_prefix("fn ")?;
    rest.contains("->").then(|| {
        Diagnostic::new(
            Code::MissingHeader,
            Span::new(start, start + 2),
            "the line of a function begins with `;`",
        )
        .expected("`; fn name(parameter: type) -> type`", "`fn`")
        .fix(Fix {
            title: "write `; fn`".to_owned(),
            edits: vec![Edit { span: Span::at(start), text: "; ".to_owned() }],
        })
    })
}

/// A fence around a whole source: its first line goes, and its last where there is one.
pub(crate) fn fenced(source: &str, expected: &str) -> Option<Diagnostic> {
    let trimmed = source.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if !trimmed.starts_with(FENCE) {
        return None;
    }
    let length = |text: &str| u32::try_from(text.len()).ok();
    let start = u32::try_from(source.len() - trimmed.len()).ok()?;
    let first = trimmed.split_inclusive('\n').next()?;
    let open = Span::new(start, start + length(first)?);
    let mut edits = vec![Edit { span: open, text: String::new() }];
    if let Some(at) = source.rfind(FENCE).and_then(|at| u32::try_from(at).ok()).filter(|&at| at >= open.end) {
        edits.push(Edit { span: Span::new(at, length(source)?), text: String::new() });
    }
    let fix = Fix { title: "remove the lines of the fence".to_owned(), edits };
    Some(
        Diagnostic::new(
            Code::BadCharacter,
            Span::new(start, start + 3),
            "a Markdown fence is no part of a program",
        )
        .expected(expected, "a fence")
        .fix(fix),
    )
}
