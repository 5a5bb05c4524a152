//! Resolves inexact references: an input without its root, a step under `steps`, an output of a step.

use crate::expr::reference::{Reference, Root, Step};
use crate::foreign::{self, Place};
use crate::steps::reader::StepReader;

/// The reference that an inexact one means.
pub(crate) fn resolve<'a>(reference: &Reference<'a>, reader: &StepReader<'a>) -> Option<Reference<'a>> {
    let names_value = |name: &str| reader.has(name) || reader.scope.has_step(name);
    let input = |path: &'a [Step<'a>]| Reference { root: Root::Input, path, span: reference.span };
    let is_input =
        |path: &[Step<'a>]| matches!(path.first(), Some(Step::Field(name)) if reader.has_input(name.text));
    let path: &'a [Step<'a>] = match reference.root {
        Root::Input if is_input(reference.path) => return Some(*reference),
        Root::Input => reference.path,
        Root::Name(name) if names_value(name.text) => return Some(*reference),
        Root::Name(name) => {
            reader.arena.collect(core::iter::once(Step::Field(name)).chain(reference.path.iter().copied()))
        }
    };
    if is_input(path) {
        return Some(input(path));
    }
    let known = |path: &'a [Step<'a>]| match path.split_first() {
        Some((Step::Field(name), rest)) if names_value(name.text) => {
            Some(Reference { root: Root::Name(*name), path: rest, span: reference.span })
        }
        _ => None,
    };
    if let Some(found) = known(path) {
        return Some(found);
    }
    let (Step::Field(first), rest) = path.split_first()? else { return None };
    if foreign::word(Place::Root, first.text) == Some("input") && is_input(rest) {
        return Some(input(rest));
    }
    if foreign::word(Place::Root, first.text) != Some("steps") {
        return None;
    }
    let found = known(rest)?;
    let path = match found.path {
        [Step::Field(name), rest @ ..] if foreign::is(Place::OfStep, name.text) => rest,
        path => path,
    };
    Some(Reference { path, ..found })
}
