//! Collects the names in the document of a program: where they are bound and referred to.
//!
//! This is one pass before the document is read. It distinguishes a name that is bound too late from one that
//! is never bound, and finds steps whose result nothing reads.

use crate::document::{Node, NodeKind, entries};
use crate::expr::names::{self, Used};
use crate::expr::reference::INPUT;
use crate::span::Span;
use crate::text::is_name;
use hashbrown::{HashMap, HashSet};

/// The names in the document of a function.
#[derive(Default)]
pub(crate) struct Survey<'a> {
    /// Where each name is bound: the last position, and the first.
    bound: HashMap<&'a str, (Span, u32)>,
    /// The last position at which each name is referred to.
    used: HashMap<&'a str, u32>,
    /// The last position at which each input is referred to.
    inputs: HashMap<&'a str, u32>,
    /// The names with which whole texts begin, if names need no sign, each with its last position.
    bare: Option<HashMap<&'a str, u32>>,
    /// The words in quotes in expressions, if names need no sign.
    quoted: HashSet<&'a str>,
}

/// The keys whose values are steps, in YAML each under its name.
const STEPS: [&str; 5] = ["steps", "yield", "do", "then", "else"];

/// The keys whose texts may be expressions without braces, with the words of other languages for `if`.
const EXPRESSIONS: [&str; 14] = [
    "expr",
    "if",
    "where",
    "while",
    "until",
    "assert",
    "return",
    "ok",
    "in",
    "match",
    "merge",
    "$merge",
    "when",
    "condition",
];

/// A value and all that is in it, in no order.
pub(crate) fn within<'a>(node: &Node<'a>) -> impl Iterator<Item = Node<'a>> + use<'a> {
    let mut rest = vec![*node];
    core::iter::from_fn(move || {
        let node = rest.pop()?;
        rest.extend_from_slice(if let NodeKind::List(items) = node.kind { items } else { &[] });
        rest.extend(entries(&node).iter().map(|entry| entry.value));
        Some(node)
    })
}

/// The names that steps bind with `let`, or with a key of another language.
pub(crate) fn names_bound_in<'a>(document: &Node<'a>, mut each: impl FnMut(&'a str)) {
    for entry in within(document).flat_map(|node| entries(&node)) {
        match (entry.name(), entry.value.text()) {
            (Some("let"), Some(name)) => each(name),
            (Some("ResultPath"), Some(path)) => each(path.trim_start_matches("$.")),
            _ => {}
        }
    }
}

impl<'a> Survey<'a> {
    /// Walks a document without recursion.
    pub(crate) fn of(document: &Node<'a>, bare: bool) -> Survey<'a> {
        let mut survey = Survey { bare: bare.then(HashMap::new), ..Survey::default() };
        let mut rest = vec![(*document, false, false)];
        while let Some((node, named, computes)) = rest.pop() {
            match node.kind {
                NodeKind::Text(text) => {
                    survey.text(text.text, computes, node.span.start);
                    if let Some(bare) = &mut survey.bare {
                        let last = bare.entry(root(text.text)).or_default();
                        *last = node.span.start.max(*last);
                    }
                }
                NodeKind::List(items) => rest.extend(items.iter().map(|&item| (item, false, computes))),
                NodeKind::Record(_) => {
                    for entry in entries(&node) {
                        let Some(key) = entry.name() else { continue };
                        if named {
                            survey.binds(key, entry.key.span);
                        } else if let ("let" | "for" | "as" | "index", NodeKind::Text(text)) =
                            (key, entry.value.kind)
                        {
                            survey.binds_names(key, text.text, entry.value.span);
                            if is_name(text.text) {
                                continue;
                            }
                        }
                        // What is changed is read.
                        if key == "push"
                            && let Some(of) = entries(&node).iter().find(|it| it.name() == Some("let"))
                            && let NodeKind::Text(text) = of.value.kind
                        {
                            survey.uses(root(text.text), entry.key.span.start);
                        }
                        let steps = STEPS.contains(&key);
                        let logical = computes && matches!(key, "not" | "and" | "or");
                        let computes = !named && (logical || EXPRESSIONS.contains(&key));
                        rest.push((entry.value, steps, computes));
                    }
                }
                _ => {}
            }
        }
        survey.split_unbound();
        survey
    }

    /// Notes what a key binds: the root of a path under `let`, two names under `for`.
    fn binds_names(&mut self, key: &str, text: &'a str, place: Span) {
        match key {
            "let" => {
                self.binds(root(text), place);
                if root(text).len() < text.len() {
                    self.uses(root(text), place.start);
                }
                for key in text.split('[').skip(1) {
                    let key = key.trim_start_matches(|c| !is_of_name(c));
                    let end = key.find(|c| !is_of_name(c)).unwrap_or(key.len());
                    self.uses(key.get(..end).unwrap_or(""), place.start);
                }
            }
            _ => text.split(',').for_each(|name| self.binds(name.trim(), place)),
        }
    }

    /// Collects the parts of names that nothing binds: `a-b` may mean the difference of `a` and `b`.
    fn split_unbound(&mut self) {
        let is_unbound = |(name, _): &(&&'a str, &u32)| name.contains('-') && !self.bound.contains_key(*name);
        let unbound: Vec<(&str, u32)> =
            self.used.iter().filter(is_unbound).map(|(&name, &at)| (name, at)).collect();
        for (name, place) in unbound {
            name.split('-').for_each(|part| self.uses(part, place));
        }
    }

    /// Notes that a name is referred to.
    fn uses(&mut self, name: &'a str, place: u32) {
        let last = self.used.entry(name).or_insert(place);
        *last = place.max(*last);
    }

    fn binds(&mut self, name: &'a str, place: Span) {
        let (last, first) = self.bound.entry(name).or_insert((place, place.start));
        *first = place.start.min(*first);
        if place.start > last.start {
            *last = place;
        }
    }

    /// Collects the names in a text; `whole` says that all of it is an expression.
    fn text(&mut self, text: &'a str, whole: bool, place: u32) {
        names::used(text, whole, &mut |used| match used {
            Used::Name(name) => self.uses(name, place),
            Used::Input(name) => {
                let last = self.inputs.entry(name).or_insert(place);
                *last = place.max(*last);
            }
            Used::Quoted(word) => {
                if self.bare.is_some() {
                    self.quoted.insert(word);
                }
            }
        });
    }

    /// The last position at which a name is bound.
    pub(crate) fn binding(&self, name: &str) -> Option<Span> {
        self.bound.get(name).map(|&(last, _)| last)
    }

    /// The first position at which a name is bound.
    pub(crate) fn first_binding(&self, name: &str) -> Option<u32> {
        self.bound.get(name).map(|&(_, first)| first)
    }

    /// Whether a name may be referred to after a position.
    pub(crate) fn used_after(&self, name: &str, place: u32) -> bool {
        let bare = self.bare.as_ref().and_then(|bare| bare.get(name));
        self.used.get(name).max(bare).is_some_and(|&last| last >= place)
    }

    /// Whether a word that nothing binds is in quotes in an expression: elsewhere too it is a text.
    pub(crate) fn is_quoted(&self, word: &str) -> bool {
        self.quoted.contains(word) && !self.bound.contains_key(word)
    }

    /// Whether a name may be referred to.
    pub(crate) fn is_used(&self, name: &str) -> bool {
        self.used.contains_key(name) || self.bare.as_ref().is_some_and(|bare| bare.contains_key(name))
    }

    /// The last position at which an input is read, by its name or with all inputs (`$input`).
    pub(crate) fn input_read(&self, name: &str) -> Option<u32> {
        self.inputs.get(name).copied().max(self.inputs.get(INPUT).copied())
    }
}

/// The name with which a path begins.
fn root(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or(path)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}
