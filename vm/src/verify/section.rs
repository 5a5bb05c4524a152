//! The section of a `tool.rollback`: the code from the call to the last of its `rollback`s.
//!
//! It computes the arguments of the entries and pushes them, and does nothing else: every path passes every
//! `rollback` in order, and nothing in it leaves the function, calls, or loops. Only the failure of a pure
//! function may leave the section, to a handler behind it.

use super::rules::Rule;
use crate::value::at;
use ilo_spec::isa::Op;
use ilo_spec::operand::{OnFail, Role};
use ilo_spec::program::Program;

/// Checks a section. `code` is that of the function from the instruction after the `tool.rollback` on.
///
/// Returns how many instructions it has, and how many arguments its entries have together. Indexes of calls
/// and maps are checked here as well, because the pass has not come to them yet.
pub(super) fn section(program: &Program, code: &[Op], entries: u8) -> Result<(u32, u32), Rule> {
    let broken = Rule::Section { expected: entries };
    let (mut left, mut arguments, mut furthest) = (entries, 0_u32, 0_u64);
    let mut handler = u64::MAX;
    for (place, op) in (0_u32..).zip(code) {
        if left == 0 || !is_allowed(op) {
            break;
        }
        if let Op::Apply { fail: OnFail(fail @ 1..), .. } = *op {
            handler = handler.min(u64::from(place) + 1 + u64::from(fail));
            continue;
        }
        let jump = jump(program, op).ok_or(broken)?;
        if jump > 0 {
            furthest = furthest.max(u64::from(place) + 1 + u64::from(jump));
        }
        let Op::Rollback { call, .. } = *op else { continue };
        if furthest > place.into() || handler <= place.into() {
            return Err(broken);
        }
        let call = program.calls.get(usize::from(call.0)).ok_or(broken)?;
        let shape = program.shapes.get(usize::from(call.shape.0)).ok_or(broken)?;
        // A window has at most 256 registers, which the pass checks.
        arguments = arguments.saturating_add(u32::try_from(shape.len()).unwrap_or(u32::MAX));
        left -= 1;
        if left == 0 {
            return Ok((place + 1, arguments));
        }
    }
    Err(broken)
}

/// The greatest distance that an instruction jumps forward, 0 if it does not; `None` if its map does not
/// exist.
fn jump(program: &Program, op: &Op) -> Option<u16> {
    if let Op::Switch { map, .. } = op {
        let map = program.maps.get(at(map.0))?;
        return Some(map.cases.iter().map(|&(_, by)| by).chain(map.default).max().unwrap_or(0));
    }
    let mut distance = 0;
    op.roles(|_, role| {
        if let Role::Forward(by) = role {
            distance = by;
        }
    });
    Some(distance)
}

/// Whether an instruction may be in a section: it computes a value, jumps forward or pushes an entry.
fn is_allowed(op: &Op) -> bool {
    match op {
        Op::For { .. }
        | Op::Each { .. }
        | Op::Next { .. }
        | Op::Yield { .. }
        | Op::YieldRecord { .. }
        | Op::Collect { .. }
        | Op::YieldTwo { .. }
        | Op::YieldThree { .. }
        | Op::YieldFour { .. }
        | Op::Break { .. }
        | Op::Tool { .. }
        | Op::ToolRollback { .. }
        | Op::Invoke { .. }
        | Op::Note { .. } => false,
        Op::Jump { .. } | Op::Switch { .. } => true,
        _ => !op.ends(),
    }
}
