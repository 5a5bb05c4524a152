//! All error codes in one table, and decoding errors.
//!
//! A code is public and stable: hosts match on it, models learn it, `explain` describes it. Numbers are only
//! added, each within its hundred: 1 text, 2 headers and registries, 3 names, 4 flow, 5 types, 6 limits, 7
//! bytecode, 8 faults, 9 the host.

use core::fmt;

/// The page of the specification that explains each code: Markdown, a section a code.
pub const PAGES: &str = include_str!("../doc/errors.md");

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The program runs, but is probably not what its author meant.
    Warning,
    /// The program is refused.
    Error,
}

macro_rules! codes {
    ($($number:literal $name:ident $code:literal $severity:ident $meaning:literal;)*) => {
        /// A stable error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Code { $(#[doc = $meaning] $name = $number,)* }

        impl Code {
            /// All codes, in the order of their numbers.
            pub const ALL: &[Code] = &[$(Code::$name),*];

            /// The code in text form.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code,)* }
            }

            /// Whether it is an error, which rejects the program, or a warning. A fault always ends the run.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity,)* }
            }

            /// Whether it is a warning that foretells: a run that comes to its place ends in a fault, or does
            /// something else than the program says. A strict check refuses these (6.5).
            pub const fn foretells(self) -> bool {
                matches!(
                    self,
                    Code::FailureField | Code::NeverEqual | Code::UnknownField | Code::MaybeNil | Code::UnknownArgument
                        | Code::TextArithmetic | Code::NestedYield
                )
            }

            /// Its meaning in one line.
            pub const fn meaning(self) -> &'static str {
                match self { $(Code::$name => $meaning,)* }
            }
        }
    };
}

codes! {
    101 NotUtf8 "not-utf8" Error "the source is not UTF-8";
    102 BadCharacter "bad-character" Error "a character that cannot begin a token";
    103 BadString "bad-string" Error
        "a string that is not a JSON string: not closed, a bad escape, a lone surrogate";
    104 BadNumber "bad-number" Error "a number that is not a JSON number";
    105 NumberRange "number-range" Error "an integer beyond 64 bits, or a number that is not finite";
    106 UnknownInstruction "unknown-instruction" Error "a word that is not an instruction";
    107 ExpectedOperand "expected-operand" Error "an operand is missing or is something else";
    108 ExpectedStatement "expected-statement" Error "a statement is missing or is something else";
    109 ExpectedId "expected-id" Error "a slot, tool or field number is missing or is something else";
    110 ExpectedCount "expected-count" Error "a count is missing or is something else";
    111 ExpectedArm "expected-arm" Error "an ERR or OK arm is missing or is something else";
    112 IdRange "id-range" Error "a slot, tool or field number outside 0 to 4294967295";
    113 CountRange "count-range" Error "a count that is negative or larger than the file";
    114 MixedIndent "mixed-indent" Error
        "two indents of which neither is a prefix of the other, such as a tab and spaces";
    115 IncompleteBlock "incomplete-block" Error
        "a block that ends early, both by its indent and by its count";
    116 CountMismatch "count-mismatch" Warning
        "a count that differs from the indented lines; the lines decide";
    117 BadLiteral "bad-literal" Error "a LIT whose kind and value do not match";
    118 DuplicateArm "duplicate-arm" Error "a MATCH with two arms of the same kind";
    119 DuplicateField "duplicate-field" Error "a field or argument given twice";
    120 DuplicateCase "duplicate-case" Error "two equal keys, or two defaults, in a MATCH_MAP";
    121 OrphanElse "orphan-else" Error "an ELSE without an open IF or a FOR with a BREAK";
    122 UnexpectedText "unexpected-text" Error "something after the end of a statement or program";
    123 BadJson "bad-json" Error "text that is not JSON";
    124 BadYaml "bad-yaml" Error "text that is not YAML";
    125 QuoteIt "quote-it" Error "a value that YAML reads differently than it looks; quote it";
    126 YamlFeature "yaml-feature" Error "an anchor, an alias, a tag or a merge key in YAML";
    127 DuplicateKey "duplicate-key" Error "a key given twice in one record";
    128 UnknownKey "unknown-key" Error "a key that has no meaning here";
    129 MissingKey "missing-key" Error "a required key is missing";
    130 BadShape "bad-shape" Error "a value of a kind that its key does not take";
    131 BadStep "bad-step" Error "a step that is not a step, or several steps in one";
    132 BadReference "bad-reference" Error "a reference in a form that the notation does not have";
    133 BadExpression "bad-expression" Error "an infix expression that cannot be read";
    134 UnknownOperator "unknown-operator" Error "an operator that does not exist";
    135 OperandCount "operand-count" Error "an operator with too few or too many operands";
    136 OtherNotation "other-notation" Warning "a word of another notation, which is accepted";
    137 TextArithmetic "text-arithmetic" Warning "a text that looks like arithmetic but is text here";
    138 HandlerText "handler-text" Warning "a message that looks like a handler action";
    139 ContinueInLoop "continue-in-loop" Error "`continue` in a loop, where it could mean skip or ignore";
    140 SwitchReturns "switch-returns" Warning
        "a switch at the end of a loop whose `return` ends the function";
    141 UnknownNotation "unknown-notation" Error "a source that does not look like any of the notations";
    142 TextReference "text-reference" Warning
        "a text that is a reference in other languages, but is text here";
    143 FailureField "failure-field" Warning "a field of a tool's failure, which is a text";
    144 QuotedNull "quoted-null" Warning "`null` as a text, where a value is compared with it";
    145 RecordOperation "record-operation" Warning
        "a record that other languages would evaluate, but that is data here";
    146 DefaultCase "default-case" Warning
        "a case that is a default in other languages, but an ordinary case here";
    147 SeveralCases "several-cases" Warning
        "a case that means several values in other languages, but is one text here";
    148 LostValue "lost-value" Warning "a value in a loop body that nothing reads and that is not yielded";
    149 HandlerNowhere "handler-nowhere" Error
        "a handler beside an expression whose outermost part cannot fail";
    150 BreakNowhere "break-nowhere" Error "a BREAK outside a loop";
    151 SkipNowhere "skip-nowhere" Error "a SKIP outside a loop";
    152 YieldNowhere "yield-nowhere" Error "a YIELD outside a loop";
    153 MixedYield "mixed-yield" Error
        "a value at the end of a pass, in a FOR that collects what its YIELDs give";
    154 HyphenMinus "hyphen-minus" Warning
        "a field whose name ends with a hyphen and a number, which may be meant as a difference";
    155 ValueRecord "value-record" Warning "`{value: V}` alone in the place of a value, where it is a record";
    156 NestedYield "nested-yield" Warning "yields in a loop whose list is one value of the loop around it";

    201 MissingHeader "missing-header" Error
        "instructions before the first `; fn` line, or a file without one";
    202 BadHeader "bad-header" Error "a `; fn` line that is not `; fn name(param: type, …) -> type`";
    203 BadType "bad-type" Error "not a type, or `result` in place of a value's type";
    204 TypeSynonym "type-synonym" Warning "a type's name from another language, which is accepted";
    205 BadRegistry "bad-registry" Error "a registry entry that is not `id=name`";
    206 DuplicateId "duplicate-id" Error "an id with two names in one registry";
    207 UnnamedId "unnamed-id" Error "a tool or field id that no registry names";
    208 DuplicateFunction "duplicate-function" Error "two functions of one name in a file";
    209 DuplicateParameter "duplicate-parameter" Error "two parameters of one name";
    210 EmptyFile "empty-file" Error "a file without a program";
    211 OtherSignature "other-signature" Error
        "a function whose name, inputs or output are not those that its host expects";

    301 UnknownTool "unknown-tool" Error "a tool that the catalogue does not have";
    302 UnknownArgument "unknown-argument" Warning "an argument that the tool or function does not take";
    303 MissingArgument "missing-argument" Error "an argument that the tool or function needs";
    304 CircularCall "circular-call" Error "functions that call themselves, directly or through others";
    305 ToolNotAllowed "tool-not-allowed" Error
        "a tool that the function's own list of tools does not contain";
    306 UnknownFunction "unknown-function" Error "a function that the program does not have";
    307 NoSingleEntry "no-single-entry" Error "several functions could be the entry function, and none was chosen";
    308 UnknownReference "unknown-reference" Error "a reference to a name that is not in scope";
    309 LaterReference "later-reference" Error "a reference to a step that runs later";
    310 ReservedName "reserved-name" Error "a name that the notation reserves";
    311 UnnamedSelf "unnamed-self" Warning "a call of the file's only other function, which has no name";
    312 RollbackFunction "rollback-function" Error "a ROLLBACK that names a function of the file and not a tool";
    313 RollbackArgument "rollback-argument" Error "a call in an argument of a ROLLBACK";
    314 Shadowed "shadowed" Warning "a step with the name of a step of an outer block, which it does not change";
    315 BadSchema "bad-schema" Warning "a keyword in a schema of a called tool with a value that it cannot have";

    401 UnsetSlot "unset-slot" Error "a slot read on a path that has not set it";
    402 UncheckedRead "unchecked-read" Error
        "a slot read while it holds a call's result that a MATCH handles";
    403 MatchUnchecked "match-unchecked" Error
        "a MATCH on a slot that does not hold a call's result on every path";
    404 DroppedResult "dropped-result" Error
        "a call's result overwritten or abandoned on a path without its MATCH";
    405 MissingValue "missing-value" Error "a bound IF, MATCH or FOR with a path without a value";
    406 MissingReturn "missing-return" Error "a path through a function without a value";
    407 WrongReturn "wrong-return" Error "RET in a result function, or RET_OK or RET_ERR in another";
    408 Unreachable "unreachable" Warning "code that no path reaches";
    409 ImplicitUndo "implicit-undo" Warning
        "a call in a branch of IF that counts as a compensation; write UNDO";
    410 UnusedValue "unused-value" Warning "a value that is computed but never used";
    411 NoElse "no-else" Warning "a FOR over RANGE with a BREAK and without an ELSE";
    412 DoubleRollback "double-rollback" Warning
        "an UNDO and a ROLLBACK before it that call the same tool; both calls may be made";
    413 RollbackRequired "rollback-required" Error
        "a call without a ROLLBACK directly after it, of a tool that requires one";
    414 ManyCalls "many-calls" Warning
        "a loop whose `max` passes may make more calls than the limit";

    501 TypeMismatch "type-mismatch" Error "a value of one type where another is required";
    502 ConditionType "condition-type" Error "a condition that is neither a bool nor nil";
    503 NeverEqual "never-equal" Warning "two values compared whose types are never equal";
    504 UnknownField "unknown-field" Warning "a field that the schema of the tool's answers does not have";
    505 ListInText "list-in-text" Warning
        "a list in a text, which is written into the text as JSON";
    507 NilInText "nil-in-text" Warning "a value in a text that is always nil";
    508 TextOrder "text-order" Warning "two numbers written as texts and compared as texts";
    509 EnumReference "enum-reference" Warning
        "a reference that is also a text that the tool's schema lists for the argument";
    510 BadValue "bad-value" Error "a constant that the tool's schema does not allow";
    511 MaybeNil "maybe-nil" Warning "a value that may be nil, where nil is not accepted";
    512 MixedDivision "mixed-division" Warning
        "`%`, which divides toward zero, beside `//` of the same operands, which rounds down";

    601 SourceTooLarge "source-too-large" Error "a source file larger than its limit";
    602 LineTooLong "line-too-long" Error "a line longer than its limit";
    603 TooDeep "too-deep" Error "nesting deeper than its limit";
    604 TooManyRegisters "too-many-registers" Error
        "a function that needs more than 256 registers for slots and temporaries";
    605 FunctionTooLong "function-too-long" Error "a function of more than 65535 instructions";
    606 TooManyEntries "too-many-entries" Error
        "more functions, tools, fields, shapes or constants than the format holds";

    701 Malformed "malformed" Error "bytes that are not ilo bytecode of this version";
    702 Unverified "unverified" Error "bytecode that breaks a rule of the verifier";
    703 BadSnapshot "bad-snapshot" Error "not a valid snapshot of this program";

    801 FaultToolFailed "tool-failed" Error
        "an unhandled failure ended a function that does not return a result";
    802 FaultOverflow "overflow" Error "an integer beyond 64 bits";
    803 FaultDivisionByZero "division-by-zero" Error "DIV or MOD by zero";
    804 FaultNotFinite "not-finite" Error "arithmetic on doubles without a finite result";
    805 FaultTypeMismatch "type-mismatch" Error "an operand of a type that the instruction does not accept";
    806 FaultConditionType "condition-type" Error "a condition that is neither a bool nor nil";
    807 FaultMissingField "missing-field" Error "a field that the record does not have";
    808 FaultIndexOutOfRange "index-out-of-range" Error "an index that the list does not have";
    809 FaultNoCase "no-case" Error "a value that matches no case, without a default";
    810 FaultFuel "fuel" Error "the run has no fuel left";
    811 FaultMemory "memory" Error "the run has no memory left";
    812 FaultDepth "depth" Error "a value nested deeper than its limit";
    813 FaultTooManyCalls "too-many-calls" Error "the run has no tool calls left";
    814 FaultTooLarge "too-large" Error "a text, list or result larger than its limit";
    815 FaultTimedOut "timed-out" Error "the run exceeded its time limit";
    816 FaultTooManyRollbacks "too-many-rollbacks" Error "the run has no rollback entries left";
    817 FaultCancelled "cancelled" Error "the run was cancelled, and its rollback entries have run";
    818 FaultInDoubt "in-doubt" Error
        "a call whose answer never came may have been made, and its tool ends the run then";
    819 FaultOutputMismatch "output-mismatch" Error "a value that is not what the host of the run expects";

    901 BadUsage "bad-usage" Error "an option or file that cannot be used in this way";
    902 BadToolsFile "bad-tools-file" Error "a tools file that does not follow its format";
    903 BadInput "bad-input" Error "an input that is not JSON";
    904 MissingInput "missing-input" Error "a parameter without a value";
    905 UnknownInput "unknown-input" Error "an input that the function does not take";
    906 InputType "input-type" Error "an input whose type is not the parameter's";
    907 NotExpressible "not-expressible" Error "a part of a program that the target notation cannot express";
    908 ChangedTool "changed-tool" Error "a tool whose definition is not the one that was locked";
    909 BadCase "bad-case" Error "a case file that does not follow its format";
    910 TraceDiffers "trace-differs" Error "a program that makes other calls than the trace with which it is replayed";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why bytes are not a program, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The byte at which reading stopped.
    pub offset: usize,
    /// Why.
    pub kind: DecodeErrorKind,
}

/// Why bytes are not a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeErrorKind {
    /// The bytes do not begin with the magic bytes.
    Magic,
    /// A format version that this build cannot read.
    Version {
        /// The version found.
        found: u8,
    },
    /// The bytes end too early.
    Truncated,
    /// A variable-length integer that is too long or out of range.
    Varint,
    /// A section that is unknown, repeated or out of order.
    Section {
        /// Its number.
        found: u8,
    },
    /// The content of a section is shorter or longer than its length.
    SectionLength,
    /// A count larger than the remaining bytes allow, or above a limit of the format.
    Count {
        /// What is counted.
        what: &'static str,
        /// The count found.
        found: u64,
        /// The maximum here.
        limit: u64,
    },
    /// An unknown instruction number.
    Instruction {
        /// The number found.
        found: u8,
    },
    /// An unknown tag byte.
    Tag {
        /// The meaning of the byte.
        what: &'static str,
        /// The byte found.
        found: u8,
    },
    /// Text that is not UTF-8.
    Utf8,
    /// A double that is not finite.
    NotFinite,
    /// There are bytes after the last section.
    Trailing,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: ", self.offset)?;
        match self.kind {
            DecodeErrorKind::Magic => f.write_str("expected the magic bytes of ilo bytecode"),
            DecodeErrorKind::Version { found } => {
                write!(f, "expected format version {}, found {found}", crate::format::VERSION)
            }
            DecodeErrorKind::Truncated => f.write_str("the bytes end too early"),
            DecodeErrorKind::Varint => f.write_str("a number that is too long or out of range"),
            DecodeErrorKind::Section { found } => {
                write!(f, "section {found} is unknown, repeated or out of order")
            }
            DecodeErrorKind::SectionLength => f.write_str("a section whose content does not fill its length"),
            DecodeErrorKind::Count { what, found, limit } => {
                write!(f, "expected at most {limit} {what}, found {found}")
            }
            DecodeErrorKind::Instruction { found } => write!(f, "no instruction has the number {found:#04x}"),
            DecodeErrorKind::Tag { what, found } => write!(f, "{found} is no {what}"),
            DecodeErrorKind::Utf8 => f.write_str("text that is not UTF-8"),
            DecodeErrorKind::NotFinite => f.write_str("a number that is not finite"),
            DecodeErrorKind::Trailing => f.write_str("bytes after the last section"),
        }
    }
}

impl core::error::Error for DecodeError {}
