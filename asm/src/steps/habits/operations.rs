//! Habits: operations and merges in other forms, such as operators under a key, the two parts of a merge, and
//! comparisons by field.

use super::context::{EntryList, NewNodes, Rewriter, bound, get};
use crate::diagnostic::Diagnostic;
use crate::dialect::operator::{self, Operator};
use crate::dialect::step_forms::{OPERAND_PAIRS, is_step};
use crate::dialect::{Key, other_operator};
use crate::document::{Entry, Node, NodeKind, entries, rename, shown};
use crate::expr::reference::{Reference, Root, Step, bare_text};
use crate::foreign::{self, Place};
use ilo_spec::error::Code;

/// The operator and operands of forms such as `{"op": "+", "args": […]}`.
pub(super) fn by_keys<'a>(list: EntryList<'a>) -> Option<(&'static Operator, Vec<Node<'a>>)> {
    if !(2..=3).contains(&list.len()) {
        return None;
    }
    let spelling = get(list, foreign::words(Place::Operator))?.value.text()?;
    let operator = other_operator::known(spelling)?;
    let value = |name: &str| get(list, &[name]).map(|entry| entry.value);
    let operands: Vec<Node<'a>> =
        match (list.len(), get(list, foreign::words(Place::Operands)).map(|entry| entry.value)) {
            (2, Some(Node { kind: NodeKind::List(items), .. })) => items.to_vec(),
            (2, Some(only)) => vec![only],
            (3, _) => OPERAND_PAIRS.iter().find_map(|[a, b]| Some(vec![value(a)?, value(b)?]))?,
            (_, None) => OPERAND_PAIRS.iter().find_map(|[a, _]| Some(vec![value(a)?]))?,
            _ => return None,
        };
    operator.takes(operands.len()).then_some((operator, operands))
}

/// An operator of another language under `op`, or a misspelt one, which is a guess.
pub(super) fn other_word<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let op = get(list, &["op"]).filter(|_| at.dialect.has(Key::Op))?;
    let spelling = op.value.text().filter(|spelling| operator::find(spelling).is_none())?;
    get(list, &["a"])?;
    let meant = other_operator::near(spelling);
    let nothing = ("expr", Node { kind: NodeKind::Null, span: op.value.span });
    let rewrite = match meant {
        Some(meant) => at.instead(list, &["op"], vec![("op", at.word(meant.spelling))]),
        None => at.record(bound(list).into_iter().chain([nothing]).collect()),
    };
    if other_operator::meant(spelling).is_some() {
        return Some(rewrite);
    }
    let mut wrong = unknown_operator(&op.value, meant);
    if wrong.fix.is_none() {
        wrong.help = other_operator::in_place_of_record(spelling);
    }
    at.reader.report(wrong);
    Some(rewrite)
}

/// A step with its operator under a key.
pub(super) fn operation_step<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let rest = list.iter().filter(|entry| entry.name() != Some("let")).copied();
    let (value, _) = operation(at, at.arena.collect(rest))?;
    let mut step = bound(list);
    step.push(("expr", at.record(vec![value])));
    Some(at.record(step))
}

/// A value with `op`, `a` and `b`, if operators are keys in the notation.
pub(super) fn operation_value<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let (value, of_notation) = operation(at, list)?;
    of_notation.then(|| at.record(vec![value]))
}

/// An operation with its operator under a key, as a condition.
pub(super) fn keyed<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let (value, of_notation) = operation(at, list)?;
    (!of_notation).then(|| at.record(vec![value]))
}

/// `{"is_null": x}` and other questions of other languages, as conditions.
pub(super) fn asked<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let [entry] = list else { return None };
    let (operator, measures) = other_operator::question(entry.name()?)?;
    let operand = match entry.value.kind {
        NodeKind::List([only]) => only,
        _ => &entry.value,
    };
    let null = Node { kind: NodeKind::Null, span: crate::span::Span::at(entry.key.span.start) };
    let (of, with) = if measures { (at.one("len", *operand), at.integer(0)) } else { (*operand, null) };
    Some(at.one(operator, at.list(&[of, with])))
}

/// `[">", x, 1]` as a condition: an operation whose operator is its first item.
pub(super) fn listed_operation<'a>(
    at: &mut Rewriter<'_, 'a>,
    node: &Node<'a>,
    items: &'a [Node<'a>],
) -> Option<Node<'a>> {
    let [first, operands @ ..] = items else { return None };
    let written = first.text()?;
    let operator = other_operator::known(written)?;
    if !operator.takes(operands.len()) {
        return None;
    }
    let new = NewNodes { place: node.span, ..at.new };
    let kept = if let [only] = operands { *only } else { new.list(operands) };
    Some(new.one(operator.spelling, kept))
}

type Operation<'a> = ((&'a str, Node<'a>), bool);

/// The operation of a record, and whether it is a form of another notation.
fn operation<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Operation<'a>> {
    let (operator, operands) = by_keys(list)?;
    let constrained = list.iter().all(|entry| entry.is(|name| matches!(name, "op" | "a" | "b")));
    if constrained && at.dialect.has(Key::Op) {
        return None;
    }
    let operands = if let [only] = operands[..] { only } else { at.list(&operands) };
    Some(((operator.spelling, operands), constrained))
}

/// `{"n": {">": 3}}`, a comparison as in some query languages.
pub(super) fn compared<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let [outer] = list else { return None };
    let [inner] = entries(&outer.value) else { return None };
    let word = inner.name()?.trim_start_matches('$');
    let operator = other_operator::known(word)?;
    let scalar = inner.value.is_scalar();
    if operator.least() != 2 || !scalar || operator::find(outer.name()?).is_some() {
        return None;
    }
    let subject = outer.name()?.trim_start_matches(['$', '{', '.']).trim_end_matches('}');
    let found = at.reader.resolve(&bare_text(subject, outer.key.span, at.arena)?)?;
    let reference = at.arena.alloc_str(&at.dialect.own_form(&found, false));
    let operands = at.list(&[at.word(reference), inner.value]);
    Some(at.one(operator.spelling, operands))
}

/// `{"in": [x, list]}`, `{"not in": [x, list]}` and `{"contains": [list, x]}`: HAS of the list and the value.
pub(super) fn membership<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let [entry] = list else { return None };
    let asked = other_operator::membership(entry.name()?)?;
    let pair = match entry.value.kind {
        // A list of values to search for: whether all must be found is not clear.
        NodeKind::List([_, Node { kind: NodeKind::List(_), .. }]) if asked.list_first => None,
        NodeKind::List([list, item]) if asked.list_first => Some((list, item)),
        NodeKind::List([item, list]) => Some((list, item)),
        _ => None,
    };
    let Some((list, item)) = pair else {
        at.reader.report(unknown_operator(&entry.key, None).help(asked.help()));
        return Some(Node { kind: NodeKind::Null, span: at.node.span });
    };
    let has = at.one("has", at.list(&[*list, *item]));
    Some(if asked.negated { at.one("not", has) } else { has })
}

/// `{"default": [x, y]}` and `{"??": [x, y]}`: a value, or another one where it is absent or nil.
pub(super) fn defaulted<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let [entry] = list else { return None };
    let NodeKind::List([value, otherwise]) = entry.value.kind else { return None };
    let name = entry.name().filter(|name| other_operator::is_default(name))?;
    if operator::find(name).is_some() {
        return None;
    }
    let (of, key) = match field(at, value) {
        Some((record, field)) => (at.word(record), at.word(field)),
        None => (at.list(&[*value]), at.integer(0)),
    };
    Some(at.one("get", at.list(&[of, key, *otherwise])))
}

/// The record and the field of a reference to a field.
fn field<'a>(at: &mut Rewriter<'_, 'a>, node: &Node<'a>) -> Option<(&'a str, &'a str)> {
    let text = node.text().filter(|text| at.dialect.is_bare() || text.starts_with('$'))?;
    let subject = text.trim_start_matches(['$', '{', '.']).trim_end_matches('}');
    let found = at.reader.resolve(&bare_text(subject, node.span, at.arena)?)?;
    let (Step::Field(field), path) = found.path.split_last()? else { return None };
    // An input itself is not a field, and a bare name in scope would be a reference.
    if path.is_empty() && matches!(found.root, Root::Input)
        || at.dialect.is_bare() && (at.reader.has(field.text) || at.reader.has_input(field.text))
    {
        return None;
    }
    let record = at.dialect.own_form(&Reference { path, ..found }, false);
    Some((at.arena.alloc_str(&record), field.text))
}

/// A record with an unknown sign as its key, in the position of a value.
pub(super) fn sign<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | ' ' | '$');
    let [entry] = list else { return None };
    entry.name().filter(|name| !name.is_empty() && !name.chars().any(letter))?;
    defaulted(at, list).or_else(|| other_operator(at, entry))
}

/// An operator of another language with its operands, in a context in which something is
/// computed.
pub(super) fn computed<'a>(at: &mut Rewriter<'_, 'a>, list: EntryList<'a>) -> Option<Node<'a>> {
    let [entry] = list else { return None };
    if matches!(entry.value.kind, NodeKind::List(_)) { other_operator(at, entry) } else { None }
}

fn other_operator<'a>(at: &mut Rewriter<'_, 'a>, entry: &Entry<'a>) -> Option<Node<'a>> {
    let name = entry.name().filter(|name| operator::find(name).is_none() && !is_step(name))?;
    let meant = other_operator::known(name.strip_prefix('$').unwrap_or(name))?;
    Some(at.one(meant.spelling, entry.value))
}

/// The diagnostic of an unknown operator, and the one that is meant.
pub(crate) fn unknown_operator(key: &Node<'_>, meant: Option<&'static Operator>) -> Diagnostic {
    let written = shown(key);
    Diagnostic::new(Code::UnknownOperator, key.span, format!("there is no operator `{written}`"))
        .expected("an operator", format!("`{written}`"))
        .nearest(meant.map(|operator| operator.spelling))
        .fix(meant.and_then(|operator| rename(key, operator.spelling)))
}
