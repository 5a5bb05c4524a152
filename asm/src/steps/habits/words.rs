//! Habits: words of other languages and notations for the keys of a program, and words that no notation has.
//!
//! A misspelt word of the notation is reported by the readers in `steps`, not here.

use super::context::EntryList;
use crate::dialect::{Dialect, Form, Key, STEP_KEYS, alike, is_for, key_of};
use crate::document::Entry;
use crate::foreign::{self, Place};
use crate::steps::reader::StepReader;
use crate::steps::step::Keyed;
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

/// Gives the entries of a record that are not in the words of the notation their keys, of those that it may
/// have. Returns the entries without a meaning; `what` names the record in messages.
pub(crate) fn words<'d, 'a>(
    reader: &mut StepReader<'a>,
    found: &mut Keyed<'d, 'a>,
    unknown: Vec<(usize, &'d Entry<'a>)>,
    (keys, what): (&[Key], &str),
) -> Vec<(usize, &'d Entry<'a>)> {
    let (dialect, own, before) = (reader.dialect, *found, reader.diagnostics.mark());
    let meaning = |entry: &Entry<'a>| Some(dialect.meaning(entry.name()?, keys)?.0);
    let mut rest = Vec::new();
    for &(index, entry) in &unknown {
        // Beside the correct word it has no meaning.
        match meaning(entry).filter(|&key| !own.has(key) && dialect.takes_foreign(key, keys)) {
            None => rest.push((index, entry)),
            Some(key) => {
                if let Some(first) = found.put(key, index) {
                    reader.repeated_key(entry, first, key);
                }
            }
        }
    }
    // Beside a call without arguments it may be one of them.
    let loose = found.has(Key::Call) && !found.has(Key::Args) && keys.contains(&Key::Args);
    let labels = !keys.contains(&Key::Let) && !keys.contains(&Key::Name);
    rest.retain(|&(index, entry)| {
        let Some(name) = entry.name().filter(|_| meaning(entry).is_none()) else { return true };
        let is_label = labels && matches!(name, "name" | "id");
        if !loose && (is_label || foreign::is(Place::Comment, name)) {
            return false;
        }
        let free: Vec<Key> = keys.iter().copied().filter(|&key| !found.has(key)).collect();
        let key = key_of(name, &free);
        if let Some(help) = instead(name, dialect).filter(|_| key.is_none()) {
            reader.report(dialect.unknown_key(&entry.key, keys, what, None).help(help));
            // Reads of a name that it would have bound are not reported.
            entry.value.text().into_iter().for_each(|name| reader.scope.lose(name));
            return false;
        }
        // A label for people, beside a name.
        let binds = |name: &str| key_of(name, &[Key::Let]).is_some();
        let has_name = || unknown.iter().any(|(_, it)| it.name() != Some(name) && it.is(binds));
        if key == Some(Key::Let) && !entry.value.text().is_some_and(is_name) && has_name() {
            return false;
        }
        let key = key.or_else(|| alike(name, &free));
        key.into_iter().for_each(|key| {
            found.put(key, index);
        });
        key.is_none()
    });
    if let Some(left_out) = reader.canonical.filter(|_| rest.len() < unknown.len()) {
        left_out.set(true);
        reader.diagnostics.rewind(before);
        *found = own;
        return unknown;
    }
    rest
}
