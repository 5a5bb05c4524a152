//! Reads the type of a record that lists its fields: `{id: number, "any name"?: text, lines: list {a: b}}`.
//!
//! The check and hosts use the fields; to a run such an input is a value of any type.

use super::comment_cursor::Run;
use super::inputs::is_nil;
use super::types::TypeReader;
use crate::ast::{FieldType, Name, TypeName};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::limits::RECORD_TYPES as DEPTH;

impl<'a> TypeReader<'_, 'a> {
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
            self.cursor.run(Run::Gap);
            if self.cursor.eat('}') {
                break true;
            }
            if self.cursor.rest().is_empty() || self.depth > DEPTH {
                break false;
            }
            let Some(field) = self.field(arena) else { break false };
            if fields.iter().any(|other| other.name.text == field.name.text) {
                let message = format!("the field `{}` is there twice", field.name.text);
                self.diagnostics.push(Diagnostic::new(Code::DuplicateField, field.name.span, message));
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
                .expected(format!("fields with their types, nested at most {DEPTH} deep"), found)
                .help("write `{id: number, lines: list {sku: text, note?: text}}`"),
        );
    }

    /// Reads `name: type`, `name?: type`, `name: type?` or `name: type|nil`.
    fn field(&mut self, arena: &'a bumpalo::Bump) -> Option<FieldType<'a>> {
        let start = self.cursor.offset();
        let text = self.cursor.name(Run::Parameter, arena, self.diagnostics)?;
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
                let word = self.cursor.run(Run::Type);
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
