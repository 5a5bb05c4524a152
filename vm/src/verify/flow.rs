//! The pass over the code: operands, definite assignment, loops and jumps.

use super::operands::{NOWHERE, OperandCheck};
use super::rules::{Result, Rule, VerifyError, index};
use super::section::section;
use crate::facts::{Callee, Facts};
use crate::register_set::RegisterSet;
use crate::value::at;
use alloc::boxed::Box;
use alloc::vec::Vec;
use ilo_spec::isa::Op;
use ilo_spec::operand::{Back, Count, Entries, FieldsId, LoopBase, OnFail, Out, PureId, Role, To};
use ilo_spec::program::{Function, Map, Program};
use ilo_spec::pure::{Pure, TABLE};

/// The registers set by every jump to an instruction, and where the first of these jumps is.
#[derive(Clone, Copy)]
struct Merge<S> {
    set: S,
    /// [`NOWHERE`] if nothing jumps there.
    from: u32,
}

/// An open loop.
struct OpenLoop<S> {
    /// Its `next`.
    next: u32,
    /// Its first instruction.
    pc: u32,
    base: u8,
    collects: bool,
    /// The registers that are set when it ends.
    after: S,
    /// The fuel so far of the code that contains it.
    around: u64,
}

/// Memory kept from function to function.
struct Scratch<S> {
    /// The pending jumps to each instruction of the function; empty at all other places.
    merges: Vec<Merge<S>>,
    loops: Vec<OpenLoop<S>>,
    /// For the outermost open loop and each loop in it, in code order: the registers that a pass destroys, so
    /// that they count as unset in the next pass.
    clobbers: Vec<S>,
    /// While `clobbers` is computed: where each open loop ends, and its index.
    clobbering: Vec<(usize, usize)>,
}

impl<S> Default for Scratch<S> {
    fn default() -> Scratch<S> {
        Scratch { merges: Vec::new(), loops: Vec::new(), clobbers: Vec::new(), clobbering: Vec::new() }
    }
}

/// The position of the pass in the program.
struct Progress {
    caller: usize,
    next_map: u32,
    /// One past the highest field that is read.
    fields: u16,
}

pub(super) struct Flow<'p, S> {
    program: &'p Program,
    facts: &'p mut Facts,
    scratch: &'p mut Scratch<S>,
    progress: &'p mut Progress,
    next_clobber: usize,
    /// All registers of the function.
    pub(super) all: S,
    /// The registers of open loops.
    pub(super) locked: S,
    /// The registers that are set here.
    pub(super) state: S,
    /// Whether execution can continue from the instruction before.
    pub(super) live: bool,
    /// The `next` of the innermost open loop.
    next: u32,
    function: &'p Function,
    pc: u32,
    /// The last `tool.rollback`, and the last `rollback` of its section.
    section: (u32, u32),
    /// The last instruction that is a jump target.
    arrived: u32,
    /// The fuel so far of the innermost open loop, or of the function.
    pub(super) cost: u64,
    extent: u32,
    depth: u32,
    /// The lowest register that a loop or a callee's frame overwrites.
    overwritten: u8,
}

/// The result of a check; boxed because errors are large and rare.
type Checked<T = ()> = core::result::Result<T, Box<VerifyError>>;

/// Checks the code of every function; returns one past the highest field that is read.
pub(super) fn check(program: &Program, facts: &mut Facts) -> Result<u16> {
    facts.called = alloc::vec![false; program.functions.len()];
    facts.entries.reserve_exact(program.functions.len());
    facts.keeps.reserve_exact(program.functions.len());
    let (mut few, mut many) = (Scratch::<u64>::default(), Scratch::<[u64; 4]>::default());
    let mut progress = Progress { caller: 0, next_map: 0, fields: 0 };
    for (id, function) in program.functions.iter().enumerate() {
        progress.caller = id;
        let checked = if function.registers <= 64 {
            Flow::new(program, facts, &mut few, &mut progress, function).function()
        } else {
            Flow::new(program, facts, &mut many, &mut progress, function).function()
        };
        checked.map_err(|error| *error)?;
    }
    let found = at(progress.next_map);
    if found == program.maps.len() {
        Ok(progress.fields)
    } else {
        Err(VerifyError::table(Rule::UnusedMap { found }))
    }
}

impl<'p, S: RegisterSet> Flow<'p, S> {
    fn new(
        program: &'p Program,
        facts: &'p mut Facts,
        scratch: &'p mut Scratch<S>,
        progress: &'p mut Progress,
        function: &'p Function,
    ) -> Flow<'p, S> {
        let length = at(function.end - function.start);
        if scratch.merges.len() < length {
            scratch.merges.resize(length, Merge { set: S::default(), from: NOWHERE });
        }
        Flow {
            program,
            facts,
            scratch,
            progress,
            next_clobber: 0,
            all: S::first(function.registers.into()),
            locked: S::default(),
            state: S::first(function.parameters.len()),
            live: true,
            next: NOWHERE,
            function,
            pc: function.start,
            section: (0, 0),
            arrived: NOWHERE,
            cost: 0,
            extent: function.registers.into(),
            depth: 0,
            overwritten: u8::MAX,
        }
    }

    /// Copies the state of the pass into the operand check.
    #[inline(always)]
    fn lend(&self, check: &mut OperandCheck<'p, S>) {
        check.free = self.all.without(&self.locked);
        (check.state, check.live, check.cost) = (self.state, self.live, self.cost);
    }

    /// Copies the state that the operand check has changed back into the pass.
    #[inline(always)]
    fn take_back(&mut self, check: &OperandCheck<'p, S>) {
        (self.state, self.live, self.cost) = (check.state, check.live, check.cost);
    }

    #[cold]
    fn error<T>(&self, rule: Rule) -> Checked<T> {
        Err(Box::new(VerifyError::at(self.pc, rule)))
    }

    fn check(&self, result: core::result::Result<(), Rule>) -> Checked {
        result.or_else(|rule| self.error(rule))
    }

    fn function(&mut self) -> Checked {
        let function = self.function;
        let code = &self.program.code[at(function.start)..at(function.end)];
        // State that changes with every instruction is not in `self`, so that it stays in machine registers.
        let mut check = OperandCheck::new(self.program, function, self.progress.caller);
        self.lend(&mut check);
        for (pc, op) in (function.start..).zip(code) {
            self.pc = pc;
            let place = at(pc - function.start);
            if self.scratch.merges[place].from != NOWHERE {
                self.take_back(&check);
                self.arrive(place)?;
                self.lend(&mut check);
            }
            if pc == self.next {
                self.take_back(&check);
                self.end_loop(op)?;
                self.lend(&mut check);
                continue;
            }
            if !check.live {
                return self.error(Rule::Unreachable);
            }
            check.begin();
            op.visit(&mut check);
            if !check.is_right() {
                self.state = check.before;
                self.explain(op)?;
                check.window.map_or(Ok(()), |first| self.window(first, check.length))?;
            }
            if check.structural {
                self.take_back(&check);
                self.check_structure(op)?;
                self.lend(&mut check);
            } else if check.jump != NOWHERE {
                self.jump(check.jump, &check.state)?;
            }
        }
        self.take_back(&check);
        if self.live || self.next != NOWHERE {
            return self.error(Rule::RunsOff);
        }
        self.progress.fields = self.progress.fields.max(check.fields);
        let (start, cost, extent, depth) = (function.start, self.cost()?, self.extent, self.depth);
        let parameters = function.parameters.len();
        let written = check.written.with(&S::first(parameters), |a, b| a & b);
        self.facts.keeps.push(written == S::default() && parameters <= usize::from(self.overwritten));
        self.facts.entries.push(Callee { start, cost, extent, depth });
        Ok(())
    }

    /// The fuel so far of the innermost open loop, or of the function.
    fn cost(&self) -> Checked<u32> {
        u32::try_from(self.cost).or_else(|_| self.error(Rule::TooDeep))
    }

    /// Computes what the body of an outermost loop, and of each loop in it, overwrites without setting: the
    /// frames of callees and the registers of inner loops.
    ///
    /// Such a register is not set when the second pass through the body begins. Nothing is checked here;
    /// errors are found when the pass reaches the instruction.
    #[inline(never)]
    fn clobbers(&mut self, code: &[Op]) {
        self.next_clobber = 0;
        let Scratch { clobbers, clobbering: open, .. } = &mut *self.scratch;
        clobbers.clear();
        open.clear();
        for (pc, op) in code.iter().enumerate() {
            let (first, count) = match *op {
                Op::For { base, .. } | Op::Each { base, .. } => (base.0, 3),
                Op::Invoke { first, function, .. } => {
                    let callee = self.facts.entries.get(usize::from(function.0));
                    (first.0, callee.map_or(0, |callee| at(callee.extent)))
                }
                _ => continue,
            };
            while let Some(&(next, inner)) = open.last()
                && next <= pc
            {
                open.pop();
                if let Some(&(_, outer)) = open.last() {
                    let set = clobbers[inner];
                    clobbers[outer].join(&set);
                }
            }
            if let Some(&(_, inner)) = open.last() {
                (first..=255).take(count).for_each(|register| clobbers[inner].add(register));
            }
            if let Op::For { to, .. } | Op::Each { to, .. } = *op {
                open.push((pc + 1 + usize::from(to.0), clobbers.len()));
                clobbers.push(S::default());
            }
        }
        // At the end, what an inner loop overwrites, the outer one does too.
        while let Some((_, inner)) = open.pop() {
            if let Some(&(_, outer)) = open.last() {
                let set = clobbers[inner];
                clobbers[outer].join(&set);
            }
        }
    }

    /// Merges the state of the instruction before with those of the jumps to this one.
    fn arrive(&mut self, place: usize) -> Checked {
        self.arrived = self.pc;
        let merge = &mut self.scratch.merges[place];
        let from = core::mem::replace(&mut merge.from, NOWHERE);
        if self.live {
            self.state.meet(&merge.set);
        } else {
            self.state = merge.set;
            self.live = true;
        }
        // Jumps go forward, so a jump that comes after the beginning of the open loop is inside it.
        if self.scratch.loops.last().is_some_and(|open| from < open.pc) {
            return self.error(Rule::EntersLoop { to: self.pc });
        }
        let (begin, end) = self.section;
        if self.pc <= end && from <= begin {
            return self.error(Rule::EntersSection { to: self.pc });
        }
        Ok(())
    }

    /// Records a forward jump, with the registers that are set where it comes from.
    #[inline]
    fn jump(&mut self, by: u32, set: &S) -> Checked {
        let to = u64::from(self.pc) + 1 + u64::from(by);
        let end = self.function.end;
        let Some(place) = u32::try_from(to).ok().filter(|&to| to < end) else {
            return self.error(Rule::Jump { to, end });
        };
        let merge = &mut self.scratch.merges[at(place - self.function.start)];
        if merge.from == NOWHERE {
            *merge = Merge { set: *set, from: self.pc };
        } else {
            merge.set.meet(set);
        }
        Ok(())
    }

    /// Checks what loops, switches and function calls need beyond their operands.
    #[inline(never)]
    fn check_structure(&mut self, op: &Op) -> Checked {
        match *op {
            Op::For { base, to, .. } => self.begin_loop(base, to.0, true),
            Op::Each { base, to, .. } => self.begin_loop(base, to.0, false),
            Op::Next { .. } => self.error(Rule::Loop),
            Op::Yield { base, .. } | Op::YieldRecord { base, .. } => self.yields(base),
            Op::YieldTwo { base, shape, .. } => self.yields_fields(base, shape, 2),
            Op::YieldThree { base, shape, .. } => self.yields_fields(base, shape, 3),
            Op::YieldFour { base, shape, .. } => self.yields_fields(base, shape, 4),
            Op::Collect { base, .. } => self.collects(base),
            Op::Break { base, to, .. } => self.breaks(base, to),
            Op::Select { map, .. } => self.select(map.0),
            Op::Switch { map, .. } => self.switch(map.0),
            Op::Apply { count, function, fail, .. } => self.apply(function, count, fail),
            Op::ToolRollback { fail, entries, .. } => self.begin_section(entries, fail),
            Op::Invoke { dst, first, function, fail } => {
                self.invoke(function.0, first.0)?;
                self.state.add(dst.0);
                self.fails_to(fail)
            }
            _ => Ok(()),
        }
    }

    /// Finds the first wrong operand.
    #[cold]
    #[inline(never)]
    fn explain(&self, op: &Op) -> Checked {
        let mut result = Ok(());
        op.roles(|_, role| {
            if result.is_ok() {
                result = self.operand(role);
            }
        });
        result
    }

    fn operand(&self, role: Role) -> Checked {
        let p = self.program;
        match role {
            Role::Read(register) => self.read(register),
            Role::Write(register) => {
                self.register(register, 1)?;
                if self.locked.has(register) { self.error(Rule::LoopRegister { register }) } else { Ok(()) }
            }
            Role::Loop(base) => self.register(base, 3),
            Role::Str(id) => self.check(index("string", at(id), p.strings.len())),
            Role::Field(id) => self.check(index("field", id.into(), p.fields.into())),
            Role::Number(id) => self.check(index("number", id.into(), p.numbers.len())),
            Role::Shape(id) | Role::Fields(id) => self.check(index("shape", id.into(), p.shapes.len())),
            Role::Call(id) => self.check(index("call", id.into(), p.calls.len())),
            Role::Function(id) if usize::from(id) >= self.progress.caller => {
                self.error(Rule::Order { found: id, caller: self.progress.caller })
            }
            Role::Type(found) => {
                let expected = self.function.output.ok.packed();
                if found == expected { Ok(()) } else { self.error(Rule::ReturnType { found, expected }) }
            }
            Role::Map(id) | Role::Choice(id) => self.check(index("map", at(id), p.maps.len())),
            _ => Ok(()),
        }
    }

    fn register(&self, first: u8, count: usize) -> Checked {
        let (found, limit) = (usize::from(first) + count, usize::from(self.function.registers));
        if found > limit { self.error(Rule::Register { found, limit }) } else { Ok(()) }
    }

    fn read(&self, register: u8) -> Checked {
        if self.state.has(register) {
            return Ok(());
        }
        self.register(register, 1)?;
        if self.locked.has(register) {
            return self.error(Rule::LoopRegister { register });
        }
        self.error(Rule::Unset { register })
    }

    fn window(&self, first: u8, length: usize) -> Checked {
        self.register(first, length)?;
        (first..=255).take(length).try_for_each(|register| self.read(register))
    }

    /// The callee's frame overwrites the caller's registers from the window on.
    fn invoke(&mut self, function: u16, first: u8) -> Checked {
        self.facts.called[usize::from(function)] = true;
        let Callee { extent, depth, .. } = self.facts.entries[usize::from(function)];
        let Some(end) = extent.checked_add(first.into()) else { return self.error(Rule::TooDeep) };
        self.extent = self.extent.max(end);
        self.overwritten = self.overwritten.min(first);
        // At most the number of functions.
        self.depth = self.depth.max(1 + depth);
        for register in (first..=255).take(at(extent)) {
            if self.locked.has(register) {
                return self.error(Rule::LoopRegister { register });
            }
            self.state.remove(register);
        }
        Ok(())
    }

    /// Checks that a pure function exists, has this number of operands, and has a handler only if it can
    /// fail.
    fn apply(&mut self, PureId(function): PureId, Count(count): Count, OnFail(fail): OnFail) -> Checked {
        let Some(row) = Pure::from_number(function).map(Pure::row) else {
            let (found, size) = (usize::from(function), TABLE.len());
            return self.error(Rule::Index { what: "pure function", found, size });
        };
        let (found, expected) = (usize::from(count), row.operands.len());
        if found != expected {
            return self.error(Rule::Operands { found, expected });
        }
        if fail != 0 && !row.fails {
            return self.error(Rule::Handler { function: row.name });
        }
        self.fails_to(OnFail(fail))
    }

    /// Checks that the entries of a `tool.rollback` are pushed directly after it.
    fn begin_section(&mut self, Entries(entries): Entries, fail: OnFail) -> Checked {
        let code = &self.program.code[at(self.pc) + 1..at(self.function.end)];
        let (length, arguments) = match section(self.program, code, entries) {
            Ok(found) => found,
            Err(rule) => return self.error(rule),
        };
        self.facts.sections.push((self.pc, arguments));
        self.section = (self.pc, self.pc + length);
        self.fails_to(fail)
    }

    /// The jump of a failed call, if it has one.
    fn fails_to(&mut self, OnFail(fail): OnFail) -> Checked {
        if fail == 0 {
            return Ok(());
        }
        let set = self.state;
        self.jump(fail.into(), &set)
    }

    fn begin_loop(&mut self, LoopBase(base): LoopBase, to: u16, collects: bool) -> Checked {
        let next = self.pc + 1 + u32::from(to);
        let code = &self.program.code;
        let item = match code.get(at(next)) {
            Some(&Op::Next { base: of, item: Out(item), back: Back(back) })
                if of.0 == base && next < self.function.end && u32::from(back) == next - self.pc =>
            {
                item
            }
            _ => return self.error(Rule::Loop),
        };
        if next >= self.next {
            return self.error(Rule::Loop);
        }
        for register in (base..=255).take(3) {
            if self.locked.has(register) {
                return self.error(Rule::LoopRegister { register });
            }
            self.locked.add(register);
            self.state.remove(register);
        }
        self.overwritten = self.overwritten.min(base).min(item);
        self.register(item, 1)?;
        if self.locked.has(item) {
            return self.error(Rule::LoopRegister { register: item });
        }
        if self.scratch.loops.is_empty() {
            self.clobbers(&code[at(self.pc)..at(next)]);
        }
        let after = self.state.without(&self.scratch.clobbers[self.next_clobber]);
        self.next_clobber += 1;
        let around = core::mem::take(&mut self.cost);
        self.scratch.loops.push(OpenLoop { next, pc: self.pc, base, collects, after, around });
        self.next = next;
        // The body comes next. If it is empty, its `next` takes the state from the loop.
        self.live = true;
        self.state = after;
        self.state.add(item);
        Ok(())
    }

    fn end_loop(&mut self, op: &Op) -> Checked {
        self.cost += u64::from(op.cost());
        let pass = self.cost()?;
        let Some(open) = self.scratch.loops.pop() else { return self.error(Rule::Loop) };
        self.next = self.scratch.loops.last().map_or(NOWHERE, |around| around.next);
        self.cost = open.around;
        for register in (open.base..=255).take(3) {
            self.locked.remove(register);
        }
        let loops = &mut self.facts.loops;
        if loops.len() <= at(open.pc) {
            loops.resize(at(open.pc) + 1, 0);
        }
        loops[at(open.pc)] = pass;
        if let Some(Op::Collect { base, .. }) = self.program.code.get(at(self.pc) + 1)
            && (base.0 != open.base || !open.collects || self.pc + 1 >= self.function.end)
        {
            self.pc += 1;
            return self.error(Rule::Collect);
        }
        self.state = open.after;
        self.live = true;
        Ok(())
    }

    fn yields(&self, base: LoopBase) -> Checked {
        let found = self.scratch.loops.iter().rev().find(|open| open.base == base.0);
        if found.is_some_and(|open| open.collects) { Ok(()) } else { self.error(Rule::Yield) }
    }

    /// A break takes the collected list of its loop and leaves that loop: nothing is added to the list after
    /// that.
    fn breaks(&mut self, base: LoopBase, To(to): To) -> Checked {
        self.yields(base)?;
        let open = self.scratch.loops.iter().rev().find(|open| open.base == base.0);
        let target = u64::from(self.pc) + 1 + u64::from(to);
        if open.is_none_or(|open| target <= open.next.into()) {
            return self.error(Rule::Break);
        }
        let set = self.state;
        self.jump(to.into(), &set)
    }

    /// A record whose fields come from single registers has a shape of that many fields.
    fn yields_fields(&self, base: LoopBase, shape: FieldsId, expected: usize) -> Checked {
        let found = self.program.shapes[usize::from(shape.0)].len();
        if found != expected {
            return self.error(Rule::Fields { found, expected });
        }
        self.yields(base)
    }

    /// A collect must directly follow the `next` of its loop, and nothing else may jump to it. Whether the
    /// two fit is checked in `end_loop`.
    fn collects(&self, base: LoopBase) -> Checked {
        let before = at(self.pc).checked_sub(1).filter(|_| self.pc > self.function.start);
        let follows = before.and_then(|before| self.program.code.get(before));
        match follows {
            Some(Op::Next { base: of, .. }) if of.0 == base.0 && self.arrived != self.pc => Ok(()),
            _ => self.error(Rule::Collect),
        }
    }

    /// Every map belongs to one instruction, in code order.
    fn next_map(&mut self, map: u32) -> Checked<&'p Map> {
        if map != self.progress.next_map {
            return self.error(Rule::MapOrder { found: map, expected: self.progress.next_map });
        }
        self.progress.next_map += 1;
        Ok(&self.program.maps[at(map)])
    }

    fn select(&mut self, map: u32) -> Checked {
        let map = self.next_map(map)?;
        let mut numbers = map.cases.iter().map(|&(_, number)| number).chain(map.default);
        let size = self.program.numbers.len();
        numbers.try_for_each(|number| self.check(index("number", number.into(), size)))
    }

    fn switch(&mut self, map: u32) -> Checked {
        let map = self.next_map(map)?;
        for by in map.cases.iter().map(|&(_, by)| by).chain(map.default) {
            let set = self.state;
            self.jump(by.into(), &set)?;
        }
        Ok(())
    }
}
