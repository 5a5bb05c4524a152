//! Gradual typing: infers the type of each value, and reports values that cannot fit.
//!
//! The operand and result types of words are in [`crate::rules`]. The types of a tool's arguments and answer
//! come from its schemas: `given` compares arguments with them in depth, and a field that is read from an
//! answer has its type. A read of a field that the schema does not list is a warning (`answer_fields`),
//! unless the function tests for it with HAS.
//!
//! The type of a slot is the join of all its bindings in the function. In a loop a binding may depend on a
//! later one, so inference is repeated to a fixed point: each pass starts from the types of the previous one,
//! and types only become less precise. Only the diagnostics of the last pass are kept, in which no slot
//! changed after it was read.

mod given;

use super::answer_fields::Read;
use super::facts::{CallFacts, Facts};
use super::messages::types as messages;
use super::messages::types::{Origin, Typed};
use super::resolve::{Resolved, Target};
use super::value_info::{Part, Seen, ValueInfo, join, ty};
use crate::ast::{
    Apply, Binary, Block, Bound, Call, CallId, Case, Control, Expr, ExprKind, Field, File, For, Function, If,
    Literal, Match, MatchMap, Name, ReturnKind, Slot, Stmt, StmtKind,
};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::notation::Notation;
use crate::rules::{self, Demand};
use crate::sorting::sort_by_key;
use crate::span::Span;
use crate::types::Inferred;
use hashbrown::HashSet;
use ilo_spec::node::Word;
use ilo_spec::number;
use ilo_spec::pure::Pure;
use ilo_spec::types::Type;
use smallvec::SmallVec;

/// The most passes; after them the types of all bound slots are unknown. One pass suffices if every slot is
/// bound before it is read; a chain of slots that depend on later ones takes one more for each link.
const PASSES: usize = 8;

/// The result of checking the types of a function.
pub(super) struct Found<'t, 'a> {
    /// The diagnostics of values that cannot fit.
    pub(super) diagnostics: Diagnostics,
    /// Reads of fields that the schemas of answers do not list.
    pub(super) reads: Vec<Read<'t, 'a>>,
    /// The spans of returned values that may not have the declared type, in order.
    pub(super) returns: Vec<Span>,
    /// The number of names that were compared for suggestions.
    pub(super) compared: usize,
}

/// Checks the types of a function. The expressions at the `suspects` count as having an unknown type.
pub(super) fn check<'t, 'a>(
    file: &'t File<'a>,
    function: &'t Function<'a>,
    facts: &Facts,
    resolved: &[Resolved<'t>],
    suspects: &[Span],
    comparisons: usize,
) -> Found<'t, 'a> {
    let mut types = Types::new(file, function, facts, resolved, suspects, comparisons);
    types.infer();
    let Types { found, asked, mut reads, mut returns, comparisons: left, .. } = types;
    reads.retain(|read| !asked.contains(read.name.text));
    sort_by_key(&mut returns, |span| (span.start, span.end));
    Found { diagnostics: found, reads, returns, compared: comparisons.saturating_sub(left) }
}

/// The types of the slots of a function.
pub(super) fn slots<'t>(
    file: &'t File<'_>,
    function: &'t Function<'_>,
    facts: &Facts,
    resolved: &[Resolved<'t>],
) -> Vec<[Seen<'t>; 3]> {
    let mut types = Types::new(file, function, facts, resolved, &[], 0);
    types.infer();
    types.slots.iter().map(|slot| [slot.plain, slot.ok, slot.err]).collect()
}

/// The types of a slot; each is `None` without a binding.
#[derive(Clone, Copy, Default)]
struct Slots<'t> {
    /// Its plain values.
    plain: Seen<'t>,
    /// The values of the calls whose results a MATCH handles.
    ok: Seen<'t>,
    /// The failures of these calls.
    err: Seen<'t>,
    /// The origin of the plain value.
    origin: Option<Span>,
    /// Whether anything other than a parameter binds it.
    bound: bool,
    /// Whether this pass has read it.
    read: bool,
}

struct Types<'l, 't, 'a> {
    file: &'t File<'a>,
    function: &'t Function<'a>,
    facts: &'l Facts,
    resolved: &'l [Resolved<'t>],
    suspects: &'l [Span],
    slots: SmallVec<[Slots<'t>; 16]>,
    /// The slots of the enclosing ERR arms, with their types and the spans of their bindings.
    failures: SmallVec<[(Slot, Seen<'t>, Span); 4]>,
    /// Whether a slot changed after it was read in this pass.
    changed: bool,
    found: Diagnostics,
    /// The fields for which HAS tests.
    asked: HashSet<&'a str>,
    reads: Vec<Read<'t, 'a>>,
    returns: Vec<Span>,
    /// The number of names that may still be compared for suggestions.
    comparisons: usize,
}

/// The use of the value of a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    /// Nothing does.
    Nowhere,
    /// A bound slot or loop, or the end of a function that returns nil.
    Kept,
    /// The function, as its output.
    Out,
}

/// Whether a value is that of the previous step: in JSON and YAML, what a step binds is also its value.
fn implied(last: &Stmt<'_>, before: &[Stmt<'_>]) -> bool {
    match (last.kind, before.last().map(|before| before.kind)) {
        (StmtKind::Value(Expr { kind: ExprKind::Ref(read), .. }), Some(StmtKind::Let { slot, .. })) => {
            read == slot
        }
        _ => false,
    }
}

impl<'l, 't, 'a> Types<'l, 't, 'a> {
    fn new(
        file: &'t File<'a>,
        function: &'t Function<'a>,
        facts: &'l Facts,
        resolved: &'l [Resolved<'t>],
        suspects: &'l [Span],
        comparisons: usize,
    ) -> Types<'l, 't, 'a> {
        Types {
            file,
            function,
            facts,
            resolved,
            suspects,
            slots: SmallVec::new(),
            failures: SmallVec::new(),
            changed: false,
            found: Diagnostics::default(),
            asked: HashSet::new(),
            reads: Vec::new(),
            comparisons,
            returns: Vec::new(),
        }
    }

    /// Walks the function until no type changes.
    fn infer(&mut self) {
        let comparisons = self.comparisons;
        // Filled in place: it is large to move.
        self.slots.resize(self.function.slots.len(), Slots::default());
        for (slot, parameter) in self.slots.iter_mut().zip(self.function.parameters) {
            slot.plain = Some(ValueInfo::declared(parameter.ty.ty.into()));
            slot.origin = Some(parameter.ty.span);
        }
        for pass in 0.. {
            self.changed = false;
            self.found = Diagnostics::default();
            self.reads.clear();
            self.comparisons = comparisons;
            self.returns.clear();
            self.slots.iter_mut().for_each(|slot| slot.read = false);
            let to = if self.function.output.ok.ty == Type::NIL { Goes::Kept } else { Goes::Out };
            self.block(&self.function.body, to);
            if !self.changed {
                break;
            }
            if pass == PASSES {
                self.forget();
            }
        }
    }

    /// Makes the type of each bound slot unknown, which is always sound.
    fn forget(&mut self) {
        for slot in self.slots.iter_mut().filter(|slot| slot.bound) {
            (slot.plain, slot.ok, slot.err) =
                (Some(ValueInfo::ANY), Some(ValueInfo::ANY), Some(ValueInfo::ANY));
        }
    }

    fn learn(
        &mut self,
        slot: Slot,
        seen: Seen<'t>,
        span: Span,
        part: for<'s> fn(&'s mut Slots<'t>) -> &'s mut Seen<'t>,
    ) {
        let Some(info) = self.slots.get_mut(slot.0 as usize) else { return };
        info.bound = true;
        info.origin.get_or_insert(span);
        let (before, joined) = (*part(info), join(*part(info), seen));
        let same = match (before, joined) {
            (Some(before), Some(joined)) => before.same(joined),
            (before, joined) => before.is_none() && joined.is_none(),
        };
        if !same {
            *part(info) = joined;
            self.changed |= info.read;
        }
    }

    fn bind(&mut self, slot: Slot, seen: Seen<'t>, span: Span) {
        self.learn(slot, seen, span, |info| &mut info.plain);
    }

    /// The types of a slot that is read.
    fn slot(&mut self, slot: Slot) -> Option<&Slots<'t>> {
        let info = self.slots.get_mut(slot.0 as usize)?;
        info.read = true;
        Some(info)
    }

    /// The type of a slot in an ERR arm that binds it, and the place of the binding.
    fn failure_of(&self, slot: Slot) -> Option<(Seen<'t>, Span)> {
        self.failures.iter().rev().find(|of| of.0 == slot).map(|&(_, seen, span)| (seen, span))
    }

    /// The type of a block's value.
    fn block(&mut self, block: &Block<'a>, to: Goes) -> Seen<'t> {
        let (last, before) = block.statements.split_last()?;
        for statement in before {
            self.statement(statement, Goes::Nowhere);
        }
        self.statement(last, if to == Goes::Nowhere && implied(last, before) { Goes::Kept } else { to })
    }

    fn statement(&mut self, statement: &Stmt<'a>, to: Goes) -> Seen<'t> {
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
        // The failure of a pure function is a text.
        let err = if let ExprKind::Call(call) = value.kind {
            self.failure(call)
        } else {
            ValueInfo::held(Inferred::TEXT)
        };
        self.learn(slot, seen, span, |info| &mut info.ok);
        self.learn(slot, Some(err), span, |info| &mut info.err);
    }

    fn leave(&mut self, kind: ReturnKind, value: &Expr<'a>) {
        let seen = self.expression(value);
        let output = self.function.output;
        match (kind, output.err) {
            (ReturnKind::Err, Some(err)) => {
                self.output(value, seen, err.ty.into(), err.span);
            }
            (ReturnKind::Err, None) => {}
            // RET with a value of the type of the failure: the wrong word is reported already.
            (ReturnKind::Plain, Some(err))
                if ty(seen)
                    .is_some_and(|seen| !seen.meets(output.ok.ty.into()) && seen.meets(err.ty.into())) => {}
            _ => self.gives(value, seen),
        }
    }

    fn gives(&mut self, value: &Expr<'a>, seen: Seen<'t>) {
        let ok = self.function.output.ok;
        self.output(value, seen, ok.ty.into(), ok.span);
        self.returned(seen, ok.ty.into(), value.span);
    }

    /// Notes a value whose type must be tested when it is returned.
    fn returned(&mut self, seen: Seen<'t>, wanted: Inferred, place: Span) {
        if !seen.unwrap_or(ValueInfo::declared(Inferred::ANY)).is_surely(wanted) {
            self.returns.push(place);
        }
    }

    fn output(&mut self, value: &Expr<'a>, seen: Seen<'t>, wanted: Inferred, declared: Span) {
        if let Some(found) = ty(seen).filter(|found| !found.meets(wanted)) {
            let value = self.typed(value, found);
            self.found.push(messages::output(self.function, value, wanted, declared));
        }
    }

    fn control(&mut self, control: &Control<'a>, to: Goes) -> Seen<'t> {
        match control {
            Control::If(node) => self.branches(node, to),
            Control::Match(node) => self.arms(node, to),
            Control::For(node) => self.passes(node, to),
        }
    }

    fn branches(&mut self, node: &If<'a>, to: Goes) -> Seen<'t> {
        let condition = self.expression(&node.condition);
        self.operand(Word::If, 0, &node.condition, condition, None);
        let then = self.block(&node.then, to);
        let otherwise = node.otherwise.as_ref().and_then(|block| self.block(block, to));
        join(then, otherwise)
    }

    fn arms(&mut self, node: &Match<'a>, to: Goes) -> Seen<'t> {
        let (ok, err) = self.slot(node.slot).map_or((None, None), |info| (info.ok, info.err));
        let mut seen = None;
        if let Some(arm) = &node.err {
            // If nothing else in the arm binds the slot, it has the type of this failure there, but not after
            // an arm that ends the function.
            let only = !arm.body.binds(arm.bind);
            self.failures.extend(only.then_some((arm.bind, err, arm.bind_span)));
            if !(only && arm.body.leaves_function()) {
                self.bind(arm.bind, err, arm.bind_span);
            }
            seen = self.block(&arm.body, to);
            if only {
                self.failures.pop();
            }
        }
        if let Some(arm) = &node.ok {
            self.bind(arm.bind, ok, arm.bind_span);
            join(seen, self.block(&arm.body, to))
        } else {
            self.bind(node.slot, ok, node.slot_span);
            seen
        }
    }

    fn passes(&mut self, node: &For<'a>, to: Goes) -> Seen<'t> {
        let list = self.expression(&node.list);
        self.operand(Word::For, 0, &node.list, list, None);
        self.bind(node.item, list.map(item), node.item_span);
        let pass = self.block(&node.body, if to == Goes::Nowhere { to } else { Goes::Kept });
        if let Some(block) = &node.otherwise {
            self.block(block, Goes::Nowhere);
        }
        if !self.facts.yields.get(node.id.0 as usize).copied().unwrap_or(false) {
            return None;
        }
        let seen = pass.map(listed);
        if to == Goes::Out {
            let wanted = Inferred::from(self.function.output.ok.ty);
            if let Some(found) = ty(seen).filter(|found| !found.meets(wanted)) {
                self.found.push(messages::loop_output(self.function, node.span, found));
            }
            self.returned(seen, wanted, node.span);
        }
        seen
    }

    /// Whether an expression is a suspect, which is reported already.
    fn is_suspect(&self, expression: &Expr<'a>) -> bool {
        !self.suspects.is_empty() && self.suspects.contains(&expression.span)
    }

    fn expression(&mut self, expression: &Expr<'a>) -> Seen<'t> {
        if self.is_suspect(expression) {
            return Some(ValueInfo::ANY);
        }
        match &expression.kind {
            ExprKind::Ref(slot) => match self.failure_of(*slot) {
                Some((seen, _)) => seen,
                None => self.slot(*slot).and_then(|info| info.plain),
            },
            ExprKind::Literal(literal) => {
                let part = if matches!(literal, Literal::Nil) { Part::Nothing } else { Part::Unknown };
                Some(ValueInfo::held(literal.ty().into()).with_part(part))
            }
            ExprKind::Field(of, name) => Some(self.field(of, *name)),
            ExprKind::Call(call) => Some(self.call(call)),
            ExprKind::Unary(operator, of) => self.unary(operator.word(), of),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExprKind::Has(of, name) => {
                self.asked.insert(name.text);
                self.unary(Word::Has, of)
            }
            ExprKind::MatchMap(map) => self.cases(map, &mut Types::expression),
            ExprKind::Record(fields) => {
                self.fields(fields);
                Some(ValueInfo::held(Inferred::RECORD))
            }
            ExprKind::Merge(of, fields) => {
                let seen = self.unary(Word::Merge, of);
                self.fields(fields);
                seen
            }
            ExprKind::List(items) => Some(self.items(items, &mut Types::expression)),
            ExprKind::Apply(apply) => self.applied(apply),
            ExprKind::Template(parts) => {
                for part in *parts {
                    let seen = self.expression(part);
                    self.nil_in_text(part, ty(seen));
                    if let Some(found) = ty(seen).filter(|seen| seen.lists > 0) {
                        let list = self.typed(part, found);
                        self.found.push(messages::list_in_template(self.function, list));
                    }
                }
                Some(ValueInfo::held(Inferred::TEXT))
            }
        }
    }

    /// A pure function. The kinds of its operands are in its row of the table.
    fn applied(&mut self, apply: &Apply<'a>) -> Seen<'t> {
        let word = Word::of_pure(apply.function);
        let mut first = None;
        for (index, operand) in apply.operands.iter().enumerate() {
            let seen = self.expression(operand);
            self.operand(word, index, operand, seen, None);
            first = if index == 0 { seen } else { first };
        }
        // SORT, REVERSE and SLICE keep the item type of their list.
        let keeps = matches!(apply.function, Pure::Sort | Pure::Reverse | Pure::Slice);
        let kept = first.filter(|first| keeps && first.ty.lists > 0);
        let known = rules::gives(word, ty(first), None)?;
        // A type that is taken from the first operand is as certain as that one.
        let alone = rules::gives(word, None, None);
        let held = alone == Some(known) || first.is_none_or(|first| first.held);
        let given = ValueInfo { held: held || known == Inferred::ANY, ..ValueInfo::held(known) };
        Some(kept.map_or(given, |kept| ValueInfo { ty: known, ..kept }))
    }

    fn fields(&mut self, fields: &[Field<'a>]) {
        for field in fields {
            self.expression(&field.value);
        }
    }

    fn items(&mut self, items: &[Expr<'a>], each: &mut Each<'_, 'l, 't, 'a>) -> ValueInfo<'t> {
        let mut all = None;
        for item in items {
            all = join(all, each(self, item));
        }
        let nothing = ValueInfo::ANY.with_part(Part::Nothing);
        listed(if items.is_empty() { nothing } else { all.unwrap_or(ValueInfo::ANY) })
    }

    /// A value selected by cases; `each` checks each case.
    fn cases(&mut self, map: &MatchMap<'a>, each: &mut Each<'_, 'l, 't, 'a>) -> Seen<'t> {
        let subject = self.expression(&map.subject);
        if let Some(subject) = ty(subject) {
            let met = |case: &Case<'a>| rules::may_be_equal(subject, case.key.ty().into());
            // A JSON key may be the key of two cases; one of them suffices.
            let mut keys = map.cases.chunk_by(|one, other| one.key_span == other.key_span);
            if let Some(case) = keys.find(|cases| !cases.iter().any(met)).and_then(<[_]>::first) {
                self.found.push(messages::never_met(self.function.notation, subject, case));
            }
        }
        let mut all = None;
        for value in map.cases.iter().map(|case| &case.value).chain(&map.default) {
            all = join(all, each(self, value));
        }
        all
    }

    /// A word of which only the first operand is checked here.
    fn unary(&mut self, word: Word, of: &Expr<'a>) -> Seen<'t> {
        let seen = self.expression(of);
        self.operand(word, 0, of, seen, None);
        rules::gives(word, ty(seen), None).map(ValueInfo::held)
    }

    fn binary(&mut self, operator: Binary, left: &Expr<'a>, right: &Expr<'a>) -> Seen<'t> {
        let word = operator.word();
        if let (Binary::At, ExprKind::Literal(Literal::Text(text))) = (operator, right.kind) {
            return Some(self.field_by_text(left, right, text));
        }
        if let (Binary::HasName, ExprKind::Literal(Literal::Text(name))) = (operator, right.kind) {
            self.asked.insert(name);
        }
        let (known, other) = (self.expression(left), self.expression(right));
        let (a, b) = (ty(known), ty(other));
        if operator == Binary::Add && self.function.notation != Notation::Id {
            // A sum of texts was meant to join them: it is reported once, and its type is unknown.
            let text = [(left, a), (right, b)].into_iter().find(|(_, seen)| *seen == Some(Inferred::TEXT));
            if let Some((operand, _)) = text {
                let value = self.typed(operand, Inferred::TEXT);
                self.found.push(messages::sum_of_text(self.function, value));
                return Some(ValueInfo::ANY);
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
        let first = known.filter(|_| self.operand(word, 0, left, known, None));
        self.operand(word, 1, right, other, ty(first));
        let given = rules::gives(word, a, b)?;
        Some(self::given(operator, given, known, other))
    }

    /// Warns about a list beside a text in CONCAT.
    fn list_in_text(&mut self, left: (&Expr<'a>, Option<Inferred>), right: (&Expr<'a>, Option<Inferred>)) {
        for ((list, seen), (_, other)) in [(left, right), (right, left)] {
            if let Some(found) = seen.filter(|seen| seen.lists > 0 && other == Some(Inferred::TEXT)) {
                let list = self.typed(list, found);
                self.found.push(messages::list_in_text(self.function, list));
            }
        }
    }

    /// Warns about a part of a text that is always nil.
    fn nil_in_text(&mut self, part: &Expr<'a>, seen: Option<Inferred>) {
        if seen == Some(Inferred::NIL) {
            let value = self.typed(part, Inferred::NIL);
            self.found.push(messages::nil_in_text(self.function, value));
        }
    }

    /// Warns about two texts that are numbers and are compared as texts.
    fn text_order(&mut self, left: &Expr<'a>, right: &Expr<'a>) {
        if self.is_number_text(left) && self.is_number_text(right) {
            self.found.push(messages::text_order(self.function, left, right));
        }
    }

    /// Whether a value is a text that is the rendering of a number.
    fn is_number_text(&mut self, value: &Expr<'a>) -> bool {
        match value.kind {
            ExprKind::Literal(Literal::Text(text)) => text.len() <= 32 && number::parse(text).is_ok(),
            ExprKind::Apply(Apply { function: Pure::Fixed, .. }) => true,
            ExprKind::Apply(Apply { function: Pure::Json, operands: [of], .. }) => match of.kind {
                ExprKind::Literal(Literal::Number(_)) => true,
                ExprKind::Ref(slot) => {
                    self.slot(slot).and_then(|info| ty(info.plain)) == Some(Inferred::NUMBER)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Warns about two values that are never equal.
    fn never_equal(&mut self, left: (&Expr<'a>, Option<Inferred>), right: (&Expr<'a>, Option<Inferred>)) {
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

    /// A read of a field. In other languages the length is a field.
    fn field(&mut self, of: &Expr<'a>, name: Name<'a>) -> ValueInfo<'t> {
        let seen = self.expression(of);
        if let Some(wrong) = self.misfit(Word::Field, 0, of, seen, None) {
            let counts = matches!(name.text, "length" | "size" | "count" | "len");
            let counted = |wrong| messages::counted_by_field(self.function, wrong);
            self.found.push(if counts { counted(wrong) } else { wrong });
        }
        self.part(seen, of, name)
    }

    /// The field that a literal text names; an error if an index belongs there.
    fn field_by_text(&mut self, of: &Expr<'a>, name: &Expr<'a>, text: &'a str) -> ValueInfo<'t> {
        let seen = self.expression(of);
        let key = self.expression(name);
        let first = seen.filter(|_| self.operand(Word::At, 0, of, seen, None));
        self.operand(Word::At, 1, name, key, ty(first));
        self.part(seen, of, Name { text, span: name.span })
    }

    /// What is known about a field that is read.
    fn part(&mut self, of: Seen<'t>, expression: &Expr<'a>, name: Name<'a>) -> ValueInfo<'t> {
        let Some(shape) = of.and_then(|of| of.part.shape()) else { return ValueInfo::ANY };
        if let Some((field, required)) = shape.field(name.text) {
            return ValueInfo::described(field, required);
        }
        let of = if let ExprKind::Field(_, of) = expression.kind { Some(of.text) } else { None };
        self.reads.push(Read { shape, name, of });
        ValueInfo::ANY
    }

    /// Whether an operand fits its word; if not, it is reported.
    fn operand(
        &mut self,
        word: Word,
        index: usize,
        expression: &Expr<'a>,
        seen: Seen<'t>,
        first: Option<Inferred>,
    ) -> bool {
        let misfit = self.misfit(word, index, expression, seen, first);
        let fits = misfit.is_none();
        misfit.into_iter().for_each(|wrong| self.found.push(wrong));
        fits
    }

    /// The diagnostic of an operand that does not fit its word.
    fn misfit(
        &self,
        word: Word,
        index: usize,
        expression: &Expr<'a>,
        seen: Seen<'t>,
        first: Option<Inferred>,
    ) -> Option<Diagnostic> {
        let demand: Demand = rules::operand(word, index, first);
        let found = ty(seen).filter(|&found| !demand.accepts(found))?;
        Some(messages::operand(self.function, word, index, self.typed(expression, found), demand))
    }

    /// An expression with its type and the origin of the type.
    fn typed<'e>(&'e self, expression: &'e Expr<'a>, found: Inferred) -> Typed<'e, 'a> {
        let origin = match expression.kind {
            ExprKind::Ref(slot) => self.origin(slot).map(|span| Origin::Slot(slot, span)),
            ExprKind::Call(call) => self.callee(call).map(Origin::Function),
            _ => None,
        };
        Typed { expression, found, origin }
    }

    /// The origin of the type of a slot that is read.
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

    /// The type of the failure of a call. The failure of a tool is mostly a text, but no schema declares it.
    fn failure(&self, call: &Call<'a>) -> ValueInfo<'t> {
        let declared = self.callee(call).and_then(|callee| callee.output.err);
        declared.map_or(ValueInfo::ANY, |err| ValueInfo::declared(err.ty.into()))
    }

    fn call(&mut self, call: &Call<'a>) -> ValueInfo<'t> {
        let resolved = self.resolved.get(call.id.0 as usize);
        for (index, argument) in call.arguments.iter().enumerate() {
            let wanted = resolved.and_then(|resolved| resolved.wanted.get(index).copied().flatten());
            self.argument(call, argument, wanted);
        }
        match resolved.map(|resolved| resolved.target) {
            Some(Target::Function(_)) => {
                let callee = self.callee(call);
                callee.map_or(ValueInfo::ANY, |callee| ValueInfo::held(callee.output.ok.ty.into()))
            }
            Some(Target::Tool(tool)) => ValueInfo::answer(tool),
            _ => ValueInfo::ANY,
        }
    }
}

/// How the items of a list, or the values of cases, are checked.
type Each<'e, 'l, 't, 'a> = dyn FnMut(&mut Types<'l, 't, 'a>, &Expr<'a>) -> Seen<'t> + 'e;

/// An item of a list.
fn item(list: ValueInfo<'_>) -> ValueInfo<'_> {
    let ty = rules::item(list.ty);
    ValueInfo { ty, held: list.held || ty == Inferred::ANY, part: list.part.item() }
}

/// A list of items.
fn listed(item: ValueInfo<'_>) -> ValueInfo<'_> {
    ValueInfo { ty: item.ty.list(), part: item.part.list(), ..item }
}

/// The result type of an operator: that of its operands, or a fixed one.
fn given<'t>(operator: Binary, ty: Inferred, a: Seen<'t>, b: Seen<'t>) -> ValueInfo<'t> {
    let held = |seen: Seen<'_>| seen.is_some_and(|known| known.held);
    let decides = |seen: Seen<'_>| {
        held(seen) && seen.is_some_and(|known| known.ty != Inferred::ANY && known.ty.lists == 0)
    };
    let part = |seen: Seen<'t>| seen.map_or(Part::Unknown, |known| known.part);
    let (held, part) = match operator {
        // A number or a text with anything, or two lists.
        Binary::Add | Binary::Concat => {
            (decides(a) || decides(b) || (held(a) && held(b) && ty.lists > 0), Part::Unknown)
        }
        Binary::At => (held(a), part(a).item()),
        Binary::Append => (held(a) && held(b), part(a).join(part(b).list())),
        _ => (true, Part::Unknown),
    };
    ValueInfo { ty, held: held || ty == Inferred::ANY, part }
}
