//! Loops that are written as an expression: `[E for x in xs if c]`, `xs.map(x => E)`, `xs.filter(x => c)`.

use super::reader::{OpenLoop, StepReader};
use super::step::{Step, Tail};
use crate::ast::{Bound, Control, For, If, StmtKind};
use crate::diagnostic::Diagnostics;
use crate::dialect::Key;
use crate::document::Node;
use crate::expr::{self, Each};

impl<'a> StepReader<'_, 'a> {
    /// Reads a step whose whole value is such a loop; false for another step.
    pub(crate) fn comprehension(&mut self, step: &Step<'_, 'a>, tail: Tail) -> bool {
        let holds = matches!(step.form.key, Key::Expr | Key::Value) && !step.keyed.has(Key::Handler);
        let Some(found) = (if holds { self.each_of(step) } else { None }) else { return false };
        self.each_step(step, found, tail);
        true
    }

    /// The loop that is the whole value of a step with `expr` or `value`.
    fn each_of<'d>(&self, step: &Step<'d, 'a>) -> Option<(&'d Node<'a>, Each<'a>)> {
        let node = step.get(step.form.key)?;
        let text = node.text()?;
        if !(text.contains("=>") || (text.contains(" for ") && text.contains(" in "))) {
            return None;
        }
        let infix = self.dialect.is_yaml() && step.form.key == Key::Expr;
        let (left, sigil) = (self.levels_left(), self.dialect.sigil());
        // What is wrong in it is reported where the text is read as what it is.
        let mut unseen = Diagnostics::default();
        let tree = if infix {
            expr::whole(node, sigil, left, self.arena, &mut unseen)?
        } else {
            expr::template(node, sigil, left, self.arena, &mut unseen).whole()?.tree()?
        };
        Some((node, tree.each()?))
    }

    /// A step whose value is such a loop.
    fn each_step(&mut self, step: &Step<'_, 'a>, (node, each): (&Node<'a>, Each<'a>), tail: Tail) {
        let list = self.of_tree(node, &each.list);
        let id = self.new_loop();
        let item = each.item;
        if self.binder(&Node::of_text(item.text, item.span)).is_none() {
            return;
        }
        let (slot, outer) = self.scope.bind_item(item.text);
        self.loops.push(OpenLoop { start: step.start, breaks: false, gives: true, until: None });
        let body = self.block(|this| this.each_pass(node, &each));
        self.loops.pop();
        self.scope.restore(item.text, &outer);
        let span = step.place();
        let node = For {
            id,
            item: slot,
            item_span: item.span,
            list,
            body,
            otherwise: None,
            breaks: false,
            yields: false,
            span,
        };
        let control = Control::For(self.arena.alloc(node));
        self.finish(Bound::Control(control), step.target, tail, step.head());
    }

    /// A pass of such a loop: its value, if the condition holds.
    fn each_pass(&mut self, node: &Node<'a>, each: &Each<'a>) {
        let value = |this: &mut Self| {
            let value = this.of_tree(node, &each.value);
            this.push(StmtKind::Value(value), each.value.span);
        };
        let Some(condition) = &each.condition else { return value(self) };
        let condition = self.of_tree(node, condition);
        let span = condition.span;
        let then = self.block(value);
        self.push_if(If { condition, then, otherwise: None, span }, span);
    }
}
