//! The advice for a record or list that is given as the text of its JSON.

use crate::ast::{Expr, ExprKind, Literal};
use crate::diagnostic::Diagnostic;
use crate::notation::Notation;
use crate::text::shorten;
use ilo_spec::pure::Kinds;

/// Adds to the error of a text where a record or list is wanted that it holds one, if it does.
pub(crate) fn stringified(
    diagnostic: Diagnostic,
    value: &Expr<'_>,
    wanted: Kinds,
    notation: Notation,
) -> Diagnostic {
    let (first, last) = match &value.kind {
        ExprKind::Template([first, .., last]) => (first, last),
        _ => (value, value),
    };
    let (Some(start), Some(end)) = (constant(first), constant(last)) else { return diagnostic };
    let (start, end) = (start.trim_start(), end.trim_end());
    let (what, instruction) = if begins_record(start) && end.ends_with('}') && wanted.meets(Kinds::RECORD) {
        ("record", "OBJ")
    } else if start.starts_with('[') && end.ends_with(']') && wanted.meets(Kinds::LIST) {
        ("list", "LIST")
    } else {
        return diagnostic;
    };
    let whole = core::ptr::eq(first, last);
    diagnostic.help(match notation {
        Notation::Id => format!("this is the text of a {what}: build the {what} itself, with {instruction}"),
        _ if whole => format!("this is the text of a {what}: write the {what} itself, `{}`", shorten(start)),
        _ => format!("this is the text of a {what}: write the {what} itself, without the quotes around it"),
    })
}

/// Whether a text begins with a brace and then, after blanks, with a quote or the closing brace.
fn begins_record(text: &str) -> bool {
    let rest = text.strip_prefix('{').unwrap_or("").trim_start();
    rest.starts_with(['"', '}'])
}

fn constant<'a>(value: &Expr<'a>) -> Option<&'a str> {
    if let ExprKind::Literal(Literal::Text(text)) = value.kind { Some(text) } else { None }
}
