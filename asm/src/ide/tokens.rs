//! Semantic tokens: the names of a source, and in ID text also words, constants and comments.

use super::Analysis;
use super::mention::{Role, What};
use crate::span::Span;
use crate::syntax::lexer::Kind;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
pub struct Token {
    /// Its span.
    pub span: Span,
    /// Its kind.
    pub kind: TokenKind,
    /// Whether it declares or binds a name.
    pub declares: bool,
}

impl Analysis<'_> {
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
            special.sort_unstable();
            for (index, comment) in text.comments().iter().enumerate() {
                if special.binary_search(&index).is_err() {
                    found.push(Token { span: comment.span, kind: TokenKind::Comment, declares: false });
                }
            }
        }
        // A name has priority over the number that it is.
        found.sort_by_key(|token| (token.span.start, matches!(token.kind, TokenKind::Number)));
        let mut end = 0;
        found.retain(|token| {
            let text = self.at(token.span);
            let keep = token.span.start >= end && !text.is_empty() && !text.contains(['\n', '\r']);
            end = if keep { token.span.end } else { end };
            keep
        });
        found
    }

    fn token(&self, mention: &super::mention::Mention<'_>) -> Token {
        let (kind, declares) = match mention.what {
            What::Function(_) => (TokenKind::Function, true),
            What::Type => (TokenKind::Type, false),
            What::Slot(slot, role) => {
                let parameters =
                    self.file.functions.get(mention.function).map_or(0, |of| of.parameters.len());
                let is_parameter = (slot.0 as usize) < parameters;
                let kind = if is_parameter { TokenKind::Parameter } else { TokenKind::Variable };
                (kind, role != Role::Use)
            }
            What::Tool(name, role) => {
                let own = matches!(self.target(name), super::Target::Function(_));
                (if own { TokenKind::Function } else { TokenKind::Tool }, role == Role::Entry)
            }
            What::Argument(..) | What::Field(..) => (TokenKind::Property, false),
            What::Key(_, role) => (TokenKind::Property, role == Role::Entry),
        };
        Token { span: mention.span, kind, declares }
    }
}
