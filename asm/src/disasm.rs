//! Disassembles bytecode: a listing with the offset of each instruction, its operands with the names and
//! constants that they mean, and its source line.

use crate::text::{quoted, visible};
use ilo_spec::decode::instruction_offsets;
use ilo_spec::encode::encode;
use ilo_spec::isa::Op;
use ilo_spec::operand::{FieldId, NumberId, Role, ShapeId, StringId};
use ilo_spec::program::{Function, Key, Need, Program};
use ilo_spec::pure::Pure;
use ilo_spec::types::Type;
use std::fmt::{self, Write};

/// Lists a program.
///
/// Invalid indices are shown as such, so that rejected bytecode can be listed too.
pub fn disassemble(program: &Program) -> String {
    let bytes = encode(program);
    let offsets = instruction_offsets(&bytes).unwrap_or_default();
    let mut out = String::new();
    // Writing to a text cannot fail.
    let _ = Listing { program, offsets: &offsets }.write(bytes.len(), &mut out);
    out
}

struct Listing<'p> {
    program: &'p Program,
    offsets: &'p [usize],
}

impl Listing<'_> {
    fn write(&self, bytes: usize, out: &mut String) -> fmt::Result {
        let program = self.program;
        let stripped = if program.debug.is_some() { "" } else { ", stripped" };
        writeln!(out, "; ilo bytecode, {bytes} bytes, {} instructions{stripped}", program.code.len())?;
        for (number, function) in program.functions.iter().enumerate() {
            writeln!(out)?;
            self.header(number, function, out)?;
            for pc in function.start..function.end {
                self.line(function, pc, out)?;
            }
        }
        Ok(())
    }

    fn header(&self, number: usize, function: &Function, out: &mut String) -> fmt::Result {
        write!(out, "; fn {}(", self.string(function.name))?;
        for (at, parameter) in function.parameters.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(out, "{comma}{}: {}", self.field(parameter.name), parameter.ty)?;
            match parameter.need {
                Need::Required => {}
                Need::Nullable => write!(out, "|nil")?,
                Need::Optional => write!(out, "?")?,
                Need::Default(constant) => write!(out, " = {}", self.string(constant))?,
            }
        }
        let registers = function.registers;
        writeln!(out, ") -> {}    number {number}, {registers} registers", function.output)
    }

    fn line(&self, function: &Function, pc: u32, out: &mut String) -> fmt::Result {
        let Some(op) = self.program.code.get(pc as usize) else { return Ok(()) };
        let offset = self.offsets.get(pc as usize).copied().unwrap_or_default();
        let mut text = format!("{offset:06x} {:>5}  {:<18}", pc - function.start, op.row().mnemonic);
        self.operands(op, pc - function.start, &mut text)?;
        let place = self.program.position(pc).filter(|place| place.pc == pc);
        match place {
            Some(place) => writeln!(out, "{text:<64} ; {}:{}", place.line, place.column),
            None => writeln!(out, "{}", text.trim_end()),
        }
    }

    fn operands(&self, op: &Op, pc: u32, out: &mut String) -> fmt::Result {
        let mut result = Ok(());
        let mut first = true;
        op.roles(|_, role| {
            let text = self.operand(role, pc);
            if !text.is_empty() {
                let comma = if first { "" } else { ", " };
                result = result.and_then(|()| write!(out, "{comma}{text}"));
                first = false;
            }
        });
        result
    }

    fn operand(&self, role: Role, pc: u32) -> String {
        let program = self.program;
        match role {
            Role::Read(r) | Role::Write(r) => format!("r{r}"),
            Role::Loop(r) => format!("loop r{r}"),
            Role::Window(r) => format!("r{r}.."),
            Role::Entries(n) => format!("{n} rollbacks"),
            Role::Count(n) => format!("{n} registers"),
            Role::Str(id) => visible(&quoted(self.string(StringId(id)))),
            Role::Field(id) => format!(".{}", self.field(FieldId(id))),
            Role::Number(id) => self.number(NumberId(id)),
            Role::Shape(id) | Role::Fields(id) => self.shape(ShapeId(id)),
            Role::Call(id) => match program.calls.get(usize::from(id)) {
                Some(call) => {
                    let tool = program.tools.get(usize::from(call.tool.0));
                    format!("{} {}", tool.map_or("?", |&name| self.string(name)), self.shape(call.shape))
                }
                None => format!("call {id}?"),
            },
            Role::Function(id) => match program.functions.get(usize::from(id)) {
                Some(function) => format!("fn {}", self.string(function.name)),
                None => format!("fn {id}?"),
            },
            Role::Pure(id) => match Pure::from_number(id) {
                Some(function) => function.row().name.to_owned(),
                None => format!("function {id}?"),
            },
            Role::Map(id) => self.map(id, |distance| format!("to {}", pc + 1 + u32::from(distance))),
            Role::Choice(id) => self.map(id, |number| self.number(NumberId(number))),
            Role::Forward(n) => format!("to {}", pc + 1 + u32::from(n)),
            Role::OnFail(0) => String::new(),
            Role::OnFail(n) => format!("on failure to {}", pc + 1 + u32::from(n)),
            Role::Back(n) => format!("to {}", i64::from(pc) + 1 - i64::from(n)),
            Role::Immediate(value) => value.to_string(),
            Role::Type(ty) => {
                Type::from_packed(ty).map_or_else(|| format!("type {ty}?"), |ty| ty.to_string())
            }
        }
    }

    fn number(&self, NumberId(id): NumberId) -> String {
        let number = self.program.numbers.get(usize::from(id));
        number.map_or_else(|| format!("number {id}?"), ToString::to_string)
    }

    /// The cases of a map, each with its key and the text that `target` returns for its target.
    fn map(&self, id: u32, target: impl Fn(u16) -> String) -> String {
        let Some(map) = self.program.maps.get(id as usize) else { return format!("map {id}?") };
        let mut parts: Vec<String> = Vec::new();
        for &(key, distance) in &map.cases {
            let key = match key {
                Key::Nil => "nil".to_owned(),
                Key::Bool(value) => value.to_string(),
                Key::Number(id) => self.number(id),
                Key::Text(id) => visible(&quoted(self.string(id))),
            };
            parts.push(format!("{key} {}", target(distance)));
        }
        parts.extend(map.default.map(|distance| format!("else {}", target(distance))));
        parts.join(", ")
    }

    fn shape(&self, id: ShapeId) -> String {
        let Some(fields) = self.program.shapes.get(usize::from(id.0)) else {
            return format!("shape {}?", id.0);
        };
        let names: Vec<&str> = fields.iter().map(|&field| self.field(field)).collect();
        format!("{{{}}}", names.join(", "))
    }

    fn string(&self, id: StringId) -> &str {
        self.program.strings.get(id).unwrap_or("?")
    }

    fn field(&self, id: FieldId) -> &str {
        self.string(StringId(u32::from(id.0)))
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::{Options, compile};

    /// Also characters that a terminal obeys or does not show.
    #[test]
    fn a_listed_text_reads_back() {
        let of = |quoted: &str| {
            let source = format!("; fn f() -> text\nRET LIT 0 {quoted}\n");
            compile(&source, &Options::default()).0.unwrap()
        };
        for c in (0..=0xa0).chain([0x2028, 0x202e, 0xfeff, 0x1f600, 0xe0001]).filter_map(char::from_u32) {
            let program = of(&ilo_spec::json::quoted(&format!("a{c}b")));
            let listing = super::disassemble(&program);
            let (from, to) = (listing.find('"').unwrap(), listing.rfind('"').unwrap());
            assert!(!listing.contains(|c| c != '\n' && crate::text::is_hidden(c)), "{listing:?}");
            assert_eq!(of(&listing[from..=to]), program, "{listing}");
        }
    }
}
