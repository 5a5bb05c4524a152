//! Gradual types: infers the type of every value, and reports values that cannot fit.
//!
//! What words take and give is in [`crate::rules`]. A slot has the type that all its bindings in the function
//! agree on. Since a loop lets a binding depend on a later one, inference is repeated to a fixed point: every
//! pass starts from the types of the last one, and types only ever become less precise. Only the diagnostics
//! of the last pass count, in which no slot changed after it was read.

use super::facts::{CallFacts, Facts};
use super::messages::types as messages;
use super::messages::types::{Origin, Typed};
use super::resolve::{Resolved, Target};
use crate::ast::{
    Apply, Binary, Block, Bound, Call, CallId, Case, Control, Expr, ExprKind, Field, File, For, Function, If,
    Literal, Match, MatchMap, ReturnKind, Slot, Stmt, StmtKind,
};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::notation::Notation;
use crate::rules::{self, Demand};
use crate::span::Span;
use crate::types::Inferred;
use ilo_spec::node::Word;
use ilo_spec::number;
use ilo_spec::pure::Pure;
use ilo_spec::types::Type;
use smallvec::{SmallVec, smallvec};

/// Passes before the types of all bound slots are taken as unknown. One suffices where every slot is bound
/// before it is read; a chain of slots that depend on later ones takes one more for each link.
const PASSES: usize = 8;

/// Checks the types of a function. The expressions at the `suspects` count as of unknown type.
pub(super) fn check(
    file: &File<'_>,
    function: &Function<'_>,
    facts: &Facts,
    resolved: &[Resolved<'_>],
    suspects: &[Span],
) -> Diagnostics {
    let slots = function.slots.len();
    let mut types = Types {
        file,
        function,
        facts,
        resolved,
        suspects,
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

/// The types of a slot; `None` before any binding.
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
    suspects: &'t [Span],
    slots: SmallVec<[Slots; 16]>,
    /// The slots of the ERR arms around, with their types and the places of their bindings.
    failures: SmallVec<[(Slot, Seen, Span); 4]>,
    /// A slot changed after it was read in this pass.
    changed: bool,
    found: Diagnostics,
}

/// What uses the value of a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    /// Nothing does.
    Nowhere,
    /// A bound slot or loop, or the end of a function that gives nil.
    Kept,
    /// The function, as its output.
    Out,
}

/// The type of a value; `None` before any binding, or where there is no value.
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
    /// Makes the type of every bound slot unknown, which is sound whatever depends on what.
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

    /// The types of a slot that is read here.
    fn slot(&mut self, slot: Slot) -> Slots {
        let Some(info) = self.slots.get_mut(slot.0 as usize) else { return Slots::default() };
        info.read = true;
        *info
    }

    /// The type of a slot in an ERR arm that binds it, and the place of the binding.
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
            StmtKind::Undo(call) | StmtKind::Rollback(call) => {
                self.call(call);
                None
            }
            StmtKind::Break => None,
            StmtKind::Control(control) => self.control(control, to),
        }
    }

    /// Reports a value that nothing uses, unless it makes a call.
    fn unused(&mut self, value: &Expr<'a>) {
        if self.function.notation == Notation::Id && !value.calls() {
            self.found.push(messages::unused(self.function, value));
        }
    }

    fn bind_value(&mut self, slot: Slot, value: &Expr<'a>, span: Span) {
        let seen = self.expression(value);
        if !value.attempt().is_some_and(|id| self.call_facts(id).checked) {
            return self.bind(slot, seen, span);
        }
        // A pure function fails with a text.
        let err = if let ExprKind::Call(call) = value.kind { self.failure(call) } else { Inferred::TEXT };
        self.learn(slot, seen, span, |info| &mut info.ok);
        self.learn(slot, Some(err), span, |info| &mut info.err);
    }

    fn leave(&mut self, kind: ReturnKind, value: &Expr<'a>) {
        let seen = self.expression(value);
        let output = self.function.output;
        match (kind, output.err) {
            (ReturnKind::Err, Some(err)) => self.output(value, seen, err.ty.into(), err.span),
            (ReturnKind::Err, None) => {}
            // RET with a value of the failure's type: the wrong word is reported already.
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
            let value = self.typed(value, found);
            self.found.push(messages::output(self.function, value, wanted, declared));
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
        let condition = self.expression(&node.condition);
        self.operand(Word::If, 0, &node.condition, condition, None);
        let then = self.block(&node.then, to);
        let otherwise = node.otherwise.as_ref().and_then(|block| self.block(block, to));
        join(then, otherwise)
    }

    fn arms(&mut self, node: &Match<'a>, to: Goes) -> Seen {
        let result = self.slot(node.slot);
        let mut seen = None;
        if let Some(arm) = &node.err {
            // Where nothing else in the arm binds the slot, it has the type of this failure there. After an
            // arm that ends the function it does not.
            let only = !arm.body.binds(arm.bind);
            self.failures.extend(only.then_some((arm.bind, result.err, arm.bind_span)));
            if !(only && arm.body.leaves_function()) {
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
        let list = self.expression(&node.list);
        self.operand(Word::For, 0, &node.list, list, None);
        self.bind(node.item, list.map(rules::item), node.item_span);
        let pass = self.block(&node.body, if to == Goes::Nowhere { to } else { Goes::Kept });
        if let Some(block) = &node.otherwise {
            self.block(block, Goes::Nowhere);
        }
        if !self.facts.yields.get(node.id.0 as usize).copied().unwrap_or(false) {
            return None;
        }
        let seen = rules::gives(Word::For, list, pass);
        let wanted = Inferred::from(self.function.output.ok.ty);
        if let Some(found) = seen.filter(|found| to == Goes::Out && !found.meets(wanted)) {
            self.found.push(messages::loop_output(self.function, node.span, found));
        }
        seen
    }

    fn expression(&mut self, expression: &Expr<'a>) -> Seen {
        if !self.suspects.is_empty() && self.suspects.contains(&expression.span) {
            return Some(Inferred::ANY);
        }
        match &expression.kind {
            ExprKind::Ref(slot) => match self.failure_of(*slot) {
                Some((seen, _)) => seen,
                None => self.slot(*slot).plain,
            },
            ExprKind::Literal(literal) => Some(literal.ty().into()),
            ExprKind::Field(of, name) => self.field(of, name.text),
            ExprKind::Call(call) => Some(self.call(call)),
            ExprKind::Unary(operator, of) => self.unary(operator.word(), of),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExprKind::Has(of, _) => self.unary(Word::Has, of),
            ExprKind::MatchMap(map) => self.cases(map),
            ExprKind::Record(fields) => {
                self.fields(fields);
                rules::gives(Word::Obj, None, None)
            }
            ExprKind::Merge(of, fields) => {
                let seen = self.unary(Word::Merge, of);
                self.fields(fields);
                seen
            }
            ExprKind::List(items) => self.items(items),
            ExprKind::Apply(apply) => self.applied(apply),
            ExprKind::Template(parts) => {
                for part in *parts {
                    let seen = self.expression(part);
                    self.nil_in_text(part, seen);
                }
                Some(Inferred::TEXT)
            }
        }
    }

    /// A pure function, each of whose operands has the kinds of the function's row.
    fn applied(&mut self, apply: &Apply<'a>) -> Seen {
        let word = Word::of_pure(apply.function);
        let mut first = None;
        for (index, operand) in apply.operands.iter().enumerate() {
            let seen = self.expression(operand);
            self.operand(word, index, operand, seen, None);
            first = if index == 0 { seen } else { first };
        }
        rules::gives(word, first, None)
    }

    fn fields(&mut self, fields: &[Field<'a>]) {
        for field in fields {
            self.expression(&field.value);
        }
    }

    fn items(&mut self, items: &[Expr<'a>]) -> Seen {
        let mut all = None;
        for item in items {
            all = join(all, self.expression(item));
        }
        rules::gives(Word::List, None, all.or(Some(Inferred::ANY)))
    }

    fn cases(&mut self, map: &MatchMap<'a>) -> Seen {
        let subject = self.expression(&map.subject);
        if let Some(subject) = subject {
            let met = |case: &Case<'a>| rules::may_be_equal(subject, case.key.ty().into());
            // A key of JSON may be two cases, of which one suffices.
            let mut keys = map.cases.chunk_by(|one, other| one.key_span == other.key_span);
            if let Some(case) = keys.find(|cases| !cases.iter().any(met)).and_then(<[_]>::first) {
                self.found.push(messages::never_met(self.function.notation, subject, case));
            }
        }
        let mut all = None;
        for value in map.cases.iter().map(|case| &case.value).chain(&map.default) {
            all = join(all, self.expression(value));
        }
        rules::gives(Word::MatchMap, subject, all)
    }

    /// A word whose first operand alone is checked here.
    fn unary(&mut self, word: Word, of: &Expr<'a>) -> Seen {
        let seen = self.expression(of);
        self.operand(word, 0, of, seen, None);
        rules::gives(word, seen, None)
    }

    fn binary(&mut self, operator: Binary, left: &Expr<'a>, right: &Expr<'a>) -> Seen {
        let word = operator.word();
        let (a, b) = (self.expression(left), self.expression(right));
        if operator == Binary::Add && self.function.notation != Notation::Id {
            // A sum of texts is meant to join them: it is reported once and its type is unknown.
            let text = [(left, a), (right, b)].into_iter().find(|(_, seen)| *seen == Some(Inferred::TEXT));
            if let Some((operand, _)) = text {
                let value = self.typed(operand, Inferred::TEXT);
                self.found.push(messages::sum_of_text(self.function, value));
                return Some(Inferred::ANY);
            }
        }
        match operator {
            Binary::Eq | Binary::Neq => self.never_equal((left, a), (right, b)),
            Binary::Gt | Binary::Gte | Binary::Lt | Binary::Lte => self.text_order(left, right),
            Binary::Concat => {
                [(left, a), (right, b)].iter().for_each(|(part, seen)| self.nil_in_text(part, *seen));
                self.list_in_text((left, a), (right, b));
            }
            _ => {}
        }
        let first = a.filter(|_| self.operand(word, 0, left, a, None));
        self.operand(word, 1, right, b, first);
        rules::gives(word, a, b)
    }

    /// Warns of a list beside a text in CONCAT.
    fn list_in_text(&mut self, left: (&Expr<'a>, Seen), right: (&Expr<'a>, Seen)) {
        for ((list, seen), (_, other)) in [(left, right), (right, left)] {
            if let Some(found) = seen.filter(|seen| seen.lists > 0 && other == Some(Inferred::TEXT)) {
                let list = self.typed(list, found);
                self.found.push(messages::list_in_text(self.function, list));
            }
        }
    }

    /// Warns of a part of a text that is nil in every run.
    fn nil_in_text(&mut self, part: &Expr<'a>, seen: Seen) {
        if seen == Some(Inferred::NIL) {
            let value = self.typed(part, Inferred::NIL);
            self.found.push(messages::nil_in_text(self.function, value));
        }
    }

    /// Warns of two texts that are numbers and are compared as texts.
    fn text_order(&mut self, left: &Expr<'a>, right: &Expr<'a>) {
        if self.is_number_text(left) && self.is_number_text(right) {
            self.found.push(messages::text_order(self.function, left, right));
        }
    }

    /// Whether a value is a text that a number renders.
    fn is_number_text(&mut self, value: &Expr<'a>) -> bool {
        match value.kind {
            ExprKind::Literal(Literal::Text(text)) => text.len() <= 32 && number::parse(text).is_ok(),
            ExprKind::Apply(Apply { function: Pure::Fixed, .. }) => true,
            ExprKind::Apply(Apply { function: Pure::Json, operands: [of], .. }) => match of.kind {
                ExprKind::Literal(Literal::Number(_)) => true,
                ExprKind::Ref(slot) => self.slot(slot).plain == Some(Inferred::NUMBER),
                _ => false,
            },
            _ => false,
        }
    }

    /// Warns of two values that no run finds equal.
    fn never_equal(&mut self, left: (&Expr<'a>, Seen), right: (&Expr<'a>, Seen)) {
        let (Some(a), Some(b)) = (left.1, right.1) else { return };
        let made =
            |of: &Expr<'_>| matches!(of.kind, ExprKind::Literal(_) | ExprKind::List(_) | ExprKind::Record(_));
        if rules::may_be_equal(a, b) || (made(left.0) && made(right.0)) {
            return;
        }
        let (at, found, other) = match left.0.kind {
            ExprKind::Literal(_) => (left.0, a, b),
            _ => (right.0, b, a),
        };
        self.found.push(messages::never_equal(self.function, at, found, other));
    }

    /// A field of a record. Other languages have a length as a field.
    fn field(&mut self, of: &Expr<'a>, name: &str) -> Seen {
        let seen = self.expression(of);
        if let Some(wrong) = self.misfit(Word::Field, 0, of, seen, None) {
            let counts = matches!(name, "length" | "size" | "count" | "len");
            let counted = |wrong| messages::counted_by_field(self.function, wrong);
            self.found.push(if counts { counted(wrong) } else { wrong });
        }
        rules::gives(Word::Field, seen, None)
    }

    /// Reports an operand that its word does not take; whether it does.
    fn operand(&mut self, word: Word, index: usize, expression: &Expr<'a>, seen: Seen, first: Seen) -> bool {
        let misfit = self.misfit(word, index, expression, seen, first);
        let fits = misfit.is_none();
        misfit.into_iter().for_each(|wrong| self.found.push(wrong));
        fits
    }

    /// The diagnostic of an operand that its word does not take.
    fn misfit(
        &self,
        word: Word,
        index: usize,
        expression: &Expr<'a>,
        seen: Seen,
        first: Seen,
    ) -> Option<Diagnostic> {
        let demand: Demand = rules::operand(word, index, first);
        let found = seen.filter(|&found| !demand.accepts(found))?;
        Some(messages::operand(self.function, word, index, self.typed(expression, found), demand))
    }

    /// An expression of a type, with where that comes from.
    fn typed<'e>(&'e self, expression: &'e Expr<'a>, found: Inferred) -> Typed<'e, 'a> {
        let origin = match expression.kind {
            ExprKind::Ref(slot) => self.origin(slot).map(|span| Origin::Slot(slot, span)),
            ExprKind::Call(call) => self.callee(call).map(Origin::Function),
            _ => None,
        };
        Typed { expression, found, origin }
    }

    /// Where a slot that is read here gets its type.
    fn origin(&self, slot: Slot) -> Option<Span> {
        let plain = || self.slots.get(slot.0 as usize).and_then(|info| info.origin);
        self.failure_of(slot).map(|(_, span)| span).or_else(plain)
    }

    fn call_facts(&self, id: CallId) -> CallFacts {
        self.facts.calls.get(id.0 as usize).copied().unwrap_or_default()
    }

    fn callee(&self, call: &Call<'a>) -> Option<&Function<'a>> {
        self.file.functions.get(self.call_facts(call.id).function? as usize)
    }

    /// The type of a call's failure. That of a tool is mostly a text, but no schema declares it.
    fn failure(&self, call: &Call<'a>) -> Inferred {
        self.callee(call).and_then(|callee| callee.output.err).map_or(Inferred::ANY, |err| err.ty.into())
    }

    fn call(&mut self, call: &Call<'a>) -> Inferred {
        let resolved = self.resolved.get(call.id.0 as usize);
        for (index, argument) in call.arguments.iter().enumerate() {
            let seen = self.expression(&argument.value);
            let wanted = resolved.and_then(|resolved| resolved.wanted.get(index).copied().flatten());
            let Some(wanted) = wanted else { continue };
            if let Some(found) = seen.filter(|found| !found.meets(wanted.ty)) {
                let value = self.typed(&argument.value, found);
                let name = argument.name.text;
                let wrong = messages::argument(self.function, call, name, value, wanted.ty, wanted.declared);
                self.found.push(wrong);
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
