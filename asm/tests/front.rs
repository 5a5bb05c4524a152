//! The four JSON and YAML notations: programs to the same bytecode as their instruction text.

use ilo_asm::build::{Notation, Options, build};
use ilo_asm::diagnostic::Diagnostics;
use ilo_spec::encode::encode;

const NOTIFY: &str = include_str!("id/notify.ilo");

/// The stripped bytecode of a source, which must have neither errors nor warnings.
fn bytes(source: &str, notation: Notation) -> Vec<u8> {
    let options = Options { from: Some(notation), strip: true, ..Options::default() };
    let (program, diagnostics) = build(source, &options);
    assert!(diagnostics.as_slice().is_empty(), "{source}\n{}", told(&diagnostics));
    encode(&program.expect("a program"))
}

fn told(diagnostics: &Diagnostics) -> String {
    let lines = diagnostics.as_slice().iter();
    lines.map(|found| format!("{} {:?}: {}\n", found.code, found.span, found.message)).collect()
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
        (Notation::ToolCalling, include_str!("front/notify.tool-calling.json")),
        (Notation::Constrained, include_str!("front/notify.constrained.json")),
        (Notation::Workflow, include_str!("front/notify.workflow.yaml")),
    ];
    for (notation, source) in sources {
        assert_eq!(Notation::detect(source), Some(notation));
        assert_eq!(bytes(source, notation), wanted, "{notation}");
    }
    let mcp = include_str!("front/notify.mcp.json");
    assert_eq!(Notation::detect(mcp), Some(Notation::Mcp));
    // Its tools have other names, and its function has none.
    let plain = mcp.replace("mcp://users/", "").replace("mcp://email/", "");
    let named = plain.replace("\"meta\": {", "\"meta\": {\"name\": \"notify\",");
    assert_eq!(bytes(&named, Notation::Mcp), wanted);
}
