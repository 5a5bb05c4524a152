//! Reads texts: references, templates and plain texts; with the names in scope, and what is reported where
//! one refers to nothing.

use super::reader::{StepReader, bad, literal, number, of_slot};
use crate::ast::{Binary, Expr, ExprKind, Field, Literal, Name, Slot};
use crate::diagnostic::{Diagnostic, Fix};
use crate::dialect::Key;
use crate::dialect::reader_habits::{Asked, Names, Rewritten, Surroundings, ValuePlace};
use crate::document::{Node, NodeKind};
use crate::expr::reference::{FAILURES, Reference, Root, Step, bare, is_file};
use crate::expr::template::{Part, Template, template};
use crate::foreign::Place as ForeignPlace;
use crate::habits::Lints;
use crate::notation::Notation;
use crate::span::Span;
use crate::text::{Near, is_name, near, nearly_meets, same_spelling, shorten, some_of};
use crate::{expr, foreign, habits};
use ilo_spec::error::Code;

impl<'a> StepReader<'a> {
    /// The expression of a reference without braces, in any notation's form.
    pub(crate) fn reference(&mut self, reference: &Reference<'a>) -> Expr<'a> {
        if self.dialect.is_bare() {
            self.other_failure(reference);
        }
        match self.input_by_place(reference) {
            Some(found) => found,
            None => self.rooted(reference),
        }
    }

    /// The path of a reference in an expression.
    pub(crate) fn braced(&mut self, reference: &Reference<'a>) -> Expr<'a> {
        if let Some(found) = self.input_by_place(reference) {
            return found;
        }
        if let (Root::Name(name), []) = (reference.root, reference.path)
            && self.named(name.text).is_none()
            && let Some(constant) = expr::constant(name.text)
        {
            return literal(constant, reference.span);
        }
        self.rooted(reference)
    }

    /// The input that a bare name is, decided by its place in the text: if no step has the name, in the
    /// arguments and the handler of the step that has it, and before the first such step outside of loops.
    fn input_by_place(&mut self, reference: &Reference<'a>) -> Option<Expr<'a>> {
        let Root::Name(name) = reference.root else { return None };
        let slot = self.scope.input(name.text).filter(|_| self.named(name.text).is_none())?;
        let before = match self.survey.first_binding(name.text) {
            None => true,
            Some(first) => self.binds(name.text) || (name.span.start < first && self.loops.is_empty()),
        };
        let of = of_slot(slot, reference.span);
        before.then(|| self.with_path(of, reference.path, reference.span))
    }

    /// A reference by its root.
    pub(crate) fn rooted(&mut self, reference: &Reference<'a>) -> Expr<'a> {
        let (value, path) = match (reference.root, reference.path) {
            (Root::Input, [Step::Field(name), rest @ ..]) => {
                let Some(slot) = self.scope.input(name.text) else {
                    return self.nothing_named(*name, reference);
                };
                (of_slot(slot, reference.span), rest)
            }
            (Root::Input, [Step::Index(..), ..]) => {
                let message = "inputs have names, not numbers";
                let wrong = Diagnostic::new(Code::BadReference, reference.span, message);
                self.report(wrong.expected("the name of an input", "a number"));
                return bad(reference.span);
            }
            (Root::Input, []) => {
                let span = reference.span;
                let field = |(text, slot)| Field { name: Name { text, span }, value: of_slot(slot, span) };
                let fields = self.arena.collect(self.scope.inputs().map(field));
                (Expr { kind: ExprKind::Record(fields), span }, reference.path)
            }
            (Root::Name(name), path) => match self.named(name.text) {
                Some(slot) => {
                    let is_text = self.at.failure.is_some_and(|failure| failure.is_text);
                    if is_text && self.is_failure(name.text) {
                        self.lint(|lints| lints.field_of_failure(reference));
                    }
                    (of_slot(slot, reference.span), path)
                }
                None => return self.unknown(name, reference),
            },
        };
        self.with_path(value, path, reference.span)
    }

    /// Whether a name means the failure here, by the word of another notation.
    fn is_other_failure(&self, name: &str) -> bool {
        self.at.failure.is_some() && name != self.dialect.failure() && self.is_failure(name)
    }

    /// Reports a bare name that is another notation's name of the failure, or a text.
    fn other_failure(&mut self, reference: &Reference<'a>) {
        let Root::Name(name) = reference.root else { return };
        if self.is_other_failure(name.text) {
            let own = self.dialect.failure();
            let wrong =
                Diagnostic::new(Code::BadReference, reference.span, "the failure has another name here");
            let help = format!("write `\"{own}\"`, or `{{\"text\":\"{}\"}}` for the text", name.text);
            self.report(wrong.expected(format!("`{own}`"), format!("`{}`", name.text)).help(help));
        }
    }

    /// The fields and items of a path that are read in a value.
    pub(crate) fn with_path(&mut self, mut value: Expr<'a>, path: &[Step<'a>], span: Span) -> Expr<'a> {
        if !self.fits(path.len(), span) {
            return bad(span);
        }
        for step in path {
            let kind = match step {
                Step::Field(name) => ExprKind::Field(self.alloc(value), *name),
                Step::Index(index, span) => {
                    let Ok(index) = i64::try_from(*index) else { return value };
                    let index = number(index, *span);
                    ExprKind::Binary(Binary::At, self.alloc(value), self.alloc(index))
                }
            };
            value = Expr { kind, span };
        }
        value
    }

    fn unknown(&mut self, name: Name<'a>, reference: &Reference<'a>) -> Expr<'a> {
        if self.scope.is_lost(name.text) {
            return bad(reference.span);
        }
        let text = name.text;
        let (message, help) = if FAILURES.contains(&text) {
            let word = self.dialect.word(Key::Handler);
            (
                format!("`{text}` is the failure of a call, and can only be read in its `{word}`"),
                "bind what is needed outside in the handler",
            )
        } else if let Some(in_loop) = self.scope.has_left(text) {
            let of = if in_loop { "was bound in a loop that has ended" } else { "names what a block gives" };
            (
                format!("`{text}` {of}"),
                "what a loop or a block gives is read under the name of the step that it belongs to",
            )
        } else if let Some(slot) = self.named_by_let(text) {
            return self.with_path(of_slot(slot, reference.span), reference.path, reference.span);
        } else if let Some(place) = self.survey.binding(text) {
            self.report(self.not_yet(name, place));
            return bad(reference.span);
        } else {
            return self.nothing_named(name, reference);
        };
        let wrong = Diagnostic::new(Code::UnknownReference, name.span, message);
        self.report(wrong.expected(self.names_in_scope(), format!("`{text}`")).help(help));
        bad(reference.span)
    }

    /// The slot of the value of a step that has another name by its `let`, if only that step binds it.
    fn named_by_let(&self, step: &str) -> Option<Slot> {
        let own = self.scope.renamed(step).filter(|_| !self.binds(step))?;
        let once = self.survey.binding(own).map(|last| last.start) == self.survey.first_binding(own);
        self.named(own).filter(|_| once)
    }

    /// A reference whose root has this name in other languages (`steps.user.output.email`), read as what it
    /// means.
    fn read_as(&mut self, name: Name<'a>, meant: &Reference<'a>) -> Option<Expr<'a>> {
        let exists = match meant.root {
            Root::Input => true,
            Root::Name(meant) => meant.text != name.text && self.named(meant.text).is_some(),
        };
        (exists && foreign::meaning(ForeignPlace::Root, name.text).is_some()).then(|| self.rooted(meant))
    }

    /// The diagnostic of a name that some step binds or has, but that has no value here.
    pub(crate) fn not_yet(&self, name: Name<'a>, place: Span) -> Diagnostic {
        let text = name.text;
        let (code, own) = if place.start > name.span.start && !self.binds(text) {
            (Code::LaterReference, None)
        } else {
            (Code::UnknownReference, self.scope.renamed(text).filter(|_| !self.binds(text)))
        };
        let (message, help) = match (self.binds(text), self.at.failure) {
            _ if own.is_some() => (
                format!("the value of the step `{text}` has another name by its `let`"),
                "read it by that name",
            ),
            (true, None) => (
                format!("`{text}` is read in the very step that binds it"),
                "bind it in a step before this one, which then binds it again; in a loop, before the loop",
            ),
            (true, Some(_)) => (
                format!("`{text}` has no value where its own call failed"),
                "a call that failed leaves nothing to undo; `rollback` beside a call undoes it if something later fails",
            ),
            _ if code == Code::LaterReference => (
                format!("`{text}` is bound only by a later step"),
                "steps run in the order of the file: put that step before this one",
            ),
            _ => (
                format!("the step `{text}` has no value"),
                "a loop has one where its last step is what a pass yields; steps that end or undo have none",
            ),
        };
        let expected = own.map_or("a name that an earlier step binds".to_owned(), |own| format!("`{own}`"));
        let wrong = Diagnostic::new(code, name.span, message).expected(expected, format!("`{text}`"));
        let fix = own.and_then(|own| rename_part(name, own));
        let as_text = self.dialect.is_bare() && self.binds(text) && self.at.failure.is_none();
        let as_text = as_text.then(|| format!("; if it is meant as text, write `{{\"text\":\"{text}\"}}`"));
        let help = format!("{help}{}", as_text.unwrap_or_default());
        wrong.related(place, "bound here").nearest(own).help(help).fix(fix)
    }

    /// Reports a name that means nothing, unless it is a root of other languages, which is read as what it means.
    fn nothing_named(&mut self, name: Name<'a>, reference: &Reference<'a>) -> Expr<'a> {
        let meant = self.resolve_loosely(reference);
        if let Some(read) = meant.and_then(|meant| self.read_as(name, &meant)) {
            return read;
        }
        let inputs: Vec<&'a str> = match reference.root {
            Root::Input => self.scope.inputs().map(|(name, _)| name).collect(),
            Root::Name(_) => Vec::new(),
        };
        let (message, known) = match reference.root {
            Root::Input => {
                let known = listed(inputs.iter().copied(), "an input; there are none");
                (format!("no input is named `{}`", name.text), known)
            }
            Root::Name(_) => (format!("nothing is named `{}` here", name.text), self.names_in_scope()),
        };
        let wrong = Diagnostic::new(Code::UnknownReference, name.span, message)
            .expected(known, format!("`{}`", name.text));
        let wrong = match (meant, reference.root) {
            (Some(meant), _) => self.means(wrong, reference, &meant),
            (None, Root::Input) => self.no_input(wrong, name, reference, &inputs),
            (None, Root::Name(_)) => self.no_name(wrong, name, reference),
        };
        self.report(wrong);
        bad(reference.span)
    }

    /// Adds what may be meant in place of an unknown input.
    fn no_input(
        &self,
        wrong: Diagnostic,
        name: Name<'a>,
        reference: &Reference<'a>,
        inputs: &[&'a str],
    ) -> Diagnostic {
        let near = near(name.text, inputs.iter().copied());
        let wrong = self.with_text(wrong, name, reference, near, inputs.iter().copied());
        // `$input.first name`, of which the reference ends at the blank.
        let longer = |own: &&&str| own.strip_prefix(name.text).is_some_and(|rest| rest.starts_with(' '));
        if let Some(text) = inputs.iter().find(longer) {
            let path = &[Step::Field(Name { text, ..name })];
            let written = self.dialect.written(&Reference { path, ..*reference }, '{');
            return wrong.help(format!("a reference ends at a blank: write `{written}`"));
        }
        let wrong = if wrong.fix.is_none() { with_near(wrong, name, near) } else { wrong };
        let helped = wrong.fix.is_some() || wrong.help.is_some();
        if helped { wrong } else { wrong.help("declare it among the inputs") }
    }

    /// Adds what may be meant in place of an unknown name.
    fn no_name(&self, wrong: Diagnostic, name: Name<'a>, reference: &Reference<'a>) -> Diagnostic {
        let near = self.near_name(name.text);
        let wrong = self.with_text(wrong, name, reference, near, self.readable());
        if wrong.fix.is_some() {
            return wrong;
        }
        let mut inputs = self.scope.inputs().map(|(input, _)| input);
        if let Some(text) = inputs.find(|input| near.is_none() && same_spelling(input, name.text)) {
            let own = core::iter::once(Step::Field(Name { text, ..name }));
            let path = self.arena.collect(own.chain(reference.path.iter().copied()));
            return self.means(wrong, reference, &Reference { root: Root::Input, path, ..*reference });
        }
        let written = self.source.get(reference.span.range()).unwrap_or("");
        let time = matches!(name.text, "now" | "today");
        if near.is_none() && reference.path.is_empty() && written == name.text && !time {
            // In an expression a text is in quotes.
            let text = format!("'{}'", name.text);
            let wrong = wrong.help(format!("write `{text}` for a text, or bind the name in a step before"));
            return wrong.replace(reference.span, text);
        }
        if near.is_some() {
            return with_near(wrong, name, near);
        }
        let bind = "bind it in a step before; a plain dollar sign is written `$$`";
        wrong.help(foreign::instead(ForeignPlace::Name, name.text).unwrap_or(bind))
    }

    /// Adds a known name in braces, if in a text it goes on as text: `$date_report`.
    fn with_text<'n>(
        &self,
        wrong: Diagnostic,
        name: Name<'_>,
        reference: &Reference<'_>,
        near: Option<Near<'_>>,
        known: impl Iterator<Item = &'n str>,
    ) -> Diagnostic {
        let place = Span::new(reference.span.start, name.span.end);
        let written = self.source.get(place.range()).unwrap_or("");
        let root = written.strip_suffix(name.text).and_then(|root| root.strip_prefix('$'));
        let slips = near.is_some_and(|near| near.sure) && !name.text.ends_with(['-', '_']);
        let goes_on = |own: &str| {
            let rest = name.text.strip_prefix(own).filter(|rest| rest.starts_with(['-', '_']))?;
            // The rest may be subtracted.
            let part = rest.strip_prefix('-').unwrap_or("-");
            (part.parse::<u32>().is_err() && self.named(part).is_none()).then_some((own.len(), rest))
        };
        match (known.take(MOST_NAMES).filter_map(goes_on).max(), root) {
            (Some((length, rest)), Some(root)) if !slips && !root.starts_with('{') => {
                let own = name.text.get(..length).unwrap_or("");
                wrong.replace(place, format!("${{{root}{own}}}{rest}"))
            }
            _ => wrong,
        }
    }

    /// Adds the reference that is meant to the diagnostic of an unresolved reference.
    fn means(&self, wrong: Diagnostic, reference: &Reference<'a>, meant: &Reference<'a>) -> Diagnostic {
        let written = self.source.get(reference.span.range()).unwrap_or("");
        // In infix text and inside texts it has the form of a whole-text reference, except for braces that
        // exist already.
        let inside = written.starts_with("${") && self.dialect.notation == Notation::Mcp;
        let corrected = if self.dialect.notation == Notation::ToolCalling && written.starts_with("${") {
            self.dialect.written(meant, '{')
        } else {
            self.dialect.own_form(meant, inside || self.dialect.is_bare())
        };
        let found = format!("`{}`", shorten(written));
        let wrong = wrong.expected(format!("`{corrected}`"), found).nearest(Some(&corrected));
        if written.starts_with('$') {
            return wrong.replace(reference.span, corrected.as_str());
        }
        // In an expression.
        let inside = self.dialect.written(meant, '{');
        wrong.replace(reference.span, inside.trim_start_matches("${").trim_end_matches('}'))
    }

    /// The reference that an inexact one means.
    pub(crate) fn resolve_loosely(&self, reference: &Reference<'a>) -> Option<Reference<'a>> {
        self.of_habits(habits::resolve(reference, self, self.arena))
    }

    pub(crate) fn near_name(&self, name: &str) -> Option<Near<'a>> {
        let bare = self.scope.inputs().filter(|_| self.dialect.is_bare()).map(|(name, _)| name);
        near(name, self.readable().take(MOST_NAMES).chain(bare.take(MOST_NAMES)))
    }

    /// The names that may be read here: not that of the step which is being read.
    fn readable(&self) -> impl Iterator<Item = &'a str> {
        self.scope.visible().filter(|name| self.scope.find(name).is_some() || !self.binds(name))
    }

    pub(crate) fn names_in_scope(&self) -> String {
        let inputs = self.scope.inputs().filter(|_| self.dialect.is_bare()).map(|(name, _)| name);
        let all = self.readable().take(MOST_NAMES).chain(inputs);
        listed(all, "a name that a step before has bound; there are none")
    }

    /// The context for lints at this position.
    pub(crate) fn surroundings(&self) -> Surroundings<'_, 'a> {
        let StepReader { dialect, source, arena, nesting, .. } = *self;
        Surroundings { dialect, source, arena, nesting, names: self }
    }

    /// What is read in place of a node that is not understood.
    pub(crate) fn rewritten(&mut self, asked: Asked<'_, 'a>, node: &Node<'a>) -> Option<&'a Node<'a>> {
        let Rewritten { node, found, lost } = habits::rewrite(asked, node, &self.surroundings());
        let node = self.of_habits(node);
        if self.canonical.is_some() {
            return None;
        }
        self.diagnostics.append(found);
        lost.into_iter().for_each(|name| self.scope.lose(name));
        node.map(|node| &*self.arena.alloc(node))
    }

    /// The value of a key; if it is `odd`, what is read in its place.
    pub(crate) fn shaped<'d>(&mut self, key: Key, node: &'d Node<'a>, odd: bool) -> &'d Node<'a> {
        if odd { self.rewritten(Asked::Part(key), node).unwrap_or(node) } else { node }
    }

    /// Runs lints on something that was read. What they warn about becomes a suspect.
    pub(crate) fn lint(&mut self, examine: impl FnOnce(&mut Lints<'_, 'a>)) {
        if self.canonical.is_some() {
            return;
        }
        let mut lints = Lints { at: self.surroundings(), warnings: Vec::new() };
        examine(&mut lints);
        for (suspect, diagnostic) in lints.warnings {
            if suspect.is_none() || !self.at.reported {
                self.suspects.extend(suspect);
                self.report(diagnostic);
            }
        }
    }

    /// Whether a node was read as a plain text about which no lint has warned.
    pub(crate) fn is_plain(&self, node: &Node<'a>, value: &Expr<'a>) -> bool {
        let constant = matches!(value.kind, ExprKind::Literal(Literal::Text(_)));
        constant && matches!(node.kind, NodeKind::Text(_)) && self.suspects.last() != Some(&node.span)
    }

    /// Reads a text: a reference, a template, or a plain text.
    pub(crate) fn text(&mut self, node: &Node<'a>, place: ValuePlace) -> Expr<'a> {
        if self.dialect.is_bare()
            && let Some(reference) = bare(node, self.arena)
            && let Some(found) = self.bare(node, &reference, place)
        {
            return found;
        }
        let left = self.levels_left();
        let template = template(node, self.dialect.sigil(), left, self.arena, &mut self.diagnostics);
        self.text_of(node, &template, place)
    }

    /// A text that is a bare reference; `None` if it is a plain text.
    fn bare(&mut self, node: &Node<'a>, reference: &Reference<'a>, place: ValuePlace) -> Option<Expr<'a>> {
        let Root::Name(name) = reference.root else { return None };
        let is_word = |this: &Self| reference.path.is_empty() && this.survey.is_quoted(name.text);
        if self.named(name.text).is_some() {
            let is_text = self.is_other_failure(name.text) && is_word(self);
            return (!is_text).then(|| self.reference(reference));
        }
        if self.scope.is_lost(name.text) {
            return Some(bad(node.span));
        }
        if !reference.path.is_empty()
            && let Some(meant) = self.resolve_loosely(reference)
        {
            return Some(self.reference(&meant));
        }
        let near = {
            let mut names = self.scope.visible().chain(self.scope.inputs().map(|(name, _)| name));
            names.find(|known| nearly_meets(name.text, known))
        };
        if near.map_or(reference.path.is_empty(), |_| is_word(self)) {
            return None;
        }
        // `released` beside the name `release` is rather another word than a slip.
        let inflects = |(word, of): (&str, &str)| {
            matches!(word.strip_prefix(of), Some("s" | "d")) && !of.ends_with(['s', 'd'])
        };
        let is_form = |known: &&str| inflects((name.text, known)) || inflects((known, name.text));
        if let Some(known) = near.filter(is_form).filter(|_| reference.path.is_empty()) {
            let message = format!("`{}` is a text here, though the name `{known}` is near", name.text);
            let wrong = Diagnostic::new(Code::TextReference, name.span, message);
            self.report(wrong.help(format!("if the value of `{known}` is meant, write `\"{known}\"`")));
            return None;
        }
        let later = |place: &Span| self.binds(name.text) || place.start > node.span.start;
        if let Some(place) = self.survey.binding(name.text).filter(later) {
            self.report(self.not_yet(name, place));
            return Some(bad(node.span));
        }
        let near = self.near_name(name.text).or(near.map(|name| Near { name, sure: false }));
        let as_text = format!("{{\"text\":{}}}", self.source.get(node.span.range()).unwrap_or(""));
        let message = format!("nothing in scope is named `{}`", name.text);
        let wrong = Diagnostic::new(Code::UnknownReference, name.span, message)
            .expected(self.names_in_scope(), format!("`{}`", name.text))
            .help(format!("if it is meant as text, write `{}`", shorten(&as_text)));
        // A label often differs from a name by its capital letter alone.
        let label = name.text.starts_with(char::is_uppercase) && place == ValuePlace::Field;
        let near = near.map(|near| Near { sure: near.sure && !label, ..near });
        let wrong = with_near(wrong, name, near);
        let names_field =
            place == ValuePlace::Field && reference.path.is_empty() && !label && wrong.fix.is_none();
        let is_text = names_field || (near.is_none() && is_file(node.text().unwrap_or("")));
        self.report(if is_text { wrong.replace(node.span, as_text) } else { wrong });
        Some(bad(node.span))
    }

    /// The expression of a template: the value of its only reference, or the joined parts.
    pub(crate) fn text_of(
        &mut self,
        node: &Node<'a>,
        template: &Template<'a>,
        place: ValuePlace,
    ) -> Expr<'a> {
        self.lint(|lints| lints.text(node, template, place));
        if let Some(part) = template.whole() {
            return self.part(node, &part);
        }
        if let Some(text) = template.text() {
            return literal(Literal::Text(text), node.span);
        }
        let parts = self.arena.collect(template.parts.iter().map(|part| self.part(node, part)));
        let levels = parts.len().next_power_of_two().trailing_zeros();
        if !self.fits(levels as usize, node.span) {
            return bad(node.span);
        }
        Expr { kind: ExprKind::Template(parts), span: node.span }
    }

    fn part(&mut self, node: &Node<'a>, part: &Part<'a>) -> Expr<'a> {
        match part {
            Part::Text(text, span) => literal(Literal::Text(text), *span),
            Part::Reference(reference) => self.reference(reference),
            Part::Value(tree) => self.of_tree(node, tree),
            Part::Bad(span) => bad(*span),
        }
    }
}

/// The help if a name may be meant as a subtraction.
const SUBTRACTION: &str = "a hyphen belongs to a name; to subtract, put blanks around it in an expression";

/// Adds the name that is most likely meant in place of another one, with the fix that writes it.
pub(crate) fn with_near(wrong: Diagnostic, name: Name<'_>, near: Option<Near<'_>>) -> Diagnostic {
    let Some(near) = near else { return wrong };
    let fix = rename_part(name, near.name).filter(|_| near.sure);
    let wrong = wrong.nearest(Some(near.name)).fix(fix);
    if subtracts(name.text, near.name) { wrong.help(SUBTRACTION) } else { wrong }
}

fn rename_part(name: Name<'_>, new: &str) -> Option<Fix> {
    let exact = (name.span.end - name.span.start) as usize == name.text.len();
    let kept = exact && is_name(new) && !subtracts(name.text, new);
    kept.then(|| Fix::write(new, name.span, new))
}

/// Whether a name is another name followed by a hyphen and more: a subtraction may be meant, so the rest must
/// not be dropped.
fn subtracts(name: &str, from: &str) -> bool {
    name.strip_prefix(from).is_some_and(|rest| rest.starts_with('-'))
}

/// The most names that are examined for a message.
const MOST_NAMES: usize = 64;

impl<'a> Names<'a> for StepReader<'a> {
    fn resolve(&self, reference: &Reference<'a>) -> Option<Reference<'a>> {
        self.resolve_loosely(reference)
    }

    fn has(&self, name: &str) -> bool {
        self.named(name).is_some()
    }

    fn has_step(&self, name: &str) -> bool {
        self.scope.has_step(name)
    }

    fn has_input(&self, name: &str) -> bool {
        self.scope.input(name).is_some()
    }

    fn is_list(&self, input: &str) -> bool {
        self.lists.contains(&input)
    }

    fn has_function(&self, name: &str) -> bool {
        self.functions.list.iter().any(|&(own, given)| given && own == name)
    }

    fn listed(&self) -> String {
        self.names_in_scope()
    }

    fn is_used_after(&self, name: &str, place: u32) -> bool {
        self.survey.used_after(name, place)
    }

    fn result(&self) -> Option<Span> {
        self.is_result().then_some(self.output.span)
    }

    fn in_loop(&self) -> bool {
        !self.loops.is_empty()
    }
}

/// The first few names; `none` if there are none.
pub(crate) fn listed<'n>(names: impl Iterator<Item = &'n str>, none: &str) -> String {
    let shown = some_of(names);
    if shown.is_empty() { none.to_owned() } else { shown }
}
