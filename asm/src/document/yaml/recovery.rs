//! Finds why the scanner stopped, and the fix: mostly quotes around a value that has a special meaning in
//! YAML.
//!
//! It looks only at the line in which the scanner stopped. A fix changes only the value.

use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::document::json::offset;
use crate::span::Span;
use crate::text;
use crate::text::shorten;
use ilo_spec::error::Code;

/// What is wrong at the position where the scanner stopped.
pub(crate) struct Explained {
    pub(crate) diagnostic: Diagnostic,
    /// Whether the fix is the one reading, which is not reported.
    pub(crate) clear: bool,
}

/// What is wrong at the position where the scanner stopped, with fixes if there are any.
pub(crate) fn explain(source: &str, at: usize, info: &str) -> Vec<Explained> {
    let line = Line::around(source, at);
    let unclear = |diagnostic| vec![Explained { diagnostic, clear: false }];
    if info.starts_with("recursion limit") {
        return unclear(crate::document::too_deep(Span::at(offset(at))));
    }
    if info.starts_with("tabs disallowed")
        || (info.contains("tab") && line.text.trim_start_matches(' ').starts_with('\t'))
    {
        return unclear(tabs(&line));
    }
    let found = line.fixes(at, info);
    if found.is_empty() { unclear(plain(at, info)) } else { found }
}

/// An error of the scanner in ilo's words.
fn plain(at: usize, info: &str) -> Diagnostic {
    let (message, help) = match info {
        "mapping values are not allowed in this context" => (
            "a key is not allowed here",
            "the line above has a value already, or lacks its `:`; what belongs to a key is indented below it",
        ),
        "simple key expected" | "simple key expect ':'" => {
            ("this line has no `:`", "write `key: value`, or `- ` before an element of a list")
        }
        "block sequence entries are not allowed in this context" => {
            ("a list cannot begin here", "write each element on its own line below the key, after `- `")
        }
        "while parsing a block mapping, did not find expected key"
        | "while parsing a block collection, did not find expected '-' indicator" => (
            "this line belongs to nothing above it",
            "indent it as the keys or elements beside it, by blanks",
        ),
        "misplaced bracket" => ("this bracket closes nothing", "remove it, or put quotes around the text"),
        "unexpected eof" => ("the text ends too early", "write the rest of it"),
        _ if info.contains("flow") => {
            ("a list or record in brackets is not complete", "close it, or put quotes around the text")
        }
        _ if info.contains("quoted scalar") => (
            "a text in quotes that cannot be read",
            "a quote inside a text is `\\\"` in double quotes, and `''` in single ones, where a backslash is itself",
        ),
        _ => (info, "put quotes around a text that is not meant as YAML"),
    };
    Diagnostic::new(Code::BadYaml, Span::at(offset(at)), message).help(help)
}

/// A line that begins with a tab.
fn tabs(line: &Line<'_>) -> Diagnostic {
    let tab = line.text.find('\t').unwrap_or(0);
    let end = line.text.len() - line.text.trim_start_matches([' ', '\t']).len();
    let span = Span::new(offset(line.start + tab), offset(line.start + end.max(tab + 1)));
    Diagnostic::new(Code::BadYaml, span, "a tab cannot indent a line")
        .expected("blanks", "a tab")
        .help("indent by two blanks a level")
}

/// A line and its start.
struct Line<'s> {
    text: &'s str,
    start: usize,
}

/// What is wrong with a value, and what to write instead.
struct Wrong {
    message: String,
    instead: String,
    clear: bool,
}

impl Wrong {
    fn new(message: &str, instead: String, clear: bool) -> Wrong {
        Wrong { message: message.to_owned(), instead, clear }
    }

    fn quote(value: &str, message: String) -> Wrong {
        // Quotes of a word processor were meant as quotes.
        let curled = |c| matches!(text::look_alike(c), Some("\"" | "'"));
        let inside = value.strip_prefix(curled).and_then(|rest| rest.strip_suffix(curled)).unwrap_or(value);
        Wrong { message, instead: quoted(inside), clear: true }
    }
}

/// Quotes a text: with double quotes, or with single quotes if it contains double quotes.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains(['"', '\\']) && !text.contains('\'') {
        return format!("'{text}'");
    }
    text::quoted(text)
}

/// The diagnostic of a value that YAML reads otherwise than it is meant.
pub(crate) fn quote_it(span: Span, message: &str, value: &str, instead: String) -> Diagnostic {
    Diagnostic::new(Code::QuoteIt, span, message)
        .expected(format!("`{}`", shorten(&instead)), format!("`{}`", shorten(value)))
        .replace(span, instead)
}

/// What a text has that YAML takes for a comment.
pub(crate) const COMMENT: &str = "YAML takes `#` after a blank for a comment: quote it";

impl<'s> Line<'s> {
    fn around(source: &'s str, at: usize) -> Line<'s> {
        let before = source.get(..at).unwrap_or(source);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let text = source.get(start..).unwrap_or("").split('\n').next().unwrap_or("");
        Line { text: text.trim_end(), start }
    }

    fn diagnostic(&self, at: usize, value: &str, wrong: Wrong) -> Explained {
        let start = self.start + at;
        let span = Span::new(offset(start), offset(start + value.len()));
        if let Some(edits) = braces(self.text.get(..at).unwrap_or(""), value, start) {
            let wrong = Diagnostic::new(Code::BadYaml, span, "a second key in a line begins a record");
            let fix = Fix { title: "put braces around it".to_owned(), edits };
            return Explained { diagnostic: wrong.fix(fix), clear: false };
        }
        let diagnostic = quote_it(span, &wrong.message, value, wrong.instead);
        Explained { diagnostic, clear: wrong.clear }
    }

    /// The fixes of the line in which the scanner stopped.
    fn fixes(&self, stop: usize, info: &str) -> Vec<Explained> {
        let (at, value) = self.value();
        let flow = value.starts_with(['{', '[']);
        if flow || info.contains("flow") || info.contains("bracket") || info.contains("':' indicator") {
            let from = self.content();
            let pieces = Flow::new(self.text.get(from..).unwrap_or("")).pieces();
            if let Some(pieces) = pieces.as_ref().filter(|pieces| !(flow && pieces.continues)) {
                let wrong = pieces.wrong.iter().map(|&(start, value)| {
                    let what = if value.contains("${") {
                        "takes the brace of `${` for a record"
                    } else {
                        "reads this otherwise than it looks"
                    };
                    let message = format!("in brackets YAML {what}: quote it");
                    self.diagnostic(from + start, value, Wrong::quote(value, message))
                });
                let wrong: Vec<_> = wrong.collect();
                if !wrong.is_empty() {
                    return wrong;
                }
            }
            if flow && pieces.is_some_and(|pieces| pieces.continues) {
                let message = format!("a text cannot begin with `{}` in YAML: quote it", &value[..1]);
                return vec![self.diagnostic(at, value, Wrong::quote(value, message))];
            }
        }
        let Some(stop) = stop.checked_sub(self.start + at) else { return Vec::new() };
        let infix = self.is_infix(at);
        let behind = info.contains("trailing") || info.contains("mapping");
        let added = sum(value, infix).filter(|_| behind);
        let message = "text after a quoted text: write the values inside the text";
        let added = added.map(|instead| Wrong::new(message, instead, true));
        let message = "a text in quotes ends the value in YAML: quote all of it";
        let compares = || compared(value).filter(|_| infix).map(|to| Wrong::new(message, to, true));
        let wrong = added.or_else(compares).or_else(|| problem(value, stop, info));
        wrong.map(|wrong| self.diagnostic(at, value, wrong)).into_iter().collect()
    }

    /// Whether a position of the line is in the infix text of an `expr` or `if`.
    fn is_infix(&self, at: usize) -> bool {
        let key = self.text.get(self.content()..at).unwrap_or("").trim_end();
        matches!(key, "expr:" | "if:" | "not:")
    }

    /// The start of the line after its indent and the dashes of lists.
    fn content(&self) -> usize {
        let mut rest = self.text.trim_start_matches([' ', '\t']);
        while let Some(after) = rest.strip_prefix("- ") {
            rest = after.trim_start_matches(' ');
        }
        self.text.len() - rest.len()
    }

    /// The value of the key of the line, or the whole line: its start, and its text without a comment.
    fn value(&self) -> (usize, &'s str) {
        let from = self.content();
        let content = self.text.get(from..).unwrap_or("");
        let mut colons = content.match_indices(':').map(|(at, _)| at + 1);
        let quote = content.chars().next().filter(|c| matches!(c, '"' | '\''));
        // The quotes of the key, if it has some.
        let key = quote.and_then(|quote| content.get(1..)?.find(quote)).map_or(0, |at| at + 2);
        let ends = |at: &usize| {
            let before = content.get(..*at - 1).unwrap_or("");
            let after = content.get(*at..).unwrap_or("");
            *at > key && !before.contains(['{', '[']) && (after.is_empty() || after.starts_with([' ', '\t']))
        };
        let start =
            colons.find(ends).filter(|_| !content.starts_with(['{', '[']) && (quote.is_none() || key > 0));
        let value = content.get(start.unwrap_or(0)..).unwrap_or("");
        let trimmed = value.trim_start();
        let at = self.text.len() - trimmed.len();
        let length = if trimmed.starts_with(['"', '\'']) { None } else { trimmed.find(" #") };
        (at, trimmed.get(..length.unwrap_or(trimmed.len())).unwrap_or("").trim_end())
    }
}

/// The keys with which a step or the action of a handler begins.
const BEGINS: &str = "return raise call let if for value expr push yield skip break ignore match ok error";

/// What makes a text the record that it means behind a key, such as `error: no` behind `return`.
fn braces<'s>(before: &'s str, text: &'s str, start: usize) -> Option<Vec<Edit>> {
    let (mut at, mut edits, mut closing) = (0, Vec::new(), String::new());
    let mut outer = before.trim_end().strip_suffix(':')?.rsplit([' ', ',', '{', '[', ':']).next()?;
    while let Some((key, rest)) = text.get(at..)?.split_once(": ") {
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
        (outer, at) = (key, text.len() - rest.len());
    }
    let rest = text.get(at..)?;
    if rest.contains([',', '#', ':', '}']) && !rest.starts_with(['"', '\'', '{', '[']) {
        let span = Span::new(offset(start + at), offset(start + text.len()));
        edits.push(Edit::new(span, quoted(rest)));
    }
    let is_cut = rest.starts_with(['"', '\'']) && rest.matches(rest.get(..1)?).count() == 1;
    edits.push(Edit::insert(offset(start + text.len()), closing));
    (at > 0 && !is_cut).then_some(edits)
}

/// The replacement of `"Hello " + $.name`: a `concat` in infix text, otherwise a text with references.
fn sum(value: &str, infix: bool) -> Option<String> {
    let mut rest = value;
    let mut joined = String::new();
    let mut parts: Vec<&str> = Vec::new();
    loop {
        let first = rest.chars().next()?;
        let length = match first {
            '"' | '\'' => rest.get(1..)?.find(first)? + 2,
            '$' => rest.find([' ', '\t']).unwrap_or(rest.len()),
            _ => return None,
        };
        let (part, after) = rest.split_at_checked(length)?;
        match first {
            '$' => joined.push_str(part),
            _ => joined.push_str(part.get(1..length - 1)?),
        }
        parts.push(part);
        let after = after.trim_start();
        if after.is_empty() {
            break;
        }
        rest = after.strip_prefix('+')?.trim_start();
    }
    if parts.len() < 2 || joined.contains('\\') {
        return None;
    }
    if !infix {
        return Some(quoted(&joined));
    }
    let form = format!("concat({})", parts.join(", "));
    Some(if form.contains('\'') { quoted(&form.replace('"', "'")) } else { format!("'{form}'") })
}

/// The replacement of `"$.a" == "b"` in infix text: all of it in quotes, and a reference without its own.
fn compared(value: &str) -> Option<String> {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let length = value.get(1..)?.find(quote)? + 2;
    let (first, rest) = value.split_at_checked(length)?;
    let word = rest.trim_start().split(' ').next()?;
    if !matches!(
        word,
        "==" | "!=" | ">" | ">=" | "<" | "<=" | "+" | "-" | "*" | "/" | "%" | "and" | "or" | "in"
    ) {
        return None;
    }
    let inside = first.get(1..length - 1)?;
    let name = inside.strip_prefix("${").and_then(|name| name.strip_suffix('}')).or(inside.strip_prefix('$'));
    let refers = name.is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || "._-".contains(c)));
    let whole = format!("{}{rest}", if refers { inside } else { first });
    let whole = if whole.contains('\'') { whole.replace('"', "'") } else { whole };
    (!whole.contains('\\')).then(|| quoted(&whole))
}

/// The cause of an error in a value outside brackets, of which the scanner read the given number of bytes.
fn problem(value: &str, stop: usize, info: &str) -> Option<Wrong> {
    let first = value.chars().next()?;
    let alone = value.get(first.len_utf8()..).is_none_or(|rest| rest.is_empty() || rest.starts_with(' '));
    let start = || {
        (stop == 0)
            .then(|| Wrong::quote(value, format!("a text cannot begin with `{first}` in YAML: quote it")))
    };
    let colon = || value.get(stop..).is_some_and(|rest| rest.starts_with(": ") || rest == ":");
    match first {
        '@' | '`' | '%' | '*' | '&' | '!' => start(),
        ',' | ']' | '}' => start().map(|wrong| Wrong { clear: false, ..wrong }),
        '|' | '>' => {
            let header = value
                .trim_start_matches(['|', '>', '+', '-'])
                .trim_start_matches(|c: char| c.is_ascii_digit());
            if header.is_empty() { None } else { start() }
        }
        '?' | ':' if alone => start(),
        '-' if value == "-" => start(),
        '-' if alone => None,
        '"' | '\'' => quotes(value, first, stop, info),
        _ if colon() => {
            Some(Wrong::quote(value, "YAML takes `: ` in a text for the end of a key: quote it".to_owned()))
        }
        _ => None,
    }
}

/// A value that begins with a quote: another quote inside it, no closing quote, or text after it.
fn quotes(value: &str, quote: char, stop: usize, info: &str) -> Option<Wrong> {
    let inside = value.get(1..).unwrap_or("");
    let mut places = inside.match_indices(quote).map(|(at, _)| at).filter(|&at| {
        let backslashes = inside.get(..at).unwrap_or("").bytes().rev().take_while(|&b| b == b'\\').count();
        quote == '\'' || backslashes % 2 == 0
    });
    let (first, last) = (places.next(), places.next_back());
    // The scanner stops at the start of a text without an end, and after a text if something follows it.
    let behind =
        first.and_then(|first| value.get(first + 2..stop)).is_some_and(|between| between.trim().is_empty());
    match (first, last) {
        (None, _) if stop > 0 => None,
        (Some(_), _) if !behind => None,
        (None, _)
            if info.contains("indentation")
                || info.contains("end of stream")
                || info.contains("document") =>
        {
            Some(Wrong::new("this text is not closed", format!("{value}{quote}"), false))
        }
        (Some(_), Some(last)) if last + 1 == inside.len() && info.contains("trailing") => {
            let body = inside.get(..last).unwrap_or("");
            let instead = if quote == '\'' {
                format!("'{}'", body.replace('\'', "''"))
            } else {
                let bare = body.replace("\\\"", "\"").replace('"', "\\\"");
                format!("\"{bare}\"")
            };
            Some(Wrong::new("a quote inside a text ends it: escape it", instead, false))
        }
        (Some(_), _) if info.contains("trailing") || info.contains("mapping values") => {
            let wrong = Wrong::quote(value, "text after a quoted text: quote all of it".to_owned());
            Some(Wrong { clear: false, ..wrong })
        }
        _ => None,
    }
}

/// Whether a text with a reference in it, in a record, goes on after a comma: no key follows.
fn goes_on(before: &str, after: &str) -> bool {
    let alone = before.starts_with("${") && before.find('}') == Some(before.len() - 1);
    if alone || !before.contains("${") || !after.starts_with(' ') {
        return false;
    }
    let mut reference = false;
    let end = after.char_indices().find(|&(at, c)| {
        reference |= c == '{' && after.get(..at).is_some_and(|text| text.ends_with('$'));
        let ends = !reference && matches!(c, ',' | '}' | ']' | ':');
        reference &= c != '}';
        ends
    });
    end.is_some_and(|(_, c)| c != ':')
}

/// Where a plain text in brackets ends whose own brackets are closed, as in `min(a, b)[0]`: before the next
/// comma or bracket outside of them.
fn nested_end(text: &str) -> Option<usize> {
    let (mut open, mut quote, mut before) = (0_usize, None, ' ');
    for (at, c) in text.char_indices() {
        match c {
            _ if quote == Some(c) => quote = None,
            _ if quote.is_some() => {}
            '\'' | '"' if open > 0 => quote = Some(c),
            '(' => open += 1,
            '[' if open > 0 || before.is_alphanumeric() || matches!(before, '_' | ')' | ']') => open += 1,
            '{' if open > 0 => open += 1,
            ')' | ']' | '}' if open > 0 => open -= 1,
            ',' | '[' | ']' | '{' | '}' if open == 0 => return Some(at),
            _ => {}
        }
        before = c;
    }
    (open == 0).then_some(text.len())
}

/// A reader of a line that is in brackets, completely or in part.
struct Flow<'s> {
    text: &'s str,
    at: usize,
    depth: usize,
    after_colon: bool,
}

/// Its result.
struct Pieces<'s> {
    /// The values that need quotes, with their spans.
    wrong: Vec<(usize, &'s str)>,
    /// Whether text follows after the last bracket.
    continues: bool,
}

impl<'s> Flow<'s> {
    fn new(text: &'s str) -> Flow<'s> {
        Flow { text, at: 0, depth: 0, after_colon: false }
    }

    /// The pieces of the line; `None` if a quoted text does not end in it.
    fn pieces(mut self) -> Option<Pieces<'s>> {
        let mut pieces = Pieces { wrong: Vec::new(), continues: false };
        while let Some(c) = self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            match c {
                ' ' | '\t' => self.at += 1,
                '{' | '[' => {
                    self.depth += 1;
                    self.at += 1;
                    self.after_colon = false;
                }
                '}' | ']' => {
                    self.at += 1;
                    self.depth = self.depth.saturating_sub(1);
                    let after = self.text.get(self.at..).unwrap_or("").trim_start();
                    let ends = after.is_empty() || after.starts_with([',', '#', '}', ']', ':']);
                    if self.depth == 0 && !ends {
                        pieces.continues = true;
                        return Some(pieces);
                    }
                }
                ',' => {
                    self.at += 1;
                    self.after_colon = false;
                }
                ':' => {
                    self.at += 1;
                    self.after_colon = true;
                }
                '"' | '\'' => {
                    let rest = self.text.get(self.at + 1..).unwrap_or("");
                    self.at += rest.find(c)? + 2;
                }
                '#' => break,
                _ => {
                    let (start, value) = self.plain();
                    let first = value.chars().next().unwrap_or(' ');
                    let nests = value.contains(['(', '[']) && value.contains([',', '[', '{']);
                    if nests || value.contains("${") || value.contains(": ") || "@`%*&!|>".contains(first) {
                        pieces.wrong.push((start, value));
                    }
                }
            }
        }
        Some(pieces)
    }

    /// The plain text at the cursor.
    fn plain(&mut self) -> (usize, &'s str) {
        let start = self.at;
        let rest = self.text.get(start..).unwrap_or("");
        let mut reference = false;
        let mut before = ' ';
        let mut length = rest.len();
        for (at, c) in rest.char_indices() {
            let after = rest.get(at + c.len_utf8()..).unwrap_or("");
            let colon = c == ':' && !self.after_colon && (after.is_empty() || after.starts_with(' '));
            match c {
                '{' if before == '$' => reference = true,
                '}' if reference => reference = false,
                ',' if self.after_colon && goes_on(rest.get(..at).unwrap_or(""), after) => {}
                ',' | '{' | '}' | '[' | ']' if !reference => {
                    length = at;
                    break;
                }
                '#' if before == ' ' => {
                    length = at;
                    break;
                }
                _ if colon && !reference => {
                    length = at;
                    break;
                }
                _ => {}
            }
            before = c;
        }
        if let Some(nested) = nested_end(rest).filter(|&nested| self.after_colon && nested > length) {
            length = nested;
        }
        // At least one character, so that reading advances.
        length = length.max(rest.chars().next().map_or(0, char::len_utf8));
        self.at = start + length;
        (start, rest.get(..length).unwrap_or("").trim_end())
    }
}
