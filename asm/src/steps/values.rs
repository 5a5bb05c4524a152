//! Reads values as expressions: constants, texts, lists, records, operations, `match`, `merge` and calls.

use super::choices::{Cases, UnreadCase};
use super::expressions::is_logical;
use super::habits::{self, Spot};
use super::reader::{InnerLoops, Placement, StepReader, bad, literal};
use super::step::Keyed;
use super::{calls, choices, functions, references};
use crate::ast::{Call, Case, Expr, ExprKind, Field, Literal, MatchMap, Name};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::operator::{Makes, Operator};
use crate::dialect::step_forms::is_step;
use crate::dialect::{Dialect, HANDLER, Key, STEPS, begins_step, operator, other_operator};
use crate::document::{Entry, Node, NodeKind, entries, inner, shown};
use crate::expr::Tree;
use crate::foreign::Place;
use crate::notation::Notation;
use crate::span::Span;
use crate::text::shorten;
use crate::{expr, foreign};
use ilo_spec::error::Code;
use ilo_spec::pure::Pure;
use ilo_spec::types::Type;

/// The context of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValuePlace {
    /// A context in which it may be data.
    Data,
    /// The operand of a function that is the name of a field: data.
    Field,
    /// A context in which something is computed: `expr`, a condition, an operand.
    Formula,
    /// A text that is bound to a name, which is no expression.
    Bound,
    /// A quoted text in an expression. The text of the node is the one that the expression is in.
    Quoted,
}

/// How a value is read.
#[derive(Clone, Copy, Debug)]
struct ReadAs {
    /// Whether texts are infix expressions, not templates.
    infix: bool,
    /// Whether something is computed, so that a record with one key is meant as an operator.
    place: ValuePlace,
    /// Whether it is directly under a key that computes or an operand, so that every operator is one.
    computes: bool,
    /// Whether it is a condition, or what `and`, `or` and `not` join in one.
    condition: bool,
}

impl ReadAs {
    /// A value that may be data.
    const DATA: ReadAs = ReadAs { infix: false, place: ValuePlace::Data, computes: false, condition: false };
}

/// The maximum nesting of cases whose keys match a number or bool in addition to their text. Each level
/// doubles its content.
const DOUBLED: u8 = 4;

/// A value: an argument, a field, a returned value.
pub(crate) fn value<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> Expr<'a> {
    read_value(reader, node, ReadAs::DATA)
}

/// The value of `expr`, in YAML an infix expression, or a condition.
fn computed<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, condition: bool) -> Expr<'a> {
    let infix = reader.dialect.is_yaml();
    let place = if node.text().is_some() { ValuePlace::Bound } else { ValuePlace::Formula };
    read_value(reader, node, ReadAs { infix, place, computes: true, condition })
}

/// The value that a function returns: in YAML it is infix text if the output is a number or bool.
pub(crate) fn returned<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> Expr<'a> {
    let computes = reader.output.ok.ty == Type::NUMBER || reader.output.ok.ty == Type::BOOL;
    let infix = reader.dialect.is_yaml() && computes;
    given_as(reader, node, ReadAs { infix, ..ReadAs::DATA })
}

/// The value of a pass or a branch.
pub(crate) fn given<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> Expr<'a> {
    given_as(reader, node, ReadAs::DATA)
}

fn given_as<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, reading: ReadAs) -> Expr<'a> {
    let value = read_value(reader, node, reading);
    lint_name(reader, node, &value);
    value
}

/// Warns about a text that is the name of the element of a loop, or so short a name that it is no word.
fn lint_name<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, value: &Expr<'a>) {
    let is_name = |text: &str| {
        let is_element = reader.loops.iter().any(|open| open.element == Some(text));
        is_element || text.len() <= 2 && reader.has(text) && !reader.binds(text)
    };
    if node.text().is_some_and(is_name) && references::is_plain(reader, node, value) {
        references::lint(reader, |lints| {
            lints.names_without_sigil(node, true);
        });
    }
}

/// The subject of a loop, match or merge.
pub(crate) fn subject<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> Expr<'a> {
    if let Some(path) = reader.path_without_braces(node) {
        return path;
    }
    let value = value(reader, node);
    if references::is_plain(reader, node, &value) {
        // A constant makes no sense here.
        references::lint(reader, |lints| {
            lints.names_without_sigil(node, true);
        });
    }
    value
}

/// The list of a loop, or the subject of a match without a reference: a text that computes something is an
/// expression, because a constant makes no sense there.
pub(crate) fn looped<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> Expr<'a> {
    let of_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '{' | '}');
    let may_compute = node.text().is_some_and(|text| !text.chars().all(of_path));
    let (left, mut unseen) = (reader.levels_left(), Diagnostics::default());
    let tree = may_compute
        .then(|| expr::whole(node, reader.dialect.sigil(), left, reader.arena, &mut unseen))
        .flatten();
    match tree.filter(Tree::computes) {
        Some(tree) => {
            reader.deeper(node.span, |reader| reader.of_tree(node, &tree)).unwrap_or_else(|| bad(node.span))
        }
        None => subject(reader, node),
    }
}

/// A condition: a text is an expression, with or without braces.
pub(crate) fn condition<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> Expr<'a> {
    match node.kind {
        NodeKind::Text(_) => {
            let read = |reader: &mut StepReader<'a>| {
                reader.within(Placement { condition: true, ..reader.at }, |reader| reader.expression(node))
            };
            reader.deeper(node.span, read).unwrap_or_else(|| bad(node.span))
        }
        _ => computed(reader, node, true),
    }
}

fn read_value<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, reading: ReadAs) -> Expr<'a> {
    let found = reader.deeper(node.span, |reader| match &node.kind {
        NodeKind::Null => literal(Literal::Nil, node.span),
        NodeKind::Bool(value) => literal(Literal::Bool(*value), node.span),
        NodeKind::Number(number) => literal(Literal::Number(*number), node.span),
        NodeKind::Text(_) if reading.infix => reader.expression(node),
        NodeKind::Text(_) => references::text(reader, node, reading.place),
        NodeKind::List(items) => {
            if reading.condition
                && let Some(new) = meant(reader, node, reading)
            {
                return new;
            }
            references::lint(reader, |lints| lints.list(node, items, reading.place));
            let items = reader.arena.collect(items.iter().map(|item| value(reader, item)));
            Expr { kind: ExprKind::List(items), span: node.span }
        }
        NodeKind::Record(_) => record(reader, node, reading, true),
    });
    found.unwrap_or_else(|| bad(node.span))
}

/// A record: an operation, a construct, or fields; `written` says that nothing is read in its place yet.
fn record<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, reading: ReadAs, written: bool) -> Expr<'a> {
    if written
        && may_be_construct(reader, node)
        && let Some(new) = meant(reader, node, reading)
    {
        return new;
    }
    let before = reader.diagnostics.mark();
    if let [only] = entries(node)
        && let Some(found) = operation(reader, node, only, reading)
    {
        return found;
    }
    if let Some(construct) = construct(reader, node) {
        return construct;
    }
    if written
        && (reading.place == ValuePlace::Formula || is_symbol(node))
        && let Some(new) = meant(reader, node, reading)
    {
        return new;
    }
    if let Some(key) = in_place_of_operator(reader, node, reading) {
        no_operator(reader, key);
        return bad(node.span);
    }
    let reported = reader.at.reported || reader.diagnostics.has_errors_since(before);
    let suspects = reader.suspects.len();
    let at = Placement { reported, ..reader.at };
    reader.within(at, |reader| references::lint(reader, |lints| lints.record(node, reading.place)));
    let reported = reported || reader.suspects.len() > suspects;
    let at = Placement { reported, ..reader.at };
    let fields = reader.within(at, |reader| fields(reader, node));
    Expr { kind: ExprKind::Record(fields), span: node.span }
}

/// What a list or record is in the words of the notation.
fn meant<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, reading: ReadAs) -> Option<Expr<'a>> {
    let place = match reading.place {
        _ if reading.condition => Spot::Condition,
        ValuePlace::Formula => Spot::Formula,
        _ => Spot::Value,
    };
    let new = habits::value(reader, node, place)?;
    Some(match new.kind {
        NodeKind::Record(_) => record(reader, new, reading, false),
        _ => value(reader, new),
    })
}

/// The fields of a record that is certainly data.
pub(crate) fn fields<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> &'a [Field<'a>] {
    let mut fields = Vec::new();
    for entry in entries(node) {
        let value = value(reader, &entry.value);
        references::lint(reader, |lints| lints.field(entry));
        let text = match entry.key.kind {
            NodeKind::Text(text) => text.text,
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) => {
                reader.arena.alloc_str(&shown(&entry.key))
            }
            _ => continue,
        };
        fields.push(Field { name: Name { text, span: inner(&entry.key) }, value });
    }
    reader.arena.alloc_slice_copy(&fields)
}

/// A record with one key that is an operator.
fn operation<'a>(
    reader: &mut StepReader<'a>,
    node: &Node<'a>,
    entry: &'a Entry<'a>,
    reading: ReadAs,
) -> Option<Expr<'a>> {
    let name = entry.name()?;
    let operator = operator::find(name).filter(|found| reading.computes || found.is_everywhere())?;
    let operands: &[Node<'a>] = match &entry.value.kind {
        NodeKind::List(items) if operator.most() >= 2 || items.len() == 1 => items,
        _ if operator.least() == 1 => core::slice::from_ref(&entry.value),
        _ => &[],
    };
    if !operator.takes(operands.len()) && !functions::takes(operator, operands.len()) {
        reader.operand_count(entry, operator, operands.len());
        return Some(bad(node.span));
    }
    if !reader.fits(operands.len().saturating_sub(operator.most()), entry.key.span) {
        return Some(bad(node.span));
    }
    let read: Vec<Expr<'a>> = operands
        .iter()
        .enumerate()
        .map(|(at, node)| read_operand(reader, operator, at, node, reading))
        .collect();
    let makes = reader.makes(operator, &entry.key, &read);
    let span = Span::new(entry.key.span.start, entry.value.span.end);
    let listed = match (&read[..], &entry.value.kind) {
        ([only], NodeKind::List([_, _])) => functions::operands_of_list(name, only),
        _ => None,
    };
    if let Some(form) = functions::call_form(reader, name, listed.unwrap_or(&read), None, span) {
        return Some(form);
    }
    Some(reader.made(makes, &read, span).unwrap_or(bad(node.span)))
}

/// The operand with this number, from 0.
fn read_operand<'a>(
    reader: &mut StepReader<'a>,
    operator: &Operator,
    number: usize,
    node: &Node<'a>,
    of: ReadAs,
) -> Expr<'a> {
    let texts = operator.spelling == "concat" || matches!(operator.makes, Makes::Apply(_));
    let place = match texts {
        true if number == 1 && operator.takes_field() => ValuePlace::Field,
        true => ValuePlace::Data,
        false => ValuePlace::Formula,
    };
    let joins = is_logical(operator);
    let (infix, condition) = (of.infix && joins, of.condition && joins);
    let at = if joins && number > 0 { reader.sometimes() } else { reader.at };
    let reading = ReadAs { infix, place, computes: true, condition };
    let value = reader.within(at, |reader| read_value(reader, node, reading));
    reader.checked_operand(operator, number, node, value)
}

/// `{"op": "+", "a": x, "b": y}`.
fn op<'a>(reader: &mut StepReader<'a>, keyed: &Keyed<'_, 'a>, entry: &Entry<'a>) -> Expr<'a> {
    let spelling = entry.value.text().unwrap_or("");
    let operator = operator::find(spelling);
    if operator.is_none() {
        no_operator(reader, &entry.value);
    }
    let operands = [Key::A, Key::B].iter().filter_map(|&key| keyed.get(key));
    let read: Vec<Expr<'a>> = operands
        .enumerate()
        .map(|(number, operand)| match operator {
            Some(operator) => read_operand(reader, operator, number, operand, ReadAs::DATA),
            None => value(reader, operand),
        })
        .collect();
    let span = Span::new(entry.key.span.start, entry.value.span.end);
    let Some(operator) = operator else { return bad(span) };
    let makes = reader.makes(operator, &entry.value, &read);
    reader.made(makes, &read, span).unwrap_or_else(|| {
        let takes = if operator.most() == 1 { "`a` alone" } else { "`a` and `b`" };
        let wrong =
            Diagnostic::new(Code::OperandCount, entry.value.span, format!("`{spelling}` takes {takes}"));
        reader.report(wrong.expected(takes, format!("{} operands", read.len())));
        bad(span)
    })
}

/// A construct that is a value: `obj`, `merge`, `match`, `call`, `op`, `text`.
fn construct<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> Option<Expr<'a>> {
    const OF_STEPS: [Key; 4] = [Key::Let, Key::Handler, Key::Compensate, Key::Rollback];
    const VALUES: [Key; 6] = [Key::Call, Key::Match, Key::Op, Key::Merge, Key::Expr, Key::Obj];
    let list = entries(node);
    let set = list.iter().any(|entry| entry.name() == Some("set"));
    let merges = |entry: &Entry<'a>| entry.is(|name| name == "$merge" || set && name == "merge");
    let is = |entry: &Entry<'a>, key: Key| {
        reader.dialect.names(entry, &[key]) || key == Key::Merge && merges(entry)
    };
    let has = |key: Key| list.iter().any(|entry| is(entry, key));
    if reader.dialect.is_bare()
        && let [only] = list
        && only.name() == Some("text")
        && let NodeKind::Text(text) = only.value.kind
    {
        return Some(literal(Literal::Text(text.text), only.value.span));
    }
    let form = STEPS.iter().find(|form| VALUES.contains(&form.key) && has(form.key))?;
    // A data record may have such a field too: its other fields decide.
    let beside = |entry: &Entry<'a>| form.needs.iter().chain(form.takes).any(|&key| is(entry, key));
    let whole = form.needs.iter().all(|&key| has(key))
        && list.iter().all(|entry| is(entry, form.key) || beside(entry));
    let paired = match form.key {
        Key::Merge => has(Key::Set),
        Key::Call => has(Key::Args) || has(Key::Rollback),
        _ => true,
    };
    if !whole || !(paired || list.len() == 1) {
        return None;
    }
    let keyed = reader.keyed(node, &form.keys(), "a value");
    if let Some(entry) = OF_STEPS.iter().find_map(|&key| keyed.entry(key)) {
        let message = format!("`{}` belongs to a step, not to a value", shown(&entry.key));
        let help = "make it a step of its own before this one, and refer to its name here";
        reader.bad_step(entry.key.span, &message, "a value", "a step", help);
    }
    Some(construct_of(reader, form.key, &keyed))
}

/// The value of a step that is an expression.
pub(crate) fn construct_of<'a>(reader: &mut StepReader<'a>, key: Key, keyed: &Keyed<'_, 'a>) -> Expr<'a> {
    let Some(entry) = keyed.entry(key) else { return bad(keyed.span) };
    let node = &entry.value;
    let span = Span::new(entry.key.span.start, node.span.end);
    match key {
        Key::Call => Expr { kind: ExprKind::Call(call(reader, keyed)), span },
        Key::Match => Expr { kind: match_map(reader, keyed, node), span },
        Key::Op => op(reader, keyed, entry),
        Key::Merge => merge(reader, keyed, entry),
        Key::Obj => {
            if !matches!(node.kind, NodeKind::Record(_)) {
                reader.bad_shape(node, "`obj`", "a record");
            }
            Expr { kind: ExprKind::Record(fields(reader, node)), span }
        }
        Key::Expr => computed(reader, node, false),
        _ => bound_value(reader, node),
    }
}

/// The value under `value` or `push`: as a text it is no expression, but may be meant as one.
pub(crate) fn bound_value<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> Expr<'a> {
    let place = if node.text().is_some() { ValuePlace::Bound } else { ValuePlace::Data };
    read_value(reader, node, ReadAs { place, ..ReadAs::DATA })
}

/// Whether a record of data may be a construct in the words of another notation.
fn may_be_construct<'a>(reader: &StepReader<'a>, node: &Node<'a>) -> bool {
    let is = |name: &str| reader.dialect.meaning(name, &[Key::Op]).is_some();
    let list = entries(node);
    let operator = |entry: &Entry<'a>| entry.value.text().is_some_and(|text| operator::find(text).is_some());
    let is_own = || {
        reader.dialect.has(Key::Op)
            && list.iter().any(|entry| entry.name() == Some("op") && operator(entry))
            && list.iter().any(|entry| entry.name() == Some("a"))
    };
    list.iter().any(|entry| entry.is(is)) && !is_own()
}

/// The key of a record that may be meant as an operator: one with operands, in a context in which
/// something is computed, or a sign.
fn in_place_of_operator<'d, 'a>(
    reader: &StepReader<'a>,
    node: &'d Node<'a>,
    reading: ReadAs,
) -> Option<&'d Node<'a>> {
    const CONSTRUCTS: [Key; 5] = [Key::Obj, Key::Merge, Key::Call, Key::Match, Key::Value];
    let [only] = entries(node) else { return None };
    let is_other = |name: &str| {
        reader.dialect.meaning(name, &CONSTRUCTS).is_some() || is_step(name) || operator::find(name).is_some()
    };
    let computes = reading.place == ValuePlace::Formula && matches!(only.value.kind, NodeKind::List(_));
    let is_operator = only.name().is_some_and(|name| !is_other(name));
    (is_operator && (computes || is_symbol(node))).then_some(&only.key)
}

fn no_operator<'a>(reader: &mut StepReader<'a>, written: &Node<'a>) {
    let name = written.text().unwrap_or("");
    let near = other_operator::near(name.strip_prefix('$').unwrap_or(name));
    let wrong = habits::unknown_operator(written, near);
    let help = other_operator::in_place_of_record(name)
        .unwrap_or_else(|| "a record with this field is marked as one: `{\"obj\": {…}}`".to_owned());
    let is_fixed = wrong.fix.is_some();
    reader.report(if is_fixed { wrong } else { wrong.help(help) });
}

/// `match` with `cases`.
fn match_map<'a>(reader: &mut StepReader<'a>, keyed: &Keyed<'_, 'a>, node: &Node<'a>) -> ExprKind<'a> {
    // No case depends on a constant.
    let constant = node.text().is_some_and(|text| !text.contains('$'));
    let subject = if constant { looped(reader, node) } else { subject(reader, node) };
    if references::is_plain(reader, node, &subject) {
        references::lint(reader, |lints| lints.constant(node, "this matches"));
    }
    let mut cases = Cases::default();
    if let Some(default) = keyed.entry(Key::Default) {
        cases.add_default(&default.key, &default.value);
    }
    if let Some(node) = keyed.get(Key::Cases) {
        let node = habits::shaped(reader, node, habits::parts::listed_cases);
        choices::cases(reader, node, &mut cases);
    }
    let (mut list, mut default) = (Vec::new(), None);
    for UnreadCase { key, other, key_span, value } in cases.list {
        let other = other.filter(|_| may_double(reader, key_span));
        let inner = Placement { loops: InnerLoops::Refused, ..reader.in_case(other.is_some()) };
        let value = reader.within(inner, |reader| case_value(reader, (node, key.as_ref()), value));
        let keys = key.into_iter().chain(other);
        list.extend(keys.map(|key| Case { key, key_span, value }));
        if key.is_none() {
            default = Some(value);
        }
    }
    let cases = reader.arena.alloc_slice_copy(&list);
    ExprKind::MatchMap(reader.arena.alloc(MatchMap { subject, cases, default }))
}

/// Whether a key may match a number in addition to its text; too deep nesting of such cases is reported.
pub(crate) fn may_double(reader: &mut StepReader<'_>, key: Span) -> bool {
    let fits = reader.at.doubled < DOUBLED;
    if !fits {
        let message = format!("what is evaluated in two places is nested deeper than {DOUBLED} levels");
        let wrong = Diagnostic::new(Code::TooDeep, key, message)
            .expected(format!("at most {DOUBLED} levels"), format!("{} levels", DOUBLED + 1));
        let help = "bind it in a step before; cases as pairs, `[[404, value]]`, have keys that are only what they are";
        reader.report(wrong.help(help));
    }
    fits
}

/// The value of a case of a match of `subject` with a key, in which returns are not allowed.
fn case_value<'a>(
    reader: &mut StepReader<'a>,
    (subject, key): (&Node<'a>, Option<&Literal<'a>>),
    node: &Node<'a>,
) -> Expr<'a> {
    let first = if let NodeKind::List([only]) = &node.kind { only } else { node };
    let returned = |entry: &Entry<'a>| matches!(entry.name(), Some("return" | "ret" | "ok" | "err"));
    if let Some(step) = step_in_case(node, reader.dialect) {
        let found = shown(&step.key);
        let message = format!("a case is a value, and `{found}` a step");
        let help = case_as_if(reader, subject, key);
        let is_list = matches!(node.kind, NodeKind::List(items) if items.iter().any(is_condition));
        if matches!(entries(first), [only] if returned(only)) || step.name() == Some("let") || is_list {
            reader.bad_step(step.key.span, &message, "the value alone", &format!("`{found}`"), &help);
            return bad(node.span);
        }
        let warning = Diagnostic::new(Code::RecordOperation, step.key.span, message);
        reader.report(warning.help(format!("{help}; a record of data is under `obj`")));
    }
    value(reader, node)
}

/// What to write instead of the steps of a case.
fn case_as_if<'a>(reader: &StepReader<'a>, subject: &Node<'a>, key: Option<&Literal<'a>>) -> String {
    let subject = reader.source.get(subject.span.range()).map_or("x", |text| text.trim_matches('"'));
    let test = |key: &Literal<'a>| format!("{} == {}", shorten(subject), key.shown().replace('"', "'"));
    let form = match key.map(test) {
        None => "the steps under `else` of a step with `if`".to_owned(),
        Some(test) if reader.dialect.is_yaml() => format!("a step with `if: {test}` and `then`"),
        Some(test) => format!("`{{\"if\": \"{test}\", \"then\": […]}}`"),
    };
    format!("write {form}; name a value that the match gives with `let`, and use it in the next step")
}

/// `merge` with `set`, or a list of a record and of what is set in it, in order.
fn merge<'a>(reader: &mut StepReader<'a>, keyed: &Keyed<'_, 'a>, entry: &Entry<'a>) -> Expr<'a> {
    let node = &entry.value;
    let (base, sets): (&Node<'a>, &[Node<'a>]) = match (&node.kind, keyed.get(Key::Set)) {
        (NodeKind::List([base, sets @ ..]), None) => (base, sets),
        (_, set) => (node, set.map_or(&[], core::slice::from_ref)),
    };
    let merged = subject(reader, base);
    let is_record = |set: &Node<'a>| matches!(set.kind, NodeKind::Record(_));
    if sets.is_empty() || sets.len() > 1 && !sets.iter().all(is_record) {
        incomplete_merge(reader, node, entry.key.span);
        return bad(node.span);
    }
    if !reader.fits(sets.len(), entry.key.span) {
        return bad(node.span);
    }
    sets.iter().fold(merged, |base, set| with_set(reader, base, set, entry))
}

/// A record with what one part of a merge sets in it.
fn with_set<'a>(reader: &mut StepReader<'a>, base: Expr<'a>, set: &Node<'a>, of: &Entry<'a>) -> Expr<'a> {
    let span = Span::new(of.key.span.start, set.span.end.max(of.value.span.end));
    if matches!(set.kind, NodeKind::Text(_)) {
        // Fields that are not written come from another record.
        let other = subject(reader, set);
        return reader.made(Makes::Apply(Pure::Joined), &[base, other], span).unwrap_or(bad(set.span));
    }
    if !matches!(set.kind, NodeKind::Record(_)) {
        reader.bad_shape(set, "what a merge sets", "a record");
    }
    let fields = fields(reader, set);
    Expr { kind: ExprKind::Merge(reader.alloc(base), fields), span }
}

/// The call of a step or value.
pub(crate) fn call<'a>(reader: &mut StepReader<'a>, keyed: &Keyed<'_, 'a>) -> &'a Call<'a> {
    let span = keyed.place(Key::Call);
    let tool = keyed.get(Key::Call).map_or(Name { text: "", span }, |node| calls::callee(reader, node));
    let arguments = match keyed.get(Key::Args) {
        None | Some(Node { kind: NodeKind::Null, .. }) => &[],
        Some(node) => {
            let node = habits::shaped(reader, node, habits::parts::listed_arguments);
            actions_as_arguments(reader, node);
            match node.kind {
                NodeKind::Record(_) => fields(reader, node),
                // The check, which knows the names, reports it.
                _ => {
                    let name = Name { text: "", span: node.span };
                    let value = value(reader, node);
                    reader.arena.alloc_slice_copy(&[Field { name, value }])
                }
            }
        }
    };
    reader.new_call(tool, arguments, span)
}

/// Reports a handler or a rollback among the arguments, beside which it belongs.
fn actions_as_arguments<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) {
    let beside = [Key::Handler, Key::Rollback, Key::Compensate];
    let does = |it: &Entry<'a>| reader.dialect.names(it, &HANDLER) || reader.dialect.names(it, &[Key::Call]);
    // Few arguments are records, and of these few begin as the words do.
    let may = |name: &str| name.starts_with(['c', 'e', 'o', 'r', 'u']);
    let acts = |it: &&Entry<'a>| {
        !entries(&it.value).is_empty()
            && it.is(may)
            && reader.dialect.names(it, &beside)
            && entries(&it.value).iter().any(does)
    };
    let Some(entry) = entries(node).iter().find(acts) else { return };
    let (word, args) = (shown(&entry.key), reader.dialect.word(Key::Args));
    let message = format!("`{word}` is an argument here, so nothing is handled or undone");
    let help = format!("close `{args}` before `{word}`; as an argument, its record is under `obj`");
    reader.bad_step(entry.key.span, &message, &format!("`{word}` beside `{args}`"), "it among them", &help);
}

/// Reports a merge that does not have both of its parts.
pub(crate) fn incomplete_merge<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, at: Span) {
    let (word, set) = (reader.dialect.word(Key::Merge), reader.dialect.word(Key::Set));
    let form = match (word, reader.dialect.is_yaml()) {
        ("$merge", _) => format!("{{\"{word}\": [record, {{…}}]}}"),
        (_, true) => format!("{word}: record, {set}: {{…}}"),
        _ => format!("{{\"{word}\": record, \"{set}\": {{…}}}}"),
    };
    let message = "a merge is of a record and of the fields that it sets, whose names are written out";
    let wrong = Diagnostic::new(Code::BadShape, at, message).expected(format!("`{form}`"), node.kind_name());
    reader.report(wrong.help(format!("write `{form}`; of another record, its fields by name")));
}

/// Whether the only key of a record is a sign.
fn is_symbol(node: &Node<'_>) -> bool {
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | ' ' | '$');
    matches!(entries(node), [only] if only.is(|name| !name.chars().any(letter)))
}

/// The key that binds a name in some language: `{"let": "n", "value": 1}`, `{"push": 1, "to": "xs"}`.
fn binding<'d, 'a>(list: &'d [Entry<'a>]) -> Option<&'d Entry<'a>> {
    let of = |place: Place| list.iter().find(move |entry| entry.is(|name| foreign::is(place, name)));
    let named = of(Place::Binder).filter(|entry| entry.value.text().is_some());
    let holds = |entry: &&Entry<'a>| entry.is(|name| foreign::is(Place::Held, name) || begins_step(name));
    let (value, grows) = (list.iter().find(holds), of(Place::Grower));
    let to = list.iter().find(|entry| entry.name() == Some("to"));
    named.filter(|_| value.or(grows).is_some()).or(grows.filter(|_| to.is_some()))
}

/// Whether a record is a step with `if`.
fn is_condition(node: &Node<'_>) -> bool {
    let has = |word| entries(node).iter().any(|entry| entry.name() == Some(word));
    has("if") && has("then")
}

/// The word of a step in the value of a case: of a step alone, a step of a list, or a step under its name.
fn step_in_case<'d, 'a>(node: &'d Node<'a>, dialect: Dialect) -> Option<&'d Entry<'a>> {
    let is_true = |entry: &Entry<'a>| matches!(entry.value.kind, NodeKind::Bool(true));
    let leaves = |entry: &Entry<'a>| match entry.name() {
        Some("return" | "ret") => true,
        Some("ok" | "err") => dialect.notation == Notation::Mcp && matches!(node.kind, NodeKind::List(_)),
        Some("break" | "skip" | "continue") => is_true(entry),
        _ => false,
    };
    let alone = |node: &'d Node<'a>| match entries(node) {
        [only] => Some(only).filter(|only| leaves(only)),
        list => binding(list),
    };
    let acts = |node: &Node<'a>| {
        let word = |name: &str| matches!(name, "let" | "then" | "yield");
        entries(node).iter().any(|entry| leaves(entry) || entry.is(word))
    };
    match &node.kind {
        NodeKind::List(items) => {
            let condition = || items.iter().find(|it| is_condition(it)).and_then(|it| entries(it).first());
            items.iter().find_map(alone).or_else(condition)
        }
        NodeKind::Record(list) if dialect.is_yaml() && alone(node).is_none() => {
            list.iter().find(|entry| acts(&entry.value))
        }
        _ => alone(node),
    }
}
