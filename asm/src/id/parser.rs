//! The infrastructure of the parser: the cursor over tokens, the indents that end blocks, and errors.
//!
//! An indented block sets a *floor*: a line that does not begin with the indent of the floor ends the block.
//! The cursor shows such a line as [`Kind::Dedent`], so that no other code depends on indents.

use super::messages::blanks;
use super::state::Names;
use super::state::{Context, END, Floor, Frame, Lack, Layout, Nesting, Progress, Scratch, Stop};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;
use crate::syntax::lexer::{self, Kind, Token};
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::node::{Shape, Word};

/// The parser of a function. It is reused for the next function.
pub(crate) struct BodyParser<'p, 'a> {
    pub(crate) context: Context<'p, 'a>,
    pub(crate) state: Progress<'a>,
    pub(crate) names: Names<'a>,
    pub(crate) scratch: Scratch<'a>,
    pub(crate) diagnostics: &'p mut Diagnostics,
    pub(crate) layout: Option<&'p mut Layout<'a>>,
}

impl<'p, 'a> BodyParser<'p, 'a> {
    pub(crate) fn new(
        context: Context<'p, 'a>,
        diagnostics: &'p mut Diagnostics,
        layout: Option<&'p mut Layout<'a>>,
    ) -> BodyParser<'p, 'a> {
        let (names, scratch) = (Names::new(), Scratch::default());
        BodyParser { context, state: Progress::at_start(0, 0), names, scratch, diagnostics, layout }
    }

    /// Resets the parser to the first token of a function, whose context is set.
    pub(crate) fn begin(&mut self, first: usize) {
        let start = self.context.tokens.get(first).map_or(0, |token| token.start);
        self.state = Progress::at_start(first, start);
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
        let below = |floor: Floor<'_>| !lexer::indent(self.context.source, current).starts_with(floor.indent);
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
        self.tolerate(wrong);
        self.state.too_deep = true;
        Stop::Abandon
    }

    /// Reports a syntax error.
    pub(crate) fn fail(&mut self, diagnostic: Diagnostic) -> Stop {
        self.tolerate(diagnostic);
        Stop::Bad
    }

    /// Reports a syntax error after which parsing continues as if it were fixed.
    pub(crate) fn tolerate(&mut self, diagnostic: Diagnostic) {
        self.state.errors += 1;
        if self.diagnostics.is_full() || !self.follows(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether an error only follows from one beside it: after a wrong token an operand is missing too, and
    /// after a wrong kind of LIT its value is left over.
    fn follows(&self, error: &Diagnostic) -> bool {
        use Code::{BadCharacter, BadLiteral, BadNumber, BadString, ExpectedOperand, UnexpectedText};
        let beside = |a: Span, b: Span| {
            let between = self.context.source.get(a.end.min(b.start) as usize..b.start as usize);
            a <= b && between.is_some_and(|text| text.bytes().all(|byte| matches!(byte, b' ' | b'\t')))
        };
        let is_cause = |other: &Diagnostic| match other.code {
            BadCharacter | BadString | BadNumber => {
                beside(other.span, error.span) || beside(error.span, other.span)
            }
            BadLiteral => beside(other.span, error.span),
            _ => false,
        };
        matches!(error.code, BadLiteral | ExpectedOperand | UnexpectedText)
            && error.fix.is_none()
            && self.diagnostics.iter().any(is_cause)
    }

    /// Notes what is missing, if the function ends at the cursor.
    #[cold]
    pub(crate) fn lacks(&mut self, of: Word, shape: Shape) {
        if self.state.current.kind == Kind::End
            && let Some(layout) = &mut self.layout
        {
            layout.lack.get_or_insert(Lack { of, shape, tool: None, record: None });
        }
    }

    /// What is missing at the end of the function, to add where it is.
    pub(crate) fn lack(&mut self) -> Option<&mut Lack<'a>> {
        self.layout.as_mut()?.lack.as_mut()
    }

    /// Reports an error that does not affect where constructs end.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The diagnostic of the token at the cursor, which is not reported yet.
    pub(crate) fn refuse(&self, code: Code, message: String, expected: &str) -> Diagnostic {
        let (token, end) = (self.state.current, Span::at(self.state.last_end));
        let (code, span, found) = match token.kind {
            Kind::Dedent => (Code::IncompleteBlock, end, "the end of the block".to_owned()),
            Kind::End => (code, end, "the end of the function".to_owned()),
            _ => (code, token.span(), format!("`{}`", shorten(self.text(&token)))),
        };
        let wrong = Diagnostic::new(code, span, message).expected(expected, found);
        let floor = self.state.floor.filter(|_| token.kind == Kind::Dedent);
        match floor.and_then(|floor| self.token(floor.header)) {
            Some(header) => {
                let word = self.text(header);
                wrong.related(header.span(), format!("the block of this `{word}` ends here by its indent"))
            }
            None => wrong,
        }
    }

    /// Reports an indent that cannot be compared with a floor.
    pub(crate) fn mixed_indent(&mut self, indent: &str, other: &str, at: usize) {
        if indent.starts_with(other) || other.starts_with(indent) || self.state.mixed_at == Some(at) {
            return;
        }
        self.state.mixed_at = Some(at);
        let Some(token) = self.token(at) else { return };
        let length = u32::try_from(indent.len()).unwrap_or(0);
        let span = Span::new(token.start.saturating_sub(length), token.start);
        let message = "this indent and that of the lines before do not compare";
        self.tolerate(
            Diagnostic::new(Code::MixedIndent, span, message)
                .expected(format!("an indent that begins with {}", blanks(other)), blanks(indent))
                .help("indent with blanks alone, two a level"),
        );
    }

    pub(crate) fn frame(&self) -> Frame<'a> {
        Frame {
            floor: self.state.floor,
            fields: self.scratch.fields.len(),
            exprs: self.scratch.exprs.len(),
            cases: self.scratch.cases.len(),
            arms: self.scratch.arms.len(),
        }
    }

    /// Discards what a failed statement left open; the cursor does not move.
    pub(crate) fn unwind(&mut self, frame: &Frame<'a>) {
        self.state.floor = frame.floor;
        self.scratch.fields.truncate(frame.fields);
        self.scratch.exprs.truncate(frame.exprs);
        self.scratch.cases.truncate(frame.cases);
        self.scratch.arms.truncate(frame.arms);
        self.refresh();
    }
}
