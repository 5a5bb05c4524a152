//! What each register holds at each loop and call, if it has a name: one forward pass over a function.
//!
//! Where paths meet, only what they agree on stays known; what a loop writes is unknown throughout it. So a
//! reported name or length is right on every path.

use super::Budget;
use super::bound::{Known, Name};
use ilo_spec::isa::Op;
use ilo_spec::operand::{Operand as _, Role};
use ilo_spec::program::{Function, Number, Program};
use ilo_spec::pure::Pure;
use std::collections::HashMap;
use std::rc::Rc;

/// The values that are known at the loops and calls of one function.
#[derive(Default)]
pub(super) struct Facts {
    /// The list of the loop that begins at an instruction.
    pub(super) lists: HashMap<u32, Known>,
    /// The arguments of the call of an own function at an instruction.
    pub(super) arguments: HashMap<u32, Vec<Known>>,
}

type State = Vec<Known>;

/// The name of a list that nothing else is known about, by its position.
pub(super) fn unnamed(program: &Program, pc: u32) -> Name {
    Name::plain(match program.position(pc) {
        Some(place) => format!("the list at line {}, column {}", place.line, place.column),
        None => format!("the list at instruction {pc}"),
    })
}

/// The instructions that may follow an instruction, except itself and loops.
pub(super) fn jumps(program: &Program, pc: u32, op: Op, mut each: impl FnMut(u32)) {
    let next = pc + 1;
    let mut go = |distance: u16| each(next.saturating_add(distance.into()));
    op.roles(|_, role| match role {
        Role::Forward(distance) => go(distance),
        Role::OnFail(distance) if distance > 0 => go(distance),
        Role::Map(id) => {
            let map = usize::try_from(id).ok().and_then(|id| program.maps.get(id));
            for &distance in map.iter().flat_map(|map| map.cases.iter().map(|(_, to)| to).chain(&map.default))
            {
                go(distance);
            }
        }
        _ => {}
    });
}

/// The instruction at a place.
pub(super) fn op(program: &Program, pc: u32) -> Option<Op> {
    program.code.get(usize::try_from(pc).ok()?).copied()
}

/// The loop that begins with an instruction: the first of its body, and its `next`.
pub(super) fn loop_at(program: &Program, pc: u32) -> Option<(u32, u32)> {
    let (Op::For { to, .. } | Op::Each { to, .. }) = op(program, pc)? else { return None };
    let end = (pc + 1).checked_add(to.0.into())?;
    let Op::Next { back, .. } = op(program, end)? else { return None };
    Some(((end + 1).checked_sub(back.0.into())?, end))
}

pub(super) fn facts(program: &Program, function: &Function, budget: &mut Budget) -> Option<Facts> {
    let mut facts = Facts::default();
    let mut pending: HashMap<u32, State> = HashMap::new();
    let mut first = vec![Known::Nothing; ilo_spec::limits::REGISTERS];
    for (index, register) in first.iter_mut().enumerate().take(function.parameters.len()) {
        *register = Known::Named(Rc::new(Name::parameter(index)));
    }
    let mut current = Some(first);
    for pc in function.start..function.end {
        let mut state = match (current.take(), pending.remove(&pc)) {
            (Some(fallen), Some(arrived)) => meet(fallen, arrived, budget)?,
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => continue,
        };
        let Some(op) = op(program, pc) else { break };
        if let Op::For { base, list, .. } | Op::Each { base, list, .. } = op {
            let list = get(&state, list.0);
            facts.lists.insert(pc, list.clone());
            set(&mut state, base.0, list.clone());
            let Some((body, end)) = loop_at(program, pc) else { break };
            forget_written(program, body, end, &mut state, budget)?;
            arrive(&mut pending, end + 1, &state, budget)?;
            if let Some(Op::Next { item, .. }) = self::op(program, end) {
                set(&mut state, item.0, derived(&list, |name| name.prefixed("each item of ")));
            }
            arrive(&mut pending, body, &state, budget)?;
            continue;
        }
        if matches!(op, Op::Next { .. }) {
            continue;
        }
        if let Op::Invoke { first, function, .. } = op {
            let callee = program.functions.get(usize::from(function.0))?;
            let window = (0..callee.parameters.len()).map(|at| {
                u8::try_from(usize::from(first.0) + at)
                    .map_or(Known::Nothing, |register| get(&state, register))
            });
            facts.arguments.insert(pc, window.collect());
        }
        step(program, op, &mut state);
        let mut targets = Vec::new();
        jumps(program, pc, op, |target| targets.push(target));
        for target in targets {
            arrive(&mut pending, target, &state, budget)?;
        }
        if !op.ends() {
            current = Some(state);
        }
    }
    Some(facts)
}

fn get(state: &State, register: u8) -> Known {
    state.get(usize::from(register)).cloned().unwrap_or(Known::Nothing)
}

fn set(state: &mut State, register: u8, known: Known) {
    if let Some(place) = state.get_mut(usize::from(register)) {
        *place = known;
    }
}

fn derived(known: &Known, derive: impl FnOnce(&Name) -> Option<Name>) -> Known {
    match known {
        Known::Named(name) => derive(name).map_or(Known::Nothing, |name| Known::Named(Rc::new(name))),
        Known::Items(_) | Known::Count(_) | Known::Nothing => Known::Nothing,
    }
}

fn arrive(pending: &mut HashMap<u32, State>, at: u32, state: &State, budget: &mut Budget) -> Option<()> {
    budget.spend(state.len())?;
    let known = match pending.remove(&at) {
        Some(before) => meet(before, state.clone(), budget)?,
        None => state.clone(),
    };
    pending.insert(at, known);
    Some(())
}

/// What both agree on; `None` if the budget is used up.
fn meet(mut state: State, other: State, budget: &mut Budget) -> Option<State> {
    budget.spend(state.len())?;
    for (known, other) in state.iter_mut().zip(other) {
        if *known != other {
            *known = Known::Nothing;
        }
    }
    Some(state)
}

fn forget_written(
    program: &Program,
    from: u32,
    to: u32,
    state: &mut State,
    budget: &mut Budget,
) -> Option<()> {
    for pc in from..=to {
        budget.spend(1)?;
        let Some(op) = op(program, pc) else { break };
        if let Op::For { base, .. } | Op::Each { base, .. } = op {
            set(state, base.0, Known::Nothing);
        }
        forget_output(op, state);
    }
    Some(())
}

fn forget_output(op: Op, state: &mut State) {
    op.roles(|_, role| {
        if let Role::Write(register) = role {
            set(state, register, Known::Nothing);
        }
    });
}

/// Applies an instruction that is not a jump to the known values.
fn step(program: &Program, op: Op, state: &mut State) {
    let text = |id| program.strings.get(id).unwrap_or("?");
    let result_of = |name: &str| {
        let name = crate::problem::shortened(name, 60);
        Known::Named(Rc::new(Name::plain(format!("result of {name}"))))
    };
    let output = match op {
        Op::Move { dst, src } => Some((dst, get(state, src.0))),
        Op::Field { dst, src, field } => {
            let name = text(ilo_spec::operand::StringId(field.0.into()));
            Some((dst, derived(&get(state, src.0), |value| value.field(name))))
        }
        Op::At { dst, list, .. } => {
            Some((dst, derived(&get(state, list.0), |name| name.prefixed("an item of "))))
        }
        Op::List { dst, count, .. } => Some((dst, Known::Items(count.0.into()))),
        // A pass adds at most one item.
        Op::Collect { dst, base } | Op::Break { dst, base, .. } => Some((
            dst,
            match get(state, base.0) {
                Known::Items(most) => Known::Items(most),
                list => derived(&list, |name| name.prefixed("list made from ")),
            },
        )),
        Op::Int { dst, value } => Some((dst, u64::try_from(value.0).map_or(Known::Nothing, Known::Count))),
        Op::Number { dst, number } => {
            let number = program.numbers.get(usize::from(number.0));
            let count = match number {
                Some(&Number::Int(count)) => u64::try_from(count).ok(),
                _ => None,
            };
            Some((dst, count.map_or(Known::Nothing, Known::Count)))
        }
        Op::Apply { dst, first, function, .. } => {
            let range = Pure::from_number(function.0) == Some(Pure::Range);
            Some(match get(state, first.0) {
                Known::Count(count) if range => (dst, Known::Items(count)),
                _ => (dst, Known::Nothing),
            })
        }
        Op::Tool { dst, call, .. } | Op::ToolRollback { dst, call, .. } => {
            let tool = program.calls.get(usize::from(call.0)).map(|call| call.tool);
            let name =
                tool.and_then(|tool| program.tools.get(usize::from(tool.0)).copied()).map_or("?", text);
            Some((dst, result_of(name)))
        }
        Op::Invoke { dst, function, .. } => {
            let name =
                program.functions.get(usize::from(function.0)).map_or("?", |function| text(function.name));
            Some((dst, result_of(name)))
        }
        _ => None,
    };
    forget_output(op, state);
    if let Some((register, known)) = output {
        debug_assert!(matches!(register.role(), Role::Write(_)), "only outputs are set");
        set(state, register.0, known);
    }
}
