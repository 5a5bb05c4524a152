//! Steps to statements: blocks, bindings, and what each kind of step makes.
//!
//! Calls with handlers are the business of [`super::handler`], `if`, `switch` and `for` that of [`super::control`].

use super::dialect::{Form, Key, Meant, RESULT, STEPS, begins_step, instead};
use super::keys::{Keyed, entries, first_of, rename, shown, some_words};
use super::reader::{Reader, of_slot};
use super::refer::{FAILURES, inner};
use super::tree::{Entry, Kind, Node};
use crate::ast::{Block, Bound, Expr, Name, Slot, StmtKind};
use crate::build::Notation;
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::span::Span;
use ilo_spec::error::Code;

/// What the value of a block's last step is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing.
    Drop,
    /// The block's value.
    Value,
    /// The value of a function in JSON: that of a step without a `let`.
    Unnamed,
    /// What a loop's pass yields.
    Yield,
}

impl Tail {
    pub(super) fn wanted(self) -> bool {
        self != Tail::Drop
    }
}

/// A step and the name that it stands under, in YAML.
#[derive(Clone, Copy)]
pub(super) struct Item<'d, 'a> {
    pub(super) name: Option<&'d Node<'a>>,
    pub(super) node: &'d Node<'a>,
}

impl Item<'_, '_> {
    fn start(&self) -> u32 {
        self.name.map_or(self.node.span.start, |name| name.span.start)
    }
}

/// A step being read: its kind and keys, the name that it binds, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Step<'d, 'a> {
    pub(super) form: &'static Form,
    pub(super) keyed: Keyed<'d, 'a>,
    pub(super) target: Option<Name<'a>>,
    pub(super) start: u32,
    /// Something is wrong with its keys, and so nothing is said of those that are missing.
    pub(super) faulty: bool,
}

impl<'d, 'a> Step<'d, 'a> {
    /// Where the key stands that makes it what it is.
    pub(super) fn place(&self) -> Span {
        self.keyed.place(self.form.key)
    }

    /// From its first byte to the key that makes it what it is.
    pub(super) fn head(&self) -> Span {
        Span::new(self.start, self.place().end)
    }

    pub(super) fn get(&self, key: Key) -> Option<&'d Node<'a>> {
        self.keyed.get(key)
    }
}

impl<'a> Reader<'_, 'a> {
    /// Reads steps in order. What a handler that skips leaves out stands in the branch where it does not.
    pub(super) fn steps(&mut self, items: &[Item<'_, 'a>], tail: Tail) {
        let Some((item, rest)) = items.split_first() else { return };
        let mut item = item;
        let mut rest = rest;
        loop {
            let start = self.statements.len();
            self.step(item, rest, if rest.is_empty() { tail } else { Tail::Drop }, tail);
            if core::mem::take(&mut self.took_rest) {
                return;
            }
            if let Some(flag) = self.raised() {
                self.guard(flag, start, rest, tail);
                return;
            }
            let Some((next, after)) = rest.split_first() else { return };
            (item, rest) = (next, after);
        }
    }

    /// A step; `rest` follows it in its block, which is for `of_block`.
    fn step(&mut self, item: &Item<'_, 'a>, rest: &[Item<'_, 'a>], tail: Tail, of_block: Tail) {
        let found = self.deeper(item.node.span, |this| match item.node.kind {
            Kind::Record(_) => this.record_step(item, rest, tail, of_block),
            _ => this.plain_step(item, tail),
        });
        if found.is_none() {
            self.took_rest = true;
        }
    }

    /// Something that is no record in the place of a step: a value, where one may stand.
    fn plain_step(&mut self, item: &Item<'_, 'a>, tail: Tail) {
        let span = Span::new(item.start(), item.node.span.end);
        if item.name.is_none() && !tail.wanted() {
            let found = item.node.kind_name();
            self.report(
                Diagnostic::new(
                    Code::BadStep,
                    first_of(item.node),
                    format!("a step is a record, but this is {found}"),
                )
                .expected(format!("a record with {}", step_words(self)), found)
                .help(self.step_form()),
            );
            return;
        }
        let value = self.value(item.node);
        let target = item.name.and_then(|name| self.step_name(name, item.node.span.end));
        self.finish(value, target, tail, span);
    }

    fn step_form(&self) -> &'static str {
        if self.dialect.is_yaml() {
            "write `call: tool` with `args:`, or another step"
        } else {
            "write `{\"call\": \"tool\", …}`, or another step"
        }
    }

    fn record_step(&mut self, item: &Item<'_, 'a>, rest: &[Item<'_, 'a>], tail: Tail, of_block: Tail) {
        let meant = self.meant_step(item.node);
        let item = &Item { name: item.name, node: meant.unwrap_or(item.node) };
        if self.assigns_several(item.node) {
            return;
        }
        let before = self.diagnostics.mark();
        let Some((form, keyed)) = self.kind_of_step(item, tail) else { return };
        let faulty = self.diagnostics.has_errors_since(before);
        if self.blocks == 1 {
            self.step_end = item.node.span.end;
        }
        let target = self.target(item, &keyed);
        let step = Step { form, keyed, target, start: item.start(), faulty };
        for &key in form.needs {
            if !(keyed.has(key) || faulty) {
                let what = format!("a step with `{}`", self.dialect.word(form.key));
                self.missing(step.place(), key, &what, needed(key));
            }
        }
        match form.key {
            Key::Call => self.call_step(&step, rest, tail, of_block),
            Key::Match if core::ptr::eq(form, &RESULT) => self.result_step(&step, rest, tail, of_block),
            Key::If => self.if_step(&step, tail),
            Key::Assert => self.assert_step(&step),
            Key::For => self.for_step(&step, tail),
            Key::Switch => self.switch_step(&step, tail),
            Key::Return | Key::Ok | Key::Err => self.return_step(&step),
            Key::Yield => self.yield_step(&step, tail),
            Key::Skip => self.skip_step(&step),
            Key::Compensate => self.compensations(step.get(Key::Compensate)),
            Key::Fail => self.fail_step(&step),
            _ => {
                let value = self.construct_of(form.key, &keyed);
                self.finish(value, target, tail, step.head());
            }
        }
    }

    /// Which kind of step a record is, and its keys.
    fn kind_of_step<'d>(
        &mut self,
        item: &Item<'d, 'a>,
        tail: Tail,
    ) -> Option<(&'static Form, Keyed<'d, 'a>)> {
        let list = entries(item.node);
        let is = |reader: &Self, form: &Form| {
            list.iter().any(|entry| {
                entry.name().is_some_and(|name| reader.dialect.meaning(name, &[form.key]).is_some())
            })
        };
        // `value` and `skip` are fields like any other where others stand beside them.
        let alone = |reader: &Self, form: &Form| {
            let one = |entry: &Entry<'a>| {
                entry.name().is_some_and(|name| reader.dialect.meaning(name, &[form.key, Key::Let]).is_some())
            };
            !matches!(form.key, Key::Value | Key::Skip) || list.iter().all(one)
        };
        let form = STEPS.iter().find(|form| is(self, form) && alone(self, form));
        let form = match form {
            Some(form) if form.key == Key::Match && self.takes_apart(list) => &RESULT,
            Some(form) => self.outer_kind(list, form).unwrap_or(form),
            None if self.is_value(item, tail) => {
                let value = self.value(item.node);
                let target = item.name.and_then(|name| self.step_name(name, item.node.span.end));
                self.finish(value, target, tail, Span::new(item.start(), item.node.span.end));
                return None;
            }
            None => self.misspelt_step(item)?,
        };
        let mut keys: Vec<Key> = vec![form.key];
        keys.extend(form.needs.iter().chain(form.takes));
        self.second_step(item, form, &mut keys);
        let what = format!("a step with `{}`", self.dialect.word(form.key));
        Some((form, self.keyed(item.node, &keys, &what)))
    }

    /// Whether a step with `match` has no cases, but says what to do with a call's value or failure.
    fn takes_apart(&self, list: &[Entry<'a>]) -> bool {
        let has = |keys: &[Key]| {
            list.iter()
                .any(|entry| entry.name().is_some_and(|name| self.dialect.meaning(name, keys).is_some()))
        };
        !has(&[Key::Cases]) && has(&[Key::As, Key::Then, Key::Handler, Key::Compensate])
    }

    /// The kind of step that an unknown word makes of a record, where the word that is known only belongs to that:
    /// `foreach` beside `yield`, `when` beside `return`.
    fn outer_kind(&self, list: &[Entry<'a>], form: &Form) -> Option<&'static Form> {
        let unknown = |name: &&str| {
            let known = [&[form.key], form.needs, form.takes];
            !known.iter().any(|keys| self.dialect.meaning(name, keys).is_some())
        };
        let foreign: Vec<&str> = list.iter().filter_map(Entry::name).filter(unknown).collect();
        if foreign.is_empty() {
            return None;
        }
        let kinds: Vec<Key> = STEPS.iter().map(|form| form.key).collect();
        let inner = list.iter().find_map(|entry| {
            entry.name().filter(|name| self.dialect.meaning(name, &[form.key]).is_some())
        })?;
        foreign.into_iter().find_map(|name| {
            let key = self.dialect.nearest(name, &kinds)?;
            let outer = STEPS.iter().find(|outer| outer.key == key && outer.key != form.key)?;
            let holds = |keys| self.dialect.meaning(inner, keys).is_some();
            (holds(outer.needs) || holds(outer.takes)).then_some(outer)
        })
    }

    /// Reports that a record is two steps in one; the keys of the second one are known as well then.
    fn second_step(&mut self, item: &Item<'_, 'a>, form: &Form, keys: &mut Vec<Key>) {
        let found = entries(item.node).iter().find_map(|entry| {
            let name = entry.name()?;
            let free = self.dialect.meaning(name, keys).is_none();
            let other = STEPS.iter().find(|other| self.dialect.meaning(name, &[other.key]).is_some());
            other.filter(|_| free).map(|other| (entry, other))
        });
        let Some((entry, other)) = found else { return };
        let (one, two) = (self.dialect.word(form.key), shown(&entry.key));
        let help = if other.key == Key::Skip {
            "put what follows under the `then` of an `if` with the opposite condition"
        } else {
            "make two steps of it, one behind the other"
        };
        self.bad_step(
            entry.key.span,
            &format!("one step does one thing, not both `{one}` and `{two}`"),
            "a step for each",
            "both in one",
            help,
        );
        keys.push(other.key);
        keys.extend(other.needs.iter().chain(other.takes));
    }

    /// Whether a record without a step's word is a value: where one is wanted and none of its keys belongs to a step.
    fn is_value(&self, item: &Item<'_, 'a>, tail: Tail) -> bool {
        const PARTS: [Key; 5] = [Key::Args, Key::Handler, Key::Cases, Key::Compensate, Key::In];
        let list = entries(item.node);
        let part = |entry: &Entry<'a>| {
            entry.name().is_some_and(|name| {
                self.dialect.meaning(name, &PARTS).is_some_and(|(_, meant)| meant == Meant::Own)
            })
        };
        let operator =
            matches!(list, [only] if only.name().is_some_and(|name| super::operator::find(name).is_some()));
        let wanted =
            tail.wanted() && tail != Tail::Unnamed && (item.name.is_some() || !self.dialect.is_yaml());
        let names_itself = list.iter().any(|entry| entry.name() == Some("let"));
        let marked = !(list.is_empty() && self.dialect.is_yaml());
        (wanted && marked || operator) && !names_itself && !list.iter().any(part)
    }

    /// Reports a record that is no step; gives back the kind that it was probably meant to be.
    fn misspelt_step(&mut self, item: &Item<'_, 'a>) -> Option<&'static Form> {
        let list = entries(item.node);
        if let Some(name) = item.name.and_then(Node::text) {
            self.scope.lose(name);
        }
        for bound in list.iter().filter(|entry| entry.name() == Some("let")) {
            bound.value.text().into_iter().for_each(|name| self.scope.lose(name));
        }
        if list.iter().any(|entry| entry.name() == Some("<<")) {
            // Told by the reader of YAML.
            return None;
        }
        if let [only] = list
            && item.name.is_none()
            && entries(&only.value)
                .iter()
                .any(|entry| entry.name().is_some_and(begins_step) || is_operator(entry))
        {
            self.named_step(only);
            return None;
        }
        if let Some((entry, help)) =
            list.iter().find_map(|entry| Some((entry, instead(entry.name()?, self.dialect)?)))
        {
            let found = format!("`{}`", shown(&entry.key));
            let message = format!("{found} is no step");
            self.bad_step(
                entry.key.span,
                &message,
                &format!("a record with {}", step_words(self)),
                &found,
                &help,
            );
            return None;
        }
        if let [only] = list
            && let Some(meant) = only.name().and_then(super::operator::meant)
        {
            let found = shown(&only.key);
            let mut wrong = Diagnostic::new(
                Code::UnknownOperator,
                only.key.span,
                format!("there is no operator `{found}`"),
            )
            .expected(super::operator::LIST, format!("`{found}`"))
            .nearest(Some(meant.spelling));
            wrong.fix = rename(&only.key, meant.spelling);
            self.report(wrong);
            return None;
        }
        if let [only] = list
            && only.name().is_some_and(|name| self.dialect.meaning(name, &[Key::Message]).is_some())
        {
            self.message_alone(only);
            return None;
        }
        let kinds: Vec<Key> = STEPS.iter().map(|form| form.key).collect();
        let mut near = list.iter().filter(|entry| entry.name() != Some("let"));
        if let Some(key) = near.find_map(|entry| self.dialect.nearest(entry.name()?, &kinds)) {
            return STEPS.iter().find(|form| form.key == key);
        }
        let part = list.iter().find_map(|entry| {
            let name = entry.name()?;
            STEPS.iter().find(|form| {
                let beside = form.needs.iter().chain(form.takes).filter(|&&key| key != Key::Let);
                beside.copied().any(|key| self.dialect.meaning(name, &[key]).is_some())
            })
        });
        if let Some(form) = part {
            self.missing(first_of(item.node), form.key, "this step", self.step_form());
            return None;
        }
        let found =
            list.first().map_or("an empty record".to_owned(), |entry| format!("`{}`", shown(&entry.key)));
        let place = list.first().map_or(first_of(item.node), |entry| entry.key.span);
        let help = if list.iter().any(|entry| entry.name() == Some("let")) {
            "say what is bound, with `call`, `expr` or another step's word beside `let`"
        } else if self.dialect.is_yaml() {
            "a record that is a value is marked with `obj:`"
        } else {
            "a record that is a value is written `{\"obj\": {…}}`"
        };
        self.bad_step(
            place,
            "this record is no step",
            &format!("a record with {}", step_words(self)),
            &found,
            help,
        );
        None
    }

    /// Reports a message in the place of a step: `{"error": …}` without the return around it.
    fn message_alone(&mut self, entry: &Entry<'a>) {
        let (found, word) = (shown(&entry.key), self.dialect.word(Key::Message));
        let wrong = Diagnostic::new(Code::BadStep, entry.key.span, format!("`{found}` alone is no step"));
        if self.dialect.notation == Notation::Mcp {
            let mut wrong = wrong.expected(format!("`{word}`"), format!("`{found}`"));
            wrong.fix = rename(&entry.key, word);
            return self.report(wrong);
        }
        let step = self.dialect.word(Key::Return);
        if self.dialect.is_yaml() {
            let form = format!("`{step}: {{{word}: …}}`");
            return self
                .report(wrong.expected(form.clone(), format!("`{found}`")).help(format!("write {form}")));
        }
        let edit = |at, text: String| Edit { span: Span::new(at, at), text };
        let edits = vec![
            edit(entry.key.span.start, format!("\"{step}\": {{")),
            edit(entry.value.span.end, "}".to_owned()),
        ];
        let form = format!("{{\"{step}\": {{\"{word}\": …}}}}");
        self.report(
            wrong
                .expected(format!("`{form}`"), format!("`{found}`"))
                .fix(Fix { title: format!("write `{form}`"), edits }),
        );
    }

    /// Reports a step under the name that it should bind with `let`.
    fn named_step(&mut self, entry: &Entry<'a>) {
        let name = shown(&entry.key);
        if let Some(text) = entry.name() {
            self.scope.lose(text);
        }
        let wrong = Diagnostic::new(
            Code::BadStep,
            entry.key.span,
            format!("`{name}` is no step; a name is bound with `let`"),
        )
        .expected(format!("`{{\"let\": \"{name}\", …}}`"), format!("`{{\"{name}\": …}}`"));
        let is_step = entries(&entry.value).iter().any(|inside| inside.name().is_some_and(begins_step));
        let value = entry.value.span;
        let edit = |from, to, text: &str| Edit { span: Span::new(from, to), text: text.to_owned() };
        let (open, close) = if is_step {
            let open = edit(entry.key.span.start, value.start + 1, &format!("\"let\": \"{name}\", "));
            (open, edit(value.end.saturating_sub(1), value.end, ""))
        } else {
            let open = edit(entry.key.span.start, value.start, &format!("\"let\": \"{name}\", \"expr\": "));
            (open, edit(value.end, value.end, ""))
        };
        let mut edits = vec![open];
        edits.extend(Some(close).filter(|close| close.span.start < close.span.end));
        let wrong = wrong.help(format!("write `\"let\": \"{name}\"` beside what it is bound to"));
        self.report(if self.dialect.is_yaml() {
            wrong
        } else {
            wrong.fix(Fix { title: format!("bind `{name}` with `let`"), edits })
        });
    }

    /// The name that a step binds.
    fn target(&mut self, item: &Item<'_, 'a>, keyed: &Keyed<'_, 'a>) -> Option<Name<'a>> {
        match keyed.get(Key::Let) {
            Some(node) => self.binder(node),
            None => item.name.and_then(|name| self.step_name(name, item.node.span.end)),
        }
    }

    /// The name of a step in YAML, where something behind it refers to it.
    fn step_name(&mut self, name: &Node<'a>, end: u32) -> Option<Name<'a>> {
        let text = self.name_of(name)?;
        let bound = self.binder(name)?;
        // What a loop binds its next pass may read further up.
        let from = self.open_loops.first().map_or(end, |open| open.start);
        if self.survey.used_after(text, from) {
            return Some(bound);
        }
        self.scope.unbound(text);
        None
    }

    fn name_of(&self, node: &Node<'a>) -> Option<&'a str> {
        match node.kind {
            Kind::Text(text) => Some(text.text),
            Kind::Number(_) | Kind::Bool(_) | Kind::Null => Some(self.arena.alloc_str(&shown(node))),
            _ => None,
        }
    }

    /// A name that is bound; says where it must not be.
    pub(super) fn binder(&mut self, node: &Node<'a>) -> Option<Name<'a>> {
        let Kind::Text(text) = node.kind else {
            self.bad_shape(node, "the name that is bound", "a text");
            return None;
        };
        let stripped = text.text.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
        if text.text.starts_with('$') && super::reference::is_name(stripped) {
            let mut wrong = Diagnostic::new(Code::BadReference, node.span, "a name is bound without `$`")
                .expected(format!("`{stripped}`"), format!("`{}`", shown(node)));
            wrong.fix = rename(node, stripped);
            self.report(wrong);
            return Some(Name { text: stripped, span: node.span });
        }
        if text.text.is_empty() {
            self.bad_shape(node, "the name that is bound", "a name, which is not empty");
            return None;
        }
        if FAILURES.contains(&text.text) || text.text == super::reference::INPUT {
            self.report(
                Diagnostic::new(
                    Code::ReservedName,
                    node.span,
                    format!("`{}` is kept for what it means", text.text),
                )
                .expected("another name", format!("`{}`", text.text))
                .help("`err` and `error` are the failure in a handler, `input` the record of inputs"),
            );
            return None;
        }
        Some(Name { text: text.text, span: inner(node) })
    }

    /// The slot of a name that is bound here.
    pub(super) fn bind(&mut self, name: Name<'a>) -> Slot {
        // Where every path comes by here, and the input is not read as such any more, nothing tells the two apart.
        let read = self.survey.input_read(name.text);
        let whole = self.blocks == 1 && read.is_none_or(|last| last <= self.step_end);
        self.scope.bind(name.text, whole || self.dialect.is_bare())
    }

    /// Ends a step that is an expression: binds it, or leaves it as what it is.
    pub(super) fn finish(&mut self, value: Expr<'a>, target: Option<Name<'a>>, tail: Tail, span: Span) {
        self.finish_bound(Bound::Expr(value), target, tail, span);
    }

    /// Ends a step with a value: binds it, or leaves it as what it is.
    pub(super) fn finish_bound(
        &mut self,
        value: Bound<'a>,
        target: Option<Name<'a>>,
        tail: Tail,
        span: Span,
    ) {
        let statement = |value| match value {
            Bound::Expr(value) => StmtKind::Value(value),
            Bound::Control(control) => StmtKind::Control(control),
        };
        let Some(name) = target else { return self.push(statement(value), span) };
        let is_value = matches!(tail, Tail::Value | Tail::Yield);
        if is_value && self.scope.find(name.text).is_none() {
            // Nothing can read the name any more.
            self.scope.pass(name.text, tail == Tail::Yield);
            return self.push(statement(value), span);
        }
        let slot = self.bind(name);
        self.push(StmtKind::Let { slot, slot_span: name.span, value }, span);
        if is_value {
            self.push(StmtKind::Value(of_slot(slot, name.span)), span);
        }
    }

    /// Binds the value of the block whose statements begin at `start`.
    pub(super) fn bind_last(&mut self, start: usize, slot: Slot, slot_span: Span) {
        if self.statements.len() <= start {
            return;
        }
        if let Some(last) = self.statements.last_mut() {
            let value = match last.kind {
                StmtKind::Value(value) => Bound::Expr(value),
                StmtKind::Control(control) => Bound::Control(control),
                _ => return,
            };
            last.kind = StmtKind::Let { slot, slot_span, value };
        }
    }

    /// A block of steps, or a value where one is wanted: what stands under `then`, `else`, `do`, `yield`.
    pub(super) fn branch(&mut self, node: &Node<'a>, tail: Tail, what: &str) -> Block<'a> {
        self.block(|this| this.branch_steps(node, tail, what))
    }

    pub(super) fn branch_steps(&mut self, node: &Node<'a>, tail: Tail, what: &str) {
        let has_word =
            |node: &Node<'a>| entries(node).iter().any(|entry| entry.name().is_some_and(begins_step));
        match &node.kind {
            Kind::List(items) => {
                let are_steps = !items.is_empty() && items.iter().all(has_word);
                if tail == Tail::Value && !are_steps {
                    return self.value_branch(node);
                }
                let items: Vec<Item<'_, 'a>> = items.iter().map(|node| Item { name: None, node }).collect();
                self.steps(&items, tail);
            }
            Kind::Record(list)
                if tail == Tail::Value && self.dialect.is_yaml() && !has_word(node) && {
                    !list.iter().any(|entry| has_word(&entry.value))
                } =>
            {
                self.value_branch(node);
            }
            Kind::Record(entries) if self.dialect.is_yaml() && !has_word(node) => {
                let items: Vec<Item<'_, 'a>> = named(entries);
                self.steps(&items, tail);
            }
            Kind::Record(_) => self.steps(&[Item { name: None, node }], tail),
            _ if tail.wanted() => self.value_branch(node),
            _ => self.bad_shape(node, &format!("`{what}`"), "a list of steps"),
        }
    }

    fn value_branch(&mut self, node: &Node<'a>) {
        let value = self.value(node);
        self.push(StmtKind::Value(value), node.span);
    }

    /// `raise`: any function fails with a value.
    fn fail_step(&mut self, step: &Step<'_, 'a>) {
        if let Some(node) = step.get(Key::Fail) {
            let value = self.value(node);
            self.push(StmtKind::Fail(value), Span::new(step.start, node.span.end));
        }
    }

    /// `yield` as a step: the value of a pass.
    fn yield_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        let Some(node) = step.get(Key::Yield) else { return };
        let value = self.value(node);
        if tail != Tail::Yield {
            let in_loop = !self.open_loops.is_empty();
            let (message, help) = if in_loop {
                ("a pass yields with its last step", "put what follows before it")
            } else {
                ("`yield` stands only in a loop", "bind the value with `let`, or return it")
            };
            self.report(
                Diagnostic::new(Code::BadStep, step.place(), message)
                    .expected("`yield` as the last step of a loop", "it elsewhere")
                    .help(help),
            );
            return;
        }
        if !self.dialect.has(Key::Yield) {
            let word = if matches!(node.kind, Kind::Record(_)) { Key::Obj } else { Key::Value };
            let word = self.dialect.word(word);
            let fix = step.keyed.entry(Key::Yield).and_then(|entry| rename(&entry.key, word));
            let message = format!("the last step of a loop is what it yields: `{word}` does here");
            self.sister_word(step.place(), message, word, "yield", fix);
        }
        self.push(StmtKind::Value(value), step.head());
    }

    pub(super) fn bad_step(&mut self, span: Span, message: &str, expected: &str, found: &str, help: &str) {
        self.report(
            Diagnostic::new(Code::BadStep, span, message).expected(expected, found).help(help.to_owned()),
        );
    }
}

fn is_operator(entry: &Entry<'_>) -> bool {
    entry.name().is_some_and(|name| super::operator::find(name).is_some())
}

/// The words that begin a step, for a message.
fn step_words(reader: &Reader<'_, '_>) -> String {
    let keys: Vec<Key> =
        STEPS.iter().map(|form| form.key).filter(|&key| key != Key::Skip && key != Key::Value).collect();
    some_words(reader.dialect, &keys)
}

/// How what is missing beside a step is written.
fn needed(key: Key) -> &'static str {
    match key {
        Key::In => "say what the loop runs over",
        Key::Body => "say what each pass does; its last step is what it yields",
        Key::Cases => "give what each value stands for, as in `{\"gold\": 20, \"silver\": 10}`",
        Key::Message => "say with which message it fails",
        _ => "add it",
    }
}

/// The entries of a record as steps under their names.
pub(super) fn named<'d, 'a>(entries: &'d [Entry<'a>]) -> Vec<Item<'d, 'a>> {
    entries.iter().map(|entry| Item { name: Some(&entry.key), node: &entry.value }).collect()
}
