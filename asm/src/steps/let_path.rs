//! Reads `let` with a path, which sets a part of a variable, and `push`, which appends to it.
//!
//! The step is read as if the path were a name. What follows it evaluates the keys from left to right, reads
//! the containers on the way, and binds the variable again from the inside out: PUT for a text key, SET for a
//! number. A key of unknown kind is a text if it equals its rendered form.

use super::reader::{StepReader, literal, of_slot};
use super::step::{Item, Step, Tail};
use crate::ast::{Binary, Bound, Control, Expr, ExprKind, If, Literal, Name, PartSet, Slot, StmtKind};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::dialect::Key;
use crate::document::{Node, inner};
use crate::expr::parser::bracketed;
use crate::expr::reference::{Reference, Root, Step as Place, Words};
use crate::expr::{Kind, Sigil, Tree};
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use ilo_spec::pure::Pure;

/// A path to a part of a variable.
#[derive(Clone)]
pub(crate) struct LetPath<'a> {
    /// The whole text, under which the value of the step is bound.
    pub(crate) name: Name<'a>,
    root: Name<'a>,
    keys: Vec<Tree<'a>>,
    node: Node<'a>,
}

impl<'a> StepReader<'_, 'a> {
    /// Binds the path under `let`; `None` if it is a name, or no path.
    pub(crate) fn let_path(&mut self, node: &Node<'a>, step: &Item<'_, 'a>) -> Option<LetPath<'a>> {
        let text = node.text().filter(|text| !is_name(text))?;
        let words = Words::of(node, self.arena)?;
        let (reference, mut keys) = parts(bracketed(&words, (Sigil::Dollar, self.levels_left(), 0))?)?;
        let (root, is_input) = match (reference.root, reference.path.first()) {
            (Root::Name(root), _) => (root, false),
            (Root::Input, Some(Place::Field(input))) => {
                keys.remove(0);
                (*input, true)
            }
            (Root::Input, _) => return None,
        };
        if keys.is_empty() {
            return None;
        }
        let keys = if self.fits(keys.len(), node.span) { keys } else { Vec::new() };
        if is_input || self.scope.find(root.text).is_none() {
            let written = is_input.then(|| Span::new(reference.span.start, root.span.end));
            self.no_variable(node.span, root.text, written, Some(step));
        }
        self.scope.bind(text, false);
        Some(LetPath { name: Name { text, span: inner(node) }, root, keys, node: *node })
    }

    /// Reports a root that is not a variable. What follows is read as after the fix.
    fn no_variable(&mut self, at: Span, root: &'a str, written: Option<Span>, step: Option<&Item<'_, 'a>>) {
        let message = format!("`{root}` is not a variable here, so no part of it can be changed");
        let mut wrong = Diagnostic::new(Code::UnknownReference, at, message)
            .expected("a path that begins with a variable", format!("`{root}`"));
        if self.scope.input(root).is_some() {
            self.scope.bind(root, false);
            let mut fix = step.and_then(|step| self.bound_before(root, step));
            if let (Some(fix), Some(span)) = (&mut fix, written) {
                fix.edits.push(Edit::new(span, root));
            }
            let how = format!("bind the input first, in a step with `let: {root}` and `expr` of the input");
            wrong = wrong.help(how).fix(fix);
        } else {
            wrong = wrong.help(format!("bind `{root}` in a step before"));
        }
        self.report(wrong);
    }

    /// The fix that binds an input in a step before this one, if this one is in a list.
    fn bound_before(&self, input: &str, step: &Item<'_, 'a>) -> Option<Fix> {
        let start = step.node.span.start;
        let path = &[Place::Field(Name { text: input, span: step.node.span })];
        let form = self.dialect.own_form(&Reference { root: Root::Input, path, span: step.node.span }, false);
        let (before, rest) = self.source.split_at_checked(start as usize)?;
        let outer = before.trim_end();
        let text = if rest.starts_with('{') && outer.ends_with(['[', ',']) {
            format!("{{\"let\": \"{input}\", \"expr\": \"{form}\"}}, ")
        } else if outer.ends_with('-') && step.name.is_none() {
            let line = before.rsplit('\n').next()?;
            let dash =
                line.rfind('-').filter(|&dash| line.get(..dash).is_some_and(|to| to.trim().is_empty()))?;
            let (pad, inner) = (" ".repeat(dash), " ".repeat(line.chars().count()));
            format!("let: {input}\n{inner}expr: {form}\n{pad}-{}", " ".repeat(line.len() - dash - 1))
        } else {
            return None;
        };
        Some(Fix { title: format!("bind `{input}` before"), edits: vec![Edit::insert(start, text)] })
    }

    /// Sets the part of the variable to the value that the step has bound under the path.
    pub(crate) fn set_part(&mut self, path: &LetPath<'a>, appends: bool, at: Span) {
        // The value of the block, if it is that of the step, is the last statement.
        let last = self.statements.pop_if(|last| matches!(last.kind, StmtKind::Value(_)));
        if self.statements.last().is_none_or(crate::ast::Stmt::completes)
            && let Some(value) = self.scope.find(path.name.text)
            && let Some(root) = self.scope.find(path.root.text)
        {
            let start = self.statements.len();
            let keys = self.assign(path, (root, of_slot(value, at)), appends, at);
            self.parts.push(PartSet {
                path: path.name.span,
                root: (root, path.root.span),
                keys: self.arena.alloc_slice_copy(&keys),
                statements: self.statements.len() - start,
                appends,
                gives: last.is_some(),
            });
        }
        self.statements.extend(last);
    }

    /// Sets the part; returns the keys as they are written.
    fn assign(
        &mut self,
        path: &LetPath<'a>,
        (root, value): (Slot, Expr<'a>),
        appends: bool,
        at: Span,
    ) -> Vec<Expr<'a>> {
        let keys = path.keys.iter().map(|key| self.path_key(&path.node, key, at));
        let (written, keys): (Vec<Expr<'a>>, Vec<Expr<'a>>) = keys.unzip();
        if !keys.first().is_some_and(|key| matches!(key.kind, ExprKind::Literal(Literal::Number(_)))) {
            self.record_for_nil(root, path.root.span, at);
        }
        let mut containers = vec![of_slot(root, at)];
        let inner = if appends { keys.len() } else { keys.len().saturating_sub(1) };
        for (depth, key) in keys.iter().take(inner).enumerate() {
            let empty = if depth + 1 == keys.len() { ExprKind::List(&[]) } else { ExprKind::Record(&[]) };
            let of = containers.last().copied().unwrap_or(value);
            let part = self.applied(Pure::Get, &[of, *key, Expr { kind: empty, span: at }], at);
            containers.push(self.kept("part", part, at));
        }
        let mut value = value;
        if appends {
            let list = containers.pop().unwrap_or(value);
            value = self.binary(Binary::Append, list, value, at);
        }
        for (key, of) in keys.iter().zip(containers).rev() {
            value = self.written(*key, (of, value), at);
        }
        self.push(StmtKind::Let { slot: root, slot_span: path.root.span, value: Bound::Expr(value) }, at);
        written
    }

    /// Binds a variable that is nil to an empty record.
    fn record_for_nil(&mut self, root: Slot, slot_span: Span, at: Span) {
        let condition = self.binary(Binary::Eq, of_slot(root, at), literal(Literal::Nil, at), at);
        let empty = Bound::Expr(Expr { kind: ExprKind::Record(&[]), span: at });
        let then = self.block(|this| this.push(StmtKind::Let { slot: root, slot_span, value: empty }, at));
        let node = If { condition, then, otherwise: None, span: at };
        self.push(StmtKind::Control(Control::If(self.arena.alloc(node))), at);
    }

    /// A container with one part replaced.
    fn written(&mut self, key: Expr<'a>, (of, value): (Expr<'a>, Expr<'a>), at: Span) -> Expr<'a> {
        match key.kind {
            ExprKind::Literal(Literal::Text(_)) => return self.applied(Pure::Put, &[of, key, value], at),
            ExprKind::Literal(_) => return self.applied(Pure::Set, &[of, key, value], at),
            _ => {}
        }
        let value = self.kept("part", value, at);
        let rendered = self.binary(Binary::Concat, literal(Literal::Text(""), at), key, at);
        let condition = self.binary(Binary::Eq, key, rendered, at);
        let put = self.applied(Pure::Put, &[of, key, value], at);
        let set = self.applied(Pure::Set, &[of, key, value], at);
        let then = self.block(|this| this.push(StmtKind::Value(put), at));
        let otherwise = Some(self.block(|this| this.push(StmtKind::Value(set), at)));
        let node = If { condition, then, otherwise, span: at };
        let slot = self.scope.own("part");
        let value = Bound::Control(Control::If(self.arena.alloc(node)));
        self.push(StmtKind::Let { slot, slot_span: at, value }, at);
        of_slot(slot, at)
    }

    /// Binds a value to a slot of its own.
    fn kept(&mut self, name: &'a str, value: Expr<'a>, at: Span) -> Expr<'a> {
        if matches!(value.kind, ExprKind::Ref(_)) {
            return value;
        }
        let slot = self.scope.own(name);
        self.push(StmtKind::Let { slot, slot_span: at, value: Bound::Expr(value) }, at);
        of_slot(slot, at)
    }

    /// A key as it is written, and the constant that it is, or a slot with its value.
    fn path_key(&mut self, node: &Node<'a>, key: &Tree<'a>, at: Span) -> (Expr<'a>, Expr<'a>) {
        let written = self.of_tree(node, key);
        if matches!(written.kind, ExprKind::Literal(Literal::Text(_) | Literal::Number(_))) {
            return (written, written);
        }
        // As an item beside a number and a text it has no known type, so that both writes are typed.
        let (zero, empty) = (literal(Literal::Number(Number::Int(0)), at), literal(Literal::Text(""), at));
        let mixed = ExprKind::List(self.arena.alloc_slice_copy(&[written, zero, empty]));
        let value = self.applied(Pure::Get, &[Expr { kind: mixed, span: at }, zero, empty], at);
        (written, self.kept("key", value, at))
    }

    /// `push`: appends to a variable, or to a part of it.
    pub(crate) fn push_step(&mut self, step: &Step<'_, 'a>) {
        let Some(node) = step.get(Key::Push) else { return };
        let value = self.bound_value(node);
        let Some(target) = step.target else { return };
        if !is_name(target.name.text) {
            return self.finish(Bound::Expr(value), step.target, Tail::Drop, step.head());
        }
        let Some(slot) = self.scope.find(target.name.text) else {
            return self.no_variable(target.name.span, target.name.text, None, None);
        };
        let list = of_slot(slot, target.name.span);
        let value = self.binary(Binary::Append, list, value, step.head());
        self.finish(Bound::Expr(value), step.target, Tail::Drop, step.head());
    }
}

/// The root of a path and its keys.
fn parts(path: Tree<'_>) -> Option<(Reference<'_>, Vec<Tree<'_>>)> {
    let constant = |value, span| Tree { kind: Kind::Literal(value), span, levels: 1 };
    let (mut of, mut keys) = (path, Vec::new());
    let root = loop {
        of = match of.kind {
            Kind::Path(root) => break root,
            Kind::Field(of, name, _) => {
                keys.push(constant(Literal::Text(name.text), name.span));
                *of
            }
            Kind::Item([of, key]) => {
                keys.push(*key);
                *of
            }
            _ => return None,
        };
    };
    keys.extend(root.path.iter().rev().map(|step| match *step {
        Place::Field(name) => constant(Literal::Text(name.text), name.span),
        Place::Index(index, span) => constant(Literal::Number(Number::Int(index.cast_signed())), span),
    }));
    keys.reverse();
    Some((root, keys))
}
