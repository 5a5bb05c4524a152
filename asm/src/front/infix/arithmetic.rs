//! Texts that read as expressions where they are texts, and the operators to write instead.

use super::{Infix, InfixKind, Reader};
use crate::ast::Literal;
use crate::diagnostic::Diagnostics;
use crate::front::operator::{self, Makes};
use crate::front::reference::{Reference, Words};
use crate::front::template::Sigil;
use crate::front::tree::Node;
use crate::id::quote;
use bumpalo::Bump;
use std::fmt::Write as _;

/// The expression that a text reads as, where it computes or compares with references in it: what a text that is no
/// expression where it stands was probably meant to be. A path such as `$dir/$file` is none.
///
/// With [`Sigil::Braces`] names without `$` are references too; whether they are in scope is then what tells an
/// expression from a text.
pub fn arithmetic<'a>(node: &Node<'a>, sigil: Sigil, nesting: usize, arena: &'a Bump) -> Option<Infix<'a>> {
    let words = Words::of(node, arena)?;
    let bare = sigil == Sigil::Braces;
    if !(bare || words.text.contains('$'))
        || !words.text.contains(['+', '-', '*', '/', '%', '=', '<', '>', '('])
    {
        return None;
    }
    let mut unseen = Diagnostics::default();
    let mut reader = Reader { bare, ..Reader::new(&words, nesting, &mut unseen) };
    let tree = reader.whole()?;
    let computes = reader.seen.computes && reader.seen.refers && !reader.seen.tight;
    (computes && unseen.as_slice().is_empty()).then_some(tree)
}

/// The expression as nested operators, `{"*": ["$.price", 2]}`, with references as `reference` writes them; `None` where
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
        InfixKind::Binary(binary, a, b) => {
            let (a, b) = (operators(a, sigil, reference)?, operators(b, sigil, reference)?);
            let _ = write!(out, "{{\"{}\": [{a}, {b}]}}", spelling(Makes::Binary(binary)));
        }
    }
    Some(out)
}

fn spelling(makes: Makes) -> &'static str {
    operator::TABLE.iter().find(|row| row.makes == makes).map_or("", |row| row.spelling)
}
