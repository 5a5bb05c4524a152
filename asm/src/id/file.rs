//! Parses the functions of a source one at a time.

use super::parser::BodyParser;
use super::state::{Context, FunctionLayout, Layout};
use crate::arena::Arena;
use crate::ast::{Block, File, Function};
use crate::diagnostic::whole_source::program;
use crate::diagnostic::{Diagnostic, Diagnostics, Fix};
use crate::notation::Notation;
use crate::source::{SourceLimits, trimmed};
use crate::span::Span;
use crate::syntax::comment_cursor::Cursor;
use crate::syntax::header::{self, FunctionHeader};
use crate::syntax::lexer::{self, Lexed};
use crate::syntax::registry::Registries;
use ilo_spec::error::Code;
use ilo_spec::limits;
use ilo_spec::node::{Place, Word};
use ilo_spec::types::Type;
use std::ops::Range;

/// How a program begins, for messages.
const HEADER: &str = "`; fn name(parameter: type) -> type`";

/// The tokens of a source and the headers of its functions.
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    limits: SourceLimits,
    pub(crate) lexed: Lexed,
    /// The comments that begin functions, with the headers in them.
    headers: Vec<(usize, FunctionHeader<'a>)>,
}

impl<'a> Source<'a> {
    /// Lexes the source and reads its headers into `arena`; `None` if the source exceeds a limit or is wrong
    /// as a whole.
    pub(crate) fn new(
        text: &'a str,
        arena: &'a Arena,
        limits: &SourceLimits,
        diagnostics: &mut Diagnostics,
    ) -> Option<Source<'a>> {
        let part = program(text, limits, diagnostics)?;
        if let Some(wrong) = unmarked(text, &part) {
            diagnostics.push(wrong);
            return None;
        }
        let lexed = lexer::lex(text, part, limits, diagnostics)?;
        let mut headers = Vec::new();
        for (index, comment) in lexed.comments.iter().enumerate() {
            if comment.own_line && header::is_header(text, comment.span) {
                headers.push((index, header::read(text, comment.span, arena, diagnostics)));
            }
            if !comment.own_line && is_statement(Cursor::new(text, comment.span).rest()) {
                let message = "`;` begins a comment, so that this statement does not run";
                let warning = Diagnostic::new(Code::Unreachable, comment.span, message);
                diagnostics.push(warning.help("write each statement on a line of its own"));
            }
        }
        let source = Source { text, limits: *limits, lexed, headers };
        source.check_beginning(diagnostics);
        Some(source)
    }

    /// Reports instructions before the first header, and a source without any function.
    fn check_beginning(&self, diagnostics: &mut Diagnostics) {
        let before = self.tokens_before();
        if let Some(([first, .., last] | [first @ last], _)) = self.lexed.tokens.split_at_checked(before) {
            let span = first.span().to(last.span());
            diagnostics.push(
                Diagnostic::new(Code::MissingHeader, span, "these instructions belong to no function")
                    .expected(HEADER, "an instruction")
                    .help("begin the function with a line such as `; fn main() -> nil`"),
            );
        } else if self.headers.is_empty() && !diagnostics.has_errors() {
            diagnostics.push(
                Diagnostic::new(Code::EmptyFile, Span::at(0), "there is no program here")
                    .expected(HEADER, "the end of the file"),
            );
        }
    }

    /// How many tokens are before the first header.
    fn tokens_before(&self) -> usize {
        let first = self.headers.first().and_then(|&(index, _)| self.lexed.comments.get(index));
        first.map_or(self.lexed.tokens.len(), |comment| comment.before)
    }

    /// Reads all functions.
    pub(crate) fn file(
        &self,
        arena: &'a Arena,
        diagnostics: &mut Diagnostics,
        layout: Option<&mut Layout<'a>>,
    ) -> File<'a> {
        let context = Context {
            source: self.text,
            arena,
            tokens: &[],
            words: self.lexed.tokens.len(),
            max_depth: u16::try_from(self.limits.nesting.min(limits::NESTING)).unwrap_or(u16::MAX),
            gives_nil: false,
        };
        let mut parser = BodyParser::new(context, diagnostics, layout);
        if self.headers.is_empty() && !self.lexed.tokens.is_empty() {
            // To report what else is wrong with the instructions.
            self.registries(&mut parser, None, 0..self.lexed.comments.len());
            self.body(&mut parser, 0..self.lexed.tokens.len());
        }
        let mut functions = bumpalo::collections::Vec::with_capacity_in(self.headers.len(), &arena.0);
        functions.extend((0..self.headers.len()).map_while(|number| self.function(number, &mut parser)));
        File { functions: functions.into_bump_slice() }
    }

    /// Parses a function by its index.
    fn function<'p>(&'p self, number: usize, parser: &mut BodyParser<'p, 'a>) -> Option<Function<'a>> {
        let &(at, header) = self.headers.get(number)?;
        let next = self.headers.get(number + 1).map_or(self.lexed.comments.len(), |&(next, _)| next);
        let comments = if number == 0 { 0..next } else { at..next };
        let token_at = |index: usize| self.lexed.comments.get(index).map(|comment| comment.before);
        let end = token_at(next).unwrap_or(self.lexed.tokens.len());
        let tokens = token_at(at).unwrap_or(end)..end;
        let consumed = self.registries(parser, Some((at, header)), comments.clone());
        for (number, parameter) in (0_u32..).zip(header.parameters) {
            parser.names.slots.slot(number, || Some(parameter.name.text));
        }
        parser.context.gives_nil = header.output.ok.ty == Type::NIL;
        let body = self.body(parser, tokens.clone());
        let slots = parser.context.arena.alloc_slice_copy(parser.names.slots.list());
        if let Some(layout) = &mut parser.layout {
            let registries = std::mem::replace(&mut parser.names.registries, Registries::new());
            let lack = layout.lack.take();
            layout.functions.push(FunctionLayout { header, registries, consumed, tokens, comments, lack });
        }
        Some(Function {
            notation: Notation::Id,
            source: "",
            name: header.name,
            parameters: header.parameters,
            output: header.output,
            slots,
            allowed: None,
            body,
            suspects: &[],
            ors: &[],
            parts: &[],
            calls: parser.state.calls,
            loops: parser.state.loops,
            span: self.lexed.comments.get(at).map_or(Span::at(0), |comment| comment.span),
        })
    }

    /// Reads the registries after a header and in comments. The comments that the formatter rewrites, if
    /// there is one.
    fn registries(
        &self,
        parser: &mut BodyParser<'_, 'a>,
        header: Option<(usize, FunctionHeader<'a>)>,
        comments: Range<usize>,
    ) -> Vec<usize> {
        let BodyParser { context, names, diagnostics, layout, .. } = parser;
        names.clear();
        let mut consumed = Vec::new();
        let mut keep = |index| {
            if layout.is_some() {
                consumed.push(index);
            }
        };
        if let Some((at, header)) = header {
            keep(at);
            names.registries.read(header.rest, context.arena, diagnostics);
        }
        for index in comments {
            let is_header = header.is_some_and(|(at, _)| at == index);
            let comment = self.lexed.comments.get(index);
            let Some(comment) = comment.filter(|comment| comment.own_line && !is_header) else { continue };
            let cursor = Cursor::new(context.source, comment.span);
            if names.registries.read(cursor, context.arena, diagnostics) {
                keep(index);
            }
        }
        consumed
    }

    fn body<'p>(&'p self, parser: &mut BodyParser<'p, 'a>, tokens: Range<usize>) -> Block<'a> {
        parser.context.tokens = self.lexed.tokens.get(..tokens.end).unwrap_or_default();
        parser.body(tokens.start)
    }
}

/// Reports a header without its `;`, after which nothing is parsed.
fn unmarked(source: &str, part: &Range<usize>) -> Option<Diagnostic> {
    let start = trimmed(source.get(part.clone())?);
    if !start.strip_prefix("fn ")?.contains("->") {
        return None;
    }
    let at = u32::try_from(part.end - start.len()).ok()?;
    let fix = Fix::write("; fn", Span::at(at), "; ");
    let message = "the line of a function begins with `;`";
    let wrong = Diagnostic::new(Code::MissingHeader, Span::new(at, at + 2), message);
    Some(wrong.expected(HEADER, "`fn`").fix(fix))
}

/// Whether a comment is an instruction: a statement's mnemonic, then numbers, texts and mnemonics.
fn is_statement(comment: &str) -> bool {
    let mut words = comment.split_whitespace();
    let head = words.next().and_then(Word::from_mnemonic);
    let begins = head.is_some_and(|word| {
        matches!(word.row().place, Place::Statement | Place::Control) || word == Word::Call
    });
    let number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let mut next = words.take(3).peekable();
    begins
        && next.peek().is_some()
        && next.all(|word| number(word) || word.starts_with('"') || Word::from_mnemonic(word).is_some())
}
