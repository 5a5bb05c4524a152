//! Liveness analysis: which registers are still read after each safepoint, and which loops are open there.
//!
//! It is a backward dataflow analysis over verified code. It needs one pass more than the nesting depth of
//! loops, because only `next` jumps backward. A register is live if some path reads it before setting it, and
//! verification has shown that it is set.

use crate::register_set::{RegisterSet, WideSet};
use crate::value::at;
use alloc::vec::Vec;
use ilo_spec::isa::Op;
use ilo_spec::operand::Role;
use ilo_spec::program::{Function, Program};

/// The safepoints of a program: the instructions at which a run can stop or need memory.
#[derive(Debug, Default)]
pub(crate) struct Liveness {
    /// For each instruction, the number of its safepoint plus one, or 0.
    safepoints: Vec<u32>,
    sets: Vec<Safepoint>,
    loops: Vec<Loop>,
}

/// A safepoint: an instruction that is about to be executed, or an `invoke` that has not returned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Safepoint {
    /// The live registers.
    pub(crate) set: WideSet,
    /// The number of the innermost open loop plus one, or 0.
    innermost: u32,
}

/// A loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    /// The first of its registers.
    pub(crate) base: u8,
    /// Whether it collects.
    pub(crate) collects: bool,
    /// The instruction that begins it.
    pub(crate) pc: u32,
    /// The number of the enclosing loop plus one, or 0.
    outer: u32,
}

/// How a live register is used.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RegisterUse {
    Value,
    /// The list of a loop.
    List,
    /// The position of a loop, and the fuel of a pass.
    Index(Loop),
    /// What a loop has collected.
    Collected(Loop),
}

impl Liveness {
    /// Analyses a verified program.
    pub(crate) fn new(program: &Program) -> Liveness {
        let mut live = Liveness { safepoints: alloc::vec![0; program.code.len()], ..Liveness::default() };
        let mut sets = Vec::new();
        for function in &program.functions {
            let code = &program.code[at(function.start)..at(function.end)];
            solve(program, code, &mut sets);
            live.record(function, code, &sets);
        }
        live
    }

    /// The safepoint at an instruction, if it is one.
    pub(crate) fn safepoint(&self, pc: usize) -> Option<&Safepoint> {
        let safepoint = self.safepoints.get(pc)?.checked_sub(1)?;
        self.sets.get(at(safepoint))
    }

    /// How a live register is used at a safepoint.
    #[inline]
    pub(crate) fn use_of(&self, safepoint: &Safepoint, register: u8) -> RegisterUse {
        let mut next = safepoint.innermost;
        while let Some(open) = next.checked_sub(1).and_then(|number| self.loops.get(at(number))) {
            match register.wrapping_sub(open.base) {
                0 => return RegisterUse::List,
                1 => return RegisterUse::Index(*open),
                2 if open.collects => return RegisterUse::Collected(*open),
                _ => next = open.outer,
            }
        }
        RegisterUse::Value
    }

    /// Records the loops of a function and the live registers at its safepoints.
    fn record(&mut self, function: &Function, code: &[Op], sets: &[WideSet]) {
        let mut open: Vec<(usize, u32)> = Vec::new();
        for (pc, &op) in code.iter().enumerate() {
            while open.last().is_some_and(|&(next, _)| next < pc) {
                open.pop();
            }
            let innermost = open.last().map_or(0, |&(_, number)| number);
            if is_safepoint(op) {
                self.sets.push(Safepoint { set: live_across(op, sets[pc], pc, sets), innermost });
                // At most the number of instructions.
                self.safepoints[at(function.start) + pc] = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
            }
            if let Op::For { base, to, .. } | Op::Each { base, to, .. } = op {
                let collects = matches!(op, Op::For { .. });
                let begins = function.start + u32::try_from(pc).unwrap_or(u32::MAX);
                self.loops.push(Loop { base: base.0, collects, pc: begins, outer: innermost });
                let number = u32::try_from(self.loops.len()).unwrap_or(u32::MAX);
                open.push((pc + 1 + usize::from(to.0), number));
            }
        }
    }
}

/// Whether a run can stop or need memory at an instruction.
fn is_safepoint(op: Op) -> bool {
    matches!(
        op,
        Op::Add { .. }
            | Op::Concat { .. }
            | Op::ConcatTwo { .. }
            | Op::Record { .. }
            | Op::Merge { .. }
            | Op::List { .. }
            | Op::Append { .. }
            | Op::For { .. }
            | Op::Yield { .. }
            | Op::YieldRecord { .. }
            | Op::YieldTwo { .. }
            | Op::YieldThree { .. }
            | Op::YieldFour { .. }
            | Op::Tool { .. }
            | Op::ToolRollback { .. }
            | Op::Rollback { .. }
            | Op::Invoke { .. }
            | Op::Apply { .. }
            | Op::Note { .. }
            | Op::ReturnAdd { .. }
            | Op::ReturnAs { .. }
    )
}

/// The registers live at a safepoint: before the instruction, or for an `invoke`, while the callee runs.
fn live_across(op: Op, before: WideSet, pc: usize, sets: &[WideSet]) -> WideSet {
    let Op::Invoke { dst, fail, .. } = op else { return before };
    let mut set = sets[pc + 1];
    if fail.0 != 0 {
        set.join(&sets[pc + 1 + usize::from(fail.0)]);
    }
    set.remove(dst.0);
    set
}

/// The live-in set of each instruction of a function.
fn solve(program: &Program, code: &[Op], sets: &mut Vec<WideSet>) {
    sets.clear();
    sets.resize(code.len(), WideSet::default());
    loop {
        let mut changed = false;
        for (pc, &op) in code.iter().enumerate().rev() {
            let set = transfer(program, op, live_out(program, op, pc, sets));
            // A change carried backward over the loop shows at the first instruction of its body.
            changed |= sets[pc] != set;
            sets[pc] = set;
        }
        if !changed || !code.iter().any(|op| matches!(op, Op::Next { .. })) {
            return;
        }
    }
}

/// The live-out set of an instruction, over all its successors.
fn live_out(program: &Program, op: Op, pc: usize, sets: &[WideSet]) -> WideSet {
    let mut set = if op.ends() { WideSet::default() } else { sets[pc + 1] };
    let mut forward = |by: u16| set.join(&sets[pc + 1 + usize::from(by)]);
    match op {
        Op::Switch { map, .. } => {
            let map = &program.maps[at(map.0)];
            map.cases.iter().map(|&(_, by)| by).chain(map.default).for_each(forward);
        }
        // Only the backward edge sets the item.
        Op::Next { item, back, .. } => {
            let mut body = sets[pc + 1 - usize::from(back.0)];
            body.remove(item.0);
            set.join(&body);
        }
        Op::Tool { fail, .. }
        | Op::ToolRollback { fail, .. }
        | Op::Invoke { fail, .. }
        | Op::Apply { fail, .. }
            if fail.0 == 0 => {}
        _ => op.roles(|_, role| {
            if let Role::Forward(by) | Role::OnFail(by) = role {
                forward(by);
            }
        }),
    }
    set
}

/// The live-in set of an instruction, from its live-out set.
fn transfer(program: &Program, op: Op, mut set: WideSet) -> WideSet {
    let (mut first, mut length) = (0, 0);
    let mut reads = WideSet::default();
    let item = matches!(op, Op::Next { .. });
    op.roles(|_, role| match role {
        Role::Write(register) if !item => set.remove(register),
        Role::Read(register) => reads.add(register),
        Role::Window(register) => first = register,
        Role::Count(count) => length = count.into(),
        Role::Shape(id) => length = program.shapes[usize::from(id)].len(),
        Role::Call(id) => {
            length = program.shapes[usize::from(program.calls[usize::from(id)].shape.0)].len();
        }
        Role::Function(id) => length = program.functions[usize::from(id)].parameters.len(),
        Role::Loop(base) => {
            let registers = |count| (base..=255).take(count);
            match op {
                Op::For { .. } => registers(3).for_each(|register| set.remove(register)),
                Op::Each { .. } => registers(2).for_each(|register| set.remove(register)),
                Op::Next { .. } => registers(2).for_each(|register| reads.add(register)),
                // A yield writes to the third register, up to the length of the first.
                _ => [base, base.saturating_add(2)].into_iter().for_each(|register| reads.add(register)),
            }
        }
        _ => {}
    });
    (first..=255).take(length).for_each(|register| reads.add(register));
    set.join(&reads);
    set
}
