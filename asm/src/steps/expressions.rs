//! Gives the trees of expressions their meaning: names, fields and operators; and builds operations from an
//! operator and its operands, also for JSON.
//!
//! What has no instruction of its own becomes others: a choice is a match of a bool, a default is GET, or a
//! match of nil where the default must not be evaluated too early, `a < b < c` is two comparisons.

use super::loops::OfItems;
use super::reader::{Placement, StepReader, bad, literal, number};
use super::values::ValuePlace;
use super::{functions, references, values};
use crate::ast::{Apply, Binary, Case, Expr, ExprKind, Field, Literal, MatchMap, Name, Unary};
use crate::diagnostic::Diagnostic;
use crate::dialect::operator::{Makes, NO_DEFAULT, Operator};
use crate::dialect::{operator, other_operator};
use crate::document::{Entry, Node, NodeKind, first_of, inner, rename};
use crate::expr;
use crate::expr::reference::{Reference, Root, Step};
use crate::expr::{Sign, Tree, TreeKind};
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use ilo_spec::pure::{Omitted, Pure};
use ilo_spec::types::Type;

impl<'a> StepReader<'a> {
    /// The operator of a sum in an expression: it joins if an operand is certainly a text. If all operands
    /// are written numbers, and some in quotes, it is not clear whether they are added or joined; but nobody
    /// adds a zero.
    pub(crate) fn sum(&mut self, operands: &[Expr<'a>], place: Span) -> Binary {
        if !operands.iter().any(is_text) {
            return Binary::Add;
        }
        let is_zero = |text: &str| text.bytes().all(|byte| byte == b'0');
        let adds = |operand: &Expr<'_>| match operand.constant_text() {
            Some(text) => is_number(operand) && !is_zero(text),
            None => matches!(operand.kind, ExprKind::Literal(Literal::Number(_))),
        };
        if operands.iter().all(adds) {
            self.report(adds_texts(place).help("write the number without quotes, or `concat(a, b)` to join"));
        }
        Binary::Concat
    }

    /// The expression of an operator and its operands; `None` if their number is wrong.
    pub(crate) fn made(&mut self, makes: Makes, operands: &[Expr<'a>], span: Span) -> Option<Expr<'a>> {
        match (makes, operands) {
            (Makes::Unary(unary), [operand]) => {
                Some(Expr { kind: ExprKind::Unary(unary, self.alloc(*operand)), span })
            }
            (Makes::Binary(binary), [_, _, ..]) => self.fold(binary, operands, span),
            (Makes::Apply(function), _) => {
                operator::row(makes).takes(operands.len()).then(|| self.applied(function, operands, span))
            }
            _ => None,
        }
    }

    /// A pure function. Omitted operands have the defaults of its row.
    pub(crate) fn applied(&mut self, function: Pure, operands: &[Expr<'a>], span: Span) -> Expr<'a> {
        let omitted =
            function.row().operands.iter().skip(operands.len()).map(|operand| match operand.omitted {
                Omitted::Zero => number(0, span),
                Omitted::Never | Omitted::Nil => literal(Literal::Nil, span),
            });
        let operands = self.arena.collect(operands.iter().copied().chain(omitted));
        let id = function.row().fails.then(|| self.new_attempt());
        Expr { kind: ExprKind::Apply(Apply { function, operands, id }), span }
    }

    fn fold(&mut self, binary: Binary, operands: &[Expr<'a>], span: Span) -> Option<Expr<'a>> {
        // Each operand is a level.
        if !self.fits(operands.len().saturating_sub(2), span) {
            return Some(bad(span));
        }
        operands.iter().copied().reduce(|left, right| self.of_two(binary, left, right, span))
    }

    /// A binary operator. HAS and AT with a text name a field.
    pub(crate) fn of_two(&mut self, operator: Binary, a: Expr<'a>, b: Expr<'a>, span: Span) -> Expr<'a> {
        let Some(text) = b.constant_text() else { return self.binary(operator, a, b, span) };
        let name = Name { text, span: b.span };
        let kind = match operator {
            Binary::HasName => ExprKind::Has(self.alloc(a), name),
            Binary::At => ExprKind::Field(self.alloc(a), name),
            _ => return self.binary(operator, a, b, span),
        };
        Expr { kind, span }
    }

    /// An operand as it was read, or corrected.
    pub(crate) fn checked_operand(
        &mut self,
        operator: &Operator,
        number: usize,
        node: &Node<'a>,
        value: Expr<'a>,
    ) -> Expr<'a> {
        let names_field = number == 1 && operator.takes_field();
        let own = if names_field { None } else { self.reads_own_step(operator, node, &value) };
        if let Some(found) = own.or_else(|| self.quoted_number(operator, node, &value)) {
            return found;
        }
        if references::is_plain(self, node, &value) {
            references::lint(self, |lints| lints.operand(operator, node));
        }
        value
    }

    /// A bare name that only the current step binds: the operand of a computation is not a text.
    fn reads_own_step(&mut self, operator: &Operator, node: &Node<'a>, value: &Expr<'a>) -> Option<Expr<'a>> {
        let text = value.constant_text()?;
        let plain = node.text() == Some(text) && self.dialect.is_bare();
        if !plain || matches!(operator.spelling, "==" | "!=" | "at" | "has") || !self.binds(text) {
            return None;
        }
        let place = self.survey.binding(text)?;
        self.report(references::not_yet(self, Name { text, span: inner(node) }, place));
        Some(bad(node.span))
    }

    /// A quoted number as an operand of arithmetic: read as the number that is meant.
    fn quoted_number(&mut self, operator: &Operator, node: &Node<'a>, value: &Expr<'a>) -> Option<Expr<'a>> {
        let text = value.constant_text()?;
        let number = ilo_spec::number::parse(text).ok()?;
        if !matches!(operator.spelling, "+" | "-" | "*" | "/" | "%") || self.dialect.is_yaml() {
            return None;
        }
        let wrong = Diagnostic::new(Code::TypeMismatch, node.span, format!("`{text}` in quotes is a text"))
            .expected("number", "text");
        self.report(wrong.replace(node.span, text));
        Some(literal(Literal::Number(number), node.span))
    }

    /// Builds an operation. An addition of a text joins; it is reported if the text may be meant as a number
    /// or as a name.
    pub(crate) fn makes(&mut self, operator: &Operator, written: &Node<'a>, operands: &[Expr<'a>]) -> Makes {
        let is_text = |operand: &Expr<'a>| match operand.kind {
            ExprKind::Literal(Literal::Text(_)) => {
                !self.suspects.iter().rev().take(operands.len()).any(|&suspect| suspect == operand.span)
            }
            _ => is_text(operand),
        };
        if operator.makes != Makes::Binary(Binary::Add) || !operands.iter().any(is_text) {
            return operator.makes;
        }
        let is_named = |of: &Expr<'a>| of.constant_text().is_some_and(is_name);
        if operands.iter().any(|operand| is_number(operand) || is_named(operand)) {
            let wrong = adds_texts(written.span);
            self.report(wrong.fix_or_help(rename(written, "concat"), "`concat` joins texts"));
        }
        Makes::Binary(Binary::Concat)
    }

    pub(crate) fn operand_count(&mut self, entry: &Entry<'a>, operator: &Operator, found: usize) {
        let (spelling, takes) = (operator.spelling, operator.operands());
        let is_list = matches!(entry.value.kind, NodeKind::List(_));
        let chains = is_list && found == 3 && matches!(spelling, "<" | "<=" | ">" | ">=" | "==");
        let names = match operator.makes {
            Makes::Unary(_) => "value".to_owned(),
            Makes::Binary(_) => "a, b".to_owned(),
            Makes::Apply(function) => {
                function.row().operands.iter().map(|operand| operand.name).collect::<Vec<_>>().join(", ")
            }
        };
        let help = if chains {
            format!(
                "comparisons do not chain: write `{{\"and\": [{{\"{spelling}\": [a, b]}}, {{\"{spelling}\": [b, c]}}]}}`"
            )
        } else {
            format!("write `{{\"{spelling}\": [{names}]}}`; data is under `obj`")
        };
        let found = if is_list { found.to_string() } else { entry.value.kind_name().to_owned() };
        let message = format!("`{spelling}` takes {takes}");
        let wrong = Diagnostic::new(Code::OperandCount, first_of(&entry.value), message);
        self.report(wrong.expected(takes, found).help(help));
    }

    /// The text of a node as an expression, with or without braces.
    pub(crate) fn expression(&mut self, node: &Node<'a>) -> Expr<'a> {
        let left = self.levels_left();
        match expr::whole(node, self.dialect.sigil(), left, self.arena, &mut self.diagnostics) {
            Some(tree) => self.of_tree(node, &tree),
            None => bad(node.span),
        }
    }

    /// The expression of a tree; `node` is the text that it is in.
    pub(crate) fn of_tree(&mut self, node: &Node<'a>, tree: &Tree<'a>) -> Expr<'a> {
        // What a node becomes is up to three levels deep.
        let levels = match tree.kind {
            TreeKind::Path(_) | TreeKind::Literal(_) => 0,
            TreeKind::Choice(_) | TreeKind::Between(..) | TreeKind::Default(_) => 3,
            TreeKind::Binary(..) | TreeKind::Minus(_) => 2,
            _ => 1,
        };
        if !self.fits(levels.min(1), tree.span) {
            return bad(node.span);
        }
        let logical = matches!(
            tree.kind,
            TreeKind::Not(_) | TreeKind::Binary(Sign::Plain(Binary::And | Binary::Or), ..)
        );
        let depth = self.at.depth + levels;
        let inner = Placement { depth, condition: self.at.condition && logical, ..self.at };
        self.within(inner, |this| this.of_kind(node, tree))
    }

    fn of_kind(&mut self, node: &Node<'a>, tree: &Tree<'a>) -> Expr<'a> {
        let span = tree.span;
        let kind = match tree.kind {
            TreeKind::Path(reference) => return references::braced(self, &reference),
            TreeKind::Literal(value) => return literal(value, span),
            TreeKind::Text(template) => {
                return references::text_of(self, node, &template, ValuePlace::Quoted);
            }
            TreeKind::Not(of) => {
                let of = self.of_tree(node, of);
                return self.not(of, span);
            }
            TreeKind::Minus(of) => {
                let (one, of) = (number(-1, span), self.of_tree(node, of));
                return self.binary(Binary::Mul, one, of, span);
            }
            TreeKind::Binary(sign, pair, place) => return self.of_sign(node, (sign, place), pair, span),
            TreeKind::Between(signs, all) => return self.between(node, signs, all, span),
            TreeKind::Choice(all) => self.choice_of(node, all),
            TreeKind::Default([of, otherwise]) => return self.default(node, of, otherwise, span),
            TreeKind::Field(of, name, optional) => {
                let of = self.of_tree(node, of);
                if optional {
                    let operands = [of, literal(Literal::Text(name.text), name.span)];
                    return self.applied(Pure::Get, &operands, span);
                }
                ExprKind::Field(self.alloc(of), name)
            }
            TreeKind::Item([of, index]) => {
                let optional = matches!(of.kind, TreeKind::Field(_, _, true));
                let (of, index) = (self.of_tree(node, of), self.of_tree(node, index));
                if optional {
                    return self.applied(Pure::Get, &[of, index], span);
                }
                return self.of_two(Binary::At, of, index, span);
            }
            TreeKind::Slice(of, ends) => return self.slice(node, of, ends, span),
            TreeKind::Call(name, operands) => {
                return functions::called(self, node, name, None, operands, span);
            }
            TreeKind::Method(of, name, operands) => {
                return functions::called(self, node, name, Some(of), operands, span);
            }
            TreeKind::List(items) => {
                ExprKind::List(self.arena.collect(items.iter().map(|item| self.of_tree(node, item))))
            }
            TreeKind::Record(fields) => {
                let arena = self.arena;
                let field = |&(name, ref value)| Field { name, value: self.of_tree(node, value) };
                ExprKind::Record(arena.collect(fields.iter().map(field)))
            }
            TreeKind::Each(each) => return self.looped_value(node, each, OfItems::Map, span),
            TreeKind::Lambda(..) => return self.no_loop(span),
        };
        Expr { kind, span }
    }

    /// An operator between two values.
    fn of_sign(
        &mut self,
        node: &Node<'a>,
        (sign, place): (Sign, Span),
        pair: &'a [Tree<'a>; 2],
        span: Span,
    ) -> Expr<'a> {
        let [a, b] = pair;
        match sign {
            Sign::Changing(operator) => {
                if !self.is_changed(a) {
                    let written = self.source.get(place.range()).unwrap_or("");
                    let message = format!("`{written}` changes nothing here");
                    let help = "an expression changes no name: a step binds it again with `let`";
                    self.report(Diagnostic::new(Code::UnknownOperator, place, message).help(help));
                    return bad(span);
                }
                self.of_sign(node, (Sign::Plain(operator), place), pair, span)
            }
            Sign::Plain(Binary::Or) if is_no_bool(b) => self.no_default(pair, place, span),
            Sign::Plain(operator) => {
                if matches!(operator, Binary::Eq | Binary::Neq) {
                    if let Some(asked) = self.question(node, pair, operator == Binary::Neq, (place, span)) {
                        return asked;
                    }
                    references::lint(self, |lints| lints.quoted_null(node, b));
                }
                if operator == Binary::Or && !self.at.condition && is_or(self.source, place) {
                    self.ors.push((span, place));
                }
                let a = self.of_tree(node, a);
                let b = match operator {
                    Binary::And => self.guarded((a, false), |this| this.of_tree(node, b)),
                    Binary::Or => self.guarded((a, true), |this| this.of_tree(node, b)),
                    _ => self.of_tree(node, b),
                };
                let operator = if operator == Binary::Add { self.sum(&[a, b], place) } else { operator };
                self.of_two(operator, a, b, span)
            }
            Sign::FloorDiv => {
                let read = [self.of_tree(node, a), self.of_tree(node, b)];
                self.applied(Pure::FloorDiv, &read, span)
            }
            Sign::In | Sign::NotIn => {
                let (item, list) = (self.of_tree(node, a), self.of_tree(node, b));
                let has = self.of_two(Binary::HasName, list, item, span);
                if sign == Sign::In { has } else { self.not(has, span) }
            }
        }
    }

    /// A test of other languages: `x is none`, `x is not defined`, `x is empty`.
    fn question(
        &mut self,
        node: &Node<'a>,
        [of, word]: &'a [Tree<'a>; 2],
        not: bool,
        (place, span): (Span, Span),
    ) -> Option<Expr<'a>> {
        let name = word.name()?.text;
        let is = self.source.get(place.range())?.starts_with("is") && matches!(name, "defined" | "empty");
        let free = (is || name == "none") && self.named(name).or(self.scope.input(name)).is_none();
        let (sign, measures) = other_operator::question(name).filter(|_| free)?;
        let (mut of, mut than) = (self.of_tree(node, of), Literal::Nil);
        if measures {
            of = Expr { kind: ExprKind::Unary(Unary::Len, self.alloc(of)), span: of.span };
            than = Literal::Number(Number::Int(0));
        }
        let operator = if (sign == "==") == not { Binary::Neq } else { Binary::Eq };
        Some(self.binary(operator, of, literal(than, span), span))
    }

    /// Whether the step binds this name or path.
    pub(crate) fn is_changed(&self, of: &Tree<'a>) -> bool {
        let written = self.source.get(of.span.range()).map(|written| written.trim_start_matches('$'));
        of.name().map(|name| name.text).or(written).is_some_and(|name| self.binds(name))
    }

    /// `a or 'text'`: a default of other languages; also one of several values, and one of two.
    fn no_default(&mut self, [a, b]: &[Tree<'a>; 2], place: Span, span: Span) -> Expr<'a> {
        let wrong = Diagnostic::new(Code::ConditionType, b.span, "`or` takes bools, and gives no default");
        let wrong = wrong.expected("a bool, or `??` before the default", "another value");
        let text = |of: &Tree<'_>| self.source.get(of.span.range()).unwrap_or("");
        let exact = is_or(self.source, place);
        self.report(match a.kind {
            TreeKind::Binary(Sign::Plain(Binary::And), [test, then], _) if is_no_bool(then) && exact => {
                wrong.replace(span, format!("{} if {} else {}", text(then), text(test), text(b)))
            }
            TreeKind::Binary(Sign::Plain(Binary::Eq) | Sign::In, [of, one], _) if exact => {
                wrong.replace(span, format!("{} in [{}, {}]", text(of), text(one), text(b)))
            }
            TreeKind::Binary(..) | TreeKind::Literal(_) => wrong.help("one of several is `x in ['a', 'b']`"),
            _ if exact => wrong.help(NO_DEFAULT).replace(place, "??"),
            _ => wrong.help(NO_DEFAULT),
        });
        bad(span)
    }

    /// `a < b < c`: b is read twice.
    fn between(
        &mut self,
        node: &Node<'a>,
        [first, second]: [Binary; 2],
        [low, middle, high]: &'a [Tree<'a>; 3],
        span: Span,
    ) -> Expr<'a> {
        let low = self.of_tree(node, low);
        let Some(middle) = self.twice(middle.kind, middle.span, |this| this.of_tree(node, middle)) else {
            return bad(span);
        };
        let left = self.binary(first, low, middle, Span::new(span.start, middle.span.end));
        let high = self.of_tree(node, high);
        let right = self.binary(second, middle, high, Span::new(middle.span.start, span.end));
        self.binary(Binary::And, left, right, span)
    }

    /// A value that is needed in two places: it is read once, and evaluated in each.
    fn twice(
        &mut self,
        kind: TreeKind<'a>,
        span: Span,
        read: impl FnOnce(&mut Self) -> Expr<'a>,
    ) -> Option<Expr<'a>> {
        let plain = matches!(kind, TreeKind::Path(_) | TreeKind::Literal(_));
        (plain || values::may_double(self, span)).then(|| self.within(self.in_case(!plain), read))
    }

    /// `a if c else b`: a match of the condition.
    fn choice_of(&mut self, node: &Node<'a>, [test, then, otherwise]: &'a [Tree<'a>; 3]) -> ExprKind<'a> {
        let inner = Placement { condition: true, ..self.at };
        let condition = self.within(inner, |this| this.of_tree(node, test));
        let (subject, key) = if condition.is_comparison() {
            (condition, true)
        } else {
            // NOT makes a bool of nil, and refuses what is no condition.
            (self.not(condition, test.span), false)
        };
        let then = self.guarded((condition, false), |this| this.of_tree(node, then));
        let otherwise = self.guarded((condition, true), |this| this.of_tree(node, otherwise));
        let case = Case { key: Literal::Bool(key), key_span: test.span, value: then };
        self.matched(subject, case, otherwise)
    }

    fn matched(&self, subject: Expr<'a>, case: Case<'a>, default: Expr<'a>) -> ExprKind<'a> {
        let cases = self.arena.alloc_slice_copy(&[case]);
        ExprKind::MatchMap(self.arena.alloc(MatchMap { subject, cases, default: Some(default) }))
    }

    /// `a ?? b`.
    fn default(&mut self, node: &Node<'a>, of: &Tree<'a>, otherwise: &Tree<'a>, span: Span) -> Expr<'a> {
        if is_ready(otherwise) {
            let (root, keys) = self.path_of(node, of);
            let otherwise = self.of_tree(node, otherwise);
            return match keys.split_last() {
                Some((&last, keys)) => {
                    let container = self.absent(root, keys, of.span);
                    self.applied(Pure::Get, &[container, last, otherwise], span)
                }
                None => {
                    let items = self.arena.alloc_slice_copy(&[root]);
                    let list = Expr { kind: ExprKind::List(items), span: of.span };
                    let zero = number(0, of.span);
                    self.applied(Pure::Get, &[list, zero, otherwise], span)
                }
            };
        }
        // What may fail is evaluated only if it is needed.
        let read = |this: &mut Self| {
            let (root, keys) = this.path_of(node, of);
            this.absent(root, &keys, of.span)
        };
        let Some(value) = self.twice(of.kind, of.span, read) else { return bad(span) };
        let is_nil = self.binary(Binary::Eq, value, literal(Literal::Nil, of.span), of.span);
        let otherwise = self.guarded((is_nil, false), |this| this.of_tree(node, otherwise));
        let case = Case { key: Literal::Nil, key_span: of.span, value: otherwise };
        Expr { kind: self.matched(value, case, value), span }
    }

    /// The fields and items that are read in a value, nil where one is absent.
    fn absent(&mut self, root: Expr<'a>, keys: &[Expr<'a>], span: Span) -> Expr<'a> {
        keys.iter().fold(root, |of, &key| self.applied(Pure::Get, &[of, key], span))
    }

    /// The value and the keys of a path: only these may be absent.
    fn path_of(&mut self, node: &Node<'a>, tree: &Tree<'a>) -> (Expr<'a>, Vec<Expr<'a>>) {
        match tree.kind {
            TreeKind::Path(reference) => {
                let own = usize::from(matches!(reference.root, Root::Input)).min(reference.path.len());
                let (first, rest) = reference.path.split_at(own);
                let root = references::braced(self, &Reference { path: first, ..reference });
                let keys = rest.iter().map(|step| match step {
                    Step::Field(name) => literal(Literal::Text(name.text), name.span),
                    Step::Index(index, span) => {
                        let index = i64::try_from(*index).unwrap_or(i64::MAX);
                        number(index, *span)
                    }
                });
                (root, keys.collect())
            }
            TreeKind::Field(of, name, _) => {
                let (root, mut keys) = self.path_of(node, of);
                keys.push(literal(Literal::Text(name.text), name.span));
                (root, keys)
            }
            TreeKind::Item([of, index]) => {
                let (root, mut keys) = self.path_of(node, of);
                let index = self.of_tree(node, index);
                keys.push(index);
                (root, keys)
            }
            _ => (self.of_tree(node, tree), Vec::new()),
        }
    }

    /// `a[E:E]`.
    fn slice(
        &mut self,
        node: &Node<'a>,
        of: &Tree<'a>,
        [from, to]: [Option<&'a Tree<'a>>; 2],
        span: Span,
    ) -> Expr<'a> {
        let mut operands = vec![self.of_tree(node, of)];
        operands.push(match from {
            Some(from) => self.of_tree(node, from),
            None => number(0, span),
        });
        operands.extend(to.map(|to| self.of_tree(node, to)));
        self.applied(Pure::Slice, &operands, span)
    }

    /// A value for each item of a list, in a place that holds no loop.
    pub(crate) fn no_loop(&mut self, span: Span) -> Expr<'a> {
        let message = "a value for each item is a step of its own here";
        let help = "bind it in a step with `for` before this one, and use its name; `column(list, 'field')` is a field of each";
        let wrong = Diagnostic::new(Code::BadExpression, span, message);
        self.report(wrong.expected("a name", "a loop in an expression").help(help));
        bad(span)
    }

    /// The path in a text that is the operand of a loop, a match or a merge: braces may be left out.
    pub(crate) fn path_without_braces(&mut self, node: &Node<'a>) -> Option<Expr<'a>> {
        let text = node.text()?;
        if self.dialect.is_bare() {
            // A name alone is read by the rules of bare names.
            let input = text.starts_with(['.', '$', '{']) || text.starts_with("input.");
            if !input || text.starts_with("${") {
                return None;
            }
        } else if text.starts_with('$') {
            return None;
        }
        let left = self.levels_left();
        let path = expr::path(node, left, self.arena)?;
        Some(references::braced(self, &path))
    }
}

/// Whether an operand is certainly a text, so that adding to it means joining.
fn is_text(operand: &Expr<'_>) -> bool {
    match operand.kind {
        ExprKind::Literal(Literal::Text(_)) | ExprKind::Template(_) => true,
        ExprKind::Binary(Binary::Concat, a, b) => is_text(a) || is_text(b),
        // Beside these a number is rather meant to be added.
        ExprKind::Apply(Apply { function: Pure::Fixed | Pure::Date | Pure::Iso, .. }) => false,
        ExprKind::Apply(apply) => apply.function.row().result == Type::TEXT,
        ExprKind::MatchMap(map) => map.cases.iter().map(|case| &case.value).chain(&map.default).all(is_text),
        _ => false,
    }
}

/// Whether an operand is a written text with a number, which may be meant to be added.
fn is_number(operand: &Expr<'_>) -> bool {
    operand.constant_text().is_some_and(|text| ilo_spec::number::parse(text).is_ok())
}

fn adds_texts(at: Span) -> Diagnostic {
    Diagnostic::new(Code::TypeMismatch, at, "`+` adds numbers, and `concat` joins texts")
        .expected("`concat`, or numbers", "`+` with a text")
}

/// Whether the operands of an operator are conditions, like the operation itself.
pub(crate) fn is_logical(operator: &Operator) -> bool {
    matches!(operator.makes, Makes::Unary(Unary::Not) | Makes::Binary(Binary::And | Binary::Or))
}

/// Whether the source has the word at a place: a text may have escapes.
fn is_or(source: &str, place: Span) -> bool {
    matches!(source.get(place.range()), Some("or" | "||" | "OR" | "Or"))
}

/// Whether an expression is certainly no bool.
fn is_no_bool(tree: &Tree<'_>) -> bool {
    match tree.kind {
        TreeKind::Literal(literal) => matches!(literal, Literal::Text(_) | Literal::Number(_)),
        TreeKind::Text(_) | TreeKind::List(_) | TreeKind::Record(_) | TreeKind::Minus(_) => true,
        _ => false,
    }
}

/// Whether an expression cannot fail and costs nothing, so that it may be evaluated too early.
fn is_ready(tree: &Tree<'_>) -> bool {
    match tree.kind {
        TreeKind::Literal(_) => true,
        TreeKind::Path(reference) => match reference.root {
            Root::Input => reference.path.len() <= 1,
            Root::Name(_) => reference.path.is_empty(),
        },
        TreeKind::List(items) => items.is_empty(),
        TreeKind::Record(fields) => fields.is_empty(),
        _ => false,
    }
}
