//! Plans: what a program could do to the world, found without running it. A plan says which tools it can
//! call, how often at most, which of them change something, and which of these calls nothing rolls back.
//!
//! It reads verified bytecode, so it works for every notation. Paths that exclude each other are counted
//! once: the bound is that of the most expensive path.

mod bound;
pub mod changed;
mod known_values;
mod required;
mod sorted;
mod undo;

use crate::policy::{Policies, Policy};
use crate::problem::Problem;
use bound::Bound;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::operand::{CallId, FunctionId, StringId, ToolId};
use ilo_spec::program::{Function, Program};
use known_values::{Facts, facts, jumps, loop_at, op, unnamed};
pub use required::{without_journal, without_rollback};
use sorted::Map;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Steps that planning may take: about a second of work, a thousand times that of a large program.
const STEPS: usize = 20_000_000;

/// What a program could do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// The function that would run.
    pub function: String,
    /// The tools that it can call, in the order of the program's tool table.
    pub calls: Vec<Planned>,
}

/// What could happen with one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Planned {
    /// The name by which the program calls it.
    pub tool: String,
    /// The most calls: `1`, or `≤ 2 × len(customers)`.
    pub most: String,
    /// How it may be called, according to the tools file. Retries are not in `most`.
    pub policy: Policy,
    /// Whether every call of it is a rollback.
    pub is_rollback: bool,
    /// The tools whose calls are registered as rollbacks in one step with calls of it. They are called if a
    /// failure or fault follows.
    pub entries: Vec<String>,
    /// The positions of its calls that are not rollbacks and have no such entry.
    pub by_hand: Vec<Place>,
    /// The tools of the rollbacks that can still be made after a call of it without an entry has succeeded.
    /// What they undo is not known.
    pub rollbacks: Vec<String>,
    /// Whether it has a call, not itself a rollback, that nothing rolls back on any path.
    pub some_without: bool,
    /// The positions of those calls.
    pub without: Vec<Place>,
}

/// The position of a call: its line and column in the source if the bytecode has them, else its instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line and column, from 1.
    pub source: Option<(u32, u32)>,
    /// The instruction.
    pub instruction: u32,
}

/// Counts down the work that may still be done.
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
/// A program that is too large to plan in reasonable time.
pub fn plan(program: &ilo_vm::Program, function: FunctionId, tools: &dyn Policies) -> Result<Plan, Problem> {
    let program = program.spec();
    let large = || Problem::new(Code::BadUsage, "", "the program is too large to plan");
    let mut planner =
        Planner { program, budget: Budget(STEPS), costs: HashMap::new(), of_calls: HashSet::new() };
    planner.plan(function.0.into(), tools).ok_or_else(large)
}

/// The most calls of each tool.
type Cost = Map<ToolId, Bound>;

/// How two costs are combined.
#[derive(Clone, Copy, PartialEq)]
enum Join {
    /// One of two paths is taken.
    Either,
    /// Both happen.
    Both,
}

struct Planner<'p> {
    program: &'p Program,
    budget: Budget,
    /// The costs of the functions that were analysed.
    costs: HashMap<usize, Rc<Cost>>,
    /// Where a call registers something in the same step.
    of_calls: HashSet<u32>,
}

impl<'p> Planner<'p> {
    fn text(&self, id: StringId) -> &'p str {
        self.program.strings.get(id).unwrap_or("?")
    }

    /// The name of a tool. Making it costs work.
    fn name(&mut self, tool: ToolId) -> Option<String> {
        let name = self.text(*self.program.tools.get(usize::from(tool.0))?);
        self.budget.spend(name.len())?;
        Some(name.to_owned())
    }

    fn plan(&mut self, function: usize, tools: &dyn Policies) -> Option<Plan> {
        let program = self.program;
        let functions: Vec<usize> = self.reachable(function);
        for &index in &functions {
            let cost = self.cost(program.functions.get(index)?)?;
            self.costs.insert(index, Rc::new(cost));
        }
        let sites = self.find_rollbacks(&functions)?;
        let entry = program.functions.get(function)?;
        let parameters: Vec<&str> =
            entry.parameters.iter().map(|parameter| self.text(StringId(parameter.name.0.into()))).collect();
        let cost = self.costs.get(&function)?.clone();
        let mut calls = Vec::with_capacity(cost.len());
        for (tool, bound) in cost.iter() {
            let name = self.name(*tool)?;
            let sites = sites.get(usize::from(tool.0))?;
            let rollbacks: Option<Vec<String>> = sites.after.iter().map(|&tool| self.name(tool)).collect();
            let entries: Option<Vec<String>> = sites.entries.iter().map(|&tool| self.name(tool)).collect();
            let place = |pc: &u32| Place {
                source: program.position(*pc).map(|at| (at.line, at.column)),
                instruction: *pc,
            };
            self.budget.spend(sites.by_hand.len().saturating_mul(16))?;
            calls.push(Planned {
                most: bound.shown(&parameters),
                policy: tools.policy(&name).cloned().unwrap_or_default(),
                tool: name,
                is_rollback: !sites.forward,
                entries: entries?,
                by_hand: sites.by_hand.iter().map(place).collect(),
                rollbacks: rollbacks?,
                some_without: !sites.bare.is_empty(),
                without: sites.bare.iter().map(place).collect(),
            });
        }
        Some(Plan { function: self.text(entry.name).to_owned(), calls })
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

    /// Computes how often a function calls each tool, in one backward pass; the body of a loop is computed by
    /// itself.
    fn cost(&mut self, function: &Function) -> Option<Cost> {
        let facts = facts(self.program, function, &mut self.budget)?;
        let length = usize::try_from(function.end - function.start).ok()?;
        let end = vec![Some(Rc::default())];
        let mut walk = Walk { start: function.start, costs: vec![end; length + 1], open: Vec::new() };
        let mut bodies: HashMap<u32, Paths> = HashMap::new();
        for pc in (function.start..function.end).rev() {
            let op = op(self.program, pc)?;
            let cost = match op {
                Op::Next { back, .. } => {
                    let body = (pc + 1).saturating_sub(back.0.into());
                    let after = walk.go(pc + 1);
                    if body < pc {
                        walk.open.push(Open { body, next: pc });
                    }
                    after
                }
                Op::For { .. } | Op::Each { .. } => self.loop_cost(&walk, &mut bodies, &facts, pc)?,
                _ => self.straight_cost(&walk, &facts, pc, op)?,
            };
            self.budget.spend(cost.len())?;
            walk.set(pc, cost);
            while let Some(open) = walk.open.pop_if(|open| open.body >= pc) {
                bodies.insert(open.next, walk.get(open.body));
            }
        }
        let whole = walk.get(function.start).into_iter().next().flatten();
        Some(whole.map(|cost| Cost::clone(&cost)).unwrap_or_default())
    }

    fn straight_cost(&mut self, walk: &Walk, facts: &Facts, pc: u32, op: Op) -> Option<Paths> {
        let mut targets = Vec::new();
        jumps(self.program, pc, op, |target| targets.push(target));
        if !op.ends() {
            targets.push(pc + 1);
        }
        let mut paths = if targets.is_empty() { vec![Some(Rc::default())] } else { Paths::new() };
        for target in targets {
            let other = walk.go(target);
            self.either(&mut paths, &other)?;
        }
        let own = match op {
            // The registered call may run once.
            Op::Tool { call, .. } | Op::ToolRollback { call, .. } | Op::Rollback { call, .. } => {
                Cost::of(self.tool(call)?, Bound::once())
            }
            Op::Invoke { function, .. } => {
                let callee = self.costs.get(&usize::from(function.0))?.clone();
                let arguments = facts.arguments.get(&pc).map(Vec::as_slice).unwrap_or_default();
                let place = unnamed(self.program, pc);
                self.budget.spend(callee.len().saturating_mul(16))?;
                callee.mapped(|bound| bound.called_with(arguments, &place))
            }
            _ => return Some(paths),
        };
        self.all_with(&mut paths, &Rc::new(own))?;
        Some(paths)
    }

    /// Each pass continues with the next one, or is the last and leaves the loop. The number of passes is at
    /// most the number of items, so calls that the leaving pass shares with the others are counted with them.
    fn loop_cost(
        &mut self,
        walk: &Walk,
        bodies: &mut HashMap<u32, Paths>,
        facts: &Facts,
        pc: u32,
    ) -> Option<Paths> {
        let (_, end) = loop_at(self.program, pc)?;
        let mut paths = walk.get(end);
        let Some(mut leaving) = bodies.remove(&end) else { return Some(paths) };
        // The paths that continue with the next pass.
        let list = facts.lists.get(&pc).cloned().unwrap_or(bound::Known::Nothing);
        let inside = walk.open.len() + 1;
        let pass = leaving.get_mut(inside).and_then(Option::take).unwrap_or_default();
        leaving.truncate(inside);
        let never = list == bound::Known::Items(0);
        for cost in leaving.iter_mut().flatten().filter(|_| never || !pass.is_empty()) {
            self.budget.spend((cost.len() + pass.len()).saturating_mul(16))?;
            for (tool, bound) in Rc::make_mut(cost).iter_mut() {
                pass.get(tool).into_iter().for_each(|pass| bound.without(pass));
                if never {
                    *bound = Bound::default();
                }
            }
        }
        self.either(&mut paths, &leaving)?;
        let place = unnamed(self.program, pc);
        self.budget.spend(pass.len().saturating_mul(16))?;
        let all: Cost = pass.mapped(|bound| bound.for_each(&list, &place));
        self.all_with(&mut paths, &Rc::new(all))?;
        Some(paths)
    }

    /// Combines alternative sets of paths.
    fn either(&mut self, paths: &mut Paths, others: &Paths) -> Option<()> {
        if paths.len() < others.len() {
            paths.resize(others.len(), None);
        }
        for (cost, other) in paths.iter_mut().zip(others) {
            match (cost, other) {
                (Some(cost), Some(other)) => self.join(cost, other, Join::Either)?,
                (cost @ None, Some(other)) => *cost = Some(other.clone()),
                (_, None) => {}
            }
        }
        Some(())
    }

    /// Adds the preceding calls to every path.
    fn all_with(&mut self, paths: &mut Paths, before: &Rc<Cost>) -> Option<()> {
        paths.iter_mut().flatten().try_for_each(|cost| self.join(cost, before, Join::Both))
    }

    /// Combines another cost with this one. They share storage if one of them is empty.
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
        Rc::make_mut(cost).join(other, |mine, bound| match join {
            Join::Either => mine.either(bound),
            Join::Both => mine.add(bound),
        });
        Some(())
    }
}

/// The costs of the paths from an instruction, by where they lead: at 0 to the end of the function, at `n` to
/// the end of a pass of the `n`th loop around the instruction, counted from the outermost. `None` if no path
/// leads there.
type Paths = Vec<Option<Rc<Cost>>>;

/// The paths from each instruction of a function.
struct Walk {
    start: u32,
    costs: Vec<Paths>,
    /// The loops whose bodies are being analysed, from the outermost.
    open: Vec<Open>,
}

/// A loop whose body is being analysed.
struct Open {
    /// The first instruction of its body.
    body: u32,
    /// Its `next`.
    next: u32,
}

impl Walk {
    fn get(&self, pc: u32) -> Paths {
        let index = usize::try_from(pc.saturating_sub(self.start)).ok();
        index.and_then(|index| self.costs.get(index)).cloned().unwrap_or_default()
    }

    fn set(&mut self, pc: u32, paths: Paths) {
        let index = usize::try_from(pc.saturating_sub(self.start)).ok();
        if let Some(place) = index.and_then(|index| self.costs.get_mut(index)) {
            *place = paths;
        }
    }

    /// The paths of a jump: those of its target, or the end of a pass if the target is the `next` of an
    /// enclosing loop.
    fn go(&self, target: u32) -> Paths {
        let inside = self.open.partition_point(|open| open.next >= target);
        if inside.checked_sub(1).is_some_and(|at| self.open[at].next == target) {
            let mut paths = vec![None; inside];
            paths.push(Some(Rc::default()));
            return paths;
        }
        self.get(target)
    }
}
