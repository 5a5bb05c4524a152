//! The fast check of an instruction's operands.
//!
//! It only decides whether all of them are right. If not, a second, slower check finds the error.

use crate::register_set::RegisterSet;
use crate::value::at;
use ilo_spec::isa::Visitor;
use ilo_spec::operand::Role;
use ilo_spec::program::{Function, Program};

/// No `next`, or no jump: no instruction has this number.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The state that changes with every instruction, and what the operands of the current one require.
pub(super) struct OperandCheck<'p, S> {
    program: &'p Program,
    caller: usize,
    registers: u16,
    /// The packed type of the function's value.
    output: u16,
    /// Registers that may be written.
    pub(super) free: S,
    /// Registers that instructions have written so far.
    pub(super) written: S,
    /// The registers set before the instruction, and after it.
    pub(super) before: S,
    pub(super) state: S,
    /// Whether execution can continue from the instruction before.
    pub(super) live: bool,
    /// The fuel so far of the innermost open loop, or of the function.
    pub(super) cost: u64,
    /// One past the highest field that was read.
    pub(super) fields: u16,
    /// All register numbers combined by OR, except those of windows and loops.
    register_bits: u8,
    /// Whether every operand is right, assuming that no register number is too high.
    right: bool,
    /// The first register of the window, and its length.
    pub(super) window: Option<u8>,
    pub(super) length: usize,
    /// The distance of the jump, or [`NOWHERE`].
    pub(super) jump: u32,
    /// Whether the instruction needs more checks than its operands.
    pub(super) structural: bool,
}

impl<'p, S: RegisterSet> OperandCheck<'p, S> {
    pub(super) fn new(program: &'p Program, function: &Function, caller: usize) -> OperandCheck<'p, S> {
        OperandCheck {
            program,
            caller,
            registers: function.registers,
            output: function.output.ok.packed(),
            free: S::default(),
            written: S::default(),
            before: S::default(),
            state: S::default(),
            live: true,
            cost: 0,
            fields: 0,
            register_bits: 0,
            right: true,
            window: None,
            length: 0,
            jump: NOWHERE,
            structural: false,
        }
    }

    /// Begins the next instruction.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        self.before = self.state;
        (self.register_bits, self.right, self.structural) = (0, true, false);
        (self.window, self.length, self.jump) = (None, 0, NOWHERE);
    }

    /// Whether no error was found in the operands.
    #[inline(always)]
    pub(super) fn is_right(&self) -> bool {
        let window = self.window.is_none_or(|first| self.before.has_window(first, self.length));
        self.right && S::can_have(self.register_bits) && window
    }
}

impl<S: RegisterSet> Visitor for OperandCheck<'_, S> {
    #[inline(always)]
    fn instruction(&mut self, cost: u8, ends: bool) {
        self.cost += u64::from(cost);
        self.live = !ends;
    }

    #[inline(always)]
    fn operand(&mut self, role: Role) {
        let p = self.program;
        self.right &= match role {
            Role::Read(register) => {
                self.register_bits |= register;
                self.before.has_low(register)
            }
            Role::Write(register) => {
                self.register_bits |= register;
                self.state = self.state.and_low(register);
                self.written = self.written.and_low(register);
                self.free.has_low(register)
            }
            Role::Forward(by) => {
                self.jump = by.into();
                true
            }
            Role::OnFail(by) => {
                self.jump = if by == 0 { NOWHERE } else { by.into() };
                true
            }
            Role::Number(id) => usize::from(id) < p.numbers.len(),
            Role::Field(id) => {
                self.fields = self.fields.max(id.saturating_add(1));
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
                self.structural = true;
                u16::from(base) + 3 <= self.registers
            }
            Role::Str(id) => at(id) < p.strings.len(),
            Role::Map(id) | Role::Choice(id) => {
                self.structural = true;
                at(id) < p.maps.len()
            }
            Role::Shape(id) => match p.shapes.get(usize::from(id)) {
                Some(shape) => {
                    self.length = shape.len();
                    true
                }
                None => false,
            },
            Role::Fields(id) => usize::from(id) < p.shapes.len(),
            Role::Call(id) => match p.calls.get(usize::from(id)) {
                Some(call) => {
                    self.length = p.shapes[usize::from(call.shape.0)].len();
                    true
                }
                None => false,
            },
            Role::Function(id) => {
                self.structural = true;
                match p.functions.get(usize::from(id)).filter(|_| usize::from(id) < self.caller) {
                    Some(callee) => {
                        self.length = callee.parameters.len();
                        true
                    }
                    None => false,
                }
            }
            Role::Pure(_) | Role::Entries(_) => {
                self.structural = true;
                true
            }
            Role::Type(ty) => ty == self.output,
            Role::Back(_) | Role::Immediate(_) => true,
        };
    }
}
