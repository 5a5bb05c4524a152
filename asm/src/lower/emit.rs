//! Emits the code of one function: instructions, forward jumps, registers, source positions.
//!
//! All jumps go forward, except the one that closes a loop. A [`Label`] collects jumps; binding it fills in
//! their targets. The registers above the slots are a stack: an expression uses registers above those in use.

use super::tables::Numbers;
use ilo_spec::isa::{NumberByte, Op, Small};
use ilo_spec::limits;
use ilo_spec::operand::{Back, Entries, In, LoopBase, NumberId, OnFail, Out, To};
use ilo_spec::program::{Map, Number};
use ilo_spec::pure::Pure;
use smallvec::SmallVec;

/// A register. It is wider than in the format, so that a function that needs too many is noticed at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reg(pub(super) u16);

impl Reg {
    /// The register of an instruction. A function that needs a register beyond the last one is rejected, so
    /// its value is then irrelevant.
    pub(super) fn byte(self) -> u8 {
        u8::try_from(self.0).unwrap_or(u8::MAX)
    }

    pub(super) fn read(self) -> In {
        In(self.byte())
    }

    pub(super) fn write(self) -> Out {
        Out(self.byte())
    }
}

/// The pending jumps to a position that is not known yet.
#[derive(Debug, Default)]
pub(super) struct Label {
    jumps: SmallVec<[Jump; 2]>,
}

impl Label {
    /// Adds the jumps to another label.
    pub(super) fn absorb(&mut self, other: Label) {
        self.jumps.extend(other.jumps);
    }

    /// Whether nothing jumps there.
    pub(super) fn is_empty(&self) -> bool {
        self.jumps.is_empty()
    }
}

/// A jump without its target.
#[derive(Clone, Copy, Debug)]
enum Jump {
    /// The target of the instruction.
    Op(usize),
    /// A case of a switch, or its default.
    Case(Switch, Option<usize>),
}

/// A switch: its instruction and its map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switch {
    at: usize,
    map: usize,
}

/// The code of a function. It is reused for the next function, so that its lists are allocated once.
#[derive(Debug, Default)]
pub(super) struct Code {
    /// The instructions so far.
    pub(super) ops: Vec<Op>,
    /// The source positions of instructions that can fault: instruction, offset in the source.
    pub(super) positions: Vec<(u32, u32)>,
    /// The maps of the switches so far.
    pub(super) maps: Vec<Map>,
    /// The first free register.
    top: u16,
    /// The most registers in use at one time.
    most: u16,
    /// The last instruction to which a label was bound: pairs of instructions across it are not fused.
    bound: usize,
    /// The last call of a tool, if only moves of its answer follow it.
    sent: Option<usize>,
    /// Whether a jump was wider than the format allows.
    pub(super) too_long: bool,
}

impl Code {
    /// Begins a new function whose slots fill the first registers.
    pub(super) fn begin(&mut self, slots: u16) {
        self.ops.clear();
        self.positions.clear();
        self.maps.clear();
        (self.top, self.most, self.bound, self.too_long) = (slots, slots, 0, false);
        self.sent = None;
    }

    /// The number of the next instruction.
    pub(super) fn here(&self) -> usize {
        self.ops.len()
    }

    /// The number of registers that the frame needs.
    pub(super) fn registers(&self) -> u16 {
        self.most
    }

    /// Adds an instruction that cannot fault.
    pub(super) fn emit(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// Adds an instruction that can fault, with its source position.
    pub(super) fn emit_at(&mut self, op: Op, offset: u32) {
        let pc = u32::try_from(self.ops.len()).unwrap_or(u32::MAX);
        if self.positions.last().is_none_or(|&(_, last)| last != offset) {
            self.positions.push((pc, offset));
        }
        self.ops.push(op);
    }

    /// Adds a forward jump to a label.
    pub(super) fn jump(&mut self, op: Op, offset: u32, label: &mut Label) {
        label.jumps.push(Jump::Op(self.here()));
        if matches!(op, Op::Jump { .. }) {
            self.emit(op);
        } else {
            self.emit_at(op, offset);
        }
    }

    /// Like [`Code::jump`], but fused with the last instruction if the format has such an instruction and no
    /// jump goes between the two.
    pub(super) fn jump_fused(&mut self, op: Op, offset: u32, label: &mut Label, numbers: &Numbers) {
        match self.fused(op, numbers) {
            Some(fused) => {
                self.ops.pop();
                label.jumps.push(Jump::Op(self.here()));
                self.ops.push(fused);
            }
            None => self.jump(op, offset, label),
        }
    }

    fn fused(&self, op: Op, numbers: &Numbers) -> Option<Op> {
        if self.bound == self.here() {
            return None;
        }
        let small = |id: NumberId| match numbers.get_index(usize::from(id.0)) {
            Some((_, &Number::Int(int))) => i8::try_from(int).ok().map(Small),
            _ => None,
        };
        match (*self.ops.last()?, op) {
            (Op::MulC { dst, a, number }, Op::UnlessGeC { a: tested, number: least, to })
                if dst.0 == tested.0 =>
            {
                let byte = |id: NumberId| u8::try_from(id.0).ok().map(NumberByte);
                Some(match (small(number), small(least)) {
                    (Some(by), Some(least)) => Op::MulUnlessGe { dst, a, by, least, to },
                    _ => Op::MulCUnlessGeC { dst, a, by: byte(number)?, least: byte(least)?, to },
                })
            }
            _ => None,
        }
    }

    /// Notes that the last instruction calls a tool.
    pub(super) fn sent(&mut self) {
        self.sent = self.here().checked_sub(1);
    }

    /// Notes that something other than registering a rollback follows.
    pub(super) fn settle(&mut self) {
        self.sent = None;
    }

    /// Makes the next `rollback` one step with the call directly before it, if there is one and only its
    /// success leads here.
    pub(super) fn joins_call(&mut self) {
        let Some(at) = self.sent.take() else { return };
        let follows = self.bound <= at;
        let after = self.ops.get(at + 1..).unwrap_or_default();
        let moved = after.iter().all(|op| matches!(op, Op::Move { .. }) || is_read(op));
        let Some(op) = self.ops.get_mut(at) else { return };
        match *op {
            Op::Tool { dst, first, call, fail } if follows && moved => {
                *op = Op::ToolRollback { dst, first, call, fail, entries: Entries(1) };
            }
            Op::ToolRollback { ref mut entries, .. } => match entries.0.checked_add(1) {
                Some(more) => entries.0 = more,
                None => return,
            },
            _ => return,
        }
        self.sent = Some(at);
    }

    /// Adds a selection whose map has numbers as values.
    pub(super) fn select(&mut self, op: impl FnOnce(u32) -> Op, offset: u32, map: Map) {
        let op = op(u32::try_from(self.maps.len()).unwrap_or(u32::MAX));
        self.maps.push(map);
        self.emit_at(op, offset);
    }

    /// Begins a switch; its cases are added with [`Code::case`].
    pub(super) fn switch(&mut self, op: impl FnOnce(u32) -> Op, offset: u32, map: Map) -> Switch {
        let switch = Switch { at: self.here(), map: self.maps.len() };
        self.maps.push(map);
        self.emit_at(op(u32::try_from(switch.map).unwrap_or(u32::MAX)), offset);
        switch
    }

    /// Sets the target of a case of a switch to the next instruction; `None` is the default.
    pub(super) fn case(&mut self, switch: Switch, case: Option<usize>) {
        self.bind(Label { jumps: SmallVec::from_iter([Jump::Case(switch, case)]) });
    }

    /// Adds a jump that does nothing if the failure of the last instruction goes to a label that is bound
    /// here: a distance of zero would pass the failure on.
    fn part_from_call(&mut self, label: &Label) {
        let last = self.here().checked_sub(1);
        let goes = label.jumps.iter().any(|jump| matches!(jump, Jump::Op(at) if Some(*at) == last));
        if goes && self.ops.last().is_some_and(may_pass_on) {
            self.emit(Op::Jump { to: To(0) });
        }
    }

    /// Binds a label to the next instruction.
    pub(super) fn bind(&mut self, label: Label) {
        self.part_from_call(&label);
        let here = self.here();
        if !label.jumps.is_empty() {
            self.bound = here;
        }
        for jump in label.jumps {
            let from = match jump {
                Jump::Op(at) | Jump::Case(Switch { at, .. }, _) => at,
            };
            let Ok(distance) = u16::try_from(here - from - 1) else {
                self.too_long = true;
                continue;
            };
            match jump {
                Jump::Op(at) => set_target(&mut self.ops[at], distance),
                Jump::Case(Switch { map, .. }, Some(case)) => self.maps[map].cases[case].1 = distance,
                Jump::Case(Switch { map, .. }, None) => self.maps[map].default = Some(distance),
            }
        }
    }

    /// Binds a label where paths join: no `rollback` is one step with a call before it.
    pub(super) fn land(&mut self, label: Label) {
        self.bind(label);
        self.settle();
    }

    /// Notes that the next instruction is the target of the backward jump of a loop.
    pub(super) fn enter_loop(&mut self) {
        self.bound = self.here();
    }

    /// Closes the loop that began at `start`: everything after it is its body.
    pub(super) fn close_loop(&mut self, start: usize, base: LoopBase, item: Out) {
        let here = self.here();
        match (u16::try_from(here - start - 1), u16::try_from(here - start)) {
            (Ok(distance), Ok(back)) => {
                set_target(&mut self.ops[start], distance);
                self.emit(Op::Next { base, item, back: Back(back) });
            }
            _ => self.too_long = true,
        }
        self.bound = self.here();
    }

    /// Allocates adjacent registers.
    pub(super) fn take(&mut self, count: usize) -> Reg {
        let first = self.top;
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        self.top = self.top.saturating_add(count);
        self.most = self.most.max(self.top);
        Reg(first)
    }

    /// The first free register, for [`Code::give_back`].
    pub(super) fn mark(&self) -> u16 {
        self.top
    }

    /// Frees every register from a mark on.
    pub(super) fn give_back(&mut self, mark: u16) {
        self.top = mark;
    }

    /// Whether the function fits the format.
    pub(super) fn fits(&self) -> bool {
        usize::from(self.most) <= limits::REGISTERS
    }
}

/// Whether an instruction reads an answer as JSON.
fn is_read(op: &Op) -> bool {
    matches!(*op, Op::Apply { function, fail: OnFail(0), .. } if function.0 == Pure::Read as u8)
}

/// Whether the target of an instruction is that of its failure.
fn may_pass_on(op: &Op) -> bool {
    matches!(op, Op::Tool { .. } | Op::ToolRollback { .. } | Op::Invoke { .. } | Op::Apply { .. })
}

/// Sets the target of a jump.
fn set_target(op: &mut Op, distance: u16) {
    match op {
        Op::Jump { to }
        | Op::JumpIf { to, .. }
        | Op::JumpUnless { to, .. }
        | Op::UnlessEq { to, .. }
        | Op::UnlessNe { to, .. }
        | Op::UnlessLt { to, .. }
        | Op::UnlessLe { to, .. }
        | Op::UnlessGt { to, .. }
        | Op::UnlessGe { to, .. }
        | Op::UnlessEqC { to, .. }
        | Op::UnlessNeC { to, .. }
        | Op::UnlessLtC { to, .. }
        | Op::UnlessLeC { to, .. }
        | Op::UnlessGtC { to, .. }
        | Op::UnlessGeC { to, .. }
        | Op::UnlessField { to, .. }
        | Op::IfField { to, .. }
        | Op::MulCUnlessGeC { to, .. }
        | Op::MulUnlessGe { to, .. }
        | Op::Break { to, .. }
        | Op::For { to, .. }
        | Op::Each { to, .. } => *to = To(distance),
        Op::Tool { fail, .. }
        | Op::ToolRollback { fail, .. }
        | Op::Invoke { fail, .. }
        | Op::Apply { fail, .. } => *fail = OnFail(distance),
        other => debug_assert!(false, "no jump: {other:?}"),
    }
}
