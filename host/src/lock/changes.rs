//! Describes the changes between two definitions of a tool.

use ilo_drive::data::Data;
use ilo_drive::problem::shortened;
use std::collections::BTreeSet;

/// The number of characters shown of a changed text.
const SHOWN: usize = 60;
/// The number of characters shown before the first difference.
const BEFORE: usize = 20;

/// What has changed.
pub(super) fn told(then: &Data, now: &Data) -> String {
    let mut changes = Vec::new();
    if then.get("description") != now.get("description") {
        changes.push(description(then.get("description"), now.get("description")));
    }
    schema("input_schema", "argument", then, now, &mut changes);
    schema("output_schema", "field of its answer", then, now, &mut changes);
    if changes.is_empty() { "its definition is another".to_owned() } else { changes.join("; ") }
}

fn description(then: Option<&Data>, now: Option<&Data>) -> String {
    let (Some(Data::Text(then)), Some(Data::Text(now))) = (then, now) else {
        let what = if now.is_some() { "it has a description now" } else { "its description is gone" };
        return what.to_owned();
    };
    let same = then.chars().zip(now.chars()).take_while(|(a, b)| a == b).count();
    let part = |text: &str| {
        let from = same.saturating_sub(BEFORE);
        let part: String = text.chars().skip(from).collect();
        format!("`{}{}`", if from > 0 { "…" } else { "" }, shortened(&part, SHOWN))
    };
    format!("its description was {}, and is {}", part(then), part(now))
}

/// The changes of a schema, by property.
fn schema(key: &str, noun: &str, then: &Data, now: &Data, changes: &mut Vec<String>) {
    let (then, now) = match (then.get(key), now.get(key)) {
        (None, None) => return,
        (Some(then), Some(now)) => (then, now),
        (then, _) => {
            let word = key.replace('_', " ");
            let change = if then.is_some() { "is gone" } else { "is new" };
            changes.push(format!("its {word} {change}"));
            return;
        }
    };
    let names: BTreeSet<&str> = properties(then).chain(properties(now)).map(|(name, _)| name).collect();
    for name in names {
        let find = |schema| properties(schema).find(|(known, _)| *known == name).map(|(_, value)| value);
        let shown = format!("the {noun} `{}`", shortened(name, SHOWN));
        let needed = (is_required(then, name), is_required(now, name));
        match (find(then), find(now)) {
            (None, Some(value)) => {
                let must = if needed.1 { ", required" } else { "" };
                changes.push(format!("{shown} ({}{must}) is new", kind(value)));
            }
            (Some(_), None) => changes.push(format!("{shown} is gone")),
            (Some(then), Some(now)) => {
                changes.extend(property(&shown, then, now));
                match needed {
                    (false, true) => changes.push(format!("{shown} is now required")),
                    (true, false) => changes.push(format!("{shown} is no longer required")),
                    _ => {}
                }
            }
            (None, None) => {}
        }
    }
    if without(then, &["properties", "required"]) != without(now, &["properties", "required"]) {
        changes.push(format!("its {} has changed beside its {noun}s", key.replace('_', " ")));
    }
}

/// The change of one property.
fn property(shown: &str, then: &Data, now: &Data) -> Option<String> {
    if then == now {
        return None;
    }
    if kind(then) != kind(now) {
        return Some(format!("{shown} was {}, and is {}", kind(then), kind(now)));
    }
    if without(then, &["description", "title"]) != without(now, &["description", "title"]) {
        return Some(format!("{shown} takes other values than before"));
    }
    Some(format!("{shown} is described in other words"))
}

fn properties(schema: &Data) -> impl Iterator<Item = (&str, &Data)> {
    let fields = match schema.get("properties") {
        Some(Data::Record(fields)) => fields.as_slice(),
        _ => &[],
    };
    fields.iter().map(|(name, value)| (name.as_str(), value))
}

fn is_required(schema: &Data, name: &str) -> bool {
    match schema.get("required") {
        Some(Data::List(names)) => names.iter().any(|known| *known == Data::from(name)),
        _ => false,
    }
}

/// The type in a schema, as it is written.
fn kind(schema: &Data) -> String {
    match schema.get("type") {
        Some(Data::Text(kind)) => shortened(kind, SHOWN),
        Some(several) => shortened(&several.to_json(), SHOWN),
        None => "any".to_owned(),
    }
}

fn without(schema: &Data, keys: &[&str]) -> Data {
    match schema {
        Data::Record(fields) => {
            let rest = fields.iter().filter(|(name, _)| !keys.contains(&name.as_str()));
            Data::Record(rest.cloned().collect())
        }
        other => other.clone(),
    }
}
