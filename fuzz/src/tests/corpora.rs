//! Runs the fuzz bodies on the committed inputs: their corpora, the conformance corpus, the examples, and
//! changed bytecode.

use crate::every_byte::{SPLICES, splices, sweep};
use crate::seeds::{bytecodes, seeds, sources};
use ilo_asm::notation::Notation;

/// Runs a body on the first inputs of its target.
fn on_corpus(name: &str, body: fn(&[u8])) {
    body(b"");
    for seed in seeds(name) {
        body(&seed);
    }
}

/// A test for each target.
macro_rules! targets {
    ($($(#[$attribute:meta])* $name:ident)*) => {
        $($(#[$attribute])* #[test] fn $name() { on_corpus(stringify!($name), crate::$name); })*
    };
}

targets! {
    id_text tool_calling constrained workflow mcp expression conversion round_trip differential bytecode mutated answers snapshot
    #[cfg(feature = "host")] json
    #[cfg(feature = "host")] tools_file
    #[cfg(feature = "host")] mcp_answer
}

/// A third of the inputs: each begins a server. `fuzz/run.sh` begins with all.
#[cfg(feature = "host")]
#[test]
fn mcp_messages() {
    crate::mcp_messages(b"");
    for seed in seeds("mcp_messages").iter().step_by(3) {
        crate::mcp_messages(seed);
    }
}

#[test]
fn every_source_goes_all_the_way() {
    let sources = sources(Notation::Id);
    assert!(sources.len() > 500);
    for source in sources {
        crate::id_text(source.as_bytes());
    }
}

#[test]
fn every_cut_of_a_source_is_read() {
    let source = include_str!("../../../examples/notify.ilo");
    for end in (0..source.len()).filter(|&end| source.is_char_boundary(end)) {
        crate::id_text(&source.as_bytes()[..end]);
    }
}

/// Every truncation, and every byte changed to two of five values, which depend on the program. `.ci/run`
/// sweeps some programs with every value; all programs take minutes.
#[test]
fn every_changed_byte_of_bytecode_is_refused_or_harmless() {
    let programs = bytecodes();
    assert!(programs.len() > 300);
    for (number, bytes) in programs.into_iter().enumerate() {
        sweep(crate::bytecode, &bytes, 0, |byte| {
            let values = [0, 0xff, byte.wrapping_add(1), byte.wrapping_sub(1), !byte];
            [values[number % 5], values[(number + 2) % 5]]
        });
    }
}

/// Every truncation, and every byte changed to three of nine values, which depend on the snapshot.
#[test]
fn every_cut_and_every_changed_byte_of_a_snapshot_is_refused_or_harmless() {
    let snapshots = crate::snapshots();
    assert!(snapshots.len() > 20);
    for (number, bytes) in snapshots.into_iter().enumerate() {
        crate::snapshot(&bytes);
        sweep(crate::snapshot, &bytes, 1, |byte| {
            let values = [0, 1, 2, 12, 0x7f, 0x80, 0xff, byte.wrapping_add(1), byte.wrapping_sub(1)];
            [0, 3, 6].map(|third| values[(number + third) % 9])
        });
    }
}

/// Two of the fourteen kinds of splices at each byte; `.ci/run` tries all of them for some programs.
#[test]
fn splices_of_bytecode_and_snapshots_are_refused_or_harmless() {
    let programs: Vec<_> = bytecodes().into_iter().collect();
    for (body, first, all) in
        [(crate::bytecode as fn(&[u8]), 0, programs), (crate::snapshot, 1, crate::snapshots())]
    {
        let others = all.iter().cycle().skip(1);
        for (number, (one, other)) in all.iter().zip(others).enumerate() {
            splices(body, one, first, other, |at, kind| (at + number + kind) % (SPLICES / 2) == 0);
        }
    }
}

#[test]
fn a_changed_or_shortened_snapshot_is_refused_unless_it_is_sealed_again() {
    for bytes in crate::snapshots() {
        let program = &crate::suspending()[usize::from(bytes[0])];
        let restored = |bytes: &[u8]| ilo_vm::Run::from_snapshot(program, bytes, ilo_vm::Limits::default());
        assert!(restored(&bytes[1..]).is_ok());
        for at in 1..bytes.len() {
            assert!(restored(&bytes[1..at]).is_err(), "{at}");
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            assert!(restored(&changed[1..]).is_err(), "{at}");
        }
    }
}
