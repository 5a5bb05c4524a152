//! Infix expressions, as YAML's `expr`, `if`, `return` and `ok` have them: `$.price * $.quantity >= 1000`.
//!
//! From loosest to closest: `or`; `and`; `not x`; one of `== != >= <= > <`; `+ -`; `* / %`; `-x`. Functions are written
//! `len(x)`, `at(list, 0)`, `has(record, 'field')`, `append(list, x)`, `concat(a, b, …)`. Literals are numbers, `true`,
//! `false`, `null`, `"text"` with JSON's escapes and `'text'` in which `''` is a quote; references inside texts are
//! interpolated as in every text. Hyphens belong to names, so subtraction has blanks around it. `-x` is `-1 * x`, which
//! keeps the sign of a zero.
//!
//! Syntax alone, without scopes or types. Nothing recurses deeper than the nesting that is allowed, and a tree is no
//! deeper than that. Words of other languages are reported with what is written here, and understood where that is clear.

use super::operator::{self, COMPARISON, Form, LIST, Makes, Operator};
use super::reference::{INPUT, Reference, Words, name_end};
use super::template::{Sigil, Template, template_of};
use super::tree::{Kind, Node, Text};
use crate::ast::{Binary, Literal, Unary};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::id::{decode, shorten};
use crate::span::Span;
use bumpalo::Bump;
use ilo_spec::error::Code;
use ilo_spec::number::{self, NumberError};
use ilo_spec::program::Number;

/// How close `-x` binds.
const SIGN: u8 = 7;

/// An expression.
#[derive(Clone, Copy, Debug)]
pub struct Infix<'a> {
    /// Which.
    pub kind: InfixKind<'a>,
    /// From its first byte to its last, parentheses around it left out.
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
    /// An operator of one operand.
    Unary(Unary, &'a Infix<'a>),
    /// An operator of two operands.
    Binary(Binary, &'a Infix<'a>, &'a Infix<'a>),
}

/// Reads the text of a node as an expression of at most `nesting` levels; `None` where it makes none, which is reported.
pub fn infix<'a>(
    node: &Node<'a>,
    nesting: usize,
    arena: &'a Bump,
    diagnostics: &mut Diagnostics,
) -> Option<Infix<'a>> {
    let words = Words::of(node, arena)?;
    let mut reader = Reader::new(&words, nesting, diagnostics);
    reader.whole()
}

/// The expression that a text reads as, where it computes or compares with references in it: what a text that is no
/// expression where it stands was probably meant to be. A path such as `$dir/$file` is none.
pub fn arithmetic<'a>(node: &Node<'a>, nesting: usize, arena: &'a Bump) -> Option<Infix<'a>> {
    let words = Words::of(node, arena)?;
    if !words.text.contains('$') {
        return None;
    }
    let mut unseen = Diagnostics::default();
    let mut reader = Reader::new(&words, nesting, &mut unseen);
    let tree = reader.whole()?;
    let computes = reader.computes && reader.refers && !reader.tight;
    (computes && unseen.as_slice().is_empty()).then_some(tree)
}

/// What stands at a place of the text.
#[derive(Clone, Copy)]
enum Token<'a> {
    End,
    Reference(Reference<'a>),
    Literal(Literal<'a>),
    Template(Template<'a>),
    /// A name without `$`.
    Word(&'a str),
    Symbol(&'a str),
    /// What has been reported.
    Bad,
}

/// An expression and how many levels it has.
#[derive(Clone, Copy)]
struct Deep<'a> {
    tree: Infix<'a>,
    levels: usize,
}

struct Reader<'r, 'n, 'a> {
    words: &'r Words<'n, 'a>,
    nesting: usize,
    diagnostics: &'r mut Diagnostics,
    token: Token<'a>,
    /// The bytes of the token, and where the one before it ended.
    from: usize,
    to: usize,
    before: usize,
    computes: bool,
    refers: bool,
    tight: bool,
}

/// Symbols of more than one byte, each before those that begin it; of other languages too.
const SYMBOLS: [&str; 16] =
    ["!==", "===", "==", "!=", ">=", "<=", "=>", "=<", "<>", "~=", "&&", "||", "**", "//", "++", "??"];

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
            computes: false,
            refers: false,
            tight: false,
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

    /// Reads operators that bind at least so close, and their operands.
    fn expression(&mut self, closeness: u8, level: usize) -> Option<Deep<'a>> {
        if level >= self.nesting {
            return self.too_deep();
        }
        let mut left = self.operand(closeness, level)?;
        while let Some((operator, here)) = self.between() {
            if here < closeness {
                break;
            }
            self.take_operator(operator);
            self.computes |= here >= COMPARISON;
            let right = self.expression(here + 1, level + 1)?;
            let Makes::Binary(binary) = operator.makes else { return None };
            left = self.binary(binary, left, right)?;
            if here == COMPARISON && matches!(self.between(), Some((_, COMPARISON))) {
                let wrong = self.wrong(Code::BadExpression, "comparisons do not chain");
                self.diagnostics.push(wrong.help("write `$a < $b and $b < $c`"));
                return None;
            }
        }
        Some(left)
    }

    /// The operator under the cursor that stands between operands, or the one that is meant by it.
    fn between(&self) -> Option<(&'static Operator, u8)> {
        let (Token::Word(text) | Token::Symbol(text)) = self.token else { return None };
        let found = operator::find(text).or_else(|| operator::meant(text))?;
        match found.form {
            Form::Between(closeness) => Some((found, closeness)),
            _ => None,
        }
    }

    /// Goes past an operator; one of another language is reported.
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
        self.tight |= matches!(meant, "/" | "-") && !(blank_before && to < self.from);
        if written != meant {
            self.foreign(from, to, meant);
        }
    }

    /// Reports an operator of another language.
    fn foreign(&mut self, from: usize, to: usize, meant: &str) {
        let shown = self.words.get(from, to);
        let wrong = Diagnostic::new(
            Code::UnknownOperator,
            self.words.part(from, to),
            format!("`{shown}` is no operator"),
        )
        .expected(format!("`{meant}`"), format!("`{shown}`"))
        .nearest(Some(meant))
        .help(format!("write `{meant}`"));
        let word = meant.bytes().all(|byte| byte.is_ascii_alphabetic());
        let beside = |at: Option<u8>| {
            word && at.is_some_and(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'('))
        };
        let before = if beside(from.checked_sub(1).and_then(|at| self.words.byte(at))) { " " } else { "" };
        let after = if beside(self.words.byte(to)) { " " } else { "" };
        let wrong = self.words.mend(wrong, from, to, &format!("{before}{meant}{after}"));
        self.diagnostics.push(wrong);
    }

    fn operand(&mut self, closeness: u8, level: usize) -> Option<Deep<'a>> {
        let span = self.span();
        let leaf = |kind| Some(Deep { tree: Infix { kind, span }, levels: 1 });
        match self.token {
            Token::Reference(reference) => {
                self.refers = true;
                self.bump(false);
                leaf(InfixKind::Reference(reference))
            }
            Token::Literal(literal) => {
                self.bump(false);
                leaf(InfixKind::Literal(literal))
            }
            Token::Template(template) => {
                self.refers = true;
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
                let wrong = self.wrong(Code::BadExpression, "a `+` without a value before it");
                let wrong = self.words.mend(wrong.help("leave it out"), self.from, self.to, "");
                self.diagnostics.push(wrong);
                self.bump(true);
                self.expression(SIGN, level + 1)
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

    /// `!x`, which is `not x` elsewhere.
    fn bang(&mut self, level: usize) -> Option<Deep<'a>> {
        let (from, to, span) = (self.from, self.to, self.span());
        self.bump(true);
        let operand = self.expression(SIGN, level + 1)?;
        let wrong = Diagnostic::new(Code::UnknownOperator, span, "`!` is no operator")
            .expected("`not`", "`!`")
            .nearest(Some("not"));
        // `not` takes in the comparison that `!` does not.
        let wrong = if matches!(self.between(), Some((_, COMPARISON..))) {
            wrong.help("write `(not $x)`")
        } else {
            self.words.mend(wrong.help("write `not $x`"), from, to, "not ")
        };
        self.diagnostics.push(wrong);
        self.unary(Unary::Not, span, operand)
    }

    /// A word where a value belongs.
    fn word(&mut self, word: &'a str, closeness: u8, level: usize) -> Option<Deep<'a>> {
        let (from, to, span) = (self.from, self.to, self.span());
        if self.words.byte(self.words.blanks(to)) == Some(b'(')
            && let Some(found) = operator::find(word).or_else(|| operator::meant(word))
            && found.form == Form::Function
        {
            return self.function(found, level);
        }
        if word.eq_ignore_ascii_case("not") {
            self.bump(true);
            if word != "not" {
                self.foreign(from, to, "not");
            }
            let Some(Operator { form: Form::Before(own), .. }) = operator::find("not") else { return None };
            let operand = self.expression((*own).max(closeness), level + 1)?;
            return self.unary(Unary::Not, span, operand);
        }
        let (literal, ours) = match word.to_ascii_lowercase().as_str() {
            "true" => (Literal::Bool(true), "true"),
            "false" => (Literal::Bool(false), "false"),
            "null" | "nil" | "none" | "undefined" => (Literal::Nil, "null"),
            _ => return self.no_value(word),
        };
        if word != ours {
            let wrong = self.wrong(Code::BadExpression, format!("`{word}` is no value")).nearest(Some(ours));
            let wrong = self.words.mend(wrong.help(format!("write `{ours}`")), from, to, ours);
            self.diagnostics.push(wrong);
        }
        self.bump(false);
        Some(Deep { tree: Infix { kind: InfixKind::Literal(literal), span }, levels: 1 })
    }

    /// Reports a word that is no value.
    fn no_value(&mut self, word: &str) -> Option<Deep<'a>> {
        let (from, to) = (self.from, self.to);
        let called = self.words.byte(self.words.blanks(to)) == Some(b'(');
        if called || operator::find(word).is_some() {
            let near = operator::near(word).map(|near| near.spelling);
            let wrong = match operator::find(word) {
                Some(found) if found.form == Form::Function => self
                    .wrong(Code::BadExpression, format!("`{word}` takes its operands in parentheses"))
                    .help(format!("write `{}`", example(found))),
                Some(_) => self.wrong(Code::BadExpression, format!("a value is missing before `{word}`")),
                None => self
                    .wrong(Code::UnknownOperator, format!("there is no function `{}`", shorten(word)))
                    .nearest(near)
                    .help(format!("there are {LIST}; what a tool computes is a step with `call`")),
            };
            self.diagnostics.push(wrong);
            return None;
        }
        // A dotted word is a reference without its `$`; a word alone may as well be a text without its quotes.
        let text = self.words.text;
        let mut end = to;
        while self.words.byte(end) == Some(b'.') {
            let Some(after) = name_end(text, end + 1) else { break };
            end = after;
        }
        let whole = self.words.get(from, end);
        let meant = whole.strip_prefix(INPUT).filter(|rest| rest.starts_with('.')).unwrap_or(whole);
        let wrong = Diagnostic::new(
            Code::BadExpression,
            self.words.part(from, end),
            format!("`{}` is neither a reference nor a literal", shorten(whole)),
        );
        let wrong = if end > to {
            self.words.mend(wrong.help(format!("write `${meant}`")), from, end, &format!("${meant}"))
        } else {
            wrong.help(format!("write `${word}` for a value, `'{word}'` for a text"))
        };
        self.diagnostics.push(wrong);
        None
    }

    /// `len(x)` and its like; the cursor is at the word.
    fn function(&mut self, found: &'static Operator, level: usize) -> Option<Deep<'a>> {
        let (from, to, span) = (self.from, self.to, self.span());
        if self.words.get(from, to) != found.spelling {
            self.foreign(from, to, found.spelling);
        }
        self.computes = true;
        self.bump(true);
        self.bump(true);
        let mut tree: Option<Deep<'a>> = None;
        let mut operands = 0;
        while !matches!(self.token, Token::Symbol(")")) {
            let operand = self.expression(0, level + 1)?;
            operands += 1;
            tree = Some(match (tree, found.makes) {
                (Some(left), Makes::Binary(binary)) => self.binary(binary, left, operand)?,
                (Some(left), Makes::Unary(_)) => left,
                (None, _) => operand,
            });
            match self.token {
                Token::Symbol(",") => self.bump(true),
                Token::Symbol(")") => {}
                _ => return self.refuse("the operands of a function are not closed", "`,` or `)`"),
            }
        }
        let end = self.to;
        self.bump(false);
        if !found.takes(operands) {
            let wrong = Diagnostic::new(
                Code::OperandCount,
                self.words.part(from, end),
                format!("`{}` takes {}, not {operands}", found.spelling, found.operands()),
            );
            self.diagnostics.push(wrong.help(format!("write `{}`", example(found))));
            return None;
        }
        let mut whole = match found.makes {
            Makes::Unary(unary) => self.unary(unary, span, tree?)?,
            Makes::Binary(_) => tree?,
        };
        whole.tree.span = self.words.part(from, end);
        Some(whole)
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

    fn too_deep<T>(&mut self) -> Option<T> {
        let limit = self.nesting;
        let wrong = self
            .wrong(Code::TooDeep, "this expression is nested too deeply")
            .expected(format!("at most {limit} levels here"), "one more")
            .help("bind parts of it in steps of their own");
        self.diagnostics.push(wrong);
        None
    }

    fn span(&self) -> Span {
        self.words.part(self.from, self.to)
    }

    fn wrong(&self, code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, self.span(), message)
    }

    /// What the token is called.
    fn found(&self) -> String {
        match self.token {
            Token::End => "the end of the expression".to_owned(),
            _ => format!("`{}`", shorten(self.words.get(self.from, self.to))),
        }
    }

    fn refuse<T>(&mut self, message: &str, expected: &str) -> Option<T> {
        if !matches!(self.token, Token::Bad) {
            let wrong = self.wrong(Code::BadExpression, message).expected(expected, self.found());
            self.diagnostics.push(wrong);
        }
        None
    }

    /// Reports what stands behind an expression.
    fn left_over<T>(&mut self) -> Option<T> {
        let symbol = match self.token {
            Token::Bad => return None,
            Token::Word(text) | Token::Symbol(text) => text,
            _ => "",
        };
        let code = match symbol {
            "" | "(" | ")" | "," | "[" | "]" | "?" | ":" | ";" => Code::BadExpression,
            _ => Code::UnknownOperator,
        };
        let near = operator::near(symbol).filter(|_| code == Code::UnknownOperator);
        let help = match symbol {
            "?" | ":" => "there is no `a ? b : c`: use a step with `if`, `then` and `else`".to_owned(),
            "??" => "there is no default by `??`: use a step with `if`, `then` and `else`".to_owned(),
            "**" | "^" => "there is no power: write `$x * $x`".to_owned(),
            "//" => "write `($a - $a % $b) / $b`".to_owned(),
            "not" => "write `not has($record, 'field')`, or `not` before a comparison".to_owned(),
            "(" => "only functions take parentheses: `len($list)`".to_owned(),
            ")" => "remove it, or open it before".to_owned(),
            "'" | "\"" => "write the operator between the values".to_owned(),
            _ => match near {
                Some(Operator { form: Form::Function, .. }) => {
                    format!("write `{}`", near.map_or("", example))
                }
                Some(near) => format!("write `{}`", near.spelling),
                None => format!("the operators are {LIST}"),
            },
        };
        let message = if code == Code::UnknownOperator {
            format!("`{}` is no operator", shorten(symbol))
        } else {
            "something stands behind the expression".to_owned()
        };
        let wrong = self.wrong(code, message).expected("an operator or the end", self.found());
        self.diagnostics.push(wrong.nearest(near.map(|near| near.spelling)).help(help));
        None
    }

    /// Goes to the next token; `value` says whether a value may stand here, and so a `-` begin a number.
    fn bump(&mut self, value: bool) {
        self.before = self.to;
        let text = self.words.text;
        let rest = text.get(self.to..).unwrap_or("");
        self.from = text.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        let rest = text.get(self.from..).unwrap_or("");
        let digit = |at: usize| rest.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
        let (token, to) = match rest.chars().next() {
            None => (Token::End, self.from),
            Some('$') => self.dollar(),
            Some('"' | '\'') => self.text(),
            Some('-') if value && digit(1) => self.number(),
            Some('0'..='9') => self.number(),
            Some(c) => match name_end(text, self.from) {
                Some(end) => (Token::Word(self.words.get(self.from, end)), end),
                None => {
                    let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
                    let end = self.from + symbol.map_or(c.len_utf8(), |symbol| symbol.len());
                    (Token::Symbol(self.words.get(self.from, end)), end)
                }
            },
        };
        self.token = token;
        self.to = to;
    }

    /// Reports what begins at the cursor and ends at `to`.
    fn bad(&mut self, wrong: Diagnostic, to: usize) -> (Token<'a>, usize) {
        self.diagnostics.push(wrong);
        (Token::Bad, to)
    }

    fn dollar(&mut self) -> (Token<'a>, usize) {
        let at = self.from;
        if self.words.byte(at + 1) == Some(b'{') {
            return match self.words.braced(at) {
                Ok((reference, end)) => (Token::Reference(reference), end),
                Err(read) => {
                    let (wrong, end) = self.words.bad_braced(at, read);
                    self.bad(wrong, end)
                }
            };
        }
        let Some((reference, end)) = self.words.dollar(at, true) else {
            let wrong =
                Diagnostic::new(Code::BadExpression, self.words.part(at, at + 1), "a `$` without a name")
                    .expected("`$name`, `$.input` or `${name.field}`", "`$`")
                    .help("write `'$'` for a text");
            return self.bad(wrong, at + 1);
        };
        if let Some((wrong, end)) = self.words.bracket(at, end) {
            return self.bad(wrong, end);
        }
        (Token::Reference(reference), end)
    }

    fn number(&mut self) -> (Token<'a>, usize) {
        let bytes = self.words.text.as_bytes();
        let digits = |from: usize| {
            from + bytes.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count()
        };
        let at = |at: usize| bytes.get(at).copied();
        let mut end = digits(self.from + usize::from(at(self.from) == Some(b'-')));
        if at(end) == Some(b'.') {
            end = digits(end + 1);
        }
        if matches!(at(end), Some(b'e' | b'E')) {
            end = digits(end + 1 + usize::from(matches!(at(end + 1), Some(b'+' | b'-'))));
        }
        let text = self.words.get(self.from, end);
        let error = match number::parse(text) {
            Ok(number) => return (Token::Literal(Literal::Number(number)), end),
            Err(error) => error,
        };
        let (code, expected) = match error {
            NumberError::Form => (Code::BadNumber, "a number as in JSON: `42`, `-1`, `0.5`, `1e3`"),
            NumberError::Beyond64Bits => {
                (Code::NumberRange, "from -9223372036854775808 to 9223372036854775807")
            }
            NumberError::NotFinite => (Code::NumberRange, "at most 1.7976931348623157e308"),
        };
        let shown = shorten(text);
        let wrong = Diagnostic::new(code, self.words.part(self.from, end), format!("`{shown}` is no number"));
        self.bad(wrong.expected(expected, format!("`{shown}`")), end)
    }

    /// `'text'` or `"text"`.
    fn text(&mut self) -> (Token<'a>, usize) {
        let words = self.words;
        let (start, quote) = (self.from + 1, words.byte(self.from));
        let double = quote == Some(b'"');
        let bytes = words.text.as_bytes();
        let mut at = start;
        loop {
            let Some(&byte) = bytes.get(at) else {
                let wrong =
                    Diagnostic::new(Code::BadString, words.part(self.from, at), "this text is not closed")
                        .expected(if double { "`\"`" } else { "`'`" }, "the end of the expression");
                return self.bad(wrong, words.text.len());
            };
            match byte {
                b'\\' if double => at += 2,
                b'\'' if !double && words.byte(at + 1) == Some(b'\'') => at += 2,
                _ if Some(byte) == quote => break,
                _ => at += 1,
            }
        }
        let raw = words.get(start, at);
        let text = if double {
            match decode(raw, words.arena) {
                Ok(text) => text,
                Err(bad) => {
                    let from = start + bad.at;
                    let wrong =
                        Diagnostic::new(Code::BadString, words.part(from, from + bad.length), bad.what);
                    return self.bad(wrong, at + 1);
                }
            }
        } else if raw.contains("''") {
            words.arena.alloc_str(&raw.replace("''", "'"))
        } else {
            raw
        };
        (self.template(text, raw, start, at), at + 1)
    }

    /// A text in the expression, read for references.
    fn template(&mut self, text: &'a str, raw: &str, from: usize, to: usize) -> Token<'a> {
        let exact = match self.words.node.kind {
            Kind::Text(whole) if text == raw => whole.start.zip(u32::try_from(from).ok()),
            _ => None,
        };
        let Kind::Text(outer) = self.words.node.kind else { return Token::Bad };
        let start = exact.and_then(|(start, from)| start.checked_add(from));
        let kind = Kind::Text(Text { text, style: outer.style, start });
        let node = Node { kind, span: self.words.part(from, to) };
        let inner = Words { node: &node, text, arena: self.words.arena };
        let template = template_of(&inner, Sigil::Dollar, self.diagnostics);
        match template.text() {
            Some(text) => Token::Literal(Literal::Text(text)),
            None => Token::Template(template),
        }
    }
}

/// How a function is written.
fn example(function: &Operator) -> &'static str {
    match function.spelling {
        "len" => "len($list)",
        "at" => "at($list, 0)",
        "has" => "has($record, 'field')",
        "append" => "append($list, $x)",
        _ => "concat($a, $b)",
    }
}
