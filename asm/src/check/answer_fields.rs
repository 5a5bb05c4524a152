//! Reports fields that are read from a tool's answer although its schema does not list them: an error if the
//! schema forbids other fields, else a warning.
//!
//! `types` finds them; this module reports them.

use super::fixes::{self, wrong};
use super::report::Report;
use crate::ast::Name;
use crate::catalog::SchemaShape;
use crate::dialect::terms::Terms;
use crate::notation::Notation;
use crate::sorting::sort_by_key;
use crate::text::{Near, same_spelling, some_of};
use ilo_spec::error::Code;
use ilo_spec::node::Word;

/// A read of a field that the schema does not list.
pub(super) struct Read<'t, 'a> {
    /// The part of the answer.
    pub(super) shape: SchemaShape<'t>,
    pub(super) name: Name<'a>,
}

/// Reports the fields that no schema lists.
pub(super) fn report(mut reads: Vec<Read<'_, '_>>, notation: Notation, report: &mut Report<'_>) {
    // A reader may add an expression to the tree twice.
    sort_by_key(&mut reads, |read| read.name.span);
    reads.dedup_by_key(|read| read.name.span);
    reads.iter().for_each(|read| read.report(notation, report));
}

impl Read<'_, '_> {
    fn report(&self, notation: Notation, report: &mut Report<'_>) {
        if report.is_full() {
            return;
        }
        let Read { shape, name } = self;
        let mut spellings = shape.names().filter(|other| is_spelling(name.text, other));
        let near = match (spellings.next(), spellings.next()) {
            (Some(meant), None) => Some(Near { name: meant, sure: true }),
            _ => report.near(name.text, shape.names()).map(|near| Near { sure: false, ..near }),
        };
        let (tool, field) = (shape.tool(), name.text);
        let message = match (shape.is_declared(), shape.is_answer()) {
            (true, _) => format!("the type of the input `{tool}` lists no field `{field}` here"),
            (_, true) => format!("the answer of `{tool}` has no field `{field}` by its schema"),
            _ => format!("this part of the answer of `{tool}` has no field `{field}` by its schema"),
        };
        let unknown = wrong(Code::UnknownField, *name, message, some_of(shape.names()));
        let unknown = fixes::name(unknown, *name, near, notation);
        let is_whole = matches!(field, "result" | "output" | "response" | "data" | "value");
        let unknown = if near.is_some_and(|near| near.sure) {
            unknown
        } else if shape.is_declared() {
            unknown.help("add the field to the type of the input")
        } else if shape.is_answer() && is_whole {
            unknown.help(format!("what a call gives is the answer itself: leave `{field}` out"))
        } else {
            let has = Terms::of(notation).word(Word::Has);
            unknown.help(format!("if it may be there nevertheless, test with {has} first"))
        };
        // A schema that forbids other fields is right about what it does not list.
        report.push(unknown.raised_if(shape.refuses_others()));
    }
}

/// Whether a name is another spelling of a field whose own name can be written in a path.
fn is_spelling(name: &str, field: &str) -> bool {
    !field.starts_with('-') && !field.ends_with('-') && same_spelling(name, field)
}
