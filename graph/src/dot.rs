//! The picture as Graphviz text.
//!
//! Texts are in HTML-like labels, where four characters need an entity and no other has a special meaning.

use super::model::{CALLS, DATA, Edge, EdgeKind, FAILURE, FLOW, Graph, Item, Kind, Node, NodeId, PALETTE};
use std::fmt::Write;

/// Writes a directed graph.
pub(super) fn write(graph: &Graph) -> String {
    let mut out = String::from("digraph ilo {\n");
    out.push_str("  graph [compound=true, fontname=\"Helvetica\", nodesep=0.35, ranksep=0.4]\n");
    out.push_str(
        "  node [fontname=\"Helvetica\", fontsize=11, style=filled, shape=box, margin=\"0.12,0.06\"]\n",
    );
    out.push_str("  edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.7]\n");
    for (number, frame) in graph.frames.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_f{number} {{");
        let _ =
            writeln!(out, "    label=<<b>{}</b>>; style=rounded; color=\"{}\"", escape(&frame.name), FLOW[0]);
        items(graph, &frame.items, 2, &mut out);
        out.push_str("  }\n");
    }
    for edge in &graph.edges {
        connect(edge, &mut out);
    }
    for (end, after) in graph.after_loops() {
        let _ = writeln!(out, "  n{} -> n{} [style=invis, weight=4]", end.0, after.0);
    }
    for (number, node) in graph.nodes.iter().enumerate() {
        if let Some((callee, frame)) = node.callee.and_then(|index| Some((index, graph.frames.get(index)?))) {
            let _ = writeln!(
                out,
                "  n{number} -> n{} [style=dotted, color=\"{}\", lhead=cluster_f{callee}, constraint=false]",
                frame.entry.0, CALLS[0]
            );
        }
    }
    out.push_str("}\n");
    out
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
                let _ = writeln!(out, "{indent}subgraph cluster_n{} {{", head.0);
                let _ = writeln!(
                    out,
                    "{indent}  label=\"\"; style=\"rounded,dashed\"; color=\"{}\"",
                    line_of(Kind::For)
                );
                node(graph, *head, &format!("{indent}  "), out);
                items(graph, body, depth + 1, out);
                let _ = writeln!(out, "{indent}}}");
            }
        }
    }
}

fn line_of(kind: Kind) -> &'static str {
    PALETTE.iter().find(|paint| paint.kind == kind).map_or(FLOW[0], |paint| paint.light[1])
}

fn node(graph: &Graph, id: NodeId, indent: &str, out: &mut String) {
    let Some(node) = graph.nodes.get(id.0) else { return };
    let Some(paint) = PALETTE.iter().find(|paint| paint.kind == node.kind) else { return };
    let [fill, line, text] = paint.light;
    let _ = writeln!(
        out,
        "{indent}n{} [class=\"{}\", {}, fillcolor=\"{fill}\", color=\"{line}\", fontcolor=\"{text}\", label=<{}>, tooltip=\"{}\"]",
        id.0,
        paint.class,
        shape(node.kind),
        label(node),
        quoted(&node.about),
    );
}

fn shape(kind: Kind) -> &'static str {
    match kind {
        Kind::Tool => "shape=box, penwidth=2",
        Kind::Own => "shape=box, peripheries=2",
        Kind::Undo => "shape=box, penwidth=2, style=\"filled,dashed\"",
        Kind::Later => "shape=box, style=\"filled,dotted\"",
        Kind::If | Kind::Match => "shape=hexagon",
        Kind::Ok | Kind::Err | Kind::Yield | Kind::Next | Kind::Break => "style=\"filled,rounded\"",
        Kind::For => "shape=cds",
        Kind::Entry | Kind::Value | Kind::Map => "shape=box",
    }
}

fn label(node: &Node) -> String {
    let mut label = String::new();
    if let Some(note) = node.kind.note() {
        let _ = write!(label, "<i>{note}</i><br/>");
    }
    let strong = matches!(node.kind, Kind::Entry | Kind::Tool | Kind::Own | Kind::Undo | Kind::Later);
    let (open, close) = if strong { ("<b>", "</b>") } else { ("", "") };
    let _ = write!(label, "{open}{}{close}", escape(&node.title));
    if let Some(binds) = &node.binds {
        let _ = write!(label, " → {}", escape(binds));
    }
    // A break ends the line before it and sets the alignment of that line.
    for (at, row) in node.rows.iter().enumerate() {
        label.push_str(if at == 0 { "<br/>" } else { "<br align=\"left\"/>" });
        let _ = write!(label, "{}{}{}", escape(&row.name), escape(row.sign), escape(&row.value));
    }
    if !node.rows.is_empty() {
        label.push_str("<br align=\"left\"/>");
    }
    let notes = [node.guard.as_deref(), node.fails.then_some("✕ a failure ends the function")];
    for note in notes.into_iter().flatten() {
        label.push_str(if node.rows.is_empty() { "<br/>" } else { "" });
        let _ = write!(label, "<font point-size=\"9\">{}</font>", escape(note));
        label.push_str(if node.rows.is_empty() { "" } else { "<br align=\"left\"/>" });
    }
    label
}

fn connect(edge: &Edge, out: &mut String) {
    let _ = write!(out, "  n{} -> n{} [", edge.from.0, edge.to.0);
    if !edge.label.is_empty() {
        let _ = write!(out, "label=<{}>, ", escape(&edge.label));
    }
    let [data, failure, flow] = [DATA[0], FAILURE[0], FLOW[0]];
    let _ = match edge.kind {
        EdgeKind::Flow => write!(out, "color=\"{flow}\", weight=4"),
        EdgeKind::Done => write!(out, "color=\"{flow}\", constraint=false"),
        EdgeKind::Failure => write!(out, "color=\"{failure}\", fontcolor=\"{failure}\", style=dashed"),
        EdgeKind::Back => write!(out, "color=\"{flow}\", style=dotted, constraint=false"),
        EdgeKind::Data => {
            write!(
                out,
                "color=\"{data}\", fontcolor=\"{data}\", penwidth=0.6, arrowsize=0.5, constraint=false"
            )
        }
    };
    out.push_str("]\n");
}

/// Text in an HTML-like label.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// Text in a quoted string, where entities and escapes are read too.
fn quoted(text: &str) -> String {
    escape(text).replace('\\', "\\\\")
}
