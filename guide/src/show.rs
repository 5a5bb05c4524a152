//! What may come next, in words for people and as JSON for programs.

use crate::body::Body;
use crate::constrained::{ConstrainedGuide, Piece};
use crate::guide::{Guide, Node};
use crate::surface::Surface;
use serde_json::{Value, json};
use std::fmt;

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
                let texts: Vec<String> =
                    texts.iter().map(|text| Value::from(text.as_str()).to_string()).collect();
                f.write_str(&texts.join(" or "))
            }
            Node::AnyNumber => f.write_str("a number"),
            Node::Name(name) => f.write_str(name),
            Node::LineEnd => f.write_str("the end of the line"),
            Node::End => f.write_str("the end of the program"),
        }
    }
}

impl Node {
    fn to_json(&self) -> Value {
        match self {
            Node::Word(word, level) => json!({"word": word.mnemonic(), "level": level}),
            Node::Slot(number, name, ty) => json!({"slot": number, "name": name, "type": ty}),
            Node::Tool(number, name) => json!({"tool": number, "name": name}),
            Node::Field(number, name) => json!({"field": number, "name": name}),
            Node::Number(number) => json!({"number": number}),
            Node::Text(texts) => json!({"text": texts.as_ref().map_or(Value::Bool(true), |all| json!(all))}),
            Node::AnyNumber => json!({"number": true}),
            Node::Name(name) => json!({"constant": name}),
            Node::LineEnd => json!({"line_end": true}),
            Node::End => json!({"end": true}),
        }
    }
}

impl Guide<'_, '_> {
    /// What may come next, as JSON: `next` lists nodes, `forced` is the text that must follow, `close` a text
    /// that ends the program, and `prefix` the text that the host writes before the body.
    pub fn next_json(&mut self) -> String {
        let nodes: Vec<Value> = self.next().iter().map(Node::to_json).collect();
        let prefix = self.surface.core.session.prefix();
        self.shown(&nodes, &prefix)
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Piece::Bytes(bytes) => f.write_str(bytes),
            Piece::Name => f.write_str("a name"),
            Piece::Text => f.write_str("a text"),
            Piece::Number => f.write_str("more of a number"),
            Piece::End => f.write_str("the end of the program"),
        }
    }
}

impl ConstrainedGuide<'_, '_> {
    /// What may come next, as JSON with the keys of [`Guide::next_json`]. `next` has texts, and records such
    /// as `{"name": true}` for free parts.
    pub fn next_json(&mut self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Bytes(bytes) => json!(bytes),
            Piece::Name => json!({"name": true}),
            Piece::Text => json!({"text": true}),
            Piece::Number => json!({"number": true}),
            Piece::End => json!({"end": true}),
        };
        let pieces: Vec<Value> = self.next().iter().map(piece).collect();
        let prefix = self.surface.core.session.constrained_prefix();
        self.shown(&pieces, &prefix)
    }
}

impl<S: Surface> Body<S> {
    fn shown(&mut self, next: &[Value], prefix: &str) -> String {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        json!({
            "next": next,
            "may_end": self.may_end(),
            "forced": text(self.forced()),
            "close": self.close().map(text),
            "prefix": prefix,
        })
        .to_string()
    }
}
