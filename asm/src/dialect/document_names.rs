//! Collects the names in the document of a program: where they are bound and referred to.
//!
//! This is one pass before the document is read. It distinguishes a name that is bound too late from one that
//! is never bound, and finds steps whose result nothing reads.

use super::reference::INPUT;
use super::template::is_more_than_reference;
use crate::document::entries;
use crate::document::{Kind, Node};
use crate::span::Span;
use hashbrown::HashMap;

/// The names in the document of a function.
#[derive(Default)]
pub(crate) struct Survey<'a> {
    /// The last position at which each name is bound.
    bound: HashMap<&'a str, Span>,
    /// The last position at which each name is referred to.
    used: HashMap<&'a str, u32>,
    /// The last position at which each input is referred to.
    inputs: HashMap<&'a str, u32>,
}

/// The keys whose values are steps, in YAML each under its name.
const STEPS: [&str; 5] = ["steps", "yield", "do", "then", "else"];

/// The names that steps bind with `let`, or with a key of another language.
pub(crate) fn names_bound_in<'a>(document: &Node<'a>, mut each: impl FnMut(&'a str)) {
    let mut rest = vec![*document];
    while let Some(node) = rest.pop() {
        if let Kind::List(items) = node.kind {
            rest.extend_from_slice(items);
        }
        for entry in entries(&node) {
            match (entry.name(), entry.value.text()) {
                (Some("let"), Some(name)) => each(name),
                (Some("ResultPath"), Some(path)) => each(path.trim_start_matches("$.")),
                _ => {}
            }
            rest.push(entry.value);
        }
    }
}

impl<'a> Survey<'a> {
    /// Walks a document without recursion.
    pub(crate) fn of(document: &Node<'a>) -> Survey<'a> {
        let mut survey = Survey::default();
        let mut rest = vec![(*document, false)];
        while let Some((node, named)) = rest.pop() {
            match node.kind {
                Kind::Text(text) => survey.text(text.text, node.span.start),
                Kind::List(items) => rest.extend(items.iter().map(|&item| (item, false))),
                Kind::Record(_) => {
                    for entry in entries(&node) {
                        let Some(key) = entry.name() else { continue };
                        if named {
                            survey.binds(key, entry.key.span);
                        } else if let ("let" | "for" | "as", Kind::Text(text)) = (key, entry.value.kind) {
                            survey.binds(text.text, entry.value.span);
                        }
                        rest.push((entry.value, STEPS.contains(&key)));
                    }
                }
                _ => {}
            }
        }
        survey.split_unbound();
        survey
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
        let last = self.bound.entry(name).or_insert(place);
        if place.start > last.start {
            *last = place;
        }
    }

    /// Collects the names after each `$` and in double braces.
    fn text(&mut self, text: &'a str, place: u32) {
        let dollars = text.split('$').skip(1).map(|part| part.strip_prefix('{').unwrap_or(part));
        for part in dollars.chain(text.split("{{").skip(1)) {
            let part = part.trim_start();
            let input = part.strip_prefix('.').or_else(|| part.strip_prefix("input."));
            let rest = input.unwrap_or(part);
            let quoted = rest.strip_prefix("[\"").and_then(|rest| rest.split('"').next());
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(rest.len());
            let name = quoted.unwrap_or_else(|| rest.get(..end).unwrap_or("").trim_end_matches('-'));
            let places = if input.is_some() || name == INPUT { &mut self.inputs } else { &mut self.used };
            let last = places.entry(name).or_insert(place);
            *last = place.max(*last);
        }
        let mut rest = text;
        while let Some(at) = rest.find(['$', '{']) {
            let open = rest.get(at..).unwrap_or("");
            let double = open.strip_prefix("{{").filter(|inside| is_more_than_reference(inside));
            let Some(inside) = open.strip_prefix("${").or(double) else {
                rest = open.get(1..).unwrap_or("");
                continue;
            };
            let (inside, after) = inside.split_at(end_of_braces(inside));
            self.names_in_braces(inside, place);
            rest = after;
        }
    }

    /// Collects all names between braces that hold no reference, such as `${fixed(amount, 2)}`: what is wrong
    /// is the braces, not that nothing reads `amount`.
    fn names_in_braces(&mut self, inside: &'a str, place: u32) {
        if is_path(inside) {
            return;
        }
        // What is quoted holds no names. The dot stays at the names of fields, which are no names here.
        for part in inside.split(['"', '\'']).step_by(2) {
            for word in part.split(|c| c != '.' && !is_of_name(c)) {
                let name = word.split('.').next().unwrap_or("");
                if !name.is_empty() {
                    self.uses(name, place);
                }
            }
        }
    }

    /// The last position at which a name is bound.
    pub(crate) fn binding(&self, name: &str) -> Option<Span> {
        self.bound.get(name).copied()
    }

    /// Whether anything binds a name.
    pub(crate) fn binds_name(&self, name: &str) -> bool {
        self.bound.contains_key(name)
    }

    /// Whether a name is referred to after a position.
    pub(crate) fn used_after(&self, name: &str, place: u32) -> bool {
        self.used.get(name).is_some_and(|&last| last >= place)
    }

    /// The last position at which an input is read, by its name or with all inputs (`$input`).
    pub(crate) fn input_read(&self, name: &str) -> Option<u32> {
        self.inputs.get(name).copied().max(self.inputs.get(INPUT).copied())
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// Whether names with dots and brackets are all that braces hold.
fn is_path(inside: &str) -> bool {
    let mut rest = inside.trim();
    loop {
        rest = rest.trim_start_matches(|c| c == '.' || is_of_name(c));
        // A name between brackets is none of a path.
        let bracket = rest.strip_prefix('[').filter(|rest| !rest.starts_with(char::is_alphabetic));
        match bracket.and_then(|rest| rest.split_once(']')) {
            Some((_, after)) => rest = after,
            None => return rest.is_empty(),
        }
    }
}

/// The length of what open braces hold, with the braces in it; all of it if nothing closes them.
fn end_of_braces(inside: &str) -> usize {
    let mut open = 1_usize;
    let closing = |(_, c): &(usize, char)| {
        match c {
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        open == 0
    };
    inside.char_indices().find(closing).map_or(inside.len(), |(at, _)| at)
}
