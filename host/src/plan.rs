//! What a program would do to the world, found without running it: which tools it can call, how often at most, which
//! of them change something, and which of those nothing rolls back.
//!
//! It reads verified bytecode, so it works for every notation. Paths that exclude each other are counted once: the
//! bound is that of the most expensive path.

mod bound;
mod names;

use crate::problem::Problem;
use crate::tools::{Policy, Tools};
use bound::Bound;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::operand::{CallId, FunctionId, StringId, ToolId};
use ilo_spec::program::{Function, Program};
use names::{Facts, facts, jumps, loop_at, op, unnamed};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Steps that planning may take: a second's work, a thousand times a large program's.
const STEPS: usize = 20_000_000;

/// What a program would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The function that would run.
    pub function: String,
    /// The tools that it can call, in the order of the program's tool table.
    pub calls: Vec<Planned>,
}

/// What would happen with one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The name by which the program calls it.
    pub tool: String,
    /// How often at most: `1`, or `≤ 2 × len(customers)`.
    pub most: String,
    /// How it may be called, as far as the tools file says; retries are beyond `most`.
    pub policy: Policy,
    /// Whether a rollback can follow every call of it that is no rollback itself.
    pub rolled_back: bool,
    /// Whether every call of it is a rollback.
    pub is_rollback: bool,
}

/// Work that is left.
struct Budget(usize);

impl Budget {
    fn spend(&mut self, steps: usize) -> Option<()> {
        self.0 = self.0.checked_sub(steps + 1)?;
        Some(())
    }
}

/// Plans a run of a function.
///
/// # Errors
/// Where the program is so large that no plan can be made in reasonable time.
pub fn plan(program: &ilo_vm::Program, function: FunctionId, tools: &Tools) -> Result<Plan, Problem> {
    let program = program.spec();
    let large = || Problem::new(Code::BadUsage, "", "the program is too large to plan");
    let mut planner =
        Planner { program, budget: Budget(STEPS), costs: HashMap::new(), sites: BTreeMap::new() };
    planner.plan(function.0.into(), tools).ok_or_else(large)
}

/// How often each tool is called at most.
type Cost = BTreeMap<ToolId, Bound>;

/// How two costs come together.
#[derive(Clone, Copy, PartialEq)]
enum Join {
    /// One of two paths is taken.
    Either,
    /// Both happen.
    Both,
}

/// The calls of one tool, taken together.
#[derive(Clone, Copy, Default)]
struct Sites {
    /// Whether there is a call that is no rollback.
    forward: bool,
    /// Whether one of those has no rollback after it.
    bare: bool,
}

struct Planner<'p> {
    program: &'p Program,
    budget: Budget,
    /// Of the functions that were looked at.
    costs: HashMap<usize, Rc<Cost>>,
    sites: BTreeMap<ToolId, Sites>,
}

impl<'p> Planner<'p> {
    fn text(&self, id: StringId) -> &'p str {
        self.program.strings.get(id).unwrap_or("?")
    }

    fn plan(&mut self, function: usize, tools: &Tools) -> Option<Plan> {
        let program = self.program;
        let functions: Vec<usize> = self.reachable(function);
        for &index in &functions {
            let cost = self.cost(program.functions.get(index)?)?;
            self.costs.insert(index, Rc::new(cost));
        }
        self.find_rollbacks(&functions)?;
        let entry = program.functions.get(function)?;
        let parameters: Vec<&str> =
            entry.parameters.iter().map(|parameter| self.text(StringId(parameter.name.0.into()))).collect();
        let calls = self.costs.get(&function)?.iter().filter_map(|(&tool, bound)| {
            let name = self.text(*program.tools.get(usize::from(tool.0))?);
            let sites = self.sites.get(&tool).copied().unwrap_or_default();
            Some(Planned {
                tool: name.to_owned(),
                most: bound.shown(&parameters),
                policy: tools.get(name).map(|tool| tool.policy.clone()).unwrap_or_default(),
                rolled_back: sites.forward && !sites.bare,
                is_rollback: !sites.forward,
            })
        });
        Some(Plan { function: self.text(entry.name).to_owned(), calls: calls.collect() })
    }

    /// The functions that a function can call, itself last: callees have lower numbers.
    fn reachable(&self, function: usize) -> Vec<usize> {
        let mut reached = vec![false; function + 1];
        reached[function] = true;
        for index in (0..=function).rev() {
            let Some(found) = self.program.functions.get(index).filter(|_| reached[index]) else { continue };
            for pc in found.start..found.end {
                if let Some(Op::Invoke { function, .. }) = op(self.program, pc)
                    && let Some(callee) = reached.get_mut(usize::from(function.0))
                {
                    *callee = true;
                }
            }
        }
        (0..=function).filter(|&index| reached[index]).collect()
    }

    /// The tool of a call.
    fn tool(&self, call: CallId) -> Option<ToolId> {
        self.program.calls.get(usize::from(call.0)).map(|call| call.tool)
    }

    /// How often a function calls each tool: one pass backward, a loop's body on its own.
    fn cost(&mut self, function: &Function) -> Option<Cost> {
        let facts = facts(self.program, function, &mut self.budget)?;
        let length = usize::try_from(function.end - function.start).ok()?;
        let mut walk =
            Walk { start: function.start, costs: vec![Rc::default(); length + 1], open: Vec::new() };
        let mut bodies: HashMap<u32, Rc<Cost>> = HashMap::new();
        for pc in (function.start..function.end).rev() {
            let op = op(self.program, pc)?;
            let cost = match op {
                Op::Next { back, .. } => {
                    let body = (pc + 1).saturating_sub(back.0.into());
                    let after = walk.go(pc + 1);
                    if body < pc {
                        walk.open.push((body, pc));
                    }
                    after
                }
                Op::For { .. } | Op::Each { .. } => self.loop_cost(&mut walk, &mut bodies, &facts, pc)?,
                _ => self.straight_cost(&mut walk, &facts, pc, op)?,
            };
            walk.set(pc, cost);
            while let Some((body, end)) = walk.open.pop_if(|&mut (body, _)| body >= pc) {
                bodies.insert(end, walk.get(body));
            }
        }
        Some(Cost::clone(&walk.get(function.start)))
    }

    fn straight_cost(&mut self, walk: &mut Walk, facts: &Facts, pc: u32, op: Op) -> Option<Rc<Cost>> {
        let mut targets = Vec::new();
        jumps(self.program, pc, op, |target| targets.push(target));
        if !op.ends() {
            targets.push(pc + 1);
        }
        let mut cost: Rc<Cost> = Rc::default();
        for target in targets {
            let other = walk.go(target);
            self.join(&mut cost, &other, Join::Either)?;
        }
        match op {
            Op::Tool { call, .. } => {
                let own = Rc::new(Cost::from([(self.tool(call)?, Bound::once())]));
                self.join(&mut cost, &own, Join::Both)?;
            }
            Op::Invoke { function, .. } => {
                let callee = self.costs.get(&usize::from(function.0))?.clone();
                let arguments = facts.arguments.get(&pc).map(Vec::as_slice).unwrap_or_default();
                let place = unnamed(self.program, pc);
                self.budget.spend(callee.len().saturating_mul(16))?;
                let own: Cost = callee
                    .iter()
                    .map(|(&tool, bound)| (tool, bound.called_with(arguments, &place)))
                    .collect();
                self.join(&mut cost, &Rc::new(own), Join::Both)?;
            }
            _ => {}
        }
        Some(cost)
    }

    fn loop_cost(
        &mut self,
        walk: &mut Walk,
        bodies: &mut HashMap<u32, Rc<Cost>>,
        facts: &Facts,
        pc: u32,
    ) -> Option<Rc<Cost>> {
        let (_, end) = loop_at(self.program, pc)?;
        let mut cost = walk.get(end);
        let Some(found) = bodies.remove(&end) else { return Some(cost) };
        let place = unnamed(self.program, pc);
        let list = facts.lists.get(&pc).cloned().unwrap_or(bound::Known::Nothing);
        self.budget.spend(found.len().saturating_mul(16))?;
        let body: Cost = found.iter().map(|(&tool, bound)| (tool, bound.for_each(&list, &place))).collect();
        self.join(&mut cost, &Rc::new(body), Join::Both)?;
        Some(cost)
    }

    /// Joins another cost into one, sharing where there is nothing to do.
    fn join(&mut self, cost: &mut Rc<Cost>, other: &Rc<Cost>, join: Join) -> Option<()> {
        self.budget.spend(1)?;
        if other.is_empty() {
            return Some(());
        }
        if cost.is_empty() {
            *cost = other.clone();
            return Some(());
        }
        if Rc::ptr_eq(cost, other) && join == Join::Either {
            return Some(());
        }
        self.budget.spend((cost.len() + other.len()).saturating_mul(16))?;
        let mine = Rc::make_mut(cost);
        for (&tool, bound) in other.iter() {
            let mine = mine.entry(tool).or_default();
            match join {
                Join::Either => mine.either(bound),
                Join::Both => mine.add(bound),
            }
        }
        Some(())
    }

    /// Finds for each tool whether its calls have a rollback after them.
    fn find_rollbacks(&mut self, functions: &[usize]) -> Option<()> {
        let mut has_rollback: HashMap<usize, bool> = HashMap::new();
        let mut after: HashMap<usize, Vec<bool>> = HashMap::new();
        for &index in functions {
            let function = self.program.functions.get(index)?;
            let found = self.rollbacks_after(function, &has_rollback)?;
            has_rollback.insert(index, found.first().copied().unwrap_or(false));
            after.insert(index, found);
        }
        // Whether every call of a function has a rollback after it; the function that runs has no caller.
        let mut covered: HashMap<usize, bool> = HashMap::new();
        for &index in functions.iter().rev() {
            let function = self.program.functions.get(index)?;
            let outside = covered.get(&index).copied().unwrap_or(false);
            for pc in function.start..function.end {
                let at = usize::try_from(pc - function.start).ok()? + 1;
                let follows = outside || after.get(&index)?.get(at).copied().unwrap_or(false);
                match op(self.program, pc)? {
                    Op::Invoke { function, .. } => {
                        let callee = covered.entry(usize::from(function.0)).or_insert(true);
                        *callee &= follows;
                    }
                    Op::Tool { call, .. } if !is_rollback(self.program, pc) => {
                        let sites = self.sites.entry(self.tool(call)?).or_default();
                        sites.forward = true;
                        sites.bare |= !follows;
                    }
                    _ => {}
                }
            }
        }
        Some(())
    }

    /// For each instruction of a function, and one past the last, whether a rollback can run from there on.
    fn rollbacks_after(&mut self, function: &Function, callees: &HashMap<usize, bool>) -> Option<Vec<bool>> {
        let length = usize::try_from(function.end - function.start).ok()?;
        let mut after = vec![false; length + 1];
        let program = self.program;
        let is_own = |pc: u32| match op(program, pc) {
            Some(Op::Invoke { function, .. }) => {
                callees.get(&usize::from(function.0)).copied().unwrap_or(false)
            }
            _ => is_rollback(program, pc),
        };
        for pc in (function.start..function.end).rev() {
            let op = op(self.program, pc)?;
            let mut found = is_own(pc);
            let mut look = |target: u32| {
                let at = usize::try_from(target.saturating_sub(function.start)).unwrap_or(length);
                found |= after.get(at).copied().unwrap_or(false);
            };
            jumps(self.program, pc, op, &mut look);
            if !op.ends() {
                look(pc + 1);
            }
            if let Op::Next { back, .. } = op {
                // Another pass may run any rollback of the body.
                let body = (pc + 1).saturating_sub(back.0.into());
                self.budget.0 = self.budget.0.saturating_sub(usize::try_from(pc - body).ok()?);
                found |= (body..pc).any(is_own);
            }
            *after.get_mut(usize::try_from(pc - function.start).ok()?)? = found;
        }
        self.budget.spend(length)?;
        Some(after)
    }
}

/// Whether a call is a rollback: its failure is noted.
fn is_rollback(program: &Program, pc: u32) -> bool {
    let Some(Op::Tool { fail, .. }) = op(program, pc) else { return false };
    fail.0 > 0 && matches!(op(program, pc + 1 + u32::from(fail.0)), Some(Op::Note { .. }))
}

/// The costs from each instruction of a function on.
struct Walk {
    start: u32,
    costs: Vec<Rc<Cost>>,
    /// The loops whose bodies are being walked through: first instruction and `next`.
    open: Vec<(u32, u32)>,
}

impl Walk {
    fn get(&self, pc: u32) -> Rc<Cost> {
        let index = usize::try_from(pc.saturating_sub(self.start)).ok();
        index.and_then(|index| self.costs.get(index)).cloned().unwrap_or_default()
    }

    /// What follows from an instruction on; within a body, to the end of the pass. Jumps do not leave a loop.
    fn go(&self, target: u32) -> Rc<Cost> {
        if self.open.last().is_some_and(|&(_, end)| end == target) { Rc::default() } else { self.get(target) }
    }

    fn set(&mut self, pc: u32, cost: Rc<Cost>) {
        let index = usize::try_from(pc.saturating_sub(self.start)).ok();
        if let Some(place) = index.and_then(|index| self.costs.get_mut(index)) {
            *place = cost;
        }
    }
}
