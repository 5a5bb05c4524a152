//! The parser's machinery: the cursor over tokens, the indents that end blocks, going back, and errors.
//!
//! A block whose lines are indented sets a floor: a line that does not begin with the floor's indent ends the block. The
//! cursor shows such a line as [`Kind::Dedent`], so that nothing else needs to know of indents. Where a statement is cut
//! by it, the block is read once more by its count; where that fails too, by its indent again, for good, and the error
//! stands. Each block is so read at most three times in each reading of what is around it, within a budget that keeps
//! the whole linear. What is read is in [`super::block`] and [`super::expr`].

use crate::ast::{Arm, Case, Expr, Field, File, Function, Stmt};
use crate::diagnostic::{self, Diagnostic, Diagnostics};
use crate::notation::Notation;
use crate::source::Limits;
use crate::span::Span;
use crate::syntax::cursor::Cursor;
use crate::syntax::header::{self, Header};
use crate::syntax::ids::Slots;
use crate::syntax::lexer::{self, Kind, Lexed, Token};
use crate::syntax::registry::{self, Registries};
use crate::text::shorten;
use bumpalo::Bump;
use hashbrown::HashMap;
use ilo_spec::error::Code;
use ilo_spec::limits;
use ilo_spec::node::Word;
use ilo_spec::types::Type;

/// Comparisons of names for the messages of one file: enough for a thousand errors among sixty names.
const SEARCHES: usize = 1 << 20;

/// Why reading something stopped. The diagnostic, where there is one, is reported already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The statement is wrong: go on at the next one.
    Bad,
    /// The block that `rewind_to` names is read again in another way.
    Rewind,
    /// Nesting is too deep: go on at the function's next statement.
    Abandon,
}

/// How a block that was cut by its indent is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// By its count, unless that fails as well.
    Trial,
    /// By its indent, and what is wrong is an error.
    Final,
}

/// The indent that every line of an open block begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floor<'a> {
    pub(crate) indent: &'a str,
    /// The token that begins the block's header.
    pub(crate) header: usize,
    /// Whether the block may still be read by its count.
    pub(crate) open: bool,
}

/// What the formatter wants to know beside the tree.
#[derive(Debug, Default)]
pub(crate) struct Layout<'a> {
    pub(crate) functions: Vec<Section<'a>>,
    /// The token that begins each statement, arm and ELSE, with its depth.
    pub(crate) lines: Vec<(usize, usize)>,
    /// Count tokens that are wrong, with what is right.
    pub(crate) counts: Vec<(usize, u32)>,
}

/// A function as the formatter sees it.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    /// The comment that is its header, none before the first.
    pub(crate) header: Header<'a>,
    pub(crate) registries: Registries<'a>,
    /// Its comments that are written anew: header and registries.
    pub(crate) consumed: Vec<usize>,
    pub(crate) tokens: std::ops::Range<usize>,
    pub(crate) comments: std::ops::Range<usize>,
}

/// The parser of one function, used for one after another.
pub(crate) struct Parser<'p, 'a> {
    pub(crate) source: &'a str,
    pub(crate) arena: &'a Bump,
    pub(crate) tokens: &'p [Token],
    /// The token under the cursor.
    pub(crate) at: usize,
    /// One past the function's last token.
    end: usize,
    /// The token under the cursor as the floors show it.
    pub(crate) current: Token,
    /// The end of the token before the cursor.
    pub(crate) last_end: u32,
    pub(crate) floors: Vec<Floor<'a>>,
    pub(crate) readings: HashMap<usize, Reading>,
    /// The headers of the blocks that are being tried by their counts.
    pub(crate) trials: Vec<usize>,
    pub(crate) rewind_to: usize,
    /// How many more tokens may be read again.
    budget: usize,
    /// How many more names may be looked through for better messages.
    pub(crate) searches: usize,
    /// How many expressions and blocks are around the cursor.
    pub(crate) depth: usize,
    /// How many blocks are.
    pub(crate) blocks: usize,
    nesting: usize,
    too_deep: bool,
    /// Errors in this function so far; a block with some in it says nothing of its count.
    pub(crate) errors: usize,
    pub(crate) open_ifs: usize,
    pub(crate) open_matches: usize,
    mixed_at: Option<usize>,
    /// A misspelt word that was reported, and what it is read as.
    pub(crate) read_as: Option<(usize, Word)>,
    /// Where the last MERGE ended: an integer that is missing there went into it.
    pub(crate) merge_end: Option<usize>,
    /// The tools and fields of this function that are called by names which no registry has.
    pub(crate) missing: Vec<(registry::Kind, &'a str)>,
    /// The last counted list: its count's token and the token after it.
    pub(crate) last_count: Option<(usize, usize)>,
    pub(crate) registries: Registries<'a>,
    pub(crate) slots: Slots<'a>,
    /// Whether the function succeeds with nil.
    pub(crate) gives_nil: bool,
    pub(crate) calls: u32,
    pub(crate) loops: u32,
    pub(crate) diagnostics: &'p mut Diagnostics,
    pub(crate) layout: Option<&'p mut Layout<'a>>,
    // What was read of lists that are not complete, each list above those around it.
    pub(crate) statements: Vec<Stmt<'a>>,
    pub(crate) fields: Vec<Field<'a>>,
    pub(crate) exprs: Vec<Expr<'a>>,
    pub(crate) cases: Vec<Case<'a>>,
    pub(crate) arms: Vec<(Word, Arm<'a>)>,
}

/// What a statement that fails leaves open.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    depth: usize,
    blocks: usize,
    floors: usize,
    open_ifs: usize,
    open_matches: usize,
    fields: usize,
    exprs: usize,
    cases: usize,
    arms: usize,
}

/// All that going back restores.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    frame: Frame,
    at: usize,
    last_end: u32,
    statements: usize,
    trials: usize,
    errors: usize,
    slots: usize,
    missing: usize,
    calls: u32,
    loops: u32,
    too_deep: bool,
    lines: usize,
    counts: usize,
    diagnostics: diagnostic::Mark,
}

/// The comments that begin functions.
pub(crate) fn headers(source: &str, lexed: &Lexed) -> Vec<usize> {
    let is_header = |&(_, comment): &(usize, &lexer::Comment)| {
        comment.own_line && header::is_header(source, comment.span)
    };
    lexed.comments.iter().enumerate().filter(is_header).map(|(index, _)| index).collect()
}

/// Reads all functions of a source.
pub(crate) fn file<'a>(
    source: &'a str,
    arena: &'a Bump,
    options: &Limits,
    lexed: &Lexed,
    diagnostics: &mut Diagnostics,
    layout: Option<&mut Layout<'a>>,
) -> File<'a> {
    let headers = headers(source, lexed);
    let first = headers.first().and_then(|&index| lexed.comments.get(index));
    let before = first.map_or(lexed.tokens.len(), |comment| comment.before);
    if let (Some(from), Some(to)) = (lexed.tokens.first(), lexed.tokens.get(before.wrapping_sub(1))) {
        diagnostics.push(
            Diagnostic::new(
                Code::MissingHeader,
                from.span().to(to.span()),
                "these instructions belong to no function",
            )
            .expected("`; fn name(parameter: type) -> type`", "an instruction")
            .help("begin the function with a line such as `; fn main() -> nil`"),
        );
    } else if first.is_none() && !diagnostics.has_errors() {
        let message = "there is no program here";
        diagnostics.push(
            Diagnostic::new(Code::EmptyFile, Span::at(0), message)
                .expected("`; fn name(parameter: type) -> type`", "the end of the file"),
        );
    }
    let mut parser = Parser::new(source, arena, options, &lexed.tokens, diagnostics, layout);
    let mut functions = bumpalo::collections::Vec::with_capacity_in(headers.len(), arena);
    if headers.is_empty() && before > 0 {
        parser.nameless(lexed);
    }
    for (index, &comment) in headers.iter().enumerate() {
        let next = headers.get(index + 1).copied().unwrap_or(lexed.comments.len());
        let from = if index == 0 { 0 } else { comment };
        let function = parser.function(lexed, comment, from..next);
        functions.push(function);
    }
    File { functions: functions.into_bump_slice() }
}

impl<'p, 'a> Parser<'p, 'a> {
    pub(crate) fn new(
        source: &'a str,
        arena: &'a Bump,
        options: &Limits,
        tokens: &'p [Token],
        diagnostics: &'p mut Diagnostics,
        layout: Option<&'p mut Layout<'a>>,
    ) -> Parser<'p, 'a> {
        Parser {
            source,
            arena,
            tokens,
            at: 0,
            end: 0,
            current: Token { start: 0, end: 0, value: 0, kind: Kind::End, word: None, first: true },
            last_end: 0,
            floors: Vec::new(),
            readings: HashMap::new(),
            trials: Vec::new(),
            rewind_to: 0,
            budget: 0,
            searches: SEARCHES,
            depth: 0,
            blocks: 0,
            nesting: options.nesting.min(limits::NESTING),
            too_deep: false,
            errors: 0,
            open_ifs: 0,
            open_matches: 0,
            mixed_at: None,
            read_as: None,
            merge_end: None,
            missing: Vec::new(),
            last_count: None,
            registries: Registries::new(),
            slots: Slots::new(),
            gives_nil: false,
            calls: 0,
            loops: 0,
            diagnostics,
            layout,
            statements: Vec::new(),
            fields: Vec::new(),
            exprs: Vec::new(),
            cases: Vec::new(),
            arms: Vec::new(),
        }
    }

    /// Reads a file's instructions without any header, to say what else is wrong with them.
    fn nameless(&mut self, lexed: &Lexed) {
        self.registries.clear();
        for comment in lexed.comments.iter().filter(|comment| comment.own_line) {
            self.registries.read(Cursor::new(self.source, comment.span), self.arena, self.diagnostics);
        }
        self.body(0..lexed.tokens.len());
    }

    /// Reads the function of a header, given the range of its comments.
    fn function(&mut self, lexed: &Lexed, header: usize, comments: std::ops::Range<usize>) -> Function<'a> {
        let span = lexed.comments.get(header).map_or(Span::at(0), |comment| comment.span);
        let head = header::read(self.source, span, self.arena, self.diagnostics);
        self.behind(head, lexed, header, comments)
    }

    /// Reads what follows a header that was read.
    pub(crate) fn behind(
        &mut self,
        head: Header<'a>,
        lexed: &Lexed,
        header: usize,
        comments: std::ops::Range<usize>,
    ) -> Function<'a> {
        let token_at = |index: usize| lexed.comments.get(index).map_or(lexed.tokens.len(), |c| c.before);
        let tokens = token_at(header)..token_at(comments.end);
        let span = lexed.comments.get(header).map_or(Span::at(0), |comment| comment.span);
        self.registries.clear();
        self.slots.clear();
        self.gives_nil = head.output.ok.ty == Type::NIL;
        // Only the formatter asks for these.
        let mut consumed: Vec<usize> = self.layout.iter().map(|_| header).collect();
        self.registries.read(head.rest, self.arena, self.diagnostics);
        for index in comments.clone() {
            let Some(comment) = lexed.comments.get(index).filter(|c| c.own_line && index != header) else {
                continue;
            };
            if self.registries.read(Cursor::new(self.source, comment.span), self.arena, self.diagnostics) {
                consumed.extend(self.layout.is_some().then_some(index));
            }
        }
        for (number, parameter) in (0_u32..).zip(head.parameters) {
            self.slots.slot(number, || Some(parameter.name.text));
        }
        let body = self.body(tokens.clone());
        let function = Function {
            name: head.name,
            parameters: head.parameters,
            output: head.output,
            slots: self.arena.alloc_slice_copy(self.slots.list()),
            allowed: None,
            body,
            suspects: &[],
            calls: self.calls,
            loops: self.loops,
            notation: Notation::Id,
            span,
        };
        if let Some(layout) = &mut self.layout {
            let registries = std::mem::replace(&mut self.registries, Registries::new());
            layout.functions.push(Section { header: head, registries, consumed, tokens, comments });
        }
        function
    }

    /// Starts over on a range of tokens.
    pub(crate) fn begin(&mut self, tokens: std::ops::Range<usize>) {
        self.at = tokens.start;
        self.end = tokens.end;
        self.last_end = self.tokens.get(tokens.start).map_or(0, |token| token.start);
        self.budget = tokens.len().saturating_mul(16).saturating_add(1_000);
        self.readings.clear();
        self.missing.clear();
        self.trials.clear();
        self.floors.clear();
        (self.depth, self.blocks, self.open_ifs, self.open_matches, self.errors) = (0, 0, 0, 0, 0);
        (self.calls, self.loops, self.too_deep) = (0, 0, false);
        (self.mixed_at, self.read_as, self.merge_end, self.last_count) = (None, None, None, None);
        self.refresh();
    }

    /// Looks at the token under the cursor again, after the cursor or the floors have changed.
    #[inline]
    pub(crate) fn refresh(&mut self) {
        match self.tokens.get(self.at) {
            Some(token) if self.at < self.end => {
                self.current = *token;
                if token.first || (token.word.is_none() && token.kind == Kind::Word) {
                    self.look_closer();
                }
            }
            _ => {
                let at = self.last_end;
                self.current =
                    Token { start: at, end: at, value: 0, kind: Kind::End, word: None, first: true };
            }
        }
    }

    /// Shows the token under the cursor as the floors and mends have it.
    #[inline(never)]
    fn look_closer(&mut self) {
        if self.current.first && self.below_floor(&self.current) {
            (self.current.kind, self.current.word) = (Kind::Dedent, None);
        } else if let Some((at, word)) = self.read_as
            && at == self.at
        {
            self.current.word = Some(word);
        }
    }

    fn below_floor(&self, token: &Token) -> bool {
        self.floors.last().is_some_and(|floor| !lexer::indent(self.source, token).starts_with(floor.indent))
    }

    /// Goes to the next token.
    #[inline]
    pub(crate) fn bump(&mut self) {
        self.last_end = self.current.end;
        self.at += 1;
        self.refresh();
    }

    #[inline]
    pub(crate) fn text(&self, token: &Token) -> &'a str {
        self.source.get(token.span().range()).unwrap_or("")
    }

    /// The first token from the cursor on that begins a line.
    pub(crate) fn next_line(&self) -> Option<&'p Token> {
        self.tokens.get(self.at..self.end)?.iter().find(|token| token.first)
    }

    /// Enters something nested.
    #[inline]
    pub(crate) fn deeper(&mut self) -> Result<(), Stop> {
        self.depth += 1;
        if self.depth <= self.nesting { Ok(()) } else { self.beyond_nesting() }
    }

    #[cold]
    fn beyond_nesting(&mut self) -> Result<(), Stop> {
        if self.too_deep {
            return Err(Stop::Abandon);
        }
        let most = self.nesting;
        let diagnostic = Diagnostic::new(
            Code::TooDeep,
            self.current.span(),
            format!("this is nested deeper than {most} levels"),
        )
        .expected(format!("at most {most} levels"), format!("{} levels", most + 1))
        .help("bind what is inside with LET first");
        match self.fail(diagnostic) {
            Stop::Bad => {
                self.too_deep = true;
                Err(Stop::Abandon)
            }
            stop => Err(stop),
        }
    }

    /// Reports an error of form, unless a block is only being tried: then that block is read by its indent after all.
    pub(crate) fn fail(&mut self, diagnostic: Diagnostic) -> Stop {
        if let Some(&trial) = self.trials.last() {
            self.readings.insert(trial, Reading::Final);
            self.rewind_to = trial;
            return Stop::Rewind;
        }
        self.errors += 1;
        self.diagnostics.push(diagnostic);
        Stop::Bad
    }

    /// Reports an error of form after which reading can go on as if the mend were there.
    pub(crate) fn tolerate(&mut self, diagnostic: Diagnostic) -> Result<(), Stop> {
        match self.fail(diagnostic) {
            Stop::Bad => Ok(()),
            stop => Err(stop),
        }
    }

    /// Reports an error that says nothing about where things end.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Refuses the token under the cursor. Where it is a line that ends a block, that block may be read by its count.
    pub(crate) fn refuse(&mut self, code: Code, message: String, expected: &str) -> Diagnosed {
        let token = self.current;
        let (code, span, found) = match token.kind {
            Kind::Dedent => {
                (Code::IncompleteBlock, Span::at(self.last_end), "the end of the block".to_owned())
            }
            Kind::End => (code, Span::at(self.last_end), "the end of the function".to_owned()),
            _ => (code, token.span(), format!("`{}`", shorten(self.text(&token)))),
        };
        Diagnosed(Diagnostic::new(code, span, message).expected(expected, found))
    }

    /// Stops at the token under the cursor with a diagnostic that [`Parser::refuse`] made.
    pub(crate) fn stop(&mut self, diagnosed: Diagnosed) -> Stop {
        let Diagnosed(mut diagnostic) = diagnosed;
        if self.current.kind == Kind::Dedent {
            if let Some(stop) = self.try_count() {
                return stop;
            }
            if let Some(header) = self.floors.last().and_then(|floor| self.tokens.get(floor.header)) {
                let word = self.text(header);
                diagnostic = diagnostic
                    .related(header.span(), format!("the block of this `{word}` ends here by its indent"));
            }
        }
        self.fail(diagnostic)
    }

    /// Has the outermost block that the line under the cursor ends read by its count, where that is still open.
    fn try_count(&mut self) -> Option<Stop> {
        let indent = lexer::indent(self.source, self.tokens.get(self.at)?);
        let kept = self.floors.iter().take_while(|floor| indent.starts_with(floor.indent)).count();
        let broken = self.floors.get(kept..)?;
        let root = broken.first()?.header;
        let cost = 2 * self.at.saturating_sub(root);
        if broken.iter().any(|floor| !floor.open) || cost > self.budget {
            return None;
        }
        self.budget -= cost;
        self.readings.insert(root, Reading::Trial);
        self.rewind_to = root;
        Some(Stop::Rewind)
    }

    /// Says so where an indent and a floor cannot be compared.
    pub(crate) fn mixed_indent(&mut self, indent: &str, other: &str, at: usize) -> Result<(), Stop> {
        if indent.starts_with(other) || other.starts_with(indent) || self.mixed_at == Some(at) {
            return Ok(());
        }
        self.mixed_at = Some(at);
        let Some(token) = self.tokens.get(at) else { return Ok(()) };
        let length = u32::try_from(indent.len()).unwrap_or(0);
        let span = Span::new(token.start.saturating_sub(length), token.start);
        self.tolerate(
            Diagnostic::new(
                Code::MixedIndent,
                span,
                "this indent and that of the lines before do not compare",
            )
            .expected(format!("an indent that begins with {}", blanks(other)), blanks(indent))
            .help("indent with blanks alone, two a level"),
        )
    }

    pub(crate) fn frame(&self) -> Frame {
        Frame {
            depth: self.depth,
            blocks: self.blocks,
            floors: self.floors.len(),
            open_ifs: self.open_ifs,
            open_matches: self.open_matches,
            fields: self.fields.len(),
            exprs: self.exprs.len(),
            cases: self.cases.len(),
            arms: self.arms.len(),
        }
    }

    /// Closes what a failed statement left open; the cursor stays.
    pub(crate) fn unwind(&mut self, frame: &Frame) {
        self.depth = frame.depth;
        self.blocks = frame.blocks;
        self.floors.truncate(frame.floors);
        self.open_ifs = frame.open_ifs;
        self.open_matches = frame.open_matches;
        self.fields.truncate(frame.fields);
        self.exprs.truncate(frame.exprs);
        self.cases.truncate(frame.cases);
        self.arms.truncate(frame.arms);
        self.refresh();
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            frame: self.frame(),
            at: self.at,
            last_end: self.last_end,
            statements: self.statements.len(),
            trials: self.trials.len(),
            errors: self.errors,
            slots: self.slots.list().len(),
            missing: self.missing.len(),
            calls: self.calls,
            loops: self.loops,
            too_deep: self.too_deep,
            lines: self.layout.as_ref().map_or(0, |layout| layout.lines.len()),
            counts: self.layout.as_ref().map_or(0, |layout| layout.counts.len()),
            diagnostics: self.diagnostics.mark(),
        }
    }

    /// Goes back.
    pub(crate) fn restore(&mut self, mark: &Mark) {
        self.at = mark.at;
        self.last_end = mark.last_end;
        self.statements.truncate(mark.statements);
        self.trials.truncate(mark.trials);
        self.errors = mark.errors;
        self.slots.truncate(mark.slots);
        self.missing.truncate(mark.missing);
        self.calls = mark.calls;
        self.loops = mark.loops;
        self.too_deep = mark.too_deep;
        self.mixed_at = self.mixed_at.filter(|&at| at < mark.at);
        (self.read_as, self.merge_end, self.last_count) = (None, None, None);
        if let Some(layout) = &mut self.layout {
            layout.lines.truncate(mark.lines);
            layout.counts.truncate(mark.counts);
        }
        self.diagnostics.rewind(mark.diagnostics);
        self.unwind(&mark.frame);
    }
}

/// A diagnostic about the token under the cursor that is not reported yet.
pub(crate) struct Diagnosed(pub(crate) Diagnostic);

impl Diagnosed {
    pub(crate) fn help(self, help: impl Into<String>) -> Diagnosed {
        Diagnosed(self.0.help(help))
    }

    pub(crate) fn replace(self, span: Span, text: impl Into<String>) -> Diagnosed {
        Diagnosed(self.0.replace(span, text))
    }

    pub(crate) fn related(self, span: Span, what: &str) -> Diagnosed {
        Diagnosed(self.0.related(span, what))
    }
}

/// An indent in words.
fn blanks(indent: &str) -> String {
    let tabs = indent.bytes().filter(|&byte| byte == b'\t').count();
    match (tabs, indent.len() - tabs) {
        (0, blanks) => format!("{blanks} blanks"),
        (tabs, 0) => format!("{tabs} tabs"),
        (tabs, blanks) => format!("{tabs} tabs and {blanks} blanks"),
    }
}
