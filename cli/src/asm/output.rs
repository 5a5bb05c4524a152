//! Writes results, diagnostics and messages.

use crate::diagnostic;
use ilo_asm::diagnostic::Diagnostics;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes to standard error. An error of this write is ignored, because there is nowhere to report it.
fn error(text: &str) {
    drop(anstream::stderr().lock().write_all(text.as_bytes()));
}

/// One line for a person.
pub(super) fn complain(message: &str) {
    error(&format!("ilo-asm: {message}\n"));
}

/// Shows diagnostics of a source for a person; `name` is that of its file.
pub(super) fn diagnostics(name: &str, source: &str, diagnostics: &Diagnostics) {
    error(&diagnostic::render_all(name, source, diagnostics, true));
}

/// Writes to standard output. A closed pipe is not an error.
pub(super) fn show(bytes: &[u8]) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}

/// Writes a file that is made from others: a pipe or a device is written to, any other file is replaced.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if !fs::metadata(path).is_ok_and(|old| !old.is_file() && !old.is_dir()) {
        return replace(path, bytes);
    }
    let written = File::options().write(true).open(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// Replaces a file atomically: a reader sees the old content or the new one.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    // Links are followed, and a read-only file is not replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let old = fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return Err(failed(io::Error::other(
            "not a regular file, which is not replaced; `-` reads standard input",
        )));
    }
    if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
        return Err(failed(io::Error::from(io::ErrorKind::PermissionDenied)));
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    let written = fs::write(&new, bytes)
        .and_then(|()| old.map_or(Ok(()), |old| fs::set_permissions(&new, old.permissions())))
        .and_then(|()| fs::rename(&new, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&new);
        failed(error)
    })
}
