//! Habits: words of other languages and notations for the keys of a program, and words that no notation has.
//!
//! A misspelt word of the notation is reported by the readers in `steps`, not here.

use super::context::{Entries, Walk, rebuilt};
use crate::diagnostic::Diagnostic;
use crate::dialect::step_forms::CONTINUE;
use crate::dialect::{Dialect, Form, Key, Meant, STEP_KEYS, alike};
use crate::document::{Entry, Node, entries, rename, shown};
use ilo_spec::error::Code;

/// Words of other languages for keys, each listed once, with the keys that may be meant, the most likely
/// first.
pub(super) const WORDS: &[(&[&str], &[Key])] = &[
    (&["tool", "function", "invoke", "run", "uses"], &[Key::Call]),
    (&["arguments", "params", "input"], &[Key::Args]),
    (&["parameters", "inputs"], &[Key::Args, Key::Input]),
    (&["onError", "on-failure", "except", "rescue"], &[Key::Handler]),
    (&["error"], &[Key::Handler, Key::Message]),
    (&["message", "msg"], &[Key::Message, Key::Handler]),
    (&["rollback"], &[Key::Compensate]),
    (
        &[
            "undo",
            "compensation",
            "compensations",
            "compensateWith",
            "compensate_with",
            "on_rollback",
            "onRollback",
            "rollback_with",
            "undo_with",
            "revert",
        ],
        &[Key::Rollback, Key::Compensate],
    ),
    (&["when", "condition"], &[Key::If]),
    (&["otherwise"], &[Key::Else, Key::Default]),
    (&["else", "_"], &[Key::Default]),
    (&["require", "guard"], &[Key::Assert]),
    (&["foreach", "for_each", "map", "loop", "each"], &[Key::For]),
    (&["of", "over", "items", "list"], &[Key::In]),
    (&["steps"], &[Key::Body, Key::Then]),
    (&["body"], &[Key::Body, Key::Steps]),
    (&["collect"], &[Key::Body, Key::Yield]),
    (&["emit"], &[Key::Yield]),
    (&["var", "bind", "as", "assign", "save_as", "name", "output", "store"], &[Key::Let]),
    (&["id"], &[Key::Let, Key::Name]),
    (&["case"], &[Key::Cases, Key::If, Key::Match]),
    (&["arms"], &[Key::Cases]),
    (&["on"], &[Key::Match]),
    (&["object", "record"], &[Key::Obj]),
    (&["compute", "be", "=", "is", "eval", "formula"], &[Key::Expr]),
    (&["to"], &[Key::Value, Key::Expr]),
    (&["fallback", "default"], &[Key::Value]),
    (&["with", "fields"], &[Key::Set]),
    (&["result"], &[Key::Value, Key::Output, Key::Let]),
    (&["outputs"], &[Key::Output, Key::Let]),
    (&["returns"], &[Key::Output, Key::Return]),
    (&["type"], &[Key::Output]),
    (&["tools", "dependencies"], &[Key::Deps]),
    (&["metadata"], &[Key::Meta]),
    (&["workflow", "title"], &[Key::Name]),
];

/// What to write instead of an unbounded loop.
const LOOP: &str = "a loop has a bound: `for` over `range` of the most passes, an `if` with `break` for when it is \
                    done, and `else` for when the passes ran out";

/// Words of other languages without an equivalent, and what to write instead.
const ABSENT: &[(&[&str], &str)] = &[
    (
        &["retry", "retries", "max-retries"],
        "each try is a pass of a loop: `for` over `range` of the most tries, in it the call with `{\"skip\": true}` as its \
         `{handler}`, then `break`, and `else` for when all tries failed",
    ),
    (&["finally"], "put what always runs after the step, and handle the failure in its `{handler}`"),
    (&["throw"], "`raise` fails with a value"),
    (
        &["saga", "transaction"],
        "write each call as a step, with `rollback` beside it: the call that undoes it",
    ),
    (&["continue"], CONTINUE),
    (
        &["goto", "parallel", "next", "depends-on", "needs"],
        "leave it out: steps run in the order of the file",
    ),
    (&["reduce"], "loop over the list with `for`, and bind a variable from before it again in each pass"),
    (
        &["sort"],
        "a list is sorted by `{\"sort\": list}`, or `{\"sort\": [list, \"field\"]}`, in a value or under `expr`",
    ),
    (&["print", "log"], "leave it out: what a function returns is its outcome, and tools do the rest"),
    (&["repeat", "repeat-until", "do-while", "do-until", "forever"], LOOP),
    (
        &["times", "from", "start", "upto", "up-to"],
        "a loop runs over a list: `range` of a number is the list of the numbers from 0 to below it",
    ),
    (&["sleep", "wait", "delay", "pause"], "what waits is a tool, in a step with `call`"),
    (&["filter"], "loop over the list with `for`, with an `if` in it around what is wanted"),
    (
        &["elif", "else-if", "elseif"],
        "put a step with `if` under `else`, with a `then` and an `else` of its own",
    ),
    (
        &["continue-on-error", "allow-failure", "ignore-errors"],
        "beside the call, `{handler}` with `ignore` goes on without its answer: {ignore}",
    ),
    (&["timeout"], "how long a call may take is said in the tools file"),
];

/// The key among these that a word of another language means.
pub(super) fn key_of(word: &str, keys: &[Key]) -> Option<Key> {
    let (_, meant) =
        WORDS.iter().find(|(words, _)| words.iter().any(|other| other.eq_ignore_ascii_case(word)))?;
    meant.iter().copied().find(|key| keys.contains(key))
}

/// Whether a word is one of the common formats in which models call functions.
fn is_of_calls(word: &str) -> bool {
    const CALLS: [&str; 7] = ["tool", "function", "arguments", "params", "parameters", "input", "inputs"];
    CALLS.contains(&word)
}

/// Whether a key only holds words for people.
fn is_comment(word: &str) -> bool {
    matches!(word, "comment" | "note" | "description" | "-comment" | "_comment" | "//" | "#")
}

/// Whether a word begins an unbounded loop.
pub(super) fn is_unbounded(word: &str) -> bool {
    let plain = word.to_ascii_lowercase().replace('_', "-");
    ABSENT.iter().any(|&(absent, help)| help == LOOP && absent.contains(&&*plain))
}

/// What to write instead of something that no notation has.
pub(super) fn instead(word: &str, dialect: Dialect) -> Option<String> {
    let plain = word.to_ascii_lowercase().replace(['_', ' '], "-");
    let (_, help) = ABSENT.iter().find(|(absent, _)| absent.contains(&&*plain))?;
    let handler = dialect.word(Key::Handler);
    let ignore = if dialect.is_yaml() {
        format!("`{handler}: {{ignore: true}}`")
    } else {
        format!("`\"{handler}\": {{\"ignore\": true}}`")
    };
    Some(help.replace("{handler}", handler).replace("{ignore}", &ignore))
}

/// The kind of step that a record is by a word of another language.
pub(super) fn kind_of_step(list: Entries<'_>) -> Option<&'static Form> {
    let mut names = list.iter().filter_map(Entry::name).filter(|name| *name != "let");
    let key = names.find_map(|name| key_of(name, &STEP_KEYS))?;
    Form::of(key)
}

/// The kind of step that a record is by a word of another language, if its other words only belong to that
/// kind: `foreach` beside `yield`, `when` beside `return`.
pub(super) fn outer_kind(dialect: Dialect, list: Entries<'_>, form: &Form) -> Option<&'static Form> {
    let mut names = list.iter().filter_map(Entry::name);
    let inner = names.clone().find(|name| dialect.meaning(name, &[form.key]).is_some())?;
    let is_unknown = |name: &str| {
        let read = [&[form.key], form.needs, form.takes];
        !read.iter().any(|keys| dialect.meaning(name, keys).is_some())
    };
    names.find_map(|name| {
        let key = key_of(name, &STEP_KEYS).filter(|_| is_unknown(name))?;
        // A word that names something in another language does not make a step.
        if key_of(name, &crate::dialect::ALL) != Some(key) {
            return None;
        }
        let outer = Form::of(key).filter(|outer| outer.key != form.key)?;
        let holds = |keys| dialect.meaning(inner, keys).is_some();
        (holds(outer.needs) || holds(outer.takes)).then_some(outer)
    })
}

impl<'a> Walk<'_, 'a> {
    /// Translates the words of a record that may have `keys`; `what` names the record in messages.
    pub(super) fn words(&mut self, node: &Node<'a>, keys: &[Key], what: &str) -> Option<Node<'a>> {
        let dialect = self.at.dialect;
        let list = entries(node);
        let meaning = |entry: &Entry<'a>| dialect.meaning(entry.name()?, keys);
        let mut free: Vec<Key> = keys.to_vec();
        free.retain(|key| !list.iter().any(|entry| meaning(entry).is_some_and(|(found, _)| found == *key)));
        let is_own = |entry: &Entry<'a>| meaning(entry).filter(|(_, meant)| *meant == Meant::Own);
        let own: Vec<Key> = keys
            .iter()
            .copied()
            .filter(|key| list.iter().filter_map(is_own).any(|(own, _)| own == *key))
            .collect();
        let new = rebuilt(list, |_, entry| {
            let name = entry.name()?;
            let key = match meaning(entry) {
                // Beside the correct word it is a duplicate key, which the reader reports.
                Some((key, Meant::Other)) if dialect.has(key) && !own.contains(&key) => key,
                Some(_) => return None,
                None => {
                    let help = instead(name, dialect);
                    let key = key_of(name, &free).or_else(|| alike(name, &free));
                    let key = key.filter(|_| help.is_none());
                    if help.is_none() && key.is_none() {
                        return None;
                    }
                    if is_comment(name) {
                        return Some(Vec::new());
                    }
                    if !key.is_some_and(|key| is_of_calls(name) || alike(name, &[key]).is_some()) {
                        self.unknown(entry, keys, what, key, help);
                    }
                    let Some(key) = key else {
                        self.lost.extend(entry.value.text());
                        return Some(Vec::new());
                    };
                    free.retain(|free| *free != key);
                    key
                }
            };
            let key = Node::of_text(dialect.word(key), entry.key.span);
            Some(vec![Entry { key, value: entry.value }])
        })?;
        Some(self.record_at(&new, node))
    }

    /// Reports a word that has no meaning here.
    fn unknown(
        &mut self,
        entry: &Entry<'a>,
        keys: &[Key],
        what: &str,
        key: Option<Key>,
        help: Option<String>,
    ) {
        let dialect = self.at.dialect;
        let found = shown(&entry.key);
        let word = key.map(|key| dialect.word(key));
        let wrong =
            Diagnostic::new(Code::UnknownKey, entry.key.span, format!("`{found}` has no meaning in {what}"))
                .expected(dialect.listed(keys), format!("`{found}`"))
                .nearest(word);
        let fix = word.and_then(|word| rename(&entry.key, word));
        self.diagnostics.push(match (help, word) {
            (Some(help), _) => wrong.help(help),
            (None, word) => {
                let word = word.unwrap_or_default();
                let wrong = wrong.expected(format!("`{word}`"), format!("`{found}`"));
                wrong.fix_or_help(fix, format!("write `{word}`")).taken()
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::Notation;

    #[test]
    fn every_word_stands_for_each_of_its_keys() {
        for (words, keys) in WORDS {
            for (word, key) in words.iter().flat_map(|word| keys.iter().map(move |key| (word, key))) {
                assert_eq!(key_of(&word.to_uppercase(), &[*key]), Some(*key), "{word}");
            }
        }
    }

    #[test]
    fn every_absent_word_has_its_help() {
        for notation in [Notation::ToolCalling, Notation::Constrained, Notation::Workflow, Notation::Mcp] {
            let dialect = Dialect::of(notation);
            for word in ABSENT.iter().flat_map(|(words, _)| *words) {
                let help = instead(&word.to_uppercase().replace('-', "_"), dialect);
                assert!(
                    help.is_some_and(|help| !help.contains("{handler}") && !help.contains("{ignore}")),
                    "{word}"
                );
            }
        }
    }
}
