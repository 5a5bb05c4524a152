//! Reads and writes the header of a function: the line `; fn name(parameter: type, …) -> type`.
//!
//! A comment is a header if it begins with `fn` and a name, and then ends, or goes on with `(`, or contains
//! `->`. With the words of other languages for `fn` it needs both signs.

use super::comment_cursor::{Cursor, is_name_char, is_parameter_char};
use super::types::{TypeReader, write_need};
use crate::arena::Arena;
use crate::ast::{Name, Need, OutputName, Parameter, TypeName};
use crate::diagnostic::{Diagnostic, Diagnostics, repeated, twice};
use crate::span::Span;
use crate::text;
use bumpalo::collections::Vec;
use ilo_spec::error::Code;
use ilo_spec::types::Base;

/// The contents of a header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionHeader<'a> {
    pub(crate) name: Name<'a>,
    pub(crate) parameters: &'a [Parameter<'a>],
    pub(crate) output: OutputName<'a>,
    /// The rest of the line after the header: registries, or nothing.
    pub(crate) rest: Cursor<'a>,
}

/// Whether a comment is the header of a function.
pub(crate) fn is_header(source: &str, comment: Span) -> bool {
    // This excludes most comments.
    let bytes = source.as_bytes().get(comment.range()).unwrap_or_default();
    let may_begin = |byte: &u8| matches!(byte, b'f' | b'F' | b'd') || !byte.is_ascii();
    if !bytes.iter().find(|byte| !matches!(byte, b';' | b' ' | b'\t')).is_some_and(may_begin) {
        return false;
    }
    let mut cursor = Cursor::new(source, comment);
    let keyword = cursor.letters();
    let strict = match keyword {
        "fn" => false,
        "Fn" | "FN" | "function" | "func" | "def" => true,
        _ => return false,
    };
    if !matches!(cursor.peek(), Some(' ' | '\t')) {
        return false;
    }
    cursor.skip_blanks();
    let rest = cursor.rest();
    let arrow = || rest.contains("->");
    if cursor.peek() == Some('"') {
        return arrow();
    }
    let name = cursor.take(is_name_char);
    cursor.skip_blanks();
    let opens = !name.is_empty() && cursor.peek() == Some('(');
    if strict { opens && arrow() } else { opens || arrow() || (!name.is_empty() && cursor.rest().is_empty()) }
}

/// Reads a header. Errors are reported, and what could be read is returned.
pub(crate) fn read<'a>(
    source: &'a str,
    comment: Span,
    arena: &'a Arena,
    diagnostics: &mut Diagnostics,
) -> FunctionHeader<'a> {
    let (cursor, input) = (Cursor::new(source, comment), Some(arena));
    let mut reader = TypeReader { cursor, input, depth: 0, diagnostics };
    reader.cursor.letters();
    reader.cursor.skip_blanks();
    let start = reader.cursor.offset();
    let text = reader.cursor.name(is_name_char, arena, reader.diagnostics).unwrap_or("");
    let name = Name { text, span: reader.cursor.since(start) };
    if text.is_empty() {
        let wrong = bad(name.span, "the function has no name", "a name", "no name");
        reader.diagnostics.push(wrong);
    }
    let parameters = reader.parameters(arena);
    reader.input = None;
    let output = reader.output_behind();
    let rest = reader.behind_header(comment.end);
    FunctionHeader { name, parameters, output, rest }
}

/// The syntax of a header, for help.
const FORM: &str = "write `; fn name(first: type, second: type) -> type`";

fn bad(span: Span, message: impl Into<String>, expected: &str, found: &str) -> Diagnostic {
    let shown = crate::text::shorten(found);
    Diagnostic::new(Code::BadHeader, span, message).expected(expected, shown).help(FORM)
}

impl<'a> TypeReader<'_, 'a> {
    /// A diagnostic about the text at the cursor.
    fn bad_here(&self, message: &str, expected: &str) -> Diagnostic {
        let mut after = self.cursor;
        let start = after.offset();
        let word = after.take(|c| !c.is_whitespace() && !matches!(c, ',' | ')'));
        let found =
            if word.is_empty() { after.peek().map_or(String::new(), String::from) } else { word.to_owned() };
        let span = after.since(start);
        let found = if found.is_empty() { "the end of the line" } else { &found };
        bad(span, message, expected, found)
    }

    /// Reads the parameters, whose names must be distinct.
    fn parameters(&mut self, arena: &'a Arena) -> &'a [Parameter<'a>] {
        let parameters = self.parameter_list(arena).into_bump_slice();
        repeated(
            parameters,
            |parameter| (parameter.name.text, parameter.name.span),
            |_, Parameter { name, .. }, before| {
                let what = format!("the parameter `{}`", name.text);
                self.diagnostics.push(twice(Code::DuplicateParameter, name.span, &what, before));
            },
        );
        parameters
    }

    fn parameter_list(&mut self, arena: &'a Arena) -> Vec<'a, Parameter<'a>> {
        let mut parameters = Vec::new_in(&arena.0);
        self.cursor.skip_blanks();
        if !self.cursor.eat('(') {
            let wrong = self.bad_here("the parameters are in parentheses", "`(`");
            self.diagnostics.push(wrong);
            // Continue after the arrow, if there is one.
            let arrow = self.cursor.rest().find("->").unwrap_or(self.cursor.rest().len());
            self.cursor.skip(arrow);
            return parameters;
        }
        loop {
            self.cursor.skip_gap();
            if self.cursor.eat(')') {
                return parameters;
            }
            if self.cursor.rest().is_empty() || self.cursor.rest().starts_with("->") {
                let wrong = self.bad_here("the parameters are not closed", "`)`");
                let at = Span::at(self.cursor.offset());
                self.diagnostics.push(wrong.replace(at, ")"));
                return parameters;
            }
            let Some(parameter) = self.parameter(arena) else { continue };
            parameters.push(parameter);
        }
    }

    /// Reads `name: type`; `None` if there is none.
    fn parameter(&mut self, arena: &'a Arena) -> Option<Parameter<'a>> {
        let start = self.cursor.offset();
        let Some(text) = self.cursor.name(is_parameter_char, arena, self.diagnostics) else {
            let wrong = self.bad_here("this is not a parameter", "`name: type`");
            self.diagnostics.push(wrong);
            let skipped = self.cursor.take(|c| !c.is_whitespace() && !matches!(c, ',' | ')'));
            if skipped.is_empty() {
                self.cursor.skip(self.cursor.peek().map_or(0, char::len_utf8));
            }
            return None;
        };
        let name = Name { text, span: self.cursor.since(start) };
        self.cursor.skip_blanks();
        let optional = self.cursor.eat('?');
        if optional {
            self.cursor.skip_blanks();
        }
        if !self.cursor.eat(':') {
            let message = format!("parameter `{text}` has no type");
            let wrong =
                bad(name.span, message, "`:` and a type", self.cursor.peek().map_or("", |_| "no type"));
            self.diagnostics.push(wrong.help(format!("write `{text}: text`, or another type")));
            self.cursor.take(|c| !matches!(c, ',' | ')'));
            let ty = TypeName::implied(Base::Any, name.span);
            return Some(Parameter { name, ty, need: Need::Required });
        }
        let (ty, need) = self.input(arena, optional);
        Some(Parameter { name, ty, need })
    }

    /// Reads the arrow and the output type behind it.
    fn output_behind(&mut self) -> OutputName<'a> {
        self.cursor.skip_blanks();
        let start = self.cursor.offset();
        let none = |span| OutputName { ok: TypeName::implied(Base::Any, span), err: None, span };
        let rest = self.cursor.rest();
        if let Some(arrow) = ["->", "=>", ":", "→"].into_iter().find(|arrow| rest.starts_with(arrow)) {
            self.cursor.skip(arrow.len());
        } else {
            let wrong = self.bad_here("the function's type is missing", "`->` and a type");
            self.diagnostics.push(wrong.help("write `-> type`; `-> nil` if it returns nothing"));
            return none(Span::at(start));
        }
        self.output()
    }

    /// Handles what follows the type: the start of a registry, or an error.
    fn behind_header(&mut self, end: u32) -> Cursor<'a> {
        self.cursor.skip_blanks();
        self.cursor.take(|c| c.is_whitespace() || c == ';');
        let rest = self.cursor.rest();
        let is_registry =
            rest.is_empty() || rest.split_whitespace().next().is_some_and(|word| word.ends_with(':'));
        if !is_registry {
            let at = self.cursor.offset();
            let span = Span::new(at, end);
            let wrong = bad(span, "something follows the function's type", "the end of the line", rest);
            self.diagnostics.push(wrong.help("put comments on a line of their own"));
            self.cursor.skip(rest.len());
        }
        self.cursor
    }
}

/// Writes the header of a function, without the end of its line.
pub(crate) fn write_header(
    name: &Name<'_>,
    parameters: &[Parameter<'_>],
    output: &OutputName<'_>,
    out: &mut String,
) {
    out.push_str("; fn ");
    write_name(name.text, out);
    out.push('(');
    for (index, parameter) in parameters.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { ", " });
        write_parameter(parameter.name.text, out);
        out.push_str(if matches!(parameter.need, Need::Optional) { "?: " } else { ": " });
        write_type(&parameter.ty, out);
        write_need(&parameter.need, out);
    }
    out.push_str(") -> ");
    write_output(output, out);
}

/// Writes an output type.
pub(crate) fn write_output(output: &OutputName<'_>, out: &mut String) {
    if let Some(err) = &output.err {
        out.push_str("result ");
        write_type(&output.ok, out);
        out.push_str(", ");
        write_type(err, out);
    } else {
        write_type(&output.ok, out);
    }
}

/// Writes the name of a function or of an entry of a registry, quoted if necessary.
pub(crate) fn write_name(name: &str, out: &mut String) {
    bare_or_quoted(name, is_name_char, out);
}

/// Writes the name of a parameter or of a field in a type, quoted if necessary.
pub(crate) fn write_parameter(name: &str, out: &mut String) {
    bare_or_quoted(name, is_parameter_char, out);
}

fn write_type(ty: &TypeName<'_>, out: &mut String) {
    for _ in 0..ty.ty.lists {
        out.push_str("list ");
    }
    out.push_str(ty.name);
}

fn bare_or_quoted(name: &str, bare: impl Fn(char) -> bool, out: &mut String) {
    if !name.is_empty() && name.chars().all(bare) {
        out.push_str(name);
    } else {
        text::quote(name, out);
    }
}
