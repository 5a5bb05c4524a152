//! What one instruction's operands ask for, gathered in one look at each.
//!
//! It only says whether all of them are right. Which is wrong, and how, is found by a second, slower look.

use crate::set::Set;
use crate::value::at;
use ilo_spec::isa::Visitor;
use ilo_spec::operand::Role;
use ilo_spec::program::Program;

/// The operands of an instruction, beside what holds before it.
pub(super) struct Uses<'p, S> {
    pub(super) program: &'p Program,
    /// The function that it belongs to, and its registers.
    pub(super) caller: usize,
    pub(super) registers: u16,
    /// Registers that are set.
    pub(super) state: S,
    /// Registers that may be written.
    pub(super) free: S,
    /// Whether every operand looked at is right.
    pub(super) right: bool,
    /// The first register of the window, and how many it has.
    pub(super) window: Option<u8>,
    pub(super) length: usize,
    /// The register that is written.
    pub(super) write: S,
    pub(super) jump: Option<u16>,
    /// One past the field that is read, or 0.
    pub(super) field: u16,
    /// Whether there is more to it than its operands.
    pub(super) apart: bool,
}

impl<S: Set> Visitor for Uses<'_, S> {
    #[inline(always)]
    fn operand(&mut self, role: Role) {
        let p = self.program;
        self.right &= match role {
            Role::Read(register) => self.state.has(register),
            Role::Write(register) => {
                self.write.add(register);
                self.free.has(register)
            }
            Role::Forward(by) => {
                self.jump = Some(by);
                true
            }
            Role::OnFail(by) => {
                self.jump = Some(by).filter(|&by| by != 0);
                true
            }
            Role::Number(id) => usize::from(id) < p.numbers.len(),
            Role::Field(id) => {
                self.field = id.saturating_add(1);
                id < p.fields
            }
            Role::Window(first) => {
                self.window = Some(first);
                true
            }
            Role::Count(count) => {
                self.length = count.into();
                true
            }
            Role::Loop(base) => {
                self.apart = true;
                u16::from(base) + 3 <= self.registers
            }
            Role::Str(id) => at(id) < p.strings.len(),
            Role::Map(id) => {
                self.apart = true;
                at(id) < p.maps.len()
            }
            Role::Shape(id) => match p.shapes.get(usize::from(id)) {
                Some(shape) => {
                    self.length = shape.len();
                    true
                }
                None => false,
            },
            Role::Call(id) => match p.calls.get(usize::from(id)) {
                Some(call) => {
                    self.length = p.shapes[usize::from(call.shape.0)].len();
                    true
                }
                None => false,
            },
            Role::Function(id) => {
                self.apart = true;
                match p.functions.get(usize::from(id)).filter(|_| usize::from(id) < self.caller) {
                    Some(callee) => {
                        self.length = callee.parameters.len();
                        true
                    }
                    None => false,
                }
            }
            Role::Back(_) | Role::Immediate(_) => true,
        };
    }
}
