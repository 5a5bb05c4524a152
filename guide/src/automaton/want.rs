//! Wants: the requirements on an operand, from words, from shapes, and from both if a word passes its own on.

use crate::automaton::session::Session;
use crate::automaton::state::{NONE, add, entry};
use core::mem::discriminant;
use ilo_asm::catalog::SchemaShape;
use ilo_asm::check::{Part, ValueInfo};
use ilo_asm::rules::{self, Demand};
use ilo_asm::types::{Inferred, InferredBase};
use ilo_spec::node::Word;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The number of a want in the arena.
pub(crate) type WantId = u32;

/// The requirements on a value.
#[derive(Clone, Copy)]
pub(crate) enum Want<'c> {
    Any,
    Demand(Demand),
    /// The same, or nil.
    OrNil(Demand),
    /// An argument, or a part of one.
    Shape(SchemaShape<'c>),
    /// A record, or a list whose items are wanted.
    IndexOf(WantId),
    /// A record with a field that is wanted.
    FieldOf(WantId),
    /// Both.
    And(Demand, WantId),
    /// What the demand accepts, as an item of a list that is wanted.
    ItemOf(WantId, Demand),
    /// A value that may be equal to one of this type.
    Equal(Inferred),
    /// Not nil and, if set, not a list: a part of a text.
    Part {
        no_list: bool,
    },
    /// A value that, as this word's first operand, leads to the inner want.
    First(Word, WantId),
}

/// A want with everything that it refers to, as a hash, by which results for it are kept for a session. A
/// collision of two wants is practically impossible.
pub(crate) type WantKey = u64;

/// All growing data of an unfinished program. Entries never change, so going back only truncates.
#[derive(Clone)]
pub(crate) struct Arena<'c> {
    pub(crate) wants: Vec<Want<'c>>,
    pub(crate) values: Vec<ValueInfo<'c>>,
    /// Whether names are written as texts, as in `constrained`: ADD takes no text, since one may be meant as
    /// a name, and a step that binds a name may be a value too.
    pub(crate) names: bool,
}

/// The number of first values that are reused for equal types.
const OFTEN: usize = 12;

/// The want of any value.
pub(crate) const ANY: WantId = 0;

impl<'c> Arena<'c> {
    pub(crate) fn new() -> Arena<'c> {
        Arena { wants: vec![Want::Any], values: vec![ValueInfo::ANY], names: false }
    }

    pub(crate) fn memory(&self) -> usize {
        self.wants.capacity() * size_of::<Want<'_>>() + self.values.capacity() * size_of::<ValueInfo<'_>>()
    }

    pub(crate) fn want(&self, id: WantId) -> Want<'c> {
        self.wants.get(id as usize).copied().unwrap_or(Want::Any)
    }

    pub(crate) fn add_want(&mut self, want: Want<'c>) -> WantId {
        match want {
            Want::Any | Want::Demand(Demand::ANY) => return ANY,
            Want::Shape(shape) if shape.is_any() => return ANY,
            Want::And(demand, ANY) => return self.add_want(Want::Demand(demand)),
            _ => {}
        }
        self.wants.push(want);
        u32::try_from(self.wants.len() - 1).unwrap_or(u32::MAX)
    }

    /// A want with everything that it refers to.
    pub(crate) fn key(&self, want: WantId) -> WantKey {
        let mut hasher = DefaultHasher::new();
        let mut next = Some(want);
        while let Some(want) = next.map(|of| self.want(of)) {
            discriminant(&want).hash(&mut hasher);
            next = match want {
                Want::IndexOf(of) | Want::FieldOf(of) => Some(of),
                Want::And(demand, of) | Want::ItemOf(of, demand) => {
                    demand.hash(&mut hasher);
                    Some(of)
                }
                Want::First(word, of) => {
                    word.hash(&mut hasher);
                    Some(of)
                }
                _ => None,
            };
            match want {
                Want::Demand(demand) | Want::OrNil(demand) => demand.hash(&mut hasher),
                Want::Shape(shape) => shape.place().hash(&mut hasher),
                Want::Equal(ty) => ty.hash(&mut hasher),
                Want::Part { no_list } => no_list.hash(&mut hasher),
                _ => {}
            }
        }
        hasher.finish()
    }

    /// Whether the type of a value alone decides whether it fits.
    fn is_of_type(&self, want: WantId) -> bool {
        match self.want(want) {
            Want::Shape(_) | Want::FieldOf(_) | Want::IndexOf(_) => false,
            Want::And(_, of) | Want::ItemOf(of, _) | Want::First(_, of) => self.is_of_type(of),
            Want::Any | Want::Demand(_) | Want::OrNil(_) | Want::Equal(_) | Want::Part { .. } => true,
        }
    }

    pub(crate) fn value(&self, id: u32) -> ValueInfo<'c> {
        entry(&self.values, id).copied().unwrap_or(ValueInfo::ANY)
    }

    pub(crate) fn add_value(&mut self, known: ValueInfo<'c>) -> u32 {
        // Many values have nothing known except their type.
        let same = |it: &&ValueInfo<'c>| {
            let unknown = matches!((it.part, known.part), (Part::Unknown, Part::Unknown));
            unknown && it.ty == known.ty && it.held == known.held
        };
        if let Some(at) = self.values.iter().take(OFTEN).position(|it| same(&it)) {
            return u32::try_from(at + 1).unwrap_or(NONE);
        }
        add(&mut self.values, known)
    }

    /// A value that is one or the other, of which each may be missing.
    pub(crate) fn either(&mut self, a: u32, b: u32) -> u32 {
        match (a, b) {
            (NONE, one) | (one, NONE) => one,
            _ => self.add_value(either(self.value(a), self.value(b))),
        }
    }

    pub(crate) fn takes(&self, session: &Session<'c>, want: WantId, known: ValueInfo<'c>) -> bool {
        want == ANY || self.accepts(session, self.want(want), known)
    }

    pub(crate) fn takes_type(&self, session: &Session<'c>, want: WantId, ty: Inferred) -> bool {
        self.takes(session, want, ValueInfo::held(ty))
    }

    /// Whether a value may be given for this want.
    pub(crate) fn accepts(&self, session: &Session<'c>, want: Want<'c>, known: ValueInfo<'c>) -> bool {
        let ty = known.ty;
        match want {
            Want::Any => true,
            Want::Demand(demand) => demand.accepts(ty),
            Want::OrNil(demand) => ty == Inferred::NIL || demand.accepts(ty),
            Want::Shape(shape) => accepts_shape(shape, known),
            Want::IndexOf(of) => Demand::INDEXABLE.accepts(ty) && self.takes_item(session, of, known),
            Want::FieldOf(of) => {
                Demand::Is(Inferred::RECORD).accepts(ty) && self.has_field(session, known, of)
            }
            Want::And(demand, of) => {
                // The result of appending is a list, whatever was known of the operand.
                let is_list = demand == Demand::LIST && ty == Inferred::ANY;
                let ty = if is_list { Inferred::ANY.list() } else { ty };
                demand.accepts(ty) && self.takes(session, of, ValueInfo { ty, ..known })
            }
            Want::ItemOf(of, demand) => {
                demand.accepts(ty) && self.accepts(session, self.item_want(of), known)
            }
            Want::Equal(other) => rules::may_be_equal(ty, other),
            Want::Part { no_list } => ty != Inferred::NIL && !(no_list && ty.lists > 0),
            Want::First(word, of) => self.takes_first(session, word, of, known),
        }
    }

    /// The want of the items of a list.
    pub(crate) fn item_want(&self, want: WantId) -> Want<'c> {
        let (word, of) = match self.want(want) {
            Want::Shape(shape) => return Want::Shape(shape.item()),
            Want::Demand(Demand::Is(ty)) | Want::OrNil(Demand::Is(ty)) if ty.lists > 0 => {
                return Want::Demand(Demand::Is(rules::item(ty)));
            }
            Want::IndexOf(of) => return self.want(of),
            Want::And(_, of) => return self.item_want(of),
            Want::First(word, of) => (word, of),
            _ => return Want::Any,
        };
        let is_item = matches!(word, Word::Min | Word::Max | Word::Find);
        let inner = if is_item { self.want(of) } else { self.item_want(of) };
        let demand = match rules::operand(word, 0, None) {
            Demand::ListOf(kinds) => Demand::Kinds(kinds),
            _ if word == Word::Find => Demand::Is(Inferred::RECORD),
            _ => return inner,
        };
        match inner {
            // A record that is found may be any value.
            _ if word == Word::Find && self.is_of_type(of) => Want::Demand(demand),
            Want::Any => Want::Demand(demand),
            Want::Demand(Demand::Is(ty)) if demand.accepts(ty) && ty != Inferred::ANY => inner,
            Want::Demand(Demand::ORDERED) => inner,
            _ if is_item => Want::And(demand, of),
            _ => Want::ItemOf(of, demand),
        }
    }

    /// Whether some numbered field leads to the want.
    fn has_field(&self, session: &Session<'c>, of: ValueInfo<'c>, want: WantId) -> bool {
        let Some(shape) = of.part.shape() else {
            return !session.fields.is_empty() && self.takes(session, want, ValueInfo::ANY);
        };
        let mut names = session.fields.iter().filter(|name| !name.is_empty());
        names.any(|name| may_have(shape, name) && self.takes(session, want, field(of, name)))
    }

    /// Whether an item of a list leads to the want, or a field of a record.
    #[inline(never)]
    fn takes_item(&self, session: &'c Session<'c>, want: WantId, of: ValueInfo<'c>) -> bool {
        match of.part.shape().filter(|shape| shape.refuses_others() || shape.fields().len() > 0) {
            Some(shape) => self.keys(session, want, shape).next().is_some(),
            None => self.takes(session, want, of.item()),
        }
    }

    /// The listed fields of a record that lead to the want.
    pub(crate) fn keys(
        &self,
        session: &'c Session<'c>,
        want: WantId,
        record: SchemaShape<'c>,
    ) -> impl Iterator<Item = &'c str> + use<'_, 'c> {
        let known = ValueInfo::described(record);
        let fits = move |name: &&str| {
            session.field_numbers.contains_key(*name) && self.takes(session, want, field(known, name))
        };
        record.names().filter(fits)
    }

    /// Whether a word with this first operand leads to the want.
    fn takes_first(&self, session: &Session<'c>, word: Word, want: WantId, first: ValueInfo<'c>) -> bool {
        if !rules::operand(word, 0, None).accepts(first.ty) {
            return false;
        }
        // The other list may be empty.
        let whole = ValueInfo::held(first.ty).with_part(first.part);
        match word {
            Word::Find => self.takes(session, want, ValueInfo::ANY.with_part(first.part.item())),
            Word::Add => {
                let takes = |ty| self.takes_type(session, want, ty);
                match first.ty {
                    Inferred::ANY => {
                        takes(Inferred::NUMBER)
                            || (!self.names && takes(Inferred::TEXT))
                            || takes(Inferred::ANY.list())
                    }
                    Inferred::NUMBER => takes(Inferred::NUMBER),
                    Inferred::TEXT if self.names => false,
                    _ => self.takes(session, want, whole),
                }
            }
            Word::Concat => {
                let text = self.takes_type(session, want, Inferred::TEXT);
                if first.ty.lists > 0 {
                    return self.takes(session, want, whole);
                }
                first.ty != Inferred::NIL && (text || first.ty == Inferred::ANY)
            }
            Word::Min | Word::Max => self.takes(session, want, first.item()),
            _ => {
                let given = rules::gives(word, Some(first.ty), None).unwrap_or(Inferred::ANY);
                self.takes(session, want, ValueInfo { ty: given, ..first })
            }
        }
    }
}

fn accepts_shape(shape: SchemaShape<'_>, known: ValueInfo<'_>) -> bool {
    if shape.is_any() {
        return true;
    }
    if !rules::of_shape(shape).accepts(known.ty) {
        return false;
    }
    let part = known.part.shape().filter(|_| known.ty != Inferred::ANY);
    part.is_none_or(|part| rules::clash(part, shape).is_none())
}

/// A value that is one or the other. Two kinds of lists become lists of anything: the check may know less of
/// each than a guide does, and then it knows only that both are lists.
pub(crate) fn either<'c>(a: ValueInfo<'c>, b: ValueInfo<'c>) -> ValueInfo<'c> {
    if [a, b].iter().any(|it| it.same(no_case())) {
        return if a.same(no_case()) { b } else { a };
    }
    let joined = a.join(b);
    let lists = a.ty.lists.min(b.ty.lists);
    if joined.ty != Inferred::ANY || lists == 0 {
        return joined;
    }
    ValueInfo { ty: Inferred { lists, base: InferredBase::Any }, held: a.held && b.held, ..joined }
}

/// A field of a record.
pub(crate) fn field<'c>(of: ValueInfo<'c>, name: &str) -> ValueInfo<'c> {
    of.part.shape().and_then(|shape| ValueInfo::field_of(shape, name)).unwrap_or(ValueInfo::ANY)
}

/// Whether a record may have a field of this name.
pub(crate) fn may_have(record: SchemaShape<'_>, name: &str) -> bool {
    !record.refuses_others() || record.field(name).is_some()
}

/// The value of a choice without a case: nil, of which the check knows nothing where it joins values.
pub(crate) fn no_case<'c>() -> ValueInfo<'c> {
    ValueInfo::held(Inferred::NIL).with_part(Part::Nothing)
}

/// A list without items.
pub(crate) fn empty_list<'c>() -> ValueInfo<'c> {
    ValueInfo::ANY.with_part(Part::Nothing).listed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_two_kinds_are_lists() {
        let text = ValueInfo::held(Inferred::TEXT);
        let (texts, numbers) = (text.listed(), ValueInfo::held(Inferred::NUMBER).listed());
        let any = ValueInfo::ANY.listed();
        assert!(either(texts, texts).same(texts));
        assert!(either(texts, numbers).same(any));
        assert!(either(texts.listed(), numbers).same(any));
        assert!(either(texts.listed(), numbers.listed()).same(any.listed()));
        assert!(either(texts, text).same(ValueInfo::ANY));
        let declared = ValueInfo::declared(Inferred::TEXT).listed();
        assert!(!either(declared, numbers).held, "no run has looked at what is declared");
    }
}
