//! Completes a drawing, when it is known which failures are handled, which calls are rollbacks, and what
//! reads each value.

use super::expression_nodes::{Read, Steps};
use super::flow::Def;
use super::model::{Edge, EdgeKind, Graph, Kind, NodeId};
use super::text::{LINE, clean};
use hashbrown::{HashMap, HashSet};

/// Names shown on one edge of data.
const LABELS: usize = 3;

/// Removes the mark of failure from calls of functions that cannot fail.
pub(super) fn harmless(graph: &mut Graph) {
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); graph.frames.len()];
    let mut failing = vec![false; graph.frames.len()];
    let mut open = Vec::new();
    for (index, frame) in graph.frames.iter().enumerate() {
        for node in &graph.nodes[frame.nodes.clone()] {
            match node.callee {
                Some(callee) if node.fails => callers[callee].push(index),
                _ if node.fails || node.kind == Kind::Err => open.push(index),
                _ => {}
            }
        }
    }
    while let Some(index) = open.pop() {
        if !std::mem::replace(&mut failing[index], true) {
            open.append(&mut callers[index]);
        }
    }
    for node in &mut graph.nodes {
        node.fails &= node.callee.is_none_or(|callee| failing[callee]);
    }
}

/// Removes the mark of failure from calls with a MATCH, turns the candidates that nothing reads into
/// rollbacks, and draws which node reads which value. The function's first node is `first`.
pub(super) fn settle(steps: &mut Steps<'_, '_>, matched: &[Def], candidates: Vec<NodeId>, first: usize) {
    let nodes = &mut steps.graph.nodes;
    steps.flow.reached(matched.iter().copied(), |node| {
        if matches!(nodes[node.0].kind, Kind::Tool | Kind::Own) {
            nodes[node.0].fails = false;
        }
    });
    let mut used: HashSet<NodeId> = HashSet::new();
    let read = steps.reads.iter().map(|(_, read)| read.def).chain(matched.iter().copied());
    steps.flow.reached(read, |node| {
        used.insert(node);
    });
    for node in candidates {
        if !used.contains(&node) {
            steps.undo(node);
            steps.graph.nodes[node.0].binds = None;
        }
    }
    data(steps, first);
}

/// Merges the data edges between two nodes into one.
fn data(steps: &mut Steps<'_, '_>, first: usize) {
    let mut at: HashMap<(NodeId, NodeId), usize> = HashMap::new();
    let mut edges: Vec<(Edge, Vec<String>)> = Vec::new();
    for (to, Read { def, label }) in std::mem::take(&mut steps.reads) {
        for from in steps.flow.origins(def) {
            debug_assert!(from.0 >= first, "a value never comes from another function");
            if from == to {
                continue;
            }
            let index = *at.entry((from, to)).or_insert(edges.len());
            if index == edges.len() {
                let label = String::new();
                edges.push((Edge { from, to, kind: EdgeKind::Data, label }, Vec::new()));
            }
            let labels = &mut edges[index].1;
            if labels.len() <= LABELS && !labels.contains(&label) {
                labels.push(label.clone());
            }
        }
    }
    for (mut edge, mut labels) in edges {
        if labels.len() > LABELS {
            labels.truncate(LABELS);
            labels.push("…".to_owned());
        }
        edge.label = clean(&labels.join(", "), LINE);
        steps.graph.edges.push(edge);
    }
}
