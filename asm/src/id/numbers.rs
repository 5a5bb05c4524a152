//! Parses numbers: slots, tools, fields and counts; also names in their positions.

use super::messages::{PATH, PREFIX, count_range, form};
use super::parser::BodyParser;
use super::state::Stop;
use crate::ast::{Name, Slot};
use crate::diagnostic::Diagnostic;
use crate::foreign::{self, Place};
use crate::span::Span;
use crate::syntax::lexer::{Kind, NO_VALUE, Token};
use crate::syntax::registry;
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::node::Place::Expression;
use ilo_spec::node::{Shape, Word};

/// Reads the slot of `of`.
pub(crate) fn slot(parser: &mut BodyParser<'_, '_>, of: Word) -> Result<(Slot, Span), Stop> {
    let start = parser.state.current.start;
    let number = slot_number(parser, of)?;
    Ok((parser.names.slot(number), Span::new(start, parser.state.last_end)))
}

/// Reports a wrong operand of `of`, with the help for a MERGE of which it may have become part.
pub(crate) fn give_up(parser: &mut BodyParser<'_, '_>, wrong: Diagnostic, of: Word) -> Stop {
    let in_merge = parser.state.merge_end == Some(parser.state.at) || of == Word::Merge;
    parser.fail(if in_merge {
        wrong.help(
            "MERGE takes pairs as long as an integer follows; where a count or another pair must follow it, write how \
             many it takes after the word, as in `MERGE 1 REF …`",
        )
    } else {
        wrong
    })
}

/// Reads the number of the slot of `of`.
#[inline]
fn slot_number(parser: &mut BodyParser<'_, '_>, of: Word) -> Result<u32, Stop> {
    if parser.state.current.kind == Kind::Integer { Ok(id(parser)) } else { slot_otherwise(parser, of) }
}

#[cold]
fn slot_otherwise(parser: &mut BodyParser<'_, '_>, of: Word) -> Result<u32, Stop> {
    if parser.state.current.word == Some(Word::Ref) {
        parser.bump();
        if parser.state.current.kind == Kind::Integer {
            return Ok(id(parser));
        }
    } else if let Some(slot) = named_slot(parser) {
        parser.bump();
        return Ok(slot);
    }
    parser.lacks(of, Shape::Slot);
    Err(no_id(parser, of, "a slot's number"))
}

/// The slot whose name is at the cursor, with or without the marks of a reference.
pub(crate) fn named_slot(parser: &mut BodyParser<'_, '_>) -> Option<u32> {
    let token = parser.state.current;
    let is_word = matches!(token.kind, Kind::Word | Kind::Dollar) && token.word.is_none();
    let name = parser.text(&token).trim_start_matches(['$', '{']).trim_end_matches('}');
    if is_word { parser.names.slot_of(name) } else { None }
}

fn no_id(parser: &mut BodyParser<'_, '_>, of: Word, expected: &str) -> Stop {
    let message = format!("`{}` needs {expected} here", of.mnemonic());
    let wrong = parser.refuse(Code::ExpectedId, message, expected);
    let is_path = of == Word::Ref && parser.text(&parser.state.current).contains('.');
    let wrong = wrong.help(if is_path { PATH.to_owned() } else { format!("write {}", form(of)) });
    give_up(parser, wrong, of)
}

/// The id at the cursor.
#[inline]
fn id(parser: &mut BodyParser<'_, '_>) -> u32 {
    let id =
        if parser.state.current.value == NO_VALUE { rare_id(parser) } else { parser.state.current.value };
    parser.bump();
    id
}

/// A long id, or one with zeros before it: reports one that is too large.
#[cold]
fn rare_id(parser: &mut BodyParser<'_, '_>) -> u32 {
    let token = parser.state.current;
    let text = parser.text(&token);
    if let Some(id) = digits(text) {
        return id;
    }
    parser.tolerate(registry::id_range(token.span(), text));
    0
}

/// Reads the field of `of`.
#[inline]
pub(crate) fn field_name<'a>(parser: &mut BodyParser<'_, 'a>, of: Word) -> Result<Name<'a>, Stop> {
    registry_name(parser, of, registry::NameKind::Fields)
}

/// Reads the tool of a CALL.
#[inline]
pub(crate) fn tool_name<'a>(parser: &mut BodyParser<'_, 'a>) -> Result<Name<'a>, Stop> {
    registry_name(parser, Word::Call, registry::NameKind::Tools)
}

#[inline]
fn registry_name<'a>(
    parser: &mut BodyParser<'_, 'a>,
    of: Word,
    kind: registry::NameKind,
) -> Result<Name<'a>, Stop> {
    let token = parser.state.current;
    if token.kind != Kind::Integer {
        return named_otherwise(parser, of, kind);
    }
    let id = id(parser);
    let name = parser.names.registries.get(kind).name(id);
    Ok(Name { text: name.unwrap_or_else(|| unnamed(parser, token, kind)), span: token.span() })
}

#[cold]
fn named_otherwise<'a>(
    parser: &mut BodyParser<'_, 'a>,
    of: Word,
    kind: registry::NameKind,
) -> Result<Name<'a>, Stop> {
    let what = kind.of_one();
    let token = parser.state.current;
    let span = token.span();
    let text = parser.text(&token);
    let name = match token.kind {
        Kind::Word if token.word.is_none() => text,
        Kind::Text => text.trim_matches('"'),
        _ => {
            parser.lacks(of, if kind == registry::NameKind::Tools { Shape::Tool } else { Shape::Field });
            return Err(no_id(parser, of, &format!("a {what}'s number")));
        }
    };
    if parser.names.id_of(kind, name).is_some() {
        parser.bump();
        return Ok(Name { text: name, span });
    }
    let near = parser.names.nearest_of(kind, name);
    let id = near.and_then(|near| parser.names.id_of(kind, near));
    let message = format!("`{}` needs a {what}'s number here", of.mnemonic());
    let wrong = parser.refuse(Code::ExpectedId, message, &format!("a {what}'s number"));
    if let (Some(near), Some(id)) = (near, id) {
        let wrong = wrong.nearest(Some(near)).help(format!("nearest is `{near}`, number {id}"));
        return Err(parser.fail(wrong));
    }
    if kind == registry::NameKind::Fields && foreign::word(Place::Operation, name) == Some("len") {
        let help = "how many items or characters there are is `LEN REF <slot>`";
        return Err(parser.fail(wrong.help(help)));
    }
    let id = parser.names.next_id(kind, name);
    let registry = kind.name();
    parser.tolerate(wrong.help(format!(
        "names have numbers here: add `{id}={}` to the line `; {registry}:` of this function, and write `{id}`",
        shorten(name)
    )));
    parser.bump();
    Ok(Name { text: name, span })
}

/// Reports an id that no registry names; its digits are used for the name.
#[cold]
fn unnamed<'a>(parser: &mut BodyParser<'_, 'a>, token: Token, kind: registry::NameKind) -> &'a str {
    let text = parser.text(&token);
    let (registry, what) = (kind.name(), kind.of_one());
    parser.report(
        Diagnostic::new(Code::UnnamedId, token.span(), format!("no registry names {what} {text}"))
            .expected(format!("an id of `; {registry}:`"), format!("`{text}`"))
            .help(format!("add `{text}=<name>` to the line `; {registry}:` of this function")),
    );
    text
}

/// Skips an equals sign between a slot or a field and its value.
#[inline]
pub(crate) fn skip_equals(parser: &mut BodyParser<'_, '_>, of: Word) {
    if parser.state.current.kind == Kind::Operator {
        skip_superfluous(parser, of);
    }
}

/// Skips an `IN` between the slot of a loop and its list.
#[inline]
pub(crate) fn skip_in(parser: &mut BodyParser<'_, '_>) {
    let Token { kind, word, .. } = parser.state.current;
    if kind == Kind::Word && word.is_none() {
        skip_superfluous(parser, Word::For);
    }
}

#[cold]
fn skip_superfluous(parser: &mut BodyParser<'_, '_>, of: Word) {
    let token = parser.state.current;
    let text = parser.text(&token);
    if matches!(text, "=" | ":=" | "<-") || of == Word::For && text.eq_ignore_ascii_case("in") {
        parser.bump();
    }
}

/// Reads a count and the items that it counts, except statements. No memory is reserved for the count.
pub(crate) fn count(parser: &mut BodyParser<'_, '_>, of: Word, what: &'static str) -> Result<u32, Stop> {
    if parser.state.current.kind != Kind::Integer {
        return Err(no_count(parser, of, what));
    }
    let Some(count) = count_value(parser) else {
        let (span, most) = (parser.state.current.span(), parser.context.words);
        let found = parser.text(&parser.state.current);
        return Err(parser.fail(count_range(span, found, most)));
    };
    parser.bump();
    Ok(count)
}

/// The count at the cursor, unless it is more than a file of this size can have.
fn count_value(parser: &BodyParser<'_, '_>) -> Option<u32> {
    integer(parser, &parser.state.current).filter(|&count| count as usize <= parser.context.words)
}

/// The value of an integer, unless it is negative or beyond 32 bits.
pub(crate) fn integer(parser: &BodyParser<'_, '_>, token: &Token) -> Option<u32> {
    if token.value == NO_VALUE { digits(parser.text(token)) } else { Some(token.value) }
}

/// Rejects a token in the position of a count.
pub(crate) fn no_count(parser: &mut BodyParser<'_, '_>, of: Word, what: &str) -> Stop {
    parser.lacks(of, Shape::Block);
    let message = format!("`{}` needs the number of {what} here", of.mnemonic());
    let wrong = parser.refuse(Code::ExpectedCount, message, &format!("the number of {what}"));
    let operator = parser.state.current.word.is_some_and(|word| word.row().place == Expression);
    let wrong = if operator && matches!(of, Word::If | Word::For | Word::MatchMap) {
        wrong.help(
            "an operator comes before its values, `GT REF 0 LIT 1 3`, and takes two: for three, write it twice, \
             `AND AND REF 0 REF 1 REF 2`",
        )
    } else {
        wrong.help(if parser.state.current.kind == Kind::Operator {
            PREFIX.to_owned()
        } else {
            format!("write {}", form(of))
        })
    };
    give_up(parser, wrong, of)
}

/// Rejects a counted list that is shorter than its count.
pub(crate) fn short_list(
    parser: &mut BodyParser<'_, '_>,
    of: Word,
    what: &str,
    count_token: usize,
    count: u32,
    read: u32,
) -> Stop {
    parser.lacks(of, of.row().operands.last().copied().unwrap_or(Shape::Pairs));
    let message = format!("`{}` counts {count} {what}, but {read} follow", of.mnemonic());
    let code =
        if of == Word::List || of == Word::MatchMap { Code::ExpectedOperand } else { Code::ExpectedId };
    let wrong = parser.refuse(code, message, &format!("{count} {what}"));
    let mut wrong = wrong.related_if(parser.token(count_token).map(Token::span), "the count");
    wrong.span = Span::at(parser.state.last_end);
    let wrong = wrong.help(format!("write `{read}` for the count, or add what is missing: {}", form(of)));
    give_up(parser, wrong, Word::List)
}

/// Rejects a token that is not the key of a case.
pub(crate) fn no_case_key(parser: &mut BodyParser<'_, '_>) -> Stop {
    let token = parser.state.current;
    parser.lacks(Word::MatchMap, Shape::Cases);
    let message = "a key of `MATCH_MAP` is a literal".to_owned();
    let wrong =
        parser.refuse(Code::ExpectedOperand, message, "a text, number, `true`, `false`, `nil` or `ELSE`");
    let text = parser.text(&token);
    let wrong = if token.kind == Kind::Word && token.word.is_none() {
        let is_default = text.eq_ignore_ascii_case("default");
        let key = if is_default { "ELSE".to_owned() } else { format!("\"{text}\"") };
        wrong.help(format!("write `{key}`")).replace(token.span(), key)
    } else {
        wrong.help("keys are constants; compare anything else with `IF EQ`")
    };
    give_up(parser, wrong, Word::MatchMap)
}

/// The value of a text of digits.
pub(crate) fn digits(text: &str) -> Option<u32> {
    text.bytes().try_fold(0_u32, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|&digit| digit < 10)?;
        number.checked_mul(10)?.checked_add(u32::from(digit))
    })
}
