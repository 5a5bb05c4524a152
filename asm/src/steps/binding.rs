//! Names that steps bind, and how a step ends that has a value.

use super::entries::Keyed;
use super::reader::{StepReader, of_slot};
use super::step::{Item, Tail};
use crate::ast::{Bound, Expr, Name, Slot, Stmt, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::dialect::Key;
use crate::dialect::reference::{FAILURES, INPUT};
use crate::document::{Kind, Node};
use crate::document::{inner, shown};
use crate::span::Span;
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// The name that a step binds.
    pub(crate) fn target(&mut self, item: &Item<'_, 'a>, keyed: &Keyed<'_, 'a>) -> Option<Name<'a>> {
        match keyed.get(Key::Let) {
            Some(node) => self.binder(node),
            // What is under `rollback` runs behind the call.
            None => {
                let rollback = keyed.entry(Key::Rollback).filter(|_| keyed.has(Key::Call));
                self.name_of(item, rollback.map_or(item.node.span.end, |entry| entry.key.span.start))
            }
        }
    }

    /// The name that a step is written under in YAML, where something behind it refers to it.
    pub(crate) fn step_name(&mut self, item: &Item<'_, 'a>) -> Option<Name<'a>> {
        self.name_of(item, item.node.span.end)
    }

    /// As [`StepReader::step_name`], where something from a place on refers to it.
    fn name_of(&mut self, item: &Item<'_, 'a>, behind: u32) -> Option<Name<'a>> {
        let name = item.name?;
        let text = match name.kind {
            Kind::Text(text) => text.text,
            Kind::Number(_) | Kind::Bool(_) | Kind::Null => self.arena.alloc_str(&shown(name)),
            _ => return None,
        };
        let bound = self.binder(name)?;
        // The next pass of a loop may read further up what this one binds.
        let from = self.loops.first().map_or(behind, |open| open.start);
        if self.survey.used_after(text, from) {
            return Some(bound);
        }
        self.scope.unbound(text);
        None
    }

    /// A name that is bound; reports where it must not be.
    pub(crate) fn binder(&mut self, node: &Node<'a>) -> Option<Name<'a>> {
        let Kind::Text(text) = node.kind else {
            self.bad_shape(node, "the name that is bound", "a text");
            return None;
        };
        let text = text.text;
        self.inexact |= text.starts_with('$');
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

    /// The slot of a name that is bound here.
    pub(crate) fn bind(&mut self, name: Name<'a>) -> Slot {
        // On every path, behind all that reads the input of that name, the two can share a slot.
        let read = self.survey.input_read(name.text);
        let shared = self.at.blocks == 1 && read.is_none_or(|last| last <= self.at.step_end);
        self.scope.bind(name.text, shared || self.dialect.is_bare())
    }

    /// Ends a step with a value: binds it, or leaves it as the value of its block.
    pub(crate) fn finish(&mut self, value: Bound<'a>, target: Option<Name<'a>>, tail: Tail, span: Span) {
        let statement = |value| match value {
            Bound::Expr(value) => StmtKind::Value(value),
            Bound::Control(control) => StmtKind::Control(control),
        };
        let Some(name) = target else { return self.push(statement(value), span) };
        let is_value = matches!(tail, Tail::Value | Tail::Yield);
        if is_value && self.scope.find(name.text).is_none() {
            // Nothing can read the name any more.
            self.scope.pass(name.text, tail == Tail::Yield);
            return self.push(statement(value), span);
        }
        let slot = self.bind(name);
        self.push(StmtKind::Let { slot, slot_span: name.span, value }, span);
        if is_value {
            self.push_slot((slot, name.span), span);
        }
    }

    /// Ends a step that is an expression.
    pub(crate) fn finish_value(&mut self, value: Expr<'a>, target: Option<Name<'a>>, tail: Tail, span: Span) {
        self.finish(Bound::Expr(value), target, tail, span);
    }

    /// Pushes the slot that the last statement has bound as the value of its step, where that can be reached.
    pub(crate) fn push_slot(&mut self, (slot, slot_span): (Slot, Span), span: Span) {
        if self.statements.last().is_some_and(Stmt::completes) {
            self.push(StmtKind::Value(of_slot(slot, slot_span)), span);
        }
    }

    /// Binds the value of the block whose statements begin at `start`.
    pub(crate) fn bind_last(&mut self, start: usize, (slot, slot_span): (Slot, Span)) {
        if self.statements.len() <= start {
            return;
        }
        if let Some(last) = self.statements.last_mut() {
            let value = match last.kind {
                StmtKind::Value(value) => Bound::Expr(value),
                StmtKind::Control(control) => Bound::Control(control),
                _ => return,
            };
            last.kind = StmtKind::Let { slot, slot_span, value };
        }
    }
}
