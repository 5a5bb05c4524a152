//! The one walk from the syntax tree to the picture.
//!
//! It follows a function in the order of the source, keeps the ways that are open at each point, and hands bindings to
//! [`super::flow`]. It says what a program will do and judges nothing: a faulty tree gives a picture all the same.

use super::flow::{Changes, Def, Flow};
use super::model::{Edge, EdgeKind, Frame, Graph, Item, Kind, Node, NodeId, Row};
use super::names::Ahead;
use super::text::{ABOUT, LINE, Line, clean, literal};
use crate::ast::{
    Binary, Block, Bound, Call, Control, Expr, ExprKind, Field, File, For, Function, If, Literal, Match,
    MatchMap, ReturnKind, Slot, Stmt, StmtKind,
};
use hashbrown::{HashMap, HashSet};
use ilo_spec::types::Type;

/// Rows shown in a node; the rest are counted.
const ROWS: usize = 12;
/// Names shown on one edge of data.
const LABELS: usize = 3;

/// Draws every function of a file.
pub(super) fn graph(file: &File<'_>) -> Graph {
    let mut functions = HashMap::new();
    for (index, function) in file.functions.iter().enumerate() {
        functions.entry(function.name.text).or_insert(index);
    }
    let mut graph = Graph::default();
    for function in file.functions {
        let mut walk = Walk::new(&mut graph, &functions, function);
        walk.function(function);
    }
    harmless(&mut graph);
    graph
}

/// Takes the mark of failure from calls of functions that cannot fail.
fn harmless(graph: &mut Graph) {
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

/// A way that leads to whatever comes next.
#[derive(Clone, Copy)]
struct Exit {
    from: NodeId,
    kind: EdgeKind,
    label: &'static str,
}

/// What becomes of a block's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    Drop,
    Return,
    Yield,
    Bind(Slot),
}

/// Why an operand may not be evaluated.
#[derive(Clone, Copy)]
enum Guard<'a> {
    And(&'a Expr<'a>),
    Or(&'a Expr<'a>),
    Case(Literal<'a>),
    Default,
}

/// A reading: what is read, and the name of it.
struct Read {
    def: Def,
    label: String,
}

struct Walk<'g, 'a> {
    graph: &'g mut Graph,
    functions: &'g HashMap<&'a str, usize>,
    ahead: Ahead,
    flow: Flow,
    result: bool,
    items: Vec<Item>,
    open: Vec<Exit>,
    guards: Vec<Guard<'a>>,
    reads: Vec<(NodeId, Read)>,
    /// What a MATCH takes apart.
    matched: Vec<Def>,
    /// Calls that are rollbacks unless something reads them.
    candidates: Vec<NodeId>,
}

impl<'g, 'a> Walk<'g, 'a> {
    fn new(
        graph: &'g mut Graph,
        functions: &'g HashMap<&'a str, usize>,
        function: &Function<'a>,
    ) -> Walk<'g, 'a> {
        Walk {
            graph,
            functions,
            ahead: Ahead::of(function),
            flow: Flow::new(function.slots.len()),
            result: function.output.err.is_some(),
            items: Vec::new(),
            open: Vec::new(),
            guards: Vec::new(),
            reads: Vec::new(),
            matched: Vec::new(),
            candidates: Vec::new(),
        }
    }

    fn function(&mut self, function: &Function<'a>) {
        let first = self.graph.nodes.len();
        let entry = self.entry(function);
        let def = self.flow.node(entry);
        for slot in (0..).take(function.parameters.len()) {
            self.flow.bind(Slot(slot), Some(def));
        }
        let drops = function.output.ok.ty == Type::NIL;
        self.block(&function.body, if drops { Tail::Drop } else { Tail::Return });
        if !self.open.is_empty() {
            let title = match (self.result, drops) {
                (true, true) => "ok nil",
                (false, true) => "return nil",
                _ => "end",
            };
            self.step(Kind::Ok, title.to_owned());
        }
        self.settle(first);
        let nodes = first..self.graph.nodes.len();
        let items = std::mem::take(&mut self.items);
        let name = clean(function.name.text, LINE);
        self.graph.frames.push(Frame { name, entry, nodes, items });
    }

    fn entry(&mut self, function: &Function<'a>) -> NodeId {
        let output = function.output;
        let ty = |ty: &crate::ast::TypeName<'_>| "list ".repeat(usize::from(ty.ty.lists)) + ty.name;
        let mut gives = ty(&output.ok);
        if let Some(err) = &output.err {
            gives = format!("result {gives}, {}", ty(err));
        }
        let entry = self.step(Kind::Entry, clean(function.name.text, LINE));
        let rows = function.parameters.iter().map(|parameter| Row {
            name: clean(parameter.name.text, LINE / 2),
            sign: ": ",
            value: clean(&ty(&parameter.ty), LINE / 2),
        });
        let mut rows = capped(rows, function.parameters.len());
        rows.push(Row { name: String::new(), sign: "→ ", value: clean(&gives, LINE) });
        self.graph.nodes[entry.0].rows = rows;
        entry
    }

    /// A node that the open ways lead to, and that the way goes on from.
    fn node(&mut self, kind: Kind, title: String) -> NodeId {
        let id = NodeId(self.graph.nodes.len());
        for exit in std::mem::take(&mut self.open) {
            self.edge(exit, id);
        }
        let guard = self.guard();
        self.graph.nodes.push(Node {
            kind,
            about: title.clone(),
            title,
            binds: None,
            rows: Vec::new(),
            guard,
            fails: false,
            callee: None,
        });
        self.open.push(Exit { from: id, kind: EdgeKind::Flow, label: "" });
        id
    }

    fn step(&mut self, kind: Kind, title: String) -> NodeId {
        let id = self.node(kind, title);
        self.items.push(Item::Step(id));
        id
    }

    fn edge(&mut self, exit: Exit, to: NodeId) {
        let label = exit.label.to_owned();
        self.graph.edges.push(Edge { from: exit.from, to, kind: exit.kind, label });
    }

    /// When a node happens at all.
    fn guard(&self) -> Option<String> {
        let guard = self.guards.last()?;
        let mut line = Line::new(LINE);
        match guard {
            Guard::And(first) => {
                line.push("only if ");
                self.ahead.names.expr(&mut line, first, 0);
            }
            Guard::Or(first) => {
                line.push("unless ");
                self.ahead.names.expr(&mut line, first, 0);
            }
            Guard::Case(key) => {
                line.push("only in case ");
                literal(&mut line, *key);
            }
            Guard::Default => line.push("only in no other case"),
        }
        Some(line.done())
    }

    fn reads(&mut self, node: NodeId, reads: Vec<Read>) {
        self.reads.extend(reads.into_iter().map(|read| (node, read)));
    }

    /// Makes the nodes of an expression's calls and maps, and gives what the whole of it reads.
    fn operands(&mut self, expr: &Expr<'a>, reads: &mut Vec<Read>) {
        if let Some((slot, label)) = self.ahead.names.path(expr) {
            reads.extend(self.flow.of(slot).map(|def| Read { def, label }));
            return;
        }
        match expr.kind {
            ExprKind::Call(call) => {
                let node = self.call(call, None);
                let (def, label) = (self.flow.node(node), clean(call.tool.text, LINE / 2));
                reads.push(Read { def, label });
            }
            ExprKind::MatchMap(map) => {
                let node = self.map(map, None);
                let (def, label) = (self.flow.node(node), "match".to_owned());
                reads.push(Read { def, label });
            }
            ExprKind::Binary(operator @ (Binary::And | Binary::Or), a, b) => {
                self.operands(a, reads);
                self.guarded(if operator == Binary::And { Guard::And(a) } else { Guard::Or(a) }, b, reads);
            }
            _ => expr.children(|child| self.operands(child, reads)),
        }
    }

    fn guarded(&mut self, guard: Guard<'a>, expr: &Expr<'a>, reads: &mut Vec<Read>) {
        self.guards.push(guard);
        self.operands(expr, reads);
        self.guards.pop();
    }

    fn call(&mut self, call: &Call<'a>, bound: Option<Slot>) -> NodeId {
        let mut reads = Vec::new();
        call.arguments.iter().for_each(|argument| self.operands(&argument.value, &mut reads));
        let callee = self.functions.get(call.tool.text).copied();
        let kind = if callee.is_some() { Kind::Own } else { Kind::Tool };
        let id = self.step(kind, clean(call.tool.text, LINE));
        let rows = self.rows(call.arguments, " = ");
        let mut about = Line::new(ABOUT);
        if let Some(slot) = bound {
            about.push(self.ahead.names.slot(slot));
            about.push(" = ");
        }
        about.push(call.tool.text);
        self.list(&mut about, call.arguments);
        let node = &mut self.graph.nodes[id.0];
        node.callee = callee;
        node.rows = rows;
        node.about = about.done();
        node.binds = bound.map(|slot| self.ahead.names.slot(slot).to_owned());
        node.fails = true;
        self.reads(id, reads);
        id
    }

    /// Named values in brackets.
    fn list(&self, line: &mut Line, fields: &[Field<'a>]) {
        for (at, field) in fields.iter().enumerate() {
            line.push(if at == 0 { "(" } else { ", " });
            line.push(field.name.text);
            line.push(" = ");
            self.ahead.names.expr(line, &field.value, 0);
        }
        line.push(if fields.is_empty() { "()" } else { ")" });
    }

    fn rows(&self, fields: &[Field<'a>], sign: &'static str) -> Vec<Row> {
        let rows = fields.iter().map(|field| {
            let name = clean(field.name.text, LINE / 2);
            let room = LINE - name.chars().count() - sign.len();
            Row { name, sign, value: self.ahead.names.text(&field.value, room) }
        });
        capped(rows, fields.len())
    }

    fn map(&mut self, map: &'a MatchMap<'a>, bound: Option<Slot>) -> NodeId {
        let mut reads = Vec::new();
        self.operands(&map.subject, &mut reads);
        for case in map.cases {
            self.guarded(Guard::Case(case.key), &case.value, &mut reads);
        }
        if let Some(default) = &map.default {
            self.guarded(Guard::Default, default, &mut reads);
        }
        let names = &self.ahead.names;
        let subject = format!("match {}", names.text(&map.subject, LINE - 6));
        let row = |key: String, value: &Expr<'_>| {
            let room = LINE - key.chars().count() - 3;
            Row { name: key, sign: " → ", value: names.text(value, room) }
        };
        let cases = map.cases.iter().map(|case| {
            let mut key = Line::new(LINE / 2);
            literal(&mut key, case.key);
            row(key.done(), &case.value)
        });
        let all = cases.chain(map.default.iter().map(|default| row("else".to_owned(), default)));
        let rows = capped(all, map.cases.len() + usize::from(map.default.is_some()));
        let binds = bound.map(|slot| names.slot(slot).to_owned());
        let id = self.step(Kind::Map, subject);
        self.graph.nodes[id.0].rows = rows;
        self.graph.nodes[id.0].binds = binds;
        self.reads(id, reads);
        id
    }

    /// A node that shows an expression behind a word; a record shows its fields as rows.
    fn shows(&mut self, kind: Kind, word: &str, expr: &Expr<'a>) -> NodeId {
        let mut reads = Vec::new();
        self.operands(expr, &mut reads);
        let write = |room: usize| {
            let mut line = Line::new(room);
            line.push(word);
            self.ahead.names.expr(&mut line, expr, 0);
            line.done()
        };
        let about = write(ABOUT);
        let (title, rows) = match expr.kind {
            ExprKind::Record(fields) if !fields.is_empty() => {
                (format!("{word}record"), self.rows(fields, ": "))
            }
            ExprKind::Merge(base, fields) if !fields.is_empty() => {
                let base = self.ahead.names.text(base, LINE / 2);
                (format!("{word}{base} with"), self.rows(fields, ": "))
            }
            _ => (write(LINE), Vec::new()),
        };
        let id = self.step(kind, title);
        self.graph.nodes[id.0].rows = rows;
        self.graph.nodes[id.0].about = about;
        self.reads(id, reads);
        id
    }

    fn ends(&mut self, kind: Kind, word: &str, expr: &Expr<'a>) {
        self.shows(kind, word, expr);
        self.open.clear();
    }

    /// Binds a slot to an expression.
    fn binds(&mut self, slot: Slot, expr: &Expr<'a>) -> NodeId {
        let node = match expr.kind {
            ExprKind::Call(call) => self.call(call, Some(slot)),
            ExprKind::MatchMap(map) => self.map(map, Some(slot)),
            _ => {
                let word = format!("{} = ", self.ahead.names.slot(slot));
                self.shows(Kind::Value, &word, expr)
            }
        };
        let def = self.flow.node(node);
        self.flow.bind(slot, Some(def));
        node
    }

    fn block(&mut self, block: &Block<'a>, tail: Tail) {
        self.statements(block, tail, false);
    }

    /// A block; in one that rolls back, a call that nothing reads is a compensation when the block ends in `RET_ERR`.
    fn statements(&mut self, block: &Block<'a>, tail: Tail, rolls_back: bool) {
        let last = block.statements.len().saturating_sub(1);
        let ends_in_err = block
            .statements
            .last()
            .is_some_and(|last| matches!(last.kind, StmtKind::Return(ReturnKind::Err, _)));
        for (at, statement) in block.statements.iter().enumerate() {
            let before = self.graph.nodes.len();
            self.statement(statement, if at == last { tail } else { Tail::Drop });
            let call = match statement.kind {
                StmtKind::Value(value) | StmtKind::Let { value: Bound::Expr(value), .. } => value.kind,
                _ => continue,
            };
            let made = self.graph.nodes.len();
            if rolls_back && ends_in_err && made > before && matches!(call, ExprKind::Call(_)) {
                self.candidates.push(NodeId(made - 1));
            }
        }
    }

    fn statement(&mut self, statement: &Stmt<'a>, tail: Tail) {
        match statement.kind {
            StmtKind::Let { slot, value: Bound::Expr(value), .. } => {
                self.binds(slot, &value);
            }
            StmtKind::Let { slot, value: Bound::Control(control), .. } => {
                self.control(&control, Tail::Bind(slot));
            }
            StmtKind::Value(value) => self.value(&value, tail),
            StmtKind::Return(kind, value) => match kind {
                ReturnKind::Plain => self.ends(Kind::Ok, "return ", &value),
                ReturnKind::Ok => self.ends(Kind::Ok, "ok ", &value),
                ReturnKind::Err => self.ends(Kind::Err, "err ", &value),
            },
            StmtKind::Fail(value) => self.ends(Kind::Err, "fail ", &value),
            StmtKind::Undo(call) => {
                let node = self.call(call, None);
                self.undo(node);
            }
            StmtKind::Control(control) => self.control(&control, tail),
        }
    }

    fn undo(&mut self, node: NodeId) {
        self.graph.nodes[node.0].kind = Kind::Undo;
        self.graph.nodes[node.0].fails = false;
    }

    fn value(&mut self, value: &Expr<'a>, tail: Tail) {
        match (tail, value.kind) {
            (Tail::Bind(slot), _) => {
                self.binds(slot, value);
            }
            (Tail::Return, _) => self.ends(Kind::Ok, if self.result { "ok " } else { "return " }, value),
            (Tail::Yield, _) => {
                self.shows(Kind::Yield, "yield ", value);
            }
            (Tail::Drop, ExprKind::Call(call)) => {
                self.call(call, None);
            }
            (Tail::Drop, _) => {
                self.shows(Kind::Value, "", value);
            }
        }
    }

    fn control(&mut self, control: &Control<'a>, tail: Tail) {
        match control {
            Control::If(node) => self.branch_if(node, tail),
            Control::Match(node) => self.branch_match(node, tail),
            Control::For(node) => self.each(node, tail),
        }
    }

    /// Walks one way out of a branch.
    fn way(&mut self, exit: Exit, inner: impl FnOnce(&mut Self)) -> Way {
        let items = std::mem::take(&mut self.items);
        let (mark, first) = (self.flow.mark(), self.graph.nodes.len());
        self.open = vec![exit];
        inner(self);
        let open = std::mem::take(&mut self.open);
        let changes = self.flow.leave(mark, !open.is_empty());
        let size = self.graph.nodes.len() - first;
        Way { items: std::mem::replace(&mut self.items, items), open, changes, size }
    }

    /// Goes on after a branch whose first way is drawn straight on.
    fn join(&mut self, head: NodeId, mut main: Way, side: Option<Way>) {
        self.open = std::mem::take(&mut main.open);
        let side = match side {
            None => {
                self.flow.join([main.changes, None]);
                None
            }
            Some(way) => {
                self.open.extend(way.open);
                self.flow.join([main.changes, way.changes]);
                Some(way.items)
            }
        };
        self.items.push(Item::Branch { head, main: main.items, side });
    }

    fn branch_if(&mut self, node: &'a If<'a>, tail: Tail) {
        let mut reads = Vec::new();
        self.operands(&node.condition, &mut reads);
        let title = self.ahead.names.text(&node.condition, LINE);
        let head = self.node(Kind::If, title);
        self.graph.nodes[head.0].about = format!("if {}", self.ahead.names.text(&node.condition, ABOUT));
        self.reads(head, reads);
        let exit = |label| Exit { from: head, kind: EdgeKind::Flow, label };
        let then = self.way(exit("yes"), |walk| walk.statements(&node.then, tail, true));
        let otherwise = self.way(exit("no"), |walk| {
            node.otherwise.iter().for_each(|block| walk.statements(block, tail, true));
        });
        // What ends goes aside, and where both go on or both end, the shorter does.
        let then_aside = match (then.open.is_empty(), otherwise.open.is_empty()) {
            (true, false) => true,
            (false, true) => false,
            _ => otherwise.size > then.size,
        };
        if then_aside {
            self.join(head, otherwise, Some(then));
        } else {
            self.join(head, then, Some(otherwise));
        }
    }

    fn branch_match(&mut self, node: &'a Match<'a>, tail: Tail) {
        let taken = self.flow.of(node.slot);
        self.matched.extend(taken);
        let title = clean(&format!("{} ok?", self.ahead.names.slot(node.slot)), LINE);
        let head = self.node(Kind::Match, title);
        // The value and the failure come from the call itself.
        let from = taken.unwrap_or_else(|| self.flow.node(head));
        let ok = self.way(Exit { from: head, kind: EdgeKind::Flow, label: "ok" }, |walk| match &node.ok {
            Some(arm) => {
                walk.flow.bind(arm.bind, Some(from));
                walk.statements(&arm.body, tail, false);
            }
            None => walk.flow.bind(node.slot, Some(from)),
        });
        let err = node.err.as_ref().map(|arm| {
            self.way(Exit { from: head, kind: EdgeKind::Failure, label: "fails" }, |walk| {
                walk.flow.bind(arm.bind, Some(from));
                walk.statements(&arm.body, tail, true);
            })
        });
        self.graph.nodes[head.0].fails = err.is_none();
        self.join(head, ok, err);
    }

    fn each(&mut self, node: &'a For<'a>, tail: Tail) {
        let mut reads = Vec::new();
        self.operands(&node.list, &mut reads);
        let title = |room: usize| {
            let mut line = Line::new(room);
            line.push("for ");
            line.push(self.ahead.names.slot(node.item));
            line.push(" in ");
            self.ahead.names.expr(&mut line, &node.list, 0);
            line.done()
        };
        let (title, about) = (title(LINE), title(ABOUT));
        let head = self.node(Kind::For, title);
        self.graph.nodes[head.0].about = about;
        if let Tail::Bind(slot) = tail {
            self.graph.nodes[head.0].binds = Some(self.ahead.names.slot(slot).to_owned());
        }
        self.reads(head, reads);
        let items = std::mem::take(&mut self.items);
        let bound: Vec<_> =
            self.ahead.bound_in(node.id).into_iter().filter_map(|slot| self.flow.begin_loop(slot)).collect();
        let def = self.flow.node(head);
        self.flow.bind(node.item, Some(def));
        self.open = vec![Exit { from: head, kind: EdgeKind::Flow, label: "each" }];
        self.block(&node.body, if tail == Tail::Drop { Tail::Drop } else { Tail::Yield });
        if self.open.len() > 1 || self.open.iter().any(|exit| !exit.label.is_empty()) {
            self.step(Kind::Next, "next".to_owned());
        }
        let open = std::mem::take(&mut self.open);
        bound.into_iter().for_each(|slot| self.flow.end_loop(slot, !open.is_empty()));
        for exit in open {
            self.edge(Exit { kind: EdgeKind::Back, ..exit }, head);
        }
        let body = std::mem::replace(&mut self.items, items);
        self.items.push(Item::Loop { head, body });
        self.open = vec![Exit { from: head, kind: EdgeKind::Done, label: "done" }];
        self.collected(head, def, tail);
    }

    /// What becomes of the list that a loop yields.
    fn collected(&mut self, head: NodeId, def: Def, tail: Tail) {
        let (kind, title) = match tail {
            Tail::Drop => return,
            Tail::Bind(slot) => return self.flow.bind(slot, Some(def)),
            Tail::Yield => (Kind::Yield, "yield list"),
            Tail::Return if self.result => (Kind::Ok, "ok list"),
            Tail::Return => (Kind::Ok, "return list"),
        };
        let node = self.step(kind, title.to_owned());
        let label = "what it yields".to_owned();
        self.reads(node, vec![Read { def, label }]);
        self.graph.nodes[node.0].about = format!("{title}: what `{}` yields", self.graph.nodes[head.0].about);
        if tail == Tail::Return {
            self.open.clear();
        }
    }

    /// What is known only at the end: which failures are taken apart, which calls are rollbacks, who reads what.
    fn settle(&mut self, first: usize) {
        let nodes = &mut self.graph.nodes;
        self.flow.reached(self.matched.iter().copied(), |node| {
            if matches!(nodes[node.0].kind, Kind::Tool | Kind::Own) {
                nodes[node.0].fails = false;
            }
        });
        let mut used: HashSet<NodeId> = HashSet::new();
        let read = self.reads.iter().map(|(_, read)| read.def).chain(self.matched.iter().copied());
        self.flow.reached(read, |node| {
            used.insert(node);
        });
        for node in std::mem::take(&mut self.candidates) {
            if !used.contains(&node) {
                self.undo(node);
                self.graph.nodes[node.0].binds = None;
            }
        }
        self.data(first);
    }

    /// One edge between two nodes, however often one reads the other.
    fn data(&mut self, first: usize) {
        let mut at: HashMap<(NodeId, NodeId), usize> = HashMap::new();
        let mut edges: Vec<(Edge, Vec<String>)> = Vec::new();
        for (to, Read { def, label }) in std::mem::take(&mut self.reads) {
            for from in self.flow.origins(def) {
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
            self.graph.edges.push(edge);
        }
    }
}

/// One way out of a branch.
struct Way {
    items: Vec<Item>,
    open: Vec<Exit>,
    changes: Changes,
    size: usize,
}

/// The first rows, and how many more there are.
fn capped(rows: impl Iterator<Item = Row>, count: usize) -> Vec<Row> {
    let shown = if count > ROWS { ROWS - 1 } else { count };
    let mut rows: Vec<Row> = rows.take(shown).collect();
    if count > shown {
        let value = format!("… and {} more", count - shown);
        rows.push(Row { name: String::new(), sign: "", value });
    }
    rows
}
