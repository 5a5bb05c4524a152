//! The verification rules, as data.

use core::fmt;
use ilo_spec::error::Code;

/// A rule that a program breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// A table or count above its limit.
    Count {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// An index outside its table.
    Index {
        /// What the table holds.
        what: &'static str,
        /// The index.
        found: usize,
        /// The size of the table.
        size: usize,
    },
    /// A duplicate among entries that must be distinct.
    Duplicate {
        /// What is duplicated.
        what: &'static str,
    },
    /// A number constant is not finite.
    NotFinite,
    /// Functions do not cover the code one after the other.
    Cover,
    /// A register or window outside the registers of the function.
    Register {
        /// One past the highest register named.
        found: usize,
        /// Registers of the function.
        limit: usize,
    },
    /// A register that is not set on every path.
    Unset {
        /// The register.
        register: u8,
    },
    /// A register that belongs to an enclosing loop.
    LoopRegister {
        /// The register.
        register: u8,
    },
    /// A jump out of the function.
    Jump {
        /// The instruction it goes to.
        to: u64,
        /// One past the function's last instruction.
        end: u32,
    },
    /// A jump from outside into a loop.
    EntersLoop {
        /// The instruction it goes to.
        to: u32,
    },
    /// A loop that does not end at its `next`, or a `next` that does not go back to its loop.
    Loop,
    /// A `yield` outside a collecting loop.
    Yield,
    /// A `collect` that does not follow the `next` of its `for`.
    Collect,
    /// A `break` that does not leave its loop.
    Break,
    /// Code that runs past the end of its function.
    RunsOff,
    /// An unreachable instruction.
    Unreachable,
    /// A call of a function whose number is not lower than the caller's.
    Order {
        /// The function called.
        found: u16,
        /// The caller.
        caller: usize,
    },
    /// A shape whose number of fields differs from the number of registers.
    Fields {
        /// The fields of the shape.
        found: usize,
        /// The registers.
        expected: usize,
    },
    /// A pure function with more or fewer operands than it takes.
    Operands {
        /// The operands of the instruction.
        found: usize,
        /// Those that the function takes.
        expected: usize,
    },
    /// A handler for a function that cannot fail.
    Handler {
        /// The function's name.
        function: &'static str,
    },
    /// A return of another type than the function has.
    ReturnType {
        /// The packed type of the instruction.
        found: u16,
        /// That of the function.
        expected: u16,
    },
    /// A `tool.rollback` without its `rollback`s, or with other instructions among them.
    Section {
        /// How many belong to it.
        expected: u8,
    },
    /// A jump from outside into the section of a `tool.rollback`.
    EntersSection {
        /// The instruction it goes to.
        to: u32,
    },
    /// A map that is not the next one.
    MapOrder {
        /// The map that the instruction uses.
        found: u32,
        /// The next map.
        expected: u32,
    },
    /// A map that no switch uses.
    UnusedMap {
        /// The map's number.
        found: usize,
    },
    /// Fields in a type whose values are no records.
    RecordType,
    /// More registers or fuel on a path than a counter holds.
    TooDeep,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Rule::Count { what, found, limit } => write!(f, "expected at most {limit} {what}, found {found}"),
            Rule::Index { what, found, size } => {
                write!(f, "expected the index of a {what} below {size}, found {found}")
            }
            Rule::Duplicate { what } => write!(f, "expected each {what} once, found one twice"),
            Rule::NotFinite => f.write_str("expected finite numbers, found one that is not"),
            Rule::Cover => f.write_str("expected functions that cover the code one after the other"),
            Rule::Register { found, limit } => {
                write!(f, "expected registers below {limit}, found register {}", found.saturating_sub(1))
            }
            Rule::Unset { register } => write!(f, "register {register} is read but not set on every path"),
            Rule::LoopRegister { register } => {
                write!(f, "register {register} belongs to a loop that encloses this instruction")
            }
            Rule::Jump { to, end } => write!(f, "expected a jump to before {end}, found one to {to}"),
            Rule::EntersLoop { to } => write!(f, "a jump to {to} enters a loop from outside"),
            Rule::Loop => f.write_str("expected a loop and its next to refer to each other"),
            Rule::Yield => f.write_str("expected a yield inside the collecting loop of that register"),
            Rule::Collect => f.write_str("expected a collect directly after the next of the collecting loop"),
            Rule::Break => f.write_str("expected a break to jump past the next of its loop"),
            Rule::RunsOff => f.write_str("expected a return or fail at the end of the function"),
            Rule::Unreachable => f.write_str("unreachable instruction"),
            Rule::Order { found, caller } => {
                write!(f, "expected a call of a function below {caller}, found {found}")
            }
            Rule::Fields { found, expected } => {
                write!(f, "expected a shape of {expected} fields, found one of {found}")
            }
            Rule::Operands { found, expected } => write!(f, "expected {expected} operands, found {found}"),
            Rule::Handler { function } => write!(f, "a failure handler for {function}, which cannot fail"),
            Rule::ReturnType { found, expected } => {
                write!(f, "expected a return of type {expected}, found one of type {found}")
            }
            Rule::Section { expected: 0 } => f.write_str("expected a tool.rollback of at least 1 rollback"),
            Rule::Section { expected } => write!(
                f,
                "expected {expected} rollbacks after the call, each reached after the one before, and among them only \
                 instructions that compute values or jump forward"
            ),
            Rule::EntersSection { to } => {
                write!(f, "a jump to {to} enters the code between a call and its rollback")
            }
            Rule::MapOrder { found, expected } => write!(f, "expected map {expected}, found {found}"),
            Rule::UnusedMap { found } => write!(f, "expected a switch for every map, found none for {found}"),
            Rule::RecordType => f.write_str("expected the base any in a type that lists fields"),
            Rule::TooDeep => f.write_str("calls take more registers or fuel than can be counted"),
        }
    }
}

/// Where in a program a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Table,
    Function(usize),
    Code(u32),
}

/// The first rule that a program breaks, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyError {
    place: Place,
    /// The rule.
    pub rule: Rule,
}

impl VerifyError {
    pub(super) fn table(rule: Rule) -> VerifyError {
        VerifyError { place: Place::Table, rule }
    }

    pub(super) fn function(function: usize, rule: Rule) -> VerifyError {
        VerifyError { place: Place::Function(function), rule }
    }

    pub(super) fn at(pc: u32, rule: Rule) -> VerifyError {
        VerifyError { place: Place::Code(pc), rule }
    }

    /// The instruction, counted over the whole program, if the error is at one.
    pub fn pc(&self) -> Option<u32> {
        match self.place {
            Place::Code(pc) => Some(pc),
            Place::Table | Place::Function(_) => None,
        }
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        Code::Unverified
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Table => f.write_str("in the tables: ")?,
            Place::Function(function) => write!(f, "in function {function}: ")?,
            Place::Code(pc) => write!(f, "at instruction {pc}: ")?,
        }
        self.rule.fmt(f)
    }
}

impl core::error::Error for VerifyError {}

/// The result of a check.
pub(super) type Result<T> = core::result::Result<T, VerifyError>;

/// Checks that an index lies within its table.
#[inline]
pub(super) fn index(what: &'static str, found: usize, size: usize) -> core::result::Result<(), Rule> {
    if found < size { Ok(()) } else { Err(Rule::Index { what, found, size }) }
}
