//! Lowers statements to instructions.
//!
//! Each block is lowered with a purpose for its value ([`Then`]): drop it, put it into a register, return it,
//! or collect it in a loop. Lowering returns whether the end of the block is reachable ([`End`]); unreachable
//! code is not emitted. An arm that never falls through is placed after the function ([`Deferred`]); the
//! other arm is followed by the next statement.

use super::emit::{Label, Reg};
use super::expr::{Aliases, Destination, Lowered, Values};
use crate::ast::{
    Binary, Block, Bound, Call, Control, Expr, ExprKind, For, Function, If, Literal, Match, Parameter, Slot,
    Stmt, StmtKind,
};
use crate::matched::{Matched, matched_call, rollbacks};
use crate::span::Span;
use ilo_spec::isa::Op;
use ilo_spec::limits;
use ilo_spec::operand::{LoopBase, To, TypeId};
use ilo_spec::types::Type;
use smallvec::SmallVec;

/// The purpose of the value of a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    /// It is dropped.
    Drop,
    /// It is put into a register.
    Put(Reg),
    /// It is returned.
    Return,
    /// It is collected by a loop.
    Yield(LoopBase),
}

/// Whether the end of the emitted code is reachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Reached,
    Never,
}

/// A block whose code is placed after the function, or at the end of the loop that it leaves by BREAK.
pub(super) struct Deferred<'c, 'a> {
    entry: Label,
    arm: Option<Reg>,
    from: Reg,
    code: DeferredCode<'c, 'a>,
    aliases: Aliases,
    mark: u16,
}

/// Deferred blocks in order; one that has been emitted is `None`.
pub(super) type AllDeferred<'c, 'a> = SmallVec<[Option<Deferred<'c, 'a>>; 2]>;

/// The content of a deferred block.
pub(super) enum DeferredCode<'c, 'a> {
    /// A block that never falls through, and the purpose of its value: to be returned or dropped.
    Block(&'c Block<'a>, Then),
    /// The failure propagates, with this source position.
    Fail(u32),
}

/// The function that is being lowered.
pub(super) struct Body<'a, 'c, 'l> {
    pub(super) values: Values<'c, 'l>,
    /// The type of the value of the function.
    output: Type,
    /// The deferred blocks of the function.
    deferred: AllDeferred<'c, 'a>,
    /// The enclosing loops.
    pub(super) loops: SmallVec<[LoopTargets<'c, 'a>; 4]>,
    /// The TRYs whose blocks enclose the statement.
    pub(super) tries: SmallVec<[OpenTry<'c, 'a>; 1]>,
}

/// The targets of the BREAKs, SKIPs and YIELDs of a loop.
pub(super) struct LoopTargets<'c, 'a> {
    /// The register for the collected list and the state of the loop, if the loop collects.
    collected: Option<(Reg, LoopBase)>,
    /// The list to which a YIELD adds, if it adds to one.
    yields: Option<LoopBase>,
    /// The end of a pass, where a SKIP continues.
    next: Label,
    /// The position after the loop and its ELSE.
    after: Label,
    /// Deferred blocks with a BREAK, SKIP or YIELD; their code is placed at the end of the body.
    deferred: AllDeferred<'c, 'a>,
}

/// A TRY whose block is being lowered.
pub(super) struct OpenTry<'c, 'a> {
    /// The number of loops around it.
    pub(super) loops: usize,
    /// The deferred blocks, whose failures may go to the handler.
    pub(super) deferred: AllDeferred<'c, 'a>,
}

/// Lowers a function.
pub(super) fn lower(function: &Function<'_>, values: Values<'_, '_>) -> Lowered<()> {
    values.registers.assign(function, values.facts);
    values.code.begin(values.registers.count);
    let output = function.output.ok.ty;
    let mut body =
        Body { values, output, deferred: SmallVec::new(), loops: SmallVec::new(), tries: SmallVec::new() };
    body.defaults(function.parameters)?;
    let nothing = output == Type::NIL;
    let then = if nothing { Then::Drop } else { Then::Return };
    if body.block(&function.body, then)? == End::Reached {
        body.values.code.emit(Op::ReturnNil {});
    }
    body.all_deferred(|body| Some(&mut body.deferred), End::Never, 0, &mut Label::default())?;
    Ok(())
}

impl<'a, 'c> Body<'a, 'c, '_> {
    /// Replaces inputs that are nil by their defaults.
    fn defaults(&mut self, parameters: &[Parameter<'_>]) -> Lowered<()> {
        for (slot, parameter) in (0..).map(Slot).zip(parameters) {
            let (Some(register), Some(default)) = (self.values.registers.get(slot), parameter.default())
            else {
                continue;
            };
            let code = &mut *self.values.code;
            let (mark, mut given) = (code.mark(), Label::default());
            let nil = code.take(1);
            code.emit(Op::Nil { dst: nil.write() });
            let jump = Op::UnlessEq { a: register.read(), b: nil.read(), to: To(0) };
            code.jump(jump, parameter.name.span.start, &mut given);
            code.give_back(mark);
            self.values.expr(default, Destination::Into(register))?;
            self.values.code.bind(given);
        }
        Ok(())
    }

    pub(super) fn block(&mut self, block: &'c Block<'a>, then: Then) -> Lowered<End> {
        let mut rest = block.statements;
        while let Some((statement, after)) = rest.split_first() {
            let mark = self.values.code.mark();
            let (end, taken) = match matched_call(statement, after.first(), !self.tries.is_empty()) {
                Some(matched) => {
                    let then = match matched.bound {
                        Some(slot) => self.put(slot),
                        None if after.len() == 1 => then,
                        None => Then::Drop,
                    };
                    (self.call_and_match(&matched, then)?, 2)
                }
                None => match self.registering_call(statement, after)? {
                    0 => (self.statement(statement, if after.is_empty() { then } else { Then::Drop })?, 1),
                    taken => (End::Reached, taken),
                },
            };
            self.values.code.give_back(mark);
            if end == End::Never {
                return Ok(End::Never);
            }
            rest = rest.get(taken..).unwrap_or_default();
        }
        Ok(End::Reached)
    }

    /// The purpose of a value that is bound to a slot.
    fn put(&self, slot: Slot) -> Then {
        self.values.registers.bound(slot).map_or(Then::Drop, Then::Put)
    }

    fn statement(&mut self, statement: &'c Stmt<'a>, then: Then) -> Lowered<End> {
        if !matches!(statement.kind, StmtKind::Rollback(_)) {
            self.values.code.settle();
        }
        match statement.kind {
            StmtKind::Let { slot, value: Bound::Expr(value), .. } => {
                self.bind(slot, &value)?;
                let unread = |id| self.values.facts_of(id).unread;
                if !self.values.facts.answers.is_empty() && !value.attempt().is_some_and(unread) {
                    self.values.read_bound(slot, value.span);
                }
                // A call at the end of an expression is not a call that a ROLLBACK can follow directly.
                if !matches!(value.kind, ExprKind::Call(_)) {
                    self.values.code.settle();
                }
            }
            StmtKind::Let { slot, value: Bound::Control(control), .. } => {
                let then = self.put(slot);
                return self.control(control, then);
            }
            StmtKind::Value(value) => {
                let end = self.give(&value, then)?;
                if !matches!(value.kind, ExprKind::Call(_)) {
                    self.values.code.settle();
                }
                return Ok(end);
            }
            StmtKind::Return(crate::ast::ReturnKind::Err, value) => {
                let src = self.values.expr(&value, Destination::Any)?.read();
                self.values.code.emit_at(Op::Fail { src }, statement.span.start);
                return Ok(End::Never);
            }
            StmtKind::Fail(value) => {
                let src = self.values.expr(&value, Destination::Any)?;
                self.values.fail(src, statement.span.start);
                return Ok(End::Never);
            }
            StmtKind::Return(_, value) => return self.give(&value, Then::Return),
            StmtKind::Undo(call) => self.undo(call)?,
            StmtKind::Break => return Ok(self.break_(statement.span.start)),
            StmtKind::Skip => return Ok(self.skip(statement.span.start)),
            StmtKind::Yield(value) => {
                let base = self.loops.last().and_then(|around| around.yields);
                return self.give(&value, base.map_or(Then::Drop, Then::Yield));
            }
            StmtKind::Rollback(call) => self.values.register(call)?,
            StmtKind::Control(control) => return self.control(control, then),
        }
        Ok(End::Reached)
    }

    /// Leaves the innermost enclosing loop. The code stays in the body of that loop.
    fn break_(&mut self, at: u32) -> End {
        if let Some(LoopTargets { collected, after, .. }) = self.loops.last_mut() {
            let op = match *collected {
                Some((dst, base)) => Op::Break { dst: dst.write(), base, to: To(0) },
                None => Op::Jump { to: To(0) },
            };
            self.values.code.jump(op, at, after);
        }
        End::Never
    }

    /// Ends the pass of the innermost enclosing loop.
    fn skip(&mut self, at: u32) -> End {
        if let Some(around) = self.loops.last_mut() {
            self.values.code.jump(Op::Jump { to: To(0) }, at, &mut around.next);
        }
        End::Never
    }

    /// Evaluates an expression for a purpose.
    fn give(&mut self, value: &Expr<'a>, then: Then) -> Lowered<End> {
        match (then, value.kind) {
            (Then::Drop, ExprKind::Call(call)) if self.values.facts_of(call.id).undo => self.undo(call)?,
            (Then::Drop, ExprKind::Literal(_)) => {}
            (Then::Drop, _) => {
                self.values.expr(value, Destination::Any)?;
            }
            (Then::Put(register), _) => {
                self.values.expr(value, Destination::Into(register))?;
            }
            (Then::Return, ExprKind::Literal(Literal::Nil)) => {
                self.values.code.emit(Op::ReturnNil {});
                return Ok(End::Never);
            }
            (Then::Return, ExprKind::Literal(Literal::Text(text))) => {
                let text = self.values.tables().text(text)?;
                self.values.code.emit(Op::ReturnText { text });
                return Ok(End::Never);
            }
            (Then::Return, ExprKind::Binary(Binary::Add, a, b))
                if !is_number(b) && !self.is_checked(value.span) =>
            {
                let a = self.values.expr(a, Destination::Any)?.read();
                let b = self.values.expr(b, Destination::Any)?.read();
                self.values.code.emit_at(Op::ReturnAdd { a, b }, value.span.start);
                return Ok(End::Never);
            }
            (Then::Return, _) => {
                let src = self.values.expr(value, Destination::Any)?;
                self.return_(src, value.span);
                return Ok(End::Never);
            }
            (Then::Yield(base), ExprKind::Record(fields)) if matches!(fields.len(), 2..=4) => {
                self.values.yield_few(base, fields, value.span.start)?;
            }
            (Then::Yield(base), ExprKind::Record(fields)) if fields.len() <= limits::CHUNK => {
                let (first, shape) = self.values.fields(fields)?;
                self.values.code.emit_at(Op::YieldRecord { base, first, shape }, value.span.start);
            }
            (Then::Yield(base), _) => {
                let src = self.values.expr(value, Destination::Any)?.read();
                self.values.code.emit_at(Op::Yield { base, src }, value.span.start);
            }
        }
        Ok(End::Reached)
    }

    /// Whether the type of the value at a position is tested when it is returned.
    fn is_checked(&self, place: Span) -> bool {
        let key = |span: &Span| (span.start, span.end);
        self.values.facts.returns.binary_search_by_key(&key(&place), key).is_ok()
    }

    fn return_(&mut self, src: Reg, place: Span) {
        let src = src.read();
        if self.is_checked(place) {
            let ty = TypeId(self.output.packed());
            self.values.code.emit_at(Op::ReturnAs { src, ty }, place.start);
        } else {
            self.values.code.emit(Op::Return { src });
        }
    }

    fn bind(&mut self, slot: Slot, value: &Expr<'a>) -> Lowered<()> {
        if let Some(id) = value.attempt() {
            let facts = self.values.facts_of(id);
            if let (true, ExprKind::Call(call)) = (facts.undo, value.kind) {
                return self.undo(call);
            }
            if facts.checked {
                return self.checked_call(slot, value, &[]);
            }
            if facts.unread {
                self.values.expr(value, Destination::Any)?;
                return Ok(());
            }
        }
        match self.values.registers.bound(slot) {
            Some(register) => {
                self.values.expr(value, Destination::Into(register))?;
            }
            None => {
                self.give(value, Then::Drop)?;
            }
        }
        Ok(())
    }

    /// A call whose MATCH is elsewhere, with ROLLBACKs directly after it: they are one step with the call, so
    /// they run only if it succeeds. Returns the number of these statements; 0 if there are none.
    fn registering_call(&mut self, statement: &'c Stmt<'a>, after: &'c [Stmt<'a>]) -> Lowered<usize> {
        let StmtKind::Let { slot, value: Bound::Expr(value), .. } = statement.kind else { return Ok(0) };
        let ExprKind::Call(call) = value.kind else { return Ok(0) };
        let (registered, facts) = (rollbacks(after), self.values.facts_of(call.id));
        if registered.is_empty() || facts.undo || !facts.checked {
            return Ok(0);
        }
        self.checked_call(slot, &value, registered)?;
        Ok(1 + registered.len())
    }

    /// A call whose MATCH is elsewhere: a register records whether it failed.
    fn checked_call(&mut self, slot: Slot, call: &Expr<'a>, registered: &'c [Stmt<'a>]) -> Lowered<()> {
        let failed = self.values.registers.failed(slot);
        let mut after = Label::default();
        self.values.code.emit(Op::True { dst: failed.write() });
        self.values.attempt(call, self.values.slot(slot), Some(&mut after))?;
        for statement in registered {
            self.statement(statement, Then::Drop)?;
        }
        self.values.code.emit(Op::False { dst: failed.write() });
        self.values.code.bind(after);
        Ok(())
    }

    /// A compensation: a failure is recorded, and execution continues in any case.
    fn undo(&mut self, call: &Call<'a>) -> Lowered<()> {
        let dst = self.values.code.take(1);
        let (mut failed, mut after) = (Label::default(), Label::default());
        self.values.call(call, dst, Some(&mut failed))?;
        self.values.code.jump(Op::Jump { to: To(0) }, call.span.start, &mut after);
        self.values.code.bind(failed);
        // A function is named without the prefix of the notation.
        let name = self
            .values
            .facts_of(call.id)
            .function
            .and_then(|index| self.values.file.functions.get(index as usize));
        let name = name.map_or(call.tool.text, |function| function.name.text);
        let tool = self.values.tables().text(name)?;
        self.values.code.emit(Op::Note { src: dst.read(), tool });
        self.values.code.bind(after);
        Ok(())
    }

    fn control(&mut self, control: Control<'a>, then: Then) -> Lowered<End> {
        match control {
            Control::If(node) => {
                let end = self.if_(node, then);
                self.values.code.settle();
                end
            }
            Control::Match(node) => {
                let mut failure = Label::default();
                let failed = self.values.registers.failed(node.slot);
                self.values.code.jump(
                    Op::JumpIf { src: failed.read(), to: To(0) },
                    node.span.start,
                    &mut failure,
                );
                let result = self.values.slot(node.slot);
                self.arms(node, failure, result, (false, false), then)
            }
            Control::For(node) => {
                let end = self.for_(node, then);
                self.values.code.settle();
                end
            }
            Control::Try(node) => self.try_(node, then),
        }
    }

    fn if_(&mut self, node: &'c If<'a>, then: Then) -> Lowered<End> {
        if let Some(end) = self.skipping_if(node, then)? {
            return Ok(end);
        }
        let mut otherwise = Label::default();
        self.values.branch(&node.condition, true, &mut otherwise, node.span.start)?;
        let end = self.block(&node.then, then)?;
        match &node.otherwise {
            None => {
                self.values.code.bind(otherwise);
                Ok(End::Reached)
            }
            Some(block) if end == End::Never => {
                self.values.code.land(otherwise);
                self.block(block, then)
            }
            Some(block) if !block.completes() => {
                self.defer(otherwise, None, Reg(0), DeferredCode::Block(block, then));
                Ok(End::Reached)
            }
            Some(block) => {
                let mut after = Label::default();
                self.values.code.jump(Op::Jump { to: To(0) }, node.span.start, &mut after);
                self.values.code.land(otherwise);
                self.block(block, then)?;
                self.values.code.bind(after);
                Ok(End::Reached)
            }
        }
    }

    /// An IF of which one branch is a SKIP: its condition jumps to the end of the pass.
    fn skipping_if(&mut self, node: &'c If<'a>, then: Then) -> Lowered<Option<End>> {
        let (wanted, other) = match &node.otherwise {
            other if is_skip(&node.then) => (false, other.as_ref()),
            Some(other) if is_skip(other) => (true, Some(&node.then)),
            _ => return Ok(None),
        };
        let Some(around) = self.loops.last_mut() else { return Ok(None) };
        let mut next = core::mem::take(&mut around.next);
        self.values.branch(&node.condition, wanted, &mut next, node.span.start)?;
        if let Some(around) = self.loops.last_mut() {
            around.next = next;
        }
        other.map_or(Ok(End::Reached), |block| self.block(block, then)).map(Some)
    }

    fn call_and_match(&mut self, matched: &Matched<'c, 'a>, then: Then) -> Lowered<End> {
        let mut failure = Label::default();
        let mark = self.values.code.mark();
        let dst = self.values.registers.get(matched.into).unwrap_or_else(|| self.values.code.take(1));
        let on_fail = matched.node.err.is_some().then_some(&mut failure);
        self.values.code.settle();
        self.values.attempt(&matched.call, dst, on_fail)?;
        // Without a register the slot is not read: neither the failure nor the value is used.
        self.values.code.give_back(mark);
        self.arms(matched.node, failure, dst, (matched.only_binds, matched.alias), then)
    }

    /// Lowers the arms of a MATCH; `failure` are the jumps for a failure, and `result` is the register of the
    /// result.
    fn arms(
        &mut self,
        node: &'c Match<'a>,
        failure: Label,
        result: Reg,
        (only_binds, alias): (bool, bool),
        then: Then,
    ) -> Lowered<End> {
        // The ERR arm is deferred before the OK arm is lowered, so that it makes no difference whether the
        // rest of a block is in the OK arm or after it. Like RET, a value that is returned ends its arm.
        let returned = matches!(then, Then::Return);
        let (failure, err) = match &node.err {
            Some(err) if !returned && err.body.completes() => (failure, Some(err)),
            Some(err) if alias => {
                self.values.aliases.push((err.bind, result));
                self.defer(failure, None, result, DeferredCode::Block(&err.body, then));
                self.values.aliases.pop();
                (Label::default(), None)
            }
            Some(err) => {
                let bind = self.values.registers.bound(err.bind);
                self.defer(failure, bind, result, DeferredCode::Block(&err.body, then));
                (Label::default(), None)
            }
            // The failure propagates. If the call itself does so, nothing jumps here.
            None => {
                let at = self.values.registers.call(node.slot).unwrap_or(node.span.start);
                self.defer(failure, None, result, DeferredCode::Fail(at));
                (Label::default(), None)
            }
        };
        let success = match &node.ok {
            Some(arm) => {
                self.take_result(self.values.registers.bound(arm.bind), result);
                self.values.read_bound(arm.bind, arm.bind_span);
                if only_binds { End::Reached } else { self.block(&arm.body, then)? }
            }
            None => {
                self.values.read_bound(node.slot, node.slot_span);
                End::Reached
            }
        };
        let Some(err) = err else { return Ok(success) };
        let mut after = Label::default();
        if success == End::Reached {
            self.values.code.jump(Op::Jump { to: To(0) }, node.span.start, &mut after);
        }
        self.values.code.land(failure);
        self.take_result(self.values.registers.bound(err.bind), result);
        let failed = self.block(&err.body, then)?;
        self.values.code.land(after);
        Ok(if success == End::Reached { success } else { failed })
    }

    fn take_result(&mut self, bind: Option<Reg>, result: Reg) {
        if let Some(dst) = bind.filter(|&dst| dst != result) {
            self.values.code.emit(Op::Move { dst: dst.write(), src: result.read() });
        }
    }

    fn defer(&mut self, entry: Label, arm: Option<Reg>, from: Reg, mut code: DeferredCode<'c, 'a>) {
        if let DeferredCode::Block(block, _) = code
            && is_skip(block)
            && arm.is_none_or(|arm| arm == from)
            && let Some(around) = self.loops.last_mut()
        {
            return around.next.absorb(entry);
        }
        if !entry.is_empty() {
            let mark = self.values.code.mark();
            if let DeferredCode::Block(_, then) = &mut code
                && !matches!(then, Then::Return)
            {
                *then = Then::Drop;
            }
            let aliases = self.values.aliases.clone();
            let of_loop = matches!(code, DeferredCode::Block(block, _) if block.belongs_to_loop());
            let loops = self.loops.len();
            let list = match (self.tries.last_mut(), self.loops.last_mut()) {
                (Some(around), _) if !of_loop || around.loops == loops => &mut around.deferred,
                (_, Some(around)) if of_loop => &mut around.deferred,
                _ => &mut self.deferred,
            };
            list.push(Some(Deferred { entry, arm, from, code, aliases, mark }));
        }
    }

    /// Emits a deferred block, or propagates the failure.
    fn deferred(&mut self, deferred: Deferred<'c, 'a>) -> Lowered<()> {
        self.values.code.land(deferred.entry);
        self.values.code.give_back(deferred.mark);
        self.values.aliases = deferred.aliases;
        match deferred.code {
            DeferredCode::Block(block, then) => {
                self.take_result(deferred.arm, deferred.from);
                let end = self.block(block, then)?;
                debug_assert_eq!(end, End::Never, "only a block that never falls through is deferred");
            }
            DeferredCode::Fail(at) => self.values.fail(deferred.from, at),
        }
        Ok(())
    }

    fn for_(&mut self, node: &'c For<'a>, then: Then) -> Lowered<End> {
        let yields = self.values.facts.yields.get(node.id.0 as usize).copied().unwrap_or_default();
        let collects = yields && !matches!(then, Then::Drop);
        let mark = self.values.code.mark();
        let list = self.values.expr(&node.list, Destination::Any)?.read();
        self.values.code.give_back(mark);
        let base = LoopBase(self.values.code.take(3).byte());
        let start = self.values.code.here();
        let to = To(0);
        let op = if collects { Op::For { base, list, to } } else { Op::Each { base, list, to } };
        self.values.code.emit_at(op, node.span.start);
        let item = self.values.registers.bound(node.item).unwrap_or_else(|| self.values.code.take(1));
        // A register of the loop is free after it, so the body may use one that a BREAK writes.
        let dst = match then {
            Then::Put(register) => register,
            _ if node.breaks => self.values.code.take(usize::from(collects)),
            _ => Reg(0),
        };
        let collected = collects.then_some((dst, base));
        self.loops.push(LoopTargets {
            collected,
            yields: collects.then_some(base),
            next: Label::default(),
            after: Label::default(),
            deferred: SmallVec::new(),
        });
        self.values.code.enter_loop();
        // With a YIELD, the values of the passes add nothing.
        let of_pass = if collects && !node.yields { Then::Yield(base) } else { Then::Drop };
        let end = self.block(&node.body, of_pass)?;
        let mut past = Label::default();
        let at = node.span.start;
        self.all_deferred(|body| Some(&mut body.loops.last_mut()?.deferred), end, at, &mut past)?;
        self.values.code.bind(past);
        let (next, after) = self.loops.pop().map_or_else(Default::default, |open| (open.next, open.after));
        self.values.code.bind(next);
        self.values.code.close_loop(start, base, item.write());
        if let Some(block) = &node.otherwise {
            return self.otherwise(block, (after, dst), collects.then_some(then), node.span);
        }
        if !collects {
            self.values.code.bind(after);
            return Ok(End::Reached);
        }
        let dst = if matches!(then, Then::Put(_)) || node.breaks { dst } else { self.values.code.take(1) };
        self.values.code.emit(Op::Collect { dst: dst.write(), base });
        self.values.code.bind(after);
        Ok(self.collected(dst, then, node.span))
    }

    /// Emits the blocks that were deferred in a function, a loop or a TRY; a path that reaches its end jumps
    /// past them. Returns whether there are any.
    pub(super) fn all_deferred(
        &mut self,
        list: fn(&mut Self) -> Option<&mut AllDeferred<'c, 'a>>,
        end: End,
        at: u32,
        past: &mut Label,
    ) -> Lowered<bool> {
        if list(self).is_none_or(|list| list.is_empty()) {
            return Ok(false);
        }
        let mark = self.values.code.mark();
        let aliases = self.values.aliases.clone();
        let mut next = 0;
        while let Some(deferred) = list(self).and_then(|list| list.get_mut(next)).and_then(Option::take) {
            self.values.code.settle();
            if next == 0 && end == End::Reached {
                self.values.code.jump(Op::Jump { to: To(0) }, at, past);
            }
            self.deferred(deferred)?;
            next += 1;
        }
        self.values.code.give_back(mark);
        self.values.aliases = aliases;
        Ok(true)
    }

    /// Emits the ELSE block of a loop and the code after it. `then` is the purpose of the list that the loop
    /// has collected at a BREAK.
    fn otherwise(
        &mut self,
        block: &'c Block<'a>,
        (after, dst): (Label, Reg),
        then: Option<Then>,
        at: Span,
    ) -> Lowered<End> {
        self.values.code.settle();
        let end = self.block(block, Then::Drop)?;
        if after.is_empty() {
            return Ok(end);
        }
        let uses = matches!(then, Some(Then::Return | Then::Yield(_)));
        if end == End::Never || !uses {
            self.values.code.bind(after);
            return Ok(then.map_or(End::Reached, |then| self.collected(dst, then, at)));
        }
        let mut past = Label::default();
        self.values.code.jump(Op::Jump { to: To(0) }, at.start, &mut past);
        self.values.code.bind(after);
        self.collected(dst, then.unwrap_or(Then::Drop), at);
        self.values.code.bind(past);
        Ok(End::Reached)
    }

    /// Uses the list that a loop has collected, for its purpose.
    fn collected(&mut self, dst: Reg, then: Then, at: Span) -> End {
        match then {
            Then::Return => {
                self.return_(dst, at);
                End::Never
            }
            Then::Yield(outer) => {
                self.values.code.emit_at(Op::Yield { base: outer, src: dst.read() }, at.start);
                End::Reached
            }
            Then::Put(_) | Then::Drop => End::Reached,
        }
    }
}

/// Whether a block is only a SKIP.
fn is_skip(block: &Block<'_>) -> bool {
    matches!(block.statements, [Stmt { kind: StmtKind::Skip, .. }])
}

fn is_number(expr: &Expr<'_>) -> bool {
    matches!(expr.kind, ExprKind::Literal(Literal::Number(_)))
}
