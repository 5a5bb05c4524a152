//! Values from the host: borrowed, copied into the run once.
//!
//! Records with the same fields can share a [`Shape`]: the host names the fields once and then gives only
//! values.

use alloc::boxed::Box;
use alloc::sync::Arc;

/// A value from the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Datum<'a> {
    /// Nil.
    Nil,
    /// A bool.
    Bool(bool),
    /// An exact integer.
    Int(i64),
    /// A double, which must be finite.
    Double(f64),
    /// Text.
    Text(&'a str),
    /// A list.
    List(&'a [Datum<'a>]),
    /// A record; its names must be distinct.
    Record(&'a [(&'a str, Datum<'a>)]),
    /// A record of a [`Shape`].
    Shaped(&'a Shaped<'a>),
}

macro_rules! from {
    ($($source:ty => $variant:ident;)*) => {$(
        impl<'a> From<$source> for Datum<'a> {
            #[inline]
            fn from(value: $source) -> Datum<'a> {
                Datum::$variant(value.into())
            }
        }
    )*};
}

from! {
    bool => Bool;
    i64 => Int;
    i32 => Int;
    f64 => Double;
    &'a str => Text;
    &'a [Datum<'a>] => List;
    &'a [(&'a str, Datum<'a>)] => Record;
}

impl From<()> for Datum<'_> {
    #[inline]
    fn from((): ()) -> Self {
        Datum::Nil
    }
}

impl<'a> From<&'a Shaped<'a>> for Datum<'a> {
    #[inline]
    fn from(record: &'a Shaped<'a>) -> Datum<'a> {
        Datum::Shaped(record)
    }
}

/// Field names shared by all records of one shape. Two are equal if they have the same address.
pub(crate) type Names = Arc<[Box<str>]>;

/// The fields of records that a host creates often, such as the answers of a tool or the rows of a table.
///
/// A record of a shape is equivalent to [`Datum::Record`] with the same names, but a run that has seen the
/// shape at the same call does not compare the names again. Clones are the same shape: create it once and
/// keep it.
///
/// ```
/// use ilo_vm::{Datum, Shape};
/// let user = Shape::new(["email", "verified"]);
/// let values = ["a@b.c".into(), true.into()];
/// let record = user.record(&values);
/// let answer = Datum::Shaped(&record); // for `Call::answer`, or inside a list
/// # let _ = answer;
/// ```
#[derive(Clone, Debug)]
pub struct Shape<const N: usize>(Names);

impl<const N: usize> Shape<N> {
    /// A shape with these fields, in this order. They must be distinct, as in any record.
    pub fn new(names: [&str; N]) -> Shape<N> {
        Shape(names.into_iter().map(Box::from).collect())
    }

    /// A record of this shape, with the values in the order of the names.
    #[inline]
    pub fn record<'a>(&'a self, values: &'a [Datum<'a>; N]) -> Shaped<'a> {
        Shaped { names: &self.0, values }
    }
}

/// A record of a [`Shape`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shaped<'a> {
    names: &'a Names,
    values: &'a [Datum<'a>],
}

impl<'a> Shaped<'a> {
    #[inline]
    pub(crate) fn names(&self) -> &'a Names {
        self.names
    }

    /// The values, one for each name.
    #[inline]
    pub(crate) fn values(&self) -> &'a [Datum<'a>] {
        self.values
    }
}
