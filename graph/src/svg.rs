//! The picture as a self-contained SVG: it needs no script, font or other file.
//!
//! Colours are classes with a second set for dark backgrounds, so the picture follows the setting of its
//! viewer. An element under the pointer shows its whole text; a call of a function of the file links to that
//! function's frame.

use super::layout::{Layout, ROW, Rect, TITLE, layout, notes};
use super::model::{CALLS, DATA, Edge, EdgeKind, FAILURE, FLOW, Graph, Item, Kind, Node, NodeId, PALETTE};
use hashbrown::HashSet;
use std::fmt::Write;

/// Writes the picture.
pub(super) fn write(graph: &Graph) -> String {
    let layout = layout(graph);
    let (w, h) = (layout.width, layout.height);
    let mut svg = Svg { graph, layout, out: String::new() };
    let _ = writeln!(
        svg.out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ilo\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" xml:space=\"preserve\">"
    );
    svg.title();
    svg.style();
    let _ = writeln!(svg.out, "<rect class=\"ground\" width=\"{w}\" height=\"{h}\"/>");
    svg.frames();
    svg.data();
    svg.calls();
    let labels = svg.control();
    svg.nodes();
    svg.out.push_str(&labels);
    svg.out.push_str("</svg>\n");
    svg.out
}

struct Svg<'g> {
    graph: &'g Graph,
    layout: Layout,
    out: String,
}

impl Svg<'_> {
    fn title(&mut self) {
        let names: Vec<&str> = self.graph.frames.iter().take(8).map(|frame| frame.name.as_str()).collect();
        let _ = writeln!(self.out, "<title>{}</title>", escape(&names.join(", ")));
    }

    fn style(&mut self) {
        let plain = |side: usize, ground: &str, frame: &str, text: &str| {
            let [flow, failure, data, calls] = [FLOW[side], FAILURE[side], DATA[side], CALLS[side]];
            format!(
                ".ilo .ground{{fill:{ground}}}.ilo .frame{{fill:{frame};stroke:{flow}}}.ilo text{{fill:{text}}}\
                 .ilo .flow{{stroke:{flow}}}.ilo .failure{{stroke:{failure}}}.ilo .data{{stroke:{data}}}\
                 .ilo .calls{{stroke:{calls}}}.ilo .label{{stroke:{frame}}}.ilo .label.data{{fill:{data}}}\
                 .ilo .label.failure{{fill:{failure}}}.ilo .head-flow{{fill:{flow}}}\
                 .ilo .head-failure{{fill:{failure}}}.ilo .head-data{{fill:{data}}}.ilo .head-calls{{fill:{calls}}}\n"
            )
        };
        self.out.push_str(
            "<style>\n.ilo text{font:13px ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;stroke:none}\n\
             .ilo .row{font-size:12px}.ilo .note{font-size:11px;font-style:italic}.ilo .strong{font-weight:bold}\
             .ilo .name{opacity:.72}\n\
             .ilo path{fill:none;stroke-width:1.5}.ilo .failure{stroke-dasharray:5 3}.ilo path.data{stroke-width:.8}\
             .ilo .calls{stroke-width:1;stroke-dasharray:2 4}.ilo marker path{stroke:none}\n\
             .ilo .label{font-size:11px;stroke-width:4px;paint-order:stroke;stroke-linejoin:round;stroke-dasharray:none}\
             .ilo .frame{stroke-width:1;stroke-opacity:.35}.ilo .loop{fill-opacity:.25;stroke-dasharray:6 4}\n\
             .ilo .tool .shape,.ilo .undo .shape{stroke-width:2}.ilo .undo .shape{stroke-dasharray:7 3}.ilo .later .shape{stroke-dasharray:2 3}\n\
             .ilo g:hover>path.data{stroke-width:2}\n",
        );
        self.out.push_str(&plain(0, "#f6f7f9", "#ffffff", "#1c2430"));
        let mut dark = plain(1, "#0f1216", "#161a20", "#e6ebf2");
        for paint in &PALETTE {
            for (side, colours) in [paint.light, paint.dark].iter().enumerate() {
                let class = paint.class;
                let [fill, line, text] = colours;
                let rule = format!(
                    ".ilo .{class} .shape,.ilo .loop.{class}{{fill:{fill};stroke:{line}}}.ilo .{class} text{{fill:{text}}}\n"
                );
                if side == 0 { &mut self.out } else { &mut dark }.push_str(&rule);
            }
        }
        let _ = writeln!(self.out, "@media (prefers-color-scheme:dark){{\n{dark}}}\n</style>\n<defs>");
        for class in ["flow", "failure", "data", "calls"] {
            let _ = writeln!(
                self.out,
                "<marker id=\"ilo-{class}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
                 markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head-{class}\" style=\"fill-opacity:1\" d=\"M0 0.5 8 4 0 7.5z\"/></marker>"
            );
        }
        self.out.push_str("</defs>\n");
    }

    fn frames(&mut self) {
        for (number, rect) in self.layout.frames.iter().enumerate() {
            let _ = writeln!(
                self.out,
                "<rect id=\"ilo-f{number}\" class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"10\"/>",
                rect.x, rect.y, rect.w, rect.h
            );
        }
        for rect in self.layout.boxes.iter().flatten() {
            let _ = writeln!(
                self.out,
                "<rect class=\"loop {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"10\"/>",
                Kind::For.class(),
                rect.x,
                rect.y,
                rect.w,
                rect.h
            );
        }
    }

    fn path(&mut self, class: &str, points: &[(i64, i64)]) {
        let d = rounded(points);
        let _ = writeln!(self.out, "<path class=\"{class}\" marker-end=\"url(#ilo-{class})\" d=\"{d}\"/>");
    }

    /// Draws a lane from each value, and a line from the lane to each reader.
    fn data(&mut self) {
        let graph = self.graph;
        let mut seen = vec![0_i64; graph.nodes.len()];
        let mut count = vec![0_i64; graph.nodes.len()];
        let data = || graph.edges.iter().filter(|edge| edge.kind == EdgeKind::Data);
        data().for_each(|edge| count[edge.to.0] += 1);
        let mut labels = String::new();
        for edge in data() {
            let (from, to) = (self.layout.nodes[edge.from.0], self.layout.nodes[edge.to.0]);
            let Some(lane) = self.layout.lanes[edge.from.0] else { continue };
            seen[edge.to.0] += 1;
            let y = tap(&to, seen[edge.to.0], count[edge.to.0], self.layout.level[edge.to.0]);
            // A line that passes other nodes keeps a distance to the lines that end there.
            let y = if from.middle() == to.middle() { y } else { y - 3 };
            let aside = to.x > lane;
            let end = if aside { to.x } else { to.right() };
            let start = from.bottom() - 5;
            let _ = write!(self.out, "<g><title>{}</title>", escape(&edge.label));
            self.path("data", &[(from.x, start), (lane, start), (lane, y), (end, y)]);
            self.out.push_str("</g>\n");
            let (x, anchor) = if aside { (end - 11, "end") } else { (end + 11, "start") };
            let y = if self.layout.level[edge.to.0] { y + 10 } else { y - 3 };
            label(&mut labels, "data", x, y, anchor, &edge.label);
        }
        self.out.push_str(&labels);
    }

    /// Draws an edge from each call of a function of the file to that function.
    fn calls(&mut self) {
        let graph = self.graph;
        for (index, frame) in graph.frames.iter().enumerate() {
            for number in frame.nodes.clone() {
                let Some(callee) = graph.nodes[number].callee else { continue };
                let (from, to) = (self.layout.nodes[number], self.layout.nodes[graph.frames[callee].entry.0]);
                let beside = self.layout.frames[index].y == self.layout.frames[callee].y;
                let (start, end, bend) = if beside && to.x > from.right() {
                    (from.right(), to.x, from.right().midpoint(to.x))
                } else if beside && to.right() < from.x {
                    (from.x, to.right(), from.x.midpoint(to.right()))
                } else {
                    (from.right(), to.right(), from.right().max(to.right()) + 60)
                };
                // Level with the title, above incoming values.
                let (high, low) = (from.y + 10, to.y + 10);
                let _ = writeln!(
                    self.out,
                    "<path class=\"calls\" marker-end=\"url(#ilo-calls)\" d=\"M{start} {high}C{bend} {high} {bend} {low} {end} {low}\"/>",
                );
            }
        }
    }

    /// Draws control flow, and returns the names of the paths, which are drawn on top of everything.
    fn control(&mut self) -> String {
        let graph = self.graph;
        let mut firsts = Firsts::default();
        graph.frames.iter().for_each(|frame| firsts.collect(&frame.items));
        let mut labels = String::new();
        for (number, edge) in graph.edges.iter().enumerate() {
            let (class, name) = match edge.kind {
                EdgeKind::Data | EdgeKind::Back => continue,
                EdgeKind::Failure => ("failure", "failure"),
                EdgeKind::Flow | EdgeKind::Done => ("flow", "way"),
            };
            let points = self.way(number, edge, &mut firsts);
            self.path(class, &points);
            // The box of a loop states what is done for each item and what is done after.
            if let [start, next, ..] = points[..]
                && graph.nodes[edge.from.0].kind.parts()
            {
                let down = if start.1 == next.1 { -5 } else { 13 };
                label(&mut labels, name, start.0 + 6, start.1 + down, "start", &edge.label);
            }
        }
        labels
    }

    /// The corners of a path.
    fn way(&self, number: usize, edge: &Edge, firsts: &mut Firsts) -> Vec<(i64, i64)> {
        let (from, to) = (self.layout.nodes[edge.from.0], self.layout.nodes[edge.to.0]);
        let (x, y) = (to.middle(), to.y);
        if firsts.asides.contains(&(edge.from, edge.to)) {
            return vec![(from.right(), from.centre()), (to.x, to.centre())];
        }
        // The first path of a branch without a side part is straight if its main part is empty too.
        let (mut points, mut across) = match self.layout.rounds[edge.from.0] {
            Some(round)
                if !firsts.mains.remove(&(edge.from, Some(edge.to)))
                    && !firsts.mains.remove(&(edge.from, None)) =>
            {
                (vec![(from.right(), from.centre()), (round, from.centre())], round)
            }
            _ => {
                let bottom = match self.layout.boxes[edge.from.0] {
                    Some(rect) if edge.kind == EdgeKind::Done => rect.bottom(),
                    _ => from.bottom(),
                };
                (vec![(from.middle(), bottom)], from.middle())
            }
        };
        for &(turn, exit) in self.layout.exits.get(number).into_iter().flatten() {
            points.extend([(across, turn), (exit, turn)]);
            across = exit;
        }
        if across != x {
            let join = self.layout.joins[edge.to.0];
            points.extend([(across, join), (x, join)]);
        }
        points.push((x, y));
        points
    }

    fn nodes(&mut self) {
        for (node, rect) in self.graph.nodes.iter().zip(self.layout.nodes.clone()) {
            if let Some(callee) = node.callee {
                let _ = write!(self.out, "<a href=\"#ilo-f{callee}\">");
            }
            let _ = write!(
                self.out,
                "<g class=\"node {}\"><title>{}</title>",
                node.kind.class(),
                escape(&about(node))
            );
            self.shape(node, &rect);
            self.text(node, &rect);
            self.out.push_str(if node.callee.is_some() { "</g></a>\n" } else { "</g>\n" });
            if node.fails {
                self.stub(&rect);
            }
        }
    }

    fn shape(&mut self, node: &Node, rect: &Rect) {
        let Rect { x, y, w, h } = *rect;
        if node.kind.parts() {
            let (middle, point) = (rect.centre(), 16);
            let _ = write!(
                self.out,
                "<path class=\"shape\" d=\"M{x} {middle} {} {y}H{}L{} {middle} {} {}H{}z\"/>",
                x + point,
                x + w - point,
                x + w,
                x + w - point,
                y + h,
                x + point
            );
            return;
        }
        let round = if node.kind.ends() { (h / 2).min(17) } else { 5 };
        let _ = write!(
            self.out,
            "<rect class=\"shape\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{round}\"/>"
        );
        if node.kind == Kind::Own {
            let _ =
                write!(self.out, "<path class=\"shape\" d=\"M{} {y}v{h}M{} {y}v{h}\"/>", x + 5, x + w - 5);
        }
    }

    fn text(&mut self, node: &Node, rect: &Rect) {
        let rows = i64::try_from(node.rows.len()).unwrap_or(0);
        let above = i64::try_from(notes(node).count()).unwrap_or(0);
        let text = TITLE + (rows + above) * ROW;
        let mut y = rect.y + (rect.h - text) / 2;
        let left = rect.x + 14;
        for note in notes(node) {
            let _ = write!(
                self.out,
                "<text class=\"note\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                rect.middle(),
                y + 12,
                escape(note)
            );
            y += ROW;
        }
        let strong = matches!(node.kind, Kind::Entry | Kind::Tool | Kind::Own | Kind::Undo | Kind::Later);
        let _ = write!(
            self.out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\"><tspan{}>{}</tspan>",
            rect.middle(),
            y + 14,
            if strong { " class=\"strong\"" } else { "" },
            escape(&node.title)
        );
        if let Some(binds) = &node.binds {
            let _ = write!(self.out, "<tspan class=\"name\"> → </tspan><tspan>{}</tspan>", escape(binds));
        }
        self.out.push_str("</text>");
        y += TITLE;
        for row in &node.rows {
            let _ = write!(
                self.out,
                "<text class=\"row\" x=\"{left}\" y=\"{}\"><tspan class=\"name\">{}{}</tspan>{}</text>",
                y + 12,
                escape(&row.name),
                escape(row.sign),
                escape(&row.value)
            );
            y += ROW;
        }
    }

    /// Draws a failure that nothing handles and that ends the function: a short path that leads nowhere.
    fn stub(&mut self, rect: &Rect) {
        let (x, y) = (rect.right(), rect.bottom() - 11);
        let _ = writeln!(
            self.out,
            "<g><title>a failure here ends the function</title><path class=\"failure\" d=\"M{x} {y}h14\"/>\
             <path class=\"failure\" style=\"stroke-dasharray:none\" d=\"M{} {}l7 7m0 -7l-7 7\"/></g>",
            x + 14,
            y - 3
        );
    }
}

/// The first nodes of the parts of branches.
#[derive(Default)]
struct Firsts {
    /// A head and where its side begins.
    asides: HashSet<(NodeId, NodeId)>,
    /// A head with an empty side, and where its main part begins, if it is not empty too.
    mains: HashSet<(NodeId, Option<NodeId>)>,
}

impl Firsts {
    fn collect(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Step(_) => {}
                Item::Branch { head, main, side, .. } => {
                    let first = |items: &[Item]| items.first().map(super::layout::entry);
                    match side.as_deref().map(first) {
                        Some(Some(aside)) => {
                            self.asides.insert((*head, aside));
                        }
                        Some(None) => {
                            self.mains.insert((*head, first(main)));
                        }
                        None => {}
                    }
                    self.collect(main);
                    side.iter().for_each(|side| self.collect(side));
                }
                Item::Loop { body, .. } => self.collect(body),
            }
        }
    }
}

/// The position at which the n-th of several values enters, below the middle if the path enters there too.
fn tap(rect: &Rect, number: i64, count: i64, level: bool) -> i64 {
    if level {
        rect.centre() + rect.h / 2 * number / (count + 1)
    } else {
        rect.y + rect.h * number / (count + 1)
    }
}

fn about(node: &Node) -> String {
    let mut about = node.about.clone();
    for row in node.rows.iter().filter(|_| !node.kind.is_call()) {
        let _ = write!(about, "\n{}{}{}", row.name, row.sign, row.value);
    }
    about
}

fn label(out: &mut String, class: &str, x: i64, y: i64, anchor: &str, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(
            out,
            "<text class=\"label {class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>",
            escape(text)
        );
    }
}

/// A line through points at right angles, its corners rounded.
fn rounded(points: &[(i64, i64)]) -> String {
    let mut d = String::new();
    for (at, &(x, y)) in points.iter().enumerate() {
        let around = at.checked_sub(1).and_then(|before| Some((points.get(before)?, points.get(at + 1)?)));
        let Some((&before, &after)) = around else {
            let _ = write!(d, "{}{x} {y}", if at == 0 { "M" } else { "L" });
            continue;
        };
        let near = |(to_x, to_y): (i64, i64)| {
            let (along, down) = (to_x - x, to_y - y);
            (
                x + along.clamp(-6, 6).min(along.abs() / 2).max(-(along.abs() / 2)),
                y + down.clamp(-6, 6).min(down.abs() / 2).max(-(down.abs() / 2)),
            )
        };
        let ((in_x, in_y), (out_x, out_y)) = (near(before), near(after));
        let _ = write!(d, "L{in_x} {in_y}Q{x} {y} {out_x} {out_y}");
    }
    d
}

/// Text in XML, in content and in attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
