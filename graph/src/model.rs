//! A program as a neutral picture: what there is to draw, before any format.
//!
//! Nodes and edges are flat lists. [`Item`] keeps the structure of the program, which the layout follows. All
//! text here is clean and cut to length ([`super::text`]), but not escaped: each format escapes it.

use hashbrown::HashMap;
use std::ops::Range;

/// A node, as an index into [`Graph::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeId(pub(super) usize);

/// A whole file.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// The frames, one for each function, in the order of the file.
    pub(super) frames: Vec<Frame>,
    pub(super) nodes: Vec<Node>,
    /// In the order of the walk: control first, then data, function by function.
    pub(super) edges: Vec<Edge>,
}

/// A function.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) name: String,
    pub(super) entry: NodeId,
    /// The nodes of this function, which are consecutive.
    pub(super) nodes: Range<usize>,
    pub(super) items: Vec<Item>,
}

/// The structure of a block.
#[derive(Debug)]
pub(super) enum Item {
    /// A step.
    Step(NodeId),
    /// IF or MATCH: the part that continues straight on, and the side part. An empty side passes around the
    /// main part; a side that does not end the function joins what comes next.
    Branch { head: NodeId, main: Vec<Item>, side: Option<Vec<Item>>, joins: bool },
    /// FOR.
    Loop { head: NodeId, body: Vec<Item> },
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The function's head, which binds its parameters.
    Entry,
    /// A call of a tool.
    Tool,
    /// A call of a function of the file.
    Own,
    /// A call whose failure is only recorded: it undoes something.
    Undo,
    /// A registered call, which undoes something if a failure or fault follows.
    Later,
    /// A value that is computed.
    Value,
    /// `MATCH_MAP`.
    Map,
    /// IF.
    If,
    /// MATCH.
    Match,
    /// FOR.
    For,
    /// The value that a pass of a loop yields.
    Yield,
    /// The end of a pass.
    Next,
    /// BREAK.
    Break,
    /// The function ends with a value.
    Ok,
    /// The function ends with a failure.
    Err,
}

/// A node.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) title: String,
    /// The name of the slot that takes the value of a call.
    pub(super) binds: Option<String>,
    pub(super) rows: Vec<Row>,
    /// The condition under which it is evaluated, for a node in an operand that is not always evaluated.
    pub(super) guard: Option<String>,
    /// Whether a failure here ends the function.
    pub(super) fails: bool,
    /// The function of the file that is called.
    pub(super) callee: Option<usize>,
    /// The whole text, if it is longer than the lines shown.
    pub(super) about: String,
}

/// A line of a node: an argument, a field, a case.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    /// The sign between the two parts.
    pub(super) sign: &'static str,
    pub(super) value: String,
}

/// An edge.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) kind: EdgeKind,
    pub(super) label: String,
}

/// The meaning of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EdgeKind {
    /// Control flow to the next node.
    Flow,
    /// Control flow after a failure.
    Failure,
    /// The next pass of a loop.
    Back,
    /// Control flow after the last pass of a loop.
    Done,
    /// Data flow, from the binding of a value to a read of it.
    Data,
}

impl Graph {
    /// Edges from the end of each loop's body to what comes after the loop, which is drawn below it.
    pub(super) fn after_loops(&self) -> Vec<(NodeId, NodeId)> {
        let mut ends: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for edge in self.edges.iter().filter(|edge| edge.kind == EdgeKind::Back) {
            ends.entry(edge.to).or_default().push(edge.from);
        }
        let done = self.edges.iter().filter(|edge| edge.kind == EdgeKind::Done);
        done.flat_map(|edge| ends.get(&edge.from).into_iter().flatten().map(|&end| (end, edge.to))).collect()
    }
}

impl Kind {
    /// The name of its style, the same in every format.
    pub(super) fn class(self) -> &'static str {
        PALETTE.iter().find(|paint| paint.kind == self).map_or("", |paint| paint.class)
    }

    /// The line above its title, if there is one.
    pub(super) fn note(self) -> Option<&'static str> {
        match self {
            Kind::Undo => Some("rollback"),
            Kind::Later => Some("rollback on failure"),
            _ => None,
        }
    }

    /// Whether it is a call, made here or registered.
    pub(super) fn is_call(self) -> bool {
        matches!(self, Kind::Tool | Kind::Own | Kind::Undo | Kind::Later)
    }

    /// Whether it is drawn as a diamond: the paths part here.
    pub(super) fn parts(self) -> bool {
        matches!(self, Kind::If | Kind::Match)
    }

    /// Whether it is drawn with round ends: the function or the pass begins or ends here.
    pub(super) fn ends(self) -> bool {
        matches!(self, Kind::Ok | Kind::Err | Kind::Yield | Kind::Next | Kind::Break)
    }
}

/// The colours of a kind of node.
#[derive(Debug)]
pub(super) struct Paint {
    pub(super) kind: Kind,
    pub(super) class: &'static str,
    /// Fill, line and text on a light background.
    pub(super) light: [&'static str; 3],
    /// Fill, line and text on a dark background.
    pub(super) dark: [&'static str; 3],
}

const fn paint(kind: Kind, class: &'static str, light: [&'static str; 3], dark: [&'static str; 3]) -> Paint {
    Paint { kind, class, light, dark }
}

/// Every kind with its style. This is the only list of them.
#[rustfmt::skip]
pub(super) static PALETTE: [Paint; 15] = [
    paint(Kind::Entry, "entry", ["#eef1f5", "#5b6675", "#1c2430"], ["#262c35", "#8b97a8", "#e6ebf2"]),
    paint(Kind::Tool, "tool", ["#d7e8ff", "#1f63c4", "#0b2a5b"], ["#12335f", "#62a0ff", "#e3efff"]),
    paint(Kind::Own, "own", ["#eadfff", "#7a3fd1", "#35136b"], ["#38216a", "#b48cff", "#f0e8ff"]),
    paint(Kind::Undo, "undo", ["#ffe6c7", "#c46a00", "#5a3000"], ["#52330a", "#ffab40", "#fff0db"]),
    paint(Kind::Later, "later", ["#fff5e8", "#c46a00", "#5a3000"], ["#33230f", "#ffab40", "#fff0db"]),
    paint(Kind::Value, "value", ["#ffffff", "#9aa5b3", "#28313d"], ["#1b2027", "#66717f", "#d9e0e9"]),
    paint(Kind::Map, "map", ["#fff8d6", "#a88a00", "#453900"], ["#3d3610", "#d9bd3c", "#fff6cf"]),
    paint(Kind::If, "if", ["#fff8d6", "#a88a00", "#453900"], ["#3d3610", "#d9bd3c", "#fff6cf"]),
    paint(Kind::Match, "match", ["#fff8d6", "#a88a00", "#453900"], ["#3d3610", "#d9bd3c", "#fff6cf"]),
    paint(Kind::For, "for", ["#d9f3f2", "#12807c", "#073d3b"], ["#0e3f3d", "#4fc7c1", "#dcfaf8"]),
    paint(Kind::Yield, "yield", ["#d9f3f2", "#12807c", "#073d3b"], ["#0e3f3d", "#4fc7c1", "#dcfaf8"]),
    paint(Kind::Next, "next", ["#ffffff", "#12807c", "#12807c"], ["#1b2027", "#4fc7c1", "#4fc7c1"]),
    paint(Kind::Break, "break", ["#d9f3f2", "#12807c", "#073d3b"], ["#0e3f3d", "#4fc7c1", "#dcfaf8"]),
    paint(Kind::Ok, "ok", ["#d8f5df", "#1c8a3c", "#08401a"], ["#123f20", "#4fd078", "#dcffe6"]),
    paint(Kind::Err, "err", ["#ffdedd", "#c9302c", "#5f0d0b"], ["#551715", "#ff7a75", "#ffe9e8"]),
];

/// The colour of failure, light and dark.
pub(super) const FAILURE: [&str; 2] = ["#c9302c", "#ff7a75"];
/// The colour of control flow, light and dark.
pub(super) const FLOW: [&str; 2] = ["#3c4654", "#b3bdca"];
/// The colour of data flow, light and dark.
pub(super) const DATA: [&str; 2] = ["#4c86b8", "#6fa8d6"];
/// The colour of edges to functions of the file, light and dark.
pub(super) const CALLS: [&str; 2] = ["#7a3fd1", "#b48cff"];
