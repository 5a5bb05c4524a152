//! Values of programs to what `serde` can deserialize, and values from any format of `serde`.

use super::convert::whole;
use super::{ConvertError, Data};
use ilo_spec::limits;
use ilo_spec::program::Number;
use serde_core::de::{
    self, Deserialize, DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde_core::forward_to_deserialize_any;
use std::collections::HashSet;
use std::fmt;

/// Converts a value of a program to a type of Rust. A whole number fits an integer, however it is written:
/// `3.0` is 3.
///
/// # Errors
/// The first part that does not fit the type, with its place; values nested deeper than 1,024.
pub fn from_data<T: DeserializeOwned>(value: Data) -> Result<T, ConvertError> {
    T::deserialize(FromValue { value, depth: 0 })
}

/// One value, with the number of lists and records around it.
struct FromValue {
    value: Data,
    depth: usize,
}

/// A whole double is read as the integer that it is.
macro_rules! integers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConvertError> {
            match self.value {
                Data::Number(Number::Double(double)) if let Some(int) = whole(double) => visitor.visit_i64(int),
                _ => self.deserialize_any(visitor),
            }
        }
    )*};
}

impl<'de> de::Deserializer<'de> for FromValue {
    type Error = ConvertError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConvertError> {
        let FromValue { value, depth } = self;
        if depth >= limits::VALUE_DEPTH && matches!(value, Data::List(_) | Data::Record(_)) {
            return Err(ConvertError::too_deep(limits::VALUE_DEPTH));
        }
        let depth = depth + 1;
        match value {
            Data::Nil => visitor.visit_unit(),
            Data::Bool(value) => visitor.visit_bool(value),
            Data::Number(Number::Int(int)) => visitor.visit_i64(int),
            Data::Number(Number::Double(double)) if !double.is_finite() => {
                Err(ConvertError::not_finite(double))
            }
            Data::Number(Number::Double(double)) => visitor.visit_f64(double),
            Data::Text(text) => visitor.visit_string(text),
            Data::List(items) => {
                let length = items.len();
                let mut items = ItemReader { items: items.into_iter(), at: 0, depth };
                let read = visitor.visit_seq(&mut items)?;
                match items.items.len() {
                    0 => Ok(read),
                    _ => Err(de::Error::invalid_length(length, &"fewer items")),
                }
            }
            Data::Record(fields) => {
                visitor.visit_map(FieldReader { fields: fields.into_iter(), value: None, depth })
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConvertError> {
        match self.value {
            Data::Nil => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ConvertError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConvertError> {
        let FromValue { value, depth } = self;
        match value {
            Data::Text(name) => visitor.visit_enum(name.into_deserializer()),
            Data::Record(fields) if fields.len() == 1 && depth < limits::VALUE_DEPTH => {
                let fields = fields.into_iter();
                visitor.visit_enum(de::value::MapAccessDeserializer::new(FieldReader {
                    fields,
                    value: None,
                    depth: depth + 1,
                }))
            }
            other => Err(ConvertError::new(format!(
                "expected the name of a variant, or a record with this name only, found {}",
                other.kind()
            ))),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    forward_to_deserialize_any! {
        bool f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

struct ItemReader {
    items: std::vec::IntoIter<Data>,
    at: usize,
    depth: usize,
}

impl<'de> SeqAccess<'de> for ItemReader {
    type Error = ConvertError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ConvertError> {
        let Some(value) = self.items.next() else { return Ok(None) };
        self.at += 1;
        let read = seed.deserialize(FromValue { value, depth: self.depth });
        read.map(Some).map_err(|error| error.in_item(self.at - 1))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct FieldReader {
    fields: std::vec::IntoIter<(String, Data)>,
    value: Option<(String, Data)>,
    depth: usize,
}

impl<'de> MapAccess<'de> for FieldReader {
    type Error = ConvertError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ConvertError> {
        let Some((name, value)) = self.fields.next() else { return Ok(None) };
        let read = seed.deserialize(name.as_str().into_deserializer())?;
        self.value = Some((name, value));
        Ok(Some(read))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ConvertError> {
        let (name, value) = self.value.take().ok_or_else(|| ConvertError::new("a value without its key"))?;
        let read = seed.deserialize(FromValue { value, depth: self.depth });
        read.map_err(|error| error.in_field(&name))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.fields.len())
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Data, D::Error> {
        PartSeed(0).deserialize(deserializer)
    }
}

/// Reads a value inside a number of lists and records.
#[derive(Clone, Copy)]
struct PartSeed(usize);

impl PartSeed {
    /// Reads the parts of a list or record.
    fn inside<E: de::Error>(self) -> Result<PartSeed, E> {
        if self.0 >= limits::VALUE_DEPTH {
            return Err(E::custom(ConvertError::too_deep(limits::VALUE_DEPTH)));
        }
        Ok(PartSeed(self.0 + 1))
    }
}

impl<'de> DeserializeSeed<'de> for PartSeed {
    type Value = Data;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        deserializer.deserialize_any(self)
    }
}

fn int<T: TryInto<i64> + Copy + fmt::Display, E: de::Error>(value: T) -> Result<Data, E> {
    let int = value.try_into().map_err(|_| E::custom(ConvertError::integer(value)))?;
    Ok(Data::Number(Number::Int(int)))
}

impl<'de> Visitor<'de> for PartSeed {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON can have")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Data, E> {
        Ok(Data::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Data, E> {
        int(value)
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Data, E> {
        int(value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Data, E> {
        int(value)
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Data, E> {
        int(value)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Data, E> {
        Data::try_from(value).map_err(E::custom)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Data, E> {
        Ok(Data::from(value))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Data, E> {
        Ok(Data::Text(value))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Data, E> {
        Ok(Data::Nil)
    }

    fn visit_none<E: de::Error>(self) -> Result<Data, E> {
        Ok(Data::Nil)
    }

    fn visit_some<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_newtype_struct<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Data, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Data, A::Error> {
        let (part, mut read) = (self.inside()?, Vec::new());
        while let Some(item) = items.next_element_seed(part)? {
            read.push(item);
        }
        Ok(Data::List(read.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Data, A::Error> {
        let (part, mut read, mut names) = (self.inside()?, Vec::new(), HashSet::new());
        while let Some(name) = fields.next_key::<String>()? {
            if !names.insert(name.clone()) {
                return Err(de::Error::custom(format!("a record with the key `{name}` twice")));
            }
            read.push((name, fields.next_value_seed(part)?));
        }
        Ok(Data::Record(read.into()))
    }
}
