//! The syntax of references: `$.a.b`, `$a`, `${a.b}`, `${c["First Name"]}`, and a bare `a.b`.
//!
//! This module knows the syntax only; the readers of steps resolve the names. Positions are exact to the byte
//! if the source has the text unchanged.

use crate::ast::Name;
use crate::diagnostic::Diagnostic;
use crate::document::{Kind, Node, Style, Text};
use crate::span::Span;
use crate::text::{decode, is_name, name_end, shorten};
use bumpalo::Bump;
use ilo_spec::error::Code;
use smallvec::SmallVec;
use std::fmt::{self, Write as _};

/// The name of the record of inputs.
pub const INPUT: &str = "input";
/// The names of the failure in a handler.
pub const FAILURES: [&str; 2] = ["err", "error"];

/// A reference.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'a> {
    /// Its root.
    pub root: Root<'a>,
    /// The path from the root.
    pub path: &'a [Step<'a>],
    /// From its `$` or first letter to its end.
    pub span: Span,
}

/// The root of a reference.
#[derive(Clone, Copy, Debug)]
pub enum Root<'a> {
    /// The inputs: `$.f` and `$input.f`. The path begins with the name of the input; it is empty for `$input`
    /// alone.
    Input,
    /// A name.
    Name(Name<'a>),
}

/// A step of a path.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A field of a record.
    Field(Name<'a>),
    /// An item of a list, from 0.
    Index(u64, Span),
}

/// Writes the text between `${` and `}`: `.user-id`, `user.email`, `c["First Name"]`.
impl fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let any = |f: &mut fmt::Formatter<'_>, name: &str| {
            let mut quoted = String::new();
            crate::text::quote(name, &mut quoted);
            write!(f, "[{quoted}]")
        };
        match self.root {
            Root::Input if self.path.is_empty() => f.write_str(INPUT)?,
            Root::Input => {
                if matches!(self.path.first(), Some(Step::Field(name)) if !is_name(name.text)) {
                    f.write_char('.')?;
                }
            }
            Root::Name(name) if is_name(name.text) && name.text != INPUT => f.write_str(name.text)?,
            Root::Name(name) => any(f, name.text)?,
        }
        for step in self.path {
            match step {
                Step::Field(name) if is_name(name.text) => write!(f, ".{}", name.text)?,
                Step::Field(name) => any(f, name.text)?,
                Step::Index(index, _) => write!(f, ".{index}")?,
            }
        }
        Ok(())
    }
}

/// Reads a text of the form `name(.name)*`, a reference of the constrained notation. A step of the path may
/// be a number.
///
/// Whether it is a reference depends on the names in scope. `input` has no special meaning here.
pub fn bare<'a>(node: &Node<'a>, arena: &'a Bump) -> Option<Reference<'a>> {
    let words = Words::of(node, arena)?;
    let (reference, end) = words.bare(0)?;
    (end == words.text.len()).then_some(reference)
}

/// Like [`bare`], for a text that is not in the source in this form.
pub(crate) fn bare_text<'a>(text: &str, span: Span, arena: &'a Bump) -> Option<Reference<'a>> {
    bare(&Node::of_text(arena.alloc_str(text), span), arena)
}

/// Reads a text of the form `name[0].field`, with the brackets of other languages: the name, and the path
/// with dots.
pub(crate) fn bracketed(node: &Node<'_>, arena: &Bump) -> Option<(usize, String)> {
    let words = Words::of(node, arena)?;
    let name = name_end(words.text, 0)?;
    let (_, plain) = words.bare(0)?;
    let end = words.path_end(words.bracketed(plain)?);
    let fixed = fixed(words.text).filter(|_| end == words.text.len())?;
    let dotted = fixed.strip_prefix("${")?.strip_suffix('}')?;
    (!dotted.contains('[')).then(|| (name, dotted.to_owned()))
}

/// Reads the index of an item at `at`: its end and its value.
fn index_end(text: &str, at: usize) -> Option<(u64, usize)> {
    let rest = text.get(at..)?;
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let digits = rest.get(..length)?;
    let canonical = length == 1 || !digits.starts_with('0');
    let ends = !rest.get(length..)?.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let index = digits.parse().ok()?;
    (canonical && ends).then_some((index, at + length))
}

/// The end of a text with this quote: a JSON string has backslash escapes; in single quotes, a doubled quote
/// is a quote.
pub(crate) fn quoted(inside: &str, quote: u8) -> Option<usize> {
    let bytes = inside.as_bytes();
    let mut at = 0;
    loop {
        match (*bytes.get(at)?, quote) {
            (b'\\', b'"') => at += 2,
            (b'\'', b'\'') if bytes.get(at + 1) == Some(&b'\'') => at += 2,
            (byte, _) if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
}

/// A malformed reference: `${…}` or `$name[…]`.
#[derive(Debug)]
pub(crate) struct Broken<'a> {
    /// Its diagnostic, with a fix that uses the form `${…}`, if there is one.
    pub(crate) diagnostic: Diagnostic,
    /// The reference that is meant, which the fix writes.
    pub(crate) meant: Option<Reference<'a>>,
    /// What is written.
    pub(crate) text: &'a str,
}

/// A text that is searched for references, and its position.
#[derive(Clone, Copy)]
pub(crate) struct Words<'n, 'a> {
    pub(crate) node: &'n Node<'a>,
    pub(crate) text: &'a str,
    pub(crate) arena: &'a Bump,
}

impl<'n, 'a> Words<'n, 'a> {
    /// The text of a node, if it is a text.
    pub(crate) fn of(node: &'n Node<'a>, arena: &'a Bump) -> Option<Words<'n, 'a>> {
        Some(Words { node, text: node.text()?, arena })
    }

    /// The span of some bytes of the text.
    pub(crate) fn part(&self, from: usize, to: usize) -> Span {
        self.node.part(from..to)
    }

    pub(crate) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// Some bytes of the text.
    pub(crate) fn get(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or("")
    }

    fn name(&self, from: usize, to: usize) -> Name<'a> {
        Name { text: self.get(from, to), span: self.part(from, to) }
    }

    /// The position after blanks.
    pub(crate) fn blanks(&self, at: usize) -> usize {
        at + self.get(at, self.text.len()).bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }

    /// Adds the fix that replaces some bytes by `new` to a diagnostic, if the source has these bytes
    /// unchanged and `new` needs no escape within the quotes.
    pub(crate) fn fix(&self, diagnostic: Diagnostic, from: usize, to: usize, new: &str) -> Diagnostic {
        let fits = match self.node.kind {
            Kind::Text(Text { start: Some(_), style, .. }) => match style {
                Style::Double => !new.contains(['"', '\\']),
                Style::Single => !new.contains('\''),
                Style::Plain => {
                    let quoted =
                        from == 0 && new.starts_with(['"', '\'', '{', '[', '%', '!', '&', '*', '>', '|']);
                    !quoted && !new.contains(": ") && !new.contains(" #")
                }
                Style::Block => !new.contains('\n'),
            },
            _ => false,
        };
        if fits { diagnostic.replace(self.part(from, to), new) } else { diagnostic }
    }

    /// Reads `$name…` or `$.name…` at a `$`. If `indexes` is set, numbers are steps of the path.
    pub(crate) fn dollar(&self, at: usize, indexes: bool) -> Option<(Reference<'a>, usize)> {
        let (root, from) = match name_end(self.text, at + 1) {
            Some(end) if self.get(at + 1, end) == INPUT => (Root::Input, end),
            Some(end) => (Root::Name(self.name(at + 1, end)), end),
            None if self.byte(at + 1) == Some(b'.') && name_end(self.text, at + 2).is_some() => {
                (Root::Input, at + 1)
            }
            None => return None,
        };
        let (path, end) = self.dotted(from, indexes);
        Some((Reference { root, path, span: self.part(at, end) }, end))
    }

    /// Reads a sequence of `.name` and, if `indexes` is set, `.0`.
    fn dotted(&self, mut at: usize, indexes: bool) -> (&'a [Step<'a>], usize) {
        let mut steps: SmallVec<[Step<'a>; 4]> = SmallVec::new();
        while let Some((step, end)) = self.dotted_step(at, indexes) {
            steps.push(step);
            at = end;
        }
        (self.arena.alloc_slice_copy(&steps), at)
    }

    fn dotted_step(&self, at: usize, indexes: bool) -> Option<(Step<'a>, usize)> {
        if self.byte(at) != Some(b'.') {
            return None;
        }
        match name_end(self.text, at + 1) {
            Some(end) => Some((Step::Field(self.name(at + 1, end)), end)),
            None if indexes => index_end(self.text, at + 1)
                .map(|(index, end)| (Step::Index(index, self.part(at + 1, end)), end)),
            None => None,
        }
    }

    /// Reads `name(.name)*`; names may be numbers.
    pub(crate) fn bare(&self, at: usize) -> Option<(Reference<'a>, usize)> {
        let first = name_end(self.text, at)?;
        let (path, end) = self.dotted(first, true);
        Some((Reference { root: Root::Name(self.name(at, first)), path, span: self.part(at, end) }, end))
    }

    /// Reads `["any name"]` at a `[`; it contains a JSON string, or a text in single quotes, in which `''` is
    /// one quote.
    fn any_name(&self, at: usize) -> Option<(Name<'a>, usize)> {
        let quote = self.byte(at + 1).filter(|byte| matches!(byte, b'"' | b'\''))?;
        let inside = self.get(at + 2, self.text.len());
        let length = quoted(inside, quote)?;
        let end = at + 2 + length;
        let raw = inside.get(..length)?;
        let text = match quote {
            b'"' => decode(raw, self.arena).ok()?,
            _ if raw.contains('\'') => self.arena.alloc_str(&raw.replace("''", "'")),
            _ => raw,
        };
        let opens = self.byte(at) == Some(b'[') && self.byte(end + 1) == Some(b']');
        opens.then(|| (Name { text, span: self.part(at + 1, end + 1) }, end + 2))
    }

    /// Reads `${…}` at its `$`.
    ///
    /// # Errors
    /// How far the text could be read.
    pub(crate) fn braced(&self, at: usize) -> Result<(Reference<'a>, usize), usize> {
        let start = self.blanks(at + 2);
        let (root, from) = match (self.byte(start), name_end(self.text, start)) {
            (_, Some(end)) if self.get(start, end) == INPUT => (Root::Input, end),
            (_, Some(end)) => (Root::Name(self.name(start, end)), end),
            (Some(b'.'), _) if self.byte(start + 1) == Some(b'[') => (Root::Input, start + 1),
            (Some(b'.'), _) if name_end(self.text, start + 1).is_some() => (Root::Input, start),
            (Some(b'['), _) => {
                let (name, end) = self.any_name(start).ok_or(start)?;
                (Root::Name(name), end)
            }
            _ => return Err(start),
        };
        let mut steps: SmallVec<[Step<'a>; 4]> = SmallVec::new();
        let mut end = from;
        loop {
            let any = || self.any_name(end).map(|(name, end)| (Step::Field(name), end));
            let Some((step, after)) = self.dotted_step(end, true).or_else(any) else { break };
            steps.push(step);
            end = after;
        }
        let index_of_inputs = matches!((root, steps.first()), (Root::Input, Some(Step::Index(..))));
        let close = self.blanks(end);
        if self.byte(close) != Some(b'}')
            || index_of_inputs
            || (steps.is_empty() && from == start + 1 && self.byte(start) == Some(b'.'))
        {
            return Err(end);
        }
        let reference =
            Reference { root, path: self.arena.alloc_slice_copy(&steps), span: self.part(at, close + 1) };
        Ok((reference, close + 1))
    }

    /// The malformed reference whose `${` is at `at` and whose bytes up to `read` are valid, and where
    /// reading continues.
    pub(crate) fn bad_braced(&self, at: usize, read: usize) -> (Broken<'a>, usize) {
        let unclear = |diagnostic, end| Broken { diagnostic, meant: None, text: self.get(at, end) };
        let rest = self.get(at + 2, self.text.len());
        let nested = rest.find("${").unwrap_or(rest.len());
        let line = rest.get(..nested).unwrap_or("");
        let double = line.starts_with('{');
        let Some(length) = line.find('}') else {
            let wrong = Diagnostic::new(
                Code::BadReference,
                self.part(at, read.max(at + 2)),
                "this `${` is not closed",
            )
            .expected("`${name}` or `${name.field}`", "no `}` after it")
            .help("close it with `}`, or write `$$` for a plain `$`");
            let name = self.get(at + 2, read);
            let whole =
                !name.trim().is_empty() && self.read_as(&format!("${{{name}}}"), self.node.span).is_some();
            let wrong = if whole { self.fix(wrong, read, read, "}") } else { wrong };
            return (unclear(wrong, read), read.max(at + 2));
        };
        let inside = line.get(..length).unwrap_or("");
        let mut end = at + 2 + length + 1;
        if double && self.byte(end) == Some(b'}') {
            end += 1;
        }
        let shown = shorten(self.get(at, end));
        let wrong =
            Diagnostic::new(Code::BadReference, self.part(at, end), format!("`{shown}` is not a reference"))
                .expected("`${name}`, `${name.field}` or `${.input}`", format!("`{shown}`"));
        if inside.trim().is_empty() {
            let help = "write a name here, as in `${user.email}`, or write `$$` for a plain `$`";
            return (unclear(wrong.help(help), end), end);
        }
        if let Some((fixed, meant)) = self.fixed(inside, self.part(at, end)) {
            let wrong = wrong.help(format!("write `{fixed}`"));
            let diagnostic = self.fix(wrong, at, end, &fixed);
            return (Broken { diagnostic, meant: Some(meant), text: self.get(at, end) }, end);
        }
        (unclear(wrong.help(advice(inside)), end), end)
    }

    /// The reference in braces that a text means, as a text and as a reference at a position.
    fn fixed(&self, inside: &str, place: Span) -> Option<(String, Reference<'a>)> {
        let fixed = fixed(inside)?;
        let reference = self.read_as(&fixed, place)?;
        Some((fixed, reference))
    }

    /// Reads a text that consists of a reference in braces, as if it were at a position.
    fn read_as(&self, text: &str, place: Span) -> Option<Reference<'a>> {
        let text = self.arena.alloc_str(text);
        let node = Node::of_text(text, place);
        let (reference, end) = Words { node: &node, text, arena: self.arena }.braced(0).ok()?;
        (end == text.len()).then_some(reference)
    }

    /// The end of `[0]` or `["name"]` at a `[`.
    fn bracketed(&self, at: usize) -> Option<usize> {
        if self.byte(at) != Some(b'[') {
            return None;
        }
        let rest = self.get(at + 1, self.text.len());
        let length = match rest.bytes().next()? {
            b'0'..=b'9' => rest.bytes().take_while(u8::is_ascii_digit).count(),
            quote @ (b'"' | b'\'') => 2 + rest.get(1..)?.bytes().position(|byte| byte == quote)?,
            _ => return None,
        };
        let close = at + 1 + length;
        (self.byte(close) == Some(b']')).then_some(close + 1)
    }

    /// The end of a sequence of brackets and fields.
    fn path_end(&self, mut at: usize) -> usize {
        let after = |at| self.bracketed(at).or_else(|| self.dotted_step(at, true).map(|(_, end)| end));
        while let Some(end) = after(at) {
            at = end;
        }
        at
    }

    /// A reference directly followed by `[0]` or `["name"]`, which are only allowed in braces, and where
    /// reading continues.
    pub(crate) fn bracket(&self, at: usize, end: usize) -> Option<(Broken<'a>, usize)> {
        if self.byte(end) == Some(b'[')
            && matches!(self.byte(end + 1), Some(b'*' | b'?' | b'-' | b':' | b'$' | b'@'))
        {
            let close = self.get(end, self.text.len()).find(']').map_or(end + 1, |length| end + length + 1);
            let shown = shorten(self.get(at, close));
            let wrong =
                Diagnostic::new(Code::BadReference, self.part(at, close), "a reference names one value")
                    .expected(
                        format!("`{}`, or an item such as `${{list.0}}`", self.get(at, end)),
                        format!("`{shown}`"),
                    )
                    .help(
                        "what is taken of each element, or of some, is made by a loop, `for`, that yields it",
                    );
            return Some((Broken { diagnostic: wrong, meant: None, text: self.get(at, close) }, close));
        }
        // The rest of the path belongs in the braces too: `$list[0].name`.
        let close = self.path_end(self.bracketed(end)?);
        let (fixed, meant) = self.fixed(self.get(at, close), self.part(at, close))?;
        let wrong =
            Diagnostic::new(Code::BadReference, self.part(at, close), "brackets are only allowed in `${…}`")
                .expected(format!("`{fixed}`"), format!("`{}`", shorten(self.get(at, close))))
                .help(format!(
                    "write `{fixed}`, or `${{…}}` around the name alone where the bracket is text"
                ));
        let diagnostic = self.fix(wrong, at, close, &fixed);
        Some((Broken { diagnostic, meant: Some(meant), text: self.get(at, close) }, close))
    }
}

/// The corrected text between braces: without `$`, brackets of other languages and blanks.
fn fixed(inside: &str) -> Option<String> {
    let plain = inside.trim().trim_start_matches(['{', ' ']).trim_end_matches(['}', ' ']);
    let plain = plain
        .strip_prefix("$.")
        .map_or_else(|| plain.trim_start_matches('$').to_owned(), |rest| format!(".{rest}"));
    let mut fixed = String::from("${");
    let mut rest = plain.as_str();
    while let Some((before, after)) = rest.split_once('[') {
        let (key, behind) = after.split_once(']')?;
        fixed.push_str(before);
        if key.bytes().all(|byte| byte.is_ascii_digit()) {
            let _ = write!(fixed, ".{key}");
        } else {
            let name = key.trim_matches(['"', '\'']);
            if name == key && !name.starts_with(char::is_alphabetic) {
                // An item from the end, a part of a list, or all items.
                return None;
            }
            if is_name(name) {
                let _ = write!(fixed, ".{name}");
            } else {
                fixed.push('[');
                crate::text::quote(name, &mut fixed);
                fixed.push(']');
            }
        }
        rest = behind;
    }
    fixed.push_str(&rest.replace("?.", "."));
    fixed.push('}');
    Some(fixed)
}

/// What to write instead of something in braces that is more than a reference.
fn advice(inside: &str) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|word| inside.contains(word));
    if has(&["??", "|"]) {
        "there are no filters and no default values here: bind the value in a step of its own with `if` or `match`, and \
         name it here"
    } else if has(&["("]) {
        "nothing is called in `${…}`: bind the value in a step of its own, and name it here"
    } else if has(&[" + ", " - ", " * ", " / ", " % ", "==", "!=", ">", "<", "*", "+", " and ", " or ", "? "])
    {
        "nothing is computed in `${…}`: compute it in a step of its own, and name it here"
    } else if inside.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
        "a name starts with a letter or `_`; write `$$` for a plain `$`"
    } else if has(&[" "]) {
        "a key with blanks or other characters is written `${name[\"any key\"]}`"
    } else {
        "write `${name.field}`, `${.input}` or `${name[\"any key\"]}`; `$$` is a plain `$`"
    }
}

/// Endings of the names of files and hosts, which look like fields of a variable.
const ENDINGS: [&str; 20] = [
    "json", "csv", "txt", "pdf", "md", "yaml", "yml", "xml", "html", "png", "jpg", "svg", "log", "toml",
    "zip", "com", "org", "net", "io", "dev",
];

/// Whether a text with dots is most likely the name of a file or host.
pub(crate) fn is_file(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(_, last)| ENDINGS.contains(&last))
}
