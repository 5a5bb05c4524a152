//! Lints for texts that are certainly meant as values: `input.age` without its `$`, `$a * $b` without braces
//! where a text is a text, `'null'`.

use super::Lints;
use crate::ast::{Binary, Literal, Unary};
use crate::diagnostic::{Diagnostic, Diagnostics, Fix};
use crate::dialect::operator::{Makes, Operator};
use crate::dialect::other_operator;
use crate::document::{Node, NodeKind, Text, inner, rename};
use crate::expr::OF_ITEMS;
use crate::expr::reference::{INPUT, Root, Step, Words, bare_text, is_file};
use crate::expr::template::{LookAlike, Part, Template};
use crate::expr::{self, Sign, Tree, TreeKind};
use crate::foreign::{self, Place};
use crate::span::Span;
use crate::steps::references;
use crate::steps::values::ValuePlace;
use crate::text::{name_end, quoted, shorten};
use ilo_spec::error::Code;

/// The longest text, in bytes, that is examined as an expression without braces.
const LONGEST: usize = 400;

impl<'a> Lints<'_, 'a> {
    /// A text of a document or of an infix text.
    pub(crate) fn text(&mut self, node: &Node<'a>, template: &Template<'a>, place: ValuePlace) {
        self.brackets(node);
        let may_compute = template.whole().is_none() && !template.is_bad() && place != ValuePlace::Quoted;
        // What the whole text computes says more than its parts.
        if !may_compute || !self.unmarked_text(node, template.text().is_some(), place) {
            template.look_alikes.iter().for_each(|found| self.look_alike(node, template, found));
        }
    }

    /// `name[0].field`, in a notation with bare names.
    fn brackets(&mut self, node: &Node<'a>) {
        if !self.at.dialect.is_bare() {
            return;
        }
        let text = node.text().unwrap_or("");
        if !text.contains('[') || text.starts_with(['$', '{', '.']) {
            return;
        }
        let Some(path) = expr::path(node, self.at.nesting, self.at.arena) else {
            let of = text.split('[').next().and_then(|of| bare_text(of, node.span, self.at.arena));
            if ["[*]", "[?"].iter().any(|part| text.contains(part))
                && of.is_some_and(|of| self.at.resolve(&of).is_some())
            {
                let message = format!("`{}` is text here", shorten(text));
                let wrong = Diagnostic::new(Code::TextReference, node.span, message);
                self.suspect(node.span, wrong.help(OF_ITEMS));
            }
            return;
        };
        if self.at.resolve(&path).is_none() {
            return;
        }
        let message = format!("`{}` is text here, not a reference", shorten(text));
        let meant = references::own_form(self.at, &path, false);
        self.warn(for_the_value(inner(node), message, &meant, text).replace(inner(node), meant));
    }

    /// Warns about a text that other languages would compute or read as a value. Returns whether it is one.
    fn unmarked_text(&mut self, node: &Node<'a>, plain: bool, place: ValuePlace) -> bool {
        if let Some(tree) = self.computation(node, place) {
            self.reads_as_expression(node, &tree);
            return true;
        }
        let shown = format!("`{}`", shorten(node.text().unwrap_or("")));
        if matches!(node.text(), Some("..." | "…")) {
            let wrong = Diagnostic::new(Code::TextReference, node.span, format!("{shown} is a text here"));
            self.warn(wrong.help("write the value that is left out, or `${'...'}` for this text"));
            return true;
        }
        if node.text().is_some_and(|text| text.starts_with("={{") && text.ends_with("}}")) {
            let message = format!("{shown} is text here, and nothing in it is read");
            let wrong = Diagnostic::new(Code::TextReference, node.span, message);
            let help =
                "write a reference as this notation does, to the name of the step that gives the value";
            let expected = references::names_in_scope(self.at);
            self.suspect(node.span, wrong.expected(expected, shown).help(help));
            return true;
        }
        plain && !self.at.dialect.is_bare() && self.names_without_sigil(node, false)
    }

    /// What a text would compute in braces, if it is certainly meant so: it has an operator or a call, and
    /// all its names are in scope, or it has quotes of its own. What is bound to a name may be a constant
    /// too. A path such as `$dir/$file` is none, and no field behind braces.
    fn computation(&self, node: &Node<'a>, place: ValuePlace) -> Option<Tree<'a>> {
        let text = node.text().filter(|text| text.len() <= LONGEST)?;
        let bound = place == ValuePlace::Bound;
        let mark = text.trim_start_matches('f').bytes().next().filter(|mark| b"'\"".contains(mark));
        let quoted = mark.is_some_and(|mark| {
            text.as_bytes().ends_with(&[mark]) && (mark == b'\'' || text.starts_with('f'))
        });
        let signs = text.contains(['+', '-', '*', '/', '%', '=', '<', '>', '('])
            || ["[$", " ?? ", " ? ", "?."].iter().any(|sign| text.contains(sign))
            || (self.at.dialect.is_bare() && text.ends_with(']'))
            || (text.contains(" if ") && text.contains(" else "))
            || (text.starts_with('[') && text.contains(" for ") && text.contains(" in "));
        let formula = bound || place == ValuePlace::Formula;
        let logical = formula && text.contains([' ', '!', '&', '|']);
        let marks = |byte| matches!(byte, b'.' | b'[' | b'\'');
        let begins = (signs || text.bytes().any(marks)) && !text.contains('$') && self.begins(text);
        let bare = self.at.dialect.is_bare() || formula || quoted || begins;
        let looks = signs || logical || bound || quoted || begins;
        // A blank behind a minus makes a text a line of a list.
        let is_line = text.starts_with("- ");
        if !looks || is_line || !(bare || text.ends_with(')') || text.contains('$')) || pairs(text) {
            return None;
        }
        let mut unseen = Diagnostics::default();
        let sigil = self.at.dialect.sigil();
        let tree = expr::whole(node, sigil, self.at.nesting, self.at.arena, &mut unseen)?;
        let refers = refers(&tree) && (bare || text.contains('$'));
        let constant = bound && tree.name().is_some_and(|name| expr::constant(name.text).is_some());
        let asks = matches!(tree.kind, TreeKind::Call(_, [])) && Self::no_function(&tree).is_some();
        // A text in brackets, such as `[$field]`, is as often a placeholder, and `and` behind a call a word.
        let is_data = match tree.kind {
            TreeKind::Call(name, _) => !bound && !Self::is_function(name.text),
            TreeKind::Binary(Sign::Plain(Binary::And), [a, _], _) => matches!(a.kind, TreeKind::Call(..)),
            TreeKind::Literal(Literal::Text(_)) | TreeKind::Text(_) => !quoted,
            TreeKind::Record(_) => !bound && !begins,
            TreeKind::List(_) | TreeKind::Literal(_) => !bound,
            TreeKind::Path(_) => !constant,
            // Two values with a stroke or a slash between them, as a range has.
            TreeKind::Binary(Sign::Plain(Binary::Sub | Binary::Div), [a, b], _) => {
                let plain = text.starts_with("${") || begins && !self.at.dialect.is_bare();
                !formula && plain && a.path().and(b.path()).is_some()
            }
            TreeKind::Field(..) | TreeKind::Item(_) => text.starts_with("${"),
            _ => false,
        };
        // The item of a comprehension is a name of its own.
        let resolves = match &tree.kind {
            TreeKind::Each(found) => refers && references::resolves(self.at, &found.list),
            _ => {
                constant
                    || references::resolves(self.at, &tree)
                    || bound && (text.contains("=>") || text.contains(" for "))
            }
        };
        let clear = !is_data && !is_tight(node, &tree) && resolves;
        (clear && (refers || asks || formula || quoted)).then_some(tree)
    }

    /// Whether a text begins with a function, with a name in scope that has more of an expression than words
    /// behind it, or with a number and an operator.
    fn begins(&self, text: &str) -> bool {
        if text.starts_with("{'")
            || ["' + ", "\" + "].iter().any(|sum| text.starts_with(&sum[..1]) && text.contains(sum))
        {
            return true;
        }
        let rest = text.strip_prefix("not ").unwrap_or_else(|| text.trim_start_matches('!'));
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let (word, behind) = rest.split_at(name_end(rest, 0).unwrap_or(digits));
        let (sign, operand) = behind.trim_start().split_once(' ').unwrap_or_default();
        let operates = behind.starts_with(' ')
            && matches!(sign, "+" | "-" | "*" | "/" | "%" | "//" | "<" | ">" | "<=" | ">=" | "==" | "!=")
            && !operand.is_empty();
        if behind.starts_with('(') {
            Self::is_function(word)
        } else {
            (operates || digits == 0 && behind.contains(['.', '[', '\'']))
                && (digits > 0 || word == INPUT || self.at.has(word) || self.at.has_input(word))
        }
    }

    fn reads_as_expression(&mut self, node: &Node<'a>, tree: &Tree<'a>) {
        let shown = shorten(node.text().unwrap_or(""));
        let message = format!("`{shown}` is a text here; nothing is computed");
        let wrong = Diagnostic::new(Code::TextArithmetic, node.span, message);
        let warning = match Self::no_function(tree) {
            Some(help) => {
                wrong.expected("the name of a step that computes it", format!("`{shown}`")).help(help)
            }
            None => {
                let text = self.joined_text(tree).unwrap_or_else(|| in_braces(node.text().unwrap_or("")));
                wrong
                    .expected(format!("`{text}` for the result"), format!("`{shown}`"))
                    .replace(node.span, quoted(&text))
            }
        };
        self.suspect(node.span, warning);
    }

    /// Whether a name is that of a function, here or in another language.
    fn is_function(name: &str) -> bool {
        let known = other_operator::known(name).is_some();
        known || other_operator::in_place_of(name).is_some()
    }

    /// What to write instead of a function that does not exist here.
    fn no_function(tree: &Tree<'a>) -> Option<&'static str> {
        let (TreeKind::Call(name, _) | TreeKind::Method(_, name, _)) = tree.kind else { return None };
        let known = other_operator::known(name.text);
        if known.is_some() { None } else { other_operator::in_place_of(name.text) }
    }

    /// The text with references that a sum of texts means.
    fn joined_text(&self, tree: &Tree<'a>) -> Option<String> {
        match &tree.kind {
            TreeKind::Binary(Sign::Plain(Binary::Add), [a, b], _) if is_text(tree) => {
                Some(format!("{}{}", self.joined_text(a)?, self.joined_text(b)?))
            }
            TreeKind::Literal(Literal::Text(text)) => Some(text.replace('$', "$$")),
            TreeKind::Path(reference) => Some(references::own_form(self.at, reference, true)),
            _ => None,
        }
    }

    /// Warns about a piece of text that other languages would read as a value. What is read of it becomes a
    /// suspect.
    fn look_alike(&mut self, node: &Node<'a>, template: &Template<'a>, found: &LookAlike) {
        let Some(words) = Words::of(node, self.at.arena) else { return };
        let ((from, to), (start, end)) = (found.whole, found.inside);
        let (span, inside) = (words.part(from, to), words.get(start, end));
        let all = words.get(from, to);
        let shown = shorten(all);
        let whole = all.len() == words.text.len();
        let alone = whole && !(self.at.dialect.is_bare() && all.contains(['{', '(', '<']));
        let wrong = |message: String| Diagnostic::new(Code::TextReference, span, message);
        let warning = match self.form_of(inside, alone) {
            Some((tree, form)) => {
                let but = if tree.computes() { ": nothing is computed in it" } else { ", not a reference" };
                let value = format!("`{form}` for the value");
                let item = if found.behind { self.item(inside, &tree) } else { Some(true) };
                let before = self.at.source.get(..span.start as usize).unwrap_or("");
                let is_before = |sign: &&str| all.starts_with('{') && before.ends_with(*sign);
                let sign = ["#", "%", "@"].into_iter().find(is_before);
                let sign = sign.or(all.starts_with("$$").then_some("$$"));
                let shown = format!("{}{shown}", sign.filter(|_| all.starts_with('{')).unwrap_or(""));
                match (item, sign) {
                    (None, _) => return,
                    (Some(false), _) => {
                        let (of, item) = inside.rsplit_once('.').unwrap_or_default();
                        wrong(format!("`{shown}` is the value of `${of}` and the text `.{item}` here"))
                            .expected(
                                format!("{value}, or `${{{of}}}.{item}` for that text"),
                                format!("`{shown}`"),
                            )
                            .help("write an item of a list in braces")
                    }
                    (_, Some(sign)) => wrong(format!("`{shown}` is text here{but}"))
                        .expected(value, format!("`{shown}`"))
                        .help(format!("write `{form}`, or `{sign}{form}` for the sign before the value")),
                    _ => {
                        let but = if all.starts_with('$') && !form.starts_with('$') {
                            ": names have no `$`"
                        } else {
                            but
                        };
                        let wrong = wrong(format!("`{shown}` is text here{but}"))
                            .expected(value, format!("`{shown}`"));
                        words.fix(wrong.help(format!("write `{form}`")), from, to, &form)
                    }
                }
            }
            None if self.is_code(all, inside) => {
                wrong(format!("`{shown}` is text here: nothing is computed in it"))
                    .expected("the name of a step that computes it", format!("`{shown}`"))
                    .help("compute it in a step of its own, and refer to that step here")
            }
            None => return,
        };
        let read = template.parts.iter().find_map(|part| match part {
            Part::Reference(reference) if reference.span.start == span.start => Some(reference.span),
            _ => None,
        });
        self.found(if whole { Some(node.span) } else { read }, warning);
    }

    /// The expression that a piece of text in brackets of another language is (`x * 2`, `x | upper`), and its
    /// form here, if its names are in scope.
    fn form_of(&self, inside: &str, alone: bool) -> Option<(Tree<'a>, String)> {
        let text = match inside.split_once('|').filter(|_| !inside.contains("||")) {
            Some((value, filters)) => {
                let first = value.trim().to_owned();
                filters.split('|').try_fold(first, |value, filter| filtered_by(&value, filter))?
            }
            None => inside.trim().to_owned(),
        };
        let text = in_braces(&text);
        let node = Node::of_text(self.at.arena.alloc_str(&text), Span::at(0));
        let (sigil, mut unseen) = (self.at.dialect.sigil(), Diagnostics::default());
        let tree = expr::whole(&node, sigil, self.at.nesting, self.at.arena, &mut unseen)?;
        if let Some(path) = tree.path() {
            let meant = self.at.resolve(&path)?;
            return Some((tree, self.at.dialect.own_form(&meant, !alone)));
        }
        let known =
            refers(&tree) && references::resolves(self.at, &tree) && Self::no_function(&tree).is_none();
        known.then_some((tree, text))
    }

    /// Whether a piece of text is code of another language, of which nothing is read here: brackets that only
    /// templates have, around the name of a value or a root of that language.
    fn is_code(&self, shown: &str, inside: &str) -> bool {
        let names = inside.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')));
        let is_value = |name: &str| self.at.has(name) || self.at.has_input(name);
        let is_root = |name: &str| foreign::meaning(Place::Root, name).is_some();
        let mut paths = names.map(|path| path.split('.').collect::<Vec<_>>());
        ["{{", "{%", "<%"].iter().any(|open| shown.starts_with(open))
            && (inside.trim_start().starts_with('$')
                || paths.any(|path| {
                    path.iter().any(|name| is_value(name))
                        || matches!(path[..], [root, _, ..] if is_root(root))
                }))
    }

    /// Whether a number behind a reference certainly meant an item of a list; `None` if it certainly did not.
    fn item(&self, inside: &str, tree: &Tree<'a>) -> Option<bool> {
        let Some(reference) = tree.path().filter(|_| !inside.contains(['?', '('])) else { return Some(true) };
        let path = reference.path;
        let first = path.iter().position(|step| matches!(step, Step::Index(..)))?;
        let list = match (reference.root, path) {
            (Root::Input, [Step::Field(name), Step::Index(..), ..]) => self.at.lists.contains(&name.text),
            _ => false,
        };
        let goes_on = path.len() > first + 1;
        let digit = matches!(path.get(first), Some(Step::Index(..=9, _)));
        (list || goes_on || digit).then_some(list || goes_on)
    }

    /// Warns about a text that is the path of a name in scope without its `$`; about a bare name only if
    /// `alone` is set. Returns whether it is one.
    pub(crate) fn names_without_sigil(&mut self, node: &Node<'a>, alone: bool) -> bool {
        if self.at.dialect.is_bare() {
            return false;
        }
        let text = node.text().unwrap_or("");
        // With a leading dot, as in `jq`.
        let plain = text.strip_prefix('.').unwrap_or(text);
        let Some(reference) = bare_text(plain, node.span, self.at.arena) else { return false };
        if !alone && (is_file(text) || reference.path.is_empty()) {
            return false;
        }
        let Some(meant) = self.at.resolve(&reference) else { return false };
        let fixed = self.at.dialect.own_form(&meant, false);
        let message = format!("`{}` is text here: a reference begins with `$`", shorten(text));
        let warning = for_the_value(inner(node), message, &fixed, text);
        self.suspect(node.span, warning.fix(rename(node, &fixed)));
        true
    }

    /// Adds that an operation uses the text itself.
    pub(crate) fn constant(&mut self, node: &Node<'a>, does: &str) {
        let shown = shorten(node.text().unwrap_or(""));
        let warning =
            Diagnostic::new(Code::TextReference, node.span, format!("{does} the text `{shown}` itself"))
                .expected(references::names_in_scope(self.at), format!("`{shown}`"))
                .help("refer to a value by its name");
        self.suspect(node.span, warning);
    }

    /// Warns about a constant operand that makes no sense: the length of a text, or a comparison with
    /// `"null"`.
    pub(crate) fn operand(&mut self, operator: &Operator, node: &Node<'a>) {
        let NodeKind::Text(text) = node.kind else { return };
        if matches!(operator.spelling, "==" | "!=") {
            return self.null_text(text.text, node.span, true);
        }
        if matches!(operator.spelling, "concat" | ">" | ">=" | "<" | "<=")
            || matches!(operator.makes, Makes::Apply(_))
        {
            return;
        }
        if !self.names_without_sigil(node, true) && operator.makes == Makes::Unary(Unary::Len) {
            self.constant(node, "this measures");
        }
    }

    /// Warns about a comparison with `'null'` in an expression.
    pub(crate) fn quoted_null(&mut self, node: &Node<'a>, tree: &Tree<'a>) {
        let TreeKind::Literal(Literal::Text(text)) = tree.kind else { return };
        self.null_text(text, tree.span, matches!(node.kind, NodeKind::Text(Text { start: Some(_), .. })));
    }

    /// Warns about a text that is compared, if it is the word of a constant; `exact` says that it is in the
    /// source as it is.
    fn null_text(&mut self, text: &str, span: Span, exact: bool) {
        if matches!(expr::constant(text), Some(Literal::Nil)) {
            let message = format!("`{}` in quotes is a text", shorten(text));
            let warning = Diagnostic::new(Code::QuotedNull, span, message)
                .expected("`null` for what is absent", "a text");
            let fix = exact.then(|| Fix::write("null", span, "null"));
            self.suspect(span, warning.fix_or_help(fix, "write `null`"));
        }
    }
}

/// The warning about a text that should be a reference.
fn for_the_value(place: Span, message: String, reference: &str, text: &str) -> Diagnostic {
    Diagnostic::new(Code::TextReference, place, message)
        .expected(format!("`{reference}` for the value"), format!("`{}`", shorten(text)))
}

/// Whether a path is in an expression.
fn refers(tree: &Tree<'_>) -> bool {
    let mut found = matches!(tree.kind, TreeKind::Path(_));
    tree.children(&mut |child| found |= refers(child));
    found
}

/// Whether an expression has a `/` or `-` without blanks on both sides, as a path or a range has.
fn is_tight(node: &Node<'_>, tree: &Tree<'_>) -> bool {
    let text = node.text().unwrap_or("").as_bytes();
    let blank = |at: Option<usize>| at.and_then(|at| text.get(at)).is_none_or(u8::is_ascii_whitespace);
    let start = if let NodeKind::Text(text) = node.kind { text.start } else { None };
    let mut found = match (tree.kind, start) {
        (
            TreeKind::Binary(Sign::Plain(Binary::Div | Binary::Sub) | Sign::FloorDiv, _, place),
            Some(start),
        ) => {
            let at = |place: u32| place.checked_sub(start).and_then(|at| usize::try_from(at).ok());
            !(blank(at(place.start).and_then(|at| at.checked_sub(1))) && blank(at(place.end)))
        }
        _ => false,
    };
    tree.children(&mut |child| found |= is_tight(node, child));
    found
}

/// Whether an operand is certainly a text, so that adding to it means joining.
fn is_text(tree: &Tree<'_>) -> bool {
    match tree.kind {
        TreeKind::Literal(Literal::Text(_)) | TreeKind::Text(_) => true,
        TreeKind::Binary(Sign::Plain(Binary::Add), [a, b], _) => is_text(b) || is_text(a),
        _ => false,
    }
}

/// A value behind a filter: `x | join(', ')` is `join(x, ', ')`.
fn filtered_by(value: &str, filter: &str) -> Option<String> {
    let filter = filter.trim().trim_end_matches(')');
    let (name, operands) = filter.split_once('(').unwrap_or((filter, ""));
    if other_operator::is_default(name) && !operands.is_empty() {
        return Some(format!("{value} ?? {operands}"));
    }
    let own = other_operator::known(name)?.spelling;
    Some(format!("{own}({value}{}{operands})", if operands.is_empty() { "" } else { ", " }))
}

/// A text as an expression in braces, in which a reference needs no `$`.
fn in_braces(text: &str) -> String {
    let plain = if text.contains(['{', '"', '\'', '`']) { text.to_owned() } else { text.replace('$', "") };
    if plain.starts_with('{') { format!("${{ {plain} }}") } else { format!("${{{plain}}}") }
}

/// Whether a text has a single sign of equality, as pairs such as `name=value` have.
fn pairs(text: &str) -> bool {
    text.as_bytes().split(|byte| !b"=<>!+-~".contains(byte)).any(|sign| sign == b"=")
}
