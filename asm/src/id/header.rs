//! The `; fn name(parameter: type, …) -> type` line and the types in it.
//!
//! A comment is a header when it begins with `fn`, a blank and a name that `(` follows, or holds `->`; so
//! `; fn is short for function` stays a comment.

use super::cursor::{Cursor, is_name_char};
use super::ids::repeated;
use crate::ast::{Name, OutputName, Parameter, TypeName};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;
use bumpalo::Bump;
use bumpalo::collections::Vec;
use ilo_spec::error::Code;
use ilo_spec::types::{Base, Type};

/// What a header says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header<'a> {
    pub(super) name: Name<'a>,
    pub(super) parameters: &'a [Parameter<'a>],
    pub(super) output: OutputName<'a>,
    /// What follows the header on its line: registries, or nothing.
    pub(super) rest: Cursor<'a>,
}

/// Names of bases in other languages. `list`'s are [`LISTS`].
const SYNONYMS: &[(&str, Base)] = &[
    ("string", Base::Text),
    ("str", Base::Text),
    ("boolean", Base::Bool),
    ("int", Base::Number),
    ("integer", Base::Number),
    ("float", Base::Number),
    ("double", Base::Number),
    ("decimal", Base::Number),
    ("num", Base::Number),
    ("null", Base::Nil),
    ("none", Base::Nil),
    ("void", Base::Nil),
    ("unit", Base::Nil),
];
const LISTS: &[&str] = &["list", "array"];

/// Whether a comment is the header of a function.
pub(super) fn is_header(source: &str, comment: Span) -> bool {
    // Most comments differ here already.
    let bytes = source.as_bytes().get(comment.range()).unwrap_or_default();
    let first = bytes.iter().find(|byte| !matches!(byte, b';' | b' ' | b'\t'));
    if !first.is_some_and(|first| matches!(first, b'f' | b'F' | b'd') || !first.is_ascii()) {
        return false;
    }
    let mut cursor = Cursor::new(source, comment);
    let keyword = cursor.take(|c| c.is_ascii_alphabetic());
    let strict = match keyword {
        "fn" => false,
        "Fn" | "FN" | "function" | "func" | "def" => true,
        _ => return false,
    };
    if !matches!(cursor.peek(), Some(' ' | '\t')) {
        return false;
    }
    cursor.skip_blanks();
    let arrow = cursor.rest().contains("->");
    if cursor.peek() == Some('"') {
        return arrow;
    }
    let name = cursor.take(is_name_char);
    cursor.skip_blanks();
    let opens = !name.is_empty() && cursor.peek() == Some('(');
    if strict { opens && arrow } else { opens || arrow || (!name.is_empty() && cursor.rest().is_empty()) }
}

/// Reads a header; says what is wrong with it and gives back what could be read.
pub(super) fn read<'a>(
    source: &'a str,
    comment: Span,
    arena: &'a Bump,
    diagnostics: &mut Diagnostics,
) -> Header<'a> {
    let mut reader = Reader { cursor: Cursor::new(source, comment), arena, diagnostics, span: comment };
    let start = reader.cursor.offset();
    let keyword = reader.cursor.take(|c| c.is_ascii_alphabetic());
    let keyword_span = reader.cursor.since(start);
    if keyword != "fn" {
        let wrong = bad(keyword_span, format!("`{keyword}` begins no function"), "`fn`", keyword);
        reader.diagnostics.push(wrong.nearest(Some("fn")).replace(keyword_span, "fn"));
    }
    reader.cursor.skip_blanks();
    let start = reader.cursor.offset();
    let text = reader.cursor.name(is_name_char, arena, reader.diagnostics).unwrap_or("");
    let name = Name { text, span: reader.cursor.since(start) };
    if text.is_empty() {
        let wrong = bad(name.span, "the function has no name", "a name", "no name");
        reader.diagnostics.push(wrong);
    }
    let parameters = reader.parameters();
    let output = reader.output();
    let rest = reader.rest();
    Header { name, parameters, output, rest }
}

/// The form of a header, for help.
const FORM: &str = "write `; fn name(first: type, second: type) -> type`";

fn bad(span: Span, message: impl Into<String>, expected: &str, found: &str) -> Diagnostic {
    let shown: String = found.chars().take(40).collect();
    Diagnostic::new(Code::BadHeader, span, message).expected(expected, shown).help(FORM)
}

struct Reader<'r, 'a> {
    cursor: Cursor<'a>,
    arena: &'a Bump,
    diagnostics: &'r mut Diagnostics,
    span: Span,
}

impl<'a> Reader<'_, 'a> {
    /// A diagnostic about what stands here.
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

    /// Reads the parameters, no two of one name.
    fn parameters(&mut self) -> &'a [Parameter<'a>] {
        let parameters = self.parameter_list().into_bump_slice();
        repeated(
            parameters,
            |parameter| parameter.name,
            |name, before| {
                self.diagnostics.push(
                    Diagnostic::new(
                        Code::DuplicateParameter,
                        name.span,
                        format!("two parameters are called `{}`", name.text),
                    )
                    .expected("a name that is free", name.text)
                    .related(before, "first here")
                    .help("rename one of them"),
                );
            },
        );
        parameters
    }

    fn parameter_list(&mut self) -> Vec<'a, Parameter<'a>> {
        let mut parameters = Vec::new_in(self.arena);
        self.cursor.skip_blanks();
        if !self.cursor.eat('(') {
            let wrong = self.bad_here("the parameters stand in parentheses", "`(`");
            self.diagnostics.push(wrong);
            // Go on after the arrow, where there is one.
            let arrow = self.cursor.rest().find("->").unwrap_or(self.cursor.rest().len());
            self.cursor.skip(arrow);
            return parameters;
        }
        loop {
            self.cursor.take(|c| c.is_whitespace() || c == ',');
            if self.cursor.eat(')') {
                return parameters;
            }
            if self.cursor.rest().is_empty() || self.cursor.rest().starts_with("->") {
                let wrong = self.bad_here("the parameters are not closed", "`)`");
                let at = Span::at(self.cursor.offset());
                self.diagnostics.push(wrong.replace(at, ")"));
                return parameters;
            }
            let Some(parameter) = self.parameter() else { continue };
            parameters.push(parameter);
        }
    }

    /// Reads `name: type`; `None` after something that is none.
    fn parameter(&mut self) -> Option<Parameter<'a>> {
        let start = self.cursor.offset();
        let bare = |c: char| is_name_char(c) && c != ':';
        let Some(text) = self.cursor.name(bare, self.arena, self.diagnostics) else {
            let wrong = self.bad_here("this is no parameter", "`name: type`");
            self.diagnostics.push(wrong);
            let skipped = self.cursor.take(|c| !c.is_whitespace() && !matches!(c, ',' | ')'));
            if skipped.is_empty() {
                self.cursor.skip(self.cursor.peek().map_or(0, char::len_utf8));
            }
            return None;
        };
        let name = Name { text, span: self.cursor.since(start) };
        self.cursor.skip_blanks();
        if !self.cursor.eat(':') {
            let message = format!("parameter `{text}` has no type");
            let wrong =
                bad(name.span, message, "`:` and a type", self.cursor.peek().map_or("", |_| "no type"));
            self.diagnostics.push(wrong.help(format!("write `{text}: text`, or another type")));
            self.cursor.take(|c| !matches!(c, ',' | ')'));
            return Some(Parameter { name, ty: TypeName::implied(Base::Any, name.span) });
        }
        let ty = self.ty("a parameter's type");
        Some(Parameter { name, ty })
    }

    fn output(&mut self) -> OutputName<'a> {
        self.cursor.skip_blanks();
        let start = self.cursor.offset();
        let none = |span| OutputName { ok: TypeName::implied(Base::Any, span), err: None, span };
        let rest = self.cursor.rest();
        let wrong_arrow = ["=>", ":", "→"].into_iter().find(|arrow| rest.starts_with(arrow));
        if let Some(arrow) = wrong_arrow {
            self.cursor.skip(arrow.len());
            let span = self.cursor.since(start);
            let wrong = bad(span, "the arrow is written `->`", "`->`", arrow);
            self.diagnostics.push(wrong.replace(span, if arrow == ":" { " ->" } else { "->" }));
        } else if rest.starts_with("->") {
            self.cursor.skip(2);
        } else {
            let wrong = self.bad_here("the function's type is missing", "`->` and a type");
            self.diagnostics.push(wrong.help("write `-> type`; `-> nil` where it gives nothing back"));
            return none(Span::at(start));
        }
        self.cursor.skip_blanks();
        let start = self.cursor.offset();
        let mut ahead = self.cursor;
        if !ahead.take(is_type_char).eq_ignore_ascii_case("result") {
            let ok = self.ty("the function's type");
            return OutputName { ok, err: None, span: ok.span };
        }
        if self.cursor.rest().starts_with("Result") || self.cursor.rest().starts_with("RESULT") {
            let span = ahead.since(start);
            self.diagnostics.push(
                Diagnostic::new(Code::TypeSynonym, span, "this is read as `result`").replace(span, "result"),
            );
        }
        self.cursor = ahead;
        let bracket = self.cursor.peek().filter(|c| matches!(c, '<' | '[' | '('));
        if bracket.is_some() {
            self.bracketed_result(start);
        }
        let ok = self.ty("the type of success");
        self.cursor.take(|c| c.is_whitespace() || c == ',');
        let err = self.ty("the type of failure");
        if bracket.is_some() {
            self.cursor.take(|c| matches!(c, '>' | ']' | ')'));
        }
        OutputName { ok, err: Some(err), span: self.cursor.since(start) }
    }

    /// Says how `result<a, b>` is written, and goes on inside.
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
    fn ty(&mut self, what: &str) -> TypeName<'a> {
        self.cursor.skip_blanks();
        let start = self.cursor.offset();
        let mut ty = Type::ANY;
        let mut lists = 0_u32;
        loop {
            self.cursor.skip_blanks();
            let from = self.cursor.offset();
            let word = self.cursor.take(is_type_char);
            let span = self.cursor.since(from);
            if self.cursor.peek().is_some_and(|c| matches!(c, '<' | '[' | '?')) {
                return self.foreign_type(start, word);
            }
            if LISTS.iter().any(|list| word.eq_ignore_ascii_case(list)) {
                self.synonym(word, "list", span);
                lists += 1;
                continue;
            }
            let whole = Span::new(start, if word.is_empty() { from } else { span.end });
            let (base, name) = self.base(word, what, lists, whole, span);
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
            return TypeName { ty, name, span: whole };
        }
    }

    /// The base that a word under `list`s names.
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
                format!("`result` stands only directly after `->`, not as {what}")
            };
            let found = if word.is_empty() { "no type" } else { "`result`" };
            self.diagnostics.push(
                Diagnostic::new(Code::BadType, span, message)
                    .expected("`number`, `text`, `bool`, `nil`, `list …` or a record's name", found)
                    .help("a result function is `-> result ok-type, error-type`"),
            );
            return (Base::Any, Base::Any.name());
        }
        if let Some(&(base, name)) = Base::ALL.iter().find(|&&(_, name)| name == word) {
            return (base, name);
        }
        let exact = Base::ALL.iter().find(|&&(_, name)| name.eq_ignore_ascii_case(word));
        let synonym = || SYNONYMS.iter().find(|&&(name, _)| name.eq_ignore_ascii_case(word));
        match exact.map(|&(base, _)| base).or_else(|| synonym().map(|&(_, base)| base)) {
            Some(base) => {
                self.synonym(word, base.name(), span);
                (base, base.name())
            }
            None => (Base::Any, word),
        }
    }

    /// Passes the types after a `result` that stands in a wrong place.
    fn skip_result(&mut self) {
        self.cursor.take(|c| is_type_char(c) || c.is_whitespace());
        let mut ahead = self.cursor;
        ahead.take(|c| c.is_whitespace() || c == ',');
        ahead.take(|c| is_type_char(c) || c.is_whitespace());
        if ahead.peek() != Some(':') {
            self.cursor = ahead;
        }
    }

    /// Warns of a name from another language.
    fn synonym(&mut self, word: &str, canonical: &str, span: Span) {
        if word != canonical && word != "num" {
            self.diagnostics.push(
                Diagnostic::new(Code::TypeSynonym, span, format!("`{word}` is read as `{canonical}`"))
                    .expected(format!("`{canonical}`"), format!("`{word}`"))
                    .replace(span, canonical),
            );
        }
    }

    /// `list<text>`, `text[]` and `text?`: an error that says how it is written.
    fn foreign_type(&mut self, start: u32, word: &'a str) -> TypeName<'a> {
        let open = self.cursor.peek();
        self.cursor.skip(1);
        let inner = self.cursor.take(is_type_char);
        let is_list = LISTS.iter().any(|list| word.eq_ignore_ascii_case(list));
        let simple = self.cursor.peek().is_some_and(|c| matches!(c, '>' | ']'));
        let mend = match open {
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
        self.diagnostics.push(match mend {
            Some(mend) => wrong.replace(span, mend),
            None => wrong,
        });
        TypeName::implied(Base::Any, span)
    }

    /// What stands after the type: the start of a registry, or something that should not be there.
    fn rest(&mut self) -> Cursor<'a> {
        self.cursor.skip_blanks();
        self.cursor.take(|c| c.is_whitespace() || c == ';');
        let rest = self.cursor.rest();
        let is_registry =
            rest.is_empty() || rest.split_whitespace().next().is_some_and(|word| word.ends_with(':'));
        if !is_registry {
            let at = self.cursor.offset();
            let span = Span::new(at, self.span.end);
            let wrong = bad(span, "something follows the function's type", "the end of the line", rest);
            self.diagnostics.push(wrong.help("put comments on a line of their own"));
            self.cursor.skip(rest.len());
        }
        self.cursor
    }
}

fn is_type_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}
