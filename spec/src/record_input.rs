//! Parameters whose types list the fields of records, and how they are packed.
//!
//! A run does not need them: hosts do, for the schemas that they show and for what they refuse before a run.

use crate::bytes::{ByteReader, ByteSink};
use crate::decode::{operand, ty};
use crate::error::{DecodeError, DecodeErrorKind};
use crate::limits;
use crate::operand::{FunctionId, Operand as _, StringId};
use crate::types::Type;
use alloc::vec::Vec;

type Result<T> = core::result::Result<T, DecodeError>;

/// The parameter may be absent, or nil; the record is inside the lists of its type.
const ABSENT: u8 = 1;
const NIL: u8 = 2;
const RECORD: u8 = 4;

/// A parameter whose type lists the fields of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordInput {
    /// The function.
    pub function: FunctionId,
    /// The place of the parameter.
    pub place: u16,
    /// The fields of the record inside the lists of its type.
    pub fields: Vec<RecordField>,
}

impl RecordInput {
    /// Visits the names of all fields.
    pub fn for_each_name(&mut self, visit: &impl Fn(&mut StringId)) {
        for_each_name(&mut self.fields, visit);
    }
}

fn for_each_name(fields: &mut [RecordField], visit: &impl Fn(&mut StringId)) {
    for field in fields {
        visit(&mut field.name);
        for_each_name(&mut field.fields, visit);
    }
}

/// A field in the type of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordField {
    /// Its name.
    pub name: StringId,
    /// Its type, any if the base is a record.
    pub ty: Type,
    /// Whether it may be absent.
    pub optional: bool,
    /// Whether it may be nil.
    pub nullable: bool,
    /// The fields of the record inside the lists of its type, if it lists them.
    pub fields: Vec<RecordField>,
}

/// Writes the content of the section; nothing if there are none.
pub(crate) fn encode(records: &[RecordInput], out: &mut ByteSink) {
    if records.is_empty() {
        return;
    }
    out.size(records.len());
    for record in records {
        out.varint(record.function.0.into());
        out.varint(record.place.into());
        fields(&record.fields, out);
    }
}

fn fields(list: &[RecordField], out: &mut ByteSink) {
    out.size(list.len());
    for field in list {
        field.name.encode(out);
        out.varint(field.ty.packed().into());
        let set = |flag: u8, holds: bool| if holds { flag } else { 0 };
        let record = !field.fields.is_empty();
        out.byte(set(ABSENT, field.optional) | set(NIL, field.nullable) | set(RECORD, record));
        if record {
            fields(&field.fields, out);
        }
    }
}

/// Reads the content of the section.
pub(crate) fn decode(r: &mut ByteReader<'_>) -> Result<Vec<RecordInput>> {
    r.list("records", limits::FUNCTIONS * limits::REGISTERS, 3, |r| {
        let (function, place) = (operand(r)?, r.varint16()?);
        Ok(RecordInput { function, place, fields: listed(r, limits::RECORD_TYPES)? })
    })
}

fn listed(r: &mut ByteReader<'_>, depth: usize) -> Result<Vec<RecordField>> {
    r.list("fields", limits::FIELDS, 3, |r| {
        let (name, ty, flags) = (operand(r)?, ty(r)?, r.byte()?);
        let known = flags & !(ABSENT | NIL | RECORD) == 0 && (flags & RECORD == 0 || depth > 1);
        if !known {
            r.at -= 1;
            return r.error(DecodeErrorKind::Tag { what: "kind of field", found: flags });
        }
        let fields = if flags & RECORD == 0 { Vec::new() } else { listed(r, depth - 1)? };
        Ok(RecordField { name, ty, optional: flags & ABSENT != 0, nullable: flags & NIL != 0, fields })
    })
}
