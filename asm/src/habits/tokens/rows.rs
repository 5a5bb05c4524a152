//! The rows: tokens of other languages at positions where the parser expects something else.

use super::references::{self, Path, bare};
use super::words;
use crate::dialect::other_operator::{self, Written};
use crate::syntax::lexer::Kind;
use crate::syntax::unknown_token::{Lookup, Site, Spot, TokenReading};
use ilo_spec::node::Word;

/// The tokens of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pattern {
    /// One of these words, in any case.
    Words(&'static [&'static str]),
    /// One of these operators.
    Signs(&'static [&'static str]),
    /// An operator that means an instruction.
    Operator,
    /// A function of other languages that can be expressed with instructions or by a tool.
    Function,
    /// The name of a slot, with or without the delimiters of a reference.
    SlotName,
    /// A path from a slot through fields that have numbers.
    Path,
    /// A path from a slot with a field that has no number.
    UnnumberedPath,
}

/// What a pattern matches in a token.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bound<'s> {
    pub(crate) name: &'s str,
    pub(crate) slot: u32,
    /// What to write instead.
    pub(crate) new: String,
    /// How the parser continues; by default with the next statement, so that the row is only advice.
    pub(crate) reading: TokenReading,
}

impl Pattern {
    /// Whether a token matches, and what is in it.
    pub(crate) fn bind<'s>(self, site: &Site<'s>, names: &mut dyn Lookup) -> Option<Bound<'s>> {
        let is_word = matches!(site.kind, Kind::Word | Kind::Dollar);
        match self {
            Pattern::Words(words) => {
                let text = site.text.trim_matches('"');
                words.iter().any(|word| word.eq_ignore_ascii_case(text)).then(Bound::default)
            }
            Pattern::Signs(signs) => {
                let absent = Bound { reading: TokenReading::Absent, ..Bound::default() };
                signs.contains(&site.text).then_some(absent)
            }
            Pattern::Operator => {
                let word = words::operator(site.text).filter(|_| site.kind == Kind::Operator)?;
                Some(Bound { new: word.mnemonic().to_owned(), ..Bound::default() })
            }
            Pattern::Function => {
                let new = other_operator::instead_of(site.text, Written::Id).filter(|_| is_word)?;
                Some(Bound { new, ..Bound::default() })
            }
            Pattern::SlotName => {
                let name = bare(site.text);
                let slot = if is_word { names.slot(name)? } else { return None };
                Some(Bound { name, slot, reading: TokenReading::Slot(slot), ..Bound::default() })
            }
            Pattern::Path => match references::path(site.text, names)? {
                Path::Read { code, slot, fields } => {
                    Some(Bound { new: code, reading: TokenReading::Path(slot, fields), ..Bound::default() })
                }
                Path::Unnumbered => None,
            },
            Pattern::UnnumberedPath => {
                matches!(references::path(site.text, names)?, Path::Unnumbered).then(Bound::default)
            }
        }
    }
}

/// A habit. Its texts are templates ([`super::fill`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Whether it applies at a position.
    pub(crate) at: fn(Spot) -> bool,
    pub(crate) pattern: Pattern,
    /// The message; empty if that of the parser is used.
    pub(crate) message: &'static str,
    pub(crate) help: &'static str,
    /// The replacement of the token, if only one thing can be meant.
    pub(crate) fix: Option<&'static str>,
    /// A body with the habit, and the fixed body; both are the same if there is no fix.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test that runs every example reads it"))]
    pub(crate) example: (&'static str, &'static str),
}

/// A word that begins a statement in other languages, and what to write here.
const fn elsewhere(words: &'static [&'static str], help: &'static str, example: &'static str) -> Row {
    Row {
        at: |place| place == Spot::Statement,
        pattern: Pattern::Words(words),
        message: "",
        help,
        fix: None,
        example: (example, example),
    }
}

const fn advice(
    at: fn(Spot) -> bool,
    pattern: Pattern,
    message: &'static str,
    help: &'static str,
    example: &'static str,
) -> Row {
    Row { at, pattern, message, help, fix: None, example: (example, example) }
}

const PATH: &str = "`{text}` is a path of another language";
const BY_NUMBERS: &str = "a field is read with FIELD, by numbers";
const NO_NUMBER: &str = "a field is read with `FIELD <slot> <field>`; `; Fields:` gives it its number";
const PREFIX: &str = "an operator comes before its operands: `{new} REF 0 REF 1`";

/// All rows. If several match a token, the first one counts.
pub(crate) const ROWS: [Row; 24] = [
    Row {
        at: |place| matches!(place, Spot::Operand(_)),
        pattern: Pattern::SlotName,
        message: "`{text}` is a name, where an operand is expected",
        help: "`{name}` is slot {slot}: write `REF {slot}`",
        fix: Some("REF {slot}"),
        example: ("RET b", "RET REF 1"),
    },
    Row {
        at: |place| matches!(place, Spot::Slot(_)),
        pattern: Pattern::SlotName,
        message: "`{text}` is a name, and a number belongs here",
        help: "write `{slot}`",
        fix: Some("{slot}"),
        example: ("RET REF $b", "RET REF 1"),
    },
    Row {
        at: |place| matches!(place, Spot::Operand(_)),
        pattern: Pattern::Path,
        message: PATH,
        help: BY_NUMBERS,
        fix: Some("{new}"),
        example: ("RET $a.k.l", "RET FIELD FIELD 0 0 1"),
    },
    advice(
        |place| matches!(place, Spot::Operand(_)),
        Pattern::UnnumberedPath,
        PATH,
        NO_NUMBER,
        "RET a.other",
    ),
    Row {
        // The REF is replaced too.
        at: |place| place == Spot::Slot(Word::Ref),
        pattern: Pattern::Path,
        message: PATH,
        help: BY_NUMBERS,
        fix: Some("{new}"),
        example: ("RET REF a.k", "RET FIELD 0 0"),
    },
    advice(|place| place == Spot::Slot(Word::Ref), Pattern::UnnumberedPath, "", NO_NUMBER, "RET REF a.other"),
    Row {
        at: |place| matches!(place, Spot::Value(_)),
        pattern: Pattern::Signs(&["=", ":=", "<-"]),
        message: "`{of}` needs no `{text}`",
        help: "",
        fix: Some(""),
        example: ("LET 2 = REF 1\nRET REF 2", "LET 2 REF 1\nRET REF 2"),
    },
    advice(
        |place| matches!(place, Spot::Operand(_) | Spot::Count(_)),
        Pattern::Operator,
        "",
        PREFIX,
        "RET == REF 1 REF 1",
    ),
    advice(
        |place| place == Spot::End,
        Pattern::Operator,
        "",
        "an operator comes before its operands: `{new} {before} …`",
        "RET REF 1 + REF 1",
    ),
    advice(
        |place| place == Spot::Field(Word::Field),
        Pattern::Words(&["length", "size", "count"]),
        "",
        "how many items or characters there are is `LEN REF <slot>`",
        "RET FIELD 0 length",
    ),
    Row {
        at: |place| place == Spot::Value(Word::For),
        pattern: Pattern::Signs(&["IN", "in"]),
        message: "`{of}` needs no `{text}`",
        help: "",
        fix: Some(""),
        example: ("FOR 2 IN LIST 0 1\n  REF 2\nRET REF 1", "FOR 2 LIST 0 1\n  REF 2\nRET REF 1"),
    },
    advice(
        |place| matches!(place, Spot::Operand(_)),
        Pattern::Words(&["map", "filter", "reduce", "where", "select"]),
        "",
        "`LET <slot> FOR <slot> <list> <count>` collects the values of its passes; an `IF` in it filters",
        "RET MAP REF 0",
    ),
    advice(
        |place| matches!(place, Spot::Operand(_)),
        Pattern::Words(&["ternary", "iif", "cond"]),
        "",
        "one of two values is `LET <slot> IF <condition> <count>` with `ELSE <count>`",
        "RET TERNARY REF 0",
    ),
    advice(|place| matches!(place, Spot::Operand(_)), Pattern::Function, "", "{new}", "RET indexOf REF 0"),
    elsewhere(
        &["WHILE", "UNTIL", "REPEAT", "DO", "LOOP"],
        "a loop has a bound: `FOR <slot> RANGE LIT 1 <most passes> <count>`, in it `IF <condition> 1` and `BREAK`, \
         and below it `ELSE <count>` for when the passes ran out",
        "WHILE REF 1 1\n  RET REF 1",
    ),
    elsewhere(
        &["PRINT", "LOG"],
        "leave it out: what a function returns is its outcome, and tools do the rest",
        "PRINT REF 1",
    ),
    elsewhere(&["SLEEP", "WAIT"], "what waits is a tool, with CALL", "SLEEP LIT 1 5"),
    elsewhere(
        &["SET", "ASSIGN"],
        "a slot is bound, and bound again, by `LET <slot> <value>`",
        "ASSIGN 1 REF 1",
    ),
    elsewhere(&["VAR"], "a slot is bound by `LET <slot> <value>`, and named in `; Vars:`", "VAR 2 REF 1"),
    elsewhere(
        &["CATCH"],
        "a failure in the block of `TRY <count>` goes to `ERR <slot> <count>` behind it",
        "CATCH 2 0",
    ),
    elsewhere(
        &["SWITCH"],
        "one of several values is `MATCH_MAP <value> <count> <key> <value> …`",
        "SWITCH REF 1",
    ),
    elsewhere(&["ELIF"], "put an `IF` into the `ELSE`", "IF REF 1 1\n  RET REF 1\nELIF REF 1 1\n  RET REF 1"),
    elsewhere(
        &["END"],
        "leave it out: a block ends with its indent, or by its count",
        "IF REF 1 1\n  RET REF 1\nEND",
    ),
    elsewhere(
        &["ELSEIF"],
        "put an `IF` into the `ELSE`",
        "IF REF 1 1\n  RET REF 1\nELSEIF REF 1 1\n  RET REF 1",
    ),
];
