//! The names and shapes of a run: those of the program, and those from inputs, answers and MERGE.
//!
//! A name is a number: a string of the program if it has that text, else a name of the run. A shape is a list
//! of names; equal lists within a run are one shape. The field matrix says where a record keeps a field, so
//! reading a field is a load and a compare.
//!
//! Names and shapes are kept when a run is rewound, because answers have the same shapes from run to run.
//! Charges are not: stamps show whether the current run has been charged for an entry.

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
/// Bytes charged for a name or shape besides its text or fields: tables and spare capacity.
const ENTRY: usize = 64;
/// The most shapes and names, and the most bytes of them, that a reused run keeps.
const KEPT: usize = 1_024;
const KEPT_BYTES: usize = 64 << 10;
const GUESSES: usize = 64;
const MERGES: usize = 16;

/// A duplicate field of a record from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duplicate(pub(crate) u32);

/// A shape that the program does not have.
#[derive(Debug)]
struct RunShape {
    /// The host shape that was given for it last.
    given: Option<Names>,
    /// The range of its names in `fields`.
    first: u32,
    count: u32,
    /// The offset of its names in `joined`, the bytes of all names, and the length of the longest.
    joined: u32,
    bytes: u32,
    longest: u32,
    /// The range in `run_names` of those names that the program does not have.
    names: (u32, u32),
    /// What it is charged, without such names.
    price: u64,
    /// When it was last charged.
    stamp: u64,
}

/// A name that the program does not have: the range of its text, and when it was last charged.
#[derive(Clone, Copy, Debug)]
struct RunName {
    start: u32,
    end: u32,
    stamp: u64,
}

impl RunName {
    /// Charges the name unless its stamp is one of these; then stamps it.
    #[inline(always)]
    fn charge(&mut self, budget: &mut Budget, (run, start): (u64, u64)) -> Result<(), Trap> {
        if self.stamp != run && self.stamp != start {
            budget.charge(name_size(at(self.end - self.start)))?;
            self.stamp = run;
        }
        Ok(())
    }
}

/// The names and shapes of a run.
#[derive(Debug)]
pub(crate) struct ShapeTable {
    /// The field matrix, `stride` bytes for each shape; the program's shapes come first.
    pub(crate) matrix: Vec<u8>,
    pub(crate) stride: usize,
    /// The first shape and the first name that the program does not have.
    first_shape: u32,
    first_name: u32,
    fields: Vec<u32>,
    /// The length of each name in `fields`, and their bytes joined: what is compared is contiguous in memory.
    lengths: Vec<u32>,
    joined: String,
    own: Vec<RunShape>,
    /// Names that the program does not have, shape after shape.
    run_names: Vec<u32>,
    index: HashIndex,
    names: String,
    own_names: Vec<RunName>,
    name_index: HashIndex,
    /// Whether there may be more entries than are kept for the next run.
    oversized: bool,
    /// The stamps of charges made by the start, and since then.
    start: u64,
    run: u64,
    /// The shape of the last answer at each call and depth.
    guesses: Vec<u32>,
    /// The results of recent merges. Both caches are empty until first used, so that a fresh run is small.
    merges: Vec<(u32, u32, u32)>,
}

impl ShapeTable {
    #[inline]
    pub(crate) fn new(program: &ProgramData) -> ShapeTable {
        // A literal without calls: fresh runs are created often.
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

    /// Takes over the shapes of a program and removes all others.
    pub(crate) fn adopt_program(&mut self, program: &ProgramData) {
        self.forget(0, 0);
        self.stride = program.stride;
        self.first_shape = program.shape_count();
        self.first_name = program.string_count();
        self.matrix.clone_from(&program.matrix);
    }

    /// Begins a run: nothing is charged yet.
    #[inline]
    pub(crate) fn begin(&mut self) {
        if self.oversized {
            self.trim(0, 0);
        }
        self.run += 1;
        self.start = self.run;
    }

    /// Marks the end of the start; returns how many shapes and names there are.
    #[inline]
    pub(crate) fn mark_start(&mut self) -> (usize, usize) {
        self.run += 1;
        (self.own.len(), self.own_names.len())
    }

    /// Goes back to the start.
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

    /// Keeps only the first `shapes` shapes and `names` names.
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

    #[inline]
    fn own_name(&self, own: u32) -> &str {
        let RunName { start, end, .. } = self.own_names[at(own)];
        &self.names[at(start)..at(end)]
    }

    /// The position of a field in records of the shape.
    #[inline]
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

    /// Whether the matrix decides where a field is, or that there is none; if not, all fields are searched.
    pub(crate) fn matrix_decides(&self, shape: u32, name: u32) -> bool {
        at(name) < self.stride && self.matrix[at(shape) * self.stride + at(name)] != FAR
    }

    /// The number of an existing name.
    #[inline]
    pub(crate) fn find_name(&self, program: &ProgramData, text: &str) -> Option<u32> {
        program.find_string(text).or_else(|| self.find_own_name(text).map(|own| own + self.first_name))
    }

    fn find_own_name(&self, text: &str) -> Option<u32> {
        self.name_index.find(self.name_index.hash_text(text), |own| self.own_name(own) == text)
    }

    /// The number of a name, which is added if it is new.
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

    /// Charges a name, unless the run has been charged for it.
    #[inline(always)]
    pub(crate) fn charge_name(&mut self, budget: &mut Budget, name: u32) -> Result<(), Trap> {
        let Some(own) = name.checked_sub(self.first_name) else { return Ok(()) };
        self.own_names[at(own)].charge(budget, (self.run, self.start))
    }

    /// Charges a shape, unless the run has been charged for it; its names are charged already.
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

    /// Charges a shape and its names, unless the run has been charged for them.
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

    /// If these are the names of a shape that the program does not have: the bytes of all names and of the
    /// longest.
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
            // Compared as bytes, which needs no check of character boundaries.
            let (known, rest) = joined.split_at_checked(name.len())?;
            if name.len() != at(length) || !same_bytes(known, name.as_bytes()) {
                return None;
            }
            joined = rest;
        }
        Some((at(own.bytes), at(own.longest)))
    }

    /// Like [`ShapeTable::match_names`], for records of a host shape.
    #[inline(always)]
    pub(crate) fn match_host_shape(&self, shape: u32, names: &Names) -> Option<(usize, usize)> {
        let own = self.own.get(at(shape.checked_sub(self.first_shape)?))?;
        let given = own.given.as_ref()?;
        Arc::ptr_eq(given, names).then(|| (at(own.bytes), at(own.longest)))
    }

    /// Remembers the host shape that was given for a shape.
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
            // Taken out meanwhile, because the text may be a name of the run.
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

    /// The shape of the last record at this place, or [`NONE`].
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

    /// The shape of a merge, if it was made recently.
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

/// Whether two names are equal. Names are short: two words that may overlap decide it without a call.
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

/// Converts a count of entries. Each entry was charged many bytes, so it fits; adding one checks it.
fn index32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}

fn run_shape_fields<'a>(fields: &'a [u32], shapes: &[RunShape], own: u32) -> &'a [u32] {
    let &RunShape { first, count, .. } = &shapes[at(own)];
    &fields[at(first)..at(first) + at(count)]
}

/// The first name of a list that is a duplicate.
pub(crate) fn duplicate(list: &[u32]) -> Option<u32> {
    if list.len() <= 8 {
        return (1..list.len()).find(|&i| list[..i].contains(&list[i])).map(|i| list[i]);
    }
    let mut sorted: Vec<(u32, u32)> = list.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let again = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    again.map(|pair| pair[1]).min_by_key(|&(_, place)| place).map(|(name, _)| name)
}
