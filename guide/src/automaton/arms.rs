//! Unions of records that a constant text tells apart. As in the check, such a text selects an arm, which
//! then describes the whole record; any other value of its field leaves the union as it is. So that field is
//! the first one.

use crate::automaton::constants::{DEEPEST_CONSTANT, are_written, fields_depth};
use crate::automaton::integers::{self, most_fields};
use crate::automaton::session::Session;
use crate::automaton::state::{Core, DEPTH, Frame, ITEMS, entry};
use ilo_asm::ast::Literal;
use ilo_asm::catalog::SchemaShape;
use ilo_spec::node::Word;
use ilo_spec::pure::Kinds;

/// The most shapes of a tool that are looked at.
const WITHIN: usize = 4096;

/// The least and the greatest count of a record's fields.
type Counts = (u32, u32);

/// An arm that may be selected.
#[derive(Clone, Copy)]
pub(crate) struct Arm<'c> {
    /// Its place in the union, and the text that selects it.
    place: u32,
    pub(crate) text: &'c str,
    pub(crate) counts: Counts,
}

/// The arms whose texts may be written, each with its place and text; `None` if the shape has no arms.
pub(crate) fn written<'c>(
    union: SchemaShape<'c>,
) -> Option<impl Iterator<Item = (u32, &'c str, SchemaShape<'c>)>> {
    let (name, arms) = union.arms()?;
    let of = move |shape: SchemaShape<'c>| shape.field(name).map(|it| it.0).filter(|it| it.texts().is_some());
    let is_text = |it: SchemaShape<'_>| it.kinds() == Kinds::TEXT && it.texts().is_some_and(are_written);
    let listed = of(union).is_some_and(is_text);
    let arms = (0..).zip(arms).map(|(place, (text, arm))| (place, text, arm));
    Some(arms.filter(move |it| listed && of(it.2).is_some_and(|of| of.refuses_text(it.1).is_none())))
}

/// The arms that may be selected, the least nested first; in a deeply nested record only these. `None` if the
/// shape has no arms.
fn arms<'c>(session: &Session<'c>, union: SchemaShape<'c>, deep: bool) -> Option<Vec<Arm<'c>>> {
    let mut known: Option<(SchemaShape<'_>, Option<(u8, Counts)>)> = None;
    let mut measure = |arm: SchemaShape<'c>| match known.filter(|known| known.0.same(arm)) {
        // Several texts select it.
        Some((_, found)) => found,
        None => {
            let nested = fields_depth(session, arm, DEEPEST_CONSTANT);
            known.insert((arm, nested.zip(counts(session, arm, deep)))).1
        }
    };
    let arms = written(union)?;
    let found = arms.filter_map(|(place, text, arm)| {
        let (nested, counts) = measure(arm)?;
        Some((nested, Arm { place, text, counts }))
    });
    let mut found: Vec<(u8, Arm<'_>)> = found.collect();
    found.sort_by_key(|(nested, arm)| (*nested, arm.counts.0));
    let least = found.first().map_or(0, |it| it.0);
    Some(found.into_iter().filter(|it| !deep || it.0 == least).map(|it| it.1).collect())
}

/// The counts of the fields of a record, whatever selects its arm; `None` if it cannot be written.
pub(crate) fn counts(session: &Session<'_>, shape: SchemaShape<'_>, deep: bool) -> Option<Counts> {
    fields_depth(session, shape, DEEPEST_CONSTANT)?;
    let least = u32::try_from(shape.required().count()).ok()?;
    let all = u32::try_from(session.named.len()).unwrap_or(u32::MAX).min(ITEMS);
    let most = most_fields(session, shape).min(all).max(least);
    Some((least, if deep { least } else { most }))
}

/// The count of the fields in the shortest record of a shape, and the greatest count.
pub(crate) fn record_counts(session: &Session<'_>, shape: SchemaShape<'_>, deep: bool) -> Option<Counts> {
    let Some(arms) = arms(session, shape, deep) else { return counts(session, shape, deep) };
    Some((arms.first()?.counts.0, arms.iter().map(|it| it.counts.1).max()?))
}

/// The arm with the shortest record, or a shape without arms itself.
pub(crate) fn shortest<'c>(session: &Session<'c>, shape: SchemaShape<'c>) -> SchemaShape<'c> {
    let arm = arms(session, shape, false).and_then(|arms| Some(arms.first()?.text));
    shape.arm(|_| arm)
}

/// The shapes within a shape: its arms, and those of its fields and items.
pub(crate) fn parts(shape: SchemaShape<'_>) -> impl Iterator<Item = SchemaShape<'_>> {
    let mut last = SchemaShape::ANY;
    let arms = shape.arms().into_iter().flat_map(|it| it.1.map(|it| it.1));
    let arms = arms.filter(move |arm| !core::mem::replace(&mut last, *arm).same(*arm));
    arms.chain(shape.fields().map(|it| it.shape)).chain([shape.item()])
}

/// All shapes within some, those within the last one first, up to a depth and a number.
pub(crate) fn within<'c>(shapes: &[SchemaShape<'c>]) -> Vec<SchemaShape<'c>> {
    let mut rest: Vec<(SchemaShape<'c>, u8)> = shapes.iter().map(|&shape| (shape, 0)).collect();
    let mut all = Vec::new();
    while let Some((shape, depth)) = rest.pop() {
        all.push(shape);
        if depth < DEEPEST_CONSTANT && all.len() < WITHIN && !shape.is_any() {
            rest.extend(parts(shape).map(|it| (it, depth + 1)));
        }
    }
    all
}

/// The arms of the call or record whose count is next.
pub(crate) fn arms_here<'c>(core: &Core<'c>) -> Option<Vec<Arm<'c>>> {
    let frame = core.frame()?;
    arms(core.session, integers::pair_shape(core, &frame)?, frame.depth >= DEPTH)
}

/// The union of a call or record, if its last field selects an arm.
pub(crate) fn selecting<'c>(core: &Core<'c>, frame: &Frame) -> Option<SchemaShape<'c>> {
    let is_pairs = matches!(frame.word, Word::Obj | Word::Call);
    let &(last, _) = entry(&core.lists, frame.given).filter(|_| is_pairs)?;
    let union = integers::pair_shape(core, frame)?;
    let (name, _) = union.arms()?;
    (core.session.field(u32::try_from(last).ok()?) == Some(name)).then_some(union)
}

/// Whether the value that is next must be a text that selects an arm: with another one, the record would
/// have too many fields, or be nested too deeply.
pub(crate) fn must_select(core: &Core<'_>) -> bool {
    let Some(frame) = core.frame() else { return false };
    let fits = |union| counts(core.session, union, false).is_some_and(|it| has_count(core, &frame, it));
    selecting(core, &frame).is_some_and(|union| frame.depth >= DEPTH || !fits(union))
}

/// Whether the record whose first field was taken can have all its fields. `constrained` counts none.
fn has_count(core: &Core<'_>, frame: &Frame, (least, most): Counts) -> bool {
    core.arena.names || (least..=most).contains(&(frame.left + 1))
}

/// The arms that the text that is next or unfinished may select, if it selects one.
pub(crate) fn selectable<'c>(core: &Core<'c>) -> Option<Vec<Arm<'c>>> {
    let frame = entry(&core.frames, core.frame()?.parent)?;
    let mut arms = arms(core.session, selecting(core, frame)?, frame.depth >= DEPTH)?;
    arms.retain(|it| has_count(core, frame, it.counts));
    Some(arms)
}

/// Selects the arm of a constant in the record around it.
pub(crate) fn select(core: &mut Core<'_>, constant: Literal<'_>) {
    let Literal::Text(text) = constant else { return };
    let arm = selectable(core).and_then(|arms| arms.into_iter().find(|it| it.text == text));
    if let Some((arm, frame)) = arm.zip(core.frame())
        && let Some(&around) = entry(&core.frames, frame.parent)
    {
        let left = if core.arena.names { arm.counts.1 } else { around.left };
        core.set_frame(Frame { arm: Some(arm.place), left, ..around });
        core.set_frame(Frame { parent: core.state.frame, ..frame });
    }
}
