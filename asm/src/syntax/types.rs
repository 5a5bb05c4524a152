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
        let bracket = ahead.peek().filter(|c| matches!(c, '<' | '[' | '('));
        let other = self.cursor.rest().starts_with("Result") || self.cursor.rest().starts_with("RESULT");
        if other && bracket.is_none() {
            let span = ahead.since(start);
            self.diagnostics.push(
                Diagnostic::new(Code::TypeSynonym, span, "this is read as `result`").replace(span, "result"),
            );
        }
        self.cursor = ahead;
        if bracket.is_some() {
            self.bracketed_result(start);
        }
        let ok = self.ty("the type of success");
        self.cursor.run(Run::Gap);
        let err = self.ty("the type of failure");
        if bracket.is_some() {
            self.cursor.take(|c| matches!(c, '>' | ']' | ')'));
        }
        OutputName { ok, err: Some(err), span: self.cursor.since(start) }
    }

    /// Reports `result<a, b>` with the correct form, and continues inside it.
    fn bracketed_result(&mut self, start: u32) {
        let mut inside = self.cursor;
        inside.skip(1);
        let mut end = inside;
        let types = end.take(|c| !matches!(c, '>' | ']' | ')' | ';'));
        end.take(|c| matches!(c, '>' | ']' | ')'));
        self.diagnostics.push(
            Diagnostic::new(Code::BadType, end.since(start), "`result` takes its types without brackets")
                .expected("`result ok-type, error-type`", "brackets")
                .replace(end.since(start), format!("result {}", types.trim())),
        );
        self.cursor = inside;
    }

    /// Reads a type: any number of `list`, then a name.
    pub(crate) fn ty(&mut self, what: &str) -> TypeName<'a> {
        self.cursor.skip_blanks();
        let start = self.cursor.offset();
        let mut ty = Type::ANY;
        let mut lists = 0_u32;
        loop {
            self.cursor.skip_blanks();
            let from = self.cursor.offset();
            let word = self.cursor.run(Run::Type);
            let span = self.cursor.since(from);
            let brackets =
                |c| matches!(c, '<' | '[') || (c == '?' && (self.input.is_none() || word.is_empty()));
            if self.cursor.peek().is_some_and(brackets) {
                return self.bracketed_type(start, word);
            }
            if LISTS.iter().any(|list| word.eq_ignore_ascii_case(list)) {
                self.synonym(word, "list", span);
                lists += 1;
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

    /// `list<text>`, `text[]` and `text?`: an error with the correct form.
    fn bracketed_type(&mut self, start: u32, word: &'a str) -> TypeName<'a> {
        let open = self.cursor.peek();
        self.cursor.skip(1);
        let inner = self.cursor.run(Run::Type);
        let is_list = LISTS.iter().any(|list| word.eq_ignore_ascii_case(list));
        let simple = self.cursor.peek().is_some_and(|c| matches!(c, '>' | ']'));
        let fix = match open {
            Some('[') if simple && inner.is_empty() && !word.is_empty() => Some(format!("list {word}")),
            Some('<' | '[') if simple && is_list && !inner.is_empty() => Some(format!("list {inner}")),
            _ => None,
        };
        let mut depth = usize::from(open != Some('?'));
        self.cursor.take(|c| !matches!(c, ',' | ')' | ';' | '>' | ']'));
        while depth > 0 && self.cursor.peek().is_some_and(|c| matches!(c, '>' | ']')) {
            self.cursor.skip(1);
            depth -= 1;
        }
        self.cursor.take(|c| matches!(c, '>' | ']' | '[' | '?'));
        let span = self.cursor.since(start);
        let wrong = Diagnostic::new(Code::BadType, span, "types have no brackets and no `?`")
            .expected("`list type`, or a name", self.cursor.text(span))
            .help("a list of texts is `list text`; a value that may be nil has its plain type's name");
        self.diagnostics.push(match fix {
            Some(fix) => wrong.replace(span, fix),
            None => wrong,
        });
        TypeName::implied(Base::Any, span)
    }
}

fn is_type_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}
