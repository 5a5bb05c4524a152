//! Which kind of step a record is, and what is said of one that is none, or several in one.

use super::keyed::Keyed;
use super::keys::some_words;
use super::reader::StepReader;
use super::step::{Item, Tail};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::dialect::{Form, Key, Meant, RESULT, STEPS, begins_step, instead};
use crate::document::{Entry, Kind, Node};
use crate::document::{entries, first_of, rename, shown};
use crate::notation::Notation;
use crate::span::Span;
use ilo_spec::error::Code;

impl<'a> StepReader<'_, 'a> {
    pub(crate) fn step_form(&self) -> &'static str {
        if self.dialect.is_yaml() {
            "write `call: tool` with `args:`, or another step"
        } else {
            "write `{\"call\": \"tool\", …}`, or another step"
        }
    }

    /// Which kind of step a record is, and its keys.
    pub(crate) fn kind_of_step<'d>(
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
            // The last step of a function, which would be its value.
            None if item.name.is_some()
                && tail == Tail::Value
                && (self.no_command(list) || self.no_state(list)) =>
            {
                item.name.and_then(Node::text).into_iter().for_each(|name| self.scope.lose(name));
                return None;
            }
            None if self.is_value(item, tail) => {
                self.inexact = true;
                let value = self.value(item.node);
                let target = self.step_name(item);
                self.finish_value(value, target, tail, Span::new(item.start(), item.node.span.end));
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
            // What elsewhere names something is no misspelt step.
            if self.dialect.nearest(name, &crate::dialect::ALL) != Some(key) {
                return None;
            }
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
        let operator = matches!(list, [only] if only.name().is_some_and(|name| crate::dialect::operator::find(name).is_some()));
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
        self.lose_inside(item.node);
        if self.other_thing(item) {
            return None;
        }
        let kinds: Vec<Key> = STEPS.iter().map(|form| form.key).collect();
        let mut near = list.iter().filter(|entry| entry.name() != Some("let"));
        if let Some(key) = near.find_map(|entry| self.dialect.nearest(entry.name()?, &kinds)) {
            return STEPS.iter().find(|form| form.key == key);
        }
        let part = list.iter().find_map(|entry| {
            // A name of its own, where nothing else makes an operation of it.
            let name = entry.name().filter(|name| !(list.len() == 1 && matches!(*name, "a" | "b")))?;
            STEPS.iter().find(|form| {
                let beside = form.needs.iter().chain(form.takes).filter(|&&key| key != Key::Let);
                beside.copied().any(|key| self.dialect.meaning(name, &[key]).is_some())
            })
        });
        match part {
            Some(form) => self.missing(first_of(item.node), form.key, "this step", self.step_form()),
            None => self.no_step(item.node),
        }
        None
    }

    /// Reports a record that is something else for sure: a name with its value, a step that no notation has, an operation,
    /// a message; whether it was that.
    fn other_thing(&mut self, item: &Item<'_, 'a>) -> bool {
        let list = entries(item.node);
        if list.iter().any(|entry| entry.name() == Some("<<")) {
            // Told by the reader of YAML.
            return true;
        }
        if self.no_command(list) || self.no_state(list) {
            return true;
        }
        let only = if let [only] = list { Some(only) } else { None };
        if let Some(only) = only.filter(|only| only.name() == Some("else")) {
            let help = "write `else` beside the `if` and `then` of that step; behind an `if` that returns, what follows is its else";
            self.bad_step(only.key.span, "`else` is no step", "`else` beside an `if`", "it alone", help);
            return true;
        }
        if let Some(only) = only.filter(|_| item.name.is_none())
            && entries(&only.value)
                .iter()
                .any(|entry| entry.name().is_some_and(begins_step) || is_operator(entry) || binds(entry))
        {
            self.named_step(only);
            return true;
        }
        if let Some((entry, help)) =
            list.iter().find_map(|entry| Some((entry, instead(entry.name()?, self.dialect)?)))
        {
            let found = format!("`{}`", shown(&entry.key));
            let expected = format!("a record with {}", step_words(self));
            self.bad_step(entry.key.span, &format!("{found} is no step"), &expected, &found, &help);
            return true;
        }
        let Some(only) = only else { return false };
        if let Some(meant) = only.name().and_then(crate::dialect::operator::meant) {
            let found = shown(&only.key);
            let message = format!("there is no operator `{found}`");
            let mut wrong = Diagnostic::new(Code::UnknownOperator, only.key.span, message)
                .expected(crate::dialect::operator::LIST, format!("`{found}`"))
                .nearest(Some(meant.spelling));
            wrong.fix = rename(&only.key, meant.spelling);
            self.report(wrong);
            return true;
        }
        let message = only.name().is_some_and(|name| self.dialect.meaning(name, &[Key::Message]).is_some());
        if message {
            self.message_alone(only);
        }
        message
    }

    /// Notes every name that is bound in what could not be read, so that nothing is said of who reads it.
    fn lose_inside(&mut self, node: &Node<'a>) {
        let mut rest = vec![*node];
        while let Some(node) = rest.pop() {
            if let Kind::List(items) = node.kind {
                rest.extend_from_slice(items);
            }
            for entry in entries(&node) {
                if let (Some("let"), Some(name)) = (entry.name(), entry.value.text()) {
                    self.scope.lose(name);
                }
                rest.push(entry.value);
            }
        }
    }

    /// Reports a shell command, or an action of a build, in the place of a step.
    fn no_command(&mut self, list: &[Entry<'a>]) -> bool {
        const COMMANDS: [&str; 8] = ["run", "shell", "script", "bash", "sh", "cmd", "exec", "command"];
        const CALLS: [&str; 2] = ["uses", "use"];
        let arguments = list
            .iter()
            .any(|entry| entry.name().is_some_and(|name| self.dialect.meaning(name, &[Key::Args]).is_some()));
        let found = list.iter().find_map(|entry| {
            let (name, text) = (entry.name()?, entry.value.text()?);
            let command = COMMANDS.contains(&name) && (text.contains([' ', '\n']) || !arguments);
            let action = CALLS.contains(&name) && text.contains(['@', ' ']);
            (command || action).then_some((entry, action))
        });
        let Some((entry, action)) = found else { return false };
        let found = format!("`{}`", shown(&entry.key));
        let message = if action {
            format!("an action of a build is no tool, and {found} no step")
        } else {
            format!("there is no shell here: {found} is no step, and a command is no tool")
        };
        let help = format!("a tool does it, which the tools file names: {}", self.step_form());
        self.bad_step(entry.key.span, &message, "a `call` of a tool", &found, &help);
        true
    }

    /// Reports a state of a state machine in the place of a step.
    fn no_state(&mut self, list: &[Entry<'a>]) -> bool {
        let Some(entry) = list.iter().find(|entry| entry.name() == Some("Type")) else { return false };
        let kind = entry.value.text().unwrap_or("");
        let help = match kind {
            "Task" => self.step_form().to_owned(),
            "Choice" => "write a step with `if` for each choice, one behind the other".to_owned(),
            "Map" => format!("write a loop: {}", self.loop_form()),
            "Pass" if self.dialect.is_yaml() => "write its value under `expr:` or `value:`".to_owned(),
            "Pass" => "name the value: `{\"let\": \"v\", \"expr\": …}`".to_owned(),
            "Fail" => format!("write {}", self.failing_form()),
            "Succeed" => "return the value in a step of its own".to_owned(),
            "Wait" | "Parallel" => "leave it out: steps run one behind the other".to_owned(),
            _ => return false,
        };
        for named in list.iter().filter(|entry| entry.name() == Some("ResultPath")) {
            let name = named.value.text().map(|path| path.trim_start_matches("$."));
            name.into_iter().for_each(|name| self.scope.lose(name));
        }
        let message = format!("a state of a state machine is no step: `{kind}`");
        let expected = format!("a record with {}", step_words(self));
        self.bad_step(entry.key.span, &message, &expected, "`Type`", &help);
        true
    }

    fn no_step(&mut self, node: &Node<'a>) {
        let list = entries(node);
        let found =
            list.first().map_or("an empty record".to_owned(), |entry| format!("`{}`", shown(&entry.key)));
        let place = list.first().map_or(first_of(node), |entry| entry.key.span);
        let help = if list.iter().any(|entry| entry.name() == Some("let")) {
            "say what is bound, with `call`, `expr` or another step's word beside `let`"
        } else if self.dialect.is_yaml() {
            "a record that is a value is marked with `obj:`"
        } else {
            "a record that is a value is written `{\"obj\": {…}}`"
        };
        let expected = format!("a record with {}", step_words(self));
        self.bad_step(place, "this record is no step", &expected, &found, help);
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
        // `{"a": {"set": 3}}` binds what is set.
        let (whole, value) = match entries(&entry.value) {
            [only] if binds(only) => (entry.value.span, only.value.span),
            _ => (entry.value.span, entry.value.span),
        };
        let edit = |from, to, text: &str| Edit { span: Span::new(from, to), text: text.to_owned() };
        let (open, close) = if is_step {
            let open = edit(entry.key.span.start, value.start + 1, &format!("\"let\": \"{name}\", "));
            (open, edit(value.end.saturating_sub(1), value.end, ""))
        } else {
            let open = edit(entry.key.span.start, value.start, &format!("\"let\": \"{name}\", \"expr\": "));
            (open, edit(value.end, whole.end, ""))
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
}

/// Whether a key binds a value in other languages.
fn binds(entry: &Entry<'_>) -> bool {
    matches!(entry.name(), Some("set" | "value" | "="))
}

fn is_operator(entry: &Entry<'_>) -> bool {
    entry.name().is_some_and(|name| crate::dialect::operator::find(name).is_some())
}

/// The words that begin a step, for a message.
pub(crate) fn step_words(reader: &StepReader<'_, '_>) -> String {
    let keys: Vec<Key> =
        STEPS.iter().map(|form| form.key).filter(|&key| key != Key::Skip && key != Key::Value).collect();
    some_words(reader.dialect, &keys)
}
