//! What may come next at each position: words, integers and literals.

use crate::automaton::arms;
use crate::automaton::constants::are_written;
use crate::automaton::keys::Numbers;
use crate::automaton::session::{Callee, Numbered};
use crate::automaton::state::{COUNT, Core, DEPTH, Frame, ITEMS, NONE, Phase, SLOTS, Stmt, entry};
use crate::automaton::want::{ANY, Want, WantId};
use ilo_asm::catalog::SchemaShape;
use ilo_asm::check::{Part, ValueInfo};
use ilo_asm::rules::{self, Demand, Gives};
use ilo_asm::types::Inferred;
use ilo_spec::node::{Place, Shape as Operand, TABLE, Word};
use ilo_spec::pure::{Kinds, Pure};
use std::sync::LazyLock;

/// A set of words.
pub(crate) type Words = u128;

pub(crate) fn one(word: Word) -> Words {
    1 << (word as u8)
}

/// The words of expressions by the types of their values.
struct Fixed {
    /// Those whose type does not depend on operands, by that type.
    of: Vec<(Inferred, Words)>,
    /// The others.
    depend: Vec<Word>,
}

static FIXED: LazyLock<Fixed> = LazyLock::new(|| {
    let mut fixed = Fixed { of: Vec::new(), depend: Vec::new() };
    for row in TABLE.iter().filter(|row| row.place == Place::Expression) {
        match rules::gives(row.word, None, None) {
            _ if depends(row.word) => fixed.depend.push(row.word),
            // These have conditions of their own.
            _ if matches!(row.word, Word::Field | Word::Obj | Word::Merge) => {}
            Some(ty) => match fixed.of.iter_mut().find(|of| of.0 == ty) {
                Some((_, words)) => *words |= one(row.word),
                None => fixed.of.push((ty, one(row.word))),
            },
            None => {}
        }
    }
    fixed
});

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

impl<'c> Core<'c> {
    /// The depth of an operand here.
    pub(crate) fn depth(&self) -> u8 {
        self.frame().map_or(0, |frame| frame.depth.saturating_add(1))
    }

    /// The words that may come next. Those of lines are elsewhere.
    pub(crate) fn words(&mut self) -> Words {
        match self.state.phase {
            Phase::MergeStart if self.frame().is_some_and(|frame| frame.behind) => 0,
            Phase::Operand | Phase::FieldOrName | Phase::MergeStart => self.expressions(self.state.want),
            Phase::Bound => {
                let mut words = self.expressions(ANY);
                if self.state.calls >= crate::automaton::state::CALLS {
                    words &= !one(Word::Call);
                    let fails = TABLE.iter().filter(|row| row.pure.is_some_and(|it| it.row().fails));
                    fails.for_each(|row| words &= !one(row.word));
                }
                let mut controls = self.controls();
                // A pass of a bound FOR must have a value, which would lose the results that must be matched.
                if self.owes() {
                    controls &= !one(Word::For);
                }
                words | controls
            }
            Phase::Path => {
                let want = self.frame().map_or(ANY, |frame| frame.want);
                let of = self.arena.add_want(Want::FieldOf(want));
                let (deep, item) = (self.depth() < DEPTH, self.has_item(want, self.depth()));
                let field = deep && self.has_path(of);
                (if item { one(Word::At) } else { 0 }) | if field { one(Word::Field) } else { 0 }
            }
            Phase::CaseKey if self.frame().is_some_and(|frame| frame.left == 1) => one(Word::Else),
            Phase::CallWord => one(Word::Call),
            Phase::MergeMore => self.trial(|this| {
                this.end_open();
                this.words()
            }),
            _ => 0,
        }
    }

    /// Whether a slot may be read and has a fitting value.
    fn is_readable_as(&self, slot: u8, want: Want<'c>) -> bool {
        let known = || self.arena.value(self.now().value(slot));
        self.readable(slot) && self.arena.accepts(self.session, want, known())
    }

    /// Whether some slot does.
    fn readable_as(&self, want: Want<'c>) -> bool {
        (0..self.state.next).any(|slot| self.is_readable_as(slot, want))
    }

    /// Whether some slot has a field that fits, or the item of some list.
    fn has_path(&mut self, want: WantId) -> bool {
        !self.session.fields.is_empty()
            && (self.readable_as(Want::FieldOf(want)) || self.has_item(want, self.depth() + 1))
    }

    /// Whether the item of some list at a depth has a field that fits.
    fn has_item(&mut self, want: WantId, depth: u8) -> bool {
        let of = Want::IndexOf(self.arena.add_want(Want::FieldOf(want)));
        depth < DEPTH && self.arena.accepts(self.session, of, ValueInfo::held(Inferred::ANY.list()))
    }

    /// Whether some call has an answer that fits.
    pub(crate) fn callable(&self, number: u32, want: WantId, at: u8, top: bool) -> bool {
        let Some(tool) = self.session.tools.get(number as usize) else { return false };
        let Some((callee, depth)) = tool.callee.as_ref().zip(tool.depth) else { return false };
        // The arguments of a deeply nested call end with constants.
        if at >= DEPTH && depth > 0 {
            return false;
        }
        let marked = self.mark();
        if let Some(word) = marked.filter(|_| top) {
            let is_tool = matches!(callee, Callee::Tool(_));
            return (is_tool || word != Word::Rollback) && !self.in_list(self.named_by(word), number);
        }
        let followed = self.may_be_followed(top);
        if marked == Some(Word::Rollback) || (tool.rollback && !followed) {
            return false;
        }
        self.arena.takes(self.session, want, tool.output)
    }

    /// The word of the unfinished statement if it is UNDO or ROLLBACK.
    pub(crate) fn mark(&self) -> Option<Word> {
        if let Stmt::Mark(word) = self.state.stmt { Some(word) } else { None }
    }

    /// The tools that a statement with this word, UNDO or ROLLBACK, may not call, since the program names
    /// them already.
    pub(crate) fn named_by(&self, word: Word) -> u32 {
        match word {
            Word::Rollback if self.block().loops == 0 => NONE,
            Word::Rollback => self.state.undone,
            _ => self.state.registered,
        }
    }

    /// Whether the unfinished call may be one that a ROLLBACK must follow. In a loop, such a ROLLBACK cannot
    /// name a tool that UNDO names.
    pub(crate) fn may_be_followed(&self, top: bool) -> bool {
        let block = self.block();
        let is_free = |(number, tool): (u32, &Numbered<'_>)| {
            let is_tool = tool.depth.is_some() && matches!(tool.callee, Some(Callee::Tool(_)));
            is_tool && !self.in_list(self.state.undone, number)
        };
        top && matches!(self.state.stmt, Stmt::Let | Stmt::Value)
            && (block.loops == 0 || self.state.undone == NONE || (0..).zip(&self.session.tools).any(is_free))
    }

    pub(crate) fn some_call(&mut self, want: WantId) -> bool {
        let (depth, top) = (self.depth(), self.state.frame == NONE);
        // The arguments of a ROLLBACK have no calls.
        if !top && matches!(self.state.stmt, Stmt::Mark(Word::Rollback)) {
            return false;
        }
        if top && matches!(self.state.stmt, Stmt::Mark(_)) {
            let count = u32::try_from(self.session.tools.len()).unwrap_or(u32::MAX);
            return (0..count).any(|number| self.callable(number, want, depth, top));
        }
        let tools = self.tools_for(want, depth, top);
        self.least(tools).is_some()
    }

    /// The words of expressions that may fit the want.
    pub(crate) fn expressions(&mut self, want: WantId) -> Words {
        let mut words = self.settled_words(want);
        for word in [Word::Call, Word::Ref, Word::Field] {
            if self.offers(word, want) {
                words |= one(word);
            }
        }
        if self.depth() >= DEPTH {
            words &= one(Word::Lit) | one(Word::List) | one(Word::Obj) | one(Word::Ref);
        }
        if self.must_select() {
            words &= one(Word::Lit);
        }
        words
    }

    /// The words of expressions that depend only on the want and the session.
    fn settled_words(&mut self, want: WantId) -> Words {
        let key = self.arena.key(want).map(|key| (key, self.arena.adds_texts));
        if let Some(words) = key.as_ref().and_then(|key| self.session.kept.words(key)) {
            return words;
        }
        let words = self.words_of(want);
        if let Some(key) = key {
            self.session.kept.keep_words(key, words);
        }
        words
    }

    /// The same, computed.
    fn words_of(&mut self, want: WantId) -> Words {
        let fits = |of: &&(Inferred, Words)| self.arena.takes_type(self.session, want, of.0);
        let mut words = FIXED.of.iter().filter(fits).fold(0, |words, of| words | of.1);
        let built = [Word::Lit, Word::List, Word::Obj, Word::Merge, Word::MatchMap];
        for &word in built.iter().chain(&FIXED.depend) {
            if self.offers(word, want) {
                words |= one(word);
            }
        }
        words
    }

    fn offers(&mut self, word: Word, want: WantId) -> bool {
        let session = self.session;
        let fits = |this: &Self, ty| this.arena.takes_type(session, want, ty);
        match word {
            Word::Call => self.some_call(want),
            Word::Ref => self.readable_as(self.arena.want(want)),
            Word::Lit => self.literal_kinds(want) != 0,
            Word::Field => self.has_path(want),
            Word::List => self.arena.takes(session, want, crate::automaton::want::empty_list()),
            Word::Obj => fits(self, Inferred::RECORD) && self.record_counts(want, self.depth()).is_some(),
            Word::Merge => fits(self, Inferred::RECORD),
            Word::MatchMap => self.arena.plain(session, self.arena.want(want)).is_some(),
            Word::Append if !self.is_plain(want) && !self.items_end(want, 0) => false,
            _ => {
                let first = self.first_want(word, want);
                self.arena.plain(session, self.arena.want(first)).is_some()
            }
        }
    }

    /// Whether a want is of a type alone, of which there is a constant.
    fn is_plain(&self, want: WantId) -> bool {
        matches!(self.arena.want(want), Want::Any | Want::Demand(_))
    }

    /// The want of the first operand of a word.
    pub(crate) fn first_want(&mut self, word: Word, want: WantId) -> WantId {
        let demand = rules::operand(word, 0, None);
        let whole = match word {
            Word::At => Want::IndexOf(want),
            Word::Append => Want::And(Demand::LIST, want),
            Word::Find if self.is_plain(want) => Want::Demand(demand),
            _ if depends(word) => Want::First(word, want),
            _ => Want::Demand(demand),
        };
        self.arena.add_want(whole)
    }

    /// The want of an operand after the first.
    pub(crate) fn next_want(&mut self, frame: &Frame) -> WantId {
        let first = self.arena.value(frame.first).ty;
        let word = frame.word;
        let demand = rules::operand(word, frame.index.into(), Some(first));
        let want = match word {
            Word::Eq | Word::Neq => Want::Equal(first),
            Word::Concat if first.lists > 0 => Want::And(Demand::LIST, frame.want),
            Word::Add if first.lists > 0 => Want::And(demand, frame.want),
            Word::Append => self.arena.item_want(frame.want),
            Word::Concat => {
                let list = self.arena.takes_type(self.session, frame.want, Inferred::ANY.list());
                let text = self.arena.takes_type(self.session, frame.want, Inferred::TEXT);
                if list && !text {
                    Want::Demand(Demand::LIST)
                } else {
                    Want::Part { no_list: first == Inferred::TEXT }
                }
            }
            Word::Add if first == Inferred::ANY => {
                let takes = |ty| self.arena.takes_type(self.session, frame.want, ty);
                let text = self.arena.adds_texts && takes(Inferred::TEXT);
                match (takes(Inferred::NUMBER), text, takes(Inferred::ANY.list())) {
                    (true, true, true) => Want::Demand(demand),
                    (true, _, _) => Want::Demand(Demand::Is(Inferred::NUMBER)),
                    (_, _, true) => Want::Demand(Demand::LIST),
                    _ => Want::Demand(Demand::Is(Inferred::TEXT)),
                }
            }
            _ => Want::Demand(demand),
        };
        self.arena.add_want(want)
    }

    /// The kinds of LIT that may fit the want, as bits.
    pub(crate) fn literal_kinds(&self, want: WantId) -> u8 {
        let kinds = [TEXT, NUMBER, NIL, BOOL].into_iter();
        kinds.filter(|&kind| self.is_kind(kind, want)).fold(0, |kinds, kind| kinds | 1 << kind)
    }

    /// Whether a kind of LIT may fit the want.
    pub(crate) fn is_kind(&self, kind: u8, want: WantId) -> bool {
        self.arena.takes(self.session, want, type_of(kind))
            && self.shape(want).is_none_or(|shape| has_literal(shape, kind))
            && !(kind == TEXT && self.key_names().is_some_and(|names| names.is_empty()))
    }

    /// The fields that the constant which comes next may name, where a schema forbids others: those of a
    /// record, as the key of AT, or those by which records of a list are ordered, grouped or found.
    #[inline]
    pub(crate) fn key_names(&self) -> Option<Vec<&'c str>> {
        if self.session.closed { self.closed_names() } else { None }
    }

    #[cold]
    fn closed_names(&self) -> Option<Vec<&'c str>> {
        const WORDS: [Word; 6] =
            [Word::Sort, Word::SortDown, Word::Unique, Word::Group, Word::Column, Word::Find];
        let frame = entry(&self.frames, self.state.frame)?;
        let of = if frame.word == Word::Lit { entry(&self.frames, frame.parent)? } else { frame };
        let is_at = of.word == Word::At;
        if of.index != 1 || !(is_at || WORDS.contains(&of.word)) {
            return None;
        }
        let part = self.arena.value(of.first).part;
        let shape = if is_at { part.shape() } else { part.item().shape() };
        let shape = shape.filter(|shape| shape.refuses_others())?;
        let want = if is_at { of.want } else { ANY };
        Some(self.arena.keys(self.session, want, shape).collect())
    }

    pub(crate) fn shape(&self, want: WantId) -> Option<SchemaShape<'c>> {
        if let Want::Shape(shape) = self.arena.want(want) { Some(shape) } else { None }
    }

    /// The least and greatest count of the fields of a record.
    pub(crate) fn record_counts(&self, want: WantId, depth: u8) -> Option<(u32, u32)> {
        let shape = self.shape(want).unwrap_or(SchemaShape::ANY);
        arms::record_counts(self.session, shape, depth >= DEPTH)
    }

    /// The most fields that the open MERGE may set. None of them selects an arm.
    pub(crate) fn most_changes(&self) -> u32 {
        let shape = self.shape(self.frame_want()).unwrap_or(SchemaShape::ANY);
        let most = arms::counts(self.session, shape, false).map_or(0, |it| it.1);
        most.saturating_sub(shape.arms().is_some().into())
    }

    /// Whether a slot or a kind of LIT may come next.
    pub(crate) fn takes_integer(&self, number: u32) -> bool {
        let slot = u8::try_from(number).unwrap_or(SLOTS);
        match self.state.phase {
            Phase::Slot if self.state.stmt == Stmt::Opens(Word::Match) => self.matchable(slot),
            Phase::Slot => self.bindable(slot),
            Phase::RefSlot => {
                slot < self.state.next && self.is_readable_as(slot, self.arena.want(self.frame_want()))
            }
            Phase::Path => {
                slot < self.state.next && self.is_readable_as(slot, Want::FieldOf(self.frame_want()))
            }
            Phase::LitKind => number <= 3 && self.literal_kinds(self.frame_want()) >> number & 1 == 1,
            _ => false,
        }
    }

    /// The least and the greatest count that may come next.
    pub(crate) fn counts(&self) -> Option<(u32, u32)> {
        Some(match self.state.phase {
            Phase::MatchCount => (1, 2),
            Phase::BlockCount => (0, COUNT),
            Phase::PairCount => self.pair_counts()?,
            Phase::ItemCount => {
                let ends = self.frame().is_some_and(|frame| self.items_end(frame.want, frame.depth));
                (0, if ends { ITEMS } else { 0 })
            }
            Phase::CaseCount => {
                let takes_none = self.arena.takes(self.session, self.frame_want(), type_of(NIL));
                (u32::from(!takes_none), self.most_cases())
            }
            Phase::MergeStart => (0, self.most_changes()),
            _ => return None,
        })
    }

    /// Whether a count of items, pairs or cases is next.
    pub(crate) fn is_count(&self) -> bool {
        matches!(self.state.phase, Phase::ItemCount | Phase::PairCount | Phase::CaseCount | Phase::MergeStart)
    }

    fn frame_want(&self) -> WantId {
        self.frame().map_or(ANY, |frame| frame.want)
    }
}

/// Whether the type of a word's value depends on its first operand.
fn depends(word: Word) -> bool {
    let is = |word| rules::TABLE.iter().find(|rule| rule.word == word).map(|rule| rule.gives);
    word.row()
        .pure
        .is_some_and(|it| rules::keeps_list(it) || matches!(it, Pure::Min | Pure::Max | Pure::Find))
        || matches!(is(word), Some(Gives::Item | Gives::Sum | Gives::Join | Gives::Appended))
}

/// Whether what follows two words of expressions depends on nothing that they do not have in common.
fn are_alike(a: Word, b: Word) -> bool {
    let plain = [Inferred::ANY, Inferred::TEXT, Inferred::NUMBER, Inferred::RECORD];
    let firsts = plain.into_iter().chain(plain.map(Inferred::list));
    let is_fixed = |word: Word| FIXED.of.iter().any(|of| of.1 & one(word) != 0);
    let is_equality = |word| matches!(word, Word::Eq | Word::Neq);
    let fails = |word: Word| word.row().pure.is_some_and(|it| it.row().fails);
    let types = |first| {
        let operands = |word| (0..3).map(move |index| rules::operand(word, index, first));
        rules::gives(a, first, None) == rules::gives(b, first, None) && operands(a).eq(operands(b))
    };
    let has_same = is_fixed(a) && is_fixed(b) && is_equality(a) == is_equality(b) && fails(a) == fails(b);
    has_same && a.row().operands == b.row().operands && [None].into_iter().chain(firsts.map(Some)).all(types)
}

/// For each word, the first one that is like it.
static ALIKE: LazyLock<Vec<(Word, Word)>> = LazyLock::new(|| {
    let words = || TABLE.iter().map(|row| row.word);
    let first = |word| words().find(|&it| it == word || are_alike(it, word)).unwrap_or(word);
    words().map(|word| (word, first(word))).collect()
});

/// The word in the place of all those after which ends have the same length as after this one.
pub(crate) fn alike(word: Word) -> Word {
    ALIKE.iter().find(|it| it.0 == word).map_or(word, |it| it.1)
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
