//! The limits of the format where bytes are read: a count of n is accepted, n + 1 is refused; and every limit
//! is named by some test.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ilo_spec::decode::decode;
use ilo_spec::encode::{MAGIC, Section, VERSION};
use ilo_spec::error::DecodeErrorKind;
use ilo_spec::limits;
use std::fs;
use std::path::{Path, PathBuf};

fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    bytes.push(u8::try_from(value).unwrap());
    bytes
}

/// A file with one section: the bytes before the count, the count, and bytes for that many items of the least
/// size, none of which is valid.
fn file(section: Section, before: &[u8], count: usize, least: usize) -> Vec<u8> {
    let mut content = [before, &varint(count)].concat();
    content.resize(content.len() + count * least, 0xff);
    [&MAGIC[..], &[VERSION, section as u8], &varint(content.len()), &content].concat()
}

#[test]
fn every_count_holds_at_n_and_not_at_n_plus_1() {
    // One function without a name; its parameters are counted next.
    let function: &[u8] = &[1, 0];
    let rows: [(&str, Section, &[u8], usize, usize); 10] = [
        ("strings", Section::Strings, &[0], limits::STRINGS, 1),
        ("numbers", Section::Numbers, &[], limits::NUMBERS, 2),
        ("shapes", Section::Shapes, &[], limits::SHAPES, 1),
        ("fields", Section::Shapes, &[1], limits::FIELDS, 1),
        ("tools", Section::Tools, &[], limits::TOOLS, 1),
        ("calls", Section::Calls, &[], limits::CALLS, 2),
        ("maps", Section::Maps, &[], limits::MAPS, 2),
        ("cases", Section::Maps, &[1], limits::FUNCTION_CODE, 2),
        ("functions", Section::Functions, &[], limits::FUNCTIONS, 6),
        ("parameters", Section::Functions, function, limits::REGISTERS, 2),
    ];
    for (what, section, before, ceiling, least) in rows {
        let refused = |count: usize| match decode(&file(section, before, count, least)).unwrap_err().kind {
            DecodeErrorKind::Count { what: counted, found, limit } if counted == what => Some((found, limit)),
            _ => None,
        };
        assert_eq!(refused(ceiling), None, "{what}");
        assert_eq!(refused(ceiling + 1), Some((ceiling as u64 + 1, ceiling as u64)), "{what}");
    }
}

#[test]
fn lists_in_a_type_hold_at_n_and_not_at_n_plus_1() {
    let typed = |lists: usize| {
        // No field names, one string `f`; one function with that name, no parameters, one register and one
        // instruction.
        let functions = [&[1, 0, 0, 0][..], &varint(lists << 3), &[1, 1]].concat();
        let strings = [&[1, 4, 0, 1, 1, b'f'][..], &[7], &varint(functions.len())].concat();
        decode(&[&MAGIC[..], &[VERSION], &strings, &functions, &[8, 1, 0x79]].concat())
    };
    let output = typed(limits::TYPE_LISTS).unwrap().functions[0].output;
    assert_eq!(usize::from(output.ok.lists), limits::TYPE_LISTS);
    let error = typed(limits::TYPE_LISTS + 1).unwrap_err();
    assert!(matches!(error.kind, DecodeErrorKind::Tag { what: "type", .. }), "{error}");
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// A limit that is used but that no test names is not tested.
#[test]
fn every_limit_is_named_by_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for crate_folder in ["spec", "asm", "vm", "drive", "host", "fuzz"] {
        for part in ["tests", "src"] {
            let folder = root.join(crate_folder).join(part);
            if folder.is_dir() {
                sources(&folder, &mut files);
            }
        }
    }
    let (mut tests, mut rest) = (String::new(), String::new());
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let is_test = path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("tests"));
        // In other files, only the tests.
        let begin = if is_test { Some(0) } else { text.find("#[cfg(test)]") };
        let (source, test) = text.split_at(begin.unwrap_or(text.len()));
        rest += source;
        tests += test;
    }
    let table = include_str!("../src/limits.rs");
    let names = table.lines().filter_map(|line| line.strip_prefix("pub const ")?.split(':').next());
    let named = |texts: &str, name: &str| texts.contains(&format!("limits::{name}"));
    let unnamed: Vec<&str> = names.filter(|name| named(&rest, name) && !named(&tests, name)).collect();
    assert!(unnamed.is_empty(), "{unnamed:?}");
}
