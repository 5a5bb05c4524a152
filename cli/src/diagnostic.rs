//! Renders diagnostics for terminals, in the style of rustc.
//!
//! Only the line of a diagnostic is shown, and of a long line only the part around the position. So the cost
//! does not depend on the size of the file.

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use ilo_asm::diagnostic::{Diagnostic, Diagnostics};
use ilo_asm::span::{Lines, Span};
use ilo_asm::text::visible;

/// The maximum number of bytes of a line that are shown; the cut is around a place, which is in bytes too.
const SHOWN: usize = 160;

/// Renders all diagnostics of a source, each followed by an empty line, and then the number of those that
/// were only counted.
pub(crate) fn render_all(file: &str, source: &str, diagnostics: &Diagnostics, styled: bool) -> String {
    let lines = Lines::new(source);
    let mut out = String::new();
    for diagnostic in diagnostics.as_slice() {
        out.push_str(&render(file, &lines, diagnostic, styled));
        out.push_str("\n\n");
    }
    if diagnostics.dropped() > 0 {
        out.push_str(file);
        out.push_str(": ");
        out.push_str(&diagnostics.dropped().to_string());
        out.push_str(" more like these\n");
    }
    out
}

/// Renders a diagnostic, with colours if `styled`, without a line end.
pub(crate) fn render(file: &str, lines: &Lines<'_>, diagnostic: &Diagnostic, styled: bool) -> String {
    let level = if diagnostic.is_error() { Level::ERROR } else { Level::WARNING };
    // What is quoted from the source may hold characters that a terminal would obey.
    let title = level.primary_title(visible(&diagnostic.message)).id(diagnostic.code.as_str());
    let label = match (&diagnostic.expected, &diagnostic.found) {
        (Some(expected), Some(found)) => visible(&format!("expected {expected}, found {found}")),
        _ => String::new(),
    };
    let mut group = Group::with_title(title).elements(excerpt(file, lines, diagnostic.span, &label));
    for help in helps(diagnostic) {
        group = group.element(Level::HELP.message(visible(&help)));
    }
    let mut groups = vec![group];
    for (span, what) in &diagnostic.related {
        let title = Level::NOTE.secondary_title(visible(what));
        groups.push(Group::with_title(title).elements(excerpt(file, lines, *span, "")));
    }
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    renderer.term_width(SHOWN * 2).render(&groups)
}

/// What to write instead, without duplicates.
fn helps(diagnostic: &Diagnostic) -> Vec<String> {
    let mut helps: Vec<String> = diagnostic.help.iter().cloned().collect();
    let mentioned = |text: &str, helps: &[String]| helps.iter().any(|help| help.contains(text));
    let in_fix = |name: &str| diagnostic.fix.as_ref().is_some_and(|fix| fix.title.contains(name));
    if let Some(nearest) =
        diagnostic.nearest.as_ref().filter(|name| !mentioned(name, &helps) && !in_fix(name))
    {
        helps.push(format!("nearest is `{nearest}`"));
    }
    let has_edit = helps.iter().any(|help| help.starts_with("write `"));
    let fix = diagnostic.fix.as_ref().filter(|fix| !has_edit && !mentioned(&fix.title, &helps));
    helps.extend(fix.map(|fix| fix.title.clone()));
    helps
}

/// The position and the part of its line that is shown.
fn excerpt<'a>(file: &str, lines: &Lines<'_>, span: Span, label: &str) -> Vec<Element<'a>> {
    let place = lines.place(span.start);
    let (line_start, line) = lines.line(place.line);
    let at = line.floor_char_boundary(span.start.saturating_sub(line_start) as usize);
    let end = line.ceil_char_boundary((span.end.saturating_sub(line_start) as usize).clamp(at, line.len()));
    let (from, to) = if line.len() <= SHOWN {
        (0, line.len())
    } else {
        let from = line.floor_char_boundary(at.saturating_sub(SHOWN / 2));
        (from, line.ceil_char_boundary((from + SHOWN).min(line.len())))
    };
    let dots = |cut: bool| if cut { "…" } else { "" };
    let before = dots(from > 0);
    let text = format!("{before}{}{}", line.get(from..to).unwrap_or(""), dots(to < line.len()));
    let mark = |offset: usize| offset.clamp(from, to) - from + before.len();
    let annotation = AnnotationKind::Primary.span(mark(at)..mark(end));
    let annotation = if label.is_empty() { annotation } else { annotation.label(label.to_owned()) };
    let snippet = Snippet::source(text).line_start(place.line as usize).annotation(annotation);
    if from == 0 {
        return vec![snippet.path(file.to_owned()).into()];
    }
    // The column within the shown part differs from that within the line.
    let origin = Origin::path(file.to_owned()).line(place.line as usize).char_column(place.column as usize);
    vec![origin.into(), snippet.into()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ilo_asm::diagnostic::Fix;
    use ilo_spec::error::Code;

    #[test]
    fn shows_place_line_and_help() {
        let source = "RET\n  OK 5 4 ; x";
        let diagnostic = Diagnostic::new(Code::CountMismatch, Span::new(11, 12), "`OK` counts 4")
            .expected("`3`", "`4`")
            .related(Span::new(0, 3), "after this")
            .replace(Span::new(11, 12), "3");
        let shown = render("f.ilo", &Lines::new(source), &diagnostic, false);
        for part in [
            "warning[count-mismatch]: `OK` counts 4",
            "f.ilo:2:8",
            "OK 5 4 ; x",
            "^ expected `3`, found `4`",
            "write `3`",
            "note: after this",
            "f.ilo:1:1",
        ] {
            assert!(shown.contains(part), "{part} in\n{shown}");
        }
    }

    #[test]
    fn a_fix_that_the_help_describes_is_not_shown_again() {
        let mut diagnostic = Diagnostic::new(Code::TypeMismatch, Span::new(0, 1), "no");
        diagnostic.fix = Some(Fix { title: "leave it out".to_owned(), edits: Vec::new() });
        let shown = |help: &str| {
            let diagnostic = diagnostic.clone().help(help);
            render("f.ilo", &Lines::new("x"), &diagnostic, false).matches("help: ").count()
        };
        assert_eq!(shown("leave it out: it may be absent"), 1);
        assert_eq!(shown("it may be absent"), 2);
    }

    #[test]
    fn nothing_that_a_terminal_would_obey_is_shown() {
        let text = "a\u{202e}b\u{1b}[31mc\u{200b}";
        let diagnostic = Diagnostic::new(Code::BadCharacter, Span::new(0, 1), text)
            .expected(text, text)
            .related(Span::new(0, 1), text)
            .help(text);
        let shown = render("f.ilo", &Lines::new(text), &diagnostic, false);
        assert!(!shown.contains(['\u{202e}', '\u{1b}']), "{shown:?}");
        assert_eq!(shown.matches("a\\u202eb\\u001b[31mc\\u200b").count(), 5, "{shown}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let source = format!("{}X{}", "é".repeat(100_000), "b".repeat(100_000));
        let diagnostic = Diagnostic::new(Code::BadCharacter, Span::new(200_000, 200_001), "no");
        let shown = render("f.ilo", &Lines::new(&source), &diagnostic, false);
        assert!(shown.contains("f.ilo:1:100001"), "{shown}");
        assert!(shown.contains("…éé") && shown.contains("éXb") && shown.contains("bb…"), "{shown}");
        assert!(shown.len() < 2_000, "{}", shown.len());
    }

    #[test]
    fn every_place_of_a_source_can_be_shown() {
        let source = "\u{feff}a\té\r\n\r\0b\n";
        let lines = Lines::new(source);
        let size = u32::try_from(source.len()).unwrap();
        for start in 0..=size {
            for end in start..=size + 1 {
                let diagnostic = Diagnostic::new(Code::BadCharacter, Span::new(start, end), "no");
                assert!(render("f", &lines, &diagnostic, true).contains("no"));
            }
        }
    }
}
