//! Checks rollbacks: tools that ROLLBACK registers and that UNDO also calls on some path, and calls that
//! require a ROLLBACK and have none.
//!
//! The first is a forward dataflow analysis over the events: the set of registered tools. The set only grows,
//! so the effect of a loop is the set after one iteration. One run computes it for each loop, a second run
//! uses it, and the whole is linear.

use super::facts::Facts;
use super::messages::slots as messages;
use super::report::Report;
use super::resolve::{Resolved, Target};
use super::slot_events::{Event, Events, Failing};
use super::slot_set::{Bits, WORDS};
use crate::ast::{CallId, Function, LoopId, Name, Slot};
use hashbrown::HashMap;
use ilo_spec::limits;

/// Checks the rollbacks of a function.
pub(super) fn check(
    function: &Function<'_>,
    events: &Events<'_>,
    facts: &Facts,
    resolved: &[Resolved<'_>],
    report: &mut Report<'_>,
) {
    required(function, events, facts, resolved, report);
    if events.registered.contains(&true) {
        doubled(function, events, facts, report);
    }
}

/// Reports calls without a ROLLBACK directly after them, of tools that require one.
fn required(
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

/// The tools that ROLLBACK registers, numbered, each with its name in the first ROLLBACK. Tools beyond the
/// size of a set are left out.
fn entries<'a>(events: &Events<'a>) -> HashMap<&'a str, (Slot, Name<'a>)> {
    let mut entries = HashMap::new();
    let is_entry = |id: CallId| events.registered.get(id.0 as usize).copied().unwrap_or_default();
    for call in events.calls.iter().flatten().filter(|call| is_entry(call.id)) {
        let next = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        if entries.len() < limits::REGISTERS {
            entries.entry(call.tool.text).or_insert((Slot(next), call.tool));
        }
    }
    entries
}

/// Reports each UNDO of a tool that a ROLLBACK has registered on some path to it.
fn doubled(function: &Function<'_>, events: &Events<'_>, facts: &Facts, report: &mut Report<'_>) {
    let mut flow = Flow {
        events,
        entries: entries(events),
        passes: vec![None; events.yields.len()],
        broken: vec![None; events.yields.len()],
        skipped: vec![None; events.yields.len()],
        failed: vec![None; events.yields.len()],
        caught: vec![None; events.tries as usize],
    };
    if !events.yields.is_empty() {
        flow.run(false, |_, _| ());
    }
    let is_undo = |id: CallId| facts.calls.get(id.0 as usize).is_some_and(|facts| facts.undo);
    flow.run(true, |id, entry| {
        let call = events.calls.get(id.0 as usize).copied().flatten();
        if let Some(call) = call.filter(|_| is_undo(id)) {
            report.push(messages::double_rollback(function, call.tool, entry));
        }
    });
}

/// The tools that may be registered at a point; `None` if it is unreachable.
type State = Option<Bits<WORDS>>;

fn meet(state: &mut State, other: State) {
    match (state.as_mut(), other) {
        (Some(state), Some(other)) => state.extend(&other),
        (None, other) => *state = other,
        (Some(_), None) => {}
    }
}

struct Flow<'e, 'a> {
    events: &'e Events<'a>,
    entries: HashMap<&'a str, (Slot, Name<'a>)>,
    /// The set after an iteration of the loop, by [`crate::ast::LoopId`].
    passes: Vec<State>,
    /// The set at the BREAKs of the loop, by [`crate::ast::LoopId`].
    broken: Vec<State>,
    /// The set at the SKIPs of the loop, by [`crate::ast::LoopId`].
    skipped: Vec<State>,
    /// The set at the failures that leave the loop, by [`crate::ast::LoopId`].
    failed: Vec<State>,
    /// The set at the failures that go to the handler of a TRY, by its number.
    caught: Vec<State>,
}

impl<'a> Flow<'_, 'a> {
    /// Runs the analysis: first to find the effect of an iteration of each loop, then with it.
    fn run(&mut self, with_passes: bool, mut undone: impl FnMut(CallId, Name<'a>)) {
        let mut state: State = Some(Bits::default());
        // The set at the fork or at the start of the loop, and the set after the first branch.
        let mut open: Vec<(State, Option<State>)> = Vec::new();
        for event in &self.events.list {
            match *event {
                Event::Register(call) => {
                    if let (Some(state), Some((tool, _))) = (&mut state, self.entry(call)) {
                        state.insert(tool);
                    }
                }
                Event::Undo(call) => {
                    if let (Some(state), Some((tool, entry))) = (&state, self.entry(call))
                        && state.has(tool)
                    {
                        undone(call, entry);
                    }
                }
                Event::Exit(..) => state = None,
                Event::Fork | Event::Try => open.push((state, None)),
                Event::MayFail(Failing { to, from, .. }) => {
                    let place = match from.filter(|_| !with_passes) {
                        Some(id) => self.failed.get_mut(id.0 as usize),
                        None => self.caught.get_mut(to.0 as usize),
                    };
                    place.into_iter().for_each(|place| meet(place, state));
                }
                Event::Handler(id, _) => {
                    let caught = self.caught.get_mut(id.0 as usize).and_then(Option::take);
                    if let Some((_, first)) = open.last_mut() {
                        (*first, state) = (Some(state), caught);
                    }
                }
                Event::Branch(..) => match open.last_mut() {
                    Some((before, first @ None)) => {
                        (*first, state) = (Some(None), *before);
                    }
                    Some((before, Some(first))) => {
                        (*first, state) = (state, *before);
                    }
                    None => {}
                },
                Event::Join | Event::Caught => {
                    if let Some((_, Some(first))) = open.pop() {
                        meet(&mut state, first);
                    }
                }
                Event::Loop(id, _) => {
                    open.push((state, None));
                    let passes = self.passes.get(id.0 as usize).copied().flatten();
                    match (with_passes, &mut state) {
                        (true, Some(_)) => meet(&mut state, passes),
                        (true, None) => {}
                        (false, _) => state = Some(Bits::default()),
                    }
                }
                Event::Repeat(id, _) => {
                    let skipped = self.skipped.get_mut(id.0 as usize).and_then(Option::take);
                    meet(&mut state, skipped);
                    if let Some(place) = self.passes.get_mut(id.0 as usize).filter(|_| !with_passes) {
                        *place = state;
                    }
                    if let Some((before, _)) = open.pop() {
                        let pass = state.filter(|_| before.is_some());
                        state = before;
                        meet(&mut state, pass);
                        if let Some(broken) = self.broken.get_mut(id.0 as usize).filter(|_| !with_passes)
                            && broken.is_some()
                        {
                            // So far it is what the iteration itself has registered.
                            meet(broken, state);
                            *broken = before.and(*broken);
                        }
                        self.failed_in(id, state.filter(|_| before.is_some()));
                    }
                }
                Event::Break(id, _) => {
                    if let Some(broken) = self.broken.get_mut(id.0 as usize) {
                        meet(broken, state);
                    }
                    state = None;
                }
                Event::Skip(id, _) => {
                    if let Some(skipped) = self.skipped.get_mut(id.0 as usize) {
                        meet(skipped, state);
                    }
                    state = None;
                }
                Event::Done(id, _) => {
                    let broken = self.broken.get_mut(id.0 as usize).and_then(Option::take);
                    meet(&mut state, broken);
                }
                Event::Statement(_)
                | Event::Read(..)
                | Event::Bind(..)
                | Event::BindCall(..)
                | Event::Match(..) => {}
            }
        }
    }

    /// After a loop: passes on the set at the failures that have left it, with `state`, which earlier
    /// iterations and the code before the loop have registered.
    fn failed_in(&mut self, id: LoopId, state: State) {
        let Some(mut failed) = self.failed.get_mut(id.0 as usize).and_then(Option::take).map(Some) else {
            return;
        };
        meet(&mut failed, state);
        if let (Some((to, from)), Some(_)) = (self.events.left.get(id.0 as usize).copied().flatten(), state) {
            let place = match from {
                Some(outer) => self.failed.get_mut(outer.0 as usize),
                None => self.caught.get_mut(to.0 as usize),
            };
            place.into_iter().for_each(|place| meet(place, failed));
        }
    }

    /// The number of the tool of a call, and its name in the first ROLLBACK.
    fn entry(&self, call: CallId) -> Option<(Slot, Name<'a>)> {
        let call = self.events.calls.get(call.0 as usize).copied().flatten()?;
        self.entries.get(call.tool.text).copied()
    }
}
