//! Parses expressions: each instruction has the operands in its row of the table.

use super::literal;
use super::numbers;
use super::parser::BodyParser;
use super::state::{Lack, Nesting, Stop, complete};
use super::unknown_operand;
use crate::ast::{Apply, Binary, Call, CallId, Case, Expr, ExprKind, Field, Literal, MatchMap, Name, Unary};
use crate::diagnostic::{repeated, twice};
use crate::document::Key;
use crate::span::Span;
use crate::syntax::lexer::Kind;
use ilo_spec::error::Code;
use ilo_spec::node::{Place, Shape, Word};

impl<'a> BodyParser<'_, 'a> {
    /// Reads an operand of `of`.
    pub(crate) fn expr(&mut self, of: Word, nesting: Nesting) -> Result<Expr<'a>, Stop> {
        let start = self.state.current.start;
        let Some(word) = self.state.current.word else { return self.recovered(of, nesting) };
        if word.row().place != Place::Expression {
            return Err(unknown_operand::no_operand(self, of));
        }
        let nesting = self.deeper(nesting)?;
        let kind = self.expr_kind(word, nesting)?;
        Ok(Expr { kind, span: Span::new(start, self.state.last_end) })
    }

    /// Reads an operand that does not begin with an instruction.
    #[cold]
    fn recovered(&mut self, of: Word, nesting: Nesting) -> Result<Expr<'a>, Stop> {
        unknown_operand::recover_operand(self, of)?.map_or_else(|| self.expr(of, nesting), Ok)
    }

    fn expr_kind(&mut self, word: Word, nesting: Nesting) -> Result<ExprKind<'a>, Stop> {
        if word == Word::Call {
            return Ok(ExprKind::Call(self.call_operand(nesting)?));
        }
        self.bump();
        match word {
            Word::Ref => Ok(ExprKind::Ref(numbers::slot(self, word)?.0)),
            Word::Lit => {
                let literal = literal::literal(self)?;
                if matches!(literal, Literal::Text(text) if may_refer(text)) {
                    literal::text_references(self);
                }
                Ok(ExprKind::Literal(literal))
            }
            Word::Field => self.field(nesting),
            Word::Obj => Ok(ExprKind::Record(self.pairs(word, nesting)?)),
            Word::Merge => self.merge(nesting),
            Word::List => self.list(nesting),
            Word::MatchMap => Ok(ExprKind::MatchMap(self.match_map(nesting)?)),
            Word::Has => self.has(nesting),
            Word::Not => self.unary(word, nesting, Unary::Not),
            Word::Len => self.unary(word, nesting, Unary::Len),
            Word::Add => self.binary(word, nesting, Binary::Add),
            Word::Sub => self.binary(word, nesting, Binary::Sub),
            Word::Mul => self.binary(word, nesting, Binary::Mul),
            Word::Div => self.binary(word, nesting, Binary::Div),
            Word::Mod => self.binary(word, nesting, Binary::Mod),
            Word::Eq => self.binary(word, nesting, Binary::Eq),
            Word::Neq => self.binary(word, nesting, Binary::Neq),
            Word::Gt => self.binary(word, nesting, Binary::Gt),
            Word::Gte => self.binary(word, nesting, Binary::Gte),
            Word::Lt => self.binary(word, nesting, Binary::Lt),
            Word::Lte => self.binary(word, nesting, Binary::Lte),
            Word::And => self.binary(word, nesting, Binary::And),
            Word::Or => self.binary(word, nesting, Binary::Or),
            Word::Concat => self.binary(word, nesting, Binary::Concat),
            Word::Append => self.binary(word, nesting, Binary::Append),
            Word::At => self.binary(word, nesting, Binary::At),
            _ => self.apply(word, nesting),
        }
    }

    fn unary(&mut self, word: Word, nesting: Nesting, operator: Unary) -> Result<ExprKind<'a>, Stop> {
        let operand = self.expr(word, nesting)?;
        Ok(ExprKind::Unary(operator, self.context.arena.alloc(operand)))
    }

    fn binary(&mut self, word: Word, nesting: Nesting, operator: Binary) -> Result<ExprKind<'a>, Stop> {
        let first = self.expr(word, nesting)?;
        let second = self.expr(word, nesting)?;
        Ok(ExprKind::Binary(operator, self.context.arena.alloc(first), self.context.arena.alloc(second)))
    }

    fn field(&mut self, nesting: Nesting) -> Result<ExprKind<'a>, Stop> {
        let record = self.path(nesting)?;
        let name = self.field_of(&record, Word::Field)?;
        Ok(ExprKind::Field(self.context.arena.alloc(record), name))
    }

    /// Reads the name of a field of a record.
    fn field_of(&mut self, record: &Expr<'a>, of: Word) -> Result<Name<'a>, Stop> {
        let name = numbers::field_name(self, of);
        name.inspect_err(|_| self.lack().into_iter().for_each(|lack| lack.record = Some(*record)))
    }

    /// Reads the record of a FIELD: a slot number, or REF, FIELD or AT.
    fn path(&mut self, nesting: Nesting) -> Result<Expr<'a>, Stop> {
        match self.state.current.word {
            Some(Word::Ref | Word::Field | Word::At) => self.expr(Word::Field, nesting),
            Some(word) if word.row().place == Place::Expression => {
                let name = word.mnemonic();
                let wrong = self.refuse(
                    Code::ExpectedOperand,
                    format!("`FIELD` does not read from `{name}` directly"),
                    "a slot number, `REF`, `FIELD` or `AT`",
                );
                Err(self.fail(
                    wrong.help(format!("bind it first, with `LET <slot> {name} …`, and read from that slot")),
                ))
            }
            Some(_) => Err(unknown_operand::no_operand(self, Word::Field)),
            None => {
                let (slot, span) = numbers::slot(self, Word::Field)?;
                Ok(Expr { kind: ExprKind::Ref(slot), span })
            }
        }
    }

    /// A pure function. A field number in the position of a name is that name as a text.
    fn apply(&mut self, word: Word, nesting: Nesting) -> Result<ExprKind<'a>, Stop> {
        let row = word.row();
        let Some(function) = row.pure else { return Err(unknown_operand::no_operand(self, word)) };
        let start = self.scratch.exprs.len();
        for &shape in row.operands {
            let operand = if shape == Shape::FieldOrName && self.state.current.word.is_none() {
                let name = numbers::field_name(self, word)?;
                Expr { kind: ExprKind::Literal(Literal::Text(name.text)), span: name.span }
            } else {
                self.expr(word, nesting)?
            };
            self.scratch.exprs.push(operand);
        }
        let operands = complete(&mut self.scratch.exprs, start, self.context.arena);
        let id = function.row().fails.then(|| self.new_attempt());
        Ok(ExprKind::Apply(Apply { function, operands, id }))
    }

    fn has(&mut self, nesting: Nesting) -> Result<ExprKind<'a>, Stop> {
        let record = self.expr(Word::Has, nesting)?;
        let record = self.context.arena.alloc(record);
        if self.state.current.word.is_none() {
            return Ok(ExprKind::Has(record, self.field_of(record, Word::Has)?));
        }
        let name = self.expr(Word::Has, nesting)?;
        Ok(ExprKind::Binary(Binary::HasName, record, self.context.arena.alloc(name)))
    }

    /// Allocates the number of a call or of a fallible pure function.
    fn new_attempt(&mut self) -> CallId {
        let id = CallId(self.state.calls);
        self.state.calls += 1;
        id
    }

    /// Reads a CALL; its word is at the cursor.
    pub(crate) fn call_operand(&mut self, nesting: Nesting) -> Result<&'a Call<'a>, Stop> {
        let span = self.state.current.span();
        self.bump();
        self.call_behind(span, nesting)
    }

    /// Reads a CALL behind its word.
    pub(crate) fn call_behind(&mut self, span: Span, nesting: Nesting) -> Result<&'a Call<'a>, Stop> {
        let id = self.new_attempt();
        let tool = numbers::tool_name(self)?;
        let arguments = self.pairs(Word::Call, nesting);
        let of_tool = |lack: &mut Lack<'a>| lack.tool = lack.tool.or(Some(tool.text));
        let arguments = arguments.inspect_err(|_| self.lack().into_iter().for_each(of_tool))?;
        Ok(self.context.arena.alloc(Call { id, tool, arguments, span }))
    }

    fn pairs(&mut self, of: Word, nesting: Nesting) -> Result<&'a [Field<'a>], Stop> {
        let what = if of == Word::Call { "arguments" } else { "fields" };
        let count_token = self.state.at;
        let count = numbers::count(self, of, what)?;
        self.pairs_of(of, what, (count_token, count), nesting)
    }

    /// Reads as many pairs as the count at a token.
    fn pairs_of(
        &mut self,
        of: Word,
        what: &'static str,
        (count_token, count): (usize, u32),
        nesting: Nesting,
    ) -> Result<&'a [Field<'a>], Stop> {
        let start = self.scratch.fields.len();
        for read in 0..count {
            if self.ends_list() {
                return Err(numbers::short_list(self, of, what, count_token, count, read));
            }
            self.pair(of, nesting)?;
        }
        self.state.last_count = Some((count_token, self.state.at));
        Ok(self.take_fields(start, "remove one of them and correct the count"))
    }

    /// Whether an operand begins after the token at the cursor.
    fn operand_behind(&self) -> bool {
        let next = self.token(self.state.at + 1).and_then(|token| token.word);
        next.is_some_and(|word| word.row().place == Place::Expression)
    }

    /// Whether the token at the cursor cannot continue a list.
    fn ends_list(&self) -> bool {
        match self.state.current.word {
            None => matches!(self.state.current.kind, Kind::Dedent | Kind::End),
            Some(word) => word.row().place != Place::Expression,
        }
    }

    fn pair(&mut self, of: Word, nesting: Nesting) -> Result<(), Stop> {
        let name = numbers::field_name(self, of)?;
        numbers::skip_equals(self, of);
        let value = self.expr(of, nesting)?;
        self.scratch.fields.push(Field { name, value });
        Ok(())
    }

    /// Takes the fields from `start` on and reports duplicates, with how to correct them.
    fn take_fields(&mut self, start: usize, help: &str) -> &'a [Field<'a>] {
        let fields = complete(&mut self.scratch.fields, start, self.context.arena);
        repeated(
            fields,
            |field| (field.name.text, field.name.span),
            |_, Field { name, .. }, before| {
                let what = format!("`{}`", name.text);
                self.report(twice(Code::DuplicateField, name.span, &what, before).help(help));
            },
        );
        fields
    }

    fn merge(&mut self, nesting: Nesting) -> Result<ExprKind<'a>, Stop> {
        let counted = self.state.current.kind == Kind::Integer && self.operand_behind();
        if counted {
            let count_token = self.state.at;
            let count = numbers::count(self, Word::Merge, "fields")?;
            let record = self.expr(Word::Merge, nesting)?;
            let fields = self.pairs_of(Word::Merge, "fields", (count_token, count), nesting)?;
            return Ok(ExprKind::Merge(self.context.arena.alloc(record), fields));
        }
        let record = self.expr(Word::Merge, nesting)?;
        let record = self.context.arena.alloc(record);
        let start = self.scratch.fields.len();
        while self.state.current.kind == Kind::Integer {
            self.pair(Word::Merge, nesting)?;
        }
        self.state.merge_end = Some(self.state.at);
        if self.at_end() {
            self.lacks(Word::Merge, Shape::OpenPairs);
        }
        let help = "remove one of them; if the second belongs to another instruction, write the number of pairs after \
                    MERGE, as in `MERGE 1 REF …`";
        Ok(ExprKind::Merge(record, self.take_fields(start, help)))
    }

    fn list(&mut self, nesting: Nesting) -> Result<ExprKind<'a>, Stop> {
        let count_token = self.state.at;
        let count = numbers::count(self, Word::List, "items")?;
        let start = self.scratch.exprs.len();
        for read in 0..count {
            if self.ends_list() {
                return Err(numbers::short_list(self, Word::List, "items", count_token, count, read));
            }
            let item = self.expr(Word::List, nesting)?;
            self.scratch.exprs.push(item);
        }
        self.state.last_count = Some((count_token, self.state.at));
        Ok(ExprKind::List(complete(&mut self.scratch.exprs, start, self.context.arena)))
    }

    fn match_map(&mut self, nesting: Nesting) -> Result<&'a MatchMap<'a>, Stop> {
        let subject = self.expr(Word::MatchMap, nesting)?;
        let count_token = self.state.at;
        let count = numbers::count(self, Word::MatchMap, "cases")?;
        let start = self.scratch.cases.len();
        let mut default: Option<(Span, Expr<'a>)> = None;
        for read in 0..count {
            if self.ends_list() && self.state.current.word != Some(Word::Else) {
                return Err(numbers::short_list(self, Word::MatchMap, "cases", count_token, count, read));
            }
            let (key, key_span) = self.case_key()?;
            let around = self.state.more_cases;
            self.state.more_cases |= read + 1 < count;
            let value = self.case_value(nesting);
            self.state.more_cases = around;
            let value = value?;
            match key {
                Some(key) if !matches!(key, Literal::Text("_")) => {
                    self.scratch.cases.push(Case { key, key_span, value });
                }
                _ => match default {
                    None => default = Some((key_span, value)),
                    Some((before, _)) => self.duplicate_case("the default", key_span, before),
                },
            }
        }
        let has_else = self.state.current.word == Some(Word::Else) && !self.state.more_cases;
        if default.is_none() && has_else {
            default = self.default_behind((count_token, count), nesting)?;
        }
        self.state.last_count = Some((count_token, self.state.at));
        let cases = complete(&mut self.scratch.cases, start, self.context.arena);
        repeated(
            cases,
            |case| (Key::of_literal(case.key), case.key_span),
            |_, case, before| self.duplicate_case("this key", case.key_span, before),
        );
        Ok(self.context.arena.alloc(MatchMap { subject, cases, default: default.map(|(_, value)| value) }))
    }

    /// An ELSE on the line of a MATCH_MAP whose count leaves it out, if no block around it may have it.
    #[cold]
    fn default_behind(
        &mut self,
        (count_token, count): (usize, u32),
        nesting: Nesting,
    ) -> Result<Option<(Span, Expr<'a>)>, Stop> {
        let token = self.state.current;
        if token.first || self.ends_block(nesting) {
            return Ok(None);
        }
        let most = count.saturating_add(1);
        if let Some(layout) = &mut self.layout {
            layout.counts.push((count_token, most));
        }
        self.bump();
        Ok(Some((token.span(), self.case_value(nesting)?)))
    }

    /// Reads the key of a case; `None` for ELSE.
    fn case_key(&mut self) -> Result<(Option<Literal<'a>>, Span), Stop> {
        let span = self.state.current.span();
        match self.state.current.word {
            Some(Word::Else) => {
                self.bump();
                Ok((None, span))
            }
            Some(Word::Lit) => {
                self.bump();
                let literal = literal::literal(self)?;
                Ok((Some(literal), Span::new(span.start, self.state.last_end)))
            }
            _ => match literal::bare_literal(self) {
                Some(literal) => Ok((Some(literal), span)),
                None => Err(numbers::no_case_key(self)),
            },
        }
    }

    /// Reads the value of a case, which may be a bare literal.
    fn case_value(&mut self, nesting: Nesting) -> Result<Expr<'a>, Stop> {
        let span = self.state.current.span();
        match literal::bare_literal(self) {
            Some(literal) => Ok(Expr { kind: ExprKind::Literal(literal), span }),
            None => self.expr(Word::MatchMap, nesting),
        }
    }

    fn duplicate_case(&mut self, what: &str, span: Span, before: Span) {
        let wrong = twice(Code::DuplicateCase, span, what, before);
        self.report(wrong.help("remove one of the cases and correct the count"));
    }
}

/// Whether a text might have a reference in another language.
fn may_refer(text: &str) -> bool {
    memchr::memchr2(b'{', b'$', text.as_bytes()).is_some()
}
