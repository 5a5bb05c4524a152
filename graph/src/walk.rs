//! The one walk from the syntax tree to the picture.
//!
//! It follows a function in the order of the source, keeps the ways that are open at each point, and hands bindings to
//! [`super::flow`]. It says what a program will do and judges nothing: a faulty tree gives a picture all the same.

use super::flow::{Changes, Def, Flow};
use super::model::{EdgeKind, Frame, Graph, Item, Kind, NodeId};
use super::names::Ahead;
use super::settle::harmless;
use super::steps::{Guard, Read};
use super::text::{ABOUT, LINE, Line, clean};
use hashbrown::HashMap;
use ilo_asm::ast::{
    Block, Bound, Control, Expr, ExprKind, File, For, Function, If, Match, ReturnKind, Slot, Stmt, StmtKind,
};
use ilo_spec::types::Type;

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

/// A way that leads to whatever comes next.
#[derive(Clone, Copy)]
pub(super) struct Exit {
    pub(super) from: NodeId,
    pub(super) kind: EdgeKind,
    pub(super) label: &'static str,
}

/// What becomes of a block's value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    Drop,
    Return,
    Yield,
    Bind(Slot),
}

pub(super) struct Walk<'g, 'a> {
    pub(super) graph: &'g mut Graph,
    pub(super) functions: &'g HashMap<&'a str, usize>,
    pub(super) ahead: Ahead,
    pub(super) flow: Flow,
    pub(super) result: bool,
    pub(super) items: Vec<Item>,
    pub(super) open: Vec<Exit>,
    pub(super) guards: Vec<Guard<'a>>,
    pub(super) reads: Vec<(NodeId, Read)>,
    /// What a MATCH takes apart.
    pub(super) matched: Vec<Def>,
    /// Calls that are rollbacks unless something reads them.
    pub(super) candidates: Vec<NodeId>,
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

    pub(super) fn undo(&mut self, node: NodeId) {
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
        let joins = side.as_ref().is_some_and(|way| !way.open.is_empty());
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
        self.items.push(Item::Branch { head, main: main.items, side, joins });
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
}

/// One way out of a branch.
struct Way {
    items: Vec<Item>,
    open: Vec<Exit>,
    changes: Changes,
    size: usize,
}
