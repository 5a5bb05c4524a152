//! Everything that can be said of a program before it runs.
//!
//! [`check`] finds names, then follows slots along every path, then types, and reports all that is wrong. What it learns
//! on the way is what lowering needs: [`Checked`]. Each function is walked once into a list of what happens to its slots
//! (`events`), with which blocks have values on the side (`value`); `liveness` runs over that list backwards and `flow`
//! forwards; `types` walks the tree again, and `fields` where a catalogue lists what is in a tool's answer. Everything is linear in the source, and recursion goes no deeper than the
//! nesting that the reader allowed.
//!
//! What is absent on purpose: what constants are worth, which fields a record of the program's own has, how long a list is.

mod bits;
mod describe;
mod entry;
mod events;
mod faults;
mod fields;
mod flow;
mod liveness;
mod mend;
mod resolve;
mod types;
mod value;
mod words;

#[cfg(test)]
mod tests;

pub use entry::entry;

use crate::ast::{Call, File, Function};
use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::notation::Notation;
use crate::span::Span;
use crate::text::{Near, near};
use events::{Events, Rollback};
use faults::{Fault, Faults};
use ilo_spec::error::Code;
use ilo_spec::limits;
use resolve::{Edges, Names, Resolved, Target};
use smallvec::{SmallVec, smallvec};

/// What checking learns of a file.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The functions in an order in which every call goes to an earlier one, as indexes into the file's.
    pub order: Vec<u32>,
    /// What is known of each function, in the file's order.
    pub functions: Vec<Facts>,
}

/// What checking learns of a function.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// By [`crate::ast::CallId`].
    pub calls: SmallVec<[CallFacts; 4]>,
    /// By [`crate::ast::LoopId`]: whether a pass of the loop can yield a value.
    pub yields: SmallVec<[bool; 8]>,
}

impl Facts {
    /// Nothing learnt.
    fn blank(function: &Function<'_>) -> Facts {
        let (calls, loops) = (function.calls as usize, function.loops as usize);
        Facts { calls: smallvec![CallFacts::default(); calls], yields: smallvec![false; loops] }
    }
}

/// What checking learns of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallFacts {
    /// The function of the file that it calls, as an index into the file's; a tool otherwise.
    pub function: Option<u32>,
    /// It is bound by LET and a MATCH takes its result apart.
    pub checked: bool,
    /// It is a compensation: its failure is recorded and the rest goes on.
    pub undo: bool,
    /// It is bound by LET and nothing reads or matches the slot before it is bound again.
    pub unread: bool,
}

/// Checks a file; `None` in `catalog` leaves tools unknown.
///
/// `diagnostics` holds what reading the file found. Of a function that was not read whole the names of what it calls are
/// checked alone, since the rest would be guesses.
pub fn check(file: &File<'_>, catalog: Option<&Catalog>, diagnostics: &mut Diagnostics) -> Checked {
    let names = Names::new(file, catalog);
    let faults = Faults::of(diagnostics);
    let mut report = Report { diagnostics, comparisons: COMPARISONS };
    let mut edges: Edges = Vec::with_capacity(file.functions.len());
    let mut functions = Vec::with_capacity(file.functions.len());
    let mut events = Events::default();
    names.repeated(&mut report);
    let ends = file.functions.iter().skip(1).map(|next| next.span.start).chain([u32::MAX]);
    for (function, end) in file.functions.iter().zip(ends) {
        let faults = faults.within(function.span.start, end);
        let before = report.diagnostics.mark();
        events.walk(function);
        let (facts, calls) = match faults {
            Some([]) => check_function(file, function, &mut events, &names, &mut report),
            Some(faults) => {
                (Facts::blank(function), check_names(function, &events, &names, faults, &mut report))
            }
            None => (Facts::blank(function), Vec::new()),
        };
        report.diagnostics.reword(before, |diagnostic| words::speak(diagnostic, function.notation));
        functions.push(facts);
        edges.push(calls);
    }
    Checked { order: resolve::order(file, &edges, &mut report), functions }
}

/// Checks functions one by one, given the heads of all.
pub(crate) struct Stepwise<'f, 'a> {
    file: &'f File<'a>,
    names: Names<'f, 'a>,
}

impl<'f, 'a> Stepwise<'f, 'a> {
    /// `None` where two functions have one name.
    pub(crate) fn new(file: &'f File<'a>, catalog: Option<&'f Catalog>) -> Option<Stepwise<'f, 'a>> {
        let names = Names::new(file, catalog);
        names.all_different().then_some(Stepwise { file, names })
    }

    /// A checker of some functions, whose trees may be gone when the next ones are checked.
    pub(crate) fn piece<'t>(&self) -> Piece<'_, 'f, 't>
    where
        'a: 't,
    {
        Piece { file: self.file, names: &self.names, events: Events::default() }
    }
}

/// See [`Stepwise::piece`].
pub(crate) struct Piece<'n, 'f, 't> {
    file: &'f File<'t>,
    names: &'n Names<'f, 't>,
    events: Events<'t>,
}

impl<'t> Piece<'_, '_, 't> {
    /// What is learnt of a function; `None` where there is anything to be said of it, or it calls itself or one behind it.
    pub(crate) fn check(&mut self, number: usize, function: &'t Function<'t>) -> Option<Facts> {
        let mut diagnostics = Diagnostics::default();
        let mut report = Report { diagnostics: &mut diagnostics, comparisons: 0 };
        self.events.walk(function);
        let (facts, calls) = check_function(self.file, function, &mut self.events, self.names, &mut report);
        let in_order = calls.iter().all(|&(callee, _)| (callee as usize) < number);
        (in_order && diagnostics.as_slice().is_empty()).then_some(facts)
    }
}

/// What one function's checking gives: its facts, and which functions it calls from where.
fn check_function<'a>(
    file: &File<'a>,
    function: &Function<'a>,
    events: &mut Events<'a>,
    names: &Names<'_, 'a>,
    report: &mut Report<'_>,
) -> (Facts, Vec<(u32, Span)>) {
    let mut facts =
        Facts { calls: smallvec![CallFacts::default(); events.calls.len()], yields: events.yields.clone() };
    let mut edges = Vec::new();
    let mut resolved = SmallVec::<[Resolved<'_>; 8]>::new();
    for (facts, call) in facts.calls.iter_mut().zip(&events.calls) {
        let found = call.map(|call| names.resolve(call, true, report)).unwrap_or_default();
        if let Target::Function(index) = found.target {
            facts.function = Some(index);
            edges.extend(call.map(|call| (index, call.tool.span)));
        }
        resolved.push(found);
    }
    names.allowed(function, &events.calls, report);
    follow_slots(function, events, &mut facts, report);
    report.diagnostics.append(core::mem::take(&mut events.found));
    let found = types::check(file, function, &facts, &resolved, &[]);
    let found = if function.doubts.is_empty() || !found.has_errors() {
        found
    } else {
        without_doubts(function, found, report, |doubts| {
            types::check(file, function, &facts, &resolved, doubts)
        })
    };
    report.diagnostics.append(found);
    fields::check(function, &facts, &resolved, report);
    // In the order of the file, so that the order of calls makes no difference to that of functions.
    edges.sort_by_key(|&(callee, _)| callee);
    (facts, edges)
}

/// Checks what the calls of a function name that was not read whole; gives which functions it calls from where.
fn check_names<'a>(
    function: &Function<'a>,
    events: &Events<'a>,
    names: &Names<'_, 'a>,
    faults: &[Fault],
    report: &mut Report<'_>,
) -> Vec<(u32, Span)> {
    let mut calls: Vec<&Call<'a>> = events.calls.iter().flatten().copied().collect();
    calls.sort_by_key(|call| call.span.start);
    let lacking = faults::lacking(&calls, faults);
    let mut edges = Vec::new();
    let mut named = Vec::with_capacity(calls.len());
    for (call, lacks) in calls.into_iter().zip(lacking) {
        if faults::hide(faults, call.tool.span) {
            continue;
        }
        if let Target::Function(index) = names.resolve(call, !lacks, report).target {
            edges.push((index, call.tool.span));
        }
        named.push(Some(call));
    }
    names.allowed(function, &named, report);
    edges.sort_by_key(|&(callee, _)| callee);
    edges
}

/// How many doubts of a function are looked at one by one.
const DOUBTS: usize = 16;

/// What is wrong with a function's types beside what follows from its doubts. A doubt from which something follows was
/// told as a warning; it is the error now, since its mend is the one.
fn without_doubts(
    function: &Function<'_>,
    mut found: Diagnostics,
    report: &mut Report<'_>,
    check: impl Fn(&[Span]) -> Diagnostics,
) -> Diagnostics {
    let mut settled: Vec<Span> = Vec::new();
    for &doubt in function.doubts.iter().take(DOUBTS) {
        settled.push(doubt);
        let left = check(&settled);
        if left.as_slice().len() == found.as_slice().len() {
            settled.pop();
            continue;
        }
        let at = |error: &&Diagnostic| error.span == doubt;
        let code = found.as_slice().iter().find(at).map_or(Code::TypeMismatch, |error| error.code);
        report.diagnostics.harden(doubt, code);
        found = left;
    }
    found
}

fn follow_slots(function: &Function<'_>, events: &Events<'_>, facts: &mut Facts, report: &mut Report<'_>) {
    if function.slots.len() > limits::REGISTERS {
        let (given, limit) = (function.slots.len(), limits::REGISTERS);
        let message = format!("`{}` has {given} slots, the limit is {limit}", function.name.text);
        report.push(
            Diagnostic::new(Code::TooManyRegisters, function.span, message)
                .expected(format!("at most {limit} slots"), format!("{given} slots"))
                .help("bind the same slots again, or move a part into a function of its own"),
        );
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
        compensate(rollback, facts, function.notation, report);
    }
    report.diagnostics.append(flow::follow(function, events, &bindings));
}

/// Takes a call before a `RET_ERR` as a compensation where nothing reads it.
fn compensate(rollback: &Rollback, facts: &mut Facts, notation: Notation, report: &mut Report<'_>) {
    let Some(facts) = facts.calls.get_mut(rollback.call.0 as usize) else { return };
    if rollback.bound && !facts.unread {
        return;
    }
    facts.undo = true;
    if rollback.in_if {
        let message = "this call is taken as a rollback: its value is not read and RET_ERR follows";
        let warning = Diagnostic::new(Code::ImplicitUndo, rollback.span, message)
            .expected("UNDO before the call", "a call whose value is not read")
            .help("UNDO says that it is one; read its value if its failure should count");
        report.push(if notation == Notation::Id {
            warning.fix(mend::undo(rollback.before))
        } else {
            warning
        });
    }
}

/// How many names are compared in all to suggest one, so that suggestions cannot make checking slow.
const COMPARISONS: usize = 1 << 16;

/// Where checking reports to.
struct Report<'d> {
    diagnostics: &'d mut Diagnostics,
    comparisons: usize,
}

impl Report<'_> {
    fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Whether more would only be counted.
    fn is_full(&self) -> bool {
        self.diagnostics.is_full()
    }

    /// The name among the candidates that this one most likely stands for.
    fn near<'n>(&mut self, name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<Near<'n>> {
        let left = &mut self.comparisons;
        near(
            name,
            candidates.take_while(|_| {
                let more = *left > 0;
                *left = left.saturating_sub(1);
                more
            }),
        )
    }
}
