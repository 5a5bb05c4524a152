//! Texts and the references in them: which slot each one reads, and what to say of one that reads nothing.

use super::doubt::Place;
use super::reader::{Reader, literal, nothing, of_slot};
use crate::ast::{Binary, Expr, ExprKind, Field, Literal, Name, Slot};
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix, Mark};
use crate::dialect::Key;
use crate::dialect::reference::{FAILURES, INPUT, Reference, Root, Step, bare, bracketed};
use crate::dialect::template::{Part, Sigil, Template, template};
use crate::document::{Kind, Node, Style, Text};
use crate::notation::Notation;
use crate::span::Span;
use crate::text::is_name;
use crate::text::{Near, near, nearly_meets};
use ilo_spec::error::Code;
use ilo_spec::program::Number;

/// What helps where a name may mean a difference.
const SUBTRACTION: &str = "a hyphen belongs to a name; to subtract, stand it between blanks in an expression";
/// How many names a message looks at.
const MOST_NAMES: usize = 64;

impl<'a> Reader<'_, 'a> {
    /// A text: a reference, a text with references, or plain.
    pub(crate) fn text(&mut self, node: &Node<'a>, place: Place) -> Expr<'a> {
        if self.dialect.is_bare()
            && let Some(reference) = bare(node, self.arena)
            && let Some(found) = self.bare(node, &reference)
        {
            return found;
        }
        if self.dialect.is_bare()
            && let Some((name, dotted)) = bracketed(node, self.arena)
            && let Some(text) = node.text()
            && text.get(..name).is_some_and(|name| self.named(name).is_some())
        {
            let shown = crate::text::shorten(text);
            let mut warning = Diagnostic::new(
                Code::TextReference,
                inner(node),
                format!("`{shown}` is text here, no reference"),
            )
            .expected(format!("`{dotted}` for the value"), format!("`{shown}`"));
            warning.fix = Some(replaced(inner(node), dotted));
            self.report(warning);
        }
        let before = self.diagnostics.mark();
        let template = template(node, self.dialect.sigil(), self.arena, self.diagnostics);
        if self.diagnostics.has_since(before) {
            self.own_words(node, before);
        }
        self.text_of(node, &template, place)
    }

    /// Mends `${.n + 1}`, where that is all of a text of JSON, with the operation.
    fn computes_inside(&self, node: &Node<'a>, wrong: &mut Diagnostic) -> bool {
        let text = node.text().unwrap_or("");
        let Some(inside) = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else {
            return false;
        };
        if inside.contains(['$', '{', '}', '|', '?']) || self.dialect.is_yaml() {
            return false;
        }
        let inside = format!(" {inside}").replace(" .", " $.").replace("(.", "($.");
        let Some(mended) = self.operation_of(self.arena.alloc_str(&inside), node.span) else { return false };
        wrong.expected = Some(format!("`{mended}`"));
        wrong.help = None;
        wrong.fix = Some(replaced(node.span, mended));
        true
    }

    /// Puts the reference that is meant, in this notation's form, into what was said of broken ones.
    fn own_words(&mut self, node: &Node<'a>, before: Mark) {
        let whole = node.text().unwrap_or("").len();
        let mut list = core::mem::take(self.diagnostics);
        list.reword(before, |wrong| {
            if wrong.fix.is_none() && self.computes_inside(node, wrong) {
                return;
            }
            let edit = wrong.fix.as_mut().and_then(|fix| fix.edits.first_mut());
            let Some(edit) = edit.filter(|edit| edit.text.starts_with("${")) else { return };
            let text = self.arena.alloc_str(&edit.text);
            let kind = Kind::Text(Text { text, style: Style::Block, start: None });
            let inside = Node { kind, span: edit.span };
            let reference = template(&inside, Sigil::Dollar, self.arena, &mut Diagnostics::default()).whole();
            let Some(meant) = reference.and_then(|reference| self.meant(&reference)) else { return };
            let alone = (edit.span.end - edit.span.start) as usize == whole && !self.dialect.is_bare();
            edit.text = self.own_form(&meant, !alone);
            let text = edit.text.clone();
            wrong.expected = Some(format!("`{text}`"));
            wrong.help = None;
            wrong.fix = Some(replaced(edit.span, text));
        });
        *self.diagnostics = list;
    }

    /// A text that is a bare reference; `None` where it is text.
    fn bare(&mut self, node: &Node<'a>, reference: &Reference<'a>) -> Option<Expr<'a>> {
        let Root::Name(name) = reference.root else { return None };
        if self.named(name.text).is_some() {
            return Some(self.reference(reference));
        }
        if self.scope.is_lost(name.text) {
            return Some(nothing(node));
        }
        if !reference.path.is_empty()
            && let Some(meant) = self.meant(reference)
        {
            self.says_more(reference, &meant);
            return Some(self.reference(&meant));
        }
        let near = {
            let mut names = self.scope.visible().chain(self.scope.inputs().map(|(name, _)| name));
            names.find(|known| nearly_meets(name.text, known))
        };
        if near.is_none() && reference.path.is_empty() {
            return None;
        }
        let bound = self.survey.binding(name.text);
        if let Some(place) = bound.filter(|_| self.naming.contains(&name.text)) {
            self.report(self.not_yet(name, place));
            return Some(nothing(node));
        }
        let later = bound.filter(|place| place.start > node.span.start);
        let (code, message) = match later {
            Some(_) => (Code::LaterReference, format!("`{}` is bound only by a later step", name.text)),
            None => (Code::UnknownReference, format!("nothing in scope is named `{}`", name.text)),
        };
        let near = self.near_name(name.text).or(near.map(|name| Near { name, sure: false }));
        let mut wrong = Diagnostic::new(code, name.span, message)
            .expected(self.names_in_scope(), format!("`{}`", name.text))
            .nearest(near.map(|near| near.name))
            .help("where it is meant as text, write `{\"text\": …}` around it");
        wrong.fix = near.and_then(|near| rename_near(name, near));
        if near.is_some_and(|near| subtracts(name.text, near.name)) {
            wrong = wrong.help(SUBTRACTION);
        }
        let text = node.text().unwrap_or("");
        if near.is_none() && later.is_none() && super::doubt::is_file(text) {
            wrong = wrong.replace(
                node.span,
                format!("{{\"text\":{}}}", self.source.get(node.span.range()).unwrap_or("")),
            );
        }
        if let Some(span) = later {
            wrong = wrong.related(span, "bound here");
        }
        self.report(wrong);
        Some(nothing(node))
    }

    /// Reports a bare reference under a root that there is none of.
    fn says_more(&mut self, reference: &Reference<'a>, meant: &Reference<'a>) {
        let mended = self.own_form(meant, false);
        let written = self.source.get(reference.span.range()).unwrap_or("");
        let message = "an input or a variable is referred to by its name alone";
        let mut wrong = Diagnostic::new(Code::UnknownReference, reference.span, message)
            .expected(format!("`{mended}`"), format!("`{}`", crate::text::shorten(written)));
        wrong.fix = Some(replaced(reference.span, mended));
        self.report(wrong);
    }

    /// What a template makes: the one value that it is, or everything joined.
    pub(crate) fn text_of(&mut self, node: &Node<'a>, template: &Template<'a>, place: Place) -> Expr<'a> {
        if let Some(found) = self.sister_reference(node, template) {
            return found;
        }
        for foreign in template.foreign {
            if let Some(meant) = self.meant(&foreign.reference) {
                self.look_alike(node, foreign, &meant);
            }
        }
        if let Some(reference) = template.whole() {
            return self.reference(&reference);
        }
        let plain = template.text();
        self.doubtful_text(node, plain.is_some(), place);
        if let Some(text) = plain {
            return literal(Literal::Text(text), node.span);
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

    /// Whether what a reference begins with is there.
    fn refers(&self, reference: &Reference<'a>) -> bool {
        match (reference.root, reference.path) {
            (Root::Input, [Step::Field(name), ..]) => self.scope.input(name.text).is_some(),
            (Root::Input, _) => false,
            (Root::Name(name), _) => {
                let is_failure = FAILURES.contains(&name.text) && !self.failures.is_empty();
                is_failure || self.scope.knows(name.text) || self.scope.input(name.text).is_some()
            }
        }
    }

    /// `$name` as a whole text, where names are bare.
    fn sister_reference(&mut self, node: &Node<'a>, template: &Template<'a>) -> Option<Expr<'a>> {
        let [foreign] = template.foreign else { return None };
        let text = node.text()?;
        let whole = text.starts_with('$') && node.part(0..text.len()) == foreign.reference.span;
        if !whole || !self.dialect.is_bare() || !self.refers(&foreign.reference) {
            return None;
        }
        let plain = foreign.reference.to_string();
        let plain = plain.trim_start_matches('.');
        let message = format!("`{text}` is text here, where names stand without `$`");
        let mut warning = Diagnostic::new(Code::TextReference, foreign.reference.span, message)
            .expected(format!("`{plain}` for the value"), format!("`{text}`"));
        warning.fix = Some(replaced(foreign.reference.span, plain.to_owned()));
        self.report(warning);
        Some(literal(Literal::Text(template.text()?), node.span))
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

    /// A reference as this notation writes it; `how` is `$` for the short form, `{` for the one in braces.
    fn written(&self, reference: &Reference<'a>, how: char) -> String {
        self.dialect.written(reference, how)
    }

    /// A reference as a text of its own here, or inside a longer text.
    pub(crate) fn own_form(&self, reference: &Reference<'a>, inside: bool) -> String {
        self.dialect.own_form(reference, inside)
    }

    /// Reports a reference in a sister's form, with the form that it has here.
    fn sister_form(&mut self, reference: &Reference<'a>, what: &str) {
        let written = self.source.get(reference.span.range()).unwrap_or("");
        let mended = self.written(reference, if written.starts_with("${") { '{' } else { '$' });
        let mut wrong = Diagnostic::new(Code::BadReference, reference.span, what.to_owned())
            .expected(format!("`{mended}`"), format!("`{}`", crate::text::shorten(written)));
        if written.starts_with('$') {
            wrong.fix = Some(replaced(reference.span, mended));
        }
        self.report(wrong);
    }

    /// Whether an input is written as this notation does.
    fn input_form(&mut self, reference: &Reference<'a>) {
        let written = self.source.get(reference.span.range()).unwrap_or("");
        if !written.starts_with('$') {
            return;
        }
        let says_input = written.trim_start_matches(['$', '{', ' ']).starts_with(INPUT);
        let right = match self.dialect.notation {
            Notation::ToolCalling => says_input,
            // The failure hides an input of its name.
            Notation::Constrained => {
                let first = reference.path.first();
                !self.failures.is_empty()
                    && written.starts_with("${.")
                    && matches!(first, Some(Step::Field(name)) if FAILURES.contains(&name.text))
            }
            _ => !says_input || reference.path.is_empty(),
        };
        if !right {
            self.sister_form(reference, "this is another notation's form of an input");
        }
    }

    /// The slot that a name stands for here.
    pub(crate) fn named(&self, name: &str) -> Option<Slot> {
        match self.failures.last() {
            Some(&failure) if FAILURES.contains(&name) => Some(failure),
            _ => self.scope.find(name),
        }
    }

    /// A reference to the value that it stands for.
    pub(crate) fn reference(&mut self, reference: &Reference<'a>) -> Expr<'a> {
        let (mut value, path) = match (reference.root, reference.path) {
            (Root::Input, []) => (self.all_inputs(reference.span), reference.path),
            (Root::Input, [Step::Field(name), rest @ ..]) => {
                let Some(slot) = self.scope.input(name.text) else {
                    return self.unknown_input(*name, reference);
                };
                self.input_form(reference);
                (of_slot(slot, reference.span), rest)
            }
            (Root::Input, _) => return literal(Literal::Nil, reference.span),
            (Root::Name(name), path) => match self.named(name.text) {
                Some(slot) => {
                    let failure = self.failures.last() == Some(&slot) && FAILURES.contains(&name.text);
                    if failure && name.text != self.dialect.failure() {
                        self.sister_form(reference, "the failure has another name here");
                    }
                    self.failure_field(name, reference);
                    (of_slot(slot, reference.span), path)
                }
                None => return self.unknown(name, reference),
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

    /// Warns of `$error.message`: what a tool fails with is a text.
    fn failure_field(&mut self, name: Name<'a>, reference: &Reference<'a>) {
        let [Step::Field(field)] = reference.path else { return };
        let failure = self.failures.last().filter(|_| FAILURES.contains(&name.text));
        if failure.is_none() || !self.failure_is_text || !matches!(field.text, "message" | "msg") {
            return;
        }
        let whole = Reference { path: &[], ..*reference };
        let written = self.source.get(reference.span.range()).unwrap_or("");
        let mended = match written.as_bytes() {
            [b'$', b'{', ..] => self.written(&whole, '{'),
            [b'$', ..] => self.written(&whole, '$'),
            _ => whole.to_string(),
        };
        let message = format!("what a tool fails with is a text, which has no field `{}`", field.text);
        let mut warning = Diagnostic::new(Code::FailureField, reference.span, message)
            .expected(format!("`{mended}`"), format!("`{}`", crate::text::shorten(written)));
        warning.fix = Some(replaced(reference.span, mended));
        self.report(warning);
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

    fn unknown_input(&mut self, name: Name<'a>, reference: &Reference<'a>) -> Expr<'a> {
        let span = reference.span;
        if let Some(meant) = self.meant(reference) {
            let message = format!("no input is named `{}`", name.text);
            let wrong = Diagnostic::new(Code::UnknownReference, name.span, message);
            let wrong = self.means(wrong, reference, &meant);
            self.report(wrong);
            return literal(Literal::Nil, span);
        }
        let names: Vec<&'a str> = self.scope.inputs().map(|(name, _)| name).collect();
        let near = near(name.text, names.iter().copied());
        let message = format!("no input is named `{}`", name.text);
        let mut wrong = Diagnostic::new(Code::UnknownReference, name.span, message)
            .expected(listed(names.iter().copied(), "an input; there are none"), format!("`{}`", name.text))
            .nearest(near.map(|near| near.name));
        wrong.fix = near.and_then(|near| rename_near(name, near));
        if near.is_some_and(|near| subtracts(name.text, near.name)) {
            wrong = wrong.help(SUBTRACTION);
        } else if wrong.fix.is_none() {
            wrong = wrong.help("declare it among the inputs");
        }
        self.report(wrong);
        literal(Literal::Nil, span)
    }

    fn unknown(&mut self, name: Name<'a>, reference: &Reference<'a>) -> Expr<'a> {
        let nil = literal(Literal::Nil, reference.span);
        if self.scope.is_lost(name.text) {
            return nil;
        }
        let found = format!("`{}`", name.text);
        let wrong = if FAILURES.contains(&name.text) {
            let word = self.dialect.word(Key::Handler);
            let message =
                format!("`{}` is the failure of a call, and stands only in its `{word}`", name.text);
            Diagnostic::new(Code::UnknownReference, name.span, message)
                .expected(self.names_in_scope(), found)
                .help("bind what is needed outside in the handler")
        } else if let Some(in_loop) = self.scope.has_left(name.text) {
            let (message, help) = if in_loop {
                (
                    "was bound in a loop that has ended",
                    "what a loop yields is read under the name of the loop's own step",
                )
            } else {
                (
                    "names what a block gives",
                    "what a block gives is read under the name of the block's own step",
                )
            };
            Diagnostic::new(Code::UnknownReference, name.span, format!("`{}` {message}", name.text))
                .expected(self.names_in_scope(), found)
                .help(help)
        } else if let Some(place) = self.survey.binding(name.text) {
            self.not_yet(name, place)
        } else {
            self.nothing_named(name, reference)
        };
        self.report(wrong);
        nil
    }

    /// What to say of a name that some step binds, or stands over, but that has no value here.
    pub(crate) fn not_yet(&self, name: Name<'a>, place: Span) -> Diagnostic {
        let text = name.text;
        let wrong = |code, message| {
            Diagnostic::new(code, name.span, message)
                .expected("a name that an earlier step binds", format!("`{text}`"))
                .related(place, "bound here")
        };
        if self.naming.contains(&text) {
            return if self.failures.is_empty() {
                let message = format!("`{text}` is read in the very step that binds it");
                wrong(Code::UnknownReference, message).help(
                    "bind it in a step before this one, which then binds it again; in a loop, before the loop",
                )
            } else {
                let message = format!("`{text}` has no value where its own call failed");
                wrong(Code::UnknownReference, message)
                    .help("a call that failed leaves nothing to undo: roll back what steps before it did")
            };
        }
        if let Some(own) = self.scope.renamed(text) {
            let message = format!("the value of the step `{text}` is named `{own}` by its `let`");
            let mut wrong = wrong(Code::UnknownReference, message).nearest(Some(own));
            wrong.expected = Some(format!("`{own}`"));
            wrong.fix = rename_part(name, own);
            return wrong;
        }
        if place.start > name.span.start {
            let message = format!("`{text}` is bound only by a later step");
            return wrong(Code::LaterReference, message)
                .help("steps run in the order of the file: put that step before this one");
        }
        let message = format!("the step `{text}` has no value");
        wrong(Code::UnknownReference, message).help(
            "a loop has one where its last step is what a pass yields; steps that end or undo have none",
        )
    }

    /// What to say of a name that nothing has.
    fn nothing_named(&self, name: Name<'a>, reference: &Reference<'a>) -> Diagnostic {
        let message = format!("nothing is named `{}` here", name.text);
        let wrong = Diagnostic::new(Code::UnknownReference, name.span, message)
            .expected(self.names_in_scope(), format!("`{}`", name.text));
        if let Some(meant) = self.meant(reference) {
            return self.means(wrong, reference, &meant);
        }
        let near = self.near_name(name.text);
        let mut wrong = wrong.nearest(near.map(|near| near.name));
        wrong.fix = near.and_then(|near| rename_near(name, near));
        let behind = self.source.get(reference.span.end as usize..).unwrap_or("");
        let help = if let Some(instead) = in_place_of_root(name.text) {
            instead
        } else if behind.starts_with('(') {
            "nothing is called in a text: name what is computed in a step of its own, and refer to that"
        } else {
            "bind it in a step before; a plain dollar sign is written `$$`"
        };
        match near {
            None => wrong.help(help),
            Some(near) if subtracts(name.text, near.name) => wrong.help(SUBTRACTION),
            Some(_) => wrong,
        }
    }

    /// A reference to what is not there that stands for one to what is.
    fn means(&self, wrong: Diagnostic, reference: &Reference<'a>, meant: &Reference<'a>) -> Diagnostic {
        let written = self.source.get(reference.span.range()).unwrap_or("");
        // In infix and in texts as in a text of its own, but for braces that are there already.
        let inside = written.starts_with("${") && self.dialect.notation == Notation::Mcp;
        let mended = if self.dialect.notation == Notation::ToolCalling && written.starts_with("${") {
            self.written(meant, '{')
        } else {
            self.own_form(meant, inside || self.dialect.is_bare())
        };
        let found = format!("`{}`", crate::text::shorten(written));
        let wrong = wrong.expected(format!("`{mended}`"), found).nearest(Some(&mended));
        if written.starts_with('$') { wrong.replace(reference.span, mended.as_str()) } else { wrong }
    }

    fn near_name(&self, name: &str) -> Option<Near<'a>> {
        let bare = self.scope.inputs().filter(|_| self.dialect.is_bare()).map(|(name, _)| name);
        near(name, self.scope.visible().take(MOST_NAMES).chain(bare.take(MOST_NAMES)))
    }

    pub(crate) fn names_in_scope(&self) -> String {
        let inputs = self.scope.inputs().filter(|_| self.dialect.is_bare()).map(|(name, _)| name);
        let all = self.scope.visible().take(MOST_NAMES).chain(inputs);
        listed(all, "a name that a step before has bound; there are none")
    }
}

/// What to do in place of a root that other languages have.
fn in_place_of_root(name: &str) -> Option<&'static str> {
    Some(match name {
        "env" | "ENV" | "secrets" | "secret" | "process" | "vault" => {
            "a program sees no environment: the tools file gives tools what they need, and inputs give the rest"
        }
        "now" | "today" | "date" | "uuid" | "random" => "a tool gives it, in a step with `call`, or an input",
        "prev" | "previous" | "last" | "result" | "output" | "it" | "_" => {
            "name the step that gives it with `let`, and refer to that name"
        }
        "index" | "i" | "loop" => {
            "count in a variable that is bound to 0 before the loop, and bound again in each pass"
        }
        _ => return None,
    })
}

fn replaced(span: Span, text: String) -> Fix {
    Fix { title: format!("write `{text}`"), edits: vec![Edit { span, text }] }
}

/// The mend that writes another name.
/// The mend that writes what a name is sure to mean.
fn rename_near(name: Name<'_>, near: Near<'_>) -> Option<Fix> {
    rename_part(name, near.name).filter(|_| near.sure)
}

fn rename_part(name: Name<'_>, new: &str) -> Option<Fix> {
    let exact = (name.span.end - name.span.start) as usize == name.text.len();
    let kept = exact && is_name(new) && !subtracts(name.text, new);
    kept.then(|| replaced(name.span, new.to_owned()))
}

/// Whether a name is another one, a hyphen, and more: what was meant may be to subtract that, and must not be dropped.
fn subtracts(name: &str, from: &str) -> bool {
    name.strip_prefix(from).is_some_and(|rest| rest.starts_with('-'))
}

/// Where a text's own bytes stand, where they stand in the source as they read; else all of it.
pub(crate) fn inner(node: &Node<'_>) -> Span {
    match node.kind {
        Kind::Text(Text { text, style: Style::Double | Style::Single | Style::Plain, .. }) => {
            node.part(0..text.len())
        }
        _ => node.span,
    }
}

/// The first few of some names; what to say where there are none.
fn listed<'n>(names: impl Iterator<Item = &'n str>, none: &str) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<String> = names.take(SHOWN + 1).map(|name| format!("`{name}`")).collect();
    if shown.len() > SHOWN {
        shown.truncate(SHOWN);
        shown.push("…".to_owned());
    }
    if shown.is_empty() { none.to_owned() } else { shown.join(", ") }
}
