//! Decodes the packed form of a program.
//!
//! Decoding checks only the form: lengths, counts, tags, UTF-8. A count is compared with the remaining bytes
//! before memory is reserved for it, so memory is at most a small multiple of the input. The verifier checks
//! indexes. The first error is reported, always the same one.

use crate::bytes::ByteReader;
use crate::error::{DecodeError, DecodeErrorKind};
use crate::format::{MAGIC, Section, VERSION};
use crate::isa::Op;
use crate::limits;
use crate::operand::{Operand, ToolId};
use crate::program::{
    CallShape, Debug, Function, Key, Map, Need, Number, Parameter, Parameters, Position, Program, Strings,
};
use crate::record_input;
use crate::types::{Output, Type};
use alloc::borrow::ToOwned;
use alloc::vec::Vec;

type Result<T> = core::result::Result<T, DecodeError>;

pub(crate) fn operand<T: Operand>(r: &mut ByteReader<'_>) -> Result<T> {
    T::decode(r)
}

/// Decodes a program.
///
/// # Errors
/// The first place where the bytes break the format.
pub fn decode(bytes: &[u8]) -> Result<Program> {
    let mut reader = ByteReader::new(bytes);
    if bytes.get(..MAGIC.len()) != Some(&MAGIC) {
        return reader.error(DecodeErrorKind::Magic);
    }
    reader.at = MAGIC.len();
    let found = reader.byte()?;
    if found != VERSION {
        reader.at -= 1;
        return reader.error(DecodeErrorKind::Version { found });
    }
    let mut program = Program::default();
    let mut last = 0;
    while reader.left() > 0 {
        let found = reader.byte()?;
        let known = Section::ALL.into_iter().find(|&s| s as u8 == found && found > last);
        let Some(section) = known else {
            reader.at -= 1;
            return reader.error(DecodeErrorKind::Section { found });
        };
        last = found;
        let length = reader.count("bytes", usize::MAX, 1)?;
        reader.bytes = bytes.get(..reader.at + length).unwrap_or(bytes);
        read_section(&mut program, section, &mut reader)?;
        if reader.left() > 0 {
            return reader.error(DecodeErrorKind::SectionLength);
        }
        reader.bytes = bytes;
    }
    Ok(program)
}

fn read_section(program: &mut Program, section: Section, r: &mut ByteReader<'_>) -> Result<()> {
    match section {
        Section::Strings => strings(program, r)?,
        Section::Numbers => program.numbers = r.list("numbers", limits::NUMBERS, 2, number)?,
        Section::Shapes => {
            program.shapes =
                r.list("shapes", limits::SHAPES, 1, |r| r.list("fields", limits::FIELDS, 1, operand))?;
        }
        Section::Tools => program.tools = r.list("tools", limits::TOOLS, 1, operand)?,
        Section::Calls => {
            program.calls = r.list("calls", limits::CALLS, 2, |r| {
                Ok(CallShape { tool: ToolId(r.varint16()?), shape: operand(r)? })
            })?;
        }
        Section::Maps => program.maps = r.list("maps", limits::MAPS, 2, map)?,
        Section::Functions => functions(program, r)?,
        Section::Code => {
            // As many as the functions claim, if that is plausible.
            let most = program.functions.last().map_or(0, |function| function.end as usize);
            program.code.reserve_exact(most.min(r.left()));
            code(&mut program.code, r)?;
        }
        Section::Inputs => inputs(&mut program.functions, r)?,
        Section::Records => program.records = record_input::decode(r)?,
        Section::Positions => {
            let list = positions(r)?;
            program.debug.get_or_insert_with(Debug::default).positions = list;
        }
        Section::Source => {
            let bytes = r.raw(r.left())?;
            let source = core::str::from_utf8(bytes).or_else(|_| r.error(DecodeErrorKind::Utf8))?;
            source.clone_into(&mut program.debug.get_or_insert_with(Debug::default).source);
        }
    }
    Ok(())
}

/// Reads instructions to the end. Most have one-byte operands and are read from one word.
fn code(code: &mut Vec<Op>, r: &mut ByteReader<'_>) -> Result<()> {
    while r.left() > 0 {
        // Kept out of the reader, so that it stays in a register from word to word.
        let mut at = r.at;
        while let Some(word) = r.bytes.get(at..).and_then(|rest| rest.first_chunk())
            && let Some((op, length)) = Op::short(*word)
        {
            at += length;
            code.push(op);
        }
        r.at = at;
        if r.left() > 0 {
            code.push(Op::decode(r)?);
        }
    }
    Ok(())
}

fn strings(program: &mut Program, r: &mut ByteReader<'_>) -> Result<()> {
    program.fields = r.varint16()?;
    let mut end = 0_u32;
    let start = r.at;
    let ends = r.list("strings", limits::STRINGS, 1, |r| {
        let length = r.varint32()?;
        end = match end.checked_add(length) {
            Some(end) => end,
            None => return r.error(DecodeErrorKind::Varint),
        };
        Ok(end)
    })?;
    if usize::from(program.fields) > ends.len() {
        let kind = DecodeErrorKind::Count {
            what: "field names",
            found: program.fields.into(),
            limit: ends.len() as u64,
        };
        return Err(DecodeError { offset: start, kind });
    }
    let offset = r.at;
    let bytes = r.raw(r.left())?;
    let not_utf8 = DecodeError { offset, kind: DecodeErrorKind::Utf8 };
    let text = core::str::from_utf8(bytes).map_err(|_| not_utf8)?.to_owned();
    program.strings = match Strings::from_parts(text, ends) {
        Some(strings) => strings,
        None if usize::try_from(end).ok() == Some(bytes.len()) => return Err(not_utf8),
        None => return r.error(DecodeErrorKind::SectionLength),
    };
    Ok(())
}

fn number(r: &mut ByteReader<'_>) -> Result<Number> {
    match r.byte()? {
        0 => Ok(Number::Int(r.zigzag64()?)),
        1 => {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(r.raw(8)?);
            let double = f64::from_le_bytes(bytes);
            if double.is_finite() { Ok(Number::Double(double)) } else { r.error(DecodeErrorKind::NotFinite) }
        }
        found => {
            r.at -= 1;
            r.error(DecodeErrorKind::Tag { what: "kind of number", found })
        }
    }
}

fn map(r: &mut ByteReader<'_>) -> Result<Map> {
    let cases = r.list("cases", limits::FUNCTION_CODE, 2, |r| {
        let key = match r.byte()? {
            0 => Key::Nil,
            1 => Key::Bool(false),
            2 => Key::Bool(true),
            3 => Key::Number(operand(r)?),
            4 => Key::Text(operand(r)?),
            found => {
                r.at -= 1;
                return r.error(DecodeErrorKind::Tag { what: "kind of key", found });
            }
        };
        Ok((key, r.varint16()?))
    })?;
    let default = match r.varint()?.checked_sub(1) {
        None => None,
        Some(target) => Some(u16::try_from(target).or_else(|_| r.error(DecodeErrorKind::Varint))?),
    };
    Ok(Map { cases, default })
}

fn functions(program: &mut Program, r: &mut ByteReader<'_>) -> Result<()> {
    let mut start = 0_u32;
    program.functions = r.list("functions", limits::FUNCTIONS, 6, |r| {
        let name = operand(r)?;
        let mut parameters = Parameters::default();
        for _ in 0..r.count("parameters", limits::REGISTERS, 2)? {
            parameters.push(Parameter::required(operand(r)?, ty(r)?));
        }
        let output = output(r)?;
        let registers = r.varint16()?;
        let length = r.varint32()?;
        let Some(end) = start.checked_add(length) else {
            return r.error(DecodeErrorKind::Varint);
        };
        let function = Function { name, parameters, output, registers, start, end };
        start = end;
        Ok(function)
    })?;
    Ok(())
}

/// What the parameters take that are not required, in the order of the functions and of their parameters.
fn inputs(functions: &mut [Function], r: &mut ByteReader<'_>) -> Result<()> {
    let mut last = None;
    r.list("inputs", limits::FUNCTIONS * limits::REGISTERS, 3, |r| {
        let start = r.at;
        let (function, place) = (r.varint16()?, r.varint16()?);
        let need = match r.byte()? {
            0 => Need::Nullable,
            1 => Need::Optional,
            2 => Need::Default(operand(r)?),
            found => {
                r.at -= 1;
                return r.error(DecodeErrorKind::Tag { what: "kind of input", found });
            }
        };
        let found = functions.get_mut(usize::from(function));
        let found = found.and_then(|found| found.parameters.get_mut(usize::from(place)));
        let Some(parameter) = found.filter(|_| last < Some((function, place))) else {
            let [found, _] = place.to_le_bytes();
            let kind = DecodeErrorKind::Tag { what: "input", found };
            return Err(DecodeError { offset: start, kind });
        };
        parameter.need = need;
        last = Some((function, place));
        Ok(())
    })?;
    Ok(())
}

pub(crate) fn ty(r: &mut ByteReader<'_>) -> Result<Type> {
    let start = r.at;
    let value = r.varint()?;
    let [low, ..] = value.to_le_bytes();
    let ty = u16::try_from(value).ok().and_then(Type::from_packed);
    ty.ok_or(DecodeError { offset: start, kind: DecodeErrorKind::Tag { what: "type", found: low } })
}

fn output(r: &mut ByteReader<'_>) -> Result<Output> {
    match r.byte()? {
        0 => Ok(Output { ok: ty(r)?, err: None }),
        1 => Ok(Output { ok: ty(r)?, err: Some(ty(r)?) }),
        found => {
            r.at -= 1;
            r.error(DecodeErrorKind::Tag { what: "kind of output", found })
        }
    }
}

fn positions(r: &mut ByteReader<'_>) -> Result<Vec<Position>> {
    let (mut pc, mut line) = (0_u32, 0_i64);
    r.list("positions", limits::FUNCTIONS * limits::FUNCTION_CODE, 3, |r| {
        let step = r.varint32()?;
        line = line.saturating_add(r.zigzag64()?);
        let column = r.varint32()?;
        match (pc.checked_add(step), u32::try_from(line)) {
            (Some(next), Ok(line)) => {
                pc = next;
                Ok(Position { pc, line, column })
            }
            _ => r.error(DecodeErrorKind::Varint),
        }
    })
}

/// The offset of each instruction in the packed form, for listings and error positions.
///
/// # Errors
/// Those of [`decode`], up to the code section.
pub fn instruction_offsets(bytes: &[u8]) -> Result<Vec<usize>> {
    let mut reader = ByteReader::new(bytes);
    reader.raw(MAGIC.len() + 1)?;
    let mut offsets = Vec::new();
    while reader.left() > 0 {
        let section = reader.byte()?;
        let length = reader.count("bytes", usize::MAX, 1)?;
        if section != Section::Code as u8 {
            reader.raw(length)?;
            continue;
        }
        reader.bytes = bytes.get(..reader.at + length).unwrap_or(bytes);
        while reader.left() > 0 {
            offsets.push(reader.at);
            Op::decode(&mut reader)?;
        }
        break;
    }
    Ok(offsets)
}
