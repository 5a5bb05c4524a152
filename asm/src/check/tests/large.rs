//! Sources that are large, deep or both. No time is measured: if the work grows faster than the input, the
//! test does not end.

use super::with;
use crate::catalog::Catalog;
use crate::check::entry;
use ilo_spec::error::Code;
use ilo_spec::limits;
use std::fmt::Write;

fn codes(source: &str) -> Vec<Code> {
    codes_with(source, None)
}

fn codes_with(source: &str, catalog: Option<&Catalog>) -> Vec<Code> {
    with(source, catalog, |_, _, diagnostics| diagnostics.as_slice().iter().map(|found| found.code).collect())
}

/// A tool `t` whose answer has only the field `known`.
fn one_field() -> Catalog {
    let t = r#"[{"name": "t", "outputSchema": {"type": "object", "properties": {"known": {}}}}]"#;
    Catalog::from_json(t).unwrap()
}

/// A chain of functions, each calling the next; the last one calls `last`.
fn chain(length: usize, last: usize) -> String {
    let mut source = String::new();
    for index in 0..length {
        let next = if index + 1 == length { last } else { index + 1 };
        write!(source, "; fn f{index}() -> nil\n; Tools: 0=f{next}\nCALL 0 0\n").unwrap();
    }
    source
}

#[test]
fn a_long_chain_of_calls_is_ordered_from_its_end() {
    with(&chain(20_000, 20_000), None, |file, checked, diagnostics| {
        assert_eq!(diagnostics.as_slice(), []);
        assert_eq!(checked.order, (0..20_000).rev().collect::<Vec<u32>>());
        assert_eq!(entry(file, checked, None), Ok(0));
    });
}

#[test]
fn a_long_circle_is_named_in_short() {
    with(&chain(20_000, 0), None, |file, checked, diagnostics| {
        let [circle] = diagnostics.as_slice() else { panic!("one circle") };
        assert_eq!(circle.code, Code::CircularCall);
        assert_eq!(
            circle.message,
            "functions call each other in a circle: f0 -> f1 -> f2 -> f3 -> f4 -> f5 -> f6 -> f7 -> … -> f0"
        );
        assert_eq!(entry(file, checked, None).map_err(|error| error.code), Err(Code::NoSingleEntry));
    });
}

/// `depth` times a block in a block, with what each adds before the next.
fn nested(header: &str, depth: usize, begin: impl Fn(usize) -> String, innermost: &str) -> String {
    let mut source = format!("{header}\n");
    for level in 0..depth {
        writeln!(source, "{}", begin(level)).unwrap();
    }
    source.push_str(innermost);
    source
}

#[test]
fn loops_in_loops_are_followed_once() {
    let source = nested(
        "; fn f(l: list thing) -> nil\n; Tools: 0=t",
        240,
        |level| format!("FOR {} REF 0 2\nLET {} LIT 1 1", level % 100 + 1, level % 100 + 101),
        "LET 201 REF 202\n",
    );
    assert_eq!(codes(&source), [Code::UnsetSlot]);
}

/// In a thread of 2 MiB, which a debug build fills several times faster than a release build.
#[test]
fn what_nests_as_deep_as_may_be_stays_on_a_small_stack() {
    const DEPTH: usize = 250;
    let function = "; fn f(c: bool, n: number) -> nil\n; Tools: 0=t\n; Fields: 0=a\nCALL 0 0";
    let repeat = |begin: &str, end: &str| format!("{function}\nLET 2 {}{end}\n", begin.repeat(DEPTH));
    let sources = [
        repeat("NOT ", "REF 0"),
        repeat("ADD LIT 1 1 ", "REF 1"),
        repeat("CALL 0 1 0 ", "REF 1"),
        repeat("LIST 1 ", "REF 1"),
        repeat("MATCH_MAP LIT 1 1 1 ELSE ", "REF 1"),
        nested(function, DEPTH, |_| "IF REF 0 1".to_owned(), "LET 2 REF 1\n"),
        nested(function, DEPTH, |_| "FOR 2 LIST 0 1".to_owned(), "LET 2 REF 1\n"),
        nested(function, DEPTH / 2, |_| "LET 2 CALL 0 0\nMATCH 2 1\nERR 3 2".to_owned(), "REF 3\nREF 3\n"),
        nested(
            function,
            DEPTH / 2,
            |_| "LET 2 IF REF 0 1".to_owned(),
            &format!("{}REF 0\n", "NOT ".repeat(DEPTH / 2)),
        ) + &"ELSE 1\nREF 0\n".repeat(DEPTH / 2),
    ];
    let run = move || {
        let catalog = one_field();
        for source in &sources {
            let found = codes_with(source, Some(&catalog));
            let expected = [Code::MissingValue, Code::UnusedValue];
            assert!(found.iter().all(|code| expected.contains(code)), "{found:?}");
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn many_statements_and_many_mistakes() {
    let mut source = "; fn f(a: number) -> number\n".to_owned();
    for index in 0..20_000 {
        let slot = index % 200 + 1;
        writeln!(source, "IF GT REF 0 LIT 1 {index} 1\n  LET {slot} ADD REF 0 LIT 1 1\nLET 0 REF {slot}")
            .unwrap();
    }
    source.push_str("RET REF 0\n");
    with(&source, None, |_, _, diagnostics| {
        assert_eq!(diagnostics.as_slice().len(), 200);
        assert!(diagnostics.as_slice().iter().all(|found| found.code == Code::UnsetSlot));
    });
}

#[test]
fn calls_that_lack_many_arguments() {
    let mut source = "; fn f() -> nil\n; Tools: 0=g\n".to_owned();
    source.push_str(&"CALL 0 0\n".repeat(50_000));
    let parameters: Vec<String> = (0..20_000).map(|index| format!("p{index}: text")).collect();
    writeln!(source, "; fn g({}) -> nil", parameters.join(", ")).unwrap();
    with(&source, None, |_, _, diagnostics| {
        assert!(diagnostics.has_errors());
        assert_eq!(diagnostics.as_slice().len(), limits::DIAGNOSTICS);
    });
}

#[test]
fn slots_meet_their_limit() {
    let function = |slots: usize| {
        let mut source = "; fn f() -> number\n".to_owned();
        for slot in 0..slots {
            writeln!(source, "LET {slot} LIT 1 1").unwrap();
        }
        writeln!(source, "RET REF {}", slots - 1).unwrap();
        source
    };
    assert_eq!(codes(&function(256)), []);
    assert_eq!(codes(&function(257)), [Code::TooManyRegisters]);
}

/// Slot 1 depends on 2, 2 on 3 and so on, each bound after it is used: one pass over the types learns one of
/// them.
#[test]
fn types_that_settle_slowly_count_as_unknown() {
    let mut source = "; fn f(l: list thing) -> nil\n".to_owned();
    for slot in 1..200 {
        writeln!(source, "LET {slot} LIT 1 1").unwrap();
    }
    source.push_str("FOR 250 REF 0 200\n");
    for slot in 1..200 {
        writeln!(source, "  LET {slot} REF {}", slot + 1).unwrap();
    }
    source.push_str("  LET 200 LIT 0 \"text\"\nLET 201 ADD REF 1 LIT 1 1\n");
    assert_eq!(codes(&source.replacen("FOR", "LET 200 LIT 1 1\nFOR", 1)), []);
}

/// The same for answers: slot 1 counts as one until, some walks later, the other value of slot 200 has
/// reached it.
#[test]
fn answers_that_settle_slowly_count_as_unknown() {
    let chain = |length: usize| {
        let mut source = "; fn f(l: list thing) -> any\n; Tools: 0=t\n; Fields: 0=a\n".to_owned();
        for slot in 1..=length {
            writeln!(source, "LET {slot} CALL 0 0").unwrap();
        }
        writeln!(source, "FOR 250 REF 0 {length}").unwrap();
        for slot in 1..length {
            writeln!(source, "  LET {slot} REF {}", slot + 1).unwrap();
        }
        writeln!(source, "  LET {length} OBJ 0\nRET FIELD REF 1 0").unwrap();
        source
    };
    for length in [2, 5, 200] {
        assert_eq!(codes_with(&chain(length), Some(&one_field())), []);
        let same = chain(length).replace("OBJ 0", "CALL 0 0");
        assert_eq!(codes_with(&same, Some(&one_field())), [Code::UnknownField], "{length}");
    }
}

#[test]
fn many_fields_that_an_answer_does_not_have() {
    let listed: Vec<String> = (0..1_000).map(|n| format!(r#""field-{n}": {{}}"#)).collect();
    let schema = format!(r#"{{"type": "object", "properties": {{{}}}}}"#, listed.join(","));
    let catalog = Catalog::from_json(&format!(r#"[{{"name": "t", "outputSchema": {schema}}}]"#)).unwrap();
    let mut source = "; fn f() -> any\n; Tools: 0=t\n; Fields: 0=field-x\nLET 1 CALL 0 0\n".to_owned();
    source.push_str(&"LET 2 FIELD REF 1 0\n".repeat(5_000));
    source.push_str("RET REF 2\n");
    let found = codes_with(&source, Some(&catalog));
    assert_eq!(found, [Code::UnknownField; limits::DIAGNOSTICS]);
}

#[test]
fn the_entry_is_what_was_asked_for_or_what_none_calls() {
    let source = "; fn main() -> nil\n; Tools: 0=help\nCALL 0 0\n; fn help() -> nil\nLIT 2 nil\n";
    with(source, None, |file, checked, _| {
        assert_eq!(entry(file, checked, None), Ok(0));
        assert_eq!(entry(file, checked, Some("help")), Ok(1));
        let unknown = entry(file, checked, Some("hepl")).unwrap_err();
        assert_eq!((unknown.code, unknown.nearest.as_deref()), (Code::UnknownFunction, Some("help")));
    });
    let two = "; fn a() -> nil\nLIT 2 nil\n; fn b() -> nil\nLIT 2 nil\n";
    with(two, None, |file, checked, _| {
        let several = entry(file, checked, None).unwrap_err();
        assert_eq!(several.code, Code::NoSingleEntry);
        assert_eq!(several.message, "several functions are called by no other: `a`, `b`");
    });
}
