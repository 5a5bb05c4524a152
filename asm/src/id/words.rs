//! The words of ID text that are no ids: constants, and words of other languages for those and for
//! instructions.

use crate::ast::Literal;
use crate::dialect::other_operator;
use crate::foreign::{self, Place};
use ilo_spec::node::{TABLE, Word};

/// A constant that is a word: its kind for LIT, its spelling, and its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConstantWord {
    pub(crate) kind: u8,
    pub(crate) word: &'static str,
    pub(crate) value: Literal<'static>,
}

impl ConstantWord {
    /// All constants that are words.
    pub(crate) const ALL: [ConstantWord; 3] = [
        ConstantWord { kind: 2, word: "nil", value: Literal::Nil },
        ConstantWord { kind: 3, word: "true", value: Literal::Bool(true) },
        ConstantWord { kind: 3, word: "false", value: Literal::Bool(false) },
    ];

    /// The constant that a word is.
    #[inline]
    pub(crate) fn of(text: &str) -> Option<ConstantWord> {
        ConstantWord::ALL.into_iter().find(|constant| constant.word == text)
    }
}

/// A word of another language for an instruction.
#[derive(Clone, Copy, Debug)]
struct Alias {
    word: &'static str,
    means: Word,
    /// An example: a body in which only this word is wrong.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the test that runs every example reads it"))]
    example: &'static str,
}

const fn alias(word: &'static str, means: Word, example: &'static str) -> Alias {
    Alias { word, means, example }
}

/// Words that mean one instruction, whatever their case and separators. Mnemonics in another case are
/// understood too.
const INSTRUCTIONS: [Alias; 21] = [
    alias("RETURN", Word::Ret, "RETURN REF 1"),
    alias("RETURNOK", Word::RetOk, "RETURN_OK REF 1"),
    alias("RETURNERR", Word::RetErr, "return_err REF 0"),
    alias("RETERROR", Word::RetErr, "RET_ERROR REF 0"),
    alias("CONTINUE", Word::Skip, "FOR 2 REF 0 1\n  CONTINUE"),
    alias("NEXT", Word::Skip, "FOR 2 REF 0 1\n  NEXT"),
    alias("THROW", Word::Fail, "THROW REF 0"),
    alias("RAISE", Word::Fail, "raise REF 0"),
    alias("CATCH", Word::Err, "TRY 1\n  CALL 0 0\nCATCH 2 1\n  RET REF 1\nRET REF 1"),
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
    alias("OBJECT", Word::Obj, "LET 2 OBJECT 0\nRET REF 1"),
    alias("LITERAL", Word::Lit, "RET LITERAL 1 5"),
];

/// The instruction that a word of another language, or in another case, means.
pub(crate) fn instruction(text: &str) -> Option<Word> {
    let own = TABLE.iter().find(|row| same_letters(row.mnemonic, text)).map(|row| row.word);
    let other =
        own.or_else(|| INSTRUCTIONS.iter().find(|row| same_letters(row.word, text)).map(|row| row.means));
    // A function has its name in expressions as its mnemonic.
    other.or_else(|| Word::from_mnemonic(&other_operator::meant(text)?.spelling.to_ascii_uppercase()))
}

/// The constant that a word of another language, or in another case, means.
pub(crate) fn constant(text: &str) -> Option<ConstantWord> {
    let own = ConstantWord::ALL.into_iter().find(|constant| constant.word.eq_ignore_ascii_case(text));
    own.or_else(|| ConstantWord::of(foreign::word(Place::Type, &text.to_ascii_lowercase())?))
}

/// Whether two words are equal except for case and separators.
fn same_letters(one: &str, other: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = u8> {
        text.bytes().filter(|byte| !matches!(byte, b'_' | b'-' | b'.' | b':')).map(|b| b.to_ascii_uppercase())
    }
    letters(one).eq(letters(other))
}

/// The name in the first part of a text that other languages would fill in: `{name}`, `${name}`, `$name`. The
/// part, and the name of what it would be filled with.
pub(crate) fn filled_in(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices(['{', '$']).filter_map(|(at, _)| {
        let from = text.get(at..)?;
        let inside = from.trim_start_matches(['{', '$', ' ']);
        let name = inside.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'))).next()?;
        let behind = inside.get(name.len()..)?;
        let in_braces = from.get(..from.len() - inside.len())?.contains('{');
        let whole = from.len() - behind.len() + if in_braces { behind.find('}')? + 1 } else { 0 };
        Some((from.get(..whole)?, name))
    })
}

#[cfg(test)]
mod tests {
    use crate::arena::Arena;
    use crate::diagnostic::{Diagnostics, fix};
    use crate::id::words::{INSTRUCTIONS, filled_in};
    use crate::source::SourceLimits;
    use ilo_spec::node::Word;

    const HEAD: &str =
        "; fn f(a: text, b: number) -> number\n; Vars: 0=a 1=b 2=c\n; Tools: 0=t\n; Fields: 0=k 1=l\n";

    /// The diagnostics of a body, and what their fixes make of it.
    fn read_body(body: &str) -> (Diagnostics, String) {
        let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
        let source = format!("{HEAD}{body}\n");
        crate::id::parse(&source, &arena, &SourceLimits::default(), &mut diagnostics);
        let (fixed, _) = fix::apply(&source, diagnostics.as_slice());
        (diagnostics, fixed.strip_prefix(HEAD).unwrap_or(&fixed).trim_end().to_owned())
    }

    #[test]
    fn every_word_is_read_as_its_instruction() {
        for row in INSTRUCTIONS {
            let (diagnostics, fixed) = read_body(row.example);
            if row.means == Word::Skip {
                // It has one meaning.
                assert!(diagnostics.as_slice().is_empty(), "{diagnostics:?}");
                continue;
            }
            assert_eq!(diagnostics.as_slice().len(), 1, "{}\n{diagnostics:?}", row.example);
            assert!(fixed.contains(row.means.mnemonic()), "{fixed}");
            assert!(read_body(&fixed).0.as_slice().is_empty(), "{fixed}");
        }
    }

    #[test]
    fn functions_of_other_languages_are_read_as_instructions() {
        for (written, word) in [
            ("LENGTH REF 0", "LEN"),
            ("startsWith REF 0 REF 0", "STARTS"),
            ("INCLUDES LIST 1 REF 1 REF 1", "HAS"),
            ("toLowerCase REF 0", "LOWER"),
            ("STRIP REF 0", "TRIM"),
            ("substring REF 0 LIT 1 0 LIT 1 2", "SLICE"),
            ("parseFloat REF 0", "NUMBER"),
            ("JSON.parse REF 0", "PARSE"),
            ("JSON.stringify REF 0", "JSON"),
            ("Object.keys OBJ 0", "KEYS"),
            ("Math.max LIST 1 REF 1", "MAX"),
            ("PUSH LIST 0 REF 1", "APPEND"),
        ] {
            let (diagnostics, fixed) = read_body(&format!("LET 2 {written}\nRET REF 1"));
            assert_eq!(diagnostics.as_slice().len(), 1, "{written}\n{diagnostics:?}");
            assert!(fixed.starts_with(&format!("LET 2 {word} ")), "{fixed}");
        }
    }

    #[test]
    fn names_and_signs_of_other_languages_are_read_or_explained() {
        for body in
            ["RET b", "RET REF $b", "LET 2 = REF 1\nRET REF 2", "FOR 2 IN LIST 0 1\n  REF 2\nRET REF 1"]
        {
            assert!(read_body(body).0.as_slice().is_empty(), "{body}");
        }
        for body in ["RET a.k", "RET == REF 1 REF 1", "WHILE REF 1 1\n  RET REF 1"] {
            let (found, _) = read_body(body);
            assert!(
                found.has_errors() && found.as_slice().iter().all(|wrong| wrong.help.is_some()),
                "{body}"
            );
        }
    }

    #[test]
    fn names_are_found_in_the_marks_of_other_languages() {
        let first = |text| filled_in(text).next();
        assert_eq!(first("Hi {a} b"), Some(("{a}", "a")));
        assert_eq!(first("{{ user-id }}!"), Some(("{{ user-id }", "user-id")));
        assert_eq!(first("${a.b}"), Some(("${a.b}", "a")));
        assert_eq!(first("$a, c"), Some(("$a", "a")));
        assert_eq!(first("{a"), None);
    }
}
