//! What habits work on: the record and its surroundings, the rewrite that a habit gives, and the state of the
//! walk.

use super::names::Names;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::Dialect;
use crate::document::replacement::Replacement;
use crate::document::{Entry, Kind, Node, entries};
use bumpalo::Bump;
use ilo_spec::error::Code;

/// Where a habit looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// At steps.
    Step,
    /// At records in the place of a step, none of whose words begins one.
    NoStep,
    /// At values.
    Value,
    /// At values where something is computed: under `expr`, in conditions, among operands.
    Formula,
}

/// What habits look at beside the record.
pub(super) struct Context<'w, 'a> {
    pub(super) dialect: Dialect,
    pub(super) arena: &'a Bump,
    pub(super) names: &'w Names<'a>,
    pub(super) source: &'a str,
    /// The record.
    pub(super) node: Node<'a>,
    /// Whether the step is under a name, in YAML.
    pub(super) named: bool,
}

/// What a record should have been, and what to say of it.
pub(super) struct Rewrite<'a> {
    pub(super) report: Report,
    /// A record; where a step should have been several or none, a list of them.
    pub(super) to: Replacement<'a>,
}

/// What to say of a record.
pub(super) enum Report {
    /// A message; what it should have been is expected, and is the fix.
    Shape(Code, &'static str),
    /// All of it.
    Whole(Box<Diagnostic>),
}

impl<'a> Rewrite<'a> {
    pub(super) fn step(message: &'static str, record: Fields<'a>) -> Rewrite<'a> {
        Rewrite { report: Report::Shape(Code::BadStep, message), to: Replacement::Record(record) }
    }

    /// A record with a diagnostic of its own.
    pub(super) fn reported(wrong: Diagnostic, record: Fields<'a>) -> Rewrite<'a> {
        Rewrite { report: Report::Whole(Box::new(wrong)), to: Replacement::Record(record) }
    }

    /// A value with a diagnostic of its own.
    pub(super) fn whole(wrong: Diagnostic, to: Replacement<'a>) -> Rewrite<'a> {
        Rewrite { report: Report::Whole(Box::new(wrong)), to }
    }

    /// A step that is left out.
    pub(super) fn removed(wrong: Diagnostic) -> Rewrite<'a> {
        Rewrite { report: Report::Whole(Box::new(wrong)), to: Replacement::List(Vec::new()) }
    }

    /// What another notation writes so: it is read as that, with a warning.
    pub(super) fn notation(message: &'static str, record: Fields<'a>) -> Rewrite<'a> {
        Rewrite { report: Report::Shape(Code::OtherNotation, message), to: Replacement::Record(record) }
    }
}

pub(super) type Entries<'a> = &'a [Entry<'a>];
pub(super) type Fields<'a> = Vec<(&'a str, Replacement<'a>)>;

/// The first entry that has one of these names, in the order of the names.
pub(super) fn get<'a>(list: Entries<'a>, names: &[&str]) -> Option<&'a Entry<'a>> {
    names.iter().find_map(|&name| list.iter().find(|entry| entry.name() == Some(name)))
}

/// An entry as it is.
pub(super) fn kept<'a>(entry: &Entry<'a>) -> Option<(&'a str, Replacement<'a>)> {
    Some((entry.name()?, Replacement::Kept(entry.value)))
}

/// The entries of a list but for some.
pub(super) fn others<'a>(list: Entries<'a>, without: &[&str]) -> Fields<'a> {
    list.iter().filter(|entry| !entry.is(|name| without.contains(&name))).filter_map(kept).collect()
}

/// The entry with `let`, as the beginning of a step.
pub(super) fn bound(list: Entries<'_>) -> Fields<'_> {
    get(list, &["let"]).and_then(kept).into_iter().collect()
}

/// What says only which kind of step a record is.
pub(super) const MARKERS: [&str; 5] = ["type", "kind", "step", "jsonrpc", "Type"];

/// The state of the walk over one program (`walk`).
pub(super) struct Walk<'w, 'a> {
    pub(super) at: Context<'w, 'a>,
    pub(super) source: &'a str,
    pub(super) diagnostics: &'w mut Diagnostics,
    /// Names that were bound in what is left out.
    pub(super) lost: &'w mut Vec<&'a str>,
    /// The names of the steps around.
    pub(super) naming: Vec<&'a str>,
    pub(super) depth: usize,
    /// A loop is around.
    pub(super) in_loop: bool,
}

impl<'a> Walk<'_, 'a> {
    /// Rebuilds a record from what `each` makes of its values; `None` if it changes none.
    pub(super) fn entries(
        &mut self,
        node: &Node<'a>,
        mut each: impl FnMut(&mut Self, &Entry<'a>) -> Option<Node<'a>>,
    ) -> Option<Node<'a>> {
        let new = rebuilt(entries(node), |_, entry| {
            let value = each(self, entry)?;
            Some(vec![Entry { key: entry.key, value }])
        })?;
        Some(self.record_at(&new, node))
    }

    /// Rebuilds a list from what `each` makes of its items; `None` if it changes none.
    pub(super) fn items(
        &mut self,
        node: &Node<'a>,
        mut each: impl FnMut(&mut Self, usize, &Node<'a>) -> Option<Node<'a>>,
    ) -> Option<Node<'a>> {
        let Kind::List(list) = node.kind else { return None };
        let new = rebuilt(list, |at, item| Some(vec![each(self, at, item)?]))?;
        Some(self.list_at(&new, node))
    }

    /// A record in the place of a node.
    pub(super) fn record_at(&self, list: &[Entry<'a>], of: &Node<'a>) -> Node<'a> {
        Node { kind: Kind::Record(self.at.arena.alloc_slice_copy(list)), span: of.span }
    }

    /// A list in the place of a node.
    pub(super) fn list_at(&self, list: &[Node<'a>], of: &Node<'a>) -> Node<'a> {
        Node { kind: Kind::List(self.at.arena.alloc_slice_copy(list)), span: of.span }
    }
}

/// A list with what `each` gives in place of an item; `None` if it gives nothing for any of them.
pub(super) fn rebuilt<T: Copy>(
    list: &[T],
    mut each: impl FnMut(usize, &T) -> Option<Vec<T>>,
) -> Option<Vec<T>> {
    let mut new: Option<Vec<T>> = None;
    for (at, item) in list.iter().enumerate() {
        match each(at, item) {
            Some(items) => {
                new.get_or_insert_with(|| list.get(..at).unwrap_or_default().to_vec()).extend(items);
            }
            None => new.iter_mut().for_each(|new| new.push(*item)),
        }
    }
    new
}
