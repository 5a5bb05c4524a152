//! Calls, and what a step does where its call fails.
//!
//! A handler covers its own call only. It becomes the ERR arm of a MATCH right behind the call; the OK arm is left out,
//! so that the value stays in the slot of the call.

use super::dialect::{HANDLER, Key};
use super::draft::Draft;
use super::keys::{Keyed, entries, first_of, shown, some_words};
use super::reader::{Loop, Reader, literal, of_slot};
use super::refer::inner;
use super::steps::{Item, Step, Tail, named};
use super::tree::{Kind, Node};
use crate::ast::{
    Arm, Block, Bound, Call, Control, Expr, ExprKind, If, Literal, Match, Name, ReturnKind, Slot, Stmt,
    StmtKind, Unary,
};
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix};
use crate::span::Span;
use ilo_spec::error::Code;

/// What the name of a function of the same file begins with.
const SELF: &str = "mcp://self/";

/// The arm of a failure, read but not ended.
struct Failing {
    /// What takes the failure, and where that is said.
    slot: Slot,
    span: Span,
    /// The word that says that it is handled.
    at: Span,
    /// Where its statements begin.
    start: usize,
    /// It leaves the loop's element out.
    skips: bool,
}

/// What a handler does once its rollback calls have run.
enum Then<'d, 'a> {
    /// Fails with a message, or with the failure itself.
    Fail(Option<&'d Node<'a>>),
    /// Returns.
    Leave(Key, &'d super::tree::Entry<'a>),
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
    /// The call of a step or value.
    pub(super) fn call(&mut self, keyed: &Keyed<'_, 'a>) -> &'a Call<'a> {
        let span = keyed.place(Key::Call);
        let tool = keyed.get(Key::Call).map_or(Name { text: "", span }, |node| self.tool(node));
        let arguments = match keyed.get(Key::Args) {
            Some(node) if matches!(node.kind, Kind::Null) => &[],
            Some(node) => {
                let listed = self.listed_arguments(node);
                if listed.is_none() && !matches!(node.kind, Kind::Record(_)) {
                    self.no_arguments(node);
                }
                self.fields(listed.as_ref().unwrap_or(node))
            }
            None => &[],
        };
        self.new_call(tool, arguments, span)
    }

    /// Arguments as a list of records with one each: reports it, and gives back the record that it should have been.
    fn listed_arguments(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let Kind::List(items) = node.kind else { return None };
        let only = |item: &Node<'a>| match entries(item) {
            [only] => Some((only.name()?, Draft::Kept(only.value))),
            _ => None,
        };
        let fields: Vec<(&'a str, Draft<'a>)> = items.iter().map(only).collect::<Option<_>>()?;
        if fields.is_empty() {
            return None;
        }
        let draft = Draft::Record(fields);
        let yaml = self.dialect.is_yaml();
        let word = self.dialect.word(Key::Args);
        let message = format!("`{word}` is one record, not a list of records");
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), message)
            .expected(format!("`{}`", draft.outline(yaml)), "a list of records");
        self.report(match draft.fix(node, self.source, yaml, self.dialect.is_bare()) {
            Some(fix) => wrong.fix(fix),
            None => wrong.help("write each argument as its name and its value"),
        });
        Some(draft.node(first_of(node), self.arena))
    }

    /// Reports arguments that are no record; a record as the text of its JSON is one without the quotes.
    fn no_arguments(&mut self, node: &Node<'a>) {
        let word = self.dialect.word(Key::Args);
        let what = format!("`{word}` is a record of names and values, but this is {}", node.kind_name());
        let wrong = Diagnostic::new(Code::BadShape, first_of(node), what)
            .expected("a record of names and values", node.kind_name());
        let json = node.text().filter(|text| {
            let mut found = Diagnostics::default();
            let read = super::json::read(text, self.arena, &crate::id::Options::default(), &mut found);
            found.as_slice().is_empty() && matches!(read, [Node { kind: Kind::Record(_), .. }])
        });
        self.report(match json {
            Some(json) if !self.dialect.is_yaml() => wrong.replace(node.span, json.trim()),
            Some(_) => wrong.help("write the record itself, not the text of its JSON"),
            None => wrong.help("write each argument as its name and its value"),
        });
    }

    fn tool(&mut self, node: &Node<'a>) -> Name<'a> {
        let Kind::Text(text) = node.kind else {
            self.bad_shape(node, "what is called", "the name of a tool or function, a text");
            return Name { text: "", span: node.span };
        };
        if text.text.is_empty() || text.text.contains("${") {
            let message = "what is called is a name that is there before the program runs";
            self.report(
                Diagnostic::new(Code::BadShape, node.span, message)
                    .expected("the name of a tool or function", format!("`{}`", shown(node)))
                    .help("choose between tools with `if`, each with a `call` of its own"),
            );
        }
        let after = ["self/", "mcp:/self/", "mcp:self/", "mcp:/", "mcp:"]
            .iter()
            .find_map(|start| text.text.strip_prefix(start));
        if let Some(after) = after.filter(|after| !after.starts_with('/')) {
            let own = text.text.contains("self/");
            let meant = format!("{}{after}", if own { SELF } else { "mcp://" });
            let mut wrong =
                Diagnostic::new(Code::BadShape, node.span, "a tool of a server is `mcp://server/tool`")
                    .expected(format!("`{meant}`"), format!("`{}`", shown(node)));
            wrong.fix = super::keys::rename(node, &meant);
            self.report(wrong);
            return Name { text: self.arena.alloc_str(&meant), span: inner(node) };
        }
        self.meant_function(Name { text: text.text, span: inner(node) }, true)
    }

    /// `mcp://self/name`: the function of that name, or the only other one without a name.
    pub(super) fn meant_function(&mut self, name: Name<'a>, warns: bool) -> Name<'a> {
        let Some(own) = name.text.strip_prefix(SELF) else { return name };
        let list = self.functions.list;
        if list.iter().any(|&(known, given)| given && known == own) {
            return name;
        }
        let mut others =
            list.iter().enumerate().filter(|&(at, &(_, given))| !given && at != self.functions.own);
        let (Some((_, &(only, _))), None) = (others.next(), others.next()) else { return name };
        let warning = || {
            Diagnostic::new(
                Code::UnnamedSelf,
                name.span,
                format!(
                    "no function is named `{own}`; the only other function, which has no name, is called"
                ),
            )
            .expected(format!("a function with `\"name\": \"{own}\"` in its `meta`"), "one without a name")
            .help(format!("write `\"name\": \"{own}\"` into the `meta` of the function that is meant"))
        };
        if warns {
            self.report(warning());
        }
        Name { text: self.arena.alloc_str(&format!("{SELF}{only}")), span: name.span }
    }

    /// A step with a call; `rest` are the steps behind it in its block, which is for `of_block`.
    pub(super) fn call_step(
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
                    this.push(StmtKind::Value(of_slot(slot, slot_span)), step.head());
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
            self.push(StmtKind::Value(of_slot(slot, slot_span)), step.head());
        }
    }

    /// `match` on what a call before has given: what is done with its value, and with its failure.
    pub(super) fn result_step(
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
    fn failed(&mut self, failing: &Failing) -> Arm<'a> {
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
        let expected = format!("a record with one of {}", some_words(self.dialect, &HANDLER));
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

    /// Rollback calls, in their order.
    pub(super) fn compensations(&mut self, node: Option<&Node<'a>>) {
        let Some(node) = node else { return };
        let single;
        let items: Vec<Item<'_, 'a>> = match &node.kind {
            Kind::List(nodes) => nodes.iter().map(|node| Item { name: None, node }).collect(),
            Kind::Record(list)
                if self.dialect.is_yaml() && !list.iter().any(|entry| entry.name() == Some("call")) =>
            {
                named(list)
            }
            Kind::Record(_) => {
                single = Item { name: None, node };
                vec![single]
            }
            _ => {
                let form = if self.dialect.is_yaml() {
                    "`- call: tool`, with `args:`"
                } else {
                    "`[{\"call\": \"tool\", …}]`"
                };
                let wrong = Diagnostic::new(Code::BadShape, node.span, "`compensate` is a list of calls")
                    .expected(form, node.kind_name());
                let tool = node.text().filter(|_| !self.dialect.is_yaml());
                let written = tool.and(self.source.get(node.span.range()));
                self.report(match written {
                    Some(tool) => {
                        let blank = if self.dialect.is_bare() { "" } else { " " };
                        wrong.replace(node.span, format!("[{{\"call\":{blank}{tool}}}]"))
                    }
                    None => wrong.help(format!("write {form}")),
                });
                return;
            }
        };
        for item in items {
            if entries(item.node).is_empty() {
                self.bad_shape(item.node, "a rollback", "a record with `call`");
                continue;
            }
            let keyed = self.keyed(item.node, &[Key::Call, Key::Args], "a rollback call");
            if !keyed.has(Key::Call) {
                self.missing(first_of(item.node), Key::Call, "a rollback", "`compensate` takes calls alone");
                continue;
            }
            let call = self.call(&keyed);
            self.push(StmtKind::Undo(call), Span::new(item.node.span.start, call.span.end));
        }
    }

    /// A handler that skips: what follows stands in the OK arm, behind what `first` makes of the value. Where the block
    /// is not the loop's own, a slot says to the blocks around it that the rest of the pass is left out.
    fn skip(
        &mut self,
        (slot, slot_span): (Slot, Span),
        failing: &Failing,
        step: &Step<'_, 'a>,
        (rest, of_block): (&[Item<'_, 'a>], Tail),
        first: impl FnOnce(&mut Self) -> (Slot, Span),
    ) {
        let at = failing.at;
        let deep = self.open_loops.last().is_some_and(|open| open.level + 2 < self.blocks);
        if deep {
            let flag = self.raise();
            let value = Bound::Expr(literal(Literal::Bool(true), at));
            self.push(StmtKind::Let { slot: flag, slot_span: at, value }, at);
            if of_block == Tail::Value {
                self.push(StmtKind::Value(literal(Literal::Nil, at)), at);
            }
        }
        let err = self.failed(failing);
        let mut bind = (slot, slot_span);
        let body = self.block(|this| {
            bind = first(this);
            // The blocks of a loop are counted as if this one were not there.
            this.blocks -= 1;
            this.steps(rest, of_block);
            this.blocks += 1;
        });
        let ok = Arm { bind: bind.0, bind_span: bind.1, body, span: step.place() };
        let node = Match { slot, slot_span, err: Some(err), ok: Some(ok), span: step.place() };
        self.push(StmtKind::Control(Control::Match(self.arena.alloc(node))), step.head());
        self.took_rest = true;
    }

    /// `skip` as a step of a loop.
    pub(super) fn skip_step(&mut self, step: &Step<'_, 'a>) {
        self.bad_step(
            step.place(),
            "`skip` is what a handler does, and no step",
            "a step",
            "`skip`",
            "put what follows under the `then` of an `if` instead",
        );
    }

    /// The slot that says that the rest of a pass is left out.
    fn raise(&mut self) -> Slot {
        if let Some(Loop { skipped: Some(flag), .. }) = self.open_loops.last() {
            return *flag;
        }
        let flag = self.scope.own("skipped");
        if let Some(open) = self.open_loops.last_mut() {
            open.skipped = Some(flag);
        }
        flag
    }

    /// The slot that a step before has raised.
    pub(super) fn raised(&self) -> Option<Slot> {
        self.open_loops.last().and_then(|open| open.skipped)
    }

    /// Reads the rest of a block for where `flag` was not raised; in the loop's own block it begins as not raised.
    pub(super) fn guard(&mut self, flag: Slot, start: usize, rest: &[Item<'_, 'a>], tail: Tail) {
        let outermost = self.open_loops.last().is_some_and(|open| open.level + 1 >= self.blocks);
        let at = self.statements.get(start).map_or(Span::default(), |statement| statement.span);
        if outermost {
            let value = Bound::Expr(literal(Literal::Bool(false), at));
            let lowered = Stmt { kind: StmtKind::Let { slot: flag, slot_span: at, value }, span: at };
            self.statements.insert(start.min(self.statements.len()), lowered);
            if let Some(open) = self.open_loops.last_mut() {
                open.skipped = None;
            }
        }
        if rest.is_empty() {
            return;
        }
        let then: Block<'a> = self.block(|this| {
            this.blocks -= 1;
            this.steps(rest, tail);
            this.blocks += 1;
        });
        let condition = self.not(of_slot(flag, at), at);
        let otherwise = (tail == Tail::Value && !outermost)
            .then(|| self.block(|this| this.push(StmtKind::Value(literal(Literal::Nil, at)), at)));
        let node = If { condition, then, otherwise, span: at };
        self.push(StmtKind::Control(Control::If(self.arena.alloc(node))), at);
    }

    pub(super) fn not(&self, operand: Expr<'a>, span: Span) -> Expr<'a> {
        Expr { kind: ExprKind::Unary(Unary::Not, self.alloc(operand)), span }
    }
}
