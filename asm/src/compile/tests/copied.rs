//! Sources with what copying and word processors add: the fixes give the program that was copied.

use crate::compile::{Options, compile};
use crate::diagnostic::fix;
use crate::notation::Notation;
use ilo_spec::error::Code;

const ID: &str =
    "; fn f(a: text) -> text\n; Vars: 0=a\nIF EQ REF 0 LIT 0 \"x\" 1\n  RET LIT 0 \"y\"\nRET REF 0\n";
const YAML: &str = "name: f\ninput:\n  a: text\noutput: text\nsteps:\n  one:\n    if:\n      \"==\": [$.a, x]\n    then:\n      return: y\n  two:\n    return: $.a\n";
const JSON: &str = "{\n  \"function\": \"f\",\n  \"input\": {\"a\": \"text\"},\n  \"output\": \"text\",\n  \"steps\": [\n    {\"return\": \"$input.a\"}\n  ]\n}\n";

/// Applies fixes until there is a program; it is that of `clean`, and the first message has this code.
#[track_caller]
fn fixes(copied: &str, clean: &str, code: Code) {
    let options = Options { strip: true, ..Options::default() };
    let mut source = copied.to_owned();
    let mut first = None;
    for _ in 0..4 {
        let (program, found) = compile(&source, &options);
        first = first.or(found.as_slice().first().map(|found| found.code));
        if let Some(program) = program {
            assert_eq!(first, Some(code), "{copied}");
            assert_eq!(Some(program), compile(clean, &options).0, "{source}");
            return;
        }
        source = fix::apply(&source, found.as_slice()).0;
    }
    panic!("{copied}\n{source}\n{:?}", compile(&source, &options).1.as_slice());
}

#[test]
fn words_around_are_removed() {
    for clean in [ID, YAML, JSON] {
        fixes(&format!("\"This is what you asked for:\"\n{clean}"), clean, Code::OtherNotation);
        fixes(
            &format!("{clean}\nThis program, in short, returns y.\nAsk me for more!\n"),
            clean,
            Code::UnexpectedText,
        );
    }
    fixes(
        &format!("{ID}\nI hope this helps. Let me know: IF not, ask.\n\n- It is tested\n"),
        ID,
        Code::UnexpectedText,
    );
    // Where a program follows, nothing is removed.
    let between = format!("{ID}\nThen the second one follows.\n\n{}", ID.replace(" f(", " g("));
    let (_, found) = compile(&between, &Options::default());
    assert!(found.has_errors() && found.as_slice().iter().all(|found| found.code != Code::UnexpectedText));
}

#[test]
fn characters_that_look_like_others_are_written_as_those() {
    let id = |from: &str, to: &str| fixes(&ID.replace(from, to), ID, Code::BadCharacter);
    id("REF 0\n", "REF\u{a0}0\n");
    id("\n  ", "\n\u{a0}\u{3000}");
    id("RET", "R\u{200b}ET");
    id("; fn f", ";\u{a0}fn\u{a0}f");
    id("a: text", "a： text");
    id("0=a", "0=\u{200b}a");
    let yaml = |from: &str, to: &str, code| fixes(&YAML.replace(from, to), YAML, code);
    for (from, to) in [
        ("\n  ", "\n\u{a0}\u{a0}"),
        ("    ", "\u{a0} \u{2003} "),
        ("return: ", "return:\u{a0}"),
        ("one:", "one："),
        ("return: ", "return："),
        ("name", "\u{200b}name"),
    ] {
        yaml(from, to, Code::BadCharacter);
    }
    let json = |from: &str, to: &str, code| fixes(&JSON.replace(from, to), JSON, code);
    json("\": ", "\"：", Code::OtherNotation);
    json(",\n", "，\n", Code::OtherNotation);
    json("{\n", "\u{200b}{\n", Code::BadCharacter);
    json("\"function\"", "“function”", Code::OtherNotation);
    let blanks = JSON.replace("\n  ", "\n\u{a0}\u{a0}");
    assert_eq!(compile(&blanks, &Options::default()).1.as_slice(), []);
    assert_eq!(Notation::detect(&format!("\u{200b}{JSON}")), Some(Notation::ToolCalling));
}
