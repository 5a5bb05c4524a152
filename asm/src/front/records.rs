//! Records that other languages would compute, look up or run, and that are data where they stand: warnings with the mend,
//! in the manner of [`super::doubt`].

use super::dialect::Key;
use super::doubt::Place;
use super::draft::mendable;
use super::keys::{entries, first_of, rename, shown};
use super::operator::{self, Makes, Operator};
use super::reader::Reader;
use super::reference::bare;
use super::tree::{Entry, Kind, Node};
use crate::ast::{Field, Unary};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use ilo_spec::error::Code;

/// Keys that hold the name of an operator, and those that hold its operands, as other languages have them.
const OPERATOR_KEYS: [&str; 4] = ["op", "operator", "operation", "fn"];
const LISTS: [&str; 6] = ["args", "operands", "values", "arguments", "params", "of"];
const PAIRS: [[&str; 2]; 6] =
    [["left", "right"], ["a", "b"], ["lhs", "rhs"], ["x", "y"], ["first", "second"], ["value", "with"]];
/// Keys that choose one of several values.
const CHOICES: [&str; 6] = ["if", "cond", "ternary", "case", "switch", "iif"];
/// Keys of one-key records that refer in other languages.
const REFERS: [&str; 5] = ["var", "ref", "$ref", "$var", "Ref"];

impl<'a> Reader<'_, 'a> {
    /// The fields of a record, with a warning where other languages would compute or look it up; then nothing in it is
    /// doubted any more, nor where it was `told` already.
    pub(super) fn doubtful_fields(&mut self, node: &Node<'a>, place: Place, told: bool) -> &'a [Field<'a>] {
        let before = self.doubts.places.len();
        let outer = self.doubts.told;
        self.doubts.told |= told;
        self.doubtful_record(node, place);
        self.doubts.told |= before < self.doubts.places.len();
        let fields = self.fields(node);
        self.doubts.told = outer;
        fields
    }

    fn doubtful_record(&mut self, node: &Node<'a>, place: Place) {
        let list = entries(node);
        if let Some(found) = Self::operation_by_keys(list) {
            return self.meant_operation(node, found.0, &found.1);
        }
        if let [only] = list
            && let Some(name) = only.name()
        {
            return self.doubtful_entry(node, only, name, place);
        }
        let has = |name: &str| list.iter().any(|entry| entry.name() == Some(name));
        let chooses = (has("if") || has("condition")) && has("then");
        let loops = has("for") && has("in");
        let calls = has("function") && (has("arguments") || has("args"));
        if chooses || loops || calls {
            self.step_as_data(node, chooses);
        }
    }

    /// The operator and operands of `{"op": "+", "args": […]}` and its like.
    pub(super) fn operation_by_keys(list: &'a [Entry<'a>]) -> Option<(&'static Operator, Vec<&'a Node<'a>>)> {
        if !(2..=3).contains(&list.len()) {
            return None;
        }
        let get = |name: &str| list.iter().find(|entry| entry.name() == Some(name)).map(|entry| &entry.value);
        let spelling = OPERATOR_KEYS.iter().find_map(|key| get(key))?.text()?;
        let operator = operator::find(spelling).or_else(|| operator::meant(spelling))?;
        let operands: Vec<&'a Node<'a>> = match (list.len(), LISTS.iter().find_map(|key| get(key))) {
            (2, Some(Node { kind: Kind::List(items), .. })) => items.iter().collect(),
            (2, Some(only)) => vec![only],
            (3, _) => PAIRS.iter().find_map(|[a, b]| Some(vec![get(a)?, get(b)?]))?,
            (_, None) => PAIRS.iter().find_map(|[a, _]| Some(vec![get(a)?]))?,
            _ => return None,
        };
        operator.takes(operands.len()).then_some((operator, operands))
    }

    fn meant_operation(&mut self, node: &Node<'a>, operator: &Operator, operands: &[&Node<'a>]) {
        let slices: Option<Vec<&str>> =
            operands.iter().map(|operand| self.source.get(operand.span.range())).collect();
        let spelling = operator.spelling;
        let form = match operator.makes {
            Makes::Unary(_) => format!("{{\"{spelling}\": …}}"),
            Makes::Binary(_) => format!("{{\"{spelling}\": […, …]}}"),
        };
        let warning = self.data("this record is data, and computes nothing", node, &format!("`{form}`"));
        let mended = slices.filter(|_| !self.dialect.is_yaml() && mendable(node.span)).map(|slices| {
            match (&slices[..], operator.makes) {
                ([only], Makes::Unary(_)) => format!("{{\"{spelling}\": {only}}}"),
                _ => format!("{{\"{spelling}\": [{}]}}", slices.join(", ")),
            }
        });
        let warning = match mended {
            Some(text) => {
                let fix =
                    Fix { title: format!("write `{form}`"), edits: vec![Edit { span: node.span, text }] };
                warning.fix(fix)
            }
            None => warning.help(format!("write `{form}`")),
        };
        self.doubt(node.span, warning);
    }

    fn data(&self, message: &str, node: &Node<'a>, form: &str) -> Diagnostic {
        let marked = if self.dialect.is_yaml() { "`obj:`" } else { "`{\"obj\": {…}}`" };
        Diagnostic::new(Code::RecordOperation, first_of(node), message)
            .expected(format!("{form} for the result, or {marked} around it for the record"), "a record")
    }

    /// A record of one key that refers, computes or chooses in other languages.
    fn doubtful_entry(&mut self, node: &Node<'a>, entry: &'a Entry<'a>, name: &str, place: Place) {
        if REFERS.contains(&name)
            && let Some(reference) = bare(&entry.value, self.arena)
            && let Some(meant) = self.meant(&reference)
        {
            let mended = self.own_form(&meant, false);
            let form = if self.dialect.is_yaml() { mended.clone() } else { format!("\"{mended}\"") };
            let warning = self.data("this record is data, and refers to nothing", node, &format!("`{form}`"));
            let fix = Edit { span: node.span, text: form.clone() };
            let flow = !self.dialect.is_yaml();
            let fix = Fix { title: format!("write `{form}`"), edits: vec![fix] };
            let warning = if flow { warning.fix(fix) } else { warning.help(format!("write `{form}`")) };
            return self.doubt(node.span, warning);
        }
        let word = name.strip_prefix('$').unwrap_or(name);
        if is_step(name) && matches!(entry.value.kind, Kind::List(_) | Kind::Record(_)) {
            return self.step_as_data(node, CHOICES.contains(&word));
        }
        if let Some(instead) = operator::in_place_of(word).filter(|_| place == Place::Formula || word != name)
        {
            let warning = self
                .data("this record is data, and computes nothing", node, "a step of its own")
                .help(instead);
            return self.doubt(node.span, warning);
        }
        if place == Place::Formula
            && let Some((before, after)) = operator::predicate(word)
        {
            return self.asks(node, entry, before, after);
        }
        let exact = operator::find(word).filter(|_| word != name);
        let Some(meant) = exact.or_else(|| operator::meant(word)) else { return };
        let operands = match entry.value.kind {
            Kind::List(items) => items.len(),
            _ => 1,
        };
        // A word may well be a field; it is doubted where something is computed, or where its value only fits so.
        let measures = meant.makes == Makes::Unary(Unary::Len) && self.is_list_input(&entry.value);
        let operates = word != name || place == Place::Formula || measures || operands > 1 && name != "in";
        if operates && meant.takes(operands) && (operands == 1) == (meant.least() == 1) {
            let form = format!("{{\"{}\": …}}", meant.spelling);
            let mut warning =
                self.data("this record is data, and computes nothing", node, &format!("`{form}`"));
            warning.fix = rename(&entry.key, meant.spelling);
            self.doubt(node.span, warning);
        }
    }

    /// `{"is_null": x}` and its like.
    fn asks(&mut self, node: &Node<'a>, entry: &Entry<'a>, before: &str, after: &str) {
        let operand = match entry.value.kind {
            Kind::List([only]) => only.span,
            _ => entry.value.span,
        };
        let form = format!("{before}…{after}");
        let warning = self.data("this record is data, and computes nothing", node, &format!("`{form}`"));
        let text = self.source.get(operand.range()).filter(|_| !self.dialect.is_yaml() && mendable(operand));
        let warning = match text {
            Some(text) => {
                let edits = vec![Edit { span: node.span, text: format!("{before}{text}{after}") }];
                warning.fix(Fix { title: format!("write `{form}`"), edits })
            }
            None => warning.help(format!("write `{form}`")),
        };
        self.doubt(node.span, warning);
    }

    /// Reports `{"in": [x, [a, b]]}` and its like, which no operator is.
    pub(super) fn membership(&mut self, node: &Node<'a>, entry: &Entry<'a>) {
        let wrong = Diagnostic::new(
            Code::UnknownOperator,
            entry.key.span,
            format!("there is no operator `{}`", shown(&entry.key)),
        );
        let constants = match entry.value.kind {
            Kind::List([subject, Node { kind: Kind::List(items), .. }])
                if !items.is_empty()
                    && items.len() <= 8
                    && !self.dialect.is_yaml()
                    && mendable(node.span) =>
            {
                Some((subject, *items))
            }
            _ => None,
        };
        let slice = |node: &Node<'a>| self.source.get(node.span.range()).unwrap_or("");
        let wrong = if let Some((subject, items)) = constants {
            let equal = |item: &Node<'a>| format!("{{\"==\": [{}, {}]}}", slice(subject), slice(item));
            let all: Vec<String> = items.iter().map(equal).collect();
            let text = if let [only] = &all[..] {
                only.clone()
            } else {
                format!("{{\"or\": [{}]}}", all.join(", "))
            };
            wrong
                .expected("`{\"or\": [{\"==\": …}, …]}`", format!("`{}`", shown(&entry.key)))
                .replace(node.span, text)
        } else {
            wrong.expected(operator::LIST, format!("`{}`", shown(&entry.key))).help(
                "whether a list holds a value is found out by a loop: bind `found` to false before it, and bind it to \
                 true in an `if` inside; `has` asks a record for a field",
            )
        };
        self.report(wrong);
    }

    /// Whether a text refers to an input that is declared as a list.
    fn is_list_input(&self, node: &Node<'a>) -> bool {
        let text = node.text().unwrap_or("").trim_start_matches(['$', '{', '.']).trim_end_matches('}');
        self.doubts.lists.contains(&text.strip_prefix("input.").unwrap_or(text))
    }

    /// Warns of a step in the place of a value, where it is nothing but a record.
    fn step_as_data(&mut self, node: &Node<'a>, chooses: bool) {
        let form = if chooses {
            self.choice_form().to_owned()
        } else {
            format!("a step of its own before, with `let`, and a reference to it here: {}", self.loop_form())
        };
        let message = "this record is data: a step stands in no value";
        let warning = self.data(message, node, "a reference").help(form);
        self.doubt(node.span, warning);
    }

    fn loop_form(&self) -> String {
        let (word, list) =
            (self.dialect.word(Key::Body), if self.dialect.is_bare() { "list" } else { "$list" });
        if self.dialect.is_yaml() {
            format!("`for: x`, `in: ${{list}}`, `{word}: …`")
        } else {
            format!("`{{\"let\": \"v\", \"for\": \"x\", \"in\": \"{list}\", \"{word}\": […]}}`")
        }
    }

    /// How one of two values is written.
    pub(super) fn choice_form(&self) -> &'static str {
        if self.dialect.is_yaml() {
            "`let: v`, `if: condition`, `then: value`, `else: value`, and `${v}` in the steps behind it"
        } else if self.dialect.is_bare() {
            "`{\"let\":\"v\",\"if\":condition,\"then\":value,\"else\":value}`, and `v` in the steps behind it"
        } else {
            "`{\"let\": \"v\", \"if\": condition, \"then\": value, \"else\": value}`, and `$v` in the steps behind it"
        }
    }
}

/// Whether the key of a record is a step of some language.
pub(super) fn is_step(name: &str) -> bool {
    let word = name.strip_prefix('$').unwrap_or(name);
    CHOICES.contains(&word)
        || matches!(word, "map" | "filter" | "reduce" | "for" | "foreach" | "forEach" | "loop")
}
