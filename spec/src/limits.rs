//! Every ceiling of the format and every default of a run, each a named constant with its reason.
//!
//! A ceiling is part of the format: no setting raises it. A default protects a host that set nothing; each has a
//! setting beside it where it is used.

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
/// Strings in a program, names and texts together: a program with more is no program a person or model wrote.
pub const STRINGS: usize = 1 << 24;
/// Switches in a program.
pub const MAPS: usize = 1 << 24;
/// Nesting a source may be allowed to have. Passes over the tree recurse, so this bounds their stack (tested).
pub const NESTING: usize = 256;
/// Nesting of lists in one type, which is the greatest depth of a value that has the type.
pub const TYPE_LISTS: usize = 128;
/// Source bytes in one file: a span is two 32-bit offsets.
pub const SOURCE: usize = u32::MAX as usize - 1;
/// Registers passed in one window when a long list, text or record is built piece by piece.
pub const CHUNK: usize = 64;
/// Diagnostics kept for one file; the rest are counted. A reader needs no more, and memory stays bounded.
pub const DIAGNOSTICS: usize = 1_000;

/// The part of its memory, one in so many, that a run takes before its heap is first cleared: most runs never do it.
pub const CLEARED_FIRST: u64 = 2;
/// The part of its memory, one in so many, that clearing a full heap must leave: with less it would be cleared for ever.
pub const CLEARED_LEAST: u64 = 16;
/// Bytes of memory up to which a run is looked ahead of: that is copied, as far as it is in use, while a call is under way.
pub const SCOUTED_MEMORY: u64 = 4 << 20;
/// Fuel that looking ahead burns at most, which is not the run's: less than a millisecond.
pub const SCOUT_FUEL: u64 = 100_000;

/// Source bytes read by default: a thousand times what a model writes at once.
pub const DEFAULT_SOURCE: usize = 1 << 20;
/// Bytes in one line by default, so that a message can show the line.
pub const DEFAULT_LINE: usize = 64 << 10;
/// Bytecode bytes by default.
pub const DEFAULT_BYTECODE: usize = 1 << 20;
/// Nesting of a source by default.
pub const DEFAULT_NESTING: usize = 128;
/// Nesting of values by default: no run makes or takes a deeper one, so nothing that goes through one goes deeper.
pub const DEFAULT_VALUE_DEPTH: usize = 128;
/// Nesting of values that may be asked for.
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
/// Tool calls under way at once in a host by default.
pub const DEFAULT_CALLS_UNDER_WAY: usize = 16;
/// Bytes of one tool result by default.
pub const DEFAULT_RESULT: usize = 2 << 20;
/// Values in one tool result by default.
pub const DEFAULT_RESULT_NODES: usize = 100_000;
/// Milliseconds one tool call may take by default.
pub const DEFAULT_CALL_MS: u64 = 30_000;
/// Milliseconds a whole run may take by default.
pub const DEFAULT_RUN_MS: u64 = 600_000;
