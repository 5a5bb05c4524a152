//! `match` with `cases`: keys to constants, values to expressions.

use super::keys::Keyed;
use super::reader::{Reader, literal};
use crate::ast::{Case, Expr, ExprKind, Literal, MatchMap};
use crate::diagnostic::Diagnostic;
use crate::dialect::Key;
use crate::document::edit::Draft;
use crate::document::{Kind, Node};
use crate::document::{entries, first_of, shown};
use crate::span::Span;
use hashbrown::HashMap;
use ilo_spec::error::Code;

impl<'a> Reader<'_, 'a> {
    /// `match` with `cases`.
    pub(crate) fn match_map(&mut self, keyed: &Keyed<'_, 'a>) -> Expr<'a> {
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
                self.several_cases(key, value, text.text);
                Literal::Text(text.text)
            }
            Kind::Number(number) => Literal::Number(number),
            Kind::Bool(value) => Literal::Bool(value),
            Kind::Null => Literal::Nil,
            _ => return self.bad_shape(key, "the key of a case", "a text, number, bool or null"),
        };
        if let Some(before) = map.seen.insert(crate::document::Key::of(key), key.span) {
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
    seen: HashMap<crate::document::Key<'a>, Span>,
    default: Option<(Expr<'a>, Span)>,
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
