//! Lowers the syntax tree to a program.
//!
//! Callees are lowered before their callers. Slots that are read get registers in the order of their first
//! binding. Unreachable code is not emitted. An arm that cannot fall through is moved to the end of the
//! function, so that the code does not depend on how deeply its source was nested. Only a
//! limit of the format can be exceeded here; the check has reported everything else.

mod condition;
mod emit;
mod expr;
mod function;
mod slots;
mod tables;
mod tries;

use crate::ast::{FieldType, File, Function, Need};
use crate::check::{Checked, Facts};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::{Lines, Place, Span};
use crate::syntax::types::write_constant;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::limits;
use ilo_spec::operand::{FunctionId, StringId};
use ilo_spec::program::{self, Debug, Key, Position, Program};
use ilo_spec::record_input::{RecordField, RecordInput};
use tables::{Full, Tables};

/// Lowers a checked file to a program.
///
/// Positions are those in `source`; without it the program has none. The caller adds the printed syntax tree.
/// `None` if the program does not fit the format; then the reason is among the diagnostics.
pub fn lower(
    file: &File<'_>,
    checked: &Checked,
    source: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Option<Program> {
    let mut lowering = Lowering::new(file, &checked.order, source.is_some());
    for &index in &checked.order {
        let Some(function) = file.functions.get(index as usize) else { continue };
        let Some(facts) = checked.functions.get(index as usize) else { continue };
        if let Err(problem) = lowering.function(function, facts) {
            diagnostics.push(problem.diagnostic(function.name.span, function.name.text));
        }
    }
    if diagnostics.has_errors() {
        return None;
    }
    match lowering.finish(source) {
        Ok(program) => Some(program),
        Err(full) => {
            diagnostics.push(Problem::Full(full).diagnostic(Span::default(), ""));
            None
        }
    }
}

/// Why a function does not fit the format.
pub(crate) enum Problem {
    Full(Full),
    Registers(u16),
    TooLong(usize),
}

impl From<Full> for Problem {
    fn from(full: Full) -> Problem {
        Problem::Full(full)
    }
}

impl Problem {
    fn diagnostic(&self, span: Span, name: &str) -> Diagnostic {
        match *self {
            Problem::Full(Full { what, limit }) => Diagnostic::new(
                Code::TooManyEntries,
                span,
                format!("more than {limit} {what} in one program"),
            )
            .expected(format!("at most {limit} {what}"), "more")
            .help("split the file into several programs"),
            Problem::Registers(needed) => Diagnostic::new(
                Code::TooManyRegisters,
                span,
                format!("`{name}` needs {needed} slots and temporaries at once"),
            )
            .expected(format!("at most {}", limits::REGISTERS), needed.to_string())
            .help("move a part of it into a function of its own, or collect values in a record"),
            Problem::TooLong(length) => {
                Diagnostic::new(Code::FunctionTooLong, span, format!("`{name}` has {length} instructions"))
                    .expected(format!("at most {}", limits::FUNCTION_CODE), length.to_string())
                    .help("move a part of it into a function of its own")
            }
        }
    }
}

/// The program so far. Functions are added one at a time, each after all functions that it calls.
pub(crate) struct Lowering<'c> {
    file: &'c File<'c>,
    /// The number of each function of the file in the program.
    numbers: Vec<u16>,
    tables: Tables,
    program: Program,
    /// The source positions of instructions, if wanted: instruction of the program, offset in the source.
    positions: Option<Vec<(u32, u32)>>,
    /// Buffers that are reused for each function.
    registers: slots::Registers,
    code: emit::Code,
}

impl<'c> Lowering<'c> {
    fn new(file: &'c File<'c>, order: &[u32], with_positions: bool) -> Lowering<'c> {
        let mut numbers = vec![0; file.functions.len()];
        // A file may have more functions than a program can; then adding them fails.
        for (number, &index) in (0..=u16::MAX).zip(order) {
            if let Some(slot) = numbers.get_mut(index as usize) {
                *slot = number;
            }
        }
        Lowering {
            file,
            numbers,
            tables: Tables::new(),
            program: Program::default(),
            positions: with_positions.then(Vec::new),
            registers: slots::Registers::default(),
            code: emit::Code::default(),
        }
    }

    /// Adds the next function.
    pub(crate) fn function(&mut self, function: &Function<'_>, facts: &Facts) -> Result<(), Problem> {
        if self.program.functions.len() >= limits::FUNCTIONS {
            return Err(Problem::Full(Full { what: "functions", limit: limits::FUNCTIONS }));
        }
        let name = self.tables.text(function.name.text)?;
        let mut parameters = program::Parameters::default();
        for parameter in function.parameters {
            let field = self.tables.field(parameter.name.text)?;
            let need = match parameter.need {
                Need::Required => program::Need::Required,
                Need::Nullable => program::Need::Nullable,
                Need::Optional => program::Need::Optional,
                Need::Default(constant) => {
                    let mut text = String::new();
                    write_constant(constant, &mut text);
                    program::Need::Default(self.tables.text(&text)?)
                }
            };
            if !parameter.ty.fields.is_empty() {
                let fields = self.record(parameter.ty.fields)?;
                let function = u16::try_from(self.program.functions.len()).map(FunctionId);
                let place = u16::try_from(parameters.len());
                if let (Ok(function), Ok(place)) = (function, place) {
                    self.program.records.push(RecordInput { function, place, fields });
                }
            }
            parameters.push(program::Parameter { name: field, ty: parameter.ty.ty, need });
        }
        let Lowering { file, numbers, tables, registers, code, .. } = self;
        let (aliases, tries) = (expr::Aliases::new(), smallvec::SmallVec::new());
        let values = expr::Values { file, numbers, tables, facts, registers, code, aliases, tries };
        function::lower(function, values)?;
        let code = &self.code;
        if !code.fits() {
            return Err(Problem::Registers(code.registers()));
        }
        if code.too_long || code.here() > limits::FUNCTION_CODE {
            return Err(Problem::TooLong(code.here()));
        }
        self.append(name, parameters, function.output.output())
    }

    /// The fields in the type of a record. The reader limits the nesting.
    fn record(&mut self, fields: &[FieldType<'_>]) -> Result<Vec<RecordField>, Full> {
        let field = |field: &FieldType<'_>| {
            let (name, ty) = (self.tables.text(field.name.text)?, field.ty.ty);
            let fields = self.record(field.ty.fields)?;
            Ok(RecordField { name, ty, optional: field.optional, nullable: field.nullable, fields })
        };
        fields.iter().map(field).collect()
    }

    /// Adds the code of a function.
    fn append(
        &mut self,
        name: StringId,
        parameters: program::Parameters,
        output: ilo_spec::types::Output,
    ) -> Result<(), Problem> {
        let full = Full { what: "instructions", limit: u32::MAX as usize };
        let code = &mut self.code;
        let start = u32::try_from(self.program.code.len()).map_err(|_| full)?;
        let end = u32::try_from(self.program.code.len() + code.here()).map_err(|_| full)?;
        let first_map = u32::try_from(self.program.maps.len()).map_err(|_| full)?;
        let registers = code.registers();
        if let Some(positions) = &mut self.positions {
            positions.extend(code.positions.iter().map(|&(pc, offset)| (start + pc, offset)));
        }
        if !code.maps.is_empty() {
            self.program.maps.append(&mut code.maps);
            for op in &mut code.ops {
                match op {
                    Op::Switch { map, .. } => map.0 += first_map,
                    Op::Select { map, .. } => map.0 += first_map,
                    _ => {}
                }
            }
        }
        self.program.code.extend_from_slice(&code.ops);
        let function = program::Function { name, parameters, output, registers, start, end };
        self.program.functions.push(function);
        Ok(())
    }

    /// The program, if its tables fit the format.
    pub(crate) fn finish(mut self, source: Option<&str>) -> Result<Program, Full> {
        let (strings, fields, final_numbers) = self.tables.finish()?;
        let last = |id: &mut StringId| *id = final_numbers[id.0 as usize];
        let program = &mut self.program;
        for op in &mut program.code {
            match op {
                Op::Text { text, .. } | Op::ReturnText { text } => last(text),
                Op::Note { tool, .. } => last(tool),
                _ => {}
            }
        }
        for map in &mut program.maps {
            for (key, _) in &mut map.cases {
                if let Key::Text(text) = key {
                    last(text);
                }
            }
        }
        for function in &mut program.functions {
            last(&mut function.name);
            for parameter in function.parameters.iter_mut() {
                if let program::Need::Default(constant) = &mut parameter.need {
                    last(constant);
                }
            }
        }
        program.records.iter_mut().for_each(|record| record.for_each_name(&last));
        program.strings = strings;
        program.fields = fields;
        program.numbers = self.tables.numbers.into_values().collect();
        program.shapes = self.tables.shapes.into_keys().map(Vec::from).collect();
        program.tools = self.tables.tools.into_keys().collect();
        program.tools.iter_mut().for_each(last);
        program.calls = self.tables.calls.into_keys().collect();
        if let (Some(source), Some(offsets)) = (source, &self.positions) {
            let positions = positions(offsets, source);
            program.debug = Some(Debug { positions, source: String::new() });
        }
        Ok(self.program)
    }
}

/// Converts offsets to lines and columns. In the order of offsets this costs no more than the source.
fn positions(offsets: &[(u32, u32)], source: &str) -> Vec<Position> {
    let lines = Lines::new(source);
    let mut by_offset = offsets.to_vec();
    by_offset.sort_unstable_by_key(|&(pc, offset)| (offset, pc));
    let position = |(pc, offset)| {
        let Place { line, column } = lines.place(offset);
        Position { pc, line, column }
    };
    let mut places: Vec<Position> = by_offset.into_iter().map(position).collect();
    places.sort_unstable_by_key(|place| place.pc);
    places
}
