//! Reads the cases of a `match`, which are constants and the nodes of their values, and the arms of a
//! `switch`, which have conditions: each is tried if those before it are false.

use super::reader::StepReader;
use super::step::{Aim, Keyed, Step};
use super::{binding, blocks, calls, references, values};
use crate::ast::{Block, If, Literal, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::dialect::{ARM, Key, is_outcome};
use crate::document::{Entry, Key as CaseKey, Node, NodeKind, entries, first_of, shown};
use crate::span::Span;
use crate::text::rendered_number;
use hashbrown::HashMap;
use ilo_spec::error::Code;

/// A case whose value is not read yet.
pub(crate) struct UnreadCase<'d, 'a> {
    /// The constant; `None` for the default.
    pub(crate) key: Option<Literal<'a>>,
    /// The number or bool that a JSON key matches in addition to its text.
    pub(crate) other: Option<Literal<'a>>,
    pub(crate) key_span: Span,
    pub(crate) value: &'d Node<'a>,
}

/// The cases of a `match`, in order.
#[derive(Default)]
pub(crate) struct Cases<'d, 'a> {
    pub(crate) list: Vec<UnreadCase<'d, 'a>>,
    default: Option<Span>,
    seen: HashMap<CaseKey<'a>, Span>,
    /// Whether the keys of a record in JSON are `true` and `false` alone, which match bools too.
    bools: bool,
}

impl<'d, 'a> Cases<'d, 'a> {
    /// Adds the default. Returns the existing one, if there is one.
    pub(crate) fn add_default(&mut self, key: &Node<'a>, value: &'d Node<'a>) -> Option<Span> {
        self.list.push(UnreadCase { key: None, other: None, key_span: key.span, value });
        self.default.replace(key.span)
    }
}

/// Reads the cases under a key.
pub(crate) fn cases<'d, 'a>(reader: &mut StepReader<'a>, node: &'d Node<'a>, cases: &mut Cases<'d, 'a>) {
    match &node.kind {
        NodeKind::Record(entries) => {
            let is_bool = |entry: &Entry<'a>| matches!(entry.name(), Some("true" | "false"));
            let is_default = |entry: &Entry<'a>| matches!(entry.name(), Some("default" | "_"));
            cases.bools = entries.iter().any(is_bool)
                && entries.iter().all(|entry| is_bool(entry) || is_default(entry));
            for entry in *entries {
                case(reader, &entry.key, &entry.value, true, cases);
            }
        }
        NodeKind::List(pairs) => {
            for pair in *pairs {
                match &pair.kind {
                    NodeKind::List([key, value]) => case(reader, key, value, false, cases),
                    _ => reader.bad_shape(pair, "a case", "`[key, value]`"),
                }
            }
        }
        _ => reader.bad_shape(node, "`cases`", "a record of keys and values, or a list of `[key, value]`"),
    }
}

fn case<'d, 'a>(
    reader: &mut StepReader<'a>,
    key: &'d Node<'a>,
    value: &'d Node<'a>,
    of_record: bool,
    cases: &mut Cases<'d, 'a>,
) {
    // `{"text": "default"}` is that text.
    let (key, marked) = match entries(key) {
        [only] if only.name() == Some("text") && only.value.text().is_some() => (&only.value, true),
        _ => (key, false),
    };
    let literal = match key.kind {
        NodeKind::Text(text) if !marked && matches!(text.text, "_" | "default") => {
            if let Some(before) = cases.add_default(key, value) {
                case_twice(reader, key, before, "a default");
            }
            return;
        }
        NodeKind::Text(text) => {
            references::lint(reader, |lints| lints.case(key, text.text, cases.default.is_some()));
            Literal::Text(text.text)
        }
        NodeKind::Number(number) => Literal::Number(number),
        NodeKind::Bool(value) => Literal::Bool(value),
        NodeKind::Null => Literal::Nil,
        _ => return reader.bad_shape(key, "the key of a case", "a text, number, bool or null"),
    };
    // A JSON key can only be a text.
    let other = match key.text().filter(|_| of_record && !reader.dialect.is_yaml()) {
        Some(text @ ("true" | "false")) if cases.bools => Some(Literal::Bool(text == "true")),
        text => text.and_then(rendered_number).map(Literal::Number),
    };
    let before = other.and_then(|other| cases.seen.insert(CaseKey::of_literal(other), key.span));
    match cases.seen.insert(CaseKey::of(key), key.span).or(before) {
        Some(before) => case_twice(reader, key, before, "a case with this key"),
        None => cases.list.push(UnreadCase { key: Some(literal), other, key_span: key.span, value }),
    }
}

fn case_twice<'a>(reader: &mut StepReader<'a>, key: &Node<'a>, before: Span, what: &str) {
    let wrong = Diagnostic::new(Code::DuplicateCase, key.span, format!("there is {what} already"))
        .expected(format!("{what} once"), "two")
        .related(before, "first here");
    reader.report(wrong.help("leave one of them out"));
}

pub(crate) fn switch_step<'a>(reader: &mut StepReader<'a>, step: &Step<'_, 'a>, tail: Aim) {
    let Some(node) = step.get(Key::Switch) else { return };
    let NodeKind::List(arms) = &node.kind else {
        reader.bad_shape(node, "`switch`", "a list of arms, each with `if`, the last with `default`");
        return;
    };
    let named = step.target.is_some();
    let of_arms = ArmUse { tail: if named { Aim::Value } else { tail }, named };
    let (mut block, returns) = reader.apart(|reader| read_arms(reader, arms, of_arms));
    if returns && tail == Aim::Yield && !named {
        let message = "a `return` in this switch ends the function, not the pass of the loop";
        let wrong = Diagnostic::new(Code::SwitchReturns, step.head(), message);
        let help = "refer to the switch by its name in a later step: then `return` is its value";
        reader.report(wrong.expected("a value for the pass", "a return").help(help));
    }
    let bound = step.target.map(|target| binding::bind_target(reader, target));
    if let Some(bound) = bound {
        block = calls::binding(reader, block, bound, false);
    }
    reader.statements.extend_from_slice(block.statements);
    if let Some(bound) = bound.filter(|_| matches!(tail, Aim::Value | Aim::Yield)) {
        binding::push_slot(reader, bound, step.head());
    }
}

/// Reads the arms in order: an arm that ends the function is followed by the next; any other has the next
/// in its `else`. Returns whether one of them ends the function with a plain `return`.
fn read_arms<'a>(reader: &mut StepReader<'a>, mut arms: &[Node<'a>], of: ArmUse) -> bool {
    let mut returns = false;
    while let Some((node, rest)) = arms.split_first() {
        arms = rest;
        if !matches!(node.kind, NodeKind::Record(_)) {
            reader.bad_shape(node, "an arm of a switch", "a record with `if` or `default`");
            continue;
        }
        let keyed = reader.keyed(node, &ARM, "an arm of a switch");
        let Some(condition) = keyed.entry(Key::If) else {
            return last_arm(reader, node, &keyed, rest, of) || returns;
        };
        let at = condition.key.span;
        let test = values::condition(reader, &condition.value);
        let then = reader.block(|reader| {
            calls::compensations(reader, keyed.get(Key::Compensate));
            returns |= arm(reader, &keyed, at, of);
        });
        if ends(&then) {
            reader.push_if(If { condition: test, then, otherwise: None, span: at }, at);
            continue;
        }
        let otherwise = (!rest.is_empty())
            .then(|| {
                reader.deeper(at, |reader| reader.block(|reader| returns |= read_arms(reader, rest, of)))
            })
            .flatten()
            .filter(|block| !block.statements.is_empty());
        reader.push_if(If { condition: test, then, otherwise, span: at }, at);
        break;
    }
    returns
}

/// The arm with `default`, whose action is the value of that key or beside it.
fn last_arm<'a>(
    reader: &mut StepReader<'a>,
    node: &Node<'a>,
    keyed: &Keyed<'_, 'a>,
    rest: &[Node<'a>],
    of: ArmUse,
) -> bool {
    let Some(default) = keyed.entry(Key::Default) else {
        let help = "write `if`, or `default` in the last one";
        reader.missing(first_of(node), Key::If, "an arm of a switch", help);
        return false;
    };
    if let Some(next) = rest.first() {
        let message = "no arm after `default` is ever taken";
        let found = "an arm after it";
        reader.bad_step(first_of(next), message, "`default` as the last arm", found, "put `default` last");
    }
    let beside = ACTIONS.iter().find_map(|&key| keyed.entry(key));
    if let Some(entry) = beside.filter(|_| !matches!(default.value.kind, NodeKind::Null)) {
        let found = shown(&entry.key);
        let help = format!("write `default:` with nothing after it, or leave `{found}` out");
        reader.one_of_two(default, entry, &help);
    }
    let at = default.key.span;
    match &default.value.kind {
        NodeKind::Null => {
            calls::compensations(reader, keyed.get(Key::Compensate));
            arm(reader, keyed, at, of)
        }
        NodeKind::Record(_) => {
            let inner = reader.keyed(&default.value, &ARM, "an arm of a switch");
            calls::compensations(reader, inner.get(Key::Compensate).or(keyed.get(Key::Compensate)));
            arm(reader, &inner, at, of)
        }
        _ if of.named => {
            let value = values::returned(reader, &default.value);
            reader.push(StmtKind::Value(value), default.value.span);
            false
        }
        _ => {
            binding::leave(reader, Key::Return, default);
            true
        }
    }
}

/// The action of an arm after its rollback calls. Returns whether it is a plain `return` of the function.
fn arm<'a>(reader: &mut StepReader<'a>, keyed: &Keyed<'_, 'a>, at: Span, of: ArmUse) -> bool {
    let Some((key, entry)) = reader.only_one(keyed, ACTIONS) else {
        let help = format!("write `{}` or `then` beside it", reader.dialect.word(Key::Return));
        reader.missing(at, Key::Return, "an arm of a switch", &help);
        return false;
    };
    let (way, value) = binding::way_out(reader, key, entry);
    let returns = way == Key::Return && !is_result_form(value);
    let key = if returns && of.named { Key::Value } else { key };
    act(reader, key, if returns { value } else { entry }, of.tail);
    returns && !of.named
}

/// Reads what an `if`, an arm or a handler does: steps, a value, or a way out.
pub(crate) fn act<'a>(reader: &mut StepReader<'a>, key: Key, entry: &Entry<'a>, tail: Aim) {
    match key {
        Key::Then => blocks::branch_steps(reader, &entry.value, tail, Key::Then),
        Key::Value => {
            let value = values::value(reader, &entry.value);
            reader.push(StmtKind::Value(value), entry.value.span);
        }
        _ => binding::leave(reader, key, entry),
    }
}

/// The keys with which an `if` or an arm says what it does.
pub(crate) const ACTIONS: [Key; 7] =
    [Key::Then, Key::Value, Key::Return, Key::Ok, Key::Message, Key::Break, Key::Skip];

/// The purpose of the values of the arms.
#[derive(Clone, Copy)]
struct ArmUse {
    tail: Aim,
    /// Whether the switch binds a name, so that a `return` in an arm is its value.
    named: bool,
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
