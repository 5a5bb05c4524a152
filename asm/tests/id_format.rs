//! The canonical layout: its form, that it is stable, and that it keeps the meaning.

use crate::common::{NOTIFY, codes, tree};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::format::id_text as format;
use ilo_asm::source::SourceLimits;

fn formatted(source: &str) -> Option<String> {
    format(source, &SourceLimits::default(), &mut Diagnostics::default())
}

#[track_caller]
fn becomes(source: &str, expected: &str) {
    let once = formatted(source).unwrap_or_default();
    assert_eq!(once, expected);
    assert_eq!(formatted(&once).as_deref(), Some(expected), "formatting again changes nothing");
    assert_eq!(tree(source), tree(&once), "the meaning stays");
}

#[test]
fn the_example_changes_in_its_one_wrong_count() {
    becomes(NOTIFY, &NOTIFY.replace("OK 5 4", "OK 5 3"));
    assert_eq!(codes(&formatted(NOTIFY).unwrap()), Vec::<&str>::new());
    let flat = NOTIFY.replace("OK 5 4", "OK 5 3");
    let (head, body) = flat.split_at(flat.find("LET").unwrap());
    let line = format!("{head}{}\n", body.split_whitespace().collect::<Vec<_>>().join(" "));
    becomes(&line.replace("\n; Vars", "\r\n; Vars"), &flat);
}

#[test]
fn comments_stay_where_they_are() {
    becomes(
        "; before   \n;fn f( a:string,b : list num )->result nil text ; Vars: 1=b(in)\n; Tools: 3=u\n; a note\n;Tool: 1=t\n\n\n\
         IF REF 0 9;  why\n\n   ; inner\n   LET 2 ADD ; half\n     REF 1\n  ; more\n   LIT 1 5 ; rest\n   RET REF 2\n   ; after\n\
         RET REF 1 ; end\n; of g\n; fn g() -> void\n; last",
        "; before\n; fn f(a: text, b: list number) -> result nil, text\n; Vars: 1=b(in)\n; Tools: 1=t 3=u\n; a note\n\
         IF REF 0 2 ;  why\n  ; inner\n  LET 2 ADD ; half\n      REF 1\n      ; more\n      LIT 1 5 ; rest\n  RET REF 2\n\
         ; after\nRET REF 1 ; end\n\n; of g\n; fn g() -> nil\n; last\n",
    );
}

#[test]
fn blocks_are_laid_out_by_depth() {
    becomes(
        "; fn f(a: any) -> nil\n; Tools: 0=t\n\
         LET 2 IF REF 0 2 LET 3 CALL 0 0 MATCH 3 2 OK 4 1 REF 4 ERR 5 0 ELSE 1 LIT 2 nil RET REF 2",
        "; fn f(a: any) -> nil\n; Tools: 0=t\n\
         LET 2 IF REF 0 2\n  LET 3 CALL 0 0\n  MATCH 3 2\n    OK 4 1\n      REF 4\n    ERR 5 0\n\
         ELSE 1\n  LIT 2 nil\nRET REF 2\n",
    );
}

#[test]
fn names_that_need_quotes_keep_them() {
    becomes(
        "; fn \"my fn\"(\"First Name\": text, \"a:b\": text) -> text\n; Fields: 1=\"x y\" 0=\"z\" (note)\nRET REF 0",
        "; fn \"my fn\"(\"First Name\": text, \"a:b\": text) -> text\n; Fields: 0=\"z\" (note) 1=\"x y\"\nRET REF 0\n",
    );
}

#[test]
fn a_long_statement_is_broken_below_the_limit_on_lines() {
    let items = "LIT 0 \"some text\" ".repeat(8_000);
    let mut source = String::from("; fn f() -> list text\nRET LIST 8000\n");
    for item in items.split_inclusive("text\" ") {
        source.push_str(item);
        source.push('\n');
    }
    let once = formatted(&source).unwrap();
    assert_eq!(tree(&source), tree(&once));
    assert_eq!(formatted(&once).as_deref(), Some(once.as_str()));
}

#[test]
fn errors_are_left_alone() {
    for source in ["", "; fn f() -> nil\nLET", "RET REF 0", "; fn f() -> nil\n; Vars: x\n; Vars: a=0"] {
        assert_eq!(formatted(source), None, "{source}");
    }
}
