//! Habits: inputs, types and tools in the forms of JSON Schema, of lists of declarations and of tool
//! descriptions.

use super::context::Rewriter;
use crate::document::{Entry, Kind, Node, entries, shown};
use crate::foreign::{self, Place};
use crate::text::{is_name, quoted};
use hashbrown::HashSet;

impl<'a> Rewriter<'_, 'a> {
    /// The inputs of a program.
    pub(super) fn inputs(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        match node.kind {
            Kind::List(items) => self.declarations(node, items),
            Kind::Record(_) => {
                self.schema(node).or_else(|| self.entries(node, |walk, entry| walk.type_text(&entry.value)))
            }
            _ => None,
        }
    }

    /// Inputs as a list of records with `name` and `type`, or of names.
    fn declarations(&mut self, node: &Node<'a>, items: &'a [Node<'a>]) -> Option<Node<'a>> {
        let input = |item: &'a Node<'a>| {
            if item.text().is_some() {
                return Some(Entry { key: *item, value: self.text_at("any", item) });
            }
            let key = *member(item, "name")?;
            key.text()?;
            let optional = member(item, "required").is_some_and(|of| matches!(of.kind, Kind::Bool(false)));
            Some(Entry { key, value: self.text_at(&declared(item, optional), member(item, "type")?) })
        };
        let inputs: Vec<Entry<'a>> = items.iter().map(input).collect::<Option<_>>()?;
        (!inputs.is_empty()).then(|| self.record_at(&inputs, node))
    }

    /// Inputs as a JSON Schema of an object.
    fn schema(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        member(node, "type")?.text().filter(|&ty| ty == "object")?;
        let listed =
            member(node, "required").map(|all| if let Kind::List(all) = all.kind { all } else { &[] });
        let required: Option<HashSet<&str>> = listed.map(|all| all.iter().filter_map(Node::text).collect());
        let input = |entry: &Entry<'a>| {
            let name = entry.name()?;
            if entry.value.text().is_some() {
                return Some(*entry);
            }
            let optional = required.as_ref().is_some_and(|all| !all.contains(name));
            let value = self.text_at(&declared(&entry.value, optional), &entry.value);
            Some(Entry { key: entry.key, value })
        };
        let inputs: Vec<Entry<'a>> =
            entries(member(node, "properties")?).iter().map(input).collect::<Option<_>>()?;
        Some(self.record_at(&inputs, node))
    }

    /// A type as a JSON Schema, or as a list of the type of its items.
    pub(super) fn type_text(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        if crate::dialect::input_form(node).is_some() || crate::dialect::lists_fields(node) {
            return None;
        }
        Some(self.text_at(&schema_type(node)?, node))
    }

    /// A tool given by its description.
    pub(super) fn tool(&mut self, node: &Node<'a>) -> Option<Node<'a>> {
        let name = member(node, "name").or(member(node, "tool"))?.text()?;
        Some(self.text_at(name, node))
    }

    /// A text with the span of a node.
    pub(super) fn text_at(&self, text: &str, of: &Node<'a>) -> Node<'a> {
        Node::of_text(self.at.arena.alloc_str(text), of.span)
    }
}

/// The value of a key.
fn member<'d, 'a>(node: &'d Node<'a>, name: &str) -> Option<&'d Node<'a>> {
    entries(node).iter().find(|entry| entry.name() == Some(name)).map(|entry| &entry.value)
}

/// The type of an input by its schema, and what it takes besides.
fn declared(schema: &Node<'_>, optional: bool) -> String {
    let default = member(schema, "default");
    let null = |ty: &Node<'_>| matches!(ty.kind, Kind::List([a, b]) if [a, b].iter().any(|ty| is_null(ty)));
    let behind = match default.filter(|default| !matches!(default.kind, Kind::Null)) {
        Some(default) => format!(" = {}", default.text().map_or_else(|| shown(default), quoted)),
        None if default.is_some() || optional => "?".to_owned(),
        None if member(schema, "type").is_some_and(null) => "|nil".to_owned(),
        None => String::new(),
    };
    schema_type(schema).unwrap_or_else(|| "any".to_owned()) + &behind
}

fn is_null(ty: &Node<'_>) -> bool {
    matches!(ty.kind, Kind::Null) || ty.text() == Some("null")
}

/// The type that `{"type": "string"}` or `["text"]` means.
fn schema_type(node: &Node<'_>) -> Option<String> {
    if let Kind::List([item]) = node.kind {
        return Some(format!("list {}", schema_type(item).or_else(|| plain_type(item))?));
    }
    let ty = plain_type(member(node, "type")?)?;
    if ty != "array" {
        return Some(ty);
    }
    let items = member(node, "items").and_then(schema_type);
    Some(format!("list {}", items.as_deref().unwrap_or("any")))
}

/// The name of a type, in JSON Schema or in ilo, or of the one beside null.
fn plain_type(node: &Node<'_>) -> Option<String> {
    let text = match node.kind {
        Kind::List([ty, null] | [null, ty]) if is_null(null) => ty.text()?,
        _ => node.text()?,
    };
    let ty = foreign::word(Place::Type, text).unwrap_or(text);
    is_name(ty).then(|| ty.to_owned())
}
