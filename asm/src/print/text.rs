//! Prints references and texts in the JSON and YAML notations, in the style of each. Words come from
//! [`crate::dialect`].
//!
//! [`crate::expr::reference`] and [`crate::expr::template`] read them.

use crate::ast::{Binary, Expr, ExprKind, Literal, Name, Slot};
use crate::dialect::{Dialect, Key};
use crate::expr::reference::{Step, write_any_name, write_path};
use crate::notation::Notation;
use crate::text::is_name;
use ilo_spec::program::Number;
use smallvec::SmallVec;

impl Dialect {
    /// The word that returns, if `ok` and failures are not separate steps.
    pub(super) fn returns(self) -> Option<&'static str> {
        self.has(Key::Return).then(|| self.word(Key::Return))
    }

    /// The prefix of a name in a reference that is a whole text, in one inside a text, and in braces.
    fn prefix(self, root: PathRoot<'_>) -> [&'static str; 3] {
        match (self.notation, root.parameter) {
            (Notation::Constrained, _) if root.hidden => ["${", "${", "."],
            (Notation::Constrained, _) => ["", "${", ""],
            (Notation::ToolCalling | Notation::Id, true) => ["$input.", "$input.", "input."],
            (Notation::ToolCalling | Notation::Id, false) => ["$", "$", ""],
            (Notation::Workflow | Notation::Mcp, true) => ["$.", "$.", "."],
            (Notation::Workflow, false) => ["${", "${", ""],
            (Notation::Mcp, false) => ["$", "${", ""],
        }
    }

    /// A reference that is a whole value.
    pub(super) fn reference(self, root: PathRoot<'_>, steps: &[Step<'_>]) -> String {
        let [by_itself, _, inside] = self.prefix(root);
        let fields_in_braces = matches!(self.notation, Notation::Workflow | Notation::Mcp);
        let braces = by_itself == "${" || (fields_in_braces && !root.parameter && !steps.is_empty());
        if braces || !is_plain(root, steps) {
            braced(inside, root, steps)
        } else {
            written(by_itself, root, steps)
        }
    }

    /// A reference inside a text, before `next`.
    pub(super) fn reference_in_text(
        self,
        root: PathRoot<'_>,
        steps: &[Step<'_>],
        next: Option<char>,
    ) -> String {
        let [_, in_text, inside] = self.prefix(root);
        let continues = next.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | '$'));
        let index = steps.iter().any(|step| matches!(step, Step::Index(..)));
        if in_text == "${" || continues || index || !is_plain(root, steps) {
            braced(inside, root, steps)
        } else {
            written(in_text, root, steps)
        }
    }

    /// Writes a piece of text with everything escaped that could be read as a reference; `next` is what
    /// follows it.
    pub(super) fn escape(self, text: &str, next: Option<char>, out: &mut String) {
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

/// The path, if the expression is only a path.
pub(super) fn path<'a>(expr: &Expr<'a>) -> Option<Path<'a>> {
    let mut steps = SmallVec::new();
    let mut at = expr;
    loop {
        if let Some((of, name)) = at.as_field() {
            steps.push(Step::Field(Name { text: name, span: at.span }));
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
                steps.push(Step::Index(index.cast_unsigned(), at.span));
                at = of;
            }
            _ => return None,
        }
    }
}

/// The root of a path in a notation.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathRoot<'n> {
    /// The name.
    pub(super) name: &'n str,
    /// Whether it is an input.
    pub(super) parameter: bool,
    /// Whether it is an input, or, in a notation with bare names, the failure here.
    pub(super) hidden: bool,
}

/// Whether a reference needs no braces.
fn is_plain(root: PathRoot<'_>, steps: &[Step<'_>]) -> bool {
    is_name(root.name) && steps.iter().all(|step| !matches!(step, Step::Field(name) if !is_name(name.text)))
}

fn braced(inside: &str, root: PathRoot<'_>, steps: &[Step<'_>]) -> String {
    format!("${{{}}}", written(inside, root, steps))
}

fn written(prefix: &str, root: PathRoot<'_>, steps: &[Step<'_>]) -> String {
    let mut out = String::from(prefix);
    if is_name(root.name) {
        out.push_str(root.name);
    } else {
        // `.["any name"]` or `input["any name"]`
        out.truncate(if prefix == "." { 1 } else { prefix.trim_end_matches('.').len() });
        let _ = write_any_name(root.name, &mut out);
    }
    let _ = write_path(steps, &mut out);
    out
}
