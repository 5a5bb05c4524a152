//! Makes nodes of expressions, and finds what each node reads.

use super::flow::{Def, Flow};
use super::model::{Edge, EdgeKind, Graph, Item, Kind, Node, NodeId, Row};
use super::names::{Ahead, tool_name};
use super::text::{ABOUT, LINE, Line, clean, literal};
use hashbrown::HashMap;
use ilo_asm::ast::{Binary, Call, Expr, ExprKind, Field, Function, Literal, MatchMap, Slot, TypeName};

/// Rows shown in a node. The rest are only counted.
const ROWS: usize = 12;

/// The reason why an operand may not be evaluated.
#[derive(Clone, Copy)]
enum Guard<'a> {
    And(&'a Expr<'a>),
    Or(&'a Expr<'a>),
    Case(Literal<'a>),
    Default,
}

/// A read: what is read, and its name.
pub(super) struct Read {
    pub(super) def: Def,
    pub(super) label: String,
}

/// An edge without an end, which will lead to the next node.
#[derive(Clone, Copy)]
pub(super) struct Exit {
    pub(super) from: NodeId,
    pub(super) kind: EdgeKind,
    pub(super) label: &'static str,
}

/// The nodes of a function that were made so far.
pub(super) struct Steps<'g, 'a> {
    pub(super) graph: &'g mut Graph,
    functions: &'g HashMap<&'a str, usize>,
    pub(super) ahead: Ahead,
    pub(super) flow: Flow,
    pub(super) items: Vec<Item>,
    /// The edges that lead to the next node.
    pub(super) open: Vec<Exit>,
    guards: Vec<Guard<'a>>,
    pub(super) reads: Vec<(NodeId, Read)>,
}

impl<'g, 'a> Steps<'g, 'a> {
    pub(super) fn new(
        graph: &'g mut Graph,
        functions: &'g HashMap<&'a str, usize>,
        function: &Function<'a>,
    ) -> Steps<'g, 'a> {
        Steps {
            graph,
            functions,
            ahead: Ahead::of(function),
            flow: Flow::new(function.slots.len()),
            items: Vec::new(),
            open: Vec::new(),
            guards: Vec::new(),
            reads: Vec::new(),
        }
    }

    /// Turns a call into a rollback, whose failure is only recorded.
    pub(super) fn undo(&mut self, node: NodeId) {
        self.graph.nodes[node.0].kind = Kind::Undo;
        self.graph.nodes[node.0].fails = false;
    }

    /// Turns a call into a registered one, which is not made here.
    pub(super) fn later(&mut self, node: NodeId) {
        self.graph.nodes[node.0].kind = Kind::Later;
        self.graph.nodes[node.0].fails = false;
    }

    pub(super) fn entry(&mut self, function: &Function<'a>) -> NodeId {
        let output = function.output;
        let ty = |ty: &TypeName<'_>| "list ".repeat(usize::from(ty.ty.lists)) + ty.name;
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

    /// Adds a node to which all open edges lead, and opens an edge from it.
    pub(super) fn node(&mut self, kind: Kind, title: String) -> NodeId {
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

    pub(super) fn step(&mut self, kind: Kind, title: String) -> NodeId {
        let id = self.node(kind, title);
        self.items.push(Item::Step(id));
        id
    }

    pub(super) fn edge(&mut self, exit: Exit, to: NodeId) {
        let label = exit.label.to_owned();
        self.graph.edges.push(Edge { from: exit.from, to, kind: exit.kind, label });
    }

    /// The condition under which a node is reached.
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

    pub(super) fn reads(&mut self, node: NodeId, reads: Vec<Read>) {
        self.reads.extend(reads.into_iter().map(|read| (node, read)));
    }

    /// Makes the nodes of an expression's calls and maps, and returns what the whole expression reads.
    pub(super) fn operands(&mut self, expr: &Expr<'a>, reads: &mut Vec<Read>) {
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

    pub(super) fn call(&mut self, call: &Call<'a>, bound: Option<Slot>) -> NodeId {
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
        // A slot that is named after its tool says nothing more.
        let binds = bound.map(|slot| self.ahead.names.slot(slot));
        node.binds = binds.filter(|name| *name != tool_name(call.tool.text)).map(str::to_owned);
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

    pub(super) fn map(&mut self, map: &'a MatchMap<'a>, bound: Option<Slot>) -> NodeId {
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

    /// A node that shows an expression after a word. A record shows its fields as rows.
    pub(super) fn shows(&mut self, kind: Kind, word: &str, expr: &Expr<'a>) -> NodeId {
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
        self.graph.nodes[id.0].fails = expr.attempt().is_some();
        self.reads(id, reads);
        id
    }

    pub(super) fn ends(&mut self, kind: Kind, word: &str, expr: &Expr<'a>) {
        self.shows(kind, word, expr);
        self.open.clear();
    }

    /// Binds a slot to an expression.
    pub(super) fn binds(&mut self, slot: Slot, expr: &Expr<'a>) -> NodeId {
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
}

/// The first rows, and the number of the rest.
fn capped(rows: impl Iterator<Item = Row>, count: usize) -> Vec<Row> {
    let shown = if count > ROWS { ROWS - 1 } else { count };
    let mut rows: Vec<Row> = rows.take(shown).collect();
    if count > shown {
        let value = format!("… and {} more", count - shown);
        rows.push(Row { name: String::new(), sign: "", value });
    }
    rows
}
