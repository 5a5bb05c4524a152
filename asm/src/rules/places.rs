//! What a place that a schema describes takes: as a demand, and compared with another such place.

use super::Demand;
use crate::catalog::Shape;
use crate::types::Inferred;
use ilo_spec::pure::Kinds;

/// How deep the parts of a value are compared with what they must be.
const DEEPEST: usize = 8;
/// The most constants or fields of one place that are compared.
const COMPARED: usize = 1024;

/// What a value of a shape must be.
pub fn of_shape(wanted: Shape<'_>) -> Demand {
    match wanted.ty() {
        Inferred::ANY => Demand::Kinds(wanted.kinds()),
        ty => Demand::Is(ty),
    }
}

/// Two shapes of the same place that no value fits.
pub struct Clash<'t> {
    /// What is there.
    pub found: Shape<'t>,
    /// What must be there.
    pub wanted: Shape<'t>,
    /// The field where they differ, if it is not the value itself.
    pub field: Option<&'t str>,
}

/// Where no value of one shape fits the other.
pub fn clash<'t>(found: Shape<'t>, wanted: Shape<'t>) -> Option<Clash<'t>> {
    clash_within(found, wanted, DEEPEST)
}

fn clash_within<'t>(found: Shape<'t>, wanted: Shape<'t>, depth: usize) -> Option<Clash<'t>> {
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
    // A list may be empty, so its items may never matter.
    let required = found.fields().filter(|field| field.required).take(COMPARED);
    required.into_iter().find_map(|field| {
        let (wanted, _) = wanted.field(field.name)?;
        let clash = clash_within(field.shape, wanted, below)?;
        Some(Clash { field: clash.field.or(Some(field.name)), ..clash })
    })
}
