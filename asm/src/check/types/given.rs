//! Compares arguments with the schemas of tools in depth: each record, list and constant in a call, and each
//! value of a known type, must fit the shape at its path.
//!
//! A value that is built in the argument itself is compared part by part, so that an error is reported at the
//! part. Other values are compared by what is known about them.

use super::{Seen, Types, ValueInfo, needs};
use crate::ast::{Call, Case, Expr, ExprKind, Field, Function, Literal};
use crate::catalog::{Format, Misfit, RangeEnd, SchemaShape};
use crate::check::arguments::{Expectation, text_of};
use crate::check::fixes::{self, wrong};
use crate::check::messages::{argument, maybe_nil, stringified};
use crate::check::resolve::Target;
use crate::check::value_info::ty;
use crate::diagnostic::Diagnostic;
use crate::expr::reference::FAILURES;
use crate::notation::Notation;
use crate::rules::{self, Clash, Demand, clash};
use crate::span::Span;
use crate::text::{Near, SHOWN, near, some_of};
use crate::types::Inferred;
use core::fmt;
use ilo_spec::error::Code;
use ilo_spec::node::Word;
use ilo_spec::program::Number;
use ilo_spec::pure::Kinds;

/// The most names or constants that are compared with a wrong one.
const COMPARED: usize = 1024;

/// A path within an argument: fields and items.
struct ArgumentPath<'p> {
    /// The field; `None` for an item.
    name: Option<&'p str>,
    /// The enclosing path; `None` for the argument itself.
    of: Option<&'p ArgumentPath<'p>>,
}

/// The path from the inside out: `` `city` in `address` ``. A long path is cut.
impl fmt::Display for ArgumentPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut next = Some(self);
        for _ in 0..SHOWN {
            let Some(path) = next else { return Ok(()) };
            match path.name {
                Some(name) => write!(f, "`{name}`")?,
                None => f.write_str("an item")?,
            }
            if path.of.is_some() {
                f.write_str(if path.name.is_some() { " in " } else { " of " })?;
            }
            next = path.of;
        }
        if next.is_some() { f.write_str("…") } else { Ok(()) }
    }
}

/// A place in the arguments of a call.
#[derive(Clone, Copy)]
struct Place<'p, 'a> {
    call: &'p Call<'a>,
    path: &'p ArgumentPath<'p>,
    /// Whether the value may be nil, and is then left out.
    nil: bool,
}

/// The path with the tool: `` `city` in `address` of `send` ``.
impl fmt::Display for Place<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of `{}`", self.path, self.call.tool.text)
    }
}

/// Why a constant does not fit a shape that allows its kind.
#[derive(Clone, Copy)]
enum Unfit {
    /// Its value.
    Value(Misfit),
    /// It is a text without this format.
    Format(Format),
}

/// A constant that its shape does not allow.
#[derive(Clone, Copy)]
struct Disallowed<'m, 'a> {
    literal: Literal<'a>,
    wanted: SchemaShape<'m>,
    unfit: Unfit,
    /// The text that it most likely means.
    near: Option<Near<'m>>,
}

impl<'t, 'a> Types<'_, 't, 'a> {
    /// Checks an argument of a call.
    pub(super) fn argument(&mut self, call: &Call<'a>, given: &Field<'a>, wanted: Option<Expectation<'t>>) {
        let path = &ArgumentPath { name: Some(given.name.text), of: None };
        match wanted {
            // An own function takes a written nil.
            Some(Expectation { shape: Some(_), nil: true, declared: Some(_), .. })
                if matches!(given.value.kind, ExprKind::Literal(Literal::Nil)) => {}
            Some(Expectation { shape: Some(shape), nil, .. }) => {
                self.given_or_nil(given, (shape, nil), Place { call, path, nil });
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
                let path = ArgumentPath { name: None, of: Some(place.path) };
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
            let path = ArgumentPath { name: Some(field.name.text), of: Some(place.path) };
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
                let takes = some_of(wanted.names());
                let expected = if takes.is_empty() { "no field".to_owned() } else { takes };
                let message = format!("{place} does not take a field `{}`", field.name.text);
                let found = wrong(Code::UnknownArgument, field.name, message, expected);
                let found = fixes::name(found, field.name, near, self.function.notation);
                self.report(found.raised_if(refused));
                continue;
            };
            self.given_or_nil(field, given, Place { path: &path, nil: given.1, ..place });
        }
    }

    /// Checks a value that must fit a shape. If `nil` is set, it may be nil, and is then left out; but a
    /// written null may be meant to clear something.
    fn given_or_nil(&mut self, field: &Field<'a>, wanted: (SchemaShape<'t>, bool), place: Place<'_, 'a>) {
        let ((shape, nil), value) = (wanted, &field.value);
        match value.kind {
            ExprKind::Literal(Literal::Nil) if nil => {
                let typed = self.typed(value, Inferred::NIL);
                let demand = rules::of_shape(shape);
                let wrong = argument(self.function, place, typed, demand, None);
                let fix = fixes::left_out(self.function, field);
                self.report(wrong.help("leave it out: this may be absent, but not null").fix(fix));
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
        let missing: Vec<_> = required.take(COMPARED).collect();
        if missing.is_empty() {
            return;
        }
        let unknown = fields.iter().filter(|field| wanted.field(field.name.text).is_none());
        let free = || wanted.names().filter(|name| !given(name));
        let meant: Vec<_> = unknown.filter_map(|field| self.near(field.name.text, free())).collect();
        for field in missing.into_iter().filter(|field| meant.iter().all(|near| near.name != field.name)) {
            let message = format!("{place} lacks the field `{}`", field.name);
            let found = Diagnostic::new(Code::MissingArgument, value.span, message)
                .expected(format!("the field `{}`", field.name), "a record without it");
            self.report(found.help(format!("`{}` takes {}", field.name, kinds(field.shape))));
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
    fn refused(&mut self, literal: Literal<'a>, wanted: SchemaShape<'t>) -> Option<Disallowed<'t, 'a>> {
        let unfit = unfit(literal, wanted)?;
        let near = match (literal, wanted.texts()) {
            (Literal::Text(_), Some([only])) if wanted.kinds() == Kinds::TEXT => {
                Some(Near { name: only, sure: true })
            }
            (Literal::Text(text), Some(texts)) => self.near(text, texts.iter().map(|text| &**text)),
            _ => None,
        };
        Some(Disallowed { literal, wanted, unfit, near })
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
            self.report(disallowed(self.function, None, constant, wrong));
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
                self.report(disallowed(self.function, None, &key, wrong));
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
                Some(name) => {
                    let (text, found) = (format!("{{\"text\":\"{name}\"}}"), known.ty.to_string());
                    let quoted =
                        Span::new(value.span.start.saturating_sub(1), value.span.end.saturating_add(1));
                    wrong.expected(format!("`{text}` for the text"), found).replace(quoted, text)
                }
                None => stringified(wrong, value, wanted.kinds(), self.function.notation),
            };
            self.report_of(seen, wrong);
            return;
        }
        self.nil_given(value, seen, demand, place);
        if let Some(name) = listed {
            let message = format!("`{name}` is a variable here, and {place} also takes the text \"{name}\"");
            let forms =
                format!("`{{\"text\":\"{name}\"}}` for the text, or `\"${{{name}}}\"` for the variable");
            let found =
                Diagnostic::new(Code::EnumReference, value.span, message).help(format!("write {forms}"));
            self.report(found.expected(forms, format!("`{name}`")));
        }
        if let ExprKind::Literal(literal) = value.kind {
            if let Some(wrong) = self.refused(literal, wanted) {
                self.report(disallowed(self.function, Some(place), value, wrong));
            }
        } else if let Some(shape) = known.part.shape().filter(|_| known.ty != Inferred::ANY)
            && let Some(clash) = clash(shape, wanted)
        {
            let Clash { found, wanted, field } = clash;
            let whose = field.map_or(String::new(), |field| format!("`{field}` in "));
            let values =
                |shape: SchemaShape<'_>| if shape.texts().is_some() { allowed(shape) } else { kinds(shape) };
            let alike = found.kinds().meets(wanted.kinds());
            let [takes, is] = [wanted, found].map(|shape| if alike { values(shape) } else { kinds(shape) });
            let of = found.tool();
            let message = format!("{whose}{place} takes {takes}, but this is {is} by the schema of `{of}`");
            self.report(Diagnostic::new(Code::TypeMismatch, value.span, message).expected(takes, is));
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

/// A constant that its shape does not allow: at a place in a call, or compared with a part of an answer, to
/// which it is never equal.
fn disallowed(
    function: &Function<'_>,
    place: Option<Place<'_, '_>>,
    value: &Expr<'_>,
    wrong: Disallowed<'_, '_>,
) -> Diagnostic {
    let Disallowed { literal, wanted, unfit, near } = wrong;
    let found = literal.shown();
    let expected = match unfit {
        Unfit::Value(Misfit::Constant) => allowed(wanted),
        Unfit::Value(Misfit::Fraction) => "a whole number".to_owned(),
        Unfit::Value(Misfit::Range) => format!("a number {}", range(wanted)),
        Unfit::Format(Format::Date) => "a date such as \"2026-01-31\"".to_owned(),
        Unfit::Format(Format::DateTime) => "a time such as \"2026-01-31T09:30:00Z\"".to_owned(),
    };
    let (code, message) = match place {
        Some(place) => (Code::BadValue, format!("{place} takes {expected}, but this is {found}")),
        None => {
            let by = format!("by the schema of `{}`: they are never equal", wanted.tool());
            (Code::NeverEqual, format!("{found} is compared with {expected} {by}"))
        }
    };
    let diagnostic = Diagnostic::new(code, value.span, message).expected(expected, found);
    fixes::text(diagnostic, value, function, near)
}

/// A shape in words.
fn kinds(shape: SchemaShape<'_>) -> String {
    match shape.kinds() {
        Kinds::LIST => shape.ty().to_string(),
        kinds => kinds.to_string(),
    }
}

/// The constants that a shape allows.
fn allowed(wanted: SchemaShape<'_>) -> String {
    let texts = wanted.texts().unwrap_or_default().iter().map(|text| Literal::Text(text).shown());
    let numbers = wanted.numbers().unwrap_or_default().iter().map(|&number| Literal::Number(number).shown());
    let truth = wanted.boolean().map(|truth| truth.to_string());
    let mut all: Vec<String> = texts.chain(numbers).chain(truth).take(SHOWN + 1).collect();
    if all.len() > SHOWN {
        all.truncate(SHOWN);
        all.push("…".to_owned());
        return all.join(", ");
    }
    match all.pop() {
        Some(last) if all.is_empty() => last,
        Some(last) => format!("{} or {last}", all.join(", ")),
        None => kinds(wanted),
    }
}

/// The range of a shape: `from 1 to 100`.
fn range(wanted: SchemaShape<'_>) -> String {
    let end = |bound: Option<RangeEnd>, included: &str, excluded: &str| {
        bound.map(|RangeEnd { number, included: is }: RangeEnd| {
            let number: Number = number;
            format!("{} {number}", if is { included } else { excluded })
        })
    };
    match wanted.range() {
        (Some(least @ RangeEnd { included: true, .. }), Some(most @ RangeEnd { included: true, .. })) => {
            format!("from {} to {}", least.number, most.number)
        }
        (least, most) => {
            let ends = [end(least, "of at least", "above"), end(most, "of at most", "below")];
            ends.into_iter().flatten().collect::<Vec<_>>().join(" and ")
        }
    }
}
