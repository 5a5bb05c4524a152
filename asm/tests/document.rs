//! The four JSON and YAML notations: programs to the same bytecode as their instruction text.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ilo_asm::compile::{Options, compile};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::notation::Notation;
use ilo_spec::encode::encode;
use ilo_spec::error::Code;

const NOTIFY: &str = include_str!("id/notify.ilo");

/// The stripped bytecode of a source, which must have neither errors nor warnings.
fn bytes(source: &str, notation: Notation) -> Vec<u8> {
    let options = Options { from: Some(notation), strip: true, ..Options::default() };
    let (program, diagnostics) = compile(source, &options);
    assert!(diagnostics.as_slice().is_empty(), "{source}\n{}", told(&diagnostics));
    encode(&program.unwrap())
}

fn told(diagnostics: &Diagnostics) -> String {
    let lines = diagnostics.as_slice().iter();
    let lines: Vec<String> =
        lines.map(|found| format!("{} {:?}: {}", found.code, found.span, found.message)).collect();
    lines.join("\n")
}

#[test]
fn the_complete_example_is_the_same_program_in_every_notation() {
    // As printed it has a count that is off, and calls the recipient `email`.
    let id = NOTIFY
        .replace("OK 5 4", "OK 5 3")
        .replace("CALL 1 3 1 ", "CALL 1 3 5 ")
        .replace("4=body", "4=body 5=to");
    let wanted = bytes(&id, Notation::Id);
    let sources = [
        (Notation::ToolCalling, include_str!("document/notify.tool-calling.json")),
        (Notation::Constrained, include_str!("document/notify.constrained.json")),
        (Notation::Workflow, include_str!("document/notify.workflow.yaml")),
    ];
    for (notation, source) in sources {
        assert_eq!(Notation::detect(source), Some(notation));
        assert_eq!(bytes(source, notation), wanted, "{notation}");
    }
    let mcp = include_str!("document/notify.mcp.json");
    assert_eq!(Notation::detect(mcp), Some(Notation::Mcp));
    // Its tools have other names, and its function has none.
    let plain = mcp.replace("mcp://users/", "").replace("mcp://email/", "");
    let named = plain.replace("\"meta\": {", "\"meta\": {\"name\": \"notify\",");
    assert_eq!(bytes(&named, Notation::Mcp), wanted);
}

/// Programs that are the same in instruction text and in a notation: the notation, its source, the text.
const SAME: [(Notation, &str, &str); 6] = [
    (
        Notation::ToolCalling,
        r#"{"function": "f", "input": {"xs": "list number"}, "output": "list any", "steps": [
            {"for": "x", "in": "$input.xs", "do": [
                {"let": "level", "match": "$x", "cases": [[1, "one"], [2, "two"]], "default": "many"},
                {"yield": {"x": "$x", "level": "$level"}}]}]}"#,
        "; fn f(xs: list number) -> list any\n; Fields: 0=x 1=level\n\
         FOR 1 REF 0 2\n  LET 2 MATCH_MAP REF 1 3 1 \"one\" 2 \"two\" ELSE LIT 0 \"many\"\n  OBJ 2 0 REF 1 1 REF 2\n",
    ),
    (
        Notation::Constrained,
        r#"{"fn":"f","in":{"a":"num","o":"order"},"out":"result order text","body":[{"let":"c","call":"charge","args":{"amount":"a"},"err":"no: ${err}","compensate":[{"call":"release","args":{}}]},{"ret":{"ok":{"merge":"o","set":{"charge":"c.id"}}}}]}"#,
        "; fn f(a: number, o: order) -> result order, text\n; Tools: 0=charge 1=release\n; Fields: 0=amount 1=charge 2=id\n\
         LET 2 CALL 0 1 0 REF 0\nMATCH 2 2\n  ERR 3 2\n    CALL 1 0\n    RET_ERR CONCAT LIT 0 \"no: \" REF 3\n  \
         OK 4 1\n    RET_OK MERGE REF 1 1 FIELD 4 2\n",
    ),
    (
        Notation::Workflow,
        "name: f\ninput:\n  spent: number\noutput: text\nsteps:\n  classify:\n    switch:\n      \
         - if: $.spent >= 1000\n        return: gold\n      - if: not ($.spent < 500)\n        return: silver\n      \
         - default:\n        return: bronze\n",
        "; fn f(spent: number) -> text\nIF GTE REF 0 LIT 1 1000 1\n  RET LIT 0 \"gold\"\n\
         IF NOT LT REF 0 LIT 1 500 1\n  RET LIT 0 \"silver\"\nRET LIT 0 \"bronze\"\n",
    ),
    (
        Notation::Mcp,
        r#"{"meta": {"name": "f", "input": {"xs": "list any"}, "output": "list any"}, "steps": [
            {"for": "x", "in": "$.xs", "yield": [
                {"let": "y", "call": "get", "with": {"id": "$x"}, "err": {"skip": true}},
                {"obj": {"y": "${y.a}"}}]}]}"#,
        "; fn f(xs: list any) -> list any\n; Tools: 0=get\n; Fields: 0=id 1=y 2=a\nFOR 1 REF 0 3\n  LET 2 CALL 0 1 0 REF 1\n  \
         MATCH 2 1\n    ERR 3 1\n      SKIP\n  OBJ 1 1 FIELD 2 2\n",
    ),
    (
        Notation::ToolCalling,
        r#"{"function": "f", "input": {"c": "bool"}, "output": "number", "steps": [
            {"let": "n", "call": "count", "on-error": {"value": 0}},
            {"let": "m", "if": "$input.c", "then": {"+": ["$n", 1]}, "else": "$n"},
            {"return": "$m"}]}"#,
        "; fn f(c: bool) -> number\n; Tools: 0=count\nLET 1 CALL 0 0\nMATCH 1 1\n  ERR 2 1\n    LET 1 LIT 1 0\n\
         LET 3 IF REF 0 1\n  ADD REF 1 LIT 1 1\nELSE 1\n  REF 1\nRET REF 3\n",
    ),
    (
        Notation::Workflow,
        "name: f\ninput:\n  xs: list number\noutput: number\nsteps:\n  start:\n    let: total\n    expr: 0\n  each:\n    \
         for: x\n    in: $.xs\n    yield:\n      add:\n        let: total\n        expr: $total + $x\n  done:\n    return: $total * 2\n",
        "; fn f(xs: list number) -> number\nLET 1 LIT 1 0\nFOR 2 REF 0 2\n  LET 1 ADD REF 1 REF 2\n  REF 1\nRET MUL REF 1 LIT 1 2\n",
    ),
];

#[test]
fn each_construct_is_its_instructions() {
    for (notation, source, id) in SAME {
        assert_eq!(bytes(source, notation), bytes(id, Notation::Id), "{source}");
    }
}

/// Sources that nest: a notation, the text before, the text that opens a level, the innermost text,
/// the text that closes a level, and the greatest number of levels.
const NESTED: [(Notation, &str, &str, &str, &str, usize); 5] = [
    (Notation::ToolCalling, r#"{"return": "#, r#"{"not": "#, "true", "}", 254),
    (Notation::ToolCalling, r#"{"return": "#, "[", "1", "]", 254),
    (Notation::Mcp, "", r#"{"if": true, "then": ["#, r#"{"call": "a"}"#, "]}", 254),
    (Notation::Constrained, "", r#"{"for":"x","in":[],"yield":["#, r#"{"call":"a"}"#, "]}", 254),
    (Notation::ToolCalling, "", r#"{"call": "a", "on-error": {"then": ["#, r#"{"call": "a"}"#, "]}}", 169),
];

#[test]
fn nesting_is_bounded_and_never_overflows_a_small_stack() {
    let run = || {
        for (notation, before, open, inside, close, most) in NESTED {
            for levels in [most, most + 1, 400, 100_000] {
                let end = if before.is_empty() { "" } else { "}" };
                let steps = format!("{before}{}{inside}{}{end}", open.repeat(levels), close.repeat(levels));
                let source = match notation {
                    Notation::Constrained => {
                        format!(r#"{{"fn":"f","in":{{}},"out":"any","body":[{steps}]}}"#)
                    }
                    Notation::Mcp => format!(r#"{{"meta": {{"output": "any"}}, "steps": [{steps}]}}"#),
                    _ => format!(r#"{{"function": "f", "output": "any", "steps": [{steps}]}}"#),
                };
                let reading = ilo_asm::source::SourceLimits {
                    source: usize::MAX >> 1,
                    line: usize::MAX >> 1,
                    nesting: 256,
                };
                let options = Options { from: Some(notation), reading, ..Options::default() };
                let (_, diagnostics) = compile(&source, &options);
                let deep = diagnostics.as_slice().iter().filter(|found| found.code == Code::TooDeep).count();
                assert_eq!(deep > 0, levels > most, "{levels} of {open}: {}", told(&diagnostics));
            }
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}
