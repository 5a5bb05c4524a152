//! The committed inputs of the fuzz targets, `fuzz/corpus`.
//!
//! A target has a folder of inputs with names, each of which shows something, and a file `TARGET.txt` of
//! inputs that `fuzz/choose_inputs.sh` chose for their coverage: a line each, escaped as in a Rust byte
//! string.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Every file below a folder, relative to this crate, in order.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut rest = vec![path(folder)];
    while let Some(folder) = rest.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { rest.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

fn path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

fn chosen_path(target: &str) -> PathBuf {
    path(&format!("corpus/{target}.txt"))
}

/// The inputs that have a name. `cargo fuzz run` writes what it finds beside them, under names without a dot.
pub fn named(target: &str) -> BTreeSet<Vec<u8>> {
    let files = files(&format!("corpus/{target}"));
    let named = files.iter().filter(|path| path.extension().is_some());
    named.filter_map(|path| fs::read(path).ok()).collect()
}

/// The inputs that were chosen for their coverage.
pub fn chosen(target: &str) -> BTreeSet<Vec<u8>> {
    let text = fs::read_to_string(chosen_path(target)).unwrap_or_default();
    text.lines().map(unescape).collect()
}

/// Replaces the inputs that were chosen for their coverage; a target without any has no file.
///
/// # Errors
/// If the file cannot be written or removed.
pub fn choose(target: &str, inputs: &BTreeSet<Vec<u8>>) -> io::Result<()> {
    let path = chosen_path(target);
    if inputs.is_empty() {
        return if path.exists() { fs::remove_file(path) } else { Ok(()) };
    }
    let lines: Vec<String> = inputs.iter().map(|input| format!("{}\n", input.escape_ascii())).collect();
    fs::write(path, lines.concat())
}

/// The bytes of an escaped input.
fn unescape(line: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = line.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let (byte, length) = match (first, after) {
            (b'\\', [b'n', ..]) => (b'\n', 1),
            (b'\\', [b'r', ..]) => (b'\r', 1),
            (b'\\', [b't', ..]) => (b'\t', 1),
            (b'\\', [b'x', high, low, ..]) => (hexadecimal(*high) << 4 | hexadecimal(*low), 3),
            (b'\\', [other, ..]) => (*other, 1),
            (other, _) => (other, 0),
        };
        bytes.push(byte);
        rest = after.get(length..).unwrap_or_default();
    }
    bytes
}

fn hexadecimal(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 32).wrapping_sub(b'a').wrapping_add(10) & 15,
    }
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn every_byte_survives_a_line() {
        let all: Vec<u8> = (0..=u8::MAX).chain(*b"\\n\\\\x41").collect();
        let line = all.escape_ascii().to_string();
        assert_eq!(line.lines().count(), 1);
        assert_eq!(unescape(&line), all);
    }
}
