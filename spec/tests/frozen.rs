//! Published numbers never change: every row of `frozen.txt` is still in the tables, and every row of the
//! tables is in the file. `UPDATE=1 cargo test -p ilo-spec --test frozen` adds new rows.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use ilo_spec::error::Code;
use ilo_spec::{encode, isa, node, pure};
use std::fs;
use std::path::Path;

fn rows() -> Vec<String> {
    let mut rows = vec![format!("format {}", encode::VERSION)];
    rows.extend(encode::Section::ALL.map(|section| format!("section {:#04x} {section:?}", section as u8)));
    rows.extend(isa::TABLE.iter().map(|row| {
        let operands: Vec<String> =
            row.operands.iter().map(|(name, kind)| format!("{name}:{kind}")).collect();
        format!("instruction {:#04x} {} {}", row.number, row.mnemonic, operands.join(" "))
            .trim_end()
            .to_owned()
    }));
    rows.extend(
        node::TABLE.iter().map(|row| format!("word {} {} {:?}", row.word as u8, row.mnemonic, row.operands)),
    );
    rows.extend(pure::TABLE.iter().map(|row| {
        let operands: Vec<String> =
            row.operands.iter().map(|operand| format!("{}:{}", operand.name, operand.kinds)).collect();
        format!("function {} {} {}", row.function as u8, row.name, operands.join(" "))
    }));
    rows.extend(Code::ALL.iter().map(|&code| format!("code {} {code}", code as u16)));
    rows
}

#[test]
fn numbers_are_only_added() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen.txt");
    let frozen = fs::read_to_string(&path).unwrap_or_default();
    let rows = rows();
    for row in frozen.lines() {
        assert!(rows.iter().any(|now| now == row), "`{row}` was changed or taken away");
    }
    if std::env::var_os("UPDATE").is_some() {
        return fs::write(&path, rows.join("\n") + "\n").unwrap();
    }
    for row in &rows {
        assert!(frozen.lines().any(|old| old == row), "`{row}` is new: add it with UPDATE=1");
    }
}

#[test]
fn typescript_names_every_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/js/src");
    // The package of this crate has no bindings beside it.
    let Ok(old) = fs::read_to_string(folder.join("codes.ts")) else { return };
    let (diagnostics, others): (Vec<Code>, Vec<Code>) =
        Code::ALL.iter().partition(|&&code| (code as u16) < Code::Malformed as u16);
    let names: Vec<String> = diagnostics.iter().map(|code| format!("    | \"{code}\"")).collect();
    let listed = names.join("\n");
    let head = "/** The codes of diagnostics, printed from the table of errors. */\n\n\
                /** The code of a diagnostic; a later release may have more. */\nexport type DiagnosticCode =\n";
    let text = format!("{head}{listed}\n    | (string & {{}});\n");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(folder.join("codes.ts"), &text).unwrap();
    } else {
        assert_eq!(old, text, "codes.ts is not current: run with UPDATE=1");
    }
    let types = fs::read_to_string(folder.join("types.ts")).unwrap();
    for fault in others.iter().filter(|&&code| (801..900).contains(&(code as u16))) {
        assert!(types.contains(&format!("\"{fault}\"")), "`FAULT_CODES` of types.ts lacks `{fault}`");
    }
}

#[test]
fn mnemonics_and_codes_are_told_apart() {
    let unique = |names: Vec<&str>| {
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), names.len(), "{names:?}");
    };
    unique(isa::TABLE.iter().map(|row| row.mnemonic).collect());
    unique(pure::TABLE.iter().map(|row| row.name).collect());
    unique(node::TABLE.iter().map(|row| row.mnemonic).collect());
    // A compile error and the fault with the same cause share a code on purpose.
    unique(Code::ALL.iter().filter(|&&code| (code as u16) < 800).map(|code| code.as_str()).collect());
    unique(Code::ALL.iter().filter(|&&code| (code as u16) >= 800).map(|code| code.as_str()).collect());
}

#[test]
fn a_mnemonic_is_found_and_nothing_that_is_nearly_one() {
    for row in node::TABLE {
        assert_eq!(node::Word::from_mnemonic(row.mnemonic), Some(row.word));
        for last in ['\0', 'a', '_', '\u{80}', '\u{ff}', '\u{ffff}'] {
            let longer = format!("{}{last}", row.mnemonic);
            let changed = format!("{}{last}", &row.mnemonic[1..]);
            let before = format!("{last}{}", row.mnemonic);
            for other in [longer, changed, before, row.mnemonic.to_lowercase()] {
                assert_eq!(node::Word::from_mnemonic(&other), None, "{other:?}");
            }
        }
    }
    assert_eq!(node::Word::from_mnemonic(""), None);
}
