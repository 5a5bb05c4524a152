//! Flow analysis: what each slot may hold at each point: nothing, a plain value, or the result of a call that
//! a MATCH handles.
//!
//! It is a forward dataflow analysis over the events. What holds at the end of an iteration may hold at the
//! head of the loop: as in [`super::liveness`], the events are walked again until nothing is added there. Why
//! a slot is unset is looked up in the events, for a diagnostic only.
//!
//! A tool that ROLLBACK registers is followed like a slot that this binds, so that an UNDO of it is found.
//!
//! After an error the slot is assumed to hold what it should have held, so that one mistake is reported once.

use super::facts::Facts;
use super::fixes::{slot_name, slot_place};
use super::slot_events::{Ending, Event, Events};
use super::slot_set::{Bits, FEW, WORDS};
use super::unset::Unset;
use crate::ast::{CallId, Function, LoopId, Name, Slot};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::terms::Terms;
use crate::span::Span;
use hashbrown::HashMap;
use ilo_spec::error::Code;
use ilo_spec::node::Word;
use smallvec::{SmallVec, smallvec};

/// Analyses a function of at most [`ilo_spec::limits::REGISTERS`] slots.
pub(super) fn follow(function: &Function<'_>, events: &Events<'_>, facts: &Facts) -> Diagnostics {
    let entries = entries(function, events);
    if function.slots.len() + entries.len() <= FEW {
        Forward::<1>::over(function, events, facts, &entries)
    } else {
        Forward::<WORDS>::over(function, events, facts, &entries)
    }
}

/// The tools that ROLLBACK registers, each with a number behind those of the slots, and its name in the first
/// ROLLBACK.
type Registered<'a> = HashMap<&'a str, (Slot, Name<'a>)>;

fn entries<'a>(function: &Function<'_>, events: &Events<'a>) -> Registered<'a> {
    let mut entries = HashMap::new();
    for (call, _) in events.calls.iter().zip(&events.registered).filter(|&(_, registered)| *registered) {
        let next = u32::try_from(function.slots.len() + entries.len()).unwrap_or(u32::MAX);
        if let Some(call) = call {
            entries.entry(call.tool.text).or_insert((Slot(next), call.tool));
        }
    }
    entries
}

/// The state at a point: the sets of slots by what they may hold.
#[derive(Clone, Copy, Default)]
struct Holding<const W: usize> {
    /// Whether the point is reachable. If not, all sets are empty.
    live: bool,
    unset: Bits<W>,
    plain: Bits<W>,
    checked: Bits<W>,
}

impl<const W: usize> Holding<W> {
    fn settle(&mut self, slot: Slot, holds: Holds) {
        for set in [&mut self.unset, &mut self.plain, &mut self.checked] {
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

    /// Joins `other` into this state.
    fn meet(&mut self, other: &Holding<W>) {
        self.live |= other.live;
        self.unset.extend(&other.unset);
        self.plain.extend(&other.plain);
        self.checked.extend(&other.checked);
    }

    /// Whether all of it holds in `other` too.
    fn is_within(&self, other: &Holding<W>) -> bool {
        self.live <= other.live
            && self.unset.is_within(&other.unset)
            && self.plain.is_within(&other.plain)
            && self.checked.is_within(&other.checked)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    Plain,
    Checked,
}

/// An open fork or loop.
struct Entered<const W: usize> {
    /// The state at the fork, or before the loop.
    before: Holding<W>,
    /// The state after the first branch, once the second one has begun.
    first: Holding<W>,
    is_loop: bool,
}

/// The states in a loop that continue elsewhere; unreachable ones where there are none.
#[derive(Clone, Copy, Default)]
struct LoopStates<const W: usize> {
    /// At the end of its iterations.
    passes: Holding<W>,
    /// At its BREAKs.
    broken: Holding<W>,
    /// At its SKIPs.
    skipped: Holding<W>,
}

/// Control does not continue here but where other paths end.
fn leave<const W: usize>(to: Option<&mut Holding<W>>, state: &mut Holding<W>) {
    let state = core::mem::take(state);
    to.into_iter().for_each(|to| to.meet(&state));
}

struct Forward<'e, 'a, const W: usize> {
    function: &'e Function<'a>,
    events: &'e Events<'a>,
    facts: &'e Facts,
    entries: &'e Registered<'a>,
    /// By [`crate::ast::LoopId`].
    loops: SmallVec<[LoopStates<W>; 2]>,
    /// The state at the failures that go to the handler of a TRY, by [`super::slot_events::TryId`].
    caught: SmallVec<[Holding<W>; 1]>,
    /// Whether an iteration has added to the state at the head of its loop.
    adds: bool,
    /// The index of the current event.
    at: usize,
    /// Whether the previous statement was unreachable too.
    unreachable: bool,
    found: Diagnostics,
}

impl<'e, 'a, const W: usize> Forward<'e, 'a, W> {
    /// Analyses the slots of a function.
    fn over(
        function: &'e Function<'a>,
        events: &'e Events<'a>,
        facts: &'e Facts,
        entries: &'e Registered<'a>,
    ) -> Diagnostics {
        let mut forward = Forward::<'_, '_, W> {
            function,
            events,
            facts,
            entries,
            loops: smallvec![LoopStates::default(); events.yields.len()],
            caught: smallvec![Holding::default(); events.tries as usize],
            adds: false,
            at: 0,
            unreachable: false,
            found: Diagnostics::default(),
        };
        forward.run();
        while core::mem::take(&mut forward.adds) {
            // What is wrong is wrong with more states too.
            forward.found = Diagnostics::default();
            forward.run();
        }
        forward.found
    }

    #[cold]
    fn wrong(&mut self, code: Code, diagnostic: impl FnOnce(&Self) -> Diagnostic) {
        let mut found = core::mem::take(&mut self.found);
        found.push_with(code, || diagnostic(self));
        self.found = found;
    }

    fn start(&self) -> Holding<W> {
        let (slots, parameters) = (self.function.slots.len(), self.function.parameters.len());
        let (plain, unset) = (Bits::range(0..parameters), Bits::range(parameters..slots));
        Holding { live: true, plain, unset, ..Holding::default() }
    }

    fn run(&mut self) {
        let mut state = self.start();
        let mut open: SmallVec<[Entered<W>; 4]> = SmallVec::new();
        let events: &'e Events<'_> = self.events;
        for (index, &event) in events.list.iter().enumerate() {
            self.at = index;
            match event {
                Event::Statement(span) => self.statement(&state, span),
                Event::Read(slot, span) => self.read(&mut state, slot, span),
                Event::Bind(slot, span, _) => self.bind(&mut state, slot, span, None),
                Event::BindCall(slot, span, _, call) => self.bind(&mut state, slot, span, Some(call)),
                Event::Match(slot, span) => self.match_result(&mut state, slot, span),
                Event::Exit(ending, span) => self.exit(&mut state, ending, span),
                Event::Register(call) => {
                    if let Some((tool, _)) = self.entry(call) {
                        state.settle(tool, Holds::Plain);
                    }
                }
                Event::Undo(call) => self.undo(&state, call),
                // A failure goes to the handler of a TRY, unless a MATCH handles it.
                Event::MayFail(to, bound) => {
                    if !bound.is_some_and(|call| self.is_checked(call))
                        && let Some(caught) = self.caught.get_mut(to.0 as usize)
                    {
                        caught.meet(&state);
                    }
                }
                Event::Handler(id, _) => {
                    let caught = self.caught.get_mut(id.0 as usize).map(core::mem::take);
                    self.handle(&mut state, open.last_mut(), caught.unwrap_or_default());
                }
                Event::Fork(..) => {
                    open.push(Entered { before: state, first: Holding::default(), is_loop: false });
                }
                Event::Branch(_) => {
                    if let Some(fork) = open.last_mut() {
                        fork.first = core::mem::replace(&mut state, fork.before);
                    }
                }
                Event::Join(_) => state.meet(&open.pop().map(|fork| fork.first).unwrap_or_default()),
                Event::Loop(id, _) => {
                    open.push(Entered { before: state, first: Holding::default(), is_loop: true });
                    self.states(id).into_iter().for_each(|of| state.meet(&of.passes));
                }
                Event::Repeat(id, _) => {
                    if let Some(Entered { before, .. }) = open.pop() {
                        self.repeat(&mut state, before, id);
                    }
                }
                Event::Break(id) => leave(self.states(id).map(|of| &mut of.broken), &mut state),
                Event::Skip(id, span) => {
                    self.skip(&mut state, open.as_slice(), span);
                    leave(self.states(id).map(|of| &mut of.skipped), &mut state);
                }
                // After a loop and its ELSE, the paths of the BREAKs join.
                Event::Done(id, _) => {
                    let broken = self.states(id).map(|of| core::mem::take(&mut of.broken));
                    state.meet(&broken.unwrap_or_default());
                }
            }
        }
    }

    fn states(&mut self, id: LoopId) -> Option<&mut LoopStates<W>> {
        self.loops.get_mut(id.0 as usize)
    }

    /// Ends an iteration, and then the loop: at its head, and so behind it, the states before it and those at
    /// the ends of its iterations join.
    fn repeat(&mut self, state: &mut Holding<W>, before: Holding<W>, id: LoopId) {
        let Some(of) = self.loops.get_mut(id.0 as usize) else { return };
        state.meet(&core::mem::take(&mut of.skipped));
        let mut head = before;
        head.meet(&of.passes);
        self.adds |= !state.is_within(&head);
        of.passes.meet(state);
        head.meet(state);
        *state = head;
    }

    /// Begins the handler of a TRY, with the state at the failures in its block. A slot that the block has
    /// bound is set only if it was set before: then it has either value.
    fn handle(&self, state: &mut Holding<W>, open: Option<&mut Entered<W>>, mut handled: Holding<W>) {
        let Some(open) = open else { return };
        let before = &open.before;
        let mut unset = before.unset;
        unset.extend(&before.checked);
        unset.keep(&handled.plain);
        unset.extend(&core::mem::take(&mut handled.checked));
        handled.unset.extend(&unset);
        let slots = self.function.slots.len();
        let mut set = Bits::range(slots..slots + self.entries.len());
        set.extend(&before.plain);
        handled.plain.keep(&set);
        open.first = core::mem::replace(state, handled);
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
    fn undo(&mut self, state: &Holding<W>, id: CallId) {
        let undoes = self.facts.calls.get(id.0 as usize).is_some_and(|facts| facts.undo);
        let call = self.events.calls.get(id.0 as usize).copied().flatten().filter(|_| undoes);
        if let (Some(call), Some((tool, entry))) = (call, self.entry(id))
            && state.plain.has(tool)
        {
            self.wrong(Code::DoubleRollback, |this| {
                let [undo, rollback] = [Word::Undo, Word::Rollback].map(|word| this.terms().word(word));
                let message = format!(
                    "this calls `{}`, and so does {rollback} if a failure or fault follows: both run",
                    call.tool.text
                );
                Diagnostic::new(Code::DoubleRollback, call.tool.span, message)
                    .expected(format!("{undo} or {rollback}"), "both")
                    .related(entry.span, "registered here")
                    .help(format!(
                        "leave {undo} out: the call that {rollback} registers is made automatically if the function \
                         or the run ends without success"
                    ))
            });
        }
    }

    /// SKIP: a result that the pass has made and no MATCH has handled is lost.
    fn skip(&mut self, state: &mut Holding<W>, open: &[Entered<W>], span: Span) {
        let around = open.iter().rev().find(|open| open.is_loop).map(|open| open.before).unwrap_or_default();
        let checked = state.checked;
        for slot in checked.iter().filter(|&slot| !around.checked.has(slot)) {
            self.dropped(slot, span);
            state.settle(slot, Holds::Plain);
        }
    }

    fn statement(&mut self, state: &Holding<W>, span: Span) {
        if state.live {
            self.unreachable = false;
        } else if !core::mem::replace(&mut self.unreachable, true) {
            let found =
                |_: &Self| Diagnostic::new(Code::Unreachable, span, "no path reaches this").help("remove it");
            self.wrong(Code::Unreachable, found);
        }
    }

    fn why(&self, slot: Slot) -> Unset {
        Unset::at(&self.events.list, self.at, slot)
    }

    fn terms(&self) -> Terms {
        Terms::of(self.function.notation)
    }

    /// Points to the last statement that bound a slot to a checked call, maybe in the pass before.
    fn point_to_call(&self, slot: Slot, found: Diagnostic) -> Diagnostic {
        let (before, later) = self.events.list.split_at_checked(self.at).unwrap_or_default();
        let call = before.iter().rev().chain(later.iter().rev()).find_map(|&event| match event {
            Event::BindCall(bound, span, _, call) if bound == slot && self.is_checked(call) => Some(span),
            _ => None,
        });
        found.related_if(call, "bound to the call's result here")
    }

    fn read(&mut self, state: &mut Holding<W>, slot: Slot, reference: Span) {
        if state.unset.has(slot) {
            self.wrong(Code::UnsetSlot, |this| this.why(slot).read(this.function, slot, reference));
        }
        if state.checked.has(slot) {
            self.wrong(Code::UncheckedRead, |this| {
                let (terms, name) = (this.terms(), slot_name(this.function, slot));
                let message = format!(
                    "{name} is read, but it holds a call's result whose failure is handled only later"
                );
                let place = slot_place(this.function, slot, reference);
                this.point_to_call(slot, Diagnostic::new(Code::UncheckedRead, place, message))
                    .expected(
                        format!("a {} with a plain value", terms.slot),
                        format!("{name}, before its {}", terms.handler),
                    )
                    .help(terms.choose(
                        "read the slot that the OK arm binds, inside or after that arm",
                        "read it after the step that handles the failure",
                    ))
            });
        }
        if state.unset.has(slot) {
            state.unset.remove(slot);
            state.plain.insert(slot);
        }
    }

    fn dropped(&mut self, slot: Slot, span: Span) {
        self.wrong(Code::DroppedResult, |this| {
            let Terms { slot: held, handler, .. } = this.terms();
            let name = slot_name(this.function, slot);
            let message =
                format!("the call's result in {name} is lost here on a path where no {handler} took it");
            this.point_to_call(slot, Diagnostic::new(Code::DroppedResult, span, message))
                .expected(format!("a {handler} on every path"), "a path without it")
                .help(format!("handle the failure on that path too, or bind another {held}"))
        });
    }

    fn bind(&mut self, state: &mut Holding<W>, slot: Slot, span: Span, call: Option<CallId>) {
        if state.checked.has(slot) {
            self.dropped(slot, span);
        }
        let checked = call.is_some_and(|call| self.is_checked(call));
        state.settle(slot, if checked { Holds::Checked } else { Holds::Plain });
    }

    fn match_result(&mut self, state: &mut Holding<W>, slot: Slot, span: Span) {
        if state.unset.has(slot) || state.plain.has(slot) {
            self.wrong(Code::MatchUnchecked, |this| {
                let unset = (!state.plain.has(slot)).then(|| this.why(slot));
                this.match_unchecked(slot, span, unset)
            });
        }
        state.settle(slot, Holds::Nothing);
    }

    /// A MATCH on a slot that holds no result: it is unset, or holds a plain value.
    fn match_unchecked(&self, slot: Slot, span: Span, unset: Option<Unset>) -> Diagnostic {
        let terms = self.terms();
        let (name, bind, with) =
            (slot_name(self.function, slot), terms.word(Word::Let), terms.word(Word::Call));
        let what = terms.choose("MATCH on", "a handler for");
        let why = unset.map_or("it may hold a plain value".to_owned(), |reason| reason.clause(terms));
        let found = Diagnostic::new(Code::MatchUnchecked, span, format!("{what} {name}, but {why}"))
            .expected(
                format!("a {} that a {with} binds on every path", terms.slot),
                format!("{name}, but {why}"),
            )
            .help(format!("bind the {} with {bind} and {with} right before", terms.slot));
        match unset {
            Some(reason) => reason.point(found, terms),
            None => self.point_to_call(slot, found),
        }
    }

    fn exit(&mut self, state: &mut Holding<W>, ending: Ending, span: Span) {
        if ending == Ending::Value && !state.checked.is_empty() {
            for slot in state.checked.iter() {
                self.dropped(slot, span);
            }
        }
        *state = Holding::default();
    }
}
