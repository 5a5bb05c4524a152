//! Reads returns: `return`, `ok`, `err`, and whether they fit the output type.
//!
//! A return that does not fit the type is reported here, where its words are known; the check does not report
//! it again.

use super::entries::Keyed;
use super::reader::StepReader;
use crate::ast::{Expr, ReturnKind, StmtKind};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::dialect::Key;
use crate::dialect::reader_habits::Asked;
use crate::document::{Entry, Kind, Node, entries, shown};
use crate::foreign;
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::types::Type;

/// The keys with which an `if`, an arm or a handler ends the function or a loop.
pub(crate) const LEAVES: [Key; 5] = [Key::Return, Key::Ok, Key::Message, Key::Break, Key::Skip];

impl<'a> StepReader<'_, 'a> {
    /// The key with which a record ends the function or a loop.
    pub(crate) fn leaving<'d>(&mut self, keyed: &Keyed<'d, 'a>) -> Option<(Key, &'d Entry<'a>)> {
        let mut given = LEAVES.iter().filter_map(|&key| keyed.entry(key).map(|entry| (key, entry)));
        let first = given.next()?;
        if let Some((_, entry)) = given.next() {
            let found = shown(&entry.key);
            let message = format!("the function is left once, by `{}` or by `{found}`", shown(&first.1.key));
            self.one_of_two(entry, &message, "leave one of them out");
        }
        Some(first)
    }

    /// Reads `return`, `ok`, `err`, `break` or `skip`.
    pub(crate) fn leave(&mut self, key: Key, entry: &Entry<'a>) {
        match key {
            Key::Return => self.return_of(entry),
            Key::Ok => self.succeed(entry),
            Key::Break => self.break_with(entry),
            Key::Skip => self.skip_with(entry),
            _ => self.fail_with(&entry.value, entry.key.span),
        }
    }

    /// `break` with `true`: ends the innermost loop.
    fn break_with(&mut self, entry: &Entry<'a>) {
        self.expect_true(Key::Break, entry);
        if let Some(open) = self.loops.last_mut() {
            open.breaks = true;
        }
        self.push(StmtKind::Break, whole(entry));
    }

    /// `skip` with `true`: ends the pass of the innermost loop.
    fn skip_with(&mut self, entry: &Entry<'a>) {
        self.expect_true(Key::Skip, entry);
        self.test_before_skip(whole(entry));
        self.push(StmtKind::Skip, whole(entry));
    }

    /// Reports a key such as `break` whose value is not `true`.
    pub(crate) fn expect_true(&mut self, key: Key, entry: &Entry<'a>) {
        if !matches!(entry.value.kind, Kind::Bool(true)) {
            self.bad_shape(&entry.value, &format!("`{}`", self.dialect.word(key)), "`true`");
        }
    }

    /// Returns the value of an entry as success.
    fn succeed(&mut self, entry: &Entry<'a>) {
        let value = self.returned(&entry.value);
        let kind = if self.is_result() { ReturnKind::Ok } else { ReturnKind::Plain };
        self.push(StmtKind::Return(kind, value), whole(entry));
    }

    /// Fails with the message of an `assert` or of a text as a handler: to the handler of a `try`, or else as
    /// [`Self::fail_with`].
    pub(crate) fn fail_here(&mut self, message: &Node<'a>, at: Span) {
        if !self.at.in_try {
            return self.fail_with(message, at);
        }
        let value = self.value(message);
        self.push(StmtKind::Fail(value), Span::new(at.start, message.span.end.max(at.end)));
    }

    /// Fails with a message; `at` is the span of the key.
    pub(crate) fn fail_with(&mut self, message: &Node<'a>, at: Span) {
        let value = self.value(message);
        let kind =
            if self.is_result() { StmtKind::Return(ReturnKind::Err, value) } else { StmtKind::Fail(value) };
        self.push(kind, Span::new(at.start, message.span.end.max(at.end)));
    }

    /// Warns about a failure in the form of a return, in a function that does not return a result.
    fn fails_plainly(&mut self, at: Span) {
        if self.is_result() {
            return;
        }
        let (word, found) = (self.dialect.word(Key::Fail), self.source.get(at.range()).unwrap_or(""));
        self.report(
            Diagnostic::new(Code::OtherNotation, at, "this fails, in a function whose type is not a result")
                .expected(
                    format!("`{word}`, which fails, or `obj` around a record of data"),
                    format!("`{found}`"),
                )
                .related(self.output.span, "the type is given here")
                .help(format!("write the failure under `{word}`, or the record under `obj`")),
        );
    }

    /// `{"ok": v}`, `{"error": m}`, or a plain value.
    fn return_of(&mut self, entry: &Entry<'a>) {
        let list = entries(&entry.value);
        let key = |entry: &Entry<'a>| {
            let is = |&key: &Key| entry.name() == Some(self.dialect.word(key));
            [Key::Ok, Key::Message].into_iter().find(is)
        };
        let found = if let [only] = list { key(only).map(|key| (only, key)) } else { None };
        // A success or failure in the words of some notation, or both.
        if found.is_none()
            && matches!(list, [_] | [_, _])
            && let Some(new) = self.rewritten(Asked::Part(Key::Return), &entry.value)
        {
            return self.return_of(&Entry { key: entry.key, value: *new });
        }
        match found {
            Some((only, Key::Ok)) => {
                self.succeed(only);
                if !self.is_result() && self.dialect.has(Key::Return) {
                    self.not_ok(entry, only);
                }
            }
            Some((only, _)) => {
                self.fails_plainly(only.key.span);
                self.fail_with(&only.value, only.key.span);
            }
            None => {
                let value = self.returned(&entry.value);
                let kind = if self.is_result() && !self.not_plain(entry, &value) {
                    ReturnKind::Ok
                } else {
                    ReturnKind::Plain
                };
                self.push(StmtKind::Return(kind, value), whole(entry));
            }
        }
    }

    /// Reports a plain value in a function that returns a result, if it may be meant as a failure or as more
    /// than its success.
    fn not_plain(&mut self, entry: &Entry<'a>, value: &Expr<'a>) -> bool {
        let is_outcome = tells_outcome(&entry.value);
        // If the function succeeds with nil and fails with text, a text is meant as the failure.
        let fits = |ty: Type| value.evident_type().is_none_or(|found| found.meets(ty));
        let handles = self.failure().is_some() && value.evident_type() == Some(Type::TEXT);
        let other = !fits(self.output.ok.ty) || handles && self.output.ok.ty != Type::TEXT;
        let failure = other && self.output.err.is_some_and(|err| fits(err.ty));
        let known = value.evident_type().is_some_and(|ty| ty != Type::TEXT);
        if !is_outcome && !failure && (known || self.failure().is_none()) {
            return false;
        }
        let word = if failure { self.dialect.word(Key::Message) } else { "ok" };
        let form = self.dialect.return_form(word);
        let wrong =
            self.wrong_return(entry.key.span, "a plain value from a function whose type is a result", &form);
        let help = format!(
            "write `{}` to succeed with it, `{}` to fail with it",
            self.dialect.return_form("ok"),
            self.dialect.return_form(self.dialect.word(Key::Message))
        );
        self.report(wrong.help(help));
        true
    }

    /// Reports a plain value as the default of a switch that returns, in a function that returns a result.
    pub(crate) fn plain_default(&mut self, entry: &Entry<'a>) {
        let form = "default: {return: {ok: …}}";
        let message = "a plain value from a function whose type is a result";
        let wrong = self.wrong_return(entry.key.span, message, form);
        self.report(wrong.help("write `default:`, and `return:` with `ok:` below it"));
    }

    /// Reports a success in a function that does not return a result.
    fn not_ok(&mut self, entry: &Entry<'a>, only: &Entry<'a>) {
        let word = self.dialect.word(Key::Return);
        let form =
            if self.dialect.is_yaml() { format!("{word}: …") } else { format!("{{\"{word}\": …}}") };
        let wrong = self.wrong_return(only.key.span, "`ok` in a function whose type is not a result", &form);
        let (outer, inner) = (entry.value.span, only.value.span);
        let start = if self.dialect.is_yaml() { entry.key.span.end } else { outer.start };
        let open = if self.dialect.is_yaml() { ": " } else { "" };
        let lines = !self.dialect.is_yaml() || only.value.is_scalar();
        let edits = vec![
            Edit::new(Span::new(start, inner.start), open),
            Edit::new(Span::new(inner.end, outer.end.max(inner.end)), ""),
        ];
        let edits = edits.into_iter().filter(|edit| !edit.text.is_empty() || edit.span.start < edit.span.end);
        let fix = lines.then(|| Fix::writes(&form, edits.collect()));
        self.report(wrong.fix_or_help(fix, format!("write `{form}`")));
    }

    fn wrong_return(&self, at: Span, message: &str, form: &str) -> Diagnostic {
        let found = self.source.get(at.range()).unwrap_or("");
        Diagnostic::new(Code::WrongReturn, at, message)
            .expected(format!("`{form}`"), format!("`{found}`"))
            .related(self.output.span, "the type is given here")
    }
}

/// Whether a written record has a field that tells how the function ended, so that it may be more than a
/// value.
pub(crate) fn tells_outcome(node: &Node<'_>) -> bool {
    entries(node).iter().any(|entry| entry.is(|name| foreign::is(foreign::Place::Outcome, name)))
}

/// From a key to the end of its value.
fn whole(entry: &Entry<'_>) -> Span {
    Span::new(entry.key.span.start, entry.value.span.end.max(entry.key.span.end))
}
