//! All limits of the format and all defaults of a run, each a named constant with its reason.
//!
//! A limit of the format cannot be raised. A default protects hosts that set nothing; each has a setting
//! where it is used.

/// Registers in a frame: a register is one byte, so indexing a frame of this size needs no bounds check.
pub const REGISTERS: usize = 256;
/// Instructions in one function: a jump is 16 bits wide.
pub const FUNCTION_CODE: usize = 65_535;
/// Functions in a program: an index is 16 bits wide inside an 8-byte instruction.
pub const FUNCTIONS: usize = 65_535;
/// Distinct field names in a program: a field index is 16 bits wide.
pub const FIELDS: usize = 65_535;
/// Distinct tools in a program.
pub const TOOLS: usize = 65_535;
/// Distinct pairs of a tool and its argument names: a call index is 16 bits wide.
pub const CALLS: usize = 65_535;
/// Distinct shapes (ordered field lists) that a program builds: a shape index is 16 bits wide.
pub const SHAPES: usize = 65_535;
/// Distinct number constants: a constant index is 16 bits wide.
pub const NUMBERS: usize = 65_535;
/// Strings in a program, names and texts together: no person or model writes more.
pub const STRINGS: usize = 1 << 24;
/// Switches in a program.
pub const MAPS: usize = 1 << 24;
/// The highest value to which the limit on the nesting of a source can be set. Passes over the tree recurse,
/// so this bounds their stack (tested).
pub const NESTING: usize = 256;
/// Nesting of lists in a type, which is the greatest depth of a value of that type.
pub const TYPE_LISTS: usize = 128;
/// Nesting of records in the type of a parameter: more is no type that a person reads.
pub const RECORD_TYPES: usize = 16;
/// Source bytes in one file: a span is two 32-bit offsets.
pub const SOURCE: usize = u32::MAX as usize - 1;
/// Registers passed in one window when a long list, text or record is built in parts.
pub const CHUNK: usize = 64;
/// Diagnostics kept for one file; the rest are only counted, so that memory is bounded.
pub const DIAGNOSTICS: usize = 1_000;

/// The first garbage collection of a run is at its memory limit divided by this number. Most runs never
/// reach it.
pub const CLEARED_FIRST: u64 = 2;
/// Collecting a full heap must free at least the memory limit divided by this number. Otherwise collections
/// would follow each other without end.
pub const CLEARED_LEAST: u64 = 16;
/// While a call is in progress, a run is copied for look-ahead (3.1.7) only if it uses at most this many
/// bytes of memory.
pub const SCOUTED_MEMORY: u64 = 4 << 20;
/// Fuel beyond its limit that a run may use between a call and its ROLLBACK: the entry is pushed first.
pub const ROLLBACK_FUEL: u64 = 1_000_000;
/// Fuel that a cancelled run may still use, apart from that of compensations: less than a millisecond.
pub const CANCEL_FUEL: u64 = 100_000;
/// Fuel for look-ahead, separate from that of the run: less than a millisecond.
pub const SCOUT_FUEL: u64 = 100_000;

/// Source bytes by default: a thousand times what a model writes at once.
pub const DEFAULT_SOURCE: usize = 1 << 20;
/// Bytes in one line by default, so that a message can show the line.
pub const DEFAULT_LINE: usize = 64 << 10;
/// Bytecode bytes by default.
pub const DEFAULT_BYTECODE: usize = 1 << 20;
/// Nesting of a source by default.
pub const DEFAULT_NESTING: usize = 128;
/// Nesting of values by default, for values made by the run and for those it is given.
pub const DEFAULT_VALUE_DEPTH: usize = 128;
/// The highest nesting of values that can be set.
pub const VALUE_DEPTH: usize = 1_024;
/// Fuel of a run by default: some tenths of a second.
pub const DEFAULT_FUEL: u64 = 10_000_000;
/// Bytes of memory of a run by default.
pub const DEFAULT_MEMORY: u64 = 64 << 20;
/// Bytes in one text by default.
pub const DEFAULT_TEXT: usize = 8 << 20;
/// Items in one list by default.
pub const DEFAULT_ITEMS: usize = 1_000_000;
/// Tool calls in one run by default.
pub const DEFAULT_TOOL_CALLS: u64 = 1_000;
/// ROLLBACK entries in one run by default: as many as tool calls.
pub const DEFAULT_ROLLBACKS: usize = 1_000;
/// Concurrent tool calls of a host by default.
pub const DEFAULT_CALLS_UNDER_WAY: usize = 16;
/// Bytes of one tool result by default.
pub const DEFAULT_RESULT: usize = 2 << 20;
/// Values in one tool result by default.
pub const DEFAULT_RESULT_NODES: usize = 100_000;
/// Milliseconds one tool call may take by default.
pub const DEFAULT_CALL_MS: u64 = 30_000;
/// Milliseconds a whole run may take by default.
pub const DEFAULT_RUN_MS: u64 = 600_000;
