//! Go to definition, and find references.

use super::mention::{Mention, Role, What};
use super::{Analysis, Target, mention};
use crate::ast::Slot;
use crate::catalog::own_function;
use crate::span::Span;

/// Which occurrences of a name are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// Only its uses.
    Uses,
    /// Also where it is bound or declared.
    All,
}

/// The entity to which several names refer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity<'t> {
    /// A slot of a function.
    Slot(usize, Slot),
    Function(usize),
    /// A tool, by its full name.
    Tool(&'t str),
    Field(&'t str),
}

/// The entity to which a name refers.
pub(super) fn identity<'a>(analysis: &Analysis<'a>, of: &Mention<'a>) -> Option<Identity<'a>> {
    Some(match of.what {
        What::Type => return None,
        What::Function(_) => Identity::Function(of.function),
        What::Slot(slot, _) => Identity::Slot(of.function, slot),
        What::Tool(name, _) => match analysis.target(name) {
            Target::Function(number) => Identity::Function(number as usize),
            Target::Tool(tool) => Identity::Tool(&tool.name),
            Target::Unknown => Identity::Tool(own_function(name).unwrap_or(name)),
        },
        What::Argument(..) | What::Field(..) | What::Key(..) => Identity::Field(of.what.field()?),
    })
}

pub(super) fn tool_at<'a>(analysis: &Analysis<'a>, offset: u32) -> Option<&'a str> {
    let Identity::Tool(name) = identity(analysis, analysis.mention_at(offset)?)? else { return None };
    Some(name)
}

pub(super) fn definition<'a>(analysis: &Analysis<'a>, offset: u32) -> Vec<Span> {
    let Some((mention, meant)) =
        analysis.mention_at(offset).and_then(|mention| Some((mention, identity(analysis, mention)?)))
    else {
        return Vec::new();
    };
    let of_function = |other: &&Mention<'a>| other.function == mention.function;
    let same = analysis.mentions.iter().filter(|other| identity(analysis, other) == Some(meant));
    match meant {
        Identity::Function(_) => {
            same.filter(|other| matches!(other.what, What::Function(_))).map(|other| other.span).collect()
        }
        Identity::Slot(..) => bindings(&same.collect::<Vec<_>>()),
        Identity::Tool(_) | Identity::Field(_) => {
            let entry = |other: &&Mention<'a>| {
                matches!(other.what, What::Tool(_, Role::Entry) | What::Key(_, Role::Entry))
            };
            same.filter(of_function).filter(entry).map(|other| other.span).collect()
        }
    }
}

/// The spans that bind a slot, or its entry in a registry if none does.
fn bindings(all: &[&Mention<'_>]) -> Vec<Span> {
    let of = |wanted: &[Role]| -> Vec<Span> {
        let is = |other: &&&Mention<'_>| matches!(other.what, What::Slot(_, role) if wanted.contains(&role));
        all.iter().filter(is).map(|other| other.span).collect()
    };
    let found = of(&[Role::Parameter, Role::Bind]);
    if found.is_empty() { of(&[Role::Entry]) } else { found }
}

pub(super) fn references<'a>(analysis: &Analysis<'a>, offset: u32, purpose: Purpose) -> Vec<Span> {
    let Some(meant) = analysis.mention_at(offset).and_then(|mention| identity(analysis, mention)) else {
        return Vec::new();
    };
    let is_use = |what: What<'_>| match what {
        What::Function(_) => false,
        What::Slot(_, role) | What::Tool(_, role) | What::Key(_, role) => role == mention::Role::Use,
        _ => true,
    };
    let wanted = |other: &&Mention<'a>| {
        (purpose == Purpose::All || is_use(other.what)) && identity(analysis, other) == Some(meant)
    };
    analysis.mentions.iter().filter(wanted).map(|other| other.span).collect()
}
