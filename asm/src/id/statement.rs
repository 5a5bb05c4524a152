//! Parses statements, and recovers after errors.
//!
//! Line breaks have no meaning here, so `CONCAT LIT 0 "a" REF 0 LIT 0 "b"` is a complete CONCAT of two values
//! and then an unused text. If values after the end of a statement on its line were certainly meant as part
//! of it, because something follows in its block or the statement leaves the function, they are read so where
//! only one thing can be meant.

use super::block;
use super::block::Head;
use super::messages::PREFIX;
use super::numbers;
use super::parser::BodyParser;
use super::state::{Nesting, Stop, complete};
use super::unknown_operand;
use super::unknown_word;
use crate::ast::{
    Arm, Binary, Block, Bound, Call, Control, Expr, ExprKind, For, If, LoopId, Match, ReturnKind, Stmt,
    StmtKind, Try,
};
use crate::diagnostic::{Diagnostic, twice};
use crate::span::Span;
use crate::syntax::lexer::{Kind, Token};
use crate::syntax::{lexer, registry};
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::node::Word;

impl<'a> BodyParser<'_, 'a> {
    /// Parses the body of a function, whose context is set, from its first token on.
    pub(crate) fn body(&mut self, first: usize) -> Block<'a> {
        self.begin(first);
        let start = self.scratch.statements.len();
        let frame = self.frame();
        while self.state.current.kind != Kind::End {
            let begun = self.state.at;
            if self.statements(Nesting::default(), None).is_err() {
                self.unwind(&frame);
                self.recover(begun, Nesting::default(), false);
            }
        }
        Block { statements: self.take_statements(start) }
    }

    fn take_statements(&mut self, start: usize) -> &'a [Stmt<'a>] {
        complete(&mut self.scratch.statements, start, self.context.arena)
    }

    /// Parses statements, at most `limit`; continues after wrong ones.
    fn statements(&mut self, nesting: Nesting, limit: Option<u32>) -> Result<u32, Stop> {
        let frame = self.frame();
        let first = self.scratch.statements.len();
        let mut read = 0;
        // The number of values after the last statement on its line.
        let mut behind = 0;
        while limit.is_none_or(|limit| read < limit) {
            unknown_word::resolve_word(self, true);
            if self.ends_block(nesting) {
                break;
            }
            if self.state.current.word.is_none() && self.longer_path(first, nesting)? {
                continue;
            }
            let begun = self.state.at;
            let own_line = self.state.current.first;
            let kept = self.scratch.statements.len();
            match self.statement(nesting) {
                Ok(statement) => {
                    if !own_line && kept > first && is_value(&statement) {
                        behind += 1;
                    } else if behind > 0 {
                        read -= self.trailing_values(behind, nesting);
                        behind = 0;
                    }
                    self.scratch.statements.push(statement);
                    read += 1;
                }
                Err(Stop::Bad) => {
                    self.unwind(&frame);
                    self.scratch.statements.truncate(kept);
                    self.recover(begun, nesting, true);
                    (read, behind) = (read + 1, 0);
                }
                Err(stop) => return Err(stop),
            }
        }
        if behind > 0 && self.left_before(behind) {
            read -= self.trailing_values(behind, nesting);
        }
        Ok(read)
    }

    /// Skips to the next statement: a word that can only begin a statement, or a line that is not indented
    /// more than the failed one. After too deep nesting, only such a line counts.
    fn recover(&mut self, begun: usize, nesting: Nesting, words: bool) {
        let failed = self.token(begun).filter(|token| token.first);
        let deepest = failed.map_or(usize::MAX, |token| lexer::indent(self.context.source, token).len());
        if self.state.at == begun {
            self.bump();
        }
        while !self.ends_block(nesting) {
            let token = self.state.current;
            if token.first && lexer::indent(self.context.source, &token).len() <= deepest {
                return;
            }
            if words && unknown_word::begins_statement(self, &token) {
                return;
            }
            self.bump();
        }
    }

    fn line(&mut self, token: usize, nesting: Nesting) {
        if let Some(layout) = &mut self.layout {
            layout.lines.push((token, nesting.blocks.into()));
        }
    }

    fn statement(&mut self, nesting: Nesting) -> Result<Stmt<'a>, Stop> {
        let header = self.state.at;
        let token = self.state.current;
        let Some(word) = token.word else { return Err(self.no_statement()) };
        self.line(header, nesting);
        let kind = match word {
            Word::Let => self.binding(header, nesting)?,
            Word::Ret => self.returning(word, ReturnKind::Plain, nesting)?,
            Word::RetOk => self.returning(word, ReturnKind::Ok, nesting)?,
            Word::RetErr => self.returning(word, ReturnKind::Err, nesting)?,
            Word::Fail => {
                self.bump();
                StmtKind::Fail(self.expr(word, nesting)?)
            }
            Word::Undo => StmtKind::Undo(self.marked_call(word, nesting)?),
            Word::Rollback => StmtKind::Rollback(self.marked_call(word, nesting)?),
            Word::Break => {
                self.bump();
                self.state.breaks += 1;
                StmtKind::Break
            }
            Word::Skip => {
                self.bump();
                StmtKind::Skip
            }
            Word::Yield => {
                self.bump();
                let value = self.expr(word, nesting)?;
                self.state.yields += 1;
                StmtKind::Yield(value)
            }
            Word::If | Word::Match | Word::For | Word::Try => {
                StmtKind::Control(self.control(word, header, nesting)?)
            }
            Word::Else | Word::Err | Word::Ok => return Err(self.orphan(word)),
            _ => StmtKind::Value(self.expr(Word::Let, nesting)?),
        };
        Ok(Stmt { kind, span: Span::new(token.start, self.state.last_end) })
    }

    /// The CALL after UNDO or ROLLBACK.
    fn marked_call(&mut self, word: Word, nesting: Nesting) -> Result<&'a Call<'a>, Stop> {
        self.bump();
        if self.state.current.word != Some(Word::Call) {
            let place = unknown_operand::call_without_word(self, word)?;
            return self.call_behind(place, nesting);
        }
        self.call_operand(nesting)
    }

    fn returning(&mut self, word: Word, kind: ReturnKind, nesting: Nesting) -> Result<StmtKind<'a>, Stop> {
        self.bump();
        Ok(StmtKind::Return(kind, self.expr(word, nesting)?))
    }

    fn binding(&mut self, header: usize, nesting: Nesting) -> Result<StmtKind<'a>, Stop> {
        self.bump();
        let (slot, slot_span) = numbers::slot(self, Word::Let)?;
        numbers::skip_equals(self, Word::Let);
        let value = match unknown_word::resolve_word(self, false) {
            Some(word @ (Word::If | Word::Match | Word::For | Word::Try)) => {
                Bound::Control(self.control(word, header, nesting)?)
            }
            _ => Bound::Expr(self.expr(Word::Let, nesting)?),
        };
        Ok(StmtKind::Let { slot, slot_span, value })
    }

    /// A misplaced ELSE or arm. After an error it may be part of what was wrong.
    fn orphan(&mut self, word: Word) -> Stop {
        let follows_error = self.state.errors > 0;
        let token = self.state.current;
        self.bump();
        while self.state.current.kind == Kind::Integer && !self.state.current.first {
            self.bump();
        }
        if follows_error {
            return Stop::Bad;
        }
        let name = word.mnemonic();
        self.fail(if word == Word::Else {
            Diagnostic::new(
                Code::OrphanElse,
                token.span(),
                "there is no IF open, and no FOR with a BREAK, that this `ELSE` could belong to",
            )
            .expected("a statement", "`ELSE`")
            .help(
                "ELSE follows the last statement of the block of an IF, or of a FOR with a BREAK of its own; \
                 check that block's count and indent",
            )
        } else {
            Diagnostic::new(
                Code::ExpectedStatement,
                token.span(),
                format!("`{name}` is only allowed in a MATCH, and `ERR` behind the block of a TRY"),
            )
            .expected("a statement", format!("`{name}`"))
            .help("check the count of arms and the indent of the MATCH before it")
        })
    }

    fn control(&mut self, word: Word, header: usize, nesting: Nesting) -> Result<Control<'a>, Stop> {
        let span = self.state.current.span();
        self.bump();
        Ok(match word {
            Word::If => Control::If(self.conditional(header, span, nesting)?),
            Word::Match => Control::Match(self.matching(header, span, nesting)?),
            Word::Try => Control::Try(self.trying(header, span, nesting)?),
            _ => Control::For(self.looping(header, span, nesting)?),
        })
    }

    fn conditional(&mut self, header: usize, span: Span, nesting: Nesting) -> Result<&'a If<'a>, Stop> {
        let condition = self.expr(Word::If, nesting)?;
        let head = block::head(self, header, Word::If, "statements")?;
        let then = self.block(&head, Nesting { in_if: true, ..nesting })?;
        let otherwise = self.otherwise(nesting)?;
        Ok(self.context.arena.alloc(If { condition, then, otherwise, span }))
    }

    /// ELSE, if one follows.
    fn otherwise(&mut self, nesting: Nesting) -> Result<Option<Block<'a>>, Stop> {
        if unknown_word::resolve_word(self, true) != Some(Word::Else) {
            return Ok(None);
        }
        let header = self.state.at;
        self.line(header, nesting);
        self.bump();
        let head = block::head(self, header, Word::Else, "statements")?;
        self.block(&head, nesting).map(Some)
    }

    fn looping(&mut self, header: usize, span: Span, nesting: Nesting) -> Result<&'a For<'a>, Stop> {
        let id = LoopId(self.state.loops);
        self.state.loops += 1;
        let (item, item_span) = numbers::slot(self, Word::For)?;
        numbers::skip_in(self);
        let list = self.expr(Word::For, nesting)?;
        let head = block::head(self, header, Word::For, "statements")?;
        // An ELSE in the body may belong to an enclosing IF, or to an enclosing loop with a BREAK.
        let in_if = nesting.in_if || (nesting.in_loop && self.state.breaks > 0);
        let around = core::mem::take(&mut self.state.breaks);
        let yields_around = core::mem::take(&mut self.state.yields);
        let body = self.block(&head, Nesting { in_if, in_loop: true, ..nesting })?;
        let breaks = core::mem::replace(&mut self.state.breaks, around) > 0;
        let yields = core::mem::replace(&mut self.state.yields, yields_around) > 0;
        let otherwise = if breaks { self.otherwise(nesting)? } else { None };
        Ok(self.context.arena.alloc(For { id, item, item_span, list, body, otherwise, breaks, yields, span }))
    }

    /// TRY with its block and its handler.
    fn trying(&mut self, header: usize, span: Span, nesting: Nesting) -> Result<&'a Try<'a>, Stop> {
        let head = block::head(self, header, Word::Try, "statements")?;
        // Its ERR ends the block; one that follows it belongs to an enclosing MATCH or TRY.
        let body = self.block(&head, Nesting { in_match: true, ..nesting })?;
        if unknown_word::resolve_word(self, true) != Some(Word::Err) {
            let wrong = self.refuse(Code::ExpectedArm, "this TRY has no ERR".to_owned(), "`ERR`");
            let wrong = wrong.related(span, "the TRY").help(
                "write `ERR <slot> <count>` behind its block, with the statements that run after a failure",
            );
            return Err(self.fail(wrong));
        }
        let (_, handler) = self.arm(Word::Err, nesting)?;
        Ok(self.context.arena.alloc(Try { body, handler, span }))
    }

    fn matching(&mut self, header: usize, span: Span, nesting: Nesting) -> Result<&'a Match<'a>, Stop> {
        let (slot, slot_span) = numbers::slot(self, Word::Match)?;
        let head = block::head(self, header, Word::Match, "arms")?;
        let start = self.scratch.arms.len();
        let errors = self.state.errors;
        let inside = self.deeper(nesting)?;
        let inside = Nesting { blocks: inside.blocks + 1, in_match: true, ..inside };
        block::counted(self, &head, inside, BodyParser::match_arms)?;
        let (mut err, mut ok) = (None, None);
        for index in start..self.scratch.arms.len() {
            let Some(&(word, arm)) = self.scratch.arms.get(index) else { break };
            let place = if word == Word::Err { &mut err } else { &mut ok };
            match place {
                None => *place = Some(arm),
                Some(before) => {
                    let what = format!("`{}` of this MATCH", word.mnemonic());
                    let wrong = twice(Code::DuplicateArm, arm.span, &what, before.span);
                    self.report(wrong.help("put the statements of both into one"));
                }
            }
        }
        self.scratch.arms.truncate(start);
        if err.is_none() && ok.is_none() && self.state.errors == errors {
            let wrong = self.refuse(Code::ExpectedArm, "this MATCH has no arm".to_owned(), "`ERR` or `OK`");
            let wrong = wrong
                .related(span, "the MATCH")
                .help("write `ERR <slot> <count> …` and `OK <slot> <count> …`");
            return Err(self.fail(wrong));
        }
        Ok(self.context.arena.alloc(Match { slot, slot_span, err, ok, span }))
    }

    /// Parses arms, at most `limit`.
    fn match_arms(&mut self, nesting: Nesting, limit: Option<u32>) -> Result<u32, Stop> {
        let frame = self.frame();
        let mut read = 0;
        while limit.is_none_or(|limit| read < limit) {
            let begun = self.state.at;
            if self.at_end() {
                break;
            }
            let result = match unknown_word::resolve_word(self, true) {
                Some(word @ (Word::Err | Word::Ok)) => self.arm(word, nesting),
                _ if limit.is_some() => break,
                _ => {
                    let wrong = self.refuse(
                        Code::ExpectedArm,
                        "a MATCH holds arms, and the arms hold statements".to_owned(),
                        "`ERR` or `OK`",
                    );
                    Err(self.fail(wrong.help("write `ERR <slot> <count>` or `OK <slot> <count>` before it")))
                }
            };
            match result {
                Ok(arm) => self.scratch.arms.push(arm),
                Err(Stop::Bad) => {
                    self.unwind(&frame);
                    if self.state.at == begun {
                        self.bump();
                    }
                    while !self.at_end() && !matches!(self.state.current.word, Some(Word::Err | Word::Ok)) {
                        self.bump();
                    }
                }
                Err(stop) => return Err(stop),
            }
            read += 1;
        }
        Ok(read)
    }

    fn arm(&mut self, word: Word, nesting: Nesting) -> Result<(Word, Arm<'a>), Stop> {
        let header = self.state.at;
        let span = self.state.current.span();
        self.line(header, nesting);
        self.bump();
        let (bind, bind_span) = numbers::slot(self, word)?;
        let head = block::head(self, header, word, "statements")?;
        let body = self.block(&head, nesting)?;
        Ok((word, Arm { bind, bind_span, body, span }))
    }

    fn block(&mut self, head: &Head, nesting: Nesting) -> Result<Block<'a>, Stop> {
        let inside = self.deeper(nesting)?;
        let start = self.scratch.statements.len();
        block::counted(self, head, Nesting { blocks: inside.blocks + 1, ..inside }, BodyParser::statements)?;
        Ok(Block { statements: self.take_statements(start) })
    }

    /// The diagnostic of a token that cannot begin a statement.
    fn no_statement(&mut self) -> Stop {
        let token = self.state.current;
        if token.kind == Kind::Word {
            return unknown_word::unknown_instruction(self);
        }
        let text = shorten(self.text(&token));
        if token.first {
            let wrong = self.refuse(
                Code::ExpectedStatement,
                format!("`{text}` begins no statement"),
                "an instruction",
            );
            return self
                .fail(wrong.help("a statement begins with an instruction such as `LET`, `IF` or `RET`"));
        }
        let message = format!("`{text}` follows the end of a statement");
        let mut wrong = self.refuse(Code::UnexpectedText, message, "the end of the statement");
        let count = self.state.last_count.filter(|&(_, end)| end == self.state.at);
        wrong = match count.and_then(|(count, _)| self.token(count)) {
            Some(count) => wrong
                .related(count.span(), "what this counts ended here")
                .help("where this is one more, the count is too small"),
            None => behind_statement(&token, wrong),
        };
        self.fail(wrong)
    }

    /// Handles the last values of the current block, which are on the line of the statement before them. The
    /// number of those that were read as part of it.
    #[cold]
    pub(crate) fn trailing_values(&mut self, values: usize, nesting: Nesting) -> u32 {
        let first = self.scratch.statements.len().saturating_sub(values);
        let (Some(stray), Some(last)) = (self.scratch.statements.get(first), self.scratch.statements.last())
        else {
            return 0;
        };
        let span = stray.span.to(last.span);
        let before =
            first.checked_sub(1).and_then(|before| self.scratch.statements.get(before)).and_then(value);
        let levels = |before: &Expr<'a>| usize::from(nesting.depth) + levels(before) + values;
        if let Some(before) = before.filter(goes_on)
            && levels(&before) <= usize::from(self.context.max_depth)
        {
            self.lengthen(first, &before, span);
            return u32::try_from(values).unwrap_or(u32::MAX);
        }
        let text = shorten(self.context.source.get(span.range()).unwrap_or(""));
        let message = "this follows the end of a statement on its line";
        let wrong = Diagnostic::new(Code::UnexpectedText, span, message)
            .expected("the end of the line", format!("`{text}`"));
        self.tolerate(wrong.help(match before.map(|before| before.kind) {
            Some(ExprKind::Call(_)) => "`CALL` counts pairs: each is a field's number and a value",
            Some(ExprKind::Record(_)) => "`OBJ` counts pairs: each is a field's number and a value",
            Some(ExprKind::Ref(_) | ExprKind::Literal(_)) => PREFIX,
            Some(_) => "bind what else is worked out, a line each",
            None => "a statement that is meant is on a line of its own",
        }));
        0
    }

    /// Makes the statements from `first` on part of the value before them.
    fn lengthen(&mut self, first: usize, before: &Expr<'a>, behind: Span) {
        let arena = self.context.arena;
        let strays: Vec<Expr<'a>> =
            self.scratch.statements.drain(first..).filter_map(|s| value(&s)).collect();
        let token_at = |start: u32| self.context.tokens.partition_point(|token| token.start < start);
        let (from, to, count) =
            (token_at(behind.start), token_at(behind.end), token_at(before.span.start) + 1);
        let kind = match before.kind {
            ExprKind::Binary(operator, ..) => {
                let add = |left: Expr<'a>, right: &Expr<'a>| Expr {
                    kind: ExprKind::Binary(operator, arena.alloc(left), arena.alloc(*right)),
                    span: before.span.to(right.span),
                };
                strays.iter().fold(*before, add).kind
            }
            ExprKind::List(items) => {
                let items: Vec<Expr<'a>> = items.iter().copied().chain(strays).collect();
                if let Some(layout) = &mut self.layout {
                    layout.counts.push((count, u32::try_from(items.len()).unwrap_or(u32::MAX)));
                }
                ExprKind::List(arena.alloc_slice_copy(&items))
            }
            kind => kind,
        };
        if let Some(layout) = &mut self.layout {
            // They begin no lines.
            let line = |token: usize| layout.lines.partition_point(|&(line, _)| line < token);
            let lines = line(from)..line(to);
            layout.lines.drain(lines);
        }
        self.replace_value(Expr { kind, span: before.span.to(behind) });
    }

    /// Gives the last statement another value.
    fn replace_value(&mut self, new: Expr<'a>) {
        let Some(last) = self.scratch.statements.last_mut() else { return };
        last.span = last.span.to(new.span);
        if let StmtKind::Let { value: Bound::Expr(value), .. }
        | StmtKind::Value(value)
        | StmtKind::Return(_, value)
        | StmtKind::Fail(value) = &mut last.kind
        {
            *value = new;
        }
    }

    /// A field behind a FIELD on its line, `FIELD 0 0 1`: read as `FIELD FIELD 0 0 1`. The statements of the
    /// block begin at `first`.
    pub(crate) fn longer_path(&mut self, first: usize, nesting: Nesting) -> Result<bool, Stop> {
        let token = self.state.current;
        if token.kind != Kind::Integer || token.first || self.scratch.statements.len() <= first {
            return Ok(false);
        }
        let before = self.scratch.statements.last().and_then(value);
        let Some(before) = before.filter(|value| matches!(value.kind, ExprKind::Field(..))) else {
            return Ok(false);
        };
        let named = super::numbers::digits(self.text(&token))
            .and_then(|id| self.names.registries.get(registry::NameKind::Fields).name(id));
        let depth = usize::from(nesting.depth) + levels(&before) + 1;
        if named.is_none() || depth > usize::from(self.context.max_depth) {
            return Ok(false);
        }
        let name = numbers::field_name(self, Word::Field)?;
        let kind = ExprKind::Field(self.context.arena.alloc(before), name);
        self.replace_value(Expr { kind, span: before.span.to(name.span) });
        Ok(true)
    }

    /// Whether the statement before this number of values leaves the function.
    pub(crate) fn left_before(&self, values: usize) -> bool {
        let before = self
            .scratch
            .statements
            .len()
            .checked_sub(values + 1)
            .and_then(|before| self.scratch.statements.get(before));
        before.is_some_and(|before| matches!(before.kind, StmtKind::Return(..) | StmtKind::Fail(_)))
    }
}

/// Whether a value that follows can only be one more of this expression: an operator that chains, or a list.
fn goes_on(before: &Expr<'_>) -> bool {
    match before.kind {
        ExprKind::Binary(operator, _, right) => {
            matches!(operator, Binary::Add | Binary::Mul | Binary::Concat | Binary::And | Binary::Or)
                && !matches!(right.kind, ExprKind::Binary(..))
        }
        ExprKind::List(_) => true,
        _ => false,
    }
}

/// Adds what to write for a token that cannot begin a statement but follows one on its line.
pub(crate) fn behind_statement(token: &Token, wrong: Diagnostic) -> Diagnostic {
    const REMOVE: &str = "remove it, or write the instruction that it belongs to";
    wrong.help(if token.kind == Kind::Operator { PREFIX } else { REMOVE })
}

/// The value with which a statement ends.
pub(crate) fn value<'a>(statement: &Stmt<'a>) -> Option<Expr<'a>> {
    match statement.kind {
        StmtKind::Let { value: Bound::Expr(value), .. }
        | StmtKind::Value(value)
        | StmtKind::Return(_, value)
        | StmtKind::Fail(value) => Some(value),
        _ => None,
    }
}

/// Whether a statement is only a value, without calls.
pub(crate) fn is_value(statement: &Stmt<'_>) -> bool {
    matches!(statement.kind, StmtKind::Value(value) if !value.calls())
}

/// The levels of nesting of an expression, which is as deep as the reader allows.
fn levels(value: &Expr<'_>) -> usize {
    let mut most = 0;
    value.children(|child| most = most.max(levels(child)));
    most + 1
}
