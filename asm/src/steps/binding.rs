//! The names that steps bind, and the ends of steps: a value, or a way out (`return`, `ok`, `err`, `break`,
//! `skip`). A return that does not fit the output type is reported here, where its words are known.
//!
//! `let` with a path sets a part of a variable, and `push` appends to it. Such a step is read as if the path
//! were a name. What follows it evaluates the keys from left to right, reads the containers on the way, and
//! binds the variable again from the inside out: PUT for a text key, SET for a number. A key of unknown kind
//! is a text if it equals its rendered form.

use super::habits;
use super::reader::{StepReader, literal, number, of_slot};
use super::step::{Aim, BoundName, Keyed, RawStep, Step};
use super::values;
use crate::ast::{
    Binary, Bound, Control, Expr, ExprKind, If, Literal, Name, PartSet, ReturnKind, Slot, Stmt, StmtKind,
};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::dialect::Key;
use crate::document::{Entry, Node, NodeKind, entries, inner, shown};
use crate::expr::parser::bracketed;
use crate::expr::reference::{INPUT, Reference, Root, Step as Place, Words};
use crate::expr::{Sigil, Tree, TreeKind};
use crate::foreign;
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use ilo_spec::pure::Pure;
use ilo_spec::types::Type;

/// The name that a step binds.
pub(crate) fn target<'a>(
    reader: &mut StepReader<'a>,
    item: &RawStep<'_, 'a>,
    keyed: &Keyed<'_, 'a>,
) -> Option<BoundName<'a>> {
    match keyed.get(Key::Let) {
        Some(node) => written_name(reader, node).map(|name| BoundName { name, own: false }),
        // The content of `rollback` and `then` runs after the call.
        None => {
            let inside = |key| keyed.entry(key).filter(|_| keyed.has(Key::Call));
            let starts = [Key::Rollback, Key::Then].into_iter().filter_map(inside);
            let first = starts.map(|entry| entry.key.span.start).min();
            name_of(reader, item, first.unwrap_or(item.node.span.end))
        }
    }
}

/// The name under which a step is written in YAML, if something after it refers to it.
pub(crate) fn step_name<'a>(reader: &mut StepReader<'a>, item: &RawStep<'_, 'a>) -> Option<BoundName<'a>> {
    name_of(reader, item, item.node.span.end)
}

/// Like [`step_name`], if something after a position refers to it.
fn name_of<'a>(reader: &mut StepReader<'a>, item: &RawStep<'_, 'a>, after: u32) -> Option<BoundName<'a>> {
    let name = item.name?;
    let text = match name.kind {
        NodeKind::Text(text) => text.text,
        NodeKind::Number(_) | NodeKind::Bool(_) | NodeKind::Null => reader.arena.alloc_str(&shown(name)),
        _ => return None,
    };
    let bound = binder(reader, name)?;
    // The next iteration of a loop may read, further up, what this one binds.
    let from = reader.loops.first().map_or(after, |open| open.start);
    if reader.survey.used_after(text, from) {
        shadows(reader, bound);
        return Some(BoundName { name: bound, own: true });
    }
    reader.scope.unbound(text);
    None
}

/// Warns about a step that has the name of a step of an outer block.
fn shadows<'a>(reader: &mut StepReader<'a>, name: Name<'a>) {
    let Some(outer) = reader.scope.outer_step(name.text) else { return };
    let text = name.text;
    let message = format!("this is a new step: it does not change the step `{text}` outside its block");
    let wrong = Diagnostic::new(Code::Shadowed, name.span, message).related(outer, "the outer step is here");
    let help = format!(
        "to give the outer `{text}` a new value, write `let: {text}` in this step; otherwise give this step another name"
    );
    reader.report(wrong.expected("another name", format!("`{text}`")).help(help));
}

/// Reads a name that is bound by a key such as `let`; reports it if it must not be bound, and if no
/// reference could read it. (The name of a step may have blanks, as long as nothing reads it.)
pub(crate) fn written_name<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> Option<Name<'a>> {
    let name = binder(reader, node)?;
    if !is_name(name.text) {
        if let Some(first) = name.text.split(' ').next() {
            reader.scope.lose(first);
        }
        let found = format!("`{}`", shown(node));
        let message = format!("{found} is not a name: no reference could read it");
        let wrong = Diagnostic::new(Code::BadShape, name.span, message)
            .expected("a name of letters, digits, `_` and hyphens", found);
        let joined = name.text.split_whitespace().collect::<Vec<_>>().join("_");
        let help = if is_name(&joined) {
            format!("write a name without blanks, such as `{joined}`")
        } else {
            "write another name, or a path too, such as `order.total` or `counts[word]`".to_owned()
        };
        reader.report(wrong.help(help));
    }
    Some(name)
}

/// Reads a name that is bound; reports it if it must not be bound.
pub(crate) fn binder<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> Option<Name<'a>> {
    let node = habits::shaped(reader, node, habits::parts::binder);
    let Some(text) = node.text().filter(|text| !text.is_empty()) else {
        reader.bad_shape(node, "the name that is bound", "a text that is not empty");
        return None;
    };
    let failure = reader.dialect.failure();
    if text == failure || text == INPUT {
        let message = format!("`{text}` is kept for what it means");
        let wrong = Diagnostic::new(Code::ReservedName, node.span, message);
        let help = format!("`{failure}` is the failure in a handler, `input` the record of inputs");
        reader.report(wrong.expected("another name", format!("`{text}`")).help(help));
        return None;
    }
    Some(Name { text, span: inner(node) })
}

/// Binds a name. Returns its slot.
pub(crate) fn bind<'a>(reader: &mut StepReader<'a>, name: Name<'a>) -> Slot {
    reader.scope.bind(name.text, shares_input(reader, name))
}

/// Binds the name of a step. Returns its slot and span.
pub(crate) fn bind_target<'a>(
    reader: &mut StepReader<'a>,
    BoundName { name, own }: BoundName<'a>,
) -> (Slot, Span) {
    let shared = shares_input(reader, name);
    let slot = if own {
        reader.scope.bind_step(name.text, name.span, shared)
    } else {
        reader.scope.bind(name.text, shared)
    };
    (slot, name.span)
}

/// Whether a name that is bound here shares the slot of the input of that name: if nothing reads the
/// input as an input, or the name is bound on every path, after all such reads.
fn shares_input<'a>(reader: &StepReader<'a>, name: Name<'a>) -> bool {
    let on_every_path = reader.at.blocks == 1;
    match reader.survey.input_read(name.text) {
        None => true,
        Some(last) => on_every_path && last <= reader.at.step_end,
    }
}

/// Ends a step with a statement that may have a value.
pub(crate) fn finish_control<'a>(
    reader: &mut StepReader<'a>,
    step: &Step<'_, 'a>,
    control: Control<'a>,
    tail: Aim,
) {
    finish(reader, Bound::Control(control), step.target, tail, step.head());
}

/// Ends a step with a value: binds the value, or leaves it as the value of the block.
pub(crate) fn finish<'a>(
    reader: &mut StepReader<'a>,
    value: Bound<'a>,
    target: Option<BoundName<'a>>,
    tail: Aim,
    span: Span,
) {
    let statement = |value| match value {
        Bound::Expr(value) => StmtKind::Value(value),
        Bound::Control(control) => StmtKind::Control(control),
    };
    let value = loop_just_written(reader, value).unwrap_or(value);
    let Some(target) = target else { return reader.push(statement(value), span) };
    let name = target.name;
    let is_value = matches!(tail, Aim::Value | Aim::Yield);
    let hides = target.own && reader.scope.outer_step(name.text).is_some();
    if is_value && (hides || reader.scope.find(name.text).is_none()) {
        // Nothing can read the name any more.
        if !hides {
            reader.scope.pass(name.text, tail == Aim::Yield);
        }
        return reader.push(statement(value), span);
    }
    let (slot, _) = bind_target(reader, target);
    if !is_value && is_idle(reader, slot, value) {
        return reader.push(statement(value), span);
    }
    reader.push(StmtKind::Let { slot, slot_span: name.span, value }, span);
    if is_value {
        push_slot(reader, (slot, name.span), span);
    }
}

/// The loop before this step, if its list is the whole value: the step is that loop.
fn loop_just_written<'a>(reader: &mut StepReader<'a>, value: Bound<'a>) -> Option<Bound<'a>> {
    let Bound::Expr(Expr { kind: ExprKind::Ref(read), span }) = value else { return None };
    let &Stmt { kind: StmtKind::Let { slot, value: own @ Bound::Control(Control::For(_)), .. }, span: of } =
        reader.statements.last()?
    else {
        return None;
    };
    (slot == read && of == span).then(|| {
        reader.statements.pop();
        own
    })
}

/// Adds the slot that the last statement has bound as the value of the step, if it is reachable.
pub(crate) fn push_slot(reader: &mut StepReader<'_>, (slot, slot_span): (Slot, Span), span: Span) {
    if reader.statements.last().is_some_and(Stmt::completes) {
        reader.push(StmtKind::Value(of_slot(slot, slot_span)), span);
    }
}

/// Whether nothing reads the name of a slot that a block without a value would be bound to.
pub(crate) fn is_idle<'a>(reader: &StepReader<'a>, slot: Slot, value: Bound<'a>) -> bool {
    let name = reader.scope.slots().get(slot.0 as usize).and_then(|info| info.name);
    let is_unread = |name: &str| is_name(name) && !reader.survey.is_used(name);
    matches!(value, Bound::Control(control) if control.lacks_value()) && name.is_some_and(is_unread)
}

/// Binds the path under `let`; `None` if it is a name, or no path.
pub(crate) fn let_path<'a>(
    reader: &mut StepReader<'a>,
    node: &Node<'a>,
    step: &RawStep<'_, 'a>,
) -> Option<LetPath<'a>> {
    let text = node.text().filter(|text| !is_name(text))?;
    let words = Words::of(node, reader.arena)?;
    let (reference, mut keys) = parts(bracketed(&words, (Sigil::Dollar, reader.levels_left(), 0))?)?;
    let (root, is_input) = match (reference.root, reference.path.first()) {
        (Root::Name(root), _) => (root, false),
        (Root::Input, Some(Place::Field(input))) => {
            keys.remove(0);
            (*input, true)
        }
        (Root::Input, _) => return None,
    };
    if keys.is_empty() {
        return None;
    }
    let keys = if reader.fits(keys.len(), node.span) { keys } else { Vec::new() };
    if is_input || reader.scope.find(root.text).is_none() {
        let written = is_input.then(|| Span::new(reference.span.start, root.span.end));
        no_variable(reader, node.span, root.text, written, Some(step));
    }
    reader.scope.bind(text, false);
    Some(LetPath { name: Name { text, span: inner(node) }, root, keys, node: *node })
}

/// Reports a root that is not a variable. What follows is read as after the fix.
fn no_variable<'a>(
    reader: &mut StepReader<'a>,
    at: Span,
    root: &'a str,
    written: Option<Span>,
    step: Option<&RawStep<'_, 'a>>,
) {
    let message = format!("`{root}` is not a variable here, so no part of it can be changed");
    let mut wrong = Diagnostic::new(Code::UnknownReference, at, message)
        .expected("a path that begins with a variable", format!("`{root}`"));
    if reader.scope.input(root).is_some() {
        reader.scope.bind(root, false);
        let mut fix = step.and_then(|step| bound_before(reader, root, step));
        if let (Some(fix), Some(span)) = (&mut fix, written) {
            fix.edits.push(Edit::new(span, root));
        }
        let how = format!("bind the input first, in a step with `let: {root}` and `expr` of the input");
        wrong = wrong.help(how).fix(fix);
    } else {
        wrong = wrong.help(format!("bind `{root}` in a step before"));
    }
    reader.report(wrong);
}

/// The fix that binds an input in a step before this one, if this one is in a list.
fn bound_before<'a>(reader: &StepReader<'a>, input: &str, step: &RawStep<'_, 'a>) -> Option<Fix> {
    let start = step.node.span.start;
    let path = &[Place::Field(Name { text: input, span: step.node.span })];
    let form = reader.dialect.own_form(&Reference { root: Root::Input, path, span: step.node.span }, false);
    let (before, rest) = reader.source.split_at_checked(start as usize)?;
    let outer = before.trim_end();
    let text = if rest.starts_with('{') && outer.ends_with(['[', ',']) {
        format!("{{\"let\": \"{input}\", \"expr\": \"{form}\"}}, ")
    } else if outer.ends_with('-') && step.name.is_none() {
        let line = before.rsplit('\n').next()?;
        let dash = line.rfind('-').filter(|&dash| line.get(..dash).is_some_and(|to| to.trim().is_empty()))?;
        let (pad, inner) = (" ".repeat(dash), " ".repeat(line.chars().count()));
        format!("let: {input}\n{inner}expr: {form}\n{pad}-{}", " ".repeat(line.len() - dash - 1))
    } else {
        return None;
    };
    Some(Fix { title: format!("bind `{input}` before"), edits: vec![Edit::insert(start, text)] })
}

/// Sets the part of the variable to the value that the step has bound under the path.
pub(crate) fn set_part<'a>(reader: &mut StepReader<'a>, path: &LetPath<'a>, appends: bool, at: Span) {
    // The value of the block, if it is that of the step, is the last statement.
    let last = reader.statements.pop_if(|last| matches!(last.kind, StmtKind::Value(_)));
    if reader.statements.last().is_none_or(crate::ast::Stmt::completes)
        && let Some(value) = reader.scope.find(path.name.text)
        && let Some(root) = reader.scope.find(path.root.text)
    {
        let start = reader.statements.len();
        let keys = assign(reader, path, (root, of_slot(value, at)), appends, at);
        reader.parts.push(PartSet {
            path: path.name.span,
            root: (root, path.root.span),
            keys: reader.arena.alloc_slice_copy(&keys),
            statements: reader.statements.len() - start,
            appends,
            gives: last.is_some(),
        });
    }
    reader.statements.extend(last);
}

/// Sets the part; returns the keys as they are written.
fn assign<'a>(
    reader: &mut StepReader<'a>,
    path: &LetPath<'a>,
    (root, value): (Slot, Expr<'a>),
    appends: bool,
    at: Span,
) -> Vec<Expr<'a>> {
    let keys = path.keys.iter().map(|key| path_key(reader, &path.node, key, at));
    let (written, keys): (Vec<Expr<'a>>, Vec<Expr<'a>>) = keys.unzip();
    if !keys.first().is_some_and(|key| matches!(key.kind, ExprKind::Literal(Literal::Number(_)))) {
        // A variable that is nil becomes an empty record.
        let slot_span = path.root.span;
        let condition = reader.binary(Binary::Eq, of_slot(root, at), literal(Literal::Nil, at), at);
        let value = Bound::Expr(Expr { kind: ExprKind::Record(&[]), span: at });
        let then = reader.block(|reader| reader.push(StmtKind::Let { slot: root, slot_span, value }, at));
        reader.push_if(If { condition, then, otherwise: None, span: at }, at);
    }
    let mut containers = vec![of_slot(root, at)];
    let inner = if appends { keys.len() } else { keys.len().saturating_sub(1) };
    for (depth, key) in keys.iter().take(inner).enumerate() {
        let empty = if depth + 1 == keys.len() { ExprKind::List(&[]) } else { ExprKind::Record(&[]) };
        let of = containers.last().copied().unwrap_or(value);
        let part = reader.applied(Pure::Get, &[of, *key, Expr { kind: empty, span: at }], at);
        containers.push(kept(reader, "part", part, at));
    }
    let mut value = value;
    if appends {
        let list = containers.pop().unwrap_or(value);
        value = reader.binary(Binary::Append, list, value, at);
    }
    for (key, of) in keys.iter().zip(containers).rev() {
        value = put_or_set(reader, *key, (of, value), at);
    }
    reader.push(StmtKind::Let { slot: root, slot_span: path.root.span, value: Bound::Expr(value) }, at);
    written
}

/// A container with one part replaced.
fn put_or_set<'a>(
    reader: &mut StepReader<'a>,
    key: Expr<'a>,
    (of, value): (Expr<'a>, Expr<'a>),
    at: Span,
) -> Expr<'a> {
    match key.kind {
        ExprKind::Literal(Literal::Text(_)) => return reader.applied(Pure::Put, &[of, key, value], at),
        ExprKind::Literal(_) => return reader.applied(Pure::Set, &[of, key, value], at),
        _ => {}
    }
    let value = kept(reader, "part", value, at);
    let rendered = reader.binary(Binary::Concat, literal(Literal::Text(""), at), key, at);
    let condition = reader.binary(Binary::Eq, key, rendered, at);
    let put = reader.applied(Pure::Put, &[of, key, value], at);
    let set = reader.applied(Pure::Set, &[of, key, value], at);
    let then = reader.block(|reader| reader.push(StmtKind::Value(put), at));
    let otherwise = Some(reader.block(|reader| reader.push(StmtKind::Value(set), at)));
    let node = If { condition, then, otherwise, span: at };
    let slot = reader.scope.own("part");
    let value = Bound::Control(Control::If(reader.arena.alloc(node)));
    reader.push(StmtKind::Let { slot, slot_span: at, value }, at);
    of_slot(slot, at)
}

/// Binds a value to a slot of its own.
fn kept<'a>(reader: &mut StepReader<'a>, name: &'a str, value: Expr<'a>, at: Span) -> Expr<'a> {
    if matches!(value.kind, ExprKind::Ref(_)) {
        return value;
    }
    let slot = reader.scope.own(name);
    reader.push(StmtKind::Let { slot, slot_span: at, value: Bound::Expr(value) }, at);
    of_slot(slot, at)
}

/// A key as it is written, and the constant that it is, or a slot with its value.
fn path_key<'a>(
    reader: &mut StepReader<'a>,
    node: &Node<'a>,
    key: &Tree<'a>,
    at: Span,
) -> (Expr<'a>, Expr<'a>) {
    let written = reader.of_tree(node, key);
    if matches!(written.kind, ExprKind::Literal(Literal::Text(_) | Literal::Number(_))) {
        return (written, written);
    }
    // As an item beside a number and a text it has no known type, so that both writes are typed.
    let (zero, empty) = (number(0, at), literal(Literal::Text(""), at));
    let mixed = ExprKind::List(reader.arena.alloc_slice_copy(&[written, zero, empty]));
    let value = reader.applied(Pure::Get, &[Expr { kind: mixed, span: at }, zero, empty], at);
    (written, kept(reader, "key", value, at))
}

/// `push`: appends to a variable, or to a part of it.
pub(crate) fn push_step<'a>(reader: &mut StepReader<'a>, step: &Step<'_, 'a>) {
    let Some(node) = step.get(Key::Push) else { return };
    let value = values::bound_value(reader, node);
    let Some(target) = step.target else { return };
    if !is_name(target.name.text) {
        return finish(reader, Bound::Expr(value), step.target, Aim::Drop, step.head());
    }
    let Some(slot) = reader.scope.find(target.name.text) else {
        return no_variable(reader, target.name.span, target.name.text, None, None);
    };
    let list = of_slot(slot, target.name.span);
    let value = reader.binary(Binary::Append, list, value, step.head());
    finish(reader, Bound::Expr(value), step.target, Aim::Drop, step.head());
}

/// A way out by the key that the notation has for it.
pub(crate) fn way_out<'d, 'a>(
    reader: &StepReader<'a>,
    key: Key,
    entry: &'d Entry<'a>,
) -> (Key, &'d Entry<'a>) {
    let returns = reader.dialect.has(Key::Return);
    let outcome = |name| Some(reader.dialect.meaning(name, &[Key::Ok, Key::Message])?.0);
    match (key, entries(&entry.value)) {
        (Key::Return, [only]) if !returns && let Some(key) = only.name().and_then(outcome) => (key, only),
        (Key::Return, _) if !returns => (Key::Ok, entry),
        (Key::Ok, _) if returns && !reader.is_result() => (Key::Return, entry),
        _ => (key, entry),
    }
}

/// Reads `return`, `ok`, `err`, `break` or `skip`.
pub(crate) fn leave<'a>(reader: &mut StepReader<'a>, key: Key, entry: &Entry<'a>) {
    let (key, entry) = way_out(reader, key, entry);
    match key {
        Key::Return => return_of(reader, entry),
        Key::Ok => succeed(reader, entry),
        Key::Break | Key::Skip => end_pass(reader, key, entry),
        _ => fails(reader, entry),
    }
}

/// Ends the function with a failure, as with a return.
fn fails<'a>(reader: &mut StepReader<'a>, entry: &Entry<'a>) {
    if reader.dialect.has(Key::Return) && !reader.is_result() {
        let message = "this fails, in a function whose type is not a result";
        let word = reader.dialect.word(Key::Fail);
        let help = format!("write the failure under `{word}`, or the record under `obj`");
        let wrong = Diagnostic::new(Code::OtherNotation, entry.key.span, message).help(help);
        reader.report(wrong.related(reader.output.span, "the type is given here"));
    }
    fail_with(reader, &entry.value, entry.key.span);
}

/// `break` and `skip` with `true`: end the innermost loop, or its pass.
fn end_pass<'a>(reader: &mut StepReader<'a>, key: Key, entry: &Entry<'a>) {
    expect_true(reader, key, entry);
    if key == Key::Skip {
        reader.test_before_skip(whole(entry));
        return reader.push(StmtKind::Skip, whole(entry));
    }
    if let Some(open) = reader.loops.last_mut() {
        open.breaks = true;
    }
    reader.push(StmtKind::Break, whole(entry));
}

/// Reports a key such as `break` whose value is not `true`.
pub(crate) fn expect_true<'a>(reader: &mut StepReader<'a>, key: Key, entry: &Entry<'a>) {
    if !matches!(entry.value.kind, NodeKind::Bool(true)) {
        reader.bad_shape(&entry.value, &format!("`{}`", reader.dialect.word(key)), "`true`");
    }
}

/// Returns the value of an entry as success.
fn succeed<'a>(reader: &mut StepReader<'a>, entry: &Entry<'a>) {
    let value = values::returned(reader, &entry.value);
    let kind = if reader.is_result() { ReturnKind::Ok } else { ReturnKind::Plain };
    reader.push(StmtKind::Return(kind, value), whole(entry));
}

/// Fails with the message of an `assert` or of a text as a handler: to the handler of a `try`, or else as
/// [`fail_with`].
pub(crate) fn fail_here<'a>(reader: &mut StepReader<'a>, message: &Node<'a>, at: Span) {
    if !reader.at.in_try {
        return fail_with(reader, message, at);
    }
    let value = values::value(reader, message);
    reader.push(StmtKind::Fail(value), Span::new(at.start, message.span.end.max(at.end)));
}

/// Fails with a message; `at` is the span of the key.
pub(crate) fn fail_with<'a>(reader: &mut StepReader<'a>, message: &Node<'a>, at: Span) {
    let value = values::value(reader, message);
    let kind =
        if reader.is_result() { StmtKind::Return(ReturnKind::Err, value) } else { StmtKind::Fail(value) };
    reader.push(kind, Span::new(at.start, message.span.end.max(at.end)));
}

/// `{"ok": v}`, `{"error": m}`, or a plain value.
fn return_of<'a>(reader: &mut StepReader<'a>, entry: &Entry<'a>) {
    let single = match entries(&entry.value) {
        [only] => Some(only),
        [a, b] if reader.is_result() => habits::parts::one_outcome(reader, [a, b]),
        _ => None,
    };
    let found = single.and_then(|only| Some((only, habits::parts::outcome(reader, only)?)));
    match found {
        Some((only, Key::Ok)) => {
            succeed(reader, only);
            if !reader.is_result() && reader.dialect.has(Key::Return) {
                not_ok(reader, entry, only);
            }
        }
        Some((only, _)) => fails(reader, only),
        None => {
            let value = values::returned(reader, &entry.value);
            let kind = if reader.is_result() && !not_plain(reader, entry, &value) {
                ReturnKind::Ok
            } else {
                ReturnKind::Plain
            };
            reader.push(StmtKind::Return(kind, value), whole(entry));
        }
    }
}

/// Reports a plain value in a function that returns a result, if it may be meant as a failure or as more
/// than its success.
fn not_plain<'a>(reader: &mut StepReader<'a>, entry: &Entry<'a>, value: &Expr<'a>) -> bool {
    // A field that tells how the function ended may be more than a value.
    let tells = |entry: &Entry<'_>| entry.is(|name| foreign::is(foreign::Place::Outcome, name));
    let is_outcome = entries(&entry.value).iter().any(tells);
    // If the function succeeds with nil and fails with text, a text is meant as the failure.
    let fits = |ty: Type| value.evident_type().is_none_or(|found| found.meets(ty));
    let handles = reader.at.failure.is_some() && value.evident_type() == Some(Type::TEXT);
    let other = !fits(reader.output.ok.ty) || handles && reader.output.ok.ty != Type::TEXT;
    let failure = other && reader.output.err.is_some_and(|err| fits(err.ty));
    let known = value.evident_type().is_some_and(|ty| ty != Type::TEXT);
    if !is_outcome && !failure && (known || reader.at.failure.is_none()) {
        return false;
    }
    let words = ["ok", reader.dialect.word(Key::Message)];
    let [ok, err] = words.map(|word| reader.dialect.return_form(word));
    let message = "a plain value from a function whose type is a result";
    let wrong = wrong_return(reader, entry.key.span, message, if failure { &err } else { &ok });
    reader.report(wrong.help(format!("write `{ok}` to succeed with it, `{err}` to fail with it")));
    true
}

/// Reports a success in a function that does not return a result.
fn not_ok<'a>(reader: &mut StepReader<'a>, entry: &Entry<'a>, only: &Entry<'a>) {
    let word = reader.dialect.word(Key::Return);
    let yaml = reader.dialect.is_yaml();
    let form = if yaml { format!("{word}: …") } else { format!("{{\"{word}\": …}}") };
    let wrong = wrong_return(reader, only.key.span, "`ok` in a function whose type is not a result", &form);
    let outer = entry.value.span;
    let text = reader.source.get(only.value.span.range()).filter(|_| !yaml || only.value.is_scalar());
    let (start, before) = if yaml { (entry.key.span.end, ": ") } else { (outer.start, "") };
    let fix = |text| Fix::write(&form, Span::new(start, outer.end), format!("{before}{text}"));
    let fix = text.map(fix);
    reader.report(wrong.fix_or_help(fix, format!("write `{form}`")));
}

fn wrong_return(reader: &StepReader<'_>, at: Span, message: &str, form: &str) -> Diagnostic {
    let found = reader.source.get(at.range()).unwrap_or("");
    Diagnostic::new(Code::WrongReturn, at, message)
        .expected(format!("`{form}`"), format!("`{found}`"))
        .related(reader.output.span, "the type is given here")
}

/// A path to a part of a variable.
#[derive(Clone)]
pub(crate) struct LetPath<'a> {
    /// The whole text, under which the value of the step is bound.
    pub(crate) name: Name<'a>,
    root: Name<'a>,
    keys: Vec<Tree<'a>>,
    node: Node<'a>,
}

/// The root of a path and its keys.
fn parts(path: Tree<'_>) -> Option<(Reference<'_>, Vec<Tree<'_>>)> {
    let constant = |value, span| Tree { kind: TreeKind::Literal(value), span, levels: 1 };
    let (mut of, mut keys) = (path, Vec::new());
    let root = loop {
        of = match of.kind {
            TreeKind::Path(root) => break root,
            TreeKind::Field(of, name, _) => {
                keys.push(constant(Literal::Text(name.text), name.span));
                *of
            }
            TreeKind::Item([of, key]) => {
                keys.push(*key);
                *of
            }
            _ => return None,
        };
    };
    keys.extend(root.path.iter().rev().map(|step| match *step {
        Place::Field(name) => constant(Literal::Text(name.text), name.span),
        Place::Index(index, span) => constant(Literal::Number(Number::Int(index.cast_signed())), span),
    }));
    keys.reverse();
    Some((root, keys))
}

/// From a key to the end of its value.
fn whole(entry: &Entry<'_>) -> Span {
    Span::new(entry.key.span.start, entry.value.span.end.max(entry.key.span.end))
}
