//! Reads `if`, `assert` and loops: `for` with `index` and `where` beside it, `while` and `until`, and loops
//! that are written as an expression: `[E for x in xs if c]`, `xs.map(x => E)`, `any(E for x in xs)`.
//!
//! A loop in an expression becomes a statement before that of its step, and the expression reads the list
//! that it gives: so it may be wherever a value is needed each time that its step runs.

use super::choices::ACTIONS;
use super::reader::{EnclosingLoop, InnerLoops, Placement, StepReader, bad, literal, number, of_slot};
use super::step::{Aim, Bind, BoundName, Step};
use super::{binding, blocks, calls, habits, values};
use crate::ast::{
    Binary, Block, Bound, Control, Expr, ExprKind, For, If, Literal, Name, Slot, Stmt, StmtKind, Unary,
};
use crate::diagnostic::Diagnostic;
use crate::dialect::Key;
use crate::dialect::document_names::within;
use crate::document::{Entry, Node, NodeKind, entries, inner};
use crate::expr::{Each, Operand, Tree, TreeKind};
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::error::Code;
use ilo_spec::limits::DEFAULT_TOOL_CALLS;
use ilo_spec::program::Number;
use ilo_spec::pure::Pure;

impl<'a> StepReader<'a> {
    pub(crate) fn if_step(&mut self, step: &Step<'_, 'a>, tail: Aim) {
        let Some(condition) = step.get(Key::If) else { return };
        let condition = values::condition(self, condition);
        let tail_of_blocks = if step.target.is_some() { Aim::Value } else { tail };
        let then = self.then_of_if(step, tail_of_blocks);
        let otherwise =
            step.get(Key::Else).map(|node| self.branch_of_if(step, node, tail_of_blocks, Key::Else));
        let node = If { condition, then, otherwise, span: step.place() };
        let control = Control::If(self.arena.alloc(node));
        binding::finish_control(self, step, control, tail);
    }

    /// The branch of an `if` for a true condition: steps, or a return beside the condition.
    fn then_of_if(&mut self, step: &Step<'_, 'a>, tail: Aim) -> Block<'a> {
        match self.only_one(&step.keyed, ACTIONS) {
            Some((Key::Then, entry)) => self.branch_of_if(step, &entry.value, tail, Key::Then),
            Some((key, entry)) => self.block(|this| {
                calls::compensations(this, step.get(Key::Compensate));
                binding::leave(this, key, entry);
            }),
            None => {
                if !step.faulty {
                    let word = self.dialect.word(self.dialect.return_key());
                    let help = format!("write `{word}` or `then` beside it");
                    self.missing(step.place(), Key::Then, "a step with `if`", &help);
                }
                Block { statements: &[] }
            }
        }
    }

    /// `then` or `else` of an `if`: steps, or beside `let` a value.
    fn branch_of_if(&mut self, step: &Step<'_, 'a>, node: &Node<'a>, tail: Aim, key: Key) -> Block<'a> {
        if step.keyed.has(Key::Let) {
            blocks::choice(self, node, key)
        } else {
            blocks::branch(self, node, tail, key)
        }
    }

    pub(crate) fn assert_step(&mut self, step: &Step<'_, 'a>) {
        let Some(condition) = step.get(Key::Assert) else { return };
        let condition = values::condition(self, condition);
        let condition = self.not(condition, condition.span);
        let then = self.block(|this| {
            calls::compensations(this, step.get(Key::Compensate));
            if let Some(entry) = step.keyed.entry(Key::Message) {
                binding::fail_here(this, &entry.value, entry.key.span);
            }
        });
        let node = If { condition, then, otherwise: None, span: step.place() };
        self.push_if(node, step.head());
    }

    pub(crate) fn for_step(&mut self, step: &Step<'_, 'a>, tail: Aim) {
        let Some(variable) = step.get(Key::For) else { return };
        let variable = habits::shaped(self, variable, habits::parts::element);
        let (variable, list, index) = self.element(step, variable);
        let list = match list {
            Some(node) => values::looped(self, node),
            None => bad(variable.span),
        };
        let id = self.new_loop();
        self.scope.open();
        let name = binding::written_name(self, variable);
        let (item, item_span) = match name {
            Some(name) => (binding::bind(self, name), name.span),
            None => (self.hidden(None), variable.span),
        };
        // The position is bound before the loop, and the condition read in its scope.
        let index = index.map(|name| {
            let slot = binding::bind(self, name);
            let value = Bound::Expr(number(-1, name.span));
            self.push(StmtKind::Let { slot, slot_span: name.span, value }, name.span);
            (slot, name.span)
        });
        let condition = step.get(Key::Where).map(|node| self.apart(|this| values::condition(this, node)));
        let read =
            |target: BoundName<'a>| !target.own || self.survey.used_after(target.name.text, step.start);
        let gives = tail.wanted() || step.target.is_some_and(read);
        let before = self.diagnostics.mark();
        let element = name.map(|name| name.text);
        self.loops.push(EnclosingLoop { start: step.start, element, breaks: false, gives, until: None });
        let body = match step.get(Key::Body) {
            Some(node) => blocks::branch(self, node, Aim::Yield, Key::Body),
            None => Block { statements: &[] },
        };
        let body = self.with_parts((index, condition), body, step.place());
        let breaks = self.loops.pop().is_some_and(|open| open.breaks);
        // After a loop with a BREAK its names may be read; the check finds the paths on which they are unset.
        if breaks {
            self.scope.keep();
        } else {
            self.scope.close();
        }
        // A body that could not be read may yield.
        let by_steps = body.yields();
        let yields = by_steps || body.may_give() || self.diagnostics.has_errors_since(before);
        if by_steps && tail == Aim::Yield && step.target.is_none() {
            self.list_of_lists(step);
        }
        let otherwise = self.otherwise(step, breaks);
        let gives = step.keyed.has(Key::Let) || (yields && self.gives(step, otherwise.as_ref()));
        let node =
            For { id, item, item_span, list, body, otherwise, breaks, yields: by_steps, span: step.place() };
        let control = Control::For(self.arena.alloc(node));
        binding::finish(self, Bound::Control(control), step.target.filter(|_| gives), tail, step.head());
    }

    /// The steps that run if no BREAK ended a loop.
    fn otherwise(&mut self, step: &Step<'_, 'a>, breaks: bool) -> Option<Block<'a>> {
        let entry = step.keyed.entry(Key::Else)?;
        let block = blocks::branch(self, &entry.value, Aim::Drop, Key::Else);
        if !breaks {
            let word = |key| self.dialect.word(key);
            let (end, of, over) = (word(Key::Else), word(Key::For), word(Key::Break));
            let message = format!("`{end}` runs when no `{over}` ended its `{of}`, but this one has none");
            let help = format!("put the steps after the loop, or end the loop early with `{over}`");
            self.report(Diagnostic::new(Code::OrphanElse, entry.key.span, message).help(help));
        }
        Some(block)
    }

    /// Warns about yields in a loop without a name: its list is one value of the loop around it.
    #[inline(never)]
    fn list_of_lists(&mut self, step: &Step<'_, 'a>) {
        let (name, yields) = (self.dialect.word(Key::Let), self.dialect.word(Key::Yield));
        let message = format!(
            "each `{yields}` adds to the list of this loop, which is one value of the loop around it"
        );
        let help = format!(
            "to add to one list, bind it before the outer loop and `push`; for a list of lists, name this \
             loop by `{name}` and `{yields}` its name"
        );
        self.report(Diagnostic::new(Code::NestedYield, step.place(), message).help(help));
    }

    /// Whether a step with a loop binds its name: not if the end of its ELSE is reachable and nothing reads
    /// the name.
    fn gives(&self, step: &Step<'_, 'a>, otherwise: Option<&Block<'a>>) -> bool {
        let used = |name: &str| self.survey.used_after(name, step.start);
        otherwise.is_none_or(|block| !block.completes())
            || step.target.is_some_and(|target| used(target.name.text))
    }

    /// The names of a loop: `index` beside it, or two names in one text.
    fn element<'d>(
        &mut self,
        step: &Step<'d, 'a>,
        variable: &'d Node<'a>,
    ) -> (&'d Node<'a>, Option<&'d Node<'a>>, Option<Name<'a>>) {
        let list = step.get(Key::In);
        let index = step.get(Key::Index).and_then(|node| binding::written_name(self, node));
        let Some((first, second)) = variable.text().and_then(|text| text.split_once(',')) else {
            return (variable, list, index);
        };
        let (first, second) = (first.trim(), second.trim());
        if !(is_name(first) && is_name(second)) || index.is_some() {
            return (variable, list, index);
        }
        let inside = list.and_then(|list| self.enumerated(list));
        let named = POSITIONS.contains(&first) && !POSITIONS.contains(&second);
        if inside.is_none() && !named {
            let (position, item) =
                if POSITIONS.contains(&second) { (second, first) } else { (first, second) };
            let help = format!(
                "write `{item}` here and `index` with `{position}` beside it for the position; of an entry `g`, `g.key` is \
                 `{first}`, and `g.value` is `{second}` (`g.items` in a group)"
            );
            let wrong = Diagnostic::new(Code::BadShape, variable.span, "a loop has one name for its element");
            self.report(wrong.expected("one name", "two names").help(help));
        }
        let name = Node::of_text(second, variable.span);
        let index = Some(Name { text: first, span: inner(variable) });
        (self.arena.alloc(name), inside.or(list), index)
    }

    /// The list of which another language lists positions and elements: `enumerate(E)`.
    fn enumerated<'d>(&self, list: &'d Node<'a>) -> Option<&'d Node<'a>> {
        if let [Entry { key, value }] = entries(list) {
            return (key.text() == Some("enumerate")).then_some(match &value.kind {
                NodeKind::List([only]) => only,
                _ => value,
            });
        }
        let text = list.text()?.trim();
        let text = text.strip_prefix("${").and_then(|text| text.strip_suffix('}')).unwrap_or(text);
        let inside = text.trim().strip_prefix("enumerate(")?.strip_suffix(')')?.trim();
        let text = if inside.starts_with('$') || self.dialect.is_bare() {
            inside
        } else {
            self.arena.alloc_str(&format!("${{{inside}}}"))
        };
        Some(self.arena.alloc(Node::of_text(text, list.span)))
    }

    /// The body of a loop with what counts its passes, and the condition under which they run.
    fn with_parts(
        &mut self,
        (index, condition): (Option<Bind>, Option<(Block<'a>, Expr<'a>)>),
        body: Block<'a>,
        at: Span,
    ) -> Block<'a> {
        if index.is_none() && condition.is_none() {
            return body;
        }
        self.block(|this| {
            if let Some((slot, span)) = index {
                let next = this.binary(Binary::Add, of_slot(slot, span), number(1, span), span);
                this.push(StmtKind::Let { slot, slot_span: span, value: Bound::Expr(next) }, span);
            }
            let (before, condition) = condition.unzip();
            this.statements.extend_from_slice(before.unwrap_or(body).statements);
            if let Some(condition) = condition {
                this.push_if(If { condition, then: body, otherwise: None, span: at }, at);
            }
        })
    }

    /// Reads a step with `while` or `until`.
    pub(crate) fn while_step(&mut self, step: &Step<'_, 'a>) {
        let key = step.form.key;
        let Some(condition) = step.get(key) else { return };
        let passes = match step.get(Key::Max) {
            None => PASSES,
            Some(Node { kind: NodeKind::Number(Number::Int(passes)), .. }) if *passes >= 1 => *passes,
            Some(node) => {
                self.bad_shape(node, "the most passes", "a whole number of at least 1");
                PASSES
            }
        };
        let Some(node) = step.get(Key::Do).or_else(|| step.get(Key::Body)) else {
            let what = format!("a step with `{}`", self.dialect.word(key));
            if !step.faulty {
                self.missing(step.place(), Key::Do, &what, "write the steps of a pass");
            }
            return;
        };
        let at = step.place();
        let tested = (key == Key::While).then(|| self.apart(|this| values::condition(this, condition)));
        let is_true = |condition: Expr<'_>| matches!(condition.kind, ExprKind::Literal(Literal::Bool(true)));
        let forever = tested.is_some_and(|(_, condition)| is_true(condition));
        let id = self.new_loop();
        self.scope.open();
        let item = self.hidden(None);
        let until = tested.is_none().then_some(*condition);
        self.loops.push(EnclosingLoop {
            start: step.start,
            element: None,
            breaks: false,
            gives: false,
            until,
        });
        let body = self.block(|this| {
            if let Some((before, condition)) = tested.filter(|_| !forever) {
                this.statements.extend_from_slice(before.statements);
                let condition = this.not(condition, condition.span);
                this.push_break_if(condition, at);
            }
            blocks::branch_steps(this, node, Aim::Drop, Key::Do);
            if tested.is_none() {
                let condition = values::condition(this, condition);
                this.push_break_if(condition, at);
            }
        });
        self.many_calls(&body, passes, at);
        let breaks = self.loops.pop().is_some_and(|open| open.breaks);
        if breaks || tested.is_none() {
            self.scope.keep();
        } else {
            self.scope.close();
        }
        let otherwise = self.ended_too_late(tested.filter(|_| !forever), passes, at);
        let list = self.applied(Pure::Range, &[number(passes, at)], at);
        let yields = body.yields();
        let breaks = breaks || !forever;
        let end = if breaks { Some(otherwise) } else { None };
        let node = For { id, item, item_span: at, list, body, otherwise: end, breaks, yields, span: at };
        self.push_control(Control::For(self.arena.alloc(node)), step.head());
        if !breaks {
            self.statements.extend_from_slice(otherwise.statements);
        }
    }

    /// Warns of a loop whose passes may make more calls than a run has.
    fn many_calls(&mut self, body: &Block<'a>, passes: i64, at: Span) {
        let calls = calls_of(body);
        let all = u64::try_from(passes).unwrap_or(u64::MAX).saturating_mul(calls);
        if all > DEFAULT_TOOL_CALLS {
            let message = format!("{passes} passes of {calls} calls each are more than a run has");
            let wrong = Diagnostic::new(Code::ManyCalls, at, message)
                .expected(format!("at most {DEFAULT_TOOL_CALLS} calls"), format!("{all} calls"));
            self.report(
                wrong.help("write a `max` that the passes need, or raise the limit of calls for the run"),
            );
        }
    }

    /// The end of a loop whose passes are over: it fails, a `while` only if its condition still holds.
    fn ended_too_late(&mut self, tested: Option<(Block<'a>, Expr<'a>)>, passes: i64, at: Span) -> Block<'a> {
        let message = self.arena.alloc_str(&format!("the loop did not end within {passes} passes"));
        let fail = StmtKind::Fail(literal(Literal::Text(message), at));
        let Some((before, condition)) = tested else { return self.one(fail, at) };
        let then = self.one(fail, at);
        self.block(|this| {
            let before = this.anew(before);
            this.statements.extend_from_slice(before.statements);
            this.push_if(If { condition, then, otherwise: None, span: at }, at);
        })
    }

    /// The same statements, whose loops have numbers of their own.
    fn anew(&mut self, block: Block<'a>) -> Block<'a> {
        let mut statements = Vec::with_capacity(block.statements.len());
        for of in block.statements {
            let kind = match of.kind {
                StmtKind::Let { slot, slot_span, value: Bound::Control(Control::For(node)) } => {
                    let node = For { id: self.new_loop(), body: self.anew(node.body), ..*node };
                    let value = Bound::Control(Control::For(self.arena.alloc(node)));
                    StmtKind::Let { slot, slot_span, value }
                }
                StmtKind::Control(Control::If(node)) => {
                    let node = If { then: self.anew(node.then), ..*node };
                    StmtKind::Control(Control::If(self.arena.alloc(node)))
                }
                kind => kind,
            };
            statements.push(Stmt { kind, ..*of });
        }
        Block { statements: self.arena.alloc_slice_copy(&statements) }
    }

    /// The test of an `until` where a pass is skipped, if its names are set there. It is read again at the
    /// end of the pass, with its findings.
    pub(crate) fn test_before_skip(&mut self, at: Span) {
        let Some(condition) = self.loops.last().and_then(|open| open.until) else { return };
        // A word that the rest of the pass binds as a name is not set here, and no text.
        let follows = |first: u32| at.start < first && first < condition.span.start;
        let is_later =
            |word: &str| self.named(word).is_none() && self.survey.first_binding(word).is_some_and(follows);
        if self.dialect.is_bare() && within(&condition).any(|node| node.text().is_some_and(is_later)) {
            return;
        }
        let before = self.diagnostics.mark();
        let condition = values::condition(self, &condition);
        if !self.diagnostics.has_errors_since(before) {
            self.push_break_if(condition, at);
        }
        self.diagnostics.rewind(before);
    }

    fn push_break_if(&mut self, condition: Expr<'a>, at: Span) {
        let then = self.one(StmtKind::Break, at);
        self.push_if(If { condition, then, otherwise: None, span: at }, at);
    }

    /// A block of one statement.
    fn one(&self, kind: StmtKind<'a>, span: Span) -> Block<'a> {
        Block { statements: self.arena.alloc_slice_copy(&[Stmt { kind, span }]) }
    }

    /// The loop that a function or method makes of its operands; nothing if it is another one.
    pub(crate) fn loop_form(
        &mut self,
        node: &Node<'a>,
        name: Name<'a>,
        of: Option<&Tree<'a>>,
        operands: &[Operand<'a>],
        span: Span,
    ) -> Option<Expr<'a>> {
        let makes = OfItems::of(name.text)?;
        let each = match (of, operands) {
            (Some(list), [by]) => by.value.lambda(*list),
            (None, [one, other]) => one.value.lambda(other.value).or_else(|| other.value.lambda(one.value)),
            (None, [only]) if matches!(makes, OfItems::Any | OfItems::All) => match only.value.kind {
                TreeKind::Each(each) => Some(*each),
                _ => None,
            },
            _ => None,
        }?;
        Some(self.looped_value(node, &each, makes, span))
    }

    /// Reads a value that is evaluated only if a condition holds, or, `negated`, if it does not. The loops in
    /// it run only then, and are empty lists otherwise.
    pub(crate) fn guarded<T>(
        &mut self,
        (guard, negated): (Expr<'a>, bool),
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let at = if guard.calls() { self.sometimes() } else { self.at };
        let (then, found) = self.apart(|this| this.within(at, read));
        if !then.statements.is_empty() {
            let span = guard.span;
            for one in then.statements {
                if let StmtKind::Let { slot, slot_span, .. } = one.kind {
                    let value = Bound::Expr(Expr { kind: ExprKind::List(&[]), span });
                    self.push(StmtKind::Let { slot, slot_span, value }, span);
                }
            }
            let condition = if negated { self.not(guard, span) } else { guard };
            self.push_if(If { condition, then, otherwise: None, span }, span);
        }
        found
    }

    /// A loop as an expression.
    pub(crate) fn looped_value(
        &mut self,
        node: &Node<'a>,
        each: &Each<'a>,
        makes: OfItems,
        span: Span,
    ) -> Expr<'a> {
        let calls = self.call_count;
        if self.at.loops == InnerLoops::Refused {
            return self.no_loop(span);
        }
        let Some(node) = self.each_loop(node, each, makes, span) else { return bad(span) };
        if self.at.loops == InnerLoops::Infallible && self.call_count > calls {
            return self.no_loop(span);
        }
        let slot = self.hidden(None);
        let value = Bound::Control(Control::For(self.arena.alloc(node)));
        self.push(StmtKind::Let { slot, slot_span: span, value }, span);
        let list = of_slot(slot, span);
        let zero = number(0, span);
        match makes {
            OfItems::Map | OfItems::Filter => list,
            OfItems::Find => self.applied(Pure::Get, &[list, zero, literal(Literal::Nil, span)], span),
            OfItems::Any | OfItems::All => {
                let length = Expr { kind: ExprKind::Unary(Unary::Len, self.alloc(list)), span };
                let sign = if makes == OfItems::Any { Binary::Gt } else { Binary::Eq };
                self.binary(sign, length, zero, span)
            }
        }
    }

    /// The loop, whose passes give what is made of their items.
    fn each_loop(&mut self, node: &Node<'a>, each: &Each<'a>, makes: OfItems, span: Span) -> Option<For<'a>> {
        let list = self.of_tree(node, &each.list);
        let id = self.new_loop();
        let Each { item, .. } = *each;
        binding::binder(self, &Node::of_text(item.text, item.span))?;
        self.scope.open_block();
        let slot = self.scope.bind_item(item.text);
        self.loops.push(EnclosingLoop {
            start: span.start,
            element: None,
            breaks: false,
            gives: true,
            until: None,
        });
        let body = self.block(|this| {
            let pass = |this: &mut Self| this.each_pass(node, &each.value, slot, makes);
            match &each.condition {
                None => pass(this),
                Some(condition) => this.passes_if(node, condition, false, pass),
            }
        });
        self.loops.pop();
        self.scope.close_block();
        let (item, item_span) = (slot, item.span);
        Some(For { id, item, item_span, list, body, otherwise: None, breaks: false, yields: false, span })
    }

    /// A pass of such a loop.
    fn each_pass(&mut self, node: &Node<'a>, value: &Tree<'a>, item: Slot, makes: OfItems) {
        let span = value.span;
        if makes == OfItems::Map {
            let value = self.of_tree(node, value);
            return self.push(StmtKind::Value(value), span);
        }
        let give = |this: &mut Self| this.push(StmtKind::Value(of_slot(item, span)), span);
        self.passes_if(node, value, makes == OfItems::All, give);
    }

    /// What a pass does if a condition holds, or if it does not.
    fn passes_if(
        &mut self,
        node: &Node<'a>,
        condition: &Tree<'a>,
        negated: bool,
        pass: impl FnOnce(&mut Self),
    ) {
        let inner = Placement { condition: true, ..self.at };
        let condition = self.within(inner, |this| this.of_tree(node, condition));
        let condition = if negated { self.not(condition, condition.span) } else { condition };
        let span = condition.span;
        let then = self.block(pass);
        self.push_if(If { condition, then, otherwise: None, span }, span);
    }
}

/// Names of positions in other languages, which `for: "i, x"` may begin with.
const POSITIONS: [&str; 5] = ["i", "idx", "index", "n", "pos"];

/// The most passes of a loop without `max`.
const PASSES: i64 = 100;

/// The most calls that a block makes, if each loop over a list makes one pass.
fn calls_of(block: &Block<'_>) -> u64 {
    let mut calls: u64 = 0;
    for statement in block.statements {
        statement.each_value(|value| value.each_call(&mut |_| calls += 1));
        let inner: u64 = match statement.control() {
            Some(Control::If(node)) => calls_of(&node.then).max(node.otherwise.as_ref().map_or(0, calls_of)),
            Some(control) => {
                let passes = match control {
                    Control::For(For { list: Expr { kind: ExprKind::Apply(apply), .. }, .. })
                        if apply.function == Pure::Range =>
                    {
                        match apply.operands.first().map(|of| of.kind) {
                            Some(ExprKind::Literal(Literal::Number(Number::Int(passes)))) => {
                                u64::try_from(passes).unwrap_or(0)
                            }
                            _ => 1,
                        }
                    }
                    _ => 1,
                };
                control.blocks().map(|(_, block)| calls_of(block)).sum::<u64>().saturating_mul(passes)
            }
            None => 0,
        };
        calls = inner.saturating_add(calls);
    }
    calls
}

/// What is made of the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfItems {
    /// A list of values.
    Map,
    /// The list of those that pass a test.
    Filter,
    /// The first that passes a test, or nil.
    Find,
    /// Whether one passes a test.
    Any,
    /// Whether all pass a test.
    All,
}

impl OfItems {
    /// What a function or method of another language makes.
    fn of(name: &str) -> Option<OfItems> {
        Some(match name {
            "map" => OfItems::Map,
            "filter" => OfItems::Filter,
            "find" => OfItems::Find,
            "any" | "some" => OfItems::Any,
            "all" | "every" => OfItems::All,
            _ => return None,
        })
    }
}
