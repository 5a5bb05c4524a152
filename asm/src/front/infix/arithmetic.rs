//! Texts that read as expressions where they are texts, and the operators to write instead.

use super::{Infix, InfixKind, Reader};
use crate::ast::Literal;
use crate::diagnostic::Diagnostics;
use crate::front::operator::{self, Makes};
use crate::front::reference::Words;
use crate::front::template::{Part, Sigil, written};
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

/// The expression as nested operators, `{"*": ["$.price", 2]}`, in the references of the notation with this sigil.
///
/// It is JSON, and so YAML too.
pub fn operators(infix: &Infix<'_>, sigil: Sigil) -> String {
    let mut out = String::new();
    write_operators(infix, sigil, &mut out);
    out
}

fn write_operators(infix: &Infix<'_>, sigil: Sigil, out: &mut String) {
    let operator = |makes: Makes, out: &mut String| {
        let spelling = operator::TABLE.iter().find(|row| row.makes == makes).map_or("", |row| row.spelling);
        out.push_str("{\"");
        out.push_str(spelling);
        out.push_str("\": [");
    };
    match infix.kind {
        InfixKind::Reference(reference) => quote(&written(&reference, sigil), out),
        InfixKind::Literal(Literal::Nil) => out.push_str("null"),
        InfixKind::Literal(Literal::Bool(bool)) => out.push_str(if bool { "true" } else { "false" }),
        InfixKind::Literal(Literal::Number(number)) => out.push_str(&number.to_string()),
        InfixKind::Literal(Literal::Text(text)) if sigil == Sigil::Braces => {
            out.push_str("{\"text\": ");
            quote(text, out);
            out.push('}');
        }
        InfixKind::Literal(Literal::Text(text)) => quote(&text.replace('$', "$$"), out),
        InfixKind::Template(template) => {
            let mut text = String::new();
            for part in template.parts {
                match part {
                    Part::Text(part, _) => text.push_str(&part.replace('$', "$$")),
                    Part::Reference(reference) => {
                        let _ = write!(text, "${{{reference}}}");
                    }
                }
            }
            quote(&text, out);
        }
        InfixKind::Unary(unary, operand) => {
            operator(Makes::Unary(unary), out);
            write_operators(operand, sigil, out);
            out.push_str("]}");
        }
        InfixKind::Binary(binary, a, b) => {
            operator(Makes::Binary(binary), out);
            write_operators(a, sigil, out);
            out.push_str(", ");
            write_operators(b, sigil, out);
            out.push_str("]}");
        }
    }
}
