//! The open documents.

use super::protocol::{self, Change};
use ilo_asm::ide;
use ilo_asm::notation::Notation;
use ilo_asm::span::{Lines, Position, Units};
use std::collections::HashMap;
use std::path::Path;

/// The maximum total size of open documents.
const MOST: usize = 256 << 20;

/// An open document.
pub(super) struct Document {
    pub(super) text: String,
    pub(super) version: i32,
    /// The language ID from the editor.
    language: String,
    /// Whether its diagnostics are published.
    pub(super) shown: bool,
}

/// The open documents, by URI.
#[derive(Default)]
pub(super) struct Documents {
    open: HashMap<String, Document>,
    bytes: usize,
}

/// The file name endings of programs in JSON and YAML, with their notations.
const ENDINGS: [(&str, Notation); 5] = [
    (".tool-calling.json", Notation::ToolCalling),
    (".constrained.json", Notation::Constrained),
    (".mcp.json", Notation::Mcp),
    (".workflow.yaml", Notation::Workflow),
    (".workflow.yml", Notation::Workflow),
];

impl Document {
    /// The notation of the document; `None` if it is not ilo.
    pub(super) fn notation(&self, uri: &str) -> Option<Notation> {
        let name = uri.rsplit('/').next().unwrap_or(uri);
        let named = ENDINGS.iter().find(|(ending, _)| name.len() > ending.len() && name.ends_with(ending));
        let found = named.map(|&(_, notation)| notation);
        if self.language == "ilo" || Path::new(name).extension().is_some_and(|ending| ending == "ilo") {
            return Some(Notation::detect(&self.text).unwrap_or(Notation::Id));
        }
        found.or_else(|| ide::program_notation(&self.text))
    }
}

impl Documents {
    pub(super) fn get(&self, uri: &str) -> Option<&Document> {
        self.open.get(uri)
    }

    pub(super) fn get_mut(&mut self, uri: &str) -> Option<&mut Document> {
        self.open.get_mut(uri)
    }

    /// All URIs.
    pub(super) fn uris(&self) -> Vec<String> {
        self.open.keys().cloned().collect()
    }

    /// Opens a document; `false` if the total size would be too large.
    pub(super) fn open(&mut self, uri: String, language: String, version: i32, text: String) -> bool {
        self.close(&uri);
        if self.bytes.saturating_add(text.len()) > MOST {
            return false;
        }
        self.bytes += text.len();
        self.open.insert(uri, Document { text, version, language, shown: false });
        true
    }

    /// Applies changes to a document; `false` if it is not open, or if the total size would be too large.
    pub(super) fn change(&mut self, uri: &str, version: i32, changes: Vec<Change>, units: Units) -> bool {
        let Some(document) = self.open.get_mut(uri) else { return false };
        let before = document.text.len();
        for change in changes {
            let Some(range) = change.range else {
                document.text = change.text;
                continue;
            };
            let lines = Lines::new(&document.text);
            let place = |at: protocol::Position| {
                lines.offset(Position { line: at.line, column: at.character }, units) as usize
            };
            let (start, end) = (place(range.start), place(range.end));
            document.text.replace_range(start..end.max(start), &change.text);
        }
        document.version = version;
        self.bytes = self.bytes.saturating_sub(before).saturating_add(document.text.len());
        if self.bytes > MOST {
            self.close(uri);
            return false;
        }
        true
    }

    /// Closes a document.
    pub(super) fn close(&mut self, uri: &str) -> Option<Document> {
        let document = self.open.remove(uri)?;
        self.bytes = self.bytes.saturating_sub(document.text.len());
        Some(document)
    }
}
