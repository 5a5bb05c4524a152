//! Lints for records and lists that other languages would compute, look up or run, but that are data here.

use super::Lints;
use crate::ast::Unary;
use crate::diagnostic::{Diagnostic, Diagnostics, Fix};
use crate::dialect::operator::{self, Form, Makes, Operator};
use crate::dialect::step_forms::{is_step, step_of_keys};
use crate::dialect::{Key, other_operator};
use crate::document::{Entry, Node, NodeKind, entries, first_of, rename};
use crate::expr::reference::{INPUT, Reference, bare, bare_text};
use crate::expr::template::{Sigil, template};
use crate::foreign;
use crate::steps::habits::operations::by_keys;
use crate::steps::values::ValuePlace;
use ilo_spec::error::Code;

impl<'a> Lints<'_, 'a> {
    /// Warns about a record that other languages would compute or look up.
    pub(crate) fn record(&mut self, node: &Node<'a>, place: ValuePlace) {
        let list = entries(node);
        if list.iter().any(|entry| entry.is(|name| foreign::is(foreign::Place::Spread, name))) {
            let merge = self.at.dialect.word(Key::Merge);
            let form = format!("`{merge}` with that record and `set` with the other fields");
            return self.data(node, &form, None, format!("write {form}"));
        }
        if let Some((operator, _)) = by_keys(list) {
            return self.operation(node, operator);
        }
        if let [only] = list
            && let Some(name) = only.name()
        {
            return self.only_entry(node, only, name, place);
        }
        let sign = |name: &str| operator::find(name).filter(|found| found.form != Form::Function);
        let signs = || list.iter().map(|entry| entry.name().and_then(sign));
        if let Some(Some(first)) = signs().next().filter(|_| signs().all(|found| found.is_some())) {
            return self.operation(node, first);
        }
        let keys = list.iter().filter_map(Entry::name);
        if step_of_keys(&keys) {
            self.step_as_data(node);
        }
    }

    /// Warns about a record in the place of a step whose only key says in other languages that it yields.
    pub(crate) fn yields(&mut self, node: &Node<'a>) {
        let [only] = entries(node) else { return };
        if let Some(help) = only.name().and_then(foreign::advice).filter(|help| help.contains("`yield`")) {
            self.data(node, "`yield`", None, help.to_owned());
        }
    }

    /// Warns that a record is data, which becomes a suspect: how to write its result, and the fix that does.
    fn data(&mut self, node: &Node<'a>, form: &str, fix: Option<Fix>, help: String) {
        let marked = if self.at.dialect.is_yaml() { "`obj:`" } else { "`{\"obj\": {…}}`" };
        let message = "this record is data here: nothing in it is computed, called or looked up";
        let warning = Diagnostic::new(Code::RecordOperation, first_of(node), message)
            .expected(format!("{form} for the result, or {marked} around it for the record"), "a record");
        self.suspect(node.span, warning.fix_or_help(fix, help));
    }

    fn operation(&mut self, node: &Node<'a>, operator: &Operator) {
        let spelling = operator.spelling;
        let form = match operator.makes {
            Makes::Unary(_) => format!("`{{\"{spelling}\": …}}`"),
            Makes::Binary(_) => format!("`{{\"{spelling}\": […, …]}}`"),
            Makes::Apply(_) => format!("`{{\"{spelling}\": […]}}`"),
        };
        self.data(node, &form, None, format!("write {form}"));
    }

    /// A record with one key that is a reference, an operation or a choice in other languages.
    fn only_entry(&mut self, node: &Node<'a>, entry: &'a Entry<'a>, name: &str, place: ValuePlace) {
        let dialect = self.at.dialect;
        if let Some(meant) = self.referred(entry, name) {
            let fixed = dialect.own_form(&meant, false);
            let form = if dialect.is_yaml() { fixed } else { format!("\"{fixed}\"") };
            let fix = (!dialect.is_yaml()).then(|| Fix::write(&form, node.span, form.as_str()));
            return self.data(node, &format!("`{form}`"), fix, format!("write `{form}`"));
        }
        let operands = if let NodeKind::List(items) = entry.value.kind { items.len() } else { 1 };
        if let Some(operator) = operator::find(name).filter(|found| !found.is_everywhere()) {
            // It is an operator only where something is computed.
            let expr = dialect.word(Key::Expr);
            let form =
                if dialect.is_yaml() { format!("`{expr}:`") } else { format!("`{{\"{expr}\": …}}`") };
            if operator.takes(operands) {
                let help = format!("`{name}` computes only under `{expr}`, in conditions and in operations");
                self.data(node, &format!("{form} around it"), None, help);
            }
            return;
        }
        let word = name.strip_prefix('$').unwrap_or(name);
        if self.at.functions.list.iter().any(|&(own, given)| given && own == name) {
            let (blank, call, args) = (dialect.blank(), dialect.word(Key::Call), dialect.word(Key::Args));
            let form = format!("`{{\"{call}\":{blank}\"{name}\",{blank}\"{args}\":{blank}{{…}}}}`");
            return self.data(node, &form, None, format!("write {form} to call the function `{name}`"));
        }
        if is_step(name) && !entry.value.is_scalar() {
            return self.step_as_data(node);
        }
        if let Some(instead) =
            other_operator::in_place_of_record(word).filter(|_| place == ValuePlace::Formula || word != name)
        {
            return self.data(node, "a step of its own", None, instead);
        }
        let exact = operator::find(word).filter(|_| word != name);
        let Some(meant) = exact.or_else(|| other_operator::meant(word)) else { return };
        // A word may well be a field. It is suspect in a context in which something is computed, or if its
        // value fits no other reading.
        let measures = meant.makes == Makes::Unary(Unary::Len) && self.is_list_input(&entry.value);
        // No data has a field such as `toUpperCase`.
        let method = ["to", "parse"].iter().any(|prefix| name.starts_with(prefix))
            && name.contains(|c: char| c.is_ascii_uppercase());
        let operates = method
            || word != name
            || place == ValuePlace::Formula
            || measures
            || operands > 1 && name != "in";
        if operates && meant.takes(operands) && (operands == 1) == (meant.least() == 1) {
            let form = format!("`{{\"{}\": …}}`", meant.spelling);
            self.data(node, &form, rename(&entry.key, meant.spelling), format!("write {form}"));
        }
    }

    /// The reference that `{"var": "x"}` and `{"$input": "x"}` are in other languages.
    fn referred(&self, entry: &Entry<'a>, name: &str) -> Option<Reference<'a>> {
        if foreign::is(foreign::Place::Reference, name) {
            return self.at.resolve(&bare(&entry.value, self.at.arena)?);
        }
        let root = name.strip_prefix('$').filter(|root| *root == INPUT || self.at.has(root))?;
        let path = format!("{root}.{}", entry.value.text()?);
        self.at.resolve(&bare_text(&path, entry.value.span, self.at.arena)?)
    }

    /// Warns about `["+", "$x", 1]`, which is a list of three items here.
    pub(crate) fn list(&mut self, node: &Node<'a>, items: &'a [Node<'a>], place: ValuePlace) {
        let [first, operands @ ..] = items else { return };
        let Some(operator) = first.text().and_then(operator::find) else { return };
        let refers = |operand: &Node<'a>| match operand.kind {
            NodeKind::Text(text) if self.at.dialect.is_bare() => {
                let first = text.text.split('.').next().unwrap_or("");
                self.at.has(first)
            }
            NodeKind::Text(text) => text.text.starts_with('$'),
            NodeKind::List([first, ..]) => first.text().and_then(operator::find).is_some(),
            _ => false,
        };
        if !operator.takes(operands.len()) || !(place == ValuePlace::Formula || operands.iter().any(refers)) {
            return;
        }
        let spelling = operator.spelling;
        let blank = self.at.dialect.blank();
        let form = if operands.len() == 1 {
            format!("{{\"{spelling}\":{blank}…}}")
        } else {
            format!("{{\"{spelling}\":{blank}[…]}}")
        };
        let warning =
            Diagnostic::new(Code::RecordOperation, first_of(node), "this list is data, and computes nothing")
                .expected(format!("`{form}` for the result"), "a list that begins with an operator");
        self.suspect(node.span, warning.help(format!("write `{form}`")));
    }

    /// Warns about a field that names the value that was certainly meant, `{"user-id": "user-id"}`, and about
    /// a reference as its key, where it is an ordinary name.
    pub(crate) fn field(&mut self, entry: &Entry<'a>) {
        if entry.name().is_some() && entry.name() == entry.value.text() {
            self.names_without_sigil(&entry.value, true);
        }
        let Some(name) = entry.name().filter(|name| name.starts_with('$')) else { return };
        let mut unseen = Diagnostics::default();
        let key = template(&entry.key, Sigil::Dollar, self.at.nesting, self.at.arena, &mut unseen);
        let reference = key.whole().and_then(|part| part.tree()?.path());
        let Some(reference) = reference.filter(|reference| self.at.resolve(reference).is_some()) else {
            return;
        };
        let shown = crate::text::shorten(name);
        let message = format!("`{shown}` is a name here: keys are not references");
        let near = reference.to_string();
        self.warn(
            Diagnostic::new(Code::TextReference, entry.key.span, message)
                .expected(
                    format!("the name of a field, such as `{}`", near.trim_start_matches('.')),
                    format!("`{shown}`"),
                )
                .help("the names of fields are there before the program runs"),
        );
    }

    /// Whether a text refers to an input that is declared as a list.
    fn is_list_input(&self, node: &Node<'a>) -> bool {
        let text = node.text().unwrap_or("").trim_start_matches(['$', '{', '.']).trim_end_matches('}');
        self.at.lists.contains(&text.strip_prefix("input.").unwrap_or(text))
    }

    /// Warns about a step in the position of a value, where it is an ordinary record.
    fn step_as_data(&mut self, node: &Node<'a>) {
        let form = "a step of its own before, such as `let` with `if`, `then` and `else`, and a reference to it here";
        self.data(node, "a reference", None, form.to_owned());
    }
}
