//! The parser of expressions: operators by precedence, and what follows a value: `.f`, `.0`, `?.f`, `[E]`,
//! `[E:E]`, `.f(E, …)`.

use super::BRACES;
use super::errors;
use super::lexer::Token;
use super::reference::{Reference, Root, Step, Words};
use super::template::{Setting, Sigil};
use super::tree::{Operand, Sign, Tree, TreeKind};
use crate::arena::Arena;
use crate::ast::{Binary, Literal, Name};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::document::Node;
use crate::span::Span;
use crate::text::name_end;
use ilo_spec::error::Code;
use ilo_spec::program::Number;

/// The precedences, from loose to tight.
pub(super) const CHOICE: u8 = 0;

const DEFAULT: u8 = 1;

const OR: u8 = 2;

const AND: u8 = 3;

pub(super) const NOT: u8 = 4;

pub(super) const COMPARISON: u8 = 5;

const SUM: u8 = 6;

const PRODUCT: u8 = 7;

pub(super) const SIGN: u8 = 8;

/// The operators between two values that have an instruction or a function, in all their spellings.
pub(super) const BETWEEN: [(&str, u8, Sign); 25] = [
    ("or", OR, Sign::Plain(Binary::Or)),
    ("||", OR, Sign::Plain(Binary::Or)),
    ("and", AND, Sign::Plain(Binary::And)),
    ("&&", AND, Sign::Plain(Binary::And)),
    ("==", COMPARISON, Sign::Plain(Binary::Eq)),
    ("===", COMPARISON, Sign::Plain(Binary::Eq)),
    ("=", COMPARISON, Sign::Plain(Binary::Eq)),
    ("!=", COMPARISON, Sign::Plain(Binary::Neq)),
    ("!==", COMPARISON, Sign::Plain(Binary::Neq)),
    ("<>", COMPARISON, Sign::Plain(Binary::Neq)),
    (">=", COMPARISON, Sign::Plain(Binary::Gte)),
    ("<=", COMPARISON, Sign::Plain(Binary::Lte)),
    (">", COMPARISON, Sign::Plain(Binary::Gt)),
    ("<", COMPARISON, Sign::Plain(Binary::Lt)),
    ("in", COMPARISON, Sign::In),
    ("+", SUM, Sign::Plain(Binary::Add)),
    ("-", SUM, Sign::Plain(Binary::Sub)),
    ("*", PRODUCT, Sign::Plain(Binary::Mul)),
    ("/", PRODUCT, Sign::Plain(Binary::Div)),
    ("%", PRODUCT, Sign::Plain(Binary::Mod)),
    ("//", PRODUCT, Sign::FloorDiv),
    ("+=", CHOICE, Sign::Changing(Binary::Add)),
    ("-=", CHOICE, Sign::Changing(Binary::Sub)),
    ("*=", CHOICE, Sign::Changing(Binary::Mul)),
    ("/=", CHOICE, Sign::Changing(Binary::Div)),
];

/// Whether a word is an operator or begins a part of one, so that it is no name.
pub(super) fn is_operator(word: &str) -> bool {
    matches!(word, "or" | "and" | "not" | "in" | "is" | "if" | "else" | "for")
}

/// Parses the text of a node as one expression of at most `nesting` levels. If it is none, this is reported.
pub fn whole<'a>(
    node: &Node<'a>,
    sigil: Sigil,
    nesting: usize,
    arena: &'a Arena,
    diagnostics: &mut Diagnostics,
) -> Option<Tree<'a>> {
    let words = Words::of(node, arena)?;
    Parser::new(&words, sigil, nesting, 0, diagnostics).whole()
}

/// Reads a text that holds one path and nothing else, with or without `$` and braces: `order.lines`,
/// `${.order["any name"].0}`. Nothing is reported.
pub fn path<'a>(node: &Node<'a>, nesting: usize, arena: &'a Arena) -> Option<Reference<'a>> {
    let words = Words::of(node, arena)?;
    // Only texts without blanks inside are parsed: a sentence is not read to its first error.
    let braces = words.text.starts_with(['$', '{']);
    if words.text.is_empty() || (!braces && words.text.contains([' ', '(', '+', '*'])) {
        return None;
    }
    let mut unseen = Diagnostics::default();
    let found = Parser::new(&words, Sigil::Dollar, nesting, 0, &mut unseen).whole()?;
    let is_constant = found.name().is_some_and(|name| !braces && is_constant(name.text));
    found.path().filter(|_| !is_constant)
}

/// A path that is all of a text, with any expressions in its brackets. Nothing is reported.
pub(crate) fn bracketed<'a>(words: &Words<'_, 'a>, (sigil, nesting, braces): Setting) -> Option<Tree<'a>> {
    let mut unseen = Diagnostics::default();
    Parser::new(words, sigil, nesting, braces, &mut unseen).whole().filter(Tree::is_path)
}

/// The state of parsing one text.
pub(super) struct Parser<'p, 'n, 'a> {
    pub(super) words: &'p Words<'n, 'a>,
    pub(super) sigil: Sigil,
    pub(super) nesting: usize,
    /// The number of braces around it.
    pub(super) braces: u8,
    pub(super) diagnostics: &'p mut Diagnostics,
    pub(super) token: Token<'a>,
    /// The byte range of the token, and the end of the previous one.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) before: usize,
    /// Whether an error was reported, so that the errors that follow from it are not.
    pub(super) failed: bool,
}

/// An operator at the cursor.
struct Found {
    sign: Sign,
    closeness: u8,
    /// The end of its last token, and the byte that begins it.
    place: (usize, usize),
}

impl<'p, 'n, 'a> Parser<'p, 'n, 'a> {
    pub(super) fn new(
        words: &'p Words<'n, 'a>,
        sigil: Sigil,
        nesting: usize,
        braces: u8,
        diagnostics: &'p mut Diagnostics,
    ) -> Parser<'p, 'n, 'a> {
        let (from, to, before) = (0, 0, 0);
        Parser {
            words,
            sigil,
            nesting,
            braces,
            diagnostics,
            token: Token::End,
            from,
            to,
            before,
            failed: false,
        }
    }

    /// The whole text.
    fn whole(mut self) -> Option<Tree<'a>> {
        self.bump();
        if matches!(self.token, Token::End) {
            errors::refuse(&mut self, "an expression is missing", "an expression, as in `price * 2`");
            return None;
        }
        let whole = match self.only_path(None) {
            Some(path) => path,
            None => self.expression(CHOICE, 0)?,
        };
        if matches!(self.token, Token::End) {
            return Some(whole);
        }
        let sentence = errors::sentence(&mut self);
        if sentence.is_none() {
            errors::left_over(&mut self);
        }
        sentence
    }

    /// The expression in the braces whose `${` is at a byte, and where reading continues.
    ///
    /// # Errors
    /// Where reading continues after braces that could not be read.
    pub(super) fn braced(
        words: &'p Words<'n, 'a>,
        at: usize,
        (sigil, nesting, braces): (Sigil, usize, u8),
        diagnostics: &'p mut Diagnostics,
    ) -> Result<(Tree<'a>, usize), usize> {
        let mut parser = Parser::new(words, sigil, nesting, braces, diagnostics);
        parser.go_to(at);
        // What follows the braces is no token of an expression.
        match parser.up_to_brace(0) {
            Some(tree) => Ok((tree, parser.to)),
            None => Err(errors::closing(words.text, at)),
        }
    }

    /// `${E}`; the cursor is at `${`.
    pub(super) fn in_braces(&mut self, level: usize) -> Option<Tree<'a>> {
        let tree = self.up_to_brace(level)?;
        self.bump();
        Some(tree)
    }

    /// `${E}` up to its last `}`, at which the cursor is then.
    fn up_to_brace(&mut self, level: usize) -> Option<Tree<'a>> {
        let open = self.from;
        if self.braces >= BRACES {
            errors::too_many_braces(self);
            return None;
        }
        if self.words.byte(self.to) == Some(b'{') {
            return errors::double_braces(self, open, level);
        }
        self.braces += 1;
        self.bump();
        let found = self.inside(open, level);
        self.braces -= 1;
        let mut tree = found?;
        // A reference in braces is shown with them.
        if let TreeKind::Path(reference) = &mut tree.kind {
            reference.span = self.words.part(open, self.to);
            tree.span = reference.span;
        }
        Some(tree)
    }

    /// What is between braces, up to the `}` at the cursor.
    pub(super) fn inside(&mut self, open: usize, level: usize) -> Option<Tree<'a>> {
        if self.is("}") {
            errors::empty_braces(self, open);
            return None;
        }
        let tree = match self.only_path(Some("}")) {
            Some(path) => path,
            None => self.expression(CHOICE, level)?,
        };
        let tree = if self.is(":") { self.places(tree).unwrap_or(tree) } else { tree };
        if self.is("}") {
            return Some(tree);
        }
        errors::not_closed(self, open);
        None
    }

    /// `:.2f` and `:,.2f` behind a number, as in formats of Python: its places.
    fn places(&mut self, number: Tree<'a>) -> Option<Tree<'a>> {
        let format = self.words.get(self.to, self.words.text.len());
        let (function, rest) = match format.strip_prefix(',') {
            Some(rest) => ("grouped", rest),
            None => ("fixed", format),
        };
        let (places, rest) = rest.strip_prefix('.')?.split_once('f')?;
        let places = places.parse::<u8>().ok().filter(|_| rest.starts_with('}'))?;
        let end = self.words.text.len() - rest.len();
        let span = self.words.part(self.from, end);
        let places = tree(TreeKind::Literal(Literal::Number(Number::Int(places.into()))), span, 0);
        let operands = [number, places].map(|value| Operand { name: None, value });
        let operands = self.words.arena.alloc_slice_copy(&operands);
        self.go_to(end);
        self.checked(TreeKind::Call(Name { text: function, span }, operands), number.span.to(span))
    }

    /// A path that is all there is, even if it begins with a key word. What has the name of a constant is the
    /// constant if nothing else has this name.
    fn only_path(&mut self, close: Option<&str>) -> Option<Tree<'a>> {
        let Token::Word(word) = self.token else { return None };
        if !is_operator(word) && !is_constant(word) {
            return None;
        }
        let (reference, end) = self.words.bare(self.from)?;
        let rest = self.words.get(end, self.words.text.len()).trim_start();
        let ends = match close {
            Some(close) => rest.starts_with(close),
            None => rest.is_empty(),
        };
        if !ends {
            return None;
        }
        self.go_to(end);
        Some(tree(TreeKind::Path(reference), reference.span, reference.path.len()))
    }

    /// Parses operators of at least this precedence, with their operands.
    pub(super) fn expression(&mut self, closeness: u8, level: usize) -> Option<Tree<'a>> {
        if level >= self.nesting {
            errors::too_deep(self);
            return None;
        }
        let mut left = self.operand(closeness, level)?;
        let mut compared = None;
        while let Some(found) = self.between() {
            if found.closeness < closeness {
                break;
            }
            left = self.combined(left, &found, compared, level)?;
            compared = match (found.closeness, found.sign) {
                (COMPARISON, Sign::Plain(binary)) => Some(binary),
                (COMPARISON, _) => Some(Binary::HasName),
                _ => None,
            };
        }
        if closeness <= DEFAULT && self.is("??") {
            left = self.defaulted(left, level)?;
        }
        if closeness == CHOICE { self.choice(left, level) } else { Some(left) }
    }

    /// An operator at the cursor behind its first operand; `compared` is the comparison that this one is.
    #[inline(never)]
    fn combined(
        &mut self,
        left: Tree<'a>,
        found: &Found,
        compared: Option<Binary>,
        level: usize,
    ) -> Option<Tree<'a>> {
        self.go_to(found.place.1);
        let place = self.words.part(found.place.0, found.place.1);
        let right = self.expression(found.closeness + 1, level + 1)?;
        match compared {
            Some(first) if found.closeness == COMPARISON => {
                self.chained((first, left), (found.sign, right), place)
            }
            _ => self.pair(|pair| TreeKind::Binary(found.sign, pair, place), left, right),
        }
    }

    /// `a ?? b`, behind a.
    #[inline(never)]
    fn defaulted(&mut self, left: Tree<'a>, level: usize) -> Option<Tree<'a>> {
        self.bump();
        let right = self.expression(DEFAULT, level + 1)?;
        self.pair(TreeKind::Default, left, right)
    }

    /// `a if c else b` and `c ? a : b`, whose first part is read.
    fn choice(&mut self, first: Tree<'a>, level: usize) -> Option<Tree<'a>> {
        if self.is_word("if") {
            return self.choice_by_words(first, level);
        }
        if !(self.is("?") && self.words.byte(self.to).is_some_and(|byte| byte.is_ascii_whitespace())) {
            return Some(first);
        }
        self.bump();
        let then = self.expression(CHOICE, level + 1)?;
        if !self.is(":") {
            errors::refuse(self, "the other value is missing: `c ? a : b`", "`:`");
            return None;
        }
        self.bump();
        let otherwise = self.expression(CHOICE, level + 1)?;
        self.chosen([first, then, otherwise])
    }

    /// `if c else b`, behind the value for true.
    #[inline(never)]
    fn choice_by_words(&mut self, first: Tree<'a>, level: usize) -> Option<Tree<'a>> {
        self.bump();
        let condition = self.expression(DEFAULT, level + 1)?;
        if !self.is_word("else") {
            errors::refuse(self, "the other value is missing: `a if c else b`", "`else`");
            return None;
        }
        self.bump();
        let otherwise = self.expression(CHOICE, level + 1)?;
        self.chosen([condition, first, otherwise])
    }

    fn chosen(&mut self, all: [Tree<'a>; 3]) -> Option<Tree<'a>> {
        let span = all.iter().fold(all[0].span, |span, tree| around(span, tree.span));
        let all = self.words.arena.alloc(all);
        self.checked(TreeKind::Choice(all), span)
    }

    /// A second comparison behind the one that `left` is.
    fn chained(
        &mut self,
        (first, left): (Binary, Tree<'a>),
        (sign, right): (Sign, Tree<'a>),
        place: Span,
    ) -> Option<Tree<'a>> {
        let rising = |binary| matches!(binary, Binary::Lt | Binary::Lte);
        let falling = |binary| matches!(binary, Binary::Gt | Binary::Gte);
        if let (TreeKind::Binary(_, &[low, middle], _), Sign::Plain(second)) = (left.kind, sign)
            && ((rising(first) && rising(second)) || (falling(first) && falling(second)))
        {
            let all = self.words.arena.alloc([low, middle, right]);
            return self.checked(TreeKind::Between([first, second], all), around(left.span, right.span));
        }
        errors::no_chain(self, place);
        None
    }

    /// The operator between two values at the cursor.
    fn between(&mut self) -> Option<Found> {
        let (Token::Word(text) | Token::Symbol(text)) = self.token else { return None };
        let (from, to) = (self.from, self.to);
        let follows = |word: &str| {
            let at = from_blanks(self.words.text, to);
            let end = crate::text::name_end(self.words.text, at)?;
            (self.words.get(at, end) == word).then_some(end)
        };
        let word = match text {
            "AND" | "And" => "and",
            "OR" | "Or" => "or",
            "IN" => "in",
            other => other,
        };
        match word {
            "is" => {
                let not = follows("not");
                let sign = Sign::Plain(if not.is_some() { Binary::Neq } else { Binary::Eq });
                return Some(Found { sign, closeness: COMPARISON, place: (from, not.unwrap_or(to)) });
            }
            "not" => {
                let end = follows("in")?;
                return Some(Found { sign: Sign::NotIn, closeness: COMPARISON, place: (from, end) });
            }
            _ => {}
        }
        let &(_, closeness, sign) = BETWEEN.iter().find(|(own, ..)| *own == word)?;
        Some(Found { sign, closeness, place: (from, to) })
    }

    /// A node of two operands.
    pub(super) fn pair(
        &mut self,
        kind: impl FnOnce(&'a [Tree<'a>; 2]) -> TreeKind<'a>,
        left: Tree<'a>,
        right: Tree<'a>,
    ) -> Option<Tree<'a>> {
        let span = around(left.span, right.span);
        let pair = self.words.arena.alloc([left, right]);
        self.checked(kind(pair), span)
    }

    /// A node over trees, if it is not too deep.
    pub(super) fn checked(&mut self, kind: TreeKind<'a>, span: Span) -> Option<Tree<'a>> {
        let mut inside = 0;
        tree(kind, span, 0).children(&mut |child| inside = inside.max(child.levels));
        // These are two comparisons, joined.
        inside += usize::from(matches!(kind, TreeKind::Between(..)));
        if inside + 1 > self.nesting {
            errors::too_deep(self);
            return None;
        }
        Some(tree(kind, span, inside))
    }

    pub(super) fn span(&self) -> Span {
        self.words.part(self.from, self.to)
    }

    /// Reports an error, unless one was reported before.
    pub(super) fn fail(&mut self, wrong: Diagnostic) {
        if !std::mem::replace(&mut self.failed, true) {
            self.diagnostics.push(wrong);
        }
    }

    pub(super) fn wrong(&self, code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, self.span(), message)
    }
}

/// A node over trees of some levels.
pub(super) fn tree(kind: TreeKind<'_>, span: Span, levels: usize) -> Tree<'_> {
    Tree { kind, span, levels: levels + 1 }
}

/// Whether a word is a constant.
fn is_constant(word: &str) -> bool {
    super::operand::constant(word).is_some()
}

/// The smallest span around two.
fn around(one: Span, other: Span) -> Span {
    Span::new(one.start.min(other.start), one.end.max(other.end))
}

/// The position after blanks.
fn from_blanks(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or("");
    text.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len()
}

impl<'a> Parser<'_, '_, 'a> {
    /// Reads what follows a value that begins at byte `start`. The steps of a path are added to it at once.
    pub(super) fn postfix(&mut self, start: usize, value: Tree<'a>, level: usize) -> Option<Tree<'a>> {
        let mut value = value;
        let mut steps: Vec<Step<'a>> = Vec::new();
        let mut guards: Vec<Tree<'a>> = Vec::new();
        loop {
            if let Some((step, end)) = self.step(&value) {
                steps.push(step);
                self.go_to(end);
                continue;
            }
            value = self.with_steps(start, value, &mut steps);
            value = match self.token {
                // A guard is read twice, so that one within another would be read many times.
                Token::Symbol("?.") if self.joined() && self.needs_guard() && value.is_plain() => {
                    guards.push(value);
                    self.member(start, value, level)?
                }
                Token::Symbol("." | "?.") if self.joined() => self.member(start, value, level)?,
                Token::Symbol("[") if self.joined() => self.brackets(start, value, level)?,
                Token::Symbol("(") if self.joined() => {
                    let help = "write the name of a function before them: `len(list)`";
                    errors::explain(self, "only functions take parentheses", "an operator or the end", help);
                    return None;
                }
                _ => break,
            };
        }
        guards.into_iter().rev().try_fold(value, |value, guard| {
            let null = tree(TreeKind::Literal(Literal::Nil), guard.span, 0);
            let found = self.pair(TreeKind::Default, guard, null)?;
            let is_null = |pair| TreeKind::Binary(Sign::Plain(Binary::Eq), pair, guard.span);
            let is_null = self.pair(is_null, found, null)?;
            self.chosen([is_null, null, value])
        })
    }

    /// Whether `?.` is before a method or a length, which a missing value does not have.
    fn needs_guard(&self) -> bool {
        let end = name_end(self.words.text, self.to);
        end.is_some_and(|end| self.words.byte(end) == Some(b'(') || self.words.get(self.to, end) == "length")
    }

    /// A path with further steps.
    fn with_steps(&mut self, start: usize, value: Tree<'a>, steps: &mut Vec<Step<'a>>) -> Tree<'a> {
        let TreeKind::Path(reference) = value.kind else { return value };
        if steps.is_empty() {
            return value;
        }
        let path = self.words.arena.collect(reference.path.iter().copied().chain(steps.drain(..)));
        let span = self.words.part(start, self.before);
        tree(TreeKind::Path(Reference { path, span, ..reference }), span, path.len())
    }

    /// The next step of a path at the cursor, and its end: a field, an item, or `["any name"]`.
    fn step(&self, value: &Tree<'a>) -> Option<(Step<'a>, usize)> {
        if !matches!(value.kind, TreeKind::Path(_)) || !self.joined() {
            return None;
        }
        match self.token {
            Token::Symbol(".") => {
                let (step, end) = self.words.dotted_step(self.from, true)?;
                let called = self.words.byte(end) == Some(b'(');
                // The path `input.0` is no input.
                (!called).then_some((step, end))
            }
            Token::Symbol("[") => self
                .words
                .any_name(self.from)
                .map(|(name, end)| (Step::Field(name), end))
                .or_else(|| self.words.item(self.from)),
            _ => None,
        }
    }

    /// `.f`, `.0`, `?.f` and `.f(…)` behind the value.
    fn member(&mut self, start: usize, value: Tree<'a>, level: usize) -> Option<Tree<'a>> {
        let question = self.is("?.");
        // What follows an absent field is absent too.
        let optional = question && !self.needs_guard() || matches!(value.kind, TreeKind::Field(_, _, true));
        let at = self.to;
        if question && self.words.byte(at) == Some(b'[') {
            // `a?.[0]`: the brackets follow.
            self.go_to(at);
            return self.brackets(start, value, level);
        }
        if let Some(end) = name_end(self.words.text, at) {
            let name = Name { text: self.words.get(at, end), span: self.words.part(at, end) };
            if self.words.byte(end) == Some(b'(') {
                self.go_to(end + 1);
                let operands = self.operands(level)?;
                let of = &*self.words.arena.alloc(value);
                return self.checked(TreeKind::Method(of, name, operands), self.until(start));
            }
            self.go_to(end);
            let of = &*self.words.arena.alloc(value);
            return self.checked(TreeKind::Field(of, name, optional), self.until(start));
        }
        let digits = self.words.get(at, self.words.text.len());
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        if let Ok(index) = self.words.get(at, at + length).parse::<i64>() {
            let span = self.words.part(at, at + length);
            let index = tree(TreeKind::Literal(Literal::Number(Number::Int(index))), span, 0);
            self.go_to(at + length);
            let mut item = self.pair(TreeKind::Item, value, index)?;
            item.span = self.until(start);
            return Some(item);
        }
        errors::refuse(self, "the name of a field is missing behind the dot", "a name or a number");
        None
    }

    /// `[E]` and `[E:E]` behind the value.
    fn brackets(&mut self, start: usize, value: Tree<'a>, level: usize) -> Option<Tree<'a>> {
        self.bump();
        let first = if self.is(":") { None } else { Some(self.expression(CHOICE, level + 1)?) };
        if !self.is(":") {
            self.close("]", "a bracket is not closed")?;
            let mut item = self.pair(TreeKind::Item, value, first?)?;
            item.span = self.until(start);
            return Some(item);
        }
        self.bump();
        let second = if self.is("]") { None } else { Some(self.expression(CHOICE, level + 1)?) };
        self.close("]", "a bracket is not closed")?;
        let arena = self.words.arena;
        let ends = [first, second].map(|end| end.map(|end| &*arena.alloc(end)));
        let of = &*arena.alloc(value);
        self.checked(TreeKind::Slice(of, ends), self.until(start))
    }

    /// The span from a byte to the end of the last token.
    fn until(&self, start: usize) -> crate::span::Span {
        self.words.part(start, self.before)
    }
}

impl<'a> Tree<'a> {
    /// The name, if the expression is only that.
    pub(crate) fn name(&self) -> Option<Name<'a>> {
        match self.kind {
            TreeKind::Path(Reference { root: Root::Name(name), path: [], .. }) => Some(name),
            _ => None,
        }
    }
}
