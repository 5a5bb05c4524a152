//! Habits: words of other languages and notations for the keys of a program, and words that no notation has.
//!
//! A misspelt word of the notation is reported by the readers in `steps`, not here.

use super::context::{EntryList, Rewriter, rebuilt};
use crate::dialect::{Dialect, Form, Key, Meant, STEP_KEYS, alike, is_for, key_of};
use crate::document::{Entry, Node, entries};
use crate::foreign::{self, Place};
use crate::text::is_name;

/// The first entry of a record with a word for a key.
pub(super) fn get_key(list: EntryList<'_>, key: Key) -> Option<&Entry<'_>> {
    list.iter().find(|entry| entry.is(|name| is_for(name, key)))
}

/// What to write instead of something that no notation has.
pub(super) fn instead(word: &str, dialect: Dialect) -> Option<String> {
    let help = foreign::advice(word)?;
    let handler = dialect.word(Key::Handler);
    let ignore = if dialect.is_yaml() {
        format!("`{handler}: {{ignore: true}}`")
    } else {
        format!("`\"{handler}\": {{\"ignore\": true}}`")
    };
    Some(help.replace("{handler}", handler).replace("{ignore}", &ignore))
}

/// The kind of step that a record is by a word of another language.
pub(super) fn kind_of_step(list: EntryList<'_>) -> Option<&'static Form> {
    let mut names = list.iter().filter_map(Entry::name).filter(|name| *name != "let");
    let binds = get_key(list, Key::Let).is_some();
    let key = names.find_map(|name| key_of(name, &STEP_KEYS).filter(|key| binds || *key != Key::Value))?;
    Form::of(key)
}

/// The kind of step that a record is by a word of another language, if its other words only belong to that
/// kind: `foreach` beside `yield`, `when` beside `return`.
pub(super) fn outer_kind(dialect: Dialect, list: EntryList<'_>, form: &Form) -> Option<&'static Form> {
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

/// Translates the words of a record that may have `keys`; `what` names the record in messages.
pub(super) fn words<'a>(
    at: &mut Rewriter<'_, 'a>,
    node: &Node<'a>,
    keys: &[Key],
    what: &str,
) -> Option<Node<'a>> {
    let dialect = at.dialect;
    let list = entries(node);
    let meaning = |entry: &Entry<'a>| dialect.meaning(entry.name()?, keys);
    let mut free: Vec<Key> = keys.to_vec();
    free.retain(|key| !list.iter().any(|entry| meaning(entry).is_some_and(|(found, _)| found == *key)));
    let has = |key: Key| list.iter().any(|entry| dialect.means(entry, &[key]));
    let loose = keys.contains(&Key::Call) && has(Key::Call) && !has(Key::Args);
    let is_own = |key: Key| list.iter().any(|entry| meaning(entry) == Some((key, Meant::Own)));
    let new = rebuilt(list, |_, entry| {
        let name = entry.name()?;
        let key = match meaning(entry) {
            // Beside the correct word it is a duplicate key, which the reader reports.
            Some((key, Meant::Other)) if dialect.has(key) && !is_own(key) => key,
            Some(_) => return None,
            None => {
                // Beside a call without arguments it may be one of them.
                if foreign::is(Place::Comment, name) && !loose {
                    return Some(Vec::new());
                }
                let key = key_of(name, &free);
                if let Some(help) = instead(name, dialect).filter(|_| key.is_none()) {
                    at.reader.report(dialect.unknown_key(&entry.key, keys, what, None).help(help));
                    // Reads of a name that it would have bound are not reported.
                    entry.value.text().into_iter().for_each(|name| at.reader.scope.lose(name));
                    return Some(Vec::new());
                }
                // A label for people, beside a name.
                let is_other = |other: &Entry<'a>| {
                    other.name() != Some(name) && other.is(|name| key_of(name, &[Key::Let]).is_some())
                };
                if key == Some(Key::Let)
                    && !entry.value.text().is_some_and(is_name)
                    && list.iter().any(is_other)
                {
                    return Some(Vec::new());
                }
                let key = key.or_else(|| alike(name, &free))?;
                free.retain(|free| *free != key);
                key
            }
        };
        let key = Node::of_text(dialect.word(key), entry.key.span);
        Some(vec![Entry { key, value: entry.value }])
    })?;
    Some(at.record_at(&new, node))
}
