//! Reads and writes what follows the type of an input: `?`, `|nil`, `= constant`.
//!
//! A constant is JSON; texts may have single quotes. In ID text the `?` follows the name.

use super::comment_cursor::{Cursor, Run};
use super::types::TypeReader;
use crate::ast::{Expr, ExprKind, Field, Literal, Name, Need, TypeName, is_constant_of};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::foreign;
use crate::span::Span;
use crate::text;
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
            match self.constant(DEPTH) {
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
    fn constant(&mut self, depth: usize) -> Option<Expr<'a>> {
        self.cursor.skip_blanks();
        let start = self.cursor.offset();
        let kind = match self.cursor.peek() {
            Some('"' | '\'') => self.quoted().map(|text| ExprKind::Literal(Literal::Text(text))),
            Some('[') if depth > 0 => self.list(depth - 1),
            Some('{') if depth > 0 => self.record(depth - 1),
            _ => self.word().map(ExprKind::Literal),
        };
        if kind.is_none() {
            self.cursor.take(|c| !matches!(c, ',' | ')'));
        }
        let span = self.cursor.since(start);
        if kind.is_none() {
            let found = text::shorten(self.cursor.text(span));
            let found = if found.is_empty() { "nothing".to_owned() } else { found };
            self.diagnostics.push(
                Diagnostic::new(Code::BadType, span, "the default is not a constant")
                    .expected("a number, a text in quotes, `true`, `false`, a list or a record", found)
                    .help(FORM),
            );
        }
        kind.map(|kind| Expr { kind, span })
    }

    /// A number, a bool or nil.
    fn word(&mut self) -> Option<Literal<'a>> {
        let word = self.cursor.take(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.'));
        match word {
            "true" | "True" => return Some(Literal::Bool(true)),
            "false" | "False" => return Some(Literal::Bool(false)),
            nil if is_nil(nil) => return Some(Literal::Nil),
            _ => {}
        }
        if !word.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return None;
        }
        ilo_spec::number::parse(word).ok().map(Literal::Number)
    }

    /// A text in quotes. A single quote inside single quotes is doubled.
    fn quoted(&mut self) -> Option<&'a str> {
        if self.cursor.peek() == Some('"') {
            return self.cursor.name(Run::Name, self.arena, self.diagnostics);
        }
        self.cursor.skip(1);
        let rest = self.cursor.rest();
        let mut at = 0;
        let end = loop {
            let close = at + rest.get(at..)?.find('\'')?;
            if rest.as_bytes().get(close + 1) != Some(&b'\'') {
                break close;
            }
            at = close + 2;
        };
        let inside = rest.get(..end)?;
        self.cursor.skip(end + 1);
        Some(if at == 0 { inside } else { self.arena.alloc_str(&inside.replace("''", "'")) })
    }

    fn list(&mut self, depth: usize) -> Option<ExprKind<'a>> {
        self.cursor.skip(1);
        let mut items = Vec::new();
        loop {
            self.cursor.skip_blanks();
            if self.cursor.eat(']') {
                return Some(ExprKind::List(self.arena.alloc_slice_copy(&items)));
            }
            if !items.is_empty() && !self.cursor.eat(',') {
                return None;
            }
            items.push(self.constant(depth)?);
        }
    }

    fn record(&mut self, depth: usize) -> Option<ExprKind<'a>> {
        self.cursor.skip(1);
        let mut fields: Vec<Field<'a>> = Vec::new();
        loop {
            self.cursor.skip_blanks();
            if self.cursor.eat('}') {
                return Some(ExprKind::Record(self.arena.alloc_slice_copy(&fields)));
            }
            if !fields.is_empty() && !self.cursor.eat(',') {
                return None;
            }
            self.cursor.skip_blanks();
            let start = self.cursor.offset();
            let text = match self.cursor.peek() {
                Some('"' | '\'') => self.quoted()?,
                _ => Some(self.cursor.run(Run::Parameter)).filter(|name| !name.is_empty())?,
            };
            let name = Name { text, span: self.cursor.since(start) };
            self.cursor.skip_blanks();
            let repeated = fields.iter().any(|field| field.name.text == text);
            if repeated || !self.cursor.eat(':') {
                return None;
            }
            fields.push(Field { name, value: self.constant(depth)? });
        }
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
