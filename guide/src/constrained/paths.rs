//! Paths: the fields that may come next in one.

use super::choices::{Choices, Fits, List};
use super::machine::JsonMachine;
use crate::automaton::integers::{self, Integers};
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

/// What the path must lead to of which the FIELD has begun.
pub(super) fn aim(machine: &JsonMachine<'_>) -> Aim {
    let frame = machine.core.frame();
    let (want, depth) = frame.map_or((ANY, DEPTH), |frame| (frame.want, frame.depth));
    Aim { want, most: DEPTH.saturating_sub(depth).into() }
}

/// Whether some path of a slot may come.
pub(super) fn has_fields(machine: &mut JsonMachine<'_>, slot: u8, aim: Aim) -> bool {
    let (session, path) = (machine.core.session, Path::of(slot));
    let Some(shape) = read(machine, path).part.shape() else {
        return equal_fields(machine, path, aim).contains(&true);
    };
    let last = last(machine, path, aim);
    integers::find(&machine.core, last, |field| session.path_field(field).is_some()).is_some()
        || longer(machine, path, shape, aim).next().is_some()
}

/// Whether the value of a path is a record that another field may be read from.
fn may_read(machine: &JsonMachine<'_>, path: Path, aim: Aim) -> bool {
    let is_record = Demand::Is(Inferred::RECORD).accepts(read(machine, path).ty);
    is_record && path.fields().len() < aim.most
}

/// Whether a field may be the last of a path.
pub(super) fn may_end_path(machine: &JsonMachine<'_>, path: Path, last: u32, aim: Aim) -> bool {
    let core = &machine.core;
    core.session.path_field(last).is_some_and(|name| {
        let of = read(machine, path);
        let may_have = of.part.shape().is_none_or(|shape| may_have(shape, name));
        may_have && may_read(machine, path, aim) && core.arena.takes(core.session, aim.want, field(of, name))
    })
}

/// The fields that may be the last of a path.
fn last(machine: &mut JsonMachine<'_>, path: Path, aim: Aim) -> Integers {
    let of = read(machine, path);
    if may_read(machine, path, aim) {
        integers::fields_of(&mut machine.core, of, aim.want)
    } else {
        Integers::Nothing
    }
}

/// Whether a path may continue after one more field.
pub(super) fn may_go_on(machine: &JsonMachine<'_>, path: Path, next: u32, aim: Aim) -> bool {
    let (session, longer) = (machine.core.session, path.with(next));
    // Of a record whose fields are known, only one whose fields are.
    let leads = |name| {
        let of = read(machine, path).part.shape();
        of.is_none_or(|of| of.field(name).is_some_and(|it| it.0.has_fields()))
    };
    let fits = path.fields().len() + 1 < PATH && session.path_field(next).is_some_and(leads);
    // All fields of an unknown value are equivalent.
    let most = if read(machine, longer).part.shape().is_some() { usize::MAX } else { 1 };
    let named = session.named.iter().filter(|&&field| session.path_field(field).is_some());
    fits && named.take(most).any(|&field| may_end_path(machine, longer, field, aim))
}

/// What is known about the value of a path.
fn read<'c>(machine: &JsonMachine<'c>, path: Path) -> ValueInfo<'c> {
    let name = |number: &u32| machine.core.session.field(*number).unwrap_or_default();
    let known = machine.core.arena.value(machine.core.now().value(path.slot));
    path.fields().iter().fold(known, |known, number| field(known, name(number)))
}

/// The fields that may come next in a path, which may be in `${…}`.
pub(super) fn fields(machine: &mut JsonMachine<'_>, path: Path, hole: bool) -> Choices {
    let session = machine.core.session;
    let aim = machine.opened(Word::Field, |this| aim(this));
    let all = session.json().fields(session, hole);
    let mut fits = Fits::new(all.all.len(), false);
    let put_all = |fits: &mut Fits, [last, further]: [bool; 2]| {
        let fit = (0..).zip(&all.all).filter(|it| if it.1.further { further } else { last });
        fit.for_each(|it| fits.put(Some(it.0), true));
    };
    match read(machine, path).part.shape() {
        None => put_all(&mut fits, equal_fields(machine, path, aim)),
        Some(shape) => {
            let numbers = last(machine, path, aim);
            match integers::left_out(&machine.core, numbers) {
                Some(but) => {
                    put_all(&mut fits, [true, false]);
                    but.iter().for_each(|&number| fits.put(all.place(number, false), false));
                }
                None => {
                    integers::each(&machine.core, numbers, |number| fits.put(all.place(number, false), true));
                }
            }
            longer(machine, path, shape, aim).for_each(|number| fits.put(all.place(number, true), true));
        }
    }
    Choices::of(List::Fields { hole }, fits)
}

/// Whether fields of a value about which nothing is known may be the last of a path, and whether further
/// ones may follow: all have the same effect.
fn equal_fields(machine: &JsonMachine<'_>, path: Path, aim: Aim) -> [bool; 2] {
    let session = machine.core.session;
    let first = session.named.iter().copied().find(|&it| session.path_field(it).is_some());
    let last = first.is_some_and(|first| may_end_path(machine, path, first, aim));
    [last, first.is_some_and(|first| may_go_on(machine, path, first, aim))]
}

/// The fields of a value with this shape after which a path may continue.
fn longer<'c>(
    machine: &JsonMachine<'c>,
    path: Path,
    shape: SchemaShape<'c>,
    aim: Aim,
) -> impl Iterator<Item = u32> {
    let numbers = &machine.core.session.field_numbers;
    let listed = shape.fields().filter_map(|it| numbers.get(it.name).copied());
    listed.filter(move |&number| may_go_on(machine, path, number, aim))
}
