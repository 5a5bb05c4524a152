//! The diagnostics of expressions that cannot be parsed.
//!
//! They are separate from the parser so that the stack frames of its recursive functions stay small.

use super::lexer::Token;
use super::parser::Parser;
use super::tree::Tree;
use super::{BRACES, OF_ITEMS};
use crate::diagnostic::Diagnostic;
use crate::foreign::{self, Place};
use crate::span::Span;
use crate::text::shorten;
use ilo_spec::error::Code;

/// Where reading continues after the braces whose `${` is at a byte, if they could not be read: behind the
/// `}` that closes them, or at the end.
pub(super) fn closing(text: &str, at: usize) -> usize {
    let (mut open, mut quote) = (0_usize, None);
    let rest = text.as_bytes().get(at + 1..).unwrap_or_default();
    for (length, &byte) in rest.iter().enumerate() {
        match (quote, byte) {
            (Some(mark), _) if mark == byte => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'{') => open += 1,
            (None, b'}') if open <= 1 => return at + 1 + length + 1,
            (None, b'}') => open -= 1,
            _ => {}
        }
    }
    text.len()
}

/// How a record of items is written.
pub(super) const RECORD_OF_ITEMS: &str = "a record of items is `record([{key: K, value: V} for x in xs])`; the names of its other fields are constant";

/// Whether a word asks if something holds another.
fn asks(word: &str) -> bool {
    foreign::word(Place::Operation, word).unwrap_or(word) == "has"
}

impl<'a> Parser<'_, '_, 'a> {
    /// The token as a message names it.
    fn found(&self) -> String {
        match self.token {
            Token::End => "the end of the expression".to_owned(),
            _ => format!("`{}`", shorten(self.words.get(self.from, self.to))),
        }
    }

    pub(super) fn refuse(&mut self, message: &str, expected: &str) {
        if !matches!(self.token, Token::Bad) {
            let wrong = self.wrong(Code::BadExpression, message).expected(expected, self.found());
            self.fail(wrong);
        }
    }

    /// Reports that the current token is wrong, with what to write instead.
    pub(super) fn explain(&mut self, message: &str, expected: &str, help: &str) {
        let wrong = self.wrong(Code::BadExpression, message).expected(expected, self.found()).help(help);
        self.fail(wrong);
    }

    /// A list or record of items in a form that is not read.
    pub(super) fn no_comprehension(&mut self, expected: &str, help: &str) {
        self.explain("a list of items is `[E for x in xs if c]`", expected, help);
    }

    pub(super) fn too_deep(&mut self) {
        self.nested("this expression is nested too deeply", format!("at most {} levels here", self.nesting));
    }

    pub(super) fn too_many_braces(&mut self) {
        self.nested("braces in braces are nested too deeply", format!("at most {BRACES} levels of `${{…}}`"));
    }

    fn nested(&mut self, message: &str, most: String) {
        let wrong = self.wrong(Code::TooDeep, message).expected(most, "one more");
        self.fail(wrong.help("bind parts of it in steps of their own"));
    }

    /// A value is missing before the current token.
    pub(super) fn no_value(&mut self) {
        let (from, to) = (self.from, self.to);
        if self.is("+") {
            let wrong = self.wrong(Code::BadExpression, "a `+` without a value before it");
            let wrong = self.words.fix(wrong.help("leave it out"), from, to, "");
            return self.fail(wrong);
        }
        let help = match (self.words.byte(from.wrapping_sub(1)), self.words.byte(from)) {
            (Some(b'['), Some(b'*' | b']' | b'?')) => OF_ITEMS,
            (_, Some(b'~')) => {
                "there are no patterns: `starts(t, u)`, `ends(t, u)` and `u in t` ask about parts"
            }
            _ => return self.refuse("a value is missing", "a name, a literal or `(`"),
        };
        self.explain("a value is missing", "a name, a literal or `(`", help);
    }

    /// A function of two items that is no order of their fields; its second name.
    pub(super) fn no_comparison(&mut self, span: Span) {
        let wrong =
            Diagnostic::new(Code::BadExpression, span, "a function of two items is an order of their fields");
        let wrong = wrong.expected("`(a, b) => a.f - b.f`, or several with `||` between them", "another one");
        self.fail(wrong.help(
            "`sort(list, 'f')` sorts by a field, `'-f'` from the greatest; `sum(list, 'f')` adds; a value that is \
             computed from all items is a loop, with `let` in it",
        ));
    }

    /// `!a == b`, which may mean `not (a == b)` or `(not a) == b`; its `!` is at a byte.
    pub(super) fn unclear_not(&mut self, at: usize) {
        let message = "it is not clear what `!` is before: the value, or the comparison";
        let wrong = Diagnostic::new(Code::BadExpression, self.words.part(at, at + 1), message);
        self.fail(wrong.help("write `not (a == b)`, or `(not a) == b`"));
    }

    /// `a < b > c`; the second operator is at a place.
    pub(super) fn no_chain(&mut self, place: crate::span::Span) {
        let wrong = Diagnostic::new(Code::BadExpression, place, "these comparisons do not chain")
            .help("only `<` with `<=`, and `>` with `>=`, chain: write `and` between two comparisons, or parentheses");
        self.fail(wrong);
    }

    /// An operator in the place of a value.
    pub(super) fn misplaced(&mut self, word: &str, called: bool) {
        let wrong = self.wrong(Code::BadExpression, format!("a value is missing before `{word}`"));
        let wrong = if called && matches!(word, "or" | "and" | "in") {
            wrong.help(format!("write it between its operands: `a {word} b`"))
        } else if called && word == "if" {
            wrong.help("one of two values is `a if c else b`")
        } else {
            wrong.expected("a name, a literal or `(`", self.found())
        };
        self.fail(wrong);
    }

    /// Braces without anything in them.
    pub(super) fn empty_braces(&mut self, open: usize) {
        let shown = shorten(self.words.get(open, self.to));
        let (place, message) = (self.words.part(open, self.to), format!("`{shown}` holds no expression"));
        let wrong = Diagnostic::new(Code::BadReference, place, message)
            .expected("`${name}`, `${name.field}` or `${.input}`", format!("`{shown}`"));
        self.fail(wrong.help("write a name here, as in `${user.email}`, or write `$$` for a plain `$`"));
    }

    /// Something follows the expression in braces, or nothing closes them.
    pub(super) fn not_closed(&mut self, open: usize) {
        if !matches!(self.token, Token::End) {
            return self.left_over();
        }
        let end = self.before;
        let wrong =
            Diagnostic::new(Code::BadReference, self.words.part(open, end), "this `${` is not closed")
                .expected("`${name}` or `${name.field}`", "no `}` after it")
                .help("close it with `}`, or write `$$` for a plain `$`");
        let wrong = self.words.fix(wrong, end, end, "}");
        self.fail(wrong);
    }

    /// `{{E}}`, and `${{E}}` if it is the whole text; `open` is the byte of its first sign.
    pub(super) fn double_braces(&mut self, open: usize, level: usize) -> Option<Tree<'a>> {
        let dollar = self.is("${");
        let text = self.words.text;
        if self.braces >= BRACES {
            self.too_many_braces();
            return None;
        }
        if dollar && (open > 0 || !text.ends_with("}}")) {
            self.double_dollar(open, closing(text, open));
            return None;
        }
        self.go_to(open + if dollar { 3 } else { 2 });
        self.braces += 1;
        let inside = self.inside(open, level);
        self.braces -= 1;
        let tree = inside?;
        if self.words.byte(self.to) != Some(b'}') {
            self.refuse("two braces are closed by one", "`}}`");
            return None;
        }
        self.to += 1;
        Some(tree)
    }

    fn double_dollar(&mut self, open: usize, end: usize) {
        let shown = shorten(self.words.get(open, end));
        let (place, message) = (self.words.part(open, end), format!("`{shown}` has two readings"));
        let wrong = Diagnostic::new(Code::BadReference, place, message)
            .expected("`${E}` for an expression, or `${ {a: E} }` for a record", format!("`{shown}`"))
            .help("write one pair of braces around an expression, and a blank before the brace of a record");
        self.fail(wrong);
    }

    /// Text that follows an expression.
    pub(super) fn left_over(&mut self) {
        let symbol = match self.token {
            Token::Bad => return,
            Token::Word(text) | Token::Symbol(text) => text,
            _ => "",
        };
        let meant = match symbol {
            "=>" => Some(">="),
            "=<" => Some("<="),
            "=!" | "~=" => Some("!="),
            "&" => Some("and"),
            _ => None,
        };
        let help = match symbol {
            _ if let Some(meant) = meant => &format!("write `{meant}`"),
            ":=" => "write `==` to compare; `let` binds a name",
            "|" => &self.no_filter(),
            "?" => "a choice has a blank behind its `?`: `c ? a : b`, or `a if c else b`",
            ":" if self.words.get(self.to, self.words.text.len()).contains(" for ") => RECORD_OF_ITEMS,
            ":" if self.braces > 0 => "a record has a blank before its brace: `${ {a: x} }`",
            ":" | "if" | "else" => "one of two values is `a if c else b`",
            "between" => "write `least <= x <= most`",
            word if asks(word) => "write `has(list, x)`, or `x in list`",
            "**" | "^" => "there is no power: write `x * x`",
            "++" => "bind the name again: `x + 1`",
            ")" | "]" | "}" => "remove it, or open it before",
            "for" => "a value for each item is a list in brackets, or a loop",
            "'" | "\"" => "write the operator between the values",
            _ => "write an operator between the values, quotes around a text, and names without blanks",
        };
        let (from, to) = (self.from, self.to);
        let is_word = matches!(self.token, Token::Word(_));
        let form = symbol == "between" || asks(symbol);
        let code = match symbol {
            "" | "(" | ")" | "," | "[" | "]" | "{" | "}" | "?" | ":" | ";" | "$" | "${" | "." => {
                Code::BadExpression
            }
            _ if is_word && !form => Code::BadExpression,
            _ => Code::UnknownOperator,
        };
        let message = if code == Code::UnknownOperator {
            format!("`{}` is not an operator", shorten(symbol))
        } else {
            "something follows the expression".to_owned()
        };
        let wrong = self.wrong(code, message).expected("an operator or the end", self.found()).help(help);
        self.fail(match meant {
            Some(meant) => self.words.fix(wrong.nearest(Some(meant)), from, to, meant),
            None => wrong,
        });
    }

    /// What to write instead of the filter behind the `|` at the cursor.
    fn no_filter(&self) -> String {
        let at = self.words.blanks(self.to);
        let name = self.words.get(at, crate::text::name_end(self.words.text, at).unwrap_or(at));
        if let Some(foreign::Means::Advice(help)) = foreign::meaning(Place::Function, name) {
            return format!("there are no filters: {help}");
        }
        let own = foreign::word(Place::Operation, name).unwrap_or(name);
        let own = if own.is_empty() { "len" } else { own };
        format!(
            "there are no filters: write the function before its operands, `{own}(x)`; `or` is for conditions"
        )
    }

    /// The whole text as a text, if it is a sentence with values in it: `Hello $.name`.
    pub(super) fn sentence(&mut self) -> Option<Tree<'a>> {
        let text = self.words.text;
        let words = |c: char| c.is_alphanumeric() || matches!(c, ' ' | ',' | '.' | '!' | '?' | '_');
        let plain = |c: char| words(c) || matches!(c, '$' | '{' | '}' | ':');
        let follows = matches!(self.token, Token::Word(_) | Token::Symbol("$" | "${" | ","));
        let begins =
            text.starts_with(char::is_uppercase) && self.words.get(0, self.before).chars().all(words);
        if !(follows && begins && text.contains('$') && text.chars().all(plain)) || text.len() > 200 {
            return None;
        }
        self.filled(text, (0, text.len()), true)
    }

    /// The length of the text whose quote is at a byte.
    pub(super) fn quoted_at(&self, to: usize) -> Option<usize> {
        let quote = self.words.byte(to).filter(|byte| matches!(byte, b'\'' | b'"' | b'`'))?;
        self.words.get(to + 1, self.words.text.len()).bytes().position(|byte| byte == quote)
    }

    /// `f'…{x}…'` and a text in backticks, whose quote is at byte `to`: read as the text that it is, or
    /// reported. What is in front of other quotes is reported too.
    pub(super) fn marked_text(&mut self, mark: &str, to: usize, length: usize) -> Option<Tree<'a>> {
        let quote = self.words.byte(to)?;
        let (inside, end) = (self.words.get(to + 1, to + 1 + length), to + length + 2);
        let marks = if quote == b'`' { mark.is_empty() } else { matches!(mark, "f" | "F") };
        let unclear = ["\\", "{{"].iter().any(|part| inside.contains(part));
        if !marks || unclear || (quote != b'`' && inside.contains(['\'', ':', '(', '"'])) {
            let written = shorten(self.words.get(to - mark.len(), end));
            let message = "a text is in single or double quotes, without a letter before it";
            let place = self.words.part(to - mark.len(), end);
            let wrong = Diagnostic::new(Code::BadExpression, place, message);
            self.fail(wrong.expected("a text such as `'${x}!'`", format!("`{written}`")));
            return None;
        }
        let mut text = String::with_capacity(inside.len() + 8);
        for c in inside.chars() {
            if c == '{' && quote != b'`' && !text.ends_with('$') {
                text.push('$');
            }
            // `{$.x}` and `{$x}`: the sign is before the brace.
            if c != '$' || !text.ends_with("${") {
                text.push(c);
            }
        }
        let exact = text == inside;
        let found = self.filled(self.words.arena.alloc_str(&text), (to + 1, end - 1), exact);
        self.go_to(end);
        found
    }
}
