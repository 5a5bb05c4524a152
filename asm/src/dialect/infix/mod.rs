//! Parses infix expressions, as in `expr`, `if`, `return` and `ok` of YAML: `$.price * $.quantity >= 1000`.
//!
//! Precedence, from the lowest: `or`; `and`; `not x`; one of `== != >= <= > <`; `+ -`; `* / %`; `-x`.
//! Functions are written `len(x)`, `at(list, 0)`, `has(record, 'field')`, `append(list, x)`, `concat(a, b,
//! …)`, and likewise the pure functions: `split(text, ' ')`. Literals are numbers, `true`, `false`, `null`,
//! `"text"` with JSON's escapes and `'text'` in which `''` is a quote; references inside texts are
//! interpolated as in every text. Hyphens belong to names, so subtraction has blanks around it. `-x` is `-1 *
//! x`, which keeps the sign of a zero.
//!
//! This module knows only the syntax, no scopes or types. Neither recursion nor the tree is deeper than the
//! allowed nesting. Words of other languages are reported with their equivalent, and understood if it is
//! clear.

mod braces;
mod composite;
mod lexer;
mod other_forms;
mod recovery;
mod text_expression;

pub(crate) use recovery::choice;
pub use text_expression::{arithmetic, operation, operators};
pub(crate) use text_expression::{call, is_text};

use super::operator::{self, COMPARISON, Form, Makes, Operator};
use super::reference::{Reference, Words};
use super::template::Template;
use crate::ast::{Binary, Literal, Unary};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::other_operator;
use crate::document::Node;
use crate::span::Span;
use crate::text::name_end;
use bumpalo::Bump;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use ilo_spec::pure::Pure;

/// The precedence of `-x`.
const SIGN: u8 = 7;

/// An expression.
#[derive(Clone, Copy, Debug)]
pub struct Infix<'a> {
    /// The kind.
    pub kind: InfixKind<'a>,
    /// From its first byte to its last, without enclosing parentheses.
    pub span: Span,
}

/// An expression's kind.
#[derive(Clone, Copy, Debug)]
pub enum InfixKind<'a> {
    /// A reference.
    Reference(Reference<'a>),
    /// A constant.
    Literal(Literal<'a>),
    /// A text with references in it.
    Template(Template<'a>),
    /// A unary operator.
    Unary(Unary, &'a Infix<'a>),
    /// A binary operator.
    Binary(Binary, &'a Infix<'a>, &'a Infix<'a>),
    /// A pure function with the operands that are written.
    Apply(Pure, &'a [Infix<'a>]),
}

/// Returns how to write the reference that a name without `$` means, if it means one.
pub type Meant<'m, 'a> = dyn Fn(&Reference<'a>) -> Option<String> + 'm;

/// Parses the text of a node as an expression of at most `nesting` levels. If it is not one, this is reported
/// and the result is `None`. `meant` says what a name without `$` refers to.
pub fn infix<'a>(
    node: &Node<'a>,
    nesting: usize,
    arena: &'a Bump,
    meant: &Meant<'_, 'a>,
    diagnostics: &mut Diagnostics,
) -> Option<Infix<'a>> {
    let words = Words::of(node, arena)?;
    let mut reader = Reader { meant: Some(meant), ..Reader::new(&words, nesting, diagnostics) };
    reader.whole().filter(|_| !reader.faulty)
}

/// A token.
#[derive(Clone, Copy)]
enum Token<'a> {
    End,
    Reference(Reference<'a>),
    Literal(Literal<'a>),
    Template(Template<'a>),
    /// A name without `$`.
    Word(&'a str),
    Symbol(&'a str),
    /// Marks an error that has been reported.
    Bad,
}

/// An expression and its nesting depth.
#[derive(Clone, Copy)]
struct Deep<'a> {
    tree: Infix<'a>,
    levels: usize,
}

/// What distinguishes an expression from a text that looks like one.
#[derive(Default)]
struct Seen {
    /// An operator that computes or compares.
    computes: bool,
    /// A reference.
    refers: bool,
    /// A `/` or `-` without surrounding blanks.
    tight: bool,
}

struct Reader<'r, 'n, 'a> {
    words: &'r Words<'n, 'a>,
    nesting: usize,
    diagnostics: &'r mut Diagnostics,
    token: Token<'a>,
    /// The byte range of the token, and the end of the previous one.
    from: usize,
    to: usize,
    before: usize,
    seen: Seen,
    /// Whether a name without `$` is a reference.
    bare: bool,
    meant: Option<&'r Meant<'r, 'a>>,
    /// Whether a name was reported and skipped, so that the other errors are found.
    faulty: bool,
}

impl<'r, 'n, 'a> Reader<'r, 'n, 'a> {
    fn new(words: &'r Words<'n, 'a>, nesting: usize, diagnostics: &'r mut Diagnostics) -> Reader<'r, 'n, 'a> {
        Reader {
            words,
            nesting,
            diagnostics,
            token: Token::End,
            from: 0,
            to: 0,
            before: 0,
            seen: Seen::default(),
            bare: false,
            meant: None,
            faulty: false,
        }
    }

    fn whole(&mut self) -> Option<Infix<'a>> {
        self.bump(true);
        if matches!(self.token, Token::End) {
            return self.refuse("an expression is missing", "an expression, as in `$.price * 2`");
        }
        let whole = self.expression(0, 0)?;
        if matches!(self.token, Token::End) { Some(whole.tree) } else { self.left_over() }
    }

    /// Parses operators of at least this precedence, with their operands.
    fn expression(&mut self, closeness: u8, level: usize) -> Option<Deep<'a>> {
        if level >= self.nesting {
            return self.too_deep();
        }
        let mut left = self.value(closeness, level)?;
        while let Some((operator, here)) = self.between() {
            if here < closeness {
                break;
            }
            self.take_operator(operator);
            self.seen.computes |= here >= COMPARISON;
            let middle = self.from;
            let right = self.expression(here + 1, level + 1)?;
            let span = left.tree.span.to(right.tree.span);
            left = self.made(operator, &[left, right], span)?;
            if here == COMPARISON && matches!(self.between(), Some((_, COMPARISON))) {
                self.chained(middle);
                return None;
            }
        }
        Some(left)
    }

    /// Parses an operand, with the forms of other languages behind it.
    fn value(&mut self, closeness: u8, level: usize) -> Option<Deep<'a>> {
        let start = self.from;
        let value = self.operand(closeness, level)?;
        if self.goes_on() { self.other_forms(start, value, closeness, level) } else { Some(value) }
    }

    /// The binary operator at the cursor, or the one that is meant.
    fn between(&self) -> Option<(&'static Operator, u8)> {
        let (Token::Word(text) | Token::Symbol(text)) = self.token else { return None };
        let found = operator::find(text).or_else(|| other_operator::meant(text))?;
        match found.form {
            Form::Between(closeness) => Some((found, closeness)),
            _ => None,
        }
    }

    /// Skips an operator; one of another language is reported.
    fn take_operator(&mut self, operator: &'static Operator) {
        let written = self.words.get(self.from, self.to);
        let mut meant = operator.spelling;
        let (from, mut to) = (self.from, self.to);
        let blank_before = self.before < from;
        self.bump(true);
        if written.eq_ignore_ascii_case("is")
            && matches!(self.token, Token::Word(word) if word.eq_ignore_ascii_case("not"))
        {
            meant = "!=";
            to = self.to;
            self.bump(true);
        }
        self.seen.tight |= matches!(meant, "/" | "-") && !(blank_before && to < self.from);
        if written != meant && !(written == "||" && self.no_default(from, to)) {
            self.other_operator(from, to, meant);
        }
    }

    fn operand(&mut self, closeness: u8, level: usize) -> Option<Deep<'a>> {
        let span = self.span();
        let leaf = |kind| Some(Deep { tree: Infix { kind, span }, levels: 1 });
        match self.token {
            Token::Reference(reference) => {
                self.seen.refers = true;
                self.bump(false);
                leaf(InfixKind::Reference(reference))
            }
            Token::Literal(literal) => {
                self.bump(false);
                leaf(InfixKind::Literal(literal))
            }
            Token::Template(template) => {
                self.seen.refers = true;
                self.bump(false);
                leaf(InfixKind::Template(template))
            }
            Token::Word(word) => self.word(word, closeness, level),
            Token::Symbol("(") => {
                self.bump(true);
                let inside = self.expression(0, level + 1)?;
                self.close("`)`")?;
                Some(inside)
            }
            Token::Symbol("-") => self.sign(level),
            Token::Symbol("!") => self.bang(level),
            Token::Symbol("+") => {
                self.lone_plus();
                self.bump(true);
                self.expression(SIGN, level + 1)
            }
            Token::Symbol("{" | "[") => {
                if self.double_braces() {
                    None
                } else {
                    self.no_composite()
                }
            }
            Token::Symbol("`") => {
                if self.marked_text(self.from, self.from) {
                    return None;
                }
                self.refuse("a value is missing", "a reference, a literal or `(`")
            }
            Token::Symbol(_) | Token::End => {
                self.refuse("a value is missing", "a reference, a literal or `(`")
            }
            Token::Bad => None,
        }
    }

    /// `-x`.
    fn sign(&mut self, level: usize) -> Option<Deep<'a>> {
        let span = self.span();
        self.bump(true);
        let operand = self.expression(SIGN, level + 1)?;
        let one = InfixKind::Literal(Literal::Number(Number::Int(-1)));
        let one = Deep { tree: Infix { kind: one, span }, levels: 1 };
        self.binary(Binary::Mul, one, operand)
    }

    /// `!x`, which is `not x` here.
    fn bang(&mut self, level: usize) -> Option<Deep<'a>> {
        let (from, to, span) = (self.from, self.to, self.span());
        self.bump(true);
        let operand = self.expression(SIGN, level + 1)?;
        self.no_bang(from, to);
        self.unary(Unary::Not, span, operand)
    }

    /// A word in the position of a value.
    fn word(&mut self, word: &'a str, closeness: u8, level: usize) -> Option<Deep<'a>> {
        let (from, to, span) = (self.from, self.to, self.span());
        if let Some((found, end)) = self.called(word) {
            self.to = end;
            return self.function(found, level);
        }
        if word.eq_ignore_ascii_case("not") {
            self.bump(true);
            if word != "not" {
                self.other_operator(from, to, "not");
            }
            let Some(Operator { form: Form::Before(own), .. }) = operator::find("not") else { return None };
            let operand = self.expression((*own).max(closeness), level + 1)?;
            return self.unary(Unary::Not, span, operand);
        }
        self.constant(word)
    }

    /// The function that is called at the cursor, by its name in ilo or in another language, and the end of
    /// the name. A name such as `JSON.parse` counts only in a text that may not be an expression; in an
    /// expression it is an error of its own.
    fn called(&self, word: &str) -> Option<(&'static Operator, usize)> {
        let opens = |end: usize| self.words.byte(self.words.blanks(end)) == Some(b'(');
        let function = |found: &&'static Operator| found.form == Form::Function;
        if opens(self.to) {
            let found = operator::find(word).or_else(|| other_operator::meant(word)).filter(function)?;
            return Some((found, self.to));
        }
        if self.meant.is_some() || self.words.byte(self.to) != Some(b'.') {
            return None;
        }
        let end = name_end(self.words.text, self.to + 1).filter(|&end| opens(end))?;
        let found = other_operator::meant(self.words.get(self.from, end)).filter(function)?;
        Some((found, end))
    }

    /// `true`, `false` or `null`; `nil` and the words of other languages are read too, with a warning.
    fn constant(&mut self, word: &'a str) -> Option<Deep<'a>> {
        let (from, to, span) = (self.from, self.to, self.span());
        let (literal, ours) = match word.to_ascii_lowercase().as_str() {
            "true" => (Literal::Bool(true), "true"),
            "false" => (Literal::Bool(false), "false"),
            "null" | "nil" | "none" | "undefined" => (Literal::Nil, "null"),
            _ if self.bare && operator::find(word).is_none() => return self.bare(),
            _ => return self.no_value(word),
        };
        if word != ours {
            let message = format!("`{word}` is another word for `{ours}`, and read as that");
            let warning = self.wrong(Code::OtherNotation, message).nearest(Some(ours));
            let warning = self.words.fix(warning.help(format!("write `{ours}`")), from, to, ours);
            self.diagnostics.push(warning);
        }
        self.bump(false);
        Some(Deep { tree: Infix { kind: InfixKind::Literal(literal), span }, levels: 1 })
    }

    /// A name without `$` that is a reference.
    fn bare(&mut self) -> Option<Deep<'a>> {
        let (reference, end) = self.words.bare(self.from)?;
        self.seen.refers = true;
        self.to = end;
        self.bump(false);
        Some(Deep { tree: Infix { kind: InfixKind::Reference(reference), span: reference.span }, levels: 1 })
    }

    /// Skips a word that was reported. Nothing uses the value in place of it.
    fn skip_word(&mut self, end: usize) -> Deep<'a> {
        self.faulty = true;
        let kind = InfixKind::Literal(Literal::Nil);
        let skipped = Deep { tree: Infix { kind, span: self.span() }, levels: 1 };
        self.to = end;
        self.bump(false);
        skipped
    }

    /// A call such as `len(x)`; the cursor is at the name.
    fn function(&mut self, found: &'static Operator, level: usize) -> Option<Deep<'a>> {
        let (from, to, span) = (self.from, self.to, self.span());
        if self.words.get(from, to) != found.spelling {
            self.other_operator(from, to, found.spelling);
        }
        self.seen.computes = true;
        self.bump(true);
        self.bump(true);
        let all = self.operands(level)?;
        let whole = self.words.part(from, self.before);
        if !found.takes(all.len()) {
            self.operand_count(found, all.len(), whole);
            return None;
        }
        let mut made = self.made(found, &all, span)?;
        made.tree.span = whole;
        Some(made)
    }

    /// The operands of a function up to its `)`; the cursor is behind the `(`.
    fn operands(&mut self, level: usize) -> Option<Vec<Deep<'a>>> {
        let mut all: Vec<Deep<'a>> = Vec::new();
        while !matches!(self.token, Token::Symbol(")")) {
            all.push(self.expression(0, level + 1)?);
            match self.token {
                Token::Symbol(",") => self.bump(true),
                Token::Symbol(")") => {}
                _ => return self.refuse("the operands of a function are not closed", "`,` or `)`"),
            }
        }
        self.bump(false);
        Some(all)
    }

    /// An operator with the number of operands that it takes.
    fn made(&mut self, found: &Operator, operands: &[Deep<'a>], span: Span) -> Option<Deep<'a>> {
        let (&first, rest) = operands.split_first()?;
        match found.makes {
            Makes::Unary(unary) => self.unary(unary, span, first),
            Makes::Binary(binary) => {
                rest.iter().try_fold(first, |left, &right| self.binary(binary, left, right))
            }
            Makes::Apply(function) => self.apply(function, operands, span),
        }
    }

    fn close(&mut self, what: &str) -> Option<()> {
        if matches!(self.token, Token::Symbol(")")) {
            self.bump(false);
            return Some(());
        }
        self.refuse("a parenthesis is not closed", &format!("{what} or an operator"))
    }

    fn unary(&mut self, unary: Unary, start: Span, operand: Deep<'a>) -> Option<Deep<'a>> {
        let levels = operand.levels + 1;
        if levels > self.nesting {
            return self.too_deep();
        }
        let kind = InfixKind::Unary(unary, self.words.arena.alloc(operand.tree));
        Some(Deep { tree: Infix { kind, span: start.to(operand.tree.span) }, levels })
    }

    fn apply(&mut self, function: Pure, operands: &[Deep<'a>], span: Span) -> Option<Deep<'a>> {
        let levels = operands.iter().map(|operand| operand.levels).max().unwrap_or_default() + 1;
        if levels > self.nesting {
            return self.too_deep();
        }
        let operands = self.words.arena.alloc_slice_fill_iter(operands.iter().map(|operand| operand.tree));
        Some(Deep { tree: Infix { kind: InfixKind::Apply(function, operands), span }, levels })
    }

    fn binary(&mut self, binary: Binary, left: Deep<'a>, right: Deep<'a>) -> Option<Deep<'a>> {
        let levels = left.levels.max(right.levels) + 1;
        if levels > self.nesting {
            return self.too_deep();
        }
        let span = left.tree.span.to(right.tree.span);
        let arena = self.words.arena;
        let kind = InfixKind::Binary(binary, arena.alloc(left.tree), arena.alloc(right.tree));
        Some(Deep { tree: Infix { kind, span }, levels })
    }

    fn span(&self) -> Span {
        self.words.part(self.from, self.to)
    }

    fn wrong(&self, code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, self.span(), message)
    }
}
