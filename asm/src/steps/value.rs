//! Values of documents to expressions: constants, references, texts with references, lists, records, operators.

use super::doubt::Place;
use super::keys::Keyed;
use super::reader::{Reader, literal, nothing};
use super::refer::inner;
use crate::ast::{Expr, ExprKind, Field, Literal, Name};
use crate::diagnostic::Diagnostic;
use crate::dialect::{Dialect, Key, STEPS};
use crate::document::{Entry, Kind, Node};
use crate::document::{entries, shown};
use crate::span::Span;
use ilo_spec::error::Code;

/// How texts are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texts {
    /// As texts with references in them.
    Plain,
    /// As infix expressions.
    Infix,
}

impl<'a> Reader<'_, 'a> {
    /// A value: what stands in arguments, records, returns.
    pub(crate) fn value(&mut self, node: &Node<'a>) -> Expr<'a> {
        self.read_value(node, Texts::Plain, false)
    }

    /// What stands under `expr`: in YAML an infix expression. A record of one key is meant as an operator.
    pub(crate) fn formula(&mut self, node: &Node<'a>) -> Expr<'a> {
        self.read_value(node, self.texts(), true)
    }

    fn texts(&self) -> Texts {
        if self.dialect.is_yaml() { Texts::Infix } else { Texts::Plain }
    }

    /// What a function returns: infix in YAML where it is a number or bool.
    pub(crate) fn returned(&mut self, node: &Node<'a>) -> Expr<'a> {
        use ilo_spec::types::Type;
        let ty = self.output.ok.ty;
        let computes = self.dialect.is_yaml() && (ty == Type::NUMBER || ty == Type::BOOL);
        self.read_value(node, if computes { Texts::Infix } else { Texts::Plain }, false)
    }

    pub(crate) fn read_value(&mut self, node: &Node<'a>, texts: Texts, operates: bool) -> Expr<'a> {
        let found = self.deeper(node.span, |this| match &node.kind {
            Kind::Null => literal(Literal::Nil, node.span),
            Kind::Bool(value) => literal(Literal::Bool(*value), node.span),
            Kind::Number(number) => literal(Literal::Number(*number), node.span),
            Kind::Text(_) if texts == Texts::Infix => this.infix(node),
            Kind::Text(_) => this.text(node, if operates { Place::Formula } else { Place::Data }),
            Kind::List(items) => this.list(node, items, operates),
            Kind::Record(_) => this.record(node, texts, operates),
        });
        found.unwrap_or_else(|| nothing(node))
    }

    fn list(&mut self, node: &Node<'a>, items: &'a [Node<'a>], operates: bool) -> Expr<'a> {
        self.doubtful_list(node, items, if operates { Place::Formula } else { Place::Data });
        let items: Vec<Expr<'a>> = items.iter().map(|item| self.value(item)).collect();
        Expr { kind: ExprKind::List(self.arena.alloc_slice_copy(&items)), span: node.span }
    }

    /// A record: an operation, a construct, or fields.
    fn record(&mut self, node: &Node<'a>, texts: Texts, operates: bool) -> Expr<'a> {
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
        self.inexact |= operates;
        let told = self.diagnostics.has_errors_since(before);
        let fields = self.doubtful_fields(node, if operates { Place::Formula } else { Place::Data }, told);
        Expr { kind: ExprKind::Record(fields), span: node.span }
    }

    /// The fields of a record that is one, whatever its keys are.
    pub(crate) fn fields(&mut self, node: &Node<'a>) -> &'a [Field<'a>] {
        let mut fields = Vec::new();
        for entry in entries(node) {
            let value = self.value(&entry.value);
            self.names_itself(entry);
            self.refers_as_key(entry);
            let text = match entry.key.kind {
                Kind::Text(text) => text.text,
                Kind::Null | Kind::Bool(_) | Kind::Number(_) => self.arena.alloc_str(&shown(&entry.key)),
                _ => continue,
            };
            fields.push(Field { name: Name { text, span: inner(&entry.key) }, value });
        }
        self.arena.alloc_slice_copy(&fields)
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
    pub(crate) fn construct_of(&mut self, key: Key, keyed: &Keyed<'_, 'a>) -> Expr<'a> {
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

    /// `merge` with `set`, or a list of the two.
    fn merge(&mut self, keyed: &Keyed<'_, 'a>) -> Expr<'a> {
        let at = keyed.place(Key::Merge);
        let Some(node) = keyed.get(Key::Merge) else { return literal(Literal::Nil, keyed.span) };
        let (base, set) = match (&node.kind, keyed.get(Key::Set)) {
            (Kind::List([base, set]), None) => {
                self.inexact |= self.dialect.has(Key::Set);
                (base, Some(set))
            }
            (_, set) => (node, set),
        };
        let base = self.subject(base);
        let Some(set) = set else {
            self.merge_of_others(node, at);
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
}

/// Whether the value of a key is a list of two.
fn is_pair(node: &Node<'_>, key: Key, dialect: Dialect) -> bool {
    entries(node).iter().any(|entry| {
        entry.name().is_some_and(|name| dialect.meaning(name, &[key]).is_some())
            && matches!(entry.value.kind, Kind::List([_, _]))
    })
}
