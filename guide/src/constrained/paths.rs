//! Paths: the fields that may come next in one.

use super::acts::Act;
use super::choices::Choices;
use super::machine::Machine;
use super::offers::choice;
use crate::automaton::json_names::Fields;
use crate::automaton::offers::one;
use crate::automaton::session::Session;
use crate::automaton::want::field;
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
    session.json().fields.get(field as usize).is_some_and(|field| field.last.is_some())
}

impl Machine<'_, '_> {
    /// Whether some path of a slot may come.
    pub(super) fn has_fields(&mut self, slot: u8) -> bool {
        self.attempt(|this| {
            let fields = this.fields(Path::of(slot), false);
            this.view(fields).len() > 0
        })
    }

    /// Whether a field may be the last of a path.
    pub(super) fn may_end_path(&mut self, path: Path, field: u32) -> bool {
        is_named(self.core.session, field)
            && self.path(path, path.fields().len() + 1, |this| this.core.takes_integer(field))
    }

    /// Whether a path may continue after one more field.
    pub(super) fn may_go_on(&mut self, path: Path, field: u32) -> bool {
        let session = self.core.session;
        if path.fields().len() + 1 >= PATH || !is_named(session, field) {
            return false;
        }
        let known = self.read(path);
        let name = session.field(field).unwrap_or_default();
        let has = |shape: Shape<'_>| shape.fields().any(|it| it.name == name && it.shape.has_fields());
        known.part.shape().is_none_or(has) && self.goes_on_behind(path, field)
    }

    /// What is known about the value of a path.
    fn read(&self, path: Path) -> ValueInfo<'_> {
        let name = |number: &u32| self.core.session.field(*number).unwrap_or_default();
        let known = self.core.arena.value(self.core.now().value(path.slot));
        path.fields().iter().fold(known, |known, number| field(known, name(number)))
    }

    /// The fields that may come next in a path, which may be in `${…}`.
    pub(super) fn fields(&mut self, path: Path, hole: bool) -> Choices {
        let session = self.core.session;
        if self.read(path).part.shape().is_none() {
            // All fields of an unknown value are equivalent.
            let named = |it: &u32| is_named(session, *it);
            let Some(first) = session.named.iter().copied().find(named) else {
                return self.lists.add([]);
            };
            let (last, further) = (self.may_end_path(path, first), self.may_go_on(path, first));
            return Choices::Fields(Fields { last, further, hole });
        }
        let mut found = self.path(path, path.fields().len() + 1, |this| {
            let numbers = this.core.integers();
            let names = &this.core.session.json();
            let fields = Fields { last: true, further: false, hole };
            let named = this.core.members(numbers).into_iter().filter_map(|number| {
                Some(choice(names.field(fields, number, false)?.to_owned(), Act::LastField(number)))
            });
            named.collect::<Vec<_>>()
        });
        let known = self.read(path);
        let Some(shape) = known.part.shape() else { return self.lists.add(found) };
        let listed = shape.fields().filter(|it| it.shape.has_fields() && is_name(it.name));
        let numbers = listed.filter_map(|it| Some((it.name, *session.field_numbers.get(it.name)?)));
        let numbers: Vec<(String, u32)> = numbers.map(|it| (it.0.to_owned(), it.1)).collect();
        for (name, number) in numbers {
            if path.fields().len() + 1 < PATH && self.goes_on_behind(path, number) {
                found.push(choice(format!("{name}."), Act::Field(number)));
            }
        }
        self.lists.add(found)
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
        self.attempt(|this| {
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
