//! The shortest constants that fit a position. They make it possible to end every expression.

use crate::automaton::formats;
use crate::automaton::session::{Callee, Numbered, Session};
use crate::automaton::want::{Arena, Want};
use ilo_asm::catalog::Shape;
use ilo_asm::check::{Part, ValueInfo};
use ilo_asm::types::Inferred;
use ilo_spec::node::Word;
use ilo_spec::program::Number;
use ilo_spec::pure::Kinds;
use std::fmt::{self, Write};

/// The deepest nesting of the constant of a tool's argument.
pub(crate) const DEEPEST_CONSTANT: u8 = 4;
/// The most bytes of a text that is one of a list.
const LISTED: usize = 1024;
/// The integers that are written as constants of a range.
const RANGE: i64 = 999_999_999_999_999;

/// The nesting of the shortest constant of a shape; `None` if there is none.
pub(crate) fn depth_of(session: &Session<'_>, shape: Shape<'_>) -> Option<u8> {
    depth_within(session, shape, DEEPEST_CONSTANT)
}

fn depth_within(session: &Session<'_>, shape: Shape<'_>, left: u8) -> Option<u8> {
    let left = left.checked_sub(1)?;
    if flat(shape).is_some() {
        return Some(1);
    }
    if !shape.kinds().meets(Kinds::RECORD) {
        return None;
    }
    let mut deepest = 0;
    for field in shape.fields().filter(|field| field.required) {
        session.field_numbers.get(field.name)?;
        deepest = deepest.max(depth_within(session, field.shape, left)?);
    }
    Some(deepest + 1)
}

/// A constant that contains no other.
enum Flat<'c> {
    List,
    Nil,
    Bool(bool),
    Text(&'c str),
    Number(Number),
}

impl fmt::Display for Flat<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flat::List => f.write_str("LIST 0"),
            Flat::Nil => f.write_str("LIT 2 nil"),
            Flat::Bool(truth) => write!(f, "LIT 3 {truth}"),
            Flat::Text(text) => write!(f, "LIT 0 {}", serde_json::Value::from(*text)),
            Flat::Number(number) => write!(f, "LIT 1 {number}"),
        }
    }
}

/// A constant of a shape that contains no other.
fn flat(shape: Shape<'_>) -> Option<Flat<'_>> {
    let takes = |kind| shape.kinds().meets(kind);
    if shape.is_any() || takes(Kinds::LIST) {
        return Some(Flat::List);
    }
    if takes(Kinds::NIL) {
        return Some(Flat::Nil);
    }
    if takes(Kinds::BOOL) {
        return Some(Flat::Bool(shape.boolean().unwrap_or(true)));
    }
    if takes(Kinds::TEXT) {
        let text = match shape.texts() {
            Some(texts) => texts.first().filter(|_| are_written(texts)).map(|text| &**text),
            None => Some(formats::of(shape).map_or("", formats::example)),
        };
        if let Some(text) = text {
            return Some(Flat::Text(text));
        }
    }
    takes(Kinds::NUMBER).then(|| number(shape)).flatten().map(Flat::Number)
}

/// Whether one of these texts may be written. With a very long one, none is: it would fill the line.
pub(crate) fn are_written(texts: &[Box<str>]) -> bool {
    !texts.is_empty() && texts.iter().all(|text| text.len() <= LISTED)
}

/// A number of a shape.
fn number(shape: Shape<'_>) -> Option<Number> {
    if let Some(numbers) = shape.numbers() {
        return numbers.first().copied();
    }
    let (low, high) = integers(shape)?;
    Some(Number::Int(0.clamp(low, high)))
}

/// The integers of a shape of numbers that may be written; `None` if there are none.
pub(crate) fn integers(shape: Shape<'_>) -> Option<(i64, i64)> {
    let fits = |int: i64| shape.refuses_number(Number::Int(int)).is_none();
    let (least, most) = shape.range();
    let near = |number: Number| match number {
        Number::Int(int) => int.clamp(-RANGE, RANGE),
        Number::Double(double) => {
            format!("{:.0}", double.floor()).parse().unwrap_or(if double < 0.0 { -RANGE } else { RANGE })
        }
    };
    let low = least.map_or(-RANGE, |bound| near(bound.number));
    let high = most.map_or(RANGE, |bound| near(bound.number));
    let low = (low..=low.saturating_add(2)).find(|&int| fits(int))?;
    let high = (high.saturating_sub(2)..=high.saturating_add(1).min(RANGE)).rev().find(|&int| fits(int))?;
    (low <= high && low >= -RANGE && high <= RANGE).then_some((low, high))
}

impl<'c> Arena<'c> {
    /// Whether some constant fits a want.
    pub(crate) fn has_constant(&self, session: &Session<'c>, want: Want<'c>) -> bool {
        match want {
            Want::Shape(shape) if !shape.is_any() => depth_of(session, shape).is_some(),
            _ => self.constant_of_type(session, want).is_some(),
        }
    }

    /// The first word of the shortest constant of a want.
    pub(crate) fn plain(&self, session: &Session<'c>, want: Want<'c>) -> Option<Word> {
        match want {
            Want::Shape(shape) if !shape.is_any() => match flat(shape) {
                Some(Flat::List) => Some(Word::List),
                Some(_) => Some(Word::Lit),
                None => depth_of(session, shape).map(|_| Word::Obj),
            },
            _ => self.constant_of_type(session, want),
        }
    }

    fn constant_of_type(&self, session: &Session<'c>, want: Want<'c>) -> Option<Word> {
        let candidates = [
            (Word::List, Inferred::ANY.list(), Part::Nothing),
            (Word::Obj, Inferred::RECORD, Part::Unknown),
            (Word::Lit, Inferred::NUMBER, Part::Unknown),
            (Word::Lit, Inferred::BOOL, Part::Unknown),
            (Word::Lit, Inferred::NIL, Part::Nothing),
            (Word::Lit, Inferred::TEXT, Part::Unknown),
        ];
        let fits = |(_, ty, part): &&(Word, Inferred, Part<'c>)| {
            self.accepts(session, want, ValueInfo::held(*ty).with_part(*part))
        };
        candidates.iter().find(fits).map(|found| found.0)
    }
}

fn shape_constant(session: &Session<'_>, shape: Shape<'_>, left: u8, out: &mut String) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    if let Some(flat) = flat(shape) {
        let _ = write!(out, "{flat}");
        return true;
    }
    if !shape.kinds().meets(Kinds::RECORD) {
        return false;
    }
    let required = || shape.fields().filter(|field| field.required);
    let _ = write!(out, "OBJ {}", required().count());
    for field in required() {
        let Some(number) = session.field_numbers.get(field.name) else { return false };
        let _ = write!(out, " {number} ");
        if !shape_constant(session, field.shape, left, out) {
            return false;
        }
    }
    true
}

/// The shortest constant of a shape in the notation `constrained`.
fn json_constant(shape: Shape<'_>, left: u8, out: &mut String) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    if let Some(flat) = flat(shape) {
        let _ = match flat {
            Flat::List => write!(out, "[]"),
            Flat::Nil => write!(out, "null"),
            Flat::Bool(truth) => write!(out, "{truth}"),
            Flat::Text(text) => write!(out, "{{\"text\":{}}}", serde_json::Value::from(text)),
            Flat::Number(number) => write!(out, "{number}"),
        };
        return true;
    }
    out.push_str("{\"obj\":{");
    for field in shape.fields().filter(|field| field.required) {
        let _ = write!(out, "{}:", serde_json::Value::from(field.name));
        if !json_constant(field.shape, left, out) {
            return false;
        }
        out.push(',');
    }
    out.push_str("}}");
    true
}

/// The longest of the shortest calls in the notation `constrained`.
pub(crate) fn longest_json_call(session: &Session<'_>) -> String {
    let call = |tool: &Numbered<'_>| {
        let mut call = format!("{{\"call\":{},\"args\":{{", serde_json::Value::from(tool.name.as_str()));
        match &tool.callee {
            Some(Callee::Tool(callee)) => {
                for field in callee.input().fields().filter(|field| field.required) {
                    let _ = write!(call, "{}:", serde_json::Value::from(field.name));
                    json_constant(field.shape, DEEPEST_CONSTANT, &mut call);
                    call.push(',');
                }
            }
            Some(Callee::Function { parameters, .. }) => {
                parameters.iter().for_each(|it| {
                    let _ = write!(call, "{}:{{\"text\":\"\"}},", serde_json::Value::from(it.name.as_str()));
                });
            }
            None => {}
        }
        call + "}}"
    };
    session.tools.iter().map(call).max_by_key(String::len).unwrap_or_default()
}

/// The longest texts that constants of the session's tools have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lengths {
    /// Of an argument or a field.
    pub(crate) constant: String,
    /// The longest constants of all required arguments of a call.
    pub(crate) call: String,
}

/// Finds the longest constants of the arguments of a session's tools.
pub(crate) fn lengths(session: &Session<'_>) -> Lengths {
    let mut found = Lengths { constant: " 63 LIST 0".to_owned(), call: String::new() };
    for tool in &session.tools {
        let Some(Callee::Tool(callee)) = &tool.callee else { continue };
        let mut call = " CALL 999".to_owned();
        let mut shapes: Vec<(Shape<'_>, u8)> = vec![(callee.input(), 0)];
        let mut seen = 0;
        while let Some((shape, depth)) = shapes.pop() {
            seen += 1;
            let mut inner: Vec<Shape<'_>> = shape.fields().map(|it| it.shape).collect();
            inner.push(shape.item());
            for (at, field) in inner.iter().enumerate() {
                let mut text = " 999 ".to_owned();
                shape_constant(session, *field, DEEPEST_CONSTANT, &mut text);
                if depth == 0
                    && at < shape.fields().len()
                    && shape.fields().nth(at).is_some_and(|it| it.required)
                {
                    call += &text;
                }
                if text.len() > found.constant.len() {
                    found.constant = text;
                }
            }
            if depth < DEEPEST_CONSTANT && seen < 256 {
                shapes.extend(inner.iter().filter(|it| !it.is_any()).map(|&it| (it, depth + 1)));
            }
        }
        if call.len() > found.call.len() {
            found.call = call;
        }
    }
    found
}
