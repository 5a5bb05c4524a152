//! Expected signatures: what is compared, and that the fixes write it in every notation.

use crate::arena::Arena;
use crate::compile::{Options, Signature, compile, read};
use crate::diagnostic::{Diagnostics, fix};
use crate::notation::Notation;
use crate::print;
use ilo_spec::error::Code;

const WANTED: &str = "email(id: text) -> result answer, text";

fn found(source: &str, wanted: &str) -> Vec<String> {
    let signature: Signature = wanted.parse().unwrap();
    let options = Options { signature: Some(&signature), ..Options::default() };
    let (program, diagnostics) = compile(source, &options);
    let found: Vec<String> = diagnostics.as_slice().iter().map(ToString::to_string).collect();
    assert_eq!(program.is_some(), !diagnostics.has_errors(), "{found:?}");
    found
}

#[test]
fn a_function_of_that_signature_is_built() {
    for source in [
        "; fn email(id: text) -> result answer, text\nRET_OK REF 0\n",
        // Any value, and inputs that may be left out.
        "; fn email(id: any, more?: number) -> result any, text\nRET_OK REF 0\n",
        // The function that runs may call others.
        "; fn other(n: number) -> number\nREF 0\n; fn email(id: text) -> result answer, text\nRET_OK REF 0\n",
    ] {
        assert_eq!(found(source, WANTED), [""; 0], "{source}");
    }
    assert_eq!(found("; fn f() -> text\nLIT 0 \"a\"\n", "f() -> any"), [""; 0]);
}

#[test]
fn every_difference_is_an_error_that_says_what_was_expected() {
    let source = "; fn mail(id: number, more: text) -> text\nREF 1\n";
    let other = "error[other-signature]: ";
    let expected = [
        "the function has another name than its host calls; expected `email`, found `mail`; write `email`",
        "the input `id` has another type than its host gives; expected `text`, found `number`; write `text`",
        "the host gives no input `more`; expected `id`, found `more`; begin with `; fn email(id: text) -> result answer, text`",
        "the function has another output than its host expects; expected `result answer, text`, found `text`; write `result answer, text`",
    ];
    assert_eq!(found(source, WANTED), expected.map(|line| format!("{other}{line}")));
    let missing = found("; fn email() -> result any, text\nRET_OK LIT 1 1\n", WANTED);
    let begin = "begin with `; fn email(id: text) -> result answer, text`";
    assert_eq!(
        missing,
        [format!("{other}the input `id` is missing; expected `id: text`, found `no such input`; {begin}")]
    );
    let nil = found("; fn f(id: text) -> text\nREF 0\n", "f(id?: text) -> text");
    let text = "the host may give nil for the input `id`, or leave it out; expected `text|nil`, found `text`";
    assert_eq!(nil, [format!("{other}{text}; begin with `; fn f(id?: text) -> text`")]);
    // A header that cannot be read has no signature yet.
    let unread = found("; fn email(id text) -> text\nREF 0\n", WANTED);
    assert!(!unread.iter().any(|line| line.contains("other-signature")), "{unread:?}");
}

#[test]
fn the_fixes_write_names_and_types_in_every_notation() {
    let source = "; fn mail(id: number) -> result any, number\nRET_OK REF 0\n";
    let signature: Signature = WANTED.parse().unwrap();
    let options = Options { signature: Some(&signature), ..Options::default() };
    for (notation, _) in Notation::ALL {
        let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
        let file = read(source, &arena, &Options::default(), &mut diagnostics);
        let text = print::print(&file, notation, &mut diagnostics);
        let (_, diagnostics) = compile(&text, &options);
        let codes: Vec<Code> = diagnostics.as_slice().iter().map(|found| found.code).collect();
        assert_eq!(codes, [Code::OtherSignature; 3], "{text}");
        let help = diagnostics.as_slice()[0].help.clone().unwrap();
        assert!(help.contains("email") && help.contains("text"), "{help}");
        let fixed = fix::apply(&text, diagnostics.as_slice()).0;
        let (program, left) = compile(&fixed, &options);
        assert!(program.is_some(), "{fixed}\n{:?}", left.as_slice());
        assert!(compile(&signature.beginning(notation), &Options::default()).1.as_slice().len() < 3);
    }
}

#[test]
fn what_is_no_signature_says_so() {
    for text in [
        "",
        "f",
        "f(",
        "f() -> result",
        "f() -> text\nRET",
        "f(a: text, a: text) -> text",
        "f() -> text; fn g() -> text",
    ] {
        let error = text.parse::<Signature>().unwrap_err();
        assert!(error.contains("is not a signature such as `email(id: text)"), "{error}");
    }
    assert_eq!("; fn f() -> text ".parse::<Signature>().unwrap().to_string(), "f() -> text");
}

#[test]
fn a_strict_check_refuses_what_warnings_foretell() {
    let source = "; fn f(c: text) -> bool\nEQ REF 0 LIT 1 1\n";
    let (program, diagnostics) = compile(source, &Options::default());
    assert!(program.is_some() && diagnostics.as_slice()[0].code == Code::NeverEqual);
    let (program, diagnostics) = compile(source, &Options { strict: true, ..Options::default() });
    assert!(program.is_none() && diagnostics.as_slice()[0].is_error());
    // Another warning foretells nothing.
    let counted = "; fn f(c: bool) -> number\nIF REF 0 2\n  RET LIT 1 1\nRET LIT 1 2\n";
    let (program, diagnostics) = compile(counted, &Options { strict: true, ..Options::default() });
    assert!(program.is_some() && diagnostics.as_slice()[0].code == Code::CountMismatch);
}
