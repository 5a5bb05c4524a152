//! Loops that are written as an expression: `[E for x in xs if c]`, `xs.map(x => E)`, `any(E for x in xs)`.
//!
//! Such a loop becomes a statement before that of its step, and the expression reads the list that it gives:
//! so it may be wherever a value is needed each time that its step runs.

use super::reader::{InnerLoops, OpenLoop, Position, StepReader, literal, of_slot};
use crate::ast::{Binary, Bound, Control, Expr, ExprKind, For, If, Literal, Name, Slot, StmtKind, Unary};
use crate::document::Node;
use crate::expr::{Each, Kind, Operand, Tree};
use crate::span::Span;
use ilo_spec::program::Number;
use ilo_spec::pure::Pure;

/// What is made of the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Makes {
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

impl Makes {
    /// What a function or method of another language makes.
    fn of(name: &str) -> Option<Makes> {
        Some(match name {
            "map" => Makes::Map,
            "filter" => Makes::Filter,
            "find" => Makes::Find,
            "any" | "some" => Makes::Any,
            "all" | "every" => Makes::All,
            _ => return None,
        })
    }
}

impl<'a> StepReader<'_, 'a> {
    /// The loop that a function or method makes of its operands; nothing if it is another one.
    pub(crate) fn loop_form(
        &mut self,
        node: &Node<'a>,
        name: Name<'a>,
        of: Option<&Tree<'a>>,
        operands: &[Operand<'a>],
        span: Span,
    ) -> Option<Expr<'a>> {
        let makes = Makes::of(name.text)?;
        let each = match (of, operands) {
            (Some(list), [by]) => by.value.lambda(*list),
            (None, [one, other]) => one.value.lambda(other.value).or_else(|| other.value.lambda(one.value)),
            (None, [only]) if matches!(makes, Makes::Any | Makes::All) => match only.value.kind {
                Kind::Each(each) => Some(*each),
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
        makes: Makes,
        span: Span,
    ) -> Expr<'a> {
        let calls = self.call_count;
        if self.at.loops == InnerLoops::Refused {
            return self.no_loop(span);
        }
        let Some(node) = self.each_loop(node, each, makes, span) else { return self.unread(span) };
        if self.at.loops == InnerLoops::Infallible && self.call_count > calls {
            return self.no_loop(span);
        }
        let slot = self.hidden(None);
        let value = Bound::Control(Control::For(self.arena.alloc(node)));
        self.push(StmtKind::Let { slot, slot_span: span, value }, span);
        let list = of_slot(slot, span);
        let zero = literal(Literal::Number(Number::Int(0)), span);
        match makes {
            Makes::Map | Makes::Filter => list,
            Makes::Find => self.applied(Pure::Get, &[list, zero, literal(Literal::Nil, span)], span),
            Makes::Any | Makes::All => {
                let length = Expr { kind: ExprKind::Unary(Unary::Len, self.alloc(list)), span };
                let sign = if makes == Makes::Any { Binary::Gt } else { Binary::Eq };
                self.binary(sign, length, zero, span)
            }
        }
    }

    /// The loop, whose passes give what is made of their items.
    fn each_loop(&mut self, node: &Node<'a>, each: &Each<'a>, makes: Makes, span: Span) -> Option<For<'a>> {
        let list = self.of_tree(node, &each.list);
        let id = self.new_loop();
        let Each { item, .. } = *each;
        self.binder(&Node::of_text(item.text, item.span))?;
        let (slot, outer) = self.scope.bind_item(item.text);
        self.loops.push(OpenLoop { start: span.start, breaks: false, gives: true, until: None });
        let body = self.block(|this| {
            let pass = |this: &mut Self| this.each_pass(node, &each.value, slot, makes);
            match &each.condition {
                None => pass(this),
                Some(condition) => this.passes_if(node, condition, false, pass),
            }
        });
        self.loops.pop();
        self.scope.restore(item.text, &outer);
        let (item, item_span) = (slot, item.span);
        Some(For { id, item, item_span, list, body, otherwise: None, breaks: false, yields: false, span })
    }

    /// A pass of such a loop.
    fn each_pass(&mut self, node: &Node<'a>, value: &Tree<'a>, item: Slot, makes: Makes) {
        let span = value.span;
        if makes == Makes::Map {
            let value = self.of_tree(node, value);
            return self.push(StmtKind::Value(value), span);
        }
        let give = |this: &mut Self| this.push(StmtKind::Value(of_slot(item, span)), span);
        self.passes_if(node, value, makes == Makes::All, give);
    }

    /// What a pass does if a condition holds, or if it does not.
    fn passes_if(
        &mut self,
        node: &Node<'a>,
        condition: &Tree<'a>,
        negated: bool,
        pass: impl FnOnce(&mut Self),
    ) {
        let inner = Position { condition: true, ..self.at };
        let condition = self.within(inner, |this| this.of_tree(node, condition));
        let condition = if negated { self.not(condition, condition.span) } else { condition };
        let span = condition.span;
        let then = self.block(pass);
        self.push_if(If { condition, then, otherwise: None, span }, span);
    }
}
