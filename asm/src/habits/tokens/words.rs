//! Words and operators of other languages in ID text, with the instruction or constant that each means.

use ilo_spec::node::Word;

/// A word of another language for an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alias {
    pub(crate) word: &'static str,
    pub(crate) means: Word,
    /// An example: a body in which only this word is wrong.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test that runs every example reads it"))]
    pub(crate) example: &'static str,
}

const fn alias(word: &'static str, means: Word, example: &'static str) -> Alias {
    Alias { word, means, example }
}

/// Words that mean one instruction, whatever their case and separators. Mnemonics in another case are
/// understood too.
pub(crate) const INSTRUCTIONS: [Alias; 42] = [
    alias("RETURN", Word::Ret, "RETURN REF 1"),
    alias("RETURNOK", Word::RetOk, "RETURN_OK REF 1"),
    alias("RETURNERR", Word::RetErr, "return_err REF 0"),
    alias("RETERROR", Word::RetErr, "RET_ERROR REF 0"),
    alias("CONTINUE", Word::Skip, "FOR 2 REF 0 1\n  CONTINUE"),
    alias("NEXT", Word::Skip, "FOR 2 REF 0 1\n  NEXT"),
    alias("THROW", Word::Fail, "THROW REF 0"),
    alias("RAISE", Word::Fail, "raise REF 0"),
    alias("ERROR", Word::Err, "LET 2 CALL 0 0\nMATCH 2 1\n  ERROR 2 1\n    RET REF 1\nRET REF 1"),
    alias("FOREACH", Word::For, "LET 2 FOREACH 2 LIST 0 1\n  REF 2\nRET REF 1"),
    alias("GE", Word::Gte, "RET GE REF 1 REF 1"),
    alias("LE", Word::Lte, "RET LE REF 1 REF 1"),
    alias("NE", Word::Neq, "RET NE REF 1 REF 1"),
    alias("EQUALS", Word::Eq, "RET EQUALS REF 1 REF 1"),
    alias("PLUS", Word::Add, "RET PLUS REF 1 REF 1"),
    alias("MINUS", Word::Sub, "RET MINUS REF 1 REF 1"),
    alias("MULTIPLY", Word::Mul, "RET MULTIPLY REF 1 REF 1"),
    alias("DIVIDE", Word::Div, "RET Divide REF 1 REF 1"),
    alias("LENGTH", Word::Len, "RET LENGTH REF 0"),
    alias("OBJECT", Word::Obj, "LET 2 OBJECT 0\nRET REF 1"),
    alias("LITERAL", Word::Lit, "RET LITERAL 1 5"),
    alias("PUSH", Word::Append, "LET 2 PUSH LIST 0 REF 1\nRET REF 1"),
    alias("STARTSWITH", Word::Starts, "RET startsWith LIT 0 \"ab\" LIT 0 \"a\""),
    alias("ENDSWITH", Word::Ends, "RET ENDS_WITH LIT 0 \"ab\" LIT 0 \"b\""),
    alias("CONTAINS", Word::Has, "RET CONTAINS LIST 1 REF 1 REF 1"),
    alias("INCLUDES", Word::Has, "RET includes LIST 1 REF 1 REF 1"),
    alias("TOLOWERCASE", Word::Lower, "RET toLowerCase LIT 0 \"A\""),
    alias("LOWERCASE", Word::Lower, "RET LOWERCASE LIT 0 \"A\""),
    alias("TOUPPERCASE", Word::Upper, "RET toUpperCase LIT 0 \"a\""),
    alias("UPPERCASE", Word::Upper, "RET UPPERCASE LIT 0 \"a\""),
    alias("STRIP", Word::Trim, "RET STRIP LIT 0 \"a\""),
    alias("SUBSTRING", Word::Slice, "RET substring LIT 0 \"abc\" LIT 1 0 LIT 1 2"),
    alias("SUBSTR", Word::Slice, "RET SUBSTR LIT 0 \"abc\" LIT 1 0 LIT 1 2"),
    alias("TOFIXED", Word::Fixed, "RET toFixed LIT 1 2.5 LIT 1 2"),
    alias("PARSEFLOAT", Word::Number, "RET parseFloat LIT 0 \"2\""),
    alias("PARSEINT", Word::Number, "RET parseInt LIT 0 \"2\""),
    alias("JSONPARSE", Word::Parse, "RET JSON.parse LIT 0 \"[]\""),
    alias("JSONSTRINGIFY", Word::Json, "RET JSON.stringify LIT 0 \"a\""),
    alias("OBJECTKEYS", Word::Keys, "RET Object.keys OBJ 0"),
    alias("DATEPARSE", Word::Time, "RET Date.parse LIT 0 \"2024-01-01\""),
    alias("MATHMAX", Word::Max, "RET Math.max LIST 1 REF 1"),
    alias("MATHMIN", Word::Min, "RET Math.min LIST 1 REF 1"),
];

/// Words for constants, and the constant that each means. Other cases of the constants are understood too.
pub(crate) const CONSTANTS: [(&str, &str); 3] = [("null", "nil"), ("none", "nil"), ("undefined", "nil")];

/// Operators of other languages, and the instruction that each means.
const OPERATORS: [(&str, Word); 17] = [
    ("+", Word::Add),
    ("-", Word::Sub),
    ("*", Word::Mul),
    ("/", Word::Div),
    ("%", Word::Mod),
    ("==", Word::Eq),
    ("===", Word::Eq),
    ("=", Word::Eq),
    ("!=", Word::Neq),
    ("<>", Word::Neq),
    (">", Word::Gt),
    (">=", Word::Gte),
    ("<", Word::Lt),
    ("<=", Word::Lte),
    ("&&", Word::And),
    ("||", Word::Or),
    ("!", Word::Not),
];

/// The instruction that an operator means.
pub(crate) fn operator(text: &str) -> Option<Word> {
    OPERATORS.iter().find(|&&(operator, _)| operator == text).map(|&(_, word)| word)
}
