//! Compares arguments with the schemas of tools in depth: each record, list and constant in a call, and each
//! value of a known type, must fit the shape at its path.
//!
//! A value that is built in the argument itself is compared part by part, so that an error is reported at the
//! part. Other values are compared by what is known about them.

use super::{Seen, Types, ValueInfo, needs};
use crate::ast::{Call, Case, Expr, ExprKind, Field, Literal};
use crate::catalog::{Misfit, SchemaShape};
use crate::check::arguments::{Expectation, text_of};
use crate::check::messages::given::{self as messages, ArgumentPath, Place, Unfit};
use crate::check::messages::stringified::stringified;
use crate::check::messages::types::{argument, maybe_nil};
use crate::check::resolve::Target;
use crate::check::value_info::ty;
use crate::expr::reference::FAILURES;
use crate::notation::Notation;
use crate::rules::{self, Demand, clash};
use crate::text::{Near, near};
use crate::types::Inferred;
use ilo_spec::node::Word;
use ilo_spec::pure::Kinds;

impl<'t, 'a> Types<'_, 't, 'a> {
    /// Checks an argument of a call.
    pub(super) fn argument(&mut self, call: &Call<'a>, given: &Field<'a>, wanted: Option<Expectation<'t>>) {
        let path = &ArgumentPath::of(given.name.text);
        match wanted {
            // An own function takes a written nil.
            Some(Expectation { shape: Some(_), nil: true, declared: Some(_), .. })
                if matches!(given.value.kind, ExprKind::Literal(Literal::Nil)) => {}
            Some(Expectation { shape: Some(shape), nil, .. }) => {
                self.given_or_nil(&given.value, (shape, nil), Place { call, path, nil });
            }
            Some(Expectation { ty: wanted, nil, declared, .. }) => {
                let (place, demand) = (Place { call, path, nil }, Demand::Is(wanted));
                let seen = self.expression(&given.value);
                self.whole_answer(&given.value, seen, || needs(demand));
                let fits = |found: &Inferred| found.meets(wanted) || (nil && *found == Inferred::NIL);
                if let Some(found) = ty(seen).filter(|found| !fits(found)) {
                    let value = self.typed(&given.value, found);
                    self.report_of(seen, argument(self.function, place, value, demand, declared));
                } else {
                    self.nil_given(&given.value, seen, demand, place);
                }
            }
            None => {
                self.expression(&given.value);
            }
        }
    }

    /// Checks a value that must fit a shape. Returns what is known about it.
    fn given(&mut self, value: &Expr<'a>, wanted: SchemaShape<'t>, place: Place<'_, 'a>) -> Seen<'t> {
        if wanted.is_any() {
            return self.expression(value);
        }
        if self.suspect != Some(value.span) && self.function.is_suspect(value.span) {
            return self.suspected(value.span, |this| this.given(value, wanted, place));
        }
        let takes = |kind| wanted.kinds().meets(kind);
        match &value.kind {
            ExprKind::Record(fields) if takes(Kinds::RECORD) => {
                let wanted = wanted.arm(|name| text_of(fields, name));
                self.given_fields(fields, wanted, place);
                self.lacking(value, fields, wanted, place);
                Some(ValueInfo::held(Inferred::RECORD))
            }
            ExprKind::Merge(of, fields) if takes(Kinds::RECORD) => {
                self.unary(Word::Merge, of);
                let wanted = wanted.arm(|name| text_of(fields, name));
                self.given_fields(fields, wanted, place);
                Some(ValueInfo::held(Inferred::RECORD))
            }
            ExprKind::List(items) if takes(Kinds::LIST) => {
                let path = ArgumentPath::item(place.path);
                let place = Place { path: &path, nil: false, ..place };
                Some(self.items(items, &mut |this, item| this.given(item, wanted.item(), place)))
            }
            ExprKind::MatchMap(map) => self.cases(map, &mut |this, value| match value.kind {
                // As one of several values, a written nil is one that is left out.
                ExprKind::Literal(Literal::Nil) if place.nil => this.expression(value),
                _ => this.given(value, wanted, place),
            }),
            _ => {
                let seen = self.expression(value);
                self.fits(value, seen, wanted, place);
                seen
            }
        }
    }

    /// Warns about an argument that may be nil, where nil is not accepted.
    fn nil_given(&mut self, value: &Expr<'a>, seen: Seen<'t>, demand: Demand, place: Place<'_, 'a>) {
        let accepted = place.nil || demand.accepts(Inferred::NIL);
        if let Some(nil) = seen.and_then(|seen| seen.nil).filter(|_| !accepted) {
            let takes = format!("{place} takes {demand}");
            self.untested(value, nil, maybe_nil(self.function, &takes, value, demand, nil));
        }
    }

    /// Whether a record may have fields that its schema does not list.
    fn lets_others(&self, call: &Call<'a>, wanted: SchemaShape<'t>) -> bool {
        let resolved = self.resolved.get(call.id.0 as usize);
        let tool = resolved.map(|resolved| resolved.target);
        matches!(tool, Some(Target::Tool(tool)) if tool.lets_others(wanted))
    }

    /// The name that another one most likely means.
    fn near<'n>(&mut self, name: &str, names: impl Iterator<Item = &'n str>) -> Option<Near<'n>> {
        let (most, compared) = (self.comparisons, &mut self.found.compared);
        let spend = |_: &&str| {
            *compared = most.min(*compared + 1);
            *compared < most
        };
        near(name, names.take_while(spend))
    }

    /// Checks the fields of a record that must fit a shape.
    fn given_fields(&mut self, fields: &[Field<'a>], wanted: SchemaShape<'t>, place: Place<'_, 'a>) {
        for field in fields {
            let path = ArgumentPath::field(field.name.text, place.path);
            let Some(given) = wanted.given(field.name.text) else {
                self.expression(&field.value);
                if self.lets_others(place.call, wanted) {
                    continue;
                }
                let free = wanted.names().filter(|name| fields.iter().all(|field| field.name.text != *name));
                let near = self.near(field.name.text, free);
                let given = |name: &str| fields.iter().any(|field| field.name.text == name);
                let whole = wanted.required().all(|field| given(field.name));
                let refused = near.is_some() || !whole || wanted.refuses_others();
                let found = messages::unknown_field(self.function, place, field.name, wanted, near);
                self.report(found.raised_if(refused));
                continue;
            };
            self.given_or_nil(&field.value, given, Place { path: &path, nil: given.1, ..place });
        }
    }

    /// Checks a value that must fit a shape. If `nil` is set, it may be nil, and is then left out; but a
    /// written null may be meant to clear something.
    fn given_or_nil(&mut self, value: &Expr<'a>, wanted: (SchemaShape<'t>, bool), place: Place<'_, 'a>) {
        let (shape, nil) = wanted;
        match value.kind {
            ExprKind::Literal(Literal::Nil) if nil => {
                let typed = self.typed(value, Inferred::NIL);
                let demand = rules::of_shape(shape);
                let wrong = argument(self.function, place, typed, demand, None);
                self.report(wrong.help(messages::LEAVE_OUT));
            }
            ExprKind::Ref(_) if nil && ty(self.expression(value)) == Some(Inferred::NIL) => {}
            _ => {
                self.given(value, shape, place);
            }
        }
    }

    /// Reports the required fields that a record lacks, except those that a misspelt field was meant to be.
    fn lacking(
        &mut self,
        value: &Expr<'a>,
        fields: &[Field<'a>],
        wanted: SchemaShape<'t>,
        place: Place<'_, 'a>,
    ) {
        let given = |name: &str| fields.iter().any(|field| field.name.text == name);
        let required = wanted.fields().filter(|field| field.required && !given(field.name));
        let missing: Vec<_> = required.take(messages::COMPARED).collect();
        if missing.is_empty() {
            return;
        }
        let unknown = fields.iter().filter(|field| wanted.field(field.name.text).is_none());
        let free = || wanted.names().filter(|name| !given(name));
        let meant: Vec<_> = unknown.filter_map(|field| self.near(field.name.text, free())).collect();
        for field in missing.into_iter().filter(|field| meant.iter().all(|near| near.name != field.name)) {
            self.report(messages::missing_field(place, value, field));
        }
    }

    /// The name in a text of `constrained` that is a bare reference. The expression is as long as the name,
    /// unlike that of `"${name}"`.
    fn bare_name(&self, value: &Expr<'a>) -> Option<&'a str> {
        let ExprKind::Ref(slot) = value.kind else { return None };
        if self.function.notation != Notation::Constrained {
            return None;
        }
        let own = self.function.slots.get(slot.0 as usize)?.name;
        let failures = FAILURES.into_iter().filter(|_| self.failure_of(slot).is_some());
        let mut names = own.into_iter().chain(failures);
        names.find(|name| value.span.end.saturating_sub(value.span.start) as usize == name.len())
    }

    /// Why a constant does not fit a shape that allows its kind.
    fn refused(
        &mut self,
        literal: Literal<'a>,
        wanted: SchemaShape<'t>,
    ) -> Option<messages::Disallowed<'t, 'a>> {
        let unfit = unfit(literal, wanted)?;
        let near = match (literal, wanted.texts()) {
            (Literal::Text(_), Some([only])) if wanted.kinds() == Kinds::TEXT => {
                Some(Near { name: only, sure: true })
            }
            (Literal::Text(text), Some(texts)) => self.near(text, texts.iter().map(|text| &**text)),
            _ => None,
        };
        Some(messages::Disallowed { literal, wanted, unfit, near })
    }

    /// Warns about a constant that is compared with a part of an answer, which its schema never lets be equal
    /// to it.
    pub(super) fn never_answered(&mut self, constant: &Expr<'a>, other: Seen<'t>) {
        let (ExprKind::Literal(literal), Some(shape)) =
            (constant.kind, other.and_then(|seen| seen.part.shape()))
        else {
            return;
        };
        // A field without a value is often an empty text.
        if matches!(literal, Literal::Text("")) && shape.texts().is_none() {
            return;
        }
        if let Some(wrong) = self.refused(literal, shape) {
            self.report(messages::constant(self.function, None, constant, wrong));
        }
    }

    /// Warns about cases that a part of an answer never equals.
    pub(super) fn never_cases(&mut self, cases: &[Case<'a>], subject: Seen<'t>) {
        let Some(shape) = subject.and_then(|seen| seen.part.shape()) else { return };
        // A JSON key may be the key of two cases; one of them suffices.
        for cases in cases.chunk_by(|one, other| one.key_span == other.key_span) {
            let fits = |case: &Case<'_>| {
                Demand::Kinds(shape.kinds()).accepts(case.key.ty().into()) && unfit(case.key, shape).is_none()
            };
            if let Some(case) = cases.first().filter(|_| !cases.iter().any(fits))
                && let Some(wrong) = self.refused(case.key, shape)
            {
                let key = Expr { kind: ExprKind::Literal(case.key), span: case.key_span };
                self.report(messages::constant(self.function, None, &key, wrong));
            }
        }
    }

    /// Reports a value that cannot fit a shape, and a reference that may be meant as one of its texts.
    fn fits(&mut self, value: &Expr<'a>, seen: Seen<'t>, wanted: SchemaShape<'t>, place: Place<'_, 'a>) {
        let Some(known) = seen else { return };
        let demand = rules::of_shape(wanted);
        self.whole_answer(value, seen, || needs(demand));
        let listed = wanted.texts().and(self.bare_name(value)).filter(|it| wanted.refuses_text(it).is_none());
        if !demand.accepts(known.ty) {
            let typed = self.typed(value, known.ty);
            let wrong = argument(self.function, place, typed, demand, None);
            let wrong = match listed {
                Some(name) => messages::text_meant(wrong, value, name),
                None => stringified(wrong, value, wanted.kinds(), self.function.notation),
            };
            self.report_of(seen, wrong);
            return;
        }
        self.nil_given(value, seen, demand, place);
        if let Some(name) = listed {
            self.report(messages::enum_reference(place, value, name));
        }
        if let ExprKind::Literal(literal) = value.kind {
            if let Some(wrong) = self.refused(literal, wanted) {
                self.report(messages::constant(self.function, Some(place), value, wrong));
            }
        } else if let Some(shape) = known.part.shape().filter(|_| known.ty != Inferred::ANY)
            && let Some(clash) = clash(shape, wanted)
        {
            self.report(messages::clash(place, value, &clash));
        }
    }
}

/// Why a constant does not fit a shape that allows its kind.
fn unfit(literal: Literal<'_>, wanted: SchemaShape<'_>) -> Option<Unfit> {
    let format = match literal {
        Literal::Text(text) if wanted.texts().is_none() => wanted.misses_format(text),
        _ => None,
    };
    misfit(literal, wanted).map(Unfit::Value).or(format.map(Unfit::Format))
}

/// The same, if it is for its value.
pub(crate) fn misfit(literal: Literal<'_>, wanted: SchemaShape<'_>) -> Option<Misfit> {
    match literal {
        Literal::Nil => None,
        Literal::Bool(truth) => wanted.refuses_bool(truth),
        Literal::Number(number) => wanted.refuses_number(number),
        Literal::Text(text) => wanted.refuses_text(text),
    }
}
