//! What copying leaves in a source: words behind the program, characters that look like others. It is
//! searched for only in a source that has errors.

use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix};
use crate::notation::Notation;
use crate::source::begins_id_text;
use crate::span::Span;
use crate::text::{look_alike, shorten};
use ilo_spec::error::Code;

/// The words of comments in ID text that are read.
const COMMENTS: [&str; 5] = ["fn", "Vars", "Tools", "Fields", "Registry"];

/// Explains the errors of a source by what was copied with it, if that is so.
pub(super) fn explain(source: &str, notation: Notation, diagnostics: &mut Diagnostics) {
    if !diagnostics.has_errors() {
        return;
    }
    if let Some(found) = look_alikes(source, notation) {
        // What was read otherwise than it looks explains nothing else.
        diagnostics.retain(|_, other, _| !is_of_reading(other));
        diagnostics.push(found);
    } else if let Some(start) = words_behind(source) {
        let is_behind = |found: &Diagnostic| is_of_reading(found) && found.span.start >= start;
        if diagnostics.as_slice().iter().any(is_behind) {
            diagnostics.retain(|_, found, _| !is_behind(found));
            diagnostics.push(text_behind(source, start));
        }
    }
}

/// Whether a finding says how something was read.
fn is_of_reading(found: &Diagnostic) -> bool {
    found.is_error() || found.code == Code::OtherNotation
}

fn text_behind(source: &str, start: u32) -> Diagnostic {
    let rest = source.get(start as usize..).unwrap_or("");
    let line = rest.lines().next().unwrap_or("").trim_end();
    let end = offset(start as usize + line.len());
    let edits = vec![Edit { span: Span::new(start, offset(source.len())), text: String::new() }];
    Diagnostic::new(
        Code::UnexpectedText,
        Span::new(start, end),
        "the text behind the program is not part of it",
    )
    .expected("the end of the file", format!("`{}`", shorten(line)))
    .fix(Fix { title: "remove what is not the program".to_owned(), edits })
}

/// The start of a paragraph that begins with a sentence, where nothing of a program follows.
fn words_behind(source: &str) -> Option<u32> {
    let (mut start, mut found, mut after_blank) = (0, None, false);
    for line in source.split_inclusive('\n') {
        let text = line.trim_end();
        if is_sentence(text) {
            found = found.or(after_blank.then_some(start));
        } else if is_program(text) {
            found = None;
        }
        (start, after_blank) = (start + line.len(), text.is_empty());
    }
    found.map(offset)
}

/// Whether a line begins with a word such as `This` or `I`, and has three words.
fn is_sentence(line: &str) -> bool {
    let word = line.split([' ', ',', ':']).next().unwrap_or("");
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && (word == "I" || letters.any(char::is_lowercase))
        && line.split(' ').count() > 2
}

/// Whether a line begins as those of ID text, or with the key of a document in YAML.
fn is_program(line: &str) -> bool {
    let key = line.split_once(':').map_or("", |(key, _)| key.trim_start());
    let is_key = key.starts_with(|c: char| c.is_ascii_lowercase()) && !key.contains(' ');
    line.trim_start().starts_with(';') || begins_id_text(line.trim_start()) || is_key
}

/// Characters that look like blanks, quotes or signs where the structure of a program depends on them.
fn look_alikes(source: &str, notation: Notation) -> Option<Diagnostic> {
    if source.is_ascii() {
        return None;
    }
    let (mut edits, mut start) = (Vec::new(), 0);
    for line in source.split_inclusive('\n') {
        let ends = match notation {
            Notation::Id => statements(line),
            _ => keyed(line),
        };
        let (mut quoted, mut escaped) = (false, false);
        for (at, c) in line.get(..ends).unwrap_or("").char_indices() {
            let is_quote = c == '"' && !escaped;
            escaped = quoted && c == '\\' && !escaped;
            quoted ^= is_quote;
            if quoted {
                continue;
            }
            let Some(meant) = look_alike(c).filter(|_| start + at > 0 || c != '\u{feff}') else { continue };
            let (from, after) = (start + at, line.get(at + c.len_utf8()..).unwrap_or(""));
            let apart = meant == ":" && notation == Notation::Workflow && !after.trim_end().is_empty();
            let text = if apart && !after.starts_with([' ', '\t']) { ": " } else { meant };
            let span = Span::new(offset(from), offset(from + c.len_utf8()));
            edits.push(Edit { span, text: text.to_owned() });
        }
        start += line.len();
    }
    let first = edits.first()?.clone();
    let c = source.get(first.span.range())?.chars().next()?;
    let found = format!("U+{:04X}", u32::from(c));
    let expected = match first.text.trim() {
        "" if first.text.is_empty() => "nothing".to_owned(),
        "" => "a blank".to_owned(),
        sign => format!("`{sign}`"),
    };
    let title = format!("write {expected} for {found}");
    let title = if edits.len() > 1 { format!("{title}, and {} more", edits.len() - 1) } else { title };
    let message = format!("the character {found} looks like {expected} here, and is none");
    Some(
        Diagnostic::new(Code::BadCharacter, first.span, message)
            .expected(expected, found)
            .fix(Fix { title, edits }),
    )
}

/// The length of a line of ID text without a comment that nothing reads.
fn statements(line: &str) -> usize {
    let Some((before, comment)) = line.split_once(';') else { return line.len() };
    let text = comment.trim_start_matches(|c| c == ' ' || look_alike(c).is_some());
    let is_read = before.trim().is_empty() && COMMENTS.iter().any(|word| text.starts_with(word));
    if is_read { line.len() } else { before.len() }
}

/// The length of a line's indent and, if a key begins it, of the key, the colon and the blank after it.
fn keyed(line: &str) -> usize {
    let is_odd = |c: char| look_alike(c).is_some_and(|meant| meant.trim().is_empty());
    let content = line.trim_start_matches(|c| matches!(c, ' ' | '\t' | '-') || is_odd(c));
    let behind = content.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let colon = behind.chars().next().filter(|&c| c == ':' || look_alike(c) == Some(":"));
    let Some(colon) = colon.filter(|_| behind.len() < content.len()) else {
        return line.len() - content.len();
    };
    let after = behind.get(colon.len_utf8()..).unwrap_or("");
    line.len() - after.trim_start_matches(is_odd).len()
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
