//! Prints references and texts in the JSON and YAML notations, in the style of each: one row for each. Words
//! come from [`crate::dialect`].
//!
//! [`crate::expr::reference`] and [`crate::expr::template`] read them.

use crate::ast::{Binary, Expr, ExprKind, Literal, Slot};
use crate::dialect::{Dialect, Key};
use crate::notation::Notation;
use crate::text::{is_name, quote};
use ilo_spec::program::Number;
use smallvec::SmallVec;
use std::fmt::Write;

/// How a notation writes references.
#[derive(Debug)]
pub(super) struct Style {
    /// The notation.
    pub(super) notation: Notation,
    /// The prefix of the name of a parameter in a whole-text reference, in a reference inside a text, and in
    /// braces.
    pub(super) parameter: [&'static str; 3],
    /// The same for any other name.
    pub(super) variable: [&'static str; 3],
    /// Whether a whole-text reference gets braces if it reads a field.
    pub(super) fields_in_braces: bool,
}

/// The style of a notation; `None` for ID text.
pub(super) fn of(notation: Notation) -> Option<&'static Style> {
    TABLE.iter().find(|words| words.notation == notation)
}

const TABLE: [Style; 4] = [
    Style {
        notation: Notation::ToolCalling,
        parameter: ["$input.", "$input.", "input."],
        variable: ["$", "$", ""],
        fields_in_braces: false,
    },
    Style {
        notation: Notation::Constrained,
        parameter: ["", "${", ""],
        variable: ["", "${", ""],
        fields_in_braces: false,
    },
    Style {
        notation: Notation::Workflow,
        parameter: ["$.", "$.", "."],
        variable: ["${", "${", ""],
        fields_in_braces: true,
    },
    Style {
        notation: Notation::Mcp,
        parameter: ["$.", "$.", "."],
        variable: ["$", "${", ""],
        fields_in_braces: true,
    },
];

impl Style {
    fn dialect(&self) -> Dialect {
        Dialect::of(self.notation)
    }

    /// The word of the notation for a key.
    pub(super) fn word(&self, key: Key) -> &'static str {
        self.dialect().word(key)
    }

    /// The word that returns, if `ok` and failures are not separate steps.
    pub(super) fn returns(&self) -> Option<&'static str> {
        self.dialect().has(Key::Return).then(|| self.word(Key::Return))
    }

    /// The name of the failure in a handler.
    pub(super) fn failure(&self) -> &'static str {
        self.dialect().failure()
    }

    /// Whether a handler that only fails with a message is written as that message.
    pub(super) fn short_handler(&self) -> bool {
        self.word(Key::Handler) == self.word(Key::Message)
    }

    fn prefix(&self, root: Root<'_>) -> [&'static str; 3] {
        match root {
            Root { hidden: true, .. } if self.notation == Notation::Constrained => ["${", "${", "."],
            Root { parameter: true, .. } => self.parameter,
            _ => self.variable,
        }
    }

    /// A reference that is a whole value.
    pub(super) fn reference(&self, root: Root<'_>, steps: &[Step<'_>]) -> String {
        let [by_itself, ..] = self.prefix(root);
        let braces = by_itself == "${" || (self.fields_in_braces && !root.parameter && !steps.is_empty());
        if braces || !is_plain(root, steps) {
            self.braced(root, steps)
        } else {
            dotted(by_itself, root, steps)
        }
    }

    /// A reference inside a text, before `next`.
    pub(super) fn reference_in_text(&self, root: Root<'_>, steps: &[Step<'_>], next: Option<char>) -> String {
        let [_, in_text, _] = self.prefix(root);
        let continues = next.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | '$'));
        let index = steps.iter().any(|step| matches!(step, Step::Index(_)));
        if in_text == "${" || continues || index || !is_plain(root, steps) {
            self.braced(root, steps)
        } else {
            dotted(in_text, root, steps)
        }
    }

    fn braced(&self, root: Root<'_>, steps: &[Step<'_>]) -> String {
        let [.., inside] = self.prefix(root);
        let mut out = String::from("${");
        if is_name(root.name) {
            out.push_str(inside);
            out.push_str(root.name);
        } else {
            // `.["any name"]` or `input["any name"]`
            out.push_str(if inside == "." { inside } else { inside.trim_end_matches('.') });
            any_name(root.name, &mut out);
        }
        for step in steps {
            write_step(*step, &mut out);
        }
        out.push('}');
        out
    }

    /// Writes a piece of text with everything escaped that could be read as a reference; `next` is what
    /// follows it.
    pub(super) fn escape(&self, text: &str, next: Option<char>, out: &mut String) {
        let mut rest = text.chars().chain(next).peekable();
        for c in text.chars() {
            rest.next();
            out.push(c);
            let special = |next: char| match next {
                '$' | '{' => true,
                _ if self.notation == Notation::Constrained => false,
                '.' | '_' => true,
                _ => next.is_alphabetic(),
            };
            if c == '$' && rest.peek().copied().is_some_and(special) {
                out.push('$');
            }
        }
    }
}

/// A path: a slot, and the fields and items that are read in it.
#[derive(Debug)]
pub(super) struct Path<'a> {
    /// The slot.
    pub(super) root: Slot,
    /// The steps, from the outside in.
    pub(super) steps: SmallVec<[Step<'a>; 4]>,
}

/// A step of a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Field(&'a str),
    Index(i64),
}

/// The path, if the expression is only a path.
pub(super) fn path<'a>(expr: &Expr<'a>) -> Option<Path<'a>> {
    let mut steps = SmallVec::new();
    let mut at = expr;
    loop {
        if let Some((of, name)) = at.as_field() {
            steps.push(Step::Field(name));
            at = of;
            continue;
        }
        match at.kind {
            ExprKind::Ref(root) => {
                steps.reverse();
                return Some(Path { root, steps });
            }
            ExprKind::Binary(Binary::At, of, index) => {
                let ExprKind::Literal(Literal::Number(Number::Int(index @ 0..))) = index.kind else {
                    return None;
                };
                steps.push(Step::Index(index));
                at = of;
            }
            _ => return None,
        }
    }
}

/// The root of a path in a notation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root<'n> {
    /// The name.
    pub(super) name: &'n str,
    /// Whether it is an input.
    pub(super) parameter: bool,
    /// Whether it is an input, or, in a notation with bare names, the failure here.
    pub(super) hidden: bool,
}

/// Whether a reference needs no braces.
fn is_plain(root: Root<'_>, steps: &[Step<'_>]) -> bool {
    is_name(root.name) && steps.iter().all(|step| !matches!(step, Step::Field(name) if !is_name(name)))
}

fn dotted(prefix: &str, root: Root<'_>, steps: &[Step<'_>]) -> String {
    let mut out = format!("{prefix}{}", root.name);
    for step in steps {
        write_step(*step, &mut out);
    }
    out
}

fn write_step(step: Step<'_>, out: &mut String) {
    let _ = match step {
        Step::Field(name) if is_name(name) => write!(out, ".{name}"),
        Step::Field(name) => {
            any_name(name, out);
            Ok(())
        }
        Step::Index(index) => write!(out, ".{index}"),
    };
}

fn any_name(name: &str, out: &mut String) {
    out.push('[');
    quote(name, out);
    out.push(']');
}
