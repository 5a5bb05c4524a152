//! Lowers expressions to instructions.
//!
//! The value of an expression is wanted in [`Destination::Any`] register, which may be that of a slot, or
//! [`Destination::Into`] a given one. That register is written only by the last instruction, after all
//! operands have been read.

use super::emit::{Code, Label, Reg};
use super::slots::Registers;
use super::tables::{Full, Tables};
use crate::ast::{
    Apply, Binary, Call, CallId, Expr, ExprKind, Field, File, Literal, MatchMap, Parameter, Slot, Unary,
};
use crate::check::{Answer, CallFacts, Facts};
use crate::span::Span;
use ilo_spec::isa::Op;
use ilo_spec::limits;
use ilo_spec::operand::{
    ChoiceId, Count, FieldsId, First, FunctionId, Imm, LoopBase, MapId, NumberId, OnFail, PureId, To,
};
use ilo_spec::program::{Key, Map, Number};
use ilo_spec::pure::Pure;
use smallvec::SmallVec;

/// Where the value of an expression is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Destination {
    /// In any register.
    Any,
    /// In this register.
    Into(Reg),
}

/// The result of lowering; an error if a table is full.
pub(super) type Lowered<T> = Result<T, Full>;

/// Slots of ERR arms that are aliases of a failure, each with the register of the failure.
pub(super) type Aliases = SmallVec<[(Slot, Reg); 2]>;

/// The state for lowering expressions: the code so far, and the facts about the function.
pub(super) struct Values<'c, 'l> {
    pub(super) file: &'l File<'l>,
    /// For each function of the file, its index in the program.
    pub(super) numbers: &'l [u16],
    pub(super) tables: &'l mut Tables,
    pub(super) facts: &'c Facts,
    pub(super) registers: &'l mut Registers,
    pub(super) code: &'l mut Code,
    pub(super) aliases: Aliases,
    /// The enclosing TRYs, with the failures in their blocks that go to their handlers.
    pub(super) tries: SmallVec<[Failures; 1]>,
}

/// The failures that go to the handler of a TRY: jumps, by the register of the failure.
pub(super) type Failures = SmallVec<[(Reg, Label); 2]>;

impl<'a, 'l> Values<'_, 'l> {
    pub(super) fn tables(&mut self) -> &mut Tables {
        self.tables
    }

    /// The register of a slot that is read.
    pub(super) fn slot(&self, slot: Slot) -> Reg {
        if let Some(&(_, register)) = self.aliases.iter().rev().find(|(alias, _)| *alias == slot) {
            return register;
        }
        self.registers.get(slot).unwrap_or(Reg(0))
    }

    pub(super) fn is_slot(&self, register: Reg) -> bool {
        register.0 < self.registers.count
    }

    /// The index and the parameters of the function that is called.
    pub(super) fn callee(&self, call: &Call<'_>) -> Option<(u16, &'l [Parameter<'l>])> {
        let index = self.facts_of(call.id).function? as usize;
        let number = *self.numbers.get(index)?;
        Some((number, self.file.functions.get(index)?.parameters))
    }

    pub(super) fn facts_of(&self, id: CallId) -> CallFacts {
        self.facts.calls.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// Evaluates an expression. Returns the register of its value.
    pub(super) fn expr(&mut self, expr: &Expr<'a>, want: Destination) -> Lowered<Reg> {
        if let ExprKind::Ref(slot) = expr.kind {
            let source = self.slot(slot);
            if let Some(&Answer { in_place, .. }) = self.answer(expr.span, false) {
                let dst = match want {
                    Destination::Into(dst) => dst,
                    Destination::Any if in_place => source,
                    Destination::Any => self.code.take(1),
                };
                let read = if in_place { source } else { dst };
                self.read(source, read, expr.span.start);
                self.give_over(read, dst);
                return Ok(dst);
            }
            let Destination::Into(dst) = want else { return Ok(source) };
            self.give_over(source, dst);
            return Ok(dst);
        }
        let dst = match want {
            Destination::Into(dst) => dst,
            Destination::Any => self.code.take(1),
        };
        let mark = self.code.mark();
        self.value(expr, dst)?;
        self.code.give_back(mark);
        Ok(dst)
    }

    /// The answer that is read as JSON where a slot is read or bound.
    fn answer(&self, at: Span, binds: bool) -> Option<&Answer> {
        let (answers, key) = (&self.facts.answers, (at.start, at.end, binds));
        answers.get(answers.binary_search_by_key(&key, Answer::key).ok()?)
    }

    /// Reads the answer to which a slot was bound as JSON, if it is read there.
    pub(super) fn read_bound(&mut self, slot: Slot, at: Span) {
        if self.answer(at, true).is_some()
            && let Some(register) = self.registers.bound(slot)
        {
            self.read(register, register, at.start);
        }
    }

    /// Reads a field that the schema of an answer lists and does not require: nil where it is absent.
    fn optional_field(&mut self, record: &Expr<'a>, name: &'a str, dst: Reg, at: u32) -> Lowered<()> {
        let constant = |of| Expr { kind: ExprKind::Literal(of), span: record.span };
        let (name, nil) = (constant(Literal::Text(name)), constant(Literal::Nil));
        let (first, function) = (self.window(&[record, &name, &nil])?, PureId(Pure::Get as u8));
        let op = Op::Apply { dst: dst.write(), first, count: Count(3), function, fail: OnFail(0) };
        self.code.emit_at(op, at);
        Ok(())
    }

    /// Whether the field that is read of this value is one that the answer may lack.
    pub(super) fn may_be_absent(&self, of: &Expr<'a>) -> bool {
        self.facts.optional.binary_search(&core::ptr::from_ref(of).addr()).is_ok()
    }

    /// Applies READ to a register.
    fn read(&mut self, source: Reg, dst: Reg, at: u32) {
        let (first, function) = (First(source.byte()), PureId(Pure::Read as u8));
        let op = Op::Apply { dst: dst.write(), first, count: Count(1), function, fail: OnFail(0) };
        self.code.emit_at(op, at);
    }

    /// Evaluates an expression other than REF into a register.
    fn value(&mut self, expr: &Expr<'a>, dst: Reg) -> Lowered<()> {
        let at = expr.span.start;
        if let Some((record, name)) = expr.as_field() {
            if self.may_be_absent(record) {
                return self.optional_field(record, name, dst, at);
            }
            let (dst, src) = (dst.write(), self.expr(record, Destination::Any)?.read());
            let field = self.tables().field(name)?;
            self.code.emit_at(Op::Field { dst, src, field }, at);
            return Ok(());
        }
        match expr.kind {
            // Reads of fields are handled above, and what could not be read is an error.
            ExprKind::Field(..) | ExprKind::Bad => {}
            ExprKind::Ref(_) => {
                self.expr(expr, Destination::Into(dst))?;
            }
            ExprKind::Literal(literal) => self.literal(literal, dst)?,
            ExprKind::Has(record, name) => self.has(record, name.text, dst, at)?,
            ExprKind::Call(call) => self.call(call, dst, None)?,
            ExprKind::Unary(operator, operand) => {
                let src = self.expr(operand, Destination::Any)?.read();
                let dst = dst.write();
                let op = match operator {
                    Unary::Not => Op::Not { dst, src },
                    Unary::Len => Op::Len { dst, src },
                };
                self.code.emit_at(op, at);
            }
            ExprKind::Binary(Binary::And, a, b) => self.logic([a, b], true, dst, at)?,
            ExprKind::Binary(Binary::Or, a, b) => self.logic([a, b], false, dst, at)?,
            ExprKind::Template(_) => self.concat(expr, dst)?,
            ExprKind::Binary(Binary::Concat, ..) if expr.is_no_list() => self.concat(expr, dst)?,
            // A constant name is that of a field, in any form.
            ExprKind::Binary(
                Binary::HasName,
                record,
                Expr { kind: ExprKind::Literal(Literal::Text(name)), .. },
            ) => self.has(record, name, dst, at)?,
            ExprKind::Binary(operator, a, b) => self.binary(operator, a, b, dst, at)?,
            ExprKind::MatchMap(map) => self.match_map(map, dst, at)?,
            ExprKind::Record(fields) => self.record(fields, dst, at)?,
            ExprKind::Merge(base, fields) => {
                let src = self.expr(base, Destination::Any)?;
                self.merge(src, fields, dst, at)?;
            }
            ExprKind::Apply(apply) => self.apply(apply, dst, at, None)?,
            ExprKind::List(items) => self.list(items, dst, at)?,
        }
        Ok(())
    }

    fn has(&mut self, record: &Expr<'a>, name: &'a str, dst: Reg, at: u32) -> Lowered<()> {
        let src = self.expr(record, Destination::Any)?.read();
        let field = self.tables().field(name)?;
        self.code.emit_at(Op::Has { dst: dst.write(), src, field }, at);
        Ok(())
    }

    fn literal(&mut self, literal: Literal<'a>, dst: Reg) -> Lowered<()> {
        let dst = dst.write();
        let op = match literal {
            Literal::Nil => Op::Nil { dst },
            Literal::Bool(false) => Op::False { dst },
            Literal::Bool(true) => Op::True { dst },
            Literal::Text(text) => Op::Text { dst, text: self.tables().text(text)? },
            Literal::Number(number) => match small(number) {
                Some(value) => Op::Int { dst, value: Imm(value) },
                None => Op::Number { dst, number: self.tables().number(number)? },
            },
        };
        self.code.emit(op);
        Ok(())
    }

    fn binary(&mut self, operator: Binary, a: &Expr<'a>, b: &Expr<'a>, dst: Reg, at: u32) -> Lowered<()> {
        let first = self.expr(a, Destination::Any)?;
        let (dst, a) = (dst.write(), first.read());
        if let Some(number) = self.constant(operator, b)? {
            let op = match operator {
                Binary::Add => Op::AddC { dst, a, number },
                Binary::Sub => Op::SubC { dst, a, number },
                Binary::Mul => Op::MulC { dst, a, number },
                Binary::Div => Op::DivC { dst, a, number },
                _ => Op::ModC { dst, a, number },
            };
            self.code.emit_at(op, at);
            return Ok(());
        }
        let b = self.expr(b, Destination::Any)?.read();
        let op = match operator {
            Binary::Add => Op::Add { dst, a, b },
            Binary::Sub => Op::Sub { dst, a, b },
            Binary::Mul => Op::Mul { dst, a, b },
            Binary::Div => Op::Div { dst, a, b },
            Binary::Mod => Op::Mod { dst, a, b },
            Binary::Eq => Op::Eq { dst, a, b },
            Binary::Neq => Op::Ne { dst, a, b },
            Binary::Gt => Op::Gt { dst, a, b },
            Binary::Gte => Op::Ge { dst, a, b },
            Binary::Lt => Op::Lt { dst, a, b },
            Binary::Lte => Op::Le { dst, a, b },
            Binary::Append => Op::Append { dst, list: a, item: b },
            Binary::At => Op::At { dst, list: a, index: b },
            Binary::HasName => Op::HasName { dst, src: a, name: b },
            Binary::Concat => Op::ConcatTwo { dst, a, b },
            // The caller handles these two.
            Binary::And | Binary::Or => return Ok(()),
        };
        self.code.emit_at(op, at);
        Ok(())
    }

    /// The second operand as a constant, if the operator has an instruction for it.
    fn constant(&mut self, operator: Binary, b: &Expr<'a>) -> Lowered<Option<NumberId>> {
        let takes = matches!(operator, Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Mod);
        match b.kind {
            ExprKind::Literal(Literal::Number(number)) if takes => Ok(Some(self.tables().number(number)?)),
            _ => Ok(None),
        }
    }

    fn apply(&mut self, apply: Apply<'a>, dst: Reg, at: u32, on_fail: Option<&mut Label>) -> Lowered<()> {
        let values: SmallVec<[&Expr<'a>; 16]> = apply.operands.iter().collect();
        let first = self.window(&values)?;
        let count = Count(u8::try_from(values.len()).unwrap_or(u8::MAX));
        let function = PureId(apply.function as u8);
        let fails = apply.function.row().fails;
        let held = if fails && on_fail.is_none() { self.apart(dst) } else { dst };
        let op = Op::Apply { dst: held.write(), first, count, function, fail: OnFail(0) };
        match on_fail {
            Some(label) => self.code.jump(op, at, label),
            None if fails => self.may_fail(op, held, at),
            None => self.code.emit_at(op, at),
        }
        self.give_over(held, dst);
        Ok(())
    }

    /// Joins the parts of a text with one instruction, so that no text is copied twice.
    fn concat(&mut self, expr: &Expr<'a>, dst: Reg) -> Lowered<()> {
        let leaves = expr.text_parts();
        let at = expr.span.start;
        let mut chunks = leaves.chunks(limits::CHUNK);
        let first = chunks.next().unwrap_or_default();
        if leaves.len() <= limits::CHUNK {
            return self.concat_window(first, None, dst, at);
        }
        let held = self.code.take(1);
        self.concat_window(first, None, held, at)?;
        for chunk in chunks {
            self.concat_window(chunk, Some(held), held, at)?;
        }
        self.code.emit(Op::Move { dst: dst.write(), src: held.read() });
        Ok(())
    }

    fn concat_window(&mut self, leaves: &[&Expr<'a>], before: Option<Reg>, dst: Reg, at: u32) -> Lowered<()> {
        let mark = self.code.mark();
        let total = leaves.len() + usize::from(before.is_some());
        let first = self.code.take(total);
        let mut next = first;
        if let Some(before) = before {
            self.code.emit(Op::Move { dst: next.write(), src: before.read() });
            next = Reg(next.0.saturating_add(1));
        }
        for leaf in leaves {
            self.expr(leaf, Destination::Into(next))?;
            next = Reg(next.0.saturating_add(1));
        }
        self.code.give_back(mark);
        let count = Count(u8::try_from(total).unwrap_or(u8::MAX));
        self.code.emit_at(Op::Concat { dst: dst.write(), first: First(first.byte()), count }, at);
        Ok(())
    }

    fn match_map(&mut self, node: &MatchMap<'a>, dst: Reg, at: u32) -> Lowered<()> {
        let mark = self.code.mark();
        let src = self.expr(&node.subject, Destination::Any)?.read();
        self.code.give_back(mark);
        let mut map = Map { cases: Vec::with_capacity(node.cases.len()), default: None };
        for case in node.cases {
            map.cases.push((self.key(case.key)?, 0));
        }
        let values = || node.cases.iter().map(|case| &case.value).chain(&node.default).map(constant_number);
        if !node.cases.is_empty() && values().all(|value| value.is_some()) {
            for (place, number) in values().flatten().enumerate() {
                let NumberId(id) = self.tables().number(number)?;
                match map.cases.get_mut(place) {
                    Some(case) => case.1 = id,
                    None => map.default = Some(id),
                }
            }
            self.code.select(|map| Op::Select { dst: dst.write(), src, map: ChoiceId(map) }, at, map);
            return Ok(());
        }
        let mut end = Label::default();
        if node.cases.is_empty() && node.default.is_none() {
            // Control does not continue after such a switch, but the code after it must be reachable: this
            // jump is never taken.
            let never = self.code.take(1);
            self.code.emit(Op::False { dst: never.write() });
            self.code.jump(Op::JumpIf { src: never.read(), to: To(0) }, at, &mut end);
        }
        let switch = self.code.switch(|map| Op::Switch { src, map: MapId(map) }, at, map);
        let cases = node.cases.iter().enumerate().map(|(number, case)| (Some(number), &case.value));
        let arms = cases.chain(node.default.iter().map(|value| (None, value)));
        let last = node.cases.len() + usize::from(node.default.is_some());
        for (number, (case, value)) in (1..).zip(arms) {
            self.code.case(switch, case);
            self.expr(value, Destination::Into(dst))?;
            if number < last {
                self.code.jump(Op::Jump { to: To(0) }, value.span.start, &mut end);
            }
        }
        self.code.bind(end);
        if last == 0 {
            self.code.emit(Op::Nil { dst: dst.write() });
        }
        Ok(())
    }

    /// Yields a record whose values stay in their registers.
    pub(super) fn yield_few(&mut self, base: LoopBase, fields: &[Field<'a>], at: u32) -> Lowered<()> {
        let mut names = SmallVec::<[_; 4]>::new();
        let mut values = SmallVec::<[_; 4]>::new();
        for field in fields {
            names.push(self.tables().field(field.name.text)?);
            values.push(self.expr(&field.value, Destination::Any)?.read());
        }
        let shape = FieldsId(self.tables().shape(&names)?.0);
        let op = match values[..] {
            [a, b] => Op::YieldTwo { base, a, b, shape },
            [a, b, c] => Op::YieldThree { base, a, b, c, shape },
            [a, b, c, d] => Op::YieldFour { base, a, b, c, d, shape },
            // Called only for these.
            _ => return Ok(()),
        };
        self.code.emit_at(op, at);
        Ok(())
    }

    fn key(&mut self, literal: Literal<'a>) -> Lowered<Key> {
        Ok(match literal {
            Literal::Nil => Key::Nil,
            Literal::Bool(value) => Key::Bool(value),
            Literal::Number(number) => Key::Number(self.tables().number(number)?),
            Literal::Text(text) => Key::Text(self.tables().text(text)?),
        })
    }

    /// Evaluates fields into adjacent registers. Returns their shape.
    pub(super) fn fields(&mut self, fields: &[Field<'a>]) -> Lowered<(First, ilo_spec::operand::ShapeId)> {
        let mut names = SmallVec::<[_; 16]>::new();
        for field in fields {
            names.push(self.tables().field(field.name.text)?);
        }
        let shape = self.tables().shape(&names)?;
        let values: SmallVec<[&Expr<'a>; 16]> = fields.iter().map(|field| &field.value).collect();
        Ok((self.window(&values)?, shape))
    }

    /// Evaluates values into adjacent registers. Slots that are already adjacent stay in place.
    fn window(&mut self, values: &[&Expr<'a>]) -> Lowered<First> {
        let mut slots = values.iter().map(|value| match value.kind {
            ExprKind::Ref(slot) if self.answer(value.span, false).is_none() => Some(self.slot(slot).0),
            _ => None,
        });
        if let Some(Some(first)) = slots.next()
            && (first + 1..).zip(slots).all(|(expected, slot)| slot == Some(expected))
        {
            return Ok(First(Reg(first).byte()));
        }
        let first = self.code.take(values.len());
        for (register, value) in (first.0..).zip(values) {
            self.expr(value, Destination::Into(Reg(register)))?;
        }
        Ok(First(first.byte()))
    }

    fn record(&mut self, fields: &[Field<'a>], dst: Reg, at: u32) -> Lowered<()> {
        if fields.len() <= limits::CHUNK {
            let (first, shape) = self.fields(fields)?;
            self.code.emit_at(Op::Record { dst: dst.write(), first, shape }, at);
            return Ok(());
        }
        let (head, rest) = fields.split_at(limits::CHUNK);
        let held = self.code.take(1);
        self.record(head, held, at)?;
        self.merge(held, rest, dst, at)
    }

    /// Merges fields into the record in `src`, some at a time.
    fn merge(&mut self, src: Reg, fields: &[Field<'a>], dst: Reg, at: u32) -> Lowered<()> {
        let held = if fields.len() > limits::CHUNK { self.code.take(1) } else { dst };
        let mut src = src;
        let mut rest = fields;
        loop {
            let (chunk, after) = rest.split_at_checked(limits::CHUNK).unwrap_or((rest, &[]));
            let mark = self.code.mark();
            let (first, shape) = self.fields(chunk)?;
            self.code.give_back(mark);
            let last = after.is_empty();
            let to = if last { dst } else { held };
            self.code.emit_at(Op::Merge { dst: to.write(), src: src.read(), first, shape }, at);
            if last {
                return Ok(());
            }
            (src, rest) = (held, after);
        }
    }

    fn list(&mut self, items: &[Expr<'a>], dst: Reg, at: u32) -> Lowered<()> {
        let (head, rest) = items.split_at_checked(limits::CHUNK).unwrap_or((items, &[]));
        let values: SmallVec<[&Expr<'a>; 16]> = head.iter().collect();
        let held = if rest.is_empty() { dst } else { self.code.take(1) };
        let mark = self.code.mark();
        let first = if values.is_empty() { First(0) } else { self.window(&values)? };
        self.code.give_back(mark);
        let count = Count(u8::try_from(head.len()).unwrap_or(u8::MAX));
        self.code.emit_at(Op::List { dst: held.write(), first, count }, at);
        for item in rest {
            let mark = self.code.mark();
            let item = self.expr(item, Destination::Any)?.read();
            self.code.give_back(mark);
            self.code.emit_at(Op::Append { dst: held.write(), list: held.read(), item }, at);
        }
        self.give_over(held, dst);
        Ok(())
    }

    /// Calls a tool, a function or a pure function. A failure jumps to `on_fail`; without it, the failure
    /// propagates.
    pub(super) fn attempt(&mut self, expr: &Expr<'a>, dst: Reg, on_fail: Option<&mut Label>) -> Lowered<()> {
        let mark = self.code.mark();
        match expr.kind {
            ExprKind::Call(call) => self.call(call, dst, on_fail)?,
            ExprKind::Apply(apply) => self.apply(apply, dst, expr.span.start, on_fail)?,
            _ => debug_assert!(false, "nothing else fails"),
        }
        self.code.give_back(mark);
        Ok(())
    }

    /// The register for an answer or a failure that goes to a handler: the handler may read the slot of
    /// `into`, which still has its value then.
    fn apart(&mut self, into: Reg) -> Reg {
        if self.tries.is_empty() || !self.is_slot(into) { into } else { self.code.take(1) }
    }

    /// Moves a value to its register, if it is not there.
    pub(super) fn give_over(&mut self, held: Reg, dst: Reg) {
        if held != dst {
            self.code.emit(Op::Move { dst: dst.write(), src: held.read() });
        }
    }

    /// Adds an instruction whose failure goes to the handler of the innermost TRY, or else out of the
    /// function.
    fn may_fail(&mut self, op: Op, failure: Reg, at: u32) {
        let Some(failures) = self.tries.last_mut() else { return self.code.emit_at(op, at) };
        let place = failures.iter().position(|(register, _)| *register == failure).unwrap_or_else(|| {
            failures.push((failure, Label::default()));
            failures.len() - 1
        });
        if let Some((_, label)) = failures.get_mut(place) {
            self.code.jump(op, at, label);
        }
    }

    /// Fails with the value of a register.
    pub(super) fn fail(&mut self, src: Reg, at: u32) {
        let op = if self.tries.is_empty() { Op::Fail { src: src.read() } } else { Op::Jump { to: To(0) } };
        self.may_fail(op, src, at);
    }

    /// Calls a tool or function. A failure jumps to `on_fail`; without it, the failure propagates.
    pub(super) fn call(&mut self, call: &Call<'a>, into: Reg, on_fail: Option<&mut Label>) -> Lowered<()> {
        let mark = self.code.mark();
        let at = call.span.start;
        let held = if on_fail.is_none() { self.apart(into) } else { into };
        let (dst, fail) = (held.write(), OnFail(0));
        let op = match self.callee(call) {
            Some((number, parameters)) => {
                // The frame of the callee begins at its arguments, so they must be above all registers in
                // use.
                let first = self.code.take(parameters.len());
                // The callee replaces nil by the default.
                for (place, parameter) in (first.0..).zip(parameters) {
                    if parameter.may_be_absent() && !call.gives(parameter.name.text) {
                        self.code.emit(Op::Nil { dst: Reg(place).write() });
                    }
                }
                for argument in call.arguments {
                    let place = parameters.iter().position(|p| p.name.text == argument.name.text);
                    let place = u16::try_from(place.unwrap_or_default()).unwrap_or(u16::MAX);
                    self.expr(&argument.value, Destination::Into(Reg(first.0.saturating_add(place))))?;
                }
                Op::Invoke { dst, first: First(first.byte()), function: FunctionId(number), fail }
            }
            None => {
                let (first, shape) = self.arguments(call)?;
                let call = self.tables().call(call.tool.text, shape)?;
                Op::Tool { dst, first, call, fail }
            }
        };
        match on_fail {
            Some(label) => self.code.jump(op, at, label),
            None => self.may_fail(op, held, at),
        }
        self.code.sent();
        self.give_over(held, into);
        self.code.give_back(mark);
        Ok(())
    }

    /// Registers a call of a tool. Its arguments are evaluated now.
    pub(super) fn register(&mut self, call: &Call<'a>) -> Lowered<()> {
        self.code.joins_call();
        let mark = self.code.mark();
        let (first, shape) = self.arguments(call)?;
        let number = self.tables().call(call.tool.text, shape)?;
        self.code.emit_at(Op::Rollback { first, call: number }, call.span.start);
        self.code.give_back(mark);
        Ok(())
    }

    fn arguments(&mut self, call: &Call<'a>) -> Lowered<(First, ilo_spec::operand::ShapeId)> {
        if call.arguments.is_empty() {
            let shape = self.tables().shape(&[])?;
            return Ok((First(0), shape));
        }
        self.fields(call.arguments)
    }
}

/// The number, if the expression is a constant number.
fn constant_number(expr: &Expr<'_>) -> Option<Number> {
    match expr.kind {
        ExprKind::Literal(Literal::Number(number)) => Some(number),
        _ => None,
    }
}

/// An integer that fits in an instruction.
fn small(number: Number) -> Option<i32> {
    match number {
        Number::Int(int) => i32::try_from(int).ok(),
        Number::Double(_) => None,
    }
}
