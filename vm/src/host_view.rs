//! Values as a host reads them: borrowed, without copying.

use crate::heap::Heap;
use crate::program::ProgramData;
use crate::render;
use crate::value::{Tag, Value, at};
use core::fmt;
use ilo_spec::program::Number;

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Nil.
    Nil,
    /// A bool.
    Bool,
    /// An exact 64-bit integer.
    Int,
    /// A finite double.
    Double,
    /// UTF-8 text.
    Text,
    /// A list.
    List,
    /// A record.
    Record,
}

/// A borrowed value of a run.
#[derive(Clone, Copy)]
pub struct View<'v> {
    pub(crate) heap: &'v Heap,
    pub(crate) program: &'v ProgramData,
    pub(crate) value: &'v Value,
}

impl<'v> View<'v> {
    #[inline]
    fn other(&self, value: &'v Value) -> View<'v> {
        View { heap: self.heap, program: self.program, value }
    }

    /// Its kind.
    #[inline]
    pub fn kind(&self) -> Kind {
        match self.value.tag {
            // Look-ahead does not show unknown values.
            Tag::Nil | Tag::Unknown => Kind::Nil,
            Tag::False | Tag::True => Kind::Bool,
            Tag::Int => Kind::Int,
            Tag::Double => Kind::Double,
            Tag::Text => Kind::Text,
            Tag::List => Kind::List,
            Tag::Record => Kind::Record,
        }
    }

    /// Whether it is nil.
    #[inline]
    pub fn is_nil(&self) -> bool {
        self.value.tag == Tag::Nil
    }

    /// The bool, if it is one.
    #[inline]
    pub fn as_bool(&self) -> Option<bool> {
        match self.value.tag {
            Tag::True => Some(true),
            Tag::False => Some(false),
            _ => None,
        }
    }

    /// The integer, if it is one; a double is not, even if it is whole.
    #[inline]
    pub fn as_i64(&self) -> Option<i64> {
        (self.value.tag == Tag::Int).then(|| self.value.as_int())
    }

    /// The number as a double, if it is one; an integer beyond 2^53 is rounded.
    #[inline]
    pub fn as_f64(&self) -> Option<f64> {
        match self.as_number()? {
            #[allow(clippy::cast_precision_loss, reason = "documented")]
            Number::Int(value) => Some(value as f64),
            Number::Double(value) => Some(value),
        }
    }

    /// The exact number, if it is one.
    #[inline]
    pub fn as_number(&self) -> Option<Number> {
        self.value.as_number()
    }

    /// The text, if it is one.
    #[inline]
    pub fn as_text(&self) -> Option<&'v str> {
        (self.value.tag == Tag::Text).then(|| self.heap.text_of(self.program, *self.value))
    }

    /// The number of items or fields; 0 for other kinds.
    #[inline]
    pub fn len(&self) -> usize {
        self.heap.len(self.program, *self.value)
    }

    /// Whether it has no items or fields.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items of a list; none for other kinds.
    #[inline]
    pub fn items(&self) -> impl ExactSizeIterator<Item = View<'v>> + use<'v> {
        let items =
            if self.value.tag == Tag::List { self.heap.items(self.program, *self.value) } else { &[] };
        let view = *self;
        items.iter().map(move |value| view.other(value))
    }

    /// The names and values of a record's fields, in order; none for other kinds.
    #[inline]
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&'v str, View<'v>)> + use<'v> {
        let (names, values) = if self.value.tag == Tag::Record {
            (
                self.heap.shapes.fields(self.program, self.value.aux),
                self.heap.items(self.program, *self.value),
            )
        } else {
            (&[][..], &[][..])
        };
        let view = *self;
        names
            .iter()
            .zip(values)
            .map(move |(&name, value)| (view.heap.shapes.name(view.program, name), view.other(value)))
    }

    /// The field with that name, if it is a record that has it.
    #[inline]
    pub fn field(&self, name: &str) -> Option<View<'v>> {
        if self.value.tag != Tag::Record {
            return None;
        }
        let name = self.heap.shapes.find_name(self.program, name)?;
        let place = self.heap.shapes.position(self.program, self.value.aux, name)?;
        Some(self.other(self.heap.at(at(self.value.low()) + place)))
    }

    /// Writes it as compact JSON. It does not recurse; the size of a value that left a run is bounded by the
    /// memory limit.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn write_json(&self, out: &mut impl fmt::Write) -> fmt::Result {
        render::json(&mut render::Host { heap: self.heap, program: self.program, out }, *self.value)
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_json(f)
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_json(f)
    }
}
