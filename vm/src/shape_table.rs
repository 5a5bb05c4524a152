//! Names and shapes of a run: those of the program, and those that inputs, answers and MERGE bring.
//!
//! A name is a number: a string of the program where it has that text, else one of the run's own. A shape is a list of
//! names; equal lists that arise in a run are one shape. A byte matrix, shapes by the fields that the program reads,
//! says where a field lies in a record, so that reading one is a load and a compare.
//!
//! Names and shapes outlive a rewind, since answers look alike from run to run. What is charged does not: each is
//! charged where a run first meets it, by a stamp.

use crate::budget::Budget;
use crate::fault::Trap;
use crate::field_matrix::{ABSENT, FAR, push_row};
use crate::hash_index::HashIndex;
use crate::host_value::Names;
use crate::program::ProgramData;
use crate::value::at;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// No shape.
pub(crate) const NONE: u32 = u32::MAX;
/// Bytes that a name or shape takes beside its text or fields, tables and spare room counted.
const ENTRY: usize = 64;
/// ShapeTable and names, and bytes of these, that a reused run keeps at most.
const KEPT: usize = 1_024;
const KEPT_BYTES: usize = 64 << 10;
const GUESSES: usize = 64;
const MERGES: usize = 16;

/// A field given twice in a record that came from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duplicate(pub(crate) u32);

/// A shape that is no program's.
#[derive(Debug)]
struct RunShape {
    /// The host's shape that it was given as last.
    given: Option<Names>,
    /// Where its names begin in `fields`, and how many they are.
    first: u32,
    count: u32,
    /// Where its names begin in `joined`, the bytes of all, and of the longest.
    joined: u32,
    bytes: u32,
    longest: u32,
    /// Which of its names are no program's, as places in `run_names`.
    names: (u32, u32),
    /// What it is charged, beside such names.
    price: u64,
    /// When it was charged last.
    stamp: u64,
}

/// A name that is no program's: where its text is, and when it was charged last.
#[derive(Clone, Copy, Debug)]
struct RunName {
    start: u32,
    end: u32,
    stamp: u64,
}

impl RunName {
    /// Charges it where neither of these was its stamp; then the first is.
    #[inline(always)]
    fn charge(&mut self, budget: &mut Budget, (run, start): (u64, u64)) -> Result<(), Trap> {
        if self.stamp != run && self.stamp != start {
            budget.charge(name_size(at(self.end - self.start)))?;
            self.stamp = run;
        }
        Ok(())
    }
}

/// The tables.
#[derive(Debug)]
pub(crate) struct ShapeTable {
    /// Where each field that is read lies, `stride` bytes a shape, those of the program first.
    pub(crate) matrix: Vec<u8>,
    pub(crate) stride: usize,
    /// The first shape and the first name that are no program's.
    first_shape: u32,
    first_name: u32,
    fields: Vec<u32>,
    /// The length of each of these, and their bytes one after the other: what is compared lies in one piece.
    lengths: Vec<u32>,
    joined: String,
    own: Vec<RunShape>,
    /// The names that are no program's, of one shape after the other.
    run_names: Vec<u32>,
    index: HashIndex,
    names: String,
    own_names: Vec<RunName>,
    name_index: HashIndex,
    /// Whether there may be more than is kept for a next run.
    oversized: bool,
    /// The stamps of what was charged by the start and since.
    start: u64,
    run: u64,
    /// The shape that an answer of this call had at this depth the last time.
    guesses: Vec<u32>,
    /// The shapes of merges that were made lately. Both are empty until there is something to keep, so that a fresh run
    /// is small.
    merges: Vec<(u32, u32, u32)>,
}

impl ShapeTable {
    pub(crate) fn new(program: &ProgramData) -> ShapeTable {
        // In place: a fresh run is made as often as not.
        ShapeTable {
            matrix: program.matrix.clone(),
            stride: program.stride,
            first_shape: program.shape_count(),
            first_name: program.string_count(),
            fields: Vec::new(),
            lengths: Vec::new(),
            joined: String::new(),
            own: Vec::new(),
            run_names: Vec::new(),
            index: HashIndex::default(),
            names: String::new(),
            own_names: Vec::new(),
            name_index: HashIndex::default(),
            oversized: false,
            start: 1,
            run: 1,
            guesses: Vec::new(),
            merges: Vec::new(),
        }
    }

    /// Takes the shapes of a program and forgets all others.
    pub(crate) fn adopt_program(&mut self, program: &ProgramData) {
        self.forget(0, 0);
        self.stride = program.stride;
        self.first_shape = program.shape_count();
        self.first_name = program.string_count();
        self.matrix.clone_from(&program.matrix);
    }

    /// A run starts: nothing is charged yet.
    pub(crate) fn begin(&mut self) {
        if self.oversized {
            self.trim(0, 0);
        }
        self.run += 1;
        self.start = self.run;
    }

    /// The arguments are there, and how much there is of shapes and names.
    pub(crate) fn mark_start(&mut self) -> (usize, usize) {
        self.run += 1;
        (self.own.len(), self.own_names.len())
    }

    /// The run goes back to its start.
    #[inline]
    pub(crate) fn rewind(&mut self, (shapes, names): (usize, usize)) {
        if self.oversized {
            self.trim(shapes, names);
        }
        self.run += 1;
    }

    #[cold]
    #[inline(never)]
    fn trim(&mut self, shapes: usize, names: usize) {
        let many = self.own.len() > shapes + KEPT || self.own_names.len() > names + KEPT;
        if many || (self.is_large() && (self.own.len() > shapes || self.own_names.len() > names)) {
            self.forget(shapes, names);
        }
    }

    fn is_large(&self) -> bool {
        self.names.len().max(self.joined.len()) > KEPT_BYTES || self.fields.len() > KEPT_BYTES / 4
    }

    fn check_size(&mut self) {
        self.oversized = self.own.len() > KEPT || self.own_names.len() > KEPT || self.is_large();
    }

    /// Forgets all but the first so many.
    fn forget(&mut self, shapes: usize, names: usize) {
        if self.own.len() > shapes || self.own_names.len() > names {
            self.own.truncate(shapes);
            let last = self.own.last();
            self.fields.truncate(last.map_or(0, |own| at(own.first) + at(own.count)));
            self.lengths.truncate(self.fields.len());
            self.run_names.truncate(last.map_or(0, |own| at(own.names.1)));
            self.joined.truncate(last.map_or(0, |own| at(own.joined) + at(own.bytes)));
            self.matrix.truncate((at(self.first_shape) + shapes) * self.stride);
            self.index.clear();
            self.own_names.truncate(names);
            self.names.truncate(self.own_names.last().map_or(0, |name| at(name.end)));
            self.name_index.clear();
            for name in 0..names {
                self.index_name(index32(name));
            }
            for shape in 0..shapes {
                self.index_shape(index32(shape));
            }
        }
        self.check_size();
        self.guesses.clear();
        self.merges.clear();
    }

    /// The fields of a shape.
    #[inline]
    pub(crate) fn fields<'a>(&'a self, program: &'a ProgramData, shape: u32) -> &'a [u32] {
        match shape.checked_sub(self.first_shape) {
            None => program.shape_fields(shape),
            Some(own) => run_shape_fields(&self.fields, &self.own, own),
        }
    }

    /// The text of a name.
    #[inline]
    pub(crate) fn name<'a>(&'a self, program: &'a ProgramData, name: u32) -> &'a str {
        match name.checked_sub(self.first_name) {
            None => program.string(name),
            Some(own) => self.own_name(own),
        }
    }

    fn own_name(&self, own: u32) -> &str {
        let RunName { start, end, .. } = self.own_names[at(own)];
        &self.names[at(start)..at(end)]
    }

    /// Where a record of the shape keeps a field.
    pub(crate) fn position(&self, program: &ProgramData, shape: u32, name: u32) -> Option<usize> {
        if at(name) < self.stride {
            match self.matrix[at(shape) * self.stride + at(name)] {
                ABSENT => return None,
                FAR => {}
                place => return Some(usize::from(place)),
            }
        }
        self.fields(program, shape).iter().position(|&field| field == name)
    }

    /// Whether the matrix says where a field is, or that it is not there; else all fields are looked through.
    pub(crate) fn matrix_decides(&self, shape: u32, name: u32) -> bool {
        at(name) < self.stride && self.matrix[at(shape) * self.stride + at(name)] != FAR
    }

    /// The number of a name that is known.
    pub(crate) fn find_name(&self, program: &ProgramData, text: &str) -> Option<u32> {
        program.find_string(text).or_else(|| self.find_own_name(text).map(|own| own + self.first_name))
    }

    fn find_own_name(&self, text: &str) -> Option<u32> {
        self.name_index.find(self.name_index.hash_text(text), |own| self.own_name(own) == text)
    }

    /// The number of a name, new or known.
    pub(crate) fn intern_name(
        &mut self,
        program: &ProgramData,
        budget: &mut Budget,
        text: &str,
    ) -> Result<u32, Trap> {
        if let Some(name) = self.find_name(program, text) {
            self.charge_name(budget, name)?;
            return Ok(name);
        }
        let own = index32(self.own_names.len());
        let name = own.checked_add(self.first_name).filter(|&name| name != NONE);
        let ends = (u32::try_from(self.names.len()), u32::try_from(self.names.len() + text.len()));
        let (Some(name), (Ok(start), Ok(end))) = (name, ends) else {
            return Err(budget.no_memory(text.len() as u64));
        };
        budget.charge(name_size(text.len()))?;
        self.names.push_str(text);
        self.own_names.push(RunName { start, end, stamp: self.run });
        self.index_name(own);
        Ok(name)
    }

    fn index_name(&mut self, own: u32) {
        let mut index = core::mem::take(&mut self.name_index);
        index.insert(own, |index, own| index.hash_text(self.own_name(own)));
        self.name_index = index;
        self.check_size();
    }

    /// Charges a name where the run has not met it yet.
    #[inline(always)]
    pub(crate) fn charge_name(&mut self, budget: &mut Budget, name: u32) -> Result<(), Trap> {
        let Some(own) = name.checked_sub(self.first_name) else { return Ok(()) };
        self.own_names[at(own)].charge(budget, (self.run, self.start))
    }

    /// Charges a shape where the run has not met it yet; its names are charged already.
    #[inline]
    pub(crate) fn charge_shape(&mut self, budget: &mut Budget, shape: u32) -> Result<(), Trap> {
        let Some(own) = shape.checked_sub(self.first_shape) else { return Ok(()) };
        let stamp = self.own[at(own)].stamp;
        if stamp != self.run && stamp != self.start {
            budget.charge(self.own[at(own)].price)?;
            self.own[at(own)].stamp = self.run;
        }
        Ok(())
    }

    /// Charges a shape and its names where the run has not met them yet.
    #[inline(always)]
    pub(crate) fn charge_shape_and_names(&mut self, budget: &mut Budget, shape: u32) -> Result<(), Trap> {
        let Some(place) = shape.checked_sub(self.first_shape).map(at) else { return Ok(()) };
        match self.own.get(place) {
            Some(own) if own.stamp == self.run || own.stamp == self.start => Ok(()),
            _ => self.charge_own(budget, place),
        }
    }

    #[inline(always)]
    fn charge_own(&mut self, budget: &mut Budget, place: usize) -> Result<(), Trap> {
        let Some(own) = self.own.get_mut(place) else { return Ok(()) };
        for &name in self.run_names.get(at(own.names.0)..at(own.names.1)).unwrap_or_default() {
            if let Some(name) = self.own_names.get_mut(at(name)) {
                name.charge(budget, (self.run, self.start))?;
            }
        }
        budget.charge(own.price)?;
        own.stamp = self.run;
        Ok(())
    }

    /// The bytes of all names of a shape that is no program's and of the longest, where these are its names.
    #[inline(always)]
    pub(crate) fn match_names<'n>(
        &self,
        shape: u32,
        names: impl ExactSizeIterator<Item = &'n str>,
    ) -> Option<(usize, usize)> {
        let own = self.own.get(at(shape.checked_sub(self.first_shape)?))?;
        if names.len() != at(own.count) {
            return None;
        }
        let lengths = self.lengths.get(at(own.first)..)?;
        let mut joined = self.joined.as_bytes().get(at(own.joined)..)?;
        for (name, &length) in names.zip(lengths) {
            // As bytes, which need no look at where characters begin.
            let (known, rest) = joined.split_at_checked(name.len())?;
            if name.len() != at(length) || !same_bytes(known, name.as_bytes()) {
                return None;
            }
            joined = rest;
        }
        Some((at(own.bytes), at(own.longest)))
    }

    /// As [`ShapeTable::match_names`], where it was given as this shape of a host.
    #[inline(always)]
    pub(crate) fn match_host_shape(&self, shape: u32, names: &Names) -> Option<(usize, usize)> {
        let own = self.own.get(at(shape.checked_sub(self.first_shape)?))?;
        let given = own.given.as_ref()?;
        Arc::ptr_eq(given, names).then(|| (at(own.bytes), at(own.longest)))
    }

    /// A shape was given as one of a host.
    pub(crate) fn set_host_shape(&mut self, shape: u32, names: &Names) {
        let own = shape.checked_sub(self.first_shape).and_then(|own| self.own.get_mut(at(own)));
        if let Some(own) = own {
            own.given = Some(names.clone());
        }
    }

    fn shape_size(&self, fields: usize, bytes: usize) -> u64 {
        (ENTRY + 16 * fields + 2 * bytes + 2 * self.stride) as u64
    }

    /// The shape of a list of names.
    pub(crate) fn intern(
        &mut self,
        program: &ProgramData,
        budget: &mut Budget,
        list: &[u32],
    ) -> Result<Result<u32, Duplicate>, Trap> {
        let hash = self.index.hash_list(list);
        if let Some(own) = self.index.find(hash, |own| run_shape_fields(&self.fields, &self.own, own) == list)
        {
            let shape = own + self.first_shape;
            self.charge_shape(budget, shape)?;
            return Ok(Ok(shape));
        }
        let sizes = || list.iter().map(|&name| self.name(program, name).len());
        let bytes = sizes().sum();
        let price = self.shape_size(list.len(), bytes);
        budget.charge(price)?;
        if let Some(name) = duplicate(list) {
            return Ok(Err(Duplicate(name)));
        }
        let own = index32(self.own.len());
        let shape = own.checked_add(self.first_shape).filter(|&shape| shape != NONE);
        let ends = (
            u32::try_from(self.fields.len() + list.len()),
            u32::try_from(self.joined.len().saturating_add(bytes)),
        );
        let (Some(shape), (Ok(_), Ok(_))) = (shape, ends) else {
            return Err(budget.no_memory(list.len() as u64));
        };
        let longest = index32(sizes().max().unwrap_or(0));
        let run_names = index32(self.run_names.len());
        self.run_names.extend(list.iter().filter_map(|name| name.checked_sub(self.first_name)));
        let names = (run_names, index32(self.run_names.len()));
        let (first, count) = (index32(self.fields.len()), index32(list.len()));
        let (joined, bytes) = (index32(self.joined.len()), index32(bytes));
        self.fields.extend_from_slice(list);
        for &name in list {
            // Apart meanwhile, since the text may be one of the run's own names.
            let mut joined = core::mem::take(&mut self.joined);
            let text = self.name(program, name);
            let length = index32(text.len());
            joined.push_str(text);
            self.joined = joined;
            self.lengths.push(length);
        }
        self.own.push(RunShape {
            given: None,
            first,
            count,
            joined,
            bytes,
            longest,
            names,
            price,
            stamp: self.run,
        });
        push_row(&mut self.matrix, self.stride, list);
        self.index_shape(own);
        debug_assert_eq!(self.fields(program, shape), list, "a shape is what was put in");
        Ok(Ok(shape))
    }

    fn index_shape(&mut self, own: u32) {
        let mut index = core::mem::take(&mut self.index);
        index.insert(own, |index, own| index.hash_list(run_shape_fields(&self.fields, &self.own, own)));
        self.index = index;
        self.check_size();
    }

    /// The shape that a record at this place had the last time, or [`NONE`].
    #[inline]
    pub(crate) fn guess(&self, place: usize) -> u32 {
        self.guesses.get(place % GUESSES).copied().unwrap_or(NONE)
    }

    #[inline]
    pub(crate) fn learn(&mut self, place: usize, shape: u32) {
        if self.guesses.is_empty() {
            self.guesses.resize(GUESSES, NONE);
        }
        self.guesses[place % GUESSES] = shape;
    }

    /// The shape of a merge of two shapes, where it was made lately.
    #[inline]
    pub(crate) fn merged(&self, old: u32, new: u32) -> Option<u32> {
        let &(a, b, shape) = self.merges.get(merge_place(old, new))?;
        (a == old && b == new).then_some(shape)
    }

    pub(crate) fn learn_merge(&mut self, old: u32, new: u32, shape: u32) {
        if self.merges.is_empty() {
            self.merges.resize(MERGES, (NONE, NONE, NONE));
        }
        self.merges[merge_place(old, new)] = (old, new, shape);
    }
}

/// Whether two names are equal. Names are short: two words that may overlap settle it without a call.
#[inline(always)]
fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if let (Some(a_first), Some(b_first)) = (a.first_chunk::<8>(), b.first_chunk())
        && let (Some(a_last), Some(b_last)) = (a.last_chunk::<8>(), b.last_chunk())
        && a.len() <= 16
    {
        return (u64::from_ne_bytes(*a_first) ^ u64::from_ne_bytes(*b_first))
            | (u64::from_ne_bytes(*a_last) ^ u64::from_ne_bytes(*b_last))
            == 0;
    }
    if let (Some(a_first), Some(b_first)) = (a.first_chunk::<4>(), b.first_chunk())
        && let (Some(a_last), Some(b_last)) = (a.last_chunk::<4>(), b.last_chunk())
        && a.len() <= 8
    {
        return (u32::from_ne_bytes(*a_first) ^ u32::from_ne_bytes(*b_first))
            | (u32::from_ne_bytes(*a_last) ^ u32::from_ne_bytes(*b_last))
            == 0;
    }
    a == b
}

fn merge_place(old: u32, new: u32) -> usize {
    at(old.wrapping_mul(31).wrapping_add(new)) % MERGES
}

fn name_size(text: usize) -> u64 {
    (ENTRY + 2 * text) as u64
}

/// A count of entries each of which was charged many bytes: it fits as long as memory does, and is checked where one is
/// added.
fn index32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}

fn run_shape_fields<'a>(fields: &'a [u32], shapes: &[RunShape], own: u32) -> &'a [u32] {
    let &RunShape { first, count, .. } = &shapes[at(own)];
    &fields[at(first)..at(first) + at(count)]
}

/// A name that stands twice in a list, the same one for the same list.
pub(crate) fn duplicate(list: &[u32]) -> Option<u32> {
    if list.len() <= 8 {
        return (1..list.len()).find(|&i| list[..i].contains(&list[i])).map(|i| list[i]);
    }
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}
