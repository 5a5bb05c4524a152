//! The fuzz bodies on what is committed: their own corpora, the conformance corpus, the examples, and every change of a
//! byte of the examples' bytecode.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ilo_asm::build::{Options, build};
use ilo_spec::encode::encode;
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut rest = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = rest.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { rest.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

fn on_corpus(name: &str, body: fn(&[u8])) {
    for path in files(&format!("corpus/{name}")) {
        body(&fs::read(path).unwrap());
    }
    body(b"");
}

#[test]
fn id_text() {
    on_corpus("id_text", ilo_fuzz::id_text);
}

#[test]
fn bytecode() {
    on_corpus("bytecode", ilo_fuzz::bytecode);
}

#[test]
fn snapshot() {
    on_corpus("snapshot", ilo_fuzz::snapshot);
}

#[cfg(feature = "host")]
#[test]
fn json() {
    on_corpus("json", ilo_fuzz::json);
}

#[cfg(feature = "host")]
#[test]
fn tools_file() {
    on_corpus("tools_file", ilo_fuzz::tools_file);
}

/// Sources of the conformance corpus and the examples.
fn sources() -> Vec<String> {
    let cases =
        files("../spec/corpus").into_iter().filter(|path| path.extension().is_some_and(|e| e == "case"));
    let sources = cases.filter_map(|path| {
        let text = fs::read_to_string(path).ok()?;
        let source = text.split_once("=== source id\n")?.1;
        Some(source.split("\n=== ").next().unwrap_or(source).to_owned())
    });
    let examples =
        files("../examples").into_iter().filter(|path| path.extension().is_some_and(|e| e == "ilo"));
    sources.chain(examples.map(|path| fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_source_goes_all_the_way() {
    let sources = sources();
    assert!(sources.len() > 500);
    for source in sources {
        ilo_fuzz::id_text(source.as_bytes());
    }
}

#[test]
fn every_cut_of_a_source_is_read() {
    let source = include_str!("../../examples/notify.ilo");
    for end in (0..source.len()).filter(|&end| source.is_char_boundary(end)) {
        ilo_fuzz::id_text(&source.as_bytes()[..end]);
    }
}

#[test]
fn every_changed_byte_of_bytecode_is_refused_or_harmless() {
    for path in files("../examples").into_iter().filter(|path| path.extension().is_some_and(|e| e == "ilo")) {
        let source = fs::read_to_string(&path).unwrap();
        let program = build(&source, &Options { strip: true, ..Options::default() }).0.unwrap();
        let bytes = encode(&program);
        for at in 0..bytes.len() {
            ilo_fuzz::bytecode(&bytes[..at]);
            let mut changed = bytes.clone();
            for value in
                [0, 1, 2, 0x7f, 0x80, 0xff, bytes[at].wrapping_add(1), bytes[at].wrapping_sub(1), !bytes[at]]
            {
                changed[at] = value;
                ilo_fuzz::bytecode(&changed);
            }
        }
    }
}

#[test]
fn every_cut_and_every_changed_byte_of_a_snapshot_is_refused_or_harmless() {
    let snapshots = ilo_fuzz::snapshots();
    assert!(snapshots.len() > 20);
    for bytes in snapshots {
        ilo_fuzz::snapshot(&bytes);
        for at in 1..bytes.len() {
            ilo_fuzz::snapshot(&bytes[..at]);
            let mut changed = bytes.clone();
            for value in [0, 1, 2, 12, 0x7f, 0x80, 0xff, bytes[at].wrapping_add(1), bytes[at].wrapping_sub(1)]
            {
                changed[at] = value;
                ilo_fuzz::snapshot(&changed);
            }
        }
    }
}

#[test]
fn a_changed_or_shortened_snapshot_is_refused_unless_it_is_sealed_again() {
    for bytes in ilo_fuzz::snapshots() {
        let program = &ilo_fuzz::suspending()[usize::from(bytes[0])];
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
