//! Finds the words that may be written at a position of a document, for completion. The source may be
//! incomplete.
//!
//! It uses the keys above and beside the position, not values. So if a key has two meanings (`then` is steps
//! or a value), both are offered.

use super::{ARM, Dialect, Form, HANDLER, Key, META, RESULT, ROLES, STEP_KEYS, STEPS, operator};
use crate::document::Entry;
use crate::notation::Notation;

/// A record or list that encloses the position.
#[derive(Clone, Copy, Debug, Default)]
pub struct Level<'d> {
    /// The key under which the position is; `None` in a list.
    pub key: Option<&'d str>,
    /// All entries that the record has.
    pub entries: &'d [Entry<'d>],
}

impl<'d> Level<'d> {
    /// The value of a key, if it is a text.
    pub fn value(&self, key: &str) -> Option<&'d str> {
        self.entries.iter().find(|entry| entry.name() == Some(key))?.value.text()
    }

    fn has(&self, word: &str) -> bool {
        self.entries.iter().any(|entry| entry.name() == Some(word))
    }
}

/// The role of the value at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The whole source, or a program.
    Program,
    /// The record `meta` of MCP.
    Meta,
    /// The inputs, each with its type.
    Inputs,
    /// A type.
    Type,
    /// The output type of a function.
    Output,
    /// The tools and functions that may be called.
    Tools,
    /// A tool or function.
    Tool,
    /// The arguments of a call.
    Arguments,
    /// Steps, or a step.
    Block,
    /// A step.
    Step,
    /// The handler of a failure.
    Handler,
    /// The arms of a switch, or one.
    Arm,
    /// The value that a function returns.
    Return,
    /// The cases of a choice, each with a value.
    Cases,
    /// The fields of a record, each with a value.
    Fields,
    /// A value that is computed.
    Value,
    /// A name that is bound, or anything else.
    Name,
}

/// The role of the value at the end of a path.
pub fn wanted(notation: Notation, path: &[Level<'_>]) -> Wanted {
    let dialect = Dialect::of(notation);
    path.iter().fold(Wanted::Program, |outer, level| inside(dialect, outer, level))
}

/// The role of the value under a key, or in a list.
fn inside(dialect: Dialect, outer: Wanted, level: &Level<'_>) -> Wanted {
    let Some(word) = level.key else {
        return match outer {
            Wanted::Block => Wanted::Step,
            Wanted::Tools => Wanted::Tool,
            other => other,
        };
    };
    let meaning = |keys: &[Key]| dialect.meaning(word, keys).map(|(key, _)| key);
    match outer {
        Wanted::Program => meaning(dialect.top()).map_or(Wanted::Name, role),
        Wanted::Meta => meaning(&META).map_or(Wanted::Name, role),
        Wanted::Inputs => Wanted::Type,
        // A single step, or the name of one.
        Wanted::Block | Wanted::Step | Wanted::Handler | Wanted::Arm => {
            let named = outer == Wanted::Block && dialect.is_yaml() && form_of(dialect, level).is_none();
            match meaning(&super::ALL).filter(|_| !named) {
                // `err` is a handler if beside a call, otherwise a failure that is returned.
                Some(Key::Err | Key::Message) if level.has(dialect.word(Key::Call)) => Wanted::Handler,
                Some(key) => role(key),
                None => Wanted::Step,
            }
        }
        Wanted::Return | Wanted::Cases | Wanted::Fields | Wanted::Arguments | Wanted::Value => Wanted::Value,
        Wanted::Type | Wanted::Output | Wanted::Tools | Wanted::Tool | Wanted::Name => Wanted::Name,
    }
}

/// The role of the value under a key.
fn role(key: Key) -> Wanted {
    ROLES.get(key as usize).map_or(Wanted::Value, |&(role, _)| role)
}

/// The kind of step that a record is, by its keys so far.
fn form_of(dialect: Dialect, level: &Level<'_>) -> Option<&'static Form> {
    let written = |form: &&Form| dialect.has(form.key) && level.has(dialect.word(form.key));
    let found = STEPS.iter().find(written)?;
    let takes_result = found.key == Key::Match && !level.has(dialect.word(Key::Cases));
    Some(if takes_result { &RESULT } else { found })
}

/// The keys that the record at the end of a path may still have, in the words of the notation.
pub fn words(notation: Notation, path: &[Level<'_>], here: &Level<'_>) -> Vec<&'static str> {
    let dialect = Dialect::of(notation);
    let mut keys: Vec<Key> = Vec::new();
    match wanted(notation, path) {
        Wanted::Program => keys.extend(dialect.top()),
        Wanted::Meta => keys.extend(META),
        Wanted::Block | Wanted::Step => match form_of(dialect, here) {
            Some(form) => {
                keys.extend(form.keys());
                if form.key == Key::Match {
                    keys.extend([Key::Cases, Key::Default]);
                }
            }
            None => {
                keys.push(Key::Let);
                keys.extend(STEP_KEYS);
            }
        },
        Wanted::Handler => {
            keys.extend(HANDLER);
            keys.extend([Key::Fail, Key::Call]);
        }
        Wanted::Arm => keys.extend(ARM),
        Wanted::Return => return new(here, ["ok", dialect.word(Key::Message)]),
        Wanted::Value => {
            let few = [Key::Merge, Key::Obj].map(|key| dialect.word(key));
            return new(here, operator::TABLE.iter().map(|row| row.spelling).chain(few));
        }
        _ => {}
    }
    let all = keys.into_iter().filter(|&key| dialect.takes(key)).map(|key| dialect.word(key));
    let mut words = Vec::new();
    for word in new(here, all) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// The words that a record does not have yet.
fn new(here: &Level<'_>, words: impl IntoIterator<Item = &'static str>) -> Vec<&'static str> {
    words.into_iter().filter(|word| !word.is_empty() && !here.has(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Node;
    use crate::span::Span;

    fn level(key: Option<&'static str>, entries: &[&'static str]) -> Level<'static> {
        let node = |name| Node::of_text(name, Span::at(0));
        let entries: Vec<_> = entries.iter().map(|name| Entry { key: node(name), value: node("") }).collect();
        Level { key, entries: entries.leak() }
    }

    #[test]
    fn words_follow_the_kind_of_the_step() {
        let steps = [level(Some("steps"), &["steps"]), level(None, &[])];
        let all = words(Notation::ToolCalling, &steps, &Level::default());
        assert!(all.contains(&"call") && all.contains(&"let") && all.contains(&"for"), "{all:?}");
        assert!(!all.contains(&"args") && !all.contains(&"catch"), "{all:?}");
        let call = words(Notation::ToolCalling, &steps, &level(None, &["call"]));
        assert_eq!(call, ["let", "args", "rollback", "on-error", "compensate", "then"]);
        let top = words(Notation::Mcp, &[], &Level::default());
        assert_eq!(top, ["meta", "steps"]);
    }

    #[test]
    fn a_path_tells_what_a_value_is() {
        let of = |notation, path: &[Level<'_>]| wanted(notation, path);
        let steps = level(Some("steps"), &["steps"]);
        let named = level(Some("user"), &["user"]);
        let call = level(Some("call"), &["call"]);
        let args = level(Some("args"), &["call", "args"]);
        assert_eq!(of(Notation::Workflow, &[steps, named, call]), Wanted::Tool);
        assert_eq!(of(Notation::Workflow, &[steps, named, args]), Wanted::Arguments);
        let catch = level(Some("catch"), &["call", "catch"]);
        let returned = level(Some("return"), &["return"]);
        assert_eq!(of(Notation::Workflow, &[steps, named, catch, returned]), Wanted::Return);
        let meta = level(Some("meta"), &["meta"]);
        let tools = level(Some("tools"), &["tools"]);
        assert_eq!(of(Notation::Mcp, &[meta, tools, level(None, &[])]), Wanted::Tool);
        let input = level(Some("in"), &["in"]);
        assert_eq!(of(Notation::Constrained, &[input, level(Some("a"), &["a"])]), Wanted::Type);
    }
}
