//! The entrances of the host: what it is given in files and by tools.

use ilo_host::data::read::{Bounds, read};
use ilo_host::tools::Tools;
use std::path::Path;

/// JSON that comes in as an input or a tool's result: refused, or read and written again as the same.
///
/// # Panics
/// When what was written does not read back as it was.
pub fn json(bytes: &[u8]) {
    let bounds = Bounds::default();
    if let Ok(value) = read(bytes, &bounds) {
        let text = value.to_json();
        let again = read(text.as_bytes(), &Bounds { bytes: usize::MAX, ..bounds });
        assert_eq!(again.as_ref(), Ok(&value), "{text}");
    }
}

/// A tools file: refused with problems, or understood.
pub fn tools_file(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Tools::from_text("tools.json", text, Path::new("."));
        let _ = Tools::from_text("tools.toml", text, Path::new("."));
    }
}
