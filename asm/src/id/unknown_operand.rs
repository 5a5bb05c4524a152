//! Recovery for unknown operands: each is read as something else, or rejected with a reason.

use super::literal;
use super::messages::{PATH, PREFIX, form};
use super::numbers;
use super::numbers::digits;
use super::parser::BodyParser;
use super::state::Stop;
use super::unknown_word;
use crate::ast::{Expr, ExprKind};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::syntax::lexer::{Kind, Token};
use crate::syntax::registry;
use ilo_spec::error::Code;
use ilo_spec::node::{Place, Shape, Word};

/// Rejects what is not an operand.
pub(crate) fn no_operand(parser: &mut BodyParser<'_, '_>, of: Word) -> Stop {
    let token = parser.state.current;
    if token.word.is_none() {
        parser.lacks(of, Shape::Expr);
    }
    let message = format!("`{}` needs an operand here", of.mnemonic());
    let wrong = parser.refuse(Code::ExpectedOperand, message, "an expression");
    let wrong = match (token.word, token.kind) {
        (Some(word), _) if word.row().place == Place::Control => {
            let name = word.mnemonic();
            wrong.help(format!("bind it first, with `LET <slot> {name} …`, and write `REF <slot>` here"))
        }
        (Some(Word::Ok | Word::Err), _) => wrong.help(
            "a result function returns with `RET_OK` or `RET_ERR`; whether a call failed is asked by \
             `MATCH <slot> 2` with an ERR and an OK arm",
        ),
        (None, Kind::Operator) => wrong.help(PREFIX),
        (None, Kind::Dollar | Kind::Word) if parser.text(&token).contains('.') => wrong.help(PATH),
        (None, Kind::Dollar | Kind::Word) => {
            let name = parser.text(&token).trim_matches(['$', '{', '}']);
            let near = parser.names.nearest_of(registry::NameKind::Vars, name);
            let slot = near.and_then(|name| parser.names.id_of(registry::NameKind::Vars, name));
            let help = match near.zip(slot) {
                Some((name, slot)) => {
                    format!("a slot is read with `REF <slot>`; nearest is `{name}`, `REF {slot}`")
                }
                None => {
                    "no instruction has this name; a slot is read with `REF <slot>`, a text is `LIT 0 \"…\"`"
                        .to_owned()
                }
            };
            wrong.nearest(near).help(help)
        }
        _ => lacking(parser, wrong, of),
    };
    numbers::give_up(parser, wrong, of)
}

/// Adds what to write if an operand is missing or unknown.
fn lacking(parser: &BodyParser<'_, '_>, wrong: Diagnostic, of: Word) -> Diagnostic {
    let ends = parser.state.current.first || matches!(parser.state.current.kind, Kind::Dedent | Kind::End);
    match of {
        Word::Ret | Word::RetOk if ends && parser.context.gives_nil => {
            let name = of.mnemonic();
            let wrong = wrong.help(format!("write what the function gives: `{name} LIT 2 nil`"));
            wrong.replace(Span::at(parser.state.last_end), " LIT 2 nil")
        }
        Word::RetErr | Word::Fail if ends => {
            wrong.help(format!("write what it fails with: `{} LIT 0 \"…\"`", of.mnemonic()))
        }
        _ => wrong.help(format!("write {}", form(of))),
    }
}

/// A call behind UNDO or ROLLBACK without its word: the number of a tool begins one.
#[cold]
pub(crate) fn call_without_word(parser: &mut BodyParser<'_, '_>, of: Word) -> Result<Span, Stop> {
    parser.lacks(of, Shape::Call);
    let of = of.mnemonic();
    let form = format!("`{of} CALL <tool> <count> …`");
    let token = parser.state.current;
    if token.kind != Kind::Integer {
        let wrong = parser.refuse(Code::ExpectedOperand, format!("`{of}` takes a call"), "`CALL`");
        return Err(parser.fail(wrong.help(format!("write {form}"))));
    }
    Ok(token.span())
}

/// Reports an operand that does not begin with an instruction, and reads it; `None` if the word at the
/// cursor is now read as an instruction.
#[cold]
pub(crate) fn recover_operand<'a>(
    parser: &mut BodyParser<'_, 'a>,
    of: Word,
) -> Result<Option<Expr<'a>>, Stop> {
    let token = parser.state.current;
    if let Some(word) = unknown_word::resolve_word(parser, false) {
        let is_operand = word.row().place == Place::Expression;
        return if is_operand { Ok(None) } else { Err(no_operand(parser, of)) };
    }
    let text = parser.text(&token);
    if let Some(slot) = numbers::named_slot(parser) {
        return Ok(Some(slot_reference(parser, slot, token)));
    }
    if token.kind == Kind::Integer && digits(text).is_some() {
        return Ok(Some(bare_integer(parser, of, token)));
    }
    if unknown_word::kind_of(parser, &token).is_some() {
        let literal = literal::constant_at(parser, &token);
        return Ok(Some(Expr { kind: ExprKind::Literal(literal), span: token.span() }));
    }
    Err(no_operand(parser, of))
}

fn slot_reference<'a>(parser: &mut BodyParser<'_, 'a>, number: u32, token: Token) -> Expr<'a> {
    parser.bump();
    Expr { kind: ExprKind::Ref(parser.names.slot(number)), span: token.span() }
}

/// A number in the position of an operand: a slot without REF, or a number without LIT.
fn bare_integer<'a>(parser: &mut BodyParser<'_, 'a>, of: Word, token: Token) -> Expr<'a> {
    let text = parser.text(&token);
    let number = digits(text).unwrap_or(0);
    let vars = parser.names.registries.get(registry::NameKind::Vars);
    let in_scope = parser.names.slots.find(number).is_some() || vars.name(number).is_some();
    let message = format!("`{text}` alone is not an operand of `{}`", of.mnemonic());
    let wrong = Diagnostic::new(Code::ExpectedOperand, token.span(), message)
        .expected("an expression", format!("`{text}`"))
        .help(format!("write `REF {text}` for slot {text}, or `LIT 1 {text}` for the number {text}"));
    // A list and a record are never numbers.
    let reference = matches!(of, Word::For | Word::Merge | Word::Len | Word::Has);
    let place = Span::at(token.start);
    parser.tolerate(match (reference, in_scope) {
        (true, _) => wrong.replace(place, "REF "),
        (false, true) => wrong,
        (false, false) => wrong.replace(place, "LIT 1 "),
    });
    if reference || in_scope {
        return slot_reference(parser, number, token);
    }
    let literal = literal::constant_at(parser, &token);
    Expr { kind: ExprKind::Literal(literal), span: token.span() }
}
