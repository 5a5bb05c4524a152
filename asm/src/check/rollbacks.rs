//! Reports calls that require a ROLLBACK and have none.

use super::facts::Facts;
use super::messages::slots as messages;
use super::report::Report;
use super::resolve::{Resolved, Target};
use super::slot_events::Events;
use crate::ast::Function;

/// Reports calls without a ROLLBACK directly after them, of tools that require one.
pub(super) fn required(
    function: &Function<'_>,
    events: &Events<'_>,
    facts: &Facts,
    resolved: &[Resolved<'_>],
    report: &mut Report<'_>,
) {
    for call in events.calls.iter().flatten() {
        let at = call.id.0 as usize;
        let Some(Target::Tool(tool)) = resolved.get(at).map(|resolved| resolved.target) else { continue };
        let marked = |calls: &[bool]| calls.get(at).copied().unwrap_or_default();
        let rolled_back = marked(&events.registered) || marked(&events.covered);
        let undoes = facts.calls.get(at).is_some_and(|facts| facts.undo);
        if tool.requires_rollback && !rolled_back && !undoes {
            report.push(messages::rollback_required(function, call));
        }
    }
}
