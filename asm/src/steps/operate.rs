//! Operations: `{"+": [a, b]}`, `{"op": "+", "a": …, "b": …}`, and infix texts of YAML.

use super::doubt::Place;
use super::keys::Keyed;
use super::reader::{Reader, literal, nothing};
use super::value::Texts;
use crate::ast::{Binary, Expr, ExprKind, Literal, Name, Unary};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::Key;
use crate::dialect::infix::{Infix, InfixKind, infix, is_text};
use crate::dialect::operator::{self, Makes, Operator};
use crate::dialect::reference::Reference;
use crate::document::{Entry, Kind, Node, Text};
use crate::document::{first_of, rename, shown};
use crate::span::Span;
use ilo_spec::error::Code;

impl<'a> Reader<'_, 'a> {
    pub(crate) fn infix(&mut self, node: &Node<'a>) -> Expr<'a> {
        let left = self.nesting.saturating_sub(self.depth);
        let mut found = Diagnostics::default();
        let meant = |reference: &Reference<'a>| Some(self.own_form(&self.meant(reference)?, false));
        let tree = infix(node, left, self.arena, &meant, &mut found);
        found.as_slice().iter().cloned().for_each(|found| self.report(found));
        match tree {
            Some(tree) => self.of_infix(node, &tree),
            None => nothing(node),
        }
    }

    fn of_infix(&mut self, node: &Node<'a>, tree: &Infix<'a>) -> Expr<'a> {
        match &tree.kind {
            InfixKind::Reference(reference) => self.reference(reference),
            InfixKind::Literal(value) => literal(*value, tree.span),
            InfixKind::Template(template) => self.text_of(node, template, Place::Data),
            InfixKind::Unary(operator, operand) => {
                let operand = self.of_infix(node, operand);
                Expr { kind: ExprKind::Unary(*operator, self.alloc(operand)), span: tree.span }
            }
            InfixKind::Binary(Binary::Add, ..) if is_text(tree) => self.infix_sum(node, tree),
            InfixKind::Binary(operator, a, b) => {
                if matches!(operator, Binary::Eq | Binary::Neq) {
                    self.quoted_null(node, b);
                }
                let a = self.of_infix(node, a);
                let b = self.of_infix(node, b);
                self.two(*operator, a, b, tree.span)
            }
        }
    }

    /// An operator of two operands; HAS and AT with a text as name are those that name a field.
    fn two(&mut self, operator: Binary, a: Expr<'a>, b: Expr<'a>, span: Span) -> Expr<'a> {
        let kind = match (operator, b.kind) {
            (Binary::HasName, ExprKind::Literal(Literal::Text(text))) => {
                ExprKind::Has(self.alloc(a), Name { text, span: b.span })
            }
            (Binary::At, ExprKind::Literal(Literal::Text(text))) => {
                let path = matches!(
                    a.kind,
                    ExprKind::Ref(_) | ExprKind::Field(..) | ExprKind::Binary(Binary::At, ..)
                );
                if !path {
                    self.report(
                        Diagnostic::new(Code::BadShape, a.span, "a field is taken of something with a name")
                            .expected("a reference, or another `at`", "another value")
                            .help("name it in a step of its own before this one"),
                    );
                }
                ExprKind::Field(self.alloc(a), Name { text, span: b.span })
            }
            _ => return self.binary(operator, a, b, span),
        };
        Expr { kind, span }
    }

    /// A record of one key that is an operator.
    pub(crate) fn operation(
        &mut self,
        node: &Node<'a>,
        entry: &'a Entry<'a>,
        texts: Texts,
        operates: bool,
    ) -> Option<Expr<'a>> {
        let name = entry.name()?;
        let operator = match operator::find(name) {
            Some(operator) => operator,
            None if operates && operator::MEMBERSHIP.contains(&name) => {
                self.membership(node, entry);
                return Some(nothing(node));
            }
            None => self.meant_operator(entry, name, operates)?,
        };
        Some(self.operate(node, entry, operator, texts))
    }

    /// The operator that a key of another language stands for, which is reported.
    fn meant_operator(
        &mut self,
        entry: &'a Entry<'a>,
        name: &str,
        operates: bool,
    ) -> Option<&'static Operator> {
        let known = self.dialect.meaning(name, &[Key::Obj, Key::Merge, Key::Call, Key::Match, Key::Value]);
        if known.is_some() || super::records::is_step(name) {
            return None;
        }
        let symbol =
            !name.is_empty() && !name.chars().any(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | '$'));
        let meant_as_one = symbol || (operates && matches!(entry.value.kind, Kind::List(_)));
        if !meant_as_one {
            return None;
        }
        let plain = name.strip_prefix('$').unwrap_or(name);
        let meant = operator::find(plain).or_else(|| operator::near(plain));
        let mut wrong = Diagnostic::new(
            Code::UnknownOperator,
            entry.key.span,
            format!("there is no operator `{}`", shown(&entry.key)),
        )
        .expected(operator::LIST, format!("`{}`", shown(&entry.key)))
        .nearest(meant.map(|operator| operator.spelling));
        wrong.fix = meant.and_then(|operator| rename(&entry.key, operator.spelling));
        if wrong.fix.is_none() {
            let instead = operator::in_place_of(name);
            wrong =
                wrong.help(instead.unwrap_or("a record with this field is marked as one: `{\"obj\": {…}}`"));
        }
        self.report(wrong);
        meant
    }

    fn operate(
        &mut self,
        node: &Node<'a>,
        entry: &'a Entry<'a>,
        operator: &Operator,
        texts: Texts,
    ) -> Expr<'a> {
        let operands: &[Node<'a>] = match &entry.value.kind {
            Kind::List(items) if operator.least() == 2 || items.len() == 1 => items,
            _ if operator.least() == 1 => core::slice::from_ref(&entry.value),
            _ => &[],
        };
        let span = Span::new(entry.key.span.start, entry.value.span.end);
        if !operator.takes(operands.len()) {
            self.operand_count(entry, operator, operands.len());
            return nothing(node);
        }
        let logical =
            matches!(operator.makes, Makes::Unary(Unary::Not) | Makes::Binary(Binary::And | Binary::Or));
        let texts = if logical { texts } else { Texts::Plain };
        let fold = operands.len().saturating_sub(operator.least());
        if !self.fits(fold, entry.key.span) {
            return nothing(node);
        }
        let mut read: Vec<Expr<'a>> = Vec::with_capacity(operands.len());
        for operand in operands {
            read.push(self.operand(operator, operand, texts));
        }
        let makes = self.makes(operator, &entry.key, &read);
        match (makes, &read[..]) {
            (Makes::Unary(unary), [operand]) => {
                Expr { kind: ExprKind::Unary(unary, self.alloc(*operand)), span }
            }
            (Makes::Binary(binary), [first, rest @ ..]) => {
                rest.iter().fold(*first, |left, right| self.two(binary, left, *right, span))
            }
            _ => nothing(node),
        }
    }

    fn operand(&mut self, operator: &Operator, node: &Node<'a>, texts: Texts) -> Expr<'a> {
        let value = self.read_value(node, texts, operator.spelling != "concat");
        if let Some(own) = self.names_own_step(operator, node, &value) {
            return own;
        }
        if let Some(number) = self.quoted_number(operator, node, &value) {
            return number;
        }
        self.doubtful_operand(operator, node, &value);
        value
    }

    /// A bare name that only the step which is read binds: what is computed with it is no text.
    fn names_own_step(&mut self, operator: &Operator, node: &Node<'a>, value: &Expr<'a>) -> Option<Expr<'a>> {
        let ExprKind::Literal(Literal::Text(text)) = value.kind else { return None };
        let plain = node.text() == Some(text) && self.dialect.is_bare();
        if !plain || matches!(operator.spelling, "==" | "!=" | "at" | "has") || !self.naming.contains(&text) {
            return None;
        }
        let place = self.survey.binding(text)?;
        self.report(self.not_yet(Name { text, span: super::refer::inner(node) }, place));
        Some(nothing(node))
    }

    /// A number in quotes where one is computed with: read as the number that it should be.
    fn quoted_number(&mut self, operator: &Operator, node: &Node<'a>, value: &Expr<'a>) -> Option<Expr<'a>> {
        let ExprKind::Literal(Literal::Text(text)) = value.kind else { return None };
        let number = ilo_spec::number::parse(text).ok()?;
        if !matches!(operator.spelling, "+" | "-" | "*" | "/" | "%") || self.dialect.is_yaml() {
            return None;
        }
        let wrong = Diagnostic::new(Code::TypeMismatch, node.span, format!("`{text}` in quotes is a text"))
            .expected("number", "text")
            .replace(node.span, text);
        self.report(wrong);
        Some(literal(Literal::Number(number), node.span))
    }

    /// What an operator makes of its operands: one that adds a text is reported, and joins.
    fn makes(&mut self, operator: &Operator, written: &Node<'a>, operands: &[Expr<'a>]) -> Makes {
        if !self.joins(operator.makes, operands) {
            return operator.makes;
        }
        let wrong = Self::adds_texts(written.span);
        self.report(match rename(written, "concat") {
            Some(fix) => wrong.fix(fix),
            None => wrong.help("`concat` joins texts"),
        });
        Makes::Binary(Binary::Concat)
    }

    /// Whether an addition has a text among its operands.
    fn joins(&self, makes: Makes, operands: &[Expr<'a>]) -> bool {
        let text = |operand: &Expr<'a>| match operand.kind {
            ExprKind::Literal(Literal::Text(_)) => {
                !self.doubts.places.iter().rev().take(operands.len()).any(|&doubt| doubt == operand.span)
            }
            ExprKind::Binary(binary, ..) => binary == Binary::Concat,
            _ => false,
        };
        makes == Makes::Binary(Binary::Add) && operands.iter().any(text)
    }

    fn adds_texts(at: Span) -> Diagnostic {
        Diagnostic::new(Code::TypeMismatch, at, "`+` adds numbers, and `concat` joins texts")
            .expected("`concat`, or numbers", "`+` with a text")
    }

    /// Infix that adds a text: read as `concat`, which it should be.
    fn infix_sum(&mut self, node: &Node<'a>, tree: &Infix<'a>) -> Expr<'a> {
        let mut operands: Vec<&Infix<'a>> = Vec::new();
        let mut left = tree;
        while let InfixKind::Binary(Binary::Add, a, b) = &left.kind
            && is_text(left)
        {
            operands.push(b);
            left = a;
        }
        operands.push(left);
        operands.reverse();
        let slices: Vec<&str> =
            operands.iter().map(|operand| self.source.get(operand.span.range()).unwrap_or("…")).collect();
        let form = format!("concat({})", slices.join(", "));
        let exact = matches!(node.kind, Kind::Text(Text { start: Some(_), .. }));
        let wrong = Self::adds_texts(tree.span);
        self.report(if exact {
            wrong.replace(tree.span, form)
        } else {
            wrong.help(format!("write `{form}`"))
        });
        let read: Vec<Expr<'a>> = operands.into_iter().map(|operand| self.of_infix(node, operand)).collect();
        let mut read = read.into_iter();
        let first = read.next().unwrap_or(nothing(node));
        read.fold(first, |left, right| self.two(Binary::Concat, left, right, tree.span))
    }

    fn operand_count(&mut self, entry: &Entry<'a>, operator: &Operator, found: usize) {
        let (spelling, takes) = (operator.spelling, operator.operands());
        let is_list = matches!(entry.value.kind, Kind::List(_));
        let found = if is_list { format!("{found}") } else { entry.value.kind_name().to_owned() };
        let help = match operator.makes {
            Makes::Binary(_)
                if is_list && found == "3" && matches!(spelling, "<" | "<=" | ">" | ">=" | "==") =>
            {
                format!(
                    "comparisons do not chain: write `{{\"and\": [{{\"{spelling}\": [a, b]}}, {{\"{spelling}\": [b, c]}}]}}`"
                )
            }
            Makes::Unary(_) => format!("write `{{\"{spelling}\": value}}`"),
            Makes::Binary(_) => format!("write `{{\"{spelling}\": [a, b]}}`"),
        };
        self.report(
            Diagnostic::new(
                Code::OperandCount,
                first_of(&entry.value),
                format!("`{spelling}` takes {takes}"),
            )
            .expected(takes, found)
            .help(help),
        );
    }

    /// `{"op": "+", "a": x, "b": y}`.
    pub(crate) fn op(&mut self, keyed: &Keyed<'_, 'a>) -> Expr<'a> {
        let Some(entry) = keyed.entry(Key::Op) else { return literal(Literal::Nil, keyed.span) };
        let operands: Vec<&Node<'a>> = [Key::A, Key::B].iter().filter_map(|&key| keyed.get(key)).collect();
        let spelling = entry.value.text().unwrap_or("");
        let operator = operator::find(spelling).or_else(|| {
            let meant = operator::near(spelling);
            let mut wrong = Diagnostic::new(
                Code::UnknownOperator,
                entry.value.span,
                format!("there is no operator `{}`", shown(&entry.value)),
            )
            .expected(operator::LIST, format!("`{}`", shown(&entry.value)))
            .nearest(meant.map(|operator| operator.spelling));
            wrong.fix = meant.and_then(|operator| rename(&entry.value, operator.spelling));
            self.report(wrong);
            meant
        });
        let mut read: Vec<Expr<'a>> = Vec::new();
        for operand in operands {
            read.push(match operator {
                Some(operator) => self.operand(operator, operand, Texts::Plain),
                None => self.value(operand),
            });
        }
        let span = Span::new(entry.key.span.start, entry.value.span.end);
        match (operator.map(|operator| self.makes(operator, &entry.value, &read)), &read[..]) {
            (Some(Makes::Unary(unary)), [operand]) => {
                Expr { kind: ExprKind::Unary(unary, self.alloc(*operand)), span }
            }
            (Some(Makes::Binary(binary)), [a, b]) => self.two(binary, *a, *b, span),
            (Some(makes), _) => {
                let takes = if matches!(makes, Makes::Unary(_)) { "`a` alone" } else { "`a` and `b`" };
                self.report(
                    Diagnostic::new(
                        Code::OperandCount,
                        entry.value.span,
                        format!("`{spelling}` takes {takes}"),
                    )
                    .expected(takes, format!("{} operands", read.len())),
                );
                literal(Literal::Nil, span)
            }
            (None, _) => literal(Literal::Nil, span),
        }
    }
}
