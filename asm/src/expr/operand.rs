//! The operands of operators: names, constants, texts, lists, records, and what is in parentheses.

use super::errors::{self, RECORD_OF_ITEMS};
use super::lexer::Token;
use super::parser::{CHOICE, NOT, Parser, SIGN, is_operator, tree};
use super::reference::{INPUT, Reference, Root, Words};
use super::template::template_of;
use super::tree::{Each, Operand, Sign, Tree, TreeKind};
use crate::ast::{Binary, Literal, Name};
use crate::document::{Node, NodeKind, Text};
use crate::foreign::{self, Place};
use crate::span::Span;
use crate::text::name_end;
use ilo_spec::error::Code;

/// What to write instead of several names, or several lists, in a list of items.
const ONE_NAME: &str = "a position is `i` in `[E for i in range(len(xs))]`, with `xs[i]` for the item, or `index` beside \
    `for` in a step; the parts of an item are `x.key` and `x.value`, or `x[0]` and `x[1]`";
const ONE_LIST: &str =
    "write a loop in a loop, as steps with `for`, and add each value to a list with `let` and `push`";

/// The constant of a word.
pub(crate) fn constant(word: &str) -> Option<Literal<'static>> {
    match foreign::word(Place::Literal, word).unwrap_or(word) {
        "true" => Some(Literal::Bool(true)),
        "false" => Some(Literal::Bool(false)),
        "null" => Some(Literal::Nil),
        _ => None,
    }
}

impl<'a> Parser<'_, '_, 'a> {
    /// An operand of operators of this precedence, with signs before it and all that follows it.
    pub(super) fn operand(&mut self, closeness: u8, level: usize) -> Option<Tree<'a>> {
        match self.token {
            Token::Word("not" | "NOT" | "Not") => self.before_value(TreeKind::Not, NOT.max(closeness), level),
            Token::Symbol("!") => self.bang(level),
            Token::Symbol("-") => self.minus(level),
            _ => self.value(level),
        }
    }

    /// An operator before its operand.
    #[inline(never)]
    fn before_value(
        &mut self,
        kind: fn(&'a Tree<'a>) -> TreeKind<'a>,
        closeness: u8,
        level: usize,
    ) -> Option<Tree<'a>> {
        let span = self.span();
        self.bump();
        let of = self.expression(closeness, level + 1)?;
        let of = &*self.words.arena.alloc(of);
        self.checked(kind(of), span.to(of.span))
    }

    /// `!a`.
    fn bang(&mut self, level: usize) -> Option<Tree<'a>> {
        let from = self.from;
        let tree = self.before_value(TreeKind::Not, SIGN, level)?;
        if self.is_comparison() {
            errors::unclear_not(self, from);
            return None;
        }
        Some(tree)
    }

    /// `-a`, and a number with its sign.
    fn minus(&mut self, level: usize) -> Option<Tree<'a>> {
        if !self.words.byte(self.to).is_some_and(|byte| byte.is_ascii_digit()) {
            return self.before_value(TreeKind::Minus, SIGN, level);
        }
        let (token, end) = self.number(self.from);
        self.token = token;
        self.to = end;
        self.value(level)
    }

    /// Whether a comparison is at the cursor.
    fn is_comparison(&self) -> bool {
        match self.token {
            Token::Symbol(sign) => {
                matches!(sign, "==" | "=" | "!=" | "===" | "!==" | "<" | "<=" | ">" | ">=" | "<>")
            }
            Token::Word(word) => matches!(word, "in" | "is"),
            _ => false,
        }
    }

    /// A value with all that follows it.
    fn value(&mut self, level: usize) -> Option<Tree<'a>> {
        let start = self.from;
        let value = self.primary(level)?;
        self.postfix(start, value, level)
    }

    fn primary(&mut self, level: usize) -> Option<Tree<'a>> {
        match self.token {
            Token::Word(word) => self.word(word, level),
            Token::Symbol("(") => self.parentheses(level),
            Token::Symbol("[") => self.list(level),
            Token::Symbol("{") => self.brace(level),
            Token::Symbol("${") => self.in_braces(level),
            _ => self.leaf(),
        }
    }

    /// A value without others in it.
    fn leaf(&mut self) -> Option<Tree<'a>> {
        let span = self.span();
        match self.token {
            Token::Number(literal) => {
                self.bump();
                Some(tree(TreeKind::Literal(literal), span, 0))
            }
            Token::Text(from, to) => {
                let tree = self.text(from, to);
                self.bump();
                tree
            }
            Token::Symbol("$") => self.dollar(),
            Token::Symbol(".") => self.input(self.from, self.from),
            Token::Bad => None,
            _ => match errors::quoted_at(self, self.from) {
                Some(length) => errors::marked_text(self, "", self.from, length),
                None => {
                    errors::no_value(self);
                    None
                }
            },
        }
    }

    /// A record, or `{{E}}`.
    fn brace(&mut self, level: usize) -> Option<Tree<'a>> {
        if self.words.byte(self.to) != Some(b'{') {
            return self.record(level);
        }
        let tree = errors::double_braces(self, self.from, level);
        self.bump();
        tree
    }

    /// `(E)`, and `(E, E)`, which is a list.
    fn parentheses(&mut self, level: usize) -> Option<Tree<'a>> {
        let start = self.from;
        self.bump();
        let inside = self.expression(CHOICE, level + 1)?;
        if self.is(",") {
            return self.items(start, Some(inside), ")", level);
        }
        self.close(")", "a parenthesis is not closed")?;
        Some(inside)
    }

    /// A closing sign.
    pub(super) fn close(&mut self, sign: &str, message: &str) -> Option<()> {
        if self.is(sign) {
            self.bump();
            return Some(());
        }
        errors::refuse(self, message, &format!("`{sign}` or an operator"));
        None
    }

    /// `$name`, `$.name`, `$input`: the same as without `$`.
    fn dollar(&mut self) -> Option<Tree<'a>> {
        let at = self.from;
        if self.words.byte(self.to) == Some(b'.') {
            return self.input(at, self.to);
        }
        let Some(end) = name_end(self.words.text, self.to) else {
            errors::explain(
                self,
                "a `$` without a name",
                "`name`, `.input` or `$name`",
                "write `'$'` for a text",
            );
            return None;
        };
        Some(self.root(at, self.to, end))
    }

    /// `.name` and `.["any name"]`; its dot is at byte `dot`.
    fn input(&mut self, at: usize, dot: usize) -> Option<Tree<'a>> {
        let step = match name_end(self.words.text, dot + 1) {
            Some(end) => {
                Some((Name { text: self.words.get(dot + 1, end), span: self.words.part(dot + 1, end) }, end))
            }
            None => self.words.any_name(dot + 1),
        };
        let Some((name, end)) = step else {
            errors::no_value(self);
            return None;
        };
        let path = self.words.arena.alloc_slice_copy(&[super::reference::Step::Field(name)]);
        let span = self.words.part(at, end);
        self.go_to(end);
        Some(tree(TreeKind::Path(Reference { root: Root::Input, path, span }), span, 1))
    }

    /// A name from byte `from` to `end`, whose sign or first letter is at `at`.
    fn root(&mut self, at: usize, from: usize, end: usize) -> Tree<'a> {
        let name = Name { text: self.words.get(from, end), span: self.words.part(from, end) };
        let root = if name.text == INPUT { Root::Input } else { Root::Name(name) };
        let span = self.words.part(at, end);
        self.go_to(end);
        tree(TreeKind::Path(Reference { root, path: &[], span }), span, 0)
    }

    /// A name, a constant or a call of a function.
    fn word(&mut self, word: &'a str, level: usize) -> Option<Tree<'a>> {
        let (from, to, span) = (self.from, self.to, self.span());
        let opens = self.words.byte(self.words.blanks(to)) == Some(b'(');
        if let Some(literal) = constant(word) {
            self.bump();
            return Some(tree(TreeKind::Literal(literal), span, 0));
        }
        if is_operator(word) {
            errors::misplaced(self, word, opens);
            return None;
        }
        if opens {
            return self.call(word, level);
        }
        if let Some(length) = errors::quoted_at(self, to) {
            return errors::marked_text(self, word, to, length);
        }
        Some(self.root(from, from, to))
    }

    /// A call of the function whose name is at the cursor.
    #[inline(never)]
    fn call(&mut self, word: &'a str, level: usize) -> Option<Tree<'a>> {
        let (from, span) = (self.from, self.span());
        let name = Name { text: word, span };
        self.bump();
        self.bump();
        let operands = self.operands(level)?;
        self.checked(TreeKind::Call(name, operands), self.words.part(from, self.before))
    }

    /// The operands of a call up to its `)`; the cursor is behind the `(`.
    pub(super) fn operands(&mut self, level: usize) -> Option<&'a [Operand<'a>]> {
        let mut all: Vec<Operand<'a>> = Vec::new();
        while !self.is(")") {
            let name = self.operand_name();
            let start = self.from;
            let value = self.lambda(level)?;
            if all.is_empty() && name.is_none() && self.is_word("for") {
                return self.generator(start, value, level);
            }
            all.push(Operand { name, value });
            if self.is(",") {
                self.bump();
            } else if !self.is(")") {
                errors::refuse(self, "the operands of a function are not closed", "`,` or `)`");
                return None;
            }
        }
        self.bump();
        Some(self.words.arena.alloc_slice_copy(&all))
    }

    /// `for x in xs if c)` behind the first operand of a call, and the operand.
    #[inline(never)]
    fn generator(&mut self, start: usize, value: Tree<'a>, level: usize) -> Option<&'a [Operand<'a>]> {
        let value = self.comprehension(start, value, ")", level)?;
        Some(self.words.arena.alloc_slice_copy(&[Operand { name: None, value }]))
    }

    /// `name=` before an operand.
    fn operand_name(&mut self) -> Option<Name<'a>> {
        let Token::Word(word) = self.token else { return None };
        let at = self.words.blanks(self.to);
        if self.words.byte(at) != Some(b'=') || matches!(self.words.byte(at + 1), Some(b'=' | b'>')) {
            return None;
        }
        let name = Name { text: word, span: self.span() };
        self.go_to(at + 1);
        Some(name)
    }

    /// An operand, which may be `x => E`, `(x) => E`, `lambda x: E` or `(a, b) => a.f - b.f`.
    fn lambda(&mut self, level: usize) -> Option<Tree<'a>> {
        let (text, start) = (self.words.text, self.from);
        let behind = |at: usize, sign: &str| {
            let at = self.words.blanks(at);
            (self.words.get(at, (at + sign.len()).min(text.len())) == sign).then_some(at + sign.len())
        };
        let words = self.is_word("lambda") && behind(self.to, "(").is_none();
        let parenthesis = self.is("(");
        let inside = if words || parenthesis { self.words.blanks(self.to) } else { start };
        let arrow = || {
            let end = name_end(text, inside)?;
            let second = behind(end, ",").filter(|_| parenthesis).map(|at| self.words.blanks(at));
            let second = second.and_then(|at| Some((at, name_end(text, at)?)));
            let at = second.map_or(end, |(_, end)| end);
            let at = if parenthesis { behind(at, ")")? } else { at };
            Some((end, second, behind(at, if words { ":" } else { "=>" })?))
        };
        let Some((end, second, behind)) = arrow() else { return self.expression(CHOICE, level + 1) };
        let name = |from, to| Name { text: self.words.get(from, to), span: self.words.part(from, to) };
        let item = name(inside, end);
        let other = second.map(|(from, to)| name(from, to));
        self.go_to(behind);
        let mut value = self.expression(CHOICE, level + 1)?;
        if let Some(other) = other {
            let mut fields = Vec::new();
            if !value.compares([item.text, other.text], &mut fields) {
                errors::no_comparison(self, other.span);
                return None;
            }
            value.kind = TreeKind::List(self.words.arena.alloc_slice_copy(&fields));
        }
        let value = &*self.words.arena.alloc(value);
        self.checked(TreeKind::Lambda(item, value), self.words.part(start, self.before))
    }

    /// `[E, …]`, `[...E, E]` and `[E for x in xs if c]`.
    fn list(&mut self, level: usize) -> Option<Tree<'a>> {
        let start = self.from;
        self.bump();
        if self.is("]") || self.spreads() {
            return self.items(start, None, "]", level);
        }
        let item = self.expression(CHOICE, level + 1)?;
        if self.is_word("for") {
            return self.comprehension(start, item, "]", level);
        }
        self.items(start, Some(item), "]", level)
    }

    /// Whether an item is a list whose items are meant, or a field a record: `...E`, `*E`, `**E`.
    fn spreads(&self) -> bool {
        matches!(self.token, Token::Symbol("..." | "*" | "**"))
    }

    /// The items of a list behind its first one: `[a, ...b]` is `[a] + b`.
    fn items(
        &mut self,
        start: usize,
        first: Option<Tree<'a>>,
        close: &str,
        level: usize,
    ) -> Option<Tree<'a>> {
        let mut parts: Vec<(bool, Tree<'a>)> = first.into_iter().map(|item| (false, item)).collect();
        let mut more = first.is_none() || self.comma();
        while more && !self.is(close) {
            let spreads = self.spreads();
            if spreads {
                self.bump();
            }
            parts.push((spreads, self.expression(CHOICE, level + 1)?));
            more = self.comma();
        }
        self.close(close, "a list is not closed")?;
        let span = self.words.part(start, self.before);
        let mut whole = None;
        for run in parts.chunk_by(|one, other| !one.0 && !other.0) {
            let part = match run {
                [(true, list)] => *list,
                items => self.list_of(items.iter().map(|(_, item)| *item), span)?,
            };
            let plus = |pair| TreeKind::Binary(Sign::Plain(Binary::Add), pair, span);
            whole = Some(match whole {
                None => part,
                Some(before) => self.pair(plus, before, part)?,
            });
        }
        if whole.is_none() { self.list_of(core::iter::empty(), span) } else { whole }
    }

    fn list_of(&mut self, items: impl Iterator<Item = Tree<'a>>, span: Span) -> Option<Tree<'a>> {
        let items = self.words.arena.collect(items);
        self.checked(TreeKind::List(items), span)
    }

    /// A comma, if one is there.
    fn comma(&mut self) -> bool {
        let found = self.is(",");
        if found {
            self.bump();
        }
        found
    }

    /// `for x in xs if c`, behind the value, and what closes it.
    fn comprehension(
        &mut self,
        start: usize,
        value: Tree<'a>,
        close: &str,
        level: usize,
    ) -> Option<Tree<'a>> {
        self.bump();
        let Token::Word(word) = self.token else {
            errors::no_comprehension(self, "a name", ONE_NAME);
            return None;
        };
        let item = Name { text: word, span: self.span() };
        self.bump();
        if !self.is_word("in") {
            errors::no_comprehension(self, "`in`", ONE_NAME);
            return None;
        }
        self.bump();
        let list = self.expression(CHOICE + 1, level + 1)?;
        let condition = if self.is_word("if") {
            self.bump();
            Some(self.expression(CHOICE + 1, level + 1)?)
        } else {
            None
        };
        if self.is_word("for") {
            errors::no_comprehension(self, &format!("`{close}`"), ONE_LIST);
            return None;
        }
        self.close(close, "a list is not closed")?;
        let each = self.words.arena.alloc(Each { item, list, condition, value });
        self.checked(TreeKind::Each(each), self.words.part(start, self.before))
    }

    /// `{name: E, "any name": E}`, `{name}`, and `{...E, name: E}`, which is `merge(E, {name: E})`.
    fn record(&mut self, level: usize) -> Option<Tree<'a>> {
        let start = self.from;
        self.bump();
        let mut fields: Vec<(Name<'a>, Tree<'a>)> = Vec::new();
        let mut whole = None;
        while !self.is("}") {
            if self.spreads() {
                self.bump();
                let other = self.expression(CHOICE, level + 1)?;
                if !fields.is_empty() {
                    whole = Some(self.with_fields(start, whole, &fields)?);
                    fields.clear();
                }
                whole = Some(self.merged(whole, other)?);
            } else {
                fields.push(self.field(level)?);
            }
            if !self.comma() && !self.is("}") {
                errors::refuse(self, "a record is not closed", "`,` or `}`");
                return None;
            }
        }
        self.bump();
        if whole.is_some() && fields.is_empty() { whole } else { self.with_fields(start, whole, &fields) }
    }

    /// A field of a record with its value; a name alone is that of a variable too.
    fn field(&mut self, level: usize) -> Option<(Name<'a>, Tree<'a>)> {
        let (from, to) = (self.from, self.to);
        let name = match self.token {
            Token::Word(word) => Name { text: word, span: self.span() },
            Token::Text(from, to) => Name { text: self.unescaped(from, to), span: self.words.part(from, to) },
            _ => {
                errors::refuse(self, "the name of a field is missing", "a name, or a text in quotes");
                return None;
            }
        };
        let is_word = matches!(self.token, Token::Word(_));
        self.bump();
        if is_word && (self.is(",") || self.is("}")) {
            let value = self.root(from, from, to);
            return Some((name, value));
        }
        if !self.is(":") && self.words.get(self.from, self.words.text.len()).contains(" for ") {
            errors::no_comprehension(self, "`:`", RECORD_OF_ITEMS);
            return None;
        }
        self.close(":", "a field has no value")?;
        let value = self.expression(CHOICE, level + 1)?;
        if self.is_word("for") {
            errors::no_comprehension(self, "`,` or `}`", RECORD_OF_ITEMS);
            return None;
        }
        Some((name, value))
    }

    /// A record with further fields.
    fn with_fields(
        &mut self,
        start: usize,
        whole: Option<Tree<'a>>,
        fields: &[(Name<'a>, Tree<'a>)],
    ) -> Option<Tree<'a>> {
        self.distinct(fields)?;
        let fields = self.words.arena.alloc_slice_copy(fields);
        let record = self.checked(TreeKind::Record(fields), self.words.part(start, self.before))?;
        self.merged(whole, record)
    }

    fn merged(&mut self, whole: Option<Tree<'a>>, other: Tree<'a>) -> Option<Tree<'a>> {
        let Some(whole) = whole else { return Some(other) };
        let merge = Name { text: "merge", span: whole.span.to(other.span) };
        let operands = [whole, other].map(|value| Operand { name: None, value });
        let operands = self.words.arena.alloc_slice_copy(&operands);
        self.checked(TreeKind::Call(merge, operands), merge.span)
    }

    /// Whether all fields of a record have different names.
    fn distinct(&mut self, fields: &[(Name<'a>, Tree<'a>)]) -> Option<()> {
        let mut seen: hashbrown::HashSet<&str> = hashbrown::HashSet::new();
        for (name, _) in fields {
            if !seen.insert(name.text) {
                let message = format!("the field `{}` is there twice", crate::text::shorten(name.text));
                self.fail(crate::diagnostic::Diagnostic::new(Code::DuplicateKey, name.span, message));
                return None;
            }
        }
        Some(())
    }

    /// What is between quotes, with escapes decoded.
    pub(super) fn unescaped(&self, from: usize, to: usize) -> &'a str {
        let raw = self.words.get(from, to);
        let double = self.words.byte(to) == Some(b'"');
        let quote = if double { '"' } else { '\'' };
        if !raw.contains(['\\', quote]) {
            return raw;
        }
        if double && let Ok(text) = crate::text::decode(raw, self.words.arena) {
            return self.words.arena.alloc_str(&text.replace("\"\"", "\""));
        }
        let mut text = String::with_capacity(raw.len());
        let mut rest = raw.chars().peekable();
        while let Some(c) = rest.next() {
            let next = rest.peek().copied();
            let decoded = match (c, next) {
                (_, Some(next)) if c == quote && next == quote => Some(quote),
                ('\\', Some('n')) => Some('\n'),
                ('\\', Some('t')) => Some('\t'),
                ('\\', Some(next)) if next == '\\' || next == quote => Some(next),
                _ => None,
            };
            text.push(decoded.unwrap_or(c));
            if decoded.is_some() {
                rest.next();
            }
        }
        self.words.arena.alloc_str(&text)
    }

    /// A text in quotes, which may have expressions in it.
    fn text(&mut self, from: usize, to: usize) -> Option<Tree<'a>> {
        let raw = self.words.get(from, to);
        let text = self.unescaped(from, to);
        self.filled(text, (from, to), text == raw)
    }

    /// The text between two quotes; `exact` says that it is in the source as it is.
    pub(super) fn filled(
        &mut self,
        text: &'a str,
        (from, to): (usize, usize),
        exact: bool,
    ) -> Option<Tree<'a>> {
        let span = self.words.part(from.saturating_sub(1), to + 1);
        if !text.contains('$') {
            return Some(tree(TreeKind::Literal(Literal::Text(text)), span, 0));
        }
        let NodeKind::Text(outer) = self.words.node.kind else { return None };
        let exact = outer.start.filter(|_| exact).zip(u32::try_from(from).ok());
        let start = exact.and_then(|(start, from)| start.checked_add(from));
        let kind = NodeKind::Text(Text { text, style: outer.style, start });
        let node = Node { kind, span: self.words.part(from, to) };
        let inner = Words { node: &node, text, arena: self.words.arena };
        let place = (self.sigil, self.nesting, self.braces);
        let template = template_of(&inner, place, self.diagnostics);
        if template.is_bad() {
            self.failed = true;
            return None;
        }
        let kind = match template.text() {
            Some(text) => TreeKind::Literal(Literal::Text(text)),
            None => TreeKind::Text(template),
        };
        self.checked(kind, span)
    }
}
