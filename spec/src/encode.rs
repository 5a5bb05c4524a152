//! Encodes a program in its packed form.
//!
//! The form is `69 6C 6F 62`, a version byte, then sections in ascending order, each a number, a length and
//! that many bytes; empty sections are left out. Integers are LEB128, signed ones zigzagged; strings are
//! UTF-8. Sections from 0x80 on hold what `--strip` removes. Each section is written by one function here,
//! read by its counterpart in [`crate::decode`], and described in the specification.

use crate::bytes::ByteSink;
use crate::operand::Operand as _;

use crate::program::{Key, Map, Need, Number, Program};
use crate::record_input;
use crate::types::{Output, Type};
use alloc::vec::Vec;

pub use crate::format::{MAGIC, Section, VERSION};

/// Encodes a program.
pub fn encode(program: &Program) -> Vec<u8> {
    // Enough for most programs, so that the buffer does not move.
    let rest = 8 * (program.functions.len() + program.shapes.len() + program.maps.len()) + 64;
    let size = program.strings.bytes().len() + program.strings.len() + 4 * program.code.len() + rest;
    let mut out = ByteSink::from(Vec::with_capacity(size));
    out.raw(&MAGIC);
    out.byte(VERSION);
    let mut content = ByteSink::default();
    for section in Section::ALL {
        content.bytes.clear();
        write_section(program, section, &mut content);
        if !content.bytes.is_empty() {
            out.byte(section as u8);
            out.size(content.bytes.len());
            out.raw(&content.bytes);
        }
    }
    out.bytes
}

fn write_section(program: &Program, section: Section, out: &mut ByteSink) {
    match section {
        Section::Strings => strings(program, out),
        Section::Numbers => list(&program.numbers, out, number),
        Section::Shapes => list(&program.shapes, out, |shape, out| {
            out.size(shape.len());
            for field in shape {
                field.encode(out);
            }
        }),
        Section::Tools => list(&program.tools, out, |tool, out| tool.encode(out)),
        Section::Calls => list(&program.calls, out, |call, out| {
            out.varint(call.tool.0.into());
            call.shape.encode(out);
        }),
        Section::Maps => list(&program.maps, out, map),
        Section::Functions => list(&program.functions, out, |function, out| {
            function.name.encode(out);
            out.size(function.parameters.len());
            for parameter in &function.parameters {
                parameter.name.encode(out);
                ty(parameter.ty, out);
            }
            output(function.output, out);
            out.varint(function.registers.into());
            out.varint(u64::from(function.end.saturating_sub(function.start)));
        }),
        Section::Code => program.code.iter().for_each(|op| op.encode(out)),
        Section::Inputs => inputs(program, out),
        Section::Records => record_input::encode(&program.records, out),
        Section::Positions => positions(program, out),
        Section::Source => {
            if let Some(debug) = &program.debug {
                out.raw(debug.source.as_bytes());
            }
        }
    }
}

/// A count and its items; nothing if there are none.
fn list<T>(items: &[T], out: &mut ByteSink, mut item: impl FnMut(&T, &mut ByteSink)) {
    if !items.is_empty() {
        out.size(items.len());
        for one in items {
            item(one, out);
        }
    }
}

/// The number of field names, the number of strings, their lengths, their bytes.
fn strings(program: &Program, out: &mut ByteSink) {
    if program.strings.is_empty() {
        return;
    }
    out.varint(program.fields.into());
    out.size(program.strings.len());
    program.strings.iter().for_each(|text| out.size(text.len()));
    out.raw(program.strings.bytes().as_bytes());
}

fn number(number: &Number, out: &mut ByteSink) {
    match *number {
        Number::Int(int) => {
            out.byte(0);
            out.zigzag(int);
        }
        Number::Double(double) => {
            out.byte(1);
            out.raw(&double.to_le_bytes());
        }
    }
}

fn map(map: &Map, out: &mut ByteSink) {
    out.size(map.cases.len());
    for &(key, target) in &map.cases {
        match key {
            Key::Nil => out.byte(0),
            Key::Bool(false) => out.byte(1),
            Key::Bool(true) => out.byte(2),
            Key::Number(id) => {
                out.byte(3);
                id.encode(out);
            }
            Key::Text(id) => {
                out.byte(4);
                id.encode(out);
            }
        }
        out.varint(target.into());
    }
    // The target plus one; 0 means that there is no default.
    out.varint(map.default.map_or(0, |target| u64::from(target) + 1));
}

/// The base in the low three bits, the number of `list`s above them.
fn ty(ty: Type, out: &mut ByteSink) {
    out.varint(ty.packed().into());
}

/// Whether it is a result, the type of the value, and for a result the type of the failure.
fn output(output: Output, out: &mut ByteSink) {
    out.byte(u8::from(output.err.is_some()));
    ty(output.ok, out);
    if let Some(err) = output.err {
        ty(err, out);
    }
}

/// The parameters that are not required: function, parameter and what it takes.
fn inputs(program: &Program, out: &mut ByteSink) {
    let needs = |need: Need| need != Need::Required;
    let count = program.functions.iter().flat_map(|function| &function.parameters);
    let count = count.filter(|parameter| needs(parameter.need)).count();
    if count == 0 {
        return;
    }
    out.size(count);
    for (number, function) in program.functions.iter().enumerate() {
        for (place, parameter) in function.parameters.iter().enumerate().filter(|(_, it)| needs(it.need)) {
            out.size(number);
            out.size(place);
            match parameter.need {
                Need::Required | Need::Nullable => out.byte(0),
                Need::Optional => out.byte(1),
                Need::Default(constant) => {
                    out.byte(2);
                    constant.encode(out);
                }
            }
        }
    }
}

/// As differences, because instructions and lines mostly ascend.
fn positions(program: &Program, out: &mut ByteSink) {
    let Some(debug) = &program.debug else { return };
    if debug.positions.is_empty() {
        return;
    }
    out.size(debug.positions.len());
    let (mut pc, mut line) = (0, 0);
    for position in &debug.positions {
        out.varint(u64::from(position.pc.saturating_sub(pc)));
        out.zigzag(i64::from(position.line) - line);
        out.varint(position.column.into());
        pc = position.pc;
        line = i64::from(position.line);
    }
}
