//! The table of text instructions in the integer-ID notation.
//!
//! A row gives the mnemonic, its operands, whether it is from the original language or was added, where it
//! may occur, and one line of meaning. The lexer's keywords, the parser's dispatch, the formatter and the
//! specification's table are all derived from it. The meaning of a pure function is in [`crate::pure`].

use crate::pure::{self, Pure};

/// What follows a mnemonic, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A slot number.
    Slot,
    /// An expression.
    Expr,
    /// An expression, or an IF, MATCH or FOR whose value is bound.
    Bound,
    /// A literal's kind and value.
    Literal,
    /// A slot number, REF, FIELD or AT: the source of a field.
    Path,
    /// A field number.
    Field,
    /// A field number, or an expression that gives a name.
    FieldOrName,
    /// A tool number.
    Tool,
    /// A count, then that many pairs of a field number and an expression.
    Pairs,
    /// Pairs of a field number and an expression, as long as integers follow.
    OpenPairs,
    /// A count, then that many expressions.
    Exprs,
    /// A count, then that many pairs of a key and an expression, or ELSE and an expression.
    Cases,
    /// A count of statements, then that many statements.
    Block,
    /// A count of arms, then that many arms.
    Arms,
    /// ELSE with a count and statements, or nothing.
    Otherwise,
    /// ERR with a slot, a count and statements.
    Handler,
    /// A CALL.
    Call,
}

/// Where a mnemonic may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// As a statement.
    Statement,
    /// As an operand, or as a statement that gives the block its value.
    Expression,
    /// As a statement, and bound by LET.
    Control,
    /// Inside another instruction.
    Part,
}

/// The origin of a mnemonic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The original language.
    Seed,
    /// Added later in the same style.
    Added,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The instruction.
    pub word: Word,
    /// Its mnemonic.
    pub mnemonic: &'static str,
    /// What follows it.
    pub operands: &'static [Shape],
    /// Where it may occur.
    pub place: Place,
    /// Its origin.
    pub origin: Origin,
    /// Its meaning in one line.
    pub meaning: &'static str,
    /// The pure function that it applies to its operands.
    pub pure: Option<Pure>,
}

macro_rules! place {
    () => {
        Place::Expression
    };
    ($place:ident) => {
        Place::$place
    };
}

macro_rules! origin {
    () => {
        Origin::Added
    };
    ($origin:ident) => {
        Origin::$origin
    };
}

macro_rules! meaning {
    ($name:ident) => {
        Pure::$name.meaning()
    };
    ($name:ident $meaning:literal) => {
        $meaning
    };
}

macro_rules! pure {
    ($name:ident) => {
        Some(Pure::$name)
    };
    ($name:ident $meaning:literal) => {
        None
    };
}

/// The rows in the order of their numbers. One that gives no place and no meaning is a pure function, and has
/// those of [`crate::pure`].
macro_rules! words {
    ($($number:literal $name:ident $mnemonic:literal $($place:ident $($origin:ident)?)? [$($shape:ident)*]
       $($meaning:literal)?;)*) => {
        /// A text instruction. The numbers are frozen.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Word {
            $(#[doc = concat!("The instruction ", $mnemonic, ".")] $name = $number,)*
        }

        /// The rows in the order of their numbers.
        pub const TABLE: &[Row] = &ROWS;

        // A constant in its place is copied into each crate that reads it.
        static ROWS: [Row; [$($number),*].len()] = [$(Row {
            word: Word::$name,
            mnemonic: $mnemonic,
            operands: &[$(Shape::$shape),*],
            place: place!($($place)?),
            origin: origin!($($($origin)?)?),
            meaning: meaning!($name $($meaning)?),
            pure: pure!($name $($meaning)?),
        },)*];

        impl Word {
            /// The instruction with this mnemonic. The lexer calls it for every word of a source.
            #[inline]
            pub fn from_mnemonic(text: &str) -> Option<Word> {
                let key = key(text)?;
                let (found, word) = BY_HASH.0[hash(key, BY_HASH.1)];
                if found == key { word } else { None }
            }

            /// The mnemonic.
            pub const fn mnemonic(self) -> &'static str {
                match self {
                    $(Word::$name => $mnemonic,)*
                }
            }

            /// The row of the table.
            pub const fn row(self) -> &'static Row {
                &TABLE[self as usize]
            }

            /// The instruction that applies a pure function.
            pub const fn of_pure(function: Pure) -> Word {
                OF_PURE[function as usize]
            }
        }
    };
}

words! {
    0 Let "LET" Statement Seed [Slot Bound] "binds a slot to a value";
    1 Call "CALL" Expression Seed [Tool Pairs]
        "calls a tool, or a function of the file, with named arguments";
    2 Ret "RET" Statement Seed [Expr] "returns a plain value";
    3 RetOk "RET_OK" Statement Seed [Expr] "returns success from a result function";
    4 RetErr "RET_ERR" Statement Seed [Expr] "returns failure from a result function";
    5 If "IF" Control Seed [Expr Block Otherwise] "runs its block when the condition is true";
    6 Match "MATCH" Control Seed [Slot Arms] "handles a call's result";
    7 Err "ERR" Part Seed [Slot Block] "the arm of MATCH for failure, bound to a slot";
    8 Ok "OK" Part Seed [Slot Block] "the arm of MATCH for success, bound to a slot";
    9 For "FOR" Control Seed [Slot Expr Block Otherwise]
        "runs its block for each item and collects what it yields";
    10 MatchMap "MATCH_MAP" Expression Seed [Expr Cases]
        "the value of the case that equals the first operand";
    11 Obj "OBJ" Expression Seed [Pairs] "a record of these fields";
    12 Merge "MERGE" Expression Seed [Expr OpenPairs] "a record with these fields set or added";
    13 Add "ADD" Expression Seed [Expr Expr] "the sum; of two lists, the items of both";
    14 Sub "SUB" Expression Seed [Expr Expr] "the difference";
    15 Mul "MUL" Expression Seed [Expr Expr] "the product";
    16 Gte "GTE" Expression Seed [Expr Expr] "whether the first is at least the second";
    17 Not "NOT" Expression Seed [Expr] "true for false and nil, false for true";
    18 Concat "CONCAT" Expression Seed [Expr Expr]
        "both values rendered and joined to one text; of two lists, the items of both";
    19 Ref "REF" Expression Seed [Slot] "the value of a slot";
    20 Lit "LIT" Expression Seed [Literal] "a constant: 0 text, 1 number, 2 nil, 3 bool";
    21 Field "FIELD" Expression Seed [Path Field] "a field of a record";
    22 Div "DIV" Expression Added [Expr Expr] "the quotient; an integer if two integers divide without a remainder";
    23 Mod "MOD" Expression Added [Expr Expr] "the remainder, with the sign of the first";
    24 Eq "EQ" Expression Added [Expr Expr] "whether two values are equal";
    25 Neq "NEQ" Expression Added [Expr Expr] "whether two values differ";
    26 Gt "GT" Expression Added [Expr Expr] "whether the first is greater";
    27 Lt "LT" Expression Added [Expr Expr] "whether the first is less";
    28 Lte "LTE" Expression Added [Expr Expr] "whether the first is at most the second";
    29 And "AND" Expression Added [Expr Expr]
        "whether both are true; the second is evaluated only if the first is true";
    30 Or "OR" Expression Added [Expr Expr]
        "whether one is true; the second is evaluated only if the first is false";
    31 List "LIST" Expression Added [Exprs] "a list of these items";
    32 Append "APPEND" Expression Added [Expr Expr] "the list with one more item";
    33 At "AT" Expression Added [Expr Expr]
        "the item of a list at an index, or the field of a record that a text names";
    34 Len "LEN" Expression Added [Expr] "code points of a text, items of a list or fields of a record";
    35 Has "HAS" Expression Added [Expr FieldOrName]
        "whether a record has the field, a list has the item, or a text contains the part";
    36 Else "ELSE" Part Added [Block] "the else branch of the innermost open IF; the block that runs if no BREAK ended a FOR; or the default of MATCH_MAP";
    37 Undo "UNDO" Statement Added [Call]
        "a compensation: a call that undoes an earlier call; if it fails, the failure is recorded and execution continues";
    38 Fail "FAIL" Statement Added [Expr] "ends any function with a failure";
    39 Join "JOIN" [Expr Expr];
    40 Get "GET" [Expr FieldOrName Expr];
    41 Put "PUT" [Expr FieldOrName Expr];
    42 Keys "KEYS" [Expr];
    43 Split "SPLIT" [Expr Expr];
    44 Replace "REPLACE" [Expr Expr Expr];
    45 Trim "TRIM" [Expr];
    46 Lower "LOWER" [Expr];
    47 Upper "UPPER" [Expr];
    48 Slice "SLICE" [Expr Expr Expr];
    49 Sort "SORT" [Expr FieldOrName];
    50 Reverse "REVERSE" [Expr];
    51 Range "RANGE" [Expr];
    52 Sum "SUM" [Expr];
    53 Round "ROUND" [Expr Expr];
    54 Fixed "FIXED" [Expr Expr];
    55 Json "JSON" [Expr];
    56 Iso "ISO" [Expr];
    57 Min "MIN" [Expr];
    58 Max "MAX" [Expr];
    59 Number "NUMBER" [Expr];
    60 Parse "PARSE" [Expr];
    61 Time "TIME" [Expr];
    62 Break "BREAK" Statement [] "ends the innermost FOR; its pass has no value";
    63 Rollback "ROLLBACK" Statement [Call]
        "registers a call that undoes earlier work; the call is made if the function or the run ends without success";
    64 Floor "FLOOR" [Expr];
    65 Ceil "CEIL" [Expr];
    66 Abs "ABS" [Expr];
    67 FloorDiv "FLOORDIV" [Expr Expr];
    68 SortDown "SORT_DOWN" [Expr FieldOrName];
    69 Unique "UNIQUE" [Expr FieldOrName];
    70 Group "GROUP" [Expr FieldOrName];
    71 Column "COLUMN" [Expr FieldOrName];
    72 Find "FIND" [Expr FieldOrName Expr];
    73 Values "VALUES" [Expr];
    74 Entries "ENTRIES" [Expr];
    75 Record "RECORD" [Expr];
    76 Without "WITHOUT" [Expr FieldOrName];
    77 Joined "JOINED" [Expr Expr];
    78 Set "SET" [Expr Expr Expr];
    79 Starts "STARTS" [Expr Expr];
    80 Ends "ENDS" [Expr Expr];
    81 Index "INDEX" [Expr Expr];
    82 Date "DATE" [Expr];
    83 Days "DAYS" [Expr Expr];
    84 Grouped "GROUPED" [Expr Expr];
    85 Read "READ" [Expr];
    86 Skip "SKIP" Statement [] "ends the pass of the innermost FOR, without a value";
    87 Yield "YIELD" Statement [Expr] "adds a value to the list that the innermost FOR collects";
    88 Try "TRY" Control [Block Handler] "runs its block; a failure in it that nothing handles goes to its ERR";
}

/// The fields of a list or text that are its length (3.5.16).
pub const LENGTHS: [&str; 4] = ["length", "size", "count", "len"];

/// The instruction of each pure function, by the numbers of the functions.
static OF_PURE: [Word; pure::TABLE.len()] = {
    let mut words = [Word::Let; pure::TABLE.len()];
    let mut at = 0;
    while at < TABLE.len() {
        if let Some(function) = TABLE[at].pure {
            words[function as usize] = TABLE[at].word;
        }
        at += 1;
    }
    words
};

/// The letters of a word packed after a leading one bit; `None` if it is too long or not ASCII, and so not a
/// mnemonic.
#[inline]
const fn key(text: &str) -> Option<u64> {
    const BITS: u32 = 7;
    const LONGEST: usize = (u64::BITS / BITS) as usize;
    let bytes = text.as_bytes();
    if bytes.len() > LONGEST {
        return None;
    }
    let (mut key, mut seen, mut at) = (1_u64, 0_u8, 0);
    while at < bytes.len() {
        seen |= bytes[at];
        key = key << BITS | bytes[at] as u64;
        at += 1;
    }
    if seen.is_ascii() { Some(key) } else { None }
}

/// The hash of a key: the highest ten bits of the key times a factor. There are many more places in the
/// table than mnemonics, so a factor without collisions is found quickly.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the shift leaves as many bits as the table has")]
const fn hash(key: u64, factor: u64) -> usize {
    (key.wrapping_mul(factor) >> (u64::BITS - PLACES.ilog2())) as usize
}

const PLACES: usize = 1 << 10;

/// The mnemonics at the places of their hashes, and the factor that avoids collisions.
static BY_HASH: ([(u64, Option<Word>); PLACES], u64) = {
    let mut factor = 0x9e37_79b9_7f4a_7c15_u64;
    'factors: loop {
        let mut places = [(0, None); PLACES];
        let mut at = 0;
        while at < TABLE.len() {
            let Some(key) = key(TABLE[at].mnemonic) else { panic!("a mnemonic is short and ASCII") };
            let place = hash(key, factor);
            if places[place].0 != 0 {
                factor = factor.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(2);
                continue 'factors;
            }
            places[place] = (key, Some(TABLE[at].word));
            at += 1;
        }
        break (places, factor);
    }
};

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

const _: () = {
    let mut at = 0;
    while at < TABLE.len() {
        assert!(TABLE[at].word as usize == at, "a row's number is its place");
        if let Some(function) = TABLE[at].pure {
            let row = function.row();
            assert!(same(row.name, TABLE[at].mnemonic), "a pure function has the name of its row");
            assert!(row.operands.len() == TABLE[at].operands.len(), "a pure function has all its operands");
        }
        at += 1;
    }
    let mut at = 0;
    while at < pure::TABLE.len() {
        assert!(TABLE[OF_PURE[at] as usize].pure.is_some(), "a pure function has an instruction");
        at += 1;
    }
};
