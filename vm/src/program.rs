//! A verified program with the tables that running it needs.
//!
//! Every public constructor of [`Program`] verifies, so the interpreter relies on what the verifier has
//! shown.

use crate::facts::{FEW_CASES, Facts};
use crate::field_matrix::push_row;
use crate::liveness::Liveness;
use crate::number;
use crate::value::{Value, at};
use crate::verify::{self, VerifyError};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use ilo_spec::error::{Code, DecodeError};
use ilo_spec::isa::{NumberByte, Op};
use ilo_spec::operand::{CallId, FunctionId, MapId, NumberId, ShapeId, StringId};
use ilo_spec::program::{Function, Key, Map, Number, Program as Spec};
use ilo_spec::types::{Output, Type};
use once_cell::race::OnceBox;
use xxhash_rust::xxh3::xxh3_64;

/// A verified program. Cloning is cheap, and clones can be sent to other threads.
#[derive(Clone, Debug)]
pub struct Program(pub(crate) Arc<ProgramData>);

/// A number constant. Programs write `2` even if the other operand is a double, so the nearest double is
/// precomputed.
#[derive(Debug)]
pub(crate) struct Constant {
    pub(crate) value: Value,
    pub(crate) double: f64,
    /// Whether the double equals the number, so that comparing with it is exact.
    pub(crate) exact: bool,
}

impl Constant {
    #[inline]
    fn new(number: Number) -> Constant {
        let (double, exact) = match number {
            Number::Int(int) => {
                let double = number::nearest(int);
                (double, number::compare_exactly(int, double).is_eq())
            }
            Number::Double(double) => (double, true),
        };
        Constant { value: Value::number(number), double, exact }
    }
}

/// A text key of a map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextCase {
    /// The payload bits of its value.
    pub(crate) key: u64,
    /// The target of the case.
    pub(crate) to: u16,
    /// The number that the target selects, if it is a map of choices.
    pub(crate) number: Value,
}

/// A tool call as an instruction makes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallFact {
    /// The range of its name in the program's strings.
    name: (u32, u32),
    /// The number of arguments.
    pub(crate) arguments: u32,
    /// The index of the tool in the program's list.
    pub(crate) tool: u32,
}

/// The program and its tables.
#[derive(Debug)]
pub(crate) struct ProgramData {
    pub(crate) spec: Spec,
    /// Number constants as values.
    pub(crate) numbers: Vec<Constant>,
    /// Strings as values.
    pub(crate) texts: Vec<Value>,
    /// The field matrix of the program's shapes.
    pub(crate) matrix: Vec<u8>,
    /// Bytes in a row of the matrix.
    pub(crate) stride: usize,
    /// The length of the longest string.
    pub(crate) longest: usize,
    pub(crate) facts: Facts,
    /// The text keys of all maps with few cases, map after map.
    text_cases: Vec<TextCase>,
    /// The range of each map in that list.
    text_case_ranges: Vec<(u32, u32)>,
    pub(crate) calls: Vec<CallFact>,
    shape_fields: Vec<u32>,
    shape_ends: Vec<u32>,
    lazy: OnceBox<Lazy>,
}

/// Tables that are computed when a run of the program is first suspended or collected.
#[derive(Debug)]
pub(crate) struct Lazy {
    pub(crate) live: Liveness,
    /// A hash of the stripped program in packed form.
    pub(crate) id: u64,
}

impl ProgramData {
    #[inline]
    fn new(spec: Spec) -> Result<ProgramData, VerifyError> {
        let facts = verify::verify(&spec)?;
        let mut texts = Vec::with_capacity(spec.strings.len());
        let (mut start, mut longest) = (0_u32, 0);
        for text in spec.strings.iter() {
            // Offsets into the string buffer are 32 bits wide.
            let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
            texts.push(Value::text(start, len));
            start = start.saturating_add(len);
            longest = text.len().max(longest);
        }
        let mut inner = ProgramData {
            numbers: spec.numbers.iter().copied().map(Constant::new).collect(),
            texts,
            matrix: Vec::new(),
            stride: facts.stride,
            longest,
            facts,
            text_cases: Vec::new(),
            text_case_ranges: Vec::with_capacity(spec.maps.len()),
            calls: Vec::with_capacity(spec.calls.len()),
            shape_fields: Vec::new(),
            shape_ends: Vec::with_capacity(spec.shapes.len()),
            lazy: OnceBox::new(),
            spec,
        };
        for map in &inner.spec.maps {
            let start = inner.text_cases.len();
            for &(key, to) in &map.cases {
                if let Key::Text(id) = key
                    && map.cases.len() <= FEW_CASES
                {
                    let key = inner.texts[at(id.0)].payload.to_bits();
                    let number = inner.numbers.get(usize::from(to)).map_or(Value::NIL, |number| number.value);
                    inner.text_cases.push(TextCase { key, to, number });
                }
            }
            let short = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            inner.text_case_ranges.push((short(start), short(inner.text_cases.len())));
        }
        for call in &inner.spec.calls {
            let name = inner.texts[at(inner.spec.tools[usize::from(call.tool.0)].0)];
            // A shape has at most 65,535 fields.
            let arguments =
                u32::try_from(inner.spec.shapes[usize::from(call.shape.0)].len()).unwrap_or(u32::MAX);
            let name = (name.low(), name.low() + name.high());
            inner.calls.push(CallFact { name, arguments, tool: call.tool.0.into() });
        }
        for shape in &inner.spec.shapes {
            let from = inner.shape_fields.len();
            inner.shape_fields.extend(shape.iter().map(|field| u32::from(field.0)));
            inner.shape_ends.push(u32::try_from(inner.shape_fields.len()).unwrap_or(u32::MAX));
            push_row(&mut inner.matrix, inner.stride, &inner.shape_fields[from..]);
        }
        Ok(inner)
    }

    pub(crate) fn lazy(&self) -> &Lazy {
        self.lazy.get_or_init(|| {
            let bare = Spec { debug: None, ..self.spec.clone() };
            let id = xxh3_64(&ilo_spec::encode::encode(&bare));
            Box::new(Lazy { live: Liveness::new(&self.spec), id })
        })
    }

    #[inline]
    pub(crate) fn shape_count(&self) -> u32 {
        // The verifier refuses more than the format allows.
        u32::try_from(self.shape_ends.len()).unwrap_or(u32::MAX)
    }

    #[inline]
    pub(crate) fn string_count(&self) -> u32 {
        u32::try_from(self.texts.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn shape_fields(&self, shape: u32) -> &[u32] {
        let start = shape.checked_sub(1).map_or(0, |before| self.shape_ends[at(before)]);
        &self.shape_fields[at(start)..at(self.shape_ends[at(shape)])]
    }

    #[inline(always)]
    pub(crate) fn shape_len(&self, shape: ShapeId) -> usize {
        self.spec.shapes[usize::from(shape.0)].len()
    }

    #[inline]
    pub(crate) fn string(&self, id: u32) -> &str {
        self.spec.strings.get(StringId(id)).unwrap_or_default()
    }

    /// The number of the string that a value refers to; the value must be a text of the program.
    pub(crate) fn string_id(&self, text: Value) -> u32 {
        let first = self.texts.partition_point(|known| known.low() < text.low());
        // An empty string has the same offset as the next one.
        let same = |known: &Value| known.payload.to_bits() == text.payload.to_bits();
        let after = self.texts[first..].iter().position(same).unwrap_or(0);
        u32::try_from(first + after).unwrap_or(u32::MAX)
    }

    /// The string with that number, if there is one.
    #[inline]
    pub(crate) fn own_string(&self, id: u32) -> Option<&str> {
        self.spec.strings.get(StringId(id))
    }

    pub(crate) fn find_string(&self, text: &str) -> Option<u32> {
        let names = &self.facts.strings;
        names.find(names.hash_text(text), |id| self.string(id) == text)
    }

    /// The facts about a call.
    #[inline(always)]
    pub(crate) fn call(&self, id: CallId) -> &CallFact {
        &self.calls[usize::from(id.0)]
    }

    /// The entries of a `tool.rollback`, and the total number of their arguments.
    pub(crate) fn section(&self, pc: usize) -> (u8, u32) {
        let Some(call) = self.spec.code.get(pc).and_then(Op::tool_call) else { return (0, 0) };
        let sections = &self.facts.sections;
        let found = sections.binary_search_by(|&(at, _)| (at as usize).cmp(&pc));
        (call.entries.0, found.ok().and_then(|index| sections.get(index)).map_or(0, |&(_, count)| count))
    }

    /// The name of the tool of a call, as a string.
    pub(crate) fn tool_string(&self, id: CallId) -> StringId {
        self.spec.tools[at(self.call(id).tool)]
    }

    /// The name of the tool of a call.
    #[inline(always)]
    pub(crate) fn tool_name(&self, id: CallId) -> &str {
        let (start, end) = self.call(id).name;
        self.spec.strings.bytes().get(at(start)..at(end)).unwrap_or_default()
    }

    /// Bytes of all strings.
    #[inline]
    pub(crate) fn text_len(&self) -> usize {
        self.spec.strings.bytes().len()
    }

    #[inline]
    pub(crate) fn text_at(&self, start: usize, len: usize) -> &str {
        self.spec.strings.bytes().get(start..start + len).unwrap_or_default()
    }

    #[inline(always)]
    pub(crate) fn number(&self, id: NumberId) -> &Constant {
        &self.numbers[usize::from(id.0)]
    }

    #[inline(always)]
    pub(crate) fn small_number(&self, id: NumberByte) -> &Constant {
        &self.numbers[usize::from(id.0)]
    }

    #[inline]
    pub(crate) fn function(&self, id: FunctionId) -> Option<&Function> {
        self.spec.functions.get(usize::from(id.0))
    }

    /// The function that contains an instruction.
    pub(crate) fn function_at(&self, pc: u32) -> Option<&Function> {
        let after = self.spec.functions.partition_point(|function| function.start <= pc);
        self.spec.functions.get(after.checked_sub(1)?)
    }

    /// The text keys of a map with few cases.
    #[inline(always)]
    pub(crate) fn text_cases(&self, map: MapId) -> &[TextCase] {
        let (start, end) = self.text_case_ranges[at(map.0)];
        &self.text_cases[at(start)..at(end)]
    }

    /// The map with that number.
    pub(crate) fn map(&self, id: u32) -> Option<&Map> {
        self.spec.maps.get(at(id))
    }
}

impl Program {
    /// Decodes and verifies a program; linear in the size.
    ///
    /// # Errors
    /// The first error found; always the same one for the same bytes.
    pub fn load(bytes: &[u8]) -> Result<Program, LoadError> {
        let spec = ilo_spec::decode::decode(bytes).map_err(LoadError::Decode)?;
        Program::new(spec).map_err(LoadError::Verify)
    }

    /// Verifies a program in memory.
    ///
    /// # Errors
    /// The first rule that it breaks.
    #[inline]
    pub fn new(program: Spec) -> Result<Program, VerifyError> {
        ProgramData::new(program).map(|inner| Program(Arc::new(inner)))
    }

    #[inline(always)]
    pub(crate) fn inner(&self) -> &ProgramData {
        &self.0
    }

    /// The program in packed form, as [`Program::load`] accepts it: hosts store it with the snapshots of its
    /// runs.
    pub fn to_bytes(&self) -> Vec<u8> {
        ilo_spec::encode::encode(&self.0.spec)
    }

    /// The program that was verified.
    #[inline]
    pub fn spec(&self) -> &Spec {
        &self.0.spec
    }

    /// The function with that name.
    #[inline]
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        let id = self.0.find_string(name)?;
        let position = self.0.spec.functions.iter().position(|function| function.name.0 == id)?;
        u16::try_from(position).ok().map(FunctionId)
    }

    /// The only function that no other function calls.
    ///
    /// # Errors
    /// All such functions, if there is not exactly one.
    pub fn entry(&self) -> Result<FunctionId, Vec<FunctionId>> {
        let called = &self.0.facts.called;
        let free: Vec<FunctionId> = called
            .iter()
            .enumerate()
            .filter(|(_, called)| !**called)
            .filter_map(|(id, _)| u16::try_from(id).ok().map(FunctionId))
            .collect();
        match *free {
            [only] => Ok(only),
            _ => Err(free),
        }
    }

    /// The name of a function; empty if there is no such function.
    #[inline]
    pub fn function_name(&self, function: FunctionId) -> &str {
        self.0.function(function).map_or("", |function| self.0.string(function.name.0))
    }

    /// The names and types of a function's parameters, in order.
    pub fn parameters(&self, function: FunctionId) -> impl Iterator<Item = (&str, Type)> {
        let parameters = self.0.function(function).map_or(&[][..], |function| &function.parameters);
        parameters.iter().map(|parameter| (self.0.string(parameter.name.0.into()), parameter.ty))
    }

    /// The result type of a function; any value if there is no such function.
    pub fn output(&self, function: FunctionId) -> Output {
        self.0.function(function).map_or(Output::plain(Type::ANY), |function| function.output)
    }

    /// The tools that the program may call, in the order of [`Call::tool_index`](crate::Call::tool_index).
    #[inline]
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.0.spec.tools.iter().map(|tool| self.0.string(tool.0))
    }

    /// The names of a function's parameters in one line, for messages.
    pub(crate) fn parameter_names(&self, function: FunctionId) -> String {
        let mut names = String::new();
        for (name, _) in self.parameters(function) {
            if !names.is_empty() {
                names.push_str(", ");
            }
            names.push_str(name);
        }
        names
    }
}

/// Why bytes are not a valid program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// They do not follow the format.
    Decode(DecodeError),
    /// They break a verification rule.
    Verify(VerifyError),
}

impl LoadError {
    /// The stable code.
    pub fn code(&self) -> Code {
        match self {
            LoadError::Decode(_) => Code::Malformed,
            LoadError::Verify(_) => Code::Unverified,
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Decode(error) => error.fmt(f),
            LoadError::Verify(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for LoadError {}
