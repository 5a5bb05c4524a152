//! The open documents.

use super::protocol::{self, Change};
use ilo_asm::ide;
use ilo_asm::notation::Notation;
use ilo_asm::span::{Lines, Position, Units};
use std::collections::HashMap;
use std::path::Path;

/// The maximum total size of open documents.
const MOST: usize = 256 << 20;
/// What a document takes beside its texts, at most.
const OVERHEAD: usize = 512;
/// How many bytes may be read and moved for the changes of a message. A change of a part costs the size of
/// its document; this many take about a tenth of a second.
const WORK: usize = 256 << 20;

/// An open document.
pub(super) struct Document {
    pub(super) text: String,
    pub(super) version: i32,
    /// The language ID from the editor.
    pub(super) language: String,
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

    /// Opens a document, which must not be open.
    ///
    /// # Errors
    /// If the total size would be too large.
    pub(super) fn open(&mut self, uri: String, document: Document) -> Result<(), String> {
        let bytes = self.bytes.saturating_add(size(&uri, &document));
        if bytes > MOST {
            return Err(too_much());
        }
        self.bytes = bytes;
        self.open.insert(uri, document);
        Ok(())
    }

    /// Applies changes to a document.
    ///
    /// # Errors
    /// If it is not open, or if its new text is not known. Then it is to be closed.
    pub(super) fn change(
        &mut self,
        uri: &str,
        version: i32,
        changes: Vec<Change>,
        units: Units,
    ) -> Result<(), String> {
        let Some(document) = self.open.get_mut(uri) else {
            return Err("it is not open; expected `textDocument/didOpen` before".to_owned());
        };
        let before = document.text.len();
        let whole = changes.iter().rposition(|change| change.range.is_none()).unwrap_or(0);
        let mut work = 0_usize;
        for change in changes.into_iter().skip(whole) {
            let Some(range) = change.range else {
                document.text = change.text;
                continue;
            };
            work = work.saturating_add(document.text.len());
            if work > WORK {
                self.bytes = self.bytes.saturating_sub(before).saturating_add(document.text.len());
                return Err("too many changes of parts in one message; expected the whole text".to_owned());
            }
            let lines = Lines::new(&document.text);
            let place = |at: protocol::Position| {
                lines.offset(Position { line: at.line, column: at.character }, units) as usize
            };
            let (start, end) = (place(range.start), place(range.end));
            document.text.replace_range(start..end.max(start), &change.text);
        }
        document.version = version;
        self.bytes = self.bytes.saturating_sub(before).saturating_add(document.text.len());
        if self.bytes > MOST { Err(too_much()) } else { Ok(()) }
    }

    /// Closes a document.
    pub(super) fn close(&mut self, uri: &str) -> Option<Document> {
        let document = self.open.remove(uri)?;
        self.bytes = self.bytes.saturating_sub(size(uri, &document));
        Some(document)
    }
}

/// The size of a document for the limit.
fn size(uri: &str, document: &Document) -> usize {
    let texts = uri.len().saturating_add(document.language.len());
    document.text.len().saturating_add(texts).saturating_add(OVERHEAD)
}

fn too_much() -> String {
    format!("the open documents would take more than {} MB together", MOST >> 20)
}
