//! Builds operations from an operator and its operands.

use super::reader::{StepReader, literal, nothing};
use crate::ast::{Apply, Binary, Expr, ExprKind, Literal, Name, Unary};
use crate::diagnostic::Diagnostic;
use crate::dialect::operator::{self, Makes, Operator};
use crate::document::{Entry, Kind as NodeKind, Node, first_of, inner, rename};
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use ilo_spec::pure::{Omitted, Pure};
use ilo_spec::types::Type;

impl<'a> StepReader<'_, 'a> {
    /// The operator of a sum in an expression: it joins if an operand is certainly a text. If only numbers in
    /// quotes are texts, it is not clear whether they are added or joined; but nobody adds a zero.
    pub(crate) fn sum(&mut self, operands: &[Expr<'a>], place: Span) -> Binary {
        if !operands.iter().any(is_text) {
            return Binary::Add;
        }
        let is_zero =
            |operand: &Expr<'_>| operand.constant_text().is_some_and(|text| text.bytes().all(|b| b == b'0'));
        if !operands.iter().any(|operand| is_text(operand) && (!is_number(operand) || is_zero(operand))) {
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
                Omitted::Zero => literal(Literal::Number(Number::Int(0)), span),
                Omitted::Never | Omitted::Nil => literal(Literal::Nil, span),
            });
        let all: Vec<Expr<'a>> = operands.iter().copied().chain(omitted).collect();
        let (operands, id) = (self.arena.alloc_slice_copy(&all), self.attempt_of(function));
        Expr { kind: ExprKind::Apply(Apply { function, operands, id }), span }
    }

    fn fold(&mut self, binary: Binary, operands: &[Expr<'a>], span: Span) -> Option<Expr<'a>> {
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
        if self.is_plain(node, &value) {
            self.lint(|lints| lints.operand(operator, node));
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
        self.report(self.not_yet(Name { text, span: inner(node) }, place));
        Some(nothing(node))
    }

    /// A quoted number as an operand of arithmetic: read as the number that is meant.
    fn quoted_number(&mut self, operator: &Operator, node: &Node<'a>, value: &Expr<'a>) -> Option<Expr<'a>> {
        let text = value.constant_text()?;
        let number = ilo_spec::number::parse(text).ok()?;
        if !matches!(operator.spelling, "+" | "-" | "*" | "/" | "%") || self.dialect.is_yaml() {
            return None;
        }
        self.report(
            Diagnostic::new(Code::TypeMismatch, node.span, format!("`{text}` in quotes is a text"))
                .expected("number", "text")
                .replace(node.span, text),
        );
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
        let help = match operator.makes {
            Makes::Unary(_) => format!("write `{{\"{spelling}\": value}}`"),
            Makes::Binary(_) if chains => format!(
                "comparisons do not chain: write `{{\"and\": [{{\"{spelling}\": [a, b]}}, {{\"{spelling}\": [b, c]}}]}}`"
            ),
            Makes::Binary(_) => {
                format!("write `{{\"{spelling}\": [a, b]}}`; a record of data is `{{\"obj\": {{…}}}}`")
            }
            Makes::Apply(function) => {
                let names: Vec<&str> = function.row().operands.iter().map(|operand| operand.name).collect();
                let names = names.join(", ");
                format!("write `{{\"{spelling}\": [{names}]}}`; a record of data is `{{\"obj\": {{…}}}}`")
            }
        };
        let found = if is_list { found.to_string() } else { entry.value.kind_name().to_owned() };
        let message = format!("`{spelling}` takes {takes}");
        let wrong = Diagnostic::new(Code::OperandCount, first_of(&entry.value), message);
        self.report(wrong.expected(takes, found).help(help));
    }
}

/// Whether an operand is certainly a text, so that adding to it means joining.
fn is_text(operand: &Expr<'_>) -> bool {
    match operand.kind {
        ExprKind::Literal(Literal::Text(_)) | ExprKind::Template(_) => true,
        ExprKind::Binary(Binary::Concat, a, b) => is_text(a) || is_text(b),
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
