//! Reads the cases of a `match`: constant keys, and the nodes of their values.

use super::reader::StepReader;
use crate::ast::Literal;
use crate::diagnostic::Diagnostic;
use crate::document::{Entry, Key as CaseKey, Kind, Node, entries};
use crate::span::Span;
use crate::text::rendered_number;
use hashbrown::HashMap;
use ilo_spec::error::Code;

/// A case whose value is not read yet.
pub(crate) struct UnreadCase<'d, 'a> {
    /// The constant; `None` for the default.
    pub(crate) key: Option<Literal<'a>>,
    /// The number or bool that a JSON key matches in addition to its text.
    pub(crate) other: Option<Literal<'a>>,
    pub(crate) key_span: Span,
    pub(crate) value: &'d Node<'a>,
}

/// The cases of a `match`, in order.
#[derive(Default)]
pub(crate) struct Cases<'d, 'a> {
    pub(crate) list: Vec<UnreadCase<'d, 'a>>,
    default: Option<Span>,
    seen: HashMap<CaseKey<'a>, Span>,
    /// Whether the keys of a record in JSON are `true` and `false` alone, which match bools too.
    bools: bool,
}

impl<'d, 'a> Cases<'d, 'a> {
    /// Adds the default. Returns the existing one, if there is one.
    pub(crate) fn add_default(&mut self, key: &Node<'a>, value: &'d Node<'a>) -> Option<Span> {
        self.list.push(UnreadCase { key: None, other: None, key_span: key.span, value });
        self.default.replace(key.span)
    }
}

impl<'a> StepReader<'_, 'a> {
    /// Reads the cases under a key.
    pub(crate) fn cases<'d>(&mut self, node: &'d Node<'a>, cases: &mut Cases<'d, 'a>) {
        match &node.kind {
            Kind::Record(entries) => {
                let is_bool = |entry: &Entry<'a>| matches!(entry.name(), Some("true" | "false"));
                let is_default = |entry: &Entry<'a>| matches!(entry.name(), Some("default" | "_"));
                cases.bools = entries.iter().any(is_bool)
                    && entries.iter().all(|entry| is_bool(entry) || is_default(entry));
                for entry in *entries {
                    self.case(&entry.key, &entry.value, true, cases);
                }
            }
            Kind::List(pairs) => {
                for pair in *pairs {
                    match &pair.kind {
                        Kind::List([key, value]) => self.case(key, value, false, cases),
                        _ => self.bad_shape(pair, "a case", "`[key, value]`"),
                    }
                }
            }
            _ => self.bad_shape(node, "`cases`", "a record of keys and values, or a list of `[key, value]`"),
        }
    }

    fn case<'d>(
        &mut self,
        key: &'d Node<'a>,
        value: &'d Node<'a>,
        of_record: bool,
        cases: &mut Cases<'d, 'a>,
    ) {
        // `{"text": "default"}` is that text.
        let (key, marked) = match entries(key) {
            [only] if only.name() == Some("text") && only.value.text().is_some() => (&only.value, true),
            _ => (key, false),
        };
        let literal = match key.kind {
            Kind::Text(text) if !marked && matches!(text.text, "_" | "default") => {
                if let Some(before) = cases.add_default(key, value) {
                    self.case_twice(key, before, "a default");
                }
                return;
            }
            Kind::Text(text) => {
                self.lint(|lints| lints.case(key, text.text, cases.default.is_some()));
                Literal::Text(text.text)
            }
            Kind::Number(number) => Literal::Number(number),
            Kind::Bool(value) => Literal::Bool(value),
            Kind::Null => Literal::Nil,
            _ => return self.bad_shape(key, "the key of a case", "a text, number, bool or null"),
        };
        // A JSON key can only be a text.
        let other = match key.text().filter(|_| of_record && !self.dialect.is_yaml()) {
            Some(text @ ("true" | "false")) if cases.bools => Some(Literal::Bool(text == "true")),
            text => text.and_then(rendered_number).map(Literal::Number),
        };
        let before = other.and_then(|other| cases.seen.insert(CaseKey::of_literal(other), key.span));
        match cases.seen.insert(CaseKey::of(key), key.span).or(before) {
            Some(before) => self.case_twice(key, before, "a case with this key"),
            None => cases.list.push(UnreadCase { key: Some(literal), other, key_span: key.span, value }),
        }
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
