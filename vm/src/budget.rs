//! The budget: the limits of a run and what is left of them. A run is charged only here.
//!
//! Memory is charged before it is allocated, by capacity. The charge depends only on the program, its inputs
//! and its answers: memory that a reused run still owns is charged as if it were new.

use crate::fault::Trap;
use ilo_spec::error::Code;
use ilo_spec::limits;

/// The limits of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Fuel: roughly, the number of instructions executed; work on whole texts, lists and records costs by
    /// size. Compensations (UNDO) burn fuel too, so a run without fuel makes no more of them. ROLLBACK
    /// entries run without fuel.
    pub fuel: u64,
    /// Bytes of values, text, registers and names. Registers take at least 4,128 bytes before anything runs.
    pub memory: u64,
    /// Bytes in one text.
    pub text: usize,
    /// Items in one list, or fields in one record.
    pub items: usize,
    /// Nesting of one value; at most [`ilo_spec::limits::VALUE_DEPTH`].
    pub value_depth: usize,
    /// Tool calls in the run, including compensations (UNDO), but not the calls of ROLLBACK entries. The run
    /// ends at the next call, even if it is a compensation. So leave room for a run that fails at its last
    /// call and then compensates everything.
    pub tool_calls: u64,
    /// ROLLBACK entries pushed in the run. The room for the entry of a call is reserved before the call is
    /// made; if there is none, the run ends there.
    pub rollbacks: usize,
    /// Bytes in one tool result: its texts and field names.
    pub result_bytes: usize,
    /// Values in one tool result.
    pub result_nodes: usize,
}

impl Default for Limits {
    #[inline]
    fn default() -> Limits {
        Limits {
            fuel: limits::DEFAULT_FUEL,
            memory: limits::DEFAULT_MEMORY,
            text: limits::DEFAULT_TEXT,
            items: limits::DEFAULT_ITEMS,
            value_depth: limits::DEFAULT_VALUE_DEPTH,
            tool_calls: limits::DEFAULT_TOOL_CALLS,
            rollbacks: limits::DEFAULT_ROLLBACKS,
            result_bytes: limits::DEFAULT_RESULT,
            result_nodes: limits::DEFAULT_RESULT_NODES,
        }
    }
}

/// Offsets and lengths are 32 bits wide.
const WIDEST: usize = u32::MAX as usize;

/// Bytes of mark bits for 16 items of an arena: one bit for each, and 32 bits for each 64.
const MAPPED: u64 = 3;

/// Bytes of an arena of `items` items, including the mark bits that compaction needs.
pub(crate) const fn arena_bytes(items: usize, size: usize) -> u64 {
    let items = items as u64;
    items.saturating_mul(size as u64).saturating_add(items.div_ceil(16).saturating_mul(MAPPED))
}

/// The number of items that fit in `bytes`.
fn arena_capacity(bytes: u64, size: usize) -> usize {
    let bytes = u128::from(bytes.saturating_sub(MAPPED));
    usize::try_from(bytes * 16 / (16 * size as u128 + u128::from(MAPPED))).unwrap_or(usize::MAX)
}

/// What was left at a point in time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Remaining {
    fuel: u64,
    memory: u64,
    held: u64,
    calls: u64,
}

/// What is left of the limits.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) limits: Limits,
    pub(crate) fuel: u64,
    /// Memory that may be taken before the next garbage collection.
    pub(crate) memory: u64,
    /// Memory held back until that collection.
    held: u64,
    pub(crate) calls: u64,
    /// Fuel that was lent, so that the section of a `tool.rollback` ends before the run does.
    lent: u64,
    /// Fuel that is not part of the slice under way; none outside of slices.
    withheld: u64,
    /// Whether the slice under way has ended at an instruction.
    pauses: bool,
    /// The fuel of the instruction at which the last slice ended.
    wanted: u64,
}

impl Budget {
    #[inline]
    pub(crate) fn new(mut limits: Limits) -> Budget {
        limits.value_depth = limits.value_depth.clamp(1, limits::VALUE_DEPTH);
        limits.text = limits.text.min(WIDEST);
        limits.items = limits.items.min(WIDEST);
        let mut budget = Budget {
            limits,
            fuel: 0,
            memory: 0,
            held: 0,
            calls: 0,
            lent: 0,
            withheld: 0,
            pauses: false,
            wanted: 0,
        };
        budget.reset();
        budget
    }

    /// Resets everything to the limits.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.fuel = self.limits.fuel;
        self.memory = self.limits.memory;
        self.held = 0;
        self.calls = self.limits.tool_calls;
    }

    /// What is left now.
    #[inline]
    pub(crate) fn mark(&self) -> Remaining {
        Remaining { fuel: self.fuel, memory: self.memory, held: self.held, calls: self.calls }
    }

    /// Restores what was left at a point in time.
    #[inline]
    pub(crate) fn rewind(&mut self, left: Remaining) {
        self.fuel = left.fuel;
        self.memory = left.memory;
        self.held = left.held;
        self.calls = left.calls;
    }

    /// Takes fuel.
    #[inline(always)]
    pub(crate) fn burn(&mut self, fuel: u64) -> Result<(), Trap> {
        // Subtract in place: if there was too little, nothing is left anyway.
        let (left, none) = self.fuel.overflowing_sub(fuel);
        self.fuel = left;
        if none { self.beyond_slice(fuel) } else { Ok(()) }
    }

    /// Takes fuel before an instruction has any effect. A slice that has too little left ends here, with a
    /// trap that is not a fault: see [`Budget::pauses`].
    #[inline(always)]
    pub(crate) fn burn_or_pause(&mut self, fuel: u64) -> Result<(), Trap> {
        let (left, none) = self.fuel.overflowing_sub(fuel);
        self.fuel = left;
        if none { Err(self.no_fuel_or_pause(fuel)) } else { Ok(()) }
    }

    /// Begins a slice of the given fuel, or of the fuel of the instruction that ended the last slice, if that
    /// is more.
    pub(crate) fn begin_slice(&mut self, fuel: u64) {
        let slice = fuel.max(core::mem::take(&mut self.wanted)).max(1).min(self.fuel);
        self.withheld = self.fuel - slice;
        self.fuel = slice;
    }

    /// Ends a slice. Returns whether it ended at an instruction, which is still to be executed.
    pub(crate) fn end_slice(&mut self) -> bool {
        self.fuel += core::mem::take(&mut self.withheld);
        core::mem::take(&mut self.pauses)
    }

    /// Whether the last trap is the end of a slice.
    pub(crate) fn pauses(&self) -> bool {
        self.pauses
    }

    /// The fuel that is left, in the slice under way and beyond it.
    pub(crate) fn fuel_left(&self) -> u64 {
        self.fuel + self.withheld
    }

    /// Restores an amount of fuel that was left earlier in the slice.
    pub(crate) fn take_back(&mut self, left: u64) {
        self.fuel = left.saturating_sub(self.withheld);
    }

    /// The slice has too little for an instruction that has begun: takes the rest from beyond the slice.
    #[cold]
    #[inline(never)]
    fn beyond_slice(&mut self, fuel: u64) -> Result<(), Trap> {
        let lacking = fuel - self.fuel.wrapping_add(fuel);
        match self.withheld.checked_sub(lacking) {
            Some(left) => {
                (self.fuel, self.withheld) = (0, left);
                Ok(())
            }
            None => Err(self.no_fuel()),
        }
    }

    #[cold]
    #[inline(never)]
    fn no_fuel_or_pause(&mut self, fuel: u64) -> Trap {
        if self.withheld == 0 {
            return self.no_fuel();
        }
        self.fuel = self.fuel.wrapping_add(fuel);
        (self.pauses, self.wanted) = (true, fuel);
        Trap::new(Code::FaultFuel, format_args!(""))
    }

    /// Drops the loan, for another start.
    pub(crate) fn forget_lent(&mut self) {
        self.lent = 0;
    }

    /// Lends fuel beyond the limit until [`Budget::repay`].
    pub(crate) fn lend(&mut self) {
        let fuel = self.fuel.saturating_add(limits::ROLLBACK_FUEL);
        self.lent += fuel - self.fuel;
        self.fuel = fuel;
    }

    /// Takes the fuel back that was lent; an error if the run has used more than it had.
    pub(crate) fn repay(&mut self) -> Result<(), Trap> {
        let lent = core::mem::take(&mut self.lent);
        self.burn(lent)
    }

    #[cold]
    #[inline(never)]
    fn no_fuel(&mut self) -> Trap {
        (self.fuel, self.withheld) = (0, 0);
        Trap::new(Code::FaultFuel, format_args!("the run used all of its {} units of fuel", self.limits.fuel))
    }

    /// Takes the fuel for touching a number of values and bytes.
    #[inline]
    pub(crate) fn burn_bulk(&mut self, values: usize, bytes: usize) -> Result<(), Trap> {
        self.burn((values / 4 + bytes / 64) as u64)
    }

    /// Fuel and calls used so far.
    #[inline]
    pub(crate) fn used(&self) -> (u64, u64) {
        let fuel = self.fuel.saturating_sub(self.lent);
        (self.limits.fuel - fuel, self.limits.tool_calls - self.calls)
    }

    /// Takes what was used before a snapshot, as far as the limits allow.
    pub(crate) fn use_up(&mut self, fuel: u64, calls: u64) {
        self.fuel = self.limits.fuel.saturating_sub(fuel);
        self.calls = self.limits.tool_calls.saturating_sub(calls);
    }

    /// Returns memory that was charged.
    pub(crate) fn give_back(&mut self, bytes: u64) {
        self.memory += bytes;
    }

    /// All memory that is left.
    #[inline]
    pub(crate) fn left(&self) -> u64 {
        self.memory + self.held
    }

    /// Holds memory back, so that the next collection happens when usage doubles, but not below a fixed part
    /// of the limit.
    #[inline]
    pub(crate) fn hold_back(&mut self) {
        let left = self.left();
        let limit = self.limits.memory;
        let used = limit - left;
        let mark = used.saturating_mul(2).max(limit / limits::CLEARED_FIRST).min(limit);
        self.held = limit - mark;
        self.memory = left - self.held;
    }

    /// Releases what is held back.
    pub(crate) fn release(&mut self) {
        self.memory = self.left();
        self.held = 0;
    }

    /// Whether memory is held back.
    pub(crate) fn is_holding_back(&self) -> bool {
        self.held > 0
    }

    /// Returns the difference when an arena shrinks from one capacity to another.
    pub(crate) fn shrink(&mut self, granted: usize, next: usize, size: usize) {
        self.memory += arena_bytes(granted, size) - arena_bytes(next, size);
    }

    /// Takes memory.
    #[inline]
    pub(crate) fn charge(&mut self, bytes: u64) -> Result<(), Trap> {
        match self.memory.checked_sub(bytes) {
            Some(left) => {
                self.memory = left;
                Ok(())
            }
            None => Err(self.no_memory(bytes)),
        }
    }

    #[cold]
    pub(crate) fn no_memory(&self, bytes: u64) -> Trap {
        Trap::new(
            Code::FaultMemory,
            format_args!(
                "{bytes} more bytes would exceed the limit of the run: {} bytes, of which {} are left",
                self.limits.memory,
                self.left()
            ),
        )
    }

    /// The next capacity, where `need` and the result count items of `size` bytes: twice what was granted, at
    /// least `least`, less if the limit is near. Charges the difference.
    pub(crate) fn grow(
        &mut self,
        granted: usize,
        need: usize,
        least: usize,
        size: usize,
    ) -> Result<usize, Trap> {
        let next = granted.saturating_mul(2).max(least).max(need);
        match self.memory.checked_sub(arena_bytes(next, size) - arena_bytes(granted, size)) {
            Some(left) => {
                self.memory = left;
                Ok(next)
            }
            None => self.grow_less(granted, need, size),
        }
    }

    /// Grows to whatever the limit still allows, if that is enough.
    #[cold]
    #[inline(never)]
    fn grow_less(&mut self, granted: usize, need: usize, size: usize) -> Result<usize, Trap> {
        let most = granted.saturating_add(arena_capacity(self.memory, size));
        if need > most {
            return Err(self.no_memory(arena_bytes(need, size) - arena_bytes(granted, size)));
        }
        self.charge(arena_bytes(most, size) - arena_bytes(granted, size))?;
        Ok(most)
    }

    /// Takes one tool call.
    #[inline(always)]
    pub(crate) fn take_call(&mut self) -> Result<(), Trap> {
        match self.calls.checked_sub(1) {
            Some(left) => {
                self.calls = left;
                Ok(())
            }
            None => Err(self.no_calls()),
        }
    }

    /// Gives back a call that was not made.
    pub(crate) fn give_call_back(&mut self) {
        self.calls = self.calls.saturating_add(1).min(self.limits.tool_calls);
    }

    #[cold]
    #[inline(never)]
    fn no_calls(&self) -> Trap {
        Trap::new(
            Code::FaultTooManyCalls,
            format_args!("the run has made all of its {} tool calls", self.limits.tool_calls),
        )
    }

    /// Checks the size of a text.
    #[inline(always)]
    pub(crate) fn check_text(&self, bytes: usize) -> Result<(), Trap> {
        if bytes > self.limits.text { Err(self.too_large("text", bytes, self.limits.text)) } else { Ok(()) }
    }

    /// Checks the size of a list or record.
    #[inline(always)]
    pub(crate) fn check_items(&self, items: usize) -> Result<(), Trap> {
        if items > self.limits.items { Err(self.too_large("list", items, self.limits.items)) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    #[allow(clippy::unused_self, reason = "keeps the message beside the limits")]
    fn too_large(&self, what: &str, found: usize, limit: usize) -> Trap {
        let unit = if what == "text" { "bytes" } else { "items" };
        Trap::new(
            Code::FaultTooLarge,
            format_args!("a {what} of at least {found} {unit} passes the limit of {limit}"),
        )
    }

    #[cold]
    pub(crate) fn too_large_to_leave(&self) -> Trap {
        Trap::new(
            Code::FaultTooLarge,
            format_args!(
                "a value that leaves the run, written out, passes the run's memory of {} bytes",
                self.limits.memory
            ),
        )
    }

    /// Checks the nesting of a value.
    #[inline(always)]
    pub(crate) fn check_depth(&self, depth: u32) -> Result<(), Trap> {
        if depth as usize > self.limits.value_depth { Err(self.too_deep()) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn too_deep(&self) -> Trap {
        Trap::new(
            Code::FaultDepth,
            format_args!("a value nested deeper than the limit of {}", self.limits.value_depth),
        )
    }
}

/// Counts an incoming value against the limits on its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    pub(crate) bytes: usize,
    pub(crate) nodes: usize,
    limits: (usize, usize),
    /// What the value is, for messages.
    what: &'static str,
}

impl Meter {
    pub(crate) const UNLIMITED: Meter = Meter::new("an argument", usize::MAX, usize::MAX);

    pub(crate) const fn new(what: &'static str, bytes: usize, nodes: usize) -> Meter {
        Meter { bytes, nodes, limits: (bytes, nodes), what }
    }

    /// Values and bytes counted so far.
    pub(crate) fn used(&self) -> (usize, usize) {
        (self.limits.1 - self.nodes, self.limits.0 - self.bytes)
    }

    #[inline(always)]
    pub(crate) fn take(&mut self, nodes: usize, bytes: usize) -> Result<(), Trap> {
        match (self.nodes.checked_sub(nodes), self.bytes.checked_sub(bytes)) {
            (Some(nodes), Some(bytes)) => {
                self.nodes = nodes;
                self.bytes = bytes;
                Ok(())
            }
            (left, _) => Err(self.exceeded(left.is_none())),
        }
    }

    #[cold]
    #[inline(never)]
    fn exceeded(&self, in_values: bool) -> Trap {
        let (bytes, nodes) = self.limits;
        let (limit, unit) = if in_values { (nodes, "values") } else { (bytes, "bytes") };
        Trap::new(Code::FaultTooLarge, format_args!("{} passes the limit of {limit} {unit}", self.what))
    }
}
