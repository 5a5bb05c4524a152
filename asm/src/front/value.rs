//! Values of documents to expressions: constants, references, texts with references, lists, records, operators.

use super::dialect::{Dialect, Key, STEPS};
use super::infix::{Infix, InfixKind, infix};
use super::keys::{Keyed, entries, first_of, rename, shown};
use super::operator::{self, Makes, Operator};
use super::reader::{Reader, literal, nothing, of_slot};
use super::reference::{Reference, Root, Step, bare};
use super::template::{Part, Template, template};
use super::tree::{Entry, Kind, Node};
use crate::ast::{Binary, Case, Expr, ExprKind, Field, Literal, MatchMap, Name, Slot, Unary};
use crate::diagnostic::{Diagnostic, Edit, Fix, nearest, nearly_meets};
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::program::Number;

/// How texts are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// As texts with references in them.
    Plain,
    /// As infix expressions.
    Infix,
}

/// The names that stand for the failure in a handler.
pub(super) const FAILURES: [&str; 2] = ["err", "error"];

impl<'a> Reader<'_, 'a> {
    /// A value: what stands in arguments, records, returns.
    pub(super) fn value(&mut self, node: &Node<'a>) -> Expr<'a> {
        self.read_value(node, Texts::Plain, false)
    }

    /// What stands under `expr`: in YAML an infix expression. A record of one key is meant as an operator.
    pub(super) fn formula(&mut self, node: &Node<'a>) -> Expr<'a> {
        self.read_value(node, self.texts(), true)
    }

    fn texts(&self) -> Texts {
        if self.dialect.is_yaml() { Texts::Infix } else { Texts::Plain }
    }

    /// What a function returns: infix in YAML where it is a number or bool.
    pub(super) fn returned(&mut self, node: &Node<'a>) -> Expr<'a> {
        use ilo_spec::types::Type;
        let ty = self.output.ok.ty;
        let computes = self.dialect.is_yaml() && (ty == Type::NUMBER || ty == Type::BOOL);
        self.read_value(node, if computes { Texts::Infix } else { Texts::Plain }, false)
    }

    fn read_value(&mut self, node: &Node<'a>, texts: Texts, operates: bool) -> Expr<'a> {
        let found = self.deeper(node.span, |this| match &node.kind {
            Kind::Null => literal(Literal::Nil, node.span),
            Kind::Bool(value) => literal(Literal::Bool(*value), node.span),
            Kind::Number(number) => literal(Literal::Number(*number), node.span),
            Kind::Text(_) if texts == Texts::Infix => this.infix(node),
            Kind::Text(_) => this.text(node),
            Kind::List(items) => this.list(items, node.span),
            Kind::Record(_) => this.record(node, texts, operates),
        });
        found.unwrap_or_else(|| nothing(node))
    }

    fn list(&mut self, items: &[Node<'a>], span: Span) -> Expr<'a> {
        let items: Vec<Expr<'a>> = items.iter().map(|item| self.value(item)).collect();
        Expr { kind: ExprKind::List(self.arena.alloc_slice_copy(&items)), span }
    }

    /// A text: a reference, a text with references, or plain.
    pub(super) fn text(&mut self, node: &Node<'a>) -> Expr<'a> {
        if self.dialect.is_bare()
            && let Some(reference) = bare(node, self.arena)
            && let Some(found) = self.bare(node, &reference)
        {
            return found;
        }
        let template = template(node, self.dialect.sigil(), self.arena, self.diagnostics);
        self.text_of(node, &template)
    }

    /// A text that is a bare reference; `None` where it is text.
    fn bare(&mut self, node: &Node<'a>, reference: &Reference<'a>) -> Option<Expr<'a>> {
        let Root::Name(name) = reference.root else { return None };
        if self.named(name.text).is_some() {
            return Some(self.reference(reference));
        }
        let near = {
            let mut names = self.scope.visible().chain(self.scope.inputs().map(|(name, _)| name));
            names.find(|known| nearly_meets(name.text, known))
        };
        let dotted = !reference.path.is_empty();
        if near.is_none() && !dotted {
            return None;
        }
        let later = self.survey.comes_after(name.text, node.span.start);
        let code = if later.is_some() { Code::LaterReference } else { Code::UnknownReference };
        let message = match later {
            Some(_) => format!("`{}` is bound only later", name.text),
            None => format!("nothing in scope is named `{}`", name.text),
        };
        let near = near.or_else(|| self.near_name(name.text));
        let mut wrong = Diagnostic::new(code, name.span, message)
            .expected(self.names_in_scope(), format!("`{}`", name.text))
            .nearest(near)
            .help("where it is meant as text, write `{\"text\": …}` around it");
        if let Some(near) = near {
            wrong.fix = rename_part(name, near);
        }
        if let Some(span) = later {
            wrong = wrong.related(span, "bound here");
        }
        self.report(wrong);
        Some(nothing(node))
    }

    /// What a template makes: the one value that it is, or everything joined.
    fn text_of(&mut self, node: &Node<'a>, template: &Template<'a>) -> Expr<'a> {
        for foreign in template.foreign {
            let known = match foreign.reference.root {
                Root::Input => true,
                Root::Name(name) => self.named(name.text).is_some(),
            };
            if known {
                self.report(foreign.warning(node));
            }
        }
        if let Some(reference) = template.whole() {
            return self.reference(&reference);
        }
        if let Some(text) = template.text() {
            return literal(Literal::Text(text), node.span);
        }
        if let Some(meant) = super::infix::arithmetic(node, self.dialect.sigil(), self.nesting, self.arena) {
            self.reads_as_arithmetic(node, &meant);
        }
        let parts: Vec<Expr<'a>> = template
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text, span) => literal(Literal::Text(text), *span),
                Part::Reference(reference) => self.reference(reference),
            })
            .collect();
        let levels = parts.len().next_power_of_two().trailing_zeros();
        if !self.fits(levels as usize, node.span) {
            return nothing(node);
        }
        self.joined(&parts, node.span)
    }

    /// All parts as one text. Halves keep the tree flat; what is joined in which order makes no difference.
    fn joined(&self, parts: &[Expr<'a>], span: Span) -> Expr<'a> {
        match parts {
            [] => literal(Literal::Text(""), span),
            [only] => *only,
            _ => {
                let (first, second) = parts.split_at(parts.len().div_ceil(2));
                self.binary(Binary::Concat, self.joined(first, span), self.joined(second, span), span)
            }
        }
    }

    fn reads_as_arithmetic(&mut self, node: &Node<'a>, _meant: &Infix<'a>) {
        let shown = crate::id::shorten(node.text().unwrap_or(""));
        let help = if self.dialect.is_yaml() {
            "compute it in a step of its own with `expr:`, and refer to that step".to_owned()
        } else {
            "compute it with an operator, as in `{\"+\": [a, b]}`".to_owned()
        };
        self.report(
            Diagnostic::new(
                Code::TextArithmetic,
                node.span,
                format!("`{shown}` is a text here; nothing is computed"),
            )
            .expected("a text, or an expression where one stands", format!("`{shown}`"))
            .help(help),
        );
    }

    fn infix(&mut self, node: &Node<'a>) -> Expr<'a> {
        let left = self.nesting.saturating_sub(self.depth);
        match infix(node, left, self.arena, self.diagnostics) {
            Some(tree) => self.of_infix(node, &tree),
            None => nothing(node),
        }
    }

    fn of_infix(&mut self, node: &Node<'a>, tree: &Infix<'a>) -> Expr<'a> {
        match &tree.kind {
            InfixKind::Reference(reference) => self.reference(reference),
            InfixKind::Literal(value) => literal(*value, tree.span),
            InfixKind::Template(template) => self.text_of(node, template),
            InfixKind::Unary(operator, operand) => {
                let operand = self.of_infix(node, operand);
                Expr { kind: ExprKind::Unary(*operator, self.alloc(operand)), span: tree.span }
            }
            InfixKind::Binary(operator, a, b) => {
                let a = self.of_infix(node, a);
                let b = self.of_infix(node, b);
                self.two(*operator, a, b, tree.span)
            }
        }
    }

    /// An operator of two operands; HAS with a text as name is the one that names a field.
    fn two(&self, operator: Binary, a: Expr<'a>, b: Expr<'a>, span: Span) -> Expr<'a> {
        match (operator, b.kind) {
            (Binary::HasName, ExprKind::Literal(Literal::Text(text))) => {
                Expr { kind: ExprKind::Has(self.alloc(a), Name { text, span: b.span }), span }
            }
            _ => self.binary(operator, a, b, span),
        }
    }

    /// The slot that a name stands for here.
    pub(super) fn named(&self, name: &str) -> Option<Slot> {
        match self.failures.last() {
            Some(&failure) if FAILURES.contains(&name) => Some(failure),
            _ => self.scope.find(name),
        }
    }

    /// A reference to the value that it stands for.
    pub(super) fn reference(&mut self, reference: &Reference<'a>) -> Expr<'a> {
        let (mut value, path) = match (reference.root, reference.path) {
            (Root::Input, []) => (self.all_inputs(reference.span), reference.path),
            (Root::Input, [Step::Field(name), rest @ ..]) => match self.scope.input(name.text) {
                Some(slot) => (of_slot(slot, reference.span), rest),
                None => return self.unknown_input(*name, reference.span),
            },
            (Root::Input, _) => return literal(Literal::Nil, reference.span),
            (Root::Name(name), path) => match self.named(name.text) {
                Some(slot) => (of_slot(slot, reference.span), path),
                None => return self.unknown(name, reference.span),
            },
        };
        if !self.fits(path.len(), reference.span) {
            return literal(Literal::Nil, reference.span);
        }
        for step in path {
            let kind = match step {
                Step::Field(name) => ExprKind::Field(self.alloc(value), *name),
                Step::Index(index, span) => {
                    let Ok(index) = i64::try_from(*index) else { return value };
                    let index = literal(Literal::Number(Number::Int(index)), *span);
                    ExprKind::Binary(Binary::At, self.alloc(value), self.alloc(index))
                }
            };
            value = Expr { kind, span: reference.span };
        }
        value
    }

    /// `$input` alone: a record of all inputs.
    fn all_inputs(&mut self, span: Span) -> Expr<'a> {
        let inputs: Vec<(&'a str, Slot)> = self.scope.inputs().collect();
        let fields: Vec<Field<'a>> = inputs
            .into_iter()
            .map(|(text, slot)| Field { name: Name { text, span }, value: of_slot(slot, span) })
            .collect();
        Expr { kind: ExprKind::Record(self.arena.alloc_slice_copy(&fields)), span }
    }

    fn unknown_input(&mut self, name: Name<'a>, span: Span) -> Expr<'a> {
        let names: Vec<&'a str> = self.scope.inputs().map(|(name, _)| name).collect();
        let near = nearest(name.text, names.iter().copied());
        let variable = near.is_none() && self.scope.find(name.text).is_some();
        let mut wrong =
            Diagnostic::new(Code::UnknownReference, name.span, format!("no input is named `{}`", name.text))
                .expected(
                    listed(names.iter().copied(), "an input; there are none"),
                    format!("`{}`", name.text),
                )
                .nearest(near);
        wrong.fix = near.and_then(|near| rename_part(name, near));
        if wrong.fix.is_none() {
            let form = if variable {
                format!("`${{{}}}` is what a step bound", name.text)
            } else {
                "declare it among the inputs".to_owned()
            };
            wrong = wrong.help(form);
        }
        self.report(wrong);
        literal(Literal::Nil, span)
    }

    fn unknown(&mut self, name: Name<'a>, span: Span) -> Expr<'a> {
        let wrong = if FAILURES.contains(&name.text) {
            let word = self.dialect.word(Key::Handler);
            let message =
                format!("`{}` is the failure of a call, and stands only in its `{word}`", name.text);
            Diagnostic::new(Code::UnknownReference, name.span, message)
                .expected(self.names_in_scope(), format!("`{}`", name.text))
                .help("bind what is needed outside in the handler")
        } else if let Some(place) = self.survey.comes_after(name.text, span.start)
            && !self.scope.has_left(name.text)
        {
            let message = format!("`{}` is bound only by a later step", name.text);
            Diagnostic::new(Code::LaterReference, name.span, message)
                .expected("a name that an earlier step binds", format!("`{}`", name.text))
                .related(place, "bound here")
                .help("steps run in the order of the file: put that step before this one")
        } else {
            let near = self.near_name(name.text);
            let message = if self.scope.has_left(name.text) {
                format!("`{}` was bound in a loop that has ended", name.text)
            } else {
                format!("nothing is named `{}` here", name.text)
            };
            let mut wrong = Diagnostic::new(Code::UnknownReference, name.span, message)
                .expected(self.names_in_scope(), format!("`{}`", name.text))
                .nearest(near);
            wrong.fix = near.and_then(|near| rename_part(name, near));
            let help = "bind it in a step before; a plain dollar sign is written `$$`";
            if near.is_none() { wrong.help(help) } else { wrong }
        };
        self.report(wrong);
        literal(Literal::Nil, span)
    }

    pub(super) fn near_name(&self, name: &str) -> Option<&'a str> {
        let inputs = self.scope.inputs().map(|(name, _)| name);
        nearest(name, self.scope.visible().take(MOST_NAMES).chain(inputs.take(MOST_NAMES)))
    }

    pub(super) fn names_in_scope(&self) -> String {
        let inputs = self.scope.inputs().map(|(name, _)| name);
        let all = self.scope.visible().take(MOST_NAMES).chain(inputs);
        listed(all, "a name that a step has bound; there are none")
    }

    /// A record: an operation, a construct, or fields.
    fn record(&mut self, node: &Node<'a>, texts: Texts, operates: bool) -> Expr<'a> {
        let entries = entries(node);
        if let [only] = entries {
            if let Some(found) = self.operation(node, only, texts, operates) {
                return found;
            }
        }
        if let Some(construct) = self.construct(node) {
            return construct;
        }
        let fields = self.fields(node);
        Expr { kind: ExprKind::Record(fields), span: node.span }
    }

    /// The fields of a record that is one, whatever its keys are.
    pub(super) fn fields(&mut self, node: &Node<'a>) -> &'a [Field<'a>] {
        let mut fields = Vec::new();
        for entry in entries(node) {
            let value = self.value(&entry.value);
            let text = match entry.key.kind {
                Kind::Text(text) => text.text,
                Kind::Null | Kind::Bool(_) | Kind::Number(_) => self.arena.alloc_str(&shown(&entry.key)),
                _ => continue,
            };
            fields.push(Field { name: Name { text, span: entry.key.span }, value });
        }
        self.arena.alloc_slice_copy(&fields)
    }

    /// A record of one key that is an operator.
    fn operation(
        &mut self,
        node: &Node<'a>,
        entry: &'a Entry<'a>,
        texts: Texts,
        operates: bool,
    ) -> Option<Expr<'a>> {
        let name = entry.name()?;
        let operator = match operator::find(name) {
            Some(operator) => operator,
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
        if known.is_some() {
            return None;
        }
        let symbol =
            !name.is_empty() && !name.chars().any(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | '$'));
        if !symbol && !(operates && matches!(entry.value.kind, Kind::List(_))) {
            return None;
        }
        let meant = operator::near(name);
        let mut wrong = Diagnostic::new(
            Code::UnknownOperator,
            entry.key.span,
            format!("there is no operator `{}`", shown(&entry.key)),
        )
        .expected(operator::LIST, format!("`{}`", shown(&entry.key)))
        .nearest(meant.map(|operator| operator.spelling));
        wrong.fix = meant.and_then(|operator| rename(&entry.key, operator.spelling));
        if wrong.fix.is_none() {
            wrong = wrong.help("a record with this field is marked as one: `{\"obj\": {…}}`");
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
            let value = self.read_value(operand, texts, true);
            read.push(value);
        }
        match (operator.makes, &read[..]) {
            (Makes::Unary(unary), [operand]) => {
                Expr { kind: ExprKind::Unary(unary, self.alloc(*operand)), span }
            }
            (Makes::Binary(binary), [first, rest @ ..]) => {
                rest.iter().fold(*first, |left, right| self.two(binary, left, *right, span))
            }
            _ => nothing(node),
        }
    }

    fn operand_count(&mut self, entry: &Entry<'a>, operator: &Operator, found: usize) {
        let (spelling, takes) = (operator.spelling, operator.operands());
        let is_list = matches!(entry.value.kind, Kind::List(_));
        let found = if is_list { format!("{found}") } else { entry.value.kind_name().to_owned() };
        let help = match operator.makes {
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

    /// A construct in the place of a value: `obj`, `merge`, `match`, `call`, `op`, `text`.
    fn construct(&mut self, node: &Node<'a>) -> Option<Expr<'a>> {
        const VALUES: [Key; 6] = [Key::Call, Key::Match, Key::Op, Key::Merge, Key::Expr, Key::Obj];
        let list = entries(node);
        let has = |key: Key| list.iter().any(|entry| self.names(entry, key));
        if self.dialect.is_bare() {
            if let [Entry { value, .. }] = list
                && list.iter().any(|entry| entry.name() == Some("text"))
                && let Kind::Text(text) = value.kind
            {
                return Some(literal(Literal::Text(text.text), value.span));
            }
        }
        let form = STEPS.iter().find(|form| VALUES.contains(&form.key) && has(form.key))?;
        // A record of a program's own data may have such a field too: its other fields tell.
        let whole = form.needs.iter().all(|&key| has(key))
            && list.iter().all(|entry| {
                self.names(entry, form.key)
                    || form.needs.iter().chain(form.takes).any(|&key| self.names(entry, key))
            });
        let alone = matches!(form.key, Key::Merge | Key::Obj | Key::Expr) && list.len() == 1;
        let paired = match form.key {
            Key::Merge => has(Key::Set) || is_pair(node, Key::Merge, self.dialect),
            Key::Call => has(Key::Args) || list.len() == 1,
            _ => true,
        };
        if !whole || !(paired || alone) {
            return None;
        }
        let mut keys: Vec<Key> = vec![form.key];
        keys.extend(form.needs.iter().chain(form.takes));
        let keyed = self.keyed(node, &keys, "a value");
        if let Some(entry) = keyed.entry(Key::Let).or(keyed.entry(Key::Handler)) {
            self.step_as_value(entry);
        }
        Some(self.construct_of(form.key, &keyed))
    }

    fn step_as_value(&mut self, entry: &Entry<'a>) {
        let message = format!("`{}` belongs to a step, not to a value", shown(&entry.key));
        self.report(
            Diagnostic::new(Code::BadStep, entry.key.span, message)
                .expected("a value", "a step")
                .help("make it a step of its own before this one, and refer to its name here"),
        );
    }

    fn names(&self, entry: &Entry<'a>, key: Key) -> bool {
        entry.name().is_some_and(|name| self.dialect.meaning(name, &[key]).is_some())
    }

    /// The value of a step that is an expression.
    pub(super) fn construct_of(&mut self, key: Key, keyed: &Keyed<'_, 'a>) -> Expr<'a> {
        let at = keyed.place(key);
        let Some(node) = keyed.get(key) else { return literal(Literal::Nil, keyed.span) };
        match key {
            Key::Call => {
                let call = self.call(keyed);
                Expr { kind: ExprKind::Call(call), span: Span::new(at.start, node.span.end) }
            }
            Key::Match => self.match_map(keyed),
            Key::Op => self.op(keyed),
            Key::Merge => self.merge(keyed),
            Key::Obj => {
                if !matches!(node.kind, Kind::Record(_)) {
                    self.bad_shape(node, "`obj`", "a record");
                }
                let fields = self.fields(node);
                Expr { kind: ExprKind::Record(fields), span: Span::new(at.start, node.span.end) }
            }
            Key::Expr => self.formula(node),
            _ => self.value(node),
        }
    }

    /// `{"op": "+", "a": x, "b": y}`.
    fn op(&mut self, keyed: &Keyed<'_, 'a>) -> Expr<'a> {
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
            let value = self.read_value(operand, Texts::Plain, true);
            read.push(value);
        }
        let span = Span::new(entry.key.span.start, entry.value.span.end);
        match (operator.map(|operator| operator.makes), &read[..]) {
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

    /// `merge` with `set`, or a list of the two.
    fn merge(&mut self, keyed: &Keyed<'_, 'a>) -> Expr<'a> {
        let at = keyed.place(Key::Merge);
        let Some(node) = keyed.get(Key::Merge) else { return literal(Literal::Nil, keyed.span) };
        let (base, set) = match (&node.kind, keyed.get(Key::Set)) {
            (Kind::List([base, set]), None) => (base, Some(set)),
            (_, set) => (node, set),
        };
        let base = self.value(base);
        let Some(set) = set else {
            let word = self.dialect.word(Key::Set);
            let help = format!("write `\"{word}\": {{…}}` beside it with the fields that change");
            self.missing(at, Key::Set, "a merge", &help);
            return literal(Literal::Nil, node.span);
        };
        if !matches!(set.kind, Kind::Record(_)) {
            self.bad_shape(set, "what a merge sets", "a record");
        }
        let fields = self.fields(set);
        Expr {
            kind: ExprKind::Merge(self.alloc(base), fields),
            span: Span::new(at.start, set.span.end.max(node.span.end)),
        }
    }

    /// `match` with `cases`.
    fn match_map(&mut self, keyed: &Keyed<'_, 'a>) -> Expr<'a> {
        let at = keyed.place(Key::Match);
        let Some(subject) = keyed.get(Key::Match) else { return literal(Literal::Nil, keyed.span) };
        let span = Span::new(at.start, subject.span.end);
        let subject = self.value(subject);
        let mut map = Cases { cases: Vec::new(), default: None };
        if let Some(default) = keyed.entry(Key::Default) {
            let value = self.value(&default.value);
            map.default = Some((value, default.key.span));
        }
        if let Some(cases) = keyed.get(Key::Cases) {
            self.cases(cases, &mut map);
        }
        let map = MatchMap {
            subject,
            cases: self.arena.alloc_slice_copy(&map.cases),
            default: map.default.map(|(value, _)| value),
        };
        Expr { kind: ExprKind::MatchMap(self.arena.alloc(map)), span }
    }

    fn cases(&mut self, node: &Node<'a>, map: &mut Cases<'a>) {
        match &node.kind {
            Kind::Record(entries) => {
                for entry in *entries {
                    self.case(&entry.key, &entry.value, map);
                }
            }
            Kind::List(pairs) => {
                for pair in *pairs {
                    match &pair.kind {
                        Kind::List([key, value]) => self.case(key, value, map),
                        _ => self.bad_shape(pair, "a case", "`[key, value]`"),
                    }
                }
            }
            _ => self.bad_shape(node, "`cases`", "a record of keys and values, or a list of `[key, value]`"),
        }
    }

    fn case(&mut self, key: &Node<'a>, value: &Node<'a>, map: &mut Cases<'a>) {
        let read = self.value(value);
        let literal = match key.kind {
            Kind::Text(text) if matches!(text.text, "_" | "default") => {
                if let Some((_, before)) = map.default {
                    self.case_twice(key, before, "a default");
                }
                map.default = Some((read, key.span));
                return;
            }
            Kind::Text(text) => Literal::Text(text.text),
            Kind::Number(number) => Literal::Number(number),
            Kind::Bool(value) => Literal::Bool(value),
            Kind::Null => Literal::Nil,
            _ => return self.bad_shape(key, "the key of a case", "a text, number, bool or null"),
        };
        map.cases.push(Case { key: literal, key_span: key.span, value: read });
    }

    fn case_twice(&mut self, key: &Node<'a>, before: Span, what: &str) {
        self.report(
            Diagnostic::new(Code::DuplicateCase, key.span, format!("there is {what} already"))
                .expected(format!("{what} once"), "two")
                .related(before, "first here")
                .help("leave one of them out"),
        );
    }
}

/// Cases as they are read.
struct Cases<'a> {
    cases: Vec<Case<'a>>,
    default: Option<(Expr<'a>, Span)>,
}

/// How many names a message looks at.
const MOST_NAMES: usize = 64;

/// Whether the value of a key is a list of two.
fn is_pair(node: &Node<'_>, key: Key, dialect: Dialect) -> bool {
    entries(node).iter().any(|entry| {
        entry.name().is_some_and(|name| dialect.meaning(name, &[key]).is_some())
            && matches!(entry.value.kind, Kind::List([_, _]))
    })
}

/// The mend that writes another name.
fn rename_part(name: Name<'_>, new: &str) -> Option<Fix> {
    let exact = (name.span.end - name.span.start) as usize == name.text.len();
    (exact && super::reference::is_name(new)).then(|| Fix {
        title: format!("write `{new}`"),
        edits: vec![Edit { span: name.span, text: new.to_owned() }],
    })
}

/// The first few of some names; what to say where there are none.
pub(super) fn listed<'n>(names: impl Iterator<Item = &'n str>, none: &str) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<String> = names.take(SHOWN + 1).map(|name| format!("`{name}`")).collect();
    if shown.len() > SHOWN {
        shown.truncate(SHOWN);
        shown.push("…".to_owned());
    }
    if shown.is_empty() { none.to_owned() } else { shown.join(", ") }
}
