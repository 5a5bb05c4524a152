//! Inputs as records: `{"type": "text", "default": "x"}`, `{"type": "text", "optional": true}`.

use crate::document::{Entry, Kind, Node, entries};
use ilo_spec::types::Base;

/// An input that is declared by a record.
pub(crate) struct InputForm<'d, 'a> {
    pub(crate) ty: &'d Node<'a>,
    pub(crate) default: Option<&'d Node<'a>>,
    /// Whether it may be left out. Otherwise it takes nil.
    pub(crate) optional: bool,
}

/// The input that a record declares. A record of which another value names a type is none: it may be the type
/// of a record.
pub(crate) fn input_form<'d, 'a>(node: &'d Node<'a>) -> Option<InputForm<'d, 'a>> {
    let all = entries(node);
    let get = |name: &str| all.iter().find(|entry| entry.name() == Some(name)).map(|entry| &entry.value);
    let ty = get("type").filter(|ty| ty.text().is_some())?;
    let (default, mut optional, mut nullable) = (get("default"), false, false);
    for entry in all {
        let flag = if let Kind::Bool(flag) = entry.value.kind { Some(flag) } else { None };
        match entry.name()? {
            "type" => {}
            "default" if entry.value.text().is_none_or(|text| !names_type(text)) => optional = true,
            "optional" => optional |= flag?,
            "required" => optional |= !flag?,
            "nullable" => nullable |= flag?,
            _ => return None,
        }
    }
    (optional || nullable).then_some(InputForm { ty, default, optional })
}

/// Whether a value is the type of a record that lists its fields, also as the only item of a list. A field
/// may have the name `type` if another one has a type too.
pub(crate) fn lists_fields(node: &Node<'_>) -> bool {
    if let Kind::List([item]) = &node.kind {
        return matches!(item.kind, Kind::Record(_)) && lists_fields(item);
    }
    let all = entries(node);
    let is_type = |text: &str| text.split_whitespace().all(names_type);
    let typed = |of: &&Entry<'_>| of.value.text().is_some_and(is_type);
    match all.iter().find(|entry| entry.name() == Some("type")) {
        None => !all.is_empty(),
        Some(field) => typed(&field) && all.iter().filter(typed).nth(1).is_some(),
    }
}

fn names_type(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or("");
    word == "list" || Base::ALL.iter().any(|&(_, name)| name == word)
}
