//! The names that steps bind, and the end of a step that has a value.

use super::entries::Keyed;
use super::reader::{StepReader, of_slot};
use super::step::{Item, Tail, Target};
use crate::ast::{Bound, Control, Expr, ExprKind, Name, Slot, Stmt, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::dialect::Key;
use crate::document::{Kind, Node, inner, shown};
use crate::expr::reference::{FAILURES, INPUT};
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// The name that a step binds.
    pub(crate) fn target(&mut self, item: &Item<'_, 'a>, keyed: &Keyed<'_, 'a>) -> Option<Target<'a>> {
        match keyed.get(Key::Let) {
            Some(node) => self.written_name(node).map(|name| Target { name, own: false }),
            // The content of `rollback` and `then` runs after the call.
            None => {
                let inside = |key| keyed.entry(key).filter(|_| keyed.has(Key::Call));
                let starts = [Key::Rollback, Key::Then].into_iter().filter_map(inside);
                let first = starts.map(|entry| entry.key.span.start).min();
                self.name_of(item, first.unwrap_or(item.node.span.end))
            }
        }
    }

    /// The name under which a step is written in YAML, if something after it refers to it.
    pub(crate) fn step_name(&mut self, item: &Item<'_, 'a>) -> Option<Target<'a>> {
        self.name_of(item, item.node.span.end)
    }

    /// Like [`StepReader::step_name`], if something after a position refers to it.
    fn name_of(&mut self, item: &Item<'_, 'a>, after: u32) -> Option<Target<'a>> {
        let name = item.name?;
        let text = match name.kind {
            Kind::Text(text) => text.text,
            Kind::Number(_) | Kind::Bool(_) | Kind::Null => self.arena.alloc_str(&shown(name)),
            _ => return None,
        };
        let bound = self.binder(name)?;
        // The next iteration of a loop may read, further up, what this one binds.
        let from = self.loops.first().map_or(after, |open| open.start);
        if self.survey.used_after(text, from) {
            self.shadows(bound);
            return Some(Target { name: bound, own: true });
        }
        self.scope.unbound(text);
        None
    }

    /// Warns about a step that has the name of a step of an outer block.
    fn shadows(&mut self, name: Name<'a>) {
        let Some(outer) = self.scope.outer_step(name.text) else { return };
        let text = name.text;
        let message = format!("this is a new step: it does not change the step `{text}` outside its block");
        self.report(
            Diagnostic::new(Code::Shadowed, name.span, message)
                .expected(format!("another name, or `let: {text}`"), format!("`{text}`"))
                .related(outer, "the outer step is here")
                .help(format!(
                    "to give the outer `{text}` a new value, write `let: {text}` in this step; otherwise \
                     give this step another name"
                )),
        );
    }

    /// Reads a name that is bound by a key such as `let`; reports it if it must not be bound, and if no
    /// reference could read it. (The name of a step may have blanks, as long as nothing reads it.)
    pub(crate) fn written_name(&mut self, node: &Node<'a>) -> Option<Name<'a>> {
        let name = self.binder(node)?;
        if !is_name(name.text) {
            if let Some(first) = name.text.split(' ').next() {
                self.scope.lose(first);
            }
            let joined = name.text.split_whitespace().collect::<Vec<_>>().join("_");
            let help = if is_name(&joined) {
                format!(
                    "give it a name without blanks, such as `{joined}`, and use that in each reference to it"
                )
            } else {
                "give it another name; `let` takes a path too, such as `order.total` or `counts[word]`"
                    .to_owned()
            };
            let message = format!("`{}` is not a name: no reference could read it", shown(node));
            self.report(
                Diagnostic::new(Code::BadShape, name.span, message)
                    .expected("a name of letters, digits, `_` and hyphens", format!("`{}`", shown(node)))
                    .help(help),
            );
        }
        Some(name)
    }

    /// Reads a name that is bound; reports it if it must not be bound.
    pub(crate) fn binder(&mut self, node: &Node<'a>) -> Option<Name<'a>> {
        let node = self.shaped(Key::Let, node, node.text().is_some_and(|text| text.starts_with('$')));
        let Some(text) = node.text() else {
            self.bad_shape(node, "the name that is bound", "a text");
            return None;
        };
        if text.is_empty() {
            self.bad_shape(node, "the name that is bound", "a name, which is not empty");
            return None;
        }
        if FAILURES.contains(&text) || text == INPUT {
            let message = format!("`{text}` is kept for what it means");
            self.report(
                Diagnostic::new(Code::ReservedName, node.span, message)
                    .expected("another name", format!("`{text}`"))
                    .help("`err` and `error` are the failure in a handler, `input` the record of inputs"),
            );
            return None;
        }
        Some(Name { text, span: inner(node) })
    }

    /// Binds a name. Returns its slot.
    pub(crate) fn bind(&mut self, name: Name<'a>) -> Slot {
        self.scope.bind(name.text, self.shares_input(name))
    }

    /// Binds the name of a step. Returns its slot and span.
    pub(crate) fn bind_target(&mut self, Target { name, own }: Target<'a>) -> (Slot, Span) {
        let shared = self.shares_input(name);
        let slot = if own {
            self.scope.bind_step(name.text, name.span, shared)
        } else {
            self.scope.bind(name.text, shared)
        };
        (slot, name.span)
    }

    /// Whether a name that is bound here shares the slot of the input of that name: if nothing reads the
    /// input as an input, or the name is bound on every path, after all such reads.
    fn shares_input(&self, name: Name<'a>) -> bool {
        let on_every_path = self.at.blocks == 1;
        match self.survey.input_read(name.text) {
            None => true,
            Some(last) => on_every_path && last <= self.at.step_end,
        }
    }

    /// Ends a step with a value: binds the value, or leaves it as the value of the block.
    pub(crate) fn finish(&mut self, value: Bound<'a>, target: Option<Target<'a>>, tail: Tail, span: Span) {
        let statement = |value| match value {
            Bound::Expr(value) => StmtKind::Value(value),
            Bound::Control(control) => StmtKind::Control(control),
        };
        let value = self.loop_just_written(value).unwrap_or(value);
        let Some(target) = target else { return self.push(statement(value), span) };
        let name = target.name;
        let is_value = matches!(tail, Tail::Value | Tail::Yield);
        let hides = target.own && self.scope.outer_step(name.text).is_some();
        if is_value && (hides || self.scope.find(name.text).is_none()) {
            // Nothing can read the name any more.
            if !hides {
                self.scope.pass(name.text, tail == Tail::Yield);
            }
            return self.push(statement(value), span);
        }
        let (slot, _) = self.bind_target(target);
        if !is_value && self.is_idle(slot, value) {
            return self.push(statement(value), span);
        }
        self.push(StmtKind::Let { slot, slot_span: name.span, value }, span);
        if is_value {
            self.push_slot((slot, name.span), span);
        }
    }

    /// The loop before this step, if its list is the whole value: the step is that loop.
    fn loop_just_written(&mut self, value: Bound<'a>) -> Option<Bound<'a>> {
        let Bound::Expr(Expr { kind: ExprKind::Ref(read), span }) = value else { return None };
        let &Stmt {
            kind: StmtKind::Let { slot, value: own @ Bound::Control(Control::For(_)), .. },
            span: of,
        } = self.statements.last()?
        else {
            return None;
        };
        (slot == read && of == span).then(|| {
            self.statements.pop();
            own
        })
    }

    /// Ends a step that is an expression.
    /// Adds the slot that the last statement has bound as the value of the step, if it is reachable.
    pub(crate) fn push_slot(&mut self, (slot, slot_span): (Slot, Span), span: Span) {
        if self.statements.last().is_some_and(Stmt::completes) {
            self.push(StmtKind::Value(of_slot(slot, slot_span)), span);
        }
    }

    /// Binds the value of the block whose statements begin at `start`, if it is to be bound.
    pub(crate) fn bind_last(&mut self, start: usize, bind: Option<(Slot, Span)>) {
        let Some((slot, slot_span)) = bind else { return };
        if let Some(last) = self.statements.get(start..).and_then(<[Stmt<'a>]>::last).copied()
            && let Some(value) = last.kind.given().filter(|&value| !self.is_idle(slot, value))
        {
            self.statements.pop();
            self.push(StmtKind::Let { slot, slot_span, value }, last.span);
        }
    }

    /// Whether nothing reads the name of a slot that a block without a value would be bound to.
    fn is_idle(&self, slot: Slot, value: Bound<'a>) -> bool {
        let name = self.scope.slots().get(slot.0 as usize).and_then(|info| info.name);
        let is_unread = |name: &str| is_name(name) && !self.survey.is_used(name);
        matches!(value, Bound::Control(control) if control.lacks_value()) && name.is_some_and(is_unread)
    }
}
