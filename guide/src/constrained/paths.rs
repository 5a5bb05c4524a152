//! Paths: the fields that may come next in one.

use super::choice::{Act, choice};
use super::choices::{Choices, Names, Which};
use super::machine::Machine;
use crate::automaton::json_names::Fields;
use crate::automaton::offers::one;
use crate::automaton::session::Session;
use crate::automaton::want::field;
use crate::surface::Bytes;
use ilo_asm::catalog::Shape;
use ilo_asm::check::ValueInfo;
use ilo_asm::text::is_name;
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

/// Whether a field can be in a path.
fn is_named(session: &Session<'_>, field: u32) -> bool {
    session.path_field(field).is_some()
}

impl<'c> Machine<'_, 'c> {
    /// Whether some path of a slot may come.
    pub(super) fn has_fields(&mut self, slot: u8) -> bool {
        let (session, path) = (self.core.session, Path::of(slot));
        let Some(shape) = self.read(path).part.shape() else {
            let fields = self.equal_fields(path, false);
            return fields.last || fields.further;
        };
        let ends = self.path(path, 1, |this| {
            let fields = this.core.integers();
            this.core.find(fields, |field| is_named(session, field)).is_some()
        });
        ends || self.longer(path, shape).next().is_some()
    }

    /// Whether a field may be the last of a path.
    pub(super) fn may_end_path(&mut self, path: Path, field: u32) -> bool {
        is_named(self.core.session, field)
            && self.path(path, path.fields().len() + 1, |this| this.core.takes_integer(field))
    }

    /// Whether a path may continue after one more field.
    pub(super) fn may_go_on(&mut self, path: Path, field: u32) -> bool {
        if let Some(shape) = self.read(path).part.shape() {
            return self.longer(path, shape).any(|it| it == field);
        }
        let fits = path.fields().len() + 1 < PATH && is_named(self.core.session, field);
        fits && self.goes_on_behind(path, field)
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
        let Some(shape) = self.read(path).part.shape() else {
            let of = Names::Fields(self.equal_fields(path, hole));
            return Choices::Names { of, which: Which::all(), end: None };
        };
        let fields = Fields { last: true, further: true, hole };
        let longer: Vec<u32> = self.longer(path, shape).collect();
        let (numbers, except) = self.path(path, path.fields().len() + 1, |this| {
            let numbers = this.core.integers();
            let except = this.core.left_out(numbers).map(<[u32]>::to_vec);
            (if except.is_some() { Vec::new() } else { this.core.members(numbers) }, except)
        });
        if let Some(except) = except {
            let all = session.json().fields(session, fields);
            let places = |numbers: Vec<u32>, further: bool| {
                let named = numbers.into_iter().filter_map(|number| session.path_field(number));
                let mut places: Vec<u32> =
                    named.filter_map(|name| all.place(&fields.written(name, further))).collect();
                places.sort_unstable();
                places.into()
            };
            let which = Which::All { except: places(except, false), further: Some(places(longer, true)) };
            return Choices::Names { of: Names::Fields(fields), which, end: None };
        }
        let written = |number: u32, further: bool| {
            let act = if further { Act::Field(number) } else { Act::LastField(number) };
            session.path_field(number).map(|name| choice(fields.written(name, further), act))
        };
        let last = numbers.into_iter().filter_map(|number| written(number, false));
        Choices::listed(last.chain(longer.into_iter().filter_map(|number| written(number, true))))
    }

    /// The fields that may come next in a path to a value about which nothing is known: all have the same
    /// effect.
    fn equal_fields(&mut self, path: Path, hole: bool) -> Fields {
        let session = self.core.session;
        let first = session.named.iter().copied().find(|&it| is_named(session, it));
        let last = first.is_some_and(|first| self.may_end_path(path, first));
        let further = first.is_some_and(|first| self.may_go_on(path, first));
        Fields { last, further, hole }
    }

    /// The fields of a value with this shape after which a path may continue.
    fn longer(&mut self, path: Path, shape: Shape<'c>) -> impl Iterator<Item = u32> {
        let session = self.core.session;
        let has_room = path.fields().len() + 1 < PATH;
        let listed = shape.fields().filter(move |it| has_room && it.shape.has_fields() && is_name(it.name));
        let numbers = listed.filter_map(|it| session.field_numbers.get(it.name).copied());
        numbers.filter(move |&number| self.goes_on_behind(path, number))
    }

    /// Whether a path may continue after one more field.
    fn goes_on_behind(&mut self, path: Path, field: u32) -> bool {
        let session = self.core.session;
        let longer = path.with(field);
        let mut named = session.named.iter().copied().filter(|&field| is_named(session, field));
        let is_known = self.read(longer).part.shape().is_some();
        self.path(longer, longer.fields().len() + 1, |this| {
            // All fields of an unknown value are equivalent.
            let most = if is_known { usize::MAX } else { 1 };
            named.by_ref().take(most).any(|field| this.core.takes_integer(field))
        })
    }

    /// Tries a step at the last field of a path of this length, after these fields; the default if there is
    /// none.
    fn path<T: Default>(&mut self, path: Path, count: usize, run: impl FnOnce(&mut Self) -> T) -> T {
        self.tried(|this| {
            this.open(Word::Field);
            for _ in 1..count {
                if this.core.words() & one(Word::Field) == 0 {
                    return T::default();
                }
                this.open(Word::Field);
            }
            let mut nodes = core::iter::once(u32::from(path.slot)).chain(path.fields().iter().copied());
            let fits = nodes.all(|node| {
                let fits = this.core.takes_integer(node);
                this.core.take_integer(node);
                fits
            });
            if fits { run(this) } else { T::default() }
        })
    }
}
