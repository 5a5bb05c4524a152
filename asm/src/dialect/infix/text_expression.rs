//! Finds texts that look like infix expressions but are plain texts, and the operators to write instead.

use super::{Infix, InfixKind, Reader};
use crate::ast::{Binary, Literal};
use crate::diagnostic::Diagnostics;
use crate::dialect::operator::{self, Makes};
use crate::dialect::reference::{Reference, Words};
use crate::dialect::template::Sigil;
use crate::document::Node;
use crate::text::quote;
use bumpalo::Bump;
use ilo_spec::error::Code;
use std::fmt::Write as _;

/// Parses a plain text that was probably meant as an expression: one that computes or compares, with
/// references. A path such as `$dir/$file` is not one.
///
/// In the position of a `formula`, conditions of other languages such as `!$x && $y` and names without `$`
/// are accepted too. With [`Sigil::Braces`], names without `$` are references; whether they are in scope then
/// distinguishes an expression from a text.
pub fn arithmetic<'a>(
    node: &Node<'a>,
    sigil: Sigil,
    formula: bool,
    nesting: usize,
    arena: &'a Bump,
) -> Option<Infix<'a>> {
    computation(node, sigil, formula, nesting, arena).filter(|(_, refers)| *refers).map(|(tree, _)| tree)
}

/// Parses a text that was certainly meant as an expression, also one without references, such as `range(3)`.
pub fn operation<'a>(node: &Node<'a>, nesting: usize, arena: &'a Bump) -> Option<Infix<'a>> {
    computation(node, Sigil::Dollar, true, nesting, arena).map(|(tree, _)| tree)
}

/// What a text computes, and whether it has references.
fn computation<'a>(
    node: &Node<'a>,
    sigil: Sigil,
    formula: bool,
    nesting: usize,
    arena: &'a Bump,
) -> Option<(Infix<'a>, bool)> {
    let words = Words::of(node, arena)?;
    let refers = words.text.contains('$');
    let bare = sigil == Sigil::Braces || formula;
    // No text has ` ?? ` between two names in scope.
    let defaults = words.text.contains(" ?? ");
    let computes = defaults
        || words.text.contains("[$")
        || words.text.contains(['+', '-', '*', '/', '%', '=', '<', '>', '(']);
    let logical = || words.text.contains([' ', '!', '&', '|']);
    if !(bare || refers) || !(computes || (formula && logical())) {
        return None;
    }
    if sigil == Sigil::Braces && joins_a_pair(words.text) {
        return None;
    }
    let mut unseen = Diagnostics::default();
    let mut reader = Reader { bare, ..Reader::new(&words, nesting, &mut unseen) };
    let tree = reader.whole()?;
    let computes = reader.seen.computes
        || (formula && matches!(tree.kind, InfixKind::Unary(..) | InfixKind::Binary(..)));
    let clear = computes && !reader.seen.tight && !reader.faulty;
    let refers = reader.seen.refers;
    // Operators of other languages are understood in a context in which something is computed, and in a text
    // that is a call.
    let understood = formula || defaults || call(words.text).is_some();
    let read = |code| matches!(code, Code::UnknownOperator | Code::BadExpression | Code::OtherNotation);
    let plain = unseen.as_slice().iter().all(|found| understood && read(found.code));
    (clear && plain).then_some((tree, refers))
}

/// The name and the operands of a text of the form `name(…)` or `module.name(…)`.
pub(crate) fn call(text: &str) -> Option<(&str, &str)> {
    let (name, operands) = text.trim().strip_suffix(')')?.split_once('(')?;
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '{' | '}');
    (!name.is_empty() && name.chars().all(letter)).then_some((name, operands))
}

/// Whether a text with references in braces has a `=` without a blank on either side, such as
/// `${name}=${value}`: this is a plain text.
fn joins_a_pair(text: &str) -> bool {
    let bytes = text.as_bytes();
    let apart = |at: Option<usize>| {
        let byte = at.and_then(|at| bytes.get(at));
        byte.is_none_or(|byte| byte.is_ascii_whitespace() || b"=<>!~+-*/%".contains(byte))
    };
    let is_pair =
        |(at, byte): (usize, &u8)| *byte == b'=' && !apart(at.checked_sub(1)) && !apart(at.checked_add(1));
    text.contains("${") && bytes.iter().enumerate().any(is_pair)
}

/// The expression as nested operators, `{"*": ["$.price", 2]}`; `reference` writes the references. `None` if
/// a text in it has references. Literals are texts of the notation with this sigil.
pub fn operators<'a>(
    infix: &Infix<'a>,
    sigil: Sigil,
    reference: &impl Fn(&Reference<'a>) -> String,
) -> Option<String> {
    let mut out = String::new();
    match infix.kind {
        InfixKind::Reference(found) => quote(&reference(&found), &mut out),
        InfixKind::Literal(Literal::Nil) => out.push_str("null"),
        InfixKind::Literal(Literal::Bool(bool)) => out.push_str(if bool { "true" } else { "false" }),
        InfixKind::Literal(Literal::Number(number)) => out.push_str(&number.to_string()),
        InfixKind::Literal(Literal::Text(text)) if sigil == Sigil::Braces => {
            out.push_str("{\"text\": ");
            quote(text, &mut out);
            out.push('}');
        }
        InfixKind::Literal(Literal::Text(text)) => quote(&text.replace('$', "$$"), &mut out),
        InfixKind::Template(_) => return None,
        InfixKind::Unary(unary, operand) => {
            let operand = operators(operand, sigil, reference)?;
            let _ = write!(out, "{{\"{}\": {operand}}}", spelling(Makes::Unary(unary)));
        }
        InfixKind::Apply(function, [operand]) => {
            let operand = operators(operand, sigil, reference)?;
            let _ = write!(out, "{{\"{}\": {operand}}}", spelling(Makes::Apply(function)));
        }
        InfixKind::Apply(function, operands) => {
            let operands: Option<Vec<String>> =
                operands.iter().map(|operand| operators(operand, sigil, reference)).collect();
            let _ = write!(out, "{{\"{}\": [{}]}}", spelling(Makes::Apply(function)), operands?.join(", "));
        }
        InfixKind::Binary(binary, a, b) => {
            let joins = binary == Binary::Add && (is_text(a) || is_text(b));
            let (a, b) = (operators(a, sigil, reference)?, operators(b, sigil, reference)?);
            let word = spelling(Makes::Binary(if joins { Binary::Concat } else { binary }));
            let _ = write!(out, "{{\"{word}\": [{a}, {b}]}}");
        }
    }
    Some(out)
}

/// Whether an operand is certainly a text, so that adding to it means joining.
pub(crate) fn is_text(infix: &Infix<'_>) -> bool {
    match infix.kind {
        InfixKind::Literal(Literal::Text(_)) | InfixKind::Template(_) => true,
        InfixKind::Binary(Binary::Add | Binary::Concat, a, b) => is_text(a) || is_text(b),
        _ => false,
    }
}

fn spelling(makes: Makes) -> &'static str {
    operator::TABLE.iter().find(|row| row.makes == makes).map_or("", |row| row.spelling)
}
