//! Forms of calls that are another function than their name says, or that take other operands than its row.
//!
//! They are the same for an operation in JSON and for a call in an expression: each reader gives the name and
//! the operands that it has read. What a function takes without them is in [`crate::dialect::operator`].

use super::reader::{StepReader, literal};
use crate::ast::{Expr, ExprKind, Literal};
use crate::diagnostic::Diagnostic;
use crate::dialect::operator::{Makes, Operator};
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use ilo_spec::pure::Pure;

/// Words for the order from the greatest to the least, and for the other one.
const DOWN: [&str; 3] = ["desc", "descending", "down"];
const UP: [&str; 3] = ["asc", "ascending", "up"];

fn truth(operand: &Expr<'_>) -> Option<bool> {
    if let ExprKind::Literal(Literal::Bool(truth)) = operand.kind { Some(truth) } else { None }
}

/// Whether an operand is a constant from 0 on, which counts from the beginning of a list.
fn is_position(operand: &Expr<'_>) -> bool {
    matches!(operand.kind, ExprKind::Literal(Literal::Number(Number::Int(from))) if from >= 0)
}

/// The order that the last operand of a sort asks for: whether the greatest comes first.
fn order(operand: &Expr<'_>) -> Option<bool> {
    let word = operand.constant_text()?.to_ascii_lowercase();
    if DOWN.contains(&word.as_str()) { Some(true) } else { UP.contains(&word.as_str()).then_some(false) }
}

impl<'a> StepReader<'_, 'a> {
    /// The expression of a call with these operands if it has one of the forms; `None` if it is an ordinary
    /// call. `reverse` is an operand of that name.
    pub(crate) fn call_form(
        &mut self,
        name: &str,
        operands: &[Expr<'a>],
        reverse: Option<bool>,
        span: Span,
    ) -> Option<Expr<'a>> {
        match (name, operands) {
            ("sort", [list, rest @ ..]) => self.sorted(list, rest, reverse, span),
            _ if reverse.is_some() => None,
            ("sum", [list, field]) if field.constant_text().is_some() => {
                let column = self.column(list, field, span)?;
                self.made(Makes::Apply(Pure::Sum), &[column], span)
            }
            ("range", [from, to]) if is_position(from) => {
                let whole = self.made(Makes::Apply(Pure::Range), &[*to], span)?;
                self.made(Makes::Apply(Pure::Slice), &[whole, *from, literal(Literal::Nil, span)], span)
            }
            ("min", [_, _, ..]) => self.extreme(Pure::Min, operands, span),
            ("max", [_, _, ..]) => self.extreme(Pure::Max, operands, span),
            ("fixed", [number, places, grouped]) => {
                if truth(grouped).is_none() {
                    self.no_constant_form(grouped, "whether thousands are separated", "`true` or `false`");
                }
                let function = if truth(grouped) == Some(true) { Pure::Grouped } else { Pure::Fixed };
                self.made(Makes::Apply(function), &[*number, *places], span)
            }
            ("merge" | "$merge", [record, other]) => Some(match other.kind {
                ExprKind::Record(fields) => Expr { kind: ExprKind::Merge(self.alloc(*record), fields), span },
                _ => self.made(Makes::Apply(Pure::Joined), &[*record, *other], span)?,
            }),
            _ => None,
        }
    }

    /// SORT with a field that begins with `-`, or with an order.
    fn sorted(
        &mut self,
        list: &Expr<'a>,
        rest: &[Expr<'a>],
        reverse: Option<bool>,
        span: Span,
    ) -> Option<Expr<'a>> {
        let mut down = reverse;
        if let [first, fields @ .., last] = rest
            && [first, last].into_iter().chain(fields).all(|field| field.constant_text().is_some())
            && order(last).is_none()
        {
            // SORT is stable: by the last field first.
            return rest.iter().rev().try_fold(*list, |list, field| {
                let plain = |this: &mut Self| this.made(Makes::Apply(Pure::Sort), &[list, *field], span);
                self.sorted(&list, core::slice::from_ref(field), reverse, span).or_else(|| plain(self))
            });
        }
        let field = match rest {
            [field, asked] => {
                match order(asked) {
                    Some(asked) => down = Some(asked),
                    None => self.no_constant_form(asked, "the order", "`'asc'` or `'desc'`"),
                }
                Some(field)
            }
            [field] => Some(field),
            [] => None,
            _ => return None,
        };
        let field = match field {
            Some(field) => match field.constant_text().and_then(|name| name.strip_prefix('-')) {
                Some(name) if !name.is_empty() && down.is_none() => {
                    down = Some(true);
                    literal(Literal::Text(name), field.span)
                }
                _ => *field,
            },
            None => literal(Literal::Nil, span),
        };
        let function = if down? { Pure::SortDown } else { Pure::Sort };
        self.made(Makes::Apply(function), &[*list, field], span)
    }

    /// MIN or MAX of several values, or of a field of the records of a list.
    fn extreme(&mut self, function: Pure, operands: &[Expr<'a>], span: Span) -> Option<Expr<'a>> {
        let list = match operands {
            [list, field] if field.constant_text().is_some() && !list.is_no_list() => {
                self.column(list, field, span)?
            }
            _ => Expr { kind: ExprKind::List(self.arena.alloc_slice_copy(operands)), span },
        };
        self.made(Makes::Apply(function), &[list], span)
    }

    /// A field of each record of a list. It has the span of the call of which it is a part: so the check
    /// knows that it was not written, and asks whether the list is one.
    fn column(&mut self, list: &Expr<'a>, field: &Expr<'a>, span: Span) -> Option<Expr<'a>> {
        self.made(Makes::Apply(Pure::Column), &[*list, *field], span)
    }

    fn no_constant_form(&mut self, operand: &Expr<'a>, what: &str, expected: &str) {
        self.report(
            Diagnostic::new(Code::OperandCount, operand.span, format!("{what} is a constant here"))
                .expected(expected, "another value"),
        );
    }
}

/// Whether a call of an operator may have this number of operands although its row does not allow it.
pub(crate) fn takes(operator: &Operator, operands: usize) -> bool {
    match operator.makes {
        Makes::Apply(Pure::Sort) => operands > 2,
        Makes::Apply(Pure::Fixed) => operands == 3,
        Makes::Apply(Pure::Min | Pure::Max) => operands > 1,
        Makes::Apply(Pure::Sum) => operands == 2,
        _ => false,
    }
}

/// The operands of `min`, `max` and `sum` in JSON, where a list of operands may also be the only operand: a
/// list of two items whose second is a constant text is a list and the name of a field.
pub(crate) fn operands_of_list<'a, 'e>(name: &str, only: &'e Expr<'a>) -> Option<&'e [Expr<'a>]> {
    match only.kind {
        ExprKind::List(items @ [list, field])
            if matches!(name, "min" | "max" | "sum")
                && field.constant_text().is_some()
                && !list.is_no_list() =>
        {
            Some(items)
        }
        _ => None,
    }
}
