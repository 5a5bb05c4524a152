//! Parses constants: `LIT` with its kind, and the bare literals of `MATCH_MAP`.

use super::parser::Parser;
use super::state::Stop;
use super::words::{self, Constant};
use crate::ast::Literal;
use crate::diagnostic::Diagnostic;
use crate::document::bad_number;
use crate::span::Span;
use crate::syntax::comment_cursor::bad_text;
use crate::syntax::lexer::{Kind, NO_VALUE, Token};
use crate::text;
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::number;
use ilo_spec::program::Number;

/// The kinds of LIT, by their numbers.
const KINDS: &str = "`LIT 0 \"text\"`, `LIT 1 42`, `LIT 2 nil` or `LIT 3 true`";

impl<'a> Parser<'_, 'a> {
    /// Reads the kind and value of a LIT.
    pub(crate) fn literal(&mut self) -> Result<Literal<'a>, Stop> {
        let kind = self.state.current;
        if kind.kind != Kind::Integer {
            return self.literal_without_kind();
        }
        if kind.value > 3 {
            return Ok(self.number_without_kind(kind));
        }
        self.bump();
        let token = self.state.current;
        match (kind.value, token.kind) {
            (0, Kind::Text | Kind::EscapedText | Kind::OpenText | Kind::SingleText)
            | (1, Kind::Integer | Kind::Number) => Ok(self.value(&token)),
            (kind @ (2 | 3), Kind::Word)
                if Constant::of(self.text(&token)).is_some_and(|it| u32::from(it.kind) == kind) =>
            {
                Ok(self.value(&token))
            }
            _ => self.wrong_literal(kind),
        }
    }

    /// A bare literal, if there is one at the cursor.
    pub(crate) fn bare_literal(&mut self) -> Option<Literal<'a>> {
        let token = self.state.current;
        let literal = match token.kind {
            Kind::Word if token.word.is_none() => Constant::of(self.text(&token)).is_some(),
            Kind::Integer
            | Kind::Number
            | Kind::Text
            | Kind::EscapedText
            | Kind::OpenText
            | Kind::SingleText => true,
            _ => false,
        };
        literal.then(|| self.value(&token))
    }

    /// Takes the token at the cursor as a constant.
    pub(crate) fn value(&mut self, token: &Token) -> Literal<'a> {
        self.bump();
        match token.kind {
            Kind::Text => {
                let inside = token.start.saturating_add(1) as usize..token.end.saturating_sub(1) as usize;
                Literal::Text(self.context.source.get(inside).unwrap_or(""))
            }
            Kind::Integer if token.value != NO_VALUE => Literal::Number(Number::Int(token.value.into())),
            _ => self.rare_value(token),
        }
    }

    fn rare_value(&mut self, token: &Token) -> Literal<'a> {
        let text = self.text(token);
        match token.kind {
            Kind::EscapedText => Literal::Text(self.decode(token, text)),
            Kind::Integer | Kind::Number => Literal::Number(self.number(token.span(), text)),
            Kind::Word => self.constant(token).map_or(Literal::Nil, |constant| constant.value),
            // The lexer has reported these.
            _ => Literal::Text(text.trim_matches(['"', '\''])),
        }
    }

    fn decode(&mut self, token: &Token, text: &'a str) -> &'a str {
        let inside = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
        text::decode(inside, self.context.arena).unwrap_or_else(|bad| {
            self.report(bad_text(bad, token.start + 1));
            ""
        })
    }

    fn number(&mut self, span: Span, text: &str) -> Number {
        let error = match number::parse(text) {
            Ok(number) => return number,
            Err(error) => error,
        };
        self.report(bad_number(span, text, error));
        Number::Int(0)
    }

    /// Warns about names of slots in the text of the last LIT that other languages would fill in.
    #[cold]
    pub(crate) fn text_references(&mut self) {
        let Some(&text) = self.state.at.checked_sub(1).and_then(|at| self.token(at)) else { return };
        let named = words::filled_in(self.text(&text)).find(|(_, name)| self.names.slot_of(name).is_some());
        let Some((whole, _)) = named else { return };
        let message = format!("`{}` is text here, no value", shorten(whole));
        let help = "a text is not filled in: `CONCAT` joins a text and a value";
        self.report(Diagnostic::new(Code::TextReference, text.span(), message).help(help));
    }

    /// `LIT "x"`, `LIT true`, `LIT 1.5`: the value tells the kind, which is missing.
    fn literal_without_kind(&mut self) -> Result<Literal<'a>, Stop> {
        let token = self.state.current;
        if self.kind_of(&token).is_some() {
            return Ok(self.value(&token));
        }
        let wrong = self.refuse(Code::BadLiteral, "`LIT` takes a kind and a value".to_owned(), KINDS);
        let name = self.text(&token);
        // In `LIT TEXT "a"` it names the kind.
        let is_kind = self.token(self.state.at + 1).is_some_and(|next| self.kind_of(next).is_some());
        Err(if token.kind == Kind::Word && token.word.is_none() && !is_kind {
            self.fail(wrong.replace(token.span(), format!("0 \"{name}\"")))
        } else {
            self.fail(wrong.help(format!("write {KINDS}")))
        })
    }

    /// `LIT 42`: a number that is not a kind is the value, unless another value follows it.
    fn number_without_kind(&mut self, kind: Token) -> Literal<'a> {
        self.bump();
        let value = self.state.current;
        let text = self.text(&kind);
        if let Some((number, _)) = self.kind_of(&value).filter(|&(number, _)| number != 1 && !value.first) {
            let message = format!("`{}` is not a kind of `LIT`", shorten(text));
            let wrong = Diagnostic::new(Code::BadLiteral, kind.span(), message)
                .expected(KINDS, format!("`LIT {}`", shorten(text)));
            self.tolerate(wrong.replace(kind.span(), number.to_string()));
            return self.value(&value);
        }
        Literal::Number(self.number(kind.span(), text))
    }

    /// A kind whose value has another form.
    fn wrong_literal(&mut self, kind: Token) -> Result<Literal<'a>, Stop> {
        let token = self.state.current;
        let (number, text) = (self.text(&kind), self.text(&token));
        let wanted = match number {
            "0" => "a string in double quotes",
            "1" => "a number",
            "2" => "`nil`",
            _ => "`true` or `false`",
        };
        let message = format!("`LIT {number}` takes {wanted}");
        let Some((right, value)) = self.kind_of(&token).filter(|_| !token.first) else {
            if number == "0" && token.kind == Kind::Word && token.word.is_none() && !token.first {
                self.bump();
                return Ok(Literal::Text(text));
            }
            let wrong = self.refuse(Code::BadLiteral, message, wanted);
            return Err(self
                .fail(wrong.help(format!("write {KINDS}; for the number {number} write `LIT 1 {number}`"))));
        };
        let wrong = Diagnostic::new(Code::BadLiteral, token.span(), message)
            .expected(wanted, format!("`{}`", shorten(text)));
        let wrong = match (number, right) {
            // The value has only one reading: nil, true and false, or a spelling of nil.
            (_, 2 | 3) => {
                let span = kind.span().to(token.span());
                wrong.help(format!("write `LIT {right} {value}`")).replace(span, format!("{right} {value}"))
            }
            ("0", 1) => wrong
                .help(format!("write `LIT 1 {value}` for the number, or `LIT 0 \"{value}\"` for the text")),
            _ => wrong.help(format!("write `LIT {right} {}`", shorten(value))),
        };
        self.tolerate(wrong);
        Ok(self.value(&token))
    }
}
