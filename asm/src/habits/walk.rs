//! The walk over a program's document: which of its nodes are steps and which are values, offered to the habits of
//! each kind of place, and rebuilt where one applies.
//!
//! It knows places by the dialect's tables of step forms alone. What it does not know it leaves as it is.

use super::names::Names;
use super::table::{At, Context, HABITS, Habit, Rewrite};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::{ARM, Dialect, Form, HANDLER, Key, RESULT, STEPS, begins_step, operator};
use crate::document::edit::{Draft, mendable};
use crate::document::{Entry, Kind, Node, entries, first_of};
use crate::text::shorten;
use bumpalo::Bump;

/// How deep the walk goes; deeper programs are refused.
const DEEPEST: usize = 256;

/// Whether the value of a block's last step is wanted, and so a record without a step's word is a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    Drop,
    Value,
    Yield,
}

pub(super) struct Walk<'w, 'a> {
    pub(super) at: Context<'w, 'a>,
    pub(super) source: &'a str,
    pub(super) diagnostics: &'w mut Diagnostics,
    depth: usize,
}

/// A program in the canonical form; `None` where no habit applies.
pub(super) fn program<'a>(
    node: &Node<'a>,
    dialect: Dialect,
    source: &'a str,
    arena: &'a Bump,
    diagnostics: &mut Diagnostics,
) -> Option<Node<'a>> {
    let names = Names::of(node, dialect);
    let at = Context { dialect, arena, names: &names };
    let mut walk = Walk { at, source, diagnostics, depth: 0 };
    let signature = walk.signature(node);
    let found = walk.entries(&signature.unwrap_or(*node), |walk, entry| {
        let steps = entry.name().is_some_and(|name| dialect.meaning(name, &[Key::Steps]).is_some());
        if steps { walk.body(&entry.value) } else { None }
    });
    found.or(signature)
}

impl<'a> Walk<'_, 'a> {
    // What is rebuilt.

    pub(super) fn entries(
        &mut self,
        node: &Node<'a>,
        mut each: impl FnMut(&mut Self, &Entry<'a>) -> Option<Node<'a>>,
    ) -> Option<Node<'a>> {
        let list = entries(node);
        let mut new: Option<Vec<Entry<'a>>> = None;
        for (at, entry) in list.iter().enumerate() {
            if let Some(value) = each(self, entry) {
                let new = new.get_or_insert_with(|| list.to_vec());
                new[at] = Entry { key: entry.key, value };
            }
        }
        Some(Node { kind: Kind::Record(self.at.arena.alloc_slice_copy(&new?)), span: node.span })
    }

    pub(super) fn items(
        &mut self,
        node: &Node<'a>,
        mut each: impl FnMut(&mut Self, usize, &Node<'a>) -> Option<Node<'a>>,
    ) -> Option<Node<'a>> {
        let Kind::List(list) = node.kind else { return None };
        let mut new: Option<Vec<Node<'a>>> = None;
        for (at, item) in list.iter().enumerate() {
            if let Some(item) = each(self, at, item) {
                new.get_or_insert_with(|| list.to_vec())[at] = item;
            }
        }
        Some(Node { kind: Kind::List(self.at.arena.alloc_slice_copy(&new?)), span: node.span })
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
        let mut new: Option<Vec<Node<'a>>> = None;
        for (at, item) in list.iter().enumerate() {
            let last = at + 1 == list.len();
            match self.step(item, if last { tail } else { Tail::Drop }) {
                Some(Node { kind: Kind::List(several), .. }) => {
                    new.get_or_insert_with(|| list.get(..at).unwrap_or_default().to_vec())
                        .extend_from_slice(several);
                }
                Some(step) => {
                    new.get_or_insert_with(|| list.get(..at).unwrap_or_default().to_vec()).push(step);
                }
                None => new.iter_mut().for_each(|new| new.push(*item)),
            }
        }
        Some(Node { kind: Kind::List(self.at.arena.alloc_slice_copy(&new?)), span: node.span })
    }

    /// Steps under their names, in YAML.
    fn named_steps(&mut self, node: &Node<'a>, tail: Tail) -> Option<Node<'a>> {
        let list = entries(node);
        let mut new: Option<Vec<Entry<'a>>> = None;
        for (at, entry) in list.iter().enumerate() {
            let named = entry.name().is_some_and(|name| self.at.names.survey.used_after(name, 0));
            let tail = if at + 1 == list.len() { tail } else { Tail::Drop };
            let step = self.step(&entry.value, if named { Tail::Value } else { tail });
            let Some(step) = step else {
                new.iter_mut().for_each(|new| new.push(*entry));
                continue;
            };
            let new = new.get_or_insert_with(|| list.get(..at).unwrap_or_default().to_vec());
            match step.kind {
                Kind::List(several) if !matches!(entry.value.kind, Kind::List(_)) => {
                    // Each under the name that it binds.
                    let key = |step: &Node<'a>| entries(step).first().map_or(entry.key, |named| named.value);
                    new.extend(several.iter().map(|step| Entry { key: key(step), value: *step }));
                }
                _ => new.push(Entry { key: entry.key, value: step }),
            }
        }
        Some(Node { kind: Kind::Record(self.at.arena.alloc_slice_copy(&new?)), span: node.span })
    }

    /// What stands under `then`, `else` and the body of a loop: steps, or a value where one is wanted.
    fn branch(&mut self, node: &Node<'a>, tail: Tail) -> Option<Node<'a>> {
        let has_word =
            |node: &Node<'a>| entries(node).iter().any(|entry| entry.name().is_some_and(begins_step));
        let yaml = self.at.dialect.is_yaml();
        match node.kind {
            Kind::List(items)
                if tail == Tail::Value && !(!items.is_empty() && items.iter().all(has_word)) =>
            {
                self.value(node, At::Value)
            }
            Kind::List(_) => self.list_of_steps(node, tail),
            Kind::Record(list) if yaml && !has_word(node) => {
                let fields = list.len() > 1 && list.iter().all(|entry| self.is_field(entry));
                let steps = list.iter().any(|entry| has_word(&entry.value));
                match tail {
                    Tail::Value if !steps => self.value(node, At::Value),
                    Tail::Yield if fields => self.value(node, At::Value),
                    _ => self.named_steps(node, tail),
                }
            }
            Kind::Record(_) => self.step(node, tail),
            _ => None,
        }
    }

    /// Whether an entry is a field of what a loop yields.
    fn is_field(&self, entry: &Entry<'a>) -> bool {
        let is_new = |name: &str| !begins_step(name) && !self.at.names.survey.binds_name(name);
        let is_step = |entry: &Entry<'a>| entry.name().is_some_and(begins_step);
        entry.name().is_some_and(is_new) && !entries(&entry.value).iter().any(is_step)
    }

    /// A step; a list of steps where it should have been several.
    fn step(&mut self, node: &Node<'a>, tail: Tail) -> Option<Node<'a>> {
        if self.depth >= DEEPEST {
            return None;
        }
        if !matches!(node.kind, Kind::Record(_)) {
            return self.value(node, At::Value);
        }
        self.depth += 1;
        let new = self.offer(node, At::Step);
        let found = match new.unwrap_or(*node) {
            steps @ Node { kind: Kind::List(_), .. } => self.list_of_steps(&steps, Tail::Drop),
            step => self.parts(&step, tail),
        };
        self.depth -= 1;
        found.or(new)
    }

    /// Which kind of step a record is.
    fn form(&self, list: &[Entry<'a>]) -> Option<&'static Form> {
        let dialect = self.at.dialect;
        let has = |keys: &[Key]| {
            list.iter().any(|entry| entry.name().is_some_and(|name| dialect.meaning(name, keys).is_some()))
        };
        let found = STEPS.iter().find(|form| has(&[form.key]))?;
        Some(if found.key == Key::Match && !has(&[Key::Cases]) { &RESULT } else { found })
    }

    /// What stands in a step.
    fn parts(&mut self, node: &Node<'a>, tail: Tail) -> Option<Node<'a>> {
        let dialect = self.at.dialect;
        let Some(form) = self.form(entries(node)) else { return self.value(node, At::Value) };
        let named = entries(node).iter().any(|entry| entry.name() == Some("let"));
        let tail = if named { Tail::Value } else { tail };
        self.entries(node, |walk, entry| {
            let own = dialect.meaning(entry.name()?, &[form.key]);
            let found = own.or_else(|| dialect.meaning(entry.name()?, form.needs));
            let (key, _) = found.or_else(|| dialect.meaning(entry.name()?, form.takes))?;
            walk.part(key, &entry.value, tail)
        })
    }

    /// The value of a key of a step, a handler or an arm.
    fn part(&mut self, key: Key, node: &Node<'a>, tail: Tail) -> Option<Node<'a>> {
        match key {
            Key::If | Key::Assert | Key::Expr => self.value(node, At::Formula),
            Key::A | Key::B => self.value(node, At::Formula),
            Key::Then | Key::Else => self.branch(node, tail),
            Key::Body => self.branch(node, Tail::Yield),
            Key::Args | Key::Obj | Key::Set => self.fields(node),
            Key::Cases => self.cases(node),
            Key::Compensate => self.rollbacks(node),
            Key::Switch => self.items(node, |walk, _, arm| walk.keyed(arm, &ARM, tail)),
            Key::Handler => self.keyed(node, &HANDLER, tail),
            Key::Default if matches!(node.kind, Kind::Record(_)) => self.keyed(node, &ARM, tail),
            Key::Default
            | Key::Return
            | Key::Ok
            | Key::Err
            | Key::Message
            | Key::Value
            | Key::Yield
            | Key::Fail
            | Key::Merge
            | Key::Match
            | Key::In => self.value(node, At::Value),
            _ => None,
        }
    }

    /// A handler, or an arm of a switch.
    fn keyed(&mut self, node: &Node<'a>, keys: &[Key], tail: Tail) -> Option<Node<'a>> {
        let dialect = self.at.dialect;
        match node.kind {
            Kind::Record(_) => self.entries(node, |walk, entry| {
                let (key, _) = dialect.meaning(entry.name()?, keys)?;
                walk.part(key, &entry.value, tail)
            }),
            Kind::Text(_) => self.value(node, At::Value),
            _ => None,
        }
    }

    fn rollbacks(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let call = |walk: &mut Self, node: &Node<'a>| walk.keyed(node, &[Key::Call, Key::Args], Tail::Drop);
        match node.kind {
            Kind::List(_) => self.items(node, |walk, _, item| call(walk, item)),
            Kind::Record(_) if entries(node).iter().any(|entry| entry.name() == Some("call")) => {
                call(self, node)
            }
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

    /// The fields of a record that is one, whatever its keys are.
    fn fields(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        self.entries(node, |walk, entry| walk.value(&entry.value, At::Value))
    }

    /// A value, or a formula.
    fn value(&mut self, node: &Node<'a>, at: At) -> Option<Node<'a>> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let found = match node.kind {
            Kind::List(_) => self.items(node, |walk, _, item| walk.value(item, At::Value)),
            Kind::Record(_) => {
                let new = self.offer(node, at);
                self.record(&new.unwrap_or(*node)).or(new)
            }
            _ => None,
        };
        self.depth -= 1;
        found
    }

    /// What stands in a record in the place of a value.
    fn record(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let list = entries(node);
        if let [only] = list
            && let Some(operator) = only.name().and_then(operator::find)
        {
            let at = if operator.spelling == "concat" { At::Value } else { At::Formula };
            return self.entries(node, |walk, entry| match entry.value.kind {
                Kind::List(_) => walk.items(&entry.value, |walk, _, operand| walk.value(operand, at)),
                _ => walk.value(&entry.value, at),
            });
        }
        const VALUES: [Key; 6] = [Key::Call, Key::Match, Key::Op, Key::Merge, Key::Expr, Key::Obj];
        match self.form(list) {
            Some(form) if VALUES.contains(&form.key) => self.parts(node, Tail::Value),
            _ => self.fields(node),
        }
    }

    // Habits.

    /// Offers a record to the habits of its place; what one of them makes of it is reported.
    fn offer(&mut self, node: &Node<'a>, place: At) -> Option<Node<'a>> {
        const LONGEST: usize = 3;
        let list = entries(node);
        let passed = match place {
            At::Step => self.at.is_canonical(list),
            At::Value | At::Formula => list.len() > LONGEST,
        };
        if passed {
            return None;
        }
        let looks = |habit: &&Habit| habit.at == place || habit.at == At::Value && place == At::Formula;
        let found = HABITS.iter().filter(looks).find_map(|habit| (habit.rewrite)(&self.at, list))?;
        Some(self.report(node, found))
    }

    /// Reports what a record should have been, and gives that.
    fn report(&mut self, node: &Node<'a>, found: Rewrite<'a>) -> Node<'a> {
        let yaml = self.at.dialect.is_yaml();
        let written = |entry: &Entry<'a>| Some((entry.name()?, Draft::Kept(entry.value)));
        let outline = Draft::Record(entries(node).iter().filter_map(written).collect()).outline(yaml);
        let place = entries(node).first().map_or(first_of(node), |entry| entry.key.span);
        let wrong = Diagnostic::new(found.code, place, found.message);
        let wrong = match &found.to {
            Draft::List(steps) => {
                let expected = "a step with `let` and `expr` for each";
                let wrong = wrong.expected(expected, format!("{} names in one", steps.len()));
                if !yaml && mendable(node.span) {
                    let text = |step: &Draft<'a>| step.text(self.source, self.at.dialect.is_bare());
                    wrong.replace(node.span, steps.iter().map(text).collect::<Vec<_>>().join(", "))
                } else {
                    wrong.help("write a step for each, with its name and `expr`")
                }
            }
            record => {
                let expected = format!("`{}`", record.outline(yaml));
                let wrong = wrong.expected(expected.clone(), format!("`{}`", shorten(&outline)));
                match record.fix(node, self.source, yaml, self.at.dialect.is_bare()) {
                    Some(fix) => wrong.fix(fix),
                    None => wrong.help(format!("write {expected}")),
                }
            }
        };
        self.diagnostics.push(wrong);
        found.to.node(place, self.at.arena)
    }
}
