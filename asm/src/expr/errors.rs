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

/// The token as a message names it.
fn found(parser: &Parser<'_, '_, '_>) -> String {
    match parser.token {
        Token::End => "the end of the expression".to_owned(),
        _ => format!("`{}`", shorten(parser.words.get(parser.from, parser.to))),
    }
}

pub(super) fn refuse(parser: &mut Parser<'_, '_, '_>, message: &str, expected: &str) {
    if !matches!(parser.token, Token::Bad) {
        let wrong = parser.wrong(Code::BadExpression, message).expected(expected, found(parser));
        parser.fail(wrong);
    }
}

/// Reports that the current token is wrong, with what to write instead.
pub(super) fn explain(parser: &mut Parser<'_, '_, '_>, message: &str, expected: &str, help: &str) {
    let wrong = parser.wrong(Code::BadExpression, message).expected(expected, found(parser)).help(help);
    parser.fail(wrong);
}

/// A list or record of items in a form that is not read.
pub(super) fn no_comprehension(parser: &mut Parser<'_, '_, '_>, expected: &str, help: &str) {
    explain(parser, "a list of items is `[E for x in xs if c]`", expected, help);
}

pub(super) fn too_deep(parser: &mut Parser<'_, '_, '_>) {
    nested(parser, "this expression is nested too deeply", format!("at most {} levels here", parser.nesting));
}

pub(super) fn too_many_braces(parser: &mut Parser<'_, '_, '_>) {
    nested(parser, "braces in braces are nested too deeply", format!("at most {BRACES} levels of `${{…}}`"));
}

fn nested(parser: &mut Parser<'_, '_, '_>, message: &str, most: String) {
    let wrong = parser.wrong(Code::TooDeep, message).expected(most, "one more");
    parser.fail(wrong.help("bind parts of it in steps of their own"));
}

/// A value is missing before the current token.
pub(super) fn no_value(parser: &mut Parser<'_, '_, '_>) {
    let (from, to) = (parser.from, parser.to);
    if parser.is("+") {
        let wrong = parser.wrong(Code::BadExpression, "a `+` without a value before it");
        let wrong = parser.words.fix(wrong.help("leave it out"), from, to, "");
        return parser.fail(wrong);
    }
    let help = match (parser.words.byte(from.wrapping_sub(1)), parser.words.byte(from)) {
        (Some(b'['), Some(b'*' | b']' | b'?')) => OF_ITEMS,
        (_, Some(b'~')) => "there are no patterns: `starts(t, u)`, `ends(t, u)` and `u in t` ask about parts",
        _ => return refuse(parser, "a value is missing", "a name, a literal or `(`"),
    };
    explain(parser, "a value is missing", "a name, a literal or `(`", help);
}

/// A function of two items that is no order of their fields; its second name.
pub(super) fn no_comparison(parser: &mut Parser<'_, '_, '_>, span: Span) {
    let wrong =
        Diagnostic::new(Code::BadExpression, span, "a function of two items is an order of their fields");
    let wrong = wrong.expected("`(a, b) => a.f - b.f`, or several with `||` between them", "another one");
    parser.fail(wrong.help(
        "`sort(list, 'f')` sorts by a field, `'-f'` from the greatest; `sum(list, 'f')` adds; a value that is \
         computed from all items is a loop, with `let` in it",
    ));
}

/// `!a == b`, which may mean `not (a == b)` or `(not a) == b`; its `!` is at a byte.
pub(super) fn unclear_not(parser: &mut Parser<'_, '_, '_>, at: usize) {
    let message = "it is not clear what `!` is before: the value, or the comparison";
    let wrong = Diagnostic::new(Code::BadExpression, parser.words.part(at, at + 1), message);
    parser.fail(wrong.help("write `not (a == b)`, or `(not a) == b`"));
}

/// `a < b > c`; the second operator is at a place.
pub(super) fn no_chain(parser: &mut Parser<'_, '_, '_>, place: crate::span::Span) {
    let wrong = Diagnostic::new(Code::BadExpression, place, "these comparisons do not chain").help(
        "only `<` with `<=`, and `>` with `>=`, chain: write `and` between two comparisons, or parentheses",
    );
    parser.fail(wrong);
}

/// An operator in the place of a value.
pub(super) fn misplaced(parser: &mut Parser<'_, '_, '_>, word: &str, called: bool) {
    let wrong = parser.wrong(Code::BadExpression, format!("a value is missing before `{word}`"));
    let wrong = if called && matches!(word, "or" | "and" | "in") {
        wrong.help(format!("write it between its operands: `a {word} b`"))
    } else if called && word == "if" {
        wrong.help("one of two values is `a if c else b`")
    } else {
        wrong.expected("a name, a literal or `(`", found(parser))
    };
    parser.fail(wrong);
}

/// Braces without anything in them.
pub(super) fn empty_braces(parser: &mut Parser<'_, '_, '_>, open: usize) {
    let shown = shorten(parser.words.get(open, parser.to));
    let (place, message) = (parser.words.part(open, parser.to), format!("`{shown}` holds no expression"));
    let wrong = Diagnostic::new(Code::BadReference, place, message)
        .expected("`${name}`, `${name.field}` or `${.input}`", format!("`{shown}`"));
    parser.fail(wrong.help("write a name here, as in `${user.email}`, or write `$$` for a plain `$`"));
}

/// Something follows the expression in braces, or nothing closes them.
pub(super) fn not_closed(parser: &mut Parser<'_, '_, '_>, open: usize) {
    if !matches!(parser.token, Token::End) {
        return left_over(parser);
    }
    let end = parser.before;
    let wrong = Diagnostic::new(Code::BadReference, parser.words.part(open, end), "this `${` is not closed")
        .expected("`${name}` or `${name.field}`", "no `}` after it")
        .help("close it with `}`, or write `$$` for a plain `$`");
    let wrong = parser.words.fix(wrong, end, end, "}");
    parser.fail(wrong);
}

/// `{{E}}`, and `${{E}}` if it is the whole text; `open` is the byte of its first sign.
pub(super) fn double_braces<'a>(
    parser: &mut Parser<'_, '_, 'a>,
    open: usize,
    level: usize,
) -> Option<Tree<'a>> {
    let dollar = parser.is("${");
    let text = parser.words.text;
    if parser.braces >= BRACES {
        too_many_braces(parser);
        return None;
    }
    if dollar && (open > 0 || !text.ends_with("}}")) {
        double_dollar(parser, open, closing(text, open));
        return None;
    }
    parser.go_to(open + if dollar { 3 } else { 2 });
    parser.braces += 1;
    let inside = parser.inside(open, level);
    parser.braces -= 1;
    let tree = inside?;
    if parser.words.byte(parser.to) != Some(b'}') {
        refuse(parser, "two braces are closed by one", "`}}`");
        return None;
    }
    parser.to += 1;
    Some(tree)
}

fn double_dollar(parser: &mut Parser<'_, '_, '_>, open: usize, end: usize) {
    let shown = shorten(parser.words.get(open, end));
    let (place, message) = (parser.words.part(open, end), format!("`{shown}` has two readings"));
    let wrong = Diagnostic::new(Code::BadReference, place, message)
        .expected("`${E}` for an expression, or `${ {a: E} }` for a record", format!("`{shown}`"))
        .help("write one pair of braces around an expression, and a blank before the brace of a record");
    parser.fail(wrong);
}

/// Text that follows an expression.
pub(super) fn left_over(parser: &mut Parser<'_, '_, '_>) {
    let symbol = match parser.token {
        Token::Bad => return,
        Token::Word(text) | Token::Symbol(text) => text,
        _ => "",
    };
    let other = |symbol: &str| !matches!(symbol, "|" | "!") && !symbol.starts_with(char::is_alphabetic);
    let meant = foreign::word(Place::Operation, symbol).filter(|_| other(symbol));
    let help = match symbol {
        _ if let Some(meant) = meant => &format!("write `{meant}`"),
        ":=" => "write `==` to compare; `let` binds a name",
        "|" => &no_filter(parser),
        "?" => "a choice has a blank behind its `?`: `c ? a : b`, or `a if c else b`",
        ":" if parser.words.get(parser.to, parser.words.text.len()).contains(" for ") => RECORD_OF_ITEMS,
        ":" if parser.braces > 0 => "a record has a blank before its brace: `${ {a: x} }`",
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
    let (from, to) = (parser.from, parser.to);
    let is_word = matches!(parser.token, Token::Word(_));
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
    let wrong = parser.wrong(code, message).expected("an operator or the end", found(parser)).help(help);
    parser.fail(match meant {
        Some(meant) => parser.words.fix(wrong.nearest(Some(meant)), from, to, meant),
        None => wrong,
    });
}

/// What to write instead of the filter behind the `|` at the cursor.
fn no_filter(parser: &Parser<'_, '_, '_>) -> String {
    let at = parser.words.blanks(parser.to);
    let name = parser.words.get(at, crate::text::name_end(parser.words.text, at).unwrap_or(at));
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
pub(super) fn sentence<'a>(parser: &mut Parser<'_, '_, 'a>) -> Option<Tree<'a>> {
    let text = parser.words.text;
    let words = |c: char| c.is_alphanumeric() || matches!(c, ' ' | ',' | '.' | '!' | '?' | '_');
    let plain = |c: char| words(c) || matches!(c, '$' | '{' | '}' | ':');
    let follows = matches!(parser.token, Token::Word(_) | Token::Symbol("$" | "${" | ","));
    let begins =
        text.starts_with(char::is_uppercase) && parser.words.get(0, parser.before).chars().all(words);
    if !(follows && begins && text.contains('$') && text.chars().all(plain)) || text.len() > 200 {
        return None;
    }
    parser.filled(text, (0, text.len()), true)
}

/// The length of the text whose quote is at a byte.
pub(super) fn quoted_at(parser: &Parser<'_, '_, '_>, to: usize) -> Option<usize> {
    let quote = parser.words.byte(to).filter(|byte| matches!(byte, b'\'' | b'"' | b'`'))?;
    parser.words.get(to + 1, parser.words.text.len()).bytes().position(|byte| byte == quote)
}

/// `f'…{x}…'` and a text in backticks, whose quote is at byte `to`: read as the text that it is, or
/// reported. What is in front of other quotes is reported too.
pub(super) fn marked_text<'a>(
    parser: &mut Parser<'_, '_, 'a>,
    mark: &str,
    to: usize,
    length: usize,
) -> Option<Tree<'a>> {
    let quote = parser.words.byte(to)?;
    let (inside, end) = (parser.words.get(to + 1, to + 1 + length), to + length + 2);
    let marks = if quote == b'`' { mark.is_empty() } else { matches!(mark, "f" | "F") };
    let unclear = ["\\", "{{"].iter().any(|part| inside.contains(part));
    // A colon in braces begins a format.
    let is_format = |part: &str| part.split('}').next().is_some_and(|value| value.contains(':'));
    if !marks || unclear || quote != b'`' && inside.split('{').skip(1).any(is_format) {
        let written = shorten(parser.words.get(to - mark.len(), end));
        let message = "a text is in single or double quotes, without a letter before it";
        let place = parser.words.part(to - mark.len(), end);
        let wrong = Diagnostic::new(Code::BadExpression, place, message);
        let wrong = wrong.expected("a text such as `'${x}!'`", format!("`{written}`"));
        parser.fail(wrong.help("a number with its places is `${fixed(x, 2)}`"));
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
    let found = parser.filled(parser.words.arena.alloc_str(&text), (to + 1, end - 1), exact);
    parser.go_to(end);
    found
}
