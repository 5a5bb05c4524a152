//! Reads files and standard input, up to a limit.

use ilo_drive::problem::Problem;
use ilo_spec::error::Code;
use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::Path;

/// Reads a file; `-` is standard input.
///
/// # Errors
/// If it cannot be read or is larger than the limit.
pub fn read(path: &Path, limit: usize) -> Result<Vec<u8>, Problem> {
    let place = if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() };
    let result = if path.as_os_str() == "-" {
        read_capped(io::stdin().lock(), limit)
    } else {
        File::open(path).and_then(|file| read_capped(file, limit))
    };
    match result {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => {
            Err(Problem::new(Code::BadUsage, place, format!("larger than its limit of {limit} bytes")))
        }
        Err(error) => Err(Problem::new(Code::BadUsage, place, format!("cannot be read: {error}"))),
    }
}

/// A text without the byte order mark that some editors and shells put before it.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text)
}

/// The kind of a file that is not a regular file, for a message. Such files are refused, since opening a pipe
/// to which nobody writes would wait for ever.
pub fn kind(found: FileType) -> &'static str {
    if found.is_dir() {
        return "a folder";
    }
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_fifo(&found) {
        return "a pipe";
    }
    "a device"
}

/// All bytes; `None` if there are more than the limit.
fn read_capped(from: impl Read, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    from.take(most).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= limit).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::read_capped;

    #[test]
    fn reading_stops_one_byte_past_the_limit() {
        assert_eq!(read_capped(&b"abc"[..], 3).unwrap(), Some(b"abc".to_vec()));
        assert_eq!(read_capped(&b"abcd"[..], 3).unwrap(), None);
        assert_eq!(read_capped(std::io::repeat(b'x'), 100).unwrap(), None);
    }
}
