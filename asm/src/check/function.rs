//! Checks one function: its calls, its slots, its types.

use super::after_read_errors::{self, ReadError};
use super::facts::{CallFacts, Facts};
use super::report::Report;
use super::resolve::{Names, Resolved, Target};
use super::slot_events::{Events, Rollback};
use super::{answer_fields, flow, liveness, messages, rollbacks, types};
use crate::ast::{Call, File, Function};
use crate::diagnostic::Diagnostics;
use crate::sorting::sort_by_key;
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::limits;
use smallvec::{SmallVec, smallvec};

/// Checks a function. Returns its facts, and the functions that it calls, with the spans of the calls.
pub(super) fn check<'a>(
    file: &File<'a>,
    (number, function): (usize, &Function<'a>),
    events: &mut Events<'a>,
    names: &Names<'_, 'a>,
    report: &mut Report<'_>,
) -> (Facts, Vec<(u32, Span)>) {
    let mut facts = Facts {
        calls: smallvec![CallFacts::default(); events.calls.len()],
        yields: events.yields.clone(),
        ..Facts::default()
    };
    let mut edges = Vec::new();
    let mut resolved = SmallVec::<[Resolved<'_>; 8]>::new();
    for (facts, call) in facts.calls.iter_mut().zip(&events.calls) {
        let found = call.map(|call| resolve(function, events, names, call, true, report)).unwrap_or_default();
        if let Target::Function(index) = found.target {
            facts.function = Some(index);
            edges.extend(call.map(|call| (index, call.tool.span)));
        }
        resolved.push(found);
    }
    names.allowed(function, &events.calls, report);
    follow_slots(function, events, &mut facts, report);
    rollbacks::required(function, events, &facts, &resolved, report);
    report.diagnostics.append(core::mem::take(&mut events.found));
    let comparisons = report.comparisons();
    let whole = (function, names.inputs(number));
    let types::Found { diagnostics: mut found, reads, returns, answers, counts, optional, compared } =
        types::check(file, whole, &facts, &resolved, &[], comparisons);
    let suspects = function.suspects.get(..SUSPECTS).unwrap_or(function.suspects);
    drop_warnings_of_suspects(suspects, &mut found);
    if !suspects.is_empty() && found.has_errors() {
        let without = types::check(file, whole, &facts, &resolved, suspects, comparisons);
        let mut left = without.diagnostics;
        drop_warnings_of_suspects(suspects, &mut left);
        escalate_suspects(suspects, &found, &left, report);
        found = left;
    }
    report.diagnostics.append(found);
    answer_fields::report(reads, function.notation, report);
    let _ = report.spend(compared);
    facts.returns = returns;
    facts.answers = answers;
    facts.counts = counts;
    facts.optional = optional;
    // In source order, so that the order of calls does not affect the order of functions.
    sort_by_key(&mut edges, |&(callee, _)| callee);
    (facts, edges)
}

/// Checks the names in the calls of a function that was not read completely. Returns the functions that it
/// calls, with the spans of the calls.
pub(super) fn check_names<'a>(
    function: &Function<'a>,
    events: &Events<'a>,
    names: &Names<'_, 'a>,
    errors: &[ReadError],
    report: &mut Report<'_>,
) -> Vec<(u32, Span)> {
    let mut calls: Vec<&Call<'a>> = events.calls.iter().flatten().copied().collect();
    sort_by_key(&mut calls, |call| call.span.start);
    let incomplete = after_read_errors::incomplete(&calls, errors);
    let mut edges = Vec::new();
    let mut named = Vec::with_capacity(calls.len());
    for (call, incomplete) in calls.into_iter().zip(incomplete) {
        if after_read_errors::hides(errors, call.tool.span) {
            continue;
        }
        let found = resolve(function, events, names, call, !incomplete, report);
        if let Target::Function(index) = found.target {
            edges.push((index, call.tool.span));
        }
        named.push(Some(call));
    }
    names.allowed(function, &named, report);
    sort_by_key(&mut edges, |&(callee, _)| callee);
    edges
}

/// Resolves the target of a call. ROLLBACK may register only calls of tools.
fn resolve<'f, 'a>(
    function: &Function<'a>,
    events: &Events<'a>,
    names: &'f Names<'f, 'a>,
    call: &Call<'a>,
    whole: bool,
    report: &mut Report<'_>,
) -> Resolved<'f> {
    let registered = events.registered.get(call.id.0 as usize).copied().unwrap_or_default();
    if let Some(own) = names.own(call.tool.text).filter(|_| registered) {
        report.push(messages::slots::rollback_function(function, call.tool, &own.body));
        return Resolved::default();
    }
    names.resolve(call, whole, report)
}

/// The most suspects of a function of which nothing is assumed.
const SUSPECTS: usize = 16;

/// Drops further warnings at suspects, and about lists in their texts: each has a warning already.
fn drop_warnings_of_suspects(suspects: &[Span], found: &mut Diagnostics) {
    if !suspects.is_empty() {
        let inside = |span: Span| {
            suspects.iter().any(|suspect| suspect.start <= span.start && span.end <= suspect.end)
        };
        found.retain(|_, one, _| {
            let of_part = one.code == Code::ListInText && inside(one.span);
            one.is_error() || !(of_part || suspects.contains(&one.span))
        });
    }
}

/// Makes errors of the warnings about suspects from which errors follow: those that are left out if nothing
/// is assumed of the suspects. The warnings have the fixes.
fn escalate_suspects(suspects: &[Span], found: &Diagnostics, left: &Diagnostics, report: &mut Report<'_>) {
    if left.as_slice().len() == found.as_slice().len() {
        return;
    }
    let error_at = |suspect: Span| found.as_slice().iter().find(|one| one.span == suspect);
    let is_direct = suspects.iter().any(|&suspect| error_at(suspect).is_some());
    for &suspect in suspects {
        let code = error_at(suspect).map(|error| error.code);
        if let Some(code) = code.or((!is_direct).then_some(Code::TypeMismatch)) {
            report.diagnostics.escalate(suspect, code);
        }
    }
}

fn follow_slots(function: &Function<'_>, events: &Events<'_>, facts: &mut Facts, report: &mut Report<'_>) {
    if function.slots.len() > limits::REGISTERS {
        report.push(messages::slots::too_many(function));
        return;
    }
    let bindings = liveness::bindings(events, function.slots.len());
    for (facts, binding) in facts.calls.iter_mut().zip(&bindings) {
        (facts.checked, facts.unread) = (binding.checked, binding.unread);
    }
    for call in &events.undone {
        if let Some(facts) = facts.calls.get_mut(call.0 as usize) {
            facts.undo = true;
        }
    }
    for rollback in &events.rollbacks {
        compensate(function, rollback, facts, report);
    }
    report.diagnostics.append(flow::follow(function, events, facts));
}

/// Marks a call before a `RET_ERR` as a compensation if nothing reads its result. In a branch of IF it is
/// none, but was one in earlier versions.
fn compensate(function: &Function<'_>, rollback: &Rollback, facts: &mut Facts, report: &mut Report<'_>) {
    let Some(facts) = facts.calls.get_mut(rollback.call.0 as usize) else { return };
    if rollback.bound && !facts.unread {
        return;
    }
    if rollback.in_if {
        report.push(messages::slots::implicit_undo(function, rollback.span));
    } else {
        facts.undo = true;
    }
}
