//! The kinds of generated values, and values that have a kind, or nearly.

use super::choices::Choices;
use super::words;
use crate::data::Data;

/// The kind that a value is meant to have. A program may get another value at run time; that is the purpose
/// of running it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Any,
    Nil,
    Bool,
    Number,
    Text,
    List(Box<Kind>),
    /// A record with at least these fields, by their index in [`words::FIELDS`].
    Record(Vec<(usize, Kind)>),
}

impl Kind {
    /// Whether a value of this kind fits where `wanted` is expected.
    pub(super) fn does_for(&self, wanted: &Kind) -> bool {
        match (self, wanted) {
            (_, Kind::Any) => true,
            (Kind::List(item), Kind::List(other)) => item.does_for(other),
            (Kind::Record(fields), Kind::Record(others)) => others.iter().all(|(name, other)| {
                fields.iter().any(|(field, kind)| field == name && kind.does_for(other))
            }),
            _ => self == wanted,
        }
    }

    /// The names of all fields in it.
    pub(super) fn fields(&self, names: &mut Vec<usize>) {
        match self {
            Kind::List(item) => item.fields(names),
            Kind::Record(fields) => fields.iter().for_each(|(name, kind)| {
                names.push(*name);
                kind.fields(names);
            }),
            _ => {}
        }
    }

    /// The type in a declaration.
    pub(super) fn declared(&self) -> String {
        match self {
            Kind::Any => "thing".to_owned(),
            Kind::Nil => "nil".to_owned(),
            Kind::Bool => "bool".to_owned(),
            Kind::Number => "number".to_owned(),
            Kind::Text => "text".to_owned(),
            Kind::List(item) => format!("list {}", item.declared()),
            Kind::Record(_) => "order".to_owned(),
        }
    }

    /// A kind of at most this depth.
    pub(super) fn choose(choices: &mut Choices<'_>, depth: usize) -> Kind {
        match choices.weighted(if depth == 0 { &[6, 5, 3, 1] } else { &[6, 5, 3, 1, 4, 5] }) {
            0 => Kind::Number,
            1 => Kind::Text,
            2 => Kind::Bool,
            3 => Kind::Nil,
            4 => Kind::list(Kind::choose(choices, depth - 1)),
            _ => Kind::record(choices, depth - 1),
        }
    }

    /// A record with at least one field.
    pub(super) fn choose_record(choices: &mut Choices<'_>) -> Kind {
        Kind::record(choices, 0)
    }

    pub(super) fn list(item: Kind) -> Kind {
        Kind::List(Box::new(item))
    }

    fn record(choices: &mut Choices<'_>, depth: usize) -> Kind {
        let mut fields: Vec<(usize, Kind)> = Vec::new();
        for _ in 0..=choices.below(4) {
            let name = choices.below(words::FIELDS.len());
            if fields.iter().all(|&(known, _)| known != name) {
                fields.push((name, Kind::choose(choices, depth)));
            }
        }
        Kind::Record(fields)
    }

    /// A value of this kind.
    pub(super) fn value(&self, choices: &mut Choices<'_>) -> Data {
        match self {
            Kind::Any => Kind::choose(choices, 1).value(choices),
            Kind::Nil => Data::Nil,
            Kind::Bool => Data::Bool(choices.below(2) == 1),
            Kind::Number => Data::Number(words::number(choices)),
            Kind::Text => words::text(choices).into(),
            Kind::List(item) => {
                let length = *choices.pick(&[2, 1, 3, 2, 0, 1, 5, 4]);
                Data::List((0..length).map(|_| item.value(choices)).collect())
            }
            Kind::Record(fields) => {
                let mut values: Vec<(String, Data)> = fields
                    .iter()
                    .map(|(name, kind)| (words::field(*name).into_owned(), kind.value(choices)))
                    .collect();
                if choices.chance(60) {
                    values.push(("unnamed".to_owned(), Data::Number(words::number(choices))));
                }
                if choices.chance(30) {
                    values.reverse();
                }
                Data::Record(values)
            }
        }
    }

    /// An unexpected value: another kind, a missing field, an item of another kind.
    pub(super) fn other_value(&self, choices: &mut Choices<'_>) -> Data {
        match self.value(choices) {
            Data::Record(mut fields) if choices.chance(170) => {
                let place = choices.below(fields.len());
                if choices.chance(128) {
                    fields.remove(place);
                } else {
                    fields[place].1 = Kind::choose(choices, 0).value(choices);
                }
                Data::Record(fields)
            }
            Data::List(mut items) if choices.chance(128) => {
                items.push(Kind::choose(choices, 0).value(choices));
                Data::List(items)
            }
            _ => Kind::choose(choices, 1).value(choices),
        }
    }
}
