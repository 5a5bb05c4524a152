//! Habits: loops in the words and shapes of other languages.

use super::context::{Context, Entries, MARKERS, Rewrite, get, kept, others};
use crate::dialect::Key;
use crate::document::replacement::Replacement;
use crate::document::{Entry, entries};
use crate::text::is_name;

const LOOPS: [&str; 10] =
    ["for", "foreach", "for_each", "forEach", "for-each", "map", "each", "loop", "iterate", "for_all"];
const VARIABLES: [&str; 9] = ["var", "item", "as", "each", "name", "variable", "iterator", "element", "let"];
const LISTS: [&str; 8] = ["in", "of", "over", "list", "items", "collection", "from", "array"];
const BODIES: [&str; 6] = ["do", "yield", "steps", "body", "then", "collect"];

/// A loop whose element and list are in one value, or under words of another language.
pub(super) fn looped<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let marked =
        get(list, &MARKERS).filter(|entry| entry.value.text().is_some_and(|text| LOOPS.contains(&text)));
    let outer = get(list, &LOOPS).or(marked)?;
    let inside = entries(&outer.value);
    let word = outer.name()?;
    let is_list = |text: &str| {
        get(list, &LISTS).is_none() && (text.starts_with('$') || at.dialect.is_bare() && at.names.has(text))
    };
    let (variable, over, used): (Replacement<'a>, Replacement<'a>, Vec<&str>) = if let Some(text) =
        outer.value.text()
    {
        let pair = text.split_once(" in ").or_else(|| text.split_once(" of "));
        if let Some((variable, over)) = pair {
            (
                Replacement::Word(variable.trim().trim_start_matches('$')),
                Replacement::Word(over.trim()),
                vec![word],
            )
        } else if is_list(text) {
            let variable = get(list, &VARIABLES);
            let used = [Some(word), variable.and_then(Entry::name)];
            let variable = variable.map_or(Replacement::Word("item"), |entry| Replacement::Kept(entry.value));
            (variable, Replacement::Kept(outer.value), used.into_iter().flatten().collect())
        } else if marked.is_some() {
            let (variable, over) = (get(list, &VARIABLES)?, get(list, &LISTS)?);
            let used = vec![word, variable.name()?, over.name()?];
            (Replacement::Kept(variable.value), Replacement::Kept(over.value), used)
        } else {
            return None;
        }
    } else if let [only] = inside
        && get(list, &LISTS).is_none()
        && only.is(|name| is_name(name) && !LISTS.contains(&name))
    {
        // `{"for": {"x": "$xs"}}`
        (Replacement::Word(only.name()?), Replacement::Kept(only.value), vec![word])
    } else {
        let over = get(inside, &LISTS).or(get(list, &LISTS))?;
        let variable = get(inside, &VARIABLES);
        let variable = variable.map_or(Replacement::Word("item"), |entry| Replacement::Kept(entry.value));
        (variable, Replacement::Kept(over.value), vec![word, over.name()?])
    };
    let body = get(inside, &BODIES).or(get(list, &BODIES))?;
    let mut step = Vec::new();
    if let Some(bound) = get(list, &["let"]).filter(|_| !used.contains(&"let")) {
        step.extend(kept(bound));
    }
    step.extend([
        ("for", variable),
        ("in", over),
        (at.dialect.word(Key::Body), Replacement::Kept(body.value)),
    ]);
    let mut without: Vec<&str> = vec!["let"];
    without.extend(used);
    without.extend(body.name());
    step.extend(others(list, &without));
    let message = "a loop names its element under `for` and its list under `in`";
    Some(Rewrite::step(message, step))
}
