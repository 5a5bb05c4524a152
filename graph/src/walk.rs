//! The single pass from the syntax tree to the picture.
//!
//! It follows a function in the order of the source, keeps the paths that are open at each point, and passes
//! bindings to [`super::flow`]. It draws what a program will do without judging it: a faulty tree gives a
//! picture all the same.

use super::annotate::{harmless, settle};
use super::expression_nodes::{Exit, Read, Steps};
use super::flow::{Changes, Def};
use super::model::{EdgeKind, Frame, Graph, Item, Kind, NodeId};
use super::text::{ABOUT, LINE, Line, clean};
use hashbrown::HashMap;
use ilo_asm::ast::{
    Block, Bound, Control, Expr, ExprKind, File, For, Function, If, Match, ReturnKind, Slot, Stmt, StmtKind,
    Try,
};
use ilo_spec::limits;
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

/// What happens to a block's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    Drop,
    Return,
    Yield,
    Bind(Slot),
}

struct Walk<'g, 'a> {
    steps: Steps<'g, 'a>,
    /// Whether the function returns a result.
    result: bool,
    /// The values that a MATCH takes apart.
    matched: Vec<Def>,
    /// Calls that are rollbacks unless something reads their values.
    candidates: Vec<NodeId>,
    /// The enclosing loops.
    loops: Vec<OpenLoop>,
}

impl<'g, 'a> Walk<'g, 'a> {
    fn new(
        graph: &'g mut Graph,
        functions: &'g HashMap<&'a str, usize>,
        function: &Function<'a>,
    ) -> Walk<'g, 'a> {
        Walk {
            steps: Steps::new(graph, functions, function),
            result: function.output.err.is_some(),
            loops: Vec::new(),
            matched: Vec::new(),
            candidates: Vec::new(),
        }
    }

    fn function(&mut self, function: &Function<'a>) {
        let first = self.steps.graph.nodes.len();
        let entry = self.steps.entry(function);
        let def = self.steps.flow.node(entry);
        for slot in (0..).take(function.parameters.len()) {
            self.steps.flow.bind(Slot(slot), Some(def));
        }
        let drops = function.output.ok.ty == Type::NIL;
        self.block(&function.body, if drops { Tail::Drop } else { Tail::Return });
        if !self.steps.open.is_empty() {
            let title = match (self.result, drops) {
                (true, true) => "ok nil",
                (false, true) => "return nil",
                _ => "end",
            };
            self.steps.step(Kind::Ok, title.to_owned());
        }
        let matched = std::mem::take(&mut self.matched);
        settle(&mut self.steps, &matched, std::mem::take(&mut self.candidates), first);
        let nodes = first..self.steps.graph.nodes.len();
        let items = std::mem::take(&mut self.steps.items);
        let name = clean(function.name.text, LINE);
        self.steps.graph.frames.push(Frame { name, entry, nodes, items });
    }

    fn block(&mut self, block: &Block<'a>, tail: Tail) {
        self.statements(block, tail, false);
    }

    /// A block. If it rolls back, a call whose value is not read is a compensation when the block ends in
    /// `RET_ERR`.
    fn statements(&mut self, block: &Block<'a>, tail: Tail, rolls_back: bool) {
        let last = block.statements.len().saturating_sub(1);
        let ends_in_err = block
            .statements
            .last()
            .is_some_and(|last| matches!(last.kind, StmtKind::Return(ReturnKind::Err, _)));
        for (at, statement) in block.statements.iter().enumerate() {
            let before = self.steps.graph.nodes.len();
            self.statement(statement, if at == last { tail } else { Tail::Drop });
            let call = match statement.kind {
                StmtKind::Value(value) | StmtKind::Let { value: Bound::Expr(value), .. } => value.kind,
                _ => continue,
            };
            let made = self.steps.graph.nodes.len();
            let registers =
                block.statements.get(at + 1).is_some_and(|next| matches!(next.kind, StmtKind::Rollback(_)));
            if rolls_back && ends_in_err && !registers && made > before && matches!(call, ExprKind::Call(_)) {
                self.candidates.push(NodeId(made - 1));
            }
        }
    }

    fn statement(&mut self, statement: &Stmt<'a>, tail: Tail) {
        match statement.kind {
            StmtKind::Let { slot, value: Bound::Expr(value), .. } => {
                self.steps.binds(slot, &value);
            }
            StmtKind::Let { slot, value: Bound::Control(control), .. } => {
                self.control(&control, Tail::Bind(slot));
            }
            StmtKind::Value(value) => self.value(&value, tail),
            StmtKind::Return(kind, value) => match kind {
                ReturnKind::Plain => self.steps.ends(Kind::Ok, "return ", &value),
                ReturnKind::Ok => self.steps.ends(Kind::Ok, "ok ", &value),
                ReturnKind::Err => self.steps.ends(Kind::Err, "err ", &value),
            },
            StmtKind::Break => self.breaks(),
            StmtKind::Skip => self.skips(),
            StmtKind::Yield(value) => self.yields(&value),
            StmtKind::Fail(value) => self.steps.ends(Kind::Err, "fail ", &value),
            StmtKind::Undo(call) => {
                let node = self.steps.call(call, None);
                self.steps.undo(node);
            }
            StmtKind::Rollback(call) => {
                let node = self.steps.call(call, None);
                self.steps.later(node);
            }
            StmtKind::Control(control) => self.control(&control, tail),
        }
    }

    fn value(&mut self, value: &Expr<'a>, tail: Tail) {
        match (tail, value.kind) {
            (Tail::Bind(slot), _) => {
                self.steps.binds(slot, value);
            }
            (Tail::Return, _) => {
                self.steps.ends(Kind::Ok, if self.result { "ok " } else { "return " }, value);
            }
            (Tail::Yield, _) => {
                self.steps.shows(Kind::Yield, "yield ", value);
            }
            (Tail::Drop, ExprKind::Call(call)) => {
                self.steps.call(call, None);
            }
            (Tail::Drop, _) => {
                self.steps.shows(Kind::Value, "", value);
            }
        }
    }

    fn control(&mut self, control: &Control<'a>, tail: Tail) {
        match control {
            Control::If(node) => self.branch_if(node, tail),
            Control::Match(node) => self.branch_match(node, tail),
            Control::For(node) => self.each(node, tail),
            Control::Try(node) => self.branch_try(node, tail),
        }
    }

    /// Walks one path through a branch.
    fn way(&mut self, exit: Exit, inner: impl FnOnce(&mut Self)) -> Way {
        let items = std::mem::take(&mut self.steps.items);
        let (mark, first) = (self.steps.flow.mark(), self.steps.graph.nodes.len());
        self.steps.open = vec![exit];
        inner(self);
        let open = std::mem::take(&mut self.steps.open);
        let changes = self.steps.flow.leave(mark, !open.is_empty());
        let size = self.steps.graph.nodes.len() - first;
        Way { items: std::mem::replace(&mut self.steps.items, items), open, changes, size }
    }

    /// Continues after a branch whose first path is drawn straight on.
    fn join(&mut self, head: NodeId, mut main: Way, side: Option<Way>) {
        self.steps.open = std::mem::take(&mut main.open);
        let joins = side.as_ref().is_some_and(|way| !way.open.is_empty());
        let side = match side {
            None => {
                self.steps.flow.join([main.changes, None]);
                None
            }
            Some(way) => {
                self.steps.open.extend(way.open);
                self.steps.flow.join([main.changes, way.changes]);
                Some(way.items)
            }
        };
        self.steps.items.push(Item::Branch { head, main: main.items, side, joins });
    }

    fn branch_if(&mut self, node: &'a If<'a>, tail: Tail) {
        let mut reads = Vec::new();
        self.steps.operands(&node.condition, &mut reads);
        let title = self.steps.ahead.names.text(&node.condition, LINE);
        let head = self.steps.node(Kind::If, title);
        self.steps.graph.nodes[head.0].about =
            format!("if {}", self.steps.ahead.names.text(&node.condition, ABOUT));
        self.steps.reads(head, reads);
        let exit = |label| Exit { from: head, kind: EdgeKind::Flow, label };
        let then = self.way(exit("yes"), |walk| walk.statements(&node.then, tail, true));
        let otherwise = self.way(exit("no"), |walk| {
            node.otherwise.iter().for_each(|block| walk.statements(block, tail, true));
        });
        // A path that ends is drawn at the side. If both continue or both end, the shorter one is.
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
        let taken = self.steps.flow.of(node.slot);
        self.matched.extend(taken);
        let title = clean(&format!("{} ok?", self.steps.ahead.names.slot(node.slot)), LINE);
        let head = self.steps.node(Kind::Match, title);
        // The value and the failure come from the call itself.
        let from = taken.unwrap_or_else(|| self.steps.flow.node(head));
        let ok = self.way(Exit { from: head, kind: EdgeKind::Flow, label: "ok" }, |walk| match &node.ok {
            Some(arm) => {
                walk.steps.flow.bind(arm.bind, Some(from));
                walk.statements(&arm.body, tail, false);
            }
            None => walk.steps.flow.bind(node.slot, Some(from)),
        });
        let err = node.err.as_ref().map(|arm| {
            self.way(Exit { from: head, kind: EdgeKind::Failure, label: "fails" }, |walk| {
                walk.steps.flow.bind(arm.bind, Some(from));
                walk.statements(&arm.body, tail, true);
            })
        });
        self.steps.graph.nodes[head.0].fails = err.is_none();
        self.join(head, ok, err);
    }

    /// The block and the handler of a TRY, as two branches: a failure may come from anywhere in the block.
    fn branch_try(&mut self, node: &'a Try<'a>, tail: Tail) {
        let head = self.steps.node(Kind::Match, "try".to_owned());
        let from = self.steps.flow.node(head);
        let body = self.way(Exit { from: head, kind: EdgeKind::Flow, label: "" }, |walk| {
            walk.statements(&node.body, tail, false);
        });
        let err = self.way(Exit { from: head, kind: EdgeKind::Failure, label: "fails" }, |walk| {
            walk.steps.flow.bind(node.handler.bind, Some(from));
            walk.statements(&node.handler.body, tail, false);
        });
        self.join(head, body, Some(err));
    }

    fn each(&mut self, node: &'a For<'a>, tail: Tail) {
        let mut reads = Vec::new();
        self.steps.operands(&node.list, &mut reads);
        let title = |room: usize| {
            let mut line = Line::new(room);
            line.push("for ");
            line.push(self.steps.ahead.names.slot(node.item));
            line.push(" in ");
            self.steps.ahead.names.expr(&mut line, &node.list, 0);
            line.done()
        };
        let (title, about) = (title(LINE), title(ABOUT));
        let head = self.steps.node(Kind::For, title);
        self.steps.graph.nodes[head.0].about = about;
        if let Tail::Bind(slot) = tail {
            self.steps.graph.nodes[head.0].binds = Some(self.steps.ahead.names.slot(slot).to_owned());
        }
        self.steps.reads(head, reads);
        let items = std::mem::take(&mut self.steps.items);
        let bound: Vec<_> = self
            .steps
            .ahead
            .bound_in(node.id)
            .into_iter()
            .filter_map(|slot| self.steps.flow.begin_loop(slot))
            .collect();
        let def = self.steps.flow.node(head);
        self.steps.flow.bind(node.item, Some(def));
        self.steps.open = vec![Exit { from: head, kind: EdgeKind::Flow, label: "each" }];
        let slots: Vec<usize> = bound.iter().map(|&(slot, _)| slot).collect();
        let collects = tail != Tail::Drop;
        self.loops.push(OpenLoop { slots, breaks: Vec::new(), skips: Vec::new(), collects });
        self.block(&node.body, if collects && !node.yields { Tail::Yield } else { Tail::Drop });
        let skips = self.loops.last_mut().map(|open| std::mem::take(&mut open.skips)).unwrap_or_default();
        self.resume(skips);
        if self.steps.open.len() > 1 || self.steps.open.iter().any(|exit| !exit.label.is_empty()) {
            self.steps.step(Kind::Next, "next".to_owned());
        }
        let open = std::mem::take(&mut self.steps.open);
        bound.into_iter().for_each(|slot| self.steps.flow.end_loop(slot, !open.is_empty()));
        for exit in open {
            self.steps.edge(Exit { kind: EdgeKind::Back, ..exit }, head);
        }
        let body = std::mem::replace(&mut self.steps.items, items);
        self.steps.items.push(Item::Loop { head, body });
        let breaks = self.loops.pop().map(|open| open.breaks).unwrap_or_default();
        let label = if node.otherwise.is_some() { "no break" } else { "done" };
        self.steps.open = vec![Exit { from: head, kind: EdgeKind::Done, label }];
        let mut past = Vec::new();
        if let Some(block) = &node.otherwise {
            self.block(block, Tail::Drop);
            past = std::mem::take(&mut self.steps.open);
        }
        self.resume(breaks);
        if !self.steps.open.is_empty() {
            self.collected(head, def, tail);
        }
        self.steps.open.append(&mut past);
    }

    /// BREAK leads to the end of the innermost loop.
    fn breaks(&mut self) {
        let left = self.leave("break");
        if let Some(open) = self.loops.last_mut() {
            open.breaks.push(left);
        }
    }

    /// SKIP leads to the end of the pass of the innermost loop.
    fn skips(&mut self) {
        let left = self.leave("skip");
        if let Some(open) = self.loops.last_mut() {
            open.skips.push(left);
        }
    }

    fn leave(&mut self, title: &str) -> Break {
        let node = self.steps.step(Kind::Break, title.to_owned());
        self.steps.open.clear();
        let slots = self.loops.last().map(|open| &open.slots[..]).unwrap_or_default();
        let slots = if slots.len() <= limits::REGISTERS { slots } else { &[] };
        let slots = slots.iter().map(|&slot| (slot, self.steps.flow.at(slot))).collect();
        (Exit { from: node, kind: EdgeKind::Flow, label: "" }, slots)
    }

    /// The place to which BREAKs or SKIPs lead.
    fn resume(&mut self, left: Vec<Break>) {
        for (exit, slots) in left {
            self.steps.open.push(exit);
            slots.into_iter().for_each(|(slot, def)| self.steps.flow.meet(slot, def));
        }
    }

    /// YIELD adds a value to the list of the innermost loop.
    fn yields(&mut self, value: &Expr<'a>) {
        let collects = self.loops.last().is_some_and(|open| open.collects);
        self.value(value, if collects { Tail::Yield } else { Tail::Drop });
    }

    /// What happens to the list that a loop yields.
    fn collected(&mut self, head: NodeId, def: Def, tail: Tail) {
        let (kind, title) = match tail {
            Tail::Drop => return,
            Tail::Bind(slot) => return self.steps.flow.bind(slot, Some(def)),
            Tail::Yield => (Kind::Yield, "yield list"),
            Tail::Return if self.result => (Kind::Ok, "ok list"),
            Tail::Return => (Kind::Ok, "return list"),
        };
        let node = self.steps.step(kind, title.to_owned());
        let label = "what it yields".to_owned();
        self.steps.reads(node, vec![Read { def, label }]);
        self.steps.graph.nodes[node.0].about =
            format!("{title}: what `{}` yields", self.steps.graph.nodes[head.0].about);
        if tail == Tail::Return {
            self.steps.open.clear();
        }
    }
}

/// A BREAK or SKIP, and the bindings of its loop's slots there.
type Break = (Exit, Vec<(usize, Option<Def>)>);

/// A loop whose body is being walked.
struct OpenLoop {
    /// The slots that it binds.
    slots: Vec<usize>,
    /// Its BREAKs.
    breaks: Vec<Break>,
    /// The SKIPs of its passes.
    skips: Vec<Break>,
    /// Whether it collects what its YIELDs give.
    collects: bool,
}

/// One path out of a branch.
struct Way {
    items: Vec<Item>,
    open: Vec<Exit>,
    changes: Changes,
    size: usize,
}
