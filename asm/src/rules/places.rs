//! Compares the shapes of schemas: a shape as the accepted type of an operand, and two shapes with each
//! other.

use super::Demand;
use crate::catalog::SchemaShape;
use crate::types::Inferred;
use ilo_spec::pure::Kinds;

/// The depth to which the parts of a value are compared.
const DEEPEST: usize = 8;
/// The most constants or fields of a shape that are compared.
const COMPARED: usize = 1024;

/// A shape as the accepted type of an operand.
pub fn of_shape(wanted: SchemaShape<'_>) -> Demand {
    match wanted.ty() {
        Inferred::ANY => Demand::Kinds(wanted.kinds()),
        ty => Demand::Is(ty),
    }
}

/// Two shapes at the same path that have no value in common.
pub struct Clash<'t> {
    /// The actual shape.
    pub found: SchemaShape<'t>,
    /// The expected shape.
    pub wanted: SchemaShape<'t>,
    /// The field in which they differ, if it is not the value itself.
    pub field: Option<&'t str>,
}

/// Finds where no value of one shape fits the other.
pub fn clash<'t>(found: SchemaShape<'t>, wanted: SchemaShape<'t>) -> Option<Clash<'t>> {
    clash_within(found, wanted, DEEPEST)
}

fn clash_within<'t>(found: SchemaShape<'t>, wanted: SchemaShape<'t>, depth: usize) -> Option<Clash<'t>> {
    if wanted.is_any() || found.is_any() || found.same(wanted) {
        return None;
    }
    let here = || Some(Clash { found, wanted, field: None });
    let kinds = found.kinds().and(wanted.kinds());
    if kinds.is_empty() {
        return here();
    }
    if found.kinds() == Kinds::TEXT
        && let (Some(has), Some(takes)) = (found.texts(), wanted.texts())
        && has.len() <= COMPARED
        && has.iter().all(|text| !takes.contains(text))
    {
        return here();
    }
    let below = depth.checked_sub(1)?;
    if found.kinds() != Kinds::RECORD {
        return None;
    }
    // A list may be empty, so its item types may not matter.
    let required = found.fields().filter(|field| field.required).take(COMPARED);
    required.into_iter().find_map(|field| {
        let (wanted, _) = wanted.field(field.name)?;
        let clash = clash_within(field.shape, wanted, below)?;
        Some(Clash { field: clash.field.or(Some(field.name)), ..clash })
    })
}
