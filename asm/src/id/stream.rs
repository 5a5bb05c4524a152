//! A source that is read function by function, for a tree that need not be there as a whole.
//!
//! Only for sources that nothing is to be said of: what is wrong with one is found by reading it whole.

use super::parser::{self, Parser};
use crate::ast::{Block, Function};
use crate::diagnostic::Diagnostics;
use crate::notation::Notation;
use crate::source::Limits;
use crate::syntax::header::{self, Header};
use crate::syntax::lexer::{self, Lexed};
use bumpalo::Bump;

/// A source in tokens, with the heads of its functions.
pub(crate) struct Pieces<'a> {
    source: &'a str,
    options: &'a Limits,
    lexed: Lexed,
    /// The comments that begin functions, and what they say.
    headers: Vec<(usize, Header<'a>)>,
}

impl<'a> Pieces<'a> {
    /// `None` where there is anything to be said of its tokens and headers.
    pub(crate) fn new(source: &'a str, arena: &'a Bump, options: &'a Limits) -> Option<Pieces<'a>> {
        if super::whole(source).is_some() {
            return None;
        }
        let mut diagnostics = Diagnostics::default();
        let lexed = lexer::lex(source, options, &mut diagnostics)?;
        let headers: Vec<(usize, Header<'a>)> = parser::headers(source, &lexed)
            .into_iter()
            .map(|index| (index, header::read(source, lexed.comments[index].span, arena, &mut diagnostics)))
            .collect();
        let before = headers.first().and_then(|&(index, _)| lexed.comments.get(index))?.before;
        let silent = diagnostics.as_slice().is_empty();
        (before == 0 && silent).then_some(Pieces { source, options, lexed, headers })
    }

    /// The functions without what stands in them.
    pub(crate) fn heads(&self) -> Vec<Function<'a>> {
        let head = |&(index, head): &(usize, Header<'a>)| Function {
            notation: Notation::Id,
            name: head.name,
            parameters: head.parameters,
            output: head.output,
            slots: &[],
            allowed: None,
            body: Block { statements: &[] },
            suspects: &[],
            calls: 0,
            loops: 0,
            span: self.lexed.comments[index].span,
        };
        self.headers.iter().map(head).collect()
    }

    /// A reader of some functions into an arena.
    pub(crate) fn reader<'p, 't>(
        &'p self,
        arena: &'t Bump,
        diagnostics: &'p mut Diagnostics,
    ) -> Reader<'p, 't>
    where
        'a: 't,
    {
        let parser = Parser::new(self.source, arena, self.options, &self.lexed.tokens, diagnostics, None);
        Reader { parser, lexed: &self.lexed, headers: &self.headers, arena }
    }
}

/// See [`Pieces::reader`].
pub(crate) struct Reader<'p, 't> {
    parser: Parser<'p, 't>,
    lexed: &'p Lexed,
    headers: &'p [(usize, Header<'t>)],
    arena: &'t Bump,
}

impl<'t> Reader<'_, 't> {
    /// Reads a function; `None` where there is anything to be said of it.
    pub(crate) fn read(&mut self, number: usize) -> Option<&'t Function<'t>> {
        let &(header, head) = self.headers.get(number)?;
        let next = self.headers.get(number + 1).map_or(self.lexed.comments.len(), |&(next, _)| next);
        let from = if number == 0 { 0 } else { header };
        let function = self.parser.behind(head, self.lexed, header, from..next);
        self.parser.diagnostics.as_slice().is_empty().then(|| &*self.arena.alloc(function))
    }
}
