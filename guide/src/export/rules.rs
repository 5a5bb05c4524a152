//! The rules of a grammar, independent of a syntax.

use ilo_spec::node::Word;
use std::collections::{HashMap, HashSet};

/// An item of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Item {
    /// These characters.
    Text(String),
    /// Another rule, or a token of `print`.
    Rule(String),
}

/// A sequence of items.
pub(super) type Sequence = Vec<Item>;

/// Rules by name, in the order in which they were begun.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) all: Vec<(String, Vec<Sequence>)>,
    named: HashSet<String>,
    by_choices: HashMap<Vec<Sequence>, String>,
}

impl Rules {
    /// Begins a rule and returns its place; `None` if it was begun before.
    pub(super) fn begin(&mut self, name: &str) -> Option<usize> {
        self.named.insert(name.to_owned()).then(|| {
            self.all.push((name.to_owned(), Vec::new()));
            self.all.len() - 1
        })
    }

    /// The rule with these choices: an existing one, or a new one.
    pub(super) fn of(&mut self, prefix: &str, choices: Vec<Sequence>) -> Item {
        if let Some(name) = self.by_choices.get(&choices) {
            return Item::Rule(name.clone());
        }
        let name = format!("{prefix}{}", self.all.len());
        self.all.push((name.clone(), choices.clone()));
        self.by_choices.insert(choices, name.clone());
        Item::Rule(name)
    }

    /// This number of items, with a blank before each: a rule for each number, which uses the previous one.
    pub(super) fn repeated(&mut self, items: &[Item], count: usize) -> Sequence {
        let mut sequence = Vec::new();
        for _ in 0..count {
            let longer = [vec![text(" ")], items.to_vec(), sequence].concat();
            sequence = vec![self.of("n", vec![longer])];
        }
        sequence
    }
}

/// Items with a blank between them.
pub(super) fn spaced(items: impl IntoIterator<Item = Item>) -> Sequence {
    let mut sequence = Vec::new();
    for item in items {
        if !sequence.is_empty() {
            sequence.push(Item::Text(" ".to_owned()));
        }
        sequence.push(item);
    }
    sequence
}

/// A text as an item.
pub(super) fn text(text: impl Into<String>) -> Item {
    Item::Text(text.into())
}

/// A rule as an item.
pub(super) fn rule(name: &str) -> Item {
    Item::Rule(name.to_owned())
}

/// The mnemonic of a word as an item.
pub(super) fn word(word: Word) -> Item {
    text(word.mnemonic())
}
