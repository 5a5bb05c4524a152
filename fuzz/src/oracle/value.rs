//! The oracle's values: kinds, equality, order (specification: 1.1, 1.3, 1.6).

use super::number;
use crate::data::Data;
use ilo_spec::program::Number;
use std::cmp::Ordering;
use std::rc::Rc;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(Rc<str>),
    List(Rc<List>),
    Record(Rc<Record>),
}

/// A list and its depth.
#[derive(Debug)]
pub(super) struct List {
    pub(super) items: Vec<Value>,
    depth: usize,
}

/// A record, its fields in order, and its depth.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) fields: Vec<(Rc<str>, Value)>,
    depth: usize,
}

impl Value {
    pub(super) fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    pub(super) fn list(items: Vec<Value>) -> Value {
        let depth = 1 + items.iter().map(Value::depth).max().unwrap_or(0);
        Value::List(Rc::new(List { items, depth }))
    }

    pub(super) fn record(fields: Vec<(Rc<str>, Value)>) -> Value {
        let depth = 1 + fields.iter().map(|(_, value)| value.depth()).max().unwrap_or(0);
        Value::Record(Rc::new(Record { fields, depth }))
    }

    /// The depth of nested lists and records.
    pub(super) fn depth(&self) -> usize {
        match self {
            Value::List(list) => list.depth,
            Value::Record(record) => record.depth,
            _ => 0,
        }
    }

    /// The value as a condition; `None` if it is not one (1.4.1).
    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Value::Nil => Some(false),
            Value::Bool(bool) => Some(*bool),
            _ => None,
        }
    }

    /// The equality of any two values (1.6.2, 1.3.3). Each comparison costs one of `steps`.
    pub(super) fn equals(&self, other: &Value, steps: &mut u64) -> Option<bool> {
        *steps = steps.checked_sub(1)?;
        Some(match (self, other) {
            (Value::Nil, Value::Nil) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(_) | Value::Double(_), Value::Int(_) | Value::Double(_)) => {
                self.order(other) == Some(Ordering::Equal)
            }
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) => {
                if a.items.len() != b.items.len() {
                    return Some(false);
                }
                for (a, b) in a.items.iter().zip(&b.items) {
                    if !a.equals(b, steps)? {
                        return Some(false);
                    }
                }
                true
            }
            (Value::Record(a), Value::Record(b)) => {
                if a.fields.len() != b.fields.len() {
                    return Some(false);
                }
                for (name, value) in &a.fields {
                    match b.fields.iter().find(|(other, _)| other == name) {
                        Some((_, other)) if value.equals(other, steps)? => {}
                        _ => return Some(false),
                    }
                }
                true
            }
            _ => false,
        })
    }

    /// The value as a number, if it is one.
    pub(super) fn number(&self) -> Option<Number> {
        match self {
            Value::Int(int) => Some(Number::Int(*int)),
            Value::Double(double) => Some(Number::Double(*double)),
            _ => None,
        }
    }

    /// The order of two numbers or two texts; `None` for any other pair (1.6.1).
    pub(super) fn order(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Text(a), Value::Text(b)) => Some(a.chars().cmp(b.chars())),
            _ => number::order(self.number()?, other.number()?),
        }
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Value {
        match number {
            Number::Int(int) => Value::Int(int),
            Number::Double(double) => Value::Double(double),
        }
    }
}

impl From<&Data> for Value {
    fn from(data: &Data) -> Value {
        match data {
            Data::Nil => Value::Nil,
            Data::Bool(bool) => Value::Bool(*bool),
            Data::Number(number) => (*number).into(),
            Data::Text(text) => Value::text(text),
            Data::List(items) => Value::list(items.iter().map(Value::from).collect()),
            Data::Record(fields) => Value::record(
                fields.iter().map(|(name, value)| (name.as_str().into(), value.into())).collect(),
            ),
        }
    }
}
