//! Reads and writes what follows the type of an input: `?`, `|nil`, `= constant`.
//!
//! A constant is JSON; texts may have single quotes. In ID text the `?` follows the name.

use super::comment_cursor::{Cursor, Run};
use super::types::TypeReader;
use crate::ast::{Expr, ExprKind, Field, Literal, Name, Need, TypeName, is_constant_of};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::document::{Entry, Kind, Node, inner, json, shown};
use crate::span::Span;
use crate::{foreign, text};
use bumpalo::Bump;
use ilo_spec::error::Code;
use ilo_spec::types::Base;

/// The deepest nesting of a default.
const DEPTH: usize = 8;

const FORM: &str = "write `text?`, `text = \"x\"` or `text|nil`";

/// Reads a text that consists of the type of an input.
pub(crate) fn input_of<'a>(
    source: &'a str,
    text: Span,
    arena: &'a Bump,
    diagnostics: &mut Diagnostics,
) -> (TypeName<'a>, Need<'a>) {
    let mut reader = InputReader { cursor: Cursor::new(source, text), arena, diagnostics };
    let found = reader.input(false);
    let mut types = TypeReader { cursor: reader.cursor, input: Some(arena), depth: 0, diagnostics };
    types.end();
    found
}

/// Reports a default that is no value of its type.
pub(crate) fn default_fits(ty: &TypeName<'_>, constant: &Expr<'_>, diagnostics: &mut Diagnostics) {
    if !is_constant_of(constant, ty.ty) {
        let found = match constant.kind {
            ExprKind::Literal(literal) => literal.ty().to_string(),
            ExprKind::List(_) => "a list of other values".to_owned(),
            _ => "a record".to_owned(),
        };
        diagnostics.push(
            Diagnostic::new(Code::BadType, constant.span, format!("the default is not of type {}", ty.ty))
                .expected(format!("a constant of type {}", ty.ty), found)
                .help("write a default of the input's type, or `?` behind the type for nil"),
        );
    }
}

/// Reads the types of inputs at a cursor.
pub(crate) struct InputReader<'r, 'a> {
    pub(crate) cursor: Cursor<'a>,
    pub(crate) arena: &'a Bump,
    pub(crate) diagnostics: &'r mut Diagnostics,
}

impl<'a> InputReader<'_, 'a> {
    /// Reads a type and what follows it; `optional` if a `?` followed the name.
    pub(crate) fn input(&mut self, optional: bool) -> (TypeName<'a>, Need<'a>) {
        let mut ty = self.ty();
        let mut need = if optional { Need::Optional } else { Need::Required };
        if matches!(self.cursor.peek(), None | Some(',' | ')')) {
            return (ty, need);
        }
        loop {
            self.cursor.skip_blanks();
            if self.cursor.eat('?') {
                need = Need::Optional;
            } else if self.cursor.eat('|') {
                if let Some(other) = self.alternative(&ty) {
                    ty = other;
                }
                need = if matches!(need, Need::Required) { Need::Nullable } else { need };
            } else {
                break;
            }
        }
        if self.cursor.rest().starts_with('=') && !self.cursor.rest().starts_with("=>") {
            self.cursor.skip(1);
            match self.constant() {
                Some(Expr { kind: ExprKind::Literal(Literal::Nil), .. }) => need = Need::Optional,
                Some(constant) => {
                    default_fits(&ty, &constant, self.diagnostics);
                    need = Need::Default(self.arena.alloc(constant));
                }
                None => {}
            }
        }
        (ty, need)
    }

    fn ty(&mut self) -> TypeName<'a> {
        let (cursor, input) = (self.cursor, Some(self.arena));
        let mut types = TypeReader { cursor, input, depth: 0, diagnostics: self.diagnostics };
        let found = types.ty("an input's type");
        self.cursor = types.cursor;
        found
    }

    /// Reads what follows `|`: nil, or the type if nil came first, which is returned.
    fn alternative(&mut self, ty: &TypeName<'a>) -> Option<TypeName<'a>> {
        self.cursor.skip_blanks();
        let start = self.cursor.offset();
        let mut ahead = self.cursor;
        let word = ahead.run(Run::Type);
        if is_nil(word) {
            self.cursor = ahead;
            return None;
        }
        let nil_first = ty.ty == ilo_spec::types::Type::plain(Base::Nil);
        if nil_first && !word.is_empty() {
            return Some(self.ty());
        }
        self.cursor = ahead;
        self.diagnostics.push(
            Diagnostic::new(Code::BadType, self.cursor.since(start), "an input has one type, besides nil")
                .expected("`nil`", if word.is_empty() { "no type" } else { word })
                .help("write `any` for values of several types"),
        );
        None
    }

    /// Reads a constant; `None` if there is none, which is reported.
    fn constant(&mut self) -> Option<Expr<'a>> {
        self.cursor.skip_blanks();
        let (source, start) = (self.cursor.source(), self.cursor.offset());
        let part = start as usize..start as usize + self.cursor.rest().len();
        if let Some((node, end)) =
            json::value(source, part, self.arena).filter(|(node, _)| is_flat(node, DEPTH))
        {
            self.cursor.skip(end - start as usize);
            return Some(constant(&node, self.arena));
        }
        self.cursor.take(|c| !matches!(c, ',' | ')'));
        let span = self.cursor.since(start);
        let found = text::shorten(self.cursor.text(span));
        let found = if found.is_empty() { "nothing".to_owned() } else { found };
        self.diagnostics.push(
            Diagnostic::new(Code::BadType, span, "the default is not a constant")
                .expected("a number, a text in quotes, `true`, `false`, a list or a record", found)
                .help(FORM),
        );
        None
    }
}

/// A constant in a document, as an expression.
pub(crate) fn constant<'a>(node: &Node<'a>, arena: &'a Bump) -> Expr<'a> {
    let kind = match &node.kind {
        Kind::Null => ExprKind::Literal(Literal::Nil),
        Kind::Bool(value) => ExprKind::Literal(Literal::Bool(*value)),
        Kind::Number(number) => ExprKind::Literal(Literal::Number(*number)),
        Kind::Text(text) => ExprKind::Literal(Literal::Text(text.text)),
        Kind::List(items) => {
            let items: Vec<Expr<'a>> = items.iter().map(|item| constant(item, arena)).collect();
            ExprKind::List(arena.alloc_slice_copy(&items))
        }
        Kind::Record(fields) => {
            let field = |entry: &Entry<'a>| {
                let text = match entry.key.kind {
                    Kind::Text(text) => text.text,
                    _ => arena.alloc_str(&shown(&entry.key)),
                };
                Field { name: Name { text, span: inner(&entry.key) }, value: constant(&entry.value, arena) }
            };
            let fields: Vec<Field<'a>> = fields.iter().map(field).collect();
            ExprKind::Record(arena.alloc_slice_copy(&fields))
        }
    };
    Expr { kind, span: node.span }
}

/// Whether a value nests no deeper than this.
fn is_flat(node: &Node<'_>, depth: usize) -> bool {
    let inside = |node: &Node<'_>| depth > 0 && is_flat(node, depth - 1);
    match node.kind {
        Kind::List(items) => depth > 0 && items.iter().all(inside),
        Kind::Record(list) => depth > 0 && list.iter().all(|entry| inside(&entry.value)),
        _ => true,
    }
}

/// Writes what follows a type. In ID text the `?` follows the name.
pub(crate) fn write_need(need: &Need<'_>, out: &mut String) {
    match need {
        Need::Required | Need::Optional => {}
        Need::Nullable => out.push_str("|nil"),
        Need::Default(constant) => {
            out.push_str(" = ");
            write_constant(constant, out);
        }
    }
}

/// What follows the type where a `?` follows it too.
pub(crate) fn behind(need: &Need<'_>) -> String {
    let mut out = String::from(if matches!(need, Need::Optional) { "?" } else { "" });
    write_need(need, &mut out);
    out
}

/// Writes a constant as JSON.
pub(crate) fn write_constant(constant: &Expr<'_>, out: &mut String) {
    match constant.kind {
        ExprKind::Literal(Literal::Text(text)) => text::quote(text, out),
        ExprKind::Literal(Literal::Bool(value)) => out.push_str(if value { "true" } else { "false" }),
        ExprKind::Literal(Literal::Number(number)) => {
            let _ = ilo_spec::number::write(number, out);
        }
        ExprKind::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                write_constant(item, out);
            }
            out.push(']');
        }
        ExprKind::Record(fields) => {
            out.push('{');
            for (at, field) in fields.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                text::quote(field.name.text, out);
                out.push_str(": ");
                write_constant(&field.value, out);
            }
            out.push('}');
        }
        _ => out.push_str("null"),
    }
}

/// Whether a word is nil as a type or a constant, in some language.
pub(super) fn is_nil(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word == "nil" || foreign::word(foreign::Place::Type, &word) == Some("nil")
}
