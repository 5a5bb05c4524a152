//! Which rollbacks can still run after a call has succeeded.
//!
//! A rollback counts if a path leads to it from the instruction after the call: through the rest of a loop or
//! its next iteration, into functions that are called, and back to the callers. The bytecode does not say
//! which call a rollback undoes, so only its tool is reported.

use super::known_values::{jumps, op};
use super::sorted::{is_subset, unite};
use super::{Cost, Planner};
use ilo_asm::sorting::sort_by;
use ilo_spec::isa::Op;
use ilo_spec::operand::{Entries, ToolId};
use ilo_spec::program::{Function, Program};
use std::collections::HashMap;
use std::rc::Rc;

/// Tools whose calls are rollbacks, sorted; shared by the instructions from which they can be reached.
type Tools = Rc<Vec<ToolId>>;

/// All calls of one tool. All lists are sorted.
#[derive(Clone, Default)]
pub(super) struct Sites {
    /// Whether one of them is not a rollback.
    pub(super) forward: bool,
    /// The tools that are registered in one step with these calls.
    pub(super) entries: Vec<ToolId>,
    /// The calls without such an entry.
    pub(super) by_hand: Vec<u32>,
    /// Those of them that no rollback can follow.
    pub(super) bare: Vec<u32>,
    /// The rollbacks that can follow the others.
    pub(super) after: Vec<ToolId>,
}

/// What can follow the calls of a function after it has ended, whichever function called it.
struct Outside {
    after: Tools,
    /// Whether nothing follows one of its calls.
    bare: bool,
}

impl Planner<'_> {
    /// Finds for each tool of the program which rollbacks can follow its calls. The calls that functions make
    /// are known.
    pub(super) fn find_rollbacks(&mut self, functions: &[usize]) -> Option<Vec<Sites>> {
        let mut within: HashMap<usize, Vec<Tools>> = HashMap::new();
        for &index in functions {
            self.note_sections(self.program.functions.get(index)?)?;
            let found = self.rollbacks_from(self.program.functions.get(index)?, &within)?;
            within.insert(index, found);
        }
        let mut sites = vec![Sites::default(); self.program.tools.len()];
        // Callers come first. A function without an entry here is called only by rollbacks.
        let mut outside: HashMap<usize, Outside> = HashMap::new();
        outside.insert(*functions.last()?, Outside { after: Rc::default(), bare: true });
        for &index in functions.iter().rev() {
            let Some(Outside { after, bare }) = outside.remove(&index) else { continue };
            let (function, within) = (self.program.functions.get(index)?, within.get(&index)?);
            for pc in function.start..function.end {
                let op = op(self.program, pc)?;
                self.budget.spend(0)?;
                if is_rollback(self.program, pc, op) {
                    continue;
                }
                let mut follows = from(within, function, pc + 1);
                match op {
                    Op::Tool { call, .. } => {
                        let bare = bare && follows.is_empty();
                        self.budget.spend((follows.len() + after.len()).saturating_mul(4))?;
                        let sites = sites.get_mut(usize::from(self.tool(call)?.0))?;
                        sites.forward = true;
                        sites.by_hand.push(pc);
                        sites.bare.extend(bare.then_some(pc));
                        unite(&mut sites.after, &follows);
                        unite(&mut sites.after, &after);
                    }
                    Op::ToolRollback { call, entries, .. } => {
                        let entries = self.section(pc, entries)?;
                        let sites = sites.get_mut(usize::from(self.tool(call)?.0))?;
                        sites.forward = true;
                        sites.entries.extend(entries);
                    }
                    Op::Invoke { function: callee, .. } => {
                        // The function may fail after some of its calls have succeeded.
                        let mut targets = Vec::new();
                        jumps(self.program, pc, op, |target| targets.push(target));
                        for target in targets {
                            self.unite(&mut follows, &from(within, function, target))?;
                        }
                        let bare = bare && follows.is_empty();
                        self.unite(&mut follows, &after)?;
                        let known = outside
                            .entry(usize::from(callee.0))
                            .or_insert(Outside { after: Rc::default(), bare: false });
                        known.bare |= bare;
                        self.unite(&mut known.after, &follows)?;
                    }
                    _ => {}
                }
            }
        }
        for sites in &mut sites {
            // Functions came from the last to the first.
            sort_by(&mut sites.by_hand, u32::cmp);
            sort_by(&mut sites.bare, u32::cmp);
            sort_by(&mut sites.entries, ToolId::cmp);
            sites.entries.dedup();
        }
        Some(sites)
    }

    /// The tools that are registered in one step with a call.
    fn section(&mut self, pc: u32, Entries(count): Entries) -> Option<Vec<ToolId>> {
        let mut tools = Vec::with_capacity(count.into());
        let mut next = pc + 1;
        while tools.len() < count.into() {
            self.budget.spend(0)?;
            if let Op::Rollback { call, .. } = op(self.program, next)? {
                tools.push(self.tool(call)?);
                self.of_calls.insert(next);
            }
            next += 1;
        }
        Some(tools)
    }

    /// Notes the entries that a function registers in one step with a call. Such an entry undoes that call
    /// and no earlier one.
    fn note_sections(&mut self, function: &Function) -> Option<()> {
        for pc in function.start..function.end {
            self.budget.spend(0)?;
            if let Op::ToolRollback { entries, .. } = op(self.program, pc)? {
                self.section(pc, entries)?;
            }
        }
        Some(())
    }

    /// For each instruction of a function, the rollbacks that can run from it to the end of the function.
    fn rollbacks_from(
        &mut self,
        function: &Function,
        within: &HashMap<usize, Vec<Tools>>,
    ) -> Option<Vec<Tools>> {
        let length = usize::try_from(function.end - function.start).ok()?;
        let mut found: Vec<Tools> = vec![Rc::default(); length];
        for pc in (function.start..function.end).rev() {
            let op = op(self.program, pc)?;
            let mut here = self.run_by(pc, op, within)?;
            let mut targets = Vec::new();
            jumps(self.program, pc, op, |target| targets.push(target));
            if !op.ends() {
                targets.push(pc + 1);
            }
            for target in targets {
                self.unite(&mut here, &from(&found, function, target))?;
            }
            if let Op::Next { back, .. } = op {
                // A further pass may run the body again, or the loop ends.
                for inside in (pc + 1).saturating_sub(back.0.into())..pc {
                    let op = self::op(self.program, inside)?;
                    let own = self.run_by(inside, op, within)?;
                    self.unite(&mut here, &own)?;
                    let (mut left, mut looked_at) = (Vec::new(), 0);
                    jumps(self.program, inside, op, |target| {
                        looked_at += 1;
                        left.extend((target > pc).then_some(target));
                    });
                    self.budget.spend(looked_at)?;
                    for target in left {
                        self.unite(&mut here, &from(&found, function, target))?;
                    }
                }
            }
            *found.get_mut(usize::try_from(pc - function.start).ok()?)? = here;
        }
        Some(found)
    }

    /// The rollbacks that an instruction is, or runs by calling a function.
    fn run_by(&mut self, pc: u32, op: Op, within: &HashMap<usize, Vec<Tools>>) -> Option<Tools> {
        self.budget.spend(0)?;
        let undoes = is_rollback(self.program, pc, op);
        Some(match op {
            Op::Tool { call, .. } if undoes => Rc::new(vec![self.tool(call)?]),
            Op::Rollback { call, .. } if !self.of_calls.contains(&pc) => Rc::new(vec![self.tool(call)?]),
            Op::Invoke { function, .. } if undoes => {
                // Everything that it calls is called as a rollback.
                let cost: &Cost = self.costs.get(&usize::from(function.0))?;
                let tools = cost.iter().map(|&(tool, _)| tool).collect();
                self.budget.spend(cost.len().saturating_mul(4))?;
                Rc::new(tools)
            }
            Op::Invoke { function, .. } => within
                .get(&usize::from(function.0))
                .and_then(|from| from.first())
                .cloned()
                .unwrap_or_default(),
            _ => Rc::default(),
        })
    }

    /// Adds tools to others, sharing storage if there is nothing to add.
    fn unite(&mut self, tools: &mut Tools, more: &Tools) -> Option<()> {
        self.budget.spend(0)?;
        if more.is_empty() || Rc::ptr_eq(tools, more) {
            return Some(());
        }
        self.budget.spend((tools.len() + more.len()).saturating_mul(4))?;
        if is_subset(tools, more) {
            *tools = more.clone();
        } else if !is_subset(more, tools) {
            unite(Rc::make_mut(tools), more);
        }
        Some(())
    }
}

/// The result for an instruction of a function.
fn from(found: &[Tools], function: &Function, pc: u32) -> Tools {
    let index = usize::try_from(pc.saturating_sub(function.start)).ok();
    index.and_then(|index| found.get(index)).cloned().unwrap_or_default()
}

/// Whether a call is a rollback: its failure is only recorded.
pub(super) fn is_rollback(program: &Program, pc: u32, call: Op) -> bool {
    let (Op::Tool { fail, .. } | Op::Invoke { fail, .. }) = call else { return false };
    fail.0 > 0 && matches!(op(program, pc + 1 + u32::from(fail.0)), Some(Op::Note { .. }))
}
