//! Reads types, which have the same syntax in all notations: `list number`, `result order, text`, and of a
//! record that lists its fields `{id: number, "any name"?: text, lines: list {a: b}}`; and reads and writes
//! what follows the type of an input: `?`, `|nil`, `= constant`.
//!
//! The two types of a result are separated by a comma or a blank. Names of other languages are understood,
//! with a fix. The check and hosts use the fields of records; to a run such an input is a value of any type.
//! A constant is JSON; texts may have single quotes. In ID text the `?` follows the name.

use super::comment_cursor::{Cursor, is_parameter_char, is_type_char};
use crate::arena::Arena;
use crate::ast::{
    Expr, ExprKind, Field, FieldType, Literal, Name, Need, OutputName, TypeName, is_constant_of,
};
use crate::diagnostic::{Diagnostic, Diagnostics, twice};
use crate::document::{Entry, Node, NodeKind, inner, json, shown};
use crate::foreign::Place;
use crate::span::Span;
use crate::{foreign, text};
use ilo_spec::error::Code;
use ilo_spec::limits::RECORD_TYPES;
use ilo_spec::types::{Base, Type};

/// The words for lists.
const LISTS: &[&str] = &["list", "array"];

/// Reads types at a cursor.
pub(crate) struct TypeReader<'r, 'a> {
    pub(crate) cursor: Cursor<'a>,
    /// Whether it is the type of an input: a `?` may follow, and a record may list its fields.
    pub(crate) input: Option<&'a Arena>,
    /// The number of records around the type.
    pub(crate) depth: usize,
    pub(crate) diagnostics: &'r mut Diagnostics,
}

/// Reads a text that consists of an output type.
pub(crate) fn output_of<'a>(source: &'a str, text: Span, diagnostics: &mut Diagnostics) -> OutputName<'a> {
    let mut reader = TypeReader { cursor: Cursor::new(source, text), input: None, depth: 0, diagnostics };
    let found = reader.output();
    reader.end();
    found
}

impl<'a> TypeReader<'_, 'a> {
    /// Reports text after a type.
    pub(crate) fn end(&mut self) {
        self.cursor.skip_blanks();
        let rest = self.cursor.rest().trim_end();
        if !rest.is_empty() {
            let start = self.cursor.offset();
            let span = Span::new(start, start + u32::try_from(rest.len()).unwrap_or(0));
            self.diagnostics.push(
                Diagnostic::new(Code::BadType, span, "something follows the type")
                    .expected("the end of the type", format!("`{}`", crate::text::shorten(rest)))
                    .help("a type is one name, `list` and a type, or `result` and two types"),
            );
        }
    }

    /// Reads an output type: a type, or `result` and two types.
    pub(crate) fn output(&mut self) -> OutputName<'a> {
        self.cursor.skip_blanks();
        let start = self.cursor.offset();
        let mut ahead = self.cursor;
        if !ahead.take(is_type_char).eq_ignore_ascii_case("result") {
            let ok = self.ty("the function's type");
            return OutputName { ok, err: None, span: ok.span };
        }
        self.cursor = ahead;
        let brackets = ["<", "[", "("].iter().any(|open| self.cursor.rest().starts_with(open));
        self.cursor.skip(usize::from(brackets));
        let ok = self.ty("the type of success");
        self.cursor.skip_gap();
        let err = self.ty("the type of failure");
        if brackets {
            self.cursor.take(|c| matches!(c, '>' | ']' | ')'));
        }
        OutputName { ok, err: Some(err), span: self.cursor.since(start) }
    }

    /// Reads a type: any number of `list`, then a name. `list<text>` and `text[]` are lists too.
    pub(crate) fn ty(&mut self, what: &str) -> TypeName<'a> {
        self.cursor.skip_blanks();
        let start = self.cursor.offset();
        let mut ty = Type::ANY;
        let (mut lists, mut open) = (0_u32, 0_u32);
        loop {
            self.cursor.skip_blanks();
            let from = self.cursor.offset();
            let word = self.cursor.take(is_type_char);
            let span = self.cursor.since(from);
            if LISTS.iter().any(|list| word.eq_ignore_ascii_case(list)) {
                self.synonym(word, "list", span);
                lists += 1;
                if !self.cursor.rest().starts_with("[]") {
                    open += u32::from(self.cursor.eat('<') || self.cursor.eat('['));
                }
                continue;
            }
            let record = if word.is_empty() { self.record() } else { None };
            let whole = Span::new(start, self.cursor.offset().max(from));
            let whole = if word.is_empty() && record.is_none() { Span::new(start, from) } else { whole };
            let (fields, (base, name)) = match record {
                Some(fields) => (fields, (Base::Any, self.cursor.text(self.cursor.since(from)))),
                None => (&[][..], self.base(word, what, lists, whole, span)),
            };
            ty.base = base;
            lists += self.brackets_behind(open);
            let whole = Span::new(whole.start, whole.end.max(self.cursor.offset()));
            for _ in 0..lists {
                let Some(list) = ty.list() else {
                    let most = ilo_spec::limits::TYPE_LISTS;
                    let message = format!("this type nests {lists} lists, more than {most}");
                    self.diagnostics.push(
                        Diagnostic::new(Code::BadType, whole, message)
                            .expected(format!("at most {most} times `list`"), format!("{lists}")),
                    );
                    break;
                };
                ty = list;
            }
            return TypeName { ty, name, fields, span: whole };
        }
    }

    /// Takes what is behind the name of a type: the ends of `open` brackets, and `[]`, whose number it
    /// returns. Other brackets are reported.
    fn brackets_behind(&mut self, mut open: u32) -> u32 {
        let mut lists = 0;
        loop {
            if self.cursor.rest().starts_with("[]") {
                self.cursor.skip(2);
                lists += 1;
            } else if open > 0 && (self.cursor.eat('>') || self.cursor.eat(']')) {
                open -= 1;
            } else {
                break;
            }
        }
        let start = self.cursor.offset();
        if self.cursor.eat('<') || self.cursor.eat('[') {
            self.cursor.take(|c| !matches!(c, ')' | ';' | '>' | ']'));
            self.cursor.take(|c| matches!(c, '>' | ']'));
            let span = self.cursor.since(start);
            self.diagnostics.push(
                Diagnostic::new(Code::BadType, span, "only lists have brackets")
                    .expected("`list type`, or a name", self.cursor.text(span))
                    .help("the type of a record is a name, or lists its fields: `{id: number}`"),
            );
        }
        lists
    }

    /// The base type that a word names.
    fn base(&mut self, word: &'a str, what: &str, lists: u32, whole: Span, span: Span) -> (Base, &'a str) {
        if word.is_empty() && lists > 0 {
            let message = "a `list` without a type is read as `list any`";
            self.diagnostics.push(
                Diagnostic::new(Code::TypeSynonym, whole, message)
                    .replace(Span::at(whole.end), if whole.end > 0 { " any" } else { "any" }),
            );
            return (Base::Any, Base::Any.name());
        }
        if word.is_empty() || word.eq_ignore_ascii_case("result") {
            if !word.is_empty() {
                self.skip_result();
            }
            let message = if word.is_empty() {
                format!("{what} is missing")
            } else {
                format!("`result` is only for the type that a function returns, not for {what}")
            };
            let found = if word.is_empty() { "no type" } else { "`result`" };
            self.diagnostics.push(
                Diagnostic::new(Code::BadType, span, message)
                    .expected("`number`, `text`, `bool`, `nil`, `list …` or a record's name", found)
                    .help("a result function has the type `result ok-type, error-type`"),
            );
            return (Base::Any, Base::Any.name());
        }
        if let Some(&(base, name)) = Base::ALL.iter().find(|&&(_, name)| name == word) {
            return (base, name);
        }
        let exact = Base::ALL.iter().find(|&&(_, name)| name.eq_ignore_ascii_case(word));
        let upper = word.bytes().any(|byte| byte.is_ascii_uppercase());
        let meant = if upper {
            foreign::word(Place::Type, &word.to_ascii_lowercase())
        } else {
            foreign::word(Place::Type, word)
        };
        let synonym = Base::ALL.iter().find(|&&(_, name)| meant == Some(name));
        match exact.or(synonym).map(|&(base, _)| base) {
            Some(base) => {
                self.synonym(word, base.name(), span);
                (base, base.name())
            }
            None => (Base::Any, word),
        }
    }

    /// Skips the types after a misplaced `result`.
    fn skip_result(&mut self) {
        self.cursor.take(|c| is_type_char(c) || c.is_whitespace());
        let mut ahead = self.cursor;
        ahead.take(|c| c.is_whitespace() || c == ',');
        ahead.take(|c| is_type_char(c) || c.is_whitespace());
        if ahead.peek() != Some(':') {
            self.cursor = ahead;
        }
    }

    /// Warns about a name of another language.
    fn synonym(&mut self, word: &str, canonical: &str, span: Span) {
        if word != canonical && word != "num" {
            self.diagnostics.push(
                Diagnostic::new(Code::TypeSynonym, span, format!("`{word}` is read as `{canonical}`"))
                    .expected(format!("`{canonical}`"), format!("`{word}`"))
                    .replace(span, canonical),
            );
        }
    }

    /// Reads the type of a record with its fields, if it begins here and may.
    pub(super) fn record(&mut self) -> Option<&'a [FieldType<'a>]> {
        let arena = self.input?;
        let start = self.cursor.offset();
        if !self.cursor.eat('{') {
            return None;
        }
        self.depth += 1;
        let mut fields: Vec<FieldType<'a>> = Vec::new();
        let closed = loop {
            self.cursor.skip_gap();
            if self.cursor.eat('}') {
                break true;
            }
            if self.cursor.rest().is_empty() || self.depth > RECORD_TYPES {
                break false;
            }
            let Some(field) = self.field(arena) else { break false };
            if let Some(FieldType { name, .. }) = fields.iter().find(|it| it.name.text == field.name.text) {
                let what = format!("the field `{}`", name.text);
                self.diagnostics.push(twice(Code::DuplicateField, field.name.span, &what, name.span));
            }
            fields.push(field);
        };
        self.depth -= 1;
        if !closed {
            self.cursor.take(|c| c != '}');
            self.cursor.eat('}');
            let span = self.cursor.since(start);
            // One error is enough: what is around it cannot be read either.
            if self.depth == 0 {
                self.not_a_record(span);
            } else {
                return Some(&[]);
            }
        }
        Some(arena.alloc_slice_copy(&fields))
    }

    fn not_a_record(&mut self, span: Span) {
        let found = crate::text::shorten(self.cursor.text(span));
        self.diagnostics.push(
            Diagnostic::new(Code::BadType, span, "this is not the type of a record")
                .expected(format!("fields with their types, nested at most {RECORD_TYPES} deep"), found)
                .help("write `{id: number, lines: list {sku: text, note?: text}}`"),
        );
    }

    /// Reads `name: type`, `name?: type`, `name: type?` or `name: type|nil`.
    fn field(&mut self, arena: &'a Arena) -> Option<FieldType<'a>> {
        let start = self.cursor.offset();
        let text = self.cursor.name(is_parameter_char, arena, self.diagnostics)?;
        let name = Name { text, span: self.cursor.since(start) };
        self.cursor.skip_blanks();
        let mut optional = self.cursor.eat('?');
        self.cursor.skip_blanks();
        if !self.cursor.eat(':') {
            return None;
        }
        self.cursor.skip_blanks();
        if self.cursor.peek().is_none_or(|c| matches!(c, ',' | '}')) {
            return None;
        }
        let ty: TypeName<'a> = self.ty("a field's type");
        let mut nullable = false;
        loop {
            self.cursor.skip_blanks();
            if self.cursor.eat('?') {
                optional = true;
            } else if self.cursor.eat('|') {
                self.cursor.skip_blanks();
                let word = self.cursor.take(is_type_char);
                if !is_nil(word) {
                    return None;
                }
                nullable = true;
            } else {
                return Some(FieldType { name, ty, optional, nullable });
            }
        }
    }
}

/// The deepest nesting of a default.
const DEPTH: usize = 8;

/// What messages call the type of an input.
const OF_INPUT: &str = "an input's type";

const FORM: &str = "write `text?`, `text = \"x\"` or `text|nil`";

/// Reads a text that consists of the type of an input.
pub(crate) fn input_of<'a>(
    source: &'a str,
    text: Span,
    arena: &'a Arena,
    diagnostics: &mut Diagnostics,
) -> (TypeName<'a>, Need<'a>) {
    let cursor = Cursor::new(source, text);
    let mut reader = TypeReader { cursor, input: Some(arena), depth: 0, diagnostics };
    let found = reader.input(arena, false);
    reader.end();
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

impl<'a> TypeReader<'_, 'a> {
    /// Reads the type of an input and what follows it; `optional` if a `?` followed the name.
    pub(crate) fn input(&mut self, arena: &'a Arena, optional: bool) -> (TypeName<'a>, Need<'a>) {
        let mut ty = self.ty(OF_INPUT);
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
            match self.constant(arena) {
                Some(Expr { kind: ExprKind::Literal(Literal::Nil), .. }) => need = Need::Optional,
                Some(constant) => {
                    default_fits(&ty, &constant, self.diagnostics);
                    need = Need::Default(arena.alloc(constant));
                }
                None => {}
            }
        }
        (ty, need)
    }

    /// Reads what follows `|`: nil, or the type if nil came first, which is returned.
    fn alternative(&mut self, ty: &TypeName<'a>) -> Option<TypeName<'a>> {
        self.cursor.skip_blanks();
        let start = self.cursor.offset();
        let mut ahead = self.cursor;
        let word = ahead.take(is_type_char);
        if is_nil(word) {
            self.cursor = ahead;
            return None;
        }
        let nil_first = ty.ty == ilo_spec::types::Type::plain(Base::Nil);
        if nil_first && !word.is_empty() {
            return Some(self.ty(OF_INPUT));
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
    fn constant(&mut self, arena: &'a Arena) -> Option<Expr<'a>> {
        self.cursor.skip_blanks();
        let (source, start) = (self.cursor.source(), self.cursor.offset());
        let part = start as usize..start as usize + self.cursor.rest().len();
        if let Some((node, end)) = json::value(source, part, arena).filter(|(node, _)| is_flat(node, DEPTH)) {
            self.cursor.skip(end - start as usize);
            return Some(constant(&node, arena));
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
pub(crate) fn constant<'a>(node: &Node<'a>, arena: &'a Arena) -> Expr<'a> {
    let kind = match &node.kind {
        NodeKind::Null => ExprKind::Literal(Literal::Nil),
        NodeKind::Bool(value) => ExprKind::Literal(Literal::Bool(*value)),
        NodeKind::Number(number) => ExprKind::Literal(Literal::Number(*number)),
        NodeKind::Text(text) => ExprKind::Literal(Literal::Text(text.text)),
        NodeKind::List(items) => {
            ExprKind::List(arena.collect(items.iter().map(|item| constant(item, arena))))
        }
        NodeKind::Record(fields) => {
            let field = |entry: &Entry<'a>| {
                let text = match entry.key.kind {
                    NodeKind::Text(text) => text.text,
                    _ => arena.alloc_str(&shown(&entry.key)),
                };
                Field { name: Name { text, span: inner(&entry.key) }, value: constant(&entry.value, arena) }
            };
            ExprKind::Record(arena.collect(fields.iter().map(field)))
        }
    };
    Expr { kind, span: node.span }
}

/// Whether a value nests no deeper than this.
fn is_flat(node: &Node<'_>, depth: usize) -> bool {
    let inside = |node: &Node<'_>| depth > 0 && is_flat(node, depth - 1);
    match node.kind {
        NodeKind::List(items) => depth > 0 && items.iter().all(inside),
        NodeKind::Record(list) => depth > 0 && list.iter().all(|entry| inside(&entry.value)),
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
        ExprKind::Literal(literal) if !constant.is_nil() => out.push_str(&literal.written()),
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
