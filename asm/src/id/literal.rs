//! Parses constants: `LIT` with its kind, and the bare literals of `MATCH_MAP`.

use super::parser::BodyParser;
use super::state::Stop;
use super::unknown_word;
use super::words::{self, ConstantWord};
use crate::ast::Literal;
use crate::diagnostic::Diagnostic;
use crate::document::bad_number;
use crate::span::Span;
use crate::syntax::comment_cursor::bad_text;
use crate::syntax::lexer::{Kind, NO_VALUE, Token};
use crate::text;
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::node::{Shape, Word};
use ilo_spec::number;
use ilo_spec::program::Number;

/// The kinds of LIT, by their numbers.
const KINDS: &str = "`LIT 0 \"text\"`, `LIT 1 42`, `LIT 2 nil` or `LIT 3 true`";

/// Reads the kind and value of a LIT.
pub(crate) fn literal<'a>(parser: &mut BodyParser<'_, 'a>) -> Result<Literal<'a>, Stop> {
    let kind = parser.state.current;
    if kind.kind != Kind::Integer {
        return literal_without_kind(parser);
    }
    if kind.value > 3 {
        return Ok(number_without_kind(parser, kind));
    }
    parser.bump();
    let token = parser.state.current;
    match (kind.value, token.kind) {
        (0, Kind::Text | Kind::EscapedText | Kind::OpenText | Kind::SingleText)
        | (1, Kind::Integer | Kind::Number) => Ok(constant_at(parser, &token)),
        (kind @ (2 | 3), Kind::Word)
            if ConstantWord::of(parser.text(&token)).is_some_and(|it| u32::from(it.kind) == kind) =>
        {
            Ok(constant_at(parser, &token))
        }
        _ => wrong_literal(parser, kind),
    }
}

/// A bare literal, if there is one at the cursor.
pub(crate) fn bare_literal<'a>(parser: &mut BodyParser<'_, 'a>) -> Option<Literal<'a>> {
    let token = parser.state.current;
    let literal = match token.kind {
        Kind::Word if token.word.is_none() => ConstantWord::of(parser.text(&token)).is_some(),
        Kind::Integer | Kind::Number | Kind::Text | Kind::EscapedText | Kind::OpenText | Kind::SingleText => {
            true
        }
        _ => false,
    };
    literal.then(|| constant_at(parser, &token))
}

/// Takes the token at the cursor as a constant.
pub(crate) fn constant_at<'a>(parser: &mut BodyParser<'_, 'a>, token: &Token) -> Literal<'a> {
    parser.bump();
    match token.kind {
        Kind::Text => {
            let inside = token.start.saturating_add(1) as usize..token.end.saturating_sub(1) as usize;
            Literal::Text(parser.context.source.get(inside).unwrap_or(""))
        }
        Kind::Integer if token.value != NO_VALUE => Literal::Number(Number::Int(token.value.into())),
        _ => rare_value(parser, token),
    }
}

fn rare_value<'a>(parser: &mut BodyParser<'_, 'a>, token: &Token) -> Literal<'a> {
    let text = parser.text(token);
    match token.kind {
        Kind::EscapedText => Literal::Text(decode(parser, token, text)),
        Kind::Integer | Kind::Number => Literal::Number(number(parser, token.span(), text)),
        Kind::Word => unknown_word::constant(parser, token).map_or(Literal::Nil, |constant| constant.value),
        // The lexer has reported these.
        _ => Literal::Text(text.trim_matches(['"', '\''])),
    }
}

fn decode<'a>(parser: &mut BodyParser<'_, 'a>, token: &Token, text: &'a str) -> &'a str {
    let inside = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
    text::decode(inside, parser.context.arena).unwrap_or_else(|bad| {
        parser.report(bad_text(bad, token.start + 1));
        ""
    })
}

fn number(parser: &mut BodyParser<'_, '_>, span: Span, text: &str) -> Number {
    let error = match number::parse(text) {
        Ok(number) => return number,
        Err(error) => error,
    };
    parser.report(bad_number(span, text, error));
    Number::Int(0)
}

/// Warns about names of slots in the text of the last LIT that other languages would fill in.
#[cold]
pub(crate) fn text_references(parser: &mut BodyParser<'_, '_>) {
    let Some(&text) = parser.state.at.checked_sub(1).and_then(|at| parser.token(at)) else { return };
    let named = words::filled_in(parser.text(&text)).find(|(_, name)| parser.names.slot_of(name).is_some());
    let Some((whole, _)) = named else { return };
    let message = format!("`{}` is text here, no value", shorten(whole));
    let help = "a text is not filled in: `CONCAT` joins a text and a value";
    parser.report(Diagnostic::new(Code::TextReference, text.span(), message).help(help));
}

/// `LIT "x"`, `LIT true`, `LIT 1.5`: the value tells the kind, which is missing.
fn literal_without_kind<'a>(parser: &mut BodyParser<'_, 'a>) -> Result<Literal<'a>, Stop> {
    let token = parser.state.current;
    if unknown_word::kind_of(parser, &token).is_some() {
        return Ok(constant_at(parser, &token));
    }
    parser.lacks(Word::Lit, Shape::Literal);
    let wrong = parser.refuse(Code::BadLiteral, "`LIT` takes a kind and a value".to_owned(), KINDS);
    let name = parser.text(&token);
    // In `LIT TEXT "a"` it names the kind.
    let is_kind =
        parser.token(parser.state.at + 1).is_some_and(|next| unknown_word::kind_of(parser, next).is_some());
    Err(if token.kind == Kind::Word && token.word.is_none() && !is_kind {
        parser.fail(wrong.replace(token.span(), format!("0 \"{name}\"")))
    } else {
        parser.fail(wrong.help(format!("write {KINDS}")))
    })
}

/// `LIT 42`: a number that is not a kind is the value, unless another value follows it.
fn number_without_kind<'a>(parser: &mut BodyParser<'_, 'a>, kind: Token) -> Literal<'a> {
    parser.bump();
    let value = parser.state.current;
    let text = parser.text(&kind);
    if let Some((number, _)) =
        unknown_word::kind_of(parser, &value).filter(|&(number, _)| number != 1 && !value.first)
    {
        let message = format!("`{}` is not a kind of `LIT`", shorten(text));
        let wrong = Diagnostic::new(Code::BadLiteral, kind.span(), message)
            .expected(KINDS, format!("`LIT {}`", shorten(text)));
        parser.tolerate(wrong.replace(kind.span(), number.to_string()));
        return constant_at(parser, &value);
    }
    Literal::Number(number(parser, kind.span(), text))
}

/// A kind whose value has another form.
fn wrong_literal<'a>(parser: &mut BodyParser<'_, 'a>, kind: Token) -> Result<Literal<'a>, Stop> {
    let token = parser.state.current;
    let (number, text) = (parser.text(&kind), parser.text(&token));
    let wanted = match number {
        "0" => "a string in double quotes",
        "1" => "a number",
        "2" => "`nil`",
        _ => "`true` or `false`",
    };
    let message = format!("`LIT {number}` takes {wanted}");
    let Some((right, value)) = unknown_word::kind_of(parser, &token).filter(|_| !token.first) else {
        if number == "0" && token.kind == Kind::Word && token.word.is_none() && !token.first {
            parser.bump();
            return Ok(Literal::Text(text));
        }
        parser.lacks(Word::Lit, Shape::Literal);
        let wrong = parser.refuse(Code::BadLiteral, message, wanted);
        return Err(
            parser.fail(wrong.help(format!("write {KINDS}; for the number {number} write `LIT 1 {number}`")))
        );
    };
    let wrong = Diagnostic::new(Code::BadLiteral, token.span(), message)
        .expected(wanted, format!("`{}`", shorten(text)));
    let wrong = match (number, right) {
        // The value has only one reading: nil, true and false, or a spelling of nil.
        (_, 2 | 3) => {
            let span = kind.span().to(token.span());
            wrong.help(format!("write `LIT {right} {value}`")).replace(span, format!("{right} {value}"))
        }
        ("0", 1) => {
            wrong.help(format!("write `LIT 1 {value}` for the number, or `LIT 0 \"{value}\"` for the text"))
        }
        _ => wrong.help(format!("write `LIT {right} {}`", shorten(value))),
    };
    parser.tolerate(wrong);
    Ok(constant_at(parser, &token))
}
