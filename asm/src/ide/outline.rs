//! What an editor shows of a whole source: its outline (functions, and the slots in them), the names of
//! numbers in ID text as inlay hints, and semantic tokens.

use super::Analysis;
use super::mention::{Entity, Mention, Role};
use crate::sorting::sort_by_key;
use crate::span::Span;
use crate::syntax::lexer::Kind;
use crate::text::shortened;
use hashbrown::HashSet;

/// The kind of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A parameter or another slot.
    Variable,
}

/// An entry of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
            let (Entity::Slot(function, slot), Role::Declared | Role::Bind) = (mention.entity, mention.role)
            else {
                continue;
            };
            let Some(symbol) = symbols.get_mut(function) else { continue };
            let inside = symbol.span.start <= mention.span.start && mention.span.end <= symbol.span.end;
            if !inside || mention.name.is_empty() || !seen.insert((function, slot)) {
                continue;
            }
            symbol.children.push(Symbol {
                name: mention.name.to_owned(),
                detail: String::new(),
                kind: SymbolKind::Variable,
                span: mention.span,
                selection: mention.span,
                children: Vec::new(),
            });
        }
        symbols
    }

    /// The names of the slots, tools and fields whose numbers are in a range of ID text.
    pub fn hints(&self, range: Span) -> Vec<Hint> {
        if self.text.is_none() {
            return Vec::new();
        }
        let first = self.mentions.partition_point(|mention| mention.span.end < range.start);
        let within = self.mentions.iter().skip(first).take_while(|mention| mention.span.start <= range.end);
        let is_named = |mention: &&Mention<'_>| {
            let written = self.at(mention.span);
            let is_number = written.bytes().all(|byte| byte.is_ascii_digit());
            is_number && !matches!(mention.role, Role::Declared | Role::Entry) && mention.name != written
        };
        let hint = |of: &Mention<'_>| Hint { offset: of.span.end, label: shortened(of.name, LONGEST) };
        within.filter(is_named).map(hint).collect()
    }

    /// The tokens in order. They do not overlap, and each is on one line.
    pub fn tokens(&self) -> Vec<Token> {
        let mut found: Vec<Token> = self.mentions.iter().map(|mention| self.token(mention)).collect();
        if let Some(text) = &self.text {
            for token in text.lexemes() {
                let kind = match token.kind {
                    Kind::Word if token.word.is_some() => TokenKind::Keyword,
                    Kind::Word | Kind::Integer | Kind::Number => TokenKind::Number,
                    Kind::Text | Kind::EscapedText | Kind::OpenText | Kind::SingleText => TokenKind::Text,
                    _ => continue,
                };
                found.push(Token { span: token.span(), kind, declares: false });
            }
            let mut special: Vec<usize> =
                text.sections.iter().flat_map(|section| section.consumed.iter().copied()).collect();
            sort_by_key(&mut special, |index| *index);
            for (index, comment) in text.comments().iter().enumerate() {
                if special.binary_search(&index).is_err() {
                    found.push(Token { span: comment.span, kind: TokenKind::Comment, declares: false });
                }
            }
        }
        // A name has priority over the number that it is.
        sort_by_key(&mut found, |token| (token.span.start, matches!(token.kind, TokenKind::Number)));
        let mut end = 0;
        found.retain(|token| {
            let text = self.at(token.span);
            let keep = token.span.start >= end && !text.is_empty() && !text.contains(['\n', '\r']);
            end = if keep { token.span.end } else { end };
            keep
        });
        found
    }

    fn token(&self, mention: &Mention<'_>) -> Token {
        let parameters = self.file.functions.get(mention.function).map_or(0, |of| of.parameters.len());
        let kind = match mention.entity {
            Entity::Function(_) => TokenKind::Function,
            Entity::Type => TokenKind::Type,
            Entity::Slot(_, slot) if (slot.0 as usize) < parameters => TokenKind::Parameter,
            Entity::Slot(..) => TokenKind::Variable,
            Entity::Tool(_) => TokenKind::Tool,
            Entity::Field(_) => TokenKind::Property,
        };
        Token { span: mention.span, kind, declares: mention.role.declares() }
    }
}

/// The most characters of a name that are shown.
const LONGEST: usize = 24;

/// A text that is shown after a position and is not part of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hint {
    /// The offset after which it is shown.
    pub offset: u32,
    /// The text.
    pub label: String,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenKind {
    /// An instruction.
    Keyword,
    /// A function of the source.
    Function,
    /// A tool.
    Tool,
    /// A parameter.
    Parameter,
    /// Another slot.
    Variable,
    /// A field or an argument.
    Property,
    /// A type.
    Type,
    /// A text.
    Text,
    /// A number or a count.
    Number,
    /// A comment.
    Comment,
}

/// A token. It is on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Token {
    /// Its span.
    pub span: Span,
    /// Its kind.
    pub kind: TokenKind,
    /// Whether it declares or binds a name.
    pub declares: bool,
}
