//! What may come next, as a node: in words for people, and as JSON for programs.

use ilo_spec::json::quoted;
use ilo_spec::node::Word;
use serde_json::{Value, json};
use std::fmt;

/// Something that may come next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A word; if it begins a line, with its level of blocks.
    Word(Word, Option<u8>),
    /// The number of a slot, with its name and type.
    Slot(u32, Option<String>, String),
    /// The number of a tool or function, with its name.
    Tool(u32, String),
    /// The number of a field, with its name.
    Field(u32, String),
    /// A count, or the kind of LIT.
    Number(u32),
    /// Any text, or one of these.
    Text(Option<Vec<String>>),
    /// A written number, or more of it.
    AnyNumber,
    /// nil, true or false.
    Name(&'static str),
    /// In `constrained`: these bytes.
    Bytes(String),
    /// In `constrained`: a name that is bound, up to its closing quote.
    Bound,
    /// The end of the line.
    LineEnd,
    /// The end of the program.
    End,
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Word(word, None | Some(0)) => f.write_str(word.mnemonic()),
            Node::Word(word, Some(level)) => write!(f, "{} at level {level}", word.mnemonic()),
            Node::Slot(number, Some(name), ty) => write!(f, "{number} (slot {name}: {ty})"),
            Node::Slot(number, None, ty) => write!(f, "{number} (slot: {ty})"),
            Node::Tool(number, name) => write!(f, "{number} (tool {name})"),
            Node::Field(number, name) => write!(f, "{number} (field {name})"),
            Node::Number(number) => write!(f, "{number}"),
            Node::Text(None) => f.write_str("a text"),
            Node::Text(Some(texts)) => {
                let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
                f.write_str(&texts.join(" or "))
            }
            Node::AnyNumber => f.write_str("a number"),
            Node::Name(name) => f.write_str(name),
            Node::Bytes(bytes) => f.write_str(bytes),
            Node::Bound => f.write_str("a name"),
            Node::LineEnd => f.write_str("the end of the line"),
            Node::End => f.write_str("the end of the program"),
        }
    }
}

impl Node {
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Node::Word(word, level) => json!({"word": word.mnemonic(), "level": level}),
            Node::Slot(number, name, ty) => json!({"slot": number, "name": name, "type": ty}),
            Node::Tool(number, name) => json!({"tool": number, "name": name}),
            Node::Field(number, name) => json!({"field": number, "name": name}),
            Node::Number(number) => json!({"number": number}),
            Node::Text(texts) => json!({"text": texts.as_ref().map_or(Value::Bool(true), |all| json!(all))}),
            Node::AnyNumber => json!({"number": true}),
            Node::Name(name) => json!({"constant": name}),
            Node::Bytes(bytes) => json!(bytes),
            Node::Bound => json!({"name": true}),
            Node::LineEnd => json!({"line_end": true}),
            Node::End => json!({"end": true}),
        }
    }
}
