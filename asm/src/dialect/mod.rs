//! The vocabulary of the four JSON and YAML notations: one table of words, and the keys of each kind of step.
//!
//! This file has only tables; `crate::steps` reads documents with them.

pub mod detect;
pub(crate) mod document_names;
pub mod operator;
pub mod other_operator;
pub(crate) mod step_forms;
pub(crate) mod terms;
pub mod words_at;

pub(crate) use step_forms::{InputForm, input_form, is_null, lists_fields};

use self::words_at::Wanted;

use crate::document::{Entry, Node, NodeKind, entries};
use crate::expr::Sigil;
use crate::foreign::{self, Place};
use crate::notation::Notation;

/// The name of a function that has none in the source.
pub(crate) const UNNAMED: &str = "main";

macro_rules! keys {
    ($($key:ident [$($words:tt)*] $role:ident $about:literal;)*) => {
        /// The meaning of a key of a program, independent of its word in a notation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "each is the key of that name")]
        pub enum Key {
            $($key),*
        }

        /// All keys, in order.
        pub(crate) const ALL: [Key; KEYS] = [$(Key::$key),*];

        /// The number of keys.
        pub(crate) const KEYS: usize = [$(Key::$key),*].len();

        /// The words of each key: in tool calling, constrained, workflow and MCP.
        static WORDS: [[&str; 4]; KEYS] = [$([$($words)*]),*];

        /// The role of the value under a key, and what the key is for.
        static ROLES: [(Wanted, &str); KEYS] = [$((Wanted::$role, $about)),*];
    };
}

// The words in tool calling, constrained, workflow and MCP; the role of the value; the purpose of the key.
// If a notation has no word of its own, its entry is empty, and the words of the others are understood.
keys! {
    Let ["let"; 4] Name "the name that the value of this step gets";
    Call ["call"; 4] Tool "calls a tool, or a function of the file";
    Args ["args", "args", "args", "with"] Arguments "the arguments of the call, by name";
    Handler ["on-error", "err", "catch", "err"] Handler "what runs when the call fails";
    Compensate ["compensate"; 4] Block "calls that undo what was done, before the function fails";
    Rollback ["rollback"; 4] Block "a call that is registered, and runs if the run ends without success";
    If ["if"; 4] Value "runs `then` when the condition is true";
    Then ["then", "then", "then", "then"] Block "the steps, or the value, where the condition is true";
    Else ["else"; 4] Block "the steps, or the value, otherwise";
    Return ["return", "ret", "return", ""] Return "ends the function with a value, or with a failure";
    Ok ["", "", "", "ok"] Value "ends the function with success";
    Err ["", "", "", "err"] Value "ends the function with a failure; beside a call, what runs when it fails";
    Assert ["", "", "", "assert"] Value "fails unless the condition is true";
    Message ["error", "err", "error", "err"] Value "the failure";
    For ["for"; 4] Name "the name of each item of the list under `in`";
    In ["in"; 4] Value "the list of the loop";
    Body ["do", "yield", "yield", "yield"] Block "what runs for each item";
    Yield ["yield"; 4] Value "the value that the pass of the loop adds to the list";
    Match ["match"; 4] Value "picks a value by the cases";
    Cases ["cases"; 4] Cases "the cases, each with its value";
    Default ["default"; 4] Value "the value where no case is equal";
    Switch ["switch"; 4] Arm "the first arm whose condition is true";
    Obj ["obj"; 4] Fields "a record of these fields";
    Merge ["$merge", "merge", "merge", "merge"] Value "a record with the fields of `set` added";
    Set ["set"; 4] Fields "the fields that are set";
    Op ["", "op", "", ""] Value "the operator";
    A ["", "a", "", ""] Value "the first operand";
    B ["", "b", "", ""] Value "the second operand";
    Expr ["expr"; 4] Value "a value in infix form";
    Value ["value"; 4] Value "a value";
    Skip ["skip"; 4] Value "ends this pass of the loop";
    Try ["try"; 4] Value "steps whose failures go to the handler beside it";
    Break ["break"; 4] Value "ends the loop";
    Ignore ["ignore"; 4] Value "continues as if the call had returned nil";
    Continue ["continue"; 4] Value "continues after the step";
    Fail ["raise"; 4] Value "ends the function with a failure, whatever its type";
    As ["as"; 4] Name "the name of what a call gave";
    Meta ["", "", "", "meta"] Meta "the name, the tools and the types of the program";
    Name ["function", "fn", "name", "name"] Name "the name of the function";
    Input ["input", "in", "input", "input"] Inputs "the inputs, each with its type";
    Output ["output", "out", "output", "output"] Output "the type of what the function gives";
    Deps ["deps", "deps", "deps", "tools"] Tools "the tools that the function may call";
    Steps ["steps", "body", "steps", "steps"] Block "the steps, in order";
    Where ["where"; 4] Value "a condition: elements for which it is false are left out";
    Index ["index"; 4] Name "the name of the position of the element in the list, from 0";
    While ["while"; 4] Value "runs `do` as long as the condition is true, at most `max` times";
    Until ["until"; 4] Value "runs `do` until the condition is true, at most `max` times";
    Max ["max"; 4] Value "the most passes, 100 if it is left out";
    Do ["", "do", "do", "do"] Block "the steps of a pass";
    Push ["push"; 4] Value "a value that is appended to the list under `let`";
}

impl Key {
    /// The key whose first word in a notation this is.
    pub(crate) fn named(word: &str) -> Option<Key> {
        let first = |key: &Key| spellings(*key).into_iter().find(|own| !own.is_empty());
        ALL.into_iter().find(|key| first(key) == Some(word))
    }
}

/// A kind of step: the key that identifies it, and the keys that may or must be beside it.
pub(crate) struct Form {
    /// The key.
    pub(crate) key: Key,
    /// The keys that must be beside it.
    pub(crate) needs: &'static [Key],
    /// The keys that may be beside it.
    pub(crate) takes: &'static [Key],
}

impl Form {
    /// All keys that such a step may have.
    pub(crate) fn keys(&self) -> Vec<Key> {
        [self.key].iter().chain(self.needs).chain(self.takes).copied().collect()
    }

    /// The kind of step that a key identifies.
    pub(crate) fn of(key: Key) -> Option<&'static Form> {
        STEPS.iter().find(|form| form.key == key)
    }
}

const fn form(key: Key, needs: &'static [Key], takes: &'static [Key]) -> Form {
    Form { key, needs, takes }
}

/// The kinds of steps, in the order in which a record is searched for their keys: a key that other kinds may
/// have comes after them.
pub(crate) static STEPS: [Form; 24] = [
    form(Key::For, &[Key::In, Key::Body], &[Key::Let, Key::Else, Key::Where, Key::Index]),
    form(Key::While, &[], &[Key::Do, Key::Body, Key::Max]),
    form(Key::Until, &[], &[Key::Do, Key::Body, Key::Max]),
    form(Key::Try, &[Key::Handler], &[Key::Let, Key::Compensate]),
    form(Key::Call, &[], &[Key::Let, Key::Args, Key::Rollback, Key::Handler, Key::Compensate, Key::Then]),
    form(
        Key::If,
        &[],
        &[
            Key::Let,
            Key::Then,
            Key::Else,
            Key::Return,
            Key::Ok,
            Key::Message,
            Key::Break,
            Key::Skip,
            Key::Compensate,
        ],
    ),
    form(Key::Assert, &[Key::Message], &[Key::Compensate]),
    form(Key::Match, &[Key::Cases], &[Key::Let, Key::Default]),
    form(Key::Switch, &[], &[Key::Let]),
    form(Key::Op, &[Key::A], &[Key::Let, Key::B, Key::Handler, Key::Compensate]),
    form(Key::Merge, &[], &[Key::Let, Key::Set]),
    form(Key::Expr, &[], &[Key::Let, Key::Handler, Key::Compensate]),
    form(Key::Obj, &[], &[Key::Let]),
    form(Key::Yield, &[], &[]),
    form(Key::Return, &[], &[Key::Compensate]),
    form(Key::Ok, &[], &[Key::Compensate]),
    form(Key::Value, &[], &[Key::Let]),
    form(Key::Skip, &[], &[Key::Compensate]),
    form(Key::Break, &[], &[Key::Compensate]),
    form(Key::Err, &[], &[Key::Compensate]),
    form(Key::Fail, &[], &[Key::Compensate]),
    form(Key::Compensate, &[], &[]),
    form(Key::Rollback, &[], &[]),
    form(Key::Push, &[Key::Let], &[]),
];

/// The keys that identify a step.
pub(crate) const STEP_KEYS: [Key; STEPS.len()] = {
    let mut keys = [Key::Let; STEPS.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = STEPS[at].key;
        at += 1;
    }
    keys
};

/// A step with `match` and without cases: it handles the result of an earlier call.
pub(crate) static RESULT: Form =
    form(Key::Match, &[], &[Key::Let, Key::As, Key::Then, Key::Handler, Key::Compensate]);

/// The keys of a record that handles a failure.
pub(crate) const HANDLER: [Key; 12] = [
    Key::As,
    Key::Return,
    Key::Ok,
    Key::Message,
    Key::Fail,
    Key::Value,
    Key::Then,
    Key::Compensate,
    Key::Skip,
    Key::Break,
    Key::Ignore,
    Key::Continue,
];
/// The keys of an arm of a switch.
pub(crate) const ARM: [Key; 10] = [
    Key::If,
    Key::Default,
    Key::Return,
    Key::Ok,
    Key::Message,
    Key::Break,
    Key::Skip,
    Key::Then,
    Key::Value,
    Key::Compensate,
];
/// The top-level keys of a program, and those in `meta`.
const TOP: [Key; 5] = [Key::Name, Key::Input, Key::Output, Key::Deps, Key::Steps];
const TOP_OF_MCP: [Key; 2] = [Key::Meta, Key::Steps];
pub(crate) const META: [Key; 4] = [Key::Name, Key::Input, Key::Output, Key::Deps];

/// The meaning of a word in a notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    /// The notation's own word.
    Own,
    /// Another notation's word.
    Other,
}

/// One of the four notations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// The notation.
    pub(crate) notation: Notation,
    column: usize,
}

impl Dialect {
    pub(crate) fn of(notation: Notation) -> Dialect {
        let column = match notation {
            Notation::ToolCalling | Notation::Id => 0,
            Notation::Constrained => 1,
            Notation::Workflow => 2,
            Notation::Mcp => 3,
        };
        Dialect { notation, column }
    }

    pub(crate) fn is_yaml(self) -> bool {
        self.notation == Notation::Workflow
    }

    /// Whether bare names are references.
    pub(crate) fn is_bare(self) -> bool {
        self.notation == Notation::Constrained
    }

    pub(crate) fn sigil(self) -> Sigil {
        if self.is_bare() { Sigil::Braces } else { Sigil::Dollar }
    }

    /// The blank after a colon: none if programs are on one line.
    pub(crate) fn blank(self) -> &'static str {
        if self.is_bare() { "" } else { " " }
    }

    /// The key with which a function returns a value.
    pub(crate) fn return_key(self) -> Key {
        if self.has(Key::Return) { Key::Return } else { Key::Ok }
    }

    /// The name of the failure in a handler.
    pub(crate) fn failure(self) -> &'static str {
        if matches!(self.notation, Notation::ToolCalling | Notation::Workflow) { "error" } else { "err" }
    }

    /// The word of the notation for a key, or that of another notation if it has none.
    pub(crate) fn word(self, key: Key) -> &'static str {
        let words = spellings(key);
        let own = words.get(self.column).copied().unwrap_or("");
        if own.is_empty() { words.into_iter().find(|word| !word.is_empty()).unwrap_or("") } else { own }
    }

    /// Whether the notation has a word of its own for a key.
    pub(crate) fn has(self, key: Key) -> bool {
        spellings(key).get(self.column).is_some_and(|word| !word.is_empty())
    }

    /// Whether the name of an entry is a word of some notation for one of these keys.
    pub(crate) fn means(self, entry: &Entry<'_>, keys: &[Key]) -> bool {
        entry.is(|name| self.meaning(name, keys).is_some())
    }

    /// Whether the name of an entry is this notation's word for one of these keys.
    pub(crate) fn names(self, entry: &Entry<'_>, keys: &[Key]) -> bool {
        entry.is(|name| self.key(name, keys).is_some())
    }

    /// The top-level keys of a program.
    pub(crate) fn top(self) -> &'static [Key] {
        if self.notation == Notation::Mcp { &TOP_OF_MCP } else { &TOP }
    }

    /// The key among the given ones that has this word in the notation.
    pub(crate) fn key(self, word: &str, keys: &[Key]) -> Option<Key> {
        keys.iter().copied().find(|&key| self.takes(key) && self.word(key) == word)
    }

    /// Whether a record of the notation may have a key: false for a failure that belongs in a return.
    fn takes(self, key: Key) -> bool {
        self.has(key) && (key != Key::Message || self.has(Key::Ok))
    }

    /// Whether a record that may have `keys` may have a key in a word of another notation: if this one has
    /// the key, or another way to return.
    pub(crate) fn takes_foreign(self, key: Key, keys: &[Key]) -> bool {
        match key {
            Key::Message => self.has(Key::Ok) || keys.contains(&Key::Return),
            Key::Return | Key::Ok | Key::Err => true,
            _ => self.has(key),
        }
    }

    /// The meaning of a word as one of these keys, in any notation. A word of this notation has priority.
    pub(crate) fn meaning(self, word: &str, keys: &[Key]) -> Option<(Key, Meant)> {
        if word.is_empty() {
            // A key without a word in a notation has the empty word in the table.
            return None;
        }
        // Writers also use the word for the steps of a loop for those of an `if`.
        let steps = |key: Key| key == Key::Then && spellings(Key::Body).first() == Some(&word);
        let other = |&&key: &&Key| spellings(key).contains(&word) || steps(key);
        let own = |&&key: &&Key| spellings(key).get(self.column) == Some(&word);
        let found = keys.iter().find(own).map(|&key| (key, Meant::Own));
        found.or_else(|| keys.iter().find(other).map(|&key| (key, Meant::Other)))
    }

    /// The key that an unknown word most likely means.
    pub(crate) fn nearest(self, word: &str, keys: &[Key]) -> Option<Key> {
        let own = || keys.iter().copied().filter(|&key| self.has(key));
        let alike = own().find(|&key| crate::text::same_spelling(self.word(key), word));
        let near = || crate::text::nearest(word, own().map(|key| self.word(key)));
        alike.or_else(|| near().and_then(|near| own().find(|&key| self.word(key) == near)))
    }
}

/// The key with a word, in some notation, that is spelt like an unknown word.
pub(crate) fn alike(word: &str, keys: &[Key]) -> Option<Key> {
    let is = |own: &&str| !own.is_empty() && crate::text::same_spelling(own, word);
    keys.iter().copied().find(|&key| spellings(key).iter().any(is))
}

/// The word of a notation for a key, or that of another notation if it has none.
pub fn word_of(notation: Notation, key: Key) -> &'static str {
    Dialect::of(notation).word(key)
}

/// The purpose of a key.
pub(crate) fn about(key: Key) -> &'static str {
    ROLES.get(key as usize).map_or("", |&(_, about)| about)
}

fn spellings(key: Key) -> [&'static str; 4] {
    WORDS.get(key as usize).copied().unwrap_or_default()
}

/// Whether a word is one of some notation for a key.
pub(crate) fn is_spelling(word: &str, key: Key) -> bool {
    !word.is_empty() && spellings(key).contains(&word)
}

/// The key among these that a word of another language means.
pub(crate) fn key_of(word: &str, keys: &[Key]) -> Option<Key> {
    let mut meant = foreign::keys(word).iter().filter_map(|name| Key::named(name));
    meant.find(|key| keys.contains(key))
}

/// Whether a word is one for a key, in some notation or another language.
pub(crate) fn is_for(word: &str, key: Key) -> bool {
    is_spelling(word, key) || foreign::keys(word).iter().any(|name| Key::named(name) == Some(key))
}

/// Whether a word is one of some notation.
pub(crate) fn is_word(word: &str) -> bool {
    !word.is_empty() && WORDS.iter().any(|words| words.contains(&word))
}

/// Whether a word means a success or a failure in a return of some notation.
pub(crate) fn is_outcome(word: &str) -> bool {
    !word.is_empty() && [Key::Ok, Key::Message].iter().any(|&key| spellings(key).contains(&word))
}

/// Whether a word identifies a step in one of the notations.
pub(crate) fn begins_step(word: &str) -> bool {
    let begins = |form: &&Form| !matches!(form.key, Key::Value | Key::While | Key::Until | Key::Push);
    !word.is_empty() && STEPS.iter().filter(begins).any(|form| spellings(form.key).contains(&word))
}

/// The kind of step that a record is; `has` says whether an entry is one of some keys.
pub(crate) fn form_of(list: &[Entry<'_>], has: impl Fn(&Entry<'_>, &[Key]) -> bool) -> Option<&'static Form> {
    // Beside other fields, `value`, `skip` and `break` are ordinary fields.
    let alone = |form: &Form| match form.key {
        Key::Value | Key::Skip | Key::Break => list.iter().all(|entry| has(entry, &[form.key, Key::Let])),
        Key::While | Key::Until => {
            list.iter().any(|entry| has(entry, &[Key::Do, Key::Body]))
                || list.iter().all(|entry| has(entry, &[form.key, Key::Max]))
        }
        Key::Push => list.iter().any(|entry| has(entry, &[Key::Let])),
        _ => true,
    };
    STEPS.iter().find(|form| list.iter().any(|entry| has(entry, &[form.key])) && alone(form))
}

/// As [`form_of`]; a `match` without cases, but with steps for the value or failure of a call, takes its
/// result apart.
pub(crate) fn kind_of(list: &[Entry<'_>], has: impl Fn(&Entry<'_>, &[Key]) -> bool) -> Option<&'static Form> {
    let form = form_of(list, &has)?;
    let any = |keys: &[Key]| list.iter().any(|entry| has(entry, keys));
    let takes_apart = form.key == Key::Match
        && !any(&[Key::Cases])
        && any(&[Key::As, Key::Then, Key::Handler, Key::Compensate]);
    Some(if takes_apart { &RESULT } else { form })
}

/// The entry of a step with these keys that belongs to another kind of step, and that kind.
pub(crate) fn second_form<'l, 'a>(
    list: &'l [Entry<'a>],
    keys: &[Key],
    has: impl Fn(&Entry<'_>, &[Key]) -> bool,
) -> Option<(&'l Entry<'a>, &'static Form)> {
    list.iter().filter(|entry| !has(entry, keys)).find_map(|entry| {
        let other = STEPS.iter().find(|other| has(entry, &[other.key]))?;
        Some((entry, other))
    })
}

/// Whether a record is an operation: its only key is an operator.
pub(crate) fn is_operation(list: &[Entry<'_>]) -> bool {
    matches!(list, [only] if only.is(operator::is))
}

/// Keys that only steps have, never values.
pub(crate) const PARTS: [Key; 6] =
    [Key::Args, Key::Handler, Key::Cases, Key::Compensate, Key::Rollback, Key::In];

/// Whether a record has a word that identifies a step.
pub(crate) fn has_step_word(node: &Node<'_>) -> bool {
    let list = entries(node);
    let has = |keys: &[Key]| {
        list.iter().any(|entry| entry.is(|name| keys.iter().any(|&key| spellings(key).contains(&name))))
    };
    // A step may be named `set`.
    list.iter().any(|entry| entry.is(begins_step) || entry.is(changes) && !has_step_word(&entry.value))
        || has(&[Key::While, Key::Until]) && has(&[Key::Do, Key::Body])
        || has(&[Key::Let]) && (has(&[Key::Push]) || has(&[Key::Value]) && list.len() == 2)
}

/// Whether a word of another language changes a name: `set`, `append`.
pub(crate) fn changes(word: &str) -> bool {
    word != "let" && (foreign::is(Place::Binder, word) || foreign::is(Place::Grower, word))
}

/// Whether a record is `{value: V}` alone: in the place of a step, the step that gives V.
pub(crate) fn is_value_step(node: &Node<'_>) -> bool {
    matches!(entries(node), [only] if only.name() == Some("value"))
}

/// Whether the items of a list beside `let` with `if`, in the place of a value, are steps: each has the shape
/// of one, and one of them is more than `{value: V}` alone.
pub(crate) fn lists_steps(items: &[Node<'_>]) -> bool {
    items.iter().all(|item| has_step_word(item) || is_value_step(item)) && items.iter().any(has_step_word)
}

/// Whether a record of names, in the place of steps or of a value, is a value: none of the names has a step.
pub(crate) fn is_record_value(node: &Node<'_>, of_value: bool) -> bool {
    let is_step = |entry: &Entry<'_>| has_step_word(&entry.value) || !of_value && is_value_step(&entry.value);
    (of_value || !is_value_step(node)) && !entries(node).iter().any(is_step)
}

/// Whether a record in YAML has steps under their names. Names may be words of steps, such as `ok`, if
/// everything in the record is a step and one of the names is no word.
pub(crate) fn names_steps(node: &Node<'_>) -> bool {
    let list = entries(node);
    let are_steps = || list.iter().all(|entry| has_step_word(&entry.value));
    !has_step_word(node) || (are_steps() && !list.iter().all(|entry| entry.is(is_word)))
}

/// Whether a value is only a constant or a reference.
pub(crate) fn is_plain(node: &Node<'_>) -> bool {
    match node.kind {
        NodeKind::List(_) | NodeKind::Record(_) => false,
        NodeKind::Text(text) => !text.text.contains([' ', '(']),
        _ => true,
    }
}

/// Whether an entry is `name: ${name}`: this is a field, since a step would bind the name to itself.
pub(crate) fn copies_itself(entry: &Entry<'_>) -> bool {
    let named = entry.value.text().and_then(|text| text.strip_prefix('$'));
    let inner =
        named.map(|text| text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text));
    inner.is_some() && inner == entry.name()
}

/// Every word of a notation.
pub fn words(notation: Notation) -> impl Iterator<Item = &'static str> {
    let column = Dialect::of(notation).column;
    let own = WORDS.iter().filter_map(move |words| words.get(column).copied());
    own.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_word() {
        assert!(WORDS.iter().all(|words| words.iter().any(|word| !word.is_empty())));
    }
}
