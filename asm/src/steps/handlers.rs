//! Reads handlers: what a step does if its call fails, as the ERR arm.

use super::entries::Keyed;
use super::reader::{StepReader, literal, of_slot};
use super::step::{Step, Tail};
use crate::ast::{Arm, Literal, ReturnKind, Slot, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::dialect::{HANDLER, Key};
use crate::document::{Entry, Kind, Node, entries, first_of, shown};
use crate::span::Span;
use ilo_spec::error::Code;

/// How the failure of a call is handled.
#[derive(Clone, Copy)]
pub(crate) struct HandledBy {
    /// The purpose of the value of the arm.
    pub(crate) tail: Tail,
    /// Whether the failure is a text, like that of a tool.
    pub(crate) is_text: bool,
    /// The slot to which the value of the arm is bound.
    pub(crate) bind: Option<(Slot, Span)>,
}

/// The action of a handler after its rollback calls.
#[derive(Clone, Copy)]
enum Action<'d, 'a> {
    /// Fails with a message, or with the failure itself; has the span of its key.
    Fail(Option<&'d Node<'a>>, Span),
    /// Returns, or ends a loop.
    Leave(Key, &'d Entry<'a>),
    /// Continues with a value.
    Value(&'d Node<'a>),
    /// Continues with the value of steps.
    Steps(&'d Node<'a>),
    /// Continues with nil.
    Ignore,
}

impl<'a> StepReader<'_, 'a> {
    /// The arm for a failure.
    pub(crate) fn failure_arm(&mut self, step: &Step<'_, 'a>, by: HandledBy) -> Arm<'a> {
        let handler = step.keyed.entry(Key::Handler);
        let compensate = step.keyed.entry(Key::Compensate);
        let at = handler.or(compensate).map_or(step.place(), |entry| entry.key.span);
        let handler = handler.map(|entry| &entry.value);
        let mut bind = (Slot(0), at);
        let of_try = step.form.key == Key::Try;
        let body = self.block(|this| {
            let as_word = this.dialect.word(Key::As);
            let named =
                handler.and_then(|node| entries(node).iter().find(|entry| entry.name() == Some(as_word)));
            bind = match named.and_then(|entry| this.written_name(&entry.value)) {
                Some(name) => (this.bind(name), name.span),
                None => (this.hidden(Some(this.dialect.failure())), at),
            };
            let start = this.statements.len();
            let inner = this.in_handler(bind.0, by.is_text);
            this.within(inner, |this| {
                let steps = handler.filter(|node| of_try && matches!(node.kind, Kind::List(_)));
                let action = match steps {
                    Some(node) => Action::Steps(node),
                    None => this.action(handler, at, compensate.map(|entry| &entry.value)),
                };
                this.act(action, bind.0, by.tail, at);
            });
            this.bind_last(start, by.bind);
        });
        Arm { bind: bind.0, bind_span: bind.1, body, span: at }
    }

    /// Reads a handler.
    fn act(&mut self, action: Action<'_, 'a>, failure: Slot, tail: Tail, at: Span) {
        match action {
            Action::Fail(message, at) => self.fail(message, failure, at),
            Action::Leave(key, entry) => {
                if key == Key::Message {
                    self.lint(|lints| lints.message(&entry.value));
                }
                self.leave(key, entry);
            }
            Action::Value(node) => {
                let value = self.value(node);
                self.push(StmtKind::Value(value), node.span);
            }
            Action::Steps(node) => self.branch_steps(node, tail, Key::Then),
            Action::Ignore if tail.wanted() => self.push(StmtKind::Value(literal(Literal::Nil, at)), at),
            Action::Ignore => {}
        }
    }

    /// Fails with a message; without one, with the failure itself.
    fn fail(&mut self, message: Option<&Node<'a>>, failure: Slot, at: Span) {
        let failed = of_slot(failure, at);
        match message {
            Some(node) => {
                self.lint(|lints| lints.message(node));
                self.fail_here(node, at);
            }
            None if self.is_result() && !self.at.in_try => {
                self.push(StmtKind::Return(ReturnKind::Err, failed), at);
            }
            None => self.push(StmtKind::Fail(failed), at),
        }
    }

    /// Reads a handler and its rollback calls. Returns its action.
    fn action<'d>(
        &mut self,
        handler: Option<&'d Node<'a>>,
        at: Span,
        compensate: Option<&'d Node<'a>>,
    ) -> Action<'d, 'a> {
        self.compensations(compensate);
        let Some(node) = handler else { return Action::Fail(None, at) };
        let node = self.shaped(Key::Handler, node, !matches!(node.kind, Kind::Null));
        match &node.kind {
            Kind::Text(_) => Action::Fail(Some(node), at),
            Kind::Null => Action::Ignore,
            Kind::Record(list) => {
                let keyed = self.keyed(node, &HANDLER, "a handler");
                self.compensations(keyed.get(Key::Compensate));
                self.action_of(&keyed, list.is_empty(), at)
            }
            _ => {
                self.no_handler(node);
                Action::Ignore
            }
        }
    }

    /// The only action of a record.
    fn action_of<'d>(&mut self, keyed: &Keyed<'d, 'a>, is_empty: bool, at: Span) -> Action<'d, 'a> {
        let actions = HANDLER.into_iter().filter(|key| !matches!(key, Key::As | Key::Compensate));
        let mut given = actions.filter_map(|key| keyed.entry(key).map(|entry| (key, entry)));
        let first = given.next();
        if let (Some((_, before)), Some((_, entry))) = (first, given.next()) {
            let (one, other) = (shown(&before.key), shown(&entry.key));
            let message = format!("a handler does one thing, not both `{one}` and `{other}`");
            self.one_of_two(entry, &message, "leave one of them out");
        }
        match first {
            None if keyed.has(Key::Compensate) || keyed.has(Key::As) || is_empty => Action::Fail(None, at),
            None => Action::Ignore,
            Some((Key::Fail, entry)) => Action::Fail(Some(&entry.value), entry.key.span),
            Some((Key::Value, entry)) => Action::Value(&entry.value),
            Some((Key::Then, entry)) => Action::Steps(&entry.value),
            Some((key @ (Key::Ignore | Key::Continue), entry)) => self.passing(key, entry),
            Some((key, entry)) => Action::Leave(key, entry),
        }
    }

    /// Reports a value that is not a handler.
    fn no_handler(&mut self, node: &Node<'a>) {
        let message = format!("`{}` takes a record with one action", self.dialect.word(Key::Handler));
        let expected = format!("a record with one of {}", self.dialect.listed(&HANDLER));
        let failure = self.dialect.failure();
        let help = match node.kind {
            Kind::List([]) => "a handler that does nothing is `{\"ignore\": true}`".to_owned(),
            _ => format!("a message is one text, with the failure in it: `\"failed: ${{{failure}}}\"`"),
        };
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), message);
        self.report(wrong.expected(expected, node.kind_name()).help(help));
    }

    /// `ignore` and `continue`, each with `true`.
    fn passing<'d>(&mut self, key: Key, entry: &'d Entry<'a>) -> Action<'d, 'a> {
        self.expect_true(key, entry);
        let place = entry.key.span;
        if key == Key::Continue && self.in_loop() {
            self.report(
                Diagnostic::new(Code::ContinueInLoop, place, "`continue` in a loop could mean two things")
                    .expected("`skip` or `ignore`", "`continue`")
                    .help(
                        "write `skip` to leave this element out, `ignore` to bind nil and continue with it",
                    ),
            );
        }
        Action::Ignore
    }
}
