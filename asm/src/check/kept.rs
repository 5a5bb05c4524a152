//! Whole answers that a function keeps in records and lists, to read them later: which of them are needed as
//! records or lists then, so that they are read as JSON when they are kept.
//!
//! A place is the name of a field, or the computed key of what a slot holds: two records with a field of one
//! name are not told apart.

use super::types::needs;
use crate::ast::{Apply, Binary, Block, Bound, Control, Expr, ExprKind, Function, Literal, Slot, StmtKind};
use crate::rules;
use crate::span::Span;
use hashbrown::{HashMap, HashSet};
use ilo_spec::node::Word;
use ilo_spec::pure::Pure;
use smallvec::SmallVec;

/// A place from which a value is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place<'a> {
    /// A field.
    Field(&'a str),
    /// A field or an item of the value of a slot, whose key is computed.
    In(Slot),
    /// A slot.
    Slot(Slot),
}

impl<'a> Place<'a> {
    fn of(value: &Expr<'a>) -> Option<Place<'a>> {
        match value.kind {
            ExprKind::Ref(slot) => Some(Place::Slot(slot)),
            ExprKind::Field(_, name) => Some(Place::Field(name.text)),
            ExprKind::Binary(Binary::At, of, key)
            | ExprKind::Apply(Apply { function: Pure::Get, operands: [of, key, ..], .. }) => {
                Place::at(of, key)
            }
            _ => None,
        }
    }

    /// The place of a key in a record or list.
    pub(super) fn at(of: &Expr<'a>, key: &Expr<'a>) -> Option<Place<'a>> {
        match key.kind {
            ExprKind::Literal(Literal::Text(name)) => Some(Place::Field(name)),
            _ => Place::items(of),
        }
    }

    /// The place of the items of a list.
    pub(super) fn items(of: &Expr<'a>) -> Option<Place<'a>> {
        if let ExprKind::Ref(slot) = of.kind { Some(Place::In(slot)) } else { None }
    }
}

/// A whole answer that is kept: where it is, and where it goes.
pub(super) type Kept<'a> = (Span, Slot, Place<'a>);

/// Those of `kept` that the function needs as records or lists.
pub(super) fn needed<'k, 'a>(
    function: &Function<'a>,
    kept: &'k [Kept<'a>],
) -> impl Iterator<Item = &'k Kept<'a>> {
    let mut walk = NeededPlaces::default();
    walk.block(&function.body);
    walk.follow();
    kept.iter().filter(move |(.., place)| walk.needed.contains(place))
}

#[derive(Default)]
struct NeededPlaces<'a> {
    /// The places from which a record or a list is needed.
    needed: HashSet<Place<'a>>,
    /// The slots among them, to be followed.
    slots: Vec<Slot>,
    /// The places from which slots are bound.
    bound: HashMap<Slot, SmallVec<[Place<'a>; 1]>>,
}

impl<'a> NeededPlaces<'a> {
    fn need(&mut self, place: Option<Place<'a>>) {
        let Some(place) = place.filter(|place| self.needed.insert(*place)) else { return };
        if let Place::Slot(slot) = place {
            self.slots.push(slot);
        }
    }

    fn bind(&mut self, slot: Slot, place: Option<Place<'a>>) {
        self.bound.entry(slot).or_default().extend(place);
    }

    fn block(&mut self, block: &Block<'a>) {
        for statement in block.statements {
            statement.each_value(|value| self.value(value));
            if let StmtKind::Let { slot, value: Bound::Expr(value), .. } = &statement.kind {
                self.bind(*slot, Place::of(value));
            }
            let Some(control) = statement.control() else { continue };
            if let Control::For(node) = control {
                self.need(Place::of(&node.list));
                self.bind(node.item, Place::items(&node.list));
            }
            control.blocks().for_each(|(_, block)| self.block(block));
        }
    }

    fn value(&mut self, value: &Expr<'a>) {
        match value.kind {
            ExprKind::Field(of, _) | ExprKind::Binary(Binary::At, of, _) => self.need(Place::of(of)),
            ExprKind::Apply(Apply { function, operands: [first, ..], .. })
                if needs(rules::operand(Word::of_pure(function), 0, None)).is_some() =>
            {
                self.need(Place::of(first));
            }
            _ => {}
        }
        value.children(|child| self.value(child));
    }

    /// What a slot is needed as, that from which it is bound is needed as too.
    fn follow(&mut self) {
        while let Some(slot) = self.slots.pop() {
            for place in self.bound.remove(&slot).unwrap_or_default() {
                self.need(Some(place));
            }
        }
    }
}
