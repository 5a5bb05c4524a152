//! Prints expressions as values of JSON and YAML.

use super::names::RESERVED;
use super::text::{Path, PathRoot, path};
use super::{Printer, infix};
use crate::ast::{Apply, Binary, Call, Expr, ExprKind, Field, Literal, MatchMap, Slot, Unary};
use crate::catalog::own_function_address;
use crate::diagnostic::Diagnostic;
use crate::dialect::Key;
use crate::dialect::operator::{self, Makes};
use crate::dialect::step_forms::reads_as_more;
use crate::document::print::{Doc, Pair};
use crate::expr::reference::FAILURES;
use crate::notation::Notation;
use crate::span::Span;
use crate::text::{is_name, nearly_meets, rendered_number};
use ilo_spec::error::Code;
use ilo_spec::limits::DEFAULT_NESTING as NESTING;
use ilo_spec::program::Number;
use ilo_spec::pure::Omitted;
use std::borrow::Cow;

/// Keys that would change the meaning of a record.
const WORDS: [&str; 10] = ["obj", "text", "merge", "$merge", "match", "call", "op", "expr", "return", "ret"];

/// The operands of a pure function that must be written.
pub(super) fn written(apply: Apply<'_>) -> &[Expr<'_>] {
    let mut rest = apply.operands;
    while let Some((last, before)) = rest.split_last()
        && let Some(row) = apply.function.row().operands.get(before.len())
        && match (row.omitted, last.kind) {
            (Omitted::Nil, ExprKind::Literal(Literal::Nil)) => true,
            (Omitted::Zero, ExprKind::Literal(Literal::Number(Number::Int(number)))) => number == 0,
            _ => false,
        }
    {
        rest = before;
    }
    rest
}

impl<'a> Printer<'_, 'a> {
    /// Prints something nested; reports if the result would be too deep to be read.
    pub(super) fn deeper<T>(&mut self, span: Span, print: impl FnOnce(&mut Self) -> T) -> T {
        self.fits(1, span);
        self.depth += 1;
        let printed = print(self);
        self.depth -= 1;
        printed
    }

    /// Reports, once for each path, nesting that is too deep to be read.
    pub(super) fn fits(&mut self, levels: usize, span: Span) {
        if self.depth <= NESTING && self.depth + levels > NESTING {
            self.refuse(
                span,
                "what is nested so deeply",
                "bind what is inside with LET first, or make a function of it",
            );
        }
    }

    /// Reports what the notation cannot express.
    pub(super) fn refuse(&mut self, span: Span, what: &str, way_out: &str) {
        let notation = self.words.notation;
        self.diagnostics.push_with(Code::NotExpressible, || {
            let message = format!("the notation `{notation}` has no words for {what}");
            Diagnostic::new(Code::NotExpressible, span, message).help(way_out)
        });
    }

    /// An expression in a context in which texts are plain texts.
    pub(super) fn value(&mut self, expr: &Expr<'a>) -> Doc<'a> {
        self.deeper(expr.span, |printer| printer.value_inside(expr))
    }

    fn value_inside(&mut self, expr: &Expr<'a>) -> Doc<'a> {
        if let Some(path) = path(expr) {
            return Doc::word(self.reference(&path, expr.span));
        }
        match expr.kind {
            ExprKind::Literal(literal) => self.literal(literal),
            ExprKind::Ref(_) | ExprKind::Bad => Doc::Null,
            ExprKind::Field(record, name) => self.of_name(Binary::At, record, name.text),
            ExprKind::Call(call) => Doc::Record(self.call(call)),
            ExprKind::Unary(operator, operand) => self.unary(operator, operand),
            ExprKind::Binary(Binary::Concat, ..) | ExprKind::Template(_) => self.concat(expr),
            ExprKind::Binary(operator, ..) => self.binary(operator, expr),
            ExprKind::Has(record, name) => self.of_name(Binary::HasName, record, name.text),
            ExprKind::MatchMap(map) => Doc::Record(self.cases(map)),
            ExprKind::Record(fields) => self.record(fields),
            ExprKind::Merge(base, fields) => Doc::Record(self.merge(base, fields)),
            ExprKind::Apply(apply) => {
                let operation = self.applied(apply);
                let row = operator::row(Makes::Apply(apply.function));
                if row.is_everywhere() {
                    return operation;
                }
                self.fits(1, expr.span);
                Doc::one("expr", operation)
            }
            ExprKind::List(items) => Doc::List(items.iter().map(|item| self.value(item)).collect()),
        }
    }

    /// An expression where every operator is one: an operand, or what a key that computes holds.
    pub(super) fn operand(&mut self, expr: &Expr<'a>) -> Doc<'a> {
        match expr.kind {
            ExprKind::Apply(apply) => self.deeper(expr.span, |printer| printer.applied(apply)),
            _ => self.value(expr),
        }
    }

    /// An operator whose second operand is the name of a field.
    fn of_name(&mut self, operator: Binary, record: &Expr<'a>, name: &'a str) -> Doc<'a> {
        let operands = vec![self.operand(record), self.literal(Literal::Text(name))];
        Doc::one(operator::row(Makes::Binary(operator)).spelling, Doc::List(operands))
    }

    /// An expression in a context in which a workflow reads texts as formulas, such as the operands of `not`,
    /// `and` and `or`.
    pub(super) fn formula(&mut self, expr: &Expr<'a>) -> Doc<'a> {
        self.formula_or(expr, Printer::operand)
    }

    /// A returned value of a type for which a workflow reads texts as formulas.
    pub(super) fn returned_formula(&mut self, expr: &Expr<'a>) -> Doc<'a> {
        self.formula_or(expr, Printer::value)
    }

    /// An expression as infix text in a workflow; `other` prints one that has no such form.
    fn formula_or(&mut self, expr: &Expr<'a>, other: fn(&mut Self, &Expr<'a>) -> Doc<'a>) -> Doc<'a> {
        if self.words.notation != Notation::Workflow {
            return other(self, expr);
        }
        // The content of a text counts as another level.
        self.deeper(expr.span, |printer| printer.formula_inside(expr, other))
    }

    /// The operand of a loop, a match or a merge, where a text that is a path is that path.
    pub(super) fn subject(&mut self, expr: &Expr<'a>) -> Doc<'a> {
        match expr.kind {
            ExprKind::Literal(Literal::Text(text)) if self.words.notation != Notation::Constrained => {
                let text = self.text(text).replace('\\', "\\\\").replace('\'', "''");
                Doc::Text(format!("${{'{text}'}}").into())
            }
            _ => self.value(expr),
        }
    }

    fn formula_inside(&mut self, expr: &Expr<'a>, other: fn(&mut Self, &Expr<'a>) -> Doc<'a>) -> Doc<'a> {
        let computes = matches!(
            expr.kind,
            ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Template(_)
                | ExprKind::Apply(..)
                | ExprKind::Field(..)
                | ExprKind::Has(..)
                | ExprKind::Literal(Literal::Text(_))
                | ExprKind::MatchMap(_)
        );
        if !computes || path(expr).is_some() {
            return self.value(expr);
        }
        if let Some(text) = infix::print(self, expr) {
            return Doc::Text(text.into());
        }
        match expr.kind {
            ExprKind::Unary(operator @ Unary::Not, operand) => {
                Doc::one(operator::row(Makes::Unary(operator)).spelling, self.formula(operand))
            }
            ExprKind::Binary(operator @ (Binary::And | Binary::Or), a, b) => {
                let operands = vec![self.formula(a), self.formula(b)];
                Doc::one(operator::row(Makes::Binary(operator)).spelling, Doc::List(operands))
            }
            _ => other(self, expr),
        }
    }

    /// The name and the kind of a slot.
    pub(super) fn root(&self, slot: Slot) -> PathRoot<'_> {
        if self.failures.last() == Some(&Some(slot)) {
            return PathRoot { name: self.words.failure(), parameter: false, hidden: false };
        }
        // An input that is bound again is an ordinary name.
        let parameter = (slot.0 as usize) < self.function.parameters.len() && !self.rebound.contains(&slot);
        let name = self.names.get(slot);
        let hidden = parameter && !self.failures.is_empty() && FAILURES.contains(&name.as_ref());
        PathRoot { name, parameter, hidden }
    }

    /// Reports a slot without a name in scope: nothing has bound it, since this code is unreachable.
    pub(super) fn in_scope(&mut self, slot: Slot, span: Span) {
        let input = (slot.0 as usize) < self.function.parameters.len();
        if !input && self.failures.last() != Some(&Some(slot)) && !self.names.is_visible(slot) {
            self.refuse(
                span,
                "a slot that nothing before it binds, where no path comes by",
                "leave out what no path reaches",
            );
        }
    }

    /// A path as a reference.
    pub(super) fn reference(&mut self, path: &Path<'_>, span: Span) -> String {
        self.fits(path.steps.len(), span);
        self.in_scope(path.root, span);
        self.words.reference(self.root(path.root), &path.steps)
    }

    fn literal(&mut self, literal: Literal<'a>) -> Doc<'a> {
        match literal {
            Literal::Nil => Doc::Null,
            Literal::Bool(value) => Doc::Bool(value),
            Literal::Number(number) => Doc::Number(number),
            Literal::Text(text) if self.reads_as_reference(text) => Doc::one("text", Doc::Text(text.into())),
            Literal::Text(text) => Doc::Text(self.text(text)),
        }
    }

    /// A text without references.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains('$') {
            return Cow::Borrowed(text);
        }
        let mut out = String::new();
        self.words.escape(text, None, &mut out);
        Cow::Owned(out)
    }

    /// Whether a text would be read as a reference, or as a misspelt one.
    fn reads_as_reference(&self, text: &str) -> bool {
        if self.words.notation != Notation::Constrained {
            return false;
        }
        let mut names = text.split('.');
        let first = names.next().filter(|name| is_name(name));
        let dotted = text.contains('.');
        let step = |name: &str| is_name(name) || name.bytes().all(|byte| byte.is_ascii_digit());
        match first {
            Some(_) if dotted => names.all(step),
            Some(first) => {
                let mut known = self.names.all().chain(RESERVED);
                known.any(|name| name == first || nearly_meets(first, name))
            }
            None => false,
        }
    }

    /// A joined text as a template, if that reads back as the same text.
    fn concat(&mut self, expr: &Expr<'a>) -> Doc<'a> {
        match self.template(expr) {
            Some(text) => {
                // Halves are joined of halves.
                let parts = expr.text_parts().len();
                self.fits(parts.next_power_of_two().trailing_zeros() as usize, expr.span);
                Doc::Text(text.into())
            }
            None => match expr.kind {
                ExprKind::Template(parts) => self.joined(parts, expr.span),
                _ => self.binary(Binary::Concat, expr),
            },
        }
    }

    /// The parts of a text as `concat`, with an empty text first if the first two may be lists.
    fn joined(&mut self, parts: &[Expr<'a>], span: Span) -> Doc<'a> {
        let lists = !parts.iter().take(2).any(Expr::is_no_list);
        let first = lists.then(|| Doc::Text("".into()));
        self.fits(parts.len().saturating_sub(1), span);
        let operands = first.into_iter().chain(parts.iter().map(|part| self.operand(part))).collect();
        Doc::one(operator::row(Makes::Binary(Binary::Concat)).spelling, Doc::List(operands))
    }

    /// A joined text as a template; `None` if a part is not a reference or the text would read differently.
    pub(super) fn template(&mut self, expr: &Expr<'_>) -> Option<String> {
        if !expr.is_text_join() {
            return None;
        }
        let leaves = expr.text_parts();
        let is_text = |leaf: &Expr<'_>| matches!(leaf.kind, ExprKind::Literal(Literal::Text(_)));
        let joined = leaves.windows(2).any(|pair| is_text(pair[0]) && is_text(pair[1]));
        if joined
            || leaves.iter().any(|leaf| match leaf.kind {
                ExprKind::Literal(Literal::Text(text)) => text.is_empty(),
                _ => path(leaf).is_none(),
            })
        {
            return None;
        }
        let mut out = String::new();
        for (at, leaf) in leaves.iter().enumerate() {
            let next = leaves.get(at + 1);
            match (leaf.kind, path(leaf)) {
                (ExprKind::Literal(Literal::Text(text)), _) => {
                    self.words.escape(text, next.map(|_| '$'), &mut out);
                }
                (_, Some(path)) => {
                    self.in_scope(path.root, leaf.span);
                    let next = next.map(|next| match next.kind {
                        ExprKind::Literal(Literal::Text(text)) => text.chars().next().unwrap_or('$'),
                        _ => '$',
                    });
                    out.push_str(&self.words.reference_in_text(self.root(path.root), &path.steps, next));
                }
                _ => {}
            }
        }
        Some(out)
    }

    fn unary(&mut self, operator: Unary, operand: &Expr<'a>) -> Doc<'a> {
        let operand = self.operand(operand);
        // A list with one item would be read as the list of operands, so an operand that is a list is wrapped
        // in a list.
        let operand = if matches!(operand, Doc::List(_)) { Doc::List(vec![operand]) } else { operand };
        Doc::one(operator::row(Makes::Unary(operator)).spelling, operand)
    }

    /// A pure function. Trailing operands that have their default values are omitted.
    fn applied(&mut self, apply: Apply<'a>) -> Doc<'a> {
        let mut operands: Vec<Doc<'a>> = written(apply).iter().map(|operand| self.operand(operand)).collect();
        let operands = match &operands[..] {
            [only] if !matches!(only, Doc::List(_)) => operands.remove(0),
            _ => Doc::List(operands),
        };
        Doc::one(operator::row(Makes::Apply(apply.function)).spelling, operands)
    }

    fn binary(&mut self, operator: Binary, expr: &Expr<'a>) -> Doc<'a> {
        let row = operator::row(Makes::Binary(operator));
        let operands = self.operands(operator, row.folds, expr);
        self.fits(operands.len().saturating_sub(2), expr.span);
        Doc::one(row.spelling, Doc::List(operands))
    }

    /// The operands of an operator; nested uses of the same operator on its left are flattened.
    fn operands(&mut self, operator: Binary, folds: bool, expr: &Expr<'a>) -> Vec<Doc<'a>> {
        let mut operands = Vec::new();
        let mut at = expr;
        while let ExprKind::Binary(found, a, b) = at.kind {
            let first = core::ptr::eq(at, expr);
            if !first
                && (found != operator || !folds || (found == Binary::Concat && self.template(at).is_some()))
            {
                break;
            }
            operands.push(self.operand(b));
            at = a;
        }
        operands.push(self.operand(at));
        operands.reverse();
        operands
    }

    pub(super) fn cases(&mut self, map: &MatchMap<'a>) -> Vec<Pair<'a>> {
        let yaml = self.words.notation == Notation::Workflow;
        let plain = |key: Literal<'a>| match key {
            Literal::Text("default") => None,
            // The key of a record would match the number too.
            Literal::Text(text) if !yaml && rendered_number(text).is_some() => None,
            Literal::Text(text) => Some(Cow::Borrowed(text)),
            _ => None,
        };
        let mut entries = vec![("match".into(), self.subject(&map.subject))];
        let cases = if map.cases.iter().all(|case| plain(case.key).is_some()) {
            let case =
                |case: &crate::ast::Case<'a>| (plain(case.key).unwrap_or_default(), self.value(&case.value));
            Doc::Record(map.cases.iter().map(case).collect())
        } else {
            let pair = |case: &crate::ast::Case<'a>| {
                let key = match case.key {
                    Literal::Text("default") => Doc::one("text", Doc::Text("default".into())),
                    Literal::Text(text) => Doc::Text(text.into()),
                    key => self.literal(key),
                };
                Doc::List(vec![key, self.value(&case.value)])
            };
            Doc::List(map.cases.iter().map(pair).collect())
        };
        entries.push(("cases".into(), cases));
        if let Some(default) = &map.default {
            entries.push(("default".into(), self.value(default)));
        }
        entries
    }

    pub(super) fn fields(&mut self, fields: &[Field<'a>]) -> Doc<'a> {
        Doc::Record(fields.iter().map(|field| (field.name.text.into(), self.value(&field.value))).collect())
    }

    /// A record, marked with `obj` if its keys could be words of a step.
    fn record(&mut self, fields: &[Field<'a>]) -> Doc<'a> {
        let doc = self.fields(fields);
        let word = fields.iter().any(|field| WORDS.contains(&field.name.text));
        let (operation, refers) = match &doc {
            Doc::Record(entries) => match &entries[..] {
                [(key, value)] => {
                    let operation =
                        operator::find(key).is_some() || !is_name(key) || matches!(value, Doc::List(_));
                    (operation, matches!(value, Doc::Word(_)))
                }
                _ => (false, false),
            },
            _ => (false, false),
        };
        let more = reads_as_more(&fields.iter().map(|field| field.name.text), refers);
        if operation || word || more { Doc::one("obj", doc) } else { doc }
    }

    /// A record with fields set.
    pub(super) fn merge(&mut self, base: &Expr<'a>, fields: &[Field<'a>]) -> Vec<Pair<'a>> {
        let (base, fields) = (self.value(base), self.fields(fields));
        let word = self.words.word(Key::Merge);
        if self.words.notation == Notation::ToolCalling {
            vec![(word.into(), Doc::List(vec![base, fields]))]
        } else {
            vec![(word.into(), base), (self.words.word(Key::Set).into(), fields)]
        }
    }

    /// `call` and its arguments.
    pub(super) fn call(&mut self, call: &Call<'a>) -> Vec<Pair<'a>> {
        if call.tool.text.is_empty() || call.tool.text.contains("${") {
            self.refuse(
                call.span,
                "a tool whose name is empty or has `${` in it",
                "give the tool another name in the tools file",
            );
        }
        let mut entries = vec![("call".into(), Doc::word(self.tool(call.tool.text)))];
        if !call.arguments.is_empty() {
            entries.push((self.words.word(Key::Args).into(), self.fields(call.arguments)));
        }
        entries
    }

    /// The callee of a call.
    pub(super) fn tool(&self, name: &'a str) -> Cow<'a, str> {
        let own = self.words.notation == Notation::Mcp && self.functions.contains(name);
        if own { Cow::Owned(own_function_address(name)) } else { Cow::Borrowed(name) }
    }
}
