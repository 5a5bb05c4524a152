//! Programs written by hand, instruction by instruction.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses a part of it, and fails by a panic")]

use ilo_spec::isa::Op;
use ilo_spec::operand::{CallId, FieldId, ShapeId, StringId, ToolId};
use ilo_spec::program::{CallShape, Debug, Function, Parameter, Position, Program};
use ilo_spec::types::{Output, Type};

/// A program under construction.
pub(crate) struct Draft(pub(crate) Program);

impl Draft {
    /// A program with these field names, in order.
    pub(crate) fn new(fields: &[&str]) -> Draft {
        let mut program = Program { fields: fields.len().try_into().unwrap(), ..Program::default() };
        for field in fields {
            program.strings.push(field).unwrap();
        }
        Draft(program)
    }

    pub(crate) fn text(&mut self, text: &str) -> StringId {
        self.0.strings.push(text).unwrap()
    }

    pub(crate) fn field(&self, name: &str) -> FieldId {
        let at = self.0.strings.iter().position(|text| text == name).unwrap();
        FieldId(at.try_into().unwrap())
    }

    pub(crate) fn shape(&mut self, fields: &[&str]) -> ShapeId {
        let shape = fields.iter().map(|name| self.field(name)).collect();
        self.0.shapes.push(shape);
        ShapeId((self.0.shapes.len() - 1).try_into().unwrap())
    }

    /// A tool with its argument names; the tool's name too, for notes.
    pub(crate) fn call(&mut self, tool: &str, arguments: &[&str]) -> (CallId, StringId) {
        let shape = self.shape(arguments);
        let known = self.0.tools.iter().position(|&id| self.0.strings.get(id) == Some(tool));
        let at = known.unwrap_or_else(|| {
            let name = self.text(tool);
            self.0.tools.push(name);
            self.0.tools.len() - 1
        });
        self.0.calls.push(CallShape { tool: ToolId(at.try_into().unwrap()), shape });
        (CallId((self.0.calls.len() - 1).try_into().unwrap()), self.0.tools[at])
    }

    /// A function; its instructions are at lines 1, 2, 3, ….
    pub(crate) fn function(
        &mut self,
        name: &str,
        parameters: &[(&str, Type)],
        output: Output,
        code: &[Op],
    ) -> &mut Draft {
        let name = self.text(name);
        let parameters =
            parameters.iter().map(|&(name, ty)| Parameter::required(self.field(name), ty)).collect();
        let start = u32::try_from(self.0.code.len()).unwrap();
        self.0.code.extend_from_slice(code);
        let end = u32::try_from(self.0.code.len()).unwrap();
        self.0.functions.push(Function { name, parameters, output, registers: 16, start, end });
        let debug = self.0.debug.get_or_insert_with(Debug::default);
        debug.positions.extend((start..end).zip(1..).map(|(pc, line)| Position { pc, line, column: 1 }));
        self
    }
}
