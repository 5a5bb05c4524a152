//! Hostile sources: limits, depth, and random text, without a panic and in linear time and memory.

#![allow(clippy::format_collect, clippy::format_push_string, reason = "brevity matters more than speed here")]

use crate::common::{NOTIFY, codes, diagnose, function, read, read_with};
use ilo_asm::format::id_text as format;
use ilo_asm::source::SourceLimits;
use proptest::prelude::*;

#[test]
fn limits_hold_at_their_number_and_not_one_beyond() {
    let source = "; fn f() -> nil\nLET 0 LIT 2 nil\r\nLET 0 LIT 2 nil";
    let with = |options: SourceLimits| {
        read_with(source, &options, |_, found| {
            found.as_slice().iter().map(|d| (d.code.as_str(), d.span.start)).collect::<Vec<_>>()
        })
    };
    let size = source.len();
    assert_eq!(with(SourceLimits { source: size, line: 15, nesting: 1 }), []);
    assert_eq!(with(SourceLimits { source: size - 1, ..SourceLimits::default() }), [("source-too-large", 0)]);
    let lines = [("line-too-long", 0), ("line-too-long", 16), ("line-too-long", 33)];
    assert_eq!(with(SourceLimits { line: 14, ..SourceLimits::default() }), lines);
    assert_eq!(with(SourceLimits { line: 0, ..SourceLimits::default() }).len(), 3);
}

#[test]
fn nesting_stops_at_its_limit() {
    let nested = |levels: usize| function(&format!("RET {}REF 0", "NOT ".repeat(levels - 1)));
    let found = |levels: usize, nesting: usize| {
        let options = SourceLimits { nesting, ..SourceLimits::default() };
        read_with(&nested(levels), &options, |_, found| {
            found.as_slice().iter().map(|d| d.code.as_str()).collect::<Vec<_>>()
        })
    };
    assert_eq!(found(128, 128), Vec::<&str>::new());
    assert_eq!(found(129, 128), ["too-deep"]);
    assert_eq!(found(256, 256), Vec::<&str>::new());
    assert_eq!(found(257, 10_000), ["too-deep"], "no option passes the ceiling");
}

#[test]
fn blocks_and_expressions_nest_together() {
    let source = |blocks: usize| {
        let lines: String = (0..blocks).map(|depth| format!("{}IF REF 0 1\n", "  ".repeat(depth))).collect();
        function(&format!("{lines}{}RET REF 0", "  ".repeat(blocks)))
    };
    assert_eq!(codes(&source(127)), Vec::<&str>::new());
    assert_eq!(codes(&source(128)), ["too-deep"]);
}

#[test]
fn great_depth_is_one_error() {
    let raised = SourceLimits { source: 1 << 30, line: 1 << 30, nesting: 256 };
    for text in [
        "NOT ",
        "IF REF 0 1 ",
        "LET 1 IF REF 0 1 ",
        "MATCH 0 1 OK 1 1 ",
        "LIST 1 ",
        "FIELD ",
        "NOT\n",
        "FOR 1 REF 0 1\n",
    ] {
        let source = function(&format!("RET {}", text.repeat(100_000)));
        let errors = read_with(&source, &raised, |_, found| {
            found.as_slice().iter().filter(|d| d.code.as_str() == "too-deep").count()
        });
        assert_eq!(
            errors,
            1,
            "{text} {:?}",
            read_with(&source, &raised, |_, found| found.as_slice().first().cloned())
        );
    }
    let stairs: String = (0..2_000).map(|depth| format!("{}IF REF 0 1\n", " ".repeat(depth))).collect();
    let stairs = read_with(&function(&stairs), &raised, |_, found| found.as_slice().to_vec());
    assert_eq!(stairs.iter().map(|d| d.code.as_str()).collect::<Vec<_>>(), ["too-deep"]);
    let types = format!("; fn f(a: {}text) -> nil\n", "list ".repeat(10_000));
    assert_eq!(codes(&types), ["bad-type"]);
}

#[test]
fn strange_bytes_are_errors_or_nothing() {
    assert_eq!(codes(&format!("\u{feff}{NOTIFY}")), ["count-mismatch"]);
    assert_eq!(codes(&NOTIFY.replace('\n', "\r\n")), ["count-mismatch"]);
    assert_eq!(codes(&NOTIFY.replace('\n', "\r")), ["count-mismatch"]);
    assert_eq!(codes(&function("RET REF 0 \0\0")), ["bad-character"]);
    assert_eq!(codes(&function("RET REF 0 é😀\u{7f}")), ["bad-character"]);
    assert_eq!(codes("\u{feff}"), ["empty-file"]);
    assert_eq!(codes("\0"), ["bad-character"]);
    let found = diagnose(&function("RET REF 0 \u{1}\u{2}é§ ¤"));
    assert_eq!(found.len(), 2, "a run is one error: {found:?}");
}

#[test]
fn every_prefix_of_the_example_is_read() {
    for end in 0..=NOTIFY.len() {
        if let Some(source) = NOTIFY.get(..end) {
            read(source, |file, _| assert!(file.functions.len() <= 1));
        }
    }
}

#[test]
fn many_functions_and_one_long_line() {
    let raised = SourceLimits { source: 1 << 30, line: 1 << 30, nesting: 128 };
    let functions: String =
        (0..20_000).map(|n| format!("; fn f{n}() -> nil\n; Tools: 0=t 300=u\nCALL 300 0\n")).collect();
    read_with(&functions, &raised, |file, found| {
        assert_eq!((file.functions.len(), found.as_slice().len()), (20_000, 0));
    });
    let line = function(&"LET 2 REF 0 ".repeat(900_000));
    read_with(&line, &raised, |file, found| {
        assert_eq!((file.functions[0].body.statements.len(), found.as_slice().len()), (900_000, 0));
    });
    let wrong = function(&"LET 2 ADD ".repeat(200_000));
    read_with(&wrong, &raised, |_, found| {
        assert_eq!(found.as_slice().len() + found.dropped(), 200_000);
    });
}

/// Wrong names among many names: the work of finding the nearest must not multiply.
#[test]
fn many_wrong_names_among_many_names() {
    let names: String = (0..60_000).map(|n| format!(" {n}=name{n}")).collect();
    let wrong = "RET FIELD nam nmae\nRET $name\nnope\n".repeat(20_000);
    let source = format!("; fn f(a: text) -> nil\n; Vars:{names}\n; Fields:{names}\n{wrong}");
    let raised = SourceLimits { source: 1 << 30, line: 1 << 30, nesting: 128 };
    read_with(&source, &raised, |_, found| assert_eq!(found.as_slice().len() + found.dropped(), 60_000));
}

/// Blocks that are cut at every level: going back must not multiply the work.
#[test]
fn cut_blocks_do_not_multiply_the_work() {
    let mut source = String::new();
    for _ in 0..200 {
        for depth in 0..100 {
            source.push_str(&format!("{}IF REF 0 1\n", " ".repeat(depth)));
        }
        source.push_str(&format!("{}LET 2 ADD REF 0\nREF 1\n", " ".repeat(100)));
    }
    let raised = SourceLimits { source: 1 << 30, ..SourceLimits::default() };
    read_with(&function(&source), &raised, |_, found| assert!(found.as_slice().len() <= 1_000));
}

fn soup() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        proptest::sample::select(ilo_spec::node::TABLE).prop_map(|row| row.mnemonic.to_owned()),
        (0..6_u32).prop_map(|n| n.to_string()),
        (0..6_u32).prop_map(|n| n.to_string()),
        proptest::sample::select(&["\n", "\n  ", "\n    ", "\n\t", "\r\n", "\r      "][..])
            .prop_map(str::to_owned),
        proptest::sample::select(
            &[
                "; fn f(a: text) -> nil\n",
                "\n; fn g(b: list int",
                "; Vars: 0=a 1=b\n",
                "\n; Fields: 0=k 1=l 2=m 3=n 4=o 5=p\n",
                "; Tools: 0=t 1=u 2=v 3=w 4=x 5=y\n",
                "; note",
                "\"x\"",
                "\"\\u00e9\"",
                "\"",
                "'",
                "nil",
                "true",
                "else",
                "a",
                "$a",
                "4294967296",
                "-1",
                "1e400",
                "==",
                "(",
                ",",
                "#",
                "é",
                "\u{feff}",
                "\0",
            ][..]
        )
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(word, 0..120).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn token_soup_is_read(source in soup()) {
        let source = format!("; fn f(a: text) -> nil\n; Fields: 0=k 1=l 2=m\n; Tools: 0=t 1=u\n{source}");
        check(&source);
    }

    #[test]
    fn anything_is_read(source in "\\PC{0,200}|[ -~\n\t]{0,300}") {
        check(&source);
    }
}

/// Reads, fixes and formats a source. Positions are within it, and a formatted text does not change again.
fn check(source: &str) {
    let found = diagnose(source);
    for diagnostic in &found {
        assert!(diagnostic.span.start <= diagnostic.span.end, "{diagnostic:?}");
        assert!(source.get(diagnostic.span.range()).is_some(), "{diagnostic:?}");
        for edit in diagnostic.fix.iter().flat_map(|fix| &fix.edits) {
            assert!(source.get(edit.span.range()).is_some(), "{diagnostic:?}");
        }
    }
    let _ = ilo_asm::diagnostic::fix::apply(source, &found);
    let mut diagnostics = ilo_asm::diagnostic::Diagnostics::default();
    if let Some(once) = format(source, &SourceLimits::default(), &mut diagnostics) {
        assert_eq!(crate::common::tree(source), crate::common::tree(&once), "{source}\n---\n{once}");
        let twice = format(&once, &SourceLimits::default(), &mut diagnostics);
        assert_eq!(twice.as_deref(), Some(once.as_str()));
    }
}
