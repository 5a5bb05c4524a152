//! The pass over the code: operands, registers that are set, loops and jumps.

use super::{Entry, Facts, Result, Rule, VerifyError, index};
use crate::set::Set;
use crate::value::at;
use alloc::vec::Vec;
use ilo_spec::isa::Op;
use ilo_spec::operand::{Back, LoopBase, Out, Role};
use ilo_spec::program::{Function, Program};

/// Registers set on every jump to an instruction, and where the first of these jumps stands.
struct Merge {
    set: Set,
    from: u32,
}

/// A loop that is open.
struct Open {
    /// Its `next`.
    next: u32,
    /// Its first instruction.
    pc: u32,
    base: u8,
    collects: bool,
    /// What is set when it ends.
    after: Set,
    /// Fuel of its body so far.
    cost: u32,
}

/// What an instruction's operands say, beside what is checked at once.
#[derive(Default)]
struct Uses {
    window: Option<u8>,
    length: usize,
    write: Option<u8>,
    jump: Option<u16>,
}

struct Flow<'p> {
    program: &'p Program,
    facts: &'p mut Facts,
    /// For each instruction of the function, one more than its place in `merges`; 0 where nothing jumps there.
    targets: Vec<u32>,
    merges: Vec<Merge>,
    loops: Vec<Open>,
    /// What each loop of the function overwrites in passing, in the order of the code.
    clobbers: Vec<Set>,
    next_clobber: usize,
    /// Registers of open loops.
    locked: Set,
    /// What is set here; `None` where nothing comes from the instruction before.
    state: Option<Set>,
    next_map: u32,
    caller: usize,
    function: &'p Function,
    pc: u32,
    cost: u32,
    extent: u32,
    depth: u32,
}

/// Checks the code of every function.
pub(super) fn check(program: &Program, facts: &mut Facts) -> Result<()> {
    let unused = |maps: usize| Err(VerifyError::table(Rule::UnusedMap { found: maps }));
    let Some(first) = program.functions.first() else {
        return if program.maps.is_empty() { Ok(()) } else { unused(0) };
    };
    facts.called = alloc::vec![false; program.functions.len()];
    let mut flow = Flow {
        program,
        facts,
        targets: Vec::new(),
        merges: Vec::new(),
        loops: Vec::new(),
        clobbers: Vec::new(),
        next_clobber: 0,
        locked: Set::default(),
        state: None,
        next_map: 0,
        caller: 0,
        function: first,
        pc: 0,
        cost: 0,
        extent: 0,
        depth: 0,
    };
    for (id, function) in program.functions.iter().enumerate() {
        flow.caller = id;
        flow.function = function;
        flow.function()?;
    }
    if at(flow.next_map) == program.maps.len() { Ok(()) } else { unused(at(flow.next_map)) }
}

impl Flow<'_> {
    fn error<T>(&self, rule: Rule) -> Result<T> {
        Err(VerifyError::at(self.pc, rule))
    }

    fn check(&self, result: core::result::Result<(), Rule>) -> Result<()> {
        result.or_else(|rule| self.error(rule))
    }

    fn function(&mut self) -> Result<()> {
        let program = self.program;
        let function = self.function;
        let mut set = Set::default();
        for (register, _) in (0..=255).zip(&function.parameters) {
            set.add(register);
        }
        self.state = Some(set);
        self.targets.clear();
        self.targets.resize(at(function.end - function.start), 0);
        self.merges.clear();
        (self.cost, self.extent, self.depth) = (0, u32::from(function.registers), 0);
        let code = &program.code[at(function.start)..at(function.end)];
        self.clobbers(code);
        for (pc, &op) in (function.start..).zip(code) {
            self.pc = pc;
            self.arrive()?;
            if let Some(Open { next, .. }) = self.loops.last()
                && *next == pc
            {
                self.end_loop(op)?;
                continue;
            }
            let Some(state) = self.state else { return self.error(Rule::Unreachable) };
            self.step(op, state)?;
        }
        if self.state.is_some() || !self.loops.is_empty() {
            return self.error(Rule::RunsOff);
        }
        let (start, cost, extent, depth) = (function.start, self.cost, self.extent, self.depth);
        self.facts.entries.push(Entry { start, cost, extent, depth });
        Ok(())
    }

    /// Finds out what the bodies of loops overwrite without setting it: frames of callees and state of inner loops.
    ///
    /// A register of these is not set when a second pass through the body begins. Nothing is checked here; whatever is
    /// wrong is found when the instruction's turn comes.
    fn clobbers(&mut self, code: &[Op]) {
        self.clobbers.clear();
        self.next_clobber = 0;
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (pc, op) in code.iter().enumerate() {
            while let Some(&(next, inner)) = open.last()
                && next <= pc
            {
                open.pop();
                if let Some(&(_, outer)) = open.last() {
                    let set = self.clobbers[inner];
                    self.clobbers[outer].join(&set);
                }
            }
            let (first, count) = match *op {
                Op::For { base, .. } | Op::Each { base, .. } => (base.0, 3),
                Op::Invoke { first, function, .. } => {
                    let callee = self.facts.entries.get(usize::from(function.0));
                    (first.0, callee.map_or(0, |callee| at(callee.extent)))
                }
                _ => continue,
            };
            if let Some(&(_, inner)) = open.last() {
                (first..=255).take(count).for_each(|register| self.clobbers[inner].add(register));
            }
            if let Op::For { to, .. } | Op::Each { to, .. } = *op {
                open.push((pc + 1 + usize::from(to.0), self.clobbers.len()));
                self.clobbers.push(Set::default());
            }
        }
    }

    /// Joins what comes from the instruction before with the jumps to this one.
    fn arrive(&mut self) -> Result<()> {
        let Some(merge) = self.targets[at(self.pc - self.function.start)].checked_sub(1) else {
            return Ok(());
        };
        let merge = &self.merges[at(merge)];
        // Jumps go forward, so one that stands behind the beginning of a loop that is open here stands inside it.
        if self.loops.last().is_some_and(|open| merge.from < open.pc) {
            return self.error(Rule::EntersLoop { to: self.pc });
        }
        let mut set = merge.set;
        if let Some(state) = &self.state {
            set.meet(state);
        }
        self.state = Some(set);
        Ok(())
    }

    /// Records a jump forward.
    fn jump(&mut self, by: u16, set: &Set) -> Result<()> {
        let to = u64::from(self.pc) + 1 + u64::from(by);
        let end = self.function.end;
        let Some(place) = u32::try_from(to).ok().filter(|&to| to < end) else {
            return self.error(Rule::Jump { to, end });
        };
        let slot = at(place - self.function.start);
        match self.targets[slot].checked_sub(1) {
            None => {
                self.merges.push(Merge { set: *set, from: self.pc });
                // No more than there are instructions and cases in a function.
                self.targets[slot] = u32::try_from(self.merges.len()).unwrap_or(u32::MAX);
            }
            Some(merge) => self.merges[at(merge)].set.meet(set),
        }
        Ok(())
    }

    fn step(&mut self, op: Op, mut state: Set) -> Result<()> {
        let uses = self.operands(op, &state)?;
        self.spend(op)?;
        if let Op::Invoke { function, .. } = op {
            self.invoke(function.0, uses.window.unwrap_or(0), &mut state)?;
        }
        if let Some(register) = uses.write {
            state.add(register);
        }
        match op {
            Op::For { base, to, .. } => return self.begin_loop(base, to.0, true, state),
            Op::Each { base, to, .. } => return self.begin_loop(base, to.0, false, state),
            Op::Next { .. } => return self.error(Rule::Loop),
            Op::Yield { base, .. } | Op::YieldRecord { base, .. } => self.yields(base)?,
            Op::Collect { base, .. } => self.collects(base)?,
            Op::Switch { map, .. } => self.switch(map.0, &state)?,
            Op::Tool { fail, .. } | Op::Invoke { fail, .. } if fail.0 == 0 => {}
            _ => {
                if let Some(by) = uses.jump {
                    self.jump(by, &state)?;
                }
            }
        }
        self.state = if op.ends() { None } else { Some(state) };
        Ok(())
    }

    /// Checks every operand on its own.
    #[inline]
    fn operands(&self, op: Op, state: &Set) -> Result<Uses> {
        let mut uses = Uses::default();
        let mut plain = true;
        op.roles(|_, role| plain &= self.is_plain(role, state, &mut uses));
        if !plain {
            uses = self.all_operands(op, state)?;
        }
        if let Some(first) = uses.window {
            self.window(first, uses.length, state)?;
        }
        Ok(uses)
    }

    /// Whether an operand is one of the common kinds and right; anything else is looked at by [`Flow::operand`].
    #[inline(always)]
    fn is_plain(&self, role: Role, state: &Set, uses: &mut Uses) -> bool {
        match role {
            Role::Read(register) => state.has(register),
            Role::Write(register) => {
                uses.write = Some(register);
                u16::from(register) < self.function.registers && !self.locked.has(register)
            }
            Role::Forward(by) | Role::OnFail(by) => {
                uses.jump = Some(by);
                true
            }
            Role::Number(id) => usize::from(id) < self.program.numbers.len(),
            Role::Field(id) => id < self.program.fields,
            Role::Back(_) | Role::Immediate(_) => true,
            _ => false,
        }
    }

    #[inline(never)]
    fn all_operands(&self, op: Op, state: &Set) -> Result<Uses> {
        let mut uses = Uses::default();
        let mut result = Ok(());
        op.roles(|_, role| {
            if result.is_ok() {
                result = self.operand(role, state, &mut uses);
            }
        });
        result.map(|()| uses)
    }

    #[inline(never)]
    fn operand(&self, role: Role, state: &Set, uses: &mut Uses) -> Result<()> {
        let p = self.program;
        match role {
            Role::Read(register) => return self.read(register, state),
            Role::Write(register) => {
                self.register(register, 1)?;
                if self.locked.has(register) {
                    return self.error(Rule::LoopRegister { register });
                }
                uses.write = Some(register);
            }
            Role::Window(first) => uses.window = Some(first),
            Role::Count(count) => uses.length = count.into(),
            Role::Loop(base) => self.register(base, 3)?,
            Role::Str(id) => self.check(index("string", at(id), p.strings.len()))?,
            Role::Field(id) => self.check(index("field", id.into(), p.fields.into()))?,
            Role::Number(id) => self.check(index("number", id.into(), p.numbers.len()))?,
            Role::Shape(id) => {
                self.check(index("shape", id.into(), p.shapes.len()))?;
                uses.length = p.shapes[usize::from(id)].len();
            }
            Role::Call(id) => {
                self.check(index("call", id.into(), p.calls.len()))?;
                uses.length = p.shapes[usize::from(p.calls[usize::from(id)].shape.0)].len();
            }
            Role::Function(id) => {
                if usize::from(id) >= self.caller {
                    return self.error(Rule::Order { found: id, caller: self.caller });
                }
                uses.length = p.functions[usize::from(id)].parameters.len();
            }
            Role::Map(id) => self.check(index("map", at(id), p.maps.len()))?,
            Role::Forward(by) | Role::OnFail(by) => uses.jump = Some(by),
            Role::Back(_) | Role::Immediate(_) => {}
        }
        Ok(())
    }

    fn register(&self, first: u8, count: usize) -> Result<()> {
        let (found, limit) = (usize::from(first) + count, usize::from(self.function.registers));
        if found > limit { self.error(Rule::Register { found, limit }) } else { Ok(()) }
    }

    fn read(&self, register: u8, state: &Set) -> Result<()> {
        if state.has(register) {
            return Ok(());
        }
        self.register(register, 1)?;
        if self.locked.has(register) {
            return self.error(Rule::LoopRegister { register });
        }
        self.error(Rule::Unset { register })
    }

    fn window(&self, first: u8, length: usize, state: &Set) -> Result<()> {
        self.register(first, length)?;
        (first..=255).take(length).try_for_each(|register| self.read(register, state))
    }

    /// Adds the fuel of an instruction to its loop or function.
    fn spend(&mut self, op: Op) -> Result<()> {
        let cost = match self.loops.last_mut() {
            Some(open) => &mut open.cost,
            None => &mut self.cost,
        };
        match cost.checked_add(op.row().cost.into()) {
            Some(sum) => *cost = sum,
            None => return self.error(Rule::TooDeep),
        }
        Ok(())
    }

    /// The callee's frame overwrites the caller's registers from the window on.
    fn invoke(&mut self, function: u16, first: u8, state: &mut Set) -> Result<()> {
        self.facts.called[usize::from(function)] = true;
        let Entry { extent, depth, .. } = self.facts.entries[usize::from(function)];
        let Some(end) = extent.checked_add(first.into()) else { return self.error(Rule::TooDeep) };
        self.extent = self.extent.max(end);
        // No more than there are functions.
        self.depth = self.depth.max(1 + depth);
        for register in (first..=255).take(at(extent)) {
            if self.locked.has(register) {
                return self.error(Rule::LoopRegister { register });
            }
            state.remove(register);
        }
        Ok(())
    }

    fn begin_loop(
        &mut self,
        LoopBase(base): LoopBase,
        to: u16,
        collects: bool,
        mut state: Set,
    ) -> Result<()> {
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
        if self.loops.last().is_some_and(|open| next >= open.next) {
            return self.error(Rule::Loop);
        }
        for register in (base..=255).take(3) {
            if self.locked.has(register) {
                return self.error(Rule::LoopRegister { register });
            }
            self.locked.add(register);
            state.remove(register);
        }
        self.register(item, 1)?;
        if self.locked.has(item) {
            return self.error(Rule::LoopRegister { register: item });
        }
        state = state.without(&self.clobbers[self.next_clobber]);
        self.next_clobber += 1;
        self.loops.push(Open { next, pc: self.pc, base, collects, after: state, cost: 0 });
        state.add(item);
        // An empty body falls into its `next`, which takes the state from the loop.
        self.state = Some(state);
        Ok(())
    }

    fn end_loop(&mut self, op: Op) -> Result<()> {
        self.spend(op)?;
        let Some(open) = self.loops.pop() else { return self.error(Rule::Loop) };
        for register in (open.base..=255).take(3) {
            self.locked.remove(register);
        }
        let loops = &mut self.facts.loops;
        if loops.len() <= at(open.pc) {
            loops.resize(at(open.pc) + 1, 0);
        }
        loops[at(open.pc)] = open.cost;
        if let Some(Op::Collect { base, .. }) = self.program.code.get(at(self.pc) + 1)
            && (base.0 != open.base || !open.collects || self.pc + 1 >= self.function.end)
        {
            self.pc += 1;
            return self.error(Rule::Collect);
        }
        self.state = Some(open.after);
        Ok(())
    }

    fn yields(&self, base: LoopBase) -> Result<()> {
        let found = self.loops.iter().rev().find(|open| open.base == base.0);
        if found.is_some_and(|open| open.collects) { Ok(()) } else { self.error(Rule::Yield) }
    }

    /// `end_loop` has checked a collect that follows a `next`; nothing may jump to it either.
    fn collects(&self, base: LoopBase) -> Result<()> {
        let before = at(self.pc).checked_sub(1).filter(|_| self.pc > self.function.start);
        let follows = before.and_then(|before| self.program.code.get(before));
        let jumped = self.targets[at(self.pc - self.function.start)] != 0;
        match follows {
            Some(Op::Next { base: of, .. }) if of.0 == base.0 && !jumped => Ok(()),
            _ => self.error(Rule::Collect),
        }
    }

    fn switch(&mut self, map: u32, state: &Set) -> Result<()> {
        if map != self.next_map {
            return self.error(Rule::MapOrder { found: map, expected: self.next_map });
        }
        self.next_map += 1;
        let program = self.program;
        let map = &program.maps[at(map)];
        for by in map.cases.iter().map(|&(_, by)| by).chain(map.default) {
            self.jump(by, state)?;
        }
        Ok(())
    }
}
