//! The integer-ID notation: text to the syntax tree, and its canonical layout.
//!
//! [`parse`] goes through the source three times: the lexer makes tokens, the header reader takes the comments that name
//! a function and its ids, and the parser makes the tree. It reports everything that is wrong with the text itself.
//! What a program means (slots, calls, flow, types) is the business of [`crate::check`].

mod block;
mod expr;
mod file;
mod literal;
mod messages;
mod names;
mod numbers;
mod operand;
pub(crate) mod parser;
mod statement;
mod trailing;
mod words;

pub(crate) use file::Source;

use crate::ast::File;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Limits;
use crate::syntax::habit::{Canonical, Habits};
use crate::syntax::lexer;
use bumpalo::Bump;
use ilo_spec::error::Code;

/// Reads a source in its canonical form. What could be read is returned even where there are errors; whether there are,
/// `diagnostics` knows. [`crate::build::read`] also understands what writers bring from other languages.
///
/// Time and memory are linear in the source.
pub fn parse<'a>(
    source: &'a str,
    arena: &'a Bump,
    limits: &Limits,
    diagnostics: &mut Diagnostics,
) -> File<'a> {
    parse_with(source, arena, limits, &Canonical, diagnostics)
}

/// The same with habits.
pub(crate) fn parse_with<'a>(
    source: &'a str,
    arena: &'a Bump,
    limits: &Limits,
    habits: &dyn Habits,
    diagnostics: &mut Diagnostics,
) -> File<'a> {
    let file = match Source::new(source, arena, limits, diagnostics) {
        Some(source) => source.read_all(arena, habits, diagnostics, None),
        None => File { functions: &[] },
    };
    diagnostics.sort();
    keep_causes(source, diagnostics);
    file
}

/// The number of tokens of a source, comments and line ends not counted; 0 where it breaks a limit.
///
/// What it costs is what the lexer alone costs of [`parse`].
pub fn count_tokens(source: &str, options: &Limits) -> usize {
    lexer::lex(source, options, &mut Diagnostics::default()).map_or(0, |lexed| lexed.tokens.len())
}

/// Leaves out errors that only follow from one right beside them: where a token is wrong, an operand is missing too, and
/// where the kind of a LIT is wrong, its value is left over.
fn keep_causes(source: &str, diagnostics: &mut Diagnostics) {
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
