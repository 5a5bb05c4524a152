//! Values from and to the plain types of Rust and the values of `serde_json`.

use super::read::{Bounds, ReadError, read};
use super::{ConvertError, Data, from_data};
use crate::problem::shortened;
use ilo_spec::limits;
use ilo_spec::number;
use ilo_spec::program::Number;
use ilo_vm::{Kind, View};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

/// Digits of a number that are shown.
const DIGITS: usize = 40;

impl Data {
    /// A record with these fields. If a name is given twice, the later value replaces the earlier one.
    pub fn record<N: Into<String>, V: Into<Data>>(fields: impl IntoIterator<Item = (N, V)>) -> Data {
        let mut named: Vec<(String, Data)> = Vec::new();
        let mut places = HashMap::new();
        for (name, value) in fields {
            let name = name.into();
            match places.get(&name) {
                Some(&at) => named[at] = (name, value.into()),
                None => {
                    places.insert(name.clone(), named.len());
                    named.push((name, value.into()));
                }
            }
        }
        Data::Record(named.into())
    }

    /// A list of these items.
    pub fn list<V: Into<Data>>(items: impl IntoIterator<Item = V>) -> Data {
        Data::List(items.into_iter().map(Into::into).collect())
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The bool, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Data::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The whole number, if it is one of 64 bits with a sign: `3` and `3.0` are 3.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Data::Number(Number::Int(int)) => Some(*int),
            Data::Number(Number::Double(double)) => whole(*double),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_list(&self) -> Option<&[Data]> {
        match self {
            Data::List(items) => Some(items),
            _ => None,
        }
    }
}

/// The integer that a double is, if it is one that 64 bits hold.
pub(super) fn whole(double: f64) -> Option<i64> {
    // -2^63 is a double and 2^63 the next one that does not fit.
    const END: f64 = 9_223_372_036_854_775_808.0;
    let fits = double.fract() == 0.0 && (-END..END).contains(&double);
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and within 64 bits")]
    fits.then_some(double as i64)
}

impl From<()> for Data {
    fn from((): ()) -> Data {
        Data::Nil
    }
}

impl From<bool> for Data {
    fn from(value: bool) -> Data {
        Data::Bool(value)
    }
}

impl From<&str> for Data {
    fn from(text: &str) -> Data {
        Data::Text(text.to_owned())
    }
}

impl From<String> for Data {
    fn from(text: String) -> Data {
        Data::Text(text)
    }
}

/// Integers that always fit.
macro_rules! fits {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Data {
            fn from(value: $integer) -> Data {
                Data::Number(Number::Int(value.into()))
            }
        }
    )*};
}

/// Integers that may not fit.
macro_rules! may_fit {
    ($($integer:ty)*) => {$(
        impl TryFrom<$integer> for Data {
            type Error = ConvertError;

            fn try_from(value: $integer) -> Result<Data, ConvertError> {
                let int = i64::try_from(value).map_err(|_| ConvertError::integer(value))?;
                Ok(Data::Number(Number::Int(int)))
            }
        }
    )*};
}

fits!(i8 i16 i32 i64 u8 u16 u32);
may_fit!(isize u64 usize i128 u128);

impl TryFrom<f64> for Data {
    type Error = ConvertError;

    /// A number that is not finite is an error.
    fn try_from(value: f64) -> Result<Data, ConvertError> {
        if value.is_finite() {
            Ok(Data::Number(Number::Double(value)))
        } else {
            Err(ConvertError::not_finite(value))
        }
    }
}

impl<T: Into<Data>> From<Vec<T>> for Data {
    fn from(items: Vec<T>) -> Data {
        Data::list(items)
    }
}

impl<T: Into<Data>> From<Option<T>> for Data {
    /// Nothing is nil.
    fn from(value: Option<T>) -> Data {
        value.map_or(Data::Nil, Into::into)
    }
}

impl From<View<'_>> for Data {
    /// A value of a run, such as that of its outcome. It recurses to the depth that a value can have.
    fn from(view: View<'_>) -> Data {
        match view.kind() {
            Kind::Nil => Data::Nil,
            Kind::Bool => Data::from(view.as_bool()),
            Kind::Int | Kind::Double => view.as_number().map_or(Data::Nil, Data::Number),
            Kind::Text => view.as_text().unwrap_or_default().into(),
            Kind::List => Data::list(view.items()),
            Kind::Record => {
                Data::Record(view.fields().map(|(name, value)| (name.to_owned(), value.into())).collect())
            }
        }
    }
}

impl TryFrom<&Value> for Data {
    type Error = ConvertError;

    fn try_from(value: &Value) -> Result<Data, ConvertError> {
        of_value(value, 0)
    }
}

impl TryFrom<Value> for Data {
    type Error = ConvertError;

    fn try_from(value: Value) -> Result<Data, ConvertError> {
        of_value(&value, 0)
    }
}

/// Recursion to the depth that a value can have. Numbers are read from their digits, so that they are exact
/// whatever features `serde_json` is built with.
fn of_value(value: &Value, depth: usize) -> Result<Data, ConvertError> {
    if depth >= limits::VALUE_DEPTH && (value.is_array() || value.is_object()) {
        return Err(ConvertError::too_deep(limits::VALUE_DEPTH));
    }
    Ok(match value {
        Value::Null => Data::Nil,
        Value::Bool(value) => Data::Bool(*value),
        Value::Number(given) => {
            let text = given.to_string();
            Data::Number(number::parse(&text).map_err(|_| ConvertError::integer(shortened(&text, DIGITS)))?)
        }
        Value::String(text) => Data::from(text.as_str()),
        Value::Array(items) => {
            let convert = |(at, item)| of_value(item, depth + 1).map_err(|error| error.in_item(at));
            Data::List(items.iter().enumerate().map(convert).collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => {
            let convert = |(name, value): (&String, &Value)| match of_value(value, depth + 1) {
                Ok(value) => Ok((name.clone(), value)),
                Err(error) => Err(error.in_field(name)),
            };
            Data::Record(fields.iter().map(convert).collect::<Result<_, _>>()?)
        }
    })
}

impl TryFrom<Data> for Value {
    type Error = ConvertError;

    fn try_from(value: Data) -> Result<Value, ConvertError> {
        from_data(value)
    }
}

impl fmt::Display for Data {
    /// As JSON without whitespace; indented with `{:#}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&if f.alternate() { self.to_json_indented() } else { self.to_json() })
    }
}

impl FromStr for Data {
    type Err = ReadError;

    /// From JSON of any size, nested at most as deep as a value can be (1,024). [`read`] has other bounds.
    fn from_str(json: &str) -> Result<Data, ReadError> {
        let bounds = Bounds { bytes: usize::MAX, depth: limits::VALUE_DEPTH, values: usize::MAX };
        read(json.as_bytes(), &bounds)
    }
}
