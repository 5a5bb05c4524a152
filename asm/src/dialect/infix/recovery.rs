//! Diagnostics for an expression that cannot be parsed, or that uses words of another language.
//!
//! They are separate from the parser so that the stack frames of its recursive functions stay small.

use super::{COMPARISON, Deep, Reader, Token, braces, composite};
use crate::ast::Literal;
use crate::diagnostic::Diagnostic;
use crate::dialect::operator::{self, Form, LIST, Makes, Operator, RANGE_BEGINS_AT_ZERO};
use crate::dialect::other_operator::{self, Written};
use crate::document::{Kind, Style, Text};
use crate::span::Span;
use crate::text::name_end;
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::pure::Pure;

impl<'a> Reader<'_, '_, 'a> {
    /// Reports an operator of another language.
    pub(crate) fn other_operator(&mut self, from: usize, to: usize, meant: &str) {
        let shown = self.words.get(from, to);
        let wrong = Diagnostic::new(
            Code::UnknownOperator,
            self.words.part(from, to),
            format!("`{shown}` is not an operator"),
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
        let wrong = self.words.fix(wrong, from, to, &format!("{before}{meant}{after}"));
        self.diagnostics.push(wrong);
    }

    /// Reports `$x || 'default'`. Returns whether the text after the operator is of this form.
    pub(crate) fn no_default(&mut self, from: usize, to: usize) -> bool {
        let value =
            matches!(self.token, Token::Template(_) | Token::Literal(Literal::Text(_) | Literal::Number(_)));
        if value {
            let shown = self.words.get(from, to);
            let message = format!("`{shown}` gives no default");
            let wrong = Diagnostic::new(Code::UnknownOperator, self.words.part(from, to), message)
                .expected("a condition after it", self.found())
                .help("one of two values is a step: `let: v`, `if: $x == null`, `then: default`, `else: $x`");
            self.diagnostics.push(wrong);
        }
        value
    }

    pub(crate) fn no_bang(&mut self, from: usize, to: usize) {
        let wrong =
            Diagnostic::new(Code::UnknownOperator, self.words.part(from, to), "`!` is not an operator")
                .expected("`not`", "`!`")
                .nearest(Some("not"));
        // `not` includes the comparison, `!` does not.
        let wrong = if matches!(self.between(), Some((_, COMPARISON..))) {
            wrong.help("write `(not $x)`")
        } else {
            self.words.fix(wrong.help("write `not $x`"), from, to, "not ")
        };
        self.diagnostics.push(wrong);
    }

    pub(crate) fn lone_plus(&mut self) {
        let wrong = self.wrong(Code::BadExpression, "a `+` without a value before it");
        let wrong = self.words.fix(wrong.help("leave it out"), self.from, self.to, "");
        self.diagnostics.push(wrong);
    }

    /// Reports `a < b < c`, in which `b` begins at byte `middle`.
    pub(crate) fn chained(&mut self, middle: usize) {
        let wrong = self.wrong(Code::BadExpression, "comparisons do not chain");
        let between = self.words.get(middle, self.before);
        let negated = self.words.get(0, middle).contains("not");
        let wrong = wrong.help(format!("write `and {}` before it: `$a < $b and $b < $c`", shorten(between)));
        let wrong = if negated {
            wrong
        } else {
            self.words.fix(wrong, self.before, self.before, &format!(" and {between}"))
        };
        self.diagnostics.push(wrong);
    }

    /// Reports a word that is not a value.
    pub(crate) fn no_value(&mut self, word: &str) -> Option<Deep<'a>> {
        let (from, to) = (self.from, self.to);
        if self.method_of_module(from, to) || self.marked_text(from, to) {
            return None;
        }
        let called = self.words.byte(self.words.blanks(to)) == Some(b'(');
        if called || operator::find(word).is_some() {
            let near = other_operator::near(word).map(|near| near.spelling);
            let wrong = match operator::find(word) {
                Some(found) if found.form == Form::Function => self
                    .wrong(Code::BadExpression, format!("`{word}` takes its operands in parentheses"))
                    .help(format!("write `{}`", example(found))),
                Some(found) => {
                    let wrong =
                        self.wrong(Code::BadExpression, format!("a value is missing before `{word}`"));
                    match found.form {
                        Form::Between(_) if called => {
                            wrong.help(format!("write it between its operands: `$a {word} $b`"))
                        }
                        _ => wrong,
                    }
                }
                None => self
                    .wrong(Code::UnknownOperator, format!("there is no function `{}`", shorten(word)))
                    .nearest(near)
                    .help(step_for(word).unwrap_or_else(|| {
                        other_operator::instead_of(word, Written::Infix).unwrap_or_else(|| {
                            format!("there are {LIST}; what a tool computes is a step with `call`")
                        })
                    })),
            };
            self.diagnostics.push(wrong);
            return None;
        }
        // A word with dots is a reference without its `$`; a single word may also be a text without its
        // quotes.
        let text = self.words.text;
        let mut end = to;
        while self.words.byte(end) == Some(b'.') {
            let Some(after) = name_end(text, end + 1) else { break };
            end = after;
        }
        let whole = self.words.get(from, end);
        let message = format!("`{}` is neither a reference nor a literal", shorten(whole));
        let wrong = Diagnostic::new(Code::BadExpression, self.words.part(from, end), message);
        let reference = self.words.bare(from).map(|(reference, _)| reference);
        let known = reference.and_then(|reference| self.meant.and_then(|meant| meant(&reference)));
        let behind = self.words.get(self.words.blanks(end), text.len());
        let sentence = end < text.len()
            && self.words.byte(end) == Some(b' ')
            && behind.starts_with(|c: char| c.is_alphabetic() || c == '$')
            && !["and ", "or ", "is ", "not ", "in "].iter().any(|word| behind.starts_with(word));
        if known.is_none() && from == 0 && sentence {
            let quoted = format!("'{}'", text.replace('\'', "''"));
            let wrong = Diagnostic::new(
                Code::BadExpression,
                self.words.part(0, text.len()),
                "a text in an expression must be in quotes",
            )
            .expected(format!("`{quoted}`"), format!("`{}`", shorten(text)));
            let wrong = match self.words.node.kind {
                Kind::Text(Text { style: Style::Plain, .. }) if !text.contains(['"', '\\']) => {
                    wrong.replace(self.words.part(0, text.len()), format!("\"{quoted}\""))
                }
                _ => self.words.fix(wrong.help(format!("write `{quoted}`")), 0, text.len(), &quoted),
            };
            self.diagnostics.push(wrong);
            return None;
        }
        let wrong = if let Some(known) = &known {
            self.words.fix(wrong.help(format!("write `{known}`")), from, end, known)
        } else if end > to {
            wrong.help(format!("write `${{{whole}}}` for a field of a step, `'{whole}'` for a text"))
        } else {
            let text = format!("'{word}'");
            self.words.fix(
                wrong.help(format!("write `{text}` for a text, `${{{word}}}` for a step")),
                from,
                end,
                &text,
            )
        };
        self.diagnostics.push(wrong);
        known.is_some().then(|| self.skip_word(end))
    }

    pub(crate) fn operand_count(&mut self, found: &Operator, operands: usize, span: Span) {
        let message = format!("`{}` takes {}, not {operands}", found.spelling, found.operands());
        let wrong = Diagnostic::new(Code::OperandCount, span, message);
        let help = match found.makes {
            Makes::Apply(Pure::Range) => RANGE_BEGINS_AT_ZERO.to_owned(),
            _ => format!("write `{}`", example(found)),
        };
        self.diagnostics.push(wrong.help(help));
    }

    pub(crate) fn too_deep<T>(&mut self) -> Option<T> {
        let limit = self.nesting;
        let wrong = self
            .wrong(Code::TooDeep, "this expression is nested too deeply")
            .expected(format!("at most {limit} levels here"), "one more")
            .help("bind parts of it in steps of their own");
        self.diagnostics.push(wrong);
        None
    }

    /// The token as a message names it.
    pub(crate) fn found(&self) -> String {
        match self.token {
            Token::End => "the end of the expression".to_owned(),
            _ => format!("`{}`", shorten(self.words.get(self.from, self.to))),
        }
    }

    pub(crate) fn refuse<T>(&mut self, message: &str, expected: &str) -> Option<T> {
        if !matches!(self.token, Token::Bad) {
            let wrong = self.wrong(Code::BadExpression, message).expected(expected, self.found());
            let wrong = match self.token {
                Token::Symbol("(" | ".") if self.before > 0 => wrong.help(self.no_method()),
                Token::Symbol("?") | Token::Word("if") => wrong.help(choice_step("…", "…", "…")),
                _ => wrong,
            };
            self.diagnostics.push(wrong);
        }
        None
    }

    /// Adds to the diagnostic of an expression in braces, from byte `at` to `end`, what to write instead.
    pub(crate) fn unwrapped(&self, wrong: Diagnostic, at: usize, end: usize) -> Diagnostic {
        let (written, whole) = (self.words.get(at, end), at == 0 && end == self.words.text.len());
        let Some(text) = braces::unwrapped(written, whole, self.nesting, self.words.arena) else {
            return wrong;
        };
        let wrong = wrong
            .expected(format!("`{text}`"), format!("`{}`", shorten(written)))
            .help(format!("write `{text}`: only references have braces"));
        self.words.fix(wrong, at, end, &text)
    }

    /// Reports `{{ x > 3 }}`, if it is at the cursor.
    pub(crate) fn double_braces(&mut self) -> bool {
        let rest = self.words.get(self.from, self.words.text.len());
        let Some(length) = rest.find("}}").filter(|_| rest.starts_with("{{")) else { return false };
        let end = self.from + length + 2;
        let shown = shorten(self.words.get(self.from, end));
        let message = format!("`{shown}` is another language's form");
        let wrong = Diagnostic::new(Code::BadExpression, self.words.part(self.from, end), message)
            .expected("an expression without braces", format!("`{shown}`"))
            .help("write the expression without the braces");
        let wrong = self.unwrapped(wrong, self.from, end);
        self.diagnostics.push(wrong);
        true
    }

    /// Reports a record or a list as an operand: infix text has none.
    pub(crate) fn no_composite<T>(&mut self) -> Option<T> {
        let (what, item) = match self.token {
            Token::Symbol("{") => ("record", "- id: ${x}"),
            _ => ("list", "- [\"${x}\"]"),
        };
        let help = match self.operator_before() {
            Some(Operator { form: Form::Function, spelling: "len", .. }) | None => {
                format!("bind the {what} in a step before, and name it here")
            }
            Some(found) => {
                let key = if found.form == Form::Function {
                    found.spelling.to_owned()
                } else {
                    format!("\"{}\"", found.spelling)
                };
                format!(
                    "write the operator as a key, in place of the text, with its operands as a list below it: `{key}:`, then \
                     `- ${{a}}` and `{item}`; or bind the {what} in a step before, and name it here"
                )
            }
        };
        let wrong = self
            .wrong(Code::BadExpression, format!("a {what} is not an operand in infix"))
            .expected("a reference, a literal or `(`", self.found());
        let node = self.words.node;
        let exact =
            matches!(node.kind, Kind::Text(Text { start: Some(_), style, .. }) if style != Style::Block);
        self.diagnostics.push(match composite::operation(self.words.text).filter(|_| exact) {
            Some(operation) => wrong.replace(node.span, operation),
            None => wrong.help(help),
        });
        None
    }

    /// The operator whose operand is at the cursor.
    fn operator_before(&self) -> Option<&'static Operator> {
        let before = self.words.get(0, self.from).trim_end();
        let last = before.rsplit(' ').next().and_then(operator::find);
        last.filter(|found| matches!(found.form, Form::Between(_))).or_else(|| {
            let (head, _) = before.rsplit_once('(')?;
            let name = head.rsplit(|c: char| !c.is_ascii_alphabetic()).next()?;
            operator::find(name).filter(|found| found.form == Form::Function)
        })
    }

    /// Reports a call such as `JSON.parse(`, if there is one, with the name of the function here.
    fn method_of_module(&mut self, from: usize, to: usize) -> bool {
        if self.words.byte(to) != Some(b'.') {
            return false;
        }
        let Some(end) = name_end(self.words.text, to + 1) else { return false };
        let whole = self.words.get(from, end);
        let meant = other_operator::meant(whole);
        let help = other_operator::instead_of(whole, Written::Infix);
        if self.words.byte(end) != Some(b'(') || (meant.is_none() && help.is_none()) {
            return false;
        }
        let message = format!("there is no function `{}`", shorten(whole));
        let wrong = Diagnostic::new(Code::UnknownOperator, self.words.part(from, end), message)
            .nearest(meant.map(|meant| meant.spelling));
        let wrong = match (meant, help) {
            (Some(meant), _) => {
                let wrong = wrong.help(format!("write `{}`", example(meant)));
                self.words.fix(wrong, from, end, meant.spelling)
            }
            (None, help) => wrong.help(help.unwrap_or_default()),
        };
        self.diagnostics.push(wrong);
        true
    }

    /// Reports `f'…{x}…'`, a text with a letter before it, and a text in backticks; `to` is the byte of the
    /// quote.
    pub(crate) fn marked_text(&mut self, from: usize, to: usize) -> bool {
        let Some(quote @ (b'\'' | b'"' | b'`')) = self.words.byte(to) else { return false };
        let rest = self.words.get(to + 1, self.words.text.len());
        let Some(length) = rest.bytes().position(|byte| byte == quote) else { return false };
        let (inside, end) = (rest.get(..length).unwrap_or(""), to + length + 2);
        let mut text = String::with_capacity(length + 8);
        for c in inside.chars() {
            if c == '{' && quote != b'`' && !text.ends_with('$') {
                text.push('$');
            }
            // `{$.x}` and `{$x}`: the sign is before the brace.
            if c != '$' || !text.ends_with("${") {
                text.push(c);
            }
        }
        let text = format!("'{text}'");
        let wrong = Diagnostic::new(
            Code::BadExpression,
            self.words.part(from, end),
            "a text is in single or double quotes, without a letter before it",
        )
        .expected(format!("`{text}`"), format!("`{}`", shorten(self.words.get(from, end))))
        .help(format!("write `{text}`"));
        let plain = !inside.contains(['\'', '\\', ':', '(', '"']);
        let wrong = if plain { self.words.fix(wrong, from, end, &text) } else { wrong };
        self.diagnostics.push(wrong);
        true
    }

    /// What to write instead of parentheses, or a dot and a name, after a value: values have no methods.
    fn no_method(&self) -> String {
        let before = self.words.get(0, self.from);
        let (of, name) = match self.token {
            Token::Symbol(".") => {
                let letter = |at: usize| self.words.byte(at).is_some_and(|byte| byte.is_ascii_alphanumeric());
                let mut end = self.to;
                while letter(end) {
                    end += 1;
                }
                (before, self.words.get(self.to, end))
            }
            _ => before.rsplit_once('.').unwrap_or_default(),
        };
        let of = of.get(of.rfind(' ').map_or(0, |blank| blank + 1)..).unwrap_or("");
        let close = if of.starts_with("${") && !of.ends_with('}') { "}" } else { "" };
        match operator::find(name).or_else(|| other_operator::meant(name)) {
            Some(Operator { form: Form::Function, spelling, .. }) if !of.is_empty() => {
                let one = operator::find(spelling).is_some_and(|found| found.least() == 1);
                let rest = if one { "" } else { ", …" };
                format!("a function is written before its operands: `{spelling}({of}{close}{rest})`")
            }
            _ => match step_for(name).or_else(|| other_operator::instead_of(name, Written::Infix)) {
                Some(instead) => format!("nothing is called on a value: {instead}"),
                None if matches!(self.token, Token::Symbol(".")) => format!("the operators are {LIST}"),
                None => "only functions take parentheses: `len($list)`".to_owned(),
            },
        }
    }

    /// What to write instead of `c ? a : b` and `a if c else b`.
    fn choice(&self) -> String {
        let text = self.words.text;
        match choice(text).filter(|_| text.len() <= LONGEST_CHOICE) {
            Some((condition, then, otherwise)) => choice_step(condition, then, otherwise),
            None => choice_step("…", "…", "…"),
        }
    }

    /// Reports text that follows an expression.
    pub(crate) fn left_over<T>(&mut self) -> Option<T> {
        let symbol = match self.token {
            Token::Bad => return None,
            Token::Word(text) | Token::Symbol(text) => text,
            _ => "",
        };
        let code = match symbol {
            "" | "(" | ")" | "," | "[" | "]" | "?" | ":" | ";" | "if" | "else" => Code::BadExpression,
            _ => Code::UnknownOperator,
        };
        let near = other_operator::near(symbol).filter(|_| code == Code::UnknownOperator);
        let membership = other_operator::membership(symbol);
        let near = near.filter(|_| membership.is_none() && !matches!(symbol, "|" | "between"));
        let help = match symbol {
            "?" if self.words.byte(self.to) == Some(b'.') => {
                "a field that may be absent is `get($record, 'field', null)`".to_owned()
            }
            "?" | ":" | "if" | "else" => self.choice(),
            _ if membership.is_some() => {
                membership.map(|asked| asked.help(Written::Infix)).unwrap_or_default()
            }
            "|" => "there are no filters: write the function before its operands, `len($list)`".to_owned(),
            "between" => "write `$x >= $least and $x <= $most`".to_owned(),
            "like" | "matches" => {
                "whether a text has a part is `has($text, 'part')`; a tool compares it with a pattern"
                    .to_owned()
            }
            "exists" => "write `$x != null`".to_owned(),
            "??" => {
                "write `get($record, 'field', value)` for a field, or `{get: [[$x], 0, value]}` for any value"
                    .to_owned()
            }
            "**" | "^" => "there is no power: write `$x * $x`".to_owned(),
            "//" => "write `($a - $a % $b) / $b`".to_owned(),
            "not" => "write `not has($list, $x)`, or `not` before a comparison".to_owned(),
            "(" | "." => self.no_method(),
            ")" => "remove it, or open it before".to_owned(),
            "'" | "\"" => "write the operator between the values".to_owned(),
            _ => match near {
                Some(Operator { form: Form::Function, .. }) => {
                    format!("write `{}`", near.map_or(String::new(), example))
                }
                Some(near) => format!("write `{}`", near.spelling),
                None => format!("the operators are {LIST}"),
            },
        };
        let message = if code == Code::UnknownOperator {
            format!("`{}` is not an operator", shorten(symbol))
        } else {
            "something follows the expression".to_owned()
        };
        let wrong = self.wrong(code, message).expected("an operator or the end", self.found());
        self.diagnostics.push(wrong.nearest(near.map(|near| near.spelling)).help(help));
        None
    }
}

/// The longest choice between two values that a message writes as a step.
const LONGEST_CHOICE: usize = 200;

/// The condition and the two values of `c ? a : b` and `a if c else b`.
pub(crate) fn choice(text: &str) -> Option<(&str, &str, &str)> {
    if let Some((condition, rest)) = text.split_once(" ? ") {
        let (then, otherwise) = rest.split_once(" : ")?;
        return Some((condition.trim(), then.trim(), otherwise.trim()));
    }
    let (then, rest) = text.split_once(" if ")?;
    let (condition, otherwise) = rest.split_once(" else ")?;
    Some((condition.trim(), then.trim(), otherwise.trim()))
}

/// A step that chooses between two expressions.
fn choice_step(condition: &str, then: &str, otherwise: &str) -> String {
    format!(
        "one of two values is a step: in place of `expr` write `if: {condition}`, `then: {{expr: \"{then}\"}}`, \
         `else: {{expr: \"{otherwise}\"}}`"
    )
}

/// The step that does what a function does in other languages.
fn step_for(word: &str) -> Option<String> {
    let step = match word.to_ascii_lowercase().as_str() {
        "if" | "iif" | "cond" | "ternary" => return Some(choice_step("…", "…", "…")),
        "map" | "filter" | "reduce" | "foreach" | "flatmap" | "find" => {
            "what is computed for each item is a step: `v: {for: x, in: $list, yield: {y: {expr: …}}}`, and an `if` \
             around `y` filters"
        }
        "merge" | "assign" => {
            "write `{merge: $record, set: {field: …}}` in place of the text, or `put($record, 'field', $x)`"
        }
        _ => return None,
    };
    Some(step.to_owned())
}

/// How a function is written.
pub(super) fn example(function: &Operator) -> String {
    let plain = match function.spelling {
        "len" => "len($list)",
        "at" => "at($list, 0)",
        "has" => "has($list, $x)",
        "append" => "append($list, $x)",
        "min" | "max" | "sum" => return of_list(function),
        _ => "concat($a, $b)",
    };
    let Makes::Apply(made) = function.makes else { return plain.to_owned() };
    let operands = made.row().operands.iter().take(function.most());
    let names: Vec<String> = operands.map(|operand| format!("${}", operand.name)).collect();
    format!("{}({})", function.spelling, names.join(", "))
}

/// A function of one list, and how the values of such a list are written.
fn of_list(function: &Operator) -> String {
    let name = function.spelling;
    format!("{name}($list)`, or, of values, `{{{name}: [$a, $b]}}")
}
