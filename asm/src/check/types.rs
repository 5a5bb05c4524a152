//! Gradual types: what is known of every value, and where that cannot fit.
//!
//! A slot's type is what all its bindings agree on, wherever they stand. Since a loop lets a binding depend on a later
//! one, types are found by repeating: every pass starts from what the last one found and only ever learns that less is
//! known. The last pass, in which no slot changed after it was read, is the one whose complaints count.

use super::describe::slot_name;
use super::mend;
use super::resolve::{Resolved, Target};
use super::{CallFacts, Facts};
use crate::ast::{
    Binary, Block, Bound, Call, Case, Control, Expr, ExprKind, Field, File, For, Function, If, Literal,
    Match, MatchMap, ReturnKind, Slot, Stmt, StmtKind, Unary,
};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::notation::Notation;
use crate::span::Span;
use crate::types::Inferred;
use ilo_spec::error::Code;
use ilo_spec::types::Type;
use smallvec::{SmallVec, smallvec};
use std::fmt::Display;

/// Passes before every slot whose type is not yet settled counts as unknown. One does where every slot is bound before it
/// is read; each further one takes a chain of slots that depend on later ones.
const PASSES: usize = 8;

/// Checks the types of a function. Of what stands at one of the `doubts`, nothing counts as known.
pub(super) fn check(
    file: &File<'_>,
    function: &Function<'_>,
    facts: &Facts,
    resolved: &[Resolved<'_>],
    doubts: &[Span],
) -> Diagnostics {
    let slots = function.slots.len();
    let mut types = Types {
        file,
        function,
        facts,
        resolved,
        doubts,
        slots: smallvec![Slots::default(); slots],
        failures: SmallVec::new(),
        changed: false,
        found: Diagnostics::default(),
    };
    for (slot, parameter) in types.slots.iter_mut().zip(function.parameters) {
        slot.plain = Some(parameter.ty.ty.into());
        slot.origin = Some(parameter.ty.span);
    }
    for pass in 0.. {
        types.changed = false;
        types.found = Diagnostics::default();
        types.slots.iter_mut().for_each(|slot| slot.read = false);
        let to = if function.output.ok.ty == Type::NIL { Goes::Kept } else { Goes::Out };
        types.block(&function.body, to);
        if !types.changed {
            break;
        }
        if pass == PASSES {
            types.forget();
        }
    }
    types.found
}

/// What is known of a slot; `None` while no binding was seen.
#[derive(Clone, Copy, Default)]
struct Slots {
    /// Its plain values.
    plain: Option<Inferred>,
    /// The values of the calls whose results a MATCH takes out of it.
    ok: Option<Inferred>,
    /// The failures of those.
    err: Option<Inferred>,
    /// Where a plain value comes from.
    origin: Option<Span>,
    /// Something beside a parameter binds it.
    bound: bool,
    /// This pass has read it.
    read: bool,
}

struct Types<'t, 'a> {
    file: &'t File<'a>,
    function: &'t Function<'a>,
    facts: &'t Facts,
    resolved: &'t [Resolved<'t>],
    doubts: &'t [Span],
    slots: SmallVec<[Slots; 16]>,
    /// What the slots of the ERR arms around are, and where they get it.
    failures: SmallVec<[(Slot, Seen, Span); 4]>,
    /// A slot changed after it was read in this pass.
    changed: bool,
    found: Diagnostics,
}

/// Where the value of a statement goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    /// Nothing takes it.
    Nowhere,
    /// A slot or a loop that is bound takes it, or the end of a function that gives nil.
    Kept,
    /// It is what the function gives.
    Out,
}

/// What is known, where anything was bound yet.
type Seen = Option<Inferred>;

/// Whether a value is that of the step before it: in documents, what a step binds is its value as well.
fn implied(last: &Stmt<'_>, before: &[Stmt<'_>]) -> bool {
    match (last.kind, before.last().map(|before| before.kind)) {
        (StmtKind::Value(Expr { kind: ExprKind::Ref(read), .. }), Some(StmtKind::Let { slot, .. })) => {
            read == slot
        }
        _ => false,
    }
}

fn join(a: Seen, b: Seen) -> Seen {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.join(b)),
        (seen, None) | (None, seen) => seen,
    }
}

impl<'a> Types<'_, 'a> {
    /// Nothing is known of what is bound anywhere: sound whatever depends on what.
    fn forget(&mut self) {
        for slot in self.slots.iter_mut().filter(|slot| slot.bound) {
            (slot.plain, slot.ok, slot.err) = (Some(Inferred::ANY), Some(Inferred::ANY), Some(Inferred::ANY));
        }
    }

    fn learn(&mut self, slot: Slot, seen: Seen, span: Span, part: fn(&mut Slots) -> &mut Seen) {
        let Some(info) = self.slots.get_mut(slot.0 as usize) else { return };
        info.bound = true;
        info.origin.get_or_insert(span);
        let joined = join(*part(info), seen);
        if joined != *part(info) {
            *part(info) = joined;
            self.changed |= info.read;
        }
    }

    fn bind(&mut self, slot: Slot, seen: Seen, span: Span) {
        self.learn(slot, seen, span, |info| &mut info.plain);
    }

    /// What is known of a slot that is read here.
    fn slot(&mut self, slot: Slot) -> Slots {
        let Some(info) = self.slots.get_mut(slot.0 as usize) else { return Slots::default() };
        info.read = true;
        *info
    }

    /// What a slot is in an ERR arm that binds it, and where that is.
    fn failure_of(&self, slot: Slot) -> Option<(Seen, Span)> {
        self.failures.iter().rev().find(|of| of.0 == slot).map(|&(_, seen, span)| (seen, span))
    }

    /// The type of a block's value.
    fn block(&mut self, block: &Block<'a>, to: Goes) -> Seen {
        let (last, before) = block.statements.split_last()?;
        for statement in before {
            self.statement(statement, Goes::Nowhere);
        }
        self.statement(last, if to == Goes::Nowhere && implied(last, before) { Goes::Kept } else { to })
    }

    fn statement(&mut self, statement: &Stmt<'a>, to: Goes) -> Seen {
        match &statement.kind {
            StmtKind::Let { slot, value: Bound::Expr(value), slot_span } => {
                self.bind_value(*slot, value, *slot_span);
                None
            }
            StmtKind::Let { slot, value: Bound::Control(control), slot_span } => {
                let seen = self.control(control, Goes::Kept);
                self.bind(*slot, seen, *slot_span);
                None
            }
            StmtKind::Value(value) => {
                let seen = self.expression(value);
                match to {
                    Goes::Nowhere => self.unused(value),
                    Goes::Kept => {}
                    Goes::Out => self.gives(value, seen),
                }
                seen
            }
            StmtKind::Return(kind, value) => {
                self.leave(*kind, value);
                None
            }
            StmtKind::Fail(value) => {
                self.leave(ReturnKind::Err, value);
                None
            }
            StmtKind::Undo(call) => {
                self.call(call);
                None
            }
            StmtKind::Control(control) => self.control(control, to),
        }
    }

    /// A value that nothing takes, unless a call is made for it.
    fn unused(&mut self, value: &Expr<'a>) {
        // In documents a step has its value whether or not it is asked for, and what is lost is told by their readers.
        if self.function.notation != Notation::Id || value.calls() {
            return;
        }
        let warning = Diagnostic::new(Code::UnusedValue, value.span, "nothing takes this value")
            .expected("a value that is bound or returned", "one that is worked out and left behind");
        let changed = match value.kind {
            ExprKind::Binary(Binary::Append, Expr { kind: ExprKind::Ref(slot), .. }, _)
            | ExprKind::Merge(Expr { kind: ExprKind::Ref(slot), .. }, _) => Some(*slot),
            _ => None,
        };
        self.found.push(match changed {
            Some(slot) => mend::bind_again(warning, self.function, slot),
            None => warning
                .help("bind it, or leave it out; the last value of a block counts where the block is bound"),
        });
    }

    fn bind_value(&mut self, slot: Slot, value: &Expr<'a>, span: Span) {
        let seen = self.expression(value);
        match value.kind {
            ExprKind::Call(call) if self.call_facts(call).checked => {
                let err = self.failure(call);
                self.learn(slot, seen, span, |info| &mut info.ok);
                self.learn(slot, Some(err), span, |info| &mut info.err);
            }
            _ => self.bind(slot, seen, span),
        }
    }

    fn leave(&mut self, kind: ReturnKind, value: &Expr<'a>) {
        let seen = self.expression(value);
        let output = self.function.output;
        match (kind, output.err) {
            (ReturnKind::Err, Some(err)) => self.output(value, seen, err.ty.into(), err.span),
            (ReturnKind::Err, None) => {}
            // RET with what the function fails with: that RET is no word for it was told.
            (ReturnKind::Plain, Some(err))
                if seen.is_some_and(|seen| !seen.meets(output.ok.ty.into()) && seen.meets(err.ty.into())) => {
            }
            _ => self.gives(value, seen),
        }
    }

    fn gives(&mut self, value: &Expr<'a>, seen: Seen) {
        let ok = self.function.output.ok;
        self.output(value, seen, ok.ty.into(), ok.span);
    }

    fn output(&mut self, value: &Expr<'a>, seen: Seen, wanted: Inferred, declared: Span) {
        if let Some(found) = seen.filter(|found| !found.meets(wanted)) {
            let message = format!("`{}` gives {wanted}, but this is {found}", self.function.name.text);
            let fits = |meant: Inferred| meant.meets(wanted);
            let diagnostic = self.mismatch(value, found, (wanted.to_string(), fits), message);
            self.found.push(diagnostic.related(declared, "the type is given here"));
        }
    }

    fn control(&mut self, control: &Control<'a>, to: Goes) -> Seen {
        match control {
            Control::If(node) => self.branches(node, to),
            Control::Match(node) => self.arms(node, to),
            Control::For(node) => self.passes(node, to),
        }
    }

    fn branches(&mut self, node: &If<'a>, to: Goes) -> Seen {
        self.condition(&node.condition, "IF");
        let then = self.block(&node.then, to);
        let otherwise = node.otherwise.as_ref().and_then(|block| self.block(block, to));
        join(then, otherwise)
    }

    fn arms(&mut self, node: &Match<'a>, to: Goes) -> Seen {
        let result = self.slot(node.slot);
        let mut seen = None;
        if let Some(arm) = &node.err {
            // Where the arm binds the slot to nothing else, it is this failure there and no other value; behind an arm that
            // ends the function it is not this one.
            let only = !arm.body.binds(arm.bind);
            self.failures.extend(only.then_some((arm.bind, result.err, arm.bind_span)));
            if !only || arm.body.completes() {
                self.bind(arm.bind, result.err, arm.bind_span);
            }
            seen = self.block(&arm.body, to);
            if only {
                self.failures.pop();
            }
        }
        if let Some(arm) = &node.ok {
            self.bind(arm.bind, result.ok, arm.bind_span);
            join(seen, self.block(&arm.body, to))
        } else {
            self.bind(node.slot, result.ok, node.slot_span);
            seen
        }
    }

    fn passes(&mut self, node: &For<'a>, to: Goes) -> Seen {
        let list = self.list(&node.list, "FOR runs over a list");
        self.bind(node.item, list.and_then(Inferred::item), node.item_span);
        let pass = self.block(&node.body, if to == Goes::Nowhere { to } else { Goes::Kept });
        if !self.facts.yields.get(node.id.0 as usize).copied().unwrap_or(false) {
            return None;
        }
        let seen = pass.map(Inferred::list);
        let wanted = Inferred::from(self.function.output.ok.ty);
        if let Some(found) = seen.filter(|found| to == Goes::Out && !found.meets(wanted)) {
            let message =
                format!("`{}` gives {wanted}, but this FOR yields {found}", self.function.name.text);
            let diagnostic = Diagnostic::new(Code::TypeMismatch, node.span, message)
                .expected(wanted.to_string(), found.to_string())
                .related(self.function.output.ok.span, "the type is given here");
            self.found.push(diagnostic);
        }
        seen
    }

    fn expression(&mut self, expression: &Expr<'a>) -> Seen {
        if !self.doubts.is_empty() && self.doubts.contains(&expression.span) {
            return Some(Inferred::ANY);
        }
        match &expression.kind {
            ExprKind::Ref(slot) => match self.failure_of(*slot) {
                Some((seen, _)) => seen,
                None => self.slot(*slot).plain,
            },
            ExprKind::Literal(literal) => Some(literal_type(*literal)),
            ExprKind::Field(of, name) => {
                self.field(of, name.text);
                Some(Inferred::ANY)
            }
            ExprKind::Call(call) => Some(self.call(call)),
            ExprKind::Unary(Unary::Not, of) => {
                self.condition(of, "NOT");
                Some(Inferred::BOOL)
            }
            ExprKind::Unary(Unary::Len, of) => Some(self.length(of)),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExprKind::Has(of, _) => {
                self.record(of, "HAS asks a record");
                Some(Inferred::BOOL)
            }
            ExprKind::MatchMap(map) => self.cases(map),
            ExprKind::Record(fields) => Some(self.fields(fields)),
            ExprKind::Merge(of, fields) => {
                self.record(of, "MERGE takes a record");
                Some(self.fields(fields))
            }
            ExprKind::List(items) => Some(self.items(items)),
        }
    }

    fn fields(&mut self, fields: &[Field<'a>]) -> Inferred {
        for field in fields {
            self.expression(&field.value);
        }
        Inferred::RECORD
    }

    fn items(&mut self, items: &[Expr<'a>]) -> Inferred {
        let mut all = None;
        for item in items {
            all = join(all, self.expression(item));
        }
        all.unwrap_or(Inferred::ANY).list()
    }

    fn cases(&mut self, map: &MatchMap<'a>) -> Seen {
        let subject = self.expression(&map.subject);
        let mut all = None;
        let unmet = |case: &&Case<'a>| subject.is_some_and(|subject| is_unmet(subject, case.key));
        if let (Some(subject), Some(case)) = (subject, map.cases.iter().find(unmet)) {
            self.never_met(subject, case);
        }
        for case in map.cases {
            all = join(all, self.expression(&case.value));
        }
        if let Some(default) = &map.default {
            all = join(all, self.expression(default));
        }
        all
    }

    fn length(&mut self, of: &Expr<'a>) -> Inferred {
        let seen = self.expression(of);
        let fits = |known: Inferred| {
            known.item().is_some() || known.meets(Inferred::TEXT) || known.meets(Inferred::RECORD)
        };
        self.demand(of, seen, fits, "a text, list or record", "LEN measures a text, list or record");
        Inferred::NUMBER
    }

    fn binary(&mut self, operator: Binary, left: &Expr<'a>, right: &Expr<'a>) -> Seen {
        match operator {
            Binary::Add if self.function.notation != Notation::Id => Some(self.sum(left, right)),
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Mod => {
                self.number(left, "arithmetic takes numbers");
                self.number(right, "arithmetic takes numbers");
                Some(Inferred::NUMBER)
            }
            Binary::Eq | Binary::Neq => {
                let (a, b) = (self.expression(left), self.expression(right));
                self.never_equal((left, a), (right, b));
                Some(Inferred::BOOL)
            }
            Binary::Gt | Binary::Gte | Binary::Lt | Binary::Lte => Some(self.compare(left, right)),
            Binary::And | Binary::Or => {
                let word = if operator == Binary::And { "AND" } else { "OR" };
                self.condition(left, word);
                self.condition(right, word);
                Some(Inferred::BOOL)
            }
            Binary::Concat => {
                self.expression(left);
                self.expression(right);
                Some(Inferred::TEXT)
            }
            Binary::Append => self.append(left, right),
            Binary::At => {
                let list = self.list(left, "AT reads a list");
                self.number(right, "AT takes a number as index");
                list.and_then(Inferred::item)
            }
            Binary::HasName => {
                self.record(left, "HAS asks a record");
                let seen = self.expression(right);
                self.demand(
                    right,
                    seen,
                    |known| known.meets(Inferred::TEXT),
                    "text",
                    "HAS takes a text as name",
                );
                Some(Inferred::BOOL)
            }
        }
    }

    /// A sum as documents write it. Who adds texts means to join them, and is told so once.
    fn sum(&mut self, left: &Expr<'a>, right: &Expr<'a>) -> Inferred {
        let (a, b) = (self.expression(left), self.expression(right));
        let of_text = [(left, a), (right, b)].into_iter().find(|(_, seen)| *seen == Some(Inferred::TEXT));
        if let Some((operand, _)) = of_text {
            let message = "`+` adds numbers, but this is text".to_owned();
            let expected = (Inferred::NUMBER.to_string(), |_| false);
            let diagnostic = self.mismatch(operand, Inferred::TEXT, expected, message);
            self.found.push(diagnostic.help("`concat` joins texts"));
            return Inferred::ANY;
        }
        for (operand, seen) in [(left, a), (right, b)] {
            self.demand(
                operand,
                seen,
                |known| known.meets(Inferred::NUMBER),
                "number",
                "arithmetic takes numbers",
            );
        }
        Inferred::NUMBER
    }

    fn compare(&mut self, left: &Expr<'a>, right: &Expr<'a>) -> Inferred {
        const WHAT: &str = "comparison takes two numbers or two texts";
        let ordered = |known: Inferred| known.meets(Inferred::NUMBER) || known.meets(Inferred::TEXT);
        let (a, b) = (self.expression(left), self.expression(right));
        let left_fits = self.demand(left, a, ordered, "number or text", WHAT);
        let right_fits = self.demand(right, b, ordered, "number or text", WHAT);
        if let (Some(a), true, true) = (a, left_fits, right_fits) {
            self.demand(right, b, |b| b.meets(a), a, WHAT);
        }
        Inferred::BOOL
    }

    /// Warns of two values that no run finds equal. Nil is what any value may be absent as, and an empty list equals another.
    fn never_equal(&mut self, left: (&Expr<'a>, Seen), right: (&Expr<'a>, Seen)) {
        let (Some(a), Some(b)) = (left.1, right.1) else { return };
        let made =
            |of: &Expr<'_>| matches!(of.kind, ExprKind::Literal(_) | ExprKind::List(_) | ExprKind::Record(_));
        let constants = made(left.0) && made(right.0);
        if a.meets(b) || constants || [a, b].contains(&Inferred::NIL) || (a.lists > 0 && b.lists > 0) {
            return;
        }
        let (at, found, other) = match left.0.kind {
            ExprKind::Literal(_) => (left.0, a, b),
            _ => (right.0, b, a),
        };
        let message = format!("{found} is compared with {other}: they are never equal");
        let warning = Diagnostic::new(Code::NeverEqual, at.span, message)
            .expected(other.to_string(), found.to_string());
        self.found.push(mend::literal(warning, at, self.function.notation, |meant| meant == other));
    }

    /// Warns of a case that the value which is matched never meets.
    fn never_met(&mut self, subject: Inferred, case: &Case<'a>) {
        let key = literal_type(case.key);
        let message = format!("what is matched is {subject}, which this {key} never equals");
        let warning = Diagnostic::new(Code::NeverEqual, case.key_span, message)
            .expected(subject.to_string(), key.to_string());
        let help = match (key, subject, self.function.notation) {
            (Inferred::TEXT, Inferred::NUMBER | Inferred::BOOL, Notation::Workflow) => {
                Some("write the key without quotes")
            }
            (Inferred::TEXT, Inferred::NUMBER | Inferred::BOOL, Notation::Id) => {
                Some("write the key without quotes")
            }
            (Inferred::TEXT, Inferred::NUMBER, _) => {
                Some("write the cases as a list of pairs, whose keys may be numbers: `[[1, …], [2, …]]`")
            }
            (Inferred::TEXT, Inferred::BOOL, _) => {
                Some("write the cases as a list of pairs: `[[true, …], [false, …]]`, or a step with `if`")
            }
            _ => None,
        };
        self.found.push(match help {
            Some(help) => warning.help(help),
            None => warning,
        });
    }

    fn append(&mut self, list: &Expr<'a>, item: &Expr<'a>) -> Seen {
        let list = self.list(list, "APPEND takes a list");
        let item = self.expression(item);
        let items = list.and_then(Inferred::item)?;
        Some(item.map_or(items, |item| items.join(item)).list())
    }

    /// The type of a list; a list of anything where it is none.
    fn list(&mut self, expression: &Expr<'a>, what: &str) -> Seen {
        let seen = self.expression(expression);
        self.demand(expression, seen, |known| known.item().is_some(), "list", what);
        seen.map(|known| known.item().map_or(Inferred::ANY, |item| item).list())
    }

    fn number(&mut self, expression: &Expr<'a>, what: &str) {
        let seen = self.expression(expression);
        self.demand(expression, seen, |known| known.meets(Inferred::NUMBER), "number", what);
    }

    fn record(&mut self, expression: &Expr<'a>, what: &str) {
        let seen = self.expression(expression);
        self.demand(expression, seen, |known| known.meets(Inferred::RECORD), "record", what);
    }

    /// A field of a record. What other languages count by a field is counted by LEN.
    fn field(&mut self, of: &Expr<'a>, name: &str) {
        let before = self.found.mark();
        self.record(of, "FIELD reads a record");
        if matches!(name, "length" | "size" | "count" | "len") {
            self.found.reword(before, |wrong| {
                wrong.help =
                    Some("LEN counts the elements of a list and the characters of a text".to_owned());
            });
        }
    }

    fn condition(&mut self, expression: &Expr<'a>, word: &str) {
        let seen = self.expression(expression);
        let fits = |known: Inferred| known.meets(Inferred::BOOL) || known.meets(Inferred::NIL);
        if let Some(found) = seen.filter(|&found| !fits(found)) {
            let message = format!("{word} takes a bool or nil, but this is {found}");
            let mut diagnostic = self.mismatch(expression, found, ("bool or nil".to_owned(), fits), message);
            if found == Inferred::NUMBER && self.function.notation != Notation::Id {
                diagnostic = diagnostic.help("compare it with another number");
            }
            self.found.push(Diagnostic { code: Code::ConditionType, ..diagnostic });
        }
    }

    /// Reports a known type that does not fit; whether it does.
    fn demand(
        &mut self,
        expression: &Expr<'a>,
        seen: Seen,
        fits: impl Fn(Inferred) -> bool,
        expected: impl Display,
        what: &str,
    ) -> bool {
        let Some(found) = seen.filter(|&found| !fits(found)) else { return true };
        let message = format!("{what}, but this is {found}");
        let diagnostic = self.mismatch(expression, found, (expected.to_string(), fits), message);
        self.found.push(diagnostic);
        false
    }

    /// A mismatch that says where the type comes from, or what to write in place of a constant. Of what is expected: in
    /// words, and whether a type is that.
    fn mismatch(
        &self,
        expression: &Expr<'a>,
        found: Inferred,
        expected: (String, impl Fn(Inferred) -> bool),
        message: String,
    ) -> Diagnostic {
        let (expected, fits) = expected;
        let diagnostic = Diagnostic::new(Code::TypeMismatch, expression.span, message)
            .expected(expected, found.to_string());
        let diagnostic = mend::literal(diagnostic, expression, self.function.notation, fits);
        match expression.kind {
            ExprKind::Ref(slot) => match self.origin(slot) {
                Some(span) => {
                    let name = slot_name(self.function, slot);
                    diagnostic.related(span, format!("{name} gets its type, {found}, here"))
                }
                None => diagnostic,
            },
            ExprKind::Call(call) => match self.callee(call) {
                Some(callee) => {
                    diagnostic.related(callee.output.ok.span, format!("`{}` gives {found}", callee.name.text))
                }
                None => diagnostic,
            },
            _ => diagnostic,
        }
    }

    /// Where a slot that is read here gets its type.
    fn origin(&self, slot: Slot) -> Option<Span> {
        let plain = || self.slots.get(slot.0 as usize).and_then(|info| info.origin);
        self.failure_of(slot).map(|(_, span)| span).or_else(plain)
    }

    fn call_facts(&self, call: &Call<'a>) -> CallFacts {
        self.facts.calls.get(call.id.0 as usize).copied().unwrap_or_default()
    }

    fn callee(&self, call: &Call<'a>) -> Option<&Function<'a>> {
        self.file.functions.get(self.call_facts(call).function? as usize)
    }

    /// What a call's failure is. A tool's is mostly a text, but nothing says so.
    fn failure(&self, call: &Call<'a>) -> Inferred {
        self.callee(call).and_then(|callee| callee.output.err).map_or(Inferred::ANY, |err| err.ty.into())
    }

    fn call(&mut self, call: &Call<'a>) -> Inferred {
        let resolved = self.resolved.get(call.id.0 as usize);
        for (index, argument) in call.arguments.iter().enumerate() {
            let seen = self.expression(&argument.value);
            let wanted = resolved.and_then(|resolved| resolved.wanted.get(index).copied().flatten());
            let Some(wanted) = wanted else { continue };
            if let Some(found) = seen.filter(|found| !found.meets(wanted.known)) {
                let (tool, name) = (call.tool.text, argument.name.text);
                let message = format!("`{name}` of `{tool}` takes {}, but this is {found}", wanted.known);
                let expected = (wanted.known.to_string(), |meant: Inferred| meant.meets(wanted.known));
                let diagnostic = self.mismatch(&argument.value, found, expected, message);
                self.found.push(match wanted.declared {
                    Some(span) => diagnostic.related(span, "the parameter's type is given here"),
                    None => diagnostic,
                });
            }
        }
        match resolved.map(|resolved| resolved.target) {
            Some(Target::Function(_)) => {
                self.callee(call).map_or(Inferred::ANY, |callee| callee.output.ok.ty.into())
            }
            Some(Target::Tool(tool)) => tool.output,
            _ => Inferred::ANY,
        }
    }
}

/// Whether what is matched never meets a case.
fn is_unmet(subject: Inferred, key: Literal<'_>) -> bool {
    let key = literal_type(key);
    key != Inferred::NIL && subject != Inferred::NIL && !subject.meets(key)
}

fn literal_type(literal: Literal<'_>) -> Inferred {
    match literal {
        Literal::Nil => Inferred::NIL,
        Literal::Bool(_) => Inferred::BOOL,
        Literal::Number(_) => Inferred::NUMBER,
        Literal::Text(_) => Inferred::TEXT,
    }
}
