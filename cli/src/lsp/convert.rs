//! Converts positions and kinds of `ilo_asm::ide` to those of the protocol.

use super::protocol as lsp;
use ilo_asm::diagnostic::{Diagnostic, Edit};
use ilo_asm::ide::{Completion, CompletionKind, Symbol, SymbolKind, Token, TokenKind};
use ilo_asm::span::{Lines, Position, Span, Units};
use std::collections::HashMap;

/// Converts positions in one source.
pub(super) struct Places<'s> {
    lines: Lines<'s>,
    units: Units,
}

impl<'s> Places<'s> {
    pub(super) fn new(source: &'s str, units: Units) -> Places<'s> {
        Places { lines: Lines::new(source), units }
    }

    pub(super) fn position(&self, offset: u32) -> lsp::Position {
        let found = self.lines.position(offset, self.units);
        lsp::Position { line: found.line, character: found.column }
    }

    pub(super) fn range(&self, span: Span) -> lsp::Range {
        lsp::Range { start: self.position(span.start), end: self.position(span.end.max(span.start)) }
    }

    /// The offset of a position, clamped to the source.
    pub(super) fn offset(&self, at: lsp::Position) -> u32 {
        self.lines.offset(Position { line: at.line, column: at.character }, self.units)
    }

    pub(super) fn span(&self, range: lsp::Range) -> Span {
        let start = self.offset(range.start);
        Span::new(start, self.offset(range.end).max(start))
    }

    pub(super) fn edit(&self, edit: &Edit) -> lsp::TextEdit {
        lsp::TextEdit { range: self.range(edit.span), new_text: edit.text.clone() }
    }

    /// Edits of one document.
    pub(super) fn edits(&self, uri: &str, edits: &[Edit]) -> lsp::WorkspaceEdit {
        let edits = edits.iter().map(|edit| self.edit(edit)).collect();
        lsp::WorkspaceEdit { changes: HashMap::from([(uri.to_owned(), edits)]) }
    }

    pub(super) fn location(&self, uri: &str, span: Span) -> lsp::Location {
        lsp::Location { uri: uri.to_owned(), range: self.range(span) }
    }

    pub(super) fn diagnostic(&self, uri: &str, of: &Diagnostic) -> lsp::Diagnostic {
        let mut message = of.message.clone();
        if let (Some(expected), Some(found)) = (&of.expected, &of.found) {
            message = format!("{message}\nexpected {expected}, found {found}");
        }
        let advice =
            of.help.clone().or_else(|| of.nearest.as_ref().map(|near| format!("nearest is `{near}`")));
        if let Some(advice) = advice.or_else(|| of.fix.as_ref().map(|fix| fix.title.clone())) {
            message = format!("{message}\n{advice}");
        }
        let related = of.related.iter().map(|(span, what)| lsp::RelatedInformation {
            location: self.location(uri, *span),
            message: what.clone(),
        });
        lsp::Diagnostic {
            range: self.range(of.span),
            severity: if of.is_error() { lsp::ERROR } else { lsp::WARNING },
            code: of.code.as_str(),
            source: "ilo",
            message,
            related_information: related.collect(),
        }
    }

    pub(super) fn symbol(&self, of: &Symbol) -> lsp::DocumentSymbol {
        lsp::DocumentSymbol {
            name: of.name.clone(),
            detail: of.detail.clone(),
            kind: match of.kind {
                SymbolKind::Function => 12,
                _ => 13,
            },
            range: self.range(of.span),
            selection_range: self.range(of.selection),
            children: of.children.iter().map(|child| self.symbol(child)).collect(),
        }
    }

    /// A completion; `rank` keeps the order of the list.
    pub(super) fn completion(&self, rank: usize, of: &Completion) -> lsp::CompletionItem {
        lsp::CompletionItem {
            label: of.label.clone(),
            kind: match of.kind {
                CompletionKind::Tool => 3,
                CompletionKind::Argument | CompletionKind::Field => 5,
                CompletionKind::Slot => 6,
                CompletionKind::Word => 14,
                CompletionKind::Type => 22,
                _ => 1,
            },
            detail: of.detail.clone(),
            documentation: of.about.clone(),
            sort_text: format!("{rank:05}"),
            filter_text: of.filter.clone(),
            text_edit: lsp::TextEdit { range: self.range(of.span), new_text: of.text.clone() },
            additional_text_edits: of.also.iter().map(|also| self.edit(also)).collect(),
        }
    }

    /// Tokens, each as five numbers that are relative to the one before.
    pub(super) fn tokens(&self, all: &[Token]) -> Vec<u32> {
        let mut last = lsp::Position { line: 0, character: 0 };
        all.iter()
            .flat_map(|token| {
                let range = self.range(token.span);
                let line = range.start.line.saturating_sub(last.line);
                let from = if line == 0 { last.character } else { 0 };
                last = range.start;
                let start = range.start.character.saturating_sub(from);
                let length = range.end.character.saturating_sub(range.start.character);
                [line, start, length, kind(token.kind), u32::from(token.declares)]
            })
            .collect()
    }
}

/// The names of the kinds of tokens, by [`kind`].
pub(super) const KINDS: [&str; 10] = [
    "keyword",
    "function",
    "method",
    "parameter",
    "variable",
    "property",
    "type",
    "string",
    "number",
    "comment",
];
/// The names of token modifiers.
pub(super) const MODIFIERS: [&str; 1] = ["declaration"];

fn kind(of: TokenKind) -> u32 {
    match of {
        TokenKind::Keyword => 0,
        TokenKind::Function => 1,
        TokenKind::Tool => 2,
        TokenKind::Parameter => 3,
        TokenKind::Variable => 4,
        TokenKind::Property => 5,
        TokenKind::Type => 6,
        TokenKind::Number => 8,
        TokenKind::Comment => 9,
        _ => 7,
    }
}
