//! Turns the tree of a function into a list of events: what happens to its slots, in the order of execution.
//!
//! One walk builds the list; the flow analyses are plain loops over it. The same walk collects the calls, and
//! computes bottom-up which blocks have values ([`Gives`]), to report those that lack a needed one.
//! Conditions are not evaluated: each may be true or false.

use super::fixes::{self, output_name};
use super::slot_set::put;
use crate::ast::{
    Arm, Block, Bound, Call, CallId, Control, Expr, ExprKind, For, Function, If, LoopId, Match, ReturnKind,
    Slot, Stmt, StmtKind, Try,
};
use crate::diagnostic::{Diagnostic, Diagnostics, Fix};
use crate::dialect::terms::Terms;
use crate::matched::{begins_with_rollback, covered_call};
use crate::notation::Notation;
use crate::span::Span;
use core::ops::Range;
use hashbrown::HashMap;
use ilo_spec::error::Code;
use ilo_spec::node::Word;
use ilo_spec::pure::Pure;
use ilo_spec::types::Type;
use smallvec::SmallVec;

/// An access to a slot, or a point where paths fork or join.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A statement begins.
    Statement(Span),
    /// A slot is read by an expression that ends with it.
    Read(Slot, Span),
    /// A slot is bound to a plain value. The spans are those of the statement and of the slot in it.
    Bind(Slot, Span, Span),
    /// A slot is bound to the result of a call or of a fallible pure function.
    BindCall(Slot, Span, Span, CallId),
    /// A MATCH handles the result in the slot.
    Match(Slot, Span),
    /// A fork into two paths, by IF, MATCH or TRY. The second one begins with a [`Event::Branch`], the
    /// handler of a TRY with a [`Event::Handler`].
    Fork(Word, Span),
    /// The first path of a fork ends, and the second one begins.
    Branch(Opening),
    /// The paths of a fork join.
    Join(Opening),
    /// An iteration of a loop begins, or the loop ends.
    Loop(LoopId, Span),
    /// An iteration ends.
    Repeat(LoopId, Opening),
    /// A BREAK ends the loop.
    Break(LoopId),
    /// A SKIP ends an iteration of the loop; the span is that of the SKIP.
    Skip(LoopId, Span),
    /// After a loop with a BREAK and its ELSE: the paths join.
    Done(LoopId, Opening),
    /// A failure at this point goes to the handler of a TRY; with the call, if LET binds it: a MATCH may
    /// handle its failure.
    MayFail(TryId, Option<CallId>),
    /// The block of a TRY ends, and its handler begins.
    Handler(TryId, Opening),
    /// The function ends, with a value or a failure.
    Exit(Ending, Span),
    /// A call is registered by ROLLBACK.
    Register(CallId),
    /// A call is made that has UNDO, or that may be a compensation.
    Undo(CallId),
}

impl Event {
    /// The slot that it binds.
    pub(super) fn binds(&self) -> Option<Slot> {
        match *self {
            Event::Bind(slot, ..) | Event::BindCall(slot, ..) => Some(slot),
            _ => None,
        }
    }

    /// Whether it binds a slot, or takes the result out of it.
    pub(super) fn touches(&self, slot: Slot) -> bool {
        self.binds() == Some(slot) || matches!(*self, Event::Match(matched, _) if matched == slot)
    }
}

/// The index of the fork or loop to which an event belongs.
pub(super) type Opening = u32;

/// The number of a TRY in a function, in source order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TryId(pub(super) u32);

/// How a function ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// RET, `RET_OK`, or the end of the body.
    Value,
    /// `RET_ERR`, FAIL, or a failure without an arm.
    Failure,
}

/// A call with UNDO, or one that is a compensation if nothing reads its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rollback {
    pub(super) call: CallId,
    /// Whether it is bound. Then only the flow of slots shows whether it is read.
    pub(super) bound: bool,
    /// Whether it is in a branch of IF, where it is none without UNDO.
    pub(super) in_if: bool,
    pub(super) span: Span,
}

/// The construct to which a block belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    If,
    Err,
    Other,
}

/// The result of the walk over a function. It is reused for the next function, so that its lists are
/// allocated once.
#[derive(Default)]
pub(crate) struct Events<'a> {
    pub(super) list: Vec<Event>,
    /// By [`CallId`]; `None` for a pure function.
    pub(super) calls: Vec<Option<&'a Call<'a>>>,
    /// By [`LoopId`].
    pub(super) yields: SmallVec<[bool; 8]>,
    /// The number of TRYs.
    pub(super) tries: u32,
    /// By [`CallId`]: whether ROLLBACK registers it.
    pub(super) registered: Vec<bool>,
    /// By [`CallId`]: whether a ROLLBACK follows directly.
    pub(super) covered: Vec<bool>,
    pub(super) rollbacks: Vec<Rollback>,
    /// Diagnostics about values of blocks and about returns.
    pub(super) found: Diagnostics,
}

impl<'a> Events<'a> {
    /// Walks a function and replaces the previous result.
    pub(super) fn walk(&mut self, function: &'a Function<'a>) {
        self.list.clear();
        self.calls.clear();
        self.calls.resize(function.calls as usize, None);
        self.yields.clear();
        self.yields.resize(function.loops as usize, false);
        self.tries = 0;
        for calls in [&mut self.registered, &mut self.covered] {
            calls.clear();
            calls.resize(function.calls as usize, false);
        }
        self.rollbacks.clear();
        self.found = Diagnostics::default();
        let mut walk = Walk {
            function,
            events: self,
            err_arms: 0,
            loops: SmallVec::new(),
            tries: SmallVec::new(),
            unmarked: Vec::new(),
            dead: false,
        };
        let gives = walk.block(&function.body, (Owner::Other, false), function.span);
        let end = function.body.statements.last().map_or(function.span, |last| last.span);
        walk.events.list.push(Event::Exit(Ending::Value, end));
        let reason = gives.lack.filter(|_| function.output.ok.ty != Type::NIL);
        walk.report(reason.map(|place| {
            let message = format!("a path through `{}` gives no value", function.name.text);
            let statement = Terms::of(function.notation).statement;
            Diagnostic::new(Code::MissingReturn, function.span, message)
                .expected(output_name(&function.output), "a path without a value")
                .related(place, "no value here")
                .help(format!("end that path with a return, or with a {statement} that has a value"))
        }));
        walk.report_unmarked();
    }
}

/// A loop whose body is being walked.
struct WalkedLoop {
    id: LoopId,
    /// Whether a path reaches one of its BREAKs.
    broken: bool,
    /// Whether a path reaches one of its YIELDs.
    yielded: bool,
}

struct Walk<'e, 'a> {
    function: &'a Function<'a>,
    events: &'e mut Events<'a>,
    /// The number of enclosing ERR arms.
    err_arms: u32,
    /// The enclosing loops.
    loops: SmallVec<[WalkedLoop; 4]>,
    /// The TRYs whose blocks enclose the statement.
    tries: SmallVec<[TryId; 2]>,
    /// The events of loops with a BREAK that may go unnoticed.
    unmarked: Vec<(Range<usize>, Diagnostic)>,
    /// Whether the statement is unreachable.
    dead: bool,
}

impl<'a> Walk<'_, 'a> {
    fn terms(&self) -> Terms {
        Terms::of(self.function.notation)
    }

    fn report(&mut self, found: Option<Diagnostic>) {
        found.into_iter().for_each(|found| self.events.found.push(found));
    }

    /// Reports loops with a BREAK that bind nothing that is read behind them.
    fn report_unmarked(&mut self) {
        if self.unmarked.is_empty() {
            return;
        }
        let list = &self.events.list;
        let reads = list.iter().enumerate().filter_map(|(at, event)| match *event {
            Event::Read(slot, _) => Some((slot, at)),
            _ => None,
        });
        let last: HashMap<Slot, usize> = reads.collect();
        let shows = |events: &Range<usize>| {
            let inside = list.get(events.clone()).unwrap_or_default().iter();
            let bound = inside.filter_map(|event| last.get(&event.binds()?));
            bound.max().is_some_and(|&at| at >= events.end)
        };
        let unmarked = self.unmarked.drain(..).filter(|(events, _)| !shows(events));
        unmarked.for_each(|(_, found)| self.events.found.push(found));
    }

    /// Walks a block; `after` says whether a ROLLBACK follows it.
    fn block(&mut self, block: &Block<'a>, (owner, after): (Owner, bool), header: Span) -> Gives<Span> {
        let fails =
            matches!(block.statements.last(), Some(Stmt { kind: StmtKind::Return(ReturnKind::Err, _), .. }));
        let mut gives = Gives::nothing(header);
        let dead = self.dead;
        let mut rest = block.statements;
        while let Some((statement, behind)) = rest.split_first() {
            rest = behind;
            match covered_call(statement, behind, after) {
                Some(call) => put(&mut self.events.covered, call.id.0, true),
                None if fails && owner != Owner::Other => self.rollback(statement, owner),
                None => {}
            }
            let last = self.statement(statement, begins_with_rollback(behind, after));
            if gives.completes() {
                gives = last;
                self.dead |= !gives.completes();
            }
        }
        self.dead = dead;
        gives
    }

    fn rollback(&mut self, statement: &Stmt<'a>, owner: Owner) {
        let (call, bound) = match statement.kind {
            StmtKind::Value(Expr { kind: ExprKind::Call(call), .. }) => (call, false),
            StmtKind::Let { value: Bound::Expr(Expr { kind: ExprKind::Call(call), .. }), .. } => (call, true),
            _ => return,
        };
        let in_if = owner == Owner::If;
        if !in_if {
            self.events.list.push(Event::Undo(call.id));
        }
        self.events.rollbacks.push(Rollback { call: call.id, bound, in_if, span: statement.span });
    }

    fn statement(&mut self, statement: &Stmt<'a>, after: bool) -> Gives<Span> {
        self.events.list.push(Event::Statement(statement.span));
        match &statement.kind {
            StmtKind::Let { slot, value, slot_span } => {
                self.bind((*slot, *slot_span), value, statement.span, after)
            }
            StmtKind::Value(value) => {
                self.expression(value);
                Gives::VALUE
            }
            StmtKind::Return(kind, value) => {
                self.expression(value);
                let in_err = self.err_arms > 0;
                self.report(wrong_return(self.function, *kind, value, in_err, statement.span));
                let failure = *kind == ReturnKind::Err;
                self.exit(if failure { Ending::Failure } else { Ending::Value }, statement.span)
            }
            StmtKind::Fail(value) => {
                self.expression(value);
                self.may_fail(None);
                self.exit(Ending::Failure, statement.span)
            }
            StmtKind::Undo(call) => {
                self.arguments(call);
                let span = statement.span;
                self.events.rollbacks.push(Rollback { call: call.id, bound: false, in_if: false, span });
                self.events.list.push(Event::Undo(call.id));
                Gives::nothing(statement.span)
            }
            StmtKind::Rollback(call) => {
                self.arguments(call);
                call.arguments.iter().for_each(|argument| self.no_call(&argument.value));
                put(&mut self.events.registered, call.id.0, true);
                self.events.list.push(Event::Register(call.id));
                Gives::nothing(statement.span)
            }
            StmtKind::Break => self.leave_loop(statement.span),
            StmtKind::Skip => self.skip(statement.span),
            StmtKind::Yield(value) => self.yields(value, statement.span),
            StmtKind::Control(control) => self.control(control, after),
        }
    }

    /// Reports a statement of a loop outside of loops.
    fn nowhere(&mut self, word: Word, span: Span, in_err: bool) {
        let terms = self.terms();
        let (written, of, ret) = (terms.word(word), terms.word(Word::For), terms.word(Word::Ret));
        let (code, does) = match word {
            Word::Break => (Code::BreakNowhere, "ends"),
            Word::Skip => (Code::SkipNowhere, "ends a pass of"),
            _ => (Code::YieldNowhere, "adds to the list of"),
        };
        let found =
            Diagnostic::new(code, span, format!("{written} {does} a {of}, but there is none around it"))
                .expected(format!("{written} in the body of a {of}"), "no enclosing loop")
                .help(if in_err && !terms.is_id() {
                    "`ignore` binds nil and continues".to_owned()
                } else {
                    format!("to end the function, write {ret} with its value")
                });
        self.events.found.push(found);
    }

    /// BREAK ends the innermost enclosing loop.
    fn leave_loop(&mut self, span: Span) -> Gives<Span> {
        let dead = self.dead;
        match self.loops.last_mut() {
            Some(open) => {
                open.broken |= !dead;
                self.events.list.push(Event::Break(open.id));
            }
            None => self.nowhere(Word::Break, span, false),
        }
        Gives::NEVER
    }

    /// SKIP ends the pass of the innermost enclosing loop.
    fn skip(&mut self, span: Span) -> Gives<Span> {
        match self.loops.last() {
            Some(open) => self.events.list.push(Event::Skip(open.id, span)),
            None => {
                let in_err = self.err_arms > 0;
                self.nowhere(Word::Skip, span, in_err);
                if in_err {
                    // What follows the handler is not reported as well.
                    self.exit(Ending::Failure, span);
                }
            }
        }
        Gives::NEVER
    }

    /// YIELD adds a value to the list of the innermost enclosing loop.
    fn yields(&mut self, value: &Expr<'a>, span: Span) -> Gives<Span> {
        self.expression(value);
        let dead = self.dead;
        match self.loops.last_mut() {
            Some(open) => open.yielded |= !dead,
            None => self.nowhere(Word::Yield, span, false),
        }
        Gives::nothing(span)
    }

    /// Reports the first call in an argument of a ROLLBACK.
    fn no_call(&mut self, argument: &Expr<'a>) {
        let mut first = None;
        argument.each_call(&mut |call| {
            first.get_or_insert(call);
        });
        let Some(call) = first else { return };
        let terms = self.terms();
        let message = format!("an argument of {} calls `{}`", terms.word(Word::Rollback), call.tool.text);
        let found = Diagnostic::new(Code::RollbackArgument, call.span, message)
            .expected("a value that no call gives", format!("a call of `{}`", call.tool.text));
        self.events.found.push(found.help(format!(
            "make the call in a {} of its own before, with {}, and read its {} here",
            terms.statement,
            terms.word(Word::Let),
            terms.slot
        )));
    }

    fn exit(&mut self, ending: Ending, span: Span) -> Gives<Span> {
        self.events.list.push(Event::Exit(ending, span));
        Gives::NEVER
    }

    fn bind(
        &mut self,
        (slot, place): (Slot, Span),
        value: &Bound<'a>,
        span: Span,
        after: bool,
    ) -> Gives<Span> {
        match value {
            Bound::Expr(value) => {
                self.attempt(value, true);
                self.events.list.push(match value.attempt() {
                    Some(id) => Event::BindCall(slot, span, place, id),
                    None => Event::Bind(slot, span, place),
                });
            }
            Bound::Control(control) => {
                let gives = self.control(control, after);
                let missing = gives.lack.map(|place| self.missing_value(control, place));
                self.report(missing);
                self.events.list.push(Event::Bind(slot, span, place));
                if !gives.completes() {
                    return Gives::NEVER;
                }
            }
        }
        Gives::nothing(span)
    }

    fn control(&mut self, control: &Control<'a>, after: bool) -> Gives<Span> {
        match control {
            Control::If(node) => self.branch(node),
            Control::Match(node) => self.arms(node, after && !node.handles()),
            Control::For(node) => self.passes(node),
            Control::Try(node) => self.try_(node),
        }
    }

    /// Begins a fork or loop.
    fn open(&mut self, event: Event) -> Opening {
        self.events.list.push(event);
        u32::try_from(self.events.list.len() - 1).unwrap_or(u32::MAX)
    }

    fn branch(&mut self, node: &If<'a>) -> Gives<Span> {
        self.expression(&node.condition);
        let fork = self.open(Event::Fork(Word::If, node.span));
        let then = self.block(&node.then, (Owner::If, false), node.span);
        self.events.list.push(Event::Branch(fork));
        let otherwise = match &node.otherwise {
            Some(block) => self.block(block, (Owner::If, false), node.span),
            None => Gives::nothing(node.span),
        };
        self.events.list.push(Event::Join(fork));
        then.or(otherwise)
    }

    fn arms(&mut self, node: &Match<'a>, after: bool) -> Gives<Span> {
        self.events.list.push(Event::Match(node.slot, node.slot_span));
        let fork = self.open(Event::Fork(Word::Match, node.span));
        let err = if let Some(arm) = &node.err {
            self.err_arms += 1;
            let gives = self.arm(arm, (Owner::Err, false));
            self.err_arms -= 1;
            gives
        } else {
            self.may_fail(None);
            self.exit(Ending::Failure, node.span)
        };
        self.events.list.push(Event::Branch(fork));
        let ok = if let Some(arm) = &node.ok {
            self.arm(arm, (Owner::Other, after))
        } else {
            self.sets(node.slot, node.slot_span);
            Gives::nothing(node.span)
        };
        self.events.list.push(Event::Join(fork));
        err.or(ok)
    }

    /// Something other than LET binds a slot.
    fn sets(&mut self, slot: Slot, place: Span) {
        self.events.list.push(Event::Bind(slot, place, place));
    }

    fn arm(&mut self, arm: &Arm<'a>, owner: (Owner, bool)) -> Gives<Span> {
        self.sets(arm.bind, arm.bind_span);
        self.block(&arm.body, owner, arm.span)
    }

    fn passes(&mut self, node: &For<'a>) -> Gives<Span> {
        self.expression(&node.list);
        let start = self.open(Event::Loop(node.id, node.span));
        self.sets(node.item, node.item_span);
        self.loops.push(WalkedLoop { id: node.id, broken: false, yielded: false });
        let mut pass = self.block(&node.body, (Owner::Other, false), node.span);
        let open = self.loops.pop();
        let broken = open.as_ref().is_some_and(|open| open.broken);
        if node.yields {
            pass.value = open.is_some_and(|open| open.yielded);
            self.mixed(node);
        }
        self.events.list.push(Event::Repeat(node.id, start));
        put(&mut self.events.yields, node.id.0, pass.value);
        let collected = if pass.value { Gives::VALUE } else { Gives::nothing(node.span) };
        let gives = match &node.otherwise {
            Some(block) => {
                let end = self.block(block, (Owner::Other, false), node.span);
                let last = block.statements.last().map_or(node.span, |last| last.span);
                let unbroken = if end.completes() { Gives::nothing(last) } else { Gives::NEVER };
                if broken { collected.or(unbroken) } else { unbroken }
            }
            None => collected,
        };
        if node.breaks {
            self.events.list.push(Event::Done(node.id, start));
            let found = self.no_else(node);
            self.unmarked.extend(found.map(|found| (start as usize..self.events.list.len(), found)));
        }
        gives
    }

    /// A bound block in which some path has no value: at `place`.
    fn missing_value(&self, control: &Control<'a>, place: Span) -> Diagnostic {
        let terms = self.terms();
        let word = match control {
            Control::If(_) => terms.word(Word::If),
            Control::Match(_) => terms.handler.into(),
            Control::Try(_) => terms.word(Word::Try),
            Control::For(_) => terms.word(Word::For),
        };
        let message = format!("this {word} is bound, but a path through it gives no value");
        let found = Diagnostic::new(Code::MissingValue, control.span(), message)
            .expected("a value on every path", "a path without a value")
            .related(place, "no value here");
        found.help(match control {
            Control::For(_) => format!(
                "let a pass end with a value or a {}, and every path of the {} with a return or a failure; or do not \
                 bind the loop",
                terms.word(Word::Yield),
                terms.word(Word::Else)
            ),
            _ => "end every path with a value".to_owned(),
        })
    }

    /// Reports the values at the end of the passes of a loop with a YIELD, to which they do not belong.
    fn mixed(&mut self, node: &For<'a>) {
        let terms = self.terms();
        let (word, of) = (terms.word(Word::Yield), terms.word(Word::For));
        each_last(&node.body, &mut |last, before| {
            let (value, control) = match last.kind {
                // In JSON and YAML a step that binds a name has that value too.
                StmtKind::Value(Expr { kind: ExprKind::Ref(_), .. }) if before.is_some_and(binds) => return,
                StmtKind::Value(value) => (Some(value), None),
                StmtKind::Control(Control::For(inner)) => (None, Some(inner)),
                _ => return,
            };
            let is_call = value.is_some_and(|value| matches!(value.kind, ExprKind::Call(_)));
            let (code, what) =
                if is_call { (Code::LostValue, "the answer") } else { (Code::MixedYield, "this value") };
            let message = format!("a {word} gives what this {of} collects, so {what} is in no list");
            let wrong = Diagnostic::new(code, last.span, message)
                .expected(format!("{word} with it"), format!("a value without {word}"))
                .related(node.span, format!("the {of}"));
            self.events.found.push(match control {
                _ if is_call => wrong
                    .help(format!("if it is not to be collected, put another {} after it", terms.statement)),
                None if terms.is_id() => wrong.fix(Fix::write("YIELD", Span::at(last.span.start), "YIELD ")),
                None => wrong.help("write `yield` with the value"),
                Some(_) => wrong.help(format!(
                    "bind the list with {} and add it with {word}, or add each value there",
                    terms.word(Word::Let)
                )),
            });
        });
    }

    /// A loop over RANGE with a BREAK and without an ELSE: if no iteration reaches the BREAK, this goes
    /// unnoticed, unless a slot shows it that the loop binds.
    fn no_else(&self, node: &For<'a>) -> Option<Diagnostic> {
        if node.otherwise.is_some()
            || !matches!(node.list.kind, ExprKind::Apply(apply) if apply.function == Pure::Range)
        {
            return None;
        }
        let terms = self.terms();
        let word = |word| terms.word(word);
        let (of, end, over) = (word(Word::For), word(Word::Else), word(Word::Break));
        let message = format!("nothing shows whether a {over} ended this {of} or its passes ran out");
        let help = terms.choose(
            "write `ELSE` with what follows when no BREAK ended it, such as `ELSE 1` and a FAIL; `ELSE 0` if that does \
             not matter",
            "write `\"else\"` with the steps for when no `break` ended it, such as a failure; an empty list if that does \
             not matter",
        );
        let found = Diagnostic::new(Code::NoElse, node.span, message);
        Some(found.expected(format!("{end} after it"), format!("{of} without {end}")).help(help))
    }

    fn expression(&mut self, expression: &Expr<'a>) {
        self.attempt(expression, false);
    }

    /// Walks an expression; `bound` says whether LET binds it, so that a MATCH may handle its failure.
    fn attempt(&mut self, expression: &Expr<'a>, bound: bool) {
        match expression.kind {
            ExprKind::Ref(slot) => return self.events.list.push(Event::Read(slot, expression.span)),
            ExprKind::Literal(_) => return,
            ExprKind::Call(call) => put(&mut self.events.calls, call.id.0, Some(call)),
            _ => {}
        }
        expression.children(|child| self.expression(child));
        if let Some(id) = expression.attempt() {
            self.may_fail(bound.then_some(id));
        }
    }

    /// Notes that a failure at this point goes to a handler, if it does.
    fn may_fail(&mut self, bound: Option<CallId>) {
        let failure = self.tries.last().map(|&to| Event::MayFail(to, bound));
        self.events.list.extend(failure);
    }

    fn try_(&mut self, node: &Try<'a>) -> Gives<Span> {
        let id = TryId(self.events.tries);
        self.events.tries += 1;
        let fork = self.open(Event::Fork(Word::Try, node.span));
        self.tries.push(id);
        let body = self.block(&node.body, (Owner::Other, false), node.span);
        self.tries.pop();
        let Arm { bind, bind_span, body: handler, span } = &node.handler;
        self.events.list.push(Event::Handler(id, fork));
        self.sets(*bind, *bind_span);
        let handled = self.block(handler, (Owner::Other, false), *span);
        self.events.list.push(Event::Join(fork));
        body.or(handled)
    }

    fn arguments(&mut self, call: &'a Call<'a>) {
        put(&mut self.events.calls, call.id.0, Some(call));
        call.arguments.iter().for_each(|argument| self.expression(&argument.value));
    }
}

/// Whether the end of a statement or block is reached, and with a value or without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gives<L = ()> {
    /// Some path reaches the end with a value.
    pub value: bool,
    /// Some path reaches the end without a value; this is the first such path.
    pub lack: Option<L>,
}

impl<L: Copy> Gives<L> {
    /// The end is never reached.
    pub const NEVER: Gives<L> = Gives { value: false, lack: None };
    /// A value, always.
    pub const VALUE: Gives<L> = Gives { value: true, lack: None };

    /// No value.
    pub const fn nothing(lack: L) -> Gives<L> {
        Gives { value: false, lack: Some(lack) }
    }

    /// The union of two branches.
    #[must_use]
    pub fn or(self, other: Gives<L>) -> Gives<L> {
        Gives { value: self.value || other.value, lack: self.lack.or(other.lack) }
    }

    /// Whether the next statement can run.
    pub fn completes(self) -> bool {
        self.value || self.lack.is_some()
    }
}

/// Reports RET in a function that returns a result, and `RET_OK` or `RET_ERR` in any other; `span` is that of
/// the statement.
fn wrong_return(
    function: &Function<'_>,
    kind: ReturnKind,
    value: &Expr<'_>,
    in_err_arm: bool,
    span: Span,
) -> Option<Diagnostic> {
    if function.notation != Notation::Id {
        // The reader of JSON and YAML has reported it.
        return None;
    }
    let (word, right) = match (kind, &function.output.err) {
        (ReturnKind::Plain, Some(err)) => {
            // If the function succeeds with nil and fails with text, a text is meant as the failure.
            let fits = |ty: Type| value.evident_type().is_none_or(|found| found.meets(ty));
            let failure = !fits(function.output.ok.ty) && fits(err.ty);
            (Word::Ret, if failure { Word::RetErr } else { Word::RetOk })
        }
        (ReturnKind::Ok, None) => (Word::RetOk, Word::Ret),
        (ReturnKind::Err, None) => (Word::RetErr, Word::Fail),
        _ => return None,
    };
    // After a failed call, a value may be the failure itself or a replacement: both are common.
    let unsure = in_err_arm && kind == ReturnKind::Plain && value.evident_type().is_none();
    let [word, right] = [word, right].map(Word::mnemonic);
    let output = output_name(&function.output);
    let is = if function.output.err.is_some() { "a result" } else { "not a result" };
    let message = format!("{word} in `{}`, whose type `{output}` is {is}", function.name.text);
    let found = Diagnostic::new(Code::WrongReturn, span, message)
        .related(function.output.span, "the type is given here");
    Some(if unsure {
        let help = "write `RET_ERR` to fail with it, `RET_OK` to succeed with it";
        found.expected("RET_ERR or RET_OK", word).help(help)
    } else {
        found.expected(right, word).fix(fixes::word(span, word, right))
    })
}

/// Visits the last statement of a block, or those of its branches and arms.
fn each_last<'a>(block: &Block<'a>, each: &mut impl FnMut(&Stmt<'a>, Option<&Stmt<'a>>)) {
    let Some((last, before)) = block.statements.split_last() else { return };
    match &last.kind {
        StmtKind::Control(Control::For(node)) if node.yields => each(last, before.last()),
        StmtKind::Control(Control::For(_)) => {}
        StmtKind::Control(control) => control.blocks().for_each(|(_, block)| each_last(block, each)),
        _ => each(last, before.last()),
    }
}

/// Whether a statement binds a slot to a value, or handles the failure of the call that is bound.
fn binds(statement: &Stmt<'_>) -> bool {
    matches!(statement.kind, StmtKind::Let { .. } | StmtKind::Control(Control::Match(_)))
}
