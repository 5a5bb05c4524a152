//! What a verb reads: a file or standard input, never more of it than its limit and a byte.

use ilo_spec::decode::decode;
use ilo_spec::encode::MAGIC;
use ilo_spec::limits;
use ilo_spec::program::Program;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A file that was read.
pub(super) struct Input {
    /// Its name as messages show it.
    pub(super) name: String,
    /// Whether it is standard input.
    pub(super) is_stdin: bool,
    bytes: Vec<u8>,
}

impl Input {
    /// Reads a file, or standard input for `-`.
    pub(super) fn read(path: &Path, max_source: usize) -> Result<Input, String> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
        let limit = max_source.max(limits::DEFAULT_BYTECODE);
        let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        let mut bytes = Vec::new();
        let read = if is_stdin {
            io::stdin().lock().take(most).read_to_end(&mut bytes)
        } else {
            File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
        };
        read.map_err(|error| format!("{name}: {error}"))?;
        Ok(Input { name, is_stdin, bytes })
    }

    /// The bytecode, where that is what the file holds.
    pub(super) fn bytecode(&self) -> Option<Result<Program, String>> {
        if !self.bytes.starts_with(&MAGIC) {
            return None;
        }
        if self.bytes.len() > limits::DEFAULT_BYTECODE {
            let limit = limits::DEFAULT_BYTECODE;
            return Some(Err(format!(
                "{}: expected at most {limit} bytes of bytecode, found more",
                self.name
            )));
        }
        Some(decode(&self.bytes).map_err(|error| format!("{}: {error}", self.name)))
    }

    /// The bytes, which should be a source.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
