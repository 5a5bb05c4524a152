//! Parses numbers: slots, tools, fields and counts; also names in their positions.

use super::messages::{PATH, PREFIX, count_range, form};
use super::parser::Parser;
use super::state::Stop;
use crate::ast::{Name, Slot};
use crate::diagnostic::Diagnostic;
use crate::foreign::{self, Place};
use crate::span::Span;
use crate::syntax::lexer::{Kind, NO_VALUE, Token};
use crate::syntax::registry;
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::node::Place::Expression;
use ilo_spec::node::Word;

impl<'a> Parser<'_, 'a> {
    /// Reads the slot of `of`.
    pub(crate) fn slot(&mut self, of: Word) -> Result<(Slot, Span), Stop> {
        let start = self.state.current.start;
        let number = self.slot_number(of)?;
        Ok((self.names.slot(number), Span::new(start, self.state.last_end)))
    }

    /// Adds that the missing operand may have become part of a MERGE, if that is so.
    pub(crate) fn merge_help(&self, wrong: Diagnostic, of: Word) -> Diagnostic {
        if self.state.merge_end == Some(self.state.at) || of == Word::Merge {
            wrong.help(
                "MERGE takes pairs as long as an integer follows; where a count or another pair must follow it, write how \
                 many it takes after the word, as in `MERGE 1 REF …`",
            )
        } else {
            wrong
        }
    }

    /// Reads the number of the slot of `of`.
    #[inline]
    fn slot_number(&mut self, of: Word) -> Result<u32, Stop> {
        if self.state.current.kind == Kind::Integer { Ok(self.id()) } else { self.slot_otherwise(of) }
    }

    #[cold]
    fn slot_otherwise(&mut self, of: Word) -> Result<u32, Stop> {
        if self.state.current.word == Some(Word::Ref) {
            self.bump();
            if self.state.current.kind == Kind::Integer {
                return Ok(self.id());
            }
        } else if let Some(slot) = self.named_slot() {
            self.bump();
            return Ok(slot);
        }
        Err(self.no_id(of, "a slot's number"))
    }

    /// The slot whose name is at the cursor, with or without the marks of a reference.
    pub(crate) fn named_slot(&mut self) -> Option<u32> {
        let token = self.state.current;
        let is_word = matches!(token.kind, Kind::Word | Kind::Dollar) && token.word.is_none();
        let name = self.text(&token).trim_start_matches(['$', '{']).trim_end_matches('}');
        if is_word { self.names.slot_of(name) } else { None }
    }

    fn no_id(&mut self, of: Word, expected: &str) -> Stop {
        let message = format!("`{}` needs {expected} here", of.mnemonic());
        let wrong = self.refuse(Code::ExpectedId, message, expected);
        let is_path = of == Word::Ref && self.text(&self.state.current).contains('.');
        let wrong = wrong.help(if is_path { PATH.to_owned() } else { format!("write {}", form(of)) });
        let wrong = self.merge_help(wrong, of);
        self.fail(wrong)
    }

    /// The id at the cursor.
    #[inline]
    fn id(&mut self) -> u32 {
        let id = if self.state.current.value == NO_VALUE { self.rare_id() } else { self.state.current.value };
        self.bump();
        id
    }

    /// A long id, or one with zeros before it: reports one that is too large.
    #[cold]
    fn rare_id(&mut self) -> u32 {
        let token = self.state.current;
        let text = self.text(&token);
        if let Some(id) = digits(text) {
            return id;
        }
        self.tolerate(registry::id_range(token.span(), text));
        0
    }

    /// Reads the field of `of`.
    #[inline]
    pub(crate) fn field_name(&mut self, of: Word) -> Result<Name<'a>, Stop> {
        self.registry_name(of, registry::Kind::Fields)
    }

    /// Reads the tool of a CALL.
    #[inline]
    pub(crate) fn tool_name(&mut self) -> Result<Name<'a>, Stop> {
        self.registry_name(Word::Call, registry::Kind::Tools)
    }

    #[inline]
    fn registry_name(&mut self, of: Word, kind: registry::Kind) -> Result<Name<'a>, Stop> {
        let token = self.state.current;
        if token.kind != Kind::Integer {
            return self.named_otherwise(of, kind);
        }
        let id = self.id();
        let name = self.names.registries.get(kind).name(id);
        Ok(Name { text: name.unwrap_or_else(|| self.unnamed(token, kind)), span: token.span() })
    }

    #[cold]
    fn named_otherwise(&mut self, of: Word, kind: registry::Kind) -> Result<Name<'a>, Stop> {
        let what = kind.of_one();
        let token = self.state.current;
        let span = token.span();
        let text = self.text(&token);
        let name = match token.kind {
            Kind::Word if token.word.is_none() => text,
            Kind::Text => text.trim_matches('"'),
            _ => return Err(self.no_id(of, &format!("a {what}'s number"))),
        };
        if self.names.id_of(kind, name).is_some() {
            self.bump();
            return Ok(Name { text: name, span });
        }
        let near = self.names.nearest_of(kind, name);
        let id = near.and_then(|near| self.names.id_of(kind, near));
        let message = format!("`{}` needs a {what}'s number here", of.mnemonic());
        let wrong = self.refuse(Code::ExpectedId, message, &format!("a {what}'s number"));
        if let (Some(near), Some(id)) = (near, id) {
            let wrong = wrong.nearest(Some(near)).help(format!("nearest is `{near}`, number {id}"));
            return Err(self.fail(wrong));
        }
        if kind == registry::Kind::Fields && foreign::word(Place::Operation, name) == Some("len") {
            let help = "how many items or characters there are is `LEN REF <slot>`";
            return Err(self.fail(wrong.help(help)));
        }
        let id = self.names.next_id(kind, name);
        let registry = kind.name();
        self.tolerate(wrong.help(format!(
            "names have numbers here: add `{id}={}` to the line `; {registry}:` of this function, and write `{id}`",
            shorten(name)
        )));
        self.bump();
        Ok(Name { text: name, span })
    }

    /// Reports an id that no registry names; its digits are used for the name.
    #[cold]
    fn unnamed(&mut self, token: Token, kind: registry::Kind) -> &'a str {
        let text = self.text(&token);
        let (registry, what) = (kind.name(), kind.of_one());
        self.report(
            Diagnostic::new(Code::UnnamedId, token.span(), format!("no registry names {what} {text}"))
                .expected(format!("an id of `; {registry}:`"), format!("`{text}`"))
                .help(format!("add `{text}=<name>` to the line `; {registry}:` of this function")),
        );
        text
    }

    /// Skips an equals sign between a slot or a field and its value.
    #[inline]
    pub(crate) fn skip_equals(&mut self, of: Word) {
        if self.state.current.kind == Kind::Operator {
            self.skip_superfluous(of);
        }
    }

    /// Skips an `IN` between the slot of a loop and its list.
    #[inline]
    pub(crate) fn skip_in(&mut self) {
        let Token { kind, word, .. } = self.state.current;
        if kind == Kind::Word && word.is_none() {
            self.skip_superfluous(Word::For);
        }
    }

    #[cold]
    fn skip_superfluous(&mut self, of: Word) {
        let token = self.state.current;
        let text = self.text(&token);
        if matches!(text, "=" | ":=" | "<-") || of == Word::For && text.eq_ignore_ascii_case("in") {
            self.bump();
        }
    }

    /// Reads a count and the items that it counts, except statements. No memory is reserved for the count.
    pub(crate) fn count(&mut self, of: Word, what: &'static str) -> Result<u32, Stop> {
        if self.state.current.kind != Kind::Integer {
            return Err(self.no_count(of, what));
        }
        let Some(count) = self.count_value() else {
            let (span, most) = (self.state.current.span(), self.context.words);
            let found = self.text(&self.state.current);
            return Err(self.fail(count_range(span, found, most)));
        };
        self.bump();
        Ok(count)
    }

    /// The count at the cursor, unless it is more than a file of this size can have.
    fn count_value(&self) -> Option<u32> {
        self.integer(&self.state.current).filter(|&count| count as usize <= self.context.words)
    }

    /// The value of an integer, unless it is negative or beyond 32 bits.
    pub(crate) fn integer(&self, token: &Token) -> Option<u32> {
        if token.value == NO_VALUE { digits(self.text(token)) } else { Some(token.value) }
    }

    /// Rejects a token in the position of a count.
    pub(crate) fn no_count(&mut self, of: Word, what: &str) -> Stop {
        let message = format!("`{}` needs the number of {what} here", of.mnemonic());
        let wrong = self.refuse(Code::ExpectedCount, message, &format!("the number of {what}"));
        let operator = self.state.current.word.is_some_and(|word| word.row().place == Expression);
        let wrong = if operator && matches!(of, Word::If | Word::For | Word::MatchMap) {
            wrong.help(
                "an operator comes before its values, `GT REF 0 LIT 1 3`, and takes two: for three, write it twice, \
                 `AND AND REF 0 REF 1 REF 2`",
            )
        } else {
            wrong.help(if self.state.current.kind == Kind::Operator {
                PREFIX.to_owned()
            } else {
                format!("write {}", form(of))
            })
        };
        let wrong = self.merge_help(wrong, of);
        self.fail(wrong)
    }

    /// Rejects a counted list that is shorter than its count.
    pub(crate) fn short_list(
        &mut self,
        of: Word,
        what: &str,
        count_token: usize,
        count: u32,
        read: u32,
    ) -> Stop {
        let message = format!("`{}` counts {count} {what}, but {read} follow", of.mnemonic());
        let code =
            if of == Word::List || of == Word::MatchMap { Code::ExpectedOperand } else { Code::ExpectedId };
        let wrong = self.refuse(code, message, &format!("{count} {what}"));
        let mut wrong = wrong.related_if(self.token(count_token).map(Token::span), "the count");
        wrong.span = Span::at(self.state.last_end);
        let wrong = wrong.help(format!("write `{read}` for the count, or add what is missing: {}", form(of)));
        let wrong = self.merge_help(wrong, Word::List);
        self.fail(wrong)
    }

    /// Rejects a token that is not the key of a case.
    pub(crate) fn no_case_key(&mut self) -> Stop {
        let token = self.state.current;
        let message = "a key of `MATCH_MAP` is a literal".to_owned();
        let wrong =
            self.refuse(Code::ExpectedOperand, message, "a text, number, `true`, `false`, `nil` or `ELSE`");
        let text = self.text(&token);
        let wrong = if token.kind == Kind::Word && token.word.is_none() {
            let is_default = text.eq_ignore_ascii_case("default");
            let key = if is_default { "ELSE".to_owned() } else { format!("\"{text}\"") };
            wrong.help(format!("write `{key}`")).replace(token.span(), key)
        } else {
            wrong.help("keys are constants; compare anything else with `IF EQ`")
        };
        let wrong = self.merge_help(wrong, Word::MatchMap);
        self.fail(wrong)
    }
}

/// The value of a text of digits.
pub(crate) fn digits(text: &str) -> Option<u32> {
    text.bytes().try_fold(0_u32, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|&digit| digit < 10)?;
        number.checked_mul(10)?.checked_add(u32::from(digit))
    })
}
