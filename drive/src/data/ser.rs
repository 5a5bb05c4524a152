//! Values of programs from what `serde` can serialize.
//!
//! A struct or a map with texts as keys is a record, a sequence or tuple a list, nothing is nil, a variant of
//! an enum its name, or a record with its name and content. What a program cannot have is an error with its
//! place: an integer beyond 64 bits with a sign, a number that is not finite, a key that is no text, a name
//! twice.

use super::{ConvertError, Data};
use ilo_spec::limits;
use ilo_spec::program::Number;
use serde_core::ser::{self, Serialize, SerializeMap, SerializeSeq as _};
use std::collections::HashSet;

/// Converts a value of Rust.
///
/// # Errors
/// What a program cannot have, with its place; values nested deeper than 1,024.
pub fn to_data<T: Serialize + ?Sized>(value: &T) -> Result<Data, ConvertError> {
    value.serialize(Builder { depth: 0 })
}

/// Builds one value.
#[derive(Clone, Copy)]
struct Builder {
    /// The lists and records around it.
    depth: usize,
}

impl Builder {
    /// Builds the parts of a list or record.
    fn inside(self) -> Result<Builder, ConvertError> {
        if self.depth >= limits::VALUE_DEPTH {
            return Err(ConvertError::too_deep(limits::VALUE_DEPTH));
        }
        Ok(Builder { depth: self.depth + 1 })
    }

    fn list(self, length: Option<usize>) -> Result<ListBuilder, ConvertError> {
        // A length is only a claim.
        let items = Vec::with_capacity(length.unwrap_or(0).min(1_024));
        Ok(ListBuilder { part: self.inside()?, variant: None, items })
    }

    fn record(self) -> Result<RecordBuilder, ConvertError> {
        let (fields, names) = (Vec::new(), HashSet::new());
        Ok(RecordBuilder { part: self.inside()?, variant: None, fields, names, key: None })
    }
}

fn int<T: TryInto<i64> + Copy + std::fmt::Display>(value: T) -> Result<Data, ConvertError> {
    value.try_into().map(|int| Data::Number(Number::Int(int))).map_err(|_| ConvertError::integer(value))
}

macro_rules! integers {
    ($($method:ident $integer:ty;)*) => {$(
        fn $method(self, value: $integer) -> Result<Data, ConvertError> {
            int(value)
        }
    )*};
}

impl ser::Serializer for Builder {
    type Ok = Data;
    type Error = ConvertError;
    type SerializeSeq = ListBuilder;
    type SerializeTuple = ListBuilder;
    type SerializeTupleStruct = ListBuilder;
    type SerializeTupleVariant = ListBuilder;
    type SerializeMap = RecordBuilder;
    type SerializeStruct = RecordBuilder;
    type SerializeStructVariant = RecordBuilder;

    integers! {
        serialize_i8 i8; serialize_i16 i16; serialize_i32 i32; serialize_i64 i64; serialize_i128 i128;
        serialize_u8 u8; serialize_u16 u16; serialize_u32 u32; serialize_u64 u64; serialize_u128 u128;
    }

    fn serialize_bool(self, value: bool) -> Result<Data, ConvertError> {
        Ok(Data::Bool(value))
    }

    fn serialize_f32(self, value: f32) -> Result<Data, ConvertError> {
        Data::try_from(f64::from(value))
    }

    fn serialize_f64(self, value: f64) -> Result<Data, ConvertError> {
        Data::try_from(value)
    }

    fn serialize_char(self, value: char) -> Result<Data, ConvertError> {
        Ok(Data::Text(value.into()))
    }

    fn serialize_str(self, value: &str) -> Result<Data, ConvertError> {
        Ok(Data::from(value))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Data, ConvertError> {
        self.inside()?;
        Ok(Data::list(value.iter().copied()))
    }

    fn serialize_none(self) -> Result<Data, ConvertError> {
        Ok(Data::Nil)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Data, ConvertError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Data, ConvertError> {
        Ok(Data::Nil)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Data, ConvertError> {
        Ok(Data::Nil)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Data, ConvertError> {
        Ok(Data::from(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Data, ConvertError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Data, ConvertError> {
        let value = value.serialize(self.inside()?).map_err(|error| error.in_field(variant))?;
        Ok(Data::record([(variant, value)]))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<ListBuilder, ConvertError> {
        self.list(length)
    }

    fn serialize_tuple(self, length: usize) -> Result<ListBuilder, ConvertError> {
        self.list(Some(length))
    }

    fn serialize_tuple_struct(self, _name: &'static str, length: usize) -> Result<ListBuilder, ConvertError> {
        self.list(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<ListBuilder, ConvertError> {
        Ok(ListBuilder { variant: Some(variant), ..self.inside()?.list(Some(length))? })
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<RecordBuilder, ConvertError> {
        self.record()
    }

    fn serialize_struct(self, _name: &'static str, _length: usize) -> Result<RecordBuilder, ConvertError> {
        self.record()
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<RecordBuilder, ConvertError> {
        Ok(RecordBuilder { variant: Some(variant), ..self.inside()?.record()? })
    }
}

/// The content of a variant of an enum is in a record with its name.
fn within(variant: Option<&str>, value: Data) -> Data {
    match variant {
        Some(variant) => Data::record([(variant, value)]),
        None => value,
    }
}

/// The place of an error in it.
fn placed(variant: Option<&str>, error: ConvertError) -> ConvertError {
    match variant {
        Some(variant) => error.in_field(variant),
        None => error,
    }
}

struct ListBuilder {
    part: Builder,
    variant: Option<&'static str>,
    items: Vec<Data>,
}

impl ListBuilder {
    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ConvertError> {
        let (item, at) = (value.serialize(self.part), self.items.len());
        self.items.push(item.map_err(|error| placed(self.variant, error.in_item(at)))?);
        Ok(())
    }

    fn whole(self) -> Data {
        within(self.variant, Data::List(self.items.into()))
    }
}

struct RecordBuilder {
    part: Builder,
    variant: Option<&'static str>,
    fields: Vec<(String, Data)>,
    names: HashSet<String>,
    /// The key whose value follows.
    key: Option<String>,
}

impl RecordBuilder {
    fn add<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), ConvertError> {
        self.field(key.to_owned(), value)
    }

    fn whole(self) -> Data {
        within(self.variant, Data::Record(self.fields.into()))
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: String, value: &T) -> Result<(), ConvertError> {
        let is_new = self.names.insert(name.clone());
        let twice = || ConvertError::new("the name is there twice");
        let value = value.serialize(self.part).and_then(|value| is_new.then_some(value).ok_or_else(twice));
        let value = value.map_err(|error| placed(self.variant, error.in_field(&name)))?;
        self.fields.push((name, value));
        Ok(())
    }
}

impl SerializeMap for RecordBuilder {
    type Ok = Data;
    type Error = ConvertError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), ConvertError> {
        match key.serialize(Builder { depth: limits::VALUE_DEPTH }) {
            Ok(Data::Text(name)) => {
                self.key = Some(name);
                Ok(())
            }
            Ok(other) => Err(ConvertError::new(format!("expected a text as a key, found {}", other.kind()))),
            Err(_) => Err(ConvertError::new("expected a text as a key, found something else")),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ConvertError> {
        let name = self.key.take().ok_or_else(|| ConvertError::new("a value without its key"))?;
        self.field(name, value)
    }

    fn end(self) -> Result<Data, ConvertError> {
        Ok(self.whole())
    }
}

/// The builders as what `serde` gives part by part: tuples and sequences are lists, and structs are records.
macro_rules! built {
    ($($builder:ident: $kind:ident $method:ident($($key:ident)?);)*) => {$(
        impl ser::$kind for $builder {
            type Ok = Data;
            type Error = ConvertError;

            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($key: &'static str,)?
                value: &T,
            ) -> Result<(), ConvertError> {
                self.add($($key,)? value)
            }

            fn end(self) -> Result<Data, ConvertError> {
                Ok(self.whole())
            }
        }
    )*};
}

built! {
    ListBuilder: SerializeSeq serialize_element();
    ListBuilder: SerializeTuple serialize_element();
    ListBuilder: SerializeTupleStruct serialize_field();
    ListBuilder: SerializeTupleVariant serialize_field();
    RecordBuilder: SerializeStruct serialize_field(key);
    RecordBuilder: SerializeStructVariant serialize_field(key);
}

/// A value with the number of lists and records around it.
struct Nested<'d>(&'d Data, usize);

impl Serialize for Data {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Nested(self, 0).serialize(serializer)
    }
}

impl Serialize for Nested<'_> {
    /// Recursion, like everything that serializes; it ends at the depth that a value can have.
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Nested(value, depth) = *self;
        if depth >= limits::VALUE_DEPTH && matches!(value, Data::List(_) | Data::Record(_)) {
            return Err(ser::Error::custom(ConvertError::too_deep(limits::VALUE_DEPTH)));
        }
        match value {
            Data::Nil => serializer.serialize_unit(),
            Data::Bool(value) => serializer.serialize_bool(*value),
            Data::Number(Number::Int(int)) => serializer.serialize_i64(*int),
            Data::Number(Number::Double(double)) if !double.is_finite() => {
                Err(ser::Error::custom(ConvertError::not_finite(*double)))
            }
            Data::Number(Number::Double(double)) => serializer.serialize_f64(*double),
            Data::Text(text) => serializer.serialize_str(text),
            Data::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(&Nested(item, depth + 1)))?;
                list.end()
            }
            Data::Record(fields) => {
                let mut record = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    record.serialize_entry(name, &Nested(value, depth + 1))?;
                }
                record.end()
            }
        }
    }
}
