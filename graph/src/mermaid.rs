//! The picture as a Mermaid flowchart.
//!
//! Mermaid interprets many characters in a label, so every character that is not a letter, a digit or known
//! to be harmless is written as its number.

use super::model::{DATA, Edge, EdgeKind, FAILURE, Graph, Item, Kind, Node, NodeId, PALETTE};
use std::fmt::Write;

/// Writes a flowchart from top to bottom.
pub(super) fn write(graph: &Graph) -> String {
    let mut out = String::from("flowchart TB\n");
    for (number, frame) in graph.frames.iter().enumerate() {
        let _ = writeln!(out, "  subgraph f{number}[\"{}\"]", escape(&frame.name));
        items(graph, &frame.items, 2, &mut out);
        out.push_str("  end\n");
    }
    let (mut failures, mut data) = (Vec::new(), Vec::new());
    for (number, edge) in graph.edges.iter().enumerate() {
        connect(edge, &mut out);
        match edge.kind {
            EdgeKind::Failure => failures.push(number),
            EdgeKind::Data => data.push(number),
            EdgeKind::Flow | EdgeKind::Done | EdgeKind::Back => {}
        }
    }
    for (number, node) in graph.nodes.iter().enumerate() {
        if let Some(frame) = node.callee.and_then(|index| graph.frames.get(index)) {
            let _ = writeln!(out, "  n{number} -. calls .-> n{}", frame.entry.0);
        }
    }
    for (end, after) in graph.after_loops() {
        let _ = writeln!(out, "  n{} ~~~ n{}", end.0, after.0);
    }
    for paint in &PALETTE {
        let [fill, line, text] = paint.light;
        let width = if matches!(paint.kind, Kind::Tool | Kind::Undo) { 2 } else { 1 };
        let _ = writeln!(
            out,
            "  classDef {} fill:{fill},stroke:{line},color:{text},stroke-width:{width}px",
            class(paint.kind)
        );
    }
    links(&failures, &format!("stroke:{}", FAILURE[0]), &mut out);
    links(&data, &format!("stroke:{},stroke-width:1px", DATA[0]), &mut out);
    out
}

/// A style for each kind. `end` and other words of Mermaid cannot be class names.
fn class(kind: Kind) -> String {
    format!("ilo_{}", kind.class())
}

fn links(numbers: &[usize], style: &str, out: &mut String) {
    if numbers.is_empty() {
        return;
    }
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    let _ = writeln!(out, "  linkStyle {} {style}", numbers.join(","));
}

fn items(graph: &Graph, list: &[Item], depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    for item in list {
        match item {
            Item::Step(id) => node(graph, *id, &indent, out),
            Item::Branch { head, main, side, .. } => {
                node(graph, *head, &indent, out);
                items(graph, main, depth, out);
                side.iter().for_each(|side| items(graph, side, depth, out));
            }
            Item::Loop { head, body } => {
                let _ = writeln!(out, "{indent}subgraph l{}[\" \"]", head.0);
                node(graph, *head, &format!("{indent}  "), out);
                items(graph, body, depth + 1, out);
                let _ = writeln!(out, "{indent}end");
            }
        }
    }
}

fn node(graph: &Graph, id: NodeId, indent: &str, out: &mut String) {
    let Some(node) = graph.nodes.get(id.0) else { return };
    let (open, close) = match node.kind {
        Kind::Entry => ("[/", "/]"),
        Kind::Own | Kind::Undo | Kind::Later => ("[[", "]]"),
        Kind::If | Kind::Match => ("{{", "}}"),
        Kind::For => (">", "]"),
        Kind::Ok | Kind::Err | Kind::Yield | Kind::Next | Kind::Break => ("([", "])"),
        Kind::Tool | Kind::Value | Kind::Map => ("[", "]"),
    };
    let _ = writeln!(out, "{indent}n{}{open}\"{}\"{close}:::{}", id.0, label(node), class(node.kind));
}

fn label(node: &Node) -> String {
    let mut label = String::new();
    if let Some(note) = node.kind.note() {
        let _ = write!(label, "{note}<br/>");
    }
    label.push_str(&escape(&node.title));
    if let Some(binds) = &node.binds {
        let _ = write!(label, " → {}", escape(binds));
    }
    for row in &node.rows {
        let _ = write!(label, "<br/>{}{}{}", escape(&row.name), escape(row.sign), escape(&row.value));
    }
    let notes = [node.guard.as_deref(), node.fails.then_some("✕ a failure ends the function")];
    for note in notes.into_iter().flatten() {
        let _ = write!(label, "<br/>{}", escape(note));
    }
    label
}

fn connect(edge: &Edge, out: &mut String) {
    let link = match edge.kind {
        EdgeKind::Flow | EdgeKind::Done => "-->",
        EdgeKind::Failure | EdgeKind::Back | EdgeKind::Data => "-.->",
    };
    let _ = write!(out, "  n{} {link}", edge.from.0);
    if !edge.label.is_empty() {
        let _ = write!(out, "|\"{}\"|", escape(&edge.label));
    }
    let _ = writeln!(out, " n{}", edge.to.0);
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // `1. ` and `- ` begin lists.
        let list = matches!(c, '-' | '.') && rest.peek() == Some(&' ');
        if !list
            && (c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | ',' | '?' | '/' | '→' | '…' | '✕'))
        {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}
