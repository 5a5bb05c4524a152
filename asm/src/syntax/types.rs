//! Reads types, which have the same syntax in all notations: `list number`, `result order, text`.
//!
//! The two types of a result are separated by a comma or a blank. Names of other languages are understood,
//! with a fix.

use super::comment_cursor::{Cursor, Run};
use crate::ast::{OutputName, TypeName};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::foreign::{self, Place};
use crate::span::Span;
use bumpalo::Bump;
use ilo_spec::error::Code;
use ilo_spec::types::{Base, Type};

/// The words for lists.
const LISTS: &[&str] = &["list", "array"];

/// Reads types at a cursor.
pub(crate) struct TypeReader<'r, 'a> {
    pub(crate) cursor: Cursor<'a>,
    /// Whether it is the type of an input: a `?` may follow, and a record may list its fields.
    pub(crate) input: Option<&'a Bump>,
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
        if !ahead.run(Run::Type).eq_ignore_ascii_case("result") {
            let ok = self.ty("the function's type");
            return OutputName { ok, err: None, span: ok.span };
        }
        self.cursor = ahead;
        let brackets = ["<", "[", "("].iter().any(|open| self.cursor.rest().starts_with(open));
        self.cursor.skip(usize::from(brackets));
        let ok = self.ty("the type of success");
        self.cursor.run(Run::Gap);
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
            let word = self.cursor.run(Run::Type);
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
}

fn is_type_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}
