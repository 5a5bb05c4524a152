//! How the steps, inputs and references of each notation are written, for messages and for fixes.

use super::operator::Makes;
use super::{Dialect, Key, STEP_KEYS, other_operator};
use crate::ast::Unary;
use crate::diagnostic::Diagnostic;
use crate::document::{Entry, Node, NodeKind, entries, shown};
use crate::expr::reference::{FAILURES, INPUT, Reference, Root, Step};
use crate::foreign::{self, Place};
use crate::notation::Notation;
use ilo_spec::error::Code;
use ilo_spec::types::Base;

/// Whether a record, or a named step, is `continue: true`, which is not a step in any notation.
pub(crate) fn is_continue(name: Option<&str>, value: &Node<'_>) -> bool {
    name == Some("continue") && matches!(value.kind, NodeKind::Bool(true))
}

impl Dialect {
    /// How a program is written.
    pub(crate) fn program_form(self) -> &'static str {
        match self.notation {
            Notation::Constrained => "`{\"fn\":…,\"in\":{…},\"out\":…,\"body\":[…]}`",
            Notation::Workflow => "`name:`, `input:`, `output:` and `steps:`",
            Notation::Mcp => "`{\"meta\": {\"tools\": […], \"input\": {…}, \"output\": …}, \"steps\": […]}`",
            Notation::ToolCalling | Notation::Id => {
                "`{\"function\": …, \"input\": {…}, \"output\": …, \"steps\": […]}`"
            }
        }
    }

    /// The words of the notation for some keys.
    pub(crate) fn listed(self, keys: &[Key]) -> String {
        let own = keys.iter().filter(|&&key| self.takes(key));
        let words: Vec<String> = own.map(|&key| format!("`{}`", self.word(key))).collect();
        words.join(", ")
    }

    /// The diagnostic of a key that has no meaning in a record with `keys`. `what` names the record, `word`
    /// the key that is most likely meant.
    pub(crate) fn unknown_key(
        self,
        key: &Node<'_>,
        keys: &[Key],
        what: &str,
        word: Option<&str>,
    ) -> Diagnostic {
        let found = format!("`{}`", shown(key));
        Diagnostic::new(Code::UnknownKey, key.span, format!("{found} has no meaning in {what}"))
            .expected(self.listed(keys), found)
            .nearest(word)
    }

    /// The words that identify a step.
    pub(crate) fn step_words(self) -> String {
        let keys: Vec<Key> = STEP_KEYS.into_iter().filter(|&key| key != Key::Value).collect();
        self.listed(&keys)
    }

    /// What to write instead of a record that is not a step.
    pub(crate) fn step_form(self) -> &'static str {
        if self.is_yaml() {
            "write `call: tool` with `args:`, or another step"
        } else {
            "write `{\"call\": \"tool\", …}`, or another step"
        }
    }

    /// How a value (`ok`) or a failure is returned with a word.
    pub(crate) fn return_form(self, word: &str) -> String {
        let outer = self.word(Key::Return);
        if !self.has(Key::Return) {
            format!("{{\"{word}\": …}}")
        } else if self.is_yaml() {
            format!("{outer}: {{{word}: …}}")
        } else {
            format!("{{\"{outer}\": {{\"{word}\": …}}}}")
        }
    }

    /// A reference in the form of this notation; `how` is `$` for the short form, `{` for the form in braces.
    pub(crate) fn written(self, reference: &Reference<'_>, how: char) -> String {
        let plain = reference.to_string();
        let inside = match (reference.root, self.notation) {
            // A name with blanks is in brackets.
            (Root::Input, Notation::ToolCalling) if plain != INPUT => {
                format!(
                    "{INPUT}{}",
                    plain.strip_prefix('.').filter(|it| it.starts_with('[')).unwrap_or(&plain)
                )
            }
            (Root::Input, Notation::Constrained) => plain.trim_start_matches('.').to_owned(),
            (Root::Name(name), _) if FAILURES.contains(&name.text) => {
                format!("{}{}", self.failure(), plain.get(name.text.len()..).unwrap_or(""))
            }
            _ => plain,
        };
        if how == '$' && !inside.contains('[') { format!("${inside}") } else { format!("${{{inside}}}") }
    }

    /// A reference as a whole text, or inside a longer text.
    pub(crate) fn own_form(self, reference: &Reference<'_>, inside: bool) -> String {
        let input = matches!(reference.root, Root::Input);
        let braces = match self.notation {
            Notation::Constrained if !inside => {
                let written = self.written(reference, '{');
                let bare = written.trim_start_matches("${").trim_end_matches('}').to_owned();
                return if bare.contains('[') { written } else { bare };
            }
            Notation::Constrained => true,
            // Inside a text, what follows could be read as part of the name.
            Notation::Workflow => inside || !input,
            Notation::Mcp => inside || (!input && !reference.path.is_empty()),
            Notation::ToolCalling | Notation::Id => inside,
        };
        // An index is in braces in each notation.
        let item = reference.path.iter().any(|step| matches!(step, Step::Index(..)));
        self.written(reference, if braces || item { '{' } else { '$' })
    }
}

/// An input that is declared by a record.
pub(crate) struct InputForm<'d, 'a> {
    pub(crate) ty: &'d Node<'a>,
    pub(crate) default: Option<&'d Node<'a>>,
    /// Whether it may be left out. Otherwise it takes nil.
    pub(crate) optional: bool,
}

/// The input that a record declares. A record of which another value names a type is none: it may be the type
/// of a record.
pub(crate) fn input_form<'d, 'a>(node: &'d Node<'a>) -> Option<InputForm<'d, 'a>> {
    let all = entries(node);
    let get = |name: &str| all.iter().find(|entry| entry.name() == Some(name)).map(|entry| &entry.value);
    // A type and null, as JSON Schema writes what takes null.
    let (ty, mut nullable) = match &get("type")?.kind {
        NodeKind::List([ty, null] | [null, ty]) if is_null(null) => (ty, true),
        _ => (get("type")?, false),
    };
    ty.text()?;
    let (default, mut optional) = (get("default"), false);
    for entry in all {
        let flag = if let NodeKind::Bool(flag) = entry.value.kind { Some(flag) } else { None };
        match entry.name()? {
            "type" => {}
            "description" | "title" if entry.value.text().is_some_and(|text| !names_type(text)) => {}
            "default" if entry.value.text().is_none_or(|text| !names_type(text)) => optional = true,
            "optional" => optional |= flag?,
            "required" => optional |= !flag?,
            "nullable" => nullable |= flag?,
            _ => return None,
        }
    }
    (optional || nullable).then_some(InputForm { ty, default, optional })
}

/// Whether a value is null, or its type.
pub(crate) fn is_null(ty: &Node<'_>) -> bool {
    matches!(ty.kind, NodeKind::Null) || ty.text() == Some("null")
}

/// Whether a value is the type of a record that lists its fields, also as the only item of a list. A field
/// may have the name `type` if another one has a type too.
pub(crate) fn lists_fields(node: &Node<'_>) -> bool {
    if let NodeKind::List([item]) = &node.kind {
        return matches!(item.kind, NodeKind::Record(_)) && lists_fields(item);
    }
    let all = entries(node);
    let is_type = |text: &str| text.split_whitespace().all(names_type);
    let typed = |of: &&Entry<'_>| of.value.text().is_some_and(is_type);
    match all.iter().find(|entry| entry.name() == Some("type")) {
        None => !all.is_empty(),
        Some(field) => typed(&field) && all.iter().filter(typed).nth(1).is_some(),
    }
}

fn names_type(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or("");
    word == "list" || Base::ALL.iter().any(|&(_, name)| name == word)
}

/// The keys of the two operands beside an operator.
pub(crate) const OPERAND_PAIRS: [[&str; 2]; 6] =
    [["left", "right"], ["a", "b"], ["lhs", "rhs"], ["x", "y"], ["first", "second"], ["value", "with"]];

/// Whether several keys together are a step of some language.
pub(crate) fn step_of_keys<'k>(keys: &(impl Iterator<Item = &'k str> + Clone)) -> bool {
    let has = |name: &str| keys.clone().any(|key| key == name);
    let chooses = foreign::words(Place::Condition).iter().any(|word| has(word)) && has("then");
    let loops = has("for") && has("in");
    let calls = has("function") && (has("arguments") || has("args"));
    chooses || loops || calls
}

/// Whether a lint may warn about a record with these keys, so that printing marks it as data; `refers` says
/// that the value of its only key is a reference.
pub(crate) fn reads_as_more<'k>(keys: &(impl Iterator<Item = &'k str> + Clone), refers: bool) -> bool {
    let mut all = keys.clone();
    if let (Some(only), None) = (all.next(), all.next()) {
        let measures =
            other_operator::meant(only).is_some_and(|meant| meant.makes == Makes::Unary(Unary::Len));
        return is_step(only) || (refers && (measures || foreign::is(Place::Reference, only)));
    }
    let has = |name: &str| keys.clone().any(|key| key == name);
    let operation = foreign::words(Place::Operator).iter().any(|key| has(key))
        && (foreign::words(Place::Operands).iter().any(|key| has(key))
            || OPERAND_PAIRS.iter().any(|[a, _]| has(a)));
    operation || step_of_keys(keys)
}

/// Whether the key of a record is a step of some language.
pub(crate) fn is_step(name: &str) -> bool {
    let word = name.strip_prefix('$').unwrap_or(name);
    foreign::is(Place::Choice, word) || foreign::is(Place::Each, word)
}
