//! Pairs, items and cases: their counts, fields and wants.

use crate::automaton::arms;
use crate::automaton::offers::{self, BOOL, NIL, NUMBER, TEXT};
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
    if frame.word != Word::Call {
        return offers::record_counts(core, frame.want, frame.depth);
    }
    if let Some(input) = integers::pair_shape(core, &frame).filter(|it| it.arms().is_some()) {
        return arms::record_counts(core.session, input, frame.depth >= DEPTH);
    }
    let tool = core.session.tools.get(frame.number as usize)?;
    let least = u32::try_from(tool.required.len()).ok()?;
    let most = tool.most.clamp(least, least.max(ITEMS));
    Some((least, if frame.depth >= DEPTH { least } else { most }))
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
    let required: Vec<u32> = if frame.word == Word::Call && frame.arm.is_none() {
        let tool = core.session.tools.get(frame.number as usize);
        tool.map(|tool| tool.required.clone()).unwrap_or_default()
    } else {
        let shape = integers::pair_shape(core, frame).filter(|_| frame.word != Word::Merge);
        let fields = shape.into_iter().flat_map(SchemaShape::required);
        fields.filter_map(|field| core.session.field_numbers.get(field.name).copied()).collect()
    };
    required.into_iter().filter(|&number| !core.in_list(frame.given, number)).collect()
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
