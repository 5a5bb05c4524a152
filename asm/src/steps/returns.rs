//! Ways out of a function: `return`, `ok`, `err`, and whether they fit its type.
//!
//! What is wrong with a return is told here, in the notation's own words and with its own mend; checking leaves it to us.

use super::keyed::Keyed;
use super::reader::StepReader;
use crate::ast::{Binary, Expr, ExprKind, Literal, ReturnKind, StmtKind};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::dialect::{Key, Meant};
use crate::document::{Entry, Kind, Node};
use crate::document::{entries, rename, shown};
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::types::Type;

/// The ways of an `if`, an arm or a handler to end the function.
pub(crate) const LEAVES: [Key; 3] = [Key::Return, Key::Ok, Key::Message];

impl<'a> StepReader<'_, 'a> {
    /// The key that says how a record ends the function.
    pub(crate) fn leaving<'d>(&mut self, keyed: &Keyed<'d, 'a>) -> Option<(Key, &'d Entry<'a>)> {
        let mut given = LEAVES.iter().filter_map(|&key| keyed.entry(key).map(|entry| (key, entry)));
        let first = given.next()?;
        if let Some((_, entry)) = given.next() {
            let found = shown(&entry.key);
            self.bad_step(
                entry.key.span,
                &format!("the function is left once, by `{}` or by `{found}`", shown(&first.1.key)),
                "one of them",
                "both",
                "leave one of them out",
            );
        }
        Some(first)
    }

    /// What `return`, `ok` or `err` does.
    pub(crate) fn leave(&mut self, key: Key, entry: &Entry<'a>) {
        match key {
            Key::Return => {
                self.not_wrapped(entry);
                self.return_of(entry);
            }
            Key::Ok => {
                let plain = !self.is_result();
                if plain && !self.dialect.has(Key::Ok) {
                    let word = self.dialect.word(Key::Return);
                    let message = format!("a value is returned with `{word}` here, and this is read as that");
                    self.sister_word(entry.key.span, message, word, "ok", rename(&entry.key, word));
                } else {
                    self.wrapped(entry, Key::Ok);
                }
                let value = self.returned(&entry.value);
                let kind = if plain { ReturnKind::Plain } else { ReturnKind::Ok };
                self.push(StmtKind::Return(kind, value), whole(entry));
            }
            _ => {
                self.wrapped(entry, Key::Message);
                self.fail_with(&entry.value, entry.key.span);
            }
        }
    }

    /// Fails with a message; `at` is the word that says so.
    pub(crate) fn fail_with(&mut self, message: &Node<'a>, at: Span) {
        let value = self.value(message);
        self.needs_result(at);
        self.push(
            StmtKind::Return(ReturnKind::Err, value),
            Span::new(at.start, message.span.end.max(at.end)),
        );
    }

    /// Reports a failure in a function that is no result.
    pub(crate) fn needs_result(&mut self, at: Span) {
        if self.is_result() {
            return;
        }
        let ok = self.output.ok.name;
        let lists = "list ".repeat(usize::from(self.output.ok.ty.lists));
        let comma = if self.dialect.is_yaml() { "," } else { "" };
        let meant = format!("result {lists}{ok}{comma} text");
        let word = self.dialect.word(Key::Output);
        self.report(
            Diagnostic::new(Code::WrongReturn, at, "this fails, in a function whose type is no result")
                .expected(format!("`{meant}` as its `{word}`"), format!("`{lists}{ok}`"))
                .related(self.output.span, "the type is given here")
                .help(format!("write `{meant}` as `{word}`, or return a value")),
        );
    }

    /// `{"ok": v}`, `{"error": m}`, or a plain value.
    fn return_of(&mut self, entry: &Entry<'a>) {
        let node = &entry.value;
        if let [a, b] = entries(node)
            && let Some(only) = self.says_both(node, a, b)
        {
            let value = self.returned(&only.value);
            let kind = if self.is_result() { ReturnKind::Ok } else { ReturnKind::Plain };
            return self.push(StmtKind::Return(kind, value), whole(only));
        }
        if let Some((only, key)) = self.other_outcome(entry) {
            if key == Key::Message {
                return self.fail_with(&only.value, only.key.span);
            }
            let value = self.returned(&only.value);
            return self.push(StmtKind::Return(ReturnKind::Ok, value), whole(only));
        }
        let Some((only, key, meant)) = self.result_form(node) else {
            let value = self.returned(node);
            let bare = !self.dialect.has(Key::Return);
            if self.is_result() && !bare {
                self.not_plain(entry, &value);
            }
            let kind = if bare && self.is_result() { ReturnKind::Ok } else { ReturnKind::Plain };
            return self.push(StmtKind::Return(kind, value), whole(entry));
        };
        if meant == Meant::Sister && self.dialect.has(Key::Return) {
            let (word, found) = (self.dialect.word(key), shown(&only.key));
            let message = format!("`{found}` is another notation's word for `{word}`, and read as that");
            self.sister_word(only.key.span, message, word, &found, rename(&only.key, word));
        }
        if key == Key::Message {
            return self.fail_with(&only.value, only.key.span);
        }
        let value = self.returned(&only.value);
        if !self.is_result() && self.dialect.has(Key::Return) {
            self.not_ok(entry, only);
        }
        let kind = if self.is_result() { ReturnKind::Ok } else { ReturnKind::Plain };
        self.push(StmtKind::Return(kind, value), whole(only));
    }

    /// Reports a return of both success and failure, which is read as the success that it holds.
    fn says_both(&mut self, node: &Node<'a>, a: &'a Entry<'a>, b: &'a Entry<'a>) -> Option<&'a Entry<'a>> {
        let fails = |entry: &Entry<'a>| matches!(entry.name(), Some("err" | "error"));
        let (ok, err) = match (a.name(), b.name()) {
            (Some("ok"), _) if fails(b) => (a, b),
            (_, Some("ok")) if fails(a) => (b, a),
            _ => return None,
        };
        let (word, found) = (shown(&ok.key), shown(&err.key));
        let message = format!("a return is `{word}` or `{found}`, not both");
        let wrong = Diagnostic::new(Code::BadStep, err.key.span, message).expected("one of them", "both");
        let value = self
            .source
            .get(ok.value.span.range())
            .filter(|_| !self.dialect.is_yaml() && crate::document::edit::mendable(node.span));
        self.report(match value.filter(|_| matches!(err.value.kind, Kind::Null)) {
            Some(value) => {
                wrong.replace(node.span, format!("{{\"{word}\":{}{value}}}", self.dialect.blank()))
            }
            None => {
                wrong.help(format!("leave `{found}` out where it succeeds; it fails with `{found}` alone"))
            }
        });
        Some(ok)
    }

    /// The one entry of a record that says success or failure.
    fn result_form(&self, node: &Node<'a>) -> Option<(&'a Entry<'a>, Key, Meant)> {
        let [only] = entries(node) else { return None };
        match only.name()? {
            "ok" => Some((only, Key::Ok, Meant::Own)),
            name => self.dialect.meaning(name, &[Key::Message]).map(|(key, meant)| (only, key, meant)),
        }
    }

    /// Reports `{"success": …}` and `{"failure": …}`, which are `ok` and the failure in other words, and are read as those.
    fn other_outcome(&mut self, entry: &Entry<'a>) -> Option<(&'a Entry<'a>, Key)> {
        const SUCCESS: [&str; 7] = ["success", "succeed", "Ok", "OK", "right", "Right", "Success"];
        const FAILURE: [&str; 9] =
            ["failure", "fail", "failed", "Err", "Error", "left", "Left", "Failure", "exception"];
        let [only] = entries(&entry.value) else { return None };
        // That it succeeded may be what is returned.
        let plain =
            matches!(only.value.kind, Kind::Bool(_)) || !self.is_result() || !self.dialect.has(Key::Return);
        let name = only.name().filter(|_| !plain)?;
        let (key, word) = match name {
            _ if SUCCESS.contains(&name) => (Key::Ok, "ok"),
            _ if FAILURE.contains(&name) => (Key::Message, self.dialect.word(Key::Message)),
            _ => return None,
        };
        let form = self.dialect.return_form(word);
        let mut wrong = self.wrong_return(only.key.span, &format!("`{name}` is `{word}` here"), &form);
        wrong.fix = rename(&only.key, word);
        self.report(wrong);
        Some((only, key))
    }

    /// Reports a plain value from a result function.
    fn not_plain(&mut self, entry: &Entry<'a>, value: &Expr<'a>) {
        // A text from a function that succeeds with nil and fails with text is meant as the failure.
        let fits = |ty: Type| literal_type(value).is_none_or(|found| found.meets(ty));
        let handles = self.failure().is_some() && literal_type(value) == Some(Type::TEXT);
        let other = !fits(self.output.ok.ty) || handles && self.output.ok.ty != Type::TEXT;
        let failure = other && self.output.err.is_some_and(|err| fits(err.ty));
        let word = if failure { self.dialect.word(Key::Message) } else { "ok" };
        let form = self.dialect.return_form(word);
        let wrong =
            self.wrong_return(entry.key.span, "a plain value from a function whose type is a result", &form);
        let unsure = self.failure().is_some() && literal_type(value).is_none();
        let edits = if unsure { None } else { self.wrap(entry, word) };
        self.report(match edits {
            Some(edits) => wrong.fix(Fix { title: format!("write `{form}`"), edits }),
            None => wrong.help(format!(
                "write `{}` to succeed with it, `{}` to fail with it",
                self.dialect.return_form("ok"),
                self.dialect.return_form(self.dialect.word(Key::Message))
            )),
        });
    }

    /// Reports a plain value as the default of a switch that returns from a result function.
    pub(crate) fn plain_default(&mut self, entry: &Entry<'a>) {
        let form = "default: {return: {ok: …}}";
        let message = "a plain value from a function whose type is a result";
        let wrong = self.wrong_return(entry.key.span, message, form);
        let value = entry.value.span;
        self.report(if is_scalar(&entry.value) && self.is_quoted(&entry.value) {
            let edit = |at, text: &str| Edit { span: Span::at(at), text: text.to_owned() };
            let edits = vec![edit(value.start, "{return: {ok: "), edit(value.end, "}}")];
            wrong.fix(Fix { title: format!("write `{form}`"), edits })
        } else {
            wrong.help("write `default:`, and `return:` with `ok:` below it")
        });
    }

    /// Reports success from a function that is no result.
    fn not_ok(&mut self, entry: &Entry<'a>, only: &Entry<'a>) {
        let word = self.dialect.word(Key::Return);
        let form =
            if self.dialect.is_yaml() { format!("{word}: …") } else { format!("{{\"{word}\": …}}") };
        let wrong = self.wrong_return(only.key.span, "`ok` in a function whose type is no result", &form);
        let (outer, inner) = (entry.value.span, only.value.span);
        let start = if self.dialect.is_yaml() { entry.key.span.end } else { outer.start };
        let open = if self.dialect.is_yaml() { ": " } else { "" };
        let lines = !self.dialect.is_yaml() || is_scalar(&only.value);
        let edits = vec![
            Edit { span: Span::new(start, inner.start), text: open.to_owned() },
            Edit { span: Span::new(inner.end, outer.end.max(inner.end)), text: String::new() },
        ];
        let edits = edits.into_iter().filter(|edit| !edit.text.is_empty() || edit.span.start < edit.span.end);
        let fix = Fix { title: format!("write `{form}`"), edits: edits.collect() };
        self.report(if lines { wrong.fix(fix) } else { wrong.help(format!("write `{form}`")) });
    }

    fn wrong_return(&self, at: Span, message: &str, form: &str) -> Diagnostic {
        let found = self.source.get(at.range()).unwrap_or("");
        Diagnostic::new(Code::WrongReturn, at, message)
            .expected(format!("`{form}`"), format!("`{found}`"))
            .related(self.output.span, "the type is given here")
    }

    /// The edits that put a value into a record of one key.
    fn wrap(&self, entry: &Entry<'a>, word: &str) -> Option<Vec<Edit>> {
        let value = entry.value.span;
        if !self.dialect.is_yaml() {
            let at = |at, text: String| Edit { span: Span::at(at), text };
            return Some(vec![
                at(value.start, format!("{{\"{word}\":{}", self.dialect.blank())),
                at(value.end, "}".to_owned()),
            ]);
        }
        // On a line of its own, two deeper than the key.
        let before = self.source.get(..entry.key.span.start as usize)?;
        let line = before.rsplit('\n').next().unwrap_or("");
        if !line.chars().all(|c| matches!(c, ' ' | '-'))
            || !is_scalar(&entry.value)
            || value.start >= value.end
        {
            return None;
        }
        let indent = " ".repeat(line.len() + 2);
        Some(vec![Edit {
            span: Span::new(entry.key.span.end, value.start),
            text: format!(":\n{indent}{word}: "),
        }])
    }

    /// Warns of a bare `ok` or `err` where the notation puts it into `return`.
    pub(crate) fn wrapped(&mut self, entry: &Entry<'a>, key: Key) {
        if self.dialect.has(Key::Ok) {
            return;
        }
        let (word, found) = (self.dialect.word(key), shown(&entry.key));
        let outer = self.dialect.word(Key::Return);
        let expected = self.dialect.return_form(word);
        let open = if self.dialect.is_yaml() {
            format!("{outer}: {{{word}: ")
        } else {
            format!("\"{outer}\":{}{{\"{word}\":{}", self.dialect.blank(), self.dialect.blank())
        };
        let simple = !self.dialect.is_yaml() || (is_scalar(&entry.value) && self.is_quoted(&entry.value));
        let fix = simple.then(|| Fix {
            title: format!("write `{expected}`"),
            edits: vec![
                Edit { span: Span::new(entry.key.span.start, entry.value.span.start), text: open },
                Edit { span: Span::at(entry.value.span.end), text: "}".to_owned() },
            ],
        });
        let message = format!("`{found}` stands in `{outer}` here, and is read as that");
        self.sister_word(entry.key.span, message, &expected, &found, fix);
    }

    /// Whether a scalar may stand between YAML's braces as it is.
    fn is_quoted(&self, node: &Node<'a>) -> bool {
        !self.source.get(node.span.range()).unwrap_or("{").contains(['{', '}', ',', '[', ']', '#', '\n'])
            || matches!(node.kind, Kind::Text(text) if matches!(text.style, crate::document::Style::Double))
    }

    /// Warns of `return` where the notation has bare `ok` and `err`.
    fn not_wrapped(&mut self, entry: &Entry<'a>) {
        if self.dialect.has(Key::Return) {
            return;
        }
        let found = shown(&entry.key);
        let (word, edits) = match self.result_form(&entry.value) {
            Some((only, key, _)) => {
                let word = if key == Key::Ok { "ok" } else { "err" };
                let open = Span::new(entry.key.span.start, only.value.span.start);
                let close = Span::new(only.value.span.end, entry.value.span.end);
                let open = Edit { span: open, text: format!("\"{word}\":{}", self.dialect.blank()) };
                (word, vec![open, Edit { span: close, text: String::new() }])
            }
            None => ("ok", vec![Edit { span: entry.key.span, text: "\"ok\"".to_owned() }]),
        };
        let message = "a value is returned with `ok` here, a failure with `err`".to_owned();
        let fix = Fix { title: format!("write `{word}` alone"), edits };
        self.sister_word(entry.key.span, message, word, &found, Some(fix));
    }
}

/// From a key to the end of its value.
fn whole(entry: &Entry<'_>) -> Span {
    Span::new(entry.key.span.start, entry.value.span.end.max(entry.key.span.end))
}

fn is_scalar(node: &Node<'_>) -> bool {
    !matches!(node.kind, Kind::List(_) | Kind::Record(_))
}

/// The type of a value that says it itself.
fn literal_type(value: &Expr<'_>) -> Option<Type> {
    match value.kind {
        ExprKind::Literal(Literal::Nil) => Some(Type::NIL),
        ExprKind::Literal(Literal::Bool(_)) => Some(Type::BOOL),
        ExprKind::Literal(Literal::Number(_)) => Some(Type::NUMBER),
        ExprKind::Literal(Literal::Text(_)) | ExprKind::Binary(Binary::Concat, ..) => Some(Type::TEXT),
        _ => None,
    }
}
