//! What several findings say in the same way: the names of slots and types, and the fixes, in the syntax of
//! the notation.

use crate::ast::{Apply, Expr, ExprKind, Field, Function, Literal, Name, OutputName, Slot};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::dialect::other_operator;
use crate::expr::OF_ITEMS;
use crate::notation::Notation;
use crate::rules::Demand;
use crate::span::Span;
use crate::syntax::header::write_output;
use crate::text::Near;
use crate::types::Inferred;
use ilo_spec::error::Code;
use ilo_spec::number;
use ilo_spec::pure::Pure;

/// How a message names a slot.
pub(super) fn slot_name(function: &Function<'_>, slot: Slot) -> String {
    match function.slots.get(slot.0 as usize) {
        Some(info) => match (info.number, info.name) {
            (Some(number), Some(name)) => format!("slot {number} ({name})"),
            (None, Some(name)) => format!("`{name}`"),
            (Some(number), None) => format!("slot {number}"),
            (None, None) => "the call's result".to_owned(),
        },
        None => format!("slot {}", slot.0),
    }
}

/// The span of the slot in a reference: a REF ends with the number of the slot; any other reference is the
/// name.
pub(super) fn slot_place(function: &Function<'_>, slot: Slot, reference: Span) -> Span {
    let Some(number) = function.slots.get(slot.0 as usize).and_then(|info| info.number) else {
        return reference;
    };
    let digits = number.checked_ilog10().unwrap_or(0) + 1;
    Span::new(reference.end.saturating_sub(digits).max(reference.start), reference.end)
}

/// An output type as the source writes it.
pub(super) fn output_name(output: &OutputName<'_>) -> String {
    let mut name = String::new();
    write_output(output, &mut name);
    name
}

/// Something wrong with a name.
#[cfg_attr(debug_assertions, track_caller)]
pub(super) fn wrong(
    code: Code,
    name: Name<'_>,
    message: impl Into<String>,
    expected: impl Into<String>,
) -> Diagnostic {
    Diagnostic::new(code, name.span, message).expected(expected, format!("`{}`", name.text))
}

/// Replaces the word `old` with which a statement begins.
pub(super) fn word(statement: Span, old: &str, new: &str) -> Fix {
    let length = u32::try_from(old.len()).unwrap_or(0);
    let span = Span::new(statement.start, statement.start.saturating_add(length));
    Fix::write(new, span, new)
}

/// Binds a slot to a value that is computed from its old value. The expression begins at the diagnostic.
pub(super) fn bind_again(diagnostic: Diagnostic, function: &Function<'_>, slot: Slot) -> Diagnostic {
    let place = Span::at(diagnostic.span.start);
    let name = slot_name(function, slot);
    let form = match function.notation {
        Notation::Id => String::new(),
        Notation::Workflow => format!(", with `let: {}` beside `expr`", name.trim_matches('`')),
        _ => format!(", as in `{{\"let\": \"{}\", \"expr\": …}}`", name.trim_matches('`')),
    };
    let diagnostic =
        diagnostic.help(format!("this makes a new value and leaves {name} as it was: bind it again{form}"));
    let number = function.slots.get(slot.0 as usize).and_then(|info| info.number);
    match number.filter(|_| function.notation == Notation::Id) {
        Some(number) => diagnostic.replace(place, format!("LET {number} ")),
        None => diagnostic,
    }
}

/// The nearest name, and the fix that writes it if it is the only plausible one and the notation uses names,
/// not numbers.
pub(super) fn name(
    diagnostic: Diagnostic,
    name: Name<'_>,
    near: Option<Near<'_>>,
    notation: Notation,
) -> Diagnostic {
    let written = name.span.end.saturating_sub(name.span.start) as usize == name.text.len();
    let diagnostic = diagnostic.nearest(near.map(|near| near.name));
    match near.filter(|near| near.sure && written && notation != Notation::Id) {
        Some(near) => diagnostic.replace(name.span, near.name),
        None => diagnostic,
    }
}

/// What to write instead of a record whose only field is named like a function of another language.
pub(super) fn operation(diagnostic: Diagnostic, value: &Expr<'_>, notation: Notation) -> Diagnostic {
    let ExprKind::Record([only]) = &value.kind else { return diagnostic };
    if notation == Notation::Id {
        return diagnostic;
    }
    let name = only.name;
    let operands = match &only.value.kind {
        ExprKind::List(items) => items.len(),
        _ => 1,
    };
    match other_operator::meant(name.text).filter(|operator| operator.takes(operands)) {
        Some(operator) => {
            let spelling = operator.spelling;
            let diagnostic = diagnostic.help(format!("write `{{\"{spelling}\": …}}` for the result"));
            let written = name.span.end.saturating_sub(name.span.start) as usize == name.text.len();
            if written { diagnostic.replace(name.span, spelling) } else { diagnostic }
        }
        None => match other_operator::instead_of(name.text) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        },
    }
}

/// The text that a constant most likely means, and the fix that writes it if that is certain.
pub(super) fn text(
    diagnostic: Diagnostic,
    expression: &Expr<'_>,
    function: &Function<'_>,
    near: Option<Near<'_>>,
) -> Diagnostic {
    let diagnostic = diagnostic.nearest(near.map(|near| near.name));
    let ExprKind::Literal(Literal::Text(written)) = expression.kind else { return diagnostic };
    let Some(meant) = near.filter(|near| near.sure).map(|near| near.name) else { return diagnostic };
    let plain = meant.starts_with(char::is_alphabetic)
        && meant.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && !["true", "false", "null", "yes", "no", "on", "off"].contains(&meant.to_lowercase().as_str());
    if function.notation == Notation::Workflow && plain && expression.span.range().len() == written.len() {
        return diagnostic.replace(expression.span, meant);
    }
    instead(diagnostic, expression, function, (0, &crate::text::quoted(meant)), written.len() + 2)
}

/// Offers a constant, with the number of its kind in ID text, in place of one that has this length as it is
/// written. Any other form of that one has another length, and is not replaced.
fn instead(
    diagnostic: Diagnostic,
    expression: &Expr<'_>,
    function: &Function<'_>,
    (kind, meant): (u8, &str),
    length: usize,
) -> Diagnostic {
    let (form, word) = match function.notation {
        Notation::Id => (format!("LIT {kind} {meant}"), "LIT 0 ".len()),
        _ => (in_quotes_of(function, expression.span, meant), 0),
    };
    if expression.span.range().len() == length.saturating_add(word) {
        diagnostic.replace(expression.span, form)
    } else {
        diagnostic.help(format!("write `{form}`"))
    }
}

/// A constant with the quotes of its place: inside a text of JSON, double quotes would end that text.
fn in_quotes_of(function: &Function<'_>, place: Span, constant: &str) -> String {
    let old = function.source.get(place.range()).unwrap_or("");
    let before = function.source.get(..place.start as usize).unwrap_or("");
    let is_inside = || function.notation != Notation::Workflow && is_in_text(before);
    match constant.strip_prefix('"').and_then(|inside| inside.strip_suffix('"')) {
        Some(inside) if !inside.contains(['\'', '"', '\\']) && (old.starts_with('\'') || is_inside()) => {
            format!("'{inside}'")
        }
        _ => constant.to_owned(),
    }
}

/// Whether the last line of a piece of JSON ends within a text.
fn is_in_text(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or("");
    let (mut is_in_text, mut escaped) = (false, false);
    for byte in line.bytes() {
        is_in_text ^= byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
    }
    is_in_text
}

/// Leaves a field of a record out, with its comma or its line.
pub(super) fn left_out(function: &Function<'_>, field: &Field<'_>) -> Option<Fix> {
    let at = |offset: usize| u32::try_from(offset).ok();
    let (source, end) = (function.source, field.value.span.end);
    let (before, after) = (source.get(..field.name.span.start as usize)?, source.get(end as usize..)?);
    let behind = before.strip_suffix(['"', '\'']).unwrap_or(before);
    let colon = source.get(field.name.span.end as usize..field.value.span.start as usize)?;
    if function.notation == Notation::Id
        || !colon.trim_start_matches(['"', '\'']).trim_start().starts_with(':')
    {
        return None;
    }
    let outer = behind.trim_end();
    let span = if outer.ends_with(',') {
        Span::new(at(outer.len() - 1)?, end)
    } else if outer.ends_with('{') {
        let next = after.trim_start().strip_prefix(',').map(str::trim_start);
        Span::new(at(behind.len())?, next.map_or(Some(end), |next| at(source.len() - next.len()))?)
    } else {
        // A line of its own, which is not the only one of its record.
        let (above, indent) = behind.rsplit_once('\n')?;
        let (rest, below) = after.split_once('\n').unwrap_or((after, ""));
        let is_beside = |line: Option<&str>| {
            let key = line.and_then(|line| line.strip_prefix(indent));
            key.is_some_and(|key| !key.is_empty() && !key.starts_with([' ', '-', '#']))
        };
        let alone = indent.bytes().all(|byte| byte == b' ') && rest.trim().is_empty();
        let beside = is_beside(above.rsplit('\n').next()) || is_beside(below.lines().next());
        (function.notation == Notation::Workflow && alone && beside)
            .then(|| Some(Span::new(at(above.len())?, end)))??
    };
    Some(Fix { title: "leave it out".to_owned(), edits: vec![Edit::new(span, "")] })
}

/// How a value becomes one of the expected type.
pub(super) fn conversion(value: &Expr<'_>, found: Inferred, demand: Demand) -> Option<&'static str> {
    let [text, number, record] =
        [Inferred::TEXT, Inferred::NUMBER, Inferred::RECORD].map(|ty| demand.accepts(ty));
    Some(match (&value.kind, found) {
        _ if record && found.lists > 0 && !text => OF_ITEMS,
        (ExprKind::Apply(Apply { function: Pure::Date | Pure::Iso, .. }), _) if number && !text => {
            "a time is a number of seconds: a week after a date is `date(time(x) + 7 * 86400)`"
        }
        (_, Inferred::TEXT) if number && !text => "`number(x)` is the number that a text holds",
        (_, Inferred::NUMBER) if text && !number => "`str(x)` is a number as text: `${str(x)}`",
        (_, _) if text && found.lists > 0 => "`${join(list, ', ')}` is a text of the items of a list",
        _ => return None,
    })
}

/// A constant of another type with the same spelling, such as 40 for "40", if the expected type accepts it.
pub(super) fn literal(
    diagnostic: Diagnostic,
    expression: &Expr<'_>,
    function: &Function<'_>,
    demand: Demand,
) -> Diagnostic {
    let notation = function.notation;
    let ExprKind::Literal(literal) = expression.kind else { return diagnostic };
    let fits = |meant| demand.accepts(meant);
    let (kind, plain, quoted) = match literal {
        Literal::Text(text) if fits(Inferred::NUMBER) && number::parse(text).is_ok() => {
            (1, text.to_owned(), true)
        }
        Literal::Text(text @ ("true" | "false")) if fits(Inferred::BOOL) => (3, text.to_owned(), true),
        Literal::Number(number) if fits(Inferred::TEXT) => (0, number.to_string(), false),
        Literal::Bool(truth) if fits(Inferred::TEXT) && !fits(Inferred::NUMBER) => {
            (0, truth.to_string(), false)
        }
        _ => return diagnostic,
    };
    let meant = if quoted { plain.clone() } else { format!("\"{plain}\"") };
    let length = plain.len() + if quoted { 2 } else { 0 };
    // Quotes would end the text that contains the expression in a workflow.
    let length = if quoted || notation != Notation::Workflow { length } else { usize::MAX };
    // A number such as 1.10, whose value has fewer digits.
    if matches!(literal, Literal::Number(_))
        && notation != Notation::Id
        && expression.span.range().len() != plain.len()
    {
        return diagnostic.help("put the number in quotes as it is, with all its digits");
    }
    instead(diagnostic, expression, function, (kind, &meant), length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;
    use crate::compile::read;
    use crate::diagnostic::{Diagnostics, fix};

    /// A source without its only `null`, which is an argument of a call.
    #[track_caller]
    fn without(source: &str) -> Option<String> {
        let (arena, mut found) = (Arena::new(), Diagnostics::default());
        let file = read(source, &arena, &crate::compile::Options::default(), &mut found);
        let mut fix = None;
        for function in file.functions {
            function.body.each_call(&mut |call| {
                let null = |field: &&Field<'_>| matches!(field.value.kind, ExprKind::Literal(Literal::Nil));
                fix = call.arguments.iter().find(null).and_then(|field| left_out(function, field));
            });
        }
        let wrong = Diagnostic::new(ilo_spec::error::Code::BadShape, Span::at(0), "").fix(fix?);
        Some(fix::apply(source, &[wrong]).0)
    }

    #[test]
    fn a_field_goes_with_its_comma_or_its_line() {
        let json = |args: &str| {
            let (before, after) = (r#"{"function": "f", "steps": [{"call": "t", "args": "#, "}]}");
            let new = without(&format!("{before}{args}{after}"))?;
            Some(new.strip_prefix(before)?.strip_suffix(after)?.to_owned())
        };
        assert_eq!(json(r#"{"a": 1, "b": null}"#).as_deref(), Some(r#"{"a": 1}"#));
        assert_eq!(json(r#"{"a": null, "b": 1}"#).as_deref(), Some(r#"{"b": 1}"#));
        assert_eq!(json("{\"a\": null\n}").as_deref(), Some("{\n}"));
        let yaml = |args: &str| {
            let before = "name: f\nsteps:\n  s:\n    call: t\n    args:";
            Some(without(&format!("{before}{args}"))?.strip_prefix(before)?.to_owned())
        };
        assert_eq!(yaml(" {a: null, b: 1}").as_deref(), Some(" {b: 1}"));
        assert_eq!(
            yaml("\n      a: 1\n      b: null\n    let: x\n").as_deref(),
            Some("\n      a: 1\n    let: x\n")
        );
        assert_eq!(yaml("\n      b: null\n      a: 1\n").as_deref(), Some("\n      a: 1\n"));
        assert_eq!(yaml("\n      b: null\n    let: x\n"), None);
        assert_eq!(yaml("\n      a: 1\n      b: null # none\n"), None);
    }
}
