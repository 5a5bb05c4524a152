//! The tables of a program that is being lowered: names, constants, shapes and calls, without duplicates, in
//! the order of first use.
//!
//! Field names and other strings are numbered separately at first, since field names come first in the packed
//! table; [`Tables::finish`] joins both and returns the new number of each other string.

use hashbrown::{DefaultHashBuilder, HashTable};
use ilo_spec::limits;
use ilo_spec::operand::{CallId, FieldId, NumberId, ShapeId, StringId, ToolId};
use ilo_spec::program::{CallShape, Number, Strings};
use indexmap::IndexMap;
use std::hash::{BuildHasher as _, Hash, Hasher as _};

/// The error that a table of the format is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    /// The kind of entry.
    pub(super) what: &'static str,
    /// The capacity.
    pub(super) limit: usize,
}

/// A table of entries, each numbered by the entries before it.
pub(super) type Numbered<K, V = ()> = IndexMap<K, V, DefaultHashBuilder>;

/// Number constants.
pub(super) type Numbers = Numbered<NumberKey, Number>;

/// Adds an entry to a table of so many. Returns its number.
fn number<K: Hash + Eq, V>(table: &mut Numbered<K, V>, key: K, value: V, full: Full) -> Result<u16, Full> {
    let number = table.insert_full(key, value).0;
    u16::try_from(number).ok().filter(|&number| usize::from(number) < full.limit).ok_or(full)
}

const NUMBERS: Full = Full { what: "number constants", limit: limits::NUMBERS };
const SHAPES: Full = Full { what: "record shapes", limit: limits::SHAPES };
const TOOLS: Full = Full { what: "tools", limit: limits::TOOLS };
const CALLS: Full = Full { what: "pairs of a tool and its argument names", limit: limits::CALLS };

/// A table of texts with their numbers, in the order of first use. They are copied, because a tree may be
/// dropped before the program is complete.
#[derive(Debug)]
struct Texts {
    strings: Strings,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    full: Full,
}

impl Texts {
    fn new(what: &'static str, limit: usize) -> Texts {
        let (numbers, hasher) = (HashTable::new(), DefaultHashBuilder::default());
        Texts { strings: Strings::default(), numbers, hasher, full: Full { what, limit } }
    }

    fn hash(hasher: &DefaultHashBuilder, text: &str) -> u64 {
        let mut hash = hasher.build_hasher();
        hash.write(text.as_bytes());
        hash.finish()
    }

    fn find(&self, hash: u64, text: &str) -> Option<u32> {
        // As bytes, so that no character boundaries are tested.
        let same = |&existing: &u32| {
            let range = self.strings.range(StringId(existing));
            let bytes = range.and_then(|(start, end)| self.strings.bytes().as_bytes().get(start..end));
            bytes == Some(text.as_bytes())
        };
        self.numbers.find(hash, same).copied()
    }

    fn number(&mut self, text: &str) -> Result<u32, Full> {
        let hash = Texts::hash(&self.hasher, text);
        if let Some(existing) = self.find(hash, text) {
            return Ok(existing);
        }
        if self.strings.len() >= self.full.limit {
            return Err(self.full);
        }
        let StringId(new) = self.strings.push(text).ok_or(self.full)?;
        let Texts { strings, numbers, hasher, .. } = self;
        let rehash =
            |&existing: &u32| Texts::hash(hasher, strings.get(StringId(existing)).unwrap_or_default());
        numbers.insert_unique(hash, new, rehash);
        Ok(new)
    }
}

/// The bits of a number constant, which distinguish `1` from `1.0` and `0.0` from `-0.0`.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(super) struct NumberKey(bool, u64);

/// The tables.
#[derive(Debug)]
pub(super) struct Tables {
    fields: Texts,
    texts: Texts,
    pub(super) numbers: Numbers,
    pub(super) shapes: Numbered<Box<[FieldId]>>,
    pub(super) tools: Numbered<StringId>,
    pub(super) calls: Numbered<CallShape>,
}

impl Tables {
    pub(super) fn new() -> Tables {
        Tables {
            fields: Texts::new("field names", limits::FIELDS),
            texts: Texts::new("strings", limits::STRINGS - limits::FIELDS),
            numbers: Numbered::default(),
            shapes: Numbered::default(),
            tools: Numbered::default(),
            calls: Numbered::default(),
        }
    }

    pub(super) fn field(&mut self, name: &str) -> Result<FieldId, Full> {
        let number = self.fields.number(name)?;
        u16::try_from(number).map(FieldId).map_err(|_| self.fields.full)
    }

    /// Adds a string that is not a field name. Its number is provisional until [`Tables::finish`].
    pub(super) fn text(&mut self, text: &str) -> Result<StringId, Full> {
        self.texts.number(text).map(StringId)
    }

    pub(super) fn number(&mut self, number: Number) -> Result<NumberId, Full> {
        let key = match number {
            Number::Int(int) => NumberKey(false, int.cast_unsigned()),
            Number::Double(double) => NumberKey(true, double.to_bits()),
        };
        self::number(&mut self.numbers, key, number, NUMBERS).map(NumberId)
    }

    pub(super) fn shape(&mut self, fields: &[FieldId]) -> Result<ShapeId, Full> {
        // Most shapes exist already, and the lookup needs no copy.
        let existing = self.shapes.get_index_of(fields).and_then(|existing| u16::try_from(existing).ok());
        existing.map_or_else(|| number(&mut self.shapes, fields.into(), (), SHAPES), Ok).map(ShapeId)
    }

    pub(super) fn call(&mut self, tool: &str, shape: ShapeId) -> Result<CallId, Full> {
        let name = self.text(tool)?;
        let tool = ToolId(number(&mut self.tools, name, (), TOOLS)?);
        number(&mut self.calls, CallShape { tool, shape }, (), CALLS).map(CallId)
    }

    /// The string table, the number of field names in it, and the final number of each provisional string
    /// number.
    pub(super) fn finish(&self) -> Result<(Strings, u16, Vec<StringId>), Full> {
        let full = Full { what: "bytes of strings", limit: u32::MAX as usize };
        let fields = u16::try_from(self.fields.strings.len()).map_err(|_| self.fields.full)?;
        let mut strings = self.fields.strings.clone();
        let mut final_numbers = Vec::with_capacity(self.texts.strings.len());
        for text in self.texts.strings.iter() {
            let field = self.fields.find(Texts::hash(&self.fields.hasher, text), text);
            final_numbers.push(match field {
                Some(field) => StringId(field),
                None => strings.push(text).ok_or(full)?,
            });
        }
        Ok((strings, fields, final_numbers))
    }
}
