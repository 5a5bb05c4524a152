//! Evaluates expressions as the specification says.

use super::eval::{Cell, Exit, Frame, LIMIT, Machine, broken};
use super::value::Value;
use super::{number, pure, render};
use ilo_asm::ast::{Apply, Binary, Expr, ExprKind, Literal, MatchMap, Unary};
use ilo_asm::span::Span;
use ilo_spec::error::Code;
use std::cmp::Ordering;

/// The deepest nesting of a value (10.6).
const DEPTH: usize = 128;

impl<'f> Machine<'f, '_, '_, '_> {
    pub(super) fn operands(&mut self, frame: &mut Frame<'f>, apply: &Apply<'f>) -> Result<Vec<Value>, Exit> {
        apply.operands.iter().map(|operand| self.expr(frame, operand)).collect()
    }

    /// The value of a pure function, or its failure (12.3).
    pub(super) fn apply(
        &mut self,
        frame: &Frame<'f>,
        apply: &Apply<'f>,
        operands: &[Value],
        at: Span,
    ) -> Result<Value, Exit> {
        match pure::apply(apply.function, operands) {
            Ok(value) => {
                let size = length(&value).and_then(|length| length.number()).and_then(number::whole);
                let size = size.and_then(|size| u64::try_from(size).ok()).unwrap_or(0);
                self.steps = self.steps.checked_sub(size / 8).ok_or(LIMIT)?;
                made(value)
            }
            Err(pure::Stop::Failure(message)) => Err(Exit::Failure(Value::text(&message), at)),
            Err(pure::Stop::Fault(code)) => Err(self.trap(frame, code, at)),
            Err(pure::Stop::Limit) => Err(LIMIT),
        }
    }

    pub(super) fn expr(&mut self, frame: &mut Frame<'f>, expr: &Expr<'f>) -> Result<Value, Exit> {
        self.step()?;
        match &expr.kind {
            ExprKind::Ref(slot) => match &frame.cells[slot.0 as usize] {
                Cell::Plain(value) => Ok(value.clone()),
                Cell::Unset => Err(broken("a read of an unset slot")),
                Cell::Checked(_) => Err(broken("a read of a checked slot")),
            },
            ExprKind::Literal(literal) => Ok(constant(literal)),
            ExprKind::Field(of, name) => match self.expr(frame, of)? {
                Value::Record(record) => {
                    match record.fields.iter().find(|(field, _)| **field == *name.text) {
                        Some((_, value)) => Ok(value.clone()),
                        None => Err(self.trap(frame, Code::FaultMissingField, expr.span)),
                    }
                }
                value @ (Value::List(_) | Value::Text(_))
                    if matches!(name.text, "length" | "size" | "count" | "len") =>
                {
                    length(&value).ok_or(LIMIT)
                }
                _ => Err(self.trap(frame, Code::FaultTypeMismatch, expr.span)),
            },
            ExprKind::Call(call) => {
                let arguments = self.arguments(frame, call)?;
                self.carry_out(call, &arguments)
            }
            ExprKind::Unary(Unary::Not, operand) => {
                let value = self.expr(frame, operand)?;
                Ok(Value::Bool(!self.holds(frame, &value, operand, expr.span)?))
            }
            ExprKind::Unary(Unary::Len, operand) => {
                let operand = self.expr(frame, operand)?;
                length(&operand).ok_or_else(|| self.trap(frame, Code::FaultTypeMismatch, expr.span))
            }
            ExprKind::Binary(Binary::And, a, b) => self.logic(frame, expr, [a, b], false),
            ExprKind::Binary(Binary::Or, a, b) => self.logic(frame, expr, [a, b], true),
            ExprKind::Binary(operator, a, b) => {
                let a = self.expr(frame, a)?;
                let b = self.expr(frame, b)?;
                self.binary(frame, expr.span, *operator, &a, &b)
            }
            ExprKind::Has(of, name) => {
                let of = self.expr(frame, of)?;
                self.has(frame, expr.span, &of, &Value::text(name.text))
            }
            ExprKind::MatchMap(map) => self.pick(frame, expr.span, map),
            ExprKind::Record(fields) => {
                let fields = self.fields(frame, fields)?;
                made(Value::record(fields))
            }
            ExprKind::Merge(of, fields) => {
                let of = self.expr(frame, of)?;
                // Whether it is a record is checked after the first 64 fields (1.3.5).
                let (first, rest) = fields.split_at(fields.len().min(64));
                let mut new = self.fields(frame, first)?;
                let Value::Record(old) = of else {
                    return Err(self.trap(frame, Code::FaultTypeMismatch, expr.span));
                };
                new.extend(self.fields(frame, rest)?);
                let mut merged = old.fields.clone();
                for (name, value) in new {
                    match merged.iter_mut().find(|(field, _)| *field == name) {
                        Some(field) => field.1 = value,
                        None => merged.push((name, value)),
                    }
                }
                made(Value::record(merged))
            }
            ExprKind::Apply(apply) => {
                let operands = self.operands(frame, apply)?;
                self.apply(frame, apply, &operands, expr.span)
            }
            // A source that could not be read does not run.
            ExprKind::Bad => Err(self.trap(frame, Code::FaultTypeMismatch, expr.span)),
            ExprKind::Template(parts) => {
                let mut all = String::new();
                for part in *parts {
                    let part = self.expr(frame, part)?;
                    let part = self.joined(render::text(&part))?;
                    all = self.joined(Some(all + &part))?;
                }
                Ok(Value::text(&all))
            }
            ExprKind::List(items) => {
                let items = items.iter().map(|item| self.expr(frame, item)).collect::<Result<_, Exit>>()?;
                made(Value::list(items))
            }
        }
    }

    /// AND, which the first false decides, and OR, which the first true decides (1.4.3).
    fn logic(
        &mut self,
        frame: &mut Frame<'f>,
        expr: &Expr<'f>,
        operands: [&Expr<'f>; 2],
        settling: bool,
    ) -> Result<Value, Exit> {
        for operand in operands {
            let value = self.expr(frame, operand)?;
            let holds = self.holds(frame, &value, operand, expr.span)?;
            if holds == settling {
                return Ok(Value::Bool(settling));
            }
        }
        Ok(Value::Bool(!settling))
    }

    fn binary(
        &mut self,
        frame: &Frame<'f>,
        at: Span,
        operator: Binary,
        a: &Value,
        b: &Value,
    ) -> Result<Value, Exit> {
        match operator {
            Binary::Concat => {
                if let (Value::List(a), Value::List(b)) = (a, b) {
                    let items = [&a.items[..], &b.items[..]].concat();
                    self.steps = self.steps.checked_sub(items.len() as u64 / 8).ok_or(LIMIT)?;
                    return made(Value::list(items));
                }
                let (a, b) = (self.joined(render::text(a))?, self.joined(render::text(b))?);
                let joined = self.joined(Some(a + &b))?;
                Ok(Value::text(&joined))
            }
            Binary::Eq | Binary::Neq => {
                let equal = a.equals(b, &mut self.steps).ok_or(LIMIT)?;
                Ok(Value::Bool(equal == (operator == Binary::Eq)))
            }
            Binary::Append => match a {
                Value::List(list) => {
                    self.steps = self.steps.checked_sub(list.items.len() as u64 / 8).ok_or(LIMIT)?;
                    let items = list.items.iter().chain([b]).cloned().collect();
                    made(Value::list(items))
                }
                _ => Err(self.trap(frame, Code::FaultTypeMismatch, at)),
            },
            Binary::HasName => self.has(frame, at, a, b),
            Binary::Add => match (a, b) {
                (Value::List(a), Value::List(b)) => {
                    let items = [&a.items[..], &b.items[..]].concat();
                    self.steps = self.steps.checked_sub(items.len() as u64 / 8).ok_or(LIMIT)?;
                    made(Value::list(items))
                }
                (Value::Text(a), Value::Text(b)) => {
                    self.steps = self.steps.checked_sub((a.len() + b.len()) as u64 / 8).ok_or(LIMIT)?;
                    made(Value::text(&format!("{a}{b}")))
                }
                _ => simple(operator, a, b).map_err(|code| self.trap(frame, code, at)),
            },
            _ => simple(operator, a, b).map_err(|code| self.trap(frame, code, at)),
        }
    }

    /// HAS: a record's field, a list's equal item, or a part of a text.
    fn has(&mut self, frame: &Frame<'f>, at: Span, of: &Value, wanted: &Value) -> Result<Value, Exit> {
        let found = match (of, wanted) {
            (Value::Record(record), Value::Text(name)) => {
                record.fields.iter().any(|(field, _)| field == name)
            }
            (Value::Text(text), Value::Text(part)) => text.contains(&**part),
            (Value::List(list), _) => {
                let mut found = false;
                for item in &list.items {
                    found = item.equals(wanted, &mut self.steps).ok_or(LIMIT)?;
                    if found {
                        break;
                    }
                }
                found
            }
            _ => return Err(self.trap(frame, Code::FaultTypeMismatch, at)),
        };
        Ok(Value::Bool(found))
    }

    fn pick(&mut self, frame: &mut Frame<'f>, at: Span, map: &MatchMap<'f>) -> Result<Value, Exit> {
        let subject = self.expr(frame, &map.subject)?;
        for case in map.cases {
            if subject.equals(&constant(&case.key), &mut self.steps).ok_or(LIMIT)? {
                return self.expr(frame, &case.value);
            }
        }
        match &map.default {
            Some(value) => self.expr(frame, value),
            None => Err(self.trap(frame, Code::FaultNoCase, at)),
        }
    }
}

/// A new value, unless it is too deep.
pub(super) fn made(value: Value) -> Result<Value, Exit> {
    if value.depth() > DEPTH { Err(LIMIT) } else { Ok(value) }
}

fn constant(literal: &Literal<'_>) -> Value {
    match literal {
        Literal::Nil => Value::Nil,
        Literal::Bool(bool) => Value::Bool(*bool),
        Literal::Number(number) => (*number).into(),
        Literal::Text(text) => Value::text(text),
    }
}

/// LEN (2.9.2).
fn length(value: &Value) -> Option<Value> {
    let length = match value {
        Value::Text(text) => text.chars().count(),
        Value::List(list) => list.items.len(),
        Value::Record(record) => record.fields.len(),
        _ => return None,
    };
    i64::try_from(length).ok().map(Value::Int)
}

/// Operators that depend on nothing but their operands.
fn simple(operator: Binary, a: &Value, b: &Value) -> Result<Value, Code> {
    let compare = |holds: fn(Ordering) -> bool| {
        a.order(b).map(|order| Value::Bool(holds(order))).ok_or(Code::FaultTypeMismatch)
    };
    match operator {
        Binary::Gt => compare(Ordering::is_gt),
        Binary::Gte => compare(Ordering::is_ge),
        Binary::Lt => compare(Ordering::is_lt),
        Binary::Lte => compare(Ordering::is_le),
        Binary::At => item(a, b),
        _ => match (a.number(), b.number()) {
            (Some(a), Some(b)) => number::calculate(operator, a, b).map(Value::from),
            _ => Err(Code::FaultTypeMismatch),
        },
    }
}

/// AT (1.5.2, 2.9.2): the item at a whole number, from the end if it is negative; or the field that a text
/// names.
fn item(container: &Value, key: &Value) -> Result<Value, Code> {
    match (container, key) {
        (Value::Record(record), Value::Text(name)) => {
            let field = record.fields.iter().find(|(field, _)| field == name);
            field.map(|(_, value)| value.clone()).ok_or(Code::FaultMissingField)
        }
        (Value::List(list), Value::Int(_) | Value::Double(_)) => {
            let from_start = |index: i128| if index < 0 { index + list.items.len() as i128 } else { index };
            let place = key.number().and_then(number::whole);
            let place = place.and_then(|index| usize::try_from(from_start(index)).ok());
            place.and_then(|place| list.items.get(place)).cloned().ok_or(Code::FaultIndexOutOfRange)
        }
        _ => Err(Code::FaultTypeMismatch),
    }
}
