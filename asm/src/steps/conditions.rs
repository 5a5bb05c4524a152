//! Reads `if`, `assert` and `for`.

use super::reader::{OpenLoop, StepReader, literal};
use super::step::{Step, Tail, Target};
use crate::ast::{Block, Bound, Control, For, If, Literal};
use crate::diagnostic::Diagnostic;
use crate::dialect::Key;
use crate::document::{Kind, Node, shown};
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    pub(crate) fn if_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let Some(condition) = step.get(Key::If) else { return };
        let condition = self.condition(condition);
        let tail_of_blocks = if step.target.is_some() { Tail::Value } else { tail };
        let then = self.then_of_if(step, tail_of_blocks);
        let otherwise =
            step.get(Key::Else).map(|node| self.branch_of_if(step, node, tail_of_blocks, Key::Else));
        let node = If { condition, then, otherwise, span: step.place() };
        self.finish(Bound::Control(Control::If(self.arena.alloc(node))), step.target, tail, step.head());
    }

    /// The branch of an `if` for a true condition: steps, or a return beside the condition.
    fn then_of_if(&mut self, step: &Step<'_, 'a>, tail: Tail) -> Block<'a> {
        match (self.leaving(&step.keyed), step.get(Key::Then)) {
            (Some((key, entry)), None) => self.block(|this| {
                this.compensations(step.get(Key::Compensate));
                this.leave(key, entry);
            }),
            (leaving, Some(then)) => {
                if let Some((_, entry)) = leaving {
                    let word = shown(&entry.key);
                    let message = format!("`{word}` and `then` cannot both be the branch of an `if`");
                    self.one_of_two(entry, &message, "make the return the last step under `then`");
                }
                self.branch_of_if(step, then, tail, Key::Then)
            }
            (None, None) => {
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
    fn branch_of_if(&mut self, step: &Step<'_, 'a>, node: &Node<'a>, tail: Tail, key: Key) -> Block<'a> {
        if step.keyed.has(Key::Let) { self.choice(node, key) } else { self.branch(node, tail, key) }
    }

    pub(crate) fn assert_step(&mut self, step: &Step<'_, 'a>) {
        let Some(condition) = step.get(Key::Assert) else { return };
        let condition = self.condition(condition);
        let condition = self.not(condition, condition.span);
        let then = self.block(|this| {
            this.compensations(step.get(Key::Compensate));
            if let Some(entry) = step.keyed.entry(Key::Message) {
                this.fail_here(&entry.value, entry.key.span);
            }
        });
        let node = If { condition, then, otherwise: None, span: step.place() };
        self.push_if(node, step.head());
    }

    pub(crate) fn for_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let Some(variable) = step.get(Key::For) else { return };
        let variable = self.shaped(Key::For, variable, matches!(variable.kind, Kind::List(_)));
        let element = self.element(step, variable);
        let variable = element.variable;
        let list = match element.list {
            Some(node) => self.looped(node),
            None => literal(Literal::Nil, variable.span),
        };
        let id = self.new_loop();
        self.scope.open();
        let name = self.written_name(variable);
        let (item, item_span) = match name {
            Some(name) => (self.bind(name), name.span),
            None => (self.hidden(None), variable.span),
        };
        let parts = self.loop_parts(step, &element);
        let read = |target: Target<'a>| !target.own || self.survey.used_after(target.name.text, step.start);
        let gives = tail.wanted() || step.target.is_some_and(read);
        let before = self.diagnostics.mark();
        self.loops.push(OpenLoop { start: step.start, breaks: false, gives, until: None });
        let body = match step.get(Key::Body) {
            Some(node) => self.branch(node, Tail::Yield, Key::Body),
            None => Block { statements: &[] },
        };
        let body = self.with_parts(parts, body, step.place());
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
        if by_steps && tail == Tail::Yield && step.target.is_none() {
            self.list_of_lists(step);
        }
        let otherwise = self.otherwise(step, breaks);
        let gives = step.keyed.has(Key::Let) || (yields && self.gives(step, otherwise.as_ref()));
        let node =
            For { id, item, item_span, list, body, otherwise, breaks, yields: by_steps, span: step.place() };
        let control = Control::For(self.arena.alloc(node));
        self.finish(Bound::Control(control), step.target.filter(|_| gives), tail, step.head());
    }

    /// The steps that run if no BREAK ended a loop.
    fn otherwise(&mut self, step: &Step<'_, 'a>, breaks: bool) -> Option<Block<'a>> {
        let entry = step.keyed.entry(Key::Else)?;
        let block = self.branch(&entry.value, Tail::Drop, Key::Else);
        if !breaks {
            let word = |key| self.dialect.word(key);
            let (end, of, over) = (word(Key::Else), word(Key::For), word(Key::Break));
            let message = format!("`{end}` runs when no `{over}` ended its `{of}`, but this one has none");
            self.report(
                Diagnostic::new(Code::OrphanElse, entry.key.span, message)
                    .expected(format!("`{over}` in the loop itself"), format!("a loop without `{over}`"))
                    .help(format!("put the steps after the loop, or end the loop early with `{over}`")),
            );
        }
        Some(block)
    }

    /// Warns about yields in a loop without a name: its list is one value of the loop around it.
    fn list_of_lists(&mut self, step: &Step<'_, 'a>) {
        let (name, yields) = (self.dialect.word(Key::Let), self.dialect.word(Key::Yield));
        let message = format!(
            "each `{yields}` adds to the list of this loop, which is one value of the loop around it"
        );
        let help = format!(
            "to add to one list, bind it before the outer loop and `push`; for a list of lists, name this loop by \
             `{name}` and `{yields}` its name"
        );
        self.report(
            Diagnostic::new(Code::NestedYield, step.place(), message)
                .expected("a name for the list, or one list", "a loop without a name")
                .help(help),
        );
    }

    /// Whether a step with a loop binds its name: not if the end of its ELSE is reachable and nothing reads
    /// the name.
    fn gives(&self, step: &Step<'_, 'a>, otherwise: Option<&Block<'a>>) -> bool {
        let used = |name: &str| self.survey.used_after(name, step.start);
        otherwise.is_none_or(|block| !block.completes())
            || step.target.is_some_and(|target| used(target.name.text))
    }
}
