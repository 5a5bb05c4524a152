//! Values outside the machine: what tools answer, what mocks match, what a tools file holds.
//!
//! A value is a tree with ordered records and exact numbers. Reading it from JSON ([`read`]), writing it and
//! dropping it are loops. The derived code that compares and copies values recurses, but a tree that was read
//! is no deeper than the bounds of its reader. This module does not know the machine's own values.
//!
//! ```
//! use ilo_drive::data::{Data, from_data, to_data};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // From plain values, from JSON, from serde_json, from anything that serde serializes, and back.
//! let mail: Option<String> = None;
//! let user = Data::record([("name", Data::from("Ada")), ("logins", 3.into()), ("mail", mail.into())]);
//! assert_eq!(user, r#"{"name":"Ada","logins":3,"mail":null}"#.parse()?);
//! assert_eq!(user, serde_json::json!({"name": "Ada", "logins": 3, "mail": null}).try_into()?);
//! assert_eq!(to_data(&vec![Some(1.5), None])?.to_string(), "[1.5,null]");
//! let logins: std::collections::BTreeMap<String, serde_json::Value> = from_data(user)?;
//! assert_eq!(logins["logins"], 3);
//! // What a program cannot have is an error that says where.
//! assert_eq!(to_data(&[u64::MAX]).unwrap_err().path(), "[0]");
//! # Ok(())
//! # }
//! ```

mod convert;
mod de;
mod error;
mod nested;
pub mod read;
mod ser;
mod to_machine;
pub mod write;

pub use de::from_data;
pub use error::ConvertError;
pub use nested::{Fields, Items};
pub use ser::to_data;

use bumpalo::Bump;
use ilo_spec::program::Number;
use ilo_vm::Datum;
use std::cmp::Ordering;
use std::collections::HashMap;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// nil.
    Nil,
    /// A bool.
    Bool(bool),
    /// An exact integer or a finite double.
    Number(Number),
    /// A text.
    Text(String),
    /// A list.
    List(Items),
    /// A record: fields in order, no name twice.
    Record(Fields),
}

impl Data {
    /// The field of a record.
    pub fn get(&self, name: &str) -> Option<&Data> {
        match self {
            Data::Record(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The kind of the value, in the language's words.
    pub fn kind(&self) -> &'static str {
        match self {
            Data::Nil => "nil",
            Data::Bool(_) => "a bool",
            Data::Number(_) => "a number",
            Data::Text(_) => "a text",
            Data::List(_) => "a list",
            Data::Record(_) => "a record",
        }
    }

    /// Calls a function with this value in the form of the machine.
    pub fn with_datum<R>(&self, function: impl FnOnce(Datum<'_>) -> R) -> R {
        function(self.to_datum(&Bump::new()))
    }

    /// Converts a value to the form of the machine. Texts are borrowed; lists and records are in the arena.
    pub(crate) fn to_datum<'a>(&'a self, arena: &'a Bump) -> Datum<'a> {
        to_machine::datum(self, arena)
    }

    /// Whether the two are equal as JSON: `1` equals `1.0`, and the order of fields does not matter.
    pub fn same(&self, other: &Data) -> bool {
        self.agrees(other, true)
    }

    /// Whether `other` contains all of `self`: its records may have more fields, in any order. Everything
    /// else is equal; `1` equals `1.0`.
    pub fn fits(&self, other: &Data) -> bool {
        self.agrees(other, false)
    }

    fn agrees(&self, other: &Data, is_whole: bool) -> bool {
        let mut pairs = vec![(self, other)];
        while let Some(pair) = pairs.pop() {
            let agree = match pair {
                (Data::Record(a), Data::Record(b)) if !is_whole || a.len() == b.len() => {
                    // Most records have their fields in one order.
                    let mut by_name = None;
                    a.iter().enumerate().all(|(at, (name, value))| {
                        let found = match b.get(at) {
                            Some((other, found)) if other == name => Some(found),
                            _ => by_name.get_or_insert_with(|| named(b)).get(name.as_str()).copied(),
                        };
                        pairs.extend(found.map(|found| (value, found)));
                        found.is_some()
                    })
                }
                (Data::List(a), Data::List(b)) => {
                    pairs.extend(a.iter().zip(b));
                    a.len() == b.len()
                }
                (Data::Number(a), Data::Number(b)) => equal(*a, *b),
                (Data::Record(_), Data::Record(_)) => false,
                (a, b) => a == b,
            };
            if !agree {
                return false;
            }
        }
        true
    }
}

/// The fields of a record by their names.
fn named(fields: &Fields) -> HashMap<&str, &Data> {
    fields.iter().map(|(name, value)| (name.as_str(), value)).collect()
}

/// Whether two numbers are equal, exactly: no integer is rounded to compare it.
fn equal(a: Number, b: Number) -> bool {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a == b,
        (Number::Double(a), Number::Double(b)) => a.partial_cmp(&b).is_some_and(Ordering::is_eq),
        (Number::Int(int), Number::Double(double)) | (Number::Double(double), Number::Int(int)) => {
            // `{:.0}` prints every digit of a whole double, so equal texts are equal numbers.
            double.fract() == 0.0
                && (format!("{double:.0}") == int.to_string() || (double == 0.0 && int == 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Data;
    use super::read::{Bounds, read};

    #[test]
    fn equality_is_that_of_json() {
        let wide = |reverse: bool| {
            let mut fields: Vec<String> = (0..30_000).map(|n| format!("\"f{n}\":[{n}]")).collect();
            if reverse {
                fields.reverse();
            }
            format!("{{{}}}", fields.join(","))
        };
        let cases = [
            (r#"{"a":1,"b":{"c":[2.0]}}"#, r#"{"b":{"c":[2]},"a":1.0}"#, true),
            (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, false),
            (r#"{"a":1,"b":2}"#, r#"{"a":1,"c":2}"#, false),
            ("[1,2]", "[1]", false),
            ("[]", "{}", false),
            ("null", "false", false),
            (r#""1""#, "1", false),
            (&wide(false), &wide(true), true),
        ];
        for (a, b, expected) in cases {
            let data = |text: &str| -> Data { read(text.as_bytes(), &Bounds::default()).unwrap() };
            assert_eq!(data(a).same(&data(b)), expected, "{a:.80} {b:.80}");
        }
    }

    #[test]
    fn fitting_is_a_deep_subset() {
        let cases = [
            ("{}", r#"{"a":1}"#, true),
            (r#"{"a":1}"#, r#"{"b":2,"a":1.0}"#, true),
            (r#"{"a":{"x":1}}"#, r#"{"a":{"y":2,"x":1}}"#, true),
            (r#"{"a":1}"#, r#"{"b":1}"#, false),
            (r#"{"a":null}"#, "{}", false),
            (r#"{"a":null}"#, r#"{"a":null}"#, true),
            (r#"{"a":[1,{"b":2}]}"#, r#"{"a":[1.0,{"c":0,"b":2}]}"#, true),
            (r#"{"a":[1]}"#, r#"{"a":[1,2]}"#, false),
            (r#"{"a":9007199254740993}"#, r#"{"a":9007199254740992.0}"#, false),
            (r#"{"a":9007199254740992}"#, r#"{"a":9007199254740992.0}"#, true),
            (r#"{"a":0}"#, r#"{"a":-0.0}"#, true),
            (r#"{"a":1}"#, r#"{"a":"1"}"#, false),
            (r#"{"a":1}"#, r#"{"a":1.5}"#, false),
        ];
        for (pattern, value, expected) in cases {
            let data = |text: &str| -> Data { read(text.as_bytes(), &Bounds::default()).unwrap() };
            assert_eq!(data(pattern).fits(&data(value)), expected, "{pattern} in {value}");
        }
    }
}
