//! Prints expressions as texts of a workflow, with the fewest parentheses; [`crate::expr`] reads them.

use super::Printer;
use super::text::path;
use super::value::written;
use crate::ast::{Apply, Binary, Expr, ExprKind, Literal, MatchMap, Unary};
use crate::dialect::operator::{COMPARISON, Form, Makes, Operator, row};
use crate::text::quote;
use ilo_spec::pure::Pure;
use std::fmt::Write;

/// An expression as infix text; `None` if a part of it has no infix form.
pub(super) fn print(printer: &mut Printer<'_, '_>, expr: &Expr<'_>) -> Option<String> {
    let mut out = String::new();
    write(printer, expr, 0, &mut out)?;
    Some(out)
}

/// Writes an expression, in parentheses if its operator has a lower precedence than the given one.
fn write(printer: &mut Printer<'_, '_>, expr: &Expr<'_>, closeness: u8, out: &mut String) -> Option<()> {
    printer.deeper(expr.span, |printer| write_inside(printer, expr, closeness, out))
}

fn write_inside(
    printer: &mut Printer<'_, '_>,
    expr: &Expr<'_>,
    closeness: u8,
    out: &mut String,
) -> Option<()> {
    if let Some(path) = path(expr) {
        out.push_str(&printer.reference(&path, expr.span));
        return Some(());
    }
    match expr.kind {
        ExprKind::Literal(literal) => {
            write_literal(printer, literal, out);
            Some(())
        }
        ExprKind::Unary(Unary::Not, operand) => {
            let row = row(Makes::Unary(Unary::Not));
            let Form::Before(own) = row.form else { return None };
            parenthesised(own < closeness, out, |out| {
                let _ = write!(out, "{} ", row.spelling);
                write(printer, operand, own, out)
            })
        }
        ExprKind::Unary(operator, operand) => function(printer, row(Makes::Unary(operator)), &[operand], out),
        ExprKind::Apply(Apply { function: Pure::FloorDiv, operands: [a, b], .. }) => {
            between(printer, row(Makes::Apply(Pure::FloorDiv)), [a, b], closeness, out)
        }
        ExprKind::Apply(apply) => {
            let operands: Vec<&Expr<'_>> = written(apply).iter().collect();
            function(printer, row(Makes::Apply(apply.function)), &operands, out)
        }
        ExprKind::Template(_) => {
            quoted(&printer.template(expr)?, out);
            Some(())
        }
        ExprKind::Binary(operator, a, b) => {
            if operator == Binary::Concat
                && let Some(text) = printer.template(expr)
            {
                quoted(&text, out);
                return Some(());
            }
            let row = row(Makes::Binary(operator));
            between(printer, row, [a, b], closeness, out)
        }
        ExprKind::MatchMap(map) => choice(printer, map, closeness, out),
        ExprKind::Has(record, name) | ExprKind::Field(record, name) => {
            let has = matches!(expr.kind, ExprKind::Has(..));
            let operator = if has { Binary::HasName } else { Binary::At };
            let _ = write!(out, "{}(", row(Makes::Binary(operator)).spelling);
            write(printer, record, 0, out)?;
            out.push_str(", ");
            quoted(&printer.text(name.text), out);
            out.push(')');
            Some(())
        }
        _ => None,
    }
}

/// An operator between its operands, or as a function if that is its form.
fn between(
    printer: &mut Printer<'_, '_>,
    row: &Operator,
    [a, b]: [&Expr<'_>; 2],
    closeness: u8,
    out: &mut String,
) -> Option<()> {
    let Form::Between(own) = row.form else { return function(printer, row, &[a, b], out) };
    parenthesised(own < closeness, out, |out| {
        // Comparisons do not chain, so neither operand of one may be another.
        write(printer, a, if own == COMPARISON { own + 1 } else { own }, out)?;
        let _ = write!(out, " {} ", row.spelling);
        write(printer, b, own + 1, out)
    })
}

/// A match of a bool, `a if c else b`.
fn choice(printer: &mut Printer<'_, '_>, map: &MatchMap<'_>, closeness: u8, out: &mut String) -> Option<()> {
    let ([case], Some(otherwise)) = (map.cases, &map.default) else { return None };
    let condition = match (case.key, map.subject.kind) {
        (Literal::Bool(true), _) if map.subject.is_comparison() => &map.subject,
        (Literal::Bool(false), ExprKind::Unary(Unary::Not, condition)) if !condition.is_comparison() => {
            condition
        }
        _ => return None,
    };
    parenthesised(closeness > 0, out, |out| {
        write(printer, &case.value, 1, out)?;
        out.push_str(" if ");
        write(printer, condition, 1, out)?;
        out.push_str(" else ");
        write(printer, otherwise, 0, out)
    })
}

fn write_literal(printer: &Printer<'_, '_>, literal: Literal<'_>, out: &mut String) {
    match literal {
        Literal::Nil => out.push_str("null"),
        Literal::Bool(_) | Literal::Number(_) => out.push_str(&literal.written()),
        Literal::Text(text) => quoted(&printer.text(text), out),
    }
}

fn function(
    printer: &mut Printer<'_, '_>,
    row: &Operator,
    operands: &[&Expr<'_>],
    out: &mut String,
) -> Option<()> {
    let _ = write!(out, "{}(", row.spelling);
    for (number, operand) in operands.iter().enumerate() {
        out.push_str(if number > 0 { ", " } else { "" });
        write(printer, operand, 0, out)?;
    }
    out.push(')');
    Some(())
}

fn parenthesised(
    needed: bool,
    out: &mut String,
    inside: impl FnOnce(&mut String) -> Option<()>,
) -> Option<()> {
    out.push_str(if needed { "(" } else { "" });
    inside(out)?;
    out.push_str(if needed { ")" } else { "" });
    Some(())
}

/// A text in single quotes, in which a quote is doubled; as in JSON if it has a backslash that would be read
/// as an escape.
pub(crate) fn quoted(text: &str, out: &mut String) {
    let escapes = text.ends_with('\\')
        || text.match_indices('\\').any(|(at, _)| {
            text.as_bytes().get(at + 1).is_some_and(|byte| matches!(byte, b'n' | b't' | b'\\' | b'\''))
        });
    if escapes {
        quote(text, out);
    } else {
        let _ = write!(out, "'{}'", text.replace('\'', "''"));
    }
}
