//! The JSON types of the protocol that this server uses. A crate with all types takes about as long to
//! compile as `ilo-asm` itself.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::HashMap;

/// A position, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) character: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Range {
    pub(super) start: Position,
    pub(super) end: Position,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextEdit {
    pub(super) range: Range,
    pub(super) new_text: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Location {
    pub(super) uri: String,
    pub(super) range: Range,
}

#[derive(Debug, Serialize)]
pub(super) struct WorkspaceEdit {
    pub(super) changes: HashMap<String, Vec<TextEdit>>,
}

#[derive(Debug, Serialize)]
pub(super) struct RelatedInformation {
    pub(super) location: Location,
    pub(super) message: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Diagnostic {
    pub(super) range: Range,
    pub(super) severity: u8,
    pub(super) code: &'static str,
    pub(super) source: &'static str,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_information: Vec<RelatedInformation>,
}

/// The severities.
pub(super) const ERROR: u8 = 1;
pub(super) const WARNING: u8 = 2;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentSymbol {
    pub(super) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) detail: String,
    pub(super) kind: u8,
    pub(super) range: Range,
    pub(super) selection_range: Range,
    pub(super) children: Vec<DocumentSymbol>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompletionItem {
    pub(super) label: String,
    pub(super) kind: u8,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) detail: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) documentation: String,
    pub(super) sort_text: String,
    pub(super) filter_text: String,
    pub(super) text_edit: TextEdit,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) additional_text_edits: Vec<TextEdit>,
}

#[derive(Debug, Serialize)]
pub(super) struct MarkupContent {
    pub(super) kind: &'static str,
    pub(super) value: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Hover {
    pub(super) contents: MarkupContent,
    pub(super) range: Range,
}

#[derive(Debug, Serialize)]
pub(super) struct ParameterInformation {
    /// A part of the label of the signature.
    pub(super) label: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) documentation: String,
}

#[derive(Debug, Serialize)]
pub(super) struct SignatureInformation {
    pub(super) label: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) documentation: String,
    pub(super) parameters: Vec<ParameterInformation>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SignatureHelp {
    pub(super) signatures: [SignatureInformation; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) active_parameter: Option<usize>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlayHint {
    pub(super) position: Position,
    pub(super) label: String,
    pub(super) padding_left: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeAction {
    pub(super) title: String,
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) is_preferred: bool,
    pub(super) edit: WorkspaceEdit,
}

#[derive(Debug, Serialize)]
pub(super) struct Renamable {
    pub(super) range: Range,
    pub(super) placeholder: String,
}

#[derive(Debug, Serialize)]
pub(super) struct SemanticTokens {
    pub(super) data: Vec<u32>,
}

#[derive(Debug, Serialize)]
pub(super) struct PublishDiagnostics<'s> {
    pub(super) uri: &'s str,
    pub(super) version: i32,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The parameters of requests about a position.
#[derive(Debug, Deserialize)]
pub(super) struct PositionParams {
    pub(super) position: Position,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReferenceContext {
    pub(super) include_declaration: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct ReferenceParams {
    pub(super) position: Position,
    pub(super) context: ReferenceContext,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RenameParams {
    pub(super) position: Position,
    pub(super) new_name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct RangeParams {
    pub(super) range: Range,
}

#[derive(Debug, Deserialize)]
pub(super) struct ActionContext {
    pub(super) only: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ActionParams {
    pub(super) range: Range,
    /// An [`ActionContext`]; another value counts as none.
    pub(super) context: Option<Box<RawValue>>,
}

/// The parameters of `initialize`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Initialize {
    pub(super) capabilities: Option<Capabilities>,
    pub(super) workspace_folders: Option<Vec<Identifier>>,
    pub(super) root_uri: Option<String>,
    /// [`Options`]; another value counts as none. Editors in Lua send `[]` for a record without members.
    pub(super) initialization_options: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Capabilities {
    pub(super) general: Option<General>,
    /// A [`Workspace`]; another value counts as none.
    pub(super) workspace: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Workspace {
    pub(super) did_change_watched_files: Option<Watching>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Watching {
    #[serde(default)]
    pub(super) dynamic_registration: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct General {
    pub(super) position_encodings: Option<Vec<String>>,
}

/// The settings of the client: `catalog` is the path of a file, or the content of such a file.
#[derive(Debug, Deserialize)]
pub(super) struct Options {
    pub(super) catalog: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextDocumentItem {
    pub(super) uri: String,
    pub(super) language_id: String,
    pub(super) version: i32,
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidOpen {
    pub(super) text_document: TextDocumentItem,
}

#[derive(Debug, Deserialize)]
pub(super) struct VersionedDocument {
    pub(super) uri: String,
    pub(super) version: i32,
}

/// A change; without a range it replaces the whole document.
#[derive(Debug, Deserialize)]
pub(super) struct Change {
    pub(super) range: Option<Range>,
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidChange {
    pub(super) text_document: VersionedDocument,
    pub(super) content_changes: Vec<Change>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Identifier {
    pub(super) uri: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidClose {
    pub(super) text_document: Identifier,
}
