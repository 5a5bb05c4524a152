//! Messages about parts of arguments that the schema of a tool does not allow: fields, items, constants.

use crate::ast::{Call, Expr, Function, Literal, Name};
use crate::catalog::{Field, Format, Misfit, RangeEnd, SchemaShape};
use crate::check::fixes;
use crate::diagnostic::Diagnostic;
use crate::rules::Clash;
use crate::span::Span;
use crate::text::{Near, SHOWN, some_of};
use core::fmt;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use ilo_spec::pure::Kinds;

/// The most names or constants that are compared with a wrong one.
pub(crate) const COMPARED: usize = 1024;

/// The help for a null that the tool does not take, where the field is optional.
pub(crate) const LEAVE_OUT: &str = "leave it out: this may be absent, but not null";

/// A path within an argument: fields and items.
pub(crate) struct ArgumentPath<'p> {
    /// The field; `None` for an item.
    name: Option<&'p str>,
    /// The enclosing path; `None` for the argument itself.
    of: Option<&'p ArgumentPath<'p>>,
}

impl<'p> ArgumentPath<'p> {
    /// An argument.
    pub(crate) fn of(name: &'p str) -> ArgumentPath<'p> {
        ArgumentPath { name: Some(name), of: None }
    }

    /// A field at a path.
    pub(crate) fn field(name: &'p str, of: &'p ArgumentPath<'p>) -> ArgumentPath<'p> {
        ArgumentPath { name: Some(name), of: Some(of) }
    }

    /// An item at a path.
    pub(crate) fn item(of: &'p ArgumentPath<'p>) -> ArgumentPath<'p> {
        ArgumentPath { name: None, of: Some(of) }
    }
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
pub(crate) struct Place<'p, 'a> {
    pub(crate) call: &'p Call<'a>,
    pub(crate) path: &'p ArgumentPath<'p>,
    /// Whether the value may be nil, and is then left out.
    pub(crate) nil: bool,
}

/// The path with the tool: `` `city` in `address` of `send` ``.
impl fmt::Display for Place<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of `{}`", self.path, self.call.tool.text)
    }
}

/// A field that a record in an argument may not have.
pub(crate) fn unknown_field(
    function: &Function<'_>,
    place: Place<'_, '_>,
    name: Name<'_>,
    wanted: SchemaShape<'_>,
    near: Option<Near<'_>>,
) -> Diagnostic {
    let takes = some_of(wanted.names());
    let expected = if takes.is_empty() { "no field".to_owned() } else { takes };
    let message = format!("{place} does not take a field `{}`", name.text);
    let diagnostic = Diagnostic::new(Code::UnknownArgument, name.span, message)
        .expected(expected, format!("`{}`", name.text));
    fixes::name(diagnostic, name, near, function.notation)
}

/// A required field that a record in an argument lacks.
pub(crate) fn missing_field(place: Place<'_, '_>, record: &Expr<'_>, field: Field<'_>) -> Diagnostic {
    let message = format!("{place} lacks the field `{}`", field.name);
    Diagnostic::new(Code::MissingArgument, record.span, message)
        .expected(format!("the field `{}`", field.name), "a record without it")
        .help(format!("`{}` takes {}", field.name, kinds(field.shape)))
}

/// A shape in words.
fn kinds(shape: SchemaShape<'_>) -> String {
    match shape.kinds() {
        Kinds::LIST => shape.ty().to_string(),
        kinds => kinds.to_string(),
    }
}

/// Why a constant does not fit a shape that allows its kind.
#[derive(Clone, Copy)]
pub(crate) enum Unfit {
    /// Its value.
    Value(Misfit),
    /// It is a text without this format.
    Format(Format),
}

/// A constant that its shape does not allow.
#[derive(Clone, Copy)]
pub(crate) struct Disallowed<'m, 'a> {
    pub(crate) literal: Literal<'a>,
    pub(crate) wanted: SchemaShape<'m>,
    pub(crate) unfit: Unfit,
    /// The text that it most likely means.
    pub(crate) near: Option<Near<'m>>,
}

/// A constant that its shape does not allow: at a place in a call, or compared with a part of an answer, to
/// which it is never equal.
pub(crate) fn constant(
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
    fixes::text(diagnostic, value, function.notation, near)
}

/// A bare name that is both a reference and one of the texts that its shape allows.
pub(crate) fn enum_reference(place: Place<'_, '_>, value: &Expr<'_>, name: &str) -> Diagnostic {
    let message = format!("`{name}` is a variable here, and {place} also takes the text \"{name}\"");
    let forms = format!("`{{\"text\":\"{name}\"}}` for the text, or `\"${{{name}}}\"` for the variable");
    Diagnostic::new(Code::EnumReference, value.span, message)
        .expected(forms.clone(), format!("`{name}`"))
        .help(format!("write {forms}"))
}

/// A reference by a bare name to a value of the wrong type, if the name is one of the texts that the shape
/// allows.
pub(crate) fn text_meant(diagnostic: Diagnostic, value: &Expr<'_>, name: &str) -> Diagnostic {
    let text = format!("{{\"text\":\"{name}\"}}");
    let found = diagnostic.found.clone().unwrap_or_default();
    let quoted = Span::new(value.span.start.saturating_sub(1), value.span.end.saturating_add(1));
    diagnostic.expected(format!("`{text}` for the text"), found).replace(quoted, text)
}

/// A part of an answer that has no value in common with the shape of its argument.
pub(crate) fn clash(place: Place<'_, '_>, value: &Expr<'_>, clash: &Clash<'_>) -> Diagnostic {
    let &Clash { found, wanted, field } = clash;
    let whose = field.map_or(String::new(), |field| format!("`{field}` in "));
    let values = |shape: SchemaShape<'_>| if shape.texts().is_some() { allowed(shape) } else { kinds(shape) };
    let (takes, is) = if found.kinds().meets(wanted.kinds()) {
        (values(wanted), values(found))
    } else {
        (kinds(wanted), kinds(found))
    };
    let of = found.tool();
    let message = format!("{whose}{place} takes {takes}, but this is {is} by the schema of `{of}`");
    Diagnostic::new(Code::TypeMismatch, value.span, message).expected(takes, is)
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
