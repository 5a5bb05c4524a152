//! What a step does where its call fails.
//!
//! A handler covers its own call only. It becomes the ERR arm of a MATCH right behind the call; the OK arm is left out,
//! so that the value stays in the slot of the call.

use super::reader::{Reader, literal, of_slot};
use super::steps::{Item, Step, Tail};
use crate::ast::{
    Arm, Bound, Control, Expr, ExprKind, Literal, Match, Name, ReturnKind, Slot, StmtKind, Unary,
};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::dialect::{HANDLER, Key};
use crate::document::{Kind, Node};
use crate::document::{entries, first_of, shown};
use crate::span::Span;
use ilo_spec::error::Code;

/// What the name of a function of the same file begins with.
pub(crate) const SELF: &str = "mcp://self/";

/// The arm of a failure, read but not ended.
pub(crate) struct Failing {
    /// What takes the failure, and where that is said.
    pub(crate) slot: Slot,
    pub(crate) span: Span,
    /// The word that says that it is handled.
    pub(crate) at: Span,
    /// Where its statements begin.
    pub(crate) start: usize,
    /// It leaves the loop's element out.
    pub(crate) skips: bool,
}

/// What a handler does once its rollback calls have run.
enum Then<'d, 'a> {
    /// Fails with a message, or with the failure itself.
    Fail(Option<&'d Node<'a>>),
    /// Returns.
    Leave(Key, &'d crate::document::Entry<'a>),
    /// Goes on with a value.
    Value(&'d Node<'a>),
    /// Goes on with what steps give.
    Steps(&'d Node<'a>),
    /// Goes on with nil.
    Ignore,
    /// Leaves the loop's element out.
    Skip,
}

impl<'a> Reader<'_, 'a> {
    /// A step with a call; `rest` are the steps behind it in its block, which is for `of_block`.
    pub(crate) fn call_step(
        &mut self,
        step: &Step<'_, 'a>,
        rest: &[Item<'_, 'a>],
        tail: Tail,
        of_block: Tail,
    ) {
        let call = self.call(&step.keyed);
        let value = Expr { kind: ExprKind::Call(call), span: call.span };
        if !step.keyed.has(Key::Handler) && !step.keyed.has(Key::Compensate) {
            return self.finish(value, step.target, tail, step.head());
        }
        let (slot, slot_span) = match step.target {
            Some(name) => (self.bind(name), name.span),
            None => (self.hidden(None), call.span),
        };
        self.push(StmtKind::Let { slot, slot_span, value: Bound::Expr(value) }, step.head());
        let needed = step.target.is_some() || (tail.wanted() && rest.is_empty());
        let own = call.tool.text.strip_prefix(SELF).unwrap_or(call.tool.text);
        let is_tool = !self.functions.list.iter().any(|&(name, _)| name == own);
        let failing = self.failing(step, if needed { Tail::Value } else { Tail::Drop }, is_tool);
        if failing.skips {
            self.skip((slot, slot_span), &failing, step, (rest, of_block), |this| {
                if rest.is_empty() && tail.wanted() {
                    this.push_slot(slot, slot_span, step.head());
                }
                (slot, slot_span)
            });
            return;
        }
        if needed {
            self.bind_last(failing.start, slot, slot_span);
        }
        let err = Some(self.failed(&failing));
        let node = Match { slot, slot_span, err, ok: None, span: call.span };
        self.push(StmtKind::Control(Control::Match(self.arena.alloc(node))), step.head());
        if tail.wanted() && (step.target.is_none() || matches!(tail, Tail::Value | Tail::Yield)) {
            self.push_slot(slot, slot_span, step.head());
        }
    }

    /// `match` on what a call before has given: what is done with its value, and with its failure.
    pub(crate) fn result_step(
        &mut self,
        step: &Step<'_, 'a>,
        rest: &[Item<'_, 'a>],
        tail: Tail,
        of_block: Tail,
    ) {
        let Some((slot, slot_span)) = step.get(Key::Match).and_then(|node| self.result_of(node)) else {
            return;
        };
        let of_arms = if step.target.is_some() { Tail::Value } else { tail };
        let handles = step.keyed.has(Key::Handler) || step.keyed.has(Key::Compensate);
        let failing = handles.then(|| self.failing(step, of_arms, false));
        if let Some(failing) = failing.as_ref().filter(|failing| failing.skips) {
            self.skip((slot, slot_span), failing, step, (rest, of_block), |this| {
                let start = this.statements.len();
                let last = rest.is_empty() || step.target.is_some();
                let bind = this.taken((slot, slot_span), step, if last { of_arms } else { Tail::Drop });
                if let Some(name) = step.target {
                    let bound = this.bind(name);
                    this.bind_last(start, bound, name.span);
                }
                bind
            });
            return;
        }
        let err = failing.map(|failing| self.failed(&failing));
        let ok = (step.keyed.has(Key::Then) || step.keyed.has(Key::As)).then(|| {
            let mut bind = (slot, slot_span);
            let body = self.block(|this| bind = this.taken(bind, step, of_arms));
            Arm { bind: bind.0, bind_span: bind.1, body, span: step.place() }
        });
        let node = Match { slot, slot_span, err, ok, span: step.place() };
        let control = Control::Match(self.arena.alloc(node));
        self.finish_bound(Bound::Control(control), step.target, tail, step.head());
    }

    /// The slot of the call that a `match` refers to.
    fn result_of(&mut self, node: &Node<'a>) -> Option<(Slot, Span)> {
        let value = self.value(node);
        if let ExprKind::Ref(slot) = value.kind {
            return Some((slot, value.span));
        }
        let message = "a `match` without `cases` takes the result of a call apart";
        self.report(
            Diagnostic::new(Code::BadShape, first_of(node), message)
                .expected("a reference to the name of a call before", shown(node))
                .help("name the call in its step, and refer to that name"),
        );
        None
    }

    /// What is done with a call's value; gives what it is bound to, which is its own slot without `as`.
    fn taken(&mut self, own: (Slot, Span), step: &Step<'_, 'a>, tail: Tail) -> (Slot, Span) {
        let name = step.get(Key::As).and_then(|node| self.binder(node));
        let bind = name.map_or(own, |name| (self.bind(name), name.span));
        if let Some(then) = step.get(Key::Then) {
            self.branch_steps(then, tail, "then");
        }
        bind
    }

    /// Reads what a step does where its call failed, but for the end of that arm.
    fn failing(&mut self, step: &Step<'_, 'a>, tail: Tail, is_tool: bool) -> Failing {
        let handler = step.keyed.entry(Key::Handler);
        let compensate = step.keyed.entry(Key::Compensate);
        let at = handler.or(compensate).map_or(step.place(), |entry| entry.key.span);
        self.blocks += 1;
        let name = handler.and_then(|entry| self.failure_name(&entry.value));
        let (slot, span) = match name {
            Some(name) => (self.bind(name), name.span),
            None => (self.hidden(Some(self.dialect.failure())), at),
        };
        self.failures.push(slot);
        let outer = core::mem::replace(&mut self.failure_is_text, is_tool);
        let start = self.statements.len();
        let mut failing = at;
        let then = self.handling(
            handler.map(|entry| &entry.value),
            &mut failing,
            compensate.map(|entry| &entry.value),
        );
        let skips = matches!(then, Then::Skip);
        match then {
            Then::Fail(message) => self.fail(message, slot, failing),
            Then::Leave(key, entry) => self.leave(key, entry),
            Then::Value(node) => {
                let value = self.value(node);
                self.push(StmtKind::Value(value), node.span);
            }
            Then::Steps(node) => self.branch_steps(node, tail, "then"),
            Then::Ignore if tail.wanted() => self.push(StmtKind::Value(literal(Literal::Nil, at)), at),
            Then::Ignore | Then::Skip => {}
        }
        self.failures.pop();
        self.failure_is_text = outer;
        Failing { slot, span, at, start, skips }
    }

    /// The name that a handler gives to the failure.
    fn failure_name(&mut self, handler: &Node<'a>) -> Option<Name<'a>> {
        let named = entries(handler).iter().find(|entry| entry.name() == Some(self.dialect.word(Key::As)));
        named.and_then(|entry| self.binder(&entry.value))
    }

    /// Ends the arm of a failure.
    pub(crate) fn failed(&mut self, failing: &Failing) -> Arm<'a> {
        self.blocks -= 1;
        let body = self.block_since(failing.start);
        Arm { bind: failing.slot, bind_span: failing.span, body, span: failing.at }
    }

    /// Fails with a message; with the failure itself where there is none.
    fn fail(&mut self, message: Option<&Node<'a>>, failure: Slot, at: Span) {
        let failed = of_slot(failure, at);
        match message {
            Some(node) => {
                if let Kind::Text(text) = node.kind
                    && matches!(text.text, "skip" | "ignore" | "continue")
                    && self.reads_as_handler(node, text.text)
                {
                    return;
                }
                self.fail_with(node, at);
            }
            None if self.is_result() => self.push(StmtKind::Return(ReturnKind::Err, failed), at),
            None => self.push(StmtKind::Fail(failed), at),
        }
    }

    /// Says that a message reads as what a handler can do; whether that is an error, as the function cannot fail with it.
    fn reads_as_handler(&mut self, node: &Node<'a>, text: &str) -> bool {
        let word = if text == "skip" && !self.open_loops.is_empty() { "skip" } else { "ignore" };
        let form = if self.dialect.is_yaml() {
            format!("{{{word}: true}}")
        } else {
            format!("{{\"{word}\": true}}")
        };
        let (code, expected) = if self.is_result() {
            (Code::HandlerText, format!("a message, or `{form}`"))
        } else {
            (Code::BadShape, format!("`{form}`"))
        };
        let message = format!("`{text}` is the message to fail with here");
        self.report(
            Diagnostic::new(code, node.span, message)
                .expected(expected, format!("`{text}`"))
                .replace(node.span, form),
        );
        code == Code::BadShape
    }

    /// What a handler does; its rollback calls are made.
    fn handling<'d>(
        &mut self,
        node: Option<&'d Node<'a>>,
        at: &mut Span,
        compensate: Option<&'d Node<'a>>,
    ) -> Then<'d, 'a> {
        let Some(node) = node else {
            self.compensations(compensate);
            return Then::Fail(None);
        };
        let keyed = match &node.kind {
            Kind::Text(_) => {
                self.compensations(compensate);
                return Then::Fail(Some(node));
            }
            Kind::Null => {
                self.compensations(compensate);
                return Then::Ignore;
            }
            Kind::Record([only])
                if !self.dialect.has(Key::Ok)
                    && only
                        .name()
                        .is_some_and(|name| self.dialect.meaning(name, &[Key::Message]).is_some()) =>
            {
                self.compensations(compensate);
                self.wrapped(only, Key::Message);
                *at = only.key.span;
                return Then::Fail(Some(&only.value));
            }
            Kind::Record(list)
                if list.iter().any(|entry| matches!(entry.name(), Some("call" | "let" | "if" | "for"))) =>
            {
                self.compensations(compensate);
                return self.no_handler(node);
            }
            Kind::Record(_) => self.keyed(node, &HANDLER, "a handler"),
            _ => return self.no_handler(node),
        };
        self.compensations(compensate);
        self.compensations(keyed.get(Key::Compensate));
        let ways = [
            Key::Return,
            Key::Ok,
            Key::Message,
            Key::Value,
            Key::Then,
            Key::Skip,
            Key::Ignore,
            Key::Continue,
        ];
        let mut given = ways.iter().filter_map(|&key| keyed.entry(key).map(|entry| (key, entry)));
        let first = given.next();
        if let (Some((_, before)), Some((_, entry))) = (first, given.next()) {
            let (one, other) = (shown(&before.key), shown(&entry.key));
            self.bad_step(
                entry.key.span,
                &format!("a handler does one thing, not both `{one}` and `{other}`"),
                "one of them",
                "both",
                "leave one of them out",
            );
        }
        match first {
            None if keyed.has(Key::Compensate) || keyed.has(Key::As) || entries(node).is_empty() => {
                Then::Fail(None)
            }
            None => Then::Ignore,
            Some((Key::Value, entry)) => Then::Value(&entry.value),
            Some((Key::Then, entry)) => Then::Steps(&entry.value),
            Some((key @ (Key::Skip | Key::Ignore | Key::Continue), entry)) => {
                self.passing(key, &entry.value, entry.key.span)
            }
            Some((Key::Message, entry)) => {
                *at = entry.key.span;
                Then::Fail(Some(&entry.value))
            }
            Some((key, entry)) => Then::Leave(key, entry),
        }
    }

    /// Reports a handler that is none; steps are read as what it does.
    fn no_handler<'d>(&mut self, node: &'d Node<'a>) -> Then<'d, 'a> {
        let message = format!("`{}` is a record that says what to do", self.dialect.word(Key::Handler));
        let expected = format!("a record with one of {}", self.dialect.listed(&HANDLER));
        let wrong =
            Diagnostic::new(Code::BadShape, first_of(node), message).expected(expected, node.kind_name());
        let texts = matches!(node.kind, Kind::List(items) if items.iter().all(|item| !matches!(item.kind, Kind::Record(_))));
        if texts {
            self.report(wrong.help(format!(
                "a message is one text, with the failure in it: `\"failed: ${{{}}}\"`",
                self.dialect.failure()
            )));
            return Then::Ignore;
        }
        let steps = matches!(node.kind, Kind::List(_) | Kind::Record(_));
        self.report(if steps && !self.dialect.is_yaml() {
            let edit = |at, text: &str| Edit { span: Span::at(at), text: text.to_owned() };
            let list = matches!(node.kind, Kind::List(_));
            let (open, close) = if list { ("{\"then\": ", "}") } else { ("{\"then\": [", "]}") };
            let edits = vec![edit(node.span.start, open), edit(node.span.end, close)];
            wrong.fix(Fix { title: "write `{\"then\": […]}`".to_owned(), edits })
        } else {
            wrong.help("steps that run when the call fails stand under `then` in it")
        });
        if steps { Then::Steps(node) } else { Then::Ignore }
    }

    /// `skip`, `ignore` and `continue`, each with `true`.
    fn passing<'d>(&mut self, key: Key, node: &'d Node<'a>, place: Span) -> Then<'d, 'a> {
        if !matches!(node.kind, Kind::Bool(true)) {
            let word = self.dialect.word(key);
            self.bad_shape(node, &format!("`{word}`"), "`true`");
        }
        let in_loop = !self.open_loops.is_empty();
        match key {
            Key::Skip if in_loop => Then::Skip,
            Key::Skip => {
                self.bad_step(
                    place,
                    "`skip` leaves an element of a loop out, and stands only in one",
                    "`skip` in a loop",
                    "it outside",
                    "`ignore` binds nil and goes on",
                );
                Then::Ignore
            }
            Key::Continue if in_loop => {
                self.report(
                    Diagnostic::new(
                        Code::ContinueInLoop,
                        place,
                        "`continue` in a loop could mean two things",
                    )
                    .expected("`skip` or `ignore`", "`continue`")
                    .help("write `skip` to leave this element out, `ignore` to bind nil and go on with it"),
                );
                Then::Ignore
            }
            _ => Then::Ignore,
        }
    }

    pub(crate) fn not(&self, operand: Expr<'a>, span: Span) -> Expr<'a> {
        Expr { kind: ExprKind::Unary(Unary::Not, self.alloc(operand)), span }
    }
}
