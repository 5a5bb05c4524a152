//! Lints for texts that are certainly meant as values: `input.age` without its `$`, `$a * $b` in a context in
//! which nothing is computed, `'null'`.

use super::Lints;
use crate::ast::{Binary, Literal, Unary};
use crate::diagnostic::Diagnostic;
use crate::dialect::infix::{Infix, InfixKind, arithmetic, call, choice, is_text, operators};
use crate::dialect::operator::{self, Form, Makes, Operator};
use crate::dialect::other_operator::{self, Written};
use crate::dialect::reader_habits::Place;
use crate::dialect::reference::{Reference, Root, Step, bare_text, bracketed, is_file};
use crate::dialect::template::{Look, LookAlike, Part, Template};
use crate::document::{Entry, Kind, Node, Text};
use crate::document::{inner, rename};
use crate::span::Span;
use crate::text::shorten;
use ilo_spec::error::Code;

/// Texts that are null in other languages.
const NULLS: [&str; 5] = ["null", "nil", "None", "undefined", "NULL"];

impl<'a> Lints<'_, '_, 'a> {
    /// A text of a document or of an infix text.
    pub(super) fn text(&mut self, node: &Node<'a>, template: &Template<'a>, place: Place) {
        self.brackets(node);
        if self.dollar_reference(node, template) {
            return;
        }
        let before = self.warnings.len();
        if template.whole().is_none() && place != Place::Quoted {
            self.unmarked_text(node, template.text().is_some(), place);
        }
        // What the whole text computes says more than its parts.
        if self.warnings.len() > before {
            return;
        }
        for found in template.look_alikes {
            if let Some(meant) = self.at.names.resolve(&found.reference) {
                self.look_alike(node, template, found, &meant);
            }
        }
    }

    /// `name[0].field`, in a notation with bare names.
    fn brackets(&mut self, node: &Node<'a>) {
        if !self.at.dialect.is_bare() {
            return;
        }
        let Some((name, dotted)) = bracketed(node, self.at.arena) else { return };
        let text = node.text().unwrap_or("");
        if !text.get(..name).is_some_and(|name| self.at.names.has(name)) {
            return;
        }
        let message = format!("`{}` is text here, not a reference", shorten(text));
        self.warn(for_the_value(inner(node), message, &dotted, text).replace(inner(node), dotted));
    }

    /// `$name` as a whole text, in a notation with bare names.
    fn dollar_reference(&mut self, node: &Node<'a>, template: &Template<'a>) -> bool {
        let [found] = template.look_alikes else { return false };
        let text = node.text().unwrap_or("");
        let whole = text.starts_with('$') && node.part(0..text.len()) == found.reference.span;
        if !whole || !self.at.dialect.is_bare() || self.at.names.resolve(&found.reference).is_none() {
            return false;
        }
        let plain = self.at.own_form(&found.reference, false);
        let message = format!("`{text}` is text here: names are written without `$`");
        let warning = for_the_value(found.reference.span, message, &plain, text);
        self.warn(warning.replace(found.reference.span, plain));
        true
    }

    /// Warns about a text that other languages would compute or read as a value.
    pub(super) fn unmarked_text(&mut self, node: &Node<'a>, plain: bool, place: Place) {
        let formula = place == Place::Formula;
        if (!plain || self.at.dialect.is_bare() || formula)
            && let Some(meant) =
                arithmetic(node, self.at.dialect.sigil(), formula, self.at.nesting, self.at.arena)
            && (!(plain || formula) || self.at.resolves(&meant))
        {
            return self.reads_as_arithmetic(node, &meant);
        }
        if self.reads_as_call(node) || self.reads_as_choice(node, formula) {
            return;
        }
        if plain && !self.at.dialect.is_bare() {
            self.names_without_sigil(node, false);
        }
    }

    fn reads_as_arithmetic(&mut self, node: &Node<'a>, meant: &Infix<'a>) {
        let shown = shorten(node.text().unwrap_or(""));
        let message = format!("`{shown}` is a text here; nothing is computed");
        let wrong = Diagnostic::new(Code::TextArithmetic, node.span, message);
        let reference = |reference: &Reference<'a>| self.at.own_form(reference, false);
        let fixed = if self.at.dialect.is_yaml() {
            let text = self.joined_text(meant).map(|text| crate::document::yaml::quoted(&text));
            text.or_else(|| operators(meant, self.at.dialect.sigil(), &reference))
        } else {
            operators(meant, self.at.dialect.sigil(), &reference)
        };
        let warning = match fixed {
            Some(fixed) => wrong
                .expected(format!("`{fixed}` for the result"), format!("`{shown}`"))
                .replace(node.span, fixed),
            None => wrong.expected("a value", format!("`{shown}`")).help(format!(
                "compute it in a step of its own, with `expr: {shown}`, and refer to that step"
            )),
        };
        self.suspect(node.span, warning);
    }

    /// The text with references that a sum of texts means.
    fn joined_text(&self, meant: &Infix<'a>) -> Option<String> {
        match &meant.kind {
            InfixKind::Binary(Binary::Add, a, b) if is_text(meant) => {
                Some(format!("{}{}", self.joined_text(a)?, self.joined_text(b)?))
            }
            InfixKind::Literal(Literal::Text(text)) => Some(text.replace('$', "$$")),
            InfixKind::Reference(reference) => Some(self.at.own_form(reference, true)),
            _ => None,
        }
    }

    /// Warns about a piece of text that other languages would read as a value; `meant` is the reference in
    /// it.
    fn look_alike(
        &mut self,
        node: &Node<'a>,
        template: &Template<'a>,
        found: &LookAlike<'a>,
        meant: &Reference<'a>,
    ) {
        let whole = found.is_whole(node);
        let form = self.at.dialect.own_form(meant, !whole || self.at.dialect.is_bare());
        let shown = shorten(found.shown(node));
        let wrong = |message: String| Diagnostic::new(Code::TextReference, found.span(node), message);
        let warning = match found.look {
            Look::Reference => found.warning(node, &form),
            Look::Filtered => {
                let filter = found.shown(node).split_once('|').map_or("", |(_, filter)| filter.trim());
                let help = if filter.starts_with("default") {
                    format!("one of two values is a step: {}", self.at.dialect.choice_form())
                } else {
                    "what a filter does is done in a step of its own before".to_owned()
                };
                wrong(format!("`{shown}` is text here, and there are no filters"))
                    .expected(format!("`{form}` for the value"), format!("`{shown}`"))
                    .help(help)
            }
            Look::Computed => wrong(format!("`{shown}` is text here: nothing is computed in it"))
                .expected("the name of a step that computes it", format!("`{shown}`"))
                .help("compute it in a step of its own, and refer to that step here"),
            Look::Called => {
                let (of, name) = found.shown(node).rsplit_once('.').unwrap_or_default();
                let name = name.trim_end_matches("()");
                let function = operator::find(name).or_else(|| other_operator::meant(name));
                let help = match function {
                    Some(function) => {
                        let form = computed_form(function, of);
                        format!("a step with `{form}` under `expr` computes it, and is referred to here")
                    }
                    None => other_operator::in_place_of(name, Written::Record)
                        .unwrap_or_else(|| "a tool computes it, in a step with `call`".to_owned()),
                };
                wrong(format!("`{shown}` is text here from its last dot on: nothing is called"))
                    .expected("the name of a step that computes it", format!("`{shown}`"))
                    .help(help)
            }
            Look::Indexed => match self.indexed(found) {
                Some(true) => found.warning(node, &form),
                Some(false) => {
                    let (of, item) = found.shown(node).rsplit_once('.').unwrap_or_default();
                    let plain = of.trim_start_matches('$').to_owned();
                    wrong(format!("`{shown}` is the value of `{of}` and the text `.{item}` here"))
                        .expected(
                            format!("`{form}` for the item, or `${{{plain}}}.{item}` for that text"),
                            format!("`{shown}`"),
                        )
                        .help("write an item of a list in braces")
                }
                None => return,
            },
        };
        if whole {
            self.suspect(node.span, warning);
        } else if let Some(read) = reference_at(template, found) {
            self.suspect(read, warning);
        } else {
            self.warn(warning);
        }
    }

    /// Whether a number after a reference certainly meant an item of a list; `None` if it certainly did not.
    fn indexed(&self, found: &LookAlike<'a>) -> Option<bool> {
        let path = found.reference.path;
        let first = path.iter().position(|step| matches!(step, Step::Index(..)))?;
        let list = match (found.reference.root, path) {
            (Root::Input, [Step::Field(name), Step::Index(..), ..]) => self.at.names.is_list(name.text),
            _ => false,
        };
        let goes_on = path.len() > first + 1;
        let digit = matches!(path.get(first), Some(Step::Index(..=9, _)));
        (list || goes_on || digit).then_some(list || goes_on)
    }

    /// Warns about a text with a function call of other languages, which is not an expression here:
    /// `startsWith(x, 'a')`, `max(a, b)`, `x.trim()` in a notation with bare names, `now()`.
    fn reads_as_call(&mut self, node: &Node<'a>) -> bool {
        let text = node.text().unwrap_or("");
        let Some((name, operands)) = call(text) else { return false };
        let (of, method) = name.rsplit_once('.').unwrap_or(("", name));
        let is_method = self.at.dialect.is_bare() && self.refers(of);
        let called = if is_method { method } else { name };
        let function = operator::find(called)
            .or_else(|| other_operator::meant(called))
            .filter(|found| found.form == Form::Function);
        let instead = other_operator::in_place_of(called, Written::Record);
        let help = match function {
            Some(function) if is_method => format!("write `{}`", computed_form(function, of)),
            Some(function) => {
                format!("`{}` takes {}: `{{\"{0}\": …}}`", function.spelling, function.operands())
            }
            None => instead.unwrap_or_default(),
        };
        if help.is_empty() {
            return false;
        }
        let refers = is_method || operands.split(',').any(|operand| self.refers(operand));
        let asks_nothing = operands.trim().is_empty() && other_operator::is_of_tool(called);
        if !refers && !asks_nothing {
            return false;
        }
        let shown = shorten(text);
        let message = format!("`{shown}` is a text here; nothing is computed");
        let warning = Diagnostic::new(Code::TextArithmetic, node.span, message)
            .expected("the name of a step that computes it", format!("`{shown}`"))
            .help(help);
        self.suspect(node.span, warning);
        true
    }

    /// Whether a text is a reference in any form to something in scope.
    fn refers(&self, text: &str) -> bool {
        let text = text.trim();
        if !self.at.dialect.is_bare() && !text.starts_with('$') {
            return false;
        }
        let text = text.trim_start_matches(['$', '{', '.']).trim_end_matches('}');
        let reference = bare_text(text, Span::at(0), self.at.arena);
        reference.is_some_and(|reference| self.at.names.resolve(&reference).is_some())
    }

    /// Warns about `$x ? 1 : 2` and `1 if $x else 2` in a context in which something is computed.
    fn reads_as_choice(&mut self, node: &Node<'a>, formula: bool) -> bool {
        let text = node.text().filter(|text| formula || text.contains('?'));
        let Some((condition, then, otherwise)) = text.and_then(choice) else { return false };
        let operation = self.at.operation_of(condition, node.span);
        let first = condition.split([' ', '.']).next().unwrap_or("");
        let refers = condition.contains('$') || self.at.names.has(first) || self.at.names.has_input(first);
        if operation.is_none() && !(formula && refers) {
            return false;
        }
        let shown = shorten(node.text().unwrap_or(""));
        let form = if self.at.dialect.is_yaml() {
            format!("`if: {condition}`, `then: {then}`, `else: {otherwise}`")
        } else {
            let condition = operation.unwrap_or_else(|| format!("\"{condition}\""));
            let quoted = |value: &str| value.replace('\'', "\"");
            let (then, otherwise) = (quoted(then), quoted(otherwise));
            format!("`\"if\": {condition}, \"then\": {then}, \"else\": {otherwise}`")
        };
        let message = format!("`{shown}` is a text here; nothing is chosen");
        let warning = Diagnostic::new(Code::TextArithmetic, node.span, message)
            .expected(format!("{form} beside `let`"), format!("`{shown}`"))
            .help(format!("one of two values is a step: {}", self.at.dialect.choice_form()));
        self.suspect(node.span, warning);
        true
    }

    /// Warns about a text that is the path of a name in scope without its `$`; about a bare name only if
    /// `alone` is set.
    pub(super) fn names_without_sigil(&mut self, node: &Node<'a>, alone: bool) {
        if self.at.dialect.is_bare() {
            return;
        }
        let text = node.text().unwrap_or("");
        // With a leading dot, as in `jq`.
        let plain = text.strip_prefix('.').unwrap_or(text);
        let Some(reference) = bare_text(plain, node.span, self.at.arena) else { return };
        let file = is_file(text);
        if !alone && (file || reference.path.is_empty()) {
            return;
        }
        let Some(meant) = self.at.names.resolve(&reference) else { return };
        let fixed = self.at.dialect.own_form(&meant, false);
        let message = format!("`{}` is text here: a reference begins with `$`", shorten(text));
        let warning = for_the_value(inner(node), message, &fixed, text);
        self.suspect(node.span, warning.fix(rename(node, &fixed)));
    }

    /// Warns about an argument that is the name of the value that was certainly meant: `{"user-id":
    /// "user-id"}`.
    pub(super) fn names_itself(&mut self, entry: &Entry<'a>) {
        if entry.name().is_some() && entry.name() == entry.value.text() {
            self.names_without_sigil(&entry.value, true);
        }
    }

    /// Adds that an operation uses the text itself.
    pub(super) fn constant(&mut self, node: &Node<'a>, does: &str) {
        let shown = shorten(node.text().unwrap_or(""));
        let warning =
            Diagnostic::new(Code::TextReference, node.span, format!("{does} the text `{shown}` itself"))
                .expected(self.at.names.listed(), format!("`{shown}`"))
                .help("refer to a value by its name");
        self.suspect(node.span, warning);
    }

    /// Warns about a constant operand that makes no sense: the length of a text, or a comparison with
    /// `"null"`.
    pub(super) fn operand(&mut self, operator: &Operator, node: &Node<'a>) {
        let Kind::Text(text) = node.kind else { return };
        if matches!(operator.spelling, "==" | "!=") {
            if NULLS.contains(&text.text) {
                let message = format!("`{}` in quotes is a text", shorten(text.text));
                let warning = Diagnostic::new(Code::QuotedNull, node.span, message)
                    .expected("`null` for what is absent", "a text")
                    .replace(node.span, "null");
                self.suspect(node.span, warning);
            }
            return;
        }
        if matches!(operator.spelling, "concat" | ">" | ">=" | "<" | "<=")
            || matches!(operator.makes, Makes::Apply(_))
        {
            return;
        }
        let before = self.warnings.len();
        self.names_without_sigil(node, true);
        if before == self.warnings.len() && operator.makes == Makes::Unary(Unary::Len) {
            self.constant(node, "this measures");
        }
    }

    /// Warns about a comparison with `'null'` in infix text.
    pub(super) fn quoted_null(&mut self, node: &Node<'a>, tree: &Infix<'a>) {
        let InfixKind::Literal(Literal::Text(text)) = tree.kind else { return };
        if !NULLS.contains(&text) {
            return;
        }
        let exact = matches!(node.kind, Kind::Text(Text { start: Some(_), .. }));
        let warning = Diagnostic::new(Code::QuotedNull, tree.span, format!("`{text}` in quotes is a text"))
            .expected("`null` for what is absent", "a text");
        let warning = if exact { warning.replace(tree.span, "null") } else { warning.help("write `null`") };
        self.suspect(tree.span, warning);
    }
}

/// The warning about a text that should be a reference.
fn for_the_value(place: Span, message: String, reference: &str, text: &str) -> Diagnostic {
    Diagnostic::new(Code::TextReference, place, message)
        .expected(format!("`{reference}` for the value"), format!("`{}`", shorten(text)))
}

/// The span of the reference at the start of what looks like a longer one.
fn reference_at(template: &Template<'_>, found: &LookAlike<'_>) -> Option<Span> {
    template.parts.iter().find_map(|part| match part {
        Part::Reference(reference) if reference.span.start == found.reference.span.start => {
            Some(reference.span)
        }
        _ => None,
    })
}

/// A function of one value, as an operation.
fn computed_form(function: &Operator, of: &str) -> String {
    let name = function.spelling;
    if function.least() == 1 {
        return format!("{{\"{name}\": \"{of}\"}}");
    }
    let rest = ", …".repeat(function.least().saturating_sub(1));
    format!("{{\"{name}\": [\"{of}\"{rest}]}}")
}
