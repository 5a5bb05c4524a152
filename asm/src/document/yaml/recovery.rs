//! What is wrong with YAML, and the fix: mostly quotes around a value that has a special meaning in YAML, or
//! what the value means.

use super::{Fatal, OpenBlock};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::document::json::offset;
use crate::span::Span;
use crate::text;
use crate::text::shorten;
use core::ops::Range;
use ilo_spec::error::Code;

/// An error in the structure of a document, which ends it.
fn ends(at: usize, message: &str, help: &str) -> Fatal {
    Box::new(Diagnostic::new(Code::BadYaml, Span::at(offset(at)), message).help(help))
}

/// A node where none may begin: beside or below a block.
pub(super) fn out_of_place(at: usize, column: usize, block: Option<&OpenBlock>, dash: bool) -> Fatal {
    let (message, help) = match block {
        _ if dash => {
            ("a list cannot begin here", "write each element on its own line below the key, after `- `")
        }
        Some(block) if block.record && block.column == column => {
            ("this line has no `:`", "write `key: value`, or `- ` before an element of a list")
        }
        _ => (
            "this line belongs to nothing above it",
            "indent it as the keys or elements beside it, by blanks",
        ),
    };
    ends(at, message, help)
}

/// A key below the value of another.
pub(super) fn second_key(colon: usize) -> Fatal {
    let help =
        "the line above has a value already, or lacks its `:`; what belongs to a key is indented below it";
    ends(colon, "a key is not allowed here", help)
}

/// What is no key where only one may be, or follows a complete value.
pub(super) fn no_key(at: usize, byte: u8) -> Fatal {
    match byte {
        b'?' => ends(at, "a key is a text", "write the key without `?`"),
        b']' | b'}' => ends(at, "this bracket closes nothing", "remove it, or put quotes around the text"),
        _ => ends(
            at,
            "something follows the value",
            "write it on a line of its own, or put quotes around all of it",
        ),
    }
}

/// A list or record in brackets that ends too early.
pub(super) fn incomplete(at: usize) -> Fatal {
    let message = "a list or record in brackets is not complete";
    ends(at, message, "close it, or put quotes around the text")
}

/// A comma in brackets with nothing before it.
pub(super) fn extra_comma(at: usize) -> Diagnostic {
    let span = Span::new(offset(at), offset(at) + 1);
    Diagnostic::new(Code::BadYaml, span, "a comma too many").expected("a value", "`,`").replace(span, "")
}

/// A text in quotes that is not closed, in brackets.
pub(super) fn open_text(start: usize) -> Fatal {
    ends(start, "this text is not closed", "close the text with its quote")
}

/// An escape that does not exist, in a text that begins at `start`.
pub(super) fn bad_escape(start: usize) -> Diagnostic {
    let help = "a quote inside a text is `\\\"` in double quotes, and `''` in single ones, where a backslash is itself";
    Diagnostic::new(Code::BadYaml, Span::at(offset(start)), "a text in quotes that cannot be read").help(help)
}

/// A line that begins with a tab.
pub(super) fn tabs(line: usize, indent: &str) -> Fatal {
    let tab = indent.find('\t').unwrap_or(0);
    let span = Span::new(offset(line + tab), offset(line + indent.len()));
    let wrong = Diagnostic::new(Code::BadYaml, span, "a tab cannot indent a line");
    Box::new(wrong.expected("blanks", "a tab").help("indent by two blanks a level"))
}

/// Quotes a text: with double quotes, or with single quotes if it contains double quotes.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains(['"', '\\']) && !text.contains('\'') {
        return format!("'{text}'");
    }
    text::quoted(text)
}

/// The diagnostic of a value that YAML reads otherwise than it is meant.
fn quote_it(span: Span, message: &str, value: &str, instead: String) -> Diagnostic {
    Diagnostic::new(Code::QuoteIt, span, message)
        .expected(format!("`{}`", shorten(&instead)), format!("`{}`", shorten(value)))
        .replace(span, instead)
}

/// The diagnostic of a text, a part of which YAML takes for a comment.
pub(super) fn comment(span: Span, value: &str) -> Diagnostic {
    quote_it(span, "YAML takes `#` after a blank for a comment: quote it", value, quoted(value))
}

/// The diagnostic of a value that begins with a sign of YAML.
pub(super) fn begins_with(first: char, span: Span, value: &str) -> Diagnostic {
    quote_it(span, &format!("a text cannot begin with `{first}` in YAML: quote it"), value, quoted(value))
}

/// Where a text is whose start is this, without the quotes of a word processor: they were meant as quotes.
pub(super) fn without_curled_quotes(text: &str, start: usize) -> Range<usize> {
    let curled = |c| matches!(text::look_alike(c), Some("\"" | "'"));
    let inside = text.strip_prefix(curled).filter(|rest| rest.ends_with(curled));
    let begin = start + text.len() - inside.unwrap_or(text).len();
    begin..begin + inside.map_or(text, |rest| rest.trim_end_matches(curled)).len()
}

/// What a value that begins with a quote means, if it is not closed, or something follows the quotes; and
/// the diagnostic, if that is a guess.
pub(super) fn behind_quotes(
    value: &str,
    is_closed: bool,
    is_infix: bool,
    span: Span,
) -> (String, Option<Diagnostic>) {
    let wrong = |message: &str, instead| Some(quote_it(span, message, value, instead));
    let quote = value.get(..1).unwrap_or("");
    let inside = value.get(1..).unwrap_or("");
    if !is_closed {
        return (inside.to_owned(), wrong("this text is not closed", format!("{value}{quote}")));
    }
    if is_infix && is_operation(value) {
        return (value.to_owned(), None);
    }
    if let Some(text) = sum(value).filter(|_| !is_infix) {
        return (text, None);
    }
    if let Some(body) = inside.strip_suffix(quote) {
        let bare = body.replace("\\\"", "\"");
        let instead = match quote {
            "'" => format!("'{}'", body.replace('\'', "''")),
            _ => format!("\"{}\"", bare.replace('"', "\\\"")),
        };
        let text = if quote == "'" { body.to_owned() } else { bare };
        return (text, wrong("a quote inside a text ends it: escape it", instead));
    }
    (value.to_owned(), wrong("text after a quoted text: quote all of it", quoted(value)))
}

/// The keys with which a step or the action of a handler begins.
const BEGINS: &str = "return raise call let if for value expr push yield skip break ignore match ok error";

/// Keys behind a key on its line.
pub(super) struct Nested {
    /// The keys, in the value.
    pub(super) keys: Vec<Range<usize>>,
    /// The value of the last one.
    pub(super) rest: usize,
    /// Whether that is a text with signs of YAML.
    pub(super) is_text: bool,
    pub(super) wrong: Diagnostic,
}

/// The keys in a value that make it the record that it means behind a key, such as `error: no` behind
/// `return`. `before` is the line before the value, which is at `start`.
pub(super) fn nested_keys(before: &str, value: &str, start: usize) -> Option<Nested> {
    if value.starts_with(['"', '\'', '{', '[']) {
        return None;
    }
    let (mut at, mut keys, mut edits, mut closing) = (0, Vec::new(), Vec::new(), String::new());
    let mut outer = before.trim_end().strip_suffix(':')?.rsplit([' ', ',', '{', '[', ':']).next()?;
    while let Some((key, rest)) = value.get(at..)?.split_once(": ") {
        let is_record = match outer {
            "return" | "ret" => matches!(key, "ok" | "error" | "err"),
            "then" | "else" | "do" | "catch" | "on-error" => BEGINS.split(' ').any(|word| word == key),
            "args" | "with" | "obj" => !key.contains(' '),
            _ => key == "call" && !rest.contains(' '),
        };
        if !is_record {
            break;
        }
        edits.push(Edit::insert(offset(start + at), "{"));
        closing.push('}');
        keys.push(at..at + key.len());
        (outer, at) = (key, value.len() - rest.len());
    }
    let rest = value.get(at..).filter(|_| at > 0)?;
    let is_quoted = rest.starts_with(['"', '\'']);
    if is_quoted && rest.matches(rest.get(..1)?).count() == 1 {
        return None;
    }
    let is_text = rest.contains([',', '#', ':', '}']) && !is_quoted && !rest.starts_with(['{', '[']);
    let end = offset(start + value.len());
    if is_text {
        edits.push(Edit::new(Span::new(offset(start + at), end), quoted(rest)));
    }
    edits.push(Edit::insert(end, closing));
    let place = Span::new(offset(start), end);
    let fix = Fix { title: "put braces around it".to_owned(), edits };
    let wrong = Diagnostic::new(Code::BadYaml, place, "a second key in a line begins a record").fix(fix);
    Some(Nested { keys, rest: at, is_text, wrong })
}

/// What `"Hello " + $.name` means where nothing is computed: a text with references.
fn sum(value: &str) -> Option<String> {
    let (mut rest, mut joined, mut parts) = (value, String::new(), 0);
    loop {
        let first = rest.chars().next()?;
        let (part, after) = match first {
            '"' | '\'' => rest.get(1..)?.split_once(first)?,
            '$' => rest.split_at_checked(rest.find([' ', '\t']).unwrap_or(rest.len()))?,
            _ => return None,
        };
        joined.push_str(part);
        parts += 1;
        match after.trim_start() {
            "" => break,
            more => rest = more.strip_prefix('+')?.trim_start(),
        }
    }
    (parts > 1 && !joined.contains('\\')).then_some(joined)
}

/// Whether an operator is behind the text in quotes with which a value begins, as in `"$.a" == "b"`.
fn is_operation(value: &str) -> bool {
    let behind = value.get(..1).and_then(|quote| value.splitn(3, quote).nth(2)).unwrap_or("");
    let word = behind.trim_start().split(' ').next().unwrap_or("");
    ["==", "!=", ">", ">=", "<", "<=", "+", "-", "*", "/", "%", "and", "or", "in"].contains(&word)
}
