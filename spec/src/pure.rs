//! The table of pure functions, which the instruction `apply` calls.
//!
//! A row gives the frozen number, the name, the operands with the kinds that they take, the type of the
//! result, whether the function can fail, its fuel and one line of meaning. The verifier, the machine, the
//! assembler and the specification's table are all derived from it. Numbers are only added; a test freezes
//! them.
//!
//! A function depends on its operands alone: there is no clock, no randomness and no locale. An operand of
//! another kind is fault `type-mismatch`. A function that fails does so as a tool call does, because it looks
//! at data from outside.

use crate::types::{Base, Type};
use core::fmt;

/// The major version of Unicode whose `White_Space` and simple case mappings the functions use.
pub const UNICODE: u8 = 17;

/// A set of kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kinds(u8);

impl Kinds {
    /// No kind.
    pub const NONE: Kinds = Kinds(0);
    /// Nil.
    pub const NIL: Kinds = Kinds(1);
    /// A bool.
    pub const BOOL: Kinds = Kinds(2);
    /// A number.
    pub const NUMBER: Kinds = Kinds(4);
    /// A text.
    pub const TEXT: Kinds = Kinds(8);
    /// A list.
    pub const LIST: Kinds = Kinds(16);
    /// A record.
    pub const RECORD: Kinds = Kinds(32);
    /// Any value.
    pub const ANY: Kinds = Kinds(63);

    /// Each kind alone, with its name.
    pub const EACH: [(Kinds, &'static str); 6] = [
        (Kinds::NIL, "nil"),
        (Kinds::BOOL, "bool"),
        (Kinds::NUMBER, "number"),
        (Kinds::TEXT, "text"),
        (Kinds::LIST, "list"),
        (Kinds::RECORD, "record"),
    ];

    /// The kinds of both sets.
    #[must_use]
    pub const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// The kinds that are in both sets.
    #[must_use]
    pub const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    /// The kinds that are in this set alone.
    #[must_use]
    pub const fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the sets have a kind in common.
    pub const fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Kinds::ANY {
            return f.write_str("any");
        }
        let mut between = "";
        for (kind, name) in Kinds::EACH {
            if self.meets(kind) {
                write!(f, "{between}{name}")?;
                between = " or ";
            }
        }
        Ok(())
    }
}

/// Whether a notation may leave out an operand, and the value that it has then. The bytecode always has all
/// of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omitted {
    /// It is required.
    Never,
    /// It is nil.
    Nil,
    /// It is 0.
    Zero,
}

/// An operand of a pure function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Its name in the specification.
    pub name: &'static str,
    /// The kinds of values that it takes.
    pub kinds: Kinds,
    /// Whether it may be left out.
    pub omitted: Omitted,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The function.
    pub function: Pure,
    /// Its name, in upper case.
    pub name: &'static str,
    /// Its operands, in the order of the window.
    pub operands: &'static [Operand],
    /// The type of its result.
    pub result: Type,
    /// Whether it can fail.
    pub fails: bool,
}

const LIST: Type = Type { lists: 1, base: Base::Any };
const TEXTS: Type = Type { lists: 1, base: Base::Text };
const NUMBERS: Type = Type { lists: 1, base: Base::Number };

macro_rules! omitted {
    () => {
        Omitted::Never
    };
    ($omitted:ident) => {
        Omitted::$omitted
    };
}

macro_rules! fails {
    (fails) => {
        true
    };
    (total) => {
        false
    };
}

macro_rules! functions {
    ($($number:literal $name:ident $word:literal
       [$($operand:ident : $first:ident $(| $more:ident)* $(= $omitted:ident)?),*]
       $result:expr, $fails:ident, $fuel:literal $meaning:literal;)*) => {
        /// A pure function. The numbers are frozen.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Pure { $(#[doc = $meaning] $name = $number,)* }

        /// The rows in the order of their numbers.
        pub const TABLE: &[Row] = &ROWS;

        // A constant in its place is copied into each crate that reads it.
        static ROWS: [Row; [$($number),*].len()] = [$(Row {
            function: Pure::$name,
            name: $word,
            operands: &[$(Operand {
                name: stringify!($operand),
                kinds: Kinds::$first$(.or(Kinds::$more))*,
                omitted: omitted!($($omitted)?),
            }),*],
            result: $result,
            fails: fails!($fails),
        }),*];

        impl Pure {
            /// The function with this number.
            pub const fn from_number(number: u8) -> Option<Pure> {
                match number {
                    $($number => Some(Pure::$name),)*
                    _ => None,
                }
            }

            /// The fuel that it costs beyond 1. This and the meaning are not in the row, so that a program
            /// that does not show them does not contain them.
            pub const fn fuel(self) -> &'static str {
                match self { $(Pure::$name => $fuel,)* }
            }

            /// Its meaning in one line.
            pub const fn meaning(self) -> &'static str {
                match self { $(Pure::$name => $meaning,)* }
            }
        }
    };
}

functions! {
    0 Join "JOIN" [list: LIST, separator: TEXT] Type::TEXT, total, "bytes rendered / 4, bytes copied / 64, values / 4"
        "the items rendered as in text, with the separator between them";
    1 Get "GET" [container: LIST | RECORD | NIL, key: NUMBER | TEXT, default: ANY = Nil] Type::ANY, total,
        "fields / 4, name bytes / 64"
        "the item or field with this key; the default if the item or field is absent or nil, or if the container is nil";
    2 Put "PUT" [record: RECORD, name: TEXT, value: ANY] Type::ANY, total, "fields / 4, name bytes / 64"
        "the record with one field set, as MERGE sets it";
    3 Keys "KEYS" [record: RECORD] TEXTS, total, "fields / 4, name bytes / 64" "the names of the fields, in order";
    4 Split "SPLIT" [text: TEXT, separator: TEXT] TEXTS, total, "bytes read and written / 64, parts / 4"
        "the parts between the separators; an empty separator gives the code points";
    5 Replace "REPLACE" [text: TEXT, old: TEXT, new: TEXT] Type::TEXT, total, "bytes read and written / 64"
        "the text with every `old` replaced, from left to right; unchanged if `old` is empty";
    6 Trim "TRIM" [text: TEXT] Type::TEXT, total, "bytes / 64" "the text without `White_Space` at both ends";
    7 Lower "LOWER" [text: TEXT] Type::TEXT, total, "bytes read and written / 64"
        "the text in lower case, by simple case mapping";
    8 Upper "UPPER" [text: TEXT] Type::TEXT, total, "bytes read and written / 64"
        "the text in upper case, by simple case mapping";
    9 Slice "SLICE" [value: TEXT | LIST, from: NUMBER, to: NUMBER | NIL = Nil] Type::ANY, total,
        "values / 4, bytes / 64"
        "the code points or items from position `from` up to but not including `to`. A negative position counts from the end; one beyond an end means that end; nil as `to` is the end";
    10 Sort "SORT" [list: LIST, field: TEXT | NIL = Nil] LIST, total, "(n + text bytes / 64) * ceil(log2 n)"
        "the items in ascending order, stable: by themselves, or by a field; all numbers or all texts";
    11 Reverse "REVERSE" [list: LIST] LIST, total, "values / 4" "the items in reverse order";
    12 Range "RANGE" [count: NUMBER] NUMBERS, total, "values / 4" "the integers from 0 up to but not including `count`";
    13 Sum "SUM" [list: LIST] Type::NUMBER, total, "values / 4"
        "the sum of the items, added from the left; 0 if there are none";
    14 Min "MIN" [list: LIST] Type::ANY, fails, "values / 4, bytes / 64"
        "the least of the numbers or texts, the first of equals; fails if there are none";
    15 Max "MAX" [list: LIST] Type::ANY, fails, "values / 4, bytes / 64"
        "the greatest of the numbers or texts, the first of equals; fails if there are none";
    16 Round "ROUND" [number: NUMBER, places: NUMBER = Zero] Type::NUMBER, total, "1"
        "the number rounded to decimal places, halves away from zero; an integer if `places` is at most 0";
    17 Fixed "FIXED" [number: NUMBER, places: NUMBER] Type::TEXT, total, "1"
        "the number as text with 0 to 20 decimal places, rounded as by ROUND";
    18 Number "NUMBER" [value: TEXT | NUMBER] Type::NUMBER, fails, "bytes / 64"
        "the text read as a JSON number, ignoring white space around it and zeros before it; a number is returned unchanged";
    19 Parse "PARSE" [text: TEXT] Type::ANY, fails, "bytes / 4, values / 4"
        "the value of a JSON document; a value that is no text is returned unchanged";
    20 Json "JSON" [value: ANY] Type::TEXT, total, "bytes / 4" "the value as compact JSON";
    21 Time "TIME" [text: TEXT] Type::NUMBER, fails, "1"
        "the seconds since 1970 of an RFC 3339 time or date; UTC if it has no zone";
    22 Iso "ISO" [seconds: NUMBER] Type::TEXT, total, "1"
        "the RFC 3339 time in UTC of seconds since 1970, in the years 1 to 9999";
    23 Floor "FLOOR" [number: NUMBER] Type::NUMBER, total, "1" "the greatest integer that is at most the number";
    24 Ceil "CEIL" [number: NUMBER] Type::NUMBER, total, "1" "the least integer that is at least the number";
    25 Abs "ABS" [number: NUMBER] Type::NUMBER, total, "1" "the number without its sign";
    26 FloorDiv "FLOORDIV" [number: NUMBER, by: NUMBER] Type::NUMBER, total, "1"
        "the quotient rounded down to an integer; exact for two integers";
    27 SortDown "SORT_DOWN" [list: LIST, field: TEXT | NIL = Nil] LIST, total,
        "(n + text bytes / 64) * ceil(log2 n)"
        "the items in descending order, stable: by themselves, or by a field; all numbers or all texts";
    28 Unique "UNIQUE" [list: LIST, field: TEXT | NIL = Nil] LIST, total,
        "items / 4, fields / 4, name bytes / 64, values, bytes / 64"
        "the first of the items that are equal, or whose fields are, in order";
    29 Group "GROUP" [list: LIST, field: TEXT | NIL = Nil] LIST, total,
        "items / 4, fields / 4, name bytes / 64, values, bytes / 64"
        "a record `{key, items}` for each different item or field, in the order of the first ones";
    30 Column "COLUMN" [list: LIST, field: TEXT] LIST, total,
        "items / 4, fields / 4, name bytes / 64"
        "the field of each record; nil where it is absent";
    31 Find "FIND" [list: LIST, field: TEXT, value: ANY] Type::ANY, total,
        "items / 4, fields / 4, name bytes / 64, values, bytes / 64"
        "the first record whose field equals the value, else nil";
    32 Values "VALUES" [record: RECORD] LIST, total, "fields / 4" "the values of the fields, in order";
    33 Entries "ENTRIES" [record: RECORD] LIST, total, "fields / 4, name bytes / 64"
        "a record `{key, value}` for each field, in order";
    34 Record "RECORD" [list: LIST] Type::ANY, total, "fields / 4, name bytes / 64, values / 4"
        "the record of a list of records `{key, value}`; of equal keys, the last value at the first place";
    35 Without "WITHOUT" [record: RECORD, name: TEXT] Type::ANY, total, "fields / 4, name bytes / 64"
        "the record without the field";
    36 Joined "JOINED" [record: RECORD, other: RECORD] Type::ANY, total, "fields / 4"
        "the first record with the fields of the second set, as MERGE sets them";
    37 Set "SET" [list: LIST, index: NUMBER, value: ANY] LIST, total, "values / 4"
        "the list with one item replaced; a negative index counts from the end";
    38 Starts "STARTS" [text: TEXT, part: TEXT] Type::BOOL, total, "bytes / 64" "whether the text begins with the part";
    39 Ends "ENDS" [text: TEXT, part: TEXT] Type::BOOL, total, "bytes / 64" "whether the text ends with the part";
    40 Index "INDEX" [value: TEXT | LIST, wanted: ANY] Type::ANY, total, "values, bytes / 64"
        "the position of the first such part or equal item, else nil";
    41 Date "DATE" [time: TEXT | NUMBER] Type::TEXT, fails, "1"
        "the date in UTC, as in `2026-01-31`, of an RFC 3339 time or of seconds since 1970";
    42 Days "DAYS" [from: TEXT | NUMBER, to: TEXT | NUMBER] Type::NUMBER, fails, "2"
        "the whole days from one time to another, rounded down";
    43 Grouped "GROUPED" [number: NUMBER, places: NUMBER] Type::TEXT, total, "1"
        "the number as FIXED writes it, with commas between thousands";
    44 Read "READ" [value: ANY] Type::ANY, total, "bytes / 4, values / 4"
        "the value of a text that is a JSON object or array; any other value is returned unchanged";
}

impl Pure {
    /// The row of the table.
    #[inline]
    pub const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

const _: () = {
    let mut at = 0;
    while at < TABLE.len() {
        assert!(TABLE[at].function as usize == at, "a row's number is its place");
        at += 1;
    }
};
