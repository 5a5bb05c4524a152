//! The outline of a source: its functions, and the slots in them.

use super::Analysis;
use super::mention::{Role, What};
use crate::span::Span;
use hashbrown::HashSet;

/// The kind of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A parameter or another slot.
    Variable,
}

/// An entry of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// More about it; may be empty.
    pub detail: String,
    /// Its kind.
    pub kind: SymbolKind,
    /// Its whole span.
    pub span: Span,
    /// The span of its name, within `span`.
    pub selection: Span,
    /// Its children.
    pub children: Vec<Symbol>,
}

impl Analysis<'_> {
    /// The functions in order, each with its slots at their first binding.
    pub fn symbols(&self) -> Vec<Symbol> {
        let length = u32::try_from(self.source.len()).unwrap_or(u32::MAX);
        let starts =
            self.file.functions.iter().map(|function| function.span.start.min(function.name.span.start));
        let ends = self.file.functions.iter().skip(1).map(|function| function.span.start);
        let mut symbols: Vec<Symbol> = starts
            .zip(ends.chain([length]))
            .zip(self.file.functions)
            .map(|((start, end), function)| {
                let end = end.max(start);
                let text = self.at(Span::new(start, end)).trim_end().len();
                let end = start.saturating_add(u32::try_from(text).unwrap_or(0));
                let name = function.name.span;
                let selection = if start <= name.start && name.end <= end { name } else { Span::at(start) };
                Symbol {
                    name: if function.name.text.is_empty() { "fn" } else { function.name.text }.to_owned(),
                    detail: function.output.ok.ty.to_string(),
                    kind: SymbolKind::Function,
                    span: Span::new(start, end),
                    selection,
                    children: Vec::new(),
                }
            })
            .collect();
        let mut seen = HashSet::new();
        for mention in &self.mentions {
            let What::Slot(slot, Role::Parameter | Role::Bind) = mention.what else { continue };
            let Some(symbol) = symbols.get_mut(mention.function) else { continue };
            let inside = symbol.span.start <= mention.span.start && mention.span.end <= symbol.span.end;
            let name = self.slot_name(mention.function, slot);
            if !inside || name.is_empty() || !seen.insert((mention.function, slot)) {
                continue;
            }
            symbol.children.push(Symbol {
                name,
                detail: String::new(),
                kind: SymbolKind::Variable,
                span: mention.span,
                selection: mention.span,
                children: Vec::new(),
            });
        }
        symbols
    }
}
