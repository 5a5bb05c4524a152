//! Parses blocks, and decides whether the indentation of a block or the count in its header determines its
//! end (2.3).

use super::messages::count_range;
use super::numbers;
use super::parser::BodyParser;
use super::state::{Floor, Nesting, Stop};
use super::unknown_word;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::syntax::lexer::{self, Kind};
use ilo_spec::error::Code;
use ilo_spec::node::Word;

/// A header with a count: its instruction and its count.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    /// The first token of the header; LET if the block is bound.
    pub(crate) token: usize,
    pub(crate) word: Word,
    /// The count, if there is one.
    count: Option<u32>,
    /// Whether the count is negative or beyond 32 bits.
    out_of_range: bool,
    /// The position of the count, or where it is missing.
    count_span: Span,
    count_token: usize,
    of: &'static str,
}

/// Parses items: a given number of them, or as many as there are.
pub(crate) type Items<'p, 'a> = fn(&mut BodyParser<'p, 'a>, Nesting, Option<u32>) -> Result<u32, Stop>;

/// Reads the count after a header. If a line or a statement begins instead, the count is missing, and the
/// block is parsed nevertheless.
pub(crate) fn head(
    parser: &mut BodyParser<'_, '_>,
    token: usize,
    word: Word,
    of: &'static str,
) -> Result<Head, Stop> {
    let current = parser.state.current;
    let mut head = Head {
        token,
        word,
        count: None,
        out_of_range: false,
        count_span: Span::at(parser.state.last_end),
        count_token: parser.state.at,
        of,
    };
    if current.kind == Kind::Integer {
        head.count_span = current.span();
        head.count = numbers::integer(parser, &current);
        head.out_of_range = head.count.is_none();
        parser.bump();
        return Ok(head);
    }
    let in_merge = parser.state.merge_end == Some(parser.state.at);
    if !in_merge && (current.first || unknown_word::begins_statement(parser, &current)) {
        return Ok(head);
    }
    Err(numbers::no_count(parser, word, of))
}

/// Parses the items of a header, by indent or by count.
pub(crate) fn counted<'p, 'a>(
    parser: &mut BodyParser<'p, 'a>,
    head: &Head,
    nesting: Nesting,
    items: Items<'p, 'a>,
) -> Result<(), Stop> {
    match indent_below(parser, head) {
        Some(indent) => by_indent(parser, head, indent, nesting, items),
        None => by_count(parser, head, nesting, items),
    }
}

/// The indent of the lines of a block, if its header is the first token of its line and the next line is
/// indented more.
fn indent_below<'a>(parser: &mut BodyParser<'_, 'a>, head: &Head) -> Option<&'a str> {
    let header = parser.token(head.token).filter(|token| token.first)?;
    let (at, line) = parser.next_line()?;
    let source = parser.context.source;
    let (outer, inner) = (lexer::indent(source, header), lexer::indent(source, line));
    if inner.len() > outer.len() && inner.starts_with(outer) {
        return Some(inner);
    }
    parser.mixed_indent(inner, outer, at);
    None
}

fn by_count<'p, 'a>(
    parser: &mut BodyParser<'p, 'a>,
    head: &Head,
    nesting: Nesting,
    items: Items<'p, 'a>,
) -> Result<(), Stop> {
    let errors = parser.state.errors;
    let possible = head.count.filter(|&count| count as usize <= parser.context.words);
    let Some(count) = possible else {
        impossible_count(parser, head);
        return items(parser, nesting, Some(1)).map(|_| ());
    };
    let read = items(parser, nesting, Some(count))?;
    if read < count && parser.state.errors == errors {
        too_few(parser, head, count, read);
    }
    Ok(())
}

// Diagnostics are built in separate functions, so that a deeply nested source needs less stack.

#[cold]
fn impossible_count(parser: &mut BodyParser<'_, '_>, head: &Head) {
    let help = format!("write how many {} follow, or indent them below this line", head.of);
    parser.tolerate(bad_count(parser, head).help(help));
}

#[cold]
fn too_few(parser: &mut BodyParser<'_, '_>, head: &Head, count: u32, read: u32) {
    let name = head.word.mnemonic();
    let code = if head.word == Word::Match { Code::ExpectedArm } else { Code::IncompleteBlock };
    let message = format!("`{name}` counts {count} {}, but {read} follow", head.of);
    let wrong = parser.refuse(code, message, &format!("{count} {}", head.of));
    let wrong = wrong
        .related(head.count_span, "the count")
        .help(format!("write `{read}` for the count, or add what is missing"));
    parser.tolerate(wrong);
}

fn by_indent<'p, 'a>(
    parser: &mut BodyParser<'p, 'a>,
    head: &Head,
    indent: &'a str,
    nesting: Nesting,
    items: Items<'p, 'a>,
) -> Result<(), Stop> {
    let errors = parser.state.errors;
    let outer = parser.state.floor;
    parser.state.floor = Some(Floor { indent, header: head.token });
    parser.refresh();
    let read = items(parser, nesting, None)?;
    parser.state.floor = outer;
    if let Some(token) = parser.token(parser.state.at).filter(|_| parser.state.current.kind == Kind::Dedent) {
        parser.mixed_indent(lexer::indent(parser.context.source, token), indent, parser.state.at);
    }
    parser.refresh();
    if parser.state.errors == errors && head.count != Some(read) {
        mismatch(parser, head, read);
    }
    Ok(())
}

/// The diagnostic of a missing or impossible count.
fn bad_count(parser: &BodyParser<'_, '_>, head: &Head) -> Diagnostic {
    let (name, of) = (head.word.mnemonic(), head.of);
    if head.out_of_range || head.count.is_some() {
        let found = parser.context.source.get(head.count_span.range()).unwrap_or("");
        return count_range(head.count_span, found, parser.context.words);
    }
    Diagnostic::new(Code::ExpectedCount, head.count_span, format!("`{name}` has no count of {of}"))
        .expected(format!("the number of {of}"), "no number")
}

/// Reports a count that differs from the indentation.
fn mismatch(parser: &mut BodyParser<'_, '_>, head: &Head, read: u32) {
    let (name, of) = (head.word.mnemonic(), head.of);
    let Some(count) = head.count else {
        let behind = parser.context.source.get(head.count_span.end as usize..).unwrap_or("");
        if !head.out_of_range && behind.trim_start_matches(' ').starts_with("IF ") {
            let help = "write `ELSE <count>` on a line of its own, and the IF with its ELSE below it, two blanks deeper";
            return parser.tolerate(bad_count(parser, head).help(help));
        }
        let text = if head.out_of_range { read.to_string() } else { format!(" {read}") };
        let help = format!("by the indented lines, the number of {of} is {read}");
        return parser.tolerate(bad_count(parser, head).help(help).replace(head.count_span, text));
    };
    parser.layout.iter_mut().for_each(|layout| layout.counts.push((head.count_token, read)));
    let message = format!("`{name}` counts {count} {of}, but {read} are indented below it and belong to it");
    parser.report(
        Diagnostic::new(Code::CountMismatch, head.count_span, message)
            .expected(format!("`{read}`"), format!("`{count}`"))
            .replace(head.count_span, read.to_string()),
    );
}
