//! The inputs of a function as hosts see them: name, type, and what may be left out.

use crate::program::Program;
use core::fmt;
use ilo_spec::json::quote;
use ilo_spec::operand::FunctionId;
use ilo_spec::program::{Need, Strings};
use ilo_spec::record_input::{RecordField, RecordInput};
use ilo_spec::types::Type;

/// One input of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input<'p> {
    /// Its name.
    pub name: &'p str,
    /// The type of its values, besides nil.
    pub ty: Type,
    /// Whether it takes nil.
    pub takes_nil: bool,
    /// Whether it may be left out.
    pub optional: bool,
    /// Its value where it is left out or nil: a constant, as JSON.
    pub default: Option<&'p str>,
    /// The fields of the record inside the lists of its type, if it lists them.
    pub fields: Option<Fields<'p>>,
}

/// The fields in the type of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fields<'p> {
    strings: &'p Strings,
    list: &'p [RecordField],
}

/// A field in the type of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<'p> {
    /// Its name.
    pub name: &'p str,
    /// Its type.
    pub ty: Type,
    /// Whether it may be absent.
    pub optional: bool,
    /// Whether it may be nil.
    pub nullable: bool,
    /// The fields of the record inside the lists of its type, if it lists them.
    pub fields: Option<Fields<'p>>,
}

impl<'p> Fields<'p> {
    /// The fields, in order.
    pub fn iter(self) -> impl Iterator<Item = Field<'p>> + Clone {
        self.list.iter().map(move |field| Field {
            name: self.strings.get(field.name).unwrap_or_default(),
            ty: field.ty,
            optional: field.optional,
            nullable: field.nullable,
            fields: Fields::of(self.strings, &field.fields),
        })
    }

    fn of(strings: &'p Strings, list: &'p [RecordField]) -> Option<Fields<'p>> {
        (!list.is_empty()).then_some(Fields { strings, list })
    }

    /// Writes a type that lists these fields inside its lists.
    fn write(self, ty: Type, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for _ in 0..ty.lists {
            f.write_str("list ")?;
        }
        for (at, field) in self.iter().enumerate() {
            let plain = field.name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
            f.write_str(if at == 0 { "{" } else { ", " })?;
            if plain {
                f.write_str(field.name)?;
            } else {
                quote(field.name, |part| f.write_str(part))?;
            }
            f.write_str(if field.optional { "?: " } else { ": " })?;
            match field.fields {
                Some(fields) => fields.write(field.ty, f)?,
                None => write!(f, "{}", field.ty)?,
            }
            f.write_str(if field.nullable { "|nil" } else { "" })?;
        }
        f.write_str("}")
    }
}

impl<'p> Input<'p> {
    /// An input that takes only values of its type.
    pub const fn required(name: &'p str, ty: Type) -> Input<'p> {
        Input { name, ty, takes_nil: false, optional: false, default: None, fields: None }
    }

    /// What it takes, such as `text`, `text|nil`, `text?` or `number = 10`.
    pub fn written(&self) -> impl fmt::Display {
        Written(*self)
    }
}

struct Written<'p>(Input<'p>);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.fields {
            Some(fields) => fields.write(self.0.ty, f)?,
            None => write!(f, "{}", self.0.ty)?,
        }
        match self.0 {
            Input { default: Some(default), .. } => write!(f, " = {default}"),
            Input { optional: true, .. } => f.write_str("?"),
            Input { takes_nil: true, .. } => f.write_str("|nil"),
            _ => Ok(()),
        }
    }
}

impl Program {
    /// The inputs of a function, in order.
    pub fn inputs(&self, function: FunctionId) -> impl Iterator<Item = Input<'_>> {
        let parameters = self.0.function(function).map_or(&[][..], |function| &function.parameters);
        let of = |record: &RecordInput| record.function;
        let records = &*self.0.spec.records;
        let records = records.get(records.partition_point(|it| of(it) < function)..).unwrap_or_default();
        let records = records.get(..records.partition_point(|it| of(it) == function)).unwrap_or_default();
        let listed = move |place: usize| records.iter().find(|it| usize::from(it.place) == place);
        parameters.iter().enumerate().map(move |(place, parameter)| Input {
            name: self.0.string(parameter.name.0.into()),
            ty: parameter.ty,
            takes_nil: parameter.need.takes_nil(),
            optional: parameter.need.may_be_absent(),
            default: match parameter.need {
                Need::Default(constant) => Some(self.0.string(constant.0)),
                _ => None,
            },
            fields: listed(place).and_then(|record| Fields::of(&self.0.spec.strings, &record.fields)),
        })
    }
}
