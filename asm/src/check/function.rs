//! Checks one function: its calls, its slots, its types.

use super::after_read_errors::{self, ReadError};
use super::facts::{CallFacts, Facts};
use super::report::Report;
use super::resolve::{Names, Resolved, Target};
use super::slot_events::{Events, Rollback};
use super::{answer_fields, flow, liveness, messages, rollbacks, types};
use crate::ast::{Call, File, Function};
use crate::diagnostic::{Diagnostic, Diagnostics};
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
    rollbacks::check(function, events, &facts, &resolved, report);
    report.diagnostics.append(core::mem::take(&mut events.found));
    let comparisons = report.comparisons();
    let whole = (function, names.inputs(number));
    let types::Found { diagnostics: mut found, reads, returns, answers, counts, compared } =
        types::check(file, whole, &facts, &resolved, &[], comparisons);
    drop_warnings_of_suspects(function, &mut found);
    let found = if function.suspects.is_empty() || !found.has_errors() {
        found
    } else {
        without_suspects(function, found, report, |suspects| {
            let mut left = types::check(file, whole, &facts, &resolved, suspects, comparisons).diagnostics;
            drop_warnings_of_suspects(function, &mut left);
            left
        })
    };
    report.diagnostics.append(found);
    answer_fields::report(reads, function.notation, report);
    let _ = report.spend(compared);
    facts.returns = returns;
    facts.answers = answers;
    facts.counts = counts;
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
    if registered && names.is_function(call.tool.text) {
        report.push(messages::slots::rollback_function(function, call.tool));
        return Resolved::default();
    }
    names.resolve(call, whole, report)
}

/// The most suspects of a function that are examined one by one.
const SUSPECTS: usize = 16;

/// Drops further warnings at suspects, and about lists in their texts: each has a warning already.
fn drop_warnings_of_suspects(function: &Function<'_>, found: &mut Diagnostics) {
    if !function.suspects.is_empty() {
        let inside = |span: Span| {
            let around = |suspect: &&Span| suspect.start <= span.start && span.end <= suspect.end;
            function.suspects.iter().take(SUSPECTS).find(around).is_some()
        };
        found.retain(|_, one, _| {
            let of_part = one.code == Code::ListInText && inside(one.span);
            one.is_error() || !(of_part || function.suspects.contains(&one.span))
        });
    }
}

/// The type errors of a function without those that follow from its suspects. If an error follows from a
/// suspect, the warning about the suspect becomes the error, because the warning has the fix.
fn without_suspects(
    function: &Function<'_>,
    mut found: Diagnostics,
    report: &mut Report<'_>,
    check: impl Fn(&[Span]) -> Diagnostics,
) -> Diagnostics {
    let mut excluded: Vec<Span> = Vec::new();
    for &suspect in function.suspects.iter().take(SUSPECTS) {
        excluded.push(suspect);
        let left = check(&excluded);
        if left.as_slice().len() == found.as_slice().len() {
            excluded.pop();
            continue;
        }
        let at = |error: &&Diagnostic| error.span == suspect;
        let code = found.as_slice().iter().find(at).map_or(Code::TypeMismatch, |error| error.code);
        report.diagnostics.escalate(suspect, code);
        found = left;
    }
    found
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
    report.diagnostics.append(flow::follow(function, events, &bindings));
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
