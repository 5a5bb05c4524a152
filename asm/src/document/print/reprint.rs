//! Prints documents that were read from a source, in the layout of printed programs.

use super::{Doc, json};
use crate::document::{Node, NodeKind};
use crate::notation::Notation;

/// Writes the documents of a JSON notation.
pub(crate) fn documents(documents: &[Node<'_>], notation: Notation) -> String {
    let mut out = String::new();
    for (number, document) in documents.iter().enumerate() {
        if notation == Notation::Constrained {
            minified(document, &mut out);
        } else {
            out.push_str(if number > 0 { "\n" } else { "" });
            json::lines(&doc(document), "steps", &mut out);
        }
        out.push('\n');
    }
    out
}

/// Writes each program on one line.
fn minified(document: &Node<'_>, out: &mut String) {
    match document.kind {
        NodeKind::List(items) if !items.is_empty() => {
            for (number, item) in items.iter().enumerate() {
                out.push_str(if number > 0 { ",\n" } else { "[\n" });
                json::minified(&doc(item), out);
            }
            out.push_str("\n]");
        }
        _ => json::minified(&doc(document), out),
    }
}

fn doc<'a>(node: &Node<'a>) -> Doc<'a> {
    match node.kind {
        NodeKind::Null => Doc::Null,
        NodeKind::Bool(bool) => Doc::Bool(bool),
        NodeKind::Number(number) => Doc::Number(number),
        NodeKind::Text(text) => Doc::Text(text.text.into()),
        NodeKind::List(items) => Doc::List(items.iter().map(doc).collect()),
        NodeKind::Record(entries) => {
            let entries = entries.iter();
            Doc::Record(entries.map(|entry| (entry.name().unwrap_or("").into(), doc(&entry.value))).collect())
        }
    }
}
