//! Evaluates functions and statements as the specification says.

use super::expr::made;
use super::facts::{Facts, completes, has_yield};
use super::render;
use super::report::{Ending, Report};
use super::value::Value;
use crate::data::Data;
use crate::generated_tools::World;
use ilo_asm::ast::{
    Arm, Block, Bound, Call, Control, Expr, ExprKind, Field, File, For, Function, If, Match, ReturnKind,
    Slot, Stmt, StmtKind,
};
use ilo_asm::span::Span;
use ilo_spec::error::Code;
use ilo_spec::types::Type;
use std::rc::Rc;

/// The number of steps after which it gives up.
const STEPS: u64 = 400_000;

/// Why a function ends early.
pub(super) enum Exit {
    /// With a value.
    Value(Value),
    /// With a failure that a TRY handles, and where it arose.
    Failure(Value, Span),
    /// With the failure of a `RET_ERR`, which no TRY of the function handles (4.9.2), and its place.
    Returned(Value, Span),
    /// The innermost loop ends (2.7.7).
    Break,
    /// The pass of the innermost loop ends (2.7.11).
    Skip,
    /// The whole run ends.
    End(Ending),
}

/// The content of a slot (4.2.1).
#[derive(Clone)]
pub(super) enum Cell {
    Unset,
    Plain(Value),
    /// A result: a value, or a failure and the call that it comes from.
    Checked(Result<Value, (Value, Span)>),
}

/// The state that all functions of a run share.
pub(super) struct Machine<'f, 's, 'w, 't> {
    file: &'f File<'f>,
    source: &'s str,
    facts: Vec<Facts>,
    world: &'w mut World<'t>,
    trace: Vec<String>,
    notes: Vec<(String, String)>,
    /// The entries (4.7.1): the tool and its arguments as JSON.
    entries: Vec<(String, String)>,
    rolled_back: Vec<(String, u64)>,
    not_rolled_back: Vec<String>,
    /// How many tools were called, by entries as well.
    calls: u64,
    /// The tool whose call forms one step with a ROLLBACK that comes next, and the slot that the call is
    /// bound to (4.7.2).
    sent: Option<(String, Option<Slot>)>,
    /// Whether a ROLLBACK has come since, so that a MATCH no longer directly follows the call.
    registered: bool,
    pub(super) steps: u64,
}

/// A function call in progress.
pub(super) struct Frame<'f> {
    function: &'f Function<'f>,
    number: usize,
    pub(super) cells: Vec<Cell>,
    /// Where the last value of a statement was given.
    given: Span,
    /// The lists of the loops whose bodies are running.
    collected: Vec<Vec<Value>>,
}

pub(super) fn run(
    file: &File<'_>,
    source: &str,
    entry: &str,
    input: &[(String, Data)],
    world: &mut World<'_>,
) -> Report {
    let facts = file.functions.iter().map(Facts::of).collect();
    let mut machine = Machine {
        file,
        source,
        facts,
        world,
        trace: Vec::new(),
        notes: Vec::new(),
        entries: Vec::new(),
        rolled_back: Vec::new(),
        not_rolled_back: Vec::new(),
        calls: 0,
        sent: None,
        registered: false,
        steps: STEPS,
    };
    let ending = machine.start(entry, input);
    if matches!(ending, Ending::Fault { .. }) {
        // After every fault all entries run (4.8.4).
        machine.roll_back(0);
    }
    let Machine { trace, notes, rolled_back, not_rolled_back, .. } = machine;
    Report { ending, trace, notes, rolled_back, not_rolled_back }
}

/// Whether a value has a declared type (3.5.1).
fn has_type(value: &Value, ty: Type) -> bool {
    match (ty.item(), value) {
        (_, _) if ty == Type::ANY => true,
        (Some(item), Value::List(list)) => list.items.iter().all(|value| has_type(value, item)),
        (None, Value::Nil) => ty == Type::NIL,
        (None, Value::Bool(_)) => ty == Type::BOOL,
        (None, Value::Int(_) | Value::Double(_)) => ty == Type::NUMBER,
        (None, Value::Text(_)) => ty == Type::TEXT,
        (Some(_), _) | (None, Value::List(_) | Value::Record(_)) => false,
    }
}

pub(super) fn broken(what: &str) -> Exit {
    Exit::End(Ending::Broken(what.to_owned()))
}

pub(super) const LIMIT: Exit = Exit::End(Ending::Limit);

impl<'f> Machine<'f, '_, '_, '_> {
    fn start(&mut self, entry: &str, input: &[(String, Data)]) -> Ending {
        let file = self.file;
        let Some(number) = file.functions.iter().position(|function| function.name.text == entry) else {
            return Ending::Broken("no such function".to_owned());
        };
        let function = &file.functions[number];
        let mut arguments = Vec::new();
        for parameter in function.parameters {
            match input.iter().find(|(name, _)| name == parameter.name.text) {
                Some((_, data)) => arguments.push(data.into()),
                None if parameter.may_be_absent() => arguments.push(Value::Nil),
                None => return Ending::Broken("no such argument".to_owned()),
            }
        }
        let json = |value: &Value, of: fn(String) -> Ending| render::json(value).map_or(Ending::Limit, of);
        match self.invoke(number, arguments) {
            Ok(value) => json(&value, Ending::Ok),
            Err(Exit::Failure(failure, _)) if function.output.err.is_some() => json(&failure, Ending::Err),
            Err(Exit::Failure(failure, span)) => match render::text(&failure) {
                Some(message) => self.fault(function, Code::FaultToolFailed, span, None, Some(message)),
                None => Ending::Limit,
            },
            Err(Exit::End(ending)) => ending,
            Err(Exit::Value(_) | Exit::Returned(..) | Exit::Break | Exit::Skip) => {
                Ending::Broken("a return was not taken".to_owned())
            }
        }
    }

    fn fault(
        &self,
        function: &Function<'_>,
        code: Code,
        at: Span,
        fused: Option<Span>,
        message: Option<String>,
    ) -> Ending {
        Ending::Fault {
            code: code.to_string(),
            function: function.name.text.to_owned(),
            at: place(self.source, at),
            fused: fused.map(|span| place(self.source, span)),
            message,
        }
    }

    /// Runs a function to its end: its value, or its failure and where in that function it arose.
    fn invoke(&mut self, number: usize, arguments: Vec<Value>) -> Result<Value, Exit> {
        let function = &self.file.functions[number];
        let mut cells = vec![Cell::Unset; function.slots.len()];
        for (cell, argument) in cells.iter_mut().zip(arguments) {
            *cell = Cell::Plain(argument);
        }
        let mut frame = Frame { function, number, cells, given: function.span, collected: Vec::new() };
        for (slot, parameter) in function.parameters.iter().enumerate() {
            if let (Some(default), Cell::Plain(Value::Nil)) = (parameter.default(), &frame.cells[slot]) {
                frame.cells[slot] = Cell::Plain(self.expr(&mut frame, default)?);
            }
        }
        let height = self.entries.len();
        self.sent = None;
        let ended = self.block(&mut frame, &function.body);
        self.sent = None;
        let value = match ended {
            Ok(value) => value,
            Err(Exit::Value(value)) => return Ok(value),
            Err(Exit::Failure(failure, span) | Exit::Returned(failure, span)) => {
                // What the function pushed runs before its failure is passed on (4.8.2).
                self.roll_back(height);
                return Err(Exit::Failure(failure, span));
            }
            Err(exit) => return Err(exit),
        };
        if function.output.output().ok == Type::NIL {
            return Ok(Value::Nil);
        }
        let value = value.ok_or_else(|| broken("a function ends without a value"))?;
        self.returned(&frame, value, frame.given)
    }

    /// A value that a function returns from a place, if it has the function's type (3.5.10).
    fn returned(&self, frame: &Frame<'f>, value: Value, at: Span) -> Result<Value, Exit> {
        if has_type(&value, frame.function.output.output().ok) {
            return Ok(value);
        }
        Err(self.trap(frame, Code::FaultTypeMismatch, at))
    }

    /// Runs the entries above a height, the latest first.
    fn roll_back(&mut self, height: usize) {
        while self.entries.len() > height {
            let Some((tool, arguments)) = self.entries.pop() else { return };
            self.trace.push(format!("{tool} {arguments}"));
            self.calls += 1;
            match self.world.call(&tool) {
                Some(Ok(_)) => self.rolled_back.push((tool, self.calls)),
                Some(Err(failure)) => {
                    // As a text, whatever it is (4.8.7).
                    let text = render::text(&failure.into()).unwrap_or_default();
                    let failure = render::json(&Value::text(&text)).unwrap_or_default();
                    self.notes.push((tool, failure));
                }
                None => {}
            }
        }
    }

    /// ROLLBACK evaluates its arguments and keeps the call (4.7.1).
    fn push(&mut self, frame: &mut Frame<'f>, call: &Call<'f>) -> Result<(), Exit> {
        let covered = self.sent.take();
        let arguments = self.arguments(frame, call);
        if let (Err(Exit::Failure(..) | Exit::End(Ending::Fault { .. })), Some(tool)) = (&arguments, &covered)
        {
            self.not_rolled_back.push(tool.0.clone());
        }
        let json = self.joined(render::arguments(&arguments?))?;
        self.entries.push((call.tool.text.to_owned(), json));
        (self.sent, self.registered) = (covered, true);
        Ok(())
    }

    /// After a statement that is a call: whether the ROLLBACK that follows it forms one step with it.
    fn sends(&mut self, call: &Call<'f>, slot: Option<Slot>) {
        let own = self.file.functions.iter().any(|function| function.name.text == call.tool.text);
        (self.sent, self.registered) = ((!own).then(|| (call.tool.text.to_owned(), slot)), false);
    }

    pub(super) fn step(&mut self) -> Result<(), Exit> {
        self.steps = self.steps.checked_sub(1).ok_or(LIMIT)?;
        Ok(())
    }

    pub(super) fn trap(&self, frame: &Frame<'f>, code: Code, at: Span) -> Exit {
        Exit::End(self.fault(frame.function, code, at, None, None))
    }

    /// Whether a value, the operand of the instruction at that place, is true as a condition.
    pub(super) fn holds(
        &self,
        frame: &Frame<'f>,
        value: &Value,
        operand: &Expr<'f>,
        at: Span,
    ) -> Result<bool, Exit> {
        // A FIELD and the instruction that uses its result may be fused.
        let fused = matches!(operand.kind, ExprKind::Field(..)).then_some(operand.span);
        let fault = || self.fault(frame.function, Code::FaultConditionType, at, fused, None);
        value.truth().ok_or_else(|| Exit::End(fault()))
    }

    /// Runs a block; returns its value (2.7.1).
    fn block(&mut self, frame: &mut Frame<'f>, block: &Block<'f>) -> Result<Option<Value>, Exit> {
        let (mut value, mut skips) = (None, false);
        for (place, statement) in block.statements.iter().enumerate() {
            let failed = place.checked_sub(1).and_then(|before| failed(frame, &block.statements[before]));
            if let (StmtKind::Rollback(_), true) = (&statement.kind, failed.unwrap_or(skips)) {
                // A ROLLBACK between a call and its MATCH belongs to the success (4.7.2).
                skips = true;
                continue;
            }
            skips = false;
            value = self.statement(frame, statement)?;
        }
        Ok(value)
    }

    fn statement(&mut self, frame: &mut Frame<'f>, statement: &Stmt<'f>) -> Result<Option<Value>, Exit> {
        self.step()?;
        if !matches!(statement.kind, StmtKind::Rollback(_) | StmtKind::Control(Control::Match(_)))
            && !matches!(statement.kind, StmtKind::Let { value: Bound::Control(Control::Match(_)), .. })
        {
            self.sent = None;
        }
        match &statement.kind {
            StmtKind::Rollback(call) => {
                self.push(frame, call)?;
                Ok(None)
            }
            StmtKind::Let { slot, value, .. } => {
                self.bind(frame, *slot, value)?;
                if let Bound::Expr(Expr { kind: ExprKind::Call(call), .. }) = value {
                    self.sends(call, Some(*slot));
                }
                Ok(None)
            }
            StmtKind::Value(Expr { kind: ExprKind::Call(call), .. }) if self.undoes(frame, call) => {
                self.undo(frame, call)?;
                Ok(None)
            }
            StmtKind::Value(expr) => {
                let value = self.expr(frame, expr)?;
                frame.given = expr.span;
                if let ExprKind::Call(call) = expr.kind {
                    self.sends(call, None);
                }
                Ok(Some(value))
            }
            StmtKind::Return(ReturnKind::Err, expr) => {
                let failure = self.expr(frame, expr)?;
                Err(Exit::Returned(failure, statement.span))
            }
            StmtKind::Fail(expr) => {
                let failure = self.expr(frame, expr)?;
                Err(Exit::Failure(failure, statement.span))
            }
            StmtKind::Return(_, expr) => {
                let value = self.expr(frame, expr)?;
                Err(Exit::Value(self.returned(frame, value, expr.span)?))
            }
            StmtKind::Undo(call) => {
                self.undo(frame, call)?;
                Ok(None)
            }
            StmtKind::Break => Err(Exit::Break),
            StmtKind::Skip => Err(Exit::Skip),
            StmtKind::Yield(expr) => {
                let value = self.expr(frame, expr)?;
                // In the ELSE of a loop it is the list of the enclosing one (2.7.12).
                let list = frame.collected.last_mut().ok_or_else(|| broken("a YIELD outside of loops"))?;
                list.push(value);
                Ok(None)
            }
            StmtKind::Control(control) => self.control(frame, control),
        }
    }

    fn undoes(&self, frame: &Frame<'f>, call: &Call<'f>) -> bool {
        self.facts[frame.number].undoes[call.id.0 as usize]
    }

    /// Whether the failure of an expression that LET binds is for a MATCH (4.2.2).
    fn is_checked(&self, frame: &Frame<'f>, expr: &Expr<'f>) -> bool {
        expr.attempt().is_some_and(|id| self.facts[frame.number].checked[id.0 as usize])
    }

    fn bind(&mut self, frame: &mut Frame<'f>, slot: Slot, value: &Bound<'f>) -> Result<(), Exit> {
        let value = match value {
            Bound::Expr(Expr { kind: ExprKind::Call(call), .. }) if self.undoes(frame, call) => {
                // Nothing reads the slot.
                self.undo(frame, call)?;
                frame.cells[slot.0 as usize] = Cell::Unset;
                return Ok(());
            }
            Bound::Expr(expr) if self.is_checked(frame, expr) => {
                // A failure in an operand is not the failure of the call or function itself (4.2.2).
                let result = match expr.kind {
                    ExprKind::Call(call) => {
                        let arguments = self.arguments(frame, call)?;
                        self.carry_out(call, &arguments)
                    }
                    ExprKind::Apply(apply) => {
                        let operands = self.operands(frame, &apply)?;
                        self.apply(frame, &apply, &operands, expr.span)
                    }
                    _ => Err(broken("only a call or a function can fail")),
                };
                let result = match result {
                    Ok(value) => Ok(value),
                    Err(Exit::Failure(failure, _)) => Err((failure, expr.span)),
                    Err(exit) => return Err(exit),
                };
                frame.cells[slot.0 as usize] = Cell::Checked(result);
                return Ok(());
            }
            Bound::Expr(expr) => self.expr(frame, expr)?,
            Bound::Control(control) => {
                self.control(frame, control)?.ok_or_else(|| broken("a bound block has no value"))?
            }
        };
        frame.cells[slot.0 as usize] = Cell::Plain(value);
        Ok(())
    }

    fn control(&mut self, frame: &mut Frame<'f>, control: &Control<'f>) -> Result<Option<Value>, Exit> {
        match control {
            Control::If(node) => {
                let value = self.branch(frame, node);
                self.sent = None;
                value
            }
            Control::Match(node) => self.take_apart(frame, node),
            Control::Try(node) => {
                self.sent = None;
                let depth = frame.collected.len();
                let value = match self.block(frame, &node.body) {
                    Err(Exit::Failure(failure, _)) => {
                        // The lists of loops that the failure has left are lost (4.9.2).
                        frame.collected.truncate(depth);
                        self.sent = None;
                        frame.cells[node.handler.bind.0 as usize] = Cell::Plain(failure);
                        self.block(frame, &node.handler.body)
                    }
                    other => other,
                };
                self.sent = None;
                value
            }
            Control::For(node) => {
                let value = self.each(frame, node);
                self.sent = None;
                value
            }
        }
    }

    fn branch(&mut self, frame: &mut Frame<'f>, node: &If<'f>) -> Result<Option<Value>, Exit> {
        let condition = self.expr(frame, &node.condition)?;
        let holds = self.holds(frame, &condition, &node.condition, node.span)?;
        match (&node.otherwise, holds) {
            (_, true) => self.block(frame, &node.then),
            (Some(block), false) => self.block(frame, block),
            (None, false) => Ok(None),
        }
    }

    fn take_apart(&mut self, frame: &mut Frame<'f>, node: &Match<'f>) -> Result<Option<Value>, Exit> {
        let cell = std::mem::replace(&mut frame.cells[node.slot.0 as usize], Cell::Unset);
        let Cell::Checked(result) = cell else { return Err(broken("a MATCH of a slot that is not checked")) };
        let of_call = self.sent.as_ref().is_some_and(|sent| sent.1 == Some(node.slot));
        if result.is_err() || self.registered || !of_call {
            self.sent = None;
        }
        let arm = |this: &mut Self, frame: &mut Frame<'f>, arm: &Arm<'f>, value| {
            frame.cells[arm.bind.0 as usize] = Cell::Plain(value);
            this.block(frame, &arm.body)
        };
        let value = match (result, &node.ok, &node.err) {
            (Ok(value), Some(ok), _) => arm(self, frame, ok, value),
            (Ok(value), None, _) => {
                frame.cells[node.slot.0 as usize] = Cell::Plain(value);
                Ok(None)
            }
            (Err((failure, _)), _, Some(err)) => arm(self, frame, err, failure),
            (Err((failure, call)), _, None) => {
                let own = self.facts[frame.number].hands_on_itself(node);
                Err(Exit::Failure(failure, if own { node.span } else { call }))
            }
        };
        // If the ERR arm continues too, what follows does not directly follow the call (4.7.2).
        if node.err.as_ref().is_some_and(|err| completes(&err.body)) {
            self.sent = None;
        }
        value
    }

    fn each(&mut self, frame: &mut Frame<'f>, node: &For<'f>) -> Result<Option<Value>, Exit> {
        let Value::List(list) = self.expr(frame, &node.list)? else {
            return Err(self.trap(frame, Code::FaultTypeMismatch, node.span));
        };
        // With a YIELD, the passes give nothing else (2.7.12).
        let explicit = has_yield(&node.body);
        let mut left = false;
        frame.collected.push(Vec::new());
        let depth = frame.collected.len();
        for item in &list.items {
            self.step()?;
            frame.cells[node.item.0 as usize] = Cell::Plain(item.clone());
            // The first statement does not follow a call, even if a call ended the previous pass (4.7.2).
            self.sent = None;
            let pass = self.block(frame, &node.body);
            frame.collected.truncate(depth);
            match pass {
                Ok(value) if !explicit => {
                    frame.collected.last_mut().ok_or_else(|| broken("a list is lost"))?.extend(value);
                }
                Ok(_) | Err(Exit::Skip) => {}
                Err(Exit::Break) => {
                    left = true;
                    break;
                }
                Err(exit) => {
                    frame.collected.pop();
                    return Err(exit);
                }
            }
        }
        let collected = frame.collected.pop().unwrap_or_default();
        if let Some(block) = node.otherwise.as_ref().filter(|_| !left) {
            // What the loop has collected is dropped, and so is the value of the block.
            self.sent = None;
            self.block(frame, block)?;
            return Ok(None);
        }
        if self.facts[frame.number].yields[node.id.0 as usize] {
            frame.given = node.span;
            return made(Value::list(collected)).map(Some);
        }
        if collected.is_empty() { Ok(None) } else { Err(broken("a loop yields that cannot")) }
    }

    pub(super) fn joined(&mut self, text: Option<String>) -> Result<String, Exit> {
        let text = text.ok_or(LIMIT)?;
        self.steps = self.steps.checked_sub(text.len() as u64 / 8).ok_or(LIMIT)?;
        Ok(text)
    }

    fn undo(&mut self, frame: &mut Frame<'f>, call: &Call<'f>) -> Result<(), Exit> {
        let arguments = self.arguments(frame, call)?;
        let height = self.entries.len();
        match self.carry_out(call, &arguments) {
            Ok(_) => {
                // What a compensation has pushed is dropped at its success (4.8.3).
                self.entries.truncate(height);
                Ok(())
            }
            Err(Exit::Failure(failure, _)) => {
                let failure = self.joined(render::json(&failure))?;
                self.notes.push((call.tool.text.to_owned(), failure));
                Ok(())
            }
            Err(exit) => Err(exit),
        }
    }

    pub(super) fn arguments(
        &mut self,
        frame: &mut Frame<'f>,
        call: &Call<'f>,
    ) -> Result<Vec<(Rc<str>, Value)>, Exit> {
        self.fields(frame, call.arguments)
    }

    pub(super) fn fields(
        &mut self,
        frame: &mut Frame<'f>,
        fields: &[Field<'f>],
    ) -> Result<Vec<(Rc<str>, Value)>, Exit> {
        fields.iter().map(|field| Ok((field.name.text.into(), self.expr(frame, &field.value)?))).collect()
    }

    /// Makes a call: to a function of the file with that name, otherwise to the tool (3.1.1).
    pub(super) fn carry_out(
        &mut self,
        call: &Call<'f>,
        arguments: &[(Rc<str>, Value)],
    ) -> Result<Value, Exit> {
        let name = call.tool.text;
        if let Some(number) = self.file.functions.iter().position(|function| function.name.text == name) {
            let mut ordered = Vec::new();
            for parameter in self.file.functions[number].parameters {
                match arguments.iter().find(|(name, _)| **name == *parameter.name.text) {
                    Some((_, argument)) => ordered.push(argument.clone()),
                    None if parameter.may_be_absent() => ordered.push(Value::Nil),
                    None => return Err(broken("a missing argument")),
                }
            }
            return match self.invoke(number, ordered) {
                Err(Exit::Failure(failure, _)) => Err(Exit::Failure(failure, call.span)),
                other => other,
            };
        }
        let json = self.joined(render::arguments(arguments))?;
        self.trace.push(format!("{name} {json}"));
        self.calls += 1;
        match self.world.call(name) {
            Some(Ok(value)) => Ok(value.into()),
            Some(Err(failure)) => Err(Exit::Failure(failure.into(), call.span)),
            None => Err(broken("no such tool")),
        }
    }
}

/// Whether a statement has bound a slot to a call that failed and that a MATCH takes apart later; `None` if
/// it is a ROLLBACK.
fn failed(frame: &Frame<'_>, statement: &Stmt<'_>) -> Option<bool> {
    match &statement.kind {
        StmtKind::Rollback(_) => None,
        StmtKind::Let { slot, value: Bound::Expr(Expr { kind: ExprKind::Call(_), .. }), .. } => {
            Some(matches!(frame.cells[slot.0 as usize], Cell::Checked(Err(_))))
        }
        _ => Some(false),
    }
}

/// The line and column, from 1, of the start of a span; a line ends in LF, CR LF or CR.
fn place(source: &str, span: Span) -> (u32, u32) {
    let before = source.get(..span.start as usize).unwrap_or(source);
    let mut at = (1, 1);
    let mut characters = before.chars().peekable();
    while let Some(character) = characters.next() {
        let joined = character == '\r' && characters.peek() == Some(&'\n');
        at = match character {
            '\n' => (at.0 + 1, 1),
            '\r' if !joined => (at.0 + 1, 1),
            _ => (at.0, at.1 + 1),
        };
    }
    at
}
