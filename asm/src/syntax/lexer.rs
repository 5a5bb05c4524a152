//! The lexer of ID text, and the limits that are checked before anything else.
//!
//! The lexer knows the forms of tokens, not the grammar. Characters that begin no token are reported here,
//! once for each run, and dropped. Comments are kept separately, since only headers and the formatter need
//! them.

use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix};
use crate::source::SourceLimits;
use crate::span::Span;
use core::ops::Range;
use ilo_spec::error::Code;
use ilo_spec::node::Word;
use logos::Logos;

/// The kind of a token.
#[derive(Logos, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[logos(skip r"[ \t]+")]
#[repr(u8)]
pub(crate) enum Kind {
    #[regex(r"[\r\n][ \t\r\n]*")]
    Break,
    #[regex(r"[A-Za-z_][A-Za-z0-9_.:/-]*")]
    Word,
    #[regex(r"-?[0-9]+", priority = 20)]
    Integer,
    /// Anything that looks like a number; the parser of numbers decides.
    #[regex(r"[-+]?\.?[0-9][0-9A-Za-z_.]*([eE][-+][0-9A-Za-z_.]*)?", priority = 10)]
    Number,
    /// A string without escapes.
    #[regex(r#""[^"\\\x00-\x1F]*""#, priority = 20)]
    Text,
    /// A string with escapes, or with characters that need one.
    #[regex(r#""([^"\\\r\n]|\\[^\r\n])*""#, priority = 10)]
    EscapedText,
    /// An unterminated string.
    #[regex(r#""([^"\\\r\n]|\\[^\r\n])*\\?"#, priority = 5)]
    OpenText,
    #[regex(r"'[^'\r\n]*'?")]
    SingleText,
    #[regex(r"\$[A-Za-z0-9_{}.-]*")]
    Dollar,
    #[regex(r";[^\r\n]*", allow_greedy = true)]
    Comment,
    /// A comment of other languages.
    #[regex(r"(#|//|--)[^\r\n]*", priority = 20, allow_greedy = true)]
    OtherComment,
    #[regex(r"[,()\[\]{}:.]", priority = 3)]
    Punctuation,
    #[regex(r"[=<>!+*/%&|^?~-]+", priority = 2)]
    Operator,
    /// Replaces a token that ends the innermost block by its indent. Only the parser produces it.
    Dedent,
    /// The end of the source.
    #[default]
    End,
}

/// The [`Token::value`] of a token that is not a plain number: it is negative, has more than nine digits or
/// leading zeros, or is not a number.
pub(crate) const NO_VALUE: u32 = u32::MAX;

/// A token. Its text is the source between `start` and `end`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Token {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The value of an integer in the form of ids and counts, otherwise [`NO_VALUE`].
    pub(crate) value: u32,
    pub(crate) kind: Kind,
    /// The instruction, if it is one.
    pub(crate) word: Option<Word>,
    /// Whether it is the first token of its line.
    pub(crate) first: bool,
}

impl Token {
    pub(crate) fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }
}

/// A comment, from its `;` to the end of its line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comment {
    pub(crate) span: Span,
    /// The index of the next token.
    pub(crate) before: usize,
    /// Whether nothing else is on its line.
    pub(crate) own_line: bool,
}

/// The tokens of a source.
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    /// The tokens, without comments and line ends.
    pub(crate) tokens: Vec<Token>,
    pub(crate) comments: Vec<Comment>,
}

/// The blanks before a token that is the first of its line.
pub(crate) fn indent<'a>(source: &'a str, token: &Token) -> &'a str {
    let before = source.get(..token.start as usize).unwrap_or("");
    let blanks = before.bytes().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    before.get(before.len() - blanks..).unwrap_or("")
}

/// Whether the lines of a source are within their limit; longer ones are reported.
fn lines_fit(source: &str, options: &SourceLimits, diagnostics: &mut Diagnostics) -> bool {
    let bytes = source.as_bytes();
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let mut start = 0_usize;
    let mut good = true;
    // Windows of the length of the limit are skipped as a whole: only the last line end in each matters.
    while let Some(window) = bytes.get(start..start.saturating_add(options.line).saturating_add(1)) {
        if let Some(last) = window.iter().rposition(is_end) {
            start += last + 1;
            continue;
        }
        let rest = bytes.get(start + window.len()..).unwrap_or_default();
        let length = window.len() + rest.iter().position(is_end).unwrap_or(rest.len());
        let at = u32::try_from(start).unwrap_or(u32::MAX);
        let message = format!("this line has {length} bytes, more than {}", options.line);
        diagnostics.push(
            Diagnostic::new(Code::LineTooLong, Span::at(at), message)
                .expected(format!("at most {} bytes in a line", options.line), format!("{length} bytes"))
                .help("break the line where a statement begins, or raise the limit"),
        );
        good = false;
        start += length;
    }
    good
}

/// Lexes the program, which is a part of a source; `None` if a line exceeds its limit.
pub(crate) fn lex(
    source: &str,
    part: Range<usize>,
    options: &SourceLimits,
    diagnostics: &mut Diagnostics,
) -> Option<Lexed> {
    if !lines_fit(source, options, diagnostics) {
        return None;
    }
    let skipped = u32::try_from(part.start).unwrap_or(u32::MAX);
    let text = source.get(part).unwrap_or("");
    // A token and the blank after it rarely take fewer bytes; if they do, the vector grows.
    let mut lexed = Lexed { tokens: Vec::with_capacity(text.len() / 4), comments: Vec::new() };
    let mut first = true;
    let mut bad: Option<Span> = None;
    let mut marks: Vec<Span> = Vec::new();
    let mut kinds = Kind::lexer(text);
    while let Some(kind) = kinds.next() {
        let range = kinds.span();
        // The limit on the size of sources ensures that each offset fits.
        let offset = |at: usize| u32::try_from(at).map_or(u32::MAX, |at| at + skipped);
        let span = Span::new(offset(range.start), offset(range.end));
        let (kind, word) = match kind {
            Ok(Kind::Word) => (Kind::Word, Word::from_mnemonic(kinds.slice())),
            Ok(kind @ (Kind::Integer | Kind::Text | Kind::Number | Kind::EscapedText | Kind::Operator)) => {
                (kind, None)
            }
            Ok(Kind::Break) => {
                first = true;
                if !marks.is_empty() {
                    report_marks(source, &mut marks, diagnostics);
                }
                continue;
            }
            Ok(Kind::Comment) => {
                lexed.comments.push(Comment { span, before: lexed.tokens.len(), own_line: first });
                continue;
            }
            Ok(kind @ (Kind::OpenText | Kind::SingleText | Kind::Dollar)) => {
                report(kind, span, kinds.slice(), diagnostics);
                (kind, None)
            }
            Ok(Kind::Punctuation) => {
                marks.push(span);
                continue;
            }
            Ok(kind) => {
                report(kind, span, kinds.slice(), diagnostics);
                continue;
            }
            Err(()) => {
                match &mut bad {
                    Some(run) if run.end == span.start => run.end = span.end,
                    _ => report_run(source, bad.replace(span), diagnostics),
                }
                continue;
            }
        };
        let value = if kind == Kind::Integer { plain_value(kinds.slice()) } else { NO_VALUE };
        lexed.tokens.push(Token { start: span.start, end: span.end, value, kind, word, first });
        first = false;
    }
    report_marks(source, &mut marks, diagnostics);
    report_run(source, bad, diagnostics);
    Some(lexed)
}

/// The value of an integer in the form of ids and counts.
#[inline]
fn plain_value(text: &str) -> u32 {
    const MOST: usize = 9;
    let bytes = text.as_bytes();
    let odd = matches!(bytes, [b'-', ..] | [b'0', _, ..]);
    if odd || bytes.len() > MOST {
        return NO_VALUE;
    }
    bytes.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
}

/// Reports a token that this notation does not have.
#[cold]
fn report(kind: Kind, span: Span, text: &str, diagnostics: &mut Diagnostics) {
    let code = match kind {
        Kind::OpenText | Kind::SingleText => Code::BadString,
        // The parser reports it, with the slot that it names.
        Kind::Dollar => return,
        _ => Code::BadCharacter,
    };
    diagnostics.push_with(code, || match kind {
        Kind::OpenText => Diagnostic::new(code, span, "this string is not closed")
            .expected("`\"` on the same line", "the end of the line")
            .help("close the string with `\"`; a line break inside it is `\\n`"),
        Kind::SingleText => {
            let inner = text.trim_matches('\'');
            let wrong = Diagnostic::new(code, span, "a string has double quotes")
                .expected("`\"`", "`'`")
                .help("write the string as JSON does");
            if text.len() > 1 && text.ends_with('\'') && !inner.contains(['"', '\\', '\'']) {
                wrong.replace(span, format!("\"{inner}\""))
            } else {
                wrong
            }
        }
        Kind::OtherComment => {
            let mark = if text.starts_with('#') { "#" } else { text.get(..2).unwrap_or("") };
            let length = u32::try_from(mark.len()).unwrap_or(0);
            Diagnostic::new(code, span, format!("`{mark}` begins no comment"))
                .expected("`;`", format!("`{mark}`"))
                .help("a comment begins with `;`")
                .replace(Span::new(span.start, span.start + length), ";")
        }
        _ => Diagnostic::new(code, span, format!("`{text}` is not part of this notation")),
    });
}

/// Reports the brackets and other signs of a line together.
fn report_marks(source: &str, marks: &mut Vec<Span>, diagnostics: &mut Diagnostics) {
    let Some(&first) = marks.first() else { return };
    let groups = |mark: &Span| {
        source.get(mark.range()).is_some_and(|mark| matches!(mark, "(" | ")" | "[" | "]" | ","))
    };
    if marks.iter().all(groups) {
        return marks.clear();
    }
    diagnostics.push_with(Code::BadCharacter, || {
        let text = source.get(first.range()).unwrap_or("");
        let apart =
            |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'"');
        let edit = |&span: &Span| {
            let (before, after) = (span.start.wrapping_sub(1) as usize, span.end as usize);
            let alone = apart(source.as_bytes().get(before)) || apart(source.as_bytes().get(after));
            Edit { span, text: if alone { "" } else { " " }.to_owned() }
        };
        let title = if marks.len() == 1 { "remove this" } else { "remove these" };
        Diagnostic::new(Code::BadCharacter, first, format!("`{text}` is not part of this notation"))
            .expected("blanks between words", format!("`{text}`"))
            .help("counts decide where things end: leave such marks out")
            .fix(Fix { title: title.to_owned(), edits: marks.iter().map(edit).collect() })
    });
    marks.clear();
}

/// Reports a run of characters that begin no token.
fn report_run(source: &str, run: Option<Span>, diagnostics: &mut Diagnostics) {
    const SHOWN: usize = 20;
    let Some(span) = run else { return };
    let text = source.get(span.range()).unwrap_or("");
    let blank = text.chars().all(|c| c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}'));
    let shown: String = text.chars().take(SHOWN).flat_map(char::escape_default).collect();
    let diagnostic = Diagnostic::new(Code::BadCharacter, span, format!("`{shown}` begins no token"))
        .expected("an instruction, a number or a string", format!("`{shown}`"));
    diagnostics.push(if blank {
        diagnostic.help("write a blank or a tab").replace(span, " ")
    } else {
        diagnostic.help("leave it out, or put it into a string")
    });
}
