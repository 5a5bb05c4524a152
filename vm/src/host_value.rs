//! Values as a host gives them: borrowed, copied into the run once.
//!
//! Records that look alike share a [`Shape`]: the host names their fields once and gives values from then on.

use alloc::boxed::Box;
use alloc::sync::Arc;

/// A value from a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Datum<'a> {
    /// nil.
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
    /// A record, whose names must all be different.
    Record(&'a [(&'a str, Datum<'a>)]),
    /// A record whose names were given before.
    Shaped(&'a Shaped<'a>),
}

macro_rules! from {
    ($($source:ty => $variant:ident;)*) => {$(
        impl<'a> From<$source> for Datum<'a> {
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
    fn from((): ()) -> Self {
        Datum::Nil
    }
}

impl<'a> From<&'a Shaped<'a>> for Datum<'a> {
    fn from(record: &'a Shaped<'a>) -> Datum<'a> {
        Datum::Shaped(record)
    }
}

/// Names of fields, shared by all records that were made of one shape. Two are the same where they lie at one place.
pub(crate) type Names = Arc<[Box<str>]>;

/// The fields of records that a host gives again and again, such as the answers of a tool or the rows of a table.
///
/// A record of a shape is what [`Datum::Record`] with the same names is, in every respect; but a run that has met the
/// shape at that call does not look at the names again. Clones are the same shape; keep one, and make it once.
///
/// ```
/// use ilo_vm::{Datum, Shape};
/// let user = Shape::new(["email", "verified"]);
/// let values = ["a@b.c".into(), true.into()];
/// let record = user.record(&values);
/// let answer = Datum::Shaped(&record); // for `Call::answer`, or inside of a list
/// # let _ = answer;
/// ```
#[derive(Clone, Debug)]
pub struct Shape<const N: usize>(Names);

impl<const N: usize> Shape<N> {
    /// A shape of these fields, in this order; like those of any record, they must all be different.
    pub fn new(names: [&str; N]) -> Shape<N> {
        Shape(names.into_iter().map(Box::from).collect())
    }

    /// A record of this shape, its values in the order of the names.
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
    pub(crate) fn names(&self) -> &'a Names {
        self.names
    }

    /// As many as there are names.
    pub(crate) fn values(&self) -> &'a [Datum<'a>] {
        self.values
    }
}
