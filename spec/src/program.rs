//! A program in memory: tables of names and constants, and functions made of instructions.
//!
//! Assemblers create it, the packed form stores it and the verifier reads it. It guarantees nothing: only a
//! verifier checks the indexes. A function only calls functions with lower numbers, so calls are never
//! circular.

use crate::isa::Op;
use crate::operand::{FieldId, NumberId, ShapeId, StringId, ToolId};
use crate::record_input::RecordInput;
use crate::types::{Output, Type};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

/// A number constant: an exact integer or a finite double.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An exact 64-bit integer.
    Int(i64),
    /// A finite double.
    Double(f64),
}

impl PartialEq for Number {
    /// Compares kind and bits: constants that programs could tell apart are different (`1` and `1.0`, `0.0`
    /// and `-0.0`).
    fn eq(&self, other: &Number) -> bool {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Double(a), Number::Double(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

/// All strings of a program in one buffer: field names first, then all other names and texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strings {
    bytes: String,
    ends: Vec<u32>,
}

impl Strings {
    /// Adds a string; `None` if the buffer or the table is full.
    #[inline]
    pub fn push(&mut self, text: &str) -> Option<StringId> {
        let id = u32::try_from(self.ends.len()).ok()?;
        let end = u32::try_from(self.bytes.len().checked_add(text.len())?).ok()?;
        self.bytes.push_str(text);
        self.ends.push(end);
        Some(StringId(id))
    }

    /// Takes a buffer and the end of each string in it; `None` unless the ends ascend to the end of the
    /// buffer and are on character boundaries.
    pub fn from_parts(bytes: String, ends: Vec<u32>) -> Option<Strings> {
        let mut last = 0;
        for &end in &ends {
            if end < last || !bytes.is_char_boundary(usize::try_from(end).ok()?) {
                return None;
            }
            last = end;
        }
        (usize::try_from(last).ok()? == bytes.len()).then_some(Strings { bytes, ends })
    }

    /// The string with this number, if there is one.
    #[inline]
    pub fn get(&self, id: StringId) -> Option<&str> {
        let (start, end) = self.range(id)?;
        self.bytes.get(start..end)
    }

    /// The range of the string in [`Strings::bytes`].
    #[inline]
    pub fn range(&self, id: StringId) -> Option<(usize, usize)> {
        let index = usize::try_from(id.0).ok()?;
        let end = usize::try_from(*self.ends.get(index)?).ok()?;
        let start = match index.checked_sub(1) {
            None => 0,
            Some(before) => usize::try_from(*self.ends.get(before)?).ok()?,
        };
        Some((start, end))
    }

    /// The whole buffer.
    #[inline]
    pub fn bytes(&self) -> &str {
        &self.bytes
    }

    /// The number of strings.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All strings in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let end = end as usize;
            let text = self.bytes.get(start..end).unwrap_or_default();
            start = end;
            text
        })
    }
}

/// A tool and the names of its arguments, in the order of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallShape {
    /// The tool.
    pub tool: ToolId,
    /// The argument names.
    pub shape: ShapeId,
}

/// The key of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// Nil.
    Nil,
    /// A bool.
    Bool(bool),
    /// A number constant; 1 and 1.0 are the same key.
    Number(NumberId),
    /// A constant text.
    Text(StringId),
}

/// The cases of a switch. A target is a distance forward from the instruction after the switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map {
    /// Distinct keys with their targets.
    pub cases: Vec<(Key, u16)>,
    /// The target for any other value; without it, a fault.
    pub default: Option<u16>,
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: FieldId,
    /// Its type, which is checked when a host starts the function.
    pub ty: Type,
    /// What it takes in place of a value of its type.
    pub need: Need,
}

impl Parameter {
    /// A parameter that takes only values of its type.
    #[inline]
    pub const fn required(name: FieldId, ty: Type) -> Parameter {
        Parameter { name, ty, need: Need::Required }
    }
}

/// What a parameter takes in place of a value of its type. The code of the function replaces nil by the
/// default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Need {
    /// Nothing.
    #[default]
    Required,
    /// Nil.
    Nullable,
    /// Nil, and it may be left out, which means nil.
    Optional,
    /// The same, and both mean the default: a constant, as JSON.
    Default(StringId),
}

impl Need {
    /// Whether the parameter may be left out.
    #[inline]
    pub const fn may_be_absent(self) -> bool {
        matches!(self, Need::Optional | Need::Default(_))
    }

    /// Whether the parameter takes nil besides values of its type.
    #[inline]
    pub const fn takes_nil(self) -> bool {
        !matches!(self, Need::Required)
    }
}

/// The parameters of a function; a few are stored inline, so that most functions need no allocation.
#[derive(Clone, Debug)]
pub enum Parameters {
    /// The number of parameters, and the parameters.
    Few(u8, [Parameter; Parameters::FEW]),
    /// More than fit inline.
    Many(Vec<Parameter>),
}

impl Parameters {
    /// The number of parameters stored inline.
    pub const FEW: usize = 5;

    /// Adds a parameter.
    #[inline]
    pub fn push(&mut self, parameter: Parameter) {
        match self {
            Parameters::Few(count, few) => match few.get_mut(usize::from(*count)) {
                Some(place) => {
                    *place = parameter;
                    *count += 1;
                }
                None => {
                    let mut many = few.to_vec();
                    many.push(parameter);
                    *self = Parameters::Many(many);
                }
            },
            Parameters::Many(many) => many.push(parameter),
        }
    }
}

impl Default for Parameters {
    #[inline]
    fn default() -> Parameters {
        let none = Parameter::required(FieldId(0), Type::ANY);
        Parameters::Few(0, [none; Parameters::FEW])
    }
}

impl Deref for Parameters {
    type Target = [Parameter];

    #[inline]
    fn deref(&self) -> &[Parameter] {
        match self {
            Parameters::Few(count, few) => few.get(..usize::from(*count)).unwrap_or_default(),
            Parameters::Many(many) => many,
        }
    }
}

impl DerefMut for Parameters {
    fn deref_mut(&mut self) -> &mut [Parameter] {
        match self {
            Parameters::Few(count, few) => few.get_mut(..usize::from(*count)).unwrap_or_default(),
            Parameters::Many(many) => many,
        }
    }
}

impl PartialEq for Parameters {
    fn eq(&self, other: &Parameters) -> bool {
        **self == **other
    }
}

impl FromIterator<Parameter> for Parameters {
    fn from_iter<I: IntoIterator<Item = Parameter>>(parameters: I) -> Parameters {
        let mut all = Parameters::default();
        parameters.into_iter().for_each(|parameter| all.push(parameter));
        all
    }
}

impl<'p> IntoIterator for &'p Parameters {
    type Item = &'p Parameter;
    type IntoIter = core::slice::Iter<'p, Parameter>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A function: its code is `code[start..end]` of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name that hosts and outcomes use.
    pub name: StringId,
    /// The parameters, which fill the first registers in order.
    pub parameters: Parameters,
    /// The type of its result.
    pub output: Output,
    /// Registers in its frame, at most [`crate::limits::REGISTERS`].
    pub registers: u16,
    /// The index of its first instruction in the program's code.
    pub start: u32,
    /// One past its last instruction.
    pub end: u32,
}

/// A source position, for faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The instruction, counted over the whole program.
    pub pc: u32,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// Debug information, which stripping removes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debug {
    /// The positions of instructions, ordered by `pc`. An instruction has the position of the last entry at
    /// or before it.
    pub positions: Vec<Position>,
    /// The syntax tree as canonical integer-ID text, from which any notation can be printed.
    pub source: String,
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Names and texts; the first [`Program::fields`] of them are the field table.
    pub strings: Strings,
    /// The number of strings that are field names.
    pub fields: u16,
    /// Number constants.
    pub numbers: Vec<Number>,
    /// Ordered lists of distinct fields.
    pub shapes: Vec<Vec<FieldId>>,
    /// The names of the tools that the program may call.
    pub tools: Vec<StringId>,
    /// Tools with argument shapes.
    pub calls: Vec<CallShape>,
    /// The cases of the switches in code order; each belongs to one switch.
    pub maps: Vec<Map>,
    /// The functions; each calls only functions with lower numbers.
    pub functions: Vec<Function>,
    /// The parameters whose types list fields, in the order of the functions and of their parameters.
    pub records: Vec<RecordInput>,
    /// The instructions of all functions, one after the other.
    pub code: Vec<Op>,
    /// Debug information, unless stripped.
    pub debug: Option<Debug>,
}

impl Program {
    /// The source position of an instruction, if the program was not stripped.
    #[inline]
    pub fn position(&self, pc: u32) -> Option<Position> {
        let positions = &self.debug.as_ref()?.positions;
        let after = positions.partition_point(|p| p.pc <= pc);
        positions.get(after.checked_sub(1)?).copied()
    }
}
