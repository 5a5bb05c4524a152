//! Reads steps that are calls or fallible functions: what is called, the handler of a failure, the steps
//! under `then`, the calls that undo effects now (`compensate`) or if something fails later (`rollback`), and
//! `match` on the result of a call.
//!
//! A handler covers only its own call or outermost function. It becomes the ERR arm of a MATCH directly after
//! the call. The OK arm is omitted, so that the value stays in the slot of the call, or it has the calls that
//! `rollback` registers and the steps of `then`.

use super::reader::{Position, StepReader, literal, of_slot};
use super::step::{Bind, Item, Keyed, Step, Tail, Target};
use crate::ast::{
    Arm, Block, Bound, Control, Expr, ExprKind, If, Literal, Match, Name, ReturnKind, Slot, Stmt, StmtKind,
    Try,
};
use crate::catalog::{meant_address, own_function, own_function_address};
use crate::diagnostic::Diagnostic;
use crate::dialect::{HANDLER, Key};
use crate::document::{Entry, Node, NodeKind, entries, first_of, inner, shown};
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    /// The tool or function that is called.
    pub(crate) fn callee(&mut self, node: &Node<'a>) -> Name<'a> {
        let node =
            self.shaped(Key::Call, node, node.text().is_some_and(|text| meant_address(text).is_some()));
        let Some(text) = node.text() else {
            self.bad_shape(node, "what is called", "the name of a tool or function, a text");
            return Name { text: "", span: node.span };
        };
        let called = in_parentheses(text);
        if text.is_empty() || text.contains("${") || called.is_some() {
            let message = "what is called is a name that is there before the program runs";
            let wrong = Diagnostic::new(Code::BadShape, node.span, message)
                .expected("the name of a tool or function", format!("`{}`", shown(node)));
            self.report(wrong.help(match called {
                Some(name) => format!("write `{name}` alone, and its arguments beside it, by their names"),
                None => "choose between tools with `if`, each with a `call` of its own".to_owned(),
            }));
        }
        let name = Name { text: called.unwrap_or(text), span: inner(node) };
        let Some((own, function)) = self.unnamed_function(name) else { return name };
        let message =
            format!("no function is named `{own}`; the only other function, which has no name, is called");
        let named = format!("`\"name\": \"{own}\"`");
        let wrong = Diagnostic::new(Code::UnnamedSelf, name.span, message)
            .expected(format!("a function with {named} in its `meta`"), "one without a name");
        self.report(wrong.help(format!("write {named} into the `meta` of the function that is meant")));
        function
    }

    /// The only other unnamed function, for an unknown `mcp://self/name`, and its name.
    pub(crate) fn unnamed_function(&self, name: Name<'a>) -> Option<(&'a str, Name<'a>)> {
        let own = own_function(name.text)?;
        let list = self.functions.list;
        if list.iter().any(|&(function, given)| given && function == own) {
            return None;
        }
        let mut others =
            list.iter().enumerate().filter(|&(at, &(_, given))| !given && at != self.functions.own);
        let (Some((_, &(only, _))), None) = (others.next(), others.next()) else { return None };
        Some((own, Name { text: self.arena.alloc_str(&own_function_address(only)), span: name.span }))
    }

    /// A step with a call.
    pub(crate) fn call_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let call = self.call(&step.keyed);
        self.attempt(step, Expr { kind: ExprKind::Call(call), span: call.span }, tail);
    }

    /// A step with an expression, which may have a handler.
    pub(crate) fn value_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let suspects = self.suspects.len();
        let value = self.construct_of(step.form.key, &step.keyed);
        let faulty = step.faulty || self.suspects.len() > suspects || value.is_bad();
        let handler = step.keyed.entry(Key::Handler).or(step.keyed.entry(Key::Compensate));
        match handler.filter(|_| value.attempt().is_none()) {
            None => self.attempt(step, value, tail),
            Some(_) if value.calls() => self.try_value(step, value, tail),
            Some(handler) => {
                if !faulty {
                    let word = shown(&handler.key);
                    let message = format!("`{word}` is beside an expression in which nothing can fail");
                    let help = "leave it out; a fault ends the run, so test for its cause with `if` before";
                    self.report(Diagnostic::new(Code::HandlerNowhere, handler.key.span, message).help(help));
                }
                self.finish(Bound::Expr(value), step.target, tail, step.head());
            }
        }
    }

    /// A step with an expression of which a part can fail: it is tried.
    fn try_value(&mut self, step: &Step<'_, 'a>, value: Expr<'a>, tail: Tail) {
        let of_blocks = if step.target.is_some() { Tail::Value } else { tail };
        let body = self.block(|this| this.push(StmtKind::Value(value), step.head()));
        let handler = self
            .failure_arm(step, HandledBy { tail: of_blocks, is_text: true, bind: None, may_be_nil: false });
        let control = Control::Try(self.arena.alloc(Try { body, handler, span: step.place() }));
        self.finish(Bound::Control(control), step.target, tail, step.head());
    }

    /// A step whose value can fail.
    fn attempt(&mut self, step: &Step<'_, 'a>, value: Expr<'a>, tail: Tail) {
        let of_then = then_value(step, tail);
        let (tail, has_then) = (of_then.unwrap_or(tail), of_then.is_some());
        if !step.keyed.has(Key::Handler) && !step.keyed.has(Key::Compensate) {
            return self.attempt_unhandled(step, value, (tail, has_then));
        }
        let is_read = step.target.is_some_and(|target| self.is_read_behind(step, target));
        let before = step.target.filter(|of| !of.own).and_then(|of| self.scope.find(of.name.text));
        let bind = self.bind_call(step, value);
        let of_call = self.statements.len().saturating_sub(1);
        let of_err = match tail {
            Tail::Drop if !is_read => Tail::Drop,
            Tail::Yield if has_then && !is_read => Tail::Yield,
            _ => Tail::Value,
        };
        let bound = (of_err == Tail::Value).then_some(bind);
        let is_text = self.fails_with_text(&value);
        let by = HandledBy { tail: of_err, is_text, bind: bound, may_be_nil: is_read };
        let err = self.failure_arm(step, by);
        // What the name held before, if the handler reads it or gives the name no value: else it is nil then.
        let gives_none = is_read && bound.is_some() && err.body.completes() && !err.body.binds_last(bind.0);
        let reads = err.body.uses(bind.0);
        let kept = before == Some(bind.0) && (reads || gives_none);
        let err = if gives_none && !kept && !reads { self.beginning_with_nil(err, bind) } else { err };
        let call = if kept { self.held_apart(of_call, bind) } else { bind };
        let gives_in_arms = has_then || (err.body.completes() && !err.body.binds_last(bind.0));
        if tail == Tail::Yield && gives_in_arms {
            return self.attempt_in_pass(step, bind, (call, value.span), err);
        }
        let rollback = step.get(Key::Rollback);
        let result = (has_then && tail.wanted()).then(|| (self.hidden(None), step.place()));
        let (mut ok, mut gives) = (None, false);
        if has_then || rollback.is_some() || kept {
            let body = self.block(|this| {
                this.bind_result(call, bind, step);
                this.rollbacks(rollback);
                gives = has_then && this.then_in_arm(step, result);
            });
            let span = step.keyed.place(if has_then { Key::Then } else { Key::Rollback });
            ok = Some(Arm { bind: call.0, bind_span: call.1, body, span });
        }
        let result = result.filter(|_| gives);
        let err = result.map_or(err, |(slot, slot_span)| {
            let value = Bound::Expr(of_slot(bind.0, bind.1));
            self.longer(err, StmtKind::Let { slot, slot_span, value }, bind.1)
        });
        let node = Match { slot: call.0, slot_span: call.1, err: Some(err), ok, span: value.span };
        self.push_control(Control::Match(self.arena.alloc(node)), step.head());
        match result {
            Some(result) => self.push_slot(result, step.head()),
            None if has_then => {}
            None => self.value_of_call(bind, step, tail),
        }
    }

    /// A step whose value can fail, without a handler; `has_then` says that steps follow its success.
    fn attempt_unhandled(&mut self, step: &Step<'_, 'a>, value: Expr<'a>, (tail, has_then): (Tail, bool)) {
        let rollback = step.get(Key::Rollback);
        if !has_then && (rollback.is_none() || (step.target.is_none() && !tail.wanted())) {
            self.finish(Bound::Expr(value), step.target, tail, step.head());
            return self.rollbacks(rollback);
        }
        if has_then && step.target.is_none() {
            self.push(StmtKind::Value(value), step.head());
            self.rollbacks(rollback);
            return self.then_steps(step, tail);
        }
        let bind = self.bind_call(step, value);
        self.rollbacks(rollback);
        if has_then { self.then_steps(step, tail) } else { self.value_of_call(bind, step, tail) }
    }

    /// The end of a call with a handler that is the last step of a pass: each arm gives what the pass yields,
    /// or nothing.
    fn attempt_in_pass(&mut self, step: &Step<'_, 'a>, bind: Bind, (call, span): (Bind, Span), err: Arm<'a>) {
        let err = if err.body.binds_last(bind.0) {
            self.longer(err, StmtKind::Value(of_slot(bind.0, bind.1)), bind.1)
        } else {
            err
        };
        let body = self.block(|this| {
            this.bind_result(call, bind, step);
            this.rollbacks(step.get(Key::Rollback));
            if step.keyed.has(Key::Then) {
                this.then_steps(step, Tail::Yield);
            } else {
                this.push_slot(bind, step.head());
            }
        });
        let ok = Some(Arm { bind: call.0, bind_span: call.1, body, span: step.place() });
        let node = Match { slot: call.0, slot_span: call.1, err: Some(err), ok, span };
        self.push_control(Control::Match(self.arena.alloc(node)), step.head());
    }

    /// Gives the call that a statement binds to a name an unnamed slot: the name keeps what it held before
    /// until the call has succeeded, or its handler gives the name a value.
    fn held_apart(&mut self, of_call: usize, (named, at): Bind) -> Bind {
        let apart = self.hidden(None);
        if let Some(Stmt { kind: StmtKind::Let { slot, .. }, .. }) = self.statements.get_mut(of_call)
            && *slot == named
        {
            *slot = apart;
        }
        (apart, at)
    }

    /// Binds the result of a call that has a slot apart from that of its name.
    fn bind_result(&mut self, (call, at): Bind, (slot, slot_span): Bind, step: &Step<'_, 'a>) {
        if call != slot {
            let value = Bound::Expr(of_slot(call, at));
            self.push(StmtKind::Let { slot, slot_span, value }, step.head());
        }
    }

    /// Binds a call to the name of its step, or to an unnamed slot.
    fn bind_call(&mut self, step: &Step<'_, 'a>, value: Expr<'a>) -> Bind {
        let bind = match step.target {
            Some(target) => self.bind_target(target),
            None => (self.hidden(None), value.span),
        };
        self.push(StmtKind::Let { slot: bind.0, slot_span: bind.1, value: Bound::Expr(value) }, step.head());
        bind
    }

    /// Ends a step that binds a call; its value is that of the call, if one is needed.
    fn value_of_call(&mut self, bind: Bind, step: &Step<'_, 'a>, tail: Tail) {
        if tail.wanted() && (step.target.is_none() || matches!(tail, Tail::Value | Tail::Yield)) {
            self.push_slot(bind, step.head());
        }
    }

    /// `try`: steps, and a handler for their failures.
    pub(crate) fn try_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let Some(steps) = step.get(Key::Try) else { return };
        let of_blocks = if step.target.is_some() { Tail::Value } else { tail };
        let inside = Position { in_try: true, ..self.at };
        let body = self.within(inside, |this| this.branch(steps, of_blocks, Key::Try));
        let handler = self
            .failure_arm(step, HandledBy { tail: of_blocks, is_text: false, bind: None, may_be_nil: false });
        let node = Try { body, handler, span: step.place() };
        self.finish(Bound::Control(Control::Try(self.arena.alloc(node))), step.target, tail, step.head());
    }

    /// `match` on the result of a call: steps for its value, and a handler for its failure.
    pub(crate) fn result_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let Some(own) = step.get(Key::Match).and_then(|node| self.result_of(node)) else { return };
        let of_arms = if step.target.is_some() { Tail::Value } else { tail };
        let handles = step.keyed.has(Key::Handler) || step.keyed.has(Key::Compensate);
        let by = HandledBy { tail: of_arms, is_text: false, bind: None, may_be_nil: false };
        let err = handles.then(|| self.failure_arm(step, by));
        let ok = (step.keyed.has(Key::Then) || step.keyed.has(Key::As)).then(|| {
            let mut bind = own;
            let body = self.block(|this| bind = this.success(own, step, of_arms));
            Arm { bind: bind.0, bind_span: bind.1, body, span: step.place() }
        });
        let node = Match { slot: own.0, slot_span: own.1, err, ok, span: step.place() };
        self.finish(Bound::Control(Control::Match(self.arena.alloc(node))), step.target, tail, step.head());
    }

    /// Whether its failure is a text: that of a tool, or of a pure function.
    fn fails_with_text(&self, value: &Expr<'a>) -> bool {
        let ExprKind::Call(call) = value.kind else { return true };
        let own = own_function(call.tool.text).unwrap_or(call.tool.text);
        !self.functions.list.iter().any(|&(name, _)| name == own)
    }

    /// The slot of the call to which a `match` refers.
    fn result_of(&mut self, node: &Node<'a>) -> Option<Bind> {
        let value = self.value(node);
        if let ExprKind::Ref(slot) = value.kind {
            return Some((slot, value.span));
        }
        let message = "a `match` without `cases` takes the result of a call apart";
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), message)
            .expected("a reference to the name of a call before", shown(node));
        self.report(wrong.help("name the call in its step, and refer to that name"));
        None
    }

    /// The steps for the value of a call. Returns the slot of the value; without `as` it is that of the call.
    fn success(&mut self, own: Bind, step: &Step<'_, 'a>, tail: Tail) -> Bind {
        let name = step.get(Key::As).and_then(|node| self.written_name(node));
        let bind = name.map_or(own, |name| (self.bind(name), name.span));
        self.then_steps(step, tail);
        bind
    }

    /// Whether the value of a call may be read behind its step. A name that was bound before may be read by
    /// the next pass of a loop. Asked before the step binds its name.
    pub(crate) fn is_read_behind(&self, step: &Step<'_, 'a>, of: Target<'a>) -> bool {
        let rebound = !of.own && self.scope.find(of.name.text).is_some();
        rebound || self.survey.used_after(of.name.text, step.keyed.span.end)
    }

    /// The steps under `then`, in the current block.
    pub(crate) fn then_steps(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        if let Some(node) = step.get(Key::Then) {
            self.branch_steps(node, tail, Key::Then);
        }
    }

    /// Adds the steps under `then` to an OK arm, which binds their value to `result`. Returns whether there
    /// is a value, or no path goes on.
    pub(crate) fn then_in_arm(&mut self, step: &Step<'_, 'a>, result: Option<Bind>) -> bool {
        let start = self.statements.len();
        self.then_steps(step, if result.is_some() { Tail::Value } else { Tail::Drop });
        let last = self.statements.get(start..).and_then(<[Stmt<'a>]>::last);
        let gives = last.is_some_and(|last| last.kind.given().is_some() || !last.completes());
        self.bind_last(start, result);
        gives
    }

    /// A failure arm that begins with nil in the slot of its call.
    fn beginning_with_nil(&self, err: Arm<'a>, (slot, slot_span): Bind) -> Arm<'a> {
        let value = Bound::Expr(literal(Literal::Nil, err.span));
        let first = Stmt { kind: StmtKind::Let { slot, slot_span, value }, span: err.span };
        let statements = self.arena.collect([first].into_iter().chain(err.body.statements.iter().copied()));
        Arm { body: Block { statements }, ..err }
    }

    /// An arm with one more statement, if a path goes on behind it.
    fn longer(&self, arm: Arm<'a>, kind: StmtKind<'a>, span: Span) -> Arm<'a> {
        if !arm.body.completes() {
            return arm;
        }
        let statements = self.arena.collect(arm.body.statements.iter().copied().chain([Stmt { kind, span }]));
        Arm { body: Block { statements }, ..arm }
    }

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
                let steps = handler.filter(|node| of_try && matches!(node.kind, NodeKind::List(_)));
                let action = match steps {
                    Some(node) => Action::Steps(node),
                    None => this.action(handler, at, compensate.map(|entry| &entry.value)),
                };
                this.act(action, bind.0, by.tail, at);
            });
            let last = this.statements.get(start..).and_then(<[_]>::last).copied();
            let gives = last.as_ref().is_some_and(Stmt::may_give);
            match (last.map(|last| last.kind), by.bind.filter(|_| by.may_be_nil && gives)) {
                (Some(StmtKind::Control(control @ Control::If(_))), Some(bind)) if control.lacks_value() => {
                    let paths = this.arena.alloc_slice_copy(this.statements.get(start..).unwrap_or_default());
                    this.statements.truncate(start);
                    let bound = this.binding_paths(Block { statements: paths }, bind);
                    this.statements.extend_from_slice(bound.statements);
                }
                _ => this.bind_last(start, by.bind.filter(|_| gives || !by.may_be_nil)),
            }
        });
        Arm { bind: bind.0, bind_span: bind.1, body, span: at }
    }

    /// A block in which each path of its last `if` that gives a value binds it.
    fn binding_paths(&self, block: Block<'a>, (slot, slot_span): Bind) -> Block<'a> {
        let Some((last, before)) = block.statements.split_last() else { return block };
        let kind = match last.kind {
            StmtKind::Value(value) => StmtKind::Let { slot, slot_span, value: Bound::Expr(value) },
            StmtKind::Control(Control::If(node)) => {
                let then = self.binding_paths(node.then, (slot, slot_span));
                let otherwise = node.otherwise.map(|block| self.binding_paths(block, (slot, slot_span)));
                StmtKind::Control(Control::If(self.arena.alloc(If { then, otherwise, ..*node })))
            }
            _ => return block,
        };
        Block { statements: self.arena.collect(before.iter().copied().chain([Stmt { kind, ..*last }])) }
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
        let node = self.shaped(Key::Handler, node, !matches!(node.kind, NodeKind::Null));
        match &node.kind {
            NodeKind::Text(text) if !self.dialect.is_bare() && self.survey.binding(text.text).is_some() => {
                self.bad_shape(node, "a handler", "a message, or holds the steps that this names");
                Action::Ignore
            }
            NodeKind::Text(_) => Action::Fail(Some(node), at),
            NodeKind::Null => Action::Ignore,
            NodeKind::Record(list) => {
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
            NodeKind::List([]) => "a handler that does nothing is `{\"ignore\": true}`".to_owned(),
            _ => format!("a message is one text, with the failure in it: `\"failed: ${{{failure}}}\"`"),
        };
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), message);
        self.report(wrong.expected(expected, node.kind_name()).help(help));
    }

    /// `ignore` and `continue`, each with `true`.
    fn passing<'d>(&mut self, key: Key, entry: &'d Entry<'a>) -> Action<'d, 'a> {
        self.expect_true(key, entry);
        let place = entry.key.span;
        if key == Key::Continue && !self.loops.is_empty() {
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

    /// Reads calls under `compensate`, which are made here in order.
    pub(crate) fn compensations(&mut self, node: Option<&Node<'a>>) {
        let Some(node) = node else { return };
        for item in self.calls(node, Key::Compensate) {
            self.marked_call(item.node, Key::Compensate);
        }
    }

    /// Reads calls under `rollback`, which are registered here from the last to the first: the entry that is
    /// registered last runs first, so they run in the written order.
    pub(crate) fn rollbacks(&mut self, node: Option<&Node<'a>>) {
        let Some(node) = node else { return };
        for item in self.calls(node, Key::Rollback).into_iter().rev() {
            self.marked_call(item.node, Key::Rollback);
        }
    }

    /// The calls under `compensate` or `rollback`.
    fn calls<'d>(&mut self, node: &'d Node<'a>, key: Key) -> Vec<Item<'d, 'a>> {
        let call = self.dialect.word(Key::Call);
        let calls = |node: &Node<'a>| entries(node).iter().any(|entry| entry.name() == Some(call));
        let odd = match node.kind {
            NodeKind::Text(_) => true,
            NodeKind::Record(_) => self.dialect.is_yaml() && !calls(node),
            _ => false,
        };
        let node = self.shaped(key, node, odd);
        match &node.kind {
            NodeKind::List(nodes) => Item::listed(nodes),
            NodeKind::Record(list) if self.dialect.is_yaml() && !calls(node) => Item::named(list),
            NodeKind::Record(_) => vec![Item { name: None, node }],
            _ => {
                self.no_calls(node, key);
                Vec::new()
            }
        }
    }

    fn marked_call(&mut self, node: &Node<'a>, key: Key) {
        if entries(node).is_empty() {
            return self.bad_shape(node, "a rollback", "a record with `call`");
        }
        let keyed = self.keyed(node, &[Key::Call, Key::Args], "a rollback call");
        if !keyed.has(Key::Call) {
            let help = format!("`{}` takes calls alone", self.dialect.word(key));
            return self.missing(first_of(node), Key::Call, "a rollback", &help);
        }
        let call = self.within(self.sometimes(), |this| this.call(&keyed));
        let span = Span::new(node.span.start, call.span.end);
        self.push(if key == Key::Rollback { StmtKind::Rollback(call) } else { StmtKind::Undo(call) }, span);
    }

    /// Reports rollbacks that are neither a record nor a list.
    fn no_calls(&mut self, node: &Node<'a>, key: Key) {
        let (call, args) = (self.dialect.word(Key::Call), self.dialect.word(Key::Args));
        let (word, one) = (self.dialect.word(key), key == Key::Rollback);
        let form = match (self.dialect.is_yaml(), one) {
            (true, true) => format!("`{call}: tool` below it, with `{args}:`"),
            (true, false) => format!("`- {call}: tool`, with `{args}:`"),
            (false, true) => format!("`{{\"{call}\": \"tool\", …}}`"),
            (false, false) => format!("`[{{\"{call}\": \"tool\", …}}]`"),
        };
        let what = if one { "a call, or a list of calls" } else { "a list of calls" };
        let wrong = Diagnostic::new(Code::BadShape, node.span, format!("`{word}` is {what}"))
            .expected(form.clone(), node.kind_name());
        self.report(wrong.help(format!("write {form}")));
    }
}

/// The name before arguments in parentheses.
pub(crate) fn in_parentheses(text: &str) -> Option<&str> {
    text.split_once('(').filter(|(name, rest)| is_name(name) && rest.ends_with(')')).map(|(name, _)| name)
}

/// The purpose of the value of the last step under `then`, if a call has it.
pub(crate) fn then_value(step: &Step<'_, '_>, tail: Tail) -> Option<Tail> {
    step.get(Key::Then)?;
    let named = step.target.is_some() && tail == Tail::Unnamed;
    Some(if named { Tail::Drop } else { tail })
}

/// How the failure of a call is handled.
#[derive(Clone, Copy)]
pub(crate) struct HandledBy {
    /// The purpose of the value of the arm.
    pub(crate) tail: Tail,
    /// Whether the failure is a text, like that of a tool.
    pub(crate) is_text: bool,
    /// The slot to which the value of the arm is bound.
    pub(crate) bind: Option<(Slot, Span)>,
    /// Whether the slot may be nil where the arm gives no value.
    pub(crate) may_be_nil: bool,
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
