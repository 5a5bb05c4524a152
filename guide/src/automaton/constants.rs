//! The shortest constants that fit a position. They make it possible to end every expression.

use crate::automaton::arms;
use crate::automaton::formats;
use crate::automaton::keys::Numbers;
use crate::automaton::offers::type_of;
use crate::automaton::session::Session;
use crate::automaton::want::{Arena, Want, empty_list};
use ilo_asm::ast::Literal;
use ilo_asm::catalog::{Field, SchemaShape};
use ilo_asm::check::ValueInfo;
use ilo_asm::types::Inferred;
use ilo_spec::json::quoted;
use ilo_spec::node::Word;
use ilo_spec::number::in_text;
use ilo_spec::program::Number;
use ilo_spec::pure::Kinds;

/// The deepest nesting of the constant of a tool's argument.
pub(crate) const DEEPEST_CONSTANT: u8 = 4;
/// The most bytes of a text that is one of a list.
const LISTED: usize = 1024;
/// The integers that are written as constants of a range.
const RANGE: i64 = 999_999_999_999_999;

/// The nesting of the shortest constant of a shape; `None` if there is none.
pub(crate) fn depth_of(session: &Session<'_>, shape: SchemaShape<'_>) -> Option<u8> {
    depth_within(session, shape, DEEPEST_CONSTANT)
}

fn depth_within(session: &Session<'_>, shape: SchemaShape<'_>, left: u8) -> Option<u8> {
    let left = left.checked_sub(1)?;
    if flat(shape).is_some() {
        return Some(1);
    }
    if !shape.kinds().meets(Kinds::RECORD) {
        return None;
    }
    Some(record_depth(session, shape, left)? + 1)
}

/// The nesting of the constants in the shortest record of a shape.
pub(crate) fn record_depth(session: &Session<'_>, shape: SchemaShape<'_>, left: u8) -> Option<u8> {
    if let Some(arms) = arms::written(shape) {
        return arms.filter_map(|(_, _, arm)| fields_depth(session, arm, left)).min();
    }
    fields_depth(session, shape, left)
}

/// The same for the required fields, whatever selects them.
pub(crate) fn fields_depth(session: &Session<'_>, shape: SchemaShape<'_>, left: u8) -> Option<u8> {
    let mut deepest = 0;
    for field in shape.required() {
        session.field_numbers.get(field.name)?;
        deepest = deepest.max(depth_within(session, field.shape, left)?);
    }
    Some(deepest)
}

/// A constant that contains no other.
#[derive(Clone, Copy)]
pub(crate) enum Flat<'c> {
    List,
    Record,
    Is(Literal<'c>),
}

impl Flat<'_> {
    /// A text that has no fewer tokens than the constant has in either notation.
    fn written(self) -> String {
        match self {
            Flat::List => "LIST 0".to_owned(),
            Flat::Record => "{\"obj\":{}}".to_owned(),
            Flat::Is(Literal::Text(text)) => format!("LIT 0 {{\"text\":{}}}", quoted(text)),
            Flat::Is(value) => format!("LIT 3 {}", value.written()),
        }
    }

    fn known(self) -> ValueInfo<'static> {
        match self {
            Flat::List => empty_list(),
            Flat::Record => ValueInfo::held(Inferred::RECORD),
            Flat::Is(value) => type_of(value.kind()),
        }
    }
}

/// A constant of a shape that contains no other.
fn flat(shape: SchemaShape<'_>) -> Option<Flat<'_>> {
    let takes = |kind| shape.kinds().meets(kind);
    if shape.is_any() || takes(Kinds::LIST) {
        return Some(Flat::List);
    }
    if takes(Kinds::NIL) {
        return Some(Flat::Is(Literal::Nil));
    }
    if takes(Kinds::BOOL) {
        return Some(Flat::Is(Literal::Bool(shape.boolean().unwrap_or(true))));
    }
    if takes(Kinds::TEXT) {
        let text = match shape.texts() {
            Some(texts) => texts.first().filter(|_| are_written(texts)).map(|text| &**text),
            None => Some(formats::of(shape).map_or("", formats::example)),
        };
        if let Some(text) = text {
            return Some(Flat::Is(Literal::Text(text)));
        }
    }
    if !takes(Kinds::NUMBER) {
        return None;
    }
    Some(Flat::Is(Literal::Number(match Numbers::of(shape) {
        Numbers::Listed(all) => *all.first()?,
        Numbers::Integers(low, high) => Number::Int(0.clamp(low, high)),
        Numbers::All => Number::Int(0),
    })))
}

/// Whether one of these texts may be written. With a very long one, none is: it would fill the line.
pub(crate) fn are_written(texts: &[Box<str>]) -> bool {
    !texts.is_empty() && texts.iter().all(|text| text.len() <= LISTED)
}

/// The integers of a shape of numbers that may be written; `None` if there are none.
pub(crate) fn integers(shape: SchemaShape<'_>) -> Option<(i64, i64)> {
    let fits = |int: i64| shape.refuses_number(Number::Int(int)).is_none();
    let (least, most) = shape.range();
    let whole = |number| if let Number::Double(double) = number { in_text(double.floor()) } else { number };
    let near = |number| match whole(number) {
        Number::Int(int) => int.clamp(-RANGE, RANGE),
        Number::Double(double) if double < 0.0 => -RANGE,
        Number::Double(_) => RANGE,
    };
    let low = least.map_or(-RANGE, |bound| near(bound.number));
    let high = most.map_or(RANGE, |bound| near(bound.number));
    let low = (low..=low.saturating_add(2)).find(|&int| fits(int))?;
    let high = (high.saturating_sub(2)..=high.saturating_add(1).min(RANGE)).rev().find(|&int| fits(int))?;
    (low <= high && low >= -RANGE && high <= RANGE).then_some((low, high))
}

impl<'c> Arena<'c> {
    /// The first word of the shortest constant of a want; `None` if no constant fits.
    pub(crate) fn plain(&self, session: &Session<'c>, want: Want<'c>) -> Option<Word> {
        match (self.constant(session, want), want) {
            (Some(Flat::List), _) => Some(Word::List),
            (Some(Flat::Record), _) => Some(Word::Obj),
            (Some(_), _) => Some(Word::Lit),
            (None, Want::Shape(shape)) => depth_of(session, shape).map(|_| Word::Obj),
            (None, _) => None,
        }
    }

    /// The shortest constant of a want, if it contains no other.
    pub(crate) fn constant(&self, session: &Session<'c>, want: Want<'c>) -> Option<Flat<'c>> {
        if let Want::Shape(shape) = want
            && !shape.is_any()
        {
            return flat(shape);
        }
        let values = [Literal::Number(Number::Int(0)), Literal::Bool(true), Literal::Nil, Literal::Text("")];
        let mut all = [Flat::List, Flat::Record].into_iter().chain(values.map(Flat::Is));
        all.find(|flat| self.accepts(session, want, flat.known()))
    }
}

/// A text that has no fewer tokens than the shortest constant of a shape has in either notation.
fn written(session: &Session<'_>, shape: SchemaShape<'_>, left: u8) -> Option<String> {
    let left = left.checked_sub(1)?;
    if let Some(flat) = flat(shape) {
        return Some(flat.written());
    }
    let field = |it: Field<'_>| Some(quoted(it.name) + ":" + &written(session, it.shape, left)? + ",");
    let fields = arms::shortest(session, shape).required().map(field).collect::<Option<String>>();
    fields.map(|fields| format!("{{\"obj\":{{{fields}}}}}"))
}

/// Texts that are as long as the longest of the shortest calls of a session's tools, and as the longest
/// constant that an argument or a field may need.
pub(crate) fn longest(session: &Session<'_>) -> [String; 2] {
    let written = |shape| written(session, shape, DEEPEST_CONSTANT + 1);
    let called = || session.tools.iter().filter_map(|tool| Some((tool, tool.callee.as_ref()?.input())));
    let calls = called().filter_map(|(tool, input)| Some(quoted(&tool.name) + &written(input)?));
    let call = calls.map(|call| format!("{{\"call\":{call},\"args\":")).max_by_key(String::len);
    let constants = called().flat_map(|it| arms::within(&[it.1])).filter_map(written);
    [call.unwrap_or_default(), constants.max_by_key(String::len).unwrap_or_default()]
}
