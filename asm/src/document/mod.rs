//! Documents: the common form of JSON and YAML, which is values with spans. Documents borrow from the source
//! or the arena.
//!
//! Readers guarantee that the keys of a record are distinct and that nesting is at most [`NESTING`], so
//! passes over documents may recurse. This module does not know programs.

mod builder;
pub(crate) mod json;
pub(crate) mod print;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod yaml;

use crate::arena::Arena;
use crate::ast::Literal;
use crate::diagnostic::{Diagnostic, Diagnostics, Fix, repeated, twice};
use crate::source::SourceLimits;
use crate::span::Span;
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::number::NumberError;
use ilo_spec::program::Number;

/// The maximum nesting of lists and records in a document. A block or an operand of a program is two or three
/// levels of JSON, so this allows [`ilo_spec::limits::NESTING`] levels of a program.
pub const NESTING: usize = 512;

/// A value and its span, quotes and brackets included.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// The value.
    pub kind: NodeKind<'a>,
    /// Its span.
    pub span: Span,
}

/// A value.
#[derive(Clone, Copy, Debug)]
pub enum NodeKind<'a> {
    /// null.
    Null,
    /// true or false.
    Bool(bool),
    /// A number, exact.
    Number(Number),
    /// A text.
    Text(Text<'a>),
    /// A list.
    List(&'a [Node<'a>]),
    /// A record, in the order of the source.
    Record(&'a [Entry<'a>]),
}

/// A key and its value.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The key: always a text in JSON; in YAML also null, a bool or a number.
    pub key: Node<'a>,
    /// The value; null where YAML leaves it out.
    pub value: Node<'a>,
}

/// A text, with escapes decoded.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// Its content.
    pub text: &'a str,
    /// How it was written.
    pub style: Style,
    /// The position of its first byte, if the source has every byte unchanged; `None` after escapes or
    /// folding.
    pub start: Option<u32>,
}

/// How a text was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// In double quotes; every text of JSON.
    Double,
    /// In YAML's single quotes.
    Single,
    /// Without quotes, in YAML.
    Plain,
    /// As a block of YAML, `|` or `>`.
    Block,
}

impl<'a> Node<'a> {
    /// A text that is not in the source.
    pub(crate) fn of_text(text: &'a str, span: Span) -> Node<'a> {
        Node { kind: NodeKind::Text(Text { text, style: Style::Double, start: None }), span }
    }

    /// The same value at one place: that of the text from which it was read.
    pub(crate) fn placed(&self, span: Span, arena: &'a Arena) -> Node<'a> {
        let kind = match self.kind {
            NodeKind::Text(text) => NodeKind::Text(Text { start: None, ..text }),
            NodeKind::List(items) => {
                NodeKind::List(arena.collect(items.iter().map(|item| item.placed(span, arena))))
            }
            NodeKind::Record(list) => NodeKind::Record(arena.collect(list.iter().map(|entry| Entry {
                key: entry.key.placed(span, arena),
                value: entry.value.placed(span, arena),
            }))),
            other => other,
        };
        Node { kind, span }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&'a str> {
        match self.kind {
            NodeKind::Text(text) => Some(text.text),
            _ => None,
        }
    }

    /// Whether it is neither a list nor a record.
    pub(crate) fn is_scalar(&self) -> bool {
        !matches!(self.kind, NodeKind::List(_) | NodeKind::Record(_))
    }

    /// The span of some bytes of its text; the span of the whole node if the exact one is unknown.
    pub fn part(&self, bytes: core::ops::Range<usize>) -> Span {
        let place = |start: u32| {
            let from = u32::try_from(bytes.start).ok()?.checked_add(start)?;
            let to = u32::try_from(bytes.end).ok()?.checked_add(start)?;
            Some(Span::new(from, to))
        };
        match self.kind {
            NodeKind::Text(Text { start: Some(start), .. }) => place(start).unwrap_or(self.span),
            _ => self.span,
        }
    }

    /// What a message calls a value of this kind.
    pub const fn kind_name(&self) -> &'static str {
        match self.kind {
            NodeKind::Null => "null",
            NodeKind::Bool(_) => "a bool",
            NodeKind::Number(_) => "a number",
            NodeKind::Text(_) => "a text",
            NodeKind::List(_) => "a list",
            NodeKind::Record(_) => "a record",
        }
    }
}

impl<'a> Entry<'a> {
    /// The key, if it is a text.
    pub fn name(&self) -> Option<&'a str> {
        self.key.text()
    }

    /// Whether its key is a text that satisfies a predicate.
    pub(crate) fn is(&self, holds: impl FnOnce(&'a str) -> bool) -> bool {
        self.name().is_some_and(holds)
    }
}

/// A key for comparison: 1 and 1.0 are the same key, "1" is another.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Key<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Double(u64),
    Text(&'a str),
    /// A list or record, which is not a key.
    None,
}

impl<'a> Key<'a> {
    pub(crate) fn of(node: &Node<'a>) -> Key<'a> {
        match node.kind {
            NodeKind::Null => Key::Null,
            NodeKind::Bool(bool) => Key::Bool(bool),
            NodeKind::Number(number) => Key::number(number),
            NodeKind::Text(text) => Key::Text(text.text),
            NodeKind::List(_) | NodeKind::Record(_) => Key::None,
        }
    }

    pub(crate) fn of_literal(literal: Literal<'a>) -> Key<'a> {
        match literal {
            Literal::Nil => Key::Null,
            Literal::Bool(bool) => Key::Bool(bool),
            Literal::Number(number) => Key::number(number),
            Literal::Text(text) => Key::Text(text),
        }
    }

    fn number(number: Number) -> Key<'a> {
        let double = match number {
            Number::Int(int) => return Key::Int(int),
            Number::Double(double) => double,
        };
        // Only an integer that is exactly this double is written like this.
        match format!("{double:.0}").parse() {
            Ok(int) if double.fract() == 0.0 => Key::Int(int),
            _ => Key::Double(double.to_bits()),
        }
    }
}

/// Moves the entries with distinct keys to the front, in order, and returns their number. Reports the others.
/// Linear in the number of entries.
fn keep_first(entries: &mut [Entry<'_>], diagnostics: &mut Diagnostics) -> usize {
    let mut others = Vec::new();
    repeated(
        entries,
        |entry| (Key::of(&entry.key), entry.key.span),
        |index, Entry { key, .. }, before| {
            let what = key.text().map_or("this key".to_owned(), |name| format!("`{}`", shorten(name)));
            diagnostics.push_with(Code::DuplicateKey, || twice(Code::DuplicateKey, key.span, &what, before));
            others.push(index);
        },
    );
    let Some(&first) = others.first() else { return entries.len() };
    let (mut kept, mut others) = (first, others.into_iter().peekable());
    for at in first..entries.len() {
        if others.next_if_eq(&at).is_none() {
            entries[kept] = entries[at];
            kept += 1;
        }
    }
    kept
}

/// Reads a file of another program: JSON as people write it, with comments and final commas, or YAML with
/// anchors, aliases and merge keys (`<<`). An alias is the node that its anchor names, so the values can be
/// far more than the text: who walks them counts.
///
/// # Errors
/// The first one in the text.
pub fn read_values<'a>(
    source: &'a str,
    yaml: bool,
    arena: &'a Arena,
) -> Result<&'a [Node<'a>], Box<Diagnostic>> {
    let (mut found, limits) =
        (Diagnostics::default(), SourceLimits { source: usize::MAX, ..SourceLimits::default() });
    let documents = if yaml {
        yaml::read_as(source, true, arena, &limits, &mut found)
    } else {
        json::read(source, arena, &limits, &mut found)
    };
    found.sort();
    let error = found.iter().find(|wrong| wrong.is_error()).cloned();
    error.map_or(Ok(documents), |wrong| Err(Box::new(wrong)))
}

/// Whether two lists of documents have the same content, regardless of positions and layout.
pub(crate) fn same(a: &[Node<'_>], b: &[Node<'_>]) -> bool {
    let same_node = |(a, b): (&Node<'_>, &Node<'_>)| match (a.kind, b.kind) {
        (NodeKind::Null, NodeKind::Null) => true,
        (NodeKind::Bool(a), NodeKind::Bool(b)) => a == b,
        (NodeKind::Number(a), NodeKind::Number(b)) => a == b,
        (NodeKind::Text(a), NodeKind::Text(b)) => a.text == b.text,
        (NodeKind::List(a), NodeKind::List(b)) => same(a, b),
        (NodeKind::Record(a), NodeKind::Record(b)) => {
            let same_entry = |(a, b): (&Entry<'_>, &Entry<'_>)| same(&[a.key, a.value], &[b.key, b.value]);
            a.len() == b.len() && a.iter().zip(b).all(same_entry)
        }
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(same_node)
}

/// The documents of a source; a document that is a list counts as its elements.
pub(crate) fn items_of<'a>(documents: &[Node<'a>]) -> Vec<Node<'a>> {
    let items = |document: &Node<'a>| match document.kind {
        NodeKind::List(items) => items.to_vec(),
        _ => vec![*document],
    };
    documents.iter().flat_map(items).collect()
}

/// The entries of a record; none for any other value.
pub(crate) fn entries<'a>(node: &Node<'a>) -> &'a [Entry<'a>] {
    match node.kind {
        NodeKind::Record(entries) => entries,
        _ => &[],
    }
}

/// The fix that replaces a text and keeps its quotes.
pub(crate) fn rename(node: &Node<'_>, word: &str) -> Option<Fix> {
    match node.kind {
        NodeKind::Text(Text { start: Some(_), text, .. }) => {
            Some(Fix::write(word, node.part(0..text.len()), word))
        }
        _ => None,
    }
}

/// The span of the content of a text, if the source has it unchanged; otherwise that of the node.
pub(crate) fn inner(node: &Node<'_>) -> Span {
    match node.kind {
        NodeKind::Text(Text { text, style: Style::Double | Style::Single | Style::Plain, .. }) => {
            node.part(0..text.len())
        }
        _ => node.span,
    }
}

/// The span that a message shows for a node: only the bracket of a list or record.
pub(crate) fn first_of(node: &Node<'_>) -> Span {
    let first = Span::new(node.span.start, (node.span.start + 1).min(node.span.end));
    if node.is_scalar() { node.span } else { first }
}

/// A key in the form for messages.
pub(crate) fn shown(node: &Node<'_>) -> String {
    match node.kind {
        NodeKind::Text(text) => crate::text::shorten(text.text),
        NodeKind::Null => "null".to_owned(),
        NodeKind::Bool(value) => value.to_string(),
        NodeKind::Number(number) => number.to_string(),
        _ => node.kind_name().to_owned(),
    }
}

/// The diagnostic of a bracket that nests too deeply.
pub(crate) fn too_deep(at: Span) -> Diagnostic {
    Diagnostic::new(Code::TooDeep, at, format!("lists and records nest deeper than {NESTING} here"))
        .expected(format!("at most {NESTING} levels"), "one more")
}

/// The diagnostic of a malformed number.
pub(crate) fn bad_number(span: Span, text: &str, error: NumberError) -> Diagnostic {
    let shown = shorten(text);
    match error {
        NumberError::Form => Diagnostic::new(Code::BadNumber, span, format!("`{shown}` is not a number"))
            .expected("a number, such as `42`, `-0.5` or `1e9`", format!("`{shown}`"))
            .help("write the number with digits, or put quotes around the text"),
        NumberError::Beyond64Bits => {
            Diagnostic::new(Code::NumberRange, span, format!("`{shown}` does not fit into 64 bits"))
                .expected("-9223372036854775808 to 9223372036854775807", format!("`{shown}`"))
                .help("write a double, such as `1e20`, where it need not be exact")
        }
        NumberError::NotFinite => {
            Diagnostic::new(Code::NumberRange, span, format!("`{shown}` is beyond what a double holds"))
                .expected("at most 1.7976931348623157e308", format!("`{shown}`"))
        }
    }
}
