//! Gradual typing: infers the type of each value, and reports values that cannot fit.
//!
//! The operand and result types of words are in [`crate::rules`]. The types of a tool's arguments and answer
//! come from its schemas: `given` compares arguments with them in depth, and a field that is read from an
//! answer has its type. A read of a field that the schema does not list is a warning (`answer_fields`),
//! unless the function tests for it with HAS.
//!
//! The type of a slot is the join of all its bindings in the function; in the body of a loop that alone
//! binds the slot there, it is that of the loop's items. Whether it holds a whole answer depends on its
//! web. In a loop a binding may depend on a later one, so that inference is repeated to a fixed point:
//! each pass starts from the types of the previous one, and types only become less precise. Only the
//! diagnostics of the last pass are kept, in which no slot changed after it was read.

mod expression;
mod given;
mod narrow;

pub(crate) use self::given::misfit;
use self::narrow::Narrowing;
use super::answer_fields::Read;
use super::facts::{Answer, Facts};
use super::kept::{self, Kept, Place};
use super::messages;
use super::resolve::Resolved;
use super::slot_events::Events;
use super::value_info::RecordInputs;
use super::value_info::{KnownSlot, Nil, Part, Seen, ValueInfo, join, suspect, ty};
use super::webs::Webs;
use crate::ast::{
    Block, Bound, Control, Expr, ExprKind, File, For, Function, If, Literal, Match, Name, ReturnKind, Slot,
    Stmt, StmtKind,
};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::notation::Notation;
use crate::rules::Demand;
use crate::sorting::sort_by_key;
use crate::span::Span;
use crate::types::Inferred;
use hashbrown::{HashMap, HashSet};
use ilo_spec::error::Code;
use ilo_spec::node::Word;
use ilo_spec::types::Type;
use smallvec::SmallVec;

/// The most passes; after them the types of all bound slots are unknown. One pass suffices if every slot is
/// bound before it is read; a chain of slots that depend on later ones takes one more for each link.
const PASSES: usize = 8;

/// What a read of a slot that holds a whole answer needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// A record or a list.
    Parts,
    /// A list.
    Items,
    /// A list or a record if another read needs one, else a text.
    PartsAsElsewhere,
    /// A list if another read needs one, else a text.
    ItemsAsElsewhere,
    /// A record or a list, but other values may reach the read: an answer is read where it is bound.
    Bound,
    /// It is no read, but where an answer is bound beside other values.
    Binding,
}

/// What an operand needs that may be a whole answer.
pub(super) fn needs(demand: Demand) -> Option<Needs> {
    let [text, record, list] =
        [Inferred::TEXT, Inferred::RECORD, Inferred::ANY.list()].map(|ty| demand.accepts(ty));
    match (record, list) {
        _ if text => None,
        (true, _) => Some(Needs::Parts),
        (false, true) => Some(Needs::Items),
        (false, false) => None,
    }
}

/// The reads of whole answers as JSON. If all reads of a slot are such, the slot itself holds what was read.
fn answers_of(answers: &[(Span, Slot, Needs)], used: &[Slot]) -> Vec<Answer> {
    let mut texts: HashMap<Slot, usize> = HashMap::new();
    let mut needed: HashMap<Slot, bool> = HashMap::new();
    if !answers.is_empty() {
        used.iter().for_each(|&slot| *texts.entry(slot).or_default() += 1);
    }
    for &(_, slot, needs) in answers {
        if matches!(needs, Needs::Parts | Needs::Items | Needs::Bound) {
            *needed.entry(slot).or_default() |= needs == Needs::Items;
        }
    }
    let is_read = |&(_, slot, needs): &(Span, Slot, Needs)| match needs {
        Needs::Parts | Needs::Items => true,
        Needs::Bound => false,
        Needs::PartsAsElsewhere | Needs::Binding => needed.contains_key(&slot),
        Needs::ItemsAsElsewhere => needed.get(&slot) == Some(&true),
    };
    let read = || answers.iter().filter(|answer| is_read(answer));
    for (_, slot, _) in read() {
        texts.entry(*slot).and_modify(|reads| *reads = reads.saturating_sub(1));
    }
    let answer = |&(span, slot, needs): &(Span, Slot, Needs)| Answer {
        span,
        binds: needs == Needs::Binding,
        in_place: texts.get(&slot) == Some(&0),
    };
    let mut all: Vec<Answer> = read().map(answer).collect();
    sort_by_key(&mut all, Answer::key);
    all
}

/// The types of a slot; each is `None` without a binding.
#[derive(Clone, Copy, Default)]
struct SlotTypes<'t> {
    /// Its plain values.
    plain: Seen<'t>,
    /// The values of the calls whose results a MATCH handles.
    ok: Seen<'t>,
    /// The failures of these calls.
    err: Seen<'t>,
    /// The origin of the plain value.
    origin: Option<Span>,
    /// Whether anything other than a parameter binds it.
    bound: bool,
    /// Whether this pass has read it.
    read: bool,
    /// Whether what is bound to it differs.
    mixed: bool,
}

impl<'t> SlotTypes<'t> {
    /// Learns of a further binding. Returns whether a read before knew less; `mixes` becomes true if whole
    /// answers and other values are bound to the slot.
    #[expect(clippy::inline_always, reason = "every binding comes here, mostly for the plain value")]
    #[inline(always)]
    fn learn(&mut self, seen: Seen<'t>, span: Span, part: PartOf<'t>, mixes: &mut bool) -> bool {
        self.bound = true;
        self.origin.get_or_insert(span);
        let before = *part(self);
        match (before, seen) {
            (_, None) => return false,
            (Some(before), Some(seen)) if before.same(seen) => return false,
            (Some(before), Some(seen)) => {
                self.mixed = true;
                *mixes |= matches!((before.part, seen.part), (Part::Answer, _) | (_, Part::Answer));
            }
            (None, Some(_)) => {}
        }
        let joined = join(before, seen);
        if before.zip(joined).is_some_and(|(before, joined)| before.same(joined)) {
            return false;
        }
        *part(self) = joined;
        self.read
    }
}

/// A part of what is known of a slot.
type PartOf<'t> = for<'s> fn(&'s mut SlotTypes<'t>) -> &'s mut Seen<'t>;

/// The types of the slots of a function, while it is walked and then.
pub(super) struct Types<'l, 't, 'a> {
    file: &'t File<'a>,
    function: &'t Function<'a>,
    events: &'l Events<'a>,
    inputs: &'t RecordInputs,
    facts: &'l Facts,
    resolved: &'l [Resolved<'t>],
    slots: SmallVec<[SlotTypes<'t>; 16]>,
    /// The webs of the slots, if whole answers and other values are bound to one of them, and what is known
    /// of each.
    webs: (Webs, Vec<SlotTypes<'t>>),
    /// The slots of the enclosing ERR arms, with their types and the spans of their bindings.
    failures: SmallVec<[(Slot, Seen<'t>, Span); 4]>,
    /// The suspect that is being checked, and one that is the first operand of another.
    suspect: Option<Span>,
    first: Option<Span>,
    /// Whether a slot changed after it was read in this pass.
    changed: bool,
    /// Whether whole answers and other values are bound to one slot.
    mixes: bool,
    /// For each enclosing loop: the type of what its YIELDs have given, and its use.
    yielded: SmallVec<[(Seen<'t>, Goes); 4]>,
    /// The number of TRYs whose blocks enclose the statement.
    tries: u32,
    /// The conditions of the enclosing branches in which they are true.
    satisfied: SmallVec<[Expr<'a>; 4]>,
    /// Which values are not nil.
    narrowing: Narrowing<'a>,
    /// The number of names that may be compared for suggestions.
    comparisons: usize,
    found: Found<'t, 'a>,
}

/// What a pass over a function finds. Only that of the last pass counts.
#[derive(Default)]
pub(super) struct Found<'t, 'a> {
    /// The diagnostics of values that cannot fit.
    pub(super) diagnostics: Diagnostics,
    /// The suspects from which errors follow, with the codes of these.
    pub(super) mistaken: Vec<(Span, Code)>,
    /// Reads of fields that the schemas of answers do not list.
    pub(super) reads: Vec<Read<'t, 'a>>,
    /// The spans of returned values that may not have the declared type; in order at the end.
    pub(super) returns: Vec<Span>,
    /// The reads of whole answers that are read as JSON, known at the end.
    pub(super) answers: Vec<Answer>,
    /// The reads of fields that answers may lack; in order at the end.
    pub(super) optional: Vec<usize>,
    /// The number of names that were compared for suggestions.
    pub(super) compared: usize,
    /// The reads of slots that hold whole answers, where a record or list is needed.
    needed: Vec<(Span, Slot, Needs)>,
    /// The reads of slots that keep whole answers in records and lists.
    kept: Vec<Kept<'a>>,
    /// The slots with whole answers that are read, once for each read.
    used: Vec<Slot>,
    /// The fields for which HAS tests.
    asked: HashSet<&'a str>,
    /// The warnings about values that FIND may not have found, and whether the function tests for items.
    finds: (Diagnostics, bool),
    /// The fields that are read whose names may be differences, and the names of fields that records get.
    hyphened: (Vec<Name<'a>>, HashSet<&'a str>),
    /// The operands of each `%` and `//`, its span, and whether it is `%`.
    divisions: Vec<(Expr<'a>, Expr<'a>, Span, bool)>,
    /// The paths of unknown type that are conditions, each with its place, and those where no bool fits.
    tests: Vec<(Expr<'a>, (Word, usize))>,
    no_bools: Vec<Expr<'a>>,
}

impl<'a> Found<'_, 'a> {
    /// Draws the conclusions that depend on the whole function.
    fn finish(&mut self, function: &Function<'a>) {
        let Found { diagnostics: found, asked, .. } = self;
        // A function that tests for items knows that FIND finds them.
        if !self.finds.1 {
            found.append(core::mem::take(&mut self.finds.0));
        }
        let (names, written) = &self.hyphened;
        let own = |name: &&Name<'a>| written.contains(name.text) || asked.contains(name.text);
        names.iter().filter(|name| !own(name)).for_each(|name| found.push(messages::hyphen_minus(*name)));
        for (test, place) in &self.tests {
            if let Some(other) = self.no_bools.iter().find(|other| same_value(test, other)) {
                let what = ("what is no bool elsewhere".to_owned(), true);
                found.push(messages::no_bool(function, *place, test, what, Some(other.span)));
            }
        }
        for (a, b, span, _) in self.divisions.iter().filter(|of| of.3) {
            let beside = |of: &&(Expr<'a>, Expr<'a>, Span, bool)| {
                !of.3 && same_value(&of.0, a) && same_value(&of.1, b)
            };
            if let Some(floor) = self.divisions.iter().find(beside) {
                found.push(messages::mixed_division(*span, floor.2));
            }
        }
        if !self.kept.is_empty() {
            let kept = kept::needed(function, &self.kept);
            self.needed.extend(kept.map(|&(span, slot, _)| (span, slot, Needs::Parts)));
        }
        self.reads.retain(|read| !asked.contains(read.name.text));
        sort_by_key(&mut self.returns, |span| (span.start, span.end));
        self.optional.sort_unstable();
        self.answers = answers_of(&self.needed, &self.used);
    }
}

/// The use of the value of a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    /// Nothing does.
    Nowhere,
    /// A bound slot or loop, or the end of a function that returns nil.
    Kept,
    /// The function, as its output.
    Out,
}

/// Whether two operands are the same path or constant.
fn same_value(a: &Expr<'_>, b: &Expr<'_>) -> bool {
    match (a.kind, b.kind) {
        (ExprKind::Ref(a), ExprKind::Ref(b)) => a == b,
        (ExprKind::Field(a, one), ExprKind::Field(b, other)) => one.text == other.text && same_value(a, b),
        (ExprKind::Literal(Literal::Number(a)), ExprKind::Literal(Literal::Number(b))) => a == b,
        _ => false,
    }
}

/// Whether a value is that of the previous step: in JSON and YAML, what a step binds is also its value.
fn implied(last: &Stmt<'_>, before: &[Stmt<'_>]) -> bool {
    match (last.kind, before.last().map(|before| before.kind)) {
        (StmtKind::Value(Expr { kind: ExprKind::Ref(read), .. }), Some(StmtKind::Let { slot, .. })) => {
            read == slot
        }
        _ => false,
    }
}

impl<'l, 't, 'a> Types<'l, 't, 'a> {
    pub(super) fn new(
        file: &'t File<'a>,
        (function, inputs): (&'t Function<'a>, &'t RecordInputs),
        (events, facts): (&'l Events<'a>, &'l Facts),
        resolved: &'l [Resolved<'t>],
        comparisons: usize,
    ) -> Types<'l, 't, 'a> {
        Types {
            file,
            function,
            events,
            inputs,
            facts,
            resolved,
            slots: SmallVec::new(),
            webs: (Webs::default(), Vec::new()),
            failures: SmallVec::new(),
            suspect: None,
            first: None,
            changed: false,
            mixes: false,
            yielded: SmallVec::new(),
            tries: 0,
            satisfied: SmallVec::new(),
            narrowing: Narrowing::default(),
            comparisons,
            found: Found::default(),
        }
    }

    /// Finds what cannot fit. A suspect has a warning, which becomes an error if one follows from it.
    // By reference: it is large to move.
    pub(super) fn check(&mut self) -> Found<'t, 'a> {
        self.infer();
        self.found.finish(self.function);
        core::mem::take(&mut self.found)
    }

    /// What is known of the slots.
    pub(super) fn known(&mut self) -> Vec<KnownSlot<'t>> {
        self.infer();
        self.slots.iter().map(|&SlotTypes { plain, ok, err, .. }| KnownSlot { plain, ok, err }).collect()
    }

    /// Walks the function until no type changes.
    fn infer(&mut self) {
        // Filled in place: it is large to move.
        self.slots.resize(self.function.slots.len(), SlotTypes::default());
        for (slot, parameter) in self.slots.iter_mut().zip(self.function.parameters) {
            let nil = parameter.is_nil_inside().then_some(Nil::Input);
            self.narrowing.on |= nil.is_some();
            let known = ValueInfo::declared(parameter.inside()).or_nil(nil);
            let shape = self.inputs.shape_of(parameter);
            slot.plain = Some(shape.map_or(known, |shape| known.with_part(Part::of(shape))));
            slot.origin = Some(parameter.ty.span);
        }
        for pass in 0.. {
            let to = if self.function.output.ok.ty == Type::NIL { Goes::Kept } else { Goes::Out };
            self.block(&self.function.body, to);
            if !self.changed {
                if !self.mixes || !self.webs.1.is_empty() {
                    break;
                }
                self.tell_answers_apart();
            }
            if pass == PASSES {
                self.forget();
            }
            self.changed = false;
            self.found = Found::default();
            self.narrowing.begin();
            self.slots.iter_mut().chain(&mut self.webs.1).for_each(|slot| slot.read = false);
        }
    }

    /// Goes on with the webs of the slots, since a slot holds a whole answer and elsewhere another value.
    #[cold]
    fn tell_answers_apart(&mut self) {
        let webs = Webs::of(self.function, self.events);
        // There is a slot, so there is a web.
        let known = vec![SlotTypes::default(); webs.end];
        self.webs = (webs, known);
        // What was learnt of other slots without them may say too little.
        let own = self.slots.iter_mut().skip(self.function.parameters.len());
        own.for_each(|slot| *slot = SlotTypes::default());
    }

    /// Makes the type of each bound slot unknown, which is always sound.
    fn forget(&mut self) {
        let webs = self.webs.1.iter_mut();
        for slot in self.slots.iter_mut().chain(webs).filter(|slot| slot.bound) {
            (slot.plain, slot.ok, slot.err) =
                (Some(ValueInfo::ANY), Some(ValueInfo::ANY), Some(ValueInfo::ANY));
        }
    }

    fn report(&mut self, found: Diagnostic) {
        self.report_of(None, found);
    }

    /// Reports a finding about a value. An error in a suspect, or in what comes from it, makes it an error.
    fn report_of(&mut self, value: Seen<'t>, found: Diagnostic) {
        let own = Some(found.span).filter(|&span| self.function.is_suspect(span));
        let of = suspect(value).or(own);
        match of.or(self.suspect) {
            Some(place) if found.is_error() => {
                let code = if place == found.span { found.code } else { Code::TypeMismatch };
                self.found.mistaken.push((place, code));
            }
            Some(_) if of.is_some() || found.code == Code::ListInText => {}
            _ => self.found.diagnostics.push(found),
        }
    }

    /// Checks a suspect.
    #[cold]
    fn suspected(&mut self, place: Span, check: impl FnOnce(&mut Self) -> Seen<'t>) -> Seen<'t> {
        let outer = self.suspect.replace(place);
        let seen = check(self);
        self.suspect = outer;
        seen.map(|known| known.with_part(Part::Suspect(place)))
    }

    #[inline]
    fn learn(&mut self, slot: Slot, seen: Seen<'t>, span: Span, part: PartOf<'t>) {
        let Some(info) = self.slots.get_mut(slot.0 as usize) else { return };
        self.changed |= info.learn(seen, span, part, &mut self.mixes);
        if !self.webs.1.is_empty() {
            self.learn_of_web(slot, seen, span, part);
        }
    }

    #[cold]
    fn learn_of_web(&mut self, slot: Slot, seen: Seen<'t>, span: Span, part: PartOf<'t>) {
        if let Some(web) = self.webs.0.at(slot, span).and_then(|web| self.webs.1.get_mut(web)) {
            self.changed |= web.learn(seen, span, part, &mut self.mixes);
        }
    }

    /// Binds a value. A whole answer that is bound beside other values is read then, at `read`, if the slot
    /// is needed as a record or list. (The place of the name may be that of two bindings.)
    #[inline]
    fn bind_at(&mut self, slot: Slot, seen: Seen<'t>, span: Span, read: Span) {
        self.bind(slot, seen, span);
        let Some(ValueInfo { part: Part::Answer, .. }) = seen else { return };
        let web = self.webs.0.at(slot, span).and_then(|web| self.webs.1.get(web)?.plain);
        if let Some(ValueInfo { part: Part::Unknown, .. }) = web {
            self.found.needed.push((read, self.held_at(slot, span), Needs::Binding));
        }
    }

    fn bind(&mut self, slot: Slot, seen: Seen<'t>, span: Span) {
        self.learn(slot, seen, span, |info| &mut info.plain);
        if self.narrowing.on {
            let nil = seen.is_some_and(|seen| seen.nil.is_some() || seen.ty == Inferred::NIL);
            self.narrowing.bind(slot, nil);
        }
    }

    /// The types of a slot that is read.
    fn slot(&mut self, slot: Slot) -> Option<&SlotTypes<'t>> {
        let info = self.slots.get_mut(slot.0 as usize)?;
        info.read = true;
        Some(info)
    }

    /// What a slot holds where it is read: it may be a whole answer although other values are bound to the
    /// slot elsewhere. `of` is the part of the slot that is `seen`.
    #[cold]
    fn seen_at(
        &mut self,
        (slot, place): (Slot, Span),
        seen: Seen<'t>,
        of: for<'s> fn(&'s SlotTypes<'t>) -> Seen<'t>,
    ) -> Seen<'t> {
        let web = self.webs.0.at(slot, place).and_then(|web| self.webs.1.get_mut(web));
        let here = web.and_then(|web| {
            web.read = true;
            of(web)
        });
        match here {
            Some(ValueInfo { part: part @ Part::Answer, .. }) => seen.map(|seen| seen.with_part(part)),
            Some(ValueInfo { part: Part::Unknown, .. }) => seen.map(|seen| seen.with_part(Part::Mixed)),
            _ => seen,
        }
    }

    /// Notes a value that a record or list keeps, if it is a whole answer.
    #[inline]
    fn keeps(&mut self, value: &Expr<'a>, seen: Seen<'t>, place: impl FnOnce() -> Option<Place<'a>>) {
        if let Some(ValueInfo { part: Part::Answer, .. }) = seen {
            self.keeps_answer(value, place());
        }
    }

    #[cold]
    fn keeps_answer(&mut self, value: &Expr<'a>, place: Option<Place<'a>>) {
        if let (ExprKind::Ref(slot), Some(place)) = (value.kind, place) {
            self.found.kept.push((value.span, self.held_at(slot, value.span), place));
        }
    }

    /// A number for what a slot holds at a place: that of its web, if there are webs.
    fn held_at(&self, slot: Slot, place: Span) -> Slot {
        let web = self.webs.0.at(slot, place).map(|web| self.slots.len().saturating_add(web));
        web.and_then(|web| u32::try_from(web).ok()).map_or(slot, Slot)
    }

    /// The type of a slot in an ERR arm that binds it, and the place of the binding.
    fn failure_of(&self, slot: Slot) -> Option<(Seen<'t>, Span)> {
        self.failures.iter().rev().find(|of| of.0 == slot).map(|&(_, seen, span)| (seen, span))
    }

    /// The type of a block's value.
    fn block(&mut self, block: &Block<'a>, to: Goes) -> Seen<'t> {
        let (last, before) = block.statements.split_last()?;
        for statement in before {
            self.statement(statement, Goes::Nowhere);
        }
        self.statement(last, if to == Goes::Nowhere && implied(last, before) { Goes::Kept } else { to })
    }

    fn statement(&mut self, statement: &Stmt<'a>, to: Goes) -> Seen<'t> {
        match &statement.kind {
            StmtKind::Let { slot, value: Bound::Expr(value), slot_span } => {
                self.bind_value(*slot, value, *slot_span);
                None
            }
            StmtKind::Let { slot, value: Bound::Control(control), slot_span } => {
                let seen = self.control(control, Goes::Kept);
                self.bind(*slot, seen, *slot_span);
                None
            }
            StmtKind::Value(value) => {
                let seen = self.expression(value);
                match to {
                    Goes::Nowhere => self.unused(value),
                    Goes::Kept => {}
                    Goes::Out => self.gives(value, seen),
                }
                seen
            }
            StmtKind::Return(kind, value) => {
                self.leave(*kind, value);
                self.narrowing.leave();
                None
            }
            StmtKind::Fail(value) => {
                if self.tries > 0 {
                    // It goes to the handler, whatever its type.
                    self.expression(value);
                } else {
                    self.leave(ReturnKind::Err, value);
                }
                self.narrowing.leave();
                None
            }
            StmtKind::Undo(call) | StmtKind::Rollback(call) => {
                self.call(call);
                None
            }
            StmtKind::Yield(value) => {
                let seen = self.expression(value);
                if let Some((gives, to)) = self.yielded.last_mut() {
                    *gives = join(*gives, seen);
                    if *to == Goes::Nowhere {
                        self.unused(value);
                    }
                }
                None
            }
            StmtKind::Break => {
                self.narrowing.leave_loop();
                None
            }
            StmtKind::Skip => {
                self.narrowing.leave_pass();
                None
            }
            StmtKind::Control(control) => self.control(control, to),
        }
    }

    /// Reports a value that nothing uses, unless it makes a call; in JSON and YAML only a changed list or
    /// record, because other steps have a value whether or not it is used.
    fn unused(&mut self, value: &Expr<'a>) {
        let reported = self.function.notation == Notation::Id || messages::changed(value).is_some();
        if reported && !value.calls() {
            self.report(messages::unused(self.function, value));
        }
    }

    fn bind_value(&mut self, slot: Slot, value: &Expr<'a>, span: Span) {
        let seen = self.expression(value);
        if !value.attempt().is_some_and(|id| self.call_facts(id).checked) {
            self.bind_at(slot, seen, span, value.span);
            return self.narrowing.bind_test(slot, value);
        }
        // The failure of a pure function is a text.
        let err = if let ExprKind::Call(call) = value.kind {
            self.failure(call)
        } else {
            ValueInfo::held(Inferred::TEXT)
        };
        self.learn(slot, seen, span, |info| &mut info.ok);
        self.learn(slot, Some(err), span, |info| &mut info.err);
    }

    fn leave(&mut self, kind: ReturnKind, value: &Expr<'a>) {
        let seen = self.expression(value);
        let output = self.function.output;
        match (kind, output.err) {
            (ReturnKind::Err, Some(err)) => {
                self.output(value, seen, err.ty.into(), err.span);
            }
            (ReturnKind::Err, None) => {}
            // RET with a value of the type of the failure: the wrong word is reported already.
            (ReturnKind::Plain, Some(err))
                if ty(seen)
                    .is_some_and(|seen| !seen.meets(output.ok.ty.into()) && seen.meets(err.ty.into())) => {}
            _ => self.gives(value, seen),
        }
    }

    fn gives(&mut self, value: &Expr<'a>, seen: Seen<'t>) {
        let ok = self.function.output.ok;
        self.output(value, seen, ok.ty.into(), ok.span);
        self.whole_answer(value, seen, || needs(Demand::Is(ok.ty.into())));
        self.returned(seen, ok.ty.into(), value.span);
    }

    /// Notes a value whose type must be tested when it is returned.
    fn returned(&mut self, seen: Seen<'t>, wanted: Inferred, place: Span) {
        if !seen.unwrap_or(ValueInfo::declared(Inferred::ANY)).is_surely(wanted) {
            self.found.returns.push(place);
        }
    }

    fn output(&mut self, value: &Expr<'a>, seen: Seen<'t>, wanted: Inferred, declared: Span) {
        if let Some(found) = ty(seen).filter(|found| !found.meets(wanted)) {
            let value = self.typed(value, found);
            self.report_of(seen, messages::output(self.function, value, wanted, declared));
        }
    }

    fn control(&mut self, control: &Control<'a>, to: Goes) -> Seen<'t> {
        match control {
            Control::If(node) => self.branches(node, to),
            Control::Match(node) => self.arms(node, to),
            Control::For(node) => self.passes(node, to),
            Control::Try(node) => {
                let before = self.narrowing.point();
                self.tries += 1;
                let body = self.block(&node.body, to);
                self.tries -= 1;
                let behind = self.narrowing.from(before);
                self.narrowing.forget_bound(&node.body);
                self.bind(node.handler.bind, Some(ValueInfo::ANY), node.handler.bind_span);
                let handled = self.block(&node.handler.body, to);
                self.narrowing.join(&behind);
                join(body, handled)
            }
        }
    }

    fn branches(&mut self, node: &If<'a>, to: Goes) -> Seen<'t> {
        let condition = self.expression(&node.condition);
        self.operand(Word::If, 0, &node.condition, condition, None);
        let before = self.narrowing.point();
        self.narrowing.assume(&node.condition, true);
        self.satisfied.push(node.condition);
        let then = self.block(&node.then, to);
        self.satisfied.pop();
        let behind = self.narrowing.from(before);
        self.narrowing.assume(&node.condition, false);
        let otherwise = node.otherwise.as_ref().and_then(|block| self.block(block, to));
        self.narrowing.join(&behind);
        join(then, otherwise)
    }

    fn arms(&mut self, node: &Match<'a>, to: Goes) -> Seen<'t> {
        let (ok, mut err) = self.slot(node.slot).map_or((None, None), |info| (info.ok, info.err));
        let place = (node.slot, node.slot_span);
        let ok = if self.webs.1.is_empty() { ok } else { self.seen_at(place, ok, |info| info.ok) };
        if let Some(ValueInfo { part: part @ Part::Unknown, .. }) = &mut err {
            *part = Part::Own;
        }
        let mut seen = None;
        let before = self.narrowing.point();
        if let Some(arm) = &node.err {
            // If nothing else in the arm binds the slot, it has the type of this failure there, but not after
            // an arm that ends the function.
            let only = !arm.body.binds(arm.bind);
            self.failures.extend(only.then_some((arm.bind, err, arm.bind_span)));
            if !(only && arm.body.leaves_function()) {
                self.bind(arm.bind, err, arm.bind_span);
            }
            seen = self.block(&arm.body, to);
            if only {
                self.failures.pop();
            }
        }
        let failed = self.narrowing.from(before);
        if let Some(arm) = &node.ok {
            self.bind_at(arm.bind, ok, arm.bind_span, arm.bind_span);
            seen = join(seen, self.block(&arm.body, to));
        } else {
            self.bind_at(node.slot, ok, node.slot_span, node.slot_span);
        }
        if node.err.is_some() {
            self.narrowing.join(&failed);
        }
        seen
    }

    /// In the body of a loop the slot of its item is known as that, if nothing else in the body binds it.
    /// Returns what is known of the slot elsewhere.
    fn own_item(&mut self, node: &For<'a>, item: Seen<'t>) -> Option<SlotTypes<'t>> {
        let (item, info) = (item?, self.slots.get_mut(node.item.0 as usize)?);
        if info.plain.is_some_and(|joined| joined.same(item)) || node.body.binds(node.item) {
            return None;
        }
        let own = SlotTypes {
            plain: Some(item),
            origin: Some(node.item_span),
            bound: true,
            ..SlotTypes::default()
        };
        Some(core::mem::replace(info, own))
    }

    fn passes(&mut self, node: &For<'a>, to: Goes) -> Seen<'t> {
        let list = self.expression(&node.list);
        self.operand(Word::For, 0, &node.list, list, None);
        self.narrowing.enter_loop(node.id, node.item, &node.body);
        let head = self.narrowing.point();
        let item = list.map(ValueInfo::item);
        self.bind(node.item, item, node.item_span);
        let joined = self.own_item(node, item);
        let of_pass = if to == Goes::Nowhere { to } else { Goes::Kept };
        self.yielded.push((None, of_pass));
        let last = self.block(&node.body, if node.yields { Goes::Kept } else { of_pass });
        let given = self.yielded.pop().and_then(|(given, _)| given);
        let pass = if node.yields { given } else { last };
        self.narrowing.end_pass(node.id);
        self.narrowing.from(head);
        if let (Some(info), Some(joined)) = (self.slots.get_mut(node.item.0 as usize), joined) {
            *info = joined;
        }
        if let Some(block) = &node.otherwise {
            self.block(block, Goes::Nowhere);
        }
        self.narrowing.end_loop();
        if !self.facts.yields.get(node.id.0 as usize).copied().unwrap_or(false) {
            return None;
        }
        let seen = pass.map(ValueInfo::listed);
        if to == Goes::Out {
            let wanted = Inferred::from(self.function.output.ok.ty);
            if let Some(found) = ty(seen).filter(|found| !found.meets(wanted)) {
                self.report_of(seen, messages::loop_output(self.function, node.span, found));
            }
            self.returned(seen, wanted, node.span);
        }
        seen
    }
}
