//! The positions of everything in the SVG.
//!
//! Programs are structured, so the layout follows the structure instead of searching for one. A *chain* is
//! everything on one vertical axis: the steps of a block and, in a branch, the path that continues straight
//! on. A side branch is a chain of its own to the right, level with its diamond; the next branch or loop of
//! the chain waits until that has ended. A loop is a box around the chain of its body. The lanes of a chain's
//! values are to its left. Heights do not depend on widths, so three passes are enough: heights, widths, then
//! horizontal positions. Each is linear.

use super::model::{Edge, EdgeKind, Graph, Item, Kind, Node, NodeId};
use super::text::columns;

/// The vertical gap between items.
const GAP: i64 = 30;
/// The gap between a chain and its side chains.
const ASIDE: i64 = 64;
/// The gap between a main part and the path around it, in which the mark of a failure is drawn.
const ROUND: i64 = 30;
/// The distance between lanes of values.
const LANE: i64 = 9;
/// The most lanes of one chain. Further values share them.
const LANES: usize = 16;
/// The padding of boxes.
const PAD: i64 = 16;
/// The gap between frames.
const FRAMES: i64 = 28;
/// The height above the next step at which paths join, and below the last one at which they turn.
const JOIN: i64 = 13;
/// The height of a node's title, and of its other lines.
pub(super) const TITLE: i64 = 18;
pub(super) const ROW: i64 = 16;
/// The padding above a node's title and below its last line.
pub(super) const INSET: i64 = 8;
/// The distance between values that enter a node.
const TAP: i64 = 14;

/// The width of text in a fixed-width font in pixels: each column is 0.6 of the size, with some reserve for
/// fonts that differ.
pub(super) fn width(text: &str, size: i64) -> i64 {
    i64::try_from(columns(text)).unwrap_or(0) * size * 61 / 100 + 1
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rect {
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) w: i64,
    pub(super) h: i64,
}

impl Rect {
    pub(super) fn middle(&self) -> i64 {
        self.x + self.w / 2
    }

    pub(super) fn centre(&self) -> i64 {
        self.y + self.h / 2
    }

    pub(super) fn right(&self) -> i64 {
        self.x + self.w
    }

    pub(super) fn bottom(&self) -> i64 {
        self.y + self.h
    }
}

/// The positions of everything.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// By node.
    pub(super) nodes: Vec<Rect>,
    /// By node: the box of a loop.
    pub(super) boxes: Vec<Option<Rect>>,
    /// By node: where an empty side of a branch passes around its main part.
    pub(super) rounds: Vec<Option<i64>>,
    /// By node: the height at which paths to it join.
    pub(super) joins: Vec<i64>,
    /// By edge: how a path out of a side passes around the main part, if that has a side chain too: the
    /// height at which it turns, and where it leads.
    pub(super) exits: Vec<Vec<(i64, i64)>>,
    /// By node: the lane of its value.
    pub(super) lanes: Vec<Option<i64>>,
    /// By node: whether the path enters from the left.
    pub(super) level: Vec<bool>,
    /// By function.
    pub(super) frames: Vec<Rect>,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// Computes the positions of a whole picture.
pub(super) fn layout(graph: &Graph) -> Layout {
    let count = graph.nodes.len();
    let mut work = Work {
        out: Layout {
            nodes: vec![Rect::default(); count],
            boxes: vec![None; count],
            rounds: vec![None; count],
            joins: vec![0; count],
            exits: Vec::with_capacity(graph.edges.len()),
            lanes: vec![None; count],
            level: vec![false; count],
            ..Layout::default()
        },
        chain_of: vec![0; count],
        aside: vec![None; count],
        chains: Vec::new(),
    };
    graph.frames.iter().for_each(|frame| work.levels(&frame.items));
    work.sizes(graph);
    let roots: Vec<(usize, i64)> = graph
        .frames
        .iter()
        .map(|frame| {
            let root = work.chain(None);
            let (end, aside) = work.down(&frame.items, root, PAD, PAD);
            (root, end.max(aside) - GAP + PAD)
        })
        .collect();
    work.lanes(graph);
    for edge in &graph.edges {
        work.climb(edge, |chain| chain.leaves = true);
    }
    for (frame, &(root, _)) in graph.frames.iter().zip(&roots) {
        work.out(&frame.items, root);
    }
    work.frames(graph, &roots);
    for edge in &graph.edges {
        let mut exits = Vec::new();
        work.climb(edge, |chain| exits.extend(chain.exit.map(|exit| (chain.bottom + JOIN, exit))));
        work.out.exits.push(exits);
    }
    work.out
}

/// The items on one axis. Widths are measured from the axis.
#[derive(Debug, Default)]
struct Chain {
    /// Half of the widest node.
    half: i64,
    left: i64,
    right: i64,
    /// The widest name of an incoming value.
    names: i64,
    /// The lowest occupied position of each lane.
    lanes: Vec<i64>,
    /// The distance from the axis to the first lane.
    inner: i64,
    axis: i64,
    /// The chain that this one is beside or inside.
    parent: usize,
    depth: usize,
    /// Whether a path leads out of its end.
    leaves: bool,
    /// Where that path passes around the main part, measured from the axis of the parent.
    exit: Option<i64>,
    bottom: i64,
}

struct Work {
    out: Layout,
    /// By node.
    chain_of: Vec<usize>,
    /// By head: the chain of a branch's side or of a loop's body.
    aside: Vec<Option<usize>>,
    chains: Vec<Chain>,
}

impl Work {
    fn chain(&mut self, parent: Option<usize>) -> usize {
        let depth = parent.map_or(0, |parent| self.chains[parent].depth + 1);
        let number = self.chains.len();
        self.chains.push(Chain { parent: parent.unwrap_or(number), depth, ..Chain::default() });
        number
    }

    /// Visits the chains whose ends have a path out.
    fn climb(&mut self, edge: &Edge, mut each: impl FnMut(&mut Chain)) {
        if matches!(edge.kind, EdgeKind::Data | EdgeKind::Back) {
            return;
        }
        // Paths into and out of a loop begin and end at its box.
        let outside = |node: NodeId, outside: bool| {
            let chain = self.chain_of[node.0];
            if outside { self.chains[chain].parent } else { chain }
        };
        let mut chain = outside(edge.from, edge.kind == EdgeKind::Done);
        let depth = self.chains[outside(edge.to, self.out.boxes[edge.to.0].is_some())].depth;
        while self.chains[chain].depth > depth {
            each(&mut self.chains[chain]);
            chain = self.chains[chain].parent;
        }
    }

    /// Finds where paths enter from the left.
    fn levels(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Step(_) => {}
                Item::Branch { main, side, .. } => {
                    let side = side.as_deref().unwrap_or_default();
                    side.first().iter().for_each(|first| self.out.level[entry(first).0] = true);
                    self.levels(main);
                    self.levels(side);
                }
                Item::Loop { body, .. } => self.levels(body),
            }
        }
    }

    fn sizes(&mut self, graph: &Graph) {
        let mut taps = vec![0_i64; graph.nodes.len()];
        for edge in graph.edges.iter().filter(|edge| edge.kind == EdgeKind::Data) {
            taps[edge.to.0] += 1;
        }
        let sizes = self.out.nodes.iter_mut().zip(&graph.nodes).zip(taps).zip(&self.out.level);
        for (((rect, node), taps), &level) in sizes {
            *rect = size(node);
            // Values enter on the left, below the path if that enters there too.
            let sides = if level { 2 } else { 1 };
            if taps > 1 {
                rect.h = rect.h.max((taps + 1) * TAP * sides);
            }
        }
    }

    /// Positions a chain's part from `y` down, with no side branch above `floor`. Returns where both end.
    fn down(&mut self, items: &[Item], chain: usize, mut y: i64, mut floor: i64) -> (i64, i64) {
        for item in items {
            match item {
                Item::Step(id) => y = self.stack(*id, chain, y),
                Item::Branch { head, main, side, joins } => {
                    y = y.max(floor);
                    let half = self.out.nodes[head.0].h / 2;
                    if let Some(first) = side.as_deref().and_then(|side| side.first()) {
                        let over = self.over_entry(first);
                        // If the side begins higher than its diamond, it is the lowest part after the last
                        // step.
                        y = y.max(floor + over - half).max(y + over - half);
                        let top = y + half - over;
                        self.out.joins[head.0] = top.min(y) - JOIN;
                        let aside = self.chain(Some(chain));
                        self.aside[head.0] = Some(aside);
                        let (end, inner) = self.down(side.as_deref().unwrap_or_default(), aside, top, top);
                        floor = end.max(inner);
                        self.chains[aside].bottom = floor - GAP;
                    }
                    y = self.stack(*head, chain, y);
                    (y, floor) = self.down(main, chain, y, floor);
                    if *joins {
                        y = y.max(floor);
                    }
                }
                Item::Loop { head, body } => {
                    let top = y.max(floor);
                    let inner = self.chain(Some(chain));
                    self.aside[head.0] = Some(inner);
                    let below = self.stack(*head, inner, top + PAD);
                    self.out.joins[head.0] = top - JOIN;
                    let (end, aside) = self.down(body, inner, below, below);
                    let bottom = end.max(aside) - GAP + PAD;
                    self.out.boxes[head.0] = Some(Rect { x: 0, y: top, w: 0, h: bottom - top });
                    y = bottom + GAP;
                    floor = y;
                }
            }
        }
        (y, floor)
    }

    fn stack(&mut self, id: NodeId, chain: usize, y: i64) -> i64 {
        let rect = &mut self.out.nodes[id.0];
        rect.y = y;
        if self.out.joins[id.0] == 0 {
            self.out.joins[id.0] = y - JOIN;
        }
        let (w, h) = (rect.w, rect.h);
        self.chain_of[id.0] = chain;
        self.chains[chain].half = self.chains[chain].half.max(w / 2);
        y + h + GAP
    }

    /// The distance from the top of an item to the middle of its first node.
    fn over_entry(&self, item: &Item) -> i64 {
        let half = self.out.nodes[entry(item).0].h / 2;
        match item {
            Item::Step(_) => half,
            Item::Loop { .. } => PAD + half,
            Item::Branch { side, .. } => {
                let first = side.as_deref().and_then(|side| side.first());
                half.max(first.map_or(0, |first| self.over_entry(first)))
            }
        }
    }

    /// Gives each value that is read a lane beside its chain, from its binding to its last read.
    fn lanes(&mut self, graph: &Graph) {
        let mut spans: Vec<Option<(i64, i64)>> = vec![None; graph.nodes.len()];
        for edge in graph.edges.iter().filter(|edge| edge.kind == EdgeKind::Data) {
            let names = &mut self.chains[self.chain_of[edge.to.0]].names;
            *names = (*names).max(width(&edge.label, 11) + 20);
            let (from, to) = (self.out.nodes[edge.from.0].centre(), self.out.nodes[edge.to.0].bottom());
            let span = spans[edge.from.0].get_or_insert((from, from));
            *span = (span.0.min(to), span.1.max(to));
        }
        // Nodes are numbered down the chain, so the free lanes are those that ended above.
        for (number, span) in spans.into_iter().enumerate() {
            let Some((start, end)) = span else { continue };
            let lanes = &mut self.chains[self.chain_of[number]].lanes;
            let free = lanes.iter().position(|&taken| taken < start);
            let lane = match free {
                Some(lane) => lane,
                None if lanes.len() < LANES => {
                    lanes.push(end);
                    lanes.len() - 1
                }
                None => number % LANES,
            };
            lanes[lane] = lanes[lane].max(end);
            self.out.lanes[number] = i64::try_from(lane).ok();
        }
    }

    /// Finds how far a chain extends to either side of its axis.
    fn out(&mut self, items: &[Item], chain: usize) {
        let (left, right) = self.reach(items, chain);
        let chain = &mut self.chains[chain];
        chain.inner = left.max(chain.half + chain.names.max(10));
        chain.left = chain.inner + i64::try_from(chain.lanes.len()).unwrap_or(0) * LANE;
        chain.right = right.max(chain.half + ASIDE / 2);
    }

    fn reach(&mut self, items: &[Item], chain: usize) -> (i64, i64) {
        let half = self.chains[chain].half;
        let (mut left, mut right) = (half, half);
        for item in items {
            match item {
                Item::Step(_) => {}
                Item::Branch { head, main, side, .. } => {
                    let (main_left, main_right) = self.reach(main, chain);
                    left = left.max(main_left);
                    right = right.max(main_right);
                    if let (Some(aside), Some(side)) = (self.aside[head.0], side) {
                        self.out(side, aside);
                        let Chain { left, right: beyond, .. } = self.chains[aside];
                        let beyond = half + ASIDE + left + beyond;
                        right = right.max(beyond);
                        if self.chains[aside].leaves && main_right > half {
                            let exit = beyond.max(main_right) + ROUND;
                            self.chains[aside].exit = Some(exit);
                            right = right.max(exit);
                        }
                    } else if side.is_some() {
                        let round = main_right + ROUND;
                        self.out.rounds[head.0] = Some(round);
                        right = right.max(round);
                    }
                }
                Item::Loop { head, body } => {
                    let Some(inner) = self.aside[head.0] else { continue };
                    self.out(body, inner);
                    left = left.max(self.chains[inner].left + PAD);
                    right = right.max(self.chains[inner].right + PAD);
                }
            }
        }
        (left, right)
    }

    /// Arranges frames in rows, so that the whole is about as wide as it is high.
    fn frames(&mut self, graph: &Graph, roots: &[(usize, i64)]) {
        let span = |work: &Work, root: usize| work.chains[root].left + work.chains[root].right + 2 * PAD;
        let area: i64 = roots.iter().map(|&(root, height)| span(self, root).saturating_mul(height)).sum();
        let widest = area.max(0).isqrt().max(1_200);
        let (mut x, mut y, mut row) = (FRAMES, FRAMES, 0);
        for (frame, &(root, height)) in graph.frames.iter().zip(roots) {
            let w = span(self, root);
            if x > FRAMES && x + w > widest {
                (x, y, row) = (FRAMES, y + row + FRAMES, 0);
            }
            self.out.frames.push(Rect { x, y, w, h: height });
            let axis = x + PAD + self.chains[root].left;
            self.across(&frame.items, root, axis, y);
            self.out.width = self.out.width.max(x + w + FRAMES);
            x += w + FRAMES;
            row = row.max(height);
        }
        self.out.height = y + row + FRAMES;
        for (number, lane) in self.out.lanes.iter_mut().enumerate() {
            let chain = &self.chains[self.chain_of[number]];
            *lane = lane.map(|lane| chain.axis - chain.inner - (lane + 1) * LANE);
        }
    }

    /// Positions a chain's part horizontally.
    fn across(&mut self, items: &[Item], chain: usize, axis: i64, down: i64) {
        self.chains[chain].axis = axis;
        for item in items {
            let head = entry(item);
            let rect = &mut self.out.nodes[head.0];
            rect.x = axis - rect.w / 2;
            rect.y += down;
            self.out.joins[head.0] += down;
            match item {
                Item::Step(_) => {}
                Item::Branch { main, side, .. } => {
                    self.across(main, chain, axis, down);
                    if let Some(round) = &mut self.out.rounds[head.0] {
                        *round += axis;
                    }
                    if let (Some(aside), Some(side)) = (self.aside[head.0], side) {
                        let beside = &mut self.chains[aside];
                        beside.exit = beside.exit.map(|exit| exit + axis);
                        beside.bottom += down;
                        let axis = axis + self.chains[chain].half + ASIDE + self.chains[aside].left;
                        self.across(side, aside, axis, down);
                    }
                }
                Item::Loop { body, .. } => {
                    let Some(inner) = self.aside[head.0] else { continue };
                    let Chain { left, right, .. } = self.chains[inner];
                    if let Some(rect) = &mut self.out.boxes[head.0] {
                        rect.x = axis - left - PAD;
                        rect.y += down;
                        rect.w = left + right + 2 * PAD;
                    }
                    self.across(body, inner, axis, down);
                }
            }
        }
    }
}

/// The node where an item begins.
pub(super) fn entry(item: &Item) -> NodeId {
    match item {
        Item::Step(id) | Item::Branch { head: id, .. } | Item::Loop { head: id, .. } => *id,
    }
}

/// The size of a node: its text and the padding.
fn size(node: &Node) -> Rect {
    let mut w = width(&node.title, 13);
    if let Some(binds) = &node.binds {
        w += width(binds, 13) + width(" → ", 13);
    }
    for row in &node.rows {
        w = w.max(width(&row.name, 12) + width(row.sign, 12) + width(&row.value, 12));
    }
    let rows = i64::try_from(node.rows.len()).unwrap_or(0);
    let mut h = TITLE + rows * ROW + 2 * INSET;
    for note in notes(node) {
        w = w.max(width(note, 11));
        h += ROW;
    }
    let around = if node.kind.parts() { 44 } else { 28 };
    Rect {
        x: 0,
        y: 0,
        w: (w + around).max(if matches!(node.kind, Kind::Next | Kind::Break) { 60 } else { 110 }),
        h,
    }
}

/// The lines above a node's title.
pub(super) fn notes(node: &Node) -> impl Iterator<Item = &str> {
    let kind = match node.kind {
        Kind::Undo => Some("↶ rollback"),
        Kind::Later => Some("↶ rollback on failure"),
        _ => None,
    };
    kind.into_iter().chain(node.guard.as_deref())
}
