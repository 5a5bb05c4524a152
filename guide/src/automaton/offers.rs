//! What may come next at each position: words, integers and literals.

use crate::automaton::arms;
use crate::automaton::constants::are_written;
use crate::automaton::keys::Numbers;
use crate::automaton::session::Callee;
use crate::automaton::state::{COUNT, Core, DEPTH, Frame, ITEMS, NONE, Phase, SLOTS, Stmt, entry};
use crate::automaton::want::{ANY, Want, WantId};
use crate::automaton::{blocks, integers, operands};
use ilo_asm::catalog::SchemaShape;
use ilo_asm::check::{Part, ValueInfo};
use ilo_asm::rules::{self, Demand, ResultOf};
use ilo_asm::types::Inferred;
use ilo_spec::node::{Place, Shape as Operand, TABLE, Word};
use ilo_spec::pure::{Kinds, Pure};

/// A set of words.
pub(crate) type Words = u128;

pub(crate) fn one(word: Word) -> Words {
    1 << (word as u8)
}

/// The kinds of literals that LIT numbers.
pub(crate) const TEXT: u8 = 0;
pub(crate) const NUMBER: u8 = 1;
pub(crate) const NIL: u8 = 2;
pub(crate) const BOOL: u8 = 3;

pub(crate) fn type_of(kind: u8) -> ValueInfo<'static> {
    match kind {
        TEXT => ValueInfo::held(Inferred::TEXT),
        NUMBER => ValueInfo::held(Inferred::NUMBER),
        NIL => ValueInfo::held(Inferred::NIL).with_part(Part::Nothing),
        _ => ValueInfo::held(Inferred::BOOL),
    }
}

/// The depth of an operand here.
pub(crate) fn depth(core: &Core<'_>) -> u8 {
    core.frame().map_or(0, |frame| frame.depth.saturating_add(1))
}

/// The words that may come next. Those of lines are elsewhere.
pub(crate) fn words(core: &mut Core<'_>) -> Words {
    match core.state.phase {
        Phase::MergeStart if core.frame().is_some_and(|frame| frame.behind) => 0,
        Phase::Operand | Phase::FieldOrName | Phase::MergeStart => expressions(core, core.state.want),
        Phase::Bound => {
            let mut words = expressions(core, ANY);
            if core.state.calls >= crate::automaton::state::CALLS {
                words &= !one(Word::Call);
                let fails = TABLE.iter().filter(|row| row.pure.is_some_and(|it| it.row().fails));
                fails.for_each(|row| words &= !one(row.word));
            }
            let mut controls = blocks::controls(core);
            // A pass of a bound FOR must have a value, which would lose the results that must be matched.
            if core.owes() {
                controls &= !one(Word::For);
            }
            words | controls
        }
        Phase::Path => {
            let want = core.frame().map_or(ANY, |frame| frame.want);
            let of = core.arena.add_want(Want::FieldOf(want));
            let (deep, item) = (depth(core) < DEPTH, has_item(core, want, depth(core)));
            let field = deep && has_path(core, of);
            (if item { one(Word::At) } else { 0 }) | if field { one(Word::Field) } else { 0 }
        }
        Phase::CaseKey if core.frame().is_some_and(|frame| frame.left == 1) => one(Word::Else),
        Phase::CallWord => one(Word::Call),
        Phase::MergeMore => core.trial(|this| {
            this.end_open();
            words(this)
        }),
        _ => 0,
    }
}

/// Whether a slot may be read and has a fitting value.
fn is_readable_as<'c>(core: &Core<'c>, slot: u8, want: Want<'c>) -> bool {
    let known = || core.arena.value(core.now().value(slot));
    core.readable(slot) && core.arena.accepts(core.session, want, known())
}

/// Whether some slot does.
fn readable_as<'c>(core: &Core<'c>, want: Want<'c>) -> bool {
    (0..core.state.next).any(|slot| is_readable_as(core, slot, want))
}

/// Whether some slot has a field that fits, or the item of some list.
fn has_path(core: &mut Core<'_>, want: WantId) -> bool {
    !core.session.fields.is_empty()
        && (readable_as(core, Want::FieldOf(want)) || has_item(core, want, depth(core) + 1))
}

/// Whether the item of some list at a depth has a field that fits.
fn has_item(core: &mut Core<'_>, want: WantId, depth: u8) -> bool {
    let of = Want::IndexOf(core.arena.add_want(Want::FieldOf(want)));
    depth < DEPTH && core.arena.accepts(core.session, of, ValueInfo::held(Inferred::ANY.list()))
}

/// Whether some call has an answer that fits.
pub(crate) fn callable(core: &Core<'_>, number: u32, want: WantId, at: u8, top: bool) -> bool {
    let Some(tool) = core.session.tools.get(number as usize) else { return false };
    let Some((callee, depth)) = tool.callee.as_ref().zip(tool.depth) else { return false };
    // The arguments of a deeply nested call end with constants.
    if at >= DEPTH && depth > 0 {
        return false;
    }
    let marked = mark(core);
    if let Some(word) = marked.filter(|_| top) {
        // What a ROLLBACK has registered is called on its own.
        return if word == Word::Rollback {
            matches!(callee, Callee::Tool(_))
        } else {
            !core.in_list(core.state.registered, number)
        };
    }
    let followed = may_be_followed(core, top);
    if marked == Some(Word::Rollback) || (tool.rollback && !followed) {
        return false;
    }
    core.arena.takes(core.session, want, tool.output)
}

/// The word of the unfinished statement if it is UNDO or ROLLBACK.
pub(crate) fn mark(core: &Core<'_>) -> Option<Word> {
    if let Stmt::Mark(word) = core.state.stmt { Some(word) } else { None }
}

/// Whether the unfinished call may be one that a ROLLBACK must follow.
pub(crate) fn may_be_followed(core: &Core<'_>, top: bool) -> bool {
    top && matches!(core.state.stmt, Stmt::Let | Stmt::Value)
}

pub(crate) fn some_call(core: &mut Core<'_>, want: WantId) -> bool {
    let (depth, top) = (depth(core), core.state.frame == NONE);
    // The arguments of a ROLLBACK have no calls.
    if !top && matches!(core.state.stmt, Stmt::Mark(Word::Rollback)) {
        return false;
    }
    if top && mark(core).is_some() {
        let mut tools = (0_u32..).take(core.session.tools.len());
        return tools.any(|number| callable(core, number, want, depth, top));
    }
    let tools = integers::tools_for(core, want, depth, top);
    integers::least(core, tools).is_some()
}

/// The words of expressions that may fit the want.
pub(crate) fn expressions(core: &mut Core<'_>, want: WantId) -> Words {
    let mut words = settled_words(core, want);
    for word in [Word::Call, Word::Ref, Word::Field] {
        if offers(core, word, want) {
            words |= one(word);
        }
    }
    if depth(core) >= DEPTH {
        words &= one(Word::Lit) | one(Word::List) | one(Word::Obj) | one(Word::Ref);
    }
    if arms::must_select(core) {
        words &= one(Word::Lit);
    }
    words
}

/// The words of expressions that depend only on the want and the session.
fn settled_words(core: &mut Core<'_>, want: WantId) -> Words {
    let key = (core.arena.key(want), core.arena.names);
    if let Some(words) = core.session.kept.words(&key) {
        return words;
    }
    let words = words_of(core, want);
    core.session.kept.keep_words(key, words);
    words
}

/// The same, computed.
fn words_of(core: &mut Core<'_>, want: WantId) -> Words {
    let settled = |word: &Word| !matches!(word, Word::Call | Word::Ref | Word::Field);
    let all = TABLE.iter().filter(|row| row.place == Place::Expression).map(|row| row.word);
    all.filter(settled).filter(|&word| offers(core, word, want)).fold(0, |words, word| words | one(word))
}

fn offers(core: &mut Core<'_>, word: Word, want: WantId) -> bool {
    let session = core.session;
    let fits = |this: &Core<'_>, ty| this.arena.takes_type(session, want, ty);
    match word {
        Word::Call => some_call(core, want),
        Word::Ref => readable_as(core, core.arena.want(want)),
        Word::Lit => literal_kinds(core, want) != 0,
        Word::Field => has_path(core, want),
        Word::List => core.arena.takes(session, want, crate::automaton::want::empty_list()),
        Word::Obj => fits(core, Inferred::RECORD) && record_counts(core, want, depth(core)).is_some(),
        Word::Merge => fits(core, Inferred::RECORD),
        Word::MatchMap => core.arena.plain(session, core.arena.want(want)).is_some(),
        Word::Append if !is_plain(core, want) && !operands::items_end(core, want, 0) => false,
        _ if !depends(word) => rules::gives(word, None, None).is_some_and(|ty| fits(core, ty)),
        _ => {
            let first = first_want(core, word, want);
            core.arena.plain(session, core.arena.want(first)).is_some()
        }
    }
}

/// Whether a want is of a type alone, of which there is a constant.
fn is_plain(core: &Core<'_>, want: WantId) -> bool {
    matches!(core.arena.want(want), Want::Any | Want::Demand(_))
}

/// The want of the first operand of a word.
pub(crate) fn first_want(core: &mut Core<'_>, word: Word, want: WantId) -> WantId {
    let demand = rules::operand(word, 0, None);
    let whole = match word {
        Word::At => Want::IndexOf(want),
        Word::Append => Want::And(Demand::LIST, want),
        Word::Find if is_plain(core, want) => Want::Demand(demand),
        _ if depends(word) => Want::First(word, want),
        _ => Want::Demand(demand),
    };
    core.arena.add_want(whole)
}

/// The want of an operand after the first.
pub(crate) fn next_want(core: &mut Core<'_>, frame: &Frame) -> WantId {
    let first = core.arena.value(frame.first).ty;
    let word = frame.word;
    let demand = rules::operand(word, frame.index.into(), Some(first));
    let want = match word {
        Word::Eq | Word::Neq => Want::Equal(first),
        Word::Concat if first.lists > 0 => Want::And(Demand::LIST, frame.want),
        Word::Add if first.lists > 0 => Want::And(demand, frame.want),
        Word::Append => core.arena.item_want(frame.want),
        Word::Concat => {
            let list = core.arena.takes_type(core.session, frame.want, Inferred::ANY.list());
            let text = core.arena.takes_type(core.session, frame.want, Inferred::TEXT);
            if list && !text {
                Want::Demand(Demand::LIST)
            } else {
                Want::Part { no_list: first == Inferred::TEXT }
            }
        }
        Word::Add if first == Inferred::ANY => {
            let takes = |ty| core.arena.takes_type(core.session, frame.want, ty);
            let text = !core.arena.names && takes(Inferred::TEXT);
            match (takes(Inferred::NUMBER), text, takes(Inferred::ANY.list())) {
                (true, true, true) => Want::Demand(demand),
                (true, _, _) => Want::Demand(Demand::Is(Inferred::NUMBER)),
                (_, _, true) => Want::Demand(Demand::LIST),
                _ => Want::Demand(Demand::Is(Inferred::TEXT)),
            }
        }
        _ => Want::Demand(demand),
    };
    core.arena.add_want(want)
}

/// The kinds of LIT that may fit the want, as bits.
pub(crate) fn literal_kinds(core: &Core<'_>, want: WantId) -> u8 {
    let kinds = [TEXT, NUMBER, NIL, BOOL].into_iter();
    kinds.filter(|&kind| is_kind(core, kind, want)).fold(0, |kinds, kind| kinds | 1 << kind)
}

/// Whether a kind of LIT may fit the want.
pub(crate) fn is_kind(core: &Core<'_>, kind: u8, want: WantId) -> bool {
    core.arena.takes(core.session, want, type_of(kind))
        && shape(core, want).is_none_or(|shape| has_literal(shape, kind))
        && !(kind == TEXT && key_names(core).is_some_and(|names| names.is_empty()))
}

/// The fields that the constant which comes next may name: those that a schema lists of a record, as the
/// key of AT, or those by which records of a list are ordered, grouped or found where it forbids others.
pub(crate) fn key_names<'c>(core: &Core<'c>) -> Option<Vec<&'c str>> {
    const WORDS: [Word; 6] =
        [Word::Sort, Word::SortDown, Word::Unique, Word::Group, Word::Column, Word::Find];
    let frame = entry(&core.frames, core.state.frame)?;
    let of = if frame.word == Word::Lit { entry(&core.frames, frame.parent)? } else { frame };
    let is_at = of.word == Word::At;
    if of.index != 1 || !(is_at || WORDS.contains(&of.word)) {
        return None;
    }
    let part = core.arena.value(of.first).part;
    let shape = if is_at { part.shape() } else { part.item().shape() }?;
    if !(shape.refuses_others() || is_at && shape.fields().len() > 0) {
        return None;
    }
    let want = if is_at { of.want } else { ANY };
    Some(core.arena.keys(core.session, want, shape).collect())
}

pub(crate) fn shape<'c>(core: &Core<'c>, want: WantId) -> Option<SchemaShape<'c>> {
    if let Want::Shape(shape) = core.arena.want(want) { Some(shape) } else { None }
}

/// The least and greatest count of the fields of a record.
pub(crate) fn record_counts(core: &Core<'_>, want: WantId, depth: u8) -> Option<(u32, u32)> {
    let shape = shape(core, want).unwrap_or(SchemaShape::ANY);
    arms::record_counts(core.session, shape, depth >= DEPTH)
}

/// The most fields that the open MERGE may set. None of them selects an arm.
pub(crate) fn most_changes(core: &Core<'_>) -> u32 {
    let shape = shape(core, frame_want(core)).unwrap_or(SchemaShape::ANY);
    let most = arms::counts(core.session, shape, false).map_or(0, |it| it.1);
    most.saturating_sub(shape.arms().is_some().into())
}

/// Whether a slot or a kind of LIT may come next.
pub(crate) fn takes_integer(core: &Core<'_>, number: u32) -> bool {
    let slot = u8::try_from(number).unwrap_or(SLOTS);
    match core.state.phase {
        Phase::Slot if core.state.stmt == Stmt::Opens(Word::Match) => core.matchable(slot),
        Phase::Slot => core.bindable(slot),
        Phase::RefSlot => {
            slot < core.state.next && is_readable_as(core, slot, core.arena.want(frame_want(core)))
        }
        Phase::Path => slot < core.state.next && is_readable_as(core, slot, Want::FieldOf(frame_want(core))),
        Phase::LitKind => number <= 3 && literal_kinds(core, frame_want(core)) >> number & 1 == 1,
        _ => false,
    }
}

/// The least and the greatest count that may come next.
pub(crate) fn counts(core: &Core<'_>) -> Option<(u32, u32)> {
    Some(match core.state.phase {
        Phase::MatchCount => (1, 2),
        Phase::BlockCount => (0, COUNT),
        Phase::PairCount => operands::pair_counts(core)?,
        Phase::ItemCount => {
            let ends = core.frame().is_some_and(|frame| operands::items_end(core, frame.want, frame.depth));
            (0, if ends { ITEMS } else { 0 })
        }
        Phase::CaseCount => {
            let takes_none = core.arena.takes(core.session, frame_want(core), type_of(NIL));
            (u32::from(!takes_none), operands::most_cases(core))
        }
        Phase::MergeStart => (0, most_changes(core)),
        _ => return None,
    })
}

/// Whether a count of items, pairs or cases is next.
pub(crate) fn is_count(core: &Core<'_>) -> bool {
    matches!(core.state.phase, Phase::ItemCount | Phase::PairCount | Phase::CaseCount | Phase::MergeStart)
}

fn frame_want(core: &Core<'_>) -> WantId {
    core.frame().map_or(ANY, |frame| frame.want)
}

/// Whether the type of a word's value depends on its first operand.
fn depends(word: Word) -> bool {
    word.row()
        .pure
        .is_some_and(|it| rules::keeps_list(it) || matches!(it, Pure::Min | Pure::Max | Pure::Find))
        || matches!(rules::rule(word).1, ResultOf::Item | ResultOf::Sum | ResultOf::Join | ResultOf::Appended)
}

fn has_literal(shape: SchemaShape<'_>, kind: u8) -> bool {
    match kind {
        TEXT => shape.texts().is_none_or(are_written),
        NUMBER => !matches!(Numbers::of(shape), Numbers::Listed([])),
        _ => shape.kinds().meets(if kind == NIL { Kinds::NIL } else { Kinds::BOOL }),
    }
}

/// Whether an operand of a word may be a field's number.
pub(crate) fn is_field_or_name(word: Word, index: usize) -> bool {
    word.row().operands.get(index) == Some(&Operand::FieldOrName)
}
