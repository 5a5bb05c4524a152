//! Habits: loops in the words and shapes of other languages.

use super::context::{Context, Entries, Rewrite, get, kept, others};
use super::words::{get_key, is_for};
use crate::dialect::Key;
use crate::document::{Entry, Kind, Node, entries};
use crate::foreign::{self, Place};
use crate::text::is_name;

/// A loop whose element and list are in one value, or under words of another language.
pub(super) fn looped<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let marked = get(list, foreign::words(Place::Marker))
        .filter(|entry| entry.value.text().is_some_and(|text| foreign::is(Place::Loop, text)));
    let outer = get(list, foreign::words(Place::Loop)).or(marked)?;
    if matches!(outer.value.kind, Kind::List(_)) {
        // Several names for the element.
        return None;
    }
    let inside = entries(&outer.value);
    let word = outer.name()?;
    let element = get(list, foreign::words(Place::Element));
    let named = at.dialect.is_bare() || element.is_some_and(|entry| entry.name() == Some("as"));
    let is_list = |text: &str| {
        get_key(list, Key::In).is_none()
            && (text.starts_with('$') || named && (at.names.has(text) || at.names.has_input(text)))
    };
    let (variable, over, used): (Node<'a>, Node<'a>, Vec<&str>) = if let Some(text) = outer.value.text() {
        let pair = text.split_once(" in ").or_else(|| text.split_once(" of "));
        if let Some((variable, over)) = pair {
            (at.word(variable.trim().trim_start_matches('$')), at.word(over.trim()), vec![word])
        } else if is_list(text) {
            let used = [Some(word), element.and_then(Entry::name)];
            let variable = element.map_or(at.word("item"), |entry| entry.value);
            (variable, outer.value, used.into_iter().flatten().collect())
        } else if marked.is_some() {
            let (variable, over) = (element?, get_key(list, Key::In)?);
            let used = vec![word, variable.name()?, over.name()?];
            (variable.value, over.value, used)
        } else {
            return None;
        }
    } else if let [only] = inside
        && get_key(list, Key::In).is_none()
        && only.is(|name| is_name(name) && !is_for(name, Key::In))
    {
        // `{"for": {"x": "$xs"}}`
        (at.word(only.name()?), only.value, vec![word])
    } else {
        let over = get_key(inside, Key::In).or(get_key(list, Key::In))?;
        let variable = get(inside, foreign::words(Place::Element));
        let variable = variable.map_or(at.word("item"), |entry| entry.value);
        (variable, over.value, vec![word, over.name()?])
    };
    let body = get_key(inside, Key::Body).or(get_key(list, Key::Body)).or(get(list, &["then"]))?;
    let mut step = Vec::new();
    if let Some(bound) = get(list, &["let"]).filter(|_| !used.contains(&"let")) {
        step.extend(kept(bound));
    }
    step.extend([("for", variable), ("in", over), (at.dialect.word(Key::Body), body.value)]);
    let mut without: Vec<&str> = vec!["let"];
    without.extend(used);
    without.extend(body.name());
    step.extend(others(list, &without));
    Some(at.rewrite(step))
}
