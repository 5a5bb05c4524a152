//! Expressions and their operands: each instruction reads what its row of the table says.

use super::mend::count_range;
use super::parser::{Parser, Stop};
use super::template;
use crate::ast::{Binary, Call, CallId, Case, Expr, ExprKind, Field, Literal, MatchMap, Name, Slot, Unary};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::syntax::ids::repeated;
use crate::syntax::lexer::{Kind, NO_VALUE, Token};
use ilo_spec::error::Code;
use ilo_spec::node::{Place, Word};
use ilo_spec::program::Number;

impl<'a> Parser<'_, 'a> {
    /// Reads an operand of `of`.
    pub(crate) fn expr(&mut self, of: Word) -> Result<Expr<'a>, Stop> {
        let start = self.current.start;
        let Some(word) = self.current.word else { return self.foreign_operand(of) };
        if word.row().place != Place::Expression {
            return Err(self.no_operand(of));
        }
        self.deeper()?;
        let kind = self.expr_kind(word)?;
        self.depth -= 1;
        Ok(Expr { kind, span: Span::new(start, self.last_end) })
    }

    fn expr_kind(&mut self, word: Word) -> Result<ExprKind<'a>, Stop> {
        if word == Word::Call {
            return Ok(ExprKind::Call(self.call_operand()?));
        }
        self.bump();
        match word {
            Word::Ref => Ok(ExprKind::Ref(self.slot(word)?.0)),
            Word::Lit => {
                let literal = self.literal()?;
                if matches!(literal, Literal::Text(text) if template::may_refer(text)) {
                    self.template();
                }
                Ok(ExprKind::Literal(literal))
            }
            Word::Field => self.field(),
            Word::Obj => Ok(ExprKind::Record(self.pairs(word)?)),
            Word::Merge => self.merge(),
            Word::List => self.list(),
            Word::MatchMap => Ok(ExprKind::MatchMap(self.match_map()?)),
            Word::Has => self.has(),
            Word::Not => self.unary(word, Unary::Not),
            Word::Len => self.unary(word, Unary::Len),
            Word::Add => self.binary(word, Binary::Add),
            Word::Sub => self.binary(word, Binary::Sub),
            Word::Mul => self.binary(word, Binary::Mul),
            Word::Div => self.binary(word, Binary::Div),
            Word::Mod => self.binary(word, Binary::Mod),
            Word::Eq => self.binary(word, Binary::Eq),
            Word::Neq => self.binary(word, Binary::Neq),
            Word::Gt => self.binary(word, Binary::Gt),
            Word::Gte => self.binary(word, Binary::Gte),
            Word::Lt => self.binary(word, Binary::Lt),
            Word::Lte => self.binary(word, Binary::Lte),
            Word::And => self.binary(word, Binary::And),
            Word::Or => self.binary(word, Binary::Or),
            Word::Concat => self.binary(word, Binary::Concat),
            Word::Append => self.binary(word, Binary::Append),
            Word::At => self.binary(word, Binary::At),
            // Listed, so that a new instruction has to be thought of here.
            Word::Call
            | Word::Let
            | Word::Ret
            | Word::RetOk
            | Word::RetErr
            | Word::If
            | Word::Match
            | Word::Err
            | Word::Ok
            | Word::For
            | Word::Else
            | Word::Undo
            | Word::Fail => Err(self.no_operand(word)),
        }
    }

    fn unary(&mut self, word: Word, operator: Unary) -> Result<ExprKind<'a>, Stop> {
        let operand = self.expr(word)?;
        Ok(ExprKind::Unary(operator, self.arena.alloc(operand)))
    }

    fn binary(&mut self, word: Word, operator: Binary) -> Result<ExprKind<'a>, Stop> {
        let first = self.expr(word)?;
        let second = self.expr(word)?;
        Ok(ExprKind::Binary(operator, self.arena.alloc(first), self.arena.alloc(second)))
    }

    fn field(&mut self) -> Result<ExprKind<'a>, Stop> {
        let record = self.path()?;
        let name = self.field_name(Word::Field)?;
        Ok(ExprKind::Field(self.arena.alloc(record), name))
    }

    /// Reads what FIELD reads from: a slot number, or REF, FIELD or AT.
    fn path(&mut self) -> Result<Expr<'a>, Stop> {
        match self.current.word {
            Some(Word::Ref | Word::Field | Word::At) => self.expr(Word::Field),
            Some(word) if word.row().place == Place::Expression => {
                let name = word.mnemonic();
                let wrong = self.refuse(
                    Code::ExpectedOperand,
                    format!("`FIELD` does not read from `{name}` directly"),
                    "a slot number, `REF`, `FIELD` or `AT`",
                );
                Err(self.stop(
                    wrong.help(format!("bind it first, with `LET <slot> {name} …`, and read from that slot")),
                ))
            }
            Some(_) => Err(self.no_operand(Word::Field)),
            None => {
                let (slot, span) = self.slot(Word::Field)?;
                Ok(Expr { kind: ExprKind::Ref(slot), span })
            }
        }
    }

    fn has(&mut self) -> Result<ExprKind<'a>, Stop> {
        let record = self.expr(Word::Has)?;
        let record = self.arena.alloc(record);
        if self.current.word.is_none() {
            return Ok(ExprKind::Has(record, self.field_name(Word::Has)?));
        }
        let name = self.expr(Word::Has)?;
        Ok(ExprKind::Binary(Binary::HasName, record, self.arena.alloc(name)))
    }

    /// Reads a CALL, whose word is under the cursor.
    pub(crate) fn call_operand(&mut self) -> Result<&'a Call<'a>, Stop> {
        let span = self.current.span();
        self.bump();
        let id = CallId(self.calls);
        self.calls += 1;
        let tool = self.tool_name()?;
        let arguments = self.pairs(Word::Call)?;
        Ok(self.arena.alloc(Call { id, tool, arguments, span }))
    }

    /// Reads a count and what it counts, where that is not statements. Nothing is reserved by it.
    fn count(&mut self, of: Word, what: &'static str) -> Result<u32, Stop> {
        if self.current.kind != Kind::Integer {
            return Err(self.no_count(of, what));
        }
        let Some(count) = self.count_value() else {
            let (span, most) = (self.current.span(), self.tokens.len());
            let found = self.text(&self.current);
            return Err(self.fail(count_range(span, found, most)));
        };
        self.bump();
        Ok(count)
    }

    /// The count under the cursor, unless it is more than a file of this size can hold.
    pub(crate) fn count_value(&self) -> Option<u32> {
        self.integer(&self.current).filter(|&count| count as usize <= self.tokens.len())
    }

    /// The value of an integer, unless it is negative or beyond 32 bits.
    pub(crate) fn integer(&self, token: &Token) -> Option<u32> {
        if token.value == NO_VALUE { digits(self.text(token)) } else { Some(token.value) }
    }

    fn pairs(&mut self, of: Word) -> Result<&'a [Field<'a>], Stop> {
        let what = if of == Word::Call { "arguments" } else { "fields" };
        let count_token = self.at;
        let count = self.count(of, what)?;
        self.pairs_of(of, what, (count_token, count))
    }

    /// Reads so many pairs, as the count at a token says.
    fn pairs_of(
        &mut self,
        of: Word,
        what: &'static str,
        (count_token, count): (usize, u32),
    ) -> Result<&'a [Field<'a>], Stop> {
        let start = self.fields.len();
        for read in 0..count {
            if self.ends_list() {
                return Err(self.short_list(of, what, count_token, count, read));
            }
            self.pair(of)?;
        }
        self.last_count = Some((count_token, self.at));
        Ok(self.take_fields(start))
    }

    /// Whether an operand begins behind the token under the cursor.
    fn operand_behind(&self) -> bool {
        let behind = self.tokens.get(self.at + 1).and_then(|token| token.word);
        behind.is_some_and(|word| word.row().place == Place::Expression)
    }

    /// Whether nothing that a list could go on with is under the cursor.
    fn ends_list(&self) -> bool {
        match self.current.word {
            None => matches!(self.current.kind, Kind::Dedent | Kind::End),
            Some(word) => word.row().place != Place::Expression,
        }
    }

    fn pair(&mut self, of: Word) -> Result<(), Stop> {
        let name = self.field_name(of)?;
        self.skip_equals(of)?;
        let value = self.expr(of)?;
        self.fields.push(Field { name, value });
        Ok(())
    }

    /// Takes the fields from `start` on, none of which may be given twice.
    fn take_fields(&mut self, start: usize) -> &'a [Field<'a>] {
        let fields: &'a [Field<'a>] =
            self.arena.alloc_slice_copy(self.fields.get(start..).unwrap_or_default());
        self.fields.truncate(start);
        repeated(
            fields,
            |field| (field.name.text, field.name.span),
            |field, before| self.duplicate_field(field.name, before),
        );
        fields
    }

    fn duplicate_field(&mut self, name: Name<'a>, before: Span) {
        let message = format!("`{}` is given twice", name.text);
        self.report(
            Diagnostic::new(Code::DuplicateField, name.span, message)
                .expected("each name once", format!("`{}` again", name.text))
                .related(before, "first here")
                .help("remove one of them and correct the count"),
        );
    }

    fn merge(&mut self) -> Result<ExprKind<'a>, Stop> {
        let counted = self.current.kind == Kind::Integer && self.operand_behind();
        if counted {
            let count_token = self.at;
            let count = self.count(Word::Merge, "fields")?;
            let record = self.expr(Word::Merge)?;
            let fields = self.pairs_of(Word::Merge, "fields", (count_token, count))?;
            return Ok(ExprKind::Merge(self.arena.alloc(record), fields));
        }
        let record = self.expr(Word::Merge)?;
        let record = self.arena.alloc(record);
        let start = self.fields.len();
        while self.current.kind == Kind::Integer {
            self.pair(Word::Merge)?;
        }
        self.merge_end = Some(self.at);
        Ok(ExprKind::Merge(record, self.take_fields(start)))
    }

    fn list(&mut self) -> Result<ExprKind<'a>, Stop> {
        let count_token = self.at;
        let count = self.count(Word::List, "items")?;
        let start = self.exprs.len();
        for read in 0..count {
            if self.ends_list() {
                return Err(self.short_list(Word::List, "items", count_token, count, read));
            }
            let item = self.expr(Word::List)?;
            self.exprs.push(item);
        }
        self.last_count = Some((count_token, self.at));
        let items = self.arena.alloc_slice_copy(self.exprs.get(start..).unwrap_or_default());
        self.exprs.truncate(start);
        Ok(ExprKind::List(items))
    }

    fn match_map(&mut self) -> Result<&'a MatchMap<'a>, Stop> {
        let subject = self.expr(Word::MatchMap)?;
        let count_token = self.at;
        let count = self.count(Word::MatchMap, "cases")?;
        let start = self.cases.len();
        let mut default: Option<(Span, Expr<'a>)> = None;
        for read in 0..count {
            if self.ends_list() && self.current.word != Some(Word::Else) {
                return Err(self.short_list(Word::MatchMap, "cases", count_token, count, read));
            }
            let (key, key_span) = self.case_key()?;
            let value = self.case_value()?;
            match key {
                Some(key) if !matches!(key, Literal::Text("_")) => {
                    self.cases.push(Case { key, key_span, value });
                }
                _ => match default {
                    None => default = Some((key_span, value)),
                    Some((before, _)) => self.duplicate_case("default", key_span, before),
                },
            }
        }
        self.last_count = Some((count_token, self.at));
        let cases = self.arena.alloc_slice_copy(self.cases.get(start..).unwrap_or_default());
        self.cases.truncate(start);
        repeated(
            cases,
            |case| (CaseKey::of(case.key), case.key_span),
            |case, before| self.duplicate_case("key", case.key_span, before),
        );
        Ok(self.arena.alloc(MatchMap { subject, cases, default: default.map(|(_, value)| value) }))
    }

    /// Reads the key of a case; `None` for ELSE.
    fn case_key(&mut self) -> Result<(Option<Literal<'a>>, Span), Stop> {
        let span = self.current.span();
        match self.current.word {
            Some(Word::Else) => {
                self.bump();
                Ok((None, span))
            }
            Some(Word::Lit) => {
                self.bump();
                let literal = self.literal()?;
                Ok((Some(literal), Span::new(span.start, self.last_end)))
            }
            _ => match self.bare_literal() {
                Some(literal) => Ok((Some(literal), span)),
                None => Err(self.no_case_key()),
            },
        }
    }

    /// Reads the value of a case, which may be a bare literal.
    fn case_value(&mut self) -> Result<Expr<'a>, Stop> {
        let span = self.current.span();
        match self.bare_literal() {
            Some(literal) => Ok(Expr { kind: ExprKind::Literal(literal), span }),
            None => self.expr(Word::MatchMap),
        }
    }

    fn duplicate_case(&mut self, what: &str, span: Span, before: Span) {
        self.report(
            Diagnostic::new(Code::DuplicateCase, span, format!("this {what} stands twice"))
                .expected(format!("each {what} once"), format!("an equal {what}"))
                .related(before, "first here")
                .help("remove one of the cases and correct the count"),
        );
    }

    /// The slot that `of` takes.
    pub(crate) fn slot(&mut self, of: Word) -> Result<(Slot, Span), Stop> {
        let span = self.current.span();
        let number = self.slot_number(of)?;
        let registries = &self.registries;
        let slot = self.slots.slot(number, || registries.vars.name(number));
        Ok((slot, Span::new(span.start, self.last_end)))
    }
}

/// The number in a text of digits.
pub(crate) fn digits(text: &str) -> Option<u32> {
    text.bytes().try_fold(0_u32, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|&digit| digit < 10)?;
        number.checked_mul(10)?.checked_add(u32::from(digit))
    })
}

/// A key as equality sees it: 1 and 1.0 are one.
#[derive(PartialEq, Eq, Hash)]
enum CaseKey<'a> {
    Nil,
    Bool(bool),
    Integer(i64),
    Double(u64),
    Text(&'a str),
}

impl<'a> CaseKey<'a> {
    fn of(key: Literal<'a>) -> CaseKey<'a> {
        match key {
            Literal::Nil => CaseKey::Nil,
            Literal::Bool(value) => CaseKey::Bool(value),
            Literal::Text(text) => CaseKey::Text(text),
            Literal::Number(Number::Int(int)) => CaseKey::Integer(int),
            // A double without a fraction is written as an integer, if it is one of 64 bits.
            Literal::Number(Number::Double(double)) => {
                let integral = if double == 0.0 { Some(0) } else { format!("{double}").parse().ok() };
                integral.map_or(CaseKey::Double(double.to_bits()), CaseKey::Integer)
            }
        }
    }
}
