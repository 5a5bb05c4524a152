//! The tables of a program that is being lowered: names, constants, shapes and calls, without duplicates, in
//! the order of first use.
//!
//! Field names and other strings are numbered separately at first, since field names come first in the packed
//! table; [`Tables::finish`] joins both and returns the new number of each other string.

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use ilo_spec::limits;
use ilo_spec::operand::{CallId, FieldId, NumberId, ShapeId, StringId, ToolId};
use ilo_spec::program::{CallShape, Number, Strings};
use std::hash::{BuildHasher as _, Hasher as _};

/// The error that a table of the format is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    /// The kind of entry.
    pub(super) what: &'static str,
    /// The capacity.
    pub(super) limit: usize,
}

/// A table of entries with their numbers, in the order of first use.
#[derive(Debug)]
struct Index<K> {
    numbers: HashMap<K, u32>,
    full: Full,
}

impl<K: std::hash::Hash + Eq> Index<K> {
    fn new(what: &'static str, limit: usize) -> Index<K> {
        Index { numbers: HashMap::new(), full: Full { what, limit } }
    }

    /// Adds an entry. Returns its number, and whether it is new.
    fn number(&mut self, key: K) -> Result<(u32, bool), Full> {
        let next = self.numbers.len();
        if next >= self.full.limit {
            return self.numbers.get(&key).map(|&existing| (existing, false)).ok_or(self.full);
        }
        let number = u32::try_from(next).map_err(|_| self.full)?;
        let existing = *self.numbers.entry(key).or_insert(number);
        Ok((existing, existing == number))
    }

    /// Adds an entry to a table with 16-bit indices. Returns its number.
    fn small(&mut self, key: K) -> Result<(u16, bool), Full> {
        let (number, new) = self.number(key)?;
        u16::try_from(number).map(|number| (number, new)).map_err(|_| self.full)
    }
}

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
struct NumberKey(bool, u64);

/// The tables.
#[derive(Debug)]
pub(super) struct Tables {
    fields: Texts,
    texts: Texts,
    numbers: Index<NumberKey>,
    shapes: Index<Box<[FieldId]>>,
    tools: Index<StringId>,
    calls: Index<CallShape>,
    pub(super) number_list: Vec<Number>,
    pub(super) shape_list: Vec<Vec<FieldId>>,
    pub(super) tool_list: Vec<StringId>,
    pub(super) call_list: Vec<CallShape>,
}

impl Tables {
    pub(super) fn new() -> Tables {
        Tables {
            fields: Texts::new("field names", limits::FIELDS),
            texts: Texts::new("strings", limits::STRINGS - limits::FIELDS),
            numbers: Index::new("number constants", limits::NUMBERS),
            shapes: Index::new("record shapes", limits::SHAPES),
            tools: Index::new("tools", limits::TOOLS),
            calls: Index::new("pairs of a tool and its argument names", limits::CALLS),
            number_list: Vec::new(),
            shape_list: Vec::new(),
            tool_list: Vec::new(),
            call_list: Vec::new(),
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
        let (id, new) = self.numbers.small(key)?;
        if new {
            self.number_list.push(number);
        }
        Ok(NumberId(id))
    }

    pub(super) fn shape(&mut self, fields: &[FieldId]) -> Result<ShapeId, Full> {
        // Most shapes exist already, and the lookup needs no copy.
        if let Some(existing) =
            self.shapes.numbers.get(fields).and_then(|&existing| u16::try_from(existing).ok())
        {
            return Ok(ShapeId(existing));
        }
        let (id, new) = self.shapes.small(fields.into())?;
        if new {
            self.shape_list.push(fields.to_vec());
        }
        Ok(ShapeId(id))
    }

    pub(super) fn call(&mut self, tool: &str, shape: ShapeId) -> Result<CallId, Full> {
        let name = self.text(tool)?;
        let (tool, new) = self.tools.small(name)?;
        if new {
            self.tool_list.push(name);
        }
        let call = CallShape { tool: ToolId(tool), shape };
        let (id, new) = self.calls.small(call)?;
        if new {
            self.call_list.push(call);
        }
        Ok(CallId(id))
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
