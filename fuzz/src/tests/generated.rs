//! The generator: nearly all of its programs pass the checks, and together they use the whole instruction
//! set.

use crate::generate::{bytes, case};
use ilo_asm::compile::{Options, compile};
use ilo_spec::isa;
use ilo_spec::program::Program;
use std::collections::BTreeMap;

fn built(seed: u64) -> Option<Program> {
    compile(&case(&bytes(seed)).source, &Options { strip: true, ..Options::default() }).0
}

#[test]
fn nearly_every_program_passes_the_checks() {
    let made = 1_000;
    let passed = (0..made).filter(|&seed| built(seed).is_some()).count();
    assert!(passed * 100 >= 95 * 1_000, "{passed} of {made}");
}

#[test]
fn the_empty_string_is_a_program() {
    let case = case(b"");
    assert!(compile(&case.source, &Options::default()).0.is_some(), "{}", case.source);
}

#[test]
fn every_instruction_is_generated() {
    let mut counts: BTreeMap<u8, u64> = isa::TABLE.iter().map(|row| (row.number, 0)).collect();
    for seed in 0..10_000 {
        for op in built(seed).iter().flat_map(|program| &program.code) {
            *counts.entry(op.number()).or_default() += 1;
        }
        let missing = counts.values().filter(|&&count| count == 0).count();
        if seed % 500 == 499 && missing == 0 {
            break;
        }
    }
    let rows = isa::TABLE.iter().map(|row| (row.mnemonic, counts[&row.number]));
    let missing: Vec<&str> = rows.filter(|&(_, count)| count == 0).map(|(mnemonic, _)| mnemonic).collect();
    assert!(missing.is_empty(), "no generated program has {missing:?}");
}
