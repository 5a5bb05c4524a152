//! The tree of an example of the original notations, printed in that notation, is the example up to its
//! layout.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use ilo_asm::arena::Arena;
use ilo_asm::compile::{Options, compile, read_and_check};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::notation::Notation;
use ilo_asm::print;
use ilo_spec::error::Code;
use ilo_spec::program::Program;

/// The example in instruction text; names of slots and tools are those of the notation that it is printed in.
const NOTIFY: &str = r#"; fn notify(user-id: text, message: text) -> result nil, text
; Vars: 2=USER
; Tools: 0=GET 1=SEND
; Fields: 0=user-id 1=email 2=verified 3=subject 4=body 5=to
LET 2 CALL 0 1 0 REF 0
MATCH 2 2
  ERR 4 1
    RET_ERR CONCAT LIT 0 "User lookup failed: " REF 4
  OK 5 4
    IF NOT FIELD 5 2 1
      RET_ERR LIT 0 "Email not verified"
    LET 3 CALL 1 3 5 FIELD 5 1 3 LIT 0 "Notification" 4 REF 1
    MATCH 3 2
      ERR 6 1
        RET_ERR CONCAT LIT 0 "Send failed: " REF 6
      OK 7 1
        RET_OK LIT 2 nil
"#;

fn printed(source: &str, to: Notation) -> String {
    let arena = Arena::new();
    let mut diagnostics = Diagnostics::default();
    let options = Options { from: Some(Notation::Id), ..Options::default() };
    let (file, _) = read_and_check(source, &arena, &options, &mut diagnostics);
    let text = print::print(&file, to, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{:?}", diagnostics.as_slice());
    text
}

/// A text without blanks outside strings.
fn squeezed(json: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    let keeps = |c: &char| {
        inside ^= *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        inside || !c.is_whitespace()
    };
    json.chars().filter(keeps).collect()
}

#[test]
fn an_example_comes_back_up_to_layout() {
    let cases = [
        (Notation::ToolCalling, "user", "", include_str!("print/notify.tool-calling")),
        (Notation::Constrained, "user", "", include_str!("print/notify.constrained")),
        (Notation::Mcp, "user", "mcp://", include_str!("print/notify.mcp")),
    ];
    for (notation, user, server, expected) in cases {
        let (get, send) = if server.is_empty() {
            ("get-user", "send-email")
        } else {
            ("mcp://users/get-user", "mcp://email/send-email")
        };
        let source = NOTIFY.replace("USER", user).replace("GET", get).replace("SEND", send);
        // In this notation an example may have no name, and then gets this one.
        let source = if server.is_empty() { source } else { source.replace("fn notify", "fn main") };
        assert_eq!(squeezed(&printed(&source, notation)), squeezed(expected), "{notation}");
    }
}

#[test]
fn a_workflow_comes_back_to_the_letter() {
    let source = NOTIFY.replace("USER", "fetch").replace("GET", "get-user").replace("SEND", "send-email");
    assert_eq!(printed(&source, Notation::Workflow), include_str!("print/notify.workflow"));
}

/// An ERR arm that continues, with an OK arm that does something of its own: ends the function, or gives
/// another value.
const GOES_ON: [&str; 4] = [
    "; fn f() -> any
; Tools: 0=get 1=log
LET 0 CALL 0 0
MATCH 0 2
  ERR 1 1
    CALL 1 0
  OK 2 1
    RET REF 2
RET LIT 0 \"went on\"
",
    "; fn f() -> result any, text
; Tools: 0=get
IF EQ LIT 1 1 LIT 1 1 2
  LET 0 CALL 0 0
  MATCH 0 2
    ERR 1 0
    OK 2 1
      RET_ERR REF 2
RET_OK LIT 0 \"went on\"
",
    "; fn f() -> any
; Tools: 0=get
LET 0 CALL 0 0
LET 3 MATCH 0 2
  ERR 1 1
    LIT 0 \"none\"
  OK 2 1
    RET REF 2
RET REF 3
",
    "; fn f() -> any
; Tools: 0=get
LET 0 CALL 0 0
LET 3 MATCH 0 2
  ERR 1 1
    LIT 0 \"none\"
  OK 2 1
    LEN REF 2
RET REF 3
",
];

fn stripped(source: &str, from: Notation) -> Program {
    let (program, diagnostics) =
        compile(source, &Options { from: Some(from), strip: true, ..Options::default() });
    program.unwrap_or_else(|| panic!("{source}{:?}", diagnostics.as_slice()))
}

/// YAML takes a key of more than 1,024 characters only in another form.
#[test]
fn a_long_name_comes_back() {
    for length in [1_022, 1_023, 1_024, 1_025, 2_000] {
        for name in ["x".repeat(length), format!("x {}", "y".repeat(length - 2)), "\u{e9}".repeat(length)] {
            let (name, slot) = (format!("\"{name}\""), "s".repeat(length));
            let source = format!(
                "; fn f(n: number) -> any\n; Vars: 0=n 1={slot}\n; Tools: 0={name}\n; Fields: 0={name}\n\
                 LET 1 CALL 0 1 0 REF 0\nRET OBJ 1 0 LIST 1 OBJ 1 0 REF 1\n"
            );
            for to in [Notation::ToolCalling, Notation::Constrained, Notation::Workflow, Notation::Mcp] {
                let text = printed(&source, to);
                assert!(stripped(&text, to) == stripped(&source, Notation::Id), "{length} in {to:?}");
            }
        }
    }
}

#[test]
fn arms_that_both_go_on_come_back() {
    for source in GOES_ON {
        for (notation, name) in Notation::ALL {
            let text = printed(source, notation);
            assert!(stripped(&text, notation) == stripped(source, Notation::Id), "{name}\n{source}{text}");
        }
    }
}

#[test]
fn what_has_no_words_is_told() {
    let cases = [
        ("; fn f() -> any\n; Tools: 0=\"${x}\"\nRET CALL 0 0\n", "CALL"),
        ("; fn f() -> any\n; Tools: 0=\"\"\nRET CALL 0 0\n", "CALL"),
    ];
    for (source, place) in cases {
        let arena = Arena::new();
        let mut diagnostics = Diagnostics::default();
        let options = Options { from: Some(Notation::Id), ..Options::default() };
        let (file, _) = read_and_check(source, &arena, &options, &mut diagnostics);
        assert!(!diagnostics.has_errors(), "{source}{:?}", diagnostics.as_slice());
        for (notation, name) in Notation::ALL.into_iter().filter(|(notation, _)| *notation != Notation::Id) {
            let mut unsaid = Diagnostics::default();
            let text = print::print(&file, notation, &mut unsaid);
            let [told] = unsaid.as_slice() else { panic!("{name}\n{source}{text}") };
            assert_eq!(told.code, Code::NotExpressible);
            assert!(source.get(told.span.range()).unwrap().starts_with(place), "{name}\n{source}{told:?}");
        }
    }
}

/// Sources with this number of nested levels, each in another way.
fn nested(levels: usize) -> Vec<String> {
    let head = "; fn f(c: any) -> any\n; Tools: 0=get\n; Fields: 0=a\n";
    let blocks = |open: &dyn Fn(usize) -> String, last: &str| {
        let mut source = head.to_owned();
        (0..levels).for_each(|level| source.push_str(&open(level)));
        source + last
    };
    let chain = |word: &str, last: &str| format!("{head}RET {}{last}\n", word.repeat(levels));
    vec![
        blocks(&|_| "IF REF 0 1 ".to_owned(), "RET LIT 1 1\nRET LIT 1 2\n"),
        blocks(&|_| "FOR 1 REF 0 1 ".to_owned(), "RET LIT 1 1\nRET LIT 1 2\n"),
        blocks(
            &|level| format!("LET {} CALL 0 0 MATCH {} 2 OK 1 0 ERR 1 2 ", level + 2, level + 2),
            "REF 0 RET LIT 1 1\nRET LIT 1 2\n",
        ),
        chain("ADD LIT 1 1 ", "REF 0"),
        chain("ADD ", &format!("REF 0{}", " LIT 1 1".repeat(levels))),
        chain("NOT ", "REF 0"),
        chain("LIST 1 ", "REF 0"),
        chain("AT LIST 1 ", &format!("REF 0{}", " LIT 1 0".repeat(levels))),
        chain("FIELD ", &format!("0{}", " 0".repeat(levels))),
        chain("CONCAT LIT 0 \"x\" ", "REF 0"),
        chain("CALL 0 1 0 ", "REF 0"),
    ]
}

#[test]
fn what_is_too_deep_to_be_read_again_is_told() {
    let program = |source: &str, from| {
        compile(source, &Options { from: Some(from), strip: true, ..Options::default() }).0
    };
    let (mut told, mut wrong) = (0, Vec::new());
    for levels in [30, 60, 63, 64, 120, 124, 125, 126, 127, 128] {
        for (number, source) in nested(levels).iter().enumerate() {
            let arena = Arena::new();
            let options = Options { from: Some(Notation::Id), ..Options::default() };
            let (file, _) = read_and_check(source, &arena, &options, &mut Diagnostics::default());
            let Some(before) = program(source, Notation::Id) else { continue };
            for (notation, name) in Notation::ALL {
                let mut unsaid = Diagnostics::default();
                let text = print::print(&file, notation, &mut unsaid);
                let refused = unsaid.has_errors();
                told += u32::from(refused);
                if if refused { levels < 64 } else { program(&text, notation).as_ref() != Some(&before) } {
                    wrong.push(format!("{name}: source {number}, {levels} levels, told: {refused}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(told > 0, "some are too deep");
}

#[test]
fn the_constrained_notation_takes_one_line_a_function() {
    let source = NOTIFY.replace("USER", "user").replace("GET", "get-user").replace("SEND", "send-email");
    let two = format!("{source}\n{}", source.replace("fn notify", "fn again"));
    assert_eq!(printed(&two, Notation::Constrained).lines().count(), 2);
}

/// `let` with a path comes back as it is in each notation that has it, and so does `push`.
#[test]
fn paths_come_back() {
    let source = r#"{"fn":"f","in":{"k":"text","n":"num"},"out":"any","body":[{"let":"r","obj":{"xs":[1,2]}},{"let":"r.b.c","call":"get","args":{"n":"n"},"err":{"value":0}},{"let":"r.xs[0]","expr":7},{"let":"r[k]['any name']","expr":"k"},{"let":"r.list","push":"n"},{"for":"x","in":"r.list","yield":[{"let":"r.seen[x + 1]","if":"x > 1","then":[{"expr":1}],"else":[{"expr":2}]}]},{"ret":"r"}]}"#;
    let (mut text, mut from) = (source.to_owned(), Notation::Constrained);
    for (to, set) in [
        (Notation::Workflow, "let: r.b.c"),
        (Notation::ToolCalling, r#""let": "r[$input.k]['any name']""#),
        (Notation::Mcp, r#""push": "$.n""#),
        (Notation::Constrained, r#""let":"r.seen[x + 1]","if":"#),
    ] {
        let arena = Arena::new();
        let mut diagnostics = Diagnostics::default();
        let options = Options { from: Some(from), ..Options::default() };
        let (file, _) = read_and_check(&text, &arena, &options, &mut diagnostics);
        let next = print::print(&file, to, &mut diagnostics);
        assert!(diagnostics.as_slice().is_empty(), "{text}\n{:?}", diagnostics.as_slice());
        assert!(next.contains(set), "{next}");
        assert!(!next.contains("part"), "{next}");
        (text, from) = (next, to);
    }
    assert_eq!(stripped(&text, Notation::Constrained), stripped(source, Notation::Constrained));
}
