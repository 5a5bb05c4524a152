//! Values of documents to expressions: constants, references, texts with references, lists, records, operators.

use super::dialect::{Dialect, Key, STEPS};
use super::doubt::Place;
use super::draft::Draft;
use super::infix::{Infix, InfixKind, infix, is_text};
use super::keys::{Keyed, entries, first_of, rename, shown};
use super::operator::{self, Makes, Operator};
use super::reader::{Reader, literal, nothing};
use super::refer::inner;
use super::reference::Reference;
use super::tree::{self, Entry, Kind, Node, Text};
use crate::ast::{Binary, Case, Expr, ExprKind, Field, Literal, MatchMap, Name, Unary};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::span::Span;
use hashbrown::HashMap;
use ilo_spec::error::Code;

/// How texts are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// As texts with references in them.
    Plain,
    /// As infix expressions.
    Infix,
}

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
            Kind::Text(_) => this.text(node, if operates { Place::Formula } else { Place::Data }),
            Kind::List(items) => this.list(items, node.span),
            Kind::Record(_) => this.record(node, texts, operates),
        });
        found.unwrap_or_else(|| nothing(node))
    }

    fn list(&mut self, items: &[Node<'a>], span: Span) -> Expr<'a> {
        let items: Vec<Expr<'a>> = items.iter().map(|item| self.value(item)).collect();
        Expr { kind: ExprKind::List(self.arena.alloc_slice_copy(&items)), span }
    }

    fn infix(&mut self, node: &Node<'a>) -> Expr<'a> {
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

    /// A record: an operation, a construct, or fields.
    fn record(&mut self, node: &Node<'a>, texts: Texts, operates: bool) -> Expr<'a> {
        let meant = self.meant_value(node, if operates { Place::Formula } else { Place::Data });
        let node = meant.unwrap_or(node);
        let entries = entries(node);
        let before = self.diagnostics.mark();
        if let [only] = entries
            && let Some(found) = self.operation(node, only, texts, operates)
        {
            return found;
        }
        if let Some(construct) = self.construct(node) {
            return construct;
        }
        let told = self.diagnostics.has_errors_since(before);
        let fields = self.doubtful_fields(node, if operates { Place::Formula } else { Place::Data }, told);
        Expr { kind: ExprKind::Record(fields), span: node.span }
    }

    /// The fields of a record that is one, whatever its keys are.
    pub(super) fn fields(&mut self, node: &Node<'a>) -> &'a [Field<'a>] {
        let mut fields = Vec::new();
        for entry in entries(node) {
            let value = self.value(&entry.value);
            self.names_itself(entry);
            let text = match entry.key.kind {
                Kind::Text(text) => text.text,
                Kind::Null | Kind::Bool(_) | Kind::Number(_) => self.arena.alloc_str(&shown(&entry.key)),
                _ => continue,
            };
            fields.push(Field { name: Name { text, span: inner(&entry.key) }, value });
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
            None if matches!(name, "get" | "field" | "pick" | "path") && is_field_of(&entry.value) => {
                operator::find("at")?
            }
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
        if known.is_some() || super::doubt::is_step(name) {
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
        if let Some(number) = self.quoted_number(operator, node, &value) {
            return number;
        }
        self.doubtful_operand(operator, node, &value);
        value
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
        let wrong = self.adds_texts(written.span);
        self.report(match rename(written, "concat") {
            Some(fix) => wrong.fix(fix),
            None => wrong.help("`concat` joins texts"),
        });
        Makes::Binary(Binary::Concat)
    }

    /// Whether an addition has a text among its operands.
    fn joins(&self, makes: Makes, operands: &[Expr<'a>]) -> bool {
        let text = |operand: &Expr<'a>| match operand.kind {
            ExprKind::Literal(Literal::Text(_)) => !self.doubts.contains(&operand.span),
            ExprKind::Binary(binary, ..) => binary == Binary::Concat,
            _ => false,
        };
        makes == Makes::Binary(Binary::Add) && operands.iter().any(text)
    }

    fn adds_texts(&self, at: Span) -> Diagnostic {
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
        let wrong = self.adds_texts(tree.span);
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
        if self.dialect.is_bare()
            && let [Entry { value, .. }] = list
            && list.iter().any(|entry| entry.name() == Some("text"))
            && let Kind::Text(text) = value.kind
        {
            return Some(literal(Literal::Text(text.text), value.span));
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

    /// `merge` with `set`, or a list of the two.
    fn merge(&mut self, keyed: &Keyed<'_, 'a>) -> Expr<'a> {
        let at = keyed.place(Key::Merge);
        let Some(node) = keyed.get(Key::Merge) else { return literal(Literal::Nil, keyed.span) };
        let (base, set) = match (&node.kind, keyed.get(Key::Set)) {
            (Kind::List([base, set]), None) => (base, Some(set)),
            (_, set) => (node, set),
        };
        let base = self.subject(base);
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
        let node = subject;
        let subject = self.subject(subject);
        self.constant_subject(node, &subject);
        let mut map = Cases { list: Vec::new(), seen: HashMap::new(), default: None };
        if let Some(default) = keyed.entry(Key::Default) {
            let value = self.case_value(&default.value);
            map.default = Some((value, default.key.span));
        }
        if let Some(cases) = keyed.get(Key::Cases) {
            self.cases(cases, &mut map);
        }
        let map = MatchMap {
            subject,
            cases: self.arena.alloc_slice_copy(&map.list),
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
                if !pairs.is_empty() && pairs.iter().all(|pair| case_of_record(pair).is_some()) {
                    self.cases_of_records(node, pairs);
                    let cases = pairs.iter().filter_map(case_of_record);
                    return cases.for_each(|(key, value)| self.case(key, value, map));
                }
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

    /// Reports cases that are a list of records with one case each, which are read as if they were mended.
    fn cases_of_records(&mut self, node: &Node<'a>, pairs: &[Node<'a>]) {
        let plain = |pair: &Node<'a>| {
            let (key, value) = case_of_record(pair)?;
            Some((key.text()?, Draft::Kept(*value)))
        };
        let wrong =
            Diagnostic::new(Code::BadShape, first_of(node), "`cases` is one record, not a list of records");
        let draft = pairs.iter().map(plain).collect::<Option<Vec<_>>>().map(Draft::Record);
        let yaml = self.dialect.is_yaml();
        let fix = draft.and_then(|draft| draft.fix(node, self.source, yaml, self.dialect.is_bare()));
        let form = if yaml { "`gold: 20`, a line for each" } else { "`{\"gold\": 20, \"silver\": 10}`" };
        let wrong = wrong.expected(form, "a list of records");
        self.report(match fix {
            Some(fix) => wrong.fix(fix),
            None => wrong.help(format!("write each case as its key and its value: {form}")),
        });
    }

    /// The value of a case, which is no place for a return.
    fn case_value(&mut self, node: &Node<'a>) -> Expr<'a> {
        let first = match &node.kind {
            Kind::List([only]) => only,
            _ => node,
        };
        if let [entry] = entries(first)
            && matches!(entry.name(), Some("return" | "ret"))
        {
            let message = format!("a case is a value, and `{}` a step", shown(&entry.key));
            let word = self.dialect.word(if self.dialect.has(Key::Return) { Key::Return } else { Key::Ok });
            self.report(
                Diagnostic::new(Code::BadStep, entry.key.span, message)
                    .expected("the value alone", format!("`{}`", shown(&entry.key)))
                    .help(format!(
                        "name what the match gives with `let`, and `{word}` that in the step behind; or write steps \
                         with `if`"
                    )),
            );
        }
        self.value(node)
    }

    fn case(&mut self, key: &Node<'a>, value: &Node<'a>, map: &mut Cases<'a>) {
        let read = self.case_value(value);
        // `{"text": "default"}` is that text.
        let (key, marked) = match entries(key) {
            [only] if only.name() == Some("text") && only.value.text().is_some() => (&only.value, true),
            _ => (key, false),
        };
        let literal = match key.kind {
            Kind::Text(text) if !marked && matches!(text.text, "_" | "default") => {
                if let Some((_, before)) = map.default {
                    self.case_twice(key, before, "a default");
                }
                map.default = Some((read, key.span));
                return;
            }
            Kind::Text(text) => {
                self.doubtful_case(key, text.text, map.default.is_some());
                Literal::Text(text.text)
            }
            Kind::Number(number) => Literal::Number(number),
            Kind::Bool(value) => Literal::Bool(value),
            Kind::Null => Literal::Nil,
            _ => return self.bad_shape(key, "the key of a case", "a text, number, bool or null"),
        };
        if let Some(before) = map.seen.insert(tree::Key::of(key), key.span) {
            return self.case_twice(key, before, "a case with this key");
        }
        map.list.push(Case { key: literal, key_span: key.span, value: read });
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
    list: Vec<Case<'a>>,
    seen: HashMap<tree::Key<'a>, Span>,
    default: Option<(Expr<'a>, Span)>,
}

/// Whether a list is a value and a name.
fn is_field_of(node: &Node<'_>) -> bool {
    matches!(node.kind, Kind::List([_, Node { kind: Kind::Text(_), .. }]))
}

/// The key and value of a record that is one case: `{"gold": 20}`, `{"case": "gold", "value": 20}`.
fn case_of_record<'d, 'a>(node: &'d Node<'a>) -> Option<(&'d Node<'a>, &'d Node<'a>)> {
    match entries(node) {
        [only] => Some((&only.key, &only.value)),
        list @ [_, _] => {
            let get = |names: &[&str]| {
                list.iter().find(|entry| entry.name().is_some_and(|name| names.contains(&name)))
            };
            let key = get(&["case", "when", "key", "if", "is", "equals"])?;
            let value = get(&["value", "then", "return", "result", "do"])?;
            Some((&key.value, &value.value))
        }
        _ => None,
    }
}

/// Whether the value of a key is a list of two.
fn is_pair(node: &Node<'_>, key: Key, dialect: Dialect) -> bool {
    entries(node).iter().any(|entry| {
        entry.name().is_some_and(|name| dialect.meaning(name, &[key]).is_some())
            && matches!(entry.value.kind, Kind::List([_, _]))
    })
}
