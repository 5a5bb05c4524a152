//! Warns of fields that are read of a tool's answer although its schema does not list them.
//!
//! A value is tracked as a part of a tool's answer where all its bindings in the function agree on that. As
//! in `types`, the tree is walked to a fixed point: until no slot changes after it was read. A field for
//! which the function asks with HAS is never reported. Where no call goes to a tool whose answer has a list
//! of fields, nothing is walked.

use super::facts::Facts;
use super::messages::names as messages;
use super::report::Report;
use super::resolve::{Resolved, Target};
use crate::ast::{
    Binary, Block, Bound, Call, CallId, Control, Expr, ExprKind, For, Function, Literal, Match, Name, Slot,
    Stmt, StmtKind,
};
use crate::catalog::{Fields, Tool};
use crate::notation::Notation;
use crate::text::{Near, same_spelling};
use hashbrown::HashSet;
use smallvec::{SmallVec, smallvec};

/// Walks before the function is given up. One suffices where every slot is bound before it is read.
const PASSES: usize = 8;

/// Reports the fields that no schema lists.
pub(super) fn check(
    function: &Function<'_>,
    facts: &Facts,
    resolved: &[Resolved<'_>],
    report: &mut Report<'_>,
) {
    let has_fields =
        |call: &Resolved<'_>| matches!(call.target, Target::Tool(tool) if tool.fields != Fields::Unknown);
    if !resolved.iter().any(has_fields) {
        return;
    }
    let mut walk = Walk {
        facts,
        resolved,
        slots: smallvec![Slots::default(); function.slots.len()],
        changed: false,
        asked: HashSet::new(),
        found: Vec::new(),
    };
    for slot in walk.slots.iter_mut().take(function.parameters.len()) {
        slot.plain = Seen::Unknown;
    }
    for _ in 0..PASSES {
        walk.changed = false;
        walk.found.clear();
        walk.slots.iter_mut().for_each(|slot| slot.read = false);
        walk.block(&function.body);
        if !walk.changed {
            let Walk { asked, mut found, .. } = walk;
            found.retain(|read| !asked.contains(read.name.text));
            // A reader may put an expression into the tree twice.
            found.sort_by_key(|read| read.name.span);
            found.dedup_by_key(|read| read.name.span);
            found.iter().for_each(|read| read.report(function.notation, report));
            return;
        }
    }
}

/// Which part of an answer a value is.
#[derive(Clone, Copy, Default)]
enum Seen<'t> {
    /// No value yet, or one without fields and items: nil, an empty list.
    #[default]
    Nothing,
    /// It is this, `lists` times in a list.
    Part { part: Part<'t>, lists: u32 },
    /// It may be anything.
    Unknown,
}

/// A part of a tool's answer, or all of it.
#[derive(Clone, Copy)]
struct Part<'t> {
    tool: &'t Tool,
    fields: &'t Fields,
}

impl<'t> Seen<'t> {
    fn part(tool: &'t Tool, fields: &'t Fields) -> Seen<'t> {
        match fields {
            Fields::Unknown => Seen::Unknown,
            _ => Seen::Part { part: Part { tool, fields }, lists: 0 },
        }
    }

    fn same(self, other: Seen<'_>) -> bool {
        match (self, other) {
            (Seen::Nothing, Seen::Nothing) | (Seen::Unknown, Seen::Unknown) => true,
            (Seen::Part { part: a, lists: n }, Seen::Part { part: b, lists: m }) => {
                n == m && core::ptr::eq(a.fields, b.fields)
            }
            _ => false,
        }
    }

    fn join(self, other: Seen<'t>) -> Seen<'t> {
        match (self, other) {
            (Seen::Nothing, seen) | (seen, Seen::Nothing) => seen,
            (a, b) if a.same(b) => a,
            _ => Seen::Unknown,
        }
    }

    /// A list of these.
    fn list(self) -> Seen<'t> {
        match self {
            Seen::Part { part, lists } => Seen::Part { part, lists: lists.saturating_add(1) },
            seen => seen,
        }
    }

    /// An item of it.
    fn item(self) -> Seen<'t> {
        match self {
            Seen::Part { part, lists: 0 } => Seen::part(part.tool, part.fields.item()),
            Seen::Part { part, lists } => Seen::Part { part, lists: lists - 1 },
            seen => seen,
        }
    }
}

/// Which parts of answers the values of a slot are.
#[derive(Clone, Copy, Default)]
struct Slots<'t> {
    plain: Seen<'t>,
    /// The value of the call whose result a MATCH takes out of it.
    ok: Seen<'t>,
    /// This walk has read it.
    read: bool,
}

/// A field that is read of what does not have it.
struct Read<'t, 'a> {
    part: Part<'t>,
    name: Name<'a>,
    /// The field that the part was read from just there.
    of: Option<&'a str>,
}

impl Read<'_, '_> {
    fn report(&self, notation: Notation, report: &mut Report<'_>) {
        if report.is_full() {
            return;
        }
        let Read { part: Part { tool, fields }, name, of } = self;
        let part = match of {
            Some(of) => messages::Part::Field(of),
            None if core::ptr::eq(*fields, &raw const tool.fields) => messages::Part::Answer,
            None => messages::Part::Inner,
        };
        let mut spellings = fields.names().filter(|other| is_spelling(name.text, other));
        let near = match (spellings.next(), spellings.next()) {
            (Some(meant), None) => Some(Near { name: meant, sure: true }),
            _ => report.near(name.text, fields.names()).map(|near| Near { sure: false, ..near }),
        };
        report.push(messages::unknown_field(&tool.name, part, *name, fields.names(), near, notation));
    }
}

/// Whether a name is another spelling of a field whose own name can be part of a path.
fn is_spelling(name: &str, field: &str) -> bool {
    !field.starts_with('-') && !field.ends_with('-') && same_spelling(name, field)
}

struct Walk<'t, 'a> {
    facts: &'t Facts,
    resolved: &'t [Resolved<'t>],
    slots: SmallVec<[Slots<'t>; 16]>,
    /// A slot changed after it was read in this walk.
    changed: bool,
    /// The fields for which HAS asks.
    asked: HashSet<&'a str>,
    found: Vec<Read<'t, 'a>>,
}

impl<'t, 'a> Walk<'t, 'a> {
    fn learn(&mut self, slot: Slot, seen: Seen<'t>, part: for<'s> fn(&'s mut Slots<'t>) -> &'s mut Seen<'t>) {
        let Some(info) = self.slots.get_mut(slot.0 as usize) else { return };
        let joined = part(info).join(seen);
        if !joined.same(*part(info)) {
            *part(info) = joined;
            self.changed |= info.read;
        }
    }

    fn bind(&mut self, slot: Slot, seen: Seen<'t>) {
        self.learn(slot, seen, |info| &mut info.plain);
    }

    fn slot(&mut self, slot: Slot) -> Slots<'t> {
        let Some(info) = self.slots.get_mut(slot.0 as usize) else { return Slots::default() };
        info.read = true;
        *info
    }

    /// The value of a block, where it has one.
    fn block(&mut self, block: &Block<'a>) -> Seen<'t> {
        let mut last = Seen::Nothing;
        for statement in block.statements {
            last = self.statement(statement);
        }
        last
    }

    fn statement(&mut self, statement: &Stmt<'a>) -> Seen<'t> {
        match &statement.kind {
            StmtKind::Value(value) => return self.expression(value),
            StmtKind::Control(control) => return self.control(control),
            StmtKind::Let { slot, value: Bound::Control(control), .. } => {
                let seen = self.control(control);
                self.bind(*slot, seen);
            }
            StmtKind::Let { slot, value: Bound::Expr(value), .. } => {
                let seen = self.expression(value);
                match value.attempt() {
                    Some(id) if self.is_checked(id) => self.learn(*slot, seen, |info| &mut info.ok),
                    _ => self.bind(*slot, seen),
                }
            }
            StmtKind::Return(_, value) | StmtKind::Fail(value) => {
                self.expression(value);
            }
            StmtKind::Undo(call) | StmtKind::Rollback(call) => {
                self.call(call);
            }
            StmtKind::Break => {}
        }
        Seen::Nothing
    }

    fn is_checked(&self, id: CallId) -> bool {
        self.facts.calls.get(id.0 as usize).is_some_and(|facts| facts.checked)
    }

    fn control(&mut self, control: &Control<'a>) -> Seen<'t> {
        match control {
            Control::If(node) => {
                self.expression(&node.condition);
                let then = self.block(&node.then);
                let otherwise = node.otherwise.as_ref().map(|block| self.block(block)).unwrap_or_default();
                then.join(otherwise)
            }
            Control::Match(node) => self.arms(node),
            Control::For(node) => self.passes(node),
        }
    }

    fn arms(&mut self, node: &Match<'a>) -> Seen<'t> {
        let ok = self.slot(node.slot).ok;
        let mut seen = Seen::Nothing;
        if let Some(arm) = &node.err {
            self.bind(arm.bind, Seen::Unknown);
            seen = self.block(&arm.body);
        }
        if let Some(arm) = &node.ok {
            self.bind(arm.bind, ok);
            seen.join(self.block(&arm.body))
        } else {
            self.bind(node.slot, ok);
            seen
        }
    }

    fn passes(&mut self, node: &For<'a>) -> Seen<'t> {
        let list = self.expression(&node.list);
        self.bind(node.item, list.item());
        let collected = self.block(&node.body).list();
        node.otherwise.iter().for_each(|block| {
            self.block(block);
        });
        collected
    }

    fn expression(&mut self, expression: &Expr<'a>) -> Seen<'t> {
        match expression.kind {
            ExprKind::Ref(slot) => return self.slot(slot).plain,
            ExprKind::Literal(Literal::Nil) => return Seen::Nothing,
            ExprKind::Field(of, name) => return self.field(of, name),
            ExprKind::Call(call) => return self.call(call),
            ExprKind::Binary(Binary::At, list, index) => {
                if let ExprKind::Literal(Literal::Text(text)) = index.kind {
                    return self.field(list, Name { text, span: index.span });
                }
                let list = self.expression(list);
                self.expression(index);
                return list.item();
            }
            ExprKind::Binary(Binary::Append, list, item) => {
                let list = self.expression(list);
                return list.join(self.expression(item).list());
            }
            ExprKind::List(items) => {
                let join = |all: Seen<'t>, item| all.join(self.expression(item));
                return items.iter().fold(Seen::Nothing, join).list();
            }
            ExprKind::MatchMap(map) => {
                self.expression(&map.subject);
                let values = map.cases.iter().map(|case| &case.value).chain(&map.default);
                return values.fold(Seen::Nothing, |all, value| all.join(self.expression(value)));
            }
            ExprKind::Has(_, name) => {
                self.asked.insert(name.text);
            }
            ExprKind::Binary(Binary::HasName, _, name) => {
                if let ExprKind::Literal(Literal::Text(name)) = name.kind {
                    self.asked.insert(name);
                }
            }
            _ => {}
        }
        expression.children(|child| {
            self.expression(child);
        });
        Seen::Unknown
    }

    fn call(&mut self, call: &Call<'a>) -> Seen<'t> {
        for argument in call.arguments {
            self.expression(&argument.value);
        }
        match self.resolved.get(call.id.0 as usize).map(|call| call.target) {
            Some(Target::Tool(tool)) => Seen::part(tool, &tool.fields),
            _ => Seen::Unknown,
        }
    }

    fn field(&mut self, of: &Expr<'a>, name: Name<'a>) -> Seen<'t> {
        let Seen::Part { part, lists: 0 } = self.expression(of) else { return Seen::Unknown };
        if let Some(fields) = part.fields.field(name.text) {
            return Seen::part(part.tool, fields);
        }
        let of = if let ExprKind::Field(_, of) = of.kind { Some(of.text) } else { None };
        self.found.push(Read { part, name, of });
        Seen::Unknown
    }
}
