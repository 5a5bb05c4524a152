//! Mistakes about the whole text that would be told as many about its parts: a program inside a Markdown fence or behind
//! the words of a conversation, and a first line that lacks the `;` of a header.

use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix};
use crate::dialect::detect::prose;
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::limits;

/// What a source may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes in a source, at most [`limits::SOURCE`].
    pub source: usize,
    /// Bytes in a line of instruction text; in JSON and YAML a line may be as long as the source.
    pub line: usize,
    /// Nesting of expressions and blocks together, at most [`limits::NESTING`].
    pub nesting: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            source: limits::DEFAULT_SOURCE,
            line: limits::DEFAULT_LINE,
            nesting: limits::DEFAULT_NESTING,
        }
    }
}

const FENCE: &str = "```";

/// The one thing that is wrong with the whole text, where there is such a thing.
pub(crate) fn wrapped(source: &str) -> Option<Diagnostic> {
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

/// What stands around a whole source: words before it, and a fence, whose first line goes, and its last where there is
/// one, with what follows. The first edit of the mend removes what stands before, the other what stands behind.
pub(crate) fn fenced(source: &str, expected: &str) -> Option<Diagnostic> {
    let words = prose(source);
    let inside = source.get(words..)?;
    let trimmed = inside.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let length = |text: &str| u32::try_from(text.len()).ok();
    let begin = u32::try_from(source.len() - trimmed.len()).ok()?;
    let start =
        if words > 0 { source.len() - source.trim_start_matches('\u{feff}').len() } else { begin as usize };
    let start = u32::try_from(start).ok()?;
    let remove = |span| Edit { span, text: String::new() };
    let fence = trimmed.starts_with(FENCE);
    if !fence && words == 0 {
        return None;
    }
    let first = if fence { trimmed.split_inclusive('\n').next()? } else { "" };
    let open = Span::new(start, begin + length(first)?);
    let mut edits = vec![remove(open)];
    if fence
        && let Some(at) =
            source.rfind(FENCE).and_then(|at| u32::try_from(at).ok()).filter(|&at| at >= open.end)
    {
        edits.push(remove(Span::new(at, length(source)?)));
    }
    Some(if words > 0 {
        let line = source.get(start as usize..)?.trim_start().split('\n').next()?.trim_end();
        let at = u32::try_from(source.find(line)?).ok()?;
        let message = "what stands before the program is no part of it";
        Diagnostic::new(Code::UnexpectedText, Span::new(at, at + length(line)?), message)
            .expected(expected, format!("`{}`", crate::text::shorten(line)))
            .fix(Fix { title: "remove what is not the program".to_owned(), edits })
    } else {
        Diagnostic::new(
            Code::BadCharacter,
            Span::new(start, start + 3),
            "a Markdown fence is no part of a program",
        )
        .expected(expected, "a fence")
        .fix(Fix { title: "remove the lines of the fence".to_owned(), edits })
    })
}

/// Whether a source keeps its limit; reports where it does not.
pub(crate) fn fits(source: &str, options: &Limits, diagnostics: &mut Diagnostics) -> bool {
    let most = options.source.min(limits::SOURCE);
    if source.len() > most {
        let message = format!("the source has {} bytes, more than {most}", source.len());
        diagnostics.push(
            Diagnostic::new(Code::SourceTooLarge, Span::at(0), message)
                .expected(format!("at most {most} bytes"), format!("{} bytes", source.len()))
                .help("split the file, or raise the limit"),
        );
        return false;
    }
    true
}
