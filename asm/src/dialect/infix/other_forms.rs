//! Forms of other languages behind a value: `x ?? 0`, `x in [a, b]`, `x?.y`, `f(x)[0]`, `x.trim()`,
//! `x | length`. Each is reported with its equivalent, and read as that.
//!
//! A form is left to the general error if it is long, or if its equivalent is not certain.

use super::recovery::example;
use super::{COMPARISON, Deep, Infix, InfixKind, Reader, Token};
use crate::ast::{Binary, Literal, Name};
use crate::diagnostic::Diagnostic;
use crate::dialect::operator::{self, Form, Operator};
use crate::dialect::other_operator;
use crate::dialect::reference::{Reference, Root, Step};
use crate::span::Span;
use crate::text::{name_end, shorten};
use ilo_spec::error::Code;
use ilo_spec::program::Number;

/// The longest value, in bytes, that is rewritten: what is written for it is longer in each form.
const LONGEST: usize = 200;
/// The most items of a list that are compared one by one.
const ITEMS: usize = 12;

/// A value, and how it is written here.
struct Value<'a> {
    tree: Deep<'a>,
    text: String,
    /// Whether a `?.` was before it, so that each further field may be absent.
    optional: bool,
}

impl<'a> Reader<'_, '_, 'a> {
    /// Whether a form of another language may follow the value before the cursor.
    pub(super) fn goes_on(&self) -> bool {
        match self.token {
            Token::Symbol(symbol) => {
                matches!(symbol, "??" | "||" | "|")
                    || (matches!(symbol, "?" | "." | "[" | "(") && self.joined())
            }
            Token::Word(word) => word.len() <= "contains".len(),
            _ => false,
        }
    }

    /// Whether no blank is before the token.
    fn joined(&self) -> bool {
        self.before == self.from
    }

    /// Reads the forms behind the value that begins at byte `start`, and reports them together.
    #[inline(never)]
    pub(super) fn other_forms(
        &mut self,
        start: usize,
        tree: Deep<'a>,
        closeness: u8,
        level: usize,
    ) -> Option<Deep<'a>> {
        let text = self.words.get(start, self.before).to_owned();
        let mut value = Value { tree, text, optional: false };
        let (from, to) = (self.from, self.to);
        let reported = self.diagnostics.as_slice().len();
        while value.text.len() <= LONGEST && self.form(&mut value, closeness, level)? {}
        if self.before <= from {
            return Some(value.tree);
        }
        let written = self.words.get(start, self.before);
        let wrong = if self.words.get(from, to).starts_with(['(', '[']) {
            Diagnostic::new(
                Code::BadExpression,
                self.words.part(from, to),
                format!("`{}` is another language's form", shorten(written)),
            )
        } else {
            let shown = self.words.get(from, to);
            Diagnostic::new(
                Code::UnknownOperator,
                self.words.part(from, to),
                format!("`{shown}` is not an operator"),
            )
        };
        let wrong = if value.text.len() > 4 * LONGEST {
            wrong.help("bind parts of it in steps of their own")
        } else {
            let wrong = wrong
                .expected(format!("`{}`", value.text), format!("`{}`", shorten(written)))
                .help(format!("write `{}`", value.text));
            let inner = self.diagnostics.as_slice().len() > reported;
            if inner { wrong } else { self.words.fix(wrong, start, self.before, &value.text) }
        };
        self.diagnostics.push(wrong);
        self.seen.computes = true;
        Some(value.tree)
    }

    /// Reads one form at the cursor. Without one, nothing is read.
    fn form(&mut self, value: &mut Value<'a>, closeness: u8, level: usize) -> Option<bool> {
        match self.token {
            Token::Symbol("??") if closeness == 0 => self.default(value, level),
            Token::Symbol("||") | Token::Word("or") if closeness == 0 => match self.next_byte() {
                Some(b'\'' | b'"' | b'0'..=b'9') => self.default(value, level),
                _ => Some(false),
            },
            Token::Symbol("|") => self.filter(value, level),
            Token::Symbol("?") if self.joined() && self.words.byte(self.to) == Some(b'.') => {
                self.field(value, self.to + 1, true)
            }
            Token::Symbol(".") if self.joined() => match name_end(self.words.text, self.to) {
                Some(end) if self.words.byte(end) == Some(b'(') => self.method(value, self.to, end, level),
                _ => self.field(value, self.to, value.optional),
            },
            Token::Symbol("[") if self.joined() => self.index(value, level),
            Token::Symbol("(") if self.joined() => match self.words.get(0, self.from).rfind('.') {
                Some(dot) => self.method(value, dot + 1, self.from, level),
                None => Some(false),
            },
            Token::Word(word) if closeness <= COMPARISON => self.membership(word, value, closeness, level),
            _ => Some(false),
        }
    }

    /// The byte behind the token and blanks.
    fn next_byte(&self) -> Option<u8> {
        self.words.byte(self.words.blanks(self.to))
    }

    /// `x ?? 0`, for a field `x`.
    fn default(&mut self, value: &mut Value<'a>, level: usize) -> Option<bool> {
        let Some((record, key)) = Self::parent(&value.tree.tree, &value.text) else { return Some(false) };
        let (from, to) = (self.from, self.to);
        self.bump(true);
        let start = self.from;
        let default = self.value(0, level + 1)?;
        let text = self.words.get(start, self.before);
        if self.between().is_some() || text.len() > LONGEST {
            let wrong = Diagnostic::new(
                Code::UnknownOperator,
                self.words.part(from, to),
                format!("`{}` is not an operator", self.words.get(from, to)),
            );
            let help = format!("write `({})`", get(&record.text, &key, text));
            self.diagnostics.push(wrong.help(help));
            return None;
        }
        value.text = get(&record.text, &key, text);
        let found = operator::find("get")?;
        value.tree = self.made(
            found,
            &[record.tree, constant(key.literal, record.tree.tree.span), default],
            record.tree.tree.span,
        )?;
        Some(true)
    }

    /// `x | length`, `x | join(', ')`, `x | default(0)`.
    fn filter(&mut self, value: &mut Value<'a>, level: usize) -> Option<bool> {
        let from = self.words.blanks(self.to);
        let Some(end) = name_end(self.words.text, from) else { return Some(false) };
        let name = self.words.get(from, end);
        let with_operands = self.words.byte(end) == Some(b'(');
        if other_operator::is_default(name) && with_operands {
            let Some((record, key)) = Self::parent(&value.tree.tree, &value.text) else { return Some(false) };
            let span = record.tree.tree.span;
            *value = record;
            return self.called_on(
                value,
                operator::find("get")?,
                Some(constant(key.literal, span)),
                Some(&key.text),
                end,
                level,
            );
        }
        let Some(found) = function(name) else { return Some(false) };
        if with_operands {
            return self.called_on(value, found, None, None, end, level);
        }
        if !found.takes(1) {
            return Some(false);
        }
        self.to = end;
        self.bump(false);
        value.text = format!("{}({})", found.spelling, value.text);
        value.tree = self.made(found, &[value.tree], value.tree.tree.span)?;
        Some(true)
    }

    /// `x.trim()`, whose name is between two bytes; its record is the value, or the value without its last
    /// field.
    fn method(&mut self, value: &mut Value<'a>, from: usize, end: usize, level: usize) -> Option<bool> {
        let Some(found) = function(self.words.get(from, end)) else { return Some(false) };
        if matches!(self.token, Token::Symbol("(")) {
            let Some((record, key)) = Self::parent(&value.tree.tree, &value.text) else { return Some(false) };
            if !matches!(key.literal, Literal::Text(name) if name == self.words.get(from, end)) {
                return Some(false);
            }
            *value = record;
        }
        self.called_on(value, found, None, None, end, level)
    }

    /// The operands from the `(` at `open` on, after the value and a key.
    fn called_on(
        &mut self,
        value: &mut Value<'a>,
        found: &'static Operator,
        key: Option<Deep<'a>>,
        key_text: Option<&str>,
        open: usize,
        level: usize,
    ) -> Option<bool> {
        let span = value.tree.tree.span;
        let close = self.closing(open);
        self.to = open + 1;
        self.bump(true);
        let mut all = vec![value.tree];
        all.extend(key);
        all.extend(self.operands(level)?);
        let inside = self.words.get(open + 1, close?);
        let mut parts = vec![std::mem::take(&mut value.text)];
        parts.extend(key_text.map(str::to_owned));
        parts.extend((!inside.trim().is_empty()).then(|| inside.trim().to_owned()));
        if found.spelling == "get" && all.len() == 2 {
            all.push(constant(Literal::Nil, span));
            parts.push("null".to_owned());
        }
        if !found.takes(all.len()) || parts.last().is_some_and(|part| part.len() > LONGEST) {
            let wrong = Diagnostic::new(
                Code::OperandCount,
                self.words.part(open, self.before),
                format!(
                    "`{}` takes {}, with the value before the dot as its first",
                    found.spelling,
                    found.operands()
                ),
            );
            self.diagnostics.push(wrong.help(format!("write `{}`", example(found))));
            return None;
        }
        value.text = format!("{}({})", found.spelling, parts.join(", "));
        value.tree = self.made(found, &all, span)?;
        Some(true)
    }

    /// The closing parenthesis of the one at `open`, outside quotes.
    fn closing(&self, open: usize) -> Option<usize> {
        let (mut depth, mut quote) = (0_usize, None);
        for (at, byte) in self.words.text.bytes().enumerate().skip(open) {
            match (quote, byte) {
                (Some(mark), _) if mark == byte => quote = None,
                (None, b'\'' | b'"') => quote = Some(byte),
                (None, b'(') => depth += 1,
                (None, b')') if depth == 1 => return Some(at),
                (None, b')') => depth = depth.checked_sub(1)?,
                _ => {}
            }
        }
        None
    }

    /// A field or an item at byte `from`: `?.name`, and `.name` or `.0` behind a call.
    fn field(&mut self, value: &mut Value<'a>, from: usize, optional: bool) -> Option<bool> {
        let digits = || {
            let rest = self.words.get(from, self.words.text.len());
            let length = rest.bytes().take_while(u8::is_ascii_digit).count();
            (1..=9).contains(&length).then_some(from + length)
        };
        let Some(end) = name_end(self.words.text, from).or_else(digits) else { return Some(false) };
        if self.words.byte(end) == Some(b'(') {
            return Some(false);
        }
        let name = self.words.get(from, end);
        let key = name.parse().map_or_else(|_| Key::name(name), Key::item);
        self.to = end;
        self.bump(false);
        self.part(value, &key, optional)
    }

    fn part(&mut self, value: &mut Value<'a>, key: &Key<'a>, optional: bool) -> Option<bool> {
        let span = value.tree.tree.span;
        let literal = constant(key.literal, span);
        if optional {
            value.text = get(&value.text, key, "null");
            let nil = constant(Literal::Nil, span);
            value.tree = self.made(operator::find("get")?, &[value.tree, literal, nil], span)?;
        } else {
            value.text = format!("at({}, {})", value.text, key.text);
            value.tree = self.made(operator::find("at")?, &[value.tree, literal], span)?;
        }
        value.optional = optional;
        Some(true)
    }

    /// `[0]`, `[-1]`, `['name']` and `[1:3]`.
    fn index(&mut self, value: &mut Value<'a>, level: usize) -> Option<bool> {
        let rest = self.words.get(self.to, self.words.text.len());
        let Some(inside) = rest.find(']').and_then(|length| rest.get(..length)) else { return Some(false) };
        if inside.len() > LONGEST || inside.trim().is_empty() || inside.contains(['*', '?', '@', '[', '(']) {
            return Some(false);
        }
        let span = value.tree.tree.span;
        self.bump(true);
        let start = self.from;
        let from = match self.token {
            Token::Symbol(":") => constant(Literal::Number(Number::Int(0)), span),
            _ => self.expression(0, level + 1)?,
        };
        let text = self.words.get(start, self.before).trim();
        if !matches!(self.token, Token::Symbol(":")) {
            self.close_bracket()?;
            value.text = format!("at({}, {text})", value.text);
            value.tree = self.made(operator::find("at")?, &[value.tree, from], span)?;
            return Some(true);
        }
        let mut operands = vec![value.tree, from];
        let first = if text.is_empty() || self.from == start { "0" } else { text };
        value.text = format!("slice({}, {first}", value.text);
        self.bump(true);
        if !matches!(self.token, Token::Symbol("]")) {
            let start = self.from;
            operands.push(self.expression(0, level + 1)?);
            value.text.push_str(", ");
            value.text.push_str(self.words.get(start, self.before).trim());
        }
        self.close_bracket()?;
        value.text.push(')');
        value.tree = self.made(operator::find("slice")?, &operands, span)?;
        Some(true)
    }

    fn close_bracket(&mut self) -> Option<()> {
        if matches!(self.token, Token::Symbol("]")) {
            self.bump(false);
            return Some(());
        }
        self.refuse("a bracket is not closed", "`]`")
    }

    /// `x in [a, b]`, `x in xs`, `xs contains x`, and their negations.
    fn membership(&mut self, word: &str, value: &mut Value<'a>, closeness: u8, level: usize) -> Option<bool> {
        let rest = self.words.get(self.words.blanks(self.to), self.words.text.len());
        let (list_first, negated, end) = match word.to_ascii_lowercase().as_str() {
            "in" => (false, false, self.to),
            "contains" | "includes" => (true, false, self.to),
            "not" if rest.starts_with("in ") => (false, true, self.words.blanks(self.to) + 2),
            _ => return Some(false),
        };
        self.to = end;
        self.bump(true);
        let span = value.tree.tree.span;
        let start = self.from;
        let list = !list_first && matches!(self.token, Token::Symbol("[" | "("));
        let (mut tree, mut text) = if list {
            self.one_of(value, level)?
        } else {
            let other = self.value(COMPARISON + 1, level + 1)?;
            let text = self.words.get(start, self.before);
            let has = operator::find("has")?;
            if list_first {
                (self.made(has, &[value.tree, other], span)?, format!("has({}, {text})", value.text))
            } else {
                (self.made(has, &[other, value.tree], span)?, format!("has({text}, {})", value.text))
            }
        };
        let whole = closeness == 0 && matches!(self.token, Token::End);
        if negated {
            tree = self.unary(crate::ast::Unary::Not, span, tree)?;
            text = if list { format!("not ({text})") } else { format!("not {text}") };
        } else if list && !whole {
            text = format!("({text})");
        }
        (value.tree, value.text) = (tree, text);
        Some(true)
    }

    /// A comparison with each item of a list; the cursor is at its bracket.
    fn one_of(&mut self, value: &Value<'a>, level: usize) -> Option<(Deep<'a>, String)> {
        let mut any: Option<(Deep<'a>, String)> = None;
        for _ in 0..ITEMS {
            self.bump(true);
            let start = self.from;
            let item = self.expression(COMPARISON + 1, level + 1)?;
            let text = format!("{} == {}", value.text, self.words.get(start, self.before));
            let equal = self.binary(Binary::Eq, value.tree, item)?;
            any = Some(match any {
                Some((before, so_far)) => {
                    (self.binary(Binary::Or, before, equal)?, format!("{so_far} or {text}"))
                }
                None => (equal, text),
            });
            match self.token {
                Token::Symbol(",") => {}
                Token::Symbol("]" | ")") => {
                    self.bump(false);
                    return any;
                }
                _ => return self.refuse("a list is not closed", "`,` or `]`"),
            }
        }
        self.refuse("a list is not an operand in infix", "a reference to a list")
    }

    /// A reference to a field, as the reference to its record and the key.
    fn parent(value: &Infix<'a>, text: &str) -> Option<(Value<'a>, Key<'a>)> {
        let InfixKind::Reference(reference) = value.kind else { return None };
        let (last, path) = reference.path.split_last()?;
        if path.is_empty() && matches!(reference.root, Root::Input) {
            return None;
        }
        let key = match *last {
            Step::Field(Name { text, .. }) => Key::name(text),
            Step::Index(index, _) => Key::item(i64::try_from(index).ok()?),
        };
        let record = Reference { root: reference.root, path, span: reference.span };
        let text = if text.starts_with("${") { format!("${{{record}}}") } else { format!("${record}") };
        let kind = InfixKind::Reference(record);
        let tree = Deep { tree: Infix { kind, span: value.span }, levels: 1 };
        Some((Value { tree, text, optional: false }, key))
    }
}

/// The key of a field or an item, and how it is written.
struct Key<'a> {
    literal: Literal<'a>,
    text: String,
}

impl<'a> Key<'a> {
    fn name(name: &'a str) -> Key<'a> {
        Key { literal: Literal::Text(name), text: format!("'{}'", name.replace('\'', "''")) }
    }

    fn item(index: i64) -> Key<'a> {
        Key { literal: Literal::Number(Number::Int(index)), text: index.to_string() }
    }
}

fn get(record: &str, key: &Key<'_>, default: &str) -> String {
    format!("get({record}, {}, {default})", key.text)
}

fn constant(literal: Literal<'_>, span: Span) -> Deep<'_> {
    Deep { tree: Infix { kind: InfixKind::Literal(literal), span }, levels: 1 }
}

/// The function with a name, here or in another language.
fn function(name: &str) -> Option<&'static Operator> {
    operator::find(name).or_else(|| other_operator::meant(name)).filter(|found| found.form == Form::Function)
}
