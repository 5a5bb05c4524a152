//! The infrastructure of the parser: the cursor over tokens, the indents that end blocks, checkpoints, and
//! errors.
//!
//! An indented block sets a *floor*: a line that does not begin with the indent of the floor ends the block.
//! The cursor shows such a line as [`Kind::Dedent`], so that no other code depends on indents. If it cuts a
//! statement, the block is parsed again by its count; if that fails too, by its indent again, and then the
//! error is final ([`super::block`]). A budget of tokens that may be read again keeps parsing linear.

use super::messages::blanks;
use super::names::Names;
use super::state::{Checkpoint, Context, END, Floor, Frame, Layout, Nesting, Scratch, State, Stop};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;
use crate::syntax::lexer::{self, Kind, Token};
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::node::Word;

/// The parser of a function. It is reused for the next function.
pub(crate) struct Parser<'p, 'a> {
    pub(crate) context: Context<'p, 'a>,
    pub(crate) state: State<'a>,
    pub(crate) names: Names<'a>,
    pub(crate) scratch: Scratch<'a>,
    /// The number of tokens that may still be read again.
    rereads: usize,
    pub(crate) diagnostics: &'p mut Diagnostics,
    pub(crate) layout: Option<&'p mut Layout<'a>>,
}

/// A diagnostic about the token at the cursor, which is not reported yet.
pub(crate) struct Refusal(pub(crate) Diagnostic);

impl Refusal {
    pub(crate) fn help(self, help: impl Into<String>) -> Refusal {
        Refusal(self.0.help(help))
    }

    pub(crate) fn replace(self, span: Span, text: impl Into<String>) -> Refusal {
        Refusal(self.0.replace(span, text))
    }

    pub(crate) fn related(self, span: Span, what: &str) -> Refusal {
        Refusal(self.0.related(span, what))
    }
}

impl<'p, 'a> Parser<'p, 'a> {
    pub(crate) fn new(
        context: Context<'p, 'a>,
        diagnostics: &'p mut Diagnostics,
        layout: Option<&'p mut Layout<'a>>,
    ) -> Parser<'p, 'a> {
        let (names, scratch) = (Names::new(), Scratch::default());
        Parser { context, state: State::at_start(0, 0), names, scratch, rereads: 0, diagnostics, layout }
    }

    /// Resets the parser to the first token of a function, whose context is set.
    pub(crate) fn begin(&mut self, first: usize) {
        let start = self.context.tokens.get(first).map_or(0, |token| token.start);
        let tokens = self.context.tokens.len().saturating_sub(first);
        self.rereads = tokens.saturating_mul(16).saturating_add(1_000);
        self.state = State::at_start(first, start);
        self.refresh();
    }

    /// Updates the current token after the cursor or the floor has changed.
    #[inline]
    pub(crate) fn refresh(&mut self) {
        if let Some(token) = self.context.tokens.get(self.state.at) {
            self.state.current = *token;
            if token.first || (token.word.is_none() && token.kind == Kind::Word) {
                self.look_closer();
            }
        } else {
            let at = self.state.last_end;
            self.state.current = Token { start: at, end: at, ..END };
        }
    }

    /// Computes the current token, considering the floor and the word as which it is read.
    #[inline(never)]
    fn look_closer(&mut self) {
        let current = &mut self.state.current;
        let below =
            |floor: &Floor<'_>| !lexer::indent(self.context.source, current).starts_with(floor.indent);
        if current.first && self.state.floor.is_some_and(below) {
            (current.kind, current.word) = (Kind::Dedent, None);
        } else if let Some((at, word)) = self.state.read_as
            && at == self.state.at
        {
            current.word = Some(word);
        }
    }

    /// Advances to the next token.
    #[inline]
    pub(crate) fn bump(&mut self) {
        self.state.last_end = self.state.current.end;
        self.state.at += 1;
        self.refresh();
    }

    #[inline]
    pub(crate) fn text(&self, token: &Token) -> &'a str {
        self.context.source.get(token.span().range()).unwrap_or("")
    }

    pub(crate) fn token(&self, index: usize) -> Option<&'p Token> {
        self.context.tokens.get(index)
    }

    /// The next token that begins a line, from the cursor on.
    pub(crate) fn next_line(&self) -> Option<(usize, &'p Token)> {
        let tokens = self.context.tokens.iter().enumerate();
        tokens.skip(self.state.at).find(|(_, token)| token.first)
    }

    /// Whether the cursor is at the end of a block by its indent, or of the function.
    pub(crate) fn at_end(&self) -> bool {
        matches!(self.state.current.kind, Kind::Dedent | Kind::End)
    }

    /// Whether the token at the cursor belongs to an enclosing construct.
    pub(crate) fn ends_block(&self, nesting: Nesting) -> bool {
        match self.state.current.word {
            None => self.at_end(),
            Some(Word::Else) => nesting.in_if || (nesting.in_loop && self.state.breaks > 0),
            Some(Word::Err | Word::Ok) => nesting.in_match,
            Some(_) => false,
        }
    }

    /// The nesting one level deeper.
    #[inline]
    pub(crate) fn deeper(&mut self, nesting: Nesting) -> Result<Nesting, Stop> {
        let depth = nesting.depth + 1;
        if depth <= self.context.max_depth {
            Ok(Nesting { depth, ..nesting })
        } else {
            Err(self.beyond_nesting())
        }
    }

    #[cold]
    fn beyond_nesting(&mut self) -> Stop {
        if self.state.too_deep {
            return Stop::Abandon;
        }
        let most = self.context.max_depth;
        let message = format!("this is nested deeper than {most} levels");
        let wrong = Diagnostic::new(Code::TooDeep, self.state.current.span(), message)
            .expected(format!("at most {most} levels"), format!("{} levels", most + 1))
            .help("bind what is inside with LET first");
        match self.fail(wrong) {
            Stop::Bad => {
                self.state.too_deep = true;
                Stop::Abandon
            }
            stop => stop,
        }
    }

    /// Reports a syntax error, unless a block is only being tried by its count: then that block is parsed by
    /// its indent.
    pub(crate) fn fail(&mut self, diagnostic: Diagnostic) -> Stop {
        if let Some(trial) = self.state.trial {
            return Stop::Rewind(trial);
        }
        self.state.errors += 1;
        self.diagnostics.push(diagnostic);
        Stop::Bad
    }

    /// Reports a syntax error after which parsing continues as if it were fixed.
    pub(crate) fn tolerate(&mut self, diagnostic: Diagnostic) -> Result<(), Stop> {
        match self.fail(diagnostic) {
            Stop::Bad => Ok(()),
            stop => Err(stop),
        }
    }

    /// Goes on as if the one meaning of something were written, unless a block is only tried by its count.
    pub(crate) fn take(&self) -> Result<(), Stop> {
        self.state.trial.map_or(Ok(()), |trial| Err(Stop::Rewind(trial)))
    }

    /// Reports an error that does not affect where constructs end.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Rejects the token at the cursor. If it is a line that ends a block, that block may be parsed by its
    /// count.
    pub(crate) fn refuse(&mut self, code: Code, message: String, expected: &str) -> Refusal {
        let (token, end) = (self.state.current, Span::at(self.state.last_end));
        let (code, span, found) = match token.kind {
            Kind::Dedent => (Code::IncompleteBlock, end, "the end of the block".to_owned()),
            Kind::End => (code, end, "the end of the function".to_owned()),
            _ => (code, token.span(), format!("`{}`", shorten(self.text(&token)))),
        };
        Refusal(Diagnostic::new(code, span, message).expected(expected, found))
    }

    /// Stops at the token at the cursor with a diagnostic from [`Parser::refuse`].
    pub(crate) fn stop(&mut self, Refusal(mut diagnostic): Refusal) -> Stop {
        if self.state.current.kind == Kind::Dedent {
            if let Some(stop) = self.try_count() {
                return stop;
            }
            if let Some(header) = self.state.floor.and_then(|floor| self.token(floor.header)) {
                let word = self.text(header);
                diagnostic = diagnostic
                    .related(header.span(), format!("the block of this `{word}` ends here by its indent"));
            }
        }
        self.fail(diagnostic)
    }

    /// Makes the outermost block that the line at the cursor ends be parsed by its count, if that is still
    /// possible.
    fn try_count(&mut self) -> Option<Stop> {
        let indent = lexer::indent(self.context.source, self.token(self.state.at)?);
        let mut outermost = None;
        let mut floor = self.state.floor;
        while let Some(broken) = floor.filter(|floor| !indent.starts_with(floor.indent)) {
            if !broken.open {
                return None;
            }
            (outermost, floor) = (Some(broken.header), broken.outer);
        }
        let root = outermost?;
        self.rereads = self.rereads.checked_sub(2 * self.state.at.saturating_sub(root))?;
        Some(Stop::Rewind(root))
    }

    /// Reports an indent that cannot be compared with a floor.
    pub(crate) fn mixed_indent(&mut self, indent: &str, other: &str, at: usize) -> Result<(), Stop> {
        if indent.starts_with(other) || other.starts_with(indent) || self.state.mixed_at == Some(at) {
            return Ok(());
        }
        self.state.mixed_at = Some(at);
        let Some(token) = self.token(at) else { return Ok(()) };
        let length = u32::try_from(indent.len()).unwrap_or(0);
        let span = Span::new(token.start.saturating_sub(length), token.start);
        let message = "this indent and that of the lines before do not compare";
        self.tolerate(
            Diagnostic::new(Code::MixedIndent, span, message)
                .expected(format!("an indent that begins with {}", blanks(other)), blanks(indent))
                .help("indent with blanks alone, two a level"),
        )
    }

    pub(crate) fn frame(&self) -> Frame<'a> {
        Frame {
            floor: self.state.floor,
            trial: self.state.trial,
            fields: self.scratch.fields.len(),
            exprs: self.scratch.exprs.len(),
            cases: self.scratch.cases.len(),
            arms: self.scratch.arms.len(),
        }
    }

    /// Discards what a failed statement left open; the cursor does not move.
    pub(crate) fn unwind(&mut self, frame: &Frame<'a>) {
        (self.state.floor, self.state.trial) = (frame.floor, frame.trial);
        self.truncate(frame);
        self.refresh();
    }

    fn truncate(&mut self, frame: &Frame<'a>) {
        self.scratch.fields.truncate(frame.fields);
        self.scratch.exprs.truncate(frame.exprs);
        self.scratch.cases.truncate(frame.cases);
        self.scratch.arms.truncate(frame.arms);
    }

    pub(crate) fn checkpoint(&self) -> Checkpoint<'a> {
        Checkpoint {
            state: self.state,
            frame: self.frame(),
            statements: self.scratch.statements.len(),
            names: self.names.counts(),
            lines: self.layout.as_ref().map_or(0, |layout| layout.lines.len()),
            counts: self.layout.as_ref().map_or(0, |layout| layout.counts.len()),
            diagnostics: self.diagnostics.mark(),
        }
    }

    /// Returns to a checkpoint.
    pub(crate) fn restore(&mut self, to: &Checkpoint<'a>) {
        self.state = to.state;
        self.truncate(&to.frame);
        self.scratch.statements.truncate(to.statements);
        self.names.truncate(to.names);
        if let Some(layout) = &mut self.layout {
            layout.lines.truncate(to.lines);
            layout.counts.truncate(to.counts);
        }
        self.diagnostics.rewind(to.diagnostics);
    }
}
