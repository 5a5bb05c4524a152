//! Collects the names in the document of a program: where they are bound and referred to.
//!
//! This is one pass before the document is read. It distinguishes a name that is bound too late from one that
//! is never bound, and finds steps whose result nothing reads.

use super::reference::INPUT;
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
        survey
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
        for inside in text.split("${").skip(1).filter_map(|part| part.split('}').next()) {
            self.names_in_braces(inside, place);
        }
    }

    /// Collects all names between braces that hold no reference, such as `${fixed(amount, 2)}`: what is wrong
    /// is the braces, not that nothing reads `amount`.
    fn names_in_braces(&mut self, inside: &'a str, place: u32) {
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let path = inside.split('[').next().unwrap_or("").trim();
        if path.chars().all(|c| c == '.' || is_of_name(c)) {
            return;
        }
        // The dot stays at the names of fields, which are no names here.
        for word in inside.split(|c| c != '.' && !is_of_name(c)) {
            let name = word.split('.').next().unwrap_or("");
            if !name.is_empty() {
                let last = self.used.entry(name).or_insert(place);
                *last = place.max(*last);
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
