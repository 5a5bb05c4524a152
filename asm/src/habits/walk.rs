//! The walk over the document of a program: it finds the nodes that are steps and values, tries the habits on
//! them, and rebuilds the document where one applies.
//!
//! It finds steps and values by the table of step forms in `dialect`, and leaves everything else unchanged.

use super::context::{At, Context, Entries, Walk, rebuilt};
use super::declared_names::Names;
use super::unsupported_steps;
use super::unsupported_steps::continue_is_skip;
use super::words::{key_of, kind_of_step, outer_kind};
use crate::diagnostic::Diagnostics;
use crate::dialect::step_forms::is_continue;
use crate::dialect::{
    ARM, Dialect, Form, HANDLER, Key, META, PARTS, RESULT, begins_step, copies_itself, form_of,
    has_step_word, is_operation, is_plain, is_record_value, is_value_step, lists_steps, names_steps,
    operator, second_form,
};
use crate::document::{Entry, Kind, Node, entries};
use bumpalo::Bump;

/// The maximum depth of the walk; deeper programs are rejected.
const DEEPEST: usize = 256;

/// Whether the value of the last step of a block is needed; if so, a record without a word of a step is a
/// value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    Drop,
    Value,
    /// Beside `let` with `if`, which is the place of a value.
    Choice,
    Yield,
}

impl Tail {
    /// The purpose of the value of steps in this place.
    fn of_steps(self) -> Tail {
        if self == Tail::Choice { Tail::Value } else { self }
    }
}

/// Rewrites a program to the canonical form; `None` if no habit applies.
pub(super) fn program<'a>(
    node: &Node<'a>,
    dialect: Dialect,
    source: &'a str,
    arena: &'a Bump,
    (diagnostics, lost): (&mut Diagnostics, &mut Vec<&'a str>),
) -> Option<Node<'a>> {
    let mut walk = |names: &Names<'a>, node: &Node<'a>, pass: Pass<'a>| {
        let at = Context { dialect, arena, names, source, node: *node, named: false, wanted: false };
        let (diagnostics, lost) = (&mut *diagnostics, &mut *lost);
        pass(&mut Walk { at, source, diagnostics, lost, naming: Vec::new(), depth: 0, in_loop: false }, node)
    };
    let head = walk(&Names::of(node, dialect), node, |walk, node| {
        let head = walk.head(node);
        walk.signature(&head.unwrap_or(*node)).or(head)
    });
    let node = head.unwrap_or(*node);
    let names = Names::of(&node, dialect);
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is not general in all its lifetimes"
    )]
    let body = walk(&names, &node, |walk, node| walk.function(node));
    body.or(head)
}

type Pass<'a> = fn(&mut Walk<'_, 'a>, &Node<'a>) -> Option<Node<'a>>;

impl<'a> Walk<'_, 'a> {
    // Programs.

    /// The top-level keys of a program.
    fn head(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let dialect = self.at.dialect;
        let keys = dialect.top();
        let new = self.words(node, keys, "a program");
        let found = self.entries(&new.unwrap_or(*node), |walk, entry| {
            let meta = dialect.meaning(entry.name()?, &[Key::Meta]).filter(|_| keys.contains(&Key::Meta));
            meta.and_then(|_| walk.words(&entry.value, &META, "`meta`"))
        });
        found.or(new)
    }

    fn function(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let dialect = self.at.dialect;
        self.entries(node, |walk, entry| {
            dialect.meaning(entry.name()?, &[Key::Steps]).and_then(|_| walk.body(&entry.value))
        })
    }

    // Steps.

    /// The steps of a function.
    fn body(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let yaml = self.at.dialect.is_yaml();
        match node.kind {
            Kind::List(_) => self.list_of_steps(node, if yaml { Tail::Value } else { Tail::Drop }),
            Kind::Record(_) if yaml => self.named_steps(node, Tail::Value),
            _ => None,
        }
    }

    fn list_of_steps(&mut self, node: &Node<'a>, tail: Tail) -> Option<Node<'a>> {
        let Kind::List(list) = node.kind else { return None };
        let new = rebuilt(list, |at, item| {
            let last = at + 1 == list.len();
            match self.step(item, if last { tail } else { Tail::Drop }, None)? {
                Node { kind: Kind::List(several), .. } => Some(several.to_vec()),
                step => Some(vec![step]),
            }
        })?;
        Some(self.list_at(&new, node))
    }

    /// Steps under their names, in YAML.
    fn named_steps(&mut self, node: &Node<'a>, tail: Tail) -> Option<Node<'a>> {
        let list = entries(node);
        let new = rebuilt(list, |at, entry| {
            if is_continue(entry.name(), &entry.value) {
                let skip = self.at.dialect.word(Key::Skip);
                let found = continue_is_skip(entry.key.span, skip);
                self.take(found.replace(entry.value.span, format!("{{{skip}: true}}")));
                return Some(vec![Entry { key: entry.key, value: self.with_true(Key::Skip, &entry.value) }]);
            }
            let tail = if at + 1 == list.len() { tail } else { Tail::Drop };
            let step = self.step(&entry.value, tail, Some(&entry.key))?;
            Some(match step.kind {
                Kind::List(several) if !matches!(entry.value.kind, Kind::List(_)) => {
                    // Each step is under the name that it binds.
                    let key = |step: &Node<'a>| entries(step).first().map_or(entry.key, |named| named.value);
                    several.iter().map(|step| Entry { key: key(step), value: *step }).collect()
                }
                _ => vec![Entry { key: entry.key, value: step }],
            })
        })?;
        Some(self.record_at(&new, node))
    }

    /// The content of `then`, `else` and the body of a loop: steps, or a value if one is needed.
    fn branch(&mut self, node: &Node<'a>, tail: Tail) -> Option<Node<'a>> {
        let yaml = self.at.dialect.is_yaml();
        match node.kind {
            Kind::List(items)
                if matches!(tail, Tail::Value | Tail::Choice)
                    && !lists_steps(items, tail == Tail::Choice) =>
            {
                self.value(node, At::Value)
            }
            Kind::List(_) => self.list_of_steps(node, tail.of_steps()),
            Kind::Record(list) if yaml && names_steps(node) => {
                let before = list.split_last().map_or(&list[..0], |(_, before)| before);
                let copies =
                    before.iter().any(copies_itself) && !list.iter().any(|entry| has_step_word(&entry.value));
                let fields = copies || list.len() > 1 && list.iter().all(|entry| self.is_field(entry));
                let choice = tail == Tail::Choice;
                match tail {
                    Tail::Value | Tail::Choice if is_record_value(node, choice) => {
                        self.value(node, At::Value)
                    }
                    Tail::Yield if fields => self.value(node, At::Value),
                    _ => self.named_steps(node, tail.of_steps()),
                }
            }
            Kind::Record(_) if tail == Tail::Choice && is_value_step(node) => self.value(node, At::Value),
            Kind::Record(_) => self.step(node, tail.of_steps(), None),
            _ => self.text_break(node),
        }
    }

    /// Whether an entry is a field of the value that a loop yields.
    fn is_field(&self, entry: &Entry<'a>) -> bool {
        let is_free = |name: &str| is_plain(&entry.value) || !self.at.names.survey.binds_name(name);
        entry.is(|name| !begins_step(name) && is_free(name)) && !has_step_word(&entry.value)
    }

    /// A step; a list of steps if it should be several steps or none.
    fn step(&mut self, node: &Node<'a>, tail: Tail, name: Option<&Node<'a>>) -> Option<Node<'a>> {
        if self.depth >= DEEPEST {
            return None;
        }
        if !matches!(node.kind, Kind::Record(_)) {
            return self.text_break(node).or_else(|| self.value(node, At::Value));
        }
        self.depth += 1;
        let outer = self.naming.len();
        let bound = entries(node).iter().find(|entry| entry.name() == Some("let"));
        self.naming.extend(name.and_then(Node::text));
        self.naming.extend(bound.and_then(|entry| entry.value.text()));
        self.at.named = name.is_some();
        self.at.wanted = tail != Tail::Drop;
        let new = self.offer(node, At::Step);
        let found = match new.unwrap_or(*node) {
            steps @ Node { kind: Kind::List(_), .. } => self.list_of_steps(&steps, Tail::Drop),
            step => self.step_of_kind(&step, tail, name),
        };
        self.naming.truncate(outer);
        self.depth -= 1;
        found.or(new)
    }

    /// The kind of step that a record is, by the words of any notation.
    fn form(&self, list: Entries<'a>) -> Option<&'static Form> {
        let means = |entry: &Entry<'_>, keys: &[Key]| self.at.dialect.means(entry, keys);
        let found = form_of(list, means)?;
        let has_cases = list.iter().any(|entry| means(entry, &[Key::Cases]));
        Some(if found.key == Key::Match && !has_cases { &RESULT } else { found })
    }

    /// The content of a step, by its kind.
    fn step_of_kind(&mut self, node: &Node<'a>, tail: Tail, name: Option<&Node<'a>>) -> Option<Node<'a>> {
        let list = entries(node);
        let dialect = self.at.dialect;
        let form = match self.form(list) {
            Some(form) => outer_kind(dialect, list, form).unwrap_or(form),
            None => {
                let last = name.is_some() && tail == Tail::Value;
                let left_out = last
                    && [unsupported_steps::command, unsupported_steps::state]
                        .iter()
                        .any(|is| is(&self.at, list).is_some());
                if self.is_value(list, tail, name.is_some()) && !left_out {
                    return self.value(node, At::Value);
                }
                if let Some(new) = self.offer(node, At::NoStep) {
                    let found = match new.kind {
                        Kind::Record(_) => self.step_of_kind(&new, tail, name),
                        _ => None,
                    };
                    return found.or(Some(new));
                }
                kind_of_step(list)?
            }
        };
        let mut keys = form.keys();
        if let Some((_, other)) = second_form(list, &keys, |entry, keys| dialect.means(entry, keys)) {
            keys.extend(other.keys());
        }
        let read = name.and_then(Node::text).is_some_and(|name| self.at.names.survey.used_after(name, 0));
        let tail = if read { Tail::Value } else { tail };
        self.parts(node, &keys, &format!("a step with `{}`", dialect.word(form.key)), tail)
    }

    /// Whether a record without a word of a step is a value: a value is needed, and none of its keys belongs
    /// to a step.
    fn is_value(&self, list: Entries<'a>, tail: Tail, named: bool) -> bool {
        let part = |entry: &Entry<'a>| self.at.dialect.names(entry, &PARTS);
        let yaml = self.at.dialect.is_yaml();
        let wanted = tail != Tail::Drop && (named || !yaml) && !(list.is_empty() && yaml);
        let names_itself = list.iter().any(|entry| entry.name() == Some("let"));
        let continues = matches!(list, [only] if is_continue(only.name(), &only.value));
        !continues && (wanted || is_operation(list)) && !names_itself && !list.iter().any(part)
    }

    /// Translates the words of a record and of the values below it. `what` names the record in messages.
    fn parts(&mut self, node: &Node<'a>, keys: &[Key], what: &str, tail: Tail) -> Option<Node<'a>> {
        let dialect = self.at.dialect;
        let new = self.words(node, keys, what);
        let new = self.ways_out(&new.unwrap_or(*node), keys).or(new);
        let node = new.unwrap_or(*node);
        let named = entries(&node).iter().any(|entry| entry.name() == Some("let"));
        let tail = match named {
            true if keys.contains(&Key::If) => Tail::Choice,
            true => Tail::Value,
            false => tail,
        };
        let found = self.entries(&node, |walk, entry| {
            let (key, _) = dialect.meaning(entry.name()?, keys)?;
            walk.part((key, keys), &entry.value, tail)
        });
        found.or(new)
    }

    /// The value of a key of a step, a handler or an arm.
    fn part(&mut self, (key, keys): (Key, &[Key]), node: &Node<'a>, tail: Tail) -> Option<Node<'a>> {
        match key {
            Key::If | Key::Assert | Key::Where | Key::While | Key::Until => self.value(node, At::Condition),
            Key::Expr | Key::A | Key::B => self.value(node, At::Formula),
            Key::Then | Key::Else | Key::Try => self.branch(node, tail),
            Key::Body | Key::Do => {
                let outer = core::mem::replace(&mut self.in_loop, true);
                let found = self.branch(node, Tail::Yield);
                self.in_loop = outer;
                found
            }
            Key::Call => self.callee(node),
            Key::Let | Key::As | Key::Index => self.binder(node),
            Key::For => self.element(node),
            Key::Obj | Key::Set => self.fields(node),
            Key::Args => {
                let new = self.listed_arguments(node);
                self.fields(&new.unwrap_or(*node)).or(new)
            }
            Key::Cases => {
                let new = self.listed_cases(node);
                self.cases(&new.unwrap_or(*node)).or(new)
            }
            Key::Compensate | Key::Rollback => {
                let new = self.tool_as_rollback(node, key);
                self.rollbacks(&new.unwrap_or(*node)).or(new)
            }
            Key::Switch => self.items(node, |walk, _, arm| walk.keyed(arm, &ARM, "an arm of a switch", tail)),
            // Beside `try` a list is the steps of the handler.
            Key::Handler if keys.contains(&Key::Try) && matches!(node.kind, Kind::List(_)) => {
                self.branch(node, tail)
            }
            Key::Handler => self.handler(node, tail),
            Key::Default if keys.contains(&Key::If) => self.keyed(node, &ARM, "an arm of a switch", tail),
            Key::Return => self.outcome(node),
            Key::Default
            | Key::Ok
            | Key::Err
            | Key::Message
            | Key::Value
            | Key::Yield
            | Key::Fail
            | Key::Push
            | Key::Merge
            | Key::Match
            | Key::In => self.value(node, At::Value),
            _ => None,
        }
    }

    fn handler(&mut self, node: &Node<'a>, tail: Tail) -> Option<Node<'a>> {
        if let Some(action) = self.action(node) {
            return Some(action);
        }
        let new = self.handling_steps(node);
        self.keyed(&new.unwrap_or(*node), &HANDLER, "a handler", tail).or(new)
    }

    /// A handler, an arm of a switch, or a rollback.
    fn keyed(&mut self, node: &Node<'a>, keys: &[Key], what: &str, tail: Tail) -> Option<Node<'a>> {
        match node.kind {
            Kind::Record(_) => self.parts(node, keys, what, tail),
            _ => self.value(node, At::Value),
        }
    }

    fn rollbacks(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let call = |walk: &mut Self, node: &Node<'a>| {
            walk.keyed(node, &[Key::Call, Key::Args], "a rollback call", Tail::Drop)
        };
        let names_a_tool = |entry: &Entry<'a>| {
            let is_word = |name: &str| name == "call" || key_of(name, &[Key::Call]).is_some();
            entry.is(is_word) && entry.value.text().is_some()
        };
        match node.kind {
            Kind::List(_) => self.items(node, |walk, _, item| call(walk, item)),
            Kind::Record(_) if entries(node).iter().any(names_a_tool) => call(self, node),
            _ => self.entries(node, |walk, entry| call(walk, &entry.value)),
        }
    }

    // Values.

    fn cases(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        match node.kind {
            Kind::Record(_) => self.fields(node),
            _ => self.items(node, |walk, _, pair| match pair.kind {
                Kind::List(_) => walk
                    .items(pair, |walk, at, item| if at == 1 { walk.value(item, At::Value) } else { None }),
                _ => walk.fields(pair),
            }),
        }
    }

    /// The fields of a record that is certainly data.
    fn fields(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        self.entries(node, |walk, entry| walk.value(&entry.value, At::Value))
    }

    /// A value, or a formula.
    pub(super) fn value(&mut self, node: &Node<'a>, at: At) -> Option<Node<'a>> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let listed = match node.kind {
            Kind::List(items) if at == At::Condition => self.listed_operation(node, items),
            _ => None,
        };
        let node = &listed.unwrap_or(*node);
        let found = match node.kind {
            Kind::List(_) => self.items(node, |walk, _, item| walk.value(item, At::Value)),
            Kind::Record(_) => {
                let new = self.offer(node, at);
                self.record(&new.unwrap_or(*node), at).or(new)
            }
            _ => None,
        };
        let found = found.or(listed);
        self.depth -= 1;
        found
    }

    /// A record in the position of a value.
    fn record(&mut self, node: &Node<'a>, at: At) -> Option<Node<'a>> {
        const VALUES: [Key; 6] = [Key::Call, Key::Match, Key::Op, Key::Merge, Key::Expr, Key::Obj];
        let list = entries(node);
        if let [only] = list
            && let Some(found) = only.name().and_then(operator::find)
        {
            let texts = found.spelling == "concat" || matches!(found.makes, operator::Makes::Apply(_));
            let logical = matches!(found.spelling, "and" | "or" | "not") && at == At::Condition;
            let at = match texts {
                true => At::Value,
                false if logical => At::Condition,
                false => At::Formula,
            };
            return self.entries(node, |walk, entry| match entry.value.kind {
                Kind::List(_) => walk.items(&entry.value, |walk, _, operand| walk.value(operand, at)),
                _ => walk.value(&entry.value, at),
            });
        }
        let form = self.form(list).filter(|form| VALUES.contains(&form.key));
        let Some(form) = form else { return self.fields(node) };
        let keys = form.keys();
        let means = |entry: &Entry<'a>, keys: &[Key]| self.at.dialect.means(entry, keys);
        let whole = list.iter().all(|entry| means(entry, &keys))
            && form.needs.iter().all(|key| list.iter().any(|entry| means(entry, &[*key])));
        if whole { self.parts(node, &keys, "a value", Tail::Value) } else { self.fields(node) }
    }
}
