//! Reads `switch`: arms with conditions, each tried if those before it are false.

use super::entries::Keyed;
use super::reader::StepReader;
use super::returns::tells_outcome;
use super::step::{Step, Tail};
use crate::ast::{Block, If, ReturnKind, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::dialect::{ARM, Key, is_outcome};
use crate::document::{Entry, Kind, Node, entries, first_of, shown};
use crate::span::Span;
use ilo_spec::error::Code;

/// The purpose of the values of the arms.
#[derive(Clone, Copy)]
struct Arms {
    tail: Tail,
    /// Whether the switch binds a name, so that a `return` in an arm is its value.
    named: bool,
}

impl<'a> StepReader<'_, 'a> {
    pub(crate) fn switch_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let Some(node) = step.get(Key::Switch) else { return };
        let Kind::List(arms) = &node.kind else {
            self.bad_shape(node, "`switch`", "a list of arms, each with `if`, the last with `default`");
            return;
        };
        let start = self.statements.len();
        let named = step.target.is_some();
        let returns = self.arms(arms, Arms { tail: if named { Tail::Value } else { tail }, named });
        if returns && tail == Tail::Yield && !named {
            self.report(
                Diagnostic::new(
                    Code::SwitchReturns,
                    step.head(),
                    "a `return` in this switch ends the function, not the pass of the loop",
                )
                .expected("a value for the pass", "a return")
                .help("refer to the switch by its name in a later step: then `return` is its value"),
            );
        }
        let Some(target) = step.target else { return };
        let bound = self.bind_target(target);
        self.bind_last(start, Some(bound));
        if matches!(tail, Tail::Value | Tail::Yield) {
            self.push_slot(bound, step.head());
        }
    }

    /// Reads the arms in order: an arm that ends the function is followed by the next; any other has the next
    /// in its `else`. Returns whether one of them ends the function with a plain `return`.
    fn arms(&mut self, mut arms: &[Node<'a>], of: Arms) -> bool {
        let mut returns = false;
        while let Some((node, rest)) = arms.split_first() {
            arms = rest;
            if !matches!(node.kind, Kind::Record(_)) {
                self.bad_shape(node, "an arm of a switch", "a record with `if` or `default`");
                continue;
            }
            let keyed = self.keyed(node, &ARM, "an arm of a switch");
            let Some(condition) = keyed.entry(Key::If) else {
                return self.last_arm(node, &keyed, rest, of) || returns;
            };
            let at = condition.key.span;
            let test = self.condition(&condition.value);
            let then = self.block(|this| {
                this.compensations(keyed.get(Key::Compensate));
                returns |= this.arm(&keyed, at, of);
            });
            if ends(&then) {
                self.push_if(If { condition: test, then, otherwise: None, span: at }, at);
                continue;
            }
            let otherwise = (!rest.is_empty())
                .then(|| self.deeper(at, |this| this.block(|this| returns |= this.arms(rest, of))))
                .flatten()
                .filter(|block| !block.statements.is_empty());
            self.push_if(If { condition: test, then, otherwise, span: at }, at);
            break;
        }
        returns
    }

    /// The arm with `default`, whose action is the value of that key or beside it.
    fn last_arm(&mut self, node: &Node<'a>, keyed: &Keyed<'_, 'a>, rest: &[Node<'a>], of: Arms) -> bool {
        let Some(default) = keyed.entry(Key::Default) else {
            let help = "write `if`, or `default` in the last one";
            self.missing(first_of(node), Key::If, "an arm of a switch", help);
            return false;
        };
        if let Some(next) = rest.first() {
            self.bad_step(
                first_of(next),
                "no arm after `default` is ever taken",
                "`default` as the last arm",
                "an arm after it",
                "put `default` last",
            );
        }
        self.default_twice(keyed, default);
        let at = default.key.span;
        match &default.value.kind {
            Kind::Null => {
                self.compensations(keyed.get(Key::Compensate));
                self.arm(keyed, at, of)
            }
            Kind::Record(_) => {
                let inner = self.keyed(&default.value, &ARM, "an arm of a switch");
                self.compensations(inner.get(Key::Compensate).or(keyed.get(Key::Compensate)));
                self.arm(&inner, at, of)
            }
            _ => self.default_value(default, of),
        }
    }

    /// Reports an action both under `default` and beside it.
    fn default_twice(&mut self, keyed: &Keyed<'_, 'a>, default: &Entry<'a>) {
        const ACTIONS: [Key; 7] =
            [Key::Return, Key::Ok, Key::Message, Key::Break, Key::Skip, Key::Then, Key::Value];
        let beside = ACTIONS.iter().find_map(|&key| keyed.entry(key));
        let Some(entry) = beside.filter(|_| !matches!(default.value.kind, Kind::Null)) else { return };
        let found = shown(&entry.key);
        let message = format!("`default` and `{found}` both give the value of the last arm");
        let help = format!(
            "write `default:` with nothing after it if `{found}` is the value, or leave `{found}` out"
        );
        self.one_of_two(entry, &message, &help);
    }

    /// A value as the default.
    fn default_value(&mut self, default: &Entry<'a>, of: Arms) -> bool {
        let value = self.returned(&default.value);
        if of.named {
            self.push(StmtKind::Value(value), default.value.span);
            return false;
        }
        let kind = match self.is_result() {
            true if tells_outcome(&default.value) => {
                self.plain_default(default);
                ReturnKind::Plain
            }
            true => ReturnKind::Ok,
            false => ReturnKind::Plain,
        };
        self.push(StmtKind::Return(kind, value), default.value.span);
        true
    }

    /// The action of an arm after its rollback calls. Returns whether it is a plain `return` of the function.
    fn arm(&mut self, keyed: &Keyed<'_, 'a>, at: Span, of: Arms) -> bool {
        if let Some(node) = keyed.get(Key::Then) {
            self.branch_steps(node, of.tail, Key::Then);
            return false;
        }
        if let Some(node) = keyed.get(Key::Value) {
            let value = self.value(node);
            self.push(StmtKind::Value(value), node.span);
            return false;
        }
        match self.leaving(keyed) {
            Some((Key::Return, entry)) if of.named && !is_result_form(entry) => {
                let value = self.value(&entry.value);
                self.push(StmtKind::Value(value), entry.value.span);
                false
            }
            Some((key, entry)) => {
                self.leave(key, entry);
                key == Key::Return && !is_result_form(entry)
            }
            None => {
                let help = format!("write `{}` or `then` beside it", self.dialect.word(Key::Return));
                self.missing(at, Key::Return, "an arm of a switch", &help);
                false
            }
        }
    }
}

/// Whether a `return` has `ok` or a failure.
fn is_result_form(entry: &Entry<'_>) -> bool {
    matches!(entries(&entry.value), [only] if only.is(is_outcome))
}

/// Whether the end of a block is unreachable, judging by its last statement.
fn ends(block: &Block<'_>) -> bool {
    let last = block.statements.last().map(|last| last.kind);
    matches!(last, Some(StmtKind::Return(..) | StmtKind::Fail(_) | StmtKind::Break | StmtKind::Skip))
}
