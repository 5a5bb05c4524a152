//! Recovery for unknown words: each is read as an instruction, or rejected with a reason.

use super::parser::BodyParser;
use super::state::Stop;
use super::words::{self, ConstantWord};
use crate::diagnostic::Diagnostic;
use crate::foreign;
use crate::syntax::lexer::{Kind, Token};
use crate::text::{nearest, shorten};
use ilo_spec::error::Code;
use ilo_spec::node::{TABLE, Word};

/// The instruction at the cursor. A misspelt one is reported and read as the one that is meant.
#[inline]
pub(crate) fn resolve_word(parser: &mut BodyParser<'_, '_>, statement: bool) -> Option<Word> {
    let token = &parser.state.current;
    if token.word.is_some() || token.kind != Kind::Word {
        return token.word;
    }
    resolve_unknown(parser, statement)
}

#[cold]
fn resolve_unknown(parser: &mut BodyParser<'_, '_>, statement: bool) -> Option<Word> {
    let token = parser.state.current;
    let text = parser.text(&token);
    if !statement && (kind_of(parser, &token).is_some() || is_variable(parser, text)) {
        return None;
    }
    let habit = words::instruction(text);
    let upper = statement || !text.bytes().any(|byte| byte.is_ascii_lowercase());
    let full = parser.diagnostics.dropped() > 0;
    let may_be_near = habit.is_none() && upper && !full && !foreign::knows(text);
    let near = if may_be_near { nearest(text, TABLE.iter().map(|row| row.mnemonic)) } else { None };
    let word = habit.or_else(|| near.and_then(Word::from_mnemonic))?;
    let (name, shown) = (word.mnemonic(), shorten(text));
    let meaning = word.row().meaning;
    if habit != Some(Word::Skip) {
        let message = format!("`{shown}` is not an instruction");
        let wrong = Diagnostic::new(Code::UnknownInstruction, token.span(), message)
            .expected("an instruction", format!("`{shown}`"))
            .nearest(Some(name));
        parser.tolerate(match habit {
            Some(_) => wrong.help(format!("write `{name}`: {meaning}")).replace(token.span(), name),
            None => wrong.help(format!("did you mean `{name}`: {meaning}")),
        });
    }
    parser.state.read_as = Some((parser.state.at, word));
    parser.refresh();
    Some(word)
}

fn is_variable(parser: &mut BodyParser<'_, '_>, text: &str) -> bool {
    parser.names.id_of(crate::syntax::registry::NameKind::Vars, text).is_some()
}

/// Rejects a word that is not similar to any instruction.
pub(crate) fn unknown_instruction(parser: &mut BodyParser<'_, '_>) -> Stop {
    let word = parser.text(&parser.state.current);
    let text = shorten(word);
    let wrong =
        parser.refuse(Code::UnknownInstruction, format!("`{text}` is not an instruction"), "an instruction");
    let is_loop = word.eq_ignore_ascii_case("while") || foreign::is_unbounded(word);
    parser.fail(wrong.help(if is_loop {
        "a loop has a bound: `FOR <slot> RANGE LIT 1 <most passes> <count>`, in it `IF <condition> 1` and `BREAK`, \
         and below it `ELSE <count>` for when the passes ran out"
    } else {
        "a statement begins with an instruction: `LET` binds a slot, `IF`, `ELSE`, `MATCH` and `TRY` branch, `FOR` \
         loops over a list, `RET` returns; a block ends by its count and indent, without a word; all else is a \
         tool, with `CALL`"
    }))
}

/// Whether a token can only begin a statement.
pub(crate) fn begins_statement(parser: &BodyParser<'_, '_>, token: &Token) -> bool {
    use ilo_spec::node::Place;
    let word = match token.kind {
        Kind::Word => token.word.or_else(|| words::instruction(parser.text(token))),
        _ => None,
    };
    word.is_some_and(|word| matches!(word.row().place, Place::Statement | Place::Control))
}

/// The constant that a word means.
pub(crate) fn constant(parser: &BodyParser<'_, '_>, token: &Token) -> Option<ConstantWord> {
    if token.kind != Kind::Word || token.word.is_some() {
        return None;
    }
    let text = parser.text(token);
    ConstantWord::of(text).or_else(|| words::constant(text))
}

/// The kind of LIT for a token of this form, and how its value is written.
pub(crate) fn kind_of<'a>(parser: &BodyParser<'_, 'a>, token: &Token) -> Option<(u8, &'a str)> {
    match token.kind {
        Kind::Text | Kind::EscapedText | Kind::OpenText | Kind::SingleText => Some((0, parser.text(token))),
        Kind::Integer | Kind::Number => Some((1, parser.text(token))),
        _ => constant(parser, token).map(|constant| (constant.kind, constant.word)),
    }
}
