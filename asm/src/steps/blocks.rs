//! Reads the steps of a block: finds the kind of each, reports records that are no step or several in one,
//! and dispatches each kind to its reader. The content of `then`, `else` and the body of a loop is such a
//! block, or a value if one is needed.

use super::calls::in_parentheses;
use super::reader::{InnerLoops, Position, StepReader, wrong_shape};
use super::step::{Item, Keyed, Step, Tail, Target};
use crate::ast::{Block, Bound, Expr, StmtKind};
use crate::diagnostic::{Diagnostic, Fix};
use crate::dialect::document_names::names_bound_in;
use crate::dialect::reader_habits::Asked;
use crate::dialect::{
    Form, Key, RESULT, STEP_KEYS, STEPS, begins_step, changes, copies_itself, form_of, is_operation,
    is_plain, is_record_value, is_value_step, lists_steps, names_steps, operator, second_form,
};
use crate::document::{Entry, Node, NodeKind, entries, first_of, shown};
use crate::span::Span;
use crate::text::is_name;
use crate::{foreign, habits};
use ilo_spec::error::Code;

impl<'a> StepReader<'a> {
    /// The kind of step that a record is, and its keys.
    pub(crate) fn kind_of_step<'d>(
        &mut self,
        item: &Item<'d, 'a>,
        tail: Tail,
    ) -> Option<(&'static Form, Keyed<'d, 'a>)> {
        if let Some(form) = self.own_kind(item.node) {
            let read = self.known(item.node, &form.keys());
            if read.unknown.is_empty() && read.repeated.is_empty() && !is_odd(form, &read.found) {
                return Some((form, read.found));
            }
        }
        let wanted = self.takes_value(tail);
        let last = item.name.is_some() && tail == Tail::Value;
        let item = match self.rewritten(Asked::Step { name: item.name, wanted, last }, item.node) {
            None => item,
            Some(Node { kind: NodeKind::List(steps), .. }) => {
                self.several(item, steps, tail);
                return None;
            }
            Some(node) => &Item { node, ..*item },
        };
        let wanted = wanted && (item.name.is_some() || !self.dialect.is_yaml());
        let form = self.own_kind(item.node);
        let is_value = form.is_none() && habits::is_value(self.dialect, entries(item.node), wanted);
        let form = match form {
            Some(form) => form,
            None if self.sets_name(entries(item.node), is_value) => return None,
            None if is_value => {
                self.lint(|lints| lints.yields(item.node));
                let value = self.value(item.node);
                let target = self.step_name(item);
                self.finish(Bound::Expr(value), target, tail, Span::new(item.start(), item.node.span.end));
                return None;
            }
            None => self.misspelt_step(item)?,
        };
        let mut keys = form.keys();
        self.second_step(item, form, &mut keys);
        let what = format!("a step with `{}`", self.dialect.word(form.key));
        Some((form, self.keyed(item.node, &keys, &what)))
    }

    /// The kind of step that a record is by the notation's own words.
    fn own_kind(&self, node: &Node<'a>) -> Option<&'static Form> {
        let list = entries(node);
        let form = form_of(list, |entry, keys| self.dialect.names(entry, keys))?;
        Some(if form.key == Key::Match && self.takes_apart(list) { &RESULT } else { form })
    }

    /// Reads the steps that a record means; if there are none, what it would have bound is lost.
    fn several(&mut self, item: &Item<'_, 'a>, steps: &'a [Node<'a>], tail: Tail) {
        if steps.is_empty() {
            item.name.and_then(Node::text).into_iter().for_each(|name| self.scope.lose(name));
            for naming in core::iter::successors(self.at.naming, |naming| naming.outer) {
                self.scope.lose(naming.name);
            }
        }
        // Each step is under the name that it binds.
        let named = |step: &'a Node<'a>| {
            item.name.map(|name| entries(step).first().map_or(*name, |entry| entry.value))
        };
        let names: Vec<Option<Node<'a>>> = steps.iter().map(named).collect();
        let items: Vec<Item<'_, 'a>> =
            steps.iter().zip(&names).map(|(node, name)| Item { name: name.as_ref(), node }).collect();
        self.steps(&items, tail);
    }

    /// Whether a step with `match` has no cases, but steps for the value or failure of a call.
    fn takes_apart(&self, list: &[Entry<'a>]) -> bool {
        let has = |keys: &[Key]| list.iter().any(|entry| self.dialect.names(entry, keys));
        !has(&[Key::Cases]) && has(&[Key::As, Key::Then, Key::Handler, Key::Compensate])
    }

    /// Reports a record that is two steps in one; the keys of the second one are then known too.
    fn second_step(&mut self, item: &Item<'_, 'a>, form: &Form, keys: &mut Vec<Key>) {
        let found = second_form(entries(item.node), keys, |entry, keys| self.dialect.names(entry, keys));
        let Some((entry, other)) = found else { return };
        let (one, two) = (self.dialect.word(form.key), shown(&entry.key));
        let message = format!("one step does one thing, not both `{one}` and `{two}`");
        let help = "make two steps of it, one after the other";
        self.bad_step(entry.key.span, &message, "a step for each", "both in one", help);
        keys.extend(other.keys());
    }

    /// Whether the value of a step goes somewhere, so that a record may be one.
    fn takes_value(&self, tail: Tail) -> bool {
        match tail {
            Tail::Drop | Tail::Unnamed => false,
            Tail::Value => true,
            Tail::Yield => self.loops.last().is_none_or(|open| open.gives),
        }
    }

    /// Reports a record that is not a step. Returns the kind of step that was probably meant.
    fn misspelt_step(&mut self, item: &Item<'_, 'a>) -> Option<&'static Form> {
        let list = entries(item.node);
        if let Some(name) = item.name.and_then(Node::text) {
            self.scope.lose(name);
        }
        // References to what is bound in it are not reported.
        names_bound_in(item.node, |name| self.scope.lose(name));
        if list.iter().any(|entry| entry.name() == Some("<<")) {
            // Reported by the reader of YAML.
            return None;
        }
        let mut near = list.iter().filter(|entry| entry.name() != Some("let"));
        if let Some(key) = near.find_map(|entry| self.dialect.nearest(entry.name()?, &STEP_KEYS)) {
            return Form::of(key);
        }
        let part = list.iter().find_map(|entry| {
            // A named record, if nothing else makes it an operation.
            let name = entry.name().filter(|name| !(list.len() == 1 && matches!(*name, "a" | "b")))?;
            STEPS.iter().find(|form| {
                let beside = form.needs.iter().chain(form.takes).filter(|&&key| key != Key::Let);
                beside.copied().any(|key| self.dialect.key(name, &[key]).is_some())
            })
        });
        match part {
            Some(form) => self.missing(first_of(item.node), form.key, "this step", self.dialect.step_form()),
            None => self.no_step(item.node),
        }
        None
    }

    /// Reports a record whose key is the variable to change; a value only if it is worked out of that.
    fn sets_name(&mut self, list: &[Entry<'a>], is_value: bool) -> bool {
        let [only] = list else { return false };
        let Some(name) = only.name().filter(|name| self.scope.find(name).is_some()) else { return false };
        let outer =
            self.loops.first().zip(self.survey.first_binding(name)).is_some_and(|(of, at)| at < of.start);
        let changes = only.value.text().is_some_and(|text| text.contains(name)) && !copies_itself(only);
        if is_value && !(outer && changes) {
            return false;
        }
        let found = format!("`{name}`");
        let help = format!("write `let` with {found}, and `expr` with the value; data is under `obj`");
        self.bad_step(only.key.span, "this record does not change a name", "a step", &found, &help);
        true
    }

    fn no_step(&mut self, node: &Node<'a>) {
        let list = entries(node);
        let first = list.first();
        let found = first.map_or("an empty record".to_owned(), |entry| format!("`{}`", shown(&entry.key)));
        let place = first.map_or(first_of(node), |entry| entry.key.span);
        let help = if list.iter().any(|entry| entry.name() == Some("let")) {
            "write `call`, `expr` or another step's word beside `let`"
        } else if self.dialect.is_yaml() {
            "a call is `call:` with the name of the tool, and `args:`; a record that is a value is under `obj:`"
        } else {
            "a call is `{\"call\": tool, \"args\": {…}}`; a record that is a value is written `{\"obj\": {…}}`"
        };
        let expected = format!("a record with {}", self.dialect.step_words());
        self.bad_step(place, "this record is not a step", &expected, &found, help);
    }

    /// The block under `key`.
    pub(crate) fn branch(&mut self, node: &Node<'a>, tail: Tail, key: Key) -> Block<'a> {
        self.block(|this| this.branch_steps(node, tail, key))
    }

    /// The block under `key` beside `let` with `if`: the place of a value.
    pub(crate) fn choice(&mut self, node: &Node<'a>, key: Key) -> Block<'a> {
        let is_list = matches!(node.kind, NodeKind::List(items) if items.iter().all(is_value_step) && !items.is_empty());
        let steps = match node.kind {
            NodeKind::List(items) => lists_steps(items),
            NodeKind::Record(_) if self.dialect.is_yaml() && names_steps(node) => {
                !is_record_value(node, true)
            }
            _ => !is_value_step(node),
        };
        if steps {
            return self.branch(node, Tail::Value, key);
        }
        if is_list || is_value_step(node) {
            self.value_as_record(node);
        }
        self.block(|this| this.value_branch(node))
    }

    /// Warns about `{value: V}` alone in the place of a value.
    fn value_as_record(&mut self, node: &Node<'a>) {
        let only = if let NodeKind::List([only]) = node.kind { only } else { node };
        let [entry] = entries(only) else { return };
        let text = self.source.get(entry.value.span.range()).filter(|_| entry.value.is_scalar());
        let message = "beside `let` with `if` this is a record with the field `value`";
        let wrong = Diagnostic::new(Code::ValueRecord, entry.key.span, message);
        let fix = text.map(|text| Fix::write(text, node.span, text));
        self.report(wrong.fix(fix).help("write the value alone, or `obj` around a record with this field"));
    }

    /// Reads the block under `key` into the current one.
    pub(crate) fn branch_steps(&mut self, node: &Node<'a>, tail: Tail, key: Key) {
        let mut node = node;
        if !self.loops.is_empty() && node.text().is_some() {
            let asked = Asked::Step { name: None, wanted: tail.wanted(), last: false };
            node = self.rewritten(asked, node).unwrap_or(node);
        }
        self.scope.open_block();
        self.steps_or_value(node, tail, key);
        self.scope.close_block();
    }

    fn steps_or_value(&mut self, node: &Node<'a>, tail: Tail, key: Key) {
        let yaml = self.dialect.is_yaml();
        match &node.kind {
            NodeKind::List(items) => self.steps(&Item::listed(items), tail),
            NodeKind::Record(list) if yaml && names_steps(node) => {
                let is_value = match tail {
                    Tail::Value => {
                        let named = |entry: &Entry<'a>| matches!(entry.value.kind, NodeKind::Record(_));
                        is_record_value(node, false) && !list.iter().all(named)
                    }
                    Tail::Yield => {
                        is_copy(list) || list.len() > 1 && list.iter().all(|entry| self.is_field(entry))
                    }
                    _ => false,
                };
                if is_value {
                    return self.value_branch(node);
                }
                let items = Item::named(list);
                if tail == Tail::Yield {
                    self.lost_values(&items);
                }
                self.steps(&items, tail);
            }
            NodeKind::Record(_) => self.steps(&[Item { name: None, node }], tail),
            _ if tail.wanted() => self.value_branch(node),
            _ => {
                let wrong = wrong_shape(node, &format!("`{}`", self.dialect.word(key)), "a list of steps");
                self.report(wrong.help("a step that fails has `raise`; a branch without steps is left out"));
            }
        }
    }

    fn value_branch(&mut self, node: &Node<'a>) {
        let value = self.value(node);
        self.push(StmtKind::Value(value), node.span);
    }

    /// Whether an entry is a field of the value that a loop yields: a step is not a value under an unused
    /// name.
    fn is_field(&self, entry: &Entry<'a>) -> bool {
        let is_free = |name: &str| is_plain(&entry.value) || self.scope.find(name).is_none();
        entry.is(|name| !begins_step(name) && is_free(name)) && is_data(&entry.value)
    }

    /// Warns about several named values in an iteration of a loop, of which only the last is yielded.
    fn lost_values(&mut self, items: &[Item<'_, 'a>]) {
        let Some((last, before)) = items.split_last() else { return };
        let from = self.loops.first().map_or(0, |open| open.start);
        let is_lost = |item: &&Item<'_, 'a>| {
            let unread = |name: &str| self.scope.find(name).is_none() && !self.survey.used_after(name, from);
            self.is_value_step(item) && item.name.and_then(Node::text).is_some_and(unread)
        };
        let lost: Vec<&Item<'_, 'a>> = before.iter().filter(is_lost).collect();
        let Some(first) = lost.first().copied().filter(|_| self.is_value_step(last)) else { return };
        let fields: Vec<String> = lost
            .iter()
            .chain([&last])
            .filter_map(|item| item.name.and_then(Node::text))
            .map(|name| format!("{name}: ${{{name}}}"))
            .collect();
        let name = first.name.unwrap_or(first.node);
        let message =
            format!("nothing reads `{}`, and what a pass yields is its last step alone", shown(name));
        let help = format!(
            "to yield a record of them, add a last step with `{}:`, and below it `{}`",
            self.dialect.word(Key::Obj),
            fields.join("`, `")
        );
        self.report(Diagnostic::new(Code::LostValue, name.span, message).help(help));
    }

    /// Whether a step is only a value.
    fn is_value_step(&self, item: &Item<'_, 'a>) -> bool {
        const VALUES: [Key; 6] = [Key::Expr, Key::Obj, Key::Value, Key::Op, Key::Merge, Key::Cases];
        let list = entries(item.node);
        let makes_value = |name: &str| self.dialect.key(name, &VALUES).is_some() || operator::is(name);
        let changed = |entry: &Entry<'a>| entry.value.text().is_some_and(habits::may_change);
        let binds =
            list.iter().any(|entry| entry.is(|name| name == "let" || changes(name)) || changed(entry));
        !binds && (is_data(item.node) || list.iter().any(|entry| entry.is(makes_value)))
    }

    /// Reads steps in order into the current block; `tail` is the purpose of the value of the last one.
    #[inline(never)]
    pub(crate) fn steps(&mut self, items: &[Item<'_, 'a>], tail: Tail) {
        for (place, item) in items.iter().enumerate() {
            let of_step = if place + 1 == items.len() { tail } else { Tail::Drop };
            if !self.step(item, of_step) {
                return;
            }
        }
    }

    /// Reads a step; `false` if it is nested too deep.
    fn step(&mut self, item: &Item<'_, 'a>, tail: Tail) -> bool {
        let found = self.deeper(item.node.span, |this| {
            if this.at.blocks == 1 {
                this.at.step_end = item.node.span.end;
            }
            match item.node.kind {
                NodeKind::Record(_) => this.record_step(item, tail),
                _ => this.plain_step(item, tail),
            }
        });
        found.is_some()
    }

    /// A step that is not a record: a value, if one is needed.
    fn plain_step(&mut self, item: &Item<'_, 'a>, tail: Tail) {
        if !self.loops.is_empty() || matches!(item.node.kind, NodeKind::Bool(_)) {
            let asked = Asked::Step { name: item.name, wanted: tail.wanted(), last: false };
            if let Some(node) = self.rewritten(asked, item.node) {
                return self.record_step(&Item { node, ..*item }, tail);
            }
        }
        let text = item.node.text().unwrap_or("");
        let is_call = in_parentheses(text).is_some();
        let is_lost = tail == Tail::Drop || tail == Tail::Yield && !self.takes_value(tail);
        if is_call && text.contains(['=', '$']) || item.name.is_none() && (is_call || is_lost) {
            let found = item.node.kind_name();
            let message = format!("a step is a record, but this is {found}");
            let expected = format!("a record with {}", self.dialect.step_words());
            let help = self.dialect.step_form();
            return self.bad_step(first_of(item.node), &message, &expected, found, help);
        }
        let value = self.value(item.node);
        let target = self.step_name(item);
        if target.is_none() && !tail.wanted() && !value.calls() {
            let wrong =
                Diagnostic::new(Code::UnusedValue, item.node.span, "this step does nothing: it is a value")
                    .expected("a value that a later step reads, or a step", item.node.kind_name());
            self.report(wrong.help(self.dialect.step_form()));
        }
        self.finish(Bound::Expr(value), target, tail, Span::new(item.start(), item.node.span.end));
    }

    fn record_step(&mut self, item: &Item<'_, 'a>, tail: Tail) {
        let before = self.diagnostics.mark();
        let Some((form, keyed)) = self.kind_of_step(item, tail) else { return };
        let faulty = self.diagnostics.has_errors_since(before);
        let names = [item.name.and_then(Node::text), keyed.get(Key::Let).and_then(Node::text)];
        if let [Some(over), Some(own)] = names
            && over != own
        {
            self.scope.rename(over, own);
        }
        let mut inner: Position<'a> = Self::up_to_handlers(self.in_step(names), &keyed);
        if keyed.has(Key::Handler) || keyed.has(Key::Compensate) {
            inner.loops = InnerLoops::Infallible;
        }
        self.within(inner, |this| {
            let path = keyed.get(Key::Let).and_then(|node| this.let_path(node, item)).map(Box::new);
            let path_name = path.as_ref().map(|path| Target { name: path.name, own: false });
            let target = path_name.or_else(|| this.target(item, &keyed));
            let step = Step { form, keyed, target, start: item.start(), faulty };
            for &key in form.needs {
                if !(keyed.has(key) || faulty) {
                    let what = format!("a step with `{}`", this.dialect.word(form.key));
                    this.missing(step.place(), key, &what, needed(key));
                }
            }
            this.read_step(&step, tail);
            if let Some(path) = path {
                this.set_part(&path, form.key == Key::Push, step.head());
            }
        });
    }

    /// A position whose step ends before what handles its failure or undoes it: this is read after the step
    /// has bound its name.
    #[inline(never)]
    fn up_to_handlers(at: Position<'a>, keyed: &Keyed<'_, 'a>) -> Position<'a> {
        let after = [Key::Handler, Key::Rollback, Key::Compensate].into_iter();
        let after = after.filter_map(|key| keyed.entry(key)).map(|entry| entry.key.span.start).min();
        let end = after.filter(|_| at.blocks == 1).unwrap_or(u32::MAX);
        Position { step_end: at.step_end.min(end), ..at }
    }

    fn read_step(&mut self, step: &Step<'_, 'a>, tail: Tail) {
        match step.form.key {
            Key::Call | Key::Expr | Key::Op => self.value_step(step, tail),
            Key::Match if core::ptr::eq(step.form, &RESULT) => self.result_step(step, tail),
            Key::If => self.if_step(step, tail),
            Key::Assert => self.assert_step(step),
            Key::For => self.for_step(step, tail),
            Key::Try => self.try_step(step, tail),
            Key::While | Key::Until => self.while_step(step),
            Key::Push => self.push_step(step),
            Key::Switch => self.switch_step(step, tail),
            key @ (Key::Return | Key::Ok | Key::Err | Key::Break | Key::Skip) => {
                self.compensations(step.get(Key::Compensate));
                if let Some(entry) = step.keyed.entry(key) {
                    self.leave(key, entry);
                }
            }
            Key::Yield => self.statement_step(step, StmtKind::Yield),
            Key::Compensate => self.compensations(step.get(Key::Compensate)),
            Key::Rollback => self.rollbacks(step.get(Key::Rollback)),
            Key::Fail => {
                self.compensations(step.get(Key::Compensate));
                self.statement_step(step, StmtKind::Fail);
            }
            key => {
                let value = self.construct_of(key, &step.keyed);
                self.finish(Bound::Expr(value), step.target, tail, step.head());
            }
        }
    }

    /// A step whose statement has the value under its key.
    fn statement_step(&mut self, step: &Step<'_, 'a>, made: fn(Expr<'a>) -> StmtKind<'a>) {
        if let Some(node) = step.get(step.form.key) {
            let value = self.value(node);
            self.push(made(value), Span::new(step.start, node.span.end));
        }
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
