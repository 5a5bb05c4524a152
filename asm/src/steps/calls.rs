//! Reads steps that are calls or fallible functions: what is called, the handler of a failure, the steps
//! under `then`, the calls that undo effects now (`compensate`) or if something fails later (`rollback`), and
//! `match` on the result of a call.
//!
//! A handler covers only its own call or outermost function. It becomes the ERR arm of a MATCH directly after
//! the call. The OK arm is omitted, so that the value stays in the slot of the call, or it has the calls that
//! `rollback` registers and the steps of `then`.

use super::reader::{Placement, StepReader, literal, of_slot, wrong_shape};
use super::step::{Aim, Bind, Keyed, RawStep, Step};
use super::{binding, blocks, choices, habits, references, values};
use crate::ast::{
    Arm, Block, Bound, Call, Control, Expr, ExprKind, If, Literal, Match, Name, ReturnKind, Slot, Stmt,
    StmtKind, Try,
};
use crate::catalog::{own_function, own_function_address};
use crate::diagnostic::Diagnostic;
use crate::dialect::{HANDLER, Key, is_for};
use crate::document::{Entry, Node, NodeKind, entries, first_of, inner, shown};
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::error::Code;

/// The tool or function that is called.
pub(crate) fn callee<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> Name<'a> {
    let node = habits::shaped(reader, node, habits::parts::callee);
    let Some(text) = node.text() else {
        reader.bad_shape(node, "what is called", "the name of a tool or function, a text");
        return Name { text: "", span: node.span };
    };
    let called = in_parentheses(text);
    if text.is_empty() || text.contains("${") || called.is_some() {
        let message =
            "what is called is the name of a tool or function that is there before the program runs";
        let wrong = Diagnostic::new(Code::BadShape, node.span, message);
        let help = format!(
            "write `{}` alone, and the arguments beside it; to choose between tools, use `if`",
            called.unwrap_or("name")
        );
        reader.report(wrong.expected("a name", format!("`{}`", shown(node))).help(help));
    }
    let name = Name { text: called.unwrap_or(text), span: inner(node) };
    let Some((own, function)) = unnamed_function(reader, name) else { return name };
    let message =
        format!("no function is named `{own}`; the only other function, which has no name, is called");
    let named = format!("`\"name\": \"{own}\"`");
    let wrong = Diagnostic::new(Code::UnnamedSelf, name.span, message)
        .expected(format!("a function with {named} in its `meta`"), "one without a name");
    reader.report(wrong.help(format!("write {named} into the `meta` of the function that is meant")));
    function
}

/// The only other unnamed function, for an unknown `mcp://self/name`, and its name.
pub(crate) fn unnamed_function<'a>(reader: &StepReader<'a>, name: Name<'a>) -> Option<(&'a str, Name<'a>)> {
    let own = own_function(name.text)?;
    let list = reader.functions.list;
    if list.iter().any(|&(function, given)| given && function == own) {
        return None;
    }
    let mut others =
        list.iter().enumerate().filter(|&(at, &(_, given))| !given && at != reader.functions.own);
    let (Some((_, &(only, _))), None) = (others.next(), others.next()) else { return None };
    Some((own, Name { text: reader.arena.alloc_str(&own_function_address(only)), span: name.span }))
}

/// A step with a call or an expression, which may have a handler.
pub(crate) fn value_step<'a>(reader: &mut StepReader<'a>, step: &Step<'_, 'a>, tail: Aim) {
    let suspects = reader.suspects.len();
    let mut value = values::construct_of(reader, step.form.key, &step.keyed);
    if let (Key::Call, ExprKind::Call(call)) = (step.form.key, value.kind) {
        value.span = call.span;
    }
    let faulty = step.faulty || reader.suspects.len() > suspects || value.is_bad();
    let is_lost = !tail.wanted() || tail == Aim::Yield && !blocks::takes_value(reader, tail);
    // A pass that ends with a value of its own is harmless.
    let is_read = matches!(value.kind, ExprKind::Ref(_));
    let is_unnamed = !reader.dialect.is_yaml() && !step.keyed.has(Key::Let) && !is_read;
    if is_lost
        && is_unnamed
        && !faulty
        && let Some(node) = step.get(Key::Expr).filter(|it| it.text().is_some())
    {
        blocks::does_nothing(reader, node, &value, "bind it with `let` beside it, or leave the step out");
    }
    let handler = step.keyed.entry(Key::Handler).or(step.keyed.entry(Key::Compensate));
    match handler.filter(|_| value.attempt().is_none()) {
        None => attempt(reader, step, value, tail),
        Some(_) if value.calls() => tried(reader, step, tail, true, |reader, _| {
            reader.block(|reader| reader.push(StmtKind::Value(value), step.head()))
        }),
        Some(handler) => {
            if !faulty {
                let word = shown(&handler.key);
                let message = format!("`{word}` is beside an expression in which nothing can fail");
                let help = "leave it out; a fault ends the run, so test for its cause with `if` before";
                reader.report(Diagnostic::new(Code::HandlerNowhere, handler.key.span, message).help(help));
            }
            binding::finish(reader, Bound::Expr(value), step.target, tail, step.head());
        }
    }
}

/// A step with steps, or with an expression of which a part can fail, and with a handler for the failures in
/// them.
fn tried<'a>(
    reader: &mut StepReader<'a>,
    step: &Step<'_, 'a>,
    tail: Aim,
    is_text: bool,
    read: impl FnOnce(&mut StepReader<'a>, Aim) -> Block<'a>,
) {
    let of_blocks = if step.target.is_some() { Aim::Value } else { tail };
    let body = read(reader, of_blocks);
    let handler = failure_arm(reader, step, of_blocks, is_text);
    let control = Control::Try(reader.arena.alloc(Try { body, handler, span: step.place() }));
    binding::finish_control(reader, step, control, tail);
}

/// `try`: steps, and a handler for their failures.
pub(crate) fn try_step<'a>(reader: &mut StepReader<'a>, step: &Step<'_, 'a>, tail: Aim) {
    let Some(steps) = step.get(Key::Try) else { return };
    let inside = Placement { in_try: true, ..reader.at };
    tried(reader, step, tail, false, |reader, of_blocks| {
        reader.within(inside, |reader| blocks::branch(reader, steps, of_blocks, Key::Try))
    });
}

/// A step whose value can fail.
fn attempt<'a>(reader: &mut StepReader<'a>, step: &Step<'_, 'a>, value: Expr<'a>, tail: Aim) {
    let has_then = step.keyed.has(Key::Then);
    let goes_on = has_then && step.target.is_some() && tail == Aim::Unnamed;
    let tail = if goes_on { Aim::Drop } else { tail };
    if !step.keyed.has(Key::Handler) && !step.keyed.has(Key::Compensate) {
        return attempt_unhandled(reader, step, value, (tail, has_then));
    }
    // Whether its value may be read behind its step: what was bound before also by the next pass of a loop.
    let is_read = step.target.is_some_and(|of| {
        let rebound = !of.own && reader.scope.find(of.name.text).is_some();
        rebound || reader.survey.used_after(of.name.text, step.keyed.span.end)
    });
    let before = step.target.filter(|of| !of.own).and_then(|of| reader.scope.find(of.name.text));
    let bind = bind_call(reader, step, value);
    let of_call = reader.statements.len().saturating_sub(1);
    let of_err = match tail {
        Aim::Drop if !is_read => Aim::Drop,
        Aim::Yield if has_then && !is_read => Aim::Yield,
        _ => Aim::Value,
    };
    // The failure of a tool, or of a pure function, is a text.
    let own = |call: &Call<'a>| {
        let own = own_function(call.tool.text).unwrap_or(call.tool.text);
        reader.functions.list.iter().any(|&(name, _)| name == own)
    };
    let is_text = !matches!(value.kind, ExprKind::Call(call) if own(call));
    let mut err = failure_arm(reader, step, of_err, is_text);
    if of_err == Aim::Value {
        err.body = binding(reader, err.body, bind, is_read);
    }
    // What the name held before, if the handler reads it or gives the name no value: else it is nil then.
    let gives_none = is_read && of_err == Aim::Value && err.body.completes() && !err.body.binds_last(bind.0);
    let reads = err.body.uses(bind.0);
    let kept = before == Some(bind.0) && (reads || gives_none);
    if gives_none && !kept && !reads {
        let value = Bound::Expr(literal(Literal::Nil, err.span));
        let first = StmtKind::Let { slot: bind.0, slot_span: bind.1, value };
        let first = [Stmt { kind: first, span: err.span }].into_iter();
        err.body.statements = reader.arena.collect(first.chain(err.body.statements.iter().copied()));
    }
    let call = if kept { held_apart(reader, of_call, bind) } else { bind };
    let err_binds = err.body.binds_last(bind.0);
    // Each arm gives what a pass yields, or nothing.
    let in_pass = tail == Aim::Yield && (has_then || (err.body.completes() && !err_binds));
    let rollback = step.get(Key::Rollback);
    let mut result = (has_then && tail.wanted() && !in_pass).then(|| (reader.hidden(None), step.place()));
    let mut ok = None;
    if has_then || rollback.is_some() || kept || in_pass {
        let mut body = reader.block(|reader| {
            if kept {
                let value = Bound::Expr(of_slot(call.0, call.1));
                reader.push(StmtKind::Let { slot: bind.0, slot_span: bind.1, value }, step.head());
            }
            rollbacks(reader, rollback);
            match (has_then, in_pass) {
                (true, true) => then_steps(reader, step, Aim::Yield),
                (true, false) => {
                    then_steps(reader, step, if result.is_some() { Aim::Value } else { Aim::Drop });
                }
                (false, true) => binding::push_slot(reader, bind, step.head()),
                (false, false) => {}
            }
        });
        let gives = |last: &Stmt<'a>| last.kind.given().is_some() || !last.completes();
        result = result.filter(|_| body.statements.last().is_some_and(gives));
        if let Some(result) = result {
            body = binding(reader, body, result, false);
        }
        let keys = [Key::Then, Key::Rollback].into_iter().find(|&key| step.keyed.has(key));
        let span = step.keyed.place(keys.unwrap_or(step.form.key));
        ok = Some(Arm { bind: call.0, bind_span: call.1, body, span });
    }
    let value_of_err = of_slot(bind.0, bind.1);
    let last = match result {
        Some((slot, slot_span)) => Some(StmtKind::Let { slot, slot_span, value: Bound::Expr(value_of_err) }),
        None => (in_pass && err_binds).then_some(StmtKind::Value(value_of_err)),
    };
    if let Some(kind) = last.filter(|_| err.body.completes()) {
        let last = [Stmt { kind, span: bind.1 }];
        err.body.statements = reader.arena.collect(err.body.statements.iter().copied().chain(last));
    }
    let node = Match { slot: call.0, slot_span: call.1, err: Some(err), ok, span: value.span };
    reader.push_control(Control::Match(reader.arena.alloc(node)), step.head());
    match result {
        Some(result) => binding::push_slot(reader, result, step.head()),
        None if has_then || in_pass => {}
        None => value_of_call(reader, bind, step, tail),
    }
}

/// A step whose value can fail, without a handler; `has_then` says that steps follow its success.
fn attempt_unhandled<'a>(
    reader: &mut StepReader<'a>,
    step: &Step<'_, 'a>,
    value: Expr<'a>,
    (tail, has_then): (Aim, bool),
) {
    let rollback = step.get(Key::Rollback);
    if !has_then && (rollback.is_none() || (step.target.is_none() && !tail.wanted())) {
        binding::finish(reader, Bound::Expr(value), step.target, tail, step.head());
        return rollbacks(reader, rollback);
    }
    if has_then && step.target.is_none() {
        reader.push(StmtKind::Value(value), step.head());
        rollbacks(reader, rollback);
        return then_steps(reader, step, tail);
    }
    let bind = bind_call(reader, step, value);
    rollbacks(reader, rollback);
    if has_then { then_steps(reader, step, tail) } else { value_of_call(reader, bind, step, tail) }
}

/// Gives the call that a statement binds to a name an unnamed slot: the name keeps what it held before
/// until the call has succeeded, or its handler gives the name a value.
fn held_apart(reader: &mut StepReader<'_>, of_call: usize, (named, at): Bind) -> Bind {
    let apart = reader.hidden(None);
    if let Some(Stmt { kind: StmtKind::Let { slot, .. }, .. }) = reader.statements.get_mut(of_call)
        && *slot == named
    {
        *slot = apart;
    }
    (apart, at)
}

/// Binds a call to the name of its step, or to an unnamed slot.
fn bind_call<'a>(reader: &mut StepReader<'a>, step: &Step<'_, 'a>, value: Expr<'a>) -> Bind {
    let bind = match step.target {
        Some(target) => binding::bind_target(reader, target),
        None => (reader.hidden(None), value.span),
    };
    reader.push(StmtKind::Let { slot: bind.0, slot_span: bind.1, value: Bound::Expr(value) }, step.head());
    bind
}

/// Ends a step that binds a call; its value is that of the call, if one is needed.
fn value_of_call<'a>(reader: &mut StepReader<'a>, bind: Bind, step: &Step<'_, 'a>, tail: Aim) {
    if tail.wanted() && (step.target.is_none() || matches!(tail, Aim::Value | Aim::Yield)) {
        binding::push_slot(reader, bind, step.head());
    }
}

/// `match` on the result of a call: steps for its value, and a handler for its failure.
pub(crate) fn result_step<'a>(reader: &mut StepReader<'a>, step: &Step<'_, 'a>, tail: Aim) {
    let Some(own) = step.get(Key::Match).and_then(|node| result_of(reader, node)) else { return };
    let of_arms = if step.target.is_some() { Aim::Value } else { tail };
    let handles = step.keyed.has(Key::Handler) || step.keyed.has(Key::Compensate);
    let err = handles.then(|| failure_arm(reader, step, of_arms, false));
    let ok = (step.keyed.has(Key::Then) || step.keyed.has(Key::As)).then(|| {
        let mut bind = own;
        let body = reader.block(|reader| {
            if let Some(name) = step.get(Key::As).and_then(|node| binding::written_name(reader, node)) {
                bind = (binding::bind(reader, name), name.span);
            }
            then_steps(reader, step, of_arms);
        });
        Arm { bind: bind.0, bind_span: bind.1, body, span: step.place() }
    });
    let node = Match { slot: own.0, slot_span: own.1, err, ok, span: step.place() };
    let control = Control::Match(reader.arena.alloc(node));
    binding::finish_control(reader, step, control, tail);
}

/// The slot of the call to which a `match` refers.
fn result_of<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) -> Option<Bind> {
    let value = values::value(reader, node);
    if let ExprKind::Ref(slot) = value.kind {
        return Some((slot, value.span));
    }
    let message = "a `match` without `cases` takes the result of a call apart";
    let wrong = Diagnostic::new(Code::BadShape, first_of(node), message)
        .expected("a reference to the name of a call before", shown(node));
    reader.report(wrong.help("name the call in its step, and refer to that name"));
    None
}

/// The steps under `then`, in the current block.
pub(crate) fn then_steps<'a>(reader: &mut StepReader<'a>, step: &Step<'_, 'a>, tail: Aim) {
    if let Some(node) = step.get(Key::Then) {
        blocks::branch_steps(reader, node, tail, Key::Then);
    }
}

/// The arm for a failure.
fn failure_arm<'a>(reader: &mut StepReader<'a>, step: &Step<'_, 'a>, tail: Aim, is_text: bool) -> Arm<'a> {
    let handler = step.keyed.entry(Key::Handler);
    let compensate = step.keyed.entry(Key::Compensate);
    let at = handler.or(compensate).map_or(step.place(), |entry| entry.key.span);
    let (handler, compensate) = (handler.map(|entry| &entry.value), step.get(Key::Compensate));
    let mut bind = (Slot(0), at);
    let of_try = step.form.key == Key::Try;
    let body = reader.block(|reader| {
        let as_word = reader.dialect.word(Key::As);
        let named = handler.and_then(|node| entries(node).iter().find(|entry| entry.name() == Some(as_word)));
        bind = match named.and_then(|entry| binding::written_name(reader, &entry.value)) {
            Some(name) => (binding::bind(reader, name), name.span),
            None => (reader.hidden(Some(reader.dialect.failure())), at),
        };
        let inner = reader.in_handler(bind.0, is_text);
        let steps = handler.filter(|node| of_try && matches!(node.kind, NodeKind::List(_)));
        reader.within(inner, |reader| match steps {
            Some(node) => blocks::branch_steps(reader, node, tail, Key::Then),
            None => handle(reader, handler, compensate, Handled { failure: bind.0, tail, at }),
        });
    });
    Arm { bind: bind.0, bind_span: bind.1, body, span: at }
}

/// A block that binds its value. If the slot `may_be_nil`, only the paths of its last `if` that give a value
/// bind it.
pub(crate) fn binding<'a>(
    reader: &StepReader<'a>,
    block: Block<'a>,
    (slot, slot_span): Bind,
    may_be_nil: bool,
) -> Block<'a> {
    let Some((last, before)) = block.statements.split_last() else { return block };
    let gives = last.may_give();
    let kind = match last.kind {
        StmtKind::Control(control @ Control::If(node)) if may_be_nil && gives && control.lacks_value() => {
            let of = |block| binding(reader, block, (slot, slot_span), true);
            let node = If { then: of(node.then), otherwise: node.otherwise.map(of), ..*node };
            StmtKind::Control(Control::If(reader.arena.alloc(node)))
        }
        kind => {
            match kind
                .given()
                .filter(|&value| (gives || !may_be_nil) && !binding::is_idle(reader, slot, value))
            {
                Some(value) => StmtKind::Let { slot, slot_span, value },
                None => return block,
            }
        }
    };
    Block { statements: reader.arena.collect(before.iter().copied().chain([Stmt { kind, ..*last }])) }
}

/// Fails with a message; without one, with the failure itself.
fn fail<'a>(reader: &mut StepReader<'a>, message: Option<&Node<'a>>, failure: Slot, at: Span) {
    let failed = of_slot(failure, at);
    match message {
        Some(node) => {
            references::lint(reader, |lints| lints.message(node));
            binding::fail_here(reader, node, at);
        }
        None if reader.is_result() && !reader.at.in_try => {
            reader.push(StmtKind::Return(ReturnKind::Err, failed), at);
        }
        None => reader.push(StmtKind::Fail(failed), at),
    }
}

/// Reads a handler after its rollback calls.
fn handle<'a>(
    reader: &mut StepReader<'a>,
    handler: Option<&Node<'a>>,
    compensate: Option<&Node<'a>>,
    of: Handled,
) {
    compensations(reader, compensate);
    let Some(node) = handler else { return fail(reader, None, of.failure, of.at) };
    let node = habits::shaped(reader, node, habits::parts::handler);
    match &node.kind {
        NodeKind::Text(text) if !reader.dialect.is_bare() && reader.survey.binding(text.text).is_some() => {
            reader.bad_shape(node, "a handler", "a message, or holds the steps that this names");
            ignore(reader, of);
        }
        NodeKind::Text(_) => fail(reader, Some(node), of.failure, of.at),
        NodeKind::Null => ignore(reader, of),
        NodeKind::Record(_) => {
            let keyed = reader.keyed(node, &HANDLER, "a handler");
            compensations(reader, keyed.get(Key::Compensate));
            act(reader, &keyed, of);
        }
        _ => {
            no_handler(reader, node);
            ignore(reader, of);
        }
    }
}

/// The only action of a record.
fn act<'a>(reader: &mut StepReader<'a>, keyed: &Keyed<'_, 'a>, of: Handled) {
    let actions = HANDLER.into_iter().filter(|key| !matches!(key, Key::As | Key::Compensate));
    match reader.only_one(keyed, actions) {
        None if keyed.has(Key::Compensate) || keyed.has(Key::As) || keyed.is_empty() => {
            fail(reader, None, of.failure, of.at);
        }
        None => ignore(reader, of),
        Some((Key::Fail, entry)) => fail(reader, Some(&entry.value), of.failure, entry.key.span),
        Some((key @ (Key::Ignore | Key::Continue), entry)) => {
            binding::expect_true(reader, key, entry);
            if key == Key::Continue && !reader.loops.is_empty() {
                continue_in_loop(reader, entry.key.span);
            }
            ignore(reader, of);
        }
        Some((key, entry)) => {
            if key == Key::Message {
                references::lint(reader, |lints| lints.message(&entry.value));
            }
            choices::act(reader, key, entry, of.tail);
        }
    }
}

#[inline(never)]
fn continue_in_loop(reader: &mut StepReader<'_>, at: Span) {
    let message = "`continue` in a loop could mean two things";
    let wrong = Diagnostic::new(Code::ContinueInLoop, at, message);
    let help = "write `skip` to leave this element out, `ignore` to bind nil and continue with it";
    reader.report(wrong.expected("`skip` or `ignore`", "`continue`").help(help));
}

/// Goes on with nil, if a value is needed.
fn ignore(reader: &mut StepReader<'_>, of: Handled) {
    if of.tail.wanted() {
        reader.push(StmtKind::Value(literal(Literal::Nil, of.at)), of.at);
    }
}

/// Reports a value that is not a handler.
fn no_handler<'a>(reader: &mut StepReader<'a>, node: &Node<'a>) {
    let what = format!("`{}`", reader.dialect.word(Key::Handler));
    let wrong = wrong_shape(node, &what, "a message, or a record with one action");
    let expected = format!("a record with one of {}", reader.dialect.listed(&HANDLER));
    let failure = reader.dialect.failure();
    let help = format!(
        "a message is one text, as in `failed: ${{{failure}}}`; what does nothing is `{{\"ignore\": true}}`"
    );
    reader.report(wrong.expected(expected, node.kind_name()).help(help));
}

/// Reads calls under `compensate`, which are made here in order.
pub(crate) fn compensations<'a>(reader: &mut StepReader<'a>, node: Option<&Node<'a>>) {
    let Some(node) = node else { return };
    for item in calls(reader, node, Key::Compensate) {
        marked_call(reader, item.node, Key::Compensate);
    }
}

/// Reads calls under `rollback`, which are registered here from the last to the first: the entry that is
/// registered last runs first, so they run in the written order.
pub(crate) fn rollbacks<'a>(reader: &mut StepReader<'a>, node: Option<&Node<'a>>) {
    let Some(node) = node else { return };
    for item in calls(reader, node, Key::Rollback).into_iter().rev() {
        marked_call(reader, item.node, Key::Rollback);
    }
}

/// The calls under `compensate` or `rollback`.
fn calls<'d, 'a>(reader: &mut StepReader<'a>, node: &'d Node<'a>, key: Key) -> Vec<RawStep<'d, 'a>> {
    let is_callee = |it: &Entry<'a>| it.is(|name| is_for(name, Key::Call)) && it.value.text().is_some();
    let calls = |node: &Node<'a>| entries(node).iter().any(is_callee);
    let node = habits::shaped(reader, node, habits::parts::undoing);
    match &node.kind {
        NodeKind::List(nodes) => RawStep::listed(nodes),
        NodeKind::Record(list) if reader.dialect.is_yaml() && !calls(node) => RawStep::named(list),
        NodeKind::Record(_) => vec![RawStep { name: None, node }],
        _ => {
            let (call, args) = (reader.dialect.word(Key::Call), reader.dialect.word(Key::Args));
            let wrong =
                wrong_shape(node, &format!("`{}`", reader.dialect.word(key)), "a call, or a list of calls");
            reader.report(wrong.help(format!("write a record with `{call}` and `{args}` for each")));
            Vec::new()
        }
    }
}

fn marked_call<'a>(reader: &mut StepReader<'a>, node: &Node<'a>, key: Key) {
    if entries(node).is_empty() {
        return reader.bad_shape(node, "a rollback", "a record with `call`");
    }
    let keyed = reader.keyed(node, &[Key::Call, Key::Args], "a rollback call");
    if !keyed.has(Key::Call) {
        let help = format!("`{}` takes calls alone", reader.dialect.word(key));
        return reader.missing(first_of(node), Key::Call, "a rollback", &help);
    }
    let call = reader.within(reader.sometimes(), |reader| values::call(reader, &keyed));
    let span = Span::new(node.span.start, call.span.end);
    reader.push(if key == Key::Rollback { StmtKind::Rollback(call) } else { StmtKind::Undo(call) }, span);
}

/// The name before arguments in parentheses.
pub(crate) fn in_parentheses(text: &str) -> Option<&str> {
    text.split_once('(').filter(|(name, rest)| is_name(name) && rest.ends_with(')')).map(|(name, _)| name)
}

/// A failure that is handled.
#[derive(Clone, Copy)]
struct Handled {
    failure: Slot,
    /// The purpose of the value of the handler.
    tail: Aim,
    /// The span of its key.
    at: Span,
}
