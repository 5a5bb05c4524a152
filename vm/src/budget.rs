//! What a run may use, and the one place where it is charged.
//!
//! Memory is charged before it is taken and by capacity. What is charged follows from the program, its inputs and its
//! answers alone: room that a reused run still has from before is charged as if it were new.

use crate::fault::Trap;
use ilo_spec::error::Code;
use ilo_spec::limits;

/// The limits of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions, roughly; bulk work costs by its size. Rollbacks take from the same, so leave room for them: a run that
    /// has used all of it ends there and undoes nothing more.
    pub fuel: u64,
    /// Bytes of values, text, registers and names. The registers take at least 4,128 of them before anything runs.
    pub memory: u64,
    /// Bytes of one text.
    pub text: usize,
    /// Items of one list, fields of one record.
    pub items: usize,
    /// Nesting of one value, at most [`ilo_spec::limits::VALUE_DEPTH`].
    pub value_depth: usize,
    /// Tool calls in the run, those of rollbacks among them. A run that has made them all ends at the next, also where that
    /// would undo something: set it above what a run makes that fails at its last call and rolls everything back.
    pub tool_calls: u64,
    /// Bytes of one tool result: its texts and field names.
    pub result_bytes: usize,
    /// Values in one tool result.
    pub result_nodes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            fuel: limits::DEFAULT_FUEL,
            memory: limits::DEFAULT_MEMORY,
            text: limits::DEFAULT_TEXT,
            items: limits::DEFAULT_ITEMS,
            value_depth: limits::DEFAULT_VALUE_DEPTH,
            tool_calls: limits::DEFAULT_TOOL_CALLS,
            result_bytes: limits::DEFAULT_RESULT,
            result_nodes: limits::DEFAULT_RESULT_NODES,
        }
    }
}

/// Offsets and lengths are 32 bits wide.
const WIDEST: usize = u32::MAX as usize;

/// Bytes that a map needs for 16 items of an arena: a bit for each, and 32 bits for each 64.
const MAPPED: u64 = 3;

/// Bytes of so many items of an arena, and of the map that clearing it needs.
pub(crate) const fn arena_bytes(items: usize, size: usize) -> u64 {
    let items = items as u64;
    items.saturating_mul(size as u64).saturating_add(items.div_ceil(16).saturating_mul(MAPPED))
}

/// Items that there is room for in so many bytes.
fn arena_capacity(bytes: u64, size: usize) -> usize {
    let bytes = u128::from(bytes.saturating_sub(MAPPED));
    usize::try_from(bytes * 16 / (16 * size as u128 + u128::from(MAPPED))).unwrap_or(usize::MAX)
}

/// What was left at some time.
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
    /// What may be taken before what is garbage is looked for.
    pub(crate) memory: u64,
    /// What may be taken after that.
    held: u64,
    pub(crate) calls: u64,
}

impl Budget {
    pub(crate) fn new(mut limits: Limits) -> Budget {
        limits.value_depth = limits.value_depth.clamp(1, limits::VALUE_DEPTH);
        limits.text = limits.text.min(WIDEST);
        limits.items = limits.items.min(WIDEST);
        let mut budget = Budget { limits, fuel: 0, memory: 0, held: 0, calls: 0 };
        budget.reset();
        budget
    }

    /// Everything is left again.
    pub(crate) fn reset(&mut self) {
        self.fuel = self.limits.fuel;
        self.memory = self.limits.memory;
        self.held = 0;
        self.calls = self.limits.tool_calls;
    }

    /// What is left now.
    pub(crate) fn mark(&self) -> Remaining {
        Remaining { fuel: self.fuel, memory: self.memory, held: self.held, calls: self.calls }
    }

    /// As much is left as was then.
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
        // Taken in place: where there was too little, nothing is left anyway.
        let (left, none) = self.fuel.overflowing_sub(fuel);
        self.fuel = left;
        if none { Err(self.no_fuel()) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn no_fuel(&mut self) -> Trap {
        self.fuel = 0;
        Trap::new(Code::FaultFuel, format_args!("the run used all of its {} units of fuel", self.limits.fuel))
    }

    /// Takes the fuel of touching so many values and bytes.
    pub(crate) fn burn_bulk(&mut self, values: usize, bytes: usize) -> Result<(), Trap> {
        self.burn((values / 4 + bytes / 64) as u64)
    }

    /// Fuel and calls that were used.
    pub(crate) fn used(&self) -> (u64, u64) {
        (self.limits.fuel - self.fuel, self.limits.tool_calls - self.calls)
    }

    /// Takes what was used before, as far as there is so much.
    pub(crate) fn use_up(&mut self, fuel: u64, calls: u64) {
        self.fuel = self.limits.fuel.saturating_sub(fuel);
        self.calls = self.limits.tool_calls.saturating_sub(calls);
    }

    /// Gives back memory that was charged.
    pub(crate) fn give_back(&mut self, bytes: u64) {
        self.memory += bytes;
    }

    /// Memory that is left in all.
    pub(crate) fn left(&self) -> u64 {
        self.memory + self.held
    }

    /// Holds memory back: the heap is cleared when twice what it has now is taken, at least a part of the limit.
    pub(crate) fn hold_back(&mut self) {
        let left = self.left();
        let limit = self.limits.memory;
        let used = limit - left;
        let mark = used.saturating_mul(2).max(limit / limits::CLEARED_FIRST).min(limit);
        self.held = limit - mark;
        self.memory = left - self.held;
    }

    /// Holds nothing back.
    pub(crate) fn release(&mut self) {
        self.memory = self.left();
        self.held = 0;
    }

    /// Whether anything is held back.
    pub(crate) fn is_holding_back(&self) -> bool {
        self.held > 0
    }

    /// Gives back what an arena was charged for going from one capacity to another.
    pub(crate) fn shrink(&mut self, granted: usize, next: usize, size: usize) {
        self.memory += arena_bytes(granted, size) - arena_bytes(next, size);
    }

    /// Takes memory.
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
                "{bytes} bytes more would pass the run's limit of {} bytes, of which {} are left",
                self.limits.memory,
                self.left()
            ),
        )
    }

    /// The next capacity for a need, both counted in items of `size` bytes: twice what was granted, at least `least`,
    /// less where the limit is near. Charges the difference.
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

    /// As much as there still is, where that is enough.
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

    #[cold]
    #[inline(never)]
    fn no_calls(&self) -> Trap {
        Trap::new(
            Code::FaultTooManyCalls,
            format_args!("the run may make {} tool calls and has made them", self.limits.tool_calls),
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
