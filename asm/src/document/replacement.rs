//! The corrected form of a record: new text with parts of the source in it. The reader continues with this
//! form, and the fix writes it, so the rest is read as if the fix were applied.

use crate::diagnostic::Fix;
use crate::document::{Entry, Kind, Node};
use crate::document::{entries, first_of};
use crate::span::Span;
use crate::text::quote;
use bumpalo::Bump;
use ilo_spec::program::Number;

/// The most bytes of the source that a fix copies, so that nested fixes stay small. Above that there is only
/// a message.
const LONGEST: u32 = 1 << 14;

/// Whether a fix may copy a part of the source.
pub(crate) fn is_repeatable(part: Span) -> bool {
    part.end.saturating_sub(part.start) <= LONGEST
}

/// A corrected value.
pub(crate) enum Replacement<'a> {
    /// A value of the source, unchanged.
    Kept(Node<'a>),
    /// A new text.
    Word(&'a str),
    /// A new integer.
    Integer(i64),
    /// A record.
    Record(Vec<(&'a str, Replacement<'a>)>),
    /// A list.
    List(Vec<Replacement<'a>>),
}

impl<'a> Replacement<'a> {
    /// A record with one key.
    pub(crate) fn one(key: &'a str, value: Replacement<'a>) -> Replacement<'a> {
        Replacement::Record(vec![(key, value)])
    }

    /// The document with which reading continues; new values have the span `place`.
    pub(crate) fn node(&self, place: Span, arena: &'a Bump) -> Node<'a> {
        let kind = match self {
            Replacement::Kept(node) => return *node,
            Replacement::Word(word) => return Node::of_text(word, place),
            Replacement::Integer(number) => Kind::Number(Number::Int(*number)),
            Replacement::Record(list) => {
                let entry = |(key, value): &(&'a str, Replacement<'a>)| Entry {
                    key: Node::of_text(key, place),
                    value: value.node(place, arena),
                };
                let list: Vec<Entry<'a>> = list.iter().map(entry).collect();
                Kind::Record(arena.alloc_slice_copy(&list))
            }
            Replacement::List(items) => {
                let items: Vec<Node<'a>> = items.iter().map(|item| item.node(place, arena)).collect();
                Kind::List(arena.alloc_slice_copy(&items))
            }
        };
        Node { kind, span: place }
    }

    /// A summary for a message: its keys, and dots for the rest.
    pub(crate) fn outline(&self, yaml: bool) -> String {
        match self {
            Replacement::Kept(_) | Replacement::Word(_) => "…".to_owned(),
            Replacement::Integer(number) => number.to_string(),
            Replacement::List(_) => "[…]".to_owned(),
            Replacement::Record(list) => {
                let key = |(key, value): &(&'a str, Replacement<'a>)| {
                    let value = value.outline(yaml);
                    if yaml { format!("{key}: {value}") } else { format!("\"{key}\": {value}") }
                };
                format!("{{{}}}", list.iter().map(key).collect::<Vec<String>>().join(", "))
            }
        }
    }

    /// The fix that replaces a record by it; `None` if the lines of YAML do not allow it.
    pub(crate) fn fix(&self, of: &Node<'a>, source: &str, yaml: bool, tight: bool) -> Option<Fix> {
        if !is_repeatable(of.span) {
            return None;
        }
        let form = self.outline(yaml);
        let flow = source.get(of.span.range())?.starts_with(['{', '[']);
        let mut text = String::new();
        if flow || !yaml {
            self.flow(source, tight, &mut text);
            return Some(Fix::write(&form, of.span, text));
        }
        let ends = |list: &[Entry<'a>]| {
            Some((list.first()?.key.span.start, list.last()?.value.span.end.max(list.last()?.key.span.end)))
        };
        let (start, end) = match of.kind {
            Kind::List([first, ..]) => {
                let dash = source.get(..first.span.start as usize)?.rfind('-')?;
                (u32::try_from(dash).ok()?, of.span.end.max(first.span.end))
            }
            _ => ends(entries(of))?,
        };
        let span = Span::new(start, end);
        let start = span.start as usize;
        let column = source.get(..start)?.rsplit('\n').next()?.chars().count();
        self.block(source, column, &mut text)?;
        // The end of a block belongs to what follows.
        let kept = source.get(span.range())?.trim_end().len();
        let end = span.start + u32::try_from(kept).ok()?;
        Some(Fix::write(&form, Span::new(span.start, end), text.trim_end()))
    }

    /// The corrected form as JSON.
    pub(crate) fn text(&self, source: &str, tight: bool) -> String {
        let mut out = String::new();
        self.flow(source, tight, &mut out);
        out
    }

    /// Writes it in flow style, between brackets.
    fn flow(&self, source: &str, tight: bool, out: &mut String) {
        let (colon, comma) = if tight { (":", ",") } else { (": ", ", ") };
        match self {
            Replacement::Kept(node) => {
                let text = source.get(node.span.range()).filter(|text| !text.is_empty());
                out.push_str(text.unwrap_or("null"));
            }
            Replacement::Word(word) => quote(word, out),
            Replacement::Integer(number) => out.push_str(&number.to_string()),
            Replacement::Record(list) => {
                out.push('{');
                for (at, (key, value)) in list.iter().enumerate() {
                    out.push_str(if at > 0 { comma } else { "" });
                    quote(key, out);
                    out.push_str(colon);
                    value.flow(source, tight, out);
                }
                out.push('}');
            }
            Replacement::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { comma } else { "" });
                    item.flow(source, tight, out);
                }
                out.push(']');
            }
        }
    }

    /// Writes it in block style at a column; the first line is written without its indent.
    fn block(&self, source: &str, column: usize, out: &mut String) -> Option<()> {
        let indent = |out: &mut String, column: usize| {
            out.push('\n');
            out.extend(core::iter::repeat_n(' ', column));
        };
        match self {
            Replacement::Word(word) if crate::text::is_name(word.trim_start_matches(['$', '.'])) => {
                out.push_str(word);
            }
            Replacement::Word(word) => quote(word, out),
            Replacement::Integer(number) => out.push_str(&number.to_string()),
            Replacement::Kept(node) => kept(node, source, column, out)?,
            Replacement::Record(list) => {
                for (at, (key, value)) in list.iter().enumerate() {
                    if at > 0 {
                        indent(out, column);
                    }
                    if crate::text::is_name(key) {
                        out.push_str(key);
                    } else {
                        quote(key, out);
                    }
                    out.push(':');
                    if value.is_block(source) {
                        indent(out, column + 2);
                        value.block(source, column + 2, out)?;
                    } else {
                        out.push(' ');
                        value.block(source, column, out)?;
                    }
                }
            }
            Replacement::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        indent(out, column);
                    }
                    out.push_str("- ");
                    item.block(source, column + 2, out)?;
                }
            }
        }
        Some(())
    }

    /// Whether it begins on a new line.
    fn is_block(&self, source: &str) -> bool {
        match self {
            Replacement::Word(_) | Replacement::Integer(_) => false,
            Replacement::Record(_) | Replacement::List(_) => true,
            Replacement::Kept(node) => {
                matches!(node.kind, Kind::Record(_) | Kind::List(_))
                    && !source.get(first_of(node).range()).unwrap_or("").starts_with(['{', '['])
            }
        }
    }
}

/// Writes a part of the source with its lines moved to another column.
fn kept(node: &Node<'_>, source: &str, column: usize, out: &mut String) -> Option<()> {
    let text = source.get(node.span.range())?.trim_end();
    if matches!(node.kind, Kind::Null) && text.is_empty() {
        out.push_str("null");
        return Some(());
    }
    let before = source.get(..node.span.start as usize)?.rsplit('\n').next()?.chars().count();
    for (at, line) in text.split('\n').enumerate() {
        if at == 0 {
            out.push_str(line);
            continue;
        }
        let plain = line.trim_start_matches(' ');
        let depth = (line.len() - plain.len()).checked_sub(before);
        out.push('\n');
        if !plain.trim().is_empty() {
            out.extend(core::iter::repeat_n(' ', column + depth?));
            out.push_str(plain);
        }
    }
    Some(())
}
