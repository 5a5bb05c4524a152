//! Reads the steps of a block: finds the kind of each, reports records that are no step or several in one,
//! and dispatches each kind to its reader. The content of `then`, `else` and the body of a loop is such a
//! block, or a value if one is needed.

use super::calls::in_parentheses;
use super::habits;
use super::reader::{InnerLoops, Placement, StepReader, wrong_shape};
use super::step::{Aim, BoundName, Keyed, RawStep, Step};
use super::{binding, calls, choices, references, values};
use crate::ast::{Binary, Block, Bound, Expr, ExprKind, StmtKind};
use crate::diagnostic::{Diagnostic, Fix};
use crate::dialect::document_names::names_bound_in;
use crate::dialect::{
    Form, Key, STEP_KEYS, STEPS, begins_step, changes, copies_itself, is_operation, is_plain,
    is_record_value, is_value_step, kind_of, lists_steps, names_steps, operator, second_form,
};
use crate::document::{Entry, Node, NodeKind, entries, first_of, shown};
use crate::foreign;
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::error::Code;

/// The kind of step that a record is, and its keys.
pub(crate) fn kind_of_step<'d, 'a>(
    reader: &mut StepReader<'a>,
    item: &RawStep<'d, 'a>,
    tail: Aim,
) -> Option<(&'static Form, Keyed<'d, 'a>)> {
    let own = own_kind(reader, item.node);
    if let Some(form) = own {
        let read = reader.known(item.node, &form.keys());
        if read.unknown.is_empty() && read.repeated.is_empty() && !is_odd(form, &read.found) {
            return Some((form, read.found));
        }
    }
    let wanted = takes_value(reader, tail);
    let last = item.name.is_some() && tail == Aim::Value;
    let (new, meant) = habits::step(reader, item, own, (wanted, last));
    let item = match new {
        None => item,
        Some(Node { kind: NodeKind::List(steps), .. }) => {
            several(reader, item, steps, tail);
            return None;
        }
        Some(node) => &RawStep { node, ..*item },
    };
    let wanted = wanted && (item.name.is_some() || !reader.dialect.is_yaml());
    let form = meant.or_else(|| own_kind(reader, item.node));
    let is_value = form.is_none() && habits::is_value(reader.dialect, entries(item.node), wanted);
    let form = match form {
        Some(form) => form,
        None if sets_name(reader, entries(item.node), is_value) => return None,
        None if is_value => {
            references::lint(reader, |lints| lints.yields(item.node));
            let value = values::value(reader, item.node);
            let target = binding::step_name(reader, item);
            binding::finish(
                reader,
                Bound::Expr(value),
                target,
                tail,
                Span::new(item.start(), item.node.span.end),
            );
            return None;
        }
        None => misspelt_step(reader, item)?,
    };
    let mut keys = form.keys();
    second_step(reader, item, form, &mut keys);
    let what = format!("a step with `{}`", reader.dialect.word(form.key));
    Some((form, reader.keyed(item.node, &keys, &what)))
}

/// The kind of step that a record is by the notation's own words.
fn own_kind<'a>(reader: &StepReader<'a>, node: &Node<'a>) -> Option<&'static Form> {
    kind_of(entries(node), |entry, keys| reader.dialect.names(entry, keys))
}

/// Reads the steps that a record means; if there are none, what it would have bound is lost.
fn several<'a>(reader: &mut StepReader<'a>, item: &RawStep<'_, 'a>, meant: &'a [Node<'a>], tail: Aim) {
    if meant.is_empty() {
        item.name.and_then(Node::text).into_iter().for_each(|name| reader.scope.lose(name));
        for naming in core::iter::successors(reader.at.naming, |naming| naming.outer) {
            reader.scope.lose(naming.name);
        }
    }
    // Each step is under the name that it binds.
    let named =
        |step: &'a Node<'a>| item.name.map(|name| entries(step).first().map_or(*name, |entry| entry.value));
    let names: Vec<Option<Node<'a>>> = meant.iter().map(named).collect();
    let items: Vec<RawStep<'_, 'a>> =
        meant.iter().zip(&names).map(|(node, name)| RawStep { name: name.as_ref(), node }).collect();
    steps(reader, &items, tail);
}

/// Reports a record that is two steps in one; the keys of the second one are then known too.
fn second_step<'a>(reader: &mut StepReader<'a>, item: &RawStep<'_, 'a>, form: &Form, keys: &mut Vec<Key>) {
    let found = second_form(entries(item.node), keys, |entry, keys| reader.dialect.means(entry, keys));
    let Some((entry, other)) = found else { return };
    let (one, two) = (reader.dialect.word(form.key), shown(&entry.key));
    let message = format!("one step does one thing, not both `{one}` and `{two}`");
    let help = "make two steps of it, one after the other";
    reader.bad_step(entry.key.span, &message, "a step for each", "both in one", help);
    keys.extend(other.keys());
}

/// Whether the value of a step goes somewhere, so that a record may be one.
pub(super) fn takes_value(reader: &StepReader<'_>, tail: Aim) -> bool {
    match tail {
        Aim::Drop | Aim::Unnamed => false,
        Aim::Value => true,
        Aim::Yield => reader.loops.last().is_none_or(|open| open.gives),
    }
}

/// Reports a record that is not a step. Returns the kind of step that was probably meant.
fn misspelt_step<'a>(reader: &mut StepReader<'a>, item: &RawStep<'_, 'a>) -> Option<&'static Form> {
    let list = entries(item.node);
    if let Some(name) = item.name.and_then(Node::text) {
        reader.scope.lose(name);
    }
    // References to what is bound in it are not reported.
    names_bound_in(item.node, |name| reader.scope.lose(name));
    if list.iter().any(|entry| entry.name() == Some("<<")) {
        // Reported by the reader of YAML.
        return None;
    }
    let mut near = list.iter().filter(|entry| entry.name() != Some("let"));
    if let Some(key) = near.find_map(|entry| reader.dialect.nearest(entry.name()?, &STEP_KEYS)) {
        return Form::of(key);
    }
    let part = list.iter().find_map(|entry| {
        // A named record, if nothing else makes it an operation.
        let name = entry.name().filter(|name| !(list.len() == 1 && matches!(*name, "a" | "b")))?;
        STEPS.iter().find(|form| {
            let beside = form.needs.iter().chain(form.takes).filter(|&&key| key != Key::Let);
            beside.copied().any(|key| reader.dialect.key(name, &[key]).is_some())
        })
    });
    match part {
        Some(form) => reader.missing(first_of(item.node), form.key, "this step", reader.dialect.step_form()),
        None => no_step(reader, item.node),
    }
    None
}

/// Reports a record whose key is the variable to change; a value only if it is worked out of that.
fn sets_name<'a>(reader: &mut StepReader<'a>, list: &[Entry<'a>], is_value: bool) -> bool {
    let [only] = list else { return false };
    let Some(name) = only.name().filter(|name| reader.scope.find(name).is_some()) else { return false };
    let outer =
        reader.loops.first().zip(reader.survey.first_binding(name)).is_some_and(|(of, at)| at < of.start);
    let changes = only.value.text().is_some_and(|text| text.contains(name)) && !copies_itself(only);
    if is_value && !(outer && changes) {
        return false;
    }
    let found = format!("`{name}`");
    let help = format!("write `let` with {found}, and `expr` with the value; data is under `obj`");
    reader.bad_step(only.key.span, "this record does not change a name", "a step", &found, &help);
    true
}

fn no_step<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) {
    let list = entries(node);
    let first = list.first();
    let found = first.map_or("an empty record".to_owned(), |entry| format!("`{}`", shown(&entry.key)));
    let place = first.map_or(first_of(node), |entry| entry.key.span);
    let help = if list.iter().any(|entry| entry.name() == Some("let")) {
        "write `call`, `expr` or another step's word beside `let`"
    } else if reader.dialect.is_yaml() {
        "a call is `call:` with the name of the tool, and `args:`; a record that is a value is under `obj:`"
    } else {
        "a call is `{\"call\": tool, \"args\": {…}}`; a record that is a value is written `{\"obj\": {…}}`"
    };
    let expected = format!("a record with {}", reader.dialect.step_words());
    reader.bad_step(place, "this record is not a step", &expected, &found, help);
}

/// The block under `key`.
pub(crate) fn branch<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, tail: Aim, key: Key) -> Block<'a> {
    reader.block(|reader| branch_steps(reader, node, tail, key))
}

/// The block under `key` beside `let` with `if`: the place of a value.
pub(crate) fn choice<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, key: Key) -> Block<'a> {
    let is_list =
        matches!(node.kind, NodeKind::List(items) if items.iter().all(is_value_step) && !items.is_empty());
    let steps = match node.kind {
        NodeKind::List(items) => lists_steps(items),
        NodeKind::Record(_) if reader.dialect.is_yaml() && names_steps(node) => !is_record_value(node, true),
        _ => !is_value_step(node),
    };
    if steps {
        return branch(reader, node, Aim::Value, key);
    }
    if is_list || is_value_step(node) {
        value_as_record(reader, node);
    }
    reader.block(|reader| value_branch(reader, node))
}

/// Warns about `{value: V}` alone in the place of a value.
fn value_as_record<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) {
    let only = if let NodeKind::List([only]) = node.kind { only } else { node };
    let [entry] = entries(only) else { return };
    let text = reader.source.get(entry.value.span.range()).filter(|_| entry.value.is_scalar());
    let message = "beside `let` with `if` this is a record with the field `value`";
    let wrong = Diagnostic::new(Code::ValueRecord, entry.key.span, message);
    let fix = text.map(|text| Fix::write(text, node.span, text));
    reader.report(wrong.fix(fix).help("write the value alone, or `obj` around a record with this field"));
}

/// Reads the block under `key` into the current one.
pub(crate) fn branch_steps<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, tail: Aim, key: Key) {
    let mut node = node;
    if !reader.loops.is_empty() && node.text().is_some() {
        let item = RawStep { name: None, node };
        node = habits::step(reader, &item, None, (tail.wanted(), false)).0.unwrap_or(node);
    }
    reader.scope.open_block();
    steps_or_value(reader, node, tail, key);
    reader.scope.close_block();
}

fn steps_or_value<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, tail: Aim, key: Key) {
    let yaml = reader.dialect.is_yaml();
    match &node.kind {
        NodeKind::List(items) => steps(reader, &RawStep::listed(items), tail),
        NodeKind::Record(list) if yaml && names_steps(node) => {
            let is_value = match tail {
                Aim::Value => {
                    let named = |entry: &Entry<'a>| matches!(entry.value.kind, NodeKind::Record(_));
                    is_record_value(node, false) && !list.iter().all(named)
                }
                Aim::Yield => {
                    is_copy(list) || list.len() > 1 && list.iter().all(|entry| is_field(reader, entry))
                }
                _ => false,
            };
            if is_value {
                return value_branch(reader, node);
            }
            let items = RawStep::named(list);
            if tail == Aim::Yield {
                lost_values(reader, &items);
            }
            steps(reader, &items, tail);
        }
        NodeKind::Record(_) => steps(reader, &[RawStep { name: None, node }], tail),
        _ if tail.wanted() => value_branch(reader, node),
        _ => no_steps(reader, node, key),
    }
}

#[inline(never)]
fn no_steps<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, key: Key) {
    let wrong = wrong_shape(node, &format!("`{}`", reader.dialect.word(key)), "a list of steps");
    reader.report(wrong.help("a step that fails has `raise`; a branch without steps is left out"));
}

fn value_branch<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) {
    let value = values::given(reader, node);
    reader.push(StmtKind::Value(value), node.span);
}

/// Whether an entry is a field of the value that a loop yields: a step is not a value under an unused
/// name.
fn is_field<'a>(reader: &StepReader<'a>, entry: &Entry<'a>) -> bool {
    let is_free = |name: &str| is_plain(&entry.value) || reader.scope.find(name).is_none();
    entry.is(|name| !begins_step(name) && is_free(name)) && is_data(&entry.value)
}

/// Warns about several named values in an iteration of a loop, of which only the last is yielded.
fn lost_values<'a>(reader: &mut StepReader<'a>, items: &[RawStep<'_, 'a>]) {
    let Some((last, before)) = items.split_last() else { return };
    let from = reader.loops.first().map_or(0, |open| open.start);
    let is_lost = |item: &&RawStep<'_, 'a>| {
        let unread = |name: &str| reader.scope.find(name).is_none() && !reader.survey.used_after(name, from);
        gives_only(reader, item) && item.name.and_then(Node::text).is_some_and(unread)
    };
    let lost: Vec<&RawStep<'_, 'a>> = before.iter().filter(is_lost).collect();
    let Some(first) = lost.first().copied().filter(|_| gives_only(reader, last)) else { return };
    let fields: Vec<String> = lost
        .iter()
        .chain([&last])
        .filter_map(|item| item.name.and_then(Node::text))
        .map(|name| format!("{name}: ${{{name}}}"))
        .collect();
    let name = first.name.unwrap_or(first.node);
    let message = format!("nothing reads `{}`, and what a pass yields is its last step alone", shown(name));
    let help = format!(
        "to yield a record of them, add a last step with `{}:`, and below it `{}`",
        reader.dialect.word(Key::Obj),
        fields.join("`, `")
    );
    reader.report(Diagnostic::new(Code::LostValue, name.span, message).help(help));
}

/// Whether a step is only a value.
fn gives_only<'a>(reader: &StepReader<'a>, item: &RawStep<'_, 'a>) -> bool {
    const VALUES: [Key; 6] = [Key::Expr, Key::Obj, Key::Value, Key::Op, Key::Merge, Key::Cases];
    let list = entries(item.node);
    let makes_value = |name: &str| reader.dialect.key(name, &VALUES).is_some() || operator::is(name);
    let changed = |entry: &Entry<'a>| entry.value.text().is_some_and(habits::may_change);
    let binds = list.iter().any(|entry| entry.is(|name| name == "let" || changes(name)) || changed(entry));
    !binds && (is_data(item.node) || list.iter().any(|entry| entry.is(makes_value)))
}

/// Reads steps in order into the current block; `tail` is the purpose of the value of the last one.
#[inline(never)]
pub(crate) fn steps<'a>(reader: &mut StepReader<'a>, items: &[RawStep<'_, 'a>], tail: Aim) {
    for (place, item) in items.iter().enumerate() {
        let of_step = if place + 1 == items.len() { tail } else { Aim::Drop };
        if !step(reader, item, of_step) {
            return;
        }
    }
}

/// Reads a step; `false` if it is nested too deep.
fn step<'a>(reader: &mut StepReader<'a>, item: &RawStep<'_, 'a>, tail: Aim) -> bool {
    let found = reader.deeper(item.node.span, |reader| {
        if reader.at.blocks == 1 {
            reader.at.step_end = item.node.span.end;
        }
        match item.node.kind {
            NodeKind::Record(_) => record_step(reader, item, tail),
            _ => plain_step(reader, item, tail),
        }
    });
    found.is_some()
}

/// A step that is not a record: a value, if one is needed.
fn plain_step<'a>(reader: &mut StepReader<'a>, item: &RawStep<'_, 'a>, tail: Aim) {
    if (!reader.loops.is_empty() || matches!(item.node.kind, NodeKind::Bool(_)))
        && let Some(node) = habits::step(reader, item, None, (tail.wanted(), false)).0
    {
        return record_step(reader, &RawStep { node, ..*item }, tail);
    }
    let text = item.node.text().unwrap_or("");
    let is_call = in_parentheses(text).is_some();
    let is_lost = tail == Aim::Drop || tail == Aim::Yield && !takes_value(reader, tail);
    if is_call && text.contains(['=', '$']) || item.name.is_none() && (is_call || is_lost) {
        let found = item.node.kind_name();
        let message = format!("a step is a record, but this is {found}");
        let expected = format!("a record with {}", reader.dialect.step_words());
        let help = reader.dialect.step_form();
        return reader.bad_step(first_of(item.node), &message, &expected, found, help);
    }
    let value = values::value(reader, item.node);
    let target = binding::step_name(reader, item);
    if target.is_none() && !tail.wanted() {
        does_nothing(reader, item.node, &value, reader.dialect.step_form());
    }
    binding::finish(reader, Bound::Expr(value), target, tail, Span::new(item.start(), item.node.span.end));
}

/// Warns about a step that is only a value, which nothing reads.
pub(super) fn does_nothing<'a>(
    reader: &mut StepReader<'a>,
    node: &Node<'a>,
    value: &Expr<'a>,
    help: &'static str,
) {
    // The check says how what appends to a list or changes a record is bound again.
    let changes =
        matches!(value.kind, ExprKind::Merge(..) | ExprKind::Binary(Binary::Append, ..) | ExprKind::Apply(_));
    if changes || value.calls() || value.attempt().is_some() || value.is_bad() {
        return;
    }
    let wrong = Diagnostic::new(Code::UnusedValue, node.span, "this step does nothing: it is a value")
        .expected("a value that a later step reads, or a step", node.kind_name());
    reader.report(wrong.help(help));
}

fn record_step<'a>(reader: &mut StepReader<'a>, item: &RawStep<'_, 'a>, tail: Aim) {
    let before = reader.diagnostics.mark();
    let Some((form, keyed)) = kind_of_step(reader, item, tail) else { return };
    let faulty = reader.diagnostics.has_errors_since(before);
    let names = [item.name.and_then(Node::text), keyed.get(Key::Let).and_then(Node::text)];
    if let [Some(over), Some(own)] = names
        && over != own
    {
        reader.scope.rename(over, own);
    }
    let mut inner: Placement<'a> = up_to_handlers(reader.in_step(names), &keyed);
    if keyed.has(Key::Handler) || keyed.has(Key::Compensate) {
        inner.loops = InnerLoops::Infallible;
    }
    reader.within(inner, |reader| {
        let path = keyed.get(Key::Let).and_then(|node| binding::let_path(reader, node, item)).map(Box::new);
        let path_name = path.as_ref().map(|path| BoundName { name: path.name, own: false });
        let target = path_name.or_else(|| binding::target(reader, item, &keyed));
        let step = Step { form, keyed, target, start: item.start(), faulty };
        for &key in form.needs {
            if !(keyed.has(key) || faulty) {
                let what = format!("a step with `{}`", reader.dialect.word(form.key));
                reader.missing(step.place(), key, &what, needed(key));
            }
        }
        read_step(reader, &step, tail);
        if let Some(path) = path {
            binding::set_part(reader, &path, form.key == Key::Push, step.head());
        }
    });
}

/// A position whose step ends before what handles its failure or undoes it: this is read after the step
/// has bound its name.
#[inline(never)]
fn up_to_handlers<'a>(at: Placement<'a>, keyed: &Keyed<'_, 'a>) -> Placement<'a> {
    let after = [Key::Handler, Key::Rollback, Key::Compensate].into_iter();
    let after = after.filter_map(|key| keyed.entry(key)).map(|entry| entry.key.span.start).min();
    let end = after.filter(|_| at.blocks == 1).unwrap_or(u32::MAX);
    Placement { step_end: at.step_end.min(end), ..at }
}

fn read_step<'a>(reader: &mut StepReader<'a>, step: &Step<'_, 'a>, tail: Aim) {
    match step.form.key {
        Key::Call | Key::Expr | Key::Op => calls::value_step(reader, step, tail),
        Key::Match if step.form.needs.is_empty() => calls::result_step(reader, step, tail),
        Key::If => reader.if_step(step, tail),
        Key::Assert => reader.assert_step(step),
        Key::For => reader.for_step(step, tail),
        Key::Try => calls::try_step(reader, step, tail),
        Key::While | Key::Until => reader.while_step(step),
        Key::Push => binding::push_step(reader, step),
        Key::Switch => choices::switch_step(reader, step, tail),
        key @ (Key::Return | Key::Ok | Key::Err | Key::Break | Key::Skip) => {
            calls::compensations(reader, step.get(Key::Compensate));
            if let Some(entry) = step.keyed.entry(key) {
                binding::leave(reader, key, entry);
            }
        }
        Key::Yield => statement_step(reader, step, StmtKind::Yield),
        Key::Compensate => calls::compensations(reader, step.get(Key::Compensate)),
        Key::Rollback => calls::rollbacks(reader, step.get(Key::Rollback)),
        Key::Fail => {
            calls::compensations(reader, step.get(Key::Compensate));
            statement_step(reader, step, StmtKind::Fail);
        }
        key => {
            let value = values::construct_of(reader, key, &step.keyed);
            binding::finish(reader, Bound::Expr(value), step.target, tail, step.head());
        }
    }
}

/// A step whose statement has the value under its key.
fn statement_step<'a>(reader: &mut StepReader<'a>, step: &Step<'_, 'a>, made: fn(Expr<'a>) -> StmtKind<'a>) {
    if let Some(node) = step.get(step.form.key) {
        let value = values::given(reader, node);
        reader.push(made(value), Span::new(step.start, node.span.end));
    }
}

/// Whether a step with only known keys may have another shape than its kind has: keys of a step under `if`,
/// `for` or `match`, an operator or a merge of another notation, a condition beside nothing that it decides,
/// an expression that changes a name.
fn is_odd(form: &Form, found: &Keyed<'_, '_>) -> bool {
    let nested = [Key::Let, Key::If, Key::For, Key::Match, Key::Call].into_iter();
    let is_record = |node: &Node<'_>| matches!(node.kind, NodeKind::Record(list) if list.len() > 1);
    let may_change = |node: &Node<'_>| node.text().is_some_and(habits::may_change);
    let ends = [Key::Then, Key::Return, Key::Ok, Key::Err, Key::Message, Key::Skip, Key::Break];
    nested.filter_map(|key| found.get(key)).any(is_record)
        || found.get(Key::For).is_some_and(|node| !is_name(node.text().unwrap_or("")))
        || [Key::Op, Key::Switch].into_iter().any(|key| found.has(key))
        || form.key == Key::If && !ends.into_iter().any(|key| found.has(key))
        || form.key == Key::Expr && !found.has(Key::Let) && found.get(Key::Expr).is_some_and(may_change)
}

/// Whether the body of a loop is a record of values in which one before the last copies a name: as a step,
/// nothing would read it.
fn is_copy(list: &[Entry<'_>]) -> bool {
    let is_value = |entry: &Entry<'_>| {
        let operation = is_operation(entries(&entry.value));
        entry.is(|name| !begins_step(name)) && (operation || is_data(&entry.value))
    };
    let before = list.split_last().map_or(list, |(_, before)| before);
    before.iter().any(copies_itself) && list.iter().all(is_value)
}

/// Whether a value has nothing that makes it a step.
fn is_data(node: &Node<'_>) -> bool {
    // A part of a step makes a record a step even if the word of the step is misspelt.
    let word = |name: &str| begins_step(name) || changes(name) || foreign::is(foreign::Place::Part, name);
    let list = entries(node);
    let operation = matches!(list, [only] if only.is(|name| name == "value" || operator::is(name)));
    !operation && !list.iter().any(|entry| entry.is(word))
}

/// The syntax of a missing part of a step.
fn needed(key: Key) -> &'static str {
    match key {
        Key::In => "write the list that the loop runs over",
        Key::Body => "write the steps of a pass; the last one is what it yields",
        Key::Cases => "write the value for each key, as in `{\"gold\": 20, \"silver\": 10}`",
        Key::Message => "write the message that it fails with",
        Key::Handler => "write what happens when a step fails",
        _ => "add it",
    }
}
