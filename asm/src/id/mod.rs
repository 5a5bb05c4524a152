//! The integer-ID notation: text to the syntax tree, and its canonical layout.
//!
//! [`parse`] goes through the source three times: the lexer makes tokens, the header reader takes the comments that name
//! a function and its ids, and the parser makes the tree. It reports everything that is wrong with the text itself.
//! What a program means (slots, calls, flow, types) is the business of [`crate::check`].

mod block;
mod expr;
mod literal;
mod mend;
pub(crate) mod parser;
mod stream;
mod surplus;
mod template;

pub(crate) use stream::Pieces;

use crate::ast::File;
use crate::diagnostic::source::enveloped;
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix};
use crate::source::{self, Limits};
use crate::span::Span;
use crate::syntax::lexer;
use bumpalo::Bump;
use ilo_spec::error::Code;

/// What a program begins with, for messages.
const HEADER: &str = "`; fn name(parameter: type) -> type`";

/// Reads a source. What could be read is returned even where there are errors; whether there are, `diagnostics` knows.
///
/// Time and memory are linear in the source.
pub fn parse<'a>(
    source: &'a str,
    arena: &'a Bump,
    options: &Limits,
    diagnostics: &mut Diagnostics,
) -> File<'a> {
    if let Some(diagnostic) = whole(source) {
        diagnostics.push(diagnostic);
        return File { functions: &[] };
    }
    let file = match lexer::lex(source, options, diagnostics) {
        Some(lexed) => parser::file(source, arena, options, &lexed, diagnostics, None),
        None => File { functions: &[] },
    };
    diagnostics.sort();
    tell_once(source, diagnostics);
    file
}

/// What is wrong with a source as a whole, so that its parts are not read: an envelope, or a header that lacks its `;`.
fn whole(source: &str) -> Option<Diagnostic> {
    if let Some(found) = source::envelope(source) {
        return Some(enveloped(source, &found, HEADER));
    }
    let start = source::trimmed(source);
    if !start.strip_prefix("fn ")?.contains("->") {
        return None;
    }
    let at = u32::try_from(source.len() - start.len()).ok()?;
    let fix = Fix {
        title: "write `; fn`".to_owned(),
        edits: vec![Edit { span: Span::at(at), text: "; ".to_owned() }],
    };
    let message = "the line of a function begins with `;`";
    let wrong = Diagnostic::new(Code::MissingHeader, Span::new(at, at + 2), message);
    Some(wrong.expected(HEADER, "`fn`").fix(fix))
}

/// The number of tokens of a source, comments and line ends not counted; 0 where it breaks a limit.
///
/// What it costs is what the lexer alone costs of [`parse`].
pub fn count_tokens(source: &str, options: &Limits) -> usize {
    lexer::lex(source, options, &mut Diagnostics::default()).map_or(0, |lexed| lexed.tokens.len())
}

/// Leaves out what only follows from an error right beside it: a token that is none also lacks where it stood, and what
/// follows a kind that is none is left over.
fn tell_once(source: &str, diagnostics: &mut Diagnostics) {
    let cause = |found: &Diagnostic| {
        matches!(found.code, Code::BadCharacter | Code::BadString | Code::BadNumber | Code::BadLiteral)
    };
    let follows = |found: &Diagnostic| {
        let left_over = matches!(found.code, Code::BadLiteral | Code::ExpectedOperand | Code::UnexpectedText);
        left_over && found.fix.is_none()
    };
    let beside = |a: &Diagnostic, b: &Diagnostic| {
        let between = source.get(a.span.end.min(b.span.start) as usize..b.span.start as usize);
        between.is_some_and(|text| text.chars().all(|c| matches!(c, ' ' | '\t')))
    };
    diagnostics.retain(|before, this, after| {
        let of_before = before.is_some_and(|before| cause(before) && beside(before, this));
        let of_after =
            after.is_some_and(|after| cause(after) && after.code != Code::BadLiteral && beside(this, after));
        !follows(this) || !(of_before || of_after)
    });
}
