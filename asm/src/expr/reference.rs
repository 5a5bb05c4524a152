//! The syntax of references: `$.a.b`, `$a`, `${a.b}`, `${c["First Name"]}`, and a bare `a.b`.
//!
//! This module knows the syntax only; the readers of steps resolve the names. Positions are exact to the byte
//! if the source has the text unchanged.

use super::OF_ITEMS;
use crate::arena::Arena;
use crate::ast::Name;
use crate::diagnostic::Diagnostic;
use crate::document::{Node, NodeKind, Style, Text};
use crate::span::Span;
use crate::text::{decode, is_name, name_end, shorten};
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
        match self.root {
            Root::Input if self.path.is_empty() => f.write_str(INPUT)?,
            Root::Input => {
                if matches!(self.path.first(), Some(Step::Field(name)) if !is_name(name.text)) {
                    f.write_char('.')?;
                }
            }
            Root::Name(name) if is_name(name.text) && name.text != INPUT => f.write_str(name.text)?,
            Root::Name(name) => write_any_name(name.text, f)?,
        }
        write_path(self.path, f)
    }
}

/// Writes the steps of a path behind its root.
pub(crate) fn write_path(path: &[Step<'_>], out: &mut dyn fmt::Write) -> fmt::Result {
    path.iter().try_for_each(|step| match step {
        Step::Field(name) if is_name(name.text) => write!(out, ".{}", name.text),
        Step::Field(name) => write_any_name(name.text, out),
        Step::Index(index, _) => write!(out, ".{index}"),
    })
}

/// Writes a name that is not one of letters and digits.
pub(crate) fn write_any_name(name: &str, out: &mut dyn fmt::Write) -> fmt::Result {
    write!(out, "[{}]", crate::text::quoted(name))
}

/// Reads a text of the form `name(.name)*`, a reference of the constrained notation. A step of the path may
/// be a number.
///
/// Whether it is a reference depends on the names in scope. `input` has no special meaning here.
pub fn bare<'a>(node: &Node<'a>, arena: &'a Arena) -> Option<Reference<'a>> {
    let words = Words::of(node, arena)?;
    let (reference, end) = words.bare(0)?;
    (end == words.text.len()).then_some(reference)
}

/// Whether a text that is in no document has this form.
pub fn is_bare(text: &str) -> bool {
    bare_text(text, Span::at(0), &Arena::new()).is_some()
}

/// Like [`bare`], for a text that is not in the source in this form.
pub(crate) fn bare_text<'a>(text: &str, span: Span, arena: &'a Arena) -> Option<Reference<'a>> {
    bare(&Node::of_text(arena.alloc_str(text), span), arena)
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

/// A text that is searched for references, and its position.
#[derive(Clone, Copy)]
pub(crate) struct Words<'n, 'a> {
    pub(crate) node: &'n Node<'a>,
    pub(crate) text: &'a str,
    pub(crate) arena: &'a Arena,
}

impl<'n, 'a> Words<'n, 'a> {
    /// The text of a node, if it is a text.
    pub(crate) fn of(node: &'n Node<'a>, arena: &'a Arena) -> Option<Words<'n, 'a>> {
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
            NodeKind::Text(Text { start: Some(_), style, .. }) => match style {
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

    pub(crate) fn dotted_step(&self, at: usize, indexes: bool) -> Option<(Step<'a>, usize)> {
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
    pub(crate) fn any_name(&self, at: usize) -> Option<(Name<'a>, usize)> {
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
    pub(super) fn path_end(&self, mut at: usize) -> usize {
        let after = |at| self.bracketed(at).or_else(|| self.dotted_step(at, true).map(|(_, end)| end));
        while let Some(end) = after(at) {
            at = end;
        }
        at
    }

    /// The item `[0]` at a `[`, and its end.
    pub(crate) fn item(&self, at: usize) -> Option<(Step<'a>, usize)> {
        let (index, end) = index_end(self.text, at + 1)?;
        (self.byte(end) == Some(b']')).then(|| (Step::Index(index, self.part(at + 1, end)), end + 1))
    }

    /// A reference directly followed by `[…]`, which is only read in braces: the error, and where reading
    /// continues. `place` is the nesting that braces would have.
    pub(crate) fn bracket(&self, at: usize, end: usize) -> Option<(Diagnostic, usize)> {
        if self.byte(end) != Some(b'[') {
            return None;
        }
        let byte = self.byte(end + 1);
        let likely = byte.is_some_and(|byte| byte.is_ascii_digit() || b"\"'*?-:$@".contains(&byte));
        let close = match self.bracketed(end) {
            Some(close) => self.path_end(close),
            None if likely => {
                let near = self.text.as_bytes().get(end..)?.iter().take(LONGEST);
                near.take_while(|byte| **byte != b'\n')
                    .position(|byte| *byte == b']')
                    .map(|length| end + length + 1)?
            }
            None => return None,
        };
        let written = self.get(at, close);
        let shown = shorten(written);
        let place = self.part(at, close);
        if matches!(byte, Some(b'*' | b'?' | b'@')) {
            let item = format!("`{}`, or an item such as `${{list.0}}`", self.get(at, end));
            let wrong = Diagnostic::new(Code::BadReference, place, "a reference names one value")
                .expected(item, format!("`{shown}`"))
                .help(OF_ITEMS);
            return Some((wrong, close));
        }
        let fixed = format!("${{{}}}", written.trim_start_matches('$'));
        let wrong = Diagnostic::new(Code::BadReference, place, "brackets are only allowed in `${…}`")
            .expected(format!("`{fixed}`"), format!("`{shown}`"))
            .help(format!("write `{fixed}`, or `${{…}}` around the name alone where the bracket is text"));
        Some((self.fix(wrong, at, close, &fixed), close))
    }
}

/// The most bytes between brackets that are searched for the end.
const LONGEST: usize = 200;

/// Endings of the names of files and hosts, which look like fields of a variable.
const ENDINGS: [&str; 20] = [
    "json", "csv", "txt", "pdf", "md", "yaml", "yml", "xml", "html", "png", "jpg", "svg", "log", "toml",
    "zip", "com", "org", "net", "io", "dev",
];

/// Whether a text with dots is most likely the name of a file or host.
pub(crate) fn is_file(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(_, last)| ENDINGS.contains(&last))
}
