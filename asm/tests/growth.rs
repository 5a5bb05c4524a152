//! Work grows no faster than the source, from text to bytes, whatever the source is.
//!
//! Each source is made in two sizes, one [`TIMES`] the other. Allocations and their bytes are counted instead
//! of time: work that grew with the square of the source would allocate as much, or would not end in a
//! reasonable time.

#![allow(clippy::format_collect, reason = "brevity matters more than speed here")]

use crate::common::function;
use ilo_asm::compile::{Options, compile};
use std::fmt::Write as _;

const SMALL: usize = 8 << 10;
const TIMES: usize = 8;

/// Makes a source of about this number of bytes.
type Make = fn(usize) -> String;

/// Every source's name, and how it is made.
const SOURCES: &[(&str, Make)] = &[
    ("functions", |size| {
        numbered(size, |n| format!("; fn f{n}(a: text) -> text\n; Vars: 0=a 1=b\nRET REF 0\n"))
    }),
    ("one function after another calls", |size| {
        numbered(size, |n| {
            let callee = n.saturating_sub(1);
            let body = if n == 0 { "RET LIT 1 1".to_owned() } else { "RET CALL 0 0".to_owned() };
            format!("; fn f{n}() -> number\n; Tools: 0=f{callee}\n{body}\n")
        })
    }),
    ("statements", |size| {
        function(&(numbered(size, |n| format!("LET 2 ADD REF 1 LIT 1 {}\n", n % 500)) + "RET REF 2"))
    }),
    ("statements in one line", |size| function(&("LET 2 REF 0 ".repeat(size / 12) + "RET REF 1"))),
    ("loops in a row", |size| function(&("FOR 2 REF 0 1\n  LET 1 REF 2\n".repeat(size / 30) + "RET REF 1"))),
    ("nested operands", |size| function(&format!("RET {}REF 0", "NOT ".repeat(size / 4)))),
    ("nested blocks", |size| function(&"IF REF 0 1 ".repeat(size / 11))),
    ("list", |size| function(&format!("LET 2 LIST {} {}", size / 6, "REF 0 ".repeat(size / 6)))),
    ("cases", |size| {
        let cases = numbered(size, |n| format!("{n} LIT 1 1 "));
        function(&format!("RET MATCH_MAP REF 1 {} {cases}", cases.matches("LIT").count()))
    }),
    ("fields", |size| {
        let count = size / 24;
        let names: String = (0..count).map(|n| format!("{n}=n{n} ")).collect();
        let fields: String = (0..count).map(|n| format!("{n} REF 0 ")).collect();
        format!("; fn f(a: text) -> nil\n; Fields: {names}\nLET 1 OBJ {count} {fields}")
    }),
    ("arguments of a function", |size| {
        let count = size / 40;
        let parameters: String = (0..count).map(|n| format!("p{n}: text, ")).collect();
        let arguments: String = (0..count).map(|n| format!("{n} LIT 1 1 ")).collect();
        let names: String = (0..count).map(|n| format!("{n}=p{n} ")).collect();
        format!(
            "; fn g({parameters}) -> nil\nRET LIT 2 nil\n; fn f() -> nil\n; Tools: 0=g\n; Fields: {names}\n\
             LET 0 CALL 0 {count} {arguments}"
        )
    }),
    ("impossible count", |size| function(&"LET 2 LIST 18446744073709551615 REF 0\n".repeat(size / 38))),
    ("words that are none", |size| function(&numbered(size, |n| format!("xqzzy{n} ")))),
    ("lines of words that are none", |size| function(&"xqzzy blorp\n".repeat(size / 12))),
    ("lower case", |size| function(&"let 2 ref 0\n".repeat(size / 12))),
    ("quotes", |size| function(&"\"".repeat(size))),
    ("lines of quotes", |size| function(&"\"\n".repeat(size / 2))),
    ("single quotes", |size| function(&"'".repeat(size))),
    ("brackets", |size| function(&"(".repeat(size))),
    ("operators", |size| function(&"= ".repeat(size / 2))),
    ("digits", |size| function(&format!("RET LIT 1 {}", "9".repeat(size)))),
    ("foreign characters", |size| function(&"é ".repeat(size / 3))),
    ("zeros", |size| "\0".repeat(size)),
    ("semicolons", |size| ";".repeat(size)),
    ("lines of semicolons", |size| ";\n".repeat(size / 2)),
    ("comments", |size| function(&"; a note\nLET 2 REF 0\n".repeat(size / 21))),
    ("headers", |size| "; fn\n".repeat(size / 5)),
    ("headers of one name", |size| "; fn f() -> nil\n".repeat(size / 16)),
    ("parameters of one name", |size| format!("; fn f({}) -> nil\n", "a: text, ".repeat(size / 9))),
    ("a type of lists", |size| format!("; fn f(a: {}text) -> nil\n", "list ".repeat(size / 5))),
    ("an open parenthesis", |size| format!("; fn f{}\n", "(".repeat(size))),
    ("registries", |size| function(&"; Vars: 0=a\n".repeat(size / 12))),
    ("a registry of one id", |size| function(&format!("; Vars: {}", "9=a ".repeat(size / 4)))),
    ("a registry of nothing", |size| function(&format!("; Vars: {}", "= ".repeat(size / 2)))),
    ("a registry of quotes", |size| function(&format!("; Vars: {}", "9=\" ".repeat(size / 4)))),
    ("line ends", |size| "\r".repeat(size)),
];

/// Sources in JSON and YAML.
const DOCUMENTS: &[(&str, Make)] = &[
    ("tool-calling steps", |size| {
        tool_calling(&numbered(size, |n| format!("{{\"let\": \"v{n}\", \"expr\": {{\"+\": [{n}, 1]}}}},\n")))
    }),
    ("tool-calling steps that rebind", |size| {
        tool_calling(&"{\"let\": \"v\", \"expr\": \"$input.a\"},\n".repeat(size / 34))
    }),
    ("calls with handlers", |size| {
        tool_calling(
            &"{\"let\": \"v\", \"call\": \"t\", \"on-error\": {\"return\": \"no: $error\"}},\n"
                .repeat(size / 69),
        )
    }),
    ("loops that skip", |size| {
        tool_calling(
            &"{\"for\": \"x\", \"in\": [1], \"do\": [{\"call\": \"t\", \"on-error\": {\"skip\": true}}, {\"yield\": 1}]},\n"
                .repeat(size / 94),
        )
    }),
    ("a text of references", |size| {
        tool_calling(&format!("{{\"let\": \"v\", \"expr\": \"{}\"}},", "$input.a ".repeat(size / 9)))
    }),
    ("a text of dollars", |size| {
        tool_calling(&format!("{{\"let\": \"v\", \"expr\": \"{}\"}},", "$".repeat(size)))
    }),
    ("a text of open references", |size| {
        tool_calling(&format!("{{\"let\": \"v\", \"expr\": \"{}\"}},", "${".repeat(size / 2)))
    }),
    ("a text of open brackets", |size| {
        tool_calling(&format!("{{\"let\": \"v\", \"expr\": \"${{a{}\"}},", "[\\\"".repeat(size / 3)))
    }),
    ("a path", |size| {
        tool_calling(&format!("{{\"let\": \"v\", \"expr\": \"$input.a{}\"}},", ".b".repeat(size / 2)))
    }),
    ("unknown references", |size| {
        tool_calling(&numbered(size, |n| format!("{{\"let\": \"v{n}\", \"expr\": \"$w{n}\"}},\n")))
    }),
    ("unknown keys", |size| {
        tool_calling(&format!(
            "{{\"call\": \"t\", {}\"args\": {{}}}},",
            numbered(size, |n| format!("\"k{n}\": 1, "))
        ))
    }),
    ("keys twice", |size| {
        tool_calling(&format!("{{\"let\": \"v\", \"expr\": {{{}\"b\": 1}}}},", "\"a\": 1, ".repeat(size / 8)))
    }),
    ("operators within operators", |size| {
        tool_calling(&format!(
            "{{\"let\": \"v\", \"expr\": {}1{}}},",
            "{\"not\": ".repeat(size / 9),
            "}".repeat(size / 9)
        ))
    }),
    ("an operator of many operands", |size| {
        tool_calling(&format!("{{\"let\": \"v\", \"expr\": {{\"+\": [{}1]}}}},", "1, ".repeat(size / 3)))
    }),
    ("blocks within blocks", |size| tool_calling(&"{\"if\": true, \"then\": [".repeat(size / 23))),
    ("cases of a match", |size| {
        tool_calling(&format!(
            "{{\"let\": \"v\", \"match\": 1, \"cases\": {{{}\"_\": 1}}}},",
            numbered(size, |n| format!("\"{n}\": 1, "))
        ))
    }),
    ("json brackets", |size| format!("{{\"function\": {}", "[".repeat(size))),
    ("json commas", |size| format!("{{\"function\": {}", ",".repeat(size))),
    ("json quotes", |size| format!("{{\"function\": {}", "\"".repeat(size))),
    ("programs in a row", |size| {
        numbered(size, |n| {
            format!("{{\"function\": \"f{n}\", \"input\": {{}}, \"output\": \"nil\", \"steps\": []}}\n")
        })
    }),
    ("truncated programs", |size| "{\"function\": ".repeat(size / 13)),
    ("constrained texts", |size| {
        format!(
            "{{\"fn\":\"f\",\"in\":{{\"abcd\":\"text\"}},\"out\":\"nil\",\"body\":[{{\"let\":\"v\",\"expr\":[{}1]}}]}}",
            "\"abce\",".repeat(size / 7)
        )
    }),
    ("mcp asserts", |size| {
        format!(
            "{{\"meta\": {{\"input\": {{}}, \"output\": \"nil\"}}, \"steps\": [{}{{\"ok\": null}}]}}",
            "{\"assert\": true, \"err\": \"no\"},\n".repeat(size / 34)
        )
    }),
    ("workflow steps", |size| workflow(&numbered(size, |n| format!("  s{n}:\n    expr: $.a\n")))),
    ("workflow steps that refer back", |size| {
        workflow(&numbered(size, |n| format!("  s{n}:\n    expr: ${{s{}}}\n", n.saturating_sub(1))))
    }),
    ("switches", |size| {
        workflow(&numbered(size, |n| {
            format!("  s{n}:\n    switch:\n      - if: $.a == 'x'\n        return: null\n")
        }))
    }),
    ("infix", |size| workflow(&format!("  s:\n    expr: \"1{}\"\n", " + 1".repeat(size / 4)))),
    ("infix parentheses", |size| workflow(&format!("  s:\n    expr: \"{}\"\n", "(".repeat(size)))),
    ("infix words", |size| workflow(&format!("  s:\n    expr: \"{}\"\n", "not ".repeat(size / 4)))),
    ("yaml brackets", |size| workflow(&format!("  s: {}\n", "[".repeat(size)))),
    ("yaml dashes", |size| workflow(&format!("  s:\n    {}\n", "- ".repeat(size / 2)))),
    ("yaml anchors", |size| workflow(&numbered(size, |n| format!("  s{n}: &a{n} 1\n")))),
    ("a billion laughs", |size| {
        workflow(&numbered(size, |n| format!("  s{n}: &a{n} [*a{0}, *a{0}, *a{0}]\n", n.saturating_sub(1))))
    }),
    ("yaml quotes to put", |size| workflow(&numbered(size, |n| format!("  s{n}: a: b: ${{x}}\n")))),
    ("yaml tabs", |size| workflow(&"\t\n".repeat(size / 2))),
    ("a block of text", |size| workflow(&format!("  s: |\n{}", "    $.a and more\n".repeat(size / 17)))),
];

/// A function of tool calling around steps.
fn tool_calling(steps: &str) -> String {
    format!(
        "{{\"function\": \"f\", \"input\": {{\"a\": \"text\"}}, \"output\": \"nil\", \"steps\": [\n{steps}{{\"return\": null}}\n]}}\n"
    )
}

/// A workflow around steps.
fn workflow(steps: &str) -> String {
    format!("name: f\ninput:\n  a: text\noutput: nil\nsteps:\n{steps}")
}

/// Parts in order, up to about this number of bytes.
fn numbered(size: usize, piece: impl Fn(usize) -> String) -> String {
    let mut out = String::with_capacity(size + 100);
    let mut number = 0;
    while out.len() < size {
        let _ = write!(out, "{}", piece(number));
        number += 1;
    }
    out
}

/// Bytes and allocations from a source to bytecode, whether it ends in errors or not.
fn cost(source: &str) -> (u64, u64) {
    let reading = ilo_asm::source::SourceLimits {
        source: usize::MAX,
        line: usize::MAX,
        ..ilo_asm::source::SourceLimits::default()
    };
    let options = Options { reading, ..Options::default() };
    let counted = allocation_counter::measure(|| {
        let (program, diagnostics) = compile(source, &options);
        assert!(program.is_some() != diagnostics.has_errors(), "a program or an error");
        std::hint::black_box(program.map(|program| ilo_spec::encode::encode(&program).len()));
    });
    (counted.bytes_max, counted.count_total)
}

#[test]
fn memory_and_allocations_grow_with_the_source() {
    let mut wrong = String::new();
    for (name, make) in SOURCES.iter().chain(DOCUMENTS) {
        let (small, large) = (make(SMALL), make(SMALL * TIMES));
        let ((bytes, count), (most_bytes, most_count)) = (cost(&small), cost(&large));
        // Lists double as they grow, so sizes are met to within a factor of two. The constant cost of a build
        // is left out.
        let within = |few: u64, many: u64, free: u64| many <= few.max(free) * 2 * TIMES as u64;
        if !within(bytes, most_bytes, 32 << 10) || !within(count, most_count, 100) {
            let _ =
                writeln!(wrong, "{name}: {bytes} to {most_bytes} bytes, {count} to {most_count} allocations");
        }
        let multiple = most_bytes / large.len() as u64;
        if multiple > MULTIPLE {
            let _ = writeln!(wrong, "{name}: {multiple} times the source");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Bytes in use at once for each byte of source, at most: a token a byte, with a node and a diagnostic's
/// share for each.
const MULTIPLE: u64 = 64;

#[test]
fn a_source_past_its_limits_is_refused_before_it_is_read() {
    let source = "LET 2 REF 0 ".repeat(100 << 20 >> 3);
    let counted = allocation_counter::measure(|| {
        let (program, diagnostics) = compile(&source, &Options::default());
        assert!(program.is_none());
        let codes: Vec<&str> = diagnostics.as_slice().iter().map(|found| found.code.as_str()).collect();
        assert_eq!(codes, ["source-too-large"]);
    });
    assert!(counted.bytes_max < 64 << 10, "{counted:?}");
}
