//! Pairs, items and cases: their counts, fields and wants.

use crate::automaton::arms;
use crate::automaton::offers::{BOOL, NIL, NUMBER, TEXT};
use crate::automaton::session::{Callee, lists_fields};
use crate::automaton::state::{Core, DEPTH, Frame, ITEMS};
use crate::automaton::want::{Want, WantId};
use crate::automaton::{integers, keys};
use ilo_asm::catalog::SchemaShape;
use ilo_asm::rules;
use ilo_spec::node::Word;

/// The least and greatest count of pairs.
pub(crate) fn pair_counts(core: &Core<'_>) -> Option<(u32, u32)> {
    let frame = core.frame()?;
    arms::record_counts(core.session, integers::pair_shape(core, &frame)?, frame.depth >= DEPTH)
}

/// The want of a field's value: of a call's argument, or of a record.
pub(crate) fn pair_want<'c>(core: &Core<'c>, frame: &Frame, number: u32) -> Option<Want<'c>> {
    let name = core.session.field(number)?;
    let free = name.is_empty() || core.in_list(frame.given, number);
    if free {
        return None;
    }
    let (field, required) = integers::pair_shape(core, frame)?.field(name)?;
    crate::automaton::constants::depth_of(core.session, field)?;
    let callee = core.session.tools.get(frame.number as usize).and_then(|it| it.callee.as_ref());
    let takes_nil = frame.word == Word::Call && !required && matches!(callee, Some(Callee::Function { .. }));
    Some(if takes_nil && !lists_fields(field) {
        Want::OrNil(rules::of_shape(field))
    } else {
        Want::Shape(field)
    })
}

/// The required fields that are not given yet.
pub(crate) fn missing(core: &Core<'_>, frame: &Frame) -> Vec<u32> {
    let shape = integers::pair_shape(core, frame).filter(|_| frame.word != Word::Merge);
    let fields = shape.into_iter().flat_map(SchemaShape::required);
    let required = fields.filter_map(|field| core.session.field_numbers.get(field.name).copied());
    required.filter(|&number| !core.in_list(frame.given, number)).collect()
}

/// Whether a list of this want and depth can end after an item.
pub(crate) fn items_end(core: &Core<'_>, want: WantId, depth: u8) -> bool {
    depth < DEPTH && core.arena.plain(core.session, core.arena.item_want(want)).is_some()
}

/// The most cases: keys of some kinds are limited in number.
pub(crate) fn most_cases(core: &Core<'_>) -> u32 {
    let kinds = keys::key_kinds(core);
    if kinds >> TEXT & 1 == 1 || kinds >> NUMBER & 1 == 1 {
        return ITEMS;
    }
    u32::from(kinds >> NIL & 1) + 2 * u32::from(kinds >> BOOL & 1) + 1
}
