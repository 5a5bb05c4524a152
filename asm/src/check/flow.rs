//! Flow analysis: what each slot may hold at each point: nothing, a plain value, or the result of a call that
//! a MATCH handles.
//!
//! It is a forward dataflow analysis over the events. As in [`super::liveness`], the effect of a loop is
//! computed once per loop, inner loops first, so that the whole is linear. The first run only finds out
//! whether anything is wrong; if so, a second run records why slots are unset.
//!
//! A tool that ROLLBACK registers is followed like a slot that this binds, so that an UNDO of it is found.
//!
//! After an error the slot is assumed to hold what it should have held, so that one mistake is reported once.

use super::facts::Facts;
use super::messages::slots::{self as messages, Loss, Plain};
use super::report::{Path, Unset};
use super::slot_events::{Ending, Event, Events, Failing};
use super::slot_set::{Bits, FEW, WORDS, put};
use crate::ast::{CallId, Function, Name, Slot};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;
use hashbrown::HashMap;
use ilo_spec::error::Code;
use smallvec::{SmallVec, smallvec};

/// Analyses a function of at most [`ilo_spec::limits::REGISTERS`] slots.
pub(super) fn follow(function: &Function<'_>, events: &Events<'_>, facts: &Facts) -> Diagnostics {
    let entries = entries(function, events);
    if function.slots.len() + entries.len() <= FEW {
        of_width::<1>(function, events, facts, &entries)
    } else {
        of_width::<WORDS>(function, events, facts, &entries)
    }
}

/// The tools that ROLLBACK registers, each with a number behind those of the slots, and its name in the first
/// ROLLBACK.
type Entries<'a> = HashMap<&'a str, (Slot, Name<'a>)>;

fn entries<'a>(function: &Function<'_>, events: &Events<'a>) -> Entries<'a> {
    let mut entries = HashMap::new();
    for (call, _) in events.calls.iter().zip(&events.registered).filter(|&(_, registered)| *registered) {
        let next = u32::try_from(function.slots.len() + entries.len()).unwrap_or(u32::MAX);
        if let Some(call) = call {
            entries.entry(call.tool.text).or_insert((Slot(next), call.tool));
        }
    }
    entries
}

fn of_width<'a, const W: usize>(
    function: &Function<'a>,
    events: &Events<'a>,
    facts: &Facts,
    entries: &Entries<'a>,
) -> Diagnostics {
    if Forward::<W, Unrecorded>::over(function, events, facts, entries).wrong {
        Forward::<W, Recorded>::over(function, events, facts, entries).found
    } else {
        Diagnostics::default()
    }
}

/// The reasons why slots are unset, in the second run.
trait Reasons: Clone + Default {
    /// Whether this is the second run, which records reasons and builds diagnostics.
    const RECORDED: bool;

    /// No reasons, for this number of slots.
    fn none(slots: usize) -> Self;

    /// Records the event that leaves a slot unset.
    fn of(&self, slot: Slot) -> Option<u32>;

    fn set(&mut self, slot: Slot, reason: Option<u32>);
}

/// The first run records nothing.
#[derive(Clone, Default)]
struct Unrecorded;

impl Reasons for Unrecorded {
    const RECORDED: bool = false;

    fn none(_: usize) -> Unrecorded {
        Unrecorded
    }

    fn of(&self, _: Slot) -> Option<u32> {
        None
    }

    fn set(&mut self, _: Slot, _: Option<u32>) {}
}

/// By slot.
#[derive(Clone, Default)]
struct Recorded(Vec<Option<u32>>);

impl Reasons for Recorded {
    const RECORDED: bool = true;

    fn none(slots: usize) -> Recorded {
        Recorded(vec![None; slots])
    }

    fn of(&self, slot: Slot) -> Option<u32> {
        self.0.get(slot.0 as usize).copied().flatten()
    }

    fn set(&mut self, slot: Slot, reason: Option<u32>) {
        put(&mut self.0, slot.0, reason);
    }
}

/// The state at a point: the sets of slots by what they may hold.
#[derive(Clone, Default)]
struct State<const W: usize, R> {
    /// Whether the point is reachable. If not, all sets are empty.
    live: bool,
    unset: Bits<W>,
    plain: Bits<W>,
    checked: Bits<W>,
    /// Slots that may be unchanged since the iteration of the innermost loop began; only in the run that
    /// computes loops.
    kept: Bits<W>,
    reasons: R,
}

impl<const W: usize, R: Reasons> State<W, R> {
    fn settle(&mut self, slot: Slot, holds: Holds) {
        for set in [&mut self.unset, &mut self.plain, &mut self.checked, &mut self.kept] {
            set.remove(slot);
        }
        if self.live {
            match holds {
                Holds::Nothing => self.unset.insert(slot),
                Holds::Plain => self.plain.insert(slot),
                Holds::Checked => self.checked.insert(slot),
            }
        }
    }

    fn leave(&mut self) {
        *self = State { reasons: core::mem::take(&mut self.reasons), ..State::default() };
    }

    /// Joins `other` into this state. If only one side leaves a slot unset and no reason is recorded, the
    /// event of that side becomes the reason.
    fn meet(&mut self, other: &State<W, R>, this_event: u32, other_event: u32) {
        if R::RECORDED {
            let mut unset = self.unset;
            unset.extend(&other.unset);
            for slot in unset.iter() {
                let set_elsewhere = |state: &State<W, R>| state.plain.has(slot) || state.checked.has(slot);
                let reason = match (self.unset.has(slot), other.unset.has(slot)) {
                    (true, false) if set_elsewhere(other) => self.reasons.of(slot).or(Some(this_event)),
                    (true, false) => self.reasons.of(slot),
                    (false, true) if set_elsewhere(self) => other.reasons.of(slot).or(Some(other_event)),
                    (false, _) => other.reasons.of(slot),
                    (true, true) => self.reasons.of(slot).or(other.reasons.of(slot)),
                };
                self.reasons.set(slot, reason);
            }
        }
        self.live |= other.live;
        self.unset.extend(&other.unset);
        self.plain.extend(&other.plain);
        self.checked.extend(&other.checked);
        self.kept.extend(&other.kept);
    }

    /// Turns the state at a BREAK into the state after the loop. `start` is the state at the start of an
    /// iteration.
    fn behind(&mut self, start: &State<W, R>) {
        let kept = core::mem::take(&mut self.kept);
        let from = [&start.unset, &start.plain, &start.checked, &start.kept];
        for (set, from) in
            [&mut self.unset, &mut self.plain, &mut self.checked, &mut self.kept].into_iter().zip(from)
        {
            let mut from = *from;
            from.keep(&kept);
            set.extend(&from);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    Plain,
    Checked,
}

/// An open fork or loop.
struct Open<const W: usize, R> {
    /// The state at the fork, or the state after the loop without the effect of its iterations.
    before: State<W, R>,
    /// The state after the first branch and the start of that branch, once the second one has begun.
    first: Option<(State<W, R>, u32)>,
    /// The start of the current branch.
    branch: Option<u32>,
    is_loop: bool,
}

impl<const W: usize, R> Open<W, R> {
    fn new(before: State<W, R>) -> Open<W, R> {
        Open { before, first: None, branch: None, is_loop: false }
    }
}

/// The state at the BREAKs or the SKIPs of a loop, with the last of them; `None` without one.
type Left<const W: usize, R> = Option<(State<W, R>, u32)>;

/// BREAK or SKIP: control does not continue here but where the loop or its pass has ended.
fn leave<const W: usize, R: Reasons>(left: Option<&mut Left<W, R>>, state: &mut State<W, R>, index: u32) {
    add(left, state, index);
    state.leave();
}

/// Adds a state to those that continue elsewhere.
fn add<const W: usize, R: Reasons>(left: Option<&mut Left<W, R>>, state: &State<W, R>, index: u32) {
    match left.filter(|_| state.live) {
        Some(Some((before, event))) => before.meet(state, *event, index),
        Some(none) => *none = Some((state.clone(), index)),
        None => {}
    }
}

struct Forward<'e, 'a, const W: usize, R> {
    function: &'e Function<'a>,
    events: &'e Events<'a>,
    facts: &'e Facts,
    entries: &'e Entries<'a>,
    /// The effect of the iterations of a loop on the slots that they set, by [`crate::ast::LoopId`].
    loops: SmallVec<[State<W, R>; 2]>,
    /// The state at the BREAKs of a loop and the last BREAK, by [`crate::ast::LoopId`].
    broken: SmallVec<[Left<W, R>; 2]>,
    /// The state at the SKIPs of a loop and the last SKIP, by [`crate::ast::LoopId`]; empty without a SKIP.
    skipped: Vec<Left<W, R>>,
    /// The state at the failures that leave a loop, by [`crate::ast::LoopId`]; only in the run that computes
    /// loops, and only with a TRY.
    failed: Vec<Left<W, R>>,
    /// The state at the failures that go to the handler of a TRY, by [`super::slot_events::TryId`].
    caught: Vec<Left<W, R>>,
    /// Whether this run only computes the effects of loops.
    only_loops: bool,
    wrong: bool,
    /// By slot: the last statement that bound it to a checked call.
    bound_by: Vec<Option<Span>>,
    /// Whether the previous statement was unreachable too.
    unreachable: bool,
    found: Diagnostics,
}

impl<'e, 'a, const W: usize, R: Reasons> Forward<'e, 'a, W, R> {
    /// Analyses the slots of a function.
    fn over(
        function: &'e Function<'a>,
        events: &'e Events<'a>,
        facts: &'e Facts,
        entries: &'e Entries<'a>,
    ) -> Self {
        let mut forward = Forward {
            function,
            events,
            facts,
            entries,
            loops: smallvec![State::default(); events.yields.len()],
            broken: smallvec![None; events.yields.len()],
            skipped: vec![None; if events.skips { events.yields.len() } else { 0 }],
            failed: vec![None; if events.tries > 0 { events.yields.len() } else { 0 }],
            caught: vec![None; events.tries as usize],
            only_loops: true,
            wrong: false,
            bound_by: if R::RECORDED { vec![None; function.slots.len()] } else { Vec::new() },
            unreachable: false,
            found: Diagnostics::default(),
        };
        if !events.yields.is_empty() {
            forward.run();
        }
        forward.only_loops = false;
        forward.run();
        forward
    }

    /// Notes that something is wrong; in the second run it adds the diagnostic.
    fn wrong(&mut self, code: Code, diagnostic: impl FnOnce(&Self) -> Diagnostic) {
        if self.only_loops {
            return;
        }
        self.wrong = true;
        if R::RECORDED {
            let mut found = core::mem::take(&mut self.found);
            found.push_with(code, || diagnostic(self));
            self.found = found;
        }
    }

    fn start(&self) -> State<W, R> {
        let slots = self.function.slots.len();
        let mut state = State { live: true, reasons: R::none(slots), ..State::default() };
        let parameters = self.function.parameters.len();
        state.plain = Bits::range(0..parameters);
        state.unset = Bits::range(parameters..slots);
        state
    }

    fn run(&mut self) {
        let mut state = self.start();
        let mut open: SmallVec<[Open<W, R>; 4]> = SmallVec::new();
        let events: &'e Events<'_> = self.events;
        for (index, &event) in (0_u32..).zip(&events.list) {
            match event {
                Event::Statement(span) => self.statement(&state, span),
                Event::Read(slot, span) => self.read(&mut state, slot, span),
                Event::Bind(slot, span) => self.bind(&mut state, slot, span, None),
                Event::BindCall(slot, span, call) => self.bind(&mut state, slot, span, Some(call)),
                Event::Match(slot, span) => self.match_result(&mut state, slot, span, index),
                Event::Exit(ending, span) => self.exit(&mut state, ending, span),
                Event::Register(call) => {
                    if let Some((tool, _)) = self.entry(call) {
                        state.settle(tool, Holds::Plain);
                    }
                }
                Event::Undo(call) => self.undo(&state, call),
                Event::MayFail(failing) => self.may_fail(&state, failing, index),
                Event::Handler(id, _) => {
                    let caught = self.caught.get_mut(id.0 as usize).and_then(Option::take);
                    self.handle(&mut state, open.last_mut(), caught, index);
                }
                Event::Fork | Event::Try => open.push(Open::new(state.clone())),
                Event::Branch(..) => Self::branch(&mut state, open.last_mut(), index),
                Event::Join | Event::Caught => Self::join(&mut state, open.pop()),
                Event::Loop(id, _) => {
                    let before = self.enter(&mut state, id.0 as usize, index);
                    open.push(Open { is_loop: true, ..Open::new(before) });
                }
                Event::Repeat(id, _) => self.repeat(&mut state, open.pop(), id.0 as usize, index),
                Event::Break(id, _) => leave(self.broken.get_mut(id.0 as usize), &mut state, index),
                Event::Skip(id, span) => {
                    self.skip(&mut state, open.as_slice(), span);
                    leave(self.skipped.get_mut(id.0 as usize), &mut state, index);
                }
                Event::Done(id, _) => self.done(&mut state, id.0 as usize, index),
            }
        }
    }

    /// Begins a branch. If it is the second one, the first one ends here.
    fn branch(state: &mut State<W, R>, fork: Option<&mut Open<W, R>>, index: u32) {
        let Some(fork) = fork else { return };
        if let Some(first) = fork.branch.replace(index) {
            let ended = core::mem::replace(state, core::mem::take(&mut fork.before));
            fork.first = Some((ended, first));
        }
    }

    fn join(state: &mut State<W, R>, fork: Option<Open<W, R>>) {
        if let Some(Open { first: Some((mut first, event)), branch: Some(second), .. }) = fork {
            first.meet(state, event, second);
            *state = first;
        }
    }

    /// Begins the body of a loop. Returns the state after the loop without the effect of its iterations.
    fn enter(&mut self, state: &mut State<W, R>, id: usize, index: u32) -> State<W, R> {
        let before = state.clone();
        if self.only_loops {
            for set in [&mut state.unset, &mut state.plain, &mut state.checked] {
                *set = Bits::default();
            }
            state.kept = if state.live { Bits::all() } else { Bits::default() };
        } else if let Some(passes) = self.loops.get(id).filter(|_| before.live) {
            state.meet(passes, index, index);
        }
        before
    }

    fn repeat(&mut self, state: &mut State<W, R>, open: Option<Open<W, R>>, id: usize, index: u32) {
        let Some(Open { mut before, .. }) = open else { return };
        if let Some((skipped, event)) = self.skipped.get_mut(id).and_then(Option::take) {
            state.meet(&skipped, index, event);
        }
        let (live, only_loops) = (before.live, self.only_loops);
        if let Some(passes) = self.loops.get_mut(id) {
            if only_loops {
                *passes = state.clone();
            }
            if live {
                before.meet(passes, index, index);
            }
        }
        before.live = live;
        if only_loops && let Some(Some((broken, _))) = self.broken.get_mut(id) {
            broken.behind(&before);
        }
        self.failed_in(id, &before);
        *state = before;
    }

    /// A failure goes to the handler of a TRY, unless a MATCH handles it.
    fn may_fail(&mut self, state: &State<W, R>, Failing { to, from, bound }: Failing, index: u32) {
        if bound.is_some_and(|call| self.is_checked(call)) {
            return;
        }
        let place = match from.filter(|_| self.only_loops) {
            Some(id) => self.failed.get_mut(id.0 as usize),
            None => self.caught.get_mut(to.0 as usize),
        };
        add(place, state, index);
    }

    /// Begins the handler of a TRY, with the state at the failures in its block. A slot that the block has
    /// bound is set only if it was set before: then it has either value.
    fn handle(&self, state: &mut State<W, R>, open: Option<&mut Open<W, R>>, caught: Left<W, R>, index: u32) {
        let Some(open) = open else { return };
        let mut handled = caught.map(|(state, _)| state).unwrap_or_default();
        if R::RECORDED && !handled.live {
            handled.reasons = state.reasons.clone();
        }
        let (before, bound) = (&open.before, handled.plain);
        let mut unset = before.unset;
        unset.extend(&before.checked);
        unset.keep(&bound);
        unset.extend(&core::mem::take(&mut handled.checked));
        for slot in unset.iter().filter(|_| R::RECORDED) {
            if !handled.unset.has(slot) {
                handled.reasons.set(slot, Some(index));
            }
        }
        handled.unset.extend(&unset);
        let slots = self.function.slots.len();
        let mut set = Bits::range(slots..slots + self.entries.len());
        set.extend(&before.plain);
        handled.plain.keep(&set);
        handled.kept.extend(&bound);
        handled.kept.keep(&before.kept);
        let ended = core::mem::replace(state, handled);
        open.first = Some((ended, index));
        open.branch = Some(index);
    }

    /// Whether a MATCH handles the result of a call.
    fn is_checked(&self, call: CallId) -> bool {
        self.facts.calls.get(call.0 as usize).is_some_and(|facts| facts.checked)
    }

    /// The number of the tool of a call, and its name in the first ROLLBACK of it.
    fn entry(&self, call: CallId) -> Option<(Slot, Name<'a>)> {
        let call = self.events.calls.get(call.0 as usize).copied().flatten()?;
        self.entries.get(call.tool.text).copied()
    }

    /// UNDO: the tool may be registered too, so that both calls are made.
    fn undo(&mut self, state: &State<W, R>, id: CallId) {
        let undoes = self.facts.calls.get(id.0 as usize).is_some_and(|facts| facts.undo);
        let call = self.events.calls.get(id.0 as usize).copied().flatten().filter(|_| undoes);
        if let (Some(call), Some((tool, entry))) = (call, self.entry(id))
            && state.plain.has(tool)
        {
            self.wrong(Code::DoubleRollback, |this| {
                messages::double_rollback(this.function, call.tool, entry)
            });
        }
    }

    /// SKIP: a result that the pass has made and no MATCH has handled is lost.
    fn skip(&mut self, state: &mut State<W, R>, open: &[Open<W, R>], span: Span) {
        if state.checked.is_empty() {
            return;
        }
        let around = open.iter().rev().find(|open| open.is_loop).map(|open| open.before.checked);
        let mut lost = state.checked;
        lost.remove_all(&around.unwrap_or_default());
        for slot in lost.iter() {
            self.dropped(slot, span, Loss::Skipped);
            state.settle(slot, Holds::Plain);
        }
    }

    /// After a loop, in the run that computes loops: passes on the failures that have left it.
    fn failed_in(&mut self, id: usize, before: &State<W, R>) {
        let Some((mut failed, event)) = self.failed.get_mut(id).and_then(Option::take) else { return };
        failed.behind(before);
        if let Some((to, from)) = self.events.left.get(id).copied().flatten() {
            let place = match from {
                Some(outer) => self.failed.get_mut(outer.0 as usize),
                None => self.caught.get_mut(to.0 as usize),
            };
            add(place, &failed, event);
        }
    }

    /// After a loop and its ELSE: joins the paths of the BREAKs.
    fn done(&mut self, state: &mut State<W, R>, id: usize, index: u32) {
        if let Some((broken, event)) = self.broken.get_mut(id).and_then(Option::take) {
            state.meet(&broken, index, event);
        }
    }

    fn statement(&mut self, state: &State<W, R>, span: Span) {
        if state.live {
            self.unreachable = false;
        } else if !self.only_loops && !core::mem::replace(&mut self.unreachable, true) {
            self.wrong(Code::Unreachable, |_| messages::unreachable(span));
        }
    }

    /// Why a slot is unset here.
    fn why(&self, state: &State<W, R>, slot: Slot) -> Unset {
        let event = state.reasons.of(slot).and_then(|index| self.events.list.get(index as usize));
        match event {
            Some(Event::Branch(path, span)) => Unset::Branch(*path, *span),
            Some(Event::Loop(_, span)) => Unset::FirstPass(*span),
            Some(Event::Repeat(_, span)) => Unset::NoPass(*span),
            Some(Event::Match(_, span)) => Unset::Matched(*span),
            Some(Event::Break(_, span)) => Unset::Branch(Path::Broken, *span),
            Some(Event::Handler(_, span)) => Unset::Branch(Path::Caught, *span),
            Some(Event::Skip(_, span)) => Unset::Branch(Path::Skipped, *span),
            Some(Event::Done(_, span)) => Unset::Branch(Path::Unbroken, *span),
            _ => Unset::Never,
        }
    }

    /// The last statement that bound a slot to a checked call.
    fn call_of(&self, slot: Slot) -> Option<Span> {
        self.bound_by.get(slot.0 as usize).copied().flatten()
    }

    fn read(&mut self, state: &mut State<W, R>, slot: Slot, reference: Span) {
        if state.unset.has(slot) {
            self.wrong(Code::UnsetSlot, |this| {
                messages::unset(this.function, slot, reference, this.why(state, slot))
            });
        }
        if state.checked.has(slot) {
            self.wrong(Code::UncheckedRead, |this| {
                messages::unchecked_read(this.function, slot, reference, this.call_of(slot))
            });
        }
        if state.unset.has(slot) {
            state.unset.remove(slot);
            state.plain.insert(slot);
        }
    }

    fn dropped(&mut self, slot: Slot, span: Span, loss: Loss) {
        self.wrong(Code::DroppedResult, |this| {
            messages::dropped(this.function, slot, span, loss, this.call_of(slot))
        });
    }

    fn bind(&mut self, state: &mut State<W, R>, slot: Slot, span: Span, call: Option<CallId>) {
        if state.checked.has(slot) {
            self.dropped(slot, span, Loss::Rebound);
        }
        let checked = call.is_some_and(|call| self.is_checked(call));
        if checked {
            put(&mut self.bound_by, slot.0, Some(span));
        }
        state.settle(slot, if checked { Holds::Checked } else { Holds::Plain });
    }

    fn match_result(&mut self, state: &mut State<W, R>, slot: Slot, span: Span, index: u32) {
        if state.unset.has(slot) || state.plain.has(slot) {
            self.wrong(Code::MatchUnchecked, |this| {
                if !state.plain.has(slot) {
                    return messages::match_unset(this.function, slot, span, this.why(state, slot));
                }
                let parameter = (slot.0 as usize) < this.function.parameters.len();
                let plain = match (parameter, state.checked.has(slot)) {
                    (true, _) => Plain::Parameter,
                    (false, true) => Plain::OnSomePath,
                    (false, false) => Plain::Always,
                };
                messages::match_plain(this.function, slot, span, plain, this.call_of(slot))
            });
        }
        state.settle(slot, Holds::Nothing);
        state.reasons.set(slot, Some(index));
    }

    fn exit(&mut self, state: &mut State<W, R>, ending: Ending, span: Span) {
        if ending == Ending::Value && !state.checked.is_empty() {
            for slot in state.checked.iter() {
                self.dropped(slot, span, Loss::Left);
            }
        }
        state.leave();
    }
}
