//! The cases of a `match`: keys that are constants, and the nodes of their values.

use super::reader::StepReader;
use crate::ast::Literal;
use crate::diagnostic::Diagnostic;
use crate::dialect::lint::Seen;
use crate::document::edit::Draft;
use crate::document::{Key as CaseKey, Kind, Node};
use crate::document::{entries, first_of};
use crate::span::Span;
use hashbrown::HashMap;
use ilo_spec::error::Code;

/// A case whose value is not read yet.
pub(crate) struct UnreadCase<'d, 'a> {
    /// The constant; `None` for the default.
    pub(crate) key: Option<Literal<'a>>,
    pub(crate) key_span: Span,
    pub(crate) value: &'d Node<'a>,
}

/// The cases of a `match` in their order.
#[derive(Default)]
pub(crate) struct Cases<'d, 'a> {
    pub(crate) list: Vec<UnreadCase<'d, 'a>>,
    default: Option<Span>,
    seen: HashMap<CaseKey<'a>, Span>,
}

impl<'d, 'a> Cases<'d, 'a> {
    /// Adds the default; gives where there is one already.
    pub(crate) fn add_default(&mut self, key: &Node<'a>, value: &'d Node<'a>) -> Option<Span> {
        self.list.push(UnreadCase { key: None, key_span: key.span, value });
        self.default.replace(key.span)
    }
}

impl<'a> StepReader<'_, 'a> {
    /// Reads the cases under a key.
    pub(crate) fn cases<'d>(&mut self, node: &'d Node<'a>, cases: &mut Cases<'d, 'a>) {
        match &node.kind {
            Kind::Record(entries) => {
                for entry in *entries {
                    self.case(&entry.key, &entry.value, cases);
                }
            }
            Kind::List(pairs) => {
                let are_records =
                    !pairs.is_empty() && pairs.iter().all(|pair| case_of_record(pair).is_some());
                if are_records {
                    self.cases_of_records(node, pairs);
                }
                for pair in *pairs {
                    match (&pair.kind, case_of_record(pair)) {
                        (Kind::List([key, value]), _) => self.case(key, value, cases),
                        (_, Some((key, value))) if are_records => self.case(key, value, cases),
                        _ => self.bad_shape(pair, "a case", "`[key, value]`"),
                    }
                }
            }
            _ => self.bad_shape(node, "`cases`", "a record of keys and values, or a list of `[key, value]`"),
        }
    }

    /// Reports cases that are a list of records with one case each, which are read all the same.
    fn cases_of_records(&mut self, node: &Node<'a>, pairs: &[Node<'a>]) {
        let plain = |pair: &Node<'a>| {
            let (key, value) = case_of_record(pair)?;
            Some((key.text()?, Draft::Kept(*value)))
        };
        let draft = pairs.iter().map(plain).collect::<Option<Vec<_>>>().map(Draft::Record);
        let yaml = self.dialect.is_yaml();
        let fix = draft.and_then(|draft| draft.fix(node, self.source, yaml, self.dialect.is_bare()));
        let form = if yaml { "`gold: 20`, a line for each" } else { "`{\"gold\": 20, \"silver\": 10}`" };
        let wrong =
            Diagnostic::new(Code::BadShape, first_of(node), "`cases` is one record, not a list of records")
                .expected(form, "a list of records");
        self.report(match fix {
            Some(fix) => wrong.fix(fix),
            None => wrong.help(format!("write each case as its key and its value: {form}")),
        });
    }

    fn case<'d>(&mut self, key: &'d Node<'a>, value: &'d Node<'a>, cases: &mut Cases<'d, 'a>) {
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
                self.lint(Seen::Case(key, value, cases.default.is_some()));
                Literal::Text(text.text)
            }
            Kind::Number(number) => Literal::Number(number),
            Kind::Bool(value) => Literal::Bool(value),
            Kind::Null => Literal::Nil,
            _ => return self.bad_shape(key, "the key of a case", "a text, number, bool or null"),
        };
        match cases.seen.insert(CaseKey::of(key), key.span) {
            Some(before) => self.case_twice(key, before, "a case with this key"),
            None => cases.list.push(UnreadCase { key: Some(literal), key_span: key.span, value }),
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
