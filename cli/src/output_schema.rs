//! The option `--output-schema`: what the value of a program must be.

use ilo_asm::compile::OutputSchema;
use std::fs::File;
use std::io::Read;

/// The longest schema that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// Reads a file with a JSON Schema.
pub(crate) fn read(path: &str) -> Result<OutputSchema, String> {
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > LONGEST {
        return Err(format!("expected at most {LONGEST} bytes, found more"));
    }
    text.parse()
}
