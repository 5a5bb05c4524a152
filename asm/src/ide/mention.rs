//! Finds all names of a source with their exact spans, including headers and registries.

use super::Analysis;
use crate::ast::{Call, Expr, Function, NameUse, Slot};
use crate::span::Span;
use crate::syntax::registry::{NameKind, Named};
use hashbrown::HashMap;

/// The longest text that is searched for the name of a slot.
const LONGEST: usize = 4 << 10;

/// An occurrence of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mention<'a> {
    /// The span of the name or of the number that refers to it; in comments, a quoted name includes its
    /// quotes.
    pub(super) span: Span,
    /// The index of the function that contains it.
    pub(super) function: usize,
    pub(super) what: What<'a>,
}

/// What the name refers to.
#[derive(Clone, Copy, Debug)]
pub(super) enum What<'a> {
    /// The function itself.
    Function(&'a str),
    Type,
    Slot(Slot, Role),
    /// A tool or function, by its name.
    Tool(&'a str, Role),
    /// An argument of a call.
    Argument(&'a Call<'a>, &'a str),
    /// A field that is read from a record.
    Field(&'a Expr<'a>, &'a str),
    /// A field of a record that is built, or an entry of a registry.
    Key(&'a str, Role),
}

/// The role of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A parameter in the header.
    Parameter,
    /// An entry of a registry, or of the list of tools.
    Entry,
    /// A slot is bound.
    Bind,
    /// A read, a call, or a field of a record that is built.
    Use,
}

impl<'a> What<'a> {
    /// The text of a field's name.
    pub(super) fn field(self) -> Option<&'a str> {
        match self {
            What::Argument(_, name) | What::Field(_, name) | What::Key(name, _) => Some(name),
            _ => None,
        }
    }
}

/// All names of a source, in order.
pub(super) fn all<'a>(of: &Analysis<'a>) -> Vec<Mention<'a>> {
    let mut found = Vec::new();
    for (number, function) in of.file.functions.iter().enumerate() {
        function.each_name(&mut |name, span| {
            found.extend(mention(of, number, function, name, span));
        });
    }
    let sections = of.text.as_ref().map_or(&[][..], |text| &text.sections);
    for (number, (section, function)) in sections.iter().zip(of.file.functions).enumerate() {
        let slots: HashMap<u32, Slot> =
            (0..).zip(function.slots).filter_map(|(slot, info)| Some((info.number?, Slot(slot)))).collect();
        for kind in NameKind::ALL {
            for entry in &section.registries.get(kind).entries {
                let what = match kind {
                    NameKind::Tools => What::Tool(entry.name, Role::Entry),
                    NameKind::Fields => What::Key(entry.name, Role::Entry),
                    NameKind::Vars => match slots.get(&entry.id) {
                        Some(&slot) => What::Slot(slot, Role::Entry),
                        None => continue,
                    },
                };
                found.push(Mention { span: name_of(of, entry), function: number, what });
            }
        }
    }
    // A step that is bound and also the value of its block counts once.
    crate::sorting::sort_by_key(&mut found, |mention| (mention.span, order(mention.what)));
    found.dedup_by_key(|mention| mention.span);
    found
}

/// If several occurrences have the same span, the first in this order is kept.
fn order(what: What<'_>) -> u8 {
    match what {
        What::Slot(_, Role::Use) => 1,
        _ => 0,
    }
}

/// The slot with a number in ID text.
pub(super) fn slot_of(function: &Function<'_>, number: u32) -> Option<Slot> {
    let at = function.slots.iter().position(|slot| slot.number == Some(number))?;
    Some(Slot(u32::try_from(at).ok()?))
}

/// The span of the name in an entry of a registry.
pub(super) fn name_of(of: &Analysis<'_>, entry: &Named<'_>) -> Span {
    let text = of.at(entry.span);
    let after = text.find('=').map_or(0, |at| at + 1);
    let name = text.get(after..).unwrap_or("").trim_start();
    let length = u32::try_from(name.len()).unwrap_or(0);
    Span::new(entry.span.end.saturating_sub(length), entry.span.end)
}

fn mention<'a>(
    of: &Analysis<'a>,
    number: usize,
    function: &Function<'a>,
    name: NameUse<'a>,
    span: Span,
) -> Option<Mention<'a>> {
    let is_id = of.text.is_some();
    let exact = |text: &str| is_id || of.at(span) == text;
    let (span, what) = match name {
        NameUse::Function(name) => (span, What::Function(name.text)),
        NameUse::Type(_) => (span, What::Type),
        NameUse::Parameter(slot, _) => (span, What::Slot(slot, Role::Parameter)),
        NameUse::Bind(slot) => (slot_span(of, function, slot, span)?, What::Slot(slot, Role::Bind)),
        NameUse::Read(slot) | NameUse::Match(slot) => {
            (slot_span(of, function, slot, span)?, What::Slot(slot, Role::Use))
        }
        NameUse::Allowed(name) => (span, What::Tool(name.text, Role::Entry)),
        NameUse::Callee(call) => (span, What::Tool(call.tool.text, Role::Use)),
        NameUse::Argument(call, name) => (span, What::Argument(call, name.text)),
        NameUse::Field(record, name) => (span, What::Field(record, name.text)),
        NameUse::Key(name) => (span, What::Key(name.text, Role::Use)),
    };
    let inexact = match what {
        What::Function(name) | What::Tool(name, _) => !exact(name),
        What::Slot(slot, Role::Parameter) => {
            let name = function.slots.get(slot.0 as usize).and_then(|slot| slot.name);
            !name.is_some_and(exact)
        }
        other => other.field().is_some_and(|name| !exact(name)),
    };
    (!inexact && span.start < span.end).then_some(Mention { span, function: number, what })
}

/// The span of the name or number of a slot in a reference to it; `None` if the source has neither.
fn slot_span(of: &Analysis<'_>, function: &Function<'_>, slot: Slot, span: Span) -> Option<Span> {
    let written = of.at(span);
    if of.text.is_some() {
        let digits = written.len() - written.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let digits = u32::try_from(digits).ok().filter(|&digits| digits > 0)?;
        return Some(Span::new(span.end - digits, span.end));
    }
    let name = function.slots.get(slot.0 as usize)?.name.filter(|_| written.len() <= LONGEST)?;
    let continues = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let (at, _) = written.match_indices(name).find(|&(at, _)| {
        let before = written.get(..at).unwrap_or("");
        let after = written.get(at + name.len()..).unwrap_or("");
        // A field of the same name follows a dot; inputs are fields of `$input` and of `$`.
        let root = before.is_empty()
            || before.trim_end_matches("[\"").trim_end_matches(['$', '{', ' ', '.']).is_empty()
            || matches!(before, "$input." | "${input." | "input." | "${ input.");
        root && !before.ends_with(continues) && !after.starts_with(continues)
    })?;
    let start = span.start.checked_add(u32::try_from(at).ok()?)?;
    Some(Span::new(start, start.checked_add(u32::try_from(name.len()).ok()?)?))
}
