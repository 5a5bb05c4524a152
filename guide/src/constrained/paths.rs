//! Paths: the fields that may come next in one.

use super::choices::{Choices, Names, Places};
use super::machine::Machine;
use crate::automaton::integers::Integers;
use crate::automaton::json_names::in_path;
use crate::automaton::state::DEPTH;
use crate::automaton::want::{ANY, WantId, field, may_have};
use ilo_asm::catalog::SchemaShape;
use ilo_asm::check::ValueInfo;
use ilo_asm::rules::Demand;
use ilo_asm::types::Inferred;
use ilo_spec::node::Word;

/// The most fields of a path.
pub(super) const PATH: usize = 6;

/// An unfinished path: a slot and the fields so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path {
    pub(super) slot: u8,
    count: u8,
    fields: [u32; PATH],
}

impl Path {
    pub(super) fn of(slot: u8) -> Path {
        Path { slot, ..Path::default() }
    }

    /// The path with one more field.
    pub(super) fn with(mut self, field: u32) -> Path {
        if let Some(to) = self.fields.get_mut(usize::from(self.count)) {
            *to = field;
            self.count += 1;
        }
        self
    }

    pub(super) fn fields(&self) -> &[u32] {
        self.fields.get(..usize::from(self.count)).unwrap_or_default()
    }
}

/// What a path must lead to.
#[derive(Clone, Copy)]
pub(super) struct Aim {
    want: WantId,
    /// The most fields: an expression has a level for each.
    most: usize,
}

impl<'c> Machine<'c> {
    /// What the path must lead to of which the FIELD has begun.
    pub(super) fn aim(&self) -> Aim {
        let frame = self.core.frame();
        let (want, depth) = frame.map_or((ANY, DEPTH), |frame| (frame.want, frame.depth));
        Aim { want, most: DEPTH.saturating_sub(depth).into() }
    }

    /// Whether some path of a slot may come.
    pub(super) fn has_fields(&mut self, slot: u8, aim: Aim) -> bool {
        let (session, path) = (self.core.session, Path::of(slot));
        let Some(shape) = self.read(path).part.shape() else {
            return self.equal_fields(path, aim).contains(&true);
        };
        let last = self.last(path, aim);
        self.core.find(last, |field| session.path_field(field).is_some()).is_some()
            || self.longer(path, shape, aim).next().is_some()
    }

    /// Whether the value of a path is a record that another field may be read from.
    fn may_read(&self, path: Path, aim: Aim) -> bool {
        let is_record = Demand::Is(Inferred::RECORD).accepts(self.read(path).ty);
        is_record && path.fields().len() < aim.most
    }

    /// Whether a field may be the last of a path.
    pub(super) fn may_end_path(&self, path: Path, last: u32, aim: Aim) -> bool {
        let core = &self.core;
        core.session.path_field(last).is_some_and(|name| {
            let of = self.read(path);
            let may_have = of.part.shape().is_none_or(|shape| may_have(shape, name));
            may_have && self.may_read(path, aim) && core.arena.takes(core.session, aim.want, field(of, name))
        })
    }

    /// The fields that may be the last of a path.
    fn last(&mut self, path: Path, aim: Aim) -> Integers {
        let of = self.read(path);
        if self.may_read(path, aim) { self.core.fields_of(of, aim.want) } else { Integers::Nothing }
    }

    /// Whether a path may continue after one more field.
    pub(super) fn may_go_on(&self, path: Path, next: u32, aim: Aim) -> bool {
        let (session, longer) = (self.core.session, path.with(next));
        // Of a record whose fields are known, only one whose fields are.
        let leads = |name| {
            let of = self.read(path).part.shape();
            of.is_none_or(|of| of.field(name).is_some_and(|it| it.0.has_fields()))
        };
        let fits = path.fields().len() + 1 < PATH && session.path_field(next).is_some_and(leads);
        // All fields of an unknown value are equivalent.
        let most = if self.read(longer).part.shape().is_some() { usize::MAX } else { 1 };
        let named = session.named.iter().filter(|&&field| session.path_field(field).is_some());
        fits && named.take(most).any(|&field| self.may_end_path(longer, field, aim))
    }

    /// What is known about the value of a path.
    fn read(&self, path: Path) -> ValueInfo<'c> {
        let name = |number: &u32| self.core.session.field(*number).unwrap_or_default();
        let known = self.core.arena.value(self.core.now().value(path.slot));
        path.fields().iter().fold(known, |known, number| field(known, name(number)))
    }

    /// The fields that may come next in a path, which may be in `${…}`.
    pub(super) fn fields(&mut self, path: Path, hole: bool) -> Choices {
        let session = self.core.session;
        let aim = self.opened(Word::Field, |this| this.aim());
        let all = session.json().fields(session, hole);
        let places = |numbers: &[u32], further: bool| {
            let named = numbers.iter().filter_map(|&number| session.path_field(number));
            let mut places: Vec<u32> =
                named.filter_map(|name| all.place(&in_path(name, further, hole))).collect();
            places.sort_unstable();
            places.into()
        };
        let [last, further] = match self.read(path).part.shape() {
            None => self.equal_fields(path, aim).map(Places::all),
            Some(shape) => {
                let longer: Vec<u32> = self.longer(path, shape, aim).collect();
                let numbers = self.last(path, aim);
                let last = match self.core.left_out(numbers) {
                    Some(but) => Places::But(places(but, false)),
                    None => Places::Only(places(&self.core.members(numbers), false)),
                };
                [last, Places::Only(places(&longer, true))]
            }
        };
        Choices::Names { of: Names::Fields { hole }, last, further, end: None }
    }

    /// Whether fields of a value about which nothing is known may be the last of a path, and whether further
    /// ones may follow: all have the same effect.
    fn equal_fields(&self, path: Path, aim: Aim) -> [bool; 2] {
        let session = self.core.session;
        let first = session.named.iter().copied().find(|&it| session.path_field(it).is_some());
        let last = first.is_some_and(|first| self.may_end_path(path, first, aim));
        [last, first.is_some_and(|first| self.may_go_on(path, first, aim))]
    }

    /// The fields of a value with this shape after which a path may continue.
    fn longer(&self, path: Path, shape: SchemaShape<'c>, aim: Aim) -> impl Iterator<Item = u32> {
        let numbers = &self.core.session.field_numbers;
        let listed = shape.fields().filter_map(|it| numbers.get(it.name).copied());
        listed.filter(move |&number| self.may_go_on(path, number, aim))
    }
}
