//! The types of expressions, and the warnings about values that are the same whatever the run is.
//!
//! The operands of a word are compared with its row in [`crate::rules`].

use super::{Needs, Types, needs};
use crate::ast::{
    Apply, Binary, Call, CallId, Case, Expr, ExprKind, Field, Function, Literal, MatchMap, Name, Slot,
};
use crate::check::answer_fields::Read;
use crate::check::facts::CallFacts;
use crate::check::fixes::wrong;
use crate::check::kept::Place;
use crate::check::messages::{self, Origin, Typed};
use crate::check::resolve::Target;
use crate::check::value_info::{Nil, Part, Seen, ValueInfo, join, sure, suspect, ty};
use crate::diagnostic::Diagnostic;
use crate::dialect::terms::Terms;
use crate::notation::Notation;
use crate::rules::{self, Demand};
use crate::span::Span;
use crate::types::Inferred;
use ilo_spec::error::Code;
use ilo_spec::node::{LENGTHS, Word};
use ilo_spec::number;
use ilo_spec::program::Number;
use ilo_spec::pure::{Kinds, Pure};

/// A number, whatever is passed.
const NUMBER: Seen<'static> = Some(ValueInfo::held(Inferred::NUMBER));

impl<'l, 't, 'a> Types<'l, 't, 'a> {
    pub(super) fn expression(&mut self, expression: &Expr<'a>) -> Seen<'t> {
        let suspects = self.function.suspects;
        if !suspects.is_empty()
            && self.suspect != Some(expression.span)
            && self.function.is_suspect(expression.span)
        {
            return self.suspected(expression.span, |this| this.expression(expression));
        }
        let seen = self.evaluated(expression);
        match seen {
            Some(known) if known.nil.is_some() => {
                self.narrowing.on = true;
                let nil = known.nil.filter(|_| !self.narrowing.knows(expression));
                Some(known.or_nil(nil))
            }
            _ => seen,
        }
    }

    #[expect(clippy::inline_always, reason = "called in one place, and for every expression")]
    #[inline(always)]
    fn evaluated(&mut self, expression: &Expr<'a>) -> Seen<'t> {
        match &expression.kind {
            ExprKind::Ref(slot) => match self.failure_of(*slot) {
                Some((seen, _)) => seen,
                None => {
                    let mut seen = self.slot(*slot).and_then(|info| info.plain);
                    if !self.webs.1.is_empty() {
                        seen = self.seen_at((*slot, expression.span), seen, |info| info.plain);
                    }
                    if let Some(ValueInfo { part: Part::Answer, .. }) = seen {
                        self.found.used.push(self.held_at(*slot, expression.span));
                    }
                    seen
                }
            },
            ExprKind::Literal(literal) => {
                let part = if matches!(literal, Literal::Nil) { Part::Nothing } else { Part::Own };
                Some(ValueInfo::held(literal.ty().into()).with_part(part))
            }
            ExprKind::Bad => Some(ValueInfo::ANY),
            ExprKind::Field(of, name) => Some(self.field(of, *name)),
            ExprKind::Call(call) => Some(self.call(call)),
            ExprKind::Unary(operator, of) => self.unary(operator.word(), of),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, expression.span),
            ExprKind::Has(of, name) => {
                self.found.asked.insert(name.text);
                self.unary(Word::Has, of)
            }
            ExprKind::MatchMap(map) => self.cases(map, &mut Types::expression),
            ExprKind::Record(fields) => {
                if self.function.notation != Notation::Id {
                    let names = fields.iter().map(|field| field.name.text);
                    self.found.hyphened.1.extend(names.filter(|name| name.contains('-')));
                }
                self.fields(fields);
                Some(ValueInfo::held(Inferred::RECORD))
            }
            ExprKind::Merge(of, fields) => {
                let seen = self.unary(Word::Merge, of);
                self.fields(fields);
                seen
            }
            ExprKind::List(items) => Some(self.items(items, &mut Types::expression)),
            ExprKind::Apply(apply) => self.applied(apply, expression.span),
            ExprKind::Template(parts) => {
                for part in *parts {
                    let seen = self.expression(part);
                    self.nil_in_text(part, seen, ty(seen));
                    if let Some(found) = ty(seen).filter(|seen| seen.lists > 0) {
                        let list = self.typed(part, found);
                        self.report_of(seen, messages::list_in_text(self.function, list));
                    }
                }
                Some(ValueInfo::held(Inferred::TEXT))
            }
        }
    }

    /// A pure function. The kinds of its operands are in its row of the table.
    fn applied(&mut self, apply: &Apply<'a>, whole: Span) -> Seen<'t> {
        let word = Word::of_pure(apply.function);
        if let [Expr { kind: ExprKind::Apply(column), span }] = apply.operands
            && *span == whole
            && let Some(unclear) = self.unclear_column(apply.function, column, whole)
        {
            self.report(unclear);
            return Some(ValueInfo::ANY);
        }
        if let (Pure::FloorDiv, [left, right]) = (apply.function, apply.operands) {
            self.divided(left, right, (whole, false));
        }
        let (mut first, mut fitting, mut last) = (None, None, None);
        for (index, operand) in apply.operands.iter().enumerate() {
            let seen = self.expression(operand);
            let fits = self.behind((word, index), operand, seen, &fitting);
            last = seen;
            if index == 0 {
                (first, fitting) = (seen, seen.filter(|_| fits));
            }
        }
        self.key_of_items(apply, first);
        let keeps = rules::keeps_list(apply.function);
        let kept = first.filter(|first| keeps && first.ty.lists > 0);
        let known = rules::gives(word, ty(first), None)?;
        // A type that is taken from the first operand is as certain as that one.
        let alone = rules::gives(word, None, None);
        let held = alone == Some(known) || first.is_none_or(|first| first.held);
        let given = ValueInfo { held: held || known == Inferred::ANY, ..ValueInfo::held(known) };
        let given = match apply.function {
            Pure::Find => {
                given.or_nil(Some(Nil::Find)).with_part(first.map_or(Part::Unknown, |list| list.part.item()))
            }
            Pure::Index => given.or_nil(Some(Nil::Index)),
            Pure::Put => {
                if let [of, key, value] = apply.operands {
                    self.keeps(value, last, || Place::at(of, key));
                }
                given
            }
            Pure::Get => given.or_nil(Self::absent(apply, last)),
            Pure::Group => given.with_part(Part::Pair { other: "items", lists: 1 }),
            Pure::Entries => given.with_part(Part::Pair { other: "value", lists: 1 }),
            _ => given,
        };
        Some(kept.map_or(given, |kept| ValueInfo { ty: known, ..kept.or_nil(None) }))
    }

    /// Notes the constant field by which records are ordered, grouped or found, if no schema lists it.
    fn key_of_items(&mut self, apply: &Apply<'a>, list: Seen<'t>) {
        use Pure::{Column, Find, Group, Sort, SortDown, Unique};
        if let (Sort | SortDown | Unique | Group | Column | Find, [_, field, ..]) =
            (apply.function, apply.operands)
            && let ExprKind::Literal(Literal::Text(text)) = field.kind
            && let Some(shape) = list.and_then(|list| list.part.item().shape())
            && ValueInfo::field_of(shape, text).is_none()
        {
            self.found.reads.push(Read { shape, name: Name { text, span: field.span } });
        }
    }

    /// Why GET may give nil: nil is its default. A key that is computed is mostly known to be there.
    fn absent(apply: &Apply<'a>, last: Seen<'t>) -> Option<Nil> {
        let constant = |of: &Expr<'_>| matches!(of.kind, ExprKind::Literal(_));
        match apply.operands {
            [_, key] if constant(key) => Some(Nil::Get),
            [_, key, Expr { kind: ExprKind::Literal(Literal::Nil), .. }] if constant(key) => Some(Nil::Get),
            [_, _, _] => last.and_then(|default| default.nil),
            _ => None,
        }
    }

    /// The error of `min(x, 'f')`, which is the least field `f` of a list, where x is not known to be a list.
    fn unclear_column(&mut self, function: Pure, column: &Apply<'a>, whole: Span) -> Option<Diagnostic> {
        let (Pure::Min | Pure::Max, [list, field]) = (function, column.operands) else { return None };
        let seen = self.expression(list);
        let known = ty(seen).is_some_and(|seen| seen.lists > 0);
        (column.function == Pure::Column && !known)
            .then(|| messages::unclear_column(self.function, function, field, whole))
    }

    fn fields(&mut self, fields: &[Field<'a>]) {
        for field in fields {
            let seen = self.expression(&field.value);
            self.keeps(&field.value, seen, || Some(Place::Field(field.name.text)));
        }
    }

    pub(super) fn items(
        &mut self,
        items: &[Expr<'a>],
        each: &mut EachValue<'_, 'l, 't, 'a>,
    ) -> ValueInfo<'t> {
        let mut all = None;
        for item in items {
            all = join(all, each(self, item));
        }
        let nothing = ValueInfo::ANY.with_part(Part::Nothing);
        if items.is_empty() { nothing } else { all.unwrap_or(ValueInfo::ANY) }.listed()
    }

    /// A value selected by cases; `each` checks each case.
    pub(super) fn cases(&mut self, map: &MatchMap<'a>, each: &mut EachValue<'_, 'l, 't, 'a>) -> Seen<'t> {
        let subject = self.expression(&map.subject);
        if let Some(subject) = sure(subject) {
            let met = |case: &Case<'a>| rules::may_be_equal(subject, case.key.ty().into());
            // A JSON key may be the key of two cases; one of them suffices.
            let mut keys = map.cases.chunk_by(|one, other| one.key_span == other.key_span);
            if let Some(case) = keys.find(|cases| !cases.iter().any(met)).and_then(<[_]>::first) {
                self.report(messages::never_met(self.function.notation, subject, case));
            }
        }
        self.never_cases(map.cases, subject);
        let mut all = None;
        let before = self.narrowing.point();
        let cases = map.cases.iter().map(|case| (Some(case), &case.value));
        for (case, value) in cases.chain(map.default.iter().map(|value| (None, value))) {
            self.narrowing.from(before.clone());
            self.narrowing.assume_case(&map.subject, case, map.cases);
            all = join(all, each(self, value));
        }
        self.narrowing.from(before);
        all
    }

    /// A word of which only the first operand is checked here.
    pub(super) fn unary(&mut self, word: Word, of: &Expr<'a>) -> Seen<'t> {
        let seen = self.expression(of);
        self.operand(word, 0, of, seen, None);
        rules::gives(word, ty(seen), None).map(ValueInfo::held)
    }

    // Apart, so that other expressions do not pay for its size.
    #[inline(never)]
    fn binary(&mut self, operator: Binary, left: &Expr<'a>, right: &Expr<'a>, whole: Span) -> Seen<'t> {
        let word = operator.word();
        if let (Binary::At, ExprKind::Literal(Literal::Text(text))) = (operator, right.kind) {
            return Some(self.field_by_text(left, right, text));
        }
        if operator == Binary::HasName {
            match right.kind {
                ExprKind::Literal(Literal::Text(name)) => drop(self.found.asked.insert(name)),
                _ => self.found.finds.1 = true,
            }
        }
        let known = self.expression(left);
        let other = self.second(operator, left, right);
        let is_of_answer =
            |seen: &Seen<'t>| seen.is_some_and(|known| matches!(known.part, Part::Answer | Part::Grown));
        if matches!(operator, Binary::Add | Binary::Concat)
            && [known, other].iter().any(is_of_answer)
            && self.joins_answer((left, known), (right, other))
        {
            return Some(ValueInfo::ANY.with_part(Part::Grown));
        }
        let (a, b) = match self.function.suspects {
            [] => (ty(known), ty(other)),
            _ => (sure(known), sure(other)),
        };
        let is_other = |seen: Inferred| seen != Inferred::TEXT && seen != Inferred::ANY;
        let ordered = matches!(operator, Binary::Gt | Binary::Gte | Binary::Lt | Binary::Lte);
        let meets = if ordered { b == Some(Inferred::NUMBER) } else { b.is_some_and(is_other) };
        let joins = (ordered || operator == Binary::Add) && a == Some(Inferred::TEXT) && meets;
        if operator == Binary::Or && self.no_default([a, b], right, whole) {
            return Some(ValueInfo::ANY);
        }
        match operator {
            Binary::At if b == Some(Inferred::NUMBER) => {
                self.whole_answer(left, known, || Some(Needs::Items));
            }
            Binary::Append => self.keeps(right, other, || Place::items(left)),
            Binary::Mod => self.divided(left, right, (whole, true)),
            Binary::Eq | Binary::Neq => {
                self.divides([left, right]);
                self.never_equal((left, a), (right, b));
                self.never_answered(left, other);
                self.never_answered(right, known);
                for (path, seen, other) in [(left, known, right), (right, other, left)] {
                    self.whole_answer(path, seen, || match other.kind {
                        ExprKind::List(_) => Some(Needs::Items),
                        ExprKind::Record(_) => Some(Needs::Parts),
                        _ => None,
                    });
                    if let ExprKind::Literal(Literal::Text(_) | Literal::Number(_)) = other.kind {
                        self.asked(path, seen, (word, 0), Demand::ORDERED);
                    }
                }
            }
            Binary::HasName if let ExprKind::List(items) = left.kind => {
                items.iter().for_each(|item| self.never_answered(item, other));
            }
            _ if ordered => self.text_order(left, right),
            Binary::Concat => {
                self.nil_in_text(left, known, a);
                self.nil_in_text(right, other, b);
                self.list_in_text((left, a), (right, b));
            }
            _ => {}
        }
        // In JSON and YAML a written text that still adds is a number or a single name (5.4.1).
        let adds = operator == Binary::Add && self.function.notation != Notation::Id;
        let text = |of: &Expr<'_>| adds && matches!(of.kind, ExprKind::Literal(Literal::Text(_)));
        let (index, wanted) = if joins || text(left) { (1, Some(Inferred::NUMBER)) } else { (0, None) };
        let fits = known.is_some() && self.operand(word, index, left, known, wanted);
        let first = if text(right) {
            &NUMBER
        } else if fits {
            &known
        } else {
            &None
        };
        self.behind((word, 1), right, other, first);
        let given = rules::gives(word, a, b).map(|ty| given(operator, ty, known, other));
        if self.function.suspects.is_empty() {
            return given;
        }
        let from =
            suspect(known).or(suspect(other)).filter(|_| ty(given).is_none_or(|ty| ty == Inferred::ANY));
        let Some(part) = from.map(Part::Suspect) else { return given };
        rules::gives(word, ty(known), ty(other)).map(|ty| ValueInfo::held(ty).with_part(part))
    }

    /// Whether a list is joined with a whole answer, which is then needed as a list too.
    #[cold]
    fn joins_answer(&mut self, left: (&Expr<'a>, Seen<'t>), right: (&Expr<'a>, Seen<'t>)) -> bool {
        let is = |seen: Seen<'t>, of: fn(ValueInfo<'t>) -> bool| seen.is_some_and(of);
        let grown = |known: ValueInfo<'t>| matches!(known.part, Part::Grown);
        let list = |known: ValueInfo<'t>| known.ty.lists > 0 || matches!(known.part, Part::Grown);
        let mut joins = (is(left.1, grown) || is(right.1, grown)) && is(left.1, list) && is(right.1, list);
        for ((path, seen), (_, other)) in [(left, right), (right, left)] {
            if is(other, list) && is(seen, |known| matches!(known.part, Part::Answer)) {
                self.whole_answer(path, seen, || Some(Needs::Items));
                joins = true;
            }
        }
        joins
    }

    /// Reports an `or` that gives no condition and whose operands are not known to be bools.
    fn no_default(&mut self, operands: [Option<Inferred>; 2], right: &Expr<'a>, whole: Span) -> bool {
        let Some(&(_, word)) = self.function.ors.iter().find(|(span, _)| *span == whole) else {
            return false;
        };
        let known = operands.iter().any(|ty| ty.is_none_or(|ty| ty == Inferred::BOOL));
        if !known {
            self.report(messages::no_default(right, word));
        }
        !known
    }

    /// Notes a `%` or `//`; a `%` beside a `//` of the same operands has a warning.
    fn divided(&mut self, left: &Expr<'a>, right: &Expr<'a>, (whole, remainder): (Span, bool)) {
        if self.function.notation != Notation::Id && self.found.divisions.len() < COMPARED {
            self.found.divisions.push((*left, *right, whole, remainder));
        }
    }

    /// Whether a number divides another is the same however a division rounds: such a `%` has no warning.
    fn divides(&mut self, operands: [&Expr<'a>; 2]) {
        let zero = |of: &Expr<'_>| matches!(of.kind, ExprKind::Literal(Literal::Number(Number::Int(0))));
        let remainder = |of: &&&Expr<'_>| matches!(of.kind, ExprKind::Binary(Binary::Mod, ..));
        if let (Some(of), true) = (operands.iter().find(remainder), operands.iter().any(|of| zero(of))) {
            self.found.divisions.retain(|(_, _, span, is_remainder)| !(*is_remainder && *span == of.span));
        }
    }

    /// The second operand, which AND and OR evaluate only after some outcomes of the first.
    fn second(&mut self, operator: Binary, left: &Expr<'a>, right: &Expr<'a>) -> Seen<'t> {
        if !self.narrowing.on || !matches!(operator, Binary::And | Binary::Or) {
            return self.expression(right);
        }
        let before = self.narrowing.point();
        self.narrowing.assume(left, operator == Binary::And);
        let seen = self.expression(right);
        self.narrowing.from(before);
        seen
    }

    /// Warns about a list beside a text in CONCAT.
    fn list_in_text(&mut self, left: (&Expr<'a>, Option<Inferred>), right: (&Expr<'a>, Option<Inferred>)) {
        for ((list, seen), (_, other)) in [(left, right), (right, left)] {
            if let Some(found) = seen.filter(|seen| seen.lists > 0 && other == Some(Inferred::TEXT)) {
                let list = self.typed(list, found);
                self.report(messages::list_in_text(self.function, list));
            }
        }
    }

    /// Warns about a part of a text that is always nil.
    fn nil_in_text(&mut self, part: &Expr<'a>, seen: Seen<'t>, ty: Option<Inferred>) {
        // In a branch in which it is true, a bool is no text.
        if self.satisfied.iter().any(|test| super::same_value(test, part)) {
            self.found.no_bools.push(*part);
        }
        if ty == Some(Inferred::NIL) {
            let value = self.typed(part, Inferred::NIL);
            self.report(messages::nil_in_text(self.function, value));
        } else if let Some(nil) = seen.and_then(|seen| seen.nil).filter(|nil| *nil != Nil::Optional) {
            // A field that a schema does not require may be there in this case: `reason` of what failed.
            self.untested(part, nil, messages::maybe_nil_in_text(self.function, part, nil));
        }
    }

    /// Warns about two texts that are numbers and are compared as texts.
    fn text_order(&mut self, left: &Expr<'a>, right: &Expr<'a>) {
        if self.is_number_text(left) && self.is_number_text(right) {
            self.report(messages::text_order(self.function, left));
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
        self.report(messages::never_equal(self.function, at, found, other));
    }

    /// A read of a field.
    fn field(&mut self, of: &Expr<'a>, name: Name<'a>) -> ValueInfo<'t> {
        let seen = self.expression(of);
        if let Some(count) = self.counted(of, seen, name.text) {
            return count;
        }
        self.operand(Word::Field, 0, of, seen, None);
        self.part(seen, of, name)
    }

    /// The length of a list or a text, which is a field in other languages.
    fn counted(&mut self, of: &Expr<'a>, seen: Seen<'t>, name: &'a str) -> Option<ValueInfo<'t>> {
        let counts = |ty: Inferred| ty.lists > 0 || ty == Inferred::TEXT;
        ty(seen).filter(|&ty| counts(ty) && LENGTHS.contains(&name))?;
        self.operand(Word::Len, 0, of, seen, None);
        Some(ValueInfo::held(Inferred::NUMBER))
    }

    /// The field that a literal text names; an error if an index belongs there.
    fn field_by_text(&mut self, of: &Expr<'a>, name: &Expr<'a>, text: &'a str) -> ValueInfo<'t> {
        let seen = self.expression(of);
        if let Some(count) = self.counted(of, seen, text) {
            return count;
        }
        let key = self.expression(name);
        let first = seen.filter(|_| self.operand(Word::At, 0, of, seen, None));
        self.behind((Word::At, 1), name, key, &first);
        self.part(seen, of, Name { text, span: name.span })
    }

    /// What is known about a field that is read.
    fn part(&mut self, of: Seen<'t>, expression: &Expr<'a>, name: Name<'a>) -> ValueInfo<'t> {
        if let Some(Part::Pair { other, lists: 0 }) = of.map(|of| of.part)
            && ![other, "key"].contains(&name.text)
        {
            let message = format!("there is no field `{}`: the record has `key` and `{other}`", name.text);
            self.report(wrong(Code::UnknownField, name, message, format!("`key` or `{other}`")));
            return ValueInfo::ANY;
        }
        let Some(shape) = of.and_then(|of| of.part.shape()) else {
            let hyphened = self.function.notation != Notation::Id && is_hyphened(name.text);
            self.found.hyphened.0.extend(hyphened.then_some(name));
            return ValueInfo::ANY;
        };
        if let Some(field) = ValueInfo::field_of(shape, name.text) {
            if field.nil == Some(Nil::Optional) {
                self.found.optional.push(core::ptr::from_ref(expression).addr());
            }
            return field;
        }
        self.found.reads.push(Read { shape, name });
        ValueInfo::ANY
    }

    /// Notes a whole answer where a record or a list is needed: if it is a text, it is read as JSON.
    pub(super) fn whole_answer(
        &mut self,
        expression: &Expr<'a>,
        seen: Seen<'t>,
        needs: impl FnOnce() -> Option<Needs>,
    ) {
        let ExprKind::Ref(slot) = expression.kind else { return };
        let Some(ValueInfo { part: part @ (Part::Answer | Part::Mixed), .. }) = seen else { return };
        if self.found.needed.last().is_some_and(|(span, ..)| *span == expression.span) {
            return;
        }
        let held = self.held_at(slot, expression.span);
        let needs = needs().map(|needs| if matches!(part, Part::Mixed) { Needs::Bound } else { needs });
        self.found.needed.extend(needs.map(|needs| (expression.span, held, needs)));
    }

    /// Whether an operand fits its word; if not, it is reported.
    pub(super) fn operand(
        &mut self,
        word: Word,
        index: usize,
        expression: &Expr<'a>,
        seen: Seen<'t>,
        first: Option<Inferred>,
    ) -> bool {
        let demand = rules::operand(word, index, first);
        self.whole_answer(expression, seen, || match (word, index) {
            (Word::Has, 0) => Some(Needs::PartsAsElsewhere),
            (Word::Len | Word::Slice | Word::Index, 0) => Some(Needs::ItemsAsElsewhere),
            _ => needs(demand),
        });
        self.asked(expression, seen, (word, index), demand);
        let misfit = self.misfit(word, index, expression, seen, demand);
        let misfit = match misfit {
            None if demand == Demand::CONDITION => self.never_bool((word, index), expression, seen),
            misfit => misfit,
        };
        let fits = misfit.is_none();
        match misfit {
            Some(wrong) => self.no_operand((word, index), seen, wrong),
            None => self.maybe_nil((word, index), expression, seen, demand),
        }
        fits
    }

    /// Notes a path of unknown type that is a condition, or where no bool fits.
    fn asked(&mut self, value: &Expr<'a>, seen: Seen<'t>, place: (Word, usize), demand: Demand) {
        let mut root = value;
        while let ExprKind::Field(of, _) = root.kind {
            root = of;
        }
        let ExprKind::Ref(slot) = root.kind else { return };
        let mixed = self.slots.get(slot.0 as usize).is_none_or(|info| info.mixed);
        if mixed || ty(seen) != Some(Inferred::ANY) {
            return;
        }
        if demand == Demand::CONDITION && self.found.tests.len() < COMPARED {
            self.found.tests.push((*value, place));
        } else if !demand.accepts(Inferred::BOOL) && self.found.no_bools.len() < COMPARED {
            self.found.no_bools.push(*value);
        }
    }

    /// Warns about a value that may be nil. From here on it counts as tested.
    pub(super) fn untested(&mut self, value: &Expr<'a>, nil: Nil, warning: Diagnostic) {
        match nil {
            Nil::Find => self.found.finds.0.push(warning),
            _ => self.report(warning),
        }
        self.narrowing.learn(value);
    }

    /// Warns about an operand that may be nil where nil is not accepted.
    fn maybe_nil(&mut self, place: (Word, usize), value: &Expr<'a>, seen: Seen<'t>, demand: Demand) {
        if let Some(nil) = seen.and_then(|seen| seen.nil).filter(|_| !demand.accepts(Inferred::NIL)) {
            let takes = messages::takes(Terms::of(self.function.notation), place.0, place.1, demand);
            self.untested(value, nil, messages::maybe_nil(self.function, &takes, value, demand, nil));
        }
    }

    /// The diagnostic of an operand that does not fit its word.
    fn misfit(
        &self,
        word: Word,
        index: usize,
        expression: &Expr<'a>,
        seen: Seen<'t>,
        demand: Demand,
    ) -> Option<Diagnostic> {
        let found = ty(seen).filter(|&found| !demand.accepts(found))?;
        Some(messages::operand(self.function, word, index, self.typed(expression, found), demand))
    }

    /// Reports an operand that does not fit, by itself or by the first one.
    #[cold]
    fn no_operand(&mut self, place: (Word, usize), seen: Seen<'t>, wrong: Diagnostic) {
        let fits_alone = |found| rules::operand(place.0, place.1, None).accepts(found);
        let by_first = self.first.filter(|_| ty(seen).is_some_and(fits_alone));
        let first = by_first.map(|place| ValueInfo::ANY.with_part(Part::Suspect(place)));
        self.report_of(first.or(seen), wrong);
    }

    /// An operand behind a first one, which decides what it must be.
    #[inline]
    fn behind(
        &mut self,
        place: (Word, usize),
        expression: &Expr<'a>,
        seen: Seen<'t>,
        first: &Seen<'t>,
    ) -> bool {
        if !self.function.suspects.is_empty() {
            self.first = suspect(*first);
        }
        let fits = self.operand(place.0, place.1, expression, seen, first.as_ref().map(|it| it.ty));
        self.first = None;
        fits
    }

    /// The diagnostic of a condition that is nil or no bool: such as an optional text.
    fn never_bool(&self, place: (Word, usize), expression: &Expr<'a>, seen: Seen<'t>) -> Option<Diagnostic> {
        let known = seen?;
        let kinds = match (known.part.shape(), &expression.kind) {
            (Some(shape), _) => shape.kinds(),
            (None, ExprKind::Ref(slot)) if known.nil == Some(Nil::Input) => {
                let declared = self.function.parameters.get(slot.0 as usize)?.ty.ty;
                Inferred::from(declared).kinds()
            }
            _ => return None,
        };
        let never = kinds != Kinds::NIL && !kinds.meets(Kinds::BOOL);
        never.then(|| {
            let found = (kinds.or(Kinds::NIL).to_string(), kinds.meets(Kinds::TEXT));
            messages::no_bool(self.function, place, expression, found, None)
        })
    }

    /// An expression with its type and the origin of the type.
    pub(super) fn typed<'e>(&'e self, expression: &'e Expr<'a>, found: Inferred) -> Typed<'e, 'a> {
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

    pub(super) fn call_facts(&self, id: CallId) -> CallFacts {
        self.facts.calls.get(id.0 as usize).copied().unwrap_or_default()
    }

    fn callee(&self, call: &Call<'a>) -> Option<&Function<'a>> {
        self.file.functions.get(self.call_facts(call.id).function? as usize)
    }

    /// The type of the failure of a call. The failure of a tool is mostly a text, but no schema declares it.
    pub(super) fn failure(&self, call: &Call<'a>) -> ValueInfo<'t> {
        let declared = self.callee(call).and_then(|callee| callee.output.err);
        declared.map_or(ValueInfo::ANY, |err| ValueInfo::declared(err.ty.into()))
    }

    pub(super) fn call(&mut self, call: &Call<'a>) -> ValueInfo<'t> {
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
            Some(Target::Tool(tool)) if tool.has_no_output_schema() => ValueInfo::ANY.with_part(Part::Answer),
            Some(Target::Tool(tool)) => ValueInfo::answer(tool),
            _ => ValueInfo::ANY,
        }
    }
}

/// The most divisions, conditions and other uses of a function that are compared.
const COMPARED: usize = 64;

/// Whether a name is another one with a hyphen and a number behind it: `total-1`.
fn is_hyphened(name: &str) -> bool {
    name.split_once('-').is_some_and(|(first, number)| {
        !first.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// How the items of a list, or the values of cases, are checked.
type EachValue<'e, 'l, 't, 'a> = dyn FnMut(&mut Types<'l, 't, 'a>, &Expr<'a>) -> Seen<'t> + 'e;

/// The result type of an operator: that of its operands, or a fixed one.
fn given<'t>(operator: Binary, ty: Inferred, a: Seen<'t>, b: Seen<'t>) -> ValueInfo<'t> {
    let held = |seen: Seen<'_>| seen.is_some_and(|known| known.held);
    let decides = |seen: Seen<'_>| {
        held(seen) && seen.is_some_and(|known| known.ty != Inferred::ANY && known.ty.lists == 0)
    };
    let part = |seen: Seen<'t>| seen.map_or(Part::Unknown, |known| known.part);
    let mut nil = None;
    let (held, part) = match operator {
        // A number or a text with anything, or two lists.
        Binary::Add | Binary::Concat => {
            let part = if ty.lists > 0 { part(a).join(part(b)) } else { Part::Unknown };
            (decides(a) || decides(b) || (held(a) && held(b) && ty.lists > 0), part)
        }
        Binary::At => {
            nil = a.and_then(|list| list.item().nil);
            (held(a), part(a).item())
        }
        Binary::Append => (held(a) && held(b), part(a).join(part(b).list())),
        _ => (true, Part::Unknown),
    };
    ValueInfo { ty, held: held || ty == Inferred::ANY, part, nil }
}
