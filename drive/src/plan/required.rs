//! What tools require of a program: rollback entries for their calls, and a journal for deferred answers.

use super::undo::is_rollback;
use crate::policy::Policies;
use crate::problem::Problem;
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::operand::StringId;
use std::collections::HashSet;

/// Calls that register no rollback, though the tools file marks their tools as `"rollback": "required"`. Each
/// tool is reported once, with the first of its calls.
pub fn without_rollback(program: &ilo_vm::Program, tools: &dyn Policies) -> Vec<Problem> {
    let requires = |name: &str| tools.policy(name).is_some_and(|policy| policy.requires_rollback);
    if !program.tools().any(requires) {
        return Vec::new();
    }
    let program = program.spec();
    let text = |id: StringId| program.strings.get(id).unwrap_or("?");
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for (pc, &op) in (0_u32..).zip(&program.code) {
        let Op::Tool { call, .. } = op else { continue };
        let tool = program.calls.get(usize::from(call.0)).map(|call| call.tool);
        let Some(name) = tool.and_then(|tool| program.tools.get(usize::from(tool.0)).copied()).map(text)
        else {
            continue;
        };
        if is_rollback(program, pc, op) || !requires(name) || !seen.insert(name) {
            continue;
        }
        let place = match program.position(pc) {
            Some(at) => format!("line {}, column {}", at.line, at.column),
            None => format!("instruction {pc}"),
        };
        let message = format!(
            "the tools file requires a rollback for `{name}`, and the call at {place} registers none: write \
             ROLLBACK directly after it, or `rollback` beside `call`"
        );
        found.push(Problem::new(Code::RollbackRequired, format!("tool `{name}`"), message));
    }
    found
}

/// Tools with deferred answers, for a run without a journal: nothing could wait for the answers.
pub fn without_journal(program: &ilo_vm::Program, tools: &dyn Policies) -> Vec<Problem> {
    let deferred = |name: &&str| tools.policy(name).is_some_and(|policy| policy.deferred);
    let problem = |name: &str| {
        let message = format!(
            "the answer of `{name}` comes later (`deferred`), and only a run with a journal can wait for it: \
             give `--journal FILE`"
        );
        Problem::new(Code::BadUsage, format!("tool `{name}`"), message)
    };
    program.tools().filter(deferred).map(problem).collect()
}
