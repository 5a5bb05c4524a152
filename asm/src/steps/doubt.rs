//! What is text or a record where it stands, but was surely meant as a value: `input.age`, `$a * $b`, `{"length": "$xs"}`.
//!
//! All of it is a warning with the mend, since a text is a text and a record a record. Each is noted as a doubt, of which
//! checking assumes nothing: where it makes a type fail, the warning becomes that error, and nothing follows from it.

use super::reader::StepReader;
use crate::ast::{Binary, Expr, ExprKind, Literal, Unary};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::dialect::infix::{Infix, InfixKind, arithmetic, is_text, operators};
use crate::dialect::operator::{self, Makes, Operator, in_place_of};
use crate::dialect::reference::{Reference, Root, Step, bare};
use crate::dialect::template::{Foreign, Look, Sigil};
use crate::document::edit::mendable;
use crate::document::rename;
use crate::document::{Entry, Kind, Node, Style, Text};
use crate::span::Span;
use crate::text::shorten;
use ilo_spec::error::Code;

/// What ends the names of files and hosts, which look like fields of a variable.
const ENDINGS: [&str; 20] = [
    "json", "csv", "txt", "pdf", "md", "yaml", "yml", "xml", "html", "png", "jpg", "svg", "log", "toml",
    "zip", "com", "org", "net", "io", "dev",
];
/// Texts that are null in other languages.
const NULLS: [&str; 5] = ["null", "nil", "None", "undefined", "NULL"];
/// Where a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Where it may well be data.
    Data,
    /// Where something is computed: `expr`, a condition, an operand.
    Formula,
}

impl<'a> StepReader<'_, 'a> {
    /// Reports what was most likely meant otherwise; `whole` is the expression that it makes.
    pub(crate) fn doubt(&mut self, whole: Span, warning: Diagnostic) {
        if !self.at.reported {
            self.suspects.push(whole);
            self.report(warning);
        }
    }

    /// Warns of a text that other languages would compute or take for a value.
    pub(crate) fn doubtful_text(&mut self, node: &Node<'a>, plain: bool, place: Place) {
        let formula = place == Place::Formula;
        if (!plain || self.dialect.is_bare() || formula)
            && let Some(meant) = arithmetic(node, self.dialect.sigil(), formula, self.nesting, self.arena)
            && (!(plain || formula) || self.all_known(&meant))
        {
            return self.reads_as_arithmetic(node, &meant);
        }
        if self.reads_as_choice(node, formula) {
            return;
        }
        if plain && !self.dialect.is_bare() {
            self.names_without_sigil(node, false);
        }
    }

    /// Whether all that an expression refers to is there.
    fn all_known(&self, tree: &Infix<'a>) -> bool {
        match &tree.kind {
            InfixKind::Reference(reference) => self.meant(reference).is_some(),
            InfixKind::Literal(_) => true,
            InfixKind::Template(_) => false,
            InfixKind::Unary(_, operand) => self.all_known(operand),
            InfixKind::Binary(_, a, b) => self.all_known(a) && self.all_known(b),
        }
    }

    /// The operation that a text means where something is computed.
    pub(crate) fn operation_of(&self, text: &'a str, span: Span) -> Option<String> {
        let kind = Kind::Text(Text { text, style: Style::Block, start: None });
        let node = Node { kind, span };
        let meant = arithmetic(&node, Sigil::Dollar, true, self.nesting, self.arena)?;
        let reference = |reference: &Reference<'a>| {
            self.dialect.own_form(&self.meant(reference).unwrap_or(*reference), false)
        };
        self.all_known(&meant).then(|| operators(&meant, self.dialect.sigil(), &reference))?
    }

    fn reads_as_arithmetic(&mut self, node: &Node<'a>, meant: &Infix<'a>) {
        let shown = shorten(node.text().unwrap_or(""));
        let wrong = Diagnostic::new(
            Code::TextArithmetic,
            node.span,
            format!("`{shown}` is a text here; nothing is computed"),
        );
        let reference = |reference: &Reference<'a>| {
            let meant = self.meant(reference).unwrap_or(*reference);
            self.dialect.own_form(&meant, false)
        };
        let mended = if self.dialect.is_yaml() {
            let text = self.joined_text(meant).map(|text| crate::document::yaml::quoted(&text));
            text.or_else(|| operators(meant, self.dialect.sigil(), &reference))
        } else {
            operators(meant, self.dialect.sigil(), &reference)
        };
        let warning = match mended {
            Some(mended) => wrong
                .expected(format!("`{mended}` for the result"), format!("`{shown}`"))
                .replace(node.span, mended),
            None => wrong.expected("a value", format!("`{shown}`")).help(format!(
                "compute it in a step of its own, with `expr: {shown}`, and refer to that step"
            )),
        };
        self.doubt(node.span, warning);
    }

    /// The text with values in it that a sum of texts means.
    fn joined_text(&self, meant: &Infix<'a>) -> Option<String> {
        match &meant.kind {
            InfixKind::Binary(Binary::Add, a, b) if is_text(meant) => {
                Some(format!("{}{}", self.joined_text(a)?, self.joined_text(b)?))
            }
            InfixKind::Literal(Literal::Text(text)) => Some(text.replace('$', "$$")),
            InfixKind::Reference(reference) => {
                Some(self.dialect.own_form(&self.meant(reference).unwrap_or(*reference), true))
            }
            _ => None,
        }
    }

    /// Warns of a piece of text that other languages would take for a value; `meant` is the reference in it.
    pub(crate) fn look_alike(&mut self, node: &Node<'a>, foreign: &Foreign<'a>, meant: &Reference<'a>) {
        let whole = foreign.is_whole(node);
        let form = self.dialect.own_form(meant, !whole || self.dialect.is_bare());
        let shown = shorten(foreign.shown(node));
        let wrong = |message: String| Diagnostic::new(Code::TextReference, foreign.span(node), message);
        let warning = match foreign.look {
            Look::Reference => foreign.warning(node, &form),
            Look::Filtered => {
                let filter = foreign.shown(node).split_once('|').map_or("", |(_, filter)| filter.trim());
                let help = if filter.starts_with("default") {
                    format!("one of two values is a step: {}", self.dialect.choice_form())
                } else {
                    "what a filter does is done in a step of its own before".to_owned()
                };
                wrong(format!("`{shown}` is text here, and there are no filters"))
                    .expected(format!("`{form}` for the value"), format!("`{shown}`"))
                    .help(help)
            }
            Look::Called => {
                let (of, name) = foreign.shown(node).rsplit_once('.').unwrap_or_default();
                let help = in_place_of(name.trim_end_matches("()"))
                    .unwrap_or("what no operator computes a tool does, in a step with `call`");
                let measures = operator::meant(name.trim_end_matches("()"))
                    .filter(|found| found.makes == Makes::Unary(Unary::Len));
                let help = measures.map_or(help.to_owned(), |_| {
                    format!(
                        "a step with `{{\"len\": \"{of}\"}}` under `expr` counts, and is referred to here"
                    )
                });
                wrong(format!("`{shown}` is text here from its last dot on: nothing is called"))
                    .expected("the name of a step that computes it", format!("`{shown}`"))
                    .help(help)
            }
            Look::Indexed => match self.indexed(foreign) {
                Some(true) => foreign.warning(node, &form),
                Some(false) => {
                    let (of, item) = foreign.shown(node).rsplit_once('.').unwrap_or_default();
                    let plain = of.trim_start_matches('$').to_owned();
                    wrong(format!("`{shown}` is the value of `{of}` and the text `.{item}` here"))
                        .expected(
                            format!("`{form}` for the item, or `${{{plain}}}.{item}` for that text"),
                            format!("`{shown}`"),
                        )
                        .help("an item of a list stands in braces")
                }
                None => return,
            },
        };
        if whole {
            self.doubt(node.span, warning);
        } else {
            self.report(warning);
        }
    }

    /// Whether an item of a list was meant for sure, by a number behind a reference; `None` where surely not.
    fn indexed(&self, foreign: &Foreign<'a>) -> Option<bool> {
        let path = foreign.reference.path;
        let first = path.iter().position(|step| matches!(step, Step::Index(..)))?;
        let list = match (foreign.reference.root, path) {
            (Root::Input, [Step::Field(name), Step::Index(..), ..]) => self.lists.contains(&name.text),
            _ => false,
        };
        let goes_on = path.len() > first + 1;
        let digit = matches!(path.get(first), Some(Step::Index(..=9, _)));
        (list || goes_on || digit).then_some(list || goes_on)
    }

    /// Warns of `$x ? 1 : 2` and `1 if $x else 2`, where something is computed.
    fn reads_as_choice(&mut self, node: &Node<'a>, formula: bool) -> bool {
        let text = node.text().filter(|text| formula || text.contains('?'));
        let Some((condition, then, otherwise)) = text.and_then(choice) else { return false };
        let operation = self.operation_of(condition, node.span);
        let first = condition.split([' ', '.']).next().unwrap_or("");
        let refers =
            condition.contains('$') || self.named(first).is_some() || self.scope.input(first).is_some();
        if operation.is_none() && !(formula && refers) {
            return false;
        }
        let shown = shorten(node.text().unwrap_or(""));
        let form = if self.dialect.is_yaml() {
            format!("`if: {condition}`, `then: {then}`, `else: {otherwise}`")
        } else {
            let condition = operation.unwrap_or_else(|| format!("\"{condition}\""));
            let quoted = |value: &str| value.replace('\'', "\"");
            let (then, otherwise) = (quoted(then), quoted(otherwise));
            format!("`\"if\": {condition}, \"then\": {then}, \"else\": {otherwise}`")
        };
        let warning = Diagnostic::new(
            Code::TextArithmetic,
            node.span,
            format!("`{shown}` is a text here; nothing is chosen"),
        )
        .expected(format!("{form} beside `let`"), format!("`{shown}`"))
        .help(format!("one of two values is a step: {}", self.dialect.choice_form()));
        self.doubt(node.span, warning);
        true
    }

    /// Warns of a text that is the path of a name in scope without its `$`; of a name alone where `alone` says so.
    pub(crate) fn names_without_sigil(&mut self, node: &Node<'a>, alone: bool) {
        if self.dialect.is_bare() {
            return;
        }
        let text = node.text().unwrap_or("");
        // As `jq` has it, with a dot before.
        let kind = Kind::Text(Text {
            text: text.strip_prefix('.').unwrap_or(text),
            style: Style::Block,
            start: None,
        });
        let Some(reference) = bare(&Node { kind, span: node.span }, self.arena) else { return };
        let file = is_file(text);
        if !alone && (file || reference.path.is_empty()) {
            return;
        }
        let Some(meant) = self.meant(&reference) else { return };
        let mended = self.dialect.own_form(&meant, false);
        let shown = shorten(text);
        let mut warning = Diagnostic::new(
            Code::TextReference,
            crate::document::inner(node),
            format!("`{shown}` is text here: a reference begins with `$`"),
        )
        .expected(format!("`{mended}` for the value"), format!("`{shown}`"));
        warning.fix = rename(node, &mended);
        self.doubt(node.span, warning);
    }

    /// Warns of an argument that has the name of what it was surely meant to hold: `{"user-id": "user-id"}`.
    pub(crate) fn names_itself(&mut self, entry: &Entry<'a>) {
        if entry.name().is_some() && entry.name() == entry.value.text() {
            self.names_without_sigil(&entry.value, true);
        }
    }

    /// Warns of a `match` of a text itself.
    pub(crate) fn constant_subject(&mut self, node: &Node<'a>, value: &Expr<'a>) {
        if matches!(value.kind, ExprKind::Literal(Literal::Text(_)))
            && self.suspects.last() != Some(&node.span)
        {
            self.constant(node, "this matches");
        }
    }

    /// Says that a text itself is what something is done with.
    fn constant(&mut self, node: &Node<'a>, does: &str) {
        let shown = shorten(node.text().unwrap_or(""));
        let warning =
            Diagnostic::new(Code::TextReference, node.span, format!("{does} the text `{shown}` itself"))
                .expected(self.names_in_scope(), format!("`{shown}`"))
                .help("refer to a value by its name");
        self.doubt(node.span, warning);
    }

    /// Warns of a case that is the default in other languages.
    pub(crate) fn doubtful_case(&mut self, key: &Node<'a>, text: &str, has_default: bool) {
        if has_default || !matches!(text, "else" | "otherwise" | "*" | "any" | "fallback" | "_default") {
            return;
        }
        let mut warning = Diagnostic::new(
            Code::DefaultCase,
            key.span,
            format!("`{text}` is a case like any other: it meets that text alone"),
        )
        .expected("`default` for all other values", format!("`{text}`"));
        warning.fix = rename(key, "default");
        self.report(warning);
    }

    /// Warns of a case that is several in other languages: `"gold|silver"`.
    pub(crate) fn several_cases(&mut self, key: &Node<'a>, value: &Node<'a>, text: &str) {
        let names: Vec<&str> = text.split('|').map(str::trim).collect();
        let words =
            |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_- ".contains(c));
        if names.len() < 2 || !names.iter().all(words) {
            return;
        }
        let warning = Diagnostic::new(
            Code::SeveralCases,
            key.span,
            format!("`{}` is one text here, with the sign in it", shorten(text)),
        )
        .expected("a case for each value", format!("`{}`", shorten(text)));
        let inside = self.source.get(value.span.range()).filter(|_| mendable(value.span));
        // A case may also stand in a list of two.
        let between = self.source.get(key.span.end as usize..value.span.start as usize).unwrap_or("");
        let written =
            between.contains(':') && self.source.get(key.span.range()).unwrap_or("").starts_with('"');
        self.report(match inside.filter(|_| written && !self.dialect.is_yaml()) {
            Some(inside) => {
                let blank = if self.dialect.is_bare() { "" } else { " " };
                let cases: Vec<String> =
                    names.iter().map(|name| format!("\"{name}\":{blank}{inside}")).collect();
                let span = Span::new(key.span.start, value.span.end);
                let edits = vec![Edit { span, text: cases.join(&format!(",{blank}")) }];
                warning.fix(Fix { title: "write a case for each".to_owned(), edits })
            }
            None => warning.help("write a case for each of them, with the same value"),
        });
    }

    pub(crate) fn no_constant(&mut self, node: &Node<'a>, value: &Expr<'a>) {
        let constant = matches!(value.kind, ExprKind::Literal(Literal::Text(_)));
        if constant && matches!(node.kind, Kind::Text(_)) && self.suspects.last() != Some(&node.span) {
            self.names_without_sigil(node, true);
        }
    }

    /// Warns of a constant as an operand that makes no sense of one: a text that is measured, or `"null"` compared with.
    pub(crate) fn doubtful_operand(&mut self, operator: &Operator, node: &Node<'a>, read: &Expr<'a>) {
        let Kind::Text(text) = node.kind else { return };
        if !matches!(read.kind, ExprKind::Literal(Literal::Text(_)))
            || self.suspects.last() == Some(&node.span)
        {
            return;
        }
        if matches!(operator.spelling, "==" | "!=") {
            if NULLS.contains(&text.text) {
                let message = format!("`{}` in quotes is a text", shorten(text.text));
                let warning = Diagnostic::new(Code::QuotedNull, node.span, message)
                    .expected("`null` for what is absent", "a text")
                    .replace(node.span, "null");
                self.doubt(node.span, warning);
            }
            return;
        }
        if matches!(operator.spelling, "concat" | ">" | ">=" | "<" | "<=") {
            return;
        }
        let before = self.suspects.len();
        self.names_without_sigil(node, true);
        if before == self.suspects.len() && operator.makes == Makes::Unary(Unary::Len) {
            self.constant(node, "this measures");
        }
    }

    /// Warns of `'null'` in infix, where something is compared with it.
    pub(crate) fn quoted_null(&mut self, node: &Node<'a>, tree: &Infix<'a>) {
        let InfixKind::Literal(Literal::Text(text)) = tree.kind else { return };
        if !NULLS.contains(&text) {
            return;
        }
        let exact = matches!(node.kind, Kind::Text(Text { start: Some(_), .. }));
        let warning = Diagnostic::new(Code::QuotedNull, tree.span, format!("`{text}` in quotes is a text"))
            .expected("`null` for what is absent", "a text");
        let warning = if exact { warning.replace(tree.span, "null") } else { warning.help("write `null`") };
        self.doubt(tree.span, warning);
    }
}

/// Whether a dotted text is most likely the name of a file or host.
pub(crate) fn is_file(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(_, last)| ENDINGS.contains(&last))
}

/// The condition and the two values of `c ? a : b` and `a if c else b`.
fn choice(text: &str) -> Option<(&str, &str, &str)> {
    if let Some((condition, rest)) = text.split_once(" ? ") {
        let (then, otherwise) = rest.split_once(" : ")?;
        return Some((condition.trim(), then.trim(), otherwise.trim()));
    }
    let (then, rest) = text.split_once(" if ")?;
    let (condition, otherwise) = rest.split_once(" else ")?;
    Some((condition.trim(), then.trim(), otherwise.trim()))
}
