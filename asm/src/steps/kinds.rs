//! Finds the kind of a step, and reports records that are not a step or several in one.

use super::entries::Keyed;
use super::reader::StepReader;
use super::step::{Item, Tail};
use crate::ast::Bound;
use crate::dialect::document_names::names_bound_in;
use crate::dialect::reader_habits::Asked;
use crate::dialect::{Form, Key, RESULT, STEP_KEYS, STEPS, form_of, second_form};
use crate::document::{Entry, Kind, Node, entries, first_of, shown};
use crate::habits;
use crate::span::Span;
use crate::text::is_name;

impl<'a> StepReader<'_, 'a> {
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
            Some(Node { kind: Kind::List(steps), .. }) => {
                self.several(item, steps, tail);
                return None;
            }
            Some(node) => &Item { node, ..*item },
        };
        let wanted = wanted && (item.name.is_some() || !self.dialect.is_yaml());
        let form = match self.own_kind(item.node) {
            Some(form) => form,
            None if habits::is_value(self.dialect, entries(item.node), wanted) => {
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
            self.lose_enclosing();
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
        self.bad_step(
            entry.key.span,
            &format!("one step does one thing, not both `{one}` and `{two}`"),
            "a step for each",
            "both in one",
            "make two steps of it, one after the other",
        );
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

    fn no_step(&mut self, node: &Node<'a>) {
        let list = entries(node);
        let found =
            list.first().map_or("an empty record".to_owned(), |entry| format!("`{}`", shown(&entry.key)));
        let place = list.first().map_or(first_of(node), |entry| entry.key.span);
        let help = if list.iter().any(|entry| entry.name() == Some("let")) {
            "write `call`, `expr` or another step's word beside `let`"
        } else if self.dialect.is_yaml() {
            "a record that is a value is marked with `obj:`; a call is `call:` with the name of the tool, and `args:`"
        } else {
            "a call is `{\"call\": tool, \"args\": {…}}`; a record that is a value is written `{\"obj\": {…}}`"
        };
        let expected = format!("a record with {}", self.dialect.step_words());
        self.bad_step(place, "this record is not a step", &expected, &found, help);
    }
}

/// Whether a step with only known keys may have another shape than its kind has: keys of a step under `if`,
/// `for` or `match`, an operator or a merge of another notation, a condition beside nothing that it decides.
fn is_odd(form: &Form, found: &Keyed<'_, '_>) -> bool {
    let nested = [Key::Let, Key::If, Key::For, Key::Match, Key::Call].into_iter();
    let is_record = |node: &Node<'_>| matches!(node.kind, Kind::Record(list) if list.len() > 1);
    let ends = [Key::Then, Key::Return, Key::Ok, Key::Err, Key::Message, Key::Skip, Key::Break];
    nested.filter_map(|key| found.get(key)).any(is_record)
        || found.get(Key::For).is_some_and(|node| !is_name(node.text().unwrap_or("")))
        || [Key::Op, Key::Switch].into_iter().any(|key| found.has(key))
        || form.key == Key::If && !ends.into_iter().any(|key| found.has(key))
}
