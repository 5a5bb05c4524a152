//! The integers that may come next, as sets that can be searched by prefix.

use crate::automaton::constants::depth_of;
use crate::automaton::kept::Call;
use crate::automaton::session::Session;
use crate::automaton::state::{Core, DEPTH, Frame, NONE, Phase, SLOTS};
use crate::automaton::want::{WantId, field};
use crate::automaton::{arms, offers, operands};
use ilo_asm::catalog::SchemaShape;
use ilo_asm::check::ValueInfo;
use ilo_asm::types::Inferred;
use ilo_spec::node::Word;

/// A set of integers. Lists of integers are in an arena of the automaton, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integers {
    Nothing,
    Range(u32, u32),
    /// These.
    Listed(u32, u32),
    /// The tools of a set that the session keeps.
    Kept(usize),
    /// All named fields except these.
    FieldsBut(u32, u32),
}

fn slice(all: &[u32], start: u32, length: u32) -> &[u32] {
    let start = start as usize;
    all.get(start..start + length as usize).unwrap_or_default()
}

/// The count of these numbers in a range.
fn within(all: &[u32], low: u32, high: u32) -> usize {
    let from = all.partition_point(|&number| number < low);
    let to = all.partition_point(|&number| number <= high);
    to.saturating_sub(from)
}

/// The integers that may come next.
pub(crate) fn integers(core: &mut Core<'_>) -> Integers {
    match core.state.phase {
        phase if phase.is_slot() => {
            let last = u32::from(core.state.next.min(SLOTS - 1));
            listed_where(core, 0..=last)
        }
        Phase::LitKind => listed_where(core, 0..=3),
        Phase::Tool => match core.frame() {
            Some(frame) => tools_for(core, frame.want, frame.depth, frame.parent == NONE),
            None => Integers::Nothing,
        },
        Phase::FieldOrName => {
            let fits = core.arena.takes_type(core.session, core.state.want, Inferred::TEXT);
            match offers::key_names(core) {
                _ if !fits => Integers::Nothing,
                Some(names) => {
                    let numbers =
                        names.iter().filter_map(|name| core.session.field_numbers.get(*name).copied());
                    let mut numbers: Vec<u32> = numbers.collect();
                    numbers.sort_unstable();
                    list_of(core, &numbers)
                }
                None => fields_but(core, &[]),
            }
        }
        Phase::PathField => match core.frame() {
            Some(frame) => fields_of(core, core.arena.value(frame.first), frame.want),
            None => Integers::Nothing,
        },
        Phase::PairField | Phase::MergeMore => pair_fields(core),
        Phase::PairCount if let Some(arms) = arms::arms_here(core) => {
            let mut counts: Vec<u32> = arms.iter().flat_map(|it| it.counts.0..=it.counts.1).collect();
            counts.sort_unstable();
            counts.dedup();
            list_of(core, &counts)
        }
        _ => offers::counts(core).map_or(Integers::Nothing, |(least, most)| Integers::Range(least, most)),
    }
}

fn list_of(core: &mut Core<'_>, numbers: &[u32]) -> Integers {
    let start = u32::try_from(core.ids.len()).unwrap_or_default();
    core.ids.extend_from_slice(numbers);
    Integers::Listed(start, u32::try_from(numbers.len()).unwrap_or_default())
}

fn listed_where(core: &mut Core<'_>, numbers: core::ops::RangeInclusive<u32>) -> Integers {
    let numbers: Vec<u32> = numbers.filter(|&number| offers::takes_integer(core, number)).collect();
    list_of(core, &numbers)
}

fn fields_but(core: &mut Core<'_>, numbers: &[u32]) -> Integers {
    let Integers::Listed(start, length) = list_of(core, numbers) else { return Integers::Nothing };
    Integers::FieldsBut(start, length)
}

/// The tools that a call at a depth may go to.
pub(crate) fn tools_for(core: &mut Core<'_>, want: WantId, depth: u8, top: bool) -> Integers {
    let marked = offers::mark(core).filter(|_| top);
    let (followed, deep) = (offers::may_be_followed(core, top), depth >= DEPTH);
    let key = Call { want: core.arena.key(want), marked, followed, deep };
    // What is kept does not depend on the program so far.
    let is_settled = marked != Some(Word::Undo) || core.state.registered == NONE;
    if let Some(place) = core.session.kept.tools_for(&key).filter(|_| is_settled) {
        return Integers::Kept(place);
    }
    let count = u32::try_from(core.session.tools.len()).unwrap_or_default();
    let fits = |&number: &u32| offers::callable(core, number, want, depth, top);
    let numbers: Vec<u32> = (0..count).filter(fits).collect();
    let kept = if is_settled { core.session.kept.keep(key, &numbers) } else { None };
    kept.map_or_else(|| list_of(core, &numbers), Integers::Kept)
}

fn tool_set<'a>(core: &'a Core<'_>, place: usize) -> &'a [u32] {
    core.session.kept.tools(place)
}

/// The fields of a value that FIELD may read.
pub(crate) fn fields_of<'c>(core: &mut Core<'c>, of: ValueInfo<'c>, want: WantId) -> Integers {
    let shape = of.part.shape();
    let takes = |known| core.arena.takes(core.session, want, known);
    // A field that the shape does not list is equivalent to every other such field.
    let other =
        shape.map_or(ValueInfo::ANY, |shape| shape.unlisted().map_or(ValueInfo::ANY, ValueInfo::unlisted));
    let others = takes(other) && !shape.is_some_and(SchemaShape::refuses_others);
    let listed = shape.into_iter().flat_map(SchemaShape::fields);
    let listed = listed.filter_map(|it| {
        let number = *core.session.field_numbers.get(it.name)?;
        Some((number, takes(field(of, it.name))))
    });
    let listed: Vec<(u32, bool)> = listed.collect();
    fields_where(core, &listed, others, Vec::new())
}

/// Those of some fields that fit, or also all others except these.
fn fields_where(core: &mut Core<'_>, listed: &[(u32, bool)], others: bool, except: Vec<u32>) -> Integers {
    let mut found = if others { except } else { Vec::new() };
    found.extend(listed.iter().filter(|it| it.1 != others).map(|it| it.0));
    found.sort_unstable();
    found.dedup();
    if others { fields_but(core, &found) } else { list_of(core, &found) }
}

/// The fields of the next pair.
fn pair_fields(core: &mut Core<'_>) -> Integers {
    let Some(frame) = core.frame() else { return Integers::Nothing };
    let Some(shape) = pair_shape(core, &frame) else { return Integers::Nothing };
    let is_merge = frame.word == Word::Merge;
    let selects = shape.arms().and_then(|arms| core.session.field_numbers.get(arms.0).copied());
    if let Some(first) = selects.filter(|&first| !is_merge && !core.in_list(frame.given, first)) {
        return list_of(core, &[first]);
    }
    if frame.counted && !is_merge {
        let mut missing = operands::missing(core, &frame);
        if u32::try_from(missing.len()).is_ok_and(|missing| missing >= frame.left) {
            missing.retain(|&number| operands::pair_want(core, &frame, number).is_some());
            missing.sort_unstable();
            return list_of(core, &missing);
        }
    }
    let mut given: Vec<u32> =
        core.list(frame.given).filter_map(|number| u32::try_from(number).ok()).collect();
    // The last given field is the first of the list; most are given in ascending order.
    given.reverse();
    given.extend(selects.filter(|_| is_merge));
    let numbers = shape.fields().filter_map(|it| {
        let number = *core.session.field_numbers.get(it.name)?;
        Some((number, depth_of(core.session, it.shape).is_some() && !given.contains(&number)))
    });
    let numbers: Vec<(u32, bool)> = numbers.collect();
    let others = shape.unlisted().is_some_and(|rest| depth_of(core.session, rest).is_some());
    fields_where(core, &numbers, others, given)
}

/// The shape that describes the pairs of a call or a record.
pub(crate) fn pair_shape<'c>(core: &Core<'c>, frame: &Frame) -> Option<SchemaShape<'c>> {
    let shape = if frame.word == Word::Call {
        core.session.tools.get(frame.number as usize)?.callee.as_ref()?.input()
    } else {
        offers::shape(core, frame.want).unwrap_or(SchemaShape::ANY)
    };
    let Some(place) = frame.arm else { return Some(shape) };
    shape.arms()?.1.nth(place as usize).map(|it| it.1)
}

/// Whether a set has a number in a range.
fn meets(core: &Core<'_>, set: Integers, low: u32, high: u32) -> bool {
    match set {
        Integers::Nothing => false,
        Integers::Range(least, most) => low <= most && least <= high,
        Integers::Listed(start, length) => within(slice(&core.ids, start, length), low, high) > 0,
        Integers::Kept(place) => within(tool_set(core, place), low, high) > 0,
        Integers::FieldsBut(start, length) => {
            let but = within(slice(&core.ids, start, length), low, high);
            within(&core.session.named, low, high) > but
        }
    }
}

/// Whether a set has a number.
pub(crate) fn has(core: &Core<'_>, set: Integers, number: u32) -> bool {
    meets(core, set, number, number)
}

/// Whether a set has a number that begins with these digits.
pub(crate) fn begins(core: &Core<'_>, set: Integers, digits: u32) -> bool {
    let (mut low, mut high) = (digits, digits);
    // Slots, tools and fields have at most six digits.
    for _ in 0..6 {
        if meets(core, set, low, high) {
            return true;
        }
        if digits == 0 {
            return false;
        }
        low = low.saturating_mul(10);
        high = high.saturating_mul(10).saturating_add(9);
    }
    false
}

/// The least number of a set that satisfies a condition.
pub(crate) fn find(core: &Core<'_>, set: Integers, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
    let mut listed = |all: &[u32]| all.iter().copied().find(|&number| is(number));
    match set {
        Integers::Nothing => None,
        Integers::Range(least, most) => (least..=most).find(|&number| is(number)),
        Integers::Listed(start, length) => listed(slice(&core.ids, start, length)),
        Integers::Kept(place) => listed(tool_set(core, place)),
        Integers::FieldsBut(start, length) => {
            let mut but = slice(&core.ids, start, length).iter().peekable();
            core.session.named.iter().copied().find(|&number| {
                while but.next_if(|it| **it < number).is_some() {}
                but.next_if(|it| **it == number).is_none() && is(number)
            })
        }
    }
}

/// Calls a closure for the numbers of a set, in ascending order.
pub(crate) fn each(core: &Core<'_>, set: Integers, mut run: impl FnMut(u32)) {
    find(core, set, |number| {
        run(number);
        false
    });
}

/// Whether a set has all tools.
pub(crate) fn has_all_tools(core: &Core<'_>, set: Integers) -> bool {
    let count = match set {
        Integers::Listed(_, length) => length as usize,
        Integers::Kept(place) => tool_set(core, place).len(),
        Integers::Nothing | Integers::Range(..) | Integers::FieldsBut(..) => 0,
    };
    count == core.session.tools.len()
}

/// The fields that are not in a set, if it has all others.
pub(crate) fn left_out<'a>(core: &'a Core<'_>, set: Integers) -> Option<&'a [u32]> {
    match set {
        Integers::FieldsBut(start, length) => Some(slice(&core.ids, start, length)),
        _ => None,
    }
}

/// The numbers of a set, in ascending order.
pub(crate) fn members(core: &Core<'_>, set: Integers) -> Vec<u32> {
    let mut members = Vec::new();
    each(core, set, |number| members.push(number));
    members
}

/// The least number of a set.
pub(crate) fn least(core: &Core<'_>, set: Integers) -> Option<u32> {
    find(core, set, |_| true)
}

/// The most fields with numbers that a record of this shape may have.
pub(crate) fn most_fields(session: &Session<'_>, shape: SchemaShape<'_>) -> u32 {
    let fits = |shape| depth_of(session, shape).is_some();
    let (mut known, mut may) = (0, 0);
    for field in shape.fields().filter(|field| session.field_numbers.contains_key(field.name)) {
        known += 1;
        may += u32::from(fits(field.shape));
    }
    let named = u32::try_from(session.named.len()).unwrap_or(u32::MAX);
    let others = if shape.unlisted().is_some_and(fits) { named.saturating_sub(known) } else { 0 };
    may.saturating_add(others)
}
