//! Checks one function: its calls, its slots, its types; and near errors of reading what can still be
//! checked: the names in calls do not depend on references, for example. Editors ask what is inferred
//! about the slots.

use super::facts::{CallFacts, Facts};
use super::report::Report;
use super::resolve::{Names, Resolved, Target};
use super::slot_events::{Events, Rollback};
use super::types::Types;
use super::value_info::KnownSlot;
use super::{answer_fields, flow, liveness};
use crate::ast::{Call, CallId, File, Function};
use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::terms::Terms;
use crate::sorting::sort_by_key;
use crate::span::Span;
use crate::text::some_of;
use ilo_spec::error::Code;
use ilo_spec::limits;
use ilo_spec::node::Word;
use smallvec::SmallVec;

/// Errors of reading after which the tree is complete.
const HARMLESS: [Code; 3] = [Code::UnnamedId, Code::WrongReturn, Code::TypeMismatch];

/// The places of the errors of reading, in order; `None` if some were only counted.
pub(super) fn read_errors(diagnostics: &Diagnostics) -> Option<Vec<u32>> {
    let errors = diagnostics.iter().filter(|found| found.is_error() && !HARMLESS.contains(&found.code));
    let mut list: Vec<u32> = errors.map(|error| error.span.start).collect();
    list.sort_unstable();
    (diagnostics.dropped() == 0).then_some(list)
}

/// The errors in a range of the source.
pub(super) fn within(errors: &[u32], start: u32, end: u32) -> &[u32] {
    let from = errors.partition_point(|&place| place < start);
    let to = errors.partition_point(|&place| place < end);
    errors.get(from..to).unwrap_or_default()
}

/// The calls of which some arguments may be missing from the tree: those on both sides of an error. One at
/// whose name there is an error, or at its opening quote, is taken out.
fn incomplete(calls: &mut [Option<&Call<'_>>], errors: &[u32]) -> Vec<CallId> {
    if errors.is_empty() {
        return Vec::new();
    }
    let mut known: Vec<(u32, CallId)> =
        calls.iter().flatten().map(|call| (call.span.start, call.id)).collect();
    sort_by_key(&mut known, |&(start, _)| start);
    let beside = errors.iter().flat_map(|place| {
        let behind = known.partition_point(|(start, _)| start <= place);
        known.get(behind.saturating_sub(1)..).unwrap_or_default().iter().take(1 + usize::from(behind > 0))
    });
    let incomplete = beside.map(|&(_, call)| call).collect();
    for known in calls {
        let name = known.map(|call| call.tool.span).unwrap_or_default();
        if !within(errors, name.start.saturating_sub(1), name.end.saturating_add(1)).is_empty() {
            *known = None;
        }
    }
    incomplete
}

/// Checks a function; with errors of reading in it, only the names in its calls. Returns its facts, and the
/// functions that it calls, with the spans of the calls.
pub(super) fn check<'a>(
    file: &File<'a>,
    function: &Function<'a>,
    events: &mut Events<'a>,
    errors: &[u32],
    names: &Names<'_, 'a>,
    report: &mut Report<'_>,
) -> (Facts, Vec<(u32, Span)>) {
    let (mut facts, mut resolved) = (Facts::default(), SmallVec::new());
    let incomplete = incomplete(&mut events.calls, errors);
    let mut edges = calls(function, (events, &incomplete), names, (&mut facts, &mut resolved), report);
    // In source order, so that the order of calls does not affect the order of functions.
    sort_by_key(&mut edges, |&(callee, _)| callee);
    names.allowed(function, &events.calls, report);
    if !errors.is_empty() {
        return (Facts::default(), edges);
    }
    follow_slots(function, events, &mut facts, report);
    required(function, events, &facts, &resolved, report);
    report.diagnostics.append(core::mem::take(&mut events.found));
    let comparisons = report.comparisons();
    let whole = (function, &names.records);
    let types = Types::new(file, whole, (&*events, &facts), &resolved, comparisons).check();
    report.diagnostics.append(types.diagnostics);
    types.mistaken.iter().for_each(|&(suspect, code)| report.diagnostics.escalate(suspect, code));
    answer_fields::report(types.reads, function.notation, report);
    let _ = report.spend(types.compared);
    facts.returns = types.returns;
    facts.answers = types.answers;
    facts.optional = types.optional;
    (facts, edges)
}

/// Resolves the calls of a function, for its facts. Returns the functions that it calls, with the spans of
/// the calls.
fn calls<'f, 'a>(
    function: &Function<'a>,
    (events, incomplete): (&Events<'a>, &[CallId]),
    names: &'f Names<'f, 'a>,
    (facts, resolved): (&mut Facts, &mut SmallVec<[Resolved<'f>; 8]>),
    report: &mut Report<'_>,
) -> Vec<(u32, Span)> {
    facts.calls.resize(events.calls.len(), CallFacts::default());
    facts.yields.clone_from(&events.yields);
    let mut edges = Vec::new();
    for (facts, call) in facts.calls.iter_mut().zip(&events.calls) {
        let found = call.map(|call| {
            let whole = !incomplete.contains(&call.id);
            resolve(function, events, names, call, whole, report)
        });
        let found = found.unwrap_or_default();
        if let Target::Function(index) = found.target {
            facts.function = Some(index);
            edges.extend(call.map(|call| (index, call.tool.span)));
        }
        resolved.push(found);
    }
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
        let terms = Terms::of(function.notation);
        let (word, condition) = (terms.word(Word::Rollback), terms.word(Word::If));
        let mut tools = Vec::new();
        own.body.each_call(&mut |call| tools.push(call.tool.text));
        let name = call.tool;
        let message = format!("{word} names the function `{}`, but it takes a tool", name.text);
        let wrong = Diagnostic::new(Code::RollbackFunction, name.span, message)
            .expected("a tool", format!("a function of the file, `{}`", name.text));
        report.push(wrong.help(format!(
            "write the calls of the function here, with their arguments: of {}; where it chooses, {word} is alone \
             in the branches of an {condition} after the call",
            some_of(tools.into_iter())
        )));
        return Resolved::default();
    }
    names.resolve(call, whole, report)
}

fn follow_slots(function: &Function<'_>, events: &Events<'_>, facts: &mut Facts, report: &mut Report<'_>) {
    if function.slots.len() > limits::REGISTERS {
        let slots = Terms::of(function.notation).slots;
        let (given, limit) = (function.slots.len(), limits::REGISTERS);
        let message = format!("`{}` has {given} {slots}, the limit is {limit}", function.name.text);
        let wrong = Diagnostic::new(Code::TooManyRegisters, function.span, message)
            .expected(format!("at most {limit} {slots}"), format!("{given} {slots}"));
        report.push(
            wrong.help(format!("bind the same {slots} again, or move a part into a function of its own")),
        );
        return;
    }
    liveness::note_uses(events, function.slots.len(), &mut facts.calls);
    for rollback in &events.rollbacks {
        compensate(function, rollback, facts, report);
    }
    report.diagnostics.append(flow::follow(function, events, facts));
}

/// Marks a call with UNDO, and one before a `RET_ERR` if nothing reads its result, as a compensation. In a
/// branch of IF it is none, but was one in earlier versions.
fn compensate(function: &Function<'_>, rollback: &Rollback, facts: &mut Facts, report: &mut Report<'_>) {
    let Some(facts) = facts.calls.get_mut(rollback.call.0 as usize) else { return };
    if rollback.bound && !facts.unread {
        return;
    }
    if rollback.in_if {
        let undo = Terms::of(function.notation).word(Word::Undo);
        let message = "if this call fails, the function ends with its failure; earlier versions took it as a \
                       rollback, since its value is not read and a returned failure follows";
        let warning = Diagnostic::new(Code::ImplicitUndo, rollback.span, message)
            .expected(format!("{undo} with the call"), "a call whose value is not read");
        report.push(warning.help(format!("if it undoes earlier work and may fail, write it with {undo}")));
    } else {
        facts.undo = true;
    }
}

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
            let (terms, tool) = (Terms::of(function.notation), call.tool.text);
            let message = format!("the tool `{tool}` requires a rollback, and this call registers none");
            let wrong = Diagnostic::new(Code::RollbackRequired, call.tool.span, message)
                .expected(format!("{} with the call", terms.word(Word::Rollback)), "a call without it");
            report.push(wrong.help(terms.choose(
                "write `ROLLBACK CALL <tool> <count> …` with the tool that undoes it directly after the call",
                "write `rollback` beside `call`, with the `call` that undoes it",
            )));
        }
    }
}

/// Infers the types of the slots in the functions of a file.
pub struct KnownSlots<'f, 'a> {
    file: &'f File<'a>,
    names: Names<'f, 'a>,
}

impl<'f, 'a> KnownSlots<'f, 'a> {
    /// For a file and the available tools. The cost is linear in the number of functions.
    pub fn new(file: &'f File<'a>, catalog: Option<&'f Catalog>) -> KnownSlots<'f, 'a> {
        KnownSlots { file, names: Names::new(file, catalog) }
    }

    /// What is known about the slots of a function, by [`crate::ast::Slot`]; empty if there is no such
    /// function. For a function with errors it covers what could be read. The cost is linear in its length.
    pub fn of(&self, number: usize) -> Vec<KnownSlot<'_>> {
        let Some(function) = self.file.functions.get(number) else { return Vec::new() };
        let mut events = Events::default();
        events.walk(function);
        let mut diagnostics = Diagnostics::default();
        let mut report = Report::without_suggestions(&mut diagnostics);
        let (mut facts, mut resolved) = (Facts::default(), SmallVec::new());
        let _ = calls(function, (&events, &[]), &self.names, (&mut facts, &mut resolved), &mut report);
        follow_slots(function, &events, &mut facts, &mut report);
        let whole = (function, &self.names.records);
        Types::new(self.file, whole, (&events, &facts), &resolved, 0).known()
    }
}
