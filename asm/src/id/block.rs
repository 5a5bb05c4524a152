//! Statements and blocks: which reading of a block counts, and how reading goes on after an error.

use super::expr::digits;
use super::mend::count_range;
use super::parser::{Diagnosed, Floor, Parser, Reading, Stop};
use super::surplus;
use crate::ast::{Arm, Block, Bound, Control, ExprKind, For, If, LoopId, Match, ReturnKind, Stmt, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::syntax::lexer::{self, Kind, Token};
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::node::{Place, Word};

/// The header of something that is counted: what it is and what its count says.
#[derive(Clone, Copy)]
struct Head {
    /// The token that begins the header; LET where the block is bound.
    token: usize,
    word: Word,
    /// The count, where one is there.
    count: Option<u32>,
    /// Whether there is one that is negative or beyond 32 bits.
    out_of_range: bool,
    /// Where the count stands, or would.
    count_span: Span,
    count_token: usize,
    of: &'static str,
}

/// Reads items up to a number of them, or as many as there are.
type Items<'p, 'a> = fn(&mut Parser<'p, 'a>, Option<u32>) -> Result<u32, Stop>;

impl<'p, 'a> Parser<'p, 'a> {
    /// Reads the body of a function.
    pub(crate) fn body(&mut self, tokens: std::ops::Range<usize>) -> Block<'a> {
        self.begin(tokens);
        let start = self.statements.len();
        let frame = self.frame();
        while self.current.kind != Kind::End {
            let begun = self.at;
            match self.statements(None) {
                Ok(_) => {}
                Err(Stop::Abandon | Stop::Rewind | Stop::Bad) => {
                    self.unwind(&frame);
                    self.recover(begun, false);
                }
            }
        }
        Block { statements: self.take_statements(start) }
    }

    fn take_statements(&mut self, start: usize) -> &'a [Stmt<'a>] {
        let taken = self.arena.alloc_slice_copy(self.statements.get(start..).unwrap_or_default());
        self.statements.truncate(start);
        taken
    }

    /// Whether the token under the cursor belongs to something around this block.
    fn ends_block(&self) -> bool {
        match self.current.word {
            None => matches!(self.current.kind, Kind::Dedent | Kind::End),
            Some(Word::Else) => self.open_ifs > 0,
            Some(Word::Err | Word::Ok) => self.open_matches > 0,
            Some(_) => false,
        }
    }

    /// Reads statements, `limit` of them or all; goes on after those that are wrong.
    fn statements(&mut self, limit: Option<u32>) -> Result<u32, Stop> {
        let frame = self.frame();
        let first = self.statements.len();
        let mut read = 0;
        // Values behind the last statement on its line.
        let mut behind = 0;
        while limit.is_none_or(|limit| read < limit) {
            self.resolve_word(true)?;
            if self.ends_block() {
                break;
            }
            let begun = self.at;
            let own_line = self.current.first;
            let kept = self.statements.len();
            match self.statement() {
                Ok(statement) => {
                    if !own_line && kept > first && surplus::is_value(&statement) {
                        behind += 1;
                    } else if behind > 0 {
                        self.surplus(behind)?;
                        behind = 0;
                    }
                    self.statements.push(statement);
                    read += 1;
                }
                Err(Stop::Bad) => {
                    self.unwind(&frame);
                    self.statements.truncate(kept);
                    self.recover(begun, true);
                    (read, behind) = (read + 1, 0);
                }
                Err(stop) => return Err(stop),
            }
        }
        if behind > 0 && self.left_before(behind) {
            self.surplus(behind)?;
        }
        Ok(read)
    }

    /// Goes to where the next statement begins: a word that begins nothing else, or a line no deeper than the one that
    /// failed. After nesting that was too deep, only such a line.
    fn recover(&mut self, begun: usize, words: bool) {
        let failed = self.tokens.get(begun).filter(|token| token.first);
        let deepest = failed.map_or(usize::MAX, |token| lexer::indent(self.source, token).len());
        if self.at == begun {
            self.bump();
        }
        while !self.ends_block() {
            let token = self.current;
            if token.first && lexer::indent(self.source, &token).len() <= deepest {
                return;
            }
            if words && self.begins_statement(&token) {
                return;
            }
            self.bump();
        }
    }

    /// Whether a token can only be the first of a statement.
    fn begins_statement(&self, token: &Token) -> bool {
        let word = match token.kind {
            Kind::Word => token.word.or_else(|| self.same_word(token)),
            _ => None,
        };
        word.is_some_and(|word| matches!(word.row().place, Place::Statement | Place::Control))
    }

    fn line(&mut self, token: usize, depth: usize) {
        if let Some(layout) = &mut self.layout {
            layout.lines.push((token, depth));
        }
    }

    fn statement(&mut self) -> Result<Stmt<'a>, Stop> {
        let header = self.at;
        let token = self.current;
        let Some(word) = token.word else { return Err(self.no_statement()) };
        self.line(header, self.blocks);
        let kind = match word {
            Word::Let => self.binding(header)?,
            Word::Ret => self.returning(word, ReturnKind::Plain)?,
            Word::RetOk => self.returning(word, ReturnKind::Ok)?,
            Word::RetErr => self.returning(word, ReturnKind::Err)?,
            Word::Fail => {
                self.bump();
                StmtKind::Fail(self.expr(word)?)
            }
            Word::Undo => {
                self.bump();
                if self.current.word != Some(Word::Call) {
                    return Err(self.no_call());
                }
                StmtKind::Undo(self.call_operand()?)
            }
            Word::If | Word::Match | Word::For => StmtKind::Control(self.control(word, header)?),
            Word::Else | Word::Err | Word::Ok => return Err(self.orphan(word)),
            _ => StmtKind::Value(self.expr(Word::Let)?),
        };
        Ok(Stmt { kind, span: Span::new(token.start, self.last_end) })
    }

    fn returning(&mut self, word: Word, kind: ReturnKind) -> Result<StmtKind<'a>, Stop> {
        self.bump();
        Ok(StmtKind::Return(kind, self.expr(word)?))
    }

    fn binding(&mut self, header: usize) -> Result<StmtKind<'a>, Stop> {
        self.bump();
        let (slot, slot_span) = self.slot(Word::Let)?;
        self.skip_equals(Word::Let)?;
        let value = match self.resolve_word(false)? {
            Some(word @ (Word::If | Word::Match | Word::For)) => Bound::Control(self.control(word, header)?),
            _ => Bound::Expr(self.expr(Word::Let)?),
        };
        Ok(StmtKind::Let { slot, slot_span, value })
    }

    /// An ELSE or an arm where none belongs. After an error it may well be a part of what was wrong.
    fn orphan(&mut self, word: Word) -> Stop {
        let follows_error = self.errors > 0;
        let token = self.current;
        let counted =
            self.last_count.filter(|&(_, end)| end == self.at && word == Word::Else && !token.first);
        let cases = self.statements.last().and_then(surplus::value);
        let counted =
            counted.filter(|_| cases.is_some_and(|value| matches!(value.kind, ExprKind::MatchMap(_))));
        if let Some(count) = counted.and_then(|(count, _)| self.tokens.get(count)) {
            let cases = digits(self.text(count)).unwrap_or(0);
            let wrong = self.refuse(
                Code::CountRange,
                format!("`MATCH_MAP` counts {cases} cases, and `ELSE` is one more"),
                "the end of the statement",
            );
            let most = cases.saturating_add(1).to_string();
            return self.stop(wrong.related(count.span(), "the count").replace(count.span(), most));
        }
        self.bump();
        while self.current.kind == Kind::Integer && !self.current.first {
            self.bump();
        }
        if follows_error && self.trials.is_empty() {
            return Stop::Bad;
        }
        let name = word.mnemonic();
        self.fail(if word == Word::Else {
            Diagnostic::new(
                Code::OrphanElse,
                token.span(),
                "there is no IF open that this `ELSE` could belong to",
            )
            .expected("a statement", "`ELSE`")
            .help("ELSE follows the last statement of an IF's block; check that block's count and indent")
        } else {
            Diagnostic::new(Code::ExpectedStatement, token.span(), format!("`{name}` stands only in a MATCH"))
                .expected("a statement", format!("`{name}`"))
                .help("check the count of arms and the indent of the MATCH before it")
        })
    }

    fn control(&mut self, word: Word, header: usize) -> Result<Control<'a>, Stop> {
        let span = self.current.span();
        self.bump();
        Ok(match word {
            Word::If => Control::If(self.conditional(header, span)?),
            Word::Match => Control::Match(self.matching(header, span)?),
            _ => Control::For(self.looping(header, span)?),
        })
    }

    fn conditional(&mut self, header: usize, span: Span) -> Result<&'a If<'a>, Stop> {
        let condition = self.expr(Word::If)?;
        let head = self.head(header, Word::If, "statements")?;
        self.open_ifs += 1;
        let then = self.block(&head)?;
        self.open_ifs -= 1;
        let otherwise = if self.resolve_word(true)? == Some(Word::Else) {
            let header = self.at;
            self.line(header, self.blocks);
            self.bump();
            let head = self.head(header, Word::Else, "statements")?;
            Some(self.block(&head)?)
        } else {
            None
        };
        Ok(self.arena.alloc(If { condition, then, otherwise, span }))
    }

    fn looping(&mut self, header: usize, span: Span) -> Result<&'a For<'a>, Stop> {
        let id = LoopId(self.loops);
        self.loops += 1;
        let (item, item_span) = self.slot(Word::For)?;
        let list = self.expr(Word::For)?;
        let head = self.head(header, Word::For, "statements")?;
        let body = self.block(&head)?;
        Ok(self.arena.alloc(For { id, item, item_span, list, body, span }))
    }

    fn matching(&mut self, header: usize, span: Span) -> Result<&'a Match<'a>, Stop> {
        let (slot, slot_span) = self.slot(Word::Match)?;
        let head = self.head(header, Word::Match, "arms")?;
        let start = self.arms.len();
        let errors = self.errors;
        self.deeper()?;
        self.blocks += 1;
        self.open_matches += 1;
        self.counted(&head, Parser::match_arms)?;
        self.open_matches -= 1;
        self.blocks -= 1;
        self.depth -= 1;
        let (mut err, mut ok) = (None, None);
        for index in start..self.arms.len() {
            let Some(&(word, arm)) = self.arms.get(index) else { break };
            let place = if word == Word::Err { &mut err } else { &mut ok };
            match place {
                None => *place = Some(arm),
                Some(before) => {
                    let name = word.mnemonic();
                    let diagnostic = Diagnostic::new(
                        Code::DuplicateArm,
                        arm.span,
                        format!("this MATCH has two `{name}` arms"),
                    )
                    .expected("one arm of each kind", format!("a second `{name}`"))
                    .related(before.span, "the first is here")
                    .help("put the statements of both into one");
                    self.report(diagnostic);
                }
            }
        }
        self.arms.truncate(start);
        if err.is_none() && ok.is_none() && self.errors == errors {
            let wrong = self.refuse(Code::ExpectedArm, "this MATCH has no arm".to_owned(), "`ERR` or `OK`");
            let wrong = wrong
                .related(span, "the MATCH")
                .help("write `ERR <slot> <count> …` and `OK <slot> <count> …`");
            return Err(self.stop(wrong));
        }
        Ok(self.arena.alloc(Match { slot, slot_span, err, ok, span }))
    }

    /// Reads arms, `limit` of them or all.
    fn match_arms(&mut self, limit: Option<u32>) -> Result<u32, Stop> {
        let frame = self.frame();
        let mut read = 0;
        while limit.is_none_or(|limit| read < limit) {
            let begun = self.at;
            if matches!(self.current.kind, Kind::Dedent | Kind::End) {
                break;
            }
            let result = match self.resolve_word(true)? {
                Some(word @ (Word::Err | Word::Ok)) => self.arm(word),
                _ if limit.is_some() => break,
                _ => {
                    let wrong = self.refuse(
                        Code::ExpectedArm,
                        "a MATCH holds arms, and statements stand in these".to_owned(),
                        "`ERR` or `OK`",
                    );
                    Err(self.stop(wrong.help("write `ERR <slot> <count>` or `OK <slot> <count>` before it")))
                }
            };
            match result {
                Ok(arm) => self.arms.push(arm),
                Err(Stop::Bad) => {
                    self.unwind(&frame);
                    if self.at == begun {
                        self.bump();
                    }
                    let is_end = |p: &Self| matches!(p.current.kind, Kind::Dedent | Kind::End);
                    while !is_end(self) && !matches!(self.current.word, Some(Word::Err | Word::Ok)) {
                        self.bump();
                    }
                }
                Err(stop) => return Err(stop),
            }
            read += 1;
        }
        Ok(read)
    }

    fn arm(&mut self, word: Word) -> Result<(Word, Arm<'a>), Stop> {
        let header = self.at;
        let span = self.current.span();
        self.line(header, self.blocks);
        self.bump();
        let (bind, bind_span) = self.slot(word)?;
        let head = self.head(header, word, "statements")?;
        let body = self.block(&head)?;
        Ok((word, Arm { bind, bind_span, body, span }))
    }

    /// Reads the count after a header. Where a line or a statement begins instead, the count is missing, and the block is
    /// read all the same.
    fn head(&mut self, token: usize, word: Word, of: &'static str) -> Result<Head, Stop> {
        let current = self.current;
        let mut head = Head {
            token,
            word,
            count: None,
            out_of_range: false,
            count_span: Span::at(self.last_end),
            count_token: self.at,
            of,
        };
        if current.kind == Kind::Integer {
            head.count_span = current.span();
            head.count = self.integer(&current);
            head.out_of_range = head.count.is_none();
            self.bump();
            return Ok(head);
        }
        let in_merge = self.merge_end == Some(self.at);
        if !in_merge && (current.first || self.begins_statement(&current)) {
            return Ok(head);
        }
        Err(self.no_count(word, of))
    }

    fn block(&mut self, head: &Head) -> Result<Block<'a>, Stop> {
        self.deeper()?;
        self.blocks += 1;
        let start = self.statements.len();
        self.counted(head, Parser::statements)?;
        self.blocks -= 1;
        self.depth -= 1;
        Ok(Block { statements: self.take_statements(start) })
    }

    /// Reads what a header counts, by its indent or its count.
    fn counted(&mut self, head: &Head, items: Items<'p, 'a>) -> Result<(), Stop> {
        let Some(indent) = self.floor(head)? else { return self.by_count(head, items) };
        let mark = self.mark();
        loop {
            let reading = if self.readings.is_empty() { None } else { self.readings.get(&head.token) };
            let result = match reading {
                Some(Reading::Trial) => {
                    self.trials.push(head.token);
                    let result = self.by_count(head, items);
                    if result.is_ok() {
                        self.trials.pop();
                    }
                    result
                }
                Some(Reading::Final) => self.by_indent(head, indent, false, items),
                None => self.by_indent(head, indent, head.count.is_some(), items),
            };
            match result {
                Err(Stop::Rewind) if self.rewind_to == head.token => self.restore(&mark),
                done => return done,
            }
        }
    }

    /// The indent that the lines of a block begin with, where its header is the first of its line and the next line is
    /// indented deeper.
    fn floor(&mut self, head: &Head) -> Result<Option<&'a str>, Stop> {
        let Some(header) = self.tokens.get(head.token).filter(|token| token.first) else { return Ok(None) };
        let Some(line) = self.next_line() else { return Ok(None) };
        let (outer, inner) = (lexer::indent(self.source, header), lexer::indent(self.source, line));
        if inner.len() > outer.len() && inner.starts_with(outer) {
            return Ok(Some(inner));
        }
        if !outer.starts_with(inner) && !inner.starts_with(outer) {
            let at = self.tokens.partition_point(|token| token.start < line.start);
            self.mixed_indent(inner, outer, at)?;
        }
        Ok(None)
    }

    fn by_count(&mut self, head: &Head, items: Items<'p, 'a>) -> Result<(), Stop> {
        let errors = self.errors;
        let possible = head.count.filter(|&count| count as usize <= self.tokens.len());
        let Some(count) = possible else {
            let help = format!("write how many {} follow, or indent them below this line", head.of);
            self.tolerate(self.bad_count(head).help(help))?;
            return items(self, Some(1)).map(|_| ());
        };
        let read = items(self, Some(count))?;
        if read < count && self.errors == errors {
            let name = head.word.mnemonic();
            let code = if head.word == Word::Match { Code::ExpectedArm } else { Code::IncompleteBlock };
            let message = format!("`{name}` counts {count} {}, but {read} stand here", head.of);
            let mut wrong = self.refuse(code, message, &format!("{count} {}", head.of));
            wrong = wrong
                .related(head.count_span, "the count")
                .help(format!("write `{read}` for the count, or add what is missing"));
            match self.stop(wrong) {
                Stop::Bad => {}
                stop => return Err(stop),
            }
        }
        Ok(())
    }

    fn by_indent(
        &mut self,
        head: &Head,
        indent: &'a str,
        open: bool,
        items: Items<'p, 'a>,
    ) -> Result<(), Stop> {
        let errors = self.errors;
        self.floors.push(Floor { indent, header: head.token, open });
        self.refresh();
        let read = items(self, None)?;
        self.floors.pop();
        if let Some(token) = self.tokens.get(self.at).filter(|_| self.current.kind == Kind::Dedent) {
            self.mixed_indent(lexer::indent(self.source, token), indent, self.at)?;
        }
        self.refresh();
        if self.errors == errors && head.count != Some(read) {
            self.mismatch(head, read)?;
        }
        Ok(())
    }

    /// The diagnostic of a count that is missing or impossible.
    fn bad_count(&self, head: &Head) -> Diagnostic {
        let (name, of) = (head.word.mnemonic(), head.of);
        if head.out_of_range || head.count.is_some() {
            let found = self.source.get(head.count_span.range()).unwrap_or("");
            return count_range(head.count_span, found, self.tokens.len());
        }
        Diagnostic::new(Code::ExpectedCount, head.count_span, format!("`{name}` has no count of {of}"))
            .expected(format!("the number of {of}"), "no number")
    }

    /// Says that a count is not what the indent shows.
    fn mismatch(&mut self, head: &Head, read: u32) -> Result<(), Stop> {
        let (name, of) = (head.word.mnemonic(), head.of);
        let Some(count) = head.count else {
            let text = if head.out_of_range { read.to_string() } else { format!(" {read}") };
            let help = format!("by the indented lines, the number of {of} is {read}");
            return self.tolerate(self.bad_count(head).help(help).replace(head.count_span, text));
        };
        if let Some(layout) = &mut self.layout {
            layout.counts.push((head.count_token, read));
        }
        let message =
            format!("`{name}` counts {count} {of}, but {read} are indented below it and belong to it");
        self.report(
            Diagnostic::new(Code::CountMismatch, head.count_span, message)
                .expected(format!("`{read}`"), format!("`{count}`"))
                .replace(head.count_span, read.to_string()),
        );
        Ok(())
    }

    /// The diagnostic of a token that begins no statement.
    fn no_statement(&mut self) -> Stop {
        let token = self.current;
        if token.kind == Kind::Word {
            return self.unknown_instruction();
        }
        let text = shorten(self.text(&token));
        if token.first {
            let wrong = self.refuse(
                Code::ExpectedStatement,
                format!("`{text}` begins no statement"),
                "an instruction",
            );
            return self
                .stop(wrong.help("a statement begins with an instruction such as `LET`, `IF` or `RET`"));
        }
        let message = format!("`{text}` follows the end of a statement");
        let mut wrong = self.refuse(Code::UnexpectedText, message, "the end of the statement");
        let count = self.last_count.filter(|&(_, end)| end == self.at);
        wrong = match count.and_then(|(count, _)| self.tokens.get(count)) {
            Some(count) => wrong
                .related(count.span(), "what this counts ended here")
                .help("where this is one more, the count is too small"),
            None => Diagnosed(self.behind_statement(&token, wrong.0)),
        };
        self.stop(wrong)
    }
}
